/**
 * The syntax of `x.at(…)` and `x.set([…], v)`, parsed without the tensor, so that the tracer parses it the same way:
 * one step per argument. Invariant: the steps consume exactly the dimensions of the tensor; "..." is expanded and
 * missing dimensions are whole.
 */
import { refuseChoice } from "../base/checked_input.ts";
import { checkPositive } from "../base/checked_numbers.ts";
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { specialize } from "../sym/decide.ts";
import { Sym } from "../sym/expr.ts";
import type { Dim } from "../sym/expr.ts";

/**
 * A slice with computed ends, integers or tensors of one integer; absent or null ends are open. `{ start: 1, stop: 5 }`
 * is "1:5".
 */
export interface SliceIndex<T = never> {
  /** The first index; default: the beginning. */
  readonly start?: number | T | Sym | null | undefined;
  /** The index after the last; default: the end. */
  readonly stop?: number | T | Sym | null | undefined;
  /** The step; default 1. */
  readonly step?: number | T | Sym | null | undefined;
}

/**
 * One argument of `at`: an integer, a slice as text ("1:5:2", ":", "2:") or as an object ({ start, stop, step }),
 * "..." for whole dimensions, null for a new dimension, a bool for a new dimension of size 1 or 0, or a tensor of
 * integers or bools. An array is always a list of indices, however long, as a list is in PyTorch.
 */
export type IndexArgument<T> =
  | number
  | string
  | boolean
  | null
  | T
  | Sym
  | SliceIndex<T>
  | readonly IndexItem[];

/** An entry of an array argument. */
export type IndexItem = number | boolean | Sym | readonly IndexItem[];

/** A step of indexing, applied to the next dimension that earlier steps have not consumed. */
type IndexStep<T> =
  | { readonly kind: "select"; readonly index: Dim }
  | { readonly kind: "slice"; readonly start: Dim | null; readonly stop: Dim | null; readonly step: number }
  | { readonly kind: "newaxis" }
  | { readonly kind: "flag"; readonly value: boolean }
  | ({ readonly kind: "tensor" } & TensorIndex<T>)
  | { readonly kind: "list"; readonly items: readonly IndexItem[] };

/** A tensor that is an index. */
interface TensorIndex<T> {
  readonly tensor: T;
  /** Number of dimensions that it indexes; a mask indexes as many as it has. */
  readonly dims: number;
  /** Whether it is a single integer, which removes its dimension as a number does. */
  readonly isNumber: boolean;
}

/** Facts of tensors for the parser. */
interface TensorReader<T> {
  /** Returns how a tensor indexes; undefined if the value is not a tensor. */
  rankOf(value: unknown): TensorIndex<T> | undefined;
  /** The integer in a tensor, as an end of a slice. */
  numberIn(index: T): Dim;
}

/**
 * Returns whether integers in tensors must be applied separately: together with other tensors they would change the
 * position of the gathered dimensions.
 */
export function takesNumbersFirst<T>(steps: readonly IndexStep<T>[]): boolean {
  return steps.some((step) =>
    step.kind === "list" || step.kind === "flag" || (step.kind === "tensor" && !step.isNumber)
  );
}

/** Returns how a tensor of some type and rank indexes. */
export function tensorIndex<T>(tensor: T, dtype: DType, rank: number): TensorIndex<T> {
  const isMask = dtype === "bool" || dtype === "uint8";
  return { tensor, dims: isMask ? rank : 1, isNumber: !isMask && rank === 0 };
}

/** Parses arguments for a tensor of `rank` dimensions. Throws DynError if they do not fit. */
export function parseIndex<T>(
  index: readonly unknown[],
  rank: number,
  tensors: TensorReader<T>,
): IndexStep<T>[] {
  const steps: (IndexStep<T> | "...")[] = index.map((each) => parseOne(each, tensors));
  const used = steps.reduce((sum, s) => sum + (s === "..." ? 0 : dimsOf(s)), 0);
  if (used > rank) throw new DynError(`Expected at most ${rank} indices but found ${used}`);
  const gap = steps.indexOf("...");
  if (gap !== steps.lastIndexOf("...")) throw new DynError(`Expected at most one "..." but found several`);
  const whole: IndexStep<T>[] = Array.from(
    { length: rank - used },
    () => ({ kind: "slice", start: null, stop: null, step: 1 }),
  );
  const at = gap < 0 ? steps.length : gap;
  return [...steps.slice(0, at), ...whole, ...steps.slice(at + 1)].filter((s) => s !== "...");
}

/** Returns the number of dimensions that a step consumes. */
function dimsOf<T>(step: IndexStep<T>): number {
  switch (step.kind) {
    case "select":
    case "slice":
    case "list":
      return 1;
    case "newaxis":
    case "flag":
      return 0;
    case "tensor":
      return step.dims;
    default:
      return step satisfies never;
  }
}

function parseOne<T>(each: unknown, tensors: TensorReader<T>): IndexStep<T> | "..." {
  if (each === null) return { kind: "newaxis" };
  if (typeof each === "boolean") return { kind: "flag", value: each };
  if (each instanceof Sym) return { kind: "select", index: each };
  if (typeof each === "bigint") return { kind: "select", index: Number(each) };
  if (typeof each === "number") {
    if (!Number.isInteger(each)) throw new DynError(`Expected an integer as index but found ${each}`);
    return { kind: "select", index: each };
  }
  if (typeof each === "string") return each === "..." ? each : sliceOfText(each);
  const tensor = tensors.rankOf(each);
  if (tensor) return { kind: "tensor", ...tensor };
  if (Array.isArray(each)) return parseArray(each);
  if (isPlainObject(each)) return sliceOfObject(each, tensors);
  throw new DynError(`Expected an index but found ${typeof each}`);
}

function parseArray<T>(items: readonly unknown[]): IndexStep<T> {
  const wrong = items.findIndex((item) => !isItem(item));
  if (wrong >= 0) {
    throw new DynError(
      `Expected integers or bools in a list of indices but found ${String(items[wrong])}; ` +
        'a slice is text, "1:5", or an object, { start: 1, stop: 5 }',
    );
  }
  return { kind: "list", items: items.filter(isItem) };
}

function isItem(value: unknown): value is IndexItem {
  if (Array.isArray(value)) return value.every(isItem);
  return typeof value === "number" || typeof value === "boolean" || value instanceof Sym;
}

const SLICE_KEYS: readonly string[] = ["start", "stop", "step"];

function sliceOfObject<T>(
  given: Readonly<Record<string, unknown>>,
  { rankOf, numberIn }: TensorReader<T>,
): IndexStep<T> {
  const unknown = Object.keys(given).find((key) => !SLICE_KEYS.includes(key));
  if (unknown !== undefined) refuseChoice("a key of a slice", SLICE_KEYS, unknown);
  const end = (key: string): Dim | null => {
    const value = given[key] ?? null;
    if (value === null || value instanceof Sym) return value;
    if (typeof value === "number" && Number.isInteger(value)) return value;
    const index = rankOf(value);
    if (index?.isNumber) return numberIn(index.tensor);
    throw new DynError(`Expected an integer as ${key} of a slice but found ${String(value)}`);
  };
  const step = end("step") ?? 1;
  return makeSlice(end("start"), end("stop"), typeof step === "number" ? step : specialize(step));
}

function sliceOfText<T>(text: string): IndexStep<T> {
  const parts = text.split(":").map((p) => p.trim());
  if (parts.length < 2 || parts.length > 3 || parts.some((p) => !/^[-+]?\d*$/.test(p))) {
    throw new DynError(`Expected a slice like "1:5:2" or "..." but found ${JSON.stringify(text)}`);
  }
  const [start = "", stop = "", step = ""] = parts;
  const end = (p: string) => p === "" ? null : Number(p);
  return makeSlice(end(start), end(stop), step === "" ? 1 : Number(step));
}

function makeSlice<T>(start: Dim | null, stop: Dim | null, step: number): IndexStep<T> {
  checkPositive("step of a slice", step);
  return { kind: "slice", start, stop, step };
}
