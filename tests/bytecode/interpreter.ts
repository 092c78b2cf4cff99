/**
 * A plain interpreter of code objects, for comparison with printed functions: it runs the code up to a place and its
 * printed rest from there.
 *
 * Invariant: instructions that print as one expression are evaluated by that expression; all others are executed
 * here.
 */
import type { CodeObject } from "../../lib/dynamo/bytecode/code.ts";
import type { Instruction, Offset, Register } from "../../lib/dynamo/bytecode/instruction.ts";
import { handlersAt } from "../../lib/dynamo/bytecode/effects.ts";
import { type AnyFunction, instantiate } from "../../lib/dynamo/bytecode/instantiate.ts";
import { printFunction } from "../../lib/dynamo/bytecode/print.ts";
import { instructionExpression } from "../../lib/dynamo/bytecode/print_instruction.ts";
import { withoutMarks } from "../../lib/dynamo/bytecode/print_marks.ts";
import type { FreeForm, PrintedFunction } from "../../lib/dynamo/bytecode/print_types.ts";
import { runtime, UNINITIALIZED } from "../../lib/dynamo/bytecode/runtime.ts";

/** One free variable, in the form in which printed code takes it. */
export interface FreeGiven {
  readonly form: FreeForm;
  readonly value: unknown;
}

export interface Run {
  readonly code: CodeObject;
  readonly free: readonly FreeGiven[];
  /** Offset at which the printed rest takes over; -1: never. */
  readonly stop: Offset;
  /** At which visit of that offset it does, counted from 1. */
  readonly visit?: number;
  /** Told of every offset reached. */
  readonly reached?: (offset: Offset) => void;
  readonly callee?: unknown;
  readonly home?: unknown;
  readonly controlFlow?: "structured" | "dispatch";
}

/** A request of the machine to its driver. */
type Request =
  | { readonly kind: "await"; readonly value: unknown }
  | { readonly kind: "yield"; readonly value: unknown }
  | { readonly kind: "yieldDelegate"; readonly value: unknown }
  | { readonly kind: "start"; readonly value: undefined }
  | { readonly kind: "rest"; readonly value: unknown };

/** The driver's answer. */
type Answer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "return"; readonly value: unknown };

interface Inputs {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly newTarget: unknown;
}

type Machine = Generator<Request, unknown, Answer>;

/** A function that runs the code. */
export function interpreted(run: Run): AnyFunction {
  const { code } = run;
  const ordinary = (self: unknown, args: readonly unknown[]): unknown => {
    const machine = execute(run, { self, args, newTarget: undefined });
    let step = machine.next({ kind: "value", value: undefined });
    while (!step.done) {
      if (step.value.kind !== "rest") {
        throw new Error(`Unexpected ${step.value.kind} in an ordinary function`);
      }
      const value = step.value.value;
      step = machine.next({ kind: "value", value });
    }
    return step.value;
  };
  if (code.generator && code.async) {
    return function (this: unknown, ...args: readonly unknown[]) {
      return driveAsyncGenerator(started(execute(run, { self: this, args, newTarget: undefined })));
    };
  }
  if (code.generator) {
    return function (this: unknown, ...args: readonly unknown[]) {
      return driveGenerator(started(execute(run, { self: this, args, newTarget: undefined })));
    };
  }
  if (code.async) {
    return async function (this: unknown, ...args: readonly unknown[]) {
      return await driveAsync(execute(run, { self: this, args, newTarget: undefined }));
    };
  }
  return function (this: unknown, ...args: readonly unknown[]) {
    return ordinary(this, args);
  };
}

/** A generator whose prologue has run; `rest`: the printed generator that takes over already. */
interface Started {
  readonly machine: Machine;
  readonly rest: unknown;
}

/** Runs a generator's prologue. A rest that takes over there gives the generator itself. */
function started(machine: Machine): Started {
  const step = machine.next({ kind: "value", value: undefined });
  if (step.done) throw new Error("Expected a generator to start");
  if (step.value.kind === "rest") return { machine, rest: step.value.value };
  return { machine, rest: null };
}

async function driveAsync(machine: Machine): Promise<unknown> {
  let answer: Answer = { kind: "value", value: undefined };
  for (;;) {
    const step = machine.next(answer);
    if (step.done) return step.value;
    if (step.value.kind === "rest") return await step.value.value;
    try {
      answer = { kind: "value", value: await step.value.value };
    } catch (error) {
      answer = { kind: "error", error };
    }
  }
}

/** A generator whose next(), throw() and return() all arrive as values. */
type Inner = Generator<unknown, unknown, Answer>;
type AsyncInner = AsyncGenerator<unknown, unknown, Answer>;

function driveGenerator(begun: Started): Iterable<unknown> & Iterator<unknown> {
  const inner = sequence(begun);
  let suspended = false;
  const go = (answer: Answer): IteratorResult<unknown> => {
    suspended = false;
    const step = inner.next(answer);
    suspended = step.done !== true;
    return step;
  };
  return {
    [Symbol.iterator]() {
      return this;
    },
    next(value?: unknown) {
      return go({ kind: "value", value });
    },
    throw(error?: unknown) {
      return suspended ? go({ kind: "error", error }) : inner.throw(error);
    },
    return(value?: unknown) {
      return suspended ? go({ kind: "return", value }) : inner.return(value);
    },
  };
}

function* sequence(begun: Started): Inner {
  if (begun.rest !== null) {
    const end: Answer = yield* delegate(begun.rest);
    return answerValue(end);
  }
  let answer: Answer = { kind: "value", value: undefined };
  for (;;) {
    const step = begun.machine.next(answer);
    if (step.done) return step.value;
    const request = step.value;
    if (request.kind === "rest") return answerValue(yield* delegate(request.value));
    answer = request.kind === "yield" ? yield request.value : yield* caught(request.value);
  }
}

function answerValue(answer: Answer): unknown {
  if (answer.kind === "error") throw answer.error;
  return answer.value;
}

/** Delegation whose errors are the delegating function's to handle. */
function* caught(value: unknown): Generator<unknown, Answer, Answer> {
  try {
    return yield* delegate(value);
  } catch (error) {
    return { kind: "error", error };
  }
}

/** In V8's words. */
const MISSING_THROW = "The iterator does not provide a 'throw' method.";

/** Executes yield*. A return() that ends the other iterator is an answer. */
function* delegate(value: unknown): Generator<unknown, Answer, Answer> {
  const iterator = asIterable(value)[Symbol.iterator]();
  let result = iterator.next();
  while (!result.done) {
    const answer: Answer = yield result.value;
    if (answer.kind === "value") result = iterator.next(answer.value);
    else if (answer.kind === "error") {
      if (!iterator.throw) {
        iterator.return?.();
        throw new TypeError(MISSING_THROW);
      }
      result = iterator.throw(answer.error);
    } else {
      if (!iterator.return) return answer;
      result = iterator.return(answer.value);
      if (result.done) return { kind: "return", value: result.value };
    }
  }
  return { kind: "value", value: result.value };
}

function driveAsyncGenerator(begun: Started): AsyncIterable<unknown> & AsyncIterator<unknown> {
  const inner = asyncSequence(begun);
  let live = false;
  let over = false;
  const noteEnd = (step: Promise<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> =>
    step.then((r) => {
      over ||= r.done === true;
      return r;
    });
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next(value?: unknown) {
      live = true;
      return noteEnd(inner.next({ kind: "value", value }));
    },
    throw(error?: unknown) {
      return live && !over ? noteEnd(inner.next({ kind: "error", error })) : inner.throw(error);
    },
    return(value?: unknown) {
      return live && !over ? noteEnd(inner.next({ kind: "return", value })) : inner.return(value);
    },
  };
}

async function* asyncSequence(begun: Started): AsyncInner {
  if (begun.rest !== null) return answerValue(yield* asyncDelegate(begun.rest));
  let answer: Answer = { kind: "value", value: undefined };
  for (;;) {
    const step = begun.machine.next(answer);
    if (step.done) return step.value;
    const request = step.value;
    if (request.kind === "rest") return answerValue(yield* asyncDelegate(request.value));
    try {
      if (request.kind === "await") answer = { kind: "value", value: await request.value };
      else if (request.kind === "yield") answer = yield request.value;
      else answer = yield* asyncDelegate(request.value);
    } catch (error) {
      answer = { kind: "error", error };
    }
  }
}

async function* asyncDelegate(value: unknown): AsyncGenerator<unknown, Answer, Answer> {
  const iterator = asAsyncIterator(runtime.asyncIterator(value, "value"));
  let result = await iterator.next();
  while (!result.done) {
    const answer: Answer = yield result.value;
    if (answer.kind === "value") result = await iterator.next(answer.value);
    else if (answer.kind === "error") {
      if (!iterator.throw) {
        await iterator.return?.();
        throw new TypeError(MISSING_THROW);
      }
      result = await iterator.throw(answer.error);
    } else {
      const returned = await answer.value;
      if (!iterator.return) return { kind: "return", value: returned };
      result = await iterator.return(returned);
      if (result.done) return { kind: "return", value: result.value };
    }
  }
  return { kind: "value", value: result.value };
}

function isIterable(value: unknown): value is Iterable<unknown, unknown, unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function isAsyncIterator(value: unknown): value is AsyncIterator<unknown, unknown, unknown> {
  return typeof value === "object" && value !== null && "next" in value;
}

function asIterable(value: unknown): Iterable<unknown, unknown, unknown> {
  if (!isIterable(value)) throw new Error("Expected an iterable");
  return value;
}

function asAsyncIterator(value: unknown): AsyncIterator<unknown, unknown, unknown> {
  if (!isAsyncIterator(value)) throw new Error("Expected an async iterator");
  return value;
}

function* execute(run: Run, inputs: Inputs): Machine {
  const { code } = run;
  const registers: unknown[] = new Array(code.registers.length).fill(undefined);
  let pc = 0;
  let visits = 0;
  for (;;) {
    run.reached?.(pc);
    if (pc === run.stop && ++visits === (run.visit ?? 1)) {
      const answer = yield { kind: "rest", value: restOf(run, registers, inputs) };
      if (answer.kind !== "value") throw new Error("Expected the value of the rest");
      return answer.value;
    }
    const i = code.instructions[pc];
    if (!i) throw new Error(`Ran out of the code at ${pc}`);
    try {
      switch (i.op) {
        case "jump":
          pc = i.target;
          continue;
        case "jumpIf":
          pc = holds(i.condition, registers[i.test]) ? i.target : pc + 1;
          continue;
        case "return":
          return registers[i.src];
        case "throw":
          throw registers[i.src];
        case "generatorStart":
          yield { kind: "start", value: undefined };
          break;
        case "await":
        case "yield":
        case "yieldDelegate": {
          const answer = yield { kind: i.op, value: registers[i.op === "yieldDelegate" ? i.source : i.src] };
          if (answer.kind === "error") throw answer.error;
          if (answer.kind === "return") {
            if (i.op === "await" || i.onReturn === null) return answer.value;
            registers[i.dst] = answer.value;
            pc = i.onReturn;
            continue;
          }
          registers[i.dst] = answer.value;
          break;
        }
        default:
          step(run, i, registers, inputs);
      }
      pc++;
    } catch (error) {
      const handler = handlersAt(code, pc)[0];
      if (!handler) throw error;
      registers[handler.register] = error;
      pc = handler.target;
    }
  }
}

/** The printed rest, run from here. */
function restOf(run: Run, registers: readonly unknown[], inputs: Inputs): unknown {
  const printed = printedRest(run);
  const fn = instantiate(run.code, printed, {
    free: run.free.map((f) => f.value),
    callee: run.callee,
    home: run.home,
  });
  const args = run.stop === 0 ? inputs.args : printed.parameters.map((r) => registers[r]);
  return Reflect.apply(fn, inputs.self, args);
}

const rests = new WeakMap<CodeObject, Map<string, PrintedFunction>>();

/** Printed rests, kept by entry and forms of the free variables. */
function printedRest(run: Run): PrintedFunction {
  let table = rests.get(run.code);
  if (!table) rests.set(run.code, table = new Map());
  const controlFlow = run.controlFlow ?? "structured";
  const key = `${controlFlow} ${run.stop} ${run.free.map((f) => f.form)}`;
  let printed = table.get(key);
  if (!printed) {
    printed = printFunction(run.code, {
      entry: run.stop,
      freeForm: (n) => run.free[n]?.form ?? "value",
      controlFlow,
    });
    table.set(key, printed);
  }
  return printed;
}

function holds(condition: Extract<Instruction, { op: "jumpIf" }>["condition"], value: unknown): boolean {
  switch (condition) {
    case "truthy":
      return Boolean(value);
    case "falsy":
      return !value;
    case "nullish":
      return value === null || value === undefined;
    case "notNullish":
      return value !== null && value !== undefined;
    case "undefined":
      return value === undefined;
    case "notUndefined":
      return value !== undefined;
  }
}

interface Holder {
  v: unknown;
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null && "v" in value;
}

function cellOf(value: unknown): Holder {
  if (!isHolder(value)) throw new Error("Expected a cell");
  return value;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function objectOf(value: unknown): object {
  if (!isObject(value)) throw new Error("Expected an object");
  return value;
}

/** Everything that neither jumps nor suspends. */
function step(run: Run, i: Instruction, registers: unknown[], inputs: Inputs): void {
  const r = (register: Register): unknown => registers[register];
  switch (i.op) {
    case "const":
      registers[i.dst] = i.value;
      return;
    case "move":
      registers[i.dst] = r(i.src);
      return;
    case "uninitialized":
      registers[i.dst] = UNINITIALIZED;
      return;
    case "checkTdz":
      if (r(i.src) === UNINITIALIZED) runtime.uninitialized(i.name);
      return;
    case "throwError": {
      const types = { TypeError, ReferenceError, SyntaxError };
      throw new types[i.type](i.message);
    }
    case "loadThis":
      registers[i.dst] = run.code.strict
        ? inputs.self
        : inputs.self === undefined || inputs.self === null
        ? globalThis
        : Object(inputs.self);
      return;
    case "loadArgument":
      registers[i.dst] = inputs.args[i.index];
      return;
    case "loadRest":
      registers[i.dst] = inputs.args.slice(i.from);
      return;
    case "loadArguments":
      registers[i.dst] = argumentsObject(inputs.args, i.mapped ? run.callee : null);
      return;
    case "loadNewTarget":
      registers[i.dst] = inputs.newTarget;
      return;
    case "loadCallee":
      registers[i.dst] = run.callee;
      return;
    case "loadHome":
      registers[i.dst] = run.home;
      return;
    case "storeFree": {
      const given = run.free[i.index];
      if (given?.form === "cell") runtime.ready(cellOf(given.value), "x").v = r(i.src);
      else if (given?.form === "live") Reflect.get(objectOf(given.value), "set")(r(i.src));
      else throw new Error("Expected a variable that can be assigned");
      return;
    }
    case "storeGlobal":
      if (i.strict && !(i.name in globalThis)) throw new ReferenceError(`${i.name} is not defined`);
      Reflect.set(globalThis, i.name, r(i.src));
      return;
    case "newCell":
      registers[i.dst] = { v: i.src === null ? UNINITIALIZED : r(i.src) };
      return;
    case "loadCell":
      registers[i.dst] = cellOf(r(i.cell)).v;
      return;
    case "storeCell":
      cellOf(r(i.cell)).v = r(i.src);
      return;
    case "setProp": {
      const object = r(i.object);
      const key = i.key.kind === "name" ? i.key.name : r(i.key.register);
      const put = new Function("o", "k", "v", `${i.strict ? '"use strict";' : ""} o[k] = v;`);
      put(object, key, r(i.value));
      return;
    }
    case "setPrivate":
      Reflect.get(objectOf(run.free[i.name]?.value), "set")(r(i.object), r(i.value));
      return;
    case "setSuper":
      runtime.setSuper(
        objectOf(r(i.home)),
        r(i.receiver),
        i.key.kind === "name" ? i.key.name : propertyKey(r(i.key.register)),
        r(i.value),
        i.strict,
      );
      return;
    case "arrayAppend": {
      const array = r(i.array);
      if (!Array.isArray(array)) throw new Error("Expected an array");
      if (i.element.kind === "hole") array.length++;
      else if (i.element.kind === "value") array.push(r(i.element.register));
      else array.push(...asIterable(Object(r(i.element.register))));
      return;
    }
    case "define": {
      const object = objectOf(r(i.object));
      const m = i.member;
      const value = r(m.register);
      if (m.kind === "spread") {
        Object.defineProperties(object, Object.getOwnPropertyDescriptors({ ...objectOrEmpty(value) }));
      } else if (m.kind === "proto") Object.setPrototypeOf(object, value === null ? null : objectOf(value));
      else {
        const key = m.key.kind === "name" ? m.key.name : propertyKey(r(m.key.register));
        const d: PropertyDescriptor = m.kind === "value"
          ? { value, writable: true, enumerable: true, configurable: true }
          : { [m.kind]: value, enumerable: true, configurable: true };
        Object.defineProperty(object, key, d);
      }
      return;
    }
    case "checkObjectCoercible":
      if (r(i.src) === undefined || r(i.src) === null) throw new TypeError("Cannot destructure");
      return;
    case "checkObject":
      if (!isObject(r(i.src))) throw new TypeError(`${i.what} is not an object`);
      return;
    case "getIterator": {
      const iterator = i.async
        ? runtime.asyncIterator(r(i.source), i.text)
        : runtime.iterator(r(i.source), i.text);
      registers[i.next] = Reflect.get(iterator, "next");
      registers[i.iterator] = iterator;
      return;
    }
    case "iteratorNext": {
      if (r(i.done)) {
        registers[i.value] = undefined;
        return;
      }
      registers[i.done] = true;
      const result = runtime.next(objectOf(r(i.iterator)), r(i.next));
      if (result.done) registers[i.value] = undefined;
      else {
        registers[i.value] = result.value;
        registers[i.done] = false;
      }
      return;
    }
    case "iteratorResult": {
      const result = runtime.step(r(i.result));
      const done = Boolean(result.done);
      registers[i.value] = done ? undefined : result.value;
      registers[i.done] = done;
      return;
    }
    case "iteratorRest":
      if (r(i.done)) registers[i.dst] = [];
      else {
        registers[i.done] = true;
        registers[i.dst] = runtime.collect(objectOf(r(i.iterator)), r(i.next));
      }
      return;
    case "iteratorClose":
      if (i.quiet) runtime.closeQuietly(objectOf(r(i.iterator)));
      else runtime.close(objectOf(r(i.iterator)));
      return;
    case "forInNext": {
      const result: IteratorResult<unknown> = Reflect.get(objectOf(r(i.enumerator)), "next").call(
        r(i.enumerator),
      );
      registers[i.done] = Boolean(result.done);
      registers[i.key] = result.value;
      return;
    }
    case "debugger":
      return;
    default:
      evaluate(run, i, registers);
  }
}

function objectOrEmpty(value: unknown): object {
  return value === undefined || value === null ? {} : Object(value);
}

function propertyKey(value: unknown): PropertyKey {
  return typeof value === "symbol" || typeof value === "number" ? value : String(value);
}

function argumentsObject(args: readonly unknown[], callee: unknown): unknown {
  if (callee !== null) return Object.assign(new Function("return arguments")(...args), { callee });
  return (function (..._: readonly unknown[]) {
    return arguments;
  })(...args);
}

const evaluators = new WeakMap<Instruction, AnyFunction>();

/** Instructions whose result is one expression. */
function evaluate(run: Run, i: Instruction, registers: unknown[]): void {
  let fn = evaluators.get(i);
  if (!fn) evaluators.set(i, fn = evaluator(run, i));
  if (!("dst" in i)) throw new Error(`Unexpected instruction ${i.op}`);
  registers[i.dst] = fn(registers, run.free.map((f) => f.value), runtime);
}

function evaluator(run: Run, i: Instruction): AnyFunction {
  const text = instructionExpression(run.code, i, {
    operand: (register) => ({ text: `$o[${register}]`, bare: true }),
    target: (register) => `$o[${register}]`,
    free: (index) => ({ text: `$free[${index}]`, form: run.free[index]?.form ?? "value" }),
    argument: () => "",
    rest: () => "",
    callee: () => "",
    home: () => "",
    scratch: "$s",
    mark: "",
  })?.text;
  if (text === undefined) throw new Error(`Unexpected instruction ${i.op}`);
  const strict = run.code.strict ? '"use strict";' : "";
  const made = new Function("$o", "$free", "$rt", `${strict} return (${withoutMarks(text)});`);
  return (...args) => Reflect.apply(made, undefined, args);
}
