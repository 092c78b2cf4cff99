/**
 * Traces private members: those of outside objects through access from inside their class, those of objects created in
 * the trace directly. Invariant: generated code never creates an object with private members.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { placeOf } from "../bytecode/compile.ts";
import type { InstructionOf } from "../bytecode/instruction.ts";
import type { PrivateAccess } from "../frame/info.ts";
import { refuseToCache } from "../disk_cache/noted_reads.ts";
import { type PrivateReader, privateSource, type Source } from "../source.ts";
import {
  constant,
  ObjectValue,
  type PrivateMethod,
  type PrivateName,
  type TensorValue,
  type Value,
} from "../variables/value.ts";
import { inheritsAnew } from "../variables/wrap.ts";
import { refuseOpaque } from "./contents.ts";
import type { Completion, Frame, Interpreter } from "./interpreter.ts";

/**
 * A description of state that no other process can look up: private members are accessible only to the code of their
 * class.
 */
const PRIVATE_STATE = "a private member of an object";

/** A private name as captured by a closure created in a frame: generated code has no such closures. */
export function privateNameOf(
  m: Interpreter,
  { code, callee }: Frame,
  { index, access }: { readonly index: number; readonly access: PrivateAccess | null },
): ObjectValue {
  const { name: text = "#", declaredAt = -1 } = code.free[index] ?? {};
  const name: PrivateName = { text, declaration: placeOf(code.module, declaredAt), access, holder: callee };
  return nameValue(m, name, `${text} in a function made here`);
}

/** A private name as a value. */
export function nameValue(m: Interpreter, name: PrivateName, detail: string): ObjectValue {
  const value = new ObjectValue({ kind: "privateName", name }, null, null, null);
  value.onlyTraced = { step: m.steps - 1, cause: { kind: "privateState", detail } };
  return value;
}

/** The private name to which an instruction refers. */
function nameAt(frame: Frame, index: number): PrivateName {
  const { info, code, callee } = frame;
  if (info.kind === "made") {
    const bound = info.free[index];
    invariant(bound?.kind === "object" && bound.exotic.kind === "privateName", "Expected a private name");
    return bound.exotic.name;
  }
  const { name: text = "#", declaredAt = -1 } = code.free[index] ?? {};
  return { text, declaration: placeOf(code.module, declaredAt), access: null, holder: callee };
}

/** Access to members of objects that exist outside of the trace. */
function accessOf(m: Interpreter, frame: Frame, index: number, name: PrivateName): PrivateAccess {
  if (name.access) return name.access;
  const { info } = frame;
  if (info.kind !== "real") return breakGraph("throws", "a private member of another class");
  const found = info.binding(index);
  if (found.kind === "pending" && found.access) return m.standIns.accessFor(found, found.access);
  return found.kind === "private" ? found.access : breakGraph("privateState", "not reachable");
}

function receiverOf(frame: Frame, register: number): ObjectValue {
  const object = objectOf(frame, register);
  refuseOpaque(object);
  return object;
}

function objectOf(frame: Frame, register: number): ObjectValue {
  const object = frame.read(register);
  if (object?.kind === "tensor") return breakGraph("privateState", "of a tensor");
  if (object?.kind !== "object") return breakGraph("throws", "a private member of a primitive");
  // Each evaluation of a class has its own private names
  if (inheritsAnew(object)) return breakGraph("privateState", "of a class that is created in each call");
  return object;
}

/** The members of an object created in the trace that include a name; null if there is none with that name. */
function madeMembers(object: ObjectValue, name: PrivateName): Map<string, Value | PrivateMethod> | null {
  const found = [...object.privateFields].filter(([, members]) => members.has(name.declaration));
  if (found.length === 0) return null;
  const [[owner, members] = [], ...others] = found;
  // Evaluations of the same text create different names; the class's members show which one a function has.
  if (!owner || !members || others.length > 0 || !holds(owner, name.holder)) {
    return breakGraph("privateState", "of an object made here, in a function that may be of another class");
  }
  return members;
}

/** The classes of functions that represent their private methods. */
const owners = new WeakMap<ObjectValue, ObjectValue>();

/** Records to which class a private method belongs. */
export function noteOwner(method: ObjectValue, owner: ObjectValue): void {
  owners.set(method, owner);
}

/**
 * Returns whether code that has a private name belongs to this very class, and not to another evaluation of its text.
 */
function holds(owner: ObjectValue, holder: ObjectValue | null): boolean {
  if (holder === owner || (holder && owners.get(holder) === owner)) return true;
  const { real } = owner, fn = holder?.real;
  if (!real || !fn) return false;
  const prototype: unknown = Reflect.getOwnPropertyDescriptor(real, "prototype")?.value;
  const has = (object: object): boolean =>
    Reflect.ownKeys(object).some((key) => {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
      return value === fn || get === fn || set === fn;
    });
  return has(real) || (typeof prototype === "object" && prototype !== null && has(prototype));
}

function isMethod(member: Value | PrivateMethod): member is PrivateMethod {
  return !("kind" in member);
}

/**
 * The access by which the trace identifies a member. Every function has its own access to a member of its class, so two
 * accesses with the same name are compared on the object: they access the same member if one reads what the other
 * writes.
 */
function canonical(object: ObjectValue, name: string, access: PrivateAccess): PrivateAccess {
  const { real } = object;
  if (!real) return access;
  const known = accessesTo(object, name);
  const same = known.find((other) => other === access || isSameMember(real, access, other));
  if (!same) known.push(access);
  return same ?? access;
}

/** The known accesses to members with one name of an object. */
function accessesTo(object: ObjectValue | TensorValue, name: string): PrivateAccess[] {
  let known = object.privateAccess.get(name);
  if (!known) object.privateAccess.set(name, known = []);
  return known;
}

/** Returns the source of an object's member: members with one name, of several classes, have distinct names. */
export function memberSource(object: ObjectValue | TensorValue, name: string, access: PrivateAccess): Source {
  invariant(object.source, "Expected an object of the program");
  return privateSource(object.source, memberName(object, name, access), access);
}

function memberName(object: ObjectValue | TensorValue, name: string, access: PrivateAccess): string {
  const known = accessesTo(object, name);
  let index = known.indexOf(access);
  if (index < 0) index = known.push(access) - 1;
  return index === 0 ? name : `${name}#${index + 1}`;
}

/** Readers of the presence of a member. */
const presences = new WeakMap<PrivateAccess, PrivateReader>();

/** Returns the source of the presence of an object's member. */
function presenceSource(object: ObjectValue, name: string, access: PrivateAccess): Source {
  invariant(object.source, "Expected an object of the program");
  let reader = presences.get(access);
  if (!reader) presences.set(access, reader = { get: (of) => access.has(of) });
  return privateSource(object.source, `has(${memberName(object, name, access)})`, reader);
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

/** Returns the stand-in for a private method that is accessible only from the next call on. */
function unreachedMethod(m: Interpreter, { info, code }: Frame, index: number): Value | null {
  if (info.kind !== "real") return null;
  const found = info.binding(index);
  const method = found.kind === "pending" ? m.standIns.methodFor(found) : null;
  return method && m.wrapper.known(method, code.free[index]?.name ?? "#");
}

/** object.#name */
export function getPrivate(m: Interpreter, frame: Frame, instruction: InstructionOf<"getPrivate">): void {
  const object = receiverOf(frame, instruction.object), name = nameAt(frame, instruction.name);
  const completion: Completion = { kind: "register", register: instruction.dst };
  if (object.real === null) {
    const member = madeMembers(object, name)?.get(name.declaration);
    if (!member) return breakGraph("throws", "a private member of another class");
    if (!isMethod(member)) return m.complete(completion, member);
    if (member.call) return m.complete(completion, member.call);
    if (!member.get) return breakGraph("throws", "a private accessor without a getter");
    return m.call({ callee: member.get, self: object, args: [], completion });
  }
  const value = unreachedMethod(m, frame, instruction.name) ?? realMember(m, object, {
    text: name.text,
    given: accessOf(m, frame, instruction.name, name),
  });
  m.complete(completion, value);
}

function realMember(
  m: Interpreter,
  object: ObjectValue,
  { text, given }: { readonly text: string; readonly given: PrivateAccess },
): Value {
  const { real } = object;
  invariant(real, "Expected a real object");
  refuseToCache(PRIVATE_STATE);
  if (!given.has(real)) breakGraph("throws", "a private member of another class");
  const access = canonical(object, text, given);
  const written = object.privates.get(access);
  if (written) return written;
  if (access.member === "accessor") breakGraph("privateState", "a private accessor");
  const content = access.get(real);
  return access.member === "method" && typeof content === "function"
    ? m.wrapper.known(content, text)
    : m.wrapper.wrap(content, memberSource(object, text, access));
}

/** object.#name = value */
export function setPrivate(
  m: Interpreter,
  frame: Frame,
  { object: register, name: index, value }: {
    readonly object: number;
    readonly name: number;
    readonly value: Value;
  },
): void {
  const object = receiverOf(frame, register), name = nameAt(frame, index);
  const completion: Completion = { kind: "discard" };
  if (object.real === null) {
    const members = madeMembers(object, name), member = members?.get(name.declaration);
    if (!members || !member) return breakGraph("throws", "a private member of another class");
    if (!isMethod(member)) {
      members.set(name.declaration, value);
      return m.complete(completion, value);
    }
    if (!member.set) return breakGraph("throws", "a private method is assigned");
    return m.call({ callee: member.set, self: object, args: [value], completion });
  }
  const access = accessOf(m, frame, index, name);
  if (access.member !== "field") breakGraph("privateState", "a private accessor");
  if (!access.has(object.real)) breakGraph("throws", "a private member of another class");
  refuseToCache(PRIVATE_STATE);
  object.privates.set(canonical(object, name.text, access), value);
  m.complete(completion, value);
}

/** #name in object */
export function hasPrivate(m: Interpreter, frame: Frame, instruction: InstructionOf<"hasPrivate">): void {
  const object = objectOf(frame, instruction.object);
  const name = nameAt(frame, instruction.name);
  const set = (has: boolean) => m.complete({ kind: "register", register: instruction.dst }, constant(has));
  if (object.real === null) return set(madeMembers(object, name) !== null);
  // A class created in the trace has created no object outside of it.
  if (frame.info.kind === "made" && name.access === null) return set(false);
  const access = accessOf(m, frame, instruction.name, name);
  refuseToCache(PRIVATE_STATE);
  m.wrapper.relyOnPrototype(object);
  // An object that inherits from a class need not be one of its instances
  m.complete(
    { kind: "register", register: instruction.dst },
    m.wrapper.wrap(access.has(object.real), presenceSource(object, name.text, access)),
  );
}

/** Adds a private field to an object created in the trace. */
export function addPrivate(
  owner: ObjectValue,
  object: ObjectValue,
  { declaration, value }: { readonly declaration: string; readonly value: Value | PrivateMethod },
): void {
  let members = object.privateFields.get(owner);
  if (!members) object.privateFields.set(owner, members = new Map());
  if (members.has(declaration)) return breakGraph("throws", "a private field exists already");
  members.set(declaration, value);
}
