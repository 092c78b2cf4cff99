/**
 * The tracer's knowledge of a function value: its code, and access to its captures, cached by identity. Invariant:
 * functions that generated code creates from code objects are known by these code objects, not by their printed text.
 */
import { isUnrevoked } from "../guards/runtime.ts";
import { ownWeakMap } from "../../base/collections.ts";
import { messageOf } from "../../base/errors.ts";
import { counters } from "../../base/logs.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { UnsupportedSyntax } from "../bytecode/code.ts";
import { captureAgain, captureFunction } from "../frame/capture.ts";
import { InspectorUnavailable, isUntilTask } from "../frame/inspector.ts";
import { loadedText } from "../frame/source_text.ts";
import { ReplacedBuiltins, withOwnBuiltins } from "../../base/own_builtins.ts";
import type { Captured, CapturedClass, FreeBinding } from "../frame/info.ts";
import { isNoting, noteCell, noteFunction, noteVariable, refuseToCache } from "../disk_cache/noted_reads.ts";

/** A function that the tracer can inline. */
export interface FunctionInfo {
  readonly kind: "function";
  readonly code: CodeObject;
  /** The free variable with that index in `code.free`. */
  readonly binding: (index: number) => FreeBinding;
}

/** A class that the tracer can construct. */
export interface ClassInfo {
  readonly kind: "class";
  /** The constructor as written; null if there is none. */
  readonly constructorInfo: FunctionInfo | null;
  readonly derived: boolean;
  readonly fields: readonly FieldInfo[];
  /** Functions in place of private methods and accessors, which only instances provide. */
  readonly privateMethods: readonly PrivateMethodInfo[];
}

/** An instance field. */
interface FieldInfo {
  /** Null if the key has to be computed. */
  readonly key: string | symbol | null;
  /** For a private field, the declaration of its name; null for public ones. */
  readonly declaration: string | null;
  /** Computes the value; null if the field starts undefined. */
  readonly value: FunctionInfo | null;
  /** Access to a private field. */
  readonly access: () => FreeBinding;
}

/** A private method or accessor of a class's instances. */
interface PrivateMethodInfo {
  readonly declaration: string;
  readonly kind: "call" | "get" | "set";
  /** Identifies its code, and is never called. */
  readonly standIn: object;
}

/** The reason why a function cannot be inlined. */
interface NoInfo {
  readonly kind: "none";
  readonly because: string;
  /** Whether another attempt may succeed: with other builtins, or in another task. */
  readonly retry: "builtins" | "task" | null;
  /** The construct responsible, if there is one. */
  readonly place: SourcePosition | null;
  /** Whether it has no source text. */
  readonly isNative: boolean;
}

/** A function created by `bind`. */
export interface BoundInfo {
  readonly kind: "bound";
  readonly target: object;
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/**
 * Thrown if variables of a function can only be obtained when it is next called; until then nothing that needs them is
 * compiled.
 */
export class VariablesPending extends Error {
  override readonly name = "VariablesPending";
}

export type CallableInfo = FunctionInfo | ClassInfo | BoundInfo | NoInfo;

const known = ownWeakMap<object, CallableInfo>();

/** Functions whose creators have registered their information. */
const madeFunctions = ownWeakMap<object, FunctionInfo | ClassInfo>();

/** Code whose instructions have been compiled, with the text of its functions. */
const made = new WeakMap<CodeObject, string>();

/** Returns the information about a function or class. */
export function infoOf(fn: object): CallableInfo {
  let info = known.get(fn);
  if (!info) {
    info = noting(fn, madeFunctions.get(fn) ?? again(fn) ?? look(fn));
    if (info.kind !== "none" || info.retry === null) known.set(fn, info);
  }
  if (isNoting()) noteInfo(fn, info);
  return info;
}

/** Like `infoOf`, for a trace that would inline the function. Throws if its code can only be read in a later task. */
export function tracedInfo(fn: object): CallableInfo {
  const info = infoOf(fn);
  if (info.kind === "none" && info.retry === "task") {
    throw new InspectorUnavailable(info.because, { retry: true });
  }
  return info;
}

/** Returns the information and records the trace's reads of the function's variables. */
function noting(fn: object, info: CallableInfo): CallableInfo {
  const reading = (given: FunctionInfo): FunctionInfo => ({
    ...given,
    binding(index) {
      const binding = given.binding(index), name = given.code.free[index]?.name ?? "";
      if (binding.kind === "value") noteVariable(fn, name, binding.value);
      else if (binding.kind === "cell") noteCell(fn, name, binding.cell);
      else refuseToCache(`${name}, a variable that cannot be looked up`);
      return binding;
    },
  });
  switch (info.kind) {
    case "function":
      return reading(info);
    case "class":
      return {
        ...info,
        constructorInfo: info.constructorInfo && reading(info.constructorInfo),
        fields: info.fields.map((field) => ({ ...field, value: field.value && reading(field.value) })),
      };
    case "bound":
    case "none":
      return info;
    default:
      return info satisfies never;
  }
}

/** Target and handler of a proxy; null if it is revoked, or if the engine does not reveal them. */
export function proxyParts(
  proxy: object,
): { readonly target: object; readonly handler: object } | null {
  // The engine still reports the target of a revoked proxy
  const found = isUnrevoked(proxy) ? captureFunction(proxy) : null;
  if (found?.kind !== "proxy" || found.handler === null) return null;
  return { target: found.target, handler: found.handler };
}

/** Records that a trace has queried a function. */
function noteInfo(fn: object, info: CallableInfo): void {
  noteFunction(fn);
  switch (info.kind) {
    case "function":
      return;
    case "class":
      if (info.privateMethods.length > 0 || info.fields.some(({ declaration }) => declaration !== null)) {
        refuseToCache("a class with private members");
      }
      return;
    case "bound":
      return;
    case "none":
      return info.isNative ? undefined : refuseToCache(info.because);
    default:
      info satisfies never;
  }
}

/** Returns the information about another closure of compiled code, because closures are created anew in each call. */
function again(fn: object): FunctionInfo | null {
  const captured = captureAgain(fn);
  if (!captured || !made.has(captured.code)) return null;
  return { kind: "function", code: captured.code, binding: captured.binding };
}

/** Returns whether a function is of that code; the inspector is not asked about functions of another text. */
export function isOfCode(fn: object, code: CodeObject): boolean {
  return (known.has(fn) || looksLike(fn, code)) && codeOf(fn) === code;
}

/**
 * Returns whether a function has the text of some code, which suffices for calling it, and takes a hundredth of the
 * time. Functions of generated code are compared by their code.
 */
export function looksLike(fn: object, code: CodeObject): boolean {
  const text = madeFunctions.has(fn) ? undefined : made.get(code);
  return text === undefined ? codeOf(fn) === code : loadedText(fn) === text;
}

/** Registers information about a function by its creator: generated code, for the functions that it creates. */
export function registerMade(fn: object, info: FunctionInfo | ClassInfo): void {
  madeFunctions.set(fn, info);
}

/** Returns the information registered by a function's creator; undefined for functions of the program. */
export function madeInfo(fn: object): FunctionInfo | ClassInfo | undefined {
  return madeFunctions.get(fn);
}

/** The code object of a plain function, or null. */
export function codeOf(fn: unknown): CodeObject | null {
  if (typeof fn !== "function") return null;
  const info = infoOf(fn);
  return info.kind === "function" ? info.code : null;
}

/** Returns the parts of a function or class that have their own code, by name. */
export function codesOf(fn: object): readonly (readonly [part: string, info: FunctionInfo])[] {
  const info = infoOf(fn);
  switch (info.kind) {
    case "function":
      return [["function", info]];
    case "class": {
      const { constructorInfo, fields } = info;
      return [
        ...constructorInfo ? [["constructor", constructorInfo] as const] : [],
        ...fields.flatMap(({ value }, i) => value ? [[`field ${i}`, value] as const] : []),
      ];
    }
    case "bound":
    case "none":
      return [];
    default:
      return info satisfies never;
  }
}

/** No information. */
export const NO_INFO: NoInfo = { kind: "none", because: "", retry: null, place: null, isNative: false };

function look(fn: object): CallableInfo {
  try {
    return withOwnBuiltins(() => find(fn));
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
    return { ...NO_INFO, because: error.message, retry: "builtins" };
  }
}

function find(fn: object): CallableInfo {
  const none = (because: string, inTask = false): NoInfo => ({
    ...NO_INFO,
    because,
    retry: inTask ? "task" : null,
  });
  try {
    const captured: Captured = captureFunction(fn);
    switch (captured.kind) {
      case "function": {
        const { code, binding } = captured;
        // Instructions are compiled on first access; unsupported constructs are found here.
        void code.instructions;
        made.set(code, loadedText(fn));
        return { kind: "function", code, binding };
      }
      case "class":
        return classInfo(captured);
      case "bound":
        return { kind: "bound", target: captured.target, self: captured.self, args: captured.args };
      case "proxy":
        return none("a proxy");
      case "native":
        return { ...none("a function of the runtime"), isNative: true };
      case "unavailable":
        return none(captured.because, captured.retry);
      default:
        return captured satisfies never;
    }
  } catch (error) {
    if (error instanceof VariablesPending) throw error;
    if (isUntilTask(error)) return none(error.message, true);
    return {
      ...none(whyNoCode(error)),
      place: error instanceof UnsupportedSyntax ? placeOf(error, fn) : null,
    };
  }
}

function placeOf({ position: { file, line, column, text } }: UnsupportedSyntax, fn: object): SourcePosition {
  const name: unknown = Reflect.getOwnPropertyDescriptor(fn, "name")?.value;
  const functionName = typeof name === "string" ? name : "";
  return { file, line, column: column + 1, functionName, code: (text ?? "").trim() };
}

/** The reason why a function has no instructions: its syntax is unsupported, or compiling it failed. */
function whyNoCode(error: unknown): string {
  if (error instanceof UnsupportedSyntax) return `unsupported syntax: ${error.construct}`;
  counters.add("lowering_failures", messageOf(error));
  return `its instructions could not be made, which is a bug in dyn: ${messageOf(error)}`;
}

/**
 * The reason why a code object of a traced function has no instructions; null if it has. They are compiled on first
 * access.
 */
export function missingInstructions(code: CodeObject): string | null {
  try {
    void code.instructions;
    return null;
  } catch (error) {
    return whyNoCode(error);
  }
}

function classInfo(captured: CapturedClass): ClassInfo {
  const { constructorCode, derived, fields, privateMethods, binding, fieldBinding, nameBinding } = captured;
  if (constructorCode) void constructorCode.instructions;
  return {
    kind: "class",
    constructorInfo: constructorCode ? { kind: "function", code: constructorCode, binding } : null,
    derived,
    fields: fields.map((field) => ({
      key: field.key,
      declaration: field.declaration,
      value: field.value
        ? { kind: "function", code: field.value, binding: (index) => fieldBinding(field, index) }
        : null,
      access: () => nameBinding(field),
    })),
    privateMethods: privateMethods.map((method) => {
      const standIn = () => {};
      const ofMethod = (index: number) => captured.methodBinding(method, index);
      registerMade(standIn, { kind: "function", code: method.code, binding: ofMethod });
      return { declaration: method.declaration, kind: method.kind, standIn };
    }),
  };
}
