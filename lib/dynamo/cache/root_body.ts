/**
 * A function as the body of a unit. Invariant: only arguments that the function reads are inspected, so that no others
 * are guarded.
 */
import type { AnyFunction } from "../../base/arguments.ts";
import { apply } from "../../base/own_builtins.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { loadedText } from "../frame/source_text.ts";
import { infoOf, tracedInfo } from "../functions/functions.ts";
import { argumentLabel, argumentSource, knownSource, THIS_SOURCE } from "../source.ts";
import { positionOf } from "../trace/positions.ts";
import { type FrameRules, NO_RULES } from "../functions/frame_rules.ts";
import { Frame, type Interpreter } from "../trace/interpreter.ts";
import { ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";
import { isClass } from "../variables/labels.ts";
import type { UnitBody } from "./unit.ts";

/** The name of an anonymous function in messages. */
export const ANONYMOUS = "<anonymous>";

/** The text of bound functions and proxies, which have no code of their own. */
const INDIRECT = "function () { [native code] }";

/** Returns a function with code that does what another does: the function itself, or one that calls it. */
function withCode(fn: AnyFunction): AnyFunction {
  if (loadedText(fn) !== INDIRECT) return fn;
  return function passOn(this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(fn, this, args);
  };
}

/** The body of a whole function with the rules of its frame. */
export function rootBody(given: AnyFunction, name: string, rules: FrameRules = NO_RULES): UnitBody {
  const fn = withCode(given);
  let code: CodeObject | null = null, known: SourcePosition | null = null;
  const codeOfRoot = (): CodeObject | string => {
    if (code) return code;
    if (isClass(fn)) return "a class is called";
    const info = infoOf(fn);
    if (info.kind === "none") return info.because;
    if (info.kind !== "function") return "no plain function";
    return code = info.code;
  };
  return {
    name: name || ANONYMOUS,
    resumed: null,
    get parameters(): readonly string[] {
      const found = codeOfRoot();
      if (typeof found === "string") return [];
      return found.parameters.map((_, i, all) => argumentLabel(all, i));
    },
    scalars: new Set(),
    variables: new Set(),
    beAt(place) {
      known = place;
    },
    place() {
      if (known) return known;
      let info = infoOf(given);
      while (info.kind === "bound" && typeof info.target === "function") info = infoOf(info.target);
      if (info.kind === "function") return positionOf(info.code, -1);
      return info.kind === "none" ? info.place : null;
    },
    begin(m, self, args) {
      const info = tracedInfo(fn), found = codeOfRoot();
      if (typeof found === "string") return found;
      if (info.kind !== "function") return "no plain function";
      const callee = m.wrapper.object(fn, knownSource(name || "fn", fn));
      if (!(callee instanceof ObjectValue)) return "no plain function";
      if (found.hasRest || found.usesArguments) m.output.guard({ kind: "argumentCount", count: args.length });
      const receiver = found.usesThis && found.kind !== "arrow" ? wrapThis(m, found, self) : UNDEFINED;
      if (typeof receiver === "string") return receiver;
      const bindings = { kind: "real", binding: info.binding } as const;
      const values = argumentValues(m, found, args);
      const completion = { kind: "root", fixed: true } as const;
      const frame = new Frame(bindings, found, callee, receiver, values, UNDEFINED, completion);
      frame.rules = rules;
      return [frame];
    },
    runPlain: (self, args) => apply(given, self, args),
  };
}

function wrapThis(m: Interpreter, code: CodeObject, self: unknown): Value | string {
  const isReference = (typeof self === "object" && self !== null) || typeof self === "function";
  if (!code.strict && !isReference) return "a sloppy function with a primitive receiver";
  return m.wrapper.wrap(self, THIS_SOURCE);
}

/** The arguments that are read; the others are undefined, which cannot be observed. */
function argumentValues(m: Interpreter, code: CodeObject, args: readonly unknown[]): Value[] {
  const wanted = new Set<number>();
  let from = Infinity;
  code.instructions.forEach((instruction, at) => {
    if (instruction.op === "loadArgument") {
      if (liveRegisters(code, at + 1).has(instruction.dst)) wanted.add(instruction.index);
    } else if (instruction.op === "loadRest") {
      if (liveRegisters(code, at + 1).has(instruction.dst)) from = Math.min(from, instruction.from);
    } else if (instruction.op === "loadArguments") from = 0;
  });
  const count = from < Infinity ? args.length : Math.max(args.length, ...[...wanted].map((i) => i + 1), 0);
  return Array.from({ length: count }, (_, index): Value => {
    if (!wanted.has(index) && index < from) return UNDEFINED;
    const label = argumentLabel(code.parameters, index);
    return m.wrapper.wrap(args[index], argumentSource(label, index));
  });
}
