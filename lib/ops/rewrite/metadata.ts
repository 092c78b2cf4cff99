/**
 * Inferred metadata of calls in functional graphs. Invariant: inference here adds no guard that tracing has not
 * recorded.
 */
import { InternalError, invariant } from "../../base/errors.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { isList, Node, type Region } from "../../graph/node.ts";
import { RANDOM_KEYS } from "../../graph/signature.ts";
import { provablyEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import {
  argumentsOfNode,
  type GraphValue,
  isGraphValue,
  mapArguments,
  valueOfNode,
} from "../graph_builder.ts";
import { findTarget } from "../table.ts";

/**
 * The metadata that a call's definition infers from its arguments. Throws InternalError for calls that are not pure.
 */
export function inferredMetas(node: Node): readonly TensorMeta[] {
  if (node.target === "getitem") {
    const [from, index] = node.args;
    const value = from instanceof Node ? from.meta.value : undefined;
    const item = value?.kind === "tensors" && typeof index === "number" ? value.tensors[index] : undefined;
    return item ? [item] : [];
  }
  if (node.meta.region) return regionMetas(node.meta.region);
  // Collective ops infer their own metadata, which the node already has
  if (node.meta.begins && node.meta.value.kind === "tensors") return node.meta.value.tensors;
  const target = findTarget(node.target);
  // Every node is verified, so messages are built only for errors
  if (!target || target.inplace) {
    throw new InternalError(`Expected a pure op but found ${node.target} at ${node.name}`);
  }
  const { definition } = target;
  const { kind } = definition.implementation;
  if (kind !== "lower" && kind !== "view" && kind !== "random") {
    throw new InternalError(`Expected an op that can be lowered but found the ${kind} op ${node.target}`);
  }
  const names = Object.keys(node.kwargs);
  if (!names.every((name) => name === RANDOM_KEYS || Object.hasOwn(definition.params, name))) {
    throw new InternalError(`Expected parameters of ${definition.name} at ${node.name}`);
  }
  const args = argumentsOfNode(node, definition, graphValueOf, isGraphValue);
  const metas: TensorMeta | readonly TensorMeta[] = definition.infer(mapArguments(args, ({ meta }) => meta));
  return [metas].flat();
}

/** The metadata of a region's results, which are tensors. */
export function regionMetas({ graph }: Region): readonly TensorMeta[] {
  const [list = null] = graph.output.args;
  invariant(isList(list), "Expected a region with a list of results");
  return list.map((each) => {
    invariant(each instanceof Node, "Expected tensors as the results of a region");
    return valueOfNode(each).meta;
  });
}

/** A node as an argument: a tensor, or a size. */
export function graphValueOf(node: Node): GraphValue | Dim {
  const { value } = node.meta;
  return value.kind === "size" ? value.size : valueOfNode(node);
}

/** Strides of dimensions of size 1, and of tensors without elements, do not matter. */
export function sameMeta(a: TensorMeta | undefined, b: TensorMeta | undefined): boolean {
  if (a !== undefined && a === b) return true;
  if (!a || !b || a.dtype !== b.dtype || a.device !== b.device || a.shape.length !== b.shape.length) {
    return false;
  }
  const same = (x: Dim, y: Dim | undefined) => x === y || (y !== undefined && provablyEqual(x, y) === true);
  return a.shape.every((size, d) => same(size, b.shape[d])) &&
    (a.shape.some((size) => size === 0) ||
      a.strides.every((stride, d) => a.shape[d] === 1 || same(stride, b.strides[d])));
}

/** Infers a call's metadata again after that of its arguments has changed, and likewise for its users. */
export function refreshMeta(node: Node): void {
  const { value } = node.meta;
  if (node.op !== "call_function" || (value.kind !== "tensor" && value.kind !== "tensors")) return;
  const tensors = inferredMetas(node), [tensor] = tensors;
  const known = value.kind === "tensor" ? [value.tensor] : value.tensors;
  if (known.every((each, k) => sameMeta(each, tensors[k]))) return;
  if (value.kind === "tensors") node.meta.value = { ...value, tensors };
  else if (tensor) node.meta.value = { ...value, tensor };
  for (const user of node.users.keys()) refreshMeta(user);
}
