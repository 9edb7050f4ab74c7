// A table measured over time, before the search for differential equations: time, states, inputs, runs.
import { get, post } from "./api.js";
import { card, commands, complain, el, field, later } from "./dom.js";
import { number } from "./formula.js";
import { dataLink, runLink } from "./home.js";
import { histogram } from "./plot.js";
import { timeChoice } from "./setup.js";

const TIME = /^(t|time|zeit|year|date|day|hour|second|s)$/i;

export async function dynamicsView(main, { name }) {
  const table = await get("table", { name }), numbers = table.columns.filter((column) => column.kind === "number");
  const time = (numbers.find((column) => TIME.test(column.name)) ?? numbers[0])?.name;
  const wish = { roles: {}, time: 60, order: 1 };
  for (const column of table.columns) wish.roles[column.name] = column.kind !== "number" ? (table.columns.length > 2 ? "run" : "none") : column.name === time ? "time" : "state";
  const below = el("div");
  const having = (role) => Object.keys(wish.roles).filter((column) => wish.roles[column] === role);
  const asked = () => ({ kind: "dynamics", data: name, time: having("time")[0], states: having("state"), inputs: having("given"), trajectory: having("run")[0] ?? null,
    settings: { max_time: wish.time, order: wish.order, use_time: wish.useTime ?? false } });
  const refresh = later(200, async () => {
    try {
      const found = await post("commands", asked());
      below.replaceChildren(commands(found.shell, found.python));
    } catch (error) {
      below.replaceChildren(el("section", { class: "card caution", role: "status" }, el("h2", {}, "Not yet"), el("p", { class: "error" }, error.message)));
    }
  });
  const start = el("button", { type: "submit", class: "primary" }, "Start the search");
  const order = el("select", { id: "set-order", on: { change: (event) => { wish.order = Number(event.target.value); refresh(); } } },
    el("option", { value: "1" }, "first order: all states are measured"), el("option", { value: "2" }, "second order: only positions are measured"));
  const form = el("form", { on: { submit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      location.hash = runLink((await post("start", asked())).run);
    } catch (error) {
      complain(error.message);
      start.disabled = false;
    }
  } } }, card(`${table.rows} rows, ${table.columns.length} columns`, roleTable(table, wish, refresh)),
  card("The search", field("Equations", order), timeChoice(wish, refresh), el("div", { class: "actions" }, start)));
  main.replaceChildren(el("div", { class: "hero" }, el("h1", { tabindex: "-1" }, `${name.split("/").pop()} over time`),
    el("p", { class: "lead" }, "Differential equations for the states. For a formula of one column, ", el("a", { href: dataLink(name) }, "go back"), ".")), form, below);
  refresh();
}

function roleTable(table, wish, refresh) {
  const roles = (column) => [...(column.kind === "number" ? [["time", "the time"], ["state", "a state"], ["given", "an input that you set"]] : []), ["run", "says which run"], ["none", "not used"]];
  const selects = {};
  const rows = table.columns.map((column) => {
    const select = selects[column.name] = el("select", { "aria-label": `Role of ${column.name}`, on: { change: () => {
      for (const other of Object.keys(wish.roles)) { // only one column is the time, and only one tells runs apart
        if (other !== column.name && wish.roles[other] === select.value && ["time", "run"].includes(select.value)) wish.roles[other] = selects[other].value = "none";
      }
      wish.roles[column.name] = select.value;
      refresh();
    } } }, roles(column).map(([value, label]) => el("option", { value, selected: wish.roles[column.name] === value }, label)));
    return el("tr", {}, el("th", { scope: "row", class: "name" }, column.name), el("td", {}, select), el("td", {}, column.bars ? histogram(column.bars) : (column.examples ?? []).join(", ")),
      el("td", { class: "number" }, number(column.smallest)), el("td", { class: "number" }, number(column.largest)));
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns of the table" }, el("table", { class: "columns" },
    el("thead", {}, el("tr", {}, ["column", "is", "values", "smallest", "largest"].map((text) => el("th", { scope: "col", class: ["smallest", "largest"].includes(text) ? "number" : null }, text)))), el("tbody", {}, rows)));
}
