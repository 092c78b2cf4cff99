/**
 * Identifies the program that a process runs, so that ranks with different versions can report it. Invariant: equal
 * programs have equal texts, wherever their files are.
 */
import { fingerprintText } from "../base/fingerprint.ts";

/** Returns the text of a script; null if it cannot be read. */
function textOf(script: string): string | null {
  try {
    return Deno.readTextFileSync(script.startsWith("file:") ? new URL(script) : script);
  } catch {
    return null;
  }
}

/** Returns the scripts on the command line by the last parts of their paths, and fingerprints of their texts. */
export function runningProgram(): string {
  const scripts = [Deno.mainModule, ...Deno.args].filter((each) => /\.[cm]?[jt]sx?$/.test(each));
  const parts = scripts.map((script) => {
    const text = textOf(script), name = script.split("/").at(-1) ?? script;
    return text === null ? name : `${name} (${fingerprintText(text).slice(0, 8)})`;
  });
  return `${parts.join(" ")} on Deno ${Deno.version.deno}`;
}
