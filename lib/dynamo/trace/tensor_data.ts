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
import { type HostExpression, isWholeNumber, readsElements } from "../variables/host_number.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { type BytesObject, constant, type Value } from "../variables/value.ts";
import { beginHistory } from "./begun_histories.ts";
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
  /** Number of elements; null: it is a single number. */
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

/** A tensor of a number, or a list of numbers, read from memory of the program; null if there are none. */
export function ofNumbers(m: Interpreter, data: Value, making: Making): Value | null {
  const isList = data.kind === "object" && data.exotic.kind === "array",
    list = isList ? allElements(m, data) : [data];
  const numbers: { readonly hint: number; readonly expression: HostExpression }[] = [];
  for (const each of list) {
    if (each.kind === "number") numbers.push(each);
    else if (each.kind === "constant" && typeof each.value === "number") {
      numbers.push({ hint: each.value, expression: { kind: "literal", value: each.value } });
    } else return null;
  }
  if (!numbers.some(({ expression }) => readsElements(expression))) return null;
  if (!making.chosen.dtype) relyOnKind(m, numbers);
  const text = (reader: SourceReader) => {
    const texts = numbers.map(({ expression }) => reader.host(expression));
    return isList ? `[${texts.join(", ")}]` : texts.join();
  };
  const hints = numbers.map(({ hint }) => hint), [only = 0] = hints;
  return ofData(
    m,
    { size: isList ? constant(list.length) : null, example: isList ? hints : only, text },
    making,
  );
}

/** The type depends on whether all numbers are integers: a single one that is not decides. */
function relyOnKind(
  { output }: Interpreter,
  numbers: readonly { readonly hint: number; readonly expression: HostExpression }[],
): void {
  const isFraction = ({ hint }: { readonly hint: number }) => !Number.isInteger(hint);
  if (numbers.some((each) => each.expression.kind === "literal" && isFraction(each))) return;
  const decisive = numbers.find(isFraction);
  for (const { expression, hint } of decisive ? [decisive] : numbers) {
    if (isWholeNumber(expression) || expression.kind === "literal") continue;
    // Subtracting the truncated number yields 0 for integers alone, and NaN for values that are not finite
    const rest: HostExpression = {
      kind: "binary",
      operator: "-",
      left: expression,
      right: { kind: "math", name: "trunc", args: [expression] },
    };
    output.guard({
      kind: "expression",
      expression: { kind: "binary", operator: "===", left: rest, right: { kind: "literal", value: 0 } },
      expected: Number.isInteger(hint),
    });
  }
}

/** A tensor that each call creates from its own numbers. */
function ofData(m: Interpreter, { size, example, text }: CallData, { chosen, make }: Making): Value {
  const own = { ...chosen, requiresGrad: false };
  const made = refusing(() => modes.without(() => noGrad(() => make(example, own))));
  const length = size?.kind === "number" ? size.dim ?? specializeNumber(m.output, size).value : null;
  const count = typeof length === "object" && length ? length : made.shape[0] ?? 0;
  const options: TensorOptions = { dtype: made.dtype, device: made.device };
  const maker = (data: TensorData) => modes.without(() => noGrad(() => make(data, options)));
  const value = m.output.dataNode(made, size ? [count] : [], (reader) => {
    return `${reader.constants.name(maker, "$made")}(${text(reader)})`;
  });
  // The program may write to it or keep it
  const copy = callOp(m, m.opNamed("clone"), [value], true);
  return chosen.requiresGrad && copy.kind === "tensor" ? beginHistory(m, copy) : copy;
}
