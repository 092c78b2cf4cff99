/**
 * Who watches what runs: a profile, while there is one. Input: spans of work by kind and name; output: what the work
 * gives. Invariant: without an observer a span costs one comparison; an observer changes nothing of the work.
 */

/**
 * What a span is: an op, a node of a backward pass, a compiled function, the search of its guards for a version, a graph,
 * the program's own part of work, or a wait for other processes.
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
