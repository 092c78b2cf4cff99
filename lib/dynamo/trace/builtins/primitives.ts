/**
 * Models of builtins that are pure functions of primitives: Math, String, Number, Symbol.
 * Invariant: nothing here has an effect or depends on anything but its arguments.
 */
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { mathNumbers, specializeNumber, testNumber } from "../../variables/numbers.ts";
import {
  constant,
  type ConstantValue,
  type ItemValue,
  primitive,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import type { NumberValue } from "../../variables/number_value.ts";
import { type Hint, toPrimitive } from "../coercion.ts";
import { joinedText, type PrimitiveValue, textByMethod } from "../texts.ts";
import { inTurn } from "../in_turn.ts";
import type { CallRequest, CallResult, Interpreter } from "../interpreter.ts";
import { applyMath } from "../graph_numbers.ts";
import { callLater, computeLater, drawnLater, operate } from "../later_values.ts";
import { allElements } from "../contents.ts";
import { toNumeric, truthOf } from "../operators.ts";
import { makeSymbol } from "../made_symbols.ts";
import { isObject } from "../../variables/type_of.ts";
import { convertObjects, later } from "./delivery.ts";
import { fromPure, primitiveOf, textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";

/** Models functions by calling them on constants. */
function pure(table: ModelTable, owner: object, names: readonly string[]): void {
  for (const name of names) {
    const fn: unknown = Reflect.get(owner, name);
    if (typeof fn !== "function") continue;
    // Static functions ignore their receiver
    const isStatic = typeof owner === "function" || owner === globalThis;
    const compute = (m: Interpreter, self: Value, args: readonly Value[]): Value => {
      const text = TEXTUAL.has(name) ? textByMethod(m, fn, { self, args }) : null;
      if (text) return text;
      const type = TEXTUAL.has(name)
        ? "string"
        : TESTS.has(name)
        ? "boolean"
        : COUNTS.has(name)
        ? "number"
        : null;
      const later = type && callLater(m.output, fn, {
        self: isStatic ? null : drawnLater(m.output, self),
        args: args.map((each) => drawnLater(m.output, each)),
        type,
      });
      if (later) return later;
      const [first] = args,
        tested = isStatic && first?.kind === "number" && testNumber(m.output, name, first);
      if (tested) return tested;
      const receiver = isStatic ? undefined : primitiveOf(m, self, name);
      const list = args.map((value) => primitiveOf(m, value, name));
      const result = callBuiltin(name, () => Reflect.apply(fn, receiver, list));
      return fromPure(m, result) ?? breakGraph("builtin", name);
    };
    // Tests of Number convert nothing
    const tests = owner === Number && name.startsWith("is"), hints = tests ? [null] : HINTS.get(name);
    table.method(owner, name, (m, request) => {
      const { self } = request;
      // Surplus arguments, as map and every pass them, have no effect
      const args = hints ? request.args.slice(0, hints.length) : request.args;
      if (tests && args[0] && isObject(args[0])) return constant(false);
      if (!hints || ![self, ...args].some(({ kind }) => kind === "object")) return compute(m, self, args);
      return later(
        m,
        request,
        (then) =>
          convertObjects(
            m,
            [self, ...args],
            [isStatic ? null : "string", ...hints],
            ([first = self, ...rest]) => then(compute(m, first, rest)),
          ),
      );
    });
  }
}

/** The types to which functions convert arguments, in order; null for those that they refuse or do not convert. */
const HINTS: ReadonlyMap<string, readonly (Hint | null)[]> = new Map<string, readonly (Hint | null)[]>([
  ["at", ["number"]],
  ["charAt", ["number"]],
  ["charCodeAt", ["number"]],
  ["codePointAt", ["number"]],
  ["decodeURI", ["string"]],
  ["decodeURIComponent", ["string"]],
  ["encodeURI", ["string"]],
  ["encodeURIComponent", ["string"]],
  ["endsWith", [null, "number"]],
  ["includes", [null, "number"]],
  ["indexOf", ["string", "number"]],
  ["isFinite", ["number"]],
  ["isNaN", ["number"]],
  ["isWellFormed", []],
  ["lastIndexOf", ["string", "number"]],
  ["normalize", ["string"]],
  ["padEnd", ["number", "string"]],
  ["padStart", ["number", "string"]],
  ["parseFloat", ["string"]],
  ["parseInt", ["string", "number"]],
  ["repeat", ["number"]],
  ["slice", ["number", "number"]],
  ["startsWith", [null, "number"]],
  ["substr", ["number", "number"]],
  ["substring", ["number", "number"]],
  ["toLowerCase", []],
  ["toUpperCase", []],
  ["toWellFormed", []],
  ["trim", []],
  ["trimEnd", []],
  ["trimStart", []],
]);

/** Methods that yield a string for any string or number, if their arguments allow it for one. */
const TEXTUAL: ReadonlySet<string> = new Set([
  "charAt",
  "concat",
  "padEnd",
  "padStart",
  "slice",
  "substring",
  "toExponential",
  "toFixed",
  "toLowerCase",
  "toPrecision",
  "toString",
  "toUpperCase",
  "trim",
  "trimEnd",
  "trimStart",
]);

/** Functions that yield a truth value for any number or string, and those that yield a number. */
const TESTS: ReadonlySet<string> = new Set([
  "endsWith",
  "includes",
  "isFinite",
  "isInteger",
  "isNaN",
  "isSafeInteger",
  "isWellFormed",
  "startsWith",
]);
const COUNTS: ReadonlySet<string> = new Set([
  "charCodeAt",
  "indexOf",
  "lastIndexOf",
  "parseFloat",
  "parseInt",
]);

const STRING = [
  "at",
  "charAt",
  "charCodeAt",
  "codePointAt",
  "concat",
  "endsWith",
  "includes",
  "indexOf",
  "lastIndexOf",
  "normalize",
  "padEnd",
  "padStart",
  "repeat",
  "slice",
  "startsWith",
  "substr",
  "substring",
  "toLowerCase",
  "toString",
  "toUpperCase",
  "trim",
  "trimEnd",
  "trimStart",
  "valueOf",
  "isWellFormed",
  "toWellFormed",
];
const NUMBER = ["toExponential", "toFixed", "toPrecision", "toString", "valueOf"];

/** Builtins that return another number in each call; clocks must run after everything before them. */
function changingNumbers(table: ModelTable): void {
  const { random } = Math, { now } = Date;
  table.call(random, ({ output }) => output.callHost("Math.random()", random, { isTimed: false }));
  table.call(now, ({ output }) => output.callHost("Date.now()", now, { isTimed: true }));
  const { now: elapsed } = performance;
  table.call(elapsed, (m, { self }) => {
    if (self.kind !== "object" || self.real !== performance) return breakGraph("throws", "another clock");
    const run = () => Reflect.apply(elapsed, performance, []);
    return m.output.callHost("performance.now()", run, { isTimed: true });
  });
}

/** Math: numbers may differ between calls; conversions run in order. */
function mathematics(table: ModelTable): void {
  for (const name of Reflect.ownKeys(Math)) {
    // One is not a pure function, the other takes an iterable
    if (typeof name !== "string" || name === "random" || name === "sumPrecise") continue;
    const fn: unknown = Reflect.get(Math, name);
    if (typeof fn !== "function") continue;
    table.method(Math, name, (m, request) => {
      const numbers: (NumberValue | ConstantValue | ItemValue)[] = [];
      const step = (index: number, next: () => void): boolean | void => {
        const arg = request.args[index];
        if (!arg) return false;
        toNumeric(m, arg, (value) => {
          if (value.kind === "constant" && typeof value.value === "bigint") {
            return breakGraph("throws", "Cannot convert a BigInt value to a number");
          }
          if (value.kind === "constant") numbers.push(constant(Number(value.value)));
          else if (value.kind === "number" || value.kind === "item") numbers.push(value);
          else return breakGraph("coercion", `an argument of Math.${name}`);
          next();
        });
      };
      const compute = (): Value => {
        const plain = numbers.filter((n) => n.kind !== "item");
        if (plain.length < numbers.length) {
          const apply = { fn, isMethod: false };
          return applyMath(m.output, name, numbers) ??
            computeLater(m.output, { apply, type: "number", operands: numbers });
        }
        if (plain.some((n) => n.kind === "number")) {
          const symbolic = mathNumbers(m.output, name, plain);
          if (symbolic) return symbolic;
        }
        const known = plain.map((n) => n.kind === "number" ? specializeNumber(m.output, n).value : n.value);
        return primitive(Reflect.apply(fn, Math, known));
      };
      return later(m, request, (then) => inTurn(step, () => then(compute())));
    });
  }
}

/** Passes on a converted argument. */
function converting(
  m: Interpreter,
  request: CallRequest,
  hint: "number" | "string",
  convert: (primitive: PrimitiveValue) => Value,
): CallResult {
  return later(
    m,
    request,
    (then) => toPrimitive(m, request.args[0] ?? UNDEFINED, hint, (primitive) => then(convert(primitive))),
  );
}

/** Adds the models of pure builtins. */
export function addPrimitives(table: ModelTable): void {
  mathematics(table);
  changingNumbers(table);
  pure(table, String.prototype, STRING);
  pure(table, String, ["fromCharCode", "fromCodePoint"]);
  table.method(String, "raw", (m, { args: [strings = UNDEFINED, ...values] }) => {
    const raw = strings.kind === "object" ? m.plainProperty(strings, "raw") : null;
    if (raw?.kind !== "object" || raw.exotic.kind !== "array") return breakGraph("builtin", "String.raw");
    const parts = allElements(m, raw).map((part) => textArgument(m, part, "String.raw"));
    const texts = values.map((value) => textArgument(m, value, "String.raw"));
    return constant(String.raw({ raw: parts }, ...texts));
  });
  pure(table, Number.prototype, NUMBER);
  pure(table, Number, ["isFinite", "isInteger", "isNaN", "isSafeInteger", "parseFloat", "parseInt"]);
  pure(table, Boolean.prototype, ["toString", "valueOf"]);
  pure(table, BigInt.prototype, ["toString", "valueOf"]);
  pure(table, BigInt, ["asIntN", "asUintN"]);
  pure(table, Symbol, ["for", "keyFor"]);
  pure(table, RegExp, ["escape"]);
  pure(table, globalThis, [
    "parseInt",
    "parseFloat",
    "isNaN",
    "isFinite",
    "encodeURIComponent",
    "decodeURIComponent",
    "encodeURI",
    "decodeURI",
  ]);
  table.call(Symbol, (m, { args: [value = UNDEFINED] }) => {
    const text = primitiveOf(m, value, "Symbol");
    if (typeof text === "symbol") return breakGraph("throws", "Symbol(symbol)");
    return constant(makeSymbol(text === undefined ? undefined : String(text)));
  });
  table.getter(
    Symbol.prototype,
    "description",
    (_m, { self }) =>
      self.kind === "constant" && typeof self.value === "symbol"
        ? constant(self.value.description)
        : breakGraph("throws", "description"),
  );
  table.call(Number, (m, request) => {
    if (request.args.length === 0) return constant(0);
    return converting(m, request, "number", (p) => {
      if (p.kind === "constant") {
        return typeof p.value === "symbol"
          ? breakGraph("throws", "Number(symbol)")
          : constant(Number(p.value));
      }
      if (p.kind !== "item" || p.type === "number") return p;
      return operate(m.output, "+", [p]);
    });
  });
  table.call(String, (m, request) => {
    const [value] = request.args;
    if (!value) return constant("");
    if (value.kind === "constant" && value.type === "symbol") return constant(String(value.value));
    return converting(m, request, "string", (p) => joinedText(m, [p]));
  });
  table.call(Boolean, (m, { args: [value = UNDEFINED] }) => {
    const truth = truthOf(m, value);
    if (typeof truth === "boolean") return constant(truth);
    if (truth.type === "boolean") return truth;
    return operate(m.output, "!", [operate(m.output, "!", [truth])]);
  });
  table.call(BigInt, (m, { args: [value = UNDEFINED] }) => {
    const given = primitiveOf(m, value, "BigInt");
    return primitive(callBuiltin("BigInt", () => Reflect.apply(BigInt, undefined, [given])));
  });
}
