/**
 * Elements that arrays inherit: reads, writes and lists of elements would use them. Invariant: arrays that are traced
 * inherit none, also in the calls that an entry serves.
 */
import { programKeys } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";
import type { ObjectValue } from "../variables/value.ts";
import { indexOfKey } from "./element_keys.ts";
import type { Interpreter } from "./interpreter.ts";

const isIndex = (key: string | symbol | undefined): boolean => key !== undefined && indexOfKey(key) !== null;

/** Ends the graph if an array inherits elements; Object.prototype and Array.prototype are checked at each call. */
export function refuseInheritedElements(m: Interpreter, array: ObjectValue): void {
  for (let below = array, holder = array.prototype; holder; below = holder, holder = holder.prototype) {
    const { real, source, slots, exotic } = holder;
    if (exotic.kind === "array" && real !== Array.prototype) return breakGraph("opaqueObject", INHERITS);
    if (slots.size > 0 && [...slots].some(([key, slot]) => slot.kind !== "deleted" && isIndex(key))) {
      return breakGraph("opaqueObject", INHERITS);
    }
    const isBuiltin = real !== null && BUILTIN_OBJECTS.has(real);
    if (!isBuiltin || below !== array) m.wrapper.relyOnPrototype(below);
    if (!real || isBuiltin) continue;
    const keys = programKeys(real);
    // Elements come first
    if (isIndex(keys[0])) return breakGraph("opaqueObject", INHERITS);
    if (source) {
      const names = keys.filter((key) => typeof key === "string"),
        symbols = keys.filter((key) => typeof key === "symbol");
      m.output.guard({ kind: "keys", source, which: "all", keys: names, symbols });
    }
  }
}

const INHERITS = "an array that inherits elements";
