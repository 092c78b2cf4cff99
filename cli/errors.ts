/**
 * Prints failures of the user's program on stderr: the user's frames first, and the line of code of the first of
 * them.
 *
 * Invariant: the same failure is reported once.
 */
import { stripVTControlCharacters } from "node:util";
import { errorText } from "../lib/base/errors.ts";

/** A position in a line of a stack trace. */
const PLACE = /(file:\/\/[^\s)]+?):(\d+):(\d+)\)?$/;

/** The source line of the first frame with a marker under the column; empty if it cannot be read. */
function excerpt(text: string): string {
  const frame = text.split("\n").find((line) => /^\s+at /.test(line));
  const [, url, line, column] = frame?.match(PLACE) ?? [];
  if (url === undefined) return "";
  try {
    const source = Deno.readTextFileSync(new URL(url)).split("\n")[Number(line) - 1];
    if (source === undefined || source.trim() === "") return "";
    const before = source.slice(0, Number(column) - 1).replace(/\S/g, " ");
    return `${source}\n${before}^\n`;
  } catch {
    return "";
  }
}

/** Prints a failure of the user's program. */
export function reportFailure(thrown: unknown): void {
  const text = stripVTControlCharacters(errorText(thrown));
  const [head = "", ...rest] = text.split("\n");
  const firstFrame = rest.findIndex((line) => /^\s+at /.test(line));
  const message = [head, ...rest.slice(0, Math.max(firstFrame, 0))].join("\n");
  const frames = firstFrame < 0 ? rest : rest.slice(firstFrame);
  console.error(`error: Uncaught ${message}\n${excerpt(text)}${frames.join("\n")}`);
}

/**
 * Reports unhandled rejections and exits with code 1, unless a listener of the program itself calls `preventDefault`,
 * which is watched because those listeners come later than this one.
 */
export function reportRejections(onFailure: (thrown: unknown) => void): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    let handled = false;
    event.preventDefault();
    event.preventDefault = () => {
      handled = true;
    };
    queueMicrotask(() => {
      if (!handled) onFailure(event.reason);
    });
  });
}
