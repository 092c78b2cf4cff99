/**
 * Resume plans: where a function continues after plain JavaScript has run, with the offset and the live registers of
 * every frame on the stack. Invariant: equal plans have equal keys, and a plan and the values of its parameters
 * determine everything the rest of the program does.
 */
import { invariant } from "../../base/errors.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Register } from "../bytecode/instruction.ts";
import { readsFrame, writes } from "../bytecode/effects.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import { isFixed } from "./captured.ts";
import { type FrameRules, NO_RULES } from "../functions/frame_rules.ts";
import { type Completion, type Frame, type FrameBindings } from "../trace/interpreter.ts";
import { handlerOf, isReachable } from "../trace/resumable.ts";
import type { RegionModes } from "../../tensor/modes.ts";
import { callIn } from "../variables/host_number.ts";
import type { ObjectValue, Value } from "../variables/value.ts";
import { positionOf } from "../trace/positions.ts";

/** The purpose of a parameter of a resumed function. */
export type Parameter =
  | { readonly kind: "register"; readonly frame: number; readonly register: Register; readonly name: string }
  /** The running function of a frame, if it differs between calls. */
  | { readonly kind: "callee"; readonly frame: number; readonly name: string }
  /** A captured variable of a function created in the trace. */
  | {
    readonly kind: "captured";
    readonly frame: number;
    readonly index: number;
    readonly form: "value" | "cell";
    readonly name: string;
  }
  /** The object under construction that a frame's caller falls back to. */
  | { readonly kind: "construction"; readonly frame: number; readonly name: string };

/** How a waiting frame receives a result; `construct` refers to a parameter. */
export type PlannedCompletion =
  | Exclude<
    Completion,
    { kind: "inside" } | { kind: "ambientMode" } | { kind: "iterator" } | { kind: "construct" }
  >
  | {
    readonly kind: "construct";
    readonly register: Register;
  }
  | PlannedRegion;

/** The end of a region's body: the former modes are restored, and its result is the region's. */
export interface PlannedRegion {
  readonly kind: "ambientMode";
  readonly former: RegionModes;
  readonly outer: Extract<Completion, { kind: "register" } | { kind: "discard" }>;
}

/** One frame of a plan. */
export interface PlannedFrame {
  readonly code: CodeObject;
  /** Where the innermost frame continues; the others wait at their call. */
  readonly pc: number;
  /** How the frame below receives this frame's result. */
  readonly completion: PlannedCompletion;
  /** The running function, if it is always the same. */
  readonly callee: object | null;
  readonly bindings: FrameBindings["kind"];
  readonly rules: FrameRules;
  /** Free variables, if they are those of a known function. */
  readonly real: Extract<FrameBindings, { kind: "real" }> | null;
}

/** Which parameters belong to a frame, by their indices. */
export interface FrameParameters {
  readonly registers: ReadonlyMap<Register, number>;
  /** Free variables, by their index in the function. */
  readonly captured: ReadonlyMap<number, number>;
  readonly callee: number | null;
  readonly construction: number | null;
}

/** Everything that determines how to continue. */
export interface ResumePlan {
  readonly key: string;
  readonly frames: readonly PlannedFrame[];
  readonly parameters: readonly Parameter[];
  /** The parameters of each frame. */
  readonly given: readonly FrameParameters[];
  /** Parameters whose numbers are read from tensors, or returned by a builtin in each call. */
  readonly scalars: readonly number[];
  readonly line: number;
}

/** A plan, and the state in which tracing continues. */
export interface TracedPlan {
  readonly plan: ResumePlan;
  /** The value of each parameter in the trace, null for results of the plain instruction. */
  readonly values: readonly (Value | null)[];
}

/** Where the innermost frame continues. */
export interface Continuation {
  /** Number of remaining frames. */
  readonly depth: number;
  readonly pc: number;
  /** Registers of the innermost frame that plain code sets. */
  readonly given: readonly Register[];
  /** Registers of the innermost frame whose numbers differ each time. */
  readonly changing?: ReadonlySet<Register> | undefined;
}

const numbers = new WeakMap<object, number>();
let nextNumber = 0;

function numberOf(object: object): number {
  let number = numbers.get(object);
  if (number === undefined) numbers.set(object, number = nextNumber++);
  return number;
}

/** Returns whether no code after an offset needs the frame's inputs. */
function isPastPrologue(code: CodeObject, pc: number): boolean {
  return !code.instructions.slice(pc).some(readsFrame);
}

/** The plan to continue from frames of a trace; null if some frame cannot be entered in the middle. */
export function planResume(
  frames: readonly Frame[],
  { depth, pc, given, changing }: Continuation,
): TracedPlan | null {
  const kept = frames.slice(0, depth);
  const parameters: Parameter[] = [];
  const values: (Value | null)[] = [];
  const planned: PlannedFrame[] = [];
  const name = uniqueNames();
  // Innermost first: its variables keep their names.
  for (let i = kept.length - 1; i >= 0; i--) {
    const frame = kept[i];
    invariant(frame, "Expected a frame");
    const innermost = i === kept.length - 1;
    const at = innermost ? pc : frame.pc;
    if (!isReachable(frame)) return null;
    if (!isPastPrologue(frame.code, innermost ? at : at + 1)) return null;
    // The outermost frame of a unit ends the unit
    const completion = i === 0 ? rootOf(frame.completion) : planCompletion(frame.completion);
    if (!completion) return null;
    const registers = liveIn(frame, at, innermost);
    for (const register of registers) {
      const info = frame.code.registers[register];
      const wished = info?.name ?? (innermost && given.includes(register) ? "result" : `r${register}`);
      parameters.push({
        kind: "register",
        frame: i,
        register,
        name: name(info?.cell ? `${wished}_cell` : wished),
      });
      const value = frame.read(register);
      values.push(innermost && given.includes(register) ? null : value ?? null);
      if (!(innermost && given.includes(register)) && !value) return null;
    }
    const { info, callee } = frame;
    let known: ObjectValue | null = null;
    if (info.kind === "made") {
      info.free.forEach((bound, index) => {
        const form = bound.kind === "cell" ? "cell" : "value";
        const wished = frame.code.free[index]?.name.replace(/\W/g, "_") ?? "free";
        parameters.push({ kind: "captured", frame: i, index, form, name: name(wished) });
        values.push(bound);
      });
    } else if (isFixed(frame)) known = callee;
    else if (callee) {
      parameters.push({ kind: "callee", frame: i, name: name("callee") });
      values.push(callee);
    }
    if (frame.completion.kind === "construct") {
      parameters.push({ kind: "construction", frame: i, name: name("object") });
      values.push(frame.completion.object);
    }
    planned[i] = {
      code: frame.code,
      pc: at,
      completion,
      callee: known?.real ?? null,
      bindings: info.kind,
      rules: frame.rules,
      real: info.kind === "real" && isFixed(frame) ? info : null,
    };
  }
  const scalars = values.flatMap((value, i) =>
    isReadNumber(value) || (changing && isOtherNumber(value, parameters[i], { changing, depth })) ? [i] : []
  );
  return { plan: planOf({ frames: planned, parameters, scalars }), values };
}

/** Gives names that differ: a wish that is taken is numbered. */
function uniqueNames(): (wish: string) => string {
  const used = new Set<string>(), last = new Map<string, number>();
  return (wish) => {
    let found = wish, number = last.get(wish) ?? 0;
    while (used.has(found)) found = `${wish}_${++number}`;
    last.set(wish, number);
    used.add(found);
    return found;
  };
}

/** Returns whether a value is a number that may differ in each call. */
function isReadNumber(value: Value | null): boolean {
  if (value?.kind === "item") return value.type !== "boolean";
  return value?.kind === "number" && callIn(value.expression) !== null;
}

/** Returns whether a value is a number that differs between calls, or between the passes of a loop. */
function isOtherNumber(
  value: Value | null,
  parameter: Parameter | undefined,
  { changing, depth }: { readonly changing: ReadonlySet<Register>; readonly depth: number },
): boolean {
  const content = value?.kind === "cell" ? value.content : value;
  if (content?.kind !== "constant") return content?.kind === "number";
  return content.type === "number" && parameter?.kind === "register" && parameter.frame === depth - 1 &&
    changing.has(parameter.register);
}

/** The plan consisting of these parts. */
export function planOf(
  { frames, parameters, scalars }: Pick<ResumePlan, "frames" | "parameters" | "scalars">,
): ResumePlan {
  const given = parametersOfFrames(frames.length, parameters);
  const parts = frames.map(({ code, pc, completion, callee, bindings, rules, real }, i) => {
    const registers = [...given[i]?.registers.keys() ?? []];
    return `${numberOf(code)}@${pc}(${registers.join()})${JSON.stringify(completion)}${bindings}${
      callee ? numberOf(callee) : "?"
    }${real ? numberOf(real.binding) : ""}${rules === NO_RULES ? "" : JSON.stringify(rules)}`;
  });
  const inner = frames.at(-1);
  invariant(inner, "Expected a frame");
  const { code, pc } = inner;
  const { line } = positionOf(code, Math.min(pc, code.instructions.length - 1));
  return { key: parts.join("|"), frames, parameters, given, scalars, line };
}

function parametersOfFrames(count: number, parameters: readonly Parameter[]): readonly FrameParameters[] {
  const given = Array.from({ length: count }, () => ({
    registers: new Map<Register, number>(),
    captured: new Map<number, number>(),
    callee: null as number | null,
    construction: null as number | null,
  }));
  parameters.forEach((parameter, at) => {
    const frame = given[parameter.frame];
    invariant(frame, "Expected parameters of frames of the plan");
    if (parameter.kind === "register") frame.registers.set(parameter.register, at);
    else if (parameter.kind === "captured") frame.captured.set(parameter.index, at);
    else frame[parameter.kind] = at;
  });
  return given;
}

/** Registers of a frame that are live at the offset, including for a handler that covers a waiting call. */
function liveIn(frame: Frame, at: number, innermost: boolean): readonly Register[] {
  const { code } = frame;
  if (innermost) return [...liveRegisters(code, at)];
  const instruction = code.instructions[at];
  const live = new Set(liveRegisters(code, at + 1));
  for (const r of instruction ? writes(instruction) : []) live.delete(r);
  const handler = handlerOf(frame);
  if (handler) {
    for (const r of liveRegisters(code, handler.target)) if (r !== handler.register) live.add(r);
  }
  return [...live].sort((a, b) => a - b);
}

/** The outermost function of a unit ends it, even if its callers do not wait for it. */
function rootOf(completion: Completion): PlannedCompletion {
  return completion.kind === "root" ? completion : { kind: "root", fixed: false };
}

function planCompletion(completion: Completion): PlannedCompletion | null {
  switch (completion.kind) {
    case "register":
    case "discard":
    case "close":
    case "step":
    case "promise":
    case "root":
      return completion;
    case "construct":
      return { kind: "construct", register: completion.register };
    case "ambientMode": {
      const { former, outer } = completion;
      return outer.kind === "register" || outer.kind === "discard"
        ? { kind: "ambientMode", former, outer }
        : null;
    }
    case "iterator":
    case "inside":
      return null;
    default:
      return completion satisfies never;
  }
}
