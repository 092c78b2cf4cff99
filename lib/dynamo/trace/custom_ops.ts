/**
 * Traces custom ops: one node each, which runs the op, with the metadata of the op's fake. Invariant: a node writes
 * to nothing; arguments that the op writes to get their new elements by a copy after it.
 */
import {
  type CustomOp,
  fakeResults,
  functionalised,
  isDeferrable,
  isDifferentiable,
} from "../../autograd/custom_op.ts";
import { isFloat } from "../../base/dtype.ts";
import { messageOf } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Argument, NodeMeta } from "../../graph/node.ts";
import { specialize } from "../../sym/decide.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { breakGraph, refuseCall } from "../break_reasons.ts";
import { TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { allElements, newArray } from "./contents.ts";
import { enumerableKeys } from "./object_keys.ts";
import { findProperty } from "./objects.ts";
import { writeInto } from "./tensor_ops.ts";

/** A traced argument: its stand-in for a call without elements, and its form in nodes. */
interface Converted {
  readonly sample: unknown;
  readonly argument: Argument;
}

/** Calls an op as one node. */
export function callCustomOp(m: Interpreter, op: CustomOp, args: readonly Value[]): Value {
  if (m.batch !== null) return breakGraph("batch", `${op.qualifiedName}, which has no rule`);
  const found = { grad: false, size: false };
  const parts = args.map((value) => converted(m, value, found));
  const { metas, isList } = fakeOf(op, parts.map(({ sample }) => sample));
  const givesNothing = metas.length === 0 && op.mutated.length === 0;
  // The fake has been called for one value of the size
  if (found.size && !givesNothing) breakGraph("symbolicNumber", `an argument of ${op.qualifiedName}`);
  const written = op.mutated.flatMap((at) => {
    const value = args[at];
    return value?.kind === "tensor" ? [value] : [];
  });
  const grad = found.grad && m.gradEnabled && !givesNothing;
  if (grad && written.length > 0) {
    refuseCall(`${op.qualifiedName} writes to arguments, and gradients are recorded`);
  }
  if (grad && !isDifferentiable(op)) {
    breakGraph("customOp", `the gradient of ${op.qualifiedName}, which has none`);
  }
  const all = [
    ...metas,
    ...written.map(({ meta: { shape, dtype, device } }) => contiguousMeta(shape, dtype, device)),
  ];
  const mode = m.gradEnabled ? {} : { noGrad: true as const };
  // Assumes that every argument receives a gradient, although the op may return none
  const taped = grad && m.output.sizes.mayAssume ? { taped: true as const } : {};
  const meta = (value: NodeMeta["value"]): Partial<NodeMeta> => ({
    stack: m.output.whereabouts.stack(),
    value,
    onHost: true,
    ...isDeferrable(op) ? { begins: true } : taped,
    ...mode,
  });
  const node = m.output.graph.create("call_function", attributeName(m, op), {
    args: parts.map(({ argument }) => argument),
    meta: meta({ kind: "tensors", tensors: all, requiresGrad: grad }),
  });
  m.output.noteOperation(node);
  const items = all.map((tensor, index) => {
    const requiresGrad = grad && index < metas.length && isFloat(tensor.dtype);
    const item = m.output.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: meta({ kind: "tensor", tensor, requiresGrad }),
    });
    const value = new TensorValue(tensor, requiresGrad, item, null, null);
    m.output.tensors.set(item, value);
    m.output.noteOperation(item);
    return value;
  });
  written.forEach((target, k) => {
    const now = items[metas.length + k];
    if (now) writeInto(m, target, now);
  });
  const results = items.slice(0, metas.length), [only] = results;
  if (results.length === 0) return UNDEFINED;
  return isList || !only ? newArray(m, results) : only;
}

/** Returns the results of an op's fake; breaks the graph if there is none. */
function fakeOf(
  op: CustomOp,
  samples: readonly unknown[],
): { readonly metas: readonly TensorMeta[]; readonly isList: boolean } {
  let found: ReturnType<typeof fakeResults>;
  try {
    found = fakeResults(op, samples);
  } catch (thrown) {
    return breakGraph("customOp", `the fake of ${op.qualifiedName} fails: ${messageOf(thrown)}`);
  }
  if (found === null) return breakGraph("customOp", `${op.qualifiedName}, which has no fake`);
  const metas = found.tensors.map(({ meta: { shape, dtype, device } }) =>
    contiguousMeta(shape, dtype, device)
  );
  return { metas, isList: found.isList };
}

/** Converts an argument; `found` learns whether a tensor requires grad, and whether a number is a symbol. */
function converted(m: Interpreter, value: Value, found: { grad: boolean; size: boolean }): Converted {
  switch (value.kind) {
    case "constant":
      if (typeof value.value === "symbol") return breakGraph("opaqueObject", "a symbol");
      return { sample: value.value, argument: value.value };
    case "tensor": {
      found.grad ||= value.requiresGrad;
      const { shape, dtype, device } = value.meta;
      const sample = Tensor.elementless(contiguousMeta(shape.map((size) => specialize(size)), dtype, device));
      return { sample, argument: m.output.nodeOf(value) };
    }
    case "number": {
      const { dim, hint } = value;
      if (dim === null) return breakGraph("symbolicNumber", "an argument of an op that a user has defined");
      found.size ||= typeof dim !== "number";
      return { sample: hint, argument: dim };
    }
    case "object":
      if (value.exotic.kind === "array") {
        const parts = allElements(m, value).map((each) => converted(m, each, found));
        return { sample: parts.map(({ sample }) => sample), argument: parts.map(({ argument }) => argument) };
      }
      if (value.exotic.kind === "plain") {
        const parts = enumerableKeys(m, value).map((key) => {
          const property = findProperty(m, value, key);
          if (property.kind !== "value") return breakGraph("opaqueObject", "an argument with getters");
          return { key, ...converted(m, property.value, found) };
        });
        return {
          sample: Object.fromEntries(parts.map(({ key, sample }) => [key, sample])),
          argument: Object.fromEntries(parts.map(({ key, argument }) => [key, argument])),
        };
      }
      return breakGraph("opaqueObject", "an argument of an op that a user has defined");
    default:
      return breakGraph("symbolicNumber", "an argument of an op that a user has defined");
  }
}

/** The attribute that holds the function that a node runs for an op. */
function attributeName(m: Interpreter, op: CustomOp): string {
  const { attributes } = m.output, fn = functionalised(op);
  for (const [name, value] of Object.entries(attributes)) if (value === fn) return name;
  const base = op.qualifiedName.replaceAll(/\W+/g, "_");
  const taken = Object.keys(attributes).filter((name) => name === base || name.startsWith(`${base}_`)).length;
  const name = taken === 0 ? base : `${base}_${taken}`;
  attributes[name] = fn;
  return name;
}
