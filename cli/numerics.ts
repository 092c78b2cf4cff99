/**
 * `numerics`: runs a script and reports how far the numbers of its compiled graphs are from those of their ops one by
 * one and from double precision, which settings bring them closer, and which ops round most.
 *
 * Invariant: the script computes what it computes under `run`; each graph is measured in its first call.
 */
import type { GraphNumerics } from "../lib/debug/numerics/measure.ts";
import type { Command } from "./command.ts";
import { reportAtEnd } from "./end_of_program.ts";
import { runScript } from "./run.ts";
import { checkScript } from "./script_source.ts";
import { checkChoices, toolkit } from "./toolkit.ts";

/** `dyn numerics`. */
export const numericsCommand: Command = {
  name: "numerics",
  usage: "numerics <script> [arguments]",
  summary: "Run a script and show how far compiled numbers are from plain ones, and why",
  help:
    "Each compiled graph is measured in its first call, which also runs it plainly and in float64; gradients are those\n" +
    "for random tangents. Graphs that give the plain bits are counted only. See docs/debugging.md.",
  takesFlags: true,
  run: async ([path, ...args]) => {
    checkScript(path);
    await checkChoices();
    await toolkit();
    const { interpose } = await import("../lib/graph/interpose.ts");
    const { measuring } = await import("../lib/debug/numerics/measured_backend.ts");
    const { programText } = await import("../lib/debug/numerics/text.ts");
    const graphs: GraphNumerics[] = [];
    interpose({ captured: (backend) => measuring(backend, (found) => void graphs.push(found)) });
    await reportAtEnd(() => programText(graphs), () => runScript(path, args));
    return undefined;
  },
};
