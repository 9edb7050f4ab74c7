// Small helpers around the document. Nothing here knows formulas or runs.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [name, handler] of Object.entries(value)) node.addEventListener(name, handler);
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key in node && ["value", "checked", "disabled", "hidden", "selected", "textContent", "indeterminate"].includes(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
export const byId = (id) => document.getElementById(id);

// Markup that the server has made and escaped: formulas in MathML, cards of the report. The policy lets no script run.
export function markup(text) {
  const template = document.createElement("template");
  template.innerHTML = text ?? "";
  return template.content;
}

export function say(text) {
  byId("said").textContent = text;
}

let hiding;
export function complain(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { toast.hidden = true; }, 9000);
}

export function card(title, ...children) {
  return el("section", { class: "card" }, title ? el("h2", {}, title) : null, ...children);
}

export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { value: text, "aria-hidden": "true" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied.`);
}

export function copyButton(label, what, text) {
  const button = el("button", { type: "button", "aria-label": `Copy ${what}`, on: { click: async () => {
    await copyText(await text(), what);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  } } }, label);
  return button;
}

// The exact shell command and the Python that do what a view shows.
export function commands(shell, python, note) {
  const block = (title, text) => el("div", { class: "command" },
    el("div", { class: "command-head" }, el("h3", {}, title), copyButton("Copy", title, () => text)),
    el("pre", { tabindex: "0", role: "region", "aria-label": title }, text));
  return el("section", { class: "card commands" }, el("h2", {}, "The same without this page"),
    note ? el("p", { class: "hint" }, note) : null,
    shell ? block("Shell command", shell) : null, python ? block("Python", python) : null);
}

export function later(milliseconds, action) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), milliseconds); };
}

export function field(label, control, hint) {
  const id = control.id || `f${Math.random().toString(36).slice(2)}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return el("div", { class: "field" }, el("label", { for: id }, label), control, hint ? el("p", { class: "hint", id: `${id}-hint` }, hint) : null);
}
