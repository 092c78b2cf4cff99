/**
 * What compiled graphs can be made of again in another process. Input: functions that compilers of functional graphs
 * gave, and how each is written down; output: data. Invariant: a function that nobody said it of is not kept.
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

/** How a compiled graph is written down; undefined: it cannot be. */
export function writerOf(run: CompiledFunction): RunWriter | undefined {
  return writers.get(run);
}
