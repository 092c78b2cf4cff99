/**
 * The in-place methods that PyTorch also has as functions.
 */
import { type InPlace, inPlace } from "./inplace_function.ts";

export type { ArgumentsOf, InPlace } from "./inplace_function.ts";

/** `x.abs_(…)` as a function of x. */
export const abs_: InPlace<"abs_"> = inPlace("abs_");
/** `x.acos_(…)` as a function of x. */
export const acos_: InPlace<"acos_"> = inPlace("acos_");
/** `x.acosh_(…)` as a function of x. */
export const acosh_: InPlace<"acosh_"> = inPlace("acosh_");
/** `x.addmv_(…)` as a function of x. */
export const addmv_: InPlace<"addmv_"> = inPlace("addmv_");
/** `x.alphaDropout_(…)` as a function of x. */
export const alphaDropout_: InPlace<"alphaDropout_"> = inPlace("alphaDropout_");
/** `x.arccos_(…)` as a function of x. */
export const arccos_: InPlace<"arccos_"> = inPlace("arccos_");
/** `x.arccosh_(…)` as a function of x. */
export const arccosh_: InPlace<"arccosh_"> = inPlace("arccosh_");
/** `x.arcsin_(…)` as a function of x. */
export const arcsin_: InPlace<"arcsin_"> = inPlace("arcsin_");
/** `x.arcsinh_(…)` as a function of x. */
export const arcsinh_: InPlace<"arcsinh_"> = inPlace("arcsinh_");
/** `x.arctan_(…)` as a function of x. */
export const arctan_: InPlace<"arctan_"> = inPlace("arctan_");
/** `x.arctanh_(…)` as a function of x. */
export const arctanh_: InPlace<"arctanh_"> = inPlace("arctanh_");
/** `x.asStrided_(…)` as a function of x. */
export const asStrided_: InPlace<"asStrided_"> = inPlace("asStrided_");
/** `x.asin_(…)` as a function of x. */
export const asin_: InPlace<"asin_"> = inPlace("asin_");
/** `x.asinh_(…)` as a function of x. */
export const asinh_: InPlace<"asinh_"> = inPlace("asinh_");
/** `x.atan_(…)` as a function of x. */
export const atan_: InPlace<"atan_"> = inPlace("atan_");
/** `x.atanh_(…)` as a function of x. */
export const atanh_: InPlace<"atanh_"> = inPlace("atanh_");
/** `x.ceil_(…)` as a function of x. */
export const ceil_: InPlace<"ceil_"> = inPlace("ceil_");
/** `x.celu_(…)` as a function of x. */
export const celu_: InPlace<"celu_"> = inPlace("celu_");
/** `x.clamp_(…)` as a function of x. */
export const clamp_: InPlace<"clamp_"> = inPlace("clamp_");
/** `x.clampMax_(…)` as a function of x. */
export const clampMax_: InPlace<"clampMax_"> = inPlace("clampMax_");
/** `x.clampMin_(…)` as a function of x. */
export const clampMin_: InPlace<"clampMin_"> = inPlace("clampMin_");
/** `x.clip_(…)` as a function of x. */
export const clip_: InPlace<"clip_"> = inPlace("clip_");
/** `x.cos_(…)` as a function of x. */
export const cos_: InPlace<"cos_"> = inPlace("cos_");
/** `x.cosh_(…)` as a function of x. */
export const cosh_: InPlace<"cosh_"> = inPlace("cosh_");
/** `x.deg2rad_(…)` as a function of x. */
export const deg2rad_: InPlace<"deg2rad_"> = inPlace("deg2rad_");
/** `x.detach_(…)` as a function of x. */
export const detach_: InPlace<"detach_"> = inPlace("detach_");
/** `x.dropout_(…)` as a function of x. */
export const dropout_: InPlace<"dropout_"> = inPlace("dropout_");
/** `x.erf_(…)` as a function of x. */
export const erf_: InPlace<"erf_"> = inPlace("erf_");
/** `x.erfc_(…)` as a function of x. */
export const erfc_: InPlace<"erfc_"> = inPlace("erfc_");
/** `x.exp2_(…)` as a function of x. */
export const exp2_: InPlace<"exp2_"> = inPlace("exp2_");
/** `x.exp_(…)` as a function of x. */
export const exp_: InPlace<"exp_"> = inPlace("exp_");
/** `x.expm1_(…)` as a function of x. */
export const expm1_: InPlace<"expm1_"> = inPlace("expm1_");
/** `x.featureAlphaDropout_(…)` as a function of x. */
export const featureAlphaDropout_: InPlace<"featureAlphaDropout_"> = inPlace("featureAlphaDropout_");
/** `x.fill_(…)` as a function of x. */
export const fill_: InPlace<"fill_"> = inPlace("fill_");
/** `x.fix_(…)` as a function of x. */
export const fix_: InPlace<"fix_"> = inPlace("fix_");
/** `x.floor_(…)` as a function of x. */
export const floor_: InPlace<"floor_"> = inPlace("floor_");
/** `x.frac_(…)` as a function of x. */
export const frac_: InPlace<"frac_"> = inPlace("frac_");
/** `x.gcd_(…)` as a function of x. */
export const gcd_: InPlace<"gcd_"> = inPlace("gcd_");
/** `x.i0_(…)` as a function of x. */
export const i0_: InPlace<"i0_"> = inPlace("i0_");
/** `x.indexPut_(…)` as a function of x. */
export const indexPut_: InPlace<"indexPut_"> = inPlace("indexPut_");
/** `x.lcm_(…)` as a function of x. */
export const lcm_: InPlace<"lcm_"> = inPlace("lcm_");
/** `x.ldexp_(…)` as a function of x. */
export const ldexp_: InPlace<"ldexp_"> = inPlace("ldexp_");
/** `x.log10_(…)` as a function of x. */
export const log10_: InPlace<"log10_"> = inPlace("log10_");
/** `x.log1p_(…)` as a function of x. */
export const log1p_: InPlace<"log1p_"> = inPlace("log1p_");
/** `x.log2_(…)` as a function of x. */
export const log2_: InPlace<"log2_"> = inPlace("log2_");
/** `x.log_(…)` as a function of x. */
export const log_: InPlace<"log_"> = inPlace("log_");
/** `x.logit_(…)` as a function of x. */
export const logit_: InPlace<"logit_"> = inPlace("logit_");
/** `x.nanToNum_(…)` as a function of x. */
export const nanToNum_: InPlace<"nanToNum_"> = inPlace("nanToNum_");
/** `x.neg_(…)` as a function of x. */
export const neg_: InPlace<"neg_"> = inPlace("neg_");
/** `x.negative_(…)` as a function of x. */
export const negative_: InPlace<"negative_"> = inPlace("negative_");
/** `x.rad2deg_(…)` as a function of x. */
export const rad2deg_: InPlace<"rad2deg_"> = inPlace("rad2deg_");
/** `x.reciprocal_(…)` as a function of x. */
export const reciprocal_: InPlace<"reciprocal_"> = inPlace("reciprocal_");
/** `x.relu_(…)` as a function of x. */
export const relu_: InPlace<"relu_"> = inPlace("relu_");
/** `x.resizeAs_(…)` as a function of x. */
export const resizeAs_: InPlace<"resizeAs_"> = inPlace("resizeAs_");
/** `x.round_(…)` as a function of x. */
export const round_: InPlace<"round_"> = inPlace("round_");
/** `x.rrelu_(…)` as a function of x. */
export const rrelu_: InPlace<"rrelu_"> = inPlace("rrelu_");
/** `x.rsqrt_(…)` as a function of x. */
export const rsqrt_: InPlace<"rsqrt_"> = inPlace("rsqrt_");
/** `x.selu_(…)` as a function of x. */
export const selu_: InPlace<"selu_"> = inPlace("selu_");
/** `x.sigmoid_(…)` as a function of x. */
export const sigmoid_: InPlace<"sigmoid_"> = inPlace("sigmoid_");
/** `x.sin_(…)` as a function of x. */
export const sin_: InPlace<"sin_"> = inPlace("sin_");
/** `x.sinc_(…)` as a function of x. */
export const sinc_: InPlace<"sinc_"> = inPlace("sinc_");
/** `x.sinh_(…)` as a function of x. */
export const sinh_: InPlace<"sinh_"> = inPlace("sinh_");
/** `x.sqrt_(…)` as a function of x. */
export const sqrt_: InPlace<"sqrt_"> = inPlace("sqrt_");
/** `x.square_(…)` as a function of x. */
export const square_: InPlace<"square_"> = inPlace("square_");
/** `x.tan_(…)` as a function of x. */
export const tan_: InPlace<"tan_"> = inPlace("tan_");
/** `x.tanh_(…)` as a function of x. */
export const tanh_: InPlace<"tanh_"> = inPlace("tanh_");
/** `x.threshold_(…)` as a function of x. */
export const threshold_: InPlace<"threshold_"> = inPlace("threshold_");
/** `x.trunc_(…)` as a function of x. */
export const trunc_: InPlace<"trunc_"> = inPlace("trunc_");
/** `x.xlogy_(…)` as a function of x. */
export const xlogy_: InPlace<"xlogy_"> = inPlace("xlogy_");
/** `x.zero_(…)` as a function of x. */
export const zero_: InPlace<"zero_"> = inPlace("zero_");
