/** Programs with classes of arrays, and with assignments to properties of `super`. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

class List<T> extends Array<T> {
  get last(): T | undefined {
    return this[this.length - 1];
  }
}

class Batch extends List<Tensor> {
  total(): Tensor {
    return this.reduce((sum, each) => sum.add(each));
  }
}

/** A class whose methods give arrays. */
class Plain extends Array<number> {
  static override get [Symbol.species]() {
    return Array;
  }
}

/** A class whose constructor takes something else than a length. */
class Named<T> extends Array<T> {
  readonly made: string;
  constructor(...given: readonly unknown[]) {
    super();
    this.made = `with ${given.join()}`;
  }
}

/** Programs without a break. */
export const arrayClasses: Corpus = {
  "methods that give lists of the same class"({ compile, see }) {
    const captured = List.from([3, 4, 5]);
    const f = compile((x: Tensor) => {
      const list = List.of(1, 2, 3), removed = list.splice(0, 1, 7, 8);
      const made = [
        list.map((n) => n + 1),
        list.filter((n) => n > 2),
        list.slice(1, -1),
        list.concat([1], 2),
        list.flatMap((n) => [n, [n]]),
        new List<number[]>([1], [2]).flat(),
        captured.map((n) => n * 2),
        List.from(new Set([1, 2]), (n) => n + 0.5),
        List.from({ length: 2 }),
      ];
      const classes = made.map((each) => each instanceof List);
      return [
        x.mul((captured.slice(1) as List<number>).last ?? 0),
        list,
        removed,
        made,
        classes,
        list.toSorted() instanceof List,
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "lists of tensors"({ compile, see }) {
    const f = compile((x: Tensor, n: number) => {
      const batch = new Batch();
      for (let i = 0; i < n; i++) batch.push(x.mul(i));
      const scaled = batch.map((each) => each.add(1));
      return scaled instanceof Batch && [scaled.total(), batch.slice(1), scaled.last];
    });
    see(f(v(1, 2), 3), f(v(2, 1), 3));
  },
  "what a class says that its methods give, and what its constructor takes"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const plain = Plain.from([1, 2]), mapped = plain.map((n) => n + 1), sparse = Plain.of(1, 2, 3);
      delete sparse[2];
      const named = Named.from<number>([1, 2]) as Named<number>, of = Named.of(1, 2, 3) as Named<number>;
      return [
        x.mul(mapped.length),
        [mapped, mapped instanceof Plain, plain.filter(() => true), plain.slice(), sparse.map((n) => n)],
        [named, of, named.map((n) => n * 2), named.slice(1), of.splice(1), of, named.concat(3)],
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "a class that a list names of its own, from a later call on"({ compile, see }) {
    const numbers = [1, 2, 3];
    const f = compile((x: Tensor, list: number[]) => {
      const made = [list.map((n) => n + 1), list.slice(1), list.concat(4), list.filter((n) => n > 1)];
      return [x.mul(made[0]?.[0] ?? 0), made];
    });
    see(f(v(1), numbers), f(v(2), numbers));
    for (const own of [List, undefined, { [Symbol.species]: List }]) {
      Object.assign(numbers, { constructor: own });
      see(f(v(1), numbers), f(v(2), [3, 2, 1]));
    }
  },
  "assignments to properties of super"({ compile, see }) {
    class Base {
      stored = 0;
      static shared = 1;
      set rate(n: number) {
        this.stored = n * 2;
      }
      get rate(): number {
        return this.stored;
      }
      get fixed(): number {
        return 1;
      }
    }
    class Heir extends Base {
      note?: string;
      override set rate(n: number) {
        super.rate = n + 1;
      }
      override get rate(): number {
        return super.rate;
      }
      tell(key: "note") {
        super[key as "stored"] = "told" as never;
        try {
          (super.fixed as number) = 3;
        } catch (error) {
          return String(error);
        }
        return "done";
      }
      static put() {
        super.shared = 5;
        return [this.shared, Base.shared, Object.keys(this)];
      }
    }
    const kept = new Heir();
    const f = compile((x: Tensor) => {
      const heir = new Heir();
      heir.rate = 3;
      kept.rate += 1;
      const literal = {
        __proto__: {
          set size(n: number) {
            (this as unknown as { held: number }).held = n;
          },
        },
        grow(): unknown {
          (super.size as number) = 4;
          return { ...this, grow: null };
        },
      } as unknown as { grow(): unknown };
      return [x.mul(heir.rate), heir, heir.tell("note"), heir, literal.grow(), kept.rate];
    });
    see(f(v(1)), f(v(2)), kept, Heir.put());
  },
};

/** Programs whose objects refer to each other. */
export const circles: Corpus = {
  "objects that are made of each other"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const handler: ProxyHandler<{ a: number }> & { self?: unknown } = {};
      const target: { a: number; self?: unknown } = { a: 1 };
      handler.self = new Proxy({ a: 3 }, handler);
      const proxy = target.self = new Proxy(target, {});
      const bound = function (this: Record<string, unknown>) {
        return this;
      }.bind({});
      bound()["own"] = bound;
      const prototype: Record<string, unknown> = {}, heir = Object.create(prototype);
      prototype["child"] = heir;
      const list: unknown[] = [1], iterator = list.values();
      list.push({ iterator });
      iterator.next();
      const cause: Record<string, unknown> = {}, fault = new Error("a", { cause });
      cause["of"] = fault;
      return [x.add(1), handler, proxy, bound, heir, iterator.next(), fault];
    });
    see(f(v(1)), f(v(2)));
  },
  "a function that its prototype refers to"({ compile, see }) {
    const f = compile((x: Tensor) => {
      function Node(this: { size: number }) {
        this.size = 2;
      }
      Node.prototype.again = () => new (Node as unknown as new () => { size: number })();
      const node = new (Node as unknown as new () => { size: number; again(): object })();
      return [x.mul(node.size), node, node.again() instanceof Node];
    });
    see(f(v(1)));
  },
};
