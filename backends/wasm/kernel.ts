/**
 * Loop kernels as WebAssembly SIMD functions. Input: a kernel over float32, int32 and bool values; output: a
 * function over the byte addresses of the program's buffers and its sizes. The vector loop runs four lanes at a
 * time, its tail one; reductions keep 16 partial results. Invariant: values are v128; outside vector loops all
 * four lanes are equal.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DType } from "../../lib/base/dtype.ts";
import { boundsOf, type Dim, freeSymbols, type Sym } from "../../lib/sym/expr.ts";
import { coefficientOf } from "../../lib/loops/nest.ts";
import type { Loop, LoopKernel, Program, Reduction, Statement, ValueId } from "../../lib/loops/ir.ts";
import { FunctionBody } from "./binary.ts";
import { floatBits, hasLanes, pushCast, pushScalar } from "./lanes.ts";

const LANE_TYPES: ReadonlySet<DType> = new Set<DType>(["float32", "int32", "bool"]);
const REDUCTIONS: ReadonlySet<Reduction["op"]> = new Set<Reduction["op"]>([
  "sum",
  "prod",
  "max",
  "min",
  "any",
  "all",
]);
/** Partial results of a reduction, in vectors of four. */
const PARTIALS = 4;

/** Whether this printer can take a kernel. */
export function fitsLanes(kernel: LoopKernel, program: Program): boolean {
  const types = new Map<ValueId, DType>();
  const check = (body: readonly Statement[]): boolean =>
    body.every((s) => {
      switch (s.kind) {
        case "loop":
          return s.carried.length === 0 && check(s.body) && s.reductions.every((r) => {
            types.set(r.id, r.dtype);
            return REDUCTIONS.has(r.op) && LANE_TYPES.has(r.dtype) && (s.vector || s.order === "reduction");
          });
        case "masked":
        case "index":
          return false;
        case "store": {
          const dtype = program.buffers[s.buffer]?.dtype;
          return s.mode === "set" && (dtype === "float32" || dtype === "int32") && plainIndex(s.index);
        }
        case "load":
          types.set(s.id, s.dtype);
          return (s.dtype === "float32" || s.dtype === "int32") && plainIndex(s.index);
        case "scalar":
          types.set(s.id, s.dtype);
          return hasLanes(s.op, types.get(s.args[0] ?? -1) ?? "float64");
        case "cast":
        case "constant":
        case "select":
          types.set(s.id, s.dtype);
          return LANE_TYPES.has(s.dtype) &&
            (s.kind !== "cast" || LANE_TYPES.has(types.get(s.value) ?? "float64"));
        default:
          return s satisfies never;
      }
    });
  return check(kernel.body);
}

function plainIndex(index: Dim): boolean {
  return [...freeSymbols(index)].every((s) => s.node.kind === "symbol" && s.node.role.kind !== "value");
}

/** How many elements values stand for at a point: all lanes equal, four elements, or one in lane 0. */
type Width = "equal" | "four" | "one";

interface Place {
  readonly width: Width;
  /** The counter of the vector loop around. */
  readonly axis?: Sym;
}

/** The function of a kernel. Parameters: an i32 address per buffer of the program, then an i32 per size. */
export function printKernel(kernel: LoopKernel, program: Program): FunctionBody {
  const params = [...program.buffers, ...program.sizes].map(() => "i32" as const);
  const writer = new KernelWriter(program, new FunctionBody(params, []));
  writer.statements(kernel.body, { width: "equal" });
  return writer.body;
}

class KernelWriter {
  readonly #values = new Map<ValueId, { readonly local: number; readonly dtype: DType }>();
  readonly #counters = new Map<Sym, number>();

  constructor(readonly program: Program, readonly body: FunctionBody) {}

  statements(list: readonly Statement[], place: Place): void {
    for (const s of list) this.#statement(s, place);
  }

  #statement(s: Statement, place: Place): void {
    const { body } = this;
    switch (s.kind) {
      case "loop":
        return s.vector && place.width === "equal" ? this.#vectorLoop(s) : this.#plainLoop(s, place);
      case "constant":
        body.splatConstant(constantBits(s.value, s.dtype));
        break;
      case "scalar": {
        const dtype = this.#value(s.args[0] ?? -1).dtype;
        pushScalar(body, s.op, s.args.map((a) => this.#value(a).local), dtype);
        break;
      }
      case "cast": {
        const { local, dtype } = this.#value(s.value);
        pushCast(body, local, dtype, s.dtype);
        break;
      }
      case "select":
        for (const id of [s.then, s.otherwise, s.condition]) body.get(this.#value(id).local);
        body.simd("bitselect");
        break;
      case "load":
        this.#load(s.buffer, s.index, place);
        break;
      case "store":
        return this.#store(s.buffer, s.index, { value: this.#value(s.value).local, place });
      case "index":
      case "masked":
        throw new InternalError(`Expected statements with lanes but found ${s.kind}`);
      default:
        return s satisfies never;
    }
    const local = body.local("v128");
    body.set(local);
    this.#values.set(s.id, { local, dtype: s.dtype });
  }

  #value(id: ValueId): { readonly local: number; readonly dtype: DType } {
    const found = this.#values.get(id);
    if (!found) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return found;
  }

  #counter(symbol: Sym): number {
    const known = this.#counters.get(symbol);
    if (known !== undefined) return known;
    const local = this.body.local("i32");
    this.#counters.set(symbol, local);
    return local;
  }

  /** Pushes an index expression. */
  pushIndex(d: Dim): void {
    const { body } = this;
    if (typeof d === "number") return void body.i32(d);
    const { node } = d;
    switch (node.kind) {
      case "symbol":
        return this.#pushSymbol(d);
      case "sum":
        body.i32(node.constant);
        for (const { term, coefficient } of node.terms) {
          this.pushIndex(term);
          if (coefficient !== 1) body.i32(coefficient).op("i32Mul");
          body.op("i32Add");
        }
        return;
      case "product":
        node.factors.forEach((factor, n) => {
          this.pushIndex(factor);
          if (n > 0) body.op("i32Mul");
        });
        return;
      case "floorDiv":
      case "mod":
        if (boundsOf(node.left)[0] < 0) {
          throw new InternalError(`Expected an index that is not negative but found ${d}`);
        }
        this.pushIndex(node.left);
        this.pushIndex(node.right);
        body.op(node.kind === "mod" ? "i32RemS" : "i32DivS");
        return;
      case "min":
      case "max": {
        const [a, b] = [body.local("i32"), body.local("i32")];
        this.pushIndex(node.left);
        body.set(a);
        this.pushIndex(node.right);
        body.set(b).get(a).get(b).get(a).get(b).op(node.kind === "min" ? "i32LtS" : "i32GtS", "select");
        return;
      }
      default:
        return node satisfies never;
    }
  }

  #pushSymbol(symbol: Sym): void {
    const counter = this.#counters.get(symbol);
    if (counter !== undefined) return void this.body.get(counter);
    const size = this.program.sizes.indexOf(symbol);
    if (size < 0) throw new InternalError(`Expected a counter or a size but found ${symbol}`);
    this.body.get(this.program.buffers.length + size);
  }

  /** Pushes the byte address of an element. */
  #address(buffer: number, index: Dim): void {
    this.body.get(buffer);
    this.pushIndex(index);
    this.body.i32(2).op("i32Shl", "i32Add");
  }

  /** The step of an index from lane to lane; undefined where it is not constant. */
  #step(index: Dim, place: Place): Dim | undefined {
    return place.axis ? coefficientOf(index, place.axis) : 0;
  }

  #load(buffer: number, index: Dim, place: Place): void {
    const { body } = this, step = this.#step(index, place);
    if (step === 0 || place.width === "equal") {
      this.#address(buffer, index);
      body.simdMemory("load32Splat");
    } else if (place.width === "one") {
      this.#address(buffer, index);
      body.simdMemory("load32Zero");
    } else if (step === 1) {
      this.#address(buffer, index);
      body.simdMemory("load");
    } else {
      this.#eachLane(place, (lane) => {
        if (lane === 0) {
          this.#address(buffer, index);
          body.simdMemory("load32Zero");
        } else {
          this.#address(buffer, index);
          body.memory("f32Load").lane("f32Replace", lane);
        }
      });
    }
  }

  #store(buffer: number, index: Dim, { value, place }: { value: number; place: Place }): void {
    const { body } = this, step = this.#step(index, place);
    if (place.width === "four" && step === 1) {
      this.#address(buffer, index);
      body.get(value).simdMemory("store");
    } else if (place.width === "four") {
      this.#eachLane(place, (lane) => {
        this.#address(buffer, index);
        body.get(value).lane("f32Extract", lane).memory("f32Store");
      });
    } else {
      this.#address(buffer, index);
      body.get(value).lane("f32Extract", 0).memory("f32Store");
    }
  }

  /** Runs `each` with the vector counter moved to every lane in turn. */
  #eachLane(place: Place, each: (lane: number) => void): void {
    if (!place.axis) throw new InternalError("Expected a vector loop around lanes");
    const counter = this.#counter(place.axis);
    for (let lane = 0; lane < 4; lane++) {
      each(lane);
      if (lane < 3) this.body.get(counter).i32(1).op("i32Add").set(counter);
    }
    this.body.get(counter).i32(3).op("i32Sub").set(counter);
  }

  #plainLoop(loop: Loop, place: Place): void {
    const { body } = this, counter = this.#counter(loop.axis.symbol);
    const partial = loop.reductions.map((r) => this.#openPartials(r, 1));
    body.loop(counter, { from: () => body.i32(0), to: () => this.pushIndex(loop.axis.size), step: 1 }, () => {
      this.statements(loop.body, place);
      loop.reductions.forEach((r, n) => this.#combine(r, partial[n]?.[0] ?? -1));
    });
    loop.reductions.forEach((r, n) =>
      this.#values.set(r.id, { local: partial[n]?.[0] ?? -1, dtype: r.dtype })
    );
  }

  #vectorLoop(loop: Loop): void {
    const { body } = this, axis = loop.axis.symbol, counter = this.#counter(axis);
    const wide = loop.reductions.length > 0 ? PARTIALS : 1;
    const partial = loop.reductions.map((r) => this.#openPartials(r, wide));
    const [whole, end] = [body.local("i32"), body.local("i32")];
    const widest = 4 * wide;
    this.pushIndex(loop.axis.size);
    body.tee(end).i32(-widest).op("i32And").set(whole);
    body.loop(counter, { from: () => body.i32(0), to: () => body.get(whole), step: 4 }, () => {
      for (let part = 0; part < wide; part++) {
        this.statements(loop.body, { width: "four", axis });
        loop.reductions.forEach((r, n) => this.#combine(r, partial[n]?.[part] ?? -1));
        if (part < wide - 1) body.get(counter).i32(4).op("i32Add").set(counter);
      }
    });
    body.loop(counter, { from: () => body.get(whole), to: () => body.get(end), step: 1 }, () => {
      this.statements(loop.body, { width: "one", axis });
      loop.reductions.forEach((r, n) => this.#combineFirst(r, partial[n]?.[0] ?? -1));
    });
    loop.reductions.forEach((r, n) => this.#fold(r, partial[n] ?? []));
  }

  #openPartials(r: Reduction, count: number): number[] {
    return Array.from({ length: count }, () => {
      const local = this.body.local("v128");
      this.body.splatConstant(neutralBits(r)).set(local);
      return local;
    });
  }

  /** accumulator = accumulator combined with the value, lane by lane. */
  #combine(r: Reduction, accumulator: number): void {
    this.#pushCombined(r, accumulator, () => this.body.get(this.#value(r.value).local));
    this.body.set(accumulator);
  }

  /** The same for lane 0 alone. */
  #combineFirst(r: Reduction, accumulator: number): void {
    const { body } = this;
    this.#pushCombined(r, accumulator, () => {
      body.get(this.#value(r.value).local).splatConstant(neutralBits(r)).lanes([-1, 0, 0, 0]).simd(
        "bitselect",
      );
    });
    body.set(accumulator);
  }

  #pushCombined(r: Reduction, accumulator: number, pushOther: () => void): void {
    this.body.get(accumulator);
    pushOther();
    const float = r.dtype === "float32";
    switch (r.op) {
      case "sum":
        this.body.simd(float ? "f32Add" : "i32Add");
        return;
      case "prod":
        this.body.simd(float ? "f32Mul" : "i32Mul");
        return;
      case "max":
        this.body.simd(r.dtype === "bool" ? "or" : float ? "f32Max" : "i32MaxS");
        return;
      case "min":
        this.body.simd(r.dtype === "bool" ? "and" : float ? "f32Min" : "i32MinS");
        return;
      case "any":
        this.body.simd("or");
        return;
      case "all":
        this.body.simd("and");
        return;
      case "argmax":
      case "argmin":
        throw new InternalError(`Expected a reduction with lanes but found ${r.op}`);
      default:
        return r.op satisfies never;
    }
  }

  /** All partial results into one, the same in every lane. */
  #fold(r: Reduction, partials: readonly number[]): void {
    const { body } = this, first = partials[0] ?? -1;
    for (let n = partials.length; n > 1; n /= 2) {
      for (let p = 0; p < n / 2; p++) {
        this.#pushCombined(r, partials[p] ?? -1, () => body.get(partials[p + n / 2] ?? -1));
        body.set(partials[p] ?? -1);
      }
    }
    for (const distance of [8, 4]) {
      const turned = Array.from({ length: 16 }, (_, byte) => (byte + distance) % 16);
      this.#pushCombined(r, first, () => body.get(first).get(first).shuffle(turned));
      body.set(first);
    }
    this.#values.set(r.id, { local: first, dtype: r.dtype });
  }
}

function constantBits(value: number | bigint | boolean, dtype: DType): number {
  return dtype === "float32"
    ? floatBits(Number(value))
    : dtype === "bool"
    ? (value ? -1 : 0)
    : Number(value) | 0;
}

function neutralBits(r: Reduction): number {
  const float = r.dtype === "float32";
  switch (r.op) {
    case "sum":
    case "any":
      return 0;
    case "prod":
      return float ? floatBits(1) : 1;
    case "all":
      return -1;
    case "max":
      return r.dtype === "bool" ? 0 : float ? floatBits(-Infinity) : -(2 ** 31);
    case "min":
      return r.dtype === "bool" ? -1 : float ? floatBits(Infinity) : 2 ** 31 - 1;
    case "argmax":
    case "argmin":
      throw new InternalError(`Expected a reduction with lanes but found ${r.op}`);
    default:
      return r.op satisfies never;
  }
}
