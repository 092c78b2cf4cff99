/** Identifies the loader worker that runs in this thread, for datasets. */

/** The facts about a worker that its dataset may ask for, as `torch.utils.data.get_worker_info` gives them. */
export interface WorkerInfo {
  /** From 0. */
  readonly id: number;
  /** Number of workers of the loader. */
  readonly numWorkers: number;
  /** With which this worker's random numbers began: another one in each worker. */
  readonly seed: number;
  /** The worker's own copy; null while that is made. */
  readonly dataset: object | null;
}

const current: { info: WorkerInfo | null } = { info: null };

/** The worker that this is; null outside of workers. */
export function getWorkerInfo(): WorkerInfo | null {
  return current.info;
}

/** Says which worker this thread is. */
export function becomeWorker(info: WorkerInfo): void {
  current.info = info;
}
