/** Executes instructions that compute values. Invariant: that of execute.ts. */
import { invariant } from "../../base/errors.ts";
import type { FrameInputs, InstructionOf, Operators, Values, Variables } from "../bytecode/instruction.ts";
import { runtime } from "../bytecode/runtime.ts";
import { constant } from "../variables/value.ts";
import { toKey, toPrimitive } from "./coercion.ts";
import { executeLoad } from "./execute_variables.ts";
import { binary, increment, toNumeric, unary } from "./operators.ts";
import type { Step } from "./step.ts";
import { joinedText, type PrimitiveValue } from "./texts.ts";

/** Executes an operator; an instruction about variables and values elsewhere. */
export function executeOperator(
  step: Step,
  instruction: InstructionOf<
    keyof Operators | keyof Variables | keyof Values | Exclude<keyof FrameInputs, "generatorStart">
  >,
): void {
  const { m } = step;
  switch (instruction.op) {
    case "unary": {
      const { dst, operator, src } = instruction;
      return unary(m, operator, step.get(src), (value) => step.set(dst, value));
    }
    case "binary": {
      const { dst, operator, left, right } = instruction;
      return binary(m, operator, [step.get(left), step.get(right)], (value) => step.set(dst, value));
    }
    case "toNumeric":
      return toNumeric(m, step.get(instruction.src), (value) => step.set(instruction.dst, value));
    case "increment":
      return step.set(instruction.dst, increment(m, step.get(instruction.src), instruction.by));
    case "toPropertyKey":
      return toKey(m, step.get(instruction.src), (key) => step.set(instruction.dst, constant(key)));
    case "toString": {
      const { dst, src } = instruction;
      return toPrimitive(m, step.get(src), "string", (text) => step.set(dst, joinedText(m, [text])));
    }
    case "template":
      return executeTemplate(step, instruction);
    case "templateObject": {
      const strings = runtime.templateObject(instruction.index);
      invariant(strings, "Expected the strings of a template");
      return step.set(instruction.dst, m.wrapper.known(strings, "template"));
    }
    default:
      return executeLoad(step, instruction);
  }
}

function executeTemplate(step: Step, { dst, quasis, values }: InstructionOf<"template">): void {
  const { m } = step, texts = quasis.map(constant);
  const part = (index: number, parts: readonly PrimitiveValue[]): void => {
    const register = values[index], before = texts[index];
    const known = before ? [...parts, before] : parts;
    if (register === undefined) return step.set(dst, joinedText(m, known));
    toPrimitive(m, step.get(register), "string", (text) => part(index + 1, [...known, text]));
  };
  return part(0, []);
}
