/**
 * NumPy's files of one array, like `numpy.load` and `numpy.save`. Invariant: files that are written here can be read
 * here and by NumPy. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import { checkTensor } from "../../tensor/checked.ts";
import { concat } from "../../base/bytes.ts";
import { type DType, hostArray, itemSize } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { writeAtomically } from "../../base/atomic_files.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { bytesOf, nameOf, type Source } from "./source.ts";

const MAGIC = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/** Types by NumPy's letters, without the byte order. */
const TYPES: Readonly<Record<string, DType>> = {
  f2: "float16",
  f4: "float32",
  f8: "float64",
  i1: "int8",
  i2: "int16",
  i4: "int32",
  i8: "int64",
  u1: "uint8",
  b1: "bool",
};

/** Reads one array. Throws DynError for another format, an unsupported type, or the other byte order. */
export function readNpy(source: Source): Tensor {
  if (arguments.length > 1) refuseSurplus("readNpy", 1, arguments);
  const bytes = bytesOf(source), name = nameOf(source);
  if (!MAGIC.every((each, k) => bytes[k] === each)) {
    throw new DynError(`Expected an array that NumPy has saved but found ${name}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset), isShort = bytes[6] === 1;
  const start = isShort ? 10 : 12, length = isShort ? view.getUint16(8, true) : view.getUint32(8, true);
  const header = new TextDecoder().decode(bytes.subarray(start, start + length));
  const [, order = "", letters = ""] = /'descr':\s*'([<>|=])(\w+)'/.exec(header) ?? [];
  const dtype = TYPES[letters], shapeText = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (dtype === undefined || order === ">" || shapeText === undefined) {
    const known = Object.keys(TYPES).join(", ");
    throw new DynError(`Expected one of the types ${known} in ${name} but found ${header.trim()}`);
  }
  const shape = shapeText.split(",").filter((each) => each.trim() !== "").map(Number);
  const count = shape.reduce((a, b) => a * b, 1), size = count * itemSize(dtype);
  if (bytes.length - start - length !== size) {
    throw new DynError(
      `Expected ${size} bytes of elements in ${name} but found ${bytes.length - start - length}`,
    );
  }
  const array = hostArray(dtype, bytes.slice(start + length).buffer);
  if (!/'fortran_order':\s*True/.test(header)) return fromTypedArray(array, shape, { dtype });
  return fromTypedArray(array, shape.toReversed(), { dtype }).permute(
    shape.map((_, d) => shape.length - 1 - d),
  ).contiguous();
}

/** Writes one array. Throws DynError for a type that NumPy lacks. */
export function writeNpy(path: string, tensor: Tensor): void {
  if (arguments.length > 2) refuseSurplus("writeNpy", 2, arguments);
  checkTensor(tensor, "writeNpy");
  const found = Object.entries(TYPES).find(([, dtype]) => dtype === tensor.dtype);
  if (!found) {
    throw new DynError(`Expected a tensor of a type that NumPy has but found ${tensor.dtype}`);
  }
  const [letters] = found, order = itemSize(tensor.dtype) === 1 ? "|" : "<";
  const shape = tensor.shape.length === 1 ? `${tensor.shape[0]},` : tensor.shape.join(", ");
  const text = `{'descr': '${order}${letters}', 'fortran_order': False, 'shape': (${shape}), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const length = Uint8Array.of(padded.length & 255, padded.length >> 8);
  const { buffer, byteOffset, byteLength } = tensor.detach().cpu().contiguous().toTypedArray();
  const elements = new Uint8Array(buffer, byteOffset, byteLength);
  writeAtomically(
    path,
    concat(MAGIC, Uint8Array.of(1, 0), length, new TextEncoder().encode(padded), elements),
  );
}
