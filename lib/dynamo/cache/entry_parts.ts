/**
 * Parts of entries that do not depend on how an entry was created: its check, and the handling of calls whose graph
 * throws. Invariant: a call whose graph throws behaves like the program.
 */
import { recording } from "../../base/recording.ts";
import { isUndone, messageOf, OperandRefused } from "../../base/errors.ts";
import { counters, logs } from "../../base/logs.ts";
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";
import type { CapturedGraph } from "./captured_graph.ts";
import { AssumptionFailed } from "../../graph/numbers.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { cellOfBox } from "../resume/cells.ts";
import { cellOf } from "../resume/closure_printer.ts";
import type { ModifiedParts } from "../codegen/modified.ts";
import { codeOf, infoOf, isOfCode, looksLike } from "../functions/functions.ts";
import { isNative } from "../frame/source_text.ts";
import { compileCheck } from "../guards/check.ts";
import type { Guard } from "../guards/guard.ts";
import { guardReader, sourceReads } from "../guards/guard_reader.ts";
import { knowledge } from "../functions/knowledge.ts";
import { Whole } from "../resume/suspension.ts";
import type { PrivateReader } from "../source.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import type { BoundParts } from "../variables/bound_function.ts";
import type { Entry, Unit } from "./unit.ts";

/** The check of an entry. */
export function checked(
  guards: readonly Guard[],
  output: Pick<OutputGraph, "sourceNamed"> & Partial<Pick<OutputGraph, "followed">>,
): Pick<Entry, "check" | "checkText" | "reader"> {
  const sourceNamed = (name: string) => output.sourceNamed(name), { followed } = output;
  // Where the trace has ended at the call, any function with the text may be called
  const isCalled = (code: CodeObject) => followed !== undefined && !followed.has(code);
  const { check, text } = recording.phase("guards", () =>
    compileCheck(guards, {
      sourceNamed,
      hasCode: (fn, code) =>
        withRuntimeBuiltins(() => isTracedByCode(fn) && (isCalled(code) ? looksLike : isOfCode)(fn, code)),
      readCaptured,
      cellOfBox,
      cellOf,
    }));
  return { check, checkText: text, reader: guardReader(guards, sourceReads(readCaptured), sourceNamed) };
}

/**
 * The code that calls of a function trace. Facts about a function object itself do not hold for others with the same
 * code.
 */
export function tracedCodeOf(fn: unknown): CodeObject | null {
  return isTracedByCode(fn) ? codeOf(fn) : null;
}

/** Returns whether calls of a function trace its code, rather than a model of it. */
function isTracedByCode(fn: unknown): fn is (...args: never[]) => unknown {
  return typeof fn === "function" && !knowledge.modelOf(fn);
}

const BOUND_ARGUMENTS: PrivateReader = { get: (fn) => boundPartsOf(fn)?.args.length };

/** The parts of a bound function that calls trace; null for other functions. */
export function boundPartsOf(fn: object): BoundParts | null {
  if (typeof fn !== "function" || !isNative(fn) || knowledge.modelOf(fn)) return null;
  const info = withRuntimeBuiltins(() => infoOf(fn));
  return info.kind === "bound" ? { ...info, count: BOUND_ARGUMENTS } : null;
}

/** The content of a captured variable of a function, or a part of a bound one: target, receiver, arguments. */
export function readCaptured(fn: unknown, index: number): unknown {
  if (typeof fn !== "function") throw new TypeError("Expected a function");
  const found = withRuntimeBuiltins(() => {
    const info = infoOf(fn);
    if (info.kind === "bound") return { kind: "value", value: partOf(info, index) } as const;
    if (info.kind !== "function") throw new TypeError("Expected a function with accessible variables");
    return info.binding(index);
  });
  if (found.kind === "value") return found.value;
  if (found.kind === "cell") return found.cell.get();
  throw new TypeError("Expected a variable");
}

function partOf({ target, self, args }: Omit<BoundParts, "count">, index: number): unknown {
  return index === 0 ? target : index === 1 ? self : args[index - 2];
}

/** Returns the handler of calls whose graph throws. */
export function wayOut(unit: Unit, { graph, made, isAsyncCall }: {
  readonly graph: () => CapturedGraph | null;
  readonly made: { readonly entry: Entry | null };
  readonly isAsyncCall: boolean;
}): ModifiedParts["failed"] {
  const { body } = unit;
  return (self, given, error) => {
    const failed = graph();
    if (!failed || !isUndone(error, failed.given.graph)) throw error;
    // Throws the program's own error, after everything that precedes it, and inside its own handlers.
    counters.add("undone_calls", body.name);
    logs.emit(
      "dynamo",
      () => `A graph of ${body.name} failed; the call runs uncompiled: ${messageOf(error)}`,
    );
    if (error instanceof AssumptionFailed) {
      unit.history.assumptionFailed();
      // The next call compiles an entry that breaks instead of assuming
      if (!unit.history.mayAssume && made.entry) unit.withdraw(made.entry);
    }
    const result = body.runPlain(self, Array.from(given));
    if (error instanceof OperandRefused) unit.countRefused(error);
    return isAsyncCall ? new Whole(result) : result;
  };
}
