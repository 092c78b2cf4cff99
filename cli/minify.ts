/**
 * `minify`: makes a repro smaller. The smaller repro goes to a new folder beside the given `repro.ts`, which may have
 * been edited. Invariant: the given files are only read; the result has been run and fails in the same way.
 */
import { resolve } from "node:path";
import { parseArgs } from "@std/cli";
import { type Command, UsageError } from "./command.ts";
import { scriptUrl } from "./script_source.ts";
import { toolkit } from "./toolkit.ts";

/** `dyn minify`. */
export const minifyCommand: Command = {
  name: "minify",
  usage: "minify [--seconds=300] <repro.ts>",
  summary: "Make a repro smaller, as long as it fails in the same way",
  takesFlags: false,
  run: async (args) => {
    const parsed = parseArgs(args, {
      string: ["_", "seconds"],
      unknown: (arg) => {
        if (arg.startsWith("-")) throw new UsageError(`Expected --seconds but found ${arg}`);
      },
    });
    const [path, ...more] = parsed._;
    const seconds = Number(parsed.seconds ?? 300);
    if (path === undefined || more.length > 0) {
      throw new UsageError(`Expected one repro but found ${parsed._.join(" ") || "nothing"}`);
    }
    if (!(seconds > 0)) throw new UsageError(`Expected a number of seconds but found ${parsed.seconds}`);
    const url = scriptUrl(path);
    await toolkit();
    const { minifyDescribed } = await import("../lib/debug/minify_repro.ts");
    const outcome = await minifyDescribed(() => import(url), {
      milliseconds: seconds * 1000,
      folder: resolve(path, ".."),
      progress: (text) => console.log(`  ${text}`),
    });
    if (outcome.kind === "none") {
      throw new UsageError(`Expected a repro that dyn has written but found ${path}`);
    }
    for (const line of outcome.lines) console.log(line);
    return outcome.kind === "smaller" ? 0 : 1;
  },
};
