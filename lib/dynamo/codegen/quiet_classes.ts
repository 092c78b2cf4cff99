/**
 * Instances with private members in generated code, which only their class can create. Invariant: generated code
 * constructs a class only if that has no effects, whatever the arguments, and then overwrites every field.
 */
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction, Register } from "../bytecode/instruction.ts";
import { writes } from "../bytecode/effects.ts";
import type { PrivateAccess } from "../frame/info.ts";
import { type ClassInfo, infoOf, VariablesPending } from "../functions/functions.ts";
import type { ObjectValue } from "../variables/value.ts";
import { inheritsAnew } from "../variables/wrap.ts";
import { mayRunCode, privateValues } from "./object_shape.ts";

type Constructor = (new () => object) & { readonly prototype: object };

/** The parts from which generated code creates an instance. */
export interface InstanceParts {
  readonly constructor: Constructor;
  /** Access to private fields, by their declarations. */
  readonly accesses: ReadonlyMap<string, PrivateAccess>;
}

/** Classes of the runtime of which constructing an empty instance has no effects. */
const EMPTY: ReadonlySet<string> = new Set(["Array", "Map", "Object", "Set", "WeakMap", "WeakSet"]);

const known = new WeakMap<ObjectValue, InstanceParts | null>();

/**
 * Returns the parts of an instance with private members; null if generated code cannot create it. Throws
 * VariablesPending if the private names become accessible with the next call.
 */
export function instanceParts(object: ObjectValue): InstanceParts | null {
  let parts = known.get(object);
  if (parts === undefined) known.set(object, parts = partsOf(object));
  return parts;
}

function partsOf(object: ObjectValue): InstanceParts | null {
  const { madeAs, privateFields } = object;
  if (privateFields.size === 0 || !isConstructor(madeAs?.real) || inheritsAnew(object)) return null;
  const constructor = madeAs.real, chain = quietChain(constructor);
  if (!chain || ![...privateFields.keys()].every(({ real }) => chain.some(({ fn }) => fn === real))) {
    return null;
  }
  if (!keepsOrder(object, chain, constructor)) return null;
  const accesses = new Map<string, PrivateAccess>(), wanted = new Map(privateValues(object));
  for (const { declaration, access } of chain.flatMap(({ info }) => info.fields)) {
    if (declaration === null || !wanted.has(declaration)) continue;
    const found = access();
    if (found.kind === "pending") throw new VariablesPending(found.because);
    if (found.kind !== "private") return null;
    accesses.set(declaration, found.access);
  }
  return { constructor, accesses };
}

function isConstructor(fn: unknown): fn is Constructor {
  return typeof fn === "function";
}

/** Returns whether constructing the class begins with properties that the object still has, in that order. */
function keepsOrder(
  object: ObjectValue,
  chain: readonly Link[],
  constructor: Constructor,
): boolean {
  if (chain.some(({ assigned }) => assigned.some((key) => mayRunCode(object, key)))) return false;
  try {
    const keys = Reflect.ownKeys(new constructor()), slots = [...object.slots.keys()];
    return keys.every((key, i) => key === slots[i] && object.slots.get(key)?.kind === "data");
  } catch {
    return false;
  }
}

/** A class whose constructor and fields have no effects except on the instance. */
interface Link {
  readonly fn: object;
  readonly info: ClassInfo;
  /** The properties that the constructor assigns. */
  readonly assigned: readonly string[];
}

/** Returns the class and its ancestors; null if one of them may have effects. */
function quietChain(constructor: object): readonly Link[] | null {
  const chain: Link[] = [];
  for (let fn: object | null = constructor; fn; fn = Reflect.getPrototypeOf(fn)) {
    const info = infoOf(fn);
    if (info.kind !== "class" || info.privateMethods.some(({ kind }) => kind !== "call")) return null;
    const codes = [info.constructorInfo, ...info.fields.map(({ value }) => value)];
    const assigned = codes.map((each) => each ? assignedQuietly(each.code) : []);
    if (info.fields.some(({ key }) => key === null) || assigned.includes(null)) return null;
    chain.push({ fn, info, assigned: assigned.flatMap((keys) => keys ?? []) });
    if (!info.derived) return chain;
  }
  return null;
}

const quiet = new WeakMap<CodeObject, readonly string[] | null>();

/** Returns the properties of `this` that code assigns; null if it may do anything else, throw, or run for long. */
function assignedQuietly(code: CodeObject): readonly string[] | null {
  let keys = quiet.get(code);
  if (keys === undefined) quiet.set(code, keys = new Look(code).assigned());
  return keys;
}

class Look {
  readonly #writers = new Map<Register, Instruction[]>();

  constructor(private readonly code: CodeObject) {
    for (const each of code.instructions) {
      for (const register of writes(each)) {
        const list = this.#writers.get(register);
        if (list) list.push(each);
        else this.#writers.set(register, [each]);
      }
    }
  }

  assigned(): readonly string[] | null {
    const keys: string[] = [];
    for (const [at, each] of this.code.instructions.entries()) {
      if (each.op === "setProp") {
        if (!this.#isThis(each.object) || each.key.kind !== "name") return null;
        keys.push(each.key.name);
      } else if (!this.#isQuiet(each, at)) return null;
    }
    return keys;
  }

  #isQuiet(each: Instruction, at: number): boolean {
    switch (each.op) {
      case "const":
      case "regexp":
      case "move":
      case "uninitialized":
      case "checkTdz":
      case "loadThis":
      case "loadArgument":
      case "loadRest":
      case "loadNewTarget":
      case "loadCallee":
      case "loadHome":
      case "loadFree":
      case "newCell":
      case "loadCell":
      case "storeCell":
      case "closure":
      case "checkSuperOnce":
      case "initFields":
      case "return":
        return true;
      case "jump":
      case "jumpIf":
        return each.target > at;
      case "binary":
        return each.operator === "===" || each.operator === "!==";
      case "checkObject":
        return this.#all(each.src, ({ op }) => op === "const");
      case "superCall":
        return each.args.every(({ spread }) => !spread);
      case "array":
        return each.elements.every(({ kind }) => kind !== "spread");
      case "object":
        return each.members.every((member) => member.kind === "value" && member.key.kind === "name");
      case "setPrivate":
        return this.#isThis(each.object);
      case "loadGlobal":
        return EMPTY.has(each.name);
      case "new":
        return each.args.length === 0 && this.#all(each.callee, ({ op }) => op === "loadGlobal");
      default:
        return false;
    }
  }

  /** Returns whether a register always holds the new instance. */
  #isThis(register: Register): boolean {
    return this.#all(register, ({ op }) => op === "loadThis" || op === "superCall" || op === "uninitialized");
  }

  #all(register: Register, test: (writer: Instruction) => boolean, seen = new Set<Register>()): boolean {
    if (seen.has(register)) return true;
    seen.add(register);
    const writers = this.#writers.get(register) ?? [];
    return writers.length > 0 &&
      writers.every((each) => each.op === "move" ? this.#all(each.src, test, seen) : test(each));
  }
}
