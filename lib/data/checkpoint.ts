/**
 * Trees of tensors and other values in one file, like `torch.save` and `torch.load`: states of models, optimizers and
 * random generators, numbers. The file is a safetensors file whose metadata describes the tree; its tensors are named by
 * their places, so that other readers find those of a state dict under their keys. Invariant: loading returns what was
 * saved, including shared memory of tensors; a value that cannot be saved is an error that names its place.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { readAs } from "../base/atomic_files.ts";
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { Parameter } from "../nn/parameter.ts";
import { ops } from "../tensor/eager.ts";
import type { Storage } from "../tensor/storage.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { foreignKind } from "./file_kind.ts";
import { type Contents, parse, serialize, writeFile } from "./safetensors.ts";
import { isTorchFile, readTorchFile } from "./torch_file.ts";

/** The name of the tree in the file's metadata. */
const TREE = "dyn.tree";

/** The place of the saved value, with which all others begin. */
const ROOT = "the value";

/** Marks a complex tensor, which is stored as pairs. */
const PAIRS = "pairs";

/** A value as JSON: values without a JSON form are arrays whose first element names the type. */
type Form = null | boolean | number | string | readonly [kind: Kind, ...parts: Form[]];

type Kind = "array" | "object" | "map" | "set" | "tensor" | "parameter" | "number" | "bigint" | "undefined";

/** Writes a tree to a file atomically. Throws DynError for values that cannot be saved. */
export function save(value: unknown, path: string | URL): void {
  if (arguments.length > 2) refuseSurplus("save", 2, arguments);
  const writer = new TreeWriter(), form = writer.write(value, ROOT);
  writeFile(path, serialize(writer.tensors(), { [TREE]: JSON.stringify(form) }));
}

/**
 * Reads a tree that `save` or `torch.save` has written; from other safetensors files, the tensors by name. The caller
 * specifies the type: `load<Checkpoint>(path)`. Throws DynError for a damaged file, and for objects of Python's classes.
 */
export function load<T = unknown>(path: string | URL): T;
export function load(path: string | URL): unknown {
  if (arguments.length > 1) refuseSurplus("load", 1, arguments);
  return readAs(path, (bytes) => {
    const foreign = foreignKind(bytes);
    if (foreign !== null) {
      throw new DynError(`Expected a file of save, torch.save or safetensors but found ${foreign}`);
    }
    return isTorchFile(bytes) ? readTorchFile(bytes) : treeOf(parse(bytes));
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

/** Elements that tensors share. */
interface Shared {
  readonly name: string;
  /** One of the tensors. */
  readonly tensor: Tensor;
  /** Number of elements that the tensors access; the memory may be larger. */
  count: number;
}

class TreeWriter {
  readonly #storages = new Map<Storage, Shared>();
  readonly #names = new Set(["__metadata__"]);
  readonly #open = new Set<object>();

  write(value: unknown, place: string): Form {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : ["number", Object.is(value, -0) ? "-0" : String(value)];
      case "bigint":
        return ["bigint", String(value)];
      case "undefined":
        return ["undefined"];
      case "object":
        return value === null ? null : this.#object(value, place);
      default:
        throw new DynError(`Expected a value that can be saved at ${place} but found a ${typeof value}`);
    }
  }

  /** Returns the memory of all written tensors, by name. */
  tensors(): Record<string, Tensor> {
    return Object.fromEntries([...this.#storages.values()].map(({ name, tensor, count }) => {
      const isWhole = tensor.isContiguous() && tensor.storageOffset() === 0 && tensor.numel() === count;
      return [name, isWhole ? tensor : tensor.detach().asStrided([count], [1], 0)];
    }));
  }

  /** Returns an unused name for the tensor at a place: "model.0.weight". */
  #nameAt(place: string): string {
    let name = place.replace(ROOT, "").replace(/\[(\d+)\]/g, ".$1").replace(/^\./, "");
    while (this.#names.has(name)) name += "'";
    this.#names.add(name);
    return name;
  }

  #object(value: object, place: string): Form {
    if (isTensor(value)) return this.#tensor(value, place);
    if (this.#open.has(value)) {
      throw new DynError(`Expected a tree but found a cycle at ${place}`);
    }
    this.#open.add(value);
    const form = this.#container(value, place);
    this.#open.delete(value);
    return form;
  }

  #container(value: object, place: string): Form {
    if (Array.isArray(value)) return ["array", ...value.map((each, k) => this.write(each, `${place}[${k}]`))];
    if (value instanceof Map) {
      return [
        "map",
        ...[...value].flatMap(([key, each], k) => [
          this.write(key, `key ${k} of ${place}`),
          this.write(each, `value ${k} of ${place}`),
        ]),
      ];
    }
    if (value instanceof Set) {
      return [
        "set",
        ...[...value].map((each, k) => this.write(each, `member ${k} of ${place}`)),
      ];
    }
    if (isPlainObject(value)) {
      return [
        "object",
        ...Object.entries(value).flatMap(([key, each]) => [key, this.write(each, `${place}.${key}`)]),
      ];
    }
    const advice = "namedParameters" in value ? "; save its stateDict()" : "";
    throw new DynError(
      `Expected a value that can be saved at ${place} but found a ${value.constructor?.name}${advice}`,
    );
  }

  /** Elements are stored by memory, so that views and tied tensors still share them; complex ones as pairs. */
  #tensor(tensor: Tensor, place: string): Form {
    const isPairs = tensor.isComplex(), kept = isPairs ? ops.viewAsReal(tensor) : tensor;
    const { storage, shape, strides } = kept, offset = kept.storageOffset();
    let shared = this.#storages.get(storage);
    if (!shared) {
      this.#storages.set(storage, shared = { name: this.#nameAt(place), tensor: kept, count: 0 });
    }
    if (shared.tensor.dtype !== kept.dtype) {
      throw new DynError(
        `Expected tensors of one type over shared memory but found ${shared.tensor.dtype} and ${kept.dtype}; clone() one`,
      );
    }
    if (tensor.numel() > 0) {
      const last = shape.reduce((at, size, d) => at + (size - 1) * (strides[d] ?? 0), offset);
      shared.count = Math.max(shared.count, last + 1);
    }
    return [
      tensor instanceof Parameter ? "parameter" : "tensor",
      shared.name,
      ["array", ...shape],
      ["array", ...strides],
      offset,
      tensor.requiresGrad && tensor.isLeaf,
      ...isPairs ? [PAIRS] : [],
    ];
  }
}

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
