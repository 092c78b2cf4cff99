/**
 * Checks of elements before kernels run, for calls whose definition has `ranges` or `bounds`; the error names the first
 * element out of range. Invariant: cached bounds of elements are used before the device is read; kernels clamp
 * instead only where reading cannot be awaited.
 */
import { bufferOf } from "../base/memory_getters.ts";
import { isComplex } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { ElementRange, OpDefinition } from "../ops/definition.ts";
import { OPS } from "../ops/table.ts";
import { elementAt, readElements } from "./host.ts";
import { concrete } from "./layout.ts";
import { noGrad } from "./modes.ts";
import { entryOf, type Execute, mapTensors, type TensorArgs } from "./plan.ts";
import { deviceNamed } from "./storage.ts";
import { isTensor, type Tensor } from "./tensor.ts";
import type { TensorMeta } from "../graph/meta.ts";

/**
 * Number of elements from which on kernels that find the extremes are faster than checking each element here. Smaller
 * calls have no classes, so that each new shape would need two programs.
 */
const MANY = 2 ** 14;

/** A closed interval. */
type Interval = readonly [low: number, high: number];

/** Throws DynError if an index is out of its range. */
export function checkRanges(definition: OpDefinition, args: TensorArgs, run: Execute): void {
  const entry = entryOf(definition);
  const owners = new Map<TensorMeta, Tensor>();
  const metas = mapTensors<TensorMeta>(entry, args, (tensor) => {
    const meta = { ...tensor.meta };
    owners.set(meta, tensor);
    return meta;
  });
  for (const range of definition.ranges?.(metas) ?? []) checkRange(range, owners.get(range.values), run);
}

/** Throws DynError if an element of an operand is outside the bounds of the definition. */
export function checkBounds(definition: OpDefinition, args: TensorArgs, run: Execute): void {
  for (const [operand, bounds] of Object.entries(definition.bounds?.(args) ?? {})) {
    const given = args[operand], [low, high] = bounds;
    if (isTensor(given) && (isComplex(given.dtype) || !deviceNamed(given.device).hostReadable)) continue;
    const found = isTensor(given) ? outlierOf(given, bounds, run) : outlierAmong([Number(given)], bounds);
    if (found === undefined) continue;
    const wanted = high === Infinity ? `of at least ${low}` : `in [${low}, ${high}]`;
    throw new DynError(`Expected elements of ${operand} ${wanted} for ${definition.name} but found ${found}`);
  }
}

function checkRange({ low, high, what }: ElementRange, tensor: Tensor | undefined, run: Execute): void {
  if (!tensor) return;
  const from = concrete(low), to = concrete(high) - 1;
  const { hostReadable, synchronousReads } = deviceNamed(tensor.device);
  if (!hostReadable) {
    const { bounds } = tensor.storage;
    if (!synchronousReads || (bounds && from <= bounds.least && bounds.greatest <= to)) return;
  }
  const found = outlierOf(tensor, [from, to], run);
  if (found !== undefined) throw new DynError(`Expected ${what} in [${from}, ${to}] but found ${found}`);
}

/** The first element outside an interval; undefined if there is none. */
function outlierOf(tensor: Tensor, interval: Interval, run: Execute): number | bigint | undefined {
  if (tensor.layout.numel >= MANY && lieWithin(tensor, interval, run)) return undefined;
  return outlierAmong(readElements(tensor), interval);
}

function outlierAmong(
  elements: ArrayLike<number | bigint>,
  [low, high]: Interval,
): number | bigint | undefined {
  if (elements instanceof BigInt64Array) return longOutlierAmong(elements, [low, high]);
  for (let k = 0; k < elements.length; k++) {
    const each = elements[k] ?? 0;
    // NaN violates an upper bound, but not a lower bound alone
    if (high === Infinity ? each < low : !(each >= low && each <= high)) return each;
  }
  return undefined;
}

/**
 * The same for int64: comparing numbers, which are rounded but never across a bound, takes a seventh of the time of
 * bigints.
 */
function longOutlierAmong(elements: BigInt64Array, [low, high]: Interval): bigint | undefined {
  const words = new Int32Array(bufferOf(elements), elements.byteOffset, 2 * elements.length);
  for (let k = 0; k < elements.length; k++) {
    const each = (words[2 * k + 1] ?? 0) * 2 ** 32 + ((words[2 * k] ?? 0) >>> 0);
    if (!(each >= low && each <= high)) return elements[k];
  }
  return undefined;
}

/** Returns whether all elements lie in an interval and none is NaN, by kernels. */
function lieWithin(tensor: Tensor, [low, high]: Interval, run: Execute): boolean {
  const args = { self: tensor, dim: [], keepdim: false };
  const extremes = noGrad(() => [OPS.amin, OPS.amax].flatMap((op) => run(entryOf(op), args)));
  const [least = NaN, greatest = NaN] = extremes.map((each) => Number(elementAt(each, 0)));
  for (const each of extremes) each.storage.release();
  return least >= low && greatest <= high;
}
