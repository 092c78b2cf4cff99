/**
 * Serialises compiled functions, so that another process can recreate them: compilers of functional graphs register
 * how each is written. Invariant: a function without a registration is not kept.
 */
import type { Plain } from "../../base/recording.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import type { CompiledFunction } from "../backend.ts";

/** Writes a compiled graph down. Throws NotStorable. */
export type RunWriter = (symbols: Symbols) => Plain;

const writers = new WeakMap<CompiledFunction, RunWriter>();

/** Says how a compiled graph is written down, and gives it back. */
export function keepable(run: CompiledFunction, write: RunWriter): CompiledFunction {
  writers.set(run, write);
  return run;
}

/** Returns how a compiled graph is serialised; undefined if it cannot be. */
export function writerOf(run: CompiledFunction): RunWriter | undefined {
  return writers.get(run);
}
