// Charts as SVG elements: the same look as the report's, which python draws.
import { svg } from "./dom.js";

export const LEFT = 62, RIGHT = 14, TOP = 12, BOTTOM = 42;

export function span(values, share = 0.04) {
  const good = values.filter(Number.isFinite);
  if (!good.length) return [0, 1];
  let low = good.reduce((a, b) => Math.min(a, b)), high = good.reduce((a, b) => Math.max(a, b));
  let width = high - low;
  if (!(width > 1e-12 * Math.max(Math.abs(low), Math.abs(high)))) width = (0.1 * (Math.abs(high) || 1)) / share;
  return [low - share * width, high + share * width];
}

export class Axis {
  constructor([low, high], start, end, label, powers = false) {
    Object.assign(this, { low, high, start, end, label, powers });
  }
  at(value) {
    return this.start + ((value - this.low) / (this.high - this.low)) * (this.end - this.start);
  }
  ticks() {
    if (this.powers) {
      const step = Math.max(1, Math.ceil((this.high - this.low) / 6)), found = [];
      for (let e = Math.ceil(this.low - 1e-9); e <= this.high + 1e-9; e++) if (e % step === 0) found.push([e, powerText(e)]);
      return found;
    }
    const raw = (this.high - this.low) / 6;
    if (!Number.isFinite(raw) || raw <= 0) return [];
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= raw * (1 - 1e-9));
    const found = [];
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step && found.length < 14; k++) {
      const value = k * step;
      found.push([value, Math.abs(value) < 1e-9 * (this.high - this.low) ? "0" : tickText(value)]);
    }
    return found;
  }
}

const tickText = (value) => String(Number(value.toPrecision(4))).replace("e+", "e").replaceAll("-", "−");
function powerText(e) {
  if (e >= -2 && e <= 3) return String(10 ** e);
  return "10" + String(e).replace(/[-0-9]/g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻");
}

let count = 0;

// A frame with grid, ticks and names; `marks` is the group to draw in, kept inside the frame.
export function frame(title, xRange, yRange, labels, { width = 380, height = 270, powers = false, css = "chart", role = "img" } = {}) {
  const x = new Axis(xRange, LEFT, width - RIGHT, labels[0]), y = new Axis(yRange, height - BOTTOM, TOP, labels[1], powers);
  const bottom = height - BOTTOM, grid = [], texts = [];
  for (const [value, text] of x.ticks()) {
    grid.push(`M${x.at(value).toFixed(1)} ${TOP}V${bottom}`);
    texts.push(svg("text", { x: x.at(value).toFixed(1), y: bottom + 15, "text-anchor": "middle" }, text));
  }
  for (const [value, text] of y.ticks()) {
    grid.push(`M${LEFT} ${y.at(value).toFixed(1)}H${width - RIGHT}`);
    texts.push(svg("text", { x: LEFT - 6, y: (y.at(value) + 4).toFixed(1), "text-anchor": "end" }, text));
  }
  texts.push(svg("text", { class: "name", x: (LEFT + width - RIGHT) / 2, y: height - 6, "text-anchor": "middle" }, short(labels[0])));
  texts.push(svg("text", { class: "name", transform: `translate(12 ${(TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, short(labels[1])));
  const key = `clip${count++}`;
  const box = svg("rect", { x: LEFT, y: TOP - 4, width: width - LEFT - RIGHT, height: bottom - TOP + 8 });
  const marks = svg("g", { "clip-path": `url(#${key})` }), free = svg("g");
  const node = svg("svg", { class: css, viewBox: `0 0 ${width} ${height}`, role, "aria-label": title },
    svg("clipPath", { id: key }, box), svg("path", { class: "grid", d: grid.join("") }), marks, free, texts);
  return { node, x, y, marks, free };
}

const short = (label) => (label.length > 40 ? `${label.slice(0, 39)}…` : label);

export function dots({ x, y }, us, vs) {
  let path = "";
  for (let i = 0; i < us.length; i++) if (Number.isFinite(us[i]) && Number.isFinite(vs[i])) path += `M${x.at(us[i]).toFixed(1)} ${y.at(vs[i]).toFixed(1)}h0`;
  return path;
}

// A line, broken where there is no value and at a pole.
export function line({ x, y }, us, vs) {
  const low = Math.min(y.start, y.end), high = Math.max(y.start, y.end), reach = high - low;
  let path = "", pen = "M", last = NaN;
  us.forEach((u, i) => {
    const b = y.at(vs[i]);
    if (!Number.isFinite(b)) { pen = "M"; return; }
    if ((last < low && b > high) || (last > high && b < low)) pen = "M";
    last = b;
    path += `${pen}${x.at(u).toFixed(1)} ${Math.min(Math.max(b, low - reach), high + reach).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

export function histogram(bars) {
  const most = Math.max(1, ...bars);
  const path = bars.map((n, i) => (n ? `M${6 * i} 24v${(-22 * n / most).toFixed(1)}h5V24z` : "")).join("");
  return svg("svg", { class: "bars", viewBox: `0 0 ${6 * bars.length} 24`, "aria-hidden": "true" }, svg("path", { d: path }));
}

// The part of the target's spread that is left, sqrt(1 - R²), as a power of ten; between exact and useless.
export function errorPower(r2) {
  if (!Number.isFinite(r2)) return 2; // undefined on some rows, which JSON tells as null
  return 0.5 * Math.log10(Math.min(Math.max(1 - r2, 1e-32), 1e4));
}
