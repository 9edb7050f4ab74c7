// A system of differential equations: its equations, the cards of the report, and a simulation from any start.
import { post } from "./api.js";
import { card, complain, copyButton, el, later, markup, svg } from "./dom.js";
import { frame, line, span } from "./plot.js";

export function systemPart(result) {
  const head = card("The equations", el("div", { class: "formula", tabindex: "0", role: "region", "aria-label": "Equations" }, result.equations.map((text) => markup(text))),
    el("div", { class: "copies", role: "group", "aria-label": "Copy the system" }, el("span", { class: "hint" }, "Copy as"), result.sources.map((one) => copyButton(one.label, `as ${one.label}`, () => one.source))));
  const cards = [...markup(result.html).children].slice(1); // the first card has the equations again
  return el("div", { class: "system" }, head, result.inputs.length ? null : simulation(result), cards);
}

function simulation(result) {
  const boxes = result.start.map((value, k) => el("input", { type: "number", step: "any", value: String(Number(value.toPrecision(5))), "aria-label": `${result.states[k]} at the start` }));
  const until = el("input", { type: "number", step: "any", value: String(Number(result.until.toPrecision(5))), "aria-label": "Simulate until" });
  const figures = el("div", { class: "charts simulated" });
  const show = later(150, async () => {
    try {
      const { t, x } = await post("simulate", { run: result.name, start: boxes.map((box) => box.valueAsNumber), until: until.valueAsNumber });
      const course = frame("The states over time", [t[0], t.at(-1)], span(x.flat()), [result.time, result.states.join(", ")]);
      x.forEach((values, k) => course.marks.append(svg("path", { class: `curve shade-${k % 4}`, d: line(course, t, values) }, svg("title", {}, result.states[k]))));
      const shown = [el("figure", {}, el("figcaption", {}, result.states.map((name, k) => el("span", { class: `key shade-${k % 4}` }, name))), course.node)];
      if (x.length > 1) {
        const plane = frame(`${result.states[1]} against ${result.states[0]}`, span(x[0]), span(x[1]), [result.states[0], result.states[1]]);
        plane.marks.append(svg("path", { class: "curve", d: line(plane, x[0], x[1]) }));
        shown.push(el("figure", {}, el("figcaption", {}, "phase plane"), plane.node));
      }
      figures.replaceChildren(...shown);
    } catch (error) {
      complain(error.message);
    }
  });
  for (const box of [...boxes, until]) box.addEventListener("input", show);
  show();
  return card("From another start", el("div", { class: "actions" }, boxes.map((box, k) => el("label", { class: "start" }, `${result.states[k]} = `, box)), el("label", { class: "start" }, `until ${result.time} = `, until)), figures);
}
