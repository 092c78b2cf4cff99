/**
 * Generates the tail of a modified function whose trace ended early: the instruction as plain JavaScript, then the
 * rest of the program as a separate unit. Invariant: an exception of the plain instruction reaches the handler that
 * it would reach in the program.
 */
import { invariant } from "../../base/errors.ts";
import { successors } from "../bytecode/effects.ts";
import { leftLoop } from "../bytecode/loop_exits.ts";
import { readsOf, takeResult } from "./iterator_results.ts";
import {
  callText,
  type End,
  givenTo,
  handlerWay,
  modesIn,
  type Tail,
  upTo,
  valuesOf,
  type Way,
  wayOn,
} from "./ways.ts";
import { plainStatements, plainStep, underText } from "./plain_steps.ts";

/** Makes the first version after the break treat a number computed by plain code as variable. */
function expectOthers({ unit: { history, body }, values }: Way): void {
  values.forEach((value, i) => {
    if (value === null) history.numberChanges(`L[${JSON.stringify(body.parameters[i])}]`, NaN);
  });
}

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
  const step = plainStep(end);
  if (!step || !instruction) return null;
  // An instruction that always throws continues only in the handler.
  const goesOn = successors(code, pc).length > 0;
  const way = goesOn ? wayOn(end, { depth: frames.length, pc: pc + 1, given: step.writes }) : null;
  if (goesOn && !way) return null;
  if (changes && way) expectOthers(way);
  const thrown = handlerWay(end);
  if (thrown === "none") return null;
  const source = instruction.op === "getIterator"
    ? { value: step.reads[0], into: instruction.iterator }
    : null;
  return {
    needed: [...step.needed, ...valuesOf(way), ...valuesOf(thrown?.way ?? null)],
    write: (out) => [
      ...step.before(out),
      ...plainStatements(
        out,
        { frame, writes: step.writes, live: givenTo(way, frames.length), thrown },
        {
          call: step.call(out),
          then: (given) => {
            const iterator = source && given.get(source.into);
            return source?.value && iterator
              ? [`${out.rebuild.helper("noteIterated")}(${iterator}, ${out.rebuild.value(source.value)});`]
              : [];
          },
          rest: (given) => way ? [callText(way, out, given)] : [],
        },
      ),
    ],
  };
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
      const live = givenTo(way, depth);
      return plainStatements(out, { frame: caller, writes, live, thrown }, {
        call,
        rest: (given) => [callText(way, out, given)],
      });
    },
  };
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
