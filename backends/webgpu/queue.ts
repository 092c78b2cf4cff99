/**
 * The stream of work: dispatches are collected in one command encoder and submitted together, since a submission costs
 * more than a dispatch. Invariant: whatever reads or writes buffers outside a dispatch flushes first.
 *
 * Recorded commands of calls are cached in parts, since WebGPU cannot submit a command buffer twice: copies, pipelines,
 * bind groups, workgroups, and the memory of intermediates, which no other call shares. Timed dispatches run one at a
 * time, in order, and each is awaited: times are differences of the device's timestamps if it has them; otherwise the
 * time until the device answers, which includes latency.
 */
import type { Readback, Receipts } from "./readback.ts";
import type { TimeSpan } from "../../lib/loops/device.ts";
import type { BufferPool, WebGpuMemory } from "./memory.ts";

/** Number of dispatches after which work is submitted. */
const FLUSH_AFTER = 64;

export interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number];
}

/** Encodes a dispatch. */
function encodeDispatch(pass: GPUComputePassEncoder, { pipeline, bindGroup, workgroups }: Dispatch): void {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, bindGroup);
  pass.dispatchWorkgroups(workgroups[0], workgroups[1]);
}

export class CommandQueue {
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #pending = 0;

  constructor(readonly device: GPUDevice, readonly receipts: Receipts) {}

  dispatch(dispatch: Dispatch): void {
    this.#encoder ??= this.device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    encodeDispatch(this.#pass, dispatch);
    if (++this.#pending >= FLUSH_AFTER) this.flush();
  }

  /** Copies between buffers, ordered with the dispatches. */
  copy(from: GPUBuffer, into: GPUBuffer, { to, length }: { to: number; length: number }): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.device.createCommandEncoder();
    this.#encoder.copyBufferToBuffer(from, 0, into, to, length);
    this.#pending++;
  }

  /** Submits everything collected. */
  flush(): void {
    if (!this.#encoder) return;
    this.submit(this.#encoder, this.#pass);
    this.#encoder = undefined;
    this.#pass = undefined;
    this.#pending = 0;
  }

  /** Submits everything collected and encodes further dispatches meanwhile, which `resume` submits. */
  prepare(dispatches: readonly Dispatch[]): GPUCommandBuffer {
    this.flush();
    const encoder = this.device.createCommandEncoder(), pass = encoder.beginComputePass();
    for (const each of dispatches) encodeDispatch(pass, each);
    pass.end();
    return encoder.finish();
  }

  /** Submits prepared dispatches. A submission is refused as a whole, so one receipt is enough. */
  resume(prepared: GPUCommandBuffer): void {
    this.flush();
    const encoder = this.device.createCommandEncoder();
    this.submit(encoder, encoder.beginComputePass(), [prepared]);
  }

  /** Submits commands after those submitted before and those of `first`; `pass` is the open one. */
  submit(
    encoder: GPUCommandEncoder,
    pass: GPUComputePassEncoder = encoder.beginComputePass(),
    first: readonly GPUCommandBuffer[] = [],
  ): void {
    this.receipts.stamp(pass);
    pass.end();
    this.device.queue.submit([...first, encoder.finish()]);
  }
}

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

/** A dispatch, and the numbers of the original program's kernels of which it is a part. */
export interface PlacedDispatch {
  readonly kernels: readonly number[];
  readonly dispatch: Dispatch;
}

/** All that a call submits to the device. */
export interface Commands {
  /** Copies of inputs that come first. */
  readonly copies: readonly {
    readonly from: GPUBuffer;
    readonly into: GPUBuffer;
    readonly to: number;
    readonly length: number;
  }[];
  /** The dispatches that decide whether the call passes, or all of it. */
  readonly first: readonly PlacedDispatch[];
  /** The dispatches that run if it passes. */
  readonly rest: readonly PlacedDispatch[];
  /** Memory that only these commands use. */
  readonly own: readonly WebGpuMemory[];
}

/** Number of recorded calls that differ in their memories; each holds memory. */
const KEPT = 4;

/** The recorded calls of one program, the latest last. */
export class Recordings {
  readonly #kept = new Map<string, Commands>();

  constructor(private readonly pool: BufferPool) {}

  /** The commands of a call; `record` creates them unless they are cached. */
  of(key: string, record: () => Commands): Commands {
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    if (!known && this.#kept.size >= KEPT) {
      const [[oldest, { own }] = ["", { own: [] }]] = this.#kept;
      this.#kept.delete(oldest);
      // May be reused by later work, which the queue runs after this
      for (const each of own) this.pool.free(each);
    }
    const found = known ?? record();
    this.#kept.set(key, found);
    return found;
  }
}
