/** Loops that generate a sequence token by token. */
import {
  arange,
  cat,
  manualSeed,
  nn,
  noGrad,
  ones,
  randn,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

/** A language model of a few numbers. */
function model() {
  manualSeed(3);
  const embedding = randn([7, 4]), head = randn([4, 7]);
  return {
    next: (token: Tensor, state: Tensor): [Tensor, Tensor] => {
      const hidden = embedding.indexSelect(0, token).add(state).tanh();
      return [hidden.matmul(head), hidden];
    },
  };
}

export const programs: Readonly<Record<string, Program>> = {
  "the likeliest token, a fixed number of times"({ compile, see }) {
    const { next } = model();
    const greedy = compile((start: Tensor, steps: number) => {
      let token = start, state = zeros([1, 4]);
      const all = [token];
      for (let k = 0; k < steps; k++) {
        const [logits, hidden] = next(token, state);
        token = logits.argmax(-1);
        state = hidden;
        all.push(token);
      }
      return cat(all);
    });
    see(greedy(tensor([1]), 4), greedy(tensor([5]), 4));
  },
  "until the end is seen"({ compile, see }) {
    const { next } = model();
    const until = compile((start: Tensor, end: number) => {
      let token = start, state = zeros([1, 4]);
      const all: number[] = [];
      while (all.length < 6) {
        const [logits, hidden] = next(token, state);
        [token, state] = [logits.argmax(-1), hidden];
        const id = Number(token.item());
        if (id === end) break;
        all.push(id);
      }
      return all;
    });
    see(until(tensor([1]), 3), until(tensor([2]), 0));
  },
  "one step with a cache of keys and values"({ compile, see }) {
    manualSeed(4);
    const wq = randn([4, 4]), wk = randn([4, 4]), wv = randn([4, 4]);
    const step = compile((x: Tensor, cache: { k: Tensor; v: Tensor }) => {
      const q = x.matmul(wq), k = cat([cache.k, x.matmul(wk)]), v = cat([cache.v, x.matmul(wv)]);
      const weights = q.matmul(k.t()).div(2).softmax(-1);
      return { out: weights.matmul(v), cache: { k, v } };
    });
    let cache = { k: zeros([0, 4]), v: zeros([0, 4]) };
    for (let t = 0; t < 5; t++) {
      const made = step(randn([1, 4]), cache);
      cache = made.cache;
      see(made.out);
    }
  },
  "a cache of fixed size is written in place"({ compile, see }) {
    const keys = zeros([4, 3]);
    const step = compile((x: Tensor, at: number) => {
      noGrad(() => keys.at(at).copy_(x));
      return keys.at(`:${at + 1}`).sum(0);
    });
    for (let t = 0; t < 4; t++) see(step(ones([3]).mul(t + 1), t));
  },
  "beams are kept by their scores"({ compile, see }) {
    const step = compile((scores: Tensor, logits: Tensor, width: number) => {
      const all = scores.unsqueeze(1).add(logits.logSoftmax(-1));
      const [best, place] = all.reshape(-1).topk(width);
      const vocabulary = logits.shape[1]!;
      return {
        scores: best,
        beam: place.div(vocabulary, { roundingMode: "floor" }),
        token: place.remainder(vocabulary),
      };
    });
    manualSeed(5);
    let scores = zeros([2]);
    for (let t = 0; t < 3; t++) {
      const made = step(scores, randn([2, 5]), 2);
      scores = made.scores;
      see(made);
    }
  },
  "sampling with a temperature and the likeliest few"({ compile, see }) {
    const sample = compile((logits: Tensor, temperature: number, few: number) => {
      const [best] = logits.topk(few);
      const least = best.at("...", -1).unsqueeze(-1);
      const kept = logits.maskedFill(logits.lt(least), -Infinity).div(temperature);
      return kept.softmax(-1).multinomial(1);
    });
    manualSeed(6);
    const logits = randn([2, 6]);
    see(sample(logits, 0.7, 3), sample(logits, 0.9, 3));
  },
  "repetition is punished"({ compile, see }) {
    const punish = compile((logits: Tensor, seen: readonly number[], by: number) => {
      let found = logits;
      for (const id of new Set(seen)) {
        const score = logits.at(id);
        found = found.indexFill(0, tensor([id]), 0).add(
          nn.functional.oneHot(tensor(id), logits.shape[0]!).mul(
            where(score.gt(0), score.div(by), score.mul(by)),
          ),
        );
      }
      return found;
    });
    manualSeed(7);
    see(punish(randn([5]), [1, 3, 1], 1.2), punish(randn([5]), [1, 3, 1], 1.3));
  },
  "positions are rotated into queries"({ compile, see }) {
    const rotate = compile((x: Tensor, from: number) => {
      const half = x.shape[1]! / 2;
      const angles = arange(from, from + x.shape[0]!).unsqueeze(1).mul(arange(half).mul(-1).exp());
      const [a, b] = [x.at(":", `:${half}`), x.at(":", `${half}:`)];
      return cat(
        [a.mul(angles.cos()).sub(b.mul(angles.sin())), a.mul(angles.sin()).add(b.mul(angles.cos()))],
        1,
      );
    });
    manualSeed(8);
    see(rotate(randn([2, 4]), 0), rotate(randn([2, 4]), 2), rotate(randn([2, 4]), 5));
  },
  "a draft is checked by the model"({ compile, see }) {
    const check = compile((draft: Tensor, logits: Tensor) => {
      const best = logits.argmax(-1), agrees = best.eq(draft);
      const count = agrees.to("int64").cumprod(0).sum();
      return { count, best };
    });
    manualSeed(9);
    see(check(tensor([1, 2, 3]), randn([3, 5])), check(tensor([0, 0, 0]), randn([3, 5])));
  },
  "characters become tokens, and tokens text"({ compile, see }) {
    const alphabet = "abcdef";
    const shift = compile((text: string, table: Tensor) => {
      const ids = Array.from(text, (c) => alphabet.indexOf(c));
      return table.indexSelect(0, tensor(ids)).sum(0).div(ids.length);
    });
    manualSeed(10);
    const table = randn([6, 2]);
    see(shift("abc", table), shift("fed", table));
  },
};
