/**
 * Adds constant tensors to a graph. Invariant: the program never receives such a tensor, so that nothing writes to
 * it.
 */
import type { Tensor } from "../../tensor/tensor.ts";
import { TensorValue } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** A tensor as an attribute of the graph. */
export function heldTensor(m: Interpreter, made: Tensor): TensorValue {
  const { attributes } = m.output;
  let name = "_tensor_constant0";
  for (let n = 1; name in attributes; n++) name = `_tensor_constant${n}`;
  attributes[name] = made;
  const meta = { ...made.meta, offset: 0 };
  const node = m.output.graph.create("get_attr", name, {
    meta: {
      stack: m.output.whereabouts.stack(),
      value: { kind: "tensor", tensor: meta, requiresGrad: false },
    },
  });
  const known = new TensorValue(meta, false, node, null, null);
  m.output.tensors.set(node, known);
  return known;
}
