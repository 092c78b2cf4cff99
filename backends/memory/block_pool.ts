/**
 * Pools blocks of a device's memory and reuses them once they are unused: freed by the program, or dropped by it and
 * found by a liveness search, which runs inside an allocation and does not need the job to end.
 *
 * Invariants: a block has one memory at a time; `reserved` never exceeds `limit`; a block is allocated again only after
 * the last memory over it was freed or collected.
 *
 * The limit is that of DYN_MEMORY_LIMIT: bytes or with a unit, for all devices ("8GiB") or by name
 * ("cpu=8GiB,webgpu=2GiB").
 */
import { type DeviceName, type Memory, type MemoryUse, OutOfMemory } from "../../lib/loops/device.ts";
import { type Findable, heapBytes, LiveSet, type Visible } from "./live_set.ts";
import { DynError } from "../../lib/base/errors.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";

/** Rounds a byte count up to a size class. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return 64;
  if (bytes <= 4096) return Math.ceil(bytes / 64) * 64;
  const step = 2 ** Math.max(6, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** The limit of a device; undefined if none is set. Throws DynError for text that it cannot parse. */
export function memoryLimit(
  device: DeviceName,
  text: string = environmentVariable("DYN_MEMORY_LIMIT") ?? "",
): number | undefined {
  let limit: number | undefined;
  for (const part of text.split(",").filter((each) => each.trim() !== "")) {
    const [, name, amount = "", unit = ""] = /^\s*(?:(\w+)\s*=)?\s*([\d.]+)\s*([A-Za-z]*)\s*$/.exec(part) ??
      [];
    const bytes = Number(amount || NaN) * (UNITS[unit] ?? NaN);
    if (!(bytes > 0)) {
      throw new DynError(
        `Expected DYN_MEMORY_LIMIT as in 8GiB or cpu=8GiB,webgpu=512MiB but found ${Deno.inspect(text)}`,
      );
    }
    if (name === undefined || name === device) limit = Math.floor(bytes);
  }
  return limit;
}

/** Starts at zero. */
export class Gauge {
  #now = 0;
  #most = 0;

  get now(): number {
    return this.#now;
  }

  get most(): number {
    return this.#most;
  }

  add(amount: number): void {
    this.#now += amount;
    if (this.#now > this.#most) this.#most = this.#now;
  }

  /** Forgets the previous maximum. */
  reset(): void {
    this.#most = this.#now;
  }
}

/** A piece of a device's memory, with the data of its pool. */
export class Block {
  size = 0;
  /** Whether it is in use. */
  isInUse = false;
  /** Whether a search has promoted its current memory: only searches of the old generation find that. */
  isOld = false;
  /** Id of its current or last memory; a reference would keep the memory alive. */
  memoryId = 0;
  /** The last search that found that memory alive, and the last that visited this block. */
  seenBy = 0;
  countedBy = 0;
  /** The pool's count of bytes allocated when this block was last freed, or was allocated and then dropped. */
  leftAt = 0;
  /** Bytes allocated between that moment and the next use of this block. */
  away = 0;
  /** Whether its bytes are all 0: they were when it was created, and it was never used. */
  isUntouched = false;
}

/** A memory over a block. */
export interface BlockMemory<B extends Block> extends Memory, Findable {
  readonly block: B;
}

/** The source of a pool's blocks. */
export interface BlockSource<B extends Block, M extends BlockMemory<B>> {
  readonly device: DeviceName;
  /** Returns the size of the block for this many bytes. */
  sizeFor(bytes: number): number;
  /** Creates a block; undefined if there is no room. */
  make(size: number): B | undefined;
  /** Creates a memory over a block. */
  over(block: B, bytes: number): M;
  isMemory(found: Visible): found is M;
  /** Returns whether a block can still be used. */
  isGood(block: B): boolean;
  /** Returns blocks to the system. */
  discard(blocks: readonly B[]): void;
  /** Frees memory that only saves time, before an allocation fails. */
  readonly giveUp?: () => void;
  /**
   * Below this size a freed memory object is itself reused, which costs less than creating one. It may have become old
   * by then, and is then found later after it is dropped.
   */
  readonly smallBytes: number;
  /**
   * Touching this many bytes for the first time takes as long as a search for dropped memory, which smaller requests do
   * not wait for.
   */
  readonly freshBytes: number;
  /** Bytes of young memories at which a search, which costs 0.1 ms, pays. */
  readonly youngBytes: (size: number) => number;
  /** Bytes in use below which a full search, which costs 50 ms and more, does not pay. */
  readonly oldBytes: number;
  /** Bytes in use beyond which a full search pays much sooner, if no limit is set. */
  readonly manyBytes: number;
}

/** Number of young memories at which a search pays, too, however small they are. */
const YOUNG_COUNT = 1 << 13;

const MOST_INTERVAL = 8;

/**
 * Number of early searches, before new pages are touched. Each ages the objects that it visits, but memory of a
 * training step should be found soon after the step ends, so these searches happen only at the beginning of a program.
 */
const EARLY_SEARCHES = 16;

/**
 * The number of young searches that take as long as a full one, which takes longer with more bytes of objects than
 * this.
 */
const SEARCHES_OF_FULL = 256, FEW_OBJECTS = 2 ** 27;

/**
 * The part of the bytes allocated since the last full search that has to be in new blocks; otherwise a loop that keeps
 * little would search each time.
 */
const MUCH_NEW = 8;

/**
 * The part of the bytes that trigger a full search below which a young search was sufficient; above, another one would
 * come soon.
 */
const ROOMY_PART = 15 / 16;

/** The minimum weight of new bytes, after searches that found nothing. */
const LEAST_WEIGHT = 1 / 8;

/** Share of the searched memory from which on the part that a search promotes to old counts as large. */
const AGED_PART = 4;

/**
 * Number of searches that promote little after which the next one comes sooner; after searches that promote nothing, it
 * always does.
 */
const QUIET_SEARCHES = 4;

/**
 * Number of consecutive searches that may be postponed; more with more objects, because V8 would otherwise have to mark
 * them all at once.
 */
const MOST_POSTPONED = 8;

/** Number of searches after which the old generation is checked for a full collection by V8. */
const OLD_INTERVAL = 8;

/** A free block, with its memory object if that is to be reused. */
interface FreeBlock<B, M> {
  readonly block: B;
  readonly memory: M | undefined;
}

/** How many times longer than usual V8 takes to visit all objects. */
const burden = (): number => Math.max(heapBytes() / FEW_OBJECTS, 1);

/** Memories of one device. */
export class BlockPool<B extends Block, M extends BlockMemory<B>> implements MemoryUse {
  readonly #source: BlockSource<B, M>;
  readonly #live: LiveSet<M>;
  /** Blocks whose memories are young; some may be listed twice, or be free by now. */
  #young: B[] = [];
  /** Blocks whose memories are old; some may be free by now, or have a young memory, and are then listed there too. */
  #old: B[] = [];
  /** Bytes added to the first list since the last search. */
  #youngBytes = 0;
  #searches = 0;
  /**
   * Factor on the bytes that trigger a search: a search promotes what it sees twice, and that is not found again soon.
   */
  #interval = 1;
  /** Number of consecutive searches that were postponed. */
  #postponed = 0;
  /** Number of searches since the last one that promoted much. */
  #quiet = 0;
  /** Bytes that were touched for the first time, minus those that paid for early searches. */
  #fresh = 0;
  /** The weight of new bytes. */
  #weight = 1;
  #earlySearches = 0;
  /** Free blocks by size; the most recently freed are reused first. */
  readonly #freed = new Map<number, FreeBlock<B, M>[]>();
  #lastFreed = 0;
  readonly #allocated = new Gauge();
  readonly #reserved = new Gauge();
  /** Bytes in use that trigger a full search. */
  #searchFrom: number;
  /** Bytes allocated, and that count at the last young search by `#search`. */
  #clock = 0;
  #searchedAt = -Infinity;
  /**
   * Bytes allocated since the last full search, those of them in new blocks, and the number that triggers the next.
   */
  #allocatedSince = 0;
  #newBytes = 0;
  #searchEach: number;
  limit: number | undefined;

  constructor(source: BlockSource<B, M>) {
    this.#source = source;
    this.#live = new LiveSet(source.isMemory);
    this.#searchFrom = source.oldBytes;
    this.#searchEach = this.#leastEach;
    this.limit = memoryLimit(source.device);
  }

  get allocated(): number {
    return this.#allocated.now;
  }
  get peakAllocated(): number {
    return this.#allocated.most;
  }
  get reserved(): number {
    return this.#reserved.now;
  }
  get peakReserved(): number {
    return this.#reserved.most;
  }

  resetPeaks(): void {
    this.#allocated.reset();
    this.#reserved.reset();
  }

  /** Uninitialised memory. Throws OutOfMemory. */
  allocate(bytes: number): M {
    const size = this.#source.sizeFor(bytes);
    // Even if there are free blocks, since those found now are more likely to be in a cache
    const areMany = this.#young.length >= YOUNG_COUNT;
    const due = this.#youngBytes >= this.#interval * this.#source.youngBytes(size) || areMany;
    if (due) this.#searchYoung(areMany || this.#mustSearch());
    const { block, memory: known } = this.#take(size) ?? this.#searchEarly(size) ?? this.#search(size) ??
      this.#make(size) ?? this.#makeRoom(size, bytes);
    block.isInUse = true;
    block.away = this.#clock - block.leftAt;
    block.leftAt = this.#clock += size;
    this.#allocated.add(size);
    this.#allocatedSince += size;
    if (known) return known;
    const memory = this.#source.over(block, bytes);
    block.memoryId = memory.id;
    block.isOld = false;
    this.#young.push(block);
    this.#youngBytes += size;
    this.#live.add(memory);
    return memory;
  }

  /** Frees memory. The caller guarantees not to use it any more. */
  free(memory: M): void {
    const { block } = memory;
    if (!block.isInUse || block.memoryId !== memory.id) return;
    block.leftAt = this.#clock;
    if (memory.age === 0) this.#youngBytes -= block.size;
    this.#addFreed(block, block.size < this.#source.smallBytes ? memory : undefined);
  }

  releaseUnused(): void {
    this.#searchAll();
    this.#discardFreed(0);
  }

  /** A free block that is still usable. */
  #take(size: number): FreeBlock<B, M> | undefined {
    const all = this.#freed.get(size);
    for (let freed = all?.pop(); freed !== undefined; freed = all?.pop()) {
      if (this.#source.isGood(freed.block)) return freed;
      this.#reserved.add(-size);
    }
    return undefined;
  }

  #addFreed(block: B, memory?: M): void {
    const { size } = block;
    block.isInUse = block.isUntouched = false;
    this.#allocated.add(-size);
    if (!this.#source.isGood(block)) {
      this.#reserved.add(-size);
      return;
    }
    const all = this.#freed.get(size) ?? [];
    all.push({ block, memory });
    if (size === this.#lastFreed && all.length > 1) return;
    // Sizes are ordered by last use
    this.#freed.delete(size);
    this.#freed.set(size, all);
    this.#lastFreed = size;
  }

  /**
   * Searches for dropped memory before new pages are touched, as long as such searches have taken no longer than
   * touching the pages. The interval grows with each block, so that a loop ends up with as many blocks as it needs.
   */
  #searchEarly(size: number): FreeBlock<B, M> | undefined {
    const cost = this.#source.freshBytes;
    if (
      size < cost || this.#fresh < cost || this.#youngBytes < size || this.#earlySearches >= EARLY_SEARCHES
    ) {
      return undefined;
    }
    // Such a search does not affect the schedule of regular ones
    const interval = this.#interval, postponed = this.#postponed, searches = this.#searches;
    this.#searchYoung(false);
    this.#interval = interval;
    this.#postponed = postponed;
    this.#fresh -= cost;
    if (this.#searches !== searches) this.#earlySearches++;
    const found = this.#take(size);
    this.#weight = found ? 1 : Math.max(this.#weight / 2, LEAST_WEIGHT);
    return found;
  }

  /**
   * Searches for dropped memory if enough is in use for it to pay, or if filling the memory added since took as long as
   * a search. It searches the young generation first, and also the old one: gradients of a large model grow old in the
   * step that needs them, and are then dropped.
   */
  #search(size: number): FreeBlock<B, M> | undefined {
    const isMuch = () => this.allocated + size > this.#searchFrom;
    // Otherwise a loop that drops nothing else would search in each call
    const isRecent = this.#clock - this.#searchedAt < this.#leastEach / MUCH_NEW;
    if (!isMuch() && (isRecent || !this.#isLongAgo(size))) return undefined;
    this.#searchYoung(true);
    this.#searchedAt = this.#clock;
    const found = this.#take(size);
    const isEnough = found
      ? this.allocated < ROOMY_PART * this.#searchFrom
      : !isMuch() && !this.#isLongAgo(size);
    if (!isEnough) this.#searchAll();
    return found ?? this.#take(size);
  }

  /** Returns whether enough was allocated since the last full search to make another one pay. */
  #isLongAgo(size: number): boolean {
    const isPast = () =>
      this.#allocatedSince > this.#searchEach && this.#newBytes + size > this.#searchEach / MUCH_NEW;
    if (!isPast()) return false;
    this.#searchEach = Math.max(this.#searchEach, burden() * this.#leastEach);
    return isPast();
  }

  get #leastEach(): number {
    return SEARCHES_OF_FULL * this.#source.freshBytes;
  }

  #mustSearch(): boolean {
    return this.#postponed >= MOST_POSTPONED && this.#postponed >= MOST_POSTPONED * burden();
  }

  #searchYoung(isUrgent: boolean): void {
    const youngBytes = this.#youngBytes, alive = this.#live.young(isUrgent);
    this.#youngBytes = 0;
    if (alive === undefined) return void this.#postponed++;
    this.#postponed = 0;
    const young = this.#young, search = ++this.#searches;
    this.#young = [];
    const aged = new Set<B>();
    let agedBytes = 0;
    for (const { id, block, age } of alive) {
      if (block.memoryId !== id) continue;
      block.seenBy = search;
      if (age <= 1) continue;
      aged.add(block);
      agedBytes += block.size;
    }
    const isMuch = AGED_PART * agedBytes > youngBytes;
    this.#quiet = isMuch ? 0 : this.#quiet + 1;
    if (isMuch) this.#interval = Math.min(2 * this.#interval, MOST_INTERVAL);
    else if (agedBytes === 0 || this.#quiet % QUIET_SEARCHES === 0) {
      this.#interval = Math.max(this.#interval / 2, 1);
    }
    this.#recycle(young, search, (block) => aged.has(block) ? this.#promote(block) : this.#young.push(block));
    if (search % OLD_INTERVAL === 0) this.#searchOld();
  }

  /** Searches the old generation if that needs no collection. */
  #searchOld(): void {
    const alive = this.#live.old();
    if (alive === undefined) return;
    const old = this.#old, search = ++this.#searches;
    this.#old = [];
    for (const { id, block } of alive) if (block.memoryId === id) block.seenBy = search;
    // The search was not for the young memory of a block that an old one was freed from
    this.#recycle(old.filter(({ isOld }) => isOld), search, (block) => this.#old.push(block));
  }

  #promote(block: B): void {
    block.isOld = true;
    this.#old.push(block);
  }

  /**
   * The next full search happens when twice as much is in use as after this one, so that its cost is amortised, and
   * sooner if that would be much of the available memory.
   */
  #searchAll(): void {
    const all = [...this.#young, ...this.#old], search = ++this.#searches;
    this.#young = [];
    this.#youngBytes = 0;
    this.#old = [];
    for (const { id, block } of this.#live.all()) {
      if (block.memoryId === id) block.seenBy = search;
    }
    this.#recycle(all, search, (block) => this.#promote(block));
    // Counts a part of the survivors, so that memory that only grows is searched less and less
    this.#searchEach = Math.max(this.#leastEach, this.allocated / 4);
    this.#allocatedSince = 0;
    this.#newBytes = 0;
    const { oldBytes, manyBytes } = this.#source,
      many = Math.max(this.limit ?? manyBytes, 1.125 * this.allocated);
    this.#searchFrom = Math.max(oldBytes, Math.min(2 * this.allocated, many));
  }

  /** Frees the blocks whose memories a search did not find alive; calls `stay` for the others. */
  #recycle(blocks: readonly B[], search: number, stay: (block: B) => void): void {
    for (const block of blocks) {
      if (block.countedBy === search) continue;
      block.countedBy = search;
      if (block.seenBy === search) stay(block);
      else if (block.isInUse) this.#addFreed(block);
    }
  }

  /** A new block, if the limit and the device have room for it besides the free ones. */
  #make(size: number): FreeBlock<B, M> | undefined {
    // A program with changing sizes would accumulate blocks of each size
    const keepable = Math.max(this.#source.oldBytes, this.allocated);
    if (this.reserved - this.allocated > keepable) this.#discardFreed(keepable);
    if (this.reserved + size > (this.limit ?? Infinity)) return undefined;
    const block = this.#source.make(size);
    if (block === undefined) return undefined;
    block.size = size;
    // The system has just cleared its pages
    block.leftAt = this.#clock;
    this.#reserved.add(size);
    this.#newBytes += size;
    this.#fresh += this.#weight * size;
    return { block, memory: undefined };
  }

  /** A block for which room must be made first, by all possible means. */
  #makeRoom(size: number, bytes: number): FreeBlock<B, M> {
    const steps = [
      () => this.#searchYoung(true),
      () => this.#discardFreed(0),
      () => this.releaseUnused(),
      () => {
        this.#source.giveUp?.();
        this.#discardFreed(0);
      },
    ];
    for (const step of steps) {
      step();
      const found = this.#take(size) ?? this.#make(size);
      if (found !== undefined) return found;
    }
    const { reserved, limit } = this;
    throw new OutOfMemory(this.#source.device, bytes, {
      held: reserved,
      ...limit !== undefined && { limit },
    });
  }

  /** Discards free blocks until at most this many bytes remain, those of sizes unused for longest first. */
  #discardFreed(bytes: number): void {
    const blocks: B[] = [];
    let freed = this.reserved - this.allocated;
    for (const [size, each] of this.#freed) {
      if (freed <= bytes) break;
      const excess = Math.min(each.length, Math.ceil((freed - bytes) / size));
      for (const { block } of each.splice(0, excess)) blocks.push(block);
      if (each.length === 0) this.#freed.delete(size);
      freed -= excess * size;
      this.#reserved.add(-excess * size);
    }
    if (blocks.length > 0) this.#source.discard(blocks);
  }
}
