/**
 * Chooses the order of a group's loops and the one that runs in vector lanes. Input: a group; output: its axes,
 * outermost first. Invariant: the vector axis is the innermost of its kind, and the one along which most bytes
 * lie side by side.
 */
import type { Axis, BufferId } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { type Dim, freeSymbols } from "../sym/expr.ts";
import { hintOf } from "../sym/decide.ts";
import type { Group } from "./group.ts";

/** The chosen order. */
export interface LoopOrder {
  readonly outer: readonly Axis[];
  readonly inner: readonly Axis[];
  readonly vector: "outer" | "inner" | "none";
}

interface Weighted {
  readonly index: Dim;
  /** Elements, twice for writes. */
  readonly weight: number;
}

/** Orders the loops of a group. */
export function chooseOrder(group: Group): LoopOrder {
  const accesses = accessesOf(group);
  const outer = byStride(group.outer, accesses), inner = byStride(group.inner, accesses);
  let best: Axis | undefined, bestScore = -Infinity;
  for (const axis of [...outer, ...inner]) {
    const score = laneScore(axis, accesses);
    // Later axes win ties: they are the inner ones
    if (score >= bestScore) [best, bestScore] = [axis, score];
  }
  if (!best) return { outer, inner, vector: "none" };
  const last = (axes: readonly Axis[]) => [...axes.filter((a) => a !== best), best];
  return outer.includes(best)
    ? { outer: last(outer).filter((a) => a !== undefined), inner, vector: "outer" }
    : { outer, inner: last(inner).filter((a) => a !== undefined), vector: "inner" };
}

function accessesOf(group: Group): Weighted[] {
  const seen = new Map<string, Weighted>();
  const visit = (buffer: BufferId, index: Dim | undefined, weight: number) => {
    const key = `${buffer} ${typeof index === "number" ? index : index?.id}`;
    if (seen.has(key) || index === undefined) return;
    const axes = [...group.outer, ...group.inner].filter((axis) => freeSymbols(index).has(axis.symbol));
    seen.set(key, { index, weight: weight * axes.reduce((n, axis) => n * hintOf(axis.size), 1) });
  };
  for (const member of group.members) {
    for (const { buffer, index } of member.writes) visit(buffer, index, 2);
    for (const { buffer, index } of member.reads) visit(buffer, index, 1);
  }
  return [...seen.values()];
}

/** Bytes side by side along an axis, less those that would have to be gathered; short axes fill few lanes. */
function laneScore(axis: Axis, accesses: readonly Weighted[]): number {
  let score = 0;
  for (const { index, weight } of accesses) {
    const stride = coefficientOf(index, axis.symbol);
    if (stride === 0) continue;
    score += stride === 1 ? weight : -0.5 * weight;
  }
  return score * Math.min(1, hintOf(axis.size) / 16);
}

/** Axes by the stride of the access that has most of them, largest stride first. */
function byStride(axes: readonly Axis[], accesses: readonly Weighted[]): Axis[] {
  if (axes.length < 2) return [...axes];
  const strideOf = (index: Dim, axis: Axis): number => {
    const stride = coefficientOf(index, axis.symbol);
    return stride === undefined ? 0 : Math.abs(hintOf(stride));
  };
  let primary: Dim | undefined, most = 0;
  for (const { index, weight } of accesses) {
    const score = axes.filter((axis) => strideOf(index, axis) > 0).length * 1e12 + weight;
    if (score > most) [primary, most] = [index, score];
  }
  if (primary === undefined) return [...axes];
  const by = primary;
  const rank = (axis: Axis) => strideOf(by, axis) || Infinity;
  return axes.map((axis, d) => ({ axis, d, r: rank(axis) }))
    .sort((p, q) => p.r === q.r ? p.d - q.d : q.r - p.r)
    .map(({ axis }) => axis);
}
