/**
 * Loop kernels as WebAssembly SIMD functions. Input: a kernel whose values have lanes (fits.ts); output: functions
 * with the parameters of a job, whose description holds the byte addresses of the program's buffers and its sizes.
 * The vector loop runs four lanes at a time, its tail one; reductions keep 16 partial results, element i in number
 * i mod 16. Invariant: values
 * are v128; outside vector loops all four lanes are equal.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DType } from "../../lib/base/dtype.ts";
import { type Dim, freeSymbols, type Sym } from "../../lib/sym/expr.ts";
import { coefficientOf } from "../../lib/loops/nest.ts";
import type { BufferId, Loop, Program, Reduction, Statement, ValueId } from "../../lib/loops/ir.ts";
import { addLane, mayLoadBeyond, pushElement, pushLanes, storeLane, storeLanes } from "./access.ts";
import { Addresses, type Range } from "./addresses.ts";
import { FunctionBody } from "./binary.ts";
import type { LaneType } from "./fits.ts";
import { pushCast, pushScalar } from "./lanes.ts";
import { JOB_PARAMS } from "./products.ts";
import {
  constantBits,
  dependsOnOrder,
  type Extreme,
  foldPartials,
  neutralBits,
  openExtreme,
  pushCombined,
  rotate,
  takeExtreme,
} from "./reduce.ts";

/** Partial results of a reduction, in vectors of four. */
const PARTIALS = 4;
/** Loops of at most so many iterations are written out. */
const UNROLLED = 4;

/** How many elements values stand for at a point: all lanes equal, four elements, or one in lane 0. */
type Width = "equal" | "four" | "one";

interface Place {
  readonly width: Width;
  /** The counter of the vector loop around. */
  readonly axis?: Sym;
  /** In four lanes: the mask of those that may load. */
  readonly guard?: number;
  /** In four lanes: how many of them are stored, 1 to 3; undefined for all. */
  readonly rest?: number;
}

/** What is printed. */
export interface Printed {
  readonly body: readonly Statement[];
  readonly types: ReadonlyMap<ValueId, LaneType>;
  readonly program: Program;
  /** Whether the only statement is a loop whose iterations are the units of the job. */
  readonly divided: boolean;
}

/** The function of some statements of a kernel. */
export function printStatements({ body, types, program, divided }: Printed): FunctionBody {
  const writer = new KernelWriter(program, types);
  const [first] = body;
  if (divided && first?.kind === "loop") writer.divided(first);
  else writer.statements(body, { width: "equal" });
  return writer.body;
}

const param = (name: (typeof JOB_PARAMS)[number]): number => JOB_PARAMS.indexOf(name);

interface LaneValue {
  readonly local: number;
  readonly type: LaneType;
  /** Whether all lanes are equal. */
  readonly equal: boolean;
}

class KernelWriter {
  readonly body = new FunctionBody(JOB_PARAMS.map(() => "i32"), []);
  readonly #values = new Map<ValueId, LaneValue>();
  readonly #at: Addresses;

  constructor(program: Program, readonly types: ReadonlyMap<ValueId, LaneType>) {
    this.#at = new Addresses(this.body, program, (id) => this.#value(id));
  }

  /** The iterations `from` to `to` of a loop. */
  divided(loop: Loop): void {
    const range = {
      from: () => void this.body.get(param("from")),
      to: () => void this.body.get(param("to")),
    };
    if (loop.vector) this.#vectorLoop(loop, range);
    else this.#plainLoop(loop, { width: "equal" }, range);
  }

  statements(list: readonly Statement[], place: Place): void {
    for (const s of list) this.#statement(s, place);
  }

  #statement(s: Statement, place: Place): void {
    const { body } = this;
    switch (s.kind) {
      case "loop":
        return this.#loop(s, place);
      case "constant":
        body.splatConstant(constantBits(s.value, this.#type(s.id)));
        break;
      case "index":
        this.#index(s.index, this.#type(s.id), place);
        break;
      case "scalar": {
        const { type } = this.#value(s.args[0] ?? -1);
        pushScalar(body, s.op, s.args.map((a) => this.#value(a).local), type);
        break;
      }
      case "cast": {
        const { local, type } = this.#value(s.value);
        pushCast(body, local, type, this.#type(s.id));
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
        return this.#store(s, this.#value(s.value).local, place);
      case "masked":
        this.#masked(s, place);
        break;
      default:
        return s satisfies never;
    }
    const local = body.local("v128");
    body.set(local);
    this.#define(s.id, local, place.width === "equal");
  }

  #define(id: ValueId, local: number, equal: boolean): void {
    this.#values.set(id, { local, type: this.#type(id), equal });
  }

  #type(id: ValueId): LaneType {
    const type = this.types.get(id);
    if (!type) throw new InternalError(`Expected value ${id} to have lanes but found none`);
    return type;
  }

  #value(id: ValueId): LaneValue {
    const found = this.#values.get(id);
    if (!found) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return found;
  }

  #index(index: Dim, type: LaneType, place: Place): void {
    const { body } = this, step = this.#at.step(index, place.axis);
    this.#at.pushIndex(index);
    body.simd("i32Splat");
    if (place.width === "four" && typeof step === "number" && step !== 0) {
      body.lanes([0, step, 2 * step, 3 * step]).simd("i32Add");
    } else if (place.width === "four" && step !== 0) {
      this.#eachLane(place, (lane) => {
        if (lane === 0) return;
        this.#at.pushIndex(index);
        body.lane("i32Replace", lane);
      });
    }
    if (type === "float32") body.simd("f32ConvertI32");
  }

  #load(buffer: BufferId, index: Dim, place: Place): void {
    const { body } = this, step = this.#at.step(index, place.axis), dtype = this.#at.dtype(buffer);
    const address = () => this.#at.push(buffer, index);
    if (step === 0 || place.width === "equal") return pushElement(body, dtype, address, "all");
    if (place.width === "one") return pushElement(body, dtype, address, "first");
    if (place.guard === undefined) return this.#loadFour(dtype, address, { index, place });
    // Lanes whose condition does not hold read nothing: their elements need not exist
    const { guard } = place, found = body.local("v128");
    body.get(guard).simd("i32AllTrue").when(() => {
      this.#loadFour(dtype, address, { index, place });
      body.set(found);
    }, () => {
      body.splatConstant(0).set(found);
      this.#eachLane(place, (lane) => {
        body.get(guard).lane("i32Extract", lane).when(() => {
          pushElement(body, dtype, address, "all");
          blendLane(body, found, lane);
          body.set(found);
        });
      });
    });
    body.get(found);
  }

  #loadFour(
    dtype: DType,
    address: () => void,
    { index, place }: { readonly index: Dim; readonly place: Place },
  ): void {
    const { body } = this, step = this.#at.step(index, place.axis);
    if (typeof step === "number") return pushLanes(body, dtype, { address, step });
    const gathered = body.local("v128");
    this.#eachLane(place, (lane) => {
      pushElement(body, dtype, address, "all");
      if (lane > 0) blendLane(body, gathered, lane);
      body.set(gathered);
    });
    body.get(gathered);
  }

  #store({ buffer, index, mode }: Statement & { readonly kind: "store" }, value: number, place: Place): void {
    const { body } = this, step = this.#at.step(index, place.axis), dtype = this.#at.dtype(buffer);
    const address = () => this.#at.push(buffer, index);
    if (mode === "add") {
      if (place.width !== "four") return addLane(body, dtype, { address, value, lane: 0 });
      return this.#eachLane(place, (lane) => addLane(body, dtype, { address, value, lane }));
    }
    if (place.width !== "four") return storeLane(body, dtype, { address, value, lane: 0 });
    if (typeof step === "number") {
      return storeLanes(body, dtype, {
        address,
        value,
        step,
        ...(place.rest === undefined ? {} : { count: place.rest }),
      });
    }
    if (place.rest !== undefined) throw new InternalError(`Expected a constant step but found ${step}`);
    this.#eachLane(place, (lane) => storeLane(body, dtype, { address, value, lane }));
  }

  /** Whether four lanes may run though some are beyond the end: what they load exists, or lies just behind it. */
  #runsBeyond(body: readonly Statement[], axis: Sym): boolean {
    return body.every((s) => {
      switch (s.kind) {
        case "loop":
          return this.#runsBeyond(s.body, axis);
        case "masked":
          return false;
        case "load": {
          const step = dependsOnValues(s.index) ? undefined : coefficientOf(s.index, axis);
          return typeof step === "number" && mayLoadBeyond(this.#at.dtype(s.buffer), step);
        }
        case "store": {
          const step = dependsOnValues(s.index) ? undefined : coefficientOf(s.index, axis);
          return s.mode === "set" && typeof step === "number" && step > 0;
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

  #eachLane(place: Place, each: (lane: number) => void): void {
    if (!place.axis) throw new InternalError("Expected a vector loop around lanes");
    this.#at.eachLane(place.axis, each);
  }

  /** Pushes the value of a masked statement. */
  #masked(s: Statement & { readonly kind: "masked" }, place: Place): void {
    const { body } = this, result = body.local("v128");
    const condition = this.#value(s.condition).local;
    body.get(this.#value(s.otherwise).local).set(result);
    if (place.width !== "four") {
      body.get(condition).lane("i32Extract", 0).when(() => {
        this.statements(s.body, place);
        body.get(this.#value(s.value).local).set(result);
      });
    } else {
      const guard = body.local("v128");
      body.get(condition);
      if (place.guard !== undefined) body.get(place.guard).simd("and");
      body.tee(guard).simd("anyTrue").when(() => {
        this.statements(s.body, { ...place, guard });
        body.get(this.#value(s.value).local).get(result).get(guard).simd("bitselect").set(result);
      });
    }
    body.get(result);
  }

  #loop(loop: Loop, place: Place): void {
    const { size } = loop.axis;
    const whole = { from: () => void this.body.i32(0), to: () => this.#at.pushIndex(size) };
    const positions = loop.reductions.some((r) => r.op === "argmax" || r.op === "argmin");
    if (loop.vector && place.width === "equal" && !positions && loop.carried.length === 0) {
      return this.#vectorLoop(loop, whole);
    }
    this.#plainLoop(loop, place, typeof size === "number" && size <= UNROLLED ? size : whole);
  }

  /** One iteration after the other: over a range, or a few that are written out. */
  #plainLoop(loop: Loop, place: Place, range: Range | number): void {
    const { body } = this;
    const extremes = loop.reductions.map((r) => r.index === undefined ? undefined : openExtreme(body));
    const partial = loop.reductions.map((r, n) => extremes[n]?.position ?? this.#openPartial(r));
    const carried = loop.carried.map((c) => {
      const local = body.local("v128");
      body.get(this.#value(c.initial).local).set(local);
      this.#define(c.id, local, place.width === "equal");
      return local;
    });
    const iteration = () => {
      this.statements(loop.body, place);
      loop.reductions.forEach((r, n) =>
        this.#combine(r, { partial: partial[n] ?? -1, extreme: extremes[n] })
      );
      for (const c of loop.carried) body.get(this.#value(c.next).local);
      for (const local of carried.toReversed()) body.set(local);
    };
    if (typeof range === "number") {
      this.#at.writeOut(loop.axis.symbol, range, iteration);
    } else {
      this.#at.iterate(loop.axis.symbol, range, iteration);
    }
    loop.reductions.forEach((r, n) => this.#define(r.id, partial[n] ?? -1, place.width === "equal"));
  }

  #vectorLoop(loop: Loop, range: Range): void {
    const { body } = this, axis = loop.axis.symbol, counter = this.#at.counter(axis);
    const wide = loop.reductions.length > 0 ? PARTIALS : 1;
    const partial = loop.reductions.map((r) => Array.from({ length: wide }, () => this.#openPartial(r)));
    const [start, whole, end] = [body.local("i32"), body.local("i32"), body.local("i32")];
    range.from();
    body.set(start);
    range.to();
    body.tee(end).get(start).op("i32Sub").i32(-4 * wide).op("i32And").get(start).op("i32Add").set(whole);
    this.#at.iterate(axis, { from: () => body.get(start), to: () => body.get(whole), step: 4 }, () => {
      for (let part = 0; part < wide; part++) {
        this.statements(loop.body, { width: "four", axis });
        loop.reductions.forEach((r, n) => this.#combine(r, { partial: partial[n]?.[part] ?? -1 }));
        if (part < wide - 1) body.get(counter).i32(4).op("i32Add").set(counter);
      }
    });
    if (loop.reductions.length === 0 && this.#runsBeyond(loop.body, axis)) {
      const rest = body.local("i32");
      body.get(end).get(whole).op("i32Sub").set(rest);
      this.#at.iterate(axis, { from: () => body.get(whole), to: () => body.get(end), step: 4 }, () => {
        this.statements(loop.body, { width: "four", axis, rest });
      });
      return;
    }
    this.#at.iterate(axis, { from: () => body.get(whole), to: () => body.get(end) }, () => {
      this.statements(loop.body, { width: "one", axis });
      loop.reductions.forEach((r, n) => {
        this.#combineFirst(r, partial[n]?.[0] ?? -1);
        if (dependsOnOrder({ op: r.op, dtype: this.#type(r.id) })) rotate(body, partial[n] ?? []);
      });
    });
    loop.reductions.forEach((r, n) => {
      const type = this.#type(r.id);
      foldPartials(body, { op: r.op, dtype: type }, partial[n] ?? []);
      this.#define(r.id, partial[n]?.[0] ?? -1, true);
    });
  }

  #openPartial(r: Reduction): number {
    const local = this.body.local("v128");
    this.body.splatConstant(neutralBits({ op: r.op, dtype: this.#type(r.id) })).set(local);
    return local;
  }

  /** accumulator = accumulator combined with the value, lane by lane. */
  #combine(
    r: Reduction,
    { partial, extreme }: { readonly partial: number; readonly extreme?: Extreme | undefined },
  ): void {
    const { body } = this, value = this.#value(r.value);
    if (r.op === "argmax" || r.op === "argmin") {
      if (!extreme) throw new InternalError(`Expected no lanes along the loop of ${r.op}`);
      const position = this.#value(r.index ?? -1).local;
      return takeExtreme(body, extreme, { op: r.op, dtype: value.type, value: value.local, position });
    }
    pushCombined(body, { op: r.op, dtype: this.#type(r.id) }, partial, () => body.get(value.local));
    body.set(partial);
  }

  /** The same for lane 0 alone. */
  #combineFirst(r: Reduction, partial: number): void {
    const { body } = this, combination = { op: r.op, dtype: this.#type(r.id) };
    pushCombined(body, combination, partial, () => {
      body.get(this.#value(r.value).local).splatConstant(neutralBits(combination)).lanes([-1, 0, 0, 0]);
      body.simd("bitselect");
    });
    body.set(partial);
  }
}

const dependsOnValues = (index: Dim): boolean =>
  [...freeSymbols(index)].some(({ node }) => node.kind === "symbol" && node.role.kind === "value");

/** On the stack four equal lanes: pushes the others' lanes with this one among them. */
function blendLane(body: FunctionBody, others: number, lane: number): void {
  body.get(others).lanes([0, 1, 2, 3].map((l) => l === lane ? -1 : 0)).simd("bitselect");
}
