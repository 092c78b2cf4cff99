/**
 * Loops that compute results of convolutions, several in an iteration, with their bias and epilogue. Invariant: an
 * epilogue that walks the results in another order, or that needs more buffers than a kernel has, is a kernel behind.
 */
import { InternalError } from "../base/errors.ts";
import type { Dim } from "../sym/expr.ts";
import type { Axis, ExternKernel, Kernel, LoopKernel } from "../loops/ir.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value, ValueIds } from "../loops/record.ts";
import { usesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { cloneStatement, renaming } from "./clone_statements.ts";
import { nestOf } from "./nests.ts";
import { sideBySide } from "./split_products.ts";

/** Records the body of such loops, which stores each result once or, if it `repeats`, more often; returns their axes. */
interface ResultLoops {
  readonly record: (
    o: Recorder,
    store: (at: readonly Dim[], value: Value) => void,
  ) => readonly Axis[];
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
