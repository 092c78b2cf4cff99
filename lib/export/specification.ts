/**
 * What an exported program takes and gives. Input: none; output: types, and checks of calls against them. Invariant: a call
 * that passes the checks is one for which the graph is right.
 */
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { flatten, specText, type TreeSpec } from "../base/tree.ts";
import { isContiguous } from "../graph/meta.ts";
import { type Dim, evaluate, print, type Sym } from "../sym/expr.ts";
import type { SourcePart } from "../sym/shape_env.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** A value without tensors that an argument had when the program was exported, and has in every call. */
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

/** Where a value is taken from: a leaf of the arguments, or a tensor that the program holds. */
export type ValueSource =
  | { readonly kind: "argument"; readonly leaf: number }
  | { readonly kind: "held"; readonly name: string };

/** A size: a part of a value. */
export interface SizeOriginSpec {
  readonly of: ValueSource;
  readonly part: SourcePart;
}

/** One symbol and where a call says what it is. */
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

/** What the program holds besides its graph. */
export type HeldKind = "parameter" | "buffer" | "constant";

/** One leaf of what a call returns. */
export type ResultSpec =
  | { readonly kind: "output"; readonly output: number }
  | { readonly kind: "given"; readonly value: ValueSource }
  | { readonly kind: "constant"; readonly value: null | undefined };

/** What has to hold of sizes. */
export type Constraint =
  | { readonly kind: "source"; readonly origin: SizeOriginSpec; readonly equals: Dim; readonly text: string }
  | {
    readonly kind: "relation";
    readonly relation: "eq" | "ne" | "le" | "lt";
    readonly left: Dim;
    readonly right: Dim;
    /** Whether the relation has to hold, or must not. */
    readonly holds: boolean;
    readonly text: string;
  };

/** What a call has to look like. */
export interface CallSpec {
  readonly name: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly argumentTree: TreeSpec;
  readonly sizes: readonly SizeSpec[];
  readonly constraints: readonly Constraint[];
}

/** A call that was checked: its leaves and its sizes. */
export interface CheckedCall {
  readonly leaves: readonly unknown[];
  readonly read: (origin: SizeOriginSpec) => number;
}

/** Takes the arguments of a call apart. Throws DynError, with what was found, for what the program was not exported for. */
export function checkCall(
  spec: CallSpec,
  args: readonly unknown[],
  held: ReadonlyMap<string, Tensor>,
): CheckedCall {
  const { leaves: given, spec: tree } = flatten([...args], isTensor);
  const wanted = specText(spec.argumentTree), found = specText(tree);
  if (wanted !== found) {
    throw new DynError(`Expected arguments ${wanted} of ${spec.name} but found ${found}`);
  }
  spec.arguments.forEach((each, leaf) => checkLeaf(each, given[leaf], `argument ${leaf} of ${spec.name}`));
  const leaves = spec.arguments.map((each, leaf) => laidOut(each, given[leaf]));
  const read = (origin: SizeOriginSpec): number => readOrigin(origin, leaves, held);
  const values = new Map(spec.sizes.map(({ symbol, origin }) => [symbol, read(origin)]));
  const sizeOf = (symbol: Sym): number => {
    const value = values.get(symbol);
    if (value === undefined) throw new DynError(`Expected an input that gives ${symbol} but found none`);
    return value;
  };
  spec.arguments.forEach((each, leaf) => {
    const tensor = leaves[leaf];
    if (each.kind !== "tensor" || !isTensor(tensor)) return;
    const isAs = (dims: readonly Dim[], found: readonly number[]) =>
      dims.every((size, d) => evaluate(size, sizeOf) === found[d]);
    if (isAs(each.shape, tensor.shape)) {
      const strides = tensor.stride();
      if (tensor.shape.every((size, d) => size === 1 || isAs([each.strides[d] ?? 0], [strides[d] ?? 0]))) {
        return;
      }
      throw new DynError(
        `Expected strides [${
          each.strides.map(print).join(", ")
        }] of argument ${leaf} of ${spec.name}, as in the exported ` +
          `call, but found [${strides.join(", ")}]`,
      );
    }
    const shape = each.shape.map(print).join(", ");
    throw new DynError(
      `Expected shape [${shape}] of argument ${leaf} of ${spec.name} but found [${tensor.shape.join(", ")}]`,
    );
  });
  for (const constraint of spec.constraints) {
    if (holds(constraint, sizeOf, read)) continue;
    const given = [...values].map(([symbol, value]) => `${symbol} = ${value}`).join(", ");
    throw new DynError(`Expected ${constraint.text} in a call of ${spec.name} but found ${given}`);
  }
  return { leaves, read };
}

/** A tensor as the graph expects it: what only reads, of contiguous tensors, gets a copy of others. */
function laidOut(spec: ArgumentSpec, leaf: unknown): unknown {
  if (spec.kind !== "tensor" || spec.written || !isTensor(leaf)) return leaf;
  return isContiguous(spec) && !leaf.isContiguous() ? noGrad(() => leaf.contiguous()) : leaf;
}

function checkLeaf(spec: ArgumentSpec, leaf: unknown, what: string): void {
  switch (spec.kind) {
    case "tensor": {
      const { shape, dtype, device } = spec;
      if (!isTensor(leaf)) throw new DynError(`Expected a tensor as ${what} but found ${Deno.inspect(leaf)}`);
      const fits = leaf.dtype === dtype && leaf.device === device && leaf.ndim === shape.length;
      if (fits) return;
      throw new DynError(
        `Expected ${dtype} of ${shape.length} dimensions on ${device} as ${what} but found ${leaf.dtype} ` +
          `[${leaf.shape.join(", ")}] on ${leaf.device}`,
      );
    }
    case "constant":
      if (Object.is(leaf, spec.value)) return;
      throw new DynError(
        `Expected ${Deno.inspect(spec.value)} as ${what}, as in the exported call, but found ${
          Deno.inspect(leaf)
        }`,
      );
    case "integer":
      if (Number.isSafeInteger(leaf)) return;
      throw new DynError(`Expected an integer as ${what} but found ${Deno.inspect(leaf)}`);
    default:
      return spec satisfies never;
  }
}

/** The value of a size in a call. */
export function readOrigin(
  { of, part }: SizeOriginSpec,
  leaves: readonly unknown[],
  held: ReadonlyMap<string, Tensor>,
): number {
  const holder = of.kind === "argument" ? leaves[of.leaf] : held.get(of.name);
  if (part.kind === "value" && typeof holder === "number") return holder;
  if (!isTensor(holder)) throw new DynError(`Expected a tensor that gives a size but found ${typeof holder}`);
  const value = part.kind === "shape"
    ? holder.shape[part.dim]
    : part.kind === "stride"
    ? holder.stride()[part.dim]
    : holder.storageOffset();
  if (value === undefined) throw new DynError(`Expected a dimension of [${holder.shape}] that gives a size`);
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

/** Whether two values stand in a relation. */
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
