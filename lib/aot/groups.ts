/** Groups of the nodes of a graph, from which stages are made. */
import type { Node } from "../graph/node.ts";

/** Nodes that run together. */
export interface Group {
  readonly nodes: readonly Node[];
  readonly kind: "compiled" | "host" | "begins";
}
