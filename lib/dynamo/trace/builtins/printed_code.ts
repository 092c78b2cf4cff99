/**
 * Models of the helpers that printed code calls. Invariant: the program never sees the marker of an uninitialised
 * variable: reading one throws the program's error.
 */
import { refuseCall } from "../../break_reasons.ts";
import { runtime, UNINITIALIZED } from "../../bytecode/runtime.ts";
import { UNDEFINED, type Value } from "../../variables/value.ts";
import { readCell } from "../bindings.ts";
import { type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { variableAt } from "../objects.ts";
import { readProperty } from "../properties.ts";
import type { ModelTable } from "./table.ts";

/** The cell of a variable, if it is initialised. */
function ready(m: Interpreter, cell: Value, then: () => void): void {
  const variable = cell.kind === "object" ? variableAt(m, cell, "v") : null;
  const check = (content: Value): void => {
    const isMark = content.kind === "constant" && content.value === UNINITIALIZED;
    if (isMark || content.kind === "uninitialized") refuseCall("a variable that is not initialised");
    then();
  };
  if (variable) check(readCell(m, variable));
  else readProperty(m, cell, "v", { kind: "inside", then: check });
}

/** Adds the models. */
export function addPrintedCode(table: ModelTable): void {
  table.call(runtime.ready, (m, { args: [cell = UNDEFINED], completion }): CallResult => {
    let isReady = false, pushed = false;
    ready(m, cell, () => {
      isReady = true;
      if (pushed) m.complete(completion, cell);
    });
    if (isReady) return cell;
    pushed = true;
    return PUSHED;
  });
}
