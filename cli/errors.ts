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

/** The source line of the first frame with a marker under the column; none if it cannot be read. */
function excerpt(lines: readonly string[]): string[] {
  const frame = lines.find((line) => /^\s+at /.test(line));
  const [, url, line, column] = frame?.match(PLACE) ?? [];
  if (url === undefined) return [];
  try {
    const source = Deno.readTextFileSync(new URL(url)).split("\n")[Number(line) - 1];
    if (source === undefined || source.trim() === "") return [];
    return [source, `${source.slice(0, Number(column) - 1).replace(/\S/g, " ")}^`];
  } catch {
    return [];
  }
}

/** A place at the end of a message, where the engine writes that of a name which a module does not export. */
const PLACE_IN_MESSAGE = / at (file:\/\/\S+:\d+:\d+)$/;

/** Returns whether a frame is one of the command line itself, which only passes failures on. */
const isOfCommandLine = (line: string): boolean => line.includes(COMMANDS) || line.includes(ENTRY);

const COMMANDS: string = new URL("./", import.meta.url).href,
  ENTRY: string = new URL("../cli.ts", import.meta.url).href;

/** The text of a failure, without frames of the command line: its first line, and the others. */
export function failureLines(thrown: unknown): readonly [head: string, ...rest: string[]] {
  const [first = "", ...others] = stripVTControlCharacters(errorText(thrown)).split("\n");
  const [, place] = PLACE_IN_MESSAGE.exec(first) ?? [];
  // The module loader puts the class of its own error before that of another
  const head = first.replace(PLACE_IN_MESSAGE, "").replace(/^TypeError: (?=\w+Error: )/, "");
  const rest = [...place === undefined ? [] : [`    at ${place}`], ...others];
  return [head, ...rest.filter((line) => !(/^\s+at /.test(line) && isOfCommandLine(line)))];
}

/** Prints a failure of the user's program. */
export function reportFailure(thrown: unknown): void {
  const [head, ...rest] = failureLines(thrown);
  const firstFrame = rest.findIndex((line) => /^\s+at /.test(line));
  const message = [head, ...rest.slice(0, Math.max(firstFrame, 0))].join("\n");
  const frames = firstFrame < 0 ? rest : rest.slice(firstFrame);
  const lines = [message, ...excerpt(rest), ...frames];
  console.error(`error: Uncaught ${lines.join("\n")}`);
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
