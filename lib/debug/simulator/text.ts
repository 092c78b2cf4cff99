/** A simulation as a table of text. */
import type { Recorded } from "./recorder.ts";
import { type Choice, fastest, rateOf } from "./strategies.ts";
import { share } from "./workload.ts";
import { alignedRows } from "../../base/report_text.ts";

/** The best layouts for a number of ranks. */
export interface Row {
  readonly ranks: number;
  readonly found: readonly Choice[];
}

const LABELS = [
  "ranks",
  "strategy",
  "copies × layers in parts × stages",
  "step",
  "batches/s",
  "waiting",
  "memory",
  "",
];

function seconds(amount: number): string {
  return amount >= 1 ? `${amount.toFixed(2)} s` : `${(amount * 1000).toFixed(amount >= 0.01 ? 0 : 2)} ms`;
}

function bytes(amount: number): string {
  return amount >= 2 ** 30 ? `${(amount / 2 ** 30).toFixed(1)} GiB` : `${(amount / 2 ** 20).toFixed(1)} MiB`;
}

/** Formats an amount to three digits. */
function rate(amount: number): string {
  return amount >= 100 ? amount.toFixed(0) : amount.toPrecision(3);
}

function cells({ ranks, found }: Row): string[][] {
  const best = fastest(found);
  return found.map((choice) => {
    const { strategy, fits, prediction } = choice, { layout } = prediction;
    return [
      `${ranks}`,
      strategy,
      `${layout.data}${layout.sharded ? " (sharded)" : ""} × ${layout.tensor} × ${layout.stages}`,
      seconds(prediction.seconds),
      rate(rateOf(prediction)),
      `${(100 * prediction.communication / prediction.seconds).toFixed(0)} %`,
      bytes(prediction.bytes),
      choice === best ? "fastest" : fits ? "" : "does not fit",
    ];
  });
}

/** The table, with its assumptions. */
export function simulationText(
  { workload, calls, seconds: measured }: Recorded,
  rows: readonly Row[],
  memory: number,
): string {
  const { layers, stateRatio } = workload;
  const parameters = layers.reduce((sum, layer) => sum + share(layer.parameters, 1), 0);
  const saved = layers.reduce((sum, layer) => sum + share(layer.saved, 1), 0);
  const table = [LABELS, ...rows.flatMap(cells)];
  return [
    `A step of ${
      seconds(measured)
    }, the fastest of ${calls} calls, with ${layers.length} layers: parameters ${
      bytes(parameters)
    }, optimizer ${bytes(parameters * stateRatio)}, saved for the backward pass ${bytes(saved)}`,
    `Ranks hold ${bytes(memory)}; a batch is the script's own`,
    "",
    ...alignedRows(table),
  ].join("\n");
}
