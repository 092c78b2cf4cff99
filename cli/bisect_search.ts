/**
 * The search of `dyn bisect`: which stage, which part of it, and which application of that part makes a program fail.
 * Programs run under a plan (lib/base/bisect.ts). Invariant: a failure of another kind than the first does not count;
 * the program passes without the reported part.
 */
import {
  BISECT_PARTS,
  type BisectPart,
  type BisectPlan,
  type BisectReport,
  isLoopPart,
  LOOP_PARTS,
} from "../lib/base/bisect.ts";

/** The differences from a plain run. */
export interface RunPlan extends Omit<BisectPlan, "report"> {
  /** Whether compilation is switched off. */
  readonly isDisabled?: boolean;
  /** Whether compiled graphs are compared with their ops run one by one. */
  readonly isCompared?: boolean;
  /** Whether graphs are native code from their first calls on, rather than WebAssembly until the compiler is done. */
  readonly isNative?: boolean;
  /** Whether a graph that runs uncompiled through a fault of dyn is an error. */
  readonly isStrict?: boolean;
}

/** Ways to make a fault of a program that succeeds show. */
const WAYS: readonly (readonly [Pick<RunPlan, "isCompared" | "isNative" | "isStrict">, string])[] = [
  [{ isCompared: true }, "The program succeeds; comparing every compiled graph with its ops one by one"],
  [{ isCompared: true, isNative: true }, "No difference; comparing native code from the first calls on"],
  [{ isStrict: true }, "No difference; taking graphs that run uncompiled through a fault for failures"],
];

/** The result of a run. */
export interface RunResult {
  /** The reason why it failed, in one line; empty if it succeeded. */
  readonly failure: string;
  readonly report: BisectReport;
}

/** The functions that a search needs. */
export interface SearchTools {
  readonly run: (plan: RunPlan) => Promise<RunResult>;
  readonly say: (line: string) => void;
}

/** The stages, in the order in which a graph passes them. */
type Stage = "eager" | "aot_eager" | "other";

/** Parts of each stage that can be left out. */
const PARTS_OF: Readonly<Record<Stage, readonly BisectPart[]>> = {
  eager: ["frames"],
  aot_eager: ["joint_passes", "joint_rules"],
  other: ["fusion", "graph_rules", "graph_passes", "joint_rules", "joint_passes"],
};

/** Searches; returns true if a fault of compilation was found. */
export async function bisect(tools: SearchTools): Promise<boolean> {
  return await new Search(tools).run();
}

class Search {
  readonly #tools: SearchTools;
  /** How the program runs so that its fault shows. */
  #way: typeof WAYS[number][0] = {};
  #failure = "";
  #runs = 0;

  constructor(tools: SearchTools) {
    this.#tools = tools;
  }

  async run(): Promise<boolean> {
    const first = await this.#try({});
    this.#failure = first.failure;
    for (const [way, title] of WAYS) {
      if (this.#failure !== "") break;
      this.#say(title);
      this.#way = way;
      this.#failure = (await this.#try({})).failure;
    }
    if (this.#failure === "") {
      this.#say("Nothing fails: the exit code is 0, and no compiled graph gives a wrong answer");
      return false;
    }
    this.#say(`Fails: ${this.#failure}`);
    const stage = await this.#stage();
    if (stage === null) return false;
    const part = await this.#partOf(stage);
    if (part !== null && isLoopPart(part)) this.#say(`→ ${part} (${BISECT_PARTS[part]})`);
    else if (part !== null) await this.#place(stage, part);
    if (stage !== "eager") await this.#place(stage, "graphs");
    // If it can be disabled, a fault of an op may merely be hidden.
    const namesOp = part === "graph_rules" || part === "joint_rules" || part === "fusion";
    if (stage === "other" && !namesOp) await this.#place(stage, "ops");
    this.#say(`(${this.#runs} runs)`);
    return true;
  }

  /** The first stage that fails; null if the program fails uncompiled. */
  async #stage(): Promise<Stage | null> {
    // Captured graphs are compared with themselves, run op by op, which is what "eager" does.
    if (!this.#way.isCompared) {
      if (await this.#fails("uncompiled", { isDisabled: true })) {
        this.#say("The program fails uncompiled, too: compilation is not the cause");
        return null;
      }
      if (await this.#fails("captured, then run op by op (eager)", { backend: "eager" })) {
        const { failure } = await this.#try({ backend: "crossref" });
        if (failure !== "" && !this.#isSame(failure)) this.#say(`  the captured graph is wrong: ${failure}`);
        return "eager";
      }
    }
    const title = "differentiated ahead of time, then run op by op (aot_eager)";
    if (await this.#fails(title, { backend: "aot_eager" })) return "aot_eager";
    this.#say("compiled by the program's own backend: fails");
    return "other";
  }

  /** The part without which a stage does not fail; null if any single one may be left out. */
  async #partOf(stage: Stage): Promise<BisectPart | null> {
    // What runs last comes first: without fusion these passes find less to do
    const isInLoops = stage === "other" &&
      !await this.#fails("  without passes over loops", { off: LOOP_PARTS });
    for (const part of [...isInLoops ? LOOP_PARTS : [], ...PARTS_OF[stage]]) {
      // Without any compiled function nothing can fail.
      if (part === "frames") return part;
      if (!await this.#fails(`  without ${part}`, { ...backendOf(stage), off: [part] })) return part;
    }
    return null;
  }

  /** Finds the application of a part at which failing begins, by bisection. */
  async #place(stage: Stage, part: BisectPart): Promise<void> {
    const upTo = async (max: number) => await this.#try({ ...backendOf(stage), part, max });
    const whole = await upTo(Number.MAX_SAFE_INTEGER);
    const { count } = whole.report;
    if (!this.#isSame(whole.failure) || count === 0) return;
    if (this.#isSame((await upTo(0)).failure)) {
      this.#say(`${part}: fails without any of the ${count}, too`);
      return;
    }
    let passing = 0, failing = count;
    while (failing - passing > 1) {
      const middle = passing + failing >> 1;
      if (this.#isSame((await upTo(middle)).failure)) failing = middle;
      else passing = middle;
    }
    const { report } = await upTo(failing);
    this.#say(`→ ${part} (${BISECT_PARTS[part]}), number ${failing} of ${count}: ${report.last}`);
  }

  async #fails(title: string, plan: RunPlan): Promise<boolean> {
    const { failure } = await this.#try(plan);
    const fails = this.#isSame(failure);
    const otherwise = !fails && failure !== "" ? `, but fails in another way: ${failure}` : "";
    this.#say(`${title}: ${fails ? "fails" : `passes${otherwise}`}`);
    return fails;
  }

  async #try(plan: RunPlan): Promise<RunResult> {
    this.#runs++;
    return await this.#tools.run({ ...plan, ...this.#way });
  }

  /** Returns whether a failure is the one searched for. Wrong answers may show in different places. */
  #isSame(failure: string): boolean {
    return failure !== "" && (this.#way.isCompared || outline(failure) === outline(this.#failure));
  }

  #say(line: string): void {
    this.#tools.say(line);
  }
}

const backendOf = (stage: Stage): { readonly backend?: string } =>
  stage === "other" ? {} : { backend: stage };

/** A failure without numbers, which may differ from run to run. */
function outline(failure: string): string {
  return failure.replace(/[\d.e+-]*\d/g, "#");
}
