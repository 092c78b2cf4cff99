/** Identifies the loader worker that runs in this thread, for datasets. */
import { refuseSurplus } from "../base/checked_input.ts";

/** Information about a worker for its dataset, like `torch.utils.data.get_worker_info`. */
export interface WorkerInfo {
  /** From 0. */
  readonly id: number;
  /** Number of workers of the loader. */
  readonly numWorkers: number;
  /** The seed of this worker's random numbers: different in each worker. */
  readonly seed: number;
  /** The worker's own copy; null while that is created. */
  readonly dataset: object | null;
}

const current: { info: WorkerInfo | null } = { info: null };

/** Returns the worker of this thread; null outside of workers. */
export function getWorkerInfo(): WorkerInfo | null {
  if (arguments.length > 0) refuseSurplus("getWorkerInfo", 0, arguments);
  return current.info;
}

/** Sets the worker of this thread. */
export function becomeWorker(info: WorkerInfo): void {
  current.info = info;
}
