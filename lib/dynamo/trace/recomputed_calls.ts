/** Traces calls of checkpoints. Invariant: the graph ends at a call whose function has effects. */
import { isCheckpointOption } from "../../autograd/checkpoint.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, UNDEFINED, type Value } from "../variables/value.ts";
import { type BuiltinModel, type CallRequest, type Interpreter, PUSHED } from "./interpreter.ts";
import { enumerableKeys, isPlain } from "./object_keys.ts";
import { endAt } from "./recomputations.ts";
import { stateOf } from "./trace_state.ts";

/**
 * Calls a function whose intermediates are recomputed in the backward pass: nodes of the graph are marked accordingly.
 */
export const callCheckpoint: BuiltinModel = (m, request) => {
  const [callee = UNDEFINED, ...given] = request.args, last = given.at(-1);
  if (!isCallable(callee)) return breakGraph("builtin", "a checkpoint of a value that is not a function");
  const names = last?.kind === "object" && isPlain(m, last) ? enumerableKeys(m, last) : [];
  const args = names.length > 0 && names.every(isCheckpointOption) ? given.slice(0, -1) : given;
  if (m.gradEnabled) callRecomputed(m, { ...request, callee, args });
  else m.call({ ...request, callee, args });
  return PUSHED;
};

function callRecomputed(m: Interpreter, request: CallRequest): void {
  const { completion } = request, step = m.steps - 1, state = stateOf(m, m.callers);
  const then = (value: Value) => {
    // Writes to tensors end the graph where they happen
    const changed = state.changed({ backwards: true });
    if (changed !== null) endAt(step, `a function that a checkpoint runs again has an effect: ${changed}`);
    m.complete(completion, value);
  };
  m.callMarked(
    { ...request, completion: { kind: "inside", then } },
    (frame) => frame.recomputed = m.output.recomputations.count++,
  );
}
