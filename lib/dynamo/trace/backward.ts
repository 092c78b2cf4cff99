/**
 * `loss.backward()` inside a traced program: the gradients become one node of the same graph, and what they add to
 * `.grad` becomes part of the trace. Input: a traced result; output: changed gradients of the leaves it was made
 * from. Invariant: leaves are guarded to have no history and no hooks; what only the tape can do breaks the graph.
 */
import { gradientArguments, GRADIENTS } from "../../graph/gradient_call.ts";
import { contiguousMeta, elementCount, type TensorMeta } from "../../graph/meta.ts";
import type { Node, NodeMeta } from "../../graph/node.ts";
import { invariant } from "../../base/errors.ts";
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
  const outputs = [m.output.nodeOf(loss)], tangents = [tangent];
  const plan = m.output.history.plan({ outputs, tangents, retainGraph });
  if (plan.kind === "refused") return breakGraph("backward", plan.because);
  if (plan.kind === "released") {
    // A second pass through what the first has used up fails on the tape, so the first must be left to it.
    const first = Math.min(...m.backwards);
    return m.restartAt(first, { kind: "backward", detail: "gradients flow twice through the same results" });
  }
  const leaves = plan.gradients.map(({ input }) => leafAt(m, input));
  m.backwards.push(m.steps - 1);
  if (leaves.length === 0) return UNDEFINED;
  const call = { outputs, inputs: plan.gradients.map(({ input }) => input), tangents, retainGraph };
  const metas = leaves.map(({ meta }) => contiguousMeta(meta.shape, meta.dtype, meta.device));
  const node = appendCall(m, metas, gradientArguments({ ...call, complete: true }));
  m.output.history.define(node, plan.gradients);
  leaves.forEach((leaf, index) => accumulate(m, leaf, appendItem(m, node, { index, meta: metas[index] })));
  return UNDEFINED;
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

/** The leaf behind an input that a gradient flows into. */
function leafAt(m: Interpreter, input: Node): TensorValue {
  const value = m.output.tensors.get(input);
  const { real = null, source = null } = value ?? {};
  if (!value || !real || !source || !isPlainLeaf(real)) {
    return breakGraph("backward", "an input has a history or hooks of its own");
  }
  m.output.guard({ kind: "leaf", source });
  return value;
}

/** The node that takes the gradients. */
function appendCall(
  m: Interpreter,
  tensors: readonly TensorMeta[],
  given: ReturnType<typeof gradientArguments>,
): Node {
  const meta: Partial<NodeMeta> = {
    stack: m.output.whereabouts.stack(),
    value: { kind: "tensors", tensors, requiresGrad: false },
  };
  const node = m.output.graph.create("call_function", GRADIENTS, { ...given, name: "gradients", meta });
  m.output.noteOperation(node);
  return node;
}

/** One of its results. */
function appendItem(
  m: Interpreter,
  from: Node,
  { index, meta }: { readonly index: number; readonly meta: TensorMeta | undefined },
): TensorValue {
  invariant(meta, `Expected metadata of gradient ${index}`);
  return tensorOfNode(
    m,
    m.output.graph.create("call_function", "getitem", {
      args: [from, index],
      meta: { stack: from.meta.stack, value: { kind: "tensor", tensor: meta, requiresGrad: false } },
    }),
  );
}

/** Adds a gradient to what a leaf has, as the tape does: in place where there is one already. */
function accumulate(m: Interpreter, leaf: TensorValue, grad: TensorValue): void {
  const known = readTensorProperty(m, leaf, "grad");
  if (known.kind !== "tensor") return void leaf.assigned.set("grad", grad);
  const former = m.gradEnabled;
  m.gradEnabled = false;
  callOp(m, m.opNamed("add_"), [known, grad], true);
  m.gradEnabled = former;
}
