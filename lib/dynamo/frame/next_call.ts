/**
 * Obtains values from a function's scope during an actual call.
 *
 * Invariant: the run behaves as usual; nothing pauses, and no breakpoint remains.
 *
 * A breakpoint is set at the function's first statement. Its condition exposes the value and is false, so V8 continues
 * immediately. All closures of the same code reach it, so the caller must determine which closure the values belong to.
 */
import { ownMap, sizeOfMap } from "../../base/collections.ts";
import { defineOwn } from "../../base/isolated_objects.ts";
import { preferringOwnBuiltins } from "../../base/own_builtins.ts";
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

/** Maximum number of calls inspected in one run: a breakpoint takes a hundred times as long as a call. */
const MOST_CALLS = 64;

/** The function that breakpoint conditions call; undefined while nothing is watched. */
const handOutSlot = new GlobalSlot("dyn.handOut");

/** Open watches, of this run and of enclosing ones, and functions that remove their breakpoints. */
const open = ownMap<number, { readonly watch: CallWatch; readonly cut: () => void }>();
let nextWatch = 0;

/** Collects the values until the returned function is called; collects none if the inspector cannot be used. */
export function watchCalls(inspector: Inspector, watch: CallWatch): () => void {
  const id = nextWatch++;
  let release = (): void => {};
  try {
    release = inspector.holdDebugger();
    handOutSlot.value = handOut;
    const reply = inspector.post("Debugger.setBreakpointOnFunctionCall", {
      objectId: inspector.idOf(watch.fn),
      condition: `${handOutSlot.text}?.(${id},${watch.expression})`,
    });
    const breakpointId = textField(reply, "breakpointId");
    const cut = () => inspector.end("Debugger.removeBreakpoint", { breakpointId });
    open.set(id, { watch, cut });
    return () => {
      closeWatch(id);
      if (watch.values.length < MOST_CALLS) cut();
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
  if (sizeOfMap(open) === 0) handOutSlot.value = undefined;
}

/** The condition of every breakpoint: false, so that nothing pauses. */
function handOut(id: number, value: readonly Accessors[]): false {
  const found = open.get(id);
  if (found) {
    const { watch: { values }, cut } = found;
    // The program may have added elements that arrays inherit.
    const element = { value, writable: true, enumerable: true, configurable: true };
    defineOwn(values, values.length, element);
    if (values.length === MOST_CALLS) preferringOwnBuiltins(cut);
  }
  return false;
}
