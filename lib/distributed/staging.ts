/**
 * Stages tensors for calls, which need contiguous elements in host memory: a tensor of that form is used directly,
 * others are copied, and results are copied back. Invariant: gradients are not recorded, as for all exchange between
 * processes.
 */
import { itemSize } from "../base/dtype.ts";
import { checkInstances } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { empty, stack } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { deviceNamed } from "../tensor/storage.ts";
import { checkTensor } from "../tensor/checked.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { Place } from "./transport.ts";

/** The memory of the device whose memory calls read. */
const HOST = { device: "cpu" } as const;

/** Returns where a tensor's elements are; null if it has none. */
export function placeOf({ layout: { numel, dtype }, storage, offset }: Tensor): Place | null {
  return numel === 0 ? null : { memory: storage.memory, byteOffset: offset * itemSize(dtype) };
}

function isDirect(tensor: Tensor): boolean {
  checkTensor(tensor, "a message between processes");
  const { device, layout } = tensor;
  return deviceNamed(device).hostReadable === true && layout.contiguous;
}

/** Returns the tensor to send: the tensor itself or a copy. */
export function sent(tensor: Tensor): Tensor {
  return isDirect(tensor) ? tensor : noGrad(() => tensor.detach().to(HOST).contiguous());
}

/** The tensor to receive into: the tensor itself, or a copy with the function that copies it back. */
export interface Received {
  readonly tensor: Tensor;
  readonly after: (() => void) | null;
}

/** Copies results to their tensor. */
function bring(result: Tensor, to: Tensor): void {
  noGrad(() => void to.detach().copy_(result.to({ device: to.device })));
}

/** Returns where results are stored. `isRead`: the call also reads the previous contents. */
export function received(tensor: Tensor, isRead: boolean): Received {
  if (isDirect(tensor)) {
    tensor.storage.version++;
    // What a reader has kept while the call was in progress may be older
    return { tensor, after: () => void tensor.storage.version++ };
  }
  const { shape, dtype } = tensor;
  const copy = isRead
    ? noGrad(() => tensor.detach().to(HOST).clone().contiguous())
    : empty(shape, { dtype, ...HOST });
  return { tensor: copy, after: () => bring(copy, tensor) };
}

/** Throws DynError unless the list has this many tensors, all of the shape and type of one. */
export function checkList(list: readonly Tensor[], size: number, like: Tensor): void {
  checkInstances(list, Tensor, "tensors of ranks");
  checkTensor(like, "a message between processes");
  const { shape, dtype } = like;
  if (list.length !== size) {
    throw new DynError(`Expected ${size} tensors, one for each rank, but found ${list.length}`);
  }
  for (const each of list) {
    if (`${each.shape}` === `${shape}` && each.dtype === dtype) continue;
    throw new DynError(`Expected ${dtype} [${shape}] for each rank but found ${each.dtype} [${each.shape}]`);
  }
}

/** Concatenates tensors of one shape. */
export function joined(list: readonly Tensor[]): Tensor {
  return noGrad(() => sent(stack(list.map((each) => each.detach()))));
}

/** Returns memory for tensors of one shape, and a function that copies it to the list. */
export function parts(list: readonly Tensor[], { shape, dtype }: Tensor): Received {
  const tensor = empty([list.length, ...shape], { dtype, ...HOST });
  const after = () => list.forEach((each, k) => bring(tensor.select(0, k), each));
  return { tensor, after };
}
