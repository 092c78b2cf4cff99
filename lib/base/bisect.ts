/**
 * Switches by which `dyn bisect` finds the part of the compiler that makes a program fail, as `TORCH_BISECT_*`.
 *
 * Input: `DYN_BISECT`, which the tool sets for the processes that it starts: JSON with a backend to use, parts to
 * leave out, and a limit on how often one part is applied. Output: at each place where a part is about to be
 * applied, whether it may be. Invariant: without `DYN_BISECT` everything may be applied and nothing is counted; in
 * a program that does the same in every run, the same count means the same place.
 */
import { DynError, messageOf } from "./errors.ts";

/** The parts, each with what one application of it is. */
export const BISECT_PARTS = {
  frames: "compiling a function, or the rest of one after a graph break",
  graphs: "compiling a captured graph with the backend",
  joint_passes: "a pass over a joint graph",
  joint_rules: "a rewrite rule applied to a joint graph",
  graph_passes: "a pass over a functional graph",
  graph_rules: "a rewrite rule applied to a functional graph",
  fusion: "fusing two loops",
  ops: "compiling an op rather than running it by itself",
} as const;

/** The name of a part. */
export type BisectPart = keyof typeof BISECT_PARTS;

/** What a process is told. */
export interface BisectPlan {
  /** Used whatever the program names. */
  readonly backend?: string;
  /** Parts that are never applied. */
  readonly off?: readonly BisectPart[];
  /** The part that is applied `max` times only. */
  readonly part?: BisectPart;
  readonly max?: number;
  /** Where the process writes what it counted. */
  readonly report: string;
}

/** What a process tells. */
export interface BisectReport {
  /** How often the part was asked for. */
  readonly count: number;
  /** What application number `max` was. */
  readonly last: string;
  /** Wrong answers that shadow mode found. */
  readonly differences: readonly string[];
}

/** The switches of this process. */
export class Bisection {
  readonly #plan: BisectPlan | null;
  #report: BisectReport = { count: 0, last: "", differences: [] };

  constructor(text: string | undefined) {
    this.#plan = text ? parsePlan(text) : null;
  }

  /** Whether a bisection is going on. */
  get active(): boolean {
    return this.#plan !== null;
  }

  /** The backend to use in place of the program's. */
  get backend(): string | undefined {
    return this.#plan?.backend;
  }

  /** How many applications of a part are allowed from here on; Infinity for all. */
  remaining(part: BisectPart): number {
    const plan = this.#plan;
    if (plan === null) return Infinity;
    if (plan.off?.includes(part)) return 0;
    return plan.part === part ? Math.max(0, (plan.max ?? Infinity) - this.#report.count) : Infinity;
  }

  /** Whether a part may be applied here; counts it. `about` says in a line what and where. */
  allows(part: BisectPart, about: () => string): boolean {
    const plan = this.#plan;
    if (plan === null) return true;
    const isAllowed = this.remaining(part) > 0;
    if (plan.part === part) {
      const count = this.#report.count + 1;
      const last = count === plan.max ? about() : this.#report.last;
      this.#tell({ ...this.#report, count, last });
    }
    return isAllowed;
  }

  /** Notes a wrong answer. */
  noteDifference(text: string): void {
    this.#tell({ ...this.#report, differences: [...this.#report.differences, text] });
  }

  /** Written at each change, for the process may end in any way. */
  #tell(report: BisectReport): void {
    this.#report = report;
    if (this.#plan) Deno.writeTextFileSync(this.#plan.report, JSON.stringify(report));
  }
}

function parsePlan(text: string): BisectPlan {
  try {
    const plan: BisectPlan = JSON.parse(text);
    if (typeof plan.report !== "string") throw new DynError("Expected a file for the report");
    return plan;
  } catch (cause) {
    throw new DynError(`Expected DYN_BISECT as dyn bisect sets it but found ${text}: ${messageOf(cause)}`);
  }
}

/** The switches of this process. */
export const bisection: Bisection = new Bisection(Deno.env.get("DYN_BISECT"));
