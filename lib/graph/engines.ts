/**
 * Engines: what can run parts of functional graphs in place of dyn's own code, found when the program starts. Input: an
 * engine; output: it is known to who makes backends of engines. Invariant: engines may come before or after those who
 * ask for them.
 */
import type { CompiledFunction } from "./backend.ts";
import type { GraphModule } from "./graph_module.ts";
import type { Graph, Node } from "./node.ts";

/** What measurements of an engine go by. */
export interface EngineComparison {
  /** What tells it, and the machine's code around it, from others: times are kept under it. */
  identity(): string;
  /**
   * What it takes over, piece by piece: nodes that it has only together are one piece. Views that it takes along with all
   * that read them are in none.
   */
  pieces(graph: Graph): readonly (readonly Node[])[];
}

/** Runs nodes of functional graphs. */
export interface Engine {
  /** The name of its backend. */
  readonly name: string;
  /** What it needs, for people. */
  readonly needs: string;
  /** Why it is unavailable here; null where it is available. */
  absence(): string | null;
  /** How what it takes over is compared with the inductor's code; absent: it is not. */
  readonly comparison?: EngineComparison;
  /** Whether it takes a node over. */
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
