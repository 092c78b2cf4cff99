/**
 * Dropout of elements and of whole channels. Invariant: compositions of random masks, so that a seed produces the same
 * elements on every tier.
 */
import { checkShare } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";

function checkChance(p: number | TensorLike): void {
  checkShare("the probability of dropout", p);
}

const DROPOUT_PARAMS = {
  self: required("tensor"),
  // Nothing, and everything, is dropped without a mask
  p: optional("floatOperand", 0.5, { changes: { above: 0, below: 1 } }),
  training: optional("bool", true),
} as const;

const dropout = composeOp({
  name: "dropout",
  doc: "Elements dropped with probability p and the rest scaled to keep the mean, while training. As " +
    "`nn.functional.dropout`.",
  params: DROPOUT_PARAMS,
  otherNames: { train: "training" },
  inplace: true,
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ self, p }) {
    checkChance(p);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, p, training }) {
    if (!training || p === 0) return self;
    if (p === 1 && self.dtype === "bool") return o.zerosLike(self);
    return p === 1 ? o.mul(self, 0) : o.mul(self, o.dropoutMask(self, p));
  },
  samples: [{ args: [t(2, 3)], options: { training: false } }, { args: [t(2, 3), 1] }],
  errors: [{ args: [t(3), 1.5], message: "probability" }],
});

/** dropout1d, dropout2d, dropout3d: whole channels are dropped. */
function channelDropout(rank: 1 | 2 | 3) {
  return composeOp({
    name: `dropout${rank}d`,
    doc: `As dropout, of whole channels of ${rank} dimension(s), as \`nn.functional.dropout${rank}d\`${
      rank === 2 ? ", of (batch, channels, length), too" : ""
    }.`,
    params: DROPOUT_PARAMS,
    inplace: true,
    exposure: { method: false, free: false, namespaces: ["nn.functional"] },
    infer({ self, p }) {
      checkChance(p);
      if (self.shape.length < rank + 1) {
        throw new DynError(`Expected at least ${rank + 1} dimensions but found ${shapeText(self.shape)}`);
      }
      if (rank === 1 && self.shape.length > 3) {
        throw new DynError(`Expected 2 or 3 dimensions for dropout1d but found ${shapeText(self.shape)}`);
      }
      return contiguousMeta(self.shape, self.dtype, self.device);
    },
    compose(o, { self, p, training }) {
      if (!training || p === 0) return self;
      if (p === 1) return o.mul(self, 0);
      // Three dimensions are a batch to dropout2d, as in PyTorch, whose other two take one sample
      const lead = rank !== 2 && self.shape.length === rank + 1 ? 1 : 2;
      const channels = o.newEmpty(self, self.shape.map((size, d) => d < lead ? size : 1));
      return o.mul(self, o.dropoutMask(channels, p));
    },
    samples: [{ args: [rank === 1 ? t(2, 3, 4) : t(2, 3, 4, 4, 4)], options: { training: false } }],
    errors: rank === 1
      ? [{ args: [t(2, 3, 4, 4)], message: "Expected 2 or 3 dimensions for dropout1d" }]
      : [{ args: [t(3)], message: "dimensions" }],
  });
}

/** The ops of this file. */
export const dropouts = {
  dropout,
  dropout1d: channelDropout(1),
  dropout2d: channelDropout(2),
  dropout3d: channelDropout(3),
} as const;
