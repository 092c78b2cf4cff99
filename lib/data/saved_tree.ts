/**
 * Trees of tensors and other values on their way into a file: a walk that builds the form of every value and collects
 * the memory of the tensors. Invariant: tensors that share memory refer to one piece of it; a value that cannot be
 * saved is an error that names its place.
 */
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { Parameter } from "../nn/parameter.ts";
import { savedForm } from "../nn/uninitialized.ts";
import type { Storage } from "../tensor/storage.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** The place of the saved value, with which all others begin. */
const ROOT = "the value";

/** Elements that tensors share. */
export interface Shared {
  /** The place of the first of the tensors: "model.0.weight". */
  readonly name: string;
  /** One of the tensors. */
  readonly tensor: Tensor;
  /** Number of elements that the tensors access; the memory may be larger. */
  count: number;
}

/** A tensor over shared memory. */
export interface SharedView {
  readonly memory: Shared;
  /** The tensor whose elements are stored. */
  readonly kept: Tensor;
  readonly isParameter: boolean;
  readonly requiresGrad: boolean;
}

/** How a format represents the values of a tree. */
export interface Forms<F> {
  scalar(value: null | undefined | boolean | number | bigint | string): F;
  list(items: readonly F[]): F;
  object(entries: readonly (readonly [key: string, value: F])[]): F;
  map(pairs: readonly (readonly [key: F, value: F])[]): F;
  set(members: readonly F[]): F;
  /** The tensor whose elements are stored for a tensor: itself, or a view of the same memory. */
  stored(tensor: Tensor): Tensor;
  tensor(tensor: Tensor, view: SharedView): F;
  /** The value to write instead of an object. */
  replaced?(value: object): object;
}

/** Walks one tree. */
export class TreeWalk<F> {
  readonly #storages = new Map<Storage, Shared>();
  readonly #names = new Set(["__metadata__"]);
  readonly #open = new Set<object>();

  constructor(readonly forms: Forms<F>) {}

  /** The form of the whole value. Throws DynError for what cannot be saved. */
  root(value: unknown): F {
    return this.#write(value, ROOT);
  }

  /** The memory of all tensors so far, in order. */
  memory(): readonly Shared[] {
    return [...this.#storages.values()];
  }

  #write(value: unknown, place: string): F {
    switch (typeof value) {
      case "string":
      case "boolean":
      case "number":
      case "bigint":
      case "undefined":
        return this.forms.scalar(value);
      case "object":
        return value === null ? this.forms.scalar(null) : this.#object(value, place);
      default:
        throw new DynError(`Expected a value that can be saved at ${place} but found a ${typeof value}`);
    }
  }

  /** Returns an unused name for the tensor at a place. */
  #nameAt(place: string): string {
    let name = place.replace(ROOT, "").replace(/\[(\d+)\]/g, ".$1").replace(/^\./, "");
    while (this.#names.has(name)) name += "'";
    this.#names.add(name);
    return name;
  }

  #object(value: object, place: string): F {
    if (isTensor(value)) return this.#tensor(savedForm(value), place);
    if (this.#open.has(value)) throw new DynError(`Expected a tree but found a cycle at ${place}`);
    this.#open.add(value);
    const form = this.#container(this.forms.replaced?.(value) ?? value, place);
    this.#open.delete(value);
    return form;
  }

  #container(value: object, place: string): F {
    const { forms } = this;
    if (Array.isArray(value)) {
      return forms.list(value.map((each: unknown, k) => this.#write(each, `${place}[${k}]`)));
    }
    if (value instanceof Map) {
      return forms.map([...value].map(([key, each], k): [F, F] => [
        this.#write(key, `key ${k} of ${place}`),
        this.#write(each, `value ${k} of ${place}`),
      ]));
    }
    if (value instanceof Set) {
      return forms.set([...value].map((each, k) => this.#write(each, `member ${k} of ${place}`)));
    }
    if (isPlainObject(value)) {
      return forms.object(
        Object.entries(value).map(([key, each]): [string, F] => [key, this.#write(each, `${place}.${key}`)]),
      );
    }
    const advice = "namedParameters" in value ? "; save its stateDict()" : "";
    throw new DynError(
      `Expected a value that can be saved at ${place} but found a ${value.constructor?.name}${advice}`,
    );
  }

  /** Elements are stored by memory, so that views and tied tensors still share them. */
  #tensor(tensor: Tensor, place: string): F {
    const kept = this.forms.stored(tensor), { storage, shape, strides } = kept;
    let memory = this.#storages.get(storage);
    if (!memory) {
      this.#storages.set(storage, memory = { name: this.#nameAt(place), tensor: kept, count: 0 });
    }
    if (memory.tensor.dtype !== kept.dtype) {
      throw new DynError(
        `Expected tensors of one type over shared memory but found ${memory.tensor.dtype} and ${kept.dtype}; clone() one`,
      );
    }
    if (tensor.numel() > 0) {
      const first = kept.storageOffset();
      const last = shape.reduce((at, size, d) => at + (size - 1) * (strides[d] ?? 0), first);
      memory.count = Math.max(memory.count, last + 1);
    }
    const requiresGrad = tensor.requiresGrad && tensor.isLeaf;
    return this.forms.tensor(tensor, {
      memory,
      kept,
      isParameter: tensor instanceof Parameter,
      requiresGrad,
    });
  }
}

/** The elements that tensors share, as one tensor: one of them where it shows all, or one dimension. */
export function wholeOf({ tensor, count }: Shared): Tensor {
  const isWhole = tensor.isContiguous() && tensor.storageOffset() === 0 && tensor.numel() === count;
  return isWhole ? tensor : tensor.detach().asStrided([count], [1], 0);
}
