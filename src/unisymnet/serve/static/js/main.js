// Which view is shown: the address after the # says it.
import { get } from "./api.js";
import { byId, complain, el } from "./dom.js";
import { dynamicsView } from "./dynamics.js";
import { dataLink, homeView, runLink } from "./home.js";
import { runView } from "./run.js";
import { setupView } from "./setup.js";

const VIEWS = { "/": [homeView, "Tables and runs"], "/data": [setupView, "Table"], "/dynamics": [dynamicsView, "Differential equations"], "/run": [runView, "Run"] };
let leave = null, turn = 0;

async function show() {
  const mine = ++turn;
  const [path, query] = (location.hash.slice(1) || "/").split("?");
  const [view, title] = VIEWS[path] ?? VIEWS["/"];
  const given = Object.fromEntries(new URLSearchParams(query ?? ""));
  leave?.();
  leave = null;
  const main = byId("main");
  delete main.dataset.events;
  delete main.dataset.formulas;
  document.title = `${given.name ? `${given.name} · ` : ""}${title} · unisymnet`;
  byId("crumbs").replaceChildren(...(path === "/" ? [] : [el("a", { href: "#/" }, "Tables and runs"), " › ", el("span", { "aria-current": "page" }, given.name ?? title)]));
  try {
    const ended = await view(main, given);
    if (mine === turn) leave = ended ?? null;
    else ended?.();
    if (mine === turn && turn > 1) { main.querySelector("h1")?.focus({ preventScroll: true }); window.scrollTo(0, 0); }
  } catch (error) {
    complain(error.message);
    main.replaceChildren(el("section", { class: "card" }, el("h1", { tabindex: "-1" }, "This cannot be shown"), el("p", {}, error.message), el("p", {}, el("a", { href: "#/" }, "Back to tables and runs"))));
  }
  main.dataset.view = path;
}

window.addEventListener("hashchange", show);

async function begin() {
  if (!location.hash) {
    try {
      const { opened } = await get("home");
      if (opened.run) history.replaceState(null, "", runLink(opened.run));
      else if (opened.data) history.replaceState(null, "", dataLink(opened.data));
    } catch { /* the view will say what is wrong */ }
  }
  await show();
}

begin();
