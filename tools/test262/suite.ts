/**
 * Tests of ECMAScript's conformance suite as functions that can be compiled. Each test becomes a script that returns
 * a function, or the reason why it cannot. Invariant: the function does what the test does, except that its own
 * variables are not properties of the global object.
 *
 * Form of the tests: https://github.com/tc39/test262/blob/main/INTERPRETING.md
 */

/** A test in one mode of the language. */
export interface Run {
  readonly path: string;
  readonly mode: "sloppy" | "strict";
  /** Whether it ends by calling `$DONE`. */
  readonly isAsync: boolean;
  /** Scripts of the harness, in the order in which they are loaded. */
  readonly harness: readonly string[];
  /** An expression whose value is the test as a function without parameters. */
  readonly text: string;
}

/** The runs of a test, or the reason why there are none. */
export type Suited = { readonly runs: readonly Run[] } | { readonly unsuited: string };

/** The metadata in the comment at the beginning of a test. */
interface FrontMatter {
  readonly flags: readonly string[];
  readonly includes: readonly string[];
  /** The phase in which an error is expected, if any. */
  readonly errorPhase: string | null;
}

/** The items of a list of the front matter, in either of YAML's forms. */
function listOf(text: string, key: string): string[] {
  const [, inline, block] =
    new RegExp(`^${key}:[ ]*(?:\\[([^\\]]*)\\]|((?:\\r?\\n[ ]*-[^\\n]*)+))`, "m").exec(text) ?? [];
  const items = inline?.split(",") ?? block?.split(/\r?\n\s*-/) ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function frontMatterOf(source: string): FrontMatter {
  const [, text = ""] = /\/\*---([\s\S]*?)---\*\//.exec(source) ?? [];
  const [, errorPhase = null] = /^negative:\s*(?:\r?\n\s+.*)*?\s+phase:\s*(\w+)/m.exec(text) ?? [];
  return { flags: listOf(text, "flags"), includes: listOf(text, "includes"), errorPhase };
}

/** Returns why a test cannot be a function of a running program, or null. */
function unsuitedBecause(source: string, { flags, errorPhase }: FrontMatter): string | null {
  if (errorPhase !== null && errorPhase !== "runtime") return `an error of the ${errorPhase} phase`;
  if (flags.includes("module")) return "a module's own statements";
  if (flags.includes("raw")) return "a script that is run untouched";
  if (/\$262\b/.test(source)) return "a host's own functions ($262)";
  return null;
}

/** The runs of a test: in both modes of the language, unless it requests one. */
export function runsOf(path: string, source: string): Suited {
  const frontMatter = frontMatterOf(source);
  const unsuited = unsuitedBecause(source, frontMatter);
  if (unsuited !== null) return { unsuited };
  const { flags, includes } = frontMatter;
  const isAsync = flags.includes("async");
  const harness = ["assert.js", "sta.js", ...isAsync ? ["asyncHelpers.js"] : [], ...includes];
  const runs: Run[] = [];
  const add = (mode: Run["mode"], directive: string) => {
    const text = `(function test() {${directive}${source}\n})`;
    runs.push({ path, mode, isAsync, harness: [...new Set(harness)], text });
  };
  if (!flags.includes("onlyStrict")) add("sloppy", "");
  if (!flags.includes("noStrict")) add("strict", '"use strict";');
  return { runs };
}
