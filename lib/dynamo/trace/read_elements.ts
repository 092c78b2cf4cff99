/**
 * Elements of tensors that the program reads all at once: generated code reads them after the graph has run. Invariant:
 * what the program does with those of a short list is computed there, too; longer ones, and typed arrays, are only
 * passed on, and the graph ends where the program looks into them.
 */
import { hostArray, isComplex } from "../../base/dtype.ts";
import {
  constant,
  type ElementsExotic,
  type ElementsObject,
  elementType,
  ItemValue,
  ObjectValue,
  type TensorValue,
  type Value,
} from "../variables/value.ts";
import { builtinPrototype, newArray } from "./contents.ts";
import { itemOf } from "./graph_numbers.ts";
import type { Interpreter } from "./interpreter.ts";

/** Maximum number of elements with which the program computes one by one. */
export const MOST_ITEMS = 64;

/** The result of `tolist` or `toTypedArray`. */
export function readElements(m: Interpreter, tensor: TensorValue, method: ElementsExotic["method"]): Value {
  const { dtype, shape } = tensor.meta;
  if (shape.length === 0 && method === "tolist") return itemOf(m.output, tensor);
  const read: ElementsExotic = { kind: "elements", method, tensor };
  const prototype = method === "tolist"
    ? Array.prototype
    : Object.getPrototypeOf(hostArray(dtype === "bfloat16" ? "float32" : dtype, new ArrayBuffer(0)));
  const made = new ObjectValue(read, builtinPrototype(m, prototype, prototype.constructor.name), null, null);
  m.output.readLater.push(read);
  const sizes = shape.filter((size) => typeof size === "number");
  const isShort = sizes.length === shape.length && sizes.reduce((a, b) => a * b, 1) <= MOST_ITEMS;
  if (!isElements(made) || !isShort || method !== "tolist" || isComplex(dtype)) return made;
  return listOf(m, made, sizes, []);
}

/** A nested list of the elements that have these first indices. */
function listOf(
  m: Interpreter,
  of: ElementsObject,
  [size = 0, ...rest]: readonly number[],
  at: readonly number[],
): Value {
  const element = (place: readonly number[]): Value => {
    const operands = [of, ...place.map((index) => constant(index))];
    const type = elementType(of.exotic.tensor), firstStep = m.output.whereabouts.step();
    return new ItemValue(null, null, { apply: "element", type, operands, depth: 0, firstStep });
  };
  return newArray(
    m,
    Array.from(
      { length: size },
      (_, k) => rest.length > 0 ? listOf(m, of, rest, [...at, k]) : element([...at, k]),
    ),
  );
}

/** Returns whether an object stands for elements that are read after the graph has run. */
export function isElements(object: ObjectValue): object is ElementsObject {
  return object.exotic.kind === "elements";
}
