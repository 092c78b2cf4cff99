/**
 * Guards on sizes, as data and as text. Invariant: two guards with the same text are equivalent.
 */
import type { Tagged } from "../base/tagged.ts";
import type { Dim, Sym } from "./expr.ts";
import { isUnbacked } from "./decide.ts";
import type { Range } from "./terms.ts";

/** The part of a value that determines a size. */
export type SourcePart =
  | { readonly kind: "value" }
  | { readonly kind: "shape"; readonly dim: number }
  | { readonly kind: "stride"; readonly dim: number }
  | { readonly kind: "offset" };

/** The source of a size: a part of a value that guards refer to by text, `L["x"]`. */
export interface SizeSource {
  readonly base: string;
  readonly part: SourcePart;
}

interface Conditions {
  /** A symbol's own source lies in a range, ends included. */
  range: { symbol: Sym; lower: number; upper: number };
  /** A source holds the value of an expression over other sources' symbols (or a constant). */
  source: { source: SizeSource; equals: Dim };
  relation: { relation: "eq" | "ne" | "le"; left: Dim; right: Dim };
}

/** A condition for a call to be served by the traced program. `text` is the printed guard. */
export type SizeGuard = Tagged<{ [K in keyof Conditions]: Conditions[K] & { text: string } }>;

/** Returns whether a guard is about a size that is known only during a call. */
export function mentionsUnbacked(guard: SizeGuard): boolean {
  switch (guard.kind) {
    case "range":
      return isUnbacked(guard.symbol);
    case "source":
      return isUnbacked(guard.equals);
    case "relation":
      return isUnbacked(guard.left) || isUnbacked(guard.right);
    default:
      return guard satisfies never;
  }
}

/** The guard text of a source: `L["x"].shape[0]`. */
export function sourceText({ base, part }: SizeSource): string {
  switch (part.kind) {
    case "value":
      return base;
    case "shape":
      return `${base}.shape[${part.dim}]`;
    case "stride":
      return `${base}.stride()[${part.dim}]`;
    case "offset":
      return `${base}.storageOffset()`;
    default:
      return part satisfies never;
  }
}

/** A condition on a guard text. */
export function inRange(text: string, { lower, upper }: Range): string {
  const left = lower === -Infinity ? "" : `${lower} <= `;
  const right = upper === Infinity ? "" : ` <= ${upper}`;
  return left || right ? left + text + right : `${text} is an integer`;
}

/** Formats a range for logs. */
export const rangeText = ([lower, upper]: readonly [number, number]) => `[${lower}, ${upper}]`;

/** Returns the guards without duplicates, by text. */
export function unique(guards: readonly SizeGuard[]): SizeGuard[] {
  return [...new Map(guards.map((guard) => [guard.text, guard])).values()];
}
