/**
 * Intended differences between a plain and a compiled run. They are removed from the differences of a call.
 * Invariant: each entry is as narrow as possible and gives its reason; rounding is handled in rounding.ts.
 */
import type { DeviceName } from "../../../lib/loops/device.ts";
import { areOppositeZeros, type Fact, type FactDifference, nearElement } from "./facts.ts";
import type { Mode } from "./observe.ts";
import { REFUSED } from "./refused.ts";

/** The error of a device without float64. */
export const FLOAT64: RegExp = /on webgpu but found float64/;

/** An intended difference. */
interface KnownDifference {
  readonly because: string;
  /** Only if compiled programs keep their tensors on this device. */
  readonly device?: DeviceName;
  /** Only in calls that record no gradients. */
  readonly unrecorded?: true;
  /** Only in calls in which a plain backward pass fails. */
  readonly failedPass?: true;
  /** Only in programs that compute with numbers read from tensors. */
  readonly readsNumbers?: true;
  /** Only in programs that the device rejects plainly, too, for float64. */
  readonly needsFloat64?: true;
  /** Only in programs with at least this many gradient calls. */
  readonly passes?: number;
  /** Only in programs that write in place where the tape and graphs functionalise differently. */
  readonly addsZeros?: true;
  readonly is: (difference: FactDifference) => boolean;
  /** Returns whether another difference of the same call follows from it, and is then intended too. */
  readonly hides: (other: FactDifference) => boolean;
}

const text = (fact: Fact | undefined): string => fact?.kind === "text" ? fact.text : "";

const CHANGED = /modified by an inplace operation/;

const SPENT = /backward through the graph a second time/;

/** Strides, one of which is 0. */
const REPEATED = /\[(.*,)?0(,.*)?\]/;

const stridesIn = (fact: Fact | undefined): number[] => JSON.parse(text(fact) || "[]");

/** Returns whether some strides have the order of others, with smaller or no gaps. */
const isCloser = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((each, d) => each <= (others[d] ?? 0)) &&
  orderOf(some).join() === orderOf(others).join() && `${some}` !== `${others}`;

/** Returns whether only signs of zeros differ. */
function differsInZeros({ expected, found }: FactDifference): boolean {
  if (expected?.kind !== "elements" || found?.kind !== "elements") return false;
  const { elements, dtype } = expected, others = found.elements;
  return elements.length === others.length && dtype === found.dtype &&
    elements.every((x: number | bigint, k: number) =>
      areOppositeZeros(x, others[k] ?? 0) || nearElement(dtype, x, others[k] ?? 0)
    );
}

/** Dimensions ordered by decreasing stride. */
const orderOf = (strides: readonly number[]): number[] =>
  [...strides.keys()].toSorted((a, b) => (strides[b] ?? 0) - (strides[a] ?? 0));

const EMPTY_CHANGED = /modified by an inplace operation: \[\w+ \[(\d+,)*0(,\d+)*\]\]/;

/**
 * Returns whether a fact depends on the sums of a backward pass: gradients, also as results themselves, and effects
 * of hooks in it.
 */
const ofPass = ({ aspect, place }: FactDifference): boolean =>
  aspect === "gradients" || aspect === "effects" ||
  (aspect === "memory" && place.endsWith("after writing results"));

const HOOK = /^string hook \w+$/, SHAPE = /^string [\d,]*$/;

const OUT_OF_BOUNDS = /^threw DynError: Expected elements of \w+ (in \[0, 1\]|of at least 0)/;

const KNOWN: readonly KnownDifference[] = [
  {
    because: "graphs do not check that elements are probabilities or variances",
    is: ({ aspect, expected }) => aspect === "outcome" && OUT_OF_BOUNDS.test(text(expected)),
    hides: () => true,
  },
  {
    because: "a graph is one node of the tape, which leads to its leaves in the order of its inputs",
    is: ({ aspect, expected, found }) =>
      aspect === "effects" && HOOK.test(text(expected)) && HOOK.test(text(found)),
    // Hooks note shapes
    hides: ({ aspect, expected, found }) =>
      aspect === "effects" && SHAPE.test(text(expected)) && SHAPE.test(text(found)),
  },
  {
    because: "a graph is one node of the tape, which saves other values and counts its writes as one",
    is: ({ expected, found }) => REFUSED.test(text(expected)) && REFUSED.test(text(found)),
    hides: ofPass,
  },
  {
    because: "the same in the program itself, where another backward pass may be the first that fails",
    is: ({ aspect, expected, found }) =>
      aspect === "error" && REFUSED.test(text(expected)) && REFUSED.test(text(found)),
    hides: () => true,
  },
  {
    because: "a graph is one node of the tape, which fails before the hooks inside of it are called",
    failedPass: true,
    is: ({ aspect, place }) => aspect === "effects" || /^gradient \d+ at result/.test(place),
    hides: () => false,
  },
  {
    because:
      "a tensor without elements is never read, so that a plain run does not notice that it was overwritten",
    is: ({ expected, found }) => text(expected) === "returned" && EMPTY_CHANGED.test(text(found)),
    hides: ofPass,
  },
  {
    because:
      "a graph saves what its backward needs, so that it can differentiate where the tape no longer can",
    is: ({ aspect, expected, found }) =>
      (aspect === "gradients" || aspect === "outcome") && REFUSED.test(text(expected)) &&
      text(found) === "returned",
    hides: ofPass,
  },
  {
    because: "code after a backward pass that only a graph can run may fail, where the plain run has ended",
    is: ({ aspect, expected, found }) =>
      aspect === "error" && REFUSED.test(text(expected)) && /^threw DynError: Expected/.test(text(found)),
    hides: () => true,
  },
  {
    because: "a graph saves its inputs and recomputes from them, where the tape saves what was computed",
    is: ({ aspect, expected, found }) =>
      (aspect === "gradients" || aspect === "outcome") && text(expected) === "returned" &&
      CHANGED.test(text(found)),
    hides: ofPass,
  },
  {
    because: "the same in the program itself, where the plain run fails later for another reason",
    is: ({ aspect, expected, found }) =>
      aspect === "error" && !REFUSED.test(text(expected)) && CHANGED.test(text(found)),
    hides: () => true,
  },
  {
    because: "graphs free saved tensors by call, where the tape frees them by argument",
    passes: 2,
    is: ({ aspect, expected, found }) =>
      (aspect === "outcome" || aspect === "error") && !REFUSED.test(text(expected)) &&
      SPENT.test(text(found)),
    hides: () => true,
  },
  {
    because:
      "backward passes inside of a graph free the saved tensors of results, not of intermediate tensors",
    is: ({ aspect, place, expected, found }) =>
      aspect === "gradients" && place.startsWith("backward to gradient") && text(expected) === "returned" &&
      SPENT.test(text(found)),
    hides: ({ place }) => place.startsWith("gradient of result"),
  },
  {
    because: "a graph receives gradients in row-major order, where the tape may repeat one element",
    is: ({ aspect, expected, found }) =>
      aspect === "strides" && REPEATED.test(text(expected)) && text(expected) !== text(found),
    hides: () => false,
  },
  {
    because: "gradients of a graph are dense in memory, where those of the tape are parts of larger ones",
    passes: 1,
    is: ({ aspect, expected, found }) =>
      aspect === "strides" && isCloser(stridesIn(found), stridesIn(expected)),
    hides: () => false,
  },
  {
    because:
      "for in-place writes either the tape or a graph adds zeros to the gradient, and the other does not",
    addsZeros: true,
    is: (difference) => difference.aspect === "gradients" && differsInZeros(difference),
    hides: () => false,
  },
  {
    because: "the same for gradients that are results or are left in .grad",
    addsZeros: true,
    passes: 1,
    is: differsInZeros,
    hides: () => false,
  },
  {
    because: "a number read from a tensor is a tensor in a graph, which its gradients save",
    readsNumbers: true,
    is: ({ aspect, expected, found }) =>
      (aspect === "gradients" || aspect === "outcome") && text(expected) === "returned" &&
      SPENT.test(text(found)),
    hides: ofPass,
  },
  {
    because:
      "a view made without recording has a history once it is written to, where the tape sees the write",
    unrecorded: true,
    is: ({ aspect, expected, found }) =>
      aspect === "requiresGrad" && text(expected) === "true" && text(found).startsWith("false"),
    // PyTorch refuses such views
    hides: ofPass,
  },
  {
    because: "the same, where a hook or a gradient needs that history",
    unrecorded: true,
    is: ({ aspect, found }) =>
      (aspect === "outcome" || aspect === "error") &&
      /requires grad for a hook|an input that requires grad but input/.test(text(found)),
    hides: () => true,
  },
  {
    because: "gradients of a graph have separate elements, where the tape repeats one",
    is: ({ expected, found }) =>
      /several indices refer to a single memory location/.test(text(expected)) &&
      text(expected) !== text(found),
    hides: () => true,
  },
  {
    because: "WebGPU has no float64",
    device: "webgpu",
    needsFloat64: true,
    is: ({ found }) => FLOAT64.test(text(found)),
    hides: () => true,
  },
];

/** The circumstances of a compiled call. */
export interface CallContext {
  readonly device: DeviceName;
  readonly mode: Mode;
  /** Whether a backward pass of the plain call failed. */
  readonly failedPass: boolean;
  /** Whether the program computes with numbers read from tensors. */
  readonly readsNumbers: boolean;
  /** Number of gradient calls in the program. */
  readonly passes: number;
  /** Whether the program writes in place where the tape and graphs functionalise differently. */
  readonly addsZeros: boolean;
  /** Returns whether the device rejects the program plainly too, because it lacks float64; evaluated on demand. */
  readonly needsFloat64: () => boolean;
}

/** The differences that are not intended. */
export function withoutKnown(
  differences: readonly FactDifference[],
  { device, mode, failedPass, readsNumbers, passes, addsZeros, needsFloat64 }: CallContext,
): readonly FactDifference[] {
  const here = KNOWN.filter((each) =>
    (each.device === undefined || each.device === device) &&
    (!each.unrecorded || mode === "noGrad" || mode === "inference") &&
    (!each.failedPass || failedPass) && (!each.readsNumbers || readsNumbers) &&
    (!each.addsZeros || addsZeros) && (each.passes ?? 0) <= passes
  );
  const known = here.filter((each) => differences.some(each.is) && (!each.needsFloat64 || needsFloat64()));
  return differences.filter((each) => !known.some(({ is, hides }) => is(each) || hides(each)));
}
