/**
 * In-place operations on traced tensors: the targets that they may write, and the histories of tensors after the write.
 * Invariant: the graph breaks before a write that the op or the tape rejects, or after which only the tape knows the
 * histories.
 */
import { canCast } from "../../base/type_info.ts";
import type { Node } from "../../graph/node.ts";
import type { ComposedMeta } from "../../ops/composition.ts";
import type { GraphValue } from "../../ops/graph_builder.ts";
import { sameShape } from "../../ops/shapes.ts";
import { refusedWrite } from "../../tensor/inplace.ts";
import { breakGraph, refuseCall } from "../break_reasons.ts";
import type { Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { standsForSwitched } from "./gradient_switches.ts";
import type { Inferred } from "./op_rule.ts";
import { refuseChangedHistory } from "./later_hooks.ts";
import { leaveToTape } from "./left_to_tape.ts";
import { shownInput, shownNode } from "./shown_nodes.ts";

/** Rejects the result of an in-place call that does not fit its target, for example a type of another category. */
export function checkInplace(target: GraphValue, result: Inferred): void {
  if (isMetas(result)) breakGraph("tensorMethod", "an in-place operation with several results");
  else if (!sameShape(result.shape, target.meta.shape)) {
    refuseCall(`an in-place operation with a result of shape [${result.shape}]`);
  } else if (!canCast(result.dtype, target.meta.dtype)) {
    refuseCall(`an in-place operation with a result of type ${result.dtype}`);
  }
  const { shape, strides } = target.meta;
  if (!shape.includes(0) && shape.some((size, d) => size !== 1 && strides[d] === 0)) {
    refuseCall("an in-place operation on elements that several indices share");
  }
}

/**
 * Breaks the graph at a recorded write to a leaf that requires grad, or to a view of one, which is an error of the
 * tape.
 */
export function checkLeaf(m: Interpreter, target: GraphValue): void {
  leaveToTape(m, target.node, "is written to");
  if (standsForSwitched(m.output, shownNode(target.node, { detached: false }))) {
    breakGraph("gradientState", "a recorded write to a tensor after requiresGrad_");
  }
  const root = shownInput(target.node, { detached: false });
  const { real = null, source = null } = (root && m.output.tensors.get(root)) ?? {};
  if (real) refuseChangedHistory(m, real, true);
  const refused = real && refusedWrite(real);
  if (refused) refuseCall(`an in-place operation on ${refused}`);
  const requires = (node: Node) => m.output.tensors.get(node)?.requiresGrad;
  if (!requires(target.node) && requires(shownNode(target.node, { detached: false }))) {
    refuseCall("an in-place operation on a view created without recording gradients");
  }
  // A tensor that requires grad because of a write in the graph has a history
  if (!real?.requiresGrad || !source) return;
  m.output.guard({ kind: "made", source });
}

/** Ends the graph at hooks of views that a write through any tensor of their memory takes from them. */
export function refuseLostHooks(m: Interpreter, target: Node): void {
  const root = shownInput(target, { detached: true }), real = root && m.output.tensors.get(root)?.real;
  if (real) refuseChangedHistory(m, real, false);
}

/** Breaks the graph at a write after which the tape gives a history to a view that was created without one. */
export function refuseLateHistories(m: Interpreter, target: Node, writesHistory: boolean): void {
  const { tensors, graph } = m.output, whole = shownNode(target, { detached: false });
  if (!writesHistory && !tensors.get(whole)?.requiresGrad) return;
  const isLate = (node: Node) =>
    node.meta.noGrad === true && tensors.get(node)?.requiresGrad === false &&
    shownNode(node, { detached: false }) === whole;
  if (graph.nodes.some(isLate)) {
    breakGraph("gradientState", "a write to memory that a view without history shows");
  }
}

/** Updates tensors after an in-place call: all that share memory with its receiver may now require grad. */
export function afterInplace(
  m: Interpreter,
  node: Node,
  { target, grad }: { readonly target: GraphValue; readonly grad: boolean },
): Value {
  const value = m.output.tensors.get(target.node);
  if (!value) return breakGraph("tensorMethod", "an in-place operation on an unknown tensor");
  if (grad) {
    m.firstWrite = Math.min(m.firstWrite, m.steps - 1);
    const aliases = m.output.history.aliases(target.node);
    if (!aliases) {
      m.output.graph.erase(node);
      return breakGraph("gradientState", `the history of what ${node.name} writes to`);
    }
    for (const [alias, requires] of aliases) {
      const shown = m.output.tensors.get(alias);
      if (shown) shown.requiresGrad = requires;
    }
  }
  value.written = true;
  return value;
}

/** Returns whether an operation has several results. */
export function isMetas(result: Inferred): result is readonly ComposedMeta[] {
  return Array.isArray(result);
}
