/**
 * Tests generated from op definitions: metadata, kernels against the reference interpreter, gradients against finite
 * differences, documented errors; and that the generated files match the definitions.
 */
import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import "../backends/cpu/device.ts";
import "../backends/meta/device.ts";
import "../lib/autograd/autograd.ts";
import "../lib/tensor/install.ts";
import { DynError } from "../lib/base/errors.ts";
import { gradcheck } from "../lib/autograd/gradcheck.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import { isCreation, parseCall } from "../lib/ops/call.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { entryOf, inferResults, mapTensors } from "../lib/tensor/plan.ts";
import { getRngState, manualSeed, setRngState } from "../lib/tensor/random.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";
import { generateAll } from "../tools/generate.ts";
import "./support/devices.ts";
import "./support/turns/ops.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Samples that ask for no device of their own. */
const samplesOf = (definition: OpDefinition): readonly Sample[] =>
  definition.samples.filter((s) => !s.args.includes("cpu"));

/**
 * How far results may be from the reference's, relative to themselves, to the largest of them and, for compositions,
 * whose intermediates are as large, to the largest operand.
 */
const ALLOWED = { float32: 1e-6, float64: 1e-13 } as const;

function assertClose(
  actual: Tensor,
  expected: Tensor,
  { where, least }: { where: string; least: number },
): void {
  const { dtype } = actual;
  assertEquals(actual.shape, expected.shape, `${where}: shape`);
  assertEquals(dtype, expected.dtype, `${where}: dtype`);
  const a = actual.detach().toTypedArray(), e = expected.detach().toTypedArray();
  const allowed = dtype === "float32" || dtype === "float64" ? ALLOWED[dtype] : 0;
  const scale = Math.max(least, largest(e));
  a.forEach((x: number | bigint, k: number) => {
    const want = Number(e[k]), got = Number(x);
    const near = Object.is(want, got) || want === got ||
      Math.abs(got - want) <= allowed * (Math.abs(want) + scale);
    if (!near) fail(`${where}: [${k}] is ${got}, the reference says ${want}`);
  });
}

/** The largest magnitude among finite elements. */
function largest(elements: Iterable<number | bigint>): number {
  let most = 0;
  for (const x of elements) if (Number.isFinite(Number(x))) most = Math.max(most, Math.abs(Number(x)));
  return most;
}

/** The call of a sample on the reference, which creation ops have to be asked for. */
function callOnReference(definition: OpDefinition, sample: Sample): readonly Tensor[] {
  const { given } = makeSample(sample, { device: "oracle" });
  if (!isCreation(definition) || given.some(hasTensor)) return resultsOf(callOp(definition, given));
  const last = given.at(-1), options = isPlainObject(last) ? last : {};
  const rest = isPlainObject(last) ? given.slice(0, -1) : given;
  return resultsOf(callOp(definition, [...rest, { ...options, device: "oracle" }]));
}

Deno.test("on the device meta every op infers its metadata, except data-dependent ones, which are errors", () => {
  for (const definition of ALL_OPS) {
    samplesOf(definition).forEach((sample, k) => {
      const { given, tensors } = makeSample(sample, { device: "meta" }),
        where = `${definition.name}, sample ${k}`;
      const last = given.at(-1), named = isPlainObject(last) ? last : {};
      const rest = isPlainObject(last) ? given.slice(0, -1) : given;
      const args = tensors.length > 0 ? given : [...rest, { ...named, device: "meta" }];
      const parsed = parseCall(definition, args, isTensor);
      if (definition.dataDependent?.(parsed)) {
        assertThrows(() => callOp(definition, args), DynError, 'the device "meta"', where);
        return;
      }
      const metas = inferResults(definition, mapTensors(entryOf(definition), parsed, (t) => t.meta));
      const found = resultsOf(callOp(definition, args));
      assertEquals(
        found.map((r) => [r.shape, r.dtype, r.device]),
        metas.map((m) => [m.shape, m.dtype, "meta"]),
        where,
      );
    });
  }
});

/** Ops that have a gradient, of which a run takes a sixth: differences call each op twice for every element. */
const DIFFERENTIABLE = ALL_OPS.filter(({ gradient, implementation }) =>
  gradient.kind !== "none" && implementation.kind !== "random"
);
const DIFFERENTIATED: ReadonlySet<OpDefinition> = new Set(
  sampleBySeed(DIFFERENTIABLE, Math.ceil(DIFFERENTIABLE.length / 6)),
);

for (const definition of ALL_OPS) {
  Deno.test(`${definition.name}: results have the inferred metadata and the reference's elements`, () => {
    samplesOf(definition).forEach((sample, k) => {
      const where = `sample ${k}`;
      manualSeed(k);
      const state = getRngState();
      const { given, tensors } = makeSample(sample);
      const composed = definition.implementation.kind === "composite";
      const least = composed ? Math.max(0, ...tensors.map((t) => largest(t.toTypedArray()))) : 0;
      const actual = resultsOf(callOp(definition, given));
      if (!definition.dataDependent) {
        const args = parseCall(definition, given, isTensor);
        const metas = inferResults(definition, mapTensors(entryOf(definition), args, (t) => t.meta));
        assertEquals(actual.map((r) => [r.shape, r.dtype]), metas.map((m) => [m.shape, m.dtype]), where);
      }
      setRngState(state);
      const expected = callOnReference(definition, sample);
      assertEquals(actual.length, expected.length, where);
      if (/^empty|^newEmpty/.test(definition.name)) return;
      actual.forEach((each, i) =>
        assertClose(each, expected[i] ?? each, { where: `${where}, result ${i}`, least })
      );
    });
  });
  if (!DIFFERENTIATED.has(definition)) continue;
  Deno.test(`${definition.name}: its gradient agrees with finite differences`, () => {
    if (isRandom(definition)) return;
    samplesOf(definition).forEach((sample, k) => {
      if (sample.frozen) return;
      const { given, tensors } = makeSample(sample, { float: "float64", requiresGrad: true });
      const checked = tensors.filter((t) => t.requiresGrad && t.numel() > 0 && t.numel() <= 64);
      if (checked.length === 0) return;
      const results = resultsOf(callOp(definition, given));
      // differences of float32 results are too coarse to compare with
      if (!results.some((r) => r.requiresGrad) || results.some((r) => r.dtype === "float32")) return;
      try {
        gradcheck(() => resultsOf(callOp(definition, given)), checked, { eps: 1e-5, atol: 1e-4, rtol: 1e-3 });
      } catch (thrown) {
        throw new Error(`Sample ${k}: ${thrown instanceof Error ? thrown.message : thrown}`, {
          cause: thrown,
        });
      }
    });
  });
}

/** The lists among arguments, those in options and in other lists too. */
const listsIn = (given: unknown): unknown[][] =>
  Array.isArray(given)
    ? [given, ...given.flatMap(listsIn)]
    : isPlainObject(given)
    ? Object.values(given).flatMap(listsIn)
    : [];

/** Gradients of a sample, whose lists are emptied between the call and the backward pass if `spoil`. */
function gradientsOf(definition: OpDefinition, sample: Sample, spoil: boolean): unknown {
  manualSeed(1);
  const { given, tensors } = makeSample(sample, { float: "float64", requiresGrad: true });
  const results = resultsOf(callOp(definition, given)).filter((each) => each.requiresGrad);
  if (spoil) { for (const list of given.flatMap(listsIn)) list.length = 0; }
  for (const result of results) {
    const weights = Array.from({ length: result.numel() }, (_, k) => k + 1);
    const weight = tensor(weights, { dtype: "float64" }).reshape(result.shape);
    result.backward(weight.to(result.dtype), { retainGraph: true });
  }
  return tensors.map((each) => each.grad?.tolist());
}

/** Samples with lists of ops that have gradients. */
const LISTED = DIFFERENTIABLE.flatMap((definition) =>
  samplesOf(definition).flatMap((sample) =>
    !sample.frozen && [...sample.args, ...Object.values(sample.options ?? {})].some(Array.isArray)
      ? [{ definition, sample }]
      : []
  )
);

Deno.test("lists that a program changes after a call change no gradient", () => {
  assert(LISTED.length > 100, `${LISTED.length} samples`);
  for (const { definition, sample } of sampleBySeed(LISTED, 30)) {
    const [kept, spoilt] = [false, true].map((spoil) => gradientsOf(definition, sample, spoil));
    assertEquals(spoilt, kept, definition.name);
  }
});

for (const definition of ALL_OPS) {
  if (!definition.errors?.length) continue;
  Deno.test(`${definition.name}: errors of wrong calls tell what is wrong`, () => {
    for (const { message, ...sample } of definition.errors ?? []) {
      assertThrows(() => callOp(definition, makeSample(sample).given), DynError, message);
    }
  });
}

function hasTensor(value: unknown): boolean {
  return isTensor(value) || (Array.isArray(value) && value.some(hasTensor));
}

/** Compositions of random ops draw new numbers in every call. */
function isRandom(definition: OpDefinition): boolean {
  manualSeed(1);
  const before = getRngState().offset;
  for (const sample of samplesOf(definition)) callOp(definition, makeSample(sample).given);
  return getRngState().offset !== before;
}

Deno.test("the generated files are those of the definitions", async () => {
  for (const { path, text } of generateAll()) {
    const stored = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
    const squeeze = (s: string) => s.replaceAll(/[\s,;*|&]+/g, "");
    assert(squeeze(stored) === squeeze(text), `${path} is out of date: run deno task generate`);
  }
});
