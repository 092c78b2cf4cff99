/**
 * Processes that a command has started. Invariant: a signal that ends the command ends them first, also if it was sent to
 * the command alone, as by `kill` or an editor; in a terminal Ctrl-C reaches both.
 */
const SIGNALS: readonly (readonly [signal: Deno.Signal, code: number])[] = [
  ["SIGINT", 130],
  ...Deno.build.os === "windows" ? [] : [["SIGTERM", 143] as const],
];

/** Ends the current child with this process. */
export function endWithSignals(current: () => Deno.ChildProcess | undefined): void {
  for (const [signal, code] of SIGNALS) {
    Deno.addSignalListener(signal, () => {
      try {
        current()?.kill(signal);
      } catch {
        // It has already ended
      }
      Deno.exit(code);
    });
  }
}
