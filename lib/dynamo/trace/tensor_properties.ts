/**
 * Traces properties of tensors: metadata as constants or symbols, methods by identity, gradients and user-defined
 * properties as state. Invariant: metadata of a result is inferred; a property that only an eager tensor has breaks
 * the graph.
 */
// Imported for its effect: the class is complete then
import "../../tensor/install.ts";
import { elementCount, isContiguous } from "../../graph/meta.ts";
import { isOwnModule } from "../../base/errors.ts";
import { sameShape } from "../../ops/shapes.ts";
import { type Dim, Sym } from "../../sym/expr.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { breakGraph } from "../break_reasons.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { knownSource, propertySource } from "../source.ts";
import { numberOfDim } from "../variables/numbers.ts";
import {
  constant,
  isCallable,
  NULL,
  type ObjectValue,
  primitive,
  type TensorValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { classLabel } from "../variables/labels.ts";
import type { Found, Key } from "./objects.ts";
import { newArray } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import { isSwitched, setRequiresGrad } from "./gradient_switches.ts";
import { noteLaterMember, refuseLater } from "./later_reads.ts";
import { leaveLayoutToTape } from "./left_to_tape.ts";
import { refusing } from "./traced_ops.ts";

/** Returns the value of tensor[key], or a getter of the class, which is traced. */
export function findTensorProperty(
  m: Interpreter,
  tensor: TensorValue,
  key: Key,
): Exclude<Found, { readonly kind: "absent" }> {
  const { real, source } = tensor;
  const value = knownProperty(m, tensor, key);
  if (value) return { kind: "value", value };
  const prototype = classOf(m, tensor);
  for (let holder: object | null = prototype; holder; holder = Object.getPrototypeOf(holder)) {
    const descriptor = programDescriptor(holder, key);
    if (!descriptor) continue;
    if (!("value" in descriptor)) {
      if (typeof descriptor.get !== "function") break;
      relyOnGetter(m, tensor, key);
      if (real && source) m.output.guard({ kind: "ownKey", source, key, present: false });
      const getter = m.wrapper.known(descriptor.get, `Tensor.${String(key)}`);
      return isCallable(getter) ? { kind: "getter", getter } : breakGraph("tensorMethod", accessed(key));
    }
    const value: unknown = descriptor.value;
    if (typeof value !== "function") return breakGraph("tensorMethod", accessed(key));
    noteLaterMember(m, { kind: "method", prototype, key, method: value });
    // Programs may replace methods of the class.
    if (real && source) tensor.methods.set(key, value);
    else m.output.relyOnMethod({ kind: "method", prototype: holder, key, method: value });
    return { kind: "value", value: m.wrapper.known(value, `Tensor.${String(key)}`) };
  }
  if (real && source) refuseLater(m, `whether there is ${String(key)}`);
  const absent = real && source ? m.wrapper.wrap(undefined, propertySource(source, key)) : UNDEFINED;
  return { kind: "value", value: absent };
}

const accessed = (key: Key): string => `the property ${String(key)}`;

/** The value of tensor[key] if no getter has to run. */
export function readTensorProperty(m: Interpreter, tensor: TensorValue, key: Key): Value {
  const found = findTensorProperty(m, tensor, key);
  return found.kind === "value" ? found.value : breakGraph("tensorMethod", accessed(key));
}

/** Returns an own property, or one that the trace provides instead of the class; null for the rest. */
function knownProperty(m: Interpreter, tensor: TensorValue, key: Key): Value | null {
  const assigned = tensor.assigned.get(key);
  if (assigned) {
    refuseLater(m, accessed(key));
    return assigned;
  }
  if (typeof key === "string" && STATE_FIELDS.has(key)) return breakGraph("gradientState", key);
  const { real, source } = tensor, own = real && Reflect.getOwnPropertyDescriptor(real, key);
  if (own && source) {
    if (!("value" in own)) return breakGraph("tensorMethod", accessed(key));
    refuseLater(m, accessed(key));
    return m.wrapper.wrap(own.value, propertySource(source, key));
  }
  if (GETTERS.has(key) && !relyOnGetter(m, tensor, key)) return null;
  if (OF_HISTORY.has(key)) refuseHistory(m, tensor, key);
  switch (key) {
    case "shape":
      return sizeList(m, tensor, "shape", tensor.meta.shape);
    case "strides":
      leaveLayoutToTape(m, tensor.node);
      return sizeList(m, tensor, "strides", tensor.meta.strides);
    case "dtype":
    case "device":
    case "ndim":
    case "length":
      return ofLayout(m, tensor, key);
    case "requiresGrad":
      return constant(tensor.requiresGrad);
    case "isLeaf":
      return isLeaf(m, tensor);
    case "gradFn": {
      const leaf = isLeaf(m, tensor);
      return leaf.kind === "constant" && leaf.value === true ? NULL : breakGraph("gradientState", "gradFn");
    }
    case "grad":
      return gradOf(m, tensor);
    case "constructor":
      return m.wrapper.known(constructorOf(m, tensor), "Tensor");
    default:
      return null;
  }
}

/** Properties that depend on how gradients are recorded, or that programs set. */
const OF_HISTORY: ReadonlySet<Key> = new Set<Key>(["requiresGrad", "isLeaf", "gradFn", "grad"]);

/**
 * Breaks the graph at the program's question about the history of a tensor where graphs record gradients in another way
 * than transforms do: for tangents, and for the rows of a batch.
 */
function refuseHistory(m: Interpreter, { node }: TensorValue, key: Key): void {
  refuseLater(m, accessed(key));
  if (node) m.output.outdated.refuseUse([node]);
  const isOther = m.forwardTransforms > 0 || m.batch !== null;
  if (isOther && !isOwnModule(m.top.code.module.url)) {
    breakGraph("gradientState", `${accessed(key)} inside of a transform`);
  }
}

/** Members of the class as dyn defines them: programs may replace them before anything is captured. */
export const DEFINED: ReadonlyMap<Key, PropertyDescriptor> = new Map(
  Reflect.ownKeys(Tensor.prototype).map((key) => [
    key,
    Reflect.getOwnPropertyDescriptor(Tensor.prototype, key) ?? {},
  ]),
);

/** The members that depend on the strides. */
const OF_STRIDES: ReadonlySet<string> = new Set(["isContiguous", "stride", "strides"]);

/** A member of a traced tensor that depends only on the layout; a method is called with the given arguments. */
export function ofLayout(
  m: Interpreter,
  { meta, node }: TensorValue,
  key: string,
  args: readonly unknown[] = [],
): Value {
  if (OF_STRIDES.has(key)) leaveLayoutToTape(m, node);
  const layout = {
    ...meta,
    get numel() {
      return elementCount(meta);
    },
    get contiguous() {
      return isContiguous(meta);
    },
  };
  const bare: object = Object.create(Tensor.prototype, { layout: { value: layout } });
  const found: unknown = refusing(() => {
    const { get, value } = DEFINED.get(key) ?? {};
    return get ? Reflect.apply(get, bare, []) : Reflect.apply(value, bare, args);
  });
  return found instanceof Sym ? numberOfDim(m.output, found) : primitive(found);
}

/** Returns the result of the `in` operator. */
export function hasTensorProperty(m: Interpreter, tensor: TensorValue, key: Key): boolean {
  const { real, assigned } = tensor;
  if (assigned.has(key) || Reflect.has(prototypeOf(m, tensor), key)) return true;
  if (real && Object.hasOwn(real, key)) return breakGraph("tensorMethod", `whether there is ${String(key)}`);
  // Later calls may add it
  readTensorProperty(m, tensor, key);
  return false;
}

/** Fields of eager tensors that programs must not touch. */
const STATE_FIELDS: ReadonlySet<string> = new Set(["state", "viewState", "storage", "layout", "offset"]);

/** Getters of metadata that the trace provides. */
const GETTERS: ReadonlyMap<Key, unknown> = new Map(
  ["shape", "strides", "dtype", "device", "ndim", "requiresGrad", "length", "isLeaf", "gradFn"].map((key) => [
    key,
    DEFINED.get(key)?.get,
  ]),
);

/**
 * Relies on the getter that was found, since programs may replace getters of the class, and replacements run unchanged;
 * returns whether it is the original.
 */
function relyOnGetter(m: Interpreter, tensor: TensorValue, key: Key): boolean {
  const prototype = classOf(m, tensor);
  for (let holder: object | null = prototype; holder; holder = Object.getPrototypeOf(holder)) {
    const found = programDescriptor(holder, key);
    m.output.relyOnMethod({ kind: "getter", prototype: holder, key, method: found?.get });
    if (found) return found.get !== undefined && found.get === GETTERS.get(key);
  }
  return false;
}

function classOf(m: Interpreter, { real, made }: TensorValue): object {
  const found = real ?? made?.example;
  return found ? Object.getPrototypeOf(found) : m.tensorPrototype;
}

/** Returns the prototype of a tensor: guarded with the rest of an input, except for those guarded by identity. */
export function prototypeOf(m: Interpreter, tensor: TensorValue): object {
  const { source } = tensor, prototype = classOf(m, tensor);
  if (source?.kind === "known") {
    m.output.guard({ kind: "prototype", source, prototype, isArray: false, label: classLabel(prototype) });
  }
  return prototype;
}

function constructorOf(m: Interpreter, tensor: TensorValue): object {
  const found: unknown = Reflect.get(prototypeOf(m, tensor), "constructor");
  return typeof found === "function" ? found : Tensor;
}

/** Returns whether it was not created by an operation. */
function isLeaf(m: Interpreter, tensor: TensorValue): Value {
  const { real, source, requiresGrad, isBegun, written } = tensor;
  if (!requiresGrad || isBegun || isSwitched(tensor)) return constant(true);
  // A write does not change whether a tensor is a leaf, unless it had no gradient before
  if (!real || !source || (written && !real.requiresGrad)) return constant(false);
  return m.wrapper.wrap(real.isLeaf, propertySource(source, "isLeaf"));
}

/** The list of sizes; the same object each time, as for eager tensors. */
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
    // A property of an input that is about to change would be read too late
    if (tensor.layoutChanges.length === 0) list.tensorProperty = { tensor, name };
    tensor.lists.set(name, list);
  }
  return list;
}

function gradOf(m: Interpreter, tensor: TensorValue): Value {
  if (!tensor.real || !tensor.source) {
    const isResult = tensor.requiresGrad && !tensor.isBegun;
    return isResult ? breakGraph("gradientState", "grad of a result") : NULL;
  }
  return m.wrapper.wrap(tensor.real.grad, propertySource(tensor.source, "grad"));
}

/** Relies on a property of a real tensor being one that can be written, or on its absence and that it can be added. */
function relyOnPlace(m: Interpreter, { real, source, assigned }: TensorValue, key: Key): void {
  if (!real || !source || assigned.has(key)) return;
  const own = programDescriptor(real, key);
  if (own ? own.writable !== true : !Object.isExtensible(real)) return breakGraph("frozen");
  m.output.guard({ kind: "ownKey", source, key, present: own !== undefined });
  m.output.guard(own ? { kind: "writable", source, key } : { kind: "extensible", source, present: true });
}

/** Returns whether a tensor can be the gradient of another. */
export function fitsGradient({ meta: found }: TensorValue, { meta: expected }: TensorValue): boolean {
  return sameShape(found.shape, expected.shape) && found.dtype === expected.dtype &&
    found.device === expected.device;
}

/** tensor[key] = value; returns the class's setter that has to run, or null if there is none. */
export function writeTensorProperty(
  m: Interpreter,
  tensor: TensorValue,
  { key, value }: { readonly key: Key; readonly value: Value },
): ObjectValue | null {
  if (key === "grad") {
    const isLeaf = tensor.real !== null || tensor.isBegun;
    if (!isLeaf || (value.kind !== "tensor" && !(value.kind === "constant" && value.value === null))) {
      return breakGraph("gradientState", "an assignment to grad");
    }
    if (value.kind === "tensor" && !fitsGradient(value, tensor)) {
      return breakGraph("throws", "a gradient of another shape, type or device");
    }
    tensor.assigned.set(key, value);
    return null;
  }
  const setter = setterOf(m, tensor, key);
  if (setter) return setter;
  if (key === "requiresGrad" && relyOnGetter(m, tensor, key)) {
    setRequiresGrad(m, tensor, value);
    return null;
  }
  if (key in Tensor.prototype || (typeof key === "string" && STATE_FIELDS.has(key))) {
    return breakGraph("tensorMethod", `an assignment to ${String(key)}`);
  }
  relyOnPlace(m, tensor, key);
  tensor.assigned.set(key, value);
  return null;
}

/** The setter that the class of tensors has for a key; null if it has none. */
function setterOf(m: Interpreter, tensor: TensorValue, key: Key): ObjectValue | null {
  const { real } = tensor, prototype = m.tensorPrototype, found = programDescriptor(prototype, key);
  if (!found?.set || prototypeOf(m, tensor) !== prototype || (real && Object.hasOwn(real, key))) return null;
  const source = knownSource("Tensor.prototype", prototype);
  m.output.guard({ kind: "accessor", source, key, get: found.get, set: found.set });
  const setter = m.wrapper.known(found.set, `set Tensor.${String(key)}`);
  return isCallable(setter) ? setter : null;
}
