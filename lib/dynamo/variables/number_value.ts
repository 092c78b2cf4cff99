/**
 * Numbers that differ between calls: those that the caller passes, and those that the graph computes. Invariant: a number
 * that is also a size has the same value as that size.
 */
import type { Node } from "../../graph/node.ts";
import type { Dim, Relation } from "../../sym/expr.ts";
import type { ConstantValue, Decision } from "./constants.ts";
import type { HostExpression } from "./host_number.ts";

/** Facts of a number beside its value. */
export interface NumberFacts {
  /** Its value as an integer that may be 0, 1 or negative; null: it may be none. By default the size. */
  readonly integer?: Dim | null;
  /** Set for a quotient, for Math.floor and Math.trunc. */
  readonly quotient?: Quotient | null;
  /** Set for a number that a condition selects. */
  readonly selection?: Selection | null;
}

/** Two numbers, one of which a condition selects. */
interface Selection {
  readonly test: Decision;
  /** The numbers if the condition is true, and if it is false. */
  readonly ways: readonly [NumberValue | ConstantValue, NumberValue | ConstantValue];
  /** The number of constants that conditions select from in all; null if numbers that differ between calls are among them. */
  readonly outcomes: number | null;
}

/** Makes the condition that selects a number a constant of the version; returns the selected one. */
export function settleSelection({ test, ways: [yes, no] }: Selection): NumberValue | ConstantValue {
  // A test that is settled elsewhere keeps its value
  return test.look(true) === true ? yes : no;
}

/** The operands of a quotient, as far as integer division is that of the language. */
interface Quotient {
  readonly integers: readonly [Dim, Dim] | null;
  /** The operands as sizes. */
  sizes(): readonly [Dim, Dim] | null;
}

/** A number that the caller passes, or that is computed from such numbers. */
export class NumberValue {
  readonly kind = "number";
  readonly integer: Dim | null;
  readonly quotient: Quotient | null;
  readonly selection: Selection | null;
  #dim: Dim | null | (() => Dim | null);

  constructor(
    /** The expression that computes it in generated code. */
    readonly expression: HostExpression,
    /** Its value in the traced call. */
    readonly hint: number,
    /** Its value as a size, or a function that determines it on demand, if that relies on a condition. */
    dim: Dim | null | (() => Dim | null),
    { integer = typeof dim === "function" ? null : dim, quotient = null, selection = null }: NumberFacts = {},
  ) {
    this.#dim = dim;
    this.integer = integer;
    this.quotient = quotient;
    this.selection = selection;
  }

  /** Its value as a size, if it is an integer from which sizes may be computed. */
  get dim(): Dim | null {
    return this.#dim = typeof this.#dim === "function" ? this.#dim() : this.#dim;
  }
}

/** A comparison of two sizes in the program. */
interface SizeQuestion {
  readonly relation: Relation;
  readonly sides: readonly [Dim, Dim];
  /** The outcome if the condition is true. */
  readonly outcome: boolean;
}

/** A number or truth value computed by a node of the graph. */
export class GraphNumber {
  readonly type: "number" | "boolean";
  /** Its value as a size, if it is an integer. */
  readonly dim: Dim | null;
  /** Whether it may be -0 where the size is 0. */
  readonly signed: boolean;
  /** Set for a quotient of two sizes: the operands, for Math.floor and Math.trunc. */
  readonly quotient: readonly [Dim, Dim] | null;
  /** Set for the outcome of a comparison of sizes. */
  readonly relation: SizeQuestion | null;

  readonly #node: Node | (() => Node);

  constructor(
    /** The node, or a function that creates it on demand. */
    node: Node | (() => Node),
    { type, dim = null, signed = false, quotient = null, relation = null }:
      & Pick<GraphNumber, "type">
      & Partial<Pick<GraphNumber, "dim" | "signed" | "quotient" | "relation">>,
  ) {
    this.#node = node;
    this.type = type;
    this.dim = dim;
    this.signed = signed;
    this.quotient = quotient;
    this.relation = relation;
  }

  get node(): Node {
    return typeof this.#node === "function" ? this.#node() : this.#node;
  }
}
