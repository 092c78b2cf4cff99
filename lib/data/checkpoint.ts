/**
 * Trees of tensors and other values in one file, like `torch.save` and `torch.load`: states of models, optimizers and
 * random generators, numbers. The file is a safetensors file whose metadata describes the tree; its tensors are named by
 * their places, so that other readers find those of a state dict under their keys. Invariant: loading returns what was
 * saved, including shared memory of tensors; a value that cannot be saved is an error that names its place.
 */
import { checkFlag, checkOneOf, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { readAs } from "../base/atomic_files.ts";
import { DynError } from "../base/errors.ts";
import { Parameter } from "../nn/parameter.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { refuseForeign } from "./file_kind.ts";
import { type Forms, TreeWalk, wholeOf } from "./saved_tree.ts";
import { type Contents, parse, serialize, writeFile } from "./safetensors.ts";
import { isTorchFile, readTorchFile } from "./torch_file.ts";
import { writeTorchFile } from "./torch_writer.ts";

/** The name of the tree in the file's metadata. */
const TREE = "dyn.tree";

/** Marks a complex tensor, which is stored as pairs. */
const PAIRS = "pairs";

/** A value as JSON: values without a JSON form are arrays whose first element names the type. */
type Form = null | boolean | number | string | readonly [kind: Kind, ...parts: Form[]];

type Kind = "array" | "object" | "map" | "set" | "tensor" | "parameter" | "number" | "bigint" | "undefined";

/** Options of `save`. */
export interface FileSaveOptions {
  /** "torch" for a file that `torch.load` reads; default "safetensors". */
  readonly format?: "safetensors" | "torch";
}

/** Options of `load`. */
export interface FileLoadOptions {
  /**
   * Whether tensors of unsupported types in a file of `torch.save` are read as the next one that holds each value:
   * 8-bit floats as float32, uint16 as int32, uint32 and uint64 as int64. Otherwise they are errors.
   */
  readonly widen?: boolean;
}

/** Writes a tree to a file atomically. Throws DynError for values that cannot be saved. */
export function save(value: unknown, path: string | URL, options: FileSaveOptions = {}): void {
  if (arguments.length > 3) refuseSurplus("save", 3, arguments);
  const { format = "safetensors" } = optionsOf("save", options, ["format"]);
  checkOneOf("format of save", format, ["safetensors", "torch"]);
  writeFile(path, format === "torch" ? writeTorchFile(value) : checkpointOf(value));
}

function checkpointOf(value: unknown): Uint8Array {
  const walk = new TreeWalk(FORMS), form = walk.root(value);
  const tensors = Object.fromEntries(walk.memory().map((memory) => [memory.name, wholeOf(memory)]));
  return serialize(tensors, { [TREE]: JSON.stringify(form) });
}

/**
 * Reads a tree that `save` or `torch.save` has written; from other safetensors files, the tensors by name. The caller
 * specifies the type: `load<Checkpoint>(path)`. Throws DynError for a damaged file, and for objects of Python's classes.
 */
export function load<T = unknown>(path: string | URL, options?: FileLoadOptions): T;
export function load(path: string | URL, options: FileLoadOptions = {}): unknown {
  if (arguments.length > 2) refuseSurplus("load", 2, arguments);
  const { widen = false } = optionsOf("load", options, ["widen"]);
  checkFlag("widen of load", widen);
  return readAs(path, (bytes) => {
    refuseForeign(bytes, "a file of save, torch.save or safetensors");
    return isTorchFile(bytes) ? readTorchFile(bytes, { widen }) : treeOf(parse(bytes, { widen }));
  });
}

function treeOf(contents: Contents): unknown {
  const text = contents.metadata[TREE];
  if (typeof text !== "string") return contents.tensors;
  try {
    return new TreeReader(contents).read(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new DynError(`Expected the tree of a checkpoint: ${cause.message}`, { cause });
  }
}

/** Forms in JSON; complex tensors are stored as pairs, which safetensors have no type for. */
const FORMS: Forms<Form> = {
  scalar(value) {
    if (typeof value === "bigint") return ["bigint", String(value)];
    if (value === undefined) return ["undefined"];
    if (typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0))) return value;
    return ["number", Object.is(value, -0) ? "-0" : String(value)];
  },
  list: (items) => ["array", ...items],
  object: (entries) => ["object", ...entries.flat()],
  map: (entries) => ["map", ...entries.flat()],
  set: (members) => ["set", ...members],
  stored: (tensor) => tensor.isComplex() ? ops.viewAsReal(tensor) : tensor,
  tensor: (tensor, { memory, kept, isParameter, requiresGrad }) => [
    isParameter ? "parameter" : "tensor",
    memory.name,
    ["array", ...kept.shape],
    ["array", ...kept.strides],
    kept.storageOffset(),
    requiresGrad,
    ...tensor.isComplex() ? [PAIRS] : [],
  ],
};

class TreeReader {
  readonly #made = new Map<string, Tensor>();

  constructor(readonly contents: Contents) {}

  read(form: unknown): unknown {
    if (!Array.isArray(form)) return form;
    const [kind, ...parts] = form;
    const values = () => parts.map((each) => this.read(each));
    switch (kind) {
      case "array":
        return values();
      case "object":
        return Object.fromEntries(pairs(values()).map(([key, value]) => [String(key), value]));
      case "map":
        return new Map(pairs(values()));
      case "set":
        return new Set(values());
      case "number":
        return Number(parts[0]);
      case "bigint":
        return BigInt(String(parts[0]));
      case "undefined":
        return undefined;
      case "tensor":
      case "parameter":
        return this.#tensor(kind, parts);
      default:
        throw new DynError(`Expected a value of a checkpoint but found ${JSON.stringify(form).slice(0, 60)}`);
    }
  }

  /** Returns one tensor, however often it was saved. */
  #tensor(kind: "tensor" | "parameter", parts: readonly unknown[]): Tensor {
    const key = JSON.stringify([kind, ...parts]), known = this.#made.get(key);
    if (known) return known;
    const [name, shape, strides, offset, requiresGrad, elements] = parts;
    const held = this.contents.tensors[String(name)];
    const sizes = this.read(shape), steps = this.read(strides);
    if (!held || !isNumbers(sizes) || !isNumbers(steps) || typeof offset !== "number") {
      throw new DynError(`Expected a tensor of a checkpoint but found ${key.slice(0, 60)}`);
    }
    const shown = held.asStrided(sizes, steps, offset).detach();
    const view = elements === PAIRS ? ops.viewAsComplex(shown) : shown;
    const made = kind === "parameter" ? new Parameter(view, requiresGrad === true) : view;
    if (requiresGrad === true) made.requiresGrad_();
    this.#made.set(key, made);
    return made;
  }
}

function pairs(values: readonly unknown[]): [unknown, unknown][] {
  return values.flatMap((value, k): [unknown, unknown][] => k % 2 === 0 ? [[value, values[k + 1]]] : []);
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 0);
}
