/**
 * The inductor's driver: graph → passes → computations → groups → program. Invariant: the program passes the checks
 * of loops/verify.ts; nothing here depends on which device will run it.
 */
import { config } from "../base/config.ts";
import { counters, logs } from "../base/logs.ts";
import { recording } from "../base/recording.ts";
import type { Graph, Region } from "../graph/node.ts";
import { printGraph } from "../graph/print.ts";
import type { GraphSignature } from "../graph/signature.ts";
import type { ProgramForms } from "../loops/device.ts";
import type { BufferId, Program } from "../loops/ir.ts";
import { printProgram } from "../loops/print.ts";
import { expandRegions, uniqueNames } from "../loops/regions.ts";
import { usesOf } from "../loops/uses.ts";
import { verifyProgram } from "../loops/verify.ts";
import { assembleProgram } from "./assemble.ts";
import type { CompiledGraph } from "./compiled_graph.ts";
import { type Computation, makeComputation } from "./computation.ts";
import { memoryPlanText, scheduleDiagram, scheduleText } from "./describe.ts";
import { emitGroup } from "./emit.ts";
import { type FusionOptions, schedule } from "./fusion.ts";
import { gathered } from "./gathered.ts";
import { cleaned } from "./graph_passes.ts";
import type { Group } from "./group.ts";
import { OTHER_TILINGS, TILING } from "./loop_order.ts";
import { lowerGraph, type OpLookup, type OutputValue } from "./lowering.ts";
import type { Job } from "./work_plan.ts";
import { placeBuffers } from "./placement.ts";
import { neededKernels } from "./region_kernels.ts";
import { splitReductions } from "./split.ts";
import type { Storage } from "./tensors.ts";

/** Options of the compilation of a graph. */
export interface CompileOptions {
  readonly name?: string;
  readonly signature?: Partial<Pick<GraphSignature, "mutatedInputs" | "ownResults" | "failure">>;
  /** Whether the graph is a part of eager execution, which is neither counted nor reported. */
  readonly silent?: boolean;
  /** Maximum number of buffers that a kernel of the device may touch; absent: unlimited. */
  readonly maxBuffers?: number;
  /** Placeholders whose memory callers overwrite with results that are their new values. */
  readonly mutatedInputs?: readonly number[];
  /** Chooses among the forms of the program. Absent: the default one. */
  readonly choose?: (forms: ProgramForms) => Program;
}

/** Compiles a graph to a program. `lookup` finds op definitions by graph name. */
export function compileGraph(graph: Graph, lookup: OpLookup, options: CompileOptions = {}): CompiledGraph {
  const name = options.name ?? "graph";
  const silent = options.silent ?? false;
  const record = (stage: string, text: () => string) => {
    if (!silent) recording.artifact(stage, text, { part: name });
  };
  const ready = config.inductor.patternMatcher
    ? recording.phase(
      "passes",
      () => cleaned(graph, { ownResults: options.signature?.ownResults, observe: record }),
    )
    : graph;
  record("fx_graph_transformed", () => printGraph(ready));
  const regions = new Map<Region, CompiledGraph>();
  const compileRegion = (region: Region, name: string): CompiledGraph => {
    const known = regions.get(region);
    if (known) return known;
    const { ownResults, mutatedInputs, graph } = region, { maxBuffers = Infinity } = options;
    const signature = { ownResults };
    const made = compileGraph(graph, lookup, { name, signature, silent: true, maxBuffers, mutatedInputs });
    regions.set(region, made);
    counters.add("inductor", "regions");
    return made;
  };
  const { lowered, storages, computations } = recording.phase("lowering", () => {
    const lowered = lowerGraph(ready, { lookup, compileRegion }, options.signature);
    const storages = [...lowered.storages];
    const jobs = splitReductions(lowered.jobs, storages);
    return { lowered, storages, computations: liveComputations(jobs, lowered.outputs, storages) };
  });
  const maxBuffers = options.maxBuffers ?? Infinity, first = lowered.flag;
  const outputIds = outputStorages(lowered.outputs, storages);
  const inputIds = storages.flatMap(({ id, role }) => role.kind === "input" ? [id] : []);
  const { mutatedInputs = [] } = options;
  const written = new Set(
    storages.flatMap(({ id, role }) =>
      role.kind === "input" && mutatedInputs.includes(role.input) ? [id] : []
    ),
  );
  const neededBuffers = new Set([...outputIds, ...inputIds]);
  const programOf = (groups: readonly Group[], tiling = TILING): CompiledGraph => {
    const placements = placeBuffers(groups, storages, new Set(outputIds));
    const emitted = groups.flatMap((group) => emitGroup(group, placements, tiling));
    const needed = regions.size > 0 ? neededKernels(emitted, neededBuffers) : emitted;
    // No kernel moves across the guard's decision, which directly follows the kernel that writes its flag
    const decided = first === undefined
      ? 0
      : needed.findLastIndex((kernel) => usesOf(kernel).written.has(first)) + 1;
    const kernels = uniqueNames([...needed.slice(0, decided), ...gathered(needed.slice(decided), storages)]);
    return assembleProgram({
      name,
      kernels,
      storages,
      outputIds,
      outputs: lowered.outputs,
      flag: lowered.flag,
    });
  };
  record("ir_pre_fusion", () => {
    const apart = schedule(computations, storages, { fusion: false, epilogues: false, maxBuffers, first });
    return printProgram(expandRegions(programOf(apart).program));
  });
  const groups = recording.phase("schedule", () =>
    schedule(computations, storages, {
      fusion: config.inductor.fusion,
      epilogues: config.inductor.epilogueFusion,
      maxBuffers,
      first,
      written,
      turns: turnsOf(ready),
    }));
  if (!silent) logs.emit("schedule", () => scheduleText(groups, storages), { part: name });
  const usual = recording.phase("codegen", () => programOf(groups));
  const forms = (): ProgramForms => [
    { name: TILING.name, program: usual.program },
    ...OTHER_TILINGS.map((tiling) => ({ name: tiling.name, program: programOf(groups, tiling).program })),
  ];
  const { choose } = options;
  const compiled = choose ? { ...usual, program: recording.phase("autotune", () => choose(forms())) } : usual;
  verifyProgram(compiled.program);
  if (silent) return compiled;
  counters.add("inductor", "lowered");
  counters.add("inductor", "graphs");
  counters.add("inductor", "kernels", compiled.metrics.kernels);
  counters.add("inductor", "extern_calls", compiled.metrics.externCalls);
  const expanded = () => expandRegions(compiled.program);
  record("ir_post_fusion", () => printProgram(expanded()));
  record("memory_plan", () => memoryPlanText(expanded()));
  record("graph_diagram", () => scheduleDiagram(expanded()));
  logs.emit("kernel_code", () => printProgram(expanded()), { part: name });
  return compiled;
}

/** Positions of values that the graph computes twice, and of their recomputations; undefined if there are none. */
function turnsOf({ nodes }: Graph): FusionOptions["turns"] {
  const of = (wanted: "first" | "again") =>
    new Set(nodes.flatMap(({ meta: { turn } }, at) => turn === wanted ? [at + 1] : []));
  const again = of("again");
  return again.size > 0 ? { first: of("first"), again } : undefined;
}

/** Computations in order, without dead ones. */
function liveComputations(
  jobs: readonly Job[],
  outputs: readonly OutputValue[],
  storages: readonly Storage[],
): Computation[] {
  const all = jobs.map((job, id) => makeComputation(job.work, { id, ...job }));
  const needed = new Set<BufferId>();
  for (const storage of storages) if (storage.role.kind === "input") needed.add(storage.id);
  for (const output of outputs) if (output.kind === "tensor") needed.add(output.view.buffer);
  const live: Computation[] = [];
  for (const computation of all.toReversed()) {
    if (!computation.writes.some((w) => needed.has(w.buffer))) continue;
    live.push(computation);
    for (const { buffer } of computation.reads) needed.add(buffer);
  }
  return live.reverse();
}

/** The internal buffers that outputs view, without duplicates. */
function outputStorages(outputs: readonly OutputValue[], storages: readonly Storage[]): BufferId[] {
  const found = new Set<BufferId>();
  for (const output of outputs) {
    if (output.kind === "tensor" && storages[output.view.buffer]?.role.kind === "internal") {
      found.add(output.view.buffer);
    }
  }
  return [...found];
}
