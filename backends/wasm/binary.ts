/**
 * A writer of WebAssembly binaries: bytes, function bodies, one module. Input: calls that append instructions;
 * output: bytes for `WebAssembly.Module`. Invariant: a function's locals are typed when made, and blocks are
 * opened and closed by one method, so that they nest.
 * Format: WebAssembly core specification 2.0, with the relaxed SIMD proposal.
 */

/** Types of values, by their binary code. */
export const TYPE = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type WasmType = keyof typeof TYPE;

/** Plain instructions. */
export const OP = {
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  branch: 0x0c,
  branchIf: 0x0d,
  call: 0x10,
  select: 0x1b,
  i32Load: 0x28,
  i64Load: 0x29,
  f32Load: 0x2a,
  i32Load8U: 0x2d,
  i32Store: 0x36,
  f32Store: 0x38,
  i32Store8: 0x3a,
  i32WrapI64: 0xa7,
  i64ExtendI32S: 0xac,
  i64Store: 0x37,
  i32Eqz: 0x45,
  i32Eq: 0x46,
  i32Ne: 0x47,
  i32LtS: 0x48,
  i32GtS: 0x4a,
  i32GeS: 0x4e,
  i64LtS: 0x53,
  i64GtS: 0x55,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32Mul: 0x6c,
  i32DivS: 0x6d,
  i32RemS: 0x6f,
  i32And: 0x71,
  i32Xor: 0x73,
  i32Shl: 0x74,
  i32ShrS: 0x75,
  i32ShrU: 0x76,
} as const;

/** Instructions after the prefix 0xfd. */
export const SIMD = {
  load: 0x00,
  load32Splat: 0x09,
  store: 0x0b,
  constant: 0x0c,
  shuffle: 0x0d,
  i32Splat: 0x11,
  i32Extract: 0x1b,
  i32Replace: 0x1c,
  f32Extract: 0x1f,
  f32Replace: 0x20,
  i32Eq: 0x37,
  i32Ne: 0x38,
  i32LtS: 0x39,
  i32GtS: 0x3b,
  i32LeS: 0x3d,
  i32GeS: 0x3f,
  f32Eq: 0x41,
  f32Ne: 0x42,
  f32Lt: 0x43,
  f32Gt: 0x44,
  f32Le: 0x45,
  f32Ge: 0x46,
  not: 0x4d,
  and: 0x4e,
  or: 0x50,
  xor: 0x51,
  bitselect: 0x52,
  anyTrue: 0x53,
  load32Lane: 0x56,
  store32Lane: 0x5a,
  load32Zero: 0x5c,
  f32DemoteZero: 0x5e,
  f64PromoteLow: 0x5f,
  f32Ceil: 0x67,
  f32Floor: 0x68,
  f32Trunc: 0x69,
  f32Nearest: 0x6a,
  f64Floor: 0x75,
  i16ExtendLowU8: 0x89,
  f64Nearest: 0x94,
  i32Abs: 0xa0,
  i32Neg: 0xa1,
  i32AllTrue: 0xa3,
  i32ExtendLowU16: 0xa9,
  i32Shl: 0xab,
  i32ShrS: 0xac,
  i32ShrU: 0xad,
  i32Add: 0xae,
  i32Sub: 0xb1,
  i32Mul: 0xb5,
  i32MinS: 0xb6,
  i32MaxS: 0xb8,
  i64ExtMulLowU: 0xde,
  i64ExtMulHighU: 0xdf,
  f32Abs: 0xe0,
  f32Neg: 0xe1,
  f32Sqrt: 0xe3,
  f32Add: 0xe4,
  f32Sub: 0xe5,
  f32Mul: 0xe6,
  f32Div: 0xe7,
  f32Min: 0xe8,
  f32Max: 0xe9,
  f32PMin: 0xea,
  f32PMax: 0xeb,
  f64Add: 0xf0,
  f64Sub: 0xf1,
  f64Mul: 0xf2,
  i32TruncF32: 0xf8,
  f32ConvertI32: 0xfa,
  i32TruncF64Zero: 0xfc,
  f32Madd: 0x105,
  f64Madd: 0x107,
} as const;

/** A growing list of bytes. */
export class Bytes {
  #buffer = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(...values: readonly number[]): this {
    this.#reserve(values.length);
    for (const value of values) this.#buffer[this.#length++] = value;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** An unsigned integer in LEB128. */
  unsigned(value: number): this {
    let rest = value;
    do {
      const low = rest & 0x7f;
      rest = Math.floor(rest / 128);
      this.byte(rest > 0 ? low | 0x80 : low);
    } while (rest > 0);
    return this;
  }

  /** A signed integer in LEB128. */
  signed(value: bigint): this {
    let rest = value;
    for (;;) {
      const low = Number(rest & 0x7fn);
      rest >>= 7n;
      const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
      this.byte(done ? low : low | 0x80);
      if (done) return this;
    }
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.unsigned(bytes.length).raw(bytes);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** The body of one function. Locals are numbered after the parameters. */
export class FunctionBody {
  #code = new Bytes();
  readonly #locals: WasmType[] = [];
  /** Runs first: sets the locals of `splatConstant` and `wordAt`. */
  readonly #prologue = new Bytes();
  readonly #constants = new Map<string, number>();
  readonly #words = new Map<number, number>();
  /** Instructions ahead of the open loops, innermost last. */
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

  op(...names: readonly (keyof typeof OP)[]): this {
    for (const name of names) this.#code.byte(OP[name]);
    return this;
  }

  simd(...names: readonly (keyof typeof SIMD)[]): this {
    for (const name of names) this.#code.byte(0xfd).unsigned(SIMD[name]);
    return this;
  }

  /** A load or store at address + offset. */
  memory(name: keyof typeof OP, offset = 0): this {
    this.#code.byte(OP[name]).unsigned(0).unsigned(offset);
    return this;
  }

  simdMemory(name: keyof typeof SIMD, offset = 0): this {
    this.#code.byte(0xfd).unsigned(SIMD[name]).unsigned(0).unsigned(offset);
    return this;
  }

  /** A load or store of one lane at address + offset. */
  laneMemory(name: "load32Lane" | "store32Lane", offset: number, lane: number): this {
    this.#code.byte(0xfd).unsigned(SIMD[name]).unsigned(0).unsigned(offset).byte(lane);
    return this;
  }

  lane(name: keyof typeof SIMD, lane: number): this {
    this.#code.byte(0xfd).unsigned(SIMD[name]).byte(lane);
    return this;
  }

  shuffle(lanes: readonly number[]): this {
    this.#code.byte(0xfd).unsigned(SIMD.shuffle).byte(...lanes);
    return this;
  }

  i32(value: number): this {
    this.#code.byte(0x41).signed(BigInt(value | 0));
    return this;
  }

  i64(value: number): this {
    this.#code.byte(0x42).signed(BigInt(value));
    return this;
  }

  /**
   * Pushes four equal 32-bit lanes, or two equal pairs, from a local: the engine rebuilds inline constants at every
   * use.
   */
  splatConstant(bits: number, high: number = bits): this {
    const key = `${bits} ${high}`;
    let local = this.#constants.get(key);
    if (local === undefined) {
      this.#constants.set(key, local = this.local("v128"));
      scratch.setInt32(0, bits, true);
      scratch.setInt32(4, high, true);
      const pair = new Uint8Array(scratch.buffer, 0, 8);
      this.#prologue.byte(0xfd).unsigned(SIMD.constant).raw(pair).raw(pair).byte(0x21).unsigned(local);
    }
    return this.get(local);
  }

  /** Pushes the word at a parameter's address + offset, read once before everything else. */
  wordAt(param: number, offset: number): this {
    let local = this.#words.get(offset);
    if (local === undefined) {
      this.#words.set(offset, local = this.local("i32"));
      this.#prologue.byte(0x20).unsigned(param).byte(OP.i32Load).unsigned(0).unsigned(offset);
      this.#prologue.byte(0x21).unsigned(local);
    }
    return this.get(local);
  }

  /** Four 32-bit lanes. */
  lanes(values: readonly number[]): this {
    this.#code.byte(0xfd).unsigned(SIMD.constant);
    for (const value of values) {
      scratch.setInt32(0, value, true);
      this.#code.raw(new Uint8Array(scratch.buffer, 0, 4));
    }
    return this;
  }

  call(index: number): this {
    this.#code.byte(OP.call).unsigned(index);
    return this;
  }

  /** `body` where the i32 on the stack is not 0. */
  when(body: () => void, otherwise?: () => void): this {
    this.#code.byte(OP.if, 0x40);
    body();
    if (otherwise) {
      this.#code.byte(OP.else);
      otherwise();
    }
    this.#code.byte(OP.end);
    return this;
  }

  /** for (counter = from; counter < to; counter += step); `from` and `to` push an i32, `to` once. */
  loop(counter: number, range: { from: () => void; to: () => void; step: number }, body: () => void): this {
    const end = this.local("i32");
    range.from();
    this.set(counter);
    range.to();
    this.set(end);
    this.get(counter).get(end).op("i32LtS").when(() => {
      this.#ahead.push(new Bytes());
      const inside = this.#apart(new Bytes(), () => {
        body();
        this.get(counter).i32(range.step).op("i32Add").tee(counter).get(end).op("i32LtS");
      });
      const ahead = this.#ahead.pop();
      if (ahead) this.#code.raw(ahead.done());
      this.#code.byte(0x03, 0x40).raw(inside.done()).byte(OP.branchIf).unsigned(0).byte(OP.end);
    });
    return this;
  }

  /** A local with what `push` pushes, computed ahead of the innermost open `loop`. */
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

  /** Runs `write` with its instructions going elsewhere. */
  #apart(into: Bytes, write: () => void): Bytes {
    const former = this.#code;
    this.#code = into;
    write();
    this.#code = former;
    return into;
  }

  /** Runs `body` as often as the i32 in `count` says, which is used up; not at all for 0 or less. */
  times(count: number, body: () => void): this {
    this.get(count).i32(0).op("i32GtS").when(() => {
      this.#code.byte(0x03, 0x40);
      body();
      this.get(count).i32(1).op("i32Sub").tee(count).i32(0).op("i32GtS");
      this.#code.byte(OP.branchIf).unsigned(0).byte(OP.end);
    });
    return this;
  }

  /** The finished body with its locals. */
  finish(): Uint8Array {
    const body = new Bytes().unsigned(this.#locals.length);
    for (const type of this.#locals) body.unsigned(1).byte(TYPE[type]);
    body.raw(this.#prologue.done()).raw(this.#code.done()).byte(OP.end);
    return body.done();
  }
}

/** The memory that a module imports: one thread's own, or shared by several. */
export interface MemoryKind {
  readonly shared: boolean;
  /** Pages of 64 KiB that a shared one may grow to. */
  readonly maximum: number;
}

/** A module over one imported memory. Functions are numbered in order of `add`. */
export class ModuleWriter {
  readonly #functions: FunctionBody[] = [];
  readonly #exports = new Map<string, number>();

  constructor(readonly memory: MemoryKind) {}

  /** Adds a function; gives its number. */
  add(body: FunctionBody): number {
    return this.#functions.push(body) - 1;
  }

  export(index: number, name: string): void {
    this.#exports.set(name, index);
  }

  finish(): Uint8Array<ArrayBuffer> {
    const out = new Bytes().byte(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    const section = (id: number, content: Bytes) => out.byte(id).unsigned(content.length).raw(content.done());
    const types = new Bytes().unsigned(this.#functions.length);
    for (const { params, results } of this.#functions) {
      types.byte(0x60).unsigned(params.length).byte(...params.map((t) => TYPE[t]));
      types.unsigned(results.length).byte(...results.map((t) => TYPE[t]));
    }
    section(1, types);
    const imports = new Bytes().unsigned(1).text("host").text("memory").byte(2);
    if (this.memory.shared) imports.byte(3).unsigned(1).unsigned(this.memory.maximum);
    else imports.byte(0).unsigned(1);
    section(2, imports);
    const declared = new Bytes().unsigned(this.#functions.length);
    this.#functions.forEach((_, i) => declared.unsigned(i));
    section(3, declared);
    const exports = new Bytes().unsigned(this.#exports.size);
    for (const [name, i] of this.#exports) exports.text(name).byte(0).unsigned(i);
    section(7, exports);
    const code = new Bytes().unsigned(this.#functions.length);
    for (const each of this.#functions) {
      const body = each.finish();
      code.unsigned(body.length).raw(body);
    }
    section(10, code);
    return out.done();
  }
}
