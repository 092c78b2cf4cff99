/**
 * Averages gradients in buckets; the means replace the gradients. Invariants: all ranks start the same buckets in the
 * same order, that of the backward pass, whatever the order in which their gradients arrive; a bucket starts once it
 * is full, and all are awaited when the last has begun.
 */
import { setGradientBuckets } from "../autograd/gradient_buckets.ts";
import { DynError } from "../base/errors.ts";
import { itemSize } from "../base/dtype.ts";
import type { Parameter } from "../nn/parameter.ts";
import { tensor } from "../tensor/creation.ts";
import { empty } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { allReduce } from "./collectives.ts";
import type { ProcessGroup } from "./group.ts";
import type { Work } from "./work.ts";

/** A parameter with its name in the model. */
export type NamedParameter = readonly [name: string, parameter: Parameter];

interface Bucket {
  readonly members: readonly NamedParameter[];
  /** All gradients, concatenated, and each of them as a part. */
  readonly flat: Tensor;
  readonly views: readonly Tensor[];
}

/** Options of averaging. */
interface BucketOptions {
  readonly group: ProcessGroup;
  /** Maximum number of bytes of a bucket, unless a single parameter is larger. */
  readonly bytes: number;
  /** Whether ranks exchange which parameters are unused. */
  readonly findUnused: boolean;
}

/** Divides parameters into lists of one type, last ones first, as many as fit into a bucket. */
function divided(parameters: readonly NamedParameter[], bytes: number): NamedParameter[][] {
  const found: NamedParameter[][] = [];
  let left = 0, before: Parameter | undefined;
  for (const named of parameters.toReversed()) {
    const [, parameter] = named, size = parameter.numel() * itemSize(parameter.dtype);
    const joins = before?.dtype === parameter.dtype && before.device === parameter.device && size <= left;
    if (!joins) {
      found.push([]);
      left = bytes;
    }
    found.at(-1)?.push(named);
    left -= size;
    before = parameter;
  }
  return found;
}

function bucketOf(members: readonly NamedParameter[]): Bucket {
  const [first] = members, count = members.reduce((sum, [, { layout }]) => sum + layout.numel, 0);
  const flat = empty([count], first ? { dtype: first[1].dtype, device: first[1].device } : {});
  let start = 0;
  const views = members.map(([, parameter]) => {
    const view = flat.narrow(0, start, parameter.numel()).view(parameter.shape);
    start += parameter.numel();
    return view;
  });
  return { members, flat, views };
}

/** The buckets of a model, and how far the backward pass has filled them. */
export class GradientBuckets {
  readonly #options: BucketOptions;
  readonly #parameters: readonly NamedParameter[];
  readonly #buckets: readonly Bucket[];
  readonly #ready = new Set<Parameter>();
  /** Parameters that have received gradients since the last averages. */
  readonly #used = new Set<Parameter>();
  #works: Work[] = [];

  /** Receives the parameters in the order of the model. */
  constructor(parameters: readonly NamedParameter[], options: BucketOptions) {
    this.#options = options;
    this.#parameters = parameters;
    this.#buckets = noGrad(() => divided(parameters, options.bytes).map(bucketOf));
    setGradientBuckets(this.#buckets.map(({ members }) => members.map(([, each]) => each)));
  }

  /** Returns the position of a parameter's bucket in the order in which buckets are averaged. */
  indexOf(parameter: Parameter): number {
    return this.#buckets.findIndex(({ members }) => members.some(([, each]) => each === parameter));
  }

  /** Begins a pass. Throws DynError if the previous one reached only some of the parameters. */
  begin(): void {
    if (this.#ready.size > 0) {
      const missing = this.#parameters.filter(([, each]) => !this.#ready.has(each)).map(([name]) => name);
      throw new DynError(
        `Expected gradients of all parameters from the last backward pass but found none of ${
          missing.join(", ")
        }; give findUnusedParameters: true where the forward pass does not use them`,
      );
    }
  }

  /** Marks a parameter as used, also in passes that do not average. */
  use(parameter: Parameter): void {
    this.#used.add(parameter);
  }

  /** Marks parameters that this pass does not reach as done. */
  skip(parameters: readonly Parameter[]): void {
    for (const each of parameters) this.add(each);
  }

  /** Marks a gradient as done; starts and finishes the averages that are ready. */
  add(parameter: Parameter): void {
    this.#ready.add(parameter);
    for (const bucket of this.#buckets.slice(this.#works.length)) {
      if (!bucket.members.every(([, each]) => this.#ready.has(each))) return;
      noGrad(() => {
        bucket.members.forEach(([, { grad }], k) => {
          if (grad) bucket.views[k]?.copy_(grad);
          else bucket.views[k]?.zero_();
        });
      });
      this.#start(bucket.flat);
    }
    this.#end();
  }

  /** Takes part in a pass of other ranks, with zeros and without using the means. */
  follow(): void {
    for (const { flat } of this.#buckets) {
      noGrad(() => flat.zero_());
      this.#start(flat);
    }
    this.#wait();
  }

  #start(flat: Tensor): void {
    this.#works.push(allReduce(flat, { op: "avg", group: this.#options.group, asyncOp: true }));
  }

  /** Waits for all buckets; returns which parameters some rank has used. */
  #wait(): (parameter: Parameter) => boolean {
    const works = this.#works, isUsed = this.#usedSomewhere();
    this.#works = [];
    this.#ready.clear();
    this.#used.clear();
    for (const work of works) work.wait();
    return isUsed;
  }

  /** Waits for all buckets and writes the means to the gradients. */
  #end(): void {
    const isUsed = this.#wait();
    noGrad(() => {
      for (const { members, views } of this.#buckets) {
        members.forEach(([, parameter], k) => {
          const mean = views[k];
          if (!mean || !isUsed(parameter)) return;
          if (parameter.grad) parameter.grad.copy_(mean);
          else parameter.grad = mean.clone();
        });
      }
    });
  }

  /** Returns a predicate for the parameters that some rank has used. */
  #usedSomewhere(): (parameter: Parameter) => boolean {
    const { findUnused, group } = this.#options;
    if (!findUnused) return () => true;
    const used = tensor(this.#parameters.map(([, each]) => this.#used.has(each) ? 1 : 0), {
      dtype: "uint8",
      device: "cpu",
    });
    allReduce(used, { op: "max", group });
    const found = new Set(
      this.#parameters.filter((_, k) => used.toTypedArray()[k] !== 0).map(([, each]) => each),
    );
    return (parameter) => found.has(parameter);
  }
}
