/**
 * `explain`: reports what compiling a call captures, and where it breaks: counts, reasons, graphs and guards.
 * Invariant: the call runs, with graphs interpreted; existing compilations of the function are not affected.
 */
import type { AnyFunction } from "../base/arguments.ts";
import { types } from "node:util";
import type { BreakReason } from "../base/errors.ts";
import { showAsText } from "../base/console_text.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { breakReason } from "./break_reasons.ts";
import { originalOf } from "./functions/marks.ts";
import { optimize } from "./cache/optimize.ts";

/** The report. */
export interface Explanation {
  readonly graphCount: number;
  readonly graphBreakCount: number;
  readonly opCount: number;
  readonly breakReasons: readonly BreakReason[];
  /** The reasons why the call, or parts of it, ran uncompiled. */
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

/** The result of `explain`: for an async function or generator a promise of the report. */
export type ExplanationOf<F extends AnyFunction> = ReturnType<F> extends
  PromiseLike<unknown> | AsyncGenerator<unknown, unknown, unknown> ? Promise<Explanation> : Explanation;

const POSTPONED = breakReason({ kind: "postponed", detail: "" }, []).id;

/** Each report is about one call, and this call has only made the next one possible. */
const AGAIN = "Explain it again: this call has read the variables";

/** Maximum number of values requested from a generator. */
const MOST_VALUES = 100;

/**
 * A function with the same parameters that calls `fn` once, compiled anew, and returns the report; for an async `fn` a
 * promise of the report, which rejects like the call. A generator is run for its first hundred values.
 */
export function explain<F extends AnyFunction>(fn: F): (...args: Parameters<F>) => ExplanationOf<F> {
  return function (this: unknown, ...args: Parameters<F>): ExplanationOf<F> {
    const graphs: GraphModule[] = [];
    const breakReasons: BreakReason[] = [];
    const guards: string[] = [];
    const uncompiled: BreakReason[] = [];
    // A compiled callable is explained by its original
    const compiled = optimize(originalOf(fn) as F, {
      backend: (gm) => (...inputs) => gm.forward(...inputs),
      backendName: "explain",
      hooks: {
        onGraph: (gm) => void graphs.push(gm),
        onBreak: (reason) => void breakReasons.push(reason),
        onUncompiled: (reason) =>
          void uncompiled.push(reason.id === POSTPONED ? { ...reason, hint: AGAIN } : reason),
        onGuards: (texts) => void guards.push(...texts),
      },
    });
    const report = (): Explanation => {
      const opsPerGraph = graphs.map(operationsOf);
      const opCount = opsPerGraph.reduce((sum, ops) => sum + ops.length, 0);
      const found = {
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
      showAsText(found);
      return found;
    };
    const ended: unknown = toItsEnd(fn, Reflect.apply(compiled, this, args));
    const reported = types.isPromise(ended) ? ended.then(report) : report();
    return reported as ExplanationOf<F>;
  };
}

/** Runs the result of a call to its end, and returns a promise if that has to be awaited. */
function toItsEnd(fn: object, result: unknown): unknown {
  if (!types.isGeneratorFunction(fn)) return result;
  if (isAsyncGenerator(result)) return valuesOfAsync(result);
  if (isGenerator(result)) {
    let left = MOST_VALUES;
    for (const _ of result) if (--left === 0) break;
  }
  return undefined;
}

async function valuesOfAsync(generator: AsyncGenerator): Promise<void> {
  let left = MOST_VALUES;
  for await (const _ of generator) if (--left === 0) break;
}

function isGenerator(value: unknown): value is Generator {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
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
