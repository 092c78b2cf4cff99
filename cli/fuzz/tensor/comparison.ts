/**
 * Compares a plain and a compiled run of a program: the first difference, if any, and counts of compilations.
 * Invariant: a difference is reported unless rounding explains it or it is intended.
 */
import { type Backend, compile, compiler } from "../../../mod.ts";
import { messageOf } from "../../../lib/base/errors.ts";
import { counters } from "../../../lib/base/logs.ts";
import type { DeviceName } from "../../../lib/loops/device.ts";
import { chooseDefaultDevice } from "../../../lib/tensor/default_device.ts";
import { compileOptions } from "./compile_options.ts";
import {
  type Aspect,
  compareFacts,
  type Fact,
  type FactDifference,
  factText,
  withoutSubnormals,
} from "./facts.ts";
import type { Instance } from "./instance.ts";
import { FLOAT64, withoutKnown } from "./known_differences.ts";
import { REFUSED } from "./refused.ts";
import { observe, type Runnable } from "./observe.ts";
import { RoundingJudge } from "./rounding.ts";
import { meetsWideIntegers } from "./wide_integers.ts";

/** How a program is compiled and compared. */
export interface ComparisonOptions {
  readonly backend: Backend;
  readonly dynamic?: boolean | null;
  /** Kinds of observations that are not compared. */
  readonly without?: ReadonlySet<string>;
  /** The program with float32 replaced by float64, if possible. */
  readonly inFloat64?: () => Promise<Runnable>;
  /** Whether it computes with numbers read from tensors. */
  readonly readsNumbers?: boolean;
  /** Number of gradient calls in the program. */
  readonly passes?: number;
  /** Whether it writes in place where the tape and graphs functionalise differently. */
  readonly addsZeros?: boolean;
  /** Device of the compiled program's tensors; default "cpu". */
  readonly device?: DeviceName;
}

/** A difference between two runs. */
export interface Difference {
  /** The kind of difference: differences of one kind may have one cause. */
  readonly kind: string;
  /** The place of the difference, and both observations. */
  readonly text: string;
}

/** The result of a comparison. */
export interface Comparison {
  readonly difference: Difference | null;
  /** Counts of events, to be summed up. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs a program plainly and compiled. Earlier compilations and counts are reset. */
export async function compare(runnable: Runnable, options: ComparisonOptions): Promise<Comparison> {
  const plain = observe(runnable, (f) => f);
  const refused = plain[0]?.some((fact) => fact.kind === "text" && fact.text.startsWith("threw "));
  const counts: Record<string, number> = { "refused plainly": refused ? 1 : 0 };
  compiler.reset();
  let compiled: Instance["f"] | undefined;
  const wrap = (f: Instance["f"]) => {
    const dynamic = options.dynamic ?? null;
    return compiled = compile(f, {
      ...compileOptions(options.backend),
      ...dynamic === null ? {} : { dynamic },
    });
  };
  let found: readonly (readonly Fact[])[];
  try {
    found = onDevice(options.device ?? "cpu", () => observe(runnable, wrap));
  } catch (thrown) {
    // Failures that no program can catch, for example an unreadable result
    const text = thrown instanceof Error ? thrown.stack ?? messageOf(thrown) : messageOf(thrown);
    return { difference: { kind: `broken ${pattern(messageOf(thrown))}`, text }, counts };
  }
  if (compiled) {
    const { graphs, graphBreaks, givenUp } = compiler.status(compiled);
    counts["graphs"] = graphs;
    counts["breaks"] = graphBreaks;
    counts["without a graph"] = graphs === 0 ? 1 : 0;
    counts["given up"] = givenUp === null ? 0 : 1;
  }
  counts["uncompiled calls"] = counters.total("uncompiled");
  const isOnGpu = options.device === "webgpu", { inFloat64 } = options;
  const judge = new RoundingJudge(runnable, { flushes: isOnGpu, ...inFloat64 ? { inFloat64 } : {} });
  for (const [k, facts] of plain.entries()) {
    const [expected = facts, shown = []] = isOnGpu
      ? [facts, found[k] ?? []].map(withoutSubnormals)
      : [facts, found[k] ?? []];
    const differences = compareFacts(expected, shown);
    const unknown = withoutKnown(differences, {
      device: options.device ?? "cpu",
      mode: runnable.modes[k] ?? "grad",
      failedPass: facts.some(isFailedPass),
      readsNumbers: options.readsNumbers ?? false,
      passes: options.passes ?? 0,
      addsZeros: options.addsZeros ?? false,
      needsFloat64: () => needsFloat64(runnable, options.device ?? "cpu"),
    });
    const all = unknown.filter(({ aspect }) => !options.without?.has(aspect));
    const left = await judge.unexplained(k, all);
    if (left.length < all.length) counts["differences by rounding"] = 1;
    const [first] = left;
    // A number that lost its high bits differs, and so does everything computed from it
    if (first && isOnGpu && meetsWideIntegers(() => observe(runnable, (f) => f))) break;
    if (first) return { difference: describe(first, { k, count: left.length }), counts };
    // Later calls start from a different state, or from one that depends on how far a failed pass got
    if (unknown.length < differences.length || facts.some(isFailedPass)) break;
  }
  return { difference: null, counts };
}

/** Returns whether differentiation failed along the way. */
const isFailedPass = (fact: Fact): boolean =>
  fact.kind === "text" &&
  (fact.aspect === "gradients"
    ? /^\w*Error: /.test(fact.text)
    : fact.aspect === "outcome" && REFUSED.test(fact.text));

/** Returns whether a plain run on a device fails because float64 is needed. */
const needsFloat64 = (runnable: Runnable, device: DeviceName): boolean =>
  onDevice(device, () => observe(runnable, (f) => f)).flat()
    .some((fact) => fact.kind === "text" && FLOAT64.test(fact.text));

/** Runs `body` with a device as the default of new tensors. */
function onDevice<R>(device: DeviceName, body: () => R): R {
  chooseDefaultDevice(device);
  try {
    return body();
  } finally {
    chooseDefaultDevice("cpu");
  }
}

/** A text without the numbers and names that differ from program to program. */
const pattern = (text: string): string => text.replaceAll(/\d+(\.\d+)?/g, "#").slice(0, 60);

function describe(
  { aspect, place, expected, found }: FactDifference,
  { k, count }: { readonly k: number; readonly count: number },
): Difference {
  const plain = factText(expected, found), compiled = factText(found, expected);
  const saysMore: readonly Aspect[] = ["outcome", "error"];
  const kind = saysMore.includes(aspect) ? `${aspect} ${pattern(plain)} / ${pattern(compiled)}` : aspect;
  const more = count > 1 ? `\n  and ${count - 1} more differences` : "";
  return {
    kind,
    text: `Call ${k}, ${place} (${aspect})\n  plain:    ${plain}\n  compiled: ${compiled}${more}`,
  };
}
