/**
 * Allocates blocks of host memory with arbitrary content: in WebAssembly's memory, so that WebAssembly kernels, which
 * run until there is native code, need no copies of operands; on separate pages if that memory is full. Invariant: a
 * block in WebAssembly's memory can be used for everything else as well.
 */
import { TensorHeap } from "../wasm/heap.ts";
import { wasmPool } from "../wasm/threads.ts";
import { HostBlock } from "./host_memory.ts";
import { adviseHugePages, discardPages, hostPages, releasePages } from "./host_pages.ts";

/** Below this size copying costs less than running a kernel. */
const COPIED_BYTES = 2 ** 14;

let heap: TensorHeap | undefined;

/** A block of `bytes`, a multiple of 64. Throws RangeError if there is no room. */
export function makeBlock(bytes: number): HostBlock {
  if (bytes >= COPIED_BYTES) {
    heap ??= new TensorHeap(wasmPool().memory, adviseHugePages);
    const { memory, used } = heap, address = heap.allocate(bytes);
    if (address !== undefined) {
      const block = new HostBlock(new Uint8Array(memory.memory.buffer, address, bytes), { memory, address });
      block.isUntouched = address >= used;
      return block;
    }
  }
  return new HostBlock(new Uint8Array(hostPages(bytes)));
}

/** Releases blocks. */
export function discardBlocks(blocks: readonly HostBlock[]): void {
  const pages: ArrayBuffer[] = [];
  for (const { uint8, place } of blocks) {
    if (place) {
      releasePages(uint8);
      heap?.free(place.address, uint8.byteLength);
    } else if (uint8.buffer instanceof ArrayBuffer) pages.push(uint8.buffer);
  }
  discardPages(pages);
}
