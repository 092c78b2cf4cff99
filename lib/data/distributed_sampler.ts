/**
 * Divides samples between processes. Invariant: all ranks have the same number of indices, and together they have
 * every sample; with shuffling all ranks draw the same order.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { getRank, getWorldSize } from "../distributed/group.ts";
import { Generator } from "../tensor/random.ts";
import { checkSized, permutation, type Sampler, type Sized } from "./samplers.ts";

/** Options of DistributedSampler. */
export interface DistributedSamplerOptions {
  /** Number of processes; default: that of the process group. */
  readonly numReplicas?: number | null;
  /** Rank of this process; default: its rank in the process group. */
  readonly rank?: number | null;
  /** Whether the order is random, and differs in each epoch; default true. */
  readonly shuffle?: boolean;
  /** Seed of random orders, the same on all ranks; default 0. */
  readonly seed?: number;
  /**
   * Whether remaining samples that do not suffice for all ranks are dropped; otherwise some occur twice. Default false.
   */
  readonly dropLast?: boolean;
}

/** The samples of this process, like torch.utils.data.DistributedSampler. */
export class DistributedSampler implements Sampler {
  /** Number of indices of an iteration. */
  readonly length: number;
  readonly #replicas: number;
  readonly #rank: number;
  readonly #options: DistributedSamplerOptions;
  #epoch = 0;

  /** Receives the dataset. Throws DynError for an invalid rank, or without a process group to query. */
  constructor(readonly dataSource: Sized, options: DistributedSamplerOptions = {}) {
    checkSized(dataSource, "DistributedSampler");
    this.#replicas =
      optionsOf("DistributedSampler", options, ["numReplicas", "rank", "shuffle", "seed", "dropLast"])
        .numReplicas ?? getWorldSize();
    this.#rank = options.rank ?? getRank();
    this.#options = options;
    if (!Number.isInteger(this.#rank) || this.#rank < 0 || this.#rank >= this.#replicas) {
      throw new DynError(`Expected a rank in [0, ${this.#replicas - 1}] but found ${this.#rank}`);
    }
    const share = dataSource.length / this.#replicas;
    this.length = options.dropLast ? Math.floor(share) : Math.ceil(share);
  }

  /** Sets the next epoch, so that its order differs; must be the same on all ranks. */
  setEpoch(epoch: number): void {
    if (arguments.length > 1) refuseSurplus("setEpoch", 1, arguments);
    this.#epoch = epoch;
  }

  /** The indices. */
  *[Symbol.iterator](): IterableIterator<number> {
    const { shuffle = true, seed = 0 } = this.#options, n = this.dataSource.length;
    const order = shuffle
      ? permutation(n, { generator: new Generator().manualSeed(seed + this.#epoch) })
      : null;
    for (let k = 0; k < this.length; k++) {
      const at = (k * this.#replicas + this.#rank) % n;
      yield order?.[at] ?? at;
    }
  }
}
