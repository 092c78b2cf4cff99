/**
 * Traces the creation of parameters. Invariant: the parameter is the leaf that the program sees afterwards, on the tape
 * like any other; it shares memory with the tensor from which it was created.
 */
import { isDifferentiable } from "../../base/dtype.ts";
import { isContiguous } from "../../graph/meta.ts";
import { Parameter } from "../../nn/parameter.ts";
import { hintOf, isUnbacked } from "../../sym/decide.ts";
import { breakGraph } from "../break_reasons.ts";
import { makeParameter } from "../codegen/runtime.ts";
import { TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { ConstructorModel } from "./calls.ts";
import type { Interpreter } from "./interpreter.ts";
import { callOp, writeInto } from "./tensor_ops.ts";

/** Models `new Parameter(data, requiresGrad)`. */
export const constructParameter: ConstructorModel = (m, { args: [data, wanted = UNDEFINED] }, prototype) => {
  if (prototype?.real !== Parameter.prototype) return breakGraph("constructor", "a subclass of Parameter");
  if (data?.kind !== "tensor") return breakGraph("throws", "a parameter of a value that is not a tensor");
  const requiresGrad = isWanted(m, wanted), { meta } = data, { output } = m;
  if (requiresGrad && !isDifferentiable(meta.dtype)) return breakGraph("throws", "a parameter of integers");
  refuseShared(m, data);
  if ([...output.symbolsIn(meta.shape)].some(isUnbacked)) {
    return breakGraph("gradientState", "a parameter whose size only the graph knows");
  }
  const example = makeParameter(meta.shape.map(hintOf), { ...meta, requiresGrad });
  const made = new TensorValue(meta, requiresGrad, null, null, null, { example });
  const node = output.parameterNode(made), former = m.gradEnabled;
  m.gradEnabled = false;
  // Fresh elements need not be copied
  if (data.node && data.node.target !== "empty") writeInto(m, made, data);
  const shown = callOp(m, m.opNamed("detach"), [made], true);
  m.gradEnabled = former;
  made.written = false;
  if (shown.kind === "tensor" && shown.node && data.node) {
    output.tensors.delete(data.node);
    output.tensors.set(shown.node, data);
    data.node = shown.node;
  }
  output.tensors.set(node, made);
  return made;
};

/** Refuses data that shares memory with anything but the new parameter. */
function refuseShared(m: Interpreter, { real, node, meta, requiresGrad }: TensorValue): void {
  if (real || !node || requiresGrad || m.batch !== null || m.regionDepths.length > 0) {
    breakGraph("gradientState", "a parameter shares memory with a tensor that has a history of its own");
  }
  const isWhole = isContiguous(meta) && meta.offset === 0;
  if (!isWhole || m.output.history.aliases(node)?.size !== 1) {
    breakGraph("gradientState", "a parameter shares memory with another tensor");
  }
}

function isWanted(m: Interpreter, given: Value): boolean {
  const value = given.kind === "object" ? m.plainProperty(given, "requiresGrad") ?? UNDEFINED : given;
  if (value.kind !== "constant") return breakGraph("symbolicNumber", "whether a parameter requires grad");
  return value.value === undefined || value.value === null ? true : Boolean(value.value);
}
