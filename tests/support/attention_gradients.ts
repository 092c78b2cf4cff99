/**
 * Gradients of attention as a backward pass computes them from saved values: their graph, the passes of a grid, and
 * cases for the WebGPU device against float64.
 */
import { assert, assertEquals } from "@std/assert";
import { type WebGpuLimits, webGpuTarget } from "../../backends/webgpu/target.ts";
import { generate } from "../../lib/codegen/generate.ts";
import type { ComputedElements, Program } from "../../lib/loops/ir.ts";
import type { OpApi } from "../../lib/ops/generated.ts";
import type { GraphValue } from "../../lib/ops/graph_builder.ts";
import type { Dim, Sym } from "../../lib/sym/expr.ts";
import { compiled, type HostTensor, runCompiled, sample, traced } from "./graph_programs.ts";
import { randomNumbers, testSeed } from "./sampling.ts";
import { runOnWebGpu } from "./webgpu_run.ts";
import { sizeLike } from "./sizes.ts";

/** Tolerance of device code, relative to the largest element. */
const BOUND = 3e-6;
const LIMITS = { kernelBuffers: 31, workgroupBytes: 1 << 15, bindingBytes: 1 << 27 };
const target = webGpuTarget(LIMITS, true);

/** Sizes of a stack of matrices: features of queries and keys, and of values. */
export interface Sizes {
  readonly batch: number;
  readonly rows: Dim;
  readonly keys: Dim;
  readonly depth: number;
  readonly width: number;
}

export interface Form {
  readonly causal?: boolean;
  /** Whether weights are dropped, which a tensor of factors says. */
  readonly dropped?: boolean;
  /** Whether sums of rows are made of gradients of weights, rather than of results. */
  readonly long?: boolean;
  /** Whether queries, keys and values become new ones in their memory, as an optimizer updates them. */
  readonly updated?: boolean;
}

/**
 * Queries, keys, values, what arrives for each result, results, maxima and shares of rows, factors of weights: what a backward
 * is given.
 */
function shapesOf({ batch, rows, keys, depth, width }: Sizes): readonly (readonly Dim[])[] {
  const ofRow = [batch, rows, 1];
  return [
    [batch, rows, depth],
    [batch, keys, depth],
    [batch, keys, width],
    [batch, rows, width],
    [batch, rows, width],
    ofRow,
    ofRow,
    [batch, rows, keys],
  ];
}

/** Gradients of queries, keys and values, of weights exp(score − maximum) · share. */
function backward(
  o: OpApi<GraphValue>,
  given: readonly GraphValue[],
  { causal, dropped, long, updated }: Form,
): readonly GraphValue[] {
  const [q, k, v, g, out, top, share, factor] = given;
  assert(q && k && v && g && out && top && share && factor);
  const turned = (x: GraphValue): GraphValue => o.transpose(x, -2, -1);
  const scores = o.mul(o.matmul(q, turned(k)), 0.3);
  const seen = o.tril(o.ones(scores.shape.slice(-2), { dtype: "bool" }));
  const weights = o.mul(o.exp(o.sub(causal ? o.where(seen, scores, -Infinity) : scores, top)), share);
  const kept = (x: GraphValue): GraphValue => dropped ? o.mul(x, factor) : x;
  const ofWeights = o.mul(kept(o.matmul(g, turned(v))), weights);
  const sum = long ? o.sum(ofWeights, -1, true) : o.sum(o.mul(g, out), -1, true);
  const rest = o.sub(ofWeights, o.mul(weights, sum));
  const ofScores = o.mul(causal ? o.where(seen, rest, 0) : rest, 0.3);
  const found = [o.matmul(ofScores, k), o.matmul(turned(ofScores), q), o.matmul(turned(kept(weights)), g)];
  const news = [q, k, v].flatMap((x, i) => found[i] ? [o.sub(x, o.mul(found[i], STEP))] : []);
  return updated ? [...found, ...news] : found;
}

/** Step of an update along a gradient. */
const STEP = 0.25;
const UPDATES = [0, 1, 2].map((input) => ({ input, output: 3 + input }));

/** A graph over sizes. */
export const made = (sizes: Sizes, form: Form) =>
  compiled(
    traced(shapesOf(sizes), (o, given) => backward(o, given, form)),
    form.updated ? { signature: { mutatedInputs: UPDATES } } : {},
  );

/** The same and inputs for it: numbers of calls where a size is one. */
function madeWithInputs(sizes: Sizes, form: Form, known: ReadonlyMap<Dim, number>) {
  const graph = made(sizes, form);
  const inputs = shapesOf(sizes).map((shape, at): HostTensor => {
    const range = at === 5 ? [2, 3] : at === 6 ? [0.2, 0.4] : at === 7 ? [-1, 2] : [-1 - at / 4, 1];
    return sample(shape.map((d) => known.get(d) ?? Number(d)), "float32", [range[0] ?? 0, range[1] ?? 0]);
  });
  return { graph, inputs };
}

/** Returns the operands that a program's kernels compute on the fly on such a grid. */
export const madeIn = (program: Program, limits: Partial<WebGpuLimits> = {}): readonly ComputedElements[] =>
  generate(program, webGpuTarget({ ...LIMITS, ...limits }, true)).kernels.flatMap((kernel) =>
    kernel.kind === "extern" ? kernel.computed ?? [] : []
  );

/** Its products with elements that another kernel made, as far as these are not zero. */
export const causalIn = (program: Program): readonly string[] =>
  generate(program, target).kernels.flatMap((kernel) =>
    kernel.kind === "extern" && kernel.causal ? [kernel.name] : []
  );

/** Sizes that fill no tile. */
export const SIZES: Sizes = { batch: 2, rows: 100, keys: 100, depth: 8, width: 12 };

/** Sizes of which each has another rest, drawn by the seed of the run. */
function drawn(): Sizes {
  const next = randomNumbers(testSeed() + 11),
    between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const [rows, keys] = [between(90, 150), between(90, 150)];
  return { batch: between(2, 3), rows, keys, depth: between(1, 40), width: between(1, 40) };
}

/** The same gradients in float64. */
function exact(inputs: readonly HostTensor[], { causal, dropped }: Form): readonly Float64Array[] {
  const [q, k, v, g, out, top, share, factor] = inputs.map(({ data }) => Float64Array.from(data, Number));
  const [batch = 0, rows = 0, depth = 0] = inputs[0]?.shape ?? [],
    [, keys = 0, width = 0] = inputs[2]?.shape ?? [];
  assert(q && k && v && g && out && top && share && factor);
  const [dq, dk, dv] = [q, k, v].map(({ length }) => new Float64Array(length));
  assert(dq && dk && dv);
  const dot = (a: Float64Array, at: number, b: Float64Array, from: number, count: number): number => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += (a[at + i] ?? NaN) * (b[from + i] ?? NaN);
    return sum;
  };
  const add = (
    to: Float64Array,
    at: number,
    b: Float64Array,
    from: number,
    [count, by]: [number, number],
  ) => {
    for (let i = 0; i < count; i++) to[at + i] = (to[at + i] ?? NaN) + by * (b[from + i] ?? NaN);
  };
  for (let row = 0; row < batch * rows; row++) {
    const sum = dot(g, row * width, out, row * width, width), own = row % rows;
    for (let n = 0; n < (causal ? Math.min(keys, own + 1) : keys); n++) {
      const key = (row - own) / rows * keys + n, kept = dropped ? factor[row * keys + n] ?? NaN : 1;
      const score = 0.3 * dot(q, row * depth, k, key * depth, depth);
      const weight = Math.exp(score - (top[row] ?? NaN)) * (share[row] ?? NaN);
      const ofScore = 0.3 * weight * (kept * dot(g, row * width, v, key * width, width) - sum);
      add(dq, row * depth, k, key * depth, [depth, ofScore]);
      add(dk, key * depth, q, row * depth, [depth, ofScore]);
      add(dv, key * width, g, row * width, [width, weight * kept]);
    }
  }
  return [dq, dk, dv];
}

function assertOnDevice(sizes: Sizes, form: Form, known: ReadonlyMap<Sym, number> = new Map()): void {
  const { graph, inputs } = madeWithInputs(sizes, form, known);
  assertEquals(madeIn(graph.program).length + causalIn(graph.program).length, 2);
  const run = (program: Program, call: Parameters<typeof runOnWebGpu>[1]) => void runOnWebGpu(program, call);
  const gradients = exact(inputs, form), given = inputs.map(({ data }) => Float64Array.from(data, Number));
  const news = gradients.map((of, i) => of.map((x, at) => (given[i]?.[at] ?? NaN) - STEP * x));
  const found = runCompiled(graph, inputs, { sizes: known, run });
  [...gradients, ...form.updated ? news : []].forEach((wanted, i) => {
    const given = found[i]?.data;
    assertEquals(given?.length, wanted.length);
    const most = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const off = wanted.reduce((off, x, at) => Math.max(off, Math.abs(x - Number(given?.[at]))), 0) / most;
    assert(
      off <= BOUND,
      `Gradient ${i} is off by ${off}: ${inputs.map(({ shape }) => `[${shape}]`).join(", ")}`,
    );
  });
}

/** A length whose calls are expected to be so long that scores are not worth their memory. */
function long(name: string): Sym {
  return sizeLike(name, 1 << 13, [2, 1 << 14]);
}

/** Cases for the device, which has to be there. */
export const GRADIENT_CASES: Readonly<Record<string, () => void>> = {
  "sizes that fill no tile": () => assertOnDevice(drawn(), { causal: true }),
  "whole vectors": () =>
    assertOnDevice({ batch: 2, rows: 128, keys: 128, depth: 32, width: 64 }, { causal: true }),
  "updates of what products read": () =>
    assertOnDevice({ batch: 2, rows: 96, keys: 96, depth: 8, width: 8 }, { causal: true, updated: true }),
  "weights that are dropped": () => assertOnDevice(SIZES, { causal: true, dropped: true }),
  "everything is seen, of lengths that a call brings": () => {
    const [rows, keys] = [long("rows"), long("keys")];
    const sizes = { ...drawn(), rows, keys };
    assertOnDevice(sizes, {}, new Map([[rows, 70], [keys, 131]]));
  },
};
