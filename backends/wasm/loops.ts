/**
 * The forms of loops. A vector loop runs four lanes at a time, its tail as a partially stored vector or one element at
 * a time; reductions keep 16 partial results, element i in number i mod 16. Other loops run one iteration at a time, in
 * the lanes of the loops around them. Invariant: elements are combined in the order of the printed C++.
 */
import { masksLoops } from "../../lib/codegen/vectorise.ts";
import { add, type Dim, type Sym } from "../../lib/sym/expr.ts";
import { isPosition, type Loop, type Reduction, type Statement, type ValueId } from "../../lib/loops/ir.ts";
import { substituteIndices } from "../../lib/loops/nest.ts";
import { neutralOf } from "../../lib/loops/reductions.ts";
import { allOf, collides, indirect } from "../../lib/loops/uses.ts";
import { mayLoadBeyond } from "./access.ts";
import type { Range } from "./addresses.ts";
import { isFour, type Place, type StatementWriter } from "./place.ts";
import {
  combined,
  combineFirst,
  dependsOnOrder,
  foldPartials,
  openExtreme,
  rotate,
  takeExtreme,
} from "./reduce.ts";
import { type LaneValue, partOf } from "./lanes.ts";

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
