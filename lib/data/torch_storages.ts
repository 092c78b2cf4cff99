/** Types of the memory of tensors in files of PyTorch. */
import type { DType } from "../base/dtype.ts";
import { WIDER_TYPES, type WiderType } from "./wider_types.ts";

/** Types by the names of PyTorch's storages; untyped ones are of bytes. */
export const STORAGES: Readonly<Record<string, DType>> = {
  DoubleStorage: "float64",
  FloatStorage: "float32",
  HalfStorage: "float16",
  BFloat16Storage: "bfloat16",
  LongStorage: "int64",
  IntStorage: "int32",
  ShortStorage: "int16",
  CharStorage: "int8",
  ByteStorage: "uint8",
  BoolStorage: "bool",
  ComplexFloatStorage: "complex64",
  ComplexDoubleStorage: "complex128",
};

/** Types that tensors do not support, by PyTorch's names. */
export const WIDER_TORCH_TYPES: ReadonlyMap<string, WiderType> = new Map(
  Object.entries({
    float8_e4m3fn: "F8_E4M3",
    float8_e5m2: "F8_E5M2",
    float8_e8m0fnu: "F8_E8M0",
    uint16: "U16",
    uint32: "U32",
    uint64: "U64",
  }).flatMap(([name, stored]): [string, WiderType][] => {
    const type = WIDER_TYPES.get(stored);
    return type ? [[name, type]] : [];
  }),
);
