/**
 * The autograd history of the tensors in a trace, as the tape would have it. Input: the graph under construction;
 * output: what requires grad after writes in place, and which gradients a backward pass gives. Invariant: questions
 * are answered on values with versions, never on the data edges of a graph that still writes in place.
 */
import type { Graph, Node } from "../../graph/node.ts";
import type { GradientCall } from "../../graph/gradient_call.ts";
import { NotFunctional } from "../../autograd/functional.ts";
import { GraphReplay, HistoryLost, type ReplayedInput } from "../../autograd/graph_replay.ts";
import type { GraphValue } from "../../ops/graph_builder.ts";

/** A graph under construction, the functions that it calls by name, and which of its nodes are tensors. */
export interface GrowingGraph {
  readonly graph: Graph;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<Node, unknown>;
}

/** The gradient of one input of the graph. */
export interface InputGradient {
  readonly input: Node;
  readonly grad: GraphValue;
}

/** What a backward pass gives, or why the tape has to do it. */
export type BackwardPlan =
  | { readonly kind: "gradients"; readonly gradients: readonly InputGradient[] }
  | { readonly kind: "released" }
  | { readonly kind: "refused"; readonly because: string };

/** What the host computes that some values are computed from. */
function onHostBehind(values: readonly Node[]): Node | undefined {
  const behind = new Set(values);
  for (const node of behind) {
    if (node.meta.onHost) return node;
    for (const input of node.inputs()) behind.add(input);
  }
  return undefined;
}

/** The history of one trace, brought up to date when it is asked. */
export class TraceHistory {
  readonly #replay = new GraphReplay();
  readonly #seen = new Set<Node>();
  /** What the replay's inputs are in the graph: inputs, and attributes. */
  readonly #inputs: Node[] = [];

  constructor(readonly output: GrowingGraph) {}

  /** Replays what has been appended since. Throws NotFunctional for what only the tape can follow. */
  #catchUp(): void {
    const { graph, attributes } = this.output;
    for (const node of graph.nodes) {
      if (this.#seen.has(node)) continue;
      this.#seen.add(node);
      if (node.op === "placeholder") this.#replay.input(node);
      else this.#replay.replay(node, attributes);
      if (this.#replay.inputs.length > this.#inputs.length) this.#inputs.push(node);
    }
  }

  /** The nodes whose tensors share memory with a node's, and whether each requires grad now; null: not to be told. */
  aliases(node: Node): ReadonlyMap<Node, boolean> | null {
    try {
      this.#catchUp();
      const { storage } = this.#replay.tensor(node);
      const found = new Map<Node, boolean>();
      for (const other of this.output.tensors.keys()) {
        if (this.#replay.tensor(other).storage === storage) {
          found.set(other, this.#replay.requiresGrad(other));
        }
      }
      return found;
    } catch (error) {
      if (error instanceof NotFunctional) return null;
      throw error;
    }
  }

  /** The gradients of a backward pass with respect to the inputs that require grad. */
  plan(call: Pick<GradientCall, "outputs" | "tangents" | "retainGraph">): BackwardPlan {
    const late = onHostBehind(call.outputs);
    if (late) return { kind: "refused", because: `${late.name}, which the host computes, lies behind it` };
    try {
      this.#catchUp();
      const wanted = this.#replay.inputs.flatMap((input: ReplayedInput, k) => {
        const node = this.#inputs[k];
        return node && input.value && input.requiresGrad ? [{ node, value: input.value }] : [];
      });
      const found = this.#replay.differentiate(call, wanted.map(({ value }) => value));
      const gradients = wanted.flatMap(({ node }, k): InputGradient[] => {
        const grad = found[k];
        return grad ? [{ input: node, grad }] : [];
      });
      return { kind: "gradients", gradients };
    } catch (error) {
      if (error instanceof HistoryLost) {
        return error.kind === "released"
          ? { kind: "released" }
          : { kind: "refused", because: "a value that the gradient reads was written in place since" };
      }
      if (error instanceof NotFunctional) return { kind: "refused", because: error.message };
      throw error;
    }
  }

  /** The inputs that were written to while gradients were recorded, as far as anybody has asked for their history. */
  writtenInputs(): Node[] {
    return this.#replay.inputs.flatMap(({ tensor }, k) => {
      const node = this.#inputs[k];
      return node && tensor && tensor.storage.recordedWrites > 0 ? [node] : [];
    });
  }

  /** Makes known that a node has these gradients as its results. */
  define(node: Node, gradients: readonly InputGradient[]): void {
    this.#seen.add(node);
    this.#replay.defineGradients(node, gradients.map(({ grad }) => grad));
  }
}
