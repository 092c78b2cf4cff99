/**
 * The body of one WebAssembly function. Invariant: a function's locals are typed when made, and blocks are opened and
 * closed by one method, so that they nest.
 */
import { Bytes } from "./bytes.ts";
import {
  codeOf,
  type IntegerType,
  type Op,
  type Simd,
  simdCodeOf,
  TRUNCATE,
  TYPE,
  type WasmType,
} from "./opcodes.ts";

const scratch = new DataView(new ArrayBuffer(8));

/** Iterations of a loop: instructions that push integers of its counter's type. */
interface LoopRange {
  readonly from: () => void;
  readonly to: () => void;
  readonly step: number;
  /** Type of the counter; i32 by default. */
  readonly type?: IntegerType;
}

/** The body of one function. Locals are numbered after the parameters. */
export class FunctionBody {
  #code = new Bytes();
  readonly #locals: WasmType[] = [];
  /** Runs first: sets the locals of `splatConstant` and `wordAt`. */
  readonly #prologue = new Bytes();
  readonly #constants = new Map<string, number>();
  readonly #words = new Map<string, number>();
  /** Hoisted instructions of the open loops, innermost last. */
  readonly #ahead: Bytes[] = [];

  constructor(readonly params: readonly WasmType[], readonly results: readonly WasmType[]) {}

  /** A new local. */
  local(type: WasmType): number {
    this.#locals.push(type);
    return this.params.length + this.#locals.length - 1;
  }

  get(local: number): this {
    this.#code.byte(0x20).unsigned(local);
    return this;
  }

  set(local: number): this {
    this.#code.byte(0x21).unsigned(local);
    return this;
  }

  tee(local: number): this {
    this.#code.byte(0x22).unsigned(local);
    return this;
  }

  op(...names: readonly Op[]): this {
    for (const name of names) this.#code.byte(codeOf(name));
    return this;
  }

  /** Converts a double to an i64, the nearest one if it is out of range. */
  truncate(): this {
    this.#code.byte(0xfc).unsigned(TRUNCATE);
    return this;
  }

  simd(...names: readonly Simd[]): this {
    for (const name of names) this.#code.byte(0xfd).unsigned(simdCodeOf(name));
    return this;
  }

  /** A load or store at address + offset. */
  memory(name: Op, offset = 0): this {
    this.#code.byte(codeOf(name)).unsigned(0).unsigned(offset);
    return this;
  }

  simdMemory(name: Simd, offset = 0): this {
    this.#code.byte(0xfd).unsigned(simdCodeOf(name)).unsigned(0).unsigned(offset);
    return this;
  }

  /** A load or store of one lane at address + offset. */
  laneMemory(
    name: "load32Lane" | "store32Lane" | "load64Lane" | "store64Lane",
    offset: number,
    lane: number,
  ): this {
    this.#code.byte(0xfd).unsigned(simdCodeOf(name)).unsigned(0).unsigned(offset).byte(lane);
    return this;
  }

  lane(name: Simd, lane: number): this {
    this.#code.byte(0xfd).unsigned(simdCodeOf(name)).byte(lane);
    return this;
  }

  shuffle(lanes: readonly number[]): this {
    this.#code.byte(0xfd).unsigned(simdCodeOf("shuffle")).byte(...lanes);
    return this;
  }

  /** Four 32-bit words out of the eight of the two vectors on the stack. */
  words(picked: readonly [number, number, number, number]): this {
    return this.shuffle(picked.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)));
  }

  i32(value: number): this {
    this.#code.byte(0x41).signed(BigInt(value | 0));
    return this;
  }

  i64(value: number | bigint): this {
    this.#code.byte(0x42).signed(BigInt.asIntN(64, BigInt(value)));
    return this;
  }

  /** An integer constant of either width. */
  integer(type: IntegerType, value: number): this {
    return type === "i32" ? this.i32(value) : this.i64(value);
  }

  f32(value: number): this {
    scratch.setFloat32(0, value, true);
    this.#code.byte(0x43).raw(new Uint8Array(scratch.buffer, 0, 4));
    return this;
  }

  f64(value: number): this {
    scratch.setFloat64(0, value, true);
    this.#code.byte(0x44).raw(new Uint8Array(scratch.buffer, 0, 8));
    return this;
  }

  /**
   * A local with four equal 32-bit lanes, or two equal pairs, set at the start of the function: the engine rebuilds
   * inline constants at every use.
   */
  constant(bits: number, high: number = bits): number {
    const key = `${bits} ${high}`;
    let local = this.#constants.get(key);
    if (local === undefined) {
      this.#constants.set(key, local = this.local("v128"));
      scratch.setInt32(0, bits, true);
      scratch.setInt32(4, high, true);
      const pair = new Uint8Array(scratch.buffer, 0, 8);
      this.#prologue.byte(0xfd).unsigned(simdCodeOf("constant")).raw(pair).raw(pair).byte(0x21).unsigned(
        local,
      );
    }
    return local;
  }

  /** Pushes such a local. */
  splatConstant(bits: number, high: number = bits): this {
    return this.get(this.constant(bits, high));
  }

  /** Pushes the integer at a parameter's address + offset, which is read once at the start of the function. */
  wordAt(param: number, offset: number, type: IntegerType = "i32"): this {
    const key = `${type} ${offset}`;
    let local = this.#words.get(key);
    if (local === undefined) {
      this.#words.set(key, local = this.local(type));
      const load = type === "i32" ? codeOf("i32Load") : codeOf("i64Load");
      this.#prologue.byte(0x20).unsigned(param).byte(load).unsigned(0).unsigned(offset);
      this.#prologue.byte(0x21).unsigned(local);
    }
    return this.get(local);
  }

  /** Four 32-bit lanes. */
  lanes(values: readonly number[]): this {
    this.#code.byte(0xfd).unsigned(simdCodeOf("constant"));
    for (const value of values) {
      scratch.setInt32(0, value, true);
      this.#code.raw(new Uint8Array(scratch.buffer, 0, 4));
    }
    return this;
  }

  call(index: number): this {
    this.#code.byte(codeOf("call")).unsigned(index);
    return this;
  }

  /** Runs `body` if the i32 on the stack is not 0. */
  when(body: () => void, otherwise?: () => void): this {
    this.#code.byte(codeOf("if"), 0x40);
    body();
    if (otherwise) {
      this.#code.byte(codeOf("else"));
      otherwise();
    }
    this.#code.byte(codeOf("end"));
    return this;
  }

  /** for (counter = from; counter < to; counter += step); `from` and `to` push an integer, `to` only once. */
  loop(counter: number, range: LoopRange, body: () => void): this {
    const { type = "i32" } = range, end = this.local(type), less = `${type}LtS` as const;
    range.from();
    this.set(counter);
    range.to();
    this.set(end);
    this.get(counter).get(end).op(less).when(() => {
      this.#ahead.push(new Bytes());
      const inside = this.#apart(new Bytes(), () => {
        body();
        this.get(counter).integer(type, range.step).op(`${type}Add`).tee(counter).get(end).op(less);
      });
      const ahead = this.#ahead.pop();
      if (ahead) this.#code.raw(ahead.done());
      this.#code.byte(0x03, 0x40).raw(inside.done()).byte(codeOf("branchIf")).unsigned(0).byte(codeOf("end"));
    });
    return this;
  }

  /** A local set to what `push` pushes, hoisted out of the innermost open `loop`. */
  ahead(push: () => void): number {
    const into = this.#ahead.at(-1);
    if (!into) throw new Error("Expected an open loop");
    const local = this.local("i32");
    this.#apart(into, () => {
      push();
      this.set(local);
    });
    return local;
  }

  /** Runs `write` with its instructions emitted elsewhere. */
  #apart(into: Bytes, write: () => void): Bytes {
    const former = this.#code;
    this.#code = into;
    write();
    this.#code = former;
    return into;
  }

  /** Runs `body` as many times as the i32 in `count` says, which is consumed; not at all for 0 or less. */
  times(count: number, body: () => void): this {
    this.get(count).i32(0).op("i32GtS").when(() => {
      this.#code.byte(0x03, 0x40);
      body();
      this.get(count).i32(1).op("i32Sub").tee(count).i32(0).op("i32GtS");
      this.#code.byte(codeOf("branchIf")).unsigned(0).byte(codeOf("end"));
    });
    return this;
  }

  /** The finished body with its locals. */
  finish(): Uint8Array {
    const body = new Bytes().unsigned(this.#locals.length);
    for (const type of this.#locals) body.unsigned(1).byte(TYPE[type]);
    body.raw(this.#prologue.done()).raw(this.#code.done()).byte(codeOf("end"));
    return body.done();
  }
}
