/**
 * Hooks on tensors that are saved for backward passes, like `torch.autograd.graph.saved_tensors_hooks`: a pair of
 * functions packs and unpacks each tensor saved while they are active. Invariant: the unpacked tensor has the
 * metadata of the packed one.
 */
import { asProgram } from "../base/own_builtins.ts";
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { scoped } from "../base/scoped.ts";
import { aliasOf, ops } from "../tensor/eager.ts";
import { keepMemory } from "../tensor/kept_memory.ts";
import { noGrad } from "../tensor/modes.ts";
import { unwatched } from "../tensor/storage.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** Stores a tensor in another form, and restores it. */
interface SavedTensorHooks<P = unknown> {
  pack(tensor: Tensor): P;
  unpack(packed: P): Tensor;
}

interface InForce {
  hooks: SavedTensorHooks | null;
  /** Why no hooks may be set now; null: they may be. */
  refusal: string | null;
}

const inForce: InForce = { hooks: null, refusal: null };

/** Returns whether hooks are in force. */
export const hooksSavedTensors = (): boolean => inForce.hooks !== null;

/** Runs `body` with hooks for the tensors saved in it, instead of the current ones. */
export function savedTensorsHooks<P, R>(
  pack: (tensor: Tensor) => P,
  unpack: (packed: P) => Tensor,
  body: () => R,
): R {
  if (arguments.length > 3) refuseSurplus("savedTensorsHooks", 3, arguments);
  if (inForce.refusal !== null) throw new DynError(inForce.refusal);
  const hooks: SavedTensorHooks<P> = { pack, unpack };
  // Hooks may keep what they make, which is no temporary of the op or the pass that they are called in
  return withHooks({
    pack: (tensor) => unwatched(() => hooks.pack(tensor)),
    unpack: (packed) => keepMemory(unwatched(() => hooks.unpack(packed))),
  }, body);
}

/** Runs `body` with hooks that keep nothing of what they unpack. */
function withHooks<P, R>(hooks: SavedTensorHooks<P>, body: () => R): R {
  const former = inForce.hooks;
  inForce.hooks = {
    pack: (tensor) => hooks.pack(tensor),
    // These hooks packed it, so it has their type
    unpack: (packed) => hooks.unpack(packed as P),
  };
  return scoped(body, () => inForce.hooks = former);
}

/** Runs `body`, in which no hooks may be set; `message` is the reason. */
export function disableSavedTensorsHooks<R>(message: string, body: () => R): R {
  if (arguments.length > 2) refuseSurplus("disableSavedTensorsHooks", 2, arguments);
  const former = inForce.refusal;
  inForce.refusal = message;
  return scoped(body, () => inForce.refusal = former);
}

/** Saves tensors in `body` on the CPU, like `torch.autograd.graph.save_on_cpu`. */
export function saveOnCpu<R>(body: () => R): R {
  if (arguments.length > 1) refuseSurplus("saveOnCpu", 1, arguments);
  if (inForce.refusal !== null) throw new DynError(inForce.refusal);
  return withHooks({
    pack: (tensor) => ({ device: tensor.device, kept: noGrad(() => ops.clone(tensor.cpu())) }),
    unpack: ({ device, kept }) => noGrad(() => kept.device === device ? kept : kept.to(device)),
  }, body);
}

/** A tensor packed by hooks. */
export class PackedTensor {
  readonly #packed: unknown;
  readonly #hooks: SavedTensorHooks;

  constructor(hooks: SavedTensorHooks, tensor: Tensor) {
    this.#hooks = hooks;
    const { version } = tensor.storage;
    // Hooks see tensors without history, and their own operations are not recorded
    this.#packed = noGrad(() => withoutHooks(() => asProgram(() => hooks.pack(aliasOf(tensor)))));
    if (tensor.storage.version !== version) {
      throw new DynError(
        "Expected a pack hook that leaves its tensor as it is but found one that wrote to it",
      );
    }
  }

  /** The tensor without history. Throws DynError for one of another shape or type. */
  unpack({ shape, dtype }: Pick<Tensor, "shape" | "dtype">): Tensor {
    const tensor: unknown = asProgram(() => this.#hooks.unpack(this.#packed));
    if (isTensor(tensor) && `${tensor.shape}` === `${shape}` && tensor.dtype === dtype) return tensor;
    const found = isTensor(tensor) ? `${tensor.dtype} [${tensor.shape}]` : typeof tensor;
    throw new DynError(
      `Expected ${dtype} [${shape}] from the unpack hook of a saved tensor but found ${found}`,
    );
  }
}

/** Runs `body` with no hooks for the tensors saved in it. */
export function withoutHooks<R>(body: () => R): R {
  const former = inForce.hooks;
  inForce.hooks = null;
  return scoped(body, () => inForce.hooks = former);
}

/** Returns the tensor packed by the current hooks; null if there are none. */
export function packed(tensor: Tensor): PackedTensor | null {
  return inForce.hooks === null ? null : new PackedTensor(inForce.hooks, tensor);
}
