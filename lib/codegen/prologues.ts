/**
 * Fuses pointwise kernels into the library calls that consume them, as prologues (a conversion from a small type, a
 * scale, a mask, a transposition). Invariant: nothing between the kernel's old place and the call changes what it
 * reads, not even through shared memory.
 */
import { type DType, itemSize } from "../base/dtype.ts";
import { add, type Dim, floorDiv, mod, mul, type Sym } from "../sym/expr.ts";
import { hintOf, provablyEqual } from "../sym/decide.ts";
import type {
  Axis,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  LoopKernel,
  Program,
  Prologue,
  Statement,
} from "../loops/ir.ts";
import {
  bufferMapping,
  type CanonicalForm,
  canonicalFormOf,
  expectEquivalent,
  recordEquivalent,
} from "../loops/canonical_form.ts";
import { renameBuffers } from "../loops/moved_buffers.ts";
import { axesOf, coefficientOf, substituteIndices, wrapLoops } from "../loops/nest.ts";
import { SCALAR_OPS } from "../loops/scalar.ts";
import { allOf, indirect, usesOf } from "../loops/uses.ts";
import { laidOut } from "../loops/arena.ts";
import type { Target } from "./target.ts";

/** Maximum weight of an element, as the parts of an operand are computed several times. */
const MOST_WEIGHT = 24;
/** Beyond this many rows the columns of a product are recomputed so often that a kernel of their own costs less. */
const MOST_ROWS = 512;
/**
 * The same does not apply to elements up to these weights: bfloat16 read as float32, and float16 with contiguous
 * columns, as in weights. These are converted at no cost, which saves a copy.
 */
const LIGHT = SCALAR_OPS.bfloatToFloat.weight, LIGHT_TURNED = SCALAR_OPS.halfToFloat.weight;

/** Fuses prologues into the library calls of a program. */
export function attachPrologues(program: Program, target: Target): Program {
  const kernels: (Kernel | undefined)[] = [...program.kernels], users = usersOf(program);
  const firsts: FirstPrologues = new Map();
  const attached = program.kernels.map((kernel, at): Kernel => {
    if (kernel.kind === "loops" || !runsPrologues(kernel, program, target)) return kernel;
    const touched = new Set(usesOf(kernel).all);
    const prologues = kernel.inputs.flatMap((view, input) => {
      const rows = kernel.inputs[0]?.shape.at(-2) ?? 1;
      // A second operand is recomputed for every few rows of the result
      const isRepeated = input === 1 && hintOf(rows) > MOST_ROWS;
      const found = isRepeated && target.grid ? undefined : producerOf(view.buffer, at, { program, users });
      const made = found && cachedPrologue(found.kernel, { view, input, firsts });
      if (!found || !made || !keepsSources(found, at, program)) return [];
      if (isRepeated && weightOf(found.kernel.body) > (made.transposed ? LIGHT_TURNED : LIGHT)) return [];
      for (const buffer of usesOf(made.nest).all) touched.add(buffer);
      if (touched.size > target.kernelBuffers) return [];
      kernels[found.at] = undefined;
      return [made];
    });
    return prologues.length === 0 ? kernel : { ...kernel, prologues };
  });
  if (!kernels.includes(undefined)) return program;
  const { guard } = program;
  const left = (end: number) => kernels.slice(0, end).filter((kernel) => kernel !== undefined).length;
  return laidOut({
    ...program,
    kernels: attached.filter((_, at) => kernels[at] !== undefined),
    guard: guard && { ...guard, after: left(guard.after) },
  });
}

function runsPrologues(kernel: ExternKernel, { buffers }: Program, target: Target): boolean {
  const dtypes = [...kernel.inputs, ...kernel.outputs].flatMap(({ buffer }) => buffers[buffer]?.dtype ?? []);
  const support = target.supports(kernel, new Set<DType>(dtypes));
  return support !== "none" && support.prologues;
}

interface Producer {
  readonly at: number;
  readonly kernel: LoopKernel;
}

/** The places of the kernels that mention a buffer. */
type Users = ReadonlyMap<BufferId, readonly number[]>;

function usersOf({ kernels }: Program): Users {
  const users = new Map<BufferId, number[]>();
  for (const [at, kernel] of kernels.entries()) {
    for (const buffer of usesOf(kernel).all) {
      const known = users.get(buffer);
      if (known) known.push(at);
      else users.set(buffer, [at]);
    }
  }
  return users;
}

/** The kernel that writes a temporary which only the call at a place reads, once. */
function producerOf(
  buffer: BufferId,
  call: number,
  { program: { kernels, buffers }, users }: { readonly program: Program; readonly users: Users },
): Producer | undefined {
  if (buffers[buffer]?.role.kind !== "temporary") return undefined;
  const [at = -1, second, ...others] = users.get(buffer) ?? [], first = kernels[at], kernel = kernels[call];
  if (others.length > 0 || second !== call || first?.kind !== "loops") return undefined;
  if (kernel?.kind !== "extern" || kernel.outputs.some((view) => view.buffer === buffer)) return undefined;
  const inside = kernel.epilogue && usesOf(kernel.epilogue).all.has(buffer);
  const reads = kernel.inputs.filter((view) => view.buffer === buffer);
  return inside || reads.length !== 1 ? undefined : { at, kernel: first };
}

/** Returns whether the inputs of a kernel are unchanged when a later call runs. */
function keepsSources({ at, kernel }: Producer, call: number, program: Program): boolean {
  const { guard, kernels } = program;
  if (guard && at < guard.after && guard.after <= call) return false;
  const read = new Set(usesOf(kernel).all);
  for (const id of usesOf(kernel).written) read.delete(id);
  return kernels.slice(at + 1, call + 1).every((between) =>
    [...usesOf(between).written].every((id) => [...read].every((source) => areApart(source, id, program)))
  );
}

/** Returns whether writing one buffer leaves another unchanged. Inputs may share memory. */
function areApart(read: BufferId, written: BufferId, { buffers }: Program): boolean {
  const [a, b] = [buffers[read], buffers[written]];
  if (!a || !b || read === written) return false;
  if (a.role.kind !== b.role.kind) return true;
  if (a.role.kind !== "temporary" || b.role.kind !== "temporary") return a.role.kind === "output";
  const [from, to] = [a.role.offset, b.role.offset];
  const [fromSize, toSize] = [a, b].map(({ length, dtype }) => mul(length, itemSize(dtype)));
  if (typeof from !== "number" || typeof to !== "number") return false;
  if (typeof fromSize !== "number" || typeof toSize !== "number") return false;
  return from + fromSize <= to || to + toSize <= from;
}

/** The parallel loops of a pointwise kernel, and their body; undefined for other kernels, and for costly ones. */
function pointwiseNest(
  kernel: LoopKernel,
): { readonly axes: readonly Axis[]; readonly body: readonly Statement[] } | undefined {
  const axes: Axis[] = [];
  let { body } = kernel;
  for (let [loop] = body; body.length === 1 && loop?.kind === "loop"; [loop] = body) {
    if (loop.order !== "parallel") return undefined;
    axes.push(loop.axis);
    body = loop.body;
  }
  return body.every(isPointwise) && weightOf(body) <= MOST_WEIGHT ? { axes, body } : undefined;
}

const isPointwise = (s: Statement): boolean =>
  s.kind !== "loop" && (s.kind !== "store" || s.mode === "set") &&
  (s.kind !== "masked" || s.body.every((inner) => inner.kind !== "store" && isPointwise(inner)));

function weightOf(body: readonly Statement[]): number {
  return allOf(body).reduce((sum, s) => s.kind === "scalar" ? sum + SCALAR_OPS[s.op].weight : sum, 0);
}

/** The prologue of the first of several equivalent kernels. */
interface FirstPrologue {
  readonly canonical: CanonicalForm;
  readonly prologue: Prologue | undefined;
}

/** First prologues by canonical form and operand. */
type FirstPrologues = Map<object, Map<string, FirstPrologue>>;

/** The prologue of an input that a kernel computes, built once for equivalent kernels. */
function cachedPrologue(
  kernel: LoopKernel,
  { view, input, firsts }: {
    readonly view: BufferView;
    readonly input: number;
    readonly firsts: FirstPrologues;
  },
): Prologue | undefined {
  const canonical = canonicalFormOf(kernel.body);
  if (!canonical) return prologueOf(kernel, view, input);
  const known = firsts.get(canonical.kind) ?? new Map<string, FirstPrologue>();
  firsts.set(canonical.kind, known);
  const sizes = [view.offset, ...view.shape, ...view.strides];
  const key = [input, ...sizes.map((each) => typeof each === "number" ? each : `#${each.id}`)].join();
  const first = known.get(key);
  if (!first) {
    const prologue = prologueOf(kernel, view, input);
    if (prologue) expectEquivalent(prologue.nest.body);
    known.set(key, { canonical, prologue });
    return prologue;
  }
  if (!first.prologue) return undefined;
  const { nest } = first.prologue, place = bufferMapping(first.canonical, canonical, (id) => id);
  const body = renameBuffers(nest.body, place);
  recordEquivalent(nest.body, body, place);
  return { ...first.prologue, nest: { ...kernel, name: `${kernel.name}_prologue`, body } };
}

/** The prologue of an input that a kernel computes. */
function prologueOf(kernel: LoopKernel, view: BufferView, input: number): Prologue | undefined {
  const nest = pointwiseNest(kernel), stores = nest?.body.filter((s) => s.kind === "store") ?? [];
  const [store] = stores, rank = view.shape.length;
  if (!nest || !store || stores.length !== 1 || rank < 2 || rank > 3) return undefined;
  // An element that the call reads several times is computed only once, into memory
  if (view.strides.some((stride, d) => stride === 0 && view.shape[d] !== 1)) return undefined;
  const axes = axesOf(view.shape, "o");
  const place = view.strides.reduce<Dim>(
    (at, stride, d) => add(at, mul(stride, axes[d]?.symbol ?? 0)),
    view.offset,
  );
  const places = placesIn(store.index, nest.axes, place);
  if (!places) return undefined;
  const body = substituteIndices(nest.body, (symbol) => places.get(symbol) ?? symbol).map((s): Statement =>
    s.kind === "store" ? { ...s, index: place } : s
  );
  const reads = [...allOf(body)].flatMap((s) => s.kind === "load" || s.kind === "index" ? [s.index] : []);
  const linear = reads.every((index) =>
    indirect(index).length === 0 && axes.every(({ symbol }) => coefficientOf(index, symbol) !== undefined)
  );
  if (!linear) return undefined;
  // The dimension with adjacent elements is the innermost loop
  const [last, before] = [axes[rank - 1], axes[rank - 2]];
  const runs = (axis: Axis | undefined) =>
    axis !== undefined && reads.every((index) => {
      const step = coefficientOf(index, axis.symbol);
      return step === 0 || step === 1;
    });
  const transposed = !runs(last);
  if (!last || !before || (transposed && !runs(before))) return undefined;
  const order = [...axes.slice(0, rank - 2), ...(transposed ? [last, before] : [before, last])];
  const loops = wrapLoops(order, body);
  return { input, transposed, nest: { ...kernel, name: `${kernel.name}_prologue`, body: loops } };
}

/** The counters of loops that walk a buffer in row-major order, for the element at a place. */
function placesIn(index: Dim, axes: readonly Axis[], place: Dim): ReadonlyMap<Sym, Dim> | undefined {
  const strided = axes.map((axis) => ({ axis, stride: coefficientOf(index, axis.symbol) ?? 0 }));
  const places = new Map<Sym, Dim>();
  let left = strided, step: Dim = 1;
  while (left.length > 0) {
    const next = left.find(({ stride }) => stride === step || provablyEqual(stride, step) === true);
    if (!next) return undefined;
    left = left.filter((each) => each !== next);
    const quotient = floorDiv(place, step);
    places.set(next.axis.symbol, left.length === 0 ? quotient : mod(quotient, next.axis.size));
    step = mul(step, next.axis.size);
  }
  const walked = strided.reduce<Dim>((sum, { axis, stride }) => add(sum, mul(stride, axis.symbol)), 0);
  return walked === index ? places : undefined;
}
