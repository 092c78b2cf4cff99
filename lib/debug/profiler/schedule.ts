/**
 * Which steps a profile records, as `torch.profiler.schedule`. Input: numbers of steps; output: a function from a
 * step's number to what is done in it. Invariant: the last step of each cycle saves.
 */
import { checkOptions } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";

/** What is done in a step: nothing; what is collected is thrown away; it is kept; it is kept and handed over. */
export type ProfilerAction = "none" | "warmup" | "record" | "recordAndSave";

/** What is done in step number `step`, from 0. */
export type Schedule = (step: number) => ProfilerAction;

/** Options of `schedule`, in steps. */
export interface ScheduleOptions {
  /** Not watched, at the beginning of each cycle; 0 unless given. */
  readonly wait?: number;
  /** Watched and thrown away: what only first calls take; 0 unless given. */
  readonly warmup?: number;
  /** Recorded. */
  readonly active: number;
  /** How many cycles there are; 0, unless given: as many as there are steps. */
  readonly repeat?: number;
  /** Not watched, once, before the first cycle; 0 unless given. */
  readonly skipFirst?: number;
}

const NUMBER = ["number"] as const;

/** A schedule of cycles. Throws DynError for numbers that are none of steps, or `active` below 1. */
export function schedule(options: ScheduleOptions): Schedule {
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
