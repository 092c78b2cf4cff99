/**
 * The forms of loops. A vector loop runs four lanes at a time, its tail as a partially stored vector or one element at
 * a time; reductions keep 16 partial results, element i in number i mod 16. Other loops run one iteration at a time, in
 * the lanes of the loops around them. Invariant: elements are combined in the order of the printed C++.
 *
 * Partial results fold as a tree over groups of four and then over lanes. For extremes, NaN beats everything, the first
 * of equal values stays, and the position in an empty range is 0.
 */
import { masksLoops } from "../../lib/codegen/vectorise.ts";
import { add, type Dim, type Sym } from "../../lib/sym/expr.ts";
import { isPosition, type Loop, type Reduction, type Statement, type ValueId } from "../../lib/loops/ir.ts";
import { substituteIndices } from "../../lib/loops/nest.ts";
import { combinationOf, neutralOf } from "../../lib/loops/reductions.ts";
import { allOf, collides, indirect } from "../../lib/loops/uses.ts";
import { mayLoadBeyond } from "./access.ts";
import type { Addresses, Range } from "./addresses.ts";
import { allEqual, constantBits, isWide, type Lanes, type LaneValue, partOf } from "./lanes.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { isFloat, type ValueType } from "../../lib/base/dtype.ts";
import { scalar } from "./straight_line.ts";
import type { FunctionBody } from "./function_body.ts";

/** Number of elements of values at a point: all lanes equal, four elements, or one in lane 0. */
type Width = "equal" | "four" | "one";

/** A point in a kernel. */
export interface Place {
  readonly width: Width;
  /** The counter of the enclosing vector loop. */
  readonly axis?: Sym;
  /** In four lanes: the mask of those that may load and store. */
  readonly guard?: number;
  /** In four lanes: the number of elements to store, capped at four; undefined for all. */
  readonly rest?: number;
}

/** Returns whether all four lanes are used. */
export const isFour = ({ width }: Place): boolean => width === "four";

/** Writes the statements of a kernel into a function. */
export interface StatementWriter {
  readonly body: FunctionBody;
  readonly lanes: Lanes;
  readonly at: Addresses;
  statements(list: readonly Statement[], place: Place): void;
  value(id: ValueId): LaneValue;
  define(id: ValueId, value: LaneValue): void;
  /** Returns the type of a value's lanes. */
  typeOf(id: ValueId): ValueType;
}

/** Partial results of a reduction, in groups of four. */
const PARTIALS = 4;
/** Loops of at most this many iterations are unrolled, if that takes at most this many statements. */
const UNROLLED = { iterations: 4, statements: 100 };
/**
 * Number of vectors that are reduced over rows side by side, in bodies of at most this many statements. A vector alone uses
 * a quarter of each cache line, which is evicted before the next vector needs it if rows are a power of two apart.
 */
const BESIDE = { vectors: 8, statements: 16 };

/** Writes a loop, or a range of it. */
export function writeLoop(
  writer: StatementWriter,
  loop: Loop,
  { place, range }: { readonly place: Place; readonly range?: Range },
): void {
  const { symbol, size } = loop.axis, { type } = writer.at.counter(symbol, size);
  const whole = range ?? {
    from: () => void writer.body.integer(type, 0),
    to: () => writer.at.pushIndex(size, type),
  };
  if (loop.vector && place.width === "equal" && hasLanes(loop)) return vectorLoop(writer, loop, whole);
  const short = range === undefined && typeof size === "number" && writtenOut(loop) <= UNROLLED.statements;
  plainLoop(writer, loop, { place, range: short ? size : whole });
}

/** Number of statements of an unrolled loop; infinite if it is too long, or contains a loop that is. */
function writtenOut({ axis: { size }, body }: Loop): number {
  if (typeof size !== "number" || size > UNROLLED.iterations) return Infinity;
  const count = (list: readonly Statement[]): number =>
    list.reduce(
      (sum, s) => sum + (s.kind === "loop" ? writtenOut(s) : s.kind === "masked" ? 1 + count(s.body) : 1),
      0,
    );
  return size * count(body);
}

/** Returns whether the iterations of a loop may run in lanes, and be combined in another order. */
function hasLanes({ reductions, carried, body }: Loop): boolean {
  if (carried.length > 0 || reductions.some((r) => isPosition(r.op))) return false;
  return reductions.length === 0 || !(masksLoops(body) || collides(body));
}

/** One iteration at a time: over a range, or unrolled if there are few. */
function plainLoop(
  writer: StatementWriter,
  loop: Loop,
  { place, range }: { readonly place: Place; readonly range: Range | number },
): void {
  const { lanes } = writer, four = isFour(place), form = { four, equal: place.width === "equal" };
  const sums = loop.reductions.map((r) => ({ r, take: accumulator(writer, r, form) }));
  const carried = loop.carried.map((c) => {
    const made = lanes.variable(c.dtype, form);
    lanes.assign(made, writer.value(c.initial));
    writer.define(c.id, made);
    return made;
  });
  const iteration = () => {
    writer.statements(loop.body, place);
    for (const { take } of sums) take();
    const next = loop.carried.map((c) => writer.value(c.next));
    carried.forEach(({ parts }, n) => {
      const value = next[n];
      if (value) parts.forEach((_, part) => writer.body.get(partOf(value, part)));
    });
    for (const { parts } of carried.toReversed()) lanes.assignStack(parts);
  };
  const { symbol } = loop.axis;
  if (typeof range === "number") writer.at.writeOut(symbol, range, iteration);
  else writer.at.iterate(symbol, range, iteration);
}

/**
 * Opens the accumulator of a reduction, for one element at a time; returns the function that takes the next element.
 */
function accumulator(
  writer: StatementWriter,
  r: Reduction,
  form: { readonly four: boolean; readonly equal: boolean },
): () => void {
  const { lanes } = writer, { four } = form, { op, dtype: type } = r;
  if (op === "argmax" || op === "argmin") {
    const extreme = openExtreme(lanes, { value: writer.typeOf(r.value), position: type }, form);
    writer.define(r.id, extreme.position);
    return () => {
      const position = writer.value(r.index ?? r.value);
      takeExtreme(lanes, extreme, { op, four, value: writer.value(r.value), position });
    };
  }
  const combination = { op, dtype: type }, total = lanes.variable(type, form);
  lanes.assign(total, lanes.constant(neutralOf(op, type), type));
  writer.define(r.id, total);
  return () => {
    const args = [total, writer.value(r.value)] as const;
    lanes.assign(total, combined(lanes, combination, { args, four }));
  };
}

function vectorLoop(writer: StatementWriter, loop: Loop, range: Range): void {
  const { body, lanes } = writer, { symbol, size } = loop.axis, { type } = writer.at.counter(symbol, size);
  const wide = loop.reductions.length > 0 ? PARTIALS : 1;
  const sums = loop.reductions.map((r) => {
    const combination = { op: r.op, dtype: r.dtype };
    const groups = Array.from({ length: wide }, () => {
      const made = lanes.variable(combination.dtype, { four: true, equal: false });
      lanes.assign(made, lanes.constant(neutralOf(r.op, r.dtype), r.dtype));
      return made;
    });
    return { r, combination, groups };
  });
  if (loop.reductions.length === 0 && runsBeyond(writer, loop.body, symbol)) {
    return vectorsBeyond(writer, loop, range);
  }
  const [start, whole, end] = [body.local(type), body.local(type), body.local(type)];
  range.from();
  body.set(start);
  range.to();
  body.tee(end).get(start).op(`${type}Sub`).integer(type, -4 * wide).op(`${type}And`);
  body.get(start).op(`${type}Add`).set(whole);
  const four: Place = { width: "four", axis: symbol };
  writer.at.iterate(symbol, { from: () => body.get(start), to: () => body.get(whole), step: 4 }, () => {
    for (let part = 0; part < wide; part++) {
      writer.statements(loop.body, four);
      for (const { r, combination, groups } of sums) {
        const total = groups[part];
        if (!total) continue;
        const args = [total, writer.value(r.value)] as const;
        lanes.assign(total, combined(lanes, combination, { args, four: true }));
      }
      if (part < wide - 1) writer.at.advance(symbol, 4);
    }
  });
  const one: Place = { width: "one", axis: symbol };
  writer.at.iterate(symbol, { from: () => body.get(whole), to: () => body.get(end) }, () => {
    writer.statements(loop.body, one);
    for (const { r, combination, groups } of sums) {
      const [first] = groups;
      if (!first) continue;
      combineFirst(lanes, combination, [first, writer.value(r.value)]);
      if (dependsOnOrder(combination)) rotate(lanes, groups);
    }
  });
  for (const { r, combination, groups } of sums) {
    writer.define(r.id, foldPartials(lanes, combination, groups));
  }
}

/**
 * Four lanes at a time up to the end, which the last ones may exceed: the body is written once, and its stores check
 * the number of elements.
 */
function vectorsBeyond(
  writer: StatementWriter,
  { axis: { symbol, size }, body: statements, share }: Loop,
  range: Range,
): void {
  const { body, at } = writer, { local: counter, type } = at.counter(symbol, size);
  // A team may split its loop anywhere
  const isWhole = typeof size === "number" && size % 4 === 0 && share === undefined;
  const [end, rest] = [body.local(type), body.local("i32")];
  range.to();
  body.set(end);
  let from = range.from;
  if (reducesRows(statements)) {
    from = () => body.get(counter);
    range.from();
    body.set(counter);
    const step = 4 * BESIDE.vectors;
    const to = () => {
      body.get(end).get(counter).op(`${type}Sub`).integer(type, -step).op(`${type}And`);
      body.get(counter).op(`${type}Add`);
    };
    at.iterate(symbol, { from, to, step }, () => vectorsBeside(writer, symbol, statements));
  }
  at.iterate(symbol, { from, to: () => body.get(end), step: 4 }, () => {
    if (isWhole) return writer.statements(statements, { width: "four", axis: symbol });
    body.get(end).get(counter).op(`${type}Sub`);
    // A count that does not fit into a word is greater than four
    if (type === "i64") {
      body.i64(4).get(end).get(counter).op("i64Sub").i64(4).op("i64LtS", "select", "i32WrapI64");
    }
    body.set(rest);
    writer.statements(statements, { width: "four", axis: symbol, rest });
  });
}

/** Iterations of a loop that stay together if threads divide it. */
export function grainOf({ vector, body }: Loop): number {
  if (!vector) return 1;
  return reducesRows(body) ? 4 * BESIDE.vectors : 16;
}

/** Returns whether a body consists of reductions over rows and little else. */
function reducesRows(body: readonly Statement[]): boolean {
  const all = [...allOf(body)], loops = all.filter((s) => s.kind === "loop");
  const isLong = (size: Dim) => typeof size !== "number" || size > UNROLLED.iterations;
  return loops.length > 0 && all.length <= BESIDE.statements && all.every(({ kind }) => kind !== "masked") &&
    loops.every((l) => l.reductions.length > 0 && l.carried.length === 0 && isLong(l.axis.size));
}

/** Several vectors of a loop over `symbol`: each inner loop runs once for all of them. */
function vectorsBeside(writer: StatementWriter, symbol: Sym, body: readonly Statement[]): void {
  const place: Place = { width: "four", axis: symbol };
  const vectors = Array.from({ length: BESIDE.vectors }, (_, vector) => {
    const own = new Map<ValueId, LaneValue>();
    const restore = () => own.forEach((value, id) => writer.define(id, value));
    return {
      open: ({ reductions }: Loop) =>
        reductions.map((r) => {
          const take = accumulator(writer, r, { four: true, equal: false });
          own.set(r.id, writer.value(r.id));
          return take;
        }),
      take(takes: readonly (() => void)[] = []): void {
        restore();
        for (const take of takes) take();
      },
      write(list: readonly Statement[]): void {
        restore();
        writer.statements(substituteIndices(list, (s) => s === symbol ? add(s, 4 * vector) : s), place);
        for (const s of list) if ("id" in s) own.set(s.id, writer.value(s.id));
      },
    };
  });
  const reduce = (loop: Loop): void => {
    const { symbol: row, size } = loop.axis, { type } = writer.at.counter(row, size);
    const sums = vectors.map(({ open }) => open(loop));
    const range = {
      from: () => void writer.body.integer(type, 0),
      to: () => writer.at.pushIndex(size, type),
    };
    writer.at.iterate(row, range, () => {
      run(loop.body);
      vectors.forEach(({ take }, n) => take(sums[n]));
    });
  };
  const run = (list: readonly Statement[]): void => {
    if (!list.some(({ kind }) => kind === "loop")) return vectors.forEach(({ write }) => write(list));
    for (const s of list) s.kind === "loop" ? reduce(s) : vectors.forEach(({ write }) => write([s]));
  };
  run(body);
}

/**
 * Returns whether four lanes may run though some are beyond the end: the elements that they load exist, or lie within
 * the slack after it.
 */
function runsBeyond(writer: StatementWriter, body: readonly Statement[], axis: Sym): boolean {
  const step = (index: Dim) => dependsOnValues(index) ? undefined : writer.at.step(index, axis);
  return body.every((s) => {
    switch (s.kind) {
      case "loop":
        return runsBeyond(writer, s.body, axis);
      case "masked":
        return false;
      case "load": {
        const by = step(s.index);
        return typeof by === "number" && mayLoadBeyond(writer.at.dtype(s.buffer), by);
      }
      case "store": {
        const by = step(s.index);
        return s.mode === "set" && typeof by === "number" && by > 0;
      }
      case "index":
        return !dependsOnValues(s.index);
      case "constant":
      case "scalar":
      case "cast":
      case "select":
        return true;
      default:
        return s satisfies never;
    }
  });
}

const dependsOnValues = (index: Dim): boolean => indirect(index).length > 0;

/** The operation of a reduction and the type of its lanes. */
export type Combination = Pick<Reduction, "op" | "dtype">;

/** Combines the partial result with a value, lane by lane. */
export function combined(
  lanes: Lanes,
  r: Combination,
  { args, four }: { readonly args: readonly [LaneValue, LaneValue]; readonly four: boolean },
): LaneValue {
  if (isPosition(r.op)) throw new InternalError(`Expected a reduction without positions but found ${r.op}`);
  return scalar(lanes, combinationOf(r.op, r.dtype), { args, four });
}

/** A partial result combined with lane 0 of a value; the other lanes are unchanged. */
function combineFirst(lanes: Lanes, r: Combination, [partial, value]: readonly [LaneValue, LaneValue]) {
  const { body } = lanes, wide = isWide(r.dtype);
  body.get(partOf(value, 0)).splatConstant(...constantBits(neutralOf(r.op, r.dtype), r.dtype));
  body.lanes([-1, wide ? -1 : 0, 0, 0]).simd("bitselect");
  const alone = body.local("v128");
  body.set(alone);
  const first: LaneValue = { type: r.dtype, parts: [partOf(partial, 0)], equal: false };
  const other: LaneValue = { type: r.dtype, parts: [alone], equal: false };
  lanes.assign(first, combined(lanes, r, { args: [first, other], four: false }));
}

/**
 * Returns whether the order of combination affects the result: through rounding, or through which of two zeros is kept.
 */
const dependsOnOrder = ({ dtype }: Combination): boolean => isFloat(dtype);

/**
 * Rotates partial results by one lane, so that the next value combined with the first one belongs to the next element.
 * Folding combines the same pairs however far they were rotated.
 */
export function rotate(lanes: Lanes, partials: readonly LaneValue[]): void {
  const { body } = lanes, vectors = partials.flatMap(({ parts }) => parts), first = body.local("v128");
  const distance = isWide(partials[0]?.type ?? "int32") ? 8 : 4;
  const bytes = Array.from({ length: 16 }, (_, byte) => byte + distance);
  body.get(vectors[0] ?? -1).set(first);
  vectors.forEach((vector, n) => {
    body.get(vector).get(vectors[n + 1] ?? first).shuffle(bytes).set(vector);
  });
}

/** Folds all partial results into one, the same in every lane. */
function foldPartials(lanes: Lanes, r: Combination, partials: readonly LaneValue[]): LaneValue {
  const { body } = lanes, wide = isWide(r.dtype);
  let groups = partials;
  while (groups.length > 1) {
    const half = groups.length / 2;
    groups = groups.slice(0, half).map((group, n) => {
      const other = groups[n + half];
      if (!other) throw new InternalError("Expected as many groups as a power of two");
      return combined(lanes, r, { args: [group, other], four: true });
    });
  }
  const [group] = groups;
  if (!group) throw new InternalError("Expected partial results but found none");
  const one = (local: number): LaneValue => ({ type: r.dtype, parts: [local], equal: false });
  const turned = (local: number, distance: number): LaneValue => {
    const made = body.local("v128");
    body.get(local).get(local).shuffle(Array.from({ length: 16 }, (_, byte) => (byte + distance) % 16)).set(
      made,
    );
    return one(made);
  };
  const both = (a: LaneValue, b: LaneValue) => combined(lanes, r, { args: [a, b], four: false });
  const first = partOf(group, 0);
  const pair = both(one(first), wide ? one(partOf(group, 1)) : turned(first, 8));
  const last = partOf(both(pair, turned(partOf(pair, 0), wide ? 8 : 4)), 0);
  const result = body.local("v128");
  body.get(last).get(last).words(wide ? [0, 1, 0, 1] : [0, 0, 0, 0]).set(result);
  return { type: r.dtype, parts: [result], equal: true };
}

/** The state of argmax or argmin: the extreme so far, its position, and whether there is one. */
export interface Extreme {
  readonly value: LaneValue;
  readonly position: LaneValue;
  readonly found: LaneValue;
}

/** Initialises the state. */
function openExtreme(
  lanes: Lanes,
  types: { readonly value: ValueType; readonly position: ValueType },
  place: { readonly four: boolean; readonly equal: boolean },
): Extreme {
  const open = (type: ValueType): LaneValue => {
    const made = lanes.variable(type, place);
    lanes.assign(made, lanes.constant(type === "bool" ? false : 0, type));
    return made;
  };
  return { value: open(types.value), position: open(types.position), found: open("bool") };
}

/** Takes over a value and its position in lanes where it is the first or beats the extreme. */
function takeExtreme(
  lanes: Lanes,
  { value, position, found }: Extreme,
  { op, four, ...candidate }: {
    readonly op: "argmax" | "argmin";
    readonly four: boolean;
    readonly value: LaneValue;
    readonly position: LaneValue;
  },
): void {
  const { type } = value, full = four && !allEqual([value, candidate.value]);
  const of = (name: Parameters<typeof scalar>[1], ...args: readonly LaneValue[]) =>
    scalar(lanes, name, { args, four: full });
  let better = of(op === "argmax" ? "gt" : "lt", candidate.value, value);
  if (isFloat(type)) {
    better = of("or", better, of("and", of("isNan", candidate.value), of("eq", value, value)));
  }
  better = of("or", better, of("not", found));
  lanes.assign(value, lanes.select(better, [candidate.value, value], four));
  lanes.assign(position, lanes.select(better, [candidate.position, position], four));
  lanes.assign(found, lanes.constant(true, "bool"));
}
