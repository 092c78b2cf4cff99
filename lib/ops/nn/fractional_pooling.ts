/**
 * Max pooling over windows at random places of [batch?, channels, …spatial]. Invariant: compositions; window
 * positions follow from one random number for each channel and dimension, which a caller may pass.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText, spread } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

interface FractionalArgs {
  readonly self: TensorLike;
  readonly kernelSize: number | readonly number[];
  readonly outputSize: number | readonly number[] | null;
  readonly outputRatio: number | readonly number[] | null;
}

function fractionalSizes(
  { self, kernelSize, outputSize, outputRatio }: FractionalArgs,
  rank: number,
): number[] {
  if (self.shape.length !== rank + 1 && self.shape.length !== rank + 2) {
    throw new DynError(`Expected ${rank + 1} or ${rank + 2} dimensions but found ${shapeText(self.shape)}`);
  }
  if ((outputSize === null) === (outputRatio === null)) {
    const found = outputSize === null ? "neither" : "both";
    throw new DynError(`Expected either outputSize or outputRatio but found ${found}`);
  }
  const spatial = self.shape.slice(-rank).map((s) => knownSize(s));
  const ratios = outputRatio === null ? [] : spread(outputRatio, rank, "outputRatio");
  if (ratios.some((r) => !(r > 0 && r < 1))) {
    throw new DynError(`Expected ratios in (0, 1) but found [${ratios}]`);
  }
  const sizes = outputSize === null
    ? spatial.map((size, d) => Math.floor(size * (ratios[d] ?? 1)))
    : spread(outputSize, rank, "outputSize");
  const kernel = spread(kernelSize, rank, "kernelSize");
  sizes.forEach((size, d) => {
    const own = spatial[d] ?? 1, window = kernel[d] ?? 1;
    if (size < 1 || window < 1 || size + window - 1 > own) {
      throw new DynError(
        `Expected windows that fit but found ${size} of ${window} for a dimension of ${own}`,
      );
    }
  });
  return sizes;
}

/** Returns the start of each window along a dimension: [lead, count] from [lead] random numbers. */
function starts<T extends TensorLike>(
  o: OpApi<T>,
  sample: T,
  { size, window, count }: { readonly size: number; readonly window: number; readonly count: number },
): T {
  const options = { device: sample.device };
  if (count === 1) return o.fullLike(o.unsqueeze(sample, -1), size - window, { dtype: "int64" });
  const alpha = (size - window) / (count - 1), steps = o.arange(count, { ...options, dtype: sample.dtype });
  const shift = o.unsqueeze(sample, -1), from = o.floor(o.mul(shift, alpha));
  const inner = o.sub(o.floor(o.mul(o.add(steps, shift), alpha)), from);
  return o.to(o.where(o.eq(steps, count - 1), size - window, inner), "int64");
}

/** fractionalMaxPool2d and fractionalMaxPool3d. */
function fractionalMaxPool(rank: 2 | 3) {
  const image = [5, 6, 5].slice(0, rank);
  return composeWideOp({
    name: `fractionalMaxPool${rank}d`,
    doc: `The maxima of windows at random places over ${rank} dimensions (Graham 2014), as ` +
      `\`nn.functional.fractional_max_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      kernelSize: required("intOrInts"),
      outputSize: nullable("intOrInts"),
      outputRatio: nullable("floatOrFloats"),
      returnIndices: optional("bool", false),
      randomSamples: nullable("tensor"),
    },
    results: ["values", "indices"],
    resultsIf: "returnIndices",
    exposure: FUNCTIONAL,
    infer({ returnIndices, ...args }) {
      const { self } = args, shape = [...self.shape.slice(0, -rank), ...fractionalSizes(args, rank)];
      const values = contiguousMeta(shape, self.dtype, self.device);
      return returnIndices ? [values, contiguousMeta(shape, "int64", self.device)] : values;
    },
    compose(o, { returnIndices, randomSamples, ...args }) {
      const { self } = args, sizes = fractionalSizes(args, rank), lead = self.shape.slice(0, -rank);
      const kernel = spread(args.kernelSize, rank, "kernelSize"), spatial = self.shape.slice(-rank);
      const batch = lead.length === 1 ? [1, ...lead] : lead;
      const samples = randomSamples ?? o.rand([...batch, rank], { dtype: self.dtype, device: self.device });
      const flat = o.reshape(self, [...batch, product(spatial)]);
      // [batch, channels, …windows, …elements of a window] into the flat input
      let index: typeof self | null = null;
      spatial.forEach((size, d) => {
        const known = knownSize(size), count = sizes[d] ?? 1, window = kernel[d] ?? 1;
        // PyTorch assigns random numbers from the last dimension on for images, from the first for volumes
        const sample = o.select(samples, -1, rank === 2 ? rank - 1 - d : d);
        const first = starts(o, sample, { size: known, window, count });
        const places = o.reshape(first, [
          ...batch,
          ...sizes.map((_, e) => e === d ? count : 1),
          ...kernel.map(() => 1),
        ]);
        const inside = o.reshape(
          o.arange(window, { device: self.device }),
          [...sizes.map(() => 1), ...kernel.map((_, e) => e === d ? window : 1)],
        );
        const own = o.add(places, inside);
        index = index ? o.add(o.mul(index, known), own) : own;
      });
      invariant(index, "Expected spatial dimensions but found none");
      const whole = o.expand(index, [...batch, ...sizes, ...kernel]);
      const columns = o.reshape(whole, [...batch, product(sizes), product(kernel)]);
      const read = o.gather(
        o.expand(o.unsqueeze(flat, -2), [...batch, product(sizes), product(spatial)]),
        -1,
        columns,
      );
      const [values, at] = o.max(read, -1), shape: Dim[] = [...lead, ...sizes];
      invariant(values && at, "Expected values and their places");
      if (!returnIndices) return o.reshape(values, shape);
      const places = o.squeeze(o.gather(columns, -1, o.unsqueeze(at, -1)), -1);
      return [o.reshape(values, shape), o.reshape(places, shape)];
    },
    samples: [{
      args: [t(1, 2, ...image), 2],
      options: { outputSize: 3, randomSamples: { tensor: [1, 2, rank], range: [0, 1] } },
    }],
    errors: [{ args: [t(2, 3, 4, 5), 2], message: "either outputSize or outputRatio" }],
  });
}

export const fractionalPooling = {
  fractionalMaxPool2d: fractionalMaxPool(2),
  fractionalMaxPool3d: fractionalMaxPool(3),
} as const;
