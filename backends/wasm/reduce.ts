/**
 * Reductions in lanes: neutral elements, combining, folding partial results. Input: a reduction and locals that
 * hold its partial results; output: instructions. Invariant: combining is lane by lane; partial results fold as a
 * tree over vectors and then over lanes, so that the order is that of the printed C++.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DType } from "../../lib/base/dtype.ts";
import type { Reduction } from "../../lib/loops/ir.ts";
import type { FunctionBody } from "./binary.ts";
import { floatBits } from "./lanes.ts";

/** What reductions combine: their operation and the type of their lanes. */
type Combination = Pick<Reduction, "op" | "dtype">;

/** The bits of a constant in a lane. */
export function constantBits(value: number | bigint | boolean, dtype: DType): number {
  return dtype === "float32"
    ? floatBits(Number(value))
    : dtype === "bool"
    ? (value ? -1 : 0)
    : Number(value) | 0;
}

/** The bits of the neutral element. */
export function neutralBits(r: Combination): number {
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
      return 0;
    default:
      return r.op satisfies never;
  }
}

/** Pushes accumulator ∘ other, lane by lane. */
export function pushCombined(
  body: FunctionBody,
  r: Combination,
  accumulator: number,
  pushOther: () => void,
): void {
  body.get(accumulator);
  pushOther();
  const float = r.dtype === "float32";
  switch (r.op) {
    case "sum":
      body.simd(float ? "f32Add" : "i32Add");
      return;
    case "prod":
      body.simd(float ? "f32Mul" : "i32Mul");
      return;
    case "max":
      body.simd(r.dtype === "bool" ? "or" : float ? "f32Max" : "i32MaxS");
      return;
    case "min":
      body.simd(r.dtype === "bool" ? "and" : float ? "f32Min" : "i32MinS");
      return;
    case "any":
      body.simd("or");
      return;
    case "all":
      body.simd("and");
      return;
    case "argmax":
    case "argmin":
      throw new InternalError(`Expected a reduction without positions but found ${r.op}`);
    default:
      return r.op satisfies never;
  }
}

/** Whether the order of combining shows in the result. */
export function dependsOnOrder(r: Combination): boolean {
  return r.dtype === "float32" && (r.op === "sum" || r.op === "prod");
}

/**
 * Moves partial results down by one lane, the first behind the last: what is combined with the first one next belongs
 * to the next element. Folding combines the same pairs however far they were moved.
 */
export function rotate(body: FunctionBody, partials: readonly number[]): void {
  const first = body.local("v128"), bytes = Array.from({ length: 16 }, (_, byte) => byte + 4);
  body.get(partials[0] ?? -1).set(first);
  partials.forEach((partial, p) => {
    body.get(partial).get(partials[p + 1] ?? first).shuffle(bytes).set(partial);
  });
}

/** All partial results into the first, the same in every lane. */
export function foldPartials(body: FunctionBody, r: Combination, partials: readonly number[]): void {
  const first = partials[0] ?? -1;
  for (let n = partials.length; n > 1; n /= 2) {
    for (let p = 0; p < n / 2; p++) {
      pushCombined(body, r, partials[p] ?? -1, () => body.get(partials[p + n / 2] ?? -1));
      body.set(partials[p] ?? -1);
    }
  }
  for (const distance of [8, 4]) {
    const turned = Array.from({ length: 16 }, (_, byte) => (byte + distance) % 16);
    pushCombined(body, r, first, () => body.get(first).get(first).shuffle(turned));
    body.set(first);
  }
}

/** The state of argmax or argmin: the extreme so far, its position, and whether there is one. */
export interface Extreme {
  readonly value: number;
  readonly position: number;
  readonly found: number;
}

/** Opens the state; the position of nothing is 0. */
export function openExtreme(body: FunctionBody): Extreme {
  const made = { value: body.local("v128"), position: body.local("v128"), found: body.local("v128") };
  for (const local of Object.values(made)) body.splatConstant(0).set(local);
  return made;
}

/** Takes over a value and its position in lanes where it is the first or beats the extreme; NaN beats all else. */
export function takeExtreme(
  body: FunctionBody,
  state: Extreme,
  candidate: { readonly op: "argmax" | "argmin"; readonly dtype: DType; value: number; position: number },
): void {
  const { op, dtype, value, position } = candidate;
  const better = body.local("v128"), float = dtype === "float32";
  const greater = op === "argmax";
  body.get(value).get(state.value);
  body.simd(float ? (greater ? "f32Gt" : "f32Lt") : greater ? "i32GtS" : "i32LtS");
  if (float) {
    body.get(value).get(value).simd("f32Ne").get(state.value).get(state.value).simd("f32Eq", "and", "or");
  }
  body.get(state.found).simd("not", "or").set(better);
  for (const [mine, theirs] of [[state.value, value], [state.position, position]] as const) {
    body.get(theirs).get(mine).get(better).simd("bitselect").set(mine);
  }
  body.splatConstant(-1).set(state.found);
}
