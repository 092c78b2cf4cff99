/** Executes instructions that read and write members of objects, and literals. Invariant: that of execute.ts. */
import { breakGraph } from "../break_reasons.ts";
import type {
  FrameInputs,
  InstructionOf,
  Literals,
  Operators,
  Properties,
  Values,
  Variables,
} from "../bytecode/instruction.ts";
import { isObject } from "../variables/type_of.ts";
import { propertyAtText } from "./changing_keys.ts";
import { refuseMatch } from "./engine_errors.ts";
import {
  executeArray,
  executeArrayAppend,
  executeDefine,
  executeDeleteProp,
  executeGetSuper,
  executeObject,
  executeObjectRest,
  executeSetSuper,
  readOfArguments,
} from "./execute_objects.ts";
import { executeOperator } from "./execute_operators.ts";
import { elementAtNumber, putAtEnd, replaceAtPlace } from "./growing_lists.ts";
import { refuseNumber } from "./memory.ts";
import { getPrivate, hasPrivate, setPrivate } from "./private_members.ts";
import { readProperty, writeProperty } from "./properties.ts";
import type { Step } from "./step.ts";

/** Executes an instruction about members; one about variables, values and operators elsewhere. */
export function executeMember(
  step: Step,
  instruction: InstructionOf<
    | keyof Properties
    | keyof Literals
    | keyof Operators
    | keyof Variables
    | keyof Values
    | Exclude<keyof FrameInputs, "generatorStart">
  >,
): void {
  const { m, frame } = step;
  switch (instruction.op) {
    case "getProp":
      return executeGetProp(step, instruction);
    case "setProp":
      return executeSetProp(step, instruction);
    case "deleteProp":
      return executeDeleteProp(step, instruction);
    case "getSuper":
      return executeGetSuper(step, instruction);
    case "setSuper":
      return executeSetSuper(step, instruction);
    case "getPrivate":
      return getPrivate(m, frame, instruction);
    case "setPrivate":
      return setPrivate(m, frame, { ...instruction, value: step.get(instruction.value) });
    case "hasPrivate":
      return hasPrivate(m, frame, instruction);
    case "definePrivate":
      return breakGraph("privateState", "an object with private members is made");
    case "array":
      return executeArray(step, instruction);
    case "arrayAppend":
      return executeArrayAppend(step, instruction);
    case "object":
      return executeObject(step, instruction);
    case "define":
      return executeDefine(step, instruction);
    case "objectRest":
      return executeObjectRest(step, instruction);
    case "checkObjectCoercible": {
      const value = step.get(instruction.src);
      if (value.kind === "constant" && value.isNullish) {
        return breakGraph("throws", `Cannot destructure ${String(value.value)}`);
      }
      return step.next();
    }
    case "checkObject":
      if (!isObject(step.get(instruction.src))) {
        return breakGraph("throws", `${instruction.what} is not an object`);
      }
      return step.next();
    default:
      return executeOperator(step, instruction);
  }
}

function executeGetProp(step: Step, instruction: InstructionOf<"getProp">): void {
  const { m, frame } = step, { dst, key: operand, takenApart } = instruction;
  const given = frame.later && readOfArguments(step, instruction);
  if (given) return step.set(dst, given);
  if (operand.kind === "register") {
    const held = step.get(instruction.object), key = step.get(operand.register);
    const found = elementAtNumber(m, held, key) ?? propertyAtText(m, held, key);
    if (found) return step.set(dst, found);
  }
  const object = step.get(instruction.object);
  return step.withMember(object, operand, (key) => {
    if (takenApart !== undefined) refuseMatch(object, takenApart, key);
    return readProperty(m, object, key, { kind: "register", register: dst });
  });
}

function executeSetProp(step: Step, instruction: InstructionOf<"setProp">): void {
  const { m } = step, { key: operand, strict } = instruction;
  const object = step.get(instruction.object);
  if (operand.kind === "register") {
    const key = step.get(operand.register), put = { key, value: step.get(instruction.value) };
    if (putAtEnd(m, object, put) || replaceAtPlace(m, object, put)) return step.next();
    refuseNumber(m, object, key);
  }
  return step.withMember(
    object,
    operand,
    (key) => writeProperty(m, { object, key, value: step.get(instruction.value) }, strict),
  );
}
