/**
 * Statements of loop kernels as WebAssembly functions with the parameters of a job, whose description holds the byte
 * addresses of the program's buffers and its sizes. Invariant: outside vector loops all lanes of a value are equal;
 * inside them the lanes are four iterations, or lane 0 is a single one.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DType, ValueType } from "../../lib/base/dtype.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { Axis, Loop, Program, Statement, ValueId } from "../../lib/loops/ir.ts";
import { addLane, loadLane, loadRow, pushElement, storeLane, storeRow } from "./access.ts";
import { loadType } from "../../lib/loops/record.ts";
import { valueTypes } from "../../lib/loops/value_types.ts";
import { Addresses, fitsWord, type Range } from "./addresses.ts";
import { cast } from "./casts.ts";
import { FunctionBody } from "./function_body.ts";
import type { Bounds } from "../../lib/codegen/value_bounds.ts";
import { isWide, Lanes, type LaneValue, partOf, type Parts, type Room, vectorsOf } from "./lanes.ts";
import { isFour, type Place, type StatementWriter, writeLoop } from "./loops.ts";
import { plain } from "./straight_line.ts";
import { JOB_PARAMS } from "./pool.ts";

/** Facts about a kernel before it is written. */
interface KernelFacts {
  readonly program: Program;
  /** The range of an index expression. */
  readonly bounds: (index: Dim) => Bounds;
}

/** Writes one function. */
export class KernelWriter implements StatementWriter {
  readonly body = new FunctionBody(JOB_PARAMS.map(() => "i32"), []);
  readonly lanes: Lanes;
  readonly at: Addresses;
  readonly #values = new Map<ValueId, LaneValue>();
  #types: ReadonlyMap<ValueId, ValueType> = new Map();

  constructor(readonly facts: KernelFacts, room: Room) {
    this.lanes = new Lanes(this.body, room);
    this.at = new Addresses(this.body, facts.program, {
      bounds: facts.bounds,
      value: (id) => this.value(id),
    });
  }

  /** The statements of a kernel, and the iterations of a loop after them, divided by the job's parameters. */
  kernel(body: readonly Statement[], divided?: Loop): void {
    this.#types = valueTypes(divided ? [...body, divided] : body);
    this.statements(body, { width: "equal" });
    if (divided) writeLoop(this, divided, { place: { width: "equal" }, range: this.#units(divided.axis) });
  }

  /** Runs `each` for the units in the range of the job's parameters. */
  divided(axis: Axis, each: () => void): void {
    this.at.iterate(axis.symbol, this.#units(axis), each);
  }

  #units({ symbol, size }: Axis): Range {
    const { type } = this.at.counter(symbol, size);
    const push = (name: (typeof JOB_PARAMS)[number]) => {
      this.body.get(JOB_PARAMS.indexOf(name));
      if (type === "i64") this.body.op("i64ExtendI32U");
    };
    return { from: () => push("from"), to: () => push("to") };
  }

  /** Pushes an address in the scratch memory of the thread. */
  pushScratch(offset: Dim): void {
    this.body.get(JOB_PARAMS.indexOf("scratch"));
    this.at.pushIndex(offset, "i32");
    this.body.op("i32Add");
  }

  statements(list: readonly Statement[], place: Place): void {
    for (const s of list) this.#statement(s, place);
  }

  value(id: ValueId): LaneValue {
    const found = this.#values.get(id);
    if (!found) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return found;
  }

  define(id: ValueId, value: LaneValue): void {
    this.#values.set(id, value);
  }

  typeOf(id: ValueId): ValueType {
    const type = this.#types.get(id);
    if (!type) throw new InternalError(`Expected a type of value ${id} but found none`);
    return type;
  }

  #statement(s: Statement, place: Place): void {
    switch (s.kind) {
      case "loop":
        return writeLoop(this, s, { place });
      case "store":
        return this.#store(s, place);
      default:
        this.define(s.id, this.#result(s, place));
    }
  }

  #result(s: Exclude<Statement, Loop | { readonly kind: "store" }>, place: Place): LaneValue {
    const { dtype: type } = s, four = isFour(place);
    switch (s.kind) {
      case "constant":
      case "scalar":
      case "cast":
      case "select":
        return plain(this.lanes, s, { value: (id) => this.value(id), four });
      case "index":
        return this.#index(s.index, type, place);
      case "load":
        return this.#load(s, place);
      case "masked":
        return this.#masked(s, type, place);
      default:
        return s satisfies never;
    }
  }

  #index(index: Dim, type: ValueType, place: Place): LaneValue {
    const { body, lanes } = this, step = this.at.step(index, place.axis), four = isFour(place);
    const dtype = fitsWord(this.facts.bounds(index)) ? "int32" : "int64", wide = isWide(dtype);
    const shape = wide ? "i64" : "i32", equal = place.width === "equal" || step === 0;
    this.at.pushIndex(index, shape);
    const first = body.local("v128");
    body.simd(`${shape}Splat`).set(first);
    const parts: Parts = Array.from(
      { length: four && !equal ? vectorsOf(dtype) : 1 },
      () => body.local("v128"),
    );
    if (typeof step === "number" || !four) {
      parts.forEach((local, part) => {
        body.get(first);
        if (four && !equal) body.lanes(stepsOf(Number(step), part, wide)).simd(`${shape}Add`);
        body.set(local);
      });
    } else {
      parts.forEach((local) => body.get(first).set(local));
      this.#eachLane(place, (lane) => {
        const local = parts[wide ? lane >> 1 : 0] ?? -1;
        body.get(local);
        this.at.pushIndex(index, shape);
        body.lane(`${shape}Replace`, wide ? lane & 1 : lane).set(local);
      });
    }
    return cast(lanes, { type: dtype, parts, equal }, { to: type, four });
  }

  #load({ buffer, index, dtype: type }: Statement & { readonly kind: "load" }, place: Place): LaneValue {
    const { body } = this, step = this.at.step(index, place.axis), dtype = this.at.dtype(buffer);
    const address = () => this.at.push(buffer, index), same = step === 0 || place.width === "equal";
    if (same || place.width === "one") {
      const local = body.local("v128");
      pushElement(body, dtype, address, same ? "all" : "first");
      body.set(local);
      return { type, parts: [local], equal: same };
    }
    if (place.guard === undefined) {
      return { type, parts: this.#loadFour(dtype, step, { place, address }), equal: false };
    }
    // Lanes whose condition is false must not read, since their elements may not exist
    const { guard } = place, found = this.lanes.variable(type, { four: true, equal: false });
    body.get(guard).simd("i32AllTrue").when(() => {
      const parts = this.#loadFour(dtype, step, { place, address });
      this.lanes.assign(found, { type, parts, equal: false });
    }, () => {
      this.lanes.assign(found, this.lanes.constant(type === "bool" ? false : 0, type));
      this.#eachLane(place, (lane) => {
        body.get(guard).lane("i32Extract", lane).when(() => {
          loadLane(body, dtype, { address, parts: found.parts, lane });
        });
      });
    });
    return found;
  }

  #loadFour(
    dtype: DType,
    step: Dim | undefined,
    { place, address }: { readonly place: Place; readonly address: () => void },
  ): Parts {
    const { body } = this;
    if (typeof step === "number") return loadRow(body, dtype, { address, step });
    const { parts } = this.lanes.variable(loadType(dtype), { four: true, equal: false });
    for (const local of parts) body.splatConstant(0).set(local);
    this.#eachLane(place, (lane) => loadLane(body, dtype, { address, parts, lane }));
    return parts;
  }

  #store({ buffer, index, value, mode }: Statement & { readonly kind: "store" }, place: Place): void {
    const { body } = this, step = this.at.step(index, place.axis), dtype = this.at.dtype(buffer);
    const { parts } = this.value(value);
    const address = () => this.at.push(buffer, index);
    const one = (lane: number) =>
      (mode === "add" ? addLane : storeLane)(body, dtype, { address, parts, lane });
    if (!isFour(place)) return one(0);
    const { guard, rest } = place;
    const lanewise = () =>
      this.#eachLane(place, (lane) => {
        if (guard === undefined) one(lane);
        else body.get(guard).lane("i32Extract", lane).when(() => one(lane));
      });
    if (mode === "add" || typeof step !== "number") {
      if (rest !== undefined) throw new InternalError(`Expected whole vectors for the store at ${index}`);
      return lanewise();
    }
    const row = () =>
      storeRow(body, dtype, { address, parts, step, ...(rest === undefined ? {} : { count: rest }) });
    if (guard === undefined) row();
    else body.get(guard).simd("i32AllTrue").when(row, lanewise);
  }

  #eachLane(place: Place, each: (lane: number) => void): void {
    if (!place.axis) throw new InternalError("Expected a vector loop around lanes");
    this.at.eachLane(place.axis, each);
  }

  #masked(s: Statement & { readonly kind: "masked" }, type: ValueType, place: Place): LaneValue {
    const { body, lanes } = this, four = isFour(place), condition = this.value(s.condition);
    const otherwise = this.value(s.otherwise);
    const result = lanes.variable(type, { four, equal: place.width === "equal" });
    lanes.assign(result, otherwise);
    if (!four) {
      body.get(partOf(condition, 0)).lane("i32Extract", 0).when(() => {
        this.statements(s.body, place);
        lanes.assign(result, this.value(s.value));
      });
      return result;
    }
    const guard = body.local("v128");
    body.get(partOf(condition, 0));
    if (place.guard !== undefined) body.get(place.guard).simd("and");
    body.tee(guard).simd("anyTrue").when(() => {
      this.statements(s.body, { ...place, guard });
      const value = this.value(s.value);
      lanes.assign(
        result,
        lanes.select({ type: "bool", parts: [guard], equal: false }, [value, otherwise], true),
      );
    });
    return result;
  }
}

/** The offsets of the lanes of one vector, as words. */
function stepsOf(step: number, part: number, wide: boolean): readonly number[] {
  if (!wide) return [0, step, 2 * step, 3 * step];
  return [2 * part, 2 * part + 1].flatMap((lane) => {
    const bits = BigInt(step * lane);
    return [Number(BigInt.asIntN(32, bits)), Number(BigInt.asIntN(32, bits >> 32n))];
  });
}
