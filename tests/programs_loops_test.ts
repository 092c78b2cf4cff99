/** Loops that continue after graph breaks. */
import { assert, assertEquals } from "@std/assert";
import { compile, compiler, type Tensor, tensor } from "../mod.ts";
import { resumedLoops } from "./programs/resumed_loops.ts";
import { elementsByNumber } from "./programs/elements_by_number.ts";
import { growingLists, LONG_LOOPS } from "./programs/growing_lists.ts";
import { largeCollections } from "./programs/large_collections.ts";
import { longLists } from "./programs/long_lists.ts";
import { BREAKS_EVERYWHERE, register } from "./support/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

register(resumedLoops, ["eager"], [3, 9, 17]);
register(growingLists, ["eager"], [5, 14]);
register(elementsByNumber, ["eager"], [7]);
register(largeCollections, ["eager"], [6, 15]);
// Lists of thousands of elements, each step of which is traced
const long = Object.entries(longLists);
register(Object.fromEntries(BREAKS_EVERYWHERE ? long : sampleBySeed(long, 3)), ["eager"], [4, 11]);

for (const [name, loop] of Object.entries(LONG_LOOPS)) {
  Deno.test(`thirty rounds that fill a list need a version for only a few of them: ${name}`, () => {
    const f = compile(loop, { backend: "eager" });
    const numbers = (list: ReturnType<typeof loop>) =>
      list.map((each) => typeof each === "number" ? each : each.tolist());
    for (const n of [30, 20, 25]) assertEquals(numbers(f(n)), numbers(loop(n)));
    const { graphs, uncompiled } = compiler.status(f);
    assert(graphs <= 10, `${graphs} graphs`);
    assertEquals(uncompiled, []);
  });
}

Deno.test("long queues and stacks are read at their ends only, and what moves all elements breaks once", () => {
  const list = Array.from({ length: 3_000 }, (_, i) => i + 0.5),
    steps = {
      queue: (x: Tensor) => x.mul(list.push(7) + (list.shift() ?? 0)),
      drained: (x: Tensor) => x.mul((list.shift() ?? 0) + (list.pop() ?? 0) + list.splice(0, 2).length),
      moved: (x: Tensor) => x.mul(2).add(list.unshift(3)),
    };
  for (const [name, [graphs, breaks]] of Object.entries({ queue: [2, 0], drained: [2, 0], moved: [3, 1] })) {
    const step = steps[name as keyof typeof steps], f = compile(step, { backend: "eager" });
    for (let i = 0; i < 6; i++) {
      const before = [...list], x = tensor([1.5, 2]), expected = step(x).tolist(), after = list.splice(0);
      list.push(...before);
      assertEquals(f(x).tolist(), expected);
      assertEquals(list, after);
    }
    const status = compiler.status(f);
    assertEquals([status.graphs, status.graphBreaks], [graphs, breaks], name);
  }
});

Deno.test("callbacks that only compute with what is known run while tracing, however long the list", () => {
  const table = { names: Array.from({ length: 900 }, (_, i) => ({ name: `${i * 7 % 900}`, at: i })) };
  const programs: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    numbers: (x) => {
      const all = Array.from({ length: 100_000 }, (_, i) => Math.sin(i)).map((each, i) => each * i);
      return x.mul(all.filter((each) => each > 0).length).add(all.reduce((a, b) => a + b));
    },
    "an order": (x) => {
      const numbers = Array.from({ length: 5_000 }, (_, i) => i * 7919 % 5_000).sort((a, b) => b - a);
      const [first, second] = table.names.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
      return x.mul(numbers[1] ?? 0).add((first?.at ?? 0) - (second?.at ?? 0));
    },
  };
  for (const [name, program] of Object.entries(programs)) {
    const f = compile(program, { backend: "eager", fullgraph: true });
    for (const x of [tensor([1.5, 2]), tensor([3.5, 4])]) {
      assertEquals(f(x).tolist(), program(x).tolist(), name);
    }
    assertEquals(compiler.status(f).graphs, 1, name);
  }
});

Deno.test("sums of thousands of numbers that change are computed, and nothing runs uncompiled", () => {
  const sum = (x: Tensor, list: readonly number[]) => {
    let total = 0, least = Infinity;
    for (const each of list) {
      total += each * 1.5;
      least = Math.min(least, total);
    }
    return x.mul(total).add(least);
  };
  const f = compile(sum, { backend: "eager" }), x = tensor([1.5, 2], { dtype: "float64" });
  for (const shift of [0.5, 1.25, 3.75]) {
    const list = Array.from({ length: 5_000 }, (_, i) => i % 7 - 3 + shift);
    assertEquals(f(x, list).tolist(), sum(x, list).tolist());
  }
  const { graphs, uncompiled } = compiler.status(f);
  assertEquals([graphs, uncompiled], [2, []]);
});

const look = compiler.disable(() => {});

Deno.test("a round of a loop that breaks once is one graph", () => {
  const f = compile((list: readonly Tensor[], y: Tensor) => {
    for (const [i, x] of list.entries()) {
      y = y.add(x.mul(i));
      look();
      y = y.sin();
    }
    return y;
  }, { backend: "eager" });
  const list = Array.from({ length: 8 }, (_, i) => tensor([i], { dtype: "float32" }));
  for (let i = 0; i < 3; i++) f(list, tensor([1], { dtype: "float32" }));
  const { graphBreaks, uncompiled } = compiler.status(f);
  assertEquals([graphBreaks, uncompiled], [1, []]);
  const { graphCount } = compiler.explain(f)(list, tensor([1], { dtype: "float32" }));
  // Up to the first break, between two, with a number that changes, and behind the last
  assertEquals(graphCount, 4);
});

Deno.test("so is one of a loop over a Map, a Set and their values", () => {
  const f = compile((map: ReadonlyMap<number, Tensor>, y: Tensor) => {
    for (const x of map.values()) {
      y = y.add(x);
      look();
    }
    for (const x of new Set(map.values())) {
      y = y.mul(x);
      look();
    }
    for (const [i, x] of map) {
      y = y.sub(x.mul(i));
      look();
    }
    return y;
  }, { backend: "eager" });
  const map = new Map(Array.from({ length: 7 }, (_, i) => [i + 2, tensor([i], { dtype: "float32" })]));
  for (let i = 0; i < 3; i++) f(map, tensor([1], { dtype: "float32" }));
  const { graphBreaks, uncompiled } = compiler.status(f);
  // One in each loop
  assertEquals([graphBreaks, uncompiled], [3, []]);
  const { breakReasons } = compiler.explain(f)(map, tensor([1], { dtype: "float32" }));
  assert(breakReasons.every(({ id }) => id === "GB0003"));
});

Deno.test("of a large Map or Set only the keys that a program looks up count, and of a long list what it finds", () => {
  const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
  const map = new Map(keys.map((key, i) => [key, i])), set = new Set(keys);
  const f = compile(
    (x: Tensor) => x.mul(map.get("k7") ?? 0).add(set.has("k8") ? map.size : 0).sub(keys.indexOf("k9")),
    { backend: "eager" },
  );
  const x = tensor([2], { dtype: "float32" });
  assertEquals(f(x).tolist(), [2 * 7 + 1000 - 9]);
  map.set("k9", -1).delete("k10");
  map.set("other", 3);
  set.delete("k11");
  keys[12] = "another";
  assertEquals(f(x).tolist(), [2 * 7 + 1000 - 9]);
  const { graphs, graphBreaks } = compiler.status(f);
  assertEquals([graphs, graphBreaks], [1, 0]);
  map.set("k7", 8);
  set.delete("k8");
  assertEquals(f(x).tolist(), [2 * 8 - 9]);
});

Deno.test("a loop over a typed array argument is in the graph for all elements", () => {
  const f = compile((list: Float32Array, y: Tensor) => {
    for (const each of list) y = y.mul(2).add(each);
    return y;
  }, { backend: "eager" });
  for (let i = 0; i < 4; i++) {
    f(new Float32Array([i + 0.25, i + 0.5, i + 0.75]), tensor([1], { dtype: "float32" }));
  }
  const { graphBreaks, graphs, uncompiled } = compiler.status(f);
  assertEquals({ graphBreaks, graphs, uncompiled }, { graphBreaks: 0, graphs: 1, uncompiled: [] });
});
