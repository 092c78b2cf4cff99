/** Sizes that a call brings, for tests without a trace that would decide about them. */
import { type Sym, symbol } from "../../lib/sym/expr.ts";

/** Says that something decided about a size of which nothing may be assumed. */
export class Assumption extends Error {
  override readonly name = "Assumption";
}

/** A size about which decisions are made as for `hint`. */
export function sizeLike(name: string, hint: number, bounds: readonly [number, number]): Sym {
  return symbol(name, { kind: "size", decider: { hintOf: () => hint, assume: () => {} } }, bounds);
}

/** A size of at least 2 on which no decision may depend: each throws Assumption. */
export function unknownSize(name: string, hint: number): Sym {
  const assume = () => {
    throw new Assumption(`Expected no assumption about ${name}`);
  };
  return symbol(name, { kind: "size", decider: { hintOf: () => hint, assume } }, [2, Infinity]);
}
