/**
 * Loads and stores of lanes. Input: an element type, an address that instructions push, the step from lane to
 * lane; output: instructions that push or take four lanes of 32 bits. Invariant: a bool is a byte in memory and a
 * mask in lanes; int64 is int32 in lanes, clamped when it is read; up to 31 bytes behind an element may be read.
 */
import type { DType } from "../../lib/base/dtype.ts";
import type { FunctionBody } from "./binary.ts";

/** Bytes behind the last element of memory that a load may touch. */
export const LOAD_SLACK = 64;

/** Where int64 values are clamped: ± this much. */
export const CLAMP = 2 ** 30;

/** Pushes an int64 element as an i32. */
function pushClamped(body: FunctionBody, address: () => void): void {
  const value = body.local("i64");
  address();
  body.memory("i64Load").set(value);
  for (const [limit, beyond] of [[CLAMP, "i64LtS"], [-CLAMP, "i64GtS"]] as const) {
    body.get(value).i64(limit).get(value).i64(limit).op(beyond, "select").set(value);
  }
  body.get(value).op("i32WrapI64");
}

/** Pushes one element in all lanes, or in lane 0. */
export function pushElement(
  body: FunctionBody,
  dtype: DType,
  address: () => void,
  lanes: "all" | "first",
): void {
  if (dtype === "int64") {
    pushClamped(body, address);
    body.simd("i32Splat");
    return;
  }
  address();
  if (dtype === "bool") body.memory("i32Load8U").simd("i32Splat").splatConstant(0).simd("i32Ne");
  else body.simdMemory(lanes === "all" ? "load32Splat" : "load32Zero");
}

/** Pushes four neighbours. */
export function pushNeighbours(body: FunctionBody, dtype: DType, address: () => void): void {
  if (dtype === "int64") {
    const first = body.local("i32");
    address();
    body.set(first);
    for (let lane = 0; lane < 4; lane++) {
      pushClamped(body, () => body.get(first).i32(8 * lane).op("i32Add"));
      if (lane === 0) body.simd("i32Splat");
      else body.lane("i32Replace", lane);
    }
    return;
  }
  address();
  if (dtype === "bool") {
    body.simdMemory("load32Zero").simd("i16ExtendLowU8", "i32ExtendLowU16").splatConstant(0).simd("i32Ne");
  } else {
    body.simdMemory("load");
  }
}

/** Pushes every other element of eight. */
export function pushEverySecond(body: FunctionBody, address: () => void): void {
  address();
  body.simdMemory("load");
  address();
  body.simdMemory("load", 16);
  body.shuffle([0, 8, 16, 24].flatMap((byte) => [byte, byte + 1, byte + 2, byte + 3]));
}

/** Stores one lane. */
export function storeLane(
  body: FunctionBody,
  dtype: DType,
  at: {
    readonly address: () => void;
    readonly value: number;
    readonly lane: number;
    readonly offset?: number;
  },
): void {
  const { address, value, lane, offset = 0 } = at;
  address();
  if (dtype === "bool") {
    body.get(value).lane("i32Extract", lane).i32(1).op("i32And").memory("i32Store8", offset);
  } else if (dtype === "int64") {
    body.get(value).lane("i32Extract", lane).op("i64ExtendI32S").memory("i64Store", offset);
  } else {
    body.get(value).laneMemory("store32Lane", offset, lane);
  }
}

/** Adds one lane to an element; bools add by or. */
export function addLane(
  body: FunctionBody,
  dtype: DType,
  { address, value, lane }: { readonly address: () => void; readonly value: number; readonly lane: number },
): void {
  const [at, sum] = [body.local("i32"), body.local("v128")];
  address();
  body.set(at);
  pushElement(body, dtype, () => body.get(at), "all");
  body.get(value).simd(dtype === "bool" ? "or" : dtype === "float32" ? "f32Add" : "i32Add").set(sum);
  storeLane(body, dtype, { address: () => body.get(at), value: sum, lane });
}

/** Stores four neighbours. */
export function storeNeighbours(
  body: FunctionBody,
  dtype: DType,
  { address, value }: { readonly address: () => void; readonly value: number },
): void {
  if (dtype === "int64") {
    for (let lane = 0; lane < 4; lane++) storeLane(body, dtype, { address, value, lane, offset: 8 * lane });
    return;
  }
  address();
  body.get(value);
  if (dtype === "bool") {
    const bytes = [0, 4, 8, 12, ...new Array<number>(12).fill(0)];
    body.splatConstant(1).simd("and").get(value).shuffle(bytes).lane("i32Extract", 0).memory("i32Store");
  } else {
    body.simdMemory("store");
  }
}
