/**
 * Makes windows of buffers separate buffers, so that kernels that read one buffer at different offsets (random keys of
 * a layer, steps of a sequence) become one kernel over different buffers, which is printed once. Invariant: windows are
 * read-only, and buffers that few kernels read at different offsets have none.
 */
import { InternalError } from "../base/errors.ts";
import { accessesOf, usesOf } from "../loops/uses.ts";
import type {
  BufferDecl,
  BufferId,
  BufferView,
  Kernel,
  LoopKernel,
  Program,
  Statement,
} from "../loops/ir.ts";
import { mapStatements } from "../loops/map_statements.ts";
import { cachedAnalysis, cachedBufferAnalysis } from "../loops/canonical_form.ts";
import { boundsOf, type Dim, sub } from "../sym/expr.ts";
import { replaceKernels, withNests } from "./kernels.ts";
import type { Target } from "./target.ts";

/** Number of offsets of a buffer, besides its start, from which on kernels get windows. */
const MANY = 7;

/** Windows start at multiples of four elements if vectors are read there. */
const stepOf = ({ grid }: Target): number => grid?.vectors ? 4 : 1;

/** Introduces windows in the kernels of a program. */
export function windowsOfBuffers(program: Program, target: Target): Program {
  const places = new Map<BufferId, Set<number>>();
  const firsts = new Map<Kernel, Map<BufferId, number>>();
  for (const kernel of program.kernels) {
    if (!readsInside(kernel)) continue;
    const first = firstPlaces(kernel, stepOf(target));
    for (const [id, place] of first) {
      if (place === 0 || program.buffers[id]?.role.kind === "local") first.delete(id);
      else places.set(id, (places.get(id) ?? new Set()).add(place));
    }
    firsts.set(kernel, first);
  }
  const buffers: BufferDecl[] = [...program.buffers], made = new Map<string, BufferId>();
  const windowOn = (of: BufferId, from: number): BufferId => {
    const key = `${of} ${from}`, known = made.get(key), buffer = buffers[of];
    if (known !== undefined) return known;
    if (!buffer) throw new InternalError(`Expected a buffer b${of} but found none`);
    const { name, dtype, length } = buffer;
    const window = { name, dtype, length: sub(length, from), role: { kind: "window", of, from } } as const;
    made.set(key, buffers.push(window) - 1);
    return buffers.length - 1;
  };
  const windowed = replaceKernels(program, (kernel) => {
    const moved = [...firsts.get(kernel) ?? []].filter(([buffer]) => (places.get(buffer)?.size ?? 0) >= MANY);
    if (moved.length === 0) return [kernel];
    return [
      through(kernel, new Map(moved.map(([buffer, from]) => [buffer, { from, id: windowOn(buffer, from) }]))),
    ];
  });
  return made.size === 0 ? program : { ...windowed, buffers };
}

/** Returns whether a kernel may read a buffer from another element than the first on. */
function readsInside(kernel: Kernel): boolean {
  if (kernel.kind === "loops") return !kernel.rows && loadsInside(kernel.body);
  const { inputs, epilogue, prologues = [] } = kernel,
    nests = [epilogue, ...prologues.map(({ nest }) => nest)];
  return inputs.some(({ offset }) => leastOf(offset) > 0) ||
    nests.some((nest) => nest && loadsInside(nest.body));
}

const loadsInside = cachedAnalysis((body) =>
  accessesOf(body).some((s) => s.kind === "load" && leastOf(s.index) > 0)
);

/** Returns the first element that a kernel reads of each buffer that it does not write. */
function firstPlaces(kernel: Kernel, step: number): Map<BufferId, number> {
  const found = new Map<BufferId, number>(), others = new Set(usesOf(kernel).written);
  const see = (buffer: BufferId, place: number) =>
    void found.set(buffer, Math.min(found.get(buffer) ?? Infinity, place));
  const visit = ({ body }: LoopKernel): void =>
    visitReads(body, (buffer, place) => {
      if (place === null) others.add(buffer);
      else see(buffer, place);
    });
  if (kernel.kind === "loops") visit(kernel);
  else {
    for (const { buffer, offset } of kernel.inputs) see(buffer, leastOf(offset));
    withNests(kernel, (nest) => (visit(nest), nest));
  }
  for (const buffer of others) found.delete(buffer);
  return new Map(found.entries().map(([buffer, place]) => [buffer, place - place % step]));
}

/** The least offset at which statements read each buffer; null if they use the buffer in other ways. */
const visitReads = cachedBufferAnalysis((body) => {
  const found = new Map<BufferId, number | null>();
  const see = (buffer: BufferId, place: number | null): void => {
    const known = found.get(buffer) ?? Infinity;
    found.set(buffer, found.get(buffer) === null || place === null ? null : Math.min(known, place));
  };
  const visit = (list: readonly Statement[]): void => {
    for (const s of list) {
      if (s.kind === "load") see(s.buffer, leastOf(s.index));
      else if (s.kind === "store") see(s.buffer, null);
      else if (s.kind === "masked") visit(s.body);
      else if (s.kind === "loop") {
        visit(s.body);
        for (const { values, positions } of s.folds ?? []) {
          for (const each of [values, positions]) if (each) see(each.buffer, null);
        }
      }
    }
  };
  visit(body);
  return found;
});

/** The least value of an index; 0 if unknown. */
function leastOf(index: Dim): number {
  const [least] = boundsOf(index);
  return Math.max(0, least);
}

/** A kernel that reads some buffers through windows. */
function through(
  kernel: Kernel,
  windows: ReadonlyMap<BufferId, { readonly from: number; readonly id: BufferId }>,
): Kernel {
  const statements = (body: readonly Statement[]) =>
    mapStatements(body, (s) => {
      const window = s.kind === "load" ? windows.get(s.buffer) : undefined;
      return s.kind === "load" && window ? { ...s, buffer: window.id, index: sub(s.index, window.from) } : s;
    });
  const nest = (each: LoopKernel): LoopKernel => ({ ...each, body: statements(each.body) });
  if (kernel.kind === "loops") return nest(kernel);
  const view = (each: BufferView): BufferView => {
    const window = windows.get(each.buffer);
    return window ? { ...each, buffer: window.id, offset: sub(each.offset, window.from) } : each;
  };
  return { ...withNests(kernel, nest), inputs: kernel.inputs.map(view) };
}
