/**
 * Power-average pooling of [batch?, channels, …spatial]. Invariant: compositions of average and max pooling, whose
 * sizes they share.
 */
import { DynError } from "../../base/errors.ts";
import { product } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { FUNCTIONAL } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { spread } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkPooled, pooledSizes, windowsOf } from "./windows.ts";

/** lpPool1d, lpPool2d and lpPool3d. */
function lpPool(rank: 1 | 2 | 3) {
  const name = `lpPool${rank}d` as const, image = [5, 6, 4].slice(0, rank);
  return composeWideOp({
    name,
    doc: `(Σ xᵖ)^(1/p) of each window over ${rank} dimension(s), as \`nn.functional.lp_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      normType: required("float"),
      kernelSize: required("sizeOrSizes"),
      stride: nullable("sizeOrSizes"),
      ceilMode: optional("bool", false),
    },
    exposure: FUNCTIONAL,
    infer({ self, normType, kernelSize, stride, ceilMode }) {
      if (normType === 0) throw new DynError("Expected a nonzero normType but found 0");
      checkPooled(name, self, rank);
      const windows = windowsOf({ kernelSize, stride, padding: 0, ceilMode }, rank);
      return contiguousMeta(pooledSizes(self.shape, windows), self.dtype, self.device);
    },
    compose(o, { self, normType, kernelSize, stride, ceilMode }) {
      const size = product(spread(kernelSize, rank, "kernelSize"));
      const largest = (x: typeof self) =>
        rank === 1
          ? o.maxPool1d(x, kernelSize, stride, 0, 1, ceilMode)
          : rank === 2
          ? o.maxPool2d(x, kernelSize, stride, 0, 1, ceilMode)
          : o.maxPool3d(x, kernelSize, stride, 0, 1, ceilMode);
      if (normType === Infinity) return largest(o.abs(self));
      if (normType === -Infinity) return o.neg(largest(o.neg(o.abs(self))));
      const powers = o.pow(self, normType);
      const means = rank === 1
        ? o.avgPool1d(powers, kernelSize, stride, 0, ceilMode)
        : rank === 2
        ? o.avgPool2d(powers, kernelSize, stride, 0, ceilMode)
        : o.avgPool3d(powers, kernelSize, stride, 0, ceilMode);
      return o.pow(o.mul(o.mul(o.sign(means), o.relu(o.abs(means))), size), 1 / normType);
    },
    samples: [{ args: [{ tensor: [1, 2, ...image], range: [0.2, 2] }, 3, 2] }],
    errors: [{ args: [t(1, 2, ...image), 0, 2], message: "nonzero" }],
  });
}

export const powerPooling = { lpPool1d: lpPool(1), lpPool2d: lpPool(2), lpPool3d: lpPool(3) } as const;
