/** Moves statements to other buffers. Invariant: parts that mention no buffer are shared with the original. */
import { add, type Dim } from "../sym/expr.ts";
import type { BufferId, Elements, Statement } from "./ir.ts";
import { mapStatements } from "./map_statements.ts";

/** Position of a buffer inside another one, in elements. */
export interface Place {
  readonly buffer: BufferId;
  readonly offset: Dim;
}

/** Returns the statements with each buffer at its place. */
export function movedBuffers(
  body: readonly Statement[],
  placeOf: (id: BufferId) => Place,
): readonly Statement[] {
  const moved = <T extends Elements>(each: T): T => {
    const { buffer, offset } = placeOf(each.buffer);
    return { ...each, buffer, index: add(each.index, offset) };
  };
  return mapStatements(body, (s) => {
    if (s.kind === "load" || s.kind === "store") return moved(s);
    if (s.kind !== "loop" || !s.folds) return s;
    const folds = s.folds.map(({ values, positions, ...rest }) => ({
      ...rest,
      values: moved(values),
      ...(positions ? { positions: moved(positions) } : {}),
    }));
    return { ...s, folds };
  });
}

/** Returns the statements with other buffers. */
export const renameBuffers = (
  body: readonly Statement[],
  place: (id: BufferId) => BufferId,
): readonly Statement[] => movedBuffers(body, (id) => ({ buffer: place(id), offset: 0 }));
