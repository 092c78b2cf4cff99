/**
 * The stream of work: dispatches are collected in one command encoder and submitted together, since a submission
 * costs more than a dispatch. Invariant: whatever reads or writes buffers outside a dispatch flushes first.
 */

import type { Receipts } from "./readback.ts";

/** Number of dispatches after which work is submitted. */
const FLUSH_AFTER = 64;

export interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number];
}

/** Encodes a dispatch. */
export function encodeDispatch(
  pass: GPUComputePassEncoder,
  { pipeline, bindGroup, workgroups }: Dispatch,
): void {
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

  /** Submits commands after those submitted before; `pass` is the open one. */
  submit(encoder: GPUCommandEncoder, pass: GPUComputePassEncoder = encoder.beginComputePass()): void {
    this.receipts.stamp(pass);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }
}
