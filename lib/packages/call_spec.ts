/**
 * The call specification of an exported program: types, and checks of calls against them, for tensors of any kind.
 * Invariant: the graph is correct for every call that passes the checks.
 */
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { flatten, specText, type TreeSpec } from "../base/tree.ts";
import { isContiguous } from "../graph/meta.ts";
import { type Dim, evaluate, print, type Sym } from "../sym/expr.ts";
import type { SourcePart } from "../sym/size_guards.ts";

/** A leaf that is not a tensor: it must have the exported value in every call. */
export type ConstantLeaf = number | bigint | boolean | string | null | undefined;

/** One leaf of the arguments. */
export type ArgumentSpec =
  | {
    readonly kind: "tensor";
    readonly shape: readonly Dim[];
    readonly strides: readonly Dim[];
    readonly dtype: DType;
    readonly device: string;
    /** Whether the program writes to it. */
    readonly written: boolean;
  }
  | { readonly kind: "constant"; readonly value: ConstantLeaf }
  /** An integer that sizes depend on. */
  | { readonly kind: "integer" };

/** The source of a value: a leaf of the arguments, or a tensor that the program holds. */
export type ValueSource =
  | { readonly kind: "argument"; readonly leaf: number }
  | { readonly kind: "held"; readonly name: string };

/** The leaves of the result of a call, from the outputs of its graph and the values that it was given. */
export function leavesOf(
  results: readonly ResultSpec[],
  outputs: readonly unknown[],
  valueOf: (value: ValueSource) => unknown,
): unknown[] {
  return results.map((result) => {
    switch (result.kind) {
      case "output":
        return outputs[result.output];
      case "given":
        return valueOf(result.value);
      case "constant":
        return result.value;
      default:
        return result satisfies never;
    }
  });
}

/** A size: a part of a value. */
export interface SizeOriginSpec {
  readonly of: ValueSource;
  readonly part: SourcePart;
}

/** A symbol, and its source in a call. */
export interface SizeSpec {
  readonly symbol: Sym;
  readonly hint: number;
  readonly origin: SizeOriginSpec;
}

/** An input of the graph. */
export interface InputSpec {
  readonly name: string;
  readonly value: ValueSource | { readonly kind: "size"; readonly origin: SizeOriginSpec };
}

/** The kind of a tensor held by the program. */
export type HeldKind = "parameter" | "buffer" | "constant";

/** One leaf of the result of a call. */
export type ResultSpec =
  | { readonly kind: "output"; readonly output: number }
  | { readonly kind: "given"; readonly value: ValueSource }
  | { readonly kind: "constant"; readonly value: null | undefined };

/** A constraint on sizes. */
export type Constraint =
  | { readonly kind: "source"; readonly origin: SizeOriginSpec; readonly equals: Dim; readonly text: string }
  | {
    readonly kind: "relation";
    readonly relation: "eq" | "ne" | "le" | "lt";
    readonly left: Dim;
    readonly right: Dim;
    /** Whether the relation must hold, or must not. */
    readonly holds: boolean;
    readonly text: string;
  };

/** The specification of a call. */
export interface CallSpec {
  readonly name: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly argumentTree: TreeSpec;
  readonly sizes: readonly SizeSpec[];
  readonly constraints: readonly Constraint[];
}

/** The metadata of a tensor at run time. */
export interface KnownMeta {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
  readonly dtype: DType;
  readonly device: string;
}

/** Tensors of one kind, and those that a program holds. */
export interface Holding<T> {
  is(value: unknown): value is T;
  metaOf(tensor: T): KnownMeta;
  /** Returns a tensor with the same elements in row-major order. */
  contiguous(tensor: T): T;
  readonly held: ReadonlyMap<string, T>;
}

/** A checked call: its leaves, as the graph takes them, and its sizes. */
interface CheckedCall {
  readonly leaves: readonly unknown[];
  readonly sizeOf: (symbol: Sym) => number;
  readonly read: (origin: SizeOriginSpec) => number;
}

/**
 * Checks the arguments of a call and returns their leaves. Throws DynError, with the value found, for arguments that
 * differ from the exported ones.
 */
export function checkCall<T>(spec: CallSpec, args: readonly unknown[], holding: Holding<T>): CheckedCall {
  const { name } = spec;
  const { leaves: given, spec: tree } = flatten(
    [...args],
    (value) => holding.is(value) || value instanceof Map,
  );
  const wanted = specText(spec.argumentTree), found = specText(tree);
  if (wanted !== found) throw new DynError(`Expected arguments ${wanted} of ${name} but found ${found}`);
  const leaves = spec.arguments.map((each, at) => {
    const leaf = given[at];
    checkLeaf(each, leaf, { what: `argument ${at} of ${name}`, holding });
    // Read-only inputs may be copied into the expected layout
    const isCopied = each.kind === "tensor" && !each.written && isContiguous(each) && holding.is(leaf) &&
      !isContiguous(holding.metaOf(leaf));
    return isCopied ? holding.contiguous(leaf) : leaf;
  });
  const read = (origin: SizeOriginSpec): number => readOrigin(origin, leaves, holding);
  const values = new Map(spec.sizes.map(({ symbol, origin }) => [symbol, read(origin)]));
  const sizeOf = (symbol: Sym): number => {
    const value = values.get(symbol);
    if (value === undefined) throw new DynError(`Expected an input that gives ${symbol} but found none`);
    return value;
  };
  spec.arguments.forEach((each, at) => {
    const leaf = leaves[at];
    if (each.kind === "tensor" && holding.is(leaf)) {
      checkLayout(each, holding.metaOf(leaf), { what: `argument ${at} of ${name}`, sizeOf });
    }
  });
  for (const constraint of spec.constraints) {
    if (holds(constraint, sizeOf, read)) continue;
    const sizes = [...values].map(([symbol, value]) => `${symbol} = ${value}`).join(", ");
    throw new DynError(`Expected ${constraint.text} in a call of ${name} but found ${sizes}`);
  }
  return { leaves, sizeOf, read };
}

function checkLayout(
  spec: Extract<ArgumentSpec, { readonly kind: "tensor" }>,
  { shape, strides }: KnownMeta,
  { what, sizeOf }: { readonly what: string; readonly sizeOf: (symbol: Sym) => number },
): void {
  const text = (dims: readonly Dim[]) => `[${dims.map(print).join(", ")}]`;
  if (!spec.shape.every((size, d) => evaluate(size, sizeOf) === shape[d])) {
    throw new DynError(`Expected shape ${text(spec.shape)} of ${what} but found [${shape.join(", ")}]`);
  }
  const isAs = spec.strides.every((stride, d) => shape[d] === 1 || evaluate(stride, sizeOf) === strides[d]);
  if (isAs || shape.includes(0)) return;
  throw new DynError(
    `Expected strides ${text(spec.strides)} of ${what}, as in the exported call, but found [${
      strides.join(", ")
    }]`,
  );
}

/** Formats a value for messages. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function" || (typeof value === "object" && value !== null)) {
    return value.constructor?.name ?? typeof value;
  }
  return String(value);
}

function checkLeaf<T>(
  spec: ArgumentSpec,
  leaf: unknown,
  { what, holding }: { readonly what: string; readonly holding: Holding<T> },
): void {
  switch (spec.kind) {
    case "tensor": {
      if (!holding.is(leaf)) throw new DynError(`Expected a tensor as ${what} but found ${shown(leaf)}`);
      const { shape, dtype, device } = holding.metaOf(leaf);
      if (dtype === spec.dtype && device === spec.device && shape.length === spec.shape.length) return;
      throw new DynError(
        `Expected ${spec.dtype} of ${spec.shape.length} dimensions on ${spec.device} as ${what} but found ${dtype} ` +
          `[${shape.join(", ")}] on ${device}`,
      );
    }
    case "constant":
      if (Object.is(leaf, spec.value)) return;
      throw new DynError(
        `Expected ${shown(spec.value)} as ${what}, as in the exported call, but found ${shown(leaf)}`,
      );
    case "integer":
      if (Number.isSafeInteger(leaf)) return;
      throw new DynError(`Expected an integer as ${what} but found ${shown(leaf)}`);
    default:
      return spec satisfies never;
  }
}

function readOrigin<T>(
  { of, part }: SizeOriginSpec,
  leaves: readonly unknown[],
  holding: Holding<T>,
): number {
  const holder = of.kind === "argument" ? leaves[of.leaf] : holding.held.get(of.name);
  if (part.kind === "value" && typeof holder === "number") return holder;
  if (!holding.is(holder)) {
    throw new DynError(`Expected a tensor that determines a size but found ${shown(holder)}`);
  }
  const { shape, strides, offset } = holding.metaOf(holder);
  const value = part.kind === "shape" ? shape[part.dim] : part.kind === "stride" ? strides[part.dim] : offset;
  if (value === undefined) throw new DynError(`Expected a dimension of [${shape}] that gives a size`);
  return value;
}

function holds(
  constraint: Constraint,
  sizeOf: (symbol: Sym) => number,
  read: (origin: SizeOriginSpec) => number,
): boolean {
  if (constraint.kind === "source") return read(constraint.origin) === evaluate(constraint.equals, sizeOf);
  const left = evaluate(constraint.left, sizeOf), right = evaluate(constraint.right, sizeOf);
  return related(constraint.relation, left, right) === constraint.holds;
}

/** Returns whether a relation holds between two values. */
export function related(
  relation: Extract<Constraint, { readonly kind: "relation" }>["relation"],
  left: number,
  right: number,
): boolean {
  switch (relation) {
    case "eq":
      return left === right;
    case "ne":
      return left !== right;
    case "le":
      return left <= right;
    case "lt":
      return left < right;
    default:
      return relation satisfies never;
  }
}
