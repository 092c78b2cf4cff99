/**
 * Traces the creation of symbols: a traced symbol represents the one created in each call. Invariant: generated code
 * never holds such a symbol, but creates a new one.
 */

const made = new WeakSet<symbol>();

/** Creates a symbol that represents those of later calls. */
export function makeSymbol(description: string | undefined): symbol {
  const symbol = Symbol(description);
  made.add(symbol);
  return symbol;
}

/** Returns whether a symbol represents one that each call creates. */
export function isMadeSymbol(symbol: symbol): boolean {
  return made.has(symbol);
}
