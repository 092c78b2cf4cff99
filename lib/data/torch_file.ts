/**
 * Files of `torch.save`: tensors, containers, numbers and texts, in today's ZIP archives and in the single streams of
 * PyTorch before 1.6. Invariant: a file is data; a name in it that is not listed here is an error, and tensors that
 * shared memory share it here.
 * https://github.com/pytorch/pytorch/blob/main/torch/serialization.py
 */
import { readArchive } from "../base/archive.ts";
import { refuseChoice, refuseValue } from "../base/checked_input.ts";
import type { Complex } from "../base/complex.ts";
import { type DType, hostArray, itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { Parameter } from "../nn/parameter.ts";
import { fromTypedArray } from "../tensor/creation.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type PickleCalls, PickledName, unpickle } from "./pickle.ts";
import { STORAGES, WIDER_TORCH_TYPES } from "./torch_storages.ts";
import type { WiderType } from "./wider_types.ts";

/** The integer that begins a stream. */
const MAGIC = 0x1950a86a20f9469cfc6cn;

const UNTYPED = "torch.storage.UntypedStorage";

/** Memory of tensors, whose bytes may follow the pickle that names it. */
interface Memory {
  readonly key: string;
  /** The type of its elements; null if each tensor says it. */
  readonly dtype: DType | null;
}

/** A tensor of a pickle before its memory has been read. */
class PickledTensor {
  made: Tensor | null = null;

  /** Takes the arguments of the call, and the type if it is not that of the memory. */
  constructor(readonly parts: readonly unknown[], readonly dtype: DType | WiderType | null = null) {}
}

/** A parameter of a pickle. */
class PickledParameter {
  made: Parameter | null = null;

  constructor(readonly data: PickledTensor, readonly requiresGrad: boolean) {}
}

/** Returns whether bytes begin as an archive or a stream of `torch.save` does. */
export function isTorchFile(bytes: Uint8Array): boolean {
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
  // A protocol, then an integer of ten bytes
  return isArchive || (bytes[0] === 0x80 && bytes[2] === 0x8a && bytes[3] === 10);
}

/**
 * Reads what `torch.save` wrote: dicts are objects (Maps if a key is neither a text nor an integer), tuples arrays, and
 * tensors are on the CPU. Throws DynError for a damaged file, and for objects of classes other than PyTorch's.
 */
export function readTorchFile(
  bytes: Uint8Array<ArrayBuffer>,
  { widen = false }: { readonly widen?: boolean } = {},
): unknown {
  const call = (name: string, args: readonly unknown[]) => called(name, args, widen);
  if (bytes[0] === 0x80) return readStream(bytes, call);
  const files = readArchive(bytes, { checksums: false });
  const pickled = [...files.keys()].find((name) => /^[^/]+\/data\.pkl$/.test(name));
  const folder = pickled?.replace("data.pkl", "") ?? "", program = pickled && files.get(pickled);
  if (!program) {
    throw new DynError("Expected data.pkl, which torch.save writes, in the archive but found none");
  }
  const order = files.get(`${folder}byteorder`), text = order && new TextDecoder().decode(order);
  if (text !== undefined && text !== "little") refuseValue("little-endian elements", text);
  const { value } = unpickle(program, 0, { call, stored });
  return new Resolved((key) => files.get(`${folder}data/${key}`)).value(value);
}

/** Three pickles about the format, the value, the keys of its memory, and the elements by key. */
function readStream(bytes: Uint8Array<ArrayBuffer>, call: PickleCalls["call"]): unknown {
  const sizes = new Map<string, number>();
  const noted = (id: unknown) => {
    const memory = stored(id);
    sizes.set(memory.key, itemSize(memory.dtype ?? "uint8"));
    return memory;
  };
  let at = 0;
  const next = () => {
    const { value, end } = unpickle(bytes, at, { call, stored: noted });
    at = end;
    return value;
  };
  if (next() !== MAGIC) throw new DynError("Expected what torch.save wrote but found another pickle");
  for (const _about of ["protocol", "system"]) next();
  const value = next(), keys = next();
  if (!Array.isArray(keys)) throw new DynError("Expected the keys of the tensors' memory but found none");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const key of keys) {
    if (at + 8 > bytes.length) {
      throw new DynError(`Expected the elements of ${key} but found the end of the file`);
    }
    const length = Number(view.getBigInt64(at, true)) * (sizes.get(String(key)) ?? 1);
    parts.set(String(key), bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return new Resolved((key) => parts.get(key)).value(value);
}

/** The memory that an identifier names: its kind, the type of the storage, key, device, length. */
function stored(id: unknown): Memory {
  const [kind, type, key, , , view = null]: unknown[] = Array.isArray(id) ? id : [];
  // Modules were saved with the source of their class
  if (kind === "module" && type instanceof PickledName) refuseName(type.name);
  if (kind !== "storage" || !(type instanceof PickledName) || view !== null) {
    throw new DynError(`Expected the memory of a tensor but found ${String(kind)}`);
  }
  const dtype = STORAGES[type.name.replace("torch.", "")] ?? null;
  if (dtype === null && type.name !== UNTYPED) refuseName(type.name);
  return { key: String(key), dtype };
}

function called(name: string, args: readonly unknown[], widen: boolean): unknown {
  switch (name.replace("__builtin__.", "builtins.")) {
    case "collections.OrderedDict":
    case "collections.Counter":
      return args[0] instanceof Map ? new Map(args[0]) : new Map(pairsOf(args[0]));
    case "collections.defaultdict":
      return new Map();
    case "builtins.set":
    case "builtins.frozenset":
      return new Set(Array.isArray(args[0]) ? args[0] : []);
    case "builtins.complex":
      return { re: Number(args[0]), im: Number(args[1]) } satisfies Complex;
    case "builtins.bytearray":
      return args[0] ?? new Uint8Array(0);
    // Bytes, as protocol 2 writes them: characters of their codes
    case "_codecs.encode":
      return Uint8Array.from(String(args[0]), (each) => each.charCodeAt(0));
    case "torch.Size":
      return args[0] ?? [];
    case "torch.device":
      return args.join(":");
    case "torch._utils._rebuild_tensor_v2":
      return new PickledTensor(args);
    case "torch._utils._rebuild_tensor_v3":
      return new PickledTensor([...args.slice(0, 6), args[7]], elementType(args[6], widen));
    case "torch._utils._rebuild_parameter":
    case "torch._utils._rebuild_parameter_with_state":
      if (args[0] instanceof PickledTensor) return new PickledParameter(args[0], args[1] === true);
      throw new DynError("Expected the tensor of a parameter but found something else");
    default:
      return refuseName(name);
  }
}

function pairsOf(value: unknown): [unknown, unknown][] {
  return Array.isArray(value)
    ? value.flatMap((pair): [unknown, unknown][] => Array.isArray(pair) ? [[pair[0], pair[1]]] : [])
    : [];
}

/** The type that "torch.float32" names. */
function dtypeOf(value: unknown): DType {
  const name = value instanceof PickledName ? value.name : String(value), short = name.replace("torch.", "");
  const known = Object.values(STORAGES), found = known.find((dtype) => dtype === short);
  if (found) return found;
  // Of another type, such as float8_e4m3fn
  if (/^torch\.[a-z]+\d/.test(name)) refuseChoice("the dtype of a tensor", known, short);
  return refuseName(name);
}

/** The type of a tensor, which may be one that tensors do not support here. */
function elementType(value: unknown, widen: boolean): DType | WiderType {
  const name = value instanceof PickledName ? value.name.replace("torch.", "") : "";
  const wider = WIDER_TORCH_TYPES.get(name);
  if (!wider) return dtypeOf(value);
  if (widen) return wider;
  const known = Object.values(STORAGES).join(", ");
  const hint = `; load(path, { widen: true }) reads it as ${wider.dtype}`;
  refuseValue(`the dtype of a tensor to be one of ${known}`, name, hint);
}

function refuseName(name: string): never {
  throw new DynError(
    `Expected tensors, numbers, texts and containers but found ${name}, whose code is Python's; in Python, save ` +
      "the state_dict() of a model, and lists or dicts in place of other objects",
  );
}

/** The values of a pickle with their tensors. Objects that occur several times stay the same objects. */
class Resolved {
  readonly #memory = new Map<string, Tensor>();
  readonly #made = new Map<object, object>();

  /** Takes a function that returns the bytes of a memory by its key. */
  constructor(readonly bytesOf: (key: string) => Uint8Array<ArrayBuffer> | undefined) {}

  value(given: unknown): unknown {
    if (typeof given !== "object" || given === null || given instanceof Uint8Array) return given;
    if (given instanceof PickledTensor) return given.made ??= this.#tensor(given);
    if (given instanceof PickledParameter) {
      const { data, requiresGrad } = given;
      return given.made ??= new Parameter(data.made ??= this.#tensor(data), requiresGrad);
    }
    if (given instanceof PickledName) return dtypeOf(given);
    return this.#made.get(given) ?? this.#container(given);
  }

  #container(given: object): object {
    const keep = <T extends object>(made: T): T => {
      this.#made.set(given, made);
      return made;
    };
    if (Array.isArray(given)) {
      const list = keep<unknown[]>([]);
      for (const each of given) list.push(this.value(each));
      return list;
    }
    if (given instanceof Set) {
      const set = keep(new Set());
      for (const each of given) set.add(this.value(each));
      return set;
    }
    if (!(given instanceof Map)) return given;
    if (![...given.keys()].every((key) => typeof key === "string" || Number.isInteger(key))) {
      const map = keep(new Map());
      for (const [key, each] of given) map.set(this.value(key), this.value(each));
      return map;
    }
    const object = keep({});
    for (const [key, each] of given) {
      Object.defineProperty(object, key, {
        value: this.value(each),
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return object;
  }

  #tensor({ parts, dtype: own }: PickledTensor): Tensor {
    const [memory, offset, sizes, strides, requiresGrad, , about] = parts;
    const isMemory = typeof memory === "object" && memory !== null && "key" in memory && "dtype" in memory;
    if (!isMemory || typeof offset !== "number" || !isSizes(sizes) || !isSizes(strides)) {
      throw new DynError("Expected the memory, offset, sizes and strides of a tensor");
    }
    const dtype = own ?? dtypeOf(memory.dtype), key = String(memory.key);
    const name = `${key} as ${typeof dtype === "string" ? dtype : `elements of ${dtype.size} bytes`}`;
    const whole = this.#memory.get(name) ?? this.#elements(key, dtype);
    this.#memory.set(name, whole);
    const last = sizes.reduce((at, size, d) => at + (size - 1) * (strides[d] ?? 0), offset);
    if (!sizes.includes(0) && last >= whole.numel()) {
      throw new DynError(`Expected at least ${last + 1} elements in ${key} but found ${whole.numel()}`);
    }
    let shown = whole.asStrided(sizes, strides, offset).detach();
    // Conjugates and negatives may be marked rather than computed
    if (about instanceof Map && about.get("conj") === true) shown = ops.conjPhysical(shown);
    if (about instanceof Map && about.get("neg") === true) shown = ops.neg(shown);
    return requiresGrad === true ? shown.requiresGrad_() : shown;
  }

  #elements(key: string, type: DType | WiderType): Tensor {
    const bytes = this.bytesOf(key), size = typeof type === "string" ? itemSize(type) : type.size;
    if (!bytes || bytes.length % size !== 0) {
      throw new DynError(`Expected the elements of ${key} but found ${bytes?.length ?? 0} bytes`);
    }
    if (typeof type !== "string") {
      const { dtype, read } = type;
      return fromTypedArray(read(new Uint8Array(bytes).buffer), [bytes.length / size], {
        dtype,
        device: "cpu",
      });
    }
    const dtype = type;
    const isAligned = bytes.byteOffset % itemSize(dtype) === 0, count = bytes.length / itemSize(dtype);
    const { buffer, byteOffset } = isAligned ? bytes : new Uint8Array(bytes);
    return fromTypedArray(hostArray(dtype, buffer, { byteOffset, length: count }), [count], {
      dtype,
      device: "cpu",
    });
  }
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 0);
}
