/**
 * `explain`: runs a script and reports the captured graphs, the graph breaks with reasons, and the recompilations.
 *
 * Invariant: the script runs as it would under `run`.
 */
import type { Artifact, LogDetails } from "../lib/base/logs.ts";
import { counted } from "../lib/base/report_text.ts";
import type { Command } from "./command.ts";
import { captureToEnd, reportAtEnd } from "./end_of_program.ts";
import { runScript } from "./run.ts";
import { checkScript } from "./script_source.ts";
import { checkChoices, toolkit } from "./toolkit.ts";

/** Logged texts, by subject. */
interface Seen {
  readonly graphs: string[];
  readonly breaks: string[];
  readonly uncompiled: string[];
  readonly recompiles: string[];
  readonly limits: string[];
}

/** Returns the list that a text belongs to; null for texts that the report omits. */
function kindOf(artifact: Artifact, { meta = {} }: LogDetails): keyof Seen | null {
  switch (artifact) {
    case "graph_code":
      return "graphs";
    case "graph_breaks":
      return meta["uncompiled"] === true ? "uncompiled" : "breaks";
    case "recompiles":
      return meta["limit"] === undefined ? "recompiles" : "limits";
    default:
      return null;
  }
}

/** The report, from the logs of the stages. */
function report({ graphs, breaks, uncompiled, recompiles, limits }: Seen): string {
  const lines = [
    `Dynamo produced ${counted(graphs.length, "graph")}, with ${counted(breaks.length, "graph break")} and ${
      counted(recompiles.length, "recompilation")
    }`,
  ];
  const sections: [title: string, texts: readonly string[]][] = [
    ["Break reason", breaks],
    ["Uncompiled", uncompiled],
    ["Recompilation", recompiles],
    // Each function once: further messages about it vary between calls.
    ["Limit", [...new Map(limits.toReversed().map((text) => [text.split("\n", 1).join(), text])).values()]],
    ["Graph", graphs],
  ];
  for (const [title, texts] of sections) {
    texts.forEach((text, i) =>
      lines.push("", `${title} ${i + 1}:`, ...text.trimEnd().split("\n").map((line) => `  ${line}`))
    );
  }
  return lines.join("\n");
}

/** `dyn explain`. */
export const explainCommand: Command = {
  name: "explain",
  usage: "explain <script> [arguments]",
  summary: "Run a script and show its graphs, where they broke and why",
  takesFlags: true,
  run: async ([path, ...args]) => {
    checkScript(path);
    await checkChoices();
    await toolkit();
    const seen: Seen = { graphs: [], breaks: [], uncompiled: [], recompiles: [], limits: [] };
    const sink = (artifact: Artifact, text: string, details: LogDetails) => {
      const kind = kindOf(artifact, details);
      if (kind) seen[kind].push(text);
    };
    await reportAtEnd(
      () => report(seen),
      () => captureToEnd("graph_code,graph_breaks,recompiles", sink, () => runScript(path, args)),
    );
    return undefined;
  },
};
