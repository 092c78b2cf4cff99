/**
 * Serialises compiled functions, so that another process can recreate them: compilers of functional graphs register how
 * each is written. Invariant: a function without a registration is not saved.
 */
import type { Plain } from "../../base/recording.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import type { CompiledFunction } from "../backend.ts";

/** Serialises a compiled graph. Throws NotStorable. */
export type RunWriter = (symbols: Symbols) => Plain;

/** How a compiled graph is saved. */
export interface StorableRun {
  readonly write: RunWriter;
  /** Registers a listener that is called when there is more to save; absent: there never is. */
  readonly whenMore?: ((tell: () => void) => void) | undefined;
}

const storables = new WeakMap<CompiledFunction, StorableRun>();

/** Registers how a compiled graph is serialised, and returns the graph. */
export function storable(run: CompiledFunction, how: StorableRun): CompiledFunction {
  storables.set(run, how);
  return run;
}

/** Returns how a compiled graph is saved, or undefined if it cannot be. */
export function storableOf(run: CompiledFunction): StorableRun | undefined {
  return storables.get(run);
}
