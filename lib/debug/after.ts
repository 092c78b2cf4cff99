/**
 * Repros of failures in compilation: DYN_REPRO_AFTER, DYN_REPRO_LEVEL and DYN_REPRO_DIR, like TORCHDYNAMO_REPRO_AFTER
 * and so on. Compilers are wrapped so that they write repros of the graphs they receive.
 *
 * AFTER selects the graphs: "dynamo", captured graphs on their way to the backend; "aot", functional forward and
 * backward graphs on their way to its compiler. LEVEL determines when repros are written, and how small:
 * 1. if compiling or running a graph throws although its ops run uncompiled do not, the graph is written and the error
 *    rethrown;
 * 2. as 1, with the graph minified to one that still fails in the same way;
 * 3. every graph is written before it is compiled, or, if elements of its inputs are not known then, before its first
 *    call: for failures that end the process;
 * 4. as 2, and the first call of every graph is compared with its ops run one by one: a wrong answer is reported,
 *    minified and written, and the program continues with the right one.
 *
 * Invariant: the program computes the same as without repros, or as uncompiled.
 */
import { currentTitle } from "../base/compile_times.ts";
import { checkOneOf } from "../base/checked_input.ts";
import { config } from "../base/config.ts";
import { DynError, messageOf, Unsupported } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler, Interposer } from "../graph/interpose.ts";
import { isTensor, modes } from "../tensor/tensor.ts";
import { callsProgram, CheckedGraph, snapshotOf } from "./checked_graph.ts";
import { reportFault, writeCase } from "./fault_report.ts";
import {
  currentAmbientState,
  errorFault,
  failsUncompiled,
  type Fault,
  type ReproCase,
  type Stage,
} from "./repro/case.ts";

const STAGES: readonly string[] = ["dynamo", "aot"];

/** Validates the settings. Throws DynError. */
function wanted(): { readonly after: string; readonly level: number } {
  const { reproAfter: after, reproLevel: level } = config;
  if (after !== "") checkOneOf("config.reproAfter", after, STAGES);
  if (![1, 2, 3, 4].includes(level)) {
    throw new DynError(`Expected config.reproLevel in [1, 4] but found ${level}`);
  }
  return { after, level };
}

/** The backend whose graph is being compiled. */
let backendInUse = "custom";

/** Wraps compilers such that they write repros. */
export const reproInterposer: Interposer = {
  captured: (backend, backendName) => (gm, examples) => {
    const former = backendInUse;
    backendInUse = backendName;
    try {
      if (wanted().after !== "dynamo" || callsProgram(gm)) return backend(gm, examples);
      const plain: CompiledFunction = (...args) => gm.forward(...args);
      const compile: GraphCompiler = (each, given) => backend(each, given) ?? plain;
      return watched(compile, "dynamo")(gm, examples);
    } finally {
      backendInUse = former;
    }
  },
  functional: (compiler) => (gm, examples) =>
    (wanted().after === "aot" ? watched(compiler, "aot") : compiler)(gm, examples),
};

/** A compiler that writes repros. */
function watched(compiler: GraphCompiler, stage: Stage): GraphCompiler {
  return (gm, examples) => {
    const { level } = wanted();
    const about: About = {
      stage,
      level,
      compiler,
      backendName: backendInUse,
      title: currentTitle(),
      // The tape is outside of functional graphs, whose inputs may require gradients
      ambientState: stage === "aot"
        ? { ...currentAmbientState(), gradEnabled: false }
        : currentAmbientState(),
      reference: snapshotOf(gm),
    };
    const isWritten = level === 3 && writeFirst(about, examples);
    let compiled: CompiledFunction;
    try {
      compiled = compiler(gm, examples);
    } catch (error) {
      if (level !== 3) onError(error, about, examples);
      throw error;
    }
    if (level === 3) return isWritten ? compiled : writing(compiled, about);
    const run = reporting(compiled, about);
    if (level !== 4) return run;
    const { reference, title, ambientState, backendName } = about;
    return new CheckedGraph({
      compiled: run,
      reference,
      original: gm.graph,
      compile: compiler,
      isChecked: (call) => call === 0,
      tool: "repro",
      stage,
      backendName,
      title,
      ambientState,
      minified: true,
    }).run;
  };
}

interface About extends Pick<ReproCase, "stage" | "ambientState"> {
  readonly level: number;
  readonly compiler: GraphCompiler;
  readonly backendName: string;
  readonly title: string;
  readonly reference: GraphModule;
}

const caseOfCall = (
  { stage, ambientState, backendName, reference }: About,
  args: readonly unknown[],
): ReproCase => ({
  stage,
  ambientState,
  backend: backendName,
  gm: reference,
  args,
});

/** Reports an error of a compilation or a compiled graph, unless the program itself caused it. */
function onError(error: unknown, about: About, args: readonly unknown[]): void {
  if (error instanceof Unsupported || !args.every(hasElements)) return;
  const { title, level, compiler } = about;
  modes.without(() => {
    const found = caseOfCall(about, args);
    if (failsUncompiled(found)) return;
    const fault: Fault = errorFault(error);
    const lines = reportFault({ found, fault, title, minified: level !== 1 }, compiler);
    const text = [`A graph of ${title} fails: ${messageOf(error)}`, ...lines.map((line) => `  ${line}`)].join(
      "\n",
    );
    logs.emit("repro", text, "error");
  });
}

/** A compiled graph whose first error is reported. */
function reporting(compiled: CompiledFunction, about: About): CompiledFunction {
  let isReported = false;
  return (...args) => {
    try {
      return compiled(...args);
    } catch (error) {
      if (!isReported) {
        isReported = true;
        onError(error, about, args);
      }
      throw error;
    }
  };
}

/** Writes a graph before it is compiled; returns false if elements of its inputs are not known yet. */
function writeFirst(about: About, examples: readonly unknown[]): boolean {
  if (!examples.every(hasElements)) return false;
  const path = modes.without(() => writeCase(caseOfCall(about, examples), { kind: "unknown" }, about.title));
  logs.emit("repro", `A graph of ${about.title} is about to be compiled: ${path}`, "warning");
  return true;
}

/** A compiled graph that is written before its first call. */
function writing(compiled: CompiledFunction, about: About): CompiledFunction {
  let isWritten = false;
  return (...args) => {
    isWritten ||= writeFirst(about, args);
    return compiled(...args);
  };
}

const hasElements = (value: unknown): boolean =>
  !isTensor(value) || value.storage.filled || value.numel() === 0;
