/**
 * Traces `requiresGrad_()` of leaves that a program passes in, as loops do that train two models in turn. Invariant: the
 * placeholder stands for the leaf while it requires grad, and a detached view of it for the same tensor while it does
 * not, so that operations have the history that they had when they ran.
 */
import { isDifferentiable } from "../../base/dtype.ts";
import type { Node } from "../../graph/node.ts";
import { breakGraph } from "../break_reasons.ts";
import { type LeafHooks } from "../guards/leaf_hooks.ts";
import { isLeaf } from "../guards/runtime.ts";
import { constant, TensorValue, type Value } from "../variables/value.ts";
import { beginHistory } from "./history_starts.ts";
import { refuseChangedHistory } from "./later_hooks.ts";
import type { Interpreter } from "./interpreter.ts";
import type { OutputGraph } from "./output_graph.ts";

/** The hooks on gradients of a leaf, which guards check; null for tensors that are no leaves. */
export function leafHooks(m: Interpreter, { real, source }: TensorValue): LeafHooks | null {
  const accumulator = real?.state?.accumulator;
  const hooks = {
    before: [...accumulator?.hooks.get(0)?.values() ?? []],
    after: [...accumulator?.after?.values() ?? []],
  };
  if (!real || !source || !isLeaf(real, hooks)) return null;
  m.output.guard({ kind: "leaf", source, hooks });
  return hooks;
}

/** Returns the argument of `requiresGrad_` as a boolean. */
function wantedGradient(given: Value | undefined): boolean {
  if (!given || (given.kind === "constant" && given.value === undefined)) return true;
  return given.kind === "constant" && typeof given.value === "boolean"
    ? given.value
    : breakGraph("gradientState", "requiresGrad_ of what is not a boolean constant");
}

/** Returns whether the trace has switched whether a tensor requires grad. */
export const isSwitched = ({ assigned }: TensorValue): boolean => assigned.has("requiresGrad");

/** Returns whether a node stands, or has stood, for a tensor that the trace has switched. */
export function standsForSwitched({ tensors, switched }: OutputGraph, node: Node): boolean {
  const tensor = tensors.get(node);
  return switched.has(node) || (tensor !== undefined && isSwitched(tensor));
}

/** Models `requiresGrad_(given)` and assignments to `requiresGrad`. */
export function setRequiresGrad(m: Interpreter, tensor: TensorValue, given: Value | undefined): TensorValue {
  const wanted = wantedGradient(given);
  if (wanted === tensor.requiresGrad) return tensor;
  if (wanted && !tensor.real) return beginHistory(m, tensor);
  switchGradient(m, tensor, wanted);
  return tensor;
}

/** Switches whether a leaf of the program requires grad; the real one is switched after the graph has run. */
function switchGradient(m: Interpreter, tensor: TensorValue, wanted: boolean): void {
  const { output } = m, { real, assigned, layoutChanges } = tensor;
  const refuse = (): never => breakGraph("gradientState", "requiresGrad_ changes a tensor");
  if (!real || m.batch !== null || m.regionDepths.length > 0 || layoutChanges.length > 0) return refuse();
  const before = assigned.get("requiresGrad");
  const known = before?.kind === "constant" ? before.value === true : real.requiresGrad;
  // A recorded write has made it a result
  if (known !== tensor.requiresGrad || !isDifferentiable(tensor.meta.dtype)) return refuse();
  refuseChangedHistory(m, real, true);
  if (leafHooks(m, tensor) === null) return refuse();
  if (wanted && !real.requiresGrad && !isSwitched(tensor)) {
    // What has read it would have a history
    if (tensor.node) return refuse();
    output.raised.push({ tensor, step: output.whereabouts.step() });
  } else if (wanted) {
    stepBack(output, tensor);
  } else {
    setAside(output, tensor);
  }
  tensor.requiresGrad = wanted;
  assigned.set("requiresGrad", constant(wanted));
}

/** Lets a detached view stand for a leaf. */
function setAside(output: OutputGraph, tensor: TensorValue): void {
  const leaf = output.nodeOf(tensor), { meta, real, source } = tensor;
  const plain = [...output.switched].find(([node, each]) => each === tensor && node !== leaf)?.[0] ??
    output.graph.create("call_function", "detach", {
      args: [leaf],
      name: "frozen",
      meta: {
        stack: output.whereabouts.stack(),
        value: { kind: "tensor", tensor: meta, requiresGrad: false },
      },
    });
  replaceNode(output, tensor, plain);
  output.tensors.set(leaf, new TensorValue(meta, true, leaf, real, source));
}

/** Lets the placeholder stand for a leaf again, if it has not always done so. */
function stepBack(output: OutputGraph, tensor: TensorValue): void {
  const plain = output.nodeOf(tensor), [leaf] = plain.inputs();
  if (!leaf) return;
  replaceNode(output, tensor, leaf);
  output.tensors.set(plain, new TensorValue(tensor.meta, false, plain, null, null));
}

function replaceNode({ tensors, switched }: OutputGraph, tensor: TensorValue, node: Node): void {
  if (tensor.node) switched.set(tensor.node, tensor);
  switched.set(node, tensor);
  tensors.set(node, tensor);
  tensor.node = node;
}
