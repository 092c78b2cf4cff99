/**
 * A collective as a part of a step. Invariant: nothing else of the step runs during the call.
 */
import { InternalError } from "../base/errors.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { Graph, Node } from "../graph/node.ts";
import type { Sym } from "../sym/expr.ts";
import { GraphPart, listOf, type PartNodes, type PreparedPart } from "./graph_part.ts";
import { beginsWork } from "./shared_calls.ts";

/** A part that consists of one call. */
export class SharedPart {
  readonly #graph: Graph;
  readonly #call: Node;
  readonly #function: (...args: readonly unknown[]) => unknown;
  /** Position of each result among the results of the call. */
  readonly #places: readonly number[];

  constructor({ graph, attributes }: GraphModule, readonly nodes: PartNodes) {
    const call = nodes.nodes.find(beginsWork), found = call && attributes[call.target];
    if (!call || typeof found !== "function") {
      throw new InternalError(
        `Expected a collective but found ${nodes.nodes.join(", ")}`,
      );
    }
    this.#graph = graph;
    this.#call = call;
    this.#function = (...args) => found(...args);
    this.#places = nodes.results.map(({ args: [, at] }) => Number(at));
  }

  /** Prepares the part for the values of a call. */
  prepare(values: ReadonlyMap<Node, unknown>, sizeOf: (symbol: Sym) => number): PreparedPart {
    const args = this.#call.args.map((each) => GraphPart.resolve(each, values, sizeOf));
    return {
      graph: this.#graph,
      run: () => {
        const found = listOf(this.#function(...args));
        return this.#places.map((at) => found[at]);
      },
    };
  }
}
