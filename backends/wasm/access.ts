/**
 * Loads and stores of lanes. Input: an element type, an address that instructions push, the step from lane to
 * lane; output: instructions that push or take four lanes of 32 bits. Invariant: a bool is a byte in memory and a
 * mask in lanes; int64 is int32 in lanes, clamped when it is read. How wide an element is in memory is known here
 * and nowhere else; others count elements.
 */
import { type DType, itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { FunctionBody } from "./binary.ts";

/** Bytes behind the last element of memory that a load may touch. */
export const LOAD_SLACK = 64;

/** Where int64 values are clamped: ± this much. */
export const CLAMP = 2 ** 30;

/** How elements of a type lie in memory, where lanes take them. */
type Form = "word" | "byte" | "clamped";

function formOf(dtype: DType): Form {
  switch (dtype) {
    case "float32":
    case "int32":
      return "word";
    case "bool":
      return "byte";
    case "int64":
      return "clamped";
    case "float64":
    case "float16":
    case "bfloat16":
    case "int16":
    case "int8":
    case "uint8":
      throw new InternalError(`Expected elements that have lanes but found ${dtype}`);
    default:
      return dtype satisfies never;
  }
}

/** Pushes an int64 element as an i32. */
function pushClamped(body: FunctionBody, address: () => void, offset = 0): void {
  const value = body.local("i64");
  address();
  body.memory("i64Load", offset).set(value);
  for (const [limit, beyond] of [[CLAMP, "i64LtS"], [-CLAMP, "i64GtS"]] as const) {
    body.get(value).i64(limit).get(value).i64(limit).op(beyond, "select").set(value);
  }
  body.get(value).op("i32WrapI64");
}

/** Bytes on the stack as masks. */
const pushMasks = (body: FunctionBody): void => void body.splatConstant(0).simd("i32Ne");

/** Pushes one element in all lanes, or in lane 0. */
export function pushElement(
  body: FunctionBody,
  dtype: DType,
  address: () => void,
  lanes: "all" | "first",
): void {
  switch (formOf(dtype)) {
    case "clamped":
      pushClamped(body, address);
      return void body.simd("i32Splat");
    case "byte":
      address();
      body.memory("i32Load8U").simd("i32Splat");
      return pushMasks(body);
    case "word":
      address();
      return void body.simdMemory(lanes === "all" ? "load32Splat" : "load32Zero");
  }
}

/** Four elements in memory: where the first lies, and how many elements further each next one. */
interface Lanes {
  readonly address: () => void;
  readonly step: number;
}

/**
 * An address that is computed once, and the bytes from it to the element of each lane: none is negative, as offsets
 * of instructions cannot be.
 */
function spread(
  body: FunctionBody,
  dtype: DType,
  { address, step }: Lanes,
): { readonly at: () => void; readonly offsets: readonly number[] } {
  const bytes = step * itemSize(dtype), lowest = Math.min(0, 3 * bytes), local = body.local("i32");
  address();
  if (lowest < 0) body.i32(lowest).op("i32Add");
  body.set(local);
  return {
    at: () => void body.get(local),
    offsets: [0, 1, 2, 3].map((lane) => lane * bytes - lowest),
  };
}

/** Pushes four elements. */
export function pushLanes(body: FunctionBody, dtype: DType, lanes: Lanes): void {
  const { address, step } = lanes, form = formOf(dtype);
  if (step === 0) return pushElement(body, dtype, address, "all");
  if (step === 1 && form === "word") {
    address();
    return void body.simdMemory("load");
  }
  if (step === 1 && form === "byte") {
    address();
    body.simdMemory("load32Zero").simd("i16ExtendLowU8", "i32ExtendLowU16");
    return pushMasks(body);
  }
  const { at, offsets } = spread(body, dtype, lanes);
  if (step === 2 && form === "word") {
    at();
    body.simdMemory("load");
    at();
    body.simdMemory("load", 16);
    return void body.shuffle([0, 8, 16, 24].flatMap((byte) => [byte, byte + 1, byte + 2, byte + 3]));
  }
  const gathered = body.local("v128");
  offsets.forEach((offset, lane) => {
    switch (form) {
      case "word":
        at();
        if (lane === 0) body.simdMemory("load32Zero", offset);
        else body.get(gathered).laneMemory("load32Lane", offset, lane);
        break;
      case "byte":
      case "clamped":
        if (lane > 0) body.get(gathered);
        if (form === "clamped") pushClamped(body, at, offset);
        else {
          at();
          body.memory("i32Load8U", offset);
        }
        if (lane === 0) body.simd("i32Splat");
        else body.lane("i32Replace", lane);
        break;
      default:
        form satisfies never;
    }
    body.set(gathered);
  });
  body.get(gathered);
  if (form === "byte") pushMasks(body);
}

/**
 * Whether `pushLanes` may run though only the first of its elements exists: what it reads beyond that lies within
 * the slack.
 */
export function mayLoadBeyond(dtype: DType, step: number): boolean {
  return step >= 0 && 4 * step * itemSize(dtype) <= LOAD_SLACK;
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
  switch (formOf(dtype)) {
    case "byte":
      return void body.get(value).lane("i32Extract", lane).i32(1).op("i32And").memory("i32Store8", offset);
    case "clamped":
      return void body.get(value).lane("i32Extract", lane).op("i64ExtendI32S").memory("i64Store", offset);
    case "word":
      return void body.get(value).laneMemory("store32Lane", offset, lane);
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

/** Stores four lanes, or the first of them (1 to 3), as many as the local `count` says. */
export function storeLanes(
  body: FunctionBody,
  dtype: DType,
  { value, count, ...lanes }: Lanes & { readonly value: number; readonly count?: number },
): void {
  const { address, step } = lanes, form = formOf(dtype);
  if (step === 1 && count === undefined && form !== "clamped") {
    address();
    body.get(value);
    if (form === "word") return void body.simdMemory("store");
    const bytes = [0, 4, 8, 12, ...new Array<number>(12).fill(0)];
    body.splatConstant(1).simd("and").get(value).shuffle(bytes).lane("i32Extract", 0).memory("i32Store");
    return;
  }
  const { at, offsets } = spread(body, dtype, lanes);
  offsets.forEach((offset, lane) => {
    const store = () => storeLane(body, dtype, { address: at, value, lane, offset });
    if (count === undefined) store();
    else if (lane < 3) body.get(count).i32(lane).op("i32GtS").when(store);
  });
}
