/**
 * `loss.backward()` inside a traced program: the gradients become one node of the same graph, and their accumulation
 * into `.grad` becomes part of the trace. Invariant: guards check that leaves have no history and exactly these hooks;
 * a pass that only the tape can run breaks the graph.
 */
import { isContiguous } from "../../graph/meta.ts";
import type { Node } from "../../graph/node.ts";
import { breakGraph } from "../break_reasons.ts";
import { type LeafHooks, NO_HOOKS } from "../guards/leaf_hooks.ts";
import { NULL, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { checkNoSavedHooks, tangentOf } from "./asked_gradients.ts";
import { guardDistinctTensors } from "./distinct_tensors.ts";
import { appendGradients } from "./gradient_nodes.ts";
import { callAfterHooks, callHooks } from "./gradient_hooks.ts";
import { leafHooks } from "./gradient_switches.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "./interpreter.ts";
import { refuseLaterHooks } from "./later_hooks.ts";
import { readTensorProperty } from "./tensor_properties.ts";
import { callOp } from "./tensor_ops.ts";
import { refuseWithoutHistory } from "./written_memory.ts";

/** Models `backward(gradient, retainGraph, createGraph)`. */
export function backward(
  m: Interpreter,
  loss: TensorValue,
  { args, completion }: Pick<CallRequest, "args" | "completion">,
): CallResult {
  if (!loss.requiresGrad) return refuseWithoutHistory(m, "backward");
  if (loss.real) return breakGraph("backward", "the tensor was made outside of the graph");
  checkNoSavedHooks();
  refuseLaterHooks(m);
  const { gradient, retainGraph, createGraph } = named(m, args);
  const tangent = tangentOf(m, loss, gradient ?? NULL);
  const outputs = [m.output.nodeOf(loss)], tangents = [tangent];
  const plan = m.output.history.plan({ outputs, tangents, retainGraph, createGraph });
  if (plan.kind === "refused") return breakGraph("backward", plan.because);
  if (plan.kind === "released") {
    // A second pass through values that the first has released is an error of the tape, so the first must be left to
    // it.
    const first = Math.min(...m.backwards);
    return m.restartAt(first, { kind: "backward", detail: "gradients flow twice through the same results" });
  }
  const leaves = plan.gradients.map(({ leaf }) => leafAt(m, leaf));
  if (leaves.length === 0) {
    m.output.noteBackward(outputs);
    m.backwards.push(m.steps - 1);
    return UNDEFINED;
  }
  // The gradient of one leaf in two places is summed before it is added or hooks see it
  guardDistinctTensors(m.output, leaves.map(({ tensor }) => tensor));
  const inputs = plan.gradients.map(({ leaf }) => leaf);
  const listened = ({ hooks: { before, after } }: Leaf) => before.length + after.length > 0;
  if (createGraph && leaves.some(listened)) {
    return breakGraph("backward", "a hook whose operations are recorded");
  }
  if (leaves.some((leaf) => listened(leaf) && !leaf.tensor.requiresGrad)) {
    return breakGraph("backward", "a hook listens at a leaf that no longer requires grad");
  }
  const turns = leaves.some(listened) ? turnsOf(m, outputs) : null;
  const isSeen = plan.gradients.some(({ grad }, k) => {
    const leaf = leaves[k];
    return leaf && listened(leaf) && !isContiguous(grad.meta);
  });
  if (isSeen) return breakGraph("backward", "a hook sees the memory layout of a gradient");
  const grads = appendGradients(
    m,
    { outputs, inputs, tangents, retainGraph, createGraph, complete: true },
    plan.gradients,
  );
  const arriving = leaves.flatMap((leaf, k): Arriving[] => {
    const grad = grads[k], node = inputs[k];
    return grad && node ? [{ ...leaf, grad, turn: turns?.get(node) ?? 0 }] : [];
  });
  if (!turns) {
    for (const { tensor, grad } of arriving) accumulate(m, tensor, { grad, createGraph });
    return UNDEFINED;
  }
  const left = arriving.toSorted((a, b) => a.turn - b.turn);
  const next = (): void => {
    const leaf = left.shift();
    if (!leaf) return m.complete(completion, UNDEFINED);
    callHooks(m, leaf, (grad) => {
      accumulate(m, leaf.tensor, { grad, createGraph });
      callAfterHooks(m, leaf, next);
    });
  };
  next();
  return PUSHED;
}

interface Leaf {
  readonly tensor: TensorValue;
  /** The hooks on its gradients. */
  readonly hooks: LeafHooks;
}

interface Arriving extends Leaf {
  readonly grad: TensorValue;
  /** Its position in the order in which the pass completes leaves. */
  readonly turn: number;
}

function turnsOf(m: Interpreter, outputs: readonly Node[]): ReadonlyMap<Node, number> {
  return m.output.history.turns(outputs) ??
    breakGraph("backward", "hooks listen, and a leaf was written to before");
}

interface Named {
  readonly gradient: Value | undefined;
  readonly retainGraph: boolean;
  readonly createGraph: boolean;
}

/** The arguments by name; the trailing ones may be passed as one object. */
function named(m: Interpreter, args: readonly Value[]): Named {
  const options = args.find((arg) => arg.kind === "object");
  const argument = (index: number, name: string): Value | undefined => {
    const given = args[index];
    if (given && given.kind !== "object") return given;
    return options?.kind === "object" ? m.plainProperty(options, name) ?? undefined : undefined;
  };
  const flag = (index: number, name: string): boolean | undefined => {
    const value = argument(index, name);
    if (!value) return undefined;
    if (value.kind !== "constant") return breakGraph("backward", `${name} is not known`);
    return value.value === undefined ? undefined : value.value === true;
  };
  const createGraph = flag(2, "createGraph") ?? false, inputs = argument(3, "inputs");
  if (inputs && !(inputs.kind === "constant" && (inputs.value === null || inputs.value === undefined))) {
    return breakGraph("backward", "gradients are requested for some inputs only");
  }
  return {
    gradient: argument(0, "gradient"),
    retainGraph: flag(1, "retainGraph") ?? createGraph,
    createGraph,
  };
}

/** A leaf into which a gradient flows. */
function leafAt(m: Interpreter, node: Node): Leaf {
  const tensor = m.output.switched.get(node) ?? m.output.tensors.get(node);
  if (tensor?.isBegun) return { tensor, hooks: NO_HOOKS };
  const hooks = tensor ? leafHooks(m, tensor) : null;
  if (!tensor || !hooks) return breakGraph("backward", "an input has a history of its own");
  return { tensor, hooks };
}

/**
 * Adds a gradient to that of a leaf, as the tape does: in place if it exists, unless it has a history or needs one;
 * not if the leaf no longer requires grad.
 */
function accumulate(
  m: Interpreter,
  leaf: TensorValue,
  { grad, createGraph }: { readonly grad: TensorValue; readonly createGraph: boolean },
): void {
  if (!leaf.requiresGrad) return;
  const known = readTensorProperty(m, leaf, "grad");
  if (known.kind !== "tensor") return void leaf.assigned.set("grad", grad);
  const former = m.gradEnabled, replaces = createGraph || known.requiresGrad;
  m.gradEnabled = createGraph;
  const sum = callOp(m, m.opNamed(replaces ? "add" : "add_"), [known, grad], true);
  m.gradEnabled = former;
  if (replaces) leaf.assigned.set("grad", sum);
}
