/** Checks of values that programs without types pass as tensors. */
import { DynError } from "../base/errors.ts";
import { oneLine } from "../base/shown.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Throws DynError unless a value is a tensor; `owner` is the function that it was passed to. */
export function checkTensor(value: unknown, owner: string): asserts value is Tensor {
  if (!isTensor(value)) throw new DynError(`Expected a tensor for ${owner} but found ${oneLine(value)}`);
}

/** The tensors of one, or of a list or other iterable. Throws DynError for anything else. */
export function checkedTensors(value: Tensor | Iterable<Tensor>, owner: string): Tensor[] {
  if (isTensor(value)) return [value];
  const isIterable = typeof value === "object" && value !== null && Symbol.iterator in value;
  const found: unknown[] = isIterable ? [...value] : [value],
    wrong = found.findIndex((each) => !isTensor(each));
  if (wrong < 0) return found.filter(isTensor);
  const place = isIterable ? ` at ${wrong}` : "";
  throw new DynError(`Expected tensors for ${owner} but found ${oneLine(found[wrong])}${place}`);
}
