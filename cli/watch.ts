/**
 * `--watch`: runs the command again whenever a file of the script's folder changes.
 *
 * Invariants: one run at a time: a run in progress is ended first; the last run began after the last change, and no
 * two runs began after the same one.
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
  for (const changes = new Changes(folder);;) {
    child = new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-check", own, ...args] })
      .spawn();
    let isRunning = true;
    const ended = child.status.then(({ code }) => {
      isRunning = false;
      console.error(`[watch] ended with code ${code}; waiting for changes in ${folder}`);
    });
    await changes.next();
    if (isRunning) child.kill();
    await ended;
    console.error("[watch] again");
  }
}

/** Changes of the sources of a folder. */
class Changes {
  readonly #events: AsyncIterator<Deno.FsEvent>;
  /** States of files that have changed: events of one change may come later, when a run has begun with it. */
  readonly #states = new Map<string, string>();
  #event: Promise<IteratorResult<Deno.FsEvent>>;

  constructor(folder: string) {
    this.#events = Deno.watchFs(folder)[Symbol.asyncIterator]();
    this.#event = this.#events.next();
  }

  /** Waits for a change, and until nothing changes any more. */
  async next(): Promise<void> {
    for (let hasChanged = false;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const quiet = new Promise<null>((done) => timer = setTimeout(done, QUIET, null));
      const found = await (hasChanged ? Promise.race([this.#event, quiet]) : this.#event);
      clearTimeout(timer);
      if (found === null) return;
      this.#event = this.#events.next();
      if (this.#isChange(found.value)) hasChanged = true;
    }
  }

  #isChange(event: Deno.FsEvent | undefined): boolean {
    if (!event || event.kind === "access") return false;
    const changed = event.paths.filter((path: string) => {
      if (!SOURCES.test(path)) return false;
      const before = this.#states.get(path), state = stateOf(path);
      this.#states.set(path, state);
      return state !== before;
    });
    return changed.length > 0;
  }
}

/** Description of a file's state, also of its absence. */
function stateOf(path: string): string {
  try {
    const { mtime, size, ino } = Deno.statSync(path);
    return `${mtime?.getTime()} ${size} ${ino}`;
  } catch {
    return "absent";
  }
}
