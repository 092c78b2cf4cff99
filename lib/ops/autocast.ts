/**
 * The ops whose operands autocast converts, as in PyTorch's autocast on the CPU. Invariant: float64, integers and
 * bools are never converted.
 */
import { type DType, isFloat } from "../base/dtype.ts";
import type { OpName } from "./generated.ts";

/** A type that a region may compute with. */
export type AutocastType = "float16" | "bfloat16";

/**
 * - lower: in the region's type. float32: in float32. widest: in the widest type of the operands.
 * - through: a composition whose ops are treated one by one. Other ops, and the parts of other compositions, are
 *   unchanged.
 */
type Policy = "lower" | "float32" | "widest" | "through";

const LISTS: Readonly<Record<Policy, readonly OpName[]>> = {
  lower: [
    "conv1d",
    "conv2d",
    "conv3d",
    "convTranspose1d",
    "convTranspose2d",
    "convTranspose3d",
    "bmm",
    "mm",
    "vecdot",
    "baddbmm",
    "addmm",
    "addbmm",
    "linear",
    "matmul",
    "prelu",
    "scaledDotProductAttention",
  ],
  float32: [
    "avgPool3d",
    "adaptiveAvgPool3d",
    "adaptiveMaxPool3d",
    "maxPool3d",
    "maxUnpool1d",
    "maxUnpool2d",
    "maxUnpool3d",
    "padBy",
    "binaryCrossEntropy",
    "binaryCrossEntropyWithLogits",
    "crossEntropy",
    "nllLoss",
    "klDiv",
    "mseLoss",
    "l1Loss",
    "smoothL1Loss",
    "huberLoss",
    "cosineEmbeddingLoss",
    "hingeEmbeddingLoss",
    "poissonNllLoss",
    "marginRankingLoss",
    "softMarginLoss",
    "tripletMarginLoss",
    "multiMarginLoss",
    "prod",
    "quantile",
    "nanquantile",
    "cdist",
    "trace",
    "inv",
    "invEx",
    "solve",
    "solveEx",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "cholesky",
    "choleskyEx",
    "choleskyInverse",
    "choleskySolve",
    "triangularSolve",
    "linalgSvd",
    "svd",
    "pinverse",
    "cond",
    "eigh",
    "eigvalsh",
    "lstsq",
    "qr",
    "lu",
    "luSolve",
    "geqrf",
    "ormqr",
    "householderProduct",
    "matrixSqrth",
    "gridSample",
    "gridSampler",
    "gridSampler2d",
    "gridSampler3d",
    "fractionalMaxPool2d",
    "fractionalMaxPool3d",
    "multilabelMarginLoss",
    "ctcLoss",
  ],
  widest: ["cat", "stack", "indexCopy"],
  through: [
    "einsum",
    "tensordot",
    "tensordotDims",
    "inner",
    "multiDot",
    "cov",
    "corrcoef",
    "matrixPower",
    "pinv",
    "pseudoinverse",
    "pad",
    "lpPool3d",
    "linearCrossEntropy",
  ],
};

const named = (policy: Policy) => LISTS[policy].map((name) => [name, policy] as const);

const POLICIES: ReadonlyMap<string, Policy> = new Map(
  [...named("lower"), ...named("float32"), ...named("widest"), ...named("through")],
);

/** How autocast treats a call. */
export type Autocast =
  /** Floating operands other than float64 are converted to this type. */
  | { readonly kind: "convert"; readonly dtype: DType }
  /** The call runs unchanged, and so do the parts of a composition. */
  | { readonly kind: "plain" }
  /** The parts of its composition are treated one by one. */
  | { readonly kind: "through" };

const PLAIN: Autocast = { kind: "plain" }, THROUGH: Autocast = { kind: "through" };

/** Returns whether a call of an op that is listed for float32 runs in the type of its operands, as PyTorch's does. */
function isExempt(name: string, args: Readonly<Record<string, unknown>>): boolean {
  switch (name) {
    case "padBy":
      return args["mode"] === "circular";
    case "maxPool3d":
      return args["returnIndices"] === true;
    default:
      return false;
  }
}

/** Returns how autocast treats a call of an op with operands of these types; `args`: its parameters by name. */
export function autocastOf(
  name: string,
  region: AutocastType,
  { operands, args }: {
    readonly operands: Iterable<DType>;
    readonly args: Readonly<Record<string, unknown>>;
  },
): Autocast {
  switch (POLICIES.get(name)) {
    case undefined:
      return PLAIN;
    case "through":
      return THROUGH;
    case "lower":
      return { kind: "convert", dtype: region };
    case "float32":
      return isExempt(name, args) ? PLAIN : { kind: "convert", dtype: "float32" };
    case "widest":
      return { kind: "convert", dtype: [...operands].includes("float32") ? "float32" : region };
  }
}

/** Returns whether autocast converts elements of a type. */
export function isEligible(dtype: DType): boolean {
  return isFloat(dtype) && dtype !== "float64";
}
