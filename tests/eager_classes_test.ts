/**
 * Eager calls by class: one program for calls that differ in sizes, on each tier; its assumptions about sizes hold for
 * every call that it serves.
 */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { counters } from "../lib/base/logs.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import type { Program } from "../lib/loops/ir.ts";
import { printProgram } from "../lib/loops/print.ts";
import { withSizeArguments } from "../lib/loops/size_arguments.ts";
import { parseCall } from "../lib/ops/call.ts";
import { ALL_OPS, findTarget, OPS } from "../lib/ops/table.ts";
import { graphOf } from "../lib/tensor/class_graph.ts";
import { classOf, ClassSizes } from "../lib/tensor/class_sizes.ts";
import { pointwiseProgram } from "../lib/tensor/pointwise_class.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { classPlan } from "../lib/tensor/classes.ts";
import { entryOf, type Plan, tensorsOf } from "../lib/tensor/plan.ts";
import {
  arange,
  DynError,
  full,
  manualSeed,
  nn,
  noGrad,
  rand,
  randint,
  randn,
  randnLike,
  Tensor,
  tensor,
  where,
} from "../mod.ts";
import { makeSample } from "./support/samples.ts";
import { orderedNumbers } from "./support/special_numbers.ts";

/** Ops of which some rows give rows of what the whole gives. */
const ROW_WISE: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  add: (x) => x.add(x),
  exp: (x) => x.exp(),
  pow: (x) => x.abs().pow(1.5),
  "mul by a column": (x) => x.mul(x.narrow(1, 0, 1)),
  "to int64": (x) => x.mul(100).to("int64"),
  contiguous: (x) => x.contiguous(),
  "reshape and back": (x) => x.reshape(-1).reshape(x.shape),
  softmax: (x) => x.softmax(1),
  logSoftmax: (x) => x.logSoftmax(1),
  layerNorm: (x) => nn.functional.layerNorm(x, [x.size(1)]),
  cumsum: (x) => x.cumsum(1),
  sort: (x) => x.sort(1)[0] ?? x,
  "sum of rows": (x) => x.sum(1),
  argmax: (x) => x.argmax(1),
  matmul: (x) => x.matmul(x.narrow(0, 0, 8).t().contiguous()),
};

const LAYOUTS: Readonly<Record<string, (rows: number, columns: number) => Tensor>> = {
  dense: (rows, columns) => randn([rows, columns]),
  transposed: (rows, columns) => randn([columns, rows]).t(),
  "part of rows": (rows, columns) => randn([rows, 2 * columns]).narrow(1, 3, columns),
  "one row for all": (rows, columns) => randn([1, columns]).expand(rows, columns),
};

for (const [name, run] of Object.entries(ROW_WISE)) {
  Deno.test(`${name}: large calls of several shapes and strides give what small ones give`, () => {
    manualSeed(1);
    for (const [layout, make] of Object.entries(LAYOUTS)) {
      for (const [rows, columns] of [[300, 64], [128, 256], [77, 301], [256, 128], [1024, 96]] as const) {
        const x = make(rows, columns);
        const [whole, part] = noGrad(() => [run(x), run(x.narrow(0, 0, 8))]);
        const found = whole.narrow(0, 0, 8), what = `${layout} ${rows}×${columns}`;
        assertEquals([found.shape, found.dtype], [part.shape, part.dtype], what);
        assert(found.to("float64").allclose(part.to("float64"), { rtol: 1e-5, atol: 1e-4 }), what);
      }
    }
  });
}

const planOf = (name: keyof typeof OPS, args: Readonly<Record<string, Tensor | number>>): Plan | undefined =>
  classPlan({ entry: entryOf(OPS[name]), args: { alpha: 1, ...args }, numbers: [] });

Deno.test("one program serves all sizes of a class, and no other class", () => {
  const plan = (a: readonly number[], b: readonly number[]) =>
    planOf("add", { self: randn(a), other: randn(b) });
  const first = plan([200, 100], [200, 100]), second = plan([300, 200], [300, 200]);
  assert(first && second);
  assertStrictEquals(first.program, second.program);
  assertNotEquals(first.sizes, second.sizes);
  assertEquals(second.results[0]?.shape, [300, 200]);
  // Dense operands are walked as one, whatever their dimensions
  assertStrictEquals(plan([20000], [20000])?.program, first.program);
  assertStrictEquals(plan([20, 10, 100], [20, 10, 100])?.program, first.program);
  // A row is broadcast, a square has equal sizes: their programs may differ, their results must fit
  assertNotStrictEquals(plan([200, 100], [100])?.program, first.program);
  assertEquals(plan([200, 200], [200, 200])?.results[0]?.shape, [200, 200]);
});

Deno.test("sums that are cut differently have different programs, whichever length came first", () => {
  const programOf = (length: number) =>
    classPlan({
      entry: entryOf(OPS.sum),
      args: { self: randn([2, length]), dim: [1], keepdim: false, dtype: null },
      numbers: [],
    })?.program;
  const [longer, long, longest] = [20_000, 10_000, 70_000].map(programOf);
  assert(longer);
  assertStrictEquals(long, longer);
  assertNotStrictEquals(longest, longer);
});

Deno.test("dense tensors of one shape are rows to elementwise ops: one class for all shapes", () => {
  const classes = () => counters.get("eager", "classes");
  const run = (...shape: readonly number[]) => {
    const x = randn(shape), before = classes();
    const found = [x.atan2(x), x.erf(), x.gt(x), x.clamp(-0.5, 0.5)];
    assertEquals(found.map((each) => each.shape), found.map(() => shape));
    const flat = x.reshape(-1);
    const rows = [flat.atan2(flat), flat.erf(), flat.gt(flat), flat.clamp(-0.5, 0.5)];
    const made = classes() - before;
    found.forEach((each, k) => assert(rows[k] && each.reshape(-1).equal(rows[k])));
    return made;
  };
  assertEquals(run(200, 100), 4);
  assertEquals([run(20, 10, 100), run(70_000), run(3, 5000), run(2, 2, 2, 5000)], [0, 0, 0, 0]);
  // Beside a row they are not
  const [x, row] = [randn([200, 100]), randn([100])], before = classes();
  assertEquals(x.atan2(row).shape, [200, 100]);
  assertEquals(classes() - before, 1);
});

/** Draws of elements in the shape of a tensor of probabilities. */
const DRAWS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  rand: ({ shape }) => rand(shape, { dtype: "float64" }),
  randn: ({ shape }) => randn(shape),
  randint: ({ shape }) => randint(3, 90, shape),
  randnLike: (x) => randnLike(x),
  bernoulli_: (x) => x.bernoulli_(0.3),
  uniform_: (x) => x.uniform_(-1, 2),
  normal_: (x) => x.normal_(),
};

Deno.test("random elements are drawn by their positions in a row: one class for all shapes", () => {
  const shapes = [[200, 100], [20, 10, 100], [20_000], [2, 2, 5000]];
  for (const [name, draw] of Object.entries(DRAWS)) {
    const given = shapes.map((shape) => full(shape, 0.3)), before = counters.get("eager", "classes");
    const found = given.map((x) => {
      manualSeed(4);
      return draw(x);
    });
    assert(counters.get("eager", "classes") - before <= 1, `Expected at most one class of ${name}`);
    assertEquals(found.map(({ shape }) => shape), shapes);
    const [first, ...others] = found.map((each) => each.reshape(-1));
    for (const each of others) assert(first && each.equal(first), name);
  }
});

/** The samples of an op whose tensors have one shape. */
const ALIKE = ALL_OPS.filter(({ elementwise }) => elementwise).flatMap((definition) =>
  definition.samples.map((sample) => ({ definition, ...makeSample(sample) }))
    .filter(({ tensors: [first, ...others] }) =>
      first && first.ndim > 1 && others.every(({ shape }) => `${shape}` === `${first.shape}`)
    )
);

Deno.test("elementwise ops on rows give the same elements as in another shape", () => {
  assert(ALIKE.length > 80, `Expected samples of most of them but found ${ALIKE.length}`);
  for (const { definition, given } of ALIKE) {
    const inRow = (each: unknown) => each instanceof Tensor ? each.reshape(-1) : each;
    const [whole, row] = [given, given.map(inRow)].map((args) => callOp(definition, args));
    assert(whole instanceof Tensor && row instanceof Tensor);
    const same = whole.reshape(-1).to("float64").allclose(row.to("float64"), {
      rtol: 0,
      atol: 0,
      equalNan: true,
    });
    assert(same && whole.dtype === row.dtype, definition.name);
  }
});

/** The operations and accesses of a program, whatever values and buffers are called. */
const statementsOf = (program: Program): string =>
  printProgram(program, { origins: false }).split("\n").map((line) => line.trim())
    .filter((line) => /^(v\d+ = [^-0-9.ItfN]|b\d+\[|parallel)/.test(line))
    .map((line) => line.replace("parallel vector", "parallel").replace(/\b([vbs])\d+/g, "$1"))
    .join("\n");

Deno.test("programs generated directly from op definitions equal those of the graph compiler", () => {
  const others = new Set<string>();
  let same = 0;
  for (const definition of ALL_OPS) {
    if (definition.implementation.kind === "view") continue;
    for (const sample of definition.samples) {
      const args = parseCall(definition, makeSample(sample).given, isTensor, (tensor) => tensor.item());
      const entry = entryOf(definition), call = classOf(entry, args, []), numbers = [] as const;
      if (tensorsOf(entry, args).some(({ layout }) => layout.numel === 0)) continue;
      const straight = pointwiseProgram({ entry, args, numbers, sizes: new ClassSizes(call) });
      const made = straight && graphOf({ entry, args, numbers, sizes: new ClassSizes(call), device: "cpu" });
      if (!made) continue;
      const { program } = compileGraph(made.graph, (target) => findTarget(target)?.definition, {
        signature: { ownResults: made.results },
        silent: true,
      });
      if (program.kernels.length === 0) continue;
      if (statementsOf(straight.program) === statementsOf(withSizeArguments(program).program)) same++;
      else others.add(definition.name);
    }
  }
  assert(same > 300, `Expected hundreds of programs but found ${same}`);
  // Divisions by powers of two are products there
  assertEquals([...others], ["div"]);
});

Deno.test("operands that do not match are rejected by their sizes, not by symbols", () => {
  const [x, y] = [randn([200, 100]), randn([200, 101])];
  assertThrows(() => x.add(y), DynError, "[200, 100] and [200, 101]");
});

Deno.test("small compositions and rules that are called often become programs if these add in the same order", () => {
  manualSeed(4);
  const x = randn([2, 3, 4]), turned = randn([3, 7]).t(), leaf = randn([3, 5], { requiresGrad: true });
  const weights = randn([3, 5]);
  const often: Readonly<Record<string, () => Tensor | null>> = {
    softmax: () => noGrad(() => x.softmax(-1)),
    layerNorm: () => noGrad(() => nn.functional.layerNorm(x, [4])),
    "gradient of gelu": () => {
      leaf.grad = null;
      nn.functional.gelu(leaf).backward({ gradient: weights });
      return leaf.grad;
    },
    // Ops walk the dimensions in the order in which they stand, programs as they lie in memory
    "mean of turned rows": () => noGrad(() => turned.mean([0, 1])),
  };
  for (const [name, run] of Object.entries(often)) {
    const first = run()?.tolist(), before = counters.get("eager", "classes");
    for (let k = 1; k < 1006; k++) run();
    assert(counters.get("eager", "classes") > before, name);
    // In the trials, and after them
    for (let k = 1006; k < 1012; k++) assertEquals(run()?.tolist(), first, `${name}, call ${k}`);
  }
});

Deno.test("programs that add in another order than a composition never replace it, whatever they are tried on", () => {
  // Ops add what the first of them has written row by row, a program as the operand lies
  const sums = (x: Tensor): Tensor => noGrad(() => x.nansum([0, 1]));
  const byOps = (x: Tensor): Tensor => noGrad(() => where(x.isnan(), 0, x).sum([0, 1]));
  const turned = (values: readonly number[]): Tensor =>
    tensor([...values], { dtype: "float32" }).reshape([5, 7]).t();
  const plain = turned(orderedNumbers(35).map(() => 0)), x = turned(orderedNumbers(35));
  assert(!Object.is(x.sum([0, 1]).item(), byOps(x).item()), "another order has other bits here");
  for (let k = 0; k < 1012; k++) sums(plain);
  assertEquals(sums(x).item(), byOps(x).item());
});

Deno.test("a composition of one op is not compared with that op, and uses its program if calls are frequent", () => {
  const x = randn([1 << 14]),
    to = entryOf(OPS.to),
    made = Array.from({ length: 1012 }, () => x.to("float64"));
  assertEquals(made.at(-1)?.to("float32").tolist(), x.tolist());
  assert([...to.composed.exact.values()].some(({ calls, plan }) => calls === 1000 && plan !== null));
});

Deno.test("further sizes of a composition with a class are rejected like the first", () => {
  for (let rows = 2; rows < 6; rows++) randn([rows, 20]).softmax(1);
  assertEquals(noGrad(() => randn([7, 20]).softmax(1)).shape, [7, 20]);
  assertThrows(() => randn([8, 20]).softmax(2), DynError, "Expected dim in [-2, 1] but found 2");
  for (let rows = 2; rows < 6; rows++) nn.functional.layerNorm(randn([rows, 20]), [20]);
  assertThrows(() => nn.functional.layerNorm(randn([9, 20]), [21]), DynError);
});

Deno.test("large random tensors begin with the numbers of small ones", () => {
  const drawn = [10, 1 << 15, 1 << 16].map((count) => {
    manualSeed(3);
    return rand([count]).narrow(0, 0, 10).tolist();
  });
  assertEquals(drawn[1], drawn[0]);
  assertEquals(drawn[2], drawn[0]);
});

Deno.test("large writes in place read the original elements", () => {
  const count = 1 << 15, from = () => arange(count).to("float32");
  assertEquals(from().add_(from()).narrow(0, 0, 3).tolist(), [0, 2, 4]);
  const x = from();
  assertEquals(x.mul_(x).narrow(0, 2, 2).tolist(), [4, 9]);
  const shifted = from();
  shifted.narrow(0, 1, count - 1).copy_(shifted.narrow(0, 0, count - 1));
  assertEquals(shifted.narrow(0, count - 3, 3).tolist(), [count - 4, count - 3, count - 2]);
  const square = from().reshape(128, 256);
  square.narrow(0, 0, 128).narrow(1, 0, 128).t().add_(square.narrow(1, 0, 128));
  assertEquals(square.narrow(0, 1, 1).narrow(1, 0, 3).tolist(), [[256 + 1, 257 + 257, 258 + 513]]);
});

Deno.test("-0 stays -0 after calls with many other numbers", () => {
  const x = () => arange(6).to("float32").reshape(2, 3).sub(2.5);
  const signs = (run: (value: number) => Tensor) => {
    for (let value = -8; value < 8; value++) run(value);
    return run(-0).tolist();
  };
  const expected = [[0, 0, 0], [-0, -0, -0]];
  assertEquals(signs((value) => x().mul_(value)), expected);
  assertEquals(signs((value) => x().mul(value)), expected);
});
