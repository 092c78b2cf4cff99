/**
 * Multi-head attention as a function of its parameters (Vaswani et al. 2017); attention weights are returned on
 * request. Invariant: computed on [N, heads, L, headDim]; masks are converted to numbers that are added to scores.
 */
import { DynError } from "../base/errors.ts";
import {
  cat,
  dropout,
  linear,
  scaledDotProductAttention,
  softmax,
  where,
  zeros,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";

/** Projections of queries, keys and values. */
interface Projections {
  /** [embedDim, embedDim], [embedDim, kdim] and [embedDim, vdim]. */
  readonly weights: readonly [q: Tensor, k: Tensor, v: Tensor];
  /** [3 · embedDim] */
  readonly bias: Tensor | null;
  /** [1, 1, embedDim]: one more key and value. */
  readonly biasK: Tensor | null;
  readonly biasV: Tensor | null;
}

/** The operands and options of attention, batch first. */
interface Attended {
  /** [N, L, embedDim], [N, S, kdim] and [N, S, vdim]. */
  readonly inputs: readonly [query: Tensor, key: Tensor, value: Tensor];
  readonly numHeads: number;
  /** Whether a key and a value of zeros are added. */
  readonly addZero: boolean;
  /** Dropout probability of attention weights. */
  readonly rate: number;
  /** [N, S] */
  readonly keyPaddingMask: Tensor | null;
  /** [L, S] or [N · heads, L, S] */
  readonly attnMask: Tensor | null;
  readonly needWeights: boolean;
  readonly averageWeights: boolean;
  /** [N · heads, S, headDim]: replaces the projected keys or values. */
  readonly staticK?: Tensor | null;
  readonly staticV?: Tensor | null;
}

/** Converts a mask to numbers that are added to scores. Throws DynError for other shapes and for integers. */
function additive(
  [name, mask]: readonly [name: string, mask: Tensor],
  like: Tensor,
  shapes: readonly (readonly number[])[],
): Tensor {
  if (
    !shapes.some((shape) => shape.length === mask.ndim && shape.every((size, k) => size === mask.shape[k]))
  ) {
    const wanted = shapes.map((shape) => `[${shape.join(", ")}]`).join(" or ");
    throw new DynError(`Expected ${name} of shape ${wanted} but found [${mask.shape.join(", ")}]`);
  }
  if (mask.dtype === "bool") {
    return where(mask, -Infinity, zeros([], { dtype: like.dtype, device: like.device }));
  }
  if (!mask.isFloatingPoint()) {
    throw new DynError(`Expected ${name} of bools or floats but found ${mask.dtype}`);
  }
  return mask.to(like.dtype);
}

/** Adds zeros at the end of the last dimension: further keys that are not masked. */
function widened(mask: Tensor, count: number): Tensor {
  return count === 0 ? mask : cat([mask, mask.newZeros([...mask.shape.slice(0, -1), count])], -1);
}

/** Splits [N, S, embedDim] into heads: [N, heads, S, headDim]. */
function split(x: Tensor, heads: number): Tensor {
  const [n = 1, length = 1, width = 1] = x.shape;
  return x.reshape(n, length, heads, width / heads).transpose(1, 2);
}

/** Keys or values by head, including added ones, and the number of added ones. */
function sides(
  x: Tensor,
  { fixed, extra, attended }: { fixed: Tensor | null; extra: Tensor | null; attended: Attended },
): { readonly heads: Tensor; readonly added: number } {
  const { numHeads, addZero } = attended, batch = x.shape[0] ?? 1;
  if (fixed && extra) throw new DynError("Expected a bias of keys and values or static ones but found both");
  const wide = extra ? cat([x, extra.expand(batch, 1, x.shape[2] ?? 1)], 1) : x;
  const heads = fixed
    ? fixed.reshape(batch, numHeads, fixed.shape[1] ?? 1, fixed.shape[2] ?? 1)
    : split(wide, numHeads);
  if (!addZero) return { heads, added: extra ? 1 : 0 };
  const [n = 1, h = 1, , width = 1] = heads.shape;
  return { heads: cat([heads, heads.newZeros([n, h, 1, width])], 2), added: extra ? 2 : 1 };
}

/** Values [N, L, embedDim] of all heads, concatenated, and on request weights [N, L, S] or [N, heads, L, S]. */
export function attend(projections: Projections, attended: Attended): [Tensor, Tensor | null] {
  const { weights: [weightQ, weightK, weightV], bias, biasK, biasV } = projections,
    { numHeads, rate } = attended;
  const width = weightQ.shape[0] ?? 1, headDim = width / numHeads, [inQ, inK, inV] = attended.inputs;
  const part = (k: number) => bias && bias.narrow(0, k * width, width);
  const query = linear(inQ, weightQ, part(0)),
    key = linear(inK, weightK, part(1)),
    value = linear(inV, weightV, part(2));
  const q = split(query, numHeads);
  const { heads: k, added } = sides(key, { fixed: attended.staticK ?? null, extra: biasK, attended });
  const { heads: v } = sides(value, { fixed: attended.staticV ?? null, extra: biasV, attended });
  const [n = 1, , l = 1] = q.shape, s = k.shape[2] ?? 1, { attnMask, keyPaddingMask } = attended;
  let mask: Tensor | null = null;
  if (attnMask) {
    const given = widened(
      additive(["attnMask", attnMask], q, [[l, s - added], [n * numHeads, l, s - added]]),
      added,
    );
    mask = given.ndim === 3 ? given.reshape(n, numHeads, l, s) : given;
  }
  if (keyPaddingMask) {
    const keys = widened(additive(["keyPaddingMask", keyPaddingMask], q, [[n, s - added]]), added).reshape(
      n,
      1,
      1,
      s,
    );
    mask = mask ? mask.add(keys) : keys;
  }
  let shares: Tensor | null = null, mixed: Tensor;
  if (attended.needWeights) {
    const scores = q.mul(1 / Math.sqrt(headDim)).matmul(k.transpose(-2, -1));
    const soft = softmax(mask ? scores.add(mask) : scores, -1),
      kept = rate > 0 ? dropout(soft, rate, true) : soft;
    mixed = kept.matmul(v);
    shares = attended.averageWeights ? kept.mean(1) : kept;
  } else {
    mixed = scaledDotProductAttention(q, k, v, mask, rate);
  }
  return [mixed.transpose(1, 2).reshape(n, l, width), shares];
}

/** Required arguments of multiHeadAttentionForward. */
interface AttentionForward {
  /** [L, N, embedDim], or [L, embedDim] without a batch. */
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  readonly embedDimToCheck: number;
  readonly numHeads: number;
  /** [3 · embedDim, embedDim]; null if there are separate weights. */
  readonly inProjWeight: Tensor | null;
  readonly inProjBias: Tensor | null;
  readonly biasK: Tensor | null;
  readonly biasV: Tensor | null;
  readonly addZeroAttn: boolean;
  readonly dropoutP: number;
  readonly outProjWeight: Tensor;
  readonly outProjBias: Tensor | null;
}

/** Options of multiHeadAttentionForward. */
interface AttentionForwardOptions {
  readonly training?: boolean;
  readonly keyPaddingMask?: Tensor | null;
  readonly needWeights?: boolean;
  readonly attnMask?: Tensor | null;
  readonly useSeparateProjWeight?: boolean;
  readonly qProjWeight?: Tensor | null;
  readonly kProjWeight?: Tensor | null;
  readonly vProjWeight?: Tensor | null;
  readonly staticK?: Tensor | null;
  readonly staticV?: Tensor | null;
  readonly averageAttnWeights?: boolean;
  readonly isCausal?: boolean;
}

const FORWARD = {
  required: [
    "query",
    "key",
    "value",
    "embedDimToCheck",
    "numHeads",
    "inProjWeight",
    "inProjBias",
    "biasK",
    "biasV",
    "addZeroAttn",
    "dropoutP",
    "outProjWeight",
    "outProjBias",
  ],
  positional: [
    "training",
    "keyPaddingMask",
    "needWeights",
    "attnMask",
    "useSeparateProjWeight",
    "qProjWeight",
    "kProjWeight",
    "vProjWeight",
    "staticK",
    "staticV",
    "averageAttnWeights",
    "isCausal",
  ],
  flags: {
    addZeroAttn: true,
    averageAttnWeights: true,
    isCausal: true,
    needWeights: true,
    training: true,
    useSeparateProjWeight: true,
  },
} as const;

type ForwardArguments = Arguments<AttentionForward, AttentionForwardOptions, typeof FORWARD>;

/** The weights of the three projections: the separate ones, or parts of the common one. */
function inWeights(given: AttentionForward & AttentionForwardOptions): [Tensor, Tensor, Tensor] {
  const { inProjWeight, useSeparateProjWeight, embedDimToCheck: width } = given;
  const { qProjWeight, kProjWeight, vProjWeight } = given;
  if (useSeparateProjWeight) {
    if (qProjWeight && kProjWeight && vProjWeight) return [qProjWeight, kProjWeight, vProjWeight];
    throw new DynError(
      "Expected qProjWeight, kProjWeight and vProjWeight where useSeparateProjWeight is true but found not all",
    );
  }
  if (!inProjWeight) {
    throw new DynError("Expected inProjWeight where useSeparateProjWeight is false but found none");
  }
  const part = (k: number) => inProjWeight.narrow(0, k * width, width);
  return [part(0), part(1), part(2)];
}

/** Throws DynError for invalid shapes and options of attention. */
export function checkAttention(
  query: Tensor,
  width: number,
  call: { attnMask: Tensor | null; isCausal: boolean },
): void {
  if (query.ndim !== 2 && query.ndim !== 3) {
    throw new DynError(`Expected a query of 2 or 3 dimensions but found shape [${query.shape}]`);
  }
  if (query.shape.at(-1) !== width) {
    throw new DynError(`Expected queries of ${width} features but found shape [${query.shape}]`);
  }
  if (call.isCausal && !call.attnMask) {
    throw new DynError("Expected attnMask where isCausal is true but found none");
  }
}

/**
 * Attention with several parallel heads, sequence dimension first, as
 * `torch.nn.functional.multi_head_attention_forward`.
 */
export function multiHeadAttentionForward(...written: ForwardArguments): [Tensor, Tensor | null] {
  const owner = "multiHeadAttentionForward";
  const given = argumentsOf<AttentionForward, AttentionForwardOptions>(owner, FORWARD, written);
  const { query, key, value, embedDimToCheck, numHeads, attnMask = null } = given;
  checkAttention(query, embedDimToCheck, { attnMask, isCausal: given.isCausal ?? false });
  if (embedDimToCheck % numHeads !== 0) {
    throw new DynError(
      `Expected embedDimToCheck divisible by ${numHeads} heads but found ${embedDimToCheck}`,
    );
  }
  const single = query.ndim === 2;
  const first = (x: Tensor) => single ? x.unsqueeze(0) : x.transpose(0, 1);
  const padding = given.keyPaddingMask ?? null;
  const [joined, weights] = attend({
    weights: inWeights(given),
    bias: given.inProjBias,
    biasK: given.biasK,
    biasV: given.biasV,
  }, {
    inputs: [first(query), first(key), first(value)],
    numHeads,
    addZero: given.addZeroAttn,
    rate: given.training ?? true ? given.dropoutP : 0,
    keyPaddingMask: padding && single ? padding.unsqueeze(0) : padding,
    attnMask,
    needWeights: given.needWeights ?? true,
    averageWeights: given.averageAttnWeights ?? true,
    staticK: given.staticK ?? null,
    staticV: given.staticV ?? null,
  });
  const mixed = linear(joined, given.outProjWeight, given.outProjBias);
  if (single) return [mixed.squeeze(0), weights && weights.squeeze(0)];
  return [mixed.transpose(0, 1), weights];
}
