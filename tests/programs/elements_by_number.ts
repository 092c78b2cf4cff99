/** Programs that read and write elements of lists at numbers that change between calls. */
import { nn, noGrad, ones, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Writes to a list before its elements are read, by name. */
const WRITES: Readonly<Record<string, (list: unknown[], i: number, x: Tensor) => unknown>> = {
  "nothing": () => {},
  "another element": (list, _, x) => list[0] = x,
  "the element": (list, i, x) => list[i] = x,
  "behind it": (list, _, x) => list.push(x),
  "a length": (list) => list.length = 3,
  "it, after it was read": (list, i, x) => [list[i], list[i] = x.mul(2), list[i]],
  "two of them": (list, i) => [list[i], list[i - 1]] = [list[i - 1], list[i]],
  "nothing in its place": (list, i) => [delete list[i], i in list],
  "all of them": (list) => list.reverse().length,
};

export const elementsByNumber: Corpus = {
  ...Object.fromEntries(
    Object.entries(WRITES).map(([name, write]) => [
      `elements by number: ${name} is written`,
      ({ compile, see, attempt }) => {
        const f = compile((x: Tensor, list: unknown[], i: number) => {
          const out = [write(list, i, x), list[i], list[i + 1]];
          list[list.length] = i;
          return [x.mul(2), out, list[i], list.length, list[list.length - 1]];
        });
        for (const i of [2, 3, 4, 0, 5]) {
          const list = range(6);
          attempt(() => f(v(1), list, i));
          see(list);
        }
      },
    ]),
  ),
  "elements by number: lists, and what is none"({ compile, attempt }) {
    const f = compile((x: Tensor, list: ArrayLike<unknown>, i: number) => {
      const a = list[i];
      return [typeof a === "number" ? x.mul(a) : x.neg(), a, a === list[i - 1], list.length];
    });
    const mixed = [1, "b", v(3), null, undefined, undefined, 5n];
    delete mixed[5];
    const lists = [range(7), mixed, "abcdefg", new Float32Array(7), { length: 7, 2: 1, 3: v(1) }];
    for (const list of [...lists, Object.freeze(range(7)), range(3)]) {
      for (const i of [2, 3, 5, 9, -1, 2.5]) attempt(() => f(v(1), list, i));
    }
  },
  "elements by number: batches of a list"({ compile, attempt }) {
    class Rows extends Array<unknown> {}
    const batches = (x: Tensor, list: unknown[], i: number) => {
      const batch = list.slice(i * 2, (i + 1) * 2), shifted = list.slice(3 * i - 1, 3 * i + 1);
      if (i % 2 === 0) list[i * 2] = x;
      const first = batch[0];
      return [
        typeof first === "number" ? x.mul(first) : x.neg(),
        batch,
        shifted.length,
        shifted.constructor.name,
        1 in batch,
        list.slice(2 * i, 2 * i + 1),
      ];
    };
    const gaps: unknown[] = range(9), read = range(9), other = range(9);
    delete gaps[5];
    Object.defineProperty(read, 6, { get: () => 60, enumerable: true, configurable: true });
    Object.defineProperty(other, "constructor", { value: Rows });
    for (const list of [range(12), range(9), range(5), gaps, read, other, Rows.from(range(9))]) {
      const f = compile(batches);
      for (const i of [2, 3, 5, 4, 1, -1]) attempt(() => f(v(1), list, i));
    }
  },
  "elements by number: one tensor by two ways, written in place"({ compile, see }) {
    const f = compile((list: Tensor[], t: Tensor, i: number) => {
      const a = list[i];
      a?.add_(1);
      const y = t.mul(2);
      list[i - 1]?.mul_(3);
      return [y, a?.add(list[i] ?? 0), a === t, list[i - 1] === t];
    });
    for (const i of [2, 3, 4, 5]) {
      const base = v(1, 2, 3, 4), views = range(7).map((k) => base.narrow(0, k % 3, 2));
      const list = range(7).map((k) => v(k, 1));
      see(f(list, list[i] ?? base, i), f(list, list[i - 1] ?? base, i), f(list, v(1, 1), i), list);
      see(f(views, v(1, 1), i), base);
    }
  },
  "elements by number: layers"({ compile, see }) {
    const layers = range(5).map((i) => {
      const layer = new nn.Linear(2, 2, { bias: i % 2 === 0 });
      noGrad(() => layer.parameters().forEach((each) => each.fill_(0.1 * (i + 1))));
      return layer;
    });
    const f = compile((x: Tensor, i: number) => layers[i]?.call(x).sum() ?? x.sum());
    for (const i of [2, 3, 0, 4, 5, 1]) {
      const y = f(v(1, 2), i);
      if (i < 5) y.backward();
      see(y, layers.map(({ weight }) => weight.grad));
    }
    const [, , second] = layers;
    if (second) noGrad(() => second.weight.fill_(9));
    see(f(v(1, 2), 2), f(v(1, 2), 3));
  },
  "elements by number: sizes"({ compile, attempt }) {
    const sizes = [4, 5, 6, 4, 2, 1, 0];
    const f = compile((x: Tensor, i: number) => {
      const size = sizes[i] ?? 0;
      return [x.narrow(0, 0, size), size > 3, size * 2, (sizes[i - 1] ?? 0) - size];
    });
    for (const i of [2, 3, 4, 5, 6, 1]) attempt(() => f(ones([8]), i));
  },
  "elements by number: a ring"({ compile, see }) {
    const ring = range(5).map((i) => v(i)), state = { head: 0 };
    const f = compile((x: Tensor) => {
      const old = ring[state.head] ?? x;
      ring[state.head] = x;
      state.head = (state.head + 1) % ring.length;
      return [old.add(ring[state.head] ?? 0), state.head];
    });
    for (let i = 0; i < 8; i++) see(f(v(i * 10)), ring);
  },
};
