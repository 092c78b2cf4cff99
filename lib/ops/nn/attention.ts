/**
 * Scaled dot product attention of queries [..., l, e], keys [..., s, e] and values [..., s, v]: [..., l, v].
 * Invariant: a composition of products and a softmax; fusing them is the compiler's job. Rows that may attend to
 * nothing yield zeros.
 */
import { DynError } from "../../base/errors.ts";
import { type Dim, floorDiv, mod } from "../../sym/expr.ts";
import { isEqual, specialize } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCategory, t } from "../pointwise.ts";
import { broadcastShapes, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkSameType } from "../promotion.ts";

/** Keys or values with each head repeated, up to the number of heads of the queries. */
function repeatHeads<T extends TensorLike>(o: OpApi<T>, x: T, heads: Dim): T {
  const own = x.shape.at(-3) ?? 1;
  if (isEqual(own, heads)) return x;
  if (!isEqual(mod(heads, own), 0)) {
    throw new DynError(`Expected heads of keys that divide those of queries but found ${own} and ${heads}`);
  }
  return o.repeatInterleave(x, specialize(floorDiv(heads, own)), -3);
}

/** Scores with a mask: −∞ where a bool mask is false, or with a mask of numbers added. */
function masked<T extends TensorLike>(
  o: OpApi<T>,
  scores: T,
  { mask, causal }: { readonly mask: T | null; readonly causal: boolean },
): T {
  if (causal) {
    const [rows = 1, keys = 1] = scores.shape.slice(-2);
    const allowed = o.tril(o.ones([rows, keys], { dtype: "bool", device: scores.device }));
    return o.where(allowed, scores, -Infinity);
  }
  if (mask === null) return scores;
  if (mask.dtype !== "bool") return o.add(scores, mask);
  return o.add(
    scores,
    o.where(mask, o.scalarTensor(0, { dtype: scores.dtype, device: scores.device }), -Infinity),
  );
}

const scaledDotProductAttention = composeWideOp({
  name: "scaledDotProductAttention",
  doc: "softmax(query · keyᵀ · scale + mask) · value, with dropout on the weights, as " +
    "`nn.functional.scaled_dot_product_attention`.",
  params: {
    query: required("tensor"),
    key: required("tensor"),
    value: required("tensor"),
    attnMask: nullable("tensor"),
    dropoutP: optional("floatOperand", 0, { changes: { above: 0, below: 1 } }),
    isCausal: optional("bool", false),
    scale: nullable("floatOperand", { keyword: true, changes: {} }),
    enableGqa: optional("bool", false, { keyword: true }),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ query, key, value, attnMask, isCausal, enableGqa }) {
    checkCategory("scaledDotProductAttention", query.dtype, ["float"]);
    checkSameType("scaledDotProductAttention", query, key, value);
    if ([query, key, value].some((x) => x.shape.length < 2)) {
      throw new DynError(`Expected at least 2 dimensions but found ${shapeText(query.shape)}`);
    }
    if (attnMask && attnMask.dtype !== "bool") {
      checkCategory("scaledDotProductAttention with attnMask", attnMask.dtype, ["float"]);
    }
    if (attnMask && isCausal) throw new DynError("Expected either a mask or isCausal but found both");
    const sizes = isEqual(query.shape.at(-1) ?? 1, key.shape.at(-1) ?? 1) &&
      isEqual(key.shape.at(-2) ?? 1, value.shape.at(-2) ?? 1);
    if (!sizes) {
      throw new DynError(
        `Expected shapes of query, key and value that fit together but found ${
          [query, key, value].map((x) => shapeText(x.shape)).join(", ")
        }`,
      );
    }
    const batch = enableGqa
      ? query.shape.slice(0, -2)
      : broadcastShapes(query.shape.slice(0, -2), key.shape.slice(0, -2), value.shape.slice(0, -2));
    return contiguousMeta(
      [...batch, query.shape.at(-2) ?? 1, value.shape.at(-1) ?? 1],
      query.dtype,
      query.device,
    );
  },
  compose(o, { query, key, value, attnMask, dropoutP, isCausal, scale, enableGqa }) {
    const heads = query.shape.at(-3) ?? 1;
    const keys = enableGqa ? repeatHeads(o, key, heads) : key;
    const values = enableGqa ? repeatHeads(o, value, heads) : value;
    const factor = scale ?? 1 / Math.sqrt(specialize(query.shape.at(-1) ?? 1));
    const scores = o.mul(o.matmul(query, o.transpose(keys, -2, -1)), factor);
    const seen = masked(o, scores, { mask: attnMask, causal: isCausal });
    const weights = attnMask !== null || isCausal ? o.safeSoftmax(seen, -1) : o.softmax(seen, -1);
    const kept = typeof dropoutP !== "number" || dropoutP > 0 ? o.dropout(weights, dropoutP, true) : weights;
    return o.matmul(kept, values);
  },
  samples: [
    { args: [t(2, 3, 4), t(2, 5, 4), t(2, 5, 6)] },
    { args: [t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 4)], options: { isCausal: true } },
    { args: [t(2, 3, 4), t(2, 5, 4), t(2, 5, 6), t(3, 5)], options: { scale: 0.5 } },
  ],
  errors: [{ args: [t(2, 3), t(2, 4), t(2, 4)], message: "fit together" }],
});

export const attention = { scaledDotProductAttention } as const;
