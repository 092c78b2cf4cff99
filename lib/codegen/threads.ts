/**
 * Maps loops to threads: marks the loops that a team divides, with an estimate of the work by which a device decides
 * whether this pays off. Each kernel has one nest. Invariant: divided iterations are independent, so results do not
 * depend on the number of threads.
 */
import { add, boundsOf, type Dim, mul, product } from "../sym/expr.ts";
import type { Loop, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { cachedAnalysis, cachedRewrite } from "../loops/canonical_form.ts";
import { SCALAR_OPS } from "../loops/scalar.ts";
import { collides } from "../loops/uses.ts";
import { disjointSums } from "./disjoint_sums.ts";
import { lengthOf, stripMine } from "./strip_mining.ts";
import { replaceKernels } from "./kernels.ts";
import { isPure } from "./loop_fission.ts";
import type { Target, ThreadSharing } from "./target.ts";

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
