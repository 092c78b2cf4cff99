/**
 * Serialises compiled functions, so that another process can recreate them: compilers of functional graphs register
 * how each is written. Invariant: a function without a registration is not kept.
 */
import type { Plain } from "../../base/recording.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import type { CompiledFunction } from "../backend.ts";

/** Writes a compiled graph down. Throws NotStorable. */
export type RunWriter = (symbols: Symbols) => Plain;

/** How a compiled graph is kept. */
export interface KeepableRun {
  readonly write: RunWriter;
  /** Has somebody told when there is more to write; absent: there never is. */
  readonly whenMore?: ((tell: () => void) => void) | undefined;
}

const keepables = new WeakMap<CompiledFunction, KeepableRun>();

/** Says how a compiled graph is written down, and gives it back. */
export function keepable(run: CompiledFunction, how: KeepableRun): CompiledFunction {
  keepables.set(run, how);
  return run;
}

/** Returns how a compiled graph is kept; undefined if it cannot be. */
export function keepableOf(run: CompiledFunction): KeepableRun | undefined {
  return keepables.get(run);
}
