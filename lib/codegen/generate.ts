/**
 * Code generation: transforms a program of loops into one that a target's printer can write down directly.
 * Invariants: the passes run in the order of one list; after them the program satisfies the checks of
 * loops/verify.ts; the output of each pass can be dumped.
 */
import { bisection, isLoopPart } from "../base/bisect.ts";
import { VERIFIES_EACH_PASS } from "../base/config.ts";
import { onDemand } from "../base/on_demand.ts";
import { recording } from "../base/recording.ts";
import type { Kernel, Program } from "../loops/ir.ts";
import { cachedRewrite } from "../loops/canonical_form.ts";
import { printProgram } from "../loops/print.ts";
import { expandRegions, isRegion, kernelCount } from "../loops/regions.ts";
import { verifyProgram } from "../loops/verify.ts";
import { blockedSums } from "./blocked_sums.ts";
import { chunkedReductions, mapToThreads } from "./threads.ts";
import { expandConversions, expandSmallSums } from "./small_types.ts";
import { type Rewrite, rewriteNests } from "./kernels.ts";
import { libraryCalls } from "./library_calls.ts";
import { narrowIntegers } from "./narrow.ts";
import type { Target } from "./target.ts";
import { unrollShort } from "./unroll.ts";
import { attachPrologues } from "./prologues.ts";
import { blocksOfRows } from "./row_blocks.ts";
import { loopFission } from "./nests.ts";
import { sharesOperands, transposedOperands } from "./transposed_operands.ts";
import { im2colConvolutions } from "./im2col.ts";
import { vectorise, vectoriseEpilogue } from "./vectorise.ts";
import { windowsOfBuffers } from "./windows.ts";

/** One step of code generation. */
export interface Pass {
  readonly name: string;
  /** Returns whether the target needs it. */
  readonly applies: (target: Target) => boolean;
  readonly run: (program: Program, target: Target) => Program;
}

const grid = onDemand(import.meta.url, "./grid_passes.ts", () => import("./grid_passes.ts"));
const native = onDemand(import.meta.url, "./native_passes.ts", () => import("./native_passes.ts"));

/** A pass for targets that run on a grid. */
function forGrid(name: keyof ReturnType<typeof grid>["GRID_PASSES"]): Pass {
  const run = (program: Program, target: Target): Program => grid().GRID_PASSES[name](program, target);
  return { name, applies: ({ grid }) => grid !== null, run };
}

/** Passes over kernels and their neighbours, which run once over a region. */
const KERNEL_PASSES: readonly Pass[] = [
  { name: "small_sums", applies: ({ grid }) => grid === null, run: expandSmallSums },
  forGrid("attention"),
  forGrid("attention_gradients"),
  forGrid("joined_scalars"),
  { name: "library_calls", applies: () => true, run: libraryCalls },
  { name: "prologues", applies: () => true, run: attachPrologues },
  forGrid("depthwise"),
  forGrid("folded_gradients"),
  forGrid("packed_filters"),
  forGrid("transposed_weights"),
  forGrid("split_products"),
  { name: "transposed_operands", applies: ({ rowsInPlace }) => rowsInPlace > 0, run: transposedOperands },
  {
    name: "outermost_splitting",
    applies: ({ runs }) => runs,
    run: perNest((body) => native().splitOutermost(body)),
  },
  { name: "loop_fission", applies: () => true, run: loopFission },
  forGrid("flat_loops"),
  forGrid("row_fission"),
  forGrid("grid_reductions"),
  forGrid("grid_scans"),
  { name: "blocked_sums", applies: ({ lanes }) => lanes, run: perNest(blockedSums) },
  { name: "vectorise", applies: ({ lanes }) => lanes, run: perNest(vectorise, vectoriseEpilogue) },
  {
    name: "unroll",
    applies: ({ unrolls }) => unrolls > 0,
    run: (program, { unrolls }) => perNest((body) => unrollShort(body, unrolls))(program),
  },
  { name: "chunked_reductions", applies: ({ threads }) => threads !== "none", run: chunkedReductions },
  { name: "narrow", applies: () => true, run: narrowIntegers },
  { name: "conversions", applies: () => true, run: perNest(expandConversions, expandConversions) },
  { name: "row_blocks", applies: ({ blockBytes }) => blockBytes > 0, run: blocksOfRows },
  { name: "im2col", applies: ({ im2col }) => im2col, run: im2colConvolutions },
  {
    name: "index_set_splitting",
    applies: ({ runs }) => runs,
    run: perNest((body) => native().splitIndexSets(body)),
  },
  {
    name: "transposed_tiles",
    applies: ({ runs }) => runs,
    run: (program) => native().transposedTiles(program),
  },
  { name: "threads", applies: ({ threads }) => threads !== "none", run: mapToThreads },
  { name: "lanes", applies: ({ runs }) => runs, run: (program) => native().runsOfLanes(program) },
  forGrid("grid"),
  forGrid("persistent_rows"),
];

/** Passes over whole programs. */
const PROGRAM_PASSES: readonly Pass[] = [
  { name: "windows", applies: () => true, run: windowsOfBuffers },
  {
    name: "foreach_tables",
    applies: ({ tables }) => tables,
    run: (program, target) => native().foreachTables(program, target),
  },
  {
    name: "streaming_stores",
    applies: ({ streams }) => streams,
    run: (program) => native().streamingStores(program),
  },
];

/** All passes, in their order. */
export const PASSES: readonly Pass[] = [...KERNEL_PASSES, ...PROGRAM_PASSES];

/**
 * Runs the passes that a target needs. Throws InternalError if a pass violates the rules of loop IR: the result is
 * verified; if that fails, and in dyn's own tests, the output of each pass is verified, so that the error names the pass.
 */
export function generate(program: Program, target: Target): Program {
  const run = (check: (made: Program, pass: string) => void): Program => {
    const [own, rest] = target.grid === null ? [KERNEL_PASSES, PROGRAM_PASSES] : [[], PASSES];
    const through = (passes: readonly Pass[], from: Program): Program =>
      passes.filter((pass) => pass.applies(target) && !isLeftOut(pass)).reduce<Program>((before, pass) => {
        const after = pass.run(before, target);
        if (after === before) return before;
        check(after, pass.name);
        recording.artifact(`loops_${pass.name}`, () => printProgram(after), { part: from.name });
        return after;
      }, from);
    const known = new Map<Program, Program>();
    const inner = (region: Program): Program => {
      const made = known.get(region) ?? expandRegions(through(own, numbered(region)), { inner });
      known.set(region, made);
      return made;
    };
    const whole = expandRegions(numbered(program), { which: sharesOperands(program) });
    return through(rest, expandRegions(through(own, whole), { inner, tables: target.tables }));
  };
  return recording.phase("loop passes", () => {
    try {
      const made = run(VERIFIES_EACH_PASS ? verifyProgram : () => {});
      verifyProgram(made, target.name);
      return made;
    } catch (thrown) {
      run(verifyProgram);
      throw thrown;
    }
  });
}

/** Returns whether `dyn bisect` leaves a pass out. */
const isLeftOut = ({ name }: Pass): boolean => isLoopPart(name) && bisection.remaining(name) === 0;

/** The program with kernels that know their places, those of regions counted. */
function numbered(program: Program): Program {
  let given = 0;
  const kernels = program.kernels.map((kernel): Kernel => {
    const originals = [given];
    given += isRegion(kernel) ? kernelCount(kernel.call.program) : 1;
    return { ...kernel, originals };
  });
  return { ...program, kernels };
}

/**
 * A pass that rewrites the statements of each loop kernel, and, by `around`, those of nests around library calls, which
 * stay unchanged otherwise.
 */
function perNest(rewrite: Rewrite, around: Rewrite = (body) => body): (program: Program) => Program {
  return (program) => rewriteNests(program, cachedRewrite(rewrite), cachedRewrite(around));
}
