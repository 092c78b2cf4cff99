/**
 * Runs functions of the program on values that are known while tracing, at a fraction of the cost of tracing them: for
 * callbacks on long lists. Invariant: only instructions without effects run, so that a function that turns out to
 * need another one is traced from its beginning.
 */
import { BreakSignal } from "../break_reasons.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { BinaryOperator, Instruction, KeyOperand } from "../bytecode/instruction.ts";
import { isHostMath } from "../variables/host_number.ts";
import {
  constant,
  isCallable,
  isPassed,
  isPrimitive,
  ObjectValue,
  type Primitive,
  UNDEFINED,
  UNINITIALIZED,
  UninitializedValue,
  type Value,
} from "../variables/value.ts";
import { loadFree } from "./free_variables.ts";
import { loadGlobal } from "./globals.ts";
import { Frame, type Interpreter } from "./interpreter.ts";
import { computeBinary, computeUnary, jumps } from "./operators.ts";

/** Shorter lists are traced, callback by callback, so that a graph may break in one. */
export const LONG = 64;

/** A primitive, or an object of the trace that is only passed on and read. */
export type Known = Primitive | ObjectValue;

/** Maximum number of instructions of all calls of one callback. */
const MOST_STEPS = 5_000_000;
const DEEPEST = 32;

const { Math, Number, String, isFinite, isNaN, parseFloat, parseInt } = globalThis;

/** Builtins whose results depend on nothing but primitive arguments. */
const PURE: ReadonlySet<unknown> = new Set<unknown>([
  ...Object.getOwnPropertyNames(Math).filter(isHostMath).map((name) => Reflect.get(Math, name)),
  Number,
  Number.isFinite,
  Number.isInteger,
  Number.isNaN,
  Number.isSafeInteger,
  String,
  isFinite,
  isNaN,
  parseFloat,
  parseInt,
]);

/** The function has to be traced. */
class NotPure extends Error {
  override readonly name = "NotPure";
}

/** Leaves a function to the trace. */
export function refuse(): never {
  throw new NotPure();
}

/** The variables of a function outside of itself that calls have read. */
interface Outside {
  readonly code: CodeObject;
  readonly frame: Frame;
  readonly free: Map<number, Known>;
  readonly globals: Map<string, Known>;
}

/** The calls that a builtin makes of one callback. */
export class PureCalls {
  readonly #outsides = new Map<ObjectValue, Outside>();
  #steps = 0;
  #depth = 0;

  constructor(readonly m: Interpreter) {}

  /** The result of `work`, which calls functions; null if one of them has to be traced. */
  static attempt<R>(m: Interpreter, work: (calls: PureCalls) => R): R | null {
    try {
      return work(new PureCalls(m));
    } catch (thrown) {
      // What breaks a graph here breaks it where it is traced, too
      if (thrown instanceof NotPure || thrown instanceof BreakSignal) return null;
      throw thrown;
    }
  }

  /** A traced value as one that functions can be called with. */
  known(value: Value): Known {
    if (value.kind === "object") return value;
    return value.kind === "constant" && !isPassed(value) ? value.value : refuse();
  }

  /** Calls a function without a receiver. */
  call(callee: ObjectValue, args: readonly Known[]): Known {
    if (callee.real && PURE.has(callee.real)) return applied(callee.real, args);
    const outside = this.#outsideOf(callee);
    if (++this.#depth > DEEPEST) refuse();
    const result = this.#run(outside, args);
    this.#depth--;
    return result;
  }

  #outsideOf(callee: ObjectValue): Outside {
    const known = this.#outsides.get(callee);
    if (known) return known;
    const found = this.m.codeOf(callee);
    if (!found) return refuse();
    const { code, bindings } = found;
    if (code.async || code.generator) return refuse();
    this.m.output.followed.add(code);
    const frame = new Frame(bindings, code, callee, UNDEFINED, [], UNDEFINED, { kind: "discard" });
    const made = { code, frame, free: new Map(), globals: new Map() };
    this.#outsides.set(callee, made);
    return made;
  }

  #run({ code, frame, free, globals }: Outside, args: readonly Known[]): Known {
    const { m } = this, { instructions } = code;
    const registers: (Known | UninitializedValue)[] = [];
    const get = (register: number): Known => {
      const value = registers[register];
      return value instanceof UninitializedValue ? refuse() : value;
    };
    const remembered = <K>(values: Map<K, Known>, key: K, load: () => Value): Known => {
      const found = values.get(key);
      if (found !== undefined) return found;
      const value = this.known(load());
      values.set(key, value);
      return value;
    };
    for (let pc = 0;;) {
      const instruction: Instruction | undefined = instructions[pc++];
      if (!instruction || ++this.#steps > MOST_STEPS) return refuse();
      switch (instruction.op) {
        case "const":
          registers[instruction.dst] = instruction.value;
          break;
        case "move":
          registers[instruction.dst] = registers[instruction.src];
          break;
        case "uninitialized":
          registers[instruction.dst] = UNINITIALIZED;
          break;
        case "checkTdz":
          get(instruction.src);
          break;
        case "loadArgument":
          registers[instruction.dst] = args[instruction.index];
          break;
        case "loadFree": {
          const { index, dst } = instruction;
          registers[dst] = remembered(free, index, () => loadFree(m, frame, index));
          break;
        }
        case "loadGlobal": {
          const { name, forTypeof, dst } = instruction;
          registers[dst] = remembered(globals, name, () => loadGlobal(m, name, forTypeof));
          break;
        }
        case "unary":
          registers[instruction.dst] = unary(instruction.operator, get(instruction.src));
          break;
        case "binary":
          registers[instruction.dst] = binary(
            instruction.operator,
            get(instruction.left),
            get(instruction.right),
          );
          break;
        case "toNumeric":
          registers[instruction.dst] = numberIn(get(instruction.src));
          break;
        case "increment":
          registers[instruction.dst] = numberIn(get(instruction.src)) + instruction.by;
          break;
        case "toPropertyKey":
        case "toString":
          registers[instruction.dst] = textIn(get(instruction.src));
          break;
        case "template": {
          const { quasis, values } = instruction;
          registers[instruction.dst] = quasis.reduce((text, quasi, at) => {
            const register = values[at - 1];
            return text + (register === undefined ? "" : textIn(get(register))) + quasi;
          });
          break;
        }
        case "getProp":
          registers[instruction.dst] = this.#property(get(instruction.object), keyIn(instruction.key, get));
          break;
        case "checkObjectCoercible": {
          const value = get(instruction.src);
          if (value === undefined || value === null) refuse();
          break;
        }
        case "call": {
          const callee = get(instruction.callee);
          if (!(callee instanceof ObjectValue) || !isCallable(callee)) return refuse();
          if (instruction.self !== null && !(callee.real && PURE.has(callee.real))) return refuse();
          const given = instruction.args.map(({ register, spread }) => spread ? refuse() : get(register));
          registers[instruction.dst] = this.call(callee, given);
          break;
        }
        case "jump":
          pc = instruction.target;
          break;
        case "jumpIf":
          if (jumps(m, instruction.condition, valueOf(get(instruction.test))) === true) {
            pc = instruction.target;
          }
          break;
        case "return":
          return get(instruction.src);
        default:
          return refuse();
      }
    }
  }

  /** A property that no code of the program computes. */
  #property(object: Known, key: string): Known {
    if (object instanceof ObjectValue) {
      return this.known(this.m.plainProperty(object, key) ?? UNDEFINED);
    }
    return typeof object === "string" && key === "length" ? object.length : refuse();
  }
}

/** A result as a traced value. */
export function valueOf(known: Known): Value {
  return known instanceof ObjectValue ? known : constant(known);
}

/** Returns whether a value counts as true. */
export function isTruthy(value: Known): boolean {
  return value instanceof ObjectValue || Boolean(value);
}

function applied(fn: object, args: readonly Known[]): Known {
  if (typeof fn !== "function" || !args.every(isNumeric)) return refuse();
  const result: unknown = Reflect.apply(fn, undefined, args);
  return isPrimitive(result) ? result : refuse();
}

/** Returns whether converting a value to a number or a text has no effect and throws nothing. */
export function isNumeric(value: Known): value is Exclude<Primitive, bigint | symbol> {
  return !(value instanceof ObjectValue) && typeof value !== "bigint" && typeof value !== "symbol";
}

function numberIn(value: Known): number {
  return isNumeric(value) ? Number(value) : refuse();
}

function textIn(value: Known): string {
  return isNumeric(value) ? String(value) : refuse();
}

function keyIn(key: KeyOperand, get: (register: number) => Known): string {
  return key.kind === "name" ? key.name : textIn(get(key.register));
}

function unary(operator: Extract<Instruction, { op: "unary" }>["operator"], value: Known): Known {
  switch (operator) {
    case "!":
      return !isTruthy(value);
    case "void":
      return undefined;
    case "typeof":
      return value instanceof ObjectValue ? refuse() : typeof value;
    case "-":
    case "+":
    case "~":
      return computeUnary(operator, numberIn(value));
    default:
      return operator satisfies never;
  }
}

function binary(operator: BinaryOperator, left: Known, right: Known): Known {
  if (operator === "===") return left === right;
  if (operator === "!==") return left !== right;
  if (operator === "in" || operator === "instanceof" || !isNumeric(left) || !isNumeric(right)) {
    return refuse();
  }
  return computeBinary(operator, left, right);
}
