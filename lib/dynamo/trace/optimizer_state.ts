/**
 * Creates optimizer states during a trace.
 */
import { invariant } from "../../base/errors.ts";
import { sameShape } from "../../ops/shapes.ts";
import { PerParameter } from "../../optim/per_parameter.ts";
import { noteBeginning } from "../disk_cache/noted_reads.ts";
import { setGradEnabled } from "../../tensor/modes.ts";
import { isCallable, UNDEFINED, type Value } from "../variables/value.ts";
import { type BuiltinModel, type Interpreter, PUSHED } from "./interpreter.ts";

/** An optimizer, a parameter and a group of options, if the trace has left them unchanged. */
function realsOf(m: Interpreter, self: Value, [param, group]: readonly Value[]) {
  if (self.kind !== "object" || !(self.real instanceof PerParameter) || self.slots.has("state")) return null;
  if (param?.kind !== "tensor" || !param.real || group?.kind !== "object" || !group.real) return null;
  const { real } = param, { meta } = param;
  if (real.dtype !== meta.dtype || real.device !== meta.device || !sameShape(real.shape, meta.shape)) {
    return null;
  }
  // Code that has inspected the states would not see the new one
  if (group.slots.size > 0 || m.wrapper.find(self.real.state)) return null;
  return { optimizer: self.real, param: real, group: group.real };
}

/** Creates a state for the traced call; by the program's own code if it has changed any dependency. */
export const prepareState: BuiltinModel = (m, request) => {
  m.memory.refuse();
  const reals = realsOf(m, request.self, request.args);
  if (!reals) {
    const callee = m.wrapper.known(PerParameter.prototype.beginState, "PerParameter.prototype.beginState");
    invariant(isCallable(callee), "Expected a function");
    m.call({ ...request, callee });
    return PUSHED;
  }
  const { optimizer, param, group } = reals;
  noteBeginning(reals);
  if (optimizer.state.has(param)) {
    m.earlyStates.reach(optimizer.state.get(param));
    return UNDEFINED;
  }
  setGradEnabled(false, () => optimizer.prepare(param, group));
  m.earlyStates.add(optimizer.state, param);
  return UNDEFINED;
};
