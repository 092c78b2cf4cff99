/**
 * Groups of computations that share one loop nest, and the fusion of two groups where that changes no result.
 * Invariant: in a group, a value is written before it is read: every read of a buffer that the group writes is of the
 * element that the same iteration of the outer axes wrote.
 */
import type { Axis, BufferId } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { type Dim, floorDiv, freeSymbols, mod, product, type Sym } from "../sym/expr.ts";
import {
  cutAxes,
  replaceIn,
  type Replacement,
  rowMajor,
  type Strided,
  stridesIn,
  type Unified,
  unify,
} from "./axes.ts";
import type { Access, Computation } from "./computation.ts";
import { findsFirst, orderedInner } from "./first_found.ts";
import { addsFloats } from "./settled_axes.ts";

/** A computation in a group, with its own axes in terms of the group's. */
export interface Member {
  readonly computation: Computation;
  readonly replacement: Replacement;
  readonly reads: readonly Access[];
  readonly writes: readonly Access[];
  /** Whether it runs in the inner loops too. */
  readonly level: "outer" | "inner";
}

/** Computations in one loop nest; a library call stands first and alone, with the rest as its epilogue. */
export interface Group {
  readonly outer: readonly Axis[];
  readonly inner: readonly Axis[];
  /** In execution order. */
  readonly members: readonly Member[];
  readonly kind: "loops" | "extern" | "single";
}

/** Kinds of work that are not fused. */
const ALONE: ReadonlySet<Computation["work"]["kind"]> = new Set(["scan", "scatter", "region", "rows"]);

/** The group of one computation. Scans, scatters and regions stay alone. */
export function groupOf(computation: Computation): Group {
  const { work } = computation;
  const kind = work.kind === "extern" ? "extern" : ALONE.has(work.kind) ? "single" : "loops";
  const ones = new Map<Sym, Dim>();
  const grows = (axis: Axis) => {
    if (axis.size !== 1) return true;
    ones.set(axis.symbol, 0);
    return false;
  };
  // The epilogue of a call has one loop per output dimension, even for one of size 1
  const outer = kind === "extern" ? computation.outer : computation.outer.filter(grows);
  const inner = computation.inner.filter(grows);
  const member = rebased(
    {
      computation,
      replacement: ones,
      reads: computation.reads,
      writes: computation.writes,
      level: inner.length > 0 ? "inner" : "outer",
    },
    ones,
  );
  return cut({ outer, inner, members: [member], kind });
}

/** The group with axes cut so that reads through reshapes are linear in them. */
function cut(group: Group): Group {
  if (group.kind !== "loops") return group;
  const indices = new Set<Dim>();
  for (const { reads, writes } of group.members) {
    for (const { index } of [...reads, ...writes]) if (index !== undefined) indices.add(index);
  }
  const outer = cutAxes(group.outer, indices);
  const inner = cutAxes(
    group.inner,
    new Set([...indices].map((index) => replaceIn(index, outer.replacement))),
  );
  if (outer.replacement.size === 0 && inner.replacement.size === 0) return group;
  const step = new Map([...outer.replacement, ...inner.replacement]);
  return {
    ...group,
    outer: outer.axes,
    inner: inner.axes,
    members: group.members.map((m) => rebased(m, step)),
  };
}

/** The member with its replacement and accesses composed with another replacement. */
export function rebased(member: Member, step: Replacement): Member {
  const access = (a: Access): Access => ({
    buffer: a.buffer,
    index: a.index === undefined ? undefined : replaceIn(a.index, step),
  });
  const replacement = new Map<Sym, Dim>();
  for (const axis of [...member.computation.outer, ...member.computation.inner]) {
    replacement.set(axis.symbol, replaceIn(member.replacement.get(axis.symbol) ?? axis.symbol, step));
  }
  return { ...member, replacement, reads: member.reads.map(access), writes: member.writes.map(access) };
}

/** All buffers that a group touches, and whether it writes each. */
export function buffersOf(group: Group): Map<BufferId, { read: boolean; written: boolean }> {
  const found = new Map<BufferId, { read: boolean; written: boolean }>();
  const at = (buffer: BufferId) => {
    let entry = found.get(buffer);
    if (!entry) found.set(buffer, entry = { read: false, written: false });
    return entry;
  };
  for (const member of group.members) {
    for (const { buffer } of member.reads) at(buffer).read = true;
    for (const { buffer } of member.writes) at(buffer).written = true;
  }
  return found;
}

/** Returns whether groups of these kinds can be fused at all, `first` running first. */
export function areFusible(first: Group, second: Group): boolean {
  return first.kind !== "single" && second.kind === "loops" &&
    (first.kind !== "extern" || second.inner.length === 0);
}

/** Fuses `second` into `first`, which runs before it and is of a fusible kind; undefined if they do not fit. */
export function fuseGroups(first: Group, second: Group): Group | undefined {
  if (first.members.length + second.members.length > 64) return undefined;
  for (const [left, right] of commonIndices(first, second)) {
    const fused = fuseBy(first, second, { left, right });
    if (fused) return fused;
  }
  return undefined;
}

/** Pairs of indices at which both groups touch one buffer: dependencies first, then by number of axes. */
function commonIndices(first: Group, second: Group): [Dim, Dim][] {
  const pairs: { left: Dim; right: Dim; score: number }[] = [];
  const seen = new Set<string>();
  const key = (d: Dim) => typeof d === "number" ? `${d}` : `#${d.id}`;
  for (const x of first.members) {
    for (const [kind, accesses] of [["write", x.writes], ["read", x.reads]] as const) {
      for (const a of accesses) {
        if (a.index === undefined) continue;
        for (const y of second.members) {
          for (const b of [...y.reads, ...y.writes]) {
            if (b.buffer !== a.buffer || b.index === undefined) continue;
            const name = `${key(a.index)} ${key(b.index)}`;
            if (seen.has(name)) continue;
            seen.add(name);
            const axes = freeSymbols(a.index).size + freeSymbols(b.index).size;
            pairs.push({ left: a.index, right: b.index, score: (kind === "write" ? 100 : 0) + axes });
          }
        }
      }
    }
  }
  pairs.sort((p, q) => q.score - p.score);
  return pairs.slice(0, 8).map(({ left, right }) => [left, right]);
}

function fuseBy(first: Group, second: Group, common: { left: Dim; right: Dim }): Group | undefined {
  const leftAxes = [...first.outer, ...first.inner], rightAxes = [...second.outer, ...second.inner];
  const left = stridesIn(common.left, leftAxes), right = stridesIn(common.right, rightAxes);
  if (!left || !right || left.rest !== right.rest) return undefined;
  const byStride = unify(left.strided, right.strided);
  if (!byStride) return undefined;
  const unmatched = (axes: readonly Axis[], strided: readonly Strided[]) =>
    axes.filter((axis) => !strided.some((s) => s.axis === axis));
  const leftRest = unmatched(leftAxes, left.strided), rightRest = unmatched(rightAxes, right.strided);
  let unified: Unified = byStride;
  if (leftRest.length > 0 && rightRest.length > 0) {
    const rest = unify(rowMajor(leftRest), rowMajor(rightRest));
    if (!rest) return undefined;
    unified = {
      matches: [...byStride.matches, ...rest.matches],
      left: new Map([...byStride.left, ...rest.left]),
      right: new Map([...byStride.right, ...rest.right]),
    };
  }
  const leftOnly = leftRest.length > 0 && rightRest.length > 0 ? [] : leftRest;
  const rightOnly = leftRest.length > 0 && rightRest.length > 0 ? [] : rightRest;
  return assemble(first, second, { unified, leftOnly, rightOnly });
}

interface Correspondence {
  readonly unified: Unified;
  /** Axes of one side that the other lacks. */
  readonly leftOnly: readonly Axis[];
  readonly rightOnly: readonly Axis[];
}

/** Builds the fused group from corresponding axes and checks that it is right. */
function assemble(
  first: Group,
  second: Group,
  { unified, leftOnly, rightOnly }: Correspondence,
): Group | undefined {
  const innerLeft = new Set(first.inner.map((a) => a.symbol)),
    innerRight = new Set(second.inner.map((a) => a.symbol));
  const reducing = { left: innerLeft.size > 0, right: innerRight.size > 0 };
  // Axes that one side lacks must be inner axes of the other, so that this side runs in the outer loops only
  if (leftOnly.some((a) => !innerLeft.has(a.symbol)) || rightOnly.some((a) => !innerRight.has(a.symbol))) {
    return undefined;
  }
  const outer: Axis[] = [], inner: Axis[] = [];
  for (const { axis, left, right } of unified.matches) {
    const isInner = reducing.left ? innerLeft.has(left) : innerRight.has(right);
    if (reducing.left && reducing.right && innerLeft.has(left) !== innerRight.has(right)) return undefined;
    (isInner ? inner : outer).push(axis);
  }
  const covers = inner.length > 0;
  if ((leftOnly.length > 0 || rightOnly.length > 0) && covers) return undefined;
  const allInner = [...inner, ...leftOnly, ...rightOnly];
  if (first.kind === "extern") {
    if (allInner.length > 0) return undefined;
    return epilogueGroup(first, second, unified);
  }
  const widen = (member: Member, step: Replacement, level: Member["level"] | undefined): Member => ({
    ...rebased(member, step),
    level: level ?? member.level,
  });
  // A group without inner loops runs in the other's inner loops if its axes cover all their iterations
  const leftLevel = reducing.left ? undefined : covers ? "inner" as const : "outer" as const;
  const rightLevel = reducing.right ? undefined : covers ? "inner" as const : "outer" as const;
  const before = first.members.map((m) => widen(m, unified.left, leftLevel));
  const after = second.members.map((m) => widen(m, unified.right, rightLevel));
  if (!dependenciesHold(before, after)) return undefined;
  const members = [...before, ...after].sort((a, b) => a.computation.order - b.computation.order);
  // One searches elements in order, the other adds in lanes; each must keep the order of eager execution
  if (members.some(findsFirst) && members.some(addsFloats)) return undefined;
  const ordered = orderedInner({ members, inner: allInner });
  return ordered && { outer, inner: ordered, members, kind: "loops" };
}

/** The library call keeps its axes; the epilogue's are replaced by them. */
function epilogueGroup(first: Group, second: Group, unified: Unified): Group | undefined {
  const toCall = new Map<Sym, Dim>();
  for (const { axis, left } of unified.matches) {
    const unit = coefficientOf(unified.left.get(left) ?? left, axis.symbol);
    if (unit === undefined) return undefined;
    toCall.set(axis.symbol, mod(floorDiv(left, unit), axis.size));
  }
  const after = second.members.map((m) => rebased(rebased(m, unified.right), toCall));
  const [call, ...epilogue] = first.members;
  if (!call || call.writes.length !== 1) return undefined;
  if (!dependenciesHold(first.members, after)) return undefined;
  // Parts of the result are computed in lanes along its last dimension, which a nonlinear index would prevent
  const lane = first.outer.at(-1);
  const linear = after.every(({ reads, writes }) =>
    [...reads, ...writes].every(({ index }) =>
      !lane || index === undefined || coefficientOf(index, lane.symbol) !== undefined
    )
  );
  if (!linear) return undefined;
  const members = [...epilogue, ...after].sort((a, b) => a.computation.order - b.computation.order);
  return { ...first, members: [call, ...members] };
}

/**
 * Returns whether everything that `after` needs from `before` is available in the same iteration, and nothing is
 * overwritten too early.
 */
function dependenciesHold(before: readonly Member[], after: readonly Member[]): boolean {
  const written = writesOf(before), read = readsOf(before);
  for (const member of after) {
    for (const { buffer, index } of member.reads) {
      for (const { index: at, member: writer } of written.get(buffer) ?? []) {
        if (index === undefined || at === undefined || index !== at) return false;
        const perElement = writer.level === "inner" && writer.computation.work.kind === "pointwise";
        if (perElement && member.level === "outer") return false;
      }
    }
    for (const { buffer, index } of member.writes) {
      if (written.has(buffer)) return false;
      for (const { index: at } of read.get(buffer) ?? []) {
        if (index === undefined || at === undefined || index !== at) return false;
      }
    }
  }
  return true;
}

interface Place {
  readonly index: Dim | undefined;
  readonly member: Member;
}

function writesOf(members: readonly Member[]): Map<BufferId, Place[]> {
  return placesOf(members, (m) => m.writes);
}

function readsOf(members: readonly Member[]): Map<BufferId, Place[]> {
  return placesOf(members, (m) => m.reads);
}

function placesOf(members: readonly Member[], of: (m: Member) => readonly Access[]): Map<BufferId, Place[]> {
  const found = new Map<BufferId, Place[]>();
  for (const member of members) {
    for (const { buffer, index } of of(member)) {
      const list = found.get(buffer);
      if (list) list.push({ index, member });
      else found.set(buffer, [{ index, member }]);
    }
  }
  return found;
}

/** Iterations of a group's loops. */
export function iterationsOf(group: Group): Dim {
  return product([...group.outer, ...group.inner].map(({ size }) => size));
}
