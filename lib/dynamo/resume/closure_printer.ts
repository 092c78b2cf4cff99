/**
 * Functions, cells and generators of a trace in generated code, by the printer of code objects. Invariant: the
 * created value behaves as if the original program had created it at that point.
 */
import { invariant } from "../../base/errors.ts";
import { UnsupportedSyntax } from "../bytecode/code.ts";
import { runtime } from "../bytecode/runtime.ts";
import { stepped } from "../bytecode/stepped.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import type { ClosurePrinter } from "../codegen/closure_types.ts";
import type { Constants } from "../guards/reader.ts";
import { isFixed } from "./captured.ts";
import { boxOfCell } from "./cells.ts";
import type { LiveCell } from "../frame/info.ts";
import { infoOf } from "../functions/functions.ts";
import { makeFunction, runningOf } from "./made_functions.ts";
import type { ObjectValue, Value } from "../variables/value.ts";
import { Frame } from "../trace/interpreter.ts";
import { isReachable } from "../trace/resumable.ts";

/** The printer used when values are rebuilt. */
export const closurePrinter: ClosurePrinter = {
  closure(code, parts, constants): string {
    const { name, namePrefix, home, cells } = parts;
    const shape = { name, namePrefix, hasHome: home !== null, cells: [...cells] };
    const make = constants.name(makeFunction({ kind: "closure", code, shape }), "$make");
    const args = [...parts.free];
    if (parts.home !== null) args.push(parts.home);
    if (parts.nameText !== null) args.push(parts.nameText);
    return `${make}(${args.join(", ")})`;
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

/** The variable that a function has captured. */
export function cellOf(fn: unknown, index: number): LiveCell {
  const info = typeof fn === "function" ? infoOf(fn) : null;
  const found = info?.kind === "function" ? info.binding(index) : null;
  if (found?.kind !== "cell") throw new TypeError("Expected a captured variable");
  return found.cell;
}

/** The keys that a for-in loop has yet to visit, in the form that printed code expects. */
export function restKeys(object: object | null, keys: readonly string[]): IterableIterator<string> {
  return stepped(keysLeft(object, keys));
}

function* keysLeft(object: object | null, keys: readonly string[]): Generator<string> {
  for (const key of keys) if (object !== null && key in object) yield key;
}

/** A generator at the position of the traced one. */
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
  // It is not a frame of the stack, whose frames have already been checked.
  if (!isReachable(frame)) {
    const { start } = code.spans[frame.pc] ?? code.span;
    throw new UnsupportedSyntax("a generator whose variables cannot be reached", code.module.position(start));
  }
  const suspended = exotic.state === "suspendedYield";
  // A suspended generator restarts at its yield, whose value is dropped.
  const parameters = [...liveRegisters(code, frame.pc)];
  const made = makeFunction({ kind: "generator", code, pc: frame.pc, running: runningOf(frame) });
  let make = constants.name(made, "$generator");
  constants.add("$resumeGenerator", resumeGenerator);
  if (info.kind === "made") make += `([${info.free.map((bound) => rebuild(bound)).join(", ")}])`;
  else if (frame.callee && !isFixed(frame)) make += `(${rebuild(frame.callee)})`;
  const waiting = code.instructions[frame.pc];
  const values = parameters.map((r) => {
    if (waiting?.op === "yieldDelegate" && waiting.source === r && frame.delegates) {
      constants.add("$delegated", delegated);
      return `$delegated(${rebuild(frame.delegates.iterator)})`;
    }
    const value = frame.read(r);
    invariant(value, "Expected a value for every parameter");
    return rebuild(value);
  });
  return `$resumeGenerator(${make}, [${values.join(", ")}], ${suspended})`;
}

/** Creates a generator and, if it is suspended at a yield, advances it to there. */
export function resumeGenerator(
  make: (...args: unknown[]) => Generator,
  args: readonly unknown[],
  suspended: boolean,
): Generator {
  const generator = make(...args);
  if (suspended) generator.next();
  return generator;
}

/** The iterator with which `yield*` continues once it has yielded items: its first item replaces the last of those. */
export function delegated(iterator: Iterator<unknown>): object {
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

/** A finished generator. */
export function finished(): Generator {
  const generator = (function* (): Generator {})();
  generator.next();
  return generator;
}
