/**
 * Windows that weight samples before a transform: a vector of a given length. Invariant: a periodic window is a
 * symmetric one with one more element, without its last; a window of one element is 1.
 */
import { type DType, getDefaultDtype, isFloat } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isLess } from "../../sym/decide.ts";
import { type Dim, sub } from "../../sym/expr.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { ratioOf } from "../numbers.ts";
import { nullable, optional, type Param, required } from "../params.ts";
import { checkSizeAtLeast } from "../shapes.ts";

/** Additional numbers of a window, by name. */
type Extra = Readonly<Record<string, number>>;

/** The name, formula and parameters of one window function. */
interface WindowSpec {
  readonly name: string;
  readonly torch: string;
  readonly about: string;
  readonly extra: Extra;
  /** Its elements; `at` is 0, 1, … and `last` the last index of a symmetric window. */
  readonly of: <T extends TensorLike>(o: OpApi<T>, at: T, given: { last: Dim; extra: Extra }) => T;
}

/** Σ cₖ·cos(2πk·i/last). */
export function cosines<T extends TensorLike>(
  o: OpApi<T>,
  at: T,
  last: Dim,
  factors: readonly number[],
): T {
  const [constant = 0, ...others] = factors;
  return others.reduce<T>(
    (sum, factor, k) =>
      o.add(sum, o.mul(o.cos(o.mul(at, ratioOf(o, at, { over: 2 * Math.PI * (k + 1), by: last }))), factor)),
    o.fullLike(at, constant),
  );
}

/** 1 − |2i/last − 1|. */
export function triangle<T extends TensorLike>(o: OpApi<T>, at: T, last: Dim): T {
  return o.add(o.neg(o.abs(o.add(o.mul(at, ratioOf(o, at, { over: 2, by: last })), -1))), 1);
}

/** I₀(beta·√(1 − (2i/last − 1)²)) / I₀(beta). */
export function kaiser<T extends TensorLike>(o: OpApi<T>, at: T, last: Dim, beta: number): T {
  const x = o.add(o.mul(at, ratioOf(o, at, { over: 2, by: last })), -1);
  const width = o.sqrt(o.clampMin(o.add(o.neg(o.mul(x, x)), 1), 0));
  return o.div(o.i0(o.mul(width, beta)), o.i0(o.fullLike(at, beta)));
}

function windowOp({ name, torch, about, extra, of }: WindowSpec) {
  const numbers: Record<string, Param<"float", false>> = Object.fromEntries(
    Object.entries(extra).map(([key, value]) => [key, optional("float", value)]),
  );
  const typeOf = (dtype: DType | null): DType => {
    const type = dtype ?? getDefaultDtype();
    if (!isFloat(type)) throw new DynError(`Expected a floating type for ${name} but found ${type}`);
    return type;
  };
  return composeOp({
    name,
    doc: `${about} As \`torch.${torch}\`.`,
    params: {
      windowLength: required("size"),
      periodic: optional("bool", true),
      ...numbers,
      dtype: nullable("dtype", { keyword: true }),
      device: nullable("device", { keyword: true }),
    },
    exposure: { method: false },
    infer({ windowLength, dtype, device }) {
      checkSizeAtLeast("windowLength", windowLength, 0);
      return contiguousMeta([windowLength], typeOf(dtype), device ?? "cpu");
    },
    compose(o, { windowLength, periodic, dtype, device, ...given }) {
      const type = typeOf(dtype), options = { dtype: type, device };
      if (isLess(windowLength, 2)) return o.ones([windowLength], options);
      const named: Readonly<Record<string, unknown>> = given;
      const values = Object.fromEntries(
        Object.entries(extra).map(([key, standard]) => [key, Number(named[key] ?? standard)]),
      );
      // Computed in float64 and rounded once
      const at = o.arange(0, windowLength, 1, { dtype: "float64", device });
      const last = periodic ? windowLength : sub(windowLength, 1);
      return o.to(of(o, at, { last, extra: values }), type);
    },
    gradient: { kind: "none", because: "it reads no elements" },
    samples: [{ args: [5] }, { args: [4, false] }],
    errors: [{ args: [-1], message: "at least 0" }],
  });
}

export const windowFunctions = {
  hannWindow: windowOp({
    name: "hannWindow",
    torch: "hann_window",
    about: "½ − ½·cos(2πi/n).",
    extra: {},
    of: (o, at, { last }) => cosines(o, at, last, [0.5, -0.5]),
  }),
  hammingWindow: windowOp({
    name: "hammingWindow",
    torch: "hamming_window",
    about: "alpha − beta·cos(2πi/n).",
    extra: { alpha: 0.54, beta: 0.46 },
    of: (o, at, { last, extra }) => cosines(o, at, last, [extra["alpha"] ?? 0, -(extra["beta"] ?? 0)]),
  }),
  blackmanWindow: windowOp({
    name: "blackmanWindow",
    torch: "blackman_window",
    about: "0.42 − 0.5·cos(2πi/n) + 0.08·cos(4πi/n).",
    extra: {},
    of: (o, at, { last }) => cosines(o, at, last, [0.42, -0.5, 0.08]),
  }),
  bartlettWindow: windowOp({
    name: "bartlettWindow",
    torch: "bartlett_window",
    about: "1 − |2i/n − 1|: a triangle.",
    extra: {},
    of: (o, at, { last }) => triangle(o, at, last),
  }),
  kaiserWindow: windowOp({
    name: "kaiserWindow",
    torch: "kaiser_window",
    about: "I₀(beta·√(1 − (2i/n − 1)²)) / I₀(beta).",
    extra: { beta: 12 },
    of: (o, at, { last, extra }) => kaiser(o, at, last, extra["beta"] ?? 0),
  }),
} as const;
