/**
 * Turns a traced parameter update into a region, a graph of its operations, that equal updates call. Invariant: the
 * program can observe a call only through the tensors that it writes to.
 */
import type { TracedUpdate } from "../../graph/captured_module.ts";
import { isDense } from "../../graph/meta.ts";
import { type Argument, Graph, hasEffect, mapOperands, type Node } from "../../graph/node.ts";
import { rootOf } from "../../ops/computed_from.ts";
import type { RecordedCall } from "./calls.ts";

/** Creates the region of an update; null if the update returns a value or reads a tensor that is not dense. */
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
    // Calls may pass tensors at any offset
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
