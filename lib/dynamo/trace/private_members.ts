/**
 * Private members of objects that exist outside of the trace, through access from inside their class. Input: the
 * frame and a private instruction; output: changed registers, and writes that are replayed after the graph.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { InstructionOf } from "../bytecode/code.ts";
import type { PrivateAccess } from "../frame/info.ts";
import { privateSource } from "../source.ts";
import { constant, type ObjectValue, type Value } from "../variables/value.ts";
import { refuseOpaque } from "./contents.ts";
import type { Frame, Interpreter } from "./interpreter.ts";

function accessOf(m: Interpreter, frame: Frame, index: number): PrivateAccess {
  const { info } = frame;
  if (info.kind !== "real") return breakGraph("privateState", "in a function made here");
  const found = info.binding(index);
  if (found.kind === "pending" && found.access) return m.standIns.accessFor(found, found.access);
  return found.kind === "private" ? found.access : breakGraph("privateState", "not reachable");
}

function receiverOf(frame: Frame, register: number): ObjectValue {
  const object = frame.registers[register];
  if (object?.kind !== "object" || !object.real || !object.source) {
    return breakGraph("privateState", "of an object made here");
  }
  refuseOpaque(object);
  return object;
}

/**
 * The access by which the trace knows a member. Every function has an access of its own to a member of its class,
 * so two of one name are tried on the object: what one writes, the other reads if they are the same member.
 */
function canonical(object: ObjectValue, name: string, access: PrivateAccess): PrivateAccess {
  const { real } = object;
  if (!real) return access;
  let known = object.privateAccess.get(name);
  if (!known) object.privateAccess.set(name, known = []);
  for (const other of known) if (other === access || isSameMember(real, access, other)) return other;
  known.push(access);
  return access;
}

function isSameMember(object: object, a: PrivateAccess, b: PrivateAccess): boolean {
  if (a.member !== b.member || !b.has(object)) return false;
  if (a.member !== "field") return false;
  const former = a.get(object), probe = Symbol();
  a.set(object, probe);
  const same = b.get(object) === probe;
  a.set(object, former);
  return same;
}

/** What stands for a private method that can only be reached from the next call on. */
function unreachedMethod(m: Interpreter, { info, code }: Frame, index: number): Value | null {
  if (info.kind !== "real") return null;
  const found = info.binding(index);
  const method = found.kind === "pending" ? m.standIns.methodFor(found) : null;
  return method && m.wrapper.known(method, code.free[index]?.name ?? "#");
}

/** object.#name */
export function getPrivate(m: Interpreter, frame: Frame, instruction: InstructionOf<"getPrivate">): void {
  const unreached = unreachedMethod(m, frame, instruction.name);
  if (unreached) {
    frame.registers[instruction.dst] = unreached;
    frame.pc++;
    return;
  }
  const given = accessOf(m, frame, instruction.name);
  const object = receiverOf(frame, instruction.object);
  const { real, source } = object;
  invariant(real && source, "Expected a real object");
  if (!given.has(real)) breakGraph("throws", "a private member of another class");
  const name = frame.code.free[instruction.name]?.name ?? "#";
  const access = canonical(object, name, given);
  let value = object.privates.get(access);
  if (!value) {
    if (access.member === "accessor") breakGraph("privateState", "a private accessor");
    const content = access.get(real);
    value = access.member === "method" && typeof content === "function"
      ? m.wrapper.known(content, name)
      : m.wrapper.wrap(content, privateSource(source, name, access));
  }
  frame.registers[instruction.dst] = value;
  frame.pc++;
}

/** object.#name = value */
export function setPrivate(
  m: Interpreter,
  frame: Frame,
  { object: register, name, value }: {
    readonly object: number;
    readonly name: number;
    readonly value: Value;
  },
): void {
  const access = accessOf(m, frame, name);
  const object = receiverOf(frame, register);
  if (access.member !== "field") breakGraph("privateState", "a private accessor");
  if (object.real && !access.has(object.real)) breakGraph("throws", "a private member of another class");
  object.privates.set(canonical(object, frame.code.free[name]?.name ?? "#", access), value);
  frame.pc++;
}

/** #name in object */
export function hasPrivate(m: Interpreter, frame: Frame, instruction: InstructionOf<"hasPrivate">): void {
  const access = accessOf(m, frame, instruction.name);
  const object = frame.registers[instruction.object];
  if (object?.kind !== "object") return breakGraph("throws", "a private member of a primitive");
  // Objects made in the trace have no private members.
  m.wrapper.relyOnPrototype(object);
  frame.registers[instruction.dst] = constant(object.real !== null && access.has(object.real));
  frame.pc++;
}
