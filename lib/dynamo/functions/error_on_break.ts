/**
 * Regions of a program in which a graph break is an error. Invariant: the innermost region applies, also in code that
 * resumes after a break; `fullgraph` overrides all of them.
 */
import { checkFunction, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { scoped } from "../../base/scoped.ts";
import type { BuiltinModel, Frame } from "../trace/interpreter.ts";
import { NO_RULES } from "./frame_rules.ts";
import { PUSHED } from "../trace/interpreter.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, UNDEFINED } from "../variables/value.ts";

let inForce = false;

/**
 * Runs `body` with graph breaks as errors (`Unsupported`), or no longer as errors, as
 * `torch._dynamo.error_on_graph_break`: inside a compiled function it applies to the calls of `body`, around one to
 * everything compiled until `body` ends or its promise settles. Regions nest, but cannot disable `fullgraph: true`.
 * Unlike with `fullgraph`, breaks outside the region are allowed, so that there may be several graphs.
 */
export function errorOnGraphBreak<R>(enabled: boolean, body: () => R): R {
  if (arguments.length > 2) refuseSurplus("errorOnGraphBreak", 2, arguments);
  if (typeof enabled !== "boolean") {
    throw new DynError(`Expected a boolean, whether breaks are errors, but found ${Deno.inspect(enabled)}`);
  }
  checkFunction(body, "to run");
  const former = inForce;
  inForce = enabled;
  return scoped(body, () => inForce = former);
}

/** Returns whether a break of these frames, innermost last, is an error. */
export function isErrorAt(frames: readonly Frame[]): boolean {
  return frames.findLast(({ rules }) => rules.errorOnBreak !== null)?.rules.errorOnBreak ?? inForce;
}

/** Traces the body of a region. */
export const errorOnGraphBreakModel: BuiltinModel = (m, request) => {
  const [enabled, body] = request.args;
  if (enabled?.kind !== "constant" || typeof enabled.value !== "boolean" || !body || !isCallable(body)) {
    return breakGraph("throws", "a region without a flag or a body");
  }
  const rules = { ...NO_RULES, errorOnBreak: enabled.value };
  m.callMarked({ ...request, callee: body, self: UNDEFINED, args: [] }, (frame) => frame.rules = rules);
  return PUSHED;
};
