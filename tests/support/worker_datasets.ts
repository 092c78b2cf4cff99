/** Datasets that workers of loaders create in their threads. */
import { data, rand, type Tensor, tensor } from "../../mod.ts";

/** Sample i is i times a factor, with its square and a text. */
export class Squares implements data.Dataset<{ x: Tensor; label: number; name: string }> {
  constructor(readonly length: number, readonly factor: Tensor) {}

  get(index: number): { x: Tensor; label: number; name: string } {
    if (index === 13) throw new RangeError("no such square");
    return { x: this.factor.mul(index), label: index ** 2, name: `s${index}` };
  }
}

let begunAs = -1;

/** Sets a worker up. */
export const begin = (id: number): void => void (begunAs = id);

/** Random numbers, by worker, and what the worker was set up as. */
export const noise: data.Dataset<[Tensor, number, number]> = {
  length: 8,
  get: () => [rand(2), data.getWorkerInfo()?.id ?? -1, begunAs],
};

/** Samples that come later, the first of a batch last. */
export function later(length: number): data.Dataset<Promise<number>> {
  return { length, get: (i) => new Promise((done) => setTimeout(() => done(i), 4 - i % 4)) };
}

/** A stream whose part each worker has for itself. */
export class Shards extends data.IterableDataset<number> {
  constructor(readonly count: number) {
    super();
  }

  override *[Symbol.iterator](): Iterator<number> {
    const { id, numWorkers } = data.getWorkerInfo() ?? { id: 0, numWorkers: 1 };
    for (let i = id; i < this.count; i += numWorkers) yield i;
  }
}

/** Puts samples together in another way than usual. */
export const reversed = (samples: readonly number[]): Tensor => tensor(samples.toReversed());

/** Something beside it throws where nobody catches it, and no sample ever comes. */
export function hangs(): data.Dataset<Promise<number>> {
  return {
    length: 4,
    get(index) {
      if (index === 0) setTimeout(() => nobody(), 1);
      return new Promise(() => {});
    },
  };
}

function nobody(): never {
  throw new RangeError("nobody catches this");
}

/** A sample that cannot be sent. */
export const closures: data.Dataset<() => number> = { length: 1, get: (i) => () => i };
