// One formula: in mathematical type, as source, its constants as sliders with the curve and the residuals moving.
import { get, post } from "./api.js";
import { card, complain, copyButton, el, field, later, markup, svg } from "./dom.js";
import { evaluate, known, number, r2Text, rSquared } from "./formula.js";
import { dots, frame, line, span } from "./plot.js";

const POINTS = 161, MARGIN = 0.2;
const SHADES = [[0, 0.1, 0.12], [0.1, 0.3, 0.3], [0.3, 0.6, 0.6], [0.6, 1.1, 1]];
const COPIED = ["latex", "python", "excel", "c"];

export class Detail {
  constructor(run) {
    Object.assign(this, { run, text: null, rows: null, shared: null, rowsOf: null, asking: false });
    this.node = el("div", { class: "detail" });
  }

  // Called whenever the front has changed; does nothing while the same formula is shown in the same state. Text and
  // state are told together: a formula of the search need not be in the finished table.
  async show(text, wantedLive) {
    Object.assign(this, { wanted: text, wantedLive });
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.wanted && (this.wanted !== this.text || this.wasLive !== this.wantedLive)) {
        const [asked, live] = [this.wanted, this.wantedLive];
        try {
          await this.load(asked, live);
        } catch (error) {
          if (!live) complain(error.message);
        }
        [this.text, this.wasLive] = [asked, live];
        if (live) await new Promise((done) => setTimeout(done, 700)); // the search needs the processor more than we do
      }
    } finally {
      this.asking = false;
    }
  }

  async load(text, live) {
    const version = `${this.run.name} ${live} ${this.run.result?.entries.length}`;
    if (this.rowsOf !== version) [this.shared, this.rowsOf] = [await get("rows", { run: this.run.name }), version];
    const found = await post("formula", { run: this.run.name, text, light: live });
    if (found.tree && this.wanted === text) this.draw(found, live);
  }

  draw(formula, live) {
    this.formula = formula;
    this.rows = formula.rows ?? this.shared; // with constants for each group, a formula has columns of its own
    this.values = [...formula.values];
    this.equation = el("div", { class: "formula", tabindex: "0", role: "region", "aria-label": "Formula" }, markup(formula.equation));
    this.facts = el("p", { class: "lead facts" }, this.factText(formula.r2_text));
    const head = card(formula.picked ? "The formula" : `Formula ${formula.index} of the table`, this.equation, this.facts,
      formula.domain.length ? el("p", { class: "hint" }, `Holds where ${formula.domain.join(" and ")}.`) : null,
      formula.groups ? el("ul", { class: "group-values" }, formula.groups.map((text) => el("li", {}, text))) : null, live ? null : this.copies());
    head.classList.add("formula-card");
    const parts = [head];
    if (this.rows.n && known(formula.tree)) parts.push(this.play(live));
    if (!live) for (const name of ["cautions", "responses", "network"]) parts.push(...markup(formula.sections[name]).childNodes);
    this.node.replaceChildren(...parts);
    if (!live) this.run.showCommands(formula.commands);
  }

  factText(r2, moved = false) {
    const { size, r2_valid_text: held, source } = this.formula;
    return [`size ${size}`, `R² ${r2}`, held && !moved ? `R² on rows kept back ${held}` : null, moved ? "with moved constants" : source ? `found by ${source}` : null, ...(moved ? [] : this.formula.remarks)].filter(Boolean).join(" · ");
  }

  copies() {
    const source = async (language) => (await this.sources()).find((one) => one.language === language).source;
    const shown = el("details", { class: "sources", on: { toggle: async () => {
      if (shown.open) shown.replaceChildren(shown.firstChild, ...(await this.sources()).map((one) => el("div", {}, el("div", { class: "command-head" }, el("h3", {}, one.label), copyButton("Copy", one.label, () => one.source)), el("pre", { tabindex: "0", role: "region", "aria-label": one.label }, one.source))));
    } } }, el("summary", {}, "Show the source in all languages"));
    return el("div", {}, el("div", { class: "copies", role: "group", "aria-label": "Copy the formula" }, el("span", { class: "hint" }, "Copy as"),
      this.formula.sources.filter((one) => COPIED.includes(one.language)).map((one) => copyButton(one.label, `as ${one.label}`, () => source(one.language)))), shown,
      el("div", { class: "copies" }, el("button", { type: "button", class: "keep", on: { click: () => this.run.goOn(this.run.result?.asked?.settings.max_time ?? 60, this.formula.text) } }, "Continue from this formula")));
  }

  get isMoved() { return this.values.some((value, k) => value !== this.formula.values[k]); }

  async sources() {
    if (!this.isMoved) return this.formula.sources;
    return (await post("sources", { run: this.run.name, text: this.formula.text, values: this.values })).sources;
  }

  // Charts that follow the constants.
  play(live) {
    const { used, strongest } = this.formula;
    this.column = strongest[0] ?? used[0] ?? null;
    const figures = el("div", { class: "charts" });
    const rebuild = () => { figures.replaceChildren(...this.charts()); this.redraw(); };
    const select = el("select", { on: { change: (event) => { this.column = Number(event.target.value); rebuild(); } } },
      used.map((column) => el("option", { value: String(column), selected: column === this.column }, this.name(column))));
    rebuild();
    const sliders = live ? null : this.sliders();
    return el("section", { class: "card play" }, el("h2", {}, live ? "How it fits" : "Constants, curve and residuals"), sliders,
      used.length > 1 ? field("Curve along", select, "Other columns are held at their medians; the fainter a dot, the further away its row is.") : null, figures);
  }

  name(column) { return (this.formula.names ?? this.run.result?.names ?? this.run.start?.inputs ?? [])[column] ?? `x${column}`; }

  sliders() {
    const { constants } = this.formula;
    if (!constants.length) return el("p", { class: "hint" }, "This formula has no constants to move.");
    this.boxes = constants.map((constant, k) => this.slider(constant, k));
    const keep = el("button", { type: "button", disabled: true, on: { click: () => this.keepMoved(false) } }, "Add to the table as mine");
    const refit = el("button", { type: "button", disabled: true, on: { click: () => this.keepMoved(true) } }, "Fit again from here");
    const reset = el("button", { type: "button", disabled: true, on: { click: () => { this.values = [...this.formula.values]; this.boxes.forEach((box) => box.set()); this.moved(); } } }, "Back to the fit");
    this.buttons = [reset, refit, keep];
    return el("div", {}, el("div", { class: "sliders" }, this.boxes.map((box) => box.node)), el("div", { class: "copies" }, this.buttons),
      el("p", { class: "hint" }, "± is one standard error of a fit in which every constant is free."));
  }

  slider(constant, k) {
    const value = constant.value, reach = Math.max(Math.abs(value), 8 * (constant.stderr ?? 0)) * 0.5 || 1;
    const label = constant.simple ?? number(value);
    const range = el("input", { type: "range", min: String(value - reach), max: String(value + reach), step: String(reach / 500), value: String(value), "aria-label": `Constant ${k + 1}, ${label}` });
    const box = el("input", { type: "number", step: "any", value: String(Number(value.toPrecision(7))), "aria-label": `Value of constant ${k + 1}` });
    const unit = constant.unit ? ` ${constant.unit}` : "";
    const said = constant.stderr !== null && constant.fitted !== null ? `${number(constant.fitted, 6)} ± ${number(constant.stderr, 2)}${unit}` : `held${unit}`;
    range.addEventListener("input", () => { this.values[k] = range.valueAsNumber; box.value = String(Number(range.valueAsNumber.toPrecision(6))); this.moved(); });
    box.addEventListener("input", () => { if (Number.isFinite(box.valueAsNumber)) { this.values[k] = box.valueAsNumber; range.value = box.value; this.moved(); } });
    return { node: el("div", { class: "slider" }, el("span", { class: "slider-name" }, label), range, box, el("span", { class: "hint" }, said)),
      set: () => { range.value = String(value); box.value = String(Number(value.toPrecision(7))); } };
  }

  moved() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.redraw());
    for (const button of this.buttons) button.disabled = !this.isMoved;
    this.askMoved();
  }

  askMoved = later(140, async () => {
    const { formula, values } = this;
    try {
      const found = await post("moved", { run: this.run.name, text: formula.text, values });
      if (formula !== this.formula || values !== this.values) return;
      this.movedText = found.text;
      this.equation.replaceChildren(markup(found.equation));
      this.facts.textContent = this.factText(found.r2_text, this.isMoved);
    } catch (error) {
      complain(error.message);
    }
  });

  async keepMoved(refit) {
    try {
      const { text } = await post("moved", { run: this.run.name, text: this.formula.text, values: this.values });
      const own = await post("own", { run: this.run.name, formula: text, refit });
      this.run.chosen = own.text;
      this.text = null;
      await this.run.reload();
    } catch (error) {
      complain(error.message);
    }
  }

  compute() {
    const { columns, y } = this.rows;
    return evaluate(this.formula.tree, columns, this.values, y.length);
  }

  curve() {
    const { low, high, centre } = this.rows, c = this.column, reach = MARGIN * (high[c] - low[c] || Math.abs(high[c]) || 1);
    const xs = Array.from({ length: POINTS }, (_, i) => low[c] - reach + ((high[c] - low[c] + 2 * reach) * i) / (POINTS - 1));
    const columns = centre.map((value, i) => (i === c ? xs : new Array(POINTS).fill(value)));
    return [xs, evaluate(this.formula.tree, columns, this.values, POINTS)];
  }

  // Frames for what is found with the fitted constants: they stay while the constants move.
  charts() {
    const { y } = this.rows, target = this.run.result?.target ?? this.run.start?.target ?? "y";
    const found = this.compute(), rest = y.map((value, i) => value - found[i]).filter(Number.isFinite);
    const width = Math.max(...y) - Math.min(...y) || 1;
    const largest = Math.max(rest.reduce((a, b) => Math.max(a, Math.abs(b)), 0) * 1.6, 0.02 * width);
    const both = span([...y, ...found.filter((value) => Math.abs(value) < 1e300)].filter((value) => value > Math.min(...y) - width && value < Math.max(...y) + width));
    this.parts = [];
    const figure = (caption, chart) => el("figure", {}, el("figcaption", {}, caption), chart.node);
    const figures = [];
    if (this.column !== null) {
      const c = this.column, [xs] = this.curve();
      const chart = frame(`${target} along ${this.name(c)}`, [xs[0], xs.at(-1)], both, [this.name(c), target]);
      chart.marks.append(...this.faded(chart, c));
      const curve = svg("path", { class: "curve" });
      chart.marks.append(curve);
      this.parts.push(() => { const [us, vs] = this.curve(); curve.setAttribute("d", line(chart, us, vs)); });
      figures.push(figure(`along ${this.name(c)}`, chart));
    }
    const truth = frame(`Predicted against true ${target}`, both, both, [`true ${target}`, `predicted ${target}`]);
    truth.marks.append(svg("path", { class: "guide", d: line(truth, both, both) }));
    const predicted = svg("path", { class: "dot" });
    truth.marks.append(predicted);
    const left = frame(`Residuals of ${target}`, both, [-largest, largest], [`predicted ${target}`, "true − predicted"]);
    left.marks.append(svg("path", { class: "guide", d: line(left, both, [0, 0]) }));
    const residuals = svg("path", { class: "dot" });
    left.marks.append(residuals);
    this.parts.push((values) => {
      predicted.setAttribute("d", dots(truth, y, values));
      residuals.setAttribute("d", dots(left, values, y.map((value, i) => value - values[i])));
    });
    return [...figures, figure("predicted against true", truth), figure("residuals", left)];
  }

  // The rows in four shades: the further from where the other columns are held, the fainter.
  faded(chart, c) {
    const { columns, centre, y } = this.rows, others = this.formula.used.filter((column) => column !== c);
    const spread = others.map((column) => Math.sqrt(columns[column].reduce((sum, value) => sum + (value - centre[column]) ** 2, 0) / y.length) || 1);
    const near = y.map((_, i) => Math.exp((-2 * others.reduce((sum, column, k) => sum + ((columns[column][i] - centre[column]) / spread[k]) ** 2, 0)) / Math.max(others.length, 1)));
    return SHADES.map(([low, high, opacity]) => {
      const rows = near.flatMap((value, i) => (value >= low && value < high ? [i] : []));
      return svg("path", { class: "dot", style: `opacity:${opacity}`, d: dots(chart, rows.map((i) => columns[c][i]), rows.map((i) => y[i])) });
    });
  }

  redraw() {
    const values = this.compute();
    for (const part of this.parts) part(values);
    if (this.isMoved) this.facts.textContent = this.factText(r2Text(rSquared(this.rows.y, values)), true);
  }
}
