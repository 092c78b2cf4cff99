/**
 * Results of every op, written to in place, whole and through a view: the gradients are those of the same program out
 * of place, or the tape reports what is missing; compiled programs behave as plain ones. Each run takes some of the ops,
 * and compiles fewer, selected by a seed (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assert, assertEquals, fail } from "@std/assert";
import { compile, DynError, manualSeed, Tensor } from "../mod.ts";
import { isFloat } from "../lib/base/dtype.ts";
import { mapTree } from "../lib/base/tree.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import "./support/turns/gradients.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

const DIFFERENTIABLE: readonly OpDefinition[] = ALL_OPS.filter(({ gradient, implementation }) =>
  gradient.kind !== "none" && implementation.kind !== "host"
);

type Method = (...args: readonly unknown[]) => Tensor | readonly Tensor[];

const isMethod = (value: unknown): value is Method => typeof value === "function";

/** Returns the method by which programs call an op; null if they cannot. */
function methodOf({ name, params }: OpDefinition): Method | null {
  if (Object.keys(params)[0] !== "self") return null;
  const found: unknown = Object.getOwnPropertyDescriptor(Tensor.prototype, name)?.value;
  return isMethod(found) ? found : null;
}

/** Ways to double a tensor of some dimensions, or the part of it that a view shows. */
const WRITES: Readonly<Record<string, { inPlace(x: Tensor): void; outOfPlace(x: Tensor): Tensor }>> = {
  whole: {
    inPlace: (x) => void x.mul_(2),
    outOfPlace: (x) => x.mul(2),
  },
  "by a view": {
    inPlace: (x) => void x.unsqueeze(0).mul_(2),
    outOfPlace: (x) => x.unsqueeze(0).mul(2).squeeze(0),
  },
};

/** The gradients of a program, or its error. */
type Outcome =
  | { readonly kind: "gradients"; readonly gradients: readonly (Tensor | null)[] }
  | { readonly kind: "refused"; readonly message: string };

/** The gradients of a weighted sum of an op's results, after `change` has made others of them. */
function gradientsOf(
  definition: OpDefinition,
  sample: Sample,
  { change, backend }: { readonly change: (result: Tensor) => Tensor; readonly backend?: string },
): Outcome {
  const { given, tensors } = makeSample(sample, { requiresGrad: true });
  // A viewed tensor must not be a leaf
  const [self, ...rest] = given.map((each) =>
    mapTree(each, (leaf) => isTensor(leaf) && leaf.requiresGrad ? leaf.mul(1) : leaf, isTensor)
  );
  const method = methodOf(definition) ?? fail(`Expected a method ${definition.name}`);
  const program = () => {
    const made = method.call(self, ...rest),
      results: readonly Tensor[] = made instanceof Tensor ? [made] : made;
    return results.filter((each) => each.requiresGrad).map((each) => change(each));
  };
  manualSeed(0);
  try {
    const results = (backend ? compile(program, { backend }) : program)();
    for (const result of results) if (!result.requiresGrad) throw new DynError("a result without history");
    const sums = results.map((each, k) => each.mul(each.add(k + 1)).sum());
    sums.reduce((a, b) => a.add(b)).backward();
  } catch (error) {
    if (error instanceof DynError) return { kind: "refused", message: error.message };
    throw error;
  }
  return { kind: "gradients", gradients: tensors.map(({ grad }) => grad) };
}

function hasGradient(definition: OpDefinition, sample: Sample): boolean {
  const { given, tensors } = makeSample(sample, { requiresGrad: true });
  if (!tensors.some(({ requiresGrad }) => requiresGrad)) return false;
  const method = methodOf(definition), [self, ...rest] = given;
  if (!method || !isTensor(self)) return false;
  return resultsOf(method.call(self, ...rest)).some(({ requiresGrad, dtype }) =>
    requiresGrad && isFloat(dtype)
  );
}

/** Errors of the tape and of checks of writes: a missing value, memory that several elements share. */
const REFUSALS =
  /modified by an inplace operation|several indices|share|view and is being modified inplace|several views|overlap/;

/** Describes the difference between outcomes; null if they are equal. */
function difference(found: Outcome, expected: Outcome): string | null {
  if (found.kind === "refused" || expected.kind === "refused") {
    const say = (each: Outcome) => each.kind === "refused" ? each.message : "gradients";
    return say(found) === say(expected) ? null : `found ${say(found)}, expected ${say(expected)}`;
  }
  for (const [k, grad] of found.gradients.entries()) {
    const wanted = expected.gradients[k] ?? null;
    const same = grad && wanted
      ? grad.allclose(wanted, { rtol: 1e-4, atol: 1e-5, equalNan: true })
      : grad === wanted;
    if (!same) return `gradient ${k}: found ${grad}, expected ${wanted}`;
  }
  return null;
}

Deno.test("results of ops that are written to keep their gradients", () => {
  let compared = 0;
  const differences: string[] = [];
  const definitions = sampleBySeed(DIFFERENTIABLE, 80);
  for (const definition of definitions) {
    for (const [k, sample] of definition.samples.entries()) {
      if (!hasGradient(definition, sample)) continue;
      for (const [name, { inPlace, outOfPlace }] of Object.entries(WRITES)) {
        const label = `${definition.name} sample ${k} ${name}`;
        const written = gradientsOf(definition, sample, { change: (x) => (inPlace(x), x) });
        if (written.kind === "refused") {
          if (!REFUSALS.test(written.message)) differences.push(`${label}: ${written.message}`);
          continue;
        }
        compared++;
        const found = difference(written, gradientsOf(definition, sample, { change: outOfPlace }));
        if (found) differences.push(`${label}: ${found}`);
      }
    }
  }
  assertEquals(differences, []);
  const least = 0.8 * definitions.length;
  assert(compared > least, `Expected more than ${least} compared samples but found ${compared}`);
});

Deno.test("results of ops that are written to keep their gradients, compiled", () => {
  const differences: string[] = [];
  const definitions = sampleBySeed(DIFFERENTIABLE, 35, 1);
  for (const definition of definitions) {
    for (const [k, sample] of definition.samples.entries()) {
      if (!hasGradient(definition, sample)) continue;
      for (const [name, { inPlace }] of Object.entries(WRITES)) {
        const change = (x: Tensor) => (inPlace(x), x), label = `${definition.name} sample ${k} ${name}`;
        const plain = gradientsOf(definition, sample, { change });
        const found = difference(gradientsOf(definition, sample, { change, backend: "aot_eager" }), plain);
        if (found) differences.push(`${label}: ${found}`);
      }
    }
  }
  assertEquals(differences, []);
});
