/**
 * Random changes of activations besides dropout: dropped to the value that preserves a SELU's statistics, given
 * random negative slopes, or drawn as categories. Invariant: compositions of random masks, so that a seed produces
 * the same elements on every tier.
 */
import { checkShare } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { type NumberOf, numberOf } from "../numbers.ts";
import { optional, required } from "../params.ts";
import { checkCategory, pointwiseMeta, t, typesOf } from "../pointwise.ts";
import { normalizeDim, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

/** −scale · alpha of SELU, its saturation value (Klambauer et al. 2017). */
const SATURATED = -1.7580993408473766;

function checkNoise(name: string, self: TensorMeta, p: NumberOf<TensorMeta>): TensorMeta {
  checkShare(`the probability of ${name}`, p);
  checkCategory(name, self.dtype, ["float"]);
  return contiguousMeta(self.shape, self.dtype, self.device);
}

/** Elements where `mask` is not 0, saturated elsewhere, then shifted and scaled to preserve mean and variance. */
function saturate<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  { mask, p }: { readonly mask: T; readonly p: NumberOf<T> },
): T {
  const a = numberOf(o, [p], (m, share) => {
    const one = m.constant(1), spread = m.add(one, m.mul(share, m.constant(SATURATED ** 2)));
    return m.div(one, m.sqrt(m.mul(m.sub(one, share), spread)));
  });
  const b = numberOf(
    o,
    [a, p],
    (m, scale, share) => m.mul(m.mul(m.neg(scale), share), m.constant(SATURATED)),
  );
  return o.add(o.mul(o.where(o.ne(mask, 0), self, SATURATED), a), b);
}

/** alphaDropout and featureAlphaDropout. */
function alphaDropout(name: "alphaDropout" | "featureAlphaDropout") {
  const ofChannels = name === "featureAlphaDropout";
  return composeWideOp({
    name,
    doc:
      `${
        ofChannels ? "Whole channels" : "Elements"
      } set to SELU's saturation value with probability p, then scaled and shifted to ` +
      `keep mean and variance, while training. As \`nn.functional.${
        ofChannels ? "feature_" : ""
      }alpha_dropout\`.`,
    otherNames: { train: "training" },
    params: {
      self: required("tensor"),
      p: optional("floatOperand", 0.5, { changes: { above: 0, below: 1 } }),
      training: optional("bool", false),
    },
    inplace: true,
    exposure: { method: false, namespaces: ["nn.functional"] },
    infer({ self, p, training }) {
      if (ofChannels && training && p !== 0 && self.shape.length < 2) {
        throw new DynError(`Expected at least 2 dimensions but found ${shapeText(self.shape)}`);
      }
      return checkNoise(name, self, p);
    },
    compose(o, { self, p, training }) {
      if (!training || p === 0) return self;
      if (p === 1) return o.mul(self, 0);
      const like = ofChannels ? o.newEmpty(self, self.shape.map((s, d) => d < 2 ? s : 1)) : o.detach(self);
      return saturate(o, self, { mask: o.dropoutMask(like, p), p });
    },
    samples: [{ args: [t(2, 3)] }, { args: [t(2, 3), 1, true] }],
    errors: [{ args: [t(2, 3), 1.5], message: "probability" }],
  });
}

const rrelu = composeWideOp({
  name: "rrelu",
  doc: "x above 0; below, x times a slope of [lower, upper), random while training, else the middle. As " +
    "`nn.functional.rrelu`.",
  params: {
    self: required("tensor"),
    lower: optional("floatOperand", 1 / 8, { changes: { notAbove: "upper" } }),
    upper: optional("floatOperand", 1 / 3, { changes: { notBelow: "lower" } }),
    training: optional("bool", false),
  },
  inplace: true,
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ self, lower, upper }) {
    if (typeof lower === "number" && typeof upper === "number" && !(lower <= upper)) {
      throw new DynError(`Expected lower of at most upper but found ${lower} and ${upper}`);
    }
    return checkNoise("rrelu", self, 0);
  },
  compose(o, { self, lower, upper, training }) {
    if (!training) {
      const middle = numberOf(o, [lower, upper], (m, a, b) => m.div(m.add(a, b), m.constant(2)));
      return o.leakyRelu(self, middle);
    }
    const slopes = o.uniform(o.emptyLike(o.detach(self)), lower, upper);
    return o.where(o.gt(self, 0), self, o.mul(self, slopes));
  },
  samples: [{ args: [t(2, 3)] }],
  errors: [{ args: [t(2, 3), 0.5, 0.1], message: "lower" }],
});

const gumbelSoftmax = composeWideOp({
  name: "gumbelSoftmax",
  doc:
    "Softmax of logits with Gumbel noise at temperature tau; with hard the largest is 1 and the others 0, with the " +
    "gradient of the soft ones (Jang et al. 2017). As `nn.functional.gumbel_softmax`.",
  params: {
    logits: required("tensor"),
    tau: optional("operand", 1),
    hard: optional("bool", false),
    eps: optional("float", 1e-10),
    dim: optional("int", -1),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ logits, tau, dim }) {
    checkCategory("gumbelSoftmax", logits.dtype, ["float"]);
    const { result } = typesOf("promote", [logits, tau]),
      { shape, device } = pointwiseMeta([logits, tau], result);
    normalizeDim(dim, shape.length);
    return contiguousMeta(shape, result, device);
  },
  compose(o, { logits, tau, hard, dim }) {
    const noise = o.neg(o.log(o.exponential(o.emptyLike(o.detach(logits)))));
    const soft = o.softmax(o.div(o.add(logits, noise), tau), dim);
    if (!hard) return soft;
    const fixed = o.detach(soft), largest = o.argmax(fixed, dim, true);
    return o.add(o.sub(o.scatter(o.zerosLike(fixed), dim, largest, 1), fixed), soft);
  },
  samples: [],
  errors: [{ args: [{ tensor: [2], dtype: "int64" }], message: "floating-point" }],
});

export const noise = {
  alphaDropout: alphaDropout("alphaDropout"),
  featureAlphaDropout: alphaDropout("featureAlphaDropout"),
  rrelu,
  gumbelSoftmax,
} as const;
