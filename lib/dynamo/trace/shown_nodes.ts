/**
 * Finds the nodes whose memory the nodes of a trace alias. Invariant: two nodes that may share memory are never
 * reported as distinct.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import { resultBefore } from "../../graph/custom_gradient.ts";
import type { Node } from "../../graph/node.ts";
import { findTarget } from "../../ops/table.ts";

/** Returns whether two nodes of a trace may share memory. */
export function mayShareMemory(a: Node, b: Node): boolean {
  const [one, other] = [a, b].map((node) => shownNode(node, { detached: true }));
  return one === other || (one?.op === "placeholder" && other?.op === "placeholder");
}

/** The input that a node is, or is a view of; `detached`: also through views without gradients. */
export function shownInput(node: Node, views: { readonly detached: boolean }): Node | null {
  const shown = shownNode(node, views);
  return shown.op === "placeholder" ? shown : null;
}

/** The node whose elements a node views: itself if it has memory of its own. */
export function shownNode(node: Node, { detached }: { readonly detached: boolean }): Node {
  for (let at = node;;) {
    const before = resultBefore(at);
    if (before) {
      at = before;
      continue;
    }
    const [first] = at.inputs();
    if (at.op === "placeholder" || !first) return at;
    if (at.target !== "getitem") {
      const isDetached = findTarget(at.target)?.definition.gradient.kind === "none";
      if ((isDetached && !detached) || !aliasesArgument(at)) return at;
    }
    at = first;
  }
}
