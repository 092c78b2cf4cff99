/**
 * Warnings about likely mistakes of the program that are no errors, as the log artifact `usage`. Invariant: each is
 * printed once, with the program's line that is called first.
 */
import { DynError } from "./errors.ts";
import { logs } from "./logs.ts";

const warned = new Set<string>();

/** Warns once for each key; the text is built for the first of them. */
export function warnOfUse(key: string, text: () => string): void {
  if (warned.has(key)) return;
  warned.add(key);
  const [, place = ""] = new DynError("").stack?.split("\n") ?? [];
  logs.emit("usage", `${text()}${place === "" ? "" : `\n${place}`}`, "warning");
}
