/**
 * The nodes of symbolic integers, and their text. Invariant: only `expr.ts` creates them, one for each expression.
 */
import { InternalError } from "../base/errors.ts";

/** A size, stride, offset or index: known, or an expression. */
export type Dim = number | Sym;

/** The meaning of a symbol. */
export type SymbolRole =
  /** A size that the caller passes; `decider` answers questions about it and records guards. */
  | { readonly kind: "size"; readonly decider: Decider }
  /** A data-dependent size or integer: unknown before the program runs. */
  | { readonly kind: "unbacked"; readonly decider: UnbackedDecider }
  /** The counter of a loop, in [0, size); `size` is set if comparisons need a symbolic size. */
  | { readonly kind: "axis"; readonly size?: Dim }
  /** A value computed inside a kernel (indirect indexing), by its id. */
  | { readonly kind: "value"; readonly id: number };

/** Answers comparisons about sizes from hints and records what it assumed. Implemented by ShapeEnv. */
export interface Decider {
  /** The value in the call that is being traced. */
  hintOf(symbol: Sym): number;
  /** Substitutes recorded facts into an expression. Absent: no change. */
  simplify?(d: Dim): Dim;
  /** Records that `relation` between `left` and `right` was assumed to be `outcome`. */
  assume(relation: Relation, sides: readonly [Dim, Dim], outcome: boolean): void;
  /**
   * Records the answer to a question that chose between equivalent programs. Absent: calls with another answer may run
   * the program that was chosen. Equal sizes may be made constants, for which it throws so that the trace starts again.
   */
  prefer?(relation: Relation, sides: readonly [Dim, Dim], outcome: boolean): void;
}

/**
 * Answers comparisons about sizes that are still unknown, and makes the program check the answer once they are known.
 */
export interface UnbackedDecider {
  /** Returns whether `relation` holds between `left` and `right`. Throws if neither answer is justified. */
  decide(relation: Relation, sides: readonly [Dim, Dim]): boolean;
}

export type Relation = "eq" | "lt" | "le";

/** The shape of an expression node. */
export type SymNode =
  | { readonly kind: "symbol"; readonly name: string; readonly role: SymbolRole }
  /** constant + Σ coefficient·term, terms not sums. */
  | {
    readonly kind: "sum";
    readonly constant: number;
    readonly terms: readonly { readonly term: Sym; readonly coefficient: number }[];
  }
  /** Product of at least two factors, none a number or product. */
  | { readonly kind: "product"; readonly factors: readonly Sym[] }
  /** floor(left / right) */
  | { readonly kind: "floorDiv"; readonly left: Dim; readonly right: Dim }
  /** left − right·floor(left / right) */
  | { readonly kind: "mod"; readonly left: Dim; readonly right: Dim }
  | { readonly kind: "min"; readonly left: Dim; readonly right: Dim }
  | { readonly kind: "max"; readonly left: Dim; readonly right: Dim };

let nextId = 0;

/** One interned expression. Created by the functions of this file. */
export class Sym {
  /** @internal */
  readonly id: number = nextId++;
  /** Inclusive bounds, ±Infinity if unknown. */
  constructor(
    /** @internal */
    readonly node: SymNode,
    readonly lower: number,
    readonly upper: number,
  ) {}

  /** The expression as text. */
  toString(): string {
    return print(this);
  }

  /** Expressions must not be silently turned into numbers. */
  valueOf(): never {
    throw new InternalError(`Expected a known size but found the symbolic ${print(this)}`);
  }
}

/** Text with the usual operators; `//` is floor division, `%` the non-negative remainder. */
export function print(d: Dim): string {
  if (typeof d === "number") return `${d}`;
  const { node } = d;
  const tight = (x: Dim) => typeof x !== "number" && x.node.kind === "sum" ? `(${print(x)})` : print(x);
  switch (node.kind) {
    case "symbol":
      return node.name;
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) =>
        coefficient === 1
          ? print(term)
          : coefficient === -1
          ? `-${print(term)}`
          : `${coefficient}*${print(term)}`
      );
      if (node.constant !== 0) parts.push(`${node.constant}`);
      return parts.join(" + ").replaceAll("+ -", "- ");
    }
    case "product":
      return node.factors.map(tight).join("*");
    case "floorDiv":
      return `(${tight(node.left)}//${tight(node.right)})`;
    case "mod":
      return `(${tight(node.left)}%${tight(node.right)})`;
    case "min":
    case "max":
      return `${node.kind}(${print(node.left)}, ${print(node.right)})`;
    default:
      return node satisfies never;
  }
}
