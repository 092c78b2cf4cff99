/**
 * Decides in which frames generated code can resume: all captures must be accessible, and results must be passed on.
 * Invariant: a doubtful frame is not resumable.
 */
import type { BreakCause } from "../break_reasons.ts";
import { readsFrame } from "../bytecode/effects.ts";
import { VariablesPending } from "../functions/functions.ts";
import type { Frame } from "./interpreter.ts";
import { Restart } from "./restart.ts";
import type { StandIns } from "./stand_ins.ts";

/** The handler that covers the current instruction of a frame. */
export function handlerOf(frame: Frame): { readonly target: number; readonly register: number } | null {
  return frame.code.handlers.find((h) => h.start <= frame.pc && frame.pc < h.end) ?? null;
}

/** Returns whether any frame catches an exception of the current instruction. */
export function isHandled(frames: readonly Frame[]): boolean {
  return frames.some((f) => handlerOf(f) !== null || f.completion.kind === "promise");
}

/**
 * Throws Restart for an exception in the branch or loop body whose frames begin at `depth`, if it leaves that: it occurs
 * only in calls that reach it.
 */
export function refuseLeavingRegion(frames: readonly Frame[], depth: number | undefined): void {
  const caller = depth === undefined ? null : frames[depth - 1];
  if (!caller || frames.slice(depth).some((frame) => handlerOf(frame) !== null)) return;
  const cause = { kind: "region", detail: "an exception" } as const;
  throw new Restart(caller.waitingSince ?? 0, { kind: "break", cause });
}

/** Throws Restart where generated code cannot resume in a frame: the graph ends before the call that entered it. */
export function refuseUnresumable(
  frames: readonly Frame[],
  cause: BreakCause,
  isResumable: (frame: Frame) => boolean,
): void {
  const again = { kind: "break", cause } as const, [outermost] = frames;
  if (outermost && frames.length > 1 && frames.some(({ rules }) => rules.breaksOutside)) {
    throw new Restart(outermost.waitingSince ?? 0, again);
  }
  for (let i = 1; i < frames.length; i++) {
    const frame = frames[i], below = frames[i - 1];
    if (frame && below && !isResumable(frame)) throw new Restart(below.waitingSince ?? 0, again);
  }
}

/**
 * Returns whether printed code can access all captures of a frame's function. Variables that the next call will provide
 * count as accessible if that is recorded. Throws VariablesPending otherwise.
 */
export function isReachable(
  { info, code }: Pick<Frame, "info" | "code">,
  standIns: StandIns | null = null,
): boolean {
  if (info.kind === "made") return true;
  const bindings = code.free.map((_, i) => info.binding(i));
  for (const binding of bindings) {
    if (binding.kind !== "pending") continue;
    if (!standIns) throw new VariablesPending(binding.because);
    standIns.note(binding);
  }
  return bindings.every((binding) => binding.kind !== "unreachable");
}

/** Returns whether generated code can pass the frame's result on. */
export function isResumable(frame: Frame, standIns: StandIns): boolean {
  if (frame.generator || !isReachable(frame, standIns)) return false;
  const instruction = frame.code.instructions[frame.pc];
  if (frame.code.generator) return instruction?.op === "generatorStart";
  if (instruction && readsFrame(instruction)) return false;
  switch (frame.completion.kind) {
    case "register":
    case "discard":
    case "close":
    case "construct":
    case "step":
    case "promise":
    case "root":
      return true;
    case "ambientMode":
      return frame.completion.outer.kind === "register" || frame.completion.outer.kind === "discard";
    case "iterator":
    case "inside":
      return false;
    default:
      return frame.completion satisfies never;
  }
}

/**
 * The step of the call that enters the recursion of the innermost frame: to resume within it, all its frames would be
 * needed.
 */
export function recursionStep(frames: readonly Frame[]): number {
  const code = frames.at(-1)?.code, entered = frames.findIndex((frame) => frame.code === code);
  return frames.slice(Math.max(entered - 1, 0)).find(({ waitingSince }) => waitingSince !== null)
    ?.waitingSince ?? 0;
}
