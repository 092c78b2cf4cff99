/**
 * Estimates which blocks of host memory the processor's caches still hold, so that kernels write the others past the
 * caches. Invariant: no result depends on it.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { isGranted } from "../../lib/base/permissions.ts";
import type { HostBlock } from "./host_memory.ts";

/** Bytes of the last-level cache if the system does not report them. */
const USUAL_BYTES = 2 ** 25;

/** Part of the cache left to other data, whose accesses evict a block before it fills the cache. */
const OTHERS = 2;

/**
 * Part of the cache from which on a block is large: lines of smaller ones remain in the cache, where writing is faster.
 */
const LARGE = 4;

/**
 * Maximum part of the last-level cache that a core can count on: a virtual machine reports all of it, but shares it
 * with others.
 */
const CORE_BYTES = 2 ** 24;

/** Bytes of the cache that all cores share. */
function lastCacheBytes(): number {
  const path = "/sys/devices/system/cpu/cpu0/cache/index3/size";
  if (Deno.build.os !== "linux" || !isGranted({ name: "read", path })) return USUAL_BYTES;
  try {
    const text = Deno.readTextFileSync(path);
    const [, kibi] = /^(\d+)K$/.exec(text.trim()) ?? [];
    return kibi === undefined ? USUAL_BYTES : Number(kibi) * 2 ** 10;
  } catch {
    return USUAL_BYTES;
  }
}

let cacheBytes: number | undefined;

/**
 * Returns whether a block is large and so many bytes were allocated since its last use, including its own, that writing
 * it would first read its lines from memory. Called once after its allocation: later writes find its lines where the
 * first ones left them.
 */
export function isFar(block: HostBlock): boolean {
  const { away, size } = block;
  block.away = 0;
  cacheBytes ??= Math.min(preferringOwnBuiltins(lastCacheBytes), navigator.hardwareConcurrency * CORE_BYTES);
  return size >= cacheBytes / LARGE && away + size > cacheBytes / OTHERS;
}
