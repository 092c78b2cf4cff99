/**
 * The stream of work: dispatches are collected in one command encoder and submitted together, since a submission
 * costs more than a dispatch. Invariant: whatever reads or writes buffers outside a dispatch flushes first.
 */

import type { Receipts } from "./receipts.ts";

/** Dispatches after which work is handed to the device without waiting for more. */
const FLUSH_AFTER = 64;

export interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number];
}

export class CommandQueue {
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #pending = 0;

  constructor(readonly device: GPUDevice, readonly receipts: Receipts) {}

  dispatch({ pipeline, bindGroup, workgroups }: Dispatch): void {
    this.#encoder ??= this.device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, bindGroup);
    this.#pass.dispatchWorkgroups(workgroups[0], workgroups[1]);
    if (++this.#pending >= FLUSH_AFTER) this.flush();
  }

  /** Copies between buffers, in order with the dispatches. */
  copy(from: GPUBuffer, into: GPUBuffer, { to, length }: { to: number; length: number }): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.device.createCommandEncoder();
    this.#encoder.copyBufferToBuffer(from, 0, into, to, length);
    this.#pending++;
  }

  /** Hands everything collected to the device. */
  flush(): void {
    if (!this.#encoder) return;
    const pass = this.#pass ?? this.#encoder.beginComputePass();
    this.receipts.stamp(pass);
    pass.end();
    this.device.queue.submit([this.#encoder.finish()]);
    this.#encoder = undefined;
    this.#pass = undefined;
    this.#pending = 0;
  }
}
