/**
 * Operators of ONNX and the element types that they accept. Invariant: an operator that is not listed accepts every
 * type. https://onnx.ai/onnx/operators, version 20
 */
import type { RealType } from "../../lib/base/dtype.ts";

type Types = readonly RealType[];

const BINARY_FLOATS: Types = ["float16", "float32", "float64"];
const FLOATS: Types = [...BINARY_FLOATS, "bfloat16"];
const WIDE: Types = ["int32", "int64"];
const SIGNED: Types = ["int8", "int16", ...WIDE];
const NUMBERS: Types = [...FLOATS, "uint8", ...SIGNED];

const of = (types: Types, names: readonly string[]): (readonly [string, ReadonlySet<string>])[] =>
  names.map((name) => [name, new Set(types)]);

const TYPES_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...of(BINARY_FLOATS, ["Conv", "ConvTranspose", "Sin", "Cos", "Round", "Elu"]),
  ...of(FLOATS, ["Exp", "Log", "Sqrt", "Tanh", "Sigmoid", "Floor", "Ceil", "Reciprocal", "Gelu", "Pow"]),
  ...of(FLOATS, ["IsNaN", "LeakyRelu", "Relu", "Erf"]),
  ...of([...FLOATS, ...SIGNED], ["Neg"]),
  ...of(NUMBERS, ["Add", "Sub", "Mul", "Div", "Max", "Min", "Abs", "Sign", "ArgMax", "ArgMin"]),
  ...of(NUMBERS, ["Less", "LessOrEqual", "Greater", "GreaterOrEqual"]),
  ...of([...FLOATS, ...WIDE], ["MatMul", "ReduceSum", "ReduceProd", "CumSum"]),
  ...of([...FLOATS, ...WIDE, "int8", "uint8"], ["ReduceMax", "ReduceMin"]),
  ...of([...BINARY_FLOATS, "int8", "uint8"], ["MaxPool"]),
  ...of(["bool"], ["And", "Or", "Xor", "Not"]),
]);

/** Returns whether an operator accepts elements of a type. */
export function takes(operator: string, dtype: string): boolean {
  return TYPES_OF.get(operator)?.has(dtype) ?? true;
}
