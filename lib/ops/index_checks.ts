/**
 * The index tensors of calls and the ranges that their elements must lie in. Invariant: the checks of a region refer
 * to its inputs, so that its caller can make them.
 */
import { graphValueOf } from "./rewrite/metadata.ts";
import { InternalError } from "../base/errors.ts";
import { type Graph, Node } from "../graph/node.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { type Dim, Sym } from "../sym/expr.ts";
import type { OpDefinition } from "./definition.ts";
import {
  argumentsOfNode,
  type GraphBuilder,
  type GraphValue,
  isGraphValue,
  listOf,
  mapArguments,
} from "./graph_builder.ts";

/** An index tensor and the range [low, high) of its elements. */
export interface IndexCheck {
  readonly values: GraphValue;
  readonly low: Dim;
  readonly high: Dim;
}

/** Finds the op that a node calls. */
type Lookup = (target: string) => OpDefinition | undefined;

/** Returns the checks of an op's indices. */
function checksOf(node: Node, lookup: Lookup): IndexCheck[] {
  const definition = node.op === "call_function" ? lookup(node.target) : undefined;
  if (!definition?.ranges) return [];
  const owners = new Map<TensorMeta, GraphValue>();
  const args = argumentsOfNode(node, definition, graphValueOf, isGraphValue);
  const metas = mapArguments(args, (value): TensorMeta => {
    const meta = { ...value.meta };
    owners.set(meta, value);
    return meta;
  });
  return definition.ranges(metas).map(({ values, low, high }) => {
    const owner = owners.get(values);
    if (!owner) throw new InternalError(`Expected the indices of ${definition.name} among its arguments`);
    return { values: owner, low, high };
  });
}

/** Returns the index checks of a call of an op or region; those of a region are built by the builder. */
export function checksOfCall(node: Node, lookup: Lookup, builder: GraphBuilder): IndexCheck[] {
  const { meta: { region }, args } = node;
  if (!region) return checksOf(node, lookup);
  const { placeholders, nodes } = region.graph;
  const made = new Map<Node, GraphValue | Dim>();
  for (const [at, placeholder] of placeholders.entries()) {
    const given = args[at];
    if (given instanceof Node) made.set(placeholder, graphValueOf(given));
    else if (given instanceof Sym || typeof given === "number") made.set(placeholder, given);
  }
  const valueOutside = (inner: Node): GraphValue | Dim => {
    const known = made.get(inner), definition = lookup(inner.target);
    if (known !== undefined) return known;
    const [result] = definition
      ? listOf(builder.call({
        definition,
        args: argumentsOfNode(inner, definition, valueOutside, isGraphValue),
      }))
      : [];
    if (!result) throw new InternalError(`Expected ${inner.name} to follow from the inputs of ${node.name}`);
    made.set(inner, result);
    return result;
  };
  return nodes.flatMap((inner) => checksOf(inner, lookup)).map(({ values, low, high }) => {
    const outside = valueOutside(values.node);
    if (!isGraphValue(outside)) throw new InternalError(`Expected the indices of ${node.name} to be tensors`);
    return { values: outside, low, high };
  });
}

/** The maximum number of calls between a region's inputs and its indices. */
const NEAR = 8;

/**
 * Returns whether the indices of a graph follow from its inputs in so few steps that the caller of the region can
 * compute them for the check.
 */
export function followsInputs(graph: Graph, lookup: Lookup): boolean {
  const follows = (node: Node): boolean => {
    const seen = new Set([node]);
    for (const each of seen) {
      if (each.op === "placeholder") continue;
      const definition = each.op === "call_function" ? lookup(each.target) : undefined;
      const isLittle = definition?.elementwise === true || definition?.implementation.kind === "view";
      if (!isLittle || seen.size > NEAR) return false;
      for (const input of each.inputs()) seen.add(input);
    }
    return true;
  };
  return graph.nodes.every((node) => {
    const { region } = node.meta;
    if (region) return region.graph.nodes.every((inner) => lookup(inner.target)?.ranges === undefined);
    return checksOf(node, lookup).every(({ values }) => follows(values.node));
  });
}
