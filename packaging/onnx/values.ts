/**
 * Values of an ONNX graph: tensors by name, numbers and sizes as constants and as computations on shapes. Invariant:
 * a size is computed once.
 */
import { type DType, highest, hostArray, isFloat, itemSize, lowest } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import { type Dim, print, Sym } from "../../lib/sym/expr.ts";
import { toBfloat16 } from "../../lib/base/bfloat16.ts";
import type { OnnxModel } from "./model.ts";
import { typeNumber } from "./model.ts";

/** A tensor of the graph. */
export class OnnxValue {
  constructor(readonly name: string, readonly shape: readonly Dim[], readonly dtype: DType) {}
}

/** Makes values of a model. */
export class Values {
  readonly #sizes = new Map<string, string>();

  /**
   * `sizeOf`: the name of a symbol's value, of shape [1]. `truncates`: whether floats may be converted to integers,
   * which is undefined for values out of range.
   */
  constructor(
    readonly model: OnnxModel,
    readonly sizeOf: (symbol: Sym) => string,
    readonly truncates: boolean,
  ) {}

  /** A number as a tensor without dimensions. */
  scalar(value: number | bigint | boolean, dtype: DType): string {
    const exact = Number(value), isHeld = exact >= Number(lowest(dtype)) && exact <= Number(highest(dtype));
    const isLost = isHeld && dtype === "float16" && Number.isFinite(exact) && Math.abs(exact) >= 65520;
    if (isLost || (!isHeld && !Number.isNaN(exact))) {
      throw new DynError(`Expected a number that ${dtype} holds but found ${value}`);
    }
    const data = hostArray(dtype, new ArrayBuffer(itemSize(dtype)));
    if (data instanceof BigInt64Array) data[0] = BigInt(value);
    else data[0] = dtype === "bfloat16" ? toBfloat16(Number(value)) : Number(value);
    return this.model.constant(new Uint8Array(data.buffer), [], dtype);
  }

  /** Integers as a vector. */
  integers(values: readonly number[]): string {
    const data = BigInt64Array.from(values, (value) => BigInt(value));
    return this.model.constant(new Uint8Array(data.buffer), [values.length], "int64");
  }

  /** A size as a vector with one element. */
  size(d: Dim): string {
    if (typeof d === "number") return this.integers([d]);
    const key = print(d), known = this.#sizes.get(key);
    if (known !== undefined) return known;
    const made = this.#computed(d);
    this.#sizes.set(key, made);
    return made;
  }

  #computed(d: Sym): string {
    const { model } = this, { node } = d;
    const pair = (type: string): string => {
      if (!("left" in node)) throw new DynError(`Expected two parts of ${print(d)}`);
      return model.node(type, [this.size(node.left), this.size(node.right)]);
    };
    switch (node.kind) {
      case "symbol":
        return this.sizeOf(d);
      case "sum":
        return node.terms.reduce((sum, { term, coefficient }) => {
          const part = coefficient === 1
            ? this.size(term)
            : model.node("Mul", [this.size(term), this.integers([coefficient])]);
          return model.node("Add", [sum, part]);
        }, this.integers([node.constant]));
      case "product":
        return node.factors.map((factor) => this.size(factor)).reduce((a, b) => model.node("Mul", [a, b]));
      // Sizes are not negative, so that both kinds of rounding agree
      case "floorDiv":
        return pair("Div");
      case "mod":
        return pair("Mod");
      case "min":
        return pair("Min");
      case "max":
        return pair("Max");
      default:
        return node satisfies never;
    }
  }

  /** Sizes as a vector. */
  sizes(dims: readonly Dim[]): string {
    const numbers = dims.flatMap((d) => typeof d === "number" ? [d] : []);
    if (numbers.length === dims.length) return this.integers(numbers);
    return this.model.node("Concat", dims.map((d) => this.size(d)), { axis: 0 });
  }

  /** A size as a tensor without dimensions. */
  sizeScalar(d: Dim): string {
    if (typeof d === "number") return this.scalar(d, "int64");
    return this.model.node("Reshape", [this.size(d), this.integers([])]);
  }

  /** A tensor converted to a type; unchanged if it has that type. */
  cast({ name, dtype }: Pick<OnnxValue, "name" | "dtype">, to: DType): string {
    if (dtype === to) return name;
    if (!this.truncates && isFloat(dtype) && !isFloat(to) && to !== "bool") {
      throw new DynError(`Expected integers as ${to} but found ${dtype}`);
    }
    return this.model.node("Cast", [name], { to: typeNumber(to) });
  }

  /** An operand (tensor, number or size), converted to a type. */
  operand(value: unknown, dtype: DType): string {
    if (isValue(value)) return this.cast(value, dtype);
    if (value instanceof Sym) return this.cast({ name: this.sizeScalar(value), dtype: "int64" }, dtype);
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
      if (typeof value === "number" && !isFloat(dtype) && !Number.isInteger(value)) {
        throw new DynError(`Expected an integer with ${dtype} but found ${value}`);
      }
      return this.scalar(value, dtype);
    }
    throw new DynError(`Expected a tensor or a number but found ${typeof value}`);
  }
}

/** Returns whether an argument is a tensor of the graph. */
export function isValue(value: unknown): value is OnnxValue {
  return value instanceof OnnxValue;
}
