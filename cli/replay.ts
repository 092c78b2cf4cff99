/**
 * `replay`: makes only the call of an execution record: the folder that `config.replayRecordEnabled` wrote, or its
 * `replay.ts`. Invariant: the record runs as a script of its own.
 */
import { join } from "node:path";
import { type Command, UsageError } from "./command.ts";
import { runCommand } from "./run.ts";
import { scriptUrl } from "./script_source.ts";

/** `dyn replay`. */
export const replayCommand: Command = {
  name: "replay",
  usage: "replay <record>",
  summary: "Make the call of an execution record alone (config.replayRecordEnabled)",
  takesFlags: true,
  run: async ([path, ...more]) => {
    if (path === undefined || more.length > 0) {
      throw new UsageError(
        `Expected one execution record but found ${[path, ...more].join(" ") || "nothing"}`,
      );
    }
    const isFolder = await Deno.stat(path).then((info) => info.isDirectory, () => false);
    const script = isFolder ? join(path, "replay.ts") : path;
    scriptUrl(script, "an execution record");
    return await runCommand.run([script]);
  },
};
