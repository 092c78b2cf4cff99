/**
 * Parameters of ops, as data: the source of the parsing of calls (positional arguments, then an options object), of the
 * TypeScript signatures of methods and functions, and of the typed arguments of an op's own functions. Invariant: a
 * parameter without default is required.
 */
import type { DType } from "../base/dtype.ts";
import type { Dim } from "../sym/expr.ts";
import type { DeviceName } from "../loops/device.ts";

/** One integer, which holds for each dimension where several are meant, or a list of them. */
export type IntOrInts = number | readonly number[];

/** A number in the sense of PyTorch's Scalar. A symbolic size may replace an integer. */
export type Scalar = number | bigint | boolean;

/** The type of each kind of argument, where tensors are values of type T. */
export interface ArgumentTypes<T> {
  /** A tensor; users may also pass a number where a tensor operand is expected if the kind is "operand". */
  tensor: T;
  tensors: readonly T[];
  /** Tensors of which some may be left out: the indices of advanced indexing. */
  tensorsOrNulls: readonly (T | null)[];
  /** A tensor or a number (binary operators). */
  operand: T | Scalar | Dim;
  scalar: Scalar | Dim;
  float: number;
  /**
   * A number that only takes part in arithmetic: programs pass numbers, but a graph in which the number changes between
   * calls passes a 0-d tensor of float64.
   */
  floatOperand: number | T;
  /** The same for numbers of any type. */
  scalarOperand: Scalar | Dim | T;
  /** A number or a name: the order of a norm. */
  scalarOrString: Scalar | string;
  /** sizeOrSizes, or a name: "same" padding. */
  sizesOrString: Dim | readonly Dim[] | string;
  /** An integer that is a constant of the program (a dimension, a count of dimensions). */
  int: number;
  ints: readonly number[];
  /** An integer or several, as kernel sizes and strides: [h, w] or one for both. */
  intOrInts: number | readonly number[];
  /** One dimension, several, or null for all. */
  dims: number | readonly number[];
  /** dims, or a boolean: `var(x, unbiased)`. */
  dimsOrBool: number | readonly number[] | boolean;
  /** A count of dimensions, or two lists of dimensions to pair. */
  pairs: number | readonly (readonly number[])[];
  /** One size for all dimensions, or one for each; null keeps a size. */
  outputSizes: Dim | readonly (Dim | null)[];
  floatOrFloats: number | readonly number[];
  /** A size or index that may be symbolic. */
  size: Dim;
  sizes: readonly Dim[];
  sizeOrSizes: Dim | readonly Dim[];
  /** Integers that are constants of eager programs, and may be symbolic in graphs: the windows of an internal op. */
  counts: readonly Dim[];
  bool: boolean;
  dtype: DType;
  device: DeviceName;
  string: string;
}

export type ParamKind = keyof ArgumentTypes<unknown>;

/** The numbers that fulfil all conditions. */
export interface NumberRange {
  readonly above?: number;
  readonly atLeast?: number;
  readonly below?: number;
  readonly atMost?: number;
  readonly not?: readonly number[];
  /** The name of another parameter that the number does not exceed. */
  readonly notAbove?: string;
  /** The name of another parameter that is no greater than the number. */
  readonly notBelow?: string;
}

/** One parameter. `nullable` ones may be left out or given as null. */
export interface Param<K extends ParamKind = ParamKind, N extends boolean = boolean> {
  readonly kind: K;
  readonly nullable: N;
  /** Absent: required. */
  readonly default?: Scalar | string | readonly number[] | null;
  /** Only by name, in the options object. */
  readonly keyword?: boolean;
  /**
   * Whether lowering treats the scalar as an operand, so that it may be loaded instead of being a constant. Next to
   * integers "natural" excludes negative numbers, and "nonzero" 0, which are errors.
   */
  readonly loadable?: true | "natural" | "nonzero";
  /**
   * Whether numbers may be replaced by 0-d tensors of the type of the computation: results and gradients have the same
   * bits.
   */
  readonly late?: true;
  /**
   * Numbers that may change between calls of one graph, for kinds that take operands; others decide whether the call is
   * valid, or which way it goes, and are constants.
   */
  readonly changes?: NumberRange;
  /** Whether complex numbers are accepted; they become tensors before the call is parsed. */
  readonly complex?: true;
  /** Allowed values of a string parameter. */
  readonly oneOf?: readonly string[];
  /** `sizes` and `dims`: may also be spread over the trailing positional arguments, as x.view(2, 3). */
  readonly variadic?: boolean;
}

/** Parameters by name, in positional order. */
export type Params = { readonly [name: string]: Param };

/** The resolved arguments of an op with parameters P, where tensors are T. */
export type ArgsOf<P extends Params, T> = {
  readonly [K in keyof P]: ArgumentTypes<T>[P[K]["kind"]] | (true extends P[K]["nullable"] ? null : never);
};

/** Returns whether a parameter is a number that is a 0-d tensor in graphs in which it changes. */
export function isOperandNumber(param: Param | undefined): boolean {
  return param?.kind === "floatOperand" || param?.kind === "scalarOperand";
}

/** A required parameter. */
export function required<K extends ParamKind>(
  kind: K,
  options: {
    variadic?: boolean;
    oneOf?: readonly string[];
    loadable?: "natural" | "nonzero";
    late?: true;
    complex?: true;
    changes?: NumberRange;
  } = {},
): Param<K, false> {
  return { kind, nullable: false, ...options };
}

/** A parameter with a default. */
export function optional<K extends ParamKind>(
  kind: K,
  value: Scalar | string | readonly number[],
  options: { keyword?: boolean; oneOf?: readonly string[]; loadable?: true; changes?: NumberRange } = {},
): Param<K, false> {
  return { kind, nullable: false, default: value, ...options };
}

/** A parameter that may be null or left out. */
export function nullable<K extends ParamKind>(
  kind: K,
  options: {
    keyword?: boolean;
    oneOf?: readonly string[];
    variadic?: boolean;
    late?: true;
    changes?: NumberRange;
  } = {},
): Param<K, true> {
  return { kind, nullable: true, default: null, ...options };
}
