/**
 * Decides which intermediate values need memory, and which buffers share it. Invariant: a buffer that is read outside
 * its group is in memory; two buffers share memory only if each element of the second is written after the last read of
 * the same element of the first, in the same iteration.
 */
import type { BufferId } from "../loops/ir.ts";
import { HEAVY } from "./cost.ts";
import { type Placement, stagesOf } from "./emit.ts";
import type { Group, Member } from "./group.ts";
import type { Storage } from "./tensors.ts";

/** The decisions of a whole program. */
interface Placements extends Placement {
  /** Buffers that live in another buffer's memory. */
  readonly aliases: ReadonlyMap<BufferId, BufferId>;
}

/** Decides placement for all groups. */
export function placeBuffers(
  groups: readonly Group[],
  storages: readonly Storage[],
  outputs: ReadonlySet<BufferId>,
): Placements {
  const isInput = (buffer: BufferId) => storages[buffer]?.role.kind === "input";
  const virtual = new Set<BufferId>();
  const aliases = new Map<BufferId, BufferId>();
  const touchedBy = new Map<BufferId, Set<Group>>();
  for (const group of groups) {
    for (const { reads, writes } of group.members) {
      for (const { buffer } of [...reads, ...writes]) {
        const known = touchedBy.get(buffer);
        if (known) known.add(group);
        else touchedBy.set(buffer, new Set([group]));
      }
    }
  }
  const isLocal = (buffer: BufferId) =>
    !isInput(buffer) && !outputs.has(buffer) && (touchedBy.get(buffer)?.size ?? 0) === 1;
  for (const group of groups) {
    if (group.kind === "single") continue;
    const stages = stagesOf(group.members, { isInput });
    for (const member of group.members) {
      const { buffer } = member.computation.target;
      if (!isLocal(buffer)) continue;
      if (member.computation.work.kind === "extern") {
        const host = hostFor(member, { group, stages, storages, isLocal, taken: aliases, isInput });
        if (host !== undefined) aliases.set(buffer, host);
        continue;
      }
      if (member.level === "outer" || member.computation.work.kind === "reduction") {
        virtual.add(buffer);
        continue;
      }
      const crosses = readersOf(buffer, group).some((reader) => stages.get(reader) !== stages.get(member));
      const host = crosses && member.computation.weight >= HEAVY
        ? hostFor(member, { group, stages, storages, isLocal, taken: aliases, isInput })
        : undefined;
      // Without memory to reuse, later stages recompute the value, which is cheaper than storing a whole row
      if (host === undefined) virtual.add(buffer);
      else aliases.set(buffer, host);
    }
  }
  reuseDying(groups, { storages, outputs, virtual, aliases, isInput });
  const place = (buffer: BufferId): BufferId => {
    const host = aliases.get(buffer);
    return host === undefined ? buffer : place(host);
  };
  return { virtual, aliases, place, isInput };
}

function readersOf(buffer: BufferId, group: Group): Member[] {
  return group.members.filter((m) => m.reads.some((r) => r.buffer === buffer));
}

interface HostSearch {
  readonly group: Group;
  readonly stages: ReadonlyMap<Member, number>;
  readonly storages: readonly Storage[];
  readonly isLocal: (buffer: BufferId) => boolean;
  readonly isInput: (buffer: BufferId) => boolean;
  readonly taken: ReadonlyMap<BufferId, BufferId>;
}

/** A buffer whose elements are written after the same elements of this one are read for the last time. */
function hostFor(member: Member, search: HostSearch): BufferId | undefined {
  const { group, stages, storages, isLocal, isInput, taken } = search;
  const own = member.computation.target.buffer;
  const [write] = member.writes;
  const storage = storages[own];
  if (write?.index === undefined || !storage || member.writes.length !== 1) return undefined;
  const places = new Map(group.members.map((m, i) => [m, i]));
  const lastRead = lastReadOf(own, { group, stages, places, mayRepeat: isLocal });
  const used = new Set(taken.values());
  for (const host of group.members) {
    const { buffer } = host.computation.target;
    const into = storages[buffer];
    if (host === member || isLocal(buffer) || isInput(buffer) || used.has(buffer) || !into) continue;
    if (host.computation.work.kind !== "pointwise" || host.level !== member.level) continue;
    if (into.dtype !== storage.dtype || into.length !== storage.length) continue;
    if (host.writes[0]?.index !== write.index) continue;
    if (placeOf(host, stages, places) < lastRead) continue;
    const early = group.members.some((m) =>
      m !== host && placeOf(m, stages, places) <= placeOf(host, stages, places) &&
      [...m.reads, ...m.writes].some((a) => a.buffer === buffer)
    );
    if (!early) return buffer;
  }
  return undefined;
}

interface Positions {
  readonly group: Group;
  readonly stages: ReadonlyMap<Member, number>;
  readonly places: ReadonlyMap<Member, number>;
  /** Buffers whose elements may be recomputed where they are read. */
  readonly mayRepeat: (buffer: BufferId) => boolean;
}

/**
 * Returns the position of a buffer's last read. A pointwise reader may be recomputed where its own value is read, so
 * its readers count too.
 */
function lastReadOf(buffer: BufferId, at: Positions): number {
  return Math.max(
    -Infinity,
    ...readersOf(buffer, at.group).map((reader) => {
      const { work, target } = reader.computation;
      const again = reader.level === "inner" && work.kind === "pointwise" && target.buffer !== buffer &&
        at.mayRepeat(target.buffer);
      const own = placeOf(reader, at.stages, at.places);
      return again ? Math.max(own, lastReadOf(target.buffer, at)) : own;
    }),
  );
}

interface Reuse {
  readonly storages: readonly Storage[];
  readonly outputs: ReadonlySet<BufferId>;
  readonly virtual: ReadonlySet<BufferId>;
  readonly aliases: Map<BufferId, BufferId>;
  readonly isInput: (buffer: BufferId) => boolean;
}

/**
 * Lets a group write its result into a temporary that dies there, if it reads each element where it writes it: x = x +
 * 1 on memory that is not used afterwards.
 */
function reuseDying(groups: readonly Group[], { storages, outputs, virtual, aliases, isInput }: Reuse): void {
  const first = new Map<BufferId, number>(), last = new Map<BufferId, number>();
  const place = (buffer: BufferId): BufferId => {
    const host = aliases.get(buffer);
    return host === undefined ? buffer : place(host);
  };
  const touched = groups.map((group) => {
    const found = new Set<BufferId>();
    for (const { reads, writes } of group.members) {
      for (const { buffer } of [...reads, ...writes]) if (!virtual.has(buffer)) found.add(buffer);
    }
    return found;
  });
  const note = (buffer: BufferId, at: number) => {
    if (!first.has(buffer)) first.set(buffer, at);
    last.set(buffer, Math.max(last.get(buffer) ?? 0, at));
  };
  touched.forEach((buffers, at) => buffers.forEach((buffer) => note(place(buffer), at)));
  for (const [at, group] of groups.entries()) {
    if (group.kind !== "loops") continue;
    const stages = stagesOf(group.members, { isInput });
    const positions: Positions = {
      group,
      stages,
      places: new Map(group.members.map((m, i) => [m, i])),
      mayRepeat: (buffer) => virtual.has(buffer),
    };
    for (const dying of touched[at] ?? []) {
      const storage = storages[dying];
      if (!storage || isInput(dying) || outputs.has(dying) || place(dying) !== dying) continue;
      if (last.get(dying) !== at || first.get(dying) === at) continue;
      if ([...aliases.values()].includes(dying)) continue;
      const reads = group.members.flatMap((m) => m.reads.filter((r) => r.buffer === dying));
      const index = reads[0]?.index;
      if (index === undefined || reads.some((r) => r.index !== index)) continue;
      const lastRead = lastReadOf(dying, positions);
      const host = group.members.find((member) => {
        const { buffer } = member.computation.target;
        const into = storages[buffer];
        if (!into || virtual.has(buffer) || isInput(buffer) || place(buffer) !== buffer) return false;
        if (first.get(buffer) !== at || into.dtype !== storage.dtype || into.length !== storage.length) {
          return false;
        }
        const writers = group.members.filter((m) => place(m.computation.target.buffer) === buffer);
        return writers.every((w) =>
          w.writes[0]?.index === index && placeOf(w, stages, positions.places) >= lastRead
        );
      })?.computation.target.buffer;
      if (host === undefined) continue;
      if (outputs.has(host)) {
        aliases.set(dying, host);
        first.set(host, Math.min(first.get(host) ?? at, first.get(dying) ?? at));
      } else {
        aliases.set(host, dying);
        last.set(dying, last.get(host) ?? at);
      }
    }
  }
}

/** A number that orders members as they are executed. */
function placeOf(
  member: Member,
  stages: ReadonlyMap<Member, number>,
  places: ReadonlyMap<Member, number>,
): number {
  const outer = member.level === "outer" ? 0.5 : 0;
  return ((stages.get(member) ?? 0) + outer) * 10000 + (places.get(member) ?? 0);
}
