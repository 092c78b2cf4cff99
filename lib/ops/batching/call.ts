/**
 * One call of an op over a batch: its arguments, some of which have an additional first dimension, in the forms that
 * batching rules need. Invariant: sizes and ranks are those of one element of the batch unless the batch is named.
 */
import type { TensorMeta } from "../../graph/meta.ts";
import type { Dim } from "../../sym/expr.ts";
import type { OpDefinition, TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";
import { normalizeDim } from "../shapes.ts";

/** The parts of a call over a batch. */
interface BatchedArguments<P extends Params, T extends TensorLike> {
  readonly o: OpApi<T>;
  readonly definition: OpDefinition;
  readonly args: ArgsOf<P, T>;
  /** The tensors among them whose first dimension is the batch. */
  readonly batched: ReadonlySet<T>;
  readonly size: Dim;
  /** Metadata of the results for one element of the batch. */
  readonly out: readonly TensorMeta[];
  /** Makes the call with other arguments. */
  readonly run: (args: ArgsOf<Params, T>) => readonly T[];
}

/** A call over a batch. */
export class BatchCall<P extends Params, T extends TensorLike> {
  readonly o: OpApi<T>;
  readonly args: ArgsOf<P, T>;
  readonly size: Dim;
  readonly out: readonly TensorMeta[];
  readonly definition: OpDefinition;
  /** Makes the call with other arguments. */
  readonly run: (args: ArgsOf<Params, T>) => readonly T[];
  readonly #batched: ReadonlySet<T>;

  constructor({ o, definition, args, batched, size, out, run }: BatchedArguments<P, T>) {
    this.o = o;
    this.definition = definition;
    this.args = args;
    this.size = size;
    this.out = out;
    this.run = run;
    this.#batched = batched;
  }

  isBatched(x: T): boolean {
    return this.#batched.has(x);
  }

  /** The shape of one element of the batch. */
  shapeOf(x: T): readonly Dim[] {
    return this.isBatched(x) ? x.shape.slice(1) : x.shape;
  }

  rankOf(x: T): number {
    return this.shapeOf(x).length;
  }

  /** With the batch first, whether it had one or not. */
  front(x: T): T {
    return this.isBatched(x) ? x : this.o.expand(this.o.unsqueeze(x, 0), [this.size, ...x.shape]);
  }

  /** With the batch first; a tensor without further dimensions gets one of size 1. */
  raised(x: T): T {
    const front = this.front(x);
    return front.shape.length === 1 ? this.o.unsqueeze(front, 1) : front;
  }

  /** Inserts dimensions of size 1 after the batch, so that the tensor broadcasts against others of a rank. */
  widened(x: T, rank: number): T {
    const missing = rank - this.rankOf(x);
    if (!this.isBatched(x) || missing <= 0) return x;
    return this.o.reshape(x, [this.size, ...new Array<Dim>(missing).fill(1), ...this.shapeOf(x)]);
  }

  /** A dimension of one element as a dimension of the batched tensor. */
  axis(dim: number, x: T): number {
    return normalizeDim(dim, Math.max(1, this.rankOf(x))) + 1;
  }

  /** The batch, then the other arguments. */
  sizes(rest: readonly Dim[]): readonly Dim[] {
    return [this.size, ...rest];
  }

  /** Makes the call with other arguments; results are reshaped to those for each element. */
  shapedRun(args: ArgsOf<Params, T>): readonly T[] {
    return this.run(args).map((result, k) => this.shaped(result, k));
  }

  /** A result in its shape for each element, from which it may differ by dimensions added to 0-d tensors. */
  shaped(result: T, k = 0): T {
    const shape = this.out[k]?.shape ?? [];
    return result.shape.length === shape.length + 1 ? result : this.o.reshape(result, this.sizes(shape));
  }
}

/** Runs an op over a batch. Results have the batch first; null if the rule does not cover the call. */
export interface BatchRule<P extends Params = Params> {
  apply<T extends TensorLike>(call: BatchCall<P, T>): T | readonly T[] | null;
}

/** A rule of an op, for tables of rules. */
export interface RuleOf {
  readonly name: string;
  readonly rule: BatchRule;
}

/** A rule for an op, typed by the op's parameters. */
export function over<const P extends Params>(definition: OpDefinition<P>, rule: BatchRule<P>): RuleOf {
  return { name: definition.name, rule };
}
