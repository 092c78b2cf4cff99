/**
 * Functions, cells and generators of a trace in generated code, by the printer of code objects. Input: code and
 * expressions for what it captures; output: expressions. Invariant: what is made behaves as if the original
 * program had made it at that point.
 */
import { invariant } from "../base/errors.ts";
import { type CodeObject, type Instruction, UnsupportedSyntax } from "./bytecode/code.ts";
import { runtime } from "./bytecode/runtime.ts";
import { liveRegisters } from "./bytecode/liveness.ts";
import type { ClosureParts, ClosurePrinter } from "./codegen/rebuild.ts";
import type { Constants } from "./guards/reader.ts";
import { printRest, stepOf } from "./printed.ts";
import { bindingsOf, capturedBy, type CapturedValue, isFixed } from "./captured.ts";
import { boxOfCell, cellOfBox, isBox } from "./cells.ts";
import type { FreeBinding, LiveCell } from "./frame/info.ts";
import { infoOf, registerMade } from "./functions.ts";
import type { ObjectValue, Value } from "./variables/value.ts";
import { Frame } from "./trace/interpreter.ts";
import { isReachable } from "./trace/machine.ts";

/** The code of a function that does nothing but make one closure, from its captures as arguments. */
function makerOf(
  code: CodeObject,
  parts: ClosureParts,
): { readonly code: CodeObject; readonly parameters: readonly number[] } {
  const count = code.free.length;
  const homeRegister = parts.home === null ? null : count;
  const nameRegister = count + 1, result = count + 2;
  const closure: Instruction = {
    op: "closure",
    dst: result,
    child: 0,
    captures: code.free.map((_, i) => ({
      kind: parts.cells.has(i) ? "cell" as const : "value" as const,
      register: i,
    })),
    home: homeRegister,
    name: typeof parts.name === "symbol"
      ? { kind: "register", register: nameRegister }
      : { kind: "name", name: parts.name },
    namePrefix: parts.namePrefix,
  };
  const parameters = [...code.free.keys()];
  if (homeRegister !== null) parameters.push(homeRegister);
  if (typeof parts.name === "symbol") parameters.push(nameRegister);
  return { code: stepOf(code, closure, { registers: count + 3, result }), parameters };
}

/** The printer for the rebuilding of values. */
export const closurePrinter: ClosurePrinter = {
  closure(code, parts, constants): string {
    const maker = makerOf(code, parts);
    const printed = printRest(maker.code, {
      entry: 1,
      parameters: maker.parameters,
      name: `make_${code.name || "closure"}`,
      forms: () => "value",
    });
    const name = constants.name(
      registering(printed.make([], undefined), code, parts.cells),
      "$make",
    );
    const args = [...parts.free];
    if (parts.home !== null) args.push(parts.home);
    if (parts.nameText !== null) args.push(parts.nameText);
    return `${name}(${args.join(", ")})`;
  },
  cell(name, content, constants): string {
    constants.add("$box", runtime.box);
    return `$box(${content ?? "undefined"}, ${JSON.stringify(name)})`;
  },
  liveCell: boxOfCell,
  boxOfCaptured: (fn, index) => boxOfCell(cellOf(fn, index)),
  setCell: (cell, content) => `${cell}.v = ${content};`,
  generator: printGenerator,
  enumerator(object, keys, index, constants): string {
    constants.add("$restKeys", restKeys);
    return `$restKeys(${object}, ${JSON.stringify(keys.slice(index))})`;
  },
  uninitialized(constants): string {
    return constants.name(runtime.tdz, "$tdz");
  },
};

/** Makes closures and notes which code they are, so that they can be traced as it. */
function registering(
  make: (...args: unknown[]) => unknown,
  code: CodeObject,
  cells: ReadonlySet<number>,
): (...args: unknown[]) => unknown {
  return (...args) => {
    const fn = make(...args);
    if (typeof fn === "function" && !code.usesSuper) {
      const binding = (index: number): FreeBinding => {
        const given = args[index];
        return cells.has(index) && isBox(given)
          ? { kind: "cell", cell: cellOfBox(given) }
          : { kind: "value", value: given };
      };
      registerMade(fn, { kind: "function", code, binding });
    }
    return fn;
  };
}

/** The variable that a function has captured. */
export function cellOf(fn: unknown, index: number): LiveCell {
  const info = typeof fn === "function" ? infoOf(fn) : null;
  const found = info?.kind === "function" ? info.binding(index) : null;
  if (found?.kind !== "cell") throw new TypeError("Expected a captured variable");
  return found.cell;
}

/** The keys that a for-in loop has not visited yet, as printed code takes them. */
function* restKeys(object: object | null, keys: readonly string[]): Generator<string> {
  for (const key of keys) if (object !== null && key in object) yield key;
}

/** A generator that stands where the traced one stands. */
function printGenerator(
  generator: ObjectValue,
  rebuild: (value: Value) => string,
  constants: Constants,
): string {
  const { exotic } = generator;
  invariant(exotic.kind === "generator", "Expected a generator");
  const { frame } = exotic;
  if (!(frame instanceof Frame)) {
    constants.add("$finished", finished);
    return "$finished()";
  }
  const { code, info } = frame;
  // It is no frame of the stack, of which that has been asked before.
  if (!isReachable(frame)) {
    const { start } = code.spans[frame.pc] ?? code.span;
    throw new UnsupportedSyntax("a generator whose variables cannot be reached", code.module.position(start));
  }
  const suspended = exotic.state === "suspendedYield";
  // A suspended generator begins at its yield again, whose value is dropped.
  const parameters = [...liveRegisters(code, frame.pc)];
  const makerOf = (captured: readonly CapturedValue[]) =>
    printRest(code, {
      entry: frame.pc,
      parameters,
      name: code.name || "generator",
      forms: (i) => captured[i]?.form ?? "value",
    }).make;
  const withCaptured = (info: Frame["info"], callee: unknown) => {
    const captured = capturedBy({ info, code });
    return makerOf(captured)(captured.map(({ value }) => value), callee);
  };
  constants.add("$resumeGenerator", resumeGenerator);
  let make: string;
  if (info.kind === "made") {
    const list = info.free.map((bound) => rebuild(bound));
    make = `${constants.name(makerOf(capturedBy(frame)), "$generator")}([${list.join(", ")}])`;
  } else if (frame.callee && !isFixed(frame)) {
    const byFunction = (fn: object) => withCaptured(bindingsOf(fn), fn);
    make = `${constants.name(byFunction, "$generator")}(${rebuild(frame.callee)})`;
  } else make = constants.name(withCaptured(info, frame.callee?.real), "$generator");
  const waiting = code.instructions[frame.pc];
  const values = parameters.map((r) => {
    if (waiting?.op === "yieldDelegate" && waiting.source === r && frame.delegates) {
      constants.add("$delegated", delegated);
      return `$delegated(${rebuild(frame.delegates.iterator)})`;
    }
    const value = frame.registers[r];
    invariant(value, "Expected a value for every parameter");
    return rebuild(value);
  });
  return `$resumeGenerator(${make}, [${values.join(", ")}], ${suspended})`;
}

/** Makes a generator and, where it stands behind a yield, takes it there. */
function resumeGenerator(
  make: (...args: unknown[]) => Generator,
  args: readonly unknown[],
  suspended: boolean,
): Generator {
  const generator = make(...args);
  if (suspended) generator.next();
  return generator;
}

/** What `yield*` goes on with where it has handed on items before: the first item stands for the last of those. */
function delegated(iterator: Iterator<unknown>): object {
  let begun = false;
  return {
    [Symbol.iterator]: () => ({
      next(value: unknown) {
        if (begun) return iterator.next(value);
        begun = true;
        return { done: false, value: undefined };
      },
      get throw() {
        return iterator.throw?.bind(iterator);
      },
      get return() {
        return iterator.return?.bind(iterator);
      },
    }),
  };
}

/** A generator that is done. */
function finished(): Generator {
  const generator = (function* (): Generator {})();
  generator.next();
  return generator;
}
