/**
 * Maps loops to a grid: marks the loops that form the grid, and those that a workgroup divides where it runs a grid
 * point. Each kernel has one nest. An invocation computes an element if the body is scalar or reduces across the fast
 * axis; a workgroup computes a row if the body's own loops run along it. Invariant: the last loop of a grid is the fast
 * one, whose neighbours are neighbouring invocations. Points that run side by side in a workgroup all exist, and follow
 * the same control flow.
 *
 * Where some buffers are read contiguously across the fast axis, as in a transposed copy, an invocation computes
 * squares of four by four elements: each such line is read as a vector into local memory, so that reads and writes of
 * neighbouring invocations fill whole memory transactions.
 */
import { hintOf } from "../sym/decide.ts";
import type { BufferDecl, Loop, LoopKernel, Program, Statement, ValueId } from "../loops/ir.ts";
import { coefficientOf, loopOver, storeOf } from "../loops/nest.ts";
import { isShareable, scansOf } from "../loops/scans.ts";
import { accessesOf, allOf, indirect, storedBuffers } from "../loops/uses.ts";
import {
  fits,
  isPlain,
  neighboursOf,
  packsElements,
  stripMineVec4,
  vec4Grid,
  vec4Reductions,
  vec4Shared,
} from "./vec4.ts";
import { localsIn, type MakeLocal, rewriteLoops } from "./kernels.ts";
import { type Nest, nestOf } from "./nests.ts";
import type { Grid, Target } from "./target.ts";
import { add, type Dim, mul, product, type Sym } from "../sym/expr.ts";
import { nextId } from "../loops/value_types.ts";
import { cloneStatement, renaming } from "./statement_list.ts";
import { axisOf } from "./strip_mining.ts";

/** Maps the kernels of a program to grids. */
export function mapToGrid(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return rewriteLoops(
    program,
    (kernel, buffers) => mapped(kernel, { buffers, grid, local: localsIn(buffers) }),
  );
}

interface Setting {
  readonly buffers: readonly BufferDecl[];
  readonly grid: Grid;
  readonly local: MakeLocal;
}

function mapped(kernel: LoopKernel, { buffers, grid, local }: Setting): LoopKernel {
  const nest = nestOf(kernel.body.map(relaxed)), { body } = nest;
  const loops = sharesRows(nest, grid) ? nest.loops : alongMost(nest);
  const fours = grid.vectors
    ? vec4Grid(loops, body, buffers) ?? transposedVec4({ loops, body }, buffers, local)
    : undefined;
  if (fours) return { ...kernel, body: gridOf(fours.loops, fours.body) };
  if (!sharesRows({ loops, body }, grid)) {
    const columns = sharesColumns({ loops, body }, grid);
    const plain = fastLast(loops).map((loop) => ({ ...loop, vector: false }));
    if (!columns) {
      // Four reads of a sum in flight, where neighbours read adjacent elements
      const quarters = vec4Reductions(body), isSame = quarters.every((s, i) => s === body[i]);
      return { ...kernel, body: isSame ? gridOf(loops, body) : gridOf(plain, quarters) };
    }
    return { ...kernel, ...columns, body: gridOf(plain, vec4Reductions(body.map(shared))) };
  }
  const point = body.map(shared), row = grid.vectors ? vec4Shared(point, buffers) : point;
  return { ...kernel, ...workgroupOfRows(loops, row, grid), body: gridOf(loops, row) };
}

/**
 * Returns whether each point of a grid is run by a workgroup: where its loops are long. Consecutive parallel loops
 * below a row loop belong to the row; the grid consists of the loops around them.
 */
export function sharesRows({ loops, body }: Nest, { shared }: Grid): boolean {
  if (loops.length === 0) return true;
  return isLong(body, shared) && (containsVectorLoop(body) || !loops.some(({ vector }) => vector));
}

/** Returns the workgroup that divides adjacent results, if all loops from the outermost on are reductions. */
export function sharesColumns({ loops, body }: Nest, grid: Grid): Workgroup | undefined {
  const reduces = body.every((s) =>
    s.kind !== "loop" || (s.order === "reduction" && storedBuffers(s.body).size === 0)
  );
  return reduces && loops.some(({ vector }) => vector) ? workgroupOfColumns(loops, body, grid) : undefined;
}

/** A sequential loop that only accumulates may run in any order, since accumulation is atomic. */
function relaxed(s: Statement): Statement {
  if (s.kind !== "loop" || s.order !== "sequential" || s.carried.length > 0) return s;
  const accumulated = storedBuffers(s.body);
  const holds = accessesOf(s.body).every((each) =>
    each.kind === "store" ? each.mode === "add" : !accumulated.has(each.buffer)
  );
  if (!holds) return s;
  return { ...s, order: "parallel", body: s.body.map(relaxed) };
}

/** Minimum number of adjacent elements that fill a memory transaction. */
const SIDE_BY_SIDE = 32;

/**
 * Reorders a nest to make another loop the fast one if more accesses are adjacent along it: an epilogue of a product
 * walks its results in order, even if all other accesses are transposed.
 */
function alongMost({ loops, body }: Nest): readonly Loop[] {
  const apart = ({ axis }: Loop): number =>
    [...accessesOf(body)].reduce((sum, { kind, index }) => {
      const stride = coefficientOf(index, axis.symbol);
      return stride === 0 || stride === 1 ? sum : sum + (kind === "store" ? 2 : 1);
    }, 0);
  const marked = loops.filter(({ vector }) => vector), [fast] = marked;
  if (!fast || marked.length > 1) return loops;
  const best = loops.filter(({ axis }) => hintOf(axis.size) >= SIDE_BY_SIDE)
    .reduce((best, loop) => apart(loop) < apart(best) ? loop : best, fast);
  return best === fast ? loops : loops.map((loop) => ({ ...loop, vector: loop === best }));
}

/** The axis that varies fastest among neighbouring invocations goes last. */
const fastLast = (loops: readonly Loop[]): readonly Loop[] =>
  loops.toSorted((a, b) => Number(a.vector) - Number(b.vector));

const gridOf = (loops: readonly Loop[], body: readonly Statement[]): readonly Statement[] =>
  fastLast(loops).reduceRight<readonly Statement[]>(
    (inner, loop) => [{ ...loop, share: "grid", body: inner }],
    body,
  );

/** The statements of a workgroup, which divides the outermost scans and loops whose iterations may run in any order. */
function shared(s: Statement): Statement {
  if (s.kind === "loop" && isShareable(s)) return { ...s, share: "team" };
  return s.kind === "loop" || s.kind === "masked" ? { ...s, body: s.body.map(shared) } : s;
}

/** Returns whether there is a loop whose iterations a workgroup can share, long enough to keep it busy. */
const isLong = (body: readonly Statement[], least: number): boolean =>
  sharedLengths(body).some((size) => typeof size !== "number" || size >= least);

const containsVectorLoop = (body: readonly Statement[]): boolean =>
  allOf(body).some((s) => s.kind === "loop" && s.vector);

/** The invocations of a workgroup, and the points that they run. */
export type Workgroup = Pick<LoopKernel, "workgroup" | "points">;

/**
 * Minimum and maximum number of invocations that share a row if several rows run side by side, so that reads of a row
 * stay adjacent.
 */
const SHARES = { least: 8, most: 32 } as const;
/** Iterations of a row per invocation; one in scans, where each iteration takes several barriers. */
const EACH = 4;

/** Returns the workgroup for rows that compute `body`. */
function workgroupOfRows(loops: readonly Loop[], body: readonly Statement[], grid: Grid): Workgroup {
  const lengths = sharedLengths(body), rows = product(loops.map(({ axis }) => axis.size));
  const { invocations } = grid;
  if (!lengths.every((size) => typeof size === "number")) return { workgroup: invocations };
  const each = body.some((s) => s.kind === "loop" && scansOf(s)) ? 1 : EACH;
  const longest = Math.max(1, ...lengths), wanted = 2 ** Math.ceil(Math.log2(longest / each));
  const share = Math.min(SHARES.most, Math.max(SHARES.least, wanted));
  if (typeof rows === "number" && wanted <= 2 * share && body.every(isInStep)) {
    const count = mostPoints(invocations / share, rows, busy(grid));
    if (count > 1) return { workgroup: count * share, points: { count, interleaved: false } };
  }
  return { workgroup: Math.min(invocations, Math.max(64, wanted)) };
}

/**
 * Returns the workgroup for adjacent results, each of which `body` reduces: neighbouring invocations read adjacent
 * elements, others reduce other parts of the same results. Undefined if there are enough results for an invocation
 * each.
 */
function workgroupOfColumns(
  loops: readonly Loop[],
  body: readonly Statement[],
  grid: Grid,
): Workgroup | undefined {
  const results = product(loops.map(({ axis }) => axis.size)), lengths = sharedLengths(body);
  if (typeof results !== "number" || results >= grid.groups * grid.invocations || !body.every(isInStep)) {
    return undefined;
  }
  if (lengths.length === 0 || !lengths.every((size) => typeof size === "number" && size >= SHARES.most)) {
    return undefined;
  }
  // Few points, so that there are enough workgroups
  const count = Math.max(mostPoints(SHARES.most, results, busy(grid)), mostPoints(SHARES.least, results, 0));
  return { workgroup: grid.invocations, points: { count, interleaved: true } };
}

/** Number of workgroups that keeps a large device busy. */
const busy = ({ groups }: Grid): number => groups / 8;

/** The largest power of two of points that divides them all and leaves this many workgroups. */
function mostPoints(most: number, all: number, workgroups: number): number {
  let count = most;
  while (count > 1 && (all % count !== 0 || all / count < workgroups)) count /= 2;
  return count;
}

/** Returns whether all points reach the same barriers: no loop's length depends on them, and none is masked. */
function isInStep(s: Statement): boolean {
  if (s.kind === "loop") return s.share === "team" || (s.order !== "sequential" && s.carried.length === 0);
  return s.kind !== "masked" || s.body.every((each) => each.kind !== "loop");
}

/** Lengths of the loops that a workgroup shares. */
function sharedLengths(body: readonly Statement[]): readonly Dim[] {
  return body.flatMap((s) => {
    if (s.kind === "loop" && isShareable(s)) return [s.axis.size];
    return s.kind === "loop" || s.kind === "masked" ? sharedLengths(s.body) : [];
  });
}

const FOUR = [0, 1, 2, 3];

/** Rewrites a grid for squares of elements; undefined if no access is contiguous along another axis. */
function transposedVec4(
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
    const names = renaming(new Map(), () => next++, (s) => s === line ? lane.symbol : s === place ? at : s);
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
