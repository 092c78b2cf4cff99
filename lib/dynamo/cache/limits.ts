/**
 * Advice for recompilations that have reached a limit. Invariant: every piece of advice names the setting, option or
 * function concerned.
 */
import { config } from "../../base/config.ts";
import type { ChangeHistory } from "./automatic_dynamic.ts";
import type { Mismatch } from "../guards/found.ts";
import type { Guard } from "../guards/guard.ts";
import { factText } from "../guards/text.ts";
import type { Program } from "./program.ts";

/** A limit on the number of versions. */
export interface Limit {
  readonly setting: "cacheSizeLimit" | "accumulatedCacheSizeLimit";
  readonly most: number;
}

/** Returns whether sizes and numbers of a function become symbols once they have changed. */
function generalises(
  { program, history }: { readonly program: Program; readonly history: ChangeHistory },
): boolean {
  return config.dynamicShapes && program.options.dynamic !== "never" && config.staticSources === "" &&
    !history.hasFixed;
}

/**
 * Returns the versions, if any, that a further one replaces: a size or number that changes now for the first time is
 * constant in them, because they were compiled before. Each place counts once: what stays constant thereafter does so
 * for another reason. `mismatches`: the reasons why versions do not serve the call.
 */
export function replacedVersions<V extends { readonly guards: readonly Guard[] }>(
  versions: readonly V[],
  mismatches: readonly Mismatch[],
  { unit, places }: {
    readonly unit: { readonly program: Program; readonly history: ChangeHistory };
    /** The places that counted before. */
    readonly places: Set<string>;
  },
): ReadonlySet<V> {
  if (!generalises(unit)) return new Set();
  const first = mismatches.filter(({ change, subject }) =>
    (change === "sizes" || change === "number") && !places.has(subject)
  );
  for (const { subject } of first) places.add(subject);
  const texts = new Set(first.map(({ guard }) => guard));
  return new Set(versions.filter(({ guards }) => guards.some(({ fact }) => texts.has(factText(fact)))));
}

/** Returns possible remedies. */
export function remediesText(
  { setting, most }: Limit,
  mismatches: readonly Mismatch[],
  { program, history }: { readonly program: Program; readonly history: ChangeHistory },
): string[] {
  const found: string[] = [];
  const [frequent = []] = [...Map.groupBy(mismatches, ({ subject }) => subject).values()]
    .toSorted((a, b) => b.length - a.length);
  const needed = frequent.find(({ change }) => change === "needed");
  if (needed) {
    const { subject, user } = needed;
    const where = user ? ` (${user.file}:${user.line})` : "";
    found.push(`move code that needs one value of ${subject} out of the compiled function${where}`);
  } else if (frequent.length > 0 && frequent.every(({ change }) => change !== "other")) {
    const { rulesMissing } = history;
    if (!config.dynamicShapes) {
      found.push("set config.dynamicShapes, so that sizes and numbers become symbols");
    } else if (program.options.dynamic === "never") {
      found.push("compile it without dynamic: false, so that sizes and numbers become symbols");
    } else if (rulesMissing.length > 0) {
      found.push(`keep ${rulesMissing.join(", ")} out of the function: no rule for sizes that change`);
    } else if (config.staticSources !== "") {
      found.push("remove what changes from config.staticSources (or compiler.markStatic)");
    } else {
      const subjects = new Set(frequent.map(({ subject }) => subject));
      found.push(`name ${[...subjects].join()} in config.dynamicSources, or remove compiler.markStatic`);
    }
  }
  return [...found, `raise config.${setting} above ${most}`];
}
