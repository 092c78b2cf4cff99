/** Weights of a package: safetensors, whose elements are used in place. */
import { type DType, hostArray, itemSize } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { PackageTensor } from "./tensor.ts";

const TYPES: Readonly<Record<string, DType>> = {
  F32: "float32",
  F64: "float64",
  F16: "float16",
  BF16: "bfloat16",
  I64: "int64",
  I32: "int32",
  I16: "int16",
  I8: "int8",
  U8: "uint8",
  BOOL: "bool",
};

/** The header's entry for a tensor. */
interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** The tensors, each a copy, since programs may write to them. */
export function readWeights(bytes: Uint8Array<ArrayBuffer>): Map<string, PackageTensor> {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header: Readonly<Record<string, Entry>> = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)),
  );
  const tensors = new Map<string, PackageTensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const dtype = TYPES[entry.dtype], [from, to] = entry.data_offsets;
    if (!dtype) throw new DynError(`Expected weights of a known type but found ${entry.dtype} in ${name}`);
    const copy = bytes.slice(8 + length + from, 8 + length + to);
    tensors.set(
      name,
      new PackageTensor(
        hostArray(dtype, copy.buffer, { length: copy.length / itemSize(dtype) }),
        entry.shape,
        dtype,
      ),
    );
  }
  return tensors;
}
