/**
 * Minifies a repro: the work of `dyn minify`. The smaller repro goes to a new folder beside it. Invariant: a repro
 * that does not fail as described is not changed.
 */
import { config } from "../base/config.ts";
import { compilerOf, faultOf, faultText, isSameFault } from "./repro/case.ts";
import { caseDescribedBy } from "./repro/load.ts";
import { minify, sizeText } from "./repro/minify.ts";
import { verdictOf, writeProgram } from "./fault_report.ts";

/** The outcome of a minification. */
export type MinifyOutcome =
  /** The module does not describe a repro. */
  | { readonly kind: "none" }
  /** The repro does not fail, or cannot be made smaller. */
  | { readonly kind: "same"; readonly lines: readonly string[] }
  | { readonly kind: "smaller"; readonly lines: readonly string[] };

/** Minifies the repro that an import describes. */
export async function minifyDescribed(
  load: () => Promise<unknown>,
  { milliseconds, folder, progress }: {
    readonly milliseconds: number;
    /** The folder in which a new folder for the smaller repro is created. */
    readonly folder: string;
    readonly progress: (text: string) => void;
  },
): Promise<MinifyOutcome> {
  const described = await caseDescribedBy(load);
  if (!described) return { kind: "none" };
  const { found, fault: expected } = described;
  const compile = compilerOf(found);
  const fault = faultOf(found, compile, { compare: expected.kind !== "error" });
  if (!fault) return { kind: "same", lines: ["It no longer fails"] };
  if (!isSameFault(expected, fault)) {
    return { kind: "same", lines: [`It fails in another way than it says: ${faultText(fault)}`] };
  }
  progress(`${faultText(fault)}`);
  progress(`from ${sizeText(found)}`);
  const { found: small, tries, operations: [before, after], isCut } = minify(found, { fault, compile }, {
    milliseconds,
    progress,
  });
  const counted = `${tries} tries${isCut ? "; time ran out" : ""}`;
  const path = config.patch({ reproDir: folder }, () =>
    writeProgram(small, {
      fault,
      title: "minified",
      notes: [`  minified from ${before} operations to ${after}`],
    }));
  const summary = `${before} operations became ${after}: ${sizeText(small)} (${counted})`;
  return { kind: "smaller", lines: [summary, path, verdictOf(path)] };
}
