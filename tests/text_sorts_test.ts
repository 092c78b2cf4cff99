/**
 * Sorts without a comparator: the default order by text of lists, objects and changing sizes, in one graph, with the
 * conversions that the language makes.
 */
import { assertEquals } from "@std/assert";
import { arange, compile, compiler, type Tensor } from "../mod.ts";

const converted: string[] = [];

const named = (name: string) => ({
  name,
  toString(): string {
    converted.push(name);
    return name;
  },
});

type Program = (x: Tensor, list: readonly unknown[]) => unknown;

/** Programs and their lists. */
const PROGRAMS: Readonly<Record<string, readonly [Program, readonly unknown[]]>> = {
  "lists of the program": [
    (x, list) => [x.mul(2).tolist(), [...list].sort()],
    [[3, 1], [10, 2], undefined, [2, 5], [2, 11]],
  ],
  "mixed elements": [
    (x, list) => [x.mul(2).tolist(), list.toSorted()],
    [[3, 1], "b", null, undefined, [[2], 5], 10, 9, true, {}, [], ""],
  ],
  "objects with texts": [(x, list) => [x.mul(2).tolist(), list.toSorted()], ["c", "a", "d", "b"].map(named)],
  "lists with sizes": [(x) => {
    const [first = []] = [[3, x.numel()], [3, 1], [20]].sort();
    return x.mul(first[0] ?? 0).tolist();
  }, []],
  "sizes": [(x) => [x.mul(2).tolist(), [7, x.numel(), 11].sort()], []],
  "holes": [(x) => {
    const list: unknown[] = [[3], [2], [1]];
    delete list[1];
    list.sort();
    return [x.mul(2).tolist(), Object.keys(list), list.length, list[0]];
  }, []],
  "a list with merges": [
    (x, list) => [x.mul(2).tolist(), list.toSorted()],
    Array.from({ length: 70 }, (_, i) => [(i * 19) % 71, i]),
  ],
};

for (const [name, [program, list]] of Object.entries(PROGRAMS)) {
  Deno.test(`sorts by text: ${name}`, () => {
    const run = compile(program, { backend: "eager" });
    for (const size of [2, 9, 10, 2]) {
      const seen = [run, program].map((each) => {
        converted.length = 0;
        return [each(arange(size), list), [...converted]];
      });
      assertEquals(seen[0], seen[1]);
    }
    assertEquals(compiler.status(run).graphBreaks, 0);
  });
}
