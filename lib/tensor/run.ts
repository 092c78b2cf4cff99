/**
 * Runs plans over tensors. Invariant: one-element tensors may be on any device; all others must be on the results'
 * device.
 */
import { bufferOf } from "../base/memory_getters.ts";
import { DynError } from "../base/errors.ts";
import { append } from "../base/inherited_elements.ts";
import type { Memory } from "../loops/device.ts";
import { launch } from "../loops/launch.ts";
import { readStored, writeElements } from "./host.ts";
import { contiguousLayout } from "./layout.ts";
import { byteOffsetOf, type Plan, type TensorArgs } from "./plan.ts";
import { defaultGenerator } from "./random.ts";
import { allocateStorage, deviceNamed } from "./storage.ts";
import { Tensor } from "./tensor.ts";

/** The tensors and numbers that a plan runs on. */
interface PlanRun {
  /** The tensors of the call, in order. */
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
  /** The call's arguments, for numbers that the program loads. */
  readonly args: TensorArgs;
}

/** Runs a plan into fresh memory; `isZero`: whether it writes only zeros, which fresh memory may already contain. */
export function runInto(
  plan: Plan,
  given: Omit<PlanRun, "outputs">,
  isZero: boolean = false,
): readonly Tensor[] {
  const outputs: Tensor[] = [];
  for (const layout of plan.results) {
    append(outputs, new Tensor(allocateStorage(layout.device, layout.byteLength, layout), layout));
  }
  const isDone = isZero &&
    outputs.every(({ layout, storage }) => deviceNamed(layout.device).isClear?.(storage.memory));
  if (!isDone) runPlan(plan, { ...given, outputs });
  return outputs;
}

/** Runs a plan's program over tensors. */
export function runPlan(plan: Plan, { inputs, outputs, args }: PlanRun): void {
  const { program } = plan;
  if (plan.draws && !plan.reads.some(isKey)) defaultGenerator.next();
  if (program === null) {
    for (const { storage } of inputs) storage.requireElements();
    return;
  }
  const device = outputs[0]?.layout.device ?? "cpu";
  const memories: Memory[] = [], byteOffsets: number[] = [];
  let keys: Memory | undefined, numbers: Memory | undefined;
  for (const place of plan.reads) {
    const tensor = inputs[place];
    if (tensor === undefined) {
      if (place < -2) append(memories, numbers ??= writeNumbers(plan, device, args));
      else append(memories, keys ??= writeKeys(device));
      append(byteOffsets, place < -2 ? 8 * (-3 - place) : place === -1 ? 0 : 4);
      continue;
    }
    const here = tensor.layout.device === device ? tensor : moveScalar(tensor, device);
    append(memories, here.storage.memory);
    append(byteOffsets, byteOffsetOf(here));
  }
  const targets: Memory[] = [];
  for (const tensor of outputs) {
    append(targets, tensor.storage.memory);
    append(byteOffsets, byteOffsetOf(tensor));
  }
  launch(program, device, { inputs: memories, outputs: targets, byteOffsets, sizes: plan.sizes });
  if (keys) deviceNamed(device).free(keys);
  if (numbers) deviceNamed(device).free(numbers);
}

/** Returns whether a kernel's input is a word of the random keys. */
const isKey = (place: number): boolean => place === -1 || place === -2;

/** The loaded numbers of a call, eight bytes each. */
function writeNumbers(plan: Plan, device: string, args: TensorArgs): Memory {
  const bytes = new Uint8Array(8 * plan.numbers.length), view = new DataView(bufferOf(bytes));
  plan.numbers.forEach(({ param, dtype }, k) => {
    const value = Number(args[param]);
    if (dtype === "int32") view.setInt32(8 * k, value, true);
    else if (dtype === "float64") view.setFloat64(8 * k, value, true);
    else view.setFloat32(8 * k, value, true);
  });
  const memory = deviceNamed(device).allocate(bytes.length);
  deviceNamed(device).write(memory, 0, bytes);
  return memory;
}

function writeKeys(device: string): Memory {
  const memory = deviceNamed(device).allocate(8);
  const words = Int32Array.from(defaultGenerator.next());
  deviceNamed(device).write(memory, 0, new Uint8Array(bufferOf(words)));
  return memory;
}

/** Copies a one-element tensor, which may be used on any device. */
function moveScalar(tensor: Tensor, device: string): Tensor {
  if (tensor.layout.numel !== 1 || tensor.ndim > 0) {
    throw new DynError(`Expected all tensors on one device but found ${tensor.device} and ${device}`);
  }
  return copyToDevice(tensor, device);
}

/** A row-major copy on a device. */
function copyToDevice(tensor: Tensor, device: string): Tensor {
  const layout = contiguousLayout(tensor.shape, tensor.dtype, device);
  const storage = allocateStorage(device, layout.byteLength, layout);
  writeElements(storage, readStored(tensor));
  return new Tensor(storage, layout);
}
