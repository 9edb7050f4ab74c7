// The first view: drop a file or choose a table; the runs of the folder.
import { get, upload } from "./api.js";
import { card, complain, el, markup, say } from "./dom.js";

const STATES = { running: "searching", queued: "waiting", done: "done", failed: "failed", lost: "killed" };

export const dataLink = (name) => `#/data?${new URLSearchParams({ name })}`;
export const dynamicsLink = (name) => `#/dynamics?${new URLSearchParams({ name })}`;
export const runLink = (name) => `#/run?${new URLSearchParams({ name })}`;

export async function homeView(main) {
  const home = await get("home");
  main.replaceChildren(
    el("div", { class: "hero" }, el("h1", { tabindex: "-1" }, "Which formula is in your data?"),
      el("p", { class: "lead" }, "Choose a table. Pick the column to explain. Watch the formulas appear, from simple to exact.")),
    dropCard(home), runsCard(home.runs));
  document.getElementById("foot").textContent = `unisymnet ${home.version} · this page shows ${home.folder} and needs no network`;
  const busy = home.runs.some((run) => run.state === "running" || run.state === "queued");
  let timer = null;
  if (busy) timer = setInterval(async () => {
    try { main.querySelector(".runs")?.replaceWith(runsCard((await get("home")).runs)); } catch { /* the next look will tell */ }
  }, 2000);
  return () => clearInterval(timer);
}

function dropCard(home) {
  const input = el("input", { type: "file", id: "file", class: "visually-hidden", accept: ".csv,.tsv,.txt,.dat,.xlsx,.xls,.ods,.parquet,.pq" });
  const take = async (file) => {
    if (!file) return;
    if (file.size > home.max_upload) return complain(`${file.name} is too large for the browser. Start with: unisymnet serve ${file.name}`);
    zone.classList.add("busy");
    try {
      const { name } = await upload(file);
      say(`${file.name} is here.`);
      location.hash = dataLink(name);
    } catch (error) {
      complain(error.message);
    } finally {
      zone.classList.remove("busy");
    }
  };
  input.addEventListener("change", () => take(input.files[0]));
  const zone = el("label", { class: "drop", for: "file" },
    el("strong", {}, "Drop a table here"), el("span", {}, "or ", el("u", {}, "choose a file"), ": CSV, TSV, Excel or Parquet"));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  const tables = home.tables.map((table) => el("li", {}, el("a", { href: dataLink(table.name) }, table.name), el("span", { class: "hint" }, ` ${bytes(table.bytes)}`)));
  return el("section", { class: "card" }, el("h2", {}, "A table"), input, zone,
    tables.length ? el("div", {}, el("h3", {}, "Tables in this folder"), el("ul", { class: "tables" }, tables)) : null);
}

function runsCard(runs) {
  const rows = runs.map((run) => el("li", { class: "run" },
    el("a", { href: runLink(run.name) },
      el("span", { class: `state ${run.state}` }, STATES[run.state] ?? run.state),
      el("span", { class: "what" }, run.math ? markup(run.math) : run.message ?? run.data ?? run.name),
      el("span", { class: "hint" }, [run.r2 ? `R² ${run.r2}` : null, run.formulas ? `${run.formulas} formulas` : null, run.name, when(run.changed)].filter(Boolean).join(" · ")))));
  const node = card("Runs", rows.length ? el("ul", { class: "run-list" }, rows) : el("p", { class: "hint" }, "None yet. What you start here stays in the folder unisymnet-page and can be opened again at any time."));
  node.classList.add("runs");
  return node;
}

const bytes = (n) => (n > 1e6 ? `${(n / 1e6).toFixed(1)} MB` : n > 1e3 ? `${(n / 1e3).toFixed(0)} kB` : `${n} bytes`);
const when = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
