// Two runs on one front: with and without units, other noise, another seed.
import { get } from "./api.js";
import { card, complain, el, field } from "./dom.js";
import { frontTable } from "./front.js";

export function compareCard(run) {
  const shown = el("div"), select = el("select", { id: "other-run" }, el("option", { value: "" }, "no other run"));
  fillIn(run, select);
  select.addEventListener("change", async () => {
    if (!select.value) {
      shown.replaceChildren();
      run.compareWith(null);
      return;
    }
    try {
      const other = await get("run", { run: select.value });
      run.compareWith(other);
      shown.replaceChildren(settingsTable(run.result, other), el("h3", {}, `Formulas of ${other.name}`),
        frontTable(other.entries, null, other.entries[other.picked]?.text, { onChoose: () => {}, caption: "Formulas of the other run" }));
    } catch (error) {
      complain(error.message);
    }
  });
  return card("Compare with another run", field("The other run", select, "Its formulas appear as squares in the picture above."), shown);
}

async function fillIn(run, select) {
  const home = await get("home");
  const others = home.runs.filter((other) => other.name !== run.name && other.formulas);
  others.sort((a, b) => Number(b.target === run.result.target) - Number(a.target === run.result.target));
  select.append(...others.map((other) => el("option", { value: other.name }, `${other.name}: ${other.target}, R² ${other.r2}`)));
}

function settingsTable(mine, other) {
  const names = [...new Set([...Object.keys(mine.settings ?? {}), ...Object.keys(other.settings ?? {})])];
  const facts = (run) => ({ table: run.data ?? "–", target: run.target, inputs: (run.names ?? []).join(", "), rows: (run.rows ?? []).join(" + "), "best R²": run.entries[run.picked]?.r2_text,
    "best size": run.entries[run.picked]?.size, ...Object.fromEntries(names.map((name) => [name, run.settings?.[name] === undefined ? "default" : JSON.stringify(run.settings[name])])) });
  const [a, b] = [facts(mine), facts(other)];
  const rows = Object.keys(a).map((name) => el("tr", { class: a[name] !== b[name] ? "differs" : null }, el("th", { scope: "row" }, name), el("td", {}, String(a[name] ?? "–")), el("td", {}, String(b[name] ?? "–"))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings of both runs" },
    el("table", { class: "settings" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "visually-hidden" }, "setting")), el("th", { scope: "col" }, mine.name), el("th", { scope: "col" }, other.name))), el("tbody", {}, rows)));
}
