/**
 * Methods of tensors that are no ops: metadata, elements, indexing, the gradient tape. Input: a traced tensor and
 * arguments; output: a value, mostly by composing ops as the eager library does. Invariant: what reads elements
 * gives an item or breaks the graph.
 */
import { config } from "../../base/config.ts";
import { isComplex, isDType, isFloat, itemSize } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { elementCount, isContiguous } from "../../graph/meta.ts";
import { findTarget } from "../../ops/table.ts";
import { tensor, type TensorData } from "../../tensor/creation.ts";
import { DESCRIBED } from "../../tensor/descriptions.ts";
import { type IndexItem, parseIndex, takesNumbersFirst, tensorIndex } from "../../tensor/index_syntax.ts";
import { noGrad } from "../../tensor/modes.ts";
import { hintOf, isEqual } from "../../sym/decide.ts";
import { modes, Tensor } from "../../tensor/tensor.ts";
import { breakGraph } from "../break_reasons.ts";
import { numberOfDim } from "../variables/numbers.ts";
import { constant, NULL, type ObjectValue, TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { BuiltinModel, CallRequest, CallResult, Interpreter } from "./interpreter.ts";
import { allElements, findProperty, newArray } from "./objects.ts";
import { enumerableKeys } from "./object_keys.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { readTensorProperty } from "./tensor_properties.ts";
import { constantTensor } from "./creation.ts";
import { beginHistory } from "./begun_histories.ts";
import { tapGradient } from "./gradient_taps.ts";
import { callOp } from "./tensor_ops.ts";
import { itemOf } from "./graph_numbers.ts";
import { backward } from "./backward.ts";

type Method = (m: Interpreter, self: TensorValue, args: readonly Value[], request: CallRequest) => CallResult;

/** An op of the table by its public name. */
export function op(m: Interpreter, name: string, args: readonly Value[]): TensorValue {
  const result = callOp(m, m.opNamed(name), args, true);
  return result.kind === "tensor" ? result : breakGraph("tensorMethod", name);
}

const METHODS: Readonly<Record<string, Method>> = {
  dim: (_m, self) => constant(self.meta.shape.length),
  size: (m, self, args) => alongDim(m, self, "shape", args),
  stride: (m, self, args) => alongDim(m, self, "strides", args),
  numel: (m, self) => numberOfDim(m.output, elementCount(self.meta)),
  elementSize: (_m, self) => constant(itemSize(self.meta.dtype)),
  isContiguous: (_m, self) => constant(isContiguous(self.meta)),
  contiguous: (m, self) => isContiguous(self.meta) ? self : op(m, "contiguous", [self]),
  isFloatingPoint: (_m, self) => constant(isFloat(self.meta.dtype)),
  isComplex: (_m, self) => constant(isComplex(self.meta.dtype)),
  item: (m, self) => {
    if (hintOf(elementCount(self.meta)) !== 1) return breakGraph("throws", "item() of several elements");
    return itemOf(m.output, self);
  },
  cpu: (m, self) => self.meta.device === "cpu" ? self : op(m, "toDevice", [self, constant("cpu")]),
  to: convert,
  where: (m, self, [condition = UNDEFINED, ...rest]) => op(m, "where", [condition, self, ...rest]),
  at: (m, self, args) => {
    const taken: TakeNumber = (view, dim, index) =>
      op(m, "index", [view, newArray(m, [...new Array<Value>(dim).fill(NULL), index])]);
    const { view, gather } = applyIndex(m, self, args, taken);
    if (gather.every((g) => g === null)) return view === self ? op(m, "alias", [self]) : view;
    return op(m, "index", [view, newArray(m, gather.map((g) => g ?? NULL))]);
  },
  set: (m, self, args) => {
    const [index = UNDEFINED, value = UNDEFINED] = args;
    const list = index.kind === "object" && index.exotic.kind === "array" ? allElements(m, index) : [index];
    const { view, gather } = applyIndex(m, self, list, () => breakGraph("tensorItem", "an index"));
    let source = value.kind === "tensor" ? value : op(m, "full", [
      newArray(m, []),
      value,
      m.options({ dtype: constant(self.meta.dtype), device: constant(self.meta.device) }),
    ]);
    if (gather.every((g) => g === null)) {
      while (source.meta.shape.length > view.meta.shape.length && source.meta.shape[0] === 1) {
        source = op(m, "squeeze", [source, constant(0)]);
      }
      inplace(m, "copy_", [view, source]);
    } else {
      const typed = source.meta.dtype === self.meta.dtype
        ? source
        : op(m, "to", [source, constant(self.meta.dtype)]);
      inplace(m, "indexPut_", [view, newArray(m, gather.map((g) => g ?? NULL)), typed]);
    }
    return self;
  },
  valueOf: ((_m, self) => self) satisfies Method,
  requiresGrad_: (m, self, args) => {
    const wanted = args[0] === undefined || (args[0].kind === "constant" && args[0].value !== false);
    if (wanted === self.requiresGrad) return self;
    return wanted ? beginHistory(m, self) : breakGraph("gradientState", "requiresGrad_ changes a tensor");
  },
  retainGrad: (m, self) =>
    self.requiresGrad ? tapGradient(m, [self], "retainGrad") : breakGraph("throws", "retainGrad"),
  registerHook: (m, self) => tapGradient(m, [self], "a hook is registered"),
  backward: (m, self, _args, request) => backward(m, self, request),
  detach_: (_m, self) => self.requiresGrad ? breakGraph("gradientState", "detach_") : self,
  tolist: (m, self) => {
    const { shape } = self.meta, known = shape.filter((size) => typeof size === "number");
    const count = known.reduce((a, b) => a * b, 1);
    if (!config.captureScalarOutputs || known.length < shape.length || count > MOST_ITEMS) {
      return breakGraph("tensorItem", "tolist()");
    }
    const listOf = (part: TensorValue, sizes: readonly number[]): Value => {
      const [size, ...rest] = sizes;
      if (size === undefined) return itemOf(m.output, part);
      const parts = Array.from({ length: size }, (_, k) => op(m, "select", [part, constant(0), constant(k)]));
      return newArray(m, parts.map((each) => listOf(each, rest)));
    };
    return listOf(self, known);
  },
  toTypedArray: () => breakGraph("tensorItem", "toTypedArray()"),
  toString: (() => breakGraph("tensorItem", "toString()")) satisfies Method,
};

/** Most elements that become numbers of the graph one by one. */
const MOST_ITEMS = 64;

function inplace(m: Interpreter, name: string, args: readonly Value[]): Value {
  const target = findTarget(name);
  return target ? callOp(m, target, args, true) : breakGraph("tensorMethod", name);
}

function alongDim(
  m: Interpreter,
  self: TensorValue,
  part: "shape" | "strides",
  args: readonly Value[],
): Value {
  const list = readTensorProperty(m, self, part);
  const [dim] = args;
  if (dim === undefined || (dim.kind === "constant" && dim.value === undefined)) return list;
  if (dim.kind !== "constant" || typeof dim.value !== "number" || list.kind !== "object") {
    return breakGraph("tensorMethod", `${part} of an unknown dimension`);
  }
  const values = allElements(m, list);
  const value = values[dim.value < 0 ? dim.value + values.length : dim.value];
  return value ?? breakGraph("throws", "a dimension out of range");
}

/** `to(…)`, as the eager library resolves it. */
function convert(m: Interpreter, self: TensorValue, args: readonly Value[]): Value {
  let dtype: string | undefined, device: string | undefined;
  let copy = false;
  const text = (value: Value | null) =>
    value?.kind === "constant" && typeof value.value === "string" ? value.value : undefined;
  for (const each of args) {
    if (each.kind === "tensor") [dtype, device] = [each.meta.dtype, each.meta.device];
    else if (each.kind === "constant") {
      if (isDType(each.value)) dtype = each.value;
      else if (typeof each.value === "string") device = each.value;
      else if (typeof each.value !== "boolean" && each.value !== undefined) {
        return breakGraph("throws", "to()");
      }
    } else if (each.kind === "object") {
      const option = (key: string) => {
        const found = findProperty(m, each, key);
        return found.kind === "value" ? found.value : null;
      };
      dtype = text(option("dtype")) ?? dtype;
      device = text(option("device")) ?? device;
      const wanted = option("copy");
      if (wanted?.kind === "constant") copy = wanted.value === true;
    } else return breakGraph("tensorMethod", "to()");
  }
  const typed = dtype === undefined || dtype === self.meta.dtype
    ? self
    : op(m, "to", [self, constant(dtype)]);
  const moved = device === undefined || device === self.meta.device
    ? typed
    : op(m, "toDevice", [typed, constant(device)]);
  return copy && moved === self ? op(m, "clone", [self]) : moved;
}

interface Indexed {
  readonly view: TensorValue;
  readonly gather: readonly (TensorValue | null)[];
}

/** Takes an integer in a tensor out of a dimension, which goes away. */
type TakeNumber = (view: TensorValue, dim: number, index: TensorValue) => TensorValue;

/** View operations for integers and slices, and the gathering index of each dimension that is left. */
function applyIndex(
  m: Interpreter,
  x: TensorValue,
  index: readonly Value[],
  taken: TakeNumber,
): Indexed {
  const gather: (TensorValue | null)[] = [];
  let view = x, dim = 0;
  const known = index.map((value) => plainIndex(m, value));
  const rank = (value: unknown) =>
    value instanceof TensorValue ? tensorIndex(value, value.meta.dtype, value.meta.shape.length) : undefined;
  const steps = parsed(() => parseIndex<TensorValue>(known, x.meta.shape.length, rank));
  const at = (d: Parameters<typeof numberOfDim>[1]) => numberOfDim(m.output, d);
  const isTaken = takesNumbersFirst(steps);
  for (const step of steps) {
    switch (step.kind) {
      case "select":
        view = op(m, "select", [view, constant(dim), at(step.index)]);
        break;
      case "slice":
        if (step.start !== null || step.stop !== null || step.step !== 1) {
          const end = (d: typeof step.start) => d === null ? NULL : at(d);
          view = op(m, "slice", [view, constant(dim), end(step.start), end(step.stop), constant(step.step)]);
        }
        gather.push(null);
        dim++;
        break;
      case "newaxis":
        view = op(m, "unsqueeze", [view, constant(dim)]);
        gather.push(null);
        dim++;
        break;
      case "tensor": {
        if (step.isNumber && isTaken) {
          view = taken(view, dim, step.tensor);
          break;
        }
        // A mask of one truth is one for a new dimension
        const isTruth = step.dims === 0;
        const index = isTruth ? op(m, "unsqueeze", [step.tensor, constant(0)]) : step.tensor;
        if (isTruth) view = op(m, "unsqueeze", [view, constant(dim)]);
        gather.push(index);
        if (isMask(index)) refuseMask(view, index, dim);
        dim += isTruth ? 1 : step.dims;
        break;
      }
      case "list":
        gather.push(listIndex(m, view, { items: step.items, dim }));
        dim++;
        break;
      case "flag":
        return breakGraph("tensorMethod", "indexing with a flag");
      default:
        step satisfies never;
    }
  }
  return { view, gather };
}

const isMask = ({ meta: { dtype } }: TensorValue): boolean => dtype === "bool" || dtype === "uint8";

/** A mask has the sizes of the dimensions that it indexes. */
function refuseMask(view: TensorValue, mask: TensorValue, dim: number): void {
  const fits = mask.meta.shape.every((size, d) => {
    const indexed = view.meta.shape[dim + d];
    return indexed !== undefined && isEqual(size, indexed);
  });
  if (!fits) breakGraph("throws", "a mask of another shape");
}

/** A list of indices along a dimension as a tensor. */
function listIndex(
  m: Interpreter,
  view: TensorValue,
  { items, dim }: { readonly items: readonly IndexItem[]; readonly dim: number },
): TensorValue {
  const size = view.meta.shape[dim];
  if (typeof size !== "number") {
    return breakGraph("tensorMethod", "a list of indices along a size that changes");
  }
  const index = (item: IndexItem): TensorData => {
    if (Array.isArray(item)) return item.map(index);
    if (typeof item !== "number" || !Number.isInteger(item)) {
      return breakGraph("tensorMethod", "indexing with a list of other than integers");
    }
    return item >= -size && item < size ? item : breakGraph("throws", "an index out of range");
  };
  const elements = items.map(index);
  const made = parsed(() =>
    modes.without(() => noGrad(() => tensor(elements, { dtype: "int64", device: view.meta.device })))
  );
  return constantTensor(m, made);
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof DynError) return breakGraph("throws", error.message);
    throw error;
  }
}

/** An index argument as the index syntax takes it. */
function plainIndex(m: Interpreter, value: Value): unknown {
  switch (value.kind) {
    case "constant":
      return value.value;
    case "number":
      return value.dim ?? specializeNumber(m.output, value).value;
    case "tensor":
      return value;
    case "object":
      if (value.exotic.kind === "array") return allElements(m, value).map((each) => plainIndex(m, each));
      if (value.exotic.kind === "plain") return sliceIndex(m, value);
      return breakGraph("tensorMethod", "an index that is not a list or slice");
    case "item":
      return value.number?.dim ?? breakGraph("tensorItem", "an index");
    default:
      return breakGraph("tensorItem", "an index");
  }
}

/** A slice as an object. */
function sliceIndex(m: Interpreter, object: ObjectValue): Record<string, unknown> {
  return Object.fromEntries(
    enumerableKeys(m, object).map((key) => {
      const found = findProperty(m, object, key);
      if (found.kind !== "value") return breakGraph("tensorMethod", "a slice with accessors");
      return [key, plainIndex(m, found.value)];
    }),
  );
}

/** The rows of a tensor, for iteration. */
export function rowsOf(m: Interpreter, tensor: TensorValue): ObjectValue {
  const [first] = tensor.meta.shape;
  if (first === undefined) return breakGraph("throws", "a 0-d tensor is iterated");
  const count = numberOfDim(m.output, first);
  const rows = count.kind === "number"
    ? specializeNumber(m.output, count).value
    : count.kind === "constant"
    ? count.value
    : breakGraph("dataDependentSize", "rows are iterated whose number only elements say");
  const list: Value[] = [];
  for (let i = 0; i < Number(rows); i++) list.push(op(m, "select", [tensor, constant(0), constant(i)]));
  return newArray(m, list);
}

/** Methods that are written in terms of others: they are traced as functions of the program are. */
const WRITTEN_OUT: ReadonlySet<string | symbol> = new Set([
  "equal",
  "allclose",
  Symbol.iterator,
  ...DESCRIBED,
]);

/** Models of the other methods of the tensor class, by function. */
export function tensorMethodModels(): Map<object, BuiltinModel> {
  const models = new Map<object, BuiltinModel>();
  for (const key of Reflect.ownKeys(Tensor.prototype)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(Tensor.prototype, key)?.value;
    if (typeof value !== "function" || key === "constructor" || WRITTEN_OUT.has(key)) continue;
    const name = String(key);
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    const target = findTarget(name);
    models.set(value, (m, request) => {
      const { self, args } = request;
      if (self.kind !== "tensor") return breakGraph("throws", `${name} of a value that is not a tensor`);
      if (method) return method(m, self, args, request);
      if (target) return callOp(m, target, [self, ...args], true);
      return breakGraph("tensorMethod", name);
    });
  }
  return models;
}
