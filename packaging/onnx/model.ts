/**
 * ONNX models: nodes, constants, inputs and outputs, and their file. Invariant: names are unique; definitions precede
 * their uses. https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
import { concat } from "../../lib/base/bytes.ts";
import { type DType, isComplex, type RealType } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import { bytesField, floatField, intField } from "../../lib/base/protobuf.ts";
import { type Dim, print } from "../../lib/sym/expr.ts";

/** Versions of the file format and of the operators. */
const IR_VERSION = 9, OPSET = 20;

const TYPES: Readonly<Record<RealType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  bfloat16: 16,
};

/** The number of an element type. Throws DynError for complex types. */
export function typeNumber(dtype: DType): number {
  if (!isComplex(dtype)) return TYPES[dtype];
  throw new DynError(`Expected real tensors, which ONNX has, but found ${dtype}`);
}

/** An attribute: an integer, several, a fraction or a text. */
export type Attribute = number | readonly number[] | { readonly float: number } | string;

function attributeField(name: string, value: Attribute): Uint8Array {
  const type = (number: number) => intField(20, number);
  const body = typeof value === "number"
    ? concat(intField(3, value), type(2))
    : typeof value === "string"
    ? concat(bytesField(4, value), type(3))
    : "float" in value
    ? concat(floatField(2, value.float), type(1))
    : concat(...value.map((each) => intField(8, each)), type(7));
  return bytesField(5, concat(bytesField(1, name), body));
}

/** A model under construction. */
export class OnnxModel {
  readonly #nodes: Uint8Array[] = [];
  readonly #constants: Uint8Array[] = [];
  readonly #inputs: Uint8Array[] = [];
  readonly #outputs: Uint8Array[] = [];
  #count = 0;

  /** Adds a node and returns the name of its result. */
  node(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string {
    const name = `${type.toLowerCase()}_${this.#count++}`;
    this.#nodes.push(
      bytesField(
        1,
        concat(
          ...inputs.map((input) => bytesField(1, input)),
          bytesField(2, name),
          bytesField(3, name),
          bytesField(4, type),
          ...Object.entries(attributes).map(([key, value]) => attributeField(key, value)),
        ),
      ),
    );
    return name;
  }

  /** Adds a constant with these elements, as stored in memory. */
  constant(
    bytes: Uint8Array,
    shape: readonly number[],
    dtype: DType,
    name = `constant_${this.#count++}`,
  ): string {
    this.#constants.push(
      bytesField(
        5,
        concat(
          ...shape.map((size) => intField(1, size)),
          intField(2, typeNumber(dtype)),
          bytesField(8, name),
          bytesField(9, bytes),
        ),
      ),
    );
    return name;
  }

  input(name: string, shape: readonly Dim[], dtype: DType): void {
    this.#inputs.push(bytesField(11, valueInfo(name, shape, dtype)));
  }

  /** Adds a value to the outputs. */
  output(
    value: string,
    name: string,
    { shape, dtype }: { readonly shape: readonly Dim[]; readonly dtype: DType },
  ): void {
    this.#nodes.push(
      bytesField(1, concat(bytesField(1, value), bytesField(2, name), bytesField(4, "Identity"))),
    );
    this.#outputs.push(bytesField(12, valueInfo(name, shape, dtype)));
  }

  /** The bytes of the file. */
  finish(name: string): Uint8Array<ArrayBuffer> {
    const parts = [this.#nodes, [bytesField(2, name)], this.#constants, this.#inputs, this.#outputs];
    const graph = concat(...parts.flat());
    const operators = concat(bytesField(1, ""), intField(2, OPSET));
    return concat(
      intField(1, IR_VERSION),
      bytesField(2, "dyn"),
      bytesField(7, graph),
      bytesField(8, operators),
    );
  }
}

function valueInfo(name: string, shape: readonly Dim[], dtype: DType): Uint8Array {
  const dims = shape.map((size) =>
    bytesField(1, typeof size === "number" ? intField(1, size) : bytesField(2, print(size)))
  );
  const tensor = concat(intField(1, typeNumber(dtype)), bytesField(2, concat(...dims)));
  return concat(bytesField(1, name), bytesField(2, bytesField(1, tensor)));
}
