/**
 * Records a trace's reads of functions: which of them it steps through, which of their variables it reads, and why it
 * cannot be cached. Invariant: all access to a function's code and variables passes here; outside of a trace nothing
 * is recorded.
 */

import type { LiveCell } from "../source.ts";

/** Free variables by name: what one holds, as long as it can hold nothing else, or else the variable itself. */
export type NotedVariables = Map<string, unknown>;

/** A state of an optimizer that a trace has begun, before anything of the program has happened. */
export interface NotedBeginning {
  readonly optimizer: object;
  readonly param: object;
  readonly group: object;
}

/** The notes of one trace. */
export class NotedReads {
  readonly begun: NotedBeginning[] = [];
  /** Functions whose code was asked for, with what was read of their variables. */
  readonly functions: Map<object, NotedVariables> = new Map();
  /** Variables that may hold something else in the next call. */
  readonly cells: Set<LiveCell> = new Set();
  /** Why the trace cannot be kept; null: nothing speaks against it so far. */
  refused: string | null = null;
}

let current: NotedReads | null = null;

/** Runs a trace whose reads are noted. */
export function notingReads<T>(reads: NotedReads, trace: () => T): T {
  const former = current;
  current = reads;
  try {
    return trace();
  } finally {
    current = former;
  }
}

/** Returns whether a trace is recording. */
export function isNoting(): boolean {
  return current !== null;
}

/** Notes that a function's code was asked for. */
export function noteFunction(fn: object): void {
  if (current && !current.functions.has(fn)) current.functions.set(fn, new Map());
}

/** Notes what a variable of a function holds, for good. */
export function noteVariable(fn: object, name: string, value: unknown): void {
  if (!current) return;
  noteFunction(fn);
  current.functions.get(fn)?.set(name, value);
}

/** Notes that a trace has to do with a variable of a function that may hold something else in the next call. */
export function noteCell(fn: object, name: string, cell: LiveCell): void {
  if (!current) return;
  noteVariable(fn, name, cell);
  current.cells.add(cell);
}

/** The same of a variable that generated code has made and hands in. */
export function noteBox(cell: LiveCell): void {
  current?.cells.add(cell);
}

/** Notes that the trace needs the state of a parameter to be begun. */
export function noteBeginning(beginning: NotedBeginning): void {
  current?.begun.push(beginning);
}

/** Notes that the trace depends on something that no later process can look up. */
export function refuseToKeep(because: string): void {
  if (current) current.refused ??= because;
}
