/**
 * Conditions of gradients of the program's own: they are traced with the call and computed by a later pass. Invariant: a
 * pass that would use other functions or defaults of the program than the graph does throws instead.
 */
import { getDefaultDtype } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { apply, programDescriptor } from "../../base/own_builtins.ts";
import { Node, upcomingSequence } from "../../autograd/node.ts";
import { defaultDevice } from "../../tensor/default_device.ts";
import { isTensor } from "../../tensor/tensor.ts";
import type { LaterReads } from "./guard.ts";

/** The object or getter that an object has or inherits under a key, without running code of the program. */
export function memberOf(object: object, key: string | symbol): object | undefined {
  for (let holder: object | null = object; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    const found = programDescriptor(holder, key);
    if (!found) continue;
    const member: unknown = found.get ?? found.value;
    return typeof member === "function" || (typeof member === "object" && member !== null)
      ? member
      : undefined;
  }
  return undefined;
}

/** Returns a graph whose calls give their nodes on the tape the condition that what their gradients have read is unchanged. */
export function withUnchanged(run: object, later: LaterReads): object {
  const { members, defaults } = later;
  if ((members.length === 0 && !defaults) || typeof run !== "function") return run;
  return (...inputs: readonly unknown[]): unknown => {
    const first = upcomingSequence(), dtype = getDefaultDtype(), device = defaultDevice();
    const found: unknown = apply(run, undefined, inputs);
    const check = () => {
      const other = members.find(({ prototype, key, method }) => memberOf(prototype, key) !== method);
      if (other) throw changed(`the ${String(other.key)} that it used when it was traced`);
      if (!defaults) return;
      if (getDefaultDtype() !== dtype) throw changed(`the default type ${dtype}`);
      if (defaultDevice() !== device) throw changed(`the default device ${device}`);
    };
    // In place, a call may have made the history of an input
    for (const each of [inputs, found].flat()) {
      const gradFn = isTensor(each) ? each.gradFn : null;
      if (gradFn instanceof Node && gradFn.sequence >= first) gradFn.precondition = check;
    }
    return found;
  };
}

function changed(what: string): DynError {
  return new DynError(
    `Expected the backward of a Function in a compiled call to find ${what} but found another: ` +
      "make the change before the call, or exclude the call with compiler.disable",
  );
}
