/** The namespace `compiler`: inspecting and controlling compilation, like `torch.compiler` and `torch._dynamo`. */
import type { AnyFunction } from "./base/arguments.ts";
import {
  cacheEntries as entriesOf,
  type CacheEntry,
  type CallTimes,
  explain as explainCall,
  type Explanation,
  type ExplanationOf,
  frozen,
  markDimension,
  regionOf,
  reset as resetCapture,
  resumedEntries,
  type ShapeReport,
  shapes as shapesOf,
  statusOf,
  type UncompiledCalls,
} from "./dynamo/mod.ts";
import { forgetCompiledPasses } from "./autograd/deferred/compiled_passes.ts";
import { checkFunction, checkOptions, refuseSurplus } from "./base/checked_input.ts";
import { DynError } from "./base/errors.ts";
import { clearCompileTimes } from "./base/compile_times.ts";
import { counters } from "./base/logs.ts";
import { counted } from "./base/report_text.ts";
import { callableOf, statisticsOf } from "./compile.ts";
import { Module } from "./nn/module.ts";
import { metadataChanges } from "./tensor/metadata_version.ts";
import { isTensor, type Tensor } from "./tensor/tensor.ts";

export { setEnableGuardCollectives } from "./distributed/guard_collectives.ts";
export {
  allowInGraph,
  assumeConstantResult,
  check,
  type Comptime,
  comptime,
  type ComptimeContext,
  disable,
  disableNestedGraphBreaks,
  type DisableOptions,
  errorOnGraphBreak,
  graphBreak,
  type GuardFilter,
  type GuardFilterEntry,
  isCompiling,
  isDynamoCompiling,
  isExporting,
  keepTensorGuardsUnsafe,
  nonstrictTrace,
  setStance,
  skipAllGuardsUnsafe,
  skipGuardOnAllNnModulesUnsafe,
  skipGuardOnGlobalsUnsafe,
  skipGuardOnInbuiltNnModulesUnsafe,
  type Stance,
  type StanceChange,
  type StanceOptions,
  substituteInGraph,
  type SubstituteOptions,
} from "./dynamo/mod.ts";
export type { DimensionSpec, ShapesSpec } from "./dynamo/mod.ts";
export type {
  CacheEntry,
  CallTimes,
  Explanation,
  ExplanationOf,
  InputShape,
  ShapeCondition,
  ShapeReport,
  UncompiledCalls,
} from "./dynamo/mod.ts";
export {
  CompilationProfiler,
  CompileCounter,
  type RecompilationCause,
  WatchingBackend,
} from "./compile_counter.ts";
export { listModeOptions, listOptions, type ModeOptions } from "./compile_modes.ts";
export type { CompileStatistics } from "./compile.ts";
export {
  COMPILE_PHASES,
  type CompilePhase,
  type CompileTimes,
  compileTimes,
  type FunctionTimes,
} from "./base/compile_times.ts";
export { aotAutograd, type AotOptions } from "./aot/backend.ts";
export {
  minCutPartition as minCutRematerializationPartition,
  savingPartition as defaultPartition,
} from "./aot/partition.ts";
export { compiledAutograd, type CompiledAutogradStatus } from "./compiled_autograd.ts";
export type { Part } from "./aot/engines/part.ts";
export { type Partition, partition, type Supports } from "./aot/engines/partition.ts";
export {
  aotCompile,
  type AotCompileOptions,
  type CompiledCall,
  type ExportedInput,
  type ExportedOutput,
  ExportedProgram,
  type ExportOptions,
  exportProgram as export,
  type ExportSignature,
  type HeldKind,
  loadCompiledFunction,
  loadExportedProgram,
  saveCompiledFunction,
} from "./export/mod.ts";
export {
  type BackendDescription,
  describeBackends,
  getDefaultBackend,
  listBackends,
  registerBackend,
  setDefaultBackend,
} from "./graph/backends.ts";
export { makeFx } from "./autograd/make_fx.ts";
export { type CacheArtifacts, loadCacheArtifacts, saveCacheArtifacts } from "./base/cached_entries.ts";

/** Clears all compiled entries, counts and times; kernels on disk are kept. */
export function reset(): void {
  if (arguments.length > 0) refuseSurplus("reset", 0, arguments);
  resetCapture();
  forgetCompiledPasses();
  clearCompileTimes();
  counters.clear();
}

/**
 * Returns a function that captures one call with these arguments and reports graphs, breaks and guards; for an async
 * function, once the call is done.
 */
export function explain<F extends AnyFunction>(fn: F): (...args: Parameters<F>) => ExplanationOf<F>;
/** The same for a module. */
export function explain<M extends Module>(
  module: M,
): (...args: Parameters<M["forward"]>) => ExplanationOf<M["forward"]>;
export function explain(
  target: AnyFunction | Module,
): (...args: never) => Explanation | Promise<Explanation> {
  if (arguments.length > 1) refuseSurplus("explain", 1, arguments);
  if (target instanceof Module) {
    const report = explainCall(target.forward);
    return (...args) => Reflect.apply(report, target, args);
  }
  checkFunction(target, "or an nn.Module to explain");
  return explainCall(target);
}

/** Returns a function or module. Throws DynError for anything else. */
function checkedTarget(fn: object): object {
  if (!((fn as unknown) instanceof Module)) checkFunction(fn, "or an nn.Module");
  return fn;
}

/** Returns the compiled entries of a function: guards, modified source, graph and hits, most recent hit first. */
export function cacheEntries(fn: object): CacheEntry[] {
  if (arguments.length > 1) refuseSurplus("cacheEntries", 1, arguments);
  return entriesOf(callableOf(checkedTarget(fn)));
}

/** Returns the same as `cacheEntries` for the parts that resume after graph breaks, by the name of the part. */
export function resumeEntries(fn: object): Map<string, CacheEntry[]> {
  if (arguments.length > 1) refuseSurplus("resumeEntries", 1, arguments);
  return resumedEntries(callableOf(checkedTarget(fn)));
}

/**
 * Marks a function whose equal calls in compiled code are one region, like
 * `torch.compiler.nested_compile_region`: differentiated, lowered and compiled once, however many layers or iterations
 * call it. Calls are traced one by one, so that guards, hooks and writes of each hold; calls that differ are
 * compiled as usual. Also a decorator of methods (`@nestedCompileRegion`); a module is returned unchanged, with its
 * `forward` as the region.
 */
export function nestedCompileRegion<M extends Module>(module: M): M;
/** The same as a decorator. */
export function nestedCompileRegion<F extends AnyFunction>(fn: F, context?: object): F;
export function nestedCompileRegion(target: AnyFunction | Module): AnyFunction | Module {
  if (arguments.length > 1) refuseSurplus("nestedCompileRegion", 1, arguments);
  if (target instanceof Module) {
    const value = regionOf(target.forward);
    Object.defineProperty(target, "forward", { value, writable: true, configurable: true });
    return target;
  }
  checkFunction(target, "or an nn.Module to make a region of");
  return regionOf(target);
}

/** Returns the compiled function without further compilation: calls without a matching entry run uncompiled. */
export function run<F extends AnyFunction>(fn: F): F {
  if (arguments.length > 1) refuseSurplus("run", 1, arguments);
  checkFunction(fn, "to run without compiling");
  return frozen(fn);
}

/** The inclusive range of a dimension's sizes; by default 2 or more. */
export interface DynamicRange {
  /** The smallest size. */
  readonly min?: number | undefined;
  /** The largest size. */
  readonly max?: number | undefined;
}

/**
 * Makes a dimension of an input symbolic in all later compilations. A program that works for only one size of it is
 * an error when it is compiled (`DynError`, with the line that needs the size), a tensor whose own size is outside of
 * the range one when it is marked. Sizes 0 and 1 are always constants.
 */
export function markDynamic(tensor: Tensor, dim: number | readonly number[], range: DynamicRange = {}): void {
  if (arguments.length > 3) refuseSurplus("markDynamic", 3, arguments);
  mark(tensor, dim, { range, strict: true });
}

/** Like `markDynamic`, except that a program may make a constant of the dimension. */
export function maybeMarkDynamic(
  tensor: Tensor,
  dim: number | readonly number[],
  range: DynamicRange = {},
): void {
  if (arguments.length > 3) refuseSurplus("maybeMarkDynamic", 3, arguments);
  mark(tensor, dim, { range, strict: false });
}

function mark(
  tensor: Tensor,
  dim: number | readonly number[],
  { range, strict }: { readonly range: DynamicRange; readonly strict: boolean },
): void {
  checkOptions("markDynamic", { min: ["number"], max: ["number"] }, range);
  const { min = 2, max = Infinity } = range;
  if (!(min <= max)) throw new DynError(`Expected a range of sizes but found from ${min} to ${max}`);
  const least = range.min ?? 0;
  for (const d of dimensions(tensor, dim)) {
    const size = tensor.shape[d] ?? least;
    if (size < least || size > max) {
      const sizes = max === Infinity ? `of ${least} or more` : `from ${least} to ${max}`;
      throw new DynError(
        `Expected dimension ${d} to have a size ${sizes}, as its range says, but found ${size}`,
      );
    }
  }
  markEach(tensor, dim, { kind: "dynamic", min, max, strict });
}

/**
 * Treats a dimension of an input as data-dependent: it is not guarded, decisions that depend on it break the graph, and
 * assumptions of operations are checked in each call.
 */
export function markUnbacked(tensor: Tensor, dim: number | readonly number[]): void {
  if (arguments.length > 2) refuseSurplus("markUnbacked", 2, arguments);
  markEach(tensor, dim, { kind: "unbacked" });
}

/** Keeps a dimension of an input (or all) constant, however often it changes. */
export function markStatic(tensor: Tensor, dim?: number | readonly number[]): void {
  if (arguments.length > 2) refuseSurplus("markStatic", 2, arguments);
  markEach(tensor, dim, { kind: "static" });
}

/** Existing versions no longer serve a tensor with additional symbolic dimensions */
function markEach(
  tensor: Tensor,
  dim: number | readonly number[] | undefined,
  mark: Parameters<typeof markDimension>[2],
): void {
  for (const d of dimensions(tensor, dim)) markDimension(tensor, d, mark);
  metadataChanges(tensor);
}

/** Returns the given dimensions; all of them if none is given. */
function dimensions(tensor: Tensor, dim?: number | readonly number[]): number[] {
  if (!isTensor(tensor)) throw new DynError(`Expected a tensor to mark but found ${String(tensor)}`);
  const given = dim ?? tensor.shape.map((_, i) => i);
  return (Array.isArray(given) ? given : [given]).map((d: unknown) => {
    if (typeof d !== "number") throw new DynError(`Expected dimensions to mark but found ${Deno.inspect(d)}`);
    const at = d < 0 ? d + tensor.ndim : d;
    if (!Number.isInteger(at) || at < 0 || at >= tensor.ndim) {
      throw new DynError(`Expected dim in [${-tensor.ndim}, ${tensor.ndim - 1}] but found ${d}`);
    }
    return at;
  });
}

/**
 * Returns, for each compiled version of a function, most recent hit first, which sizes and numbers of its inputs may
 * change between calls, and the lines of the program that limit them. Printed, `?` is a size that may change.
 */
export function shapes(fn: object): ShapeReport[] {
  if (arguments.length > 1) refuseSurplus("shapes", 1, arguments);
  return shapesOf(callableOf(checkedTarget(fn)));
}

/** The state of a compiled function. */
export interface Status {
  /** Whether it was compiled by `compile` at all. */
  readonly compiled: boolean;
  /** Captured graphs, of all versions and parts. */
  readonly graphs: number;
  /** Places where the graph breaks. */
  readonly graphBreaks: number;
  /** Versions after the first, of the function and of its parts after graph breaks. */
  readonly recompiles: number;
  /** Kernels of all its graphs. */
  readonly kernels: number;
  /** Number of fallbacks to a slower tier after a failure. */
  readonly fallbacks: number;
  /** Versions of the function itself. */
  readonly entries: number;
  /** Calls that these entries served. */
  readonly hits: number;
  /** Why it runs uncompiled from now on, or null. */
  readonly givenUp: string | null;
  /** Calls that ran uncompiled, of the function and of its parts after graph breaks, by reason. */
  readonly uncompiled: readonly UncompiledCalls[];
  /** Milliseconds of a call compiled and as written, and the way that is kept; null unless `keepFaster` measured them. */
  readonly times: CallTimes | null;
}

/** Returns whether a function is compiled, its compilations, and whether dyn has given up on it. */
export function status(fn: object): Status {
  if (arguments.length > 1) refuseSurplus("status", 1, arguments);
  const callable = callableOf(checkedTarget(fn));
  const known = statusOf(callable), found = statisticsOf(fn);
  const parts = [entriesOf(callable), ...resumedEntries(callable).values()];
  const state: Status = {
    compiled: known !== null,
    graphs: found?.graphs ?? 0,
    graphBreaks: found?.graphBreaks ?? 0,
    recompiles: parts.reduce((sum, entries) => sum + Math.max(0, entries.length - 1), 0),
    kernels: found?.kernels ?? 0,
    fallbacks: found?.fallbacks ?? 0,
    entries: known?.entries ?? 0,
    hits: known?.hits ?? 0,
    givenUp: known?.givenUp ?? null,
    uncompiled: known?.uncompiled ?? [],
    times: known?.times ?? null,
  };
  return Object.defineProperty(state, "toString", { value: () => statusText(state), enumerable: false });
}

/** "compiled: 2 graphs with 3 kernels, 1 graph break, 0 recompilations; 4 calls by 1 version"; then what ran uncompiled. */
function statusText(state: Status): string {
  const { graphs, kernels, graphBreaks, recompiles, entries, hits, fallbacks, givenUp, uncompiled, times } =
    state;
  if (!state.compiled) return "not compiled";
  const made = [
    `${counted(graphs, "graph")} with ${counted(kernels, "kernel")}`,
    counted(graphBreaks, "graph break"),
    counted(recompiles, "recompilation"),
  ];
  return [
    `compiled: ${made.join(", ")}; ${counted(hits, "call")} by ${counted(entries, "version")}`,
    ...fallbacks > 0 ? [`  ${counted(fallbacks, "fallback")} to slower code`] : [],
    ...givenUp === null ? [] : [`  runs uncompiled from now on: ${givenUp}`],
    ...uncompiled.map(({ name, reason, calls }) =>
      `  ${counted(calls, "call")} of ${name} ran uncompiled: ${reason.category} (${reason.id})`
    ),
    ...times
      ? [
        `  ${rounded(times.compiled)} ms compiled, ${
          rounded(times.plain)
        } ms as written: ${times.kept} is kept`,
      ]
      : [],
  ].join("\n");
}

/** A time as people read it. */
const rounded = (milliseconds: number): number => Number(milliseconds.toPrecision(3));
