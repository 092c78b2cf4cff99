/**
 * Interposers wrap the compilers of captured graphs and of functional graphs: shadow mode, repros, bisection.
 * Invariant: without tools a compiler is returned unchanged; the tool that was added last is the outermost.
 */
import type { CompiledFunction, GraphBackend } from "./backend.ts";
import type { GraphModule } from "./graph_module.ts";

/** Compiles a functional graph with a signature; the result returns the list of outputs. */
export type GraphCompiler = (gm: GraphModule, exampleInputs: readonly unknown[]) => CompiledFunction;

/** Wrappers of compilers. Either may be absent. */
export interface Interposer {
  /** Around backends of captured graphs; `backendName` is what the user chose. */
  readonly captured?: (backend: GraphBackend, backendName: string) => GraphBackend;
  /** Around compilers of functional graphs. */
  readonly functional?: (compiler: GraphCompiler) => GraphCompiler;
}

const interposers = new Set<Interposer>();

/** Adds a tool; the returned function removes it. */
export function interpose(tool: Interposer): () => void {
  interposers.add(tool);
  return () => void interposers.delete(tool);
}

/** Returns a backend wrapped by the current tools, looked up at each compilation. */
export function interposedBackend(backend: GraphBackend, backendName: string): GraphBackend {
  let result = backend;
  for (const { captured } of interposers) if (captured) result = captured(result, backendName);
  return result;
}

/** Returns a compiler of functional graphs wrapped by the current tools. */
export function interposedCompiler(compiler: GraphCompiler): GraphCompiler {
  let result = compiler;
  for (const { functional } of interposers) if (functional) result = functional(result);
  return result;
}
