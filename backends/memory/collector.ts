/**
 * Garbage collection on demand, in the middle of a job. Invariant: no JavaScript of the program runs.
 */
import v8 from "node:v8";
import vm from "node:vm";
import { ownWeakSet } from "../../lib/base/collections.ts";
import { entriesOf, Visible } from "./weak_entries.ts";

/** More bytes of young array buffers than V8 lets stand. */
const PRESSURE = 65 * 2 ** 20;
/** Bytes of young objects that are made at once, and in all. */
const PART = 2 ** 18, MOST = 2 ** 26;

/**
 * Has V8 collect what was made lately and dropped since; what is left of a set then: undefined where V8 collected nothing,
 * as while it marks everything. It looks whether that is due when an array buffer is allocated, and a large young one makes
 * it due, since nobody touches the buffer's pages. This costs 0.05 ms, and 0.3 where kernels have just used the caches.
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
    // A system that promises no memory before somebody touches it
    if (!(thrown instanceof RangeError)) throw thrown;
  } finally {
    v8.setFlagsFromString("--parallel-scavenge");
  }
}

/**
 * The same by objects that find no room, which makes V8 finish what it marks. Some of what was dropped lately may stay
 * then. Costs milliseconds.
 */
export function collectYoung(): void {
  for (let made = 0; made < MOST; made += PART) if (collects(makeGarbage)) return;
}

/** Holds each piece until the next is made, so that the compiler leaves none out. */
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

/** An object that nobody has: it is gone after a collection. */
class Canary extends Visible {
  readonly id: number = ++planted;
}

/** Adds one. In a frame of its own, that holds nothing when the collection looks for what frames hold. */
function plant(set: WeakSet<Visible>): void {
  set.add(new Canary());
}

let collect: (() => void) | undefined;

/** Collects everything that is dropped. Costs some milliseconds for each 10 MB of objects. */
export function collectAll(): void {
  collect ??= findCollector();
  collect();
}

/** The bytes of objects that such a collection goes through. Costs some microseconds. */
export const heapBytes = (): number => v8.getHeapStatistics().used_heap_size;

/** The runtime's own function, which contexts get that are made under this flag. */
function findCollector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  const found: unknown = vm.runInNewContext("gc");
  if (typeof found !== "function") throw new TypeError("Expected V8 to offer its collector");
  return () => void found();
}
