/**
 * Sorting rows, as WebAssembly functions. Every element becomes a key of 64 bits whose order as an integer is that of
 * the elements, and is merged with its place in the row. Input: a description of the rows in memory; output: sorted
 * values and their places. Invariants: equal elements stay in their order, NaN is the greatest, −0 equals 0; a row is
 * read as a whole before anything of it is written.
 */
import { itemSize, type ValueType } from "../../lib/base/dtype.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import type { FunctionBody } from "./function_body.ts";
import { isBelow, isLess, type Long, long, longRef } from "./long_terms.ts";
import {
  add,
  assign,
  call,
  div,
  each,
  int,
  keep,
  less,
  min,
  mul,
  ref,
  rem,
  shl,
  sub,
  type Term,
  when,
  withParams,
  word,
} from "./terms.ts";
import { JOB_PARAMS } from "./threads.ts";

/** The words of a description: of a row, then four words for each dimension of rows, the outermost first. */
export const SORT_FIELDS = [
  "length",
  "descending",
  "input",
  "values",
  "indices",
  /** Bytes from element to element. */
  "inputStep",
  "valuesStep",
  "indicesStep",
  "dimensions",
] as const;
type SortField = (typeof SORT_FIELDS)[number];
/** The words of a dimension: how many rows, and the bytes from one to the next in each operand. */
export const DIMENSION_WORDS = 4;

/** The types of elements that are sorted. */
const TYPES = ["float32", "float64", "int64", "int32", "bool"] as const satisfies readonly ValueType[];

/** Bytes of a key with its place, and of an element as it was. */
const RECORD = 16, RAW = 8;

/** Bytes of scratch memory that a row takes. */
export const sortBytes = (length: number): number => length * (2 * RECORD + RAW);

/** The module of sorting: one job for each element type, by its name. */
export function sortModule(memory: MemoryKind): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory);
  const merge = module.add(mergeFunction());
  const merged = module.add(mergeSortFunction(merge));
  for (const dtype of TYPES) {
    const parts = { keys: module.add(keysFunction(dtype)), merged, write: module.add(writeFunction(dtype)) };
    module.export(module.add(sortFunction(parts)), dtype);
  }
  return module.finish();
}

/** (record of the left run, its end, end of the right run behind it, to): both in order. */
function mergeFunction(): FunctionBody {
  const { body, at } = withParams(["left", "middle", "end", "to"]);
  const left = keep(body, at("left")), right = keep(body, at("middle")), to = keep(body, at("to"));
  const count = keep(body, div(sub(at("end"), at("left")), int(RECORD))), from = body.local("i32");
  const key = (record: number): Long => () => void body.get(record).memory("i64Load");
  body.times(count, () => {
    // The left one where it is there and not greater, or the right one is not there
    isLess(key(right), key(left))(body);
    body.op("i32Eqz");
    less(ref(right), at("end"))(body);
    body.op("i32Eqz", "i32Or");
    less(ref(left), at("middle"))(body);
    body.op("i32And").when(() => {
      assign(body, from, ref(left));
      assign(body, left, add(ref(left), int(RECORD)));
    }, () => {
      assign(body, from, ref(right));
      assign(body, right, add(ref(right), int(RECORD)));
    });
    body.get(to).get(from).simdMemory("load").simdMemory("store");
    assign(body, to, add(ref(to), int(RECORD)));
  });
  return body;
}

/** (records, as much room for others, length): sorts; gives the address of the sorted records. */
function mergeSortFunction(merge: number): FunctionBody {
  const { body, at, local } = withParams(["records", "others", "length"], ["i32"]);
  const width = keep(body, int(1)), spare = body.local("i32"), passes = body.local("i32");
  body.i32(32);
  sub(at("length"), int(1))(body);
  body.op("i32Clz", "i32Sub").set(passes);
  // One element is sorted
  when(body, less(at("length"), int(2)), () => assign(body, passes, int(0)));
  body.times(passes, () => {
    const step = keep(body, shl(ref(width), 1));
    const runs = div(add(at("length"), sub(ref(step), int(1))), ref(step));
    each(body, { to: runs }, (run) => {
      const start = keep(body, mul(run, ref(step)));
      const record = (index: Term) => add(at("records"), mul(min(index, at("length")), int(RECORD)));
      call(body, merge, [
        record(ref(start)),
        record(add(ref(start), ref(width))),
        record(add(ref(start), ref(step))),
        add(at("others"), mul(ref(start), int(RECORD))),
      ]);
    });
    assign(body, spare, at("records"));
    assign(body, local("records"), at("others"));
    assign(body, local("others"), ref(spare));
    assign(body, width, ref(step));
  });
  body.get(local("records"));
  return body;
}

/** Pushes an element's bits as an i64. */
function pushRaw(body: FunctionBody, dtype: ValueType, address: Term): void {
  address(body);
  switch (dtype) {
    case "float64":
    case "int64":
      return void body.memory("i64Load");
    case "float32":
      return void body.memory("i32Load").op("i64ExtendI32U");
    case "int32":
      return void body.memory("i32Load").op("i64ExtendI32S");
    case "bool":
      return void body.memory("i32Load8U").op("i64ExtendI32U");
    default:
      return dtype satisfies never;
  }
}

/** Where the sign of a float is, and the bits of infinity. */
const FLOATS = {
  float64: { sign: 63, infinity: 0x7ffn << 52n },
  float32: { sign: 31, infinity: 0xffn << 23n },
} as const;

/** Turns the bits of a float in a local into its key. */
function orderFloat(body: FunctionBody, dtype: keyof typeof FLOATS, bits: number): void {
  const { sign, infinity } = FLOATS[dtype], magnitude = body.local("i64");
  body.get(bits).i64((1n << BigInt(sign)) - 1n).op("i64And").set(magnitude);
  // Negative ones count down; both zeros have magnitude 0
  body.i64(0).get(magnitude).op("i64Sub").get(magnitude).get(bits).i64(sign).op("i64ShrU", "i32WrapI64");
  body.op("select").set(bits);
  isBelow(long(infinity), longRef(magnitude))(body);
  body.when(() => {
    body.i64(2n ** 63n - 1n).set(bits);
  });
}

/** (from, step, length, records, raw, flip): the keys of a row, xor −1 where they are flipped. */
function keysFunction(dtype: ValueType): FunctionBody {
  const { body, at } = withParams(["from", "step", "length", "records", "raw", "descending"]);
  const bits = body.local("i64"), flip = body.local("i64");
  sub(int(0), at("descending"))(body);
  body.op("i64ExtendI32S").set(flip);
  each(body, { to: at("length") }, (index) => {
    const record = keep(body, add(at("records"), mul(index, int(RECORD))));
    pushRaw(body, dtype, add(at("from"), mul(index, at("step"))));
    body.set(bits);
    add(at("raw"), mul(index, int(RAW)))(body);
    body.get(bits).memory("i64Store");
    if (dtype === "float32" || dtype === "float64") orderFloat(body, dtype, bits);
    body.get(record).get(bits).get(flip).op("i64Xor").memory("i64Store");
    body.get(record);
    index(body);
    body.memory("i32Store", 8);
  });
  return body;
}

/** (records, raw, length, values, valuesStep, indices, indicesStep): the results of a row. */
function writeFunction(dtype: ValueType): FunctionBody {
  const { body, at } = withParams([
    "records",
    "raw",
    "length",
    "values",
    "valuesStep",
    "indices",
    "indicesStep",
  ]);
  each(body, { to: at("length") }, (index) => {
    const place = keep(body, word(add(at("records"), mul(index, int(RECORD))), 8));
    const to = keep(body, add(at("values"), mul(index, at("valuesStep"))));
    body.get(to);
    add(at("raw"), mul(ref(place), int(RAW)))(body);
    const bytes = itemSize(dtype);
    if (bytes === 8) body.memory("i64Load").memory("i64Store");
    else body.memory("i32Load").memory(bytes === 4 ? "i32Store" : "i32Store8");
    add(at("indices"), mul(index, at("indicesStep")))(body);
    body.get(place).op("i64ExtendI32U").memory("i64Store");
  });
  return body;
}

interface Parts {
  readonly keys: number;
  readonly merged: number;
  readonly write: number;
}

/** Units are rows. */
function sortFunction({ keys, merged, write }: Parts): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const known = new Map(
    SORT_FIELDS.map((name, i) => [name, ref(keep(body, word(at("description"), 4 * i)))] as const),
  );
  const of = (name: SortField): Term => known.get(name) ?? int(0);
  const others = keep(body, add(at("scratch"), mul(of("length"), int(RECORD))));
  const raw = keep(body, add(ref(others), mul(of("length"), int(RECORD))));
  each(body, { from: at("from"), to: at("to") }, (unit) => {
    const rest = keep(body, unit);
    const rows = (["input", "values", "indices"] as const).map((name) => keep(body, of(name)));
    each(body, { to: of("dimensions") }, (d) => {
      // The innermost first
      const at4 = keep(
        body,
        add(
          at("description"),
          int(4 * SORT_FIELDS.length),
          mul(sub(sub(of("dimensions"), int(1)), d), int(4 * DIMENSION_WORDS)),
        ),
      );
      const size = word(ref(at4)), position = keep(body, rem(ref(rest), size));
      rows.forEach((row, n) =>
        assign(body, row, add(ref(row), mul(ref(position), word(ref(at4), 4 + 4 * n))))
      );
      assign(body, rest, div(ref(rest), size));
    });
    const [input, values, indices] = rows.map(ref);
    if (!input || !values || !indices) throw new RangeError("Expected three operands");
    call(body, keys, [input, of("inputStep"), of("length"), at("scratch"), ref(raw), of("descending")]);
    const sorted = body.local("i32");
    call(body, merged, [at("scratch"), ref(others), of("length")]);
    body.set(sorted);
    call(body, write, [
      ref(sorted),
      ref(raw),
      of("length"),
      values,
      of("valuesStep"),
      indices,
      of("indicesStep"),
    ]);
  });
  return body;
}
