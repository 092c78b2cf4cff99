/**
 * The inductor's programs: printed, counted and run by the reference interpreter against the same graphs op by op.
 */
import { assert, assertAlmostEquals, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { InternalError } from "../lib/base/errors.ts";
import { logs } from "../lib/base/logs.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { Graph } from "../lib/graph/node.ts";
import { planMemory } from "../lib/loops/memory.ts";
import { cleaned as passed } from "../lib/inductor/graph_passes.ts";
import { printGraph } from "../lib/graph/print.ts";
import { printProgram } from "../lib/loops/print.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import { type Dim, mul } from "../lib/sym/expr.ts";
import {
  compiled,
  difference,
  evaluateByOp,
  type HostTensor,
  runCompiled,
  sample,
  traced,
} from "./support/graph_programs.ts";
import { unknownSize } from "./support/sizes.ts";

type Api = OpApi<GraphValue>;
type Body = (o: Api, inputs: readonly GraphValue[]) => readonly GraphValue[];

/** The nth input of a graph under test. */
function input(inputs: readonly GraphValue[], n: number): GraphValue {
  const found = inputs[n];
  if (!found) throw new Error(`no input ${n}`);
  return found;
}

/** Compiles, runs both ways and compares; returns what was compiled. */
function check(shapes: readonly (readonly number[])[], body: Body, tolerance = 1e-6) {
  const graph = traced(shapes, body);
  const inputs = shapes.map((shape) => sample(shape));
  const wanted = evaluateByOp(graph, inputs);
  const result = compiled(graph);
  const found = runCompiled(result, inputs);
  found.forEach((tensor, i) => {
    const reference = wanted[i];
    assert(reference && difference(tensor, reference) <= tolerance, `output ${i} differs`);
  });
  return result;
}

const softmax = (o: Api, x: GraphValue, dim: number) => {
  const e = o.exp(o.sub(x, o.amax(x, [dim], true)));
  return o.div(e, o.sum(e, [dim], true));
};

const layerNorm = (o: Api, x: GraphValue) => {
  const mean = o.mean(x, [-1], true), centred = o.sub(x, mean);
  const rstd = o.rsqrt(o.add(o.mean(o.mul(centred, centred), [-1], true), 1e-5));
  return { out: o.mul(centred, rstd), mean, rstd };
};

Deno.test("sin(sin(x)) is one kernel with one load and one store", () => {
  const { program, metrics } = check([[4, 6]], (o, [x]) => x ? [o.sin(o.sin(x))] : []);
  assertEquals([metrics.kernels, metrics.loads, metrics.stores], [1, 1, 1]);
  assertEquals(
    printProgram(program),
    `program graph
  b0 a: float32[24] input
  b1 t1: float32[24] output
  inputs (b0), outputs (b1)
  loops fused_sin
    parallel vector i0 < 24:
      v0 = b0[i0]: float32
      v1 = sin v0: float32
      v2 = sin v1: float32
      b1[i0] = v2
`,
  );
});

Deno.test("softmax is one kernel of three loops over a row, and keeps the exponentials in the output", () => {
  const { program, metrics } = check([[4, 40]], (o, xs) => [softmax(o, input(xs, 0), -1)]);
  assertEquals([metrics.kernels, metrics.arenaBytes], [1, 0]);
  assertEquals(
    printProgram(program),
    `program graph
  b0 a: float32[160] input
  b1 t3: float32[160] output
  inputs (b0), outputs (b1)
  loops fused_amax_exp_sub_sum_truediv
    parallel i0 < 4:
      reduction vector i1 < 40:
        v0 = b0[40*i0 + i1]: float32
        v1 max= v0: float32
      reduction vector i2 < 40:
        v2 = b0[40*i0 + i2]: float32
        v3 = sub v2, v1: float32
        v4 = exp v3: float32
        b1[40*i0 + i2] = v4
        v5 sum= v4: float32
      parallel vector i3 < 40:
        v6 = b1[40*i0 + i3]: float32
        v7 = div v6, v5: float32
        b1[40*i0 + i3] = v7
`,
  );
});

Deno.test("softmax over a middle dimension runs its lanes over the last one", () => {
  const { program, metrics } = check([[3, 5, 4, 4]], (o, xs) => [softmax(o, input(xs, 0), 1)]);
  assertEquals(metrics.kernels, 1);
  assertStringIncludes(printProgram(program), "parallel vector i1 < 16:\n        reduction i2 < 5:");
});

Deno.test("layerNorm with its statistics as outputs is one kernel that loads the row three times", () => {
  const { metrics } = check([[6, 40], [40], [40]], (o, xs) => {
    const { out, mean, rstd } = layerNorm(o, input(xs, 0));
    return [o.add(o.mul(out, input(xs, 1)), input(xs, 2)), mean, rstd];
  });
  assertEquals([metrics.kernels, metrics.loads, metrics.stores], [1, 5, 3]);
});

Deno.test("a linear layer is one library call whose epilogue works in the result's memory", () => {
  const { program, metrics } = check(
    [[8, 16], [32, 16], [32]],
    (o, xs) => [o.relu(o.linear(input(xs, 0), input(xs, 1), input(xs, 2)))],
  );
  assertEquals([metrics.kernels, metrics.externCalls, metrics.arenaBytes], [1, 1, 0]);
  assertStringIncludes(printProgram(program), "v0 = b3[32*i0 + i1]: float32\n          v1 = b2[i1]: float32");
});

Deno.test("an epilogue sees through a reshape of the product", () => {
  const { metrics } = check(
    [[6, 4], [4, 8], [2, 3, 8]],
    (o, xs) => [o.add(o.reshape(o.mm(input(xs, 0), input(xs, 1)), [2, 3, 8]), input(xs, 2))],
  );
  assertEquals([metrics.kernels, metrics.externCalls], [1, 1]);
});

Deno.test("a product that is read transposed is computed transposed", () => {
  const { program, metrics } = check(
    [[8, 5], [8, 7], [7, 5]],
    (o, xs) => [o.sub(input(xs, 2), o.t(o.mm(o.t(input(xs, 0)), input(xs, 1))))],
  );
  assertEquals(metrics.kernels, 1);
  assertStringIncludes(printProgram(program), "out b3 [7, 5] by [5, 1]");
});

Deno.test("attention scores, their softmax and the weighted sum are two calls and one kernel in one buffer", () => {
  const { metrics } = check([[2, 3, 8, 4], [2, 3, 8, 4]], (o, xs) => {
    const scores = o.mul(o.matmul(input(xs, 0), o.transpose(input(xs, 1), -1, -2)), 0.5);
    return [o.matmul(softmax(o, scores, -1), input(xs, 1))];
  });
  assertEquals([metrics.kernels, metrics.externCalls, metrics.arenaBytes], [3, 2, 6 * 8 * 8 * 4]);
});

Deno.test("normalisation, residual and activation are the epilogue of a convolution", () => {
  const { metrics } = check([[2, 4, 6, 6], [4, 4, 3, 3], [4], [4]], (o, xs) => {
    const channels = (t: GraphValue) => o.reshape(t, [1, 4, 1, 1]);
    const convolved = o.conv2d(input(xs, 0), input(xs, 1), null, 1, 1);
    const normal = o.add(o.mul(convolved, channels(input(xs, 2))), channels(input(xs, 3)));
    return [o.relu(o.add(normal, input(xs, 0)))];
  });
  assertEquals([metrics.kernels, metrics.externCalls, metrics.arenaBytes], [1, 1, 0]);
});

Deno.test("a loss and its gradient share the rows of the softmax", () => {
  const body: Body = (o, xs) => {
    const x = input(xs, 0), label = o.to(o.abs(o.select(x, 1, 0)), "int64");
    const centred = o.sub(x, o.amax(x, [1], true));
    const logs = o.sub(centred, o.log(o.sum(o.exp(centred), [1], true)));
    const picked = o.squeeze(o.gather(logs, 1, o.unsqueeze(label, 1)), 1);
    const onehot = o.scatterAdd(o.zerosLike(x), 1, o.unsqueeze(label, 1), o.ones([6, 1]));
    return [picked, o.sub(o.exp(logs), onehot)];
  };
  const { metrics } = check([[6, 20]], body);
  assertEquals(metrics.kernels, 1);
});

Deno.test("a chain of a thousand ops is one kernel", () => {
  const { metrics } = check([[20]], (o, xs) => {
    let x = input(xs, 0);
    for (let i = 0; i < 1000; i++) x = o.mul(o.add(x, 0.001), 0.999);
    return [x];
  }, 1e-5);
  assertEquals([metrics.kernels, metrics.loads, metrics.stores], [1, 1, 1]);
});

Deno.test("reductions of one input over one dimension share a loop", () => {
  const { metrics } = check([[5, 30]], (o, xs) => {
    const x = input(xs, 0);
    return [o.sum(x, [1]), o.amax(x, [1]), o.any(o.gt(x, 0), 1)];
  });
  assertEquals([metrics.kernels, metrics.loads], [1, 1]);
});

Deno.test("positions of extremes are found separately from sums, which are added in lanes, but together with extremes", () => {
  const { metrics } = check([[5, 30]], (o, xs) => {
    const x = input(xs, 0);
    return [o.sum(x, [1]), o.amax(x, [1]), o.argmin(x, 1)];
  });
  assertEquals(metrics.kernels, 2);
  const alone = check([[5, 30]], (o, xs) => [o.amax(input(xs, 0), [1]), o.argmin(input(xs, 0), 1)]);
  assertEquals([alone.metrics.kernels, alone.metrics.loads], [1, 1]);
});

Deno.test("a sum over rows walks columns in lanes; a long one is cut into parts", () => {
  const small = check([[30, 70]], (o, xs) => [o.sum(input(xs, 0), [0])]);
  assertEquals(small.metrics.kernels, 1);
  assertStringIncludes(printProgram(small.program), "parallel vector i0 < 70:\n      reduction i1 < 30:");
  const long = check([[512, 72]], (o, xs) => [o.sum(input(xs, 0), [0])], 1e-4);
  assertEquals(long.metrics.kernels, 2);
  assertStringIncludes(printProgram(long.program), "parallel vector i1 < 72:\n        reduction i2 < 64:");
});

Deno.test("a whole argmax is cut into parts of fixed number; a whole sum is one loop, which code generation cuts", () => {
  const { program, metrics } = check([[256, 256]], (o, xs) => [o.argmax(input(xs, 0))]);
  assertEquals(metrics.kernels, 2);
  assertStringIncludes(printProgram(program), "v2 argmax= v0 at v1: int64\n    b1[0] = v2");
  const sum = check([[256, 256]], (o, xs) => [o.sum(input(xs, 0))], 1e-4);
  assertEquals(sum.metrics.kernels, 1);
});

Deno.test("long sums that follow each other are kernels of their own, unless there are many", () => {
  const scaled = (o: Api, x: GraphValue, dims: readonly number[]) => {
    const centred = o.sub(x, o.mean(x, dims, true));
    return [o.mul(centred, o.rsqrt(o.mean(o.mul(centred, centred), dims, true)))];
  };
  const few = check([[256, 300]], (o, xs) => scaled(o, input(xs, 0), [0, 1]), 1e-4);
  assertEquals(few.metrics.kernels, 3);
  const short = check([[64, 300]], (o, xs) => scaled(o, input(xs, 0), [0, 1]), 1e-4);
  assertEquals(short.metrics.kernels, 1);
  // As the one before, over a million elements
  const many = compiled(traced([[16, 70_000]], (o, xs) => scaled(o, input(xs, 0), [1])));
  assertEquals(many.metrics.kernels, 1);
});

Deno.test("reshapes of a contiguous tensor are one flat loop", () => {
  const { program } = check(
    [[8, 4, 6]],
    (o, xs) => [o.exp(o.reshape(o.neg(o.reshape(input(xs, 0), [32, 6])), [8, 24]))],
  );
  assertStringIncludes(printProgram(program), "parallel vector i0 < 192:\n      v0 = b0[i0]: float32");
});

Deno.test("concatenation, padding, gathering and scattering compute the same when fused", () => {
  check([[3, 4], [5, 4]], (o, xs) => [o.sin(o.cat([input(xs, 0), o.exp(input(xs, 1))], 0))]);
  check([[6, 8]], (o, xs) => [o.cumsum(o.exp(input(xs, 0)), 0), o.neg(o.cumsum(input(xs, 0), 1))]);
  check([[6, 8]], (o, xs) => {
    const index = o.to(o.clamp(o.mul(o.abs(input(xs, 0)), 2), 0, 5), "int64");
    return [
      o.gather(o.exp(input(xs, 0)), 0, index),
      o.scatterAdd(o.neg(input(xs, 0)), 0, index, input(xs, 0)),
    ];
  });
});

Deno.test("values used at two stages are recomputed if memory would cost more", () => {
  const { metrics } = check([[4, 50], [4, 50]], (o, xs) => {
    const e = o.exp(o.sub(input(xs, 0), o.amax(input(xs, 0), [1], true)));
    const scaled = o.div(o.mul(e, input(xs, 1)), o.sum(e, [1], true));
    return [o.sum(scaled, [1])];
  });
  assertEquals([metrics.kernels, metrics.stores, metrics.arenaBytes], [1, 1, 0]);
});

Deno.test("a value is recomputed in its own shape, even if it is read reshaped", () => {
  const { metrics } = check([[1, 6], [1, 6]], (o, xs) => {
    const folded = o.reshape(o.sum(o.mul(input(xs, 0), input(xs, 1)), [0], true), [6]);
    return [o.sub(folded, o.sum(o.exp(folded)))];
  });
  assertEquals([metrics.kernels, metrics.arenaBytes], [1, 0]);
});

Deno.test("outputs that are views show their base's memory", () => {
  const { program, outputs } = check([[4, 6]], (o, xs) => {
    const e = o.exp(input(xs, 0));
    return [e, o.t(e), o.select(e, 0, 1)];
  });
  assertEquals(program.outputs.length, 1);
  assertEquals(
    outputs.map((out) => out.kind === "tensor" ? [out.index, out.strides, out.offset] : []),
    [[0, [6, 1], 0], [0, [1, 6], 0], [0, [1], 6]],
  );
});

Deno.test("an output that is an input is that input's memory", () => {
  const { outputs, program } = check([[4, 6]], (o, xs) => [o.t(input(xs, 0))]);
  assertEquals(program.kernels.length, 0);
  assertEquals(outputs.map((out) => out.kind === "tensor" ? out.of : out.kind), ["input"]);
});

/** Compiles a graph whose output k is the new value of input k. */
function mutated(shapes: readonly (readonly number[])[], body: Body) {
  const graph = traced(shapes, body);
  const inputs = shapes.map((shape) => sample(shape));
  const copies: HostTensor[] = inputs.map((t) => ({ ...t, data: t.data.slice() }));
  const wanted = evaluateByOp(graph, copies);
  const mutatedInputs = wanted.map((_, i) => ({ input: i, output: i }));
  const result = compiled(graph, { signature: { mutatedInputs } });
  runCompiled(result, inputs);
  wanted.forEach((tensor, i) => {
    const found = inputs[i];
    assert(found && difference(found, tensor) <= 1e-6, `input ${i} differs`);
  });
  return result;
}

Deno.test("an update is written into its input by the kernel that reads it", () => {
  const { metrics, program, outputs } = mutated([[40], [40], [40]], (o, xs) => {
    const [p, m, g] = [input(xs, 0), input(xs, 1), input(xs, 2)];
    const moved = o.add(o.mul(m, 0.9), o.mul(g, 0.1));
    return [o.sub(p, o.mul(moved, 0.01)), moved];
  });
  assertEquals([metrics.kernels, metrics.stores, program.outputs.length], [1, 2, 0]);
  assertEquals(outputs.map((o) => o.kind), ["input", "input"]);
});

Deno.test("inputs that exchange their values are copied through separate memory", () => {
  mutated([[4, 6], [4, 6]], (o, xs) => [o.mul(input(xs, 1), 1.5), o.neg(input(xs, 0))]);
  mutated([[6, 6]], (o, xs) => [o.add(o.t(input(xs, 0)), 1)]);
  mutated([[4, 6], [4, 6]], (o, xs) => [softmax(o, input(xs, 1), 1), o.add(input(xs, 0), input(xs, 1))]);
});

Deno.test("the old value of an overwritten input is copied when it is returned", () => {
  const graph = traced([[8]], (o, xs) => [o.add(input(xs, 0), 1), input(xs, 0)]);
  const x = sample([8]), old = x.data.slice();
  const [, kept] = runCompiled(
    compiled(graph, { signature: { mutatedInputs: [{ input: 0, output: 0 }] } }),
    [
      x,
    ],
  );
  assertEquals(kept?.data, old);
  assertAlmostEquals(Number(x.data[0]), Number(old[0]) + 1, 1e-6);
});

Deno.test("programs over symbolic sizes serve every size", () => {
  const batch = unknownSize("s0", 4), length = unknownSize("s1", 10);
  const shapes: readonly (readonly Dim[])[] = [[batch, length, 8], [8]];
  const graph = traced(shapes, (o, xs) => {
    const flat = o.reshape(o.exp(input(xs, 0)), [mul(batch, length), 8]);
    return [softmax(o, o.add(flat, input(xs, 1)), -1), o.sum(input(xs, 0), [2])];
  });
  const result = compiled(graph);
  for (const [b, l] of [[4, 10], [3, 7], [2, 33]] as const) {
    const sizes = new Map([[batch, b], [length, l]]);
    const inputs = [sample([b, l, 8]), sample([8])];
    const wanted = evaluateByOp(graph, inputs, sizes);
    runCompiled(result, inputs, { sizes }).forEach((tensor, i) => {
      const reference = wanted[i];
      assert(reference && difference(tensor, reference) <= 1e-6);
    });
  }
});

Deno.test("symbolic sizes do not prevent a flat loop", () => {
  const n = unknownSize("s0", 5), m = unknownSize("s1", 7);
  const { program } = compiled(traced([[n, m]], (o, xs) => [o.sin(o.reshape(input(xs, 0), [mul(n, m)]))]));
  assertStringIncludes(printProgram(program), "parallel vector i0 < s0*s1:\n      v0 = b0[i0]: float32");
});

Deno.test("log(exp(2x)) compiles to 2x", () => {
  const graph = traced([[40]], (o, xs) => [o.log(o.exp(o.mul(input(xs, 0), 2)))]);
  const { program } = compiled(graph);
  assertEquals(
    program.kernels.map((k) => k.name),
    ["fused_mul"],
  );
  assert(!/exp|log/.test(printProgram(program)));
});

/** The program text of a graph after the passes. */
function cleaned(shapes: readonly (readonly number[])[], body: Body): string {
  const graph: Graph = passed(traced(shapes, body));
  return graph.nodes.filter((n) => n.op === "call_function").map((n) => n.target).join(" ");
}

Deno.test("algebra: exact identities are applied, inexact ones are not", () => {
  const x = (o: Api, xs: readonly GraphValue[]) => o.sin(input(xs, 0));
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.neg(o.neg(x(o, xs))))]), "sin cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.sub(x(o, xs), 0))]), "sin cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.add(x(o, xs), 0))]), "sin add cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.add(o.exp(input(xs, 0)), 0))]), "exp cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.div(x(o, xs), 8))]), "sin mul cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.div(x(o, xs), 3))]), "sin truediv cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.to(o.to(x(o, xs), "float64"), "float32"))]), "sin cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.cos(o.cat([x(o, xs)]))]), "sin cos");
  assertEquals(cleaned([[4]], (o, xs) => [o.exp(o.log(x(o, xs)))]), "sin log exp");
});

Deno.test("parts that are padded with zeros and summed are concatenated", () => {
  const scattered = (places: readonly number[]): Body => (o, xs) => {
    const x = input(xs, 0), zeros = o.full([8, 4], 0, { dtype: "float32" });
    const terms = places.map((at, k) => o.selectScatter(zeros, o.sin(o.select(x, 1, k)), 0, at));
    return [terms.reduce((sum, term) => o.add(sum, term))];
  };
  const whole = scattered([3, 1, 0, 2, 7, 6, 5, -4]);
  assert(!cleaned([[4, 8]], whole).includes("selectScatter"));
  check([[4, 8]], whole);
  for (const places of [[3, 1, 0, 2, 7, 6, 5], [3, 1, 0, 2, 7, 6, 5, 5]]) {
    assertStringIncludes(cleaned([[4, 8]], scattered(places)), "selectScatter");
  }
  const sliced = (starts: readonly number[]): Body => (o, xs) => {
    const x = input(xs, 0), zeros = o.full([4, 8], 0, { dtype: "float32" });
    const terms = starts.map((at, k) => {
      const part = o.slice(x, 1, 2 * k, 2 * k + (k === 0 ? 4 : 2));
      return o.sliceScatter(zeros, o.sin(part), 1, at, at + (k === 0 ? 4 : 2));
    });
    return [terms.reduce((sum, term) => o.add(sum, term))];
  };
  assert(!cleaned([[4, 8]], sliced([4, 2, 0])).includes("sliceScatter"));
  check([[4, 8]], sliced([4, 2, 0]));
  for (const starts of [[3, 1, 0], [4, 2], [4, 0, 0]]) {
    assertStringIncludes(cleaned([[4, 8]], sliced(starts)), "sliceScatter");
    check([[4, 8]], sliced(starts));
  }
});

Deno.test("products and sums of the rows of many steps are merged", () => {
  // The stacks that there are: of both, of the first operands alone, of none
  const gradients = (steps: number, stacked: "both" | "first" | "none"): Body => (o, xs) => {
    const a = Array.from({ length: steps }, (_, t) => o.sin(o.select(input(xs, 0), 0, t)));
    const b = Array.from({ length: steps }, (_, t) => o.cos(o.select(input(xs, 1), 0, t)));
    const results = [
      ...(stacked === "none" ? [] : [o.stack(a, 0)]),
      ...(stacked === "both" ? [o.stack([...b.slice(1), o.exp(input(b, 0))], 0)] : []),
    ];
    const add = (sum: GraphValue, term: GraphValue) => o.add(sum, term);
    const weight = a.map((each, t) => o.mm(o.permute(each, [1, 0]), input(b, t))).toReversed().reduce(add);
    const bias = a.map((each) => o.reshape(o.sum(each, [0], true), [12])).toReversed().reduce(add);
    return [...results, weight, bias];
  };
  const count = (graph: string, target: string) => graph.split(" ").filter((each) => each === target).length;
  for (const stacked of ["both", "first", "none"] as const) {
    const shapes = [[9, 2, 12], [9, 2, 16]], text = cleaned(shapes, gradients(9, stacked));
    assertEquals([count(text, "mm"), count(text, "sum")], [stacked === "both" ? 2 : 1, 1], stacked);
    check(shapes, gradients(9, stacked), 1e-5);
  }
  assertEquals(count(cleaned([[7, 2, 12], [7, 2, 16]], gradients(7, "none")), "mm"), 7);
  // Of many rows each they stay: stacking them would cost more than adding the results up
  assertEquals(count(cleaned([[9, 8, 12], [9, 8, 16]], gradients(9, "none")), "mm"), 9);
});

Deno.test("the passes do not change the graph that they are given", () => {
  const graph = traced([[4]], (o, xs) => [o.log(o.exp(input(xs, 0)))]);
  const before = printGraph(graph);
  const after = passed(graph, { ownResults: 1 });
  assertEquals(printGraph(graph), before);
  assertStringIncludes(printGraph(after), "clone(a)");
});

Deno.test("without fusion every op is a kernel", () => {
  const body: Body = (o, xs) => [o.sin(o.sin(input(xs, 0)))];
  const unfused = config.patch({ inductor: { fusion: false } }, () => check([[4, 6]], body));
  assertEquals(unfused.metrics.kernels, 2);
});

Deno.test("logs show the schedule, the fusions and the code", () => {
  const seen = new Map<string, string>();
  logs.capture("schedule,fusion,kernel_code", (artifact, text) => seen.set(artifact, text), () => {
    check([[4, 6]], (o, xs) => [softmax(o, input(xs, 0), 1)]);
  });
  assertStringIncludes(seen.get("schedule") ?? "", "reduction amax(a) over 4 × 1 × 6 reduced, inner");
  assertStringIncludes(seen.get("fusion") ?? "", "fused ");
  assertStringIncludes(seen.get("kernel_code") ?? "", "program graph");
});

Deno.test("temporaries that are never alive together share memory", () => {
  const plan = planMemory([
    { bytes: 1000, first: 0, last: 1 },
    { bytes: 500, first: 1, last: 2 },
    { bytes: 1000, first: 2, last: 3 },
  ]);
  assertEquals(plan, { offsets: [0, 1024, 0], arenaBytes: 1536 });
  const apart = planMemory([{ bytes: 100, first: 0, last: 0 }, { bytes: 100, first: 1, last: 1 }], false);
  assertEquals(apart, { offsets: [0, 128], arenaBytes: 256 });
});

Deno.test("the checker rejects programs that break the rules", () => {
  const { program } = compiled(traced([[4]], (o, xs) => [o.sin(input(xs, 0))]));
  const [kernel] = program.kernels;
  assert(kernel?.kind === "loops");
  const [loop] = kernel.body;
  assert(loop?.kind === "loop");
  const broken = (body: typeof loop.body) => ({
    ...program,
    kernels: [{ ...kernel, body: [{ ...loop, body }] }],
  });
  assertThrows(() => verifyProgram(broken(loop.body.slice(1))), InternalError, "Expected a visible value");
  assertThrows(() => verifyProgram(broken([...loop.body, ...loop.body])), InternalError, "defined twice");
  const intoInput = loop.body.map((s) => s.kind === "store" ? { ...s, buffer: 0 } : s);
  assertThrows(() => verifyProgram(broken(intoInput)), InternalError, "Expected a writable buffer");
  const sameElement = loop.body.map((s) => s.kind === "store" ? { ...s, index: 0 } : s);
  assertThrows(() => verifyProgram(broken(sameElement)), InternalError, "Expected a store index with");
  const shared = (share: "grid" | "team") => ({
    ...program,
    kernels: [{ ...kernel, body: [{ ...loop, order: "sequential" as const, share }] }],
  });
  assertThrows(() => verifyProgram(shared("grid")), InternalError, "as the grid");
  assertThrows(() => verifyProgram(shared("team")), InternalError, "a team can divide");
  const beside = { ...program, kernels: [{ ...kernel, body: [loop, { ...loop, share: "grid" as const }] }] };
  assertThrows(() => verifyProgram(beside), InternalError, "as the grid");
});

Deno.test("an input of another type is rejected by name", () => {
  const graph = traced([contiguousMeta([4], "float32", "cpu")], (_o, xs) => [input(xs, 0)]);
  graph.create("call_function", "no_such_op", { before: graph.output });
  // An unknown call is removed as dead code by the passes, so they are switched off
  config.patch({ inductor: { patternMatcher: false } }, () => {
    assertThrows(() => compiled(graph), InternalError, "Expected an op but found no_such_op");
  });
});

Deno.test("many parts are concatenated by halves: reads are not deeply nested, and parts without elements have none", () => {
  const sizes = Array.from({ length: 41 }, (_, k) => (k * 7) % 5), shapes = sizes.map((size) => [size, 3]);
  const { program } = check(shapes, (o, inputs) => [o.cat(inputs, 0)]);
  const text = printProgram(program);
  const deepest = Math.max(...text.split("\n").map((line) => line.length - line.trimStart().length));
  assert(deepest < 60, text);
});
