/**
 * Connects the tensor class with dispatch and indexing, which build on it. Imported for its effect. Invariant:
 * loading it twice changes nothing.
 */
import { installDescriptions } from "./descriptions.ts";
import { bitView } from "./bit_view.ts";
import { INDEXING, setAt, valueAt } from "./indexing.ts";
import { callInplace, callOp, ops } from "./eager.ts";
import { besideElements, withOwnLists } from "../base/inherited_elements.ts";
import { takeNames } from "./method_arguments.ts";
import { refuseData } from "./methods.ts";
import { resize } from "./resize.ts";
import { convertTo } from "./transfer.ts";
import { installTensorRuntime, Tensor } from "./tensor.ts";

installTensorRuntime({
  call: ({ definition, inplace }, given) =>
    inplace ? callInplace(definition, given) : callOp(definition, given),
  at: (tensor, index) => withOwnLists(() => valueAt(INDEXING, tensor, index)),
  set: (tensor, index, value) => withOwnLists(() => setAt(INDEXING, tensor, { index, value })),
  to: (tensor, given) => convertTo(ops, tensor, given),
  where: (condition, input, other) => ops.where(condition, input, other),
  contiguous: (tensor) => ops.contiguous(tensor),
  resize,
  bitView,
  // As methods are called: sizes may be spread, and trailing undefined ones count as absent
  view: (tensor, size) => besideElements(() => Reflect.apply(ops.view, ops, [tensor, ...size])),
});
installDescriptions(Tensor.prototype);
takeNames(Tensor.prototype);
// After all others are there
refuseData(Tensor.prototype);
