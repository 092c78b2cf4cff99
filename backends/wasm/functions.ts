/**
 * The functions of a module that its kernels call, by number. Invariant: each is written on first use, at most once for
 * four elements and once for one vector. Code that runs lane by lane cannot trap, whatever the lanes hold.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import { functionOf, fusedFunction } from "../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import type { ModuleWriter } from "./binary.ts";
import { FunctionBody } from "./function_body.ts";
import {
  constantBits,
  type HelperName,
  Lanes,
  type LaneValue,
  partOf,
  type Room,
  vectorsOf,
} from "./lanes.ts";
import { apply } from "./straight_line.ts";

const VECTOR = ["v128"] as const, TWO_VECTORS = ["v128", "v128"] as const;

const pushDouble = (body: FunctionBody, value: number): FunctionBody =>
  body.splatConstant(...constantBits(value, "float64"));

/** Sets two lanes of int64, each to what `push` leaves on the stack. */
function setLanes(body: FunctionBody, result: number, push: (lane: number) => void): void {
  push(0);
  body.simd("i64Splat").set(result).get(result);
  push(1);
  body.lane("i64Replace", 1).set(result);
}

/** A value out of range becomes the least integer. */
function int64OfDoubles(): FunctionBody {
  const body = new FunctionBody(VECTOR, VECTOR), x = 0, result = body.local("v128");
  pushDouble(body.get(x).simd("f64Abs"), 2 ** 51).simd("f64Lt", "i64AllTrue").when(() => {
    // 1.5·2⁵² + x has x in its low bits
    const magic = 1.5 * 2 ** 52;
    pushDouble(body.get(x).simd("f64Trunc"), magic).simd("f64Add");
    pushDouble(body, magic).simd("i64Sub").set(result);
  }, () => {
    setLanes(body, result, (lane) => {
      body.get(x).lane("f64Extract", lane).truncate().i64(-(2n ** 63n));
      body.get(x).lane("f64Extract", lane).op("f64Abs").f64(2 ** 63).op("f64Lt", "select");
    });
  });
  body.get(result);
  return body;
}

/** The low words of the int64 values of four doubles. */
function int32OfDoubles(): FunctionBody {
  const body = new FunctionBody(TWO_VECTORS, VECTOR);
  const small = (x: number) => pushDouble(body.get(x).simd("f64Abs"), 2 ** 31).simd("f64Lt");
  const result = body.local("v128");
  small(0);
  small(1).simd("and", "i64AllTrue").when(() => {
    body.get(0).simd("i32TruncF64Zero").get(1).simd("i32TruncF64Zero").words([0, 1, 4, 5]).set(result);
  }, () => {
    lowWords(body, result);
  });
  body.get(result);
  return body;
}

/** The low words of both parameters' elements, in order. */
function lowWords(body: FunctionBody, result: number): void {
  for (const lane of [0, 1, 2, 3]) {
    const x = lane >> 1, half = lane & 1;
    if (lane > 0) body.get(result);
    body.get(x).lane("f64Extract", half).truncate().op("i32WrapI64").i32(0);
    body.get(x).lane("f64Extract", half).op("f64Abs").f64(2 ** 63).op("f64Lt", "select");
    if (lane === 0) body.simd("i32Splat");
    else body.lane("i32Replace", lane);
    body.set(result);
  }
}

/** Two elements in the low half. */
function float32OfInt64(): FunctionBody {
  const body = new FunctionBody(VECTOR, VECTOR);
  body.get(0).lane("i64Extract", 0).op("f32ConvertI64S").simd("f32Splat");
  body.get(0).lane("i64Extract", 1).op("f32ConvertI64S").lane("f32Replace", 1);
  return body;
}

/** Quotients of int32 are exact enough as doubles; division by zero yields 0. */
function divideInt32(): FunctionBody {
  const body = new FunctionBody(TWO_VECTORS, VECTOR), [a, b] = [0, 1];
  const zero = body.constant(0), minusOne = body.constant(-1);
  body.get(a).simd("i32Neg");
  for (const half of [[0, 1, 0, 1], [2, 3, 2, 3]] as const) {
    for (const x of [a, b]) body.get(x).get(x).words(half).simd("f64ConvertLowI32");
    body.simd("f64Div", "i32TruncF64Zero");
  }
  body.words([0, 1, 4, 5]).get(b).get(minusOne).simd("i32Eq", "bitselect");
  body.get(b).get(zero).simd("i32Ne", "and");
  return body;
}

/** Division by zero yields 0; the least integer divided by −1 yields itself. */
function divideInt64(): FunctionBody {
  const body = new FunctionBody(TWO_VECTORS, VECTOR), a = body.local("i64"), b = body.local("i64");
  const result = body.local("v128");
  setLanes(body, result, (lane) => {
    body.get(0).lane("i64Extract", lane).set(a).get(1).lane("i64Extract", lane).set(b);
    body.i64(0).i64(0).get(a).op("i64Sub");
    body.get(a).i64(1).get(b).get(b).i64(1).op("i64Add").i64(2).op("i64LtU", "select", "i64DivS");
    body.get(b).i64(-1).op("i64Eq", "select").get(b).op("i64Eqz", "select");
  });
  body.get(result);
  return body;
}

/** The bodies of helpers. */
export const HELPERS: Readonly<Record<HelperName, () => FunctionBody>> = {
  int64OfDoubles,
  int32OfDoubles,
  float32OfInt64,
  divideInt32,
  divideInt64,
};

const vectors = (count: number) => new Array<"v128">(count).fill("v128");

/** The functions of one module. */
export class Functions implements Room {
  readonly #known = new Map<string, number>();

  constructor(readonly module: ModuleWriter, readonly fuses: boolean) {}

  helper(name: HelperName): number {
    return this.#once(name, HELPERS[name]);
  }

  scalarFunction(op: ScalarOpName, dtype: ValueType, four: boolean): number {
    return this.#once(`${op} ${dtype} ${four}`, () => this.#scalar(op, dtype, four));
  }

  #once(key: string, write: () => FunctionBody): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.module.add(write());
    this.#known.set(key, made);
    return made;
  }

  #scalar(op: ScalarOpName, dtype: ValueType, four: boolean): FunctionBody {
    const made = op === "fma" ? fusedFunction(dtype) : functionOf(op, dtype);
    const count = (type: ValueType) => four ? vectorsOf(type) : 1, each = count(dtype);
    const body = new FunctionBody(vectors(each * made.parameters.length), vectors(count(made.result.dtype)));
    const args = made.parameters.map((_, n): LaneValue => ({
      type: dtype,
      parts: Array.from({ length: each }, (_, part) => n * each + part),
      equal: false,
    }));
    const lanes = new Lanes(body, this);
    lanes.budget = 0;
    const result = apply(lanes, made, { args, four });
    for (let part = 0; part < count(made.result.dtype); part++) body.get(partOf(result, part));
    return body;
  }
}
