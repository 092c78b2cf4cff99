/**
 * `explain`: runs a script and tells what the tracer made of it.
 *
 * Input: a script and its arguments; output: the script's own, then the graphs that were captured, where they were
 * cut and why, and what was compiled again. Invariant: the script runs as it would under `run`.
 */
import { type Artifact, logs } from "../lib/base/logs.ts";
import { type Command, UsageError } from "./command.ts";
import { reportRejections } from "./errors.ts";
import { failAndExit, runScript, scriptUrl } from "./run.ts";
import { checkChoices } from "./toolkit.ts";

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The report, from what the stages logged. */
function report(seen: ReadonlyMap<Artifact, readonly string[]>): string {
  const [graphs = [], breaks = [], recompiles = []] = (["graph_code", "graph_breaks", "recompiles"] as const)
    .map((artifact) => seen.get(artifact));
  const lines = [
    `Dynamo produced ${count(graphs.length, "graph")}, with ${count(breaks.length, "graph break")} and ${
      count(recompiles.length, "recompilation")
    }`,
  ];
  const sections: [title: string, texts: readonly string[]][] = [
    ["Break reason", breaks],
    ["Recompilation", recompiles],
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
  summary: "Run a script and tell which graphs it gave, where they broke and why",
  takesFlags: true,
  run: async ([path, ...args]) => {
    if (path === undefined) throw new UsageError("Expected a script but found nothing");
    scriptUrl(path);
    await checkChoices();
    reportRejections(failAndExit);
    const seen = new Map<Artifact, string[]>();
    const sink = (artifact: Artifact, text: string) => {
      const texts = seen.get(artifact);
      if (texts) texts.push(text);
      else seen.set(artifact, [text]);
    };
    try {
      await logs.capture("graph_code,graph_breaks,recompiles", sink, () => runScript(path, args));
    } catch (thrown) {
      console.error(report(seen));
      failAndExit(thrown);
    }
    console.log(report(seen));
    return undefined;
  },
};
