/**
 * Records calls of compiled functions that run uncompiled, with reasons and counts: for `status`, hooks, counters, the
 * log `graph_breaks`, and a line on stderr if the user would not notice otherwise. Invariant: a call that runs
 * uncompiled without the user's wish is counted here, and its reason has been reported.
 */
import { type BreakReason, breakText } from "../../base/errors.ts";
import { counters, logs } from "../../base/logs.ts";
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";

/** Calls that ran uncompiled for one reason. */
export interface UncompiledCalls {
  /** The function, or the part of it after a graph break. */
  readonly name: string;
  /** The reason. */
  readonly reason: BreakReason;
  /** Number of calls. */
  readonly calls: number;
}

/** Counts one call. */
export type CountCall = () => void;

interface Counted {
  readonly name: string;
  /** The reason. */
  readonly reason: BreakReason;
  calls: number;
}

/** The uncompiled calls of a compiled callable and its units. */
export class UncompiledLog {
  readonly #found = new Map<string, Counted>();

  constructor(private readonly report: (reason: BreakReason) => void) {}

  /**
   * Reports that calls of `name` run uncompiled for a reason; the result counts them. `expected`: the user knows or
   * cannot do anything about it, so it is only logged.
   */
  begin(name: string, reason: BreakReason, { expected }: { readonly expected: boolean }): CountCall {
    const key = `${name} ${reason.id} ${reason.explanation}`;
    let counted = this.#found.get(key);
    if (!counted) {
      this.#found.set(key, counted = { name, reason, calls: 0 });
      this.report(reason);
      const meta = { id: reason.id, uncompiled: true };
      logs.emit("graph_breaks", () => `${name} runs uncompiled: ${breakText(reason)}`, { meta });
      if (!expected) logs.announce("graph_breaks", inOneLine(name, reason));
    }
    const found = counted;
    return () => {
      found.calls++;
      withRuntimeBuiltins(() => counters.add("uncompiled", reason.category));
    };
  }

  /** Every reason so far. */
  list(): readonly UncompiledCalls[] {
    return [...this.#found.values()].map(({ name, reason, calls }) => ({ name, reason, calls }));
  }

  clear(): void {
    this.#found.clear();
  }
}

function inOneLine(name: string, { id, explanation, stack: [place] }: BreakReason): string {
  const where = place ? ` (${place.file}:${place.line})` : "";
  return `${name}${where} runs uncompiled. ${explanation} (${id})`;
}
