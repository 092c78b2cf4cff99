/**
 * One run of a graph on copies of its arguments, with all its effects for comparison: results, changed arguments,
 * gradients. Invariant: the program's tensors and the random generator are unchanged; two trials of one case use the
 * same tangents.
 */
import { flatten, specText, type TreeSpec } from "../../base/tree.ts";
import { isDifferentiable } from "../../base/dtype.ts";
import { grad } from "../../autograd/entry_points.ts";
import type { CompiledFunction } from "../../graph/backend.ts";
import { gradientCallOf, takesGradients } from "../../graph/gradient_call.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { isList, Node } from "../../graph/node.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import { ops } from "../../tensor/eager.ts";
import { ambient } from "../../tensor/modes.ts";
import { defaultGenerator, type GeneratorState } from "../../tensor/random.ts";
import { isTensor, modes, type Tensor } from "../../tensor/tensor.ts";
import { type Copies, copyArguments, type Precision } from "./copies.ts";
import { inDouble } from "./double.ts";

/** The outcome of a run. */
export type Trial =
  | {
    readonly kind: "done";
    /** Leaves of the result, and their structure. */
    readonly results: readonly unknown[];
    readonly structure: TreeSpec;
    /** The arguments after the run. */
    readonly state: readonly unknown[];
    /** The gradient of each argument; null if it needs none or there is none. */
    readonly gradients: readonly (Tensor | null)[];
    /** The error of the backward pass, or null. */
    readonly backwardError: unknown;
  }
  | { readonly kind: "threw"; readonly error: unknown };

/** The arguments and settings of a run. */
export interface TrialCase {
  readonly args: readonly unknown[];
  /** Whether gradients are compared: functional graphs have none. */
  readonly differentiate: boolean;
  /** Results whose history the graph itself has consumed. */
  readonly spent: ReadonlySet<number>;
  /** The random generator at the beginning. */
  readonly generator: GeneratorState;
  /** Runs the call and its backward pass, which it may observe. */
  readonly within?: <R>(body: () => R) => R;
}

/** The case of a graph called with these arguments now. */
export function caseOf(gm: GraphModule, args: readonly unknown[]): TrialCase {
  const [list = null] = gm.graph.output.args;
  const results = isList(list) ? list : [list];
  const used = usedHistory(gm);
  const spent = results.flatMap((each, at) => each instanceof Node && used.has(each) ? [at] : []);
  return {
    args,
    differentiate: gm.signature === undefined,
    spent: new Set(spent),
    generator: defaultGenerator.state,
  };
}

/** Returns the nodes whose history was consumed by gradients inside the graph. */
function usedHistory({ graph }: GraphModule): Set<Node> {
  const used = new Set<Node>();
  for (const node of graph.nodes) {
    if (!takesGradients(node)) continue;
    const { outputs, retainGraph } = gradientCallOf(node);
    if (!retainGraph) { for (const output of outputs) used.add(output); }
  }
  for (const node of graph.nodes.toReversed()) {
    if (used.has(node) && node.op !== "placeholder") { for (const input of node.inputs()) used.add(input); }
  }
  for (const node of graph.nodes) {
    if (node.op === "placeholder") used.delete(node);
    else if ([...node.inputs()].some((input) => used.has(input))) used.add(node);
  }
  return used;
}

/** Runs a function on copies of a case's arguments. */
export function runTrial(run: CompiledFunction, of: TrialCase, precision: Precision = "same"): Trial {
  const after = defaultGenerator.state;
  const copies = copyArguments(of.args, precision);
  defaultGenerator.state = of.generator;
  const { within = (body) => body() } = of;
  const tried = () => within(() => attempt(run, of, { ...copies, precision }));
  try {
    return precision === "same" ? tried() : inDouble(tried);
  } finally {
    defaultGenerator.state = after;
  }
}

function attempt(
  run: CompiledFunction,
  of: TrialCase,
  { args, leaves, precision }: Copies & { readonly precision: Precision },
): Trial {
  const histories = args.map((arg) => isTensor(arg) ? arg.gradFn : null);
  let result: unknown;
  try {
    result = run(...args);
  } catch (error) {
    return { kind: "threw", error };
  }
  const { leaves: results, spec } = flatten(result, isTensor);
  const done = { kind: "done", results, structure: spec, state: args } as const;
  const none = leaves.map(() => null);
  if (!of.differentiate || !ambient.gradEnabled) return { ...done, gradients: none, backwardError: null };
  const written = args.filter((arg, at): arg is Tensor =>
    isTensor(arg) && arg.gradFn !== null && arg.gradFn !== histories[at]
  );
  const differentiable = results.filter((each, at): each is Tensor =>
    isTensor(each) && each.requiresGrad && isDifferentiable(each.dtype) && !of.spent.has(at)
  );
  const roots = [...new Set([...differentiable, ...written])];
  const wanted = leaves.flatMap((leaf, at) => leaf ? [{ leaf, at }] : []);
  if (roots.length === 0 || wanted.length === 0) return { ...done, gradients: none, backwardError: null };
  const gradients: (Tensor | null)[] = [...none];
  const tangents = roots.map((root, index) => tangentOf(root, index, precision === "perturbed"));
  try {
    const found = grad(roots, wanted.map(({ leaf }) => leaf), tangents, { allowUnused: true });
    wanted.forEach(({ at }, k) => gradients[at] = found[k] ?? null);
    return { ...done, gradients, backwardError: null };
  } catch (backwardError) {
    return { ...done, gradients: none, backwardError };
  }
}

/**
 * Returns the gradient of a result: numbers of both signs without a pattern. A backward pass is linear in them, so any
 * difference shows for these.
 */
function tangentOf({ shape, dtype, device }: Tensor, index: number, isPerturbed: boolean): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  let state = (index + 1) * 2654435761 >>> 0;
  // Devices need not have float64
  const elements = dtype === "float64" ? new Float64Array(count) : new Float32Array(count);
  for (let at = 0; at < count; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // 1.5 to 0.5 in size: none vanishes, none dominates
    const exact = Math.fround((state & 1 ? 1 : -1) * (0.5 + (state >>> 8) / 2 ** 24));
    elements[at] = isPerturbed ? exact * (1 + 2 ** -24 * (state & 2 ? 1 : -1)) : exact;
  }
  // Observers of the run see the program's calls only
  return modes.without(() => ops.to(fromTypedArray(elements, [...shape], { device }), dtype));
}

/** The structure of a result as text. */
export function structureText(structure: TreeSpec): string {
  return specText(structure);
}
