/**
 * Replays captured calls with a gradient of their own: their results get a history on the tape whose gradient is the
 * replay of a graph. Invariant: results that own their memory keep it, so that other views of it see later writes; a
 * result that shows other tensors' memory becomes a tensor of its own, which the tracer lets nothing write to.
 */
import { InternalError } from "../base/errors.ts";
import type { OpApi } from "../ops/generated.ts";
import { GraphValue } from "../ops/graph_builder.ts";
import type { Functionalizer, FunctionalTensor } from "./functional.ts";
import { isFunctional } from "./functional.ts";
import type { Recorder } from "./recorder.ts";
import { CUSTOM } from "./tape_definitions.ts";

/** The destination of replayed calls. */
interface Replaying {
  readonly core: OpApi<GraphValue>;
  readonly recorder: Recorder;
  readonly functional: Functionalizer;
}

/** A call whose results exist. */
interface CustomCall {
  readonly inputs: readonly FunctionalTensor[];
  readonly results: readonly FunctionalTensor[];
  /** Tensors and sizes; a number stands for a result. */
  readonly saved: readonly unknown[];
  /** The results that are inputs which the call has written to, by position. */
  readonly written: readonly number[];
  /** Appends the gradients of the inputs, given those of the results and the saved values. */
  readonly gradient: (values: readonly unknown[]) => readonly (GraphValue | null)[];
}

/** Records a call; returns its results with their history. */
export function recordCustom(
  { core, recorder, functional }: Replaying,
  { inputs, results, saved, written, gradient }: CustomCall,
): readonly FunctionalTensor[] {
  const given = inputs.map((each) => each.value());
  if (!recorder.enabled || !given.some((value) => recorder.requiring.has(value))) return results;
  const own = results.map((result, at) => {
    const { node, meta } = result.value(), value = new GraphValue(node, meta);
    const shared = result.steps.length > 0 || result.storage.input !== undefined;
    if (shared) return functional.fresh(value, { meta: result.meta });
    if (written.includes(at)) result.write(value);
    else result.adopt(value);
    return result;
  });
  const outs = own.map((each) => each.value());
  const kept = saved.map((each) => {
    const tensor = typeof each === "number" ? own[each] : each;
    return isFunctional(tensor) ? { value: tensor.value(), meta: tensor.meta } : { size: each };
  });
  const around = recorder.around?.();
  recorder.tape.push({
    kind: "call",
    definition: CUSTOM,
    args: { inputs: given },
    outs,
    saved: kept.flatMap(({ value }) => value ?? []),
    own: (grads, read) => {
      const arriving = grads.map((grad, k) => {
        const out = outs[k];
        if (!out) throw new InternalError(`Expected a result at ${k} of a call`);
        return functional.fresh(grad ?? core.zerosLike(out));
      });
      const values = kept.map((each) =>
        each.value ? functional.fresh(read(each.value), { meta: each.meta }) : each.size
      );
      return gradient([...arriving, ...values]);
    },
    ...(around ? { around } : {}),
  });
  for (const out of outs) recorder.requiring.add(out);
  return own;
}
