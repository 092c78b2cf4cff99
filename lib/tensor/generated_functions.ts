/**
 * The ops as functions over tensors, those of all namespaces. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { Scalar } from "../ops/params.ts";
import type {
  AdaptiveMaxPool1dOptions,
  AdaptiveMaxPool2dOptions,
  AdaptiveMaxPool3dOptions,
  AddbmmOptions,
  AddcdivOptions,
  AddcmulOptions,
  AddmmOptions,
  AddmvOptions,
  AddOptions,
  AddrOptions,
  AffineGridOptions,
  AllOptions,
  AlphaDropoutOptions,
  AmaxOptions,
  AminmaxOptions,
  AminOptions,
  AnyOptions,
  ArangeOptions,
  ArgmaxOptions,
  ArgminOptions,
  ArgsortOptions,
  AsStridedBackwardOptions,
  AsStridedCopyOptions,
  AsStridedOptions,
  AsStridedScatterOptions,
  AvgPool1dOptions,
  AvgPool2dOptions,
  AvgPool3dOptions,
  BaddbmmOptions,
  BartlettWindowOptions,
  BatchNormInferenceOptions,
  BatchNormTrainingOptions,
  BernoulliOptions,
  BilinearOptions,
  BinaryCrossEntropyOptions,
  BinaryCrossEntropyWithLogitsOptions,
  BincountOptions,
  BinEdgesOptions,
  BinnedSumsOptions,
  BlackmanWindowOptions,
  BucketizeOptions,
  CatOptions,
  CauchyOptions,
  CdistOptions,
  CeluOptions,
  ChoiceIndicesOptions,
  CholeskyExOptions,
  CholeskyInverseOptions,
  CholeskyOptions,
  CholeskySolveOptions,
  ChunkOptions,
  ClampOptions,
  Col2imOptions,
  CombinationsOptions,
  CondOptions,
  ConstantPadNdOptions,
  Conv1dOptions,
  Conv2dOptions,
  Conv3dOptions,
  ConvolutionOptions,
  ConvTranspose1dOptions,
  ConvTranspose2dOptions,
  ConvTranspose3dOptions,
  CopyOptions,
  CosineEmbeddingLossOptions,
  CosineSimilarityOptions,
  CountNonzeroOptions,
  CovOptions,
  CrossEntropyOptions,
  CrossOptions,
  CtcLossOptions,
  CumprodOptions,
  CumsumOptions,
  CumulativeTrapezoidOptions,
  DiagEmbedOptions,
  DiagflatOptions,
  DiagonalCopyOptions,
  DiagonalOptions,
  DiagonalScatterOptions,
  DiagOptions,
  DiffOptions,
  DistOptions,
  DivOptions,
  Dropout1dOptions,
  Dropout2dOptions,
  Dropout3dOptions,
  DropoutOptions,
  EigenPairsOptions,
  EighOptions,
  EigvalshOptions,
  EluOptions,
  EmbeddingBackwardOptions,
  EmbeddingBagOptions,
  EmbeddingOptions,
  EmbeddingRowsOptions,
  EmptyLikeOptions,
  EmptyOptions,
  ExpandCopyOptions,
  ExpandOptions,
  ExponentialOptions,
  ExtremePairsOptions,
  EyeOptions,
  FeatureAlphaDropoutOptions,
  FftFft2Options,
  FftFftfreqOptions,
  FftFftnOptions,
  FftFftOptions,
  FftFftshiftOptions,
  FftHfft2Options,
  FftHfftnOptions,
  FftHfftOptions,
  FftIfft2Options,
  FftIfftnOptions,
  FftIfftOptions,
  FftIfftshiftOptions,
  FftIhfft2Options,
  FftIhfftnOptions,
  FftIhfftOptions,
  FftIrfft2Options,
  FftIrfftnOptions,
  FftIrfftOptions,
  FftRfft2Options,
  FftRfftfreqOptions,
  FftRfftnOptions,
  FftRfftOptions,
  FillDiagonalOptions,
  FlattenOptions,
  FourierPairsOptions,
  FractionalMaxPool2dOptions,
  FractionalMaxPool3dOptions,
  FullLikeOptions,
  FullOptions,
  GatherOptions,
  GaussianNllLossOptions,
  GeluOptions,
  GeometricOptions,
  GluOptions,
  GridSampleOptions,
  GroupNormOptions,
  GumbelSoftmaxOptions,
  HammingWindowOptions,
  HannWindowOptions,
  HardshrinkOptions,
  HardsigmoidOptions,
  HardswishOptions,
  HardtanhOptions,
  HingeEmbeddingLossOptions,
  HistcOptions,
  HistogramOptions,
  HuberLossOptions,
  Im2colOptions,
  IndexAddOptions,
  IndexPutOptions,
  IndexReduceOptions,
  InstanceNormOptions,
  InterpolateOptions,
  InvExOptions,
  IscloseOptions,
  IsinOptions,
  IstftOptions,
  KaiserWindowOptions,
  KlDivOptions,
  KthvalueOptions,
  L1LossOptions,
  LayerNormOptions,
  LdlFactorExOptions,
  LdlFactorOptions,
  LdlSolveOptions,
  LeakyReluOptions,
  LinalgCrossOptions,
  LinalgDiagonalOptions,
  LinalgLuOptions,
  LinalgLuSolveOptions,
  LinalgNormOptions,
  LinalgSvdOptions,
  LinearCrossEntropyOptions,
  LinearOptions,
  LinspaceOptions,
  LobpcgOptions,
  LocalResponseNormOptions,
  LogitOptions,
  LogNormalOptions,
  LogSoftmaxOptions,
  LogspaceOptions,
  LogsumexpOptions,
  LpPool1dOptions,
  LpPool2dOptions,
  LpPool3dOptions,
  LstsqOptions,
  LuFactorExOptions,
  LuFactorOptions,
  LuOptions,
  LuUnpackOptions,
  MarginRankingLossOptions,
  MatrixNormOptions,
  MatrixRankOptions,
  MaxOptions,
  MaxPool1dOptions,
  MaxPool2dOptions,
  MaxPool2dWithIndicesBackwardOptions,
  MaxPool3dOptions,
  MaxUnpool1dOptions,
  MaxUnpool2dOptions,
  MaxUnpool3dOptions,
  MeanOptions,
  MedianOptions,
  MeshgridOptions,
  MinOptions,
  MishOptions,
  ModeOptions,
  MseLossOptions,
  MultilabelMarginLossOptions,
  MultilabelSoftMarginLossOptions,
  MultiMarginLossOptions,
  MultinomialOptions,
  NanmeanOptions,
  NanmedianOptions,
  NanquantileOptions,
  NansumOptions,
  NanToNumOptions,
  NativeBatchNormOptions,
  NativeGroupNormOptions,
  NativeLayerNormOptions,
  NewEmptyOptions,
  NewFullOptions,
  NewOnesOptions,
  NewZerosOptions,
  NllLossOptions,
  NonzeroOptions,
  NormalizeOptions,
  NormalOptions,
  NormOptions,
  OneHotOptions,
  OnesLikeOptions,
  OnesOptions,
  Operand,
  OrmqrOptions,
  PadOptions,
  PairwiseDistanceOptions,
  PcaLowrankOptions,
  PdistOptions,
  PermutationOfOptions,
  PinverseOptions,
  PinvOptions,
  PoissonNllLossOptions,
  ProdOptions,
  PutIndicesOptions,
  PutOptions,
  QrOptions,
  QuantileOptions,
  RandintLikeOptions,
  RandintOptions,
  RandLikeOptions,
  RandnLikeOptions,
  RandnOptions,
  RandomOptions,
  RandOptions,
  RandpermOptions,
  ReadStridedOptions,
  Relu6Options,
  ReluOptions,
  RepeatInterleaveOptions,
  RmsNormOptions,
  RollOptions,
  Rot90Options,
  RoundOptions,
  RreluOptions,
  RsubOptions,
  SafeSoftmaxOptions,
  ScalarTensorOptions,
  ScaledDotProductAttentionOptions,
  ScatterOptions,
  ScatterReduceOptions,
  SearchsortedOptions,
  SegmentReduceOptions,
  SeluOptions,
  SigmoidOptions,
  SiluOptions,
  SliceOptions,
  SliceScatterOptions,
  SmoothL1LossOptions,
  SoftMarginLossOptions,
  SoftmaxOptions,
  SoftminOptions,
  SoftplusOptions,
  SoftshrinkOptions,
  SolveExOptions,
  SolveOptions,
  SolveTriangularOptions,
  SortOptions,
  SplitOptions,
  SplitWithSizesCopyOptions,
  SplitWithSizesOptions,
  SqueezeCopyOptions,
  SqueezeOptions,
  StackOptions,
  StdMeanOptions,
  StdOptions,
  StftOptions,
  SubOptions,
  SumOptions,
  SvdLowrankOptions,
  SvdOptions,
  TakeAlongDimOptions,
  TanhOptions,
  TensordotOptions,
  TensorinvOptions,
  TensorsolveOptions,
  TensorSplitOptions,
  ThresholdOptions,
  TopkOptions,
  TrapezoidOptions,
  TriangularSolveOptions,
  TrilIndicesOptions,
  TrilOptions,
  TripletMarginLossOptions,
  TriuIndicesOptions,
  TriuOptions,
  UnbindCopyOptions,
  UnbindOptions,
  UniformOptions,
  UniqueConsecutiveOptions,
  UniqueGroupsOptions,
  UniqueOptions,
  UnsafeChunkOptions,
  UnsafeSplitOptions,
  UpsampleBilinearOptions,
  UpsampleNearestOptions,
  VanderOptions,
  VarMeanOptions,
  VarOptions,
  VecdotOptions,
  VectorNormOptions,
  WriteStridedOptions,
  ZerosLikeOptions,
  ZerosOptions,
} from "../ops/generated.ts";
import { ops } from "./eager.ts";
import type { Tensor } from "./tensor.ts";

/** self + alpha · other, broadcast and promoted, as `torch.add`. */
export const add: (self: Tensor, other: Operand<Tensor>, options?: AddOptions) => Tensor = ops.add;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const sub: (self: Tensor, other: Operand<Tensor>, options?: SubOptions) => Tensor = ops.sub;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const subtract: (self: Tensor, other: Operand<Tensor>, options?: SubOptions) => Tensor = ops.sub;
/** other − alpha · self, as `torch.rsub`. */
export const rsub: (self: Tensor, other: Operand<Tensor>, options?: RsubOptions) => Tensor = ops.rsub;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const mul: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.mul;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const multiply: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.mul;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const div: (self: Tensor, other: Operand<Tensor>, options?: DivOptions) => Tensor = ops.div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const divide: (self: Tensor, other: Operand<Tensor>, options?: DivOptions) => Tensor = ops.div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const trueDivide: (self: Tensor, other: Operand<Tensor>, options?: DivOptions) => Tensor = ops.div;
/** floor(self / other) in the promoted type, as `torch.floor_divide`. */
export const floorDivide: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.floorDivide;
/** self − other · floor(self / other): the remainder with the sign of `other`, as `torch.remainder`. */
export const remainder: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.remainder;
/** The remainder with the sign of `self`, as `torch.fmod`. */
export const fmod: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.fmod;
/** self to the power `exponent`, broadcast and promoted, as `torch.pow`. One of them may be a number. */
export const pow: (self: Operand<Tensor>, exponent: Operand<Tensor>) => Tensor = ops.pow;
/** As pow, computed in float64, as `torch.float_power`. */
export const floatPower: (self: Operand<Tensor>, exponent: Operand<Tensor>) => Tensor = ops.floatPower;
/** Whether self eq other, elementwise, as `torch.eq`. */
export const eq: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.eq;
/** Whether self ne other, elementwise, as `torch.ne`. */
export const ne: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ne;
/** Whether self ne other, elementwise, as `torch.ne`. */
export const notEqual: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ne;
/** Whether self lt other, elementwise, as `torch.lt`. */
export const lt: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.lt;
/** Whether self lt other, elementwise, as `torch.lt`. */
export const less: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.lt;
/** Whether self le other, elementwise, as `torch.le`. */
export const le: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.le;
/** Whether self le other, elementwise, as `torch.le`. */
export const lessEqual: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.le;
/** Whether self gt other, elementwise, as `torch.gt`. */
export const gt: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.gt;
/** Whether self gt other, elementwise, as `torch.gt`. */
export const greater: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.gt;
/** Whether self ge other, elementwise, as `torch.ge`. */
export const ge: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ge;
/** Whether self ge other, elementwise, as `torch.ge`. */
export const greaterEqual: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ge;
/** Logical and of what is not 0, as `torch.logical_and`. */
export const logicalAnd: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalAnd;
/** Logical or of what is not 0, as `torch.logical_or`. */
export const logicalOr: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalOr;
/** Logical xor of what is not 0, as `torch.logical_xor`. */
export const logicalXor: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalXor;
/** Whether an element is 0, as `torch.logical_not`. */
export const logicalNot: (self: Tensor) => Tensor = ops.logicalNot;
/** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
export const bitwiseAnd: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseAnd;
/** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
export const bitwiseOr: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseOr;
/** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
export const bitwiseXor: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseXor;
/** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
export const bitwiseNot: (self: Tensor) => Tensor = ops.bitwiseNot;
/** Shift of integers by other bits, as `torch.bitwiseLeftShift`. */
export const bitwiseLeftShift: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseLeftShift;
/** Shift of integers by other bits, as `torch.bitwiseRightShift`. */
export const bitwiseRightShift: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseRightShift;
/** isnan of each element, as `torch.isnan`. */
export const isnan: (self: Tensor) => Tensor = ops.isnan;
/** isinf of each element, as `torch.isinf`. */
export const isinf: (self: Tensor) => Tensor = ops.isinf;
/** isposinf of each element, as `torch.isposinf`. */
export const isposinf: (self: Tensor) => Tensor = ops.isposinf;
/** isneginf of each element, as `torch.isneginf`. */
export const isneginf: (self: Tensor) => Tensor = ops.isneginf;
/** isfinite of each element, as `torch.isfinite`. */
export const isfinite: (self: Tensor) => Tensor = ops.isfinite;
/** isreal of each element, as `torch.isreal`. */
export const isreal: (self: Tensor) => Tensor = ops.isreal;
/** Whether the sign bit is set, that of −0 included, as `torch.signbit`. */
export const signbit: (self: Tensor) => Tensor = ops.signbit;
/** input where the condition holds, else other, broadcast and promoted, as `torch.where`. */
export const where: (condition: Tensor, input: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.where;
/** self with `value` where the mask is true, as `Tensor.masked_fill`. */
export const maskedFill: (self: Tensor, mask: Tensor, value: Operand<Tensor>) => Tensor = ops.maskedFill;
/** |self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`. */
export const isclose: (
  self: Tensor,
  other: Tensor,
  rtol?: number | IscloseOptions,
  atol?: number | IscloseOptions,
  equalNan?: boolean | IscloseOptions,
  options?: IscloseOptions,
) => Tensor = ops.isclose;
/** −self, as `torch.neg`. */
export const neg: (self: Tensor) => Tensor = ops.neg;
/** −self, as `torch.neg`. */
export const negative: (self: Tensor) => Tensor = ops.neg;
/** |self|, as `torch.abs`. */
export const abs: (self: Tensor) => Tensor = ops.abs;
/** |self|, as `torch.abs`. */
export const absolute: (self: Tensor) => Tensor = ops.abs;
/** −1, 0 or 1, 0 for NaN too, as `torch.sign`. */
export const sign: (self: Tensor) => Tensor = ops.sign;
/** self · self, of bools as integers, as `torch.square`. */
export const square: (self: Tensor) => Tensor = ops.square;
/** self, as `torch.positive`. */
export const positive: (self: Tensor) => Tensor = ops.positive;
/** floor of each element, as `torch.floor`. */
export const floor: (self: Tensor) => Tensor = ops.floor;
/** ceil of each element, as `torch.ceil`. */
export const ceil: (self: Tensor) => Tensor = ops.ceil;
/** trunc of each element, as `torch.trunc`. */
export const trunc: (self: Tensor) => Tensor = ops.trunc;
/** trunc of each element, as `torch.trunc`. */
export const fix: (self: Tensor) => Tensor = ops.trunc;
/** The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`. */
export const round: (self: Tensor, options?: RoundOptions) => Tensor = ops.round;
/** self − trunc(self), as `torch.frac`. */
export const frac: (self: Tensor) => Tensor = ops.frac;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const sigmoid: (self: Tensor, inplace?: boolean | SigmoidOptions, options?: SigmoidOptions) => Tensor =
  ops.sigmoid;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const expit: (self: Tensor, inplace?: boolean | SigmoidOptions, options?: SigmoidOptions) => Tensor =
  ops.sigmoid;
/** log(x / (1 − x)) of x = self, clamped to [eps, 1 − eps] where eps is given, as `torch.logit`. */
export const logit: (self: Tensor, eps?: number | null | LogitOptions, options?: LogitOptions) => Tensor =
  ops.logit;
/** sqrt of each element, as `torch.sqrt`; integers are converted to floats. */
export const sqrt: (self: Tensor) => Tensor = ops.sqrt;
/** rsqrt of each element, as `torch.rsqrt`; integers are converted to floats. */
export const rsqrt: (self: Tensor) => Tensor = ops.rsqrt;
/** reciprocal of each element, as `torch.reciprocal`; integers are converted to floats. */
export const reciprocal: (self: Tensor) => Tensor = ops.reciprocal;
/** exp of each element, as `torch.exp`; integers are converted to floats. */
export const exp: (self: Tensor) => Tensor = ops.exp;
/** exp2 of each element, as `torch.exp2`; integers are converted to floats. */
export const exp2: (self: Tensor) => Tensor = ops.exp2;
/** expm1 of each element, as `torch.expm1`; integers are converted to floats. */
export const expm1: (self: Tensor) => Tensor = ops.expm1;
/** log of each element, as `torch.log`; integers are converted to floats. */
export const log: (self: Tensor) => Tensor = ops.log;
/** log2 of each element, as `torch.log2`; integers are converted to floats. */
export const log2: (self: Tensor) => Tensor = ops.log2;
/** log10 of each element, as `torch.log10`; integers are converted to floats. */
export const log10: (self: Tensor) => Tensor = ops.log10;
/** log1p of each element, as `torch.log1p`; integers are converted to floats. */
export const log1p: (self: Tensor) => Tensor = ops.log1p;
/** sin of each element, as `torch.sin`; integers are converted to floats. */
export const sin: (self: Tensor) => Tensor = ops.sin;
/** cos of each element, as `torch.cos`; integers are converted to floats. */
export const cos: (self: Tensor) => Tensor = ops.cos;
/** tan of each element, as `torch.tan`; integers are converted to floats. */
export const tan: (self: Tensor) => Tensor = ops.tan;
/** asin of each element, as `torch.asin`; integers are converted to floats. */
export const asin: (self: Tensor) => Tensor = ops.asin;
/** asin of each element, as `torch.asin`; integers are converted to floats. */
export const arcsin: (self: Tensor) => Tensor = ops.asin;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const acos: (self: Tensor) => Tensor = ops.acos;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const arccos: (self: Tensor) => Tensor = ops.acos;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const atan: (self: Tensor) => Tensor = ops.atan;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const arctan: (self: Tensor) => Tensor = ops.atan;
/** sinh of each element, as `torch.sinh`; integers are converted to floats. */
export const sinh: (self: Tensor) => Tensor = ops.sinh;
/** cosh of each element, as `torch.cosh`; integers are converted to floats. */
export const cosh: (self: Tensor) => Tensor = ops.cosh;
/** tanh of each element, as `torch.tanh`; integers are converted to floats. */
export const tanh: (self: Tensor, inplace?: boolean | TanhOptions, options?: TanhOptions) => Tensor =
  ops.tanh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const asinh: (self: Tensor) => Tensor = ops.asinh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const arcsinh: (self: Tensor) => Tensor = ops.asinh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const acosh: (self: Tensor) => Tensor = ops.acosh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const arccosh: (self: Tensor) => Tensor = ops.acosh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const atanh: (self: Tensor) => Tensor = ops.atanh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const arctanh: (self: Tensor) => Tensor = ops.atanh;
/** erf of each element, as `torch.erf`; integers are converted to floats. */
export const erf: (self: Tensor) => Tensor = ops.erf;
/** erfc of each element, as `torch.erfc`; integers are converted to floats. */
export const erfc: (self: Tensor) => Tensor = ops.erfc;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const lgamma: (self: Tensor) => Tensor = ops.lgamma;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const gammaln: (self: Tensor) => Tensor = ops.lgamma;
/** sinc of each element, as `torch.sinc`; integers are converted to floats. */
export const sinc: (self: Tensor) => Tensor = ops.sinc;
/** deg2rad of each element, as `torch.deg2rad`; integers are converted to floats. */
export const deg2rad: (self: Tensor) => Tensor = ops.deg2rad;
/** rad2deg of each element, as `torch.rad2deg`; integers are converted to floats. */
export const rad2deg: (self: Tensor) => Tensor = ops.rad2deg;
/** The maximum of two operands, NaN where either is, as `torch.maximum`. */
export const maximum: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.maximum;
/** The minimum of two operands, NaN where either is, as `torch.minimum`. */
export const minimum: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.minimum;
/** The maximum of two operands, the other one where one is NaN, as `torch.fmax`. */
export const fmax: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.fmax;
/** The minimum of two operands, the other one where one is NaN, as `torch.fmin`. */
export const fmin: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.fmin;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clamp: (
  self: Tensor,
  min?: Operand<Tensor> | null | ClampOptions<Tensor>,
  max?: Operand<Tensor> | null | ClampOptions<Tensor>,
  options?: ClampOptions<Tensor>,
) => Tensor = ops.clamp;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clip: (
  self: Tensor,
  min?: Operand<Tensor> | null | ClampOptions<Tensor>,
  max?: Operand<Tensor> | null | ClampOptions<Tensor>,
  options?: ClampOptions<Tensor>,
) => Tensor = ops.clamp;
/** self limited from below, as `torch.clamp_min`. */
export const clampMin: (self: Tensor, bound: Operand<Tensor>) => Tensor = ops.clampMin;
/** self limited from above, as `torch.clamp_max`. */
export const clampMax: (self: Tensor, bound: Operand<Tensor>) => Tensor = ops.clampMax;
/**
 * NaN and the infinities replaced by numbers: 0 and the extremes of the type where not given. As
 * `torch.nan_to_num`.
 */
export const nanToNum: (
  self: Tensor,
  nan?: number | null | NanToNumOptions,
  posinf?: number | null | NanToNumOptions,
  neginf?: number | null | NanToNumOptions,
  options?: NanToNumOptions,
) => Tensor = ops.nanToNum;
/** 0 below 0, 1 above, `other` at 0, as `torch.heaviside`. */
export const heaviside: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.heaviside;
/** max(self, 0), where −0 and NaN stay what they are, as `torch.relu`. */
export const relu: (self: Tensor, inplace?: boolean | ReluOptions, options?: ReluOptions) => Tensor =
  ops.relu;
/** The gradient where `self` is above the threshold (or NaN), else 0. */
export const thresholdBackward: {
  (grad: Tensor, self: Tensor, threshold: number): Tensor;
  (grad: Tensor, self: Tensor, named: { readonly threshold: number }): Tensor;
} = ops.thresholdBackward;
/** min(max(self, 0), 6), as `nn.functional.relu6`. */
export const relu6: (self: Tensor, inplace?: boolean | Relu6Options, options?: Relu6Options) => Tensor =
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
/** self above the threshold, else `value`, as `nn.functional.threshold`. */
export const threshold: {
  (
    self: Tensor,
    threshold: number,
    value: number,
    inplace?: boolean | ThresholdOptions,
    options?: ThresholdOptions,
  ): Tensor;
  (self: Tensor, named: { readonly threshold: number; readonly value: number } & ThresholdOptions): Tensor;
} = ops.threshold;
/** self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`. */
export const prelu: (self: Tensor, weight: Tensor) => Tensor = ops.prelu;
/** min(max(self + 3, 0), 6) / 6, as `nn.functional.hardsigmoid`. */
export const hardsigmoid: (
  self: Tensor,
  inplace?: boolean | HardsigmoidOptions,
  options?: HardsigmoidOptions,
) => Tensor = ops.hardsigmoid;
/** self · hardsigmoid(self), as `nn.functional.hardswish`. */
export const hardswish: (
  self: Tensor,
  inplace?: boolean | HardswishOptions,
  options?: HardswishOptions,
) => Tensor = ops.hardswish;
/** 0 within lambd of 0, else self brought nearer by lambd, as `nn.functional.softshrink`. */
export const softshrink: (
  self: Tensor,
  lambd?: number | SoftshrinkOptions,
  options?: SoftshrinkOptions,
) => Tensor = ops.softshrink;
/** 0 within lambd of 0, else self, as `nn.functional.hardshrink`. */
export const hardshrink: (
  self: Tensor,
  lambd?: number | HardshrinkOptions,
  options?: HardshrinkOptions,
) => Tensor = ops.hardshrink;
/** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
export const sum: (
  self: Tensor,
  dim?: number | readonly number[] | null | SumOptions,
  keepdim?: boolean | SumOptions,
  options?: SumOptions,
) => Tensor = ops.sum;
/** The mean over dimensions, of floats, as `torch.mean`. */
export const mean: (
  self: Tensor,
  dim?: number | readonly number[] | null | MeanOptions,
  keepdim?: boolean | MeanOptions,
  options?: MeanOptions,
) => Tensor = ops.mean;
/** The product over all elements or one dimension, as `torch.prod`. */
export const prod: (
  self: Tensor,
  dim?: number | null | ProdOptions,
  keepdim?: boolean | ProdOptions,
  options?: ProdOptions,
) => Tensor = ops.prod;
/** The maximum over dimensions; NaN where there is one. As `torch.amax`. */
export const amax: (
  self: Tensor,
  dim?: number | readonly number[] | null | AmaxOptions,
  keepdim?: boolean | AmaxOptions,
  options?: AmaxOptions,
) => Tensor = ops.amax;
/** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
export const amin: (
  self: Tensor,
  dim?: number | readonly number[] | null | AminOptions,
  keepdim?: boolean | AminOptions,
  options?: AminOptions,
) => Tensor = ops.amin;
/** The index of the first maximum over one dimension, or in the flattened tensor. As `torch.argmax`. */
export const argmax: (
  self: Tensor,
  dim?: number | null | ArgmaxOptions,
  keepdim?: boolean | ArgmaxOptions,
  options?: ArgmaxOptions,
) => Tensor = ops.argmax;
/** The index of the first minimum over one dimension, or in the flattened tensor. As `torch.argmin`. */
export const argmin: (
  self: Tensor,
  dim?: number | null | ArgminOptions,
  keepdim?: boolean | ArgminOptions,
  options?: ArgminOptions,
) => Tensor = ops.argmin;
/** Whether any of the elements over dimensions are not 0, as `torch.any`. */
export const any: (
  self: Tensor,
  dim?: number | readonly number[] | null | AnyOptions,
  keepdim?: boolean | AnyOptions,
  options?: AnyOptions,
) => Tensor = ops.any;
/** Whether all of the elements over dimensions are not 0, as `torch.all`. */
export const all: (
  self: Tensor,
  dim?: number | readonly number[] | null | AllOptions,
  keepdim?: boolean | AllOptions,
  options?: AllOptions,
) => Tensor = ops.all;
/**
 * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
 * the elementwise maximum. As `torch.max`.
 */
export const max: {
  (self: Tensor, other: Tensor): Tensor;
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | MaxOptions<Tensor>,
    options?: MaxOptions<Tensor>,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    options: MaxOptions<Tensor> & { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (self: Tensor, dim?: null | MaxOptions<Tensor>, keepdim?: boolean): Tensor;
} = ops.max;
/**
 * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
 * the elementwise minimum. As `torch.min`.
 */
export const min: {
  (self: Tensor, other: Tensor): Tensor;
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | MinOptions<Tensor>,
    options?: MinOptions<Tensor>,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    options: MinOptions<Tensor> & { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (self: Tensor, dim?: null | MinOptions<Tensor>, keepdim?: boolean): Tensor;
} = ops.min;
/** How many elements are not 0 over dimensions, as `torch.count_nonzero`. */
export const countNonzero: (
  self: Tensor,
  dim?: number | readonly number[] | null | CountNonzeroOptions,
  options?: CountNonzeroOptions,
) => Tensor = ops.countNonzero;
/** The sum over dimensions of what is not NaN, as `torch.nansum`. */
export const nansum: (
  self: Tensor,
  dim?: number | readonly number[] | null | NansumOptions,
  keepdim?: boolean | NansumOptions,
  options?: NansumOptions,
) => Tensor = ops.nansum;
/** The mean over dimensions of what is not NaN, as `torch.nanmean`. */
export const nanmean: (
  self: Tensor,
  dim?: number | readonly number[] | null | NanmeanOptions,
  keepdim?: boolean | NanmeanOptions,
  options?: NanmeanOptions,
) => Tensor = ops.nanmean;
/** A tensor of zeros, as `torch.zeros`. */
export const zeros: {
  (size: readonly Dim[], options?: ZerosOptions): Tensor;
  (...size: (Dim | ZerosOptions)[]): Tensor;
} = ops.zeros;
/** A tensor of ones, as `torch.ones`. */
export const ones: {
  (size: readonly Dim[], options?: OnesOptions): Tensor;
  (...size: (Dim | OnesOptions)[]): Tensor;
} = ops.ones;
/** A tensor whose elements are not specified (zeros), as `torch.empty`. */
export const empty: {
  (size: readonly Dim[], options?: EmptyOptions): Tensor;
  (...size: (Dim | EmptyOptions)[]): Tensor;
} = ops.empty;
/** As zeros, of the shape, type and device of `self`. */
export const zerosLike: (self: Tensor, options?: ZerosLikeOptions) => Tensor = ops.zerosLike;
/** As ones, of the shape, type and device of `self`. */
export const onesLike: (self: Tensor, options?: OnesLikeOptions) => Tensor = ops.onesLike;
/** As empty, of the shape, type and device of `self`. */
export const emptyLike: (self: Tensor, options?: EmptyLikeOptions) => Tensor = ops.emptyLike;
/** As zeros, of the type and device of `self`. */
export const newZeros: {
  (self: Tensor, size: readonly Dim[], options?: NewZerosOptions): Tensor;
  (self: Tensor, ...size: (Dim | NewZerosOptions)[]): Tensor;
} = ops.newZeros;
/** As ones, of the type and device of `self`. */
export const newOnes: {
  (self: Tensor, size: readonly Dim[], options?: NewOnesOptions): Tensor;
  (self: Tensor, ...size: (Dim | NewOnesOptions)[]): Tensor;
} = ops.newOnes;
/** As empty, of the type and device of `self`. */
export const newEmpty: {
  (self: Tensor, size: readonly Dim[], options?: NewEmptyOptions): Tensor;
  (self: Tensor, ...size: (Dim | NewEmptyOptions)[]): Tensor;
} = ops.newEmpty;
/** A tensor of one value; its type is that of the number where not given. As `torch.full`. */
export const full: (
  size: readonly Dim[],
  fillValue: Scalar | Dim | Complex,
  options?: FullOptions,
) => Tensor = ops.full;
/** As full, of the shape, type and device of `self`. */
export const fullLike: (
  self: Tensor,
  fillValue: Scalar | Dim | Complex,
  options?: FullLikeOptions,
) => Tensor = ops.fullLike;
/** As full, of the type and device of `self`. */
export const newFull: (
  self: Tensor,
  size: readonly Dim[],
  fillValue: Scalar | Dim | Complex,
  options?: NewFullOptions,
) => Tensor = ops.newFull;
/** A tensor of the shape and type of `self` with every element `value`, as `torch.fill`. */
export const fill: (self: Tensor, value: Operand<Tensor>) => Tensor = ops.fill;
/** Zeros of the shape and type of `self`; `zero_` clears a tensor. */
export const zero: (self: Tensor) => Tensor = ops.zero;
/** arange(end), arange(start, end, step): start, start + step, … before end, as `torch.arange`. */
export const arange: (
  start: Scalar | Dim,
  end?: Scalar | Dim | null | ArangeOptions,
  step?: Scalar | Dim | ArangeOptions,
  options?: ArangeOptions,
) => Tensor = ops.arange;
/** `steps` numbers from start to end, both included, evenly spaced, as `torch.linspace`. */
export const linspace: (
  start: Scalar | Dim,
  end: Scalar | Dim,
  steps: number,
  options?: LinspaceOptions,
) => Tensor = ops.linspace;
/** base to the powers of linspace(start, end, steps), as `torch.logspace`. */
export const logspace: (
  start: Scalar | Dim,
  end: Scalar | Dim,
  steps: number,
  base?: number | LogspaceOptions,
  options?: LogspaceOptions,
) => Tensor = ops.logspace;
/** Ones on the diagonal of an n × m matrix of zeros, as `torch.eye`. */
export const eye: (n: Dim, m?: Dim | null | EyeOptions, options?: EyeOptions) => Tensor = ops.eye;
/** A 0-d tensor of a number, as `torch.scalar_tensor`. */
export const scalarTensor: (s: Scalar | Dim, options?: ScalarTensorOptions) => Tensor = ops.scalarTensor;
/** The elements in another type: floats truncate towards integers, and what is not 0 is true. */
export const convert: {
  (self: Tensor, dtype: DType): Tensor;
  (self: Tensor, named: { readonly dtype: DType }): Tensor;
} = ops.convert;
/** Itself where the type is the same, else a copy in that type. The method `to` also takes devices. */
export const to: {
  (self: Tensor, dtype: DType): Tensor;
  (self: Tensor, named: { readonly dtype: DType }): Tensor;
} = ops.to;
/** The elements as float32, as `Tensor.float`. */
export const float: (self: Tensor) => Tensor = ops.float;
/** The elements as float64, as `Tensor.double`. */
export const double: (self: Tensor) => Tensor = ops.double;
/** The elements as int64, as `Tensor.long`. */
export const long: (self: Tensor) => Tensor = ops.long;
/** The elements as int32, as `Tensor.int`. */
export const int: (self: Tensor) => Tensor = ops.int;
/** The elements as float16, as `Tensor.half`. */
export const half: (self: Tensor) => Tensor = ops.half;
/** The elements as bfloat16, as `Tensor.bfloat16`. */
export const bfloat16: (self: Tensor) => Tensor = ops.bfloat16;
/** The elements as int16, as `Tensor.short`. */
export const short: (self: Tensor) => Tensor = ops.short;
/** The elements as int8, as `Tensor.char`. */
export const char: (self: Tensor) => Tensor = ops.char;
/** The elements as uint8, as `Tensor.byte`. */
export const byte: (self: Tensor) => Tensor = ops.byte;
/** The elements as bool, as `Tensor.bool`. */
export const bool: (self: Tensor) => Tensor = ops.bool;
/** A copy of the elements, as `torch.clone`. */
export const clone: (self: Tensor) => Tensor = ops.clone;
/**
 * The elements of `src`, broadcast and converted to the shape and type of `self`; `copy_` writes them
 * there.
 */
export const copy: (
  self: Tensor,
  src: Operand<Tensor>,
  nonBlocking?: boolean | CopyOptions,
  options?: CopyOptions,
) => Tensor = ops.copy;
/** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
export const view: {
  (self: Tensor, size: readonly Dim[]): Tensor;
  (self: Tensor, ...size: Dim[]): Tensor;
} = ops.view;
/** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
export const reshape: {
  (self: Tensor, shape: readonly Dim[]): Tensor;
  (self: Tensor, ...shape: Dim[]): Tensor;
} = ops.reshape;
/** Itself where its elements lie in row-major order, else a copy that does. As `Tensor.contiguous`. */
export const contiguous: (self: Tensor) => Tensor = ops.contiguous;
/** The dimensions in another order, as `torch.permute`. */
export const permute: {
  (self: Tensor, dims: readonly number[]): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
} = ops.permute;
/** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
export const squeeze: (
  self: Tensor,
  dim?: number | readonly number[] | null | SqueezeOptions,
  options?: SqueezeOptions,
) => Tensor = ops.squeeze;
/** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
export const unsqueeze: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.unsqueeze;
/** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
export const expand: {
  (self: Tensor, size: readonly Dim[], options?: ExpandOptions): Tensor;
  (self: Tensor, ...size: (Dim | ExpandOptions)[]): Tensor;
} = ops.expand;
/** The part at `index` along `dim`, without that dimension, as `torch.select`. */
export const select: {
  (self: Tensor, dim: number, index: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Dim }): Tensor;
} = ops.select;
/** The elements start, start + step, … before end along `dim`, as x[start:end:step]. */
export const slice: (
  self: Tensor,
  dim?: number | SliceOptions,
  start?: Dim | null | SliceOptions,
  end?: Dim | null | SliceOptions,
  step?: number | SliceOptions,
  options?: SliceOptions,
) => Tensor = ops.slice;
/** The diagonal of two dimensions as a new last dimension, as `torch.diagonal`. */
export const diagonal: (
  self: Tensor,
  offset?: number | DiagonalOptions,
  dim1?: number | DiagonalOptions,
  dim2?: number | DiagonalOptions,
  options?: DiagonalOptions,
) => Tensor = ops.diagonal;
/** The same tensor as another object. */
export const alias: (self: Tensor) => Tensor = ops.alias;
/** The same elements, sharing memory, without a history of gradients, as `Tensor.detach`. */
export const detach: (self: Tensor) => Tensor = ops.detach;
/**
 * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension. As
 * `Tensor.unfold`.
 */
export const unfold: {
  (self: Tensor, dimension: number, size: number, step: number): Tensor;
  (self: Tensor, named: { readonly dimension: number; readonly size: number; readonly step: number }): Tensor;
} = ops.unfold;
/** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
export const asStrided: {
  (
    self: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedOptions,
    options?: AsStridedOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedOptions,
  ): Tensor;
} = ops.asStrided;
/** As alias, copied. */
export const aliasCopy: (self: Tensor) => Tensor = ops.aliasCopy;
/** As asStrided, copied. */
export const asStridedCopy: {
  (
    self: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedCopyOptions,
    options?: AsStridedCopyOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedCopyOptions,
  ): Tensor;
} = ops.asStridedCopy;
/** As diagonal, copied. */
export const diagonalCopy: (
  self: Tensor,
  offset?: number | DiagonalCopyOptions,
  dim1?: number | DiagonalCopyOptions,
  dim2?: number | DiagonalCopyOptions,
  options?: DiagonalCopyOptions,
) => Tensor = ops.diagonalCopy;
/** As expand, copied. */
export const expandCopy: {
  (self: Tensor, size: readonly Dim[], options?: ExpandCopyOptions): Tensor;
  (self: Tensor, ...size: (Dim | ExpandCopyOptions)[]): Tensor;
} = ops.expandCopy;
/** As permute, copied. */
export const permuteCopy: {
  (self: Tensor, dims: readonly number[]): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
} = ops.permuteCopy;
/** As squeeze, copied. */
export const squeezeCopy: (
  self: Tensor,
  dim?: number | readonly number[] | null | SqueezeCopyOptions,
  options?: SqueezeCopyOptions,
) => Tensor = ops.squeezeCopy;
/** As unfold, copied. */
export const unfoldCopy: {
  (self: Tensor, dimension: number, size: number, step: number): Tensor;
  (self: Tensor, named: { readonly dimension: number; readonly size: number; readonly step: number }): Tensor;
} = ops.unfoldCopy;
/** As unsqueeze, copied. */
export const unsqueezeCopy: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.unsqueezeCopy;
/** As view, copied. */
export const viewCopy: {
  (self: Tensor, size: readonly Dim[]): Tensor;
  (self: Tensor, ...size: Dim[]): Tensor;
} = ops.viewCopy;
/** As narrow, copied. */
export const narrowCopy: {
  (self: Tensor, dim: number, start: Dim, length: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): Tensor;
} = ops.narrowCopy;
/** As splitWithSizes, copied. */
export const splitWithSizesCopy: {
  (
    self: Tensor,
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesCopyOptions): Tensor[];
} = ops.splitWithSizesCopy;
/** As t, copied. */
export const tCopy: (self: Tensor) => Tensor = ops.tCopy;
/** As transpose, copied. */
export const transposeCopy: {
  (self: Tensor, dim0: number, dim1: number): Tensor;
  (self: Tensor, named: { readonly dim0: number; readonly dim1: number }): Tensor;
} = ops.transposeCopy;
/** As unbind, copied. */
export const unbindCopy: (
  self: Tensor,
  dim?: number | UnbindCopyOptions,
  options?: UnbindCopyOptions,
) => Tensor[] = ops.unbindCopy;
/** As split, copied. */
export const unsafeSplit: {
  (
    self: Tensor,
    splitSize: number | readonly number[],
    dim?: number | UnsafeSplitOptions,
    options?: UnsafeSplitOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSize: number | readonly number[] } & UnsafeSplitOptions): Tensor[];
} = ops.unsafeSplit;
/** As chunk, copied. */
export const unsafeChunk: {
  (self: Tensor, chunks: number, dim?: number | UnsafeChunkOptions, options?: UnsafeChunkOptions): Tensor[];
  (self: Tensor, named: { readonly chunks: number } & UnsafeChunkOptions): Tensor[];
} = ops.unsafeChunk;
/** self with `src` put where select(dim, index) reads, as `torch.select_scatter`. */
export const selectScatter: {
  (self: Tensor, src: Tensor, dim: number, index: Dim): Tensor;
  (self: Tensor, src: Tensor, named: { readonly dim: number; readonly index: Dim }): Tensor;
} = ops.selectScatter;
/** self with `src` put where slice(dim, start, end, step) reads, as `torch.slice_scatter`. */
export const sliceScatter: (
  self: Tensor,
  src: Tensor,
  dim?: number | SliceScatterOptions,
  start?: Dim | null | SliceScatterOptions,
  end?: Dim | null | SliceScatterOptions,
  step?: number | SliceScatterOptions,
  options?: SliceScatterOptions,
) => Tensor = ops.sliceScatter;
/** self with `src` on the diagonal that diagonal(offset, dim1, dim2) reads, as `torch.diagonal_scatter`. */
export const diagonalScatter: (
  self: Tensor,
  src: Tensor,
  offset?: number | DiagonalScatterOptions,
  dim1?: number | DiagonalScatterOptions,
  dim2?: number | DiagonalScatterOptions,
  options?: DiagonalScatterOptions,
) => Tensor = ops.diagonalScatter;
/** The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`. */
export const diagEmbed: (
  self: Tensor,
  offset?: number | DiagEmbedOptions,
  dim1?: number | DiagEmbedOptions,
  dim2?: number | DiagEmbedOptions,
  options?: DiagEmbedOptions,
) => Tensor = ops.diagEmbed;
/** Adds the windows of an unfolding back into a tensor of the shape it had. */
export const unfoldBackward: {
  (grad: Tensor, inputSizes: readonly Dim[], dim: number, size: number, step: number): Tensor;
  (
    grad: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly dim: number;
      readonly size: number;
      readonly step: number;
    },
  ): Tensor;
} = ops.unfoldBackward;
/** Adds the elements of a strided view back into a row-major tensor of the shape it had. */
export const asStridedBackward: {
  (
    grad: Tensor,
    inputSizes: readonly Dim[],
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedBackwardOptions,
    options?: AsStridedBackwardOptions,
  ): Tensor;
  (
    grad: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly size: readonly Dim[];
      readonly stride: readonly Dim[];
    } & AsStridedBackwardOptions,
  ): Tensor;
} = ops.asStridedBackward;
/** What asStrided shows of self, taken as row-major, wherever its elements lie. */
export const readStrided: {
  (
    self: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | ReadStridedOptions,
    options?: ReadStridedOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & ReadStridedOptions,
  ): Tensor;
} = ops.readStrided;
/** self, taken as row-major, with `src` put where asStrided reads. */
export const writeStrided: {
  (
    self: Tensor,
    src: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | WriteStridedOptions,
    options?: WriteStridedOptions,
  ): Tensor;
  (
    self: Tensor,
    src: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & WriteStridedOptions,
  ): Tensor;
} = ops.writeStrided;
/**
 * self with `src` put where asStrided reads, as `torch.as_strided_scatter`, of a row-major tensor. Its
 * gradient is PyTorch's, which is not the derivative: self gets that of the elements that were replaced.
 */
export const asStridedScatter: {
  (
    self: Tensor,
    src: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | AsStridedScatterOptions,
    options?: AsStridedScatterOptions,
  ): Tensor;
  (
    self: Tensor,
    src: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & AsStridedScatterOptions,
  ): Tensor;
} = ops.asStridedScatter;
/** Two dimensions exchanged, as `torch.transpose`. */
export const transpose: {
  (self: Tensor, dim0: number, dim1: number): Tensor;
  (self: Tensor, named: { readonly dim0: number; readonly dim1: number }): Tensor;
} = ops.transpose;
/** Two dimensions exchanged, as `torch.transpose`. */
export const swapaxes: {
  (self: Tensor, dim0: number, dim1: number): Tensor;
  (self: Tensor, named: { readonly dim0: number; readonly dim1: number }): Tensor;
} = ops.transpose;
/** Two dimensions exchanged, as `torch.transpose`. */
export const swapdims: {
  (self: Tensor, dim0: number, dim1: number): Tensor;
  (self: Tensor, named: { readonly dim0: number; readonly dim1: number }): Tensor;
} = ops.transpose;
/** A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`. */
export const t: (self: Tensor) => Tensor = ops.t;
/** All dimensions in reverse order, as the property `x.T` (and, for real matrices, `x.H`). */
export const T: (self: Tensor) => Tensor = ops.T;
/** All dimensions in reverse order, as the property `x.T` (and, for real matrices, `x.H`). */
export const H: (self: Tensor) => Tensor = ops.T;
/** The last two dimensions exchanged, as the property `x.mT` (and, for real numbers, `x.mH`). */
export const mT: (self: Tensor) => Tensor = ops.mT;
/** The last two dimensions exchanged, as the property `x.mT` (and, for real numbers, `x.mH`). */
export const mH: (self: Tensor) => Tensor = ops.mT;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const movedim: {
  (self: Tensor, source: number | readonly number[], destination: number | readonly number[]): Tensor;
  (
    self: Tensor,
    named: { readonly source: number | readonly number[]; readonly destination: number | readonly number[] },
  ): Tensor;
} = ops.movedim;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const moveaxis: {
  (self: Tensor, source: number | readonly number[], destination: number | readonly number[]): Tensor;
  (
    self: Tensor,
    named: { readonly source: number | readonly number[]; readonly destination: number | readonly number[] },
  ): Tensor;
} = ops.movedim;
/** The dimensions from startDim to endDim as one, as `torch.flatten`. */
export const flatten: (
  self: Tensor,
  startDim?: number | FlattenOptions,
  endDim?: number | FlattenOptions,
  options?: FlattenOptions,
) => Tensor = ops.flatten;
/** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
export const unflatten: {
  (self: Tensor, dim: number, sizes: readonly Dim[]): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly sizes: readonly Dim[] }): Tensor;
} = ops.unflatten;
/** As view, in the shape of `other`. */
export const viewAs: (self: Tensor, other: Tensor) => Tensor = ops.viewAs;
/** As reshape, in the shape of `other`. */
export const reshapeAs: (self: Tensor, other: Tensor) => Tensor = ops.reshapeAs;
/** As expand, in the shape of `other`. */
export const expandAs: (self: Tensor, other: Tensor) => Tensor = ops.expandAs;
/** As expand, as `torch.broadcast_to`. */
export const broadcastTo: {
  (self: Tensor, size: readonly Dim[]): Tensor;
  (self: Tensor, named: { readonly size: readonly Dim[] }): Tensor;
} = ops.broadcastTo;
/** `length` elements from `start` along a dimension, as `torch.narrow`. */
export const narrow: {
  (self: Tensor, dim: number, start: Dim, length: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): Tensor;
} = ops.narrow;
/** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
export const split: {
  (
    self: Tensor,
    splitSize: number | readonly number[],
    dim?: number | SplitOptions,
    options?: SplitOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSize: number | readonly number[] } & SplitOptions): Tensor[];
} = ops.split;
/** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
export const splitWithSizes: {
  (
    self: Tensor,
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesOptions,
    options?: SplitWithSizesOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesOptions): Tensor[];
} = ops.splitWithSizes;
/** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
export const chunk: {
  (self: Tensor, chunks: number, dim?: number | ChunkOptions, options?: ChunkOptions): Tensor[];
  (self: Tensor, named: { readonly chunks: number } & ChunkOptions): Tensor[];
} = ops.chunk;
/** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
export const tensorSplit: {
  (
    self: Tensor,
    indicesOrSections: number | readonly number[],
    dim?: number | TensorSplitOptions,
    options?: TensorSplitOptions,
  ): Tensor[];
  (
    self: Tensor,
    named: { readonly indicesOrSections: number | readonly number[] } & TensorSplitOptions,
  ): Tensor[];
} = ops.tensorSplit;
/** Parts along a dimension, as `torch.hsplit`. */
export const hsplit: {
  (self: Tensor, indicesOrSections: number | readonly number[]): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: number | readonly number[] }): Tensor[];
} = ops.hsplit;
/** Parts along a dimension, as `torch.vsplit`. */
export const vsplit: {
  (self: Tensor, indicesOrSections: number | readonly number[]): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: number | readonly number[] }): Tensor[];
} = ops.vsplit;
/** Parts along a dimension, as `torch.dsplit`. */
export const dsplit: {
  (self: Tensor, indicesOrSections: number | readonly number[]): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: number | readonly number[] }): Tensor[];
} = ops.dsplit;
/** All parts along a dimension, without it, as `torch.unbind`. */
export const unbind: (self: Tensor, dim?: number | UnbindOptions, options?: UnbindOptions) => Tensor[] =
  ops.unbind;
/**
 * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
 * `torch.gather`.
 */
export const gather: {
  (self: Tensor, dim: number, index: Tensor, options?: GatherOptions): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor } & GatherOptions): Tensor;
} = ops.gather;
/**
 * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
 * "multiply" combines instead. As `torch.scatter`.
 */
export const scatter: {
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    src?: Operand<Tensor> | null | ScatterOptions<Tensor>,
    value?: Scalar | Dim | null | ScatterOptions<Tensor>,
    options?: ScatterOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor } & ScatterOptions<Tensor>): Tensor;
} = ops.scatter;
/** As scatter without `reduce`. */
export const scatterSet: {
  (self: Tensor, dim: number, index: Tensor, src: Operand<Tensor>): Tensor;
  (
    self: Tensor,
    named: { readonly dim: number; readonly index: Tensor; readonly src: Operand<Tensor> },
  ): Tensor;
} = ops.scatterSet;
/** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
export const scatterAdd: {
  (self: Tensor, dim: number, index: Tensor, src: Tensor): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor; readonly src: Tensor }): Tensor;
} = ops.scatterAdd;
/** Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`. */
export const take: (self: Tensor, index: Tensor) => Tensor = ops.take;
/** self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`. */
export const put: (
  self: Tensor,
  index: Tensor,
  source: Tensor,
  accumulate?: boolean | PutOptions,
  options?: PutOptions,
) => Tensor = ops.put;
/** As gather with broadcasting; without `dim`, of the flattened tensor. As `torch.take_along_dim`. */
export const takeAlongDim: (
  self: Tensor,
  indices: Tensor,
  dim?: number | null | TakeAlongDimOptions,
  options?: TakeAlongDimOptions,
) => Tensor = ops.takeAlongDim;
/** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
export const indexSelect: {
  (self: Tensor, dim: number, index: Tensor): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor }): Tensor;
} = ops.indexSelect;
/** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
export const indexAdd: {
  (self: Tensor, dim: number, index: Tensor, source: Tensor, options?: IndexAddOptions): Tensor;
  (
    self: Tensor,
    named: { readonly dim: number; readonly index: Tensor; readonly source: Tensor } & IndexAddOptions,
  ): Tensor;
} = ops.indexAdd;
/** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
export const indexCopy: {
  (self: Tensor, dim: number, index: Tensor, source: Tensor): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor; readonly source: Tensor }): Tensor;
} = ops.indexCopy;
/** self with one value at a vector of indices along a dimension, as `torch.index_fill`. */
export const indexFill: {
  (self: Tensor, dim: number, index: Tensor, value: Operand<Tensor>): Tensor;
  (
    self: Tensor,
    named: { readonly dim: number; readonly index: Tensor; readonly value: Operand<Tensor> },
  ): Tensor;
} = ops.indexFill;
/**
 * The elements at index tensors, one for each leading dimension (null: all of it). Masks make the size
 * depend on elements. As `x[i, j]` with tensors.
 */
export const index: (self: Tensor, indices: readonly (Tensor | null)[]) => Tensor = ops.index;
/** As index, of integer tensors. */
export const gatherIndices: (self: Tensor, indices: readonly (Tensor | null)[]) => Tensor = ops.gatherIndices;
/** self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`. */
export const indexPut: (
  self: Tensor,
  indices: readonly (Tensor | null)[],
  values: Tensor,
  accumulate?: boolean | IndexPutOptions,
  options?: IndexPutOptions,
) => Tensor = ops.indexPut;
/** As indexPut, at integer tensors. */
export const putIndices: (
  self: Tensor,
  indices: readonly (Tensor | null)[],
  values: Tensor,
  accumulate?: boolean | PutIndicesOptions,
  options?: PutIndicesOptions,
) => Tensor = ops.putIndices;
/** The elements where the mask (broadcast) is true, in order, as `torch.masked_select`. */
export const maskedSelect: (self: Tensor, mask: Tensor) => Tensor = ops.maskedSelect;
/** self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`. */
export const maskedScatter: (self: Tensor, mask: Tensor, source: Tensor) => Tensor = ops.maskedScatter;
/** Reversed along dimensions, as `torch.flip`. */
export const flip: {
  (self: Tensor, dims: number | readonly number[]): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
} = ops.flip;
/** Reversed along dimension 1, as `torch.fliplr`. */
export const fliplr: (self: Tensor) => Tensor = ops.fliplr;
/** Reversed along dimension 0, as `torch.flipud`. */
export const flipud: (self: Tensor) => Tensor = ops.flipud;
/** Shifted around along dimensions, or flattened where none are given, as `torch.roll`. */
export const roll: {
  (
    self: Tensor,
    shifts: number | readonly number[],
    dims?: number | readonly number[] | null | RollOptions,
    options?: RollOptions,
  ): Tensor;
  (self: Tensor, named: { readonly shifts: number | readonly number[] } & RollOptions): Tensor;
} = ops.roll;
/** Shifted around along dimensions. */
export const rollDims: {
  (self: Tensor, shifts: readonly number[], dims: readonly number[]): Tensor;
  (self: Tensor, named: { readonly shifts: readonly number[]; readonly dims: readonly number[] }): Tensor;
} = ops.rollDims;
/** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
export const repeat: {
  (self: Tensor, repeats: readonly Dim[]): Tensor;
  (self: Tensor, ...repeats: Dim[]): Tensor;
} = ops.repeat;
/** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
export const tile: {
  (self: Tensor, dims: readonly Dim[]): Tensor;
  (self: Tensor, ...dims: Dim[]): Tensor;
} = ops.tile;
/**
 * Each element (along `dim`, or flattened) repeated in place; one number, or one for each (then eager
 * only). As `torch.repeat_interleave`.
 */
export const repeatInterleave: (
  self: Tensor,
  repeats: Operand<Tensor>,
  dim?: number | null | RepeatInterleaveOptions,
  options?: RepeatInterleaveOptions,
) => Tensor = ops.repeatInterleave;
/** Turned by k quarters in the plane of two dimensions, as `torch.rot90`. */
export const rot90: (
  self: Tensor,
  k?: number | Rot90Options,
  dims?: readonly number[] | Rot90Options,
  options?: Rot90Options,
) => Tensor = ops.rot90;
/** The lower triangle of matrices from a diagonal on, as `torch.tril`. */
export const tril: (self: Tensor, diagonal?: number | TrilOptions, options?: TrilOptions) => Tensor =
  ops.tril;
/** The upper triangle of matrices from a diagonal on, as `torch.triu`. */
export const triu: (self: Tensor, diagonal?: number | TriuOptions, options?: TriuOptions) => Tensor =
  ops.triu;
/** The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`. */
export const diag: (self: Tensor, diagonal?: number | DiagOptions, options?: DiagOptions) => Tensor =
  ops.diag;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const cat: (tensors: readonly Tensor[], dim?: number | CatOptions, options?: CatOptions) => Tensor =
  ops.cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concat: (tensors: readonly Tensor[], dim?: number | CatOptions, options?: CatOptions) => Tensor =
  ops.cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concatenate: (
  tensors: readonly Tensor[],
  dim?: number | CatOptions,
  options?: CatOptions,
) => Tensor = ops.cat;
/** Tensors of one shape along a new dimension, as `torch.stack`. */
export const stack: (
  tensors: readonly Tensor[],
  dim?: number | StackOptions,
  options?: StackOptions,
) => Tensor = ops.stack;
/** Running sums along a dimension, as `torch.cumsum`. */
export const cumsum: {
  (self: Tensor, dim: number, options?: CumsumOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & CumsumOptions): Tensor;
} = ops.cumsum;
/** Running products along a dimension, as `torch.cumprod`. */
export const cumprod: {
  (self: Tensor, dim: number, options?: CumprodOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & CumprodOptions): Tensor;
} = ops.cumprod;
/** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
export const logcumsumexp: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.logcumsumexp;
/** The maximum so far along a dimension. */
export const runningMax: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.runningMax;
/** The minimum so far along a dimension. */
export const runningMin: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.runningMin;
/** The maximum so far along a dimension and where it was last met, as `torch.cummax`. */
export const cummax: {
  (
    self: Tensor,
    dim: number,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.cummax;
/** The minimum so far along a dimension and where it was last met, as `torch.cummin`. */
export const cummin: {
  (
    self: Tensor,
    dim: number,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.cummin;
/** The angle of the point (other, self), as `torch.atan2`. */
export const atan2: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.atan2;
/** The angle of the point (other, self), as `torch.atan2`. */
export const arctan2: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.atan2;
/** √(self² + other²) without overflow, as `torch.hypot`. */
export const hypot: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.hypot;
/** |self| with the sign of `other`, that of −0 included, as `torch.copysign`. */
export const copysign: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.copysign;
/** self · log(other), 0 where self is 0, as `torch.xlogy`. One of them may be a number. */
export const xlogy: (self: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.xlogy;
/** self · log1p(other), 0 where self is 0, as `torch.special.xlog1py`. One of them may be a number. */
export const xlog1py: (self: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.xlog1py;
/** log(e^self + e^other) without overflow, as `torch.logaddexp`. */
export const logaddexp: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logaddexp;
/** log(2^self + 2^other) without overflow, as `torch.logaddexp2`. */
export const logaddexp2: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logaddexp2;
/** self + weight · (end − self), exact at both ends, as `torch.lerp`. */
export const lerp: (self: Tensor, end: Tensor, weight: Operand<Tensor>) => Tensor = ops.lerp;
/** self + value · tensor1 · tensor2, as `torch.addcmul`. */
export const addcmul: (self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: AddcmulOptions) => Tensor =
  ops.addcmul;
/** self + value · tensor1 / tensor2, as `torch.addcdiv`. */
export const addcdiv: (self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: AddcdivOptions) => Tensor =
  ops.addcdiv;
/** self · 2^other, as `torch.ldexp`. */
export const ldexp: (self: Tensor, other: Tensor) => Tensor = ops.ldexp;
/**
 * The indices of what is not 0, one row each; with asTuple one vector for each dimension. As
 * `torch.nonzero`.
 */
export const nonzero: {
  (
    self: Tensor,
    options: NonzeroOptions & { readonly asTuple: true },
  ): [indices: Tensor] & { readonly indices: Tensor };
  (self: Tensor, options?: NonzeroOptions): Tensor;
} = ops.nonzero;
/** The indices of what is not 0, one row each, as `torch.argwhere`. Its size depends on elements. */
export const argwhere: (self: Tensor) => Tensor = ops.argwhere;
/** Index i repeats[i] times, for all i below `size`; one number of repeats stands for all. */
export const repeatedIndices: {
  (repeats: Tensor, size: Dim): Tensor;
  (repeats: Tensor, named: { readonly size: Dim }): Tensor;
} = ops.repeatedIndices;
/** Distinct elements (or slices along `dim`), where each went, and how many there were of each. */
export const uniqueGroups: (
  self: Tensor,
  dim?: number | null | UniqueGroupsOptions,
  consecutive?: boolean | UniqueGroupsOptions,
  options?: UniqueGroupsOptions,
) => [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
  readonly output: Tensor;
  readonly inverseIndices: Tensor;
  readonly counts: Tensor;
} = ops.uniqueGroups;
/**
 * Distinct elements, sorted; with returnInverse and returnCounts also where each went and how many there
 * were. As `torch.unique`.
 */
export const unique: {
  (
    self: Tensor,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts?: boolean | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
    readonly output: Tensor;
    readonly inverseIndices: Tensor;
    readonly counts: Tensor;
  };
  (
    self: Tensor,
    options: UniqueOptions & { readonly returnInverse: true },
  ): [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
    readonly output: Tensor;
    readonly inverseIndices: Tensor;
    readonly counts: Tensor;
  };
  (
    self: Tensor,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true },
  ): [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
    readonly output: Tensor;
    readonly inverseIndices: Tensor;
    readonly counts: Tensor;
  };
  (
    self: Tensor,
    sorted?: boolean,
    returnInverse?: false | UniqueOptions,
    returnCounts?: boolean,
    dim?: number | null,
  ): Tensor;
} = ops.unique;
/**
 * Distinct elements, sorted as they come, neighbours alone compared; with returnInverse and returnCounts
 * also where each went and how many there were. As `torch.uniqueConsecutive`.
 */
export const uniqueConsecutive: {
  (
    self: Tensor,
    returnInverse: true,
    returnCounts?: boolean | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
    readonly output: Tensor;
    readonly inverseIndices: Tensor;
    readonly counts: Tensor;
  };
  (
    self: Tensor,
    options: UniqueConsecutiveOptions & { readonly returnInverse: true },
  ): [output: Tensor, inverseIndices: Tensor, counts: Tensor] & {
    readonly output: Tensor;
    readonly inverseIndices: Tensor;
    readonly counts: Tensor;
  };
  (
    self: Tensor,
    returnInverse?: false | UniqueConsecutiveOptions,
    returnCounts?: boolean,
    dim?: number | null,
    sorted?: boolean,
  ): Tensor;
} = ops.uniqueConsecutive;
/** How often each integer from 0 on occurs, or the sum of its weights, as `torch.bincount`. */
export const bincount: (
  self: Tensor,
  weights?: Tensor | null | BincountOptions<Tensor>,
  minlength?: number | BincountOptions<Tensor>,
  options?: BincountOptions<Tensor>,
) => Tensor = ops.bincount;
/** Padded with one value, as `torch.constant_pad_nd`. */
export const constantPadNd: {
  (
    self: Tensor,
    pad: readonly Dim[],
    value?: Scalar | Dim | ConstantPadNdOptions,
    options?: ConstantPadNdOptions,
  ): Tensor;
  (self: Tensor, named: { readonly pad: readonly Dim[] } & ConstantPadNdOptions): Tensor;
} = ops.constantPadNd;
/** Padded with elements of the tensor: reflect, replicate or circular. */
export const padBy: {
  (self: Tensor, pad: readonly Dim[], mode: "reflect" | "replicate" | "circular"): Tensor;
  (
    self: Tensor,
    named: { readonly pad: readonly Dim[]; readonly mode: "reflect" | "replicate" | "circular" },
  ): Tensor;
} = ops.padBy;
/** Adds the elements of a padded gradient to where padBy read them. */
export const padByBackward: {
  (
    grad: Tensor,
    inputSizes: readonly Dim[],
    pad: readonly Dim[],
    mode: "reflect" | "replicate" | "circular",
  ): Tensor;
  (
    grad: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly pad: readonly Dim[];
      readonly mode: "reflect" | "replicate" | "circular";
    },
  ): Tensor;
} = ops.padByBackward;
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
/**
 * For each element the product, maximum or minimum of the values that `index` sends to it; a neutral value
 * where there is none.
 */
export const scatterCombined: {
  (self: Tensor, dim: number, index: Tensor, src: Tensor, reduce: "prod" | "amax" | "amin"): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly src: Tensor;
      readonly reduce: "prod" | "amax" | "amin";
    },
  ): Tensor;
} = ops.scatterCombined;
/**
 * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
 * As `torch.scatter_reduce`.
 */
export const scatterReduce: {
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    src: Tensor,
    reduce: "sum" | "prod" | "mean" | "amax" | "amin",
    options?: ScatterReduceOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly src: Tensor;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & ScatterReduceOptions,
  ): Tensor;
} = ops.scatterReduce;
/** As scatterReduce with prod, amax or amin. */
export const scatterExtreme: {
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    src: Tensor,
    reduce: "prod" | "amax" | "amin",
    includeSelf: boolean,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly src: Tensor;
      readonly reduce: "prod" | "amax" | "amin";
      readonly includeSelf: boolean;
    },
  ): Tensor;
} = ops.scatterExtreme;
/**
 * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
 * `torch.index_reduce`.
 */
export const indexReduce: {
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    source: Tensor,
    reduce: "prod" | "mean" | "amax" | "amin",
    options?: IndexReduceOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly source: Tensor;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IndexReduceOptions,
  ): Tensor;
} = ops.indexReduce;
/** Sorted along the last dimension, stable, with indices. */
export const sortLast: {
  (
    self: Tensor,
    descending: boolean,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly descending: boolean },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.sortLast;
/** The first `count` elements of the last dimension as `sortLast` orders it, with indices. */
export const firstOfSorted: {
  (
    self: Tensor,
    count: Dim,
    descending: boolean,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly count: Dim; readonly descending: boolean },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.firstOfSorted;
/** Sorted along a dimension, with the indices of where elements were; always stable. As `torch.sort`. */
export const sort: (
  self: Tensor,
  dim?: number | SortOptions,
  descending?: boolean | SortOptions,
  stable?: boolean | null | SortOptions,
  options?: SortOptions,
) => [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor } = ops.sort;
/** The indices that sort a dimension, as `torch.argsort`. */
export const argsort: (
  self: Tensor,
  dim?: number | ArgsortOptions,
  descending?: boolean | ArgsortOptions,
  stable?: boolean | ArgsortOptions,
  options?: ArgsortOptions,
) => Tensor = ops.argsort;
/** Sorted along the first dimension, as `torch.msort`. */
export const msort: (self: Tensor) => Tensor = ops.msort;
/** The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`. */
export const topk: {
  (
    self: Tensor,
    k: Dim,
    dim?: number | TopkOptions,
    largest?: boolean | TopkOptions,
    sorted?: boolean | TopkOptions,
    options?: TopkOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly k: Dim } & TopkOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.topk;
/** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
export const kthvalue: {
  (
    self: Tensor,
    k: number,
    dim?: number | KthvalueOptions,
    keepdim?: boolean | KthvalueOptions,
    options?: KthvalueOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    named: { readonly k: number } & KthvalueOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
} = ops.kthvalue;
/** The lower middle element of all; its gradient is shared by the elements that equal it. */
export const medianOfAll: {
  (self: Tensor, numbersOnly: boolean): Tensor;
  (self: Tensor, named: { readonly numbersOnly: boolean }): Tensor;
} = ops.medianOfAll;
/** The lower middle element, NaN where there is one; with `dim` also its index. As `torch.median`. */
export const median: {
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | MedianOptions,
    options?: MedianOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    options: MedianOptions & { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (self: Tensor, dim?: null | MedianOptions, keepdim?: boolean): Tensor;
} = ops.median;
/** The lower middle element of what is not NaN; with `dim` also its index. As `torch.nanmedian`. */
export const nanmedian: {
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | NanmedianOptions,
    options?: NanmedianOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    options: NanmedianOptions & { readonly dim: number },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (self: Tensor, dim?: null | NanmedianOptions, keepdim?: boolean): Tensor;
} = ops.nanmedian;
/** The q-quantiles of all elements or of a dimension, as `torch.quantile`. */
export const quantile: (
  self: Tensor,
  q: Operand<Tensor>,
  dim?: number | null | QuantileOptions,
  keepdim?: boolean | QuantileOptions,
  options?: QuantileOptions,
) => Tensor = ops.quantile;
/** The q-quantiles of all elements or of a dimension, as `torch.nanquantile`. */
export const nanquantile: (
  self: Tensor,
  q: Operand<Tensor>,
  dim?: number | null | NanquantileOptions,
  keepdim?: boolean | NanquantileOptions,
  options?: NanquantileOptions,
) => Tensor = ops.nanquantile;
/**
 * Where values would go into sorted sequences (of the last dimension) to keep them sorted, as
 * `torch.searchsorted`.
 */
export const searchsorted: (
  sortedSequence: Tensor,
  self: Operand<Tensor>,
  options?: SearchsortedOptions<Tensor>,
) => Tensor = ops.searchsorted;
/** How many elements of a sorted sequence lie before each value. */
export const countBefore: {
  (sequence: Tensor, values: Tensor, right: boolean, int32: boolean): Tensor;
  (sequence: Tensor, values: Tensor, named: { readonly right: boolean; readonly int32: boolean }): Tensor;
} = ops.countBefore;
/** The index of the bucket between sorted boundaries for each value, as `torch.bucketize`. */
export const bucketize: (self: Operand<Tensor>, boundaries: Tensor, options?: BucketizeOptions) => Tensor =
  ops.bucketize;
/** Whether each element is among the test elements, as `torch.isin`. */
export const isin: (
  elements: Operand<Tensor>,
  testElements: Operand<Tensor>,
  options?: IsinOptions,
) => Tensor = ops.isin;
/** The derivative of lgamma, as `torch.digamma`. */
export const digamma: (self: Tensor) => Tensor = ops.digamma;
/** The derivative of lgamma, as `torch.digamma`. */
export const psi: (self: Tensor) => Tensor = ops.digamma;
/** The second derivative of lgamma. */
export const trigamma: (self: Tensor) => Tensor = ops.trigamma;
/** The inverse of erf, as `torch.erfinv`. */
export const erfinv: (self: Tensor) => Tensor = ops.erfinv;
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
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const mvlgamma: {
  (self: Tensor, p: number): Tensor;
  (self: Tensor, named: { readonly p: number }): Tensor;
} = ops.mvlgamma;
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const multigammaln: {
  (self: Tensor, p: number): Tensor;
  (self: Tensor, named: { readonly p: number }): Tensor;
} = ops.mvlgamma;
/** The modified Bessel function of order 0, as `torch.i0`. */
export const i0: (self: Tensor) => Tensor = ops.i0;
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
/** The n-th derivative of digamma, as `torch.polygamma`; `n` comes first, or second as in `x.polygamma(n)`. */
export const polygamma: {
  (n: number, self: Tensor): Tensor;
  (named: { readonly n: number; readonly self: Tensor }): Tensor;
} = ops.polygamma;
/** (−1)ⁿ⁺¹ · n! · ζ(n + 1, self), n ≥ 1. */
export const polygammaOf: {
  (self: Tensor, n: number): Tensor;
  (self: Tensor, named: { readonly n: number }): Tensor;
} = ops.polygammaOf;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const igamma: (self: Tensor, other: Tensor) => Tensor = ops.igamma;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const gammainc: (self: Tensor, other: Tensor) => Tensor = ops.igamma;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const igammac: (self: Tensor, other: Tensor) => Tensor = ops.igammac;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const gammaincc: (self: Tensor, other: Tensor) => Tensor = ops.igammac;
/** self · Φ(self), by erf, or by tanh where `approximate` says so. As `nn.functional.gelu`. */
export const gelu: (
  self: Tensor,
  approximate?: "none" | "tanh" | GeluOptions,
  options?: GeluOptions,
) => Tensor = ops.gelu;
/** self · sigmoid(self), as `nn.functional.silu`. */
export const silu: (self: Tensor, inplace?: boolean | SiluOptions, options?: SiluOptions) => Tensor =
  ops.silu;
/** self · tanh(softplus(self)), as `nn.functional.mish`. */
export const mish: (self: Tensor, inplace?: boolean | MishOptions, options?: MishOptions) => Tensor =
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
/** scale · self above 0, scale · alpha · (e^(rate · self) − 1) below. */
export const eluLinear: {
  (self: Tensor, alpha: number, scale: number, rate: number): Tensor;
  (self: Tensor, named: { readonly alpha: number; readonly scale: number; readonly rate: number }): Tensor;
} = ops.eluLinear;
/** self above 0, alpha · (e^self − 1) below, as `nn.functional.elu`. */
export const elu: (
  self: Tensor,
  alpha?: number | EluOptions,
  inplace?: boolean | EluOptions,
  options?: EluOptions,
) => Tensor = ops.elu;
/** max(self, 0) + min(0, alpha · (e^(self / alpha) − 1)), as `nn.functional.celu`. */
export const celu: (
  self: Tensor,
  alpha?: number | CeluOptions,
  inplace?: boolean | CeluOptions,
  options?: CeluOptions,
) => Tensor = ops.celu;
/** The self-normalizing elu, as `nn.functional.selu`. */
export const selu: (self: Tensor, inplace?: boolean | SeluOptions, options?: SeluOptions) => Tensor =
  ops.selu;
/** The first half along a dimension times the sigmoid of the second, as `nn.functional.glu`. */
export const glu: (self: Tensor, dim?: number | GluOptions, options?: GluOptions) => Tensor = ops.glu;
/**
 * Gradients of windows of the last two dimensions sent to where the indices of maxPool2d say that their
 * maxima were.
 */
export const maxPool2dWithIndicesBackward: {
  (
    gradOutput: Tensor,
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    indices: Tensor,
    options?: MaxPool2dWithIndicesBackwardOptions,
  ): Tensor;
  (
    gradOutput: Tensor,
    self: Tensor,
    named:
      & { readonly kernelSize: number | readonly number[]; readonly indices: Tensor }
      & MaxPool2dWithIndicesBackwardOptions,
  ): Tensor;
} = ops.maxPool2dWithIndicesBackward;
/** The maximum of each window over the last dimensions, and its flat place in the window. */
export const maxPoolOffsets: {
  (
    self: Tensor,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    ceilMode: boolean,
  ): [values: Tensor, offsets: Tensor] & { readonly values: Tensor; readonly offsets: Tensor };
  (
    self: Tensor,
    named: {
      readonly kernel: readonly number[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly dilation: readonly number[];
      readonly ceilMode: boolean;
    },
  ): [values: Tensor, offsets: Tensor] & { readonly values: Tensor; readonly offsets: Tensor };
} = ops.maxPoolOffsets;
/** Gradients of windows sent to where their maximum was. */
export const maxPoolBackward: {
  (
    grad: Tensor,
    offsets: Tensor,
    inputSizes: readonly Dim[],
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    ceilMode: boolean,
  ): Tensor;
  (
    grad: Tensor,
    offsets: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly kernel: readonly number[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly dilation: readonly number[];
      readonly ceilMode: boolean;
    },
  ): Tensor;
} = ops.maxPoolBackward;
/**
 * The maximum of each window over 1 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool1d`.
 */
export const maxPool1d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool1dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool1dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & MaxPool1dOptions): Tensor;
} = ops.maxPool1d;
/**
 * The maximum of each window over 2 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool2d`.
 */
export const maxPool2d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool2dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    options: MaxPool2dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool2dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool2dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & MaxPool2dOptions): Tensor;
} = ops.maxPool2d;
/**
 * The maximum of each window over 3 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool3d`.
 */
export const maxPool3d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool3dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    options: MaxPool3dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride: number | readonly number[] | null | undefined,
    padding: number | readonly number[] | undefined,
    dilation: number | readonly number[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool3dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null,
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool3dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & MaxPool3dOptions): Tensor;
} = ops.maxPool3d;
/** The sum of each window over the last dimensions. */
export const windowSum: {
  (
    self: Tensor,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly kernel: readonly number[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly ceilMode: boolean;
    },
  ): Tensor;
} = ops.windowSum;
/** Gradients of windows given to each of their elements. */
export const windowSumBackward: {
  (
    grad: Tensor,
    inputSizes: readonly Dim[],
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
  ): Tensor;
  (
    grad: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly kernel: readonly number[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly ceilMode: boolean;
    },
  ): Tensor;
} = ops.windowSumBackward;
/** How many elements each window over the last dimensions has, of those in the (padded) input. */
export const windowSizes: {
  (
    self: Tensor,
    kernel: readonly number[],
    stride: readonly number[],
    padding: readonly number[],
    ceilMode: boolean,
    countIncludePad: boolean,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly kernel: readonly number[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly ceilMode: boolean;
      readonly countIncludePad: boolean;
    },
  ): Tensor;
} = ops.windowSizes;
/** The mean of each window over 1 dimension(s), as `nn.functional.avg_pool1d`. */
export const avgPool1d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool1dOptions,
    padding?: number | readonly number[] | AvgPool1dOptions,
    ceilMode?: boolean | AvgPool1dOptions,
    countIncludePad?: boolean | AvgPool1dOptions,
    divisorOverride?: number | null | AvgPool1dOptions,
    options?: AvgPool1dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & AvgPool1dOptions): Tensor;
} = ops.avgPool1d;
/** The mean of each window over 2 dimension(s), as `nn.functional.avg_pool2d`. */
export const avgPool2d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool2dOptions,
    padding?: number | readonly number[] | AvgPool2dOptions,
    ceilMode?: boolean | AvgPool2dOptions,
    countIncludePad?: boolean | AvgPool2dOptions,
    divisorOverride?: number | null | AvgPool2dOptions,
    options?: AvgPool2dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & AvgPool2dOptions): Tensor;
} = ops.avgPool2d;
/** The mean of each window over 3 dimension(s), as `nn.functional.avg_pool3d`. */
export const avgPool3d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | AvgPool3dOptions,
    padding?: number | readonly number[] | AvgPool3dOptions,
    ceilMode?: boolean | AvgPool3dOptions,
    countIncludePad?: boolean | AvgPool3dOptions,
    divisorOverride?: number | null | AvgPool3dOptions,
    options?: AvgPool3dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & AvgPool3dOptions): Tensor;
} = ops.avgPool3d;
/** (Σ xᵖ)^(1/p) of each window over 1 dimension(s), as `nn.functional.lp_pool1d`. */
export const lpPool1d: {
  (
    self: Tensor,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool1dOptions,
    ceilMode?: boolean | LpPool1dOptions,
    options?: LpPool1dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool1dOptions,
  ): Tensor;
} = ops.lpPool1d;
/** (Σ xᵖ)^(1/p) of each window over 2 dimension(s), as `nn.functional.lp_pool2d`. */
export const lpPool2d: {
  (
    self: Tensor,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool2dOptions,
    ceilMode?: boolean | LpPool2dOptions,
    options?: LpPool2dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool2dOptions,
  ): Tensor;
} = ops.lpPool2d;
/** (Σ xᵖ)^(1/p) of each window over 3 dimension(s), as `nn.functional.lp_pool3d`. */
export const lpPool3d: {
  (
    self: Tensor,
    normType: number,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | LpPool3dOptions,
    ceilMode?: boolean | LpPool3dOptions,
    options?: LpPool3dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly normType: number; readonly kernelSize: number | readonly number[] } & LpPool3dOptions,
  ): Tensor;
} = ops.lpPool3d;
/**
 * The maxima of windows at random places over 2 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool2d`.
 */
export const fractionalMaxPool2d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    randomSamples?: Tensor | null | FractionalMaxPool2dOptions<Tensor>,
    options?: FractionalMaxPool2dOptions<Tensor>,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    options: FractionalMaxPool2dOptions<Tensor> & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: FractionalMaxPool2dOptions<Tensor> & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize?: number | readonly number[] | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | FractionalMaxPool2dOptions<Tensor>,
    randomSamples?: Tensor | null,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly kernelSize: number | readonly number[] } & FractionalMaxPool2dOptions<Tensor>,
  ): Tensor;
} = ops.fractionalMaxPool2d;
/**
 * The maxima of windows at random places over 3 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool3d`.
 */
export const fractionalMaxPool3d: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    randomSamples?: Tensor | null | FractionalMaxPool3dOptions<Tensor>,
    options?: FractionalMaxPool3dOptions<Tensor>,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    options: FractionalMaxPool3dOptions<Tensor> & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize: number | readonly number[] | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: FractionalMaxPool3dOptions<Tensor> & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    outputSize?: number | readonly number[] | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | FractionalMaxPool3dOptions<Tensor>,
    randomSamples?: Tensor | null,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly kernelSize: number | readonly number[] } & FractionalMaxPool3dOptions<Tensor>,
  ): Tensor;
} = ops.fractionalMaxPool3d;
/** Numbers of a Cauchy distribution; `cauchy_` fills a tensor with them, as `Tensor.cauchy_`. */
export const cauchy: (
  self: Tensor,
  median?: number | CauchyOptions,
  sigma?: number | CauchyOptions,
  options?: CauchyOptions,
) => Tensor = ops.cauchy;
/**
 * Numbers whose logarithms are of a normal distribution; `logNormal_` fills a tensor with them, as
 * `Tensor.log_normal_`.
 */
export const logNormal: (
  self: Tensor,
  mean?: number | LogNormalOptions,
  std?: number | LogNormalOptions,
  options?: LogNormalOptions,
) => Tensor = ops.logNormal;
/**
 * How many trials of probability p it takes until one succeeds; `geometric_` fills a tensor, as
 * `Tensor.geometric_`.
 */
export const geometric: {
  (self: Tensor, p: number, options?: GeometricOptions): Tensor;
  (self: Tensor, named: { readonly p: number } & GeometricOptions): Tensor;
} = ops.geometric;
/**
 * random_(), random_(to), random_(from, to): fills a tensor with integers of [from, to), as
 * `Tensor.random_`. Unless given they are those that the type holds without gaps, from 0 on.
 */
export const random: (
  self: Tensor,
  from?: number | RandomOptions,
  to?: number | null | RandomOptions,
  options?: RandomOptions,
) => Tensor = ops.random;
/**
 * A tensor with one number where all of its indices are equal; `fillDiagonal_` writes it, as
 * `Tensor.fill_diagonal_`. More than two dimensions have to be of one size.
 */
export const fillDiagonal: {
  (
    self: Tensor,
    fillValue: Scalar | Dim,
    wrap?: boolean | FillDiagonalOptions,
    options?: FillDiagonalOptions,
  ): Tensor;
  (self: Tensor, named: { readonly fillValue: Scalar | Dim } & FillDiagonalOptions): Tensor;
} = ops.fillDiagonal;
/** Numbers of the uniform distribution on [0, 1), as `torch.rand`. */
export const rand: {
  (size: readonly Dim[], options?: RandOptions): Tensor;
  (...size: (Dim | RandOptions)[]): Tensor;
} = ops.rand;
/** Numbers of the standard normal distribution, as `torch.randn`. */
export const randn: {
  (size: readonly Dim[], options?: RandnOptions): Tensor;
  (...size: (Dim | RandnOptions)[]): Tensor;
} = ops.randn;
/** As rand, of the shape, type and device of `self`. */
export const randLike: (self: Tensor, options?: RandLikeOptions) => Tensor = ops.randLike;
/** As randn, of the shape, type and device of `self`. */
export const randnLike: (self: Tensor, options?: RandnLikeOptions) => Tensor = ops.randnLike;
/** randint(high, size), randint(low, high, size): integers of [low, high), as `torch.randint`. */
export const randint: (
  low: number,
  high?: number | readonly number[] | null | RandintOptions,
  size?: readonly Dim[] | null | RandintOptions,
  options?: RandintOptions,
) => Tensor = ops.randint;
/** randintLike(x, high), randintLike(x, low, high): integers of [low, high) in the shape of a tensor. */
export const randintLike: (
  self: Tensor,
  low: number,
  high?: number | null | RandintLikeOptions,
  options?: RandintLikeOptions,
) => Tensor = ops.randintLike;
/** The integers below n in random order, as `torch.randperm`. */
export const randperm: (n: Dim, options?: RandpermOptions) => Tensor = ops.randperm;
/** 1 with the probability in `self` (or p), else 0, as `torch.bernoulli`. */
export const bernoulli: (
  self: Tensor,
  p?: Operand<Tensor> | null | BernoulliOptions<Tensor>,
  options?: BernoulliOptions<Tensor>,
) => Tensor = ops.bernoulli;
/** Numbers of [from, to); `uniform_` fills a tensor with them, as `Tensor.uniform_`. */
export const uniform: (
  self: Tensor,
  from?: number | UniformOptions,
  to?: number | UniformOptions,
  options?: UniformOptions,
) => Tensor = ops.uniform;
/** Numbers of a normal distribution; `normal_` fills a tensor with them, as `Tensor.normal_`. */
export const normal: (
  self: Tensor,
  mean?: number | NormalOptions,
  std?: number | NormalOptions,
  options?: NormalOptions,
) => Tensor = ops.normal;
/** Numbers of an exponential distribution; `exponential_` fills a tensor, as `Tensor.exponential_`. */
export const exponential: (
  self: Tensor,
  lambd?: number | ExponentialOptions,
  options?: ExponentialOptions,
) => Tensor = ops.exponential;
/** Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. */
export const multinomial: {
  (
    self: Tensor,
    numSamples: number,
    replacement?: boolean | MultinomialOptions,
    options?: MultinomialOptions,
  ): Tensor;
  (self: Tensor, named: { readonly numSamples: number } & MultinomialOptions): Tensor;
} = ops.multinomial;
/** 1 / (1 − p) with probability 1 − p, else 0, in the shape and type of `self`. */
export const dropoutMask: {
  (self: Tensor, p: number): Tensor;
  (self: Tensor, named: { readonly p: number }): Tensor;
} = ops.dropoutMask;
/**
 * Elements dropped with probability p and the rest scaled to keep the mean, while training. As
 * `nn.functional.dropout`.
 */
export const dropout: (
  self: Tensor,
  p?: number | DropoutOptions,
  training?: boolean | DropoutOptions,
  inplace?: boolean | DropoutOptions,
  options?: DropoutOptions,
) => Tensor = ops.dropout;
/** As dropout, of whole channels of 1 dimension(s), as `nn.functional.dropout1d`. */
export const dropout1d: (
  self: Tensor,
  p?: number | Dropout1dOptions,
  training?: boolean | Dropout1dOptions,
  inplace?: boolean | Dropout1dOptions,
  options?: Dropout1dOptions,
) => Tensor = ops.dropout1d;
/** As dropout, of whole channels of 2 dimension(s), as `nn.functional.dropout2d`. */
export const dropout2d: (
  self: Tensor,
  p?: number | Dropout2dOptions,
  training?: boolean | Dropout2dOptions,
  inplace?: boolean | Dropout2dOptions,
  options?: Dropout2dOptions,
) => Tensor = ops.dropout2d;
/** As dropout, of whole channels of 3 dimension(s), as `nn.functional.dropout3d`. */
export const dropout3d: (
  self: Tensor,
  p?: number | Dropout3dOptions,
  training?: boolean | Dropout3dOptions,
  inplace?: boolean | Dropout3dOptions,
  options?: Dropout3dOptions,
) => Tensor = ops.dropout3d;
/**
 * Elements set to where SELU saturates with probability p and all moved to keep mean and variance, while
 * training. As `nn.functional.alpha_dropout`.
 */
export const alphaDropout: (
  self: Tensor,
  p?: number | AlphaDropoutOptions,
  training?: boolean | AlphaDropoutOptions,
  inplace?: boolean | AlphaDropoutOptions,
  options?: AlphaDropoutOptions,
) => Tensor = ops.alphaDropout;
/**
 * Whole channels set to where SELU saturates with probability p and all moved to keep mean and variance,
 * while training. As `nn.functional.feature_alpha_dropout`.
 */
export const featureAlphaDropout: (
  self: Tensor,
  p?: number | FeatureAlphaDropoutOptions,
  training?: boolean | FeatureAlphaDropoutOptions,
  inplace?: boolean | FeatureAlphaDropoutOptions,
  options?: FeatureAlphaDropoutOptions,
) => Tensor = ops.featureAlphaDropout;
/**
 * x above 0; below, x times a slope of [lower, upper), random while training, else the middle. As
 * `nn.functional.rrelu`.
 */
export const rrelu: (
  self: Tensor,
  lower?: number | RreluOptions,
  upper?: number | RreluOptions,
  training?: boolean | RreluOptions,
  inplace?: boolean | RreluOptions,
  options?: RreluOptions,
) => Tensor = ops.rrelu;
/**
 * Softmax of logits with Gumbel noise at temperature tau; with hard the largest is 1 and the others 0, with
 * the gradient of the soft ones (Jang et al. 2017). As `nn.functional.gumbel_softmax`.
 */
export const gumbelSoftmax: (
  logits: Tensor,
  tau?: number | GumbelSoftmaxOptions,
  hard?: boolean | GumbelSoftmaxOptions,
  eps?: number | GumbelSoftmaxOptions,
  dim?: number | GumbelSoftmaxOptions,
  options?: GumbelSoftmaxOptions,
) => Tensor = ops.gumbelSoftmax;
/**
 * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
 * function is `variance`.
 */
export const variance: (
  self: Tensor,
  dim?: number | readonly number[] | boolean | null | VarOptions,
  unbiased?: boolean | null | VarOptions,
  keepdim?: boolean | VarOptions,
  options?: VarOptions,
) => Tensor = ops.var;
/** The standard deviation over dimensions, divided by the count less `correction` (1). As `torch.std`. */
export const std: (
  self: Tensor,
  dim?: number | readonly number[] | boolean | null | StdOptions,
  unbiased?: boolean | null | StdOptions,
  keepdim?: boolean | StdOptions,
  options?: StdOptions,
) => Tensor = ops.std;
/** var and mean over dimensions, as `torch.var_mean`. */
export const varMean: (
  self: Tensor,
  dim?: number | readonly number[] | boolean | null | VarMeanOptions,
  unbiased?: boolean | null | VarMeanOptions,
  keepdim?: boolean | VarMeanOptions,
  options?: VarMeanOptions,
) => [variance: Tensor, mean: Tensor] & { readonly variance: Tensor; readonly mean: Tensor } = ops.varMean;
/** std and mean over dimensions, as `torch.std_mean`. */
export const stdMean: (
  self: Tensor,
  dim?: number | readonly number[] | boolean | null | StdMeanOptions,
  unbiased?: boolean | null | StdMeanOptions,
  keepdim?: boolean | StdMeanOptions,
  options?: StdMeanOptions,
) => [deviation: Tensor, mean: Tensor] & { readonly deviation: Tensor; readonly mean: Tensor } = ops.stdMean;
/** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
export const logsumexp: {
  (
    self: Tensor,
    dim: number | readonly number[],
    keepdim?: boolean | LogsumexpOptions,
    options?: LogsumexpOptions,
  ): Tensor;
  (self: Tensor, named: { readonly dim: number | readonly number[] } & LogsumexpOptions): Tensor;
} = ops.logsumexp;
/** How many elements are not 0, over dimensions. Its gradient is 0, as PyTorch has it. */
export const norm0: {
  (self: Tensor, dim: readonly number[], keepdim: boolean): Tensor;
  (self: Tensor, named: { readonly dim: readonly number[]; readonly keepdim: boolean }): Tensor;
} = ops.norm0;
/** √Σ self² over dimensions. */
export const norm2: {
  (self: Tensor, dim: readonly number[], keepdim: boolean): Tensor;
  (self: Tensor, named: { readonly dim: readonly number[]; readonly keepdim: boolean }): Tensor;
} = ops.norm2;
/** (Σ |self|^p)^(1/p) over dimensions. */
export const normP: {
  (self: Tensor, p: number, dim: readonly number[], keepdim: boolean): Tensor;
  (
    self: Tensor,
    named: { readonly p: number; readonly dim: readonly number[]; readonly keepdim: boolean },
  ): Tensor;
} = ops.normP;
/** The norm of order `ord` of the vectors along dimensions, as `torch.linalg.vector_norm`. */
export const vectorNorm: (
  x: Tensor,
  ord?: number | VectorNormOptions,
  dim?: number | readonly number[] | null | VectorNormOptions,
  keepdim?: boolean | VectorNormOptions,
  options?: VectorNormOptions,
) => Tensor = ops.vectorNorm;
/**
 * The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as
 * `torch.norm`.
 */
export const norm: (
  self: Tensor,
  p?: Scalar | string | NormOptions,
  dim?: number | readonly number[] | null | NormOptions,
  keepdim?: boolean | NormOptions,
  dtype?: DType | null | NormOptions,
  options?: NormOptions,
) => Tensor = ops.norm;
/** self divided by its norm along a dimension, at least eps, as `nn.functional.normalize`. */
export const normalize: (
  self: Tensor,
  p?: number | NormalizeOptions,
  dim?: number | readonly number[] | NormalizeOptions,
  eps?: number | NormalizeOptions,
  options?: NormalizeOptions,
) => Tensor = ops.normalize;
/** The cosine of the angle between vectors along a dimension, as `nn.functional.cosine_similarity`. */
export const cosineSimilarity: (
  x1: Tensor,
  x2: Tensor,
  dim?: number | CosineSimilarityOptions,
  eps?: number | CosineSimilarityOptions,
  options?: CosineSimilarityOptions,
) => Tensor = ops.cosineSimilarity;
/** The norm of x1 − x2 + eps along the last dimension, as `nn.functional.pairwise_distance`. */
export const pairwiseDistance: (
  x1: Tensor,
  x2: Tensor,
  p?: number | PairwiseDistanceOptions,
  eps?: number | PairwiseDistanceOptions,
  keepdim?: boolean | PairwiseDistanceOptions,
  options?: PairwiseDistanceOptions,
) => Tensor = ops.pairwiseDistance;
/** The norm of self − other, as `torch.dist`. */
export const dist: (self: Tensor, other: Tensor, p?: number | DistOptions, options?: DistOptions) => Tensor =
  ops.dist;
/** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
export const renorm: {
  (self: Tensor, p: number, dim: number, maxnorm: number): Tensor;
  (self: Tensor, named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): Tensor;
} = ops.renorm;
/** For each of `size` elements the number of its segment. */
export const segmentNumbers: {
  (bounds: Tensor, size: number, areOffsets: boolean, unsafe: boolean): Tensor;
  (
    bounds: Tensor,
    named: { readonly size: number; readonly areOffsets: boolean; readonly unsafe: boolean },
  ): Tensor;
} = ops.segmentNumbers;
/**
 * Sums, means, maxima, minima or products ("sum", "mean", "max", "min", "prod") of the segments of a
 * dimension, by their lengths or by offsets, where each begins and the last one ends; `initial` is combined
 * with each. Elements must all be in a segment unless it is `unsafe`. As `torch.segment_reduce`.
 */
export const segmentReduce: {
  (
    data: Tensor,
    reduce: "sum" | "mean" | "max" | "min" | "prod",
    options?: SegmentReduceOptions<Tensor>,
  ): Tensor;
  (
    data: Tensor,
    named: { readonly reduce: "sum" | "mean" | "max" | "min" | "prod" } & SegmentReduceOptions<Tensor>,
  ): Tensor;
} = ops.segmentReduce;
/**
 * The rows of `weight` at the integers in `input`, as `nn.functional.embedding`; also with the two the
 * other way round, as `torch.embedding`.
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
/** The rows of a table at indices. */
export const embeddingRows: (
  weight: Tensor,
  indices: Tensor,
  paddingIdx?: number | null | EmbeddingRowsOptions,
  scaleGradByFreq?: boolean | EmbeddingRowsOptions,
  options?: EmbeddingRowsOptions,
) => Tensor = ops.embeddingRows;
/** The gradient of a table of `rows` rows: gradients of rows added up, without those of the padding index. */
export const embeddingBackward: {
  (
    grad: Tensor,
    indices: Tensor,
    rows: Dim,
    paddingIdx?: number | null | EmbeddingBackwardOptions,
    options?: EmbeddingBackwardOptions,
  ): Tensor;
  (grad: Tensor, indices: Tensor, named: { readonly rows: Dim } & EmbeddingBackwardOptions): Tensor;
} = ops.embeddingBackward;
/**
 * 1 at the class that each integer names, else 0, in a new last dimension, as `nn.functional.one_hot`.
 * Without numClasses the size depends on elements.
 */
export const oneHot: (self: Tensor, numClasses?: number | OneHotOptions, options?: OneHotOptions) => Tensor =
  ops.oneHot;
/** oneHot of a known number of classes. */
export const oneHotClasses: {
  (self: Tensor, numClasses: number): Tensor;
  (self: Tensor, named: { readonly numClasses: number }): Tensor;
} = ops.oneHotClasses;
/** oneHot with as many classes as the greatest integer needs. */
export const oneHotOfAll: (self: Tensor) => Tensor = ops.oneHotOfAll;
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
/**
 * Sums of products of operands over the dimensions that an equation such as "bij,bjk->bik" names. As
 * `torch.einsum`, in all of its forms.
 */
export const einsum: {
  (equation: string, operands: readonly Tensor[]): Tensor;
  (equation: string, ...operands: Tensor[]): Tensor;
} = ops.einsum;
/** Sums of products over dimensions of one tensor paired with dimensions of another. */
export const tensordotDims: {
  (self: Tensor, other: Tensor, dimsSelf: readonly number[], dimsOther: readonly number[]): Tensor;
  (
    self: Tensor,
    other: Tensor,
    named: { readonly dimsSelf: readonly number[]; readonly dimsOther: readonly number[] },
  ): Tensor;
} = ops.tensordotDims;
/** Sums of products over the last dimensions, as `torch.inner`. */
export const inner: (self: Tensor, other: Tensor) => Tensor = ops.inner;
/** The sum of the diagonal of a matrix, as `torch.trace`. */
export const trace: (self: Tensor) => Tensor = ops.trace;
/** The Kronecker product, as `torch.kron`. */
export const kron: (self: Tensor, other: Tensor) => Tensor = ops.kron;
/** x1ᵀ · weight[k] · x2 + bias[k] for each k, as `nn.functional.bilinear`. */
export const bilinear: (
  input1: Tensor,
  input2: Tensor,
  weight: Tensor,
  bias?: Tensor | null | BilinearOptions<Tensor>,
  options?: BilinearOptions<Tensor>,
) => Tensor = ops.bilinear;
/** With at least 1 dimension(s), as `torch.atleast_1d` of one tensor. */
export const atleast1d: (self: Tensor) => Tensor = ops.atleast1d;
/** With at least 2 dimension(s), as `torch.atleast_2d` of one tensor. */
export const atleast2d: (self: Tensor) => Tensor = ops.atleast2d;
/** With at least 3 dimension(s), as `torch.atleast_3d` of one tensor. */
export const atleast3d: (self: Tensor) => Tensor = ops.atleast3d;
/** Tensors joined along a dimension that the name says, as `torch.hstack`. */
export const hstack: (tensors: readonly Tensor[]) => Tensor = ops.hstack;
/** Tensors joined along a dimension that the name says, as `torch.vstack`. */
export const vstack: (tensors: readonly Tensor[]) => Tensor = ops.vstack;
/** Tensors joined along a dimension that the name says, as `torch.vstack`. */
export const rowStack: (tensors: readonly Tensor[]) => Tensor = ops.vstack;
/** Tensors joined along a dimension that the name says, as `torch.dstack`. */
export const dstack: (tensors: readonly Tensor[]) => Tensor = ops.dstack;
/** Tensors joined along a dimension that the name says, as `torch.columnStack`. */
export const columnStack: (tensors: readonly Tensor[]) => Tensor = ops.columnStack;
/** Matrices along the diagonal of a matrix of zeros, as `torch.block_diag`. */
export const blockDiag: {
  (tensors: readonly Tensor[]): Tensor;
  (...tensors: Tensor[]): Tensor;
} = ops.blockDiag;
/**
 * Each vector along a dimension of its own, all expanded to the grid; indexing "ij" or "xy". As
 * `torch.meshgrid`.
 */
export const meshgrid: {
  (tensors: readonly Tensor[], options?: MeshgridOptions): Tensor[];
  (...tensors: (Tensor | MeshgridOptions)[]): Tensor[];
} = ops.meshgrid;
/** All combinations of elements of vectors, one a row, as `torch.cartesian_prod`. */
export const cartesianProd: {
  (tensors: readonly Tensor[]): Tensor;
  (...tensors: Tensor[]): Tensor;
} = ops.cartesianProd;
/** Tensors expanded to the shape that they broadcast to, as `torch.broadcast_tensors`. */
export const broadcastTensors: {
  (tensors: readonly Tensor[]): Tensor[];
  (...tensors: Tensor[]): Tensor[];
} = ops.broadcastTensors;
/** All elements in one dimension, as `torch.ravel`. */
export const ravel: (self: Tensor) => Tensor = ops.ravel;
/** The flattened tensor on a diagonal, as `torch.diagflat`. */
export const diagflat: (
  self: Tensor,
  offset?: number | DiagflatOptions,
  options?: DiagflatOptions,
) => Tensor = ops.diagflat;
/** Rows and columns of the upper triangle of a matrix. */
export const triuIndices: (
  row: number,
  col: number,
  offset?: number | TriuIndicesOptions,
  options?: TriuIndicesOptions,
) => Tensor = ops.triuIndices;
/** Rows and columns of the lower triangle of a matrix. */
export const trilIndices: (
  row: number,
  col: number,
  offset?: number | TrilIndicesOptions,
  options?: TrilIndicesOptions,
) => Tensor = ops.trilIndices;
/**
 * Sums of products over dimensions of two tensors: so many of the last and first, or given as two lists. As
 * `torch.tensordot`.
 */
export const tensordot: (
  self: Tensor,
  other: Tensor,
  dims?: number | readonly (readonly number[])[] | TensordotOptions,
  options?: TensordotOptions,
) => Tensor = ops.tensordot;
/**
 * Differences of neighbours along a dimension, n times, with elements put before and after, as
 * `torch.diff`.
 */
export const diff: (
  self: Tensor,
  n?: number | DiffOptions<Tensor>,
  dim?: number | DiffOptions<Tensor>,
  prepend?: Tensor | null | DiffOptions<Tensor>,
  append?: Tensor | null | DiffOptions<Tensor>,
  options?: DiffOptions<Tensor>,
) => Tensor = ops.diff;
/** The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. */
export const trapezoid: (
  y: Tensor,
  x?: Operand<Tensor> | null | TrapezoidOptions<Tensor>,
  options?: TrapezoidOptions<Tensor>,
) => Tensor = ops.trapezoid;
/** The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. */
export const trapz: (
  y: Tensor,
  x?: Operand<Tensor> | null | TrapezoidOptions<Tensor>,
  options?: TrapezoidOptions<Tensor>,
) => Tensor = ops.trapezoid;
/**
 * The integral along a dimension by trapezoids, as `torch.cumulativeTrapezoid`: y, then x (a tensor), or
 * dx.
 */
export const cumulativeTrapezoid: (
  y: Tensor,
  x?: Operand<Tensor> | null | CumulativeTrapezoidOptions<Tensor>,
  options?: CumulativeTrapezoidOptions<Tensor>,
) => Tensor = ops.cumulativeTrapezoid;
/** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
export const sumToSize: {
  (self: Tensor, size: readonly Dim[]): Tensor;
  (self: Tensor, ...size: Dim[]): Tensor;
} = ops.sumToSize;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const interpolate: (
  self: Tensor,
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
) => Tensor = ops.interpolate;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const upsample: (
  self: Tensor,
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
) => Tensor = ops.interpolate;
/** interpolate with mode nearest, as `nn.functional.upsampleNearest`. */
export const upsampleNearest: (
  self: Tensor,
  size?: number | readonly number[] | null | UpsampleNearestOptions,
  scaleFactor?: number | readonly number[] | null | UpsampleNearestOptions,
  options?: UpsampleNearestOptions,
) => Tensor = ops.upsampleNearest;
/** interpolate with mode bilinear, as `nn.functional.upsampleBilinear`. */
export const upsampleBilinear: (
  self: Tensor,
  size?: number | readonly number[] | null | UpsampleBilinearOptions,
  scaleFactor?: number | readonly number[] | null | UpsampleBilinearOptions,
  options?: UpsampleBilinearOptions,
) => Tensor = ops.upsampleBilinear;
/** The windows of images as columns [batch, channels · kernel, windows], as `nn.functional.unfold`. */
export const im2col: {
  (
    self: Tensor,
    kernelSize: number | readonly number[],
    dilation?: number | readonly number[] | Im2colOptions,
    padding?: number | readonly number[] | Im2colOptions,
    stride?: number | readonly number[] | Im2colOptions,
    options?: Im2colOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: number | readonly number[] } & Im2colOptions): Tensor;
} = ops.im2col;
/** Channels spread over pixels, as `nn.functional.pixel_shuffle`. */
export const pixelShuffle: {
  (self: Tensor, upscaleFactor: number): Tensor;
  (self: Tensor, named: { readonly upscaleFactor: number }): Tensor;
} = ops.pixelShuffle;
/** Channels gathered from pixels, as `nn.functional.pixel_unshuffle`. */
export const pixelUnshuffle: {
  (self: Tensor, downscaleFactor: number): Tensor;
  (self: Tensor, named: { readonly downscaleFactor: number }): Tensor;
} = ops.pixelUnshuffle;
/** Channels in groups, interleaved, as `nn.functional.channel_shuffle`. */
export const channelShuffle: {
  (self: Tensor, groups: number): Tensor;
  (self: Tensor, named: { readonly groups: number }): Tensor;
} = ops.channelShuffle;
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
    outputSize: number | readonly number[],
    kernelSize: number | readonly number[],
    dilation?: number | readonly number[] | Col2imOptions,
    padding?: number | readonly number[] | Col2imOptions,
    stride?: number | readonly number[] | Col2imOptions,
    options?: Col2imOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly outputSize: number | readonly number[];
      readonly kernelSize: number | readonly number[];
    } & Col2imOptions,
  ): Tensor;
} = ops.col2im;
/**
 * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
 * `nn.functional.fold`.
 */
export const fold: {
  (
    self: Tensor,
    outputSize: number | readonly number[],
    kernelSize: number | readonly number[],
    dilation?: number | readonly number[] | Col2imOptions,
    padding?: number | readonly number[] | Col2imOptions,
    stride?: number | readonly number[] | Col2imOptions,
    options?: Col2imOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly outputSize: number | readonly number[];
      readonly kernelSize: number | readonly number[];
    } & Col2imOptions,
  ): Tensor;
} = ops.col2im;
/**
 * Images [N, C, H, W], or volumes, sampled at the places that a grid [N, H', W', 2] names in [−1, 1], as
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
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler`. */
export const gridSampler: {
  (
    input: Tensor,
    grid: Tensor,
    interpolationMode: number,
    paddingMode: number,
    alignCorners: boolean,
  ): Tensor;
  (
    input: Tensor,
    grid: Tensor,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): Tensor;
} = ops.gridSampler;
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler_2d`. */
export const gridSampler2d: {
  (
    input: Tensor,
    grid: Tensor,
    interpolationMode: number,
    paddingMode: number,
    alignCorners: boolean,
  ): Tensor;
  (
    input: Tensor,
    grid: Tensor,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): Tensor;
} = ops.gridSampler2d;
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler_3d`. */
export const gridSampler3d: {
  (
    input: Tensor,
    grid: Tensor,
    interpolationMode: number,
    paddingMode: number,
    alignCorners: boolean,
  ): Tensor;
  (
    input: Tensor,
    grid: Tensor,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): Tensor;
} = ops.gridSampler3d;
/**
 * The places that affine maps theta [N, 2, 3] give each pixel of images of `size` [N, C, H, W], or [N, 3,
 * 4] voxels, as `nn.functional.affine_grid`.
 */
export const affineGrid: {
  (
    theta: Tensor,
    size: readonly number[],
    alignCorners?: boolean | AffineGridOptions,
    options?: AffineGridOptions,
  ): Tensor;
  (theta: Tensor, named: { readonly size: readonly number[] } & AffineGridOptions): Tensor;
} = ops.affineGrid;
/**
 * The places that affine maps theta [N, 2, 3] give each pixel of images of `size` [N, C, H, W], or [N, 3,
 * 4] voxels, as `nn.functional.affine_grid`.
 */
export const affineGridGenerator: {
  (
    theta: Tensor,
    size: readonly number[],
    alignCorners?: boolean | AffineGridOptions,
    options?: AffineGridOptions,
  ): Tensor;
  (theta: Tensor, named: { readonly size: readonly number[] } & AffineGridOptions): Tensor;
} = ops.affineGrid;
/** max(0, −target · (input1 − input2) + margin), as `nn.functional.margin_ranking_loss`. */
export const marginRankingLoss: (
  input1: Tensor,
  input2: Tensor,
  target: Tensor,
  margin?: number | MarginRankingLossOptions,
  reduction?: "none" | "mean" | "sum" | MarginRankingLossOptions,
  options?: MarginRankingLossOptions,
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
  margin?: number | CosineEmbeddingLossOptions,
  reduction?: "none" | "mean" | "sum" | CosineEmbeddingLossOptions,
  options?: CosineEmbeddingLossOptions,
) => Tensor = ops.cosineEmbeddingLoss;
/** ½ (log var + (self − target)² / var), var at least eps, as `nn.functional.gaussian_nll_loss`. */
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
/** Distances between all rows of x1 and all rows of x2, as `torch.cdist`. */
export const cdist: (
  x1: Tensor,
  x2: Tensor,
  p?: number | CdistOptions,
  computeMode?: string | null | CdistOptions,
  options?: CdistOptions,
) => Tensor = ops.cdist;
/** Distances between all pairs of rows, i < j, as `nn.functional.pdist`. */
export const pdist: (self: Tensor, p?: number | PdistOptions, options?: PdistOptions) => Tensor = ops.pdist;
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
/**
 * Minus the log-probability of targets under log-probabilities [time, batch, classes] over all alignments
 * with blanks, as `nn.functional.ctc_loss`; targets are padded rows, or all in one vector. Computed on the
 * host.
 */
export const ctcLoss: (
  logProbs: Tensor,
  targets: Tensor,
  inputLengths: Tensor,
  targetLengths: Tensor,
  blank?: number | CtcLossOptions,
  reduction?: "none" | "mean" | "sum" | CtcLossOptions,
  zeroInfinity?: boolean | CtcLossOptions,
  options?: CtcLossOptions,
) => Tensor = ops.ctcLoss;
/** The loss of each sequence, and its gradient. */
export const ctcLosses: {
  (
    logProbs: Tensor,
    targets: Tensor,
    inputLengths: Tensor,
    targetLengths: Tensor,
    blank: number,
  ): [losses: Tensor, slopes: Tensor] & { readonly losses: Tensor; readonly slopes: Tensor };
  (
    logProbs: Tensor,
    targets: Tensor,
    inputLengths: Tensor,
    targetLengths: Tensor,
    named: { readonly blank: number },
  ): [losses: Tensor, slopes: Tensor] & { readonly losses: Tensor; readonly slopes: Tensor };
} = ops.ctcLosses;
/** Chebyshev's polynomial of the first kind: of degree n at x, as `torch.special.chebyshevPolynomialT`. */
export const chebyshevPolynomialT: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialT;
/** Chebyshev's polynomial of the second kind: of degree n at x, as `torch.special.chebyshevPolynomialU`. */
export const chebyshevPolynomialU: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialU;
/** Chebyshev's polynomial of the third kind: of degree n at x, as `torch.special.chebyshevPolynomialV`. */
export const chebyshevPolynomialV: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialV;
/** Chebyshev's polynomial of the fourth kind: of degree n at x, as `torch.special.chebyshevPolynomialW`. */
export const chebyshevPolynomialW: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.chebyshevPolynomialW;
/** The physicists' Hermite polynomial: of degree n at x, as `torch.special.hermitePolynomialH`. */
export const hermitePolynomialH: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor = ops.hermitePolynomialH;
/** The probabilists' Hermite polynomial: of degree n at x, as `torch.special.hermitePolynomialHe`. */
export const hermitePolynomialHe: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.hermitePolynomialHe;
/** Laguerre's polynomial: of degree n at x, as `torch.special.laguerrePolynomialL`. */
export const laguerrePolynomialL: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.laguerrePolynomialL;
/** Legendre's polynomial: of degree n at x, as `torch.special.legendrePolynomialP`. */
export const legendrePolynomialP: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.legendrePolynomialP;
/**
 * Chebyshev's polynomial of the first kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialT`.
 */
export const shiftedChebyshevPolynomialT: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialT;
/**
 * Chebyshev's polynomial of the second kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialU`.
 */
export const shiftedChebyshevPolynomialU: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialU;
/**
 * Chebyshev's polynomial of the third kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialV`.
 */
export const shiftedChebyshevPolynomialV: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialV;
/**
 * Chebyshev's polynomial of the fourth kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialW`.
 */
export const shiftedChebyshevPolynomialW: (x: Operand<Tensor>, n: Operand<Tensor>) => Tensor =
  ops.shiftedChebyshevPolynomialW;
/** The greatest common divisor, as `torch.gcd`. */
export const gcd: (self: Tensor, other: Tensor) => Tensor = ops.gcd;
/** The least common multiple, as `torch.lcm`. */
export const lcm: (self: Tensor, other: Tensor) => Tensor = ops.lcm;
/** The norm of matrices (fro, nuc, ±1, ±2, ±∞), as `torch.linalg.matrix_norm`. */
export const matrixNorm: (
  A: Tensor,
  ord?: Scalar | string | MatrixNormOptions,
  dim?: number | readonly number[] | MatrixNormOptions,
  keepdim?: boolean | MatrixNormOptions,
  options?: MatrixNormOptions,
) => Tensor = ops.matrixNorm;
/** The norm of vectors, or of matrices where two dims and an order are given, as `torch.linalg.norm`. */
export const linalgNorm: (
  A: Tensor,
  ord?: Scalar | string | null | LinalgNormOptions,
  dim?: number | readonly number[] | null | LinalgNormOptions,
  keepdim?: boolean | LinalgNormOptions,
  options?: LinalgNormOptions,
) => Tensor = ops.linalgNorm;
/** The diagonals of matrices, or of two other dimensions, as `torch.linalg.diagonal`. */
export const linalgDiagonal: (A: Tensor, options?: LinalgDiagonalOptions) => Tensor = ops.linalgDiagonal;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const cross: (
  self: Tensor,
  other: Tensor,
  dim?: number | null | CrossOptions,
  options?: CrossOptions,
) => Tensor = ops.cross;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const linalgCross: (
  self: Tensor,
  other: Tensor,
  dim?: number | null | LinalgCrossOptions,
  options?: LinalgCrossOptions,
) => Tensor = ops.linalgCross;
/** Sums of products along a dimension, as `torch.linalg.vecdot`. */
export const vecdot: (x: Tensor, y: Tensor, dim?: number | VecdotOptions, options?: VecdotOptions) => Tensor =
  ops.vecdot;
/** The product of several matrices (the first and last may be vectors), as `torch.linalg.multi_dot`. */
export const multiDot: (tensors: readonly Tensor[]) => Tensor = ops.multiDot;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inv: (A: Tensor) => Tensor = ops.inv;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inverse: (A: Tensor) => Tensor = ops.inv;
/** Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host. */
export const slogdet: (
  A: Tensor,
) => [sign: Tensor, logabsdet: Tensor] & { readonly sign: Tensor; readonly logabsdet: Tensor } = ops.slogdet;
/** Determinants of square matrices, as `torch.det`. */
export const det: (A: Tensor) => Tensor = ops.det;
/** Logarithms of determinants of square matrices, as `torch.logdet`. */
export const logdet: (A: Tensor) => Tensor = ops.logdet;
/** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
export const matrixPower: {
  (A: Tensor, n: number): Tensor;
  (A: Tensor, named: { readonly n: number }): Tensor;
} = ops.matrixPower;
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
) => [result: Tensor, info: Tensor] & { readonly result: Tensor; readonly info: Tensor } = ops.solveEx;
/** The inverses of square matrices and zeros, as `torch.linalg.inv_ex`; a singular one is an error. */
export const invEx: (
  A: Tensor,
  options?: InvExOptions,
) => [inverse: Tensor, info: Tensor] & { readonly inverse: Tensor; readonly info: Tensor } = ops.invEx;
/** The inverse of the map from the last dimensions to the first `ind`, as `torch.linalg.tensorinv`. */
export const tensorinv: (A: Tensor, ind?: number | TensorinvOptions, options?: TensorinvOptions) => Tensor =
  ops.tensorinv;
/** Integers, of which none may be negative. */
export const frequencies: (self: Tensor) => Tensor = ops.frequencies;
/** The covariance of rows over columns, with frequencies and weights, as `torch.cov`. */
export const cov: (self: Tensor, options?: CovOptions<Tensor>) => Tensor = ops.cov;
/** The correlation of rows over columns, as `torch.corrcoef`. */
export const corrcoef: (self: Tensor) => Tensor = ops.corrcoef;
/** U, S and Vh with A = U · diag(S) · Vh, as many columns and rows as there are values. */
export const singularFactors: (
  A: Tensor,
) => [U: Tensor, S: Tensor, Vh: Tensor] & { readonly U: Tensor; readonly S: Tensor; readonly Vh: Tensor } =
  ops.singularFactors;
/** Singular values in descending order, as `torch.linalg.svdvals`. Computed on the host. */
export const svdvals: (A: Tensor) => Tensor = ops.svdvals;
/** The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`. */
export const aminmax: (
  self: Tensor,
  options?: AminmaxOptions,
) => [min: Tensor, max: Tensor] & { readonly min: Tensor; readonly max: Tensor } = ops.aminmax;
/**
 * The most frequent element along a dimension, the least where several are, and its last index. As
 * `torch.mode`.
 */
export const mode: (
  self: Tensor,
  dim?: number | ModeOptions,
  keepdim?: boolean | ModeOptions,
  options?: ModeOptions,
) => [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor } = ops.mode;
/** How many elements lie in each of `bins` equal parts of [min, max], as `torch.histc`. */
export const histc: (
  self: Tensor,
  bins?: number | HistcOptions,
  min?: number | HistcOptions,
  max?: number | HistcOptions,
  options?: HistcOptions,
) => Tensor = ops.histc;
/** Flat indices as one index for each dimension of a shape, as `torch.unravel_index`. */
export const unravelIndex: {
  (indices: Tensor, shape: readonly number[]): Tensor[];
  (indices: Tensor, named: { readonly shape: readonly number[] }): Tensor[];
} = ops.unravelIndex;
/** All choices of r elements of a vector, one a row, as `torch.combinations`. */
export const combinations: (
  self: Tensor,
  r?: number | CombinationsOptions,
  withReplacement?: boolean | CombinationsOptions,
  options?: CombinationsOptions,
) => Tensor = ops.combinations;
/** All choices of r of n positions, one a row. */
export const choiceIndices: (
  n: number,
  r: number,
  repeat: boolean,
  options?: ChoiceIndicesOptions,
) => Tensor = ops.choiceIndices;
/** The edges of bins of one width over a range, or over the elements where there is none. */
export const binEdges: {
  (
    self: Tensor,
    bins: number,
    range?: number | readonly number[] | null | BinEdgesOptions,
    options?: BinEdgesOptions,
  ): Tensor;
  (self: Tensor, named: { readonly bins: number } & BinEdgesOptions): Tensor;
} = ops.binEdges;
/** How many points [count, dimensions] fall into each cell that edges make, or the sums of their weights. */
export const binnedSums: (
  points: Tensor,
  edges: readonly Tensor[],
  weight: Tensor | null | undefined,
  density: boolean,
  options?: BinnedSumsOptions<Tensor>,
) => Tensor = ops.binnedSums;
/**
 * How many elements fall into each bin, and the bins' edges, as `torch.histogram`: `bins` of one width over
 * a range (that of the elements where there is none), or between given edges.
 */
export const histogram: (
  self: Tensor,
  bins: Operand<Tensor>,
  options?: HistogramOptions<Tensor>,
) => [hist: Tensor, binEdges: Tensor] & { readonly hist: Tensor; readonly binEdges: Tensor } = ops.histogram;
/** X with A · X = B for triangular A of the same leading dimensions as B. */
export const backSubstitution: {
  (A: Tensor, B: Tensor, upper: boolean, unitriangular: boolean): Tensor;
  (A: Tensor, B: Tensor, named: { readonly upper: boolean; readonly unitriangular: boolean }): Tensor;
} = ops.backSubstitution;
/**
 * X with A · X = B, or X · A = B where `left` is false, for triangular A, as
 * `torch.linalg.solve_triangular`. Computed on the host.
 */
export const solveTriangular: {
  (A: Tensor, B: Tensor, upper: boolean, options?: SolveTriangularOptions): Tensor;
  (A: Tensor, B: Tensor, named: { readonly upper: boolean } & SolveTriangularOptions): Tensor;
} = ops.solveTriangular;
/** X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host. */
export const triangularSolve: (
  self: Tensor,
  A: Tensor,
  upper?: boolean | TriangularSolveOptions,
  transpose?: boolean | TriangularSolveOptions,
  unitriangular?: boolean | TriangularSolveOptions,
  options?: TriangularSolveOptions,
) => [solution: Tensor, cloned_coefficient: Tensor] & {
  readonly solution: Tensor;
  readonly cloned_coefficient: Tensor;
} = ops.triangularSolve;
/** Lower Cholesky factors, and the orders of the first leading minors that are not positive. */
export const choleskyFactor: {
  (
    A: Tensor,
    checkErrors: boolean,
  ): [L: Tensor, info: Tensor] & { readonly L: Tensor; readonly info: Tensor };
  (
    A: Tensor,
    named: { readonly checkErrors: boolean },
  ): [L: Tensor, info: Tensor] & { readonly L: Tensor; readonly info: Tensor };
} = ops.choleskyFactor;
/**
 * Cholesky factors and what kept them from being found, as `torch.linalg.cholesky_ex`. Computed on the
 * host.
 */
export const choleskyEx: (
  A: Tensor,
  options?: CholeskyExOptions,
) => [L: Tensor, info: Tensor] & { readonly L: Tensor; readonly info: Tensor } = ops.choleskyEx;
/**
 * L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on
 * the host.
 */
export const cholesky: (A: Tensor, upper?: boolean | CholeskyOptions, options?: CholeskyOptions) => Tensor =
  ops.cholesky;
/** The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the host. */
export const choleskyInverse: (
  L: Tensor,
  upper?: boolean | CholeskyInverseOptions,
  options?: CholeskyInverseOptions,
) => Tensor = ops.choleskyInverse;
/**
 * X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on
 * the host.
 */
export const choleskySolve: (
  self: Tensor,
  L: Tensor,
  upper?: boolean | CholeskySolveOptions,
  options?: CholeskySolveOptions,
) => Tensor = ops.choleskySolve;
/** Q and R of matrices with at least as many rows as columns, reduced. */
export const tallQr: (A: Tensor) => [Q: Tensor, R: Tensor] & { readonly Q: Tensor; readonly R: Tensor } =
  ops.tallQr;
/** Q with as many columns as rows, and R, of matrices with more rows than columns. */
export const completeQr: (A: Tensor) => [Q: Tensor, R: Tensor] & { readonly Q: Tensor; readonly R: Tensor } =
  ops.completeQr;
/**
 * Q with orthonormal columns and upper triangular R with A = Q · R, as `torch.linalg.qr`; mode "complete"
 * gives all columns of Q, "r" none. Computed on the host.
 */
export const qr: (
  A: Tensor,
  mode?: "reduced" | "complete" | "r" | QrOptions,
  options?: QrOptions,
) => [Q: Tensor, R: Tensor] & { readonly Q: Tensor; readonly R: Tensor } = ops.qr;
/** Eigenvalues and eigenvectors of symmetric matrices, by their lower triangles. */
export const symmetricEigen: (
  A: Tensor,
) => [eigenvalues: Tensor, eigenvectors: Tensor] & {
  readonly eigenvalues: Tensor;
  readonly eigenvectors: Tensor;
} = ops.symmetricEigen;
/**
 * Ascending eigenvalues and eigenvectors of symmetric matrices, as `torch.linalg.eigh`; gradients need
 * distinct values. Computed on the host.
 */
export const eigh: (
  A: Tensor,
  UPLO?: "L" | "U" | EighOptions,
  options?: EighOptions,
) => [eigenvalues: Tensor, eigenvectors: Tensor] & {
  readonly eigenvalues: Tensor;
  readonly eigenvectors: Tensor;
} = ops.eigh;
/** Ascending eigenvalues of symmetric matrices, as `torch.linalg.eigvalsh`. Computed on the host. */
export const eigvalsh: (A: Tensor, UPLO?: "L" | "U" | EigvalshOptions, options?: EigvalshOptions) => Tensor =
  ops.eigvalsh;
/** Eigenvalues and eigenvectors as pairs of parts, of real matrices or, where `paired`, of such pairs. */
export const eigenPairs: (
  A: Tensor,
  paired?: boolean | EigenPairsOptions,
  options?: EigenPairsOptions,
) => [eigenvalues: Tensor, eigenvectors: Tensor] & {
  readonly eigenvalues: Tensor;
  readonly eigenvectors: Tensor;
} = ops.eigenPairs;
/**
 * Complex eigenvalues and eigenvectors of square matrices, as `torch.linalg.eig`. Vectors have length 1,
 * and their largest element is real and positive. Gradients need distinct values, and a loss that does not
 * ask for the direction of complex vectors. Computed on the host.
 */
export const eig: (
  A: Tensor,
) => [eigenvalues: Tensor, eigenvectors: Tensor] & {
  readonly eigenvalues: Tensor;
  readonly eigenvectors: Tensor;
} = ops.eig;
/**
 * Complex eigenvalues of square matrices, as `torch.linalg.eigvals`. Gradients need distinct values.
 * Computed on the host.
 */
export const eigvals: (A: Tensor) => Tensor = ops.eigvals;
/** Extreme eigenvalues and eigenvectors of symmetric matrices, searched from vectors X on. */
export const extremePairs: (
  A: Tensor,
  X: Tensor,
  B: Tensor | null | undefined,
  iK: Tensor | null | undefined,
  niter: number,
  tol: number,
  largest: boolean,
  options?: ExtremePairsOptions<Tensor>,
) => [E: Tensor, X: Tensor] & { readonly E: Tensor; readonly X: Tensor } = ops.extremePairs;
/**
 * The k largest (or smallest) eigenvalues of symmetric positive definite matrices and their vectors, of the
 * generalised problem A · x = e · B · x where B is given, as `torch.lobpcg`. X are vectors to begin with
 * (random ones otherwise, n of them), iK is a preconditioner; it ends after `niter` steps, or where
 * residuals are below `tol`. Gradients need distinct values and no B. Computed on the host.
 */
export const lobpcg: (
  A: Tensor,
  k?: number | null | LobpcgOptions<Tensor>,
  B?: Tensor | null | LobpcgOptions<Tensor>,
  X?: Tensor | null | LobpcgOptions<Tensor>,
  n?: number | null | LobpcgOptions<Tensor>,
  iK?: Tensor | null | LobpcgOptions<Tensor>,
  niter?: number | null | LobpcgOptions<Tensor>,
  tol?: number | null | LobpcgOptions<Tensor>,
  largest?: boolean | LobpcgOptions<Tensor>,
  options?: LobpcgOptions<Tensor>,
) => [E: Tensor, X: Tensor] & { readonly E: Tensor; readonly X: Tensor } = ops.lobpcg;
/**
 * U, S and V with A − M ≈ U · diag(S) · Vᵀ for the q largest singular values, found from random vectors
 * that go `niter` times through the matrix and back, as `torch.svd_lowrank`. Computed on the host.
 */
export const svdLowrank: (
  A: Tensor,
  q?: number | SvdLowrankOptions<Tensor>,
  niter?: number | SvdLowrankOptions<Tensor>,
  M?: Tensor | null | SvdLowrankOptions<Tensor>,
  options?: SvdLowrankOptions<Tensor>,
) => [U: Tensor, S: Tensor, V: Tensor] & { readonly U: Tensor; readonly S: Tensor; readonly V: Tensor } =
  ops.svdLowrank;
/**
 * Principal components of rows: U, S and V with A ≈ U · diag(S) · Vᵀ after, where `center` says so, the
 * means of columns were taken away, as `torch.pca_lowrank`. Computed on the host.
 */
export const pcaLowrank: (
  A: Tensor,
  q?: number | null | PcaLowrankOptions,
  center?: boolean | PcaLowrankOptions,
  niter?: number | PcaLowrankOptions,
  options?: PcaLowrankOptions,
) => [U: Tensor, S: Tensor, V: Tensor] & { readonly U: Tensor; readonly S: Tensor; readonly V: Tensor } =
  ops.pcaLowrank;
/**
 * L and U in one matrix, pivots and the first zero on the diagonal, as `torch.linalg.lu_factor_ex`.
 * Computed on the host.
 */
export const luFactorEx: (
  A: Tensor,
  options?: LuFactorExOptions,
) => [LU: Tensor, pivots: Tensor, info: Tensor] & {
  readonly LU: Tensor;
  readonly pivots: Tensor;
  readonly info: Tensor;
} = ops.luFactorEx;
/** The matrices P with A = P · L · U, of pivots. */
export const permutationOf: {
  (pivots: Tensor, rows: number, options?: PermutationOfOptions): Tensor;
  (pivots: Tensor, named: { readonly rows: number } & PermutationOfOptions): Tensor;
} = ops.permutationOf;
/** L and U in one matrix and pivots, as `torch.linalg.lu_factor`. Computed on the host. */
export const luFactor: (
  A: Tensor,
  options?: LuFactorOptions,
) => [LU: Tensor, pivots: Tensor] & { readonly LU: Tensor; readonly pivots: Tensor } = ops.luFactor;
/**
 * P, L and U of matrices decomposed by luFactor, as `torch.lu_unpack`; those that are not asked for are
 * empty. P is made on the host.
 */
export const luUnpack: (
  LUData: Tensor,
  LUPivots: Tensor,
  unpackData?: boolean | LuUnpackOptions,
  unpackPivots?: boolean | LuUnpackOptions,
  options?: LuUnpackOptions,
) => [P: Tensor, L: Tensor, U: Tensor] & { readonly P: Tensor; readonly L: Tensor; readonly U: Tensor } =
  ops.luUnpack;
/** P, L and U with A = P · L · U, as `torch.linalg.lu`; without `pivot` P is empty. Computed on the host. */
export const linalgLu: (
  A: Tensor,
  options?: LinalgLuOptions,
) => [P: Tensor, L: Tensor, U: Tensor] & { readonly P: Tensor; readonly L: Tensor; readonly U: Tensor } =
  ops.linalgLu;
/**
 * L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`.
 * Computed on the host.
 */
export const lu: (
  self: Tensor,
  pivot?: boolean | LuOptions,
  getInfos?: boolean | LuOptions,
  options?: LuOptions,
) => [LU: Tensor, pivots: Tensor, infos: Tensor] & {
  readonly LU: Tensor;
  readonly pivots: Tensor;
  readonly infos: Tensor;
} = ops.lu;
/**
 * X with A · X = B, X · A = B where `left` is false, or of Aᵀ where `adjoint` is true, for A decomposed by
 * luFactor, as `torch.linalg.lu_solve`. Computed on the host.
 */
export const linalgLuSolve: (
  LU: Tensor,
  pivots: Tensor,
  B: Tensor,
  options?: LinalgLuSolveOptions,
) => Tensor = ops.linalgLuSolve;
/** X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host. */
export const luSolve: (self: Tensor, LUData: Tensor, LUPivots: Tensor) => Tensor = ops.luSolve;
/**
 * U, S and Vh with A = U · diag(S) · Vh, values descending, as `torch.linalg.svd`; without `fullMatrices`
 * as many columns and rows as there are values. Gradients need distinct values, and none reaches the rest
 * of full matrices. Computed on the host.
 */
export const linalgSvd: (
  A: Tensor,
  fullMatrices?: boolean | LinalgSvdOptions,
  options?: LinalgSvdOptions,
) => [U: Tensor, S: Tensor, Vh: Tensor] & { readonly U: Tensor; readonly S: Tensor; readonly Vh: Tensor } =
  ops.linalgSvd;
/**
 * U, S and V with A = U · diag(S) · Vᵀ, values descending, as `torch.svd`: without `some` full matrices,
 * without `computeUv` zeros for them. Computed on the host.
 */
export const svd: (
  self: Tensor,
  some?: boolean | SvdOptions,
  computeUv?: boolean | SvdOptions,
  options?: SvdOptions,
) => [U: Tensor, S: Tensor, V: Tensor] & { readonly U: Tensor; readonly S: Tensor; readonly V: Tensor } =
  ops.svd;
/** Pseudoinverses of matrices of which singular values below a bound count as 0. */
export const pseudoinverse: {
  (A: Tensor, bound: Tensor, hermitian: boolean): Tensor;
  (A: Tensor, bound: Tensor, named: { readonly hermitian: boolean }): Tensor;
} = ops.pseudoinverse;
/**
 * Pseudoinverses, as `torch.linalg.pinv`; rtol is by default the larger size times the type's epsilon.
 * Computed on the host.
 */
export const pinv: (
  A: Tensor,
  rcond?: Operand<Tensor> | null | PinvOptions<Tensor>,
  options?: PinvOptions<Tensor>,
) => Tensor = ops.pinv;
/** Pseudoinverses, as `torch.pinverse`. Computed on the host. */
export const pinverse: (A: Tensor, rcond?: number | PinverseOptions, options?: PinverseOptions) => Tensor =
  ops.pinverse;
/** How many singular values are not 0, as `torch.linalg.matrix_rank`. Computed on the host. */
export const matrixRank: (
  A: Tensor,
  tol?: Operand<Tensor> | null | MatrixRankOptions<Tensor>,
  options?: MatrixRankOptions<Tensor>,
) => Tensor = ops.matrixRank;
/**
 * Condition numbers by a norm, by singular values where none is given, as `torch.linalg.cond`. Computed on
 * the host.
 */
export const cond: (A: Tensor, p?: Scalar | string | null | CondOptions, options?: CondOptions) => Tensor =
  ops.cond;
/**
 * X that makes A · X − B least, residuals, ranks and singular values, as `torch.linalg.lstsq`; each as the
 * driver gives it there, or empty. Computed on the host.
 */
export const lstsq: (
  A: Tensor,
  B: Tensor,
  rcond?: number | null | LstsqOptions,
  options?: LstsqOptions,
) => [solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor] & {
  readonly solution: Tensor;
  readonly residuals: Tensor;
  readonly rank: Tensor;
  readonly singular_values: Tensor;
} = ops.lstsq;
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
/** e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host. */
export const matrixExp: (A: Tensor) => Tensor = ops.matrixExp;
/** R and the reflections that make Q, as `torch.geqrf`. Computed on the host. */
export const geqrf: (
  self: Tensor,
) => [a: Tensor, tau: Tensor] & { readonly a: Tensor; readonly tau: Tensor } = ops.geqrf;
/**
 * The first columns of the product of Householder reflections, as `torch.linalg.householder_product`.
 * Computed on the host in part.
 */
export const householderProduct: (A: Tensor, tau: Tensor) => Tensor = ops.householderProduct;
/**
 * The product of Householder reflections, Q, or its transpose, times `other`, or from its right where
 * `left` is false, as `torch.ormqr`. Computed on the host in part.
 */
export const ormqr: (
  self: Tensor,
  tau: Tensor,
  other: Tensor,
  left?: boolean | OrmqrOptions,
  transpose?: boolean | OrmqrOptions,
  options?: OrmqrOptions,
) => Tensor = ops.ormqr;
/**
 * L and D of symmetric matrices in one, pivots and the first pivot that is 0, as
 * `torch.linalg.ldl_factor_ex`. Computed on the host.
 */
export const ldlFactorEx: (
  A: Tensor,
  options?: LdlFactorExOptions,
) => [LD: Tensor, pivots: Tensor, info: Tensor] & {
  readonly LD: Tensor;
  readonly pivots: Tensor;
  readonly info: Tensor;
} = ops.ldlFactorEx;
/** L and D of symmetric matrices in one, and pivots, as `torch.linalg.ldl_factor`. Computed on the host. */
export const ldlFactor: (
  A: Tensor,
  options?: LdlFactorOptions,
) => [LD: Tensor, pivots: Tensor] & { readonly LD: Tensor; readonly pivots: Tensor } = ops.ldlFactor;
/** X with A · X = B for A decomposed by ldlFactor, as `torch.linalg.ldl_solve`. Computed on the host. */
export const ldlSolve: (LD: Tensor, pivots: Tensor, B: Tensor, options?: LdlSolveOptions) => Tensor =
  ops.ldlSolve;
/** ldlSolve of tensors with the same leading dimensions. */
export const ldlSolutions: (LD: Tensor, pivots: Tensor, B: Tensor) => Tensor = ops.ldlSolutions;
/**
 * The positive square roots of symmetric positive-definite matrices, as `torch.linalg.matrix_sqrth`.
 * Computed on the host.
 */
export const matrixSqrth: (A: Tensor) => Tensor = ops.matrixSqrth;
/**
 * U with orthonormal columns and symmetric positive H with A = U · H, of matrices with no fewer rows than
 * columns, as `torch.linalg.polar`. Computed on the host.
 */
export const linalgPolar: (A: Tensor) => [U: Tensor, H: Tensor] & { readonly U: Tensor; readonly H: Tensor } =
  ops.linalgPolar;
/** π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors. */
export const angle: (self: Tensor) => Tensor = ops.angle;
/** Mantissas in [½, 1) and exponents of 2, as `torch.frexp`. */
export const frexp: (
  self: Tensor,
) => [mantissa: Tensor, exponent: Tensor] & { readonly mantissa: Tensor; readonly exponent: Tensor } =
  ops.frexp;
/** The next float after self towards other, as `torch.nextafter`. */
export const nextafter: (self: Tensor, other: Tensor) => Tensor = ops.nextafter;
/** layerNorm with the mean and 1/deviation of each sample, as `torch.native_layer_norm`. */
export const nativeLayerNorm: {
  (
    self: Tensor,
    normalizedShape: readonly Dim[],
    weight: Tensor | null | undefined,
    bias: Tensor | null | undefined,
    eps: number,
    options?: NativeLayerNormOptions<Tensor>,
  ): [output: Tensor, mean: Tensor, rstd: Tensor] & {
    readonly output: Tensor;
    readonly mean: Tensor;
    readonly rstd: Tensor;
  };
  (
    self: Tensor,
    named:
      & { readonly normalizedShape: readonly Dim[]; readonly eps: number }
      & NativeLayerNormOptions<Tensor>,
  ): [output: Tensor, mean: Tensor, rstd: Tensor] & {
    readonly output: Tensor;
    readonly mean: Tensor;
    readonly rstd: Tensor;
  };
} = ops.nativeLayerNorm;
/** groupNorm with the mean and 1/deviation of each group, as `torch.native_group_norm`. */
export const nativeGroupNorm: (
  self: Tensor,
  weight: Tensor | null | undefined,
  bias: Tensor | null | undefined,
  n: Dim,
  c: Dim,
  hxw: Dim,
  group: number,
  eps: number,
  options?: NativeGroupNormOptions<Tensor>,
) => [output: Tensor, mean: Tensor, rstd: Tensor] & {
  readonly output: Tensor;
  readonly mean: Tensor;
  readonly rstd: Tensor;
} = ops.nativeGroupNorm;
/**
 * batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but that it leaves
 * running statistics as they are.
 */
export const nativeBatchNorm: (
  self: Tensor,
  weight: Tensor | null | undefined,
  bias: Tensor | null | undefined,
  runningMean: Tensor | null | undefined,
  runningVar: Tensor | null | undefined,
  training: boolean,
  momentum: number,
  eps: number,
  options?: NativeBatchNormOptions<Tensor>,
) => [output: Tensor, mean: Tensor, rstd: Tensor] & {
  readonly output: Tensor;
  readonly mean: Tensor;
  readonly rstd: Tensor;
} = ops.nativeBatchNorm;
/** grad · mask · scale, as `torch.native_dropout_backward`. */
export const nativeDropoutBackward: {
  (gradOutput: Tensor, mask: Tensor, scale: number): Tensor;
  (gradOutput: Tensor, mask: Tensor, named: { readonly scale: number }): Tensor;
} = ops.nativeDropoutBackward;
/** The product of an n × k and a k × m matrix, as `torch.mm`. */
export const mm: (self: Tensor, mat2: Tensor) => Tensor = ops.mm;
/** Products of b × n × k and b × k × m matrices, as `torch.bmm`. */
export const bmm: (self: Tensor, mat2: Tensor) => Tensor = ops.bmm;
/** A matrix times a vector, as `torch.mv`. */
export const mv: (self: Tensor, vec: Tensor) => Tensor = ops.mv;
/** The sum of products of two vectors, as `torch.dot`. */
export const dot: (self: Tensor, tensor: Tensor) => Tensor = ops.dot;
/** The product of matrices, vectors and broadcast batches of matrices, as `torch.matmul`. */
export const matmul: (self: Tensor, other: Tensor) => Tensor = ops.matmul;
/** beta · input + alpha · the product of the other two, as `torch.addmm`; mat2 is the second factor. */
export const addmm: (self: Tensor, first: Tensor, second: Tensor, options?: AddmmOptions) => Tensor =
  ops.addmm;
/** beta · input + alpha · the product of the other two, as `torch.addmv`; vec is the second factor. */
export const addmv: (self: Tensor, first: Tensor, second: Tensor, options?: AddmvOptions) => Tensor =
  ops.addmv;
/** beta · input + alpha · the product of the other two, as `torch.baddbmm`; batch2 is the second factor. */
export const baddbmm: (self: Tensor, first: Tensor, second: Tensor, options?: BaddbmmOptions) => Tensor =
  ops.baddbmm;
/** beta · input + alpha · the product of the other two, as `torch.addbmm`; batch2 is the second factor. */
export const addbmm: (self: Tensor, first: Tensor, second: Tensor, options?: AddbmmOptions) => Tensor =
  ops.addbmm;
/** beta · input + alpha · the product of the other two, as `torch.addr`; vec2 is the second factor. */
export const addr: (self: Tensor, first: Tensor, second: Tensor, options?: AddrOptions) => Tensor = ops.addr;
/** All products of elements of two vectors, as `torch.outer`. */
export const outer: (self: Tensor, vec2: Tensor) => Tensor = ops.outer;
/** All products of elements of two vectors, as `torch.outer`. */
export const ger: (self: Tensor, vec2: Tensor) => Tensor = ops.outer;
/** input · weightᵀ + bias, for weight of shape [out, in], as `nn.functional.linear`. */
export const linear: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | LinearOptions<Tensor>,
  options?: LinearOptions<Tensor>,
) => Tensor = ops.linear;
/** Cross-correlation of [batch, channels, h, w] with [features, channels / groups, kh, kw]. */
export const convolution: (
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null | undefined,
  stride: readonly number[],
  padding: readonly number[],
  dilation: readonly number[],
  groups: number,
  options?: ConvolutionOptions<Tensor>,
) => Tensor = ops.convolution;
/** The gradient of a convolution in its input, of `inputSizes`. */
export const convolutionBackwardInput: {
  (
    grad: Tensor,
    weight: Tensor,
    inputSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): Tensor;
  (
    grad: Tensor,
    weight: Tensor,
    named: {
      readonly inputSizes: readonly Dim[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly dilation: readonly number[];
      readonly groups: number;
    },
  ): Tensor;
} = ops.convolutionBackwardInput;
/** The gradient of a convolution in its weight, of `weightSizes`. */
export const convolutionBackwardWeight: {
  (
    grad: Tensor,
    input: Tensor,
    weightSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): Tensor;
  (
    grad: Tensor,
    input: Tensor,
    named: {
      readonly weightSizes: readonly Dim[];
      readonly stride: readonly number[];
      readonly padding: readonly number[];
      readonly dilation: readonly number[];
      readonly groups: number;
    },
  ): Tensor;
} = ops.convolutionBackwardWeight;
/**
 * Cross-correlation over 1 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv1d`.
 */
export const conv1d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | Conv1dOptions<Tensor>,
  stride?: number | readonly number[] | Conv1dOptions<Tensor>,
  padding?: number | readonly number[] | string | Conv1dOptions<Tensor>,
  dilation?: number | readonly number[] | Conv1dOptions<Tensor>,
  groups?: number | Conv1dOptions<Tensor>,
  options?: Conv1dOptions<Tensor>,
) => Tensor = ops.conv1d;
/**
 * Cross-correlation over 2 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv2d`.
 */
export const conv2d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | Conv2dOptions<Tensor>,
  stride?: number | readonly number[] | Conv2dOptions<Tensor>,
  padding?: number | readonly number[] | string | Conv2dOptions<Tensor>,
  dilation?: number | readonly number[] | Conv2dOptions<Tensor>,
  groups?: number | Conv2dOptions<Tensor>,
  options?: Conv2dOptions<Tensor>,
) => Tensor = ops.conv2d;
/**
 * Cross-correlation over 3 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv3d`.
 */
export const conv3d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | Conv3dOptions<Tensor>,
  stride?: number | readonly number[] | Conv3dOptions<Tensor>,
  padding?: number | readonly number[] | string | Conv3dOptions<Tensor>,
  dilation?: number | readonly number[] | Conv3dOptions<Tensor>,
  groups?: number | Conv3dOptions<Tensor>,
  options?: Conv3dOptions<Tensor>,
) => Tensor = ops.conv3d;
/** The transposed convolution over 1 dimension(s), as `nn.functional.conv_transpose1d`. */
export const convTranspose1d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | ConvTranspose1dOptions<Tensor>,
  stride?: number | readonly number[] | ConvTranspose1dOptions<Tensor>,
  padding?: number | readonly number[] | ConvTranspose1dOptions<Tensor>,
  outputPadding?: number | readonly number[] | ConvTranspose1dOptions<Tensor>,
  groups?: number | ConvTranspose1dOptions<Tensor>,
  dilation?: number | readonly number[] | ConvTranspose1dOptions<Tensor>,
  options?: ConvTranspose1dOptions<Tensor>,
) => Tensor = ops.convTranspose1d;
/** The transposed convolution over 2 dimension(s), as `nn.functional.conv_transpose2d`. */
export const convTranspose2d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | ConvTranspose2dOptions<Tensor>,
  stride?: number | readonly number[] | ConvTranspose2dOptions<Tensor>,
  padding?: number | readonly number[] | ConvTranspose2dOptions<Tensor>,
  outputPadding?: number | readonly number[] | ConvTranspose2dOptions<Tensor>,
  groups?: number | ConvTranspose2dOptions<Tensor>,
  dilation?: number | readonly number[] | ConvTranspose2dOptions<Tensor>,
  options?: ConvTranspose2dOptions<Tensor>,
) => Tensor = ops.convTranspose2d;
/** The transposed convolution over 3 dimension(s), as `nn.functional.conv_transpose3d`. */
export const convTranspose3d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | ConvTranspose3dOptions<Tensor>,
  stride?: number | readonly number[] | ConvTranspose3dOptions<Tensor>,
  padding?: number | readonly number[] | ConvTranspose3dOptions<Tensor>,
  outputPadding?: number | readonly number[] | ConvTranspose3dOptions<Tensor>,
  groups?: number | ConvTranspose3dOptions<Tensor>,
  dilation?: number | readonly number[] | ConvTranspose3dOptions<Tensor>,
  options?: ConvTranspose3dOptions<Tensor>,
) => Tensor = ops.convTranspose3d;
/** Sums of the `count` windows that cover a dimension. */
export const adaptiveSum: {
  (self: Tensor, dim: number, count: number): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly count: number }): Tensor;
} = ops.adaptiveSum;
/** Gradients of windows given to each of their elements along a dimension of `size`. */
export const adaptiveSumBackward: {
  (grad: Tensor, dim: number, size: number): Tensor;
  (grad: Tensor, named: { readonly dim: number; readonly size: number }): Tensor;
} = ops.adaptiveSumBackward;
/** How many elements each of `count` windows that cover `size` has. */
export const windowLengths: {
  (like: Tensor, size: number, count: number): Tensor;
  (like: Tensor, named: { readonly size: number; readonly count: number }): Tensor;
} = ops.windowLengths;
/**
 * Means of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool1d`.
 */
export const adaptiveAvgPool1d: {
  (self: Tensor, outputSize: number | readonly (number | null)[]): Tensor;
  (self: Tensor, named: { readonly outputSize: number | readonly (number | null)[] }): Tensor;
} = ops.adaptiveAvgPool1d;
/**
 * Means of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool2d`.
 */
export const adaptiveAvgPool2d: {
  (self: Tensor, outputSize: number | readonly (number | null)[]): Tensor;
  (self: Tensor, named: { readonly outputSize: number | readonly (number | null)[] }): Tensor;
} = ops.adaptiveAvgPool2d;
/**
 * Means of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool3d`.
 */
export const adaptiveAvgPool3d: {
  (self: Tensor, outputSize: number | readonly (number | null)[]): Tensor;
  (self: Tensor, named: { readonly outputSize: number | readonly (number | null)[] }): Tensor;
} = ops.adaptiveAvgPool3d;
/** For each window over the last dimensions the flat place of its maximum in a window of `kernel`. */
export const adaptiveMaxOffsets: {
  (self: Tensor, sizes: readonly number[], kernel: readonly number[]): Tensor;
  (self: Tensor, named: { readonly sizes: readonly number[]; readonly kernel: readonly number[] }): Tensor;
} = ops.adaptiveMaxOffsets;
/** For each window over the last dimensions the flat index of its maximum among them. */
export const adaptiveMaxIndices: {
  (self: Tensor, sizes: readonly number[]): Tensor;
  (self: Tensor, named: { readonly sizes: readonly number[] }): Tensor;
} = ops.adaptiveMaxIndices;
/**
 * Maxima of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool1d`.
 */
export const adaptiveMaxPool1d: {
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool1dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool1dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool1dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool1dOptions,
  ): Tensor;
} = ops.adaptiveMaxPool1d;
/**
 * Maxima of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool2d`.
 */
export const adaptiveMaxPool2d: {
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool2dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool2dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool2dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool2dOptions,
  ): Tensor;
} = ops.adaptiveMaxPool2d;
/**
 * Maxima of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool3d`.
 */
export const adaptiveMaxPool3d: {
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices: true,
    options?: AdaptiveMaxPool3dOptions,
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    options: AdaptiveMaxPool3dOptions & { readonly returnIndices: true },
  ): [values: Tensor, indices: Tensor] & { readonly values: Tensor; readonly indices: Tensor };
  (
    self: Tensor,
    outputSize: number | readonly (number | null)[],
    returnIndices?: false | AdaptiveMaxPool3dOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly outputSize: number | readonly (number | null)[] } & AdaptiveMaxPool3dOptions,
  ): Tensor;
} = ops.adaptiveMaxPool3d;
/** Values put at the indices that maxPool1d gave, zeros elsewhere, as `nn.functional.max_unpool1d`. */
export const maxUnpool1d: {
  (
    self: Tensor,
    indices: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool1dOptions,
    padding?: number | readonly number[] | MaxUnpool1dOptions,
    outputSize?: readonly number[] | null | MaxUnpool1dOptions,
    options?: MaxUnpool1dOptions,
  ): Tensor;
  (
    self: Tensor,
    indices: Tensor,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool1dOptions,
  ): Tensor;
} = ops.maxUnpool1d;
/** Values put at the indices that maxPool2d gave, zeros elsewhere, as `nn.functional.max_unpool2d`. */
export const maxUnpool2d: {
  (
    self: Tensor,
    indices: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool2dOptions,
    padding?: number | readonly number[] | MaxUnpool2dOptions,
    outputSize?: readonly number[] | null | MaxUnpool2dOptions,
    options?: MaxUnpool2dOptions,
  ): Tensor;
  (
    self: Tensor,
    indices: Tensor,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool2dOptions,
  ): Tensor;
} = ops.maxUnpool2d;
/** Values put at the indices that maxPool3d gave, zeros elsewhere, as `nn.functional.max_unpool3d`. */
export const maxUnpool3d: {
  (
    self: Tensor,
    indices: Tensor,
    kernelSize: number | readonly number[],
    stride?: number | readonly number[] | null | MaxUnpool3dOptions,
    padding?: number | readonly number[] | MaxUnpool3dOptions,
    outputSize?: readonly number[] | null | MaxUnpool3dOptions,
    options?: MaxUnpool3dOptions,
  ): Tensor;
  (
    self: Tensor,
    indices: Tensor,
    named: { readonly kernelSize: number | readonly number[] } & MaxUnpool3dOptions,
  ): Tensor;
} = ops.maxUnpool3d;
/** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
export const softmax: {
  (self: Tensor, dim: number, dtype?: DType | null | SoftmaxOptions, options?: SoftmaxOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & SoftmaxOptions): Tensor;
} = ops.softmax;
/** softmax, but 0 in rows that are −∞ everywhere, and so are their gradients, as `torch._safe_softmax`. */
export const safeSoftmax: {
  (
    self: Tensor,
    dim: number,
    dtype?: DType | null | SafeSoftmaxOptions,
    options?: SafeSoftmaxOptions,
  ): Tensor;
  (self: Tensor, named: { readonly dim: number } & SafeSoftmaxOptions): Tensor;
} = ops.safeSoftmax;
/** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
export const logSoftmax: {
  (self: Tensor, dim: number, dtype?: DType | null | LogSoftmaxOptions, options?: LogSoftmaxOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & LogSoftmaxOptions): Tensor;
} = ops.logSoftmax;
/** softmax(−self) along `dim`, as `nn.functional.softmin`. */
export const softmin: {
  (self: Tensor, dim: number, dtype?: DType | null | SoftminOptions, options?: SoftminOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & SoftminOptions): Tensor;
} = ops.softmin;
/**
 * Normalised over the last dimensions `normalizedShape`, then scaled and shifted, as
 * `nn.functional.layer_norm`.
 */
export const layerNorm: {
  (
    self: Tensor,
    normalizedShape: readonly Dim[],
    weight?: Tensor | null | LayerNormOptions<Tensor>,
    bias?: Tensor | null | LayerNormOptions<Tensor>,
    eps?: number | LayerNormOptions<Tensor>,
    options?: LayerNormOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly normalizedShape: readonly Dim[] } & LayerNormOptions<Tensor>): Tensor;
} = ops.layerNorm;
/** self / √(mean self² + eps) over the last dimensions, times weight, as `nn.functional.rms_norm`. */
export const rmsNorm: {
  (
    self: Tensor,
    normalizedShape: readonly Dim[],
    weight?: Tensor | null | RmsNormOptions<Tensor>,
    eps?: number | null | RmsNormOptions<Tensor>,
    options?: RmsNormOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly normalizedShape: readonly Dim[] } & RmsNormOptions<Tensor>): Tensor;
} = ops.rmsNorm;
/** [N, C, ...] normalised over groups of channels, as `nn.functional.group_norm`. */
export const groupNorm: {
  (
    self: Tensor,
    numGroups: number,
    weight?: Tensor | null | GroupNormOptions<Tensor>,
    bias?: Tensor | null | GroupNormOptions<Tensor>,
    eps?: number | GroupNormOptions<Tensor>,
    options?: GroupNormOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly numGroups: number } & GroupNormOptions<Tensor>): Tensor;
} = ops.groupNorm;
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
/**
 * [N, C, ...] normalised by the batch's own statistics, which are results too: `mean` and the unbiased
 * `variance`, both [C]. nn.functional.batchNorm updates its running statistics with them.
 */
export const batchNormTraining: (
  self: Tensor,
  weight?: Tensor | null | BatchNormTrainingOptions<Tensor>,
  bias?: Tensor | null | BatchNormTrainingOptions<Tensor>,
  eps?: number | BatchNormTrainingOptions<Tensor>,
  options?: BatchNormTrainingOptions<Tensor>,
) => [output: Tensor, mean: Tensor, variance: Tensor] & {
  readonly output: Tensor;
  readonly mean: Tensor;
  readonly variance: Tensor;
} = ops.batchNormTraining;
/** [N, C, ...] normalised by running statistics [C]. */
export const batchNormInference: (
  self: Tensor,
  runningMean: Tensor,
  runningVar: Tensor,
  weight?: Tensor | null | BatchNormInferenceOptions<Tensor>,
  bias?: Tensor | null | BatchNormInferenceOptions<Tensor>,
  eps?: number | BatchNormInferenceOptions<Tensor>,
  options?: BatchNormInferenceOptions<Tensor>,
) => Tensor = ops.batchNormInference;
/** (self − target)², as `nn.functional.mse_loss`. */
export const mseLoss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | MseLossOptions,
  options?: MseLossOptions,
) => Tensor = ops.mseLoss;
/** |self − target|, as `nn.functional.l1_loss`. */
export const l1Loss: (
  self: Tensor,
  target: Tensor,
  reduction?: "none" | "mean" | "sum" | L1LossOptions,
  options?: L1LossOptions,
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
  reduction?: "none" | "mean" | "sum" | HuberLossOptions,
  delta?: number | HuberLossOptions,
  options?: HuberLossOptions,
) => Tensor = ops.huberLoss;
/** log(1 + exp(−target · self)), as `nn.functional.soft_margin_loss`. */
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
 * `nn.functional.binary_cross_entropy`.
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
/** The elements on another device, as `Tensor.to(device)`. */
export const toDevice: {
  (self: Tensor, device: DeviceName): Tensor;
  (self: Tensor, named: { readonly device: DeviceName }): Tensor;
} = ops.toDevice;
/**
 * A complex tensor of shape [...] as a real one of shape [..., 2] over the same memory: real and imaginary
 * parts. As `torch.view_as_real`.
 */
export const viewAsReal: (self: Tensor) => Tensor = ops.viewAsReal;
/**
 * A real tensor of shape [..., 2] as a complex one of shape [...] over the same memory, whose last
 * dimension must have stride 1. As `torch.view_as_complex`.
 */
export const viewAsComplex: (self: Tensor) => Tensor = ops.viewAsComplex;
/** A function of complex numbers that are given, and given back, as pairs in the last dimension. */
export const complexFunction: {
  (
    self: Tensor,
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
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly name:
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
        | "sigmoid";
    },
  ): Tensor;
} = ops.complexFunction;
/** The complex tensor of real and imaginary parts, which are broadcast, as `torch.complex`. */
export const complex: (real: Tensor, imag: Tensor) => Tensor = ops.complex;
/** abs · (cos angle + i · sin angle), broadcast, as `torch.polar`. */
export const polar: (abs: Tensor, angle: Tensor) => Tensor = ops.polar;
/** The real part, of a complex tensor as a view; of real tensors themselves. As `torch.real`. */
export const real: (self: Tensor) => Tensor = ops.real;
/** The imaginary part of a complex tensor, as a view; real tensors have none. As `torch.imag`. */
export const imag: (self: Tensor) => Tensor = ops.imag;
/**
 * The complex conjugate; real tensors themselves. Computed at once: there are no lazily conjugated tensors,
 * so that the result never shares memory with a complex operand. As `torch.conj`.
 */
export const conj: (self: Tensor) => Tensor = ops.conj;
/** The complex conjugate; real tensors themselves. As `torch.conj_physical`. */
export const conjPhysical: (self: Tensor) => Tensor = ops.conjPhysical;
/** Itself: no tensor is conjugated lazily. As `torch.resolve_conj`. */
export const resolveConj: (self: Tensor) => Tensor = ops.resolveConj;
/** Itself: no tensor is negated lazily. As `torch.resolve_neg`. */
export const resolveNeg: (self: Tensor) => Tensor = ops.resolveNeg;
/** z / |z|, 0 for 0; the sign of real numbers. As `torch.sgn`. */
export const sgn: (self: Tensor) => Tensor = ops.sgn;
/** The sum of conj(self) · other of two vectors, as `torch.vdot`. */
export const vdot: (self: Tensor, other: Tensor) => Tensor = ops.vdot;
/** Sums Σ x[j]·exp(∓2πi·jk/n) along the dimension before the last one, which holds pairs. */
export const fourierPairs: (
  self: Tensor,
  inverse?: boolean | FourierPairsOptions,
  options?: FourierPairsOptions,
) => Tensor = ops.fourierPairs;
/** The discrete Fourier transform along a dimension. As `torch.fft.fft`. Computed on the host. */
export const fftFft: (
  self: Tensor,
  n?: number | null | FftFftOptions,
  dim?: number | FftFftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftOptions,
  options?: FftFftOptions,
) => Tensor = ops.fftFft;
/** The inverse discrete Fourier transform along a dimension. As `torch.fft.ifft`. Computed on the host. */
export const fftIfft: (
  self: Tensor,
  n?: number | null | FftIfftOptions,
  dim?: number | FftIfftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIfftOptions,
  options?: FftIfftOptions,
) => Tensor = ops.fftIfft;
/**
 * The discrete Fourier transform of real numbers, of which the half that tells the other one. As
 * `torch.fft.rfft`. Computed on the host.
 */
export const fftRfft: (
  self: Tensor,
  n?: number | null | FftRfftOptions,
  dim?: number | FftRfftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftRfftOptions,
  options?: FftRfftOptions,
) => Tensor = ops.fftRfft;
/**
 * The inverse discrete Fourier transform of half of a Hermitian tensor, which is real; `n` is the size of
 * the result. As `torch.fft.irfft`. Computed on the host.
 */
export const fftIrfft: (
  self: Tensor,
  n?: number | null | FftIrfftOptions,
  dim?: number | FftIrfftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIrfftOptions,
  options?: FftIrfftOptions,
) => Tensor = ops.fftIrfft;
/**
 * The discrete Fourier transform of half of a Hermitian tensor, which is real; `n` is the size of the
 * result. As `torch.fft.hfft`. Computed on the host.
 */
export const fftHfft: (
  self: Tensor,
  n?: number | null | FftHfftOptions,
  dim?: number | FftHfftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftHfftOptions,
  options?: FftHfftOptions,
) => Tensor = ops.fftHfft;
/**
 * The inverse discrete Fourier transform of real numbers, of which the half that tells the other one. As
 * `torch.fft.ihfft`. Computed on the host.
 */
export const fftIhfft: (
  self: Tensor,
  n?: number | null | FftIhfftOptions,
  dim?: number | FftIhfftOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIhfftOptions,
  options?: FftIhfftOptions,
) => Tensor = ops.fftIhfft;
/** The discrete Fourier transform along two dimensions. As `torch.fft.fft2`. Computed on the host. */
export const fftFft2: (
  self: Tensor,
  s?: readonly number[] | null | FftFft2Options,
  dim?: number | readonly number[] | null | FftFft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftFft2Options,
  options?: FftFft2Options,
) => Tensor = ops.fftFft2;
/** The inverse discrete Fourier transform along two dimensions. As `torch.fft.ifft2`. Computed on the host. */
export const fftIfft2: (
  self: Tensor,
  s?: readonly number[] | null | FftIfft2Options,
  dim?: number | readonly number[] | null | FftIfft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftIfft2Options,
  options?: FftIfft2Options,
) => Tensor = ops.fftIfft2;
/**
 * The discrete Fourier transform along two dimensions of real numbers, of which the half that tells the
 * other one. As `torch.fft.rfft2`. Computed on the host.
 */
export const fftRfft2: (
  self: Tensor,
  s?: readonly number[] | null | FftRfft2Options,
  dim?: number | readonly number[] | null | FftRfft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftRfft2Options,
  options?: FftRfft2Options,
) => Tensor = ops.fftRfft2;
/**
 * The inverse discrete Fourier transform along two dimensions of half of a Hermitian tensor, which is real;
 * `n` is the size of the result. As `torch.fft.irfft2`. Computed on the host.
 */
export const fftIrfft2: (
  self: Tensor,
  s?: readonly number[] | null | FftIrfft2Options,
  dim?: number | readonly number[] | null | FftIrfft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftIrfft2Options,
  options?: FftIrfft2Options,
) => Tensor = ops.fftIrfft2;
/** The discrete Fourier transform along all or some dimensions. As `torch.fft.fftn`. Computed on the host. */
export const fftFftn: (
  self: Tensor,
  s?: readonly number[] | null | FftFftnOptions,
  dim?: number | readonly number[] | null | FftFftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftFftnOptions,
  options?: FftFftnOptions,
) => Tensor = ops.fftFftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions. As `torch.fft.ifftn`. Computed on
 * the host.
 */
export const fftIfftn: (
  self: Tensor,
  s?: readonly number[] | null | FftIfftnOptions,
  dim?: number | readonly number[] | null | FftIfftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIfftnOptions,
  options?: FftIfftnOptions,
) => Tensor = ops.fftIfftn;
/**
 * The discrete Fourier transform along all or some dimensions of real numbers, of which the half that tells
 * the other one. As `torch.fft.rfftn`. Computed on the host.
 */
export const fftRfftn: (
  self: Tensor,
  s?: readonly number[] | null | FftRfftnOptions,
  dim?: number | readonly number[] | null | FftRfftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftRfftnOptions,
  options?: FftRfftnOptions,
) => Tensor = ops.fftRfftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions of half of a Hermitian tensor, which
 * is real; `n` is the size of the result. As `torch.fft.irfftn`. Computed on the host.
 */
export const fftIrfftn: (
  self: Tensor,
  s?: readonly number[] | null | FftIrfftnOptions,
  dim?: number | readonly number[] | null | FftIrfftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIrfftnOptions,
  options?: FftIrfftnOptions,
) => Tensor = ops.fftIrfftn;
/**
 * The discrete Fourier transform along two dimensions of half of a Hermitian tensor, which is real; `n` is
 * the size of the result. As `torch.fft.hfft2`. Computed on the host.
 */
export const fftHfft2: (
  self: Tensor,
  s?: readonly number[] | null | FftHfft2Options,
  dim?: number | readonly number[] | null | FftHfft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftHfft2Options,
  options?: FftHfft2Options,
) => Tensor = ops.fftHfft2;
/**
 * The inverse discrete Fourier transform along two dimensions of real numbers, of which the half that tells
 * the other one. As `torch.fft.ihfft2`. Computed on the host.
 */
export const fftIhfft2: (
  self: Tensor,
  s?: readonly number[] | null | FftIhfft2Options,
  dim?: number | readonly number[] | null | FftIhfft2Options,
  norm?: "backward" | "ortho" | "forward" | null | FftIhfft2Options,
  options?: FftIhfft2Options,
) => Tensor = ops.fftIhfft2;
/**
 * The discrete Fourier transform along all or some dimensions of half of a Hermitian tensor, which is real;
 * `n` is the size of the result. As `torch.fft.hfftn`. Computed on the host.
 */
export const fftHfftn: (
  self: Tensor,
  s?: readonly number[] | null | FftHfftnOptions,
  dim?: number | readonly number[] | null | FftHfftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftHfftnOptions,
  options?: FftHfftnOptions,
) => Tensor = ops.fftHfftn;
/**
 * The inverse discrete Fourier transform along all or some dimensions of real numbers, of which the half
 * that tells the other one. As `torch.fft.ihfftn`. Computed on the host.
 */
export const fftIhfftn: (
  self: Tensor,
  s?: readonly number[] | null | FftIhfftnOptions,
  dim?: number | readonly number[] | null | FftIhfftnOptions,
  norm?: "backward" | "ortho" | "forward" | null | FftIhfftnOptions,
  options?: FftIhfftnOptions,
) => Tensor = ops.fftIhfftn;
/** Frequencies of the results of fft of n samples that are d apart. As `torch.fft.fftfreq`. */
export const fftFftfreq: (n: number, d?: number | FftFftfreqOptions, options?: FftFftfreqOptions) => Tensor =
  ops.fftFftfreq;
/** Frequencies of the results of rfft of n samples that are d apart. As `torch.fft.rfftfreq`. */
export const fftRfftfreq: (
  n: number,
  d?: number | FftRfftfreqOptions,
  options?: FftRfftfreqOptions,
) => Tensor = ops.fftRfftfreq;
/** Frequencies moved so that 0 is in the middle, along `dim` or all dimensions. As `torch.fft.fftshift`. */
export const fftFftshift: (
  self: Tensor,
  dim?: number | readonly number[] | null | FftFftshiftOptions,
  options?: FftFftshiftOptions,
) => Tensor = ops.fftFftshift;
/** Frequencies moved back from fftshift, along `dim` or all dimensions. As `torch.fft.ifftshift`. */
export const fftIfftshift: (
  self: Tensor,
  dim?: number | readonly number[] | null | FftIfftshiftOptions,
  options?: FftIfftshiftOptions,
) => Tensor = ops.fftIfftshift;
/**
 * Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false,
 * which gives pairs in a last dimension. As `torch.stft`. Computed on the host.
 */
export const stft: {
  (
    self: Tensor,
    nFft: number,
    hopLength?: number | null | StftOptions<Tensor>,
    winLength?: number | null | StftOptions<Tensor>,
    window?: Tensor | null | StftOptions<Tensor>,
    center?: boolean | StftOptions<Tensor>,
    padMode?: "constant" | "reflect" | "replicate" | "circular" | StftOptions<Tensor>,
    normalized?: boolean | StftOptions<Tensor>,
    onesided?: boolean | null | StftOptions<Tensor>,
    returnComplex?: boolean | StftOptions<Tensor>,
    options?: StftOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly nFft: number } & StftOptions<Tensor>): Tensor;
} = ops.stft;
/**
 * The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by the
 * sum of squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on the
 * host.
 */
export const istft: {
  (
    self: Tensor,
    nFft: number,
    hopLength?: number | null | IstftOptions<Tensor>,
    winLength?: number | null | IstftOptions<Tensor>,
    window?: Tensor | null | IstftOptions<Tensor>,
    center?: boolean | IstftOptions<Tensor>,
    normalized?: boolean | IstftOptions<Tensor>,
    onesided?: boolean | null | IstftOptions<Tensor>,
    length?: number | null | IstftOptions<Tensor>,
    returnComplex?: boolean | IstftOptions<Tensor>,
    options?: IstftOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly nFft: number } & IstftOptions<Tensor>): Tensor;
} = ops.istft;
/** ½ − ½·cos(2πi/n). As `torch.hann_window`. */
export const hannWindow: (
  windowLength: number,
  periodic?: boolean | HannWindowOptions,
  options?: HannWindowOptions,
) => Tensor = ops.hannWindow;
/** alpha − beta·cos(2πi/n). As `torch.hamming_window`. */
export const hammingWindow: (
  windowLength: number,
  periodic?: boolean | HammingWindowOptions,
  alpha?: number | HammingWindowOptions,
  beta?: number | HammingWindowOptions,
  options?: HammingWindowOptions,
) => Tensor = ops.hammingWindow;
/** 0.42 − 0.5·cos(2πi/n) + 0.08·cos(4πi/n). As `torch.blackman_window`. */
export const blackmanWindow: (
  windowLength: number,
  periodic?: boolean | BlackmanWindowOptions,
  options?: BlackmanWindowOptions,
) => Tensor = ops.blackmanWindow;
/** 1 − |2i/n − 1|: a triangle. As `torch.bartlett_window`. */
export const bartlettWindow: (
  windowLength: number,
  periodic?: boolean | BartlettWindowOptions,
  options?: BartlettWindowOptions,
) => Tensor = ops.bartlettWindow;
/** I₀(beta·√(1 − (2i/n − 1)²)) / I₀(beta). As `torch.kaiser_window`. */
export const kaiserWindow: (
  windowLength: number,
  periodic?: boolean | KaiserWindowOptions,
  beta?: number | KaiserWindowOptions,
  options?: KaiserWindowOptions,
) => Tensor = ops.kaiserWindow;
