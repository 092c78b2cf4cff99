/** Reads pixels of images, which are zero outside. */
import { boundsOf, type Dim, max, min, sub } from "../sym/expr.ts";
import type { BufferView } from "../loops/ir.ts";
import { flatIndex, type Recorder, type Value } from "../loops/record.ts";

/**
 * Returns the float32 pixel of an image [image, channel, y, x]; zero where it is outside. It reads some other pixel
 * there: invocations that all read the same number of pixels do not wait for each other's conditions. What is known to
 * be inside is not checked.
 */
export function pixelOrZero(o: Recorder, image: BufferView, [n, c, ...place]: readonly Dim[]): Value {
  let inside: Value | undefined;
  const also = (holds: Value) => inside = inside ? o.and(inside, holds) : holds;
  const kept = place.map((at, d) => {
    const size = image.shape[2 + d] ?? 1, [low, high] = boundsOf(at);
    if (low < 0) also(o.ge(o.index(at, "int32"), o.constant(0, "int32")));
    if (high >= boundsOf(size)[0]) also(o.lt(o.index(at, "int32"), o.index(size, "int32")));
    return max(min(at, sub(size, 1)), 0);
  });
  const found = o.loadBuffer(image.buffer, flatIndex(image, [n ?? 0, c ?? 0, ...kept]), "float32");
  return inside ? o.select(inside, found, o.constant(0, "float32")) : found;
}
