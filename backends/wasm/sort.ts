/**
 * Sorting rows or the first elements of their order, as WebAssembly functions. Every element is mapped to a key of 64
 * bits whose integer order is that of the elements, and sorted by merging together with its position in the row. Rows
 * are described in memory; results are sorted values and their places. Invariants: equal elements stay in their order,
 * NaN is the greatest, −0 equals 0; a row is not sorted in place.
 */
import { itemSize, type ValueType } from "../../lib/base/dtype.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import type { FunctionBody } from "./function_body.ts";
import {
  add,
  assign,
  atLeast,
  call,
  choose,
  div,
  each,
  int,
  isBelow,
  isLess,
  keep,
  less,
  type Long,
  long,
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
import { JOB_PARAMS } from "./pool.ts";

/** The words of a description: of a row, then four words for each dimension of rows, the outermost first. */
export const SORT_FIELDS = [
  "length",
  /** Number of elements of the order to return. */
  "count",
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
/** The words of a dimension: number of rows, and the distance in bytes between them in each operand. */
export const DIMENSION_WORDS = 4;

/** Bytes of a key with its position. */
const RECORD = 16;

/** Number of records beyond which all but the first of the order are dropped; much longer rows are not sorted whole. */
const roomFor = (count: number): number => 2 * count + 16, MUCH = 8;

/** Bytes of scratch memory for a row. */
export const sortBytes = (length: number, count: number): number =>
  2 * RECORD * (MUCH * roomFor(count) < length ? roomFor(count) : length);

/** The module of sorting elements of a type: one job, by the name of the type. */
export function sortModule(memory: MemoryKind, dtype: ValueType): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory);
  const merge = module.add(mergeFunction());
  const merged = module.add(mergeSortFunction(merge));
  const key = module.add(keyFunction(dtype));
  const parts = {
    keys: module.add(keysFunction(key)),
    select: module.add(selectFunction(key, merged)),
    merged,
    write: module.add(writeFunction(dtype)),
  };
  module.export(module.add(sortFunction(parts)), dtype);
  return module.finish();
}

/** (record of the left run, its end, end of the right run after it, to): merges two sorted runs. */
function mergeFunction(): FunctionBody {
  const { body, at } = withParams(["left", "middle", "end", "to"]);
  const left = keep(body, at("left")), right = keep(body, at("middle")), to = keep(body, at("to"));
  const count = keep(body, div(sub(at("end"), at("left")), int(RECORD))), from = body.local("i32");
  const key = (record: number): Long => () => void body.get(record).memory("i64Load");
  body.times(count, () => {
    // Takes the left record if it exists and is not greater, or if there is no right one
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

/** (records, scratch space of equal size, length): sorts; returns the address of the sorted records. */
function mergeSortFunction(merge: number): FunctionBody {
  const { body, at, local } = withParams(["records", "others", "length"], ["i32"]);
  const width = keep(body, int(1)), spare = body.local("i32"), passes = body.local("i32");
  body.i32(32);
  sub(at("length"), int(1))(body);
  body.op("i32Clz", "i32Sub").set(passes);
  // A single element is sorted
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

/** Position of a float's sign bit, and the bits of infinity. */
const FLOATS = {
  float64: { sign: 63, infinity: 0x7ffn << 52n },
  float32: { sign: 31, infinity: 0xffn << 23n },
} as const;

/** Maps the bits of a float in a local to its key. */
function orderFloat(body: FunctionBody, dtype: keyof typeof FLOATS, bits: number): void {
  const { sign, infinity } = FLOATS[dtype], magnitude = body.local("i64");
  body.get(bits).i64((1n << BigInt(sign)) - 1n).op("i64And").set(magnitude);
  // Negative ones are complemented; both zeros have magnitude 0
  body.i64(0).get(magnitude).op("i64Sub").get(magnitude).get(bits).i64(sign).op("i64ShrU", "i32WrapI64");
  body.op("select").set(bits);
  isBelow(long(infinity), ref(magnitude))(body);
  body.when(() => {
    body.i64(2n ** 63n - 1n).set(bits);
  });
}

/** (address, descending): the key of an element, xor −1 if the order is reversed. */
function keyFunction(dtype: ValueType): FunctionBody {
  const { body, at } = withParams(["address", "descending"], ["i64"]);
  const bits = body.local("i64");
  pushRaw(body, dtype, at("address"));
  body.set(bits);
  if (dtype === "float32" || dtype === "float64") orderFloat(body, dtype, bits);
  body.get(bits);
  sub(int(0), at("descending"))(body);
  body.op("i64ExtendI32S", "i64Xor");
  return body;
}

/** (from, step, length, records, descending): the records of a row. */
function keysFunction(key: number): FunctionBody {
  const { body, at } = withParams(["from", "step", "length", "records", "descending"]);
  each(body, { to: at("length") }, (index) => {
    const record = keep(body, add(at("records"), mul(index, int(RECORD))));
    body.get(record);
    call(body, key, [add(at("from"), mul(index, at("step"))), at("descending")]);
    body.memory("i64Store").get(record);
    index(body);
    body.memory("i32Store", 8);
  });
  return body;
}

/**
 * (from, step, length, records, scratch space of equal size, descending, count): the first records of a row's order;
 * returns their address. Sorts the records found so far whenever the space is full: records not below the last of the
 * first `count` are dropped, since those that equal it come earlier.
 */
function selectFunction(key: number, merged: number): FunctionBody {
  const { body, at, local } = withParams(
    ["from", "step", "length", "records", "others", "descending", "count"],
    ["i32"],
  );
  const found = keep(body, int(0)), enough = keep(body, int(0)), sorted = body.local("i32");
  const room = keep(body, add(mul(at("count"), int(2)), int(roomFor(0))));
  const own = body.local("i64"), limit = body.local("i64");
  const sort = () => {
    call(body, merged, [at("records"), at("others"), ref(found)]);
    body.set(sorted);
  };
  each(body, { to: at("length") }, (index) => {
    call(body, key, [add(at("from"), mul(index, at("step"))), at("descending")]);
    body.set(own);
    isLess(ref(own), ref(limit))(body);
    body.get(enough).op("i32Eqz", "i32Or").when(() => {
      const record = keep(body, add(at("records"), mul(ref(found), int(RECORD))));
      body.get(record).get(own).memory("i64Store").get(record);
      index(body);
      body.memory("i32Store", 8);
      assign(body, found, add(ref(found), int(1)));
      when(body, atLeast(ref(found), ref(room)), () => {
        sort();
        body.get(sorted);
        at("records")(body);
        body.op("i32Ne").when(() => {
          assign(body, local("others"), at("records"));
          assign(body, local("records"), ref(sorted));
        });
        assign(body, found, at("count"));
        add(at("records"), mul(sub(ref(found), int(1)), int(RECORD)))(body);
        body.memory("i64Load").set(limit);
        assign(body, enough, int(1));
      });
    });
  });
  sort();
  body.get(sorted);
  return body;
}

/** (records, from, step, count, values, valuesStep, indices, indicesStep): the results of a row. */
function writeFunction(dtype: ValueType): FunctionBody {
  const { body, at } = withParams([
    "records",
    "from",
    "step",
    "count",
    "values",
    "valuesStep",
    "indices",
    "indicesStep",
  ]);
  each(body, { to: at("count") }, (index) => {
    const place = keep(body, word(add(at("records"), mul(index, int(RECORD))), 8));
    const to = keep(body, add(at("values"), mul(index, at("valuesStep"))));
    body.get(to);
    add(at("from"), mul(ref(place), at("step")))(body);
    const bytes = itemSize(dtype);
    if (bytes === 8) body.memory("i64Load").memory("i64Store");
    else if (bytes === 4) body.memory("i32Load").memory("i32Store");
    else body.memory("i32Load8U").memory("i32Store8");
    add(at("indices"), mul(index, at("indicesStep")))(body);
    body.get(place).op("i64ExtendI32U").memory("i64Store");
  });
  return body;
}

interface Parts {
  readonly keys: number;
  readonly select: number;
  readonly merged: number;
  readonly write: number;
}

/** Units are rows. */
function sortFunction({ keys, select, merged, write }: Parts): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const known = new Map(
    SORT_FIELDS.map((name, i) => [name, ref(keep(body, word(at("description"), 4 * i)))] as const),
  );
  const of = (name: SortField): Term => known.get(name) ?? int(0);
  const room = keep(body, add(mul(of("count"), int(2)), int(roomFor(0))));
  const selects = keep(body, less(mul(ref(room), int(MUCH)), of("length")));
  const most = keep(body, choose(ref(selects), ref(room), of("length")));
  const others = keep(body, add(at("scratch"), mul(ref(most), int(RECORD))));
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
    const sorted = body.local("i32"), given = [input, of("inputStep"), of("length"), at("scratch")];
    when(body, ref(selects), () => {
      call(body, select, [...given, ref(others), of("descending"), of("count")]);
      body.set(sorted);
    }, () => {
      call(body, keys, [...given, of("descending")]);
      call(body, merged, [at("scratch"), ref(others), of("length")]);
      body.set(sorted);
    });
    call(body, write, [
      ref(sorted),
      input,
      of("inputStep"),
      of("count"),
      values,
      of("valuesStep"),
      indices,
      of("indicesStep"),
    ]);
  });
  return body;
}
