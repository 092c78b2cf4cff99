/**
 * Tiles transposed reads: elements that a vector loop reads across rows are first copied into a small square local
 * buffer, whole cache lines at a time. Rows of a power of two elements compete for few cache sets, so that lines that
 * are read one element at a time are evicted before the next iteration needs them. Invariant: every element is
 * computed by the same operations.
 */
import { type DType, itemSize } from "../base/dtype.ts";
import { add, mul, type Sym } from "../sym/expr.ts";
import type { BufferId, Loop, LoopKernel, Program, Statement, ValueId } from "../loops/ir.ts";
import { coefficientOf, loopOver, storeOf, substituteIndices } from "../loops/nest.ts";
import { indirect, storedBuffers } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { axisOf } from "./strip_mining.ts";
import { rewriteLoops } from "./kernels.ts";

/** Side of a square in elements: as many float32 as a cache line has. */
const SIDE = 16;
/** The shortest side that is worth it. */
const LEAST_SIDE = 8;
/** Length of rows from which on elements of neighbouring rows are in different lines. */
const LONG_ROW = 16;
/** Rows whose size in bytes is a multiple of this map to so few cache sets that a square's lines evict each other. */
const SHARED_PLACES = 2048;
type Load = Statement & { readonly kind: "load" };

/** A loop over rows of a square directly around one over its lanes. */
interface Nest {
  readonly lines: Loop;
  readonly lanes: Loop;
  /** Rows and lanes of a square. */
  readonly side: number;
  readonly width: number;
  /**
   * Elements of a square's rows, including one for padding, which keeps a compiler from reading the whole square for
   * each row of lanes.
   */
  readonly pitch: number;
  /** Loads that are contiguous along the rows. */
  readonly transposed: readonly Load[];
}

/** Tiles the transposed reads of a program. */
export function transposedTiles(program: Program): Program {
  return rewriteLoops(program, (kernel, buffers) =>
    withTiles(
      kernel,
      (dtype, length) =>
        buffers.push({ name: `transposed${buffers.length}`, dtype, length, role: { kind: "local" } }) - 1,
    ));
}

function withTiles(kernel: LoopKernel, local: (dtype: DType, length: number) => BufferId): LoopKernel {
  const written = storedBuffers(kernel.body);
  let next = nextId(kernel.body);
  const visit = (body: readonly Statement[]): readonly Statement[] => {
    let changes = false;
    const after = body.map((s): Statement => {
      if (s.kind !== "loop") return s;
      const nest = nestOf(s, written), inside = nest ? s.body : visit(s.body);
      if (!nest && inside === s.body) return s;
      changes = true;
      return nest ? tiled(nest, local, () => next++) : { ...s, body: inside };
    });
    return changes ? after : body;
  };
  const body = visit(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

const isPlain = ({ order, carried, reductions, folds = [] }: Loop): boolean =>
  order === "parallel" && carried.length + reductions.length + folds.length === 0;

/** The nest that starts at a loop, if the loads that its lanes do across rows are contiguous along the loop itself. */
function nestOf(lines: Loop, written: ReadonlySet<BufferId>): Nest | undefined {
  const [lanes, ...others] = lines.body;
  if (lanes?.kind !== "loop" || others.length > 0 || !lanes.vector || !isPlain(lines) || !isPlain(lanes)) {
    return undefined;
  }
  const { size: count } = lines.axis, { size: width } = lanes.axis;
  if (typeof count !== "number" || typeof width !== "number" || width > SIDE || width < LEAST_SIDE) {
    return undefined;
  }
  const side = largestDivisor(count);
  if (side < LEAST_SIDE) return undefined;
  const transposed = lanes.body.filter((s): s is Load =>
    s.kind === "load" && isTransposed(s, lines, lanes, written)
  );
  if (transposed.length === 0 || !isWorthIt(lanes, transposed)) return undefined;
  return { lines, lanes, side, width, pitch: isCopy(lanes) ? side : side + 1, transposed };
}

function isTransposed(
  { buffer, index }: Load,
  lines: Loop,
  lanes: Loop,
  written: ReadonlySet<BufferId>,
): boolean {
  if (written.has(buffer) || indirect(index).length > 0) return false;
  const across = coefficientOf(index, lanes.axis.symbol);
  return coefficientOf(index, lines.axis.symbol) === 1 && across !== undefined &&
    (typeof across !== "number" || Math.abs(across) >= LONG_ROW);
}

const isCopy = ({ body }: Loop): boolean => body.every(({ kind }) => kind === "load" || kind === "store");

/**
 * Returns whether the copies cost less than they save: always in a plain copy; otherwise if rows compete for cache
 * sets.
 */
function isWorthIt(lanes: Loop, transposed: readonly Load[]): boolean {
  if (lanes.body.some(({ kind }) => kind === "loop" || kind === "masked")) return false;
  return isCopy(lanes) || transposed.every(({ index, dtype }) => {
    const across = coefficientOf(index, lanes.axis.symbol);
    return typeof across === "number" && (across * itemSize(dtype)) % SHARED_PLACES === 0;
  });
}

function largestDivisor(count: number): number {
  for (let side = SIDE; side > 1; side--) if (count % side === 0) return side;
  return 1;
}

/** The nest, tiled by squares. */
function tiled(
  { lines, lanes, side, width, pitch, transposed }: Nest,
  local: (dtype: DType, length: number) => BufferId,
  fresh: () => ValueId,
): Loop {
  const squares = axisOf("q", Number(lines.axis.size) / side);
  const at = (line: Sym, lane: Sym) => (symbol: Sym) =>
    symbol === lines.axis.symbol
      ? add(mul(squares.symbol, side), line)
      : symbol === lanes.axis.symbol
      ? lane
      : symbol;
  const places = new Map(transposed.map((load) => [load.id, local(load.dtype, pitch * width)]));
  const copies = transposed.map((load): Loop => {
    const row = axisOf("r", width), column = axisOf("c", side), id = fresh();
    const copy = substituteIndices([{ ...load, id }], at(column.symbol, row.symbol));
    const place = add(mul(row.symbol, pitch), column.symbol);
    const store = storeOf(places.get(load.id) ?? load.buffer, place, id);
    return loopOver(row, [loopOver(column, [...copy, store], { vector: true })], { scalar: true });
  });
  const line = axisOf("c", side), lane = axisOf("r", width);
  const body = substituteIndices(lanes.body, at(line.symbol, lane.symbol)).map((s): Statement => {
    const buffer = s.kind === "load" ? places.get(s.id) : undefined;
    return s.kind === "load" && buffer !== undefined
      ? { ...s, buffer, index: add(mul(lane.symbol, pitch), line.symbol) }
      : s;
  });
  // Lanes over the rows would write one element of each
  const rest = loopOver(line, [{ ...lanes, axis: lane, body }], { scalar: true });
  return { ...lines, axis: squares, body: [...copies, rest] };
}
