/**
 * Tensors of numbers that each call reads from the program's memory: inputs of the graph that are created before it
 * runs. Invariant: the type of the tensor is the same in all calls, by the class of the array or by guards.
 */
import type { HostArray } from "../../base/dtype.ts";
import { noGrad } from "../../tensor/modes.ts";
import type { TensorData, TensorOptions } from "../../tensor/creation.ts";
import { modes, type Tensor } from "../../tensor/tensor.ts";
import { breakGraph } from "../break_reasons.ts";
import { copiedElements, newElements, type NumberArray } from "../guards/bytes.ts";
import type { SourceReader } from "../guards/reader.ts";
import { callIn } from "../variables/host_number.ts";
import { type NumberLeaf, relyOnWholeness, specializeNumber } from "../variables/numbers.ts";
import { type BytesObject, type Value } from "../variables/value.ts";
import { settleExported } from "./exported_numbers.ts";
import { beginHistory } from "./history_starts.ts";
import { allElements } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import { knownSize, numbersObject, originOf, sizeOf } from "./memory.ts";
import { callOp } from "./tensor_ops.ts";
import { refusing } from "./traced_ops.ts";
import { exampleOf, writtenElements } from "./typed_elements.ts";

/** A function that creates tensors from data. */
export type Maker = (data: TensorData, options: TensorOptions) => Tensor;

/** The call that creates a tensor from data. */
export interface Making {
  readonly make: Maker;
  readonly chosen: TensorOptions;
}

/** Data of a tensor: its value in the traced call, and its expression in generated code. */
interface CallData {
  /** Number of elements of a vector; null: the shape is the same in all calls. */
  readonly size: Value | null;
  readonly example: TensorData;
  readonly text: (reader: SourceReader) => string;
}

/** Returns whether tensors can be created from an object: at run time every typed array qualifies. */
function isData(value: unknown): value is HostArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** A typed array as data of a tensor. */
export const dataOf = (array: NumberArray): HostArray =>
  isData(array) ? array : breakGraph("opaqueObject", "data of a tensor");

/** A tensor of the elements of a typed array, with their values at each call. */
export function ofBytes(m: Interpreter, bytes: BytesObject, making: Making): Value {
  const { source, real, exotic } = bytes, size = sizeOf(m, bytes);
  const length = size.kind === "number" ? size.hint : knownSize(m, bytes);
  if (source && exotic.memory.cells.size === 0 && isData(real)) {
    exotic.touched = true;
    return ofData(m, { size, example: real, text: (reader) => reader.read(source) }, making);
  }
  const array = numbersObject(bytes) ?? breakGraph("opaqueObject", "data of a tensor");
  const origin = originOf(array), written = writtenElements(array, length);
  if (origin) origin.root.exotic.touched = true;
  const text = (reader: SourceReader) => {
    const { constants } = reader, name = JSON.stringify(exotic.type);
    const list = written.map(({ at, expression }) => `${at}, ${reader.host(expression)}`).join(", ");
    const count = size.kind === "number" ? reader.host(size.expression) : `${length}`;
    if (!origin?.root.source) return `${constants.name(newElements)}(${name}, ${count}, [${list}])`;
    const parts = `{ at: ${exotic.start - origin.first}, length: ${count}, written: [${list}] }`;
    return `${constants.name(copiedElements)}(${reader.read(origin.root.source)}, ${name}, ${parts})`;
  };
  return ofData(m, { size, example: dataOf(exampleOf(array, length, written)), text }, making);
}

/** A number of the trace, or a list of them, possibly of lists. */
type Numbers = NumberLeaf | readonly Numbers[];

/** Returns whether numbers are a list. */
const isList = (numbers: Numbers): numbers is readonly Numbers[] => Array.isArray(numbers);

/** Numbers that each call computes before the graph; null for other data. */
function numbersIn(m: Interpreter, data: Value): Numbers | null {
  if (data.kind === "number") return callIn(data.expression) ? null : data;
  if (data.kind === "constant" && typeof data.value === "number") {
    return { hint: data.value, expression: { kind: "literal", value: data.value } };
  }
  if (data.kind !== "object" || data.exotic.kind !== "array") return null;
  const found: Numbers[] = [];
  for (const each of allElements(m, data)) {
    const numbers = numbersIn(m, each);
    if (numbers === null) return null;
    found.push(numbers);
  }
  return found;
}

const leavesOf = (numbers: Numbers): readonly NumberLeaf[] =>
  isList(numbers) ? numbers.flatMap(leavesOf) : [numbers];
const exampleIn = (numbers: Numbers): TensorData => isList(numbers) ? numbers.map(exampleIn) : numbers.hint;
const textIn = (numbers: Numbers, reader: SourceReader): string =>
  isList(numbers)
    ? `[${numbers.map((each) => textIn(each, reader)).join(", ")}]`
    : reader.host(numbers.expression);

/** A tensor of numbers of which some differ between calls; null for other data. */
export function ofNumbers(m: Interpreter, data: Value, making: Making): Value | null {
  const numbers = numbersIn(m, data), leaves = numbers === null ? [] : leavesOf(numbers);
  if (numbers === null || leaves.every(({ expression }) => expression.kind === "literal")) return null;
  settleExported(m.output.sizes, leaves.map(({ expression }) => expression));
  if (!making.chosen.dtype && !making.chosen.requiresGrad) relyOnWholeness(m.output, leaves);
  const text = (reader: SourceReader) => textIn(numbers, reader);
  return ofData(m, { size: null, example: exampleIn(numbers), text }, making);
}

/** A tensor that each call creates from its own numbers. */
function ofData(m: Interpreter, { size, example, text }: CallData, { chosen, make }: Making): Value {
  // Integers alone become floats if the tensor requires grad
  const made = refusing(() => modes.without(() => noGrad(() => make(example, chosen).detach())));
  const length = size?.kind === "number" ? size.dim ?? specializeNumber(m.output, size).value : null;
  const shape = typeof length === "object" && length ? [length] : made.shape;
  const options: TensorOptions = { dtype: made.dtype, device: made.device };
  const maker = (data: TensorData) => modes.without(() => noGrad(() => make(data, options)));
  const value = m.output.dataNode(made, shape, (reader) => {
    return `${reader.constants.name(maker, "$made")}(${text(reader)})`;
  });
  // The program may write to it or keep it
  const copy = callOp(m, m.opNamed("clone"), [value], true);
  return chosen.requiresGrad && copy.kind === "tensor" ? beginHistory(m, copy) : copy;
}
