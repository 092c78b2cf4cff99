/**
 * Classes of tensors with behaviour of their own: calls of ops on their instances reach the class. Invariant: programs
 * without such classes pay one test of a field per call.
 */
import { refuseValue } from "../base/checked_input.ts";
import { scoped } from "../base/scoped.ts";
import type { OpCall, OpResult } from "./op_call.ts";
import { carryTangents } from "./tangents.ts";
import { isTensor, Tensor } from "./tensor.ts";

/** Whether calls must look for instances among their arguments: some exist, and no class is making a call. */
export const subclasses = { exist: false, answering: false };

/**
 * A tensor whose class receives the calls of ops on it, like a subclass of `torch.Tensor` with `__torch_function__`.
 * It shares the elements and the history of `data`. Results are what `dispatch` returns: ordinary tensors unless it
 * wraps them. If a call has instances of several classes, a subclass goes before its superclass, and otherwise the
 * leftmost argument decides. The parts of an op and its gradient are computed on ordinary tensors. Graphs of compiled
 * functions break where instances are used.
 *
 * ```ts
 * import { isTensor, overrides, tensor } from "jsr:@x/dyn";
 *
 * class Metres extends overrides.TensorSubclass {
 *   static override dispatch(call: overrides.OpCall): overrides.OpResult {
 *     const result = call.run();
 *     return call.name === "add" && isTensor(result) ? new Metres(result) : result;
 *   }
 * }
 * const length = new Metres(tensor([1.5, 2]));
 * console.log(length.add(1) instanceof Metres, length.mul(2) instanceof Metres); // true false
 * ```
 */
export abstract class TensorSubclass extends Tensor {
  /** Shares the elements of `data`; gradients flow to it. */
  constructor(data: Tensor) {
    if (!isTensor(data)) refuseValue("a tensor for an instance of a subclass", data);
    // A view, so that what is written through either has its place in the history of the other
    const view = withoutSubclasses(() => data.viewAs(data));
    super(view.storage, view.layout, view.offset);
    this.state = view.state;
    this.viewState = view.viewState;
    carryTangents(view, this);
    subclasses.exist = true;
  }

  /** Receives a call of an op that has an instance among its arguments, and returns its result. */
  static dispatch(call: OpCall): OpResult {
    return call.run();
  }
}

/** The class that receives a call: null if none of the arguments is an instance. */
export function receiverOf(args: Readonly<Record<string, unknown>>): SubclassOfTensor | null {
  let found: SubclassOfTensor | null = null;
  for (const value of Object.values(args)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (!(each instanceof TensorSubclass) || !isSubclass(each.constructor)) continue;
      if (found === null || each.constructor.prototype instanceof found) found = each.constructor;
    }
  }
  return found;
}

type SubclassOfTensor = typeof TensorSubclass;

const isSubclass = (value: unknown): value is SubclassOfTensor =>
  typeof value === "function" && value.prototype instanceof TensorSubclass;

/** Runs `body`, to whose calls instances are ordinary tensors: a class's own calls, and gradients. */
export function withoutSubclasses<R>(body: () => R): R {
  if (!subclasses.exist) return body();
  const former = subclasses.answering;
  subclasses.answering = true;
  return scoped(body, () => subclasses.answering = former);
}
