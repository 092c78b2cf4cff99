/**
 * Lays temporaries out in one arena by their sizes and lifetimes. Invariant: buffers that are alive at the same time
 * do not overlap; offsets are multiples of 64. Known sizes are packed by first fit over lifetimes; symbolic ones
 * share a slot only with buffers of the very same size.
 */
import { add, ceilDiv, type Dim, mul } from "../sym/expr.ts";
import type { BufferId, Kernel, Program } from "./ir.ts";
import { kernelGroups } from "./kernel_groups.ts";
import { usesOf } from "./uses.ts";

const ALIGNMENT = 64;

/** A temporary and the kernels, by position, that first and last touch it. */
export interface Lifetime {
  readonly bytes: Dim;
  readonly first: number;
  readonly last: number;
}

/** Computes when each buffer is first and last used. Kernels that run by blocks count as one. */
export function lifetimesOf(
  kernels: readonly Kernel[],
): ReadonlyMap<BufferId, { readonly first: number; readonly last: number }> {
  const lifetimes = new Map<BufferId, { readonly first: number; last: number }>();
  for (const [time, group] of kernelGroups(kernels).entries()) {
    for (const kernel of group) {
      for (const buffer of usesOf(kernel).all) {
        const known = lifetimes.get(buffer);
        if (known) known.last = time;
        else lifetimes.set(buffer, { first: time, last: time });
      }
    }
  }
  return lifetimes;
}

/**
 * Computes the lifetimes of the temporaries that are in memory as a whole: results of prologues exist only in parts and
 * need no place.
 */
export function placedTemporaries(
  { buffers, kernels }: Pick<Program, "buffers" | "kernels">,
): ReadonlyMap<BufferId, { readonly first: number; readonly last: number }> {
  const inParts = new Set(
    kernels.flatMap((kernel) =>
      kernel.kind === "extern"
        ? kernel.prologues?.flatMap(({ input }) => kernel.inputs[input]?.buffer ?? []) ?? []
        : []
    ),
  );
  const lifetimes = lifetimesOf(kernels);
  return new Map(buffers.flatMap(({ role }, id) => {
    const lifetime = role.kind === "temporary" && !inParts.has(id) ? lifetimes.get(id) : undefined;
    return lifetime ? [[id, lifetime] as const] : [];
  }));
}

interface MemoryPlan {
  /** Byte offset of each lifetime. */
  readonly offsets: readonly Dim[];
  readonly arenaBytes: Dim;
}

/** Plans all temporaries; without reuse each has its own place. */
export function planMemory(lifetimes: readonly Lifetime[], reuse = true): MemoryPlan {
  const offsets: Dim[] = lifetimes.map(() => 0);
  const known = new Calendar();
  let end = 0;
  // Large ones first: they determine the arena's size, small ones fill the gaps
  const order = [...lifetimes.keys()].sort((a, b) => sizeOf(lifetimes[b]) - sizeOf(lifetimes[a]) || a - b);
  for (const i of order) {
    const lifetime = lifetimes[i];
    if (!lifetime || typeof lifetime.bytes !== "number") continue;
    const bytes = Math.max(ALIGNMENT, Math.ceil(lifetime.bytes / ALIGNMENT) * ALIGNMENT);
    const offset = reuse ? known.lowest(lifetime, bytes) : end;
    known.add(lifetime, offset, bytes);
    offsets[i] = offset;
    end = Math.max(end, offset + bytes);
  }
  const slots: { readonly bytes: Dim; readonly offset: Dim; readonly users: Lifetime[] }[] = [];
  let arenaBytes: Dim = end;
  for (const [i, lifetime] of lifetimes.entries()) {
    if (typeof lifetime.bytes === "number") continue;
    let slot = slots.find((s) =>
      reuse && s.bytes === lifetime.bytes && !s.users.some((u) => overlaps(u, lifetime))
    );
    if (!slot) {
      slots.push(slot = { bytes: lifetime.bytes, offset: arenaBytes, users: [] });
      arenaBytes = add(arenaBytes, aligned(lifetime.bytes));
    }
    slot.users.push(lifetime);
    offsets[i] = slot.offset;
  }
  return { offsets, arenaBytes };
}

/** Placed buffers by offset. In columns, since searches in long programs pass thousands of them. */
class Placed {
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];
  readonly #offsets: number[] = [];
  readonly #ends: number[] = [];

  /** Inserts a buffer after those of lower or equal offsets. */
  insert({ first, last }: Lifetime, offset: number, bytes: number): void {
    let from = 0, to = this.#offsets.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#offsets[middle] ?? 0) <= offset) from = middle + 1;
      else to = middle;
    }
    this.#firsts.splice(from, 0, first);
    this.#lasts.splice(from, 0, last);
    this.#offsets.splice(from, 0, offset);
    this.#ends.splice(from, 0, offset + bytes);
  }

  /** Returns a search for the lowest offset from one on, never lower than before, that is free during a lifetime. */
  search({ first, last }: Lifetime, bytes: number): (offset: number) => number {
    const firsts = this.#firsts, lasts = this.#lasts, offsets = this.#offsets, ends = this.#ends;
    let at = 0;
    return (offset) => {
      for (; at < offsets.length; at++) {
        const end = ends[at] ?? 0;
        if (end <= offset || (firsts[at] ?? 0) > last || (lasts[at] ?? 0) < first) continue;
        if (offset + bytes <= (offsets[at] ?? 0)) break;
        offset = end;
      }
      return offset;
    };
  }
}

/** The number of kernels in a stretch, and the number of stretches from which on a lifetime is long. */
const STRETCH = 32, LONG = 4;

/** The placed buffers by lifetime, in stretches of time, so that a search in a long program skips most of them. */
class Calendar {
  readonly #stretches: Placed[] = [];
  readonly #long = new Placed();
  readonly #all = new Placed();

  add(lifetime: Lifetime, offset: number, bytes: number): void {
    const { first, last } = stretchesOf(lifetime);
    this.#all.insert(lifetime, offset, bytes);
    if (last - first >= LONG) this.#long.insert(lifetime, offset, bytes);
    else {
      for (let at = first; at <= last; at++) {
        (this.#stretches[at] ??= new Placed()).insert(lifetime, offset, bytes);
      }
    }
  }

  /** Returns the lowest offset with so many bytes that are free during a lifetime. */
  lowest(lifetime: Lifetime, bytes: number): number {
    const { first, last } = stretchesOf(lifetime), isLong = last - first >= LONG;
    const lists = isLong ? [this.#all] : [this.#long, ...this.#stretches.slice(first, last + 1)];
    const searches = lists.flatMap((list) => list?.search(lifetime, bytes) ?? []);
    let offset = 0;
    // Memory that is free in one list may be taken in another
    for (let before = -1; before < offset;) {
      before = offset;
      for (const next of searches) offset = next(offset);
    }
    return offset;
  }
}

const stretchesOf = ({ first, last }: Lifetime) => ({
  first: Math.floor(first / STRETCH),
  last: Math.floor(last / STRETCH),
});

const sizeOf = (lifetime: Lifetime | undefined) => typeof lifetime?.bytes === "number" ? lifetime.bytes : 0;

const overlaps = (a: Lifetime, b: Lifetime) => a.first <= b.last && b.first <= a.last;

/** Rounded up to the alignment. */
function aligned(bytes: Dim): Dim {
  return mul(ceilDiv(bytes, ALIGNMENT), ALIGNMENT);
}
