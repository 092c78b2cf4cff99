/** Programs with lists that are longer in each call: generated tokens, losses, queues. */
import { compiler, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const look = compiler.disable(() => {});
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const weights = tensor(range(25).map((i) => Math.sin(i * 1.3)), { dtype: "float32" }).reshape([5, 5]);
const ROWS = range(40).map((i) => weights.select(0, i % 5));

const ENDS: Readonly<Record<string, (list: unknown[], x: Tensor) => unknown>> = {
  "push, and the last ones": (list, x) => [list.push(x), list.at(-1), list.at(-2), list[list.length - 2]],
  "pop, past what was put": (list) => {
    list.push(1, 2);
    return [list.pop(), list.pop(), list.pop(), list.length, list.at(-1)];
  },
  "a break between, and the first one": (list, x) => {
    list.push(x, x.add(1));
    look();
    list.push(list.at(-1));
    return [list.at(-3), list.at(-4), list.at(0), list[0]];
  },
  "writes at the length, and of it": (list, x) => {
    list[list.length] = x;
    list[list.length - 1] = 5;
    list.length -= 1;
    return list.length;
  },
  "a loop that adds": (list) => {
    list.push(3);
    const out: unknown[] = [];
    for (const each of list) {
      out.push(each);
      if (out.length < 9 && out.length % 2 === 1) list.push(out.length);
    }
    return out;
  },
  "the last ones of it": (list, x) => {
    const before = [list.slice(-2), list.slice(-3)];
    list.push(x);
    return [
      ...before,
      list.slice(-1),
      list.slice(-3),
      list.slice(-4),
      list.slice(-2, -1),
      list.slice("-2" as never),
    ];
  },
  "what looks at all of it": (list, x) => {
    list.push(x);
    const [first, ...rest] = list;
    return [first, rest.length, list.slice(-2), list.map((each) => typeof each), list.reverse().length];
  },
  "numbers of its length": (list) => {
    const before = list.length;
    list.push(before, list);
    return [before, list.length - before, before > 3, !before, `${list.length > 4}`, list.includes(3)];
  },
  "a queue": (
    list,
    x,
  ) => [list.shift(), list.push(x), list.shift(), list.length, list.at(-1), list[list.length - 1]],
  "a ring": (
    list,
  ) => [list.push(list.shift()), list.push(list.shift()), list.pop(), list.at(-1), list.at(-2)],
  "batches from its start": (list) => [list.splice(0, 2), list.splice(0, 1), list.length, list.shift()],
  "what drains it": (list, x) => {
    const out: unknown[] = [];
    while (list.length > 1) out.push(list.shift(), list.pop());
    list.push(x);
    return out;
  },
  "taken from both ends, and what looks at all of it": (list, x) => {
    const ends = [list.shift(), list.pop(), list.shift()];
    list.push(x);
    list[list.length] = list.pop();
    return [ends, list.map((each) => typeof each), list[0], list.indexOf(3), list.reverse().length];
  },
  "taken from the start, a break, and more": (list) => {
    const first = list.shift();
    look();
    list.unshift(list.pop(), first);
    return [list.shift(), list.slice(-1), list.slice(0, 1)];
  },
  "what cannot grow any more": (list) => {
    list.push(1);
    Object.freeze(list);
    try {
      list.push(2);
    } catch (error) {
      return error instanceof TypeError;
    }
  },
};

export const growingLists: Corpus = {
  ...Object.fromEntries(
    Object.entries(ENDS).map(([name, end]) => [
      `lists that grow: ${name}`,
      ({ compile, see, attempt }) => {
        const f = compile((x: Tensor, list: unknown[]) => [x.mul(2), end(list, x), list]);
        for (const n of [0, 2, 3, 5, 4, 1]) {
          const list = range(n);
          attempt(() => f(v(1), list));
          see(list);
        }
      },
    ]),
  ),
  "lists that grow: queues that are no plain lists"({ compile, see, attempt }) {
    class Line extends Array<unknown> {
      override shift() {
        return [super.shift()];
      }
    }
    const makers: readonly ((n: number) => unknown[])[] = [
      (n) => Object.assign(range(n), { 1: undefined }),
      (n) => [, ...range(n)],
      (n) => Object.defineProperty(range(n), 1, { get: () => 7, configurable: true }),
      (n) => Object.defineProperty(range(n), 1, { value: 7, writable: false }),
      (n) => Object.defineProperty(range(n), n - 1, { value: 7, configurable: false }),
      (n) => Object.seal(range(n)),
      (n) => Line.from(range(n)),
    ];
    for (const make of makers) {
      const f = compile((x: Tensor, list: unknown[]) => [x.mul(2), list.shift(), list.pop(), list.length]);
      for (const list of [range(4), range(5), range(5), make(5), make(6), range(3)]) {
        attempt(() => f(v(1), list));
        see(list);
      }
      const g = compile((x: Tensor, list: unknown[]) => [list.push(x.mul(2)), list.splice(0), list.length]);
      for (const list of [range(4), range(5), make(5), make(6)]) attempt(() => [g(v(1), list), list]);
    }
  },
  "lists that grow: one list twice, and two"({ compile, see }) {
    const f = compile((x: Tensor, a: unknown[], b: unknown[]) => {
      a.push(x);
      const { length } = b;
      b.push(length);
      return [a.at(-1), b.at(-1), a.length, b.length, a === b, a.at(-2)];
    });
    for (const n of [2, 3, 4]) {
      const a = range(n), b = range(n + 1);
      see(f(v(1), a, b), f(v(1), a, a), f(v(2), b, a), a, b);
    }
  },
  "lists that grow: the last one is of many kinds"({ compile, attempt }) {
    const f = compile((x: Tensor, list: unknown[]) => {
      const last = list.at(-1);
      list.push(0);
      return [
        typeof last === "number" ? x.mul(last) : x.neg(),
        typeof last,
        list.at(-2) === last,
        list.length,
      ];
    });
    const lists = [[1, 2], [1, 2, 3], [1, 2, v(5)], [1, 2, 3, 4, "a"], [1, 2, undefined], [0, 1], [
      4,
      0.5,
      NaN,
    ]];
    for (const list of [...lists, ...lists.map((each) => [...each, ...each])]) attempt(() => f(v(1), list));
  },
  "lists that grow: subclasses, and what is no list"({ compile, attempt }) {
    const f = compile((x: Tensor, list: unknown[]) => {
      list.push(x);
      return [list.at(-1), list.at(-2), list.length, Array.isArray(list)];
    });
    class Louder extends Array<unknown> {
      override push(...items: unknown[]): number {
        return super.push(...items, "extra");
      }
    }
    class Odd extends Array<unknown> {
      override at(index: number): unknown {
        return index * 2;
      }
    }
    for (const n of [2, 3, 4]) {
      const list = range(n), fixed = Object.defineProperty(range(n), "length", { writable: false });
      for (const each of [list, Louder.from(list), Odd.from(list), Object.seal(range(n)), fixed]) {
        attempt(() => f(v(1), each));
      }
    }
  },
  "lists that grow: tokens and their probabilities"({ compile, see }) {
    const decode = compile((prompt: readonly number[], n: number) => {
      const ids = [...prompt], likely: Tensor[] = [];
      while (ids.length < n) {
        const p = weights.select(0, ids[ids.length - 1] ?? 0).add(weights.select(0, ids.at(-2) ?? 0)).softmax(
          -1,
        );
        ids.push(Number(p.argmax().item()));
        likely.push(p.max());
        if (likely.length % 3 === 0 && Number(likely.at(-1)?.item()) < 0.25) {
          ids.pop();
          ids.push(0);
        }
      }
      return [ids, stack(likely)];
    });
    for (const n of [12, 9]) see(decode([1, 2], n));
  },
  "lists that grow: gradients of what was kept"({ compile, see }) {
    const history: Tensor[] = [], w = v(2, 3).requiresGrad_(true);
    const step = compile((x: Tensor) => {
      const last = history.at(-1);
      const y = (last ? last.detach().add(x) : x).mul(w);
      history.push(y);
      return y.sum().add(history[history.length - 1]?.mean() ?? 0);
    });
    for (const i of range(6)) {
      step(v(i, 1)).backward();
      see(w.grad, history.length);
    }
  },
};

/** Loops that a part of a graph ends in, as decoding does: what they give, after so many rounds. */
export const LONG_LOOPS: Readonly<Record<string, (n: number) => readonly (number | Tensor)[]>> = {
  "tokens": (n) => {
    const ids = [1];
    let state = zeros([5]);
    for (let i = 0; i < n; i++) {
      state = state.mul(0.7).add(weights.select(0, ids.at(-1) ?? 0));
      const id = Number(state.matmul(weights).argmax().item());
      ids.push(id);
      if (id === 9) break;
    }
    return ids;
  },
  "elements by number": (n) => {
    const sums: Tensor[] = [];
    let y = zeros([5]);
    for (let i = 0; i < n; i++) {
      y = y.mul(0.5).add(ROWS[i] ?? 0);
      if (Number(y.sum().item()) > 1e6) break;
      sums[i] = y.sum();
    }
    return sums;
  },
  "tensors of a class": (n) => {
    const kept = { states: [zeros([5])], rounds: 0 };
    while (kept.states.length < n) {
      const next = (kept.states[kept.states.length - 1] ?? zeros([5])).mul(0.5).add(1);
      kept.states.push(next);
      kept.rounds++;
      if (Number(next.sum().item()) > 1e6) break;
    }
    return [...kept.states, kept.rounds];
  },
};
