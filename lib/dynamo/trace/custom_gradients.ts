/**
 * Traces functions with a gradient of their own: `forward` as any other function, and `backward` as a graph that a node
 * gives to the results. Invariant: a `backward` that is traced computes its gradients from the saved values alone; one
 * that does or reads anything else ends the graph before the call.
 */
import { isDifferentiable } from "../../base/dtype.ts";
import { orNull } from "../../base/errors.ts";
import { NotFunctional } from "../../autograd/functional.ts";
import { drawingNodes } from "../../autograd/graph_replay.ts";
import { CUSTOM_GRADIENT, type CustomGradient } from "../../graph/custom_gradient.ts";
import { takesGradients } from "../../graph/gradient_call.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, Node, type NodeMeta } from "../../graph/node.ts";
import { isNumberNode } from "../../graph/numbers.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { checkNoSavedHooks } from "./asked_gradients.ts";
import { allElements } from "./contents.ts";
import { type BuiltinModel, type Interpreter, PUSHED } from "./interpreter.ts";
import { argumentLike, traceRegion } from "./regions.ts";
import { reachable } from "./trace_state.ts";
import { shownNode } from "./shown_nodes.ts";

/** Models `traceHistory(call, gradients)`. */
export const traceCustomGradient: BuiltinModel = (m, { args: [call, gradients], completion }) => {
  if (call?.kind !== "object" || !gradients || !isCallable(gradients)) return breakGraph("builtin", "a call");
  if (m.batch !== null) return breakGraph("batch", "a function with a gradient of its own");
  if (m.regionDepths.length > 0) {
    return breakGraph(
      "gradientState",
      "a function with a gradient of its own inside of a branch, loop or gradient",
    );
  }
  if (m.autocast !== "") {
    return breakGraph("gradientState", "a function with a gradient of its own in a region of autocast");
  }
  checkNoSavedHooks();
  const listed = (key: string): TensorValue[] => tensorsIn(m, m.plainProperty(call, key));
  const inputs = listed("inputs"), results = listed("results"), written = listed("written");
  const kept = listed("kept");
  const name = m.plainProperty(call, "name"), isPartial = m.plainProperty(call, "isPartial");
  if (name?.kind !== "constant" || isPartial?.kind !== "constant") return breakGraph("builtin", "a call");
  const isTransposed = m.plainProperty(call, "isTransposed");
  if (isTransposed?.kind !== "constant" || isTransposed.value !== true) {
    return breakGraph("gradientState", "a function with tangents of its own");
  }
  if (results.length === 0) return UNDEFINED;
  if (new Set(results).size < results.length || results.some(({ real }) => real !== null)) {
    return breakGraph(
      "gradientState",
      "a function with a gradient of its own that returns a tensor from outside",
    );
  }
  if (isPartial.value === true && results.length > 1) {
    return breakGraph("gradientState", "gradients of several results that may not arrive");
  }
  const inputNodes = inputs.map((each) => m.output.nodeOf(each));
  const node = giveHistory(m, { inputs: inputNodes, results, written, name: String(name.value) });
  const grads = results.map(({ meta }) => argumentLike(m, meta, false));
  for (const { node } of grads) {
    if (node) {
      m.output.ofTape.set(node, { step: m.output.whereabouts.step(), what: "a gradient that arrives" });
    }
  }
  // The frame on top is that of the call itself
  m.later = { shared: new Set(reachable(m, m.callers.slice(0, -1)).keys()) };
  traceRegion(
    m,
    { callee: gradients, args: grads, fresh: grads },
    ({ module, inputs: saved, results: found }) => {
      m.later = null;
      refuseOtherWork(module);
      refuseUnsaved(m, saved, kept);
      m.output.later.defaults ||= module.graph.nodes.some(usesDefaults);
      const { arrangement } = found, positions = arrangement.kind === "object" ? arrangement.keys : [];
      const { output } = module.graph, [list] = output.args;
      output.args = [
        inputs.map((_, at): Argument => {
          const place = positions.indexOf(String(at));
          return Array.isArray(list) && place >= 0 ? list[place] : null;
        }),
      ];
      const gradient: CustomGradient = {
        name: String(name.value),
        graph: module.graph,
        written: results.flatMap((each, at) => written.includes(each) ? [at] : []),
      };
      node.meta.gradient = gradient;
      const own = results.map((each) => each.node);
      const [given = null, before = null] = node.args;
      node.args = [given, before, saved.map((each) => each instanceof Node ? savedAs(own, each) : each)];
      m.complete(completion, UNDEFINED);
    },
  );
  return PUSHED;
};

function savedAs(own: readonly (Node | null)[], node: Node): Argument {
  const at = own.indexOf(node);
  return at < 0 ? node : at;
}

function tensorsIn(m: Interpreter, list: Value | null): TensorValue[] {
  if (list?.kind !== "object" || list.exotic.kind !== "array") {
    return breakGraph("builtin", "a list of tensors");
  }
  return allElements(m, list).map((each) =>
    each.kind === "tensor" ? each : breakGraph("builtin", "a tensor")
  );
}

/** Appends the node from which the results get their history; its gradient is still missing. */
function giveHistory(
  m: Interpreter,
  { inputs, results, written, name }: {
    readonly inputs: readonly Node[];
    readonly results: readonly TensorValue[];
    readonly written: readonly TensorValue[];
    readonly name: string;
  },
): Node {
  const { output } = m, { graph, tensors } = output, stack = output.whereabouts.stack();
  const before = results.map((each) => output.nodeOf(each));
  const meta = (value: NodeMeta["value"]): Partial<NodeMeta> => ({ stack, value });
  const node = graph.create("call_function", CUSTOM_GRADIENT, {
    args: [inputs, before, []],
    name: name.replaceAll(/\W/g, "_") || "custom",
    meta: meta({ kind: "tensors", tensors: results.map((each) => each.meta), requiresGrad: true }),
  });
  output.noteOperation(node);
  for (const [index, result] of results.entries()) {
    const computed = before[index];
    if (!computed) continue;
    const root = shownNode(computed, { detached: true });
    const isShared = root !== computed || computed.op === "placeholder";
    const isSeen = () =>
      tensors.entries().some(([node, each]) =>
        each !== result && shownNode(node, { detached: true }) === root
      );
    if (written.includes(result) && (isShared || isSeen())) {
      return breakGraph(
        "gradientState",
        "a function with a gradient of its own that writes to memory of views",
      );
    }
    const item = graph.create("call_function", "getitem", {
      args: [node, index],
      meta: meta({ kind: "tensor", tensor: result.meta, requiresGrad: true }),
    });
    output.noteOperation(item);
    // What was computed from it before has no history
    tensors.delete(computed);
    tensors.set(item, result);
    result.node = item;
    result.requiresGrad = true;
    if (!isShared) continue;
    output.ofTape.set(item, { step: output.whereabouts.step(), what: "a view with a history of its own" });
    output.unshared.push(item);
  }
  return node;
}

/**
 * Breaks the graph if a gradient reads tensors that are not saved: it would see later writes to them, and find them in
 * each of several passes.
 */
function refuseUnsaved(
  { output: { tensors } }: Interpreter,
  read: readonly Argument[],
  kept: readonly TensorValue[],
): void {
  const unsaved = read.some((each) => {
    const tensor = each instanceof Node ? tensors.get(each) : undefined;
    return tensor !== undefined && !kept.includes(tensor);
  });
  if (unsaved) breakGraph("gradientState", "a gradient reads a tensor that it has not saved");
}

/** A gradient that is more than operations on tensors would not be the same when it is computed later. */
function refuseOtherWork({ graph, attributes }: GraphModule): void {
  const other = graph.nodes.find((node) =>
    node.op === "get_attr" || node.op === "call_module" || node.meta.onHost || node.meta.leaf ||
    node.meta.region || isNumberNode(node) || takesGradients(node) || Object.hasOwn(attributes, node.target)
  );
  if (other) breakGraph("gradientState", `${other.target} in a gradient of its own`);
  const drawing = orNull(NotFunctional, () => drawingNodes({ graph, attributes }));
  if (drawing === null || drawing.size > 0) {
    breakGraph("gradientState", "random numbers in a gradient of its own");
  }
}

/** Returns whether a node may be another one under another default type or device: its operands decide neither. */
function usesDefaults(node: Node): boolean {
  const { op, meta: { value } } = node;
  if (op !== "call_function" || value.kind !== "tensor") return false;
  const types = [...node.inputs()].flatMap(({ meta: { value } }) =>
    value.kind === "tensor" ? [value.tensor.dtype] : []
  );
  return types.length === 0 || (isDifferentiable(value.tensor.dtype) && !types.some(isDifferentiable));
}
