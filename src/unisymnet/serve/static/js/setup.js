// A table before the search: its columns, what to explain and from what, what is known, how long; then start.
import { get, post } from "./api.js";
import { card, commands, complain, el, field, later } from "./dom.js";
import { number } from "./formula.js";
import { dynamicsLink, runLink } from "./home.js";
import { histogram } from "./plot.js";

const TIMES = [[10, "10 s"], [60, "1 min"], [300, "5 min"], [1800, "30 min"]];
const NOISES = [["", "found from the data"], ["equal", "equal in every row"], ["relative", "a share of the value"], ["counts", "like counts: grows with the square root"], ["both", "partly equal, partly a share of the value"], ["heavy tails", "with outliers"], ["factor", "by a factor, small and large values alike"]];
const OPERATORS = ["+", "-", "*", "/", "pow", "sqrt", "exp", "ln", "sin", "cos", "tan", "tanh", "abs"];

export async function setupView(main, { name }) {
  const [home, first] = await Promise.all([get("home"), get("table", { name })]);
  const wish = { data: name, target: first.target, inputs: new Set(), units: {}, time: 60, texts: {}, roles: {} };
  for (const column of first.columns) if (usable(column) && column.name !== wish.target) wish.inputs.add(column.name);
  const offers = home.settings, below = el("div"), warned = el("div"), columns = el("div"), grouped = el("div", { class: "groups", "aria-live": "polite" });

  const asked = () => {
    const taken = [wish.target, ...Object.values(wish.roles)];
    const free = first.columns.filter((column) => usable(column) && !taken.includes(column.name)).map((column) => column.name);
    const all = free.every((column) => wish.inputs.has(column));
    const settings = { max_time: wish.time, ...settingsOf(wish, offers) };
    return { data: name, target: wish.target, features: all ? null : free.filter((column) => wish.inputs.has(column)),
      guesses: lines(wish.texts.guesses), missing: wish.texts.missing || null, ...wish.roles, settings };
  };
  const refresh = later(250, async () => {
    try {
      const found = await post("commands", asked());
      below.replaceChildren(commands(found.shell, found.python, found.notes.map(sentence).join(" ")));
      grouped.replaceChildren(...(found.known.length ? [el("h3", {}, "What this says about the law"), el("ul", {}, found.known.map((text) => el("li", {}, text)))] : []));
    } catch (error) {
      below.replaceChildren(el("section", { class: "card caution", role: "status" }, el("h2", {}, "Not yet"), el("p", { class: "error" }, error.message)));
    }
  });
  const changed = () => { columns.replaceChildren(columnTable(first, wish, offers, changed, refresh)); warn(); refresh(); };
  const warn = async () => {
    const found = await get("table", { name, target: wish.target });
    warned.replaceChildren(...(found.warnings.length ? [el("section", { class: "card caution" }, el("h2", {}, "Before you start"), el("ul", {}, found.warnings.map((text) => el("li", {}, text))))] : []));
  };
  const start = el("button", { type: "submit", class: "primary" }, "Start the search");
  const form = el("form", { on: { submit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      const { run } = await post("start", asked());
      location.hash = runLink(run);
    } catch (error) {
      complain(error.message);
      start.disabled = false;
    }
  } } },
    card(`${first.rows} rows, ${first.columns.length} columns`, el("p", { class: "hint" }, "Mark the column to explain and tick those it may depend on."), columns, grouped),
    warned,
    card("The search", timeChoice(wish, refresh), knowledge(first, wish, offers, changed, refresh), more(wish, offers, refresh), el("div", { class: "actions" }, start)));
  main.replaceChildren(el("div", { class: "hero" }, el("h1", { tabindex: "-1" }, name.split("/").pop()),
    el("p", { class: "lead" }, "Measured over time? ", el("a", { href: dynamicsLink(name) }, "Search for differential equations"), " instead.")), form, below);
  changed();
}

function columnTable(table, wish, offers, changed, refresh) {
  const units = "units" in offers;
  const head = ["explain", "input", "column", ...(units ? ["unit"] : []), "values", "smallest", "largest", "missing"];
  const rows = table.columns.map((column) => {
    const numeric = column.kind === "number", isTarget = column.name === wish.target;
    const role = Object.keys(wish.roles).find((one) => wish.roles[one] === column.name);
    const pick = el("input", { type: "radio", name: "target", checked: isTarget, disabled: !numeric, "aria-label": `Explain ${column.name}`, on: { change: () => {
      wish.inputs.add(wish.target);
      wish.target = column.name;
      wish.inputs.delete(column.name);
      changed();
      document.querySelector("input[name=target]:checked")?.focus();
    } } });
    const tick = el("input", { type: "checkbox", checked: wish.inputs.has(column.name) && !role, disabled: !usable(column) || isTarget || Boolean(role), "aria-label": `Use ${column.name} as an input`, on: { change: (event) => {
      wish.inputs[event.target.checked ? "add" : "delete"](column.name);
      refresh();
    } } });
    const unit = units ? el("td", {}, numeric ? el("input", { type: "text", class: "unit", value: wish.units[column.name] ?? "", placeholder: column.unit ?? "", "aria-label": `Unit of ${column.name}`, on: { input: (event) => {
      wish.units[column.name] = event.target.value.trim();
      refresh();
    } } }) : null) : null;
    return el("tr", { class: isTarget ? "current" : null }, el("td", {}, pick), el("td", {}, tick), el("th", { scope: "row", class: "name" }, column.name, role ? el("span", { class: "tag" }, ROLES[role][0]) : null), unit,
      numeric ? [el("td", {}, column.bars ? histogram(column.bars) : "–"), el("td", { class: "number" }, number(column.smallest)), el("td", { class: "number" }, number(column.largest)),
        el("td", { class: `number ${column.missing ? "warned" : ""}` }, column.missing || "–")]
        : el("td", { colspan: "4", class: "hint" }, usable(column) ? `text: ${column.examples.join(", ")}` : column.kind));
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns of the table" },
    el("table", { class: "columns" }, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col", class: ["smallest", "largest", "missing"].includes(text) ? "number" : null }, text)))), el("tbody", {}, rows)));
}

// Numbers are computed with; the words of a text become columns of 0 and 1.
const usable = (column) => ["number", "words"].includes(column.kind);

export function timeChoice(wish, refresh) {
  const own = el("input", { type: "number", min: "1", max: "86400", step: "1", value: "60", id: "seconds", "aria-label": "Seconds for the search" });
  const set = (seconds) => { wish.time = seconds; own.value = String(seconds); refresh(); };
  own.addEventListener("input", () => { if (own.valueAsNumber > 0) { wish.time = own.valueAsNumber; refresh(); } });
  return el("fieldset", { class: "times" }, el("legend", {}, "Time limit"),
    TIMES.map(([seconds, text]) => el("label", { class: "choice" }, el("input", { type: "radio", name: "time", checked: seconds === wish.time, on: { change: () => set(seconds) } }), el("span", {}, text))),
    el("span", { class: "own-time" }, own, " seconds"),
    el("p", { class: "hint" }, "The search ends sooner when a formula is exact or leaves only noise. You can stop it at any time and keep what it has."));
}

// A column that is neither explained nor an input: what tells groups apart, how far the values can be trusted.
const ROLES = {
  groups: ["groups", "Column of groups", "One form for all groups; each constant is shared or differs by group"],
  sigma: ["errors", "Column of errors", "The standard error of the column to explain, row by row"],
  weights: ["weights", "Column of weights", "How much a row counts; twice the weight is as good as the row twice"],
};

function roleChoice(table, wish, role, changed) {
  const columns = table.columns.filter((column) => role === "groups" || column.kind === "number");
  const select = el("select", { id: `set-${role}` }, el("option", { value: "" }, "none"), columns.map((column) => el("option", { value: column.name }, column.name)));
  select.addEventListener("change", () => {
    if (select.value) wish.roles[role] = select.value;
    else delete wish.roles[role];
    changed();
  });
  return field(ROLES[role][1], select, ROLES[role][2]);
}

// What the scientist knows: shown only where the estimator can use it.
function knowledge(table, wish, offers, changed, refresh) {
  const text = (name, label, hint, rows) => {
    const control = rows ? el("textarea", { rows, spellcheck: "false" }) : el("input", { type: "text", spellcheck: "false" });
    control.id = `set-${name}`;
    control.addEventListener("input", () => { wish.texts[name] = control.value; refresh(); });
    return field(label, control, hint);
  };
  const fields = [text("guesses", "Formulas you suspect", "One per line, in the names of the columns; other names are constants to fit: a*x/(b + x)", 2)];
  if ("constants" in offers) fields.push(text("constants", "Known constants", "One per line, with unit: g = 9.81 m/s^2", 2));
  if ("constraints" in offers) fields.push(text("constraints", "What must hold", "One per line: dy/dx >= 0, y(x=0) = 1, y -> 0 as x -> inf, even in x, 0 <= y <= 1", 2));
  if ("template" in offers) fields.push(text("template", "Form of the formula", "For example: exp(-f(t))*g(x) + c"));
  fields.push(...Object.keys(ROLES).map((role) => roleChoice(table, wish, role, changed)));
  if ("noise" in offers) {
    const kinds = el("select", { id: "set-noise-kind" }, NOISES.map(([value, label]) => el("option", { value }, label)));
    kinds.addEventListener("change", () => { wish.texts.noiseKind = kinds.value; refresh(); });
    fields.push(text("noise", "Size of the error, if you know it", "One standard deviation, in the unit of the column to explain, the same in every row"), field("Kind of error", kinds));
  }
  if ("goal" in offers) {
    const select = el("select", { id: "set-goal" }, [["law", "a law: short, exact, general"], ["predict", "good predictions from a readable formula"]].map(([value, label]) => el("option", { value }, label)));
    select.addEventListener("change", () => { wish.texts.goal = select.value; refresh(); });
    fields.unshift(field("I am looking for", select));
  }
  return el("div", { class: "fields" }, fields);
}

function more(wish, offers, refresh) {
  const bind = (name, control) => { control.id = `set-${name}`; control.addEventListener("input", () => { wish.texts[name] = control.value; refresh(); }); return control; };
  const chips = OPERATORS.map((sign) => el("label", { class: "choice" }, el("input", { type: "checkbox", checked: true, value: sign, on: { change: () => {
    const boxes = [...document.querySelectorAll(".operators input")];
    wish.texts.operators = boxes.every((box) => box.checked) ? "" : boxes.filter((box) => box.checked).map((box) => box.value).join(",");
    refresh();
  } } }), el("span", {}, sign)));
  const loss = el("select", {}, [["", "squares"], ["huber", "robust: outliers count less"], ["quantile", "quantile: a given share of values below"]].map(([value, label]) => el("option", { value }, label)));
  return el("details", {}, el("summary", {}, "More settings"), el("div", { class: "fields" },
    field("Errors are measured by", bind("loss", loss)),
    field("Share of values below", bind("quantile", el("input", { type: "number", min: "0.01", max: "0.99", step: "any", placeholder: "0.5" })), "for the quantile"),
    field("Rows with missing values", bind("missing", el("select", {}, [["", "are left out"], ["indicator", "are kept: gaps are filled and marked"]].map(([value, label]) => el("option", { value }, label))))),
    field("Formula to pick", bind("selection", el("select", {}, [["", "the best of size and accuracy"], ["accuracy", "the most accurate"], ["simplest", "the simplest good one"]].map(([value, label]) => el("option", { value }, label))))),
    field("Longest formula", bind("max_complexity", el("input", { type: "number", min: "1", max: "500", placeholder: String(offers.max_complexity ?? "") })), "operators, columns and constants counted"),
    field("Seed", bind("random_state", el("input", { type: "number", step: "1", placeholder: "0" })), "same seed, same formulas"),
    field("Threads", bind("n_jobs", el("input", { type: "number", min: "1", max: "64", placeholder: String(offers.n_jobs ?? 1) })))),
    el("fieldset", { class: "operators" }, el("legend", {}, "Operators allowed"), chips));
}

function settingsOf(wish, offers) {
  const found = {}, texts = wish.texts;
  const units = Object.fromEntries(Object.entries(wish.units).filter(([name, unit]) => unit && (name === wish.target || wish.inputs.has(name))));
  if ("units" in offers && Object.keys(units).length) found.units = units;
  const pairs = lines(texts.constants).map((line) => line.split("=", 2).map((part) => part.trim())).filter(([name, value]) => name && value);
  if (pairs.length) found.constants = Object.fromEntries(pairs);
  if (lines(texts.constraints).length) found.constraints = lines(texts.constraints);
  for (const name of ["template", "operators", "goal", "loss", "selection"]) if (texts[name]?.trim()) found[name] = texts[name].trim();
  for (const name of ["max_complexity", "random_state", "n_jobs"]) if (texts[name]?.trim()) found[name] = Number.parseInt(texts[name], 10);
  if (texts.noise?.trim()) found.noise = Number.isNaN(Number(texts.noise)) ? texts.noise.trim() : Number(texts.noise);
  else if (texts.noiseKind) found.noise = texts.noiseKind;
  if (texts.loss === "quantile") found.loss = ["quantile", Number(texts.quantile?.trim() || 0.5)];
  return found;
}

const lines = (text) => (text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
