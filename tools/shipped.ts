/**
 * Writes lib/written/shipped.ts: classes of common eager calls and their WebAssembly, which a first process would
 * otherwise have to generate. The calls are those of shipped_calls.ts. Invariant: each entry equals what such a process
 * would cache, and holds for calls of all sizes of a class.
 *
 *   deno task generate
 */
import { config } from "../lib/base/config.ts";
import { InternalError } from "../lib/base/errors.ts";
import { flush, setEntryStore } from "../lib/base/cached_entries.ts";
import { shipEntries } from "../lib/base/shipped_entries.ts";
import { shippedKey, shippedText } from "../lib/tensor/cached_classes.ts";
import { noGrad } from "../mod.ts";
import { type ShippedCall, shippedCalls } from "./shipped_calls.ts";

/** Path of the module from the root of the repository; the last file in the order of names, see `wasWrittenLast`. */
export const SHIPPED = "lib/written/shipped.ts";

const HEADER = `/**
 * Classes of common eager calls and their programs as WebAssembly, by their cache keys. Written by tools/shipped.ts:
 * run \`deno task generate\` after changing what code is generated.
 */

/** One line per entry: its key, a tab, its text. */
export const shipped = (): string =>
  \``;

/** Cache entries of a call, by key; programs by the short names of their texts. */
type Kept = ReadonlyMap<string, string>;

/** Runs a call as a first process would without a compiler, and returns what it would cache. */
function keptBy({ run, loads = false }: ShippedCall): Kept {
  const found = new Map<string, string>();
  setEntryStore({
    isOn: () => true,
    read: () => null,
    write: (_kind, key, text) => void found.set(shippedKey(key), text),
    remove() {},
    keys: () => [],
  });
  shipEntries(null);
  config.patch({ graphCache: true, inductor: { tier: "wasm", errorOnFallback: false } }, () => {
    noGrad(run);
    flush();
  });
  return shortened(found, loads);
}

/** Whether a key is that of a program. */
const isProgram = (key: string): boolean => key.startsWith("cpu ");

/** The entries with short names of programs; `loads`: without entries for a single number. */
function shortened(found: Kept, loads: boolean): Kept {
  const short = new Map<string, string>(), used = new Set<string>();
  for (const [key, text] of found) {
    if (isProgram(key) || (loads && !key.includes("#"))) continue;
    const named = text.replaceAll(/"text":"((?:[^"\\]|\\.)*)"/g, (_all, written: string) => {
      const whole: string = JSON.parse(`"${written}"`);
      used.add(`cpu ${whole}`);
      return `"text":"${shippedText(whole)}"`;
    });
    short.set(key, named);
  }
  for (const [key, text] of found) {
    if (isProgram(key) && used.has(key)) short.set(`cpu ${shippedText(key.slice(4))}`, text);
  }
  return short;
}

/** An entry of the module, and the call that created it. */
export interface ShippedEntry {
  readonly text: string;
  readonly call: string;
}

/** Returns the cache entries of all calls, made in the listed or in the opposite order. */
export function shippedEntries(from: "first" | "last" = "first"): {
  readonly calls: readonly ShippedCall[];
  readonly entries: ReadonlyMap<string, ShippedEntry>;
} {
  const entries = new Map<string, ShippedEntry>(), calls: ShippedCall[] = [];
  const note = (call: ShippedCall): void => {
    for (const [key, text] of keptBy(call)) entries.set(key, { text, call: call.name });
  };
  note({ name: "operands", run: () => calls.push(...shippedCalls()) });
  (from === "first" ? calls : calls.toReversed()).forEach(note);
  return { calls, entries };
}

/** The module's text. */
export function shippedModule(): string {
  const lines = [...shippedEntries().entries].sort(([a], [b]) => a < b ? -1 : 1).map(([key, { text }]) => {
    const line = `${key}\t${text}`;
    if (/[\n`\\]|\$\{/.test(line)) throw new InternalError(`Expected plain text but found ${line}`);
    return line;
  });
  return `${HEADER}${lines.join("\n")}\n\`;\n`;
}

if (import.meta.main) Deno.writeTextFileSync(new URL(`../${SHIPPED}`, import.meta.url), shippedModule());
