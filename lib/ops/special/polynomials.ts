/**
 * Orthogonal polynomials by three-term recurrences, and integer functions of pairs. Invariant: computed on the host,
 * element by element, in float64 or exactly; the degree is an element, so that no kernel could unroll it.
 */
import { capitalized, snakeCase } from "../../base/names.ts";
import { DynError } from "../../base/errors.ts";
import { isFloat, isHalf } from "../../base/dtype.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { hostOp, type HostTensor } from "../definition.ts";
import { required } from "../params.ts";
import { hostTensor } from "../host.ts";
import { isTensor, resultTypeOf } from "../promotion.ts";
import { type OperandOf, pointwiseMeta, t } from "../pointwise.ts";
import { broadcastShapes, knownSize } from "../shapes.ts";

/** Elements of a broadcast operand in row-major order of a shape. */
function broadcastElements(operand: OperandOf<HostTensor>, shape: readonly number[]): (number | bigint)[] {
  const count = shape.reduce((a, b) => a * b, 1);
  if (!isTensor(operand)) return new Array<number>(count).fill(Number(operand));
  const own = operand.shape.map((s) => knownSize(s)), lead = shape.length - own.length;
  return Array.from({ length: count }, (_, flat) => {
    let rest = flat, at = 0, step = 1;
    for (let d = shape.length - 1; d >= 0; d--) {
      const size = shape[d] ?? 1, i = rest % size;
      rest = Math.floor(rest / size);
      const mine = own[d - lead];
      if (d < lead || mine === undefined) continue;
      at += (mine === 1 ? 0 : i) * step;
      step *= mine;
    }
    return operand.data[at] ?? 0;
  });
}

/** Both operands, broadcast, with the shape of the result. */
function aligned(a: OperandOf<HostTensor>, b: OperandOf<HostTensor>) {
  const shape = broadcastShapes(isTensor(a) ? a.shape : [], isTensor(b) ? b.shape : []).map((s) =>
    knownSize(s)
  );
  return { shape, left: broadcastElements(a, shape), right: broadcastElements(b, shape) };
}

/** A family p₀ = 1, p₁ = first(x), pₖ₊₁ = next(k, x, pₖ, pₖ₋₁). */
interface Family {
  readonly name: string;
  readonly doc: string;
  /** The polynomial of degree n at x in [−1, 1] in closed form; absent: there is none. */
  readonly closed?: (n: number, x: number) => number;
  /** Maximum degree by type; results of greater degrees are NaN. */
  readonly greatest?: Readonly<Record<"float32" | "float64", number>>;
  readonly first: (x: number) => number;
  readonly next: (
    k: number,
    at: { readonly x: number; readonly now: number; readonly before: number },
  ) => number;
  /** The argument of the recurrence: 2x − 1 for shifted families. */
  readonly argument?: (x: number) => number;
}

/** Up to this degree the recurrence is at least as exact as the closed form inside [−1, 1]. */
const SHORT = 8;

/**
 * A number as a degree, converted to an integer as on x86: NaN and numbers beyond 64 bits become the least integer, so
 * that the polynomial is 0 instead of an endless recurrence.
 */
function degreeOf(x: number): number {
  return Math.abs(x) < 2 ** 63 ? Math.trunc(x) : -(2 ** 63);
}

function valueOf(
  family: Family,
  x: number,
  { degree, dtype }: { readonly degree: number; readonly dtype: "float32" | "float64" },
): number {
  const n = degreeOf(degree);
  if (n < 0) return 0;
  if (n === 0) return 1;
  if (family.greatest && n > family.greatest[dtype]) return NaN;
  const z = family.argument ? family.argument(x) : x;
  if (family.closed && n > SHORT && Math.abs(z) <= 1) return family.closed(n, z);
  let before = 1, now = family.first(z);
  // NaN stays NaN
  for (let k = 1; k < n && !Number.isNaN(now); k++) {
    [before, now] = [now, family.next(k, { x: z, now, before })];
  }
  return now;
}

function polynomial(family: Family) {
  return hostOp({
    name: family.name,
    doc: `${family.doc} of degree n at x, as \`torch.special.${snakeCase(family.name)}\`.`,
    params: { x: required("operand"), n: required("operand") },
    exposure: { method: false, free: false, namespaces: ["special"] },
    infer({ x, n }) {
      const dtype = resultTypeOf([x, n]);
      if (isHalf(dtype)) {
        throw new DynError(`Expected float32 or float64 for ${family.name} but found ${dtype}`);
      }
      return pointwiseMeta([x, n], isFloat(dtype) ? dtype : "float32");
    },
    compute({ x, n }) {
      const { shape, left, right } = aligned(x, n);
      const dtype = resultTypeOf([x, n]) === "float64" ? "float64" : "float32";
      const values = left.map((v, i) => valueOf(family, Number(v), { degree: Number(right[i]), dtype }));
      return [hostTensor(shape, dtype, values)];
    },
    gradient: { kind: "none", because: "PyTorch defines none" },
    samples: [{ args: [t(3), { tensor: [3], dtype: "int64", range: [0, 4] }] }],
    errors: [{ args: [{ tensor: [3], dtype: "bfloat16" }, 2], message: "float32 or float64" }],
  });
}

type Step = { readonly x: number; readonly now: number; readonly before: number };
const doubling = (_k: number, { x, now, before }: Step): number => 2 * x * now - before;
const shifted = (x: number): number => 2 * x - 1;
const sign = (n: number): number => n % 2 === 0 ? 1 : -1;

/**
 * One wave divided by another, both of the angle arccos x: Chebyshev's polynomials inside of (−1, 1). At an end where
 * the divisor vanishes the quotient is its limit.
 */
const quotient = (
  [above, below]: readonly [number, number],
  { x, limits: [atMinusOne, atOne] }: { readonly x: number; readonly limits: readonly [number, number] },
): number => x === 1 ? atOne : x === -1 ? atMinusOne : above / below;

/** The largest degree of Hermite polynomials in PyTorch. */
const HERMITE = { float32: 128, float64: 512 };

const FAMILIES: readonly Family[] = [
  {
    name: "chebyshevPolynomialT",
    doc: "Chebyshev's polynomial of the first kind",
    closed: (n, x) => quotient([Math.cos(n * Math.acos(x)), 1], { x, limits: [sign(n), 1] }),
    first: (x) => x,
    next: doubling,
  },
  {
    name: "chebyshevPolynomialU",
    doc: "Chebyshev's polynomial of the second kind",
    closed: (n, x) =>
      quotient([Math.sin((n + 1) * Math.acos(x)), Math.sin(Math.acos(x))], {
        x,
        limits: [sign(n) * (n + 1), n + 1],
      }),
    first: (x) => 2 * x,
    next: doubling,
  },
  {
    name: "chebyshevPolynomialV",
    doc: "Chebyshev's polynomial of the third kind",
    closed: (n, x) =>
      quotient([Math.cos((n + 0.5) * Math.acos(x)), Math.cos(Math.acos(x) / 2)], {
        x,
        limits: [sign(n) * (2 * n + 1), 1],
      }),
    first: (x) => 2 * x - 1,
    next: doubling,
  },
  {
    name: "chebyshevPolynomialW",
    doc: "Chebyshev's polynomial of the fourth kind",
    closed: (n, x) =>
      quotient([Math.sin((n + 0.5) * Math.acos(x)), Math.sin(Math.acos(x) / 2)], {
        x,
        limits: [sign(n), 2 * n + 1],
      }),
    first: (x) => 2 * x + 1,
    next: doubling,
  },
  {
    name: "hermitePolynomialH",
    doc: "The physicists' Hermite polynomial",
    greatest: HERMITE,
    first: (x) => 2 * x,
    next: (k, { x, now, before }) => 2 * x * now - 2 * k * before,
  },
  {
    name: "hermitePolynomialHe",
    doc: "The probabilists' Hermite polynomial",
    greatest: HERMITE,
    first: (x) => x,
    next: (k, { x, now, before }) => x * now - k * before,
  },
  {
    name: "laguerrePolynomialL",
    doc: "Laguerre's polynomial",
    first: (x) => 1 - x,
    next: (k, { x, now, before }) => ((2 * k + 1 - x) * now - k * before) / (k + 1),
  },
  {
    name: "legendrePolynomialP",
    doc: "Legendre's polynomial",
    first: (x) => x,
    next: (k, { x, now, before }) => ((2 * k + 1) * x * now - k * before) / (k + 1),
  },
];

const SHIFTED: readonly Family[] = FAMILIES.slice(0, 4).map((family) => ({
  ...family,
  name: `shifted${capitalized(family.name)}`,
  doc: `${family.doc}, shifted to [0, 1],`,
  argument: shifted,
}));

const byName = (name: string): ReturnType<typeof polynomial> => {
  const family = [...FAMILIES, ...SHIFTED].find((f) => f.name === name);
  if (!family) throw new DynError(`Expected a family of polynomials but found ${name}`);
  return polynomial(family);
};

/** gcd and lcm by Euclid. */
function divisor(name: "gcd" | "lcm") {
  const abs = (x: bigint) => x < 0n ? -x : x;
  const gcd = (a: bigint, b: bigint): bigint => {
    while (b !== 0n) [a, b] = [b, a % b];
    return abs(a);
  };
  return hostOp({
    name,
    doc: `The ${name === "gcd" ? "greatest common divisor" : "least common multiple"}, as \`torch.${name}\`.`,
    params: { self: required("tensor"), other: required("tensor") },
    inplace: true,
    infer({ self, other }) {
      const dtype = resultTypeOf([self, other]);
      if (isFloat(dtype) || dtype === "bool") {
        throw new DynError(`Expected integers in ${name} but found ${dtype}`);
      }
      return contiguousMeta(broadcastShapes(self.shape, other.shape), dtype, self.device);
    },
    compute({ self, other }) {
      const { shape, left, right } = aligned(self, other);
      const values = left.map((v, i) => {
        const a = BigInt(v), b = BigInt(right[i] ?? 0), common = gcd(a, b);
        return name === "gcd" ? common : common === 0n ? 0n : abs(a / common * b);
      });
      return [hostTensor(shape, resultTypeOf([self, other]), values)];
    },
    gradient: { kind: "none", because: "its result is made of integers" },
    samples: [{
      args: [{ tensor: [3], dtype: "int64", range: [-20, 20] }, {
        tensor: [3],
        dtype: "int64",
        range: [1, 9],
      }],
    }],
  });
}

export const polynomials = {
  chebyshevPolynomialT: byName("chebyshevPolynomialT"),
  chebyshevPolynomialU: byName("chebyshevPolynomialU"),
  chebyshevPolynomialV: byName("chebyshevPolynomialV"),
  chebyshevPolynomialW: byName("chebyshevPolynomialW"),
  hermitePolynomialH: byName("hermitePolynomialH"),
  hermitePolynomialHe: byName("hermitePolynomialHe"),
  laguerrePolynomialL: byName("laguerrePolynomialL"),
  legendrePolynomialP: byName("legendrePolynomialP"),
  shiftedChebyshevPolynomialT: byName("shiftedChebyshevPolynomialT"),
  shiftedChebyshevPolynomialU: byName("shiftedChebyshevPolynomialU"),
  shiftedChebyshevPolynomialV: byName("shiftedChebyshevPolynomialV"),
  shiftedChebyshevPolynomialW: byName("shiftedChebyshevPolynomialW"),
  gcd: divisor("gcd"),
  lcm: divisor("lcm"),
} as const;
