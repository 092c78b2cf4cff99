/** Parameters as one vector and back, as torch.nn.utils.parameters_to_vector and vector_to_parameters. */
import { refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { cat } from "../../tensor/generated_functions.ts";
import { checkedTensors, checkTensor } from "../../tensor/checked.ts";
import type { Tensor } from "../../tensor/tensor.ts";

/** Concatenates all elements of parameters in order; gradients reach the parameters. */
export function parametersToVector(parameters: Iterable<Tensor>): Tensor {
  if (arguments.length > 1) refuseSurplus("parametersToVector", 1, arguments);
  return cat(checkedTensors(parameters, "parametersToVector").map((each) => each.reshape(-1)), 0);
}

/** Makes parameters consecutive views of a vector. Throws DynError for another size. */
export function vectorToParameters(vector: Tensor, parameters: Iterable<Tensor>): void {
  if (arguments.length > 2) refuseSurplus("vectorToParameters", 2, arguments);
  const list = checkedTensors(parameters, "vectorToParameters"),
    total = list.reduce((sum, each) => sum + each.numel(), 0);
  checkTensor(vector, "vectorToParameters");
  if (vector.ndim !== 1 || vector.numel() !== total) {
    throw new DynError(`Expected a vector of ${total} elements but found shape [${vector.shape}]`);
  }
  let start = 0;
  for (const each of list) {
    const count = each.numel();
    each.replaceData(vector.detach().narrow(0, start, count).reshape([...each.shape]));
    start += count;
  }
}
