/**
 * Splits long reductions with few results into two kernels, so that a grid has work for all its workgroups: the first
 * computes partial results in temporaries, the second combines them. Invariant: the split follows from the sizes
 * known at compile time, and never changes which of several equal extremes is found.
 */
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, floorDiv, mul, product } from "../sym/expr.ts";
import type { Kernel, Loop, LoopKernel, Program, Reduction, Statement } from "../loops/ir.ts";
import { isPosition } from "../loops/ir.ts";
import { loopOver, storeOf } from "../loops/nest.ts";
import { usesOf } from "../loops/uses.ts";
import { nextId, valueTypes } from "../loops/value_types.ts";
import { axisOf, stripMine } from "./strip_mining.ts";
import { sharesColumns } from "./grid.ts";
import { type MakeTemporary, replaceWithTemporaries } from "./kernels.ts";
import { inLoops, type Nest } from "./nests.ts";
import type { Grid, Target } from "./target.ts";

/** Minimum number of elements per invocation that are worth a part. */
const WORTH_IT = 32;

/** Invocations that keep a workgroup busy if each has results of its own. */
const ALONE = 64;

/** Splits the reductions of a program for a target with a grid. */
export function gridReductions(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const found = kernel.kind === "loops" && usesOf(kernel).all.size < kernelBuffers
      ? longReduction(kernel, grid)
      : undefined;
    return found ? inTwo(found, temporary) : [kernel];
  });
}

/** A reduction to split, and the loops around it. */
export interface CutReduction {
  readonly kernel: LoopKernel;
  /** The parallel loops around it, from the outermost. */
  readonly around: readonly Loop[];
  readonly before: readonly Statement[];
  readonly loop: Loop;
  readonly after: readonly Statement[];
  /** Iterations of a part, and the number of parts if it is less than the length of the loop allows. */
  readonly length: Dim;
  readonly parts?: number;
  /** Whether corresponding parts of neighbouring results are adjacent. Absent: the parts of one result are. */
  readonly interleaved?: boolean;
}

/** The reduction of a kernel, if splitting it is worth it. */
function longReduction(kernel: LoopKernel, grid: Grid): CutReduction | undefined {
  const around: Loop[] = [];
  let level = kernel.body;
  for (;;) {
    const [only] = level;
    if (level.length !== 1 || only?.kind !== "loop" || only.order !== "parallel") break;
    around.push(only);
    level = only.body;
  }
  const loops = level.filter((s) => s.kind === "loop"), [loop] = loops;
  if (loops.length !== 1 || loop?.order !== "reduction" || loop.carried.length > 0) return undefined;
  if (loop.reductions.some((r) => r.dtype === "bool") || !level.every((s) => s === loop || isPlain(s))) {
    return undefined;
  }
  const at = level.indexOf(loop), before = level.slice(0, at);
  if (before.some((s) => s.kind === "store")) return undefined;
  const results = hintOf(product(around.map(({ axis }) => axis.size)));
  const length = hintOf(loop.axis.size), elements = length * elementsOf(loop.body);
  const interleaved = around.some(({ vector }) => vector);
  const [wanted, each] = interleaved
    ? partsOfColumns({ loops: around, body: level }, { results, elements, grid })
    : [grid.groups / Math.max(1, results), grid.elements];
  const most = Math.min(length, Math.floor(elements / each), Math.ceil(wanted));
  const parts = evenParts(loop.axis.size, most);
  if (parts < 2) return undefined;
  const partLength = floorDiv(add(loop.axis.size, parts - 1), parts);
  return { kernel, around, before, loop, after: level.slice(at + 1), length: partLength, parts, interleaved };
}

/**
 * The number of parts of adjacent results that keeps a device busy, and the minimum number of elements of a part. A
 * workgroup that has several results needs many elements of each to be busy; if it has one result per invocation,
 * another workgroup combines its parts.
 */
function partsOfColumns(
  nest: Nest,
  { results, elements, grid }: { readonly results: number; readonly elements: number; readonly grid: Grid },
): readonly [wanted: number, each: number] {
  const together = sharesColumns(nest, grid)?.points?.count;
  if (together) return [grid.groups / 2 * together / results, WORTH_IT * grid.invocations / together];
  if (elements < 2 * WORTH_IT) return [1, 1];
  return [
    grid.groups * ALONE / Math.max(1, results),
    Math.max(2, Math.min(grid.elements / ALONE, Math.sqrt(elements))),
  ];
}

/** The wanted number of parts, or somewhat more if these then are equal and consist of whole vectors. */
export function evenParts(length: Dim, wanted: number): number {
  if (typeof length !== "number" || wanted < 2) return wanted;
  for (let parts = wanted; parts < 2 * wanted; parts++) if (length % (4 * parts) === 0) return parts;
  return wanted;
}

const isPlain = (s: Statement): boolean =>
  s.kind !== "loop" && (s.kind !== "masked" || s.body.every(isPlain));

/** Iterations of the loops in a body, as far as known. */
function elementsOf(body: readonly Statement[]): number {
  return body.reduce(
    (most, s) =>
      s.kind === "loop" ? Math.max(most, Math.max(1, hintOf(s.axis.size)) * elementsOf(s.body)) : most,
    1,
  );
}

/** The kernel that computes partial results, and the one that combines them in order. */
export function inTwo(
  { kernel, around, before, loop, after, length, parts: given, interleaved }: CutReduction,
  temporary: MakeTemporary,
): readonly Kernel[] {
  const types = valueTypes(kernel.body);
  let next = nextId(kernel.body);
  const fresh = () => next++;
  const { axis: part, part: cut } = stripMine(loop, length, given), parts = part.size;
  const again = axisOf("q", parts);
  const count = product(around.map(({ axis }) => axis.size));
  const place = around.reduce<Dim>((at, { axis }) => add(mul(at, axis.size), axis.symbol), 0);
  const firsts: Reduction[] = [],
    stores: Statement[] = [],
    loads: Statement[] = [],
    seconds: Reduction[] = [];
  /** Records a partial result, and how the second kernel reads it. */
  const partial = (first: Reduction): number => {
    const buffer = temporary(first.dtype, mul(count, parts)), id = fresh();
    const at = (p: Dim): Dim => interleaved ? add(mul(p, count), place) : add(mul(place, parts), p);
    firsts.push(first);
    stores.push(storeOf(buffer, at(part.symbol), first.id));
    loads.push({ kind: "load", id, buffer, index: at(again.symbol), dtype: first.dtype });
    return id;
  };
  for (const r of loop.reductions) {
    if (!isPosition(r.op)) {
      seconds.push({ ...r, value: partial(r) });
      continue;
    }
    const op = r.op === "argmax" ? "max" : "min", dtype = types.get(r.value) ?? "float32";
    const extreme = partial({ id: fresh(), op, value: r.value, dtype });
    seconds.push({ ...r, value: extreme, index: partial({ ...r, id: fresh() }) });
  }
  const first = inLoops(around, [loopOver(part, [...before, { ...cut, reductions: firsts }, ...stores])]);
  const combine = loopOver(again, loads, { order: "reduction", reductions: seconds });
  const second = inLoops(around, [...before, combine, ...after]);
  return [{ ...kernel, name: `${kernel.name}_parts`, body: first }, { ...kernel, body: second }];
}
