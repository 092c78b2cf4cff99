/**
 * Records the training steps that a program compiles, as workloads. Invariant: the program computes the same as without
 * it: each graph also runs op by op, with results that are dropped, which is safe because functional graphs have no
 * side effects; kernels are compiled again, and calls wait for them.
 */
import { config } from "../../base/config.ts";
import { DynError } from "../../base/errors.ts";
import { type GraphCompiler, interpose } from "../../graph/interpose.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { Interpreter, type Runner } from "../../graph/interpreter.ts";
import { recordedStep, type TimedOp } from "./recorded_step.ts";
import { isTraining, workloadOf } from "./layers.ts";
import type { Workload } from "./workload.ts";

/** A graph of a whole training step, and its calls. */
interface Step {
  readonly module: GraphModule;
  /** The times of the operations, measured individually in the first call. */
  times: readonly TimedOp[] | null;
  /** Seconds of each call. */
  readonly calls: number[];
}

/** A recorded step. */
export interface Recorded {
  readonly workload: Workload;
  readonly calls: number;
  /** Seconds of the fastest call. */
  readonly seconds: number;
}

/** Number of timings of each operation; the first includes one-time preparation. */
const ROUNDS = 3;

/** Returns the best times of a graph's operations, run one by one in order. */
function timesOf({ graph, runner, attributes }: GraphModule, args: readonly unknown[]): TimedOp[] {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const times: TimedOp[] = [];
    const timed: Runner = {
      ...runner,
      callOp(target, args, kwargs) {
        const start = performance.now(), result = runner.callOp(target, args, kwargs);
        times.push({ target, seconds: (performance.now() - start) / 1000 });
        return result;
      },
    };
    new Interpreter(graph, timed, attributes).run(args);
    return times;
  });
  const [first = []] = rounds;
  return first.map(({ target }, k) => ({
    target,
    seconds: Math.min(...rounds.map((times) => times[k]?.seconds ?? Infinity)),
  }));
}

/** Records compilations until it is stopped. */
export class StepRecorder {
  readonly #steps: Step[] = [];
  #graphs = 0;
  readonly #stop: () => void;

  constructor() {
    const { graphCache, inductor: { tier } } = config;
    // Cached graphs would not be compiled, and calls are slower before their kernels are ready
    config.graphCache = false;
    config.inductor.tier = "wait";
    const remove = interpose({ functional: (compile) => this.#watched(compile) });
    this.#stop = () => {
      remove();
      config.graphCache = graphCache;
      config.inductor.tier = tier;
    };
  }

  #watched(compile: GraphCompiler): GraphCompiler {
    return (module, examples) => {
      this.#graphs++;
      const run = compile(module, examples);
      if (!module.graph.nodes.some(({ meta }) => meta.ofPass)) return run;
      const step: Step = { module, times: null, calls: [] };
      this.#steps.push(step);
      return (...args) => {
        step.times ??= timesOf(module, args);
        const start = performance.now(), result = run(...args);
        step.calls.push((performance.now() - start) / 1000);
        return result;
      };
    };
  }

  /** Stops recording and returns the step that was called most often. Throws DynError if no graph was a whole step. */
  finish(): Recorded {
    this.#stop();
    const seconds = ({ calls }: Step) => Math.min(...calls);
    // A step with changing numbers is compiled again; the graph that is called most counts
    const called = this.#steps.filter(({ calls }) => calls.length > 0)
      .sort((a, b) => b.calls.length - a.calls.length || seconds(b) - seconds(a));
    const steps = called.map((step) => ({ ...step, recorded: recordedStep(step.module, step.times ?? []) }));
    const step = steps.find(({ recorded }) => isTraining(recorded));
    if (!step) {
      throw new DynError(
        `Expected a compiled function whose graph is a whole training step, with backward() and an optimizer's step(), ` +
          `but found none among ${this.#graphs} graphs; dyn explain shows where graphs end`,
      );
    }
    const fastest = seconds(step);
    return { workload: workloadOf(step.recorded, fastest), calls: step.calls.length, seconds: fastest };
  }
}
