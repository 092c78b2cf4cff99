/**
 * `tune`: measures once for this machine what mode "max-autotune" measures in first calls: for the kernels of a script,
 * or without one for products, convolutions and rows of usual sizes. A table shows what each choice gains.
 *
 * Invariant: choices are made and kept as by a program, which therefore finds them; results stay bitwise the same.
 */
import { DynError } from "../lib/base/errors.ts";
import { logs } from "../lib/base/logs.ts";
import { choiceIn, type MeasuredChoice } from "../lib/base/measured_choices.ts";
import { alignedRows, counted } from "../lib/base/report_text.ts";
import type { Command } from "./command.ts";
import { captureToEnd, reportAtEnd } from "./end_of_program.ts";
import { runScript } from "./run.ts";
import { checkScript } from "./script_source.ts";
import { checkChoices, type Toolkit, toolkit } from "./toolkit.ts";

/** Sizes of products: rows, inner dimension, columns. */
const PRODUCTS = [
  [1, 768, 768],
  [8, 1024, 1024],
  [64, 64, 64],
  [128, 768, 768],
  [128, 768, 3072],
  [256, 256, 256],
  [512, 512, 512],
  [1024, 1024, 1024],
] as const;
/** Sizes of matrices whose rows are normalised, summed and turned. */
const MATRICES = [[64, 64], [128, 768], [512, 512], [1024, 1024], [4096, 128]] as const;
/** Images: batch, channels, side. */
const IMAGES = [[1, 64, 56], [8, 32, 28]] as const;

/** Compiles and calls functions of usual sizes. */
export function callUsual({ compile, noGrad, randn, nn: { functional: F } }: Toolkit): void {
  const call = <A extends unknown[]>(f: (...args: A) => unknown, ...args: A): void => {
    compile(f)(...args);
  };
  noGrad(() => {
    for (const [rows, inner, columns] of PRODUCTS) {
      const x = randn([rows, inner]), w = randn([inner, columns]), bias = randn([columns]);
      call((a: typeof x, b: typeof x) => a.matmul(b), x, w);
      call((a: typeof x, b: typeof x, c: typeof x) => F.gelu(a.matmul(b).add(c)), x, w, bias);
    }
    for (const [rows, columns] of MATRICES) {
      const x = randn([rows, columns]), row = randn([columns]);
      call((a: typeof x) => a.t().contiguous(), x);
      call((a: typeof x) => a.softmax(-1), x);
      call((a: typeof x, w: typeof x) => F.layerNorm(a, [columns], w, w), x, row);
      call((a: typeof x) => [a.sum(0), a.sum(1)], x);
      call((a: typeof x) => a.tanh().mul(1.5), x);
    }
    for (const [batch, channels, side] of IMAGES) {
      const x = randn([batch, channels, side, side]);
      const three = randn([channels, channels, 3, 3]), one = randn([channels, channels, 1, 1]);
      call((a: typeof x, w: typeof x) => F.conv2d(a, w, null, 1, 1).relu(), x, three);
      call((a: typeof x, w: typeof x) => F.conv2d(a, w), x, one);
    }
  });
}

/** Returns the table of choices, the greatest gain first, and a summary. */
export function choiceTable(choices: readonly MeasuredChoice[]): string {
  // A kernel of several graphs was measured once, so that its times are equal; one that is too short has none
  const key = ({ of, kept, microseconds }: MeasuredChoice, at: number) =>
    JSON.stringify([of, kept, microseconds ?? { at }]);
  const distinct = choices.filter((choice, at) =>
    choices.findIndex((each, i) => key(each, i) === key(choice, at)) === at
  );
  const changed = distinct.filter(({ kept }) => kept !== null).sort((a, b) => b.gain - a.gain);
  const lines = [["kernel", "kept", "takes", "faster"], ...changed.map(rowOf)];
  const count = (fact: "known" | "disturbed") => distinct.filter((choice) => choice[fact]).length;
  const gain = Math.exp(
    distinct.reduce((sum, each) => sum + Math.log(each.gain), 0) / (distinct.length || 1),
  );
  const disturbed = count("disturbed");
  return [
    ...changed.length > 0 ? [...alignedRows(lines), ""] : [],
    `Compared ways to run ${counted(distinct.length, "kernel")}, ${
      count("known")
    } of them before: ${changed.length} changed, ` +
    `${gain.toFixed(2)} times faster in geometric mean of all`,
    ...disturbed > 0
      ? [
        `Other programs use this machine: ${counted(disturbed, "kernel")} ${
          disturbed === 1 ? "keeps" : "keep"
        } the usual number of threads until it is idle`,
      ]
      : [],
  ].join("\n");
}

const rowOf = ({ of, kept, microseconds, gain }: MeasuredChoice): string[] => [
  of,
  kept ?? "the usual way",
  microseconds === null ? "" : `${microseconds.toFixed(1)} µs`,
  `${gain.toFixed(2)}×`,
];

/** `dyn tune`. */
export const tuneCommand: Command = {
  name: "tune",
  usage: "tune [<script> [arguments]]",
  summary: "Time ways to run the kernels of a script, or usual ones, once for this machine",
  help:
    "The choices are kept in the cache. A program takes them without measuring where it compiles with mode\n" +
    '"max-autotune", or everywhere with DYN_MAX_AUTOTUNE=1. It needs a C++ compiler.',
  takesFlags: true,
  run: async ([path, ...args]) => {
    if (path !== undefined) checkScript(path);
    // Graphs from the cache would not be compiled, and their kernels not be compared
    for (const [name, value] of [["DYN_MAX_AUTOTUNE", "1"], ["DYN_GRAPH_CACHE", "0"]] as const) {
      Deno.env.set(name, value);
    }
    await checkChoices();
    const { toolchainStatus } = await import("../backends/cpu/toolchain.ts"), status = toolchainStatus();
    if (status.kind !== "ready") {
      throw new DynError(`Expected a C++ compiler to tune for but found none: ${status.reason}`);
    }
    const choices: MeasuredChoice[] = [], dyn = await toolkit();
    const sink = (_artifact: unknown, _text: unknown, details: Parameters<typeof choiceIn>[0]): void => {
      const choice = choiceIn(details);
      if (choice) choices.push(choice);
    };
    if (path === undefined) {
      logs.capture("perf_hints", sink, () => callUsual(dyn));
      console.log(choiceTable(choices));
      return 0;
    }
    await reportAtEnd(
      () => choiceTable(choices),
      () => captureToEnd("perf_hints", sink, () => runScript(path, args)),
    );
    return undefined;
  },
};
