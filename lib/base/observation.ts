/**
 * Spans of work by kind and name, for an observer such as a profile. Invariant: without an observer a span costs one
 * comparison; an observer does not affect the work.
 */

/**
 * The kind of a span: an op, a node of a backward pass, a compiled function, a guard lookup, a graph, a user-defined
 * span, or a wait for other processes.
 */
export type SpanKind = "op" | "backward" | "compiled" | "guards" | "graph" | "user" | "wait";

/** Tells that what began has ended, after so many milliseconds. */
export type Ended = (milliseconds: number) => void;

/** Told of spans, which lie inside each other as their bodies do. */
export interface Observer {
  span<T>(kind: SpanKind, name: string, body: () => T): T;
  /** Told of work beside the program that moves so many bytes between processes. */
  began(name: string, bytes: number): Ended;
}

/** The observer; null: nobody watches. Only who sets it takes it away. */
export const observed: { by: Observer | null } = { by: null };
