/**
 * Splits long scans with few results into three kernels, so that a grid has work for all its workgroups: the first reduces
 * each part, the second scans the totals, the third scans each part from the total of the preceding ones. Invariant: the
 * split follows from the sizes known at compile time.
 */
import { hintOf } from "../sym/decide.ts";
import { add, ceilDiv, type Dim, mul, product } from "../sym/expr.ts";
import type { Kernel, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { loopOver, storeOf } from "../loops/nest.ts";
import { scansOf } from "../loops/scans.ts";
import { usesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { axisOf, stripMine } from "./strip_mining.ts";
import { evenParts } from "./grid_reductions.ts";
import { type MakeTemporary, replaceWithTemporaries } from "./kernels.ts";
import { inLoops, nestOf } from "./nests.ts";
import type { Grid, Target } from "./target.ts";

/** The least elements of a part of a row, for a workgroup, and of a part of results side by side, for an invocation. */
const LEAST = { row: 1 << 12, column: 128 } as const;

/** Cuts the scans of a program for a target with a grid. */
export function gridScans(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const fits = kernel.kind === "loops" && usesOf(kernel).all.size < kernelBuffers;
    return (fits ? inThree(kernel, grid, temporary) : undefined) ?? [kernel];
  });
}

function inThree(kernel: LoopKernel, grid: Grid, temporary: MakeTemporary): readonly Kernel[] | undefined {
  const { loops: around, body } = nestOf(kernel.body), loop = body.at(-1), before = body.slice(0, -1);
  const found = loop?.kind === "loop" ? scansOf(loop) : undefined;
  if (loop?.kind !== "loop" || !found || before.some((s) => s.kind === "loop" || s.kind === "store")) {
    return undefined;
  }
  const length = loop.axis.size,
    count = product(around.map(({ axis }) => axis.size)),
    results = hintOf(count);
  const isColumn = around.some(({ vector }) => vector);
  const wanted = isColumn
    ? Math.min(grid.groups * 64 / results, Math.sqrt(hintOf(length)), hintOf(length) / LEAST.column)
    : Math.min(grid.groups / results, hintOf(length) / LEAST.row);
  const parts = evenParts(length, Math.floor(wanted));
  if (parts < 2) return undefined;
  const { axis: part, part: cut } = stripMine(loop, ceilDiv(length, parts), parts),
    again = axisOf("q", parts);
  const place = around.reduce<Dim>((at, { axis }) => add(mul(at, axis.size), axis.symbol), 0);
  const at = (p: Dim): Dim => isColumn ? add(mul(p, count), place) : add(mul(place, parts), p);
  let next = nextId(kernel.body);
  const inScans = found.scans.map(({ carried: { id, initial, dtype }, op, reduction, value }) => {
    const [totals, starts] = [temporary(dtype, mul(count, parts)), temporary(dtype, mul(count, parts))];
    const [total, start, sum] = [next++, next++, next++];
    return {
      reduction: { id: total, op: reduction, value, dtype },
      putTotal: storeOf(totals, at(part.symbol), total),
      // The total of the preceding parts
      starts: [
        { kind: "load", id: total, buffer: totals, index: at(again.symbol), dtype },
        storeOf(starts, at(again.symbol), id),
        { kind: "scalar", id: sum, op, args: [id, total], dtype },
      ] satisfies readonly Statement[],
      carried: { id, initial, next: sum, dtype },
      getStart: { kind: "load", id: start, buffer: starts, index: at(part.symbol), dtype } as const,
      start,
    };
  });
  const first = scansOf(cut)?.first ?? [];
  const parted = (name: string, inner: readonly Statement[]): Kernel => ({
    ...kernel,
    name: `${kernel.name}_${name}`,
    body: inLoops(around, inner),
  });
  return [
    parted("parts", [
      loopOver(part, [
        ...before,
        { ...cut, order: "reduction", carried: [], body: first, reductions: inScans.map((s) => s.reduction) },
        ...inScans.map((s) => s.putTotal),
      ]),
    ]),
    parted("starts", [
      ...before,
      loopOver(again, inScans.flatMap((s) => s.starts), {
        order: "sequential",
        carried: inScans.map((s) => s.carried),
      }),
    ]),
    {
      ...kernel,
      body: inLoops(around, [
        loopOver(part, [
          ...before,
          ...inScans.map((s) => s.getStart),
          { ...cut, carried: cut.carried.map((c, i) => ({ ...c, initial: inScans[i]?.start ?? c.initial })) },
        ]),
      ]),
    },
  ];
}
