/**
 * The environment of executing an instruction: the machine, its context, and registers of the top frame. Invariant:
 * writing a result advances to the next instruction.
 */
import { InternalError } from "../../base/errors.ts";
import type { KeyOperand } from "../bytecode/instruction.ts";
import { isObject } from "../variables/type_of.ts";
import type { Value } from "../variables/value.ts";
import { breakGraph } from "../break_reasons.ts";
import type { FunctionKnowledge } from "./calls.ts";
import { toKey } from "./coercion.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { refuseLaterObject } from "./later_reads.ts";
import type { Key } from "./objects.ts";

/** The services that execution needs besides the machine. */
export interface ExecutionContext extends FunctionKnowledge {
  /** Ends the trace at a branch that only the graph can decide. */
  branch(): never;
}

/** The instruction being executed. */
export class Step {
  constructor(readonly m: Interpreter, readonly context: ExecutionContext, readonly frame: Frame) {}

  /** Returns the value of a register. */
  get(register: number): Value {
    const { frame } = this, value = frame.registers[register] ?? frame.read(register);
    // The message would be built at each read
    if (value === undefined) {
      throw new InternalError(`Expected a value in register ${register} of ${frame.code.name}`);
    }
    refuseLaterObject(this.m, value);
    return value;
  }

  /** Writes the result and advances. */
  set(register: number, value: Value): void {
    this.frame.registers[register] = value;
    this.frame.pc++;
  }

  /** Advances to the next instruction. */
  next(): void {
    this.frame.pc++;
  }

  /** Continues with a property's key once it is converted; values without properties fail before that. */
  withMember(object: Value, key: KeyOperand, then: (key: Key) => void): void {
    const isWithout = object.kind === "constant" && object.isNullish;
    if (isWithout && key.kind === "register" && isObject(this.get(key.register))) {
      return breakGraph("throws", `a property of ${String(object.value)}`);
    }
    return this.withKey(key, then);
  }

  /** Continues with a key, once it is converted. */
  withKey(key: KeyOperand, then: (key: Key) => void): void {
    if (key.kind === "name") then(key.name);
    else toKey(this.m, this.get(key.register), then);
  }
}
