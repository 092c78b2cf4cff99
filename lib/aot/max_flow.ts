/**
 * Maximum flow and minimum cut by Dinic's algorithm (Dinic 1970), in a directed graph whose capacities may be
 * infinite. Invariant: every edge has its reverse next to it (index xor 1).
 */
import { InternalError } from "../base/errors.ts";

/** A flow network over vertices 0 … vertexCount − 1. */
export class FlowNetwork {
  readonly #heads: number[][];
  readonly #to: number[] = [];
  readonly #capacity: number[] = [];

  constructor(readonly vertexCount: number) {
    this.#heads = Array.from({ length: vertexCount }, () => []);
  }

  /** Adds an edge. Infinity marks an edge that must not be cut. */
  edge(from: number, to: number, capacity: number): void {
    this.#heads[from]?.push(this.#to.length);
    this.#to.push(to);
    this.#capacity.push(capacity);
    this.#heads[to]?.push(this.#to.length);
    this.#to.push(from);
    this.#capacity.push(0);
  }

  /**
   * Returns for each vertex whether it lies on the source's side of a minimum cut: it is reachable in the residual
   * network. Throws InternalError if every cut has an infinite edge.
   */
  minimumCut(source: number, sink: number): boolean[] {
    for (let levels = this.#levels(source); (levels[sink] ?? -1) >= 0; levels = this.#levels(source)) {
      const next = new Array<number>(this.vertexCount).fill(0);
      while (this.#augment({ levels, next, source, sink }));
    }
    return this.#levels(source).map((level) => level >= 0);
  }

  /** Distances from the source along edges that have capacity left; −1: none. */
  #levels(source: number): number[] {
    const levels = new Array<number>(this.vertexCount).fill(-1);
    levels[source] = 0;
    const queue = [source];
    for (const vertex of queue) {
      for (const edge of this.#heads[vertex] ?? []) {
        const to = this.#to[edge] ?? 0;
        if ((this.#capacity[edge] ?? 0) > 0 && levels[to] === -1) {
          levels[to] = (levels[vertex] ?? 0) + 1;
          queue.push(to);
        }
      }
    }
    return levels;
  }

  /** Sends flow along one shortest path; returns false if there is none. Iterative, since paths may be long. */
  #augment(
    { levels, next, source, sink }: {
      readonly levels: readonly number[];
      /** Per vertex, the number of its edges that are exhausted in this phase. */
      readonly next: number[];
      readonly source: number;
      readonly sink: number;
    },
  ): boolean {
    const path: number[] = [];
    let vertex = source;
    while (vertex !== sink) {
      const edges = this.#heads[vertex] ?? [];
      const at = next[vertex] ?? 0;
      const edge = edges[at];
      if (edge === undefined) {
        const back = path.pop();
        if (back === undefined) return false;
        vertex = this.#to[back ^ 1] ?? source;
        next[vertex] = (next[vertex] ?? 0) + 1;
        continue;
      }
      const to = this.#to[edge] ?? 0;
      if ((this.#capacity[edge] ?? 0) > 0 && levels[to] === (levels[vertex] ?? 0) + 1) {
        path.push(edge);
        vertex = to;
      } else {
        next[vertex] = at + 1;
      }
    }
    const amount = Math.min(...path.map((edge) => this.#capacity[edge] ?? 0));
    if (amount === Infinity) {
      throw new InternalError("Expected a finite cut but found a path that cannot be cut");
    }
    for (const edge of path) {
      this.#capacity[edge] = (this.#capacity[edge] ?? 0) - amount;
      this.#capacity[edge ^ 1] = (this.#capacity[edge ^ 1] ?? 0) + amount;
    }
    return true;
  }
}
