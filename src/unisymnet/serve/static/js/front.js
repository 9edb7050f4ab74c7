// The front: error against size, every formula a point one can hover, focus and choose; a second run beside it.
import { el, markup, svg } from "./dom.js";
import { errorPower, frame, line } from "./plot.js";

export function frontChart(entries, chosen, { onChoose, onPeek, other }) {
  const errors = entries.map((entry) => errorPower(entry.r2));
  const others = (other ?? []).map((entry) => errorPower(entry.r2));
  const all = [...errors, ...others], sizes = [...entries, ...(other ?? [])].map((entry) => entry.size);
  const low = Math.floor(Math.min(...all) - 0.2), high = Math.max(Math.ceil(Math.max(...all) + 0.05), Math.floor(Math.min(...all)) + 1);
  const reach = [Math.min(1, ...sizes), Math.max(Math.max(...sizes), Math.min(...sizes) + 2)];
  const pad = 0.05 * (reach[1] - reach[0]);
  const chart = frame("Error of the formulas against their size", [reach[0] - pad, reach[1] + pad], [low, high],
    ["size of the formula", "error (share of the spread)"], { width: 460, height: 300, powers: true, css: "chart wide", role: "group" });
  if (other?.length) {
    chart.marks.append(svg("path", { class: "front other", d: line(chart, other.map((e) => e.size), others) }));
    other.forEach((entry, i) => {
      const a = chart.x.at(entry.size), b = chart.y.at(others[i]);
      chart.free.append(svg("rect", { class: "other-spot", x: a - 4.5, y: b - 4.5, width: 9, height: 9 },
        svg("title", {}, `The other run, size ${entry.size}: ${entry.short}`)));
    });
  }
  chart.marks.append(svg("path", { class: "front", d: line(chart, entries.map((e) => e.size), errors) }));
  const points = entries.map((entry, i) => {
    const place = { cx: chart.x.at(entry.size).toFixed(1), cy: chart.y.at(errors[i]).toFixed(1) };
    const isChosen = entry.text === chosen;
    const label = `Formula ${i}, size ${entry.size}, R² ${entry.r2 ?? "undefined"}: ${entry.short ?? entry.text}`;
    const point = svg("g", { class: "point", role: "button", tabindex: isChosen ? 0 : -1, "aria-pressed": String(isChosen), "aria-label": label,
      data: { choose: String(i) } },
      svg("circle", { class: "reach", ...place, r: 15 }), svg("circle", { class: "ring", ...place, r: 10 }), svg("circle", { class: "spot", ...place, r: 5.5 }));
    point.addEventListener("click", () => onChoose(entry));
    for (const kind of ["mouseenter", "focus"]) point.addEventListener(kind, () => onPeek(entry));
    for (const kind of ["mouseleave", "blur"]) point.addEventListener(kind, () => onPeek(null));
    return point;
  });
  if (points.length && !points.some((point) => point.getAttribute("tabindex") === "0")) points.at(-1).setAttribute("tabindex", "0");
  points.forEach((point, at) => point.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") onChoose(entries[at]);
    else if (step !== undefined) points[(at + step + points.length) % points.length].focus();
    else if (event.key === "Home") points[0].focus();
    else if (event.key === "End") points.at(-1).focus();
    else return;
    event.preventDefault();
  }));
  chart.free.append(...points);
  return chart.node;
}

export function frontTable(entries, chosen, picked, { onChoose, caption }) {
  const held = entries.some((entry) => entry.r2_valid_text);
  const head = ["", "size", ...(held ? ["R² kept back"] : []), "R²", "formula"];
  const rows = entries.map((entry, i) => {
    const isChosen = entry.text === chosen, star = entry.text === picked ? " ★" : "";
    return el("tr", { data: { row: String(i) }, class: isChosen ? "current" : null, on: { click: () => onChoose(entry) } },
      el("td", {}, el("button", { type: "button", "aria-pressed": String(isChosen), "aria-label": `Show formula ${i}${star ? ", the one picked" : ""}` }, `${i}${star}`)),
      el("td", { class: "number" }, entry.size), held ? el("td", { class: "number" }, entry.r2_valid_text ?? "–") : null,
      el("td", { class: "number" }, entry.r2_text), el("td", { class: "shown" }, markup(entry.math), entry.source === "yours" ? el("span", { class: "tag" }, "yours") : null));
  });
  return el("div", { class: "scroll formulas", tabindex: "0", role: "region", "aria-label": caption ?? "Table of formulas" },
    el("table", {}, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col", class: ["size", "R²", "R² kept back"].includes(text) ? "number" : null }, text || el("span", { class: "visually-hidden" }, "number"))))),
      el("tbody", {}, rows)));
}
