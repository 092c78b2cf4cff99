/**
 * `autograd.grad` inside a traced program: if all paths from the outputs to the inputs are in the graph, the gradients
 * become one node of it. Invariant: no tensor on these paths has a history or hooks unknown to the graph; a gradient
 * that only the tape can compute breaks the graph.
 */
import { hooksSavedTensors } from "../../autograd/saved_hooks.ts";
import { elementCount, isContiguous } from "../../graph/meta.ts";
import type { Node } from "../../graph/node.ts";
import { sameShape } from "../../ops/shapes.ts";
import { hintOf } from "../../sym/decide.ts";
import { breakGraph } from "../break_reasons.ts";
import { NO_HOOKS } from "../guards/leaf_hooks.ts";
import { isLeaf } from "../guards/runtime.ts";
import { NULL, type ObjectValue, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { guardDistinctTensors } from "./distinct_tensors.ts";
import { appendGradients } from "./gradient_nodes.ts";
import { firstRead, tapGradient } from "./gradient_taps.ts";
import type { CallRequest, Interpreter } from "./interpreter.ts";
import { refuseLaterHooks } from "./later_hooks.ts";
import { allElements, newArray } from "./contents.ts";
import { isPlain, optionsIn } from "./object_keys.ts";
import { refuseWithoutHistory } from "./written_memory.ts";

/** The arguments of a call by name, with outputs and inputs by position. */
function leadingByPosition(m: Interpreter, args: readonly Value[]): readonly Value[] {
  const [named] = args;
  if (args.length !== 1 || named?.kind !== "object" || !isPlain(m, named)) return args;
  const { outputs = UNDEFINED, inputs = UNDEFINED, ...options } = optionsIn(m, named);
  return [outputs, inputs, m.options(options)];
}

/** Models `autograd.grad(outputs, inputs, gradOutputs?, options?)`. */
export function gradientsAsked(m: Interpreter, request: CallRequest): Value {
  const args = leadingByPosition(m, request.args);
  if (m.batch !== null) return m.batch.gradients({ ...request, args });
  checkNoSavedHooks();
  refuseLaterHooks(m);
  const asked = askedOf(m, args), { outputs, inputs } = asked;
  if (outputs.some(({ requiresGrad }) => !requiresGrad) || inputs.some(({ requiresGrad }) => !requiresGrad)) {
    return refuseWithoutHistory(m, "autograd.grad");
  }
  const leave = (because: string): never => tapGradient(m, inputs, `autograd.grad: ${because}`);
  const tangents = outputs.map((output, k) => tangentOf(m, output, asked.tangents[k] ?? NULL));
  if (outputs.some(({ real }) => real)) return leave("an output was made outside of the graph");
  const nodes = inputs.map((input) => m.output.nodeOf(input));
  const call = {
    outputs: outputs.map((output) => m.output.nodeOf(output)),
    inputs: nodes,
    tangents,
    retainGraph: asked.retainGraph,
    createGraph: asked.createGraph,
  };
  const plan = m.output.history.asked(call);
  if (plan.kind === "refused") return leave(plan.because);
  if (plan.kind === "released") {
    // A second pass through values that the first has released is an error of the tape, so the first must be left to it
    const detail = "gradients flow twice through the same results";
    return m.restartAt(Math.min(...m.backwards), { kind: "backward", detail });
  }
  // Nothing outside the graph was computed from a tensor created in it
  if (inputs.some(({ real }) => real) && !plan.inputs.every((input) => relyOnLeaf(m, input))) {
    return leave("an input has a history or hooks of its own");
  }
  guardPlaces(m, inputs, plan.inputs);
  const found = plan.gradients.flatMap((grad, k) => {
    const node = nodes[k];
    return grad && node ? [{ grad, node, k, recorded: plan.recorded[k] === true }] : [];
  });
  if (found.length < inputs.length && !asked.allowUnused) {
    return breakGraph("throws", "an input of autograd.grad that does not contribute");
  }
  if (found.length === 0) return newArray(m, inputs.map(() => NULL));
  const hasGaps = found.some(({ grad }) => !isContiguous(grad.meta));
  const step = (hasGaps ? firstRead(m, inputs) : null) ?? m.output.whereabouts.step();
  const results = appendGradients(
    m,
    { ...call, inputs: found.map(({ node }) => node), complete: false },
    found,
  );
  for (const [at, { grad }] of found.entries()) {
    const node = results[at]?.node;
    if (!node || isContiguous(grad.meta)) continue;
    m.output.ofTape.set(node, {
      step,
      what: "autograd.grad: a gradient that is not row-major, such as that of a part in a cat,",
    });
    m.output.unshared.push(node);
  }
  const byInput = new Map(found.map(({ k }, at) => [k, results[at]]));
  return newArray(m, inputs.map((_, k) => byInput.get(k) ?? NULL));
}

interface Asked {
  readonly outputs: readonly TensorValue[];
  readonly inputs: readonly TensorValue[];
  readonly tangents: readonly Value[];
  readonly retainGraph: boolean;
  readonly createGraph: boolean;
  readonly allowUnused: boolean;
}

function askedOf(m: Interpreter, args: readonly Value[]): Asked {
  const [outputs, inputs, third, fourth] = args;
  const isOptions = third?.kind === "object" && third.exotic.kind !== "array";
  const options = isOptions ? third : fourth?.kind === "object" ? fourth : null;
  const named = options ? m.plainProperty(options, "gradOutputs") : null;
  const tangents = third && !isOptions && !isAbsent(third) ? third : named;
  const given = !tangents || isAbsent(tangents) ? [] : listOf(m, tangents);
  const flag = (name: string) => flagOf(m, options, name);
  if (flag("materializeGrads")) return breakGraph("gradientState", "zeros are requested for unused inputs");
  if (flag("isGradsBatched")) return breakGraph("gradientState", "one pass for each of several gradients");
  const createGraph = flag("createGraph") ?? false, roots = tensorsOf(m, outputs);
  if (given.length > 0 && given.length !== roots.length) {
    return breakGraph("throws", "another number of gradients than of outputs");
  }
  return {
    outputs: roots,
    inputs: tensorsOf(m, inputs),
    tangents: given,
    createGraph,
    retainGraph: flag("retainGraph") ?? createGraph,
    allowUnused: flag("allowUnused") ?? false,
  };
}

function isAbsent(value: Value): boolean {
  return value.kind === "constant" && (value.value === null || value.value === undefined);
}

function flagOf(m: Interpreter, options: ObjectValue | null, name: string): boolean | undefined {
  const value = options ? m.plainProperty(options, name) : null;
  if (!value) return undefined;
  if (value.kind !== "constant") return breakGraph("gradientState", `${name} is not known`);
  return value.value === undefined ? undefined : value.value === true;
}

function listOf(m: Interpreter, value: Value | undefined): readonly Value[] {
  if (value?.kind === "object" && value.exotic.kind === "array") return allElements(m, value);
  return value ? [value] : [];
}

function tensorsOf(m: Interpreter, value: Value | undefined): readonly TensorValue[] {
  const list = listOf(m, value);
  if (list.length === 0) return breakGraph("throws", "autograd.grad without tensors");
  return list.map((each) =>
    each.kind === "tensor"
      ? each
      : breakGraph("gradientState", "autograd.grad of a value that is not a tensor")
  );
}

/** Breaks the graph where hooks store saved tensors: a pass inside of the graph would not call them. */
export function checkNoSavedHooks(): void {
  if (hooksSavedTensors()) breakGraph("backward", "hooks store the tensors that it reads");
}

/** The gradient that a program passes for an output; null: ones. */
export function tangentOf(m: Interpreter, output: TensorValue, given: Value): Node | null {
  if (given.kind === "tensor") {
    return sameShape(given.meta.shape, output.meta.shape)
      ? m.output.nodeOf(given)
      : breakGraph("throws", "a gradient of another shape");
  }
  if (!isAbsent(given)) return breakGraph("throws", "a gradient that is not a tensor");
  return hintOf(elementCount(output.meta)) === 1
    ? null
    : breakGraph("throws", "a gradient of several elements is needed");
}

/**
 * Requires that places hold different tensors: gradients of one tensor in two places would be summed, and it is used if
 * either is.
 */
function guardPlaces({ output }: Interpreter, asked: readonly TensorValue[], behind: readonly Node[]): void {
  const members = new Set(asked), others = new Set(behind.flatMap((node) => output.tensors.get(node) ?? []));
  guardDistinctTensors(output, [...members], [...others.difference(members)]);
}

/** Guards that an input has no history and no hooks; returns false if it has. */
function relyOnLeaf(m: Interpreter, input: Node): boolean {
  const { real = null, source = null } = m.output.tensors.get(input) ?? {};
  if (!real || !source || !isLeaf(real, NO_HOOKS)) return false;
  m.output.guard({ kind: "leaf", source, hooks: NO_HOOKS });
  return true;
}
