/**
 * Compiles the graph of a trace to a function over its inputs. Invariant: it runs in the gradient mode of the trace, on
 * dyn's own builtins.
 */
import { apply, preferringOwnBuiltins, withRuntimeBuiltins } from "../../base/own_builtins.ts";
import { DynError, noteUndone, OperandRefused, Unsupported } from "../../base/errors.ts";
import { isFallbackRefused } from "../../base/fallback.ts";
import { counters, logs } from "../../base/logs.ts";
import { oneLine } from "../../base/console_text.ts";
import { recording } from "../../base/recording.ts";
import { capturedModule, rewritable } from "../../graph/captured_module.ts";
import type { LaterReads } from "../guards/guard.ts";
import { withUnchanged } from "../guards/unchanged.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { Node } from "../../graph/node.ts";
import { symbolsOf } from "../../graph/sizes.ts";
import { hintOf, isUnbacked } from "../../sym/decide.ts";
import { resultsFault } from "../../tensor/backend_results.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { ambient, enableGrad } from "../../tensor/modes.ts";
import { modes } from "../../tensor/tensor.ts";
import { nextGraphName } from "./program.ts";
import { scalar } from "../scalars.ts";
import { SymbolicLimit } from "../trace/restart.ts";
import { backendFailure, type Unit } from "./unit.ts";
import type { OutputGraph } from "../trace/output_graph.ts";

/** A graph as called by modified functions. */
export interface CapturedGraph {
  /** The name under which it is called. */
  readonly name: string;
  readonly run: unknown;
  /** Whether nothing refers to its results once it has returned them: a backend of the program's might. */
  readonly keepsNothing: boolean;
  readonly gm: GraphModule;
  /** The module that the backend was given: errors that undo a run name its graph. */
  readonly given: GraphModule;
}

/**
 * Completes the graph of a trace with these results and compiles it. Throws SymbolicLimit and BackendCompilerFailed.
 */
export function compileGraph(unit: Unit, output: OutputGraph, results: readonly Node[]): CapturedGraph {
  output.finish(results);
  output.graph.lint();
  const gm = capturedModule(output.graph, output.attributes, graphRunner);
  const examples = output.inputs.map((input): unknown => {
    switch (input.kind) {
      case "tensor":
        return input.value.real ?? input.value.made?.example;
      case "size":
        return hintOf(input.size);
      case "scalar":
        return scalar(input.hint, input.device);
      case "data":
        return input.example;
      default:
        return input satisfies never;
    }
  });
  return compileCaptured(unit, gm, { examples, sizes: output.sizes, later: output.later });
}

/** The inputs of a graph's compilation: example values, the sources of symbolic sizes, and what gradients rely on. */
interface Inputs {
  readonly later: LaterReads;
  readonly examples: readonly unknown[];
  readonly sizes: Pick<OutputGraph["sizes"], "sourceOf">;
}

/** Compiles a complete graph. Throws SymbolicLimit and BackendCompilerFailed. */
export function compileCaptured(
  unit: Unit,
  gm: GraphModule,
  { examples, sizes: env, later }: Inputs,
): CapturedGraph {
  const { options } = unit.program;
  const name = nextGraphName();
  logs.emit("graph_code", () => gm.readable(name), { part: "captured" });
  logs.emit("graph", () => gm.code, { part: "captured" });
  counters.add("graphs", unit.program.name);
  options.hooks.onGraph?.(gm, examples);
  const given = rewritable(gm);
  let run: unknown;
  try {
    run = recording.phase("backend", () => modes.without(() => unit.backend(given, examples)));
  } catch (error) {
    // The program throws it itself, after everything that precedes it and inside of its own handlers
    if (error instanceof OperandRefused) {
      const refuse = (): never => {
        throw noteUndone(error, given.graph);
      };
      return { name, run: refuse, keepsNothing: true, gm, given };
    }
    // An op's error about its operands is the program's error, not the backend's.
    const cause = error instanceof Unsupported || error instanceof DynError
      ? error
      : backendFailure(unit, error);
    const sizes = [...symbolsOf(gm.calling.nodes)].filter((symbol) => !isUnbacked(symbol)).map((s) =>
      env.sourceOf(s)
    );
    // A compiler that refuses symbols gets constants; one that fails on them has a fault, which constants would hide
    if (sizes.length > 0 && !isFallbackRefused(error)) {
      throw new SymbolicLimit(options.backendName, sizes, null, { cause });
    }
    throw cause;
  }
  if (run === null || run === undefined) run = (...inputs: unknown[]) => given.forward(...inputs);
  if (typeof run !== "function") {
    throw backendFailure(unit, new TypeError(`Expected a function but found ${oneLine(run)}`));
  }
  const check = (found: unknown): void => {
    const fault = resultsFault(gm, found);
    if (fault !== null) throw backendFailure(unit, new TypeError(fault));
  };
  const whole = withOwnParts(withUnchanged(withGradients(run, given), later), check);
  return { name, run: whole, keepsNothing: options.backendName === "inductor", gm, given };
}

/**
 * A graph runs on dyn's own builtins, even if the program has replaced the iteration of arrays. Lazy initialisation in
 * the first run needs other builtins, too; its result is checked.
 */
function withOwnParts(run: object, check: (found: unknown) => void): object {
  if (typeof run !== "function") return run;
  let isReady = false;
  return (...inputs: readonly unknown[]): unknown => {
    if (isReady) return withRuntimeBuiltins(() => apply(run, undefined, inputs));
    return preferringOwnBuiltins(() => {
      const found: unknown = apply(run, undefined, inputs);
      check(found);
      isReady = true;
      return found;
    });
  };
}

/** A graph that enables gradients for a part runs with them enabled: the other nodes record that they are disabled. */
function withGradients(run: object, { calling }: GraphModule): object {
  const records = ({ op, meta: { noGrad, value } }: Node) =>
    op !== "placeholder" && op !== "output" && !noGrad && value.kind === "tensor" && value.requiresGrad;
  if (ambient.gradEnabled || typeof run !== "function" || !calling.nodes.some(records)) return run;
  return (...inputs: readonly unknown[]) => enableGrad(() => apply(run, undefined, inputs));
}
