/**
 * Elements of generated data, from a data statement and a call's sizes and shift. Invariant: elements depend on
 * nothing else, and floats are multiples of 1/64: short to print, and the same number in every floating type.
 */
import { isFloat } from "../../../lib/base/dtype.ts";
import type { Call, DataStatement, SizeRef } from "./program.ts";

/** Returns a size in a call. */
export function sizeIn(size: SizeRef, sizes: readonly number[]): number {
  return typeof size === "number" ? size : sizes[size.size] ?? 1;
}

/** Special elements, and the number of leading ones that are not subnormal. */
const SPECIAL = [NaN, Infinity, -Infinity, -0, 0, 1e30, -1e30, 1, -1, 1e-40], NORMAL = 9;

/** An endless sequence of numbers of [0, 1). */
function* uniform(seed: number): IterableIterator<number> {
  let state = Math.imul(seed + 1, 2654435761) >>> 0;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 2246822519) >>> 0;
    yield ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
  }
}

/** Elements in row-major order; bools are 0 and 1. */
export interface MadeData {
  readonly shape: readonly number[];
  readonly elements: readonly number[];
}

/** The elements of data in a call; for data created only once, `call` is the first one. */
export function makeData(
  { shape, dtype, values }: DataStatement,
  { sizes, shift }: Pick<Call, "sizes" | "shift">,
): MadeData {
  const known = shape.map((size) => sizeIn(size, sizes));
  const count = known.reduce((a, b) => a * b, 1);
  const { low } = values, high = sizeIn(values.high, sizes);
  const source = uniform(values.seed + 1000 * shift);
  const next = (): number => source.next().value ?? 0;
  const elements: number[] = [];
  for (let k = 0; k < count; k++) {
    const u = next();
    if (dtype === "bool") elements.push(u < 0.5 ? 1 : 0);
    else if (isFloat(dtype)) {
      const special = values.special && next() < 0.3
        ? SPECIAL[Math.floor(next() * (values.special === "normal" ? NORMAL : SPECIAL.length))]
        : undefined;
      elements.push(special ?? Math.round((low + (high - low) * u) * 64) / 64);
    } else {
      const least = dtype === "uint8" ? Math.max(0, Math.ceil(low)) : Math.ceil(low);
      elements.push(least + Math.floor(u * Math.max(1, Math.ceil(high) - least)));
    }
  }
  return { shape: known, elements };
}
