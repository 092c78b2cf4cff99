/**
 * Probabilities given as such or as logits, the way discrete distributions take them. Input: either; output: both.
 * Invariant: the one that is given is kept as it is, the other is computed where it is asked for.
 */
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { broadcastAll, type Parameter } from "./distribution.ts";

/** Probabilities, by position or by name, or their logits. */
export type Chances = Parameter | { readonly probs: Parameter } | { readonly logits: Parameter };

/** Probabilities of one outcome or the other. */
export class TwoChances {
  readonly #probs: Tensor | null;
  readonly #logits: Tensor | null;

  constructor(given: Chances) {
    const isNamed = typeof given === "object" && !isTensor(given);
    const [probs, logits] = isNamed
      ? "probs" in given ? [given.probs, null] : [null, given.logits]
      : [given, null];
    this.#probs = probs === null ? null : broadcastAll(probs)[0];
    this.#logits = logits === null ? null : broadcastAll(logits)[0];
  }

  get shape(): readonly number[] {
    return (this.#probs ?? this.logits).shape;
  }

  get probs(): Tensor {
    return this.#probs ?? this.logits.sigmoid();
  }

  get logits(): Tensor {
    if (this.#logits) return this.#logits;
    const probs = clamped(this.#probs ?? ops.zeros([]));
    return probs.log().sub(probs.neg().log1p());
  }
}

/** Probabilities of one of several outcomes: the last dimension. */
export class ManyChances {
  readonly probs: Tensor;
  readonly logits: Tensor;

  constructor(given: Tensor | { readonly probs: Tensor } | { readonly logits: Tensor }) {
    if (!isTensor(given) && "logits" in given) {
      this.logits = given.logits.sub(given.logits.logsumexp(-1, true));
      this.probs = this.logits.softmax(-1);
    } else {
      const probs = isTensor(given) ? given : given.probs;
      this.probs = probs.div(probs.sum(-1, true));
      this.logits = clamped(this.probs).log();
    }
  }
}

/** Probabilities whose logarithms are finite. */
export function clamped(probs: Tensor): Tensor {
  const eps = probs.dtype === "float64" ? 2 ** -52 : 2 ** -23;
  return ops.clamp(probs, eps, 1 - eps);
}
