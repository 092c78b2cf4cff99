/**
 * Decides which computations share a loop nest. Invariant: the groups' dependencies have no cycle, and everything
 * runs after what it depends on. Fusion is greedy by shared bytes, as in PyTorch's scheduler.
 */
import { itemSize } from "../base/dtype.ts";
import { bisection } from "../base/bisect.ts";
import { logs } from "../base/logs.ts";
import type { BufferId } from "../loops/ir.ts";
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, product } from "../sym/expr.ts";
import type { Computation } from "./computation.ts";
import { areFusible, buffersOf, fuseGroups, type Group, groupOf, iterationsOf } from "./group.ts";
import { stagesOf } from "./emit.ts";
import { isFasterFused } from "./loop_order.ts";
import { addsFloats } from "./settled_axes.ts";
import type { Storage } from "./tensors.ts";

export interface FusionOptions {
  /** Whether loops are fused at all. */
  readonly fusion: boolean;
  /** Whether loops are fused into library calls. */
  readonly epilogues: boolean;
  /** Maximum number of buffers that a kernel of the device may touch. */
  readonly maxBuffers: number;
  /** A buffer that is wanted as early as possible. */
  readonly first?: BufferId | undefined;
  /** Inputs that are written to outside of the computations. */
  readonly written?: ReadonlySet<BufferId>;
  /** Positions of the first of two repeated parts of the graph, and of its repetitions, which must never be fused. */
  readonly turns?: { readonly first: ReadonlySet<number>; readonly again: ReadonlySet<number> } | undefined;
}

/** Maximum number of buffers of a fused kernel: more streams slow memory down. */
const MAX_BUFFERS = 32;
/** Loops that read this many buffers choose one of them for each element, as in a concatenation of many tensors. */
const SOURCES = 16;
/** Below this many iterations saving a kernel is worth more than vector lanes. */
const SMALL = 1 << 14;
/** If groups further apart in the graph than this are fused, everything between them stays in memory. */
const FAR = 64;
/** With fewer iterations of outer loops than this, threads divide long inner loops. */
const FEW = 16;
/** Number of iterations of an inner loop from which on threads divide it. */
const LONG = 1 << 16;
/** Groups that share less memory than this are not worth fusing. */
const TINY = 256;

interface Entry {
  readonly id: number;
  readonly group: Group;
  /** Position of its first member among the computations. */
  readonly order: number;
  readonly buffers: ReadonlyMap<BufferId, { read: boolean; written: boolean }>;
  readonly before: Set<number>;
  readonly after: Set<number>;
  /** Positions in the graph of its first and last members. */
  readonly from: number;
  readonly to: number;
}

/** Groups and orders computations. */
export function schedule(
  computations: readonly Computation[],
  storages: readonly Storage[],
  options: FusionOptions,
): Group[] {
  const scheduler = new Scheduler(storages, options);
  scheduler.add(computations);
  if (options.fusion) scheduler.fuse();
  return scheduler.ordered();
}

class Scheduler {
  readonly #entries = new Map<number, Entry>();
  readonly #failed = new Set<number>();
  readonly #bytes: readonly number[];
  #next = 0;

  constructor(readonly storages: readonly Storage[], readonly options: FusionOptions) {
    this.#bytes = storages.map((s) => hintOf(s.length) * itemSize(s.dtype));
  }

  add(computations: readonly Computation[]): void {
    const writer = new Map<BufferId, number>(), readers = new Map<BufferId, number[]>();
    for (const [order, computation] of computations.entries()) {
      const before = new Set<number>();
      for (const { buffer } of computation.reads) {
        const from = writer.get(buffer);
        if (from !== undefined) before.add(from);
      }
      for (const { buffer } of computation.writes) {
        const from = writer.get(buffer);
        if (from !== undefined) before.add(from);
        for (const reader of readers.get(buffer) ?? []) before.add(reader);
      }
      const id = this.#insert(groupOf(computation), order, before);
      for (const { buffer } of computation.writes) {
        writer.set(buffer, id);
        readers.set(buffer, []);
      }
      for (const { buffer } of computation.reads) {
        const list = readers.get(buffer);
        if (list) list.push(id);
        else readers.set(buffer, [id]);
      }
      before.delete(id);
    }
  }

  #insert(
    group: Group,
    order: number,
    before: ReadonlySet<number>,
    after: ReadonlySet<number> = new Set(),
  ): number {
    const id = this.#next++, places = placesOf(group);
    const entry: Entry = {
      id,
      group,
      order,
      buffers: buffersOf(group),
      before: new Set(before),
      after: new Set(after),
      from: Math.min(...places),
      to: Math.max(...places),
    };
    this.#entries.set(id, entry);
    for (const each of before) this.#entries.get(each)?.after.add(id);
    for (const each of after) this.#entries.get(each)?.before.add(id);
    return id;
  }

  fuse(): void {
    for (let changed = true; changed;) {
      changed = false;
      for (const { a, b } of this.#candidates()) {
        const first = this.#entries.get(a), second = this.#entries.get(b);
        if (first && second && this.#tryFuse(first, second)) changed = true;
      }
    }
  }

  /** Pairs that touch a common buffer, those that share the most bytes first; the first of each pair may run first. */
  #candidates(): { a: number; b: number; score: number }[] {
    const touching = new Map<BufferId, Entry[]>();
    for (const entry of this.#entries.values()) {
      for (const buffer of entry.buffers.keys()) {
        const list = touching.get(buffer);
        if (list) list.push(entry);
        else touching.set(buffer, [entry]);
      }
    }
    const pairs = new Map<number, { a: number; b: number; score: number }>();
    for (const [buffer, entries] of touching) {
      const size = this.#bytes[buffer] ?? 0;
      const written = this.options.written?.has(buffer) ||
        entries.some((e) => e.buffers.get(buffer)?.written);
      if (!written && size < TINY) continue;
      for (let i = 0; i < entries.length; i++) {
        if (entries[i]?.group.kind === "single") continue;
        for (let j = i + 1; j < Math.min(entries.length, i + 24); j++) {
          const x = entries[i], y = entries[j];
          if (!x || !y) continue;
          const key = pairKey(x, y);
          if (this.#failed.has(key)) continue;
          const flip = x.after.has(y.id) ? false : y.after.has(x.id) ? true : y.order < x.order;
          const [a, b] = flip ? [y, x] : [x, y];
          if (!areFusible(a.group, b.group)) continue;
          const known = pairs.get(key);
          // Epilogues are fused after loops: a reduction may claim the same producer
          const follows = a.after.has(b.id);
          // Consumers that process a reduction row by row are fused first, before other readers claim it
          const sameRows = follows && a.group.inner.length > 0 && b.group.inner.length === 0;
          const worth = size * (a.group.kind === "extern" ? 0.5 : sameRows ? 2 : 1) + (follows ? 1 : 0);
          if (known) known.score += worth;
          else pairs.set(key, { a: a.id, b: b.id, score: worth });
        }
      }
    }
    return [...pairs.values()].sort((p, q) => q.score - p.score);
  }

  #tryFuse(first: Entry, second: Entry): boolean {
    const fail = () => {
      this.#failed.add(pairKey(first, second));
      return false;
    };
    const dependent = first.after.has(second.id);
    if (first.group.kind === "extern" && (!dependent || !this.options.epilogues)) return fail();
    let together = first.buffers.size;
    for (const buffer of second.buffers.keys()) if (!first.buffers.has(buffer)) together++;
    if (together > (dependent ? this.options.maxBuffers : Math.min(MAX_BUFFERS, this.options.maxBuffers))) {
      return fail();
    }
    // Sums walk a concatenation in another order, and would have to look up the source tensor of each element
    if (dependent && second.group.inner.length > 0 && sourcesOf(first) >= SOURCES) return fail();
    if (this.#isFar(first, second)) return fail();
    if (this.#isRepeated(first, second) || this.#isRepeated(second, first)) return fail();
    if (this.#reaches(first, second.id) || this.#reaches(second, first.id)) return fail();
    const group = fuseGroups(first.group, second.group);
    if (!group || keepsThreadsOut(group) || !this.#pays(group, first, second)) return fail();
    const about = () => `${describe(first.group)} with ${describe(second.group)}`;
    if (!bisection.allows("fusion", about)) return fail();
    const without = (ids: ReadonlySet<number>) =>
      [...ids].filter((id) => id !== first.id && id !== second.id);
    const before = new Set([...without(first.before), ...without(second.before)]);
    const after = new Set([...without(first.after), ...without(second.after)]);
    for (const gone of [first, second]) {
      for (const id of gone.before) this.#entries.get(id)?.after.delete(gone.id);
      for (const id of gone.after) this.#entries.get(id)?.before.delete(gone.id);
      this.#entries.delete(gone.id);
    }
    this.#insert(group, Math.min(first.order, second.order), before, after);
    logs.emit("fusion", () => `fused ${about()}`);
    return true;
  }

  /**
   * Returns whether two groups are so far apart that fusing would delay the first until the second's other inputs
   * exist, and so extend lifetimes (two parts of a batch, for example). Groups whose inputs exist early, as those of
   * updates do, may be fused from far away.
   */
  #isFar(first: Entry, second: Entry): boolean {
    const end = first.to;
    if (Math.max(end - second.from, second.to - first.from) <= FAR) return false;
    const seen = new Set([first.id, second.id]), pending = [...second.before];
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      const entry = this.#entries.get(id);
      if (!entry || seen.has(id) || entry.to <= end) continue;
      seen.add(id);
      if ([...entry.buffers.keys()].some((buffer) => (this.#bytes[buffer] ?? 0) >= TINY)) return true;
      pending.push(...entry.before);
    }
    return false;
  }

  /**
   * Returns whether one group computes a value that the other recomputes: fusing them would keep the value in memory.
   */
  #isRepeated(a: Entry, b: Entry): boolean {
    const { turns } = this.options;
    const has = (entry: Entry, wanted: ReadonlySet<number>) =>
      placesOf(entry.group).some((at) => wanted.has(at));
    return turns !== undefined && has(a, turns.first) && has(b, turns.again);
  }

  /** Returns whether fusing two groups pays off: separately, each could access adjacent elements. */
  #pays(group: Group, first: Entry, second: Entry): boolean {
    if (group.kind !== "loops" || hintOf(iterationsOf(group)) < SMALL) return true;
    let shared: Dim = 0;
    for (const buffer of first.buffers.keys()) {
      if (second.buffers.has(buffer)) shared = add(shared, this.storages[buffer]?.length ?? 0);
    }
    return isFasterFused(group, [first.group, second.group], shared);
  }

  /** Returns whether `to` depends on `from` through a third group. */
  #reaches(from: Entry, to: number): boolean {
    const seen = new Set<number>();
    const stack = [...from.after].filter((id) => id !== to);
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (id === to) return true;
      if (seen.has(id)) continue;
      seen.add(id);
      for (const next of this.#entries.get(id)?.after ?? []) stack.push(next);
    }
    return false;
  }

  /** The groups that must run before a buffer is complete. */
  #leadingTo(buffer: BufferId | undefined): Set<number> {
    const found = new Set<number>();
    if (buffer === undefined) return found;
    const pending = [...this.#entries.values()].filter((e) => e.buffers.get(buffer)?.written).map((e) =>
      e.id
    );
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      pending.push(...this.#entries.get(id)?.before ?? []);
    }
    return found;
  }

  /**
   * Execution order: dependencies first, then what is wanted early, otherwise as in the graph; but groups that compute
   * single elements, such as the step counts of an optimizer, are adjacent, so that one kernel can do all of them.
   */
  ordered(): Group[] {
    const waiting = new Map([...this.#entries.values()].map((e) => [e.id, e.before.size]));
    const early = this.#leadingTo(this.options.first);
    const single = (group: Group | undefined) => group?.kind === "loops" && iterationsOf(group) === 1;
    const rank = ({ id, order }: Entry) => early.has(id) ? order - 1e12 : order;
    const ready: Entry[] = [];
    const add = (entry: Entry): void => {
      let at = ready.length;
      while (at > 0 && rank(ready[at - 1] ?? entry) > rank(entry)) at--;
      ready.splice(at, 0, entry);
    };
    for (const entry of this.#entries.values()) if (entry.before.size === 0) add(entry);
    const groups: Group[] = [];
    while (ready.length > 0) {
      const isNext = ({ id, group }: Entry) => early.has(id) || single(group);
      const at = single(groups.at(-1)) ? Math.max(0, ready.findIndex(isNext)) : 0;
      const [entry] = ready.splice(at, 1);
      if (!entry) break;
      groups.push(entry.group);
      for (const id of entry.after) {
        const left = (waiting.get(id) ?? 0) - 1;
        waiting.set(id, left);
        const next = this.#entries.get(id);
        if (left === 0 && next) add(next);
      }
    }
    return groups;
  }
}

/** Maximum number of groups, including those that were fused into others. */
const MOST_GROUPS = 2 ** 26;

/** Returns the key of a pair of groups, whichever runs first. */
const pairKey = ({ id: a }: Entry, { id: b }: Entry): number => Math.min(a, b) * MOST_GROUPS + Math.max(a, b);

/** Returns whether long inner loops of a group would follow each other: threads divide one that is alone in its kernel. */
function keepsThreadsOut({ outer, inner, members }: Group): boolean {
  const iterations = (axes: Group["outer"]) => hintOf(product(axes.map(({ size }) => size)));
  if (iterations(outer) >= FEW || iterations(inner) < LONG || !members.some(addsFloats)) return false;
  return [...stagesOf(members, { isInput: () => false }).values()].some((stage) => stage > 0);
}

/** Returns the number of buffers that a group reads. */
const sourcesOf = ({ buffers }: Entry): number => [...buffers.values()].filter(({ read }) => read).length;

/** Returns the positions of a group's members in the graph. */
function placesOf({ members }: Group): readonly number[] {
  return members.map(({ computation: { order } }) => order);
}

function describe(group: Group): string {
  return group.members.map(({ computation }) => computation.labels[0]?.target ?? computation.work.kind).join(
    "+",
  );
}
