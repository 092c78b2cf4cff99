/**
 * Dense CPU tensors in the form of ONNX Runtime: views of the same memory. Invariant: bytes are copied only if memory
 * is shared between threads, which its interface does not accept.
 */
import type { DType } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { Tensor } from "../../lib/tensor/tensor.ts";
import { hostOf } from "../cpu/host_memory.ts";
import { OrtTensor } from "./library.ts";

type Maker = {
  new (buffer: ArrayBuffer, byteOffset: number, length: number): ArrayBufferView<ArrayBuffer>;
  readonly BYTES_PER_ELEMENT: number;
};

/** Supported element types, and their views. */
const VIEWS: Readonly<Partial<Record<DType, Maker>>> = {
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  int32: Int32Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** Returns whether tensors of this type are supported. */
export function isSupportedType(dtype: DType): boolean {
  return VIEWS[dtype] !== undefined;
}

/** A dense tensor's memory, and what to do after ONNX Runtime has written to it. */
interface OrtView {
  readonly tensor: OrtTensor;
  readonly takeBack: () => void;
}

/** A tensor in the form that ONNX Runtime accepts. Throws DynError for unsupported types. */
export function toOrtTensor({ storage: { memory }, offset, shape, dtype }: Tensor): OrtView {
  const view = VIEWS[dtype];
  if (!view) throw new DynError(`Expected a type that ONNX Runtime supports but found ${dtype}`);
  const { uint8 } = hostOf(memory), size = view.BYTES_PER_ELEMENT;
  const length = shape.reduce((a, b) => a * b, 1), start = offset * size;
  const { buffer } = uint8;
  if (buffer instanceof ArrayBuffer) {
    const data = new view(buffer, uint8.byteOffset + start, length);
    return { tensor: new OrtTensor(dtype, data, shape), takeBack: () => {} };
  }
  const bytes = uint8.slice(start, start + length * size), copy = new Uint8Array(bytes);
  const tensor = new OrtTensor(dtype, new view(copy.buffer, 0, length), shape);
  return { tensor, takeBack: () => uint8.set(copy, start) };
}

/** A size as a vector of one element. */
export function sizeTensor(size: number): OrtTensor {
  return new OrtTensor("int64", BigInt64Array.of(BigInt(size)), [1]);
}
