/** Programs that leave the process that traced them: the public interface for the layers above. */
import type { AnyFunction } from "../base/arguments.ts";
import { checkFunction, checkOptions, refuseSurplus } from "../base/checked_input.ts";
import { Module } from "../nn/module.ts";
import { exportCall, type ExportOptions } from "./capture.ts";
import { ExportedProgram } from "./program.ts";

export {
  type ExportedInput,
  type ExportedOutput,
  ExportedProgram,
  type ExportSignature,
  loadExportedProgram,
} from "./program.ts";
export {
  aotCompile,
  type AotCompileOptions,
  type CompiledCall,
  loadCompiledFunction,
  saveCompiledFunction,
} from "./compiled.ts";
export type { ExportOptions } from "./capture.ts";
export type { HeldKind } from "../packages/call_spec.ts";

/**
 * Exports a function or module as one graph, like `torch.export.export`: parameters become inputs, writes outputs, and
 * sizes symbols as `dynamic` says. The call is traced, not run: nothing that it writes to changes. Throws Unsupported,
 * with the place and the explanation of the break, if it is not one graph; DynError for effects on objects, and for
 * results that are not tensors.
 */
export function exportProgram<F extends AnyFunction>(
  target: F,
  args: Readonly<Parameters<F>>,
  options?: ExportOptions,
): ExportedProgram;
/** The same for a module. */
export function exportProgram<M extends Module>(
  target: M,
  args: Readonly<Parameters<M["forward"]>>,
  options?: ExportOptions,
): ExportedProgram;
export function exportProgram(
  target: AnyFunction | Module,
  args: readonly unknown[],
  options: ExportOptions = {},
): ExportedProgram {
  if (arguments.length > 3) refuseSurplus("export", 3, arguments);
  checkOptions("export", { dynamic: ["boolean", "object"] }, options);
  if (!(target instanceof Module)) checkFunction(target, "or an nn.Module to export");
  return new ExportedProgram(exportCall(target, args, options.dynamic ?? false));
}
