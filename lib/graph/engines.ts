/**
 * Engines: alternatives to dyn's own code for parts of functional graphs, registered when the program starts.
 * Invariant: engines may register before or after their users look for them.
 */
import type { CompiledFunction } from "./backend.ts";
import type { GraphModule } from "./graph_module.ts";
import type { Graph, Node } from "./node.ts";

/** How an engine is measured. */
export interface EngineComparison {
  /** Returns a text that identifies the engine and the machine's code around it: times are cached under it. */
  identity(): string;
  /**
   * Returns the pieces that it takes over: nodes that it supports only together are one piece. Views that it takes
   * along with all their readers are in none.
   */
  pieces(graph: Graph): readonly (readonly Node[])[];
}

/** Runs nodes of functional graphs. */
export interface Engine {
  /** The name of its backend. */
  readonly name: string;
  /** Its requirements, for people. */
  readonly needs: string;
  /** Why it is unavailable here; null where it is available. */
  absence(): string | null;
  /** How its pieces are compared with the inductor's code; absent: they are not. */
  readonly comparison?: EngineComparison;
  /** Returns whether it supports a node. */
  supports(node: Node): boolean;
  /** A part made of such nodes as a function that returns the list of outputs; null: it declines. */
  compile(part: GraphModule): CompiledFunction | null;
}

const engines: Engine[] = [];
let taker: ((engine: Engine) => void) | null = null;

/** Makes an engine known. */
export function registerEngine(engine: Engine): void {
  engines.push(engine);
  taker?.(engine);
}

/** Hands over all engines, those that are there and those to come. */
export function takeEngines(take: (engine: Engine) => void): void {
  taker = take;
  engines.forEach(take);
}
