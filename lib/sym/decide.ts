/**
 * Questions about sizes, answered during a trace. Known sizes and provable relations need no guard; a question that
 * depends on a symbol is answered from its hint, and its decider records the answer as a guard. Invariant: after an
 * answer, the traced program is valid for every call that the recorded guards admit.
 */
import { DynError, InternalError } from "../base/errors.ts";
import {
  boundsOf,
  type Decider,
  type Dim,
  evaluate,
  freeSymbols,
  print,
  type Relation,
  sub,
  type Sym,
  type UnbackedDecider,
} from "./expr.ts";

/** A decision depends on a data-dependent size. */
export class DataDependentSize extends DynError {
  override readonly name = "DataDependentSize";
}

/** Returns whether an expression depends on elements of tensors. */
export function isUnbacked(d: Dim): boolean {
  return typeof d !== "number" && unbackedOf(d) !== undefined;
}

/** Returns the decider of the first data-dependent symbol in an expression. */
function unbackedOf(d: Sym): UnbackedDecider | undefined {
  for (const { node } of freeSymbols(d)) {
    if (node.kind === "symbol" && node.role.kind === "unbacked") return node.role.decider;
  }
  return undefined;
}

/** a = b? */
export function isEqual(a: Dim, b: Dim): boolean {
  if (typeof a === "number" && typeof b === "number") return a === b;
  if (a === b) return true;
  return decide("eq", a, b);
}

/** a < b? */
export function isLess(a: Dim, b: Dim): boolean {
  return typeof a === "number" && typeof b === "number" ? a < b : decide("lt", a, b);
}

/** a ≤ b? */
export function isAtMost(a: Dim, b: Dim): boolean {
  return typeof a === "number" && typeof b === "number" ? a <= b : decide("le", a, b);
}

/**
 * a ≤ b in the traced call, for a choice between programs of which each is right for every call. Only a decider whose
 * calls must all run the program that each would have alone records the answer.
 */
export function isPreferred(a: Dim, b: Dim): boolean {
  const difference = sub(a, b), proven = provable("le", difference);
  if (proven !== undefined) return proven;
  const outcome = hintOf(difference) <= 0;
  deciderIn(difference).prefer?.("le", [a, b], outcome);
  return outcome;
}

/**
 * Returns whether a = b in every call, where programs for calls in which it is so would be others. A decider whose
 * calls must all run the program that each would have alone makes constants of sizes that are equal by chance.
 */
export function isSettledEqual(a: Dim, b: Dim): boolean {
  if (a === b) return true;
  const difference = sub(a, b), proven = provable("eq", difference);
  if (proven !== undefined) return proven;
  if (isOfSizes(difference)) deciderIn(difference).prefer?.("eq", [a, b], hintOf(difference) === 0);
  return false;
}

/** a = b without a guard: true or false if provable, undefined if it depends on a symbol. */
export function provablyEqual(a: Dim, b: Dim): boolean | undefined {
  return provable("eq", sub(a, b));
}

/** Returns the value of a size in the traced call. Records nothing. */
export function hintOf(d: Dim): number {
  return typeof d === "number" ? d : evaluate(d, (s) => deciderOf(s).hintOf(s));
}

/**
 * Returns the value of a size in the traced call, if programs may be ordered as for that call alone: undefined for
 * unknown sizes, and for those of a decider whose calls must all run the program that each would have alone.
 */
export function tracedValue(symbol: Sym): number | undefined {
  const { node } = symbol;
  if (node.kind !== "symbol" || node.role.kind !== "size" || node.role.decider.prefer) return undefined;
  return hintOf(symbol);
}

/** A size as text, for messages: its value in the traced call; an expression if it is not known before the call. */
export function sizeText(d: Dim): string {
  return isOfSizes(d) ? `${hintOf(d)}` : print(d);
}

/** Returns whether all symbols of an expression are sizes that are known before a call. */
function isOfSizes(d: Dim): boolean {
  return freeSymbols(d).values().every(({ node }) => node.kind === "symbol" && node.role.kind === "size");
}

/** Substitutes known facts into a size: a number if the guards leave only one. Records nothing. */
export function simplified(d: Dim): Dim {
  if (typeof d === "number" || isUnbacked(d)) return d;
  const [symbol] = freeSymbols(d);
  return symbol ? deciderOf(symbol).simplify?.(d) ?? d : d;
}

/** Makes a size a constant from now on and returns its value: records that it equals its hint. */
export function specialize(d: Dim): number {
  if (isUnbacked(d)) throw unknownSize(d);
  const value = hintOf(d);
  isEqual(d, value);
  return value;
}

/** A question about sizes that was answered from hints. */
export interface Question {
  readonly relation: Relation;
  readonly left: Dim;
  readonly right: Dim;
}

let asked: Question[] | null = null;

/** Runs `body` and returns the questions it asked about sizes: asking them again records the same guards. */
export function questionsOf<T>(
  body: () => T,
): { readonly result: T; readonly questions: readonly Question[] } {
  const former = asked, questions: Question[] = [];
  asked = questions;
  try {
    return { result: body(), questions };
  } finally {
    asked = former;
    former?.push(...questions);
  }
}

/** Asks a question. */
export function ask({ relation, left, right }: Question): boolean {
  return decide(relation, left, right);
}

/** Returns whether a relation holds between a difference and 0 in all calls, or in none; undefined if it depends. */
function provable(relation: Relation, difference: Dim): boolean | undefined {
  const [lo, hi] = boundsOf(difference);
  switch (relation) {
    case "eq":
      if (typeof difference === "number") return difference === 0;
      return lo > 0 || hi < 0 ? false : undefined;
    case "lt":
      return hi < 0 ? true : lo >= 0 ? false : undefined;
    case "le":
      return hi <= 0 ? true : lo > 0 ? false : undefined;
    default:
      return relation satisfies never;
  }
}

function decide(relation: Relation, a: Dim, b: Dim): boolean {
  const difference = sub(a, b), proven = provable(relation, difference);
  if (proven !== undefined) return proven;
  const unbacked = typeof difference === "number" ? undefined : unbackedOf(difference);
  if (unbacked) return unbacked.decide(relation, [a, b]);
  const value = hintOf(difference);
  const outcome = relation === "eq" ? value === 0 : relation === "lt" ? value < 0 : value <= 0;
  const decider = deciderIn(difference);
  asked?.push({ relation, left: a, right: b });
  decider.assume(relation, [a, b], outcome);
  return outcome;
}

/** The decider of an expression's first symbol. */
function deciderIn(d: Dim): Decider {
  const [first] = freeSymbols(d);
  if (!first) throw new InternalError(`Expected a symbol in ${d}`);
  return deciderOf(first);
}

function unknownSize(d: Dim): DataDependentSize {
  return new DataDependentSize(`Expected a size that is known before the call but found ${d}`);
}

function deciderOf(s: Sym): Decider {
  if (s.node.kind === "symbol" && s.node.role.kind === "size") return s.node.role.decider;
  if (s.node.kind === "symbol" && s.node.role.kind === "unbacked") throw unknownSize(s);
  throw new InternalError(`Expected a size symbol but found ${s}`);
}
