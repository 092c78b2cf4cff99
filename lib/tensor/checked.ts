/** Checks of values that programs without types pass as tensors. */
import { isIterable, refuseValue } from "../base/checked_input.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Throws DynError unless a value is a tensor; `owner` is the function that it was passed to. */
export function checkTensor(value: unknown, owner: string): asserts value is Tensor {
  if (!isTensor(value)) refuseValue(`a tensor for ${owner}`, value);
}

/** The tensors of one, or of a list or other iterable. Throws DynError for anything else. */
export function checkedTensors(value: unknown, owner: string): Tensor[] {
  if (isTensor(value)) return [value];
  const found: unknown[] = isIterable(value) ? [...value] : [value],
    wrong = found.findIndex((each) => !isTensor(each));
  if (wrong < 0) return found.filter(isTensor);
  refuseValue(`tensors for ${owner}${isIterable(value) ? ` at ${wrong}` : ""}`, found[wrong]);
}
