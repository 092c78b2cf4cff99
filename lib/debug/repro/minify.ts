/**
 * Minifies a failing case by trying smaller ones that fail in the same way. Invariant: every case that is kept has
 * been compiled and run; the time is bounded, and the smallest case found by then is returned.
 */
import { logs } from "../../base/logs.ts";
import { counted } from "../../base/report_text.ts";
import type { GraphCompiler } from "../../graph/interpose.ts";
import { printGraph } from "../../graph/print.ts";
import { isTensor } from "../../tensor/tensor.ts";
import { type Fault, faultOf, isSameFault, type ReproCase } from "./case.ts";
import { type Call, rebuild } from "./rebuild.ts";
import { REDUCTIONS } from "./reductions.ts";

/** The result of a minification. */
interface Minified {
  readonly found: ReproCase;
  /** Number of compilations. */
  readonly tries: number;
  /** Number of operations before and after. */
  readonly operations: readonly [number, number];
  /** Whether the time limit ended the search early. */
  readonly isCut: boolean;
}

/** Limits of one minification. */
interface MinifyOptions {
  /** Time limit for starting further cases. */
  readonly milliseconds: number;
  /** Called after each successful reduction. */
  readonly progress?: (text: string) => void;
}

/** Minifies a case that fails with `fault`. */
export function minify(
  original: ReproCase,
  { fault, compile }: { readonly fault: Fault; readonly compile: GraphCompiler },
  { milliseconds, progress = () => {} }: MinifyOptions,
): Minified {
  const end = performance.now() + milliseconds;
  const known = new Map<string, boolean>();
  let tries = 0, isCut = false;
  const fails = (call: Call): boolean => {
    const key = keyOf(call);
    const before = known.get(key);
    if (before !== undefined) return before;
    if (performance.now() > end) {
      isCut = true;
      return false;
    }
    tries++;
    const ambientState = original.ambientState;
    const now = logs.capture(
      "",
      () => {},
      () => faultOf({ ...call, ambientState }, compile, { compare: fault.kind !== "error" }),
    );
    const result = now !== null && isSameFault(fault, now);
    known.set(key, result);
    return result;
  };
  let best: Call = { gm: original.gm, args: original.args };
  const first = operationsOf(best);
  const whole = specialized(best, fails);
  if (whole) {
    best = whole;
    for (let before = ""; before !== keyOf(best) && !isCut;) {
      before = keyOf(best);
      for (const { name, run } of REDUCTIONS) {
        const former = keyOf(best);
        best = run(best, fails);
        if (keyOf(best) !== former) progress(`${name}: ${sizeText(best)}`);
      }
    }
  }
  return {
    found: { ...original, ...best },
    tries,
    operations: [first, operationsOf(best)],
    isCut,
  };
}

/** The case with known sizes, or with symbols if it fails only then; null if it cannot be replayed. */
function specialized(call: Call, fails: Fails): Call | null {
  for (const dynamic of [false, true]) {
    try {
      const replayed = rebuild(call, { dynamic });
      if (fails(replayed)) return replayed;
    } catch {
      // Some ops cannot be inferred again: the case is unchanged
    }
  }
  return null;
}

type Fails = (call: Call) => boolean;

function operationsOf({ gm }: Call): number {
  return gm.graph.nodes.filter(({ op }) => op.startsWith("call_")).length;
}

/** Describes the size of a case. */
export function sizeText(call: Call): string {
  const elements = call.args.filter(isTensor).reduce((sum, each) => sum + each.numel(), 0);
  const inputs = call.args.length, operations = operationsOf(call);
  return `${counted(operations, "operation")}, ${counted(inputs, "input")}, ${counted(elements, "element")}`;
}

/** A key of a case: equal keys, equal cases. */
function keyOf({ gm, args }: Call): string {
  const values = args.map((arg) => {
    if (!isTensor(arg)) return String(arg);
    const { dtype, shape, strides, offset, requiresGrad } = arg;
    const sample = arg.numel() <= 4096 ? String(arg.detach().toTypedArray()) : `${arg.storage.serial}`;
    return `${dtype}[${shape}][${strides}]+${offset}${requiresGrad ? "g" : ""}${sample}`;
  });
  return `${printGraph(gm.graph, { types: true })}\n${values.join("\n")}`;
}
