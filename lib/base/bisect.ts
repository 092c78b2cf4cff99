/**
 * Switches by which `dyn bisect` finds the part of the compiler that makes a program fail, like `TORCH_BISECT_*`.
 *
 * `DYN_BISECT`, which the tool sets for the processes that it starts, is JSON with a backend to use, parts to leave
 * out, and a limit on the number of applications of one part. Each part asks here before it is applied. Invariant:
 * without `DYN_BISECT` everything may be applied and nothing is counted; in a program that does the same in every
 * run, the same count means the same place.
 */
import { DynError, messageOf } from "./errors.ts";
import { environmentVariable } from "./permissions.ts";

/** The description of a pass over loops that kernels can do without. */
const LOOP_PASS = "a pass over loops";

/** The parts, each with a description of one application. */
export const BISECT_PARTS = {
  frames: "compiling a function, or the rest of one after a graph break",
  graphs: "compiling a captured graph with the backend",
  joint_passes: "a pass over a joint graph",
  joint_rules: "a rewrite rule applied to a joint graph",
  graph_passes: "a pass over a functional graph",
  graph_rules: "a rewrite rule applied to a functional graph",
  fusion: "fusing two loops",
  ops: "compiling an op rather than running it by itself",
  loop_fission: LOOP_PASS,
  outermost_splitting: LOOP_PASS,
  index_set_splitting: LOOP_PASS,
  blocked_sums: LOOP_PASS,
  vectorise: LOOP_PASS,
  unroll: LOOP_PASS,
  chunked_reductions: LOOP_PASS,
  row_blocks: LOOP_PASS,
} as const;

/** The name of a part. */
export type BisectPart = keyof typeof BISECT_PARTS;

/** The name of a pass over loops that kernels can do without. */
type LoopPart = {
  [K in BisectPart]: typeof BISECT_PARTS[K] extends typeof LOOP_PASS ? K : never;
}[BisectPart];

const descriptions = new Map<string, string>(Object.entries(BISECT_PARTS));

/** Returns whether a name is that of such a pass. */
export const isLoopPart = (name: string): name is LoopPart => descriptions.get(name) === LOOP_PASS;

/** Those passes. Their applications are not numbered: kernels are also compiled in the background. */
export const LOOP_PARTS: readonly LoopPart[] = Object.keys(BISECT_PARTS).filter(isLoopPart);

/** The instructions to a process. */
export interface BisectPlan {
  /** Overrides the backend that the program names. */
  readonly backend?: string;
  /** Parts that are never applied. */
  readonly off?: readonly BisectPart[];
  /** The part that is applied only `max` times. */
  readonly part?: BisectPart;
  readonly max?: number;
  /** File to which the process writes its counts. */
  readonly report: string;
}

/** The report of a process. */
export interface BisectReport {
  /** Number of requests to apply the part. */
  readonly count: number;
  /** Description of application number `max`. */
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

  /** Returns whether a bisection is in progress. */
  get active(): boolean {
    return this.#plan !== null;
  }

  /** The backend to use in place of the program's. */
  get backend(): string | undefined {
    return this.#plan?.backend;
  }

  /** Returns the number of applications of a part that are still allowed; Infinity for all. */
  remaining(part: BisectPart): number {
    const plan = this.#plan;
    if (plan === null) return Infinity;
    if (plan.off?.includes(part)) return 0;
    return plan.part === part ? Math.max(0, (plan.max ?? Infinity) - this.#report.count) : Infinity;
  }

  /**
   * Returns whether a part may be applied here, and counts the application. `about` describes it and its place in one
   * line.
   */
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

  /** Records a wrong answer. */
  noteDifference(text: string): void {
    this.#tell({ ...this.#report, differences: [...this.#report.differences, text] });
  }

  /** Written after each change, because the process may end at any time. */
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
export const bisection: Bisection = new Bisection(environmentVariable("DYN_BISECT"));
