/**
 * The ops as functions over tensors, those of all namespaces. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { OpApi } from "../ops/generated.ts";
import { ops } from "./eager.ts";
import type { Tensor } from "./tensor.ts";

/** self + alpha · other, broadcast and promoted, as `torch.add`. */
export const add: OpApi<Tensor>["add"] = ops.add;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const sub: OpApi<Tensor>["sub"] = ops.sub;
/** self − alpha · other, broadcast and promoted, as `torch.sub`. */
export const subtract: OpApi<Tensor>["sub"] = ops.sub;
/** other − alpha · self, as `torch.rsub`. */
export const rsub: OpApi<Tensor>["rsub"] = ops.rsub;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const mul: OpApi<Tensor>["mul"] = ops.mul;
/** self · other, broadcast and promoted, as `torch.mul`. */
export const multiply: OpApi<Tensor>["mul"] = ops.mul;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const div: OpApi<Tensor>["div"] = ops.div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const divide: OpApi<Tensor>["div"] = ops.div;
/** self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`. */
export const trueDivide: OpApi<Tensor>["div"] = ops.div;
/** floor(self / other) in the promoted type, as `torch.floor_divide`. */
export const floorDivide: OpApi<Tensor>["floorDivide"] = ops.floorDivide;
/** self − other · floor(self / other): the remainder with the sign of `other`, as `torch.remainder`. */
export const remainder: OpApi<Tensor>["remainder"] = ops.remainder;
/** The remainder with the sign of `self`, as `torch.fmod`. */
export const fmod: OpApi<Tensor>["fmod"] = ops.fmod;
/** self to the power `exponent`, broadcast and promoted, as `torch.pow`. One of them may be a number. */
export const pow: OpApi<Tensor>["pow"] = ops.pow;
/** As pow, computed in float64, as `torch.float_power`. */
export const floatPower: OpApi<Tensor>["floatPower"] = ops.floatPower;
/** Whether self eq other, elementwise, as `torch.eq`. */
export const eq: OpApi<Tensor>["eq"] = ops.eq;
/** Whether self ne other, elementwise, as `torch.ne`. */
export const ne: OpApi<Tensor>["ne"] = ops.ne;
/** Whether self ne other, elementwise, as `torch.ne`. */
export const notEqual: OpApi<Tensor>["ne"] = ops.ne;
/** Whether self lt other, elementwise, as `torch.lt`. */
export const lt: OpApi<Tensor>["lt"] = ops.lt;
/** Whether self lt other, elementwise, as `torch.lt`. */
export const less: OpApi<Tensor>["lt"] = ops.lt;
/** Whether self le other, elementwise, as `torch.le`. */
export const le: OpApi<Tensor>["le"] = ops.le;
/** Whether self le other, elementwise, as `torch.le`. */
export const lessEqual: OpApi<Tensor>["le"] = ops.le;
/** Whether self gt other, elementwise, as `torch.gt`. */
export const gt: OpApi<Tensor>["gt"] = ops.gt;
/** Whether self gt other, elementwise, as `torch.gt`. */
export const greater: OpApi<Tensor>["gt"] = ops.gt;
/** Whether self ge other, elementwise, as `torch.ge`. */
export const ge: OpApi<Tensor>["ge"] = ops.ge;
/** Whether self ge other, elementwise, as `torch.ge`. */
export const greaterEqual: OpApi<Tensor>["ge"] = ops.ge;
/** Logical and of what is not 0, as `torch.logical_and`. */
export const logicalAnd: OpApi<Tensor>["logicalAnd"] = ops.logicalAnd;
/** Logical or of what is not 0, as `torch.logical_or`. */
export const logicalOr: OpApi<Tensor>["logicalOr"] = ops.logicalOr;
/** Logical xor of what is not 0, as `torch.logical_xor`. */
export const logicalXor: OpApi<Tensor>["logicalXor"] = ops.logicalXor;
/** Whether an element is 0, as `torch.logical_not`. */
export const logicalNot: OpApi<Tensor>["logicalNot"] = ops.logicalNot;
/** Bitwise and of integers, logical and of bools, as `torch.bitwise_and`. */
export const bitwiseAnd: OpApi<Tensor>["bitwiseAnd"] = ops.bitwiseAnd;
/** Bitwise or of integers, logical or of bools, as `torch.bitwise_or`. */
export const bitwiseOr: OpApi<Tensor>["bitwiseOr"] = ops.bitwiseOr;
/** Bitwise xor of integers, logical xor of bools, as `torch.bitwise_xor`. */
export const bitwiseXor: OpApi<Tensor>["bitwiseXor"] = ops.bitwiseXor;
/** Bitwise not of integers, logical not of bools, as `torch.bitwise_not`. */
export const bitwiseNot: OpApi<Tensor>["bitwiseNot"] = ops.bitwiseNot;
/** Shift of integers by other bits, as `torch.bitwiseLeftShift`. */
export const bitwiseLeftShift: OpApi<Tensor>["bitwiseLeftShift"] = ops.bitwiseLeftShift;
/** Shift of integers by other bits, as `torch.bitwiseRightShift`. */
export const bitwiseRightShift: OpApi<Tensor>["bitwiseRightShift"] = ops.bitwiseRightShift;
/** isnan of each element, as `torch.isnan`. */
export const isnan: OpApi<Tensor>["isnan"] = ops.isnan;
/** isinf of each element, as `torch.isinf`. */
export const isinf: OpApi<Tensor>["isinf"] = ops.isinf;
/** isposinf of each element, as `torch.isposinf`. */
export const isposinf: OpApi<Tensor>["isposinf"] = ops.isposinf;
/** isneginf of each element, as `torch.isneginf`. */
export const isneginf: OpApi<Tensor>["isneginf"] = ops.isneginf;
/** isfinite of each element, as `torch.isfinite`. */
export const isfinite: OpApi<Tensor>["isfinite"] = ops.isfinite;
/** isreal of each element, as `torch.isreal`. */
export const isreal: OpApi<Tensor>["isreal"] = ops.isreal;
/** Whether the sign bit is set, that of −0 included, as `torch.signbit`. */
export const signbit: OpApi<Tensor>["signbit"] = ops.signbit;
/** input where the condition holds, else other, broadcast and promoted, as `torch.where`. */
export const where: OpApi<Tensor>["where"] = ops.where;
/** self with `value` where the mask is true, as `Tensor.masked_fill`. */
export const maskedFill: OpApi<Tensor>["maskedFill"] = ops.maskedFill;
/** |self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`. */
export const isclose: OpApi<Tensor>["isclose"] = ops.isclose;
/** −self, as `torch.neg`. */
export const neg: OpApi<Tensor>["neg"] = ops.neg;
/** −self, as `torch.neg`. */
export const negative: OpApi<Tensor>["neg"] = ops.neg;
/** |self|, as `torch.abs`. */
export const abs: OpApi<Tensor>["abs"] = ops.abs;
/** |self|, as `torch.abs`. */
export const absolute: OpApi<Tensor>["abs"] = ops.abs;
/** −1, 0 or 1, 0 for NaN too, as `torch.sign`. */
export const sign: OpApi<Tensor>["sign"] = ops.sign;
/** −1, 0 or 1, 0 for NaN too, as `torch.sign`. */
export const sgn: OpApi<Tensor>["sign"] = ops.sign;
/** self · self, of bools as integers, as `torch.square`. */
export const square: OpApi<Tensor>["square"] = ops.square;
/** self, as `torch.positive`. */
export const positive: OpApi<Tensor>["positive"] = ops.positive;
/** floor of each element, as `torch.floor`. */
export const floor: OpApi<Tensor>["floor"] = ops.floor;
/** ceil of each element, as `torch.ceil`. */
export const ceil: OpApi<Tensor>["ceil"] = ops.ceil;
/** trunc of each element, as `torch.trunc`. */
export const trunc: OpApi<Tensor>["trunc"] = ops.trunc;
/** trunc of each element, as `torch.trunc`. */
export const fix: OpApi<Tensor>["trunc"] = ops.trunc;
/** The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`. */
export const round: OpApi<Tensor>["round"] = ops.round;
/** self − trunc(self), as `torch.frac`. */
export const frac: OpApi<Tensor>["frac"] = ops.frac;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const sigmoid: OpApi<Tensor>["sigmoid"] = ops.sigmoid;
/** sigmoid of each element, as `torch.sigmoid`; integers are converted to floats. */
export const expit: OpApi<Tensor>["sigmoid"] = ops.sigmoid;
/** log(x / (1 − x)) of x = self, clamped to [eps, 1 − eps] where eps is given, as `torch.logit`. */
export const logit: OpApi<Tensor>["logit"] = ops.logit;
/** sqrt of each element, as `torch.sqrt`; integers are converted to floats. */
export const sqrt: OpApi<Tensor>["sqrt"] = ops.sqrt;
/** rsqrt of each element, as `torch.rsqrt`; integers are converted to floats. */
export const rsqrt: OpApi<Tensor>["rsqrt"] = ops.rsqrt;
/** reciprocal of each element, as `torch.reciprocal`; integers are converted to floats. */
export const reciprocal: OpApi<Tensor>["reciprocal"] = ops.reciprocal;
/** exp of each element, as `torch.exp`; integers are converted to floats. */
export const exp: OpApi<Tensor>["exp"] = ops.exp;
/** exp2 of each element, as `torch.exp2`; integers are converted to floats. */
export const exp2: OpApi<Tensor>["exp2"] = ops.exp2;
/** expm1 of each element, as `torch.expm1`; integers are converted to floats. */
export const expm1: OpApi<Tensor>["expm1"] = ops.expm1;
/** log of each element, as `torch.log`; integers are converted to floats. */
export const log: OpApi<Tensor>["log"] = ops.log;
/** log2 of each element, as `torch.log2`; integers are converted to floats. */
export const log2: OpApi<Tensor>["log2"] = ops.log2;
/** log10 of each element, as `torch.log10`; integers are converted to floats. */
export const log10: OpApi<Tensor>["log10"] = ops.log10;
/** log1p of each element, as `torch.log1p`; integers are converted to floats. */
export const log1p: OpApi<Tensor>["log1p"] = ops.log1p;
/** sin of each element, as `torch.sin`; integers are converted to floats. */
export const sin: OpApi<Tensor>["sin"] = ops.sin;
/** cos of each element, as `torch.cos`; integers are converted to floats. */
export const cos: OpApi<Tensor>["cos"] = ops.cos;
/** tan of each element, as `torch.tan`; integers are converted to floats. */
export const tan: OpApi<Tensor>["tan"] = ops.tan;
/** asin of each element, as `torch.asin`; integers are converted to floats. */
export const asin: OpApi<Tensor>["asin"] = ops.asin;
/** asin of each element, as `torch.asin`; integers are converted to floats. */
export const arcsin: OpApi<Tensor>["asin"] = ops.asin;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const acos: OpApi<Tensor>["acos"] = ops.acos;
/** acos of each element, as `torch.acos`; integers are converted to floats. */
export const arccos: OpApi<Tensor>["acos"] = ops.acos;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const atan: OpApi<Tensor>["atan"] = ops.atan;
/** atan of each element, as `torch.atan`; integers are converted to floats. */
export const arctan: OpApi<Tensor>["atan"] = ops.atan;
/** sinh of each element, as `torch.sinh`; integers are converted to floats. */
export const sinh: OpApi<Tensor>["sinh"] = ops.sinh;
/** cosh of each element, as `torch.cosh`; integers are converted to floats. */
export const cosh: OpApi<Tensor>["cosh"] = ops.cosh;
/** tanh of each element, as `torch.tanh`; integers are converted to floats. */
export const tanh: OpApi<Tensor>["tanh"] = ops.tanh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const asinh: OpApi<Tensor>["asinh"] = ops.asinh;
/** asinh of each element, as `torch.asinh`; integers are converted to floats. */
export const arcsinh: OpApi<Tensor>["asinh"] = ops.asinh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const acosh: OpApi<Tensor>["acosh"] = ops.acosh;
/** acosh of each element, as `torch.acosh`; integers are converted to floats. */
export const arccosh: OpApi<Tensor>["acosh"] = ops.acosh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const atanh: OpApi<Tensor>["atanh"] = ops.atanh;
/** atanh of each element, as `torch.atanh`; integers are converted to floats. */
export const arctanh: OpApi<Tensor>["atanh"] = ops.atanh;
/** erf of each element, as `torch.erf`; integers are converted to floats. */
export const erf: OpApi<Tensor>["erf"] = ops.erf;
/** erfc of each element, as `torch.erfc`; integers are converted to floats. */
export const erfc: OpApi<Tensor>["erfc"] = ops.erfc;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const lgamma: OpApi<Tensor>["lgamma"] = ops.lgamma;
/** lgamma of each element, as `torch.lgamma`; integers are converted to floats. */
export const gammaln: OpApi<Tensor>["lgamma"] = ops.lgamma;
/** sinc of each element, as `torch.sinc`; integers are converted to floats. */
export const sinc: OpApi<Tensor>["sinc"] = ops.sinc;
/** deg2rad of each element, as `torch.deg2rad`; integers are converted to floats. */
export const deg2rad: OpApi<Tensor>["deg2rad"] = ops.deg2rad;
/** rad2deg of each element, as `torch.rad2deg`; integers are converted to floats. */
export const rad2deg: OpApi<Tensor>["rad2deg"] = ops.rad2deg;
/** The maximum of two operands, NaN where either is, as `torch.maximum`. */
export const maximum: OpApi<Tensor>["maximum"] = ops.maximum;
/** The minimum of two operands, NaN where either is, as `torch.minimum`. */
export const minimum: OpApi<Tensor>["minimum"] = ops.minimum;
/** The maximum of two operands, the other one where one is NaN, as `torch.fmax`. */
export const fmax: OpApi<Tensor>["fmax"] = ops.fmax;
/** The minimum of two operands, the other one where one is NaN, as `torch.fmin`. */
export const fmin: OpApi<Tensor>["fmin"] = ops.fmin;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clamp: OpApi<Tensor>["clamp"] = ops.clamp;
/** self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`. */
export const clip: OpApi<Tensor>["clamp"] = ops.clamp;
/** self limited from below, as `torch.clamp_min`. */
export const clampMin: OpApi<Tensor>["clampMin"] = ops.clampMin;
/** self limited from above, as `torch.clamp_max`. */
export const clampMax: OpApi<Tensor>["clampMax"] = ops.clampMax;
/**
 * NaN and the infinities replaced by numbers: 0 and the extremes of the type where not given. As
 * `torch.nan_to_num`.
 */
export const nanToNum: OpApi<Tensor>["nanToNum"] = ops.nanToNum;
/** 0 below 0, 1 above, `other` at 0, as `torch.heaviside`. */
export const heaviside: OpApi<Tensor>["heaviside"] = ops.heaviside;
/** max(self, 0), where −0 and NaN stay what they are, as `torch.relu`. */
export const relu: OpApi<Tensor>["relu"] = ops.relu;
/** The gradient where `self` is above the threshold (or NaN), else 0. */
export const thresholdBackward: OpApi<Tensor>["thresholdBackward"] = ops.thresholdBackward;
/** min(max(self, 0), 6), as `nn.functional.relu6`. */
export const relu6: OpApi<Tensor>["relu6"] = ops.relu6;
/** self limited to [minVal, maxVal], as `nn.functional.hardtanh`. */
export const hardtanh: OpApi<Tensor>["hardtanh"] = ops.hardtanh;
/** self above 0, negativeSlope · self below, as `nn.functional.leaky_relu`. */
export const leakyRelu: OpApi<Tensor>["leakyRelu"] = ops.leakyRelu;
/** self above the threshold, else `value`, as `nn.functional.threshold`. */
export const threshold: OpApi<Tensor>["threshold"] = ops.threshold;
/** self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`. */
export const prelu: OpApi<Tensor>["prelu"] = ops.prelu;
/** min(max(self + 3, 0), 6) / 6, as `nn.functional.hardsigmoid`. */
export const hardsigmoid: OpApi<Tensor>["hardsigmoid"] = ops.hardsigmoid;
/** self · hardsigmoid(self), as `nn.functional.hardswish`. */
export const hardswish: OpApi<Tensor>["hardswish"] = ops.hardswish;
/** 0 within lambd of 0, else self brought nearer by lambd, as `nn.functional.softshrink`. */
export const softshrink: OpApi<Tensor>["softshrink"] = ops.softshrink;
/** 0 within lambd of 0, else self, as `nn.functional.hardshrink`. */
export const hardshrink: OpApi<Tensor>["hardshrink"] = ops.hardshrink;
/** The sum over dimensions; integers and bools are summed as int64. As `torch.sum`. */
export const sum: OpApi<Tensor>["sum"] = ops.sum;
/** The mean over dimensions, of floats, as `torch.mean`. */
export const mean: OpApi<Tensor>["mean"] = ops.mean;
/** The product over all elements or one dimension, as `torch.prod`. */
export const prod: OpApi<Tensor>["prod"] = ops.prod;
/** The maximum over dimensions; NaN where there is one. As `torch.amax`. */
export const amax: OpApi<Tensor>["amax"] = ops.amax;
/** The minimum over dimensions; NaN where there is one. As `torch.amin`. */
export const amin: OpApi<Tensor>["amin"] = ops.amin;
/** The index of the first maximum over one dimension, or in the flattened tensor. As `torch.argmax`. */
export const argmax: OpApi<Tensor>["argmax"] = ops.argmax;
/** The index of the first minimum over one dimension, or in the flattened tensor. As `torch.argmin`. */
export const argmin: OpApi<Tensor>["argmin"] = ops.argmin;
/** Whether any of the elements over dimensions are not 0, as `torch.any`. */
export const any: OpApi<Tensor>["any"] = ops.any;
/** Whether all of the elements over dimensions are not 0, as `torch.all`. */
export const all: OpApi<Tensor>["all"] = ops.all;
/**
 * The maximum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
 * the elementwise maximum. As `torch.max`.
 */
export const max: OpApi<Tensor>["max"] = ops.max;
/**
 * The minimum of all elements; with `dim`, values and first indices along it; with a tensor in its place,
 * the elementwise minimum. As `torch.min`.
 */
export const min: OpApi<Tensor>["min"] = ops.min;
/** How many elements are not 0 over dimensions, as `torch.count_nonzero`. */
export const countNonzero: OpApi<Tensor>["countNonzero"] = ops.countNonzero;
/** The sum over dimensions of what is not NaN, as `torch.nansum`. */
export const nansum: OpApi<Tensor>["nansum"] = ops.nansum;
/** The mean over dimensions of what is not NaN, as `torch.nanmean`. */
export const nanmean: OpApi<Tensor>["nanmean"] = ops.nanmean;
/** A tensor of zeros, as `torch.zeros`. */
export const zeros: OpApi<Tensor>["zeros"] = ops.zeros;
/** A tensor of ones, as `torch.ones`. */
export const ones: OpApi<Tensor>["ones"] = ops.ones;
/** A tensor whose elements are not specified (zeros), as `torch.empty`. */
export const empty: OpApi<Tensor>["empty"] = ops.empty;
/** As zeros, of the shape, type and device of `self`. */
export const zerosLike: OpApi<Tensor>["zerosLike"] = ops.zerosLike;
/** As ones, of the shape, type and device of `self`. */
export const onesLike: OpApi<Tensor>["onesLike"] = ops.onesLike;
/** As empty, of the shape, type and device of `self`. */
export const emptyLike: OpApi<Tensor>["emptyLike"] = ops.emptyLike;
/** As zeros, of the type and device of `self`. */
export const newZeros: OpApi<Tensor>["newZeros"] = ops.newZeros;
/** As ones, of the type and device of `self`. */
export const newOnes: OpApi<Tensor>["newOnes"] = ops.newOnes;
/** As empty, of the type and device of `self`. */
export const newEmpty: OpApi<Tensor>["newEmpty"] = ops.newEmpty;
/** A tensor of one value; its type is that of the number where not given. As `torch.full`. */
export const full: OpApi<Tensor>["full"] = ops.full;
/** As full, of the shape, type and device of `self`. */
export const fullLike: OpApi<Tensor>["fullLike"] = ops.fullLike;
/** As full, of the type and device of `self`. */
export const newFull: OpApi<Tensor>["newFull"] = ops.newFull;
/** A tensor of the shape and type of `self` with every element `value`, as `torch.fill`. */
export const fill: OpApi<Tensor>["fill"] = ops.fill;
/** Zeros of the shape and type of `self`; `zero_` clears a tensor. */
export const zero: OpApi<Tensor>["zero"] = ops.zero;
/** arange(end), arange(start, end, step): start, start + step, … before end, as `torch.arange`. */
export const arange: OpApi<Tensor>["arange"] = ops.arange;
/** `steps` numbers from start to end, both included, evenly spaced, as `torch.linspace`. */
export const linspace: OpApi<Tensor>["linspace"] = ops.linspace;
/** base to the powers of linspace(start, end, steps), as `torch.logspace`. */
export const logspace: OpApi<Tensor>["logspace"] = ops.logspace;
/** Ones on the diagonal of an n × m matrix of zeros, as `torch.eye`. */
export const eye: OpApi<Tensor>["eye"] = ops.eye;
/** A 0-d tensor of a number, as `torch.scalar_tensor`. */
export const scalarTensor: OpApi<Tensor>["scalarTensor"] = ops.scalarTensor;
/** The elements in another type: floats truncate towards integers, and what is not 0 is true. */
export const convert: OpApi<Tensor>["convert"] = ops.convert;
/** Itself where the type is the same, else a copy in that type. The method `to` also takes devices. */
export const to: OpApi<Tensor>["to"] = ops.to;
/** The elements as float32, as `Tensor.float`. */
export const float: OpApi<Tensor>["float"] = ops.float;
/** The elements as float64, as `Tensor.double`. */
export const double: OpApi<Tensor>["double"] = ops.double;
/** The elements as int64, as `Tensor.long`. */
export const long: OpApi<Tensor>["long"] = ops.long;
/** The elements as int32, as `Tensor.int`. */
export const int: OpApi<Tensor>["int"] = ops.int;
/** The elements as float16, as `Tensor.half`. */
export const half: OpApi<Tensor>["half"] = ops.half;
/** The elements as bfloat16, as `Tensor.bfloat16`. */
export const bfloat16: OpApi<Tensor>["bfloat16"] = ops.bfloat16;
/** The elements as int16, as `Tensor.short`. */
export const short: OpApi<Tensor>["short"] = ops.short;
/** The elements as int8, as `Tensor.char`. */
export const char: OpApi<Tensor>["char"] = ops.char;
/** The elements as uint8, as `Tensor.byte`. */
export const byte: OpApi<Tensor>["byte"] = ops.byte;
/** The elements as bool, as `Tensor.bool`. */
export const bool: OpApi<Tensor>["bool"] = ops.bool;
/** A copy of the elements, as `torch.clone`. */
export const clone: OpApi<Tensor>["clone"] = ops.clone;
/**
 * The elements of `src`, broadcast and converted to the shape and type of `self`; `copy_` writes them
 * there.
 */
export const copy: OpApi<Tensor>["copy"] = ops.copy;
/** The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`. */
export const view: OpApi<Tensor>["view"] = ops.view;
/** The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`. */
export const reshape: OpApi<Tensor>["reshape"] = ops.reshape;
/** Itself where its elements lie in row-major order, else a copy that does. As `Tensor.contiguous`. */
export const contiguous: OpApi<Tensor>["contiguous"] = ops.contiguous;
/** The dimensions in another order, as `torch.permute`. */
export const permute: OpApi<Tensor>["permute"] = ops.permute;
/** Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`. */
export const squeeze: OpApi<Tensor>["squeeze"] = ops.squeeze;
/** With a dimension of size 1 put before `dim`, as `torch.unsqueeze`. */
export const unsqueeze: OpApi<Tensor>["unsqueeze"] = ops.unsqueeze;
/** Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`. */
export const expand: OpApi<Tensor>["expand"] = ops.expand;
/** The part at `index` along `dim`, without that dimension, as `torch.select`. */
export const select: OpApi<Tensor>["select"] = ops.select;
/** The elements start, start + step, … before end along `dim`, as x[start:end:step]. */
export const slice: OpApi<Tensor>["slice"] = ops.slice;
/** The diagonal of two dimensions as a new last dimension, as `torch.diagonal`. */
export const diagonal: OpApi<Tensor>["diagonal"] = ops.diagonal;
/** The same tensor as another object. */
export const alias: OpApi<Tensor>["alias"] = ops.alias;
/** The same elements, sharing memory, without a history of gradients, as `Tensor.detach`. */
export const detach: OpApi<Tensor>["detach"] = ops.detach;
/**
 * All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension. As
 * `Tensor.unfold`.
 */
export const unfold: OpApi<Tensor>["unfold"] = ops.unfold;
/** The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`. */
export const asStrided: OpApi<Tensor>["asStrided"] = ops.asStrided;
/** As alias, copied. */
export const aliasCopy: OpApi<Tensor>["aliasCopy"] = ops.aliasCopy;
/** As asStrided, copied. */
export const asStridedCopy: OpApi<Tensor>["asStridedCopy"] = ops.asStridedCopy;
/** As diagonal, copied. */
export const diagonalCopy: OpApi<Tensor>["diagonalCopy"] = ops.diagonalCopy;
/** As expand, copied. */
export const expandCopy: OpApi<Tensor>["expandCopy"] = ops.expandCopy;
/** As permute, copied. */
export const permuteCopy: OpApi<Tensor>["permuteCopy"] = ops.permuteCopy;
/** As squeeze, copied. */
export const squeezeCopy: OpApi<Tensor>["squeezeCopy"] = ops.squeezeCopy;
/** As unfold, copied. */
export const unfoldCopy: OpApi<Tensor>["unfoldCopy"] = ops.unfoldCopy;
/** As unsqueeze, copied. */
export const unsqueezeCopy: OpApi<Tensor>["unsqueezeCopy"] = ops.unsqueezeCopy;
/** As view, copied. */
export const viewCopy: OpApi<Tensor>["viewCopy"] = ops.viewCopy;
/** As narrow, copied. */
export const narrowCopy: OpApi<Tensor>["narrowCopy"] = ops.narrowCopy;
/** As splitWithSizes, copied. */
export const splitWithSizesCopy: OpApi<Tensor>["splitWithSizesCopy"] = ops.splitWithSizesCopy;
/** As t, copied. */
export const tCopy: OpApi<Tensor>["tCopy"] = ops.tCopy;
/** As transpose, copied. */
export const transposeCopy: OpApi<Tensor>["transposeCopy"] = ops.transposeCopy;
/** As unbind, copied. */
export const unbindCopy: OpApi<Tensor>["unbindCopy"] = ops.unbindCopy;
/** As split, copied. */
export const unsafeSplit: OpApi<Tensor>["unsafeSplit"] = ops.unsafeSplit;
/** As chunk, copied. */
export const unsafeChunk: OpApi<Tensor>["unsafeChunk"] = ops.unsafeChunk;
/** self with `src` put where select(dim, index) reads, as `torch.select_scatter`. */
export const selectScatter: OpApi<Tensor>["selectScatter"] = ops.selectScatter;
/** self with `src` put where slice(dim, start, end, step) reads, as `torch.slice_scatter`. */
export const sliceScatter: OpApi<Tensor>["sliceScatter"] = ops.sliceScatter;
/** self with `src` on the diagonal that diagonal(offset, dim1, dim2) reads, as `torch.diagonal_scatter`. */
export const diagonalScatter: OpApi<Tensor>["diagonalScatter"] = ops.diagonalScatter;
/** The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`. */
export const diagEmbed: OpApi<Tensor>["diagEmbed"] = ops.diagEmbed;
/** Adds the windows of an unfolding back into a tensor of the shape it had. */
export const unfoldBackward: OpApi<Tensor>["unfoldBackward"] = ops.unfoldBackward;
/** Adds the elements of a strided view back into a row-major tensor of the shape it had. */
export const asStridedBackward: OpApi<Tensor>["asStridedBackward"] = ops.asStridedBackward;
/** What asStrided shows of self, taken as row-major, wherever its elements lie. */
export const readStrided: OpApi<Tensor>["readStrided"] = ops.readStrided;
/** self, taken as row-major, with `src` put where asStrided reads. */
export const writeStrided: OpApi<Tensor>["writeStrided"] = ops.writeStrided;
/**
 * self with `src` put where asStrided reads, as `torch.as_strided_scatter`, of a row-major tensor. Its
 * gradient is PyTorch's, which is not the derivative: self gets that of the elements that were replaced.
 */
export const asStridedScatter: OpApi<Tensor>["asStridedScatter"] = ops.asStridedScatter;
/** Two dimensions exchanged, as `torch.transpose`. */
export const transpose: OpApi<Tensor>["transpose"] = ops.transpose;
/** Two dimensions exchanged, as `torch.transpose`. */
export const swapaxes: OpApi<Tensor>["transpose"] = ops.transpose;
/** Two dimensions exchanged, as `torch.transpose`. */
export const swapdims: OpApi<Tensor>["transpose"] = ops.transpose;
/** A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`. */
export const t: OpApi<Tensor>["t"] = ops.t;
/** All dimensions in reverse order, as the property `x.T` (and, for real matrices, `x.H`). */
export const T: OpApi<Tensor>["T"] = ops.T;
/** All dimensions in reverse order, as the property `x.T` (and, for real matrices, `x.H`). */
export const H: OpApi<Tensor>["T"] = ops.T;
/** The last two dimensions exchanged, as the property `x.mT` (and, for real numbers, `x.mH`). */
export const mT: OpApi<Tensor>["mT"] = ops.mT;
/** The last two dimensions exchanged, as the property `x.mT` (and, for real numbers, `x.mH`). */
export const mH: OpApi<Tensor>["mT"] = ops.mT;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const movedim: OpApi<Tensor>["movedim"] = ops.movedim;
/** Dimensions moved to other places, the rest in order, as `torch.movedim`. */
export const moveaxis: OpApi<Tensor>["movedim"] = ops.movedim;
/** The dimensions from startDim to endDim as one, as `torch.flatten`. */
export const flatten: OpApi<Tensor>["flatten"] = ops.flatten;
/** One dimension as several, one of whose sizes may be −1, as `torch.unflatten`. */
export const unflatten: OpApi<Tensor>["unflatten"] = ops.unflatten;
/** As view, in the shape of `other`. */
export const viewAs: OpApi<Tensor>["viewAs"] = ops.viewAs;
/** As reshape, in the shape of `other`. */
export const reshapeAs: OpApi<Tensor>["reshapeAs"] = ops.reshapeAs;
/** As expand, in the shape of `other`. */
export const expandAs: OpApi<Tensor>["expandAs"] = ops.expandAs;
/** As expand, as `torch.broadcast_to`. */
export const broadcastTo: OpApi<Tensor>["broadcastTo"] = ops.broadcastTo;
/** `length` elements from `start` along a dimension, as `torch.narrow`. */
export const narrow: OpApi<Tensor>["narrow"] = ops.narrow;
/** Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`. */
export const split: OpApi<Tensor>["split"] = ops.split;
/** Parts of the given lengths along a dimension, as `torch.split_with_sizes`. */
export const splitWithSizes: OpApi<Tensor>["splitWithSizes"] = ops.splitWithSizes;
/** At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`. */
export const chunk: OpApi<Tensor>["chunk"] = ops.chunk;
/** Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`. */
export const tensorSplit: OpApi<Tensor>["tensorSplit"] = ops.tensorSplit;
/** Parts along a dimension, as `torch.hsplit`. */
export const hsplit: OpApi<Tensor>["hsplit"] = ops.hsplit;
/** Parts along a dimension, as `torch.vsplit`. */
export const vsplit: OpApi<Tensor>["vsplit"] = ops.vsplit;
/** Parts along a dimension, as `torch.dsplit`. */
export const dsplit: OpApi<Tensor>["dsplit"] = ops.dsplit;
/** All parts along a dimension, without it, as `torch.unbind`. */
export const unbind: OpApi<Tensor>["unbind"] = ops.unbind;
/**
 * out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As
 * `torch.gather`.
 */
export const gather: OpApi<Tensor>["gather"] = ops.gather;
/**
 * self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or
 * "multiply" combines instead. As `torch.scatter`.
 */
export const scatter: OpApi<Tensor>["scatter"] = ops.scatter;
/** As scatter without `reduce`. */
export const scatterSet: OpApi<Tensor>["scatterSet"] = ops.scatterSet;
/** self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`. */
export const scatterAdd: OpApi<Tensor>["scatterAdd"] = ops.scatterAdd;
/** Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`. */
export const take: OpApi<Tensor>["take"] = ops.take;
/** self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`. */
export const put: OpApi<Tensor>["put"] = ops.put;
/** As gather with broadcasting; without `dim`, of the flattened tensor. As `torch.take_along_dim`. */
export const takeAlongDim: OpApi<Tensor>["takeAlongDim"] = ops.takeAlongDim;
/** The parts at the indices of a vector along a dimension, as `torch.index_select`. */
export const indexSelect: OpApi<Tensor>["indexSelect"] = ops.indexSelect;
/** self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`. */
export const indexAdd: OpApi<Tensor>["indexAdd"] = ops.indexAdd;
/** self with source put at a vector of indices along a dimension, as `torch.index_copy`. */
export const indexCopy: OpApi<Tensor>["indexCopy"] = ops.indexCopy;
/** self with one value at a vector of indices along a dimension, as `torch.index_fill`. */
export const indexFill: OpApi<Tensor>["indexFill"] = ops.indexFill;
/**
 * The elements at index tensors, one for each leading dimension (null: all of it). Masks make the size
 * depend on elements. As `x[i, j]` with tensors.
 */
export const index: OpApi<Tensor>["index"] = ops.index;
/** As index, of integer tensors. */
export const gatherIndices: OpApi<Tensor>["gatherIndices"] = ops.gatherIndices;
/** self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`. */
export const indexPut: OpApi<Tensor>["indexPut"] = ops.indexPut;
/** As indexPut, at integer tensors. */
export const putIndices: OpApi<Tensor>["putIndices"] = ops.putIndices;
/** The elements where the mask (broadcast) is true, in order, as `torch.masked_select`. */
export const maskedSelect: OpApi<Tensor>["maskedSelect"] = ops.maskedSelect;
/** self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`. */
export const maskedScatter: OpApi<Tensor>["maskedScatter"] = ops.maskedScatter;
/** Reversed along dimensions, as `torch.flip`. */
export const flip: OpApi<Tensor>["flip"] = ops.flip;
/** Reversed along dimension 1, as `torch.fliplr`. */
export const fliplr: OpApi<Tensor>["fliplr"] = ops.fliplr;
/** Reversed along dimension 0, as `torch.flipud`. */
export const flipud: OpApi<Tensor>["flipud"] = ops.flipud;
/** Shifted around along dimensions, or flattened where none are given, as `torch.roll`. */
export const roll: OpApi<Tensor>["roll"] = ops.roll;
/** Shifted around along dimensions. */
export const rollDims: OpApi<Tensor>["rollDims"] = ops.rollDims;
/** Copies side by side, so many along each dimension, as `Tensor.repeat`. */
export const repeat: OpApi<Tensor>["repeat"] = ops.repeat;
/** As repeat, with missing leading repeats taken as 1, as `torch.tile`. */
export const tile: OpApi<Tensor>["tile"] = ops.tile;
/**
 * Each element (along `dim`, or flattened) repeated in place; one number, or one for each (then eager
 * only). As `torch.repeat_interleave`.
 */
export const repeatInterleave: OpApi<Tensor>["repeatInterleave"] = ops.repeatInterleave;
/** Turned by k quarters in the plane of two dimensions, as `torch.rot90`. */
export const rot90: OpApi<Tensor>["rot90"] = ops.rot90;
/** The lower triangle of matrices from a diagonal on, as `torch.tril`. */
export const tril: OpApi<Tensor>["tril"] = ops.tril;
/** The upper triangle of matrices from a diagonal on, as `torch.triu`. */
export const triu: OpApi<Tensor>["triu"] = ops.triu;
/** The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`. */
export const diag: OpApi<Tensor>["diag"] = ops.diag;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const cat: OpApi<Tensor>["cat"] = ops.cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concat: OpApi<Tensor>["cat"] = ops.cat;
/** Tensors one after the other along a dimension, as `torch.cat`. */
export const concatenate: OpApi<Tensor>["cat"] = ops.cat;
/** Tensors of one shape along a new dimension, as `torch.stack`. */
export const stack: OpApi<Tensor>["stack"] = ops.stack;
/** Running sums along a dimension, as `torch.cumsum`. */
export const cumsum: OpApi<Tensor>["cumsum"] = ops.cumsum;
/** Running products along a dimension, as `torch.cumprod`. */
export const cumprod: OpApi<Tensor>["cumprod"] = ops.cumprod;
/** Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`. */
export const logcumsumexp: OpApi<Tensor>["logcumsumexp"] = ops.logcumsumexp;
/** The maximum so far along a dimension. */
export const runningMax: OpApi<Tensor>["runningMax"] = ops.runningMax;
/** The minimum so far along a dimension. */
export const runningMin: OpApi<Tensor>["runningMin"] = ops.runningMin;
/** The maximum so far along a dimension and where it was last met, as `torch.cummax`. */
export const cummax: OpApi<Tensor>["cummax"] = ops.cummax;
/** The minimum so far along a dimension and where it was last met, as `torch.cummin`. */
export const cummin: OpApi<Tensor>["cummin"] = ops.cummin;
/** The angle of the point (other, self), as `torch.atan2`. */
export const atan2: OpApi<Tensor>["atan2"] = ops.atan2;
/** The angle of the point (other, self), as `torch.atan2`. */
export const arctan2: OpApi<Tensor>["atan2"] = ops.atan2;
/** √(self² + other²) without overflow, as `torch.hypot`. */
export const hypot: OpApi<Tensor>["hypot"] = ops.hypot;
/** |self| with the sign of `other`, that of −0 included, as `torch.copysign`. */
export const copysign: OpApi<Tensor>["copysign"] = ops.copysign;
/** self · log(other), 0 where self is 0, as `torch.xlogy`. One of them may be a number. */
export const xlogy: OpApi<Tensor>["xlogy"] = ops.xlogy;
/** self · log1p(other), 0 where self is 0, as `torch.special.xlog1py`. One of them may be a number. */
export const xlog1py: OpApi<Tensor>["xlog1py"] = ops.xlog1py;
/** log(e^self + e^other) without overflow, as `torch.logaddexp`. */
export const logaddexp: OpApi<Tensor>["logaddexp"] = ops.logaddexp;
/** log(2^self + 2^other) without overflow, as `torch.logaddexp2`. */
export const logaddexp2: OpApi<Tensor>["logaddexp2"] = ops.logaddexp2;
/** self + weight · (end − self), exact at both ends, as `torch.lerp`. */
export const lerp: OpApi<Tensor>["lerp"] = ops.lerp;
/** self + value · tensor1 · tensor2, as `torch.addcmul`. */
export const addcmul: OpApi<Tensor>["addcmul"] = ops.addcmul;
/** self + value · tensor1 / tensor2, as `torch.addcdiv`. */
export const addcdiv: OpApi<Tensor>["addcdiv"] = ops.addcdiv;
/** self · 2^other, as `torch.ldexp`. */
export const ldexp: OpApi<Tensor>["ldexp"] = ops.ldexp;
/**
 * The indices of what is not 0, one row each; with asTuple one vector for each dimension. As
 * `torch.nonzero`.
 */
export const nonzero: OpApi<Tensor>["nonzero"] = ops.nonzero;
/** The indices of what is not 0, one row each, as `torch.argwhere`. Its size depends on elements. */
export const argwhere: OpApi<Tensor>["argwhere"] = ops.argwhere;
/** Index i repeats[i] times, for all i below `size`; one number of repeats stands for all. */
export const repeatedIndices: OpApi<Tensor>["repeatedIndices"] = ops.repeatedIndices;
/** Distinct elements (or slices along `dim`), where each went, and how many there were of each. */
export const uniqueGroups: OpApi<Tensor>["uniqueGroups"] = ops.uniqueGroups;
/**
 * Distinct elements, sorted; with returnInverse and returnCounts also where each went and how many there
 * were. As `torch.unique`.
 */
export const unique: OpApi<Tensor>["unique"] = ops.unique;
/**
 * Distinct elements, sorted as they come, neighbours alone compared; with returnInverse and returnCounts
 * also where each went and how many there were. As `torch.uniqueConsecutive`.
 */
export const uniqueConsecutive: OpApi<Tensor>["uniqueConsecutive"] = ops.uniqueConsecutive;
/** How often each integer from 0 on occurs, or the sum of its weights, as `torch.bincount`. */
export const bincount: OpApi<Tensor>["bincount"] = ops.bincount;
/** Padded with one value, as `torch.constant_pad_nd`. */
export const constantPadNd: OpApi<Tensor>["constantPadNd"] = ops.constantPadNd;
/** Padded with elements of the tensor: reflect, replicate or circular. */
export const padBy: OpApi<Tensor>["padBy"] = ops.padBy;
/** Adds the elements of a padded gradient to where padBy read them. */
export const padByBackward: OpApi<Tensor>["padByBackward"] = ops.padByBackward;
/**
 * Padded by `pad` = [before, after] of the last dimension, then of the one before it, …; mode constant,
 * reflect, replicate or circular. As `nn.functional.pad`.
 */
export const pad: OpApi<Tensor>["pad"] = ops.pad;
/**
 * For each element the product, maximum or minimum of the values that `index` sends to it; a neutral value
 * where there is none.
 */
export const scatterCombined: OpApi<Tensor>["scatterCombined"] = ops.scatterCombined;
/**
 * self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin.
 * As `torch.scatter_reduce`.
 */
export const scatterReduce: OpApi<Tensor>["scatterReduce"] = ops.scatterReduce;
/** As scatterReduce with prod, amax or amin. */
export const scatterExtreme: OpApi<Tensor>["scatterExtreme"] = ops.scatterExtreme;
/**
 * self combined with parts of source at a vector of indices: prod, mean, amax or amin. As
 * `torch.index_reduce`.
 */
export const indexReduce: OpApi<Tensor>["indexReduce"] = ops.indexReduce;
/** Sorted along the last dimension, stable, with indices. */
export const sortLast: OpApi<Tensor>["sortLast"] = ops.sortLast;
/** The first `count` elements of the last dimension as `sortLast` orders it, with indices. */
export const firstOfSorted: OpApi<Tensor>["firstOfSorted"] = ops.firstOfSorted;
/** Sorted along a dimension, with the indices of where elements were; always stable. As `torch.sort`. */
export const sort: OpApi<Tensor>["sort"] = ops.sort;
/** The indices that sort a dimension, as `torch.argsort`. */
export const argsort: OpApi<Tensor>["argsort"] = ops.argsort;
/** Sorted along the first dimension, as `torch.msort`. */
export const msort: OpApi<Tensor>["msort"] = ops.msort;
/** The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`. */
export const topk: OpApi<Tensor>["topk"] = ops.topk;
/** The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`. */
export const kthvalue: OpApi<Tensor>["kthvalue"] = ops.kthvalue;
/** The lower middle element of all; its gradient is shared by the elements that equal it. */
export const medianOfAll: OpApi<Tensor>["medianOfAll"] = ops.medianOfAll;
/** The lower middle element, NaN where there is one; with `dim` also its index. As `torch.median`. */
export const median: OpApi<Tensor>["median"] = ops.median;
/** The lower middle element of what is not NaN; with `dim` also its index. As `torch.nanmedian`. */
export const nanmedian: OpApi<Tensor>["nanmedian"] = ops.nanmedian;
/**
 * Where values would go into sorted sequences (of the last dimension) to keep them sorted, as
 * `torch.searchsorted`.
 */
export const searchsorted: OpApi<Tensor>["searchsorted"] = ops.searchsorted;
/** How many elements of a sorted sequence lie before each value. */
export const countBefore: OpApi<Tensor>["countBefore"] = ops.countBefore;
/** The index of the bucket between sorted boundaries for each value, as `torch.bucketize`. */
export const bucketize: OpApi<Tensor>["bucketize"] = ops.bucketize;
/** Whether each element is among the test elements, as `torch.isin`. */
export const isin: OpApi<Tensor>["isin"] = ops.isin;
/** The q-quantiles of all elements or of a dimension, as `torch.quantile`. */
export const quantile: OpApi<Tensor>["quantile"] = ops.quantile;
/** The q-quantiles of all elements or of a dimension, as `torch.nanquantile`. */
export const nanquantile: OpApi<Tensor>["nanquantile"] = ops.nanquantile;
/** The derivative of lgamma, as `torch.digamma`. */
export const digamma: OpApi<Tensor>["digamma"] = ops.digamma;
/** The derivative of lgamma, as `torch.digamma`. */
export const psi: OpApi<Tensor>["digamma"] = ops.digamma;
/** The second derivative of lgamma. */
export const trigamma: OpApi<Tensor>["trigamma"] = ops.trigamma;
/** The inverse of erf, as `torch.erfinv`. */
export const erfinv: OpApi<Tensor>["erfinv"] = ops.erfinv;
/** The area under the standard normal density up to x, as `torch.special.ndtr`. */
export const ndtr: OpApi<Tensor>["ndtr"] = ops.ndtr;
/** −x log x, 0 at 0 and −∞ below, as `torch.special.entr`. */
export const entr: OpApi<Tensor>["entr"] = ops.entr;
/** e^(x²) erfc(x), as `torch.special.erfcx`. */
export const erfcx: OpApi<Tensor>["erfcx"] = ops.erfcx;
/** log(ndtr(x)), also far below 0, as `torch.special.log_ndtr`. */
export const logNdtr: OpApi<Tensor>["logNdtr"] = ops.logNdtr;
/** The inverse of ndtr, as `torch.special.ndtri`. */
export const ndtri: OpApi<Tensor>["ndtri"] = ops.ndtri;
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const mvlgamma: OpApi<Tensor>["mvlgamma"] = ops.mvlgamma;
/** The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`. */
export const multigammaln: OpApi<Tensor>["mvlgamma"] = ops.mvlgamma;
/** The modified Bessel function of order 0, as `torch.i0`. */
export const i0: OpApi<Tensor>["i0"] = ops.i0;
/** e^−|x| i0(x), as `torch.special.i0e`. */
export const i0e: OpApi<Tensor>["i0e"] = ops.i0e;
/** The modified Bessel function of order 1, as `torch.special.i1`. */
export const i1: OpApi<Tensor>["i1"] = ops.i1;
/** e^−|x| i1(x), as `torch.special.i1e`. */
export const i1e: OpApi<Tensor>["i1e"] = ops.i1e;
/** As i0, as `torch.special.modified_bessel_i0`. */
export const modifiedBesselI0: OpApi<Tensor>["modifiedBesselI0"] = ops.modifiedBesselI0;
/** As i1, as `torch.special.modified_bessel_i1`. */
export const modifiedBesselI1: OpApi<Tensor>["modifiedBesselI1"] = ops.modifiedBesselI1;
/** The modified Bessel function of the second kind of order 0, as `torch.special.modified_bessel_k0`. */
export const modifiedBesselK0: OpApi<Tensor>["modifiedBesselK0"] = ops.modifiedBesselK0;
/** The modified Bessel function of the second kind of order 1, as `torch.special.modified_bessel_k1`. */
export const modifiedBesselK1: OpApi<Tensor>["modifiedBesselK1"] = ops.modifiedBesselK1;
/** e^x modifiedBesselK0(x), as `torch.special.scaled_modified_bessel_k0`. */
export const scaledModifiedBesselK0: OpApi<Tensor>["scaledModifiedBesselK0"] = ops.scaledModifiedBesselK0;
/** e^x modifiedBesselK1(x), as `torch.special.scaled_modified_bessel_k1`. */
export const scaledModifiedBesselK1: OpApi<Tensor>["scaledModifiedBesselK1"] = ops.scaledModifiedBesselK1;
/** The Bessel function of the first kind of order 0, as `torch.special.bessel_j0`. */
export const besselJ0: OpApi<Tensor>["besselJ0"] = ops.besselJ0;
/** The Bessel function of the first kind of order 1, as `torch.special.bessel_j1`. */
export const besselJ1: OpApi<Tensor>["besselJ1"] = ops.besselJ1;
/** The Bessel function of the second kind of order 0, as `torch.special.bessel_y0`. */
export const besselY0: OpApi<Tensor>["besselY0"] = ops.besselY0;
/** The Bessel function of the second kind of order 1, as `torch.special.bessel_y1`. */
export const besselY1: OpApi<Tensor>["besselY1"] = ops.besselY1;
/** sin(x)/x, the spherical Bessel function of order 0, as `torch.special.spherical_bessel_j0`. */
export const sphericalBesselJ0: OpApi<Tensor>["sphericalBesselJ0"] = ops.sphericalBesselJ0;
/** The Airy function Ai, as `torch.special.airy_ai`. */
export const airyAi: OpApi<Tensor>["airyAi"] = ops.airyAi;
/** The zeta function of Hurwitz, Σ 1/(other + i)^self, as `torch.special.zeta`. One of them may be a number. */
export const zeta: OpApi<Tensor>["zeta"] = ops.zeta;
/** The n-th derivative of digamma, as `torch.polygamma`; `n` comes first, or second as in `x.polygamma(n)`. */
export const polygamma: OpApi<Tensor>["polygamma"] = ops.polygamma;
/** (−1)ⁿ⁺¹ · n! · ζ(n + 1, self), n ≥ 1. */
export const polygammaOf: OpApi<Tensor>["polygammaOf"] = ops.polygammaOf;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const igamma: OpApi<Tensor>["igamma"] = ops.igamma;
/**
 * The regularized lower incomplete gamma function of a = self and x = other, as `torch.igamma`. Computed on
 * the host.
 */
export const gammainc: OpApi<Tensor>["igamma"] = ops.igamma;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const igammac: OpApi<Tensor>["igammac"] = ops.igammac;
/**
 * The regularized upper incomplete gamma function of a = self and x = other, as `torch.igammac`. Computed
 * on the host.
 */
export const gammaincc: OpApi<Tensor>["igammac"] = ops.igammac;
/** self · Φ(self), by erf, or by tanh where `approximate` says so. As `nn.functional.gelu`. */
export const gelu: OpApi<Tensor>["gelu"] = ops.gelu;
/** self · sigmoid(self), as `nn.functional.silu`. */
export const silu: OpApi<Tensor>["silu"] = ops.silu;
/** self · tanh(softplus(self)), as `nn.functional.mish`. */
export const mish: OpApi<Tensor>["mish"] = ops.mish;
/** log(1 + e^(beta · self)) / beta, self itself beyond the threshold, as `nn.functional.softplus`. */
export const softplus: OpApi<Tensor>["softplus"] = ops.softplus;
/** log(sigmoid(self)), as `nn.functional.logsigmoid`. */
export const logsigmoid: OpApi<Tensor>["logsigmoid"] = ops.logsigmoid;
/** self / (1 + |self|), as `nn.functional.softsign`. */
export const softsign: OpApi<Tensor>["softsign"] = ops.softsign;
/** self − tanh(self), as `nn.functional.tanhshrink`. */
export const tanhshrink: OpApi<Tensor>["tanhshrink"] = ops.tanhshrink;
/** scale · self above 0, scale · alpha · (e^(rate · self) − 1) below. */
export const eluLinear: OpApi<Tensor>["eluLinear"] = ops.eluLinear;
/** self above 0, alpha · (e^self − 1) below, as `nn.functional.elu`. */
export const elu: OpApi<Tensor>["elu"] = ops.elu;
/** max(self, 0) + min(0, alpha · (e^(self / alpha) − 1)), as `nn.functional.celu`. */
export const celu: OpApi<Tensor>["celu"] = ops.celu;
/** The self-normalizing elu, as `nn.functional.selu`. */
export const selu: OpApi<Tensor>["selu"] = ops.selu;
/** The first half along a dimension times the sigmoid of the second, as `nn.functional.glu`. */
export const glu: OpApi<Tensor>["glu"] = ops.glu;
/**
 * Gradients of windows of the last two dimensions sent to where the indices of maxPool2d say that their
 * maxima were.
 */
export const maxPool2dWithIndicesBackward: OpApi<Tensor>["maxPool2dWithIndicesBackward"] =
  ops.maxPool2dWithIndicesBackward;
/** The maximum of each window over the last dimensions, and its flat place in the window. */
export const maxPoolOffsets: OpApi<Tensor>["maxPoolOffsets"] = ops.maxPoolOffsets;
/** Gradients of windows sent to where their maximum was. */
export const maxPoolBackward: OpApi<Tensor>["maxPoolBackward"] = ops.maxPoolBackward;
/**
 * The maximum of each window over 1 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool1d`.
 */
export const maxPool1d: OpApi<Tensor>["maxPool1d"] = ops.maxPool1d;
/**
 * The maximum of each window over 2 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool2d`.
 */
export const maxPool2d: OpApi<Tensor>["maxPool2d"] = ops.maxPool2d;
/**
 * The maximum of each window over 3 dimension(s); with returnIndices also where it was. As
 * `nn.functional.max_pool3d`.
 */
export const maxPool3d: OpApi<Tensor>["maxPool3d"] = ops.maxPool3d;
/** The sum of each window over the last dimensions. */
export const windowSum: OpApi<Tensor>["windowSum"] = ops.windowSum;
/** Gradients of windows given to each of their elements. */
export const windowSumBackward: OpApi<Tensor>["windowSumBackward"] = ops.windowSumBackward;
/** How many elements each window over the last dimensions has, of those in the (padded) input. */
export const windowSizes: OpApi<Tensor>["windowSizes"] = ops.windowSizes;
/** The mean of each window over 1 dimension(s), as `nn.functional.avg_pool1d`. */
export const avgPool1d: OpApi<Tensor>["avgPool1d"] = ops.avgPool1d;
/** The mean of each window over 2 dimension(s), as `nn.functional.avg_pool2d`. */
export const avgPool2d: OpApi<Tensor>["avgPool2d"] = ops.avgPool2d;
/** The mean of each window over 3 dimension(s), as `nn.functional.avg_pool3d`. */
export const avgPool3d: OpApi<Tensor>["avgPool3d"] = ops.avgPool3d;
/** (Σ xᵖ)^(1/p) of each window over 1 dimension(s), as `nn.functional.lp_pool1d`. */
export const lpPool1d: OpApi<Tensor>["lpPool1d"] = ops.lpPool1d;
/** (Σ xᵖ)^(1/p) of each window over 2 dimension(s), as `nn.functional.lp_pool2d`. */
export const lpPool2d: OpApi<Tensor>["lpPool2d"] = ops.lpPool2d;
/** (Σ xᵖ)^(1/p) of each window over 3 dimension(s), as `nn.functional.lp_pool3d`. */
export const lpPool3d: OpApi<Tensor>["lpPool3d"] = ops.lpPool3d;
/**
 * The maxima of windows at random places over 2 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool2d`.
 */
export const fractionalMaxPool2d: OpApi<Tensor>["fractionalMaxPool2d"] = ops.fractionalMaxPool2d;
/**
 * The maxima of windows at random places over 3 dimensions (Graham 2014), as
 * `nn.functional.fractional_max_pool3d`.
 */
export const fractionalMaxPool3d: OpApi<Tensor>["fractionalMaxPool3d"] = ops.fractionalMaxPool3d;
/** Numbers of the uniform distribution on [0, 1), as `torch.rand`. */
export const rand: OpApi<Tensor>["rand"] = ops.rand;
/** Numbers of the standard normal distribution, as `torch.randn`. */
export const randn: OpApi<Tensor>["randn"] = ops.randn;
/** As rand, of the shape, type and device of `self`. */
export const randLike: OpApi<Tensor>["randLike"] = ops.randLike;
/** As randn, of the shape, type and device of `self`. */
export const randnLike: OpApi<Tensor>["randnLike"] = ops.randnLike;
/** randint(high, size), randint(low, high, size): integers of [low, high), as `torch.randint`. */
export const randint: OpApi<Tensor>["randint"] = ops.randint;
/** randintLike(x, high), randintLike(x, low, high): integers of [low, high) in the shape of a tensor. */
export const randintLike: OpApi<Tensor>["randintLike"] = ops.randintLike;
/** The integers below n in random order, as `torch.randperm`. */
export const randperm: OpApi<Tensor>["randperm"] = ops.randperm;
/** 1 with the probability in `self` (or p), else 0, as `torch.bernoulli`. */
export const bernoulli: OpApi<Tensor>["bernoulli"] = ops.bernoulli;
/** Numbers of [from, to); `uniform_` fills a tensor with them, as `Tensor.uniform_`. */
export const uniform: OpApi<Tensor>["uniform"] = ops.uniform;
/** Numbers of a normal distribution; `normal_` fills a tensor with them, as `Tensor.normal_`. */
export const normal: OpApi<Tensor>["normal"] = ops.normal;
/** Numbers of an exponential distribution; `exponential_` fills a tensor, as `Tensor.exponential_`. */
export const exponential: OpApi<Tensor>["exponential"] = ops.exponential;
/** Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. */
export const multinomial: OpApi<Tensor>["multinomial"] = ops.multinomial;
/** 1 / (1 − p) with probability 1 − p, else 0, in the shape and type of `self`. */
export const dropoutMask: OpApi<Tensor>["dropoutMask"] = ops.dropoutMask;
/**
 * Elements dropped with probability p and the rest scaled to keep the mean, while training. As
 * `nn.functional.dropout`.
 */
export const dropout: OpApi<Tensor>["dropout"] = ops.dropout;
/** As dropout, of whole channels of 1 dimension(s), as `nn.functional.dropout1d`. */
export const dropout1d: OpApi<Tensor>["dropout1d"] = ops.dropout1d;
/** As dropout, of whole channels of 2 dimension(s), as `nn.functional.dropout2d`. */
export const dropout2d: OpApi<Tensor>["dropout2d"] = ops.dropout2d;
/** As dropout, of whole channels of 3 dimension(s), as `nn.functional.dropout3d`. */
export const dropout3d: OpApi<Tensor>["dropout3d"] = ops.dropout3d;
/**
 * Elements set to where SELU saturates with probability p and all moved to keep mean and variance, while
 * training. As `nn.functional.alpha_dropout`.
 */
export const alphaDropout: OpApi<Tensor>["alphaDropout"] = ops.alphaDropout;
/**
 * Whole channels set to where SELU saturates with probability p and all moved to keep mean and variance,
 * while training. As `nn.functional.feature_alpha_dropout`.
 */
export const featureAlphaDropout: OpApi<Tensor>["featureAlphaDropout"] = ops.featureAlphaDropout;
/**
 * x above 0; below, x times a slope of [lower, upper), random while training, else the middle. As
 * `nn.functional.rrelu`.
 */
export const rrelu: OpApi<Tensor>["rrelu"] = ops.rrelu;
/**
 * Softmax of logits with Gumbel noise at temperature tau; with hard the largest is 1 and the others 0, with
 * the gradient of the soft ones (Jang et al. 2017). As `nn.functional.gumbel_softmax`.
 */
export const gumbelSoftmax: OpApi<Tensor>["gumbelSoftmax"] = ops.gumbelSoftmax;
/**
 * The variance over dimensions, divided by the count less `correction` (1). As `torch.var`; the free
 * function is `variance`.
 */
export const variance: OpApi<Tensor>["var"] = ops.var;
/** The standard deviation over dimensions, divided by the count less `correction` (1). As `torch.std`. */
export const std: OpApi<Tensor>["std"] = ops.std;
/** var and mean over dimensions, as `torch.var_mean`. */
export const varMean: OpApi<Tensor>["varMean"] = ops.varMean;
/** std and mean over dimensions, as `torch.std_mean`. */
export const stdMean: OpApi<Tensor>["stdMean"] = ops.stdMean;
/** log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`. */
export const logsumexp: OpApi<Tensor>["logsumexp"] = ops.logsumexp;
/** How many elements are not 0, over dimensions. Its gradient is 0, as PyTorch has it. */
export const norm0: OpApi<Tensor>["norm0"] = ops.norm0;
/** √Σ self² over dimensions. */
export const norm2: OpApi<Tensor>["norm2"] = ops.norm2;
/** (Σ |self|^p)^(1/p) over dimensions. */
export const normP: OpApi<Tensor>["normP"] = ops.normP;
/** The norm of order `ord` of the vectors along dimensions, as `torch.linalg.vector_norm`. */
export const vectorNorm: OpApi<Tensor>["vectorNorm"] = ops.vectorNorm;
/**
 * The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as
 * `torch.norm`.
 */
export const norm: OpApi<Tensor>["norm"] = ops.norm;
/** self divided by its norm along a dimension, at least eps, as `nn.functional.normalize`. */
export const normalize: OpApi<Tensor>["normalize"] = ops.normalize;
/** The cosine of the angle between vectors along a dimension, as `nn.functional.cosine_similarity`. */
export const cosineSimilarity: OpApi<Tensor>["cosineSimilarity"] = ops.cosineSimilarity;
/** The norm of x1 − x2 + eps along the last dimension, as `nn.functional.pairwise_distance`. */
export const pairwiseDistance: OpApi<Tensor>["pairwiseDistance"] = ops.pairwiseDistance;
/** The norm of self − other, as `torch.dist`. */
export const dist: OpApi<Tensor>["dist"] = ops.dist;
/** Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`. */
export const renorm: OpApi<Tensor>["renorm"] = ops.renorm;
/**
 * The rows of `weight` at the integers in `input`, as `nn.functional.embedding`; also with the two the
 * other way round, as `torch.embedding`.
 */
export const embedding: OpApi<Tensor>["embedding"] = ops.embedding;
/** The rows of a table at indices. */
export const embeddingRows: OpApi<Tensor>["embeddingRows"] = ops.embeddingRows;
/** The gradient of a table of `rows` rows: gradients of rows added up, without those of the padding index. */
export const embeddingBackward: OpApi<Tensor>["embeddingBackward"] = ops.embeddingBackward;
/**
 * 1 at the class that each integer names, else 0, in a new last dimension, as `nn.functional.one_hot`.
 * Without numClasses the size depends on elements.
 */
export const oneHot: OpApi<Tensor>["oneHot"] = ops.oneHot;
/** oneHot of a known number of classes. */
export const oneHotClasses: OpApi<Tensor>["oneHotClasses"] = ops.oneHotClasses;
/** oneHot with as many classes as the greatest integer needs. */
export const oneHotOfAll: OpApi<Tensor>["oneHotOfAll"] = ops.oneHotOfAll;
/**
 * Sums, means or maxima of the rows of `weight` at bags of integers, as `nn.functional.embedding_bag`: rows
 * of a matrix are bags, and vectors have bags that start at `offsets`.
 */
export const embeddingBag: OpApi<Tensor>["embeddingBag"] = ops.embeddingBag;
/**
 * softmax(query · keyᵀ · scale + mask) · value, with dropout on the weights, as
 * `nn.functional.scaled_dot_product_attention`.
 */
export const scaledDotProductAttention: OpApi<Tensor>["scaledDotProductAttention"] =
  ops.scaledDotProductAttention;
/**
 * Sums of products of operands over the dimensions that an equation such as "bij,bjk->bik" names. As
 * `torch.einsum`, in all of its forms.
 */
export const einsum: OpApi<Tensor>["einsum"] = ops.einsum;
/** Sums of products over dimensions of one tensor paired with dimensions of another. */
export const tensordotDims: OpApi<Tensor>["tensordotDims"] = ops.tensordotDims;
/** Sums of products over the last dimensions, as `torch.inner`. */
export const inner: OpApi<Tensor>["inner"] = ops.inner;
/** The sum of the diagonal of a matrix, as `torch.trace`. */
export const trace: OpApi<Tensor>["trace"] = ops.trace;
/** The Kronecker product, as `torch.kron`. */
export const kron: OpApi<Tensor>["kron"] = ops.kron;
/** x1ᵀ · weight[k] · x2 + bias[k] for each k, as `nn.functional.bilinear`. */
export const bilinear: OpApi<Tensor>["bilinear"] = ops.bilinear;
/** With at least 1 dimension(s), as `torch.atleast_1d` of one tensor. */
export const atleast1d: OpApi<Tensor>["atleast1d"] = ops.atleast1d;
/** With at least 2 dimension(s), as `torch.atleast_2d` of one tensor. */
export const atleast2d: OpApi<Tensor>["atleast2d"] = ops.atleast2d;
/** With at least 3 dimension(s), as `torch.atleast_3d` of one tensor. */
export const atleast3d: OpApi<Tensor>["atleast3d"] = ops.atleast3d;
/** Tensors joined along a dimension that the name says, as `torch.hstack`. */
export const hstack: OpApi<Tensor>["hstack"] = ops.hstack;
/** Tensors joined along a dimension that the name says, as `torch.vstack`. */
export const vstack: OpApi<Tensor>["vstack"] = ops.vstack;
/** Tensors joined along a dimension that the name says, as `torch.vstack`. */
export const rowStack: OpApi<Tensor>["vstack"] = ops.vstack;
/** Tensors joined along a dimension that the name says, as `torch.dstack`. */
export const dstack: OpApi<Tensor>["dstack"] = ops.dstack;
/** Tensors joined along a dimension that the name says, as `torch.columnStack`. */
export const columnStack: OpApi<Tensor>["columnStack"] = ops.columnStack;
/** Matrices along the diagonal of a matrix of zeros, as `torch.block_diag`. */
export const blockDiag: OpApi<Tensor>["blockDiag"] = ops.blockDiag;
/**
 * Each vector along a dimension of its own, all expanded to the grid; indexing "ij" or "xy". As
 * `torch.meshgrid`.
 */
export const meshgrid: OpApi<Tensor>["meshgrid"] = ops.meshgrid;
/** All combinations of elements of vectors, one a row, as `torch.cartesian_prod`. */
export const cartesianProd: OpApi<Tensor>["cartesianProd"] = ops.cartesianProd;
/** Tensors expanded to the shape that they broadcast to, as `torch.broadcast_tensors`. */
export const broadcastTensors: OpApi<Tensor>["broadcastTensors"] = ops.broadcastTensors;
/** All elements in one dimension, as `torch.ravel`. */
export const ravel: OpApi<Tensor>["ravel"] = ops.ravel;
/** The flattened tensor on a diagonal, as `torch.diagflat`. */
export const diagflat: OpApi<Tensor>["diagflat"] = ops.diagflat;
/** Rows and columns of the upper triangle of a matrix. */
export const triuIndices: OpApi<Tensor>["triuIndices"] = ops.triuIndices;
/** Rows and columns of the lower triangle of a matrix. */
export const trilIndices: OpApi<Tensor>["trilIndices"] = ops.trilIndices;
/**
 * Sums of products over dimensions of two tensors: so many of the last and first, or given as two lists. As
 * `torch.tensordot`.
 */
export const tensordot: OpApi<Tensor>["tensordot"] = ops.tensordot;
/**
 * Differences of neighbours along a dimension, n times, with elements put before and after, as
 * `torch.diff`.
 */
export const diff: OpApi<Tensor>["diff"] = ops.diff;
/** The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. */
export const trapezoid: OpApi<Tensor>["trapezoid"] = ops.trapezoid;
/** The integral along a dimension by trapezoids, as `torch.trapezoid`: y, then x (a tensor), or dx. */
export const trapz: OpApi<Tensor>["trapezoid"] = ops.trapezoid;
/**
 * The integral along a dimension by trapezoids, as `torch.cumulativeTrapezoid`: y, then x (a tensor), or
 * dx.
 */
export const cumulativeTrapezoid: OpApi<Tensor>["cumulativeTrapezoid"] = ops.cumulativeTrapezoid;
/** The complex conjugate: itself, of real tensors. */
export const conj: OpApi<Tensor>["conj"] = ops.conj;
/** The complex conjugate: itself, of real tensors. */
export const conjPhysical: OpApi<Tensor>["conjPhysical"] = ops.conjPhysical;
/** Itself, of real tensors. */
export const resolveConj: OpApi<Tensor>["resolveConj"] = ops.resolveConj;
/** Itself, of real tensors. */
export const resolveNeg: OpApi<Tensor>["resolveNeg"] = ops.resolveNeg;
/** The real part: itself, of real tensors. */
export const real: OpApi<Tensor>["real"] = ops.real;
/** Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`. */
export const sumToSize: OpApi<Tensor>["sumToSize"] = ops.sumToSize;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const interpolate: OpApi<Tensor>["interpolate"] = ops.interpolate;
/**
 * Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As
 * `nn.functional.interpolate`.
 */
export const upsample: OpApi<Tensor>["interpolate"] = ops.interpolate;
/** interpolate with mode nearest, as `nn.functional.upsampleNearest`. */
export const upsampleNearest: OpApi<Tensor>["upsampleNearest"] = ops.upsampleNearest;
/** interpolate with mode bilinear, as `nn.functional.upsampleBilinear`. */
export const upsampleBilinear: OpApi<Tensor>["upsampleBilinear"] = ops.upsampleBilinear;
/** The windows of images as columns [batch, channels · kernel, windows], as `nn.functional.unfold`. */
export const im2col: OpApi<Tensor>["im2col"] = ops.im2col;
/** Channels spread over pixels, as `nn.functional.pixel_shuffle`. */
export const pixelShuffle: OpApi<Tensor>["pixelShuffle"] = ops.pixelShuffle;
/** Channels gathered from pixels, as `nn.functional.pixel_unshuffle`. */
export const pixelUnshuffle: OpApi<Tensor>["pixelUnshuffle"] = ops.pixelUnshuffle;
/** Channels in groups, interleaved, as `nn.functional.channel_shuffle`. */
export const channelShuffle: OpApi<Tensor>["channelShuffle"] = ops.channelShuffle;
/** Divided by a power of the mean square over neighbouring channels, as `nn.functional.local_response_norm`. */
export const localResponseNorm: OpApi<Tensor>["localResponseNorm"] = ops.localResponseNorm;
/**
 * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
 * `nn.functional.fold`.
 */
export const col2im: OpApi<Tensor>["col2im"] = ops.col2im;
/**
 * Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as
 * `nn.functional.fold`.
 */
export const fold: OpApi<Tensor>["col2im"] = ops.col2im;
/**
 * Images [N, C, H, W], or volumes, sampled at the places that a grid [N, H', W', 2] names in [−1, 1], as
 * `nn.functional.grid_sample`.
 */
export const gridSample: OpApi<Tensor>["gridSample"] = ops.gridSample;
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler`. */
export const gridSampler: OpApi<Tensor>["gridSampler"] = ops.gridSampler;
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler_2d`. */
export const gridSampler2d: OpApi<Tensor>["gridSampler2d"] = ops.gridSampler2d;
/** As nn.functional.gridSample, with modes by number, as `torch.grid_sampler_3d`. */
export const gridSampler3d: OpApi<Tensor>["gridSampler3d"] = ops.gridSampler3d;
/**
 * The places that affine maps theta [N, 2, 3] give each pixel of images of `size` [N, C, H, W], or [N, 3,
 * 4] voxels, as `nn.functional.affine_grid`.
 */
export const affineGrid: OpApi<Tensor>["affineGrid"] = ops.affineGrid;
/**
 * The places that affine maps theta [N, 2, 3] give each pixel of images of `size` [N, C, H, W], or [N, 3,
 * 4] voxels, as `nn.functional.affine_grid`.
 */
export const affineGridGenerator: OpApi<Tensor>["affineGrid"] = ops.affineGrid;
/** max(0, −target · (input1 − input2) + margin), as `nn.functional.margin_ranking_loss`. */
export const marginRankingLoss: OpApi<Tensor>["marginRankingLoss"] = ops.marginRankingLoss;
/** self where target is 1, max(0, margin − self) where it is −1, as `nn.functional.hinge_embedding_loss`. */
export const hingeEmbeddingLoss: OpApi<Tensor>["hingeEmbeddingLoss"] = ops.hingeEmbeddingLoss;
/** 1 − cos where target is 1, max(0, cos − margin) where it is −1, as `nn.functional.cosine_embedding_loss`. */
export const cosineEmbeddingLoss: OpApi<Tensor>["cosineEmbeddingLoss"] = ops.cosineEmbeddingLoss;
/** ½ (log var + (self − target)² / var), var at least eps, as `nn.functional.gaussian_nll_loss`. */
export const gaussianNllLoss: OpApi<Tensor>["gaussianNllLoss"] = ops.gaussianNllLoss;
/** e^self − target · self (or of rates where logInput is false), as `nn.functional.poisson_nll_loss`. */
export const poissonNllLoss: OpApi<Tensor>["poissonNllLoss"] = ops.poissonNllLoss;
/** max(0, d(anchor, positive) − d(anchor, negative) + margin), as `nn.functional.triplet_margin_loss`. */
export const tripletMarginLoss: OpApi<Tensor>["tripletMarginLoss"] = ops.tripletMarginLoss;
/** max(0, d(anchor, positive) − d(anchor, negative) + margin), as `nn.functional.triplet_margin_loss`. */
export const tripletMarginWithDistanceLoss: OpApi<Tensor>["tripletMarginLoss"] = ops.tripletMarginLoss;
/**
 * The mean over wrong classes of max(0, margin − x[target] + x[class])^p, as
 * `nn.functional.multi_margin_loss`.
 */
export const multiMarginLoss: OpApi<Tensor>["multiMarginLoss"] = ops.multiMarginLoss;
/** The mean over classes of the logistic loss, as `nn.functional.multilabel_soft_margin_loss`. */
export const multilabelSoftMarginLoss: OpApi<Tensor>["multilabelSoftMarginLoss"] =
  ops.multilabelSoftMarginLoss;
/** Distances between all rows of x1 and all rows of x2, as `torch.cdist`. */
export const cdist: OpApi<Tensor>["cdist"] = ops.cdist;
/** Distances between all pairs of rows, i < j, as `nn.functional.pdist`. */
export const pdist: OpApi<Tensor>["pdist"] = ops.pdist;
/**
 * The mean over pairs of a wanted class and another of max(0, 1 − x[wanted] + x[other]), as
 * `nn.functional.multilabel_margin_loss`; each row of targets ends at its first −1.
 */
export const multilabelMarginLoss: OpApi<Tensor>["multilabelMarginLoss"] = ops.multilabelMarginLoss;
/**
 * The cross entropy of the linear map of inputs [N, in] by a weight [C, …, in], as
 * `nn.functional.linear_cross_entropy`.
 */
export const linearCrossEntropy: OpApi<Tensor>["linearCrossEntropy"] = ops.linearCrossEntropy;
/**
 * Minus the log-probability of targets under log-probabilities [time, batch, classes] over all alignments
 * with blanks, as `nn.functional.ctc_loss`; targets are padded rows, or all in one vector. Computed on the
 * host.
 */
export const ctcLoss: OpApi<Tensor>["ctcLoss"] = ops.ctcLoss;
/** The loss of each sequence, and its gradient. */
export const ctcLosses: OpApi<Tensor>["ctcLosses"] = ops.ctcLosses;
/** Chebyshev's polynomial of the first kind: of degree n at x, as `torch.special.chebyshevPolynomialT`. */
export const chebyshevPolynomialT: OpApi<Tensor>["chebyshevPolynomialT"] = ops.chebyshevPolynomialT;
/** Chebyshev's polynomial of the second kind: of degree n at x, as `torch.special.chebyshevPolynomialU`. */
export const chebyshevPolynomialU: OpApi<Tensor>["chebyshevPolynomialU"] = ops.chebyshevPolynomialU;
/** Chebyshev's polynomial of the third kind: of degree n at x, as `torch.special.chebyshevPolynomialV`. */
export const chebyshevPolynomialV: OpApi<Tensor>["chebyshevPolynomialV"] = ops.chebyshevPolynomialV;
/** Chebyshev's polynomial of the fourth kind: of degree n at x, as `torch.special.chebyshevPolynomialW`. */
export const chebyshevPolynomialW: OpApi<Tensor>["chebyshevPolynomialW"] = ops.chebyshevPolynomialW;
/** The physicists' Hermite polynomial: of degree n at x, as `torch.special.hermitePolynomialH`. */
export const hermitePolynomialH: OpApi<Tensor>["hermitePolynomialH"] = ops.hermitePolynomialH;
/** The probabilists' Hermite polynomial: of degree n at x, as `torch.special.hermitePolynomialHe`. */
export const hermitePolynomialHe: OpApi<Tensor>["hermitePolynomialHe"] = ops.hermitePolynomialHe;
/** Laguerre's polynomial: of degree n at x, as `torch.special.laguerrePolynomialL`. */
export const laguerrePolynomialL: OpApi<Tensor>["laguerrePolynomialL"] = ops.laguerrePolynomialL;
/** Legendre's polynomial: of degree n at x, as `torch.special.legendrePolynomialP`. */
export const legendrePolynomialP: OpApi<Tensor>["legendrePolynomialP"] = ops.legendrePolynomialP;
/**
 * Chebyshev's polynomial of the first kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialT`.
 */
export const shiftedChebyshevPolynomialT: OpApi<Tensor>["shiftedChebyshevPolynomialT"] =
  ops.shiftedChebyshevPolynomialT;
/**
 * Chebyshev's polynomial of the second kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialU`.
 */
export const shiftedChebyshevPolynomialU: OpApi<Tensor>["shiftedChebyshevPolynomialU"] =
  ops.shiftedChebyshevPolynomialU;
/**
 * Chebyshev's polynomial of the third kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialV`.
 */
export const shiftedChebyshevPolynomialV: OpApi<Tensor>["shiftedChebyshevPolynomialV"] =
  ops.shiftedChebyshevPolynomialV;
/**
 * Chebyshev's polynomial of the fourth kind, shifted to [0, 1]: of degree n at x, as
 * `torch.special.shiftedChebyshevPolynomialW`.
 */
export const shiftedChebyshevPolynomialW: OpApi<Tensor>["shiftedChebyshevPolynomialW"] =
  ops.shiftedChebyshevPolynomialW;
/** The greatest common divisor, as `torch.gcd`. */
export const gcd: OpApi<Tensor>["gcd"] = ops.gcd;
/** The least common multiple, as `torch.lcm`. */
export const lcm: OpApi<Tensor>["lcm"] = ops.lcm;
/** The norm of matrices (fro, nuc, ±1, ±2, ±∞), as `torch.linalg.matrix_norm`. */
export const matrixNorm: OpApi<Tensor>["matrixNorm"] = ops.matrixNorm;
/** The norm of vectors, or of matrices where two dims and an order are given, as `torch.linalg.norm`. */
export const linalgNorm: OpApi<Tensor>["linalgNorm"] = ops.linalgNorm;
/** The diagonals of matrices, or of two other dimensions, as `torch.linalg.diagonal`. */
export const linalgDiagonal: OpApi<Tensor>["linalgDiagonal"] = ops.linalgDiagonal;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const cross: OpApi<Tensor>["cross"] = ops.cross;
/** The cross product of vectors of three elements, as `torch.cross`. */
export const linalgCross: OpApi<Tensor>["linalgCross"] = ops.linalgCross;
/** Sums of products along a dimension, as `torch.linalg.vecdot`. */
export const vecdot: OpApi<Tensor>["vecdot"] = ops.vecdot;
/** The product of several matrices (the first and last may be vectors), as `torch.linalg.multi_dot`. */
export const multiDot: OpApi<Tensor>["multiDot"] = ops.multiDot;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inv: OpApi<Tensor>["inv"] = ops.inv;
/** The inverses of square matrices, as `torch.linalg.inv`. Computed on the host. */
export const inverse: OpApi<Tensor>["inv"] = ops.inv;
/** Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host. */
export const slogdet: OpApi<Tensor>["slogdet"] = ops.slogdet;
/** Determinants of square matrices, as `torch.det`. */
export const det: OpApi<Tensor>["det"] = ops.det;
/** Logarithms of determinants of square matrices, as `torch.logdet`. */
export const logdet: OpApi<Tensor>["logdet"] = ops.logdet;
/** Square matrices to an integer power, as `torch.linalg.matrix_power`. */
export const matrixPower: OpApi<Tensor>["matrixPower"] = ops.matrixPower;
/** Powers 0 … N − 1 of each element in a new last dimension, as `torch.linalg.vander`. */
export const vander: OpApi<Tensor>["vander"] = ops.vander;
/** X with A · X = B, or X · A = B where `left` is false, as `torch.linalg.solve`. Computed on the host. */
export const solve: OpApi<Tensor>["solve"] = ops.solve;
/** The result of linalg.solve and zeros, as `torch.linalg.solve_ex`; a singular matrix is an error. */
export const solveEx: OpApi<Tensor>["solveEx"] = ops.solveEx;
/** The inverses of square matrices and zeros, as `torch.linalg.inv_ex`; a singular one is an error. */
export const invEx: OpApi<Tensor>["invEx"] = ops.invEx;
/** The inverse of the map from the last dimensions to the first `ind`, as `torch.linalg.tensorinv`. */
export const tensorinv: OpApi<Tensor>["tensorinv"] = ops.tensorinv;
/** Integers, of which none may be negative. */
export const frequencies: OpApi<Tensor>["frequencies"] = ops.frequencies;
/** The covariance of rows over columns, with frequencies and weights, as `torch.cov`. */
export const cov: OpApi<Tensor>["cov"] = ops.cov;
/** The correlation of rows over columns, as `torch.corrcoef`. */
export const corrcoef: OpApi<Tensor>["corrcoef"] = ops.corrcoef;
/** U, S and Vh with A = U · diag(S) · Vh, as many columns and rows as there are values. */
export const singularFactors: OpApi<Tensor>["singularFactors"] = ops.singularFactors;
/** Singular values in descending order, as `torch.linalg.svdvals`. Computed on the host. */
export const svdvals: OpApi<Tensor>["svdvals"] = ops.svdvals;
/** The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`. */
export const aminmax: OpApi<Tensor>["aminmax"] = ops.aminmax;
/**
 * The most frequent element along a dimension, the least where several are, and its last index. As
 * `torch.mode`.
 */
export const mode: OpApi<Tensor>["mode"] = ops.mode;
/** How many elements lie in each of `bins` equal parts of [min, max], as `torch.histc`. */
export const histc: OpApi<Tensor>["histc"] = ops.histc;
/** Flat indices as one index for each dimension of a shape, as `torch.unravel_index`. */
export const unravelIndex: OpApi<Tensor>["unravelIndex"] = ops.unravelIndex;
/** All choices of r elements of a vector, one a row, as `torch.combinations`. */
export const combinations: OpApi<Tensor>["combinations"] = ops.combinations;
/** All choices of r of n positions, one a row. */
export const choiceIndices: OpApi<Tensor>["choiceIndices"] = ops.choiceIndices;
/** The edges of bins of one width over a range, or over the elements where there is none. */
export const binEdges: OpApi<Tensor>["binEdges"] = ops.binEdges;
/** How many points [count, dimensions] fall into each cell that edges make, or the sums of their weights. */
export const binnedSums: OpApi<Tensor>["binnedSums"] = ops.binnedSums;
/**
 * How many elements fall into each bin, and the bins' edges, as `torch.histogram`: `bins` of one width over
 * a range (that of the elements where there is none), or between given edges.
 */
export const histogram: OpApi<Tensor>["histogram"] = ops.histogram;
/** X with A · X = B for triangular A of the same leading dimensions as B. */
export const backSubstitution: OpApi<Tensor>["backSubstitution"] = ops.backSubstitution;
/**
 * X with A · X = B, or X · A = B where `left` is false, for triangular A, as
 * `torch.linalg.solve_triangular`. Computed on the host.
 */
export const solveTriangular: OpApi<Tensor>["solveTriangular"] = ops.solveTriangular;
/** X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host. */
export const triangularSolve: OpApi<Tensor>["triangularSolve"] = ops.triangularSolve;
/** Lower Cholesky factors, and the orders of the first leading minors that are not positive. */
export const choleskyFactor: OpApi<Tensor>["choleskyFactor"] = ops.choleskyFactor;
/**
 * Cholesky factors and what kept them from being found, as `torch.linalg.cholesky_ex`. Computed on the
 * host.
 */
export const choleskyEx: OpApi<Tensor>["choleskyEx"] = ops.choleskyEx;
/**
 * L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on
 * the host.
 */
export const cholesky: OpApi<Tensor>["cholesky"] = ops.cholesky;
/** The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the host. */
export const choleskyInverse: OpApi<Tensor>["choleskyInverse"] = ops.choleskyInverse;
/**
 * X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on
 * the host.
 */
export const choleskySolve: OpApi<Tensor>["choleskySolve"] = ops.choleskySolve;
/** Q and R of matrices with at least as many rows as columns, reduced. */
export const tallQr: OpApi<Tensor>["tallQr"] = ops.tallQr;
/** Q with as many columns as rows, and R, of matrices with more rows than columns. */
export const completeQr: OpApi<Tensor>["completeQr"] = ops.completeQr;
/**
 * Q with orthonormal columns and upper triangular R with A = Q · R, as `torch.linalg.qr`; mode "complete"
 * gives all columns of Q, "r" none. Computed on the host.
 */
export const qr: OpApi<Tensor>["qr"] = ops.qr;
/** Eigenvalues and eigenvectors of symmetric matrices, by their lower triangles. */
export const symmetricEigen: OpApi<Tensor>["symmetricEigen"] = ops.symmetricEigen;
/**
 * Ascending eigenvalues and eigenvectors of symmetric matrices, as `torch.linalg.eigh`; gradients need
 * distinct values. Computed on the host.
 */
export const eigh: OpApi<Tensor>["eigh"] = ops.eigh;
/** Ascending eigenvalues of symmetric matrices, as `torch.linalg.eigvalsh`. Computed on the host. */
export const eigvalsh: OpApi<Tensor>["eigvalsh"] = ops.eigvalsh;
/**
 * L and U in one matrix, pivots and the first zero on the diagonal, as `torch.linalg.lu_factor_ex`.
 * Computed on the host.
 */
export const luFactorEx: OpApi<Tensor>["luFactorEx"] = ops.luFactorEx;
/** The matrices P with A = P · L · U, of pivots. */
export const permutationOf: OpApi<Tensor>["permutationOf"] = ops.permutationOf;
/** L and U in one matrix and pivots, as `torch.linalg.lu_factor`. Computed on the host. */
export const luFactor: OpApi<Tensor>["luFactor"] = ops.luFactor;
/**
 * P, L and U of matrices decomposed by luFactor, as `torch.lu_unpack`; those that are not asked for are
 * empty. P is made on the host.
 */
export const luUnpack: OpApi<Tensor>["luUnpack"] = ops.luUnpack;
/** P, L and U with A = P · L · U, as `torch.linalg.lu`; without `pivot` P is empty. Computed on the host. */
export const linalgLu: OpApi<Tensor>["linalgLu"] = ops.linalgLu;
/**
 * L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`.
 * Computed on the host.
 */
export const lu: OpApi<Tensor>["lu"] = ops.lu;
/**
 * X with A · X = B, X · A = B where `left` is false, or of Aᵀ where `adjoint` is true, for A decomposed by
 * luFactor, as `torch.linalg.lu_solve`. Computed on the host.
 */
export const linalgLuSolve: OpApi<Tensor>["linalgLuSolve"] = ops.linalgLuSolve;
/** X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host. */
export const luSolve: OpApi<Tensor>["luSolve"] = ops.luSolve;
/**
 * U, S and Vh with A = U · diag(S) · Vh, values descending, as `torch.linalg.svd`; without `fullMatrices`
 * as many columns and rows as there are values. Gradients need distinct values, and none reaches the rest
 * of full matrices. Computed on the host.
 */
export const linalgSvd: OpApi<Tensor>["linalgSvd"] = ops.linalgSvd;
/**
 * U, S and V with A = U · diag(S) · Vᵀ, values descending, as `torch.svd`: without `some` full matrices,
 * without `computeUv` zeros for them. Computed on the host.
 */
export const svd: OpApi<Tensor>["svd"] = ops.svd;
/** Pseudoinverses of matrices of which singular values below a bound count as 0. */
export const pseudoinverse: OpApi<Tensor>["pseudoinverse"] = ops.pseudoinverse;
/**
 * Pseudoinverses, as `torch.linalg.pinv`; rtol is by default the larger size times the type's epsilon.
 * Computed on the host.
 */
export const pinv: OpApi<Tensor>["pinv"] = ops.pinv;
/** Pseudoinverses, as `torch.pinverse`. Computed on the host. */
export const pinverse: OpApi<Tensor>["pinverse"] = ops.pinverse;
/** How many singular values are not 0, as `torch.linalg.matrix_rank`. Computed on the host. */
export const matrixRank: OpApi<Tensor>["matrixRank"] = ops.matrixRank;
/**
 * Condition numbers by a norm, by singular values where none is given, as `torch.linalg.cond`. Computed on
 * the host.
 */
export const cond: OpApi<Tensor>["cond"] = ops.cond;
/**
 * X that makes A · X − B least, residuals, ranks and singular values, as `torch.linalg.lstsq`; each as the
 * driver gives it there, or empty. Computed on the host.
 */
export const lstsq: OpApi<Tensor>["lstsq"] = ops.lstsq;
/**
 * X with tensordot(A, X, X.ndim) = B, after `dims` of A are moved to its end, as
 * `torch.linalg.tensorsolve`.
 */
export const tensorsolve: OpApi<Tensor>["tensorsolve"] = ops.tensorsolve;
/** e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host. */
export const matrixExp: OpApi<Tensor>["matrixExp"] = ops.matrixExp;
/** R and the reflections that make Q, as `torch.geqrf`. Computed on the host. */
export const geqrf: OpApi<Tensor>["geqrf"] = ops.geqrf;
/**
 * The first columns of the product of Householder reflections, as `torch.linalg.householder_product`.
 * Computed on the host in part.
 */
export const householderProduct: OpApi<Tensor>["householderProduct"] = ops.householderProduct;
/**
 * The product of Householder reflections, Q, or its transpose, times `other`, or from its right where
 * `left` is false, as `torch.ormqr`. Computed on the host in part.
 */
export const ormqr: OpApi<Tensor>["ormqr"] = ops.ormqr;
/**
 * L and D of symmetric matrices in one, pivots and the first pivot that is 0, as
 * `torch.linalg.ldl_factor_ex`. Computed on the host.
 */
export const ldlFactorEx: OpApi<Tensor>["ldlFactorEx"] = ops.ldlFactorEx;
/** L and D of symmetric matrices in one, and pivots, as `torch.linalg.ldl_factor`. Computed on the host. */
export const ldlFactor: OpApi<Tensor>["ldlFactor"] = ops.ldlFactor;
/** X with A · X = B for A decomposed by ldlFactor, as `torch.linalg.ldl_solve`. Computed on the host. */
export const ldlSolve: OpApi<Tensor>["ldlSolve"] = ops.ldlSolve;
/** ldlSolve of tensors with the same leading dimensions. */
export const ldlSolutions: OpApi<Tensor>["ldlSolutions"] = ops.ldlSolutions;
/**
 * The positive square roots of symmetric positive-definite matrices, as `torch.linalg.matrix_sqrth`.
 * Computed on the host.
 */
export const matrixSqrth: OpApi<Tensor>["matrixSqrth"] = ops.matrixSqrth;
/**
 * U with orthonormal columns and symmetric positive H with A = U · H, of matrices with no fewer rows than
 * columns, as `torch.linalg.polar`. Computed on the host.
 */
export const linalgPolar: OpApi<Tensor>["linalgPolar"] = ops.linalgPolar;
/** π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors. */
export const angle: OpApi<Tensor>["angle"] = ops.angle;
/** Mantissas in [½, 1) and exponents of 2, as `torch.frexp`. */
export const frexp: OpApi<Tensor>["frexp"] = ops.frexp;
/** The next float after self towards other, as `torch.nextafter`. */
export const nextafter: OpApi<Tensor>["nextafter"] = ops.nextafter;
/** layerNorm with the mean and 1/deviation of each sample, as `torch.native_layer_norm`. */
export const nativeLayerNorm: OpApi<Tensor>["nativeLayerNorm"] = ops.nativeLayerNorm;
/** groupNorm with the mean and 1/deviation of each group, as `torch.native_group_norm`. */
export const nativeGroupNorm: OpApi<Tensor>["nativeGroupNorm"] = ops.nativeGroupNorm;
/**
 * batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but that it leaves
 * running statistics as they are.
 */
export const nativeBatchNorm: OpApi<Tensor>["nativeBatchNorm"] = ops.nativeBatchNorm;
/** grad · mask · scale, as `torch.native_dropout_backward`. */
export const nativeDropoutBackward: OpApi<Tensor>["nativeDropoutBackward"] = ops.nativeDropoutBackward;
/** The product of an n × k and a k × m matrix, as `torch.mm`. */
export const mm: OpApi<Tensor>["mm"] = ops.mm;
/** Products of b × n × k and b × k × m matrices, as `torch.bmm`. */
export const bmm: OpApi<Tensor>["bmm"] = ops.bmm;
/** A matrix times a vector, as `torch.mv`. */
export const mv: OpApi<Tensor>["mv"] = ops.mv;
/** The sum of products of two vectors, as `torch.dot`. */
export const dot: OpApi<Tensor>["dot"] = ops.dot;
/** The sum of products of two vectors, as `torch.dot`. */
export const vdot: OpApi<Tensor>["dot"] = ops.dot;
/** The product of matrices, vectors and broadcast batches of matrices, as `torch.matmul`. */
export const matmul: OpApi<Tensor>["matmul"] = ops.matmul;
/** beta · input + alpha · the product of the other two, as `torch.addmm`; mat2 is the second factor. */
export const addmm: OpApi<Tensor>["addmm"] = ops.addmm;
/** beta · input + alpha · the product of the other two, as `torch.addmv`; vec is the second factor. */
export const addmv: OpApi<Tensor>["addmv"] = ops.addmv;
/** beta · input + alpha · the product of the other two, as `torch.baddbmm`; batch2 is the second factor. */
export const baddbmm: OpApi<Tensor>["baddbmm"] = ops.baddbmm;
/** beta · input + alpha · the product of the other two, as `torch.addbmm`; batch2 is the second factor. */
export const addbmm: OpApi<Tensor>["addbmm"] = ops.addbmm;
/** beta · input + alpha · the product of the other two, as `torch.addr`; vec2 is the second factor. */
export const addr: OpApi<Tensor>["addr"] = ops.addr;
/** All products of elements of two vectors, as `torch.outer`. */
export const outer: OpApi<Tensor>["outer"] = ops.outer;
/** All products of elements of two vectors, as `torch.outer`. */
export const ger: OpApi<Tensor>["outer"] = ops.outer;
/** input · weightᵀ + bias, for weight of shape [out, in], as `nn.functional.linear`. */
export const linear: OpApi<Tensor>["linear"] = ops.linear;
/** Cross-correlation of [batch, channels, h, w] with [features, channels / groups, kh, kw]. */
export const convolution: OpApi<Tensor>["convolution"] = ops.convolution;
/** The gradient of a convolution in its input, of `inputSizes`. */
export const convolutionBackwardInput: OpApi<Tensor>["convolutionBackwardInput"] =
  ops.convolutionBackwardInput;
/** The gradient of a convolution in its weight, of `weightSizes`. */
export const convolutionBackwardWeight: OpApi<Tensor>["convolutionBackwardWeight"] =
  ops.convolutionBackwardWeight;
/**
 * Cross-correlation over 1 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv1d`.
 */
export const conv1d: OpApi<Tensor>["conv1d"] = ops.conv1d;
/**
 * Cross-correlation over 2 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv2d`.
 */
export const conv2d: OpApi<Tensor>["conv2d"] = ops.conv2d;
/**
 * Cross-correlation over 3 dimension(s), with or without a batch; padding may be "same" or "valid". As
 * `nn.functional.conv3d`.
 */
export const conv3d: OpApi<Tensor>["conv3d"] = ops.conv3d;
/** The transposed convolution over 1 dimension(s), as `nn.functional.conv_transpose1d`. */
export const convTranspose1d: OpApi<Tensor>["convTranspose1d"] = ops.convTranspose1d;
/** The transposed convolution over 2 dimension(s), as `nn.functional.conv_transpose2d`. */
export const convTranspose2d: OpApi<Tensor>["convTranspose2d"] = ops.convTranspose2d;
/** Sums of the `count` windows that cover a dimension. */
export const adaptiveSum: OpApi<Tensor>["adaptiveSum"] = ops.adaptiveSum;
/** Gradients of windows given to each of their elements along a dimension of `size`. */
export const adaptiveSumBackward: OpApi<Tensor>["adaptiveSumBackward"] = ops.adaptiveSumBackward;
/** How many elements each of `count` windows that cover `size` has. */
export const windowLengths: OpApi<Tensor>["windowLengths"] = ops.windowLengths;
/**
 * Means of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool1d`.
 */
export const adaptiveAvgPool1d: OpApi<Tensor>["adaptiveAvgPool1d"] = ops.adaptiveAvgPool1d;
/**
 * Means of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool2d`.
 */
export const adaptiveAvgPool2d: OpApi<Tensor>["adaptiveAvgPool2d"] = ops.adaptiveAvgPool2d;
/**
 * Means of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_avg_pool3d`.
 */
export const adaptiveAvgPool3d: OpApi<Tensor>["adaptiveAvgPool3d"] = ops.adaptiveAvgPool3d;
/** For each window over the last dimensions the flat place of its maximum in a window of `kernel`. */
export const adaptiveMaxOffsets: OpApi<Tensor>["adaptiveMaxOffsets"] = ops.adaptiveMaxOffsets;
/** For each window over the last dimensions the flat index of its maximum among them. */
export const adaptiveMaxIndices: OpApi<Tensor>["adaptiveMaxIndices"] = ops.adaptiveMaxIndices;
/**
 * Maxima of windows that cover 1 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool1d`.
 */
export const adaptiveMaxPool1d: OpApi<Tensor>["adaptiveMaxPool1d"] = ops.adaptiveMaxPool1d;
/**
 * Maxima of windows that cover 2 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool2d`.
 */
export const adaptiveMaxPool2d: OpApi<Tensor>["adaptiveMaxPool2d"] = ops.adaptiveMaxPool2d;
/**
 * Maxima of windows that cover 3 dimension(s), so many as the output size says, as
 * `nn.functional.adaptive_max_pool3d`.
 */
export const adaptiveMaxPool3d: OpApi<Tensor>["adaptiveMaxPool3d"] = ops.adaptiveMaxPool3d;
/** Values put at the indices that maxPool1d gave, zeros elsewhere, as `nn.functional.max_unpool1d`. */
export const maxUnpool1d: OpApi<Tensor>["maxUnpool1d"] = ops.maxUnpool1d;
/** Values put at the indices that maxPool2d gave, zeros elsewhere, as `nn.functional.max_unpool2d`. */
export const maxUnpool2d: OpApi<Tensor>["maxUnpool2d"] = ops.maxUnpool2d;
/** Values put at the indices that maxPool3d gave, zeros elsewhere, as `nn.functional.max_unpool3d`. */
export const maxUnpool3d: OpApi<Tensor>["maxUnpool3d"] = ops.maxUnpool3d;
/** exp(self) / Σ exp(self) along `dim`, as `torch.softmax`. */
export const softmax: OpApi<Tensor>["softmax"] = ops.softmax;
/** self − log Σ exp(self) along `dim`, as `torch.log_softmax`. */
export const logSoftmax: OpApi<Tensor>["logSoftmax"] = ops.logSoftmax;
/** softmax(−self) along `dim`, as `nn.functional.softmin`. */
export const softmin: OpApi<Tensor>["softmin"] = ops.softmin;
/**
 * Normalised over the last dimensions `normalizedShape`, then scaled and shifted, as
 * `nn.functional.layer_norm`.
 */
export const layerNorm: OpApi<Tensor>["layerNorm"] = ops.layerNorm;
/** self / √(mean self² + eps) over the last dimensions, times weight, as `nn.functional.rms_norm`. */
export const rmsNorm: OpApi<Tensor>["rmsNorm"] = ops.rmsNorm;
/** [N, C, ...] normalised over groups of channels, as `nn.functional.group_norm`. */
export const groupNorm: OpApi<Tensor>["groupNorm"] = ops.groupNorm;
/**
 * [N, C, ...] normalised over each image of each channel, as `nn.functional.instance_norm`; with
 * `useInputStats` false by the running statistics.
 */
export const instanceNorm: OpApi<Tensor>["instanceNorm"] = ops.instanceNorm;
/**
 * [N, C, ...] normalised by the batch's own statistics, which are results too: `mean` and the unbiased
 * `variance`, both [C]. nn.functional.batchNorm updates its running statistics with them.
 */
export const batchNormTraining: OpApi<Tensor>["batchNormTraining"] = ops.batchNormTraining;
/** [N, C, ...] normalised by running statistics [C]. */
export const batchNormInference: OpApi<Tensor>["batchNormInference"] = ops.batchNormInference;
/** (self − target)², as `nn.functional.mse_loss`. */
export const mseLoss: OpApi<Tensor>["mseLoss"] = ops.mseLoss;
/** |self − target|, as `nn.functional.l1_loss`. */
export const l1Loss: OpApi<Tensor>["l1Loss"] = ops.l1Loss;
/** d² / (2 beta) where d = |self − target| < beta, else d − beta / 2, as `nn.functional.smooth_l1_loss`. */
export const smoothL1Loss: OpApi<Tensor>["smoothL1Loss"] = ops.smoothL1Loss;
/** d² / 2 where d = |self − target| ≤ delta, else delta · (d − delta / 2), as `nn.functional.huber_loss`. */
export const huberLoss: OpApi<Tensor>["huberLoss"] = ops.huberLoss;
/** log(1 + exp(−target · self)), as `nn.functional.soft_margin_loss`. */
export const softMarginLoss: OpApi<Tensor>["softMarginLoss"] = ops.softMarginLoss;
/**
 * −weight[target] · self[target] of log-probabilities [N, C, ...] and class indices [N, ...], as
 * `nn.functional.nll_loss`.
 */
export const nllLoss: OpApi<Tensor>["nllLoss"] = ops.nllLoss;
/**
 * Cross entropy of softmax(self) over the classes of logits [N, C, ...] against class indices [N, ...] or
 * probabilities [N, C, ...], as `nn.functional.cross_entropy`.
 */
export const crossEntropy: OpApi<Tensor>["crossEntropy"] = ops.crossEntropy;
/**
 * −(target · log self + (1 − target) · log(1 − self)) of probabilities, logarithms not below −100, as
 * `nn.functional.binary_cross_entropy`.
 */
export const binaryCrossEntropy: OpApi<Tensor>["binaryCrossEntropy"] = ops.binaryCrossEntropy;
/**
 * Binary cross entropy of sigmoid(self), without overflow for large logits; `posWeight` scales the positive
 * part. As `nn.functional.binary_cross_entropy_with_logits`.
 */
export const binaryCrossEntropyWithLogits: OpApi<Tensor>["binaryCrossEntropyWithLogits"] =
  ops.binaryCrossEntropyWithLogits;
/** target · (log target − self) of log-probabilities `self`, as `nn.functional.kl_div`. */
export const klDiv: OpApi<Tensor>["klDiv"] = ops.klDiv;
/** The elements on another device, as `Tensor.to(device)`. */
export const toDevice: OpApi<Tensor>["toDevice"] = ops.toDevice;
