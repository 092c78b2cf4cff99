/**
 * Spans of work by kind and name, for an observer such as a profile. Invariant: without an observer a span costs one
 * comparison; an observer does not affect the work.
 */

/**
 * The kind of a span: an op, a node of a backward pass, a compiled function, a guard lookup, a graph, a user-defined
 * span, or a wait for other processes.
 */
export type SpanKind = "op" | "backward" | "compiled" | "guards" | "graph" | "user" | "wait";

/** Ends a span, after so many milliseconds. */
export type Ended = (milliseconds: number) => void;

/** Receives spans, nested as their bodies are. */
export interface Observer {
  span<T>(kind: SpanKind, name: string, body: () => T): T;
  /** Begins a transfer of so many bytes between processes, which overlaps with the program. */
  began(name: string, bytes: number): Ended;
}

/** The observer; null: there is none. Only its owner clears it. */
export const observed: { by: Observer | null } = { by: null };
