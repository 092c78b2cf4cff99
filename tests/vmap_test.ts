/**
 * Functions over batches: every op against a stack of its calls, at both ends and nested, and its gradients; options
 * for randomness, dimensions and chunks; errors.
 */
import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import {
  compile,
  func,
  inferenceMode,
  manualSeed,
  nn,
  noGrad,
  ones,
  rand,
  randn,
  randperm,
  setGradEnabled,
  stack,
  type Tensor,
  viewAsReal,
  zeros,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { counters } from "../lib/base/logs.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";
import { getRngState } from "../lib/tensor/random.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import "./support/turns/gradients.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

const BATCH = 3;

/** Ops whose sizes depend on elements, which a batch cannot have, and the one that addresses memory. */
const REFUSED: ReadonlySet<string> = new Set([
  "maskedSelect",
  "nonzero",
  "argwhere",
  "repeatedIndices",
  "uniqueGroups",
  "unique",
  "bincount",
  "oneHotOfAll",
  "asStrided",
  "asStridedCopy",
]);

/** The elements of a tensor in another order for each element of the batch: all stay in the domain of the op. */
function variantsOf(x: Tensor): Tensor[] {
  return Array.from({ length: BATCH }, (_, k) => {
    if (x.numel() < 2) return x.isFloatingPoint() ? x.mul(1 - 0.1 * k) : x;
    return ops.reshape(ops.roll(ops.reshape(x, [-1]), k), x.shape);
  });
}

/** A call with other tensors in the places of some. */
function replaced(value: unknown, by: ReadonlyMap<unknown, Tensor | undefined>): unknown {
  if (by.has(value)) return by.get(value);
  if (Array.isArray(value)) return value.map((each) => replaced(each, by));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, by)]));
}

interface Case {
  readonly definition: OpDefinition;
  readonly given: readonly unknown[];
  readonly tensors: readonly Tensor[];
}

const callOf = ({ definition, given, tensors }: Case) => (...by: readonly Tensor[]): Tensor[] => {
  const args = given.map((each) => replaced(each, new Map(tensors.map((x, k) => [x, by[k]]))));
  return [...resultsOf(callOp(definition, args))];
};

const listOf = (value: unknown): Tensor[] => [value].flat(Infinity).filter(isTensor);

function assertNear(found: Tensor | undefined, expected: Tensor, where: string): void {
  assert(found, `${where}: a result`);
  assertEquals([found.shape, found.dtype], [expected.shape, expected.dtype], where);
  const a = found.toTypedArray(), e = expected.toTypedArray();
  let largest = 0;
  for (const x of e) if (Number.isFinite(Number(x))) largest = Math.max(largest, Math.abs(Number(x)));
  a.forEach((x: number | bigint, k: number) => {
    const got = Number(x), want = Number(e[k]);
    const allowed = expected.dtype === "float64" ? 1e-9 : 1e-5;
    if (Object.is(got, want) || got === want || Math.abs(got - want) <= allowed * (1 + largest)) return;
    fail(`${where}: [${k}] is ${got}, one by one it is ${want}`);
  });
}

/** Returns the op's results for variants of the tensors, one by one; null if it refuses one, or is random. */
function oneByOne(
  call: (...by: readonly Tensor[]) => Tensor[],
  variants: readonly Tensor[][],
): Tensor[] | null {
  const before = getRngState().offset;
  try {
    const found = Array.from(
      { length: BATCH },
      (_, k) => call(...variants.map((each) => each[k] ?? fail("a variant"))),
    );
    if (getRngState().offset !== before) return null;
    const [first = []] = found;
    return first.map((_, at) => ops.stack(found.flatMap((results) => results[at] ?? []), 0));
  } catch (thrown) {
    if (thrown instanceof DynError) return null;
    throw thrown;
  }
}

function checkOp(definition: OpDefinition, sample: Sample, where: string): void {
  const { given, tensors } = makeSample(sample, { float: "float64" });
  if (tensors.length === 0) return;
  for (const some of tensors.length > 1 ? [tensors, tensors.slice(0, 1), tensors.slice(-1)] : [tensors]) {
    const call = callOf({ definition, given, tensors: some }), variants = some.map(variantsOf);
    const expected = oneByOne(call, variants);
    if (expected === null || /^(empty|newEmpty)/.test(definition.name)) continue;
    for (const dim of [0, -1]) {
      const batches = variants.map((each) => ops.stack(each, dim)), over = func.vmap(call, dim);
      if (REFUSED.has(definition.name)) {
        // Batches of row-major elements can be addressed
        if (!definition.name.startsWith("asStrided")) {
          assertThrows(() => over(...batches), DynError, "sizes depend");
        }
        continue;
      }
      const found = listOf(over(...batches));
      expected.forEach((each, k) => assertNear(found[k], each, `${where}, batch at ${dim}, result ${k}`));
      const nested = batches.map((batch) => ops.stack([batch, batch], 0));
      const twice = listOf(func.vmap(over)(...nested));
      expected.forEach((each, k) => {
        assertNear(twice[k], ops.stack([each, each], 0), `${where}, batch at ${dim}, nested, result ${k}`);
      });
    }
  }
}

const someOps = sampleBySeed(ALL_OPS, 20);

Deno.test("ops over a batch equal a stack of single calls, at both ends and nested", () => {
  for (const definition of someOps) {
    definition.samples.forEach((sample, k) => {
      if (!sample.args.includes("cpu")) checkOp(definition, sample, `${definition.name}, sample ${k}`);
    });
  }
});

Deno.test("gradients over a batch are those of each element, whichever is taken first", () => {
  for (const definition of sampleBySeed(ALL_OPS, 20, 1)) {
    if (definition.gradient.kind === "none" || REFUSED.has(definition.name)) continue;
    definition.samples.forEach((sample, k) => {
      const { given, tensors } = makeSample(sample, { float: "float64" });
      const at = tensors.flatMap((x, k) => x.dtype === "float64" ? [k] : []);
      if (at.length === 0 || sample.args.includes("cpu")) return;
      const call = callOf({ definition, given, tensors });
      if (!call(...tensors).some((each) => each.isFloatingPoint())) return;
      const energy = (...by: readonly Tensor[]): Tensor =>
        call(...by).filter((each) => each.isFloatingPoint())
          .map((each, k) => each.mul(0.3 * (k + 1)).mul(each).sum()).reduce((a, b) => a.add(b));
      const gradient = func.grad(energy, at), variants = tensors.map(variantsOf);
      const expected = oneByOne((...by) => listOf(gradient(...by)), variants);
      if (expected === null) return;
      const batches = variants.map((each) => ops.stack(each, 0));
      const inner = listOf(func.vmap(gradient)(...batches));
      const outer = listOf(
        func.grad((...by: readonly Tensor[]) => listOf(func.vmap(energy)(...by))[0]?.sum(), at)(...batches),
      );
      const where = `${definition.name}, sample ${k}`;
      expected.forEach((each, k) => {
        assertNear(inner[k], each, `${where}, of each element, ${k}`);
        assertNear(outer[k], each, `${where}, of the batch, ${k}`);
      });
    });
  }
});

const one = (value: unknown): Tensor => isTensor(value) ? value : fail("one tensor");

Deno.test("dimensions are given for all arguments, for each, or for their parts; chunks give the same", () => {
  const x = randn([4, 3]), w = randn([3]);
  const dot = (x: Tensor, w: Tensor) => x.dot(w);
  assertNear(one(func.vmap(dot, [0, null])(x, w)), x.mv(w), "a batch of one argument");
  assertNear(one(func.vmap(dot, { inDims: [1, null] })(x.t(), w)), x.mv(w), "another dimension");
  const scaled = func.vmap((p: { a: Tensor; b: Tensor[] }) => [p.a.mul(2), p.b[0]?.add(1)], {
    inDims: [{ a: 0, b: [null] }],
    outDims: [1, 0],
  });
  const [a, b] = listOf(scaled({ a: x, b: [w] }));
  assertNear(a, x.mul(2).t(), "outDims");
  assertNear(b, w.add(1).expand(4, 3), "what has no batch is the same for all");
  assertEquals(listOf(func.vmap((_x: Tensor) => w, { outDims: null })(x)), [w]);
  for (const chunkSize of [1, 3, 9]) {
    assertNear(
      one(func.vmap((x: Tensor) => x.exp(), { chunkSize, outDims: -1 })(x)),
      x.exp().t(),
      `chunks of ${chunkSize}`,
    );
  }
  assertThrows(
    () => func.vmap(dot)(x, w),
    DynError,
    "one size of the batch of all tensors of vmap but found 4, 3",
  );
  assertThrows(() => func.vmap(dot, null)(x, w), DynError, "a tensor with a batch");
  assertThrows(() => func.vmap((x: Tensor) => x, 2)(x), DynError, "inDims of vmap in [-2, 1] but found 2");
  assertThrows(
    () => func.vmap((x: Tensor) => x.sum(), 0, 1)(x),
    DynError,
    "outDims of vmap in [-1, 0] but found 1",
  );
  assertThrows(() => func.vmap((x: Tensor) => x, 0, null)(x), DynError, "a result without the batch");
  assertThrows(
    () => func.vmap((_x: Tensor) => 3)(x),
    DynError,
    "a function that returns tensors in vmap but found number",
  );
});

Deno.test("random ops are rejected, differ along the batch, or are the same", () => {
  const x = ones([4, 64]), dropped = (x: Tensor) => nn.functional.dropout(x, 0.5);
  assertThrows(() => func.vmap(dropped)(x), DynError, "randomness error mode");
  assertThrows(() => func.vmap((x: Tensor) => x.add(randperm(64)))(x), DynError, "randomness error mode");
  manualSeed(0);
  const rows = (randomness: "same" | "different", f: (x: Tensor) => Tensor): number =>
    new Set(one(func.vmap(f, { randomness })(x)).unbind().map((row) => `${row.tolist()}`)).size;
  for (const f of [dropped, (x: Tensor) => x.add(randperm(64)), (x: Tensor) => x.mul(rand([64]))]) {
    assertEquals([rows("same", f), rows("different", f)], [1, 4]);
  }
  const noisy = (x: Tensor) => x.clone().normal_();
  assertEquals([rows("same", noisy), rows("different", noisy)], [1, 4]);
  assertThrows(
    () => func.vmap((x: Tensor) => x.bernoulli(), { randomness: "same" })(x.mul(0.5)),
    DynError,
    "bernoulli",
  );
});

Deno.test("writes in place reach views and bases, and tensors with the batch only", () => {
  const x = randn([4, 3]);
  const written = func.vmap((x: Tensor) => {
    const y = x.clone(), view = y.slice(0, 1);
    view.mul_(2);
    y.at(0).add_(view.sum());
    return y;
  });
  const tail = x.slice(1, 1).mul(2), expected = ops.cat([x.slice(1, 0, 1).add(tail.sum(1, true)), tail], 1);
  assertNear(one(written(x)), expected, "views");
  const gradient = func.vmap(func.grad((x: Tensor) => {
    const y = x.mul(1);
    y.at(0).mul_(x.at(1));
    return y.sum();
  }));
  const [first, second] = [x.select(1, 0), x.select(1, 1)];
  assertNear(
    one(gradient(x)),
    ops.stack([second, first.add(1), ops.onesLike(first)], 1),
    "gradients of writes",
  );
  const shared = zeros([3]);
  assertThrows(
    () => func.vmap((x: Tensor) => shared.add_(x))(x),
    DynError,
    "a tensor with the batch to write by add_",
  );
  assertThrows(
    () => func.vmap((x: Tensor) => x.sum().item() > 0 ? x : x.neg())(x),
    DynError,
    "cannot read elements",
  );
});

Deno.test("transforms nest: gradients per sample, Hessians and Jacobians over batches, Functions with their own gradient", () => {
  const x = randn([4, 3]), model = new nn.Linear(3, 2);
  const parameters = Object.fromEntries(model.namedParameters());
  const loss = (p: typeof parameters, x: Tensor) => one(func.functionalCall(model, p, x)).square().sum();
  const found = func.vmap(func.grad(loss), [null, 0])(parameters, x);
  assert(isPlainObject(found));
  const expected = x.unbind().map((row) => func.grad(loss)(parameters, row).weight ?? fail("a gradient"));
  assertNear(one(found.weight), ops.stack(expected, 0), "gradients per sample");
  const cubic = (x: Tensor) => x.pow(3).sum();
  assertNear(one(func.vmap(func.hessian(cubic))(x)), x.mul(6).diagEmbed(), "Hessians");
  const sums = (x: Tensor) => one(func.vmap(func.grad(cubic))(x)).sum();
  assertNear(func.grad(sums)(x), x.mul(6), "gradients of batches of gradients");
  assertNear(one(func.vmap(compile((x: Tensor) => x.sin().sum()))(x)), x.sin().sum(1), "a compiled function");
  const compiled = compile((x: Tensor) => x.sin().mul(x), { backend: "aot_eager" });
  const [row = fail("a row")] = x.unbind();
  assertNear(
    one(func.jacrev(compiled)(row)),
    row.cos().mul(row).add(row.sin()).diag(),
    "a compiled backward pass",
  );
  assertNear(
    one(func.jacrev((x: Tensor) => x.exp(), { chunkSize: 2 })(row)),
    row.exp().diag(),
    "chunks of rows",
  );
});

Deno.test("ops without a batching rule run for each element, which is reported and counted", () => {
  const x = rand([4, 8]), before = counters.get("fallback", "vmap");
  const found = func.vmap((x: Tensor) => x.histc(4, 0, 1))(x);
  assertNear(one(found), ops.stack(x.unbind().map((row) => row.histc(4, 0, 1)), 0), "histc");
  assertEquals(counters.get("fallback", "vmap"), before + 1);
});

Deno.test("in compiled functions batches are part of the graph: nested, under transforms, of modules, written in place", () => {
  const x = randn([4, 3]), w = randn([3]);
  const model = new nn.Sequential(
    new nn.Linear(3, 4),
    new nn.LayerNorm(4),
    new nn.GELU(),
    new nn.Linear(4, 2),
  );
  const parameters = Object.fromEntries(model.namedParameters());
  const loss = (p: typeof parameters, x: Tensor) => one(func.functionalCall(model, p, x)).square().sum();
  const cubic = (x: Tensor) => x.pow(3).sum();
  const programs: Readonly<Record<string, (x: Tensor) => unknown>> = {
    "each row": (x) => func.vmap((x: Tensor) => [x.softmax(0), x.max(0).values, x.norm()])(x),
    "nested": (x) => func.vmap(func.vmap((a: Tensor, b: Tensor) => a.mul(b).exp()), [0, null])(x, w),
    "gradients": (x) => func.vmap(func.grad(cubic))(x),
    "gradients of what is shared": (x) =>
      func.vmap(func.grad((w: Tensor, x: Tensor) => w.mul(x).sin().sum()), [null, 0])(w, x),
    "gradients of batches": (x) =>
      func.grad((x: Tensor) => one(func.vmap((x: Tensor) => x.sin().mul(x))(x)).sum())(x),
    "Hessians": (x) => func.vmap(func.hessian(cubic))(x),
    "tangents": (x) => func.vmap((x: Tensor) => func.jvp((x: Tensor) => x.sin(), [x], [x])[1])(x),
    "gradients per sample": (x) =>
      Object.values(Object(func.vmap(func.grad(loss), [null, 0])(parameters, x))),
    "writes": (x) =>
      func.vmap((x: Tensor) => {
        const y = x.clone();
        y.at(0).mul_(x.at(1));
        return y;
      }, { outDims: 1 })(x),
  };
  for (const [name, program] of Object.entries(programs)) {
    const expected = listOf(program(x)),
      found = listOf(compile(program, { backend: "aot_eager", fullgraph: true })(x));
    assertEquals(found.length, expected.length, name);
    expected.forEach((each, k) => assertNear(found[k], each, name));
  }
  const gradients = programs["gradients per sample"] ?? fail("a program");
  const native = listOf(compile(gradients, { fullgraph: true })(x));
  listOf(gradients(x)).forEach((each, k) => assertNear(native[k], each, "native"));
  const drawn = compile(
    (x: Tensor) => func.vmap((x: Tensor) => nn.functional.dropout(x), 0, 0, "different")(x),
    {
      backend: "aot_eager",
      fullgraph: true,
    },
  );
  assertEquals(new Set(one(drawn(ones([4, 64]))).unbind().map((row) => `${row.tolist()}`)).size, 4);
  const broken = compile((x: Tensor) => func.vmap((x: Tensor) => x.histc(4, -3, 3))(x.add(1)), {
    backend: "eager",
  });
  assertNear(
    one(broken(x)),
    ops.stack(x.unbind().map((row) => row.add(1).histc(4, -3, 3)), 0),
    "what breaks the graph",
  );
});

Deno.test("a batch of no elements gives results of no elements", () => {
  const twice = (x: Tensor) => x.mul(2);
  assertEquals(func.vmap(twice)(zeros([0, 3])).shape, [0, 3]);
  assert(isTensor(func.jacfwd(twice)(zeros([0]))));
});

/** Derivatives of one element's function, by what is shared and by the element. */
const DERIVATIVES: Readonly<Record<string, (w: Tensor, x: Tensor) => Tensor>> = {
  grad: (w, x) => func.grad((w: Tensor) => w.mul(x).sin().sum())(w),
  "grad by the element": (w, x) => func.grad((x: Tensor) => w.mul(x).sin().sum())(x),
  vjp: (w, x) => func.vjp((w: Tensor) => w.mul(x).sin(), w)[1](ones([2]))[0] ?? fail("a gradient"),
  jvp: (w, x) => func.jvp((w: Tensor) => w.mul(x).sin(), [w], [x])[1],
  jacrev: (w, x) => func.jacrev((w: Tensor) => w.mul(x).sin())(w),
  hessian: (w, x) => func.hessian((w: Tensor) => w.mul(x).sin().sum())(w),
  "grad of a grad": (w, x) =>
    func.grad((w: Tensor) => func.grad((w: Tensor) => w.mul(x).sin().sum())(w).square().sum())(w),
  "grad of a part": (w, x) => func.grad((w: Tensor) => noGrad(() => w.mul(x)).mul(w).sum())(w),
};

const MODES: Readonly<Record<string, <R>(body: () => R) => R>> = {
  noGrad,
  inferenceMode,
  setGradEnabled: (body) => setGradEnabled(false, body),
};

Deno.test("derivatives over a batch are not zero where compiled code or its caller records nothing", () => {
  const x = randn([3, 2]),
    cases = Object.entries(DERIVATIVES).flatMap(([name, of]) =>
      Object.entries(MODES).flatMap(([mode, under]) => {
        const mapped = (w: Tensor) => one(func.vmap(of, [null, 0])(w, x));
        const twice = (w: Tensor) => one(func.vmap(mapped)(w.expand([2, 2])));
        return [mapped, twice].flatMap((run) => [
          { name: `${name} under ${mode}`, run, under },
          { name: `${name}, with ${mode} inside`, run: (w: Tensor) => under(() => run(w)), under },
        ]);
      })
    );
  for (const { name, run, under } of sampleBySeed(cases, 8)) {
    for (const w of [randn([2]), randn([2]).requiresGrad_()]) {
      const compiled = compile(run, { backend: "eager" }), expected = run(w.detach());
      assertNear(under(() => compiled(w)), expected, name);
    }
  }
});

/** Ops of complex tensors that are composed of others, which have forms of their own for complex tensors. */
const COMPLEX: Readonly<Record<string, (x: Tensor, y: Tensor) => Tensor>> = {
  magnitude: (x) => x.abs(),
  norm: (x, y) => x.sub(y).norm(3, -1),
  "softsign and scale": (x, y) => nn.functional.softsign(x).mul(y).real(),
  margin: (x, y) => nn.functional.tripletMarginLoss(x, y, x.mul(y)),
};

Deno.test("compiled batches of complex tensors take the forms of their parts", () => {
  const [x, y] = [
    randn([BATCH, 2, 4], { dtype: "complex128" }),
    randn([BATCH, 2, 4], { dtype: "complex128" }),
  ];
  for (const [name, of] of Object.entries(COMPLEX)) {
    const slope = (x: Tensor, y: Tensor) => one(func.grad((x: Tensor) => of(x, y).sum())(x));
    for (const body of [of, slope]) {
      const run = (x: Tensor, y: Tensor) => viewAsPairs(one(func.vmap(body)(x, y)));
      const wanted = [0, 1, 2].map((k) => viewAsPairs(body(x.select(0, k), y.select(0, k))));
      assertNear(compile(run, { backend: "eager", fullgraph: true })(x, y), stack(wanted), name);
    }
  }
});

const viewAsPairs = (x: Tensor): Tensor => x.isComplex() ? viewAsReal(x) : x;
