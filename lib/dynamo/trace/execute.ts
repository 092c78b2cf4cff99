/**
 * One instruction over traced values. Input: the frame on top and its instruction; output: changed registers,
 * a pushed frame, or a signal. Invariant: the destination is written, and the program counter moved, only after
 * everything that can fail; instructions that call wait at their own offset until the callee is done.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Instruction, KeyOperand } from "../bytecode/code.ts";
import {
  CellValue,
  constant,
  dataSlot,
  type Element,
  EnumeratorValue,
  HOLE,
  isCallable,
  isObject,
  ItemValue,
  ObjectValue,
  UNDEFINED,
  UNINITIALIZED,
  type Value,
} from "../variables/value.ts";
import { construct, type FunctionKnowledge, initializeFields } from "./calls.ts";
import { textOf, toKey, toPrimitive, toText } from "./coercion.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { collect, getIterator, isListNext, nextMethod, nextOfList, takeApart } from "./iteration.ts";
import {
  builtinPrototype,
  deleteOwn,
  elementsOf,
  findProperty,
  type Key,
  newArray,
  newObject,
} from "./objects.ts";
import { getPrivate, hasPrivate, setPrivate } from "./private_members.ts";
import { readCell, writeCell } from "./bindings.ts";
import { loadGlobal, storeGlobal } from "./globals.ts";
import { addMember, copyProperties, forInKeys } from "./members.ts";
import { binary, increment, jumps, toNumeric, unary } from "./operators.ts";
import { readProperty, writeProperty } from "./properties.ts";

/** What executing needs besides the machine. */
export interface ExecutionContext extends FunctionKnowledge {
  /** The branch that only the graph can decide: ends the trace. */
  branch(test: ItemValue): never;
}

/** Executes the instruction of the frame on top. */
export function execute(
  m: Interpreter,
  context: ExecutionContext,
  frame: Frame,
  instruction: Instruction,
): void {
  const r = frame.registers;
  const get = (register: number): Value => {
    const value = r[register];
    invariant(value !== undefined, `Expected a value in register ${register} of ${frame.code.name}`);
    return value;
  };
  const set = (register: number, value: Value): void => {
    r[register] = value;
    frame.pc++;
  };
  const next = (): void => {
    frame.pc++;
  };
  const withKey = (key: KeyOperand, then: (key: Key) => void): void => {
    if (key.kind === "name") then(key.name);
    else toKey(m, get(key.register), then);
  };
  switch (instruction.op) {
    case "const":
      return set(instruction.dst, constant(instruction.value));
    case "regexp": {
      const prototype = builtinPrototype(m, RegExp.prototype, "RegExp");
      const constructor = m.wrapper.known(RegExp, "RegExp");
      invariant(constructor.kind === "object", "Expected RegExp");
      const args = [constant(instruction.pattern), constant(instruction.flags)];
      return set(
        instruction.dst,
        new ObjectValue({ kind: "constructed", constructor, args }, prototype, null, null),
      );
    }
    case "move":
      return set(instruction.dst, get(instruction.src));
    case "uninitialized":
      return set(instruction.dst, UNINITIALIZED);
    case "checkTdz":
      if (get(instruction.src).kind === "uninitialized") {
        breakGraph("throws", `${instruction.name} is not initialised`);
      }
      return next();
    case "throwError":
      return breakGraph("throws", instruction.message);
    case "loadThis":
      return set(instruction.dst, frame.self);
    case "loadArgument":
      return set(instruction.dst, frame.args[instruction.index] ?? UNDEFINED);
    case "loadRest":
      return set(instruction.dst, newArray(m, frame.args.slice(instruction.from)));
    case "loadArguments": {
      const object = new ObjectValue(
        { kind: "plain" },
        builtinPrototype(m, Object.prototype, "Object"),
        null,
        null,
      );
      frame.args.forEach((value, i) => object.slots.set(`${i}`, dataSlot(value)));
      object.slots.set("length", {
        kind: "data",
        value: constant(frame.args.length),
        writable: true,
        enumerable: false,
        configurable: true,
      });
      object.slots.set(Symbol.iterator, {
        kind: "data",
        value: m.wrapper.known(Array.prototype.values, "Array.prototype.values"),
        writable: true,
        enumerable: false,
        configurable: true,
      });
      object.isArguments = true;
      return set(instruction.dst, object);
    }
    case "loadNewTarget":
      return set(instruction.dst, frame.newTarget);
    case "loadCallee":
      invariant(frame.callee, "Expected a callee");
      return set(instruction.dst, frame.callee);
    case "loadHome":
      return set(instruction.dst, m.homeOf(frame));
    case "generatorStart":
      return m.startGenerator();
    case "loadFree":
      return set(instruction.dst, m.loadFree(frame, instruction.index));
    case "storeFree":
      m.storeFree(frame, instruction.index, get(instruction.src));
      return next();
    case "loadGlobal":
      return set(instruction.dst, loadGlobal(m, instruction.name, instruction.forTypeof));
    case "storeGlobal":
      storeGlobal(m, instruction.name, get(instruction.src));
      return next();
    case "newCell":
      return set(
        instruction.dst,
        new CellValue(
          instruction.name,
          null,
          instruction.src === null ? UNINITIALIZED : get(instruction.src),
        ),
      );
    case "loadCell": {
      const cell = get(instruction.cell);
      invariant(cell.kind === "cell", "Expected a cell");
      return set(instruction.dst, readCell(m, cell));
    }
    case "storeCell": {
      const cell = get(instruction.cell);
      invariant(cell.kind === "cell", "Expected a cell");
      writeCell(cell, get(instruction.src));
      return next();
    }
    case "unary":
      return unary(m, instruction.operator, get(instruction.src), (value) => set(instruction.dst, value));
    case "binary":
      return binary(
        m,
        instruction.operator,
        [get(instruction.left), get(instruction.right)],
        (value) => set(instruction.dst, value),
      );
    case "toNumeric":
      return toNumeric(m, get(instruction.src), (value) => set(instruction.dst, value));
    case "increment":
      return set(instruction.dst, increment(m, get(instruction.src), instruction.by));
    case "toPropertyKey":
      return toKey(m, get(instruction.src), (key) => set(instruction.dst, constant(key)));
    case "toString":
      return toText(m, get(instruction.src), (text) => set(instruction.dst, constant(text)));
    case "template": {
      const { quasis, values } = instruction;
      const step = (index: number, text: string): void => {
        const register = values[index];
        if (register === undefined) return set(instruction.dst, constant(text));
        toPrimitive(
          m,
          get(register),
          "string",
          (primitive) => step(index + 1, text + textOf(m, primitive) + (quasis[index + 1] ?? "")),
        );
      };
      return step(0, quasis[0] ?? "");
    }
    case "templateObject":
      return breakGraph("syntax", "a tagged template");
    case "getProp":
      return withKey(
        instruction.key,
        (key) =>
          readProperty(m, get(instruction.object), key, { kind: "register", register: instruction.dst }),
      );
    case "setProp":
      return withKey(
        instruction.key,
        (key) =>
          writeProperty(
            m,
            { object: get(instruction.object), key, value: get(instruction.value) },
            instruction.strict,
          ),
      );
    case "deleteProp": {
      const object = get(instruction.object);
      if (object.kind !== "object") {
        return breakGraph(object.kind === "tensor" ? "opaqueObject" : "throws", "delete");
      }
      return withKey(instruction.key, (key) => {
        const deleted = deleteOwn(m, object, key);
        if (!deleted && instruction.strict) breakGraph("throws", "Cannot delete property");
        set(instruction.dst, constant(deleted));
      });
    }
    case "getSuper": {
      const home = get(instruction.home), receiver = get(instruction.receiver);
      invariant(home.kind === "object", "Expected a home object");
      return withKey(instruction.key, (key) => {
        if (!home.prototype) return breakGraph("throws", "super without prototype");
        const found = findProperty(m, home.prototype, key);
        if (found.kind === "getter") {
          return m.call({
            callee: found.getter,
            self: receiver,
            args: [],
            completion: { kind: "register", register: instruction.dst },
          });
        }
        set(instruction.dst, found.kind === "value" ? found.value : UNDEFINED);
      });
    }
    case "setSuper":
      return breakGraph("opaqueObject", "an assignment to super");
    case "getPrivate":
      return getPrivate(m, frame, instruction);
    case "setPrivate":
      return setPrivate(frame, instruction, get(instruction.value));
    case "hasPrivate":
      return hasPrivate(m, frame, instruction);
    case "definePrivate":
      return breakGraph("privateState", "an object with private members is made");
    case "array": {
      const elements: Element[] = [];
      const step = (index: number): void => {
        const element = instruction.elements[index];
        if (!element) return set(instruction.dst, newArray(m, elements));
        if (element.kind === "hole") elements.push(HOLE);
        else if (element.kind === "value") elements.push(get(element.register));
        else {
          return collect(m, get(element.register), (items) => {
            elements.push(...items);
            step(index + 1);
          });
        }
        step(index + 1);
      };
      return step(0);
    }
    case "arrayAppend": {
      const array = get(instruction.array);
      invariant(array.kind === "object" && array.exotic.kind === "array", "Expected an array");
      const elements = elementsOf(m, array);
      const { element } = instruction;
      if (element.kind === "hole") elements.push(HOLE);
      else if (element.kind === "value") elements.push(get(element.register));
      else {
        return collect(m, get(element.register), (items) => {
          elements.push(...items);
          next();
        });
      }
      return next();
    }
    case "object": {
      const object = newObject(m);
      const step = (index: number): void => {
        const member = instruction.members[index];
        if (!member) return set(instruction.dst, object);
        addMember(m, { frame, object, member }, () => step(index + 1));
      };
      return step(0);
    }
    case "define": {
      const object = get(instruction.object);
      if (object.kind !== "object") return breakGraph("opaqueObject", "a field of a foreign object");
      return addMember(m, { frame, object, member: instruction.member }, next);
    }
    case "objectRest": {
      const source = get(instruction.source);
      if (source.kind !== "object") {
        return breakGraph("opaqueObject", "the rest of a value that is no plain object");
      }
      const excluded = new Set<Key>();
      const collectKeys = (index: number): void => {
        const key = instruction.excluded[index];
        if (key) {
          return withKey(key, (k) => {
            excluded.add(k);
            collectKeys(index + 1);
          });
        }
        const rest = newObject(m);
        copyProperties(m, rest, { source, excluded }, () => set(instruction.dst, rest));
      };
      return collectKeys(0);
    }
    case "checkObjectCoercible": {
      const value = get(instruction.src);
      if (value.kind === "constant" && (value.value === undefined || value.value === null)) {
        return breakGraph("throws", `Cannot destructure ${value.value}`);
      }
      return next();
    }
    case "checkObject":
      if (!isObject(get(instruction.src))) {
        return breakGraph("throws", `${instruction.what} is not an object`);
      }
      return next();
    case "closure": {
      const code = frame.code.children[instruction.child];
      invariant(code, "Expected the code of a closure");
      const make = (name: string | symbol): void => {
        const free = instruction.captures.map((capture): Value => {
          switch (capture.kind) {
            case "cell":
            case "value":
              return get(capture.register);
            case "free":
              return m.freeBinding(frame, capture.index);
            default:
              return capture satisfies never;
          }
        });
        const home = instruction.home === null ? null : get(instruction.home);
        const exotic = {
          kind: "function" as const,
          closure: { code, free, home, functionName: name, namePrefix: instruction.namePrefix },
        };
        const prototype = m.functionPrototype(code);
        set(instruction.dst, new ObjectValue(exotic, prototype, null, null));
      };
      if (instruction.name.kind === "name") return make(instruction.name.name);
      return toKey(m, get(instruction.name.register), make);
    }
    case "class":
      return breakGraph("classDefinition", instruction.name);
    case "call": {
      const callee = get(instruction.callee);
      const self = instruction.self === null ? UNDEFINED : get(instruction.self);
      return withArguments(m, frame, instruction.args, (args) => {
        const opaque = callee.kind === "object" && callee.exotic.kind === "opaque";
        if (opaque || !isCallable(callee)) {
          return breakGraph(opaque ? "opaqueObject" : "throws", `${instruction.text} is not a function`);
        }
        m.call({ callee, self, args, completion: { kind: "register", register: instruction.dst } });
      });
    }
    case "new": {
      const callee = get(instruction.callee);
      return withArguments(m, frame, instruction.args, (args) => {
        if (!isCallable(callee)) return breakGraph("throws", `${instruction.text} is not a constructor`);
        construct(m, context, {
          callee,
          args,
          newTarget: callee,
          completion: { kind: "register", register: instruction.dst },
        });
      });
    }
    case "superCall": {
      const callee = get(instruction.callee), newTarget = get(instruction.newTarget);
      invariant(callee.kind === "object" && newTarget.kind === "object", "Expected the running constructor");
      const parent = callee.prototype;
      if (!parent || !isCallable(parent)) {
        return breakGraph("throws", "Super constructor is not a constructor");
      }
      return withArguments(
        m,
        frame,
        instruction.args,
        (args) =>
          construct(m, context, {
            callee: parent,
            args,
            newTarget,
            completion: { kind: "register", register: instruction.dst },
          }),
      );
    }
    case "checkSuperOnce":
      if (get(instruction.src).kind !== "uninitialized") {
        return breakGraph("throws", "Super constructor may only be called once");
      }
      return next();
    case "initFields": {
      const callee = get(instruction.callee);
      invariant(callee.kind === "object", "Expected the running constructor");
      const info = context.infoOf(callee);
      if (info.kind !== "class") return breakGraph("constructor", "a class without accessible source");
      return initializeFields(m, info, { callee, object: get(instruction.object) }, next);
    }
    case "import":
      return breakGraph("builtin", "import()");
    case "jump":
      frame.pc = instruction.target;
      return;
    case "jumpIf": {
      const taken = jumps(m, instruction.condition, get(instruction.test));
      if (typeof taken !== "boolean") return context.branch(taken);
      frame.pc = taken ? instruction.target : frame.pc + 1;
      return;
    }
    case "return":
      return m.returnFrom(get(instruction.src));
    case "throw":
      return m.raise(get(instruction.src));
    case "debugger":
      return breakGraph("debuggerStatement");
    case "getIterator": {
      if (instruction.async) return breakGraph("generator", "for await");
      const { iterator, next: nextRegister } = instruction;
      const found = getIterator(m, get(instruction.source), {
        kind: "iterator",
        iterator,
        next: nextRegister,
      });
      if (found) m.complete({ kind: "iterator", iterator, next: nextRegister }, found);
      return;
    }
    case "iteratorNext": {
      const done = get(instruction.done);
      if (done.kind === "constant" && done.value === true) {
        r[instruction.value] = UNDEFINED;
        return next();
      }
      const iterator = get(instruction.iterator), method = get(instruction.next);
      if (iterator.kind === "object" && iterator.exotic.kind === "listIterator" && isListNext(method)) {
        const item = nextOfList(m, iterator);
        r[instruction.done] = constant(item === null);
        r[instruction.value] = item ?? UNDEFINED;
        return next();
      }
      if (!isCallable(method)) return breakGraph("throws", "an iterator without next");
      const completion = { kind: "step", done: instruction.done, value: instruction.value } as const;
      return m.call({ callee: method, self: iterator, args: [], completion });
    }
    case "iteratorResult": {
      const { done, value } = takeApart(m, get(instruction.result));
      r[instruction.done] = constant(done);
      r[instruction.value] = value;
      return next();
    }
    case "iteratorRest": {
      const iterator = get(instruction.iterator);
      const done = get(instruction.done);
      if (done.kind === "constant" && done.value === true) return set(instruction.dst, newArray(m, []));
      if (iterator.kind === "object" && iterator.exotic.kind === "listIterator") {
        const items: Value[] = [];
        for (let item = nextOfList(m, iterator); item !== null; item = nextOfList(m, iterator)) {
          items.push(item);
        }
        r[instruction.done] = constant(true);
        return set(instruction.dst, newArray(m, items));
      }
      return collect(m, iterator, (items) => {
        r[instruction.done] = constant(true);
        set(instruction.dst, newArray(m, items));
      });
    }
    case "iteratorClose": {
      const iterator = get(instruction.iterator);
      if (iterator.kind !== "object") return next();
      if (iterator.exotic.kind === "listIterator") return next();
      const found = findProperty(m, iterator, "return");
      if (found.kind === "absent") return next();
      if (found.kind === "getter" || !isCallable(found.value)) return breakGraph("iterator");
      const { quiet } = instruction;
      if (quiet && iterator.exotic.kind !== "generator") return breakGraph("iterator");
      return m.call({ callee: found.value, self: iterator, args: [], completion: { kind: "discard" } });
    }
    case "forIn": {
      const object = get(instruction.object);
      if (object.kind === "constant") {
        if (object.value === undefined || object.value === null) {
          return set(instruction.dst, new EnumeratorValue(null, [], 0));
        }
        if (typeof object.value !== "string") return set(instruction.dst, new EnumeratorValue(null, [], 0));
      }
      if (object.kind !== "object") {
        return breakGraph("iterator", "for-in over a value that is no plain object");
      }
      return set(instruction.dst, new EnumeratorValue(object, forInKeys(m, object), 0));
    }
    case "forInNext": {
      const enumerator = get(instruction.enumerator);
      if (enumerator.kind !== "enumerator") return breakGraph("iterator", "for-in after a graph break");
      let key: string | undefined;
      do key = enumerator.keys[enumerator.index++]; while (
        key !== undefined && enumerator.object && findProperty(m, enumerator.object, key).kind === "absent"
      );
      r[instruction.done] = constant(key === undefined);
      r[instruction.key] = constant(key);
      return next();
    }
    case "yield":
      return m.suspend(get(instruction.src));
    case "yieldDelegate":
      return m.delegate(get(instruction.source), instruction.dst);
    case "await":
      return breakGraph("generator", "await");
    case "getDisposer": {
      const value = get(instruction.src);
      if (instruction.async) return breakGraph("generator", "await using");
      if (value.kind === "constant" && (value.value === undefined || value.value === null)) {
        return set(instruction.dst, UNDEFINED);
      }
      return readProperty(m, value, Symbol.dispose, { kind: "register", register: instruction.dst });
    }
    case "suppressedError":
      return breakGraph("throws", "two errors while disposing");
    default:
      return instruction satisfies never;
  }
}

function withArguments(
  m: Interpreter,
  frame: Frame,
  list: readonly { readonly register: number; readonly spread: boolean }[],
  then: (args: Value[]) => void,
): void {
  const args: Value[] = [];
  const step = (index: number): void => {
    for (let i = index; i < list.length; i++) {
      const argument = list[i];
      if (!argument) continue;
      const value = frame.registers[argument.register];
      invariant(value !== undefined, "Expected a value for every argument");
      if (argument.spread) {
        return collect(m, value, (items) => {
          args.push(...items);
          step(i + 1);
        });
      }
      args.push(value);
    }
    then(args);
  };
  step(0);
}

/** The iterator and its `next` go to registers. */
export function beginIteration(
  m: Interpreter,
  frame: Frame,
  registers: { iterator: number; next: number },
  iterator: Value,
): void {
  if (iterator.kind !== "object") return breakGraph("throws", "an iterator that is no object");
  const method = nextMethod(m, iterator);
  frame.registers[registers.iterator] = iterator;
  frame.registers[registers.next] = method;
  frame.pc++;
}
