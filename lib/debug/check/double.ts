/**
 * Runs graphs in double precision, which decides whether an answer is wrong or merely rounded: every float32 along the
 * way becomes a float64 on the CPU. Invariant: random ops draw the same numbers as in the program's own precision.
 */
import {
  type DType,
  getDefaultDtype,
  isComplex,
  isDType,
  isFloat,
  setDefaultDtype,
} from "../../base/dtype.ts";
import { entryOf, mapTensors, type TensorArgs } from "../../tensor/plan.ts";
import { callResolved, callResolvedInplace, ops } from "../../tensor/eager.ts";
import { ambient, type DispatchMode, type ResolvedCall } from "../../tensor/modes.ts";
import { isTensor, modes, recordsGrad, type Tensor } from "../../tensor/tensor.ts";

/** Runs `body` in double precision. */
export function inDouble<R>(body: () => R): R {
  const standard = getDefaultDtype();
  setDefaultDtype("float64");
  try {
    return modes.with(new DoubleMode(standard), body);
  } finally {
    setDefaultDtype(standard);
  }
}

/** A type in double precision. */
const widened = (dtype: DType): DType => isComplex(dtype) ? "complex128" : isFloat(dtype) ? "float64" : dtype;

/** Receives every call of an op. */
class DoubleMode implements DispatchMode<Tensor> {
  constructor(readonly standard: ReturnType<typeof getDefaultDtype>) {}

  call({ definition, args, inplace }: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const { implementation, gradient } = definition;
    if (implementation.kind === "random") return this.#draw({ definition, args, inplace });
    const given: Record<string, TensorArgs[string]> = { ...args };
    for (const [name, { kind }] of Object.entries(definition.params)) {
      const value = given[name];
      if (kind === "dtype" && isDType(value)) given[name] = widened(value);
      if (kind === "device") given[name] = "cpu";
    }
    if (inplace) return callResolvedInplace(definition, given);
    const tensors = Object.values(given).flat().filter(isTensor);
    const records = ambient.gradEnabled && recordsGrad(tensors);
    if (implementation.kind === "composite" && (!records || gradient.kind === "composite")) {
      return modes.with(this, () => implementation.compose(ops, given));
    }
    return callResolved(definition, given);
  }

  /** Returns the elements of the call in single precision, as doubles. */
  #draw({ definition, args, inplace }: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const single = mapTensors(
      entryOf(definition),
      Object.hasOwn(definition.params, "device") ? { ...args, device: "cpu" } : args,
      (tensor) => tensor.dtype === "float64" && !inplace ? ops.to(tensor, this.standard) : tensor,
    );
    setDefaultDtype(this.standard);
    try {
      if (inplace) return callResolvedInplace(definition, args);
      const drawn = callResolved(definition, single);
      const wide = (tensor: Tensor) => ops.to(tensor, widened(tensor.dtype));
      return isTensor(drawn) ? wide(drawn) : drawn.map(wide);
    } finally {
      setDefaultDtype("float64");
    }
  }
}
