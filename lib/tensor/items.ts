/** Reads the elements of several one-element tensors with one wait for the device. */
import { withRuntimeBuiltins } from "../base/own_builtins.ts";
import { type Element, firstElements } from "./host.ts";
import type { Tensor } from "./tensor.ts";

/** The results of `item()` of these tensors. */
export function itemsOf(tensors: readonly Tensor[]): Element[] {
  // A tensor that does not have one element is refused by the method
  const isPlain = tensors.length > 1 && tensors.every(({ layout }) => layout.numel === 1);
  return isPlain
    ? withRuntimeBuiltins(() => firstElements(tensors))
    : tensors.map((tensor) => tensor.item<Element>());
}
