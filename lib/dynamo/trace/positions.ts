/**
 * Positions in the user's files. Invariant: frames of dyn's own stand-ins for builtins are hidden.
 */
import type { UserFrame } from "../../base/errors.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { isOwnPosition } from "../../graph/place.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Frame } from "./interpreter.ts";

const known = new WeakMap<CodeObject, Map<number, SourcePosition>>();

/** The place of one instruction. */
export function positionOf(code: CodeObject, pc: number): SourcePosition {
  let positions = known.get(code);
  if (!positions) known.set(code, positions = new Map());
  let position = positions.get(pc);
  if (!position) {
    const span = code.spans[pc] ?? code.span;
    const at = code.module.position(span.start);
    position = {
      file: at.file,
      line: at.line,
      column: at.column + 1,
      functionName: code.name,
      code: (at.text ?? "").trim(),
    };
    positions.set(pc, position);
  }
  return position;
}

/** The last positions of each stack: each guard asks for them, most at the same place as the one before. */
const last = new WeakMap<readonly Frame[], readonly SourcePosition[]>();

/** Positions of all user frames, innermost last. */
export function positionsOf(frames: readonly Frame[]): readonly SourcePosition[] {
  const former = last.get(frames);
  let count = 0;
  const stays = frames.every(({ internal, code, pc }) =>
    internal || positionOf(code, pc) === former?.[count++]
  );
  if (former && stays && count === former.length) return former;
  const found: SourcePosition[] = [];
  for (const { internal, code, pc } of frames) if (!internal) found.push(positionOf(code, pc));
  last.set(frames, found);
  return found;
}

/** The innermost position in the user's own files, otherwise the innermost of all: found without all the others. */
export function userPositionIn(frames: readonly Frame[]): SourcePosition | null {
  let innermost: SourcePosition | null = null;
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i];
    if (!frame || frame.internal) continue;
    const position = positionOf(frame.code, frame.pc);
    if (!isOwnPosition(position)) return position;
    innermost ??= position;
  }
  return innermost;
}

/** The same as user frames, innermost first, for errors and reasons. */
export function userFrames(frames: readonly Frame[]): UserFrame[] {
  return positionsOf(frames).map(({ functionName, file, line, column, code }) => ({
    functionName,
    file,
    line,
    column,
    code,
  }))
    .reverse();
}

/** The file and line at which the program is. */
export function placeIn(frames: readonly Frame[]): string {
  const { file, line } = positionsOf(frames).at(-1) ?? { file: "", line: 0 };
  return `${file}:${line}`;
}
