// A run: while it searches and afterwards. The front comes from the events, the finished table from the server.
import { follow, get, post, reportAddress } from "./api.js";
import { compareCard } from "./compare.js";
import { byId, card, commands, complain, el, markup, say } from "./dom.js";
import { Detail } from "./detail.js";
import { r2Text } from "./formula.js";
import { frontChart, frontTable } from "./front.js";
import { dataLink } from "./home.js";
import { systemPart } from "./system.js";
import { ownCard, predictCard } from "./tools.js";

const REASONS = {
  exact: "a formula is exact", noise: "the best formula leaves only noise", time: "the time is up", interrupted: "stopped",
  system: "the equations are found", evaluations: "the limit on formulas was reached", exhausted: "nothing is left to try", running: "searching",
};
const OVER = ["end", "error", "lost"];

export async function runView(main, { name }) {
  const view = new RunView(main, name);
  await view.open();
  return () => view.close();
}

class RunView {
  constructor(main, name) {
    Object.assign(this, { main, name, formulas: new Map(), keys: [], best: null, start: null, last: null, chosen: null, result: null, other: null, heard: 0 });
    this.title = el("h1", { tabindex: "-1" }, name);
    this.lead = el("p", { class: "lead" });
    this.status = el("section", { class: "card status", "aria-label": "The search" });
    this.frontNode = el("section", { class: "card front-card" });
    this.frontNode.append(el("h2", {}, "From simple to exact"), el("p", { class: "hint waiting" }, "The first formulas will appear in a moment."));
    this.frontNode.addEventListener("pointerdown", () => { this.pressed = true; });
    this.released = () => {
      if (this.pressed) setTimeout(() => { this.pressed = false; this.show(); }, 50); // after the click
    };
    for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, this.released);
    this.detail = new Detail(this);
    this.tools = el("div");
    this.below = el("div");
  }

  async open() {
    this.result = await get("run", { run: this.name });
    this.main.replaceChildren(el("div", { class: "hero" }, this.title, this.lead), this.status, this.frontNode, this.detail.node, this.tools, this.below);
    this.state = this.result.state;
    this.showStatus();
    if (this.result.entries.length || this.result.equations) this.finished();
    this.stopFollowing = follow(this.name, (event) => this.hear(event), (good) => {
      byId("link").textContent = good ? "" : "connection lost; the search keeps running. Trying again …";
    });
    this.clock = setInterval(() => this.tick(), 250);
  }

  close() {
    this.stopFollowing?.();
    clearInterval(this.clock);
    for (const kind of ["pointerup", "pointercancel"]) window.removeEventListener(kind, this.released);
    clearTimeout(this.waiting);
    byId("link").textContent = "";
  }

  get searching() { return this.state === "running" || this.state === "queued"; }

  // The end is told before the finished table is here: until then the page shows what the events told.
  get live() { return this.searching || this.result?.state !== this.state; }

  entries() {
    if (!this.live && this.result.entries.length) return this.result.entries;
    return this.keys.map((key) => this.formulas.get(key)).filter(Boolean);
  }

  pickedText() {
    if (!this.live && this.result.entries.length) return this.result.entries[this.result.picked]?.text;
    return this.formulas.get(this.best)?.text;
  }

  chosenText() {
    const entries = this.entries();
    return entries.some((entry) => entry.text === this.chosen) ? this.chosen : this.pickedText();
  }

  hear(event) {
    this.heard += 1;
    this.main.dataset.events = String(this.heard);
    if (event.kind === "formula") this.formulas.set(event.key, { ...event, short: event.text, r2_text: r2Text(event.r2) });
    else if (event.kind === "front") [this.keys, this.best] = [event.keys, event.best];
    else if (event.equations) this.equations = event.equations;
    else if (event.kind === "start") [this.start, this.message] = [event, null];
    else if (event.kind === "queued") [this.start, this.message] = [null, null];
    if (event.seconds !== undefined && event.at) this.last = event;
    if (event.message) this.message = event.message;
    const before = this.state;
    if (event.kind === "queued") this.state = "queued";
    else if (OVER.includes(event.kind)) this.state = { end: "done", error: "failed", lost: "lost" }[event.kind];
    else this.state = "running";
    this.reason = event.kind === "end" ? event.stopped : this.reason;
    this.changed = this.changed || before !== this.state || event.kind === "front" || Boolean(event.equations);
    if (!this.waiting) this.waiting = setTimeout(() => { this.waiting = 0; this.show(); }, 30); // not by animation frame: a page in the background has none
  }

  // Thirty times a second at most, however many events came.
  async show() {
    if (this.shownState !== this.state) {
      const was = this.shownState;
      this.shownState = this.state;
      this.showStatus();
      if (!this.searching && (was || !this.result?.entries.length)) {
        await this.reload();
        say(`The search has ended: ${REASONS[this.reason] ?? this.message ?? this.state}.`);
        return;
      }
    }
    if (this.changed) {
      this.changed = false;
      if (this.searching) this.showFront();
    }
    this.tick();
  }

  async reload() {
    try {
      this.result = await get("run", { run: this.name });
    } catch (error) {
      complain(error.message);
      return;
    }
    if (!this.searching) this.state = this.shownState = this.result.state;
    this.showStatus();
    this.finished();
  }

  finished() {
    if (this.result.kind === "dynamics") {
      if (this.searching || !this.result.equations) return;
      this.equations = null;
      const part = systemPart(this.result);
      this.frontNode.replaceWith(part);
      this.frontNode = part;
      return;
    }
    this.showFront();
    if (this.searching) return;
    const busy = document.activeElement?.closest?.(".tools");
    if (!busy) this.tools.replaceChildren(el("div", { class: "tools" }, ownCard(this), predictCard(this), compareCard(this)));
  }

  title_() {
    if (this.result?.kind === "dynamics") return `Equations of ${(this.result.states ?? this.result.asked?.states ?? []).join(", ")}`;
    const target = this.start?.target ?? this.result?.target ?? this.result?.asked?.target;
    const inputs = this.start?.inputs ?? this.result?.names;
    if (!target || !inputs?.length) return target ?? this.name;
    return `${target} = f(${inputs.slice(0, 8).join(", ")}${inputs.length > 8 ? ", …" : ""})`;
  }

  showStatus() {
    this.title.textContent = this.title_();
    const data = this.result?.data;
    this.lead.replaceChildren(...[data ? el("a", { href: dataLink(data) }, data) : null, data ? " · " : null, this.name].filter(Boolean));
    this.words = el("p", { class: "words" });
    this.bar = el("progress", { max: "1", value: 0, "aria-label": "Time used" });
    if (this.searching) {
      this.status.replaceChildren(this.bar, this.words, el("div", { class: "actions" },
        el("button", { type: "button", class: "stop", on: { click: () => this.stop() } }, "Stop and keep the best")));
    } else {
      const seconds = el("input", { type: "number", min: "1", max: "86400", value: String(this.result?.asked?.settings.max_time ?? this.result?.max_time ?? 60), "aria-label": "Seconds to continue" });
      this.status.replaceChildren(this.words, el("div", { class: "actions" },
        this.result?.kind === "dynamics" && !this.result.asked ? el("span", { class: "go-on" }) : [el("button", { type: "button", class: "go-on", on: { click: () => this.goOn(seconds.valueAsNumber) } }, "Continue for"), el("span", {}, seconds, " seconds")],
        this.result?.entries.length || this.result?.equations ? el("a", { class: "button", href: reportAddress(this.name), download: "" }, "Save as a report") : null));
    }
    this.tick();
    this.showCommands();
  }

  tick() {
    if (!this.words) return;
    if (!this.searching) {
      const result = this.result ?? {};
      const why = this.state === "done" ? REASONS[result.stopped ?? this.reason ?? "system"] ?? result.stopped : this.message ?? this.state;
      const tried = result.tried ? ` ${result.tried} formulas tried in ${result.seconds?.toFixed(1)} s.` : "";
      this.words.textContent = `${this.state === "failed" ? "It did not work" : "Ended"}: ${why}.${tried}`.replace("..", ".");
      return;
    }
    const limit = this.start?.max_time;
    if (this.state === "queued" || !this.start) {
      this.words.textContent = "Getting ready. The first search after an installation compiles its kernels, which takes a minute or two; if another search is running, this one waits.";
      this.bar.removeAttribute("value");
      return;
    }
    const seconds = this.last ? this.last.seconds + Math.max(0, Date.now() / 1000 - this.last.at) : Math.max(0, Date.now() / 1000 - this.start.at);
    if (limit) this.bar.value = Math.min(seconds / limit, 1);
    else this.bar.removeAttribute("value");
    const left = limit ? `${Math.max(0, Math.ceil(limit - seconds))} s left` : `${seconds.toFixed(0)} s`;
    const tried = this.last ? `${this.last.tried ? ` · ${this.last.tried} formulas tried` : ""} · now: ${this.last.stage ?? "–"}` : "";
    this.words.textContent = `Searching · ${left}${tried}`;
  }

  // The equations of a system while it is being searched for.
  showEquations() {
    if (!this.equations) return;
    const found = card("Found so far", el("div", { class: "formula", tabindex: "0", role: "region", "aria-label": "Equations" }, this.equations.map((text) => markup(text))));
    this.frontNode.replaceWith(found);
    this.frontNode = found;
  }

  showFront() {
    if (this.result?.kind === "dynamics") {
      this.showEquations();
      return;
    }
    const entries = this.entries();
    if (!entries.length) return;
    if (this.pressed) { // what is under a pressed pointer stays, or the click would be lost
      this.changed = true;
      return;
    }
    const chosen = this.chosenText(), picked = this.pickedText();
    const peek = el("div", { class: "peek", "aria-hidden": "true" });
    const show = (entry) => { const shown = entry ?? entries.find((e) => e.text === this.chosenText()); peek.replaceChildren(shown ? markup(shown.math) : ""); };
    const focused = document.activeElement?.closest?.("[data-choose], [data-row]");
    const place = focused && this.frontNode.contains(focused) ? [focused.dataset.choose ? "choose" : "row", entries.findIndex((e) => e.text === this.focusText)] : null;
    const choose = (entry) => this.choose(entry);
    const onPeek = (entry) => { if (entry) this.focusText = entry.text; show(entry); };
    this.frontNode.replaceChildren(el("h2", {}, this.searching ? "Found so far" : "From simple to exact"),
      el("div", { class: "two" },
        el("div", {}, frontChart(entries, chosen, { onChoose: choose, onPeek, other: this.other?.entries }), peek,
          el("p", { class: "hint" }, `Each point is a formula: point at it to read it, choose it to see all about it. With the keyboard: arrows, then Enter. ★ is the one picked.${this.other ? ` Squares: ${this.other.name}.` : ""}`)),
        frontTable(entries, chosen, picked, { onChoose: choose })));
    show(null);
    if (place && place[1] >= 0) this.frontNode.querySelector(place[0] === "choose" ? `[data-choose="${place[1]}"]` : `[data-row="${place[1]}"] button`)?.focus();
    this.main.dataset.formulas = String(entries.length);
    this.detail.show(chosen, this.live);
  }

  choose(entry) {
    this.chosen = this.focusText = entry.text;
    this.pressed = false;
    this.showFront();
    say(`Formula of size ${entry.size} is shown.`);
  }

  compareWith(other) {
    this.other = other;
    this.showFront();
  }

  async stop() {
    try { await post("stop", { run: this.name }); say("Stopping."); } catch (error) { complain(error.message); }
  }

  async goOn(seconds, keep) {
    try {
      await post("continue", { run: this.name, seconds: seconds > 0 ? seconds : 60, keep: keep ?? null });
      this.tools.replaceChildren();
      window.scrollTo({ top: 0, behavior: "smooth" });
    } catch (error) {
      complain(error.message);
    }
  }

  showCommands(found) {
    this.told = found ?? this.told ?? (this.result?.equations ? { shell: this.result.shell, python: this.result.python } : null);
    const shell = [this.start?.shell, this.told?.shell].filter(Boolean).join("\n"), python = this.told?.python ?? this.start?.python;
    this.below.replaceChildren(...(shell || python ? [commands(shell, python)] : []));
  }
}
