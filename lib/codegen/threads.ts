/**
 * Maps loops to threads: marks the loops that a team divides, with an estimate of the work by which a device decides
 * whether this pays off. Each kernel has one nest. Invariant: divided iterations are independent, so results do not
 * depend on the number of threads.
 *
 * Reductions with few results are first split into chunks: one kernel stores the results of the chunks, and another
 * combines them in order. That comes after long sums are cut, where they were cut, so that it changes no order of
 * additions.
 */
import { add, boundsOf, type Dim, floorDiv, max, mul, product } from "../sym/expr.ts";
import { isPosition, type Loop, type LoopKernel, type Program, type Statement } from "../loops/ir.ts";
import { cachedAnalysis, cachedRewrite } from "../loops/canonical_form.ts";
import { SCALAR_OPS } from "../loops/scalar.ts";
import { collides } from "../loops/uses.ts";
import { CHUNK } from "./blocked_sums.ts";
import { disjointSums } from "./disjoint_sums.ts";
import { isFixed, lengthOf, stripMine } from "./strip_mining.ts";
import { replaceKernels, replaceWithTemporaries } from "./kernels.ts";
import { isPure } from "./nests.ts";
import type { Target, ThreadSharing } from "./target.ts";
import { type CutReduction, inTwo } from "./grid_reductions.ts";

/** Iterations of an outermost loop that keep all threads busy. */
const MANY = 64;
/** Lanes of one piece if a vector loop is divided together with the loops around it. */
const PIECE = 4096;

/** Marks the loops of a program that teams divide. */
export function mapToThreads(program: Program, { threads }: Target): Program {
  if (threads === "none") return program;
  const forTeam = cachedRewrite((body) => mapped(body, threads)), work = cachedAnalysis(workOf);
  const forThreads = (kernel: LoopKernel): LoopKernel => {
    const body = forTeam(kernel.body);
    return body === kernel.body ? kernel : { ...kernel, work: work(kernel.body), body };
  };
  return replaceKernels(
    program,
    (kernel) => [kernel.kind === "loops" && !kernel.blocks ? forThreads(kernel) : kernel],
  );
}

function mapped(body: readonly Statement[], threads: ThreadSharing): readonly Statement[] {
  const loop = body.at(-1), values = body.slice(0, -1);
  if (loop?.kind !== "loop" || !values.every(isPure)) return body;
  if (collides([loop])) {
    const apart = threads === "nest" ? disjointSums(loop) : undefined;
    return apart ? [...values, { ...apart, share: "team" }] : body;
  }
  if (loop.order !== "parallel") return body;
  const shared = threads === "outermost" ? { ...loop, share: "team" as const } : divided(loop);
  return [...values, shared];
}

/** A nest with the loops marked that threads divide as one. */
function divided(loop: Loop): Loop {
  const outer: Loop[] = [];
  let last = loop;
  for (; !last.vector;) {
    outer.push(last);
    const [inner] = last.body;
    if (last.body.length !== 1 || inner?.kind !== "loop" || inner.order !== "parallel") break;
    last = inner;
  }
  const vector = last.vector ? last : undefined;
  if (outer.length === 0) return { ...loop, share: "team" };
  const outside = product(outer.map(({ axis }) => axis.size));
  const pieces = vector !== undefined && boundsOf(vector.axis.size)[1] > PIECE &&
    !(boundsOf(outside)[0] >= MANY);
  const alone = typeof loop.axis.size === "number" && loop.axis.size >= MANY;
  if (alone || (outer.length === 1 && !pieces)) return { ...loop, share: "team" };
  const innermost = pieces ? [inPieces(vector)] : outer.at(-1)?.body ?? [];
  const [nest = loop] = outer.reduceRight<readonly Loop[]>(
    (inner, each) => [{ ...each, share: "team", body: inner.length > 0 ? inner : innermost }],
    [],
  );
  return nest;
}

/** A vector loop as a loop over pieces of it, which threads divide. */
function inPieces(loop: Loop): Loop {
  const { axis, part } = stripMine(loop, PIECE);
  return { ...loop, axis, vector: false, share: "team", body: [part] };
}

/** The estimate of `LoopKernel.work`. */
function workOf(body: readonly Statement[]): Dim {
  let total: Dim = 0;
  for (const s of body) {
    if (s.kind === "loop") {
      const length = lengthOf(s.axis.size);
      total = add(total, mul(length === Infinity ? 64 : length, workOf(s.body)));
    } else if (s.kind === "masked") total = add(total, workOf(s.body));
    else if (s.kind === "load" || s.kind === "store") total = add(total, 4);
    else if (s.kind === "scalar") total = add(total, SCALAR_OPS[s.op].weight);
  }
  return total;
}

/** With as many results, threads divide the results. */
const ENOUGH = 16;

/** Splits the reductions of a program that have few results. */
export function chunkedReductions(program: Program): Program {
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const found = kernel.kind === "loops" ? chunkedReduction(kernel) : undefined;
    return found ? inTwo(found, temporary) : [kernel];
  });
}

/** The reduction that a kernel consists of; undefined if it is something else, too small, or has many results. */
function chunkedReduction(kernel: LoopKernel): CutReduction | undefined {
  const around: Loop[] = [];
  let { body } = kernel;
  for (;;) {
    const [only] = body;
    if (body.length !== 1 || only?.kind !== "loop" || only.order !== "parallel" || only.vector) break;
    around.push(only);
    body = only.body;
  }
  if (boundsOf(product(around.map(({ axis }) => axis.size)))[1] >= ENOUGH) return undefined;
  const loops = body.filter((s): s is Loop => s.kind === "loop"), [loop] = loops;
  if (loops.length !== 1 || !loop || loop.order !== "reduction" || loop.reductions.length === 0) {
    return undefined;
  }
  if (loop.carried.length > 0 || loop.reductions.some((r) => isPosition(r.op)) || collides(body)) {
    return undefined;
  }
  const count = elementsOf(loop);
  if (boundsOf(count)[1] <= 2 * CHUNK || !isFixed(count)) return undefined;
  const before = body.slice(0, body.indexOf(loop)), after = body.slice(body.indexOf(loop) + 1);
  if (before.some((s) => s.kind === "store" || s.kind === "masked")) return undefined;
  const length = max(1, floorDiv(CHUNK, max(1, elementsIn(loop))));
  return { kernel, around, before, loop, after, length };
}

/** Returns the number of innermost iterations of a nest (on its deepest path). */
const elementsOf = (loop: Loop): Dim => mul(lengthOf(loop.axis.size), elementsIn(loop));

/** Returns the number of innermost iterations in one iteration of its outermost loop. */
function elementsIn({ body }: Loop): Dim {
  const inner = body.filter((s): s is Loop => s.kind === "loop").map(elementsOf);
  return inner.reduce<Dim>(
    (most, d) =>
      typeof most === "number" && typeof d === "number" ? Math.max(most, d) : most === 1 ? d : most,
    1,
  );
}
