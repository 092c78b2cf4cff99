/**
 * Tensors from JavaScript values: nested arrays, numbers, typed arrays. (Tensors of a given shape are ops.)
 * Invariant: without a type, integers become int64 (the default type with requiresGrad), other numbers the default
 * type, booleans bool.
 */
import { checkFlag, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { oneLine } from "../base/console_text.ts";
import { withOwnLists } from "../base/inherited_elements.ts";
import { encodeElements, numberArray } from "../base/bfloat16.ts";
import { complexText, isComplexNumber } from "../base/complex.ts";
import {
  CATEGORY_RANK,
  type ComplexType,
  complexType,
  type DType,
  type DTypeCategory,
  dtypeOfArray,
  getDefaultDtype,
  holds,
  type HostArray,
  isComplex,
  isDType,
  isWhole,
  partType,
  type RealType,
} from "../base/dtype.ts";
import { refuseDType } from "../base/dtype_names.ts";
import { DynError } from "../base/errors.ts";
import type { DeviceName } from "../loops/device.ts";
import { normalizeConstant } from "../loops/record.ts";
import type { OpApi } from "../ops/generated.ts";
import type { TensorLike } from "../ops/tensor_like.ts";
import { defaultDevice } from "./default_device.ts";
import { ops } from "./eager.ts";
import { type Element, writeElements } from "./host.ts";
import { contiguousLayout } from "./layout.ts";
import { allocateStorage } from "./storage.ts";
import { isTensor, Tensor } from "./tensor.ts";
import type { DataOf, TensorOptions } from "./tensor_options.ts";
import { converted } from "./transfer.ts";

/** Numbers, bools, nested arrays of them, or typed arrays. */
export type TensorData = DataOf<Tensor>;

export type { TensorOptions } from "./tensor_options.ts";

const OPTIONS = ["dtype", "device", "requiresGrad"] as const;

/** A tensor with a copy of the data, as `torch.tensor`. */
export function tensor(data: TensorData, options: TensorOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("tensor", 2, arguments);
  return withOwnLists(() => made(data, optionsOf("tensor", options, OPTIONS)));
}

function made(data: TensorData, options: TensorOptions): Tensor {
  if (isTensor(data)) return finish(copyOf(ops, data, options), options);
  const shape = shapeOf(data);
  const flat: Element[] = [];
  let kind: DTypeCategory = "bool", any = false;
  const rise = (to: DTypeCategory) => {
    if (CATEGORY_RANK[to] > CATEGORY_RANK[kind]) kind = to;
  };
  flatten(data, shape, 0, (value) => {
    any = true;
    flat.push(value);
    if (typeof value === "object") rise("complex");
    else if (typeof value !== "boolean") {
      rise(typeof value === "bigint" || isWhole(value) ? "integer" : "float");
    }
  });
  const inferred = typeOfArrays(data) ?? (any ? pick(kind, options.requiresGrad) : getDefaultDtype());
  return fromElements(flat, shape, { ...options, dtype: options.dtype ?? inferred });
}

/** A copy of a tensor without its history, eager or traced. */
export function copyOf<T extends TensorLike>(ops: OpApi<T>, data: T, { dtype, device }: TensorOptions): T {
  return converted(ops, ops.clone(ops.detach(data)), { dtype, device });
}

/** JavaScript writes 2.0 as 2, so numbers that require gradients are meant as floats. */
function pick(kind: DTypeCategory, requiresGrad = false): DType {
  if (kind === "complex") return complexType(getDefaultDtype());
  return kind === "bool" ? "bool" : kind === "integer" && !requiresGrad ? "int64" : getDefaultDtype();
}

/** Options of `asTensor`. */
export interface SharingOptions extends TensorOptions {
  /** Whether to copy the elements even if the data is a tensor that fits. */
  readonly copy?: boolean | undefined;
}

/**
 * The data as a tensor, as `torch.asarray`; a tensor that fits already is returned itself. `requiresGrad: false` cuts a
 * tensor off its history, and `true` makes one without history require grad; without it, nothing changes.
 */
export function asTensor(data: TensorData, options: SharingOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("asTensor", 2, arguments);
  const { copy, ...chosen } = withOwnLists(() => optionsOf("asTensor", options, [...OPTIONS, "copy"]));
  if (copy !== undefined) checkFlag("copy of asTensor", copy);
  if (!isTensor(data)) return tensor(data, chosen);
  const { dtype, device, requiresGrad } = chosen, fit = converted(ops, data, { dtype, device });
  const made = copy && fit === data ? ops.clone(fit) : fit;
  if (requiresGrad === undefined || requiresGrad === made.requiresGrad) return made;
  return requiresGrad ? made.requiresGrad_() : made.detach();
}

/**
 * A tensor of a shape (default: one dimension) with the elements of a typed array, copied. With dtype
 * bfloat16 a Uint16Array holds its bits; for complex types the array holds the real and imaginary part of each element.
 */
export function fromTypedArray(
  data: HostArray,
  sizes?: readonly number[],
  options: TensorOptions = {},
): Tensor {
  if (arguments.length > 3) refuseSurplus("fromTypedArray", 3, arguments);
  withOwnLists(() => optionsOf("fromTypedArray", options, OPTIONS));
  const natural = dtypeOfArray(data) ?? "int32";
  if (!ArrayBuffer.isView(data)) {
    throw new DynError(`Expected a typed array but found ${oneLine(data)}; tensor() takes lists`);
  }
  const dtype = options.dtype ?? natural, stored = data.length, length = stored / (isComplex(dtype) ? 2 : 1);
  if (sizes && !(Array.isArray(sizes) && sizes.every((size) => Number.isInteger(size)))) {
    refuseValue("a list of integers for the shape of fromTypedArray", sizes);
  }
  const shape = sizes ?? [length], count = shape.reduce((a, b) => a * b, 1);
  if (count !== length) {
    throw new DynError(`Expected ${count} elements for shape [${shape}] but found ${length}`);
  }
  const storage = allocate(shape, dtype, options.device ?? defaultDevice());
  writeElements(storage.storage, convert(data, stored, partType(dtype)));
  return finish(storage, options);
}

/** A 0-d tensor, of the default type unless another is given or the number is complex, as `torch.scalar_tensor`. */
export function scalarTensor(value: Element, options: TensorOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("scalarTensor", 2, arguments);
  return tensor(value, typeof value === "object" ? options : { dtype: getDefaultDtype(), ...options });
}

/** Elements of any type in row-major order as a tensor. */
function fromElements(flat: readonly Element[], shape: readonly number[], options: TensorOptions): Tensor {
  const dtype = options.dtype ?? getDefaultDtype();
  const made = allocate(shape, dtype, options.device ?? defaultDevice());
  writeElements(made.storage, isComplex(dtype) ? pairsArray(flat, dtype) : elementArray(flat, dtype));
  return finish(made, options);
}

/** Numbers as stored elements of a real type. */
function elementArray(flat: readonly Element[], dtype: RealType): HostArray {
  const array = numberArray(dtype, flat.length);
  flat.forEach((value, k) => {
    if (typeof value === "object") {
      throw new DynError(`Expected real numbers for ${dtype} but found the complex ${complexText(value)}`);
    }
    if (!holds(dtype, value)) throw new DynError(`Expected numbers that ${dtype} holds but found ${value}`);
    if (array instanceof BigInt64Array) array[k] = BigInt(normalizeConstant(value, dtype));
    else if (dtype === "float32" || dtype === "float64") array[k] = Number(value);
    else array[k] = Number(normalizeConstant(value, dtype));
  });
  return encodeElements(dtype, array);
}

/** Numbers as stored elements of a complex type. */
function pairsArray(flat: readonly Element[], dtype: ComplexType): HostArray {
  const array = numberArray(dtype, flat.length);
  flat.forEach((value, k) => {
    const { re, im } = typeof value === "object" ? value : { re: Number(value), im: 0 };
    array[2 * k] = re;
    array[2 * k + 1] = im;
  });
  return array;
}

function allocate(shape: readonly number[], dtype: DType, device: DeviceName): Tensor {
  if (!isDType(dtype)) refuseDType("dtype", dtype);
  const layout = contiguousLayout(shape, dtype, device);
  return new Tensor(allocateStorage(device, layout.byteLength, layout), layout);
}

function finish(made: Tensor, { requiresGrad }: TensorOptions): Tensor {
  return requiresGrad ? made.requiresGrad_() : made;
}

type AnyArray = Exclude<TensorData, Element | Tensor | readonly TensorData[]>;

function isTypedArray(data: TensorData | undefined): data is AnyArray {
  return ArrayBuffer.isView(data);
}

function isNested(data: TensorData | undefined): data is readonly TensorData[] {
  return Array.isArray(data);
}

function typeOfArrays(data: TensorData): DType | undefined {
  if (isTypedArray(data)) return dtypeOfArray(data);
  if (isTensor(data)) return data.dtype;
  if (!isNested(data) || data.length === 0) return undefined;
  const first = data[0];
  return first !== undefined && typeof first === "object" && !isComplexNumber(first)
    ? typeOfArrays(first)
    : undefined;
}

/** Returns so many elements of a typed array, the length that it has for programs, as stored ones. */
function convert(data: AnyArray, length: number, dtype: DType): HostArray {
  const isStored = dtypeOfArray(data) === dtype || (dtype === "bfloat16" && data instanceof Uint16Array);
  if (isStored && data.byteLength === length * data.BYTES_PER_ELEMENT) return data;
  const array = numberArray(dtype, length);
  for (let k = 0; k < length; k++) {
    const value = normalizeConstant(elementAt(data, k), dtype);
    if (array instanceof BigInt64Array) array[k] = BigInt(value);
    else array[k] = Number(value);
  }
  return encodeElements(dtype, array);
}

/** Returns an element; programs can replace the length, and then there may be none. */
function elementAt(data: AnyArray, at: number): number | bigint {
  const found = data[at];
  if (found === undefined) {
    throw new DynError(`Expected a number at element ${at} of a typed array but found none`);
  }
  return found;
}

function shapeOf(data: TensorData): number[] {
  if (isTensor(data)) return [...data.shape];
  if (isTypedArray(data)) return [data.length];
  if (!isNested(data)) return [];
  const first = data[0];
  return first === undefined ? [0] : [data.length, ...shapeOf(first)];
}

/** Visits all elements and checks that nested arrays have one shape. */
function flatten(
  data: TensorData | undefined,
  shape: readonly number[],
  d: number,
  visit: (value: Element) => void,
): void {
  if (isTensor(data) || isTypedArray(data)) {
    const elements = isTensor(data) ? data.toTypedArray() : data;
    if (isTensor(data) && isComplex(data.dtype)) {
      checkSize(data.numel(), shape.slice(d).reduce((a, b) => a * b, 1), d);
      for (let k = 0; k < data.numel(); k++) {
        visit({ re: Number(elements[2 * k]), im: Number(elements[2 * k + 1]) });
      }
      return;
    }
    const bool = isTensor(data) && data.dtype === "bool", count = elements.length;
    checkSize(count, shape.slice(d).reduce((a, b) => a * b, 1), d);
    for (let k = 0; k < count; k++) visit(bool ? elements[k] !== 0 : elementAt(elements, k));
  } else if (isNested(data)) {
    // As many as the shape has, whatever iterator the program has given the list
    const count = data.length;
    checkSize(count, shape[d], d);
    for (let k = 0; k < count; k++) flatten(data[k], shape, d + 1, visit);
  } else {
    if (d !== shape.length) {
      throw new DynError(`Expected a list of length ${shape[d]} at dim ${d} but found ${String(data)}`);
    }
    if (!isElement(data)) {
      throw new DynError(
        `Expected numbers or bools for a tensor but found ${data === null ? data : typeof data}`,
      );
    }
    visit(data);
  }
}

const isElement = (data: unknown): data is Element =>
  typeof data === "number" || typeof data === "boolean" || typeof data === "bigint" || isComplexNumber(data);

function checkSize(found: number, expected: number | undefined, d: number): void {
  if (expected === undefined) throw new DynError(`Expected numbers at dim ${d} but found a list`);
  if (found !== expected) {
    throw new DynError(`Expected a list of length ${expected} at dim ${d} but found ${found}`);
  }
}
