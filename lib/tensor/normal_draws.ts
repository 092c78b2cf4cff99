/**
 * Normal numbers with a mean and a deviation for each element. Mean and deviation broadcast against each other.
 * Invariant: draws are those of `randn` for the same generator, and no gradient flows from them.
 */
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { optionsOf } from "../base/checked_input.ts";
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

/**
 * Normal numbers, as `torch.normal`: one for each element of a mean and a standard deviation, which broadcast, or for two
 * numbers a tensor of a size. Throws DynError for a negative deviation, and for tensors of other types than floats.
 */
export function normal(mean: Tensor, std?: Tensor | number, options?: NormalDrawOptions): Tensor;
/** The same for a number as the mean. */
export function normal(mean: number, std: Tensor, options?: NormalDrawOptions): Tensor;
/** The same for two numbers. */
export function normal(mean: number, std: number, size: readonly number[], options?: RandOptions): Tensor;
export function normal(
  mean: Tensor | number,
  std: Tensor | number = 1,
  ...[third = {}, options = {}]: [
    sizeOrOptions?: readonly number[] | NormalDrawOptions,
    options?: RandOptions,
  ]
): Tensor {
  const tensors = [mean, std].filter(isTensor), [first] = tensors;
  const odd = tensors.find(({ dtype }) => !isFloat(dtype));
  if (odd) throw new DynError(`Expected floats as mean and std of normal but found ${odd.dtype}`);
  const isNegative = isTensor(std) ? noGrad(() => std.lt(0).any().item<boolean>()) : !(std >= 0);
  if (isNegative) throw new DynError("Expected a non-negative std for normal but found a negative one");
  if (!first) {
    if (!isSize(third)) {
      throw new DynError("Expected a size of normal for a mean and a std that are numbers but found none");
    }
    const { requiresGrad = false, ...placed } = options;
    const made = noGrad(() => ops.add(ops.mul(ops.randn([...third], placed), std), mean));
    return requiresGrad ? made.requiresGrad_() : made;
  }
  if (isSize(third)) {
    throw new DynError(
      "Expected a size of normal only for two numbers but found it with a tensor, which has a shape",
    );
  }
  const { generator = null } = optionsOf("normal", third, ["generator"]);
  const shape = broadcastShapes(...tensors.map((each) => each.shape));
  const drawn = ops.randn(shape, { generator, dtype: resultTypeOf(tensors), device: first.device });
  return noGrad(() => ops.add(ops.mul(drawn, std), mean));
}

const isSize = (value: readonly number[] | NormalDrawOptions): value is readonly number[] =>
  Array.isArray(value);
