/**
 * Garbage collection on demand, in the middle of a job. Invariant: no JavaScript of the program runs.
 */
import v8 from "node:v8";
import vm from "node:vm";
import { ownWeakSet } from "../../lib/base/collections.ts";
import { entriesOf, Visible } from "./weak_entries.ts";

/** More bytes of young array buffers than V8 allows. */
const PRESSURE = 65 * 2 ** 20;
/** Bytes of young objects that are created at once, and in all. */
const PART = 2 ** 18, MOST = 2 ** 26;

/**
 * Makes V8 collect what was allocated and dropped recently; returns the remaining entries of a set: undefined if V8
 * collected nothing, for example while it marks. V8 checks whether a collection is due when an array buffer is
 * allocated, and a large young one makes it due, though its pages are never touched. This costs 0.05 ms, and 0.3 if
 * kernels have just used the caches.
 */
export function pressForYoung(set: WeakSet<Visible>): Visible[] | undefined {
  plant(set);
  press();
  const found = entriesOf(set);
  return found.some((each) => each instanceof Canary && each.id === planted) ? undefined : found;
}

function press(): void {
  // The young generation is so small that V8's helper threads would only take cores from kernels
  v8.setFlagsFromString("--no-parallel-scavenge");
  try {
    void new ArrayBuffer(PRESSURE);
    void new ArrayBuffer(128);
  } catch (thrown) {
    // Happens on systems that do not overcommit memory
    if (!(thrown instanceof RangeError)) throw thrown;
  } finally {
    v8.setFlagsFromString("--parallel-scavenge");
  }
}

/**
 * The same, but allocates objects that do not fit, which makes V8 finish marking. Some objects dropped recently may
 * survive. Costs milliseconds.
 */
export function collectYoung(): void {
  for (let made = 0; made < MOST; made += PART) if (collects(makeGarbage)) return;
}

/** Holds each piece until the next is created, so that the compiler eliminates none. */
const garbage: unknown[] = [undefined];

function makeGarbage(): void {
  for (let made = 0; made < PART; made += 4096) garbage[0] = new Array(512);
  garbage[0] = undefined;
}

/** Returns whether an action triggered a collection. */
function collects(act: () => void): boolean {
  const canary = ownWeakSet<Visible>();
  plant(canary);
  act();
  return entriesOf(canary).length === 0;
}

let planted = 0;

/** An object without references, which any collection removes. */
class Canary extends Visible {
  readonly id: number = ++planted;
}

/** Adds a canary, in a separate frame, so that the collection finds no reference when it scans frames. */
function plant(set: WeakSet<Visible>): void {
  set.add(new Canary());
}

let collect: (() => void) | undefined;

/** Collects everything that has been dropped. Costs some milliseconds for each 10 MB of objects. */
export function collectAll(): void {
  collect ??= findCollector();
  collect();
}

/** The bytes of objects that a full collection visits. Costs some microseconds. */
export const heapBytes = (): number => v8.getHeapStatistics().used_heap_size;

/** V8's `gc`, which contexts created under this flag have. */
function findCollector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  const found: unknown = vm.runInNewContext("gc");
  if (typeof found !== "function") throw new TypeError("Expected V8 to offer its collector");
  return () => void found();
}
