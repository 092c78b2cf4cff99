/**
 * Executes one instruction over traced values. Invariant: the destination is written, and the program counter moved,
 * only after everything that can fail; instructions that call wait at their own offset until the callee has finished.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Instruction } from "../bytecode/instruction.ts";
import { runtime, SUPPRESSED } from "../bytecode/runtime.ts";
import { isObject } from "../variables/type_of.ts";
import { CellValue, constant, isCallable, UNDEFINED, UNINITIALIZED } from "../variables/value.ts";
import { readCell, writeCell } from "./bindings.ts";
import { toKey, toPrimitive } from "./coercion.ts";
import { joinedText, type PrimitiveValue } from "./texts.ts";
import { suppressedError } from "./builtins/errors.ts";
import { refuseMatch } from "./engine_errors.ts";
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
import {
  executeArray,
  executeArrayAppend,
  executeClosure,
  executeDefine,
  executeDeleteProp,
  executeGetSuper,
  executeLoadArguments,
  executeObject,
  executeObjectRest,
  executeRegexp,
  executeSetSuper,
  readOfArguments,
} from "./execute_objects.ts";
import { loadGlobal, storeGlobal } from "./globals.ts";
import { propertyAtText } from "./changing_keys.ts";
import { elementAtNumber, putAtEnd, replaceAtPlace } from "./growing_lists.ts";
import { refuseNumber } from "./memory.ts";
import { homeOf, loadFree, storeFree } from "./free_variables.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { newArray } from "./contents.ts";
import { binary, increment, jumps, toNumeric, unary } from "./operators.ts";
import { getPrivate, hasPrivate, setPrivate } from "./private_members.ts";
import { readProperty, writeProperty } from "./properties.ts";
import { refuseCount, refuseEnded } from "./changing_counts.ts";
import { select } from "./selects.ts";
import { type ExecutionContext, Step } from "./step.ts";
import { drawnBy } from "./later_values.ts";

/** Executes the current instruction of the top frame. */
export function execute(
  m: Interpreter,
  context: ExecutionContext,
  frame: Frame,
  instruction: Instruction,
): void {
  const step = new Step(m, context, frame);
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
    case "generatorStart":
      if (!frame.generator) return breakGraph("waits", "a generator begins");
      return m.startGenerator();
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
    case "newCell":
      return step.set(
        instruction.dst,
        new CellValue(
          instruction.name,
          null,
          instruction.src === null ? UNINITIALIZED : step.get(instruction.src),
        ),
      );
    case "loadCell": {
      const cell = step.get(instruction.cell);
      invariant(cell.kind === "cell", "Expected a cell");
      return step.set(instruction.dst, readCell(m, cell));
    }
    case "storeCell": {
      const cell = step.get(instruction.cell);
      invariant(cell.kind === "cell", "Expected a cell");
      writeCell(cell, step.get(instruction.src));
      return step.next();
    }
    case "unary":
      return unary(
        m,
        instruction.operator,
        step.get(instruction.src),
        (value) => step.set(instruction.dst, value),
      );
    case "binary":
      return binary(
        m,
        instruction.operator,
        [step.get(instruction.left), step.get(instruction.right)],
        (value) => step.set(instruction.dst, value),
      );
    case "toNumeric":
      return toNumeric(m, step.get(instruction.src), (value) => step.set(instruction.dst, value));
    case "increment":
      return step.set(instruction.dst, increment(m, step.get(instruction.src), instruction.by));
    case "toPropertyKey":
      return toKey(m, step.get(instruction.src), (key) => step.set(instruction.dst, constant(key)));
    case "toString":
      return toPrimitive(
        m,
        step.get(instruction.src),
        "string",
        (primitive) => step.set(instruction.dst, joinedText(m, [primitive])),
      );
    case "template": {
      const { quasis, values } = instruction;
      const texts = quasis.map(constant);
      const part = (index: number, parts: readonly PrimitiveValue[]): void => {
        const register = values[index], before = texts[index];
        const known = before ? [...parts, before] : parts;
        if (register === undefined) return step.set(instruction.dst, joinedText(m, known));
        toPrimitive(m, step.get(register), "string", (text) => part(index + 1, [...known, text]));
      };
      return part(0, []);
    }
    case "templateObject": {
      const strings = runtime.templateObject(instruction.index);
      invariant(strings, "Expected the strings of a template");
      return step.set(instruction.dst, m.wrapper.known(strings, "template"));
    }
    case "getProp": {
      const given = frame.later && readOfArguments(step, instruction);
      if (given) return step.set(instruction.dst, given);
      if (instruction.key.kind === "register") {
        const held = step.get(instruction.object), key = step.get(instruction.key.register);
        const found = elementAtNumber(m, held, key) ?? propertyAtText(m, held, key);
        if (found) return step.set(instruction.dst, found);
      }
      const object = step.get(instruction.object), { takenApart } = instruction;
      return step.withMember(object, instruction.key, (key) => {
        if (takenApart !== undefined) refuseMatch(object, takenApart, key);
        return readProperty(m, object, key, { kind: "register", register: instruction.dst });
      });
    }
    case "setProp": {
      if (instruction.key.kind === "register") {
        const object = step.get(instruction.object);
        const put = { key: step.get(instruction.key.register), value: step.get(instruction.value) };
        if (putAtEnd(m, object, put) || replaceAtPlace(m, object, put)) return step.next();
      }
      if (instruction.key.kind === "register") {
        refuseNumber(m, step.get(instruction.object), step.get(instruction.key.register));
      }
      return step.withMember(
        step.get(instruction.object),
        instruction.key,
        (key) =>
          writeProperty(
            m,
            { object: step.get(instruction.object), key, value: step.get(instruction.value) },
            instruction.strict,
          ),
      );
    }
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
      if (value.kind === "constant" && (value.value === undefined || value.value === null)) {
        return breakGraph("throws", `Cannot destructure ${value.value}`);
      }
      return step.next();
    }
    case "checkObject":
      if (!isObject(step.get(instruction.src))) {
        return breakGraph("throws", `${instruction.what} is not an object`);
      }
      return step.next();
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
    case "jumpIf": {
      const test = step.get(instruction.test);
      refuseEnded(m, frame, test);
      if (select(m, frame, test)) return;
      refuseCount(m, frame, test);
      const taken = jumps(m, instruction.condition, test);
      if (typeof taken !== "boolean") {
        const call = drawnBy(taken);
        if (call) return breakGraph("builtin", `what follows depends on ${call.text}`);
        return context.branch();
      }
      frame.pc = taken ? instruction.target : frame.pc + 1;
      return;
    }
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
    case "yield":
      if (!step.frame.generator) return breakGraph("waits", "yield");
      return m.suspend(step.get(instruction.src));
    case "yieldDelegate":
      if (!step.frame.generator) return breakGraph("waits", "yield*");
      return m.delegate(step.get(instruction.source), instruction.dst);
    case "await":
      return breakGraph("waits", "await");
    case "getDisposer": {
      const value = step.get(instruction.src);
      if (value.kind === "constant" && (value.value === undefined || value.value === null)) {
        return step.set(instruction.dst, UNDEFINED);
      }
      if (!isObject(value)) {
        return breakGraph("throws", "a value in a using declaration that is not an object");
      }
      const { async } = instruction;
      return readProperty(m, value, async ? Symbol.asyncDispose : Symbol.dispose, {
        kind: "inside",
        then: (method) => {
          const isNullish = method.kind === "constant" && (method.value ?? null) === null;
          if (async && isNullish) return breakGraph("generator", "await using of a synchronous disposable");
          if (!isCallable(method)) return breakGraph("throws", "an object that cannot be disposed of");
          step.set(instruction.dst, method);
        },
      });
    }
    case "suppressedError":
      return step.set(
        instruction.dst,
        suppressedError(m, [
          step.get(instruction.error),
          step.get(instruction.suppressed),
          constant(SUPPRESSED),
        ]),
      );
    default:
      return instruction satisfies never;
  }
}
