/**
 * `loss.backward()` inside a traced program: the gradients become nodes of the same graph, and what they add to
 * `.grad` becomes part of the trace. Input: a traced result; output: changed gradients of the leaves it was made
 * from. Invariant: leaves are guarded to have no history and no hooks; what only the tape can do breaks the graph.
 */
import { appendGradients, GraphGradientError } from "../../autograd/graph_gradient.ts";
import type { Node } from "../../graph/node.ts";
import { elementCount } from "../../graph/meta.ts";
import { findTarget } from "../../ops/table.ts";
import { hintOf } from "../../sym/decide.ts";
import { breakGraph } from "../break_reasons.ts";
import { isPlainLeaf } from "../guards/runtime.ts";
import { type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { readTensorProperty } from "./tensor_properties.ts";
import { callOp, tensorOfNode } from "./tensor_ops.ts";

/** Models `backward(gradient, retainGraph, createGraph)`. */
export function backward(m: Interpreter, loss: TensorValue, args: readonly Value[]): Value {
  if (!loss.requiresGrad) return breakGraph("throws", "backward of a tensor that does not require grad");
  if (loss.real) return breakGraph("backward", "the tensor was made outside of the graph");
  const { gradient, retainGraph, createGraph } = named(m, args);
  if (createGraph) return breakGraph("backward", "createGraph");
  const tangent = gradient?.kind === "tensor" ? m.output.nodeOf(gradient) : null;
  if (tangent === null) {
    if (
      gradient && !(gradient.kind === "constant" && (gradient.value === null || gradient.value === undefined))
    ) {
      return breakGraph("throws", "a gradient that is no tensor");
    }
    if (hintOf(elementCount(loss.meta)) !== 1) return breakGraph("throws", "backward of several elements");
  }
  const node = m.output.nodeOf(loss);
  refuseSpent(m, node);
  const leaves = leavesOf(m, node);
  const found = append(m, { node, tangent }, { leaves, retainGraph });
  m.backwards.set(node, m.steps - 1);
  const seen = new Set<Node>();
  leaves.forEach((leaf, i) => {
    const grad = found[i];
    if (!grad) return;
    accumulate(m, leaf, { grad, own: !seen.has(grad) && grad !== tangent && isFresh(grad) });
    seen.add(grad);
  });
  return UNDEFINED;
}

/** A second pass through what the first has used up fails on the tape, so the first must be left to it. */
function refuseSpent(m: Interpreter, node: Node): void {
  const pending = [node], met = new Set<Node>();
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (met.has(next)) continue;
    met.add(next);
    if (next.meta.spent) {
      const first = Math.min(...m.backwards.values());
      m.restartAt(first, { kind: "backward", detail: "gradients flow twice through the same results" });
    }
    if (!next.meta.noGrad) pending.push(...next.inputs());
  }
}

interface Named {
  readonly gradient: Value | undefined;
  readonly retainGraph: boolean;
  readonly createGraph: boolean;
}

/** The arguments by name; the trailing ones may come as one object. */
function named(m: Interpreter, args: readonly Value[]): Named {
  const options = args.find((arg) => arg.kind === "object");
  const argument = (index: number, name: string): Value | undefined => {
    const given = args[index];
    if (given && given.kind !== "object") return given;
    return options?.kind === "object" ? m.plainProperty(options, name) ?? undefined : undefined;
  };
  const flag = (index: number, name: string): boolean => {
    const value = argument(index, name);
    if (!value) return false;
    if (value.kind !== "constant") return breakGraph("backward", `${name} is not known`);
    return value.value === true;
  };
  return {
    gradient: argument(0, "gradient"),
    retainGraph: flag(1, "retainGraph"),
    createGraph: flag(2, "createGraph"),
  };
}

/** The inputs that gradients of a node flow into. */
function leavesOf(m: Interpreter, node: Node): TensorValue[] {
  const reached = new Set<Node>();
  const pending = [node];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    pending.push(...next.inputs());
  }
  const leaves: TensorValue[] = [];
  for (const [input, value] of m.output.tensors) {
    if (!reached.has(input) || input.op !== "placeholder" || !value.requiresGrad) continue;
    const { real, source } = value;
    if (!real || !source || !isPlainLeaf(real)) {
      return breakGraph("backward", "an input has a history or hooks of its own");
    }
    m.output.guard({ kind: "leaf", source });
    leaves.push(value);
  }
  return leaves;
}

function append(
  m: Interpreter,
  output: { readonly node: Node; readonly tangent: Node | null },
  { leaves, retainGraph }: { readonly leaves: readonly TensorValue[]; readonly retainGraph: boolean },
): readonly (Node | null)[] {
  const { graph } = m.output;
  const before = new Set(graph.nodes);
  try {
    const inputs = leaves.map((leaf) => m.output.nodeOf(leaf));
    return appendGradients(graph, { outputs: [output], inputs, retainGraph });
  } catch (error) {
    if (!(error instanceof GraphGradientError)) throw error;
    // Some were made in the middle, next to the calls that they compose again.
    for (const node of graph.nodes.toReversed()) {
      if (!before.has(node) && node.users.size === 0) graph.erase(node);
    }
    return breakGraph("backward", error.message);
  }
}

/** Whether a node makes memory of its own that nothing else refers to. */
function isFresh(node: Node): boolean {
  const target = node.op === "call_function" || node.op === "call_method"
    ? findTarget(node.target)
    : undefined;
  return target !== undefined && !target.inplace && target.definition.implementation.kind === "lower" &&
    node.users.size === 0;
}

/** Adds a gradient to what a leaf has, as the tape does: in place where there is one already. */
function accumulate(
  m: Interpreter,
  leaf: TensorValue,
  { grad, own }: { readonly grad: Node; readonly own: boolean },
): void {
  const former = m.gradEnabled;
  m.gradEnabled = false;
  const given = tensorOfNode(m, grad);
  const known = readTensorProperty(m, leaf, "grad");
  if (known.kind === "tensor") {
    const target = findTarget("add_");
    if (target) callOp(m, target, [known, given], true);
  } else {
    const kept = own ? given : callOp(m, m.opNamed("clone"), [given], true);
    leaf.assigned.set("grad", kept);
  }
  m.gradEnabled = former;
}
