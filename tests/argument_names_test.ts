/**
 * Arguments by name: ops take each of PyTorch's names (data/argument_names.json, from the schemas of its functions), and
 * a call by names is one by positions, eager and compiled. Draws ops by seed.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import { autograd, compile, DynError, manualSeed, nn, type Tensor, tensor, utils, zeros } from "../mod.ts";
import { messageOf } from "../lib/base/errors.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import { parseCall, positionalCount } from "../lib/ops/call.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { ALL_OPS, findTarget } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { METHOD_ARGUMENTS } from "../lib/tensor/method_arguments.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import names from "./data/argument_names.json" with { type: "json" };
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Arguments that dyn has no use for, or not yet. */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  // Choices among libraries of GPUs
  svdvals: ["driver"],
  linalgSvd: ["driver"],
  // Of GPUs alone
  mm: ["outDtype"],
  bmm: ["outDtype"],
  addmm: ["outDtype"],
  baddbmm: ["outDtype"],
  stft: ["alignToWindow"],
};

Deno.test("ops take PyTorch's names of their arguments", () => {
  const refused: string[] = [];
  for (const [op, known] of Object.entries(names)) {
    const definition = findTarget(op)?.definition;
    assert(definition, op);
    for (const name of known) {
      let message = "";
      try {
        parseCall(definition, [{ [name]: undefined }], isTensor);
      } catch (thrown) {
        message = messageOf(thrown);
      }
      const isRefused = message.startsWith("Expected an option");
      if (isRefused !== (ABSENT[op]?.includes(name) ?? false)) refused.push(`${op}: ${name}: ${message}`);
    }
  }
  assertEquals(refused, []);
});

/** The arguments of a call, all by name; null for a call that has no names for some. */
function byNames(definition: OpDefinition, given: readonly unknown[]): Record<string, unknown> | null {
  const last = given.at(-1), options = isPlainObject(last) ? last : {};
  const plain = isPlainObject(last) ? given.slice(0, -1) : given, slots = Object.keys(definition.params);
  if (plain.length > positionalCount(definition)) return null;
  return { ...Object.fromEntries(plain.map((value, k) => [slots[k], value])), ...options };
}

const textOf = (results: readonly Tensor[]): string[] =>
  results.map((each) => `${each.dtype} ${each.shape} ${String(each.detach())}`);

Deno.test("ops compute the same by positions and by names", () => {
  const called = ALL_OPS.filter(({ name, arrange }) => !/^empty|^newEmpty/.test(name) && !arrange);
  for (const definition of sampleBySeed(called, 60)) {
    definition.samples.forEach((sample, k) => {
      const where = `${definition.name}, sample ${k}`, { given } = makeSample(sample);
      const named = byNames(definition, given);
      if (named === null) return;
      manualSeed(k);
      const expected = textOf(resultsOf(callOp(definition, given)));
      manualSeed(k);
      assertEquals(textOf(resultsOf(callOp(definition, [named]))), expected, where);
    });
  }
});

/** A call of each method that is not an op, by positions. */
const CALLS: { readonly [K in keyof typeof METHOD_ARGUMENTS]: (x: Tensor) => readonly unknown[] } = {
  size: () => [1],
  stride: () => [0],
  where: (x) => [x.gt(2), x.mul(2)],
  registerHook: () => [(g: Tensor) => g.mul(3)],
  registerPostAccumulateGradHook: () => [(p: Tensor) => void p.grad?.mul_(5)],
  resize_: () => [[3, 2]],
  resizeAs_: () => [zeros([3, 2])],
  equal: (x) => [x.clone()],
  isSameSize: () => [zeros([2, 3])],
  isSetTo: (x) => [x],
  typeAs: () => [zeros([1], { dtype: "float64" })],
  set_: (x) => [x.mul(2)],
  apply_: () => [(v: number) => v + 1],
  map_: (x) => [x.mul(10), (v: number, w: number) => v + w],
  orgqr: () => [tensor([0.5, 0.25])],
  polygamma: () => [1],
  polygamma_: () => [1],
  nextafter_: () => [zeros([2, 3])],
  narrowCopy: () => [1, 0, 2],
  newTensor: () => [[1, 2]],
  newEmptyStrided: () => [[2, 3], [3, 1]],
};

/** The result of a method, the tensor afterwards, and the gradient that arrives at it. */
function outcome(method: string, call: (x: Tensor) => unknown): string {
  const leaf = tensor([[1, 2], [3, 4], [5, 6.5]], { requiresGrad: method.startsWith("register") });
  const x = method.startsWith("register") || method === "orgqr" ? leaf : leaf.t().contiguous().detach();
  const found = call(x);
  if (method === "newEmptyStrided" && isTensor(found)) return `${found.shape} ${found.stride()}`;
  if (!x.requiresGrad) return `${found} ${x}`;
  x.square().sum().backward();
  return String(x.grad);
}

for (const [method, argsOf] of Object.entries(CALLS)) {
  Deno.test(`${method} takes its arguments by name, eager and compiled`, () => {
    const known = METHOD_ARGUMENTS[method] ?? [];
    const invoke = (x: Tensor, given: readonly unknown[]): unknown =>
      Reflect.apply(Reflect.get(x, method), x, given);
    const named = (x: Tensor) => Object.fromEntries(argsOf(x).map((value, k) => [known[k], value]));
    assertEquals(known.length, argsOf(zeros([2, 3])).length);
    const expected = outcome(method, (x) => invoke(x, argsOf(x)));
    assertEquals(outcome(method, (x) => invoke(x, [named(x)])), expected);
    const compiled = compile((x: Tensor) => invoke(x, [named(x)]), { backend: "eager" });
    assertEquals(outcome(method, compiled), expected, "compiled");
    assertThrows(() => invoke(zeros([2, 3]), [{ ...named(zeros([2, 3])), other_: 1 }]), DynError, "other_");
  });
}

Deno.test("arguments by name break no graph, and are given once", () => {
  const x = tensor([[1, 2, 3], [4, 5, 6.5]]);
  const read = (of: Tensor) =>
    Reflect.apply(of.where, of, [{ condition: of.gt(2), other: of.neg() }])
      .mul(of.size({ dim: 1 })).add(of.stride({ dim: 0 }));

  assert(
    compile(read, { backend: "eager", fullgraph: true })(x).equal(x.where(x.gt(2), x.neg()).mul(3).add(3)),
  );
  const { where } = x;
  assertThrows(
    () => Reflect.apply(where, x, [x.gt(2), { condition: x.gt(2), other: x }]),
    DynError,
    "one value for condition of where but found two",
  );
  assertThrows(() => Reflect.apply(x.gather, x, [{ input: x, dim: 0, index: x }]), DynError, "two");
  assertThrows(() => Reflect.apply(x.size, x, [{ dim: 1, axis: 1 }]), DynError, "axis");
});

Deno.test("instances of classes are no arguments by name, eager and compiled", () => {
  const made = <T extends object>(fields: T): T => Object.assign(new (class Settings {})(), fields);
  const x = tensor([[1, 2, 3], [4, 5, 6.5]], { requiresGrad: true }),
    settings = made({ useReentrant: false });
  const refused: readonly ((of: Tensor) => unknown)[] = [
    (of) => Reflect.apply(of.at, of, [made({ start: 0, stop: 1 })]),
    (of) => Reflect.apply(of.view, of, [made({ dtype: "int32" })]),
    (of) => [of.mul(2), Reflect.apply(zeros, undefined, [[2], made({ requiresGrad: true })])],
    (of) => Reflect.apply(autograd.grad, autograd, [made({ outputs: of.sum(), inputs: [of] })]),
  ];
  for (const call of refused) {
    assertThrows(() => call(x), DynError, "", String(call));
    assertThrows(() => compile(call, { backend: "eager" })(x), DynError, "", `compiled: ${call}`);
  }
  const kept = (of: Tensor) =>
    utils.checkpoint((each: Tensor, given: object) => each.mul(given === settings ? 2 : 3), of, settings);
  for (const run of [kept, compile(kept, { backend: "eager" })]) assert(run(x).equal(x.mul(2)));
});

Deno.test("gradients are asked for by names, eager and compiled", () => {
  const penalty = (x: Tensor, w: Tensor) => {
    const y = x.mul(w).square().sum(1);
    const [grad] = autograd.grad({
      outputs: y,
      inputs: [w],
      gradOutputs: zeros([2]).add(1),
      createGraph: true,
    });
    assert(grad);
    return grad.norm();
  };
  const x = tensor([[1, 2, 3], [4, 5, 6.5]]), w = new nn.Parameter(tensor([1, -2, 0.5]));
  const expected = penalty(x, w), y = x.mul(w).square().sum(1);
  const [grad] = autograd.grad(y, [w], zeros([2]).add(1));
  assertEquals(expected.item(), grad?.norm().item());
  assertEquals(compile(penalty, { backend: "aot_eager", fullgraph: true })(x, w).item(), expected.item());
  autograd.backward({ tensors: [x.mul(w).sum()], gradTensors: [tensor(2)] });
  assertEquals(w.grad?.tolist(), [10, 14, 19]);
  assertThrows(
    () => Reflect.apply(autograd.grad, autograd, [{ outputs: y, inputs: w, lr: 1 }]),
    DynError,
    "lr",
  );
});

Deno.test("functions whose result is no tensor take their arguments by name, eager and compiled", () => {
  const x = tensor([1.5, 2]), y = x.add(0.5);
  const asked = (x: Tensor, y: Tensor) => [
    dyn.equal({ input: x, other: x }),
    dyn.equal(x, y),
    dyn.allclose({ input: x, other: y, rtol: 0.5 }),
    dyn.allclose(x, y),
    dyn.allclose(x, y, 0, { atol: 1 }),
    dyn.numel({ input: x }),
    dyn.isComplex({ input: x }),
  ];
  assertEquals(asked(x, y), [true, false, true, false, true, 2, false]);
  assertEquals(compile(asked)(x, y), asked(x, y));
  for (const call of [dyn.equal, dyn.allclose, dyn.numel, dyn.isComplex]) {
    assertThrows(() => Reflect.apply(call, null, [{ input: x, other: x, zzz: 1 }]), DynError, "found");
  }
});

Deno.test("what a spread list cannot hold is named", () => {
  const x = zeros([2, 2]);
  for (const name of ["reshape", "view", "expand", "repeat"] as const) {
    assertThrows(() => Reflect.apply(x[name], x, [2, "a"]), DynError, `${name} but found "a" among [2, "a"]`);
  }
  assertThrows(() => Reflect.apply(x.permute, x, [0, "a"]), DynError, 'permute but found [0, "a"]');
  assertThrows(() => Reflect.apply(x.roll, x, [1, 0, 2]), DynError, "at most");
});
