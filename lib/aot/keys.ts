/**
 * Keys of the random ops of one compiled call, drawn in the order of eager execution: an int32 tensor of two words
 * per op. Invariant: a compiled call advances the generator as the ops themselves would.
 */
import { defaultGenerator } from "../tensor/random.ts";
import { writeElements } from "../tensor/host.ts";
import { contiguousLayout } from "../tensor/layout.ts";
import { allocateStorage } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";

/** Draws keys for `count` random ops. */
export function drawKeys(count: number, device: string): Tensor {
  const words = new Int32Array(2 * count);
  for (let at = 0; at < count; at++) words.set(defaultGenerator.next(), 2 * at);
  const storage = allocateStorage(device, words.byteLength);
  writeElements(storage, words);
  return new Tensor(storage, contiguousLayout([words.length], "int32", device));
}
