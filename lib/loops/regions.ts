/**
 * Calls of regions in programs: the kernels of equal layers are scheduled, laid out and transformed once, and put in
 * place of the calls afterwards. Invariant: a program with its calls expanded computes the same, on the same inputs and
 * outputs; the temporaries of a call lie in its arena, a temporary of the calling program.
 */
import { InternalError } from "../base/errors.ts";
import { add, ceilDiv, type Dim, mul, type Sym } from "../sym/expr.ts";
import { laidOut } from "./arena.ts";
import { flatForm, LENGTH } from "./flat_form.ts";
import type {
  Blocks,
  BufferDecl,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  KernelTable,
  Program,
  RegionOp,
  Rows,
} from "./ir.ts";
import { kernelGroups } from "./kernel_groups.ts";
import { copiedKernel } from "./moved_kernel.ts";
import { usesOf } from "./uses.ts";

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

/** Creates the call of a region on rows of inputs. */
export function rowsKernel(program: Program, rows: Rows, arena: BufferId | undefined): RegionKernel {
  const lengths = program.inputs.map((id) => program.buffers[id]?.length ?? 0);
  return {
    kind: "extern",
    name: program.name,
    call: { op: "region", program, rows: rows.length },
    inputs: rows.flatMap((row) => row.map((buffer, at) => whole(buffer, lengths[at] ?? 0))),
    outputs: arena === undefined ? [] : [whole(arena, arenaOfRows(program, rows.length))],
    origins: [],
  };
}

/** A whole buffer as an operand. */
const whole = (buffer: BufferId, length: Dim): BufferView => ({
  buffer,
  offset: 0,
  shape: [length],
  strides: [1],
});

/** Bytes of the arena of a region: a place for each row. */
export const arenaOfRows = (program: Program, rows: number): Dim => mul(rows, placeOfRow(program));

/** Bytes between the places of two rows in an arena. */
const placeOfRow = ({ arenaBytes }: Program): Dim => mul(64, ceilDiv(arenaBytes, 64));

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
interface Expansion {
  /** The program whose kernels replace the calls of one; by default the program itself, expanded. */
  readonly inner?: (program: Program) => Program;
  /** Returns whether a call is expanded; by default all are. */
  readonly which?: (kernel: RegionKernel) => boolean;
  /** Whether the runs of a kernel on several rows are one kernel where possible; by default each is one. */
  readonly tables?: boolean;
}

/**
 * A program with the kernels of its regions in place of their calls. Those of neighbouring calls over rows take turns:
 * the first kernels of all rows, then the second ones.
 */
export function expandRegions(
  given: Program,
  { inner = expandRegions, which = () => true, tables = false }: Expansion = {},
): Program {
  const expands = (kernel: Kernel): kernel is RegionKernel => isRegion(kernel) && which(kernel);
  if (!given.kernels.some(expands)) return given;
  const program = withArenas(given, expands, inner), buffers = [...program.buffers];
  const kernelsFor = (kernel: Kernel): Kernel[][] => {
    if (!expands(kernel)) return [[kernel]];
    const made = inner(kernel.call.program);
    return kernel.call.rows === undefined
      ? kernelsOf(kernel, made, buffers).map((each) => [each])
      : kernelsOfRows(kernel, made, { buffers, tables });
  };
  const parts = kernelGroups(program.kernels).flatMap((group): Kernel[][] => {
    const calls = group.map(kernelsFor), turns = Math.max(...calls.map(({ length }) => length));
    const all = Array.from({ length: turns }, (_, turn) => calls.flatMap((call) => call[turn] ?? [])).flat();
    return group.map((_, at) => at === 0 ? all : []);
  });
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
    const region = inner(kernel.call.program), { rows } = kernel.call, arena = arenaOf(kernel);
    for (const size of region.sizes) sizes.add(size);
    const arenaBytes = rows === undefined ? region.arenaBytes : arenaOfRows(region, rows);
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
  const { inputs, outputs, originals } = kernel, start = startOf(arenaOf(kernel), buffers);
  const viewed = (ids: readonly BufferId[], views: readonly BufferView[]) =>
    ids.flatMap((id, at) => views[at] ? [[id, views[at].buffer] as const] : []);
  const places = new Map([...viewed(made.inputs, inputs), ...viewed(made.outputs, outputs)]);
  return copiesOf(made.kernels, placesIn(made, { places, start, buffers }), originals);
}

/**
 * The same for a call over rows: for each kernel its runs, or one kernel over a table if all are one function and
 * `tables` asks for it.
 */
function kernelsOfRows(
  kernel: RegionKernel,
  made: Program,
  { buffers, tables }: { readonly buffers: BufferDecl[]; readonly tables: boolean },
): Kernel[][] {
  const { inputs, originals, call: { rows = 1 } } = kernel, start = startOf(arenaOf(kernel), buffers);
  const width = made.inputs.length, placeOfNext = placeOfRow(made);
  const placesOf = Array.from({ length: rows }, (_, row) => {
    const places = new Map(
      made.inputs.flatMap((id, at) => {
        const view = inputs[row * width + at];
        return view ? [[id, view.buffer] as const] : [];
      }),
    );
    return placesIn(made, {
      places,
      start: start === undefined ? undefined : add(start, mul(row, placeOfNext)),
      buffers,
    });
  });
  const copies = (kernels: readonly Kernel[]) =>
    placesOf.flatMap((place) => copiesOf(kernels, place, originals));
  // Kernels that run by the same blocks stay neighbours
  if (made.kernels.some(({ blocks }) => blocks)) return [copies(made.kernels)];
  const isLocal = (id: BufferId) => made.buffers[id]?.role.kind === "local";
  return made.kernels.map((each): Kernel[] => {
    const own = [...usesOf(each).all];
    if (!tables || flatForm(each, (id) => made.buffers[id]?.dtype) === null || own.some(isLocal)) {
      return copies([each]);
    }
    // The statements name the columns, which are other buffers in the first row
    const all = placesOf.map((place) => ({ place, row: own.map(place) }));
    const first = all.find(({ row }) => new Set(row).size === row.length);
    if (!first) return copies([each]);
    const table: KernelTable = { length: LENGTH };
    const rows = [first.row, ...all.flatMap((each) => each === first ? [] : [each.row])];
    return copiesOf([each], first.place, originals).map((made) =>
      made.kind === "loops" ? { ...made, table, rows } : made
    );
  });
}

/** The place of an arena in that of its program. */
function startOf(arena: BufferView | undefined, buffers: readonly BufferDecl[]): Dim | undefined {
  const role = arena && buffers[arena.buffer]?.role;
  return role?.kind === "temporary" ? role.offset : undefined;
}

/** Maps buffers of a region's program to those of its call; temporaries and local ones are added to `buffers`. */
function placesIn(
  made: Program,
  { places, start, buffers }: {
    readonly places: Map<BufferId, BufferId>;
    /** The place of its arena. */
    readonly start: Dim | undefined;
    readonly buffers: BufferDecl[];
  },
): (id: BufferId) => BufferId {
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
  return place;
}

/** Copies of a region's kernels. */
function copiesOf(
  kernels: readonly Kernel[],
  place: (id: BufferId) => BufferId,
  [first = 0]: readonly number[] = [],
): Kernel[] {
  // Calls do not share blocks
  const blocks = new Map<Blocks, Blocks>();
  const own = (each: Blocks): Blocks => {
    const known = blocks.get(each) ?? { ...each };
    blocks.set(each, known);
    return known;
  };
  return kernels.map((each): Kernel => {
    const { originals, blocks } = each;
    return {
      ...copiedKernel(each, (id) => ({ buffer: place(id), offset: 0 })),
      ...(blocks ? { blocks: own(blocks) } : {}),
      ...(originals ? { originals: originals.map((at) => first + at) } : {}),
    };
  });
}
