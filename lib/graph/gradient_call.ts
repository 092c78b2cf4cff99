/**
 * Gradients taken inside a captured graph: the node for `loss.backward()` or `autograd.grad`, and its parts by name.
 * Invariant: the node has one result per input, selected by `getitem`, and each result is a row-major tensor with
 * memory of its own.
 */
import { InternalError } from "../base/errors.ts";
import { type Argument, isList, Node } from "./node.ts";

/** The target of such nodes. */
export const GRADIENTS = "autograd.grad";

/** The nodes of a gradient call. */
export interface GradientCall {
  readonly outputs: readonly Node[];
  readonly inputs: readonly Node[];
  /** The gradient that arrives at each output; null: ones, for an output of one element. */
  readonly tangents: readonly (Node | null)[];
  /** Whether the outputs may be differentiated again. */
  readonly retainGraph: boolean;
  /** Whether the gradients are differentiable themselves. */
  readonly createGraph: boolean;
  /** Whether `inputs` are all the leaves that gradients of the outputs flow into, as in `backward()`. */
  readonly complete: boolean;
}

/** Returns whether a node computes gradients. */
export function takesGradients(node: Node): boolean {
  return node.op === "call_function" && node.target === GRADIENTS;
}

/** The arguments by which a node specifies what to differentiate. */
export function gradientArguments(
  { outputs, inputs, tangents, retainGraph, createGraph, complete }: GradientCall,
): { readonly args: readonly Argument[]; readonly kwargs: Readonly<Record<string, Argument>> } {
  return {
    args: [outputs, inputs, tangents],
    kwargs: {
      ...(retainGraph ? { retainGraph } : {}),
      ...(createGraph ? { createGraph } : {}),
      ...(complete ? {} : { complete }),
    },
  };
}

/** Returns the outputs, inputs and tangents of a gradient node. */
export function gradientCallOf(node: Node): GradientCall {
  const [outputs, inputs, tangents] = node.args;
  const { retainGraph = false, createGraph = false, complete = true } = node.kwargs;
  return {
    outputs: nodesOf(outputs),
    inputs: nodesOf(inputs),
    tangents: listOf(tangents).map((each) => each === null ? null : nodeAt(each)),
    retainGraph: retainGraph === true,
    createGraph: createGraph === true,
    complete: complete === true,
  };
}

function nodesOf(argument: Argument): Node[] {
  return listOf(argument).map(nodeAt);
}

function listOf(argument: Argument): readonly Argument[] {
  if (isList(argument)) return argument;
  throw new InternalError(`Expected a list of nodes but found ${typeof argument}`);
}

function nodeAt(argument: Argument): Node {
  if (argument instanceof Node) return argument;
  throw new InternalError(`Expected a node but found ${typeof argument}`);
}
