/** Programs that make promises of others, and show in which order their jobs come. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Notes what a promise comes to, in the order of jobs. */
async function noted(log: unknown[], name: string, promise: Promise<unknown>): Promise<void> {
  try {
    log.push(name, await promise);
  } catch (error) {
    log.push(`${name} failed`, error instanceof AggregateError ? error.errors : error);
  }
}

/** Programs without a break. */
export const promises: Corpus = {
  async "combined in a function, with what is known already"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, a: Promise<number>, b: Promise<number>) => {
      const y = x.mul(2), list: unknown[] = [a, 3, b];
      const made = {
        all: Promise.all([a, b, 1]),
        any: Promise.any([b, a]),
        race: Promise.race(list),
        settled: Promise.allSettled([b, Promise.reject("no")]),
        known: Promise.resolve(y.shape[0]),
        of: Promise.all([y.sum().item()]),
      };
      list.length = 0;
      return { ...made, y: y.add(1), same: Promise.resolve(a) === a, is: made.all instanceof Promise };
    });
    for (const k of [1, 2]) {
      const { y, same, is, ...made } = f(
        v(k),
        Promise.resolve(k),
        k > 1 ? Promise.reject("late") : Promise.resolve(7),
      );
      await Promise.all(Object.entries(made).map(([name, each]) => noted(log, name, each)));
      see(y, same, is, log);
    }
  },
  async "of objects that get methods later"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, own: { a: number; then?: unknown }) => {
      const object: { y: Tensor; then?: unknown } = { y: x.mul(2) }, made = Promise.all([object, own]);
      object.then = own.then = () => log.push("asked");
      return [made, x.add(1)] as const;
    });
    for (const k of [1, 2]) {
      const [made, y] = f(v(k), { a: k });
      made.then(([, { a }]) => log.push(a));
      for (let job = 0; job < 5; job++) await null;
      see(y, log);
    }
  },
  async "with jobs in the order of the calls, results that nobody takes included"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, p: Promise<number>) => {
      let count = 0;
      p.then((k) => log.push("first", k, count));
      const y = x.mul(3), second = p.then(() => y.sum());
      p.finally(() => log.push("last"));
      second.catch(() => log.push("never")).then(() => log.push("behind", count++));
      Promise.reject(4).catch((error) => log.push("caught", error));
      count = 2;
      return [y.add(count), second];
    });
    for (const k of [1, 2, 3]) {
      const ready = Promise.resolve(k), [y, second] = f(v(k), ready) as [Tensor, Promise<Tensor>];
      log.push("returned");
      ready.then(() => log.push("outside"));
      see(y, await second);
      await null;
      await null;
      see(log);
    }
  },
};

/** Programs whose promises have code of their own, so that graphs end at it. */
export const brokenPromises: Corpus = {
  async "with methods of their own, classes and thenables"({ compile, see, attempt }) {
    const log: unknown[] = [];
    class Late<T> extends Promise<T> {
      override then<A = T, B = never>(
        done?: ((value: T) => A | PromiseLike<A>) | null,
        failed?: ((error: unknown) => B | PromiseLike<B>) | null,
      ): Promise<A | B> {
        log.push("then of Late");
        return super.then(done, failed);
      }
    }
    const f = compile((x: Tensor, each: unknown) => {
      const y = x.mul(2);
      log.push("before");
      const all = Promise.all([each, 1]);
      log.push("after");
      return [y.add(1), all] as const;
    });
    const own = Object.assign(Promise.resolve(5), {
      then: (done: (value: number) => void) => {
        log.push("own then");
        done(6);
      },
    });
    const thenable = {
      get then() {
        log.push("asked");
        return (done: (value: number) => void) => done(8);
      },
    };
    for (
      const each of [Promise.resolve(1), Promise.resolve(2), own, thenable, Late.resolve(3), v(4), { a: 1 }]
    ) {
      const [y, all] = f(v(1), each);
      see(y, await all, log);
    }
    const g = compile((x: Tensor, list: unknown) => [x.mul(2), Promise.all(list as [])] as const);
    for (const list of [[1], undefined, 5, "ab", new Map([[1, 2]])]) {
      const [, all] = g(v(1), list);
      await noted(log, "all", all);
    }
    attempt(() => compile((x: Tensor) => [x.mul(2), Reflect.apply(Promise.all, undefined, [[]])])(v(1)));
    see(log);
  },
  async "awaited where they are made"({ compile, see }) {
    const later = <T>(value: T): Promise<T> => new Promise((done) => queueMicrotask(() => done(value)));
    const f = compile(async (x: Tensor, list: number[]) => {
      const y = x.mul(2), parts = await Promise.all(list.map((k) => later(k)));
      const z = y.mul(parts[0] ?? 1), first = await Promise.race([later(5), later(6)]);
      const settled = await Promise.allSettled([Promise.reject(1), later(2)]);
      return [
        z.add(first),
        settled.map(({ status }) => status),
        await Promise.any([Promise.reject(1), later(3)]),
      ];
    });
    for (const list of [[1, 2], [2, 3], [4]]) see(await f(v(1), list));
  },
  async "of methods that the program replaces"({ compile, see }) {
    const log: unknown[] = [], { then } = Promise.prototype;
    const f = compile((x: Tensor, p: Promise<number>) => [x.mul(2), Promise.all([p])] as const);
    for (const isReplaced of [false, false, true, false]) {
      const p = Promise.resolve(1);
      if (isReplaced) {
        Promise.prototype.then = function <A, B>(this: Promise<unknown>, ...given: [A, B]) {
          log.push("replaced");
          return Reflect.apply(then, this, given) as never;
        } as typeof then;
      }
      let made;
      try {
        made = f(v(1), p);
        log.push("made");
      } finally {
        Promise.prototype.then = then;
      }
      see(made[0], await made[1], log);
    }
  },
};
