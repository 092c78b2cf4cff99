/**
 * Chooses the order of a group's loops, outermost first, and the one that runs in vector lanes. Invariant: the vector
 * axis is the innermost of its kind, and the one along which the group is estimated to cost least.
 */
import { invariant } from "../base/errors.ts";
import type { Axis, BufferId } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { add, type Dim, divideDims, freeSymbols, mul, product } from "../sym/expr.ts";
import { hintOf, isPreferred, isSettledEqual } from "../sym/decide.ts";
import { joinAxes, type Replacement } from "./axes.ts";
import { newAxis } from "./computation.ts";
import { findsFirst, orderedInner } from "./first_found.ts";
import { addsFloats, settledLanes } from "./settled_axes.ts";
import type { Group } from "./group.ts";

/** Answers whether one amount is at most another. */
type Compare = (left: Dim, right: Dim) => boolean;

/** The answer for the sizes of the traced call, which is right for that call and good for others. */
const inTracedCall: Compare = (left, right) => hintOf(left) <= hintOf(right);

/** Parts of an element step in which costs are counted. */
const UNIT = 10;

/** A cost of `amount` / `lanes` parts of an element step. */
interface Cost {
  readonly amount: Dim;
  readonly lanes: Dim;
}

/** Returns whether a cost is at most another. */
function isCheaper(cost: Cost, than: Cost, isAtMost: Compare): boolean {
  return isAtMost(mul(cost.amount, than.lanes), mul(than.amount, cost.lanes));
}

/** The cost of an element at a small stride, which uses the whole of its cache line, and at a large one. */
const NEAR = 6, FAR = 12;

/** Half an element step: the gain from one pass less over an element. */
const PASS = UNIT / 2;

/**
 * Returns whether a fused group is estimated to cost no more than both parts and the passes that fusion saves over
 * `shared` elements: one that costs more has lost its lanes.
 */
export function isFasterFused(
  fused: Group,
  [first, second]: readonly [Group, Group],
  shared: Dim,
): boolean {
  const [whole, a, b] = [costOf(fused), costOf(first), costOf(second)];
  if (!whole || !a || !b) return true;
  const lanes = mul(a.lanes, b.lanes);
  const apart = add(mul(a.amount, b.lanes), add(mul(b.amount, a.lanes), mul(PASS, mul(lanes, shared))));
  return inTracedCall(mul(whole.amount, lanes), mul(apart, whole.lanes));
}

/** Estimates the cost of a group with the best choice of lanes; undefined without loops. */
function costOf(group: Group): Cost | undefined {
  const accesses = accessesOf(group), work = workOf(group), lanes = settledLanes(group.members);
  const axes = lanes === "inner"
    ? group.inner.slice(-1)
    : lanes === "outer"
    ? group.outer
    : [...group.outer, ...group.inner];
  let least: Cost | undefined;
  for (const axis of axes) {
    const cost = laneCost(axis, { accesses, work, isAtMost: inTracedCall });
    if (!least || isCheaper(cost, least, inTracedCall)) least = cost;
  }
  return least;
}

/** The chosen order. */
interface LoopOrder {
  readonly outer: readonly Axis[];
  readonly inner: readonly Axis[];
  readonly vector: "outer" | "inner" | "none";
  /** Axes of the group that were tiled. */
  readonly tiles: Replacement;
}

interface Weighted {
  readonly index: Dim;
  /** In elements; writes count twice. */
  readonly weight: Dim;
}

/** Limits of tiles for transposed accesses: lanes of a tile, and cache lines that it keeps open. */
export interface Tiling {
  readonly name: string;
  readonly lanes: readonly [least: number, most: number];
  readonly lines: readonly [least: number, most: number];
}

/** The tiling that is used unless another one was measured to be faster. */
export const TILING: Tiling = { name: "tiles of 16 × 128", lanes: [8, 16], lines: [16, 128] };

/** Tilings that are faster than the default for some shapes, which only a measurement can tell. */
export const OTHER_TILINGS: readonly Tiling[] = [
  { name: "tiles of 16 × 512", lanes: [8, 16], lines: [64, 512] },
  { name: "tiles of 32 × 32", lanes: [32, 32], lines: [32, 32] },
];

/**
 * Orders the loops of a group. Inner loops are ordered by their own statements alone, and as for a single result. Where
 * the order of sums of floats is settled, the inner loops stay as they are. Where it is settled here, a program that
 * serves many sizes in place of programs of their own serves only those for which sums would be ordered alike.
 */
export function chooseOrder(whole: Group, tiling: Tiling): LoopOrder {
  const within = whole.members.filter(({ level }) => level === "inner");
  const group = within.length > 0 ? { ...whole, members: within } : whole;
  const accesses = accessesOf(group, true), work = workOf(group);
  const lanes = settledLanes(group.members), settles = lanes === undefined && group.members.some(addsFloats);
  const isAtMost = settles ? isPreferred : inTracedCall;
  if (settles) {
    // Loops of one step are no loops, and then others are the cheaper ones
    for (const { size } of [...group.outer, ...group.inner]) isSettledEqual(size, 1);
  }
  const isOrdered = group.members.some(findsFirst), outer = byStride(group.outer, { accesses, isAtMost });
  const inner = isOrdered || lanes !== undefined
    ? orderedInner(group)
    : byStride(group.inner, { accesses, isAtMost });
  invariant(inner, "Expected an order of loops that finds the first of equal extremes");
  if (inner.length === 0 && isOne(outer, accesses)) {
    return { outer, inner, vector: "outer", tiles: NO_TILES };
  }
  let best: Axis | undefined, least: Cost | undefined;
  const innermost = isOrdered || lanes !== undefined ? inner.slice(-1) : inner;
  for (const axis of [...lanes === "inner" ? [] : outer, ...lanes === "outer" ? [] : innermost]) {
    const cost = laneCost(axis, { accesses, work, isAtMost });
    // Later axes win ties, since they are inner ones
    if (!least || isCheaper(cost, least, isAtMost)) [best, least] = [axis, cost];
  }
  if (!best) return { outer, inner, vector: "none", tiles: NO_TILES };
  const lane = best;
  const last = (axes: readonly Axis[]) => [...axes.filter((a) => a !== lane), lane];
  if (!outer.includes(best)) return { outer, inner: last(inner), vector: "inner", tiles: NO_TILES };
  const ordered = last(outer);
  const tiles = inner.length === 0 ? tilesOf(ordered, best, { accesses, tiling }) : undefined;
  return tiles ?? { outer: ordered, inner, vector: "outer", tiles: NO_TILES };
}

/** Returns whether every access walks several axes as one, which makes them the vector axis however short each is. */
function isOne(axes: readonly Axis[], accesses: readonly Weighted[]): boolean {
  return axes.length > 1 && joinAxes(axes, new Set(accesses.map(({ index }) => index))).axes.length === 1;
}

const NO_TILES: Replacement = new Map();

/** Elements from which on a transposed access is worth tiling. */
const LEAST_TILED = 4096;

/**
 * Cuts the lane axis and the axis along which another access is contiguous into tiles, so that a transposed read uses
 * the whole of each cache line while it is cached. Undefined if nothing is transposed or the sizes are not divisible.
 */
function tilesOf(
  outer: readonly Axis[],
  lane: Axis,
  { accesses, tiling }: { readonly accesses: readonly Weighted[]; readonly tiling: Tiling },
): LoopOrder | undefined {
  const across = outer.find((axis) =>
    axis !== lane && accesses.some(({ index }) => {
      const stride = coefficientOf(index, lane.symbol);
      return coefficientOf(index, axis.symbol) === 1 && stride !== undefined && stride !== 0 &&
        stride !== 1 &&
        hintOf(stride) >= 64;
    })
  );
  if (!across) return undefined;
  if (hintOf(lane.size) * hintOf(across.size) < LEAST_TILED) return undefined;
  const lanes = divisorWithin(lane.size, tiling.lanes), lines = divisorWithin(across.size, tiling.lines);
  const laneTiles = lanes === undefined ? undefined : divideDims(lane.size, lanes);
  const lineTiles = lines === undefined ? undefined : divideDims(across.size, lines);
  if (lanes === undefined || lines === undefined || laneTiles === undefined || lineTiles === undefined) {
    return undefined;
  }
  const [lane0, lane1] = [newAxis(laneTiles, "i"), newAxis(lanes, "i")];
  const [line0, line1] = [newAxis(lineTiles, "j"), newAxis(lines, "j")];
  const tilesOnly = [line0, lane0].filter((axis) => axis.size !== 1);
  const start = (axis: Axis, step: number): Dim => axis.size === 1 ? 0 : mul(axis.symbol, step);
  const tiles = new Map([
    [lane.symbol, add(start(lane0, lanes), lane1.symbol)],
    [across.symbol, add(start(line0, lines), line1.symbol)],
  ]);
  const others = outer.filter((axis) => axis !== lane && axis !== across);
  return { outer: [...others, ...tilesOnly, line1, lane1], inner: [], vector: "outer", tiles };
}

/** The largest number within limits that divides a size in every call. */
function divisorWithin(size: Dim, [low, high]: readonly [number, number]): number | undefined {
  const most = typeof size === "number" ? Math.min(high, size) : high;
  for (let d = most; d >= low; d--) if (divideDims(size, d) !== undefined) return d;
  return undefined;
}

/** Returns the accesses of a group; with `together`, results of reductions with the same layout count once. */
function accessesOf(group: Group, together = false): Weighted[] {
  const seen = new Map<string, Weighted>();
  const visit = (buffer: BufferId | "result", index: Dim | undefined, weight: number) => {
    const key = `${buffer} ${typeof index === "number" ? index : index?.id}`;
    if (seen.has(key) || index === undefined) return;
    const axes = [...group.outer, ...group.inner].filter((axis) => freeSymbols(index).has(axis.symbol));
    seen.set(key, { index, weight: mul(weight, product(axes.map(({ size }) => size))) });
  };
  for (const member of group.members) {
    const isOne = together && member.computation.work.kind === "reduction";
    for (const { buffer, index } of member.writes) visit(isOne ? "result" : buffer, index, 2);
    for (const { buffer, index } of member.reads) visit(buffer, index, 1);
  }
  return [...seen.values()];
}

/** Scalar operations of a whole group. */
function workOf({ members, outer, inner }: Group): Dim {
  const rows = product(outer.map(({ size }) => size)),
    all = mul(rows, product(inner.map(({ size }) => size)));
  return members.reduce<Dim>(
    (sum, m) => add(sum, mul(m.computation.weight, m.level === "inner" ? all : rows)),
    0,
  );
}

/** Lanes of the widest vectors that are planned for. */
const LANES = 16;

/**
 * Estimates the cost of a group with its lanes along an axis: adjacent accesses and arithmetic run in lanes, others one
 * element at a time; small strides still use whole cache lines.
 */
function laneCost(
  axis: Axis,
  { accesses, work, isAtMost }: {
    readonly accesses: readonly Weighted[];
    readonly work: Dim;
    readonly isAtMost: Compare;
  },
): Cost {
  const lanes = isAtMost(LANES, axis.size) ? LANES : isAtMost(1, axis.size) ? axis.size : 1;
  let inLanes = work, apart: Dim = 0;
  for (const { index, weight } of accesses) {
    const stride = coefficientOf(index, axis.symbol);
    if (stride === 0 || stride === 1) {
      inLanes = add(inLanes, weight);
      continue;
    }
    const steps = stride === undefined ? UNIT : isAtMost(lengthOf(stride), 8) ? NEAR : FAR;
    apart = add(apart, mul(steps, weight));
  }
  return { amount: add(mul(UNIT, inLanes), mul(lanes, apart)), lanes };
}

/** The magnitude of a stride. */
const lengthOf = (stride: Dim): Dim => hintOf(stride) < 0 ? mul(-1, stride) : stride;

/** Axes by the stride of the access with the most axes, largest stride first. */
function byStride(
  axes: readonly Axis[],
  { accesses, isAtMost }: { readonly accesses: readonly Weighted[]; readonly isAtMost: Compare },
): Axis[] {
  if (axes.length < 2) return [...axes];
  const strideOf = (index: Dim, axis: Axis): Dim => lengthOf(coefficientOf(index, axis.symbol) ?? 0);
  let primary: { readonly index: Dim; readonly moved: number; readonly weight: Dim } | undefined;
  for (const { index, weight } of accesses) {
    const moved = axes.filter((axis) => strideOf(index, axis) !== 0).length;
    const isBetter = !primary || moved > primary.moved ||
      moved === primary.moved && !isAtMost(weight, primary.weight);
    if (isBetter) primary = { index, moved, weight };
  }
  if (!primary) return [...axes];
  const { index } = primary;
  // Axes along which nothing moves are outermost
  const isWithin = (p: Dim, q: Dim) => q === 0 || p !== 0 && isAtMost(p, q);
  return axes.map((axis, d) => ({ axis, d, stride: strideOf(index, axis) }))
    .sort((p, q) => {
      const within = isWithin(p.stride, q.stride), around = isWithin(q.stride, p.stride);
      return within === around ? p.d - q.d : within ? 1 : -1;
    })
    .map(({ axis }) => axis);
}
