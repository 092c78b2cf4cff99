/**
 * Every op's samples, captured, differentiated ahead of time and run op by op: results and gradients must be
 * those of eager execution, and gradients as many tensors.
 */
import { assert, assertEquals } from "@std/assert";
import "../backends/cpu/device.ts";
import "../lib/autograd/autograd.ts";
import "../lib/tensor/install.ts";
import { aotEager } from "../lib/pipeline.ts";
import { grad } from "../lib/autograd/entry_points.ts";
import { makeFx } from "../lib/autograd/make_fx.ts";
import { parseCall } from "../lib/ops/call.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";
import { manualSeed } from "../lib/tensor/random.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";
import "./support/turns/ops.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { makeSample, resultsOf } from "./support/samples.ts";

interface Outcome {
  readonly results: readonly Tensor[];
  readonly gradients: readonly (Tensor | null)[];
}

/** Runs a call and backward through its floating results. */
function observe(run: (...tensors: Tensor[]) => readonly Tensor[], tensors: readonly Tensor[]): Outcome {
  manualSeed(3);
  const results = run(...tensors);
  const roots = results.filter((result) => result.requiresGrad);
  const losses = roots.map((root) => ops.sum(ops.mul(root, ops.cos(ops.mul(root.detach(), 3)))));
  const [first, ...others] = losses;
  if (first) others.reduce((sum, loss) => ops.add(sum, loss), first).backward();
  return { results, gradients: tensors.map((tensor) => tensor.grad) };
}

/** Relation of two tensors. */
type Relation = "one tensor" | "shared memory" | "apart";

function relationOf(a: Tensor, b: Tensor): Relation {
  if (a === b) return "one tensor";
  return a.storage === b.storage && a.numel() > 0 && b.numel() > 0 ? "shared memory" : "apart";
}

/** Returns the relations between gradients of inputs, and gradients of the results they come from. */
function relations(
  run: (...tensors: Tensor[]) => readonly Tensor[],
  tensors: readonly Tensor[],
): ReadonlyMap<string, Relation> {
  manualSeed(3);
  const roots = run(...tensors).filter(({ requiresGrad }) => requiresGrad);
  const leaves = tensors.filter(({ requiresGrad }) => requiresGrad),
    tangents = roots.map((root) => ops.onesLike(root));
  const found = roots.length > 0 ? grad(roots, leaves, tangents, { allowUnused: true }) : [];
  const named = [
    ...tangents.map((each, k) => ({ name: `gradient of result ${k}`, each })),
    ...found.flatMap((each, k) => each ? [{ name: `gradient of tensor ${k}`, each }] : []),
  ];
  return new Map(
    named.flatMap(({ name, each }, k) =>
      named.slice(0, k).map((other) => [`${other.name} and ${name}`, relationOf(other.each, each)] as const)
    ),
  );
}

/** Gradients are one tensor where they are on the tape, and share no memory that they do not share there. */
function assertSameRelations(
  found: ReadonlyMap<string, Relation>,
  expected: ReadonlyMap<string, Relation>,
  where: string,
): void {
  for (const [pair, relation] of expected) {
    const own = relation === "shared memory" && found.get(pair) === "apart";
    if (!own) assertEquals(found.get(pair), relation, `${where}, ${pair}`);
  }
}

/** Tolerance of numbers against eager execution, relative to themselves and to the largest of them. */
const ALLOWED = { float32: 1e-6, float64: 1e-14 } as const;

function assertSame(found: Tensor | null, expected: Tensor | null, where: string): void {
  assertEquals(found === null, expected === null, `${where}: presence`);
  if (found === null || expected === null) return;
  assertEquals(`${found.dtype}[${found.shape}]`, `${expected.dtype}[${expected.shape}]`, where);
  const { dtype } = found, allowed = dtype === "float32" || dtype === "float64" ? ALLOWED[dtype] : 0;
  const a = found.detach().toTypedArray(), b = Array.from(expected.detach().toTypedArray(), Number);
  const scale = b.reduce((most, y) => Number.isFinite(y) ? Math.max(most, Math.abs(y)) : most, 0);
  a.forEach((value: number | bigint, k: number) => {
    const x = Number(value), y = b[k] ?? NaN;
    const near = Object.is(x, y) || x === y || Math.abs(x - y) <= allowed * (Math.abs(y) + scale);
    assert(near, `${where}: [${k}] is ${x}, eager execution gives ${y}`);
  });
}

/** Replaces the tensors of a call's arguments, in order. */
function withTensors(given: readonly unknown[], tensors: readonly Tensor[]): unknown[] {
  let next = 0;
  const replace = (value: unknown): unknown =>
    isTensor(value) ? tensors[next++] : Array.isArray(value) ? value.map(replace) : value;
  return given.map(replace);
}

function tensorsIn(given: readonly unknown[]): Tensor[] {
  return given.flatMap((value) => isTensor(value) ? [value] : Array.isArray(value) ? tensorsIn(value) : []);
}

function check(definition: OpDefinition, sample: Sample, where: string): void {
  const make = () => makeSample(sample, { requiresGrad: true }).given;
  const call = (given: readonly unknown[]) => (...tensors: Tensor[]) =>
    resultsOf(callOp(definition, withTensors(given, tensors)));
  const given = make(), tensors = tensorsIn(given);
  const args = parseCall(definition, given, isTensor);
  if (definition.dataDependent?.(args)) return;
  const expected = observe(call(given), tensors);
  const again = tensorsIn(make());
  const compiled = aotEager(makeFx(call(given))(...again), again);
  if (!compiled) throw new Error(`${where}: declined`);
  const run = (...each: Tensor[]) => {
    const results = compiled(...each);
    return Array.isArray(results) ? results.filter(isTensor) : [];
  };
  const found = observe(run, tensorsIn(make()));
  assertEquals(found.results.length, expected.results.length, where);
  found.results.forEach((each, k) => assertSame(each, expected.results[k] ?? null, `${where}, result ${k}`));
  if (/^empty|^newEmpty/.test(definition.name)) return;
  assertEquals(found.results.map((r) => r.requiresGrad), expected.results.map((r) => r.requiresGrad), where);
  found.gradients.forEach((each, k) =>
    assertSame(each, expected.gradients[k] ?? null, `${where}, gradient ${k}`)
  );
  assertSameRelations(relations(run, tensorsIn(make())), relations(call(given), tensorsIn(make())), where);
}

for (const definition of sampleBySeed(ALL_OPS, 150, 4)) {
  if (definition.implementation.kind === "host") continue;
  Deno.test(`${definition.name}: ahead of time as in eager execution`, () => {
    definition.samples.forEach((sample, k) => check(definition, sample, `sample ${k}`));
  });
}
