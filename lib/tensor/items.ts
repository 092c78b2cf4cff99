/** Reads the elements of several one-element tensors with one wait for the device. */
import { asProgram, withRuntimeBuiltins } from "../base/own_builtins.ts";
import { type Element, firstElements } from "./host.ts";
import type { Tensor } from "./tensor.ts";

/** The results of `item()` of these tensors. */
export function itemsOf(tensors: readonly Tensor[]): Element[] {
  return withRuntimeBuiltins(() => {
    // A tensor that does not have one element is refused by the method
    const isPlain = tensors.length > 1 && tensors.every(({ layout }) => layout.numel === 1);
    return isPlain
      ? firstElements(tensors)
      : tensors.map((tensor) => asProgram(() => tensor.item<Element>()));
  });
}
