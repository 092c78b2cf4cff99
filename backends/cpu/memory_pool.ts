/**
 * The host's memory as a pool of blocks, for each device that computes in it. Blocks have arbitrary content and lie in
 * WebAssembly's memory, so that WebAssembly kernels, which run until there is native code, need no copies of operands; on
 * separate pages if that memory is full.
 */
import { bufferOf } from "../../lib/base/memory_getters.ts";
import type { DeviceName } from "../../lib/loops/device.ts";
import { isGranted } from "../../lib/base/permissions.ts";
import { BlockPool, sizeClass } from "../memory/block_pool.ts";
import { HostBlock, HostMemory } from "./host_memory.ts";
import { TensorHeap } from "../wasm/memory.ts";
import { wasmPool } from "../wasm/threads.ts";
import { adviseHugePages, discardPages, hostPages, releasePages } from "./host_pages.ts";

/** Below this size copying costs less than running a kernel. */
const COPIED_BYTES = 2 ** 14;

let heap: TensorHeap | undefined;

/** A block of `bytes`, a multiple of 64. Throws RangeError if there is no room. */
function makeBlock(bytes: number): HostBlock {
  if (bytes >= COPIED_BYTES) {
    heap ??= new TensorHeap(wasmPool().memory, adviseHugePages);
    const { memory, used } = heap, address = heap.allocate(bytes);
    if (address !== undefined) {
      const block = new HostBlock(new Uint8Array(memory.buffer, address, bytes), { memory, address });
      block.isUntouched = address >= used;
      return block;
    }
  }
  return new HostBlock(new Uint8Array(hostPages(bytes)));
}

/** Releases blocks. */
function discardBlocks(blocks: readonly HostBlock[]): void {
  const pages: ArrayBuffer[] = [];
  for (const { uint8, place } of blocks) {
    if (place) {
      releasePages(uint8);
      heap?.free(place.address, uint8.byteLength);
      continue;
    }
    const buffer = bufferOf(uint8);
    if (buffer instanceof ArrayBuffer) pages.push(buffer);
  }
  discardPages(pages);
}

/**
 * Bytes of young memory after which dropped results are searched for: few enough that the next results are written to
 * memory still in a cache, and enough that the search, 0.3 ms with cold caches, is a small part of their kernels' time.
 * Results larger than the second size are not in a cache by then anyway.
 */
const YOUNG_BYTES = 2 ** 25, UNCACHED_BYTES = 2 ** 23;

/**
 * Bytes of huge pages that the system clears in the time of a search; searches take longer right after a program was
 * built, since its parts are young, too.
 */
const FRESH_BYTES = 2 ** 21;

/** Size of memory below which creating an object and adding it to a set would noticeably slow a call down. */
const SMALL_BYTES = 2 ** 16;

/** Bytes that a program may hold before all objects are searched. */
const MOST_OLD_BYTES = 2 ** 30;

/** The part of a machine's memory up to which a program may hold more than it needs. */
const ROOMY_PART = 1 / 4;

/** Bytes of the machine's memory, and of its swap space; infinite if they are not to be read. */
const MACHINE = isGranted({ name: "sys", kind: "systemMemoryInfo" })
  ? Deno.systemMemoryInfo()
  : { total: Infinity, swapTotal: 0 };

/** The source of a pool's buffers. */
interface HostBuffers {
  /** Creates a block of this many bytes. Throws RangeError if there is no room, as the runtime does. */
  readonly make: (bytes: number) => HostBlock;
  readonly discard: (blocks: readonly HostBlock[]) => void;
}

/** A pool of host memory with arbitrary content. */
export class MemoryPool extends BlockPool<HostBlock, HostMemory> {
  constructor(device: DeviceName, buffers: HostBuffers = { make: makeBlock, discard: discardBlocks }) {
    const { total, swapTotal } = MACHINE;
    super({
      device,
      sizeFor: sizeClass,
      // A system that promises more memory than there is would kill the process that writes to it.
      make: (size) => size > total + swapTotal ? undefined : blockOrNone(buffers, size),
      over: (block) => new HostMemory(device, block),
      isMemory: (found): found is HostMemory => found instanceof HostMemory,
      isGood: () => true,
      discard: buffers.discard,
      smallBytes: SMALL_BYTES,
      freshBytes: FRESH_BYTES,
      youngBytes: (size) => size < UNCACHED_BYTES ? YOUNG_BYTES : 2 * YOUNG_BYTES,
      oldBytes: Math.min(MOST_OLD_BYTES, total / 8),
      manyBytes: total / 2,
    });
  }

  /** Returns whether so many bytes can be spent to save time. */
  isRoomy(bytes: number): boolean {
    return this.limit === undefined && this.allocated + bytes <= ROOMY_PART * MACHINE.total;
  }
}

function blockOrNone({ make }: HostBuffers, size: number): HostBlock | undefined {
  try {
    return make(size);
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** Memory of the device "cpu", including temporaries of its programs. */
export const hostPool: MemoryPool = new MemoryPool("cpu");
