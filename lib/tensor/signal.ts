/**
 * The namespace `signal`, like `torch.signal`: windows by name, symmetric unless `sym` is false. Invariant: elements
 * are computed in float64 on the CPU and rounded once; a window of one element is 1.
 */
import { checkAtLeast, checkInteger, checkPositive } from "../base/checked_numbers.ts";
import { checkKind, optionsOf } from "../base/checked_input.ts";
import { type DType, getDefaultDtype, isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { DeviceName } from "../loops/device.ts";
import { cosines, kaiser, triangle } from "../ops/fourier/window_functions.ts";
import { ops } from "./eager.ts";
import { arange, ones } from "./generated_functions.ts";
import type { Tensor } from "./tensor.ts";

/** Options of every window. */
export interface WindowOptions {
  /** Whether both ends are equal, for filters; false: one period of a longer window, for spectra. Default true. */
  readonly sym?: boolean;
  /** A floating type. */
  readonly dtype?: DType | null;
  /** Where the result is; default "cpu". */
  readonly device?: DeviceName | null;
  /** Whether gradients accumulate in the result. */
  readonly requiresGrad?: boolean;
}

/** A window function: `length` elements. */
export type Window<O extends object = object> = (length: number, options?: O & WindowOptions) => Tensor;

/** Where a window is evaluated. */
interface Places {
  /** 0, 1, … in float64. */
  readonly at: Tensor;
  /** The position of the symmetric window's last element. */
  readonly last: number;
}

const COMMON = ["sym", "dtype", "device", "requiresGrad"] as const;

/** A window whose own options are those of `defaults`, which `formula` receives checked. */
function windowOf<O extends object>(
  name: string,
  defaults: O,
  formula: (places: Places, options: O & WindowOptions) => Tensor,
): Window<Partial<O>> {
  return (length, options = {}) => {
    const names: readonly string[] = [...Object.keys(defaults), ...COMMON];
    optionsOf<Record<string, unknown>>(`signal.windows.${name}`, { ...options }, names);
    const { sym = true, dtype, device, requiresGrad = false } = options, type = dtype ?? getDefaultDtype();
    checkInteger(`the length of signal.windows.${name}`, length, 0);
    if (!isFloat(type)) {
      throw new DynError(`Expected a floating type for signal.windows.${name} but found ${type}`);
    }
    const at = arange(0, length, 1, { dtype: "float64", device: "cpu" }), last = sym ? length - 1 : length;
    const made = length <= 1
      ? ones([length], { device: "cpu" })
      : formula({ at, last }, { ...defaults, ...options });
    return made.to(type).to(device ?? "cpu").requiresGrad_(requiresGrad);
  };
}

/** Σ (−1)ᵏ·aₖ·cos(2πk·i/last). */
const alternating = ({ at, last }: Places, factors: readonly number[]): Tensor =>
  cosines(ops, at, last, factors.map((a, k) => k % 2 === 0 ? a : -a));

const cosineSum = (name: string, factors: readonly number[]): Window =>
  windowOf(name, {}, (places) => alternating(places, factors));

/** An option without a value of its own. */
const NONE: { readonly center: number | null } = { center: null };

/** Windows, like `torch.signal.windows`. */
export const windows = {
  /** 1 − |2i/last − 1|: a triangle. */
  bartlett: windowOf("bartlett", {}, ({ at, last }) => triangle(ops, at, last)),
  /** 0.42 − 0.5·cos(2πi/last) + 0.08·cos(4πi/last). */
  blackman: cosineSum("blackman", [0.42, 0.5, 0.08]),
  /** sin(π(i + ½)/(last + 1)). */
  cosine: windowOf("cosine", {}, ({ at, last }) => at.add(0.5).mul(Math.PI / (last + 1)).sin()),
  /** exp(−|i − center|/tau); the center is the middle, and another one needs `sym: false`. */
  exponential: windowOf("exponential", { ...NONE, tau: 1 }, ({ at, last }, { center, tau, sym }) => {
    checkPositive("tau of signal.windows.exponential", tau);
    if (center !== null && sym !== false) {
      throw new DynError(`Expected no center of a symmetric exponential window but found ${center}`);
    }
    return at.sub(center ?? last / 2).abs().div(-tau).exp();
  }),
  /** exp(−½((i − last/2)/std)²). */
  gaussian: windowOf("gaussian", { std: 1 }, ({ at, last }, { std }) => {
    checkPositive("std of signal.windows.gaussian", std);
    return at.sub(last / 2).div(std).square().mul(-0.5).exp();
  }),
  /** Σ (−1)ᵏ·aₖ·cos(2πk·i/last) of the factors `a`. */
  generalCosine(
    length: number,
    options: { readonly a: readonly number[] } & WindowOptions = { a: [] },
  ): Tensor {
    const { a, ...others } = options;
    checkKind(a, "a list", "the factors of signal.windows.generalCosine");
    if (a.length === 0) throw new DynError("Expected factors of signal.windows.generalCosine but found none");
    return cosineSum("generalCosine", a)(length, others);
  },
  /** alpha − (1 − alpha)·cos(2πi/last). */
  generalHamming: windowOf(
    "generalHamming",
    { alpha: 0.54 },
    (places, { alpha }) => alternating(places, [alpha, 1 - alpha]),
  ),
  /** 0.54 − 0.46·cos(2πi/last). */
  hamming: cosineSum("hamming", [0.54, 0.46]),
  /** ½ − ½·cos(2πi/last). */
  hann: cosineSum("hann", [0.5, 0.5]),
  /** I₀(beta·√(1 − (2i/last − 1)²)) / I₀(beta). */
  kaiser: windowOf("kaiser", { beta: 12 }, ({ at, last }, { beta }) => {
    checkAtLeast("beta of signal.windows.kaiser", beta, 0);
    return kaiser(ops, at, last, beta);
  }),
  /** The cosine window of four terms by Nuttall (1981) with continuous first derivative. */
  nuttall: cosineSum("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411]),
} as const;
