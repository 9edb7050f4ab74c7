// Formulas computed in the browser, from nested lists of known names: nothing is ever evaluated as source text.
// The same semantics as symbolic/operators.py: outside its domain an operator gives NaN or an infinity.

const one = (f) => (a) => a.map(f);
const two = (f) => (a, b) => a.map((u, i) => f(u, b[i]));
const fold = (f) => (...all) => all.reduce((a, b) => a.map((u, i) => f(u, b[i])));

function power(a, b) {
  if (a === 1 || (a === -1 && Math.abs(b) === Infinity)) return 1; // IEEE's pow, where JavaScript has NaN
  return a ** b;
}

function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x, total = x;
  for (let n = 1; n < 200; n++) { term *= (2 * x * x) / (2 * n + 1); total += term; } // all of one sign: nothing cancels
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
}

export const OPERATORS = {
  add: fold((a, b) => a + b), mul: fold((a, b) => a * b), sub: two((a, b) => a - b), div: two((a, b) => a / b),
  pow: two(power), neg: one((a) => -a), inv: one((a) => 1 / a), square: one((a) => a * a),
  sin: one(Math.sin), cos: one(Math.cos), tan: one(Math.tan), exp: one(Math.exp), ln: one(Math.log), sqrt: one(Math.sqrt),
  abs: one(Math.abs), sinh: one(Math.sinh), cosh: one(Math.cosh), tanh: one(Math.tanh),
  asin: one(Math.asin), acos: one(Math.acos), atan: one(Math.atan),
  min: fold(Math.min), max: fold(Math.max), erf: one(erf), step: one((a) => (a > 0 ? 1 : a <= 0 ? 0 : NaN)),
};

export function known(tree) {
  if (["c", "p", "x"].includes(tree[0])) return true;
  return Object.hasOwn(OPERATORS, tree[0]) && tree.slice(1).every(known);
}

// Values on rows: `columns[i]` holds the numbers of column i, `values[k]` the constant k.
export function evaluate(tree, columns, values, n) {
  const [head, ...rest] = tree;
  if (head === "c") return new Array(n).fill(rest[0]);
  if (head === "p") return new Array(n).fill(values[rest[0]]);
  if (head === "x") return columns[rest[0]];
  if (!Object.hasOwn(OPERATORS, head)) throw new Error(`this page does not know the operator ${head}`);
  return OPERATORS[head](...rest.map((part) => evaluate(part, columns, values, n)));
}

export function rSquared(y, found) {
  const mean = y.reduce((a, b) => a + b, 0) / y.length;
  let rest = 0, spread = 0;
  for (let i = 0; i < y.length; i++) {
    rest += (y[i] - found[i]) ** 2;
    spread += (y[i] - mean) ** 2;
  }
  if (!Number.isFinite(rest)) return -Infinity;
  return spread > 0 ? 1 - rest / spread : Number(rest === 0);
}

export function r2Text(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return "undefined";
  if (value > 0.9999) return value > 1 - 1e-15 ? "1" : `1 − ${(1 - value).toExponential(0).replace("-", "−")}`;
  return value > -10 ? (Math.round(value * 1e4) / 1e4 + 0).toFixed(4) : value.toExponential(1);
}

export const number = (value, digits = 5) => {
  if (value === null || value === undefined) return "–";
  return String(Number(value.toPrecision(digits))).replace("-", "−");
};
