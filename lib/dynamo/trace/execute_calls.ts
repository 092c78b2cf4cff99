/**
 * Executes instructions that call and construct: they push a frame, or return an immediate result. Invariant:
 * arguments are evaluated before the callee is inspected.
 */
import { invariant } from "../../base/errors.ts";
import { refuseOpaque } from "./contents.ts";
import { breakGraph, throwError } from "../break_reasons.ts";
import type { InstructionOf } from "../bytecode/instruction.ts";
import { isCallable, UNDEFINED, type Value } from "../variables/value.ts";
import { construct, initializeFields } from "./calls.ts";
import { collect } from "./iteration.ts";
import type { Step } from "./step.ts";

/** callee(...args) */
export function executeCall(step: Step, instruction: InstructionOf<"call">): void {
  const { m } = step;
  const callee = step.get(instruction.callee);
  const self = instruction.self === null ? UNDEFINED : step.get(instruction.self);
  return withArguments(step, instruction.args, (args) => {
    const opaque = callee.kind === "object" && callee.exotic.kind === "opaque";
    if (!isCallable(callee)) {
      const message = `${instruction.text} is not a function`;
      if (opaque) return breakGraph("opaqueObject", message);
      return throwError({ constructor: TypeError, message });
    }
    m.call({ callee, self, args, completion: { kind: "register", register: instruction.dst } });
  });
}

/** new callee(...args) */
export function executeNew(step: Step, instruction: InstructionOf<"new">): void {
  const { m, context } = step;
  const callee = step.get(instruction.callee);
  return withArguments(step, instruction.args, (args) => {
    if (!isCallable(callee)) {
      return throwError({ constructor: TypeError, message: `${instruction.text} is not a constructor` });
    }
    construct(m, context, {
      callee,
      args,
      newTarget: callee,
      completion: { kind: "register", register: instruction.dst },
    });
  });
}

/** super(...args) */
export function executeSuperCall(step: Step, instruction: InstructionOf<"superCall">): void {
  const { m, context } = step;
  const callee = step.get(instruction.callee), newTarget = step.get(instruction.newTarget);
  invariant(callee.kind === "object" && newTarget.kind === "object", "Expected the running constructor");
  refuseOpaque(callee);
  m.wrapper.relyOnPrototype(callee);
  const parent = callee.prototype;
  if (!parent || !isCallable(parent)) {
    return breakGraph("throws", "Super constructor is not a constructor");
  }
  return withArguments(step, instruction.args, (args) =>
    construct(m, context, {
      callee: parent,
      args,
      newTarget,
      completion: { kind: "register", register: instruction.dst },
    }));
}

/** Initialises the fields of a class on the object under construction. */
export function executeInitFields(step: Step, instruction: InstructionOf<"initFields">): void {
  const { m, context } = step;
  const callee = step.get(instruction.callee);
  invariant(callee.kind === "object", "Expected the running constructor");
  return initializeFields(m, context, { callee, object: step.get(instruction.object) }, () => step.next());
}

/** Continues with the values of an argument list; items of spread ones may come from code of the program. */
function withArguments(
  step: Step,
  list: readonly { readonly register: number; readonly spread: boolean }[],
  then: (args: Value[]) => void,
): void {
  const args: Value[] = [];
  const collectFrom = (index: number): void => {
    for (let i = index; i < list.length; i++) {
      const argument = list[i];
      if (!argument) continue;
      const value = step.get(argument.register);
      if (argument.spread) {
        return collect(step.m, value, (items) => {
          args.push(...items);
          collectFrom(i + 1);
        });
      }
      args.push(value);
    }
    then(args);
  };
  collectFrom(0);
}
