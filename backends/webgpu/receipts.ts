/**
 * Proof that the device has run its work. The runtime reports refused work only between jobs, so that a read in the
 * same job would return stale contents: every submission therefore increments a counter in device memory, and every
 * read includes the counter. Invariant: a submission is refused as a whole, including its increment.
 */

const CODE = `
@group(0) @binding(0) var<storage, read_write> done: u32;
@compute @workgroup_size(1) fn main() { done += 1u; }
`;

/** Bytes of the copied counter, padded to align the data after it. */
export const RECEIPT_BYTES = 16;

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
