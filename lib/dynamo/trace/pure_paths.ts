/**
 * Follows the ways of a branch whose condition only each call knows, as long as they do nothing but compute: the
 * numbers and truth values that the ways leave behind become selections between them. Invariant: what a way writes
 * stays here until all ways have been followed, and a way runs no code but its own, and throws nothing.
 */
import type { BinaryOperator, Instruction, KeyOperand, Offset, Register } from "../bytecode/instruction.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import { endOf, meetingAfter } from "../bytecode/meetings.ts";
import { isHostMath } from "../variables/host_number.ts";
import { chooseOnHost, numberOfTruth } from "../variables/choices.ts";
import { mathNumbers, type Numeric } from "../variables/numbers.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { isObject } from "../variables/type_of.ts";
import {
  type CellValue,
  constant,
  type Decision,
  HOLE,
  isDecision,
  isPassed,
  ItemValue,
  type ObjectValue,
  UNDEFINED,
  UNINITIALIZED,
  type Value,
} from "../variables/value.ts";
import { readCell, writeCell } from "./bindings.ts";
import { allElements, elementsOf, newArray } from "./contents.ts";
import { elementAtPlace } from "./changing_keys.ts";
import { freeBinding, loadFree } from "./free_variables.ts";
import { choose as chooseInGraph } from "./graph_numbers.ts";
import { loadGlobal } from "./globals.ts";
import { Frame, type Interpreter } from "./interpreter.ts";
import { indexOfKey } from "./element_keys.ts";
import { type Key, ownSlot } from "./objects.ts";
import { binary, increment, jumps, openTruth, toNumeric, unary } from "./operators.ts";
import { assignProperty } from "./property_writes.ts";

/** A condition: of the host, or of the graph. */
type Test = Decision | ItemValue;

/** Maximum number of instructions on all ways of a branch. */
const MOST_STEPS = 2_000;
/** Maximum number of branches and calls inside of each other. */
const DEEPEST = 100;

/** A way does more than compute. */
export class NotPure extends Error {
  override readonly name = "NotPure";
}

function refuse(): never {
  throw new NotPure();
}

/** The register for the result of a function, which has none. */
const RESULT = -1;

/** The values that a way has written so far. */
class Written {
  constructor(
    readonly registers: Map<Register, Value> = new Map(),
    readonly cells: Map<CellValue, Value> = new Map(),
    readonly properties: Map<ObjectValue, ReadonlyMap<Key, Value>> = new Map(),
  ) {}

  copy(): Written {
    return new Written(new Map(this.registers), new Map(this.cells), new Map(this.properties));
  }

  /** The same in another function. */
  inside(): Written {
    return new Written(new Map(), this.cells, this.properties);
  }

  write(object: ObjectValue, key: Key, value: Value): void {
    this.properties.set(object, new Map(this.properties.get(object)).set(key, value));
  }
}

/** A conditional jump, by a condition that only each call knows. */
interface OpenJump {
  readonly at: Offset;
  readonly test: Test;
  /** Where control goes if the condition is true, and if it is false. */
  readonly ways: readonly [Offset, Offset];
}

/** The jump at an offset if only each call knows whether it is taken, by the value that it tests; else null. */
export function openJump(m: Interpreter, frame: Frame, { at, value }: {
  readonly at: Offset;
  readonly value: Value;
}): OpenJump | null {
  const jump = frame.code.instructions[at];
  if (jump?.op !== "jumpIf" || (jump.condition !== "truthy" && jump.condition !== "falsy")) return null;
  const test = value.kind === "item" ? value : openTruth(m, value), after = at + 1;
  if (!test) return null;
  return { at, test, ways: jump.condition === "truthy" ? [jump.target, after] : [after, jump.target] };
}

/** The element of a list at a number that differs between calls; null: the number must be known. */
type ElementReader = (list: ObjectValue, at: NumberValue) => Value | null;

/** The ways of one branch, or of one function, of the program. */
export class PurePaths {
  #steps = 0;
  #depth = 0;

  constructor(readonly m: Interpreter, readonly elementOf: ElementReader = () => null) {}

  /** The result of a function that does nothing but compute it. */
  result(callee: ObjectValue, args: readonly Value[]): Value {
    const written = new Written(), result = this.#call(written, callee, { self: UNDEFINED, args });
    return written.cells.size === 0 && written.properties.size === 0 ? result : refuse();
  }

  /** Follows all ways of a jump and continues where they meet. */
  take(frame: Frame, jump: OpenJump): void {
    const { m } = this, written = new Written(), meeting = this.#fork(frame, written, jump);
    for (const [object, values] of written.properties) {
      for (const [key, value] of values) assignProperty(m, object, key, value);
    }
    for (const [cell, value] of written.cells) writeCell(cell, value);
    const result = written.registers.get(RESULT);
    if (meeting === endOf(frame.code)) return result ? m.returnFrom(result) : refuse();
    for (const [register, value] of written.registers) frame.registers[register] = value;
    frame.pc = meeting;
  }

  /** Adds what both ways of a jump write, selected by its condition; returns where they meet. */
  #fork(frame: Frame, written: Written, { at, test, ways }: OpenJump): Offset {
    const { m } = this, { code } = frame, meeting = meetingAfter(code, at);
    if (meeting === null || ++this.#depth > DEEPEST) return refuse();
    const [yes, no] = ways.map((from) => {
      const way = written.copy();
      this.#follow(frame, way, { from, to: meeting });
      return way;
    });
    if (!yes || !no) return refuse();
    const either = (a: Value | undefined, b: Value | undefined): Value => {
      if (!a || !b) return refuse();
      if (a === b) return a;
      const choose = () =>
        isDecision(test) ? chooseOnHost(m.output, test, [a, b]) : chooseInGraph(m.output, test, [a, b]);
      return choose() ?? refuse();
    };
    for (const register of meeting === endOf(code) ? [RESULT] : liveRegisters(code, meeting)) {
      const a = yes.registers.get(register), b = no.registers.get(register);
      if (!a && !b) continue;
      const before = frame.read(register);
      written.registers.set(register, either(a ?? before, b ?? before));
    }
    for (const cell of new Set([...yes.cells.keys(), ...no.cells.keys()])) {
      const before = readCell(m, cell);
      written.cells.set(cell, either(yes.cells.get(cell) ?? before, no.cells.get(cell) ?? before));
    }
    for (const object of new Set([...yes.properties.keys(), ...no.properties.keys()])) {
      const a = yes.properties.get(object), b = no.properties.get(object);
      for (const key of new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])) {
        const [one, other] = [a, b].map((each) =>
          each?.get(key) ?? m.plainProperty(object, key) ?? undefined
        );
        written.write(object, key, either(one, other));
      }
    }
    this.#depth--;
    return meeting;
  }

  #follow(
    frame: Frame,
    written: Written,
    { from, to }: { readonly from: Offset; readonly to: Offset },
  ): void {
    const { m } = this, { code } = frame, end = endOf(code);
    const get = (register: Register): Value =>
      written.registers.get(register) ?? frame.read(register) ?? refuse();
    for (let at = from; at !== to;) {
      const instruction = code.instructions[at];
      if (!instruction || ++this.#steps > MOST_STEPS) return refuse();
      switch (instruction.op) {
        case "jump":
          at = instruction.target;
          continue;
        case "jumpIf": {
          const value = get(instruction.test), jump = openJump(m, frame, { at, value });
          if (jump) {
            at = this.#fork(frame, written, jump);
            continue;
          }
          const taken = jumps(m, instruction.condition, value);
          if (typeof taken !== "boolean") return refuse();
          at = taken ? instruction.target : at + 1;
          continue;
        }
        case "return":
          written.registers.set(RESULT, get(instruction.src));
          at = end;
          continue;
        default:
          this.#execute({ frame, written, get }, instruction);
          at++;
      }
    }
  }

  /** Executes an instruction that neither jumps nor has effects. */
  #execute(
    { frame, written, get }: {
      readonly frame: Frame;
      readonly written: Written;
      readonly get: (register: Register) => Value;
    },
    instruction: Instruction,
  ): void {
    const { m } = this,
      set = (register: Register, value: Value) => void written.registers.set(register, value);
    switch (instruction.op) {
      case "const":
        return set(instruction.dst, constant(instruction.value));
      case "move":
        return set(instruction.dst, get(instruction.src));
      case "uninitialized":
        return set(instruction.dst, UNINITIALIZED);
      case "checkTdz":
        return void (get(instruction.src).kind === "uninitialized" && refuse());
      case "loadThis":
        return set(instruction.dst, frame.code.strict || isObject(frame.self) ? frame.self : refuse());
      case "loadArgument":
        return set(instruction.dst, frame.args[instruction.index] ?? UNDEFINED);
      case "loadGlobal":
        return set(instruction.dst, loadGlobal(m, instruction.name, instruction.forTypeof));
      case "loadFree": {
        const bound = freeBinding(m, frame, instruction.index);
        const own = bound.kind === "cell" ? written.cells.get(bound) : undefined;
        return set(instruction.dst, own ?? loadFree(m, frame, instruction.index));
      }
      case "storeFree": {
        const cell = freeBinding(m, frame, instruction.index);
        if (cell.kind !== "cell" || readCell(m, cell).kind === "uninitialized") return refuse();
        return void written.cells.set(cell, get(instruction.src));
      }
      case "loadCell": {
        const cell = get(instruction.cell);
        if (cell.kind !== "cell") return refuse();
        return set(instruction.dst, written.cells.get(cell) ?? readCell(m, cell));
      }
      case "storeCell": {
        const cell = get(instruction.cell);
        if (cell.kind !== "cell" || readCell(m, cell).kind === "uninitialized") return refuse();
        return void written.cells.set(cell, get(instruction.src));
      }
      case "unary": {
        const value = get(instruction.src);
        if (instruction.operator !== "!" && !isNumeric(value)) return refuse();
        return unary(m, instruction.operator, value, (result) => set(instruction.dst, result));
      }
      case "binary": {
        const left = get(instruction.left), right = get(instruction.right), { operator } = instruction;
        if (operator === "in") return set(instruction.dst, constant(hasElement(m, left, right)));
        const isIdentity = (operator === "===" || operator === "!==") && isKnown(left) && isKnown(right);
        if (!isIdentity && (!isArithmetic(operator) || !isNumeric(left) || !isNumeric(right))) {
          return refuse();
        }
        return binary(m, operator, [left, right], (result) => set(instruction.dst, result));
      }
      case "toNumeric": {
        const value = get(instruction.src);
        return isNumeric(value) ? toNumeric(m, value, (result) => set(instruction.dst, result)) : refuse();
      }
      case "increment": {
        const value = get(instruction.src);
        return isNumeric(value) ? set(instruction.dst, increment(m, value, instruction.by)) : refuse();
      }
      case "getProp":
        return set(
          instruction.dst,
          this.#property(written, get(instruction.object), keyIn(instruction.key, get)),
        );
      case "setProp": {
        const object = get(instruction.object), key = keyIn(instruction.key, get);
        if (object.kind !== "object" || typeof key !== "string" || !this.#isWritable(object, key)) {
          return refuse();
        }
        return written.write(object, key, get(instruction.value));
      }
      case "array": {
        const elements = instruction.elements.map((each) =>
          each.kind === "value" ? get(each.register) : refuse()
        );
        return set(instruction.dst, newArray(m, elements));
      }
      case "call": {
        const args = instruction.args.map(({ register, spread }) => spread ? refuse() : get(register));
        const self = instruction.self === null ? UNDEFINED : get(instruction.self);
        return set(instruction.dst, this.#call(written, get(instruction.callee), { self, args }));
      }
      default:
        return refuse();
    }
  }

  /** A property that no code of the program computes. */
  #property(written: Written, object: Value, key: string | Value): Value {
    if (object.kind !== "object") return refuse();
    const own = written.properties.get(object);
    if (typeof key === "string") return own?.get(key) ?? this.m.plainProperty(object, key) ?? refuse();
    if (key.kind !== "number" || own) return refuse();
    return this.elementOf(object, key) ?? elementAtPlace(this.m, object, key) ?? refuse();
  }

  /** Returns whether writing a property that exists is all that an assignment does. */
  #isWritable(object: ObjectValue, key: Key): boolean {
    const { exotic, real, frozen, variable } = object;
    if (variable || frozen !== "no" || (real && !Object.isExtensible(real))) return false;
    if (exotic.kind !== "plain" && (exotic.kind !== "array" || indexOfKey(key) === null)) return false;
    const slot = ownSlot(this.m, object, key);
    return slot?.kind === "data" && slot.writable;
  }

  #call(written: Written, callee: Value, { self, args }: {
    readonly self: Value;
    readonly args: readonly Value[];
  }): Value {
    const { m } = this;
    if (callee.kind !== "object") return refuse();
    if (callee.real === Reflect.apply) {
      const [fn = UNDEFINED, receiver = UNDEFINED, list = UNDEFINED] = args;
      if (list.kind !== "object" || list.exotic.kind !== "array" || list.real) return refuse();
      const own = written.properties.get(list);
      const given = allElements(m, list).map((each, i) => own?.get(`${i}`) ?? each);
      return this.#call(written, fn, { self: receiver, args: given });
    }
    if (callee.real) {
      const name = mathName(callee.real), numbers = args.flatMap((each) => numberIn(m, each) ?? []);
      if (name !== null) return numbers.length === args.length ? mathOf(m, name, numbers) : refuse();
    }
    const found = m.codeOf(callee);
    if (!found || found.code.async || found.code.generator || ++this.#depth > DEEPEST) return refuse();
    const { code, bindings } = found, inside = written.inside();
    m.output.followed.add(code);
    const frame = new Frame(bindings, code, callee, self, args, UNDEFINED, { kind: "discard" });
    this.#follow(frame, inside, { from: 0, to: endOf(code) });
    this.#depth--;
    return inside.registers.get(RESULT) ?? refuse();
  }
}

/** Returns whether a list has an element at a known index. */
function hasElement(m: Interpreter, index: Value, list: Value): boolean {
  if (list.kind !== "object" || list.exotic.kind !== "array" || index.kind !== "constant") return refuse();
  const at = isPassed(index) ? null : index.value;
  const element = typeof at === "number" ? elementsOf(m, list)[at] : undefined;
  return element !== undefined && element !== HOLE ? true : refuse();
}

function mathName(real: object): string | null {
  const name = typeof real === "function" ? real.name : "";
  return isHostMath(name) && Reflect.get(Math, name) === real ? name : null;
}

function mathOf(m: Interpreter, name: string, numbers: readonly Numeric[]): Value {
  if (numbers.some(({ kind }) => kind === "number")) return mathNumbers(m.output, name, numbers) ?? refuse();
  const fn: unknown = Reflect.get(Math, name);
  const result: unknown = typeof fn === "function" &&
    Reflect.apply(fn, Math, numbers.map((each) => each.kind === "constant" && each.value));
  return typeof result === "number" ? constant(result) : refuse();
}

function numberIn(m: Interpreter, value: Value): Numeric | null {
  if (value.kind === "number") return value;
  if (isDecision(value)) return numberOfTruth(m.output, value);
  return value.kind === "constant" && value.type === "number" ? value : null;
}

function keyIn(key: KeyOperand, get: (register: Register) => Value): string | Value {
  if (key.kind === "name") return key.name;
  const value = get(key.register);
  const known = value.kind === "constant" && !isPassed(value) ? value.value : null;
  return typeof known === "string" || typeof known === "number" ? String(known) : value;
}

/** Returns whether operators on a value neither run code nor throw. */
function isNumeric(value: Value): boolean {
  if (value.kind === "constant") {
    return value.type === "number" || value.type === "boolean" || value.isNullish;
  }
  return value.kind === "number" || (value.kind === "item" && value.type !== "integer");
}

function isKnown(value: Value): boolean {
  return value.kind === "constant" && !isPassed(value);
}

function isArithmetic(operator: BinaryOperator): boolean {
  return operator !== "instanceof" && operator !== "in";
}
