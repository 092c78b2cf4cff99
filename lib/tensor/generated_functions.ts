/**
 * The functions over tensors that only namespaces have, and those at the top of the module. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { DType } from "../base/dtype.ts";
import type { Dim } from "../sym/expr.ts";
import type { IntOrInts, Scalar } from "../ops/params.ts";
import type {
  AlphaInplaceOptions,
  AvgPool1dOptions,
  BiasOptions,
  BinaryCrossEntropyOptions,
  BinaryCrossEntropyWithLogitsOptions,
  CholeskyExOptions,
  CondOptions,
  CrossEntropyOptions,
  DiagEmbedOptions,
  DimOptions,
  DropoutOptions,
  DtypeOptions,
  EmbeddingBagOptions,
  EmbeddingOptions,
  FftFft2Options,
  FftFftfreqOptions,
  FftFftnOptions,
  FftFftOptions,
  FractionalMaxPool2dOptions,
  GaussianNllLossOptions,
  GeluOptions,
  GluOptions,
  GridSampleOptions,
  GumbelSoftmaxOptions,
  HardtanhOptions,
  HermitianOptions,
  HingeEmbeddingLossOptions,
  HuberLossOptions,
  Im2colOptions,
  InplaceOptions,
  InstanceNormOptions,
  InterpolateOptions,
  InvExOptions,
  KlDivOptions,
  LambdOptions,
  LdlFactorExOptions,
  LeakyReluOptions,
  LinalgLuSolveOptions,
  LinalgNormOptions,
  LinalgSvdOptions,
  LinearCrossEntropyOptions,
  LocalResponseNormOptions,
  LstsqOptions,
  MarginReductionOptions,
  MatrixNormOptions,
  MatrixRankOptions,
  MaxUnpool1dOptions,
  MultilabelMarginLossOptions,
  MultilabelSoftMarginLossOptions,
  MultiMarginLossOptions,
  NllLossOptions,
  NormalizeOptions,
  OneHotOptions,
  Operand,
  PadOptions,
  PinvOptions,
  PivotCheckErrorsOptions,
  PivotOptions,
  PoissonNllLossOptions,
  QrOptions,
  ReductionWeightOptions,
  Results,
  ReturnIndicesOptions,
  ScaledDotProductAttentionOptions,
  SizeScaleFactorOptions,
  SmoothL1LossOptions,
  SoftMarginLossOptions,
  SoftplusOptions,
  SolveExOptions,
  SolveOptions,
  SolveTriangularOptions,
  StrideCeilModeOptions,
  TakeAlongDimOptions,
  TensorinvOptions,
  TensorsolveOptions,
  TripletMarginLossOptions,
  UPLOOptions,
  VanderOptions,
  VectorNormOptions,
} from "../ops/generated_options.ts";
import { ops } from "./eager.ts";
import type { Tensor } from "./tensor.ts";
export * from "./generated_free.ts";

/** min(max(self, 0), 6), as `nn.functional.relu6`. */
export const relu6: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.relu6;
/** self limited to [minVal, maxVal], as `nn.functional.hardtanh`. */
export const hardtanh: (
  self: Tensor,
  minVal?: number | HardtanhOptions,
  maxVal?: number | HardtanhOptions,
  inplace?: boolean | HardtanhOptions,
  options?: HardtanhOptions,
) => Tensor = ops.hardtanh;
/** self above 0, negativeSlope · self below, as `nn.functional.leaky_relu`. */
export const leakyRelu: (
  self: Tensor,
  negativeSlope?: number | LeakyReluOptions,
  inplace?: boolean | LeakyReluOptions,
  options?: LeakyReluOptions,
) => Tensor = ops.leakyRelu;
/** min(max(self + 3, 0), 6) / 6, as `nn.functional.hardsigmoid`. */
export const hardsigmoid: (
  self: Tensor,
  inplace?: boolean | InplaceOptions,
  options?: InplaceOptions,
) => Tensor = ops.hardsigmoid;
/** self · hardsigmoid(self), as `nn.functional.hardswish`. */
export const hardswish: (
  self: Tensor,
  inplace?: boolean | InplaceOptions,
  options?: InplaceOptions,
) => Tensor = ops.hardswish;
/** 0 within lambd of 0, else self brought nearer by lambd, as `nn.functional.softshrink`. */
export const softshrink: (self: Tensor, lambd?: number | LambdOptions, options?: LambdOptions) => Tensor =
  ops.softshrink;
/** self · log1p(other), 0 where self is 0, as `torch.special.xlog1py`. One of them may be a number. */
export const xlog1py: (self: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.xlog1py;
/**
 * Padded by `pad` = [before, after] of the last dimension, then of the one before it, …; mode constant,
 * reflect, replicate or circular. As `nn.functional.pad`.
 */
export const pad: {
  (
    self: Tensor,
    pad: readonly Dim[],
    mode?: "constant" | "reflect" | "replicate" | "circular" | PadOptions,
    value?: Scalar | Dim | null | PadOptions,
    options?: PadOptions,
  ): Tensor;
  (self: Tensor, named: { readonly pad: readonly Dim[] } & PadOptions): Tensor;
} = ops.pad;
/** The area under the standard normal density up to x, as `torch.special.ndtr`. */
export const ndtr: (self: Tensor) => Tensor = ops.ndtr;
/** −x log x, 0 at 0 and −∞ below, as `torch.special.entr`. */
export const entr: (self: Tensor) => Tensor = ops.entr;
/** e^(x²) erfc(x), as `torch.special.erfcx`. */
export const erfcx: (self: Tensor) => Tensor = ops.erfcx;
/** log(ndtr(x)), also far below 0, as `torch.special.log_ndtr`. */
export const logNdtr: (self: Tensor) => Tensor = ops.logNdtr;
/** The inverse of ndtr, as `torch.special.ndtri`. */
export const ndtri: (self: Tensor) => Tensor = ops.ndtri;
/** e^−|x| i0(x), as `torch.special.i0e`. */
export const i0e: (self: Tensor) => Tensor = ops.i0e;
/** The modified Bessel function of order 1, as `torch.special.i1`. */
export const i1: (self: Tensor) => Tensor = ops.i1;
/** e^−|x| i1(x), as `torch.special.i1e`. */
export const i1e: (self: Tensor) => Tensor = ops.i1e;
/** As i0, as `torch.special.modified_bessel_i0`. */
export const modifiedBesselI0: (self: Tensor) => Tensor = ops.modifiedBesselI0;
/** As i1, as `torch.special.modified_bessel_i1`. */
export const modifiedBesselI1: (self: Tensor) => Tensor = ops.modifiedBesselI1;
/** The modified Bessel function of the second kind of order 0, as `torch.special.modified_bessel_k0`. */
export const modifiedBesselK0: (self: Tensor) => Tensor = ops.modifiedBesselK0;
/** The modified Bessel function of the second kind of order 1, as `torch.special.modified_bessel_k1`. */
export const modifiedBesselK1: (self: Tensor) => Tensor = ops.modifiedBesselK1;
/** e^x modifiedBesselK0(x), as `torch.special.scaled_modified_bessel_k0`. */
export const scaledModifiedBesselK0: (self: Tensor) => Tensor = ops.scaledModifiedBesselK0;
/** e^x modifiedBesselK1(x), as `torch.special.scaled_modified_bessel_k1`. */
export const scaledModifiedBesselK1: (self: Tensor) => Tensor = ops.scaledModifiedBesselK1;
/** The Bessel function of the first kind of order 0, as `torch.special.bessel_j0`. */
export const besselJ0: (self: Tensor) => Tensor = ops.besselJ0;
/** The Bessel function of the first kind of order 1, as `torch.special.bessel_j1`. */
export const besselJ1: (self: Tensor) => Tensor = ops.besselJ1;
/** The Bessel function of the second kind of order 0, as `torch.special.bessel_y0`. */
export const besselY0: (self: Tensor) => Tensor = ops.besselY0;
/** The Bessel function of the second kind of order 1, as `torch.special.bessel_y1`. */
export const besselY1: (self: Tensor) => Tensor = ops.besselY1;
/** sin(x)/x, the spherical Bessel function of order 0, as `torch.special.spherical_bessel_j0`. */
export const sphericalBesselJ0: (self: Tensor) => Tensor = ops.sphericalBesselJ0;
/** The Airy function Ai, as `torch.special.airy_ai`. */
export const airyAi: (self: Tensor) => Tensor = ops.airyAi;
/** The zeta function of Hurwitz, Σ 1/(other + i)^self, as `torch.special.zeta`. One of them may be a number. */
export const zeta: (self: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.zeta;
/** self · Φ(self), by erf, or by tanh where `approximate` says so. As `nn.functional.gelu`. */
export const gelu: (
  self: Tensor,
  approximate?: "none" | "tanh" | GeluOptions,
  options?: GeluOptions,
) => Tensor = ops.gelu;
/** self · sigmoid(self), as `nn.functional.silu`. */
export const silu: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.silu;
/** self · tanh(softplus(self)), as `nn.functional.mish`. */
export const mish: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.mish;
/** log(1 + e^(beta · self)) / beta, self itself beyond the threshold, as `nn.functional.softplus`. */
export const softplus: (
  self: Tensor,
  beta?: number | SoftplusOptions,
  threshold?: number | SoftplusOptions,
  options?: SoftplusOptions,
) => Tensor = ops.softplus;
/** log(sigmoid(self)), as `nn.functional.logsigmoid`. */
export const logsigmoid: (self: Tensor) => Tensor = ops.logsigmoid;
/** self / (1 + |self|), as `nn.functional.softsign`. */
export const softsign: (self: Tensor) => Tensor = ops.softsign;
/** self − tanh(self), as `nn.functional.tanhshrink`. */
export const tanhshrink: (self: Tensor) => Tensor = ops.tanhshrink;
/** self above 0, alpha · (e^self − 1) below, as `nn.functional.elu`. */
export const elu: (
  self: Tensor,
  alpha?: number | AlphaInplaceOptions,
  inplace?: boolean | AlphaInplaceOptions,
  options?: AlphaInplaceOptions,
) => Tensor = ops.elu;
/** The first half along a dimension times the sigmoid of the second, as `nn.functional.glu`. */
export const glu: (self: Tensor, dim?: number | GluOptions, options?: GluOptions) => Tensor = ops.glu;
/** The mean of each window over 2 dimension(s), as `nn.functional.avg_pool2d`. */
export const avgPool2d: {
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride?: Dim | readonly Dim[] | null | AvgPool1dOptions,
    padding?: Dim | readonly Dim[] | AvgPool1dOptions,
    ceilMode?: boolean | AvgPool1dOptions,
    countIncludePad?: boolean | AvgPool1dOptions,
    divisorOverride?: number | null | AvgPool1dOptions,
    options?: AvgPool1dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: Dim | readonly Dim[] } & AvgPool1dOptions): Tensor;
} = ops.avgPool2d;
/** The mean of each window over 3 dimension(s), as `nn.functional.avg_pool3d`. */
export const avgPool3d: typeof avgPool2d = ops.avgPool3d;
/** (Σ xᵖ)^(1/p) of each window over 1 dimension(s), as `nn.functional.lp_pool1d`. */
export const lpPool1d: {
  (
    self: Tensor,
    normType: number,
    kernelSize: Dim | readonly Dim[],
    stride?: Dim | readonly Dim[] | null | StrideCeilModeOptions,
    ceilMode?: boolean | StrideCeilModeOptions,
    options?: StrideCeilModeOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly normType: number; readonly kernelSize: Dim | readonly Dim[] } & StrideCeilModeOptions,
  ): Tensor;
  (
    self: Tensor,
    normType: number,
    named: { readonly kernelSize: Dim | readonly Dim[] } & StrideCeilModeOptions,
  ): Tensor;
} = ops.lpPool1d;
/** (Σ xᵖ)^(1/p) of each window over 2 dimension(s), as `nn.functional.lp_pool2d`. */
export const lpPool2d: typeof lpPool1d = ops.lpPool2d;
/** (Σ xᵖ)^(1/p) of each window over 3 dimension(s), as `nn.functional.lp_pool3d`. */
export const lpPool3d: typeof lpPool1d = ops.lpPool3d;
/**
 * The maxima of windows at random places over 2 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool2d`.
 */
export const fractionalMaxPool2d: {
  (
    self: Tensor,
    kernelSize: IntOrInts,
    outputSize: IntOrInts | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    randomSamples?: Tensor | null | FractionalMaxPool2dOptions<Tensor>,
    options?: FractionalMaxPool2dOptions<Tensor>,
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: IntOrInts,
    options: FractionalMaxPool2dOptions<Tensor> & { readonly returnIndices: true },
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: IntOrInts,
    outputSize: IntOrInts | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: FractionalMaxPool2dOptions<Tensor> & { readonly returnIndices: true },
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: IntOrInts,
    outputSize?: IntOrInts | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | FractionalMaxPool2dOptions<Tensor>,
    randomSamples?: Tensor | null,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: IntOrInts } & FractionalMaxPool2dOptions<Tensor>): Tensor;
} = ops.fractionalMaxPool2d;
/**
 * The maxima of windows at random places over 3 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool3d`.
 */
export const fractionalMaxPool3d: typeof fractionalMaxPool2d = ops.fractionalMaxPool3d;
/** As dropout, of whole channels of 1 dimension(s), as `nn.functional.dropout1d`. */
export const dropout1d: (
  self: Tensor,
  p?: number | DropoutOptions,
  training?: boolean | DropoutOptions,
  inplace?: boolean | DropoutOptions,
  options?: DropoutOptions,
) => Tensor = ops.dropout1d;
/**
 * As dropout, of whole channels of 2 dimension(s), as `nn.functional.dropout2d`, of (batch, channels,
 * length), too.
 */
export const dropout2d: typeof dropout1d = ops.dropout2d;
/** As dropout, of whole channels of 3 dimension(s), as `nn.functional.dropout3d`. */
export const dropout3d: typeof dropout1d = ops.dropout3d;
/**
 * Softmax of logits with Gumbel noise at temperature tau; with hard the largest is 1 and the others 0, with
 * the gradient of the soft ones (Jang et al. 2017). As `nn.functional.gumbel_softmax`.
 */
export const gumbelSoftmax: (
  logits: Tensor,
  tau?: Operand<Tensor> | GumbelSoftmaxOptions<Tensor>,
  hard?: boolean | GumbelSoftmaxOptions<Tensor>,
  eps?: number | GumbelSoftmaxOptions<Tensor>,
  dim?: number | GumbelSoftmaxOptions<Tensor>,
  options?: GumbelSoftmaxOptions<Tensor>,
) => Tensor = ops.gumbelSoftmax;
/** The norm of order `ord` of the vectors along dimensions, as `torch.linalg.vector_norm`. */
export const vectorNorm: (
  x: Tensor,
  ord?: number | VectorNormOptions,
  dim?: IntOrInts | null | VectorNormOptions,
  keepdim?: boolean | VectorNormOptions,
  options?: VectorNormOptions,
) => Tensor = ops.vectorNorm;
/** self divided by its norm along a dimension, at least eps, as `nn.functional.normalize`. */
export const normalize: (
  self: Tensor,
  p?: number | NormalizeOptions,
  dim?: IntOrInts | NormalizeOptions,
  eps?: number | NormalizeOptions,
  options?: NormalizeOptions,
) => Tensor = ops.normalize;
/**
 * The rows of `weight` at the integers in `input`, as `nn.functional.embedding`; also with the two
 * exchanged, as `torch.embedding`.
 */
export const embedding: (
  input: Tensor,
  weight: Tensor,
  paddingIdx?: number | null | EmbeddingOptions,
  maxNorm?: number | null | EmbeddingOptions,
  normType?: number | EmbeddingOptions,
  scaleGradByFreq?: boolean | EmbeddingOptions,
  sparse?: boolean | EmbeddingOptions,
  options?: EmbeddingOptions,
) => Tensor = ops.embedding;
/**
 * 1 at the class that each integer names, else 0, in a new last dimension, as `nn.functional.one_hot`.
 * Without numClasses the size depends on elements.
 */
export const oneHot: (self: Tensor, numClasses?: Dim | OneHotOptions, options?: OneHotOptions) => Tensor =
  ops.oneHot;
/**
 * Sums, means or maxima of the rows of `weight` at bags of integers, as `nn.functional.embedding_bag`: rows
 * of a matrix are bags, and vectors have bags that start at `offsets`.
 */
export const embeddingBag: (
  input: Tensor,
  weight: Tensor,
  offsets?: Tensor | null | EmbeddingBagOptions<Tensor>,
  maxNorm?: number | null | EmbeddingBagOptions<Tensor>,
  normType?: number | EmbeddingBagOptions<Tensor>,
  scaleGradByFreq?: boolean | EmbeddingBagOptions<Tensor>,
  mode?: "sum" | "mean" | "max" | EmbeddingBagOptions<Tensor>,
  sparse?: boolean | EmbeddingBagOptions<Tensor>,
  perSampleWeights?: Tensor | null | EmbeddingBagOptions<Tensor>,
  includeLastOffset?: boolean | EmbeddingBagOptions<Tensor>,
  paddingIdx?: number | null | EmbeddingBagOptions<Tensor>,
  options?: EmbeddingBagOptions<Tensor>,
) => Tensor = ops.embeddingBag;
/**
 * softmax(query · keyᵀ · scale + mask) · value, with dropout on the weights, as
 * `nn.functional.scaled_dot_product_attention`.
 */
export const scaledDotProductAttention: (
  query: Tensor,
  key: Tensor,
  value: Tensor,
  attnMask?: Tensor | null | ScaledDotProductAttentionOptions<Tensor>,
  dropoutP?: number | ScaledDotProductAttentionOptions<Tensor>,
  isCausal?: boolean | ScaledDotProductAttentionOptions<Tensor>,
  options?: ScaledDotProductAttentionOptions<Tensor>,
) => Tensor = ops.scaledDotProductAttention;
/** x1ᵀ · weight[k] · x2 + bias[k] for each k, as `nn.functional.bilinear`. */
export const bilinear: (
  input1: Tensor,
  input2: Tensor,
  weight: Tensor,
  bias?: Tensor | null | BiasOptions<Tensor>,
  options?: BiasOptions<Tensor>,
) => Tensor = ops.bilinear;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const interpolate: (
  self: Tensor,
  size?: Dim | readonly Dim[] | null | InterpolateOptions,
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
) => Tensor = ops.interpolate;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const upsample: typeof interpolate = interpolate;
/** interpolate with mode nearest, as `nn.functional.upsample_nearest`. */
export const upsampleNearest: (
  self: Tensor,
  size?: Dim | readonly Dim[] | null | SizeScaleFactorOptions,
  scaleFactor?: number | readonly number[] | null | SizeScaleFactorOptions,
  options?: SizeScaleFactorOptions,
) => Tensor = ops.upsampleNearest;
/** interpolate with mode bilinear, as `nn.functional.upsample_bilinear`. */
export const upsampleBilinear: (
  self: Tensor,
  size?: Dim | readonly Dim[] | null | SizeScaleFactorOptions,
  scaleFactor?: number | readonly number[] | null | SizeScaleFactorOptions,
  options?: SizeScaleFactorOptions,
) => Tensor = ops.upsampleBilinear;
/** The windows of images as columns [batch, channels · kernel, windows], as `nn.functional.unfold`. */
export const im2col: {
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    dilation?: IntOrInts | Im2colOptions,
    padding?: Dim | readonly Dim[] | Im2colOptions,
    stride?: Dim | readonly Dim[] | Im2colOptions,
    options?: Im2colOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: Dim | readonly Dim[] } & Im2colOptions): Tensor;
} = ops.im2col;
/** Divided by a power of the mean square over neighbouring channels, as `nn.functional.local_response_norm`. */
export const localResponseNorm: {
  (
    self: Tensor,
    size: number,
    alpha?: number | LocalResponseNormOptions,
    beta?: number | LocalResponseNormOptions,
    k?: number | LocalResponseNormOptions,
    options?: LocalResponseNormOptions,
  ): Tensor;
  (self: Tensor, named: { readonly size: number } & LocalResponseNormOptions): Tensor;
} = ops.localResponseNorm;
/**
 * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
 * `nn.functional.fold`.
 */
export const col2im: {
  (
    self: Tensor,
    outputSize: Dim | readonly Dim[],
    kernelSize: Dim | readonly Dim[],
    dilation?: IntOrInts | Im2colOptions,
    padding?: Dim | readonly Dim[] | Im2colOptions,
    stride?: Dim | readonly Dim[] | Im2colOptions,
    options?: Im2colOptions,
  ): Tensor;
  (
    self: Tensor,
    named:
      & { readonly outputSize: Dim | readonly Dim[]; readonly kernelSize: Dim | readonly Dim[] }
      & Im2colOptions,
  ): Tensor;
  (
    self: Tensor,
    outputSize: Dim | readonly Dim[],
    named: { readonly kernelSize: Dim | readonly Dim[] } & Im2colOptions,
  ): Tensor;
} = ops.col2im;
/**
 * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
 * `nn.functional.fold`.
 */
export const fold: typeof col2im = col2im;
/**
 * Images [N, C, H, W], or volumes, sampled at the points of a grid [N, H', W', 2] in [−1, 1], as
 * `nn.functional.grid_sample`.
 */
export const gridSample: (
  input: Tensor,
  grid: Tensor,
  mode?: "bilinear" | "nearest" | "bicubic" | GridSampleOptions,
  paddingMode?: "zeros" | "border" | "reflection" | GridSampleOptions,
  alignCorners?: boolean | GridSampleOptions,
  options?: GridSampleOptions,
) => Tensor = ops.gridSample;
/** max(0, −target · (input1 − input2) + margin), as `nn.functional.margin_ranking_loss`. */
export const marginRankingLoss: (
  input1: Tensor,
  input2: Tensor,
  target: Tensor,
  margin?: number | MarginReductionOptions,
  reduction?: "none" | "mean" | "sum" | MarginReductionOptions,
  options?: MarginReductionOptions,
) => Tensor = ops.marginRankingLoss;
/** self where target is 1, max(0, margin − self) where it is −1, as `nn.functional.hinge_embedding_loss`. */
export const hingeEmbeddingLoss: (
  self: Tensor,
  target: Tensor,
  margin?: number | HingeEmbeddingLossOptions,
  reduction?: "none" | "mean" | "sum" | HingeEmbeddingLossOptions,
  options?: HingeEmbeddingLossOptions,
) => Tensor = ops.hingeEmbeddingLoss;
/** 1 − cos where target is 1, max(0, cos − margin) where it is −1, as `nn.functional.cosine_embedding_loss`. */
export const cosineEmbeddingLoss: (
  input1: Tensor,
  input2: Tensor,
  target: Tensor,
  margin?: number | MarginReductionOptions,
  reduction?: "none" | "mean" | "sum" | MarginReductionOptions,
  options?: MarginReductionOptions,
) => Tensor = ops.cosineEmbeddingLoss;
/**
 * ½ (log var + (self − target)² / var), var at least eps, as `nn.functional.gaussian_nll_loss`. A negative
 * variance is refused on the CPU.
 */
export const gaussianNllLoss: (
  self: Tensor,
  target: Tensor,
  var_: Operand<Tensor>,
  full?: boolean | GaussianNllLossOptions,
  eps?: number | GaussianNllLossOptions,
  reduction?: "none" | "mean" | "sum" | GaussianNllLossOptions,
  options?: GaussianNllLossOptions,
) => Tensor = ops.gaussianNllLoss;
/** e^self − target · self (or of rates where logInput is false), as `nn.functional.poisson_nll_loss`. */
export const poissonNllLoss: (
  self: Tensor,
  target: Tensor,
  logInput?: boolean | PoissonNllLossOptions,
  full?: boolean | PoissonNllLossOptions,
  sizeAverage?: boolean | null | PoissonNllLossOptions,
  eps?: number | PoissonNllLossOptions,
  reduce?: boolean | null | PoissonNllLossOptions,
  reduction?: "none" | "mean" | "sum" | PoissonNllLossOptions,
  options?: PoissonNllLossOptions,
) => Tensor = ops.poissonNllLoss;
/** max(0, d(anchor, positive) − d(anchor, negative) + margin), as `nn.functional.triplet_margin_loss`. */
export const tripletMarginLoss: (
  anchor: Tensor,
  positive: Tensor,
  negative: Tensor,
  margin?: number | TripletMarginLossOptions,
  p?: number | TripletMarginLossOptions,
  eps?: number | TripletMarginLossOptions,
  swap?: boolean | TripletMarginLossOptions,
  sizeAverage?: boolean | null | TripletMarginLossOptions,
  reduce?: boolean | null | TripletMarginLossOptions,
  reduction?: "none" | "mean" | "sum" | TripletMarginLossOptions,
  options?: TripletMarginLossOptions,
) => Tensor = ops.tripletMarginLoss;
/**
 * The mean over wrong classes of max(0, margin − x[target] + x[class])^p, as
 * `nn.functional.multi_margin_loss`.
 */
export const multiMarginLoss: (
  self: Tensor,
  target: Tensor,
  p?: number | MultiMarginLossOptions<Tensor>,
  margin?: number | MultiMarginLossOptions<Tensor>,
  weight?: Tensor | null | MultiMarginLossOptions<Tensor>,
  sizeAverage?: boolean | null | MultiMarginLossOptions<Tensor>,
  reduce?: boolean | null | MultiMarginLossOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | MultiMarginLossOptions<Tensor>,
  options?: MultiMarginLossOptions<Tensor>,
) => Tensor = ops.multiMarginLoss;
/** The mean over classes of the logistic loss, as `nn.functional.multilabel_soft_margin_loss`. */
export const multilabelSoftMarginLoss: (
  self: Tensor,
  target: Tensor,
  weight?: Tensor | null | MultilabelSoftMarginLossOptions<Tensor>,
  sizeAverage?: boolean | null | MultilabelSoftMarginLossOptions<Tensor>,
  reduce?: boolean | null | MultilabelSoftMarginLossOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | MultilabelSoftMarginLossOptions<Tensor>,
  options?: MultilabelSoftMarginLossOptions<Tensor>,
) => Tensor = ops.multilabelSoftMarginLoss;
/**
 * The mean over pairs of a wanted class and another of max(0, 1 − x[wanted] + x[other]), as
 * `nn.functional.multilabel_margin_loss`; each row of targets ends at its first −1.
 */
export const multilabelMarginLoss: (
  self: Tensor,
  target: Tensor,
  sizeAverage?: boolean | null | MultilabelMarginLossOptions,
  reduce?: boolean | null | MultilabelMarginLossOptions,
  reduction?: "none" | "mean" | "sum" | MultilabelMarginLossOptions,
  options?: MultilabelMarginLossOptions,
) => Tensor = ops.multilabelMarginLoss;
/**
 * The cross entropy of the linear map of inputs [N, in] by a weight [C, …, in], as
 * `nn.functional.linear_cross_entropy`.
 */
export const linearCrossEntropy: (
  input: Tensor,
  linearWeight: Tensor,
  target: Tensor,
  options?: LinearCrossEntropyOptions<Tensor>,
) => Tensor = ops.linearCrossEntropy;
/** Chebyshev's polynomial of the first kind of degree n at x, as `torch.special.chebyshev_polynomial_t`. */
export const chebyshevPolynomialT: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialT;
/** Chebyshev's polynomial of the second kind of degree n at x, as `torch.special.chebyshev_polynomial_u`. */
export const chebyshevPolynomialU: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialU;
/** Chebyshev's polynomial of the third kind of degree n at x, as `torch.special.chebyshev_polynomial_v`. */
export const chebyshevPolynomialV: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialV;
/** Chebyshev's polynomial of the fourth kind of degree n at x, as `torch.special.chebyshev_polynomial_w`. */
export const chebyshevPolynomialW: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialW;
/** The physicists' Hermite polynomial of degree n at x, as `torch.special.hermite_polynomial_h`. */
export const hermitePolynomialH: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor = ops.hermitePolynomialH;
/** The probabilists' Hermite polynomial of degree n at x, as `torch.special.hermite_polynomial_he`. */
export const hermitePolynomialHe: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.hermitePolynomialHe;
/** Laguerre's polynomial of degree n at x, as `torch.special.laguerre_polynomial_l`. */
export const laguerrePolynomialL: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.laguerrePolynomialL;
/** Legendre's polynomial of degree n at x, as `torch.special.legendre_polynomial_p`. */
export const legendrePolynomialP: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.legendrePolynomialP;
/**
 * Chebyshev's polynomial of the first kind, shifted to [0, 1], of degree n at x, as
 * `torch.special.shifted_chebyshev_polynomial_t`.
 */
export const shiftedChebyshevPolynomialT: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialT;
/**
 * Chebyshev's polynomial of the second kind, shifted to [0, 1], of degree n at x, as
 * `torch.special.shifted_chebyshev_polynomial_u`.
 */
export const shiftedChebyshevPolynomialU: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialU;
/**
 * Chebyshev's polynomial of the third kind, shifted to [0, 1], of degree n at x, as
 * `torch.special.shifted_chebyshev_polynomial_v`.
 */
export const shiftedChebyshevPolynomialV: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialV;
/**
 * Chebyshev's polynomial of the fourth kind, shifted to [0, 1], of degree n at x, as
 * `torch.special.shifted_chebyshev_polynomial_w`.
 */
export const shiftedChebyshevPolynomialW: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialW;
/** The norm of matrices (fro, nuc, ±1, ±2, ±∞), as `torch.linalg.matrix_norm`. */
export const matrixNorm: (
  A: Tensor,
  ord?: Scalar | string | MatrixNormOptions,
  dim?: IntOrInts | MatrixNormOptions,
  keepdim?: boolean | MatrixNormOptions,
  options?: MatrixNormOptions,
) => Tensor = ops.matrixNorm;
/** The norm of vectors, or of matrices where two dims and an order are given, as `torch.linalg.norm`. */
export const linalgNorm: (
  A: Tensor,
  ord?: Scalar | string | null | LinalgNormOptions,
  dim?: IntOrInts | null | LinalgNormOptions,
  keepdim?: boolean | LinalgNormOptions,
  options?: LinalgNormOptions,
) => Tensor = ops.linalgNorm;
/** The diagonals of matrices, or of two other dimensions, as `torch.linalg.diagonal`. */
export const linalgDiagonal: (A: Tensor, options?: DiagEmbedOptions) => Tensor = ops.linalgDiagonal;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const linalgCross: (
  self: Tensor,
  other: Tensor,
  dim?: number | null | TakeAlongDimOptions,
  options?: TakeAlongDimOptions,
) => Tensor = ops.linalgCross;
/** Sums of products along a dimension, as `torch.linalg.vecdot`. */
export const vecdot: (x: Tensor, y: Tensor, dim?: number | GluOptions, options?: GluOptions) => Tensor =
  ops.vecdot;
/** The product of several matrices (the first and last may be vectors), as `torch.linalg.multi_dot`. */
export const multiDot: (tensors: readonly Tensor[]) => Tensor = ops.multiDot;
/** Powers 0 … N − 1 of each element in a new last dimension, as `torch.linalg.vander`. */
export const vander: (x: Tensor, N?: number | null | VanderOptions, options?: VanderOptions) => Tensor =
  ops.vander;
/** X with A · X = B, or X · A = B where `left` is false, as `torch.linalg.solve`. Computed on the host. */
export const solve: (A: Tensor, B: Tensor, options?: SolveOptions) => Tensor = ops.solve;
/** The result of linalg.solve and zeros, as `torch.linalg.solve_ex`; a singular matrix is an error. */
export const solveEx: (
  A: Tensor,
  B: Tensor,
  options?: SolveExOptions,
) => Results<Tensor, ["result", "info"]> = ops.solveEx;
/** The inverses of square matrices and zeros, as `torch.linalg.inv_ex`; a singular one is an error. */
export const invEx: (A: Tensor, options?: InvExOptions) => Results<Tensor, ["inverse", "info"]> = ops.invEx;
/** The inverse of the map from the last dimensions to the first `ind`, as `torch.linalg.tensorinv`. */
export const tensorinv: (A: Tensor, ind?: number | TensorinvOptions, options?: TensorinvOptions) => Tensor =
  ops.tensorinv;
/** Singular values in descending order, as `torch.linalg.svdvals`. Computed on the host. */
export const svdvals: (A: Tensor) => Tensor = ops.svdvals;
/**
 * X with A · X = B, or X · A = B where `left` is false, for triangular A, as
 * `torch.linalg.solve_triangular`. Computed on the host.
 */
export const solveTriangular: {
  (A: Tensor, B: Tensor, upper: boolean, options?: SolveTriangularOptions): Tensor;
  (A: Tensor, B: Tensor, named: { readonly upper: boolean } & SolveTriangularOptions): Tensor;
} = ops.solveTriangular;
/**
 * Cholesky factors, and the order of the first leading minor that is not positive, 0 for none, as
 * `torch.linalg.cholesky_ex`. Computed on the host.
 */
export const choleskyEx: (A: Tensor, options?: CholeskyExOptions) => Results<Tensor, ["L", "info"]> =
  ops.choleskyEx;
/**
 * Q with orthonormal columns and upper triangular R with A = Q · R, as `torch.linalg.qr`; mode "complete"
 * gives all columns of Q, "r" none. Computed on the host.
 */
export const qr: (
  A: Tensor,
  mode?: "reduced" | "complete" | "r" | QrOptions,
  options?: QrOptions,
) => Results<Tensor, ["Q", "R"]> = ops.qr;
/**
 * Ascending eigenvalues and eigenvectors of symmetric or Hermitian matrices, as `torch.linalg.eigh`;
 * gradients need distinct values. Computed on the host.
 */
export const eigh: (
  A: Tensor,
  UPLO?: "L" | "U" | UPLOOptions,
  options?: UPLOOptions,
) => Results<Tensor, ["eigenvalues", "eigenvectors"]> = ops.eigh;
/**
 * Ascending eigenvalues of symmetric or Hermitian matrices, as `torch.linalg.eigvalsh`. Computed on the
 * host.
 */
export const eigvalsh: (A: Tensor, UPLO?: "L" | "U" | UPLOOptions, options?: UPLOOptions) => Tensor =
  ops.eigvalsh;
/**
 * Complex eigenvalues and eigenvectors of square matrices, as `torch.linalg.eig`. Vectors have length 1,
 * and their largest element is real and positive. Gradients need distinct values, and a loss that does not
 * depend on the phase of vectors. Computed on the host.
 */
export const eig: (A: Tensor) => Results<Tensor, ["eigenvalues", "eigenvectors"]> = ops.eig;
/**
 * Complex eigenvalues of square matrices, as `torch.linalg.eigvals`. Gradients need distinct values.
 * Computed on the host.
 */
export const eigvals: (A: Tensor) => Tensor = ops.eigvals;
/**
 * L and U in one matrix, pivots and the first zero on the diagonal, as `torch.linalg.lu_factor_ex`.
 * Computed on the host.
 */
export const luFactorEx: (
  A: Tensor,
  options?: PivotCheckErrorsOptions,
) => Results<Tensor, ["LU", "pivots", "info"]> = ops.luFactorEx;
/**
 * L and U in one matrix and pivots, as `torch.linalg.lu_factor`; a singular matrix is an error. Computed on
 * the host.
 */
export const luFactor: (A: Tensor, options?: PivotOptions) => Results<Tensor, ["LU", "pivots"]> =
  ops.luFactor;
/** P, L and U with A = P · L · U, as `torch.linalg.lu`; without `pivot` P is empty. Computed on the host. */
export const linalgLu: (A: Tensor, options?: PivotOptions) => Results<Tensor, ["P", "L", "U"]> = ops.linalgLu;
/**
 * X with A · X = B, X · A = B where `left` is false, or of Aᴴ where `adjoint` is true, for A decomposed by
 * luFactor, as `torch.linalg.lu_solve`. Computed on the host.
 */
export const linalgLuSolve: (
  LU: Tensor,
  pivots: Tensor,
  B: Tensor,
  options?: LinalgLuSolveOptions,
) => Tensor = ops.linalgLuSolve;
/**
 * U, S and Vh with A = U · diag(S) · Vh, values descending, as `torch.linalg.svd`; without `fullMatrices`
 * as many columns and rows as there are values. Gradients need distinct values, and none reaches the rest
 * of full matrices. Computed on the host.
 */
export const linalgSvd: (
  A: Tensor,
  fullMatrices?: boolean | LinalgSvdOptions,
  options?: LinalgSvdOptions,
) => Results<Tensor, ["U", "S", "Vh"]> = ops.linalgSvd;
/**
 * Pseudoinverses, as `torch.linalg.pinv`; rtol is by default the larger size times the type's epsilon.
 * Computed on the host.
 */
export const pinv: (
  A: Tensor,
  rcond?: Operand<Tensor> | null | PinvOptions<Tensor>,
  options?: PinvOptions<Tensor>,
) => Tensor = ops.pinv;
/** The number of singular values that are not 0, as `torch.linalg.matrix_rank`. Computed on the host. */
export const matrixRank: (
  A: Tensor,
  tol?: Operand<Tensor> | null | MatrixRankOptions<Tensor>,
  options?: MatrixRankOptions<Tensor>,
) => Tensor = ops.matrixRank;
/** Condition numbers by a norm, by default by singular values, as `torch.linalg.cond`. Computed on the host. */
export const cond: (A: Tensor, p?: Scalar | string | null | CondOptions, options?: CondOptions) => Tensor =
  ops.cond;
/**
 * X that minimises |A · X − B|, residuals, ranks and singular values, as `torch.linalg.lstsq`; empty where
 * PyTorch's driver does not compute them. Computed on the host.
 */
export const lstsq: (
  A: Tensor,
  B: Tensor,
  rcond?: number | null | LstsqOptions,
  options?: LstsqOptions,
) => Results<Tensor, ["solution", "residuals", "rank", "singular_values"]> = ops.lstsq;
/**
 * X with tensordot(A, X, X.ndim) = B, after `dims` of A are moved to its end, as
 * `torch.linalg.tensorsolve`.
 */
export const tensorsolve: (
  A: Tensor,
  B: Tensor,
  dims?: readonly number[] | null | TensorsolveOptions,
  options?: TensorsolveOptions,
) => Tensor = ops.tensorsolve;
/**
 * The first columns of the product of Householder reflections, as `torch.linalg.householder_product`.
 * Computed on the host in part.
 */
export const householderProduct: (A: Tensor, tau: Tensor) => Tensor = ops.householderProduct;
/**
 * L and D of symmetric matrices in one, pivots and the first pivot that is 0, as
 * `torch.linalg.ldl_factor_ex`. No gradient. Computed on the host.
 */
export const ldlFactorEx: (
  A: Tensor,
  options?: LdlFactorExOptions,
) => Results<Tensor, ["LD", "pivots", "info"]> = ops.ldlFactorEx;
/**
 * L and D of symmetric matrices in one, and pivots, as `torch.linalg.ldl_factor`. No gradient. Computed on
 * the host.
 */
export const ldlFactor: (A: Tensor, options?: HermitianOptions) => Results<Tensor, ["LD", "pivots"]> =
  ops.ldlFactor;
/**
 * X with A · X = B for A decomposed by ldlFactor, as `torch.linalg.ldl_solve`. No gradient. Computed on the
 * host.
 */
export const ldlSolve: (LD: Tensor, pivots: Tensor, B: Tensor, options?: HermitianOptions) => Tensor =
  ops.ldlSolve;
/**
 * The positive square roots of symmetric positive-definite matrices, as `torch.linalg.matrix_sqrth`.
 * Computed on the host.
 */
export const matrixSqrth: (A: Tensor) => Tensor = ops.matrixSqrth;
/**
 * U with orthonormal columns and symmetric positive H with A = U · H, of matrices with no fewer rows than
 * columns, as `torch.linalg.polar`. Computed on the host.
 */
export const linalgPolar: (A: Tensor) => Results<Tensor, ["U", "H"]> = ops.linalgPolar;
/** input · weightᵀ + bias, for weight of shape [out, in], as `nn.functional.linear`. */
export const linear: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | BiasOptions<Tensor>,
  options?: BiasOptions<Tensor>,
) => Tensor = ops.linear;
/**
 * Means of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool1d`.
 */
export const adaptiveAvgPool1d: {
  (self: Tensor, outputSize: Dim | readonly (Dim | null)[]): Tensor;
  (self: Tensor, named: { readonly outputSize: Dim | readonly (Dim | null)[] }): Tensor;
} = ops.adaptiveAvgPool1d;
/**
 * Means of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool2d`.
 */
export const adaptiveAvgPool2d: typeof adaptiveAvgPool1d = ops.adaptiveAvgPool2d;
/**
 * Means of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool3d`.
 */
export const adaptiveAvgPool3d: typeof adaptiveAvgPool1d = ops.adaptiveAvgPool3d;
/**
 * Maxima of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool1d`.
 */
export const adaptiveMaxPool1d: {
  (
    self: Tensor,
    outputSize: Dim | readonly (Dim | null)[],
    returnIndices: true,
    options?: ReturnIndicesOptions,
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    outputSize: Dim | readonly (Dim | null)[],
    options: ReturnIndicesOptions & { readonly returnIndices: true },
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    outputSize: Dim | readonly (Dim | null)[],
    returnIndices?: false | ReturnIndicesOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly outputSize: Dim | readonly (Dim | null)[] } & ReturnIndicesOptions,
  ): Tensor;
} = ops.adaptiveMaxPool1d;
/**
 * Maxima of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool2d`.
 */
export const adaptiveMaxPool2d: typeof adaptiveMaxPool1d = ops.adaptiveMaxPool2d;
/**
 * Maxima of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool3d`.
 */
export const adaptiveMaxPool3d: typeof adaptiveMaxPool1d = ops.adaptiveMaxPool3d;
/** Values at the indices that maxPool1d returned, zeros elsewhere, as `nn.functional.max_unpool1d`. */
export const maxUnpool1d: {
  (
    self: Tensor,
    indices: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride?: Dim | readonly Dim[] | null | MaxUnpool1dOptions,
    padding?: Dim | readonly Dim[] | MaxUnpool1dOptions,
    outputSize?: readonly Dim[] | null | MaxUnpool1dOptions,
    options?: MaxUnpool1dOptions,
  ): Tensor;
  (
    self: Tensor,
    indices: Tensor,
    named: { readonly kernelSize: Dim | readonly Dim[] } & MaxUnpool1dOptions,
  ): Tensor;
} = ops.maxUnpool1d;
/** Values at the indices that maxPool2d returned, zeros elsewhere, as `nn.functional.max_unpool2d`. */
export const maxUnpool2d: typeof maxUnpool1d = ops.maxUnpool2d;
/** Values at the indices that maxPool3d returned, zeros elsewhere, as `nn.functional.max_unpool3d`. */
export const maxUnpool3d: typeof maxUnpool1d = ops.maxUnpool3d;
/** softmax(−self) along `dim`, as `nn.functional.softmin`. */
export const softmin: {
  (self: Tensor, dim: number, dtype?: DType | null | DtypeOptions, options?: DtypeOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & DtypeOptions): Tensor;
} = ops.softmin;
/**
 * [N, C, ...] normalised over each image of each channel, as `nn.functional.instance_norm`; with
 * `useInputStats` false by the running statistics.
 */
export const instanceNorm: (
  self: Tensor,
  runningMean?: Tensor | null | InstanceNormOptions<Tensor>,
  runningVar?: Tensor | null | InstanceNormOptions<Tensor>,
  weight?: Tensor | null | InstanceNormOptions<Tensor>,
  bias?: Tensor | null | InstanceNormOptions<Tensor>,
  useInputStats?: boolean | InstanceNormOptions<Tensor>,
  momentum?: number | InstanceNormOptions<Tensor>,
  eps?: number | InstanceNormOptions<Tensor>,
  options?: InstanceNormOptions<Tensor>,
) => Tensor = ops.instanceNorm;
/** (self − target)², as `nn.functional.mse_loss`. */
export const mseLoss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | ReductionWeightOptions<Tensor>,
  weight?: Tensor | null | ReductionWeightOptions<Tensor>,
  options?: ReductionWeightOptions<Tensor>,
) => Tensor = ops.mseLoss;
/** |self − target|, as `nn.functional.l1_loss`. */
export const l1Loss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | ReductionWeightOptions<Tensor>,
  weight?: Tensor | null | ReductionWeightOptions<Tensor>,
  options?: ReductionWeightOptions<Tensor>,
) => Tensor = ops.l1Loss;
/** d² / (2 beta) where d = |self − target| < beta, else d − beta / 2, as `nn.functional.smooth_l1_loss`. */
export const smoothL1Loss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | SmoothL1LossOptions,
  beta?: number | SmoothL1LossOptions,
  options?: SmoothL1LossOptions,
) => Tensor = ops.smoothL1Loss;
/** d² / 2 where d = |self − target| ≤ delta, else delta · (d − delta / 2), as `nn.functional.huber_loss`. */
export const huberLoss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | HuberLossOptions<Tensor>,
  delta?: number | HuberLossOptions<Tensor>,
  weight?: Tensor | null | HuberLossOptions<Tensor>,
  options?: HuberLossOptions<Tensor>,
) => Tensor = ops.huberLoss;
/** log(1 + exp(−target · self)), as `nn.functional.soft_margin_loss`: of tensors of one shape. */
export const softMarginLoss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | SoftMarginLossOptions,
  options?: SoftMarginLossOptions,
) => Tensor = ops.softMarginLoss;
/**
 * −weight[target] · self[target] of log-probabilities [N, C, ...] and class indices [N, ...], as
 * `nn.functional.nll_loss`.
 */
export const nllLoss: (
  self: Tensor,
  target: Tensor,
  weight?: Tensor | null | NllLossOptions<Tensor>,
  ignoreIndex?: number | NllLossOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | NllLossOptions<Tensor>,
  options?: NllLossOptions<Tensor>,
) => Tensor = ops.nllLoss;
/**
 * Cross entropy of softmax(self) over the classes of logits [N, C, ...] against class indices [N, ...] or
 * probabilities [N, C, ...], as `nn.functional.cross_entropy`.
 */
export const crossEntropy: (
  self: Tensor,
  target: Tensor,
  weight?: Tensor | null | CrossEntropyOptions<Tensor>,
  ignoreIndex?: number | CrossEntropyOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | CrossEntropyOptions<Tensor>,
  labelSmoothing?: number | CrossEntropyOptions<Tensor>,
  options?: CrossEntropyOptions<Tensor>,
) => Tensor = ops.crossEntropy;
/**
 * −(target · log self + (1 − target) · log(1 − self)) of probabilities, logarithms not below −100, as
 * `nn.functional.binary_cross_entropy`. Elements outside of [0, 1] are refused on the CPU; on other devices
 * they give NaN.
 */
export const binaryCrossEntropy: (
  self: Tensor,
  target: Tensor,
  weight?: Tensor | null | BinaryCrossEntropyOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | BinaryCrossEntropyOptions<Tensor>,
  options?: BinaryCrossEntropyOptions<Tensor>,
) => Tensor = ops.binaryCrossEntropy;
/**
 * Binary cross entropy of sigmoid(self), without overflow for large logits; `posWeight` scales the positive
 * part. As `nn.functional.binary_cross_entropy_with_logits`.
 */
export const binaryCrossEntropyWithLogits: (
  self: Tensor,
  target: Tensor,
  weight?: Tensor | null | BinaryCrossEntropyWithLogitsOptions<Tensor>,
  reduction?: "none" | "mean" | "sum" | BinaryCrossEntropyWithLogitsOptions<Tensor>,
  posWeight?: Tensor | null | BinaryCrossEntropyWithLogitsOptions<Tensor>,
  options?: BinaryCrossEntropyWithLogitsOptions<Tensor>,
) => Tensor = ops.binaryCrossEntropyWithLogits;
/** target · (log target − self) of log-probabilities `self`, as `nn.functional.kl_div`. */
export const klDiv: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | "batchmean" | KlDivOptions,
  logTarget?: boolean | KlDivOptions,
  options?: KlDivOptions,
) => Tensor = ops.klDiv;
/** The discrete Fourier transform along a dimension. As `torch.fft.fft`. Computed on the host. */
export const fftFft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftFft;
/** The inverse discrete Fourier transform along a dimension. As `torch.fft.ifft`. Computed on the host. */
export const fftIfft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftIfft;
/**
 * The discrete Fourier transform of real numbers: the half that determines the other one. As
 * `torch.fft.rfft`. Computed on the host.
 */
export const fftRfft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftRfft;
/**
 * The inverse discrete Fourier transform of a Hermitian tensor given by one half, which is real; `n` is the
 * size of the result. As `torch.fft.irfft`. Computed on the host.
 */
export const fftIrfft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftIrfft;
/**
 * The discrete Fourier transform of a Hermitian tensor given by one half, which is real; `n` is the size of
 * the result. As `torch.fft.hfft`. Computed on the host.
 */
export const fftHfft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftHfft;
/**
 * The inverse discrete Fourier transform of real numbers: the half that determines the other one. As
 * `torch.fft.ihfft`. Computed on the host.
 */
export const fftIhfft: (
  self: Tensor,
  n?: Dim | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftIhfft;
/** The discrete Fourier transform along two dimensions. As `torch.fft.fft2`. Computed on the host. */
export const fftFft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftFft2;
/** The inverse discrete Fourier transform along two dimensions. As `torch.fft.ifft2`. Computed on the host. */
export const fftIfft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftIfft2;
/**
 * The discrete Fourier transform along two dimensions of real numbers: the half that determines the other
 * one. As `torch.fft.rfft2`. Computed on the host.
 */
export const fftRfft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftRfft2;
/**
 * The inverse discrete Fourier transform along two dimensions of a Hermitian tensor given by one half,
 * which is real; `n` is the size of the result. As `torch.fft.irfft2`. Computed on the host.
 */
export const fftIrfft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftIrfft2;
/** The discrete Fourier transform along all or some dimensions. As `torch.fft.fftn`. Computed on the host. */
export const fftFftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftFftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions. As `torch.fft.ifftn`. Computed on
 * the host.
 */
export const fftIfftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftIfftn;
/**
 * The discrete Fourier transform along all or some dimensions of real numbers: the half that determines the
 * other one. As `torch.fft.rfftn`. Computed on the host.
 */
export const fftRfftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftRfftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions of a Hermitian tensor given by one
 * half, which is real; `n` is the size of the result. As `torch.fft.irfftn`. Computed on the host.
 */
export const fftIrfftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftIrfftn;
/**
 * The discrete Fourier transform along two dimensions of a Hermitian tensor given by one half, which is
 * real; `n` is the size of the result. As `torch.fft.hfft2`. Computed on the host.
 */
export const fftHfft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftHfft2;
/**
 * The inverse discrete Fourier transform along two dimensions of real numbers: the half that determines the
 * other one. As `torch.fft.ihfft2`. Computed on the host.
 */
export const fftIhfft2: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFft2Options,
  dim?: IntOrInts | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftIhfft2;
/**
 * The discrete Fourier transform along all or some dimensions of a Hermitian tensor given by one half,
 * which is real; `n` is the size of the result. As `torch.fft.hfftn`. Computed on the host.
 */
export const fftHfftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftHfftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions of real numbers: the half that
 * determines the other one. As `torch.fft.ihfftn`. Computed on the host.
 */
export const fftIhfftn: (
  self: Tensor,
  s?: readonly Dim[] | null | FftFftnOptions,
  dim?: IntOrInts | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftIhfftn;
/** Frequencies of the results of fft of n samples that are d apart. As `torch.fft.fftfreq`. */
export const fftFftfreq: {
  (n: Dim, d?: number | FftFftfreqOptions, options?: FftFftfreqOptions): Tensor;
  (named: { readonly n: Dim } & FftFftfreqOptions): Tensor;
} = ops.fftFftfreq;
/** Frequencies of the results of rfft of n samples that are d apart. As `torch.fft.rfftfreq`. */
export const fftRfftfreq: {
  (n: Dim, d?: number | FftFftfreqOptions, options?: FftFftfreqOptions): Tensor;
  (named: { readonly n: Dim } & FftFftfreqOptions): Tensor;
} = ops.fftRfftfreq;
/** Frequencies moved so that 0 is in the middle, along `dim` or all dimensions. As `torch.fft.fftshift`. */
export const fftFftshift: (
  self: Tensor,
  dim?: IntOrInts | null | DimOptions,
  options?: DimOptions,
) => Tensor = ops.fftFftshift;
/** Frequencies moved back from fftshift, along `dim` or all dimensions. As `torch.fft.ifftshift`. */
export const fftIfftshift: (
  self: Tensor,
  dim?: IntOrInts | null | DimOptions,
  options?: DimOptions,
) => Tensor = ops.fftIfftshift;
