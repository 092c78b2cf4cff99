/**
 * The ops as one typed interface. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { TensorLike } from "./definition.ts";
import type { Scalar } from "./params.ts";

/** Public names of all ops. */
export type OpName =
  | "add"
  | "sub"
  | "rsub"
  | "mul"
  | "div"
  | "floorDivide"
  | "remainder"
  | "fmod"
  | "pow"
  | "floatPower"
  | "eq"
  | "ne"
  | "lt"
  | "le"
  | "gt"
  | "ge"
  | "logicalAnd"
  | "logicalOr"
  | "logicalXor"
  | "logicalNot"
  | "bitwiseAnd"
  | "bitwiseOr"
  | "bitwiseXor"
  | "bitwiseNot"
  | "bitwiseLeftShift"
  | "bitwiseRightShift"
  | "isnan"
  | "isinf"
  | "isposinf"
  | "isneginf"
  | "isfinite"
  | "isreal"
  | "signbit"
  | "where"
  | "maskedFill"
  | "isclose"
  | "sum"
  | "mean"
  | "prod"
  | "amax"
  | "amin"
  | "argmax"
  | "argmin"
  | "any"
  | "all"
  | "max"
  | "min"
  | "countNonzero"
  | "nansum"
  | "nanmean"
  | "neg"
  | "abs"
  | "sign"
  | "square"
  | "positive"
  | "floor"
  | "ceil"
  | "trunc"
  | "round"
  | "frac"
  | "sigmoid"
  | "logit"
  | "sqrt"
  | "rsqrt"
  | "reciprocal"
  | "exp"
  | "exp2"
  | "expm1"
  | "log"
  | "log2"
  | "log10"
  | "log1p"
  | "sin"
  | "cos"
  | "tan"
  | "asin"
  | "acos"
  | "atan"
  | "sinh"
  | "cosh"
  | "tanh"
  | "asinh"
  | "acosh"
  | "atanh"
  | "erf"
  | "erfc"
  | "lgamma"
  | "sinc"
  | "deg2rad"
  | "rad2deg";

/** What may stand as an operand: a tensor or a number. */
export type Operand<T> = T | Scalar | Dim;

/** Arguments of add by name. */
export interface AddOptions {
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of sub by name. */
export interface SubOptions {
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of rsub by name. */
export interface RsubOptions {
  readonly alpha?: Scalar | Dim | undefined;
}

/** Arguments of div by name. */
export interface DivOptions {
  readonly roundingMode?: "trunc" | "floor" | null | undefined;
}

/** Arguments of isclose by name. */
export interface IscloseOptions {
  readonly rtol?: number | undefined;
  readonly atol?: number | undefined;
  readonly equalNan?: boolean | undefined;
}

/** Arguments of sum by name. */
export interface SumOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
  readonly dtype?: DType | null | undefined;
}

/** Arguments of mean by name. */
export interface MeanOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
  readonly dtype?: DType | null | undefined;
}

/** Arguments of prod by name. */
export interface ProdOptions {
  readonly dim?: number | null | undefined;
  readonly keepdim?: boolean | undefined;
  readonly dtype?: DType | null | undefined;
}

/** Arguments of amax by name. */
export interface AmaxOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of amin by name. */
export interface AminOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of argmax by name. */
export interface ArgmaxOptions {
  readonly dim?: number | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of argmin by name. */
export interface ArgminOptions {
  readonly dim?: number | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of any by name. */
export interface AnyOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of all by name. */
export interface AllOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of max by name. */
export interface MaxOptions<T> {
  readonly dim?: Operand<T> | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of min by name. */
export interface MinOptions<T> {
  readonly dim?: Operand<T> | null | undefined;
  readonly keepdim?: boolean | undefined;
}

/** Arguments of countNonzero by name. */
export interface CountNonzeroOptions {
  readonly dim?: number | readonly number[] | null | undefined;
}

/** Arguments of nansum by name. */
export interface NansumOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
  readonly dtype?: DType | null | undefined;
}

/** Arguments of nanmean by name. */
export interface NanmeanOptions {
  readonly dim?: number | readonly number[] | null | undefined;
  readonly keepdim?: boolean | undefined;
  readonly dtype?: DType | null | undefined;
}

/** Arguments of round by name. */
export interface RoundOptions {
  readonly decimals?: number | null | undefined;
}

/** Arguments of logit by name. */
export interface LogitOptions {
  readonly eps?: number | null | undefined;
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
  /** Whether self eq other, elementwise, as `torch.eq`. */
  eq(self: T, other: Operand<T>): T;
  /** Whether self ne other, elementwise, as `torch.ne`. */
  ne(self: T, other: Operand<T>): T;
  /** Whether self lt other, elementwise, as `torch.lt`. */
  lt(self: T, other: Operand<T>): T;
  /** Whether self le other, elementwise, as `torch.le`. */
  le(self: T, other: Operand<T>): T;
  /** Whether self gt other, elementwise, as `torch.gt`. */
  gt(self: T, other: Operand<T>): T;
  /** Whether self ge other, elementwise, as `torch.ge`. */
  ge(self: T, other: Operand<T>): T;
  /** Logical and of what is not 0, as `torch.logical_and`. */
  logicalAnd(self: T, other: Operand<T>): T;
  /** Logical or of what is not 0, as `torch.logical_or`. */
  logicalOr(self: T, other: Operand<T>): T;
  /** Logical xor of what is not 0, as `torch.logical_xor`. */
  logicalXor(self: T, other: Operand<T>): T;
  /** Whether an element is 0, as `torch.logical_not`. */
  logicalNot(self: T): T;
  /** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
  bitwiseAnd(self: T, other: Operand<T>): T;
  /** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
  bitwiseOr(self: T, other: Operand<T>): T;
  /** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
  bitwiseXor(self: T, other: Operand<T>): T;
  /** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
  bitwiseNot(self: T): T;
  /** Shift of integers by other bits, as `torch.bitwiseLeftShift`. */
  bitwiseLeftShift(self: T, other: Operand<T>): T;
  /** Shift of integers by other bits, as `torch.bitwiseRightShift`. */
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
  /** Whether the sign bit is set, that of −0 included, as `torch.signbit`. */
  signbit(self: T): T;
  /** input where the condition holds, else other, broadcast and promoted, as `torch.where`. */
  where(condition: T, input: Operand<T>, other: Operand<T>): T;
  /** self with `value` where the mask is true, as `Tensor.masked_fill`. */
  maskedFill(self: T, mask: T, value: Operand<T>): T;
  /** |self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`. */
  isclose(self: T, other: T, rtol?: number | IscloseOptions, atol?: number | IscloseOptions, equalNan?: boolean | IscloseOptions, options?: IscloseOptions): T;
  /** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
  sum(self: T, dim?: number | readonly number[] | null | SumOptions, keepdim?: boolean | SumOptions, options?: SumOptions): T;
  /** The mean over dimensions, of floats, as `torch.mean`. */
  mean(self: T, dim?: number | readonly number[] | null | MeanOptions, keepdim?: boolean | MeanOptions, options?: MeanOptions): T;
  /** The product over all elements or one dimension, as `torch.prod`. */
  prod(self: T, dim?: number | null | ProdOptions, keepdim?: boolean | ProdOptions, options?: ProdOptions): T;
  /** The maximum over dimensions; NaN where there is one. As `torch.amax`. */
  amax(self: T, dim?: number | readonly number[] | null | AmaxOptions, keepdim?: boolean | AmaxOptions, options?: AmaxOptions): T;
  /** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
  amin(self: T, dim?: number | readonly number[] | null | AminOptions, keepdim?: boolean | AminOptions, options?: AminOptions): T;
  /** The index of the first maximum over one dimension, or in the flattened tensor. As `torch.argmax`. */
  argmax(self: T, dim?: number | null | ArgmaxOptions, keepdim?: boolean | ArgmaxOptions, options?: ArgmaxOptions): T;
  /** The index of the first minimum over one dimension, or in the flattened tensor. As `torch.argmin`. */
  argmin(self: T, dim?: number | null | ArgminOptions, keepdim?: boolean | ArgminOptions, options?: ArgminOptions): T;
  /** Whether any of the elements over dimensions are not 0, as `torch.any`. */
  any(self: T, dim?: number | readonly number[] | null | AnyOptions, keepdim?: boolean | AnyOptions, options?: AnyOptions): T;
  /** Whether all of the elements over dimensions are not 0, as `torch.all`. */
  all(self: T, dim?: number | readonly number[] | null | AllOptions, keepdim?: boolean | AllOptions, options?: AllOptions): T;
  /**
   * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise maximum. As `torch.max`.
   */
  max(self: T, other: T): T;
  max(self: T, dim: number, keepdim?: boolean | MaxOptions<T>, options?: MaxOptions<T>): [values: T, indices: T] & { readonly values: T; readonly indices: T };
  max(self: T, options: MaxOptions<T> & { readonly dim: number }): [values: T, indices: T] & { readonly values: T; readonly indices: T };
  max(self: T, dim?: null | MaxOptions<T>, keepdim?: boolean): T;
  /**
   * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
   * the elementwise minimum. As `torch.min`.
   */
  min(self: T, other: T): T;
  min(self: T, dim: number, keepdim?: boolean | MinOptions<T>, options?: MinOptions<T>): [values: T, indices: T] & { readonly values: T; readonly indices: T };
  min(self: T, options: MinOptions<T> & { readonly dim: number }): [values: T, indices: T] & { readonly values: T; readonly indices: T };
  min(self: T, dim?: null | MinOptions<T>, keepdim?: boolean): T;
  /** How many elements are not 0 over dimensions, as `torch.count_nonzero`. */
  countNonzero(self: T, dim?: number | readonly number[] | null | CountNonzeroOptions, options?: CountNonzeroOptions): T;
  /** The sum over dimensions of what is not NaN, as `torch.nansum`. */
  nansum(self: T, dim?: number | readonly number[] | null | NansumOptions, keepdim?: boolean | NansumOptions, options?: NansumOptions): T;
  /** The mean over dimensions of what is not NaN, as `torch.nanmean`. */
  nanmean(self: T, dim?: number | readonly number[] | null | NanmeanOptions, keepdim?: boolean | NanmeanOptions, options?: NanmeanOptions): T;
  /** −self, as `torch.neg`. */
  neg(self: T): T;
  /** |self|, as `torch.abs`. */
  abs(self: T): T;
  /** −1, 0 or 1, as `torch.sign`. */
  sign(self: T): T;
  /** self · self, as `torch.square`. */
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
  sigmoid(self: T): T;
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
  tanh(self: T): T;
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
}
