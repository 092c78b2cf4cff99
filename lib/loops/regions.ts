/**
 * Calls of regions in programs: the kernels of equal layers are scheduled, laid out and transformed once, and put in
 * place of the calls afterwards. Invariant: a program with its calls expanded computes the same, on the same inputs and
 * outputs; the temporaries of a call lie in its arena, a temporary of the calling program.
 */
import { InternalError } from "../base/errors.ts";
import { add, type Dim, type Sym } from "../sym/expr.ts";
import { laidOut } from "./arena.ts";
import type {
  Blocks,
  BufferDecl,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  Program,
  RegionOp,
} from "./ir.ts";
import { copiedKernel } from "./moved_kernel.ts";

/** A call of a region. */
export type RegionKernel = ExternKernel & { readonly call: RegionOp };

/** Returns whether a kernel is the call of a region. */
export function isRegion(kernel: Kernel): kernel is RegionKernel {
  return kernel.kind === "extern" && kernel.call.op === "region";
}

/** Creates the call of a region; `place` maps its inputs and outputs to buffers, `arena` holds its temporaries. */
export function regionKernel(
  program: Program,
  place: (id: BufferId) => BufferId,
  arena: BufferId | undefined,
): RegionKernel {
  const whole = (buffer: BufferId, length: Dim): BufferView => ({
    buffer,
    offset: 0,
    shape: [length],
    strides: [1],
  });
  const view = (id: BufferId) => whole(place(id), program.buffers[id]?.length ?? 0);
  return {
    kind: "extern",
    name: program.name,
    call: { op: "region", program },
    inputs: program.inputs.map(view),
    outputs: [
      ...program.outputs.map(view),
      ...(arena === undefined ? [] : [whole(arena, program.arenaBytes)]),
    ],
    origins: [],
  };
}

/** Number of kernels of a program, those of its regions included. */
export function kernelCount({ kernels }: Program): number {
  return kernels.reduce(
    (count, kernel) => count + (isRegion(kernel) ? kernelCount(kernel.call.program) : 1),
    0,
  );
}

/** Kernels or their costs under unique names. */
export function uniqueNames<T extends { readonly name: string }>(named: readonly T[]): T[] {
  const used = new Set<string>(), counts = new Map<string, number>();
  return named.map((each) => {
    let count = counts.get(each.name) ?? 0, { name } = each;
    while (used.has(name)) name = `${each.name}_${++count}`;
    counts.set(each.name, count);
    used.add(name);
    return name === each.name ? each : { ...each, name };
  });
}

/** How calls are expanded. */
export interface Expansion {
  /** The program whose kernels replace the calls of one; by default the program itself, expanded. */
  readonly inner?: (program: Program) => Program;
  /** Returns whether a call is expanded; by default all are. */
  readonly which?: (kernel: RegionKernel) => boolean;
}

/** A program with the kernels of its regions in place of their calls. */
export function expandRegions(
  given: Program,
  { inner = expandRegions, which = () => true }: Expansion = {},
): Program {
  const expands = (kernel: Kernel): kernel is RegionKernel => isRegion(kernel) && which(kernel);
  if (!given.kernels.some(expands)) return given;
  const program = withArenas(given, expands, inner), buffers = [...program.buffers];
  const parts = program.kernels.map((kernel) =>
    expands(kernel) ? kernelsOf(kernel, inner(kernel.call.program), buffers) : [kernel]
  );
  const { guard } = program;
  return {
    ...program,
    buffers,
    kernels: uniqueNames(parts.flat()),
    ...(guard ? { guard: { ...guard, after: parts.slice(0, guard.after).flat().length } } : {}),
  };
}

/** The program with arenas as large as the expanded calls need. */
function withArenas(
  program: Program,
  expands: (kernel: Kernel) => kernel is RegionKernel,
  inner: (program: Program) => Program,
): Program {
  const buffers = [...program.buffers], sizes = new Set<Sym>(program.sizes);
  let changes = false;
  const kernels = program.kernels.map((kernel): Kernel => {
    if (!expands(kernel)) return kernel;
    const { arenaBytes, sizes: own } = inner(kernel.call.program), arena = arenaOf(kernel);
    for (const size of own) sizes.add(size);
    const known = arena && buffers[arena.buffer];
    if ((known?.length ?? 0) === arenaBytes) return kernel;
    changes = true;
    if (arena && known) {
      buffers[arena.buffer] = { ...known, length: arenaBytes };
      return kernel;
    }
    const role = { kind: "temporary", offset: 0 } as const;
    const made = buffers.push({ name: "arena", dtype: "uint8", length: arenaBytes, role }) - 1;
    const view = { buffer: made, offset: 0, shape: [arenaBytes], strides: [1] };
    return { ...kernel, outputs: [...kernel.outputs, view] };
  });
  return changes ? laidOut({ ...program, buffers, kernels, sizes: [...sizes] }) : program;
}

/** The memory of a call's temporaries. */
function arenaOf({ call, outputs }: RegionKernel): BufferView | undefined {
  return outputs[call.program.outputs.length];
}

/** The kernels of a call, whose temporaries and local buffers are added to `buffers`. */
function kernelsOf(kernel: RegionKernel, made: Program, buffers: BufferDecl[]): Kernel[] {
  const { inputs, outputs, originals: [first = 0] = [] } = kernel, arena = arenaOf(kernel);
  const role = arena && buffers[arena.buffer]?.role;
  const start = role?.kind === "temporary" ? role.offset : undefined;
  const viewed = (ids: readonly BufferId[], views: readonly BufferView[]) =>
    ids.flatMap((id, at) => views[at] ? [[id, views[at].buffer] as const] : []);
  const places = new Map([...viewed(made.inputs, inputs), ...viewed(made.outputs, outputs)]);
  const place = (id: BufferId): BufferId => {
    const known = places.get(id), buffer = made.buffers[id];
    if (known !== undefined) return known;
    if (!buffer) throw new InternalError(`Expected a buffer b${id} of ${made.name}`);
    places.set(id, buffers.push(moved(buffer)) - 1);
    return buffers.length - 1;
  };
  const moved = (buffer: BufferDecl): BufferDecl => {
    if (buffer.role.kind === "local") return buffer;
    if (buffer.role.kind !== "temporary" || start === undefined) {
      throw new InternalError(`Expected memory for ${buffer.name} of ${made.name}`);
    }
    return { ...buffer, role: { kind: "temporary", offset: add(start, buffer.role.offset) } };
  };
  // Calls do not share blocks
  const blocks = new Map<Blocks, Blocks>();
  const own = (each: Blocks): Blocks => {
    const known = blocks.get(each) ?? { ...each };
    blocks.set(each, known);
    return known;
  };
  return made.kernels.map((each): Kernel => {
    const { originals, blocks } = each;
    return {
      ...copiedKernel(each, (id) => ({ buffer: place(id), offset: 0 })),
      ...(blocks ? { blocks: own(blocks) } : {}),
      ...(originals ? { originals: originals.map((at) => first + at) } : {}),
    };
  });
}
