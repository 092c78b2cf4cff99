/**
 * Comparison of what a compiled graph has returned with its output node: backends of programs may return anything.
 * Invariant: what a graph's operations compute has no fault.
 */
import { oneLine } from "../base/console_text.ts";
import { type GraphModule } from "../graph/graph_module.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { Node } from "../graph/node.ts";
import { isTensor } from "./tensor.ts";

/** Returns what was expected and what was found instead; null if the results are those of the graph. */
export function resultsFault(gm: GraphModule, found: unknown): string | null {
  const expected: readonly unknown[] = [gm.calling.output.args[0]].flat();
  if (!Array.isArray(found) || found.length !== expected.length) {
    return `Expected a list of ${expected.length} results but found ${oneLine(found)}`;
  }
  // Nodes of captured graphs have the sizes that they had before operations in place
  const isFunctional = gm.signature !== undefined;
  for (const [k, node] of expected.entries()) {
    const value = node instanceof Node ? node.meta.value : null, given: unknown = found[k];
    if (value?.kind !== "tensor" || fits(given, value.tensor, isFunctional)) continue;
    return `Expected ${describe(value.tensor, isFunctional)} as result ${k} but found ${
      isTensor(given) ? describe(given, isFunctional) : oneLine(given)
    }`;
  }
  return null;
}

type Described = Pick<TensorMeta, "dtype" | "shape">;

function fits(given: unknown, { dtype, shape }: Described, isSized: boolean): boolean {
  if (!isTensor(given) || given.dtype !== dtype) return false;
  return !isSized || (given.shape.length === shape.length &&
    shape.every((size, d) => typeof size !== "number" || size === given.shape[d]));
}

const describe = ({ dtype, shape }: Described, isSized: boolean): string =>
  `a tensor of ${dtype}${isSized ? `[${shape.join(", ")}]` : ""}`;
