/** Programs that derive promises from others, and reveal the order of their jobs. */
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
  async "of async functions that end before they wait"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, ready: Promise<number>) => {
      // None of them comes to its wait
      const parts = Promise.all([1, 2].map(async (k) => k > 5 ? await ready : x.mul(k)));
      const given = async (k: number) => k > 5 ? await ready : ready;
      const failed = async (k: number) => {
        log.push("thrown");
        if (k < 5) throw new RangeError(`${k}`);
        return await ready;
      };
      const late = async (k: number) => {
        try {
          return k > 5 ? await ready : log.push("left");
        } finally {
          log.push("finally");
        }
      };
      return {
        y: x.add(1),
        parts,
        given: given(1),
        failed: failed(2),
        late: late(3),
        known: Promise.resolve(0),
      };
    });
    for (const k of [1, 2, 3]) {
      const { y, ...made } = f(v(k), Promise.resolve(k));
      log.push("returned");
      await Promise.all(Object.entries(made).map(([name, each]) => noted(log, name, each)));
      see(y, log);
    }
  },
  async "made by constructors, settled here or by others later"({ compile, see }) {
    const log: unknown[] = [], waiting: ((value: unknown) => void)[] = [];
    const f = compile((x: Tensor, p: Promise<number>) => {
      const y = x.mul(2), settled: unknown[] = [];
      const made: Record<string, Promise<unknown>> = {
        now: new Promise((resolve) => resolve(y.add(1))),
        twice: new Promise((resolve, reject) => (resolve(1), resolve(2), reject(3))),
        thrown: new Promise(() => {
          throw new RangeError("in the executor");
        }),
        lateThrow: new Promise((resolve) => {
          resolve(4);
          throw new RangeError("that nobody hears");
        }),
        ofOther: new Promise((resolve) => resolve(p)),
        later: new Promise((resolve) => waiting.push(resolve)),
        tried: Promise.try((a: number, b: Tensor) => b.mul(a), 3, y),
        failed: Promise.try(() => {
          throw "no";
        }),
      };
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const itself = Promise.withResolvers<unknown>();
      itself.resolve(itself.promise);
      promise.then((value) => settled.push(value));
      Promise.resolve(0).then(() => settled.push("between"));
      resolve.bind(null, "bound")();
      reject.call(null, "never");
      const shown = [typeof resolve, resolve.name, resolve.length, Object.keys(resolve), `${promise}`];
      return { y: y.sum(), made, settled, promise, shown, itself: itself.promise, reject };
    });
    for (const k of [1, 2]) {
      const { y, made, settled, promise, shown, itself, reject } = f(v(k, 3), Promise.resolve(k));
      waiting.pop()?.(`later ${k}`);
      reject(new Error("too late"));
      const all = { ...made, promise, itself };
      await Promise.all(Object.entries(all).map(([name, each]) => noted(log, name, each)));
      see(y, shown, settled, log);
    }
  },
  async "settled by timers and jobs"({ compile, see }) {
    const log: unknown[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const f = compile((x: Tensor, ms: number) => {
      const y = x.mul(2);
      clearTimeout(timer);
      timer = setTimeout((name: string) => log.push(name, y.sum().item()), ms, "timer");
      Promise.resolve(1).then(() => log.push("first job"));
      queueMicrotask(() => log.push("second job"));
      const slept = new Promise<string>((resolve) => setTimeout(resolve, 1, "slept"));
      const stopped = setInterval(() => log.push("never"), 1);
      clearInterval(stopped);
      return [y.add(ms), slept] as const;
    });
    for (const [k, ms] of [[1, 1e6], [2, 1e6], [3, 2]] as const) {
      const [y, slept] = f(v(k), ms);
      see(y, await slept);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    see(log, typeof timer);
  },
  async "made by one function and settled by another"({ compile, see }) {
    class Deferred<T> {
      declare resolve: (value: T) => void;
      declare reject: (error: unknown) => void;
      readonly promise = new Promise<T>((resolve, reject) => Object.assign(this, { resolve, reject }));
    }
    const waiting: ((value: Tensor) => void)[] = [];
    const made = compile((x: Tensor) => {
      const deferred = new Deferred<Tensor>(), late = new Promise<Tensor>((resolve) => waiting.push(resolve));
      return [x.mul(2), deferred, late] as const;
    });
    const settled = compile((x: Tensor, deferred: Deferred<Tensor>, other: unknown, fails: boolean) => {
      const y = x.mul(3);
      if (fails) deferred.reject(y);
      else deferred.resolve(y);
      waiting.shift()?.(y.neg());
      return [y.add(1), other === deferred.resolve, typeof other, deferred.resolve.name];
    });
    for (const k of [0, 1, 2, 3, 4, 5]) {
      const [y, deferred, late] = made(v(k)), same = deferred.resolve;
      see(y, settled(v(k), deferred, k % 2 ? same : k === 2 ? k : deferred.reject, k > 3));
      see(await late, await deferred.promise.catch((error) => ["failed", error]));
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
  async "made by constructors that graphs end in"({ compile, see, attempt }) {
    const log: unknown[] = [];
    class Late<T> extends Promise<T> {}
    const f = compile((x: Tensor, way: number) => {
      const y = x.mul(2);
      const made = new Promise<unknown>((resolve, reject) => {
        console.log("in the executor");
        if (way === 1) throw new Error("behind the break");
        if (way === 2) reject("rejected");
        resolve(y.add(1));
      });
      return [y.sum(), made, Promise.try(() => (console.log("tried"), y.neg())), new Late(() => {})] as const;
    });
    for (const way of [0, 1, 2, 0]) {
      const [y, made, tried, late] = f(v(way), way);
      await noted(log, "made", made);
      see(y, log, await tried, late instanceof Late);
    }
    const g = compile((x: Tensor, executor: unknown) => [x.mul(2), new Promise(executor as () => void)]);
    for (const executor of [undefined, {}, 5]) attempt(() => g(v(1), executor));
    attempt(() => compile((x: Tensor) => [x.mul(2), setTimeout(5 as never, 1)])(v(1)));
    attempt(() => compile((x: Tensor) => [x.mul(2), queueMicrotask(null as never)])(v(1)));
    // What the trace takes away is there when the call is made
    const h = compile((x: Tensor, own: { then?: unknown }) => {
      delete own.then;
      return [x.mul(2), new Promise((resolve) => resolve(own)), Promise.resolve(own)];
    });
    for (const k of [1, 2]) {
      const [y, ...both] = h(v(k), { then: () => log.push("asked") }) as [Tensor, ...Promise<unknown>[]];
      for (let job = 0; job < 5; job++) await null;
      see(y, both.length, log);
    }
    const own = compile((x: Tensor, p: Promise<number>) => {
      Object.assign(p, { then: (done: (value: number) => void) => (log.push("own"), done(7)) });
      return [x.mul(2), Promise.all([p])] as const;
    });
    see(await own(v(1), Promise.resolve(1))[1], log);
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
