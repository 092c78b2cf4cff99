/**
 * Modes that meet the calls of a graph's ops, and of its backward pass, one by one: a call is met whole if it has a
 * gradient of its own, otherwise in parts. Invariant: a run in double precision meets the same calls in the same order.
 */
import { callParts, makeCall } from "../../tensor/eager.ts";
import { ambient, type ResolvedCall } from "../../tensor/modes.ts";
import type { OpResult } from "../../tensor/op_call.ts";
import { StackedMode } from "../../tensor/stacked_mode.ts";
import { isTensor, modes, recordsGrad, type Tensor } from "../../tensor/tensor.ts";

/** Handles a call, which `run` makes. */
export type Meeting = (call: ResolvedCall<Tensor>, run: () => OpResult) => OpResult;

/** Runs `body`; the meeting handles its calls. */
export function meetingCalls<R>(meeting: Meeting, body: () => R): R {
  return modes.with(new MeetingMode(meeting), body);
}

class MeetingMode extends StackedMode {
  constructor(readonly meeting: Meeting) {
    super();
  }

  override call(call: ResolvedCall<Tensor>): OpResult {
    const { definition: { implementation, gradient }, args, inplace } = call;
    if (!inplace && implementation.kind === "composite") {
      const records = ambient.gradEnabled && recordsGrad(Object.values(args).flat().filter(isTensor));
      if (!records || gradient.kind === "composite") {
        const parts = modes.with(this, () => callParts(call));
        if (parts !== null) return parts;
      }
    }
    return this.beneath(() => this.meeting(call, () => makeCall(call)));
  }
}
