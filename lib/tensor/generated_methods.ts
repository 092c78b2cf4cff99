/**
 * The methods of Tensor that are ops. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { Dim } from "../sym/expr.ts";
import type { IntOrInts, Scalar } from "../ops/params.ts";
import type {
  AccumulateOptions,
  AlphaDropoutOptions,
  AlphaInplaceOptions,
  AlphaOptions,
  ArgmaxOptions,
  ArgsortOptions,
  BernoulliOptions,
  BetaAlphaOptions,
  BincountOptions,
  CauchyOptions,
  ClampOptions,
  CombinationsOptions,
  CopyOptions,
  CovOptions,
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
  ExponentialOptions,
  FillDiagonalOptions,
  FlattenOptions,
  GatherOptions,
  GeometricOptions,
  HardtanhOptions,
  HistcOptions,
  HistogramOptions,
  ImplicitOptions,
  IncludeSelfOptions,
  InplaceOptions,
  IscloseOptions,
  IstftOptions,
  KthvalueOptions,
  LambdOptions,
  LeakyReluOptions,
  LogitOptions,
  LogNormalOptions,
  LogsumexpOptions,
  LuOptions,
  MaxOptions,
  MultinomialOptions,
  NanToNumOptions,
  NonzeroOptions,
  NormalOptions,
  NormOptions,
  Operand,
  OrmqrOptions,
  PinverseOptions,
  POptions,
  ProdOptions,
  QuantileOptions,
  RandomOptions,
  RepeatInterleaveOptions,
  Results,
  RollOptions,
  Rot90Options,
  RoundOptions,
  RreluOptions,
  ScatterOptions,
  SliceOptions,
  SortOptions,
  SplitWithSizesCopyOptions,
  StftOptions,
  StorageOffsetOptions,
  SumOptions,
  SvdOptions,
  TakeAlongDimOptions,
  TopkOptions,
  TriangularSolveOptions,
  TrilOptions,
  UniformOptions,
  UniqueConsecutiveOptions,
  UniqueOptions,
  UpperOptions,
  ValueOptions,
  VarOptions,
  ZerosOptions,
} from "../ops/generated_options.ts";

/** Ops as methods; T is the tensor class itself. */
export interface TensorMethods<T> {
  /** self + alpha · other, broadcast and promoted, as `torch.add`. */
  add(other: Operand<T>, options?: AlphaOptions): T;
  /** add, in place; returns this tensor. */
  add_(other: Operand<T>, options?: AlphaOptions): T;
  /** self − alpha · other, broadcast and promoted, as `torch.sub`. */
  sub(other: Operand<T>, options?: AlphaOptions): T;
  /** sub, in place; returns this tensor. */
  sub_(other: Operand<T>, options?: AlphaOptions): T;
  /** self − alpha · other, broadcast and promoted, as `torch.sub`. */
  subtract(other: Operand<T>, options?: AlphaOptions): T;
  /** subtract, in place; returns this tensor. */
  subtract_(other: Operand<T>, options?: AlphaOptions): T;
  /** other − alpha · self, as `torch.rsub`. */
  rsub(other: Operand<T>, options?: AlphaOptions): T;
  /** self · other, broadcast and promoted, as `torch.mul`. */
  mul(other: Operand<T>): T;
  /** mul, in place; returns this tensor. */
  mul_(other: Operand<T>): T;
  /** self · other, broadcast and promoted, as `torch.mul`. */
  multiply(other: Operand<T>): T;
  /** multiply, in place; returns this tensor. */
  multiply_(other: Operand<T>): T;
  /** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
  div(other: Operand<T>, options?: DivOptions): T;
  /** div, in place; returns this tensor. */
  div_(other: Operand<T>, options?: DivOptions): T;
  /** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
  divide(other: Operand<T>, options?: DivOptions): T;
  /** divide, in place; returns this tensor. */
  divide_(other: Operand<T>, options?: DivOptions): T;
  /** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
  trueDivide(other: Operand<T>, options?: DivOptions): T;
  /** trueDivide, in place; returns this tensor. */
  trueDivide_(other: Operand<T>, options?: DivOptions): T;
  /** floor(self / other) in the promoted type, as `torch.floor_divide`. */
  floorDivide(other: Operand<T>): T;
  /** floorDivide, in place; returns this tensor. */
  floorDivide_(other: Operand<T>): T;
  /** self − other · floor(self / other): the remainder with the sign of `other`, as `torch.remainder`. */
  remainder(other: Operand<T>): T;
  /** remainder, in place; returns this tensor. */
  remainder_(other: Operand<T>): T;
  /** The remainder with the sign of `self`, as `torch.fmod`. */
  fmod(other: Operand<T>): T;
  /** fmod, in place; returns this tensor. */
  fmod_(other: Operand<T>): T;
  /** self to the power `exponent`, broadcast and promoted, as `torch.pow`. One of them may be a number. */
  pow(exponent: Operand<T>): T;
  /** pow, in place; returns this tensor. */
  pow_(exponent: Operand<T>): T;
  /** As pow, computed in float64, as `torch.float_power`. */
  floatPower(exponent: Operand<T>): T;
  /** floatPower, in place; returns this tensor. */
  floatPower_(exponent: Operand<T>): T;
  /** True where self equals other, elementwise, as `torch.eq`. */
  eq(other: Operand<T>): T;
  /** eq, in place; returns this tensor. */
  eq_(other: Operand<T>): T;
  /** True where self differs from other, elementwise, as `torch.ne`. */
  ne(other: Operand<T>): T;
  /** ne, in place; returns this tensor. */
  ne_(other: Operand<T>): T;
  /** True where self differs from other, elementwise, as `torch.ne`. */
  notEqual(other: Operand<T>): T;
  /** notEqual, in place; returns this tensor. */
  notEqual_(other: Operand<T>): T;
  /** True where self is less than other, elementwise, as `torch.lt`. */
  lt(other: Operand<T>): T;
  /** lt, in place; returns this tensor. */
  lt_(other: Operand<T>): T;
  /** True where self is less than other, elementwise, as `torch.lt`. */
  less(other: Operand<T>): T;
  /** less, in place; returns this tensor. */
  less_(other: Operand<T>): T;
  /** True where self is at most other, elementwise, as `torch.le`. */
  le(other: Operand<T>): T;
  /** le, in place; returns this tensor. */
  le_(other: Operand<T>): T;
  /** True where self is at most other, elementwise, as `torch.le`. */
  lessEqual(other: Operand<T>): T;
  /** lessEqual, in place; returns this tensor. */
  lessEqual_(other: Operand<T>): T;
  /** True where self is greater than other, elementwise, as `torch.gt`. */
  gt(other: Operand<T>): T;
  /** gt, in place; returns this tensor. */
  gt_(other: Operand<T>): T;
  /** True where self is greater than other, elementwise, as `torch.gt`. */
  greater(other: Operand<T>): T;
  /** greater, in place; returns this tensor. */
  greater_(other: Operand<T>): T;
  /** True where self is at least other, elementwise, as `torch.ge`. */
  ge(other: Operand<T>): T;
  /** ge, in place; returns this tensor. */
  ge_(other: Operand<T>): T;
  /** True where self is at least other, elementwise, as `torch.ge`. */
  greaterEqual(other: Operand<T>): T;
  /** greaterEqual, in place; returns this tensor. */
  greaterEqual_(other: Operand<T>): T;
  /** Logical and, where nonzero elements are true, as `torch.logical_and`. */
  logicalAnd(other: Operand<T>): T;
  /** logicalAnd, in place; returns this tensor. */
  logicalAnd_(other: Operand<T>): T;
  /** Logical or, where nonzero elements are true, as `torch.logical_or`. */
  logicalOr(other: Operand<T>): T;
  /** logicalOr, in place; returns this tensor. */
  logicalOr_(other: Operand<T>): T;
  /** Logical xor, where nonzero elements are true, as `torch.logical_xor`. */
  logicalXor(other: Operand<T>): T;
  /** logicalXor, in place; returns this tensor. */
  logicalXor_(other: Operand<T>): T;
  /** True where an element is 0, as `torch.logical_not`. */
  logicalNot(): T;
  /** logicalNot, in place; returns this tensor. */
  logicalNot_(): T;
  /** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
  bitwiseAnd(other: Operand<T>): T;
  /** bitwiseAnd, in place; returns this tensor. */
  bitwiseAnd_(other: Operand<T>): T;
  /** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
  bitwiseOr(other: Operand<T>): T;
  /** bitwiseOr, in place; returns this tensor. */
  bitwiseOr_(other: Operand<T>): T;
  /** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
  bitwiseXor(other: Operand<T>): T;
  /** bitwiseXor, in place; returns this tensor. */
  bitwiseXor_(other: Operand<T>): T;
  /** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
  bitwiseNot(): T;
  /** bitwiseNot, in place; returns this tensor. */
  bitwiseNot_(): T;
  /** Integers shifted by `other` bits, as `torch.bitwise_left_shift`. */
  bitwiseLeftShift(other: Operand<T>): T;
  /** bitwiseLeftShift, in place; returns this tensor. */
  bitwiseLeftShift_(other: Operand<T>): T;
  /** Integers shifted by `other` bits, as `torch.bitwise_right_shift`. */
  bitwiseRightShift(other: Operand<T>): T;
  /** bitwiseRightShift, in place; returns this tensor. */
  bitwiseRightShift_(other: Operand<T>): T;
  /** isnan of each element, as `torch.isnan`. */
  isnan(): T;
  /** isinf of each element, as `torch.isinf`. */
  isinf(): T;
  /** isposinf of each element, as `torch.isposinf`. */
  isposinf(): T;
  /** isneginf of each element, as `torch.isneginf`. */
  isneginf(): T;
  /** isfinite of each element, as `torch.isfinite`. */
  isfinite(): T;
  /** isreal of each element, as `torch.isreal`. */
  isreal(): T;
  /** True where the sign bit is set, that of −0 included, as `torch.signbit`. */
  signbit(): T;
  /** self with `value` where the mask is true, as `Tensor.masked_fill`. */
  maskedFill(mask: T, value: Operand<T>): T;
  /** maskedFill, in place; returns this tensor. */
  maskedFill_(mask: T, value: Operand<T>): T;
  /** |self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`. */
  isclose(
    other: T,
    rtol?: number | IscloseOptions,
    atol?: number | IscloseOptions,
    equalNan?: boolean | IscloseOptions,
    options?: IscloseOptions,
  ): T;
  /** −self, as `torch.neg`. */
  neg(): T;
  /** neg, in place; returns this tensor. */
  neg_(): T;
  /** −self, as `torch.neg`. */
  negative(): T;
  /** negative, in place; returns this tensor. */
  negative_(): T;
  /** |self|, as `torch.abs`. */
  abs(): T;
  /** abs, in place; returns this tensor. */
  abs_(): T;
  /** |self|, as `torch.abs`. */
  absolute(): T;
  /** absolute, in place; returns this tensor. */
  absolute_(): T;
  /** −1, 0 or 1, 0 for NaN too, as `torch.sign`. */
  sign(): T;
  /** sign, in place; returns this tensor. */
  sign_(): T;
  /** self · self, of bools as integers, as `torch.square`. */
  square(): T;
  /** square, in place; returns this tensor. */
  square_(): T;
  /** self, as `torch.positive`. */
  positive(): T;
  /** floor of each element, as `torch.floor`. */
  floor(): T;
  /** floor, in place; returns this tensor. */
  floor_(): T;
  /** ceil of each element, as `torch.ceil`. */
  ceil(): T;
  /** ceil, in place; returns this tensor. */
  ceil_(): T;
  /** trunc of each element, as `torch.trunc`. */
  trunc(): T;
  /** trunc, in place; returns this tensor. */
  trunc_(): T;
  /** trunc of each element, as `torch.trunc`. */
  fix(): T;
  /** fix, in place; returns this tensor. */
  fix_(): T;
  /** The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`. */
  round(options?: RoundOptions): T;
  /** round, in place; returns this tensor. */
  round_(options?: RoundOptions): T;
  /** self − trunc(self), as `torch.frac`. */
  frac(): T;
  /** frac, in place; returns this tensor. */
  frac_(): T;
  /** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
  sigmoid(inplace?: boolean | InplaceOptions, options?: InplaceOptions): T;
  /** sigmoid, in place; returns this tensor. */
  sigmoid_(options?: InplaceOptions): T;
  /** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
  expit(inplace?: boolean | InplaceOptions, options?: InplaceOptions): T;
  /** expit, in place; returns this tensor. */
  expit_(options?: InplaceOptions): T;
  /** log(x / (1 − x)) of x = self, clamped to [eps, 1 − eps] where eps is given, as `torch.logit`. */
  logit(eps?: number | null | LogitOptions, options?: LogitOptions): T;
  /** logit, in place; returns this tensor. */
  logit_(eps?: number | null | LogitOptions, options?: LogitOptions): T;
  /** sqrt of each element, as `torch.sqrt`; integers are converted to floats. */
  sqrt(): T;
  /** sqrt, in place; returns this tensor. */
  sqrt_(): T;
  /** rsqrt of each element, as `torch.rsqrt`; integers are converted to floats. */
  rsqrt(): T;
  /** rsqrt, in place; returns this tensor. */
  rsqrt_(): T;
  /** reciprocal of each element, as `torch.reciprocal`; integers are converted to floats. */
  reciprocal(): T;
  /** reciprocal, in place; returns this tensor. */
  reciprocal_(): T;
  /** exp of each element, as `torch.exp`; integers are converted to floats. */
  exp(): T;
  /** exp, in place; returns this tensor. */
  exp_(): T;
  /** exp2 of each element, as `torch.exp2`; integers are converted to floats. */
  exp2(): T;
  /** exp2, in place; returns this tensor. */
  exp2_(): T;
  /** expm1 of each element, as `torch.expm1`; integers are converted to floats. */
  expm1(): T;
  /** expm1, in place; returns this tensor. */
  expm1_(): T;
  /** log of each element, as `torch.log`; integers are converted to floats. */
  log(): T;
  /** log, in place; returns this tensor. */
  log_(): T;
  /** log2 of each element, as `torch.log2`; integers are converted to floats. */
  log2(): T;
  /** log2, in place; returns this tensor. */
  log2_(): T;
  /** log10 of each element, as `torch.log10`; integers are converted to floats. */
  log10(): T;
  /** log10, in place; returns this tensor. */
  log10_(): T;
  /** log1p of each element, as `torch.log1p`; integers are converted to floats. */
  log1p(): T;
  /** log1p, in place; returns this tensor. */
  log1p_(): T;
  /** sin of each element, as `torch.sin`; integers are converted to floats. */
  sin(): T;
  /** sin, in place; returns this tensor. */
  sin_(): T;
  /** cos of each element, as `torch.cos`; integers are converted to floats. */
  cos(): T;
  /** cos, in place; returns this tensor. */
  cos_(): T;
  /** tan of each element, as `torch.tan`; integers are converted to floats. */
  tan(): T;
  /** tan, in place; returns this tensor. */
  tan_(): T;
  /** asin of each element, as `torch.asin`; integers are converted to floats. */
  asin(): T;
  /** asin, in place; returns this tensor. */
  asin_(): T;
  /** asin of each element, as `torch.asin`; integers are converted to floats. */
  arcsin(): T;
  /** arcsin, in place; returns this tensor. */
  arcsin_(): T;
  /** acos of each element, as `torch.acos`; integers are converted to floats. */
  acos(): T;
  /** acos, in place; returns this tensor. */
  acos_(): T;
  /** acos of each element, as `torch.acos`; integers are converted to floats. */
  arccos(): T;
  /** arccos, in place; returns this tensor. */
  arccos_(): T;
  /** atan of each element, as `torch.atan`; integers are converted to floats. */
  atan(): T;
  /** atan, in place; returns this tensor. */
  atan_(): T;
  /** atan of each element, as `torch.atan`; integers are converted to floats. */
  arctan(): T;
  /** arctan, in place; returns this tensor. */
  arctan_(): T;
  /** sinh of each element, as `torch.sinh`; integers are converted to floats. */
  sinh(): T;
  /** sinh, in place; returns this tensor. */
  sinh_(): T;
  /** cosh of each element, as `torch.cosh`; integers are converted to floats. */
  cosh(): T;
  /** cosh, in place; returns this tensor. */
  cosh_(): T;
  /** tanh of each element, as `torch.tanh`; integers are converted to floats. */
  tanh(inplace?: boolean | InplaceOptions, options?: InplaceOptions): T;
  /** tanh, in place; returns this tensor. */
  tanh_(options?: InplaceOptions): T;
  /** asinh of each element, as `torch.asinh`; integers are converted to floats. */
  asinh(): T;
  /** asinh, in place; returns this tensor. */
  asinh_(): T;
  /** asinh of each element, as `torch.asinh`; integers are converted to floats. */
  arcsinh(): T;
  /** arcsinh, in place; returns this tensor. */
  arcsinh_(): T;
  /** acosh of each element, as `torch.acosh`; integers are converted to floats. */
  acosh(): T;
  /** acosh, in place; returns this tensor. */
  acosh_(): T;
  /** acosh of each element, as `torch.acosh`; integers are converted to floats. */
  arccosh(): T;
  /** arccosh, in place; returns this tensor. */
  arccosh_(): T;
  /** atanh of each element, as `torch.atanh`; integers are converted to floats. */
  atanh(): T;
  /** atanh, in place; returns this tensor. */
  atanh_(): T;
  /** atanh of each element, as `torch.atanh`; integers are converted to floats. */
  arctanh(): T;
  /** arctanh, in place; returns this tensor. */
  arctanh_(): T;
  /** erf of each element, as `torch.erf`; integers are converted to floats. */
  erf(): T;
  /** erf, in place; returns this tensor. */
  erf_(): T;
  /** erfc of each element, as `torch.erfc`; integers are converted to floats. */
  erfc(): T;
  /** erfc, in place; returns this tensor. */
  erfc_(): T;
  /** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
  lgamma(): T;
  /** lgamma, in place; returns this tensor. */
  lgamma_(): T;
  /** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
  gammaln(): T;
  /** gammaln, in place; returns this tensor. */
  gammaln_(): T;
  /** sinc of each element, as `torch.sinc`; integers are converted to floats. */
  sinc(): T;
  /** sinc, in place; returns this tensor. */
  sinc_(): T;
  /** deg2rad of each element, as `torch.deg2rad`; integers are converted to floats. */
  deg2rad(): T;
  /** deg2rad, in place; returns this tensor. */
  deg2rad_(): T;
  /** rad2deg of each element, as `torch.rad2deg`; integers are converted to floats. */
  rad2deg(): T;
  /** rad2deg, in place; returns this tensor. */
  rad2deg_(): T;
  /** The maximum of two operands, NaN where either is, as `torch.maximum`. */
  maximum(other: Operand<T>): T;
  /** The minimum of two operands, NaN where either is, as `torch.minimum`. */
  minimum(other: Operand<T>): T;
  /** The maximum of two operands, ignoring NaN, as `torch.fmax`. */
  fmax(other: Operand<T>): T;
  /** The minimum of two operands, ignoring NaN, as `torch.fmin`. */
  fmin(other: Operand<T>): T;
  /** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
  clamp(
    min?: Operand<T> | null | ClampOptions<T>,
    max?: Operand<T> | null | ClampOptions<T>,
    options?: ClampOptions<T>,
  ): T;
  /** clamp, in place; returns this tensor. */
  clamp_(
    min?: Operand<T> | null | ClampOptions<T>,
    max?: Operand<T> | null | ClampOptions<T>,
    options?: ClampOptions<T>,
  ): T;
  /** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
  clip(
    min?: Operand<T> | null | ClampOptions<T>,
    max?: Operand<T> | null | ClampOptions<T>,
    options?: ClampOptions<T>,
  ): T;
  /** clip, in place; returns this tensor. */
  clip_(
    min?: Operand<T> | null | ClampOptions<T>,
    max?: Operand<T> | null | ClampOptions<T>,
    options?: ClampOptions<T>,
  ): T;
  /** self limited from below, as `torch.clamp_min`. */
  clampMin(min: Operand<T>): T;
  /** clampMin, in place; returns this tensor. */
  clampMin_(min: Operand<T>): T;
  /** self limited from above, as `torch.clamp_max`. */
  clampMax(max: Operand<T>): T;
  /** clampMax, in place; returns this tensor. */
  clampMax_(max: Operand<T>): T;
  /**
   * NaN and the infinities replaced by numbers, by default 0 and the extremes of the type. As
   * `torch.nan_to_num`.
   */
  nanToNum(
    nan?: number | null | NanToNumOptions,
    posinf?: number | null | NanToNumOptions,
    neginf?: number | null | NanToNumOptions,
    options?: NanToNumOptions,
  ): T;
  /** nanToNum, in place; returns this tensor. */
  nanToNum_(
    nan?: number | null | NanToNumOptions,
    posinf?: number | null | NanToNumOptions,
    neginf?: number | null | NanToNumOptions,
    options?: NanToNumOptions,
  ): T;
  /** 0 below 0, 1 above, `other` at 0, as `torch.heaviside`. */
  heaviside(other: Operand<T>): T;
  /** heaviside, in place; returns this tensor. */
  heaviside_(other: Operand<T>): T;
  /** max(self, 0), where −0 and NaN stay what they are, as `torch.relu`. */
  relu(inplace?: boolean | InplaceOptions, options?: InplaceOptions): T;
  /** relu, in place; returns this tensor. */
  relu_(options?: InplaceOptions): T;
  /** relu6, in place; returns this tensor. */
  relu6_(options?: InplaceOptions): T;
  /** hardtanh, in place; returns this tensor. */
  hardtanh_(
    minVal?: number | HardtanhOptions,
    maxVal?: number | HardtanhOptions,
    options?: HardtanhOptions,
  ): T;
  /** leakyRelu, in place; returns this tensor. */
  leakyRelu_(negativeSlope?: number | LeakyReluOptions, options?: LeakyReluOptions): T;
  /** threshold, in place; returns this tensor. */
  threshold_(threshold: number, value: number, options?: InplaceOptions): T;
  /** threshold, in place; returns this tensor. */
  threshold_(named: { readonly threshold: number; readonly value: number } & InplaceOptions): T;
  /** threshold, in place; returns this tensor. */
  threshold_(threshold: number, named: { readonly value: number } & InplaceOptions): T;
  /** self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`. */
  prelu(weight: T): T;
  /** hardsigmoid, in place; returns this tensor. */
  hardsigmoid_(options?: InplaceOptions): T;
  /** hardswish, in place; returns this tensor. */
  hardswish_(options?: InplaceOptions): T;
  /** 0 within lambd of 0, else self, as `nn.functional.hardshrink`. */
  hardshrink(lambd?: number | LambdOptions, options?: LambdOptions): T;
  /** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
  sum(dim?: IntOrInts | null | SumOptions, keepdim?: boolean | SumOptions, options?: SumOptions): T;
  /** The mean over dimensions, of floats, as `torch.mean`. */
  mean(dim?: IntOrInts | null | SumOptions, keepdim?: boolean | SumOptions, options?: SumOptions): T;
  /** The product over all elements or one dimension, as `torch.prod`. */
  prod(dim?: number | null | ProdOptions, keepdim?: boolean | ProdOptions, options?: ProdOptions): T;
  /** The maximum over dimensions; NaN where there is one. As `torch.amax`. */
  amax(
    dim?: IntOrInts | null | DimKeepdimOptions,
    keepdim?: boolean | DimKeepdimOptions,
    options?: DimKeepdimOptions,
  ): T;
  /** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
  amin(
    dim?: IntOrInts | null | DimKeepdimOptions,
    keepdim?: boolean | DimKeepdimOptions,
    options?: DimKeepdimOptions,
  ): T;
  /** The index of the first maximum over one dimension, or in the flattened tensor. As `torch.argmax`. */
  argmax(dim?: number | null | ArgmaxOptions, keepdim?: boolean | ArgmaxOptions, options?: ArgmaxOptions): T;
  /** The index of the first minimum over one dimension, or in the flattened tensor. As `torch.argmin`. */
  argmin(dim?: number | null | ArgmaxOptions, keepdim?: boolean | ArgmaxOptions, options?: ArgmaxOptions): T;
  /** True where any of the elements over dimensions are not 0, as `torch.any`. */
  any(
    dim?: IntOrInts | null | DimKeepdimOptions,
    keepdim?: boolean | DimKeepdimOptions,
    options?: DimKeepdimOptions,
  ): T;
  /** True where all of the elements over dimensions are not 0, as `torch.all`. */
  all(
    dim?: IntOrInts | null | DimKeepdimOptions,
    keepdim?: boolean | DimKeepdimOptions,
    options?: DimKeepdimOptions,
  ): T;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(other: T): T;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(
    dim: number,
    keepdim?: boolean | MaxOptions<T>,
    options?: MaxOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(options: MaxOptions<T> & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(dim?: null | MaxOptions<T>, keepdim?: boolean): T;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(other: T): T;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(
    dim: number,
    keepdim?: boolean | MaxOptions<T>,
    options?: MaxOptions<T>,
  ): Results<T, ["values", "indices"]>;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(options: MaxOptions<T> & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(dim?: null | MaxOptions<T>, keepdim?: boolean): T;
  /** The number of elements over dimensions that are not 0, as `torch.count_nonzero`. */
  countNonzero(dim?: IntOrInts | null | DimOptions, options?: DimOptions): T;
  /** The sum over dimensions, ignoring NaN, as `torch.nansum`. */
  nansum(dim?: IntOrInts | null | SumOptions, keepdim?: boolean | SumOptions, options?: SumOptions): T;
  /** The mean over dimensions, ignoring NaN, as `torch.nanmean`. */
  nanmean(dim?: IntOrInts | null | SumOptions, keepdim?: boolean | SumOptions, options?: SumOptions): T;
  /** As zeros, of the type and device of `self`. */
  newZeros(size: readonly Dim[], options?: ZerosOptions): T;
  /** As zeros, of the type and device of `self`. */
  newZeros(...size: (Dim | ZerosOptions)[]): T;
  /** As zeros, of the type and device of `self`. */
  newZeros(named: { readonly size: readonly Dim[] } & ZerosOptions): T;
  /** As ones, of the type and device of `self`. */
  newOnes(size: readonly Dim[], options?: ZerosOptions): T;
  /** As ones, of the type and device of `self`. */
  newOnes(...size: (Dim | ZerosOptions)[]): T;
  /** As ones, of the type and device of `self`. */
  newOnes(named: { readonly size: readonly Dim[] } & ZerosOptions): T;
  /** As empty, of the type and device of `self`. */
  newEmpty(size: readonly Dim[], options?: ZerosOptions): T;
  /** As empty, of the type and device of `self`. */
  newEmpty(...size: (Dim | ZerosOptions)[]): T;
  /** As empty, of the type and device of `self`. */
  newEmpty(named: { readonly size: readonly Dim[] } & ZerosOptions): T;
  /** As full, of the type and device of `self`. */
  newFull(size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: ZerosOptions): T;
  /** As full, of the type and device of `self`. */
  newFull(
    named: { readonly size: readonly Dim[]; readonly fillValue: Scalar | Dim | Complex } & ZerosOptions,
  ): T;
  /** As full, of the type and device of `self`. */
  newFull(size: readonly Dim[], named: { readonly fillValue: Scalar | Dim | Complex } & ZerosOptions): T;
  /** A tensor of the shape and type of `self` with every element `value`, as `torch.fill`. */
  fill(value: Operand<T>): T;
  /** fill, in place; returns this tensor. */
  fill_(value: Operand<T>): T;
  /** zero, in place; returns this tensor. */
  zero_(): T;
  /** The elements as float32, as `Tensor.float`. */
  float(): T;
  /** The elements as float64, as `Tensor.double`. */
  double(): T;
  /** The elements as int64, as `Tensor.long`. */
  long(): T;
  /** The elements as int32, as `Tensor.int`. */
  int(): T;
  /** The elements as float16, as `Tensor.half`. */
  half(): T;
  /** The elements as bfloat16, as `Tensor.bfloat16`. */
  bfloat16(): T;
  /** The elements as int16, as `Tensor.short`. */
  short(): T;
  /** The elements as int8, as `Tensor.char`. */
  char(): T;
  /** The elements as uint8, as `Tensor.byte`. */
  byte(): T;
  /** The elements as bool, as `Tensor.bool`. */
  bool(): T;
  /** A copy of the elements, as `torch.clone`. */
  clone(): T;
  /** copy, in place; returns this tensor. */
  copy_(src: Operand<T>, nonBlocking?: boolean | CopyOptions, options?: CopyOptions): T;
  /** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
  view(size: readonly Dim[]): T;
  /** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
  view(...size: Dim[]): T;
  /** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
  view(named: { readonly size: readonly Dim[] }): T;
  /** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
  reshape(shape: readonly Dim[]): T;
  /** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
  reshape(...shape: Dim[]): T;
  /** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
  reshape(named: { readonly shape: readonly Dim[] }): T;
  /** Itself if its elements are in row-major order, else a row-major copy. As `Tensor.contiguous`. */
  contiguous(): T;
  /** The dimensions in another order, as `torch.permute`. */
  permute(dims: readonly number[]): T;
  /** The dimensions in another order, as `torch.permute`. */
  permute(...dims: number[]): T;
  /** The dimensions in another order, as `torch.permute`. */
  permute(named: { readonly dims: readonly number[] }): T;
  /** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
  squeeze(dim?: IntOrInts | null | DimOptions, options?: DimOptions): T;
  /** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
  squeeze(...dim: (number | DimOptions)[]): T;
  /** squeeze, whose layout this tensor adopts; returns this tensor. */
  squeeze_(dim?: IntOrInts | null | DimOptions, options?: DimOptions): T;
  /** squeeze, whose layout this tensor adopts; returns this tensor. */
  squeeze_(...dim: (number | DimOptions)[]): T;
  /** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
  unsqueeze(dim: number): T;
  /** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
  unsqueeze(named: { readonly dim: number }): T;
  /** unsqueeze, whose layout this tensor adopts; returns this tensor. */
  unsqueeze_(dim: number): T;
  /** unsqueeze, whose layout this tensor adopts; returns this tensor. */
  unsqueeze_(named: { readonly dim: number }): T;
  /** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
  expand(size: readonly Dim[], options?: ImplicitOptions): T;
  /** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
  expand(...size: (Dim | ImplicitOptions)[]): T;
  /** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
  expand(named: { readonly size: readonly Dim[] } & ImplicitOptions): T;
  /** The part at `index` along `dim`, without that dimension, as `torch.select`. */
  select(dim: number, index: Dim): T;
  /** The part at `index` along `dim`, without that dimension, as `torch.select`. */
  select(named: { readonly dim: number; readonly index: Dim }): T;
  /** The part at `index` along `dim`, without that dimension, as `torch.select`. */
  select(dim: number, named: { readonly index: Dim }): T;
  /** The elements start, start + step, … before end along `dim`, as x[start:end:step]. */
  slice(
    dim?: number | SliceOptions,
    start?: Dim | null | SliceOptions,
    end?: Dim | null | SliceOptions,
    step?: number | SliceOptions,
    options?: SliceOptions,
  ): T;
  /** The diagonal of two dimensions as a new last dimension, as `torch.diagonal`. */
  diagonal(
    offset?: Dim | DiagonalOptions,
    dim1?: number | DiagonalOptions,
    dim2?: number | DiagonalOptions,
    options?: DiagonalOptions,
  ): T;
  /** The same elements, sharing memory, without a history of gradients, as `Tensor.detach`. */
  detach(): T;
  /**
   * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension.
   * As `Tensor.unfold`.
   */
  unfold(dimension: number, size: Dim, step: Dim): T;
  /**
   * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension.
   * As `Tensor.unfold`.
   */
  unfold(named: { readonly dimension: number; readonly size: Dim; readonly step: Dim }): T;
  /**
   * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension.
   * As `Tensor.unfold`.
   */
  unfold(dimension: number, named: { readonly size: Dim; readonly step: Dim }): T;
  /**
   * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension.
   * As `Tensor.unfold`.
   */
  unfold(dimension: number, size: Dim, named: { readonly step: Dim }): T;
  /** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
  asStrided(
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): T;
  /** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
  asStrided(
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): T;
  /** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
  asStrided(size: readonly Dim[], named: { readonly stride: readonly Dim[] } & StorageOffsetOptions): T;
  /** asStrided, whose layout this tensor adopts; returns this tensor. */
  asStrided_(
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): T;
  /** asStrided, whose layout this tensor adopts; returns this tensor. */
  asStrided_(
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): T;
  /** asStrided, whose layout this tensor adopts; returns this tensor. */
  asStrided_(size: readonly Dim[], named: { readonly stride: readonly Dim[] } & StorageOffsetOptions): T;
  /** self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`. */
  selectScatter(src: T, dim: number, index: Dim): T;
  /** self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`. */
  selectScatter(src: T, named: { readonly dim: number; readonly index: Dim }): T;
  /** self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`. */
  selectScatter(src: T, dim: number, named: { readonly index: Dim }): T;
  /** self with the elements of slice(dim, start, end, step) replaced by `src`, as `torch.slice_scatter`. */
  sliceScatter(
    src: T,
    dim?: number | SliceOptions,
    start?: Dim | null | SliceOptions,
    end?: Dim | null | SliceOptions,
    step?: number | SliceOptions,
    options?: SliceOptions,
  ): T;
  /** self with the elements of diagonal(offset, dim1, dim2) replaced by `src`, as `torch.diagonal_scatter`. */
  diagonalScatter(
    src: T,
    offset?: Dim | DiagonalOptions,
    dim1?: number | DiagonalOptions,
    dim2?: number | DiagonalOptions,
    options?: DiagonalOptions,
  ): T;
  /** The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`. */
  diagEmbed(
    offset?: Dim | DiagEmbedOptions,
    dim1?: number | DiagEmbedOptions,
    dim2?: number | DiagEmbedOptions,
    options?: DiagEmbedOptions,
  ): T;
  /**
   * self, a row-major tensor, with the elements of asStrided replaced by `src`, as
   * `torch.as_strided_scatter`. Its gradient is PyTorch's, which is not the derivative: self gets that of
   * the elements that were replaced.
   */
  asStridedScatter(
    src: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    storageOffset?: Dim | null | StorageOffsetOptions,
    options?: StorageOffsetOptions,
  ): T;
  /**
   * self, a row-major tensor, with the elements of asStrided replaced by `src`, as
   * `torch.as_strided_scatter`. Its gradient is PyTorch's, which is not the derivative: self gets that of
   * the elements that were replaced.
   */
  asStridedScatter(
    src: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): T;
  /**
   * self, a row-major tensor, with the elements of asStrided replaced by `src`, as
   * `torch.as_strided_scatter`. Its gradient is PyTorch's, which is not the derivative: self gets that of
   * the elements that were replaced.
   */
  asStridedScatter(
    src: T,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & StorageOffsetOptions,
  ): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  transpose(dim0: number, dim1: number): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  transpose(named: { readonly dim0: number; readonly dim1: number }): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  transpose(dim0: number, named: { readonly dim1: number }): T;
  /** transpose, whose layout this tensor adopts; returns this tensor. */
  transpose_(dim0: number, dim1: number): T;
  /** transpose, whose layout this tensor adopts; returns this tensor. */
  transpose_(named: { readonly dim0: number; readonly dim1: number }): T;
  /** transpose, whose layout this tensor adopts; returns this tensor. */
  transpose_(dim0: number, named: { readonly dim1: number }): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  swapdims(dim0: number, dim1: number): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  swapdims(named: { readonly dim0: number; readonly dim1: number }): T;
  /** Two dimensions exchanged, as `torch.transpose`. */
  swapdims(dim0: number, named: { readonly dim1: number }): T;
  /** swapdims, whose layout this tensor adopts; returns this tensor. */
  swapdims_(dim0: number, dim1: number): T;
  /** swapdims, whose layout this tensor adopts; returns this tensor. */
  swapdims_(named: { readonly dim0: number; readonly dim1: number }): T;
  /** swapdims, whose layout this tensor adopts; returns this tensor. */
  swapdims_(dim0: number, named: { readonly dim1: number }): T;
  /** `transpose`, by NumPy's names of its arguments, as `torch.swapaxes`. */
  swapaxes(axis0: number, axis1: number): T;
  /** `transpose`, by NumPy's names of its arguments, as `torch.swapaxes`. */
  swapaxes(named: { readonly axis0: number; readonly axis1: number }): T;
  /** `transpose`, by NumPy's names of its arguments, as `torch.swapaxes`. */
  swapaxes(axis0: number, named: { readonly axis1: number }): T;
  /** swapaxes, whose layout this tensor adopts; returns this tensor. */
  swapaxes_(axis0: number, axis1: number): T;
  /** swapaxes, whose layout this tensor adopts; returns this tensor. */
  swapaxes_(named: { readonly axis0: number; readonly axis1: number }): T;
  /** swapaxes, whose layout this tensor adopts; returns this tensor. */
  swapaxes_(axis0: number, named: { readonly axis1: number }): T;
  /** A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`. */
  t(): T;
  /** t, whose layout this tensor adopts; returns this tensor. */
  t_(): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  movedim(source: IntOrInts, destination: IntOrInts): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  movedim(named: { readonly source: IntOrInts; readonly destination: IntOrInts }): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  movedim(source: IntOrInts, named: { readonly destination: IntOrInts }): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  moveaxis(source: IntOrInts, destination: IntOrInts): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  moveaxis(named: { readonly source: IntOrInts; readonly destination: IntOrInts }): T;
  /** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
  moveaxis(source: IntOrInts, named: { readonly destination: IntOrInts }): T;
  /** The dimensions from startDim to endDim as one, as `torch.flatten`. */
  flatten(startDim?: number | FlattenOptions, endDim?: number | FlattenOptions, options?: FlattenOptions): T;
  /** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
  unflatten(dim: number, sizes: readonly Dim[]): T;
  /** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
  unflatten(named: { readonly dim: number; readonly sizes: readonly Dim[] }): T;
  /** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
  unflatten(dim: number, named: { readonly sizes: readonly Dim[] }): T;
  /** As view, in the shape of `other`. */
  viewAs(other: T): T;
  /** As reshape, in the shape of `other`. */
  reshapeAs(other: T): T;
  /** As expand, in the shape of `other`. */
  expandAs(other: T): T;
  /** As expand, as `torch.broadcast_to`. */
  broadcastTo(size: readonly Dim[]): T;
  /** As expand, as `torch.broadcast_to`. */
  broadcastTo(named: { readonly size: readonly Dim[] }): T;
  /** `length` elements from `start` along a dimension, as `torch.narrow`. */
  narrow(dim: number, start: Dim, length: Dim): T;
  /** `length` elements from `start` along a dimension, as `torch.narrow`. */
  narrow(named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): T;
  /** `length` elements from `start` along a dimension, as `torch.narrow`. */
  narrow(dim: number, named: { readonly start: Dim; readonly length: Dim }): T;
  /** `length` elements from `start` along a dimension, as `torch.narrow`. */
  narrow(dim: number, start: Dim, named: { readonly length: Dim }): T;
  /** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
  split(
    splitSize: Dim | readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): T[];
  /** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
  split(named: { readonly splitSize: Dim | readonly Dim[] } & SplitWithSizesCopyOptions): T[];
  /** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
  splitWithSizes(
    splitSizes: readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): T[];
  /** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
  splitWithSizes(named: { readonly splitSizes: readonly Dim[] } & SplitWithSizesCopyOptions): T[];
  /** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
  chunk(chunks: number, dim?: number | SplitWithSizesCopyOptions, options?: SplitWithSizesCopyOptions): T[];
  /** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
  chunk(named: { readonly chunks: number } & SplitWithSizesCopyOptions): T[];
  /** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
  tensorSplit(
    indicesOrSections: Dim | readonly Dim[],
    dim?: number | SplitWithSizesCopyOptions,
    options?: SplitWithSizesCopyOptions,
  ): T[];
  /** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
  tensorSplit(named: { readonly indicesOrSections: Dim | readonly Dim[] } & SplitWithSizesCopyOptions): T[];
  /** Parts along a dimension, as `torch.hsplit`. */
  hsplit(indicesOrSections: IntOrInts): T[];
  /** Parts along a dimension, as `torch.hsplit`. */
  hsplit(named: { readonly indicesOrSections: IntOrInts }): T[];
  /** Parts along a dimension, as `torch.vsplit`. */
  vsplit(indicesOrSections: IntOrInts): T[];
  /** Parts along a dimension, as `torch.vsplit`. */
  vsplit(named: { readonly indicesOrSections: IntOrInts }): T[];
  /** Parts along a dimension, as `torch.dsplit`. */
  dsplit(indicesOrSections: IntOrInts): T[];
  /** Parts along a dimension, as `torch.dsplit`. */
  dsplit(named: { readonly indicesOrSections: IntOrInts }): T[];
  /** All parts along a dimension, without it, as `torch.unbind`. */
  unbind(dim?: number | SplitWithSizesCopyOptions, options?: SplitWithSizesCopyOptions): T[];
  /**
   * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
   * `torch.gather`.
   */
  gather(dim: number, index: T, options?: GatherOptions): T;
  /**
   * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
   * `torch.gather`.
   */
  gather(named: { readonly dim: number; readonly index: T } & GatherOptions): T;
  /**
   * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
   * `torch.gather`.
   */
  gather(dim: number, named: { readonly index: T } & GatherOptions): T;
  /**
   * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
   * "multiply" combines instead. As `torch.scatter`.
   */
  scatter(
    dim: number,
    index: T,
    src?: Operand<T> | null | ScatterOptions<T>,
    value?: Scalar | Dim | null | ScatterOptions<T>,
    options?: ScatterOptions<T>,
  ): T;
  /**
   * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
   * "multiply" combines instead. As `torch.scatter`.
   */
  scatter(named: { readonly dim: number; readonly index: T } & ScatterOptions<T>): T;
  /**
   * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
   * "multiply" combines instead. As `torch.scatter`.
   */
  scatter(dim: number, named: { readonly index: T } & ScatterOptions<T>): T;
  /** scatter, in place; returns this tensor. */
  scatter_(
    dim: number,
    index: T,
    src?: Operand<T> | null | ScatterOptions<T>,
    value?: Scalar | Dim | null | ScatterOptions<T>,
    options?: ScatterOptions<T>,
  ): T;
  /** scatter, in place; returns this tensor. */
  scatter_(named: { readonly dim: number; readonly index: T } & ScatterOptions<T>): T;
  /** scatter, in place; returns this tensor. */
  scatter_(dim: number, named: { readonly index: T } & ScatterOptions<T>): T;
  /** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
  scatterAdd(dim: number, index: T, src: T): T;
  /** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
  scatterAdd(named: { readonly dim: number; readonly index: T; readonly src: T }): T;
  /** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
  scatterAdd(dim: number, named: { readonly index: T; readonly src: T }): T;
  /** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
  scatterAdd(dim: number, index: T, named: { readonly src: T }): T;
  /** scatterAdd, in place; returns this tensor. */
  scatterAdd_(dim: number, index: T, src: T): T;
  /** scatterAdd, in place; returns this tensor. */
  scatterAdd_(named: { readonly dim: number; readonly index: T; readonly src: T }): T;
  /** scatterAdd, in place; returns this tensor. */
  scatterAdd_(dim: number, named: { readonly index: T; readonly src: T }): T;
  /** scatterAdd, in place; returns this tensor. */
  scatterAdd_(dim: number, index: T, named: { readonly src: T }): T;
  /** Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`. */
  take(index: T): T;
  /** self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`. */
  put(index: T, source: T, accumulate?: boolean | AccumulateOptions, options?: AccumulateOptions): T;
  /** put, in place; returns this tensor. */
  put_(index: T, source: T, accumulate?: boolean | AccumulateOptions, options?: AccumulateOptions): T;
  /** As gather with broadcasting; without `dim`, of the flattened tensor. As `torch.take_along_dim`. */
  takeAlongDim(indices: T, dim?: number | null | TakeAlongDimOptions, options?: TakeAlongDimOptions): T;
  /** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
  indexSelect(dim: number, index: T): T;
  /** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
  indexSelect(named: { readonly dim: number; readonly index: T }): T;
  /** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
  indexSelect(dim: number, named: { readonly index: T }): T;
  /** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
  indexAdd(dim: number, index: T, source: T, options?: AlphaOptions): T;
  /** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
  indexAdd(named: { readonly dim: number; readonly index: T; readonly source: T } & AlphaOptions): T;
  /** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
  indexAdd(dim: number, named: { readonly index: T; readonly source: T } & AlphaOptions): T;
  /** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
  indexAdd(dim: number, index: T, named: { readonly source: T } & AlphaOptions): T;
  /** indexAdd, in place; returns this tensor. */
  indexAdd_(dim: number, index: T, source: T, options?: AlphaOptions): T;
  /** indexAdd, in place; returns this tensor. */
  indexAdd_(named: { readonly dim: number; readonly index: T; readonly source: T } & AlphaOptions): T;
  /** indexAdd, in place; returns this tensor. */
  indexAdd_(dim: number, named: { readonly index: T; readonly source: T } & AlphaOptions): T;
  /** indexAdd, in place; returns this tensor. */
  indexAdd_(dim: number, index: T, named: { readonly source: T } & AlphaOptions): T;
  /** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
  indexCopy(dim: number, index: T, source: T): T;
  /** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
  indexCopy(named: { readonly dim: number; readonly index: T; readonly source: T }): T;
  /** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
  indexCopy(dim: number, named: { readonly index: T; readonly source: T }): T;
  /** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
  indexCopy(dim: number, index: T, named: { readonly source: T }): T;
  /** indexCopy, in place; returns this tensor. */
  indexCopy_(dim: number, index: T, source: T): T;
  /** indexCopy, in place; returns this tensor. */
  indexCopy_(named: { readonly dim: number; readonly index: T; readonly source: T }): T;
  /** indexCopy, in place; returns this tensor. */
  indexCopy_(dim: number, named: { readonly index: T; readonly source: T }): T;
  /** indexCopy, in place; returns this tensor. */
  indexCopy_(dim: number, index: T, named: { readonly source: T }): T;
  /**
   * self with one value at a vector of indices, which may be negative, along a dimension, as
   * `torch.index_fill`.
   */
  indexFill(dim: number, index: T, value: Operand<T>): T;
  /**
   * self with one value at a vector of indices, which may be negative, along a dimension, as
   * `torch.index_fill`.
   */
  indexFill(named: { readonly dim: number; readonly index: T; readonly value: Operand<T> }): T;
  /**
   * self with one value at a vector of indices, which may be negative, along a dimension, as
   * `torch.index_fill`.
   */
  indexFill(dim: number, named: { readonly index: T; readonly value: Operand<T> }): T;
  /**
   * self with one value at a vector of indices, which may be negative, along a dimension, as
   * `torch.index_fill`.
   */
  indexFill(dim: number, index: T, named: { readonly value: Operand<T> }): T;
  /** indexFill, in place; returns this tensor. */
  indexFill_(dim: number, index: T, value: Operand<T>): T;
  /** indexFill, in place; returns this tensor. */
  indexFill_(named: { readonly dim: number; readonly index: T; readonly value: Operand<T> }): T;
  /** indexFill, in place; returns this tensor. */
  indexFill_(dim: number, named: { readonly index: T; readonly value: Operand<T> }): T;
  /** indexFill, in place; returns this tensor. */
  indexFill_(dim: number, index: T, named: { readonly value: Operand<T> }): T;
  /** self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`. */
  indexPut(
    indices: readonly (T | null)[],
    values: T,
    accumulate?: boolean | AccumulateOptions,
    options?: AccumulateOptions,
  ): T;
  /** indexPut, in place; returns this tensor. */
  indexPut_(
    indices: readonly (T | null)[],
    values: T,
    accumulate?: boolean | AccumulateOptions,
    options?: AccumulateOptions,
  ): T;
  /** The elements where the mask (broadcast) is true, in order, as `torch.masked_select`. */
  maskedSelect(mask: T): T;
  /** self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`. */
  maskedScatter(mask: T, source: T): T;
  /** maskedScatter, in place; returns this tensor. */
  maskedScatter_(mask: T, source: T): T;
  /** Reversed along dimensions, as `torch.flip`. */
  flip(dims: IntOrInts): T;
  /** Reversed along dimensions, as `torch.flip`. */
  flip(...dims: number[]): T;
  /** Reversed along dimensions, as `torch.flip`. */
  flip(named: { readonly dims: IntOrInts }): T;
  /** Reversed along dimension 1, as `torch.fliplr`. */
  fliplr(): T;
  /** Reversed along dimension 0, as `torch.flipud`. */
  flipud(): T;
  /** Rolled along dimensions, by default along the flattened tensor, as `torch.roll`. */
  roll(shifts: Dim | readonly Dim[], dims?: IntOrInts | null | RollOptions, options?: RollOptions): T;
  /** Rolled along dimensions, by default along the flattened tensor, as `torch.roll`. */
  roll(named: { readonly shifts: Dim | readonly Dim[] } & RollOptions): T;
  /** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
  repeat(repeats: readonly Dim[]): T;
  /** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
  repeat(...repeats: Dim[]): T;
  /** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
  repeat(named: { readonly repeats: readonly Dim[] }): T;
  /** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
  tile(dims: readonly Dim[]): T;
  /** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
  tile(...dims: Dim[]): T;
  /** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
  tile(named: { readonly dims: readonly Dim[] }): T;
  /**
   * Each element (along `dim`, or flattened) repeated in place; one number, or one for each (the size of
   * the result then depends on elements, unless `outputSize` states it). Without `repeats` the index of
   * each element, as often as it says. As `torch.repeat_interleave`.
   */
  repeatInterleave(
    repeats?: Operand<T> | null | RepeatInterleaveOptions<T>,
    dim?: number | null | RepeatInterleaveOptions<T>,
    options?: RepeatInterleaveOptions<T>,
  ): T;
  /** Turned by k quarters in the plane of two dimensions, as `torch.rot90`. */
  rot90(k?: number | Rot90Options, dims?: readonly number[] | Rot90Options, options?: Rot90Options): T;
  /** The lower triangle of matrices from a diagonal on, as `torch.tril`. */
  tril(diagonal?: Dim | TrilOptions, options?: TrilOptions): T;
  /** tril, in place; returns this tensor. */
  tril_(diagonal?: Dim | TrilOptions, options?: TrilOptions): T;
  /** The upper triangle of matrices from a diagonal on, as `torch.triu`. */
  triu(diagonal?: Dim | TrilOptions, options?: TrilOptions): T;
  /** triu, in place; returns this tensor. */
  triu_(diagonal?: Dim | TrilOptions, options?: TrilOptions): T;
  /** The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`. */
  diag(diagonal?: number | DiagOptions, options?: DiagOptions): T;
  /** Running sums along a dimension, as `torch.cumsum`. */
  cumsum(dim: number, options?: DtypeOptions): T;
  /** Running sums along a dimension, as `torch.cumsum`. */
  cumsum(named: { readonly dim: number } & DtypeOptions): T;
  /** cumsum, in place; returns this tensor. */
  cumsum_(dim: number, options?: DtypeOptions): T;
  /** cumsum, in place; returns this tensor. */
  cumsum_(named: { readonly dim: number } & DtypeOptions): T;
  /** Running products along a dimension, as `torch.cumprod`. */
  cumprod(dim: number, options?: DtypeOptions): T;
  /** Running products along a dimension, as `torch.cumprod`. */
  cumprod(named: { readonly dim: number } & DtypeOptions): T;
  /** cumprod, in place; returns this tensor. */
  cumprod_(dim: number, options?: DtypeOptions): T;
  /** cumprod, in place; returns this tensor. */
  cumprod_(named: { readonly dim: number } & DtypeOptions): T;
  /** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
  logcumsumexp(dim: number): T;
  /** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
  logcumsumexp(named: { readonly dim: number }): T;
  /** The maximum so far along a dimension, and its last index, as `torch.cummax`. */
  cummax(dim: number): Results<T, ["values", "indices"]>;
  /** The maximum so far along a dimension, and its last index, as `torch.cummax`. */
  cummax(named: { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The minimum so far along a dimension, and its last index, as `torch.cummin`. */
  cummin(dim: number): Results<T, ["values", "indices"]>;
  /** The minimum so far along a dimension, and its last index, as `torch.cummin`. */
  cummin(named: { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The angle of the point (other, self), as `torch.atan2`. */
  atan2(other: Operand<T>): T;
  /** atan2, in place; returns this tensor. */
  atan2_(other: Operand<T>): T;
  /** The angle of the point (other, self), as `torch.atan2`. */
  arctan2(other: Operand<T>): T;
  /** arctan2, in place; returns this tensor. */
  arctan2_(other: Operand<T>): T;
  /** √(self² + other²) without overflow, as `torch.hypot`. */
  hypot(other: Operand<T>): T;
  /** hypot, in place; returns this tensor. */
  hypot_(other: Operand<T>): T;
  /** |self| with the sign of `other`, that of −0 included, as `torch.copysign`. */
  copysign(other: Operand<T>): T;
  /** copysign, in place; returns this tensor. */
  copysign_(other: Operand<T>): T;
  /** self · log(other), 0 where self is 0, as `torch.xlogy`. One of them may be a number. */
  xlogy(other: Operand<T>): T;
  /** xlogy, in place; returns this tensor. */
  xlogy_(other: Operand<T>): T;
  /** log(e^self + e^other) without overflow, as `torch.logaddexp`. */
  logaddexp(other: Operand<T>): T;
  /** log(2^self + 2^other) without overflow, as `torch.logaddexp2`. */
  logaddexp2(other: Operand<T>): T;
  /** self + weight · (end − self), exact at both ends, as `torch.lerp`. */
  lerp(end: T, weight: Operand<T>): T;
  /** lerp, in place; returns this tensor. */
  lerp_(end: T, weight: Operand<T>): T;
  /** self + value · tensor1 · tensor2, as `torch.addcmul`. */
  addcmul(tensor1: T, tensor2: T, options?: ValueOptions): T;
  /** addcmul, in place; returns this tensor. */
  addcmul_(tensor1: T, tensor2: T, options?: ValueOptions): T;
  /** self + value · tensor1 / tensor2, as `torch.addcdiv`. */
  addcdiv(tensor1: T, tensor2: T, options?: ValueOptions): T;
  /** addcdiv, in place; returns this tensor. */
  addcdiv_(tensor1: T, tensor2: T, options?: ValueOptions): T;
  /** self · 2^other, as `torch.ldexp`. */
  ldexp(other: T): T;
  /** ldexp, in place; returns this tensor. */
  ldexp_(other: T): T;
  /**
   * The indices of nonzero elements, one row each; with asTuple one vector for each dimension. As
   * `torch.nonzero`.
   */
  nonzero(options: NonzeroOptions & { readonly asTuple: true }): Results<T, ["indices"]>;
  /**
   * The indices of nonzero elements, one row each; with asTuple one vector for each dimension. As
   * `torch.nonzero`.
   */
  nonzero(options?: NonzeroOptions): T;
  /** The indices of nonzero elements, one row each, as `torch.argwhere`. Its size depends on elements. */
  argwhere(): T;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts?: false | UniqueOptions,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(options: UniqueOptions & { readonly returnInverse: true }): Results<T, ["output", "inverseIndices"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueOptions,
    options?: UniqueOptions,
  ): Results<T, ["output", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(options: UniqueOptions & { readonly returnCounts: true }): Results<T, ["output", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
    sorted: boolean | undefined,
    options: UniqueOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  /**
   * Distinct elements, sorted; with returnInverse and returnCounts also the index of each element among
   * them, and their counts. As `torch.unique`.
   */
  unique(
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
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    options: UniqueConsecutiveOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    returnInverse: true,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    options: UniqueConsecutiveOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): Results<T, ["output", "counts"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    options: UniqueConsecutiveOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  /**
   * The elements without consecutive duplicates; with returnInverse and returnCounts also the index of each
   * element among them, and their counts. As `torch.unique_consecutive`.
   */
  uniqueConsecutive(
    returnInverse?: false | UniqueConsecutiveOptions,
    returnCounts?: false | UniqueConsecutiveOptions,
    dim?: number | null | UniqueConsecutiveOptions,
    sorted?: boolean | UniqueConsecutiveOptions,
    options?: UniqueConsecutiveOptions,
  ): T;
  /** The number of occurrences of each integer from 0 on, or the sum of its weights, as `torch.bincount`. */
  bincount(
    weights?: T | null | BincountOptions<T>,
    minlength?: Dim | BincountOptions<T>,
    options?: BincountOptions<T>,
  ): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    dim: number,
    index: T,
    src: T,
    reduce: "sum" | "prod" | "mean" | "amax" | "amin",
    options?: IncludeSelfOptions,
  ): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    named: {
      readonly dim: number;
      readonly index: T;
      readonly src: T;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    dim: number,
    named:
      & { readonly index: T; readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    dim: number,
    index: T,
    named:
      & { readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /**
   * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
   * As `torch.scatter_reduce`.
   */
  scatterReduce(
    dim: number,
    index: T,
    src: T,
    named: { readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /** scatterReduce, in place; returns this tensor. */
  scatterReduce_(
    dim: number,
    index: T,
    src: T,
    reduce: "sum" | "prod" | "mean" | "amax" | "amin",
    options?: IncludeSelfOptions,
  ): T;
  /** scatterReduce, in place; returns this tensor. */
  scatterReduce_(
    named: {
      readonly dim: number;
      readonly index: T;
      readonly src: T;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): T;
  /** scatterReduce, in place; returns this tensor. */
  scatterReduce_(
    dim: number,
    named:
      & { readonly index: T; readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /** scatterReduce, in place; returns this tensor. */
  scatterReduce_(
    dim: number,
    index: T,
    named:
      & { readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /** scatterReduce, in place; returns this tensor. */
  scatterReduce_(
    dim: number,
    index: T,
    src: T,
    named: { readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    dim: number,
    index: T,
    source: T,
    reduce: "prod" | "mean" | "amax" | "amin",
    options?: IncludeSelfOptions,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    named: {
      readonly dim: number;
      readonly index: T;
      readonly source: T;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    dim: number,
    named:
      & { readonly index: T; readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    dim: number,
    index: T,
    named: { readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /**
   * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
   * `torch.index_reduce`.
   */
  indexReduce(
    dim: number,
    index: T,
    source: T,
    named: { readonly reduce: "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /** indexReduce, in place; returns this tensor. */
  indexReduce_(
    dim: number,
    index: T,
    source: T,
    reduce: "prod" | "mean" | "amax" | "amin",
    options?: IncludeSelfOptions,
  ): T;
  /** indexReduce, in place; returns this tensor. */
  indexReduce_(
    named: {
      readonly dim: number;
      readonly index: T;
      readonly source: T;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & IncludeSelfOptions,
  ): T;
  /** indexReduce, in place; returns this tensor. */
  indexReduce_(
    dim: number,
    named:
      & { readonly index: T; readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" }
      & IncludeSelfOptions,
  ): T;
  /** indexReduce, in place; returns this tensor. */
  indexReduce_(
    dim: number,
    index: T,
    named: { readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /** indexReduce, in place; returns this tensor. */
  indexReduce_(
    dim: number,
    index: T,
    source: T,
    named: { readonly reduce: "prod" | "mean" | "amax" | "amin" } & IncludeSelfOptions,
  ): T;
  /** Sorted along a dimension, with the original indices; always stable. As `torch.sort`. */
  sort(
    dim?: number | SortOptions,
    descending?: boolean | SortOptions,
    stable?: boolean | null | SortOptions,
    options?: SortOptions,
  ): Results<T, ["values", "indices"]>;
  /** The indices that sort a dimension, as `torch.argsort`. */
  argsort(
    dim?: number | ArgsortOptions,
    descending?: boolean | ArgsortOptions,
    stable?: boolean | ArgsortOptions,
    options?: ArgsortOptions,
  ): T;
  /** Sorted along the first dimension, as `torch.msort`. */
  msort(): T;
  /** The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`. */
  topk(
    k: Dim,
    dim?: number | TopkOptions,
    largest?: boolean | TopkOptions,
    sorted?: boolean | TopkOptions,
    options?: TopkOptions,
  ): Results<T, ["values", "indices"]>;
  /** The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`. */
  topk(named: { readonly k: Dim } & TopkOptions): Results<T, ["values", "indices"]>;
  /** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
  kthvalue(
    k: Dim,
    dim?: number | KthvalueOptions,
    keepdim?: boolean | KthvalueOptions,
    options?: KthvalueOptions,
  ): Results<T, ["values", "indices"]>;
  /** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
  kthvalue(named: { readonly k: Dim } & KthvalueOptions): Results<T, ["values", "indices"]>;
  /** The lower middle element, NaN if there is one; with `dim` also its index. As `torch.median`. */
  median(
    dim: number,
    keepdim?: boolean | ArgmaxOptions,
    options?: ArgmaxOptions,
  ): Results<T, ["values", "indices"]>;
  /** The lower middle element, NaN if there is one; with `dim` also its index. As `torch.median`. */
  median(options: ArgmaxOptions & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The lower middle element, NaN if there is one; with `dim` also its index. As `torch.median`. */
  median(dim?: null | ArgmaxOptions, keepdim?: boolean): T;
  /** The lower middle element, ignoring NaN; with `dim` also its index. As `torch.nanmedian`. */
  nanmedian(
    dim: number,
    keepdim?: boolean | ArgmaxOptions,
    options?: ArgmaxOptions,
  ): Results<T, ["values", "indices"]>;
  /** The lower middle element, ignoring NaN; with `dim` also its index. As `torch.nanmedian`. */
  nanmedian(options: ArgmaxOptions & { readonly dim: number }): Results<T, ["values", "indices"]>;
  /** The lower middle element, ignoring NaN; with `dim` also its index. As `torch.nanmedian`. */
  nanmedian(dim?: null | ArgmaxOptions, keepdim?: boolean): T;
  /** The q-quantiles of all elements or of a dimension, as `torch.quantile`. */
  quantile(
    q: Operand<T>,
    dim?: number | null | QuantileOptions,
    keepdim?: boolean | QuantileOptions,
    options?: QuantileOptions,
  ): T;
  /** The q-quantiles of all elements or of a dimension, as `torch.nanquantile`. */
  nanquantile(
    q: Operand<T>,
    dim?: number | null | QuantileOptions,
    keepdim?: boolean | QuantileOptions,
    options?: QuantileOptions,
  ): T;
  /** The derivative of lgamma, as `torch.digamma`. */
  digamma(): T;
  /** digamma, in place; returns this tensor. */
  digamma_(): T;
  /** The derivative of lgamma, as `torch.digamma`. */
  psi(): T;
  /** psi, in place; returns this tensor. */
  psi_(): T;
  /** The inverse of erf, as `torch.erfinv`. */
  erfinv(): T;
  /** erfinv, in place; returns this tensor. */
  erfinv_(): T;
  /** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
  mvlgamma(p: number): T;
  /** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
  mvlgamma(named: { readonly p: number }): T;
  /** mvlgamma, in place; returns this tensor. */
  mvlgamma_(p: number): T;
  /** mvlgamma, in place; returns this tensor. */
  mvlgamma_(named: { readonly p: number }): T;
  /** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
  multigammaln(p: number): T;
  /** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
  multigammaln(named: { readonly p: number }): T;
  /** multigammaln, in place; returns this tensor. */
  multigammaln_(p: number): T;
  /** multigammaln, in place; returns this tensor. */
  multigammaln_(named: { readonly p: number }): T;
  /** The modified Bessel function of order 0, as `torch.i0`. */
  i0(): T;
  /** i0, in place; returns this tensor. */
  i0_(): T;
  /**
   * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed
   * on the host.
   */
  igamma(other: T): T;
  /** igamma, in place; returns this tensor. */
  igamma_(other: T): T;
  /**
   * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed
   * on the host.
   */
  gammainc(other: T): T;
  /** gammainc, in place; returns this tensor. */
  gammainc_(other: T): T;
  /**
   * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
   * on the host.
   */
  igammac(other: T): T;
  /** igammac, in place; returns this tensor. */
  igammac_(other: T): T;
  /**
   * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
   * on the host.
   */
  gammaincc(other: T): T;
  /** gammaincc, in place; returns this tensor. */
  gammaincc_(other: T): T;
  /** silu, in place; returns this tensor. */
  silu_(options?: InplaceOptions): T;
  /** mish, in place; returns this tensor. */
  mish_(options?: InplaceOptions): T;
  /** elu, in place; returns this tensor. */
  elu_(alpha?: number | AlphaInplaceOptions, options?: AlphaInplaceOptions): T;
  /** celu, in place; returns this tensor. */
  celu_(alpha?: number | AlphaInplaceOptions, options?: AlphaInplaceOptions): T;
  /** selu, in place; returns this tensor. */
  selu_(options?: InplaceOptions): T;
  /** cauchy, in place; returns this tensor. */
  cauchy_(median?: number | CauchyOptions, sigma?: number | CauchyOptions, options?: CauchyOptions): T;
  /** logNormal, in place; returns this tensor. */
  logNormal_(
    mean?: number | LogNormalOptions,
    std?: number | LogNormalOptions,
    options?: LogNormalOptions,
  ): T;
  /** geometric, in place; returns this tensor. */
  geometric_(p: number, options?: GeometricOptions): T;
  /** random, in place; returns this tensor. */
  random_(from?: number | RandomOptions, to?: number | null | RandomOptions, options?: RandomOptions): T;
  /** fillDiagonal, in place; returns this tensor. */
  fillDiagonal_(
    fillValue: Scalar | Dim,
    wrap?: boolean | FillDiagonalOptions,
    options?: FillDiagonalOptions,
  ): T;
  /**
   * 1 with the probability in `self` (or p), else 0, as `torch.bernoulli`; `bernoulli_` has p = 0.5 unless
   * it is given. Elements outside of [0, 1] are refused on the CPU.
   */
  bernoulli(p?: Operand<T> | null | BernoulliOptions<T>, options?: BernoulliOptions<T>): T;
  /** bernoulli, in place; returns this tensor. */
  bernoulli_(p?: Operand<T> | null | BernoulliOptions<T>, options?: BernoulliOptions<T>): T;
  /** uniform, in place; returns this tensor. */
  uniform_(from?: number | UniformOptions, to?: number | UniformOptions, options?: UniformOptions): T;
  /** normal, in place; returns this tensor. */
  normal_(mean?: number | NormalOptions, std?: number | NormalOptions, options?: NormalOptions): T;
  /** exponential, in place; returns this tensor. */
  exponential_(lambd?: number | ExponentialOptions, options?: ExponentialOptions): T;
  /**
   * Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. Throws
   * DynError for a row that is all zero, and for weights that are negative or not finite.
   */
  multinomial(numSamples: Dim, replacement?: boolean | MultinomialOptions, options?: MultinomialOptions): T;
  /**
   * Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. Throws
   * DynError for a row that is all zero, and for weights that are negative or not finite.
   */
  multinomial(named: { readonly numSamples: Dim } & MultinomialOptions): T;
  /** dropout, in place; returns this tensor. */
  dropout_(p?: number | DropoutOptions, training?: boolean | DropoutOptions, options?: DropoutOptions): T;
  /** dropout1d, in place; returns this tensor. */
  dropout1d_(p?: number | DropoutOptions, training?: boolean | DropoutOptions, options?: DropoutOptions): T;
  /** dropout2d, in place; returns this tensor. */
  dropout2d_(p?: number | DropoutOptions, training?: boolean | DropoutOptions, options?: DropoutOptions): T;
  /** dropout3d, in place; returns this tensor. */
  dropout3d_(p?: number | DropoutOptions, training?: boolean | DropoutOptions, options?: DropoutOptions): T;
  /** alphaDropout, in place; returns this tensor. */
  alphaDropout_(
    p?: number | AlphaDropoutOptions,
    training?: boolean | AlphaDropoutOptions,
    options?: AlphaDropoutOptions,
  ): T;
  /** featureAlphaDropout, in place; returns this tensor. */
  featureAlphaDropout_(
    p?: number | AlphaDropoutOptions,
    training?: boolean | AlphaDropoutOptions,
    options?: AlphaDropoutOptions,
  ): T;
  /** rrelu, in place; returns this tensor. */
  rrelu_(
    lower?: number | RreluOptions,
    upper?: number | RreluOptions,
    training?: boolean | RreluOptions,
    options?: RreluOptions,
  ): T;
  /**
   * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
   * function is `variance`.
   */
  var(
    dim?: IntOrInts | boolean | null | VarOptions,
    unbiased?: boolean | null | VarOptions,
    keepdim?: boolean | VarOptions,
    options?: VarOptions,
  ): T;
  /**
   * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
   * function is `variance`.
   */
  variance(
    dim?: IntOrInts | boolean | null | VarOptions,
    unbiased?: boolean | null | VarOptions,
    keepdim?: boolean | VarOptions,
    options?: VarOptions,
  ): T;
  /** The standard deviation over dimensions, divided by the count less `correction` (1). As `torch.std`. */
  std(
    dim?: IntOrInts | boolean | null | VarOptions,
    unbiased?: boolean | null | VarOptions,
    keepdim?: boolean | VarOptions,
    options?: VarOptions,
  ): T;
  /** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
  logsumexp(dim: IntOrInts, keepdim?: boolean | LogsumexpOptions, options?: LogsumexpOptions): T;
  /** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
  logsumexp(named: { readonly dim: IntOrInts } & LogsumexpOptions): T;
  /**
   * The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as
   * `torch.norm`.
   */
  norm(
    p?: Scalar | string | NormOptions,
    dim?: IntOrInts | null | NormOptions,
    keepdim?: boolean | NormOptions,
    dtype?: DType | null | NormOptions,
    options?: NormOptions,
  ): T;
  /** The norm of self − other, as `torch.dist`. */
  dist(other: T, p?: number | POptions, options?: POptions): T;
  /** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
  renorm(p: number, dim: number, maxnorm: number): T;
  /** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
  renorm(named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): T;
  /** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
  renorm(p: number, named: { readonly dim: number; readonly maxnorm: number }): T;
  /** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
  renorm(p: number, dim: number, named: { readonly maxnorm: number }): T;
  /** renorm, in place; returns this tensor. */
  renorm_(p: number, dim: number, maxnorm: number): T;
  /** renorm, in place; returns this tensor. */
  renorm_(named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): T;
  /** renorm, in place; returns this tensor. */
  renorm_(p: number, named: { readonly dim: number; readonly maxnorm: number }): T;
  /** renorm, in place; returns this tensor. */
  renorm_(p: number, dim: number, named: { readonly maxnorm: number }): T;
  /** Sums of products over the last dimensions, as `torch.inner`. */
  inner(other: T): T;
  /** The sum of the diagonal of a matrix, as `torch.trace`. */
  trace(): T;
  /** The Kronecker product, as `torch.kron`. */
  kron(other: T): T;
  /** All elements in one dimension, as `torch.ravel`. */
  ravel(): T;
  /** The flattened tensor on a diagonal, as `torch.diagflat`. */
  diagflat(offset?: Dim | DiagflatOptions, options?: DiagflatOptions): T;
  /**
   * Differences of neighbours along a dimension, n times, with elements added before and after, as
   * `torch.diff`.
   */
  diff(
    n?: number | DiffOptions<T>,
    dim?: number | DiffOptions<T>,
    prepend?: T | null | DiffOptions<T>,
    append?: T | null | DiffOptions<T>,
    options?: DiffOptions<T>,
  ): T;
  /** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
  sumToSize(size: readonly Dim[]): T;
  /** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
  sumToSize(...size: Dim[]): T;
  /** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
  sumToSize(named: { readonly size: readonly Dim[] }): T;
  /** The greatest common divisor, as `torch.gcd`. */
  gcd(other: T): T;
  /** gcd, in place; returns this tensor. */
  gcd_(other: T): T;
  /** The least common multiple, as `torch.lcm`. */
  lcm(other: T): T;
  /** lcm, in place; returns this tensor. */
  lcm_(other: T): T;
  /** The cross product of vectors of three elements, as `torch.cross`. */
  cross(other: T, dim?: number | null | TakeAlongDimOptions, options?: TakeAlongDimOptions): T;
  /** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
  inv(): T;
  /** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
  inverse(): T;
  /** Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host. */
  slogdet(): Results<T, ["sign", "logabsdet"]>;
  /** Determinants of square matrices, as `torch.det`. */
  det(): T;
  /** Logarithms of determinants of square matrices, as `torch.logdet`. */
  logdet(): T;
  /** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
  matrixPower(n: number): T;
  /** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
  matrixPower(named: { readonly n: number }): T;
  /** The covariance of rows over columns, with frequencies and weights, as `torch.cov`. */
  cov(options?: CovOptions<T>): T;
  /** The correlation of rows over columns, as `torch.corrcoef`. */
  corrcoef(): T;
  /** The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`. */
  aminmax(options?: ArgmaxOptions): Results<T, ["min", "max"]>;
  /**
   * The most frequent element along a dimension, the least where several are, and its last index. As
   * `torch.mode`.
   */
  mode(
    dim?: number | KthvalueOptions,
    keepdim?: boolean | KthvalueOptions,
    options?: KthvalueOptions,
  ): Results<T, ["values", "indices"]>;
  /** The number of elements in each of `bins` equal parts of [min, max], as `torch.histc`. */
  histc(
    bins?: Dim | HistcOptions,
    min?: number | HistcOptions,
    max?: number | HistcOptions,
    options?: HistcOptions,
  ): T;
  /** All choices of r elements of a vector, one a row, as `torch.combinations`. */
  combinations(
    r?: number | CombinationsOptions,
    withReplacement?: boolean | CombinationsOptions,
    options?: CombinationsOptions,
  ): T;
  /**
   * The number of elements in each bin, and the bins' edges, as `torch.histogram`: `bins` of equal width
   * over a range (by default that of the elements), or between given edges.
   */
  histogram(bins: Operand<T>, options?: HistogramOptions<T>): Results<T, ["hist", "binEdges"]>;
  /** X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host. */
  triangularSolve(
    A: T,
    upper?: boolean | TriangularSolveOptions,
    transpose?: boolean | TriangularSolveOptions,
    unitriangular?: boolean | TriangularSolveOptions,
    options?: TriangularSolveOptions,
  ): Results<T, ["solution", "cloned_coefficient"]>;
  /**
   * L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on
   * the host.
   */
  cholesky(upper?: boolean | UpperOptions, options?: UpperOptions): T;
  /**
   * The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the
   * host.
   */
  choleskyInverse(upper?: boolean | UpperOptions, options?: UpperOptions): T;
  /**
   * X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on
   * the host.
   */
  choleskySolve(L: T, upper?: boolean | UpperOptions, options?: UpperOptions): T;
  /**
   * L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`.
   * Computed on the host.
   */
  lu(
    pivot?: boolean | LuOptions,
    getInfos?: boolean | LuOptions,
    options?: LuOptions,
  ): Results<T, ["LU", "pivots", "infos"]>;
  /** X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host. */
  luSolve(LUData: T, LUPivots: T): T;
  /**
   * U, S and V with A = U · diag(S) · Vᴴ, values descending, as `torch.svd`: without `some` full matrices,
   * without `computeUv` zeros for them. Computed on the host.
   */
  svd(
    some?: boolean | SvdOptions,
    computeUv?: boolean | SvdOptions,
    options?: SvdOptions,
  ): Results<T, ["U", "S", "V"]>;
  /** Pseudoinverses, as `torch.pinverse`. Computed on the host. */
  pinverse(rcond?: number | PinverseOptions, options?: PinverseOptions): T;
  /** e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host. */
  matrixExp(): T;
  /** R and the reflections that make Q, as `torch.geqrf`. No gradient. Computed on the host. */
  geqrf(): Results<T, ["a", "tau"]>;
  /**
   * The product of Householder reflections, Q, or its transpose, times `other`, or from its right where
   * `left` is false, as `torch.ormqr`. Computed on the host in part.
   */
  ormqr(
    tau: T,
    other: T,
    left?: boolean | OrmqrOptions,
    transpose?: boolean | OrmqrOptions,
    options?: OrmqrOptions,
  ): T;
  /** π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors. */
  angle(): T;
  /** Mantissas in [½, 1) and exponents of 2, as `torch.frexp`. */
  frexp(): Results<T, ["mantissa", "exponent"]>;
  /** The next float after self towards other, as `torch.nextafter`. */
  nextafter(other: T): T;
  /** The product of an n × k and a k × m matrix, as `torch.mm`. */
  mm(mat2: T): T;
  /** Products of b × n × k and b × k × m matrices, as `torch.bmm`. */
  bmm(mat2: T): T;
  /** A matrix times a vector, as `torch.mv`. */
  mv(vec: T): T;
  /** The sum of products of two vectors, as `torch.dot`. */
  dot(tensor: T): T;
  /** The product of matrices, vectors and broadcast batches of matrices, as `torch.matmul`. */
  matmul(other: T): T;
  /** beta · input + alpha · the product of the other two, as `torch.addmm`; mat2 is the second factor. */
  addmm(first: T, second: T, options?: BetaAlphaOptions): T;
  /** addmm, in place; returns this tensor. */
  addmm_(first: T, second: T, options?: BetaAlphaOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addmv`; vec is the second factor. */
  addmv(first: T, second: T, options?: BetaAlphaOptions): T;
  /** addmv, in place; returns this tensor. */
  addmv_(first: T, second: T, options?: BetaAlphaOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.baddbmm`; batch2 is the second factor. */
  baddbmm(first: T, second: T, options?: BetaAlphaOptions): T;
  /** baddbmm, in place; returns this tensor. */
  baddbmm_(first: T, second: T, options?: BetaAlphaOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addbmm`; batch2 is the second factor. */
  addbmm(first: T, second: T, options?: BetaAlphaOptions): T;
  /** addbmm, in place; returns this tensor. */
  addbmm_(first: T, second: T, options?: BetaAlphaOptions): T;
  /** beta · input + alpha · the product of the other two, as `torch.addr`; vec2 is the second factor. */
  addr(first: T, second: T, options?: BetaAlphaOptions): T;
  /** addr, in place; returns this tensor. */
  addr_(first: T, second: T, options?: BetaAlphaOptions): T;
  /** All products of elements of two vectors, as `torch.outer`. */
  outer(vec2: T): T;
  /** All products of elements of two vectors, as `torch.outer`. */
  ger(vec2: T): T;
  /** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
  softmax(dim: number, dtype?: DType | null | DtypeOptions, options?: DtypeOptions): T;
  /** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
  softmax(named: { readonly dim: number } & DtypeOptions): T;
  /** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
  logSoftmax(dim: number, dtype?: DType | null | DtypeOptions, options?: DtypeOptions): T;
  /** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
  logSoftmax(named: { readonly dim: number } & DtypeOptions): T;
  /** The real part, of a complex tensor as a view; of real tensors themselves. As `torch.real`. */
  real(): T;
  /** The imaginary part of a complex tensor, as a view; real tensors have none. As `torch.imag`. */
  imag(): T;
  /**
   * The complex conjugate; real tensors themselves. Computed at once: there are no lazily conjugated
   * tensors, so that the result never shares memory with a complex operand. As `torch.conj`.
   */
  conj(): T;
  /** The complex conjugate; real tensors themselves. As `torch.conj_physical`. */
  conjPhysical(): T;
  /** Itself: no tensor is conjugated lazily. As `torch.resolve_conj`. */
  resolveConj(): T;
  /** Itself: no tensor is negated lazily. As `torch.resolve_neg`. */
  resolveNeg(): T;
  /** z / |z|, 0 for 0; the sign of real numbers. As `torch.sgn`. */
  sgn(): T;
  /** sgn, in place; returns this tensor. */
  sgn_(): T;
  /** The sum of conj(self) · other of two vectors, as `torch.vdot`. */
  vdot(other: T): T;
  /**
   * Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false,
   * which gives pairs in a last dimension. As `torch.stft`. Computed on the host.
   */
  stft(
    nFft: Dim,
    hopLength?: Dim | null | StftOptions<T>,
    winLength?: Dim | null | StftOptions<T>,
    window?: T | null | StftOptions<T>,
    center?: boolean | StftOptions<T>,
    padMode?: "constant" | "reflect" | "replicate" | "circular" | StftOptions<T>,
    normalized?: boolean | StftOptions<T>,
    onesided?: boolean | null | StftOptions<T>,
    returnComplex?: boolean | StftOptions<T>,
    options?: StftOptions<T>,
  ): T;
  /**
   * Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false,
   * which gives pairs in a last dimension. As `torch.stft`. Computed on the host.
   */
  stft(named: { readonly nFft: Dim } & StftOptions<T>): T;
  /**
   * The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by
   * the sum of squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on
   * the host.
   */
  istft(
    nFft: Dim,
    hopLength?: Dim | null | IstftOptions<T>,
    winLength?: Dim | null | IstftOptions<T>,
    window?: T | null | IstftOptions<T>,
    center?: boolean | IstftOptions<T>,
    normalized?: boolean | IstftOptions<T>,
    onesided?: boolean | null | IstftOptions<T>,
    length?: Dim | null | IstftOptions<T>,
    returnComplex?: boolean | IstftOptions<T>,
    options?: IstftOptions<T>,
  ): T;
  /**
   * The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by
   * the sum of squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on
   * the host.
   */
  istft(named: { readonly nFft: Dim } & IstftOptions<T>): T;
}
