/**
 * Ops that treat real and imaginary parts alike: sums, and ops that move elements. The rule runs the op once on each
 * part. Invariant: arguments other than values (indices, masks, sizes) are the same for both.
 */
import { type ComplexType, type DType, isComplex, isDType, partType } from "../../base/dtype.ts";
import { DynError, InternalError } from "../../base/errors.ts";
import type { Argument } from "../call.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi, OpName } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";
import { isTensor } from "../promotion.ts";
import { asComplex, complexResult, joined, type OperandOf, partsOf } from "./parts.ts";
import { callNamed, type ComplexRule } from "./rule.ts";

/** The parameters with values, by op. */
const VALUES = {
  add: ["self", "other"],
  sub: ["self", "other"],
  neg: ["self"],
  positive: ["self"],
  where: ["input", "other"],
  maskedFill: ["self", "value"],
  fill: ["self", "value"],
  zero: ["self"],
  clone: ["self"],
  sum: ["self"],
  mean: ["self"],
  nansum: ["self"],
  nanToNum: ["self"],
  cumsum: ["self"],
  cat: ["tensors"],
  flip: ["self"],
  rollDims: ["self"],
  repeat: ["self"],
  tril: ["self"],
  triu: ["self"],
  constantPadNd: ["self", "value"],
  padBy: ["self"],
  padByBackward: ["grad"],
  gather: ["self"],
  scatterSet: ["self", "src"],
  scatterAdd: ["self", "src"],
  take: ["self"],
  put: ["self", "source"],
  indexSelect: ["self"],
  indexAdd: ["self", "source"],
  indexCopy: ["self", "source"],
  indexFill: ["self", "value"],
  gatherIndices: ["self"],
  putIndices: ["self", "values"],
  embeddingRows: ["weight"],
  embeddingBackward: ["grad"],
  selectScatter: ["self", "src"],
  sliceScatter: ["self", "src"],
  diagonalScatter: ["self", "src"],
  unfoldBackward: ["grad"],
  asStridedBackward: ["grad"],
  readStrided: ["self"],
  writeStrided: ["self", "src"],
  toDevice: ["self"],
} as const satisfies { readonly [name in OpName]?: readonly string[] };

/** Ops whose values promote to a common type; others keep the type of the first. */
const PROMOTING: ReadonlySet<string> = new Set(["add", "sub", "where", "cat"]);

/** The values among the arguments, including those in lists. */
function valuesOf<T extends TensorLike>(
  args: ArgsOf<Params, T>,
  names: readonly string[],
): OperandOf<T>[] {
  return names.flatMap((name) => {
    const value = args[name];
    return isTensors<T>(value) ? [...value] : isOperand<T>(value) ? [value] : [];
  });
}

function isTensors<T extends TensorLike>(value: Argument<T> | undefined): value is readonly T[] {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "object" && each !== null && "dtype" in each);
}

function isOperand<T extends TensorLike>(value: Argument<T> | undefined): value is OperandOf<T> {
  return value !== undefined && value !== null && typeof value !== "string" && !Array.isArray(value);
}

/** The arguments with one part in place of each value. */
function partsIn<T extends TensorLike>(
  o: OpApi<T>,
  args: ArgsOf<Params, T>,
  { names, dtype, part }: {
    readonly names: readonly string[];
    readonly dtype: ComplexType;
    readonly part: "re" | "im";
  },
): ArgsOf<Params, T> {
  const type = partType(dtype);
  const partOf = (value: OperandOf<T>): OperandOf<T> => {
    if (!isTensor(value)) return part === "re" ? value : 0;
    if (isComplex(value.dtype)) return partsOf(o, asComplex(o, value, { dtype, like: value }))[part];
    return part === "re" ? o.to(value, type) : o.zerosLike(value, { dtype: type });
  };
  const given: Record<string, Argument<T>> = { ...args };
  for (const name of names) {
    const value = args[name];
    if (isTensors<T>(value)) given[name] = value.map((each) => tensorOf<T>(partOf(each)));
    else if (isOperand<T>(value)) given[name] = partOf(value);
  }
  if (typeof args["dtype"] === "string") given["dtype"] = type;
  return given;
}

function tensorOf<T extends TensorLike>(value: OperandOf<T>): T {
  if (isTensor(value)) return value;
  throw new InternalError("Expected a tensor but found a number");
}

/** The arguments with values converted to a type of real numbers. */
function converted<T extends TensorLike>(
  o: OpApi<T>,
  args: ArgsOf<Params, T>,
  { names, dtype }: { readonly names: readonly string[]; readonly dtype: DType },
): ArgsOf<Params, T> {
  const given: Record<string, Argument<T>> = { ...args };
  for (const name of names) {
    const value = args[name];
    if (isOperand<T>(value) && isTensor(value)) given[name] = o.to(value, dtype);
  }
  return given;
}

function oneResult<T extends TensorLike>(name: string, found: T | readonly T[]): T {
  if ("dtype" in found) return found;
  throw new InternalError(`Expected one result of ${name} but found several`);
}

function partwise(name: string, names: readonly string[]): ComplexRule {
  return {
    name,
    compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<Params, T>): T {
      for (const [param, value] of Object.entries(args)) {
        if (names.includes(param) || !isOperand<T>(value) || !isTensor(value) || !isComplex(value.dtype)) {
          continue;
        }
        throw new DynError(`Expected ${param} of ${name} to be of a real type but found ${value.dtype}`);
      }
      const [first] = names, kept = first === undefined || PROMOTING.has(name) ? undefined : args[first];
      const isReal = isOperand<T>(kept) && isTensor(kept) && !isComplex(kept.dtype);
      if (isReal && typeof args["dtype"] !== "string") {
        throw new DynError(`Expected real numbers in ${name} of ${kept.dtype} but found complex ones`);
      }
      const asked = args["dtype"], wanted = isDType(asked) ? asked : null;
      if (wanted !== null && !isComplex(wanted)) {
        // The numbers are converted before they are summed, and lose their imaginary part there
        return oneResult(name, callNamed(o, name, converted(o, args, { names, dtype: wanted })));
      }
      const dtype = wanted ?? complexResult(valuesOf(args, names));
      const run = (part: "re" | "im"): T =>
        oneResult(name, callNamed(o, name, partsIn(o, args, { names, dtype, part })));
      return joined(o, { re: run("re"), im: run("im") });
    },
  };
}

/** One rule for each such op. */
export const partwiseRules: readonly ComplexRule[] = Object.entries(VALUES).map(([name, names]) =>
  partwise(name, names)
);
