/**
 * Lays temporaries out in one arena by their sizes and lifetimes. Invariant: buffers that are alive at the same time
 * do not overlap; offsets are multiples of 64. Known sizes are packed by first fit over lifetimes; symbolic ones
 * share a slot only with buffers of the very same size.
 */
import { add, ceilDiv, type Dim, mul } from "../sym/expr.ts";
import type { BufferId, Kernel, Program } from "./ir.ts";
import { runTogether } from "./together.ts";
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
  for (const [time, group] of runTogether(kernels).entries()) {
    for (const buffer of group.flatMap((kernel) => [...usesOf(kernel).all])) {
      const known = lifetimes.get(buffer);
      if (known) known.last = time;
      else lifetimes.set(buffer, { first: time, last: time });
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

export interface MemoryPlan {
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
    let offset = reuse ? 0 : end;
    for (const k of reuse ? known.near(lifetime) : []) {
      if (!overlaps(k.lifetime, lifetime)) continue;
      if (offset + bytes <= k.offset) break;
      offset = Math.max(offset, k.offset + k.bytes);
    }
    known.add({ lifetime, offset, bytes });
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

interface Packed {
  readonly lifetime: Lifetime;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * The buffers that are alive at each time, by stretches, so that a search in a long program skips most of them. Sorted
 * by offset.
 */
class Calendar {
  readonly #stretches: Packed[][] = [];
  /** All of them: a lifetime of many stretches meets most. */
  readonly #all: Packed[] = [];

  add(packed: Packed): void {
    const { first, last } = packed.lifetime;
    for (let at = stretchOf(first); at <= stretchOf(last); at++) insert(this.#stretches[at] ??= [], packed);
    insert(this.#all, packed);
  }

  /** Returns the buffers that are alive during a lifetime, and others, sorted by offset. */
  near({ first, last }: Lifetime): readonly Packed[] {
    const from = stretchOf(first), to = stretchOf(last) + 1;
    if (to - from === 1) return this.#stretches[from] ?? [];
    if (to - from > FEW_STRETCHES) return this.#all;
    return [...new Set(this.#stretches.slice(from, to).flat())].sort((a, b) => a.offset - b.offset);
  }
}

/** Inserts a buffer after those of lower or equal offset. */
function insert(list: Packed[], packed: Packed): void {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((list[middle]?.offset ?? 0) <= packed.offset) from = middle + 1;
    else to = middle;
  }
  list.splice(from, 0, packed);
}

/** Kernels per stretch, and the maximum number of stretches that are searched one by one. */
const STRETCH = 32, FEW_STRETCHES = 4;

const stretchOf = (time: number): number => Math.floor(time / STRETCH);

const sizeOf = (lifetime: Lifetime | undefined) => typeof lifetime?.bytes === "number" ? lifetime.bytes : 0;

const overlaps = (a: Lifetime, b: Lifetime) => a.first <= b.last && b.first <= a.last;

/** Rounded up to the alignment. */
function aligned(bytes: Dim): Dim {
  return mul(ceilDiv(bytes, ALIGNMENT), ALIGNMENT);
}
