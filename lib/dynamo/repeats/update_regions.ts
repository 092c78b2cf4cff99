/**
 * Updates of parameters as calls of one region: what the first was traced to, as a graph over its arguments. Invariant:
 * a region holds nothing but operations on them, which the program sees through what they write to alone.
 */
import type { TracedUpdate } from "../../graph/captured_module.ts";
import { isDense } from "../../graph/meta.ts";
import { type Argument, Graph, hasEffect, mapOperands, type Node } from "../../graph/node.ts";
import { rootOf } from "../../ops/computed_from.ts";
import type { RecordedCall } from "./calls.ts";

/** An update as a call; null where it gives something, or has arguments that may lie in another way in each call. */
export function updateRegion({ appended, gave, depth }: RecordedCall): TracedUpdate | null {
  const nodes = appended.map(({ node }) => node), stack = nodes[0]?.meta.stack.slice(0, depth);
  if (!stack || gave.kind !== "constant") return null;
  const graph = new Graph(), copies = new Map<Node, Node>(), args: Node[] = [];
  const own = new Set(nodes);
  for (const input of new Set(nodes.flatMap((node) => [...node.inputs()]))) {
    const { value } = input.meta;
    if (own.has(input)) continue;
    if (value.kind !== "tensor" || !isDense(value.tensor)) return null;
    args.push(input);
    // A region is given whole tensors, whatever memory they are in
    const meta = { value: { ...value, tensor: { ...value.tensor, offset: 0 } }, stack: [] };
    copies.set(input, graph.create("placeholder", input.name, { meta }));
  }
  const copy = (node: Node): Argument => copies.get(node) ?? node;
  for (const { node, args, kwargs, meta } of appended) {
    const { op, target, name } = node, operands = mapOperands({ args, kwargs }, copy);
    copies.set(node, graph.create(op, target, { ...operands, name, meta: { ...meta } }));
  }
  graph.create("output", "output", { args: [[]], meta: { stack } });
  const written = new Set(nodes.filter(hasEffect).map(rootOf));
  const mutatedInputs = [...args.keys()].filter((at) => args.some((arg, k) => k === at && written.has(arg)));
  return { region: { graph, ownResults: 0, mutatedInputs }, nodes, args };
}
