/**
 * Executes one instruction over traced values. Invariant: the destination is written, and the program counter moved,
 * only after everything that can fail; instructions that call wait at their own offset until the callee has finished.
 */
import { breakGraph } from "../break_reasons.ts";
import type { Instruction, InstructionOf } from "../bytecode/instruction.ts";
import { SUPPRESSED } from "../bytecode/runtime.ts";
import { isObject } from "../variables/type_of.ts";
import { constant, isCallable, UNDEFINED } from "../variables/value.ts";
import { suppressedError } from "./builtins/errors.ts";
import { executeCall, executeInitFields, executeNew, executeSuperCall } from "./execute_calls.ts";
import {
  executeForIn,
  executeForInNext,
  executeGetIterator,
  executeIteratorClose,
  executeIteratorNext,
  executeIteratorRest,
  executeIteratorResult,
  executeReturn,
} from "./execute_iteration.ts";
import { executeClass } from "./class_definition.ts";
import { executeClosure } from "./execute_objects.ts";
import { executeMember } from "./execute_members.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { jumps } from "./operators.ts";
import { readProperty } from "./properties.ts";
import { refuseCount, refuseEnded } from "./changing_counts.ts";
import { select } from "./selects.ts";
import { type ExecutionContext, Step } from "./step.ts";
import { drawnBy } from "./later_values.ts";

/** Executes the current instruction of the top frame: calls, control flow and iteration here, the others elsewhere. */
export function execute(
  m: Interpreter,
  context: ExecutionContext,
  frame: Frame,
  instruction: Instruction,
): void {
  const step = new Step(m, context, frame);
  switch (instruction.op) {
    case "closure":
      return executeClosure(step, instruction);
    case "class":
      return executeClass(step, instruction);
    case "call":
      return executeCall(step, instruction);
    case "new":
      return executeNew(step, instruction);
    case "superCall":
      return executeSuperCall(step, instruction);
    case "checkSuperOnce":
      if (step.get(instruction.src).kind !== "uninitialized") {
        return breakGraph("throws", "Super constructor may only be called once");
      }
      return step.next();
    case "initFields":
      return executeInitFields(step, instruction);
    case "import":
      return breakGraph("builtin", "import()");
    case "jump":
      frame.pc = instruction.target;
      return;
    case "jumpIf":
      return executeJumpIf(step, instruction);
    case "return":
      return executeReturn(step, instruction);
    case "throw":
      return m.raise(step.get(instruction.src));
    case "debugger":
      return breakGraph("debuggerStatement");
    case "getIterator":
      return executeGetIterator(step, instruction);
    case "iteratorNext":
      return executeIteratorNext(step, instruction);
    case "iteratorResult":
      return executeIteratorResult(step, instruction);
    case "iteratorRest":
      return executeIteratorRest(step, instruction);
    case "iteratorClose":
      return executeIteratorClose(step, instruction);
    case "forIn":
      return executeForIn(step, instruction);
    case "forInNext":
      return executeForInNext(step, instruction);
    case "generatorStart":
      if (!frame.generator) return breakGraph("waits", "a generator begins");
      return m.startGenerator();
    case "yield":
      if (!frame.generator) return breakGraph("waits", "yield");
      return m.suspend(step.get(instruction.src));
    case "yieldDelegate":
      if (!frame.generator) return breakGraph("waits", "yield*");
      return m.delegate(step.get(instruction.source), instruction.dst);
    case "await":
      return breakGraph("waits", "await");
    case "getDisposer":
      return executeGetDisposer(step, instruction);
    case "suppressedError": {
      const errors = [step.get(instruction.error), step.get(instruction.suppressed), constant(SUPPRESSED)];
      return step.set(instruction.dst, suppressedError(m, errors));
    }
    default:
      return executeMember(step, instruction);
  }
}

function executeJumpIf(step: Step, { test: register, condition, target }: InstructionOf<"jumpIf">): void {
  const { m, frame } = step, test = step.get(register);
  refuseEnded(m, frame, test);
  if (select(m, frame, test)) return;
  refuseCount(m, frame, test);
  const taken = jumps(m, condition, test);
  if (typeof taken !== "boolean") {
    const call = drawnBy(taken);
    if (call) return breakGraph("builtin", `what follows depends on ${call.text}`);
    return step.context.branch();
  }
  frame.pc = taken ? target : frame.pc + 1;
}

function executeGetDisposer(step: Step, { dst, src, async }: InstructionOf<"getDisposer">): void {
  const value = step.get(src);
  if (value.kind === "constant" && value.isNullish) return step.set(dst, UNDEFINED);
  if (!isObject(value)) {
    return breakGraph("throws", "a value in a using declaration that is not an object");
  }
  return readProperty(step.m, value, async ? Symbol.asyncDispose : Symbol.dispose, {
    kind: "inside",
    then: (method) => {
      const isNullish = method.kind === "constant" && method.isNullish;
      if (async && isNullish) return breakGraph("generator", "await using of a synchronous disposable");
      if (!isCallable(method)) return breakGraph("throws", "an object that cannot be disposed of");
      step.set(dst, method);
    },
  });
}
