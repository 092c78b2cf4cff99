/**
 * Traces class definitions: classes are built from their members, not from their text. Invariant: generated code
 * never creates such a class; if the program needs one outside of the trace, the graph ends before it is defined.
 */
import { invariant } from "../../base/errors.ts";
import { type BreakCause, breakGraph } from "../break_reasons.ts";
import {
  type ClassCapture,
  type ClassMember,
  type ClassMembers,
  classMembers,
  type MemberCode,
} from "../bytecode/class_members.ts";
import type { InstructionOf } from "../bytecode/instruction.ts";
import {
  type ClassDefinition,
  constant,
  dataSlot,
  isCallable,
  isPassed,
  type MadeCode,
  ObjectValue,
  type PrivateMethod,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { isConstructor } from "./constructors.ts";
import { capturedValues } from "./execute_objects.ts";
import { functionPrototype } from "./free_variables.ts";
import { Frame, type Interpreter } from "./interpreter.ts";
import { inTurn } from "./in_turn.ts";
import { builtinPrototype } from "./contents.ts";
import { defineOwn } from "./property_writes.ts";
import { loadGlobal } from "./globals.ts";
import { addPrivate, nameValue } from "./private_members.ts";
import type { Step } from "./step.ts";

/** The superclass of a class. */
interface Heritage {
  readonly constructor: ObjectValue;
  readonly prototype: ObjectValue | null;
}

/** dst = class { … } */
export function executeClass(step: Step, instruction: InstructionOf<"class">): void {
  const { m, frame } = step;
  const cause: BreakCause = { kind: "classDefinition", detail: instruction.name };
  const template = frame.code.classes[instruction.index];
  invariant(template, "Expected the template of a class");
  const parts = classMembers(frame.code, template);
  if (typeof parts === "string") return breakGraph("classDefinition", `${instruction.name}, for ${parts}`);
  if (parts.namesSymbols) {
    const symbols = loadGlobal(m, "Symbol", false);
    if (symbols.kind !== "object" || symbols.real !== Symbol) {
      return breakGraph("classDefinition", `${instruction.name}, for a computed key`);
    }
  }
  const heritage = instruction.heritage === null ? null : heritageOf(m, step.get(instruction.heritage));
  const outer = capturedValues(step, instruction.captures);
  const keys = (instruction.keys ?? []).map((key) => keyOf(step.get(key), cause));
  new Definition(m, { name: instruction.name, outer, cause, keys }, parts).define(heritage, (made) => {
    step.set(instruction.dst, made);
  });
}

function heritageOf(m: Interpreter, parent: Value): Heritage {
  if (!isCallable(parent) || !isConstructor(parent)) {
    return breakGraph("classDefinition", "a class that extends null or a value that is not a constructor");
  }
  const prototype = m.plainProperty(parent, "prototype");
  if (prototype?.kind === "object") return { constructor: parent, prototype };
  return breakGraph("classDefinition", "a class whose parent has no prototype");
}

/** A computed key, which has been converted to a property key. */
function keyOf(value: Value, cause: BreakCause): string | symbol {
  const key = value.kind === "constant" && !isPassed(value) ? value.value : null;
  if (typeof key !== "string" && typeof key !== "symbol") {
    return breakGraph("classDefinition", `${cause.detail}, for a computed key`);
  }
  return key;
}

class Definition {
  readonly #class: ObjectValue;
  readonly #prototype: ObjectValue;
  readonly #names = new Map<string, ObjectValue>();
  readonly #privateMethods = new Map<string, PrivateMethod>();
  readonly #staticMethods = new Map<string, PrivateMethod>();

  constructor(
    private readonly m: Interpreter,
    private readonly about: {
      readonly name: string;
      readonly outer: readonly Value[];
      readonly cause: BreakCause;
      readonly keys: readonly (string | symbol)[];
    },
    private readonly parts: ClassMembers,
  ) {
    this.#prototype = this.#onlyTraced(
      new ObjectValue({ kind: "plain" }, builtinPrototype(m, Object.prototype, "Object"), null, null),
    );
    const { privateMethods, fields, constructorCode } = this.#definition();
    const definition: ClassDefinition = { derived: parts.derived, constructorCode, fields, privateMethods };
    this.#class = this.#onlyTraced(
      new ObjectValue(
        { kind: "function", closure: null, definition },
        builtinPrototype(m, Function.prototype, "Function"),
        null,
        null,
      ),
    );
  }

  /** Creates the class; static fields run code of the program. */
  define(heritage: Heritage | null, then: (made: ObjectValue) => void): void {
    const made = this.#class, prototype = this.#prototype;
    if (heritage) {
      made.prototype = heritage.constructor;
      prototype.prototype = heritage.prototype;
    }
    const { constructorCode, members } = this.parts;
    const hidden = { kind: "data", enumerable: false } as const;
    const readable = { ...hidden, writable: false, configurable: true };
    made.slots.set("length", { ...readable, value: constant(constructorCode?.code.length ?? 0) });
    made.slots.set("name", { ...readable, value: constant(this.about.name) });
    made.slots.set("prototype", { ...hidden, writable: false, configurable: false, value: prototype });
    prototype.slots.set("constructor", { ...hidden, writable: true, configurable: true, value: made });
    for (const member of members) if (isMethod(member)) this.#addMethod(member);
    for (const [declaration, value] of this.#staticMethods) addPrivate(made, made, { declaration, value });
    const statics = members.filter(runsStatically);
    inTurn((index, next) => {
      const member = statics[index];
      if (!member) return false;
      return member.kind === "block" ? this.#run(member, next) : this.#addStatic(member, next);
    }, () => then(made));
  }

  #onlyTraced(object: ObjectValue): ObjectValue {
    object.onlyTraced = { step: this.m.steps - 1, cause: this.about.cause };
    return object;
  }

  /** Returns the parts from which instances are created. Its lists are complete before anything is constructed. */
  #definition(): Omit<ClassDefinition, "derived"> {
    const made = (member: MemberCode): MadeCode => {
      const { captures } = member;
      const of = (capture: ClassCapture): Value => this.#captured(capture);
      return {
        code: member.code,
        get free() {
          return captures.map(of);
        },
      };
    };
    const fields = this.parts.members.flatMap((member) =>
      member.kind === "field" && !member.isStatic
        ? [{
          key: this.#keyOf(member),
          declaration: member.declaration,
          value: member.value ? made(member.value) : null,
        }]
        : []
    );
    const { constructorCode } = this.parts;
    return {
      fields,
      privateMethods: this.#privateMethods,
      constructorCode: constructorCode ? made(constructorCode) : null,
    };
  }

  #keyOf({ key }: Method | Field): string | symbol {
    return typeof key === "number" ? this.about.keys[key] ?? "" : key;
  }

  #captured(capture: ClassCapture): Value {
    switch (capture.kind) {
      case "outer": {
        const value = this.about.outer[capture.index];
        invariant(value, "Expected what a class captures");
        return value;
      }
      case "class":
        return this.#class;
      case "private": {
        const { name: text, declaration } = capture;
        let name = this.#names.get(declaration);
        if (!name) {
          name = nameValue(this.m, { text, declaration, access: null, holder: this.#class }, text);
          this.#onlyTraced(name);
          this.#names.set(declaration, name);
        }
        return name;
      }
      default:
        return capture satisfies never;
    }
  }

  #addMethod(member: Method): void {
    const { kind, isStatic, declaration, code, captures } = member, key = this.#keyOf(member);
    if (isStatic && key === "prototype") breakGraph("classDefinition", "a static member named prototype");
    const home = isStatic ? this.#class : this.#prototype;
    const closure = {
      code,
      free: captures.map((capture) => this.#captured(capture)),
      home,
      functionName: key,
      namePrefix: kind === "method" ? "" as const : kind,
    };
    const fn = this.#onlyTraced(
      new ObjectValue(
        { kind: "function", closure, definition: null },
        functionPrototype(this.m, code),
        null,
        null,
      ),
    );
    if (declaration !== null) {
      const methods = isStatic ? this.#staticMethods : this.#privateMethods;
      const former = methods.get(declaration) ?? { call: null, get: null, set: null };
      methods.set(declaration, { ...former, [kind === "method" ? "call" : kind]: fn });
      return;
    }
    const flags = { enumerable: false, configurable: true } as const;
    if (kind === "method") home.slots.set(key, { kind: "data", value: fn, writable: true, ...flags });
    else {
      const former = home.slots.get(key);
      const [get, set] = former?.kind === "accessor" ? [former.get, former.set] : [UNDEFINED, UNDEFINED];
      home.slots.set(key, {
        kind: "accessor",
        get: kind === "get" ? fn : get,
        set: kind === "set" ? fn : set,
        ...flags,
      });
    }
  }

  #addStatic(field: Field, next: () => void): void {
    const { m } = this, made = this.#class, { declaration, value } = field, key = this.#keyOf(field);
    const put = (found: Value): void => {
      if (declaration !== null) addPrivate(made, made, { declaration, value: found });
      else defineOwn(m, made, key, dataSlot(found));
      next();
    };
    return value ? this.#run(value, put) : put(UNDEFINED);
  }

  /** Runs code of the class with the class itself as receiver. */
  #run({ code, captures }: MemberCode, then: (value: Value) => void): void {
    const free = captures.map((capture) => this.#captured(capture)), made = this.#class;
    const completion = { kind: "inside", then } as const;
    this.m.push(new Frame({ kind: "made", free }, code, made, made, [], UNDEFINED, completion));
  }
}

type Method = Extract<ClassMember, { readonly kind: "method" | "get" | "set" }>;
type Field = Extract<ClassMember, { readonly kind: "field" }>;
type Block = Extract<ClassMember, { readonly kind: "block" }>;

function isMethod(member: ClassMember): member is Method {
  return member.kind !== "field" && member.kind !== "block";
}

/** Returns whether a member runs once, when the class is defined. */
function runsStatically(member: ClassMember): member is Field | Block {
  return member.kind === "block" || (member.kind === "field" && member.isStatic);
}
