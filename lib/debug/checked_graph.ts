/**
 * Compiled graphs that check themselves: some calls also run op by op, and the results are compared.
 *
 * Invariants: the graph runs twice on copies of its arguments and with the same random numbers, so that effects of
 * the program happen once; a call that differs keeps the values and state of the uncompiled run; a graph found wrong
 * is reported once and runs op by op from then on.
 */
import { bisection } from "../base/bisect.ts";
import { config } from "../base/config.ts";
import { isUndone, messageOf, noteUndone } from "../base/errors.ts";
import { counters, logs } from "../base/logs.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { copyGraph } from "../graph/copy.ts";
import { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import type { Graph } from "../graph/node.ts";
import { placeOfNode, userPosition } from "../graph/place.ts";
import { defaultGenerator } from "../tensor/random.ts";
import { modes } from "../tensor/tensor.ts";
import { type Culprit, locate } from "./check/locate.ts";
import { check, type Finding } from "./check/verdict.ts";
import { reportFault } from "./fault_report.ts";
import { accuracyFault, type AmbientState, type Stage, withAmbientState } from "./repro/case.ts";

/** The parts of a checked graph. */
interface CheckedParts {
  readonly compiled: CompiledFunction;
  /** The graph before any backend changed it. */
  readonly reference: GraphModule;
  /** The graph that it is a copy of. */
  readonly original: Graph;
  /** Compiles parts of the graph, in the same way. */
  readonly compile: GraphCompiler;
  /** Returns whether a call is checked, by its number from 0. */
  readonly isChecked: (call: number) => boolean;
  /** The tool that checks, by the name of its log artifact. */
  readonly tool: "shadow" | "repro";
  readonly stage: Stage;
  readonly backendName: string;
  /** The name of the graph's function. */
  readonly title: string;
  /** Settings under which it was compiled. */
  readonly ambientState: AmbientState;
  /** Whether the repro is made smaller. */
  readonly minified: boolean;
}

/** Returns a copy of a graph that is never changed. */
export function snapshotOf(gm: GraphModule): GraphModule {
  return new GraphModule(copyGraph(gm.graph), gm.attributes, gm.runner, gm.signature);
}

/** Returns whether a graph calls functions of the program, which must not run twice. */
export function callsProgram({ attributes }: GraphModule): boolean {
  return Object.values(attributes).some((value) => typeof value === "function");
}

/** One compiled graph. */
export class CheckedGraph {
  readonly #parts: CheckedParts;
  #calls = 0;
  #isWrong = false;

  constructor(parts: CheckedParts) {
    this.#parts = parts;
  }

  /** Runs a call. */
  readonly run: CompiledFunction = (...args) => {
    const { compiled, isChecked } = this.#parts;
    if (!this.#isWrong && isChecked(this.#calls++)) this.#check(args);
    return this.#isWrong ? this.#runPlainly(args) : compiled(...args);
  };

  /** An error of a call that has written nothing comes from the captured graph, not from its copy. */
  #runPlainly(args: readonly unknown[]): unknown {
    const { reference, original } = this.#parts;
    try {
      return reference.forward(...args);
    } catch (error) {
      throw isUndone(error, reference.graph) ? noteUndone(error, original) : error;
    }
  }

  #check(args: readonly unknown[]): void {
    const { compiled, reference, tool, title } = this.#parts;
    try {
      counters.add(tool, "checked");
      const finding = modes.without(() => check({ compiled, gm: reference }, args));
      // Tools must not check the parts that are compiled during the search
      const quiet = { shadow: 0, reproAfter: "" };
      if (finding) modes.without(() => config.patch(quiet, () => this.#report(finding, args)));
    } catch (error) {
      logs.emit(tool, `A graph of ${title} could not be checked: ${messageOf(error)}`, "warning");
    }
  }

  /**
   * The settings under which the graph is wrong if it is compiled now. A first call runs as WebAssembly, and later ones
   * perhaps as native code, which then has the fault alone.
   */
  #failingState(compile: GraphCompiler, args: readonly unknown[]): AmbientState {
    const { ambientState: { settings, ...state }, reference } = this.#parts;
    const generator = defaultGenerator.state, usual = { ...state, generator, settings };
    if (this.#calls === 1 || config.inductor.tier !== "background") return usual;
    const native = { ...usual, settings: { ...settings, tier: "wait" as const } };
    const isWrong = (tried: AmbientState): boolean =>
      withAmbientState(tried, () => check({ compiled: compile(reference, args), gm: reference }, args)) !==
        null;
    return !isWrong(usual) && isWrong(native) ? native : usual;
  }

  #report(finding: Finding, args: readonly unknown[]): void {
    this.#isWrong = true;
    const { tool, stage, title, compile, reference, backendName, minified } = this.#parts;
    counters.add(tool, "differences");
    bisection.noteDifference(`${title}: ${finding.text}`);
    if (bisection.active) return;
    const compiler: GraphCompiler = (gm, given) => compile(snapshotOf(gm), given);
    const ambientState = this.#failingState(compiler, args);
    const culprit = withAmbientState(
      ambientState,
      () => locate({ gm: reference, finding, compile: compiler }, args),
    );
    const where = culpritLines(culprit, finding);
    const gm = culprit?.part ?? reference;
    const repro = reportFault({
      found: { stage, backend: backendName, gm, args, ambientState },
      fault: accuracyFault(finding),
      title,
      notes: where,
      minified,
    }, compiler);
    const graph = stage === "dynamo" ? "graph" : `${reference.signature?.role ?? "functional"} graph`;
    logs.emit(
      tool,
      [
        `A compiled ${graph} of ${title} gives a wrong answer; it runs uncompiled from now on`,
        `  ${finding.text}`,
        ...where,
        ...repro.map((line) => `  ${line}`),
      ].join("\n"),
      "error",
    );
  }
}

/** Describes where the difference begins. */
function culpritLines(culprit: Culprit | null, { part }: Finding): string[] {
  if (!culprit) return ["  no part of the graph is wrong by itself"];
  const position = userPosition(culprit.node);
  const what = part === "backward" ? "op with a wrong gradient" : "wrong op";
  return [`  first ${what}: ${placeOfNode(culprit.node)}`, ...position ? [`      ${position.code}`] : []];
}
