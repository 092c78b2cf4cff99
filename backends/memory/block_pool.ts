/**
 * Pools blocks of a device's memory and reuses them once they are unused: freed by the program, or dropped by it and
 * found by a liveness search, which runs inside an allocation and does not need the job to end.
 *
 * Invariants: a block has one memory at a time; `reserved` never exceeds `limit`; a block is allocated again only
 * after the last memory over it was freed or collected.
 */
import { type DeviceName, type Memory, type MemoryUse, OutOfMemory } from "../../lib/loops/device.ts";
import { heapBytes } from "./collector.ts";
import { Gauge } from "./gauge.ts";
import { memoryLimit } from "./limit.ts";
import { type Findable, LiveSet } from "./live_set.ts";
import type { Visible } from "./weak_entries.ts";

/** A piece of a device's memory, and what its pool knows of it. */
export class Block {
  size = 0;
  /** Whether somebody has it. */
  isInUse = false;
  /** The memory that the program has it by, or had: by id, since a pool keeps no memory alive. */
  memoryId = 0;
  /** The last look that saw that memory, and the last that came by this block. */
  seenBy = 0;
  countedBy = 0;
  /** Bytes that the pool had handed out when it was last given back, or handed out and then dropped. */
  leftAt = 0;
  /** Bytes that it handed out between then and when it handed this one out. */
  away = 0;
  /** Whether its bytes were all 0 when it was made, and nobody else has had it since. */
  isUntouched = false;
}

/** A memory over a block. */
export interface BlockMemory<B extends Block> extends Memory, Findable {
  readonly block: B;
}

/** The source of a pool's blocks. */
export interface BlockSource<B extends Block, M extends BlockMemory<B>> {
  readonly device: DeviceName;
  /** The size of the block for so many bytes. */
  sizeFor(bytes: number): number;
  /** A new block; undefined where there is no room. */
  make(size: number): B | undefined;
  /** A new memory over a block. */
  over(block: B, bytes: number): M;
  isMemory(found: Visible): found is M;
  /** Returns whether a block can still be used. */
  isGood(block: B): boolean;
  /** Gives blocks back to the system. */
  discard(blocks: readonly B[]): void;
  /**
   * Below this size a memory that is given back is handed out again itself, for less than a new one costs. It may be
   * old then, so that it is found later when it is dropped.
   */
  readonly smallBytes: number;
  /** Touching so many bytes for the first time takes as long as a look for what was dropped, which smaller ones do not await. */
  readonly freshBytes: number;
  /** The bytes that memories made lately may have until it is worth 0.1 ms to look which of them were dropped. */
  readonly youngBytes: (size: number) => number;
  /** The bytes in use below which a search through everything, for 50 ms and more, is not worth it. */
  readonly oldBytes: number;
  /** The bytes in use beyond which it is worth it much sooner, where no limit is set. */
  readonly manyBytes: number;
}

/** Memories made lately from which it is worth it, too, however small they are. */
const YOUNG_COUNT = 1 << 13;

const MOST_PATIENCE = 8;

/**
 * Looks before new pages are touched. Each makes older what it sees, and what a training step holds is to be found soon
 * when it ends, so that a program has them while it begins and no more.
 */
const EARLY_LOOKS = 16;

/** A search through everything takes as long as so many looks, and longer where there are more objects than these bytes. */
const SEARCH_LOOKS = 256, FEW_OBJECTS = 2 ** 27;

/** The part of what was handed out since the last search that has to be new, or a loop that keeps little would search each time. */
const MUCH_NEW = 8;

/** The part of the bytes that call for a search below which one among the young was enough; another comes soon above. */
const ROOMY_PART = 15 / 16;

/** The least part of new bytes that counts towards them, where they find nothing. */
const LEAST_HOPE = 1 / 8;

/** Share of the searched memory from which on a search that promotes it to old counts as large. */
const AGED_PART = 4;

/** Looks that make little old after which the next comes sooner; it does after each that makes nothing old. */
const CALM_LOOKS = 4;

/** Looks in a row that may be put off; more where there are more objects, since V8 is to mark them all at once otherwise. */
const MOST_PUT_OFF = 8;

/** Looks after which it is asked whether everything was collected meanwhile. */
const OLD_LOOKS = 8;

/** A block that nobody has, with its memory where that is to be handed out again. */
interface Kept<B, M> {
  readonly block: B;
  readonly memory: M | undefined;
}

/** How many times longer than usual V8 takes to go through all objects. */
const burden = (): number => Math.max(heapBytes() / FEW_OBJECTS, 1);

/** Memories of one device. */
export class BlockPool<B extends Block, M extends BlockMemory<B>> implements MemoryUse {
  readonly #source: BlockSource<B, M>;
  readonly #live: LiveSet<M>;
  /** Blocks whose memories were made lately; some may be in it twice, or not in use any more. */
  #young: B[] = [];
  /** The same of others. */
  #old: B[] = [];
  /** Bytes in the first list that came since the last look. */
  #youngBytes = 0;
  #looks = 0;
  /** Factor on the awaited amount: a search promotes what it sees twice, and that is not found again soon. */
  #patience = 1;
  /** Looks in a row that were put off. */
  #putOff = 0;
  /** Looks since the last one that made much old. */
  #calm = 0;
  /** Bytes that were touched for the first time, less those that early looks took the time of. */
  #fresh = 0;
  /** The part of them that counts. */
  #hope = 1;
  #earlyLooks = 0;
  /** Blocks that nobody has, by size; those that came last are used first. */
  readonly #kept = new Map<number, Kept<B, M>[]>();
  #lastKept = 0;
  readonly #allocated = new Gauge();
  readonly #reserved = new Gauge();
  /** The bytes in use from which everything is searched. */
  #searchFrom: number;
  /** Bytes that were handed out, and how many those were when `#search` last looked among the young. */
  #clock = 0;
  #triedAt = -Infinity;
  /** Those that were handed out since everything was searched, those of new blocks, and those from which on it is worth it again. */
  #handedOut = 0;
  #made = 0;
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
  get mostAllocated(): number {
    return this.#allocated.most;
  }
  get reserved(): number {
    return this.#reserved.now;
  }
  get mostReserved(): number {
    return this.#reserved.most;
  }

  resetPeaks(): void {
    this.#allocated.reset();
    this.#reserved.reset();
  }

  /** Uninitialised memory. Throws OutOfMemory. */
  allocate(bytes: number): M {
    const size = this.#source.sizeFor(bytes);
    // Also where blocks are kept: those that come back now are likelier to be in a cache
    const areMany = this.#young.length >= YOUNG_COUNT;
    const due = this.#youngBytes >= this.#patience * this.#source.youngBytes(size) || areMany;
    if (due) this.#searchYoung(areMany || this.#mayNotPutOff());
    const { block, memory: known } = this.#take(size) ?? this.#lookEarly(size) ?? this.#search(size) ??
      this.#make(size) ?? this.#makeRoom(size, bytes);
    block.isInUse = true;
    block.away = this.#clock - block.leftAt;
    block.leftAt = this.#clock += size;
    this.#allocated.add(size);
    this.#handedOut += size;
    if (known) return known;
    const memory = this.#source.over(block, bytes);
    block.memoryId = memory.id;
    this.#young.push(block);
    this.#youngBytes += size;
    this.#live.add(memory);
    return memory;
  }

  /** Takes memory back. The caller promises that nobody uses it any more. */
  free(memory: M): void {
    const { block } = memory;
    if (!block.isInUse || block.memoryId !== memory.id) return;
    block.leftAt = this.#clock;
    if (memory.age === 0) this.#youngBytes -= block.size;
    this.#keep(block, block.size < this.#source.smallBytes ? memory : undefined);
  }

  giveBack(): void {
    this.#searchAll();
    this.#discardKept(0);
  }

  /** A kept block that is fit for use. */
  #take(size: number): Kept<B, M> | undefined {
    const all = this.#kept.get(size);
    for (let kept = all?.pop(); kept !== undefined; kept = all?.pop()) {
      if (this.#source.isGood(kept.block)) return kept;
      this.#reserved.add(-size);
    }
    return undefined;
  }

  #keep(block: B, memory?: M): void {
    const { size } = block;
    block.isInUse = block.isUntouched = false;
    this.#allocated.add(-size);
    if (!this.#source.isGood(block)) {
      this.#reserved.add(-size);
      return;
    }
    const all = this.#kept.get(size) ?? [];
    all.push({ block, memory });
    if (size === this.#lastKept && all.length > 1) return;
    // The size that was in use last comes last
    this.#kept.delete(size);
    this.#kept.set(size, all);
    this.#lastKept = size;
  }

  /**
   * Looks for dropped memory before new pages are touched, as long as such looks have taken no longer than the pages that
   * there are: with each block the next ones are farther apart, and a loop comes to have as many as are worth it.
   */
  #lookEarly(size: number): Kept<B, M> | undefined {
    const cost = this.#source.freshBytes;
    if (size < cost || this.#fresh < cost || this.#youngBytes < size || this.#earlyLooks >= EARLY_LOOKS) {
      return undefined;
    }
    // Such a search does not affect the schedule of regular ones
    const patience = this.#patience, putOff = this.#putOff, looks = this.#looks;
    this.#searchYoung(false);
    this.#patience = patience;
    this.#putOff = putOff;
    this.#fresh -= cost;
    if (this.#looks !== looks) this.#earlyLooks++;
    const found = this.#take(size);
    this.#hope = found ? 1 : Math.max(this.#hope / 2, LEAST_HOPE);
    return found;
  }

  /**
   * Looks for dropped memory where so much is in use that it may be worth it, or where so much came since that filling it
   * took as long, among the young first: gradients of a large model grow old in the step that needs them, and are dropped.
   */
  #search(size: number): Kept<B, M> | undefined {
    const isMuch = () => this.allocated + size > this.#searchFrom;
    // What a loop drops would be looked for in each call otherwise, as soon as it is what there is to find
    const isTried = this.#clock - this.#triedAt < this.#leastEach / MUCH_NEW;
    if (!isMuch() && (isTried || !this.#isLongAgo(size))) return undefined;
    this.#searchYoung(true);
    this.#triedAt = this.#clock;
    const found = this.#take(size);
    const isEnough = found
      ? this.allocated < ROOMY_PART * this.#searchFrom
      : !isMuch() && !this.#isLongAgo(size);
    if (!isEnough) this.#searchAll();
    return found ?? this.#take(size);
  }

  /** Returns whether so much came since everything was searched that it is worth it. */
  #isLongAgo(size: number): boolean {
    const isPast = () =>
      this.#handedOut > this.#searchEach && this.#made + size > this.#searchEach / MUCH_NEW;
    if (!isPast()) return false;
    this.#searchEach = Math.max(this.#searchEach, burden() * this.#leastEach);
    return isPast();
  }

  get #leastEach(): number {
    return SEARCH_LOOKS * this.#source.freshBytes;
  }

  #mayNotPutOff(): boolean {
    return this.#putOff >= MOST_PUT_OFF && this.#putOff >= MOST_PUT_OFF * burden();
  }

  #searchYoung(isUrgent: boolean): void {
    const youngBytes = this.#youngBytes, alive = this.#live.young(isUrgent);
    this.#youngBytes = 0;
    if (alive === undefined) return void this.#putOff++;
    this.#putOff = 0;
    const young = this.#young, look = ++this.#looks;
    this.#young = [];
    const aged = new Set<B>();
    let agedBytes = 0;
    for (const { id, block, age } of alive) {
      if (block.memoryId !== id) continue;
      block.seenBy = look;
      if (age <= 1) continue;
      aged.add(block);
      agedBytes += block.size;
    }
    const isMuch = AGED_PART * agedBytes > youngBytes;
    this.#calm = isMuch ? 0 : this.#calm + 1;
    if (isMuch) this.#patience = Math.min(2 * this.#patience, MOST_PATIENCE);
    else if (agedBytes === 0 || this.#calm % CALM_LOOKS === 0) {
      this.#patience = Math.max(this.#patience / 2, 1);
    }
    this.#recycle(young, look, (block) => (aged.has(block) ? this.#old : this.#young).push(block));
    if (look % OLD_LOOKS === 0) this.#searchOld();
  }

  /** Looks among the old where that costs no collection. */
  #searchOld(): void {
    const alive = this.#live.old();
    if (alive === undefined) return;
    const old = this.#old, look = ++this.#looks;
    this.#old = [];
    for (const { id, block } of alive) if (block.memoryId === id) block.seenBy = look;
    this.#recycle(old, look, (block) => this.#old.push(block));
  }

  /**
   * The next such search comes when twice as much is in use as this one left, so that its time is spread, and sooner
   * where that is much of what there is.
   */
  #searchAll(): void {
    const all = [...this.#young, ...this.#old], look = ++this.#looks;
    this.#young = [];
    this.#youngBytes = 0;
    this.#old = [];
    for (const { id, block } of this.#live.all()) {
      if (block.memoryId === id) block.seenBy = look;
    }
    this.#recycle(all, look, (block) => this.#old.push(block));
    // Part of what stays, so that what only grows is searched less and less
    this.#searchEach = Math.max(this.#leastEach, this.allocated / 4);
    this.#handedOut = 0;
    this.#made = 0;
    const { oldBytes, manyBytes } = this.#source,
      many = Math.max(this.limit ?? manyBytes, 1.125 * this.allocated);
    this.#searchFrom = Math.max(oldBytes, Math.min(2 * this.allocated, many));
  }

  /** Keeps those blocks for later whose memories a look did not see; `stay` is told of the others. */
  #recycle(blocks: readonly B[], look: number, stay: (block: B) => void): void {
    for (const block of blocks) {
      if (block.countedBy === look) continue;
      block.countedBy = look;
      if (block.seenBy === look) stay(block);
      else if (block.isInUse) this.#keep(block);
    }
  }

  /** A new block where the limit and the device have room for it beside what is kept. */
  #make(size: number): Kept<B, M> | undefined {
    // A program whose sizes change would keep blocks of each
    const keepable = Math.max(this.#source.oldBytes, this.allocated);
    if (this.reserved - this.allocated > keepable) this.#discardKept(keepable);
    if (this.reserved + size > (this.limit ?? Infinity)) return undefined;
    const block = this.#source.make(size);
    if (block === undefined) return undefined;
    block.size = size;
    // The system has just cleared its pages
    block.leftAt = this.#clock;
    this.#reserved.add(size);
    this.#made += size;
    this.#fresh += this.#hope * size;
    return { block, memory: undefined };
  }

  /** A block where room has to be made first, by everything that there is to try. */
  #makeRoom(size: number, bytes: number): Kept<B, M> {
    const steps = [() => this.#searchYoung(true), () => this.#discardKept(0), () => this.giveBack()];
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

  /** Gives kept blocks back until they have at most so many bytes, those of sizes unused for longest first. */
  #discardKept(bytes: number): void {
    const blocks: B[] = [];
    let kept = this.reserved - this.allocated;
    for (const [size, each] of this.#kept) {
      if (kept <= bytes) break;
      const excess = Math.min(each.length, Math.ceil((kept - bytes) / size));
      for (const { block } of each.splice(0, excess)) blocks.push(block);
      if (each.length === 0) this.#kept.delete(size);
      kept -= excess * size;
      this.#reserved.add(-excess * size);
    }
    if (blocks.length > 0) this.#source.discard(blocks);
  }
}
