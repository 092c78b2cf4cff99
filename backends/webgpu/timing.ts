/**
 * Times dispatches, one at a time. Invariant: work stays in order, and each timed dispatch is awaited. Times are
 * differences of the device's timestamps if it has them; otherwise the time until the device answers, which includes
 * latency.
 */
import type { TimeSpan } from "../../lib/loops/device.ts";
import { type CommandQueue, type Dispatch, encodeDispatch } from "./queue.ts";
import type { Readback } from "./readback.ts";

/** Two timestamps of 64 bits. */
const BYTES = 16;

/** The feature of adapters with timestamps of the beginning and end of passes. */
export const TIMESTAMPS = "timestamp-query";

/** Runs single dispatches and times them. */
export class DispatchTimer {
  readonly #found: GPUBuffer;
  readonly #queries: GPUQuerySet | null;

  /** `readback` must be able to wait. */
  constructor(readonly device: GPUDevice, readonly queue: CommandQueue, readonly readback: Readback) {
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#found = device.createBuffer({ label: "timestamps", size: BYTES, usage });
    this.#queries = device.features.has(TIMESTAMPS)
      ? device.createQuerySet({ type: "timestamp", count: 2 })
      : null;
  }

  /** Runs a dispatch to its end. */
  run(dispatch: Dispatch): TimeSpan {
    const { device, queue, readback } = this, queries = this.#queries, found = this.#found;
    queue.flush();
    readback.readSync(found, 0, 4);
    const start = performance.now(), encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass(
      queries
        ? { timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } }
        : {},
    );
    encodeDispatch(pass, dispatch);
    pass.end();
    if (queries) encoder.resolveQuerySet(queries, 0, 2, found, 0);
    queue.submit(encoder);
    const bytes = readback.readSync(found, 0, BYTES), end = performance.now();
    if (!queries) return { start, duration: end - start };
    const [from = 0n, to = 0n] = new BigUint64Array(bytes.slice().buffer), duration = Number(to - from) / 1e6;
    return { start: Math.max(start, end - duration), duration };
  }
}
