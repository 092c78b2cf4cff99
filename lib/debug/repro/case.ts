/**
 * A failing compilation in isolation: a graph, a call of it, its compiler, and the failure. Invariant: trying a case
 * leaves no trace in the program: arguments are copied, settings and the random generator are restored.
 */
import { roleOf } from "../../graph/signature.ts";
import { functionalCompilerOf } from "../../aot/backend.ts";
import { lookupBackend } from "../../graph/backends.ts";
import { config, InductorConfig, type InductorPatch } from "../../base/config.ts";
import { messageOf } from "../../base/errors.ts";
import type { CompiledFunction } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { GraphCompiler } from "../../graph/interpose.ts";
import { ambient, setGradEnabled } from "../../tensor/modes.ts";
import { defaultGenerator, type GeneratorState } from "../../tensor/random.ts";
import { caseOf, runTrial, type Trial } from "../check/trial.ts";
import { check, type Finding } from "../check/verdict.ts";

/** The graphs that a tool examines: captured ones, or the functional ones derived from them. */
export type Stage = "dynamo" | "aot";

/** The failure of a case. */
export type Fault =
  /** Compiling it, or running the compiled graph, throws. */
  | { readonly kind: "error"; readonly name: string; readonly message: string }
  /** Not determined yet: any failure. */
  | { readonly kind: "unknown" }
  /** The compiled graph's effects differ from those of its ops run one by one. */
  | {
    readonly kind: "accuracy";
    readonly part: Finding["part"];
    readonly what: Finding["kind"];
    readonly text: string;
  };

/** State that a case depends on besides the graph. */
export interface AmbientState {
  readonly gradEnabled: boolean;
  readonly generator: GeneratorState;
  /** Settings of the code generator that differ from the defaults. */
  readonly settings: InductorPatch;
}

/** A failing compilation. */
export interface ReproCase {
  readonly stage: Stage;
  /** The name of the backend that compiles it. */
  readonly backend: string;
  readonly gm: GraphModule;
  readonly args: readonly unknown[];
  readonly ambientState: AmbientState;
}

/** Returns the compiler of graphs at a stage. */
export function compilerOf(
  { stage, backend, gm }: Pick<ReproCase, "stage" | "backend" | "gm">,
): GraphCompiler {
  const found = lookupBackend(backend);
  const plain: CompiledFunction = (...args) => gm.forward(...args);
  if (stage === "dynamo") return (each, args) => found(each, args) ?? plain;
  return functionalCompilerOf(found, roleOf(gm)) ?? (() => plain);
}

/** The current ambient state. */
export function currentAmbientState(): AmbientState {
  const standard = new InductorConfig();
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(config.inductor)) {
    if (typeof value !== "object" && value !== Reflect.get(standard, name)) settings[name] = value;
  }
  return { gradEnabled: ambient.gradEnabled, generator: defaultGenerator.state, settings };
}

/** Runs `body` in an ambient state. */
export function withAmbientState<R>({ gradEnabled, generator, settings }: AmbientState, body: () => R): R {
  const former = defaultGenerator.state;
  defaultGenerator.state = generator;
  try {
    return config.patch({ inductor: settings }, () => setGradEnabled(gradEnabled, body));
  } finally {
    defaultGenerator.state = former;
  }
}

/** Returns the failure of a case, or null. With `compare`, results that differ from the graph's are failures too. */
export function faultOf(
  { gm, args, ambientState }: Pick<ReproCase, "gm" | "args" | "ambientState">,
  compile: GraphCompiler,
  { compare }: { readonly compare: boolean },
): Fault | null {
  return withAmbientState(ambientState, () => {
    const of = caseOf(gm, args);
    const isOwn = () => failsUncompiled({ gm, args });
    let compiled: CompiledFunction;
    try {
      compiled = compile(gm, args);
    } catch (error) {
      return isOwn() ? null : errorFault(error);
    }
    if (compare) {
      const finding = check({ compiled, gm }, args);
      return finding && accuracyFault(finding);
    }
    const failure = failureOf(runTrial(compiled, of));
    return failure === null || isOwn() ? null : errorFault(failure.error);
  });
}

/** Returns whether a graph also throws op by op: in that case the program is wrong. */
export function failsUncompiled({ gm, args }: Pick<ReproCase, "gm" | "args">): boolean {
  return failureOf(runTrial((...given) => gm.forward(...given), caseOf(gm, args))) !== null;
}

/** Returns the error of a trial, in either pass. */
function failureOf(trial: Trial): { readonly error: unknown } | null {
  if (trial.kind === "threw") return trial;
  return trial.backwardError === null ? null : { error: trial.backwardError };
}

/** A difference as a fault. */
export function accuracyFault({ part, kind, text }: Finding): Fault {
  return { kind: "accuracy", part, what: kind, text };
}

/** An error as a fault. */
export function errorFault(error: unknown): Fault {
  const name = error instanceof Error ? error.name : typeof error;
  return { kind: "error", name, message: messageOf(error) };
}

/** Returns whether two failures are of the same kind; numbers and names in messages may differ. */
export function isSameFault(a: Fault, b: Fault): boolean {
  if (a.kind === "unknown" || b.kind === "unknown") return true;
  if (a.kind === "error") {
    return b.kind === "error" && a.name === b.name && outline(a.message) === outline(b.message);
  }
  return b.kind === "accuracy" && a.part === b.part && a.what === b.what;
}

/** A message without the parts that vary between graphs: numbers, and names that end in them. */
function outline(message: string): string {
  return (message.split("\n").find((line) => line.trim() !== "") ?? "").replace(/\w*\d[\w.]*/g, "#");
}

/** A description of a fault in a line or two. */
export function faultText(fault: Fault): string {
  if (fault.kind === "unknown") return "not tried yet";
  return fault.kind === "error" ? `${fault.name}: ${fault.message}` : fault.text;
}
