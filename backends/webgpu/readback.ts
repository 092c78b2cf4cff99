/**
 * Device → host copies. The wait for the device happens inside `mapAsync` itself, so that a buffer's mapped range
 * is there right after the call, without awaiting; but only for staging buffers that have once completed an
 * awaited map (others make the runtime panic). Hence a few warmed ones, reused, and large reads in parts.
 */
import { DynError } from "../../lib/base/errors.ts";

const STAGING_BYTES = 4 << 20;
const STAGING_COUNT = 2;

/** Reads buffers through warmed staging buffers. Make it with `Readback.create`. */
export class Readback {
  #next = 0;

  private constructor(
    readonly device: GPUDevice,
    readonly staging: readonly GPUBuffer[],
    /** Whether mapped ranges are there without awaiting. */
    readonly synchronous: boolean,
  ) {}

  /** Warms the staging buffers and tries out whether reads can be synchronous. */
  static async create(device: GPUDevice): Promise<Readback> {
    const staging = Array.from(
      { length: STAGING_COUNT },
      () =>
        device.createBuffer({
          size: STAGING_BYTES,
          usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
        }),
    );
    for (const buffer of staging) {
      await buffer.mapAsync(GPUMapMode.READ);
      buffer.unmap();
    }
    const source = device.createBuffer({
      size: 16,
      usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    device.queue.writeBuffer(source, 0, new Uint8Array([1, 2, 3, 4]));
    const probe = new Readback(device, staging, true);
    let works = false;
    try {
      works = `${probe.readSync(source, 0, 4)}` === "1,2,3,4";
    } catch {
      // An exception is the answer: this runtime finishes maps later
    }
    source.destroy();
    return new Readback(device, staging, works);
  }

  /** Bytes [offset, offset + length) of a buffer, waiting for all submitted work. */
  readSync(buffer: GPUBuffer, offset: number, length: number): Uint8Array {
    if (!this.synchronous) {
      throw new DynError(
        "Expected a runtime that maps buffers synchronously to read a webgpu tensor at once: use `await t.data()`",
      );
    }
    return this.#inParts(offset, length, (from, size, into) => {
      const staging = this.#copy(buffer, from, size);
      // Unmapping before the promise settles rejects it; the data was already read
      staging.mapAsync(GPUMapMode.READ, 0, size).catch(() => {});
      into.set(new Uint8Array(staging.getMappedRange(0, size)));
      staging.unmap();
    });
  }

  async read(buffer: GPUBuffer, offset: number, length: number): Promise<Uint8Array> {
    if (this.synchronous) return this.readSync(buffer, offset, length);
    const parts: { from: number; size: number; into: Uint8Array }[] = [];
    const result = this.#inParts(offset, length, (from, size, into) => parts.push({ from, size, into }));
    for (const { from, size, into } of parts) {
      const staging = this.#copy(buffer, from, size);
      await staging.mapAsync(GPUMapMode.READ, 0, size);
      into.set(new Uint8Array(staging.getMappedRange(0, size)));
      staging.unmap();
    }
    return result.slice();
  }

  #copy(buffer: GPUBuffer, from: number, size: number): GPUBuffer {
    const staging = this.staging[this.#next++ % this.staging.length];
    if (!staging) throw new DynError("Expected a staging buffer but found none");
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, from, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    return staging;
  }

  /** Copies must start and end at multiples of 4; calls `part` for pieces of at most one staging buffer. */
  #inParts(
    offset: number,
    length: number,
    part: (from: number, size: number, into: Uint8Array) => void,
  ): Uint8Array {
    const start = offset - offset % 4, end = Math.ceil((offset + length) / 4) * 4;
    const all = new Uint8Array(end - start);
    for (let from = start; from < end; from += STAGING_BYTES) {
      const size = Math.min(STAGING_BYTES, end - from);
      part(from, size, all.subarray(from - start, from - start + size));
    }
    return all.subarray(offset - start, offset - start + length);
  }
}
