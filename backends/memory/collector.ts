/**
 * Collections of garbage on demand, in the middle of a job. Input: nothing; output: V8 has looked for what the program
 * dropped. Invariant: no JavaScript of the program runs.
 */
import v8 from "node:v8";
import vm from "node:vm";
import { entriesOf, Visible } from "./weak_entries.ts";

/** More bytes of young array buffers than V8 lets stand. */
const PRESSURE = 65 * 2 ** 20;
/** Bytes of young objects that are made at once; in all; and in all where it can wait. */
const PART = 2 ** 18, MOST = 2 ** 26, FEW = 2 ** 22;

/** Looks that do without pressing after one in which it did not help, and after a collection of everything. */
const REST = 32;

/**
 * How many more looks do without pressing. After a collection of everything it makes V8 begin the next, since it thinks
 * that little room is needed; but the room for young objects is small then, and soon full.
 */
let resting = 0;

/**
 * Has V8 collect what was made lately and dropped since, most of the time. It looks whether that is due when an array
 * buffer is allocated, and a large young one makes it due; this costs 0.05 to 0.2 ms, since nobody touches the buffer's
 * pages.
 */
export function pressForYoung(): void {
  if (resting > 0) return void resting--;
  // So little is young that the threads which V8 wakes to help take their cores from kernels for nothing
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
 * The same, where pressing did not help: while V8 marks everything, only objects that find no room make it finish. Some
 * of what was dropped lately may stay then. Whether it collected; where that is urgent, it nearly always does.
 */
export function collectYoung(isUrgent: boolean): boolean {
  resting = REST;
  for (let made = 0; made < (isUrgent ? MOST : FEW); made += PART) if (collects(makeGarbage)) return true;
  // Either V8 marks everything, or there is so much room that pressing costs less
  resting = 0;
  return false;
}

/** Holds each piece until the next is made, so that the compiler leaves none out. */
const garbage: unknown[] = [undefined];

function makeGarbage(): void {
  for (let made = 0; made < PART; made += 4096) garbage[0] = new Array(512);
  garbage[0] = undefined;
}

/** Whether something had V8 collect. */
function collects(act: () => void): boolean {
  const canary = new WeakSet<Visible>();
  plant(canary);
  act();
  return entriesOf(canary).length === 0;
}

/**
 * Adds an object that nobody has: it is gone after a collection. In a frame of its own, that holds nothing when the
 * collection looks for what frames hold.
 */
export function plant(canary: WeakSet<Visible>): void {
  canary.add(new Visible());
}

let collect: (() => void) | undefined;

/** Collects everything that is dropped. Costs some milliseconds for each 10 MB of objects. */
export function collectAll(): void {
  collect ??= findCollector();
  collect();
  resting = REST;
}

/** The runtime's own function, which contexts get that are made under this flag. */
function findCollector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  const found: unknown = vm.runInNewContext("gc");
  if (typeof found !== "function") throw new TypeError("Expected V8 to offer its collector");
  return () => void found();
}
