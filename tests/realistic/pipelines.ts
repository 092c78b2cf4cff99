/** Data pipelines to a model, in asynchronous code. */
import { cat, randn, stack, type Tensor, tensor } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

const row = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const later = <T>(value: T): Promise<T> => Promise.resolve(value);

async function* source(count: number): AsyncGenerator<{ x: Tensor; label: number }> {
  for (let i = 0; i < count; i++) {
    await null;
    yield { x: row(i, i + 1, i + 2), label: i % 2 };
  }
}

export const programs: Readonly<Record<string, Program>> = {
  async "a batch is fetched, normalised and returned"({ compile, see }) {
    const load = compile(async (fetch: () => Promise<Tensor>) => {
      const x = await fetch();
      const centred = x.sub(x.mean());
      return centred.div(centred.square().mean().add(1e-5).sqrt());
    });
    for (const k of [1, 2, 3]) see(await load(() => later(row(k, 2 * k, 5))));
  },
  async "two sources are awaited together"({ compile, see }) {
    const join = compile(async (a: Promise<Tensor>, b: Promise<Tensor>) => {
      const [x, y] = await Promise.all([a, b]);
      return cat([x.mul(2), y.add(1)]).sum();
    });
    for (const k of [1, 2]) see(await join(later(row(k)), later(row(k, k))));
  },
  async "a stream is reduced as it comes"({ compile, see }) {
    const total = compile(async (items: AsyncIterable<{ x: Tensor; label: number }>) => {
      let sum = row(0, 0, 0), ones = 0;
      for await (const { x, label } of items) {
        sum = sum.add(x.mul(label + 1));
        ones += label;
      }
      return { sum, ones };
    });
    see(await total(source(3)));
    see(await total(source(3)));
  },
  async "a stream is transformed item by item"({ compile, see }) {
    const scaled = compile(async function* (items: AsyncIterable<{ x: Tensor; label: number }>, by: number) {
      for await (const { x, label } of items) yield { x: x.mul(by).relu(), label };
    });
    for await (const item of scaled(source(3), 2)) see(item);
  },
  async "items are collated into batches"({ compile, see }) {
    const collate = compile((items: readonly { x: Tensor; label: number }[]) => ({
      x: stack(items.map(({ x }) => x)),
      labels: tensor(items.map(({ label }) => label)),
    }));
    const items = [];
    for await (const item of source(4)) items.push(item);
    see(collate(items.slice(0, 2)), collate(items.slice(2)));
  },
  async "failures are tried again"({ compile, see }) {
    let tries = 0;
    const flaky = async (x: Tensor) => {
      await null;
      if (++tries % 2 === 1) throw new Error("busy");
      return x;
    };
    const robust = compile(async (x: Tensor) => {
      for (let attempt = 0;; attempt++) {
        try {
          return (await flaky(x)).add(attempt);
        } catch (error) {
          if (attempt > 2) throw error;
        }
      }
    });
    see(await robust(row(1, 2)), await robust(row(3)), tries);
  },
  async "a cache keeps what was preprocessed"({ compile, see }) {
    const cache = new Map<string, Tensor>();
    const prepared = compile(async (name: string, fetch: (name: string) => Promise<Tensor>) => {
      const known = cache.get(name);
      if (known) return known.mul(1);
      const made = (await fetch(name)).div(255).sub(0.5);
      cache.set(name, made);
      return made;
    });
    const fetch = (name: string) => later(row(name.length, 128));
    for (const name of ["a", "bb", "a"]) see(await prepared(name, fetch));
    see(cache.size);
  },
  "windows over a series are stacked"({ compile, see }) {
    const windows = compile((x: Tensor, size: number, step: number) => {
      const parts: Tensor[] = [];
      for (let at = 0; at + size <= x.shape[0]!; at += step) parts.push(x.at(`${at}:${at + size}`));
      return stack(parts);
    });
    see(windows(row(1, 2, 3, 4, 5, 6), 3, 1), windows(row(6, 5, 4, 3, 2, 1), 3, 1));
  },
  "columns are chosen by a description"({ compile, see }) {
    const schema = [{ name: "age", scale: 100 }, { name: "height", scale: 200 }, {
      name: "weight",
      scale: 150,
    }];
    const encode = compile((x: Tensor, wanted: ReadonlySet<string>) =>
      stack(schema.flatMap(({ name, scale }, k) => wanted.has(name) ? [x.select(1, k).div(scale)] : []), 1)
    );
    const x = randn([2, 3]).abs().mul(50);
    see(encode(x, new Set(["age", "weight"])), encode(x, new Set(["height"])));
  },
  async "work is done while the next item is awaited"({ compile, see }) {
    const overlapped = compile(async (items: readonly (() => Promise<Tensor>)[]) => {
      const results: Tensor[] = [];
      let next = items[0]?.();
      for (let k = 0; k < items.length; k++) {
        const x = await next!;
        next = items[k + 1]?.();
        results.push(x.exp().log1p());
      }
      return stack(results).mean(0);
    });
    see(await overlapped([1, 2, 3].map((k) => () => later(row(k, -k)))));
  },
};
