/**
 * Serialises values of a running program as the text of a program that recreates them, with tensors in separate files
 * and a list of values that could not be recorded. Invariant: an object that occurs twice is created once; recording
 * runs no code of the program; a value that cannot be recorded is named in the text and throws on access.
 *
 * Recorded: primitives; tensors with shared memory, gradients, but without history; arrays, plain objects, Map, Set,
 * Date, RegExp, typed arrays; functions and classes by their text with the variables that they capture; instances by
 * their class and their own fields; exports of dyn and globals of the runtime by name. Not recorded: private members,
 * proxies, promises, generators, weak collections, handles of the runtime, bound functions, accessors of objects.
 */
import { types } from "node:util";
import type { FreeBinding } from "../../dynamo/frame/info.ts";
import type { CodeObject, FreeKind } from "../../dynamo/bytecode/code.ts";
import { captureFunction } from "../../dynamo/frame/capture.ts";
import { messageOf } from "../../base/errors.ts";
import { Parameter } from "../../nn/parameter.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";
import { publicName } from "./public_names.ts";

/** Maximum number of recorded objects. */
const MOST_OBJECTS = 20_000;

/** Recorded values. */
export class Recorded {
  /** Statements that create objects, followed by statements that fill them. */
  readonly creations: string[] = [];
  readonly fills: string[] = [];
  readonly tensors: Map<string, Tensor> = new Map();
  /** Values that could not be recorded, and why. */
  readonly missing: string[] = [];
  readonly #names = new Map<unknown, string>();

  /** Returns an expression for a value. `path` describes where it was found, for people. */
  expression(value: unknown, path: string): string {
    switch (typeof value) {
      case "string":
        return JSON.stringify(value);
      case "number":
        return Object.is(value, -0) ? "-0" : `${value}`;
      case "bigint":
        return `${value}n`;
      case "boolean":
      case "undefined":
        return `${value}`;
      case "symbol":
        return this.#symbol(value, path);
      case "function":
        return this.#known(value) ?? this.#function(value, path);
      case "object":
        return value === null ? "null" : this.#known(value) ?? this.#object(value, path);
      default:
        return this.#missing(path, "an unknown kind of value");
    }
  }

  #known(value: object): string | undefined {
    return this.#names.get(value) ?? publicName(value);
  }

  #missing(path: string, because: string): string {
    this.missing.push(`${path}: ${because}`);
    return `dyn.repro.missing(${JSON.stringify(path)}, ${JSON.stringify(because)})`;
  }

  #symbol(value: symbol, path: string): string {
    const registered = Symbol.keyFor(value);
    if (registered !== undefined) return `Symbol.for(${JSON.stringify(registered)})`;
    const known = Object.entries(Object.getOwnPropertyDescriptors(Symbol)).find(([, { value: each }]) =>
      each === value
    );
    return known ? `Symbol.${known[0]}` : this.#missing(path, "a symbol of the program");
  }

  /** Names an object, so that it is created once. */
  #name(value: object, kind: string): string {
    const name = `${kind}${this.#names.size}`;
    this.#names.set(value, name);
    return name;
  }

  #object(value: object, path: string): string {
    if (this.#names.size > MOST_OBJECTS) return this.#missing(path, `more than ${MOST_OBJECTS} objects`);
    if (types.isProxy(value)) return this.#missing(path, "a proxy");
    if (isTensor(value)) return this.#tensor(value, path);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (Array.isArray(value)) return this.#array(value, path);
    if (types.isMap(value) || types.isSet(value)) return this.#collection(value, path);
    if (types.isDate(value)) return this.#made(value, `new Date(${Date.prototype.getTime.call(value)})`);
    if (types.isRegExp(value)) {
      return this.#made(value, `new RegExp(${JSON.stringify(value.source)}, ${JSON.stringify(value.flags)})`);
    }
    if (types.isTypedArray(value)) {
      const elements = Array.from<number | bigint, string>(value, (each) => this.expression(each, path));
      return this.#made(value, `new ${value[Symbol.toStringTag]}([${elements.join(", ")}])`);
    }
    const handle = handleOf(value);
    if (handle) return this.#missing(path, handle);
    if (Reflect.get(value, Symbol.toStringTag) === "Module" && prototype === null) {
      return this.#fields(value, "{}", path);
    }
    if (prototype === Object.prototype) return this.#fields(value, "{}", path);
    if (prototype === null) return this.#fields(value, "Object.create(null)", path);
    return this.#instance(value, prototype, path);
  }

  #made(value: object, expression: string): string {
    const name = this.#name(value, "value");
    this.creations.push(`const ${name} = ${expression};`);
    return name;
  }

  #tensor(tensor: Tensor, path: string): string {
    if (!tensor.storage.filled && tensor.numel() > 0) return this.#missing(path, "a tensor without elements");
    const name = this.#name(tensor, "tensor");
    this.tensors.set(name, tensor);
    const isParameter = tensor instanceof Parameter;
    const prototype: unknown = Object.getPrototypeOf(tensor);
    if (!isParameter && prototype !== Tensor.prototype) this.missing.push(`${path}: the class of a tensor`);
    const { requiresGrad } = tensor;
    this.creations.push(
      isParameter
        ? `const ${name} = new dyn.nn.Parameter(tensors.${name}, ${requiresGrad});`
        : `const ${name} = tensors.${name};`,
    );
    if (tensor.grad) this.fills.push(`${name}.grad = ${this.expression(tensor.grad, `${path}.grad`)};`);
    return name;
  }

  #array(value: readonly unknown[], path: string): string {
    if (value.length <= 1000 && value.every(isPrimitive)) {
      return this.#made(value, `[${value.map((each) => this.expression(each, path)).join(", ")}]`);
    }
    const name = this.#name(value, "list");
    this.creations.push(`const ${name} = [];`);
    const elements = value.map((each, at) => this.expression(each, `${path}[${at}]`));
    this.fills.push(`${name}.push(${elements.join(", ")});`);
    return name;
  }

  #collection(value: Map<unknown, unknown> | Set<unknown>, path: string): string {
    const name = this.#name(value, "collection");
    this.creations.push(`const ${name} = new ${types.isMap(value) ? "Map" : "Set"}();`);
    if (types.isMap(value)) {
      for (const [key, each] of Map.prototype.entries.call(value)) {
        const [k, v] = [
          this.expression(key, `a key of ${path}`),
          this.expression(each, `a value of ${path}`),
        ];
        this.fills.push(`${name}.set(${k}, ${v});`);
      }
    } else {
      for (const each of Set.prototype.values.call(value)) {
        this.fills.push(`${name}.add(${this.expression(each, `a member of ${path}`)});`);
      }
    }
    return name;
  }

  /** Serialises an object with its own fields. */
  #fields(value: object, made: string, path: string): string {
    const name = this.#name(value, "object");
    this.creations.push(`const ${name} = ${made};`);
    this.#fill(name, value, path);
    return name;
  }

  #fill(name: string, value: object, path: string, skipped: readonly (string | symbol)[] = []): void {
    const fields: string[] = [];
    for (const key of Reflect.ownKeys(value)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
      if (!descriptor || skipped.includes(key)) continue;
      const text = typeof key === "string" ? JSON.stringify(key) : `[${this.#symbol(key, path)}]`;
      const where = typeof key === "string" ? `${path}.${key}` : `${path}[${String(key)}]`;
      const field = "value" in descriptor
        ? this.expression(descriptor.value, where)
        : this.#missing(where, "an accessor");
      fields.push(`${text}: ${field}`);
    }
    if (fields.length > 0) this.fills.push(`dyn.repro.fill(${name}, { ${fields.join(", ")} });`);
  }

  #instance(value: object, prototype: unknown, path: string): string {
    const maker = typeof prototype === "object" && prototype !== null
      ? Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
      : undefined;
    if (typeof maker !== "function" || maker.prototype !== prototype) {
      return this.#missing(path, "an object whose class is not known");
    }
    for (let each: unknown = maker; typeof each === "function" && each !== Function.prototype;) {
      const captured = captureFunction(each);
      if (captured.kind === "native" && !(each === Error || each.prototype instanceof Error)) {
        return this.#missing(path, `an instance of the runtime's own ${captured.name}`);
      }
      if (
        captured.kind === "class" &&
        (captured.privateMethods.length > 0 || captured.fields.some((field) => field.declaration !== null))
      ) {
        return this.#missing(path, `an instance of ${maker.name}, which has private members`);
      }
      each = Object.getPrototypeOf(each);
    }
    const made = `Object.create(${this.expression(maker, `the class ${maker.name}`)}.prototype)`;
    // A variable that the class captures may already have led here.
    return this.#names.get(value) ?? this.#fields(value, made, path);
  }

  #function(value: object, path: string): string {
    if (types.isProxy(value)) return this.#missing(path, "a proxy");
    const captured = captureFunction(value);
    switch (captured.kind) {
      case "function":
        return this.#closure(value, {
          text: textOf(value),
          free: freeOf([{ code: captured.code, binding: captured.binding }]),
        }, path);
      case "class": {
        const { node, binding, fieldBinding, constructorCode, fields } = captured;
        const base: unknown = Object.getPrototypeOf(value);
        const whole = textOf(value), parent = node.superClass;
        const text = parent
          ? `${whole.slice(0, parent.start - node.start)}$base${whole.slice(parent.end - node.start)}`
          : whole;
        const parts: Part[] = constructorCode ? [{ code: constructorCode, binding }] : [];
        for (const field of fields) {
          if (field.value) parts.push({ code: field.value, binding: (index) => fieldBinding(field, index) });
        }
        return this.#closure(value, {
          text,
          free: freeOf([...parts, ...methodsOf(value)]),
          ...(parent ? { base: this.expression(base, "a base class") } : {}),
        }, path);
      }
      case "bound":
        return this.#missing(path, "a bound function");
      case "proxy":
        return this.#missing(path, "a proxy");
      case "native":
        return this.#missing(path, `the runtime's own ${captured.name || "function"}`);
      case "unavailable":
        return this.#missing(path, captured.because);
      default:
        return captured satisfies never;
    }
  }

  /**
   * Serialises a function or class: its text after declarations of the variables that it captures, which get their
   * values later.
   */
  #closure(
    value: object,
    { text, free, base }: {
      readonly text: string;
      readonly free: ReadonlyMap<string, FreeBinding>;
      readonly base?: string;
    },
    path: string,
  ): string {
    const expression = asExpression(text);
    if (expression === null) return this.#missing(path, "a function whose text cannot be parsed by itself");
    const name = this.#name(value, "code"), bind = `bind_${name}`;
    const variables = [...free.keys()].filter((each) => each !== "this");
    const declared = variables.length > 0 ? `let ${variables.join(", ")}; ` : "";
    const set = variables.length > 0 ? `($) => { ({ ${variables.join(", ")} } = $); }` : "() => {}";
    const self = free.get("this");
    const receiver = self ? this.#variable(self, "this") : "undefined";
    this.creations.push(
      `const [${name}, ${bind}] = (function (${base === undefined ? "" : "$base"}) {\n` +
        `${declared}return [${expression}, ${set}];\n}).call(${receiver}${
          base === undefined ? "" : `, ${base}`
        });`,
    );
    const values = variables.flatMap((variable) => {
      const found = free.get(variable);
      return found ? [`${variable}: ${this.#variable(found, variable)}`] : [];
    });
    if (values.length > 0) this.fills.push(`${bind}({ ${values.join(", ")} });`);
    this.#fill(name, value, path, ["length", "name", "prototype", "arguments", "caller"]);
    return name;
  }

  #variable(binding: FreeBinding, name: string): string {
    switch (binding.kind) {
      case "value":
        return this.expression(binding.value, name);
      case "cell":
        try {
          return this.expression(binding.cell.get(), name);
        } catch (error) {
          return this.#missing(name, messageOf(error));
        }
      case "private":
        return this.#missing(name, "a private member");
      case "pending":
      case "unreachable":
        return this.#missing(name, binding.because);
      default:
        return binding satisfies never;
    }
  }
}

/** Code and the values of its free variables. */
interface Part {
  readonly code: CodeObject;
  readonly binding: (index: number) => FreeBinding;
}

/** Free variables that a program can declare; the others are part of its environment. */
const VARIABLES: ReadonlySet<FreeKind> = new Set<FreeKind>([
  "const",
  "let",
  "var",
  "function",
  "class",
  "parameter",
  "import",
]);

/** Free variables by name; `this` for arrow functions. */
function freeOf(parts: readonly Part[]): Map<string, FreeBinding> {
  const found = new Map<string, FreeBinding>();
  for (const { code, binding } of parts) {
    for (const [index, { name, kind }] of code.free.entries()) {
      if (VARIABLES.has(kind) || (kind === "this" && code.kind === "arrow")) found.set(name, binding(index));
    }
  }
  return found;
}

/** The methods and accessors of a class, including static ones. */
function methodsOf(of: object): Part[] {
  const prototype: unknown = Reflect.get(of, "prototype");
  const parts: Part[] = [];
  for (const holder of [of, prototype]) {
    if ((typeof holder !== "object" && typeof holder !== "function") || holder === null) continue;
    for (const key of Reflect.ownKeys(holder)) {
      if (key === "constructor" || key === "prototype") continue;
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(holder, key) ?? {};
      for (const fn of [value, get, set]) {
        const captured = typeof fn === "function" ? captureFunction(fn) : null;
        if (captured?.kind === "function") parts.push({ code: captured.code, binding: captured.binding });
      }
    }
  }
  return parts;
}

/** The text of a function, even if the program has replaced `toString`. */
function textOf(fn: object): string {
  return Reflect.apply(Function.prototype.toString, fn, []);
}

/** Returns a function's text as an expression; methods are taken from an object literal. */
function asExpression(text: string): string | null {
  for (const expression of [`(${text})`, `Object.values({ ${text} })[0]`]) {
    try {
      // Only parsed, never called
      new Function("$base", `"use strict"; return ${expression};`);
      return expression;
    } catch {
      // Not an expression of this form
    }
  }
  return null;
}

const isPrimitive = (value: unknown): boolean =>
  value === null || (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol");

/** Describes an object with state outside its fields; null for others. */
function handleOf(value: object): string | null {
  if (types.isPromise(value)) return "a promise";
  if (types.isGeneratorObject(value)) return "a generator";
  if (types.isWeakMap(value) || types.isWeakSet(value) || value instanceof WeakRef) return "a weak reference";
  if (types.isAnyArrayBuffer(value)) return "a buffer";
  if (types.isBoxedPrimitive(value)) return "a boxed primitive";
  return null;
}
