/**
 * Counters, index expressions and element addresses of one kernel, as instructions that push integers. Invariants: the
 * part of an address that is invariant in the innermost loop is hoisted out of that loop, except while the vector
 * counter moves from lane to lane; a counter has 64 bits if its loop is too long for 32. Index expressions are taken
 * modulo 2³² where 32 bits suffice; operands of divisions and comparisons, which must be exact, take 64 bits if their
 * range needs them.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { type DType, itemSize } from "../../lib/base/dtype.ts";
import { add, type Dim, freeSymbols, mul, substitute, type Sym } from "../../lib/sym/expr.ts";
import { coefficientOf } from "../../lib/loops/nest.ts";
import type { Axis, BufferId, Program, ValueId } from "../../lib/loops/ir.ts";
import type { FunctionBody } from "./function_body.ts";
import { addressOffset, sizeOffset } from "./form.ts";
import type { Bounds } from "../../lib/codegen/value_bounds.ts";
import type { IntegerType } from "./opcodes.ts";
import { isWide, type LaneValue, partOf } from "./lanes.ts";

/** Iterations of a loop: instructions that push integers of its counter's type. */
export interface Range {
  readonly from: () => void;
  readonly to: () => void;
  readonly step?: number;
}

/** A loop's counter. */
export interface Counter {
  readonly local: number;
  readonly type: IntegerType;
}

/** An open loop. */
interface Level {
  readonly counter: Sym;
  /** Hoisted addresses. */
  readonly ahead: Map<BufferId, Map<Dim, number>>;
}

/** The part of an index that a loop leaves unchanged, and the part that it changes. */
type Parts = readonly [fixed: Dim, changing: Dim];

/** The largest distance between elements that fits in an instruction's immediate offset. */
const LARGEST_STEP = 2 ** 26;

/** The value that an index symbol refers to. */
export const valueOf = (symbol: Sym): ValueId | undefined =>
  symbol.node.kind === "symbol" && symbol.node.role.kind === "value" ? symbol.node.role.id : undefined;

/** The addresses of a function whose parameter 0 is the description of sizes and buffers. */
export class Addresses implements IndexScope {
  /** The buffers whose addresses the description holds, in the order of first use. */
  readonly buffers: BufferId[] = [];
  readonly #counters = new Map<Sym, Counter>();
  /** Values of counters of unrolled loops. */
  readonly #written = new Map<Sym, number>();
  readonly #levels: Level[] = [];
  /** Split indices, by loop counter, before a loop is written. */
  readonly #parts = new Map<Sym, Map<Dim, Parts>>();
  /** Start addresses of buffers that are not in the description. */
  readonly #places = new Map<BufferId, number>();
  /** Whether the vector counter is being moved, and to which lane. */
  #stepping = false;
  #lane = 0;

  constructor(
    readonly body: FunctionBody,
    readonly program: Program,
    readonly scope: {
      readonly bounds: (index: Dim) => Bounds;
      readonly value: (id: ValueId) => LaneValue;
    },
  ) {}

  bounds(index: Dim): Bounds {
    return this.scope.bounds(index);
  }

  /** The type of a buffer's elements. */
  dtype(buffer: BufferId): DType {
    const decl = this.program.buffers[buffer];
    if (!decl) throw new InternalError(`Expected a buffer ${buffer} but the program has none`);
    return decl.dtype;
  }

  /** Opens a loop over `size` iterations and returns its counter. */
  counter(symbol: Sym, size: Dim): Counter {
    const known = this.#counters.get(symbol);
    if (known !== undefined) return known;
    const type: IntegerType = fitsWord(this.bounds(size)) ? "i32" : "i64";
    const made = { local: this.body.local(type), type };
    this.#counters.set(symbol, made);
    return made;
  }

  /** Sets the value of a counter. */
  assign({ symbol, size }: Axis, value: Dim): void {
    const { local, type } = this.counter(symbol, size);
    this.pushIndex(value, type);
    this.body.set(local);
  }

  /** Makes a buffer begin at the address that `push` leaves on the stack. */
  place(buffer: BufferId, push: () => void): void {
    const local = this.body.local("i32");
    push();
    this.body.set(local);
    this.#places.set(buffer, local);
  }

  #opened(symbol: Sym): Counter {
    const found = this.#counters.get(symbol);
    if (!found) throw new InternalError(`Expected an open loop over ${symbol}`);
    return found;
  }

  /** Writes a loop over a range. */
  iterate(symbol: Sym, range: Range, run: () => void): void {
    const { local, type } = this.#opened(symbol);
    this.#levels.push({ counter: symbol, ahead: new Map() });
    this.body.loop(local, { step: 1, ...range, type }, run);
    this.#levels.pop();
  }

  /** An unrolled loop. */
  writeOut(symbol: Sym, count: number, run: () => void): void {
    const { local, type } = this.#opened(symbol);
    for (let i = 0; i < count; i++) {
      this.body.integer(type, i).set(local);
      this.#written.set(symbol, i);
      run();
    }
    this.#written.delete(symbol);
  }

  /** Adds to a counter. */
  advance(symbol: Sym, by: number): void {
    const { local, type } = this.#opened(symbol);
    this.body.get(local).integer(type, by).op(`${type}Add`).set(local);
  }

  /** Runs `each` with the vector counter moved to every lane in turn. */
  eachLane(axis: Sym, each: (lane: number) => void): void {
    this.#stepping = true;
    for (let lane = 0; lane < 4; lane++) {
      this.#lane = lane;
      each(lane);
      this.advance(axis, lane < 3 ? 1 : -3);
    }
    this.#lane = 0;
    this.#stepping = false;
  }

  /** The step of an index from lane to lane; undefined if it is not constant. */
  step(index: Dim, axis: Sym | undefined): Dim | undefined {
    if (!axis) return 0;
    for (const symbol of freeSymbols(index)) {
      const id = valueOf(symbol);
      if (id !== undefined && !this.scope.value(id).equal) return undefined;
    }
    const step = coefficientOf(index, axis);
    return typeof step === "number" && Math.abs(step) > LARGEST_STEP ? undefined : step;
  }

  /** Pushes the value of an index expression. */
  pushIndex(d: Dim, type: IntegerType): void {
    pushIndex(this, d, type);
  }

  pushSymbol(symbol: Sym, type: IntegerType): void {
    const id = valueOf(symbol);
    if (id !== undefined) return this.#pushValue(this.scope.value(id), type);
    const counter = this.#counters.get(symbol);
    if (counter !== undefined) {
      this.body.get(counter.local);
      return this.#convert(counter.type, type);
    }
    const size = this.program.sizes.indexOf(symbol);
    if (size < 0) throw new InternalError(`Expected a counter or a size but found ${symbol}`);
    // The low word of a size comes first
    this.body.wordAt(0, sizeOffset(size), type);
  }

  #pushValue(value: LaneValue, type: IntegerType): void {
    const { body } = this, lane = this.#lane;
    if (isWide(value.type)) {
      body.get(partOf(value, lane >> 1)).lane("i64Extract", lane & 1);
      return this.#convert("i64", type);
    }
    body.get(partOf(value, 0)).lane("i32Extract", lane);
    this.#convert("i32", type);
  }

  #convert(from: IntegerType, to: IntegerType): void {
    if (from !== to) this.body.op(to === "i32" ? "i32WrapI64" : "i64ExtendI32S");
  }

  /** Pushes the byte address of an element. */
  push(buffer: BufferId, index: Dim): void {
    const { body } = this, level = this.#levels.at(-1);
    const [fixed, changing] = level && !this.#stepping ? this.#partsOf(index, level.counter) : [0, index];
    if (level && fixed !== 0) body.get(this.#ahead(level, buffer, fixed));
    else this.#pushStart(buffer);
    if (changing !== 0) this.#addScaled(buffer, changing);
  }

  /** Pushes the start address of a buffer. */
  #pushStart(buffer: BufferId): void {
    const local = this.#places.get(buffer);
    if (local !== undefined) return void this.body.get(local);
    const known = this.buffers.indexOf(buffer);
    const place = known < 0 ? this.buffers.push(buffer) - 1 : known;
    this.body.wordAt(0, addressOffset(this.program, place));
  }

  #addScaled(buffer: BufferId, index: Dim): void {
    const shift = Math.log2(itemSize(this.dtype(buffer)));
    this.pushIndex(index, "i32");
    if (shift > 0) this.body.i32(shift).op("i32Shl");
    this.body.op("i32Add");
  }

  #ahead(level: Level, buffer: BufferId, fixed: Dim): number {
    const known = level.ahead.get(buffer) ?? new Map<Dim, number>();
    level.ahead.set(buffer, known);
    const found = known.get(fixed);
    if (found !== undefined) return found;
    const local = this.body.ahead(() => {
      this.#pushStart(buffer);
      this.#addScaled(buffer, fixed);
    });
    known.set(fixed, local);
    return local;
  }

  /** An index as the sum of a part that a loop leaves unchanged and a part that it changes. */
  #partsOf(index: Dim, counter: Sym): Parts {
    if (this.#written.size > 0) return this.#split(index, counter);
    const known = this.#parts.get(counter) ?? new Map<Dim, Parts>();
    this.#parts.set(counter, known);
    const found = known.get(index) ?? this.#split(index, counter);
    known.set(index, found);
    return found;
  }

  #split(index: Dim, counter: Sym): Parts {
    const known = substitute(index, (s) => this.#written.get(s) ?? s);
    if (typeof known === "number") return [known, 0];
    const isFixed = (part: Dim) =>
      [...freeSymbols(part)].every((s) => s !== counter && valueOf(s) === undefined);
    if (known.node.kind !== "sum") return isFixed(known) ? [known, 0] : [0, known];
    let fixed: Dim = known.node.constant, changing: Dim = 0;
    for (const { term, coefficient } of known.node.terms) {
      if (isFixed(term)) fixed = add(fixed, mul(term, coefficient));
      else changing = add(changing, mul(term, coefficient));
    }
    return [fixed, changing];
  }
}

/** The scope in which index expressions are written. */
export interface IndexScope {
  readonly body: FunctionBody;
  /** The range of an index expression. */
  bounds(index: Dim): Bounds;
  /** Pushes the value of a symbol. */
  pushSymbol(symbol: Sym, type: IntegerType): void;
}

/** Returns whether all integers of a range fit into 32 bits, with some room for the step of a loop. */
export const fitsWord = ([low, high]: Bounds): boolean => low >= -(2 ** 31) && high < 2 ** 31 - 64;

/** Pushes the value of an index expression. */
export function pushIndex(scope: IndexScope, d: Dim, type: IntegerType): void {
  const { body } = scope, push = (part: Dim) => pushIndex(scope, part, type);
  if (typeof d === "number") return void body.integer(type, d);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return scope.pushSymbol(d, type);
    case "sum": {
      let first = true;
      for (const { term, coefficient } of node.terms) {
        push(term);
        if (coefficient !== 1) body.integer(type, coefficient).op(`${type}Mul`);
        if (!first) body.op(`${type}Add`);
        first = false;
      }
      if (first) body.integer(type, node.constant);
      else if (node.constant !== 0) body.integer(type, node.constant).op(`${type}Add`);
      return;
    }
    case "product":
      node.factors.forEach((factor, n) => {
        push(factor);
        if (n > 0) body.op(`${type}Mul`);
      });
      return;
    case "floorDiv":
    case "mod":
    case "min":
    case "max": {
      const exact = type === "i32" &&
        !(fitsWord(scope.bounds(node.left)) && fitsWord(scope.bounds(node.right)));
      const inner = exact ? "i64" : type;
      if (node.kind === "min" || node.kind === "max") {
        pushChoice(scope, node.kind, [node.left, node.right, inner]);
      } else pushDivision(scope, node.kind, [node.left, node.right, inner]);
      if (exact) body.op("i32WrapI64");
      return;
    }
    default:
      return node satisfies never;
  }
}

type IndexOperands = readonly [left: Dim, right: Dim, type: IntegerType];

function pushChoice(scope: IndexScope, kind: "min" | "max", [left, right, type]: IndexOperands): void {
  const { body } = scope, [a, b] = [body.local(type), body.local(type)];
  pushIndex(scope, left, type);
  body.set(a);
  pushIndex(scope, right, type);
  body.set(b).get(a).get(b).get(a).get(b);
  body.op(kind === "min" ? `${type}LtS` : `${type}GtS`, "select");
}

function pushDivision(scope: IndexScope, kind: "floorDiv" | "mod", [left, right, type]: IndexOperands): void {
  const { body } = scope;
  if (scope.bounds(left)[0] >= 0 && scope.bounds(right)[0] > 0) {
    pushIndex(scope, left, type);
    pushIndex(scope, right, type);
    body.op(kind === "mod" ? `${type}RemS` : `${type}DivS`);
    return;
  }
  // The remainder gets the divisor's sign: r + b where r ≠ 0 and the signs differ
  const [a, b, r] = [body.local(type), body.local(type), body.local(type)], wrong = body.local("i32");
  pushIndex(scope, left, type);
  body.set(a);
  pushIndex(scope, right, type);
  body.set(b).get(a).get(b).op(`${type}RemS`).tee(r).integer(type, 0).op(`${type}Ne`);
  body.get(r).get(b).op(`${type}Xor`).integer(type, 0).op(`${type}LtS`, "i32And").set(wrong);
  if (kind === "mod") body.get(r).get(b).integer(type, 0).get(wrong).op("select", `${type}Add`);
  else {
    body.get(a).get(b).op(`${type}DivS`).integer(type, 1).integer(type, 0).get(wrong);
    body.op("select", `${type}Sub`);
  }
}
