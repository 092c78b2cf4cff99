/**
 * Checks of index elements before kernels run, for calls whose definition has `ranges`; the error names the first
 * element out of range. Invariant: cached bounds of elements are used before the device is read; kernels clamp
 * instead only where reading cannot be awaited.
 */
import { isComplex } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { ElementRange, OpDefinition } from "../ops/definition.ts";
import { readElements } from "./host.ts";
import { concrete } from "./layout.ts";
import { entryOf, mapTensors, type TensorArgs } from "./plan.ts";
import { deviceNamed } from "./storage.ts";
import { isTensor, type Tensor } from "./tensor.ts";
import type { TensorMeta } from "../graph/meta.ts";

/** Throws DynError where an index element is out of its range. */
export function checkRanges(definition: OpDefinition, args: TensorArgs): void {
  const entry = entryOf(definition);
  const owners = new Map<TensorMeta, Tensor>();
  const metas = mapTensors<TensorMeta>(entry, args, (tensor) => {
    const meta = { ...tensor.meta };
    owners.set(meta, tensor);
    return meta;
  });
  for (const range of definition.ranges?.(metas) ?? []) checkRange(range, owners.get(range.values));
}

/** Throws DynError where an element of an operand is out of the bounds that the definition sets it. */
export function checkBounds(definition: OpDefinition, args: TensorArgs): void {
  for (const [operand, [low, high]] of Object.entries(definition.bounds?.(args) ?? {})) {
    const given = args[operand];
    if (isTensor(given) && (isComplex(given.dtype) || !deviceNamed(given.device).hostReadable)) continue;
    const elements = isTensor(given) ? readElements(given) : [given];
    // An iterator takes several times as long
    for (let k = 0; k < elements.length; k++) {
      const each = Number(elements[k]);
      // NaN is no element of an interval, but not too small either
      if (high === Infinity ? !(each < low) : each >= low && each <= high) continue;
      const wanted = high === Infinity ? `of at least ${low}` : `in [${low}, ${high}]`;
      throw new DynError(
        `Expected elements of ${operand} ${wanted} for ${definition.name} but found ${each}`,
      );
    }
  }
}

function checkRange({ low, high, what }: ElementRange, tensor: Tensor | undefined): void {
  if (!tensor || tensor.layout.numel === 0) return;
  const from = concrete(low), to = concrete(high);
  const { hostReadable, synchronousReads } = deviceNamed(tensor.device);
  if (!hostReadable) {
    const { bounds } = tensor.storage;
    if (!synchronousReads || (bounds && from <= bounds.least && bounds.greatest < to)) return;
  }
  const elements = readElements(tensor);
  for (let k = 0; k < elements.length; k++) {
    const each = elements[k] ?? 0;
    if (each < from || each >= to) {
      throw new DynError(`Expected ${what} in [${from}, ${to - 1}] but found ${each}`);
    }
  }
}
