/** Capture of JavaScript programs: the room's surface for the layers above. */
export { markDimension } from "./dimension_marks.ts";
export { check } from "./check.ts";
export { explain, type Explanation, type ExplanationOf } from "./explain.ts";
export { type Comptime, comptime, type ComptimeContext } from "./comptime.ts";
export { errorOnGraphBreak } from "./error_on_break.ts";
export {
  type GuardFilter,
  type GuardFilterEntry,
  keepTensorGuardsUnsafe,
  skipAllGuardsUnsafe,
  skipGuardOnAllNnModulesUnsafe,
  skipGuardOnGlobalsUnsafe,
  skipGuardOnInbuiltNnModulesUnsafe,
} from "./guards/filters.ts";
export {
  allowInGraph,
  assumeConstantResult,
  disable,
  disableNestedGraphBreaks,
  type DisableOptions,
  graphBreak,
  isCompiling,
  isDynamoCompiling,
  isExporting,
  markFunction,
  nonstrictTrace,
  regionOf,
  substituteInGraph,
  type SubstituteOptions,
} from "./marks.ts";
export {
  cacheEntries,
  type CacheEntry,
  type CompileChoices,
  type CompiledStatus,
  frozen,
  optimize,
  reset,
  resumedEntries,
  statusOf,
} from "./optimize.ts";
export type { Hooks } from "./program.ts";
export type { DimensionSpec, ShapesSpec } from "./shapes_spec.ts";
export { setStance, type Stance, type StanceChange, type StanceOptions } from "./stance.ts";
export { captureWhole, type ReturnedLeaf, type SizeOrigin, type WholeProgram } from "./whole_program.ts";
export type { UncompiledCalls } from "./uncompiled.ts";
