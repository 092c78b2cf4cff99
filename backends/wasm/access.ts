/**
 * Loads and stores of lanes: instructions that set or store the vectors of four elements, for an element type, a pushed
 * address and the distance between lanes. Invariant: a bool is a byte in memory and a mask in lanes; small integers are
 * int32 in lanes, small floats their bits. Only this file knows the width of an element in memory; others count
 * elements.
 */
import { type DType, itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { FunctionBody } from "./function_body.ts";
import type { Simd } from "./opcodes.ts";
import type { Parts } from "./lanes.ts";

/** Bytes beyond the last element of memory that a load may read. */
export const LOAD_SLACK = 64;

/** The form of elements of a type in memory. */
type Form = "word" | "long" | "truth" | SmallForm;
/** Loads of single elements into a wider integer, by instruction. */
type SmallForm = "i32Load8U" | "i32Load8S" | "i32Load16U" | "i32Load16S";

function formOf(dtype: DType): Form {
  switch (dtype) {
    case "float32":
    case "int32":
      return "word";
    case "float64":
    case "int64":
      return "long";
    case "uint8":
      return "i32Load8U";
    case "int8":
      return "i32Load8S";
    case "int16":
      return "i32Load16S";
    case "float16":
    case "bfloat16":
      return "i32Load16U";
    case "bool":
      return "truth";
    case "complex64":
    case "complex128":
      throw new InternalError(`Expected complex elements as pairs but found ${dtype}`);
    default:
      return dtype satisfies never;
  }
}

/** Bytes on the stack as masks. */
const pushMasks = (body: FunctionBody): void => void body.splatConstant(0).simd("i32Ne");

/** Instructions that widen the low elements of a vector to 32 bits. */
const WIDEN = {
  i32Load8U: ["i16ExtendLowU8", "i32ExtendLowU16"],
  i32Load8S: ["i16ExtendLowS8", "i32ExtendLowS16"],
  i32Load16U: ["i32ExtendLowU16"],
  i32Load16S: ["i32ExtendLowS16"],
} as const satisfies Record<SmallForm, readonly Simd[]>;

/** Pushes one element in all lanes, or in lane 0. */
export function pushElement(
  body: FunctionBody,
  dtype: DType,
  address: () => void,
  lanes: "all" | "first",
): void {
  const form = formOf(dtype);
  address();
  switch (form) {
    case "truth":
      body.memory("i32Load8U").simd("i32Splat");
      return pushMasks(body);
    case "word":
      return void body.simdMemory(lanes === "all" ? "load32Splat" : "load32Zero");
    case "long":
      return void body.simdMemory(lanes === "all" ? "load64Splat" : "load64Zero");
    default:
      return void body.memory(form).simd("i32Splat");
  }
}

/** Four elements in memory: where the first lies, and the distance between neighbours. */
interface Row {
  readonly address: () => void;
  readonly step: number;
}

/**
 * An address that is computed once, and the byte offset of each lane's element: offsets are not negative, as
 * instructions cannot encode that.
 */
function spread(
  body: FunctionBody,
  dtype: DType,
  { address, step }: Row,
): { readonly at: () => void; readonly offsets: readonly number[] } {
  const bytes = step * itemSize(dtype), lowest = Math.min(0, 3 * bytes), local = body.local("i32");
  address();
  if (lowest < 0) body.i32(lowest).op("i32Add");
  body.set(local);
  return { at: () => void body.get(local), offsets: [0, 1, 2, 3].map((lane) => lane * bytes - lowest) };
}

/** Loads one element into its lane of vectors. */
export function loadLane(
  body: FunctionBody,
  dtype: DType,
  { address, parts, lane, offset = 0 }: {
    readonly address: () => void;
    readonly parts: Parts;
    readonly lane: number;
    readonly offset?: number;
  },
): void {
  const form = formOf(dtype), part = parts[form === "long" ? lane >> 1 : 0] ?? -1;
  switch (form) {
    case "truth":
      // 0 or −1
      body.get(part);
      address();
      body.memory("i32Load8U", offset).op("i32Eqz").i32(1).op("i32Sub").lane("i32Replace", lane);
      break;
    case "word":
      address();
      body.get(part).laneMemory("load32Lane", offset, lane);
      break;
    case "long":
      address();
      body.get(part).laneMemory("load64Lane", offset, lane & 1);
      break;
    default:
      body.get(part);
      address();
      body.memory(form, offset).lane("i32Replace", lane);
  }
  body.set(part);
}

/** Loads four elements, into locals of their own. */
export function loadRow(body: FunctionBody, dtype: DType, row: Row): Parts {
  const { address, step } = row, form = formOf(dtype);
  const parts = Array.from({ length: form === "long" ? 2 : 1 }, () => body.local("v128"));
  const [low = -1, high = -1] = parts;
  if (step === 0) {
    pushElement(body, dtype, address, "all");
    body.set(low);
    return [low];
  }
  if (step === 1 && form !== "long") {
    address();
    if (form === "word") body.simdMemory("load");
    else {
      body.simdMemory(itemSize(dtype) === 1 ? "load32Zero" : "load64Zero");
      body.simd(...WIDEN[form === "truth" ? "i32Load8U" : form]);
      if (form === "truth") pushMasks(body);
    }
    body.set(low);
    return parts;
  }
  const { at, offsets } = spread(body, dtype, row);
  if (step === 1) {
    at();
    body.simdMemory("load").set(low);
    at();
    body.simdMemory("load", 16).set(high);
    return parts;
  }
  if (step === 2 && form === "word") {
    at();
    body.simdMemory("load");
    at();
    body.simdMemory("load", 16).words([0, 2, 4, 6]).set(low);
    return parts;
  }
  if (form !== "word" && form !== "long") body.splatConstant(0).set(low);
  offsets.forEach((offset, lane) => {
    const first = form === "word" ? lane === 0 : (lane & 1) === 0;
    if ((form === "word" || form === "long") && first) {
      at();
      body.simdMemory(form === "word" ? "load32Zero" : "load64Zero", offset).set(lane < 2 ? low : high);
    } else loadLane(body, dtype, { address: at, parts, lane, offset });
  });
  return parts;
}

/**
 * Returns whether `loadRow` may run if only the first of its elements exists: its reads beyond that stay within the
 * slack.
 */
export function mayLoadBeyond(dtype: DType, step: number): boolean {
  return step >= 0 && 4 * step * itemSize(dtype) <= LOAD_SLACK;
}

/** A lane of a value, and its destination. */
interface Lane {
  readonly address: () => void;
  readonly parts: Parts;
  readonly lane: number;
  readonly offset?: number;
}

/** The local that holds a lane, and the lane in it. */
const placeOf = (dtype: DType, { parts, lane }: Lane): readonly [local: number, lane: number] =>
  formOf(dtype) === "long" ? [parts[lane >> 1] ?? parts[0] ?? -1, lane & 1] : [parts[0] ?? -1, lane];

const narrowStore = (dtype: DType): "i32Store8" | "i32Store16" =>
  itemSize(dtype) === 1 ? "i32Store8" : "i32Store16";

/** Stores one lane. */
export function storeLane(body: FunctionBody, dtype: DType, at: Lane): void {
  const form = formOf(dtype), { address, offset = 0 } = at, [local, lane] = placeOf(dtype, at);
  address();
  body.get(local);
  switch (form) {
    case "truth":
      return void body.lane("i32Extract", lane).i32(1).op("i32And").memory("i32Store8", offset);
    case "word":
      return void body.laneMemory("store32Lane", offset, lane);
    case "long":
      return void body.laneMemory("store64Lane", offset, lane);
    default:
      return void body.lane("i32Extract", lane).memory(narrowStore(dtype), offset);
  }
}

const SCALAR_TYPES = { float32: "f32", float64: "f64", int64: "i64", int32: "i32" } as const;

/** Accumulates one lane into an element; bools are combined by or. */
export function addLane(body: FunctionBody, dtype: DType, at: Lane): void {
  const to = body.local("i32"), [local, lane] = placeOf(dtype, at);
  at.address();
  body.tee(to).get(to);
  switch (dtype) {
    case "float32":
    case "float64":
    case "int64":
    case "int32": {
      const t = SCALAR_TYPES[dtype];
      body.memory(`${t}Load`).get(local).lane(`${t}Extract`, lane).op(`${t}Add`).memory(`${t}Store`);
      return;
    }
    case "bool":
      body.memory("i32Load8U").get(local).lane("i32Extract", lane).i32(1).op("i32And", "i32Or");
      return void body.memory("i32Store8");
    case "float16":
    case "bfloat16":
    case "int16":
    case "int8":
    case "uint8":
    case "complex64":
    case "complex128":
      throw new InternalError(`Expected a type of values for a sum in place but found ${dtype}`);
    default:
      return dtype satisfies never;
  }
}

/** Stores four lanes, or the first `count` of them if that local holds less than four: at least one. */
export function storeRow(
  body: FunctionBody,
  dtype: DType,
  { parts, count, ...row }: Row & { readonly parts: Parts; readonly count?: number },
): void {
  if (count === undefined) return storeAll(body, dtype, { parts, ...row });
  body.get(count).i32(4).op("i32GeS").when(() => storeAll(body, dtype, { parts, ...row }), () => {
    const { at, offsets } = spread(body, dtype, row);
    offsets.slice(0, 3).forEach((offset, lane) => {
      const store = () => storeLane(body, dtype, { address: at, parts, lane, offset });
      if (lane === 0) store();
      else body.get(count).i32(lane).op("i32GtS").when(store);
    });
  });
}

function storeAll(
  body: FunctionBody,
  dtype: DType,
  { parts, ...row }: Row & { readonly parts: Parts },
): void {
  const { address, step } = row, form = formOf(dtype);
  if (step === 1 && form !== "long") {
    address();
    if (form === "truth") body.splatConstant(1);
    body.get(parts[0] ?? -1);
    if (form === "word") return void body.simdMemory("store");
    if (form === "truth") body.simd("and");
    const packed = body.local("v128"), size = itemSize(dtype);
    const bytes = Array.from({ length: 16 }, (_, byte) => 4 * (Math.floor(byte / size) % 4) + byte % size);
    body.tee(packed).get(packed).shuffle(bytes);
    return void (size === 1
      ? body.lane("i32Extract", 0).memory("i32Store")
      : body.lane("i64Extract", 0).memory("i64Store"));
  }
  const { at, offsets } = spread(body, dtype, row);
  if (step === 1) {
    for (const part of [0, 1]) {
      at();
      body.get(parts[part] ?? parts[0] ?? -1).simdMemory("store", 16 * part);
    }
    return;
  }
  offsets.forEach((offset, lane) => storeLane(body, dtype, { address: at, parts, lane, offset }));
}
