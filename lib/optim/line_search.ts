/**
 * Line search for the strong Wolfe conditions: brackets a step at which loss and slope decrease enough, then narrows
 * the bracket by cubic interpolation (Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6).
 */
import type { Tensor } from "../tensor/tensor.ts";

/** The loss at a step along a direction. */
export interface LinePoint {
  readonly at: number;
  readonly loss: number;
  readonly grad: Tensor;
  /** The derivative along the direction. */
  readonly slope: number;
}

/** Arguments of a search. */
interface LineSearch {
  readonly evaluate: (at: number) => LinePoint;
  /** The loss at the start; its slope is negative. */
  readonly start: LinePoint;
  readonly first: number;
  /** Maximum number of rounds. */
  readonly rounds: number;
  /** Brackets narrower than this, relative to a step of length 1, end the search. */
  readonly tolerance: number;
}

/** Required decrease of the loss and of its slope, as shares of the initial slope. */
const FALL = 1e-4, FLATTEN = 0.9;

/**
 * Returns the point found, or the best one if none satisfies the conditions, and the number of evaluations of the loss.
 */
export function strongWolfe(search: LineSearch): { readonly point: LinePoint; readonly evaluations: number } {
  const { evaluate, start, first, rounds } = search;
  let former = start, now = evaluate(first), round = 0;
  for (; round < rounds; round++) {
    if (isTooHigh(search, now) || (round > 1 && now.loss >= former.loss)) break;
    if (isFlat(search, now)) return { point: now, evaluations: round + 1 };
    if (now.slope >= 0) break;
    const next = cubicMinimum(former, now, [now.at + 0.01 * (now.at - former.at), now.at * 10]);
    [former, now] = [now, evaluate(next)];
  }
  const ends: [LinePoint, LinePoint] = round === rounds ? [start, now] : [former, now];
  return narrow(search, ends, round);
}

function isTooHigh({ start }: LineSearch, { at, loss }: LinePoint): boolean {
  return loss > start.loss + FALL * at * start.slope;
}

function isFlat({ start }: LineSearch, { slope }: LinePoint): boolean {
  return Math.abs(slope) <= -FLATTEN * start.slope;
}

/** Narrows a bracket until a point in it satisfies the conditions. */
function narrow(
  search: LineSearch,
  ends: [LinePoint, LinePoint],
  begun: number,
): { readonly point: LinePoint; readonly evaluations: number } {
  let [low, high] = ordered(ends), round = begun, wasNearAnEnd = false;
  while (round < search.rounds && Math.abs(high.at - low.at) >= search.tolerance) {
    const from = Math.min(low.at, high.at), to = Math.max(low.at, high.at), margin = 0.1 * (to - from);
    const [left, right] = low.at === from ? [low, high] : [high, low];
    let at = cubicMinimum(left, right, [from, to]);
    // Close to an end at most twice in a row
    const isNearAnEnd = Math.min(to - at, at - from) < margin;
    const isStuck: boolean = isNearAnEnd && (wasNearAnEnd || at >= to || at <= from);
    if (isStuck) at = Math.abs(at - to) < Math.abs(at - from) ? to - margin : from + margin;
    wasNearAnEnd = isNearAnEnd && !isStuck;
    const point = search.evaluate(at);
    round++;
    if (isTooHigh(search, point) || point.loss >= low.loss) {
      [low, high] = ordered([low, point]);
      continue;
    }
    if (isFlat(search, point)) return { point, evaluations: round + 1 };
    if (point.slope * (high.at - low.at) >= 0) high = low;
    low = point;
  }
  return { point: low, evaluations: round + 1 };
}

/** Orders two points by loss. */
function ordered([a, b]: readonly [LinePoint, LinePoint]): [LinePoint, LinePoint] {
  return a.loss <= b.loss ? [a, b] : [b, a];
}

/**
 * Returns the minimum of the cubic through two points with their slopes, within bounds; the midpoint if there is no
 * minimum.
 */
function cubicMinimum(a: LinePoint, b: LinePoint, [least, most]: readonly [number, number]): number {
  const [left, right] = a.at <= b.at ? [a, b] : [b, a];
  const d1 = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.at - right.at);
  const square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0)) return (least + most) / 2;
  const d2 = Math.sqrt(square);
  const share = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2);
  return Math.min(Math.max(right.at - (right.at - left.at) * share, least), most);
}
