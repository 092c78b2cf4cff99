/**
 * Traces methods of tensors that are not ops: metadata, elements, indexing, the gradient tape. Invariant: a method
 * that reads elements returns an item or breaks the graph.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import { config } from "../../base/config.ts";
import { elementCount, isContiguous } from "../../graph/meta.ts";
import { type DType, isDType } from "../../base/dtype.ts";
import { keepsBits, typeOfView } from "../../ops/shape/bit_views.ts";
import { type CallTarget, findTarget } from "../../ops/table.ts";
import { deviceNamed, isShapesOnly } from "../../tensor/storage.ts";
import { DESCRIBED } from "../../tensor/descriptions.ts";
import { byPosition, positionalMethod } from "../../tensor/method_arguments.ts";
import { type Indexing, setAt, valueAt } from "../../tensor/indexing.ts";
import { noGrad } from "../../tensor/modes.ts";
import { tensor } from "../../tensor/creation.ts";
import { convertTo, movedTo } from "../../tensor/transfer.ts";
import { hintOf } from "../../sym/decide.ts";
import { Sym } from "../../sym/expr.ts";
import { modes, type Tensor } from "../../tensor/tensor.ts";
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { numberOfDim, sizeOf, specializeNumber } from "../variables/numbers.ts";
import { SelectionValue } from "../variables/selection_value.ts";
import {
  constant,
  isCallable,
  NULL,
  type ObjectValue,
  TensorValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import {
  type BuiltinModel,
  type CallRequest,
  type CallResult,
  type Interpreter,
  PUSHED,
} from "./interpreter.ts";
import { leaveLayoutToTape, ofTapeBehind } from "./left_to_tape.ts";
import { findProperty } from "./objects.ts";
import { allElements, newArray, refuseOpaque } from "./contents.ts";
import { enumerableKeys, isPlain } from "./object_keys.ts";
import { DEFINED, ofLayout, readTensorProperty } from "./tensor_properties.ts";
import { refusing, tracedOps } from "./traced_ops.ts";
import { refuseParts } from "./changing_parts.ts";
import { sliceOfPieces } from "./slice_texts.ts";
import { constantTensor } from "./creation.ts";
import { ofNumbers } from "./tensor_data.ts";
import { setRequiresGrad } from "./gradient_switches.ts";
import { registerLater } from "./later_hooks.ts";
import { tapGradient } from "./gradient_taps.ts";
import { setSelected } from "./selections.ts";
import { callOp } from "./tensor_ops.ts";
import { itemOf } from "./graph_numbers.ts";
import { knownTensor } from "./known_elements.ts";
import { MOST_ITEMS, readElements } from "./read_elements.ts";
import { backward } from "./backward.ts";

type Method = (m: Interpreter, self: TensorValue, args: readonly Value[], request: CallRequest) => CallResult;

/** An op of the table by its public name. */
function op(m: Interpreter, name: string, args: readonly Value[]): TensorValue {
  const result = callOp(m, m.opNamed(name), args, true);
  return result.kind === "tensor" ? result : breakGraph("tensorMethod", name);
}

/** Writes a source, which may be on another device, into a tensor. */
function copyInto(m: Interpreter, self: TensorValue, [source = UNDEFINED, ...rest]: readonly Value[]) {
  const moved = source.kind === "tensor" ? refusing(() => movedTo(tracedOps(m), source, self)) : source;
  return op(m, "copy_", [self, moved, ...rest]);
}

const namesType = (m: Interpreter, value: Value): boolean =>
  value.kind === "constant"
    ? typeof value.value === "string"
    : value.kind === "object" && isPlain(m, value) && enumerableKeys(m, value).includes("dtype");

/** The memory of a tensor as elements of another type. Breaks the graph where kernels would not keep every bit. */
function viewBits(m: Interpreter, self: TensorValue, dtype: DType): TensorValue {
  const { device, dtype: own } = self.meta;
  if (!keepsBits(own, dtype)) return breakGraph("tensorMethod", `view of ${own} as ${dtype}`);
  if (isShapesOnly(device) || !deviceNamed(device).hostReadable) {
    return breakGraph("tensorMethod", `view as another type on ${device}`);
  }
  return op(m, "bitView", [self, constant(dtype)]);
}

const METHODS: Readonly<Record<string, Method>> = {
  size: (m, self, args) => alongDim(m, self, "shape", args),
  stride: (m, self, args) => alongDim(m, self, "strides", args),
  contiguous: (m, self, args) => {
    if (args.length > 0) breakGraph("throws", "arguments of contiguous");
    // Whether a gradient that arrives is copied is not known, so nothing may be written there
    if (m.later !== null && self.node && ofTapeBehind(m, self.node)) {
      const copy = tracedOps(m).clone(self);
      m.output.unshared.push(m.output.nodeOf(copy));
      return copy;
    }
    leaveLayoutToTape(m, self.node);
    return isContiguous(self.meta) ? self : tracedOps(m).contiguous(self);
  },
  item: (m, self) => {
    if (hintOf(elementCount(self.meta)) !== 1) return breakGraph("throws", "item() of several elements");
    const known = knownTensor(m.output, self);
    return known ? constant(known.item()) : itemOf(m.output, self);
  },
  cpu: (m, self) => convertTo(tracedOps(m), self, ["cpu"]),
  to: (m, self, args) =>
    refusing(() => convertTo(tracedOps(m), self, args.map((each) => conversion(m, each)))),
  view(m, self, args) {
    const [first] = args;
    if (args.length !== 1 || !first || !namesType(m, first)) return op(m, "view", [self, ...args]);
    const dtype = refusing(() => typeOfView([conversion(m, first)]));
    if (!isDType(dtype)) return breakGraph("throws", "view as an unknown type");
    return viewBits(m, self, dtype);
  },
  copy_: copyInto,
  where: (m, self, [condition = UNDEFINED, ...rest]) => op(m, "where", [condition, self, ...rest]),
  at: (m, self, args) => {
    const index = args.map((each) => plainIndex(m, self, each));
    return refusing(() => valueAt(indexing(m), self, index));
  },
  set: (m, self, [index = UNDEFINED, value = UNDEFINED]) => {
    const list = index.kind === "object" && index.exotic.kind === "array" ? allElements(m, index) : [index];
    if (value instanceof SelectionValue) {
      const call = (target: CallTarget, args: readonly Value[]) => callOp(m, target, args, false);
      return setSelected(m, self, { index: list, value }, call);
    }
    const plain = list.map((each) => plainIndex(m, self, each));
    return refusing(() => setAt(indexing(m), self, { index: plain, value }));
  },
  requiresGrad_: (m, self, [given]) => setRequiresGrad(m, self, given),
  retainGrad: (m, self) =>
    self.requiresGrad ? tapGradient(m, [self], "retainGrad") : breakGraph("throws", "retainGrad"),
  registerHook: (m, self, _args, request) =>
    registerLater(m, self, request) ?? tapGradient(m, [self], "a hook is registered"),
  registerPostAccumulateGradHook(m, self, _args, request) {
    const leaf = readTensorProperty(m, self, "isLeaf");
    const later = leaf.kind === "constant" && leaf.value === true ? registerLater(m, self, request) : null;
    return later ?? breakGraph("tensorMethod", "registerPostAccumulateGradHook");
  },
  backward: (m, self, _args, request) => backward(m, self, request),
  detach_(_m, self, given) {
    const { node } = self;
    // Views refuse it; what comes from outside may be one
    const isNew = (node?.op === "call_function" || node?.op === "call_method") && node.target !== "getitem" &&
      !node.target.endsWith("_") && !aliasesArgument(node);
    return self.requiresGrad || given.length > 0 || !isNew ? breakGraph("gradientState", "detach_") : self;
  },
  tolist: (m, self) => {
    const { shape } = self.meta, known = shape.filter((size) => typeof size === "number");
    const count = known.reduce((a, b) => a * b, 1), elements = knownTensor(m.output, self);
    if (elements) return listOfKnown(m, elements.tolist());
    if (!config.captureScalarOutputs || known.length < shape.length || count > MOST_ITEMS) {
      return readElements(m, self, "tolist");
    }
    const listOf = (part: TensorValue, sizes: readonly number[]): Value => {
      const [size, ...rest] = sizes;
      if (size === undefined) return itemOf(m.output, part);
      const parts = Array.from({ length: size }, (_, k) => op(m, "select", [part, constant(0), constant(k)]));
      return newArray(m, parts.map((each) => listOf(each, rest)));
    };
    return listOf(self, known);
  },
  toTypedArray: (m, self) => readElements(m, self, "toTypedArray"),
  toString: (() => breakGraph("tensorItem", "toString()")) satisfies Method,
};

/** Elements as a list of the trace. */
function listOfKnown(m: Interpreter, elements: ReturnType<Tensor["tolist"]>): Value {
  return Array.isArray(elements)
    ? newArray(m, elements.map((each) => listOfKnown(m, each)))
    : typeof elements === "object"
    ? breakGraph("tensorItem", "a complex element is not a number")
    : constant(elements);
}

/** The numbers of arguments of methods that refuse more. */
const MOST_ARGUMENTS: Readonly<Record<string, number>> = {
  size: 1,
  stride: 1,
  item: 0,
  cpu: 0,
  where: 2,
  set: 2,
  requiresGrad_: 1,
  retainGrad: 0,
  registerHook: 1,
  registerPostAccumulateGradHook: 1,
  tolist: 0,
  toTypedArray: 0,
};

/** An entry of the list of sizes or strides, or the list itself: the same object each time. */
function alongDim(
  m: Interpreter,
  self: TensorValue,
  part: "shape" | "strides",
  args: readonly Value[],
): Value {
  const [given = UNDEFINED] = args;
  if (given === UNDEFINED) return readTensorProperty(m, self, part);
  // Each dimension has a version, counted from either end, if there are as many versions as that
  const isFew = 2 * self.meta.shape.length <= config.cacheSizeLimit;
  const mayHaveOne = given.kind === "number" && (isFew || !m.wrapper.changes.hasMany(given));
  const dim = mayHaveOne ? specializeNumber(m.output, given) : given;
  if (dim.kind === "object" || (dim.kind === "constant" && typeof dim.value === "symbol")) {
    return breakGraph("throws", `${part} of a dimension that is not a number`);
  }
  if (dim.kind !== "constant") return breakGraph("tensorMethod", `${part} of an unknown dimension`);
  return ofLayout(m, self, part === "shape" ? "size" : "stride", [dim.value]);
}

/** Returns the argument of `to`. */
function conversion(m: Interpreter, value: Value): unknown {
  if (value.kind === "tensor") return value;
  if (value.kind === "constant") return value.value;
  if (value.kind !== "object" || value.exotic.kind !== "plain") return breakGraph("tensorMethod", "to()");
  return Object.fromEntries(
    enumerableKeys(m, value).map((key) => {
      const found = findProperty(m, value, key);
      if (found.kind === "value" && found.value.kind === "constant") return [key, found.value.value];
      return breakGraph("tensorMethod", "to()");
    }),
  );
}

/** Returns the indexing of traced tensors. */
function indexing(m: Interpreter): Indexing<TensorValue, Value> {
  const ops = tracedOps(m);
  return {
    ops,
    isTensor: (value) => value instanceof TensorValue,
    listed: (make) => constantTensor(m, modes.without(() => noGrad(make))),
    numberIn: () => breakGraph("tensorItem", "an index"),
    valueLike({ dtype, device }, value) {
      if (value.kind === "tensor") return value;
      if (value.kind === "object") {
        const list = value.exotic.kind === "array" ? value : breakGraph("tensorMethod", "set() of an object");
        const made = ofNumbers(m, list, { make: tensor, chosen: { dtype, device } });
        return made instanceof TensorValue
          ? made
          : breakGraph("tensorMethod", "set() of a list of constants");
      }
      const place = m.options({ dtype: constant(dtype), device: constant(device) });
      return op(m, "full", [newArray(m, []), value, place]);
    },
    copy: (view, source) => void copyInto(m, view, [source]),
    put: (view, indices, source) =>
      void op(m, "indexPut_", [view, newArray(m, indices.map((each) => each ?? NULL)), source]),
  };
}

/** An index argument of `self` in the form that indexing accepts. */
function plainIndex(m: Interpreter, self: TensorValue, value: Value): unknown {
  switch (value.kind) {
    case "constant":
      return sliceOfPieces(m, value) ?? value.value;
    case "number":
      return sizeOf(m.output, value) ?? specializeNumber(m.output, value).value;
    case "tensor":
      return value;
    case "object":
      if (value.exotic.kind === "array") return listIndex(m, self, value);
      if (isPlain(m, value)) return sliceIndex(m, self, value);
      return breakGraph("tensorMethod", "an index that is not a list or slice");
    case "item":
      return value.number?.dim ?? breakGraph("tensorItem", "an index");
    default:
      return breakGraph("tensorItem", "an index");
  }
}

/** A list of indices: a tensor that each call makes if one of them changes. */
function listIndex(m: Interpreter, self: TensorValue, list: ObjectValue): unknown {
  const making = { make: tensor, chosen: { device: self.meta.device } };
  const made = areWhole(m, list) ? ofNumbers(m, list, making) : null;
  return made ?? allElements(m, list).map((each) => {
    const index = plainIndex(m, self, each);
    return index instanceof Sym ? breakGraph("tensorMethod", "indexing with a list of sizes") : index;
  });
}

/** Returns whether a value is an integer of the traced call, or a list of such. */
function areWhole(m: Interpreter, value: Value): boolean {
  if (value.kind === "number") return Number.isInteger(value.hint);
  if (value.kind === "constant") return Number.isInteger(value.value);
  return value.kind === "object" && value.exotic.kind === "array" &&
    allElements(m, value).every((each) => areWhole(m, each));
}

/** A slice as an object. */
function sliceIndex(m: Interpreter, self: TensorValue, object: ObjectValue): Record<string, unknown> {
  return Object.fromEntries(
    enumerableKeys(m, object).map((key) => {
      const found = findProperty(m, object, key);
      if (found.kind !== "value") return breakGraph("tensorMethod", "a slice with accessors");
      return [key, plainIndex(m, self, found.value)];
    }),
  );
}

/** The rows of a tensor, for iteration. */
export function rowsOf(m: Interpreter, tensor: TensorValue): ObjectValue {
  const [first] = tensor.meta.shape;
  if (first === undefined) return breakGraph("throws", "a 0-d tensor is iterated");
  const count = numberOfDim(m.output, first);
  if (count.kind === "number") refuseParts(m, "rows", count.hint);
  const rows = count.kind === "number"
    ? specializeNumber(m.output, count).value
    : count.kind === "constant"
    ? count.value
    : breakGraph("dataDependentSize", "iteration over a data-dependent number of rows");
  const list: Value[] = [];
  for (let i = 0; i < Number(rows); i++) list.push(op(m, "select", [tensor, constant(0), constant(i)]));
  return newArray(m, list);
}

/** Methods that depend on the layout alone. */
const LAYOUT_METHODS: ReadonlySet<string> = new Set([
  "dim",
  "numel",
  "elementSize",
  "isContiguous",
  "isFloatingPoint",
  "isComplex",
]);

/** Methods that are written in terms of others and traced like functions of the program. */
const WRITTEN_OUT: ReadonlySet<string | symbol> = new Set([
  "equal",
  "allclose",
  Symbol.iterator,
  ...DESCRIBED,
]);

/** The arguments of a method by position. */
function positionalArguments(m: Interpreter, name: string, args: readonly Value[]): readonly Value[] {
  return refusing(() =>
    byPosition<Value>(name, args, {
      names: (value) => value.kind === "object" && isPlain(m, value) ? enumerableKeys(m, value) : null,
      get: (value, key) => (value.kind === "object" ? m.plainProperty(value, key) : null) ?? UNDEFINED,
      options: (entries) => m.options(Object.fromEntries(entries)),
      absent: UNDEFINED,
    })
  );
}

/** Traces a method that is written in terms of others, with its arguments by position. */
function calledByPosition(name: string, positional: object): BuiltinModel {
  return (m, request) => {
    const callee = m.wrapper.known(positional, `Tensor.${name}`);
    invariant(isCallable(callee), "Expected a function");
    m.call({ ...request, args: positionalArguments(m, name, request.args), callee });
    return PUSHED;
  };
}

/** Models of the other methods of the tensor class, by function. */
export function tensorMethodModels(): Map<object, BuiltinModel> {
  const models = new Map<object, BuiltinModel>();
  for (const [key, { value }] of DEFINED) {
    if (typeof value !== "function" || key === "constructor") continue;
    const name = String(key);
    if (WRITTEN_OUT.has(key)) {
      const positional = positionalMethod(value);
      if (typeof positional === "function") models.set(value, calledByPosition(name, positional));
      continue;
    }
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    const most = Object.hasOwn(MOST_ARGUMENTS, name) ? MOST_ARGUMENTS[name] : undefined;
    const target = findTarget(name), isOfLayout = LAYOUT_METHODS.has(name);
    models.set(value, (m, request) => {
      const { self } = request, args = positionalArguments(m, name, request.args);
      if (self.kind !== "tensor") {
        if (self.kind === "object") refuseOpaque(self);
        return breakGraph("throws", `${name} of a value that is not a tensor`);
      }
      if (most !== undefined && args.slice(most).some((each) => each !== UNDEFINED)) {
        return breakGraph("throws", `surplus arguments of ${name}`);
      }
      if (method) return method(m, self, args, request);
      if (isOfLayout && args.length === 0) return ofLayout(m, self, name);
      if (target) return callOp(m, target, [self, ...args], true);
      return breakGraph("tensorMethod", name);
    });
  }
  return models;
}
