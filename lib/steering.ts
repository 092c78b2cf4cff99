/**
 * Functions that control compilation, for the tracer. Imported for its effect: calls of them break the graph instead of
 * tracing dyn's own code. Invariant: functions with a meaning inside graphs are not among them.
 */
import { config } from "./base/config.ts";
import { compile } from "./compile.ts";
import * as compiler from "./compiler.ts";
import * as dataParallel from "./distributed/data_parallel.ts";
import { canDrop } from "./distributed/fully_shard.ts";
import * as distributed from "./distributed/mod.ts";
import { markFunction } from "./dynamo/mod.ts";
import { TensorDispatchMode } from "./tensor/overrides.ts";

const STEERING: readonly object[] = [
  compile,
  config.patch,
  compiler.allowInGraph,
  compiler.aotAutograd,
  compiler.assumeConstantResult,
  compiler.cacheEntries,
  compiler.compileTimes,
  compiler.describeBackends,
  compiler.disable,
  compiler.explain,
  compiler.getDefaultBackend,
  compiler.listBackends,
  compiler.listModeOptions,
  compiler.listOptions,
  compiler.makeFx,
  compiler.markDynamic,
  compiler.markStatic,
  compiler.markUnbacked,
  compiler.maybeMarkDynamic,
  compiler.nestedCompileRegion,
  compiler.nonstrictTrace,
  compiler.partition,
  compiler.registerBackend,
  compiler.reset,
  compiler.resumeEntries,
  compiler.run,
  compiler.setDefaultBackend,
  compiler.setStance,
  compiler.status,
  compiler.substituteInGraph,
  dataParallel.beginPassOnHost,
  dataParallel.endPassOnHost,
  dataParallel.takeGradientOnHost,
  // The calls of its body are for the mode, not for a graph
  TensorDispatchMode.prototype.run,
  ...Object.values(distributed).filter((each) => typeof each === "function"),
];

/** Replacements in graphs of functions that have effects outside of them. */
const IN_GRAPHS = [
  [dataParallel.beginPass, dataParallel.beginPassInGraph],
  [dataParallel.endPass, dataParallel.endPassInGraph],
  [dataParallel.takeGradient, dataParallel.takeGradientInGraph],
] as const;

for (const [original, by] of IN_GRAPHS) markFunction(original, { kind: "substituted", by });
markFunction(canDrop, { kind: "answers", answer: () => false });
for (const fn of STEERING) markFunction(fn, { kind: "builtin" });
