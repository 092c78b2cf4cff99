/**
 * Probabilities or logits of discrete distributions. Invariant: the given form is stored unchanged; the other is
 * computed when it is read.
 */
import type { Arguments } from "../base/arguments.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  nonnegative,
  real,
  realVector,
  simplex,
  unitInterval,
} from "./constraints.ts";
import { checkParameters, type Validation } from "./checked_parameters.ts";
import { formOf, type OneForm } from "./given_parameters.ts";
import { broadcastAll, Distribution, type Parameter, parameterText, vectors } from "./distribution.ts";

/** Names of probabilities or logits, and of the validation, in PyTorch's order. */
type Forms = readonly ["probs", "logits", "validateArgs"];

/** The probabilities or the logits, by position or by name. */
export type ByProbs<P> = OneForm<"probs" | "logits", P> & Validation;

/** Required parameters `N` and optional ones `M` of type `V`, then probabilities or logits of type `P`. */
export type ProbsOrLogits<
  P = Parameter,
  N extends readonly string[] = [],
  M extends readonly string[] = [],
  V = Parameter,
> = Arguments<
  { readonly [K in N[number]]: V },
  { readonly [K in M[number]]?: V | undefined } & ByProbs<P>,
  { readonly required: N; readonly positional: readonly [...M, ...Forms] }
>;

/** The form of probabilities that is given, and its value. */
export interface GivenProbs<P> extends Validation {
  readonly form: "probs" | "logits";
  readonly value: P;
}

/** Returns the probabilities or logits of `owner`, with the parameters that come before them. */
export function probsOrLogits<P, R extends object = object, O extends object = object>(
  owner: string,
  given: readonly unknown[],
  { required, optional }: {
    readonly required?: readonly (keyof R & string)[];
    readonly optional?: readonly (keyof O & string)[];
  } = {},
): GivenProbs<P> & R & Partial<O> {
  const forms = ["probs", "logits"] as const;
  const positional = [...optional ?? [], ...forms, "validateArgs"] as const;
  return formOf<R, O & ByProbs<P>, "probs" | "logits">(
    owner,
    { required: required ?? [], positional, forms },
    given,
  );
}

/** The probability or logit of one of two outcomes. */
export class BinaryProbs {
  readonly validateArgs: Validation["validateArgs"];
  readonly #probs: Tensor | null;
  readonly #logits: Tensor | null;

  /** `owner` names the distribution in messages; `wanted` is the constraint of `probs`. */
  constructor(
    { form, value, validateArgs }: GivenProbs<Parameter>,
    owner = "a distribution",
    wanted: Constraint = unitInterval,
  ) {
    const [made] = broadcastAll(value);
    this.validateArgs = validateArgs;
    [this.#probs, this.#logits] = form === "probs" ? [made, null] : [null, made];
    checkParameters(this, form === "probs" ? { probs: wanted } : { logits: real }, {
      name: owner,
      validateArgs,
    });
  }

  get batchShape(): readonly number[] {
    return (this.#probs ?? this.logits).shape;
  }

  /** Expands it to a larger batch. */
  expand(batchShape: readonly number[]): BinaryProbs {
    const form = this.#probs ? "probs" : "logits";
    return new BinaryProbs({ form, value: ops.expand(this[form], [...batchShape]), validateArgs: false });
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

  constructor(binary: BinaryProbs, validateArgs: Validation["validateArgs"] = binary.validateArgs) {
    super(binary.batchShape, [], validateArgs);
    this.binary = binary;
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

/** A distribution that depends on nothing but the probability of one of two outcomes. */
export abstract class OneTrial extends BinaryDistribution {
  constructor(...given: ProbsOrLogits) {
    super(new BinaryProbs(probsOrLogits(new.target.name, given), new.target.name));
  }
}

/** The number of trials, or of failures. */
export interface Counted {
  readonly totalCount: Parameter;
}

/** A distribution that also depends on a number of trials, or of failures. */
export abstract class CountDistribution extends BinaryDistribution {
  override readonly argConstraints: ArgConstraints;
  readonly totalCount: Tensor;

  constructor(
    owner: string,
    { totalCount, ...given }: GivenProbs<Parameter> & Counted,
    wanted: Readonly<Record<"totalCount" | "probs", Constraint>>,
  ) {
    const made = new BinaryProbs(given, owner, wanted.probs);
    const [count, probs] = broadcastAll(totalCount, made.probs);
    super(made.expand(probs.shape), given.validateArgs ?? null);
    this.argConstraints = { ...wanted, logits: real };
    this.totalCount = count;
    checkParameters(this, { totalCount: wanted.totalCount }, {
      name: owner,
      validateArgs: given.validateArgs,
    });
  }
}

/** Constraints of the probabilities of several outcomes. */
export const CATEGORY_CONSTRAINTS: ArgConstraints = { probs: simplex, logits: realVector };

/** Probabilities or logits of several outcomes, along the last dimension. */
export class CategoryProbs {
  /** The form that was given. */
  readonly form: "probs" | "logits";
  readonly validateArgs: Validation["validateArgs"];
  readonly probs: Tensor;
  readonly logits: Tensor;

  constructor({ form, value, validateArgs }: GivenProbs<Tensor>) {
    const found = vectors(value, form);
    [this.form, this.validateArgs] = [form, validateArgs];
    if (form === "logits") {
      this.logits = found.sub(found.logsumexp(-1, true));
      this.probs = this.logits.softmax(-1);
    } else {
      this.probs = found.div(found.sum(-1, true));
      this.logits = clamped(this.probs).log();
    }
    checkParameters(this, { probs: nonnegative, logits: real }, { name: "outcomes", validateArgs });
  }
}

/** Probabilities limited such that their logarithms are finite. */
export function clamped(probs: Tensor): Tensor {
  const eps = probs.dtype === "float64" ? 2 ** -52 : 2 ** -23;
  return ops.clamp(probs, eps, 1 - eps);
}
