/**
 * Ways on from the end of a trace: a unit for the rest of the program with the values of its parameters, for what
 * follows, for callers of functions that wait, and for handlers. Invariant: equal plans of a program have one unit.
 */
import { invariant } from "../../base/errors.ts";
import type { Register } from "../bytecode/instruction.ts";
import { doneByThrowing } from "../bytecode/effects.ts";
import type { ModifiedCode } from "../codegen/modified.ts";
import { noteRecipe } from "./made_functions.ts";
import type { Program } from "../cache/program.ts";
import { type RegionModes, sameModes } from "../../tensor/modes.ts";
import { checkPlain, resumedBody } from "./resumed_body.ts";
import { type Continuation, planResume, type ResumePlan, type TracedPlan } from "./resume_plan.ts";
import { asyncCall } from "./suspension.ts";
import type { Frame } from "../trace/interpreter.ts";
import { modesAt } from "../trace/region_modes.ts";
import { handlerOf } from "../trace/resumable.ts";
import { Unit } from "../cache/unit.ts";
import { TRUE, type Value } from "../variables/value.ts";

/** Values to which the statements refer, and the statements. */
export interface Tail {
  readonly needed: readonly Value[];
  readonly write: (code: ModifiedCode) => readonly string[];
}

/** The end of a trace. */
export interface End {
  readonly unit: Unit;
  readonly frames: readonly Frame[];
  /** The modes of the innermost frame, and those under which the unit begins. */
  readonly modes: { readonly now: RegionModes; readonly entered: RegionModes };
}

/** A continuation: a unit, and its parameters in the trace. */
export interface Way extends TracedPlan {
  readonly unit: Unit;
  /** The modes under which it begins; null: those of the unit that it continues. */
  readonly modes: RegionModes | null;
}

const resumed = new WeakMap<Program, Map<string, Unit>>();

/** The units after a program's graph breaks, by the keys of their plans. */
export function resumedUnits(program: Program): Map<string, Unit> {
  let units = resumed.get(program);
  if (!units) resumed.set(program, units = new Map());
  return units;
}

/** The unit that continues here; the same for equal plans. Throws UnsupportedSyntax. */
export function wayOn(end: End, continuation: Continuation): Way | null {
  const traced = planResume(end.frames, continuation);
  return traced &&
    { ...traced, unit: unitOf(end.unit, traced.plan), modes: modesIn(end, continuation.depth) };
}

/** The modes after all frames except the outermost `depth` have ended; null: those under which the unit begins. */
export function modesIn({ frames, modes: { now, entered } }: End, depth: number): RegionModes | null {
  const modes = modesAt(frames, depth, now);
  return sameModes(modes, entered) ? null : modes;
}

export const modesText = ({ gradEnabled, inference, autocast }: RegionModes): string =>
  `{ gradEnabled: ${gradEnabled}, inference: ${inference}, autocast: ${JSON.stringify(autocast)} }`;

/** The unit of a plan in a unit's program. Throws UnsupportedSyntax. */
export function unitOf({ program, compileEntry }: Unit, plan: ResumePlan): Unit {
  const units = resumedUnits(program);
  let found = units.get(plan.key);
  if (!found) {
    checkPlain(plan);
    const name = `__resume_at_${plan.line}_${program.nextResume++}`;
    found = new Unit(program, resumedBody(plan, name), compileEntry);
    noteRecipe(found.resume, { kind: "resume", plan });
    units.set(plan.key, found);
  } else found.expectScalars(plan.scalars);
  return found;
}

/** A call of the unit with its parameters; `given` are names of the results of plain code. */
export function callText(
  { unit, plan, values, modes }: Way,
  { rebuild, constants }: ModifiedCode,
  given: ReadonlyMap<Register, string>,
): string {
  const { name } = unit.body;
  constants.add(name, unit.resume);
  const args = values.map((value, i) => {
    const parameter = plan.parameters[i];
    if (value !== null) return rebuild.value(value);
    const text = parameter?.kind === "register" ? given.get(parameter.register) : undefined;
    invariant(text !== undefined, "Expected a value for every parameter");
    return text;
  });
  const under = modes === null ? "" : `.under(${modesText(modes)})`;
  return `return ${name}(${args.join(", ")})${under};`;
}

export function valuesOf(way: Way | null): Value[] {
  return way ? way.values.filter((v) => v !== null) : [];
}

/** The registers of the innermost of `depth` frames that a continuation receives. */
export function givenTo(way: Way | null, depth: number): ReadonlySet<Register> {
  return new Set(way?.plan.given[depth - 1]?.registers.keys());
}

/** The end of the callers from some depth on, after the frames above have ended. */
export function upTo({ unit, frames, modes }: End, depth: number): End {
  const now = modesAt(frames, depth, modes.now);
  return { unit, frames: frames.slice(0, depth), modes: { now, entered: modes.entered } };
}

/** How callers continue with a promise or a generator. */
interface Callers {
  readonly way: Way;
  /** Where they receive it. */
  readonly register: Register;
  /** The registers that follow from it, by its name. */
  readonly given: (made: string) => ReadonlyMap<Register, string>;
}

/**
 * Returns how the callers of an async function continue with its promise, and those of an async generator function
 * with its result.
 */
export function callersOf(end: End): Callers | null {
  const { frames } = end, depth = frames.length - 1, caller = frames[depth - 1], ended = frames[depth];
  if (!caller || !ended) return null;
  const { completion } = ended, isGenerator = ended.code.generator === true;
  const wayWith = (...given: readonly Register[]) => wayOn(end, { depth, pc: caller.pc + 1, given });
  if (completion.kind === "promise" || (isGenerator && completion.kind === "register")) {
    const { register } = completion, way = wayWith(register);
    return way && { way, register, given: (made) => new Map([[register, made]]) };
  }
  if (!isGenerator || completion.kind !== "iterator") return null;
  const { iterator, next } = completion, way = wayWith(iterator, next);
  return way &&
    { way, register: iterator, given: (made) => new Map([[iterator, made], [next, `${made}.next`]]) };
}

/** The handler of an exception, and the value that it receives. */
export interface Handled {
  readonly way: Way;
  readonly register: Register;
  readonly take: (out: ModifiedCode, error: string) => string;
  /** Whether it rejects a promise. */
  readonly rejects: boolean;
}

/** Generates the handling of an exception. A rejection that nothing awaits is reported, so it is always created. */
export function caught(
  { way, register, take, rejects }: Handled,
  out: ModifiedCode,
  error: string,
): string[] {
  const text = take(out, error), depth = way.plan.frames.length - 1;
  const isRead = way.plan.given[depth]?.registers.has(register) === true;
  const lost = rejects && !isRead ? [`  ${text};`] : [];
  return [...lost, `  ${callText(way, out, new Map([[register, text]]))}`];
}

/**
 * Returns the handler of an exception of the plain instruction; null: the caller, "none": it cannot be determined.
 */
export function handlerWay(end: End): Handled | null | "none" {
  const { frames } = end;
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i];
    const handler = frame ? handlerOf(frame) : null;
    if (frame && !handler && i > 0 && frame.completion.kind === "promise") {
      const callers = callersOf(upTo(end, i + 1));
      const take = ({ constants }: ModifiedCode, error: string) =>
        `${constants.name(asyncCall, "$async")}(() => { throw ${error}; })`;
      return callers ? { ...callers, take, rejects: true } : "none";
    }
    if (!frame || !handler) continue;
    const done = doneByThrowing(frame.code.instructions[frame.pc]);
    const former = done === null ? undefined : frame.read(done);
    if (done !== null) frame.registers[done] = TRUE;
    const way = wayOn(end, { depth: i + 1, pc: handler.target, given: [handler.register] });
    if (done !== null) frame.registers[done] = former;
    return way ? { way, register: handler.register, take: (_out, error) => error, rejects: false } : "none";
  }
  return null;
}
