/**
 * Rich display of tensors, modules, profiles, curves and images in notebooks: Deno's Jupyter kernel calls
 * `Symbol.for("Jupyter.display")`, which returns content by media type. Invariant: texts are escaped, never
 * interpreted as HTML; a tensor of any size shows at most some hundred elements.
 */
import { checkKind, optionsOf, refuseSurplus } from "../../base/checked_input.ts";
import { checkTensor } from "../../tensor/checked.ts";
import { isComplex } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { showAsText } from "../../base/console_text.ts";
import { markFunction } from "../../dynamo/functions/marks.ts";
import { Module } from "../../nn/module.ts";
import { readElements } from "../../tensor/host.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { ops } from "../../tensor/eager.ts";
import { noGrad } from "../../tensor/modes.ts";
import { escapeHtml } from "../pages/escape.ts";
import { KeyAverages } from "../profiler/averages.ts";
import { Profile } from "../profiler/profile.ts";
import { type DataFormats, pixelsOf } from "../summary/pixels.ts";
import { encodePng } from "../summary/png.ts";
import { curvesSvg } from "./curves.ts";

/** Representations of a value by media type, as notebooks expect them. */
export type MediaBundle = Readonly<Record<string, string>>;

/** A value that notebooks show. */
export class Displayed {
  readonly #media: MediaBundle;

  /** `media` is by type; consoles show "text/plain". */
  constructor(media: MediaBundle) {
    this.#media = media;
  }

  /** Called by notebooks. */
  [Symbol.for("Jupyter.display")](): MediaBundle {
    return this.#media;
  }

  /** The text. */
  toString(): string {
    return this.#media["text/plain"] ?? "";
  }
}

showAsText(Displayed.prototype);

/** Options of `image`. */
export interface DisplayImageOptions {
  /** Layout of the dimensions; default "CHW", or "HW" for a matrix. */
  readonly dataformats?: DataFormats | undefined;
}

/**
 * A tensor as an image: floats from 0 to 1, integers from 0 to 255. Throws DynError for tensors that are not images.
 */
export function image(tensor: Tensor, options: DisplayImageOptions = {}): Displayed {
  if (arguments.length > 2) refuseSurplus("image", 2, arguments);
  checkTensor(tensor, "image");
  const { dataformats = tensor.ndim === 2 ? "HW" : "CHW" } = optionsOf("image", options, ["dataformats"]);
  const pixels = pixelsOf(tensor, dataformats), { width, height } = pixels;
  return new Displayed({
    "image/png": encodePng(pixels).toBase64(),
    "text/plain": `image(${width} × ${height})`,
  });
}

/**
 * Curves over their steps, by name, as `curves({ train: losses, test: others })`. Throws DynError if there are none.
 */
export function curves(series: Readonly<Record<string, ArrayLike<number> | Tensor>>): Displayed {
  if (arguments.length > 1) refuseSurplus("curves", 1, arguments);
  checkKind(series, "an object", "curves");
  const lines = Object.entries(series).map(([name, values]) => {
    checkKind(values, "an object", `the curve ${name}`);
    const elements: ArrayLike<unknown> = values instanceof Tensor ? readElements(values) : values;
    return { name, values: Array.from(elements, Number) };
  });
  if (!lines.some(({ values }) => values.some(Number.isFinite))) {
    throw new DynError("Expected numbers for curves but found none");
  }
  const last = lines.map(({ name, values }) => `${name}: ${values.length} values, last ${values.at(-1)}`);
  return new Displayed({ "image/svg+xml": curvesSvg(lines), "text/plain": last.join("\n") });
}

/** Rows and columns that are shown at each end of a longer dimension. */
const EDGE = 8;

function shownPlaces(size: number): (number | null)[] {
  const all = Array.from({ length: size }, (_, at) => at);
  return size <= 2 * EDGE ? all : [...all.slice(0, EDGE), null, ...all.slice(-EDGE)];
}

const table = (rows: readonly string[], caption: string): string =>
  `<div style="overflow-x:auto"><table style="border-collapse:collapse;font:12px monospace"><caption style="text-align:left;opacity:.7;white-space:nowrap">${
    escapeHtml(caption)
  }</caption>${rows.join("")}</table></div>`;

/** A tensor as a heat map table; of more than two dimensions, the first matrix. */
function tensorHtml(tensor: Tensor): string {
  const { shape, dtype, device, ndim } = tensor;
  const flags = [`${dtype} [${shape.join(", ")}]`, device, ...tensor.requiresGrad ? ["requires grad"] : []];
  const matrix = noGrad(() => {
    let first = tensor.detach();
    while (first.ndim > 2) first = ops.select(first, 0, 0);
    return first;
  });
  if (ndim > 2) flags.push(`at [${Array(ndim - 2).fill(0).join(", ")}]`);
  const [rows, columns] = ndim === 0 ? [1, 1] : ndim === 1 ? [1, shape[0] ?? 0] : shape.slice(-2);
  const elements = readElements(matrix);
  const element = (row: number, column: number) => elements[row * (columns ?? 0) + column] ?? 0;
  const value = (row: number, column: number) => Number(element(row, column));
  const across = shownPlaces(columns ?? 0), down = shownPlaces(rows ?? 0);
  const shown = down.flatMap((row) =>
    across.map((column) => row === null || column === null ? 0 : value(row, column))
  );
  const most = shown.reduce((max, each) => Number.isFinite(each) ? Math.max(max, Math.abs(each)) : max, 0);
  const cell = (row: number | null, column: number | null): string => {
    if (row === null || column === null) return `<td style="padding:1px 6px;opacity:.5">…</td>`;
    const found = value(row, column), heat = most > 0 && Number.isFinite(found) ? Math.abs(found) / most : 0;
    const colour = `rgba(${found < 0 ? "214,69,65" : "47,111,208"},${(0.55 * heat).toFixed(3)})`;
    return `<td style="padding:1px 6px;text-align:right;background:${colour}">${
      numberText(element(row, column), dtype)
    }</td>`;
  };
  return table(
    down.map((row) => `<tr>${across.map((column) => cell(row, column)).join("")}</tr>`),
    flags.join(", "),
  );
}

function numberText(value: number | bigint, dtype: Tensor["dtype"]): string {
  if (dtype === "bool") return value ? "true" : "false";
  if (typeof value === "bigint" || !Number.isFinite(value) || Number.isInteger(value)) return `${value}`;
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : `${Number(value.toPrecision(4))}`;
}

/** A module as a collapsible tree with its parameters. */
function moduleHtml(module: Module, name = ""): string {
  const own = module.namedParameters("", false).map(([key, { shape, dtype }]) =>
    `<div style="padding-left:1.4em;opacity:.8">${escapeHtml(key)}: ${dtype} [${shape.join(", ")}]</div>`
  );
  const children = module.memberModules().map(([key, child]) => moduleHtml(child, key));
  const count = module.parameters().reduce((sum, parameter) => sum + parameter.numel(), 0);
  const head = `${name === "" ? "" : `${name}: `}${module.constructor.name}(${module.extraRepr()})`;
  return `<details style="font:12px monospace;padding-left:1em"${name === "" ? " open" : ""}><summary>${
    escapeHtml(head)
  } <span style="opacity:.6">${count} parameters</span></summary>${[...own, ...children].join("")}</details>`;
}

const text = (value: { toString(): string }): MediaBundle => ({ "text/plain": value.toString() });

function displayOf(value: object): MediaBundle {
  if (value instanceof Tensor) {
    const plain = Deno.inspect(value);
    const hasTable = value.storage.filled && value.numel() > 0 && !isComplex(value.dtype);
    return hasTable ? { "text/html": tensorHtml(value), "text/plain": plain } : { "text/plain": plain };
  }
  if (value instanceof Module) return { "text/html": moduleHtml(value), ...text(value) };
  return { "text/html": `<pre>${escapeHtml(value.toString())}</pre>`, ...text(value) };
}

function display(this: object): MediaBundle {
  return displayOf(this);
}

markFunction(display, { kind: "disabled", reason: "what notebooks show is made of elements" });

/** Makes notebooks display tensors, modules and profiles. */
export function installDisplays(): void {
  const value = { value: display, writable: true, configurable: true };
  for (const { prototype } of [Tensor, Module, Profile, KeyAverages]) {
    Object.defineProperty(prototype, Symbol.for("Jupyter.display"), value);
  }
}
