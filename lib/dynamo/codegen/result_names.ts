/** Names for the results of a graph. Invariant: the results are listed in the order in which code first asked for them. */
import type { Node } from "../../graph/node.ts";
import type { Names } from "./names.ts";

/** The results that generated code uses. */
export class ResultNames {
  /** Nodes whose values the code needs. */
  readonly nodes: Node[] = [];
  readonly #known = new Map<Node, { readonly name: string; uses: number }>();

  constructor(private readonly names: Names) {}

  /** The name of a result where it is used. */
  use(node: Node): string {
    let known = this.#known.get(node);
    if (known === undefined) {
      this.#known.set(node, known = { name: this.names.fresh(node.name), uses: 0 });
      this.nodes.push(node);
    }
    known.uses++;
    return known.name;
  }

  /** Returns whether the code uses a result in one place. */
  isUsedOnce(node: Node): boolean {
    return this.#known.get(node)?.uses === 1;
  }

  /** All names, in the order of the nodes. */
  all(): string[] {
    return this.nodes.flatMap((node) => this.#known.get(node)?.name ?? []);
  }
}
