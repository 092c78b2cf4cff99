/**
 * A part of a graph that one engine runs. Invariant: its graph computes what its nodes compute where they are.
 */
import type { GraphModule } from "../../graph/graph_module.ts";
import type { Node } from "../../graph/node.ts";
import type { Sym } from "../../sym/expr.ts";
import type { EngineName } from "./grouping.ts";

/** Nodes of a graph that one engine runs. */
export interface Part {
  /** Name of the attribute that holds it: the engine's name, or "rest", with a number. */
  readonly name: string;
  /** The engine; null: none wants them. */
  readonly engine: EngineName;
  /** The nodes as a graph. Its inputs are sizes, then tensors; its output is a list. */
  readonly module: GraphModule;
  /** Its first arguments. */
  readonly sizes: readonly Sym[];
  /** Nodes of the whole graph whose values it takes after the sizes. */
  readonly inputs: readonly Node[];
  /** Nodes of the whole graph whose values it gives. */
  readonly results: readonly Node[];
  /** Inputs that it may write to, by their place among all arguments. */
  readonly writes: readonly number[];
  /** Whether only the plain ops can run it: something other than tensors and sizes crosses its border. */
  readonly isPlain: boolean;
}
