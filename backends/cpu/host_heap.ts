/**
 * Array buffers for large tensors, on blocks of memory that are used again once the collector has dropped them.
 *
 * Input: byte counts. Output: buffers with arbitrary content. Invariant: a buffer that is not made here is an
 * ordinary one, so that programs run the same without a compiler.
 *
 * An ordinary ArrayBuffer is cleared and, if large, consists of pages that the system must first find: several times
 * what a memory-bound kernel costs. In a loop that drops its results, the collector frees them during the loop; V8
 * tells native code at once (JavaScript would hear of it only when the loop has ended).
 */
import process from "node:process";
import { messageOf } from "../../lib/base/errors.ts";
import { logs } from "../../lib/base/logs.ts";
import { buildLibraries, discardBroken } from "./object_cache.ts";
import { hostHeapSource } from "./runtime/host_heap.ts";
import { toolchainStatus } from "./toolchain.ts";

/** Smaller buffers are cheap as they are. */
export const LARGE_BYTES: number = 1 << 20;

/** All blocks together; beyond it large buffers are ordinary ones. */
const LIMIT_BYTES = 512 * 2 ** 20;

/** Programs that make fewer large buffers do not wait for the module's compilation. */
const PATIENCE = 8;

type Allocate = (bytes: number, make: number) => ArrayBuffer | undefined;

type State =
  | { readonly kind: "waiting"; readonly seen: number }
  | { readonly kind: "open"; readonly allocate: Allocate }
  | { readonly kind: "none" };

let state: State = { kind: "waiting", seen: 0 };

/** A buffer of `bytes`, which are a multiple of 64. */
export function freshBuffer(bytes: number): ArrayBuffer {
  if (bytes < LARGE_BYTES) return new ArrayBuffer(bytes);
  if (state.kind === "waiting") {
    state = state.seen < PATIENCE ? { kind: "waiting", seen: state.seen + 1 } : openHeap();
  }
  return (state.kind === "open" ? fromHeap(state.allocate, bytes) : undefined) ?? new ArrayBuffer(bytes);
}

function fromHeap(allocate: Allocate, bytes: number): ArrayBuffer | undefined {
  const kept = allocate(bytes, 0);
  if (kept) return kept;
  // V8 looks whether a collection is due when it allocates a buffer itself.
  void new ArrayBuffer(128);
  return allocate(bytes, 1);
}

function openHeap(): State {
  if (toolchainStatus().kind !== "ready") return { kind: "none" };
  try {
    const source = { name: "host_heap", text: hostHeapSource(LIMIT_BYTES), options: ["-O2"] };
    const [path = ""] = buildLibraries([source]);
    const module: { exports: unknown } = { exports: {} };
    try {
      process.dlopen(module, path);
    } catch (thrown) {
      throw discardBroken(path, messageOf(thrown));
    }
    const { exports } = module;
    if (typeof exports !== "function") throw new TypeError("Expected the module to export a function");
    return { kind: "open", allocate: (bytes, make) => bufferOrNone(exports(bytes, make)) };
  } catch (error) {
    logs.emit("perf_hints", () => `The memory of large results is not used again: ${messageOf(error)}`);
    return { kind: "none" };
  }
}

function bufferOrNone(value: unknown): ArrayBuffer | undefined {
  return value instanceof ArrayBuffer ? value : undefined;
}
