/**
 * Selections among equal elements, NaN and zeros of both signs: values and places of sorts, medians, modes, extremes,
 * running extremes and pools follow one rule each, written again here over lists of numbers. Uncompiled and on both
 * tiers, along each dimension, for types drawn by a seed (DYN_TEST_SEED) or all of them (DYN_TEST_ALL=1).
 */
import { assertEquals } from "@std/assert";
import { compile, type DType, nn, type Tensor, tensor } from "../mod.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";

type Row = readonly number[];
/** Elements of a row at these places. */
type Places = readonly number[];

/** Orders as sorts do: NaN is the greatest, and zeros are equal. */
const compare = (a: number, b: number): number =>
  Number.isNaN(a) || Number.isNaN(b) ? Number(Number.isNaN(a)) - Number(Number.isNaN(b)) : a - b;

function ascending(row: Row): Places {
  return [...row.keys()].sort((i, j) => compare(row[i]!, row[j]!) || i - j);
}

function descending(row: Row): Places {
  return [...row.keys()].sort((i, j) => compare(row[j]!, row[i]!) || i - j);
}

/** The first of the elements that none precedes. */
function first(row: Row, precedes: (a: number, b: number) => boolean): number {
  let found = 0;
  for (const [i, value] of row.entries()) if (precedes(value, row[found]!)) found = i;
  return found;
}

const isNaNBefore = (a: number, b: number) => Number.isNaN(a) && !Number.isNaN(b);
const isGreater = (a: number, b: number) => isNaNBefore(a, b) || a > b;
const isLess = (a: number, b: number) => isNaNBefore(a, b) || a < b;

/** Places of running extremes: the last of equal ones. */
function running(row: Row, precedes: (a: number, b: number) => boolean): Places {
  return row.map((_, at) => {
    const seen = row.slice(0, at + 1);
    return at - first([...seen].reverse(), precedes);
  });
}

/** The lower middle of the elements; the first NaN if there is one. */
function median(row: Row): number {
  const nan = row.findIndex(Number.isNaN);
  return nan >= 0 ? nan : ascending(row)[Math.floor((row.length - 1) / 2)]!;
}

/** The lower middle of the numbers; the first NaN if there is no number. */
function nanmedian(row: Row): number {
  const numbers = ascending(row).filter((i) => !Number.isNaN(row[i]));
  return numbers[Math.floor((numbers.length - 1) / 2)] ?? 0;
}

/** The last place of the least of the most frequent elements; no NaN equals another. */
function mode(row: Row): number {
  const count = (value: number) => row.filter((other) => other === value).length;
  const most = Math.max(...row.map(count)), least = ascending(row).find((i) => count(row[i]!) === most) ?? 0;
  return Math.max(row.findLastIndex((value) => value === row[least]), 0);
}

/** Places in windows of two, one apart, each with its first greatest element. */
const pooled = (row: Row): Places => row.slice(1).map((_, i) => i + first(row.slice(i, i + 2), isGreater));

interface Selection {
  readonly run: (x: Tensor, dim: number) => readonly [values: Tensor, indices: Tensor];
  readonly places: (row: Row) => Places;
}

const K = 3;

const SELECTIONS: Readonly<Record<string, Selection>> = {
  sort: { run: (x, dim) => x.sort(dim), places: ascending },
  "descending sort": { run: (x, dim) => x.sort(dim, true), places: descending },
  argsort: {
    run(x, dim) {
      const places = x.argsort(dim);
      return [x.gather(dim, places), places];
    },
    places: ascending,
  },
  topk: { run: (x, dim) => x.topk(K, dim), places: (row) => descending(row).slice(0, K) },
  "least topk": {
    run: (x, dim) => x.topk(K, dim, { largest: false }),
    places: (row) => ascending(row).slice(0, K),
  },
  kthvalue: { run: (x, dim) => x.kthvalue(K, dim, true), places: (row) => ascending(row).slice(K - 1, K) },
  median: { run: (x, dim) => x.median(dim, true), places: (row) => [median(row)] },
  nanmedian: { run: (x, dim) => x.nanmedian(dim, true), places: (row) => [nanmedian(row)] },
  mode: { run: (x, dim) => x.mode(dim, true), places: (row) => [mode(row)] },
  max: { run: (x, dim) => x.max(dim, true), places: (row) => [first(row, isGreater)] },
  min: { run: (x, dim) => x.min(dim, true), places: (row) => [first(row, isLess)] },
  cummax: { run: (x, dim) => x.cummax(dim), places: (row) => running(row, isGreater) },
  cummin: { run: (x, dim) => x.cummin(dim), places: (row) => running(row, isLess) },
  maxPool1d: {
    run(x, dim) {
      const rows = x.movedim(dim, -1), pool = new nn.MaxPool1d<true>(2, 1, { returnIndices: true });
      const [values, indices] = pool.call(rows);
      return [values.movedim(-1, dim), indices.movedim(-1, dim)];
    },
    places: pooled,
  },
};

/** A type's elements, few enough that most are equal to others. */
function elements(dtype: DType): Row {
  if (dtype === "uint8") return [0, 1, 2, 255];
  return isFloating(dtype) ? [0, -0, 1, -1, 2, NaN, Infinity] : [0, 1, -1, 2, -128];
}

const isFloating = (dtype: DType): boolean => dtype.includes("float");

/** Sizes with rows shorter and longer than vectors, in both dimensions. */
const SHAPES = [[3, 4], [9, 41], [70, 5]] as const;

function drawn(dtype: DType, [rows, columns]: readonly [number, number], salt: number): number[][] {
  const random = randomNumbers(testSeed() + salt), from = elements(dtype);
  // Some rows have no NaN, some few other elements
  return Array.from({ length: rows }, (_, r) => {
    const some = from.slice(r % 3, r % 5 === 0 ? undefined : 5);
    return Array.from({ length: columns }, () => some[Math.floor(random() * some.length)] ?? 0);
  });
}

const DIMS = [0, 1] as const;

/** Selections by name, of which a run compiles some as C++. */
type Selections = Readonly<Record<string, Selection>>;

/** Selections along both dimensions, in one graph. */
const program = (selections: Selections) => (x: Tensor): readonly Tensor[] =>
  Object.values(selections).flatMap(({ run }) => DIMS.flatMap((dim) => [...run(x, dim)]));

/** The columns of a list of rows. */
const turned = (rows: readonly Row[]): readonly Row[] =>
  rows[0]?.map((_, c) => rows.map((row) => row[c]!)) ?? [];

/** The values and places that the rules select. */
function expected(selections: Selections, rows: readonly Row[]): readonly (readonly Row[])[] {
  return Object.values(selections).flatMap(({ places }) =>
    DIMS.flatMap((dim) => {
      const along = dim === 1 ? rows : turned(rows), found = along.map(places);
      const values = found.map((each, r) => each.map((at) => along[r]![at]!));
      return dim === 1 ? [values, found] : [turned(values), turned(found)];
    })
  );
}

/** The program of some selections, compiled or not. */
interface Checked {
  readonly selections: Selections;
  readonly run: (x: Tensor) => readonly Tensor[];
}

function check(dtype: DType, { selections, run }: Checked): void {
  const names = Object.keys(selections).flatMap((name) =>
    DIMS.flatMap((dim) => [`values of ${name} along ${dim}`, `places of ${name} along ${dim}`])
  );
  for (const [salt, shape] of SHAPES.entries()) {
    const rows = drawn(dtype, shape, salt),
      plain = tensor(rows, { dtype }),
      wanted = expected(selections, rows);
    for (const x of [plain, plain.t().contiguous().t()]) {
      for (const [k, found] of run(x).entries()) {
        assertEquals<unknown>(found.tolist(), wanted[k], `${names[k]}, ${dtype}: ${JSON.stringify(rows)}`);
      }
    }
  }
}

const TYPES: readonly DType[] = ["float32", "float64", "float16", "int64", "int32", "int16", "uint8"];

for (const dtype of sampleBySeed(TYPES, 2)) {
  Deno.test(`selections among equal elements of ${dtype}`, () =>
    check(dtype, { selections: SELECTIONS, run: program(SELECTIONS) }));
}

for (const tier of ["wasm", "wait"] as const) {
  const some = tier === "wasm" ? SELECTIONS : Object.fromEntries(sampleBySeed(Object.entries(SELECTIONS), 3));
  for (const dtype of sampleBySeed(TYPES, 1, tier.length)) {
    Deno.test(`selections among equal elements of ${dtype}, inductor.tier ${tier}`, () =>
      check(dtype, { selections: some, run: compile(program(some), { options: { tier } }) }));
  }
}
