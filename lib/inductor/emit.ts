/**
 * Writes the loop nest of a group. Invariant: inner loops come in stages: a value that needs the result of a
 * reduction is computed in a later stage than that reduction, so that softmax is one kernel of three loops over a
 * row.
 */
import { InternalError } from "../base/errors.ts";
import type { Axis, BufferId, ExternKernel, Kernel, Loop, LoopKernel, Statement } from "../loops/ir.ts";
import { mapStatements } from "../loops/map_statements.ts";
import { loopOver } from "../loops/nest.ts";
import { type BufferOperand, flatIndex, Recorder, type Value, ValueIds } from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";
import { arrange, indexOf, type InnerLoops, NONE } from "./arrange.ts";
import type { Replacement } from "./axes.ts";
import { type Computation, contribution } from "./computation.ts";
import { removeDead } from "../loops/dead_code.ts";
import type { Group, Member } from "./group.ts";
import type { Tiling } from "./loop_order.ts";
import { kernelOfRows, regionKernels } from "./region_kernels.ts";
import { scanKernel, scatterKernel } from "./single_kernels.ts";
import { inline, isLazy, makeLoader, resultValue, storedForm } from "./tensors.ts";

/** The scheduler's decisions about the buffers of a group. */
export interface Placement {
  /** Buffers that exist only as values inside their group. */
  readonly virtual: ReadonlySet<BufferId>;
  /** Returns the buffer in whose memory a buffer's elements lie. */
  readonly place: (buffer: BufferId) => BufferId;
  /** Buffers of inputs: their old values stay visible after a write in the same kernel. */
  readonly isInput: (buffer: BufferId) => boolean;
}

/** Emits the kernels of a group: one, unless it is a region. */
export function emitGroup(group: Group, placement: Placement, tiling: Tiling): Kernel[] {
  const [first] = group.members;
  if (!first) throw new InternalError("Expected a group with members but found none");
  const { computation } = first, { work } = computation;
  if (work.kind === "region") return regionKernels(work, placement.place);
  if (work.kind === "rows") return [kernelOfRows(work, placement.place)];
  return [emitOne(group, computation, { placement, tiling })];
}

function emitOne(
  group: Group,
  computation: Computation,
  { placement, tiling }: { readonly placement: Placement; readonly tiling: Tiling },
): Kernel {
  const { work } = computation;
  if (work.kind === "extern") return externKernel(group, computation, placement);
  const name = kernelName(group.members);
  const origins = originsOf(group.members);
  if (work.kind === "scan" || work.kind === "scatter") {
    const make = work.kind === "scan" ? scanKernel : scatterKernel;
    const body = make(
      computation,
      (statements) => new Recorder(makeLoader(), new ValueIds(), statements),
    );
    return { kind: "loops", name, origins, body: placed(body, placement) };
  }
  const { outer, vector, replacement, innerOf } = arrange(group, tiling), loops: Loops = { replacement };
  const recorder = new Recorder(groupLoader(group.members, placement, loops), new ValueIds());
  new Emission(group, { recorder, placement, loops, innerOf, vectorInner: vector === "inner" }).run();
  const body = nest(outer, recorder.statements, vector === "outer");
  return { kind: "loops", name, origins, body: placed(removeDead(body), placement) };
}

/** Parallel loops around statements, the last one vectorised if requested. */
function nest(axes: readonly Axis[], body: readonly Statement[], vector: boolean): readonly Statement[] {
  return axes.reduceRight<readonly Statement[]>(
    (inside, axis, d) => [loopOver(axis, inside, { vector: vector && d === axes.length - 1 })],
    body,
  );
}

function externKernel(group: Group, computation: Computation, placement: Placement): ExternKernel {
  const { work } = computation;
  if (work.kind !== "extern") throw new InternalError("Expected a library call");
  const view = ({ buffer, offset, shape, strides }: BufferOperand) => ({
    buffer: placement.place(buffer),
    offset,
    shape,
    strides,
  });
  const kernel: ExternKernel = {
    kind: "extern",
    name: kernelName(group.members),
    call: work.call,
    inputs: work.inputs.map(view),
    outputs: work.outputs.map(view),
    origins: originsOf(group.members.slice(0, 1)),
  };
  const rest = group.members.slice(1);
  if (rest.length === 0) return kernel;
  const loops: Loops = { replacement: NONE };
  const recorder = new Recorder(groupLoader(rest, placement, loops), new ValueIds());
  const innerOf = () => ({ axes: [], replacement: NONE });
  new Emission({ ...group, members: rest }, { recorder, placement, loops, innerOf, vectorInner: false })
    .run();
  const body = placed(removeDead(nest(group.outer, recorder.statements, true)), placement);
  const epilogue: LoopKernel = {
    kind: "loops",
    name: `${kernel.name}_epilogue`,
    body,
    origins: originsOf(rest),
  };
  return { ...kernel, epilogue };
}

/**
 * The default loader, except that a buffer without memory is recomputed where its value is out of scope. The reader may
 * use another shape, but reads the element of the same iteration, which is the one to recompute: the group was fused
 * because their indices are equal, even if these are different expressions over the joined loops.
 */
function groupLoader(
  members: readonly Member[],
  placement: Placement,
  loops: Loops,
): ReturnType<typeof makeLoader> {
  const load = makeLoader();
  const writers = new Map<BufferId, Member>();
  for (const member of members) writers.set(member.computation.target.buffer, member);
  return (recorder, operand, index) => {
    const stored = storedForm(operand);
    const writer = stored && placement.virtual.has(stored.buffer) ? writers.get(stored.buffer) : undefined;
    if (!stored || !writer || recorder.knowsLoad(stored.buffer, flatIndex(stored, index))) {
      return load(recorder, operand, index);
    }
    const { work, target } = writer.computation;
    const own = indexOf(writer, loops.replacement).index, written = flatIndex(target, own);
    if (written !== flatIndex(stored, index)) {
      if (isLazy(operand)) return inline(recorder, operand, index);
      if (!readsOwn(members, writer)) throw outOfScope(stored, index);
    }
    if (recorder.knowsLoad(stored.buffer, written)) {
      return recorder.loadBuffer(stored.buffer, written, stored.dtype);
    }
    if (work.kind !== "pointwise") throw outOfScope(stored, index);
    return recorder.memo(
      `again ${stored.buffer}`,
      () => resultValue(recorder, work.element(recorder, own), target.dtype),
    );
  };
}

/** Returns whether every read of a member's result is of the element that the same iteration computes. */
function readsOwn(members: readonly Member[], { computation: { target }, writes }: Member): boolean {
  const written = writes.find(({ buffer }) => buffer === target.buffer)?.index;
  return written !== undefined &&
    members.every(({ reads }) =>
      reads.every(({ buffer, index }) => buffer !== target.buffer || index === written)
    );
}

function outOfScope(stored: BufferOperand, index: readonly Dim[]): InternalError {
  return new InternalError(`Expected the value of b${stored.buffer} in scope at ${flatIndex(stored, index)}`);
}

/** The loops around what is being written: all axes of the group in terms of them. */
interface Loops {
  replacement: Replacement;
}

interface EmissionOptions {
  readonly recorder: Recorder;
  readonly placement: Placement;
  readonly loops: Loops;
  /** The inner loops of members that run together. */
  readonly innerOf: (members: readonly Member[]) => InnerLoops;
  readonly vectorInner: boolean;
}

class Emission {
  constructor(readonly group: Group, readonly options: EmissionOptions) {}

  run(): void {
    const stages = stagesOf(this.group.members, this.options.placement);
    const last = Math.max(-1, ...stages.values());
    for (let stage = -1; stage <= last; stage++) {
      const here = this.group.members.filter((m) => stages.get(m) === stage);
      const inner = here.filter((m) => m.level === "inner");
      if (inner.length > 0) this.#innerLoops(inner);
      this.#writeAll(here.filter((m) => m.level === "outer"));
    }
  }

  /**
   * Computes and writes pointwise members in order. Writes to inputs come last, after every value that may still read
   * the old elements.
   */
  #writeAll(members: readonly Member[]): void {
    const pending: (() => void)[] = [];
    for (const member of members) {
      const { work, target } = member.computation;
      if (work.kind !== "pointwise") {
        throw new InternalError(`Expected a pointwise member but found a ${work.kind}`);
      }
      const { recorder, placement } = this.options;
      const { index } = this.#indexOf(member);
      const value = resultValue(recorder, work.element(recorder, index), target.dtype);
      if (placement.isInput(target.buffer)) pending.push(() => this.#write(target, index, value));
      else this.#write(target, index, value);
    }
    for (const write of pending) write();
  }

  #indexOf(member: Member): { index: Dim[]; reduced: Dim[] } {
    return indexOf(member, this.options.loops.replacement);
  }

  #write(target: BufferOperand, index: readonly Dim[], value: Value): void {
    const { recorder, placement } = this.options;
    const at = flatIndex(target, index);
    if (!placement.virtual.has(target.buffer)) recorder.store(target, at, { value });
    // Readers of an input in this kernel need its old value
    if (!placement.isInput(target.buffer)) recorder.forward(target.buffer, at, value);
  }

  #innerLoops(members: readonly Member[]): void {
    const { recorder, loops, innerOf, vectorInner } = this.options, around = loops.replacement;
    const { axes: inner, replacement } = innerOf(members);
    loops.replacement = replacement;
    const { statements, result } = recorder.nested(() => {
      const contributions: Contribution[] = [];
      const inOrder: Member[] = [];
      for (const member of members) {
        const { work } = member.computation;
        if (work.kind !== "reduction") {
          inOrder.push(member);
          continue;
        }
        this.#writeAll(inOrder.splice(0));
        const { value, index: position } = contribution(work, recorder, this.#indexOf(member));
        contributions.push({ member, op: work.op, value, position });
      }
      this.#writeAll(inOrder);
      return contributions;
    });
    let body: readonly Statement[] = statements, contributions: readonly Contribution[] = result;
    for (const [d, axis] of [...inner.entries()].reverse()) {
      const level = reduceOver(contributions, recorder), { reductions } = level;
      const order = reductions.length > 0 ? "reduction" : "parallel";
      body = [loopOver(axis, body, { order, vector: vectorInner && d === inner.length - 1, reductions })];
      contributions = level.contributions;
    }
    loops.replacement = around;
    for (const statement of body) recorder.push(statement);
    for (const { member, value, position } of contributions) {
      const { target } = member.computation;
      this.#write(
        target,
        this.#indexOf(member).index,
        resultValue(recorder, position ?? value, target.dtype),
      );
    }
  }
}

interface Contribution {
  readonly member: Member;
  readonly op: Loop["reductions"][number]["op"];
  readonly value: Value;
  readonly position: Value | undefined;
}

/** One loop's reductions, and their contributions to the enclosing loop. */
function reduceOver(
  contributions: readonly Contribution[],
  recorder: Recorder,
): { reductions: Loop["reductions"]; contributions: readonly Contribution[] } {
  const reductions: Loop["reductions"][number][] = [];
  const results = contributions.map((c): Contribution => {
    if (c.op === "argmax" || c.op === "argmin") {
      if (!c.position) throw new InternalError(`Expected a position for ${c.op} but found none`);
      const extreme: Value = { id: recorder.ids.next(), dtype: c.value.dtype };
      const position: Value = { id: recorder.ids.next(), dtype: "int64" };
      reductions.push(
        { id: extreme.id, op: c.op === "argmax" ? "max" : "min", value: c.value.id, dtype: c.value.dtype },
        { id: position.id, op: c.op, value: c.value.id, index: c.position.id, dtype: "int64" },
      );
      return { ...c, value: extreme, position };
    }
    const total: Value = { id: recorder.ids.next(), dtype: c.value.dtype };
    reductions.push({ id: total.id, op: c.op, value: c.value.id, dtype: c.value.dtype });
    return { ...c, value: total };
  });
  return { reductions, contributions: results };
}

/**
 * The stage of each member: inner loops number 0, 1, …; an outer member of stage s runs after loop s (−1: before
 * all loops). Writes to inputs wait for the last loop, because any loop may read the old value.
 */
export function stagesOf(
  members: readonly Member[],
  placement: Pick<Placement, "isInput">,
): Map<Member, number> {
  const writers = new Map<BufferId, Member[]>();
  const stages = new Map<Member, number>();
  const copies: Member[] = [];
  for (const member of members) {
    if (placement.isInput(member.computation.target.buffer)) copies.push(member);
    let stage = member.level === "inner" ? 0 : -1;
    for (const { buffer } of member.reads) {
      for (const writer of writers.get(buffer) ?? []) {
        const ready = stages.get(writer) ?? -1;
        const after = member.level === "inner" &&
          (writer.level === "outer" || writer.computation.work.kind === "reduction");
        stage = Math.max(stage, after ? ready + 1 : ready);
      }
    }
    stages.set(member, stage);
    const { buffer } = member.computation.target;
    if (!placement.isInput(buffer)) writers.set(buffer, [...writers.get(buffer) ?? [], member]);
  }
  const last = Math.max(-1, ...stages.values());
  for (const copy of copies) stages.set(copy, copy.level === "inner" ? Math.max(0, last) : last);
  return stages;
}

/** Names each buffer by the one in whose memory it lies. */
const placed = (statements: readonly Statement[], placement: Placement): readonly Statement[] =>
  mapStatements(
    statements,
    (s) => s.kind === "load" || s.kind === "store" ? { ...s, buffer: placement.place(s.buffer) } : s,
  );

function kernelName(members: readonly Member[]): string {
  const targets = new Set<string>();
  for (const { computation } of members) {
    for (const { target } of computation.labels) targets.add(target);
  }
  const plain = [...targets].map((t) => t.replace(/[^A-Za-z0-9_]/g, "_"));
  const shown = plain.length > 6 ? [...plain.slice(0, 5), `${plain.length - 5}_more`] : plain;
  const extern = members[0]?.computation.work.kind === "extern";
  return extern && members.length === 1 ? shown.join("_") : `fused_${shown.join("_")}`;
}

function originsOf(members: readonly Member[]): string[] {
  const origins = new Set<string>();
  for (const { computation } of members) {
    for (const { origin } of computation.labels) {
      if (origin !== undefined) origins.add(origin);
    }
  }
  return [...origins];
}
