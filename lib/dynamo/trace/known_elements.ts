/**
 * Elements that a trace knows: those of short tensors that the traced function fills with constants and only reads.
 * Invariant: nothing in the graph may write to the memory of such a tensor, and no ambient state that is not guarded
 * takes part in it.
 */
import { DynError, orNull } from "../../base/errors.ts";
import { isComplex } from "../../base/dtype.ts";
import { elementCount, type TensorMeta } from "../../graph/meta.ts";
import { type Argument, hasEffect, isList, isRecord, Node } from "../../graph/node.ts";
import { viewedValue } from "../../ops/computed_from.ts";
import { findTarget } from "../../ops/table.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, modes, type Tensor } from "../../tensor/tensor.ts";
import { Sym } from "../../sym/expr.ts";
import type { TensorValue } from "../variables/value.ts";
import type { OutputGraph } from "./output_graph.ts";
import { MOST_ITEMS } from "./read_elements.ts";

/** Ops that fill tensors, by their names in graphs. */
const FILLING: ReadonlySet<string> = new Set(["arange", "eye", "full", "ones", "zeros"]);

/** Returns a tensor with the elements that one of the trace has in every call; null if they are not known. */
export function knownTensor(output: OutputGraph, { node, meta }: TensorValue): Tensor | null {
  if (!node || !isShort(meta) || isComplex(meta.dtype) || !isUnwritten(node)) return null;
  return orNull(DynError, () => modes.without(() => noGrad(() => tensorAt(output, node))));
}

/** Returns whether a tensor has few elements, whatever the call. */
function isShort(meta: Pick<TensorMeta, "shape">): boolean {
  const count = elementCount(meta);
  return meta.shape.every((size) => typeof size === "number") && typeof count === "number" &&
    count <= MOST_ITEMS;
}

/** Returns whether all uses of the memory that a node shows are calls of ops that do not write. */
function isUnwritten(node: Node): boolean {
  const shown = viewedValue(node);
  return shown ? isUnwritten(shown) : isOnlyRead(node);
}

function isOnlyRead(node: Node): boolean {
  return [...node.users.keys()].every((user) =>
    findTarget(user.target) !== undefined && !hasEffect(user) &&
    (viewedValue(user) !== node || isOnlyRead(user))
  );
}

/** The value of a node that fills a tensor, or shows a part of one; null for others. */
function tensorAt(output: OutputGraph, node: Node): Tensor | null {
  const { target, args, kwargs } = node;
  if (node.op === "get_attr") {
    const held = output.attributes[target];
    return isTensor(held) && held.numel() <= MOST_ITEMS ? held : null;
  }
  const isCall = node.op === "call_function" || node.op === "call_method";
  const definition = isCall && !hasEffect(node) ? findTarget(target)?.definition : undefined;
  const isView = definition?.implementation.kind === "view";
  if (!isView && !FILLING.has(target) && target !== "clone") return null;
  const { value } = node.meta, [shown] = args;
  if (value?.kind !== "tensor" || !isShort(value.tensor)) return null;
  const given = shown instanceof Node ? tensorAt(output, shown) : shown;
  const rest = args.slice(1);
  if (given === null || ![given === shown ? shown : null, ...rest, kwargs].every(isConstant)) return null;
  const made = graphRunner.callOp(target, args.length > 0 ? [given, ...rest] : [], kwargs);
  return isTensor(made) ? made : null;
}

/** Returns whether an argument is the same in every call. */
function isConstant(argument: Argument): boolean {
  if (isList(argument)) return argument.every(isConstant);
  if (isRecord(argument)) return Object.values(argument).every(isConstant);
  return !(argument instanceof Node) && !(argument instanceof Sym);
}
