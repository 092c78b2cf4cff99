/**
 * `numerics`: runs a call of a function compiled, and reports how far its results are from those of the ops one by one,
 * how far both are from double precision, and why. Invariant: effects of the program happen once, and the call computes
 * what the compiled function does; existing compilations of the function are not affected.
 */
import { types } from "node:util";
import type { AnyFunction } from "../../base/arguments.ts";
import { checkFunction, refuseSurplus } from "../../base/checked_input.ts";
import { showAsText } from "../../base/console_text.ts";
import { status, type UncompiledCalls } from "../../compiler.ts";
import { compile, type CompileOptions, resolveBackend } from "../../compile.ts";
import { originalOf } from "../../dynamo/functions/marks.ts";
import { getDefaultBackend } from "../../graph/backends.ts";
import { Module } from "../../nn/module.ts";
import type { GraphNumerics } from "./measure.ts";
import { measuring } from "./measured_backend.ts";
import { callText } from "./text.ts";

/** The report of a call. */
export interface NumericsReport {
  /** The graphs of the call, in the order of their first runs. */
  readonly graphs: readonly GraphNumerics[];
  /** The parts of the call that ran uncompiled, whose numbers are the plain ones, and why. */
  readonly uncompiled: readonly UncompiledCalls[];
  /** A table of the values of each graph, and what brings them closer. */
  toString(): string;
}

/** The result of `numerics`: for an async function a promise of the report. */
export type NumericsOf<F extends AnyFunction> = ReturnType<F> extends PromiseLike<unknown>
  ? Promise<NumericsReport>
  : NumericsReport;

/**
 * Returns a function with the same parameters that runs one call compiled under these options, as `compile` takes them,
 * and reports for every result, changed argument and gradient:
 *
 * - how far the compiled numbers are from the plain ones, and how far each are from the same graph in float64;
 * - the options with which they would be closer to the plain ones;
 * - the ops whose own rounding moves the result most, with their lines.
 *
 * For an async function the report is a promise.
 */
export function numerics<F extends AnyFunction>(
  fn: F,
  options?: CompileOptions,
): (...args: Parameters<F>) => NumericsOf<F>;
/** The same for a module. */
export function numerics<M extends Module>(
  module: M,
  options?: CompileOptions,
): (...args: Parameters<M["forward"]>) => NumericsOf<M["forward"]>;
export function numerics(
  target: AnyFunction | Module,
  options: CompileOptions = {},
): (...args: never) => NumericsReport | Promise<NumericsReport> {
  if (arguments.length > 2) refuseSurplus("numerics", 2, arguments);
  const isModule = target instanceof Module;
  if (!isModule) checkFunction(target, "or an nn.Module to measure");
  const fn = originalOf(isModule ? target.forward : target) as AnyFunction;
  const { backend = getDefaultBackend(), mode: _, options: _settings, ...others } = options;
  const { backend: chosen, name } = resolveBackend(backend, options);
  return function (this: unknown, ...args: unknown[]) {
    const graphs: GraphNumerics[] = [];
    const compiled = compile(fn, {
      name: isModule ? target.constructor.name : fn.name,
      ...others,
      backend: measuring(chosen, (found) => void graphs.push(found)),
    });
    const report = (): NumericsReport => {
      const { uncompiled } = status(compiled);
      const found = { graphs, uncompiled, toString: () => callText(found, name) };
      showAsText(found);
      return found;
    };
    const ended: unknown = Reflect.apply(compiled, isModule ? target : this, args);
    return types.isPromise(ended) ? ended.then(report) : report();
  };
}
