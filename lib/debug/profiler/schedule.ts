/**
 * Schedules of a profile, like `torch.profiler.schedule`: functions from a step's number to the action in that step.
 * Invariant: the last step of each cycle saves.
 */
import { checkOptions, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";

/** The action of a step: none; record and discard; record; record and save. */
export type ProfilerAction = "none" | "warmup" | "record" | "recordAndSave";

/** Returns the action of a step, counting from 0. */
export type Schedule = (step: number) => ProfilerAction;

/** Options of `schedule`, in steps. */
export interface ScheduleOptions {
  /** Number of unrecorded steps at the beginning of each cycle; default 0. */
  readonly wait?: number;
  /** Number of steps that are recorded and discarded, for the costs of first calls; default 0. */
  readonly warmup?: number;
  /** Number of recorded steps. */
  readonly active: number;
  /** Number of cycles; default 0: until the program ends. */
  readonly repeat?: number;
  /** Number of unrecorded steps before the first cycle; default 0. */
  readonly skipFirst?: number;
}

const NUMBER = ["number"] as const;

/** Creates a schedule of cycles. Throws DynError for negative or fractional numbers, or `active` below 1. */
export function schedule(options: ScheduleOptions): Schedule {
  if (arguments.length > 1) refuseSurplus("schedule", 1, arguments);
  checkOptions("schedule", {
    wait: NUMBER,
    warmup: NUMBER,
    active: NUMBER,
    repeat: NUMBER,
    skipFirst: NUMBER,
  }, options);
  const { wait = 0, warmup = 0, active, repeat = 0, skipFirst = 0 } = options;
  for (const [name, value] of Object.entries({ wait, warmup, active, repeat, skipFirst })) {
    const least = name === "active" ? 1 : 0;
    if (Number.isInteger(value) && value >= least) continue;
    throw new DynError(`Expected ${name} to be a number of steps, at least ${least}, but found ${value}`);
  }
  const cycle = wait + warmup + active;
  return (step) => {
    const at = step - skipFirst;
    if (at < 0 || (repeat > 0 && at >= repeat * cycle)) return "none";
    const place = at % cycle;
    if (place < wait) return "none";
    if (place < wait + warmup) return "warmup";
    return place < cycle - 1 ? "record" : "recordAndSave";
  };
}
