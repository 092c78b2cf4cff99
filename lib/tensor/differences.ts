/**
 * Numerical derivatives of sampled functions along dimensions. Invariant: composed of ops, so that gradients reach
 * the samples and it can be captured.
 */
import { checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "./checked.ts";
import { DynError } from "../base/errors.ts";
import { isDifferentiable, partType } from "../base/dtype.ts";
import { normalizeDim } from "../ops/shapes.ts";
import { ops } from "./eager.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Arguments of gradient by name. */
export interface GradientOptions {
  /** The distance of samples, one for all or for each dimension, or vectors of their coordinates. */
  readonly spacing?: number | readonly number[] | readonly Tensor[] | null;
  /** The dimensions; default: all. */
  readonly dim?: number | readonly number[] | null;
  /** Order of the differences at the edges: exact for polynomials of this degree. */
  readonly edgeOrder?: 1 | 2;
}

/** Σ factors[k] · x[start + k : start + k + length] along a dimension. */
function combined(
  x: Tensor,
  factors: readonly (Tensor | number)[],
  { dim, start, length }: { readonly dim: number; readonly start: number; readonly length: number },
): Tensor {
  const terms = factors.map((factor, k) => x.narrow(dim, start + k, length).mul(factor));
  return terms.reduce((sum, term) => sum.add(term));
}

/** Differences along one dimension, of samples at equal distances. */
function evenly(
  x: Tensor,
  dim: number,
  { distance, edgeOrder }: { distance: number; edgeOrder: 1 | 2 },
): Tensor {
  const n = x.shape[dim] ?? 0, at = (start: number, length: number) => ({ dim, start, length });
  const middle = n > 2 ? [x.narrow(dim, 2, n - 2).sub(x.narrow(dim, 0, n - 2)).div(2)] : [];
  const first = edgeOrder === 1 ? combined(x, [-1, 1], at(0, 1)) : combined(x, [-1.5, 2, -0.5], at(0, 1));
  const last = edgeOrder === 1
    ? combined(x, [-1, 1], at(n - 2, 1))
    : combined(x, [0.5, -2, 1.5], at(n - 3, 1));
  return ops.cat([first, ...middle, last], dim).div(distance);
}

/** Differences along one dimension, of samples at given coordinates. */
function unevenly(
  x: Tensor,
  dim: number,
  { places, edgeOrder }: { places: Tensor; edgeOrder: 1 | 2 },
): Tensor {
  const n = x.shape[dim] ?? 0, shape = x.shape.map((_, d) => d === dim ? -1 : 1);
  const gaps = places.narrow(0, 1, n - 1).sub(places.narrow(0, 0, n - 1)).reshape(shape);
  const gap = (start: number, length: number) => gaps.narrow(dim, start, length);
  const at = (start: number, length: number) => ({ dim, start, length });
  const parts: Tensor[] = [];
  if (n > 2) {
    const a = gap(0, n - 2), b = gap(1, n - 2), sum = a.add(b);
    const factors = [b.neg().div(a.mul(sum)), b.sub(a).div(a.mul(b)), a.div(b.mul(sum))];
    parts.push(combined(x, factors, at(0, n - 2)));
  }
  if (edgeOrder === 1) {
    parts.unshift(combined(x, [-1, 1], at(0, 1)).div(gap(0, 1)));
    parts.push(combined(x, [-1, 1], at(n - 2, 1)).div(gap(n - 2, 1)));
  } else {
    const a = gap(0, 1), b = gap(1, 1), c = gap(n - 3, 1), d = gap(n - 2, 1);
    const head = [
      a.mul(2).add(b).neg().div(a.mul(a.add(b))),
      a.add(b).div(a.mul(b)),
      a.neg().div(b.mul(a.add(b))),
    ];
    const tail = [d.div(c.mul(c.add(d))), d.add(c).neg().div(c.mul(d)), d.mul(2).add(c).div(d.mul(c.add(d)))];
    parts.unshift(combined(x, head, at(0, 1)));
    parts.push(combined(x, tail, at(n - 3, 1)));
  }
  return ops.cat(parts, dim);
}

/**
 * The derivative of a sampled function along dimensions, by central differences, as `torch.gradient`: one tensor of the
 * shape of `input` for each. Throws DynError for repeated dims, another number of spacings, and dimensions of fewer
 * than edgeOrder + 1 samples.
 */
export function gradient(input: Tensor, options: GradientOptions = {}): Tensor[] {
  if (arguments.length > 2) refuseSurplus("gradient", 2, arguments);
  checkTensor(input, "gradient");
  const { spacing = null, dim = null, edgeOrder = 1 } = optionsOf("gradient", options, [
      "spacing",
      "dim",
      "edgeOrder",
    ]),
    rank = input.ndim;
  const x = isDifferentiable(input.dtype) ? input : input.to("float32");
  if (dim !== null && typeof dim !== "number") checkKind(dim, "a list", "dim of gradient");
  const dims = dim === null
    ? Array.from({ length: rank }, (_, d) => d)
    : (typeof dim === "number" ? [dim] : dim).map((d) => normalizeDim(d, rank));
  if (new Set(dims).size !== dims.length) throw new DynError(`Expected distinct dims but found [${dims}]`);
  const spacings: readonly (number | Tensor)[] = spacing === null || typeof spacing === "number"
    ? dims.map(() => spacing ?? 1)
    : spacing;
  if (spacings.length !== dims.length) {
    throw new DynError(
      `Expected a spacing for each of ${dims.length} dimensions but found ${spacings.length}`,
    );
  }
  if (edgeOrder !== 1 && edgeOrder !== 2) {
    throw new DynError(`Expected an edgeOrder of 1 or 2 but found ${edgeOrder}`);
  }
  return dims.map((d, k) => {
    const size = x.shape[d] ?? 0, of = spacings[k] ?? 1;
    if (size < edgeOrder + 1) {
      throw new DynError(`Expected at least ${edgeOrder + 1} samples in dimension ${d} but found ${size}`);
    }
    if (!isTensor(of)) return evenly(x, d, { distance: of, edgeOrder });
    if (of.ndim !== 1 || of.shape[0] !== size) {
      throw new DynError(`Expected ${size} coordinates in dimension ${d} but found shape [${of.shape}]`);
    }
    const places = isDifferentiable(of.dtype) ? of : of.to(partType(x.dtype));
    return unevenly(x, d, { places, edgeOrder });
  });
}
