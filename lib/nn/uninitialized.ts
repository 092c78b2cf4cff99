/**
 * Parameters and buffers whose shape is unknown until their layer's first input. Invariant: given elements, one is the
 * same object with the class of a complete one, so that optimizers may be created before.
 */
import { optionsOf } from "../base/checked_input.ts";
import { showAsText } from "../base/console_text.ts";
import { type DType, getDefaultDtype } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import { defaultDevice } from "../tensor/default_device.ts";
import { empty } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { Storage } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import { isUninitialized, UninitializedLayout } from "../tensor/uninitialized.ts";
import { Parameter } from "./parameter.ts";

/** Properties of a parameter or buffer without a shape. */
export interface UninitializedOptions {
  /** Element type; by default the default type. */
  readonly dtype?: DType | undefined;
  /** Device of the elements; default: the default device. */
  readonly device?: DeviceName | undefined;
  /** Whether gradients will be recorded for it; default true. Of parameters only. */
  readonly requiresGrad?: boolean | undefined;
  /** Its name in errors: "the parameter weight of LazyLinear". */
  readonly name?: string | undefined;
}

/**
 * A parameter whose shape is unknown, as `torch.nn.UninitializedParameter`. Its type and device can be read, and its
 * module be moved, copied, saved and given to an optimizer; every other use throws DynError.
 */
export class UninitializedParameter extends Parameter {
  /** Created without elements. */
  constructor(options: UninitializedOptions = {}) {
    optionsOf("UninitializedParameter", options, ["dtype", "device", "requiresGrad", "name"]);
    super(placeholder(options, "an uninitialized parameter"), options.requiresGrad ?? true);
  }

  /** Adopts the storage of another tensor, and becomes a Parameter. */
  override replaceData(other: Tensor): void {
    super.replaceData(other);
    if (!isUninitialized(this)) Object.setPrototypeOf(this, Parameter.prototype);
  }

  /** Gives it a shape and arbitrary elements, as `torch.nn.UninitializedParameter.materialize`. */
  materialize(shape: readonly number[]): void {
    materialize(this, shape);
  }

  /** Returns the placeholder text of a parameter that has no shape yet. */
  override toString(): string {
    return "<UninitializedParameter>";
  }
}

/** A buffer whose shape is unknown, as `torch.nn.UninitializedBuffer`. */
export class UninitializedBuffer extends Tensor {
  /** Created without elements. */
  constructor(options: Omit<UninitializedOptions, "requiresGrad"> = {}) {
    optionsOf("UninitializedBuffer", options, ["dtype", "device", "name"]);
    const { storage, layout } = placeholder(options, "an uninitialized buffer");
    super(storage, layout);
  }

  /** Adopts the storage of another tensor, and becomes a plain tensor. */
  override replaceData(other: Tensor): void {
    super.replaceData(other);
    if (!isUninitialized(this)) Object.setPrototypeOf(this, Tensor.prototype);
  }

  /** Gives it a shape and arbitrary elements, as `torch.nn.UninitializedBuffer.materialize`. */
  materialize(shape: readonly number[]): void {
    materialize(this, shape);
  }

  /** Returns the placeholder text of a buffer that has no shape yet. */
  override toString(): string {
    return "<UninitializedBuffer>";
  }
}

for (const { prototype } of [UninitializedParameter, UninitializedBuffer]) showAsText<Tensor>(prototype);

/** The tensor that files hold: an empty one for one without a shape, which a lazy layer reads as such. */
export function savedForm(tensor: Tensor): Tensor {
  if (!isUninitialized(tensor)) return tensor;
  const stored = empty([0], { dtype: tensor.dtype, device: "cpu" });
  return tensor instanceof Parameter ? new Parameter(stored, tensor.requiresGrad) : stored;
}

function placeholder({ dtype, device, name }: UninitializedOptions, kind: string): Tensor {
  const layout = new UninitializedLayout({
    dtype: dtype ?? getDefaultDtype(),
    device: device ?? defaultDevice(),
    name: name ?? kind,
  });
  return new Tensor(new Storage(layout.device, null), layout);
}

function materialize(tensor: Tensor, shape: readonly number[]): void {
  const { dtype, device } = tensor;
  tensor.replaceData(noGrad(() => empty(shape, { dtype, device })));
}
