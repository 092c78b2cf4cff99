/**
 * The safetensors file format: an 8-byte little-endian header length, a JSON header, and the raw elements. State
 * dicts have PyTorch's keys and layouts. Invariant: `load` returns what `save` wrote.
 */
import { savedForm } from "../nn/uninitialized.ts";
import { checkTensor } from "../tensor/checked.ts";
import {
  checkInstance,
  checkKind,
  optionsOf,
  refuseChoice,
  refuseSurplus,
  refuseValue,
} from "../base/checked_input.ts";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DynError, messageOf } from "../base/errors.ts";
import { type DType, hostArray, isComplex, itemSize, type RealType } from "../base/dtype.ts";
import { isPlainObject } from "../base/tree.ts";
import { readAs, writeAtomically } from "../base/atomic_files.ts";
import { readStored } from "../tensor/host.ts";
import { fromTypedArray } from "../tensor/creation.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { refuseForeign } from "./file_kind.ts";
import { isTorchFile } from "./torch_file.ts";
import { WIDER_TYPES, type WiderType } from "./wider_types.ts";

/** Bytes of the longest header that the format allows. */
const LONGEST_HEADER = 100_000_000;

const NAMES: Readonly<Record<RealType, string>> = {
  float32: "F32",
  float64: "F64",
  float16: "F16",
  bfloat16: "BF16",
  int64: "I64",
  int32: "I32",
  int16: "I16",
  int8: "I8",
  uint8: "U8",
  bool: "BOOL",
};

/** The contents of a file. */
export interface Contents {
  /** The tensors by name. */
  readonly tensors: Record<string, Tensor>;
  /** Texts by name. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Options of reading a file. */
export interface ReadOptions {
  /**
   * Whether unsupported types are read as the next one that holds each value: 8-bit floats as float32, uint16 as int32,
   * uint32 and uint64 as int64. Otherwise they are errors.
   */
  readonly widen?: boolean;
}

/**
 * Reads a file (by path), its bytes, or all parts of a sharded file: pass the path of its `….index.json`, which lists
 * the part of each tensor. Throws DynError for an invalid format, an unknown type or a missing tensor.
 */
export function load(source: string | URL | Uint8Array, options: ReadOptions = {}): Record<string, Tensor> {
  if (arguments.length > 2) refuseSurplus("load", 2, arguments);
  optionsOf("safetensors.load", options, ["widen"]);
  if (source instanceof Uint8Array) return parse(source, options).tensors;
  if (!String(source).endsWith(".index.json")) return parseFile(source, options).tensors;
  return loadParts(source, options);
}

/** Reads the tensors of all parts that an index names, in the order of the index. */
function loadParts(index: string | URL, options: ReadOptions): Record<string, Tensor> {
  const header = readAs(index, (bytes) => parseHeader(new TextDecoder().decode(bytes))),
    map: unknown = Reflect.get(header, "weight_map");
  if (!isPlainObject(map)) throw new DynError(`Expected a weight_map in ${index} but found none`);
  const folder = index instanceof URL ? index : pathToFileURL(index),
    parts = new Map<string, Record<string, Tensor>>();
  const found: Record<string, Tensor> = {};
  for (const [name, file] of Object.entries(map)) {
    if (typeof file !== "string" || /[\\/]/.test(file)) {
      throw new DynError(`Expected the name of a file beside ${index} for ${name} but found ${String(file)}`);
    }
    const part = parts.get(file) ??
      parseFile(new URL(encodeURIComponent(file), folder), options).tensors;
    parts.set(file, part);
    const value = part[name];
    if (!value) throw new DynError(`Expected the tensor ${name} in ${file} but found none`);
    found[name] = value;
  }
  return found;
}

/** Reads a file that the program has named. Throws DynError, which names the file, if it is invalid. */
export function parseFile(path: string | URL, options: ReadOptions = {}): Contents {
  if (arguments.length > 2) refuseSurplus("parseFile", 2, arguments);
  return readAs(path, (bytes) => {
    refuseForeign(bytes, "a safetensors file");
    return parse(bytes, options);
  });
}

/** Reads the bytes of a file. Throws DynError for an invalid format or an unknown type. */
export function parse(bytes: Uint8Array, options: ReadOptions = {}): Contents {
  if (arguments.length > 2) refuseSurplus("parse", 2, arguments);
  checkInstance(bytes, Uint8Array, "safetensors.parse");
  optionsOf("safetensors.parse", options, ["widen"]);
  if (bytes.byteLength < 8) {
    throw new DynError(`Expected a safetensors header but found ${bytes.byteLength} bytes`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = Number(view.getBigUint64(0, true));
  if (headerLength > bytes.byteLength - 8) {
    if (isTorchFile(bytes)) {
      throw new DynError(
        "Expected a safetensors file but found one that torch.save wrote; load(path) reads it",
      );
    }
    if (headerLength > LONGEST_HEADER) {
      throw new DynError("Expected a safetensors file but found other contents");
    }
    throw new DynError(`Expected a header of ${headerLength} bytes but found ${bytes.byteLength - 8}`);
  }
  const header = parseHeader(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength)));
  const data = bytes.subarray(8 + headerLength);
  const tensors: Record<string, Tensor> = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name !== "__metadata__") tensors[name] = readTensor(name, entry, data, options);
  }
  const metadata: unknown = Reflect.get(header, "__metadata__");
  return { tensors, metadata: isPlainObject(metadata) ? metadata : {} };
}

function parseHeader(text: string): object {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw new DynError(`Expected a JSON header but found ${JSON.stringify(text.slice(0, 40))}`, { cause });
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw new DynError(`Expected a JSON object as header but found ${text.slice(0, 40)}`);
  }
  return header;
}

function readTensor(name: string, entry: unknown, data: Uint8Array, { widen = false }: ReadOptions): Tensor {
  if (typeof entry !== "object" || entry === null) throw new DynError(`Expected an object for ${name}`);
  const type: unknown = Reflect.get(entry, "dtype");
  const shape = integers(Reflect.get(entry, "shape"), `shape of ${name}`);
  const [start = 0, end = 0] = integers(Reflect.get(entry, "data_offsets"), `data_offsets of ${name}`);
  const count = shape.reduce((a, b) => a * b, 1), { dtype, size, read } = storedType(name, type, widen);
  if (end - start !== count * size || end > data.byteLength) {
    throw new DynError(`Expected ${count * size} bytes for ${name} but found [${start}, ${end})`);
  }
  return fromTypedArray(read(data.slice(start, end).buffer), shape, { dtype, device: "cpu" });
}

/** Returns the reader of a type of the format. */
function storedType(name: string, type: unknown, widen: boolean): WiderType {
  const found = Object.entries(NAMES).find(([, stored]) => stored === type);
  if (found) {
    const dtype = found[0] as RealType;
    return { dtype, size: itemSize(dtype), read: (memory) => hostArray(dtype, memory) };
  }
  const what = `the dtype of ${name}`, wider = WIDER_TYPES.get(String(type));
  if (!wider) refuseChoice(what, [...Object.values(NAMES), ...WIDER_TYPES.keys()], type);
  if (widen) return wider;
  const hint = `; safetensors.load(source, { widen: true }) reads it as ${wider.dtype}`;
  refuseValue(`${what} to be one of ${Object.values(NAMES).join(", ")}`, type, hint);
}

function integers(value: unknown, what: string): number[] {
  if (!Array.isArray(value) || !value.every((v) => Number.isInteger(v) && v >= 0)) {
    throw new DynError(`Expected non-negative integers as ${what} but found ${JSON.stringify(value)}`);
  }
  return value;
}

function nameOf(dtype: DType, name: string): string {
  if (!isComplex(dtype)) return NAMES[dtype];
  throw new DynError(
    `Expected real tensors but found the ${dtype} tensor ${name}: safetensors has no complex types; save its ` +
      "viewAsReal(), or a checkpoint, which holds pairs",
  );
}

/** Serialises tensors to the bytes of a file. */
export function serialize(
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  if (arguments.length > 2) refuseSurplus("serialize", 2, arguments);
  for (const each of [tensors, metadata]) checkKind(each, "an object", "safetensors.save");
  for (const [name, each] of Object.entries(tensors)) {
    checkTensor(each, `${JSON.stringify(name)} of safetensors.save`);
  }
  if (Object.hasOwn(tensors, "__metadata__")) {
    throw new DynError("Expected names that the format does not reserve but found __metadata__");
  }
  const header: Record<string, unknown> = {};
  if (Object.keys(metadata).length > 0) header["__metadata__"] = metadata;
  const parts: Uint8Array[] = [];
  let offset = 0;
  // The widest elements first, so that every tensor is aligned
  const ordered = Object.entries(tensors).map(([name, each]): [string, Tensor] => [name, savedForm(each)])
    .sort(([a, x], [b, y]) => itemSize(y.dtype) - itemSize(x.dtype) || (a < b ? -1 : 1));
  for (const [name, tensor] of ordered) {
    const array = readStored(tensor.detach().cpu());
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    header[name] = {
      dtype: nameOf(tensor.dtype, name),
      shape: [...tensor.shape],
      data_offsets: [offset, offset + bytes.byteLength],
    };
    parts.push(bytes);
    offset += bytes.byteLength;
  }
  // Padded with spaces to whole words, counted in bytes
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(Math.ceil(text.byteLength / 8) * 8).fill(0x20);
  head.set(text);
  const file = new Uint8Array(8 + head.byteLength + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(head.byteLength), true);
  file.set(head, 8);
  let at = 8 + head.byteLength;
  for (const part of parts) {
    file.set(part, at);
    at += part.byteLength;
  }
  return file;
}

/** Writes a file atomically. Throws DynError if it cannot be written. */
export function writeFile(path: string | URL, bytes: Uint8Array): void {
  if (arguments.length > 2) refuseSurplus("writeFile", 2, arguments);
  if (typeof path !== "string" && !(path instanceof URL)) {
    refuseValue("a path to write to, behind what is saved,", path);
  }
  const target = path instanceof URL ? fileURLToPath(path) : path;
  try {
    writeAtomically(target, bytes);
  } catch (cause) {
    throw new DynError(`Expected to write ${target} but found ${messageOf(cause)}`, { cause });
  }
}

/** Writes tensors to a file. Throws DynError if that fails; an existing file is then unchanged. */
export function save(
  tensors: Readonly<Record<string, Tensor>>,
  path: string | URL,
  metadata: Readonly<Record<string, string>> = {},
): void {
  if (arguments.length > 3) refuseSurplus("save", 3, arguments);
  writeFile(path, serialize(tensors, metadata));
}
