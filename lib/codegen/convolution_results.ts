/**
 * Loops that compute results of convolutions, several in an iteration, with their bias and epilogue. Invariant: an
 * epilogue that walks the results in another order, or that needs more buffers than a kernel has, is a kernel behind.
 * Pixels outside of images are read as zero.
 */
import { InternalError } from "../base/errors.ts";
import { boundsOf, type Dim, max, min, sub } from "../sym/expr.ts";
import type { Axis, BufferView, ExternKernel, Kernel, LoopKernel } from "../loops/ir.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value, ValueIds } from "../loops/record.ts";
import { usesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { cloneStatement, renaming } from "./statement_list.ts";
import { nestOf } from "./nests.ts";
import { sideBySide } from "./split_products.ts";

/** Records the body of such loops, which stores each result once or, if it `repeats`, more often; returns their axes. */
interface ResultLoops {
  readonly record: (o: Recorder, store: (at: readonly Dim[], value: Value) => void) => readonly Axis[];
  readonly repeats?: boolean;
}

/** The kernels that store a float32 convolution's results. */
export function resultKernels(
  { inputs: [, , bias], outputs: [out], epilogue, name, origins, originals }: ExternKernel,
  kernelBuffers: number,
  { record, repeats = false }: ResultLoops,
): readonly Kernel[] {
  if (!out) throw new InternalError("Expected a result of a convolution");
  const withEpilogue = (behind?: LoopKernel): LoopKernel => {
    const { loops, body } = behind ? nestOf(behind.body) : { loops: [], body: [] };
    const o = new Recorder(loadBufferOperand, new ValueIds(behind && nextId(behind.body)));
    const axes = record(o, (at, sum) => {
      const value = bias
        ? o.add(sum, o.loadBuffer(bias.buffer, flatIndex(bias, [at[1] ?? 0]), "float32"))
        : sum;
      o.store({ buffer: out.buffer, dtype: "float32" }, flatIndex(out, at), { value });
      const place = new Map<Dim, Dim>(loops.map(({ axis }, d) => [axis.symbol, at[d] ?? 0]));
      const names = renaming(new Map(), () => o.ids.next(), (each) => place.get(each) ?? each);
      for (const s of body) o.push(cloneStatement(s, names));
    });
    return { ...behind ?? { kind: "loops", name, origins, originals }, body: sideBySide(axes, o.statements) };
  };
  const loops = epilogue ? nestOf(epilogue.body).loops : [];
  if (
    epilogue && !repeats && loops.length === 4 && loops.every(({ axis }, d) => axis.size === out.shape[d])
  ) {
    const whole = withEpilogue(epilogue);
    if (usesOf(whole).all.size <= kernelBuffers) return [whole];
  }
  return [withEpilogue(), ...epilogue ? [epilogue] : []];
}

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
