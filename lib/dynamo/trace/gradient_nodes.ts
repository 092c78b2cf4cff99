/**
 * Creates nodes that take gradients inside a traced graph. Invariant: each is a row-major tensor with memory of its
 * own, without history unless one was requested.
 */
import { gradientArguments, type GradientCall, GRADIENTS } from "../../graph/gradient_call.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Node, NodeMeta } from "../../graph/node.ts";
import type { GraphValue } from "../../ops/graph_builder.ts";
import type { TensorValue } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { tensorOfNode } from "./tensor_ops.ts";

/** A gradient in the history, and whether it has a history itself. */
interface KnownGradient {
  readonly grad: GraphValue;
  readonly recorded: boolean;
}

/** Appends the gradients of a call, whose values are `found`; one for each of its inputs. */
export function appendGradients(
  m: Interpreter,
  call: GradientCall,
  found: readonly KnownGradient[],
): readonly TensorValue[] {
  const { graph, history, whereabouts } = m.output;
  const metas = found.map(({ grad: { meta: { shape, dtype, device } } }) =>
    contiguousMeta(shape, dtype, device)
  );
  const stack = whereabouts.stack();
  const meta: Partial<NodeMeta> = {
    stack,
    value: { kind: "tensors", tensors: metas, requiresGrad: found.some(({ recorded }) => recorded) },
  };
  const node = graph.create("call_function", GRADIENTS, {
    ...gradientArguments(call),
    name: "gradients",
    meta,
  });
  m.output.noteOperation(node);
  history.define(node, found.map(({ grad }) => grad));
  m.output.noteBackward(call.outputs);
  m.backwards.push(m.steps - 1);
  return metas.map((tensor, index) =>
    appendItem(m, node, { index, tensor, requiresGrad: found[index]?.recorded === true })
  );
}

function appendItem(
  m: Interpreter,
  from: Node,
  { index, ...value }: {
    readonly index: number;
    readonly tensor: TensorMeta;
    readonly requiresGrad: boolean;
  },
): TensorValue {
  const { stack } = from.meta;
  const item = m.output.graph.create("call_function", "getitem", {
    args: [from, index],
    meta: { stack, value: { kind: "tensor", ...value } },
  });
  return tensorOfNode(m, item);
}
