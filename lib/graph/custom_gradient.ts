/**
 * Calls with a user-written gradient inside a captured graph: the operations of `forward` are nodes like all others; one
 * more node gives their results a history whose gradient is a graph of its own, that of `backward`. Invariant: the node
 * computes nothing; its results are those of `forward`, selected by `getitem`.
 */
import { InternalError } from "../base/errors.ts";
import { type Argument, isList, Node, type NodeMeta } from "./node.ts";

/**
 * The gradient: its name is that of the class; its graph computes gradients of the call's inputs, null for none, and its
 * first inputs are those of the results; `written` are the results that are arguments which `forward` has written to.
 */
export type CustomGradient = NonNullable<NodeMeta["gradient"]>;

/** The target of such nodes. */
export const CUSTOM_GRADIENT = "autograd.function";

/** A call by its parts. */
interface CustomGradientCall {
  /** The arguments that require a gradient. */
  readonly inputs: readonly Node[];
  /** The results of `forward` that get the history. */
  readonly results: readonly Node[];
  /** Further inputs of the gradient's graph, after the gradients of the results; a number stands for a result. */
  readonly saved: readonly Argument[];
  readonly gradient: CustomGradient;
}

/** A run of such a call. */
export interface CapturedCall<T> {
  /** The name of its node on the tape. */
  readonly name: string;
  /** The arguments that require a gradient. */
  readonly inputs: readonly T[];
  readonly results: readonly T[];
  /** Tensors and sizes: further arguments of `gradient`, after the gradients of the results. */
  readonly saved: readonly unknown[];
  /** The results that are inputs which the call has written to, by position. */
  readonly written: readonly number[];
  /** Computes gradients of the inputs, null for none. */
  readonly gradient: (values: readonly unknown[]) => readonly unknown[];
}

/** Returns the parts of a node that gives a history; null for other nodes. */
export function customGradientOf(
  { name, target, meta: { gradient }, args }: Node,
): CustomGradientCall | null {
  if (target !== CUSTOM_GRADIENT || !gradient) return null;
  const [inputs, results, saved] = args;
  if (!isList(saved)) throw new InternalError(`Expected the saved values of ${name}`);
  return { inputs: nodesOf(inputs), results: nodesOf(results), saved, gradient };
}

/** The node that computes a result to which a node of this kind gives its history; undefined for other nodes. */
export function resultBefore({ target, args: [call, index] }: Node): Node | undefined {
  if (target !== "getitem" || !(call instanceof Node) || typeof index !== "number") return undefined;
  return call.target === CUSTOM_GRADIENT ? nodesOf(call.args[1])[index] : undefined;
}

function nodesOf(argument: Argument): Node[] {
  if (isList(argument) && argument.every((each) => each instanceof Node)) return [...argument];
  throw new InternalError("Expected a list of nodes");
}
