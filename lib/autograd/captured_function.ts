/**
 * `autograd.Function` in captured graphs: what the tracer follows in place of `apply`, and the tape's node for a gradient
 * that is a graph. Invariant: `backward` is traced when the call is met, on gradients that the pass will bring.
 */
import { InternalError } from "../base/errors.ts";
import type { CapturedCall } from "../graph/custom_gradient.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import {
  applyForward,
  checkedGradients,
  Function as CustomFunction,
  type FunctionClass,
  FunctionContext,
  FunctionNode,
  invoke,
  resultsOf,
  takesHistory,
} from "./function.ts";

/** Applies a Function where nothing is recorded. */
export function applyUnrecorded(this: FunctionClass, ...args: readonly unknown[]): unknown {
  return applyForward(this, args, args.map(() => false)).output;
}

/** A call whose results are to get a history. */
interface TracedCall {
  readonly name: string;
  /** The arguments that require a gradient. */
  readonly inputs: readonly Tensor[];
  /** The results that get a history. */
  readonly results: readonly Tensor[];
  /** Arguments that forward has written to. */
  readonly written: readonly Tensor[];
  /** The tensors that its gradient may read: those that it has saved. */
  readonly kept: readonly Tensor[];
  /** Whether gradients that do not arrive are passed as null. */
  readonly isPartial: boolean;
  /** Whether its tangents are those of `backward`. */
  readonly isTransposed: boolean;
}

/** Applies a Function where its gradient is recorded. */
export function applyRecorded(this: FunctionClass, ...args: readonly unknown[]): unknown {
  const needed = args.map((each) => isTensor(each) && each.requiresGrad);
  const { output, context } = applyForward(this, args, needed), results = resultsOf(output);
  const settings = FunctionContext.settings(context), { dirty, materialize } = settings;
  const isRecorded = (each: unknown): each is Tensor => takesHistory(each, settings);
  const recorded = results.filter(isRecorded);
  const shapes = args.map((each) => isTensor(each) ? each.shape : null);
  const call: TracedCall = {
    name: this.name,
    inputs: args.filter(isTensor).filter((each) => each.requiresGrad),
    results: recorded,
    written: [...dirty],
    kept: FunctionContext.savedBy(context),
    isPartial: !materialize,
    isTransposed: this.jvp === CustomFunction.jvp,
  };
  traceHistory(call, (...grads) => {
    const given = results.map((each) =>
      isRecorded(each)
        ? grads[recorded.indexOf(each)]
        : isTensor(each) && materialize
        ? ops.zeros(each.shape, { dtype: each.dtype, device: each.device })
        : null
    );
    const found = checkedGradients(this.name, invoke(this.backward, this, [context, ...given]), {
      needed,
      shapes,
    });
    const own = found.filter((_, k) => needed[k]);
    return Object.fromEntries(own.flatMap((each, k) => each === null ? [] : [[k, each]]));
  });
  return output;
}

/** Gives traced results the history of a call; `gradients` returns those of its inputs by position. The tracer models it. */
export function traceHistory(
  { name }: TracedCall,
  _gradients: (...grads: readonly Tensor[]) => Readonly<Record<string, Tensor>>,
): void {
  throw new InternalError(`Expected ${name} to be traced`);
}

/** Gives the results of a captured call a node of the tape whose gradient is a graph. */
export function giveHistory(
  { name, inputs, results, saved, written, gradient }: CapturedCall<Tensor>,
): void {
  const context = new FunctionContext();
  context.saveForBackward(...saved.map((each) => isTensor(each) ? each : null));
  for (const at of written) {
    const target = results[at];
    if (!target) continue;
    context.markDirty(target);
    target.storage.version++;
  }
  const backward = ({ savedTensors }: FunctionContext, ...grads: readonly Tensor[]): unknown =>
    gradient([...grads, ...saved.map((each, k) => isTensor(each) ? savedTensors[k] : each)]);
  new FunctionNode({ name, backward }, context, inputs).finish(results, inputs);
}
