/**
 * `numerics`: runs a call of a function compiled, and reports how far its results are from those of the ops one by one,
 * how far both are from double precision, and why. Invariant: effects of the program happen once, and the call computes
 * what the compiled function does; existing compilations of the function are not affected.
 */
import { currentTitle } from "../../base/compile_times.ts";
import { types } from "node:util";
import type { AnyFunction } from "../../base/arguments.ts";
import { checkFunction, refuseSurplus } from "../../base/checked_input.ts";
import { config } from "../../base/config.ts";
import { showAsText } from "../../base/console_text.ts";
import { alignedRows, counted } from "../../base/report_text.ts";
import { status, type UncompiledCalls } from "../../compiler.ts";
import { compile, type CompileOptions, resolveBackend } from "../../compile.ts";
import { originalOf } from "../../dynamo/functions/marks.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import { getDefaultBackend } from "../../graph/backends.ts";
import { Module } from "../../nn/module.ts";
import { modes } from "../../tensor/tensor.ts";
import { callsProgram, snapshotOf } from "../checked_graph.ts";
import { indicesOf } from "../check/verdict.ts";
import type { Distance } from "./distance.ts";
import { type GraphNumerics, measure, type ValueNumerics } from "./measure.ts";
import type { Rounding } from "./roundings.ts";

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
      const found = { graphs, uncompiled, toString: () => textOf(found, name) };
      showAsText(found);
      return found;
    };
    const ended: unknown = Reflect.apply(compiled, isModule ? target : this, args);
    return types.isPromise(ended) ? ended.then(report) : report();
  };
}

/** A backend whose graphs are measured in their first call. */
function measuring(backend: GraphBackend, tell: (found: GraphNumerics) => void): GraphBackend {
  return (gm, examples) => {
    const title = currentTitle();
    const unmeasured = (skipped: string) =>
      tell({ title, values: [], settings: [], worst: null, roundings: [], skipped });
    if (callsProgram(gm)) {
      unmeasured("it calls functions of the program, which must not run twice");
      return backend(gm, examples);
    }
    const reference = snapshotOf(gm);
    // Static results would be overwritten while they are compared
    const compile: GraphBackend = (each, given) =>
      config.patch({ inductor: { staticResults: false, replay: false } }, () => backend(each, given));
    const compiled = compile(gm, examples);
    if (compiled === null) {
      unmeasured("it runs op by op");
      return null;
    }
    let isMeasured = false;
    return (...args) => {
      if (!isMeasured) {
        isMeasured = true;
        const again = (...[each, given]: Parameters<GraphBackend>) =>
          compile(each, given) ?? ((...args: unknown[]) => each.forward(...args));
        tell(modes.without(() => measure({ gm: reference, compiled, compile: again, title }, args)));
      }
      return compiled(...args);
    };
  };
}

function textOf({ graphs, uncompiled }: NumericsReport, backend: string): string {
  const head = `${counted(graphs.length, "graph")}, compiled by ${backend}; ulps are units in the last place`;
  const plain = uncompiled.map(({ name, reason }) => `${name} ran uncompiled: ${reason.explanation}`);
  return [head, ...graphs.flatMap(graphLines), ...plain].join("\n");
}

function graphLines(found: GraphNumerics, index: number): string[] {
  const { title, values, settings, worst, roundings, skipped } = found;
  const head = `Graph ${index + 1} of ${title}`;
  if (skipped !== null) return [`${head} was not measured: ${skipped}`];
  // Arguments that the graph only reads are the same on all sides
  const shown = values.filter(({ name, plainError }) =>
    !name.endsWith("after the call") || plainError === null || plainError.count > 0
  );
  const rows = [
    ["value", "type", "compiled from plain", "compiled from float64", "plain from float64"],
    ...shown.map((value) => [
      value.name,
      `${value.dtype}[${value.shape.join(", ")}]`,
      driftText(value),
      distanceText(value.compiledError),
      distanceText(value.plainError),
    ]),
  ];
  const drifting = values.some(({ drift }) => drift.count > 0);
  return [
    head,
    ...alignedRows(rows).map((line) => `  ${line}`),
    ...drifting ? settingLines(settings) : [],
    ...worst ? causeLines(worst.name, roundings) : [],
  ];
}

function driftText({ drift, numel, shape }: ValueNumerics): string {
  if (drift.count === 0) return "same bits";
  const where = shape.length === 0 || drift.at >= shape.reduce((a, b) => a * b, 1)
    ? ""
    : ` at [${indicesOf(drift.at, shape).join(", ")}]`;
  return `${distanceText(drift)}, ${drift.count} of ${numel} differ, most${where}`;
}

const distanceText = (distance: Distance | null): string =>
  distance === null
    ? "unknown"
    : `${Number(distance.ulps.toPrecision(3))} ulps, ${Number(distance.relative.toPrecision(2))}`;

function settingLines(settings: GraphNumerics["settings"]): string[] {
  if (settings.length === 0) return ["  no option brings compiled results closer to plain ones"];
  return settings.map(({ setting, ulps }) =>
    `  with options { ${setting} }: ${ulps === 0 ? "the plain bits" : `${Number(ulps.toPrecision(3))} ulps`}`
  );
}

function causeLines(name: string, roundings: GraphNumerics["roundings"]): string[] {
  if (roundings === null) {
    return ["  in float64 the graph makes other calls: the ops that round are not known"];
  }
  if (roundings.length === 0) return [];
  return [`  what rounding moves ${name} most:`, ...roundings.flatMap(roundingLines)];
}

function roundingLines({ op, position, relative }: Rounding): string[] {
  return [
    `    ${Number(relative.toPrecision(2))} by ${op}`,
    ...position?.code ? [`        ${position.code}`] : [],
  ];
}
