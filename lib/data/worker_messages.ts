/** Messages between a loader and its workers. */
import type { FloatType } from "../base/dtype.ts";
import type { MessagePort } from "node:worker_threads";
import type { Origin } from "./from_module.ts";
import type { SentValue } from "./sent.ts";
import type { WorkerModule } from "./worker_modules.ts";

/** The settings that workers of one loader share. */
export interface WorkerTask {
  readonly dataset: Origin;
  readonly collate: Origin | null;
  readonly init: Origin | null;
  /** Whether a batch is one unchanged sample. */
  readonly single: boolean;
  /** The batching of an iterable dataset; null for datasets with indices. */
  readonly stream: { readonly size: number; readonly dropLast: boolean } | null;
  readonly defaultDtype: FloatType;
}

/** Places in the memory that a loader shares with a worker. */
export const SHARED = {
  /** Answers so far. */
  answers: 0,
  /** The current epoch of the loader: requests of others are obsolete. */
  epoch: 1,
  /** Nonzero when the worker has ended. */
  ended: 2,
} as const;

/** The settings with which a worker starts. */
export interface WorkerStart {
  readonly task: WorkerTask;
  readonly id: number;
  readonly numWorkers: number;
  readonly seed: number;
  readonly port: MessagePort;
  readonly shared: Int32Array<SharedArrayBuffer>;
  readonly modules: readonly WorkerModule[];
  /** The address of the module whose `serve` is called. */
  readonly thread: string;
}

/** Requests a batch: of some samples, or, null, the next one of a stream. */
export interface Request {
  readonly epoch: number;
  readonly indices: readonly number[] | null;
}

/** An error of a worker. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The sample whose dataset threw it; null if none did. */
  readonly sample: number | null;
}

/** The answer to a request. */
export type Answer =
  | { readonly kind: "batch"; readonly epoch: number; readonly value: SentValue }
  | { readonly kind: "failed"; readonly epoch: number; readonly failure: Failure }
  | { readonly kind: "end"; readonly epoch: number };
