/**
 * Models of builtins that descend into nested arrays: join and flat. Invariant: an array that contains itself is left
 * to the engine.
 */
import { breakGraph } from "../../break_reasons.ts";
import { constant, type Element, HOLE, type ObjectValue, type Value } from "../../variables/value.ts";
import { toPrimitive } from "../coercion.ts";
import { joinedText, type PrimitiveValue } from "../texts.ts";
import { inTurn } from "../in_turn.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { allElements, settledElements } from "../contents.ts";

/** Refuses an array that contains itself, directly or indirectly. */
function refuseCycle(
  m: Interpreter,
  array: ObjectValue,
  around: ReadonlySet<ObjectValue> = new Set(),
  known: Set<ObjectValue> = new Set(),
): void {
  if (around.has(array)) breakGraph("builtin", "an array that contains itself");
  if (known.has(array)) return;
  known.add(array);
  const inside = new Set(around).add(array);
  for (const element of settledElements(m, array)) {
    if (typeof element === "symbol" || element.kind !== "object" || element.exotic.kind !== "array") continue;
    refuseCycle(m, element, inside, known);
  }
}

/** Array.prototype.flat */
export function flattened(m: Interpreter, array: ObjectValue, depth: number): Element[] {
  const result: Element[] = [];
  refuseCycle(m, array);
  const flatten = (from: ObjectValue, left: number): void => {
    for (const element of settledElements(m, from)) {
      if (element === HOLE) continue;
      const inner = typeof element !== "symbol" && element.kind === "object" ? element : null;
      if (inner) m.wrapper.relyOnPrototype(inner);
      if (inner?.exotic.kind === "array" && left > 0) flatten(inner, left - 1);
      else result.push(element);
    }
  };
  flatten(array, depth);
  return result;
}

/** The texts of elements joined; elements may be objects with code of their own. */
export function join(
  m: Interpreter,
  array: ObjectValue,
  { separator, completion }: { readonly separator: string; readonly completion: CallRequest["completion"] },
): CallResult {
  refuseCycle(m, array);
  const values = allElements(m, array);
  const texts: PrimitiveValue[] = [];
  let pushed = false;
  let result: Value | null = null;
  inTurn(
    (index, next) => {
      const value = values[index];
      if (!value) return false;
      const put = (primitive: PrimitiveValue) => {
        if (texts.length > 0) texts.push(constant(separator));
        texts.push(primitive);
      };
      if (value.kind === "constant" && value.isNullish) {
        put(constant(""));
        return next();
      }
      toPrimitive(m, value, "string", (primitive) => {
        put(primitive);
        next();
      });
    },
    () => {
      result = joinedText(m, texts);
      if (pushed) m.complete(completion, result);
    },
  );
  if (result) return result;
  pushed = true;
  return PUSHED;
}
