/**
 * Runs a model of the zoo on one tier and measures it: the elements of every result, and counts of its captures.
 * Invariant: every tier runs the same functions from the same weights on the same batch.
 */
import { assert } from "@std/assert";
import { compile, type CompileOptions, compiler, manualSeed, noGrad, type Tensor } from "../../mod.ts";
import { isFloat } from "../../lib/base/dtype.ts";
import { elementsOf, type Numbers } from "./numbers.ts";
import type { Counts, ExpectedCounts, Specimen, Subject, Training } from "./specimen.ts";

/** How the functions of a specimen are run. */
export interface Tier {
  readonly name: string;
  /** Absent: nothing is compiled. */
  readonly options?: CompileOptions;
  readonly dtype?: "float32" | "float64";
  readonly device?: "webgpu";
}

/** Elements by name, as in the files: logits, loss, grad.…, losses, final.… */
export type Elements = ReadonlyMap<string, Float64Array>;

/** The results of a specimen on one tier. */
export interface Outcome {
  readonly elements: Elements;
  readonly counts: ExpectedCounts;
  readonly decoded: readonly number[] | null;
}

const STEPS = 10;

/** Evaluation, gradients and ten steps. */
export function run(specimen: Specimen, numbers: Numbers, tier: Tier): Outcome {
  compiler.reset();
  const subject = specimen.make({ dropout: 0 }), found = new Map<string, Float64Array>();
  const { model } = subject, batch = place(subject, numbers, tier);
  const restore = () => model.loadStateDict(placed(numbers.state, tier));

  model.eval();
  const forward = wrap(subject.forward, tier);
  const decoding = decode(subject, batch, tier);
  found.set("logits", elementsOf(noGrad(() => forward(...batch))));

  model.train();
  const loss = wrap(subject.loss, tier), value = loss(...batch);
  value.backward();
  found.set("loss", elementsOf(value));
  for (const [name, { grad }] of model.namedParameters()) {
    if (grad) found.set(`grad.${name}`, elementsOf(grad));
  }

  restore();
  model.zeroGrad();
  const training = subject.train(), step = wrap(training.step, tier);
  found.set("losses", train({ ...training, step }, batch, STEPS));
  for (const [key, tensor] of Object.entries(model.stateDict())) {
    found.set(`final.${key}`, elementsOf(tensor));
  }
  return {
    elements: found,
    counts: {
      forward: countsOf(forward),
      loss: countsOf(loss),
      step: countsOf(step),
      ...(decoding ? { decode: decoding.counts } : {}),
    },
    decoded: decoding?.tokens ?? null,
  };
}

/** Steps with dropout, from one seed. */
export function runRandom(specimen: Specimen, numbers: Numbers, tier: Tier): Outcome["elements"] {
  compiler.reset();
  manualSeed(7);
  const subject = specimen.make({ dropout: 0.2 }), { model } = subject;
  const batch = place(subject, numbers, tier);
  model.train();
  const training = subject.train();
  const losses = train({ ...training, step: wrap(training.step, tier) }, batch, 3);
  const found = new Map([["losses", losses]]);
  for (const [key, tensor] of Object.entries(model.stateDict())) {
    found.set(`final.${key}`, elementsOf(tensor));
  }
  return found;
}

/** Returns what a model generates, if it does. */
function decode({ decode }: Subject, batch: readonly Tensor[], tier: Tier) {
  if (!decode) return null;
  let counts = countsOf(decode);
  const functions: object[] = [];
  const tokens = decode((fn) => {
    const made = wrap(fn, tier);
    functions.push(made);
    return made;
  }, batch);
  for (const each of functions) counts = countsOf(each);
  return { tokens, counts };
}

/** Loads the state, moves the model, gives the batch. */
function place({ model }: Subject, { state, batch }: Numbers, tier: Tier): readonly Tensor[] {
  if (tier.dtype === "float64") model.double();
  if (tier.device) model.to(tier.device);
  model.loadStateDict(placed(state, tier));
  return batch.map((each) => moved(each, tier));
}

function placed(state: Numbers["state"], tier: Tier): Record<string, Tensor> {
  return Object.fromEntries(Object.entries(state).map(([key, each]) => [key, moved(each, tier)]));
}

function moved(tensor: Tensor, { dtype = "float32", device }: Tier): Tensor {
  return (isFloat(tensor.dtype) ? tensor.to(dtype) : tensor).to(device ?? "cpu");
}

function wrap<F extends (...given: never[]) => unknown>(fn: F, { options }: Tier): F {
  return options ? compile(fn, options) : fn;
}

function train({ step, after }: Training, batch: readonly Tensor[], count: number): Float64Array {
  const losses: number[] = [];
  for (let i = 0; i < count; i++) {
    const loss = step(...batch);
    losses.push(...elementsOf(loss));
    after?.(loss);
  }
  return Float64Array.from(losses);
}

function countsOf(fn: object): Counts {
  const { compiled, graphs, graphBreaks, recompiles, givenUp } = compiler.status(fn);
  if (!compiled) return { graphs: 0, breaks: 0, recompiles: 0 };
  assert(givenUp === null, `${givenUp}`);
  return { graphs, breaks: graphBreaks, recompiles };
}
