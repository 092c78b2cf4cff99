/**
 * Ahead-of-time autograd against eager execution: results, gradients, writes, aliases, identity; the partition and what
 * it saves; symbolic sizes; gradients inside graphs.
 */
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import "../backends/cpu/device.ts";
import "../lib/tensor/install.ts";
import "../lib/autograd/install.ts";
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import { buildJoint } from "../lib/aot/joint.ts";
import { makeFx } from "../lib/autograd/make_fx.ts";
import { FlowNetwork } from "../lib/aot/max_flow.ts";
import { minCutPartition, type Partition, savingPartition } from "../lib/aot/partition.ts";
import { metasOf } from "../lib/aot/recompute.ts";
import { simplify } from "../lib/aot/simplify.ts";
import { traceForward } from "../lib/aot/trace.ts";
import { grad } from "../lib/autograd/entry_points.ts";
import { gradientArguments, GRADIENTS } from "../lib/graph/gradient_call.ts";
import { DynError } from "../lib/base/errors.ts";
import { logs } from "../lib/base/logs.ts";
import type { GraphBackend } from "../lib/graph/backend.ts";
import { GraphModule } from "../lib/graph/graph_module.ts";
import { contiguousMeta, type TensorMeta } from "../lib/graph/meta.ts";
import { type Argument, Graph, isList, Node } from "../lib/graph/node.ts";
import {
  argumentsOfNode,
  isGraphValue,
  mapArguments,
  tensorArguments,
  valueOfNode,
} from "../lib/ops/graph_builder.ts";
import { findTarget } from "../lib/ops/table.ts";
import { ShapeEnv } from "../lib/sym/shape_env.ts";
import { printGraph } from "../lib/graph/print.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { ops } from "../lib/tensor/eager.ts";
import { graphRunner } from "../lib/tensor/graph_runner.ts";
import { dropout } from "../lib/tensor/generated_functions.ts";
import { enableGrad, noGrad } from "../lib/tensor/modes.ts";
import { manualSeed } from "../lib/tensor/random.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";

/** Deterministic values in (-1, 1). */
function wave(shape: readonly number[], seed = 1, requiresGrad = false): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, i) => Math.fround(Math.sin(1.7 * i + 0.9 * seed + 0.3)));
  return tensor(values, { dtype: "float32" }).reshape(shape).detach().clone().requiresGrad_(requiresGrad);
}
const leaf = (shape: readonly number[], seed = 1) => wave(shape, seed, true);

type Program = (...inputs: Tensor[]) => unknown;

/** Captures without running autograd, as the tracer does. */
function capture(fn: Program, inputs: readonly Tensor[]): GraphModule {
  return makeFx(fn)(...inputs);
}

const aotEager: GraphBackend = aotAutograd({ fwCompiler: interpretGraph });
const saveAll: GraphBackend = aotAutograd({ fwCompiler: interpretGraph, partition: savingPartition });

function tensorsIn(value: unknown): Tensor[] {
  if (isTensor(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(tensorsIn);
  return [];
}

interface Outcome {
  readonly results: unknown[];
  readonly requiresGrad: boolean[];
  readonly shapes: string[];
  readonly inputs: unknown[];
  readonly gradients: (unknown | null)[];
  /** Results that are inputs. */
  readonly identities: number[];
}

/** Runs a program on fresh inputs and backward through all that requires a gradient. */
function observe(run: (...inputs: Tensor[]) => unknown, make: () => Tensor[]): Outcome {
  const leaves = make();
  const inputs = leaves.map((t) => t.requiresGrad ? t.mul(1) : t);
  const results = tensorsIn(run(...inputs));
  const roots = results.filter((t) => t.requiresGrad);
  if (roots.length > 0) {
    const loss = roots.map((t, k) => t.mul(wave(t.shape, k + 7)).sum()).reduce((a, b) => a.add(b));
    loss.backward();
  }
  return {
    results: results.map((t) => t.detach().tolist()),
    requiresGrad: results.map((t) => t.requiresGrad),
    shapes: results.map((t) => `${t.dtype}[${t.shape}][${t.stride()}]`),
    inputs: inputs.map((t) => t.detach().tolist()),
    gradients: leaves.map((t) => t.grad?.tolist() ?? null),
    identities: results.map((t) => inputs.indexOf(t)),
  };
}

function assertClose(actual: unknown, expected: unknown, path: string): void {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    assertEquals(actual.length, expected.length, path);
    actual.forEach((each, i) => assertClose(each, expected[i], `${path}[${i}]`));
  } else if (typeof actual === "number" && typeof expected === "number") {
    const near = Object.is(actual, expected) ||
      Math.abs(actual - expected) <= 1e-5 + 1e-4 * Math.abs(expected);
    assert(near, `${path}: found ${actual}, expected ${expected}`);
  } else assertEquals(actual, expected, path);
}

/** The same outcome eagerly and ahead of time, saving little and saving all. */
function agree(fn: Program, make: () => Tensor[]): void {
  const expected = observe(fn, make);
  for (const backend of [aotEager, saveAll]) {
    const compiled = backend(capture(fn, make()), make());
    if (!compiled) throw new Error("declined");
    for (const round of ["first", "second"]) {
      const found = observe(compiled, make);
      for (const key of ["results", "inputs", "gradients"] as const) {
        assertClose(found[key], expected[key], `${round} ${key}`);
      }
      for (const key of ["requiresGrad", "shapes", "identities"] as const) {
        assertEquals(found[key], expected[key], `${round} ${key}`);
      }
    }
  }
}

function partition(fn: Program, inputs: readonly Tensor[], by = minCutPartition): Partition {
  const joint = buildJoint(traceForward(capture(fn, inputs)), { gradEnabled: true });
  simplify(joint);
  joint.graph.lint();
  return by(joint);
}

Deno.test("a minimum cut is as small as the best of all cuts", () => {
  const edge = fc.tuple(fc.nat(5), fc.nat(5), fc.integer({ min: 0, max: 9 }));
  fc.assert(fc.property(fc.array(edge, { maxLength: 14 }), (edges) => {
    const network = new FlowNetwork(6);
    for (const [from, to, capacity] of edges) network.edge(from, to, capacity);
    const cost = (side: readonly boolean[]) =>
      edges.reduce((sum, [from, to, capacity]) => sum + (side[from] && !side[to] ? capacity : 0), 0);
    const found = network.minimumCut(0, 5);
    assert(found[0] && !found[5]);
    let best = Infinity;
    for (let bits = 0; bits < 16; bits++) {
      const side = [true, ...[0, 1, 2, 3].map((k) => (bits >> k & 1) === 1), false];
      best = Math.min(best, cost(side));
    }
    assertEquals(cost(found), best);
  }));
});

Deno.test("only infinite edges to cut is an error", () => {
  const network = new FlowNetwork(3);
  network.edge(0, 1, Infinity);
  network.edge(1, 2, Infinity);
  assertThrows(() => network.minimumCut(0, 2), Error, "Expected a finite cut");
});

Deno.test("cos(cos(x)) saves one tensor and computes the inner cosine again", () => {
  const fn: Program = (x) => x!.cos().cos();
  const parts = partition(fn, [leaf([5, 5, 5])]);
  assertEquals(parts.saved, [{ kind: "input", input: 0 }]);
  assertEquals(parts.savedFrom, 1);
  assertEquals(
    printGraph(parts.backward, { name: "backward" }),
    `function backward(arg_0, tangents_0) {
  let cos = ops.cos(arg_0);
  let sin = ops.sin(cos);  cos = null;
  let mul = ops.mul(tangents_0, sin);  tangents_0 = sin = null;
  let neg = ops.neg(mul);  mul = null;
  let sin_1 = ops.sin(arg_0);  arg_0 = null;
  let mul_1 = ops.mul(neg, sin_1);  neg = sin_1 = null;
  let neg_1 = ops.neg(mul_1);  mul_1 = null;
  return [neg_1];
}
`,
  );
  assertEquals(partition(fn, [leaf([5, 5, 5])], savingPartition).saved.length, 2);
});

Deno.test("matrix products are saved or read from inputs, never repeated", () => {
  const fn: Program = (x, w, v) => x!.matmul(w!).tanh().matmul(v!);
  const { backward, forward } = partition(fn, [leaf([4, 3]), leaf([3, 5], 2), leaf([5, 2], 3)]);
  const products = (graph: typeof forward) =>
    graph.nodes.filter((node) => /^(matmul|mm|bmm)$/.test(node.target)).length;
  assertEquals(products(forward), 2);
  assertEquals(products(backward), 4);
});

Deno.test("attention scores are recomputed: sums and maxima of their rows are saved", () => {
  const attend: Program = (q, k, v) => q!.matmul(k!).softmax(-1).matmul(v!);
  const leaves = (length: number) => [leaf([length, 8]), leaf([8, length], 2), leaf([length, 8], 3)];
  const savedBy = (length: number, fn: Program = attend) => {
    const { forward, saved, savedFrom } = partition(fn, leaves(length));
    const [outputs = null] = forward.output.args, kept = isList(outputs) ? outputs.slice(savedFrom) : [];
    return [saved.length, kept.map((node) => node instanceof Node ? metasOf(node)[0]?.shape : undefined)];
  };
  assertEquals(savedBy(1024), [5, [[1024, 1], [1024, 1]]]);
  assertEquals(savedBy(512), [4, [[512, 512]]]);
  // Dropout draws again with saved keys
  const dropped: Program = (q, k, v) => dropout(q!.matmul(k!).softmax(-1), 0.5).matmul(v!);
  assertEquals(savedBy(1024, dropped), [6, [[1024, 1], [1024, 1]]]);
});

Deno.test("logs show the joint graph and both halves", () => {
  const shown: string[] = [];
  logs.capture(
    "aot_joint_graph,aot_graphs",
    (artifact, text) => shown.push(`${artifact} ${text.split("\n")[0]}`),
    () => {
      const x = leaf([3]);
      aotEager(capture((t) => t!.sin(), [x]), [x]);
    },
  );
  assertEquals(shown, [
    "aot_joint_graph function joint(arg_0 /* f32[3][1] */, tangents_0 /* f32[3][1] */) {",
    "aot_graphs function forward(arg_0 /* f32[3][1] */) {",
    "aot_graphs function backward(arg_0 /* f32[3][1] */, tangents_0 /* f32[3][1] */) {",
  ]);
});

Deno.test("without gradients there is one graph", () => {
  const roles: unknown[] = [];
  const backend = aotAutograd({
    fwCompiler: (gm) => (roles.push(gm.signature?.role), (...args) => gm.forward(...args)),
  });
  const x = wave([3]);
  const compiled = backend(capture((t) => t!.sin(), [x]), [x]);
  const result = compiled?.(x);
  assert(isTensor(result) && !result.requiresGrad);
  assertEquals(roles, ["inference"]);
});

const PROGRAMS: Readonly<Record<string, readonly [Program, () => Tensor[]]>> = {
  "pointwise chain": [(x) => x!.mul(2).exp().sin().add(x!), () => [leaf([4, 3])]],
  "broadcast operands": [(x, y) => x!.mul(y!).sub(y!), () => [leaf([4, 3]), leaf([3], 2)]],
  "linear and loss": [
    (x, w, b) => x!.matmul(w!).add(b!).relu().pow(2).mean(),
    () => [wave([4, 3]), leaf([3, 2], 2), leaf([2], 3)],
  ],
  "reductions": [(x) => [x!.sum(1), x!.mean(), x!.amax(0)], () => [leaf([4, 3])]],
  "views": [(x) => x!.t().mul(2).reshape([-1]).slice(0, 2, 9).unsqueeze(0), () => [leaf([4, 3])]],
  "one of two results used": [(x) => x!.max(1), () => [leaf([4, 3])]],
  "integer and constant results": [(x) => [x!.argmax(1), 3, x!.gt(0)], () => [leaf([4, 3])]],
  "detached part": [
    (x, y) => {
      const d = x!.mul(2).detach();
      return [d.mul(y!), d, x!.sin().mul(d)];
    },
    () => [leaf([3]), leaf([3], 2)],
  ],
  "an input without a path": [(x, _y) => x!.mul(3), () => [leaf([3]), leaf([3], 2)]],
  "nothing differentiable": [(x) => x!.detach().add(1), () => [leaf([3])]],
  "result used twice": [(x) => {
    const y = x!.mul(2);
    return [y, y.add(1), y];
  }, () => [leaf([3])]],
  "equal computations stay separate results": [(x) => [x!.mul(2), x!.mul(2)], () => [leaf([3])]],
  "input returned": [(x) => [x!, x!.add(1)], () => [leaf([3])]],
  "input view returned": [(x) => [x!.view([3, 2]), x!.t(), x!.select(0, 1)], () => [leaf([2, 3])]],
  "a no-op is still a new tensor": [(x) => x!.mul(1), () => [leaf([3])]],
  "in place on intermediates": [
    (x, w) => {
      const h = x!.mul(w!);
      h.add_(1);
      const v = h.select(0, 0);
      v.mul_(2);
      return h.sum();
    },
    () => [leaf([2, 3]), leaf([2, 3], 2)],
  ],
  "in place through a transposed slice": [
    (x) => {
      const h = x!.mul(2);
      h.t().slice(0, 1, 3).mul_(3);
      return h.exp();
    },
    () => [leaf([2, 4])],
  ],
  "views see a write to their base": [
    (x) => {
      const h = x!.mul(2), v = h.select(1, 0);
      h.exp_();
      return [v.mul(3), h];
    },
    () => [leaf([2, 3])],
  ],
  "input mutated": [(x) => {
    x!.add_(1);
    return x!.mul(2);
  }, () => [wave([3])]],
  "input mutated, gradient through": [(x, y) => {
    x!.mul_(y!);
    return x!.sin();
  }, () => [leaf([3]), leaf([3], 2)]],
  "input mutated through a view": [(x) => {
    x!.select(0, 1).mul_(5);
    return x!.sum();
  }, () => [leaf([3, 2])]],
  "input mutated and returned": [(x) => x!.mul_(2), () => [wave([3])]],
  "input overwritten by another type": [(x, y) => {
    x!.copy_(y!);
    return null;
  }, () => [wave([3]), tensor([1, 2, 3])]],
  "aliases of an intermediate": [(x) => {
    const h = x!.mul(2);
    return [h.t(), h, h.select(0, 0)];
  }, () => [leaf([2, 3])]],
  "a write through a detached alias leaves the history alone": [
    (x) => {
      const h = x!.sin();
      h.detach().mul_(2);
      return h.mul(3);
    },
    () => [leaf([3])],
  ],
  "a write without recording leaves the history alone": [
    (x, w) => {
      noGrad(() => w!.add_(1));
      return x!.mul(w!);
    },
    () => [leaf([3]), leaf([3], 2)],
  ],
  "running statistics": [
    (x, mean) => {
      noGrad(() => mean!.mul_(0.9).add_(x!.mean(0), { alpha: 0.1 }));
      return x!.sub(x!.mean(0)).mul(x!);
    },
    () => [leaf([4, 3]), wave([3], 2)],
  ],
  "slices, stacks and products": [
    (x, y) => {
      const [a, b] = x!.split(2, 1) as Tensor[];
      return ops.stack([a!.matmul(y!), b!.matmul(y!)]).logSoftmax(-1);
    },
    () => [leaf([3, 4]), leaf([2, 3], 2)],
  ],
  "indexing and losses": [
    (x) => ops.crossEntropy(x!, tensor([1, 0, 2], { dtype: "int64" })),
    () => [leaf([3, 4])],
  ],
  "normalisation": [
    (x, g, b) => ops.gelu(ops.layerNorm(x!, [4], g!, b!)),
    () => [leaf([3, 4]), leaf([4], 2), leaf([4], 3)],
  ],
  "mutation without gradient": [
    (x, y) => {
      noGrad(() => y!.mul_(2));
      return x!.mul(y!.detach().clone());
    },
    () => [leaf([3]), wave([3], 2)],
  ],
};

for (const [name, [fn, make]] of Object.entries(PROGRAMS)) {
  Deno.test(`agrees with eager: ${name}`, () => agree(fn, make));
}

Deno.test("a write through a result reaches the argument", () => {
  const fn: Program = (x) => [x!.view([3, 2]), x!.t(), x!.select(0, 1)];
  const x = wave([2, 3]);
  const results = aotEager(capture(fn, [x]), [x])?.(x);
  const [viewed, , selected] = tensorsIn(results);
  viewed?.select(0, 0).fill_(99);
  selected?.add_(100);
  const [first, second] = x.tolist() as number[][];
  assertEquals(first?.slice(0, 2), [99, 99]);
  assert((second?.[0] ?? 0) > 50);
});

Deno.test("inputs that share memory and are written to run op by op", () => {
  const fn: Program = (x, y) => {
    x!.add_(1);
    return y!.mul(2);
  };
  const separate = wave([4]);
  const compiled = aotEager(capture(fn, [separate, wave([4])]), [separate, wave([4])]);
  const base = tensor([1, 1, 1, 1], { dtype: "float32" });
  const result = compiled?.(base, base.slice(0, 0, 4));
  assert(isTensor(result));
  assertEquals(result.tolist(), [4, 4, 4, 4]);
  const halves = tensor([1, 2, 3, 4, 5, 6, 7, 8], { dtype: "float32" });
  const apart = compiled?.(halves.slice(0, 0, 4), halves.slice(0, 4, 8));
  assert(isTensor(apart));
  assertEquals(apart.tolist(), [10, 12, 14, 16]);
  assertEquals(halves.tolist(), [2, 3, 4, 5, 5, 6, 7, 8]);
});

Deno.test("gradients are recorded only where recording is enabled", () => {
  const fn: Program = (x) => x!.sin();
  const x = leaf([3]);
  const compiled = aotEager(capture(fn, [x]), [x]);
  const off = noGrad(() => compiled?.(x));
  assert(isTensor(off) && !off.requiresGrad);
  const inner: Program = (t) => [t!.cos(), enableGrad(() => t!.sin())];
  const [plain, recorded] = noGrad(() => {
    const run = aotEager(capture(inner, [x]), [x]);
    return tensorsIn(run?.(x));
  });
  assert(!plain?.requiresGrad && recorded?.requiresGrad);
  recorded.sum().backward();
  assertClose(x.grad?.tolist(), x.cos().tolist(), "gradient");
});

Deno.test("gradients of gradients equal eager ones", () => {
  const fn: Program = (x, w) => x!.mul(w!).sin().mul(x!);
  const second = (run: (...inputs: Tensor[]) => unknown) => {
    const x = leaf([3]), w = leaf([3], 2);
    const y = run(x.exp(), w);
    assert(isTensor(y));
    const [first] = grad([y.sum()], [x], null, { createGraph: true });
    assert(first !== undefined && first !== null);
    first.pow(2).sum().backward();
    return [first.detach().tolist(), x.grad?.tolist(), w.grad?.tolist()];
  };
  const compiled = aotEager(capture(fn, [leaf([3]), leaf([3], 2)]), []);
  if (!compiled) throw new Error("declined");
  assertClose(second(compiled), second(fn as (...inputs: Tensor[]) => unknown), "second order");
});

Deno.test("a second backward needs retainGraph", () => {
  const x = leaf([3]);
  const y = aotEager(capture((t) => t!.sin().exp(), [x]), [x])?.(x);
  assert(isTensor(y));
  const loss = y.sum();
  loss.backward();
  assertThrows(() => loss.backward(), Error, "a second time");
});

Deno.test("a saved tensor that changes before backward is an error", () => {
  const x = leaf([3]), w = wave([3], 2);
  const y = aotEager(capture((a, b) => a!.mul(b!), [x, w]), [x, w])?.(x, w);
  w.add_(1);
  assert(isTensor(y));
  assertThrows(() => y.sum().backward(), Error, "modified by an inplace operation");
});

Deno.test("training step by step equals eager training", () => {
  const model: Program = (x, w1, b1, w2) => x!.matmul(w1!).add(b1!).tanh().matmul(w2!).pow(2).mean();
  const train = (run: (...inputs: Tensor[]) => unknown) => {
    const x = wave([8, 4]), parameters = [leaf([4, 6], 2), leaf([6], 3), leaf([6, 2], 4)];
    const losses: unknown[] = [];
    for (let step = 0; step < 8; step++) {
      const loss = run(x, ...parameters);
      assert(isTensor(loss));
      loss.backward();
      noGrad(() => {
        for (const p of parameters) {
          if (!p.grad) throw new Error("no gradient");
          p.sub_(p.grad.mul(0.3));
          p.grad = null;
        }
      });
      losses.push(loss.item());
    }
    return losses;
  };
  const inputs = [wave([8, 4]), leaf([4, 6], 2), leaf([6], 3), leaf([6, 2], 4)];
  const compiled = aotEager(capture(model, inputs), inputs);
  if (!compiled) throw new Error("declined");
  const losses = train(compiled);
  assertClose(losses, train(model as (...inputs: Tensor[]) => unknown), "losses");
  assert(Number(losses.at(-1)) < Number(losses[0]));
});

Deno.test("functions that were captured as one call are traced into", () => {
  const graph = new Graph();
  const x = leaf([3]);
  const value = { kind: "tensor", tensor: x.meta, requiresGrad: true } as const;
  const input = graph.create("placeholder", "x", { meta: { value } });
  const call = graph.create("call_function", "custom", { args: [input, 3], meta: { value } });
  graph.create("output", "output", { args: [[call]] });
  const custom = (t: Tensor, by: number) => t.sin().mul(by);
  const gm = new GraphModule(graph, { custom }, graphRunner);
  const [y] = tensorsIn(aotEager(gm, [x])?.(x));
  y?.sum().backward();
  const other = leaf([3]);
  other.sin().mul(3).sum().backward();
  assertClose(x.grad?.tolist(), other.grad?.tolist(), "gradient");
});

Deno.test("results that no tangent reaches have no gradients", () => {
  const x = leaf([3]), y = leaf([3], 2);
  const results = aotEager(capture((a, b) => [a!.mul(2), b!.mul(3)], [x, y]), [x, y])?.(x, y);
  tensorsIn(results)[0]?.sum().backward();
  assertEquals([x.grad?.tolist(), y.grad], [[2, 2, 2], null]);
});

/** Programs that would show zeros in place of tangents that do not arrive. */
const PARTIAL: Readonly<Record<string, (a: Tensor, sine: Tensor) => (Tensor | undefined)[]>> = {
  "signs of zeros": (
    a,
    sine,
  ) => [sine, sine.neg(), a.mul(2), sine.split(2, 0)[0]?.mul(-1), a.unbind(0)[3]?.neg()],
  "infinite derivatives": (a, sine) => [sine, a.log(), a.sqrt().mul(sine), a.sqrt().split(2, 0)[1]],
};

for (const [name, results] of Object.entries(PARTIAL)) {
  Deno.test(`tangents that do not arrive add nothing: ${name}`, () => {
    const run: Program = (a) => a && results(a, a.sin());
    // Negative cosine, and infinite derivatives
    const make = () => tensor([3, 0, 1.5, -0], { dtype: "float32", requiresGrad: true });
    const count = tensorsIn(run(make())).length, example = make();
    const compiled = aotEager(capture(run, [example]), [example]);
    for (let subset = 1; subset < 1 << count; subset++) {
      for (const weight of [1, -1]) {
        const [plain, found] = [run, compiled].map((each) => {
          const x = make(), all = tensorsIn(each?.(x.mul(1)));
          const sums = all.filter((_, k) => (subset >> k) & 1).map((result) => result.sum());
          sums.reduce((a, b) => a.add(b)).mul(weight).backward();
          return x.grad?.tolist();
        });
        assertEquals(found, plain, `results ${subset.toString(2)} times ${weight}`);
      }
    }
  });
}

/** A captured graph of op calls by graph name, over inputs with the given metadata. */
function graphOf(
  inputs: Readonly<Record<string, TensorMeta>>,
  build: (call: (target: string, ...args: Argument[]) => Node, inputs: readonly Node[]) => Argument,
): GraphModule {
  const graph = new Graph();
  const nodes = Object.entries(inputs).map(([name, tensor]) =>
    graph.create("placeholder", name, { meta: { value: { kind: "tensor", tensor, requiresGrad: true } } })
  );
  const call = (target: string, ...args: Argument[]): Node => {
    const found = findTarget(target);
    if (!found) throw new Error(`no op ${target}`);
    const { definition, inplace } = found;
    const node = graph.create("call_function", target, { args });
    const resolved = argumentsOfNode(node, definition, valueOfNode, isGraphValue);
    const inferred = definition.infer(mapArguments(resolved, ({ meta }) => meta));
    const [tensor] = inplace ? tensorArguments(resolved).map(({ value }) => value.meta) : [inferred].flat();
    if (tensor) node.meta.value = { kind: "tensor", tensor, requiresGrad: true };
    return node;
  };
  graph.create("output", "output", { args: [build(call, nodes)] });
  return new GraphModule(graph, {}, graphRunner);
}

Deno.test("one compilation serves all sizes that its guards admit", () => {
  const env = new ShapeEnv();
  const [rows, columns] = [5, 4].map((hint, dim) =>
    env.createSize({ base: "x", part: { kind: "shape", dim } }, hint, { duck: false })
  );
  if (typeof rows !== "object" || typeof columns !== "object") throw new Error("known sizes");
  const gm = graphOf({
    x: contiguousMeta([rows, columns], "float32", "cpu"),
    w: contiguousMeta([columns, 3], "float32", "cpu"),
  }, (call, [x = null, w = null]) => {
    const h = call("tanh", call("matmul", x, w));
    const flat = call("reshape", call("mul", h, h), [-1]);
    return [call("mul", call("sum", flat), rows), call("expand", call("mean", x, 0, true), [rows, columns])];
  });
  const program: Program = (x, w) => {
    const h = x!.matmul(w!).tanh();
    return [h.mul(h).reshape([-1]).sum().mul(x!.shape[0] ?? 0), x!.mean(0, true).expand(x!.shape)];
  };
  const compiled = aotEager(gm, []);
  if (!compiled) throw new Error("declined");
  assertEquals(env.guardTexts(), ["2 <= x.shape[0]", "2 <= x.shape[1]"]);
  for (const [n, m] of [[5, 4], [7, 2], [2, 9]] as const) {
    const make = () => [leaf([n, m]), leaf([m, 3], 2)];
    const expected = observe(program, make), found = observe(compiled, make);
    assertClose(found.results, expected.results, "results");
    assertClose(found.gradients, expected.gradients, "gradients");
  }
});

Deno.test("sizes that no saved tensor determines are passed to the backward", () => {
  const env = new ShapeEnv();
  const rows = env.createSize({ base: "x", part: { kind: "shape", dim: 0 } }, 6);
  const gm = graphOf(
    { x: contiguousMeta([rows, 2], "float32", "cpu") },
    (call, [x = null]) => [call("sum", x)],
  );
  const joint = buildJoint(traceForward(gm), { gradEnabled: true });
  simplify(joint);
  const parts = minCutPartition(joint);
  assertEquals(parts.saved, []);
  assertEquals(parts.sizes.map(String), ["s0"]);
  const compiled = aotEager(gm, []);
  const x = leaf([4, 2]);
  const [y] = tensorsIn(compiled?.(x));
  y?.backward();
  assertEquals(x.grad?.tolist(), [[1, 1], [1, 1], [1, 1], [1, 1]]);
});

/** Appends the gradient of an output with respect to inputs, as the tracer does for `backward()`. */
function appendGradients(graph: Graph, output: Node, inputs: readonly Node[]): Node[] {
  const tensors = inputs.map(({ meta: { value } }) => {
    if (value.kind !== "tensor") throw new Error("no tensor");
    return value.tensor;
  });
  const complete = inputs.length === graph.placeholders.length;
  const call = {
    outputs: [output],
    inputs,
    tangents: [null],
    retainGraph: false,
    createGraph: false,
    complete,
  };
  const node = graph.create("call_function", GRADIENTS, {
    ...gradientArguments(call),
    name: "gradients",
    meta: { value: { kind: "tensors", tensors, requiresGrad: false } },
  });
  return tensors.map((tensor, index) =>
    graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { value: { kind: "tensor", tensor, requiresGrad: false } },
    })
  );
}

/** Appends the gradients of a graph's only result and returns them besides. */
function withGradient(gm: GraphModule): GraphModule {
  const { graph } = gm;
  const [result] = graph.output.inputs();
  const inputs = graph.placeholders;
  if (!result) throw new Error("no result");
  graph.erase(graph.output);
  const gradients = appendGradients(graph, result, inputs);
  graph.create("output", "output", { args: [[result, ...gradients]] });
  graph.lint();
  return new GraphModule(graph, {}, graphRunner);
}

Deno.test("gradients appended to a captured graph equal those of a backward pass", () => {
  const metas = { x: contiguousMeta([2, 3], "float32", "cpu"), w: contiguousMeta([3, 2], "float32", "cpu") };
  const gm = withGradient(graphOf(metas, (call, [x = null, w = null]) => {
    const h = call("matmul", x, w);
    call("add_", h, 1);
    const y = call("softmax", h, 1);
    return [call("mean", call("mul", y, call("transpose", h, 0, 1)))];
  }));
  const x = leaf([2, 3]), w = leaf([3, 2], 2);
  const h = x.matmul(w).add(1);
  const loss = h.softmax(1).mul(h.transpose(0, 1)).mean();
  loss.backward();
  for (const run of [(...args: Tensor[]) => gm.forward(...args), aotEager(gm, [])]) {
    const a = leaf([2, 3]), b = leaf([3, 2], 2);
    const found = tensorsIn(run?.(a, b));
    assertClose(
      found.map((t) => t.detach().tolist()),
      [loss, x.grad, w.grad].map((t) => t?.detach().tolist()),
      "values",
    );
  }
});

Deno.test("a result whose backward ran inside the graph cannot be differentiated again", () => {
  const gm = withGradient(graphOf({ x: contiguousMeta([3], "float32", "cpu") }, (call, [x = null]) => [
    call("sum", call("sin", x)),
  ]));
  const x = leaf([3]);
  const [loss, gradient] = tensorsIn(aotEager(gm, [x])?.(x));
  assert(loss?.requiresGrad && !gradient?.requiresGrad);
  assertThrows(() => loss?.backward(), Error, "a second time");
});

Deno.test("a whole training step is one graph that writes its parameters", () => {
  const rate = 0.1;
  const gm = graphOf(
    { x: contiguousMeta([8, 4], "float32", "cpu"), w: contiguousMeta([4, 3], "float32", "cpu") },
    (call, [x = null, w = null]) => [call("mean", call("square", call("tanh", call("matmul", x, w))))],
  );
  const { graph } = gm;
  const [loss] = graph.output.inputs();
  const [, w] = graph.placeholders;
  if (!loss || !w || w.meta.value.kind !== "tensor") throw new Error("no loss");
  graph.erase(graph.output);
  const [gradient = null] = appendGradients(graph, loss, [w]);
  graph.create("call_function", "sub_", {
    args: [w, gradient],
    kwargs: { alpha: rate },
    meta: { value: w.meta.value, noGrad: true },
  });
  graph.create("output", "output", { args: [[loss]] });
  const signatures: unknown[] = [];
  const compiled = aotAutograd({
    fwCompiler: (compiling) => {
      signatures.push(compiling.signature);
      return (...args) => compiling.forward(...args);
    },
  })(gm, []);
  assertEquals(signatures, [{
    role: "inference",
    mutatedInputs: [{ input: 1, output: 1, differentiable: false }],
    ownResults: 2,
  }]);
  const x = wave([8, 4]), captured = leaf([4, 3], 2), eager = leaf([4, 3], 2);
  for (let step = 0; step < 5; step++) {
    const [found] = tensorsIn(compiled?.(x, captured));
    const expected = x.matmul(eager).tanh().square().mean();
    expected.backward();
    noGrad(() => eager.sub_(eager.grad ?? eager, { alpha: rate }));
    eager.grad = null;
    assertClose(found?.item(), expected.item(), `loss ${step}`);
    assertClose(captured.tolist(), eager.tolist(), `parameter ${step}`);
    assert(found?.requiresGrad && captured.isLeaf && captured.requiresGrad);
  }
});

Deno.test("values that were overwritten cannot be differentiated, inside the graph and outside", () => {
  const overwriting = () =>
    graphOf({ x: contiguousMeta([3], "float32", "cpu") }, (call, [x = null]) => {
      const h = call("exp", x), s = call("sin", h);
      call("add_", h, 1);
      return [call("sum", call("mul", s, h))];
    });
  const inside = withGradient(overwriting());
  for (const run of [(x: Tensor) => inside.forward(x), aotEager(inside, [])]) {
    assertThrows(() => run?.(leaf([3])), DynError, "modified by an inplace operation");
  }
  const [result] = tensorsIn(aotEager(overwriting(), [])?.(leaf([3])));
  assert(result?.requiresGrad);
  assertThrows(() => result?.backward(), DynError, "modified by an inplace operation");
});

Deno.test("random ops draw as eagerly, and the backward sees the same draws", () => {
  const fn: Program = (x) => ops.dropout(x!.sin(), 0.5, true).mul(ops.randLike(x!));
  const run = (program: (...inputs: Tensor[]) => unknown) => {
    manualSeed(7);
    const first = observe(program, () => [leaf([4, 5])]), second = observe(program, () => [leaf([4, 5])]);
    return [first.results, first.gradients, second.results, second.gradients];
  };
  const compiled = aotEager(capture(fn, [leaf([4, 5])]), []);
  if (!compiled) throw new Error("declined");
  const found = run(compiled);
  assertClose(found, run(fn as (...inputs: Tensor[]) => unknown), "draws");
  assert(`${found[0]}` !== `${found[2]}`);
});

Deno.test("makeFx captures a backward pass as ops", () => {
  const fn = (x: Tensor) => grad([x.sin().sum()], [x]);
  const gm = makeFx(fn)(leaf([3]));
  const x = leaf([3]);
  const [found] = tensorsIn(gm.forward(x));
  assertClose(found?.detach().tolist(), x.cos().tolist(), "cos");
  assertStrictEquals(gm.graph.placeholders.length, 1);
});

Deno.test("makeFx follows what pooling saves on the tape", () => {
  const fn = (x: Tensor) => grad([ops.maxPool2d(x, 2).sum()], [x]);
  const image = () =>
    tensor([[[1, 5, 2, 0], [3, 4, 9, 8], [0, 0, 1, 1], [7, 6, 2, 3]]], { dtype: "float32" });
  const gm = makeFx(fn)(image().requiresGrad_());
  const [found] = tensorsIn(gm.forward(image().requiresGrad_()));
  const x = image().requiresGrad_();
  const [wanted] = fn(x);
  assertEquals(found?.detach().tolist(), wanted?.detach().tolist());
});
