/**
 * Tensors for the samples of op definitions. Invariant: the same sample has the same elements on every device; no two
 * elements of a float tensor are equal, so that extremes are unique.
 */
import type { DType } from "../../lib/base/dtype.ts";
import type { Sample, SampleArgument } from "../../lib/ops/definition.ts";
import { tensor } from "../../lib/tensor/creation.ts";
import { ops } from "../../lib/tensor/eager.ts";
import { isTensor, type Tensor } from "../../lib/tensor/tensor.ts";

/** How tensors of a sample are made. */
export interface SampleOptions {
  readonly device?: string;
  /** Replaces float32, so that gradients can be checked. */
  readonly float?: DType;
  /** Whether float tensors require grad. */
  readonly requiresGrad?: boolean;
}

/** A call's arguments, and the tensors among them. */
export interface MadeSample {
  readonly given: readonly unknown[];
  readonly tensors: readonly Tensor[];
}

/** Makes the arguments of a sample. */
export function makeSample(sample: Sample, options: SampleOptions = {}): MadeSample {
  const tensors: Tensor[] = [];
  const make = (a: SampleArgument): unknown => {
    if (isList(a)) return a.map(make);
    if (typeof a !== "object" || a === null) return a;
    const made = makeTensor(a, tensors.length, options);
    tensors.push(made);
    return made;
  };
  const given = sample.args.map(make);
  if (sample.options) {
    given.push(Object.fromEntries(Object.entries(sample.options).map(([name, a]) => [name, make(a)])));
  }
  return { given, tensors };
}

function isList(a: SampleArgument): a is readonly SampleArgument[] {
  return Array.isArray(a);
}

type Described = Extract<SampleArgument, { readonly tensor: readonly number[] }>;

function makeTensor(described: Described, ordinal: number, options: SampleOptions): Tensor {
  const shape = described.transposed ? [...described.tensor].reverse() : [...described.tensor];
  const count = shape.reduce((a, b) => a * b, 1);
  const wanted = described.dtype ?? "float32";
  const dtype = wanted === "float32" ? options.float ?? "float32" : wanted;
  const [low, high] = described.range ?? [-2, 2];
  const elements = Array.from({ length: count }, (_, k) => {
    // a permutation of evenly spaced places, shifted per tensor so that operands differ
    const place = ((k * 7919 + ordinal * 13) % Math.max(1, count) + 0.4137 + 0.1 * (ordinal % 4)) /
      (count + 0.5);
    return low + (high - low) * place;
  });
  const values = dtype === "bool"
    ? elements.map((_, k) => (k * 5 + ordinal) % 3 === 0)
    : dtype === "float32" || dtype === "float64"
    ? elements
    : elements.map((e) => dtype === "uint8" ? Math.abs(Math.trunc(e)) : Math.trunc(e));
  const flat = tensor(values, { dtype, ...(options.device ? { device: options.device } : {}) });
  const leaf = ops.reshape(flat, shape).detach();
  const float = dtype === "float32" || dtype === "float64";
  if (options.requiresGrad && float) leaf.requiresGrad_();
  const made = described.transposed ? ops.permute(leaf, shape.map((_, d) => shape.length - 1 - d)) : leaf;
  return made;
}

/** The results of a call as a list. */
export function resultsOf(result: Tensor | readonly Tensor[]): readonly Tensor[] {
  return isTensor(result) ? [result] : result;
}
