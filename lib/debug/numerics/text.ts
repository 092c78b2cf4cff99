/** Reports of numbers as text: a table of the values of each graph, and what brings them closer to the plain ones. */
import { alignedRows, counted } from "../../base/report_text.ts";
import type { UncompiledCalls } from "../../compiler.ts";
import { indicesOf } from "../check/verdict.ts";
import type { Distance } from "./distance.ts";
import type { GraphNumerics, ValueNumerics } from "./measure.ts";
import type { Rounding } from "./roundings.ts";

/** The subjects of a report. */
interface Measurements {
  readonly graphs: readonly GraphNumerics[];
  readonly uncompiled: readonly UncompiledCalls[];
}

/** The report of a call: its graphs, and what ran uncompiled. */
export function callText({ graphs, uncompiled }: Measurements, backend: string): string {
  const head = `${counted(graphs.length, "graph")}, compiled by ${backend}; ulps are units in the last place`;
  const plain = uncompiled.map(({ name, reason }) => `${name} ran uncompiled: ${reason.explanation}`);
  return [head, ...graphs.flatMap(graphLines), ...plain].join("\n");
}

/** The report of a program: the graphs that are not the plain ones to the bit, and their number. */
export function programText(graphs: readonly GraphNumerics[]): string {
  const numbered = graphs.map((found, index) => ({ found, index }));
  const shown = numbered.filter(({ found }) => found.skipped !== null || drifts(found));
  return [
    `${counted(graphs.length, "graph")}, ${
      graphs.length - shown.length
    } of them with the plain bits; ulps are units in the last place`,
    ...shown.flatMap(({ found, index }) => graphLines(found, index)),
  ].join("\n");
}

const drifts = ({ values }: GraphNumerics): boolean => values.some(({ drift }) => drift.count > 0);

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
  const drifting = drifts(found);
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
