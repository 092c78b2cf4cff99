/**
 * Profiles: which kernels and phases run, how long, and in how much memory, like `torch.profiler`. The events can be
 * averaged, printed as a table or written as a trace. Invariant: the program computes the same as without a profile;
 * nothing outside the profile is recorded.
 */
import { types } from "node:util";
import { checkFunction, checkOptions, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { observed } from "../../base/observation.ts";
import { showAsText } from "../../base/console_text.ts";
import { markFunction } from "../../dynamo/functions/marks.ts";
import { KeyAverages } from "./averages.ts";
import { chromeTrace } from "./chrome_trace.ts";
import { Collector } from "./collector.ts";
import type { MemorySample, ProfileEvent, Recorded } from "./events.ts";
import type { ProfilerAction, Schedule } from "./schedule.ts";

/** Options of `profile`. */
export interface ProfileOptions {
  /** The recorded steps, among those that the program marks by `step()`; default: all. */
  readonly schedule?: Schedule | undefined;
  /** Called when a recording is complete: at the end of each cycle, or of the program. */
  readonly onTraceReady?: ((profile: Profile) => void) | undefined;
}

/** A profile, complete or being recorded. */
export class Profile {
  readonly #collector = new Collector();
  readonly #options: ProfileOptions;
  #step = 0;
  #stepStart = 0;
  #action: ProfilerAction;
  #saved: Recorded | null = null;

  /** Prefer `profile`, which creates a profile and runs a program in it. */
  constructor(options: ProfileOptions = {}) {
    checkOptions("profile", { schedule: ["function"], onTraceReady: ["function"] }, options);
    this.#options = options;
    this.#action = this.#actionOf(0);
  }

  #actionOf(step: number): ProfilerAction {
    return this.#options.schedule?.(step) ?? "record";
  }

  /** @internal */
  begin(): void {
    this.#enter("none", this.#action);
  }

  /** @internal */
  finish(): void {
    if (this.#action === "none") return;
    this.#collector.stop();
    if (this.#action !== "warmup") this.#save();
    this.#action = "none";
  }

  /** Number of completed steps. */
  get stepNum(): number {
    return this.#step;
  }

  /** Ends a step of the program; later events belong to the next one. */
  step(): void {
    if (arguments.length > 0) refuseSurplus("step", 0, arguments);
    const former = this.#action;
    if (this.#options.schedule && former !== "none") {
      this.#collector.step(`ProfilerStep#${this.#step}`, this.#stepStart);
    }
    this.#step++;
    const next = this.#actionOf(this.#step);
    if (former === "recordAndSave") this.#save();
    this.#action = next;
    this.#enter(former, next);
  }

  #enter(former: ProfilerAction, next: ProfilerAction): void {
    if (former === "none" && next !== "none") this.#collector.start();
    else if (former !== "none" && next === "none") this.#collector.stop();
    // A cycle starts empty: warm-up events and saved ones are discarded
    else if (next === "warmup" || former === "warmup" || former === "recordAndSave") this.#collector.clear();
    this.#stepStart = next === "none" ? 0 : this.#collector.now;
  }

  #save(): void {
    this.#saved = this.#collector.recorded;
    this.#options.onTraceReady?.(this);
  }

  get #recorded(): Recorded {
    if (this.#saved) return this.#saved;
    throw new DynError("Expected a profile with a recorded cycle but found none so far");
  }

  /** Returns the events of the last cycle, in order of their start. Throws DynError if nothing was recorded. */
  events(): readonly ProfileEvent[] {
    if (arguments.length > 0) refuseSurplus("events", 0, arguments);
    return this.#recorded.events;
  }

  /** Returns the memory in use, a sample for each change. Throws DynError if nothing was recorded. */
  memoryTimeline(): readonly MemorySample[] {
    if (arguments.length > 0) refuseSurplus("memoryTimeline", 0, arguments);
    return this.#recorded.memory;
  }

  /** Returns the events summed by name. Throws DynError if nothing was recorded. */
  keyAverages(): KeyAverages {
    if (arguments.length > 0) refuseSurplus("keyAverages", 0, arguments);
    return new KeyAverages(this.#recorded.events);
  }

  /**
   * Writes the events in the Trace Event Format, which chrome://tracing and Perfetto open: one track for the program,
   * one for the kernels of each device, one for its memory. Throws DynError if nothing was recorded.
   */
  exportChromeTrace(path: string): void {
    if (arguments.length > 1) refuseSurplus("exportChromeTrace", 1, arguments);
    Deno.writeTextFileSync(path, chromeTrace(this.#recorded));
  }

  /** The table of `keyAverages()`. */
  toString(): string {
    return this.#saved ? this.keyAverages().table() : "Profile that has recorded nothing so far";
  }
}

showAsText(Profile.prototype);

/**
 * Runs a program and records ops, compiled functions and graphs, kernels with their times, bytes and operations,
 * compilation, and memory. If the program returns a promise, this returns a promise of the profile. Errors of the
 * program are rethrown. GPU kernels run one at a time if the runtime can wait for them; otherwise they are not timed.
 * Throws DynError inside another profile.
 *
 * ```ts
 * import { profile, randn } from "jsr:@x/dyn";
 * const x = randn([64, 64]);
 * const prof = profile(() => x.matmul(x).relu());
 * console.log(prof.keyAverages().table({ sortBy: "selfCpuTimeTotal", rowLimit: 10 }));
 * ```
 */
export function profile(
  program: (profile: Profile) => Promise<unknown>,
  options?: ProfileOptions,
): Promise<Profile>;
/** The same for a synchronous program. */
export function profile(program: (profile: Profile) => unknown, options?: ProfileOptions): Profile;
export function profile(
  program: (profile: Profile) => unknown,
  options: ProfileOptions = {},
): Profile | Promise<Profile> {
  if (arguments.length > 2) refuseSurplus("profile", 2, arguments);
  checkFunction(program, "to profile");
  const made = new Profile(options);
  made.begin();
  let result: unknown;
  try {
    result = program(made);
  } catch (thrown) {
    made.finish();
    throw thrown;
  }
  if (!types.isPromise(result)) {
    made.finish();
    return made;
  }
  return result.finally(() => made.finish()).then(() => made);
}

/**
 * Runs `body` as a named span in profiles, until it settles if it returns a promise; returns its result. Compiled
 * functions omit the span.
 */
export function recordFunction<T>(name: string, body: () => T): T {
  if (arguments.length > 2) refuseSurplus("recordFunction", 2, arguments);
  checkFunction(body, "to run");
  return observed.by === null ? body() : observed.by.span("user", name, body);
}

markFunction(recordFunction, { kind: "substituted", by: <T>(_name: string, body: () => T): T => body() });
