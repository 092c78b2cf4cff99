/**
 * Where calls of compiled functions can be recorded, `config.replayRecordEnabled`. Input: a recorder, which a later
 * room installs; output: calls that go through it. Invariant: without a recorder calls are as they are.
 */
import type { SourcePosition } from "../graph/node.ts";

/** A call of a compiled function, before anything of it has happened. */
export interface CompiledCall {
  /** The function as the program wrote it. */
  readonly fn: object;
  /** What messages call it; empty where it has no name. */
  readonly name: string;
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly place: () => SourcePosition | null;
  /** How it is compiled, as far as it can be written down. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Runs a call, and keeps it where it fails. */
export type CallRecorder = (call: CompiledCall, run: () => unknown) => unknown;

let recorder: CallRecorder | null = null;

/** Installs the recorder. */
export function setCallRecorder(record: CallRecorder): void {
  recorder = record;
}

/** Runs a call through the recorder. Whoever calls asks whether calls are to be recorded. */
export function recordedCall(call: CompiledCall, run: () => unknown): unknown {
  return recorder ? recorder(call, run) : run();
}
