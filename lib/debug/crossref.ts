/**
 * Checks inference: captures only, runs the graph op by op, and compares each result with the shape, strides, type
 * and device that the tracer inferred. This separates wrong inference, which later stages build upon, from wrong
 * code. Invariant: a result that differs is an InternalError that names the op and the line; elements are not
 * compared.
 */
import { InternalError } from "../base/errors.ts";
import type { GraphBackend } from "../graph/backend.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { Node } from "../graph/node.ts";
import { placeOfNode } from "../graph/place.ts";
import { metaText } from "../graph/print.ts";
import { probeGraph } from "../graph/probe.ts";
import { readBinding, sizeBindings } from "../graph/sizes.ts";
import { type Dim, evaluate, type Sym } from "../sym/expr.ts";
import { isTensor } from "../tensor/tensor.ts";

/** The backend "crossref". */
export const crossref: GraphBackend = (gm) => {
  const { module, nodes } = probeGraph(gm, { as: "detach", keepsResults: true });
  const bindings = new Map(sizeBindings(gm.graph).map((binding) => [binding.symbol, binding]));
  return (...args) => {
    const sizeOf = (symbol: Sym): number => {
      const binding = bindings.get(symbol);
      if (!binding) throw new InternalError(`Expected an input that determines the size ${symbol}`);
      return readBinding(binding, args);
    };
    const returned = module.forward(...args);
    if (!Array.isArray(returned)) throw new InternalError("Expected results and values of a graph");
    const [results, values]: unknown[] = returned;
    if (Array.isArray(values)) nodes.forEach((node, at) => compare(node, values[at], sizeOf));
    return results;
  };
};

function compare(node: Node, value: unknown, sizeOf: (symbol: Sym) => number): void {
  const { value: inferred } = node.meta;
  if (inferred.kind !== "tensor" || !isTensor(value)) return;
  const known = (dims: readonly Dim[]) => dims.map((d) => evaluate(d, sizeOf));
  const { shape, strides, dtype, device } = inferred.tensor;
  const expected = { shape: known(shape), strides: known(strides), dtype, device };
  if (textOf(expected) === textOf(value.meta)) return;
  throw new InternalError(
    `Expected ${textOf(expected)} from ${placeOfNode(node)} but found ${textOf(value.meta)}`,
  );
}

/** Strides of dimensions of size 1, and of tensors without elements, do not matter */
function textOf({ shape, strides, dtype, device }: Omit<TensorMeta, "offset">): string {
  const empty = shape.some((size) => size === 0);
  const shown = strides.map((stride, d) => empty || shape[d] === 1 ? 0 : stride);
  return `${metaText({ shape, strides: shown, dtype })}${device === "cpu" ? "" : ` on ${device}`}`;
}
