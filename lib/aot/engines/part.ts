/**
 * A part of a graph that one engine runs. Invariant: its graph computes the same as its nodes do in the whole graph.
 */
import type { GraphModule } from "../../graph/graph_module.ts";
import type { Node } from "../../graph/node.ts";
import type { Sym } from "../../sym/expr.ts";
import type { EngineName } from "./grouping.ts";

/** Nodes of a graph that one engine runs. */
export interface Part {
  /** Name of the attribute that holds it: the engine's name, or "rest", with a number. */
  readonly name: string;
  /** The engine; null: no engine supports the nodes. */
  readonly engine: EngineName;
  /** The nodes as a graph. Its inputs are sizes, then tensors; its output is a list. */
  readonly module: GraphModule;
  /** The sizes that are its first arguments. */
  readonly sizes: readonly Sym[];
  /** Nodes of the whole graph whose values follow the sizes as arguments. */
  readonly inputs: readonly Node[];
  /** Nodes of the whole graph whose values it returns. */
  readonly results: readonly Node[];
  /** Inputs that it may write to, by position among all arguments. */
  readonly writes: readonly number[];
  /** Whether it must run op by op: its inputs or results are not only tensors and sizes. */
  readonly isPlain: boolean;
}
