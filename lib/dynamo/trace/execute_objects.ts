/**
 * Executes instructions that create objects and functions or change their members. Invariant: that of execute.ts.
 */
import { invariant } from "../../base/errors.ts";
import { builtinPrototype, elementsOf, newArray, newObject, refuseOpaque } from "./contents.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Capture, InstructionOf } from "../bytecode/instruction.ts";
import {
  constant,
  dataSlot,
  type Element,
  HOLE,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { freeBinding, functionPrototype } from "./free_variables.ts";
import { toKey } from "./coercion.ts";
import { newRegexp } from "./builtins/patterns.ts";
import { collect } from "./iteration.ts";
import { addMember, copyProperties } from "./members.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { findProperty, type Key } from "./objects.ts";
import { assignThrough } from "./property_writes.ts";
import { refuseChange, refuseOfPrimitive, refuseSuper } from "./engine_errors.ts";
import { deleteKey } from "./proxies.ts";
import type { Step } from "./step.ts";

/** A regular expression of the program. */
export function executeRegexp(step: Step, instruction: InstructionOf<"regexp">): void {
  step.set(instruction.dst, newRegexp(step.m, instruction.pattern, instruction.flags));
}

/** The getter of `callee` in strict functions' arguments. */
const throwTypeError: object = (function (..._values: unknown[]): object {
  return Reflect.getOwnPropertyDescriptor(arguments, "callee")?.get ?? Function.prototype;
})();

/**
 * The arguments object, which most functions only ask for the number of arguments: it is made when it is used in
 * another way, except in functions that may be suspended.
 */
export function executeLoadArguments(
  step: Step,
  { dst: register, mapped }: InstructionOf<"loadArguments">,
): void {
  const { m, frame } = step, make = () => argumentsObject(m, frame, mapped);
  if (frame.code.generator || frame.code.async) return step.set(register, make());
  frame.later = { register, make };
  return step.next();
}

/** The number of arguments or one of them, read from an arguments object that has not been made. */
export function readOfArguments(
  { frame }: Step,
  { object, key }: InstructionOf<"getProp">,
): Value | undefined {
  if (frame.later?.register !== object || frame.registers[object] !== undefined) return undefined;
  if (key.kind === "name") return key.name === "length" ? constant(frame.args.length) : undefined;
  const index = frame.read(key.register);
  return index?.kind === "constant" && typeof index.value === "number" ? frame.args[index.value] : undefined;
}

function argumentsObject(m: Interpreter, frame: Frame, mapped: boolean): ObjectValue {
  const object = new ObjectValue(
    { kind: "plain" },
    builtinPrototype(m, Object.prototype, "Object"),
    null,
    null,
  );
  const hidden = { kind: "data", writable: true, enumerable: false, configurable: true } as const;
  frame.args.forEach((value, i) => object.slots.set(`${i}`, dataSlot(value)));
  object.slots.set("length", { value: constant(frame.args.length), ...hidden });
  if (mapped) {
    invariant(frame.callee, "Expected a callee");
    object.slots.set("callee", { value: frame.callee, ...hidden });
  } else {
    const refuses = m.wrapper.known(throwTypeError, "%ThrowTypeError%");
    object.slots.set("callee", {
      kind: "accessor",
      get: refuses,
      set: refuses,
      enumerable: false,
      configurable: false,
    });
  }
  object.slots.set(Symbol.iterator, {
    value: m.wrapper.known(Array.prototype.values, "Array.prototype.values"),
    ...hidden,
  });
  object.arguments = mapped ? "mapped" : "unmapped";
  return object;
}

/** delete object[key] */
export function executeDeleteProp(step: Step, instruction: InstructionOf<"deleteProp">): void {
  const { m } = step;
  const object = step.get(instruction.object);
  return step.withMember(object, instruction.key, (key) => {
    if (object.kind === "tensor") return breakGraph("opaqueObject", "delete");
    const then = (deleted: boolean): void => {
      if (!deleted && instruction.strict) return refuseDeletion(object, key);
      step.set(instruction.dst, constant(deleted));
    };
    if (object.kind === "object") return deleteKey(m, object, key, then);
    if (object.kind === "constant" && (object.value ?? null) === null) return refuseDeletion(object, key);
    then(object.kind !== "constant" || Reflect.deleteProperty(Object(object.value), key));
  });
}

function refuseDeletion(object: Value, key: Key): never {
  return object.kind === "object"
    ? refuseChange(object, key, "delete")
    : refuseOfPrimitive(object.kind === "constant" ? object.value : 0, key, "delete");
}

/** super[key] */
export function executeGetSuper(step: Step, instruction: InstructionOf<"getSuper">): void {
  const { m } = step;
  const home = step.get(instruction.home), receiver = step.get(instruction.receiver);
  invariant(home.kind === "object", "Expected a home object");
  refuseOpaque(home);
  m.wrapper.relyOnPrototype(home);
  const { prototype } = home;
  return step.withKey(instruction.key, (key) => {
    if (!prototype) return refuseOfPrimitive(null, key, "read");
    const found = findProperty(m, prototype, key);
    if (found.kind === "getter") {
      return m.call({
        callee: found.getter,
        self: receiver,
        args: [],
        completion: { kind: "register", register: instruction.dst },
      });
    }
    step.set(instruction.dst, found.kind === "value" ? found.value : UNDEFINED);
  });
}

/** super[key] = value */
export function executeSetSuper(step: Step, instruction: InstructionOf<"setSuper">): void {
  const { m } = step;
  const home = step.get(instruction.home), object = step.get(instruction.receiver);
  const value = step.get(instruction.value);
  invariant(home.kind === "object", "Expected a home object");
  refuseOpaque(home);
  m.wrapper.relyOnPrototype(home);
  const { prototype: from } = home;
  return step.withKey(instruction.key, (key) => {
    if (!from) return refuseOfPrimitive(null, key, "write");
    if (object.kind !== "object") return breakGraph("opaqueObject", "an assignment to super");
    const action = assignThrough(m, { from, object }, key, value);
    if (action.kind === "setter") {
      return m.call({ callee: action.setter, self: object, args: [value], completion: { kind: "discard" } });
    }
    if (action.kind === "refused" && instruction.strict) return refuseSuper(from, object, key);
    step.next();
  });
}

/** An array literal; items of spread parts may come from code of the program. */
export function executeArray(step: Step, instruction: InstructionOf<"array">): void {
  const { m } = step;
  const elements: Element[] = [];
  const part = (index: number): void => {
    const element = instruction.elements[index];
    if (!element) return step.set(instruction.dst, newArray(m, elements));
    if (element.kind === "hole") elements.push(HOLE);
    else if (element.kind === "value") elements.push(step.get(element.register));
    else {
      return collect(m, step.get(element.register), (items) => {
        elements.push(...items);
        part(index + 1);
      });
    }
    part(index + 1);
  };
  return part(0);
}

/** Elements that are appended to an array literal one by one. */
export function executeArrayAppend(step: Step, instruction: InstructionOf<"arrayAppend">): void {
  const { m } = step;
  const array = step.get(instruction.array);
  invariant(array.kind === "object" && array.exotic.kind === "array", "Expected an array");
  const elements = elementsOf(m, array);
  const { element } = instruction;
  if (element.kind === "hole") elements.push(HOLE);
  else if (element.kind === "value") elements.push(step.get(element.register));
  else {
    return collect(m, step.get(element.register), (items) => {
      elements.push(...items);
      step.next();
    });
  }
  return step.next();
}

/** An object literal. */
export function executeObject(step: Step, instruction: InstructionOf<"object">): void {
  const { m, frame } = step;
  const object = newObject(m);
  const part = (index: number): void => {
    const member = instruction.members[index];
    if (!member) return step.set(instruction.dst, object);
    addMember(m, { frame, object, member }, () => part(index + 1));
  };
  return part(0);
}

/** A member that is added to an object: a field, or part of a literal. */
export function executeDefine(step: Step, instruction: InstructionOf<"define">): void {
  const { m, frame } = step;
  const object = step.get(instruction.object);
  if (object.kind !== "object") return breakGraph("opaqueObject", "a field of a foreign object");
  return addMember(m, { frame, object, member: instruction.member }, () => step.next());
}

/** The properties that a pattern has not read. */
export function executeObjectRest(step: Step, instruction: InstructionOf<"objectRest">): void {
  const { m } = step;
  const source = step.get(instruction.source);
  if (source.kind !== "object") {
    return breakGraph("opaqueObject", "the rest of a value that is not a plain object");
  }
  const excluded = new Set<Key>();
  const collectKeys = (index: number): void => {
    const key = instruction.excluded[index];
    if (key) {
      return step.withKey(key, (k) => {
        excluded.add(k);
        collectKeys(index + 1);
      });
    }
    const rest = newObject(m);
    copyProperties(m, rest, { source, excluded }, () => step.set(instruction.dst, rest));
  };
  return collectKeys(0);
}

/** Returns the captures of a function or class that is created here. */
export function capturedValues(step: Step, captures: readonly Capture[]): Value[] {
  return captures.map((capture) => {
    switch (capture.kind) {
      case "cell":
      case "value":
        return step.get(capture.register);
      case "free":
        return freeBinding(step.m, step.frame, capture.index);
      default:
        return capture satisfies never;
    }
  });
}

/** A function created in the trace. */
export function executeClosure(step: Step, instruction: InstructionOf<"closure">): void {
  const { m, frame } = step;
  const code = frame.code.children[instruction.child];
  invariant(code, "Expected the code of a closure");
  const make = (name: string | symbol): void => {
    const free = capturedValues(step, instruction.captures);
    const home = instruction.home === null ? null : step.get(instruction.home);
    const exotic = {
      kind: "function" as const,
      closure: { code, free, home, functionName: name, namePrefix: instruction.namePrefix },
      definition: null,
    };
    const prototype = functionPrototype(m, code);
    step.set(instruction.dst, new ObjectValue(exotic, prototype, null, null));
  };
  if (instruction.name.kind === "name") return make(instruction.name.name);
  return toKey(m, step.get(instruction.name.register), make);
}
