/** Capture of JavaScript programs: the exports of this folder for the layers above. */
export { markDimension } from "./cache/dimension_marks.ts";
export { check } from "./functions/check.ts";
export { explain, type Explanation, type ExplanationOf } from "./explain.ts";
export { type Comptime, comptime, type ComptimeContext } from "./functions/comptime.ts";
export { errorOnGraphBreak } from "./functions/error_on_break.ts";
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
} from "./functions/marks.ts";
export {
  cacheEntries,
  type CacheEntry,
  type CompileChoices,
  type CompiledStatus,
  frozen,
  optimize,
  reset,
  resumedEntries,
  shapes,
  statusOf,
} from "./cache/optimize.ts";
export type { Hooks } from "./cache/program.ts";
export type { DimensionSpec, ShapesSpec } from "./cache/shapes_spec.ts";
export { setStance, type Stance, type StanceChange, type StanceOptions } from "./cache/stance.ts";
export {
  captureWhole,
  type ReturnedLeaf,
  type SizeOrigin,
  type WholeProgram,
} from "./cache/whole_program.ts";
export type { InputShape, ShapeCondition, ShapeReport } from "./cache/shape_report.ts";
export type { CallTimes } from "./cache/faster_way.ts";
export type { UncompiledCalls } from "./cache/uncompiled.ts";
