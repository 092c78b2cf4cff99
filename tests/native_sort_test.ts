/**
 * Sorting, and selecting the first elements of the order, in native code and as WebAssembly: rows of every length class
 * and element type against a stable sort by comparison, with NaN as the greatest value and zeros of both signs equal.
 */
import { assertEquals } from "@std/assert";
import {
  arange,
  compile,
  type DType,
  manualSeed,
  randint,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { sampleBySeed } from "./support/sampling.ts";

const DTYPES: readonly DType[] = ["float32", "float64", "int32", "int64", "bool"];

/** Short rows, rows that are merged, rows that go digit by digit. */
const LENGTHS = [1, 7, 16, 100, 255, 256, 5000, 20000];

function numbers(rows: number, length: number, dtype: DType): Tensor {
  if (dtype === "bool") return randint(0, 2, [rows, length]).to("bool");
  if (dtype === "int32") return randint(-(2 ** 31), 2 ** 31 - 1, [rows, length]).to("int32");
  if (dtype === "int64") return randint(-50, 50, [rows, length]).mul(length > 500 ? 2 ** 40 : 1);
  const x = randn([rows, length], { dtype }).mul(3).round();
  const special = tensor([NaN, -0, 0, Infinity, -Infinity], { dtype });
  return x.where(randint(0, 4, [rows, length]).gt(0), special.at(randint(0, 5, [rows, length])));
}

/** Returns the positions of a stable sort by comparison. */
function positions(row: readonly (number | bigint)[], descending: boolean): number[] {
  const rank = (a: number | bigint, b: number | bigint): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const order = row.map((_, i) => i);
  return order.sort((i, j) => rank(row[i] ?? 0, row[j] ?? 0) * (descending ? -1 : 1));
}

const elements = (x: Tensor): (number | bigint)[] => [...x.toTypedArray()];

/** Types whose C++ a run makes: each is several libraries. */
const COMPILED = sampleBySeed(DTYPES, 2);

for (const dtype of COMPILED) {
  Deno.test({
    name: `rows of ${dtype} are sorted stably, both ways, whatever their length`,
    ignore: SKIP_NATIVE,
    fn: () => {
      manualSeed(7);
      for (const descending of [false, true]) {
        const sorted = compile((x: Tensor) => x.sort(-1, descending), { options: { tier: "wait" } });
        for (const length of LENGTHS) {
          const x = numbers(6, length, dtype);
          const [values, indices] = sorted(x);
          for (let r = 0; r < (length > 5000 ? 1 : 6); r++) {
            const row = elements(x.select(0, r));
            const wanted = positions(row, descending);
            assertEquals(
              Array.from(indices.select(0, r).toTypedArray(), Number),
              wanted,
              `${dtype} ${length}`,
            );
            assertEquals(elements(values.select(0, r)), wanted.map((i) => row[i] ?? 0));
          }
        }
      }
    },
  });
}

/** Numbers of requested elements for rows of a length. */
const COUNTS: readonly (readonly [length: number, counts: readonly number[]])[] = [
  [1, [1]],
  [40, [1, 3, 40]],
  [1000, [1, 10, 200, 300, 999, 1000]],
  [20000, [5, 1000, 6000]],
];

for (const tier of ["wait", "wasm"] as const) {
  for (const dtype of tier === "wait" ? COMPILED : DTYPES) {
    Deno.test({
      name: `the first of the order of ${dtype} are those of the whole order, inductor.tier ${tier}`,
      ignore: SKIP_NATIVE && tier === "wait",
      fn: () => {
        manualSeed(8);
        for (const largest of [false, true]) {
          const dense = compile((x: Tensor, count: number) => x.topk(count, 1, largest), {
            options: { tier },
          });
          const strided = compile((x: Tensor, count: number) => x.t().topk(count, 0, largest), {
            options: { tier },
          });
          for (const [length, counts] of COUNTS) {
            const x = numbers(5, length, dtype);
            for (const count of counts) {
              const [values, indices] = dense(x, count), [others, places] = strided(x, count);
              assertEquals(others.t().tolist(), values.tolist());
              assertEquals(places.t().tolist(), indices.tolist());
              for (let r = 0; r < (length > 5000 ? 1 : 5); r++) {
                const row = elements(x.select(0, r)), wanted = positions(row, largest).slice(0, count);
                const found = Array.from(indices.select(0, r).toTypedArray(), Number);
                assertEquals(found, wanted, `${dtype} ${count} of ${length}`);
                assertEquals(elements(values.select(0, r)), wanted.map((i) => row[i] ?? 0));
              }
            }
          }
        }
      },
    });
  }
}

Deno.test("entries that come last in the requested order are found, too", () => {
  for (const direction of [1, -1]) {
    const x = arange(4000).mul(direction).to("float32"), largest = direction > 0;
    assertEquals(x.topk(5, -1, largest)[1]?.tolist(), [3999, 3998, 3997, 3996, 3995]);
    assertEquals(zeros([4000]).topk(5, -1, largest)[1]?.tolist(), [0, 1, 2, 3, 4]);
  }
});
