/**
 * The types that signatures of ops share: operands, results and arguments by name. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { RandomSource } from "./random_source.ts";
import type { IntOrInts, Scalar } from "./params.ts";

/** An operand: a tensor or a number. */
export type Operand<T> = T | Scalar | Dim | Complex;

/** Several results, by position and by name. */
export type Results<T, Names extends string[]> =
  & { [K in keyof Names]: T }
  & { readonly [K in Names[number]]: T };

/** Arguments of add by name. */
export interface AddOptions {
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of sub by name, those of add. */
export interface SubOptions extends AddOptions {}

/** Arguments of rsub by name, those of add. */
export interface RsubOptions extends AddOptions {}

/** Arguments of div by name. */
export interface DivOptions {
  /** As PyTorch's `rounding_mode`; optional. */
  readonly roundingMode?: "trunc" | "floor" | null | undefined;
}

/** Arguments of isclose by name. */
export interface IscloseOptions {
  /** As PyTorch's `rtol`; default 0.00001. */
  readonly rtol?: number | undefined;
  /** As PyTorch's `atol`; default 1e-8. */
  readonly atol?: number | undefined;
  /** As PyTorch's `equal_nan`; default false. */
  readonly equalNan?: boolean | undefined;
}

/** Arguments of round by name. */
export interface RoundOptions {
  /** As PyTorch's `decimals`; optional. */
  readonly decimals?: number | null | undefined;
}

/** Arguments of sigmoid by name. */
export interface SigmoidOptions {
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of logit by name. */
export interface LogitOptions {
  /** As PyTorch's `eps`; optional. */
  readonly eps?: number | null | undefined;
}

/** Arguments of tanh by name, those of sigmoid. */
export interface TanhOptions extends SigmoidOptions {}

/** Arguments of clamp by name. */
export interface ClampOptions<T> {
  /** As PyTorch's `min`; optional. */
  readonly min?: Operand<T> | null | undefined;
  /** As PyTorch's `max`; optional. */
  readonly max?: Operand<T> | null | undefined;
}

/** Arguments of nanToNum by name. */
export interface NanToNumOptions {
  /** As PyTorch's `nan`; optional. */
  readonly nan?: number | null | undefined;
  /** As PyTorch's `posinf`; optional. */
  readonly posinf?: number | null | undefined;
  /** As PyTorch's `neginf`; optional. */
  readonly neginf?: number | null | undefined;
}

/** Arguments of relu by name, those of sigmoid. */
export interface ReluOptions extends SigmoidOptions {}

/** Arguments of relu6 by name, those of sigmoid. */
export interface Relu6Options extends SigmoidOptions {}

/** Arguments of hardtanh by name. */
export interface HardtanhOptions {
  /** As PyTorch's `min_val`; default -1. */
  readonly minVal?: number | undefined;
  /** As PyTorch's `max_val`; default 1. */
  readonly maxVal?: number | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of leakyRelu by name. */
export interface LeakyReluOptions {
  /** As PyTorch's `negative_slope`; default 0.01. */
  readonly negativeSlope?: number | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of threshold by name, those of sigmoid. */
export interface ThresholdOptions extends SigmoidOptions {}

/** Arguments of hardsigmoid by name, those of sigmoid. */
export interface HardsigmoidOptions extends SigmoidOptions {}

/** Arguments of hardswish by name, those of sigmoid. */
export interface HardswishOptions extends SigmoidOptions {}

/** Arguments of softshrink by name. */
export interface SoftshrinkOptions {
  /** As PyTorch's `lambd`; default 0.5. */
  readonly lambd?: number | undefined;
}

/** Arguments of hardshrink by name, those of softshrink. */
export interface HardshrinkOptions extends SoftshrinkOptions {}

/** Arguments of sum by name. */
export interface SumOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of mean by name, those of sum. */
export interface MeanOptions extends SumOptions {}

/** Arguments of prod by name. */
export interface ProdOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of amax by name. */
export interface AmaxOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of amin by name, those of amax. */
export interface AminOptions extends AmaxOptions {}

/** Arguments of argmax by name. */
export interface ArgmaxOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of argmin by name, those of argmax. */
export interface ArgminOptions extends ArgmaxOptions {}

/** Arguments of any by name, those of amax. */
export interface AnyOptions extends AmaxOptions {}

/** Arguments of all by name, those of amax. */
export interface AllOptions extends AmaxOptions {}

/** Arguments of max by name. */
export interface MaxOptions<T> {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: Operand<T> | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of min by name, those of max. */
export interface MinOptions<T> extends MaxOptions<T> {}

/** Arguments of countNonzero by name. */
export interface CountNonzeroOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
}

/** Arguments of nansum by name, those of sum. */
export interface NansumOptions extends SumOptions {}

/** Arguments of nanmean by name, those of sum. */
export interface NanmeanOptions extends SumOptions {}

/** Arguments of zeros by name. */
export interface ZerosOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of ones by name, those of zeros. */
export interface OnesOptions extends ZerosOptions {}

/** Arguments of empty by name, those of zeros. */
export interface EmptyOptions extends ZerosOptions {}

/** Arguments of zerosLike by name, those of zeros. */
export interface ZerosLikeOptions extends ZerosOptions {}

/** Arguments of onesLike by name, those of zeros. */
export interface OnesLikeOptions extends ZerosOptions {}

/** Arguments of emptyLike by name, those of zeros. */
export interface EmptyLikeOptions extends ZerosOptions {}

/** Arguments of newZeros by name, those of zeros. */
export interface NewZerosOptions extends ZerosOptions {}

/** Arguments of newOnes by name, those of zeros. */
export interface NewOnesOptions extends ZerosOptions {}

/** Arguments of newEmpty by name, those of zeros. */
export interface NewEmptyOptions extends ZerosOptions {}

/** Arguments of full by name, those of zeros. */
export interface FullOptions extends ZerosOptions {}

/** Arguments of fullLike by name, those of zeros. */
export interface FullLikeOptions extends ZerosOptions {}

/** Arguments of newFull by name, those of zeros. */
export interface NewFullOptions extends ZerosOptions {}

/** Arguments of arange by name. */
export interface ArangeOptions {
  /** As PyTorch's `end`; optional. */
  readonly end?: Scalar | Dim | null | undefined;
  /** As PyTorch's `step`; default 1. */
  readonly step?: Scalar | Dim | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of linspace by name, those of zeros. */
export interface LinspaceOptions extends ZerosOptions {}

/** Arguments of logspace by name. */
export interface LogspaceOptions {
  /** As PyTorch's `base`; default 10. */
  readonly base?: number | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of eye by name. */
export interface EyeOptions {
  /** As PyTorch's `m`; optional. */
  readonly m?: Dim | null | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of scalarTensor by name, those of zeros. */
export interface ScalarTensorOptions extends ZerosOptions {}

/** Arguments of copy by name. */
export interface CopyOptions {
  /** As PyTorch's `non_blocking`; default false. */
  readonly nonBlocking?: boolean | undefined;
}

/** Arguments of squeeze by name, those of countNonzero. */
export interface SqueezeOptions extends CountNonzeroOptions {}

/** Arguments of expand by name. */
export interface ExpandOptions {
  /** As PyTorch's `implicit`; default false. */
  readonly implicit?: boolean | undefined;
}

/** Arguments of slice by name. */
export interface SliceOptions {
  /** As PyTorch's `dim`; default 0. */
  readonly dim?: number | undefined;
  /** As PyTorch's `start`; optional. */
  readonly start?: Dim | null | undefined;
  /** As PyTorch's `end`; optional. */
  readonly end?: Dim | null | undefined;
  /** As PyTorch's `step`; default 1. */
  readonly step?: number | undefined;
}

/** Arguments of diagonal by name. */
export interface DiagonalOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: number | undefined;
  /** As PyTorch's `dim1`; default 0. */
  readonly dim1?: number | undefined;
  /** As PyTorch's `dim2`; default 1. */
  readonly dim2?: number | undefined;
}

/** Arguments of asStrided by name. */
export interface AsStridedOptions {
  /** As PyTorch's `storage_offset`; optional. */
  readonly storageOffset?: Dim | null | undefined;
}

/** Arguments of asStridedCopy by name, those of asStrided. */
export interface AsStridedCopyOptions extends AsStridedOptions {}

/** Arguments of diagonalCopy by name, those of diagonal. */
export interface DiagonalCopyOptions extends DiagonalOptions {}

/** Arguments of expandCopy by name, those of expand. */
export interface ExpandCopyOptions extends ExpandOptions {}

/** Arguments of squeezeCopy by name, those of countNonzero. */
export interface SqueezeCopyOptions extends CountNonzeroOptions {}

/** Arguments of splitWithSizesCopy by name. */
export interface SplitWithSizesCopyOptions {
  /** As PyTorch's `dim`; default 0. */
  readonly dim?: number | undefined;
}

/** Arguments of unbindCopy by name, those of splitWithSizesCopy. */
export interface UnbindCopyOptions extends SplitWithSizesCopyOptions {}

/** Arguments of unsafeSplit by name, those of splitWithSizesCopy. */
export interface UnsafeSplitOptions extends SplitWithSizesCopyOptions {}

/** Arguments of unsafeChunk by name, those of splitWithSizesCopy. */
export interface UnsafeChunkOptions extends SplitWithSizesCopyOptions {}

/** Arguments of sliceScatter by name, those of slice. */
export interface SliceScatterOptions extends SliceOptions {}

/** Arguments of diagonalScatter by name, those of diagonal. */
export interface DiagonalScatterOptions extends DiagonalOptions {}

/** Arguments of diagEmbed by name. */
export interface DiagEmbedOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: number | undefined;
  /** As PyTorch's `dim1`; default -2. */
  readonly dim1?: number | undefined;
  /** As PyTorch's `dim2`; default -1. */
  readonly dim2?: number | undefined;
}

/** Arguments of asStridedBackward by name, those of asStrided. */
export interface AsStridedBackwardOptions extends AsStridedOptions {}

/** Arguments of readStrided by name, those of asStrided. */
export interface ReadStridedOptions extends AsStridedOptions {}

/** Arguments of writeStrided by name, those of asStrided. */
export interface WriteStridedOptions extends AsStridedOptions {}

/** Arguments of asStridedScatter by name, those of asStrided. */
export interface AsStridedScatterOptions extends AsStridedOptions {}

/** Arguments of flatten by name. */
export interface FlattenOptions {
  /** As PyTorch's `start_dim`; default 0. */
  readonly startDim?: number | undefined;
  /** As PyTorch's `end_dim`; default -1. */
  readonly endDim?: number | undefined;
}

/** Arguments of split by name, those of splitWithSizesCopy. */
export interface SplitOptions extends SplitWithSizesCopyOptions {}

/** Arguments of splitWithSizes by name, those of splitWithSizesCopy. */
export interface SplitWithSizesOptions extends SplitWithSizesCopyOptions {}

/** Arguments of chunk by name, those of splitWithSizesCopy. */
export interface ChunkOptions extends SplitWithSizesCopyOptions {}

/** Arguments of tensorSplit by name, those of splitWithSizesCopy. */
export interface TensorSplitOptions extends SplitWithSizesCopyOptions {}

/** Arguments of unbind by name, those of splitWithSizesCopy. */
export interface UnbindOptions extends SplitWithSizesCopyOptions {}

/** Arguments of gather by name. */
export interface GatherOptions {
  /** As PyTorch's `sparse_grad`; default false. */
  readonly sparseGrad?: boolean | undefined;
}

/** Arguments of scatter by name. */
export interface ScatterOptions<T> {
  /** As PyTorch's `src`; optional. */
  readonly src?: Operand<T> | null | undefined;
  /** As PyTorch's `value`; optional. */
  readonly value?: Scalar | Dim | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: "add" | "multiply" | null | undefined;
}

/** Arguments of put by name. */
export interface PutOptions {
  /** As PyTorch's `accumulate`; default false. */
  readonly accumulate?: boolean | undefined;
}

/** Arguments of takeAlongDim by name. */
export interface TakeAlongDimOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
}

/** Arguments of indexAdd by name, those of add. */
export interface IndexAddOptions extends AddOptions {}

/** Arguments of indexPut by name, those of put. */
export interface IndexPutOptions extends PutOptions {}

/** Arguments of putIndices by name, those of put. */
export interface PutIndicesOptions extends PutOptions {}

/** Arguments of roll by name. */
export interface RollOptions {
  /** As PyTorch's `dims`; optional. */
  readonly dims?: IntOrInts | null | undefined;
}

/** Arguments of repeatInterleave by name. */
export interface RepeatInterleaveOptions<T> {
  /** As PyTorch's `repeats`; optional. */
  readonly repeats?: Operand<T> | null | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: number | null | undefined;
}

/** Arguments of rot90 by name. */
export interface Rot90Options {
  /** As PyTorch's `k`; default 1. */
  readonly k?: number | undefined;
  /** As PyTorch's `dims`; default [0,1]. */
  readonly dims?: readonly number[] | undefined;
}

/** Arguments of tril by name. */
export interface TrilOptions {
  /** As PyTorch's `diagonal`; default 0. */
  readonly diagonal?: Dim | undefined;
}

/** Arguments of triu by name, those of tril. */
export interface TriuOptions extends TrilOptions {}

/** Arguments of diag by name. */
export interface DiagOptions {
  /** As PyTorch's `diagonal`; default 0. */
  readonly diagonal?: number | undefined;
}

/** Arguments of cat by name, those of splitWithSizesCopy. */
export interface CatOptions extends SplitWithSizesCopyOptions {}

/** Arguments of stack by name, those of splitWithSizesCopy. */
export interface StackOptions extends SplitWithSizesCopyOptions {}

/** Arguments of cumsum by name. */
export interface CumsumOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of cumprod by name, those of cumsum. */
export interface CumprodOptions extends CumsumOptions {}

/** Arguments of addcmul by name. */
export interface AddcmulOptions {
  /** As PyTorch's `value`; default 1. */
  readonly value?: Scalar | Dim | undefined;
}

/** Arguments of addcdiv by name, those of addcmul. */
export interface AddcdivOptions extends AddcmulOptions {}

/** Arguments of nonzero by name. */
export interface NonzeroOptions {
  /** As PyTorch's `as_tuple`; default false. */
  readonly asTuple?: boolean | undefined;
}

/** Arguments of repeatedIndices by name. */
export interface RepeatedIndicesOptions {
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: number | null | undefined;
}

/** Arguments of uniqueGroups by name. */
export interface UniqueGroupsOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `consecutive`; default false. */
  readonly consecutive?: boolean | undefined;
}

/** Arguments of unique by name. */
export interface UniqueOptions {
  /** As PyTorch's `sorted`; default true. */
  readonly sorted?: boolean | undefined;
  /** As PyTorch's `return_inverse`; default false. */
  readonly returnInverse?: boolean | undefined;
  /** As PyTorch's `return_counts`; default false. */
  readonly returnCounts?: boolean | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
}

/** Arguments of uniqueConsecutive by name. */
export interface UniqueConsecutiveOptions {
  /** As PyTorch's `return_inverse`; default false. */
  readonly returnInverse?: boolean | undefined;
  /** As PyTorch's `return_counts`; default false. */
  readonly returnCounts?: boolean | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `sorted`; default true. */
  readonly sorted?: boolean | undefined;
}

/** Arguments of bincount by name. */
export interface BincountOptions<T> {
  /** As PyTorch's `weights`; optional. */
  readonly weights?: T | null | undefined;
  /** As PyTorch's `minlength`; default 0. */
  readonly minlength?: number | undefined;
}

/** Arguments of constantPadNd by name. */
export interface ConstantPadNdOptions {
  /** As PyTorch's `value`; default 0. */
  readonly value?: Scalar | Dim | undefined;
}

/** Arguments of pad by name. */
export interface PadOptions {
  /** As PyTorch's `mode`; default "constant". */
  readonly mode?: "constant" | "reflect" | "replicate" | "circular" | undefined;
  /** As PyTorch's `value`; optional. */
  readonly value?: Scalar | Dim | null | undefined;
}

/** Arguments of scatterReduce by name. */
export interface ScatterReduceOptions {
  /** As PyTorch's `include_self`; default true. */
  readonly includeSelf?: boolean | undefined;
}

/** Arguments of indexReduce by name, those of scatterReduce. */
export interface IndexReduceOptions extends ScatterReduceOptions {}

/** Arguments of sort by name. */
export interface SortOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `descending`; default false. */
  readonly descending?: boolean | undefined;
  /** As PyTorch's `stable`; optional. */
  readonly stable?: boolean | null | undefined;
}

/** Arguments of argsort by name. */
export interface ArgsortOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `descending`; default false. */
  readonly descending?: boolean | undefined;
  /** As PyTorch's `stable`; default false. */
  readonly stable?: boolean | undefined;
}

/** Arguments of topk by name. */
export interface TopkOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `largest`; default true. */
  readonly largest?: boolean | undefined;
  /** As PyTorch's `sorted`; default true. */
  readonly sorted?: boolean | undefined;
}

/** Arguments of kthvalue by name. */
export interface KthvalueOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of median by name, those of argmax. */
export interface MedianOptions extends ArgmaxOptions {}

/** Arguments of nanmedian by name, those of argmax. */
export interface NanmedianOptions extends ArgmaxOptions {}

/** Arguments of quantile by name. */
export interface QuantileOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `interpolation`; default "linear". */
  readonly interpolation?: "linear" | "lower" | "higher" | "midpoint" | "nearest" | undefined;
}

/** Arguments of nanquantile by name, those of quantile. */
export interface NanquantileOptions extends QuantileOptions {}

/** Arguments of searchsorted by name. */
export interface SearchsortedOptions<T> {
  /** As PyTorch's `out_int32`; default false. */
  readonly outInt32?: boolean | undefined;
  /** As PyTorch's `right`; default false. */
  readonly right?: boolean | undefined;
  /** As PyTorch's `side`; optional. */
  readonly side?: "left" | "right" | null | undefined;
  /** As PyTorch's `sorter`; optional. */
  readonly sorter?: T | null | undefined;
}

/** Arguments of bucketize by name. */
export interface BucketizeOptions {
  /** As PyTorch's `out_int32`; default false. */
  readonly outInt32?: boolean | undefined;
  /** As PyTorch's `right`; default false. */
  readonly right?: boolean | undefined;
}

/** Arguments of isin by name. */
export interface IsinOptions {
  /** As PyTorch's `assume_unique`; default false. */
  readonly assumeUnique?: boolean | undefined;
  /** As PyTorch's `invert`; default false. */
  readonly invert?: boolean | undefined;
}

/** Arguments of gelu by name. */
export interface GeluOptions {
  /** As PyTorch's `approximate`; default "none". */
  readonly approximate?: "none" | "tanh" | undefined;
}

/** Arguments of silu by name, those of sigmoid. */
export interface SiluOptions extends SigmoidOptions {}

/** Arguments of mish by name, those of sigmoid. */
export interface MishOptions extends SigmoidOptions {}

/** Arguments of softplus by name. */
export interface SoftplusOptions {
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: number | undefined;
  /** As PyTorch's `threshold`; default 20. */
  readonly threshold?: number | undefined;
}

/** Arguments of elu by name. */
export interface EluOptions {
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: number | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of celu by name, those of elu. */
export interface CeluOptions extends EluOptions {}

/** Arguments of selu by name, those of sigmoid. */
export interface SeluOptions extends SigmoidOptions {}

/** Arguments of glu by name. */
export interface GluOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
}

/** Arguments of maxPool2dWithIndicesBackward by name. */
export interface MaxPool2dWithIndicesBackwardOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: IntOrInts | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
}

/** Arguments of maxPool1d by name. */
export interface MaxPool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: IntOrInts | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
  /** As PyTorch's `return_indices`; default false. */
  readonly returnIndices?: boolean | undefined;
}

/** Arguments of maxPool2d by name, those of maxPool1d. */
export interface MaxPool2dOptions extends MaxPool1dOptions {}

/** Arguments of maxPool3d by name, those of maxPool1d. */
export interface MaxPool3dOptions extends MaxPool1dOptions {}

/** Arguments of avgPool1d by name. */
export interface AvgPool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: IntOrInts | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
  /** As PyTorch's `count_include_pad`; default true. */
  readonly countIncludePad?: boolean | undefined;
  /** As PyTorch's `divisor_override`; optional. */
  readonly divisorOverride?: number | null | undefined;
}

/** Arguments of avgPool2d by name, those of avgPool1d. */
export interface AvgPool2dOptions extends AvgPool1dOptions {}

/** Arguments of avgPool3d by name, those of avgPool1d. */
export interface AvgPool3dOptions extends AvgPool1dOptions {}

/** Arguments of lpPool1d by name. */
export interface LpPool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: IntOrInts | null | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
}

/** Arguments of lpPool2d by name, those of lpPool1d. */
export interface LpPool2dOptions extends LpPool1dOptions {}

/** Arguments of lpPool3d by name, those of lpPool1d. */
export interface LpPool3dOptions extends LpPool1dOptions {}

/** Arguments of fractionalMaxPool2d by name. */
export interface FractionalMaxPool2dOptions<T> {
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: IntOrInts | null | undefined;
  /** As PyTorch's `output_ratio`; optional. */
  readonly outputRatio?: number | readonly number[] | null | undefined;
  /** As PyTorch's `return_indices`; default false. */
  readonly returnIndices?: boolean | undefined;
  /** As PyTorch's `random_samples`; optional. */
  readonly randomSamples?: T | null | undefined;
}

/** Arguments of fractionalMaxPool3d by name, those of fractionalMaxPool2d. */
export interface FractionalMaxPool3dOptions<T> extends FractionalMaxPool2dOptions<T> {}

/** Arguments of cauchy by name. */
export interface CauchyOptions {
  /** As PyTorch's `median`; default 0. */
  readonly median?: number | undefined;
  /** As PyTorch's `sigma`; default 1. */
  readonly sigma?: number | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of logNormal by name. */
export interface LogNormalOptions {
  /** As PyTorch's `mean`; default 1. */
  readonly mean?: number | undefined;
  /** As PyTorch's `std`; default 2. */
  readonly std?: number | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of geometric by name. */
export interface GeometricOptions {
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of random by name. */
export interface RandomOptions {
  /** As PyTorch's `from`; default 0. */
  readonly from?: number | undefined;
  /** As PyTorch's `to`; optional. */
  readonly to?: number | null | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of fillDiagonal by name. */
export interface FillDiagonalOptions {
  /** As PyTorch's `wrap`; default false. */
  readonly wrap?: boolean | undefined;
}

/** Arguments of rand by name. */
export interface RandOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of randn by name, those of rand. */
export interface RandnOptions extends RandOptions {}

/** Arguments of randLike by name, those of rand. */
export interface RandLikeOptions extends RandOptions {}

/** Arguments of randnLike by name, those of rand. */
export interface RandnLikeOptions extends RandOptions {}

/** Arguments of randint by name. */
export interface RandintOptions {
  /** As PyTorch's `high`; optional. */
  readonly high?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `size`; optional. */
  readonly size?: readonly Dim[] | null | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of randintLike by name. */
export interface RandintLikeOptions {
  /** As PyTorch's `high`; optional. */
  readonly high?: Dim | null | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of randperm by name, those of rand. */
export interface RandpermOptions extends RandOptions {}

/** Arguments of bernoulli by name. */
export interface BernoulliOptions<T> {
  /** As PyTorch's `p`; optional. */
  readonly p?: Operand<T> | null | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of uniform by name. */
export interface UniformOptions {
  /** As PyTorch's `from`; default 0. */
  readonly from?: number | undefined;
  /** As PyTorch's `to`; default 1. */
  readonly to?: number | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of normal by name. */
export interface NormalOptions {
  /** As PyTorch's `mean`; default 0. */
  readonly mean?: number | undefined;
  /** As PyTorch's `std`; default 1. */
  readonly std?: number | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of exponential by name. */
export interface ExponentialOptions {
  /** As PyTorch's `lambd`; default 1. */
  readonly lambd?: number | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of multinomial by name. */
export interface MultinomialOptions {
  /** As PyTorch's `replacement`; default false. */
  readonly replacement?: boolean | undefined;
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of dropout by name. */
export interface DropoutOptions {
  /** As PyTorch's `p`; default 0.5. */
  readonly p?: number | undefined;
  /** As PyTorch's `training`; default true. */
  readonly training?: boolean | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of dropout1d by name, those of dropout. */
export interface Dropout1dOptions extends DropoutOptions {}

/** Arguments of dropout2d by name, those of dropout. */
export interface Dropout2dOptions extends DropoutOptions {}

/** Arguments of dropout3d by name, those of dropout. */
export interface Dropout3dOptions extends DropoutOptions {}

/** Arguments of alphaDropout by name. */
export interface AlphaDropoutOptions {
  /** As PyTorch's `p`; default 0.5. */
  readonly p?: number | undefined;
  /** As PyTorch's `training`; default false. */
  readonly training?: boolean | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of featureAlphaDropout by name, those of alphaDropout. */
export interface FeatureAlphaDropoutOptions extends AlphaDropoutOptions {}

/** Arguments of rrelu by name. */
export interface RreluOptions {
  /** As PyTorch's `lower`; default 0.125. */
  readonly lower?: number | undefined;
  /** As PyTorch's `upper`; default 0.3333333333333333. */
  readonly upper?: number | undefined;
  /** As PyTorch's `training`; default false. */
  readonly training?: boolean | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of gumbelSoftmax by name. */
export interface GumbelSoftmaxOptions<T> {
  /** As PyTorch's `tau`; default 1. */
  readonly tau?: Operand<T> | undefined;
  /** As PyTorch's `hard`; default false. */
  readonly hard?: boolean | undefined;
  /** As PyTorch's `eps`; default 1e-10. */
  readonly eps?: number | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
}

/** Arguments of var by name. */
export interface VarOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | boolean | null | undefined;
  /** As PyTorch's `unbiased`; optional. */
  readonly unbiased?: boolean | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `correction`; optional. */
  readonly correction?: Scalar | Dim | null | undefined;
}

/** Arguments of std by name, those of var. */
export interface StdOptions extends VarOptions {}

/** Arguments of varMean by name, those of var. */
export interface VarMeanOptions extends VarOptions {}

/** Arguments of stdMean by name, those of var. */
export interface StdMeanOptions extends VarOptions {}

/** Arguments of logsumexp by name. */
export interface LogsumexpOptions {
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of vectorNorm by name. */
export interface VectorNormOptions {
  /** As PyTorch's `ord`; default 2. */
  readonly ord?: number | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of norm by name. */
export interface NormOptions {
  /** As PyTorch's `p`; default "fro". */
  readonly p?: Scalar | string | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of normalize by name. */
export interface NormalizeOptions {
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
  /** As PyTorch's `dim`; default 1. */
  readonly dim?: IntOrInts | undefined;
  /** As PyTorch's `eps`; default 1e-12. */
  readonly eps?: number | undefined;
}

/** Arguments of cosineSimilarity by name. */
export interface CosineSimilarityOptions {
  /** As PyTorch's `dim`; default 1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `eps`; default 1e-8. */
  readonly eps?: number | undefined;
}

/** Arguments of pairwiseDistance by name. */
export interface PairwiseDistanceOptions {
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
  /** As PyTorch's `eps`; default 0.000001. */
  readonly eps?: number | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of dist by name. */
export interface DistOptions {
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
}

/** Arguments of segmentReduce by name. */
export interface SegmentReduceOptions<T> {
  /** As PyTorch's `lengths`; optional. */
  readonly lengths?: T | null | undefined;
  /** As PyTorch's `offsets`; optional. */
  readonly offsets?: T | null | undefined;
  /** As PyTorch's `axis`; default 0. */
  readonly axis?: number | undefined;
  /** As PyTorch's `unsafe`; default false. */
  readonly unsafe?: boolean | undefined;
  /** As PyTorch's `initial`; optional. */
  readonly initial?: Scalar | Dim | null | undefined;
}

/** Arguments of embedding by name. */
export interface EmbeddingOptions {
  /** As PyTorch's `padding_idx`; optional. */
  readonly paddingIdx?: number | null | undefined;
  /** As PyTorch's `max_norm`; optional. */
  readonly maxNorm?: number | null | undefined;
  /** As PyTorch's `norm_type`; default 2. */
  readonly normType?: number | undefined;
  /** As PyTorch's `scale_grad_by_freq`; default false. */
  readonly scaleGradByFreq?: boolean | undefined;
  /** As PyTorch's `sparse`; default false. */
  readonly sparse?: boolean | undefined;
}

/** Arguments of embeddingRows by name. */
export interface EmbeddingRowsOptions {
  /** As PyTorch's `padding_idx`; optional. */
  readonly paddingIdx?: number | null | undefined;
  /** As PyTorch's `scale_grad_by_freq`; default false. */
  readonly scaleGradByFreq?: boolean | undefined;
}

/** Arguments of embeddingBackward by name. */
export interface EmbeddingBackwardOptions {
  /** As PyTorch's `padding_idx`; optional. */
  readonly paddingIdx?: number | null | undefined;
}

/** Arguments of oneHot by name. */
export interface OneHotOptions {
  /** As PyTorch's `num_classes`; default -1. */
  readonly numClasses?: number | undefined;
}

/** Arguments of embeddingBag by name. */
export interface EmbeddingBagOptions<T> {
  /** As PyTorch's `offsets`; optional. */
  readonly offsets?: T | null | undefined;
  /** As PyTorch's `max_norm`; optional. */
  readonly maxNorm?: number | null | undefined;
  /** As PyTorch's `norm_type`; default 2. */
  readonly normType?: number | undefined;
  /** As PyTorch's `scale_grad_by_freq`; default false. */
  readonly scaleGradByFreq?: boolean | undefined;
  /** As PyTorch's `mode`; default "mean". */
  readonly mode?: "sum" | "mean" | "max" | undefined;
  /** As PyTorch's `sparse`; default false. */
  readonly sparse?: boolean | undefined;
  /** As PyTorch's `per_sample_weights`; optional. */
  readonly perSampleWeights?: T | null | undefined;
  /** As PyTorch's `include_last_offset`; default false. */
  readonly includeLastOffset?: boolean | undefined;
  /** As PyTorch's `padding_idx`; optional. */
  readonly paddingIdx?: number | null | undefined;
}

/** Arguments of scaledDotProductAttention by name. */
export interface ScaledDotProductAttentionOptions<T> {
  /** As PyTorch's `attn_mask`; optional. */
  readonly attnMask?: T | null | undefined;
  /** As PyTorch's `dropout_p`; default 0. */
  readonly dropoutP?: number | undefined;
  /** As PyTorch's `is_causal`; default false. */
  readonly isCausal?: boolean | undefined;
  /** As PyTorch's `scale`; optional. */
  readonly scale?: number | null | undefined;
  /** As PyTorch's `enable_gqa`; default false. */
  readonly enableGqa?: boolean | undefined;
}

/** Arguments of bilinear by name. */
export interface BilinearOptions<T> {
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
}

/** Arguments of meshgrid by name. */
export interface MeshgridOptions {
  /** As PyTorch's `indexing`; default "ij". */
  readonly indexing?: "ij" | "xy" | undefined;
}

/** Arguments of diagflat by name. */
export interface DiagflatOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: number | undefined;
}

/** Arguments of triuIndices by name. */
export interface TriuIndicesOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: number | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of trilIndices by name, those of triuIndices. */
export interface TrilIndicesOptions extends TriuIndicesOptions {}

/** Arguments of tensordot by name. */
export interface TensordotOptions {
  /** As PyTorch's `dims`; default 2. */
  readonly dims?: number | readonly (readonly number[])[] | undefined;
}

/** Arguments of diff by name. */
export interface DiffOptions<T> {
  /** As PyTorch's `n`; default 1. */
  readonly n?: number | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `prepend`; optional. */
  readonly prepend?: T | null | undefined;
  /** As PyTorch's `append`; optional. */
  readonly append?: T | null | undefined;
}

/** Arguments of trapezoid by name. */
export interface TrapezoidOptions<T> {
  /** As PyTorch's `x`; optional. */
  readonly x?: Operand<T> | null | undefined;
  /** As PyTorch's `dx`; optional. */
  readonly dx?: Operand<T> | null | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
}

/** Arguments of cumulativeTrapezoid by name, those of trapezoid. */
export interface CumulativeTrapezoidOptions<T> extends TrapezoidOptions<T> {}

/** Arguments of interpolate by name. */
export interface InterpolateOptions {
  /** As PyTorch's `size`; optional. */
  readonly size?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `scale_factor`; optional. */
  readonly scaleFactor?: number | readonly number[] | null | undefined;
  /** As PyTorch's `mode`; default "nearest". */
  readonly mode?:
    | "nearest"
    | "nearest-exact"
    | "linear"
    | "bilinear"
    | "bicubic"
    | "trilinear"
    | "area"
    | undefined;
  /** As PyTorch's `align_corners`; optional. */
  readonly alignCorners?: boolean | null | undefined;
  /** As PyTorch's `recompute_scale_factor`; optional. */
  readonly recomputeScaleFactor?: boolean | null | undefined;
  /** As PyTorch's `antialias`; default false. */
  readonly antialias?: boolean | undefined;
}

/** Arguments of upsampleNearest by name. */
export interface UpsampleNearestOptions {
  /** As PyTorch's `size`; optional. */
  readonly size?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `scale_factor`; optional. */
  readonly scaleFactor?: number | readonly number[] | null | undefined;
}

/** Arguments of upsampleBilinear by name, those of upsampleNearest. */
export interface UpsampleBilinearOptions extends UpsampleNearestOptions {}

/** Arguments of im2col by name. */
export interface Im2colOptions {
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: IntOrInts | undefined;
}

/** Arguments of localResponseNorm by name. */
export interface LocalResponseNormOptions {
  /** As PyTorch's `alpha`; default 0.0001. */
  readonly alpha?: number | undefined;
  /** As PyTorch's `beta`; default 0.75. */
  readonly beta?: number | undefined;
  /** As PyTorch's `k`; default 1. */
  readonly k?: number | undefined;
}

/** Arguments of col2im by name, those of im2col. */
export interface Col2imOptions extends Im2colOptions {}

/** Arguments of gridSample by name. */
export interface GridSampleOptions {
  /** As PyTorch's `mode`; default "bilinear". */
  readonly mode?: "bilinear" | "nearest" | "bicubic" | undefined;
  /** As PyTorch's `padding_mode`; default "zeros". */
  readonly paddingMode?: "zeros" | "border" | "reflection" | undefined;
  /** As PyTorch's `align_corners`; default false. */
  readonly alignCorners?: boolean | undefined;
}

/** Arguments of affineGrid by name. */
export interface AffineGridOptions {
  /** As PyTorch's `align_corners`; default false. */
  readonly alignCorners?: boolean | undefined;
}

/** Arguments of marginRankingLoss by name. */
export interface MarginRankingLossOptions {
  /** As PyTorch's `margin`; default 0. */
  readonly margin?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of hingeEmbeddingLoss by name. */
export interface HingeEmbeddingLossOptions {
  /** As PyTorch's `margin`; default 1. */
  readonly margin?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of cosineEmbeddingLoss by name, those of marginRankingLoss. */
export interface CosineEmbeddingLossOptions extends MarginRankingLossOptions {}

/** Arguments of gaussianNllLoss by name. */
export interface GaussianNllLossOptions {
  /** As PyTorch's `full`; default false. */
  readonly full?: boolean | undefined;
  /** As PyTorch's `eps`; default 0.000001. */
  readonly eps?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of poissonNllLoss by name. */
export interface PoissonNllLossOptions {
  /** As PyTorch's `log_input`; default true. */
  readonly logInput?: boolean | undefined;
  /** As PyTorch's `full`; default false. */
  readonly full?: boolean | undefined;
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `eps`; default 1e-8. */
  readonly eps?: number | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of tripletMarginLoss by name. */
export interface TripletMarginLossOptions {
  /** As PyTorch's `margin`; default 1. */
  readonly margin?: number | undefined;
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
  /** As PyTorch's `eps`; default 0.000001. */
  readonly eps?: number | undefined;
  /** As PyTorch's `swap`; default false. */
  readonly swap?: boolean | undefined;
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of multiMarginLoss by name. */
export interface MultiMarginLossOptions<T> {
  /** As PyTorch's `p`; default 1. */
  readonly p?: number | undefined;
  /** As PyTorch's `margin`; default 1. */
  readonly margin?: number | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of multilabelSoftMarginLoss by name. */
export interface MultilabelSoftMarginLossOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of cdist by name. */
export interface CdistOptions {
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
  /** As PyTorch's `compute_mode`; optional. */
  readonly computeMode?: string | null | undefined;
}

/** Arguments of pdist by name, those of dist. */
export interface PdistOptions extends DistOptions {}

/** Arguments of multilabelMarginLoss by name. */
export interface MultilabelMarginLossOptions {
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of linearCrossEntropy by name. */
export interface LinearCrossEntropyOptions<T> {
  /** As PyTorch's `linear_bias`; optional. */
  readonly linearBias?: T | null | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `ignore_index`; optional. */
  readonly ignoreIndex?: number | null | undefined;
  /** As PyTorch's `label_smoothing`; default 0. */
  readonly labelSmoothing?: number | undefined;
}

/** Arguments of ctcLoss by name. */
export interface CtcLossOptions {
  /** As PyTorch's `blank`; default 0. */
  readonly blank?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `zero_infinity`; default false. */
  readonly zeroInfinity?: boolean | undefined;
}

/** Arguments of matrixNorm by name. */
export interface MatrixNormOptions {
  /** As PyTorch's `ord`; default "fro". */
  readonly ord?: Scalar | string | undefined;
  /** As PyTorch's `dim`; default [-2,-1]. */
  readonly dim?: IntOrInts | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of linalgNorm by name. */
export interface LinalgNormOptions {
  /** As PyTorch's `ord`; optional. */
  readonly ord?: Scalar | string | null | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of linalgDiagonal by name, those of diagEmbed. */
export interface LinalgDiagonalOptions extends DiagEmbedOptions {}

/** Arguments of cross by name, those of takeAlongDim. */
export interface CrossOptions extends TakeAlongDimOptions {}

/** Arguments of linalgCross by name, those of takeAlongDim. */
export interface LinalgCrossOptions extends TakeAlongDimOptions {}

/** Arguments of vecdot by name, those of glu. */
export interface VecdotOptions extends GluOptions {}

/** Arguments of vander by name. */
export interface VanderOptions {
  /** As PyTorch's `_n`; optional. */
  readonly N?: number | null | undefined;
}

/** Arguments of solve by name. */
export interface SolveOptions {
  /** As PyTorch's `left`; default true. */
  readonly left?: boolean | undefined;
}

/** Arguments of solveEx by name. */
export interface SolveExOptions {
  /** As PyTorch's `left`; default true. */
  readonly left?: boolean | undefined;
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of invEx by name. */
export interface InvExOptions {
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of tensorinv by name. */
export interface TensorinvOptions {
  /** As PyTorch's `ind`; default 2. */
  readonly ind?: number | undefined;
}

/** Arguments of cov by name. */
export interface CovOptions<T> {
  /** As PyTorch's `correction`; default 1. */
  readonly correction?: number | undefined;
  /** As PyTorch's `fweights`; optional. */
  readonly fweights?: T | null | undefined;
  /** As PyTorch's `aweights`; optional. */
  readonly aweights?: T | null | undefined;
}

/** Arguments of aminmax by name, those of argmax. */
export interface AminmaxOptions extends ArgmaxOptions {}

/** Arguments of mode by name, those of kthvalue. */
export interface ModeOptions extends KthvalueOptions {}

/** Arguments of histc by name. */
export interface HistcOptions {
  /** As PyTorch's `bins`; default 100. */
  readonly bins?: number | undefined;
  /** As PyTorch's `min`; default 0. */
  readonly min?: number | undefined;
  /** As PyTorch's `max`; default 0. */
  readonly max?: number | undefined;
}

/** Arguments of combinations by name. */
export interface CombinationsOptions {
  /** As PyTorch's `r`; default 2. */
  readonly r?: number | undefined;
  /** As PyTorch's `with_replacement`; default false. */
  readonly withReplacement?: boolean | undefined;
}

/** Arguments of choiceIndices by name. */
export interface ChoiceIndicesOptions {
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of binEdges by name. */
export interface BinEdgesOptions {
  /** As PyTorch's `range`; optional. */
  readonly range?: number | readonly number[] | null | undefined;
}

/** Arguments of binnedSums by name. */
export interface BinnedSumsOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
}

/** Arguments of histogram by name. */
export interface HistogramOptions<T> {
  /** As PyTorch's `range`; optional. */
  readonly range?: number | readonly number[] | null | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `density`; default false. */
  readonly density?: boolean | undefined;
}

/** Arguments of solveTriangular by name. */
export interface SolveTriangularOptions {
  /** As PyTorch's `left`; default true. */
  readonly left?: boolean | undefined;
  /** As PyTorch's `unitriangular`; default false. */
  readonly unitriangular?: boolean | undefined;
}

/** Arguments of triangularSolve by name. */
export interface TriangularSolveOptions {
  /** As PyTorch's `upper`; default true. */
  readonly upper?: boolean | undefined;
  /** As PyTorch's `transpose`; default false. */
  readonly transpose?: boolean | undefined;
  /** As PyTorch's `unitriangular`; default false. */
  readonly unitriangular?: boolean | undefined;
}

/** Arguments of choleskyEx by name. */
export interface CholeskyExOptions {
  /** As PyTorch's `upper`; default false. */
  readonly upper?: boolean | undefined;
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of cholesky by name. */
export interface CholeskyOptions {
  /** As PyTorch's `upper`; default false. */
  readonly upper?: boolean | undefined;
}

/** Arguments of choleskyInverse by name, those of cholesky. */
export interface CholeskyInverseOptions extends CholeskyOptions {}

/** Arguments of choleskySolve by name, those of cholesky. */
export interface CholeskySolveOptions extends CholeskyOptions {}

/** Arguments of qr by name. */
export interface QrOptions {
  /** As PyTorch's `mode`; default "reduced". */
  readonly mode?: "reduced" | "complete" | "r" | undefined;
}

/** Arguments of eigh by name. */
export interface EighOptions {
  /** As PyTorch's `_u_p_l_o`; default "L". */
  readonly UPLO?: "L" | "U" | undefined;
}

/** Arguments of eigvalsh by name, those of eigh. */
export interface EigvalshOptions extends EighOptions {}

/** Arguments of eigenPairs by name. */
export interface EigenPairsOptions {
  /** As PyTorch's `paired`; default false. */
  readonly paired?: boolean | undefined;
}

/** Arguments of extremePairs by name. */
export interface ExtremePairsOptions<T> {
  /** As PyTorch's `_b`; optional. */
  readonly B?: T | null | undefined;
  /** As PyTorch's `i_k`; optional. */
  readonly iK?: T | null | undefined;
}

/** Arguments of lobpcg by name. */
export interface LobpcgOptions<T> {
  /** As PyTorch's `k`; optional. */
  readonly k?: number | null | undefined;
  /** As PyTorch's `_b`; optional. */
  readonly B?: T | null | undefined;
  /** As PyTorch's `_x`; optional. */
  readonly X?: T | null | undefined;
  /** As PyTorch's `n`; optional. */
  readonly n?: number | null | undefined;
  /** As PyTorch's `i_k`; optional. */
  readonly iK?: T | null | undefined;
  /** As PyTorch's `niter`; optional. */
  readonly niter?: number | null | undefined;
  /** As PyTorch's `tol`; optional. */
  readonly tol?: number | null | undefined;
  /** As PyTorch's `largest`; default true. */
  readonly largest?: boolean | undefined;
}

/** Arguments of svdLowrank by name. */
export interface SvdLowrankOptions<T> {
  /** As PyTorch's `q`; default 6. */
  readonly q?: number | undefined;
  /** As PyTorch's `niter`; default 2. */
  readonly niter?: number | undefined;
  /** As PyTorch's `_m`; optional. */
  readonly M?: T | null | undefined;
}

/** Arguments of pcaLowrank by name. */
export interface PcaLowrankOptions {
  /** As PyTorch's `q`; optional. */
  readonly q?: number | null | undefined;
  /** As PyTorch's `center`; default true. */
  readonly center?: boolean | undefined;
  /** As PyTorch's `niter`; default 2. */
  readonly niter?: number | undefined;
}

/** Arguments of luFactorEx by name. */
export interface LuFactorExOptions {
  /** As PyTorch's `pivot`; default true. */
  readonly pivot?: boolean | undefined;
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of luFactorPairs by name, those of luFactorEx. */
export interface LuFactorPairsOptions extends LuFactorExOptions {}

/** Arguments of permutationOf by name. */
export interface PermutationOfOptions {
  /** As PyTorch's `dtype`; default "float32". */
  readonly dtype?: DType | undefined;
}

/** Arguments of luFactor by name. */
export interface LuFactorOptions {
  /** As PyTorch's `pivot`; default true. */
  readonly pivot?: boolean | undefined;
}

/** Arguments of luUnpack by name. */
export interface LuUnpackOptions {
  /** As PyTorch's `unpack_data`; default true. */
  readonly unpackData?: boolean | undefined;
  /** As PyTorch's `unpack_pivots`; default true. */
  readonly unpackPivots?: boolean | undefined;
}

/** Arguments of linalgLu by name, those of luFactor. */
export interface LinalgLuOptions extends LuFactorOptions {}

/** Arguments of lu by name. */
export interface LuOptions {
  /** As PyTorch's `pivot`; default true. */
  readonly pivot?: boolean | undefined;
  /** As PyTorch's `get_infos`; default false. */
  readonly getInfos?: boolean | undefined;
}

/** Arguments of linalgLuSolve by name. */
export interface LinalgLuSolveOptions {
  /** As PyTorch's `left`; default true. */
  readonly left?: boolean | undefined;
  /** As PyTorch's `adjoint`; default false. */
  readonly adjoint?: boolean | undefined;
}

/** Arguments of linalgSvd by name. */
export interface LinalgSvdOptions {
  /** As PyTorch's `full_matrices`; default true. */
  readonly fullMatrices?: boolean | undefined;
}

/** Arguments of svd by name. */
export interface SvdOptions {
  /** As PyTorch's `some`; default true. */
  readonly some?: boolean | undefined;
  /** As PyTorch's `compute_uv`; default true. */
  readonly computeUv?: boolean | undefined;
}

/** Arguments of pinv by name. */
export interface PinvOptions<T> {
  /** As PyTorch's `rcond`; optional. */
  readonly rcond?: Operand<T> | null | undefined;
  /** As PyTorch's `atol`; optional. */
  readonly atol?: Operand<T> | null | undefined;
  /** As PyTorch's `rtol`; optional. */
  readonly rtol?: Operand<T> | null | undefined;
  /** As PyTorch's `hermitian`; default false. */
  readonly hermitian?: boolean | undefined;
}

/** Arguments of pinverse by name. */
export interface PinverseOptions {
  /** As PyTorch's `rcond`; default 1e-15. */
  readonly rcond?: number | undefined;
}

/** Arguments of matrixRank by name. */
export interface MatrixRankOptions<T> {
  /** As PyTorch's `tol`; optional. */
  readonly tol?: Operand<T> | null | undefined;
  /** As PyTorch's `atol`; optional. */
  readonly atol?: Operand<T> | null | undefined;
  /** As PyTorch's `rtol`; optional. */
  readonly rtol?: Operand<T> | null | undefined;
  /** As PyTorch's `hermitian`; default false. */
  readonly hermitian?: boolean | undefined;
}

/** Arguments of cond by name. */
export interface CondOptions {
  /** As PyTorch's `p`; optional. */
  readonly p?: Scalar | string | null | undefined;
}

/** Arguments of lstsq by name. */
export interface LstsqOptions {
  /** As PyTorch's `rcond`; optional. */
  readonly rcond?: number | null | undefined;
  /** As PyTorch's `driver`; optional. */
  readonly driver?: "gels" | "gelsy" | "gelsd" | "gelss" | null | undefined;
}

/** Arguments of tensorsolve by name. */
export interface TensorsolveOptions {
  /** As PyTorch's `dims`; optional. */
  readonly dims?: readonly number[] | null | undefined;
}

/** Arguments of ormqr by name. */
export interface OrmqrOptions {
  /** As PyTorch's `left`; default true. */
  readonly left?: boolean | undefined;
  /** As PyTorch's `transpose`; default false. */
  readonly transpose?: boolean | undefined;
}

/** Arguments of ldlFactorEx by name. */
export interface LdlFactorExOptions {
  /** As PyTorch's `hermitian`; default false. */
  readonly hermitian?: boolean | undefined;
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of ldlFactor by name. */
export interface LdlFactorOptions {
  /** As PyTorch's `hermitian`; default false. */
  readonly hermitian?: boolean | undefined;
}

/** Arguments of ldlSolve by name, those of ldlFactor. */
export interface LdlSolveOptions extends LdlFactorOptions {}

/** Arguments of nativeLayerNorm by name. */
export interface NativeLayerNormOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
}

/** Arguments of nativeGroupNorm by name, those of nativeLayerNorm. */
export interface NativeGroupNormOptions<T> extends NativeLayerNormOptions<T> {}

/** Arguments of nativeBatchNorm by name. */
export interface NativeBatchNormOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `running_mean`; optional. */
  readonly runningMean?: T | null | undefined;
  /** As PyTorch's `running_var`; optional. */
  readonly runningVar?: T | null | undefined;
}

/** Arguments of addmm by name. */
export interface AddmmOptions {
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: Scalar | Dim | undefined;
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of addmv by name, those of addmm. */
export interface AddmvOptions extends AddmmOptions {}

/** Arguments of baddbmm by name, those of addmm. */
export interface BaddbmmOptions extends AddmmOptions {}

/** Arguments of addbmm by name, those of addmm. */
export interface AddbmmOptions extends AddmmOptions {}

/** Arguments of addr by name, those of addmm. */
export interface AddrOptions extends AddmmOptions {}

/** Arguments of linear by name, those of bilinear. */
export interface LinearOptions<T> extends BilinearOptions<T> {}

/** Arguments of convolution by name, those of bilinear. */
export interface ConvolutionOptions<T> extends BilinearOptions<T> {}

/** Arguments of conv1d by name. */
export interface Conv1dOptions<T> {
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: IntOrInts | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | string | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `groups`; default 1. */
  readonly groups?: number | undefined;
}

/** Arguments of conv2d by name, those of conv1d. */
export interface Conv2dOptions<T> extends Conv1dOptions<T> {}

/** Arguments of conv3d by name, those of conv1d. */
export interface Conv3dOptions<T> extends Conv1dOptions<T> {}

/** Arguments of convTranspose1d by name. */
export interface ConvTranspose1dOptions<T> {
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: IntOrInts | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `output_padding`; default 0. */
  readonly outputPadding?: IntOrInts | undefined;
  /** As PyTorch's `groups`; default 1. */
  readonly groups?: number | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
}

/** Arguments of convTranspose2d by name, those of convTranspose1d. */
export interface ConvTranspose2dOptions<T> extends ConvTranspose1dOptions<T> {}

/** Arguments of convTranspose3d by name, those of convTranspose1d. */
export interface ConvTranspose3dOptions<T> extends ConvTranspose1dOptions<T> {}

/** Arguments of adaptiveMaxPool1d by name. */
export interface AdaptiveMaxPool1dOptions {
  /** As PyTorch's `return_indices`; default false. */
  readonly returnIndices?: boolean | undefined;
}

/** Arguments of adaptiveMaxPool2d by name, those of adaptiveMaxPool1d. */
export interface AdaptiveMaxPool2dOptions extends AdaptiveMaxPool1dOptions {}

/** Arguments of adaptiveMaxPool3d by name, those of adaptiveMaxPool1d. */
export interface AdaptiveMaxPool3dOptions extends AdaptiveMaxPool1dOptions {}

/** Arguments of maxUnpool1d by name. */
export interface MaxUnpool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: IntOrInts | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: IntOrInts | undefined;
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: readonly number[] | null | undefined;
}

/** Arguments of maxUnpool2d by name, those of maxUnpool1d. */
export interface MaxUnpool2dOptions extends MaxUnpool1dOptions {}

/** Arguments of maxUnpool3d by name, those of maxUnpool1d. */
export interface MaxUnpool3dOptions extends MaxUnpool1dOptions {}

/** Arguments of softmax by name, those of cumsum. */
export interface SoftmaxOptions extends CumsumOptions {}

/** Arguments of safeSoftmax by name, those of cumsum. */
export interface SafeSoftmaxOptions extends CumsumOptions {}

/** Arguments of logSoftmax by name, those of cumsum. */
export interface LogSoftmaxOptions extends CumsumOptions {}

/** Arguments of softmin by name, those of cumsum. */
export interface SoftminOptions extends CumsumOptions {}

/** Arguments of layerNorm by name. */
export interface LayerNormOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `eps`; default 0.00001. */
  readonly eps?: number | undefined;
}

/** Arguments of rmsNorm by name. */
export interface RmsNormOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `eps`; optional. */
  readonly eps?: number | null | undefined;
}

/** Arguments of groupNorm by name, those of layerNorm. */
export interface GroupNormOptions<T> extends LayerNormOptions<T> {}

/** Arguments of instanceNorm by name. */
export interface InstanceNormOptions<T> {
  /** As PyTorch's `running_mean`; optional. */
  readonly runningMean?: T | null | undefined;
  /** As PyTorch's `running_var`; optional. */
  readonly runningVar?: T | null | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `use_input_stats`; default true. */
  readonly useInputStats?: boolean | undefined;
  /** As PyTorch's `momentum`; default 0.1. */
  readonly momentum?: number | undefined;
  /** As PyTorch's `eps`; default 0.00001. */
  readonly eps?: number | undefined;
}

/** Arguments of batchNormTraining by name, those of layerNorm. */
export interface BatchNormTrainingOptions<T> extends LayerNormOptions<T> {}

/** Arguments of batchNormInference by name, those of layerNorm. */
export interface BatchNormInferenceOptions<T> extends LayerNormOptions<T> {}

/** Arguments of mseLoss by name. */
export interface MseLossOptions<T> {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
}

/** Arguments of l1Loss by name, those of mseLoss. */
export interface L1LossOptions<T> extends MseLossOptions<T> {}

/** Arguments of smoothL1Loss by name. */
export interface SmoothL1LossOptions {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: number | undefined;
}

/** Arguments of huberLoss by name. */
export interface HuberLossOptions<T> {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `delta`; default 1. */
  readonly delta?: number | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
}

/** Arguments of softMarginLoss by name. */
export interface SoftMarginLossOptions {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of nllLoss by name. */
export interface NllLossOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `ignore_index`; default -100. */
  readonly ignoreIndex?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of crossEntropy by name. */
export interface CrossEntropyOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `ignore_index`; default -100. */
  readonly ignoreIndex?: number | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `label_smoothing`; default 0. */
  readonly labelSmoothing?: number | undefined;
}

/** Arguments of binaryCrossEntropy by name. */
export interface BinaryCrossEntropyOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of binaryCrossEntropyWithLogits by name. */
export interface BinaryCrossEntropyWithLogitsOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `pos_weight`; optional. */
  readonly posWeight?: T | null | undefined;
}

/** Arguments of klDiv by name. */
export interface KlDivOptions {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | "batchmean" | undefined;
  /** As PyTorch's `log_target`; default false. */
  readonly logTarget?: boolean | undefined;
}

/** Arguments of fourierPairs by name. */
export interface FourierPairsOptions {
  /** As PyTorch's `inverse`; default false. */
  readonly inverse?: boolean | undefined;
}

/** Arguments of fftFft by name. */
export interface FftFftOptions {
  /** As PyTorch's `n`; optional. */
  readonly n?: number | null | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftIfft by name, those of fftFft. */
export interface FftIfftOptions extends FftFftOptions {}

/** Arguments of fftRfft by name, those of fftFft. */
export interface FftRfftOptions extends FftFftOptions {}

/** Arguments of fftIrfft by name, those of fftFft. */
export interface FftIrfftOptions extends FftFftOptions {}

/** Arguments of fftHfft by name, those of fftFft. */
export interface FftHfftOptions extends FftFftOptions {}

/** Arguments of fftIhfft by name, those of fftFft. */
export interface FftIhfftOptions extends FftFftOptions {}

/** Arguments of fftFft2 by name. */
export interface FftFft2Options {
  /** As PyTorch's `s`; optional. */
  readonly s?: readonly number[] | null | undefined;
  /** As PyTorch's `dim`; default [-2,-1]. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftIfft2 by name, those of fftFft2. */
export interface FftIfft2Options extends FftFft2Options {}

/** Arguments of fftRfft2 by name, those of fftFft2. */
export interface FftRfft2Options extends FftFft2Options {}

/** Arguments of fftIrfft2 by name, those of fftFft2. */
export interface FftIrfft2Options extends FftFft2Options {}

/** Arguments of fftFftn by name. */
export interface FftFftnOptions {
  /** As PyTorch's `s`; optional. */
  readonly s?: readonly number[] | null | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftIfftn by name, those of fftFftn. */
export interface FftIfftnOptions extends FftFftnOptions {}

/** Arguments of fftRfftn by name, those of fftFftn. */
export interface FftRfftnOptions extends FftFftnOptions {}

/** Arguments of fftIrfftn by name, those of fftFftn. */
export interface FftIrfftnOptions extends FftFftnOptions {}

/** Arguments of fftHfft2 by name, those of fftFft2. */
export interface FftHfft2Options extends FftFft2Options {}

/** Arguments of fftIhfft2 by name, those of fftFft2. */
export interface FftIhfft2Options extends FftFft2Options {}

/** Arguments of fftHfftn by name, those of fftFftn. */
export interface FftHfftnOptions extends FftFftnOptions {}

/** Arguments of fftIhfftn by name, those of fftFftn. */
export interface FftIhfftnOptions extends FftFftnOptions {}

/** Arguments of fftFftfreq by name. */
export interface FftFftfreqOptions {
  /** As PyTorch's `d`; default 1. */
  readonly d?: number | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of fftRfftfreq by name, those of fftFftfreq. */
export interface FftRfftfreqOptions extends FftFftfreqOptions {}

/** Arguments of fftFftshift by name, those of countNonzero. */
export interface FftFftshiftOptions extends CountNonzeroOptions {}

/** Arguments of fftIfftshift by name, those of countNonzero. */
export interface FftIfftshiftOptions extends CountNonzeroOptions {}

/** Arguments of stft by name. */
export interface StftOptions<T> {
  /** As PyTorch's `hop_length`; optional. */
  readonly hopLength?: number | null | undefined;
  /** As PyTorch's `win_length`; optional. */
  readonly winLength?: number | null | undefined;
  /** As PyTorch's `window`; optional. */
  readonly window?: T | null | undefined;
  /** As PyTorch's `center`; default true. */
  readonly center?: boolean | undefined;
  /** As PyTorch's `pad_mode`; default "reflect". */
  readonly padMode?: "constant" | "reflect" | "replicate" | "circular" | undefined;
  /** As PyTorch's `normalized`; default false. */
  readonly normalized?: boolean | undefined;
  /** As PyTorch's `onesided`; optional. */
  readonly onesided?: boolean | null | undefined;
  /** As PyTorch's `return_complex`; default true. */
  readonly returnComplex?: boolean | undefined;
}

/** Arguments of istft by name. */
export interface IstftOptions<T> {
  /** As PyTorch's `hop_length`; optional. */
  readonly hopLength?: number | null | undefined;
  /** As PyTorch's `win_length`; optional. */
  readonly winLength?: number | null | undefined;
  /** As PyTorch's `window`; optional. */
  readonly window?: T | null | undefined;
  /** As PyTorch's `center`; default true. */
  readonly center?: boolean | undefined;
  /** As PyTorch's `normalized`; default false. */
  readonly normalized?: boolean | undefined;
  /** As PyTorch's `onesided`; optional. */
  readonly onesided?: boolean | null | undefined;
  /** As PyTorch's `length`; optional. */
  readonly length?: number | null | undefined;
  /** As PyTorch's `return_complex`; default false. */
  readonly returnComplex?: boolean | undefined;
}

/** Arguments of hannWindow by name. */
export interface HannWindowOptions {
  /** As PyTorch's `periodic`; default true. */
  readonly periodic?: boolean | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of hammingWindow by name. */
export interface HammingWindowOptions {
  /** As PyTorch's `periodic`; default true. */
  readonly periodic?: boolean | undefined;
  /** As PyTorch's `alpha`; default 0.54. */
  readonly alpha?: number | undefined;
  /** As PyTorch's `beta`; default 0.46. */
  readonly beta?: number | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of blackmanWindow by name, those of hannWindow. */
export interface BlackmanWindowOptions extends HannWindowOptions {}

/** Arguments of bartlettWindow by name, those of hannWindow. */
export interface BartlettWindowOptions extends HannWindowOptions {}

/** Arguments of kaiserWindow by name. */
export interface KaiserWindowOptions {
  /** As PyTorch's `periodic`; default true. */
  readonly periodic?: boolean | undefined;
  /** As PyTorch's `beta`; default 12. */
  readonly beta?: number | undefined;
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}
