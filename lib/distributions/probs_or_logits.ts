/**
 * Probabilities or logits of discrete distributions. Invariant: the given form is stored unchanged; the other is
 * computed when it is read.
 */
import { refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  nonnegative,
  nonnegativeInteger,
  real,
  realVector,
  simplex,
  unitInterval,
} from "./constraints.ts";
import { checkParameters } from "./checked_parameters.ts";
import { broadcastAll, Distribution, type Parameter, parameterText, vectors } from "./distribution.ts";

/** Probabilities, by position or by name, or their logits. */
export type ProbsOrLogits =
  | Parameter
  | { readonly probs: Parameter }
  | { readonly logits: Parameter };

/** The probability or logit of one of two outcomes. */
export class BinaryProbs {
  readonly #probs: Tensor | null;
  readonly #logits: Tensor | null;

  /** `owner` names the distribution in messages; `wanted` is the constraint of `probs`. */
  constructor(given: ProbsOrLogits, owner = "a distribution", wanted: Constraint = unitInterval) {
    if (given === null) throw new DynError(`Expected probs or logits of ${owner} but found null`);
    const isNamed = typeof given === "object" && !isTensor(given);
    if (isNamed) checkOneForm(given, owner);
    const [probs, logits] = isNamed
      ? "probs" in given ? [given.probs, null] : [null, given.logits]
      : [given, null];
    this.#probs = probs === null ? null : broadcastAll(probs)[0];
    this.#logits = logits === null ? null : broadcastAll(logits)[0];
    if (this.#probs) checkParameters(this, { probs: wanted }, { name: owner });
    else checkParameters(this, { logits: real }, { name: owner });
  }

  get batchShape(): readonly number[] {
    return (this.#probs ?? this.logits).shape;
  }

  /** Expands it to a larger batch. */
  expand(batchShape: readonly number[]): BinaryProbs {
    const [probs, logits] = [this.#probs, this.#logits].map((each) =>
      each && ops.expand(each, [...batchShape])
    );
    return new BinaryProbs(probs ? { probs } : { logits: logits ?? this.logits });
  }

  /** Returns the given form and its value. */
  toString(): string {
    return this.#probs ? `probs: ${parameterText(this.#probs)}` : `logits: ${parameterText(this.logits)}`;
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

/** A distribution that depends on the probability of one of two outcomes. */
export abstract class BinaryDistribution extends Distribution {
  override readonly argConstraints: ArgConstraints = { probs: unitInterval, logits: real };
  protected readonly binary: BinaryProbs;

  constructor(given: ProbsOrLogits | BinaryProbs, wanted: Constraint = unitInterval) {
    const made = given instanceof BinaryProbs ? given : new BinaryProbs(given, new.target.name, wanted);
    super(made.batchShape);
    this.binary = made;
  }

  /** The probability of the outcome. */
  get probs(): Tensor {
    return this.binary.probs;
  }

  /** The logit of the outcome. */
  get logits(): Tensor {
    return this.binary.logits;
  }
}

/** A distribution that also depends on a number of trials, or of failures. */
export abstract class CountDistribution extends BinaryDistribution {
  override readonly argConstraints: ArgConstraints = {
    totalCount: nonnegativeInteger,
    probs: unitInterval,
    logits: real,
  };
  readonly totalCount: Tensor;

  constructor(totalCount: Parameter, given: ProbsOrLogits) {
    const made = new BinaryProbs(given, new.target.name),
      [count, probs] = broadcastAll(totalCount, made.probs);
    super(made.expand(probs.shape));
    this.totalCount = count;
    checkParameters(this, { totalCount: nonnegative });
  }
}

/** Constraints of the probabilities of several outcomes. */
export const CATEGORY_CONSTRAINTS: ArgConstraints = { probs: simplex, logits: realVector };

/** Probabilities or logits of several outcomes, along the last dimension. */
export class CategoryProbs {
  readonly probs: Tensor;
  readonly logits: Tensor;

  constructor(given: Tensor | { readonly probs: Tensor } | { readonly logits: Tensor }) {
    if (typeof given !== "object" || given === null) {
      refuseValue("probs or logits of outcomes", given);
    }
    if (!isTensor(given)) checkOneForm(given, "outcomes");
    if (!isTensor(given) && "logits" in given) {
      const logits = vectors(given.logits, "logits");
      this.logits = logits.sub(logits.logsumexp(-1, true));
      this.probs = this.logits.softmax(-1);
    } else {
      const probs = vectors(isTensor(given) ? given : given.probs, "probs");
      this.probs = probs.div(probs.sum(-1, true));
      this.logits = clamped(this.probs).log();
    }
    checkParameters(this, { probs: nonnegative, logits: real }, { name: "outcomes" });
  }
}

/** Throws DynError unless either probabilities or logits are given. */
function checkOneForm(given: object, owner: string): void {
  const found = ["probs", "logits"].filter((name) => Reflect.get(given, name) ?? null);
  if (found.length === 1) return;
  throw new DynError(
    `Expected either probs or logits of ${owner} but found ${found.join(" and ") || "neither"}`,
  );
}

/** Probabilities limited such that their logarithms are finite. */
export function clamped(probs: Tensor): Tensor {
  const eps = probs.dtype === "float64" ? 2 ** -52 : 2 ** -23;
  return ops.clamp(probs, eps, 1 - eps);
}
