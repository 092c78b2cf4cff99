/**
 * A log of the ops that run, like `torch.utils._debug_mode.DebugMode`: those of eager execution, and those of compiled
 * graphs that run op by op (backends "eager" and "aot_eager"). Each entry has a digest of the result, for comparison
 * with other logs. Invariant: the body behaves as without the log.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { showAsText } from "../base/console_text.ts";
import { markFunction } from "../dynamo/functions/marks.ts";
import { metaText } from "../graph/print.ts";
import { graphNameOf } from "../ops/graph_builder.ts";
import { callParts, makeCall } from "../tensor/eager.ts";
import { readElements } from "../tensor/host.ts";
import { ambient, type ResolvedCall } from "../tensor/modes.ts";
import type { OpResult } from "../tensor/op_call.ts";
import { StackedMode } from "../tensor/stacked_mode.ts";
import { isTensor, modes, recordsGrad, type Tensor } from "../tensor/tensor.ts";

/** One op that ran. */
export interface LoggedOp {
  /** Its name in graphs, with an underscore if it wrote in place. */
  readonly name: string;
  /** Its arguments, tensors by type and shape: `f32[2, 3]`. */
  readonly args: string;
  /** Types and shapes of the results. */
  readonly results: readonly string[];
  /** For each result the sum of its elements' absolute values in double precision: equal results have equal digests. */
  readonly digests: readonly number[];
  /** Number of enclosing compositions. */
  readonly depth: number;
}

/** A log being recorded. */
export class DebugMode {
  /** The logged ops, in order. */
  readonly entries: LoggedOp[] = [];

  /** Runs `body` and logs its ops; those inside a composition follow it, indented. */
  run<R>(body: () => R): R {
    if (arguments.length > 1) refuseSurplus("run", 1, arguments);
    return modes.with(new LoggingMode(this.entries, 0), body);
  }

  /** Returns the first entry whose results differ from the corresponding entry of another log; null if all agree. */
  firstDifference(other: DebugMode): readonly [LoggedOp | undefined, LoggedOp | undefined] | null {
    if (arguments.length > 1) refuseSurplus("firstDifference", 1, arguments);
    const count = Math.max(this.entries.length, other.entries.length);
    for (let at = 0; at < count; at++) {
      const a = this.entries[at], b = other.entries[at];
      if (!a || !b || lineOf(a) !== lineOf(b)) return [a, b];
    }
    return null;
  }

  /** Returns one line per op. */
  toString(): string {
    return this.entries.map(lineOf).join("\n");
  }
}

showAsText(DebugMode.prototype);

// The calls of its body are for the log, not for a graph
markFunction(DebugMode.prototype.run, { kind: "builtin" });

/** Shows digests to six digits, so that rounding errors do not count as differences */
function lineOf({ name, args, results, digests, depth }: LoggedOp): string {
  const shown = results.map((each, at) => `${each} #${(digests[at] ?? 0).toPrecision(6)}`);
  return `${"  ".repeat(depth)}${name}(${args}) -> ${shown.join(", ")}`;
}

class LoggingMode extends StackedMode {
  constructor(readonly entries: LoggedOp[], readonly depth: number) {
    super();
  }

  override call(call: ResolvedCall<Tensor>): OpResult {
    const { definition, args, inplace } = call;
    const name = `${graphNameOf(definition)}${inplace ? "_" : ""}`;
    const given = Object.entries(args).filter(([, value]) => value !== null).map(([key, value]) =>
      `${key}: ${textOf(value)}`
    ).join(", ");
    const at = this.entries.length;
    const result = this.beneath(() => this.#run(call));
    const tensors = isTensor(result) ? [result] : result;
    this.entries.splice(at, 0, {
      name,
      args: given,
      results: tensors.map((each) => metaText({ shape: each.shape, dtype: each.dtype })),
      digests: tensors.map(digestOf),
      depth: this.depth,
    });
    return result;
  }

  #run(call: ResolvedCall<Tensor>): OpResult {
    const records = ambient.gradEnabled && recordsGrad(Object.values(call.args).flat().filter(isTensor));
    const parts = records && call.definition.gradient.kind !== "composite"
      ? null
      : modes.with(new LoggingMode(this.entries, this.depth + 1), () => callParts(call));
    return parts ?? makeCall(call);
  }
}

function textOf(value: unknown): string {
  if (isTensor(value)) return metaText({ shape: value.shape, dtype: value.dtype });
  return Array.isArray(value) ? `[${value.map(textOf).join(", ")}]` : String(value);
}

function digestOf(tensor: Tensor): number {
  if (!tensor.storage.filled) return 0;
  let sum = 0;
  for (const each of readElements(tensor)) sum += Math.abs(Number(each));
  return isFloat(tensor.dtype) ? Math.fround(sum) : sum;
}
