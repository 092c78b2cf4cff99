/**
 * Converts a node of a functional graph to ONNX. Invariant: a node without a counterpart is refused by name.
 */
import { DynError } from "../../lib/base/errors.ts";
import { Node } from "../../lib/graph/node.ts";
import { argumentsOfNode } from "../../lib/ops/graph_builder.ts";
import { findTarget } from "../../lib/ops/table.ts";
import { OnnxCall } from "./onnx_call.ts";
import { RULES } from "./rules.ts";
import { isValue, OnnxValue, type Values } from "./values.ts";

/** Appends a node's counterpart and returns its result. Throws DynError with the user's line if ONNX has none. */
export function callOf(
  node: Node,
  { named, lists, values }: {
    readonly named: ReadonlyMap<Node, OnnxValue>;
    readonly lists: ReadonlyMap<Node, OnnxValue>;
    readonly values: Values;
  },
): OnnxValue {
  const { target, meta: { value } } = node;
  if (target === "getitem") {
    const [of, index] = node.args, list = of instanceof Node ? lists.get(of) : undefined;
    if (list && index === 0) return list;
    throw new DynError(
      `Expected the first result of an op, which ONNX has, but found ${index} at ${node.name}`,
    );
  }
  const definition = findTarget(target)?.definition, rule = definition && RULES[definition.name];
  const meta = value.kind === "tensor"
    ? value.tensor
    : value.kind === "tensors"
    ? value.tensors[0]
    : undefined;
  const [line] = node.meta.stack.slice(-1),
    place = line ? `, in ${line.code} (${line.file}:${line.line})` : "";
  if (!definition || !rule || !meta || node.meta.region) {
    throw new DynError(
      `Expected ops that ONNX has a counterpart of but found ${definition?.name ?? target}${place}`,
    );
  }
  const args = argumentsOfNode(node, definition, (each) => named.get(each), isValue);
  const { shape, dtype } = meta, call = new OnnxCall({ definition, args, shape, dtype, values });
  try {
    const result = rule(call);
    call.checkSeen();
    return new OnnxValue(result, shape, dtype);
  } catch (error) {
    throw error instanceof DynError ? new DynError(`${error.message}${place}`) : error;
  }
}
