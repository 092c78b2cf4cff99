/**
 * Tensors whose shape is not known yet: parameters and buffers of lazy layers before their first input. Invariant:
 * their type and device can be read and changed; whatever needs a shape or elements throws an error that names the
 * tensor and the remedy, since to act as an empty tensor would give norms and counts of 0.
 */
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Layout } from "./layout.ts";
import { metadataChanges } from "./metadata_version.ts";
import { Storage } from "./storage.ts";
import type { Tensor } from "./tensor.ts";
import type { ConversionOptions } from "./tensor_options.ts";

/** Properties of a tensor without a shape. */
export interface Uninitialized {
  readonly dtype: DType;
  readonly device: DeviceName;
  /** Its name in errors: "the parameter weight of LazyLinear". */
  readonly name: string;
}

/** A layout that has a type and a device, and throws DynError for everything else. */
export class UninitializedLayout implements Layout {
  readonly dtype: DType;
  readonly device: DeviceName;
  readonly #name: string;

  /** Takes what is known. */
  constructor({ dtype, device, name }: Uninitialized) {
    this.dtype = dtype;
    this.device = device;
    this.#name = name;
  }

  /** The same with another type or device. */
  converted({ dtype, device }: ConversionOptions): UninitializedLayout {
    return new UninitializedLayout({
      dtype: dtype ?? this.dtype,
      device: device ?? this.device,
      name: this.#name,
    });
  }

  get id(): number {
    return this.refuse();
  }

  get shape(): readonly number[] {
    return this.refuse();
  }

  get strides(): readonly number[] {
    return this.refuse();
  }

  get numel(): number {
    return this.refuse();
  }

  get contiguous(): boolean {
    return this.refuse();
  }

  get extent(): number {
    return this.refuse();
  }

  get byteLength(): number {
    return this.refuse();
  }

  get meta(): Layout["meta"] {
    return this.refuse();
  }

  /** Throws the error for every use. */
  refuse(): never {
    throw new DynError(
      `Expected a tensor with a shape but found ${this.#name}, which has none before the first input; ` +
        "run a batch through the module first, or load its state",
    );
  }
}

/** Returns whether a tensor has no shape yet. */
export function isUninitialized(tensor: Tensor): tensor is Tensor & { layout: UninitializedLayout } {
  return tensor.layout instanceof UninitializedLayout;
}

/** Changes the type and the device that a tensor without a shape will have; returns whether it was one. */
export function convertUninitialized(tensor: Tensor, place: ConversionOptions): boolean {
  if (!isUninitialized(tensor)) return false;
  tensor.layout = tensor.layout.converted(place);
  tensor.storage = new Storage(tensor.device, null);
  metadataChanges(tensor);
  return true;
}
