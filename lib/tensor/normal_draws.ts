/**
 * Normal numbers with a mean and a deviation for each element. Mean and deviation broadcast against each other.
 * Invariant: draws are those of `randn` for the same generator, and no gradient flows from them.
 */
import { argumentsOf } from "../base/arguments.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import type { RandOptions } from "../ops/generated_options.ts";
import type { RandomSource } from "../ops/random_source.ts";
import { resultTypeOf } from "../ops/promotion.ts";
import { broadcastShapes } from "../ops/shapes.ts";
import { ops } from "./eager.ts";
import { noGrad } from "./modes.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** The generator to draw from. */
export interface NormalDrawOptions {
  /** Default: the common generator. */
  readonly generator?: RandomSource | null | undefined;
}

/** The numbers of a call of `normal` by name; with two numbers a size, and properties of the result. */
export interface NamedNormal extends RandOptions {
  /** Means of the elements, or of all. */
  readonly mean: Tensor | number;
  /** Standard deviations; default 1. */
  readonly std?: Tensor | number | undefined;
  /** The shape, for two numbers. */
  readonly size?: readonly number[] | undefined;
}

type Required = Pick<NamedNormal, "mean">;

const ARGUMENTS = {
  required: ["mean"],
  positional: ["std", "size"],
  named: ["generator", "dtype", "device", "requiresGrad"],
  flags: { requiresGrad: true },
} as const;

/**
 * Normal numbers, as `torch.normal`: one for each element of a mean and a standard deviation, which broadcast, or for two
 * numbers a tensor of a size. Trailing arguments may be given by name. Throws DynError for a negative deviation, and for
 * tensors of other types than floats.
 */
export function normal(mean: Tensor, std?: Tensor | number, options?: NormalDrawOptions): Tensor;
/** The same for a number as the mean. */
export function normal(mean: number, std: Tensor, options?: NormalDrawOptions): Tensor;
/** The same for two numbers. */
export function normal(mean: number, std: number, size: readonly number[], options?: RandOptions): Tensor;
/** The same with trailing arguments by name. */
export function normal(mean: Tensor | number, std: number, named: Omit<NamedNormal, "mean">): Tensor;
/** The same with all arguments but the first by name. */
export function normal(mean: Tensor | number, named: Omit<NamedNormal, "mean">): Tensor;
/** The same with all arguments by name. */
export function normal(named: NamedNormal): Tensor;
export function normal(...given: readonly unknown[]): Tensor {
  const { mean, std, size, ...options } = namedIn(given);
  const tensors = [mean, std].filter(isTensor), [first] = tensors;
  const odd = tensors.find(({ dtype }) => !isFloat(dtype));
  if (odd) throw new DynError(`Expected floats as mean and std of normal but found ${odd.dtype}`);
  const isNegative = isTensor(std) ? noGrad(() => std.lt(0).any().item<boolean>()) : !(std >= 0);
  if (isNegative) throw new DynError("Expected a non-negative std for normal but found a negative one");
  if (!first) {
    if (!size) {
      throw new DynError("Expected a size of normal for a mean and a std that are numbers but found none");
    }
    const { requiresGrad = false, ...placed } = options;
    const made = noGrad(() => ops.add(ops.mul(ops.randn([...size], placed), std), mean));
    return requiresGrad ? made.requiresGrad_() : made;
  }
  if (size) {
    throw new DynError(
      "Expected a size of normal only for two numbers but found it with a tensor, which has a shape",
    );
  }
  const { generator = null } = optionsOf("normal", options, ["generator"]);
  const shape = broadcastShapes(...tensors.map((each) => each.shape));
  const drawn = ops.randn(shape, { generator, dtype: resultTypeOf(tensors), device: first.device });
  return noGrad(() => ops.add(ops.mul(drawn, std), mean));
}

/** The arguments of a call by name. */
function namedIn(given: readonly unknown[]): NamedNormal & { readonly std: Tensor | number } {
  const { mean, std = 1, size, ...options } = argumentsOf<Required, Omit<NamedNormal, "mean">>(
    "normal",
    ARGUMENTS,
    given,
  );
  const numbers = { mean: numberIn("mean", mean), std: numberIn("std", std) };
  return { ...options, ...numbers, size: size === undefined ? undefined : sizeIn(size) };
}

function numberIn(name: string, value: unknown): Tensor | number {
  return isTensor(value) || typeof value === "number"
    ? value
    : refuseValue(`a tensor or number for ${name} of normal`, value);
}

function sizeIn(value: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.every((each): each is number => Number.isInteger(each))
    ? list
    : refuseValue("a list of integers for size of normal", value);
}
