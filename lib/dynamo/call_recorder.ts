/**
 * The hook for recording calls of compiled functions, `config.replayRecordEnabled`; a later room installs the
 * recorder. Invariant: without a recorder calls are unchanged.
 */
import type { SourcePosition } from "../graph/node.ts";

/** A call of a compiled function, before any of it has happened. */
export interface CompiledCall {
  /** The function as the program wrote it. */
  readonly fn: object;
  /** The name in messages; empty for an anonymous function. */
  readonly name: string;
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly place: () => SourcePosition | null;
  /** The compile options that can be serialised. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Runs a call, and records it if it fails. */
export type CallRecorder = (call: CompiledCall, run: () => unknown) => unknown;

let recorder: CallRecorder | null = null;

/** Installs the recorder. */
export function setCallRecorder(record: CallRecorder): void {
  recorder = record;
}

/** Runs a call through the recorder. The caller checks whether calls are recorded. */
export function recordedCall(call: CompiledCall, run: () => unknown): unknown {
  return recorder ? recorder(call, run) : run();
}
