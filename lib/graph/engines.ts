/**
 * Engines: alternatives to dyn's own code for parts of functional graphs, registered when the program starts.
 * Invariant: engines may register before or after their users look for them.
 */
import type { CompiledFunction } from "./backend.ts";
import type { GraphModule } from "./graph_module.ts";
import type { Graph, Node } from "./node.ts";

/** How an engine is measured. */
interface EngineComparison {
  /** Returns a text that identifies the engine and the machine's code around it; times are cached by it. */
  identity(): string;
  /**
   * Returns the pieces that it takes over: nodes that it supports only together form one piece. Views that it takes
   * along with all their readers are in none.
   */
  pieces(graph: Graph): readonly (readonly Node[])[];
}

/** An engine that users can choose. */
export interface Engine {
  /** The name of its backend. */
  readonly name: string;
  /** Its requirements, for users. */
  readonly needs: string;
  /** Returns its code, which loads when it is used. */
  readonly code: () => EngineCode;
}

/** Runs nodes of functional graphs. */
export interface EngineCode {
  /** Why it is unavailable here; null if it is available. */
  absence(): string | null;
  /** How its pieces are compared with the inductor's code; absent: they are not compared. */
  readonly comparison?: EngineComparison;
  /** Returns whether it supports a node. */
  supports(node: Node): boolean;
  /** Compiles a part of such nodes to a function that returns the list of outputs; null: it declines. */
  compile(part: GraphModule): CompiledFunction | null;
}

const engines: Engine[] = [];
let taker: ((engine: Engine) => void) | null = null;

/** Registers an engine. */
export function registerEngine(engine: Engine): void {
  engines.push(engine);
  taker?.(engine);
}

/** Calls `take` for all engines, those already registered and later ones. */
export function takeEngines(take: (engine: Engine) => void): void {
  taker = take;
  engines.forEach(take);
}
