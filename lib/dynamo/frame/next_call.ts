/**
 * Obtains values from a function's scope during a real call of it.
 *
 * Invariant: the run behaves as usual; nothing pauses, and no breakpoint remains.
 *
 * A breakpoint is set at the function's first statement. Its condition exposes the value and is false, so V8 continues
 * immediately. All closures of the same code reach it, so the caller must find out whose values they are.
 */
import { defineOwn } from "../../base/own_builtins.ts";
import type { Accessors } from "./cells.ts";
import { GlobalSlot } from "./global_slot.ts";
import { type Inspector, InspectorUnavailable, textField } from "./inspector.ts";

/** The expression to evaluate in a function's calls. */
export interface CallWatch {
  readonly fn: object;
  /** Text of an expression, for variables' accessors, that is valid at the function's first statement. */
  readonly expression: string;
  /** The values, in the order of the calls; filled during the run. */
  readonly values: (readonly Accessors[])[];
}

/** Maximum number of calls inspected in one run; a recursive function would make any number. */
const MOST_CALLS = 64;

/** The function that breakpoint conditions call; undefined while nothing is watched. */
const handOutSlot = new GlobalSlot("dyn.handOut");

/** Open watches, of this run and of those around it. */
const open = new Map<number, CallWatch>();
let nextWatch = 0;

/** Collects the wanted values until the result is called; collects none if the inspector cannot be used. */
export function watchCalls(inspector: Inspector, watch: CallWatch): () => void {
  const id = nextWatch++;
  let release = (): void => {};
  try {
    release = inspector.holdDebugger();
    open.set(id, watch);
    handOutSlot.value = handOut;
    const reply = inspector.post("Debugger.setBreakpointOnFunctionCall", {
      objectId: inspector.idOf(watch.fn),
      condition: `${handOutSlot.text}?.(${id},${watch.expression})`,
    });
    const breakpointId = textField(reply, "breakpointId");
    return () => {
      closeWatch(id);
      inspector.post("Debugger.removeBreakpoint", { breakpointId });
      release();
    };
  } catch (error) {
    closeWatch(id);
    release();
    if (error instanceof InspectorUnavailable) return () => {};
    throw error;
  }
}

function closeWatch(id: number): void {
  open.delete(id);
  if (open.size === 0) handOutSlot.value = undefined;
}

/** The condition of every breakpoint: false, so that nothing pauses. */
function handOut(id: number, value: readonly Accessors[]): false {
  const watch = open.get(id);
  if (watch && watch.values.length < MOST_CALLS) {
    // The program may have added elements that arrays inherit.
    const element = { value, writable: true, enumerable: true, configurable: true };
    defineOwn(watch.values, watch.values.length, element);
  }
  return false;
}
