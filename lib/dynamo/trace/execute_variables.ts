/** Executes instructions that move values between registers, variables and what a call gives. Invariant: that of execute.ts. */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { FrameInputs, InstructionOf, Values, Variables } from "../bytecode/instruction.ts";
import { CellValue, constant, UNDEFINED, UNINITIALIZED } from "../variables/value.ts";
import { readCell, writeCell } from "./bindings.ts";
import { newArray } from "./contents.ts";
import { executeLoadArguments, executeRegexp } from "./execute_objects.ts";
import { homeOf, loadFree, storeFree } from "./free_variables.ts";
import { loadGlobal, storeGlobal } from "./globals.ts";
import type { Step } from "./step.ts";

/** Executes an instruction that loads or stores a value. */
export function executeLoad(
  step: Step,
  instruction: InstructionOf<keyof Values | keyof Variables | Exclude<keyof FrameInputs, "generatorStart">>,
): void {
  const { m, frame } = step;
  switch (instruction.op) {
    case "const":
      return step.set(instruction.dst, constant(instruction.value));
    case "regexp":
      return executeRegexp(step, instruction);
    case "move":
      return step.set(instruction.dst, step.get(instruction.src));
    case "uninitialized":
      return step.set(instruction.dst, UNINITIALIZED);
    case "checkTdz":
      if (step.get(instruction.src).kind === "uninitialized") {
        breakGraph("throws", `${instruction.name} is not initialised`);
      }
      return step.next();
    case "throwError":
      return breakGraph("throws", instruction.message);
    case "loadThis":
      return step.set(instruction.dst, frame.self);
    case "loadArgument":
      return step.set(instruction.dst, frame.args[instruction.index] ?? UNDEFINED);
    case "loadRest":
      return step.set(instruction.dst, newArray(m, frame.args.slice(instruction.from)));
    case "loadArguments":
      return executeLoadArguments(step, instruction);
    case "loadNewTarget":
      return step.set(instruction.dst, frame.newTarget);
    case "loadCallee":
      invariant(frame.callee, "Expected a callee");
      return step.set(instruction.dst, frame.callee);
    case "loadHome":
      return step.set(instruction.dst, homeOf(m, frame));
    case "loadFree":
      return step.set(instruction.dst, loadFree(m, frame, instruction.index));
    case "storeFree":
      storeFree(m, { frame, index: instruction.index }, step.get(instruction.src));
      return step.next();
    case "loadGlobal":
      return step.set(instruction.dst, loadGlobal(m, instruction.name, instruction.forTypeof));
    case "storeGlobal":
      storeGlobal(m, instruction.name, step.get(instruction.src));
      return step.next();
    case "newCell": {
      const content = instruction.src === null ? UNINITIALIZED : step.get(instruction.src);
      return step.set(instruction.dst, new CellValue(instruction.name, null, content));
    }
    case "loadCell":
      return step.set(instruction.dst, readCell(m, cellIn(step, instruction.cell)));
    case "storeCell":
      writeCell(cellIn(step, instruction.cell), step.get(instruction.src));
      return step.next();
    default:
      return instruction satisfies never;
  }
}

function cellIn(step: Step, register: number): CellValue {
  const cell = step.get(register);
  invariant(cell.kind === "cell", "Expected a cell");
  return cell;
}
