/**
 * Properties of tensors in the trace: metadata as constants or symbols, methods by identity, gradients and what
 * users hang on tensors as state. Input: a traced tensor and a key; output: a value. Invariant: metadata of a
 * result is the inferred one; what only an eager tensor knows breaks the graph.
 */
import type { Dim } from "../../sym/expr.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { breakGraph } from "../break_reasons.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { propertySource } from "../source.ts";
import { numberOfDim } from "../variables/numbers.ts";
import {
  constant,
  NULL,
  type ObjectValue,
  type TensorValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { classLabel } from "../variables/wrap.ts";
import { type Key, newArray } from "./objects.ts";
import type { Interpreter } from "./interpreter.ts";

/** The value of tensor[key]. */
export function readTensorProperty(m: Interpreter, tensor: TensorValue, key: Key): Value {
  const assigned = tensor.assigned.get(key);
  if (assigned) return assigned;
  if (typeof key === "string" && STATE_FIELDS.has(key)) return breakGraph("gradientState", key);
  const { real, source } = tensor, own = real && Reflect.getOwnPropertyDescriptor(real, key);
  if (own && source) {
    if (!("value" in own)) return breakGraph("tensorMethod", `the property ${String(key)}`);
    return m.wrapper.wrap(own.value, propertySource(source, key));
  }
  if (GETTERS.has(key)) relyOnGetter(m, tensor, key);
  switch (key) {
    case "shape":
      return sizeList(m, tensor, "shape", tensor.meta.shape);
    case "strides":
      return sizeList(m, tensor, "strides", tensor.meta.strides);
    case "dtype":
      return constant(tensor.meta.dtype);
    case "device":
      return constant(tensor.meta.device);
    case "ndim":
      return constant(tensor.meta.shape.length);
    case "requiresGrad":
      return constant(tensor.requiresGrad);
    case "length": {
      const [first] = tensor.meta.shape;
      return first === undefined
        ? breakGraph("throws", "length of a 0-d tensor")
        : numberOfDim(m.output, first);
    }
    case "isLeaf":
      if (!tensor.requiresGrad || tensor.begunAt !== null) return constant(true);
      if (tensor.real && tensor.source && !tensor.written) {
        return m.wrapper.wrap(tensor.real.isLeaf, propertySource(tensor.source, "isLeaf"));
      }
      return constant(false);
    case "grad":
      return gradOf(m, tensor);
    case "constructor":
      return m.wrapper.known(constructorOf(m, tensor), "Tensor");
    default:
  }
  const prototype = real ? Object.getPrototypeOf(real) : m.tensorPrototype;
  for (let holder: object | null = prototype; holder; holder = Object.getPrototypeOf(holder)) {
    const descriptor = programDescriptor(holder, key);
    if (!descriptor) continue;
    if (!("value" in descriptor)) return breakGraph("tensorMethod", `the property ${String(key)}`);
    const value: unknown = descriptor.value;
    if (typeof value !== "function") return breakGraph("tensorMethod", `the property ${String(key)}`);
    // Programs may replace methods of the class.
    if (real && source) tensor.methods.set(key, value);
    else m.output.relyOnMethod({ kind: "method", prototype: holder, key, method: value });
    return m.wrapper.known(value, `Tensor.${String(key)}`);
  }
  return real && source ? m.wrapper.wrap(undefined, propertySource(source, key)) : UNDEFINED;
}

/** What the `in` operator says. */
export function hasTensorProperty(m: Interpreter, tensor: TensorValue, key: Key): boolean {
  const { real, assigned } = tensor;
  if (assigned.has(key) || Reflect.has(prototypeOf(m, tensor), key)) return true;
  if (real && Object.hasOwn(real, key)) return breakGraph("tensorMethod", `whether there is ${String(key)}`);
  // Later calls may have it
  readTensorProperty(m, tensor, key);
  return false;
}

/** Fields of eager tensors that are no business of programs. */
const STATE_FIELDS: ReadonlySet<string> = new Set(["state", "viewState", "storage", "layout", "offset"]);

/** Getters of metadata that the trace answers for. */
const GETTERS: ReadonlyMap<Key, unknown> = new Map(
  ["shape", "strides", "dtype", "device", "ndim", "requiresGrad", "length", "isLeaf"].map((key) => [
    key,
    Reflect.getOwnPropertyDescriptor(Tensor.prototype, key)?.get,
  ]),
);

/** Programs may replace getters of the class; theirs run as they are. */
function relyOnGetter(m: Interpreter, { real }: TensorValue, key: Key): void {
  const prototype: object = real ? Object.getPrototypeOf(real) : m.tensorPrototype;
  for (let holder: object | null = prototype; holder; holder = Object.getPrototypeOf(holder)) {
    const found = programDescriptor(holder, key);
    m.output.relyOnMethod({ kind: "getter", prototype: holder, key, method: found?.get });
    if (!found) continue;
    if (found.get !== GETTERS.get(key)) breakGraph("tensorMethod", `the property ${String(key)}`);
    return;
  }
}

/** What a tensor inherits from: guarded with the rest of an input, but for those that are guarded by identity. */
export function prototypeOf(m: Interpreter, { real, source }: TensorValue): object {
  if (real === null) return m.tensorPrototype;
  const prototype: object = Object.getPrototypeOf(real);
  if (source?.kind === "known") {
    m.output.guard({ kind: "prototype", source, prototype, label: classLabel(prototype) });
  }
  return prototype;
}

function constructorOf(m: Interpreter, tensor: TensorValue): object {
  const found: unknown = Reflect.get(prototypeOf(m, tensor), "constructor");
  return typeof found === "function" ? found : Tensor;
}

/** The list of sizes; the same object each time, as eager tensors give. */
function sizeList(
  m: Interpreter,
  tensor: TensorValue,
  name: "shape" | "strides",
  dims: readonly Dim[],
): ObjectValue {
  let list = tensor.lists.get(name);
  if (!list) {
    list = newArray(m, dims.map((d) => numberOfDim(m.output, d)));
    list.frozen = "frozen";
    list.tensorProperty = { tensor, name };
    tensor.lists.set(name, list);
  }
  return list;
}

function gradOf(m: Interpreter, tensor: TensorValue): Value {
  if (!tensor.real || !tensor.source) {
    const isResult = tensor.requiresGrad && tensor.begunAt === null;
    return isResult ? breakGraph("gradientState", "grad of a result") : NULL;
  }
  return m.wrapper.wrap(tensor.real.grad, propertySource(tensor.source, "grad"));
}

/** tensor[key] = value. */
export function writeTensorProperty(_m: Interpreter, tensor: TensorValue, key: Key, value: Value): void {
  if (key === "grad") {
    const isLeaf = tensor.real !== null || tensor.begunAt !== null;
    if (!isLeaf || (value.kind !== "tensor" && !(value.kind === "constant" && value.value === null))) {
      return breakGraph("gradientState", "an assignment to grad");
    }
    if (value.kind === "tensor" && `${value.meta.shape}` !== `${tensor.meta.shape}`) {
      return breakGraph("throws", "a gradient of another shape");
    }
    tensor.assigned.set(key, value);
    return;
  }
  if (key in Tensor.prototype || (typeof key === "string" && STATE_FIELDS.has(key))) {
    return breakGraph("tensorMethod", `an assignment to ${String(key)}`);
  }
  tensor.assigned.set(key, value);
}
