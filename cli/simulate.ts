/**
 * `simulate`: predicts a script's training step on many ranks.
 *
 * After the script's own output it prints a table of step times and memory for each way of dividing the step, for
 * given properties of ranks and links. Invariant: the script runs as it would under `run`, except that its step also
 * runs op by op once.
 */
import { parseArgs } from "@std/cli";
import { type Link, TOPOLOGIES, type Topology } from "../lib/debug/simulator/links.ts";
import type { Terms } from "../lib/debug/simulator/predictions.ts";
import { choices } from "../lib/debug/simulator/strategies.ts";
import { simulationText } from "../lib/debug/simulator/text.ts";
import { type Command, refuseWord, UsageError } from "./command.ts";
import { reportAtEnd } from "./end_of_program.ts";
import { runScript } from "./run.ts";
import { checkScript } from "./script_source.ts";
import { checkChoices } from "./toolkit.ts";

const GIB = 2 ** 30;

/** A numeric setting, in its customary unit. */
interface Setting {
  readonly otherwise: number;
  /** Factor to the base unit. */
  readonly unit: number;
  readonly summary: string;
  /** Whether it counts something. */
  readonly isCount?: boolean;
}

const SETTINGS = {
  "memory": { otherwise: 16, unit: GIB, summary: "GiB that each rank can hold" },
  "ranks-per-node": { otherwise: 8, unit: 1, summary: "Ranks of a node", isCount: true },
  "latency": { otherwise: 3, unit: 1e-6, summary: "Microseconds of a message within a node" },
  "bandwidth": { otherwise: 200, unit: 1e9, summary: "GB/s of a rank within its node" },
  "node-latency": { otherwise: 10, unit: 1e-6, summary: "Microseconds of a message between nodes" },
  "node-bandwidth": { otherwise: 50, unit: 1e9, summary: "GB/s between nodes, for all ranks of one" },
  "microbatches": { otherwise: 32, unit: 1, summary: "Batches of a step of a pipeline", isCount: true },
  "speed": { otherwise: 1, unit: 1, summary: "How much faster a rank computes than this machine" },
} as const satisfies Record<string, Setting>;

type SettingName = keyof typeof SETTINGS;

const NAMES = Object.keys(SETTINGS).filter((name): name is SettingName => Object.hasOwn(SETTINGS, name));

/** Default numbers of ranks. */
const RANKS = "8,64,512,4096,65536";

/** Returns the settings, in seconds, bytes and numbers. */
function settingsOf(given: Readonly<Record<string, unknown>>): (name: SettingName) => number {
  const read = (name: SettingName): number => {
    const { otherwise, unit, isCount = false }: Setting = SETTINGS[name];
    const number = given[name] === undefined ? otherwise : Number(given[name]);
    if (number > 0 && (!isCount || Number.isInteger(number))) return number * unit;
    throw new UsageError(
      `Expected a positive ${isCount ? "integer" : "number"} for --${name} but found ${given[name]}`,
    );
  };
  NAMES.forEach(read);
  return read;
}

function ranksOf(given: string): number[] {
  return given.split(",").map((text) => {
    const ranks = Number(text);
    if (Number.isInteger(ranks) && ranks >= 1) return ranks;
    throw new UsageError(`Expected --ranks to be positive integers like ${RANKS} but found ${given}`);
  });
}

function topologyOf(given: string): Topology {
  return TOPOLOGIES.find((name) => name === given) ?? refuseWord("--topology", TOPOLOGIES, given);
}

function isOn(name: string, given: string): boolean {
  if (given === "true" || given === "false") return given === "true";
  refuseWord(`--${name}`, ["true", "false"], given);
}

/** `dyn simulate`. */
export const simulateCommand: Command = {
  name: "simulate",
  usage: "simulate [settings] <script> [arguments]",
  summary: "Predict time and memory of a script's training step on 8 to 65,536 ranks",
  help: [
    "The script compiles a whole training step and calls it a few times. Settings:",
    `  --ranks=${RANKS}`,
    ...NAMES.map((name) => `  --${name}=${SETTINGS[name].otherwise}`.padEnd(26) + SETTINGS[name].summary),
    "  --topology=best         How collectives go: ring, tree, or whichever is faster",
    "  --overlap=true          Whether gradients and parameters travel while ranks compute",
  ].join("\n"),
  takesFlags: false,
  run: async (words) => {
    const parsed = parseArgs([...words], {
      string: ["_", "ranks", "topology", "overlap", ...NAMES],
      stopEarly: true,
      unknown: (arg) => {
        throw new UsageError(`Expected an option that dyn simulate --help lists but found ${arg}`);
      },
    });
    const setting = settingsOf(parsed), ranks = ranksOf(parsed.ranks ?? RANKS);
    const overlaps = isOn("overlap", parsed.overlap ?? "true");
    const topology = topologyOf(parsed.topology ?? "best"), [path, ...args] = parsed._;
    checkScript(path);
    await checkChoices();
    const { StepRecorder } = await import("../lib/debug/simulator/recorder.ts");
    const recorder = new StepRecorder();
    const link = (name: "" | "node-"): Link => ({
      latency: setting(`${name}latency`),
      bandwidth: setting(`${name}bandwidth`),
    });
    const terms: Terms = {
      cluster: {
        ranksPerNode: setting("ranks-per-node"),
        within: link(""),
        between: link("node-"),
        topology,
      },
      microbatches: setting("microbatches"),
      overlaps,
      schedule: "1f1b",
      speed: setting("speed"),
    };
    const memory = setting("memory");
    const report = () => {
      const recorded = recorder.finish();
      const rows = ranks.map((ranks) => ({
        ranks,
        found: choices(recorded.workload, terms, { ranks, memory }),
      }));
      return simulationText(recorded, rows, memory);
    };
    await reportAtEnd(report, () => runScript(path, args));
    return undefined;
  },
};
