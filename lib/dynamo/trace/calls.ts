/**
 * Traces calls and constructions. Invariant: a function is recognised by identity, so a user's replacement of a builtin
 * is traced as the user's function.
 */
import { noticesAgain } from "../resume/returns.ts";
import { isOwnModule } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { CodeObject } from "../bytecode/code.ts";
import {
  type BoundInfo,
  type CallableInfo,
  type ClassInfo,
  type FunctionInfo,
  missingInstructions,
} from "../functions/functions.ts";
import {
  dataSlot,
  isCallable,
  type MadeCode,
  ObjectValue,
  primitive,
  type PrivateMethod,
  UNDEFINED,
  UNINITIALIZED,
  type Value,
} from "../variables/value.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { functionLabel, isClass } from "../variables/labels.ts";
import { builtinPrototype, GENERATORS, refuseOpaque } from "./contents.ts";
import { isConstructor } from "./constructors.ts";
import { inTurn } from "./in_turn.ts";
import { settle } from "./later_calls.ts";
import { addPrivate, noteOwner } from "./private_members.ts";
import { callProxy, constructProxy, proxyOf, targetWithout } from "./proxies.ts";
import { findProperty } from "./objects.ts";
import { defineOwn } from "./property_writes.ts";
import {
  type BoundCode,
  type CallRequest,
  type Completion,
  type ConstructRequest,
  Frame,
  type FrameBindings,
  type Interpreter,
  PUSHED,
} from "./interpreter.ts";

/** Queries of the call layer about functions. */
export interface FunctionKnowledge {
  /** The code of a function or class. */
  infoOf(fn: ObjectValue): CallableInfo;
  /** The model of a builtin or of a function of dyn. */
  modelOf(fn: object): ((m: Interpreter, request: CallRequest) => Value | typeof PUSHED) | undefined;
  /** The model of `new` on a builtin class. */
  constructorOf(fn: object): ConstructorModel | undefined;
}

/** Models `new` of a builtin class; `prototype` is that of the constructed class. */
export type ConstructorModel = (
  m: Interpreter,
  request: ConstructRequest,
  prototype: ObjectValue | null,
) => Value | typeof PUSHED;

/** Calls a function. */
export function callFunction(m: Interpreter, knowledge: FunctionKnowledge, request: CallRequest): void {
  const { callee, completion } = request, proxy = proxyOf(callee);
  if (proxy) return callProxy(m, proxy, request);
  refuseOpaque(callee);
  if (callee.exotic.kind === "called") return m.complete(completion, settle(m, request));
  if (callee.exotic.kind === "bound") {
    const { target, self, args } = callee.exotic;
    if (!isCallable(target)) return breakGraph("throws", "a bound function without target");
    return callFunction(m, knowledge, { callee: target, self, args: [...args, ...request.args], completion });
  }
  if (callee.real) {
    const model = knowledge.modelOf(callee.real);
    if (model) {
      const result = model(m, request);
      if (result !== PUSHED) m.complete(completion, result);
      return;
    }
    if (isClass(callee.real)) return breakGraph("throws", "a class is called without new");
  }
  const { exotic } = callee;
  if (exotic.kind === "function" && exotic.definition) {
    return breakGraph("throws", "a class is called without new");
  }
  if (exotic.kind === "function" && exotic.closure) {
    return enter(m, { kind: "made", free: exotic.closure.free }, exotic.closure.code, request);
  }
  const info = knowledge.infoOf(callee);
  if (info.kind === "none") {
    return breakGraph(
      "builtin",
      `${callee.real ? functionLabel(callee.real) : "a function"} (${info.because})`,
    );
  }
  if (info.kind === "class") return breakGraph("throws", "a class is called without new");
  if (info.kind === "bound") {
    return callFunction(m, knowledge, { ...request, ...unbind(m, info, request.args) });
  }
  enter(m, { kind: "real", binding: info.binding }, info.code, request);
}

/** Returns the target of a real bound function. Target, receiver and arguments of a bound function never change. */
function unbind(
  m: Interpreter,
  info: BoundInfo,
  args: readonly Value[],
): { readonly callee: ObjectValue; readonly self: Value; readonly args: readonly Value[] } {
  m.memory.refuse();
  const known = (value: unknown): Value =>
    (typeof value === "object" && value !== null) || typeof value === "function"
      ? m.wrapper.known(value, "bound")
      : primitive(value);
  const callee = known(info.target);
  if (!isCallable(callee)) return breakGraph("throws", "a bound function without target");
  return { callee, self: known(info.self), args: [...info.args.map(known), ...args] };
}

/** The code that a call of a function enters; null if it enters none. */
export function codeOf(knowledge: FunctionKnowledge, callee: ObjectValue): BoundCode | null {
  const { exotic, real } = callee;
  if (exotic.kind !== "function" || exotic.definition) return null;
  const { closure } = exotic;
  if (closure) return entered({ code: closure.code, bindings: { kind: "made", free: closure.free } });
  if (!real || knowledge.modelOf(real) || isClass(real)) return null;
  const info = knowledge.infoOf(callee);
  if (info.kind !== "function" || isOwnModule(info.code.module.url)) return null;
  return entered({ code: info.code, bindings: { kind: "real", binding: info.binding } });
}

/** Code that can be entered; null if a construct in it has no instructions. */
function entered(bound: BoundCode): BoundCode | null {
  return missingInstructions(bound.code) === null ? bound : null;
}

/** Pushes the frame of a call. */
function enter(m: Interpreter, bindings: FrameBindings, code: CodeObject, request: CallRequest): void {
  refuseOwnState(code);
  const completion = code.async ? promiseOf(code, request.completion) : request.completion;
  const self = receiver(m, code, request.self);
  const frame = new Frame(bindings, code, request.callee, self, request.args, UNDEFINED, completion);
  // An async function begins outside of the trace, where its parameters are bound
  if (code.generator && !code.async) {
    frame.generator = new ObjectValue(
      { kind: "generator", state: "suspendedStart", frame: null },
      null,
      null,
      null,
    );
  }
  m.push(frame);
}

/**
 * Returns the completion of an async function's promise, or an async generator, unless it may resume later than in
 * the program's order.
 */
function promiseOf(code: CodeObject, completion: Completion): Completion {
  const { name, generator } = code;
  const staysPlain = generator && (missingInstructions(code) !== null || noticesAgain(code));
  if (!staysPlain && completion.kind === "register") {
    return generator ? completion : { kind: "promise", register: completion.register };
  }
  if (!staysPlain && generator && completion.kind === "iterator") return completion;
  return breakGraph("generator", `${name || "an async function"} is called`);
}

function receiver(m: Interpreter, code: CodeObject, self: Value): Value {
  if (code.strict || !code.usesThis) return self;
  if (self.kind === "constant" && (self.value === undefined || self.value === null)) {
    return m.wrapper.known(globalThis, "globalThis");
  }
  if (self.kind === "object" || self.kind === "tensor") return self;
  return breakGraph("coercion", "a primitive receiver of a sloppy function");
}

/** Returns the prototype of a function's generator, once its parameters are bound. */
export function generatorPrototype(m: Interpreter, callee: ObjectValue): ObjectValue | null {
  const found = findProperty(m, callee, "prototype");
  if (found.kind === "value" && found.value.kind === "object") return found.value;
  return builtinPrototype(m, GENERATORS, "Generator");
}

/** `new callee(...args)` with a new.target. */
export function construct(m: Interpreter, knowledge: FunctionKnowledge, request: ConstructRequest): void {
  const { callee, newTarget, completion } = request, proxy = proxyOf(callee);
  if (proxy) {
    if (!isConstructor(callee)) return breakGraph("throws", "a proxy of a value that is not a constructor");
    return constructProxy(m, proxy, request);
  }
  refuseOpaque(callee);
  if (callee.exotic.kind === "bound") {
    const { target, args } = callee.exotic;
    if (!isCallable(target)) return breakGraph("throws", "a bound function without target");
    const through = newTarget === callee ? target : newTarget;
    return construct(m, knowledge, {
      callee: target,
      args: [...args, ...request.args],
      newTarget: through,
      completion,
    });
  }
  if (callee.real) {
    const model = knowledge.constructorOf(callee.real);
    if (model) {
      const { prototype }: { readonly prototype?: unknown } = callee.real;
      const result = model(m, request, prototypeOfNew(m, newTarget, prototype as object));
      if (result !== PUSHED) m.complete(completion, result);
      return;
    }
    const { prototype }: { readonly prototype?: unknown } = callee.real;
    if (prototype instanceof Tensor) return breakGraph("constructor", "a subclass of Tensor");
  }
  const { exotic } = callee;
  if (exotic.kind === "function" && exotic.closure) {
    const { code, free } = exotic.closure;
    if (code.kind !== "function" || code.generator || code.async) {
      return breakGraph("throws", "not a constructor");
    }
    return constructBase(m, { kind: "made", free }, code, request);
  }
  const parts = classPartsOf(m, knowledge, callee);
  if (parts) return constructClass(m, knowledge, parts, request);
  const info = knowledge.infoOf(callee);
  switch (info.kind) {
    case "none":
      return breakGraph(
        "constructor",
        `${callee.real ? functionLabel(callee.real) : "a function"} (${info.because})`,
      );
    case "function": {
      const { code } = info;
      if (code.kind !== "function" || code.generator || code.async) {
        return breakGraph("throws", "not a constructor");
      }
      return constructBase(m, { kind: "real", binding: info.binding }, code, request);
    }
    case "bound": {
      const { callee: target, args } = unbind(m, info, request.args);
      return construct(m, knowledge, {
        ...request,
        callee: target,
        args,
        newTarget: newTarget === callee ? target : newTarget,
      });
    }
    case "class":
      return breakGraph("constructor", "a class without parts");
    default:
      return info satisfies never;
  }
}

/** The parts of a class from which instances are created, whether it exists outside of the trace or not. */
interface ClassParts {
  readonly derived: boolean;
  readonly constructorCode: BoundCode | null;
  readonly fields: readonly {
    readonly key: string | symbol | null;
    readonly declaration: string | null;
    readonly value: BoundCode | null;
  }[];
  /** By declaration. */
  readonly privateMethods: ReadonlyMap<string, PrivateMethod>;
}

/** The parts of a class; null for other values. */
function classPartsOf(
  m: Interpreter,
  knowledge: Pick<FunctionKnowledge, "infoOf">,
  callee: ObjectValue,
): ClassParts | null {
  const { exotic } = callee;
  if (exotic.kind === "function" && exotic.definition) {
    const { derived, constructorCode, fields, privateMethods } = exotic.definition;
    const bound = (made: MadeCode | null): BoundCode | null =>
      made && { code: made.code, bindings: { kind: "made", free: made.free } };
    return {
      derived,
      constructorCode: bound(constructorCode),
      fields: fields.map(({ key, declaration, value }) => ({ key, declaration, value: bound(value) })),
      privateMethods,
    };
  }
  const info = knowledge.infoOf(callee);
  if (info.kind !== "class") return null;
  const bound = (found: FunctionInfo | null): BoundCode | null =>
    found && { code: found.code, bindings: { kind: "real", binding: found.binding } };
  return {
    derived: info.derived,
    constructorCode: bound(info.constructorInfo),
    fields: info.fields.map(({ key, declaration, value }) => ({ key, declaration, value: bound(value) })),
    privateMethods: standInMethods(m, callee, info),
  };
}

/** Returns whether instances of a class have private members. */
export function makesPrivate(
  m: Interpreter,
  knowledge: Pick<FunctionKnowledge, "infoOf">,
  callee: ObjectValue,
): boolean {
  const parts = classPartsOf(m, knowledge, callee);
  return parts !== null && hasPrivate(parts);
}

/** Private methods as values that generated code cannot create. */
function standInMethods(
  m: Interpreter,
  owner: ObjectValue,
  info: ClassInfo,
): ReadonlyMap<string, PrivateMethod> {
  const methods = new Map<string, PrivateMethod>();
  for (const { declaration, kind, standIn } of info.privateMethods) {
    const fn = m.wrapper.known(standIn, "a private method");
    if (!isCallable(fn)) continue;
    fn.onlyTraced ??= { step: m.steps - 1, cause: { kind: "privateState", detail: MADE_PRIVATE } };
    noteOwner(fn, owner);
    methods.set(declaration, { call: null, get: null, set: null, ...methods.get(declaration), [kind]: fn });
  }
  return methods;
}

function hasPrivate({ fields, privateMethods }: ClassParts): boolean {
  return privateMethods.size > 0 ||
    fields.some(({ declaration }) => declaration !== null);
}

function constructClass(
  m: Interpreter,
  knowledge: FunctionKnowledge,
  parts: ClassParts,
  request: ConstructRequest,
): void {
  const { callee, newTarget, completion } = request;
  const own = parts.constructorCode;
  if (parts.derived) {
    if (own) {
      return m.push(
        new Frame(own.bindings, own.code, callee, UNINITIALIZED, request.args, newTarget, completion),
      );
    }
    m.wrapper.relyOnPrototype(callee);
    const parent = callee.prototype;
    if (!parent || !isCallable(parent)) return breakGraph("throws", "Super constructor is not a constructor");
    const step = m.steps - 1;
    return construct(m, knowledge, {
      callee: parent,
      args: request.args,
      newTarget,
      completion: {
        kind: "inside",
        then: (object) =>
          initialize(m, parts, { callee, object, step }, () => m.complete(completion, object)),
      },
    });
  }
  const object = new ObjectValue({ kind: "plain" }, prototypeOfNew(m, newTarget), null, null);
  object.madeAs = newTarget;
  initialize(m, parts, { callee, object, step: m.steps - 1 }, () => {
    if (!own) return m.complete(completion, object);
    m.push(
      new Frame(
        own.bindings,
        own.code,
        callee,
        object,
        request.args,
        newTarget,
        constructCompletion(m, object, completion),
      ),
    );
  });
}

/** Functions of dyn that read or write variables of its modules, which neither graphs nor guards know about. */
function refuseOwnState(code: CodeObject): void {
  if (!code.free.some((variable) => variable.reassigned && variable.kind === "let")) return;
  if (isOwnModule(code.module.url)) breakGraph("builtin", `${code.name}, which has state of its own`);
}

function constructBase(
  m: Interpreter,
  bindings: FrameBindings,
  code: CodeObject,
  request: ConstructRequest,
): void {
  const { callee, newTarget, completion } = request;
  const object = new ObjectValue({ kind: "plain" }, prototypeOfNew(m, newTarget), null, null);
  m.push(
    new Frame(
      bindings,
      code,
      callee,
      object,
      request.args,
      newTarget,
      constructCompletion(m, object, completion),
    ),
  );
}

/** A result that is not an object is replaced by the object under construction. */
function constructCompletion(m: Interpreter, object: ObjectValue, completion: Completion): Completion {
  if (completion.kind === "register") return { kind: "construct", register: completion.register, object };
  return {
    kind: "inside",
    then: (value) =>
      m.complete(completion, value.kind === "object" || value.kind === "tensor" ? value : object),
  };
}

const MADE_PRIVATE = "an object with private members is made";

/** Runs the field initialisers of the class whose derived constructor is on top, for the object under construction. */
export function initializeFields(
  m: Interpreter,
  knowledge: FunctionKnowledge,
  { callee, object }: { readonly callee: ObjectValue; readonly object: Value },
  then: () => void,
): void {
  const parts = classPartsOf(m, knowledge, callee);
  if (!parts) return breakGraph("constructor", "a class without accessible source");
  initialize(m, parts, { callee, object, step: m.top.calledAt }, then);
}

/** Adds the private methods and the fields of a class to a new object, in order. */
function initialize(
  m: Interpreter,
  parts: ClassParts,
  { callee, object, step }: {
    readonly callee: ObjectValue;
    readonly object: Value;
    /** The instruction at which the graph ends if the object is needed outside of the trace. */
    readonly step: number;
  },
  then: () => void,
): void {
  const { fields, privateMethods } = parts;
  if (fields.length === 0 && privateMethods.size === 0) return then();
  if (object.kind !== "object") return breakGraph("privateState", "fields of a foreign object");
  if (hasPrivate(parts)) {
    if (object.real || step < 0) return breakGraph("privateState", MADE_PRIVATE);
    object.onlyTraced ??= { step, cause: { kind: "privateState", detail: MADE_PRIVATE } };
    for (const [declaration, value] of privateMethods) addPrivate(callee, object, { declaration, value });
  }
  inTurn((index, next) => {
    const field = fields[index];
    if (!field) return false;
    const { key, declaration, value } = field;
    const put = (found: Value): void => {
      if (declaration !== null) addPrivate(callee, object, { declaration, value: found });
      else if (key === null) breakGraph("constructor", "a field with a computed name");
      else defineOwn(m, object, key, dataSlot(found));
      next();
    };
    if (!value) return put(UNDEFINED);
    m.push(
      new Frame(value.bindings, value.code, callee, object, [], UNDEFINED, { kind: "inside", then: put }),
    );
  }, then);
}

/**
 * The prototype of the result of `new`: the target's, or, if that is not an object, that of the builtin that creates
 * it.
 */
function prototypeOfNew(
  m: Interpreter,
  newTarget: ObjectValue,
  otherwise: object = Object.prototype,
): ObjectValue | null {
  const proxy = proxyOf(newTarget);
  if (proxy) return prototypeOfNew(m, targetWithout(m, proxy, "get"), otherwise);
  const found = findProperty(m, newTarget, "prototype");
  if (found.kind === "getter") return breakGraph("constructor", "a prototype with a getter");
  return found.kind === "value" && found.value.kind === "object"
    ? found.value
    : builtinPrototype(m, otherwise, "the constructor");
}

/** Returns the callback of a builtin, or breaks the graph. */
export function callbackOf(value: Value | undefined): ObjectValue {
  return value && isCallable(value) ? value : breakGraph("throws", "a callback is not a function");
}
