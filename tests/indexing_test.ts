/**
 * `x.at(…)` and `x.set([…], v)` as in PyTorch: tests/data/indexing.jsonl.gz holds its results for all lists of up to
 * three indices of twenty kinds into a tensor of three dimensions, and of two into tensors of one and of no dimension.
 * Some are run and some compiled, selected by a seed (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  compile,
  compiler,
  DynError,
  emptyStrided,
  noGrad,
  ones,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../mod.ts";
import type { IndexArgument } from "../lib/tensor/index_syntax.ts";
import "./support/turns/ops.ts";
import { sampleBySeed } from "./support/sampling.ts";

type Index = IndexArgument<Tensor>;

/** The indices by the names that the data has for them. */
const INDICES: Readonly<Record<string, Index>> = {
  i0: 0,
  im1: -1,
  s: ":",
  s2: "0:2",
  e: "...",
  n: null,
  t: true,
  f: false,
  l: [0, 1],
  lb: [true, false],
  ti0: tensor(1),
  ti1: tensor([0, 1]),
  ti2: tensor([[0], [1]]),
  bt: tensor(true),
  bf: tensor(false),
  b2: tensor([true, false]),
  b3: tensor([true, false, true]),
  b23: tensor([[true, false, true], [false, true, true]]),
  b34: tensor([[true, false, true, false], [false, true, true, false], [true, true, false, false]]),
  u0: tensor(1, { dtype: "uint8" }),
};

/** A list of indices and what PyTorch gave for it. */
type Row = readonly [
  shape: readonly number[],
  keys: readonly string[],
  /** Null: it refused them. */
  got: null | readonly [shape: readonly number[], elements: readonly number[]],
  /** The elements after −5 was assigned; null: it refused that. */
  written: null | readonly number[],
];

async function readRows(): Promise<readonly Row[]> {
  const packed = await Deno.readFile(new URL("data/indexing.jsonl.gz", import.meta.url));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(stream).text();
  return text.split("\n").map((line): Row => JSON.parse(line));
}

const rows = await readRows();

/** Elements 0, 1, 2, …; 7 where there are no dimensions. */
const numbered = (shape: readonly number[]): Tensor =>
  shape.length === 0 ? tensor(7) : arange(shape.reduce((a, b) => a * b)).reshape(...shape);

const indicesOf = (keys: readonly string[]): Index[] =>
  keys.map((key) => {
    const index = INDICES[key];
    assert(index !== undefined, key);
    return index;
  });

const elementsOf = (x: Tensor): unknown => x.reshape(-1).tolist();

/** Returns the differences from PyTorch. */
function differences(
  [shape, keys, got, written]: Row,
  { at, set }: {
    readonly at: (x: Tensor, index: readonly Index[]) => Tensor;
    readonly set: (x: Tensor, index: readonly Index[]) => Tensor;
  },
): string[] {
  const index = indicesOf(keys), found: string[] = [];
  const check = (what: string, expected: unknown, run: () => unknown) => {
    let result: unknown;
    try {
      result = run();
    } catch (thrown) {
      result = null;
      if (expected !== null) found.push(`${what} [${shape}] ${keys}: ${thrown}`);
    }
    const said = JSON.stringify(result), wanted = JSON.stringify(expected);
    if (said !== wanted) found.push(`${what} [${shape}] ${keys}: ${said}, expected ${wanted}`);
  };
  check("at", got, () => {
    const result = at(numbered(shape), index);
    return [result.shape, elementsOf(result)];
  });
  check("set", written, () => elementsOf(set(numbered(shape), index)));
  return found;
}

Deno.test("all kinds of indices, together: plainly", () => {
  assertEquals(rows.length, 9199);
  const found = sampleBySeed(rows, 1000).flatMap((row) =>
    differences(row, { at: (x, index) => x.at(...index), set: (x, index) => x.set([...index], -5) })
  );
  assertEquals(found, []);
});

Deno.test("all kinds of indices, together: compiled", () => {
  const found = sampleBySeed(rows, 60, 1).flatMap((row) => {
    compiler.reset();
    const at = compile((x: Tensor, index: readonly Index[]) => x.at(...index), { backend: "aot_eager" });
    const set = compile((x: Tensor, index: readonly Index[]) => x.set([...index], -5), {
      backend: "aot_eager",
    });
    return differences(row, { at, set });
  });
  assertEquals(found, []);
});

Deno.test('"..." stands for dimensions once', () => {
  assertThrows(() => numbered([2, 3]).at("...", 0, "..."), Error, 'at most one "..."');
});

Deno.test("written values may have more leading dimensions of size 1 than their target", () => {
  const write = (x: Tensor, v: Tensor) =>
    x.clone().set([[2, 0]], v).set(["0:1"], v.at(0)).set([[true, true, false], 1], v);
  const x = tensor([[1, 2], [3, 4], [5, 6]]), wanted = [[7, 7], [3, 7], [7, 7]];
  for (const run of [write, compile(write, { backend: "eager", fullgraph: true })]) {
    assertEquals(run(x, tensor([[[7]]])).tolist(), wanted);
  }
});

Deno.test("written values may be lists, as untyped programs pass them: a compiled function breaks there alone", () => {
  const write = (x: Tensor, first: number) => {
    Reflect.apply(x.set, x, [[":", 0], [first, 2]]);
    return x.mul(2);
  };
  for (const first of [1, 3.5]) {
    const explained = compiler.explain(write)(tensor([[1, 2], [3, 4]]).float(), first);
    assert(!`${explained}`.includes("bug in dyn"), `${explained}`);
    const compiled = compile(write, { backend: "eager" })(tensor([[1, 2], [3, 4]]).float(), first);
    assertEquals(compiled.tolist(), [[2 * first, 4], [4, 8]]);
  }
});

Deno.test("writes at a mask keep sizes known, wherever it is, if all selected elements get the same values", () => {
  const mask = tensor([true, false, true, false]), square = tensor([[true, false], [false, true]]);
  const writes: readonly (readonly [number[], (x: Tensor) => Tensor, (x: Tensor) => Tensor])[] = [
    [[3, 4], (x) => x.set([":", mask], 0), (x) => x.maskedFill(mask, 0)],
    [
      [3, 4],
      (x) => x.set([":", mask], arange(3).view([3, 1])),
      (x) => where(mask, arange(3).view([3, 1]), x),
    ],
    [[4, 3], (x) => x.set([mask], arange(3)), (x) => where(mask.view([4, 1]), arange(3), x)],
    [[4], (x) => x.set([mask], tensor([7])), (x) => x.maskedFill(mask, 7)],
    [
      [3, 2, 2, 5],
      (x) => x.set([":", square], arange(15).view([3, 1, 5])),
      (x) => where(square.unsqueeze(-1), arange(15).view([3, 1, 1, 5]), x),
    ],
    [
      [3, 4],
      (x) => x.indexPut_([null, mask], arange(3).view([3, 1]), true),
      (x) => where(mask, x.add(arange(3).view([3, 1])), x),
    ],
  ];
  for (const [k, [shape, write, wanted]] of writes.entries()) {
    const given = numbered(shape), run = (x: Tensor) => write(x.clone());
    assertEquals(run(given).tolist(), wanted(given).tolist(), `write ${k}`);
    const compiled = compile(run, { backend: "aot_eager", fullgraph: true });
    assertEquals(compiled(given).tolist(), wanted(given).tolist(), `compiled write ${k}`);
  }
});

Deno.test("values written at a mask have to fit into what it selects", () => {
  const write = (shape: number[], at: number, values: number[]) => () =>
    zeros(shape).indexPut([...new Array<null>(at).fill(null), ones([shape[at] ?? 0]).gt(0)], ones(values));
  assertThrows(write([3, 4], 1, [5, 1]), DynError, "broadcast to [3, 1] but found [5, 1]");
  assertThrows(write([3, 1], 0, [5]), DynError, "broadcast to [1, 1] but found [5]");
  assertThrows(write([3, 4], 0, [1, 1, 4]), DynError, "broadcast to [1, 4] but found [1, 1, 4]");
});

Deno.test("memory with strides of its own takes the history of what is written into it", () => {
  const copy = (x: Tensor) => {
    const own = emptyStrided([2, 3], [1, 2]);
    own.set([":"], x.mul(2));
    return own;
  };
  for (const run of [copy, compile(copy, { backend: "aot_eager", fullgraph: true })]) {
    const x = ones([2, 3], { requiresGrad: true }), found = run(x);
    assertEquals(found.stride(), [1, 2]);
    found.sum().backward();
    assertEquals(x.grad?.tolist(), [[2, 2, 2], [2, 2, 2]]);
  }
  const untouched = noGrad(() => emptyStrided([2, 3], [1, 2]));
  untouched.copy_(ones([2, 3], { requiresGrad: true }));
  assertEquals(untouched.requiresGrad, true);
});

Deno.test("sizes stay symbolic in writes to memory that is dense whatever they are", () => {
  const fill = (x: Tensor) => {
    const [rows = 0, columns = 0] = x.shape, own = emptyStrided([rows, columns], [1, rows]);
    own.set([":"], x.add(x));
    return own;
  };
  const compiled = compile(fill, { backend: "aot_eager", fullgraph: true });
  for (const [rows, columns] of [[4, 3], [5, 4], [7, 2], [2, 6]] as const) {
    const found = compiled(numbered([rows, columns]));
    assertEquals([found.stride(), found.tolist()], [[1, rows], numbered([rows, columns]).mul(2).tolist()]);
  }
  assertEquals(compiler.cacheEntries(compiled).length, 2);
});

Deno.test("a value for each element that a mask selects is written in a graph: how many there are is checked", () => {
  const write = (x: Tensor, mask: Tensor, values: Tensor) => x.clone().set([mask], values).mul(2);
  const add = (x: Tensor, mask: Tensor, values: Tensor) => x.indexPut([null, mask], values, true);
  const two = tensor([true, false, true]), three = tensor([true, true, true]);
  const options = { backend: "aot_eager", fullgraph: true } as const;
  for (const run of [write, compile(write, options)]) {
    const x = ones([3], { requiresGrad: true }),
      values = tensor([5, 7], { dtype: "float32", requiresGrad: true });
    const found = run(x, two, values);
    assertEquals(found.tolist(), [10, 2, 14]);
    found.sum().backward();
    assertEquals([x.grad?.tolist(), values.grad?.tolist()], [[0, 2, 0], [2, 2]]);
    assertThrows(() => run(x, three, values), DynError, "selects 2 elements, one for each value");
    assertEquals(run(ones([2, 2]), ones([2, 2]).gt(0), ones([4])).tolist(), [[2, 2], [2, 2]]);
  }
  for (const run of [add, compile(add, options)]) {
    const values = tensor([[1, 2], [3, 4]]);
    assertEquals(run(zeros([2, 3], { dtype: "int64" }), two, values).tolist(), [[1, 0, 2], [3, 0, 4]]);
  }
});

Deno.test("values written at index tensors keep the type of the target, or are refused", () => {
  const ints = () => tensor([0, 0, 0]), floats = () => zeros([3]);
  const all = tensor([true, true, true]), f = tensor([1.5, 2.5, 3.5]);
  const write = (x: Tensor, index: Tensor | readonly number[] | boolean, value: Tensor) =>
    x.set([index], value).tolist();
  const whole = compile(write);
  for (
    const [x, index, value] of [
      [ints, tensor([0, 1]), tensor(1.5)],
      [ints, [0, 1], tensor([1.5, 2.5])],
      [ints, all, f],
      [floats, [0], tensor(1.5, { dtype: "float64" })],
    ] as const
  ) {
    const message = `values of type ${x().dtype} but found ${value.dtype}`;
    assertThrows(() => write(x(), index, value), DynError, message);
    assertThrows(() => whole(x(), index, value), DynError, message);
  }
  for (const run of [write, whole]) {
    // One element where a mask selects, and what is written where one integer selects, are converted
    assertEquals(run(ints(), all, tensor(1.5)), [1, 1, 1]);
    assertEquals(run(ints(), all, tensor([2.5])), [2, 2, 2]);
    assertEquals(run(ints(), true, tensor(7.5)), [7, 7, 7]);
    assertEquals(run(floats(), tensor(1), tensor(7)), [0, 7, 0]);
    assertEquals(run(floats(), [0, 1], tensor([1, 2])), [1, 2, 0]);
  }
  assertThrows(() => ints().indexPut([all], f), DynError, "values of type int64 but found float32");
  assertThrows(() => ints().indexPut_([all], f), DynError, "values of type int64 but found float32");
});
