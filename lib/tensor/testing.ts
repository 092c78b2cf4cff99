/**
 * Assertions about tensors for tests: the namespace `testing`, like `torch.testing`. Invariant: what is not compared is
 * refused, so that an assertion never passes for values it does not know.
 */
import { checkOptions, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { oneLine } from "../base/console_text.ts";
import { type DType, promoteTypes } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { shapeText } from "../ops/shapes.ts";
import { ops } from "./eager.ts";
import { noGrad } from "./modes.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Options of `assertClose`. */
export interface AssertCloseOptions {
  /** Tolerance relative to the expected value; by default that of the types. Given with `atol` or not at all. */
  readonly rtol?: number | undefined;
  /** Absolute tolerance; by default that of the types. Given with `rtol` or not at all. */
  readonly atol?: number | undefined;
  /** Whether NaN is close to NaN; default false. */
  readonly equalNan?: boolean | undefined;
  /** Whether tensors have to be on one device; default true. If not, the expected one is copied to the actual one's. */
  readonly checkDevice?: boolean | undefined;
  /** Whether tensors have to have one type; default true. If not, they are compared in the one they promote to. */
  readonly checkDtype?: boolean | undefined;
  /** Whether tensors have to have the same strides; default false. */
  readonly checkStride?: boolean | undefined;
  /** The message of the error, or a function that makes it of the usual one. */
  readonly msg?: string | ((message: string) => string) | undefined;
}

interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

/** Tolerances of types; the elements of others have to be equal. Those of PyTorch. */
const TOLERANCES: { readonly [T in DType]?: Tolerance } = {
  float16: { rtol: 1e-3, atol: 1e-5 },
  bfloat16: { rtol: 1.6e-2, atol: 1e-5 },
  float32: { rtol: 1.3e-6, atol: 1e-5 },
  float64: { rtol: 1e-7, atol: 1e-7 },
  complex64: { rtol: 1.3e-6, atol: 1e-5 },
  complex128: { rtol: 1e-7, atol: 1e-7 },
};

/**
 * Throws DynError unless `actual` is close to `expected`, like `torch.testing.assert_close`: |actual − expected| ≤
 * atol + rtol·|expected| for each element of tensors of one shape, type and device. Numbers are compared as float64;
 * the values of arrays, plain objects and Maps one by one. Values of other kinds, and of two kinds, are refused.
 */
export function assertClose(actual: unknown, expected: unknown, options: AssertCloseOptions = {}): void {
  if (arguments.length > 3) refuseSurplus("assertClose", 3, arguments);
  checkOptions("assertClose", {
    rtol: ["number"],
    atol: ["number"],
    equalNan: ["boolean"],
    checkDevice: ["boolean"],
    checkDtype: ["boolean"],
    checkStride: ["boolean"],
    msg: ["string", "function"],
  }, options);
  checkTolerances(options);
  const found = noGrad(() => difference({ actual, expected, options }, ""));
  if (found === null) return;
  const { msg } = options;
  throw new DynError(typeof msg === "function" ? msg(found) : msg ?? found);
}

function checkTolerances({ rtol, atol }: AssertCloseOptions): void {
  if ((rtol === undefined) !== (atol === undefined)) {
    const [given, missing] = rtol === undefined ? ["atol", "rtol"] : ["rtol", "atol"];
    throw new DynError(
      `Expected both rtol and atol of assertClose, or neither, but found ${given} without ${missing}`,
    );
  }
  for (const [name, value] of Object.entries({ rtol, atol })) {
    if (typeof value === "number" && !(value >= 0)) {
      refuseValue(`${name} of assertClose to be at least 0`, value);
    }
  }
}

interface Pair<T> {
  readonly actual: T;
  readonly expected: T;
  readonly options: AssertCloseOptions;
}

/** Text of the first difference between two values at a path, or null. */
function difference({ actual, expected, options }: Pair<unknown>, path: string): string | null {
  const place = path === "" ? "" : ` at ${path}`;
  if (isTensor(actual) && isTensor(expected)) return tensorDifference({ actual, expected, options }, place);
  if (typeof actual === "number" && typeof expected === "number") {
    return numberDifference({ actual, expected, options }, place);
  }
  const entries = entriesOf(actual), others = entriesOf(expected);
  if (entries && others && Array.isArray(actual) === Array.isArray(expected)) {
    const missing = [...others.keys()].filter((key) => !entries.has(key)),
      added = [...entries.keys()].filter((key) => !others.has(key));
    if (missing.length + added.length > 0) {
      const parts = [
        ...missing.map((key) => `no ${oneLine(key)}`),
        ...added.map((key) => `also ${oneLine(key)}`),
      ];
      return `Expected the same keys${place} but found ${parts.join(", ")}`;
    }
    for (const [key, value] of entries) {
      const found = difference(
        { actual: value, expected: others.get(key), options },
        `${path}[${oneLine(key)}]`,
      );
      if (found !== null) return found;
    }
    return null;
  }
  if (isExact(actual) && isExact(expected) && typeof actual === typeof expected) {
    return actual === expected ? null : `Expected ${oneLine(expected)}${place} but found ${oneLine(actual)}`;
  }
  return refuseValue(
    `values of one kind to compare${place}: tensors, numbers, or lists, objects or Maps of such`,
    [
      actual,
      expected,
    ],
  );
}

/** Values that are compared by identity. */
const isExact = (value: unknown): boolean =>
  value === null || value === undefined || typeof value === "boolean" || typeof value === "bigint";

/** The parts of a list, a plain object or a Map, by key. */
function entriesOf(value: unknown): ReadonlyMap<unknown, unknown> | null {
  if (Array.isArray(value)) return new Map(value.entries());
  if (value instanceof Map) return value;
  return isPlainObject(value) ? new Map(Object.entries(value)) : null;
}

function numberDifference({ actual, expected, options }: Pair<number>, place: string): string | null {
  const { rtol, atol } = toleranceOf("float64", options), apart = Math.abs(actual - expected);
  if (actual === expected || (Number.isFinite(apart) && apart <= atol + rtol * Math.abs(expected))) {
    return null;
  }
  if (options.equalNan && Number.isNaN(actual) && Number.isNaN(expected)) return null;
  return `Expected ${expected}${place} but found ${actual}: the absolute difference is ${apart} (allowed: ${atol}), ` +
    `the relative one ${apart / Math.abs(expected)} (allowed: ${rtol})`;
}

/** The tolerances of a comparison; by default the greatest of the types. */
function toleranceOf(dtype: DType, { rtol, atol }: AssertCloseOptions, other: DType = dtype): Tolerance {
  const [a, b] = [TOLERANCES[dtype], TOLERANCES[other]];
  return {
    rtol: rtol ?? Math.max(a?.rtol ?? 0, b?.rtol ?? 0),
    atol: atol ?? Math.max(a?.atol ?? 0, b?.atol ?? 0),
  };
}

function tensorDifference({ actual, expected, options }: Pair<Tensor>, place: string): string | null {
  const { checkDevice = true, checkDtype = true, checkStride = false } = options;
  const differs = (what: string, wanted: string, found: string) =>
    wanted === found ? null : `Expected a tensor of ${what} ${wanted}${place} but found ${found}`;
  const attribute = differs("shape", shapeText(expected.shape), shapeText(actual.shape)) ??
    (checkDevice ? differs("device", expected.device, actual.device) : null) ??
    (checkDtype ? differs("type", expected.dtype, actual.dtype) : null) ??
    (checkStride
      ? differs("strides", shapeText(expected.layout.strides), shapeText(actual.layout.strides))
      : null);
  if (attribute !== null) return attribute;
  const tolerance = toleranceOf(actual.dtype, options, expected.dtype);
  const shared = promoteTypes(actual.dtype, expected.dtype), dtype = shared === "bool" ? "int64" : shared;
  return elementDifference(
    actual.detach().to(dtype),
    expected.detach().to({ device: actual.device, dtype }),
    { tolerance, equalNan: options.equalNan ?? false, place },
  );
}

/** How the elements of two tensors of one shape and type are compared. */
interface Comparison {
  readonly tolerance: Tolerance;
  readonly equalNan: boolean;
  readonly place: string;
}

function elementDifference(
  actual: Tensor,
  expected: Tensor,
  { tolerance: { rtol, atol }, equalNan, place }: Comparison,
): string | null {
  const matches = ops.isclose(actual, expected, rtol, atol, equalNan);
  const count = actual.numel() - Number(matches.sum().item());
  if (count === 0) return null;
  const isOrdered = rtol !== 0 || atol !== 0;
  const apart = actual.sub(expected).abs().maskedFill(matches, 0);
  const relative = apart.div(expected.abs()).maskedFill(matches, 0);
  const limit = (allowed: number) => isOrdered ? ` (allowed: ${allowed})` : "";
  const greatest = (differences: Tensor) => {
    const at = Number(differences.argmax().item());
    const valueIn = (tensor: Tensor) => `${tensor.reshape([-1]).select(0, at).item()}`;
    return {
      text: `${valueIn(differences)} at ${shapeText(placeOf(at, actual.shape))}`,
      values: `${valueIn(actual)} for ${valueIn(expected)}`,
    };
  };
  const absolute = greatest(apart), ratio = greatest(relative);
  const share = (100 * count / actual.numel()).toFixed(1);
  return [
    `Expected ${isOrdered ? "close" : "equal"} elements${place} but found ${count} of ${actual.numel()} ` +
    `different (${share}%)`,
    `  greatest absolute difference: ${absolute.text}${limit(atol)}: ${absolute.values}`,
    `  greatest relative difference: ${ratio.text}${limit(rtol)}: ${ratio.values}`,
  ].join("\n");
}

/** The indices of the element at a position in row-major order. */
function placeOf(position: number, shape: readonly number[]): number[] {
  const found: number[] = [];
  let rest = position;
  for (const size of shape.toReversed()) {
    found.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return found;
}
