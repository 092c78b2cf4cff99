/**
 * Traces hooks of leaves in a backward pass. Invariant: hooks run in the order of the tape, with recording off, and own
 * the gradients that they have received: the leaf keeps a copy.
 */
import { writtenBy } from "../../graph/updates.ts";
import { breakGraph } from "../break_reasons.ts";
import type { LeafHooks } from "../guards/leaf_hooks.ts";
import { isCallable, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { functionLabel } from "../variables/labels.ts";
import type { Interpreter } from "./interpreter.ts";
import { callOp } from "./tensor_ops.ts";
import { fitsGradient, readTensorProperty } from "./tensor_properties.ts";
import { modesOf } from "./region_modes.ts";
import { mayShareMemory } from "./shown_nodes.ts";

/**
 * Calls a leaf's hooks in order, each with the gradient that the previous one returned, then continues with the last.
 */
export function callHooks(
  m: Interpreter,
  { hooks: { before, after }, grad }: { readonly hooks: LeafHooks; readonly grad: TensorValue },
  then: (grad: TensorValue) => void,
): void {
  const [hook, ...others] = before;
  if (!hook) return then(grad);
  const { gradEnabled } = m;
  const begun = m.output.graph.nodes.length;
  const goOn = (result: Value): void => {
    refuseWrites(m, grad, begun);
    const replaced = replacedBy(m, grad, result);
    if (others.length > 0) return callHooks(m, { hooks: { before: others, after }, grad: replaced }, then);
    m.gradEnabled = false;
    const copy = callOp(m, m.opNamed("clone"), [replaced], true);
    m.gradEnabled = gradEnabled;
    return copy.kind === "tensor" ? then(copy) : breakGraph("backward", "a copy of a gradient");
  };
  callHook(m, { hook, tensor: grad }, goOn);
}

/** Calls the hooks that run after a leaf's gradient was accumulated, then continues. */
export function callAfterHooks(
  m: Interpreter,
  { hooks: { before, after }, tensor }: { readonly hooks: LeafHooks; readonly tensor: TensorValue },
  then: () => void,
): void {
  const [hook, ...others] = after;
  if (!hook) return then();
  callHook(m, { hook, tensor }, (result) => {
    if (result.kind === "tensor" && result !== tensor && !isGradientOf(m, tensor, result)) {
      return breakGraph("backward", "a hook after accumulation returns a tensor");
    }
    callAfterHooks(m, { hooks: { before, after: others }, tensor }, then);
  });
}

/** Returns whether a tensor is the `.grad` of a leaf, as writing to it in place returns it. */
function isGradientOf(m: Interpreter, leaf: TensorValue, result: TensorValue): boolean {
  return readTensorProperty(m, leaf, "grad") === result;
}

/** Calls a hook, with recording off. */
function callHook(
  m: Interpreter,
  { hook, tensor }: { readonly hook: object; readonly tensor: TensorValue },
  then: (result: Value) => void,
): void {
  const callee = m.wrapper.known(hook, functionLabel(hook));
  if (!isCallable(callee)) return breakGraph("backward", "a hook that is not a function");
  const former = modesOf(m);
  m.gradEnabled = false;
  m.call({
    callee,
    self: UNDEFINED,
    args: [tensor],
    completion: { kind: "ambientMode", former, outer: { kind: "inside", then } },
  });
}

/** A hook's write to its argument would be visible to other holders of it on the tape. */
function refuseWrites(m: Interpreter, { node }: TensorValue, begun: number): void {
  const later = m.output.graph.nodes.slice(begun);
  const writes = later.flatMap(writtenBy).some((target) => node && mayShareMemory(target, node));
  if (writes) breakGraph("backward", "a hook writes to the gradient");
}

function replacedBy(m: Interpreter, grad: TensorValue, result: Value): TensorValue {
  if (result.kind === "constant" && (result.value === null || result.value === undefined)) return grad;
  if (result.kind !== "tensor") return breakGraph("backward", "a hook returns a value that is not a tensor");
  if (!fitsGradient(result, grad)) {
    return breakGraph("backward", "a hook returns a gradient of another shape or type");
  }
  m.output.nodeOf(result);
  return result;
}
