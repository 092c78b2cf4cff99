/**
 * The captures of running functions, as printed code expects them: values, cells and access to private members by free
 * variable. Invariant: the captures of a function are constants of generated code only if no other function with the
 * same code can run there.
 */
import { invariant } from "../../base/errors.ts";
import type { FreeForm } from "../bytecode/print_types.ts";
import type { FreeBinding } from "../frame/info.ts";
import { infoOf } from "../functions/functions.ts";
import type { Frame } from "../trace/interpreter.ts";

/** One free variable; for functions created in the trace, only its form. */
export interface CapturedValue {
  readonly form: FreeForm;
  readonly value: unknown;
}

/** Returns whether the running function of a frame is the same in all calls, and so are its captures. */
export function isFixed({ callee, completion }: Pick<Frame, "callee" | "completion">): boolean {
  return callee?.source?.kind === "known" || (completion.kind === "root" && completion.fixed);
}

/** Returns the captures of a function with the same code as the traced one. */
export function bindingsOf(fn: object): Frame["info"] {
  const info = infoOf(fn);
  invariant(info.kind === "function", "Expected a function whose variables are known");
  return { kind: "real", binding: info.binding };
}

/** Free variables of a frame, in the form that printed code expects. */
export function capturedBy(
  frame: Pick<Frame, "info" | "code">,
): readonly CapturedValue[] {
  const { info, code } = frame;
  return code.free.map((_, index) => {
    if (info.kind === "made") {
      const bound = info.free[index];
      return { form: bound?.kind === "cell" ? "cell" : "value", value: undefined };
    }
    return capturedValue(info.binding(index), () => ({ form: "value", value: undefined }));
  });
}

/** A free variable; `missing` gets the reason if it is not available. */
export function capturedValue(
  found: FreeBinding,
  missing: (because: string) => CapturedValue,
): CapturedValue {
  switch (found.kind) {
    case "value":
      return { form: "value", value: found.value };
    case "cell":
      return { form: "live", value: found.cell };
    case "private":
      return { form: "private", value: found.access };
    case "pending":
    case "unreachable":
      return missing(found.because);
    default:
      return found satisfies never;
  }
}
