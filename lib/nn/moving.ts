/**
 * Moves of a module's parameters and buffers, with their gradients, to another element type or device. Invariant: each
 * stays the same object, so optimizers keep working.
 */
import { type DType, isDifferentiable, isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { emptyLike } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { deviceNamed } from "../tensor/storage.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { ConversionOptions } from "../tensor/tensor_options.ts";
import { placeOf } from "../tensor/transfer.ts";
import { convertUninitialized } from "../tensor/uninitialized.ts";

/** A module, as the owner of tensors. */
interface Holder {
  parameters(recurse?: boolean): Iterable<Tensor>;
  buffers(recurse?: boolean): Iterable<Tensor>;
}

/** The device of new parameters and buffers, and whether descendants get them, too. */
interface Allocation {
  readonly device: string;
  readonly recurse?: boolean;
}

/**
 * Moves a module as the arguments of `to` say: the type is that of floats only. Throws DynError for types without
 * gradients.
 */
export function moveTo<M extends Holder>(module: M, given: readonly unknown[]): M {
  const { dtype, device, copy } = placeOf(given);
  if (dtype != null && !isDifferentiable(dtype)) {
    throw new DynError(`Expected a floating or complex type for a module but found ${dtype}`);
  }
  return move(module, (tensor) => isFloat(tensor.dtype) ? { dtype, device, copy } : { device, copy });
}

/**
 * Allocates parameters and buffers of a module, by default also those of its descendants, on a device, with arbitrary
 * elements.
 */
export function allocate<M extends Holder>(module: M, { device, recurse = true }: Allocation): M {
  noGrad(() => {
    for (const tensor of [...module.parameters(recurse), ...module.buffers(recurse)]) {
      if (convertUninitialized(tensor, { device: deviceNamed(device).name })) continue;
      tensor.replaceData(emptyLike(tensor.detach(), { device }));
    }
  });
  return module;
}

/** Converts all parameters and buffers of a module, including integer ones. */
export function convertAll<M extends Holder>(module: M, dtype: DType): M {
  return move(module, () => ({ dtype }));
}

function move<M extends Holder>(module: M, placeFor: (tensor: Tensor) => ConversionOptions): M {
  noGrad(() => {
    for (const tensor of [...module.parameters(), ...module.buffers()]) {
      const place = placeFor(tensor);
      if (convertUninitialized(tensor, place)) continue;
      tensor.replaceData(tensor.detach().to(place));
      if (tensor.grad) tensor.grad = tensor.grad.to(place);
    }
  });
  return module;
}
