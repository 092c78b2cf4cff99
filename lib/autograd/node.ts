/**
 * Nodes of the autograd graph: each turns gradients of an operation's results into gradients of its inputs.
 * Invariant: an edge leads to a node made earlier, so that descending sequence numbers are a topological order
 * (accumulators, which have no edges, aside).
 */
import { isDifferentiable } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { showAsText } from "../base/console_text.ts";
import { placeNow } from "./anomaly.ts";
import type { GradFn, TensorHook } from "../tensor/autograd_state.ts";
import { ops } from "../tensor/eager.ts";
import type { Layout } from "../tensor/layout.ts";
import { metadataChanges } from "../tensor/metadata_version.ts";
import { autograd, autogradStateOf, Tensor } from "../tensor/tensor.ts";

let nextSequence = 0;

/** The sequence number of the next node. */
export function upcomingSequence(): number {
  return nextSequence;
}

/** Destination of a gradient: result number `output` of `node`. */
export interface Edge {
  readonly node: Node;
  readonly output: number;
}

/** Options of running a node. */
export interface ApplyOptions {
  /** Returns whether the gradient of input number k is wanted. */
  readonly wanted: (input: number) => boolean;
}

/** An operation of the graph. */
export abstract class Node implements GradFn<Tensor> {
  abstract readonly name: string;
  readonly sequence: number = nextSequence++;
  readonly hooks: Map<number, Map<number, TensorHook<Tensor>>> = new Map();
  readonly retained: Map<number, Tensor> = new Map();
  /** Layouts of the inputs with an edge: gradients must fit them. */
  abstract readonly inputs: readonly (Layout | null)[];
  /** Whether temporaries of `apply` are dead when it returns, because no code of the user runs in it. */
  readonly ownsTemporaries: boolean = true;
  /** Whether code of the user runs in `apply` and may keep gradients that it sees or returns. */
  readonly keepsGradients: boolean = false;

  /**
   * Whether its results must not be written in place: their memory belongs to tensors whose histories would not record
   * the write.
   */
  readonly refusesWrites: boolean = false;

  /** Whether `apply` reads elements directly rather than by ops, so that batching modes cannot see into it. */
  readonly isOpaque: boolean = false;

  /** The calling stack, while anomaly detection is on. */
  readonly madeAt: string | null = placeNow();

  /** Throws if its gradients would not be those of the program as it is when a pass runs; null: they always are. */
  precondition: (() => void) | null = null;

  /** Results whose gradients are redirected, by position: see `forwardGradients`. */
  forwarding: ReadonlyMap<number, Edge> | null = null;

  constructor(public edges: readonly (Edge | null)[]) {}

  /** The operations that the gradients of its inputs flow to, with the result that each is of; null: none is wanted. */
  get nextFunctions(): readonly (readonly [Node | null, number])[] {
    return this.edges.map((edge) => {
      const next = edge && forwarded(edge);
      return [next?.node ?? null, next?.output ?? 0];
    });
  }

  /** Gradients of the inputs from those of the results; one per edge, null for none. */
  abstract apply(grads: readonly (Tensor | null)[], options: ApplyOptions): readonly (Tensor | null)[];

  /** Releases the saved values of results whose gradients have arrived; the node cannot run for them again. */
  abstract release(): void;

  /** Returns whether the gradient of a result flows on to an edge. */
  reaches(_output: number, _edge: number): boolean {
    return true;
  }

  /** Other results whose gradients flow through a result inside the node, invisibly to the engine. */
  dependents(_output: number): readonly number[] {
    return [];
  }

  /**
   * Like `apply`, but also returns the gradients of results that other results depend on, including the contributions
   * of those; their hooks run on the way.
   */
  applyInside(_grads: readonly (Tensor | null)[], _options: InsideOptions): InsideGradients {
    throw new InternalError(`Expected results of ${this.name} that are independent`);
  }

  /** Returns PyTorch's text, without an address. */
  toString(): string {
    return `<${this.name}>`;
  }
}

showAsText(Node.prototype);

/** Gradients requested inside a node. */
export interface InsideOptions extends ApplyOptions {
  /** Results whose gradients are wanted. */
  readonly results: readonly number[];
}

/** The result of `applyInside`. */
export interface InsideGradients {
  /** Of the inputs: one per edge, null for none. */
  readonly edges: readonly (Tensor | null)[];
  /** Of the requested results, by their numbers. */
  readonly results: ReadonlyMap<number, Tensor>;
}

/** The end of a path: adds into a leaf's `.grad`. The engine does the adding. */
export class AccumulateGrad extends Node {
  readonly name = "AccumulateGrad";
  readonly inputs: readonly Layout[] = [];
  /** Called when a gradient was added. */
  readonly after: Map<number, (variable: Tensor) => void> = new Map();
  constructor(readonly variable: Tensor) {
    super([]);
  }
  apply(): readonly (Tensor | null)[] {
    return [];
  }
  release(): void {}
}

/** Returns the edge to which gradients of a tensor flow, or null if none are wanted. */
export function gradientEdge(tensor: Tensor): Edge | null {
  const gradFn = tensor.viewState === null ? tensor.state?.gradFn ?? null : autograd().gradFnOf(tensor);
  if (gradFn !== null) return forwarded({ node: nodeOf(gradFn), output: tensor.state?.output ?? 0 });
  if (!tensor.state?.requiresGrad) return null;
  const state = autogradStateOf(tensor);
  const accumulator = state.accumulator ??= new AccumulateGrad(tensor);
  return { node: nodeOf(accumulator), output: 0 };
}

/** Returns the edge to which gradients of an edge are redirected, or the edge itself. */
export function forwarded(edge: Edge): Edge {
  return edge.node.forwarding?.get(edge.output) ?? edge;
}

/** A gradient function as a node of this room. */
export function nodeOf(gradFn: GradFn<Tensor>): Node {
  if (gradFn instanceof Node) return gradFn;
  throw new InternalError(`Expected a node of the tape but found ${gradFn.name}`);
}

/** Makes a tensor the result of a node. */
export function setHistory(tensor: Tensor, node: Node, output: number): void {
  if (!isDifferentiable(tensor.dtype)) {
    throw new InternalError(`Expected no history of ${tensor.dtype} from ${node.name}`);
  }
  const state = autogradStateOf(tensor);
  const former = state.gradFn, formerOutput = state.output;
  state.gradFn = node;
  state.output = output;
  state.requiresGrad = false;
  metadataChanges(tensor);
  if (former?.retained.get(formerOutput) === tensor) {
    former.retained.delete(formerOutput);
    node.retained.set(output, tensor);
  }
}

/** Returns whether tensors of a shape may have been broadcast to another one. */
export function isBroadcast(shape: readonly number[], to: readonly number[]): boolean {
  const lead = to.length - shape.length;
  return lead >= 0 && shape.every((size, d) => size === 1 || size === to[d + lead]);
}

/** Fits a gradient to its input: sums over broadcast dimensions and converts the type. */
export function fitGradient(grad: Tensor, to: Layout, from: string): Tensor {
  let fitted = grad;
  if (!sameList(grad.shape, to.shape)) {
    const lead = grad.ndim - to.shape.length;
    const dims = grad.shape.flatMap((size, d) =>
      d < lead || (to.shape[d - lead] === 1 && size !== 1) ? [d] : []
    );
    if (!isBroadcast(to.shape, grad.shape)) {
      throw new InternalError(
        `Expected a gradient of shape [${to.shape}] from ${from} but found [${grad.shape}]`,
      );
    }
    fitted = ops.reshape(ops.sum(grad, dims, true), to.shape);
  }
  return fitted.dtype === to.dtype ? fitted : ops.to(fitted, to.dtype);
}
