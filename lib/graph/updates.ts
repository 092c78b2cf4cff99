/** Nodes that write to memory that existed before: which values they change. */
import { type Argument, hasEffect, isList, Node } from "./node.ts";

/**
 * Returns whether a call of a region writes to its arguments. In functional graphs it writes the results of the region
 * into the region's `mutatedInputs`. Invariant: there, updates are the last nodes before the output, none reads what
 * another one writes, and the output lists the inputs that they write to as the new values of these.
 */
export const isUpdate = (node: Node): boolean => node.meta.region !== undefined && hasEffect(node);

/**
 * The arguments of each call that a node of a region makes: in functional graphs, all updates by one region are one
 * node, whose arguments are a list for each.
 */
export function rowsOf({ args }: Node): readonly (readonly Argument[])[] {
  return args.length > 0 && args.every(isList) ? args : [args];
}

/** Returns the values that a call writes to. */
export function writtenBy(node: Node): readonly Node[] {
  if (!hasEffect(node)) return [];
  const { region } = node.meta;
  if (!region) return [...node.inputs()].slice(0, 1);
  const written = rowsOf(node).flatMap((args) => region.mutatedInputs.map((at) => args[at]));
  return written.filter((arg) => arg instanceof Node);
}
