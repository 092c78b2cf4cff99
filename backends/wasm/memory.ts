/**
 * The one memory that all WebAssembly code of this device works in. Programs copy their operands in and out,
 * since WebAssembly reaches only its own memory. Invariant: nothing lives here between two calls; growing detaches
 * earlier views, so a call reserves everything it needs before it makes views.
 */
import { DynError } from "../../lib/base/errors.ts";

const PAGE = 65536;
const MAX_PAGES = 65536;

/** Bytes from 0 upwards, handed out for the length of one call. */
export class WasmMemory {
  readonly memory: WebAssembly.Memory = new WebAssembly.Memory({ initial: 16, maximum: MAX_PAGES });
  #top = 0;

  /** Makes room for `bytes` bytes from address 0; addresses from there on are free for `scratch`. */
  reserve(bytes: number, scratch: number): void {
    this.#top = Math.ceil(bytes / 64) * 64;
    this.#grow(this.#top + scratch);
  }

  /** The address of the first free byte. */
  get top(): number {
    return this.#top;
  }

  #grow(bytes: number): void {
    const missing = Math.ceil(bytes / PAGE) - this.memory.buffer.byteLength / PAGE;
    if (missing <= 0) return;
    if (Math.ceil(bytes / PAGE) > MAX_PAGES) {
      throw new DynError(
        `Expected at most 4 GiB of tensors in one program without a C++ compiler but found ${bytes}`,
      );
    }
    this.memory.grow(missing);
  }
}

export const wasmMemory: WasmMemory = new WasmMemory();
