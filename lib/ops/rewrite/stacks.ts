/**
 * Matrices of a graph that are stacked in one matrix: [T·K, N] of T matrices [K, N], either one that the graph
 * already has, such as the outputs of all steps, or a new one. Invariant: a new stack precedes one given node and
 * depends on nothing after it.
 */
import { type Graph, isList, Node } from "../../graph/node.ts";
import type { OpApi } from "../generated.ts";
import { type GraphValue, valueOfNode } from "../graph_builder.ts";
import { callOf, isCall } from "./calls.ts";

/** Matrices stacked on top of each other. */
export interface Stack {
  /** The position of each. */
  readonly places: ReadonlyMap<Node, number>;
  /** [T, K, N]. */
  readonly value: GraphValue;
}

/** The state of the search for stacks during a pass over a graph. */
interface StackedGraph {
  /** Order of the nodes that existed before the pass, and of each stack. */
  readonly order: Map<Node, number>;
  /** The stacks created so far, which later ones extend. */
  readonly made: Stack[];
}

/** The initial state for a graph. */
export function unstacked({ nodes }: Graph): StackedGraph {
  return { order: new Map(nodes.map((node, at) => [node, at])), made: [] };
}

/** The stacks of a graph in front of one of its nodes. */
export class Stacks {
  readonly #end: number;

  constructor(readonly known: StackedGraph, before: Node, readonly api: OpApi<GraphValue>) {
    this.#end = known.order.get(before) ?? 0;
  }

  /** The stack that contains most of some matrices, if one contains at least `least`. */
  find(matrices: readonly Node[], least: number): Stack | undefined {
    const candidates = new Set(this.known.made.filter(({ value: { node } }) => this.#isBefore(node)));
    const [first, second] = matrices;
    for (const each of [first, second, matrices.at(-1)]) {
      for (const value of each ? this.#stacksWith(each) : []) candidates.add(value);
    }
    let found: Stack | undefined, most = least - 1;
    for (const each of candidates) {
      const held = matrices.filter((matrix) => each.places.has(matrix)).length;
      if (held > most) [found, most] = [each, held];
    }
    return found;
  }

  /** A new stack, of matrices that are all different. */
  make(matrices: readonly Node[]): Stack {
    const rows = matrices.map((each) => this.api.unsqueeze(valueOfNode(each), 0));
    const made = { places: new Map(matrices.map((each, at) => [each, at])), value: this.api.cat(rows, 0) };
    this.known.made.push(made);
    this.known.order.set(made.value.node, this.#end - 0.5);
    return made;
  }

  /** The matrix of a range of positions. */
  rows({ value, places: { size } }: Stack, from: number, to: number): GraphValue {
    const [, k = 1, n = 1] = value.shape;
    const part = from === 0 && to === size ? value : this.api.slice(value, 0, from, to);
    return this.api.reshape(part, [(to - from) * Number(k), n]);
  }

  /** Stacks of the graph that a matrix is in. */
  *#stacksWith(matrix: Node): Iterable<Stack> {
    for (const unsqueezed of matrix.users.keys()) {
      if (!isCall(unsqueezed, "unsqueeze") || unsqueezed.args[1] !== 0) continue;
      for (const cat of unsqueezed.users.keys()) {
        const places = isCall(cat, "cat") ? stackedIn(cat) : undefined;
        if (!places) continue;
        // If zeros are added because of −0, users read the sum
        const read = [cat, ...cat.users.keys()].findLast((each) =>
          (each === cat || (isCall(each, "add") && each.args[0] === cat && each.args[1] === 0)) &&
          this.#isBefore(each)
        );
        if (read) yield { places, value: valueOfNode(read) };
      }
    }
  }

  #isBefore(node: Node): boolean {
    return (this.known.order.get(node) ?? Infinity) < this.#end;
  }
}

/** The matrices that a call of `cat` stacks, each once. */
function stackedIn({ args: [list, dim = 0] }: Node): Map<Node, number> | undefined {
  if (dim !== 0 || list === undefined || !isList(list)) return undefined;
  const places = new Map<Node, number>();
  for (const [at, part] of list.entries()) {
    const unsqueezed = callOf(part, "unsqueeze"),
      matrix = unsqueezed?.args[1] === 0 ? unsqueezed.args[0] : null;
    if (!(matrix instanceof Node) || places.has(matrix)) return undefined;
    places.set(matrix, at);
  }
  return places;
}
