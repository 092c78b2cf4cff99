/**
 * Reports about a script, printed when its program ends: after its last task, by Deno.exit, an error or Ctrl-C. A report
 * that throws is a failure of the command.
 *
 * Invariant: a report is printed once, and the program ends as it would without it.
 */
import { logs, type LogSink } from "../lib/base/logs.ts";
import { reportRejections } from "./errors.ts";
import { failAndExit } from "./run.ts";

/** Runs a script, and prints a report when its program ends. */
export async function reportAtEnd(report: () => string, script: () => Promise<void>): Promise<void> {
  const fail = atEnd(report);
  reportRejections(fail);
  await script().catch(fail);
}

/**
 * Prints a report when the program ends. Returns a function that ends it because of what was thrown: that is shown last,
 * and the report goes to stderr.
 */
function atEnd(report: () => string): (thrown: unknown) => never {
  let isDone = false;
  const tell = (print: (text: string) => void): void => {
    if (isDone) return;
    isDone = true;
    try {
      print(report());
    } catch (thrown) {
      // Of the command, not of the script: without frames
      console.error(`error: ${thrown instanceof Error ? thrown.message : thrown}`);
      Deno.exitCode = 1;
    }
  };
  globalThis.addEventListener("unload", () => tell(console.log));
  // An error in a task of its own ends the process without unloading
  globalThis.addEventListener("error", () => tell(console.error));
  const interrupted = (): void => {
    Deno.removeSignalListener("SIGINT", interrupted);
    tell(console.log);
    Deno.kill(Deno.pid, "SIGINT");
  };
  Deno.addSignalListener("SIGINT", interrupted);
  return (thrown) => {
    tell(console.error);
    return failAndExit(thrown);
  };
}

/** Runs a script; its logs go to `sink` until its program ends. Rejects with what the script throws. */
export async function captureToEnd(spec: string, sink: LogSink, script: () => Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  void logs.capture(spec, sink, async () => {
    await script().then(resolve, reject);
    // Tasks that the script has started log, too
    await new Promise(() => {});
  });
  await promise;
}
