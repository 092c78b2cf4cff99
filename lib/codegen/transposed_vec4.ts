/**
 * Squares of four by four elements per invocation, for grids that read some buffers contiguously across the fast axis
 * (a transposed copy): each such line is read as a vector into local memory, so that reads and writes of neighbouring
 * invocations fill whole memory transactions. Invariant: as in vec4.ts.
 */
import { add, mul, type Sym } from "../sym/expr.ts";
import type { BufferDecl, Loop, Statement, ValueId } from "../loops/ir.ts";
import { loopOver, storeOf } from "../loops/nest.ts";
import { indirect } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { cloneStatement, renaming } from "./statement_list.ts";
import { axisOf } from "./strip_mining.ts";
import { fits, isPlain, neighboursOf, packsElements, stripMineVec4 } from "./vec4.ts";
import type { MakeLocal } from "./kernels.ts";
import type { Nest } from "./nests.ts";

const FOUR = [0, 1, 2, 3];

/** Rewrites a grid for squares of elements; undefined if no access is contiguous along another axis. */
export function transposedVec4(
  { loops, body }: Nest,
  buffers: readonly BufferDecl[],
  local: MakeLocal,
): Nest | undefined {
  const fast = loops.find((loop) => loop.vector) ?? loops.at(-1);
  if (!fast || !isPlain({ ...fast, body }) || packsElements(body, buffers)) return undefined;
  for (const across of loops) {
    const made = across === fast ? undefined : squareOf({ fast, across, body }, local);
    if (!made) continue;
    const others = loops.filter((loop) => loop !== fast && loop !== across);
    const quarters = [{ ...across, axis: made.across }, { ...fast, axis: made.fast }];
    return { loops: [...others, ...quarters].map((loop) => ({ ...loop, vector: false })), body: made.body };
  }
  return undefined;
}

interface Square {
  readonly fast: Loop["axis"];
  readonly across: Loop["axis"];
  readonly body: readonly Statement[];
}

function squareOf(
  { fast, across, body }: { readonly fast: Loop; readonly across: Loop; readonly body: readonly Statement[] },
  local: MakeLocal,
): Square | undefined {
  const along = stripMineVec4({ ...fast, body }),
    both = along && stripMineVec4({ ...across, body: along.four.body });
  if (!along || !both) return undefined;
  const statements = both.four.body, line = along.four.axis.symbol, place = both.four.axis.symbol;
  const neighbours = neighboursOf({ ...along.four, body: statements }), acrossIt = neighboursOf(both.four);
  const transposed = statements.filter((s) =>
    s.kind === "load" && neighbours.access(s.index) === "apart" && acrossIt.access(s.index) === "four" &&
    indirect(s.index).length === 0
  );
  if (transposed.length === 0 || !statements.every((s) => transposed.includes(s) || fits(s, neighbours))) {
    return undefined;
  }
  const kept = new Map(transposed.map((s) => [s, local("buffer" in s ? s.buffer : 0, 16)]));
  let next = nextId(statements);
  const reads = FOUR.map((at) => {
    const lane = axisOf("t", 4);
    const replace = (s: Sym) => s === line ? at : s === place ? lane.symbol : s;
    const read = [...kept].flatMap(([load, to]): readonly Statement[] => {
      const id = next++, names = { use: (id: ValueId) => id, define: () => id, replace };
      return [cloneStatement(load, names), storeOf(to, add(lane.symbol, 4 * at), id)];
    });
    return loopOver(lane, read, { vector: true });
  });
  const writes = FOUR.map((at) => {
    const lane = axisOf("l", 4);
    const names = renaming(
      new Map(),
      () => next++,
      (s) => s === line ? lane.symbol : s === place ? at : s,
    );
    const write = statements.map((s) => {
      const to = kept.get(s), given = cloneStatement(s, names);
      return to === undefined || given.kind !== "load"
        ? given
        : { ...given, buffer: to, index: add(mul(lane.symbol, 4), at) };
    });
    return loopOver(lane, write, { vector: true });
  });
  return { fast: along.axis, across: both.axis, body: [...reads, ...writes] };
}
