/**
 * Leaves memory that code of the program has seen to the collector. Invariant: elements that the program can reach stay
 * as they are, although no tensor that dyn itself refers to has them.
 */
import type { CompiledFunction } from "../graph/backend.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { isTensor } from "./tensor.ts";

/** Leaves the memory of tensors, one or a list, to which the program may refer from now on, to the collector. */
export function keepMemory<V>(value: V): V {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  // By index: the program may have replaced the iteration of arrays
  for (let i = 0; i < values.length; i++) {
    const each = values[i];
    if (isTensor(each)) each.storage.keep();
  }
  return value;
}

/** Compiles a graph; null: declines. */
type Compiler<R extends CompiledFunction | null> = (gm: GraphModule, exampleInputs: readonly unknown[]) => R;

/** A compiler of the program: its functions may keep their results, or return the same ones again. */
export function keepingResults<R extends CompiledFunction | null>(
  compiler: Compiler<R>,
): Compiler<R | CompiledFunction> {
  return (gm, exampleInputs) => {
    const run = compiler(gm, exampleInputs);
    // The caller complains about what is no function
    return typeof run === "function" ? (...inputs) => keepMemory(run(...inputs)) : run;
  };
}
