/**
 * The ops as one typed interface. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { RandomSource } from "./random_source.ts";
import type { Scalar } from "./params.ts";
import type { TensorLike } from "./tensor_like.ts";

/** Public names of all ops. */
export type OpName = keyof OpApi<TensorLike>;

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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dims?: number | readonly number[] | null | undefined;
}

/** Arguments of repeatInterleave by name. */
export interface RepeatInterleaveOptions {
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
  readonly diagonal?: number | undefined;
}

/** Arguments of triu by name, those of tril. */
export interface TriuOptions extends TrilOptions {}

/** Arguments of diag by name, those of tril. */
export interface DiagOptions extends TrilOptions {}

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
  readonly stride?: number | readonly number[] | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: number | readonly number[] | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
}

/** Arguments of maxPool1d by name. */
export interface MaxPool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: number | readonly number[] | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: number | readonly number[] | undefined;
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
  readonly stride?: number | readonly number[] | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
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
  readonly stride?: number | readonly number[] | null | undefined;
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
  readonly outputSize?: number | readonly number[] | null | undefined;
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
  readonly high?: number | readonly number[] | null | undefined;
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
  readonly high?: number | null | undefined;
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
export interface GumbelSoftmaxOptions {
  /** As PyTorch's `tau`; default 1. */
  readonly tau?: number | undefined;
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
  readonly dim?: number | readonly number[] | boolean | null | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dim?: number | readonly number[] | undefined;
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
  readonly size?: number | readonly number[] | null | undefined;
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
  readonly size?: number | readonly number[] | null | undefined;
  /** As PyTorch's `scale_factor`; optional. */
  readonly scaleFactor?: number | readonly number[] | null | undefined;
}

/** Arguments of upsampleBilinear by name, those of upsampleNearest. */
export interface UpsampleBilinearOptions extends UpsampleNearestOptions {}

/** Arguments of im2col by name. */
export interface Im2colOptions {
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: number | readonly number[] | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: number | readonly number[] | undefined;
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
  readonly dim?: number | readonly number[] | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly stride?: number | readonly number[] | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | string | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: number | readonly number[] | undefined;
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
  readonly stride?: number | readonly number[] | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
  /** As PyTorch's `output_padding`; default 0. */
  readonly outputPadding?: number | readonly number[] | undefined;
  /** As PyTorch's `groups`; default 1. */
  readonly groups?: number | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: number | readonly number[] | undefined;
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
  readonly stride?: number | readonly number[] | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: number | readonly number[] | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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
  readonly dim?: number | readonly number[] | null | undefined;
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

/** Every op as a function of tensors of type T. Trailing arguments may be given by name. */
export interface OpApi<T extends TensorLike> {
  /** self + alpha · other, broadcast and promoted, as `torch.add`. */
  add(self: T, other: Operand<T>, options?: AddOptions): T;
  /** self − alpha · other, broadcast and promoted, as `torch.sub`. */
  sub(self: T, other: Operand<T>, options?: SubOptions): T;
  /** other − alpha · self, as `torch.rsub`. */
  rsub(self: T, other: Operand<T>, options?: RsubOptions): T;
  /** self · other, broadcast and promoted, as `torch.mul`. */
  mul(self: T, other: Operand<T>): T;
  /** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
  div(self: T, other: Operand<T>, options?: DivOptions): T;
  /** floor(self / other) in the promoted type, as `torch.floor_divide`. */
  floorDivide(self: T, other: Operand<T>): T;
  /** self − other · floor(self / other): the remainder with the sign of `other`, as `torch.remainder`. */
  remainder(self: T, other: Operand<T>): T;
  /** The remainder with the sign of `self`, as `torch.fmod`. */
  fmod(self: T, other: Operand<T>): T;
  /** self to the power `exponent`, broadcast and promoted, as `torch.pow`. One of them may be a number. */
  pow(self: Operand<T>, exponent: Operand<T>): T;
  /** As pow, computed in float64, as `torch.float_power`. */
  floatPower(self: Operand<T>, exponent: Operand<T>): T;
  /** True where self equals other, elementwise, as `torch.eq`. */
  eq(self: T, other: Operand<T>): T;
  /** True where self differs from other, elementwise, as `torch.ne`. */
  ne(self: T, other: Operand<T>): T;
  /** True where self is less than other, elementwise, as `torch.lt`. */
  lt(self: T, other: Operand<T>): T;
  /** True where self is at most other, elementwise, as `torch.le`. */
  le(self: T, other: Operand<T>): T;
  /** True where self is greater than other, elementwise, as `torch.gt`. */
  gt(self: T, other: Operand<T>): T;
  /** True where self is at least other, elementwise, as `torch.ge`. */
  ge(self: T, other: Operand<T>): T;
  /** Logical and, where nonzero elements are true, as `torch.logical_and`. */
  logicalAnd(self: T, other: Operand<T>): T;
  /** Logical or, where nonzero elements are true, as `torch.logical_or`. */
  logicalOr(self: T, other: Operand<T>): T;
  /** Logical xor, where nonzero elements are true, as `torch.logical_xor`. */
  logicalXor(self: T, other: Operand<T>): T;
  /** True where an element is 0, as `torch.logical_not`. */
  logicalNot(self: T): T;
  /** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
  bitwiseAnd(self: T, other: Operand<T>): T;
  /** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
  bitwiseOr(self: T, other: Operand<T>): T;
  /** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
  bitwiseXor(self: T, other: Operand<T>): T;
  /** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
  bitwiseNot(self: T): T;
  /** Integers shifted by `other` bits, as `torch.bitwise_left_shift`. */
  bitwiseLeftShift(self: T, other: Operand<T>): T;
  /** Integers shifted by `other` bits, as `torch.bitwise_right_shift`. */
  bitwiseRightShift(self: T, other: Operand<T>): T;
  /** isnan of each element, as `torch.isnan`. */
  isnan(self: T): T;
  /** isinf of each element, as `torch.isinf`. */
  isinf(self: T): T;
  /** isposinf of each element, as `torch.isposinf`. */
  isposinf(self: T): T;
  /** isneginf of each element, as `torch.isneginf`. */
  isneginf(self: T): T;
  /** isfinite of each element, as `torch.isfinite`. */
  isfinite(self: T): T;
  /** isreal of each element, as `torch.isreal`. */
  isreal(self: T): T;
  /** True where the sign bit is set, that of −0 included, as `torch.signbit`. */
  signbit(self: T): T;
  /** input where the condition holds, else other, broadcast and promoted, as `torch.where`. */
  where(condition: T, input: Operand<T>, other: Operand<T>): T;
  /** self with `value` where the mask is true, as `Tensor.masked_fill`. */
  maskedFill(self: T, mask: T, value: Operand<T>): T;
  /** |self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`. */
  isclose(
    self: T,
    other: T,
    rtol?: number | IscloseOptions,
    atol?: number | IscloseOptions,
    equalNan?: boolean | IscloseOptions,
    options?: IscloseOptions,
  ): T;
  /** −self, as `torch.neg`. */
  neg(self: T): T;
  /** |self|, as `torch.abs`. */
  abs(self: T): T;
  /** −1, 0 or 1, 0 for NaN too, as `torch.sign`. */
  sign(self: T): T;
  /** self · self, of bools as integers, as `torch.square`. */
  square(self: T): T;
  /** self, as `torch.positive`. */
  positive(self: T): T;
  /** floor of each element, as `torch.floor`. */
  floor(self: T): T;
  /** ceil of each element, as `torch.ceil`. */
  ceil(self: T): T;
  /** trunc of each element, as `torch.trunc`. */
  trunc(self: T): T;
  /** The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`. */
  round(self: T, options?: RoundOptions): T;
  /** self − trunc(self), as `torch.frac`. */
  frac(self: T): T;
  /** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
  sigmoid(self: T, inplace?: boolean | SigmoidOptions, options?: SigmoidOptions): T;
  /** log(x / (1 − x)) of x = self, clamped to [eps, 1 − eps] where eps is given, as `torch.logit`. */
  logit(self: T, eps?: number | null | LogitOptions, options?: LogitOptions): T;
  /** sqrt of each element, as `torch.sqrt`; integers are converted to floats. */
  sqrt(self: T): T;
  /** rsqrt of each element, as `torch.rsqrt`; integers are converted to floats. */
  rsqrt(self: T): T;
  /** reciprocal of each element, as `torch.reciprocal`; integers are converted to floats. */
  reciprocal(self: T): T;
  /** exp of each element, as `torch.exp`; integers are converted to floats. */
  exp(self: T): T;
  /** exp2 of each element, as `torch.exp2`; integers are converted to floats. */
  exp2(self: T): T;
  /** expm1 of each element, as `torch.expm1`; integers are converted to floats. */
  expm1(self: T): T;
  /** log of each element, as `torch.log`; integers are converted to floats. */
  log(self: T): T;
  /** log2 of each element, as `torch.log2`; integers are converted to floats. */
  log2(self: T): T;
  /** log10 of each element, as `torch.log10`; integers are converted to floats. */
  log10(self: T): T;
  /** log1p of each element, as `torch.log1p`; integers are converted to floats. */
  log1p(self: T): T;
  /** sin of each element, as `torch.sin`; integers are converted to floats. */
  sin(self: T): T;
  /** cos of each element, as `torch.cos`; integers are converted to floats. */
  cos(self: T): T;
  /** tan of each element, as `torch.tan`; integers are converted to floats. */
  tan(self: T): T;
  /** asin of each element, as `torch.asin`; integers are converted to floats. */
  asin(self: T): T;
  /** acos of each element, as `torch.acos`; integers are converted to floats. */
  acos(self: T): T;
  /** atan of each element, as `torch.atan`; integers are converted to floats. */
  atan(self: T): T;
  /** sinh of each element, as `torch.sinh`; integers are converted to floats. */
  sinh(self: T): T;
  /** cosh of each element, as `torch.cosh`; integers are converted to floats. */
  cosh(self: T): T;
  /** tanh of each element, as `torch.tanh`; integers are converted to floats. */
  tanh(self: T, inplace?: boolean | TanhOptions, options?: TanhOptions): T;
  /** asinh of each element, as `torch.asinh`; integers are converted to floats. */
  asinh(self: T): T;
  /** acosh of each element, as `torch.acosh`; integers are converted to floats. */
  acosh(self: T): T;
  /** atanh of each element, as `torch.atanh`; integers are converted to floats. */
  atanh(self: T): T;
  /** erf of each element, as `torch.erf`; integers are converted to floats. */
  erf(self: T): T;
  /** erfc of each element, as `torch.erfc`; integers are converted to floats. */
  erfc(self: T): T;
  /** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
  lgamma(self: T): T;
  /** sinc of each element, as `torch.sinc`; integers are converted to floats. */
  sinc(self: T): T;
  /** deg2rad of each element, as `torch.deg2rad`; integers are converted to floats. */
  deg2rad(self: T): T;
  /** rad2deg of each element, as `torch.rad2deg`; integers are converted to floats. */
  rad2deg(self: T): T;
  /** The maximum of two operands, NaN where either is, as `torch.maximum`. */
  maximum(self: T, other: Operand<T>): T;
  /** The minimum of two operands, NaN where either is, as `torch.minimum`. */
  minimum(self: T, other: Operand<T>): T;
  /** The maximum of two operands, ignoring NaN, as `torch.fmax`. */
  fmax(self: T, other: Operand<T>): T;
  /** The minimum of two operands, ignoring NaN, as `torch.fmin`. */
  fmin(self: T, other: Operand<T>): T;
  /** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
  clamp(
    self: T,
    min?: Operand<T> | null | ClampOptions<T>,
    max?: Operand<T> | null | ClampOptions<T>,
    options?: ClampOptions<T>,
  ): T;
  /** self limited from below, as `torch.clamp_min`. */
  clampMin(self: T, min: Operand<T>): T;
  /** self limited from above, as `torch.clamp_max`. */
  clampMax(self: T, max: Operand<T>): T;
  /**
   * NaN and the infinities replaced by numbers, by default 0 and the extremes of the type. As
   * `torch.nan_to_num`.
   */
  nanToNum(
    self: T,
    nan?: number | null | NanToNumOptions,
    posinf?: number | null | NanToNumOptions,
    neginf?: number | null | NanToNumOptions,
    options?: NanToNumOptions,
  ): T;
  /** 0 below 0, 1 above, `other` at 0, as `torch.heaviside`. */
  heaviside(self: T, other: Operand<T>): T;
  /** max(self, 0), where −0 and NaN stay what they are, as `torch.relu`. */
  relu(self: T, inplace?: boolean | ReluOptions, options?: ReluOptions): T;
  /** The gradient where `self` is above the threshold (or NaN), else 0. */
  thresholdBackward(grad: T, self: T, threshold: number): T;
  /** min(max(self, 0), 6), as `nn.functional.relu6`. */
  relu6(self: T, inplace?: boolean | Relu6Options, options?: Relu6Options): T;
  /** self limited to [minVal, maxVal], as `nn.functional.hardtanh`. */
  hardtanh(
    self: T,
    minVal?: number | HardtanhOptions,
    maxVal?: number | HardtanhOptions,
    inplace?: boolean | HardtanhOptions,
    options?: HardtanhOptions,
  ): T;
  /** self above 0, negativeSlope · self below, as `nn.functional.leaky_relu`. */
  leakyRelu(
    self: T,
    negativeSlope?: number | LeakyReluOptions,
    inplace?: boolean | LeakyReluOptions,
    options?: LeakyReluOptions,
  ): T;
  /** self above the threshold, else `value`, as `nn.functional.threshold`. */
  threshold(
    self: T,
    threshold: number,
    value: number,
    inplace?: boolean | ThresholdOptions,
    options?: ThresholdOptions,
  ): T;
  /** The same call in another form. */
  threshold(self: T, named: { readonly threshold: number; readonly value: number } & ThresholdOptions): T;
  /** self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`. */
  prelu(self: T, weight: T): T;
  /** min(max(self + 3, 0), 6) / 6, as `nn.functional.hardsigmoid`. */
  hardsigmoid(self: T, inplace?: boolean | HardsigmoidOptions, options?: HardsigmoidOptions): T;
  /** self · hardsigmoid(self), as `nn.functional.hardswish`. */
  hardswish(self: T, inplace?: boolean | HardswishOptions, options?: HardswishOptions): T;
  /** 0 within lambd of 0, else self brought nearer by lambd, as `nn.functional.softshrink`. */
  softshrink(self: T, lambd?: number | SoftshrinkOptions, options?: SoftshrinkOptions): T;
  /** 0 within lambd of 0, else self, as `nn.functional.hardshrink`. */
  hardshrink(self: T, lambd?: number | HardshrinkOptions, options?: HardshrinkOptions): T;
  /** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
  sum(
    self: T,
    dim?: number | readonly number[] | null | SumOptions,
    keepdim?: boolean | SumOptions,
    options?: SumOptions,
  ): T;
  /** The mean over dimensions, of floats, as `torch.mean`. */
  mean(
    self: T,
    dim?: number | readonly number[] | null | MeanOptions,
    keepdim?: boolean | MeanOptions,
    options?: MeanOptions,
  ): T;
  /** The product over all elements or one dimension, as `torch.prod`. */
  prod(self: T, dim?: number | null | ProdOptions, keepdim?: boolean | ProdOptions, options?: ProdOptions): T;
  /** The maximum over dimensions; NaN where there is one. As `torch.amax`. */
  amax(
    self: T,
    dim?: number | readonly number[] | null | AmaxOptions,
    keepdim?: boolean | AmaxOptions,
    options?: AmaxOptions,
  ): T;
  /** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
  amin(
    self: T,
    dim?: number | readonly number[] | null | AminOptions,
    keepdim?: boolean | AminOptions,
    options?: AminOptions,
  ): T;
  /** The index of the first maximum over one dimension, or in the flattened tensor. As `torch.argmax`. */
  argmax(
    self: T,
    dim?: number | null | ArgmaxOptions,
    keepdim?: boolean | ArgmaxOptions,
    options?: ArgmaxOptions,
  ): T;
  /** The index of the first minimum over one dimension, or in the flattened tensor. As `torch.argmin`. */
  argmin(
    self: T,
    dim?: number | null | ArgminOptions,
    keepdim?: boolean | ArgminOptions,
    options?: ArgminOptions,
  ): T;
  /** True where any of the elements over dimensions are not 0, as `torch.any`. */
  any(
    self: T,
    dim?: number | readonly number[] | null | AnyOptions,
    keepdim?: boolean | AnyOptions,
    options?: AnyOptions,
  ): T;
  /** True where all of the elements over dimensions are not 0, as `torch.all`. */
  all(
    self: T,
    dim?: number | readonly number[] | null | AllOptions,
    keepdim?: boolean | AllOptions,
    options?: AllOptions,
  ): T;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(self: T, other: T): T;
  /** The same call in another form. */
  max(
    self: T,
    dim: number,
    keepdim?: boolean | MaxOptions<T>,
    options?: MaxOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  max(self: T, options: MaxOptions<T> & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  max(self: T, dim?: null | MaxOptions<T>, keepdim?: boolean): T;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(self: T, other: T): T;
  /** The same call in another form. */
  min(
    self: T,
    dim: number,
    keepdim?: boolean | MinOptions<T>,
    options?: MinOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  min(self: T, options: MinOptions<T> & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  min(self: T, dim?: null | MinOptions<T>, keepdim?: boolean): T;
  /** The number of elements over dimensions that are not 0, as `torch.count_nonzero`. */
  countNonzero(
    self: T,
    dim?: number | readonly number[] | null | CountNonzeroOptions,
    options?: CountNonzeroOptions,
  ): T;
  /** The sum over dimensions, ignoring NaN, as `torch.nansum`. */
  nansum(
    self: T,
    dim?: number | readonly number[] | null | NansumOptions,
    keepdim?: boolean | NansumOptions,
    options?: NansumOptions,
  ): T;
  /** The mean over dimensions, ignoring NaN, as `torch.nanmean`. */
  nanmean(
    self: T,
    dim?: number | readonly number[] | null | NanmeanOptions,
    keepdim?: boolean | NanmeanOptions,
    options?: NanmeanOptions,
  ): T;
  /** A tensor of zeros, as `torch.zeros`. */
  zeros(size: readonly Dim[], options?: ZerosOptions): T;
  /** The same call in another form. */
  zeros(...size: (Dim | ZerosOptions)[]): T;
  /** A tensor of ones, as `torch.ones`. */
  ones(size: readonly Dim[], options?: OnesOptions): T;
  /** The same call in another form. */
  ones(...size: (Dim | OnesOptions)[]): T;
  /** An uninitialised tensor, as `torch.empty`. */
  empty(size: readonly Dim[], options?: EmptyOptions): T;
  /** The same call in another form. */
  empty(...size: (Dim | EmptyOptions)[]): T;
  /** As zeros, of the shape, type and device of `self`. */
  zerosLike(self: T, options?: ZerosLikeOptions): T;
  /** As ones, of the shape, type and device of `self`. */
  onesLike(self: T, options?: OnesLikeOptions): T;
  /** As empty, of the shape, type and device of `self`. */
  emptyLike(self: T, options?: EmptyLikeOptions): T;
  /** As zeros, of the type and device of `self`. */
  newZeros(self: T, size: readonly Dim[], options?: NewZerosOptions): T;
  /** The same call in another form. */
  newZeros(self: T, ...size: (Dim | NewZerosOptions)[]): T;
  /** As ones, of the type and device of `self`. */
  newOnes(self: T, size: readonly Dim[], options?: NewOnesOptions): T;
  /** The same call in another form. */
  newOnes(self: T, ...size: (Dim | NewOnesOptions)[]): T;
  /** As empty, of the type and device of `self`. */
  newEmpty(self: T, size: readonly Dim[], options?: NewEmptyOptions): T;
  /** The same call in another form. */
  newEmpty(self: T, ...size: (Dim | NewEmptyOptions)[]): T;
  /** A tensor of one value, by default of the number's type. As `torch.full`. */
  full(size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: FullOptions): T;
  /** As full, of the shape, type and device of `self`. */
  fullLike(self: T, fillValue: Scalar | Dim | Complex, options?: FullLikeOptions): T;
  /** As full, of the type and device of `self`. */
  newFull(self: T, size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: NewFullOptions): T;
  /** A tensor of the shape and type of `self` with every element `value`, as `torch.fill`. */
  fill(self: T, value: Operand<T>): T;
  /** Zeros of the shape and type of `self`; `zero_` clears a tensor. */
  zero(self: T): T;
  /** arange(end), arange(start, end, step): start, start + step, … before end, as `torch.arange`. */
  arange(
    start: Scalar | Dim,
    end?: Scalar | Dim | null | ArangeOptions,
    step?: Scalar | Dim | ArangeOptions,
    options?: ArangeOptions,
  ): T;
  /** `steps` numbers from start to end, both included, evenly spaced, as `torch.linspace`. */
  linspace(start: Scalar | Dim, end: Scalar | Dim, steps: number, options?: LinspaceOptions): T;
  /** base to the powers of linspace(start, end, steps), as `torch.logspace`. */
  logspace(
    start: Scalar | Dim,
    end: Scalar | Dim,
    steps: number,
    base?: number | LogspaceOptions,
    options?: LogspaceOptions,
  ): T;
  /** Ones on the diagonal of an n × m matrix of zeros, as `torch.eye`. */
  eye(n: Dim, m?: Dim | null | EyeOptions, options?: EyeOptions): T;
  /** A 0-d tensor of a number, as `torch.scalar_tensor`. */
  scalarTensor(s: Scalar | Dim, options?: ScalarTensorOptions): T;
  /** The elements in another type: floats truncate towards integers, and nonzero elements are true. */
  convert(self: T, dtype: DType): T;
  /** Itself where the type is the same, else a copy in that type. The method `to` also takes devices. */
  to(self: T, dtype: DType): T;
  /** The elements as float32, as `Tensor.float`. */
  float(self: T): T;
  /** The elements as float64, as `Tensor.double`. */
  double(self: T): T;
  /** The elements as int64, as `Tensor.long`. */
  long(self: T): T;
  /** The elements as int32, as `Tensor.int`. */
  int(self: T): T;
  /** The elements as float16, as `Tensor.half`. */
  half(self: T): T;
  /** The elements as bfloat16, as `Tensor.bfloat16`. */
  bfloat16(self: T): T;
  /** The elements as int16, as `Tensor.short`. */
  short(self: T): T;
  /** The elements as int8, as `Tensor.char`. */
  char(self: T): T;
  /** The elements as uint8, as `Tensor.byte`. */
  byte(self: T): T;
  /** The elements as bool, as `Tensor.bool`. */
  bool(self: T): T;
  /** A copy of the elements, as `torch.clone`. */
  clone(self: T): T;
  /**
   * The elements of `src`, broadcast and converted to the shape and type of `self`; `copy_` writes them
   * there.
   */
  copy(self: T, src: Operand<T>, nonBlocking?: boolean | CopyOptions, options?: CopyOptions): T;
  /** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
  view(self: T, size: readonly Dim[]): T;
  /** The same call in another form. */
  view(self: T, ...size: Dim[]): T;
  /** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
  reshape(self: T, shape: readonly Dim[]): T;
  /** The same call in another form. */
  reshape(self: T, ...shape: Dim[]): T;
  /** Itself if its elements are in row-major order, else a row-major copy. As `Tensor.contiguous`. */
  contiguous(self: T): T;
  /** The dimensions in another order, as `torch.permute`. */
  permute(self: T, dims: readonly number[]): T;
  /** The same call in another form. */
  permute(self: T, ...dims: number[]): T;
  /** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
  squeeze(self: T, dim?: number | readonly number[] | null | SqueezeOptions, options?: SqueezeOptions): T;
  /** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
  unsqueeze(self: T, dim: number): T;
  /** The same call in another form. */
  unsqueeze(self: T, named: { readonly dim: number }): T;
  /** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
  expand(self: T, size: readonly Dim[], options?: ExpandOptions): T;
  /** The same call in another form. */
  expand(self: T, ...size: (Dim | ExpandOptions)[]): T;
  /** The part at `index` along `dim`, without that dimension, as `torch.select`. */
  select(self: T, dim: number, index: Dim): T;
  /** The same call in another form. */
  select(self: T, named: { readonly dim: number; readonly index: Dim }): T;
  /** The elements start, start + step, … before end along `dim`, as x[start:end:step]. */
  slice(
    self: T,
    dim?: number | SliceOptions,
    start?: Dim | null | SliceOptions,
    end?: Dim | null | SliceOptions,
    step?: number | SliceOptions,
    options?: SliceOptions,
  ): T;
  /** The diagonal of two dimensions as a new last dimension, as `torch.diagonal`. */
  diagonal(
    self: T,
    offset?: number | DiagonalOptions,
    dim1?: number | DiagonalOptions,
    dim2?: number | DiagonalOptions,
    options?: DiagonalOptions,
  ): T;
  /** The same tensor as another object. */
  alias(self: T): T;
  /** The same elements, sharing memory, without a history of gradients, as `Tensor.detach`. */
  detach(self: T): T;
  /**
   * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension.
   * As `Tensor.unfold`.
   */
  unfold(self: T, dimension: number, size: number, step: number): T;
  /** The same call in another form. */
  unfold(self: T, named: { readonly dimension: number; readonly size: number; readonly step: number }): T;
  /** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
  asStrided(
    self: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedOptions,
    options?: AsStridedOptions,
  ): T;
  /** The same call in another form. */
  asStrided(
    self: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedOptions,
  ): T;
  /** As alias, copied. */
  aliasCopy(self: T): T;
  /** As asStrided, copied. */
  asStridedCopy(
    self: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedCopyOptions,
    options?: AsStridedCopyOptions,
  ): T;
  /** The same call in another form. */
  asStridedCopy(
    self: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedCopyOptions,
  ): T;
  /** As diagonal, copied. */
  diagonalCopy(
    self: T,
    offset?: number | DiagonalCopyOptions,
    dim1?: number | DiagonalCopyOptions,
    dim2?: number | DiagonalCopyOptions,
    options?: DiagonalCopyOptions,
  ): T;
  /** As expand, copied. */
  expandCopy(self: T, size: readonly Dim[], options?: ExpandCopyOptions): T;
  /** The same call in another form. */
  expandCopy(self: T, ...size: (Dim | ExpandCopyOptions)[]): T;
  /** As permute, copied. */
  permuteCopy(self: T, dims: readonly number[]): T;
  /** The same call in another form. */
  permuteCopy(self: T, ...dims: number[]): T;
  /** As squeeze, copied. */
  squeezeCopy(
    self: T,
    dim?: number | readonly number[] | null | SqueezeCopyOptions,
    options?: SqueezeCopyOptions,
  ): T;
  /** As unfold, copied. */
  unfoldCopy(self: T, dimension: number, size: number, step: number): T;
  /** The same call in another form. */
  unfoldCopy(self: T, named: { readonly dimension: number; readonly size: number; readonly step: number }): T;
  /** As unsqueeze, copied. */
  unsqueezeCopy(self: T, dim: number): T;
  /** The same call in another form. */
  unsqueezeCopy(self: T, named: { readonly dim: number }): T;
  /** As view, copied. */
  viewCopy(self: T, size: readonly Dim[]): T;
  /** The same call in another form. */
  viewCopy(self: T, ...size: Dim[]): T;
  /** As narrow, copied. */
  narrowCopy(self: T, dim: number, start: Dim, length: Dim): T;
  /** The same call in another form. */
  narrowCopy(self: T, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): T;
  /** As splitWithSizes, copied. */
  splitWithSizesCopy(
    self: T,
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): T[];
  /** The same call in another form. */
  splitWithSizesCopy(
    self: T,
    named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesCopyOptions,
  ): T[];
  /** As t, copied. */
  tCopy(self: T): T;
  /** As transpose, copied. */
  transposeCopy(self: T, dim0: number, dim1: number): T;
  /** The same call in another form. */
  transposeCopy(self: T, named: { readonly dim0: number; readonly dim1: number }): T;
  /** As unbind, copied. */
  unbindCopy(self: T, dim?: number | UnbindCopyOptions, options?: UnbindCopyOptions): T[];
  /** As split, copied. */
  unsafeSplit(
    self: T,
    splitSize: Dim | readonly Dim[],
    dim?: number | UnsafeSplitOptions,
    options?: UnsafeSplitOptions,
  ): T[];
  /** The same call in another form. */
  unsafeSplit(self: T, named: { readonly splitSize: Dim | readonly Dim[] } & UnsafeSplitOptions): T[];
  /** As chunk, copied. */
  unsafeChunk(self: T, chunks: number, dim?: number | UnsafeChunkOptions, options?: UnsafeChunkOptions): T[];
  /** The same call in another form. */
  unsafeChunk(self: T, named: { readonly chunks: number } & UnsafeChunkOptions): T[];
  /** self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`. */
  selectScatter(self: T, src: T, dim: number, index: Dim): T;
  /** The same call in another form. */
  selectScatter(self: T, src: T, named: { readonly dim: number; readonly index: Dim }): T;
  /** self with the elements of slice(dim, start, end, step) replaced by `src`, as `torch.slice_scatter`. */
  sliceScatter(
    self: T,
    src: T,
    dim?: number | SliceScatterOptions,
    start?: Dim | null | SliceScatterOptions,
    end?: Dim | null | SliceScatterOptions,
    step?: number | SliceScatterOptions,
    options?: SliceScatterOptions,
  ): T;
  /** self with the elements of diagonal(offset, dim1, dim2) replaced by `src`, as `torch.diagonal_scatter`. */
  diagonalScatter(
    self: T,
    src: T,
    offset?: number | DiagonalScatterOptions,
    dim1?: number | DiagonalScatterOptions,
    dim2?: number | DiagonalScatterOptions,
    options?: DiagonalScatterOptions,
  ): T;
  /** The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`. */
  diagEmbed(
    self: T,
    offset?: number | DiagEmbedOptions,
    dim1?: number | DiagEmbedOptions,
    dim2?: number | DiagEmbedOptions,
    options?: DiagEmbedOptions,
  ): T;
  /** Adds the windows of an unfolding back into a tensor of the shape it had. */
  unfoldBackward(grad: T, inputSizes: readonly Dim[], dim: number, size: number, step: number): T;
  /** Adds the elements of a strided view back into a row-major tensor of the shape it had. */
  asStridedBackward(
    grad: T,
    inputSizes: readonly Dim[],
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedBackwardOptions,
    options?: AsStridedBackwardOptions,
  ): T;
  /** The elements that asStrided shows of self, taken as row-major wherever its elements lie. */
  readStrided(
    self: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | ReadStridedOptions,
    options?: ReadStridedOptions,
  ): T;
  /** self, taken as row-major, with the elements of asStrided replaced by `src`. */
  writeStrided(
    self: T,
    src: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | WriteStridedOptions,
    options?: WriteStridedOptions,
  ): T;
  /**
   * self, a row-major tensor, with the elements of asStrided replaced by `src`, as
   * `torch.as_strided_scatter`. Its gradient is PyTorch's, which is not the derivative: self gets that of
   * the elements that were replaced.
   */
  asStridedScatter(
    self: T,
    src: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedScatterOptions,
    options?: AsStridedScatterOptions,
  ): T;
  /** The same call in another form. */
  asStridedScatter(
    self: T,
    src: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedScatterOptions,
  ): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  transpose(self: T, dim0: number, dim1: number): T;
  /** The same call in another form. */
  transpose(self: T, named: { readonly dim0: number; readonly dim1: number }): T;
  /** A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`. */
  t(self: T): T;
  /** All dimensions in reverse order, as the property `x.T` (and, for real matrices, `x.H`). */
  T(self: T): T;
  /** The last two dimensions exchanged, as the property `x.mT` (and, for real numbers, `x.mH`). */
  mT(self: T): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  movedim(self: T, source: number | readonly number[], destination: number | readonly number[]): T;
  /** The same call in another form. */
  movedim(
    self: T,
    named: { readonly source: number | readonly number[]; readonly destination: number | readonly number[] },
  ): T;
  /** The dimensions from startDim to endDim as one, as `torch.flatten`. */
  flatten(
    self: T,
    startDim?: number | FlattenOptions,
    endDim?: number | FlattenOptions,
    options?: FlattenOptions,
  ): T;
  /** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
  unflatten(self: T, dim: number, sizes: readonly Dim[]): T;
  /** The same call in another form. */
  unflatten(self: T, named: { readonly dim: number; readonly sizes: readonly Dim[] }): T;
  /** As view, in the shape of `other`. */
  viewAs(self: T, other: T): T;
  /** As reshape, in the shape of `other`. */
  reshapeAs(self: T, other: T): T;
  /** As expand, in the shape of `other`. */
  expandAs(self: T, other: T): T;
  /** As expand, as `torch.broadcast_to`. */
  broadcastTo(self: T, size: readonly Dim[]): T;
  /** The same call in another form. */
  broadcastTo(self: T, named: { readonly size: readonly Dim[] }): T;
  /** `length` elements from `start` along a dimension, as `torch.narrow`. */
  narrow(self: T, dim: number, start: Dim, length: Dim): T;
  /** The same call in another form. */
  narrow(self: T, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): T;
  /** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
  split(self: T, splitSize: Dim | readonly Dim[], dim?: number | SplitOptions, options?: SplitOptions): T[];
  /** The same call in another form. */
  split(self: T, named: { readonly splitSize: Dim | readonly Dim[] } & SplitOptions): T[];
  /** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
  splitWithSizes(
    self: T,
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesOptions,
    options?: SplitWithSizesOptions,
  ): T[];
  /** The same call in another form. */
  splitWithSizes(self: T, named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesOptions): T[];
  /** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
  chunk(self: T, chunks: number, dim?: number | ChunkOptions, options?: ChunkOptions): T[];
  /** The same call in another form. */
  chunk(self: T, named: { readonly chunks: number } & ChunkOptions): T[];
  /** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
  tensorSplit(
    self: T,
    indicesOrSections: number | readonly number[],
    dim?: number | TensorSplitOptions,
    options?: TensorSplitOptions,
  ): T[];
  /** The same call in another form. */
  tensorSplit(
    self: T,
    named: { readonly indicesOrSections: number | readonly number[] } & TensorSplitOptions,
  ): T[];
  /** Parts along a dimension, as `torch.hsplit`. */
  hsplit(self: T, indicesOrSections: number | readonly number[]): T[];
  /** The same call in another form. */
  hsplit(self: T, named: { readonly indicesOrSections: number | readonly number[] }): T[];
  /** Parts along a dimension, as `torch.vsplit`. */
  vsplit(self: T, indicesOrSections: number | readonly number[]): T[];
  /** The same call in another form. */
  vsplit(self: T, named: { readonly indicesOrSections: number | readonly number[] }): T[];
  /** Parts along a dimension, as `torch.dsplit`. */
  dsplit(self: T, indicesOrSections: number | readonly number[]): T[];
  /** The same call in another form. */
  dsplit(self: T, named: { readonly indicesOrSections: number | readonly number[] }): T[];
  /** All parts along a dimension, without it, as `torch.unbind`. */
  unbind(self: T, dim?: number | UnbindOptions, options?: UnbindOptions): T[];
  /**
   * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
   * `torch.gather`.
   */
  gather(self: T, dim: number, index: T, options?: GatherOptions): T;
  /** The same call in another form. */
  gather(self: T, named: { readonly dim: number; readonly index: T } & GatherOptions): T;
  /**
   * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
   * "multiply" combines instead. As `torch.scatter`.
   */
  scatter(
    self: T,
    dim: number,
    index: T,
    src?: Operand<T> | null | ScatterOptions<T>,
    value?: Scalar | Dim | null | ScatterOptions<T>,
    options?: ScatterOptions<T>,
  ): T;
  /** The same call in another form. */
  scatter(self: T, named: { readonly dim: number; readonly index: T } & ScatterOptions<T>): T;
  /** As scatter without `reduce`. */
  scatterSet(self: T, dim: number, index: T, src: Operand<T>): T;
  /** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
  scatterAdd(self: T, dim: number, index: T, src: T): T;
  /** The same call in another form. */
  scatterAdd(self: T, named: { readonly dim: number; readonly index: T; readonly src: T }): T;
  /** Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`. */
  take(self: T, index: T): T;
  /** self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`. */
  put(self: T, index: T, source: T, accumulate?: boolean | PutOptions, options?: PutOptions): T;
  /** As gather with broadcasting; without `dim`, of the flattened tensor. As `torch.take_along_dim`. */
  takeAlongDim(
    self: T,
    indices: T,
    dim?: number | null | TakeAlongDimOptions,
    options?: TakeAlongDimOptions,
  ): T;
  /** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
  indexSelect(self: T, dim: number, index: T): T;
  /** The same call in another form. */
  indexSelect(self: T, named: { readonly dim: number; readonly index: T }): T;
  /** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
  indexAdd(self: T, dim: number, index: T, source: T, options?: IndexAddOptions): T;
  /** The same call in another form. */
  indexAdd(
    self: T,
    named: { readonly dim: number; readonly index: T; readonly source: T } & IndexAddOptions,
  ): T;
  /** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
  indexCopy(self: T, dim: number, index: T, source: T): T;
  /** The same call in another form. */
  indexCopy(self: T, named: { readonly dim: number; readonly index: T; readonly source: T }): T;
  /** self with one value at a vector of indices along a dimension, as `torch.index_fill`. */
  indexFill(self: T, dim: number, index: T, value: Operand<T>): T;
  /** The same call in another form. */
  indexFill(self: T, named: { readonly dim: number; readonly index: T; readonly value: Operand<T> }): T;
  /**
   * The elements at index tensors, one for each leading dimension (null: all of it). Masks make the size
   * depend on elements. As `x[i, j]` with tensors.
   */
  index(self: T, indices: readonly (T | null)[]): T;
  /** As index, of integer tensors. */
  gatherIndices(self: T, indices: readonly (T | null)[]): T;
  /** self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`. */
  indexPut(
    self: T,
    indices: readonly (T | null)[],
    values: T,
    accumulate?: boolean | IndexPutOptions,
    options?: IndexPutOptions,
  ): T;
  /** As indexPut, at integer tensors. */
  putIndices(
    self: T,
    indices: readonly (T | null)[],
    values: T,
    accumulate?: boolean | PutIndicesOptions,
    options?: PutIndicesOptions,
  ): T;
  /** The elements where the mask (broadcast) is true, in order, as `torch.masked_select`. */
  maskedSelect(self: T, mask: T): T;
  /** self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`. */
  maskedScatter(self: T, mask: T, source: T): T;
  /** Reversed along dimensions, as `torch.flip`. */
  flip(self: T, dims: number | readonly number[]): T;
  /** The same call in another form. */
  flip(self: T, ...dims: number[]): T;
  /** Reversed along dimension 1, as `torch.fliplr`. */
  fliplr(self: T): T;
  /** Reversed along dimension 0, as `torch.flipud`. */
  flipud(self: T): T;
  /** Rolled along dimensions, by default along the flattened tensor, as `torch.roll`. */
  roll(
    self: T,
    shifts: number | readonly number[],
    dims?: number | readonly number[] | null | RollOptions,
    options?: RollOptions,
  ): T;
  /** The same call in another form. */
  roll(self: T, named: { readonly shifts: number | readonly number[] } & RollOptions): T;
  /** Shifted around along dimensions. */
  rollDims(self: T, shifts: readonly number[], dims: readonly number[]): T;
  /** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
  repeat(self: T, repeats: readonly Dim[]): T;
  /** The same call in another form. */
  repeat(self: T, ...repeats: Dim[]): T;
  /** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
  tile(self: T, dims: readonly Dim[]): T;
  /** The same call in another form. */
  tile(self: T, ...dims: Dim[]): T;
  /**
   * Each element (along `dim`, or flattened) repeated in place; one number, or one for each (then eager
   * only). As `torch.repeat_interleave`.
   */
  repeatInterleave(
    self: T,
    repeats: Operand<T>,
    dim?: number | null | RepeatInterleaveOptions,
    options?: RepeatInterleaveOptions,
  ): T;
  /** Turned by k quarters in the plane of two dimensions, as `torch.rot90`. */
  rot90(
    self: T,
    k?: number | Rot90Options,
    dims?: readonly number[] | Rot90Options,
    options?: Rot90Options,
  ): T;
  /** The lower triangle of matrices from a diagonal on, as `torch.tril`. */
  tril(self: T, diagonal?: number | TrilOptions, options?: TrilOptions): T;
  /** The upper triangle of matrices from a diagonal on, as `torch.triu`. */
  triu(self: T, diagonal?: number | TriuOptions, options?: TriuOptions): T;
  /** The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`. */
  diag(self: T, diagonal?: number | DiagOptions, options?: DiagOptions): T;
  /** Tensors one after the other along a dimension, as `torch.cat`. */
  cat(tensors: readonly T[], dim?: number | CatOptions, options?: CatOptions): T;
  /** Tensors of one shape along a new dimension, as `torch.stack`. */
  stack(tensors: readonly T[], dim?: number | StackOptions, options?: StackOptions): T;
  /** Running sums along a dimension, as `torch.cumsum`. */
  cumsum(self: T, dim: number, options?: CumsumOptions): T;
  /** The same call in another form. */
  cumsum(self: T, named: { readonly dim: number } & CumsumOptions): T;
  /** Running products along a dimension, as `torch.cumprod`. */
  cumprod(self: T, dim: number, options?: CumprodOptions): T;
  /** The same call in another form. */
  cumprod(self: T, named: { readonly dim: number } & CumprodOptions): T;
  /** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
  logcumsumexp(self: T, dim: number): T;
  /** The same call in another form. */
  logcumsumexp(self: T, named: { readonly dim: number }): T;
  /** The maximum so far along a dimension. */
  runningMax(self: T, dim: number): T;
  /** The minimum so far along a dimension. */
  runningMin(self: T, dim: number): T;
  /** The maximum so far along a dimension, and its last index, as `torch.cummax`. */
  cummax(self: T, dim: number): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  cummax(self: T, named: { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The minimum so far along a dimension, and its last index, as `torch.cummin`. */
  cummin(self: T, dim: number): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  cummin(self: T, named: { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The angle of the point (other, self), as `torch.atan2`. */
  atan2(self: T, other: Operand<T>): T;
  /** √(self² + other²) without overflow, as `torch.hypot`. */
  hypot(self: T, other: Operand<T>): T;
  /** |self| with the sign of `other`, that of −0 included, as `torch.copysign`. */
  copysign(self: T, other: Operand<T>): T;
  /** self · log(other), 0 where self is 0, as `torch.xlogy`. One of them may be a number. */
  xlogy(self: Operand<T>, other: Operand<T>): T;
  /** self · log1p(other), 0 where self is 0, as `torch.special.xlog1py`. One of them may be a number. */
  xlog1py(self: Operand<T>, other: Operand<T>): T;
  /** log(e^self + e^other) without overflow, as `torch.logaddexp`. */
  logaddexp(self: T, other: Operand<T>): T;
  /** log(2^self + 2^other) without overflow, as `torch.logaddexp2`. */
  logaddexp2(self: T, other: Operand<T>): T;
  /** self + weight · (end − self), exact at both ends, as `torch.lerp`. */
  lerp(self: T, end: T, weight: Operand<T>): T;
  /** self + value · tensor1 · tensor2, as `torch.addcmul`. */
  addcmul(self: T, tensor1: T, tensor2: T, options?: AddcmulOptions): T;
  /** self + value · tensor1 / tensor2, as `torch.addcdiv`. */
  addcdiv(self: T, tensor1: T, tensor2: T, options?: AddcdivOptions): T;
  /** self · 2^other, as `torch.ldexp`. */
  ldexp(self: T, other: T): T;
  /**
   * The indices of nonzero elements, one row each; with asTuple one vector for each dimension. As
   * `torch.nonzero`.
   */
  nonzero(self: T, options: NonzeroOptions & { readonly asTuple: true }): Results<T, ["indices"]>;
  /** The same call in another form. */
  nonzero(self: T, options?: NonzeroOptions): T;
  /** The indices of nonzero elements, one row each, as `torch.argwhere`. Its size depends on elements. */
  argwhere(self: T): T;
  /** Index i repeats[i] times, for all i below `size`; one number of repeats stands for all. */
  repeatedIndices(repeats: T, size: Dim): T;
  /** Distinct elements (or slices along `dim`), where each went, and how many there were of each. */
  uniqueGroups(
    self: T,
    dim?: number | null | UniqueGroupsOptions,
    consecutive?: boolean | UniqueGroupsOptions,
    options?: UniqueGroupsOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /** The same call in another form. */
  unique(
    self: T,
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts?: false | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  /** The same call in another form. */
  unique(
    self: T,
    options: UniqueOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "counts"]>;
  /** The same call in another form. */
  unique(self: T, options: UniqueOptions & { readonly returnCounts: true }): Results<T, ["output", "counts"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  /** The same call in another form. */
  unique(
    self: T,
    sorted?: boolean | UniqueOptions,
    returnInverse?: false | UniqueOptions,
    returnCounts?: false | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): T;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    self: T,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    options: UniqueConsecutiveOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    returnInverse: true,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    options: UniqueConsecutiveOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "counts"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    options: UniqueConsecutiveOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  /** The same call in another form. */
  uniqueConsecutive(
    self: T,
    returnInverse?: false | UniqueConsecutiveOptions,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): T;
  /** The number of occurrences of each integer from 0 on, or the sum of its weights, as `torch.bincount`. */
  bincount(
    self: T,
    weights?: T | null | BincountOptions<T>,
    minlength?: number | BincountOptions<T>,
    options?: BincountOptions<T>,
  ): T;
  /** Padded with one value, as `torch.constant_pad_nd`. */
  constantPadNd(
    self: T,
    pad: readonly Dim[],
    value?: Scalar | Dim | ConstantPadNdOptions,
    options?: ConstantPadNdOptions,
  ): T;
  /** The same call in another form. */
  constantPadNd(self: T, named: { readonly pad: readonly Dim[] } & ConstantPadNdOptions): T;
  /** Padded with elements of the tensor: reflect, replicate or circular. */
  padBy(self: T, pad: readonly Dim[], mode: "reflect" | "replicate" | "circular"): T;
  /** Adds the elements of a padded gradient to where padBy read them. */
  padByBackward(
    grad: T,
    inputSizes: readonly Dim[],
    pad: readonly Dim[],
    mode: "reflect" | "replicate" | "circular",
  ): T;
  /**
   * Padded by `pad` = [before, after] of the last dimension, then of the one before it, …; mode constant,
   * reflect, replicate or circular. As `nn.functional.pad`.
   */
  pad(
    self: T,
    pad: readonly Dim[],
    mode?: "constant" | "reflect" | "replicate" | "circular" | PadOptions,
    value?: Scalar | Dim | null | PadOptions,
    options?: PadOptions,
  ): T;
  /** The same call in another form. */
  pad(self: T, named: { readonly pad: readonly Dim[] } & PadOptions): T;
  /**
   * For each element the product, maximum or minimum of the values that `index` sends to it; a neutral
   * value where there is none.
   */
  scatterCombined(self: T, dim: number, index: T, src: T, reduce: "prod" | "amax" | "amin"): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    self: T,
    dim: number,
    index: T,
    src: T,
    reduce: "sum" | "prod" | "mean" | "amax" | "amin",
    options?: ScatterReduceOptions,
  ): T;
  /** The same call in another form. */
  scatterReduce(
    self: T,
    named: {
      readonly dim: number;
      readonly index: T;
      readonly src: T;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & ScatterReduceOptions,
  ): T;
  /** As scatterReduce with prod, amax or amin. */
  scatterExtreme(
    self: T,
    dim: number,
    index: T,
    src: T,
    reduce: "prod" | "amax" | "amin",
    includeSelf: boolean,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    self: T,
    dim: number,
    index: T,
    source: T,
    reduce: "prod" | "mean" | "amax" | "amin",
    options?: IndexReduceOptions,
  ): T;
  /** The same call in another form. */
  indexReduce(
    self: T,
    named: {
      readonly dim: number;
      readonly index: T;
      readonly source: T;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IndexReduceOptions,
  ): T;
  /** Sorted along the last dimension, stable, with indices. */
  sortLast(self: T, descending: boolean): Results<T, ["values", "indices"]>;
  /** The first `count` elements of the last dimension as `sortLast` orders it, with indices. */
  firstOfSorted(self: T, count: Dim, descending: boolean): Results<T, ["values", "indices"]>;
  /** Sorted along a dimension, with the original indices; always stable. As `torch.sort`. */
  sort(
    self: T,
    dim?: number | SortOptions,
    descending?: boolean | SortOptions,
    stable?: boolean | null | SortOptions,
    options?: SortOptions,
  ): Results<T, ["values", "indices"]>;
  /** The indices that sort a dimension, as `torch.argsort`. */
  argsort(
    self: T,
    dim?: number | ArgsortOptions,
    descending?: boolean | ArgsortOptions,
    stable?: boolean | ArgsortOptions,
    options?: ArgsortOptions,
  ): T;
  /** Sorted along the first dimension, as `torch.msort`. */
  msort(self: T): T;
  /** The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`. */
  topk(
    self: T,
    k: Dim,
    dim?: number | TopkOptions,
    largest?: boolean | TopkOptions,
    sorted?: boolean | TopkOptions,
    options?: TopkOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  topk(self: T, named: { readonly k: Dim } & TopkOptions): Results<T, ["values", "indices"]>;
  /** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
  kthvalue(
    self: T,
    k: number,
    dim?: number | KthvalueOptions,
    keepdim?: boolean | KthvalueOptions,
    options?: KthvalueOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  kthvalue(self: T, named: { readonly k: number } & KthvalueOptions): Results<T, ["values", "indices"]>;
  /** The lower middle element of all; its gradient is shared by the elements that equal it. */
  medianOfAll(self: T, numbersOnly: boolean): T;
  /** The lower middle element, NaN if there is one; with `dim` also its index. As `torch.median`. */
  median(
    self: T,
    dim: number,
    keepdim?: boolean | MedianOptions,
    options?: MedianOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  median(self: T, options: MedianOptions & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  median(self: T, dim?: null | MedianOptions, keepdim?: boolean): T;
  /** The lower middle element, ignoring NaN; with `dim` also its index. As `torch.nanmedian`. */
  nanmedian(
    self: T,
    dim: number,
    keepdim?: boolean | NanmedianOptions,
    options?: NanmedianOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  nanmedian(self: T, options: NanmedianOptions & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  nanmedian(self: T, dim?: null | NanmedianOptions, keepdim?: boolean): T;
  /** The q-quantiles of all elements or of a dimension, as `torch.quantile`. */
  quantile(
    self: T,
    q: Operand<T>,
    dim?: number | null | QuantileOptions,
    keepdim?: boolean | QuantileOptions,
    options?: QuantileOptions,
  ): T;
  /** The q-quantiles of all elements or of a dimension, as `torch.nanquantile`. */
  nanquantile(
    self: T,
    q: Operand<T>,
    dim?: number | null | NanquantileOptions,
    keepdim?: boolean | NanquantileOptions,
    options?: NanquantileOptions,
  ): T;
  /**
   * The indices at which values are inserted into sorted sequences (of the last dimension), as
   * `torch.searchsorted`.
   */
  searchsorted(sortedSequence: T, self: Operand<T>, options?: SearchsortedOptions<T>): T;
  /** The number of elements of a sorted sequence before each value. */
  countBefore(sequence: T, values: T, right: boolean, int32: boolean): T;
  /** The index of the bucket between sorted boundaries for each value, as `torch.bucketize`. */
  bucketize(self: Operand<T>, boundaries: T, options?: BucketizeOptions): T;
  /** True for each element that is among the test elements, as `torch.isin`. */
  isin(elements: Operand<T>, testElements: Operand<T>, options?: IsinOptions): T;
  /** The derivative of lgamma, as `torch.digamma`. */
  digamma(self: T): T;
  /** The second derivative of lgamma. */
  trigamma(self: T): T;
  /** The inverse of erf, as `torch.erfinv`. */
  erfinv(self: T): T;
  /** The area under the standard normal density up to x, as `torch.special.ndtr`. */
  ndtr(self: T): T;
  /** −x log x, 0 at 0 and −∞ below, as `torch.special.entr`. */
  entr(self: T): T;
  /** e^(x²) erfc(x), as `torch.special.erfcx`. */
  erfcx(self: T): T;
  /** log(ndtr(x)), also far below 0, as `torch.special.log_ndtr`. */
  logNdtr(self: T): T;
  /** The inverse of ndtr, as `torch.special.ndtri`. */
  ndtri(self: T): T;
  /** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
  mvlgamma(self: T, p: number): T;
  /** The same call in another form. */
  mvlgamma(self: T, named: { readonly p: number }): T;
  /** The modified Bessel function of order 0, as `torch.i0`. */
  i0(self: T): T;
  /** e^−|x| i0(x), as `torch.special.i0e`. */
  i0e(self: T): T;
  /** The modified Bessel function of order 1, as `torch.special.i1`. */
  i1(self: T): T;
  /** e^−|x| i1(x), as `torch.special.i1e`. */
  i1e(self: T): T;
  /** As i0, as `torch.special.modified_bessel_i0`. */
  modifiedBesselI0(self: T): T;
  /** As i1, as `torch.special.modified_bessel_i1`. */
  modifiedBesselI1(self: T): T;
  /** The modified Bessel function of the second kind of order 0, as `torch.special.modified_bessel_k0`. */
  modifiedBesselK0(self: T): T;
  /** The modified Bessel function of the second kind of order 1, as `torch.special.modified_bessel_k1`. */
  modifiedBesselK1(self: T): T;
  /** e^x modifiedBesselK0(x), as `torch.special.scaled_modified_bessel_k0`. */
  scaledModifiedBesselK0(self: T): T;
  /** e^x modifiedBesselK1(x), as `torch.special.scaled_modified_bessel_k1`. */
  scaledModifiedBesselK1(self: T): T;
  /** The Bessel function of the first kind of order 0, as `torch.special.bessel_j0`. */
  besselJ0(self: T): T;
  /** The Bessel function of the first kind of order 1, as `torch.special.bessel_j1`. */
  besselJ1(self: T): T;
  /** The Bessel function of the second kind of order 0, as `torch.special.bessel_y0`. */
  besselY0(self: T): T;
  /** The Bessel function of the second kind of order 1, as `torch.special.bessel_y1`. */
  besselY1(self: T): T;
  /** sin(x)/x, the spherical Bessel function of order 0, as `torch.special.spherical_bessel_j0`. */
  sphericalBesselJ0(self: T): T;
  /** The Airy function Ai, as `torch.special.airy_ai`. */
  airyAi(self: T): T;
  /**
   * The zeta function of Hurwitz, Σ 1/(other + i)^self, as `torch.special.zeta`. One of them may be a
   * number.
   */
  zeta(self: Operand<T>, other: Operand<T>): T;
  /**
   * The n-th derivative of digamma, as `torch.polygamma`; `n` comes first, or second as in
   * `x.polygamma(n)`.
   */
  polygamma(n: number, self: T): T;
  /** The same call in another form. */
  polygamma(named: { readonly n: number; readonly self: T }): T;
  /** (−1)ⁿ⁺¹ · n! · ζ(n + 1, self), n ≥ 1. */
  polygammaOf(self: T, n: number): T;
  /**
   * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed
   * on the host.
   */
  igamma(self: T, other: T): T;
  /**
   * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
   * on the host.
   */
  igammac(self: T, other: T): T;
  /** self · Φ(self), by erf, or by tanh where `approximate` says so. As `nn.functional.gelu`. */
  gelu(self: T, approximate?: "none" | "tanh" | GeluOptions, options?: GeluOptions): T;
  /** self · sigmoid(self), as `nn.functional.silu`. */
  silu(self: T, inplace?: boolean | SiluOptions, options?: SiluOptions): T;
  /** self · tanh(softplus(self)), as `nn.functional.mish`. */
  mish(self: T, inplace?: boolean | MishOptions, options?: MishOptions): T;
  /** log(1 + e^(beta · self)) / beta, self itself beyond the threshold, as `nn.functional.softplus`. */
  softplus(
    self: T,
    beta?: number | SoftplusOptions,
    threshold?: number | SoftplusOptions,
    options?: SoftplusOptions,
  ): T;
  /** log(sigmoid(self)), as `nn.functional.logsigmoid`. */
  logsigmoid(self: T): T;
  /** self / (1 + |self|), as `nn.functional.softsign`. */
  softsign(self: T): T;
  /** self − tanh(self), as `nn.functional.tanhshrink`. */
  tanhshrink(self: T): T;
  /** scale · self above 0, scale · alpha · (e^(rate · self) − 1) below. */
  eluLinear(self: T, alpha: number, scale: number, rate: number): T;
  /** self above 0, alpha · (e^self − 1) below, as `nn.functional.elu`. */
  elu(self: T, alpha?: number | EluOptions, inplace?: boolean | EluOptions, options?: EluOptions): T;
  /** max(self, 0) + min(0, alpha · (e^(self / alpha) − 1)), as `nn.functional.celu`. */
  celu(self: T, alpha?: number | CeluOptions, inplace?: boolean | CeluOptions, options?: CeluOptions): T;
  /** The self-normalizing elu, as `nn.functional.selu`. */
  selu(self: T, inplace?: boolean | SeluOptions, options?: SeluOptions): T;
  /** The first half along a dimension times the sigmoid of the second, as `nn.functional.glu`. */
  glu(self: T, dim?: number | GluOptions, options?: GluOptions): T;
  /** The gradient of maxPool2d: gradients of windows, added at the indices of their maxima. */
  maxPool2dWithIndicesBackward(
    gradOutput: T,
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    indices: T,
    options?: MaxPool2dWithIndicesBackwardOptions,
  ): T;
  /** The same call in another form. */
  maxPool2dWithIndicesBackward(
    gradOutput: T,
    self: T,
    named:
      & { readonly kernelSize: number | readonly number[]; readonly indices: T }
      & MaxPool2dWithIndicesBackwardOptions,
  ): T;
  /** The maximum of each window over the last dimensions, and its flat place in the window. */
  maxPoolOffsets(
    self: T,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    ceilMode: boolean,
  ): Results<T, ["values", "offsets"]>;
  /** Gradients of windows sent to where their maximum was. */
  maxPoolBackward(
    grad: T,
    offsets: T,
    inputSizes: readonly Dim[],
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    ceilMode: boolean,
  ): T;
  /**
   * The maximum of each window over 1 dimension(s); with returnIndices also its flat index. As
   * `nn.functional.max_pool1d`.
   */
  maxPool1d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool1dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool1d(
    self: T,
    kernelSize: number | readonly number[],
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool1d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool1d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool1dOptions,
  ): T;
  /** The same call in another form. */
  maxPool1d(self: T, named: { readonly kernelSize: number | readonly number[] } & MaxPool1dOptions): T;
  /**
   * The maximum of each window over 2 dimension(s); with returnIndices also its flat index. As
   * `nn.functional.max_pool2d`.
   */
  maxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool2dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    options: MaxPool2dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool2dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool2dOptions,
  ): T;
  /** The same call in another form. */
  maxPool2d(self: T, named: { readonly kernelSize: number | readonly number[] } & MaxPool2dOptions): T;
  /**
   * The maximum of each window over 3 dimension(s); with returnIndices also its flat index. As
   * `nn.functional.max_pool3d`.
   */
  maxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool3dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    options: MaxPool3dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool3dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  maxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool3dOptions,
  ): T;
  /** The same call in another form. */
  maxPool3d(self: T, named: { readonly kernelSize: number | readonly number[] } & MaxPool3dOptions): T;
  /** The sum of each window over the last dimensions. */
  windowSum(
    self: T,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
  ): T;
  /** Gradients of windows given to each of their elements. */
  windowSumBackward(
    grad: T,
    inputSizes: readonly Dim[],
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
  ): T;
  /** The number of elements of the (padded) input in each window over the last dimensions. */
  windowSizes(
    self: T,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
    countIncludePad: boolean,
  ): T;
  /** The mean of each window over 1 dimension(s), as `nn.functional.avg_pool1d`. */
  avgPool1d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool1dOptions,
    padding?: number | readonly number[] | AvgPool1dOptions,
    ceilMode?: boolean | AvgPool1dOptions,
    countIncludePad?: boolean | AvgPool1dOptions,
    divisorOverride?: number | null | AvgPool1dOptions,
    options?: AvgPool1dOptions,
  ): T;
  /** The same call in another form. */
  avgPool1d(self: T, named: { readonly kernelSize: number | readonly number[] } & AvgPool1dOptions): T;
  /** The mean of each window over 2 dimension(s), as `nn.functional.avg_pool2d`. */
  avgPool2d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool2dOptions,
    padding?: number | readonly number[] | AvgPool2dOptions,
    ceilMode?: boolean | AvgPool2dOptions,
    countIncludePad?: boolean | AvgPool2dOptions,
    divisorOverride?: number | null | AvgPool2dOptions,
    options?: AvgPool2dOptions,
  ): T;
  /** The same call in another form. */
  avgPool2d(self: T, named: { readonly kernelSize: number | readonly number[] } & AvgPool2dOptions): T;
  /** The mean of each window over 3 dimension(s), as `nn.functional.avg_pool3d`. */
  avgPool3d(
    self: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool3dOptions,
    padding?: number | readonly number[] | AvgPool3dOptions,
    ceilMode?: boolean | AvgPool3dOptions,
    countIncludePad?: boolean | AvgPool3dOptions,
    divisorOverride?: number | null | AvgPool3dOptions,
    options?: AvgPool3dOptions,
  ): T;
  /** The same call in another form. */
  avgPool3d(self: T, named: { readonly kernelSize: number | readonly number[] } & AvgPool3dOptions): T;
  /** (Σ xᵖ)^(1/p) of each window over 1 dimension(s), as `nn.functional.lp_pool1d`. */
  lpPool1d(
    self: T,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool1dOptions,
    ceilMode?: boolean | LpPool1dOptions,
    options?: LpPool1dOptions,
  ): T;
  /** The same call in another form. */
  lpPool1d(
    self: T,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool1dOptions,
  ): T;
  /** (Σ xᵖ)^(1/p) of each window over 2 dimension(s), as `nn.functional.lp_pool2d`. */
  lpPool2d(
    self: T,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool2dOptions,
    ceilMode?: boolean | LpPool2dOptions,
    options?: LpPool2dOptions,
  ): T;
  /** The same call in another form. */
  lpPool2d(
    self: T,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool2dOptions,
  ): T;
  /** (Σ xᵖ)^(1/p) of each window over 3 dimension(s), as `nn.functional.lp_pool3d`. */
  lpPool3d(
    self: T,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool3dOptions,
    ceilMode?: boolean | LpPool3dOptions,
    options?: LpPool3dOptions,
  ): T;
  /** The same call in another form. */
  lpPool3d(
    self: T,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool3dOptions,
  ): T;
  /**
   * The maxima of windows at random places over 2 dimensions (Graham 2014), as
   * `nn.functional.fractional_max_pool2d`.
   */
  fractionalMaxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    randomSamples?: T | null | FractionalMaxPool2dOptions<T>,
    options?: FractionalMaxPool2dOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    options: FractionalMaxPool2dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: FractionalMaxPool2dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool2d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize?: number | readonly number[] | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | FractionalMaxPool2dOptions<T>,
    randomSamples?: T | null,
  ): T;
  /** The same call in another form. */
  fractionalMaxPool2d(
    self: T,
    named: { readonly kernelSize: number | readonly number[] } & FractionalMaxPool2dOptions<T>,
  ): T;
  /**
   * The maxima of windows at random places over 3 dimensions (Graham 2014), as
   * `nn.functional.fractional_max_pool3d`.
   */
  fractionalMaxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    randomSamples?: T | null | FractionalMaxPool3dOptions<T>,
    options?: FractionalMaxPool3dOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    options: FractionalMaxPool3dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: FractionalMaxPool3dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  fractionalMaxPool3d(
    self: T,
    kernelSize: number | readonly number[],
    outputSize?: number | readonly number[] | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | FractionalMaxPool3dOptions<T>,
    randomSamples?: T | null,
  ): T;
  /** The same call in another form. */
  fractionalMaxPool3d(
    self: T,
    named: { readonly kernelSize: number | readonly number[] } & FractionalMaxPool3dOptions<T>,
  ): T;
  /** Numbers of a Cauchy distribution; `cauchy_` fills a tensor with them, as `Tensor.cauchy_`. */
  cauchy(
    self: T,
    median?: number | CauchyOptions,
    sigma?: number | CauchyOptions,
    options?: CauchyOptions,
  ): T;
  /**
   * Numbers whose logarithms are of a normal distribution; `logNormal_` fills a tensor with them, as
   * `Tensor.log_normal_`.
   */
  logNormal(
    self: T,
    mean?: number | LogNormalOptions,
    std?: number | LogNormalOptions,
    options?: LogNormalOptions,
  ): T;
  /**
   * The number of trials of probability p until one succeeds; `geometric_` fills a tensor, as
   * `Tensor.geometric_`.
   */
  geometric(self: T, p: number, options?: GeometricOptions): T;
  /**
   * random_(), random_(to), random_(from, to): fills a tensor with integers of [from, to), as
   * `Tensor.random_`. Unless given they are those that the type holds without gaps, from 0 on.
   */
  random(
    self: T,
    from?: number | RandomOptions,
    to?: number | null | RandomOptions,
    options?: RandomOptions,
  ): T;
  /**
   * A tensor with one number where all of its indices are equal; `fillDiagonal_` writes it, as
   * `Tensor.fill_diagonal_`. More than two dimensions have to be of one size.
   */
  fillDiagonal(
    self: T,
    fillValue: Scalar | Dim,
    wrap?: boolean | FillDiagonalOptions,
    options?: FillDiagonalOptions,
  ): T;
  /** Numbers of the uniform distribution on [0, 1), as `torch.rand`. */
  rand(size: readonly Dim[], options?: RandOptions): T;
  /** The same call in another form. */
  rand(...size: (Dim | RandOptions)[]): T;
  /** Numbers of the standard normal distribution, as `torch.randn`. */
  randn(size: readonly Dim[], options?: RandnOptions): T;
  /** The same call in another form. */
  randn(...size: (Dim | RandnOptions)[]): T;
  /** As rand, of the shape, type and device of `self`. */
  randLike(self: T, options?: RandLikeOptions): T;
  /** As randn, of the shape, type and device of `self`. */
  randnLike(self: T, options?: RandnLikeOptions): T;
  /** randint(high, size), randint(low, high, size): integers of [low, high), as `torch.randint`. */
  randint(
    low: number,
    high?: number | readonly number[] | null | RandintOptions,
    size?: readonly Dim[] | null | RandintOptions,
    options?: RandintOptions,
  ): T;
  /** randintLike(x, high), randintLike(x, low, high): integers of [low, high) in the shape of a tensor. */
  randintLike(
    self: T,
    low: number,
    high?: number | null | RandintLikeOptions,
    options?: RandintLikeOptions,
  ): T;
  /** The integers below n in random order, as `torch.randperm`. */
  randperm(n: Dim, options?: RandpermOptions): T;
  /**
   * 1 with the probability in `self` (or p), else 0, as `torch.bernoulli`; `bernoulli_` has p = 0.5 unless
   * it is given. Elements outside of [0, 1] are refused in eager calls on the CPU.
   */
  bernoulli(self: T, p?: Operand<T> | null | BernoulliOptions<T>, options?: BernoulliOptions<T>): T;
  /** Numbers of [from, to); `uniform_` fills a tensor with them, as `Tensor.uniform_`. */
  uniform(self: T, from?: number | UniformOptions, to?: number | UniformOptions, options?: UniformOptions): T;
  /** Numbers of a normal distribution; `normal_` fills a tensor with them, as `Tensor.normal_`. */
  normal(self: T, mean?: number | NormalOptions, std?: number | NormalOptions, options?: NormalOptions): T;
  /** Numbers of an exponential distribution; `exponential_` fills a tensor, as `Tensor.exponential_`. */
  exponential(self: T, lambd?: number | ExponentialOptions, options?: ExponentialOptions): T;
  /**
   * Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. Throws
   * DynError for a row that is all zero, and for weights that are negative or not finite.
   */
  multinomial(
    self: T,
    numSamples: number,
    replacement?: boolean | MultinomialOptions,
    options?: MultinomialOptions,
  ): T;
  /** The same call in another form. */
  multinomial(self: T, named: { readonly numSamples: number } & MultinomialOptions): T;
  /** 1 / (1 − p) with probability 1 − p, else 0, in the shape and type of `self`. */
  dropoutMask(self: T, p: number): T;
  /**
   * Elements dropped with probability p and the rest scaled to keep the mean, while training. As
   * `nn.functional.dropout`.
   */
  dropout(
    self: T,
    p?: number | DropoutOptions,
    training?: boolean | DropoutOptions,
    inplace?: boolean | DropoutOptions,
    options?: DropoutOptions,
  ): T;
  /** As dropout, of whole channels of 1 dimension(s), as `nn.functional.dropout1d`. */
  dropout1d(
    self: T,
    p?: number | Dropout1dOptions,
    training?: boolean | Dropout1dOptions,
    inplace?: boolean | Dropout1dOptions,
    options?: Dropout1dOptions,
  ): T;
  /** As dropout, of whole channels of 2 dimension(s), as `nn.functional.dropout2d`. */
  dropout2d(
    self: T,
    p?: number | Dropout2dOptions,
    training?: boolean | Dropout2dOptions,
    inplace?: boolean | Dropout2dOptions,
    options?: Dropout2dOptions,
  ): T;
  /** As dropout, of whole channels of 3 dimension(s), as `nn.functional.dropout3d`. */
  dropout3d(
    self: T,
    p?: number | Dropout3dOptions,
    training?: boolean | Dropout3dOptions,
    inplace?: boolean | Dropout3dOptions,
    options?: Dropout3dOptions,
  ): T;
  /**
   * Elements set to SELU's saturation value with probability p, then scaled and shifted to keep mean and
   * variance, while training. As `nn.functional.alpha_dropout`.
   */
  alphaDropout(
    self: T,
    p?: number | AlphaDropoutOptions,
    training?: boolean | AlphaDropoutOptions,
    inplace?: boolean | AlphaDropoutOptions,
    options?: AlphaDropoutOptions,
  ): T;
  /**
   * Whole channels set to SELU's saturation value with probability p, then scaled and shifted to keep mean
   * and variance, while training. As `nn.functional.feature_alpha_dropout`.
   */
  featureAlphaDropout(
    self: T,
    p?: number | FeatureAlphaDropoutOptions,
    training?: boolean | FeatureAlphaDropoutOptions,
    inplace?: boolean | FeatureAlphaDropoutOptions,
    options?: FeatureAlphaDropoutOptions,
  ): T;
  /**
   * x above 0; below, x times a slope of [lower, upper), random while training, else the middle. As
   * `nn.functional.rrelu`.
   */
  rrelu(
    self: T,
    lower?: number | RreluOptions,
    upper?: number | RreluOptions,
    training?: boolean | RreluOptions,
    inplace?: boolean | RreluOptions,
    options?: RreluOptions,
  ): T;
  /**
   * Softmax of logits with Gumbel noise at temperature tau; with hard the largest is 1 and the others 0,
   * with the gradient of the soft ones (Jang et al. 2017). As `nn.functional.gumbel_softmax`.
   */
  gumbelSoftmax(
    logits: T,
    tau?: number | GumbelSoftmaxOptions,
    hard?: boolean | GumbelSoftmaxOptions,
    eps?: number | GumbelSoftmaxOptions,
    dim?: number | GumbelSoftmaxOptions,
    options?: GumbelSoftmaxOptions,
  ): T;
  /**
   * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
   * function is `variance`.
   */
  var(
    self: T,
    dim?: number | readonly number[] | boolean | null | VarOptions,
    unbiased?: boolean | null | VarOptions,
    keepdim?: boolean | VarOptions,
    options?: VarOptions,
  ): T;
  /** The standard deviation over dimensions, divided by the count less `correction` (1). As `torch.std`. */
  std(
    self: T,
    dim?: number | readonly number[] | boolean | null | StdOptions,
    unbiased?: boolean | null | StdOptions,
    keepdim?: boolean | StdOptions,
    options?: StdOptions,
  ): T;
  /** var and mean over dimensions, as `torch.var_mean`. */
  varMean(
    self: T,
    dim?: number | readonly number[] | boolean | null | VarMeanOptions,
    unbiased?: boolean | null | VarMeanOptions,
    keepdim?: boolean | VarMeanOptions,
    options?: VarMeanOptions,
  ): Results<T, ["variance", "mean"]>;
  /** std and mean over dimensions, as `torch.std_mean`. */
  stdMean(
    self: T,
    dim?: number | readonly number[] | boolean | null | StdMeanOptions,
    unbiased?: boolean | null | StdMeanOptions,
    keepdim?: boolean | StdMeanOptions,
    options?: StdMeanOptions,
  ): Results<T, ["deviation", "mean"]>;
  /** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
  logsumexp(
    self: T,
    dim: number | readonly number[],
    keepdim?: boolean | LogsumexpOptions,
    options?: LogsumexpOptions,
  ): T;
  /** The same call in another form. */
  logsumexp(self: T, named: { readonly dim: number | readonly number[] } & LogsumexpOptions): T;
  /** The number of elements over dimensions that are not 0. Its gradient is 0, as in PyTorch. */
  norm0(self: T, dim: readonly number[], keepdim: boolean): T;
  /** √Σ self² over dimensions. */
  norm2(self: T, dim: readonly number[], keepdim: boolean): T;
  /** (Σ |self|^p)^(1/p) over dimensions. */
  normP(self: T, p: number, dim: readonly number[], keepdim: boolean): T;
  /** The norm of order `ord` of the vectors along dimensions, as `torch.linalg.vector_norm`. */
  vectorNorm(
    x: T,
    ord?: number | VectorNormOptions,
    dim?: number | readonly number[] | null | VectorNormOptions,
    keepdim?: boolean | VectorNormOptions,
    options?: VectorNormOptions,
  ): T;
  /**
   * The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as
   * `torch.norm`.
   */
  norm(
    self: T,
    p?: Scalar | string | NormOptions,
    dim?: number | readonly number[] | null | NormOptions,
    keepdim?: boolean | NormOptions,
    dtype?: DType | null | NormOptions,
    options?: NormOptions,
  ): T;
  /** self divided by its norm along a dimension, at least eps, as `nn.functional.normalize`. */
  normalize(
    self: T,
    p?: number | NormalizeOptions,
    dim?: number | readonly number[] | NormalizeOptions,
    eps?: number | NormalizeOptions,
    options?: NormalizeOptions,
  ): T;
  /** The cosine of the angle between vectors along a dimension, as `nn.functional.cosine_similarity`. */
  cosineSimilarity(
    x1: T,
    x2: T,
    dim?: number | CosineSimilarityOptions,
    eps?: number | CosineSimilarityOptions,
    options?: CosineSimilarityOptions,
  ): T;
  /** The norm of x1 − x2 + eps along the last dimension, as `nn.functional.pairwise_distance`. */
  pairwiseDistance(
    x1: T,
    x2: T,
    p?: number | PairwiseDistanceOptions,
    eps?: number | PairwiseDistanceOptions,
    keepdim?: boolean | PairwiseDistanceOptions,
    options?: PairwiseDistanceOptions,
  ): T;
  /** The norm of self − other, as `torch.dist`. */
  dist(self: T, other: T, p?: number | DistOptions, options?: DistOptions): T;
  /** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
  renorm(self: T, p: number, dim: number, maxnorm: number): T;
  /** The same call in another form. */
  renorm(self: T, named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): T;
  /** For each of `size` elements the number of its segment. */
  segmentNumbers(bounds: T, size: number, areOffsets: boolean, unsafe: boolean): T;
  /**
   * Sums, means, maxima, minima or products ("sum", "mean", "max", "min", "prod") of the segments of a
   * dimension, by their lengths or by offsets, where each begins and the last one ends; `initial` is
   * combined with each. Elements must all be in a segment unless it is `unsafe`. As `torch.segment_reduce`.
   */
  segmentReduce(
    data: T,
    reduce: "sum" | "mean" | "max" | "min" | "prod",
    options?: SegmentReduceOptions<T>,
  ): T;
  /** The same call in another form. */
  segmentReduce(
    data: T,
    named: { readonly reduce: "sum" | "mean" | "max" | "min" | "prod" } & SegmentReduceOptions<T>,
  ): T;
  /**
   * The rows of `weight` at the integers in `input`, as `nn.functional.embedding`; also with the two
   * exchanged, as `torch.embedding`.
   */
  embedding(
    input: T,
    weight: T,
    paddingIdx?: number | null | EmbeddingOptions,
    maxNorm?: number | null | EmbeddingOptions,
    normType?: number | EmbeddingOptions,
    scaleGradByFreq?: boolean | EmbeddingOptions,
    sparse?: boolean | EmbeddingOptions,
    options?: EmbeddingOptions,
  ): T;
  /** The rows of a table at indices. */
  embeddingRows(
    weight: T,
    indices: T,
    paddingIdx?: number | null | EmbeddingRowsOptions,
    scaleGradByFreq?: boolean | EmbeddingRowsOptions,
    options?: EmbeddingRowsOptions,
  ): T;
  /** The gradient of a table of `rows` rows: gradients of rows added up, without those of the padding index. */
  embeddingBackward(
    grad: T,
    indices: T,
    rows: Dim,
    paddingIdx?: number | null | EmbeddingBackwardOptions,
    options?: EmbeddingBackwardOptions,
  ): T;
  /**
   * 1 at the class that each integer names, else 0, in a new last dimension, as `nn.functional.one_hot`.
   * Without numClasses the size depends on elements.
   */
  oneHot(self: T, numClasses?: number | OneHotOptions, options?: OneHotOptions): T;
  /** oneHot of a known number of classes. */
  oneHotClasses(self: T, numClasses: number): T;
  /** oneHot with as many classes as the greatest integer needs. */
  oneHotOfAll(self: T): T;
  /**
   * Sums, means or maxima of the rows of `weight` at bags of integers, as `nn.functional.embedding_bag`:
   * rows of a matrix are bags, and vectors have bags that start at `offsets`.
   */
  embeddingBag(
    input: T,
    weight: T,
    offsets?: T | null | EmbeddingBagOptions<T>,
    maxNorm?: number | null | EmbeddingBagOptions<T>,
    normType?: number | EmbeddingBagOptions<T>,
    scaleGradByFreq?: boolean | EmbeddingBagOptions<T>,
    mode?: "sum" | "mean" | "max" | EmbeddingBagOptions<T>,
    sparse?: boolean | EmbeddingBagOptions<T>,
    perSampleWeights?: T | null | EmbeddingBagOptions<T>,
    includeLastOffset?: boolean | EmbeddingBagOptions<T>,
    paddingIdx?: number | null | EmbeddingBagOptions<T>,
    options?: EmbeddingBagOptions<T>,
  ): T;
  /**
   * softmax(query · keyᵀ · scale + mask) · value, with dropout on the weights, as
   * `nn.functional.scaled_dot_product_attention`.
   */
  scaledDotProductAttention(
    query: T,
    key: T,
    value: T,
    attnMask?: T | null | ScaledDotProductAttentionOptions<T>,
    dropoutP?: number | ScaledDotProductAttentionOptions<T>,
    isCausal?: boolean | ScaledDotProductAttentionOptions<T>,
    options?: ScaledDotProductAttentionOptions<T>,
  ): T;
  /**
   * Sums of products of operands over the dimensions that an equation such as "bij,bjk->bik" names. As
   * `torch.einsum`, in all of its forms.
   */
  einsum(equation: string, operands: readonly T[]): T;
  /** The same call in another form. */
  einsum(equation: string, ...operands: T[]): T;
  /** Sums of products over dimensions of one tensor paired with dimensions of another. */
  tensordotDims(self: T, other: T, dimsSelf: readonly number[], dimsOther: readonly number[]): T;
  /** Sums of products over the last dimensions, as `torch.inner`. */
  inner(self: T, other: T): T;
  /** The sum of the diagonal of a matrix, as `torch.trace`. */
  trace(self: T): T;
  /** The Kronecker product, as `torch.kron`. */
  kron(self: T, other: T): T;
  /** x1ᵀ · weight[k] · x2 + bias[k] for each k, as `nn.functional.bilinear`. */
  bilinear(
    input1: T,
    input2: T,
    weight: T,
    bias?: T | null | BilinearOptions<T>,
    options?: BilinearOptions<T>,
  ): T;
  /** With at least 1 dimension(s), as `torch.atleast_1d` of one tensor. */
  atleast1d(self: T): T;
  /** With at least 2 dimension(s), as `torch.atleast_2d` of one tensor. */
  atleast2d(self: T): T;
  /** With at least 3 dimension(s), as `torch.atleast_3d` of one tensor. */
  atleast3d(self: T): T;
  /** Tensors joined along dimension 1, or 0 of vectors, as `torch.hstack`. */
  hstack(tensors: readonly T[]): T;
  /** Tensors joined along dimension 0, vectors as rows, as `torch.vstack`. */
  vstack(tensors: readonly T[]): T;
  /** Tensors joined along dimension 2, as `torch.dstack`. */
  dstack(tensors: readonly T[]): T;
  /** Tensors joined along dimension 1, vectors as columns, as `torch.column_stack`. */
  columnStack(tensors: readonly T[]): T;
  /** Matrices along the diagonal of a matrix of zeros, as `torch.block_diag`. */
  blockDiag(tensors: readonly T[]): T;
  /** The same call in another form. */
  blockDiag(...tensors: T[]): T;
  /**
   * Each vector along a dimension of its own, all expanded to the grid; indexing "ij" or "xy". As
   * `torch.meshgrid`.
   */
  meshgrid(tensors: readonly T[], options?: MeshgridOptions): T[];
  /** The same call in another form. */
  meshgrid(...tensors: (T | MeshgridOptions)[]): T[];
  /** All combinations of elements of vectors, one a row, as `torch.cartesian_prod`. */
  cartesianProd(tensors: readonly T[]): T;
  /** The same call in another form. */
  cartesianProd(...tensors: T[]): T;
  /** Tensors expanded to the shape that they broadcast to, as `torch.broadcast_tensors`. */
  broadcastTensors(tensors: readonly T[]): T[];
  /** The same call in another form. */
  broadcastTensors(...tensors: T[]): T[];
  /** All elements in one dimension, as `torch.ravel`. */
  ravel(self: T): T;
  /** The flattened tensor on a diagonal, as `torch.diagflat`. */
  diagflat(self: T, offset?: number | DiagflatOptions, options?: DiagflatOptions): T;
  /** Rows and columns of the upper triangle of a matrix. */
  triuIndices(
    row: number,
    col: number,
    offset?: number | TriuIndicesOptions,
    options?: TriuIndicesOptions,
  ): T;
  /** Rows and columns of the lower triangle of a matrix. */
  trilIndices(
    row: number,
    col: number,
    offset?: number | TrilIndicesOptions,
    options?: TrilIndicesOptions,
  ): T;
  /**
   * Sums of products over dimensions of two tensors: so many of the last and first, or given as two lists.
   * As `torch.tensordot`.
   */
  tensordot(
    self: T,
    other: T,
    dims?: number | readonly (readonly number[])[] | TensordotOptions,
    options?: TensordotOptions,
  ): T;
  /**
   * Differences of neighbours along a dimension, n times, with elements added before and after, as
   * `torch.diff`.
   */
  diff(
    self: T,
    n?: number | DiffOptions<T>,
    dim?: number | DiffOptions<T>,
    prepend?: T | null | DiffOptions<T>,
    append?: T | null | DiffOptions<T>,
    options?: DiffOptions<T>,
  ): T;
  /** The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. */
  trapezoid(y: T, x?: Operand<T> | null | TrapezoidOptions<T>, options?: TrapezoidOptions<T>): T;
  /**
   * The integral along a dimension by trapezoids, as `torch.cumulative_trapezoid`: y, then x (a tensor), or
   * dx.
   */
  cumulativeTrapezoid(
    y: T,
    x?: Operand<T> | null | CumulativeTrapezoidOptions<T>,
    options?: CumulativeTrapezoidOptions<T>,
  ): T;
  /** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
  sumToSize(self: T, size: readonly Dim[]): T;
  /** The same call in another form. */
  sumToSize(self: T, ...size: Dim[]): T;
  /**
   * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area.
   * As `nn.functional.interpolate`.
   */
  interpolate(
    self: T,
    size?: number | readonly number[] | null | InterpolateOptions,
    scaleFactor?: number | readonly number[] | null | InterpolateOptions,
    mode?:
      | "nearest"
      | "nearest-exact"
      | "linear"
      | "bilinear"
      | "bicubic"
      | "trilinear"
      | "area"
      | InterpolateOptions,
    alignCorners?: boolean | null | InterpolateOptions,
    recomputeScaleFactor?: boolean | null | InterpolateOptions,
    antialias?: boolean | InterpolateOptions,
    options?: InterpolateOptions,
  ): T;
  /** interpolate with mode nearest, as `nn.functional.upsample_nearest`. */
  upsampleNearest(
    self: T,
    size?: number | readonly number[] | null | UpsampleNearestOptions,
    scaleFactor?: number | readonly number[] | null | UpsampleNearestOptions,
    options?: UpsampleNearestOptions,
  ): T;
  /** interpolate with mode bilinear, as `nn.functional.upsample_bilinear`. */
  upsampleBilinear(
    self: T,
    size?: number | readonly number[] | null | UpsampleBilinearOptions,
    scaleFactor?: number | readonly number[] | null | UpsampleBilinearOptions,
    options?: UpsampleBilinearOptions,
  ): T;
  /** The windows of images as columns [batch, channels · kernel, windows], as `nn.functional.unfold`. */
  im2col(
    self: T,
    kernelSize: number | readonly number[],
    dilation?: number | readonly number[] | Im2colOptions,
    padding?: number | readonly number[] | Im2colOptions,
    stride?: number | readonly number[] | Im2colOptions,
    options?: Im2colOptions,
  ): T;
  /** The same call in another form. */
  im2col(self: T, named: { readonly kernelSize: number | readonly number[] } & Im2colOptions): T;
  /** Channels spread over pixels, as `nn.functional.pixel_shuffle`. */
  pixelShuffle(self: T, upscaleFactor: number): T;
  /** The same call in another form. */
  pixelShuffle(self: T, named: { readonly upscaleFactor: number }): T;
  /** Channels gathered from pixels, as `nn.functional.pixel_unshuffle`. */
  pixelUnshuffle(self: T, downscaleFactor: number): T;
  /** The same call in another form. */
  pixelUnshuffle(self: T, named: { readonly downscaleFactor: number }): T;
  /** Channels in groups, interleaved, as `nn.functional.channel_shuffle`. */
  channelShuffle(self: T, groups: number): T;
  /** The same call in another form. */
  channelShuffle(self: T, named: { readonly groups: number }): T;
  /**
   * Divided by a power of the mean square over neighbouring channels, as
   * `nn.functional.local_response_norm`.
   */
  localResponseNorm(
    self: T,
    size: number,
    alpha?: number | LocalResponseNormOptions,
    beta?: number | LocalResponseNormOptions,
    k?: number | LocalResponseNormOptions,
    options?: LocalResponseNormOptions,
  ): T;
  /** The same call in another form. */
  localResponseNorm(self: T, named: { readonly size: number } & LocalResponseNormOptions): T;
  /**
   * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
   * `nn.functional.fold`.
   */
  col2im(
    self: T,
    outputSize: number | readonly number[],
    kernelSize: number | readonly number[],
    dilation?: number | readonly number[] | Col2imOptions,
    padding?: number | readonly number[] | Col2imOptions,
    stride?: number | readonly number[] | Col2imOptions,
    options?: Col2imOptions,
  ): T;
  /** The same call in another form. */
  col2im(
    self: T,
    named: {
      readonly outputSize: number | readonly number[];
      readonly kernelSize: number | readonly number[];
    } & Col2imOptions,
  ): T;
  /**
   * Images [N, C, H, W], or volumes, sampled at the points of a grid [N, H', W', 2] in [−1, 1], as
   * `nn.functional.grid_sample`.
   */
  gridSample(
    input: T,
    grid: T,
    mode?: "bilinear" | "nearest" | "bicubic" | GridSampleOptions,
    paddingMode?: "zeros" | "border" | "reflection" | GridSampleOptions,
    alignCorners?: boolean | GridSampleOptions,
    options?: GridSampleOptions,
  ): T;
  /** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler`. */
  gridSampler(input: T, grid: T, interpolationMode: number, paddingMode: number, alignCorners: boolean): T;
  /** The same call in another form. */
  gridSampler(
    input: T,
    grid: T,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): T;
  /** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler_2d`. */
  gridSampler2d(input: T, grid: T, interpolationMode: number, paddingMode: number, alignCorners: boolean): T;
  /** The same call in another form. */
  gridSampler2d(
    input: T,
    grid: T,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): T;
  /** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler_3d`. */
  gridSampler3d(input: T, grid: T, interpolationMode: number, paddingMode: number, alignCorners: boolean): T;
  /** The same call in another form. */
  gridSampler3d(
    input: T,
    grid: T,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): T;
  /**
   * The sampling grid of affine maps theta [N, 2, 3] for images of `size` [N, C, H, W], or [N, 3, 4] for
   * volumes, as `nn.functional.affine_grid`.
   */
  affineGrid(
    theta: T,
    size: readonly number[],
    alignCorners?: boolean | AffineGridOptions,
    options?: AffineGridOptions,
  ): T;
  /** The same call in another form. */
  affineGrid(theta: T, named: { readonly size: readonly number[] } & AffineGridOptions): T;
  /** max(0, −target · (input1 − input2) + margin), as `nn.functional.margin_ranking_loss`. */
  marginRankingLoss(
    input1: T,
    input2: T,
    target: T,
    margin?: number | MarginRankingLossOptions,
    reduction?: "none" | "mean" | "sum" | MarginRankingLossOptions,
    options?: MarginRankingLossOptions,
  ): T;
  /** self where target is 1, max(0, margin − self) where it is −1, as `nn.functional.hinge_embedding_loss`. */
  hingeEmbeddingLoss(
    self: T,
    target: T,
    margin?: number | HingeEmbeddingLossOptions,
    reduction?: "none" | "mean" | "sum" | HingeEmbeddingLossOptions,
    options?: HingeEmbeddingLossOptions,
  ): T;
  /**
   * 1 − cos where target is 1, max(0, cos − margin) where it is −1, as
   * `nn.functional.cosine_embedding_loss`.
   */
  cosineEmbeddingLoss(
    input1: T,
    input2: T,
    target: T,
    margin?: number | CosineEmbeddingLossOptions,
    reduction?: "none" | "mean" | "sum" | CosineEmbeddingLossOptions,
    options?: CosineEmbeddingLossOptions,
  ): T;
  /**
   * ½ (log var + (self − target)² / var), var at least eps, as `nn.functional.gaussian_nll_loss`. A
   * negative variance is refused in eager calls on the CPU.
   */
  gaussianNllLoss(
    self: T,
    target: T,
    var_: Operand<T>,
    full?: boolean | GaussianNllLossOptions,
    eps?: number | GaussianNllLossOptions,
    reduction?: "none" | "mean" | "sum" | GaussianNllLossOptions,
    options?: GaussianNllLossOptions,
  ): T;
  /** e^self − target · self (or of rates where logInput is false), as `nn.functional.poisson_nll_loss`. */
  poissonNllLoss(
    self: T,
    target: T,
    logInput?: boolean | PoissonNllLossOptions,
    full?: boolean | PoissonNllLossOptions,
    sizeAverage?: boolean | null | PoissonNllLossOptions,
    eps?: number | PoissonNllLossOptions,
    reduce?: boolean | null | PoissonNllLossOptions,
    reduction?: "none" | "mean" | "sum" | PoissonNllLossOptions,
    options?: PoissonNllLossOptions,
  ): T;
  /** max(0, d(anchor, positive) − d(anchor, negative) + margin), as `nn.functional.triplet_margin_loss`. */
  tripletMarginLoss(
    anchor: T,
    positive: T,
    negative: T,
    margin?: number | TripletMarginLossOptions,
    p?: number | TripletMarginLossOptions,
    eps?: number | TripletMarginLossOptions,
    swap?: boolean | TripletMarginLossOptions,
    sizeAverage?: boolean | null | TripletMarginLossOptions,
    reduce?: boolean | null | TripletMarginLossOptions,
    reduction?: "none" | "mean" | "sum" | TripletMarginLossOptions,
    options?: TripletMarginLossOptions,
  ): T;
  /**
   * The mean over wrong classes of max(0, margin − x[target] + x[class])^p, as
   * `nn.functional.multi_margin_loss`.
   */
  multiMarginLoss(
    self: T,
    target: T,
    p?: number | MultiMarginLossOptions<T>,
    margin?: number | MultiMarginLossOptions<T>,
    weight?: T | null | MultiMarginLossOptions<T>,
    sizeAverage?: boolean | null | MultiMarginLossOptions<T>,
    reduce?: boolean | null | MultiMarginLossOptions<T>,
    reduction?: "none" | "mean" | "sum" | MultiMarginLossOptions<T>,
    options?: MultiMarginLossOptions<T>,
  ): T;
  /** The mean over classes of the logistic loss, as `nn.functional.multilabel_soft_margin_loss`. */
  multilabelSoftMarginLoss(
    self: T,
    target: T,
    weight?: T | null | MultilabelSoftMarginLossOptions<T>,
    sizeAverage?: boolean | null | MultilabelSoftMarginLossOptions<T>,
    reduce?: boolean | null | MultilabelSoftMarginLossOptions<T>,
    reduction?: "none" | "mean" | "sum" | MultilabelSoftMarginLossOptions<T>,
    options?: MultilabelSoftMarginLossOptions<T>,
  ): T;
  /** Distances between all rows of x1 and all rows of x2, as `torch.cdist`. */
  cdist(
    x1: T,
    x2: T,
    p?: number | CdistOptions,
    computeMode?: string | null | CdistOptions,
    options?: CdistOptions,
  ): T;
  /** Distances between all pairs of rows, i < j, as `nn.functional.pdist`. */
  pdist(self: T, p?: number | PdistOptions, options?: PdistOptions): T;
  /**
   * The mean over pairs of a wanted class and another of max(0, 1 − x[wanted] + x[other]), as
   * `nn.functional.multilabel_margin_loss`; each row of targets ends at its first −1.
   */
  multilabelMarginLoss(
    self: T,
    target: T,
    sizeAverage?: boolean | null | MultilabelMarginLossOptions,
    reduce?: boolean | null | MultilabelMarginLossOptions,
    reduction?: "none" | "mean" | "sum" | MultilabelMarginLossOptions,
    options?: MultilabelMarginLossOptions,
  ): T;
  /**
   * The cross entropy of the linear map of inputs [N, in] by a weight [C, …, in], as
   * `nn.functional.linear_cross_entropy`.
   */
  linearCrossEntropy(input: T, linearWeight: T, target: T, options?: LinearCrossEntropyOptions<T>): T;
  /**
   * Minus the log-probability of targets under log-probabilities [time, batch, classes] over all alignments
   * with blanks, as `nn.functional.ctc_loss`; targets are padded rows, or all in one vector. Computed on
   * the host.
   */
  ctcLoss(
    logProbs: T,
    targets: T,
    inputLengths: T,
    targetLengths: T,
    blank?: number | CtcLossOptions,
    reduction?: "none" | "mean" | "sum" | CtcLossOptions,
    zeroInfinity?: boolean | CtcLossOptions,
    options?: CtcLossOptions,
  ): T;
  /** The loss of each sequence, and its gradient. */
  ctcLosses(
    logProbs: T,
    targets: T,
    inputLengths: T,
    targetLengths: T,
    blank: number,
  ): Results<T, ["losses", "slopes"]>;
  /** Chebyshev's polynomial of the first kind of degree n at x, as `torch.special.chebyshev_polynomial_t`. */
  chebyshevPolynomialT(x: Operand<T>, n: Operand<T>): T;
  /** Chebyshev's polynomial of the second kind of degree n at x, as `torch.special.chebyshev_polynomial_u`. */
  chebyshevPolynomialU(x: Operand<T>, n: Operand<T>): T;
  /** Chebyshev's polynomial of the third kind of degree n at x, as `torch.special.chebyshev_polynomial_v`. */
  chebyshevPolynomialV(x: Operand<T>, n: Operand<T>): T;
  /** Chebyshev's polynomial of the fourth kind of degree n at x, as `torch.special.chebyshev_polynomial_w`. */
  chebyshevPolynomialW(x: Operand<T>, n: Operand<T>): T;
  /** The physicists' Hermite polynomial of degree n at x, as `torch.special.hermite_polynomial_h`. */
  hermitePolynomialH(x: Operand<T>, n: Operand<T>): T;
  /** The probabilists' Hermite polynomial of degree n at x, as `torch.special.hermite_polynomial_he`. */
  hermitePolynomialHe(x: Operand<T>, n: Operand<T>): T;
  /** Laguerre's polynomial of degree n at x, as `torch.special.laguerre_polynomial_l`. */
  laguerrePolynomialL(x: Operand<T>, n: Operand<T>): T;
  /** Legendre's polynomial of degree n at x, as `torch.special.legendre_polynomial_p`. */
  legendrePolynomialP(x: Operand<T>, n: Operand<T>): T;
  /**
   * Chebyshev's polynomial of the first kind, shifted to [0, 1], of degree n at x, as
   * `torch.special.shifted_chebyshev_polynomial_t`.
   */
  shiftedChebyshevPolynomialT(x: Operand<T>, n: Operand<T>): T;
  /**
   * Chebyshev's polynomial of the second kind, shifted to [0, 1], of degree n at x, as
   * `torch.special.shifted_chebyshev_polynomial_u`.
   */
  shiftedChebyshevPolynomialU(x: Operand<T>, n: Operand<T>): T;
  /**
   * Chebyshev's polynomial of the third kind, shifted to [0, 1], of degree n at x, as
   * `torch.special.shifted_chebyshev_polynomial_v`.
   */
  shiftedChebyshevPolynomialV(x: Operand<T>, n: Operand<T>): T;
  /**
   * Chebyshev's polynomial of the fourth kind, shifted to [0, 1], of degree n at x, as
   * `torch.special.shifted_chebyshev_polynomial_w`.
   */
  shiftedChebyshevPolynomialW(x: Operand<T>, n: Operand<T>): T;
  /** The greatest common divisor, as `torch.gcd`. */
  gcd(self: T, other: T): T;
  /** The least common multiple, as `torch.lcm`. */
  lcm(self: T, other: T): T;
  /** The norm of matrices (fro, nuc, ±1, ±2, ±∞), as `torch.linalg.matrix_norm`. */
  matrixNorm(
    A: T,
    ord?: Scalar | string | MatrixNormOptions,
    dim?: number | readonly number[] | MatrixNormOptions,
    keepdim?: boolean | MatrixNormOptions,
    options?: MatrixNormOptions,
  ): T;
  /** The norm of vectors, or of matrices where two dims and an order are given, as `torch.linalg.norm`. */
  linalgNorm(
    A: T,
    ord?: Scalar | string | null | LinalgNormOptions,
    dim?: number | readonly number[] | null | LinalgNormOptions,
    keepdim?: boolean | LinalgNormOptions,
    options?: LinalgNormOptions,
  ): T;
  /** The diagonals of matrices, or of two other dimensions, as `torch.linalg.diagonal`. */
  linalgDiagonal(A: T, options?: LinalgDiagonalOptions): T;
  /** The cross product of vectors of three elements, as `torch.cross`. */
  cross(self: T, other: T, dim?: number | null | CrossOptions, options?: CrossOptions): T;
  /** The cross product of vectors of three elements, as `torch.cross`. */
  linalgCross(self: T, other: T, dim?: number | null | LinalgCrossOptions, options?: LinalgCrossOptions): T;
  /** Sums of products along a dimension, as `torch.linalg.vecdot`. */
  vecdot(x: T, y: T, dim?: number | VecdotOptions, options?: VecdotOptions): T;
  /** The product of several matrices (the first and last may be vectors), as `torch.linalg.multi_dot`. */
  multiDot(tensors: readonly T[]): T;
  /** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
  inv(A: T): T;
  /** Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host. */
  slogdet(A: T): Results<T, ["sign", "logabsdet"]>;
  /** The results of slogdet for complex matrices; complex numbers are pairs of parts. */
  slogdetPairs(A: T): Results<T, ["sign", "logabsdet"]>;
  /** Determinants of square matrices, as `torch.det`. */
  det(A: T): T;
  /** Logarithms of determinants of square matrices, as `torch.logdet`. */
  logdet(A: T): T;
  /** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
  matrixPower(A: T, n: number): T;
  /** The same call in another form. */
  matrixPower(A: T, named: { readonly n: number }): T;
  /** Powers 0 … N − 1 of each element in a new last dimension, as `torch.linalg.vander`. */
  vander(x: T, N?: number | null | VanderOptions, options?: VanderOptions): T;
  /** X with A · X = B, or X · A = B where `left` is false, as `torch.linalg.solve`. Computed on the host. */
  solve(A: T, B: T, options?: SolveOptions): T;
  /** The result of linalg.solve and zeros, as `torch.linalg.solve_ex`; a singular matrix is an error. */
  solveEx(A: T, B: T, options?: SolveExOptions): Results<T, ["result", "info"]>;
  /** The inverses of square matrices and zeros, as `torch.linalg.inv_ex`; a singular one is an error. */
  invEx(A: T, options?: InvExOptions): Results<T, ["inverse", "info"]>;
  /** The inverse of the map from the last dimensions to the first `ind`, as `torch.linalg.tensorinv`. */
  tensorinv(A: T, ind?: number | TensorinvOptions, options?: TensorinvOptions): T;
  /** Integers, of which none may be negative. */
  frequencies(self: T): T;
  /** The covariance of rows over columns, with frequencies and weights, as `torch.cov`. */
  cov(self: T, options?: CovOptions<T>): T;
  /** The correlation of rows over columns, as `torch.corrcoef`. */
  corrcoef(self: T): T;
  /** U, S and Vh with A = U · diag(S) · Vh, as many columns and rows as there are values. */
  singularFactors(A: T): Results<T, ["U", "S", "Vh"]>;
  /** The results of singularFactors for complex matrices; complex numbers are pairs of parts. */
  singularPairs(A: T): Results<T, ["U", "S", "Vh"]>;
  /** Singular values in descending order, as `torch.linalg.svdvals`. Computed on the host. */
  svdvals(A: T): T;
  /** The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`. */
  aminmax(self: T, options?: AminmaxOptions): Results<T, ["min", "max"]>;
  /**
   * The most frequent element along a dimension, the least where several are, and its last index. As
   * `torch.mode`.
   */
  mode(
    self: T,
    dim?: number | ModeOptions,
    keepdim?: boolean | ModeOptions,
    options?: ModeOptions,
  ): Results<T, ["values", "indices"]>;
  /** The number of elements in each of `bins` equal parts of [min, max], as `torch.histc`. */
  histc(
    self: T,
    bins?: number | HistcOptions,
    min?: number | HistcOptions,
    max?: number | HistcOptions,
    options?: HistcOptions,
  ): T;
  /** Flat indices as one index for each dimension of a shape, as `torch.unravel_index`. */
  unravelIndex(indices: T, shape: readonly number[]): T[];
  /** The same call in another form. */
  unravelIndex(indices: T, named: { readonly shape: readonly number[] }): T[];
  /** All choices of r elements of a vector, one a row, as `torch.combinations`. */
  combinations(
    self: T,
    r?: number | CombinationsOptions,
    withReplacement?: boolean | CombinationsOptions,
    options?: CombinationsOptions,
  ): T;
  /** All choices of r of n positions, one a row. */
  choiceIndices(n: number, r: number, repeat: boolean, options?: ChoiceIndicesOptions): T;
  /** The edges of bins of equal width over a range, by default that of the elements. */
  binEdges(
    self: T,
    bins: number,
    range?: number | readonly number[] | null | BinEdgesOptions,
    options?: BinEdgesOptions,
  ): T;
  /** The number of points [count, dimensions] in each cell between edges, or the sum of their weights. */
  binnedSums(
    points: T,
    edges: readonly T[],
    weight: T | null | undefined,
    density: boolean,
    options?: BinnedSumsOptions<T>,
  ): T;
  /**
   * The number of elements in each bin, and the bins' edges, as `torch.histogram`: `bins` of equal width
   * over a range (by default that of the elements), or between given edges.
   */
  histogram(self: T, bins: Operand<T>, options?: HistogramOptions<T>): Results<T, ["hist", "binEdges"]>;
  /** X with A · X = B for triangular A of the same leading dimensions as B. */
  backSubstitution(A: T, B: T, upper: boolean, unitriangular: boolean): T;
  /**
   * X with A · X = B, or X · A = B where `left` is false, for triangular A, as
   * `torch.linalg.solve_triangular`. Computed on the host.
   */
  solveTriangular(A: T, B: T, upper: boolean, options?: SolveTriangularOptions): T;
  /** The same call in another form. */
  solveTriangular(A: T, B: T, named: { readonly upper: boolean } & SolveTriangularOptions): T;
  /** X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host. */
  triangularSolve(
    self: T,
    A: T,
    upper?: boolean | TriangularSolveOptions,
    transpose?: boolean | TriangularSolveOptions,
    unitriangular?: boolean | TriangularSolveOptions,
    options?: TriangularSolveOptions,
  ): Results<T, ["solution", "cloned_coefficient"]>;
  /** Lower Cholesky factors, and the orders of the first leading minors that are not positive. */
  choleskyFactor(A: T, checkErrors: boolean): Results<T, ["L", "info"]>;
  /** The results of choleskyFactor for complex matrices; complex numbers are pairs of parts. */
  choleskyPairs(A: T, checkErrors: boolean): Results<T, ["L", "info"]>;
  /**
   * Cholesky factors, and the order of the first leading minor that is not positive, 0 for none, as
   * `torch.linalg.cholesky_ex`. Computed on the host.
   */
  choleskyEx(A: T, options?: CholeskyExOptions): Results<T, ["L", "info"]>;
  /**
   * L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on
   * the host.
   */
  cholesky(A: T, upper?: boolean | CholeskyOptions, options?: CholeskyOptions): T;
  /**
   * The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the
   * host.
   */
  choleskyInverse(L: T, upper?: boolean | CholeskyInverseOptions, options?: CholeskyInverseOptions): T;
  /**
   * X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on
   * the host.
   */
  choleskySolve(self: T, L: T, upper?: boolean | CholeskySolveOptions, options?: CholeskySolveOptions): T;
  /** Q and R of matrices with at least as many rows as columns, reduced. */
  tallQr(A: T): Results<T, ["Q", "R"]>;
  /** The results of tallQr for complex matrices; complex numbers are pairs of parts. */
  tallQrPairs(A: T): Results<T, ["Q", "R"]>;
  /** Q with as many columns as rows, and R, of matrices with more rows than columns. */
  completeQr(A: T): Results<T, ["Q", "R"]>;
  /** The results of completeQr for complex matrices; complex numbers are pairs of parts. */
  completeQrPairs(A: T): Results<T, ["Q", "R"]>;
  /**
   * Q with orthonormal columns and upper triangular R with A = Q · R, as `torch.linalg.qr`; mode "complete"
   * gives all columns of Q, "r" none. Computed on the host.
   */
  qr(A: T, mode?: "reduced" | "complete" | "r" | QrOptions, options?: QrOptions): Results<T, ["Q", "R"]>;
  /** Eigenvalues and eigenvectors of symmetric matrices, by their lower triangles. */
  symmetricEigen(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  /** The results of symmetricEigen for complex matrices; complex numbers are pairs of parts. */
  hermitianPairs(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  /**
   * Ascending eigenvalues and eigenvectors of symmetric or Hermitian matrices, as `torch.linalg.eigh`;
   * gradients need distinct values. Computed on the host.
   */
  eigh(
    A: T,
    UPLO?: "L" | "U" | EighOptions,
    options?: EighOptions,
  ): Results<T, ["eigenvalues", "eigenvectors"]>;
  /**
   * Ascending eigenvalues of symmetric or Hermitian matrices, as `torch.linalg.eigvalsh`. Computed on the
   * host.
   */
  eigvalsh(A: T, UPLO?: "L" | "U" | EigvalshOptions, options?: EigvalshOptions): T;
  /** Eigenvalues and eigenvectors as pairs of parts, of real matrices or, where `paired`, of such pairs. */
  eigenPairs(
    A: T,
    paired?: boolean | EigenPairsOptions,
    options?: EigenPairsOptions,
  ): Results<T, ["eigenvalues", "eigenvectors"]>;
  /**
   * Complex eigenvalues and eigenvectors of square matrices, as `torch.linalg.eig`. Vectors have length 1,
   * and their largest element is real and positive. Gradients need distinct values, and a loss that does
   * not depend on the phase of vectors. Computed on the host.
   */
  eig(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  /**
   * Complex eigenvalues of square matrices, as `torch.linalg.eigvals`. Gradients need distinct values.
   * Computed on the host.
   */
  eigvals(A: T): T;
  /** Extreme eigenvalues and eigenvectors of symmetric matrices, searched from vectors X on. */
  extremePairs(
    A: T,
    X: T,
    B: T | null | undefined,
    iK: T | null | undefined,
    niter: number,
    tol: number,
    largest: boolean,
    options?: ExtremePairsOptions<T>,
  ): Results<T, ["E", "X"]>;
  /**
   * The k largest (or smallest) eigenvalues of symmetric positive definite matrices and their vectors, of
   * the generalised problem A · x = e · B · x where B is given, as `torch.lobpcg`. X are vectors to begin
   * with (random ones otherwise, n of them), iK is a preconditioner; it ends after `niter` steps, or where
   * residuals are below `tol`. Gradients need distinct values and no B. Computed on the host.
   */
  lobpcg(
    A: T,
    k?: number | null | LobpcgOptions<T>,
    B?: T | null | LobpcgOptions<T>,
    X?: T | null | LobpcgOptions<T>,
    n?: number | null | LobpcgOptions<T>,
    iK?: T | null | LobpcgOptions<T>,
    niter?: number | null | LobpcgOptions<T>,
    tol?: number | null | LobpcgOptions<T>,
    largest?: boolean | LobpcgOptions<T>,
    options?: LobpcgOptions<T>,
  ): Results<T, ["E", "X"]>;
  /**
   * U, S and V with A − M ≈ U · diag(S) · Vᵀ for the q largest singular values, found from random vectors
   * that go `niter` times through the matrix and back, as `torch.svd_lowrank`. Computed on the host.
   */
  svdLowrank(
    A: T,
    q?: number | SvdLowrankOptions<T>,
    niter?: number | SvdLowrankOptions<T>,
    M?: T | null | SvdLowrankOptions<T>,
    options?: SvdLowrankOptions<T>,
  ): Results<T, ["U", "S", "V"]>;
  /**
   * Principal components of rows: U, S and V with A ≈ U · diag(S) · Vᵀ after, where `center` says so, the
   * means of columns were taken away, as `torch.pca_lowrank`. Computed on the host.
   */
  pcaLowrank(
    A: T,
    q?: number | null | PcaLowrankOptions,
    center?: boolean | PcaLowrankOptions,
    niter?: number | PcaLowrankOptions,
    options?: PcaLowrankOptions,
  ): Results<T, ["U", "S", "V"]>;
  /**
   * L and U in one matrix, pivots and the first zero on the diagonal, as `torch.linalg.lu_factor_ex`.
   * Computed on the host.
   */
  luFactorEx(A: T, options?: LuFactorExOptions): Results<T, ["LU", "pivots", "info"]>;
  /** The results of luFactorEx for complex matrices; complex numbers are pairs of parts. */
  luFactorPairs(A: T, options?: LuFactorPairsOptions): Results<T, ["LU", "pivots", "info"]>;
  /** The matrices P with A = P · L · U, of pivots. */
  permutationOf(pivots: T, rows: number, options?: PermutationOfOptions): T;
  /** L and U in one matrix and pivots, as `torch.linalg.lu_factor`. Computed on the host. */
  luFactor(A: T, options?: LuFactorOptions): Results<T, ["LU", "pivots"]>;
  /**
   * P, L and U of matrices decomposed by luFactor, as `torch.lu_unpack`; those that are not requested are
   * empty. P is made on the host.
   */
  luUnpack(
    LUData: T,
    LUPivots: T,
    unpackData?: boolean | LuUnpackOptions,
    unpackPivots?: boolean | LuUnpackOptions,
    options?: LuUnpackOptions,
  ): Results<T, ["P", "L", "U"]>;
  /** P, L and U with A = P · L · U, as `torch.linalg.lu`; without `pivot` P is empty. Computed on the host. */
  linalgLu(A: T, options?: LinalgLuOptions): Results<T, ["P", "L", "U"]>;
  /**
   * L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`.
   * Computed on the host.
   */
  lu(
    self: T,
    pivot?: boolean | LuOptions,
    getInfos?: boolean | LuOptions,
    options?: LuOptions,
  ): Results<T, ["LU", "pivots", "infos"]>;
  /**
   * X with A · X = B, X · A = B where `left` is false, or of Aᴴ where `adjoint` is true, for A decomposed
   * by luFactor, as `torch.linalg.lu_solve`. Computed on the host.
   */
  linalgLuSolve(LU: T, pivots: T, B: T, options?: LinalgLuSolveOptions): T;
  /** X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host. */
  luSolve(self: T, LUData: T, LUPivots: T): T;
  /**
   * U, S and Vh with A = U · diag(S) · Vh, values descending, as `torch.linalg.svd`; without `fullMatrices`
   * as many columns and rows as there are values. Gradients need distinct values, and none reaches the rest
   * of full matrices. Computed on the host.
   */
  linalgSvd(
    A: T,
    fullMatrices?: boolean | LinalgSvdOptions,
    options?: LinalgSvdOptions,
  ): Results<T, ["U", "S", "Vh"]>;
  /**
   * U, S and V with A = U · diag(S) · Vᴴ, values descending, as `torch.svd`: without `some` full matrices,
   * without `computeUv` zeros for them. Computed on the host.
   */
  svd(
    self: T,
    some?: boolean | SvdOptions,
    computeUv?: boolean | SvdOptions,
    options?: SvdOptions,
  ): Results<T, ["U", "S", "V"]>;
  /** Pseudoinverses of matrices of which singular values below a bound count as 0. */
  pseudoinverse(A: T, bound: T, hermitian: boolean): T;
  /**
   * Pseudoinverses, as `torch.linalg.pinv`; rtol is by default the larger size times the type's epsilon.
   * Computed on the host.
   */
  pinv(A: T, rcond?: Operand<T> | null | PinvOptions<T>, options?: PinvOptions<T>): T;
  /** Pseudoinverses, as `torch.pinverse`. Computed on the host. */
  pinverse(A: T, rcond?: number | PinverseOptions, options?: PinverseOptions): T;
  /** The number of singular values that are not 0, as `torch.linalg.matrix_rank`. Computed on the host. */
  matrixRank(A: T, tol?: Operand<T> | null | MatrixRankOptions<T>, options?: MatrixRankOptions<T>): T;
  /**
   * Condition numbers by a norm, by default by singular values, as `torch.linalg.cond`. Computed on the
   * host.
   */
  cond(A: T, p?: Scalar | string | null | CondOptions, options?: CondOptions): T;
  /**
   * X that minimises |A · X − B|, residuals, ranks and singular values, as `torch.linalg.lstsq`; empty
   * where PyTorch's driver does not compute them. Computed on the host.
   */
  lstsq(
    A: T,
    B: T,
    rcond?: number | null | LstsqOptions,
    options?: LstsqOptions,
  ): Results<T, ["solution", "residuals", "rank", "singular_values"]>;
  /**
   * X with tensordot(A, X, X.ndim) = B, after `dims` of A are moved to its end, as
   * `torch.linalg.tensorsolve`.
   */
  tensorsolve(
    A: T,
    B: T,
    dims?: readonly number[] | null | TensorsolveOptions,
    options?: TensorsolveOptions,
  ): T;
  /** e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host. */
  matrixExp(A: T): T;
  /** R and the reflections that make Q, as `torch.geqrf`. Computed on the host. */
  geqrf(self: T): Results<T, ["a", "tau"]>;
  /**
   * The first columns of the product of Householder reflections, as `torch.linalg.householder_product`.
   * Computed on the host in part.
   */
  householderProduct(A: T, tau: T): T;
  /**
   * The product of Householder reflections, Q, or its transpose, times `other`, or from its right where
   * `left` is false, as `torch.ormqr`. Computed on the host in part.
   */
  ormqr(
    self: T,
    tau: T,
    other: T,
    left?: boolean | OrmqrOptions,
    transpose?: boolean | OrmqrOptions,
    options?: OrmqrOptions,
  ): T;
  /**
   * L and D of symmetric matrices in one, pivots and the first pivot that is 0, as
   * `torch.linalg.ldl_factor_ex`. Computed on the host.
   */
  ldlFactorEx(A: T, options?: LdlFactorExOptions): Results<T, ["LD", "pivots", "info"]>;
  /** L and D of symmetric matrices in one, and pivots, as `torch.linalg.ldl_factor`. Computed on the host. */
  ldlFactor(A: T, options?: LdlFactorOptions): Results<T, ["LD", "pivots"]>;
  /** X with A · X = B for A decomposed by ldlFactor, as `torch.linalg.ldl_solve`. Computed on the host. */
  ldlSolve(LD: T, pivots: T, B: T, options?: LdlSolveOptions): T;
  /** ldlSolve of tensors with the same leading dimensions. */
  ldlSolutions(LD: T, pivots: T, B: T): T;
  /**
   * The positive square roots of symmetric positive-definite matrices, as `torch.linalg.matrix_sqrth`.
   * Computed on the host.
   */
  matrixSqrth(A: T): T;
  /**
   * U with orthonormal columns and symmetric positive H with A = U · H, of matrices with no fewer rows than
   * columns, as `torch.linalg.polar`. Computed on the host.
   */
  linalgPolar(A: T): Results<T, ["U", "H"]>;
  /** π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors. */
  angle(self: T): T;
  /** Mantissas in [½, 1) and exponents of 2, as `torch.frexp`. */
  frexp(self: T): Results<T, ["mantissa", "exponent"]>;
  /** The next float after self towards other, as `torch.nextafter`. */
  nextafter(self: T, other: T): T;
  /** layerNorm with the mean and 1/deviation of each sample, as `torch.native_layer_norm`. */
  nativeLayerNorm(
    self: T,
    normalizedShape: readonly Dim[],
    weight: T | null | undefined,
    bias: T | null | undefined,
    eps: number,
    options?: NativeLayerNormOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  /** The same call in another form. */
  nativeLayerNorm(
    self: T,
    named: { readonly normalizedShape: readonly Dim[]; readonly eps: number } & NativeLayerNormOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  /** groupNorm with the mean and 1/deviation of each group, as `torch.native_group_norm`. */
  nativeGroupNorm(
    self: T,
    weight: T | null | undefined,
    bias: T | null | undefined,
    n: Dim,
    c: Dim,
    hxw: Dim,
    group: number,
    eps: number,
    options?: NativeGroupNormOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  /**
   * batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but without
   * updating running statistics.
   */
  nativeBatchNorm(
    self: T,
    weight: T | null | undefined,
    bias: T | null | undefined,
    runningMean: T | null | undefined,
    runningVar: T | null | undefined,
    training: boolean,
    momentum: number,
    eps: number,
    options?: NativeBatchNormOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  /** grad · mask · scale, as `torch.native_dropout_backward`. */
  nativeDropoutBackward(gradOutput: T, mask: T, scale: number): T;
  /** The same call in another form. */
  nativeDropoutBackward(gradOutput: T, mask: T, named: { readonly scale: number }): T;
  /** The product of an n × k and a k × m matrix, as `torch.mm`. */
  mm(self: T, mat2: T): T;
  /** Products of b × n × k and b × k × m matrices, as `torch.bmm`. */
  bmm(self: T, mat2: T): T;
  /** A matrix times a vector, as `torch.mv`. */
  mv(self: T, vec: T): T;
  /** The sum of products of two vectors, as `torch.dot`. */
  dot(self: T, tensor: T): T;
  /** The product of matrices, vectors and broadcast batches of matrices, as `torch.matmul`. */
  matmul(self: T, other: T): T;
  /** beta · input + alpha · the product of the other two, as `torch.addmm`; mat2 is the second factor. */
  addmm(self: T, first: T, second: T, options?: AddmmOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addmv`; vec is the second factor. */
  addmv(self: T, first: T, second: T, options?: AddmvOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.baddbmm`; batch2 is the second factor. */
  baddbmm(self: T, first: T, second: T, options?: BaddbmmOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addbmm`; batch2 is the second factor. */
  addbmm(self: T, first: T, second: T, options?: AddbmmOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addr`; vec2 is the second factor. */
  addr(self: T, first: T, second: T, options?: AddrOptions): T;
  /** All products of elements of two vectors, as `torch.outer`. */
  outer(self: T, vec2: T): T;
  /** input · weightᵀ + bias, for weight of shape [out, in], as `nn.functional.linear`. */
  linear(input: T, weight: T, bias?: T | null | LinearOptions<T>, options?: LinearOptions<T>): T;
  /** Cross-correlation of [batch, channels, h, w] with [features, channels / groups, kh, kw]. */
  convolution(
    input: T,
    weight: T,
    bias: T | null | undefined,
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
    options?: ConvolutionOptions<T>,
  ): T;
  /** The gradient of a convolution in its input, of `inputSizes`. */
  convolutionBackwardInput(
    grad: T,
    weight: T,
    inputSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): T;
  /** The gradient of a convolution in its weight, of `weightSizes`. */
  convolutionBackwardWeight(
    grad: T,
    input: T,
    weightSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): T;
  /**
   * Cross-correlation over 1 dimension(s), with or without a batch; padding may be "same" or "valid". As
   * `nn.functional.conv1d`.
   */
  conv1d(
    input: T,
    weight: T,
    bias?: T | null | Conv1dOptions<T>,
    stride?: number | readonly number[] | Conv1dOptions<T>,
    padding?: number | readonly number[] | string | Conv1dOptions<T>,
    dilation?: number | readonly number[] | Conv1dOptions<T>,
    groups?: number | Conv1dOptions<T>,
    options?: Conv1dOptions<T>,
  ): T;
  /**
   * Cross-correlation over 2 dimension(s), with or without a batch; padding may be "same" or "valid". As
   * `nn.functional.conv2d`.
   */
  conv2d(
    input: T,
    weight: T,
    bias?: T | null | Conv2dOptions<T>,
    stride?: number | readonly number[] | Conv2dOptions<T>,
    padding?: number | readonly number[] | string | Conv2dOptions<T>,
    dilation?: number | readonly number[] | Conv2dOptions<T>,
    groups?: number | Conv2dOptions<T>,
    options?: Conv2dOptions<T>,
  ): T;
  /**
   * Cross-correlation over 3 dimension(s), with or without a batch; padding may be "same" or "valid". As
   * `nn.functional.conv3d`.
   */
  conv3d(
    input: T,
    weight: T,
    bias?: T | null | Conv3dOptions<T>,
    stride?: number | readonly number[] | Conv3dOptions<T>,
    padding?: number | readonly number[] | string | Conv3dOptions<T>,
    dilation?: number | readonly number[] | Conv3dOptions<T>,
    groups?: number | Conv3dOptions<T>,
    options?: Conv3dOptions<T>,
  ): T;
  /** The transposed convolution over 1 dimension(s), as `nn.functional.conv_transpose1d`. */
  convTranspose1d(
    input: T,
    weight: T,
    bias?: T | null | ConvTranspose1dOptions<T>,
    stride?: number | readonly number[] | ConvTranspose1dOptions<T>,
    padding?: number | readonly number[] | ConvTranspose1dOptions<T>,
    outputPadding?: number | readonly number[] | ConvTranspose1dOptions<T>,
    groups?: number | ConvTranspose1dOptions<T>,
    dilation?: number | readonly number[] | ConvTranspose1dOptions<T>,
    options?: ConvTranspose1dOptions<T>,
  ): T;
  /** The transposed convolution over 2 dimension(s), as `nn.functional.conv_transpose2d`. */
  convTranspose2d(
    input: T,
    weight: T,
    bias?: T | null | ConvTranspose2dOptions<T>,
    stride?: number | readonly number[] | ConvTranspose2dOptions<T>,
    padding?: number | readonly number[] | ConvTranspose2dOptions<T>,
    outputPadding?: number | readonly number[] | ConvTranspose2dOptions<T>,
    groups?: number | ConvTranspose2dOptions<T>,
    dilation?: number | readonly number[] | ConvTranspose2dOptions<T>,
    options?: ConvTranspose2dOptions<T>,
  ): T;
  /** The transposed convolution over 3 dimension(s), as `nn.functional.conv_transpose3d`. */
  convTranspose3d(
    input: T,
    weight: T,
    bias?: T | null | ConvTranspose3dOptions<T>,
    stride?: number | readonly number[] | ConvTranspose3dOptions<T>,
    padding?: number | readonly number[] | ConvTranspose3dOptions<T>,
    outputPadding?: number | readonly number[] | ConvTranspose3dOptions<T>,
    groups?: number | ConvTranspose3dOptions<T>,
    dilation?: number | readonly number[] | ConvTranspose3dOptions<T>,
    options?: ConvTranspose3dOptions<T>,
  ): T;
  /** Sums of the `count` windows that cover a dimension. */
  adaptiveSum(self: T, dim: number, count: number): T;
  /** Gradients of windows given to each of their elements along a dimension of `size`. */
  adaptiveSumBackward(grad: T, dim: number, size: number): T;
  /** The number of elements of each of `count` windows that cover `size`. */
  windowLengths(like: T, size: number, count: number): T;
  /**
   * Means of windows that cover 1 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_avg_pool1d`.
   */
  adaptiveAvgPool1d(self: T, outputSize: number | readonly (number | null)[]): T;
  /** The same call in another form. */
  adaptiveAvgPool1d(self: T, named: { readonly outputSize: number | readonly (number | null)[] }): T;
  /**
   * Means of windows that cover 2 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_avg_pool2d`.
   */
  adaptiveAvgPool2d(self: T, outputSize: number | readonly (number | null)[]): T;
  /** The same call in another form. */
  adaptiveAvgPool2d(self: T, named: { readonly outputSize: number | readonly (number | null)[] }): T;
  /**
   * Means of windows that cover 3 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_avg_pool3d`.
   */
  adaptiveAvgPool3d(self: T, outputSize: number | readonly (number | null)[]): T;
  /** The same call in another form. */
  adaptiveAvgPool3d(self: T, named: { readonly outputSize: number | readonly (number | null)[] }): T;
  /** Maxima of the `count` windows that cover a dimension. */
  adaptiveMax(self: T, dim: number, count: number): T;
  /** Maxima of windows that cover the last dimensions, so many as `sizes` say. */
  adaptiveMaxima(self: T, sizes: readonly number[]): T;
  /** For each window over the last dimensions the flat place of its maximum in a window of `kernel`. */
  adaptiveMaxOffsets(self: T, sizes: readonly number[], kernel: readonly number[]): T;
  /** For each window over the last dimensions the flat index of its maximum among them. */
  adaptiveMaxIndices(self: T, sizes: readonly number[]): T;
  /**
   * Maxima of windows that cover 1 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_max_pool1d`.
   */
  adaptiveMaxPool1d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool1dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool1d(
    self: T,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool1dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool1d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool1dOptions,
  ): T;
  /** The same call in another form. */
  adaptiveMaxPool1d(
    self: T,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool1dOptions,
  ): T;
  /**
   * Maxima of windows that cover 2 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_max_pool2d`.
   */
  adaptiveMaxPool2d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool2dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool2d(
    self: T,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool2dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool2d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool2dOptions,
  ): T;
  /** The same call in another form. */
  adaptiveMaxPool2d(
    self: T,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool2dOptions,
  ): T;
  /**
   * Maxima of windows that cover 3 dimension(s), so many as the output size says, as
   * `nn.functional.adaptive_max_pool3d`.
   */
  adaptiveMaxPool3d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool3dOptions,
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool3d(
    self: T,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool3dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  /** The same call in another form. */
  adaptiveMaxPool3d(
    self: T,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool3dOptions,
  ): T;
  /** The same call in another form. */
  adaptiveMaxPool3d(
    self: T,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool3dOptions,
  ): T;
  /** Values at the indices that maxPool1d returned, zeros elsewhere, as `nn.functional.max_unpool1d`. */
  maxUnpool1d(
    self: T,
    indices: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool1dOptions,
    padding?: number | readonly number[] | MaxUnpool1dOptions,
    outputSize?: readonly number[] | null | MaxUnpool1dOptions,
    options?: MaxUnpool1dOptions,
  ): T;
  /** The same call in another form. */
  maxUnpool1d(
    self: T,
    indices: T,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool1dOptions,
  ): T;
  /** Values at the indices that maxPool2d returned, zeros elsewhere, as `nn.functional.max_unpool2d`. */
  maxUnpool2d(
    self: T,
    indices: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool2dOptions,
    padding?: number | readonly number[] | MaxUnpool2dOptions,
    outputSize?: readonly number[] | null | MaxUnpool2dOptions,
    options?: MaxUnpool2dOptions,
  ): T;
  /** The same call in another form. */
  maxUnpool2d(
    self: T,
    indices: T,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool2dOptions,
  ): T;
  /** Values at the indices that maxPool3d returned, zeros elsewhere, as `nn.functional.max_unpool3d`. */
  maxUnpool3d(
    self: T,
    indices: T,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool3dOptions,
    padding?: number | readonly number[] | MaxUnpool3dOptions,
    outputSize?: readonly number[] | null | MaxUnpool3dOptions,
    options?: MaxUnpool3dOptions,
  ): T;
  /** The same call in another form. */
  maxUnpool3d(
    self: T,
    indices: T,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool3dOptions,
  ): T;
  /** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
  softmax(self: T, dim: number, dtype?: DType | null | SoftmaxOptions, options?: SoftmaxOptions): T;
  /** The same call in another form. */
  softmax(self: T, named: { readonly dim: number } & SoftmaxOptions): T;
  /** softmax, but 0 in rows that are −∞ everywhere, and so are their gradients, as `torch._safe_softmax`. */
  safeSoftmax(
    self: T,
    dim: number,
    dtype?: DType | null | SafeSoftmaxOptions,
    options?: SafeSoftmaxOptions,
  ): T;
  /** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
  logSoftmax(self: T, dim: number, dtype?: DType | null | LogSoftmaxOptions, options?: LogSoftmaxOptions): T;
  /** The same call in another form. */
  logSoftmax(self: T, named: { readonly dim: number } & LogSoftmaxOptions): T;
  /** softmax(−self) along `dim`, as `nn.functional.softmin`. */
  softmin(self: T, dim: number, dtype?: DType | null | SoftminOptions, options?: SoftminOptions): T;
  /** The same call in another form. */
  softmin(self: T, named: { readonly dim: number } & SoftminOptions): T;
  /**
   * Normalised over the last dimensions `normalizedShape`, then scaled and shifted, as
   * `nn.functional.layer_norm`.
   */
  layerNorm(
    self: T,
    normalizedShape: readonly Dim[],
    weight?: T | null | LayerNormOptions<T>,
    bias?: T | null | LayerNormOptions<T>,
    eps?: number | LayerNormOptions<T>,
    options?: LayerNormOptions<T>,
  ): T;
  /** The same call in another form. */
  layerNorm(self: T, named: { readonly normalizedShape: readonly Dim[] } & LayerNormOptions<T>): T;
  /** self / √(mean self² + eps) over the last dimensions, times weight, as `nn.functional.rms_norm`. */
  rmsNorm(
    self: T,
    normalizedShape: readonly Dim[],
    weight?: T | null | RmsNormOptions<T>,
    eps?: number | null | RmsNormOptions<T>,
    options?: RmsNormOptions<T>,
  ): T;
  /** The same call in another form. */
  rmsNorm(self: T, named: { readonly normalizedShape: readonly Dim[] } & RmsNormOptions<T>): T;
  /** [N, C, ...] normalised over groups of channels, as `nn.functional.group_norm`. */
  groupNorm(
    self: T,
    numGroups: number,
    weight?: T | null | GroupNormOptions<T>,
    bias?: T | null | GroupNormOptions<T>,
    eps?: number | GroupNormOptions<T>,
    options?: GroupNormOptions<T>,
  ): T;
  /** The same call in another form. */
  groupNorm(self: T, named: { readonly numGroups: number } & GroupNormOptions<T>): T;
  /**
   * [N, C, ...] normalised over each image of each channel, as `nn.functional.instance_norm`; with
   * `useInputStats` false by the running statistics.
   */
  instanceNorm(
    self: T,
    runningMean?: T | null | InstanceNormOptions<T>,
    runningVar?: T | null | InstanceNormOptions<T>,
    weight?: T | null | InstanceNormOptions<T>,
    bias?: T | null | InstanceNormOptions<T>,
    useInputStats?: boolean | InstanceNormOptions<T>,
    momentum?: number | InstanceNormOptions<T>,
    eps?: number | InstanceNormOptions<T>,
    options?: InstanceNormOptions<T>,
  ): T;
  /**
   * [N, C, ...] normalised by the batch's own statistics, which are results too: `mean` and the unbiased
   * `variance`, both [C]. nn.functional.batchNorm updates its running statistics with them.
   */
  batchNormTraining(
    self: T,
    weight?: T | null | BatchNormTrainingOptions<T>,
    bias?: T | null | BatchNormTrainingOptions<T>,
    eps?: number | BatchNormTrainingOptions<T>,
    options?: BatchNormTrainingOptions<T>,
  ): Results<T, ["output", "mean", "variance"]>;
  /** [N, C, ...] normalised by running statistics [C]. */
  batchNormInference(
    self: T,
    runningMean: T,
    runningVar: T,
    weight?: T | null | BatchNormInferenceOptions<T>,
    bias?: T | null | BatchNormInferenceOptions<T>,
    eps?: number | BatchNormInferenceOptions<T>,
    options?: BatchNormInferenceOptions<T>,
  ): T;
  /** (self − target)², as `nn.functional.mse_loss`. */
  mseLoss(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | MseLossOptions<T>,
    weight?: T | null | MseLossOptions<T>,
    options?: MseLossOptions<T>,
  ): T;
  /** |self − target|, as `nn.functional.l1_loss`. */
  l1Loss(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | L1LossOptions<T>,
    weight?: T | null | L1LossOptions<T>,
    options?: L1LossOptions<T>,
  ): T;
  /** d² / (2 beta) where d = |self − target| < beta, else d − beta / 2, as `nn.functional.smooth_l1_loss`. */
  smoothL1Loss(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | SmoothL1LossOptions,
    beta?: number | SmoothL1LossOptions,
    options?: SmoothL1LossOptions,
  ): T;
  /** d² / 2 where d = |self − target| ≤ delta, else delta · (d − delta / 2), as `nn.functional.huber_loss`. */
  huberLoss(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | HuberLossOptions<T>,
    delta?: number | HuberLossOptions<T>,
    weight?: T | null | HuberLossOptions<T>,
    options?: HuberLossOptions<T>,
  ): T;
  /** log(1 + exp(−target · self)), as `nn.functional.soft_margin_loss`. */
  softMarginLoss(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | SoftMarginLossOptions,
    options?: SoftMarginLossOptions,
  ): T;
  /**
   * −weight[target] · self[target] of log-probabilities [N, C, ...] and class indices [N, ...], as
   * `nn.functional.nll_loss`.
   */
  nllLoss(
    self: T,
    target: T,
    weight?: T | null | NllLossOptions<T>,
    ignoreIndex?: number | NllLossOptions<T>,
    reduction?: "none" | "mean" | "sum" | NllLossOptions<T>,
    options?: NllLossOptions<T>,
  ): T;
  /**
   * Cross entropy of softmax(self) over the classes of logits [N, C, ...] against class indices [N, ...] or
   * probabilities [N, C, ...], as `nn.functional.cross_entropy`.
   */
  crossEntropy(
    self: T,
    target: T,
    weight?: T | null | CrossEntropyOptions<T>,
    ignoreIndex?: number | CrossEntropyOptions<T>,
    reduction?: "none" | "mean" | "sum" | CrossEntropyOptions<T>,
    labelSmoothing?: number | CrossEntropyOptions<T>,
    options?: CrossEntropyOptions<T>,
  ): T;
  /**
   * −(target · log self + (1 − target) · log(1 − self)) of probabilities, logarithms not below −100, as
   * `nn.functional.binary_cross_entropy`. Elements outside of [0, 1] are refused in eager calls on the CPU;
   * in compiled functions and on other devices they give NaN.
   */
  binaryCrossEntropy(
    self: T,
    target: T,
    weight?: T | null | BinaryCrossEntropyOptions<T>,
    reduction?: "none" | "mean" | "sum" | BinaryCrossEntropyOptions<T>,
    options?: BinaryCrossEntropyOptions<T>,
  ): T;
  /**
   * Binary cross entropy of sigmoid(self), without overflow for large logits; `posWeight` scales the
   * positive part. As `nn.functional.binary_cross_entropy_with_logits`.
   */
  binaryCrossEntropyWithLogits(
    self: T,
    target: T,
    weight?: T | null | BinaryCrossEntropyWithLogitsOptions<T>,
    reduction?: "none" | "mean" | "sum" | BinaryCrossEntropyWithLogitsOptions<T>,
    posWeight?: T | null | BinaryCrossEntropyWithLogitsOptions<T>,
    options?: BinaryCrossEntropyWithLogitsOptions<T>,
  ): T;
  /** target · (log target − self) of log-probabilities `self`, as `nn.functional.kl_div`. */
  klDiv(
    self: T,
    target: T,
    reduction?: "none" | "mean" | "sum" | "batchmean" | KlDivOptions,
    logTarget?: boolean | KlDivOptions,
    options?: KlDivOptions,
  ): T;
  /** The elements on another device, as `Tensor.to(device)`. */
  toDevice(self: T, device: DeviceName): T;
  /**
   * A complex tensor of shape [...] as a real one of shape [..., 2] over the same memory: real and
   * imaginary parts. As `torch.view_as_real`.
   */
  viewAsReal(self: T): T;
  /**
   * A real tensor of shape [..., 2] as a complex one of shape [...] over the same memory, whose last
   * dimension must have stride 1. As `torch.view_as_complex`.
   */
  viewAsComplex(self: T): T;
  /** A function of complex numbers whose input and result are pairs in the last dimension. */
  complexFunction(
    self: T,
    name:
      | "exp"
      | "exp2"
      | "expm1"
      | "log"
      | "log2"
      | "log10"
      | "log1p"
      | "sqrt"
      | "rsqrt"
      | "reciprocal"
      | "square"
      | "sinh"
      | "cosh"
      | "tanh"
      | "sin"
      | "cos"
      | "tan"
      | "asin"
      | "acos"
      | "atan"
      | "asinh"
      | "acosh"
      | "atanh"
      | "sigmoid",
  ): T;
  /** The complex tensor of real and imaginary parts, which are broadcast, as `torch.complex`. */
  complex(real: T, imag: T): T;
  /** abs · (cos angle + i · sin angle), broadcast, as `torch.polar`. */
  polar(abs: T, angle: T): T;
  /** The real part, of a complex tensor as a view; of real tensors themselves. As `torch.real`. */
  real(self: T): T;
  /** The imaginary part of a complex tensor, as a view; real tensors have none. As `torch.imag`. */
  imag(self: T): T;
  /**
   * The complex conjugate; real tensors themselves. Computed at once: there are no lazily conjugated
   * tensors, so that the result never shares memory with a complex operand. As `torch.conj`.
   */
  conj(self: T): T;
  /** The complex conjugate; real tensors themselves. As `torch.conj_physical`. */
  conjPhysical(self: T): T;
  /** Itself: no tensor is conjugated lazily. As `torch.resolve_conj`. */
  resolveConj(self: T): T;
  /** Itself: no tensor is negated lazily. As `torch.resolve_neg`. */
  resolveNeg(self: T): T;
  /** z / |z|, 0 for 0; the sign of real numbers. As `torch.sgn`. */
  sgn(self: T): T;
  /** The sum of conj(self) · other of two vectors, as `torch.vdot`. */
  vdot(self: T, other: T): T;
  /** Sums Σ x[j]·exp(∓2πi·jk/n) along the dimension before the last one, which holds pairs. */
  fourierPairs(self: T, inverse?: boolean | FourierPairsOptions, options?: FourierPairsOptions): T;
  /** The discrete Fourier transform along a dimension. As `torch.fft.fft`. Computed on the host. */
  fftFft(
    self: T,
    n?: number | null | FftFftOptions,
    dim?: number | FftFftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
    options?: FftFftOptions,
  ): T;
  /** The inverse discrete Fourier transform along a dimension. As `torch.fft.ifft`. Computed on the host. */
  fftIfft(
    self: T,
    n?: number | null | FftIfftOptions,
    dim?: number | FftIfftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIfftOptions,
    options?: FftIfftOptions,
  ): T;
  /**
   * The discrete Fourier transform of real numbers: the half that determines the other one. As
   * `torch.fft.rfft`. Computed on the host.
   */
  fftRfft(
    self: T,
    n?: number | null | FftRfftOptions,
    dim?: number | FftRfftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftRfftOptions,
    options?: FftRfftOptions,
  ): T;
  /**
   * The inverse discrete Fourier transform of a Hermitian tensor given by one half, which is real; `n` is
   * the size of the result. As `torch.fft.irfft`. Computed on the host.
   */
  fftIrfft(
    self: T,
    n?: number | null | FftIrfftOptions,
    dim?: number | FftIrfftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIrfftOptions,
    options?: FftIrfftOptions,
  ): T;
  /**
   * The discrete Fourier transform of a Hermitian tensor given by one half, which is real; `n` is the size
   * of the result. As `torch.fft.hfft`. Computed on the host.
   */
  fftHfft(
    self: T,
    n?: number | null | FftHfftOptions,
    dim?: number | FftHfftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftHfftOptions,
    options?: FftHfftOptions,
  ): T;
  /**
   * The inverse discrete Fourier transform of real numbers: the half that determines the other one. As
   * `torch.fft.ihfft`. Computed on the host.
   */
  fftIhfft(
    self: T,
    n?: number | null | FftIhfftOptions,
    dim?: number | FftIhfftOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIhfftOptions,
    options?: FftIhfftOptions,
  ): T;
  /** The discrete Fourier transform along two dimensions. As `torch.fft.fft2`. Computed on the host. */
  fftFft2(
    self: T,
    s?: readonly number[] | null | FftFft2Options,
    dim?: number | readonly number[] | null | FftFft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
    options?: FftFft2Options,
  ): T;
  /**
   * The inverse discrete Fourier transform along two dimensions. As `torch.fft.ifft2`. Computed on the
   * host.
   */
  fftIfft2(
    self: T,
    s?: readonly number[] | null | FftIfft2Options,
    dim?: number | readonly number[] | null | FftIfft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftIfft2Options,
    options?: FftIfft2Options,
  ): T;
  /**
   * The discrete Fourier transform along two dimensions of real numbers: the half that determines the other
   * one. As `torch.fft.rfft2`. Computed on the host.
   */
  fftRfft2(
    self: T,
    s?: readonly number[] | null | FftRfft2Options,
    dim?: number | readonly number[] | null | FftRfft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftRfft2Options,
    options?: FftRfft2Options,
  ): T;
  /**
   * The inverse discrete Fourier transform along two dimensions of a Hermitian tensor given by one half,
   * which is real; `n` is the size of the result. As `torch.fft.irfft2`. Computed on the host.
   */
  fftIrfft2(
    self: T,
    s?: readonly number[] | null | FftIrfft2Options,
    dim?: number | readonly number[] | null | FftIrfft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftIrfft2Options,
    options?: FftIrfft2Options,
  ): T;
  /** The discrete Fourier transform along all or some dimensions. As `torch.fft.fftn`. Computed on the host. */
  fftFftn(
    self: T,
    s?: readonly number[] | null | FftFftnOptions,
    dim?: number | readonly number[] | null | FftFftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
    options?: FftFftnOptions,
  ): T;
  /**
   * The inverse discrete Fourier transform along all or some dimensions. As `torch.fft.ifftn`. Computed on
   * the host.
   */
  fftIfftn(
    self: T,
    s?: readonly number[] | null | FftIfftnOptions,
    dim?: number | readonly number[] | null | FftIfftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIfftnOptions,
    options?: FftIfftnOptions,
  ): T;
  /**
   * The discrete Fourier transform along all or some dimensions of real numbers: the half that determines
   * the other one. As `torch.fft.rfftn`. Computed on the host.
   */
  fftRfftn(
    self: T,
    s?: readonly number[] | null | FftRfftnOptions,
    dim?: number | readonly number[] | null | FftRfftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftRfftnOptions,
    options?: FftRfftnOptions,
  ): T;
  /**
   * The inverse discrete Fourier transform along all or some dimensions of a Hermitian tensor given by one
   * half, which is real; `n` is the size of the result. As `torch.fft.irfftn`. Computed on the host.
   */
  fftIrfftn(
    self: T,
    s?: readonly number[] | null | FftIrfftnOptions,
    dim?: number | readonly number[] | null | FftIrfftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIrfftnOptions,
    options?: FftIrfftnOptions,
  ): T;
  /**
   * The discrete Fourier transform along two dimensions of a Hermitian tensor given by one half, which is
   * real; `n` is the size of the result. As `torch.fft.hfft2`. Computed on the host.
   */
  fftHfft2(
    self: T,
    s?: readonly number[] | null | FftHfft2Options,
    dim?: number | readonly number[] | null | FftHfft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftHfft2Options,
    options?: FftHfft2Options,
  ): T;
  /**
   * The inverse discrete Fourier transform along two dimensions of real numbers: the half that determines
   * the other one. As `torch.fft.ihfft2`. Computed on the host.
   */
  fftIhfft2(
    self: T,
    s?: readonly number[] | null | FftIhfft2Options,
    dim?: number | readonly number[] | null | FftIhfft2Options,
    norm?: "backward" | "ortho" | "forward" | null | FftIhfft2Options,
    options?: FftIhfft2Options,
  ): T;
  /**
   * The discrete Fourier transform along all or some dimensions of a Hermitian tensor given by one half,
   * which is real; `n` is the size of the result. As `torch.fft.hfftn`. Computed on the host.
   */
  fftHfftn(
    self: T,
    s?: readonly number[] | null | FftHfftnOptions,
    dim?: number | readonly number[] | null | FftHfftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftHfftnOptions,
    options?: FftHfftnOptions,
  ): T;
  /**
   * The inverse discrete Fourier transform along all or some dimensions of real numbers: the half that
   * determines the other one. As `torch.fft.ihfftn`. Computed on the host.
   */
  fftIhfftn(
    self: T,
    s?: readonly number[] | null | FftIhfftnOptions,
    dim?: number | readonly number[] | null | FftIhfftnOptions,
    norm?: "backward" | "ortho" | "forward" | null | FftIhfftnOptions,
    options?: FftIhfftnOptions,
  ): T;
  /** Frequencies of the results of fft of n samples that are d apart. As `torch.fft.fftfreq`. */
  fftFftfreq(n: number, d?: number | FftFftfreqOptions, options?: FftFftfreqOptions): T;
  /** Frequencies of the results of rfft of n samples that are d apart. As `torch.fft.rfftfreq`. */
  fftRfftfreq(n: number, d?: number | FftRfftfreqOptions, options?: FftRfftfreqOptions): T;
  /** Frequencies moved so that 0 is in the middle, along `dim` or all dimensions. As `torch.fft.fftshift`. */
  fftFftshift(
    self: T,
    dim?: number | readonly number[] | null | FftFftshiftOptions,
    options?: FftFftshiftOptions,
  ): T;
  /** Frequencies moved back from fftshift, along `dim` or all dimensions. As `torch.fft.ifftshift`. */
  fftIfftshift(
    self: T,
    dim?: number | readonly number[] | null | FftIfftshiftOptions,
    options?: FftIfftshiftOptions,
  ): T;
  /**
   * Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false,
   * which gives pairs in a last dimension. As `torch.stft`. Computed on the host.
   */
  stft(
    self: T,
    nFft: number,
    hopLength?: number | null | StftOptions<T>,
    winLength?: number | null | StftOptions<T>,
    window?: T | null | StftOptions<T>,
    center?: boolean | StftOptions<T>,
    padMode?: "constant" | "reflect" | "replicate" | "circular" | StftOptions<T>,
    normalized?: boolean | StftOptions<T>,
    onesided?: boolean | null | StftOptions<T>,
    returnComplex?: boolean | StftOptions<T>,
    options?: StftOptions<T>,
  ): T;
  /** The same call in another form. */
  stft(self: T, named: { readonly nFft: number } & StftOptions<T>): T;
  /**
   * The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by
   * the sum of squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on
   * the host.
   */
  istft(
    self: T,
    nFft: number,
    hopLength?: number | null | IstftOptions<T>,
    winLength?: number | null | IstftOptions<T>,
    window?: T | null | IstftOptions<T>,
    center?: boolean | IstftOptions<T>,
    normalized?: boolean | IstftOptions<T>,
    onesided?: boolean | null | IstftOptions<T>,
    length?: number | null | IstftOptions<T>,
    returnComplex?: boolean | IstftOptions<T>,
    options?: IstftOptions<T>,
  ): T;
  /** The same call in another form. */
  istft(self: T, named: { readonly nFft: number } & IstftOptions<T>): T;
  /** ½ − ½·cos(2πi/n). As `torch.hann_window`. */
  hannWindow(windowLength: number, periodic?: boolean | HannWindowOptions, options?: HannWindowOptions): T;
  /** alpha − beta·cos(2πi/n). As `torch.hamming_window`. */
  hammingWindow(
    windowLength: number,
    periodic?: boolean | HammingWindowOptions,
    alpha?: number | HammingWindowOptions,
    beta?: number | HammingWindowOptions,
    options?: HammingWindowOptions,
  ): T;
  /** 0.42 − 0.5·cos(2πi/n) + 0.08·cos(4πi/n). As `torch.blackman_window`. */
  blackmanWindow(
    windowLength: number,
    periodic?: boolean | BlackmanWindowOptions,
    options?: BlackmanWindowOptions,
  ): T;
  /** 1 − |2i/n − 1|: a triangle. As `torch.bartlett_window`. */
  bartlettWindow(
    windowLength: number,
    periodic?: boolean | BartlettWindowOptions,
    options?: BartlettWindowOptions,
  ): T;
  /** I₀(beta·√(1 − (2i/n − 1)²)) / I₀(beta). As `torch.kaiser_window`. */
  kaiserWindow(
    windowLength: number,
    periodic?: boolean | KaiserWindowOptions,
    beta?: number | KaiserWindowOptions,
    options?: KaiserWindowOptions,
  ): T;
}
