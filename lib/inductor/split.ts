/**
 * Splits long reductions with few results into two steps, so that threads share them. Invariant: the number of parts
 * follows from the sizes alone, so that results do not depend on the number of threads. Sums of floats are cut only
 * where a program for all sizes cuts them at the same places.
 */
import { InternalError } from "../base/errors.ts";
import { contiguousStrides } from "../graph/meta.ts";
import { coefficientOf } from "../loops/nest.ts";
import type { BufferOperand } from "../loops/record.ts";
import { isPreferred } from "../sym/decide.ts";
import { add, type Dim, divideDims, floorDiv, mul, product } from "../sym/expr.ts";
import { makeComputation } from "./computation.ts";
import type { ReductionWork } from "./settled_sums.ts";
import type { Job } from "./work_plan.ts";
import type { Storage } from "./tensors.ts";

/** Reductions of fewer elements are left to one thread. */
const SMALL = 1 << 15;
/** With this many results the outer loops have enough work for all threads. */
const ENOUGH = 16;
/** With more results than this, the outer loops leave nothing to gain. */
const WIDEST = (1 << 16) - 1;
/** Minimum number of elements of a part. */
const PART = 4096;

/** Splits reductions where that pays; appends the storages of partial results. */
export function splitReductions(jobs: readonly Job[], storages: Storage[]): Job[] {
  return jobs.flatMap((job) => {
    if (job.lanes !== undefined) {
      return job.work.kind === "reduction" ? sumInBlocks(job, job.work, storages) : [job];
    }
    const parts = job.work.kind === "reduction" ? partsOf(job) : undefined;
    return parts && job.work.kind === "reduction"
      ? split(job, { work: job.work, ...parts }, storages)
      : [job];
  });
}

interface Parts {
  /** The reduced axis to cut. */
  readonly axis: number;
  readonly count: number;
}

/** Chooses how to cut a reduction: the outermost reduced axis that has a divisor of a good size. */
function partsOf(job: Job): Parts | undefined {
  const { sizes, over } = job;
  const results = product(sizes), reduced = product(over);
  if (typeof results !== "number" || typeof reduced !== "number") return undefined;
  const columns = results >= ENOUGH;
  if (results * reduced < SMALL) return undefined;
  // Columns of a wide matrix: walks over many rows are cut so that few rows are open at a time
  if (columns) {
    if (over.length !== 1 || reduced < 256 || results > WIDEST || !walksColumns(job)) return undefined;
    const count = divisorNear(reduced, Math.max(1, Math.round(reduced / 64)), [2, reduced / 16]);
    return count === undefined ? undefined : { axis: 0, count };
  }
  const wanted = Math.min(64, Math.floor(results * reduced / PART));
  for (const [axis, size] of over.entries()) {
    if (typeof size !== "number") continue;
    const count = divisorNear(size, wanted, [2, 512]);
    if (count !== undefined) return { axis, count };
  }
  return undefined;
}

/** Rows of a block, whose sums are added separately. */
const BLOCK = 64;

/**
 * Sums down the columns of a wide matrix, in blocks of rows, so that few rows are open at a time and threads share the
 * blocks. Others stay whole: their loops are cut, and divided among threads, when code is generated.
 */
function sumInBlocks(job: Job, work: ReductionWork, storages: Storage[]): Job[] {
  const { sizes, over: [rows], lanes } = job;
  if (work.op !== "sum" || lanes !== "outer" || rows === undefined || job.over.length > 1) return [job];
  const results = product(sizes);
  const isWide = isPreferred(ENOUGH, results) && isPreferred(results, WIDEST);
  if (!isWide || !isPreferred(4 * BLOCK, rows) || !isPreferred(SMALL, mul(results, rows))) return [job];
  const count = floorDiv(add(rows, BLOCK - 1), BLOCK), isWhole = divideDims(rows, BLOCK) !== undefined;
  const partial = temporary(storages, work.accumulator, [count, ...sizes]);
  const { order, label } = job, common = { order, label, lanes };
  const inBlock: ReductionWork["element"] = (o, [block = 0, ...index], [row = 0]) => {
    const at = add(mul(block, BLOCK), row), value = () => work.element(o, index, [at]);
    if (isWhole) return value();
    return o.masked(
      o.lt(o.index(at, "int64"), o.index(rows, "int64")),
      value,
      o.constant(0, work.accumulator),
    );
  };
  const ofBlocks: ReductionWork["element"] = (o, index, [block = 0]) => o.load(partial, [block, ...index]);
  return [
    { ...common, work: { ...work, element: inBlock }, target: partial, sizes: partial.shape, over: [BLOCK] },
    { ...job, work: { ...work, element: ofBlocks }, over: [count] },
  ];
}

/** New memory for intermediate results. */
function temporary(storages: Storage[], dtype: Storage["dtype"], shape: readonly Dim[]): BufferOperand {
  const id = storages.length;
  storages.push({ id, name: `t${id}`, dtype, length: product(shape), role: { kind: "internal" } });
  return { buffer: id, offset: 0, shape, strides: contiguousStrides(shape), dtype };
}

/** Returns whether adjacent input elements belong to different results. */
function walksColumns(job: Job): boolean {
  const { outer, inner, reads } = makeComputation(job.work, { id: 0, ...job });
  const [along] = inner;
  let columns = false;
  for (const { index } of reads) {
    if (index === undefined || !along) continue;
    const stride = coefficientOf(index, along.symbol);
    if (stride === 1 || stride === undefined) return false;
    columns ||= stride !== 0 && outer.some((axis) => coefficientOf(index, axis.symbol) === 1);
  }
  return columns;
}

/** The divisor of n nearest to the wanted one (by ratio), within limits. */
function divisorNear(n: number, wanted: number, [low, high]: readonly [number, number]): number | undefined {
  let best: number | undefined;
  const distance = (d: number) => Math.abs(Math.log(d / Math.max(1, wanted)));
  for (let d = 1; d * d <= n; d++) {
    if (n % d !== 0) continue;
    for (const each of [d, n / d]) {
      if (each >= low && each <= high && (best === undefined || distance(each) < distance(best))) best = each;
    }
  }
  return best;
}

function split(job: Job, { work, axis, count }: Parts & { work: ReductionWork }, storages: Storage[]): Job[] {
  const size = job.over[axis];
  if (typeof size !== "number") throw new InternalError(`Expected a known size to split but found ${size}`);
  const chunk = size / count;
  const shape: Dim[] = [count, ...job.sizes];
  const over = job.over.map((s, d) => d === axis ? chunk : s);
  /** The original reduced index of a position in a part. */
  const whole = (part: Dim, reduced: readonly Dim[]) =>
    reduced.map((r, d) => d === axis ? add(mul(part, chunk), r) : r);
  const positional = work.op === "argmax" || work.op === "argmin";
  const fresh = (dtype: Storage["dtype"]) => temporary(storages, dtype, shape);
  const element: ReductionWork["element"] = (o, index, reduced) =>
    work.element(o, index.slice(1), whole(index[0] ?? 0, reduced));
  const common = { order: job.order, sizes: shape, over, label: job.label };
  if (!positional) {
    const partial = fresh(work.accumulator);
    return [
      { ...common, work: { ...work, element }, target: partial },
      {
        ...job,
        work: { ...work, element: (o, index, reduced) => o.load(partial, [...reduced, ...index]) },
        over: [count],
      },
    ];
  }
  const extremes = fresh(work.accumulator), positions = fresh("int64");
  const position = (reduced: readonly Dim[], index: readonly Dim[]) => {
    const at = whole(index[0] ?? 0, reduced);
    return work.position?.(at, index.slice(1)) ?? at[0] ?? 0;
  };
  return [
    {
      ...common,
      work: {
        kind: "reduction",
        op: work.op === "argmax" ? "max" : "min",
        accumulator: work.accumulator,
        element,
      },
      target: extremes,
    },
    { ...common, work: { ...work, element, position }, target: positions },
    {
      ...job,
      work: {
        kind: "reduction",
        op: work.op,
        accumulator: work.accumulator,
        element: (o, index, reduced) => o.load(extremes, [...reduced, ...index]),
        positionValue: (o, index, reduced) => o.load(positions, [...reduced, ...index]),
      },
      over: [count],
    },
  ];
}
