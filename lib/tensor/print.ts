/**
 * Tensors as text in PyTorch's format: aligned columns, four digits, scientific notation if magnitudes require it, only
 * the ends of long dimensions. Invariant: the output equals PyTorch's with its default print options.
 */
import type { Complex } from "../base/complex.ts";
import { checkFlag, checkOneOf, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { type DType, getDefaultDtype, isComplex, isFloat, partType } from "../base/dtype.ts";

/** Settings for printing tensors, like `torch.set_printoptions`. */
export interface PrintOptions {
  /** Digits after the point; initially 4. */
  readonly precision: number;
  /** Number of elements from which on only the ends of dimensions are shown; initially 1000. */
  readonly threshold: number;
  /** Number of elements shown at each end of a summarised dimension; initially 3. */
  readonly edgeitems: number;
  /** Characters per line; initially 80. */
  readonly linewidth: number;
  /** Whether numbers are written with exponents; initially null: if their magnitudes require it. */
  readonly sciMode: boolean | null;
}

const USUAL: PrintOptions = { precision: 4, threshold: 1000, edgeitems: 3, linewidth: 80, sciMode: null };

const PROFILES: Readonly<Record<"default" | "short" | "full", PrintOptions>> = {
  default: USUAL,
  short: { ...USUAL, precision: 2, edgeitems: 2 },
  full: { ...USUAL, threshold: Infinity },
};

const NAMES = ["precision", "threshold", "edgeitems", "linewidth", "sciMode", "profile"] as const;

/** The digits that numbers of JavaScript print. */
const MOST_DIGITS = 100;

const printing: { options: PrintOptions } = { options: USUAL };

/** Returns the current settings for printing tensors. */
export function getPrintoptions(): PrintOptions {
  if (arguments.length > 0) refuseSurplus("getPrintoptions", 0, arguments);
  return printing.options;
}

/** Throws DynError for a value with which no tensor could be printed. */
function checkOption(name: string, value: number | boolean | null): void {
  const what = `${name} of setPrintoptions`;
  if (name === "sciMode") {
    if (value !== null) checkFlag(what, value);
  } else if (name === "precision") {
    checkInteger(what, value, 0);
    if (Number(value) > MOST_DIGITS) refuseValue(`${what} of at most ${MOST_DIGITS} digits`, value);
  } else if (typeof value !== "number" || !(value >= 0)) {
    refuseValue(`${what} to be at least 0`, value);
  }
}

/** Changes how tensors are printed: some options, or all by the name of a profile. Throws DynError for unknown ones. */
export function setPrintoptions(
  given: Partial<PrintOptions> & { readonly profile?: "default" | "short" | "full" },
): void {
  if (arguments.length > 1) refuseSurplus("setPrintoptions", 1, arguments);
  const { profile, ...options } = optionsOf("setPrintoptions", given, NAMES);
  if (profile !== undefined) checkOneOf("profile of setPrintoptions", profile, Object.keys(PROFILES));
  const set = Object.entries(options).filter(([name, value]) =>
    value !== undefined && (value !== null || name === "sciMode")
  );
  for (const [name, value] of set) checkOption(name, value);
  printing.options = { ...(profile ? PROFILES[profile] : printing.options), ...Object.fromEntries(set) };
}

/** The parts of a tensor that printing reads. */
export interface Printable {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly device: string;
  readonly requiresGrad: boolean;
  readonly gradFn: { readonly name: string } | null;
}

/** The format of each element. */
interface Format {
  readonly width: number;
  text(value: Printed): string;
}

/** An element to print; bools are 0 or 1. */
type Printed = number | bigint | Complex;

/** An element by its indices. */
type ElementOf = (index: readonly number[]) => Printed;

/** Returns whether printed elements show their type: bools, int64, and the default types. */
const isEvident = (dtype: DType): boolean =>
  dtype === "bool" || dtype === "int64" || (isComplex(dtype) && partType(dtype) === getDefaultDtype());

/** The text of a tensor; `elementOf` creates the reader of the shown elements; null: it has none. */
export function tensorText(tensor: Printable, elementOf: (() => ElementOf) | null): string {
  const numel = tensor.shape.reduce((a, b) => a * b, 1);
  const isSized = elementOf === null || (numel === 0 && tensor.shape.length !== 1);
  const size = `(${tensor.shape.join(", ")}${tensor.shape.length === 1 ? "," : ""})`;
  const usual = tensor.dtype === getDefaultDtype() ||
    (numel > 0 && elementOf !== null && isEvident(tensor.dtype));
  const history = tensor.gradFn
    ? `gradFn=<${tensor.gradFn.name}>`
    : tensor.requiresGrad
    ? "requiresGrad=true"
    : "";
  const suffix = [
    tensor.device === "cpu" ? "" : `device='${tensor.device}'`,
    isSized ? `size=${size}` : "",
    usual ? "" : `dtype=${tensor.dtype}`,
    history,
  ].filter((each) => each !== "");
  const indent = "tensor(".length;
  const body = elementOf === null
    ? "..."
    : numel === 0
    ? "[]"
    : bodyText(tensor, elementOf(), { indent, summarize: numel > printing.options.threshold });
  if (suffix.length === 0) return `tensor(${body})`;
  const lastLine = body.slice(body.lastIndexOf("\n") + 1).length + (body.includes("\n") ? 0 : indent);
  let line = lastLine, text = `tensor(${body}`;
  for (const each of suffix) {
    if (line + each.length + 2 > printing.options.linewidth) {
      text += `,\n${" ".repeat(indent)}${each}`;
      line = indent + each.length;
    } else {
      text += `, ${each}`;
      line += each.length + 2;
    }
  }
  return `${text})`;
}

function bodyText(
  { shape, dtype }: Printable,
  elementOf: ElementOf,
  { indent, summarize }: { readonly indent: number; readonly summarize: boolean },
): string {
  // In the order of printing
  const collect = (index: readonly number[]): readonly Printed[] =>
    index.length === shape.length
      ? [elementOf(index)]
      : places(shape[index.length] ?? 0, summarize).flatMap((i) => i === null ? [] : collect([...index, i]));
  const shown = collect([]), format = formatOf(shown, dtype);
  let written = 0;
  const next = (): string => format.text(shown[written++] ?? 0);
  const write = (d: number, depth: number): string => {
    if (d === shape.length) return next();
    const list = places(shape[d] ?? 0, summarize);
    if (d === shape.length - 1) {
      const perLine = Math.max(1, Math.floor((printing.options.linewidth - depth) / (format.width + 2)));
      const cells = list.map((i) => i === null ? " ..." : next());
      const lines = Array.from(
        { length: Math.ceil(cells.length / perLine) },
        (_, k) => cells.slice(k * perLine, (k + 1) * perLine).join(", "),
      );
      return `[${lines.join(`,\n${" ".repeat(depth + 1)}`)}]`;
    }
    const parts = list.map((i) => i === null ? "..." : write(d + 1, depth + 1));
    const gap = `,${"\n".repeat(shape.length - 1 - d)}${" ".repeat(depth + 1)}`;
    return `[${parts.join(gap)}]`;
  };
  return write(0, indent);
}

/** Indices along a dimension; null for those left out. */
function places(size: number, summarize: boolean): (number | null)[] {
  const { edgeitems } = printing.options, isCut = summarize && size > 2 * edgeitems;
  const all = Array.from({ length: isCut ? edgeitems : size }, (_, i) => i);
  return isCut ? [...all, null, ...all.map((i) => size - edgeitems + i)] : all;
}

function formatOf(values: readonly Printed[], dtype: DType): Format {
  const real = values.flatMap((value) => typeof value === "object" ? [] : [value]);
  return isComplex(dtype) ? pairFormat(values, partType(dtype)) : realFormat(real, dtype);
}

/** Real and imaginary parts are each aligned. */
function pairFormat(values: readonly Printed[], part: DType): Format {
  const pairOf = (value: Printed): Complex =>
    typeof value === "object" ? value : { re: Number(value), im: 0 };
  const re = realFormat(values.map((value) => pairOf(value).re), part);
  const im = realFormat(values.map((value) => pairOf(value).im), part);
  return {
    width: re.width + im.width + 1,
    text(value) {
      const pair = pairOf(value), behind = im.text(pair.im).trimStart();
      return `${re.text(pair.re)}${behind.startsWith("-") ? "" : "+"}${behind}j`;
    },
  };
}

function realFormat(values: readonly (number | bigint)[], dtype: DType): Format {
  if (dtype === "bool") return padded(values, (v) => v ? "True" : "False");
  if (!isFloat(dtype)) return padded(values, String);
  const numbers = values.map(Number), finite = numbers.filter((v) => Number.isFinite(v) && v !== 0);
  const magnitudes = finite.map(Math.abs);
  const most = magnitudes.reduce((a, b) => Math.max(a, b), 0);
  const least = magnitudes.reduce((a, b) => Math.min(a, b), Infinity);
  const whole = numbers.every((v) => !Number.isFinite(v) || Math.ceil(v) === v);
  const { precision, sciMode } = printing.options;
  const wide = finite.length > 0 && (sciMode ?? (most / least > 1000 || most > 1e8));
  const text = whole
    ? (wide ? exponentText : (x: number) => `${signedZero(x, 0)}.`)
    : (sciMode ?? (wide || least < 1e-4) ? exponentText : (x: number) => signedZero(x, precision));
  // columns are as wide as the finite numbers that are not 0
  const width = Math.max(1, padded(finite, (v) => text(Number(v))).width);
  return { width, text: (v) => finiteText(Number(v), text).padStart(width) };
}

const signedZero = (x: number, digits: number): string =>
  Object.is(x, -0) ? `-${(0).toFixed(digits)}` : fixed(x, digits);

/** More digits than any number halfway between two short ones has. */
const EXACT_DIGITS = 30;

/** Formats with this many digits, rounding ties to even, as C does. */
function fixed(x: number, digits: number): string {
  // From 1e21 on toFixed writes exponents, and numbers are integers
  const text = Math.abs(x) < 1e21
    ? x.toFixed(digits)
    : `${BigInt(x)}${digits > 0 ? "." : ""}${"0".repeat(digits)}`;
  if (Math.abs(x) * 10 ** digits % 1 !== 0.5) return text;
  return halfToEven(text, x.toFixed(digits + EXACT_DIGITS));
}

/** Rounds a tie to even: `exact` is the exact text of the number that was rounded. */
function halfToEven(rounded: string, exact: string): string {
  const rest = exact.slice(-EXACT_DIGITS), lower = exact.slice(0, -EXACT_DIGITS).replace(/\.$/, "");
  return /^50*$/.test(rest) && Number(lower.at(-1)) % 2 === 0 ? lower : rounded;
}

function exponentText(x: number): string {
  const { precision } = printing.options;
  const [rounded = "", exponent = "0"] = x.toExponential(precision).split("e");
  const mantissa = halfToEven(rounded, x.toExponential(precision + EXACT_DIGITS).split("e")[0] ?? "");
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  return `${Object.is(x, -0) ? "-" : ""}${mantissa}e${exponent.startsWith("-") ? "-" : "+"}${digits}`;
}

function finiteText(x: number, text: (x: number) => string): string {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  return text(x);
}

function padded(values: readonly (number | bigint)[], text: (value: number | bigint) => string): Format {
  const width = values.reduce<number>((w, v) => Math.max(w, text(v).length), 0);
  return { width, text: (v) => text(typeof v === "object" ? v.re : v).padStart(width) };
}
