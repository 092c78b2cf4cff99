/**
 * Runs compiled graphs as the captured program: tensors in, tensors out, with mutations, aliases and gradients as if
 * the ops had run one by one. Invariant: a compiled call is one node of the autograd graph, which can be
 * differentiated again.
 */
import { DynError, InternalError, isUndone, noteUndone } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import { unflatten } from "../base/tree.ts";
import type { Graph } from "../graph/node.ts";
import { readBinding, type SizeBinding, sizeBindings } from "../graph/sizes.ts";
import { gradientEdge, setHistory } from "../autograd/node.ts";
import { asWhole, callResolved } from "../tensor/eager.ts";
import { checkLeaf } from "../tensor/inplace.ts";
import { ambient, noGrad } from "../tensor/modes.ts";
import { defaultGenerator } from "../tensor/random.ts";
import { isTensor, recordsGrad, type Tensor } from "../tensor/tensor.ts";
import { evaluate, Sym } from "../sym/expr.ts";
import type { ViewStep } from "../autograd/functional.ts";
import { backwardCalls } from "./backward_calls.ts";
import { cloneWithStrides, CompiledNode, LostNode, madeForBackward } from "./compiled_node.ts";
import { type CompiledPair, listOf, tensorAt } from "./compiled_pair.ts";
import type { OutputPlan, RuntimePlan } from "./joint.ts";
import { drawKeys } from "./keys.ts";

/** The function that replaces the captured graph. `isOwn`: dyn itself has compiled the halves. */
export function runtimeOf(pair: CompiledPair, isOwn: boolean): (...args: unknown[]) => unknown {
  const { plan, forward, backward, captured, functional } = pair;
  const callBackward = backward && backwardCalls(backward, { captured, isOwn });
  let bindings: ReadonlyMap<Sym, SizeBinding> | undefined;
  const capturedCount = plan.inputCount - plan.lifted.length - (plan.randomOps > 0 ? 1 : 0);
  const written = new Set(plan.mutations.map(({ output }) => output));
  const readAfterWrite = inputsReadAfterWrites(plan);
  const hasLostViews = plan.lost.some(({ throughViews }) => throughViews.length > 0);
  const placesOfViews = new Map(
    plan.differentiable.flatMap((each, place) => each.kind === "view" ? [[each.leaf, place] as const] : []),
  );
  // Nothing visible to the program is written before the forward graph has run.
  const run = <R>(body: () => R, takeBack: () => void): R => {
    try {
      return body();
    } catch (error) {
      takeBack();
      throw isUndone(error, functional.graph) ? noteUndone(error, captured.graph) : error;
    }
  };
  return (...args) => {
    if (args.length !== capturedCount) {
      throw new DynError(`Expected ${capturedCount} arguments but found ${args.length}`);
    }
    const inputs = [...args, ...plan.lifted], random = defaultGenerator.state;
    refuseLeaves(pair, inputs);
    if (plan.randomOps > 0) inputs.push(drawKeys(plan.randomOps, deviceOf(functional.graph)));
    const tensors = inputs.map((input) => isTensor(input) ? input : null);
    const sizeOf = (symbol: Sym): number => {
      bindings ??= new Map(sizeBindings(functional.graph).map((each) => [each.symbol, each]));
      const binding = bindings.get(symbol);
      if (!binding) throw new InternalError(`Expected an input that determines the size ${symbol}`);
      return readBinding(binding, inputs);
    };
    const recorded = callBackward && records(plan, tensors);
    if (recorded && readAfterWrite.some((at) => tensors[at]?.viewState)) {
      logs.emit("perf_hints", "A graph runs op by op: it writes to a view and reads it, both with gradients");
      return captured.forward(...args);
    }
    const former = recorded ? formerOf(plan, inputs) : new Map<number, Tensor>();
    const given = run(() => listOf(noGrad(() => forward(...inputs))), () => {
      defaultGenerator.state = random;
    });
    // An interpreted graph may return views of its own memory
    const outputs = given.map((output, at) =>
      written.has(at) || !isTensor(output) ? output : asWhole(output)
    );
    noteWrites(plan, inputs, outputs);
    let node: CompiledNode | null = null;
    if (recorded) {
      const sizes = backward.sizes.map(sizeOf);
      const values = { inputs, former, outputs };
      node = new CompiledNode({ pair, backward, callBackward, values, sizes, random });
      for (const [place, result] of plan.differentiable.entries()) {
        if (result.kind === "output") node.makes(tensorAt(outputs, result.output), place);
      }
      node.save(sizeOf);
    } else if (backward) {
      releaseUnshared(inputs, outputs, backward.savedFrom);
    }
    if (ambient.gradEnabled) markLost(plan, { inputs, outputs });
    writeBack(pair, tensors, outputs);
    const leaves: unknown[] = [], made: boolean[] = [];
    const leafAt = (k: number): unknown => {
      const output = plan.outputs[k];
      if (!made[k] && output) {
        leaves[k] = resultOf(output, { inputs, outputs, leafAt, sizeOf });
        // Must precede the creation of its views, which pass their gradients to it on the tape
        const place = placesOfViews.get(k);
        if (place !== undefined) node?.makes(tensorAt(leaves, k), place);
      }
      made[k] = true;
      return leaves[k];
    };
    for (let k = 0; k < plan.outputs.length; k++) leafAt(k);
    if (ambient.gradEnabled && hasLostViews) markLost(plan, { inputs, outputs, leaves });
    return unflatten(plan.tree, leaves);
  };
}

/**
 * Inputs through whose new values gradients of results flow. If the input is a view, that is a separate node, between a
 * write to its base and the values computed from it: one node cannot be on both sides.
 */
function inputsReadAfterWrites({ mutations, differentiable, connections }: RuntimePlan): number[] {
  return mutations.flatMap(({ input, output }) => {
    const place = differentiable.findIndex((each) => each.kind === "output" && each.output === output);
    return connections.dependents[place]?.length ? [input] : [];
  });
}

/** Returns whether a call must be on the tape. */
function records({ recordsAlways }: RuntimePlan, tensors: readonly (Tensor | null)[]): boolean {
  return recordsAlways ? tensors.some((tensor) => tensor?.requiresGrad) : recordsGrad(tensors);
}

/** Copies of inputs that a call is going to overwrite, if running its graph again needs their present values. */
function formerOf({ overwritten }: RuntimePlan, inputs: readonly unknown[]): Map<number, Tensor> {
  const copyOf = (input: number) => noGrad(() => cloneWithStrides(tensorAt(inputs, input)));
  return new Map(overwritten.map((input) => [input, copyOf(input)]));
}

/** Makes results require a gradient even if a backward pass from them must fail; `leaves`: through views, too. */
function markLost(
  { lost }: RuntimePlan,
  { inputs, outputs, leaves }: {
    readonly inputs: readonly unknown[];
    readonly outputs: readonly unknown[];
    readonly leaves?: readonly unknown[];
  },
): void {
  for (const { output, error, inputs: behind, through, throughViews } of lost) {
    if (leaves && throughViews.length === 0) continue;
    const node = new LostNode(error, [
      ...behind.map((at) => tensorAt(inputs, at)),
      ...through.map((at) => tensorAt(outputs, at)),
      ...leaves ? throughViews.map((at) => tensorAt(leaves, at)) : [],
    ]);
    setHistory(tensorAt(outputs, output), node, 0);
  }
}

/** Frees values that were saved for a backward pass that cannot happen. */
function releaseUnshared(inputs: readonly unknown[], outputs: readonly unknown[], savedFrom: number): void {
  for (const { storage } of madeForBackward(inputs, outputs, savedFrom)) storage.release();
}

/** The device of a graph's random keys: that of their placeholder. */
function deviceOf(graph: Graph): string {
  const { value } = graph.placeholders.at(-1)?.meta ?? {};
  return value?.kind === "tensor" ? value.tensor.device : "cpu";
}

/** Throws, before anything has happened, if a leaf that requires grad would be written to. */
function refuseLeaves({ plan, captured }: CompiledPair, inputs: readonly unknown[]): void {
  if (!ambient.gradEnabled) return;
  for (const { input, differentiable } of plan.mutations) {
    const target = inputs[input];
    if (!differentiable || !isTensor(target)) continue;
    try {
      checkLeaf(target);
    } catch (error) {
      throw error instanceof DynError ? noteUndone(error, captured.graph) : error;
    }
  }
}

/** Bumps the versions of inputs that the compiler wrote to in place, before anything is saved. */
function noteWrites(plan: RuntimePlan, inputs: readonly unknown[], outputs: readonly unknown[]): void {
  for (const { input, output } of plan.mutations) {
    const target = inputs[input];
    if (isTensor(target) && outputs[output] === target) target.storage.version++;
  }
}

/** Copies the new values of mutated inputs into the caller's tensors. */
function writeBack(
  { plan, backward }: CompiledPair,
  inputs: readonly (Tensor | null)[],
  outputs: readonly unknown[],
): void {
  for (const { input, output, differentiable } of plan.mutations) {
    const target = inputs[input], value = tensorAt(outputs, output);
    if (!target) throw new InternalError(`Expected a tensor at input ${input}`);
    if (value === target) continue;
    if (differentiable && ambient.gradEnabled) {
      const history = gradientEdge(value);
      if (history === null || target.viewState !== null) target.copy_(value);
      else {
        // Keeps the place on the tape, so that gradients of other results flow through it, or fail
        noGrad(() => target.copy_(value));
        setHistory(target, history.node, history.output);
      }
      continue;
    }
    noGrad(() => target.copy_(value));
    const others = [...inputs, ...outputs.filter((_, at) => at !== output)];
    const shared = others.some((other) => isTensor(other) && other.storage === value.storage) ||
      backward?.saved.some((saved) => saved.kind === "output" && saved.output === output);
    if (!shared) value.storage.release();
  }
}

interface ResultContext {
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
  /** Returns the value of another leaf. */
  readonly leafAt: (leaf: number) => unknown;
  readonly sizeOf: (symbol: Sym) => number;
}

function resultOf(plan: OutputPlan, { inputs, outputs, leafAt, sizeOf }: ResultContext): unknown {
  switch (plan.kind) {
    case "constant":
      return plan.value;
    case "size":
      return evaluate(plan.size, sizeOf);
    case "input":
      return inputs[plan.input];
    case "inputView":
      return replay(tensorAt(inputs, plan.input), plan.steps, sizeOf);
    case "result":
      return outputs[plan.output];
    case "resultView":
      return replay(tensorAt(outputs, plan.output), plan.steps, sizeOf);
    case "same":
      return leafAt(plan.leaf);
    case "leafView":
      return replay(tensorOf(leafAt(plan.leaf)), plan.steps, sizeOf);
    default:
      return plan satisfies never;
  }
}

function tensorOf(value: unknown): Tensor {
  return tensorAt([value], 0);
}

/** Recreates views on a real tensor. */
function replay(base: Tensor, steps: readonly ViewStep[], sizeOf: (symbol: Sym) => number): Tensor {
  let tensor = base;
  for (const { definition, args, of, index, recorded } of steps) {
    const given: Record<string, Parameters<typeof callResolved>[1][string]> = {};
    for (const [name, value] of Object.entries(args)) {
      const known = concrete(name === of ? null : isPlain(value) ? value : null, sizeOf);
      given[name] = known;
    }
    given[of] = tensor;
    const run = () => callResolved(definition, given);
    const result = recorded ? run() : noGrad(run);
    const found = isTensor(result) ? result : result[index ?? 0];
    if (!found) throw new InternalError(`Expected result ${index} of ${definition.name}`);
    tensor = found;
  }
  return tensor;
}

type PlainArgument = null | number | bigint | boolean | string | Sym | readonly (number | Sym)[];

/** Views take no tensor arguments besides their base */
function isPlain(value: unknown): value is PlainArgument {
  if (Array.isArray(value)) return value.every((each) => typeof each === "number" || each instanceof Sym);
  return value === null || value instanceof Sym || typeof value !== "object";
}

function concrete(value: PlainArgument, sizeOf: (symbol: Sym) => number) {
  if (value instanceof Sym) return evaluate(value, sizeOf);
  if (Array.isArray(value)) return value.map((each) => each instanceof Sym ? evaluate(each, sizeOf) : each);
  return value;
}
