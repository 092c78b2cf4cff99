/**
 * Every op that writes in place against the same op out of place whose result is copied in by hand: into a whole tensor
 * and into views of it, intermediates and inputs, with gradients of everything. Eagerly and ahead of time op by op for
 * half of the ops, compiled as WebAssembly, in C++ and on WebGPU for a few of them, selected by a seed (DYN_TEST_SEED),
 * or all (DYN_TEST_ALL=1). Also the writes that a leaf which requires grad rejects.
 */
import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import { compile, compiler, config, DynError, init, manualSeed, nn, noGrad, Tensor } from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { CATEGORY_RANK, categoryOf, isFloat } from "../lib/base/dtype.ts";
import { isNonOverlapping } from "../lib/graph/meta.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { callInplace, callOp, ops } from "../lib/tensor/eager.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import "./support/devices.ts";
import "./support/turns/ops.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Ops that write in place; two of which have no gradient by their receiver, and no samples therefore. */
const INPLACE: readonly OpDefinition[] = ALL_OPS.filter(({ inplace, name }) =>
  inplace === true && !/^igammac?$/.test(name)
);

Deno.test("igamma_ and igammac_ write what igamma and igammac give", () => {
  for (const name of ["igamma", "igammac"] as const) {
    const a = tensor([[0.5, 2], [3, 7.5]]), x = tensor([[1, 0.25], [9, 4]]), wanted = a[name](x);
    const into = a.t();
    assert(into[`${name}_`](x.t()) === into && a.version === 1);
    assertEquals(a.tolist(), wanted.tolist());
    const leaf = tensor([1.5, 2], { requiresGrad: true }), y = tensor([0.5, 3]);
    leaf.mul(1).detach()[`${name}_`](y);
    assertThrows(() => leaf.mul(1)[`${name}_`](y).sum().backward(), DynError, "it has no closed form");
  }
});

/** The layout of the receiver in the tensor that is compared afterwards. */
interface View {
  readonly name: string;
  /** A tensor of which the view is `self`. */
  readonly base: (self: Tensor) => Tensor;
  readonly view: (base: Tensor) => Tensor;
  /** Another view that shares elements with it. */
  readonly sibling: (base: Tensor) => Tensor;
  readonly applies: (self: Tensor) => boolean;
  /** Whether the base requires no grad, so that gradients go to the other arguments alone. */
  readonly constant?: boolean;
}

const reversed = (x: Tensor) => x.permute(x.shape.map((_, d) => x.shape.length - 1 - d));

const ROW: View = {
  name: "row",
  base: (self) => ops.stack([self, self, self]),
  view: (base) => base.select(0, 1),
  sibling: (base) => base.slice(0, 0, 2),
  applies: () => true,
};

const VIEWS: readonly View[] = [
  {
    name: "whole",
    base: (self) => self.clone(),
    view: (base) => base,
    sibling: (base) => base.unsqueeze(0),
    applies: () => true,
  },
  ROW,
  { ...ROW, name: "row of a constant", constant: true },
  {
    name: "transposed",
    base: (self) => reversed(self).contiguous(),
    view: reversed,
    sibling: (base) => base.unsqueeze(-1),
    applies: (self) => self.ndim > 1,
  },
  {
    name: "stepped",
    base: (self) => ops.stack([self, self], -1).flatten(-2),
    view: (base) => base.slice(-1, 0, null, 2),
    sibling: (base) => base.slice(-1, 0, 3),
    applies: (self) => self.ndim > 0,
  },
];

/** One in-place call. */
interface Case {
  readonly label: string;
  readonly definition: OpDefinition;
  /** The op's in-place method. */
  readonly method: (...args: readonly unknown[]) => unknown;
  readonly view: View;
  /** Of the tensor that is looked at; its elements are those of a leaf. */
  readonly base: Tensor;
  /** The other arguments. */
  readonly rest: readonly unknown[];
  /** Number of writes to the receiver: none if the op returns its argument. */
  readonly writes: 0 | 1;
  /** Leaves among all of them. */
  readonly leaves: readonly Tensor[];
}

/** The result of an op out of place, with what a call in place takes for arguments that are left out. */
function resultOf(definition: OpDefinition, given: readonly unknown[]): Tensor {
  const { inplaceDefaults = {}, params } = definition, left = Object.keys(params).slice(given.length);
  const named = Object.entries(inplaceDefaults).filter(([name]) => left.includes(name));
  const made = callOp(definition, named.length > 0 ? [...given, Object.fromEntries(named)] : given);
  return isTensor(made) ? made : fail(`${definition.name}: several results`);
}

/** Returns whether a result cannot be written into the receiver. */
function isRefused(self: Tensor, result: Tensor): boolean {
  return `${result.shape}` !== `${self.shape}` ||
    CATEGORY_RANK[categoryOf(result.dtype)] > CATEGORY_RANK[categoryOf(self.dtype)];
}

interface Made {
  readonly good: readonly Case[];
  readonly refused: readonly Case[];
}

const isMethod = (value: unknown): value is Case["method"] => typeof value === "function";

function methodOf({ name }: OpDefinition): Case["method"] {
  const found: unknown = Reflect.get(Tensor.prototype, `${name}_`);
  return isMethod(found) ? found : fail(`Expected a method ${name}_`);
}

/** The in-place calls of an op's samples on a device. */
function casesOf(definition: OpDefinition, device: string): Made {
  const good: Case[] = [], refused: Case[] = [];
  definition.samples.forEach((sample: Sample, k) => {
    const { given: [receiver, ...others], tensors: operands } = makeSample(sample);
    if (!isTensor(receiver)) return;
    const result = resultOf(definition, [receiver, ...others]);
    if (device === "webgpu" && [result, ...operands].some((each) => each.dtype === "float64")) return;
    const into = isRefused(receiver, result) ? refused : good;
    const writes = result.storage === receiver.storage ? 0 : 1;
    for (const view of VIEWS) {
      const { given: [self, ...rest], tensors } = makeSample(sample, { requiresGrad: true, device });
      if (!isTensor(self) || !view.applies(self)) continue;
      const base = noGrad(() => view.base(self)).requiresGrad_(
        self.requiresGrad && !view.constant,
      );
      const leaves = [base, ...tensors.slice(1)].filter((each) => each.requiresGrad);
      const label = `${definition.name} sample ${k} ${view.name}`, method = methodOf(definition);
      const made = { label, definition, method, view, base, rest, writes, leaves } as const;
      into.push(made);
    }
  });
  return { good, refused };
}

/** A program over the base of a case. */
type Program = (made: Case, base: Tensor) => Tensor[];

/** The base, the view and a sibling after an in-place call. */
const inPlace: Program = ({ view, method, rest }, base) => {
  const target = view.view(base), sibling = view.sibling(base);
  Reflect.apply(method, target, rest);
  return [base, target, sibling];
};

/** The same, out of place. */
const byHand: Program = ({ view, definition, rest }, base) => {
  const target = view.view(base), sibling = view.sibling(base);
  target.copy_(resultOf(definition, [target.clone(), ...rest]));
  return [base, target, sibling];
};

/** Writes into a tensor that the program makes; without gradients into its input. */
const intermediate = (program: Program): Program => (made, base) => program(made, base.mul(1).to(base.dtype));

interface Outcome {
  readonly values: readonly Tensor[];
  readonly gradients: readonly (Tensor | null)[];
}

/** Goes backward through all floating results of some cases at once; what came of each. */
function observe(cases: readonly Case[], results: readonly (readonly Tensor[])[]): Outcome[] {
  let loss: Tensor | undefined;
  results.flat().forEach((each, k) => {
    if (!each.requiresGrad) return;
    const weights = Array.from({ length: each.numel() }, (_, n) => (n * 37 + 11 * k) % 101 / 101 - 0.4);
    const weight = tensor(weights, { dtype: each.dtype, device: each.device }).reshape(each.shape);
    const term = each.mul(weight).sum();
    loss = loss ? loss.add(term) : term;
  });
  for (const leaf of cases.flatMap((made) => made.leaves)) leaf.grad = null;
  loss?.backward();
  return cases.map(({ leaves }, k) => ({
    values: results[k] ?? [],
    gradients: leaves.map((leaf) => leaf.grad),
  }));
}

/** Tolerance of floats, relative to themselves and to the largest of them. */
const slackOf = ({ dtype, device }: Tensor): number =>
  dtype === "float64" ? 1e-13 : device === "webgpu" ? 1e-5 : 2e-6;

function assertSame(found: Tensor | null, expected: Tensor | null, where: string): void {
  if (found === null || expected === null) {
    // a gradient of zeros is as good as none
    const zero = (each: Tensor | null) => each === null || each.toTypedArray().every((x) => Number(x) === 0);
    return assert(zero(found) && zero(expected), `${where}: presence`);
  }
  assertEquals(`${found.dtype}[${found.shape}]`, `${expected.dtype}[${expected.shape}]`, where);
  const a = Array.from(found.detach().toTypedArray(), Number);
  const b = Array.from(expected.detach().toTypedArray(), Number);
  const scale = b.reduce((most, x) => Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most, 0);
  const slack = isFloat(found.dtype) ? slackOf(found) : 0;
  a.forEach((x, k) => {
    const y = b[k] ?? NaN;
    const same = Object.is(x, y) || x === y || Math.abs(x - y) <= slack * (Math.abs(y) + scale);
    assert(same, `${where}: [${k}] is ${x}, by hand ${y}`);
  });
}

function assertSameOutcome(found: Outcome, expected: Outcome, where: string): void {
  assertEquals(found.values.length, expected.values.length, where);
  found.values.forEach((each, k) => assertSame(each, expected.values[k] ?? null, `${where} result ${k}`));
  found.gradients.forEach((each, k) =>
    assertSame(each, expected.gradients[k] ?? null, `${where} gradient ${k}`)
  );
}

/** Returns whether calls end a graph, so that they run between graphs. */
const breaksGraphs = ({ name, implementation }: OpDefinition) =>
  implementation.kind === "host" || name === "maskedScatter";

/** Tracing takes a while: of the compiled cases every fourth, so that each op has some and each view many. */
const isPicked = (_: Case, k: number) => TAKES_ALL || k % 4 === 0;

/** Some of the ops, by the seed; all where they are asked for. */
const pickedOps = (count: number): readonly OpDefinition[] =>
  sampleBySeed(INPLACE.filter((definition) => !breaksGraphs(definition)), count);

const halfOfOps = (salt: number) => sampleBySeed(INPLACE, INPLACE.length >> 1, salt);

/** The cases of some ops through one compiled function, which writes into intermediates and into its inputs. */
function checkCompiled(definitions: readonly OpDefinition[], device: string, backend: string): void {
  const cases = definitions.flatMap((definition) => casesOf(definition, device).good).filter(isPicked);
  const intoInput = cases.map((_, k) => k % 2 === 1), write = intermediate(inPlace);
  compiler.reset();
  const all = compile(
    (given: readonly Case[], inputs: readonly Tensor[]) =>
      given.map((made, k) => {
        const input = inputs[k] ?? made.base;
        return intoInput[k] ? inPlace(made, input) : write(made, input);
      }),
    { backend, fullgraph: !definitions.some(breaksGraphs) },
  );
  manualSeed(7);
  const expected = observe(cases, cases.map((made) => intermediate(byHand)(made, made.base)));
  manualSeed(7);
  const inputs = cases.map(({ base }, k) => intoInput[k] ? base.mul(1).to(base.dtype) : base);
  const results = all(cases, inputs);
  const found = observe(cases, results);
  cases.forEach(({ label, writes }, k) => {
    const where = `${label} ${backend} ${device}`;
    assertSameOutcome(found[k] ?? fail(), expected[k] ?? fail(), where);
    if (!intoInput[k]) return;
    assertSame(inputs[k] ?? null, results[k]?.[0] ?? null, `${where}: the input`);
    assert((inputs[k]?.version ?? 0) >= writes, `${where}: the input's version`);
  });
}

for (const definition of halfOfOps(2)) {
  Deno.test(`${definition.name}_ writes the result of ${definition.name} and has its gradients`, () => {
    const { good, refused } = casesOf(definition, "cpu");
    assert(good.length > 0, "Expected a sample that can be written in place");
    for (const made of good) {
      manualSeed(3);
      const [expected = fail()] = observe([made], [intermediate(byHand)(made, made.base)]);
      manualSeed(3);
      const [found = fail()] = observe([made], [intermediate(inPlace)(made, made.base)]);
      assertSameOutcome(found, expected, made.label);
      const { label, writes } = made, versions = found.values.map((each) => each.version);
      assertEquals(versions, [writes, writes, writes], `${label} version`);
      // without gradients the base itself is written
      manualSeed(3);
      const [written] = noGrad(() => inPlace(made, made.base));
      assertSame(written ?? null, expected.values[0] ?? null, `${made.label}, without gradients`);
    }
    for (const made of refused) {
      assertThrows(() => intermediate(inPlace)(made, made.base), DynError, "Expected a result");
    }
  });

  Deno.test(`${definition.name}_ refuses leaves that require grad, and their views`, () => {
    for (const made of casesOf(definition, "cpu").good) {
      if (!made.base.requiresGrad) continue;
      const message = made.view.name === "whole" ? "a leaf that requires grad" : "view of a leaf";
      const before = made.base.tolist();
      // A composition that gives its receiver as it is, as dropout does outside of training, asks nothing of a leaf
      if (made.writes === 0 && definition.gradient.kind === "composite") inPlace(made, made.base);
      else assertThrows(() => inPlace(made, made.base), DynError, message);
      assertEquals([made.base.tolist(), made.base.version], [before, 0], made.label);
      const view = made.view.view(made.base);
      assertEquals(noGrad(() => callInplace(definition, [view, ...made.rest])) === view, true);
      assertEquals([made.base.version, made.base.isLeaf], [made.writes, true], made.label);
    }
  });
}

for (const definition of halfOfOps(3)) {
  Deno.test(`${definition.name}_ ahead of time`, () => checkCompiled([definition], "cpu", "aot_eager"));
}
for (const definition of sampleBySeed(INPLACE, 25, 1)) {
  Deno.test(`${definition.name}_ compiled to WebAssembly`, () =>
    checkCompiled([definition], "wasm", "inductor"));
}

/** Ops in groups that are compiled together. */
function* groups(count: number): Generator<readonly OpDefinition[]> {
  const picked = pickedOps(count);
  for (let k = 0; k < picked.length; k += count) yield picked.slice(k, k + count);
}

Deno.test({
  name: "ops in place, in C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    config.patch({ inductor: { tier: "wait" } }, () => {
      for (const some of groups(8)) checkCompiled(some, "cpu", "inductor");
    });
  },
});

Deno.test({
  name: "ops in place, on WebGPU",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    for (const some of groups(2)) checkCompiled(some, "webgpu", "inductor");
  },
});

Deno.test("writes through indices that share elements are rejected, compiled or not; others are not", () => {
  const windows = (x: Tensor, size: number) => x.mul(1).unfold(-1, size, 2).transpose(0, 1).neg_();
  const strided = (x: Tensor, inner: number) => {
    const y = x.mul(1).reshape([-1]);
    y.asStrided([3, 2], [2, inner]).add_(1);
    return y;
  };
  const input = (x: Tensor, factor: number) => x.mul_(factor);
  const x = () => ops.arange(18, { dtype: "float32" }).reshape([3, 6]);
  const cases: readonly [(x: Tensor, parameter: number) => Tensor, () => Tensor, number, number | null][] = [
    [windows, x, 3, 2],
    [strided, x, 2, 3],
    [input, () => x().unfold(1, 3, 2), 2, null],
    [input, () => x().narrow(0, 0, 1).expand([4, 6]), 2, null],
  ];
  for (const [program, make, bad, good] of cases) {
    for (const backend of ["aot_eager", "inductor"]) {
      for (const run of [program, compile(program, { backend })]) {
        const given = make(), before = given.tolist();
        assertThrows(() => run(given, bad), DynError, "refer to a single memory location");
        assertEquals(given.tolist(), before);
        if (good !== null) assertEquals(run(make(), good).tolist(), program(make(), good).tolist());
      }
    }
  }
});

Deno.test("elements are distinct if inspection of every position proves it", () => {
  for (let seed = 0; seed < 400; seed++) {
    const pick = (most: number, k: number) =>
      Math.floor(Math.abs(Math.sin(seed * 9.7 + k * 3.1)) * (most + 1));
    const shape = [pick(3, 1), pick(3, 2), pick(4, 3)], strides = [pick(6, 4), pick(4, 5), pick(9, 6)];
    const places = new Set<number>();
    for (let i = 0; i < (shape[0] ?? 0); i++) {
      for (let j = 0; j < (shape[1] ?? 0); j++) {
        for (let k = 0; k < (shape[2] ?? 0); k++) {
          places.add(i * (strides[0] ?? 0) + j * (strides[1] ?? 0) + k * (strides[2] ?? 0));
        }
      }
    }
    const apart = places.size === shape.reduce((a, b) => a * b, 1);
    assertEquals(isNonOverlapping(shape, strides), apart, `[${shape}] with strides [${strides}]`);
  }
});

Deno.test("functions and layers of nn write into their argument if requested", () => {
  const F = nn.functional;
  const calls: readonly ((x: Tensor) => Tensor)[] = [
    (x) => F.relu(x, true),
    (x) => F.relu(x, { inplace: true }),
    (x) => F.elu(x, 0.5, true),
    (x) => F.elu(x, { alpha: 0.5, inplace: true }),
    (x) => F.leakyRelu(x, 0.1, true),
    (x) => F.hardtanh(x, -0.5, 0.5, true),
    (x) => F.silu(x, { inplace: true }),
    (x) => F.dropout(x, 0.5, true, true),
    (x) => new nn.ReLU(true).call(x),
    (x) => new nn.ELU(0.5, true).call(x),
    (x) => new nn.LeakyReLU({ negativeSlope: 0.1, inplace: true }).call(x),
    (x) => new nn.Threshold(0.1, 2, true).call(x),
    (x) => new nn.Dropout(0.5, { inplace: true }).call(x),
  ];
  for (const call of calls) {
    for (const run of [call, compile(call, { backend: "aot_eager" })]) {
      const x = ops.linspace(-1, 1, 6);
      manualSeed(5);
      const result = run(x);
      assertEquals([result === x, x.version], [true, 1], String(call));
      assert(!x.equal(ops.linspace(-1, 1, 6)), String(call));
    }
  }
  const x = ops.linspace(-1, 1, 6);
  assert(F.relu(x, false) !== x && F.relu(x, { inplace: false }) !== x && new nn.ReLU().call(x) !== x);
  const wrong: object = { inplace: 1 };
  assertThrows(
    () => Reflect.apply(F.relu, undefined, [x, wrong]),
    DynError,
    "Expected a boolean for inplace",
  );
  assertThrows(
    () => Reflect.apply(F.softmax, undefined, [x, 0, { inplace: true }]),
    DynError,
    "found inplace",
  );
  assertThrows(() => Reflect.construct(nn.ReLU, [{ inPlace: true }]), DynError, "found inPlace");
});

Deno.test("compiled functions reject what eager execution rejects in place, with the same errors", () => {
  // An op that returns its receiver, such as dropout outside of training, refuses nothing
  const message = (run: () => unknown): string | null => {
    try {
      run();
    } catch (error) {
      if (error instanceof DynError) return error.message;
      throw error;
    }
    return null;
  };
  let refusals = 0;
  for (const definition of [...pickedOps(4), ...INPLACE.filter(({ name }) => name === "add")].slice(0, 5)) {
    const { good, refused } = casesOf(definition, "cpu");
    const onLeaf = good.filter((made) => made.base.requiresGrad).slice(0, 2);
    const calls: readonly (readonly [Program, Case])[] = [
      ...onLeaf.map((made) => [inPlace, made] as const),
      ...refused.slice(0, 1).map((made) => [intermediate(inPlace), made] as const),
    ];
    for (const [program, made] of calls) {
      const compiled = compile(program, { backend: "aot_eager" }), before = made.base.tolist();
      const expected = message(() => program(made, made.base));
      if (expected !== null) refusals++;
      assertEquals(message(() => compiled(made, made.base)), expected, made.label);
      assertEquals(made.base.tolist(), before, made.label);
    }
  }
  // Addition is among them
  assert(refusals > 0);
});
