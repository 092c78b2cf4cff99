/**
 * `explain`: what compiling a call would capture, and where it would break. Input: a function and arguments;
 * output: counts, reasons, graphs and guards. Invariant: the call runs, with graphs interpreted; what the function
 * has compiled already is left alone.
 */
import type { BreakReason } from "../base/errors.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { optimize } from "./optimize.ts";

/** The report. */
export interface Explanation {
  readonly graphCount: number;
  readonly graphBreakCount: number;
  readonly opCount: number;
  readonly breakReasons: readonly BreakReason[];
  /** Why the call, or parts of it, ran uncompiled. */
  readonly uncompiled: readonly BreakReason[];
  readonly graphs: readonly GraphModule[];
  readonly guards: readonly string[];
  readonly opsPerGraph: readonly (readonly string[])[];
  toString(): string;
}

/** The names of the operations of a graph. */
function operationsOf(gm: GraphModule): string[] {
  return gm.graph.nodes.filter((n) => n.op.startsWith("call_")).map((n) => n.target);
}

type AnyFunction = (this: never, ...args: never[]) => unknown;

/** What `explain` gives: the report of an async function when that is done. */
export type ExplanationOf<F extends AnyFunction> = ReturnType<F> extends PromiseLike<unknown>
  ? Promise<Explanation>
  : Explanation;

/**
 * A function with the same parameters that calls `fn` once, compiled afresh, and reports; where `fn` is async, with a
 * promise of the report, which rejects as the call does.
 */
export function explain<F extends AnyFunction>(fn: F): (...args: Parameters<F>) => ExplanationOf<F> {
  return function (this: unknown, ...args: Parameters<F>): ExplanationOf<F> {
    const graphs: GraphModule[] = [];
    const breakReasons: BreakReason[] = [];
    const guards: string[] = [];
    const uncompiled: BreakReason[] = [];
    const compiled = optimize(fn, {
      backend: (gm) => (...inputs) => gm.forward(...inputs),
      backendName: "explain",
      hooks: {
        onGraph: (gm) => void graphs.push(gm),
        onBreak: (reason) => void breakReasons.push(reason),
        onUncompiled: (reason) => void uncompiled.push(reason),
        onGuards: (texts) => void guards.push(...texts),
      },
    });
    const report = (): Explanation => {
      const opsPerGraph = graphs.map(operationsOf);
      const opCount = opsPerGraph.reduce((sum, ops) => sum + ops.length, 0);
      return {
        graphCount: graphs.length,
        graphBreakCount: breakReasons.length,
        opCount,
        breakReasons,
        uncompiled,
        graphs,
        guards,
        opsPerGraph,
        toString: () => text({ graphs: graphs.length, opCount, breakReasons, uncompiled }),
      };
    };
    const result: unknown = Reflect.apply(compiled, this, args);
    const reported = result instanceof Promise ? result.then(report) : report();
    return reported as ExplanationOf<F>;
  };
}

function text({ graphs, opCount, breakReasons, uncompiled }: {
  readonly graphs: number;
  readonly opCount: number;
  readonly breakReasons: readonly BreakReason[];
  readonly uncompiled: readonly BreakReason[];
}): string {
  const lines = [
    `Dynamo produced ${graphs} graphs, with ${breakReasons.length} graph break and ${opCount} ops`,
  ];
  if (breakReasons.length > 0) lines.push("Break reasons:", ...numbered(breakReasons));
  if (uncompiled.length > 0) lines.push("Runs uncompiled:", ...numbered(uncompiled));
  return lines.join("\n");
}

function numbered(reasons: readonly BreakReason[]): string[] {
  return reasons.flatMap((reason, i) => [
    `${i + 1}. ${reason.category} (${reason.id})`,
    ...reason.stack.flatMap((frame) => [
      `   File "${frame.file}", line ${frame.line}, in ${frame.functionName || "<anonymous>"}`,
      ...(frame.code ? [`     ${frame.code}`] : []),
    ]),
    `   Explanation: ${reason.explanation}`,
    `   Hint: ${reason.hint}`,
  ]);
}
