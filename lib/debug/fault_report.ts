/**
 * Reports a failing compilation: writes a repro, runs it, and describes both in lines for the message. Invariant:
 * errors here are reported and do not reach the program.
 */
import { DynError, messageOf } from "../base/errors.ts";
import { backendModule } from "../graph/backends.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import { printGraph } from "../graph/print.ts";
import { type Fault, faultText, type ReproCase } from "./repro/case.ts";
import { minify, sizeText } from "./repro/minify.ts";
import { rebuild } from "./repro/rebuild.ts";
import { newFolder, verifyRepro, writeRepro } from "./repro/write.ts";

/** Graphs of at most this many operations are shown in messages. */
const MOST_SHOWN = 8;

/** Time limit of a minification inside a program. */
const MILLISECONDS = 60_000;

/** The failure to report. */
interface FaultReport {
  readonly found: ReproCase;
  readonly fault: Fault;
  /** The name of the graph's function. */
  readonly title: string;
  /** Further lines at the top of the program. */
  readonly notes?: readonly string[];
  /** Whether the case is minified first. */
  readonly minified: boolean;
}

/** Writes a repro and runs it; returns lines with its location and outcome. */
export function reportFault(report: FaultReport, compile: GraphCompiler): string[] {
  const { found, fault, title, minified, notes = [] } = report;
  try {
    const { small, how } = minified
      ? smaller(found, { fault, compile })
      : { small: { ...found, ...replayed(found, fault) }, how: [] };
    const path = writeProgram(small, { fault, title, notes: [...notes, ...how] });
    return [`repro: ${path}`, ...how, verdictOf(path)];
  } catch (error) {
    return [`no repro could be written: ${messageOf(error)}`];
  }
}

/** Writes a case unchanged and returns the path of the program. Throws DynError if it cannot be written. */
export function writeCase(found: ReproCase, fault: Fault, title: string): string {
  return writeProgram({ ...found, ...replayed(found, fault) }, { fault, title, notes: [] });
}

const HEADLINES: Readonly<Record<Fault["kind"], string>> = {
  error: "A compilation that fails",
  accuracy: "A wrong answer",
  unknown: "A graph",
};

/** Writes a case that is already self-contained and returns the path of the program. */
export function writeProgram(
  found: ReproCase,
  { fault, title, notes }: Pick<FaultReport, "fault" | "title"> & { readonly notes: readonly string[] },
): string {
  const module = backendModule(found.backend);
  return writeRepro(newFolder(`${title}_${found.gm.signature?.role ?? "captured"}`), found, {
    fault,
    notes: [
      `${HEADLINES[fault.kind]}: ${title}, compiled by ${JSON.stringify(found.backend)}`,
      ...faultText(fault).split("\n").slice(0, 12).map((line) => `  ${line}`),
      ...notes,
    ],
    imports: module === undefined ? [] : [module],
  });
}

/** Runs the repro and describes the outcome. */
export function verdictOf(path: string): string {
  const { verified, output } = verifyRepro(path);
  if (verified) return "  (tried: it fails in the same way by itself)";
  const said = output.split("\n").map((line) => `    ${line}`).join("\n");
  return verified === null
    ? `  (not tried: ${output})`
    : `  (tried: by itself it does NOT fail in this way, so the fault depends on this process)\n${said}`;
}

function smaller(
  found: ReproCase,
  { fault, compile }: { readonly fault: Fault; readonly compile: GraphCompiler },
): { readonly small: ReproCase; readonly how: string[] } {
  const { found: small, tries, operations: [before, after], isCut } = minify(found, { fault, compile }, {
    milliseconds: MILLISECONDS,
  });
  const cut = isCut ? "; time ran out, dyn minify continues" : "";
  const summary = `  minified from ${before} operations to ${after}: ${
    sizeText(small)
  } (${tries} tries${cut})`;
  return { small, how: [summary, ...after > MOST_SHOWN ? [] : statementsOf(small)] };
}

/** Prints a small graph, one statement per line. */
function statementsOf({ gm }: ReproCase): string[] {
  return printGraph(gm.graph).trimEnd().split("\n").slice(1, -1)
    .filter((line) => !/^ *(\/\/|$)/.test(line))
    .map((line) => `    ${line.trim().replace(/ {2}\w+( = \w+)* = null;$/, "")}`);
}

/**
 * Returns the case in a form that can be written as a repro: constants of the graph become inputs, sizes become numbers
 * unless the failure needs symbols.
 */
function replayed(found: ReproCase, fault: Fault): Pick<ReproCase, "gm" | "args"> {
  try {
    return rebuild(found, { dynamic: fault.kind === "error" });
  } catch (error) {
    if (error instanceof DynError) return rebuild(found, { dynamic: true });
    throw error;
  }
}
