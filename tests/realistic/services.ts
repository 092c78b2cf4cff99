/** Programs that wait for each other. */
import { manualSeed, nn, noGrad, ones, stack, type Tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

class Semaphore {
  #free: number;
  readonly #line: (() => void)[] = [];
  most = 0;
  #busy = 0;
  constructor(n: number) {
    this.#free = n;
  }
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    this.most = Math.max(this.most, ++this.#busy);
    try {
      return await work();
    } finally {
      this.#busy--;
      const next = this.#line.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

interface Pending {
  readonly x: Tensor;
  readonly resolve: (y: Tensor) => void;
  readonly reject: (error: unknown) => void;
}

class Batcher {
  #pending: Pending[] = [];
  #scheduled = false;
  sizes: number[] = [];
  constructor(private readonly run: (batch: Tensor) => Tensor, private readonly most = 3) {}
  submit(x: Tensor): Promise<Tensor> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ x, resolve, reject });
      if (this.#pending.length >= this.most) this.flush();
      else if (!this.#scheduled) {
        this.#scheduled = true;
        queueMicrotask(() => {
          this.#scheduled = false;
          this.flush();
        });
      }
    });
  }
  flush() {
    const batch = this.#pending.splice(0);
    if (batch.length === 0) return;
    this.sizes.push(batch.length);
    try {
      const ys = this.run(stack(batch.map(({ x }) => x)));
      batch.forEach(({ resolve }, i) => resolve(ys.at(i)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

const later = <T>(value: T) => Promise.resolve(value);

export const programs: Readonly<Record<string, Program>> = {
  async "requests are gathered into batches by microtasks"({ compile, see }) {
    manualSeed(1);
    const net = new nn.Linear(2, 2);
    const infer = compile((batch: Tensor) => noGrad(() => net.call(batch).softmax(-1)));
    const batcher = new Batcher(infer);
    see(await Promise.all([1, 2, 3, 4, 5].map((k) => batcher.submit(ones([2]).mul(k)))));
    see(await Promise.all([1, 2].map((k) => batcher.submit(ones([2]).mul(k)))));
    see(await batcher.submit(zeros([2])), batcher.sizes);
    const wrong = await Promise.allSettled([batcher.submit(ones([2])), batcher.submit(ones([2, 1]))]);
    see(wrong.map(({ status }) => status));
  },
  async "work is limited by a semaphore"({ compile, see }) {
    const limit = new Semaphore(2), order: string[] = [];
    const process = compile(async (xs: readonly Tensor[]) => {
      const ys = await Promise.all(xs.map((x, i) =>
        limit.use(async () => {
          order.push(`+${i}`);
          await later(null);
          const y = x.mul(2).add(i);
          await later(null);
          order.push(`-${i}`);
          return y;
        })
      ));
      return stack(ys).sum(0);
    });
    see(await process([1, 2, 3, 4].map((k) => ones([2]).mul(k))), await process([ones([2])]));
    see(order, limit.most);
  },
};
