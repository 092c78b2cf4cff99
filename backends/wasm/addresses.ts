/**
 * Counters, index expressions and element addresses of one kernel. Input: loops as they are opened, indices; output:
 * instructions that push i32. Invariant: what the innermost loop does not change of an address is computed ahead
 * of that loop, unless the vector counter is being moved from lane to lane.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { type DType, itemSize } from "../../lib/base/dtype.ts";
import { add, type Dim, freeSymbols, mul, substitute, type Sym } from "../../lib/sym/expr.ts";
import { coefficientOf } from "../../lib/loops/nest.ts";
import type { BufferId, Program, ValueId } from "../../lib/loops/ir.ts";
import type { FunctionBody } from "./binary.ts";
import { pushIndex } from "./indices.ts";

/** Iterations of a loop: instructions that push an i32. */
export interface Range {
  readonly from: () => void;
  readonly to: () => void;
  readonly step?: number;
}

/** What an index takes from a value. */
interface IndexValue {
  readonly local: number;
  /** Whether all lanes are equal. */
  readonly equal: boolean;
}

/** An open loop. */
interface Level {
  readonly counter: Sym;
  /** Addresses computed ahead of it. */
  readonly ahead: Map<BufferId, Map<Dim, number>>;
}

const valueOf = (symbol: Sym): ValueId | undefined =>
  symbol.node.kind === "symbol" && symbol.node.role.kind === "value" ? symbol.node.role.id : undefined;

/** The addresses of a function whose parameter 0 is the description of buffers and sizes. */
export class Addresses {
  readonly #counters = new Map<Sym, number>();
  /** Values of counters of loops that are written out. */
  readonly #written = new Map<Sym, number>();
  readonly #levels: Level[] = [];
  /** Whether the vector counter is being moved, and to which lane. */
  #stepping = false;
  #lane = 0;

  constructor(
    readonly body: FunctionBody,
    readonly program: Program,
    readonly value: (id: ValueId) => IndexValue,
  ) {}

  /** The type of a buffer's elements. */
  dtype(buffer: BufferId): DType {
    const decl = this.program.buffers[buffer];
    if (!decl) throw new InternalError(`Expected a buffer ${buffer} but the program has none`);
    return decl.dtype;
  }

  /** The local of a loop's counter. */
  counter(symbol: Sym): number {
    const known = this.#counters.get(symbol);
    if (known !== undefined) return known;
    const local = this.body.local("i32");
    this.#counters.set(symbol, local);
    return local;
  }

  /** A loop over a range. */
  iterate(counter: Sym, range: Range, run: () => void): void {
    this.#levels.push({ counter, ahead: new Map() });
    this.body.loop(this.counter(counter), { step: 1, ...range }, run);
    this.#levels.pop();
  }

  /** A loop written out. */
  writeOut(counter: Sym, count: number, run: () => void): void {
    for (let i = 0; i < count; i++) {
      this.body.i32(i).set(this.counter(counter));
      this.#written.set(counter, i);
      run();
    }
    this.#written.delete(counter);
  }

  /** Runs `each` with the vector counter moved to every lane in turn. */
  eachLane(axis: Sym, each: (lane: number) => void): void {
    const { body } = this, counter = this.counter(axis);
    this.#stepping = true;
    for (let lane = 0; lane < 4; lane++) {
      this.#lane = lane;
      each(lane);
      if (lane < 3) body.get(counter).i32(1).op("i32Add").set(counter);
    }
    this.#lane = 0;
    this.#stepping = false;
    body.get(counter).i32(3).op("i32Sub").set(counter);
  }

  /** The step of an index from lane to lane; undefined where it is not constant. */
  step(index: Dim, axis: Sym | undefined): Dim | undefined {
    if (!axis) return 0;
    for (const symbol of freeSymbols(index)) {
      const id = valueOf(symbol);
      if (id !== undefined && !this.value(id).equal) return undefined;
    }
    return coefficientOf(index, axis);
  }

  /** Pushes the value of an index expression. */
  pushIndex(d: Dim): void {
    pushIndex(this.body, d, (symbol) => this.#pushSymbol(symbol));
  }

  #pushSymbol(symbol: Sym): void {
    const id = valueOf(symbol);
    if (id !== undefined) return void this.body.get(this.value(id).local).lane("i32Extract", this.#lane);
    const counter = this.#counters.get(symbol);
    if (counter !== undefined) return void this.body.get(counter);
    const size = this.program.sizes.indexOf(symbol);
    if (size < 0) throw new InternalError(`Expected a counter or a size but found ${symbol}`);
    this.body.wordAt(0, 4 * (this.program.buffers.length + size));
  }

  /** Pushes the byte address of an element. */
  push(buffer: BufferId, index: Dim): void {
    const { body } = this, level = this.#levels.at(-1);
    const [fixed, changing] = level && !this.#stepping ? this.#partsOf(index, level.counter) : [0, index];
    if (level && fixed !== 0) body.get(this.#ahead(level, buffer, fixed));
    else body.wordAt(0, 4 * buffer);
    if (changing !== 0) this.#addScaled(buffer, changing);
  }

  #addScaled(buffer: BufferId, index: Dim): void {
    const shift = Math.log2(itemSize(this.dtype(buffer)));
    this.pushIndex(index);
    if (shift > 0) this.body.i32(shift).op("i32Shl");
    this.body.op("i32Add");
  }

  #ahead(level: Level, buffer: BufferId, fixed: Dim): number {
    const known = level.ahead.get(buffer) ?? new Map<Dim, number>();
    level.ahead.set(buffer, known);
    const found = known.get(fixed);
    if (found !== undefined) return found;
    const local = this.body.ahead(() => {
      this.body.wordAt(0, 4 * buffer);
      this.#addScaled(buffer, fixed);
    });
    known.set(fixed, local);
    return local;
  }

  /** An index as the sum of what a loop leaves as it is and what it changes. */
  #partsOf(index: Dim, counter: Sym): readonly [fixed: Dim, changing: Dim] {
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
