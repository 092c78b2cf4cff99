/**
 * Traces `tensor(data)` and similar functions: fresh tensors from constants of the program. Invariant: every call of
 * the compiled function creates a new tensor, so that writes to it are not visible in later calls.
 */
import { type DType, dtypeOfArray, getDefaultDtype, type HostArray, isFloat } from "../../base/dtype.ts";
import {
  asTensor,
  copyOf,
  fromTypedArray,
  scalarTensor,
  type SharingOptions,
  tensor,
  type TensorData,
  type TensorOptions,
} from "../../tensor/creation.ts";
import { noGrad } from "../../tensor/modes.ts";
import { modes, type Tensor } from "../../tensor/tensor.ts";
import { converted } from "../../tensor/transfer.ts";
import { breakGraph } from "../break_reasons.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { constant, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { ModelTable } from "./builtins/table.ts";
import type { Interpreter } from "./interpreter.ts";
import { allElements, newArray } from "./contents.ts";
import { enumerableKeys } from "./object_keys.ts";
import { assumeFraction } from "./graph_numbers.ts";
import { complexNumberOf } from "./complex_numbers.ts";
import { heldTensor } from "./held_tensor.ts";
import { bytesObject, numbersObject } from "./memory.ts";
import { dataOf, type Maker, ofBytes, ofNumbers } from "./tensor_data.ts";
import { knownElements } from "./typed_elements.ts";
import { beginHistory } from "./history_starts.ts";
import { callOp } from "./tensor_ops.ts";
import { refusing, tracedOps } from "./traced_ops.ts";

/** Adds the models. */
export function addCreation(table: ModelTable): void {
  const model = (maker: Maker) => {
    table.call(maker, (m, { args: [data = UNDEFINED, options] }) => create(m, maker, { data, options }), 2);
  };
  model(tensor);
  model(asTensor);
  table.call(
    fromTypedArray,
    (m, { args: [data = UNDEFINED, sizes = UNDEFINED, options] }) => {
      const flat = create(m, flatTensor, { data, options });
      const isAbsent = sizes.kind === "constant" && (sizes.value ?? null) === null;
      return isAbsent ? flat : callOp(m, m.opNamed("reshape"), [flat, sizes], false);
    },
    3,
  );
  table.call(
    scalarTensor,
    (m, { args: [data = UNDEFINED, options] }) =>
      create(
        m,
        (value, chosen) => typeof value === "object" ? tensor(value, chosen) : scalarTensor(value, chosen),
        { data, options },
      ),
    2,
  );
}

/** `fromTypedArray` without a shape. */
function flatTensor(data: TensorData, options: TensorOptions): Tensor {
  return hasType(data)
    ? fromTypedArray(data, undefined, options)
    : breakGraph("opaqueObject", "data of a tensor");
}

function hasType(data: TensorData): data is HostArray {
  return ArrayBuffer.isView(data) && (data instanceof Uint16Array || dtypeOfArray(data) !== undefined);
}

/** Numbers, booleans and nested arrays of them; anything else breaks the graph. */
function plain(m: Interpreter, value: Value): TensorData {
  switch (value.kind) {
    case "constant":
      if (
        typeof value.value === "number" || typeof value.value === "boolean" || typeof value.value === "bigint"
      ) {
        return value.value;
      }
      return breakGraph("throws", "data of a tensor");
    case "number": {
      const known = specializeNumber(m.output, value).value;
      return typeof known === "number" ? known : 0;
    }
    case "object":
      if (value.exotic.kind === "array") return allElements(m, value).map((each) => plain(m, each));
      return complexNumberOf(m, value) ?? breakGraph("opaqueObject", "data of a tensor");
    case "tensor":
      return breakGraph("tensorMethod", "a tensor is made of tensors");
    default:
      return breakGraph("tensorItem", "data of a tensor");
  }
}

function optionsOf(m: Interpreter, value: Value | undefined): SharingOptions {
  if (!value || (value.kind === "constant" && value.value === undefined)) return {};
  if (value.kind !== "object") return breakGraph("throws", "options of a new tensor");
  const options: Record<string, unknown> = {};
  for (const key of enumerableKeys(m, value)) {
    const found = m.plainProperty(value, key);
    if (found?.kind !== "constant") return breakGraph("tensorMethod", `the option ${key} of a new tensor`);
    options[key] = found.value;
  }
  return options;
}

function create(
  m: Interpreter,
  maker: Maker,
  { data, options }: { readonly data: Value; readonly options: Value | undefined },
): Value {
  const chosen = optionsOf(m, options);
  if (data.kind === "tensor") return ofTensor(m, maker, { data, chosen });
  const bytes = bytesObject(data), numbers = bytes ? null : ofNumbers(m, data, { chosen, make: maker });
  if (bytes) {
    const array = numbersObject(bytes), known = array && knownElements(array);
    return known
      ? constantOf(m, () => maker(dataOf(known), chosen))
      : ofBytes(m, bytes, { chosen, make: maker });
  }
  if (numbers) return numbers;
  const elements = ofElements(m, data, chosen);
  if (elements) return elements;
  const known = plain(m, data), filled = data.kind === "constant" && typeof known !== "bigint" ? data : null;
  return constantOf(m, () => maker(known, chosen), filled);
}

/** A new tensor with known contents; `filled`: the single number that it holds. */
function constantOf(m: Interpreter, make: () => Tensor, filled: Value | null = null): Value {
  const made = refusing(() => modes.without(() => noGrad(make)));
  const place = m.options({ dtype: constant(made.dtype), device: constant(made.device) });
  const value = filled
    ? callOp(m, m.opNamed("full"), [newArray(m, []), filled, place], false)
    : constantTensor(m, made.detach());
  return made.requiresGrad && value.kind === "tensor" ? beginHistory(m, value) : value;
}

/** A tensor from another one: the same if it fits for `asTensor`, a copy without history for `tensor`. */
function ofTensor(
  m: Interpreter,
  maker: Maker,
  { data, chosen: { requiresGrad, copy, ...chosen } }: {
    readonly data: TensorValue;
    readonly chosen: SharingOptions;
  },
): Value {
  const ops = tracedOps(m);
  if (maker !== asTensor) {
    const made = copyOf(ops, data, chosen);
    return requiresGrad ? beginHistory(m, made) : made;
  }
  const fit = converted(ops, data, chosen), made = copy && fit === data ? ops.clone(fit) : fit;
  if (requiresGrad === undefined || requiresGrad === made.requiresGrad) return made;
  return requiresGrad
    ? breakGraph("gradientState", "asTensor of a tensor without history")
    : ops.detach(made);
}

/** A floating-point tensor of elements that the graph computes; null if there are none, or not in a plain list. */
function ofElements(m: Interpreter, data: Value, chosen: TensorOptions): Value | null {
  const { device = null, requiresGrad } = chosen, dtype = chosen.dtype ?? typeOfElements(m, data);
  if (!dtype || !isFloat(dtype)) return null;
  const options = m.options({ dtype: constant(dtype), device: constant(device) });
  const filled = (value: Value) => callOp(m, m.opNamed("full"), [newArray(m, []), value, options], false);
  let made: Value | null = data.kind === "item" ? filled(data) : null;
  if (data.kind === "object" && data.exotic.kind === "array") {
    const list = allElements(m, data);
    const isPlain = list.every(({ kind }) => kind === "item" || kind === "constant");
    if (!isPlain || !list.some(({ kind }) => kind === "item")) return null;
    made = callOp(m, m.opNamed("stack"), [newArray(m, list.map(filled))], false);
  }
  return made?.kind === "tensor" && requiresGrad ? beginHistory(m, made) : made;
}

/** The default type of numbers with a fraction; null if it is not certain. */
function typeOfElements(m: Interpreter, data: Value): DType | null {
  const list = data.kind === "object" && data.exotic.kind === "array" ? allElements(m, data) : [data];
  if (!list.some(({ kind }) => kind === "item") || !list.every(isNumber)) return null;
  const isKnown = list.some((each) => each.kind === "constant" && !Number.isInteger(each.value));
  const isFraction = isKnown || list.some((each) => each.kind === "item" && assumeFraction(m.output, each));
  return isFraction ? getDefaultDtype() : null;
}

function isNumber(value: Value): boolean {
  return value.kind === "item"
    ? value.number?.type === "number"
    : value.kind === "constant" && typeof value.value === "number";
}

/** A new tensor with the elements of an attribute of the graph. */
export function constantTensor(m: Interpreter, made: Tensor): TensorValue {
  const known = heldTensor(m, made);
  const copy = callOp(m, m.opNamed("clone"), [known], true);
  return copy.kind === "tensor" ? copy : breakGraph("tensorMethod", "a new tensor");
}
