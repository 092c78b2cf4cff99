/** Programs with weak collections from outside whose keys are tensors, and from which entries are removed. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

interface Moments {
  step: number;
  mean: Tensor;
}

/** Programs without a break. */
export const weakCollections: Corpus = {
  "results by tensor, which others replace and remove"({ compile, see }) {
    const doubled = new WeakMap<Tensor, Tensor>(), xs = [v(1, 2), v(3, 4)] as const;
    const run = compile((x: Tensor) => {
      let found = doubled.get(x);
      const isNew = found === undefined;
      if (found === undefined) doubled.set(x, found = x.mul(2));
      return [found.add(1), isNew, doubled.has(x), doubled.get(x) === found];
    });
    for (const x of [...xs, ...xs]) see(run(x), doubled.get(x));
    doubled.set(xs[0], v(7, 7));
    doubled.delete(xs[1]);
    for (const x of xs) see(run(x), doubled.get(x));
    const kept = doubled.get(xs[0]);
    run(xs[0]);
    see(doubled.get(xs[0]) === kept);
  },
  "the state of an optimizer by parameter"({ compile, see }) {
    const state = new WeakMap<Tensor, Moments>(), weights = [v(1, 2), v(3)] as const;
    const run = compile((by: number) =>
      weights.map((w) => {
        const own = state.get(w) ?? { step: 0, mean: w.mul(0) };
        own.step++;
        own.mean = own.mean.mul(0.5).add(w.mul(by));
        state.set(w, own);
        return w.sub(own.mean);
      })
    );
    for (const by of [1, 1, 2]) see(run(by), weights.map((w) => state.get(w)));
    state.delete(weights[0]);
    see(run(1), weights.map((w) => state.get(w)));
  },
  "results of the graph as keys, which leave or not"({ compile, see }) {
    const names = new WeakMap<Tensor, unknown>(), seen = new WeakSet<Tensor>();
    const run = compile((x: Tensor) => {
      const y = x.mul(2), z = x.mul(2), gone = y.add(1);
      names.set(y, { from: x, z }).set(gone, "gone");
      seen.add(z).add(gone);
      return {
        y,
        z: [z],
        found: [names.has(y), names.has(z), names.get(gone), seen.has(y), seen.has(z), seen.delete(gone)],
      };
    });
    for (const x of [v(1), v(2)]) {
      const { y, z: [z = y], found } = run(x);
      const entry = names.get(y);
      see(found, entry, seen.has(z), seen.has(y), names.has(z));
      see(typeof entry === "object" && entry !== null && "z" in entry && entry.z === z);
    }
  },
  "entries that are removed, and added again"({ compile, see }) {
    const notes = new WeakMap<object, number>(), seen = new WeakSet<object>();
    for (const keys of [[{}, {}], [v(5), v(6)], [() => 1, () => 2], [[1], [2]]]) {
      const run = compile((x: Tensor, key: object) => {
        const found = [
          notes.delete(key),
          notes.has(key),
          notes.get(key),
          notes.delete(key),
          seen.delete(key),
        ];
        notes.set(key, (notes.get(key) ?? 3) + 1);
        const local = {};
        seen.add(local).add(key);
        return [
          x.add(1),
          found,
          notes.get(key),
          seen.delete(local),
          seen.has(local),
          notes.delete(3 as never),
        ];
      });
      for (const key of [...keys, ...keys]) see(run(v(1), key), notes.get(key), seen.has(key));
      for (const key of keys) notes.set(key, 8) && seen.delete(key);
      for (const key of keys) see(run(v(1), key), notes.get(key), seen.has(key));
      const clear = compile((x: Tensor, key: object) => [x.mul(2), notes.delete(key), seen.delete(key)]);
      for (const key of [...keys, ...keys]) see(clear(v(1), key), notes.has(key), seen.has(key));
    }
  },
  "new ones that leave with their entries"({ compile, see }) {
    class Memo {
      readonly state = new WeakMap<object, unknown>();
      readonly seen = new Noted();
      of(key: object, x: Tensor): unknown {
        if (!this.state.has(key)) this.state.set(key, x.mul(2));
        this.seen.add(key);
        return this.state.get(key);
      }
    }
    class Noted extends WeakSet<object> {
      readonly count = 1;
    }
    const run = compile((x: Tensor, key: object) => {
      const memo = new Memo(), y = x.add(1), own: object[] = [], circle = new WeakMap<object, unknown>();
      own.push(circle);
      circle.set(own, circle).set(circle, own).set(y, x).set(key, 1);
      circle.delete(key);
      return {
        memo,
        y,
        own,
        circle,
        found: memo.of(key, x),
        target: new WeakRef(key),
        result: new WeakRef(y),
      };
    });
    for (const key of [{}, v(4), {}]) {
      const x = v(1, 2), { memo, y, own, circle, found, target, result } = run(x, key);
      see(
        memo.state.get(key) === found,
        memo.of(key, x) === found,
        memo.seen.has(key),
        memo.seen.count,
      );
      see(memo.seen instanceof Noted, memo.of(own, y), target.deref() === key, result.deref() === y);
      see(circle.get(own) === circle, circle.get(circle) === own, circle.get(y) === x, circle.has(key));
    }
  },
  "two keys that are one in some calls"({ compile, see }) {
    const notes = new WeakMap<object, number>(), a = [v(1), v(2)] as const, b = [{}, {}] as const;
    const put = compile((x: Tensor, one: object, other: object) => {
      notes.set(one, 1);
      return [x.add(1), notes.get(other)];
    });
    const drop = compile((x: Tensor, one: object, other: object) => {
      notes.delete(one);
      return [x.add(1), notes.has(other)];
    });
    for (const [one, other] of [a, b]) {
      for (const key of [other, one, other, one]) {
        see(put(v(1), one, key), drop(v(1), one, key));
        notes.set(other, 2);
        see(put(v(1), one, key), drop(v(1), one, key));
        notes.delete(other);
      }
    }
  },
};
