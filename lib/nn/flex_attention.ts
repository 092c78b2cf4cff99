/**
 * Attention whose scores and mask are functions, like `torch.nn.attention.flex_attention` (Dong et al. 2024), for
 * queries [B, Hq, L, E], keys [B, Hkv, S, E] and values [B, Hkv, S, Ev]. Invariant: the functions receive all their
 * scores at once, with positions in shapes that broadcast to them, and map them element by element; compiled, they
 * run inside the attention kernels, which keep no scores in memory and skip what a causal mask hides.
 */
import { checkFunction, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { checkTensor } from "../tensor/checked.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import {
  amax,
  arange,
  logsumexp,
  matmul,
  mul,
  repeatInterleave,
  where,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

const { safeSoftmax } = ops;

/** Positions of scores: int64 tensors [B, 1, 1, 1], [1, H, 1, 1], [1, 1, L, 1] and [S]. */
export type Positions = readonly [batch: Tensor, head: Tensor, query: Tensor, key: Tensor];

/** Returns new scores for scores [B, H, L, S] at the given positions. */
export type ScoreMod = (score: Tensor, ...at: Positions) => Tensor;

/** Decides which keys queries may attend to: bools that broadcast to [B, H, L, S]. */
export type MaskMod = (...at: Positions) => Tensor;

/** The keys that queries may attend to, for given sizes of scores. */
export interface BlockMask {
  /** Decides by positions. */
  readonly maskMod: MaskMod;
  /** B; null for any. */
  readonly batch: number | null;
  /** H; null for any. */
  readonly heads: number | null;
  /** L */
  readonly queryLength: number;
  /** S */
  readonly keyLength: number;
}

/**
 * A mask for attention of `queryLength` queries over `keyLength` keys, as `create_block_mask`. Nothing is computed
 * here: blocks that can be skipped are found when the function that uses the mask is compiled. Throws DynError for
 * sizes below 1.
 */
export function createBlockMask(
  maskMod: MaskMod,
  batch: number | null,
  heads: number | null,
  queryLength: number,
  keyLength: number,
): BlockMask {
  if (arguments.length > 5) refuseSurplus("createBlockMask", 5, arguments);
  for (const [name, size] of Object.entries({ batch, heads, queryLength, keyLength })) {
    if (size !== null) checkInteger(name, size, 1);
  }
  return { maskMod, batch, heads, queryLength, keyLength };
}

/** Allows the positions that all masks allow, as `and_masks`. */
export const andMasks = (...masks: readonly [MaskMod, ...MaskMod[]]): MaskMod => (...at) =>
  masks.map((mask) => mask(...at)).reduce((a, b) => a.logicalAnd(b));

/** Allows the positions that any of the masks allows, as `or_masks`. */
export const orMasks = (...masks: readonly [MaskMod, ...MaskMod[]]): MaskMod => (...at) =>
  masks.map((mask) => mask(...at)).reduce((a, b) => a.logicalOr(b));

/** Options of flexAttention. */
export interface FlexAttentionOptions {
  /** Factor of scores; default 1 / √E. */
  readonly scale?: number | null;
  /** Whether groups of query heads may share one head of keys and values. */
  readonly enableGqa?: boolean;
  /** Whether to also return the log-sum-exp of scores, [B, Hq, L]. */
  readonly returnLse?: boolean;
  /** Other results to return, as an object of them. */
  readonly returnAux?: AuxRequest;
}

/** Results of attention besides the values, as `AuxRequest`. */
export interface AuxRequest {
  /** Whether to return the log-sum-exp of scores, [B, Hq, L]. */
  readonly lse?: boolean;
  /** Whether to return the largest score of each query, [B, Hq, L]. */
  readonly maxScores?: boolean;
}

/** The results that were requested; null for the others. */
export interface AuxOutput {
  /** The log-sum-exp of scores, [B, Hq, L]. */
  readonly lse: Tensor | null;
  /** The largest score of each query, [B, Hq, L]; −∞ where no key is allowed. */
  readonly maxScores: Tensor | null;
}

const OPTIONS = ["scale", "enableGqa", "returnLse", "returnAux"] as const;

/**
 * softmax(scoreMod(query · keyᵀ · scale), of the allowed scores) · value, for queries [B, Hq, L, E], keys [B, Hkv, S,
 * E] and values [B, Hkv, S, Ev], where Hkv is Hq or, with `enableGqa`, divides it. Queries without any allowed key have
 * the result 0 and the log-sum-exp −∞.
 *
 * `scoreMod` and the mask map scores element by element, and may read other tensors by positions: `(score, b, h, q, k)
 * => score.add(bias.at(h, k))`. As `flex_attention`. Throws DynError for incompatible shapes.
 */
export function flexAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  scoreMod: ScoreMod | null,
  blockMask: BlockMask | null,
  options: FlexAttentionOptions & { readonly returnLse: true },
): [out: Tensor, lse: Tensor];
/** Returns further results of the scores. */
export function flexAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  scoreMod: ScoreMod | null,
  blockMask: BlockMask | null,
  options: FlexAttentionOptions & { readonly returnAux: AuxRequest; readonly returnLse?: false },
): [out: Tensor, aux: AuxOutput];
/** Returns the result alone. */
export function flexAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  scoreMod?: ScoreMod | null,
  blockMask?: BlockMask | null,
  options?: FlexAttentionOptions & { readonly returnLse?: false; readonly returnAux?: undefined },
): Tensor;
export function flexAttention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  scoreMod: ScoreMod | null = null,
  blockMask: BlockMask | null = null,
  options: FlexAttentionOptions = {},
): Tensor | [Tensor, Tensor | AuxOutput] {
  if (arguments.length > 6) refuseSurplus("flexAttention", 6, arguments);
  const { scale = null, enableGqa = false, returnLse = false, returnAux } = optionsOf(
    "flexAttention",
    options,
    OPTIONS,
  );
  if (scoreMod !== null) checkFunction(scoreMod, "of scores, or null, before mask and options");
  if (returnLse && returnAux) throw new DynError("Expected returnLse or returnAux but found both");
  checkShapes([query, key, value], blockMask, enableGqa);
  const [batch = 1, heads = 1, rows = 1, features = 1] = query.shape, [, own = 1, keys = 1] = key.shape;
  const repeated = (x: Tensor) => own === heads ? x : repeatInterleave(x, heads / own, 1);
  const device = query.device;
  const at: Positions = [
    arange(batch, { device }).reshape(batch, 1, 1, 1),
    arange(heads, { device }).reshape(1, heads, 1, 1),
    arange(rows, { device }).reshape(1, 1, rows, 1),
    arange(keys, { device }),
  ];
  const plain = mul(matmul(query, repeated(key).transpose(-2, -1)), scale ?? 1 / Math.sqrt(features));
  const scores = scoreMod ? scoreMod(plain, ...at) : plain;
  const seen = blockMask ? where(blockMask.maskMod(...at), scores, -Infinity) : scores;
  const out = matmul(safeSoftmax(seen, -1), repeated(value));
  if (returnLse) return [out, logsumexp(seen, -1)];
  if (!returnAux) return out;
  const { lse, maxScores } = optionsOf("returnAux", returnAux, ["lse", "maxScores"]);
  return [out, { lse: lse ? logsumexp(seen, -1) : null, maxScores: maxScores ? amax(seen, -1) : null }];
}

function checkShapes(
  [query, key, value]: readonly [Tensor, Tensor, Tensor],
  mask: BlockMask | null,
  enableGqa: boolean,
): void {
  for (const each of [query, key, value]) checkTensor(each, "flexAttention");
  const shapes = [query, key, value].map(({ shape }) => `[${shape.join(", ")}]`).join(", ");
  const [batch, heads, rows, features] = query.shape, [, own, keys] = key.shape;
  const fits = [query, key, value].every((x) => x.ndim === 4 && x.shape[0] === batch) &&
    key.shape[3] === features && value.shape[1] === own && value.shape[2] === keys;
  if (!fits) {
    throw new DynError(`Expected shapes of query, key and value that fit together but found ${shapes}`);
  }
  if (own !== heads && !(enableGqa && (heads ?? 0) % (own ?? 1) === 0)) {
    throw new DynError(
      enableGqa
        ? `Expected heads of keys that divide those of queries but found ${own} and ${heads}`
        : `Expected as many heads of keys as of queries, or enableGqa, but found ${own} and ${heads}`,
    );
  }
  if (!mask) return;
  const wanted = [mask.batch ?? batch, mask.heads ?? heads, mask.queryLength, mask.keyLength];
  const given = [batch, heads, rows, keys];
  if (wanted.some((size, d) => size !== given[d])) {
    throw new DynError(
      `Expected scores of the mask's sizes [${wanted.join(", ")}] but found [${given.join(", ")}]`,
    );
  }
}
