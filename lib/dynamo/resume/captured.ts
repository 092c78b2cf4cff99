/**
 * What running functions have captured, as printed code takes it. Input: the function of a frame, or one that stands
 * for it in a later call; output: values, cells and access to private members by free variable. Invariant: what one
 * function has captured is a constant of generated code only where no other function of the code can run there.
 */
import { invariant } from "../../base/errors.ts";
import type { FreeForm } from "../bytecode/print_types.ts";
import { infoOf } from "../functions/functions.ts";
import type { Frame } from "../trace/interpreter.ts";

/** One free variable; of functions made in the trace the form alone. */
export interface CapturedValue {
  readonly form: FreeForm;
  readonly value: unknown;
}

/** Whether the running function of a frame is the same in all calls, and so is what it has captured. */
export function isFixed({ callee, completion }: Pick<Frame, "callee" | "completion">): boolean {
  return callee?.source?.kind === "known" || (completion.kind === "root" && completion.fixed);
}

/** What a function has captured that is not the one of the trace, but of the same code. */
export function bindingsOf(fn: object): Frame["info"] {
  const info = infoOf(fn);
  invariant(info.kind === "function", "Expected a function whose variables are known");
  return { kind: "real", binding: info.binding };
}

/** Free variables of a frame as printed code takes them. */
export function capturedBy(
  frame: Pick<Frame, "info" | "code">,
): readonly CapturedValue[] {
  const { info, code } = frame;
  return code.free.map((_, index) => {
    if (info.kind === "made") {
      const bound = info.free[index];
      return { form: bound?.kind === "cell" ? "cell" : "value", value: undefined };
    }
    const found = info.binding(index);
    switch (found.kind) {
      case "value":
        return { form: "value", value: found.value };
      case "cell":
        return { form: "live", value: found.cell };
      case "private":
        return { form: "private", value: found.access };
      case "pending":
      case "unreachable":
        return { form: "value", value: undefined };
      default:
        return found satisfies never;
    }
  });
}
