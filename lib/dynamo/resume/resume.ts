/**
 * Generates the tail of a modified function whose trace ended early: the instruction as plain JavaScript, then the
 * rest of the program as a separate unit. Invariant: an exception of the plain instruction reaches the handler that
 * it would reach in the program.
 */
import { invariant } from "../../base/errors.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Offset, Opcode, Register } from "../bytecode/instruction.ts";
import { doneByThrowing, readsFrame, successors } from "../bytecode/effects.ts";
import { leftLoop } from "../bytecode/loop_exits.ts";
import type { ModifiedCode } from "../codegen/modified.ts";
import { makeFunction, noteRecipe, runningOf } from "./made_functions.ts";
import type { Program } from "../cache/program.ts";
import { type RegionModes, sameModes } from "../../tensor/modes.ts";
import { awaitKind } from "./steps.ts";
import { stepCode } from "./printed.ts";
import { checkPlain, resumedBody } from "./resumed_body.ts";
import { type Continuation, planResume, type ResumePlan, type TracedPlan } from "./resume_plan.ts";
import { readsOf, takeResult } from "./iterator_results.ts";
import { asyncCall, asyncGeneratorOf, generatorOf, type Waiting, waiting } from "./suspension.ts";
import type { Frame } from "../trace/interpreter.ts";
import { isOfLoop } from "../trace/resumed_iteration.ts";
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
interface Way extends TracedPlan {
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
function wayOn(end: End, continuation: Continuation): Way | null {
  const traced = planResume(end.frames, continuation);
  return traced &&
    { ...traced, unit: unitOf(end.unit, traced.plan), modes: modesIn(end, continuation.depth) };
}

/** The modes after all frames except the outermost `depth` have ended; null: those under which the unit begins. */
function modesIn({ frames, modes: { now, entered } }: End, depth: number): RegionModes | null {
  const modes = modesAt(frames, depth, now);
  return sameModes(modes, entered) ? null : modes;
}

const modesText = ({ gradEnabled, inference, autocast }: RegionModes): string =>
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
function callText(
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

/** Makes the first version after the break treat a number computed by plain code as variable. */
function expectOthers({ unit: { history, body }, values }: Way): void {
  values.forEach((value, i) => {
    if (value === null) history.numberChanges(`L[${JSON.stringify(body.parameters[i])}]`, NaN);
  });
}

function valuesOf(way: Way | null): Value[] {
  return way ? way.values.filter((v) => v !== null) : [];
}

const isOpaque = (value: Value): boolean => value.kind === "object" && value.exotic.kind === "opaque";

/** Instructions that are only valid inside their function. */
const SUSPENDS: ReadonlySet<Opcode> = new Set<Opcode>(["await", "yield", "yieldDelegate"]);

/**
 * The statements that follow a break at the top frame's instruction; null if the frame cannot be resumed there.
 * `changes`: the instruction yields another value in each call.
 */
export function breakTail(end: End, changes: boolean): Tail | null {
  const { frames } = end, frame = frames.at(-1);
  invariant(frame, "Expected a frame");
  const { code, pc } = frame;
  const instruction = code.instructions[pc];
  if (instruction?.op === "jumpIf") return branchTail(end);
  if (instruction?.op === "return") return endTail(end);
  const step = stepCode(code, pc);
  if (!step || !instruction || readsFrame(instruction) || SUSPENDS.has(instruction.op)) return null;
  // An instruction that always throws continues only in the handler.
  const goesOn = successors(code, pc).length > 0;
  const way = goesOn ? wayOn(end, { depth: frames.length, pc: pc + 1, given: step.writes }) : null;
  if (goesOn && !way) return null;
  if (changes && way) expectOthers(way);
  const thrown = handlerWay(end);
  if (thrown === "none") return null;
  const modes = modesIn(end, frames.length);
  const reads = step.reads.map((register) => {
    const value = frame.read(register);
    invariant(value, `Expected a value in register ${register}`);
    return value;
  });
  // The position of an iterator may be known in another call that the guards admit
  const advances = instruction.op === "iteratorNext" || instruction.op === "iteratorRest";
  const { info } = frame, running = runningOf(frame);
  // The function that runs in a later call determines its variables
  const runs = running.kind === "each" ? frame.callee : null;
  const write = (out: ModifiedCode): readonly string[] => {
    const { rebuild, constants } = out;
    let callee = constants.name(makeFunction({ kind: "step", code, pc, running }), "$step");
    if (info.kind === "made") callee += `([${info.free.map((bound) => rebuild.value(bound)).join(", ")}])`;
    else if (runs) callee += `(${rebuild.value(runs)})`;
    const forgotten = reads.filter((v) => isOfLoop(v) || (advances && isOpaque(v))).map((v) =>
      `${rebuild.helper("forgetBegun")}(${rebuild.value(v)});`
    );
    const call = underText(`${callee}(${reads.map((v) => rebuild.value(v)).join(", ")})`, modes, out);
    const source = instruction.op === "getIterator" ? { value: reads[0], into: instruction.iterator } : null;
    const statements = plainStatements(
      out,
      { frame, depth: frames.length, writes: step.writes, way, thrown },
      {
        call,
        then: (given) => {
          const iterator = source && given.get(source.into);
          return source?.value && iterator
            ? [`${rebuild.helper("noteIterated")}(${iterator}, ${rebuild.value(source.value)});`]
            : [];
        },
      },
    );
    return [...forgotten, ...statements];
  };
  return {
    needed: [
      ...reads,
      ...valuesOf(way),
      ...(thrown ? valuesOf(thrown.way) : []),
      ...(info.kind === "made" ? info.free : []),
      ...(runs ? [runs] : []),
    ],
    write,
  };
}

/** A call under the modes of the frame that makes it; null: those of the unit. */
function underText(call: string, modes: RegionModes | null, { rebuild }: ModifiedCode): string {
  return modes === null ? call : `${rebuild.helper("underModes")}(${modesText(modes)}, () => ${call})`;
}

/** Plain code in place of an instruction of a frame: what it gives, and the continuations. */
interface Plain {
  readonly frame: Frame;
  /** Number of frames up to this one. */
  readonly depth: number;
  readonly writes: readonly Register[];
  readonly way: Way | null;
  readonly thrown: Handled | null;
}

/** The statements of plain code; `then` are those that follow if it gives what is read later. */
function plainStatements(
  out: ModifiedCode,
  { frame: { code, pc }, depth, writes, way, thrown }: Plain,
  { call, then }: {
    readonly call: string;
    readonly then: (given: ReadonlyMap<Register, string>) => readonly string[];
  },
): readonly string[] {
  const { names } = out, given = new Map<Register, string>();
  const live = new Set(
    (way?.plan.parameters ?? []).flatMap((p) =>
      p.kind === "register" && p.frame === depth - 1 ? [p.register] : []
    ),
  );
  const results = writes.map((register) => {
    const name = names.fresh(code.registers[register]?.name ?? "result");
    given.set(register, name);
    return name;
  });
  const wanted = writes.some((r) => live.has(r)), [only] = results;
  const pattern = results.length === 1 && only !== undefined
    ? only
    : `{ ${results.map((name, i) => `${i}: ${name}`).join(", ")} }`;
  const comment = `// ${describe(code, pc)}`;
  const rest = [...(wanted ? then(given) : []), ...way ? [callText(way, out, given)] : []];
  if (!thrown) return [comment, wanted ? `const ${pattern} = ${call};` : `${call};`, ...rest];
  const error = names.fresh("error");
  const assigned = results.length === 1 ? `${pattern} = ${call};` : `(${pattern} = ${call});`;
  return [
    comment,
    ...(wanted ? [`let ${results.join(", ")};`] : []),
    "try {",
    `  ${wanted ? assigned : `${call};`}`,
    `} catch (${error}) {`,
    ...caught(thrown, out, error),
    "}",
    ...rest,
  ];
}

/**
 * The statements for a function whose end cannot be traced: plain code takes its result apart, an iterator's whose
 * properties may be getters, and its caller continues. Null for other callers.
 */
function endTail(end: End): Tail | null {
  const { frames } = end, ending = frames.at(-1), caller = frames.at(-2);
  const instruction = ending?.code.instructions[ending.pc];
  if (!ending || !caller || instruction?.op !== "return") return null;
  const { completion } = ending, result = ending.read(instruction.src);
  if ((completion.kind !== "step" && completion.kind !== "close") || !result) return null;
  const depth = frames.length - 1, below = upTo(end, depth);
  const writes = completion.kind === "step" ? [completion.done, completion.value] : [];
  const way = wayOn(below, { depth, pc: caller.pc + 1, given: writes }), thrown = handlerWay(below);
  if (!way || thrown === "none") return null;
  const modes = modesIn(below, depth), reads = readsOf(completion);
  return {
    needed: [result, ...valuesOf(way), ...valuesOf(thrown?.way ?? null)],
    write: (out) => {
      const take = out.constants.name(takeResult, "$taken");
      const call = underText(`${take}(${out.rebuild.value(result)}, "${reads}")`, modes, out);
      return plainStatements(out, { frame: caller, depth, writes, way, thrown }, { call, then: () => [] });
    },
  };
}

/**
 * The statements for a function that waits or becomes a generator, with a continuation for each outcome of the wait; if
 * it was called in the trace, its callers continue with its promise. Null if it does neither.
 */
export function waitTail(end: End): Tail | null {
  const { frames } = end, frame = frames.at(-1);
  invariant(frame, "Expected a frame");
  const { unit, modes: { entered } } = end;
  // Later calls of it run in other modes
  const wait = pieceAt({ unit, frames: [frame], modes: { now: entered, entered } }, frame);
  if (!wait || frames.length === 1) return wait;
  const callers = callersOf(end);
  if (!callers) return null;
  const makesPromise = frame.completion.kind === "promise";
  return {
    needed: [...wait.needed, ...valuesOf(callers.way)],
    write: (out) => {
      const made = out.names.fresh(makesPromise ? "promise" : "generator");
      const [open, close] = makesPromise
        ? [`${out.constants.name(asyncCall, "$async")}(() => {`, "});"]
        : ["(() => {", "})();"];
      return [
        `const ${made} = ${open}`,
        ...wait.write(out).map((line) => `  ${line}`),
        close,
        callText(callers.way, out, new Map([[callers.register, made]])),
      ];
    },
  };
}

/**
 * Returns how the callers of an async function continue with its promise, and those of an async generator function
 * with its result.
 */
function callersOf(end: End): { readonly way: Way; readonly register: Register } | null {
  const { frames } = end,
    depth = frames.length - 1,
    caller = frames[depth - 1],
    completion = frames[depth]?.completion;
  const isGenerator = frames[depth]?.code.generator === true && completion?.kind === "register";
  if (!caller || !(isGenerator || completion?.kind === "promise")) return null;
  const { register } = completion;
  const way = wayOn(end, { depth, pc: caller.pc + 1, given: [register] });
  return way && { way, register };
}

/** Returns the tail for a function that waits, becomes a generator, or ends as an async function that was called. */
function pieceAt(end: End, frame: Frame): Tail | null {
  const { code, pc, callee } = frame, instruction = code.instructions[pc];
  switch (instruction?.op) {
    case "return": {
      const value = frame.read(instruction.src);
      if (frame.completion.kind !== "promise" || !value) return null;
      return { needed: [value], write: ({ rebuild }) => [`return ${rebuild.value(value)};`] };
    }
    case "generatorStart": {
      const way = wayOn(end, { depth: 1, pc: pc + 1, given: [] });
      if (!way || !callee) return null;
      return {
        needed: [...valuesOf(way), callee],
        write: (out) => {
          const make = out.constants.name(code.async ? asyncGeneratorOf : generatorOf, "$generator");
          return [
            `return ${make}(${out.rebuild.value(callee)}, () => { ${callText(way, out, new Map())} });`,
          ];
        },
      };
    }
    case "await":
      return waitFor(end, frame, {
        kind: awaitKind(code, pc),
        on: instruction.src,
        dst: instruction.dst,
        onReturn: null,
      });
    case "yield": {
      const { src, dst, onReturn } = instruction;
      return waitFor(end, frame, { kind: "yield", on: src, dst, onReturn });
    }
    case "yieldDelegate": {
      const { source, dst, onReturn } = instruction;
      return waitFor(end, frame, { kind: "delegate", on: source, dst, onReturn });
    }
    default:
      return null;
  }
}

function waitFor(end: End, frame: Frame, { kind, on, dst, onReturn }: {
  readonly kind: Waiting["kind"];
  readonly on: Register;
  readonly dst: Register;
  readonly onReturn: Offset | null;
}): Tail | null {
  const value = frame.read(on);
  const way = wayOn(end, { depth: 1, pc: frame.pc + 1, given: [dst] });
  const thrown = handlerWay(end);
  const returned = onReturn === null ? null : wayOn(end, { depth: 1, pc: onReturn, given: [dst] });
  if (!way || !value || thrown === "none" || (onReturn !== null && !returned)) return null;
  return {
    needed: [value, ...valuesOf(way), ...valuesOf(thrown?.way ?? null), ...valuesOf(returned)],
    write: (out) => {
      const { rebuild, constants, names } = out, given = names.fresh("given");
      const wait = constants.name(waiting, "$wait");
      const goOn = (to: Way, register: Register) => callText(to, out, new Map([[register, given]]));
      return [
        `// ${describe(frame.code, frame.pc)}`,
        `return ${wait}(${JSON.stringify(kind)}, ${rebuild.value(value)}, {`,
        `  next: (${given}) => { ${goOn(way, dst)} },`,
        `  throw: (${given}) => { ${thrown ? goOn(thrown.way, thrown.register) : `throw ${given};`} },`,
        `  return: ${returned ? `(${given}) => { ${goOn(returned, dst)} }` : "null"},`,
        "});",
      ];
    },
  };
}

/** Returns the user's source at an instruction, in one line. */
function describe(code: CodeObject, pc: number): string {
  const span = code.spans[pc] ?? code.span;
  const text = code.module.text.slice(span.start, span.end).replaceAll(/\s+/g, " ");
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** The end of the callers from some depth on, after the frames above have ended. */
function upTo({ unit, frames, modes }: End, depth: number): End {
  const now = modesAt(frames, depth, modes.now);
  return { unit, frames: frames.slice(0, depth), modes: { now, entered: modes.entered } };
}

/** The handler of an exception, and the value that it receives. */
interface Handled {
  readonly way: Way;
  readonly register: Register;
  readonly take: (out: ModifiedCode, error: string) => string;
  /** Whether it rejects a promise. */
  readonly rejects: boolean;
}

/** Generates the handling of an exception. A rejection that nothing awaits is reported, so it is always created. */
function caught({ way, register, take, rejects }: Handled, out: ModifiedCode, error: string): string[] {
  const text = take(out, error), depth = way.plan.frames.length - 1;
  const isRead = way.plan.parameters.some((p) =>
    p.kind === "register" && p.frame === depth && p.register === register
  );
  const lost = rejects && !isRead ? [`  ${text};`] : [];
  return [...lost, `  ${callText(way, out, new Map([[register, text]]))}`];
}

/**
 * Returns the handler of an exception of the plain instruction; null: the caller, "none": it cannot be determined.
 */
function handlerWay(end: End): Handled | null | "none" {
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

/** The statements for a jump that depends on results of the graph: one unit for each side. */
export function branchTail(end: End): Tail | null {
  const { frames } = end, frame = frames.at(-1);
  const instruction = frame?.code.instructions[frame.pc];
  invariant(frame && instruction?.op === "jumpIf", "Expected a jump");
  const test = frame.read(instruction.test), { condition } = instruction;
  invariant(test && (condition === "truthy" || condition === "falsy"), "Expected a value that may be true");
  const depth = frames.length, { endedLoops } = end.unit.program;
  const changing = endedLoops.has(instruction) ? leftLoop(frame.code, frame.pc)?.written : undefined;
  const taken = wayOn(end, { depth, pc: instruction.target, given: [], changing });
  const passed = wayOn(end, { depth, pc: frame.pc + 1, given: [], changing });
  if (!taken || !passed) return null;
  const [whenTrue, whenFalse] = condition === "truthy" ? [taken, passed] : [passed, taken];
  return {
    needed: [test, ...valuesOf(taken), ...valuesOf(passed)],
    write: (out) => [
      `if (${out.rebuild.value(test)}) {`,
      `  ${callText(whenTrue, out, new Map())}`,
      "}",
      callText(whenFalse, out, new Map()),
    ],
  };
}
