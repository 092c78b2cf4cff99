/**
 * Kinds of files that hold no tensors which dyn reads, told by how they begin: for errors that say what to do instead.
 * Invariant: files of `save`, `torch.save` and safetensors are of no such kind.
 */
import { namesInArchive } from "../base/archive.ts";
import { DynError } from "../base/errors.ts";

/** How kinds of files begin, as Latin-1, and what they are. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^version https:\/\/git-lfs/, "a pointer of Git LFS in place of the file; git lfs pull downloads it"],
  [/^\s*<(!doctype|html|\?xml)/i, "a page, as a server sends where there is no file"],
  [/^\x93NUMPY/, "an array of NumPy; data.readNpy(path) reads it"],
  [/^GGUF/, "a file of GGUF; convert it to safetensors"],
  [/^\x89HDF/, "a file of HDF5; convert it to safetensors"],
];

/** The same of kinds that begin with numbers: the version, and in a model the field of its producer. */
const NUMBERED: readonly (readonly [(bytes: Uint8Array) => boolean, string])[] = [
  [
    ([field, version = 0, next = 0]) => field === 8 && version < 32 && [0x12, 0x3a, 0x42].includes(next),
    "what seems to be a model of ONNX; dyn writes such models and reads none",
  ],
  [
    ([mark, protocol = 0, next]) => mark === 0x80 && protocol >= 2 && protocol <= 5 && next !== 0x8a,
    "a pickle of Python; in Python, save its tensors by torch.save",
  ],
];

/** Which files say what an archive is. */
const ARCHIVES: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)constants\.pkl$/, "a program of TorchScript; in Python, save the state_dict() of its module"],
  [
    /(^|\/)(archive_format|serialized_exported_program\.json)$/,
    "a program of torch.export; in Python, save its state_dict by torch.save",
  ],
  [/\.npy$/, "an archive of numpy.savez; in Python, save its arrays as .npy or by torch.save"],
  [/\.weights\.h5$/, "a model of Keras; convert its weights to safetensors"],
];

/** Throws DynError for a file that holds no tensors which dyn reads; `expected` says what was asked for. */
export function refuseForeign(bytes: Uint8Array<ArrayBuffer>, expected: string): void {
  const foreign = foreignKind(bytes);
  if (foreign !== null) throw new DynError(`Expected ${expected} but found ${foreign}`);
}

/** Returns a description of a file; null if it may hold tensors. */
function foreignKind(bytes: Uint8Array<ArrayBuffer>): string | null {
  if (bytes.length === 0) return "an empty file";
  // The header of a safetensors file, whose length comes first and may look like anything
  if (bytes[8] === 0x7b) return null;
  const beginning = String.fromCharCode(...bytes.subarray(0, 64));
  const [, found = null] = BEGINNINGS.find(([pattern]) => pattern.test(beginning)) ??
    NUMBERED.find(([begins]) => begins(bytes)) ?? [];
  if (found !== null || !beginning.startsWith("PK\x03\x04")) return found;
  const names = namesInArchive(bytes) ?? [];
  return ARCHIVES.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? null;
}
