/**
 * Generates operands that reveal the order of additions: tensors with the same layouts, whose floats use all digits
 * and several magnitudes, so that sums in another order have other bits. Invariant: operands that are not floats are
 * kept: they may be indices.
 */
import { encodeElements } from "../base/bfloat16.ts";
import { hostArray, isFloat, itemSize } from "../base/dtype.ts";
import { writeElements } from "./host.ts";
import { mapTensors, type OpEntry, type TensorArgs, tensorsOf } from "./plan.ts";
import { allocateStorage } from "./storage.ts";
import { Tensor } from "./tensor.ts";

/** Of both signs, or between 0 and 1, as roots, logarithms and probabilities require. */
type Revealing = "signed" | "fractions";

/** Returns whether a call has operands that can reveal the order. */
export const canReveal = (entry: OpEntry, args: TensorArgs): boolean =>
  tensorsOf(entry, args).some(({ layout }) => isFloat(layout.dtype) && layout.numel > 1);

/** The call with operands that reveal the order; each `round` has different ones. */
export function revealingArguments(
  entry: OpEntry,
  args: TensorArgs,
  { kind, round }: { readonly kind: Revealing; readonly round: number },
): TensorArgs {
  let next = Math.imul(round + 1, 0x9e3779b1) | 1;
  // Marsaglia's xorshift
  const word = (): number => {
    next ^= next << 13;
    next ^= next >>> 17;
    next ^= next << 5;
    return next >>> 0;
  };
  const number = (): number => {
    const fraction = (word() * 2 ** 21 + (word() >>> 11) + 0.5) / 2 ** 53;
    return kind === "fractions"
      ? fraction * 2 ** -(word() % 6)
      : (fraction + 0.5) * 2 ** (word() % 6 - 3) * (word() % 2 === 0 ? 1 : -1);
  };
  return mapTensors(entry, args, (tensor) => {
    const { layout } = tensor, { dtype, device, extent, byteLength } = layout;
    if (!isFloat(dtype) || layout.numel === 0) return tensor;
    const elements = dtype === "bfloat16"
      ? new Float32Array(extent)
      : hostArray(dtype, new ArrayBuffer(extent * itemSize(dtype)));
    for (let k = 0; k < extent; k++) elements[k] = number();
    const storage = allocateStorage(device, byteLength, layout);
    writeElements(storage, encodeElements(dtype, elements));
    return new Tensor(storage, layout);
  });
}
