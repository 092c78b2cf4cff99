/**
 * Tracks which objects are still alive in the middle of a job: those that V8 has not collected. Invariant: the set
 * itself keeps none of them alive.
 */
import { inspect } from "node:util";
import v8 from "node:v8";
import vm from "node:vm";
import { ownWeakSet } from "../../lib/base/collections.ts";

/** The entries that the current inspection has visited. */
let seen: Visible[] | undefined;

/** An object that inspecting a WeakSet makes visible. */
export class Visible {
  [inspect.custom](): string {
    seen?.push(this);
    return this.constructor.name;
  }
}

/**
 * The entries of a set that no collection has removed. Costs some microseconds for each, of which `Deno.inspect` takes
 * twice as many, and allocates five times as much.
 */
function entriesOf(set: WeakSet<Visible>): Visible[] {
  const found: Visible[] = seen = [];
  try {
    inspect(set, { showHidden: true, maxArrayLength: Infinity, depth: 1, compact: false });
  } finally {
    seen = undefined;
  }
  return found;
}

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
function pressForYoung(set: WeakSet<Visible>): Visible[] | undefined {
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
function collectYoung(): void {
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

let serial = 0;

/** An object that a LiveSet can find. */
export class Findable extends Visible {
  /** Identifies the object even after its death. */
  readonly id: number = ++serial;
  /** Number of searches it has survived. */
  age = 0;
}

/** Number of young collections after which survivors are old, plus one for safety. */
const OLD_AGE = 3;

/** An unreferenced object that only a full collection removes, since it was referenced until it was old. */
class AgeProbe {
  readonly #set = ownWeakSet<Visible>();
  #held: Visible | undefined = new Visible();
  #age = 0;

  constructor() {
    if (this.#held) this.#set.add(this.#held);
  }

  /** Called at each young collection. */
  outlive(): void {
    if (++this.#age >= OLD_AGE) this.#held = undefined;
  }

  get isGone(): boolean {
    return this.#held === undefined && entriesOf(this.#set).length === 0;
  }
}

/** Objects by generation, since young ones are collected separately, in a hundredth of the time. */
export class LiveSet<T extends Findable> {
  readonly #isMember: (found: Visible) => found is T;
  #young = ownWeakSet<Visible>();
  #old = ownWeakSet<Visible>();
  #elder = new AgeProbe();

  constructor(isMember: (found: Visible) => found is T) {
    this.#isMember = isMember;
  }

  add(member: T): void {
    this.#young.add(member);
  }

  /**
   * Returns the live objects that were added since the last search or the one before; older ones are then old.
   * Undefined while V8 is marking, which prevents a search; an urgent search always runs.
   */
  young(isUrgent: boolean): T[] | undefined {
    let left = pressForYoung(this.#young);
    if (left === undefined) {
      if (!isUrgent) return undefined;
      collectYoung();
      left = entriesOf(this.#young);
    }
    const members = left.filter(this.#isMember);
    this.#young = ownWeakSet();
    for (const each of members) (each.age++ === 0 ? this.#young : this.#old).add(each);
    this.#elder.outlive();
    return members;
  }

  /** The live old objects, if V8 has run a full collection by itself since the last query. */
  old(): T[] | undefined {
    if (!this.#elder.isGone) return undefined;
    this.#elder = new AgeProbe();
    return entriesOf(this.#old).filter(this.#isMember);
  }

  /** All live objects, which count as old afterwards. */
  all(): T[] {
    collectAll();
    const young = entriesOf(this.#young).filter(this.#isMember);
    const found = [...young, ...entriesOf(this.#old).filter(this.#isMember)];
    this.#young = ownWeakSet();
    for (const each of young) {
      each.age = 2;
      this.#old.add(each);
    }
    return found;
  }
}
