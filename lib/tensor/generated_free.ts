/**
 * The ops at the top of the module. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { Dim } from "../sym/expr.ts";
import type { IntOrInts, Scalar } from "../ops/params.ts";
import type {
  AccumulateOptions,
  AffineGridOptions,
  AlphaDropoutOptions,
  AlphaInplaceOptions,
  AlphaOptions,
  ArangeOptions,
  ArgmaxOptions,
  ArgsortOptions,
  AvgPool1dOptions,
  BernoulliOptions,
  BetaAlphaOptions,
  BincountOptions,
  BucketizeOptions,
  CdistOptions,
  ClampOptions,
  CombinationsOptions,
  ConstantPadNdOptions,
  Conv1dOptions,
  ConvTranspose1dOptions,
  CosineSimilarityOptions,
  CovOptions,
  CtcLossOptions,
  DiagEmbedOptions,
  DiagflatOptions,
  DiagonalOptions,
  DiagOptions,
  DiffOptions,
  DimKeepdimOptions,
  DimOptions,
  DivOptions,
  DropoutOptions,
  DtypeOptions,
  EyeOptions,
  FlattenOptions,
  GatherOptions,
  HammingWindowOptions,
  HannWindowOptions,
  HistcOptions,
  HistogramOptions,
  ImplicitOptions,
  IncludeSelfOptions,
  InplaceOptions,
  IscloseOptions,
  IsinOptions,
  IstftOptions,
  KaiserWindowOptions,
  KthvalueOptions,
  LambdOptions,
  LayerNormOptions,
  LobpcgOptions,
  LogitOptions,
  LogspaceOptions,
  LogsumexpOptions,
  LuOptions,
  LuUnpackOptions,
  MaxOptions,
  MaxPool1dOptions,
  MaxPool2dWithIndicesBackwardOptions,
  MeshgridOptions,
  MultinomialOptions,
  NanToNumOptions,
  NativeBatchNormOptions,
  NonzeroOptions,
  NormOptions,
  Operand,
  OrmqrOptions,
  PairwiseDistanceOptions,
  PcaLowrankOptions,
  PinverseOptions,
  POptions,
  ProdOptions,
  QuantileOptions,
  RandintLikeOptions,
  RandintOptions,
  RandOptions,
  RepeatInterleaveOptions,
  Results,
  RmsNormOptions,
  RollOptions,
  Rot90Options,
  RoundOptions,
  RreluOptions,
  ScatterOptions,
  SearchsortedOptions,
  SegmentReduceOptions,
  SliceOptions,
  SortOptions,
  SplitWithSizesCopyOptions,
  StftOptions,
  StorageOffsetOptions,
  SumOptions,
  SvdLowrankOptions,
  SvdOptions,
  TakeAlongDimOptions,
  TensordotOptions,
  TopkOptions,
  TrapezoidOptions,
  TriangularSolveOptions,
  TrilOptions,
  TriuIndicesOptions,
  UniqueConsecutiveOptions,
  UniqueOptions,
  UpperOptions,
  ValueOptions,
  VarOptions,
  WeightBiasOptions,
  ZerosOptions,
} from "../ops/generated_options.ts";
import { ops } from "./eager.ts";
import type { Tensor } from "./tensor.ts";

/** self + alpha · other, broadcast and promoted, as `torch.add`. */
export const add: (self: Tensor, other: Operand<Tensor>, options?: AlphaOptions) => Tensor = ops.add;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const sub: (self: Tensor, other: Operand<Tensor>, options?: AlphaOptions) => Tensor = ops.sub;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const subtract: typeof sub = sub;
/** other − alpha · self, as `torch.rsub`. */
export const rsub: (self: Tensor, other: Operand<Tensor>, options?: AlphaOptions) => Tensor = ops.rsub;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const mul: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.mul;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const multiply: typeof mul = mul;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const div: (self: Tensor, other: Operand<Tensor>, options?: DivOptions) => Tensor = ops.div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const divide: typeof div = div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const trueDivide: typeof div = div;
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
/** True where self equals other, elementwise, as `torch.eq`. */
export const eq: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.eq;
/** True where self differs from other, elementwise, as `torch.ne`. */
export const ne: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ne;
/** True where self differs from other, elementwise, as `torch.ne`. */
export const notEqual: typeof ne = ne;
/** True where self is less than other, elementwise, as `torch.lt`. */
export const lt: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.lt;
/** True where self is less than other, elementwise, as `torch.lt`. */
export const less: typeof lt = lt;
/** True where self is at most other, elementwise, as `torch.le`. */
export const le: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.le;
/** True where self is at most other, elementwise, as `torch.le`. */
export const lessEqual: typeof le = le;
/** True where self is greater than other, elementwise, as `torch.gt`. */
export const gt: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.gt;
/** True where self is greater than other, elementwise, as `torch.gt`. */
export const greater: typeof gt = gt;
/** True where self is at least other, elementwise, as `torch.ge`. */
export const ge: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.ge;
/** True where self is at least other, elementwise, as `torch.ge`. */
export const greaterEqual: typeof ge = ge;
/** Logical and, where nonzero elements are true, as `torch.logical_and`. */
export const logicalAnd: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalAnd;
/** Logical or, where nonzero elements are true, as `torch.logical_or`. */
export const logicalOr: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalOr;
/** Logical xor, where nonzero elements are true, as `torch.logical_xor`. */
export const logicalXor: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logicalXor;
/** True where an element is 0, as `torch.logical_not`. */
export const logicalNot: (self: Tensor) => Tensor = ops.logicalNot;
/** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
export const bitwiseAnd: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseAnd;
/** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
export const bitwiseOr: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseOr;
/** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
export const bitwiseXor: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseXor;
/** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
export const bitwiseNot: (self: Tensor) => Tensor = ops.bitwiseNot;
/** Integers shifted by `other` bits, as `torch.bitwise_left_shift`. */
export const bitwiseLeftShift: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.bitwiseLeftShift;
/** Integers shifted by `other` bits, as `torch.bitwise_right_shift`. */
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
/** True where the sign bit is set, that of −0 included, as `torch.signbit`. */
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
export const negative: typeof neg = neg;
/** |self|, as `torch.abs`. */
export const abs: (self: Tensor) => Tensor = ops.abs;
/** |self|, as `torch.abs`. */
export const absolute: typeof abs = abs;
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
export const fix: typeof trunc = trunc;
/** The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`. */
export const round: (self: Tensor, options?: RoundOptions) => Tensor = ops.round;
/** self − trunc(self), as `torch.frac`. */
export const frac: (self: Tensor) => Tensor = ops.frac;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const sigmoid: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.sigmoid;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const expit: typeof sigmoid = sigmoid;
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
export const arcsin: typeof asin = asin;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const acos: (self: Tensor) => Tensor = ops.acos;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const arccos: typeof acos = acos;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const atan: (self: Tensor) => Tensor = ops.atan;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const arctan: typeof atan = atan;
/** sinh of each element, as `torch.sinh`; integers are converted to floats. */
export const sinh: (self: Tensor) => Tensor = ops.sinh;
/** cosh of each element, as `torch.cosh`; integers are converted to floats. */
export const cosh: (self: Tensor) => Tensor = ops.cosh;
/** tanh of each element, as `torch.tanh`; integers are converted to floats. */
export const tanh: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.tanh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const asinh: (self: Tensor) => Tensor = ops.asinh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const arcsinh: typeof asinh = asinh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const acosh: (self: Tensor) => Tensor = ops.acosh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const arccosh: typeof acosh = acosh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const atanh: (self: Tensor) => Tensor = ops.atanh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const arctanh: typeof atanh = atanh;
/** erf of each element, as `torch.erf`; integers are converted to floats. */
export const erf: (self: Tensor) => Tensor = ops.erf;
/** erfc of each element, as `torch.erfc`; integers are converted to floats. */
export const erfc: (self: Tensor) => Tensor = ops.erfc;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const lgamma: (self: Tensor) => Tensor = ops.lgamma;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const gammaln: typeof lgamma = lgamma;
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
/** The maximum of two operands, ignoring NaN, as `torch.fmax`. */
export const fmax: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.fmax;
/** The minimum of two operands, ignoring NaN, as `torch.fmin`. */
export const fmin: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.fmin;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clamp: (
  self: Tensor,
  min?: Operand<Tensor> | null | ClampOptions<Tensor>,
  max?: Operand<Tensor> | null | ClampOptions<Tensor>,
  options?: ClampOptions<Tensor>,
) => Tensor = ops.clamp;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clip: typeof clamp = clamp;
/** self limited from below, as `torch.clamp_min`. */
export const clampMin: (self: Tensor, min: Operand<Tensor>) => Tensor = ops.clampMin;
/** self limited from above, as `torch.clamp_max`. */
export const clampMax: (self: Tensor, max: Operand<Tensor>) => Tensor = ops.clampMax;
/**
 * NaN and the infinities replaced by numbers, by default 0 and the extremes of the type. As
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
export const relu: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.relu;
/** self above the threshold, else `value`, as `nn.functional.threshold`. */
export const threshold: {
  (
    self: Tensor,
    threshold: number,
    value: number,
    inplace?: boolean | InplaceOptions,
    options?: InplaceOptions,
  ): Tensor;
  (self: Tensor, named: { readonly threshold: number; readonly value: number } & InplaceOptions): Tensor;
  (self: Tensor, threshold: number, named: { readonly value: number } & InplaceOptions): Tensor;
} = ops.threshold;
/** self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`. */
export const prelu: (self: Tensor, weight: Tensor) => Tensor = ops.prelu;
/** 0 within lambd of 0, else self, as `nn.functional.hardshrink`. */
export const hardshrink: (self: Tensor, lambd?: number | LambdOptions, options?: LambdOptions) => Tensor =
  ops.hardshrink;
/** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
export const sum: (
  self: Tensor,
  dim?: IntOrInts | null | SumOptions,
  keepdim?: boolean | SumOptions,
  options?: SumOptions,
) => Tensor = ops.sum;
/** The mean over dimensions, of floats, as `torch.mean`. */
export const mean: (
  self: Tensor,
  dim?: IntOrInts | null | SumOptions,
  keepdim?: boolean | SumOptions,
  options?: SumOptions,
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
  dim?: IntOrInts | null | DimKeepdimOptions,
  keepdim?: boolean | DimKeepdimOptions,
  options?: DimKeepdimOptions,
) => Tensor = ops.amax;
/** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
export const amin: (
  self: Tensor,
  dim?: IntOrInts | null | DimKeepdimOptions,
  keepdim?: boolean | DimKeepdimOptions,
  options?: DimKeepdimOptions,
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
  dim?: number | null | ArgmaxOptions,
  keepdim?: boolean | ArgmaxOptions,
  options?: ArgmaxOptions,
) => Tensor = ops.argmin;
/** True where any of the elements over dimensions are not 0, as `torch.any`. */
export const any: (
  self: Tensor,
  dim?: IntOrInts | null | DimKeepdimOptions,
  keepdim?: boolean | DimKeepdimOptions,
  options?: DimKeepdimOptions,
) => Tensor = ops.any;
/** True where all of the elements over dimensions are not 0, as `torch.all`. */
export const all: (
  self: Tensor,
  dim?: IntOrInts | null | DimKeepdimOptions,
  keepdim?: boolean | DimKeepdimOptions,
  options?: DimKeepdimOptions,
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
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    options: MaxOptions<Tensor> & { readonly dim: number },
  ): Results<Tensor, ["values", "indices"]>;
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
    keepdim?: boolean | MaxOptions<Tensor>,
    options?: MaxOptions<Tensor>,
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    options: MaxOptions<Tensor> & { readonly dim: number },
  ): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, dim?: null | MaxOptions<Tensor>, keepdim?: boolean): Tensor;
} = ops.min;
/** The number of elements over dimensions that are not 0, as `torch.count_nonzero`. */
export const countNonzero: (
  self: Tensor,
  dim?: IntOrInts | null | DimOptions,
  options?: DimOptions,
) => Tensor = ops.countNonzero;
/** The sum over dimensions, ignoring NaN, as `torch.nansum`. */
export const nansum: (
  self: Tensor,
  dim?: IntOrInts | null | SumOptions,
  keepdim?: boolean | SumOptions,
  options?: SumOptions,
) => Tensor = ops.nansum;
/** The mean over dimensions, ignoring NaN, as `torch.nanmean`. */
export const nanmean: (
  self: Tensor,
  dim?: IntOrInts | null | SumOptions,
  keepdim?: boolean | SumOptions,
  options?: SumOptions,
) => Tensor = ops.nanmean;
/** A tensor of zeros, as `torch.zeros`. */
export const zeros: {
  (size: readonly Dim[], options?: ZerosOptions): Tensor;
  (...size: (Dim | ZerosOptions)[]): Tensor;
  (named: { readonly size: readonly Dim[] } & ZerosOptions): Tensor;
} = ops.zeros;
/** A tensor of ones, as `torch.ones`. */
export const ones: {
  (size: readonly Dim[], options?: ZerosOptions): Tensor;
  (...size: (Dim | ZerosOptions)[]): Tensor;
  (named: { readonly size: readonly Dim[] } & ZerosOptions): Tensor;
} = ops.ones;
/** An uninitialised tensor, as `torch.empty`. */
export const empty: {
  (size: readonly Dim[], options?: ZerosOptions): Tensor;
  (...size: (Dim | ZerosOptions)[]): Tensor;
  (named: { readonly size: readonly Dim[] } & ZerosOptions): Tensor;
} = ops.empty;
/** As zeros, of the shape, type and device of `self`. */
export const zerosLike: (self: Tensor, options?: ZerosOptions) => Tensor = ops.zerosLike;
/** As ones, of the shape, type and device of `self`. */
export const onesLike: (self: Tensor, options?: ZerosOptions) => Tensor = ops.onesLike;
/** As empty, of the shape, type and device of `self`. */
export const emptyLike: (self: Tensor, options?: ZerosOptions) => Tensor = ops.emptyLike;
/** A tensor of one value, by default of the number's type. As `torch.full`. */
export const full: {
  (size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: ZerosOptions): Tensor;
  (
    named: { readonly size: readonly Dim[]; readonly fillValue: Scalar | Dim | Complex } & ZerosOptions,
  ): Tensor;
  (size: readonly Dim[], named: { readonly fillValue: Scalar | Dim | Complex } & ZerosOptions): Tensor;
} = ops.full;
/** As full, of the shape, type and device of `self`. */
export const fullLike: {
  (self: Tensor, fillValue: Scalar | Dim | Complex, options?: ZerosOptions): Tensor;
  (self: Tensor, named: { readonly fillValue: Scalar | Dim | Complex } & ZerosOptions): Tensor;
} = ops.fullLike;
/** A tensor of the shape and type of `self` with every element `value`, as `torch.fill`. */
export const fill: (self: Tensor, value: Operand<Tensor>) => Tensor = ops.fill;
/** arange(end), arange(start, end, step): start, start + step, … before end, as `torch.arange`. */
export const arange: {
  (
    start: Scalar | Dim,
    end?: Scalar | Dim | null | ArangeOptions,
    step?: Scalar | Dim | ArangeOptions,
    options?: ArangeOptions,
  ): Tensor;
  (named: { readonly start: Scalar | Dim } & ArangeOptions): Tensor;
} = ops.arange;
/** `steps` numbers from start to end, both included, evenly spaced, as `torch.linspace`. */
export const linspace: {
  (start: Scalar | Dim, end: Scalar | Dim, steps: Dim, options?: ZerosOptions): Tensor;
  (
    named: { readonly start: Scalar | Dim; readonly end: Scalar | Dim; readonly steps: Dim } & ZerosOptions,
  ): Tensor;
  (start: Scalar | Dim, named: { readonly end: Scalar | Dim; readonly steps: Dim } & ZerosOptions): Tensor;
  (start: Scalar | Dim, end: Scalar | Dim, named: { readonly steps: Dim } & ZerosOptions): Tensor;
} = ops.linspace;
/** base to the powers of linspace(start, end, steps), as `torch.logspace`. */
export const logspace: {
  (
    start: Scalar | Dim,
    end: Scalar | Dim,
    steps: Dim,
    base?: number | LogspaceOptions,
    options?: LogspaceOptions,
  ): Tensor;
  (
    named:
      & { readonly start: Scalar | Dim; readonly end: Scalar | Dim; readonly steps: Dim }
      & LogspaceOptions,
  ): Tensor;
  (start: Scalar | Dim, named: { readonly end: Scalar | Dim; readonly steps: Dim } & LogspaceOptions): Tensor;
  (start: Scalar | Dim, end: Scalar | Dim, named: { readonly steps: Dim } & LogspaceOptions): Tensor;
} = ops.logspace;
/** Ones on the diagonal of an n × m matrix of zeros, as `torch.eye`. */
export const eye: {
  (n: Dim, m?: Dim | null | EyeOptions, options?: EyeOptions): Tensor;
  (named: { readonly n: Dim } & EyeOptions): Tensor;
} = ops.eye;
/** A 0-d tensor of a number, as `torch.scalar_tensor`. */
export const scalarTensor: {
  (s: Scalar | Dim, options?: ZerosOptions): Tensor;
  (named: { readonly s: Scalar | Dim } & ZerosOptions): Tensor;
} = ops.scalarTensor;
/** A copy of the elements, as `torch.clone`. */
export const clone: (self: Tensor) => Tensor = ops.clone;
/** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
export const reshape: {
  (self: Tensor, shape: readonly Dim[]): Tensor;
  (self: Tensor, ...shape: Dim[]): Tensor;
  (self: Tensor, named: { readonly shape: readonly Dim[] }): Tensor;
} = ops.reshape;
/** The dimensions in another order, as `torch.permute`. */
export const permute: {
  (self: Tensor, dims: readonly number[]): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
  (self: Tensor, named: { readonly dims: readonly number[] }): Tensor;
} = ops.permute;
/** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
export const squeeze: {
  (self: Tensor, dim?: IntOrInts | null | DimOptions, options?: DimOptions): Tensor;
  (self: Tensor, ...dim: (number | DimOptions)[]): Tensor;
} = ops.squeeze;
/** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
export const unsqueeze: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.unsqueeze;
/** The part at `index` along `dim`, without that dimension, as `torch.select`. */
export const select: {
  (self: Tensor, dim: number, index: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Dim }): Tensor;
  (self: Tensor, dim: number, named: { readonly index: Dim }): Tensor;
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
  offset?: Dim | DiagonalOptions,
  dim1?: number | DiagonalOptions,
  dim2?: number | DiagonalOptions,
  options?: DiagonalOptions,
) => Tensor = ops.diagonal;
/** The same elements, sharing memory, without a history of gradients, as `Tensor.detach`. */
export const detach: (self: Tensor) => Tensor = ops.detach;
/** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
export const asStrided: {
  (
    self: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & StorageOffsetOptions,
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
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): Tensor;
} = ops.asStridedCopy;
/** As diagonal, copied. */
export const diagonalCopy: (
  self: Tensor,
  offset?: Dim | DiagonalOptions,
  dim1?: number | DiagonalOptions,
  dim2?: number | DiagonalOptions,
  options?: DiagonalOptions,
) => Tensor = ops.diagonalCopy;
/** As expand, copied. */
export const expandCopy: {
  (self: Tensor, size: readonly Dim[], options?: ImplicitOptions): Tensor;
  (self: Tensor, ...size: (Dim | ImplicitOptions)[]): Tensor;
  (self: Tensor, named: { readonly size: readonly Dim[] } & ImplicitOptions): Tensor;
} = ops.expandCopy;
/** As permute, copied. */
export const permuteCopy: {
  (self: Tensor, dims: readonly number[]): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
  (self: Tensor, named: { readonly dims: readonly number[] }): Tensor;
} = ops.permuteCopy;
/** As squeeze, copied. */
export const squeezeCopy: {
  (self: Tensor, dim?: IntOrInts | null | DimOptions, options?: DimOptions): Tensor;
  (self: Tensor, ...dim: (number | DimOptions)[]): Tensor;
} = ops.squeezeCopy;
/** As unfold, copied. */
export const unfoldCopy: {
  (self: Tensor, dimension: number, size: Dim, step: Dim): Tensor;
  (self: Tensor, named: { readonly dimension: number; readonly size: Dim; readonly step: Dim }): Tensor;
  (self: Tensor, dimension: number, named: { readonly size: Dim; readonly step: Dim }): Tensor;
  (self: Tensor, dimension: number, size: Dim, named: { readonly step: Dim }): Tensor;
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
  (self: Tensor, named: { readonly size: readonly Dim[] }): Tensor;
} = ops.viewCopy;
/** As narrow, copied. */
export const narrowCopy: {
  (self: Tensor, dim: number, start: Dim, length: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): Tensor;
  (self: Tensor, dim: number, named: { readonly start: Dim; readonly length: Dim }): Tensor;
  (self: Tensor, dim: number, start: Dim, named: { readonly length: Dim }): Tensor;
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
  (self: Tensor, dim0: number, named: { readonly dim1: number }): Tensor;
} = ops.transposeCopy;
/** As unbind, copied. */
export const unbindCopy: (
  self: Tensor,
  dim?: number | SplitWithSizesCopyOptions,
  options?: SplitWithSizesCopyOptions,
) => Tensor[] = ops.unbindCopy;
/** As split, copied. */
export const unsafeSplit: {
  (
    self: Tensor,
    splitSize: Dim | readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSize: Dim | readonly Dim[] } & SplitWithSizesCopyOptions): Tensor[];
} = ops.unsafeSplit;
/** As chunk, copied. */
export const unsafeChunk: {
  (
    self: Tensor,
    chunks: number,
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly chunks: number } & SplitWithSizesCopyOptions): Tensor[];
} = ops.unsafeChunk;
/** self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`. */
export const selectScatter: {
  (self: Tensor, src: Tensor, dim: number, index: Dim): Tensor;
  (self: Tensor, src: Tensor, named: { readonly dim: number; readonly index: Dim }): Tensor;
  (self: Tensor, src: Tensor, dim: number, named: { readonly index: Dim }): Tensor;
} = ops.selectScatter;
/** self with the elements of slice(dim, start, end, step) replaced by `src`, as `torch.slice_scatter`. */
export const sliceScatter: (
  self: Tensor,
  src: Tensor,
  dim?: number | SliceOptions,
  start?: Dim | null | SliceOptions,
  end?: Dim | null | SliceOptions,
  step?: number | SliceOptions,
  options?: SliceOptions,
) => Tensor = ops.sliceScatter;
/** self with the elements of diagonal(offset, dim1, dim2) replaced by `src`, as `torch.diagonal_scatter`. */
export const diagonalScatter: (
  self: Tensor,
  src: Tensor,
  offset?: Dim | DiagonalOptions,
  dim1?: number | DiagonalOptions,
  dim2?: number | DiagonalOptions,
  options?: DiagonalOptions,
) => Tensor = ops.diagonalScatter;
/** The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`. */
export const diagEmbed: (
  self: Tensor,
  offset?: Dim | DiagEmbedOptions,
  dim1?: number | DiagEmbedOptions,
  dim2?: number | DiagEmbedOptions,
  options?: DiagEmbedOptions,
) => Tensor = ops.diagEmbed;
/**
 * self, a row-major tensor, with the elements of asStrided replaced by `src`, as
 * `torch.as_strided_scatter`. Its gradient is PyTorch's, which is not the derivative: self gets that of the
 * elements that were replaced.
 */
export const asStridedScatter: {
  (
    self: Tensor,
    src: Tensor,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    src: Tensor,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): Tensor;
  (
    self: Tensor,
    src: Tensor,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): Tensor;
} = ops.asStridedScatter;
/** Two dimensions exchanged, as `torch.transpose`. */
export const transpose: {
  (self: Tensor, dim0: number, dim1: number): Tensor;
  (self: Tensor, named: { readonly dim0: number; readonly dim1: number }): Tensor;
  (self: Tensor, dim0: number, named: { readonly dim1: number }): Tensor;
} = ops.transpose;
/** Two dimensions exchanged, as `torch.transpose`. */
export const swapdims: typeof transpose = transpose;
/** `transpose`, by NumPy's names of its arguments, as `torch.swapaxes`. */
export const swapaxes: {
  (self: Tensor, axis0: number, axis1: number): Tensor;
  (self: Tensor, named: { readonly axis0: number; readonly axis1: number }): Tensor;
  (self: Tensor, axis0: number, named: { readonly axis1: number }): Tensor;
} = ops.swapaxes;
/** A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`. */
export const t: (self: Tensor) => Tensor = ops.t;
/** All dimensions in reverse order, as the property `x.T`. */
export const T: (self: Tensor) => Tensor = ops.T;
/** The last two dimensions exchanged, as the property `x.mT`. */
export const mT: (self: Tensor) => Tensor = ops.mT;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const movedim: {
  (self: Tensor, source: IntOrInts, destination: IntOrInts): Tensor;
  (self: Tensor, named: { readonly source: IntOrInts; readonly destination: IntOrInts }): Tensor;
  (self: Tensor, source: IntOrInts, named: { readonly destination: IntOrInts }): Tensor;
} = ops.movedim;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const moveaxis: typeof movedim = movedim;
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
  (self: Tensor, dim: number, named: { readonly sizes: readonly Dim[] }): Tensor;
} = ops.unflatten;
/** As expand, as `torch.broadcast_to`. */
export const broadcastTo: {
  (self: Tensor, size: readonly Dim[]): Tensor;
  (self: Tensor, named: { readonly size: readonly Dim[] }): Tensor;
} = ops.broadcastTo;
/** `length` elements from `start` along a dimension, as `torch.narrow`. */
export const narrow: {
  (self: Tensor, dim: number, start: Dim, length: Dim): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): Tensor;
  (self: Tensor, dim: number, named: { readonly start: Dim; readonly length: Dim }): Tensor;
  (self: Tensor, dim: number, start: Dim, named: { readonly length: Dim }): Tensor;
} = ops.narrow;
/** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
export const split: {
  (
    self: Tensor,
    splitSize: Dim | readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSize: Dim | readonly Dim[] } & SplitWithSizesCopyOptions): Tensor[];
} = ops.split;
/** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
export const splitWithSizes: {
  (
    self: Tensor,
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesCopyOptions): Tensor[];
} = ops.splitWithSizes;
/** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
export const chunk: {
  (
    self: Tensor,
    chunks: number,
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (self: Tensor, named: { readonly chunks: number } & SplitWithSizesCopyOptions): Tensor[];
} = ops.chunk;
/** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
export const tensorSplit: {
  (
    self: Tensor,
    indicesOrSections: Dim | readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): Tensor[];
  (
    self: Tensor,
    named: { readonly indicesOrSections: Dim | readonly Dim[] } & SplitWithSizesCopyOptions,
  ): Tensor[];
} = ops.tensorSplit;
/** Parts along a dimension, as `torch.hsplit`. */
export const hsplit: {
  (self: Tensor, indicesOrSections: IntOrInts): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: IntOrInts }): Tensor[];
} = ops.hsplit;
/** Parts along a dimension, as `torch.vsplit`. */
export const vsplit: {
  (self: Tensor, indicesOrSections: IntOrInts): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: IntOrInts }): Tensor[];
} = ops.vsplit;
/** Parts along a dimension, as `torch.dsplit`. */
export const dsplit: {
  (self: Tensor, indicesOrSections: IntOrInts): Tensor[];
  (self: Tensor, named: { readonly indicesOrSections: IntOrInts }): Tensor[];
} = ops.dsplit;
/** All parts along a dimension, without it, as `torch.unbind`. */
export const unbind: (
  self: Tensor,
  dim?: number | SplitWithSizesCopyOptions,
  options?: SplitWithSizesCopyOptions,
) => Tensor[] = ops.unbind;
/**
 * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
 * `torch.gather`.
 */
export const gather: {
  (self: Tensor, dim: number, index: Tensor, options?: GatherOptions): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor } & GatherOptions): Tensor;
  (self: Tensor, dim: number, named: { readonly index: Tensor } & GatherOptions): Tensor;
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
  (self: Tensor, dim: number, named: { readonly index: Tensor } & ScatterOptions<Tensor>): Tensor;
} = ops.scatter;
/** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
export const scatterAdd: {
  (self: Tensor, dim: number, index: Tensor, src: Tensor): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor; readonly src: Tensor }): Tensor;
  (self: Tensor, dim: number, named: { readonly index: Tensor; readonly src: Tensor }): Tensor;
  (self: Tensor, dim: number, index: Tensor, named: { readonly src: Tensor }): Tensor;
} = ops.scatterAdd;
/** Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`. */
export const take: (self: Tensor, index: Tensor) => Tensor = ops.take;
/** self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`. */
export const put: (
  self: Tensor,
  index: Tensor,
  source: Tensor,
  accumulate?: boolean | AccumulateOptions,
  options?: AccumulateOptions,
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
  (self: Tensor, dim: number, named: { readonly index: Tensor }): Tensor;
} = ops.indexSelect;
/** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
export const indexAdd: {
  (self: Tensor, dim: number, index: Tensor, source: Tensor, options?: AlphaOptions): Tensor;
  (
    self: Tensor,
    named: { readonly dim: number; readonly index: Tensor; readonly source: Tensor } & AlphaOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    named: { readonly index: Tensor; readonly source: Tensor } & AlphaOptions,
  ): Tensor;
  (self: Tensor, dim: number, index: Tensor, named: { readonly source: Tensor } & AlphaOptions): Tensor;
} = ops.indexAdd;
/** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
export const indexCopy: {
  (self: Tensor, dim: number, index: Tensor, source: Tensor): Tensor;
  (self: Tensor, named: { readonly dim: number; readonly index: Tensor; readonly source: Tensor }): Tensor;
  (self: Tensor, dim: number, named: { readonly index: Tensor; readonly source: Tensor }): Tensor;
  (self: Tensor, dim: number, index: Tensor, named: { readonly source: Tensor }): Tensor;
} = ops.indexCopy;
/**
 * self with one value at a vector of indices, which may be negative, along a dimension, as
 * `torch.index_fill`.
 */
export const indexFill: {
  (self: Tensor, dim: number, index: Tensor, value: Operand<Tensor>): Tensor;
  (
    self: Tensor,
    named: { readonly dim: number; readonly index: Tensor; readonly value: Operand<Tensor> },
  ): Tensor;
  (self: Tensor, dim: number, named: { readonly index: Tensor; readonly value: Operand<Tensor> }): Tensor;
  (self: Tensor, dim: number, index: Tensor, named: { readonly value: Operand<Tensor> }): Tensor;
} = ops.indexFill;
/** self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`. */
export const indexPut: (
  self: Tensor,
  indices: readonly (Tensor | null)[],
  values: Tensor,
  accumulate?: boolean | AccumulateOptions,
  options?: AccumulateOptions,
) => Tensor = ops.indexPut;
/** The elements where the mask (broadcast) is true, in order, as `torch.masked_select`. */
export const maskedSelect: (self: Tensor, mask: Tensor) => Tensor = ops.maskedSelect;
/** self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`. */
export const maskedScatter: (self: Tensor, mask: Tensor, source: Tensor) => Tensor = ops.maskedScatter;
/** Reversed along dimensions, as `torch.flip`. */
export const flip: {
  (self: Tensor, dims: IntOrInts): Tensor;
  (self: Tensor, ...dims: number[]): Tensor;
  (self: Tensor, named: { readonly dims: IntOrInts }): Tensor;
} = ops.flip;
/** Reversed along dimension 1, as `torch.fliplr`. */
export const fliplr: (self: Tensor) => Tensor = ops.fliplr;
/** Reversed along dimension 0, as `torch.flipud`. */
export const flipud: (self: Tensor) => Tensor = ops.flipud;
/** Rolled along dimensions, by default along the flattened tensor, as `torch.roll`. */
export const roll: {
  (
    self: Tensor,
    shifts: Dim | readonly Dim[],
    dims?: IntOrInts | null | RollOptions,
    options?: RollOptions,
  ): Tensor;
  (self: Tensor, named: { readonly shifts: Dim | readonly Dim[] } & RollOptions): Tensor;
} = ops.roll;
/** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
export const tile: {
  (self: Tensor, dims: readonly Dim[]): Tensor;
  (self: Tensor, ...dims: Dim[]): Tensor;
  (self: Tensor, named: { readonly dims: readonly Dim[] }): Tensor;
} = ops.tile;
/**
 * Each element (along `dim`, or flattened) repeated in place; one number, or one for each (the size of the
 * result then depends on elements, unless `outputSize` states it). Without `repeats` the index of each
 * element, as often as it says. As `torch.repeat_interleave`.
 */
export const repeatInterleave: (
  self: Tensor,
  repeats?: Operand<Tensor> | null | RepeatInterleaveOptions<Tensor>,
  dim?: number | null | RepeatInterleaveOptions<Tensor>,
  options?: RepeatInterleaveOptions<Tensor>,
) => Tensor = ops.repeatInterleave;
/** Turned by k quarters in the plane of two dimensions, as `torch.rot90`. */
export const rot90: (
  self: Tensor,
  k?: number | Rot90Options,
  dims?: readonly number[] | Rot90Options,
  options?: Rot90Options,
) => Tensor = ops.rot90;
/** The lower triangle of matrices from a diagonal on, as `torch.tril`. */
export const tril: (self: Tensor, diagonal?: Dim | TrilOptions, options?: TrilOptions) => Tensor = ops.tril;
/** The upper triangle of matrices from a diagonal on, as `torch.triu`. */
export const triu: (self: Tensor, diagonal?: Dim | TrilOptions, options?: TrilOptions) => Tensor = ops.triu;
/** The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`. */
export const diag: (self: Tensor, diagonal?: number | DiagOptions, options?: DiagOptions) => Tensor =
  ops.diag;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const cat: (
  tensors: readonly Tensor[],
  dim?: number | SplitWithSizesCopyOptions,
  options?: SplitWithSizesCopyOptions,
) => Tensor = ops.cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concat: typeof cat = cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concatenate: typeof cat = cat;
/** Tensors of one shape along a new dimension, as `torch.stack`. */
export const stack: (
  tensors: readonly Tensor[],
  dim?: number | SplitWithSizesCopyOptions,
  options?: SplitWithSizesCopyOptions,
) => Tensor = ops.stack;
/** Running sums along a dimension, as `torch.cumsum`. */
export const cumsum: {
  (self: Tensor, dim: number, options?: DtypeOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & DtypeOptions): Tensor;
} = ops.cumsum;
/** Running products along a dimension, as `torch.cumprod`. */
export const cumprod: {
  (self: Tensor, dim: number, options?: DtypeOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & DtypeOptions): Tensor;
} = ops.cumprod;
/** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
export const logcumsumexp: {
  (self: Tensor, dim: number): Tensor;
  (self: Tensor, named: { readonly dim: number }): Tensor;
} = ops.logcumsumexp;
/** The maximum so far along a dimension, and its last index, as `torch.cummax`. */
export const cummax: {
  (self: Tensor, dim: number): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, named: { readonly dim: number }): Results<Tensor, ["values", "indices"]>;
} = ops.cummax;
/** The minimum so far along a dimension, and its last index, as `torch.cummin`. */
export const cummin: {
  (self: Tensor, dim: number): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, named: { readonly dim: number }): Results<Tensor, ["values", "indices"]>;
} = ops.cummin;
/** The angle of the point (other, self), as `torch.atan2`. */
export const atan2: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.atan2;
/** The angle of the point (other, self), as `torch.atan2`. */
export const arctan2: typeof atan2 = atan2;
/** √(self² + other²) without overflow, as `torch.hypot`. */
export const hypot: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.hypot;
/** |self| with the sign of `other`, that of −0 included, as `torch.copysign`. */
export const copysign: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.copysign;
/** self · log(other), 0 where self is 0, as `torch.xlogy`. One of them may be a number. */
export const xlogy: (self: Operand<Tensor>, other: Operand<Tensor>) => Tensor = ops.xlogy;
/** log(e^self + e^other) without overflow, as `torch.logaddexp`. */
export const logaddexp: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logaddexp;
/** log(2^self + 2^other) without overflow, as `torch.logaddexp2`. */
export const logaddexp2: (self: Tensor, other: Operand<Tensor>) => Tensor = ops.logaddexp2;
/** self + weight · (end − self), exact at both ends, as `torch.lerp`. */
export const lerp: (self: Tensor, end: Tensor, weight: Operand<Tensor>) => Tensor = ops.lerp;
/** self + value · tensor1 · tensor2, as `torch.addcmul`. */
export const addcmul: (self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: ValueOptions) => Tensor =
  ops.addcmul;
/** self + value · tensor1 / tensor2, as `torch.addcdiv`. */
export const addcdiv: (self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: ValueOptions) => Tensor =
  ops.addcdiv;
/** self · 2^other, as `torch.ldexp`. */
export const ldexp: (self: Tensor, other: Tensor) => Tensor = ops.ldexp;
/**
 * The indices of nonzero elements, one row each; with asTuple one vector for each dimension. As
 * `torch.nonzero`.
 */
export const nonzero: {
  (self: Tensor, options: NonzeroOptions & { readonly asTuple: true }): Results<Tensor, ["indices"]>;
  (self: Tensor, options?: NonzeroOptions): Tensor;
} = ops.nonzero;
/** The indices of nonzero elements, one row each, as `torch.argwhere`. Its size depends on elements. */
export const argwhere: (self: Tensor) => Tensor = ops.argwhere;
/**
 * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among them,
 * and their counts. As `torch.unique`.
 */
export const unique: {
  (
    self: Tensor,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<Tensor, ["output", "inverseIndices", "counts"]>;
  (
    self: Tensor,
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<Tensor, ["output", "inverseIndices", "counts"]>;
  (
    self: Tensor,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<Tensor, ["output", "inverseIndices", "counts"]>;
  (
    self: Tensor,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts?: false | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<Tensor, ["output", "inverseIndices"]>;
  (
    self: Tensor,
    options: UniqueOptions & { readonly returnInverse: true },
  ): Results<Tensor, ["output", "inverseIndices"]>;
  (
    self: Tensor,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true },
  ): Results<Tensor, ["output", "inverseIndices"]>;
  (
    self: Tensor,
    sorted: boolean | undefined,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<Tensor, ["output", "counts"]>;
  (
    self: Tensor,
    options: UniqueOptions & { readonly returnCounts: true },
  ): Results<Tensor, ["output", "counts"]>;
  (
    self: Tensor,
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnCounts: true },
  ): Results<Tensor, ["output", "counts"]>;
  (
    self: Tensor,
    sorted?: boolean | UniqueOptions,
    returnInverse?: false | UniqueOptions,
    returnCounts?: false | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Tensor;
} = ops.unique;
/**
 * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
 * element among them, and their counts. As `torch.unique_consecutive`.
 */
export const uniqueConsecutive: {
  (
    self: Tensor,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<Tensor, ["output", "inverseIndices", "counts"]>;
  (
    self: Tensor,
    options: UniqueConsecutiveOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<Tensor, ["output", "inverseIndices", "counts"]>;
  (
    self: Tensor,
    returnInverse: true,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<Tensor, ["output", "inverseIndices"]>;
  (
    self: Tensor,
    options: UniqueConsecutiveOptions & { readonly returnInverse: true },
  ): Results<Tensor, ["output", "inverseIndices"]>;
  (
    self: Tensor,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<Tensor, ["output", "counts"]>;
  (
    self: Tensor,
    options: UniqueConsecutiveOptions & { readonly returnCounts: true },
  ): Results<Tensor, ["output", "counts"]>;
  (
    self: Tensor,
    returnInverse?: false | UniqueConsecutiveOptions,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Tensor;
} = ops.uniqueConsecutive;
/** The number of occurrences of each integer from 0 on, or the sum of its weights, as `torch.bincount`. */
export const bincount: (
  self: Tensor,
  weights?: Tensor | null | BincountOptions<Tensor>,
  minlength?: Dim | BincountOptions<Tensor>,
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
    options?: IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly src: Tensor;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    named: {
      readonly index: Tensor;
      readonly src: Tensor;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    named:
      & { readonly src: Tensor; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    src: Tensor,
    named: { readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): Tensor;
} = ops.scatterReduce;
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
    options?: IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    named: {
      readonly dim: number;
      readonly index: Tensor;
      readonly source: Tensor;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    named: {
      readonly index: Tensor;
      readonly source: Tensor;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    named:
      & { readonly source: Tensor; readonly reduce: "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): Tensor;
  (
    self: Tensor,
    dim: number,
    index: Tensor,
    source: Tensor,
    named: { readonly reduce: "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): Tensor;
} = ops.indexReduce;
/** Sorted along a dimension, with the original indices; always stable. As `torch.sort`. */
export const sort: (
  self: Tensor,
  dim?: number | SortOptions,
  descending?: boolean | SortOptions,
  stable?: boolean | null | SortOptions,
  options?: SortOptions,
) => Results<Tensor, ["values", "indices"]> = ops.sort;
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
  ): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, named: { readonly k: Dim } & TopkOptions): Results<Tensor, ["values", "indices"]>;
} = ops.topk;
/** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
export const kthvalue: {
  (
    self: Tensor,
    k: Dim,
    dim?: number | KthvalueOptions,
    keepdim?: boolean | KthvalueOptions,
    options?: KthvalueOptions,
  ): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, named: { readonly k: Dim } & KthvalueOptions): Results<Tensor, ["values", "indices"]>;
} = ops.kthvalue;
/** The lower middle element, NaN if there is one; with `dim` also its index. As `torch.median`. */
export const median: {
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | ArgmaxOptions,
    options?: ArgmaxOptions,
  ): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, options: ArgmaxOptions & { readonly dim: number }): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, dim?: null | ArgmaxOptions, keepdim?: boolean): Tensor;
} = ops.median;
/** The lower middle element, ignoring NaN; with `dim` also its index. As `torch.nanmedian`. */
export const nanmedian: {
  (
    self: Tensor,
    dim: number,
    keepdim?: boolean | ArgmaxOptions,
    options?: ArgmaxOptions,
  ): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, options: ArgmaxOptions & { readonly dim: number }): Results<Tensor, ["values", "indices"]>;
  (self: Tensor, dim?: null | ArgmaxOptions, keepdim?: boolean): Tensor;
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
  dim?: number | null | QuantileOptions,
  keepdim?: boolean | QuantileOptions,
  options?: QuantileOptions,
) => Tensor = ops.nanquantile;
/**
 * The indices at which values are inserted into sorted sequences (of the last dimension), as
 * `torch.searchsorted`.
 */
export const searchsorted: (
  sortedSequence: Tensor,
  self: Operand<Tensor>,
  options?: SearchsortedOptions<Tensor>,
) => Tensor = ops.searchsorted;
/** The index of the bucket between sorted boundaries for each value, as `torch.bucketize`. */
export const bucketize: (self: Operand<Tensor>, boundaries: Tensor, options?: BucketizeOptions) => Tensor =
  ops.bucketize;
/** True for each element that is among the test elements, as `torch.isin`. */
export const isin: (
  elements: Operand<Tensor>,
  testElements: Operand<Tensor>,
  options?: IsinOptions,
) => Tensor = ops.isin;
/** The derivative of lgamma, as `torch.digamma`. */
export const digamma: (self: Tensor) => Tensor = ops.digamma;
/** The derivative of lgamma, as `torch.digamma`. */
export const psi: typeof digamma = digamma;
/** The inverse of erf, as `torch.erfinv`. */
export const erfinv: (self: Tensor) => Tensor = ops.erfinv;
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const mvlgamma: {
  (self: Tensor, p: number): Tensor;
  (self: Tensor, named: { readonly p: number }): Tensor;
} = ops.mvlgamma;
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const multigammaln: typeof mvlgamma = mvlgamma;
/** The modified Bessel function of order 0, as `torch.i0`. */
export const i0: (self: Tensor) => Tensor = ops.i0;
/** The n-th derivative of digamma, as `torch.polygamma`; `n` comes first, or second as in `x.polygamma(n)`. */
export const polygamma: {
  (n: number, self: Tensor): Tensor;
  (named: { readonly n: number; readonly self: Tensor }): Tensor;
  (n: number, named: { readonly self: Tensor }): Tensor;
} = ops.polygamma;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const igamma: (self: Tensor, other: Tensor) => Tensor = ops.igamma;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const gammainc: typeof igamma = igamma;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const igammac: (self: Tensor, other: Tensor) => Tensor = ops.igammac;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const gammaincc: typeof igammac = igammac;
/** max(self, 0) + min(0, alpha · (e^(self / alpha) − 1)), as `nn.functional.celu`. */
export const celu: (
  self: Tensor,
  alpha?: number | AlphaInplaceOptions,
  inplace?: boolean | AlphaInplaceOptions,
  options?: AlphaInplaceOptions,
) => Tensor = ops.celu;
/** The self-normalizing elu, as `nn.functional.selu`. */
export const selu: (self: Tensor, inplace?: boolean | InplaceOptions, options?: InplaceOptions) => Tensor =
  ops.selu;
/** The gradient of maxPool2d: gradients of windows, added at the indices of their maxima. */
export const maxPool2dWithIndicesBackward: {
  (
    gradOutput: Tensor,
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    indices: Tensor,
    options?: MaxPool2dWithIndicesBackwardOptions,
  ): Tensor;
  (
    gradOutput: Tensor,
    self: Tensor,
    named:
      & { readonly kernelSize: Dim | readonly Dim[]; readonly indices: Tensor }
      & MaxPool2dWithIndicesBackwardOptions,
  ): Tensor;
} = ops.maxPool2dWithIndicesBackward;
/**
 * The maximum of each window over 1 dimension(s); with returnIndices also its flat index. As
 * `nn.functional.max_pool1d`.
 */
export const maxPool1d: {
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: MaxPool1dOptions,
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    options: MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<Tensor, ["values", "indices"]>;
  (
    self: Tensor,
    kernelSize: Dim | readonly Dim[],
    stride?: Dim | readonly Dim[] | null,
    padding?: Dim | readonly Dim[],
    dilation?: Dim | readonly Dim[],
    ceilMode?: boolean,
    returnIndices?: false | MaxPool1dOptions,
  ): Tensor;
  (self: Tensor, named: { readonly kernelSize: Dim | readonly Dim[] } & MaxPool1dOptions): Tensor;
} = ops.maxPool1d;
/**
 * The maximum of each window over 2 dimension(s); with returnIndices also its flat index. As
 * `nn.functional.max_pool2d`.
 */
export const maxPool2d: typeof maxPool1d = ops.maxPool2d;
/**
 * The maximum of each window over 3 dimension(s); with returnIndices also its flat index. As
 * `nn.functional.max_pool3d`.
 */
export const maxPool3d: typeof maxPool1d = ops.maxPool3d;
/** The mean of each window over 1 dimension(s), as `nn.functional.avg_pool1d`. */
export const avgPool1d: {
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
} = ops.avgPool1d;
/** Numbers of the uniform distribution on [0, 1), as `torch.rand`. */
export const rand: {
  (size: readonly Dim[], options?: RandOptions): Tensor;
  (...size: (Dim | RandOptions)[]): Tensor;
  (named: { readonly size: readonly Dim[] } & RandOptions): Tensor;
} = ops.rand;
/** Numbers of the standard normal distribution, as `torch.randn`. */
export const randn: {
  (size: readonly Dim[], options?: RandOptions): Tensor;
  (...size: (Dim | RandOptions)[]): Tensor;
  (named: { readonly size: readonly Dim[] } & RandOptions): Tensor;
} = ops.randn;
/** As rand, of the shape, type and device of `self`. */
export const randLike: (self: Tensor, options?: RandOptions) => Tensor = ops.randLike;
/** As randn, of the shape, type and device of `self`. */
export const randnLike: (self: Tensor, options?: RandOptions) => Tensor = ops.randnLike;
/** randint(high, size), randint(low, high, size): integers of [low, high), as `torch.randint`. */
export const randint: {
  (
    low: Dim,
    high?: Dim | readonly Dim[] | null | RandintOptions,
    size?: readonly Dim[] | null | RandintOptions,
    options?: RandintOptions,
  ): Tensor;
  (named: { readonly low: Dim } & RandintOptions): Tensor;
} = ops.randint;
/** randintLike(x, high), randintLike(x, low, high): integers of [low, high) in the shape of a tensor. */
export const randintLike: {
  (self: Tensor, low: Dim, high?: Dim | null | RandintLikeOptions, options?: RandintLikeOptions): Tensor;
  (self: Tensor, named: { readonly low: Dim } & RandintLikeOptions): Tensor;
} = ops.randintLike;
/** The integers below n in random order, as `torch.randperm`. */
export const randperm: {
  (n: Dim, options?: RandOptions): Tensor;
  (named: { readonly n: Dim } & RandOptions): Tensor;
} = ops.randperm;
/**
 * 1 with the probability in `self` (or p), else 0, as `torch.bernoulli`; `bernoulli_` has p = 0.5 unless it
 * is given. Elements outside of [0, 1] are refused on the CPU.
 */
export const bernoulli: (
  self: Tensor,
  p?: Operand<Tensor> | null | BernoulliOptions<Tensor>,
  options?: BernoulliOptions<Tensor>,
) => Tensor = ops.bernoulli;
/**
 * Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. Throws DynError
 * for a row that is all zero, and for weights that are negative or not finite.
 */
export const multinomial: {
  (
    self: Tensor,
    numSamples: Dim,
    replacement?: boolean | MultinomialOptions,
    options?: MultinomialOptions,
  ): Tensor;
  (self: Tensor, named: { readonly numSamples: Dim } & MultinomialOptions): Tensor;
} = ops.multinomial;
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
/**
 * Elements set to SELU's saturation value with probability p, then scaled and shifted to keep mean and
 * variance, while training. As `nn.functional.alpha_dropout`.
 */
export const alphaDropout: (
  self: Tensor,
  p?: number | AlphaDropoutOptions,
  training?: boolean | AlphaDropoutOptions,
  inplace?: boolean | AlphaDropoutOptions,
  options?: AlphaDropoutOptions,
) => Tensor = ops.alphaDropout;
/**
 * Whole channels set to SELU's saturation value with probability p, then scaled and shifted to keep mean
 * and variance, while training. As `nn.functional.feature_alpha_dropout`.
 */
export const featureAlphaDropout: (
  self: Tensor,
  p?: number | AlphaDropoutOptions,
  training?: boolean | AlphaDropoutOptions,
  inplace?: boolean | AlphaDropoutOptions,
  options?: AlphaDropoutOptions,
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
 * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
 * function is `variance`.
 */
export const variance: (
  self: Tensor,
  dim?: IntOrInts | boolean | null | VarOptions,
  unbiased?: boolean | null | VarOptions,
  keepdim?: boolean | VarOptions,
  options?: VarOptions,
) => Tensor = ops.var;
/** The standard deviation over dimensions, divided by the count less `correction` (1). As `torch.std`. */
export const std: (
  self: Tensor,
  dim?: IntOrInts | boolean | null | VarOptions,
  unbiased?: boolean | null | VarOptions,
  keepdim?: boolean | VarOptions,
  options?: VarOptions,
) => Tensor = ops.std;
/** var and mean over dimensions, as `torch.var_mean`. */
export const varMean: (
  self: Tensor,
  dim?: IntOrInts | boolean | null | VarOptions,
  unbiased?: boolean | null | VarOptions,
  keepdim?: boolean | VarOptions,
  options?: VarOptions,
) => Results<Tensor, ["variance", "mean"]> = ops.varMean;
/** std and mean over dimensions, as `torch.std_mean`. */
export const stdMean: (
  self: Tensor,
  dim?: IntOrInts | boolean | null | VarOptions,
  unbiased?: boolean | null | VarOptions,
  keepdim?: boolean | VarOptions,
  options?: VarOptions,
) => Results<Tensor, ["deviation", "mean"]> = ops.stdMean;
/** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
export const logsumexp: {
  (self: Tensor, dim: IntOrInts, keepdim?: boolean | LogsumexpOptions, options?: LogsumexpOptions): Tensor;
  (self: Tensor, named: { readonly dim: IntOrInts } & LogsumexpOptions): Tensor;
} = ops.logsumexp;
/**
 * The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as
 * `torch.norm`.
 */
export const norm: (
  self: Tensor,
  p?: Scalar | string | NormOptions,
  dim?: IntOrInts | null | NormOptions,
  keepdim?: boolean | NormOptions,
  dtype?: DType | null | NormOptions,
  options?: NormOptions,
) => Tensor = ops.norm;
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
export const dist: (self: Tensor, other: Tensor, p?: number | POptions, options?: POptions) => Tensor =
  ops.dist;
/** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
export const renorm: {
  (self: Tensor, p: number, dim: number, maxnorm: number): Tensor;
  (self: Tensor, named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): Tensor;
  (self: Tensor, p: number, named: { readonly dim: number; readonly maxnorm: number }): Tensor;
  (self: Tensor, p: number, dim: number, named: { readonly maxnorm: number }): Tensor;
} = ops.renorm;
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
 * Sums of products of operands over the dimensions that an equation such as "bij,bjk->bik" names. As
 * `torch.einsum`, in all of its forms.
 */
export const einsum: {
  (equation: string, operands: readonly Tensor[]): Tensor;
  (equation: string, ...operands: Tensor[]): Tensor;
  (named: { readonly equation: string; readonly operands: readonly Tensor[] }): Tensor;
  (equation: string, named: { readonly operands: readonly Tensor[] }): Tensor;
} = ops.einsum;
/** Sums of products over the last dimensions, as `torch.inner`. */
export const inner: (self: Tensor, other: Tensor) => Tensor = ops.inner;
/** The sum of the diagonal of a matrix, as `torch.trace`. */
export const trace: (self: Tensor) => Tensor = ops.trace;
/** The Kronecker product, as `torch.kron`. */
export const kron: (self: Tensor, other: Tensor) => Tensor = ops.kron;
/** With at least 1 dimension(s), as `torch.atleast_1d` of one tensor. */
export const atleast1d: (self: Tensor) => Tensor = ops.atleast1d;
/** With at least 2 dimension(s), as `torch.atleast_2d` of one tensor. */
export const atleast2d: (self: Tensor) => Tensor = ops.atleast2d;
/** With at least 3 dimension(s), as `torch.atleast_3d` of one tensor. */
export const atleast3d: (self: Tensor) => Tensor = ops.atleast3d;
/** Tensors joined along dimension 1, or 0 of vectors, as `torch.hstack`. */
export const hstack: (tensors: readonly Tensor[]) => Tensor = ops.hstack;
/** Tensors joined along dimension 0, vectors as rows, as `torch.vstack`. */
export const vstack: (tensors: readonly Tensor[]) => Tensor = ops.vstack;
/** Tensors joined along dimension 0, vectors as rows, as `torch.vstack`. */
export const rowStack: typeof vstack = vstack;
/** Tensors joined along dimension 2, as `torch.dstack`. */
export const dstack: (tensors: readonly Tensor[]) => Tensor = ops.dstack;
/** Tensors joined along dimension 1, vectors as columns, as `torch.column_stack`. */
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
export const diagflat: (self: Tensor, offset?: Dim | DiagflatOptions, options?: DiagflatOptions) => Tensor =
  ops.diagflat;
/** Rows and columns of the upper triangle of a matrix. */
export const triuIndices: {
  (row: number, col: number, offset?: number | TriuIndicesOptions, options?: TriuIndicesOptions): Tensor;
  (named: { readonly row: number; readonly col: number } & TriuIndicesOptions): Tensor;
  (row: number, named: { readonly col: number } & TriuIndicesOptions): Tensor;
} = ops.triuIndices;
/** Rows and columns of the lower triangle of a matrix. */
export const trilIndices: {
  (row: number, col: number, offset?: number | TriuIndicesOptions, options?: TriuIndicesOptions): Tensor;
  (named: { readonly row: number; readonly col: number } & TriuIndicesOptions): Tensor;
  (row: number, named: { readonly col: number } & TriuIndicesOptions): Tensor;
} = ops.trilIndices;
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
 * Differences of neighbours along a dimension, n times, with elements added before and after, as
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
/**
 * The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. Integers
 * are summed as int64; PyTorch's small ones wrap around.
 */
export const trapezoid: (
  y: Tensor,
  x?: Operand<Tensor> | null | TrapezoidOptions<Tensor>,
  options?: TrapezoidOptions<Tensor>,
) => Tensor = ops.trapezoid;
/**
 * The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. Integers
 * are summed as int64; PyTorch's small ones wrap around.
 */
export const trapz: typeof trapezoid = trapezoid;
/**
 * The integral along a dimension by trapezoids, as `torch.cumulative_trapezoid`: y, then x (a tensor), or
 * dx. Integers are summed as int64; PyTorch's small ones wrap around.
 */
export const cumulativeTrapezoid: (
  y: Tensor,
  x?: Operand<Tensor> | null | TrapezoidOptions<Tensor>,
  options?: TrapezoidOptions<Tensor>,
) => Tensor = ops.cumulativeTrapezoid;
/** Channels spread over pixels, as `nn.functional.pixel_shuffle`. */
export const pixelShuffle: {
  (self: Tensor, upscaleFactor: Dim): Tensor;
  (self: Tensor, named: { readonly upscaleFactor: Dim }): Tensor;
} = ops.pixelShuffle;
/** Channels gathered from pixels, as `nn.functional.pixel_unshuffle`. */
export const pixelUnshuffle: {
  (self: Tensor, downscaleFactor: Dim): Tensor;
  (self: Tensor, named: { readonly downscaleFactor: Dim }): Tensor;
} = ops.pixelUnshuffle;
/** Channels in groups, interleaved, as `nn.functional.channel_shuffle`. */
export const channelShuffle: {
  (self: Tensor, groups: number): Tensor;
  (self: Tensor, named: { readonly groups: number }): Tensor;
} = ops.channelShuffle;
/** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler`. */
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
  (
    input: Tensor,
    grid: Tensor,
    interpolationMode: number,
    named: { readonly paddingMode: number; readonly alignCorners: boolean },
  ): Tensor;
  (
    input: Tensor,
    grid: Tensor,
    interpolationMode: number,
    paddingMode: number,
    named: { readonly alignCorners: boolean },
  ): Tensor;
} = ops.gridSampler;
/** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler_2d`. */
export const gridSampler2d: typeof gridSampler = ops.gridSampler2d;
/** As nn.functional.gridSample, with modes given by number, as `torch.grid_sampler_3d`. */
export const gridSampler3d: typeof gridSampler = ops.gridSampler3d;
/**
 * The sampling grid of affine maps theta [N, 2, 3] for images of `size` [N, C, H, W], or [N, 3, 4] for
 * volumes, as `nn.functional.affine_grid`.
 */
export const affineGrid: {
  (
    theta: Tensor,
    size: readonly Dim[],
    alignCorners?: boolean | AffineGridOptions,
    options?: AffineGridOptions,
  ): Tensor;
  (theta: Tensor, named: { readonly size: readonly Dim[] } & AffineGridOptions): Tensor;
} = ops.affineGrid;
/**
 * The sampling grid of affine maps theta [N, 2, 3] for images of `size` [N, C, H, W], or [N, 3, 4] for
 * volumes, as `nn.functional.affine_grid`.
 */
export const affineGridGenerator: typeof affineGrid = affineGrid;
/** Distances between all rows of x1 and all rows of x2, as `torch.cdist`. */
export const cdist: (
  x1: Tensor,
  x2: Tensor,
  p?: number | CdistOptions,
  computeMode?: string | null | CdistOptions,
  options?: CdistOptions,
) => Tensor = ops.cdist;
/** Distances between all pairs of rows, i < j, as `nn.functional.pdist`. */
export const pdist: (self: Tensor, p?: number | POptions, options?: POptions) => Tensor = ops.pdist;
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
/** The greatest common divisor, as `torch.gcd`. */
export const gcd: (self: Tensor, other: Tensor) => Tensor = ops.gcd;
/** The least common multiple, as `torch.lcm`. */
export const lcm: (self: Tensor, other: Tensor) => Tensor = ops.lcm;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const cross: (
  self: Tensor,
  other: Tensor,
  dim?: number | null | TakeAlongDimOptions,
  options?: TakeAlongDimOptions,
) => Tensor = ops.cross;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inv: (A: Tensor) => Tensor = ops.inv;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inverse: typeof inv = inv;
/** Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host. */
export const slogdet: (A: Tensor) => Results<Tensor, ["sign", "logabsdet"]> = ops.slogdet;
/** Determinants of square matrices, as `torch.det`. */
export const det: (A: Tensor) => Tensor = ops.det;
/** Logarithms of determinants of square matrices, as `torch.logdet`. */
export const logdet: (A: Tensor) => Tensor = ops.logdet;
/** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
export const matrixPower: {
  (A: Tensor, n: number): Tensor;
  (A: Tensor, named: { readonly n: number }): Tensor;
} = ops.matrixPower;
/** The covariance of rows over columns, with frequencies and weights, as `torch.cov`. */
export const cov: (self: Tensor, options?: CovOptions<Tensor>) => Tensor = ops.cov;
/** The correlation of rows over columns, as `torch.corrcoef`. */
export const corrcoef: (self: Tensor) => Tensor = ops.corrcoef;
/** The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`. */
export const aminmax: (self: Tensor, options?: ArgmaxOptions) => Results<Tensor, ["min", "max"]> =
  ops.aminmax;
/**
 * The most frequent element along a dimension, the least where several are, and its last index. As
 * `torch.mode`.
 */
export const mode: (
  self: Tensor,
  dim?: number | KthvalueOptions,
  keepdim?: boolean | KthvalueOptions,
  options?: KthvalueOptions,
) => Results<Tensor, ["values", "indices"]> = ops.mode;
/** The number of elements in each of `bins` equal parts of [min, max], as `torch.histc`. */
export const histc: (
  self: Tensor,
  bins?: Dim | HistcOptions,
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
/**
 * The number of elements in each bin, and the bins' edges, as `torch.histogram`: `bins` of equal width over
 * a range (by default that of the elements), or between given edges.
 */
export const histogram: (
  self: Tensor,
  bins: Operand<Tensor>,
  options?: HistogramOptions<Tensor>,
) => Results<Tensor, ["hist", "binEdges"]> = ops.histogram;
/** X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host. */
export const triangularSolve: (
  self: Tensor,
  A: Tensor,
  upper?: boolean | TriangularSolveOptions,
  transpose?: boolean | TriangularSolveOptions,
  unitriangular?: boolean | TriangularSolveOptions,
  options?: TriangularSolveOptions,
) => Results<Tensor, ["solution", "cloned_coefficient"]> = ops.triangularSolve;
/**
 * L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on
 * the host.
 */
export const cholesky: (A: Tensor, upper?: boolean | UpperOptions, options?: UpperOptions) => Tensor =
  ops.cholesky;
/** The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the host. */
export const choleskyInverse: (L: Tensor, upper?: boolean | UpperOptions, options?: UpperOptions) => Tensor =
  ops.choleskyInverse;
/**
 * X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on
 * the host.
 */
export const choleskySolve: (
  self: Tensor,
  L: Tensor,
  upper?: boolean | UpperOptions,
  options?: UpperOptions,
) => Tensor = ops.choleskySolve;
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
) => Results<Tensor, ["E", "X"]> = ops.lobpcg;
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
) => Results<Tensor, ["U", "S", "V"]> = ops.svdLowrank;
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
) => Results<Tensor, ["U", "S", "V"]> = ops.pcaLowrank;
/**
 * P, L and U of matrices decomposed by luFactor, as `torch.lu_unpack`; those that are not requested are
 * empty. P is made on the host.
 */
export const luUnpack: (
  LUData: Tensor,
  LUPivots: Tensor,
  unpackData?: boolean | LuUnpackOptions,
  unpackPivots?: boolean | LuUnpackOptions,
  options?: LuUnpackOptions,
) => Results<Tensor, ["P", "L", "U"]> = ops.luUnpack;
/**
 * L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`.
 * Computed on the host.
 */
export const lu: (
  self: Tensor,
  pivot?: boolean | LuOptions,
  getInfos?: boolean | LuOptions,
  options?: LuOptions,
) => Results<Tensor, ["LU", "pivots", "infos"]> = ops.lu;
/** X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host. */
export const luSolve: (self: Tensor, LUData: Tensor, LUPivots: Tensor) => Tensor = ops.luSolve;
/**
 * U, S and V with A = U · diag(S) · Vᴴ, values descending, as `torch.svd`: without `some` full matrices,
 * without `computeUv` zeros for them. Computed on the host.
 */
export const svd: (
  self: Tensor,
  some?: boolean | SvdOptions,
  computeUv?: boolean | SvdOptions,
  options?: SvdOptions,
) => Results<Tensor, ["U", "S", "V"]> = ops.svd;
/** Pseudoinverses, as `torch.pinverse`. Computed on the host. */
export const pinverse: (A: Tensor, rcond?: number | PinverseOptions, options?: PinverseOptions) => Tensor =
  ops.pinverse;
/** e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host. */
export const matrixExp: (A: Tensor) => Tensor = ops.matrixExp;
/** R and the reflections that make Q, as `torch.geqrf`. No gradient. Computed on the host. */
export const geqrf: (self: Tensor) => Results<Tensor, ["a", "tau"]> = ops.geqrf;
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
/** π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors. */
export const angle: (self: Tensor) => Tensor = ops.angle;
/** Mantissas in [½, 1) and exponents of 2, as `torch.frexp`. */
export const frexp: (self: Tensor) => Results<Tensor, ["mantissa", "exponent"]> = ops.frexp;
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
    options?: WeightBiasOptions<Tensor>,
  ): Results<Tensor, ["output", "mean", "rstd"]>;
  (
    self: Tensor,
    named: { readonly normalizedShape: readonly Dim[]; readonly eps: number } & WeightBiasOptions<Tensor>,
  ): Results<Tensor, ["output", "mean", "rstd"]>;
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
  options?: WeightBiasOptions<Tensor>,
) => Results<Tensor, ["output", "mean", "rstd"]> = ops.nativeGroupNorm;
/**
 * batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but without
 * updating running statistics.
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
) => Results<Tensor, ["output", "mean", "rstd"]> = ops.nativeBatchNorm;
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
export const addmm: (self: Tensor, first: Tensor, second: Tensor, options?: BetaAlphaOptions) => Tensor =
  ops.addmm;
/** beta · input + alpha · the product of the other two, as `torch.addmv`; vec is the second factor. */
export const addmv: (self: Tensor, first: Tensor, second: Tensor, options?: BetaAlphaOptions) => Tensor =
  ops.addmv;
/** beta · input + alpha · the product of the other two, as `torch.baddbmm`; batch2 is the second factor. */
export const baddbmm: (self: Tensor, first: Tensor, second: Tensor, options?: BetaAlphaOptions) => Tensor =
  ops.baddbmm;
/** beta · input + alpha · the product of the other two, as `torch.addbmm`; batch2 is the second factor. */
export const addbmm: (self: Tensor, first: Tensor, second: Tensor, options?: BetaAlphaOptions) => Tensor =
  ops.addbmm;
/** beta · input + alpha · the product of the other two, as `torch.addr`; vec2 is the second factor. */
export const addr: (self: Tensor, first: Tensor, second: Tensor, options?: BetaAlphaOptions) => Tensor =
  ops.addr;
/** All products of elements of two vectors, as `torch.outer`. */
export const outer: (self: Tensor, vec2: Tensor) => Tensor = ops.outer;
/** All products of elements of two vectors, as `torch.outer`. */
export const ger: typeof outer = outer;
/**
 * Cross-correlation over 1 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv1d`.
 */
export const conv1d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | Conv1dOptions<Tensor>,
  stride?: IntOrInts | Conv1dOptions<Tensor>,
  padding?: Dim | readonly Dim[] | string | Conv1dOptions<Tensor>,
  dilation?: IntOrInts | Conv1dOptions<Tensor>,
  groups?: number | Conv1dOptions<Tensor>,
  options?: Conv1dOptions<Tensor>,
) => Tensor = ops.conv1d;
/**
 * Cross-correlation over 2 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv2d`.
 */
export const conv2d: typeof conv1d = ops.conv2d;
/**
 * Cross-correlation over 3 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv3d`.
 */
export const conv3d: typeof conv1d = ops.conv3d;
/** The transposed convolution over 1 dimension(s), as `nn.functional.conv_transpose1d`. */
export const convTranspose1d: (
  input: Tensor,
  weight: Tensor,
  bias?: Tensor | null | ConvTranspose1dOptions<Tensor>,
  stride?: IntOrInts | ConvTranspose1dOptions<Tensor>,
  padding?: IntOrInts | ConvTranspose1dOptions<Tensor>,
  outputPadding?: IntOrInts | ConvTranspose1dOptions<Tensor>,
  groups?: number | ConvTranspose1dOptions<Tensor>,
  dilation?: IntOrInts | ConvTranspose1dOptions<Tensor>,
  options?: ConvTranspose1dOptions<Tensor>,
) => Tensor = ops.convTranspose1d;
/** The transposed convolution over 2 dimension(s), as `nn.functional.conv_transpose2d`. */
export const convTranspose2d: typeof convTranspose1d = ops.convTranspose2d;
/** The transposed convolution over 3 dimension(s), as `nn.functional.conv_transpose3d`. */
export const convTranspose3d: typeof convTranspose1d = ops.convTranspose3d;
/** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
export const softmax: {
  (self: Tensor, dim: number, dtype?: DType | null | DtypeOptions, options?: DtypeOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & DtypeOptions): Tensor;
} = ops.softmax;
/** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
export const logSoftmax: {
  (self: Tensor, dim: number, dtype?: DType | null | DtypeOptions, options?: DtypeOptions): Tensor;
  (self: Tensor, named: { readonly dim: number } & DtypeOptions): Tensor;
} = ops.logSoftmax;
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
    weight?: Tensor | null | LayerNormOptions<Tensor>,
    bias?: Tensor | null | LayerNormOptions<Tensor>,
    eps?: number | LayerNormOptions<Tensor>,
    options?: LayerNormOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly numGroups: number } & LayerNormOptions<Tensor>): Tensor;
} = ops.groupNorm;
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
/**
 * Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false,
 * which gives pairs in a last dimension. As `torch.stft`. Computed on the host.
 */
export const stft: {
  (
    self: Tensor,
    nFft: Dim,
    hopLength?: Dim | null | StftOptions<Tensor>,
    winLength?: Dim | null | StftOptions<Tensor>,
    window?: Tensor | null | StftOptions<Tensor>,
    center?: boolean | StftOptions<Tensor>,
    padMode?: "constant" | "reflect" | "replicate" | "circular" | StftOptions<Tensor>,
    normalized?: boolean | StftOptions<Tensor>,
    onesided?: boolean | null | StftOptions<Tensor>,
    returnComplex?: boolean | StftOptions<Tensor>,
    options?: StftOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly nFft: Dim } & StftOptions<Tensor>): Tensor;
} = ops.stft;
/**
 * The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by the
 * sum of squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on the
 * host.
 */
export const istft: {
  (
    self: Tensor,
    nFft: Dim,
    hopLength?: Dim | null | IstftOptions<Tensor>,
    winLength?: Dim | null | IstftOptions<Tensor>,
    window?: Tensor | null | IstftOptions<Tensor>,
    center?: boolean | IstftOptions<Tensor>,
    normalized?: boolean | IstftOptions<Tensor>,
    onesided?: boolean | null | IstftOptions<Tensor>,
    length?: Dim | null | IstftOptions<Tensor>,
    returnComplex?: boolean | IstftOptions<Tensor>,
    options?: IstftOptions<Tensor>,
  ): Tensor;
  (self: Tensor, named: { readonly nFft: Dim } & IstftOptions<Tensor>): Tensor;
} = ops.istft;
/** ½ − ½·cos(2πi/n). As `torch.hann_window`. */
export const hannWindow: {
  (windowLength: Dim, periodic?: boolean | HannWindowOptions, options?: HannWindowOptions): Tensor;
  (named: { readonly windowLength: Dim } & HannWindowOptions): Tensor;
} = ops.hannWindow;
/** alpha − beta·cos(2πi/n). As `torch.hamming_window`. */
export const hammingWindow: {
  (
    windowLength: Dim,
    periodic?: boolean | HammingWindowOptions,
    alpha?: number | HammingWindowOptions,
    beta?: number | HammingWindowOptions,
    options?: HammingWindowOptions,
  ): Tensor;
  (named: { readonly windowLength: Dim } & HammingWindowOptions): Tensor;
} = ops.hammingWindow;
/** 0.42 − 0.5·cos(2πi/n) + 0.08·cos(4πi/n). As `torch.blackman_window`. */
export const blackmanWindow: {
  (windowLength: Dim, periodic?: boolean | HannWindowOptions, options?: HannWindowOptions): Tensor;
  (named: { readonly windowLength: Dim } & HannWindowOptions): Tensor;
} = ops.blackmanWindow;
/** 1 − |2i/n − 1|: a triangle. As `torch.bartlett_window`. */
export const bartlettWindow: {
  (windowLength: Dim, periodic?: boolean | HannWindowOptions, options?: HannWindowOptions): Tensor;
  (named: { readonly windowLength: Dim } & HannWindowOptions): Tensor;
} = ops.bartlettWindow;
/** I₀(beta·√(1 − (2i/n − 1)²)) / I₀(beta). As `torch.kaiser_window`. */
export const kaiserWindow: {
  (
    windowLength: Dim,
    periodic?: boolean | KaiserWindowOptions,
    beta?: number | KaiserWindowOptions,
    options?: KaiserWindowOptions,
  ): Tensor;
  (named: { readonly windowLength: Dim } & KaiserWindowOptions): Tensor;
} = ops.kaiserWindow;
