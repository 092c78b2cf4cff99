/**
 * Memory for the results of one compiled graph, for the setting `inductor.staticResults`: as with CUDA graphs, each
 * call writes to the memory of the previous one. Invariant: no live storage aliases memory that a call writes to.
 * Results of earlier calls lose their elements when their memory is reused, and reading them is an error; results that
 * are arguments of the call keep their elements until the next one.
 */
import { DynError } from "../base/errors.ts";
import type { DeviceName, Memory } from "../loops/device.ts";
import { deviceNamed, Storage } from "../tensor/storage.ts";
import { isTensor } from "../tensor/tensor.ts";

/** A result that may still be in use. */
interface Lent {
  readonly storage: Storage;
  readonly memory: Memory;
  readonly result: number;
}

function staleError(): DynError {
  return new DynError(
    "Expected a result of the latest call but found one whose memory a later call has overwritten (staticResults): clone() results that are kept",
  );
}

/** The memory of one graph's results. */
export class ResultMemory {
  readonly #device: DeviceName;
  #lent: Lent[] = [];
  /** Memory that no storage uses, by result. */
  readonly #idle: Memory[][] = [];

  constructor(device: DeviceName) {
    this.#device = device;
  }

  /**
   * Storages of at least these sizes in bytes, one for each result. Invalidates results of earlier calls, except those
   * among `args`.
   */
  take(bytes: readonly number[], args: readonly unknown[]): Storage[] {
    if (this.#lent.length > 0) this.#collect(args);
    const storages: Storage[] = [];
    for (let result = 0; result < bytes.length; result++) {
      const extent = bytes[result] ?? 0, memory = this.#memoryFor(result, extent);
      const storage = Storage.lent(this.#device, memory, extent);
      this.#lent.push({ storage, memory, result });
      storages.push(storage);
    }
    return storages;
  }

  #collect(args: readonly unknown[]): void {
    const kept: Lent[] = [];
    for (const each of this.#lent) {
      const { storage, memory, result } = each;
      if (args.some((arg) => isTensor(arg) && arg.storage === storage)) {
        kept.push(each);
        continue;
      }
      storage.reclaim(staleError);
      (this.#idle[result] ??= []).push(memory);
    }
    this.#lent = kept;
  }

  #memoryFor(result: number, bytes: number): Memory {
    const device = deviceNamed(this.#device), idle = this.#idle[result] ?? [];
    for (let memory = idle.pop(); memory; memory = idle.pop()) {
      if (memory.byteLength >= bytes) return memory;
      device.free(memory);
    }
    return device.allocate(bytes);
  }
}
