/**
 * Loop nests of single lowerings: one nest (or library call) for each. Invariant: adjacent axes that every access
 * walks as one become one loop, so that the innermost loop is as long as the layouts allow.
 */
import { InternalError } from "../base/errors.ts";
import { add, type Dim, freeSymbols, mul, substitute, type Sym, symbol } from "../sym/expr.ts";
import { provablyEqual } from "../sym/decide.ts";
import type { Lowered } from "./body.ts";
import type {
  Axis,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  Loop,
  ReductionOp,
  Statement,
  ValueId,
} from "./ir.ts";
import { allOf } from "./uses.ts";
import { mapStatements } from "./map_statements.ts";
import {
  type BufferOperand,
  flatIndex,
  isBufferOperand,
  loadBufferOperand,
  type Loader,
  Recorder,
  type Value,
  ValueIds,
} from "./record.ts";

/** Options for recording a lowering. */
interface NestOptions {
  readonly name: string;
  readonly loader?: Loader;
  readonly origins?: readonly string[];
}

/** Records one lowering that writes `targets` (several only for library calls). */
export function recordLowered(
  lowered: Lowered,
  targets: readonly BufferOperand[],
  options: NestOptions,
): Kernel {
  const origins = options.origins ?? [];
  if (lowered.kind === "extern") {
    const kernel: ExternKernel = {
      kind: "extern",
      name: options.name,
      call: lowered.call,
      inputs: lowered.inputs.map((input) => {
        if (!isBufferOperand(input)) {
          throw new InternalError("Expected library operands that are buffer views");
        }
        return viewOf(input);
      }),
      outputs: targets.map(viewOf),
      origins,
    };
    return kernel;
  }
  const target = targets[0];
  if (!target) throw new InternalError("Expected a view to write but found none");
  const recorder = new Recorder(options.loader ?? loadBufferOperand, new ValueIds());
  return { kind: "loops", name: options.name, body: nestOf(lowered, target, recorder), origins };
}

function viewOf({ buffer, offset, shape, strides }: BufferOperand): BufferView {
  return { buffer, offset, shape, strides };
}

/** New loop counters for the sizes, named i0, i1, … (or by another letter). */
export function axesOf(sizes: readonly Dim[], letter = "i"): Axis[] {
  return sizes.map((size, d) => {
    const upper = typeof size === "number" ? size - 1 : size.upper - 1;
    return { symbol: symbol(`${letter}${d}`, { kind: "axis" }, [0, Math.max(0, upper)]), size };
  });
}

/** The symbols that run over axes. */
export const symbolsOf = (axes: readonly Axis[]): Dim[] => axes.map((a) => a.symbol);

/** Creates a loop over an axis; by default parallel, not vectorised and without reductions. */
export const loopOver = (
  axis: Axis,
  body: readonly Statement[],
  options: Partial<Omit<Loop, "kind" | "axis" | "body">> = {},
): Loop => ({
  kind: "loop",
  axis,
  order: "parallel",
  vector: false,
  body,
  reductions: [],
  carried: [],
  ...options,
});

/** Creates a store of an element. */
export const storeOf = (buffer: BufferId, index: Dim, value: ValueId): Statement => ({
  kind: "store",
  buffer,
  index,
  value,
  mode: "set",
});

/** Wraps statements in loops, the last axis innermost. */
export function wrapLoops(
  axes: readonly Axis[],
  body: readonly Statement[],
  order: Loop["order"] = "parallel",
): readonly Statement[] {
  return axes.reduceRight<readonly Statement[]>((inner, axis) => [loopOver(axis, inner, { order })], body);
}

type LoopLowered = Exclude<Lowered, { kind: "extern" }>;

function nestOf(lowered: LoopLowered, target: BufferOperand, recorder: Recorder): readonly Statement[] {
  switch (lowered.kind) {
    case "pointwise": {
      const axes = axesOf(lowered.shape), at = symbolsOf(axes);
      const value = recorder.cast(lowered.element(recorder, at), target.dtype);
      recorder.store(target, flatIndex(target, at), { value });
      const merged = mergeAxes(axes, recorder.statements);
      return wrapLoops(merged.axes, merged.body);
    }
    case "reduction":
      return reductionNest(lowered, target, recorder);
    case "scan":
      return scanNest(lowered, target, recorder);
    case "scatter":
      return scatterNest(lowered, target, recorder);
    default:
      return lowered satisfies never;
  }
}

function reductionNest(
  lowered: LoopLowered & { kind: "reduction" },
  target: BufferOperand,
  recorder: Recorder,
): readonly Statement[] {
  const outer = axesOf(lowered.shape), inner = axesOf(lowered.over, "r");
  const at = symbolsOf(outer), reduced = symbolsOf(inner);
  const arg = lowered.op === "argmax" || lowered.op === "argmin";
  const { statements, result } = recorder.nested(() => {
    const value = lowered.element(recorder, at, reduced);
    const position = arg ? lowered.position?.(reduced) ?? reduced[0] ?? 0 : undefined;
    return { value, index: position === undefined ? undefined : recorder.index(position, "int64") };
  });
  const merged = mergeAxes(inner, statements);
  let body: readonly Statement[] = merged.body, { value, index } = result;
  for (const axis of [...merged.axes].reverse()) {
    const loop = reduceLoop(axis, body, { op: lowered.op, value, index, recorder });
    body = [loop.statement];
    value = loop.value;
    index = loop.index;
  }
  if (merged.axes.length === 0 && arg && index) value = index;
  for (const each of body) recorder.push(each);
  const stored = arg && index ? index : value;
  recorder.store(target, flatIndex(target, at), { value: recorder.cast(stored, target.dtype) });
  const all = mergeAxes(outer, recorder.statements);
  return wrapLoops(all.axes, all.body);
}

/** The contribution of one iteration to a reduction. */
export interface Contribution {
  readonly op: ReductionOp;
  readonly value: Value;
  readonly index: Value | undefined;
  readonly recorder: Recorder;
}

/** One level of a reduction; argmax and argmin carry the extreme itself along for the level above. */
export function reduceLoop(
  axis: Axis,
  body: readonly Statement[],
  { op, value, index, recorder }: Contribution,
): { statement: Loop; value: Value; index: Value | undefined } {
  if (op === "argmax" || op === "argmin") {
    if (!index) throw new InternalError(`Expected an index for ${op} but found none`);
    const extreme: Value = { id: recorder.ids.next(), dtype: value.dtype };
    const position: Value = { id: recorder.ids.next(), dtype: "int64" };
    const reductions = [
      { id: extreme.id, op: op === "argmax" ? "max" : "min", value: value.id, dtype: value.dtype },
      { id: position.id, op, value: value.id, index: index.id, dtype: "int64" },
    ] as const;
    const statement = loopOver(axis, body, { order: "reduction", reductions });
    return { statement, value: extreme, index: position };
  }
  const total: Value = { id: recorder.ids.next(), dtype: value.dtype };
  const reductions = [{ id: total.id, op, value: value.id, dtype: value.dtype }];
  const statement = loopOver(axis, body, { order: "reduction", reductions });
  return { statement, value: total, index: undefined };
}

function scanNest(
  lowered: LoopLowered & { kind: "scan" },
  target: BufferOperand,
  recorder: Recorder,
): readonly Statement[] {
  const axes = axesOf(lowered.shape), at = symbolsOf(axes);
  const along = axes[lowered.dim];
  if (!along) {
    throw new InternalError(`Expected a dimension of ${axes.length} to scan but found ${lowered.dim}`);
  }
  const { statements, result } = recorder.nested(() => {
    const value = lowered.element(recorder, at);
    const before: Value = { id: recorder.ids.next(), dtype: value.dtype };
    const next = lowered.combine(recorder, before, value);
    recorder.store(target, flatIndex(target, at), { value: recorder.cast(next, target.dtype) });
    return { before, next };
  });
  const initial = recorder.constant(lowered.initial, result.before.dtype);
  const { before: { id, dtype }, next } = result,
    carried = [{ id, initial: initial.id, next: next.id, dtype }];
  recorder.push(loopOver(along, statements, { order: "sequential", carried }));
  return wrapLoops(axes.filter((a) => a !== along), recorder.statements);
}

function scatterNest(
  lowered: LoopLowered & { kind: "scatter" },
  target: BufferOperand,
  recorder: Recorder,
): readonly Statement[] {
  const axes = axesOf(lowered.shape), at = symbolsOf(axes);
  const base = recorder.nested(() => {
    const value = recorder.cast(lowered.base(recorder, at), target.dtype);
    recorder.store(target, flatIndex(target, at), { value });
  });
  const merged = mergeAxes(axes, base.statements);
  const over = axesOf(lowered.over, "s"), position = symbolsOf(over);
  const update = recorder.nested(() => {
    const to = lowered.target(recorder, position);
    const value = recorder.cast(lowered.value(recorder, position), target.dtype);
    recorder.store(target, flatIndex(target, to), { value, mode: lowered.mode });
  });
  return [
    ...wrapLoops(merged.axes, merged.body),
    ...wrapLoops(over, update.statements, "sequential"),
  ];
}

/**
 * Merges each axis with its right neighbour where every index expression in the body walks the two as one:
 * coefficient(left) = size(right)·coefficient(right), and neither occurs otherwise. Drops axes of size one.
 */
export function mergeAxes(
  axes: readonly Axis[],
  body: readonly Statement[],
): { axes: readonly Axis[]; body: readonly Statement[] } {
  const left: Axis[] = [...axes];
  let statements = body;
  for (let d = left.length - 1; d >= 0; d--) {
    const axis = left[d];
    if (!axis || axis.size !== 1) continue;
    statements = substituteIndices(statements, (s) => s === axis.symbol ? 0 : s);
    left.splice(d, 1);
  }
  for (let d = left.length - 2; d >= 0; d--) {
    const outer = left[d], inner = left[d + 1];
    if (!outer || !inner) continue;
    if (!everyIndex(statements, (index) => walkedAsOne(index, outer, inner))) continue;
    const size = mul(outer.size, inner.size);
    const upper = typeof size === "number" ? size - 1 : size.upper - 1;
    const { node } = inner.symbol;
    const name = node.kind === "symbol" ? node.name : "i";
    const joined: Axis = { symbol: symbol(name, { kind: "axis" }, [0, Math.max(0, upper)]), size };
    statements = substituteIndices(
      statements,
      (s) => s === outer.symbol ? 0 : s === inner.symbol ? joined.symbol : s,
    );
    left.splice(d, 2, joined);
  }
  return { axes: left, body: statements };
}

function walkedAsOne(index: Dim, outer: Axis, inner: Axis): boolean {
  const a = coefficientOf(index, outer.symbol), b = coefficientOf(index, inner.symbol);
  if (a === undefined || b === undefined) return false;
  return a === mul(b, inner.size) || provablyEqual(a, mul(b, inner.size)) === true;
}

/** The constant c with index = c·symbol + rest, rest free of the symbol; undefined where there is none. */
export function coefficientOf(index: Dim, of: Sym): Dim | undefined {
  if (typeof index === "number") return 0;
  if (index === of) return 1;
  const terms = index.node.kind === "sum" ? index.node.terms : [{ term: index, coefficient: 1 }];
  let total: Dim = 0;
  for (const { term, coefficient } of terms) {
    if (term === of) {
      total = add(total, coefficient);
    } else if (freeSymbols(term).has(of)) {
      if (term.node.kind !== "product") return undefined;
      const others = term.node.factors.filter((f) => f !== of);
      if (others.length !== term.node.factors.length - 1) return undefined;
      if (others.some((f) => freeSymbols(f).has(of))) return undefined;
      total = add(total, others.reduce<Dim>((p, f) => mul(p, f), coefficient));
    }
  }
  return total;
}

/** Returns whether a predicate holds for all index expressions of the statements, nested ones included. */
const everyIndex = (body: readonly Statement[], holds: (index: Dim) => boolean): boolean =>
  allOf(body).every((s) => !("index" in s) || holds(s.index));

/** Rewrites all index expressions. */
export const substituteIndices = (
  body: readonly Statement[],
  replace: (symbol: Sym) => Dim,
): readonly Statement[] =>
  mapStatements(body, (s) => {
    if (s.kind === "loop") return { ...s, axis: { ...s.axis, size: substitute(s.axis.size, replace) } };
    return "index" in s ? { ...s, index: substitute(s.index, replace) } : s;
  });
