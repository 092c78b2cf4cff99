/**
 * `report`: writes `report.html`, a page about what a traced program compiled, into the folder that `--trace`
 * (DYN_TRACE) named. Invariant: the trace files are only read, and the page is self-contained. Kernels are compared
 * with the measured limits of this machine.
 */
import { join, resolve } from "node:path";
import type { MachineLimits } from "../lib/debug/profiler/limits.ts";
import { countsText, countTrace, renderReport } from "../lib/debug/report.ts";
import { LOG_SUFFIX, readTrace, type TracedProcess } from "../lib/debug/trace_format.ts";
import { type Command, UsageError } from "./command.ts";
import { toolkit } from "./toolkit.ts";

/** The processes of a trace folder, by start. Throws `UsageError` if there are none. */
export function readFolder(folder: string): TracedProcess[] {
  let names: string[];
  try {
    names = [...Deno.readDirSync(folder)].filter((entry) => entry.isFile).map((entry) => entry.name);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) {
      throw new UsageError(`Expected a trace folder but found ${folder}, and there is no such folder`);
    }
    throw thrown;
  }
  const logs = names.filter((name) => name.startsWith("dyn-") && name.endsWith(LOG_SUFFIX)).sort();
  if (logs.length === 0) {
    throw new UsageError(
      `Expected trace files in ${folder} but found none: run a program that compiles with --trace ${folder}`,
    );
  }
  return logs.map((log) => readTrace(log, Deno.readTextFileSync(join(folder, log))));
}

/** `dyn report`. */
export const reportCommand: Command = {
  name: "report",
  usage: "report <trace folder>",
  summary: "Write an HTML page about what a program run with --trace compiled",
  takesFlags: false,
  run: async (args) => {
    const [folder, ...more] = args;
    if (folder === undefined || more.length > 0) {
      throw new UsageError(`Expected one trace folder but found ${args.join(" ") || "nothing"}`);
    }
    const processes = readFolder(folder);
    const timed = processes.flatMap(({ runtime }) => runtime?.kernels ?? []).filter(({ time }) => time > 0);
    const devices = [...new Set(timed.map(({ device }) => device))],
      limits: Record<string, MachineLimits> = {};
    if (devices.length > 0) {
      const { profiler } = await toolkit();
      for (const device of devices) limits[device] = profiler.machineLimits(device);
    }
    const page = join(resolve(folder), "report.html");
    Deno.writeTextFileSync(page, renderReport(`dyn trace ${folder}`, processes, limits));
    console.log(`${countsText(countTrace(processes))}\nWrote ${page}`);
    return 0;
  },
};
