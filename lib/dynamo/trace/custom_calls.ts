/**
 * Traces functions that users allow in graphs: one node each, with the metadata of a call on sample tensors.
 * Invariant: the function is called on copies with made-up elements, never on the program's own tensors.
 */
import type { Argument, NodeMeta } from "../../graph/node.ts";
import { specialize } from "../../sym/decide.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { ops } from "../../tensor/eager.ts";
import { noGrad } from "../../tensor/modes.ts";
import { breakGraph } from "../break_reasons.ts";
import { asProgram } from "../../base/own_builtins.ts";
import { TensorValue, type Value } from "../variables/value.ts";
import { functionLabel } from "../variables/labels.ts";
import { allElements, newArray } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";

/** Calls a function as one node. */
export function callCustom(m: Interpreter, fn: object, args: readonly Value[]): Value {
  if (typeof fn !== "function") return breakGraph("builtin", "a value that is not a function");
  let requiresGrad = false;
  const convert = (value: Value): { readonly sample: unknown; readonly argument: Argument } => {
    switch (value.kind) {
      case "constant":
        if (typeof value.value === "symbol") return breakGraph("opaqueObject", "a symbol");
        return { sample: value.value, argument: value.value };
      case "tensor": {
        requiresGrad ||= value.requiresGrad;
        const sizes = value.meta.shape.map((d) => specialize(d));
        const sample = noGrad(() => ops.zeros(sizes, { dtype: value.meta.dtype, device: value.meta.device }));
        return { sample, argument: m.output.nodeOf(value) };
      }
      case "object":
        if (value.exotic.kind === "array") {
          const parts = allElements(m, value).map(convert);
          return { sample: parts.map((p) => p.sample), argument: parts.map((p) => p.argument) };
        }
        return breakGraph("opaqueObject", `an argument of ${functionLabel(fn)}`);
      default:
        return breakGraph("symbolicNumber", `an argument of ${functionLabel(fn)}`);
    }
  };
  const parts = args.map(convert);
  const result: unknown = noGrad(() =>
    asProgram(() => Reflect.apply(fn, undefined, parts.map((p) => p.sample)))
  );
  const name = attributeName(m, fn);
  const grad = requiresGrad && m.gradEnabled;
  const meta = (tensor: Tensor): Partial<NodeMeta> => ({
    stack: m.output.whereabouts.stack(),
    value: { kind: "tensor", tensor: { ...tensor.meta, offset: 0 }, requiresGrad: grad },
  });
  if (isTensor(result)) {
    const node = m.output.graph.create("call_function", name, {
      args: parts.map((p) => p.argument),
      meta: meta(result),
    });
    return remember(m, new TensorValue({ ...result.meta, offset: 0 }, grad, node, null, null));
  }
  if (!Array.isArray(result) || !result.every(isTensor)) {
    return breakGraph("builtin", `${functionLabel(fn)} gives no tensors`);
  }
  const tensors: readonly Tensor[] = result;
  const node = m.output.graph.create("call_function", name, {
    args: parts.map((p) => p.argument),
    meta: {
      stack: m.output.whereabouts.stack(),
      value: { kind: "tensors", tensors: tensors.map((t) => t.meta), requiresGrad: grad },
    },
  });
  m.output.noteOperation(node);
  return newArray(
    m,
    tensors.map((tensor, index) => {
      const item = m.output.graph.create("call_function", "getitem", {
        args: [node, index],
        meta: meta(tensor),
      });
      return remember(m, new TensorValue({ ...tensor.meta, offset: 0 }, grad, item, null, null));
    }),
  );
}

function remember(m: Interpreter, tensor: TensorValue): TensorValue {
  if (tensor.node) {
    m.output.tensors.set(tensor.node, tensor);
    m.output.noteOperation(tensor.node);
  }
  return tensor;
}

function attributeName(m: Interpreter, fn: object): string {
  const { attributes } = m.output;
  for (const [name, value] of Object.entries(attributes)) if (value === fn) return name;
  let name = functionLabel(fn).replace(/\W/g, "_");
  for (let n = 1; name in attributes; n++) name = `${functionLabel(fn).replace(/\W/g, "_")}_${n}`;
  attributes[name] = fn;
  return name;
}
