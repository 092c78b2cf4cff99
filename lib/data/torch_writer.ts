/**
 * Trees as files of `torch.save`: a ZIP archive of a pickle and the memory of its tensors, which `torch.load` reads with
 * its default of weights only. Invariant: `readTorchFile` reads what was written, shared memory of tensors included.
 * https://github.com/pytorch/pytorch/blob/main/torch/serialization.py
 */
import { writeArchive } from "../base/archive.ts";
import type { DType } from "../base/dtype.ts";
import { readStored } from "../tensor/host.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { PickledName } from "./pickle.ts";
import { pickle, type Pickled, PickledCall, PickledReference, PickledTuple } from "./pickle_writer.ts";
import { type Forms, type Shared, type SharedView, TreeWalk, wholeOf } from "./saved_tree.ts";
import { isOwnState, torchState } from "./torch_optimizers.ts";
import { STORAGES } from "./torch_storages.ts";

/** The folder of an archive whose file has no name yet. */
const FOLDER = "archive";

/** The version of the format that PyTorch has written since 1.6. */
const VERSION = "3\n";

const named = (name: string, ...args: readonly Pickled[]): PickledCall =>
  new PickledCall(new PickledName(name), args);

/**
 * Writes a tree as `torch.save` does: objects and Maps as dicts, arrays as lists, undefined as None. A state of an
 * optimizer is written as PyTorch's. Throws DynError for values that cannot be saved.
 */
export function writeTorchFile(value: unknown): Uint8Array<ArrayBuffer> {
  const forms = new TorchForms(), walk = new TreeWalk<Pickled>(forms);
  const files = new Map([[`${FOLDER}/data.pkl`, pickle(walk.root(value))]]);
  const text = (name: string, contents: string) =>
    files.set(`${FOLDER}/${name}`, new TextEncoder().encode(contents));
  text("byteorder", "little");
  walk.memory().forEach((memory, k) => files.set(`${FOLDER}/data/${k}`, bytesOf(memory)));
  text("version", VERSION);
  return writeArchive(files);
}

function bytesOf(memory: Shared): Uint8Array<ArrayBuffer> {
  const array = readStored(wholeOf(memory).detach().cpu());
  return Uint8Array.from(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
}

class TorchForms implements Forms<Pickled> {
  readonly #keys = new Map<Shared, number>();
  readonly #written = new Map<Tensor, Pickled>();

  scalar(value: null | undefined | boolean | number | bigint | string): Pickled {
    return value ?? null;
  }

  list(items: readonly Pickled[]): Pickled {
    return items;
  }

  object(entries: readonly (readonly [string, Pickled])[]): Pickled {
    return new Map(entries);
  }

  map(pairs: readonly (readonly [Pickled, Pickled])[]): Pickled {
    return new Map(pairs);
  }

  set(members: readonly Pickled[]): Pickled {
    return named("builtins.set", members);
  }

  stored(tensor: Tensor): Tensor {
    return tensor;
  }

  replaced(value: object): object {
    return isOwnState(value) ? torchState(value) : value;
  }

  /** A tensor that occurs several times stays one. */
  tensor(tensor: Tensor, view: SharedView): Pickled {
    const known = this.#written.get(tensor);
    if (known !== undefined) return known;
    const made = this.#rebuilt(tensor, view);
    this.#written.set(tensor, made);
    return made;
  }

  #rebuilt(tensor: Tensor, { memory, isParameter, requiresGrad }: SharedView): Pickled {
    const key = this.#keys.get(memory) ?? this.#keys.size;
    this.#keys.set(memory, key);
    const type = storageOf(tensor.dtype);
    // The number of elements is known at the end: tensors that follow may show more of them
    const storage = new PickledReference(() =>
      new PickledTuple(["storage", type, `${key}`, "cpu", memory.count])
    );
    const sizes = new PickledTuple([...tensor.shape]), steps = new PickledTuple([...tensor.strides]);
    const hooks = named("collections.OrderedDict");
    const data = named(
      "torch._utils._rebuild_tensor_v2",
      ...[storage, tensor.storageOffset(), sizes, steps, isParameter ? false : requiresGrad, hooks],
    );
    if (!isParameter) return data;
    return named("torch._utils._rebuild_parameter", data, requiresGrad, named("collections.OrderedDict"));
  }
}

function storageOf(dtype: DType): PickledName {
  const found = Object.entries(STORAGES).find(([, type]) => type === dtype);
  return new PickledName(`torch.${found?.[0]}`);
}
