/** Recognises calls of ops without named arguments, for rewrites. */
import { type Argument, Node } from "../../graph/node.ts";

/** Returns whether a node calls this op. */
export const isCall = ({ op, target, kwargs }: Node, name: string): boolean =>
  op === "call_function" && target === name && Object.keys(kwargs).length === 0;

/** An argument as a call of one of some ops. */
export function callOf(argument: Argument | undefined, ...names: readonly string[]): Node | undefined {
  return argument instanceof Node && names.some((name) => isCall(argument, name)) ? argument : undefined;
}
