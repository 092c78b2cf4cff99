/**
 * Places at which a version for each value is best, and at which the graph ends for all further values once there are
 * many versions: how many there are, and what the user is told.
 */
import { config } from "../../base/config.ts";
import type { SourcePosition } from "../../graph/node.ts";

/** The number that each of these words shares: values that a program inspects are counted together. */
export const COUNTED_AS = {
  texts: "texts",
  symbols: "texts",
  bigints: "texts",
  functions: "functions",
  lengths: "lengths",
  counts: "counts",
} as const;

/** The values that have versions, as messages call them. */
export type ManyKinds = keyof typeof COUNTED_AS;

/** Returns the word for values like a string, a symbol or a bigint. */
export function kindOf(value: string | symbol | bigint): ManyKinds & ("texts" | "symbols" | "bigints") {
  return typeof value === "string" ? "texts" : typeof value === "symbol" ? "symbols" : "bigints";
}

/** Returns the number of values that have versions at one place. */
export function mostVersions(what: ManyKinds): number {
  const { cacheSizeLimit } = config, half = Math.floor(cacheSizeLimit / 2);
  // Behind the end of a graph, the position in a loop needs versions, too; and so do the sizes 0 and 1
  return Math.max(1, what === "counts" ? half - 1 : what === "lengths" ? half : cacheSizeLimit - 2);
}

/** The warning at the first value that has no version, with the line that needs it. */
export function manyVersionsText({ what, text, most, place }: {
  readonly what: ManyKinds;
  /** The values, as guards name them. */
  readonly text: string;
  readonly most: number;
  readonly place: SourcePosition | null;
}): string {
  return `${text}: ${most} ${what} have a version each. For further ones the graph ends where the program uses ` +
    `them; for versions of these, too, raise config.cacheSizeLimit above ${config.cacheSizeLimit}` +
    (place ? `\n  ${place.code} (${place.file}:${place.line})` : "");
}
