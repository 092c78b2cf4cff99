/**
 * Symbols that the program makes while it is traced. Input: `Symbol(description)`; output: a symbol that stands for the
 * one which each call makes. Invariant: generated code never holds such a symbol, it makes one of its own.
 */

const made = new WeakSet<symbol>();

/** Makes a symbol that stands for those of later calls. */
export function makeSymbol(description: string | undefined): symbol {
  const symbol = Symbol(description);
  made.add(symbol);
  return symbol;
}

/** Whether a symbol stands for one that each call makes. */
export function isMadeSymbol(symbol: symbol): boolean {
  return made.has(symbol);
}
