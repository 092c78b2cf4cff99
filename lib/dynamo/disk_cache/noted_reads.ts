/**
 * Records a trace's reads of functions: which of them it inlines, which of their variables it reads, and why it cannot
 * be cached. Invariant: all access to a function's code and variables goes through this file; outside of a trace
 * nothing is recorded.
 */

import type { LiveCell } from "../source.ts";

/** Free variables by name: the value of one that cannot be reassigned, or else the variable itself. */
type NotedVariables = Map<string, unknown>;

/** A state of an optimizer that a trace has created, before any effect of the program. */
export interface NotedBeginning {
  readonly optimizer: object;
  readonly param: object;
  readonly group: object;
}

/** The reads of one trace. */
export class NotedReads {
  readonly begun: NotedBeginning[] = [];
  /** Functions whose code was queried, with the values read from their variables. */
  readonly functions: Map<object, NotedVariables> = new Map();
  /** Variables that may have other values in the next call. */
  readonly cells: Set<LiveCell> = new Set();
  /** The reason why the trace cannot be cached; null: none so far. */
  refused: string | null = null;
}

let current: NotedReads | null = null;

/** Runs a trace and records its reads. */
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

/** Records that a function's code was queried. */
export function noteFunction(fn: object): void {
  if (current && !current.functions.has(fn)) current.functions.set(fn, new Map());
}

/** Records the final value of a variable of a function. */
export function noteVariable(fn: object, name: string, value: unknown): void {
  if (!current) return;
  noteFunction(fn);
  current.functions.get(fn)?.set(name, value);
}

/** Records that a trace depends on a variable of a function that may have another value in the next call. */
export function noteCell(fn: object, name: string, cell: LiveCell): void {
  if (!current) return;
  noteVariable(fn, name, cell);
  current.cells.add(cell);
}

/** The same for a variable that generated code has created and passes in. */
export function noteBox(cell: LiveCell): void {
  current?.cells.add(cell);
}

/** Records that the trace needs the state of a parameter to be created. */
export function noteBeginning(beginning: NotedBeginning): void {
  current?.begun.push(beginning);
}

/** Records that the trace depends on something that no later process can look up. */
export function refuseToCache(because: string): void {
  if (current) current.refused ??= because;
}
