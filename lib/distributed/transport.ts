/**
 * The interface of a library that connects processes; implemented in backends/ and registered at start-up. Invariant:
 * all ranks of a group make its collectives in the same order; if they do not, or with different signatures, every
 * rank gets an error.
 */
import type { DType } from "../base/dtype.ts";
import type { Ended } from "../base/observation.ts";
import type { Memory } from "../loops/device.ts";

/** Reductions over all ranks, like torch.distributed.ReduceOp. */
export const REDUCE_OPS = ["sum", "product", "min", "max", "band", "bor", "bxor", "avg"] as const;

/** Name of a reduction. */
export type ReduceOpName = typeof REDUCE_OPS[number];

/** Kinds of calls. "agree" moves nothing: it ends once all ranks have called it. */
export const CALL_KINDS = [
  "agree",
  "barrier",
  "allReduce",
  "broadcast",
  "reduce",
  "allGather",
  "reduceScatter",
  "allToAll",
  "scatter",
  "gather",
  "send",
  "recv",
] as const;

/** The kind of a call. */
export type CallKind = typeof CALL_KINDS[number];

/** The location of contiguous elements. */
export interface Place {
  readonly memory: Memory;
  readonly byteOffset: number;
}

/** One call in a group. */
export interface GroupCall {
  readonly kind: CallKind;
  readonly dtype: DType;
  readonly op: ReduceOpName;
  /** The root, or the other side of a message, as a rank of the group; −1: any sender. */
  readonly peer: number;
  readonly tag: number;
  /** Elements; if parts are exchanged, those of one part. */
  readonly count: number;
  readonly send: Place | null;
  readonly receive: Place | null;
  /** A description of the call; equal on all ranks that make the same call. */
  readonly signature: string;
  /** Whether the caller continues meanwhile. */
  readonly inBackground: boolean;
  /** Whether a thread makes progress on it until the program waits; otherwise progress is made only then. */
  readonly isAttended: boolean;
  /** Called once it has succeeded; null: nothing listens. */
  readonly ended: Ended | null;
}

/** Creates a call without data. */
export function emptyCall(
  kind: "agree" | "barrier",
  { signature, inBackground }: Pick<GroupCall, "signature" | "inBackground">,
): GroupCall {
  const nowhere = { send: null, receive: null, peer: 0, tag: 0, count: 0, ended: null } as const;
  return { kind, dtype: "uint8", op: "sum", ...nowhere, signature, inBackground, isAttended: inBackground };
}

/** A call in progress. Memory must not move until it is complete. */
export interface Pending {
  /** Returns whether it is complete. Throws if it failed. */
  poll(): boolean;
  /** Waits for completion; returns the rank of the other side of a message, else −1. Throws if it failed. */
  wait(): number;
  /** Like `wait`, while other code runs. */
  finished(): Promise<number>;
}

/** The processes of a group, as seen by one of them. */
export interface Connection {
  readonly rank: number;
  readonly size: number;
  start(call: GroupCall): Pending;
  /** Creates a group of some ranks, with the same call on all ranks of this one; null for non-members. */
  split(ranks: readonly number[]): Connection | null;
  /** Leaves the library, orderly or immediately. Called for the first group only, after its other calls. */
  leave(orderly: boolean): void;
}

/** A library that connects processes. */
interface Transport {
  readonly name: string;
  /** Returns whether the library's launcher has started this process. */
  isLaunched(): boolean;
  /** The reason and a remedy if it is unavailable here; null if it is available. */
  absence(): string | null;
  /** Connects this process with the others. `timeout` in milliseconds. */
  connect(timeout: number): Connection;
}

let registered: Transport | null = null;

/** Registers a library; the last one registered wins. */
export function registerTransport(transport: Transport): void {
  registered = transport;
}

/** The library that connects processes here. */
export function transport(): Transport | null {
  return registered;
}
