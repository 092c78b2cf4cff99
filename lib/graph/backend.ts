/**
 * The contract between capture and graph backends: a backend receives a captured graph and the values of its
 * placeholders in the traced call, and returns a function over those placeholders. Invariant: the result of that
 * function has the structure that the graph's output node names.
 */
import type { GraphModule } from "./graph_module.ts";

/** Runs one graph. */
export type CompiledFunction = (...inputs: unknown[]) => unknown;

/**
 * Turns a graph into a function. Tensors among the example inputs are the call's own and must not be written to;
 * numbers are sizes. Null: the backend declines, and the caller tries another or interprets the graph.
 */
export type GraphBackend = (gm: GraphModule, exampleInputs: readonly unknown[]) => CompiledFunction | null;
