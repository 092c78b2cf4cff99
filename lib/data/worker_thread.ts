/**
 * A worker of a loader, in its thread: answers requests in order. Invariant: errors of a dataset never end the thread,
 * and requests of earlier epochs cost nothing.
 */
import { config } from "../base/config.ts";
import { setDefaultDtype } from "../base/dtype.ts";
import { DynError, invariant, messageOf } from "../base/errors.ts";
import { chooseDefaultDevice } from "../tensor/default_device.ts";
import { manualSeed } from "../tensor/random.ts";
import { type Dataset, ListDataset } from "./dataset.ts";
import { Fetcher, SampleError } from "./fetcher.ts";
import { createFrom, type Origin } from "./from_module.ts";
import { sendOver } from "./sent.ts";
import { becomeWorker } from "./worker_info.ts";
import {
  type Answer,
  type Failure,
  type Request,
  SHARED,
  type WorkerStart,
  type WorkerTask,
} from "./worker_messages.ts";

/** Answers requests until the thread ends. */
export function serve(start: WorkerStart): void {
  const { port, shared } = start, source = Source.make(start);
  // Requests receive the error
  source.catch(() => {});
  let last: Promise<void> = Promise.resolve();
  const post = (answer: Answer, transferred: readonly ArrayBuffer[]) => {
    port.postMessage(answer, transferred);
    Atomics.add(shared, SHARED.answers, 1);
    Atomics.notify(shared, SHARED.answers);
  };
  const answer = async ({ epoch, indices }: Request) => {
    if (Atomics.load(shared, SHARED.epoch) !== epoch) return;
    try {
      const found = await (await source).next(epoch, indices);
      if (found === null) return post({ kind: "end", epoch }, []);
      const { value, transferred } = sendOver(found.batch, "the batch");
      post({ kind: "batch", epoch, value }, transferred);
    } catch (thrown) {
      post({ kind: "failed", epoch, failure: failureOf(thrown) }, []);
    }
  };
  port.on("message", (request: Request) => void (last = last.then(() => answer(request))));
}

/** Creates the batches of one worker. */
class Source {
  readonly #fetcher: Fetcher<unknown, unknown>;
  /** The batching of an iterable dataset; null for datasets with indices. */
  readonly #stream: (NonNullable<WorkerTask["stream"]> & { readonly samples: Iterable<unknown> }) | null;
  /** The batches of an epoch. */
  #batches: { readonly epoch: number; readonly left: Iterator<unknown> } | null = null;

  private constructor(dataset: object, collate: object | null, { stream, single }: WorkerTask) {
    if (stream && !isIterable(dataset)) throw new DynError("Expected an iterable dataset in the worker");
    this.#stream = stream && isIterable(dataset) ? { ...stream, samples: dataset } : null;
    this.#fetcher = new Fetcher({
      dataset: stream
        ? null
        : Array.isArray(dataset)
        ? new ListDataset(dataset)
        : dataset as Dataset<unknown>,
      collate: collate as ((samples: unknown[]) => unknown) | null,
      single,
    });
  }

  /** Creates the dataset like that of the loader's thread. */
  static async make({ task, id, numWorkers, seed }: WorkerStart): Promise<Source> {
    setDefaultDtype(task.defaultDtype);
    // Tensors created here are sent as host memory
    chooseDefaultDevice("cpu");
    manualSeed(seed);
    // Each worker is a thread already
    config.inductor.cppThreads = 1;
    const info = { id, numWorkers, seed };
    becomeWorker({ ...info, dataset: null });
    const dataset = await createFrom(task.dataset);
    becomeWorker({ ...info, dataset });
    const [collate, init] = await Promise.all([task.collate, task.init].map(madeIfGiven));
    if (typeof init === "function") await init(id);
    return new Source(dataset, collate ?? null, task);
  }

  /** Returns the batch of some samples, or, for null, the next one of the stream; null at its end. */
  async next(epoch: number, indices: readonly number[] | null): Promise<{ readonly batch: unknown } | null> {
    if (indices !== null) return { batch: await this.#fetcher.batchLater(indices) };
    invariant(this.#stream, "Expected an iterable dataset in the worker");
    const { samples, size, dropLast } = this.#stream;
    if (this.#batches?.epoch !== epoch) {
      this.#batches = { epoch, left: this.#fetcher.streamed(samples, size, dropLast)[Symbol.iterator]() };
    }
    const { done, value } = this.#batches.left.next();
    return done ? null : { batch: value };
  }
}

const madeIfGiven = (origin: Origin | null): Promise<object | null> =>
  origin ? createFrom(origin) : Promise.resolve(null);

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

function failureOf(thrown: unknown): Failure {
  const isSample = thrown instanceof SampleError, cause: unknown = isSample ? thrown.cause : thrown;
  const { name, stack } = cause instanceof Error ? cause : new Error(messageOf(cause));
  return { name, message: messageOf(cause), stack: stack ?? "", sample: isSample ? thrown.index : null };
}
