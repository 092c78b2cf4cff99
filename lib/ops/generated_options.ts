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

/** Arguments of add and 3 further ops by name. */
export interface AlphaOptions {
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: Scalar | Dim | undefined;
}

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

/** Arguments of sigmoid and 9 further ops by name. */
export interface InplaceOptions {
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of logit by name. */
export interface LogitOptions {
  /** As PyTorch's `eps`; optional. */
  readonly eps?: number | null | undefined;
}

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

/** Arguments of softshrink and 1 further op by name. */
export interface LambdOptions {
  /** As PyTorch's `lambd`; default 0.5. */
  readonly lambd?: number | undefined;
}

/** Arguments of sum and 3 further ops by name. */
export interface SumOptions extends DimKeepdimOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of prod by name. */
export interface ProdOptions extends ArgmaxOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of amax and 3 further ops by name. */
export interface DimKeepdimOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of argmax and 4 further ops by name. */
export interface ArgmaxOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of max and 1 further op by name. */
export interface MaxOptions<T> {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: Operand<T> | null | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of countNonzero and 4 further ops by name. */
export interface DimOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
}

/** Arguments of zeros and 13 further ops by name. */
export interface ZerosOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
  /** As PyTorch's `device`; optional. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on the result; default false. */
  readonly requiresGrad?: boolean | undefined;
}

/** Arguments of arange by name. */
export interface ArangeOptions extends ZerosOptions {
  /** As PyTorch's `end`; optional. */
  readonly end?: Scalar | Dim | null | undefined;
  /** As PyTorch's `step`; default 1. */
  readonly step?: Scalar | Dim | undefined;
}

/** Arguments of logspace by name. */
export interface LogspaceOptions extends ZerosOptions {
  /** As PyTorch's `base`; default 10. */
  readonly base?: number | undefined;
}

/** Arguments of eye by name. */
export interface EyeOptions extends ZerosOptions {
  /** As PyTorch's `m`; optional. */
  readonly m?: Dim | null | undefined;
}

/** Arguments of copy by name. */
export interface CopyOptions {
  /** As PyTorch's `non_blocking`; default false. */
  readonly nonBlocking?: boolean | undefined;
}

/** Arguments of expand and 1 further op by name. */
export interface ImplicitOptions {
  /** As PyTorch's `implicit`; default false. */
  readonly implicit?: boolean | undefined;
}

/** Arguments of slice and 1 further op by name. */
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

/** Arguments of diagonal and 2 further ops by name. */
export interface DiagonalOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: Dim | undefined;
  /** As PyTorch's `dim1`; default 0. */
  readonly dim1?: number | undefined;
  /** As PyTorch's `dim2`; default 1. */
  readonly dim2?: number | undefined;
}

/** Arguments of asStrided and 5 further ops by name. */
export interface StorageOffsetOptions {
  /** As PyTorch's `storage_offset`; optional. */
  readonly storageOffset?: Dim | null | undefined;
}

/** Arguments of splitWithSizesCopy and 10 further ops by name. */
export interface SplitWithSizesCopyOptions {
  /** As PyTorch's `dim`; default 0. */
  readonly dim?: number | undefined;
}

/** Arguments of diagEmbed and 1 further op by name. */
export interface DiagEmbedOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: Dim | undefined;
  /** As PyTorch's `dim1`; default -2. */
  readonly dim1?: number | undefined;
  /** As PyTorch's `dim2`; default -1. */
  readonly dim2?: number | undefined;
}

/** Arguments of flatten by name. */
export interface FlattenOptions {
  /** As PyTorch's `start_dim`; default 0. */
  readonly startDim?: number | undefined;
  /** As PyTorch's `end_dim`; default -1. */
  readonly endDim?: number | undefined;
}

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

/** Arguments of put and 2 further ops by name. */
export interface AccumulateOptions {
  /** As PyTorch's `accumulate`; default false. */
  readonly accumulate?: boolean | undefined;
}

/** Arguments of takeAlongDim and 2 further ops by name. */
export interface TakeAlongDimOptions {
  /** As PyTorch's `dim`; optional. */
  readonly dim?: number | null | undefined;
}

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
  readonly outputSize?: Dim | null | undefined;
}

/** Arguments of rot90 by name. */
export interface Rot90Options {
  /** As PyTorch's `k`; default 1. */
  readonly k?: number | undefined;
  /** As PyTorch's `dims`; default [0,1]. */
  readonly dims?: readonly number[] | undefined;
}

/** Arguments of tril and 1 further op by name. */
export interface TrilOptions {
  /** As PyTorch's `diagonal`; default 0. */
  readonly diagonal?: Dim | undefined;
}

/** Arguments of diag by name. */
export interface DiagOptions {
  /** As PyTorch's `diagonal`; default 0. */
  readonly diagonal?: number | undefined;
}

/** Arguments of cumsum and 5 further ops by name. */
export interface DtypeOptions {
  /** As PyTorch's `dtype`; optional. */
  readonly dtype?: DType | null | undefined;
}

/** Arguments of addcmul and 1 further op by name. */
export interface ValueOptions {
  /** As PyTorch's `value`; default 1. */
  readonly value?: Scalar | Dim | undefined;
}

/** Arguments of nonzero by name. */
export interface NonzeroOptions {
  /** As PyTorch's `as_tuple`; default false. */
  readonly asTuple?: boolean | undefined;
}

/** Arguments of repeatedIndices by name. */
export interface RepeatedIndicesOptions {
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: Dim | null | undefined;
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
  readonly minlength?: Dim | undefined;
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

/** Arguments of scatterReduce and 1 further op by name. */
export interface IncludeSelfOptions {
  /** As PyTorch's `include_self`; default true. */
  readonly includeSelf?: boolean | undefined;
}

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

/** Arguments of kthvalue and 1 further op by name. */
export interface KthvalueOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of quantile and 1 further op by name. */
export interface QuantileOptions extends ArgmaxOptions {
  /** As PyTorch's `interpolation`; default "linear". */
  readonly interpolation?: "linear" | "lower" | "higher" | "midpoint" | "nearest" | undefined;
}

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

/** Arguments of softplus by name. */
export interface SoftplusOptions {
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: number | undefined;
  /** As PyTorch's `threshold`; default 20. */
  readonly threshold?: number | undefined;
}

/** Arguments of elu and 1 further op by name. */
export interface AlphaInplaceOptions {
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: number | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of glu and 1 further op by name. */
export interface GluOptions {
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
}

/** Arguments of maxPool2dWithIndicesBackward by name. */
export interface MaxPool2dWithIndicesBackwardOptions extends StrideCeilModeOptions {
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: Dim | readonly Dim[] | undefined;
}

/** Arguments of maxPool1d and 2 further ops by name. */
export interface MaxPool1dOptions extends StrideCeilModeOptions {
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `return_indices`; default false. */
  readonly returnIndices?: boolean | undefined;
}

/** Arguments of avgPool1d and 2 further ops by name. */
export interface AvgPool1dOptions extends StrideCeilModeOptions {
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `count_include_pad`; default true. */
  readonly countIncludePad?: boolean | undefined;
  /** As PyTorch's `divisor_override`; optional. */
  readonly divisorOverride?: number | null | undefined;
}

/** Arguments of lpPool1d and 2 further ops by name. */
export interface StrideCeilModeOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `ceil_mode`; default false. */
  readonly ceilMode?: boolean | undefined;
}

/** Arguments of fractionalMaxPool2d and 1 further op by name. */
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

/** Arguments of rand and 4 further ops by name. */
export interface RandOptions extends ZerosOptions {
  /** The generator of random numbers; default: the global one. */
  readonly generator?: RandomSource | null | undefined;
}

/** Arguments of randint by name. */
export interface RandintOptions extends RandOptions {
  /** As PyTorch's `high`; optional. */
  readonly high?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `size`; optional. */
  readonly size?: readonly Dim[] | null | undefined;
}

/** Arguments of randintLike by name. */
export interface RandintLikeOptions extends RandOptions {
  /** As PyTorch's `high`; optional. */
  readonly high?: Dim | null | undefined;
}

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

/** Arguments of dropout and 3 further ops by name. */
export interface DropoutOptions {
  /** As PyTorch's `p`; default 0.5. */
  readonly p?: number | undefined;
  /** As PyTorch's `training`; default true. */
  readonly training?: boolean | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

/** Arguments of alphaDropout and 1 further op by name. */
export interface AlphaDropoutOptions {
  /** As PyTorch's `p`; default 0.5. */
  readonly p?: number | undefined;
  /** As PyTorch's `training`; default false. */
  readonly training?: boolean | undefined;
  /** As PyTorch's `inplace`; default false. */
  readonly inplace?: boolean | undefined;
}

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

/** Arguments of var and 3 further ops by name. */
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

/** Arguments of logsumexp by name. */
export interface LogsumexpOptions {
  /** As PyTorch's `keepdim`; default false. */
  readonly keepdim?: boolean | undefined;
}

/** Arguments of vectorNorm by name. */
export interface VectorNormOptions extends SumOptions {
  /** As PyTorch's `ord`; default 2. */
  readonly ord?: number | undefined;
}

/** Arguments of norm by name. */
export interface NormOptions extends SumOptions {
  /** As PyTorch's `p`; default "fro". */
  readonly p?: Scalar | string | undefined;
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

/** Arguments of dist and 1 further op by name. */
export interface POptions {
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
  readonly numClasses?: Dim | undefined;
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

/** Arguments of bilinear and 2 further ops by name. */
export interface BiasOptions<T> {
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
  readonly offset?: Dim | undefined;
}

/** Arguments of triuIndices and 1 further op by name. */
export interface TriuIndicesOptions extends ZerosOptions {
  /** As PyTorch's `offset`; default 0. */
  readonly offset?: number | undefined;
}

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

/** Arguments of trapezoid and 1 further op by name. */
export interface TrapezoidOptions<T> {
  /** As PyTorch's `x`; optional. */
  readonly x?: Operand<T> | null | undefined;
  /** As PyTorch's `dx`; optional. */
  readonly dx?: Operand<T> | null | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
}

/** Arguments of interpolate by name. */
export interface InterpolateOptions extends SizeScaleFactorOptions {
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

/** Arguments of upsampleNearest and 1 further op by name. */
export interface SizeScaleFactorOptions {
  /** As PyTorch's `size`; optional. */
  readonly size?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `scale_factor`; optional. */
  readonly scaleFactor?: number | readonly number[] | null | undefined;
}

/** Arguments of im2col and 1 further op by name. */
export interface Im2colOptions {
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: Dim | readonly Dim[] | undefined;
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

/** Arguments of marginRankingLoss and 1 further op by name. */
export interface MarginReductionOptions {
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
export interface MultiMarginLossOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `p`; default 1. */
  readonly p?: number | undefined;
  /** As PyTorch's `margin`; default 1. */
  readonly margin?: number | undefined;
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
}

/** Arguments of multilabelSoftMarginLoss by name. */
export interface MultilabelSoftMarginLossOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `size_average`; optional. */
  readonly sizeAverage?: boolean | null | undefined;
  /** As PyTorch's `reduce`; optional. */
  readonly reduce?: boolean | null | undefined;
}

/** Arguments of cdist by name. */
export interface CdistOptions {
  /** As PyTorch's `p`; default 2. */
  readonly p?: number | undefined;
  /** As PyTorch's `compute_mode`; optional. */
  readonly computeMode?: string | null | undefined;
}

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
export interface LinearCrossEntropyOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `linear_bias`; optional. */
  readonly linearBias?: T | null | undefined;
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
export interface LinalgNormOptions extends SumOptions {
  /** As PyTorch's `ord`; optional. */
  readonly ord?: Scalar | string | null | undefined;
}

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

/** Arguments of histc by name. */
export interface HistcOptions {
  /** As PyTorch's `bins`; default 100. */
  readonly bins?: Dim | undefined;
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

/** Arguments of cholesky and 2 further ops by name. */
export interface UpperOptions {
  /** As PyTorch's `upper`; default false. */
  readonly upper?: boolean | undefined;
}

/** Arguments of qr by name. */
export interface QrOptions {
  /** As PyTorch's `mode`; default "reduced". */
  readonly mode?: "reduced" | "complete" | "r" | undefined;
}

/** Arguments of eigh and 1 further op by name. */
export interface UPLOOptions {
  /** As PyTorch's `_u_p_l_o`; default "L". */
  readonly UPLO?: "L" | "U" | undefined;
}

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

/** Arguments of luFactorEx and 1 further op by name. */
export interface PivotCheckErrorsOptions {
  /** As PyTorch's `pivot`; default true. */
  readonly pivot?: boolean | undefined;
  /** As PyTorch's `check_errors`; default false. */
  readonly checkErrors?: boolean | undefined;
}

/** Arguments of permutationOf by name. */
export interface PermutationOfOptions {
  /** As PyTorch's `dtype`; default "float32". */
  readonly dtype?: DType | undefined;
}

/** Arguments of luFactor and 1 further op by name. */
export interface PivotOptions {
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

/** Arguments of ldlFactor and 1 further op by name. */
export interface HermitianOptions {
  /** As PyTorch's `hermitian`; default false. */
  readonly hermitian?: boolean | undefined;
}

/** Arguments of nativeLayerNorm and 1 further op by name. */
export interface WeightBiasOptions<T> {
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
}

/** Arguments of nativeBatchNorm by name. */
export interface NativeBatchNormOptions<T> extends WeightBiasOptions<T> {
  /** As PyTorch's `running_mean`; optional. */
  readonly runningMean?: T | null | undefined;
  /** As PyTorch's `running_var`; optional. */
  readonly runningVar?: T | null | undefined;
}

/** Arguments of addmm and 4 further ops by name. */
export interface BetaAlphaOptions {
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: Scalar | Dim | undefined;
  /** As PyTorch's `alpha`; default 1. */
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of conv1d and 2 further ops by name. */
export interface Conv1dOptions<T> {
  /** As PyTorch's `bias`; optional. */
  readonly bias?: T | null | undefined;
  /** As PyTorch's `stride`; default 1. */
  readonly stride?: IntOrInts | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | string | undefined;
  /** As PyTorch's `dilation`; default 1. */
  readonly dilation?: IntOrInts | undefined;
  /** As PyTorch's `groups`; default 1. */
  readonly groups?: number | undefined;
}

/** Arguments of convTranspose1d and 2 further ops by name. */
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

/** Arguments of adaptiveMaxPool1d and 2 further ops by name. */
export interface ReturnIndicesOptions {
  /** As PyTorch's `return_indices`; default false. */
  readonly returnIndices?: boolean | undefined;
}

/** Arguments of maxUnpool1d and 2 further ops by name. */
export interface MaxUnpool1dOptions {
  /** As PyTorch's `stride`; optional. */
  readonly stride?: Dim | readonly Dim[] | null | undefined;
  /** As PyTorch's `padding`; default 0. */
  readonly padding?: Dim | readonly Dim[] | undefined;
  /** As PyTorch's `output_size`; optional. */
  readonly outputSize?: readonly Dim[] | null | undefined;
}

/** Arguments of layerNorm and 3 further ops by name. */
export interface LayerNormOptions<T> extends WeightBiasOptions<T> {
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

/** Arguments of instanceNorm by name. */
export interface InstanceNormOptions<T> extends LayerNormOptions<T> {
  /** As PyTorch's `running_mean`; optional. */
  readonly runningMean?: T | null | undefined;
  /** As PyTorch's `running_var`; optional. */
  readonly runningVar?: T | null | undefined;
  /** As PyTorch's `use_input_stats`; default true. */
  readonly useInputStats?: boolean | undefined;
  /** As PyTorch's `momentum`; default 0.1. */
  readonly momentum?: number | undefined;
}

/** Arguments of mseLoss and 1 further op by name. */
export interface ReductionWeightOptions<T> {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `weight`; optional. */
  readonly weight?: T | null | undefined;
}

/** Arguments of smoothL1Loss by name. */
export interface SmoothL1LossOptions {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
  /** As PyTorch's `beta`; default 1. */
  readonly beta?: number | undefined;
}

/** Arguments of huberLoss by name. */
export interface HuberLossOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `delta`; default 1. */
  readonly delta?: number | undefined;
}

/** Arguments of softMarginLoss by name. */
export interface SoftMarginLossOptions {
  /** As PyTorch's `reduction`; default "mean". */
  readonly reduction?: "none" | "mean" | "sum" | undefined;
}

/** Arguments of nllLoss by name. */
export interface NllLossOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `ignore_index`; default -100. */
  readonly ignoreIndex?: number | undefined;
}

/** Arguments of crossEntropy by name. */
export interface CrossEntropyOptions<T> extends ReductionWeightOptions<T> {
  /** As PyTorch's `ignore_index`; default -100. */
  readonly ignoreIndex?: number | undefined;
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
export interface BinaryCrossEntropyWithLogitsOptions<T> extends ReductionWeightOptions<T> {
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

/** Arguments of fftFft and 5 further ops by name. */
export interface FftFftOptions {
  /** As PyTorch's `n`; optional. */
  readonly n?: Dim | null | undefined;
  /** As PyTorch's `dim`; default -1. */
  readonly dim?: number | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftFft2 and 5 further ops by name. */
export interface FftFft2Options {
  /** As PyTorch's `s`; optional. */
  readonly s?: readonly Dim[] | null | undefined;
  /** As PyTorch's `dim`; default [-2,-1]. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftFftn and 5 further ops by name. */
export interface FftFftnOptions {
  /** As PyTorch's `s`; optional. */
  readonly s?: readonly Dim[] | null | undefined;
  /** As PyTorch's `dim`; optional. */
  readonly dim?: IntOrInts | null | undefined;
  /** As PyTorch's `norm`; optional. */
  readonly norm?: "backward" | "ortho" | "forward" | null | undefined;
}

/** Arguments of fftFftfreq and 1 further op by name. */
export interface FftFftfreqOptions extends ZerosOptions {
  /** As PyTorch's `d`; default 1. */
  readonly d?: number | undefined;
}

/** Arguments of stft by name. */
export interface StftOptions<T> {
  /** As PyTorch's `hop_length`; optional. */
  readonly hopLength?: Dim | null | undefined;
  /** As PyTorch's `win_length`; optional. */
  readonly winLength?: Dim | null | undefined;
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
  readonly hopLength?: Dim | null | undefined;
  /** As PyTorch's `win_length`; optional. */
  readonly winLength?: Dim | null | undefined;
  /** As PyTorch's `window`; optional. */
  readonly window?: T | null | undefined;
  /** As PyTorch's `center`; default true. */
  readonly center?: boolean | undefined;
  /** As PyTorch's `normalized`; default false. */
  readonly normalized?: boolean | undefined;
  /** As PyTorch's `onesided`; optional. */
  readonly onesided?: boolean | null | undefined;
  /** As PyTorch's `length`; optional. */
  readonly length?: Dim | null | undefined;
  /** As PyTorch's `return_complex`; default false. */
  readonly returnComplex?: boolean | undefined;
}

/** Arguments of hannWindow and 2 further ops by name. */
export interface HannWindowOptions extends ZerosOptions {
  /** As PyTorch's `periodic`; default true. */
  readonly periodic?: boolean | undefined;
}

/** Arguments of hammingWindow by name. */
export interface HammingWindowOptions extends HannWindowOptions {
  /** As PyTorch's `alpha`; default 0.54. */
  readonly alpha?: number | undefined;
  /** As PyTorch's `beta`; default 0.46. */
  readonly beta?: number | undefined;
}

/** Arguments of kaiserWindow by name. */
export interface KaiserWindowOptions extends HannWindowOptions {
  /** As PyTorch's `beta`; default 12. */
  readonly beta?: number | undefined;
}
