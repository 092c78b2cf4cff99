/**
 * The queue of libraries that are compiled in the background; tickets report when they are ready. Invariants: one
 * build runs at a time, in the order of requests, and none repeats a library of an earlier one; nothing here waits,
 * so the queue advances when a ticket is polled.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { type BackgroundBuild, compileInBackground, type Job, refuseStopped } from "./object_cache.ts";

/**
 * Minimum milliseconds between two polls of the file that reports a build's end. Each costs some 100 µs, most of it for
 * comparing the builtins with which the next build starts.
 */
const POLL_INTERVAL = 10;

/** A build of the queue. */
interface Batch {
  readonly jobs: readonly Job[];
  state:
    | { readonly kind: "queued" }
    | { readonly kind: "running"; readonly build: BackgroundBuild }
    | { readonly kind: "ended" }
    | { readonly kind: "failed"; readonly thrown: unknown };
}

/** A request that can be polled. */
export interface Ticket {
  /** Returns the state of the request, at most a few milliseconds old. `failed` has the error. */
  readonly poll: () =>
    | { readonly kind: "waiting" }
    | { readonly kind: "ended" }
    | { readonly kind: "failed"; readonly thrown: unknown };
}

const queue: Batch[] = [];
let looked = 0;

/** Requests libraries. */
export function requestLibraries(jobs: readonly Job[]): Ticket {
  const isPart = ({ path }: Job) => (batch: Batch) => batch.jobs.some((job) => job.path === path);
  const before = queue.filter((batch) => jobs.some((job) => isPart(job)(batch)));
  const own = jobs.filter((job) => !queue.some(isPart(job)));
  const needed = [...before];
  if (own.length > 0) {
    const batch: Batch = { jobs: own, state: { kind: "queued" } };
    queue.push(batch);
    needed.push(batch);
    advance();
  }
  return {
    poll() {
      const now = performance.now();
      if (now - looked >= POLL_INTERVAL) {
        looked = now;
        // The program may have replaced the builtins that starting the next build needs
        preferringOwnBuiltins(advance);
      }
      for (const { state } of needed) {
        if (state.kind === "failed") return state;
        if (state.kind !== "ended") return { kind: "waiting" };
      }
      return { kind: "ended" };
    },
  };
}

/** Returns whether a requested library is not ready yet. */
export function isCompiling(): boolean {
  advance();
  return queue.length > 0;
}

/** Removes finished builds from the queue and starts the next. */
function advance(): void {
  for (let [first] = queue; first; [first] = queue) {
    try {
      if (first.state.kind === "queued") {
        refuseStopped();
        first.state = { kind: "running", build: compileInBackground(first.jobs) };
        stopAtExit();
      }
      if (first.state.kind === "running") {
        if (!first.state.build.poll()) return;
        first.state = { kind: "ended" };
      }
    } catch (thrown) {
      first.state = { kind: "failed", thrown };
    }
    queue.shift();
  }
}

let stops = false;

/** A build that nobody will use ends with the process. */
function stopAtExit(): void {
  if (stops) return;
  stops = true;
  globalThis.addEventListener("unload", () => {
    for (const { state } of queue) if (state.kind === "running") state.build.stop();
  });
}
