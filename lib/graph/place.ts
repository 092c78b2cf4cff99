/**
 * Places of nodes in the user's program, for messages. Invariant: the innermost frame outside dyn is chosen if there
 * is one: `model.call(x)` rather than the inside of a layer.
 */
import { isOwnFile } from "../base/errors.ts";
import type { Node, SourcePosition } from "./node.ts";

const known = new Map<string, boolean>();

/** Returns whether a position is in a file of dyn. */
export function isOwnPosition({ file }: Pick<SourcePosition, "file">): boolean {
  let found = known.get(file);
  if (found === undefined) known.set(file, found = isOwnFile(file));
  return found;
}

/** Returns a node's innermost frame in the user's own files; otherwise the innermost of all. */
export function userPosition({ meta: { stack } }: Node): SourcePosition | undefined {
  return stack.findLast((position) => !isOwnPosition(position)) ?? stack.at(-1);
}

/** Formats a position as stack traces do. */
export function positionText({ functionName, file, line }: SourcePosition): string {
  return `${functionName || "<anonymous>"} (${file}:${line})`;
}

/** Describes a node's operation and the line that requested it: `tanh, at block (model.ts:5)`. */
export function placeOfNode(node: Node): string {
  const what = node.op === "placeholder" ? `the input ${node.name}` : node.target;
  const position = userPosition(node);
  return position ? `${what}, at ${positionText(position)}` : what;
}
