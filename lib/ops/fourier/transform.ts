/**
 * The discrete Fourier transform as an op over pairs of real and imaginary parts, with the transformed dimension
 * before them. Invariant: computed on the host in float64 and rounded once, without scaling, so that its gradient is
 * the transform in the other direction.
 */
import { DynError, InternalError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { hostOp } from "../definition.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText } from "../shapes.ts";
import { planOf } from "./plan.ts";

const fourierPairs = hostOp({
  name: "fourierPairs",
  doc: "Sums Σ x[j]·exp(∓2πi·jk/n) along the dimension before the last one, which holds pairs.",
  params: { self: required("tensor"), inverse: optional("bool", false) },
  exposure: { method: false, free: false },
  infer({ self }) {
    if (self.shape.length < 2 || self.shape.at(-1) !== 2) {
      throw new DynError(`Expected pairs along a dimension but found ${shapeText(self.shape)}`);
    }
    if (self.dtype !== "float32" && self.dtype !== "float64") {
      throw new DynError(`Expected pairs of float32 or float64 but found ${self.dtype}`);
    }
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compute({ self, inverse }) {
    const n = knownSize(self.shape.at(-2) ?? 1), plan = planOf(n);
    if (self.data instanceof BigInt64Array) throw new InternalError("Expected pairs of floats");
    const pairs = new Float64Array(self.data);
    for (let from = 0; from < pairs.length / 2; from += n) plan.run(pairs, from, inverse);
    const data = self.dtype === "float64" ? pairs : new Float32Array(pairs);
    return [{ shape: self.shape, dtype: self.dtype, data }];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { inverse } }) => ({ self: o.fourierPairs(grad, !inverse) }),
  },
  samples: [{ args: [t(3, 4, 2)] }, { args: [t(5, 2), true] }],
  errors: [{ args: [t(3, 3)], message: "pairs along" }],
});

export const fourierTransform = { fourierPairs } as const;
