/**
 * Device → host copies. The wait for the device happens inside `mapAsync` itself, so that a buffer's mapped range is
 * available right after the call, without awaiting; but only for staging buffers that have once completed an awaited
 * map (others make the runtime panic). Hence a few warmed ones are reused, and large reads are split. Invariant:
 * returned bytes were copied by the device after all earlier work was done: receipts prove it.
 *
 * The runtime reports refused work only between jobs, so that a read in the same job would return stale contents: every
 * submission therefore increments a counter in device memory, and every read includes the counter. A submission is
 * refused as a whole, including its increment.
 */
import { DynError, invariant } from "../../lib/base/errors.ts";

const CODE = `
@group(0) @binding(0) var<storage, read_write> done: u32;
@compute @workgroup_size(1) fn main() { done += 1u; }
`;

/** Bytes of the copied counter, padded to align the data after it. */
const RECEIPT_BYTES = 16;

/** The counter as read, and its expected value. */
export interface Reading {
  readonly found: number;
  readonly expected: number;
}

/** The counter of one device. */
export class Receipts {
  readonly #counter: GPUBuffer;
  readonly #pipeline: GPUComputePipeline;
  readonly #bindGroup: GPUBindGroup;
  /** The counter's value if nothing was refused. */
  #expected = 0;

  constructor(device: GPUDevice) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
    this.#counter = device.createBuffer({ label: "receipts", size: RECEIPT_BYTES, usage });
    const module = device.createShaderModule({ label: "receipts", code: CODE });
    this.#pipeline = device.createComputePipeline({ label: "receipts", layout: "auto", compute: { module } });
    this.#bindGroup = device.createBindGroup({
      layout: this.#pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer: this.#counter } }],
    });
  }

  /** Adds the receipt to a submission, once for each; returns the counter's value after it. */
  stamp(pass: GPUComputePassEncoder): number {
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#bindGroup);
    pass.dispatchWorkgroups(1);
    return this.#expected = (this.#expected + 1) >>> 0;
  }

  /** Copies the counter to the beginning of a buffer. */
  copy(encoder: GPUCommandEncoder, into: GPUBuffer): void {
    encoder.copyBufferToBuffer(this.#counter, 0, into, 0, RECEIPT_BYTES);
  }

  /** Adjusts the expected value after refused work was detected: the counter was `found` instead of `expected`. */
  settle({ found, expected }: Reading): void {
    this.#expected = (this.#expected - expected + found) >>> 0;
  }
}

const STAGING_BYTES = 4 << 20;
const STAGING_COUNT = 2;
const NO_BYTES = new Uint8Array(0);

/** Some bytes of a buffer. */
export interface Piece {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly length: number;
}

/** Whole words of a buffer: both numbers are multiples of 4. */
interface Words {
  readonly buffer: GPUBuffer;
  readonly from: number;
  readonly size: number;
}

/** The device refused work on which the bytes depend, or the copy of the bytes itself. */
export class RefusedWork extends Error {
  override readonly name: string = "RefusedWork";
}

/** Reads buffers through warmed staging buffers. Create it with `Readback.create`. */
export class Readback {
  #next = 0;
  /** Whether refused work has not been reported by a read yet. */
  #hasRefused = false;

  private constructor(
    readonly device: GPUDevice,
    readonly receipts: Receipts,
    readonly staging: readonly GPUBuffer[],
    /** Whether mapped ranges are available without awaiting. */
    readonly synchronous: boolean,
  ) {}

  /** Warms the staging buffers and tests whether reads can be synchronous. */
  static async create(device: GPUDevice, receipts: Receipts): Promise<Readback> {
    const staging = Array.from(
      { length: STAGING_COUNT },
      () =>
        device.createBuffer({
          size: RECEIPT_BYTES + STAGING_BYTES,
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
    const probe = new Readback(device, receipts, staging, true);
    let works = false;
    try {
      works = `${probe.readSync(source, 0, 4)}` === "1,2,3,4";
    } catch {
      // An exception means that this runtime completes maps later
    }
    source.destroy();
    return new Readback(device, receipts, staging, works);
  }

  /** Bytes [offset, offset + length) of a buffer, waiting for all submitted work. Throws `RefusedWork`. */
  readSync(buffer: GPUBuffer, offset: number, length: number): Uint8Array {
    this.#checkSynchronous();
    return this.#inParts(offset, length, (from, into) => this.#readSync([wordsOf(buffer, from, into)], into));
  }

  /** The same for several pieces, in one wait if they are small. */
  readTogether(pieces: readonly Piece[]): Uint8Array[] {
    this.#checkSynchronous();
    const words = pieces.map(({ buffer, offset, length }): Words => {
      const { start, end } = aligned(offset, length);
      return { buffer, from: start, size: end - start };
    });
    const total = words.reduce((sum, { size }) => sum + size, 0);
    if (total > STAGING_BYTES) {
      return pieces.map(({ buffer, offset, length }) => this.readSync(buffer, offset, length));
    }
    const all = new Uint8Array(total);
    this.#readSync(words, all);
    let at = 0;
    return pieces.map(({ offset, length }, k) => {
      const start = at + offset % 4;
      at += words[k]?.size ?? 0;
      return all.subarray(start, start + length);
    });
  }

  #checkSynchronous(): void {
    if (this.synchronous) return;
    throw new DynError(
      "Expected a runtime that maps buffers synchronously to read a webgpu tensor at once: use `await t.data()`",
    );
  }

  #readSync(words: readonly Words[], into: Uint8Array): void {
    if (!this.#readWhole(words, into) || this.#hasRefused) this.#refuse();
  }

  /** Returns whether the device accepts a copy from a buffer; earlier refused work is reported by the next read. */
  canRead(buffer: GPUBuffer): boolean {
    const word = new Uint8Array(4), words = [wordsOf(buffer, 0, word)];
    const first = this.#readPart(words, word);
    if (first.found === first.expected) return true;
    // The copy was refused, or work before it, or both
    const all = this.#readPart([], NO_BYTES), refused = (all.expected - all.found) >>> 0;
    this.receipts.settle(all);
    const isReadable = this.#readWhole(words, word);
    if (refused > (isReadable ? 0 : 1)) this.#hasRefused = true;
    return isReadable;
  }

  #refuse(): never {
    this.#hasRefused = false;
    throw new RefusedWork();
  }

  /** Reads one part; returns false if this or earlier work was refused, which is then considered reported. */
  #readWhole(words: readonly Words[], into: Uint8Array): boolean {
    const reading = this.#readPart(words, into);
    if (reading.found === reading.expected) return true;
    // The copy itself may have been refused, and the counter may be stale
    this.receipts.settle(this.#readPart([], NO_BYTES));
    return false;
  }

  /** Reads one part, or only the counter if there are no words. */
  #readPart(words: readonly Words[], into: Uint8Array): Reading {
    const { staging, expected } = this.#copy(words);
    // Unmapping before the promise settles rejects it; the data was already read
    staging.mapAsync(GPUMapMode.READ, 0, RECEIPT_BYTES + into.length).catch(() => {});
    return { found: this.#take(staging, into), expected };
  }

  /** The same, if waiting is allowed. */
  async #awaitPart(words: readonly Words[], into: Uint8Array): Promise<Reading> {
    const { staging, expected } = this.#copy(words);
    await staging.mapAsync(GPUMapMode.READ, 0, RECEIPT_BYTES + into.length);
    return { found: this.#take(staging, into), expected };
  }

  /** Copies the bytes from a mapped staging buffer and unmaps it; returns the counter. */
  #take(staging: GPUBuffer, into: Uint8Array): number {
    if (into.length > 0) into.set(new Uint8Array(staging.getMappedRange(RECEIPT_BYTES, into.length)));
    const found = new Uint32Array(staging.getMappedRange(0, RECEIPT_BYTES))[0] ?? 0;
    staging.unmap();
    return found;
  }

  /** Like `readSync`, if waiting is allowed. */
  async read(buffer: GPUBuffer, offset: number, length: number): Promise<Uint8Array> {
    if (this.synchronous) return this.readSync(buffer, offset, length);
    const parts: { from: number; into: Uint8Array }[] = [];
    const result = this.#inParts(offset, length, (from, into) => parts.push({ from, into }));
    for (const { from, into } of parts) {
      const reading = await this.#awaitPart([wordsOf(buffer, from, into)], into);
      if (reading.found === reading.expected) continue;
      this.receipts.settle(await this.#awaitPart([], NO_BYTES));
      this.#refuse();
    }
    return result.slice();
  }

  /** Copies words, one after the other, to behind the counter; returns the expected counter. */
  #copy(words: readonly Words[]): { staging: GPUBuffer; expected: number } {
    const staging = this.staging[this.#next++ % this.staging.length];
    invariant(staging, "Expected a staging buffer but found none");
    const encoder = this.device.createCommandEncoder(), pass = encoder.beginComputePass();
    const expected = this.receipts.stamp(pass);
    pass.end();
    this.receipts.copy(encoder, staging);
    let at = RECEIPT_BYTES;
    for (const { buffer, from, size } of words) {
      encoder.copyBufferToBuffer(buffer, from, staging, at, size);
      at += size;
    }
    this.device.queue.submit([encoder.finish()]);
    return { staging, expected };
  }

  /** Copies must start and end at multiples of 4; calls `part` for pieces that fit a staging buffer. */
  #inParts(offset: number, length: number, part: (from: number, into: Uint8Array) => void): Uint8Array {
    const { start, end } = aligned(offset, length);
    const all = new Uint8Array(end - start);
    for (let from = start; from < end; from += STAGING_BYTES) {
      const size = Math.min(STAGING_BYTES, end - from);
      part(from, all.subarray(from - start, from - start + size));
    }
    return all.subarray(offset - start, offset - start + length);
  }
}

/** The words around some bytes. */
function aligned(offset: number, length: number): { readonly start: number; readonly end: number } {
  return { start: offset - offset % 4, end: Math.ceil((offset + length) / 4) * 4 };
}

/** The words of a buffer that fill these bytes. */
function wordsOf(buffer: GPUBuffer, from: number, { length: size }: Uint8Array): Words {
  return { buffer, from, size };
}
