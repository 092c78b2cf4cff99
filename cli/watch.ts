/**
 * `--watch`: runs the command again whenever a file of the script's folder changes.
 *
 * Invariant: one run at a time: a run in progress is ended first.
 */
import { dirname, resolve } from "node:path";
import { endWithSignals } from "./children.ts";
import { UsageError } from "./command.ts";

/** Files whose changes trigger a run. */
const SOURCES = /\.(?:[cm]?[jt]sx?|jsonc?)$/;

/** Time for which changes are collected, in milliseconds: editors write files in several steps. */
const QUIET = 100;

/** Runs the command line repeatedly; ends with the process. */
export async function watch(args: readonly string[], script: string | undefined): Promise<never> {
  if (script === undefined || script === "-" || /^\w+:\/\//.test(script)) {
    throw new UsageError(`Expected a script in a file to watch but found ${script ?? "nothing"}`);
  }
  const folder = dirname(resolve(script)), own = new URL("../cli.ts", import.meta.url).href;
  let child: Deno.ChildProcess | undefined;
  endWithSignals(() => child);
  for (const changes = Deno.watchFs(folder)[Symbol.asyncIterator]();;) {
    child = new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-check", own, ...args] })
      .spawn();
    let isRunning = true;
    const ended = child.status.then(({ code }) => {
      isRunning = false;
      console.error(`[watch] ended with code ${code}; waiting for changes in ${folder}`);
    });
    const start = performance.now();
    // The events of one change may take a while.
    while (!await isChange(changes) || performance.now() - start < 2 * QUIET);
    if (isRunning) child.kill();
    await ended;
    console.error("[watch] again");
  }
}

/** Returns whether the next event, or those directly after it, change a source. */
async function isChange(changes: AsyncIterator<Deno.FsEvent>): Promise<boolean> {
  const { value: event } = await changes.next();
  if (!event || event.kind === "access") return false;
  await new Promise((done) => setTimeout(done, QUIET));
  return event.paths.some((path: string) => SOURCES.test(path));
}
