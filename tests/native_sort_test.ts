/**
 * Sorting in native code: rows of every length class and element type against a stable sort by comparison, with NaN
 * as the greatest value and zeros of both signs equal.
 */
import { assertEquals } from "@std/assert";
import { compile, type DType, manualSeed, randint, randn, type Tensor, tensor } from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";

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

/** What a stable sort by comparison gives: positions. */
function positions(row: readonly (number | bigint)[], descending: boolean): number[] {
  const rank = (a: number | bigint, b: number | bigint): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const order = row.map((_, i) => i);
  return order.sort((i, j) => rank(row[i] ?? 0, row[j] ?? 0) * (descending ? -1 : 1));
}

const elements = (x: Tensor): (number | bigint)[] => [...x.toTypedArray()];

for (const dtype of DTYPES) {
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
