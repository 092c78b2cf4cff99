/** Programs that search: by dynamic programming, in heaps and in graphs. */
import { manualSeed, ones, randn, stack, type Tensor, tensor, where, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

interface Hypothesis {
  readonly tokens: readonly number[];
  readonly score: number;
}

class Heap<T> {
  readonly #items: T[] = [];
  constructor(private readonly before: (a: T, b: T) => boolean) {}
  get size() {
    return this.#items.length;
  }
  push(item: T): this {
    const items = this.#items;
    items.push(item);
    for (let i = items.length - 1; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!this.before(items[i]!, items[parent]!)) break;
      [items[i], items[parent]] = [items[parent]!, items[i]!];
      i = parent;
    }
    return this;
  }
  pop(): T | undefined {
    const items = this.#items, top = items[0], last = items.pop();
    if (items.length > 0 && last !== undefined) {
      items[0] = last;
      for (let i = 0;;) {
        let best = i;
        for (const child of [2 * i + 1, 2 * i + 2]) {
          if (child < items.length && this.before(items[child]!, items[best]!)) best = child;
        }
        if (best === i) break;
        [items[i], items[best]] = [items[best]!, items[i]!];
        i = best;
      }
    }
    return top;
  }
}

type Warper = (logits: Tensor, history: readonly number[]) => Tensor;

const temperature = (t: number): Warper => (logits) => t === 1 ? logits : logits.div(t);

const topK = (k: number): Warper => (logits) => {
  const [values] = logits.topk(Math.min(k, logits.shape.at(-1)!));
  return logits.maskedFill(logits.lt(values.at("...", -1)), -Infinity);
};

const topP = (p: number): Warper => (logits) => {
  const { values, indices } = logits.sort(-1, true);
  const mass = values.softmax(-1).cumsum(-1);
  const drop = mass.sub(values.softmax(-1)).gt(p);
  return logits.maskedFill(zeros(logits.shape, { dtype: "bool" }).scatter(-1, indices, drop), -Infinity);
};

const repetition = (penalty: number): Warper => (logits, history) => {
  if (history.length === 0) return logits;
  const index = tensor([...new Set(history)]);
  const s = logits.gather(0, index);
  return logits.scatter(0, index, where(s.lt(0), s.mul(penalty), s.div(penalty)));
};

export const programs: Readonly<Record<string, Program>> = {
  "labels of a sequence are decoded by Viterbi"({ compile, see }) {
    const viterbi = compile((emissions: Tensor, transitions: Tensor) => {
      const [steps, tags] = emissions.shape as [number, number];
      let score = emissions.at(0);
      const back: Tensor[] = [];
      for (let t = 1; t < steps; t++) {
        const all = score.unsqueeze(1).add(transitions);
        const { values, indices } = all.max(0);
        back.push(indices);
        score = values.add(emissions.at(t));
      }
      let tag = score.argmax();
      const path = [tag];
      for (const pointers of back.toReversed()) {
        tag = pointers.gather(0, tag.reshape(1)).reshape([]);
        path.unshift(tag);
      }
      return { path: stack(path), best: score.amax(), tags };
    });
    manualSeed(4);
    const t = randn([3, 3]);
    see(viterbi(randn([4, 3]), t), viterbi(randn([4, 3]), t), viterbi(randn([6, 3]), t));
  },
  "probabilities of alignments are summed by CTC"({ compile, see }) {
    const forward = compile((logits: Tensor, label: readonly number[]) => {
      const p = logits.logSoftmax(-1);
      const extended = [0, ...label.flatMap((l) => [l, 0])];
      const lowest = tensor(-1e9);
      let alpha = extended.map((l, s) => s < 2 ? p.at(0, l) : lowest);
      for (let t = 1; t < p.shape[0]!; t++) {
        alpha = extended.map((l, s) => {
          const from = [alpha[s]!];
          if (s > 0) from.push(alpha[s - 1]!);
          if (s > 1 && l !== 0 && l !== extended[s - 2]) from.push(alpha[s - 2]!);
          return stack(from).logsumexp(0).add(p.at(t, l));
        });
      }
      return stack(alpha.slice(-2)).logsumexp(0).neg();
    });
    manualSeed(5);
    see(forward(randn([4, 3]), [1, 2]), forward(randn([4, 3]), [2, 2]), forward(randn([5, 3]), [1]));
  },
  "logits pass a chain of warpers"({ compile, see }) {
    const chain: Warper[] = [temperature(0.7), topK(5), topP(0.9), repetition(1.3)];
    const next = compile((logits: Tensor, history: readonly number[]) =>
      chain.reduce((l, warp) => warp(l, history), logits).softmax(-1)
    );
    manualSeed(1);
    const history: number[] = [];
    for (let t = 0; t < 4; t++) {
      const p = next(randn([8]), history);
      see(p);
      history.push(Number(p.argmax().item()));
    }
    see(history);
  },
  "hypotheses wait in a heap"({ compile, see }) {
    manualSeed(2);
    const table = randn([5, 5]).logSoftmax(-1);
    const search = compile((start: number, width: number, steps: number) => {
      let beams: Hypothesis[] = [{ tokens: [start], score: 0 }];
      for (let t = 0; t < steps; t++) {
        const heap = new Heap<Hypothesis>((a, b) => a.score > b.score);
        for (const { tokens, score } of beams) {
          const row = table.at(tokens.at(-1)!).tolist() as number[];
          row.forEach((p, token) => heap.push({ tokens: [...tokens, token], score: score + p }));
        }
        beams = [];
        while (beams.length < width && heap.size > 0) beams.push(heap.pop()!);
      }
      return beams;
    });
    see(search(0, 2, 3), search(3, 2, 2));
  },
  "boxes are suppressed one by one"({ compile, see }) {
    const iou = (a: Tensor, b: Tensor) => {
      const low = a.at("...", ":2").maximum(b.at("...", ":2")),
        high = a.at("...", "2:").minimum(b.at("...", "2:"));
      const inter = high.sub(low).clampMin(0).prod(-1);
      const area = (x: Tensor) => x.at("...", "2:").sub(x.at("...", ":2")).prod(-1);
      return inter.div(area(a).add(area(b)).sub(inter));
    };
    const nms = compile((boxes: Tensor, scores: Tensor, threshold: number) => {
      const overlaps = iou(boxes.unsqueeze(1), boxes.unsqueeze(0)).tolist() as number[][];
      let left = scores.argsort(-1, true).tolist() as number[];
      const kept: number[] = [];
      while (left.length > 0) {
        const [first, ...rest] = left as [number, ...number[]];
        kept.push(first);
        left = rest.filter((j) => overlaps[first]![j]! <= threshold);
      }
      return boxes.indexSelect(0, tensor(kept));
    });
    const boxes = tensor([[0, 0, 2, 2], [0.1, 0, 2, 2], [3, 3, 4, 4]], { dtype: "float32" });
    see(nms(boxes, tensor([0.9, 0.8, 0.7]), 0.5), nms(boxes, tensor([0.1, 0.8, 0.7]), 0.99));
  },
  "layers run in topological order"({ compile, see, attempt }) {
    interface Node {
      readonly inputs: readonly string[];
      readonly run: (...xs: Tensor[]) => Tensor;
    }
    const order = (nodes: Readonly<Record<string, Node>>): string[] => {
      const state = new Map<string, "open" | "done">(), out: string[] = [];
      const visit = (name: string, trail: readonly string[]) => {
        if (state.get(name) === "done") return;
        if (state.get(name) === "open") throw new Error(`cycle: ${[...trail, name].join(" -> ")}`);
        state.set(name, "open");
        for (const input of nodes[name]?.inputs ?? []) visit(input, [...trail, name]);
        state.set(name, "done");
        out.push(name);
      };
      Object.keys(nodes).forEach((name) => visit(name, []));
      return out;
    };
    const run = compile((nodes: Readonly<Record<string, Node>>, x: Tensor) => {
      const values = new Map<string, Tensor>([["x", x]]);
      for (const name of order(nodes)) {
        const node = nodes[name];
        if (node) values.set(name, node.run(...node.inputs.map((i) => values.get(i)!)));
      }
      return Object.fromEntries(values);
    });
    const net: Record<string, Node> = {
      out: { inputs: ["h", "x"], run: (h, x) => h!.add(x!) },
      h: { inputs: ["x"], run: (x) => x!.tanh() },
    };
    see(
      run(net, ones([2])),
      run(net, ones([3])),
      run({ ...net, more: { inputs: ["out"], run: (y) => y!.neg() } }, ones([2])),
    );
    attempt(() =>
      run({ a: { inputs: ["b"], run: (x) => x! }, b: { inputs: ["a"], run: (x) => x! } }, ones([1]))
    );
  },
  "steps adapt to the error"({ compile, see }) {
    type Rate = (t: number, y: Tensor) => Tensor;
    const integrate = compile((f: Rate, y0: Tensor, span: readonly [number, number], tolerance: number) => {
      const [from, to] = span;
      let t = from, y = y0, h = (to - from) / 4, evals = 0, rejected = 0;
      while (t < to && evals < 40) {
        h = Math.min(h, to - t);
        const k1 = f(t, y), k2 = f(t + h, y.add(k1.mul(h)));
        evals += 2;
        const error = Number(k2.sub(k1).abs().amax().mul(h / 2).item());
        if (error <= tolerance) {
          y = y.add(k1.add(k2).mul(h / 2));
          t += h;
        } else rejected++;
        h *= Math.min(2, Math.max(0.3, 0.9 * Math.sqrt(tolerance / (error + 1e-12))));
      }
      return { y, evals, rejected };
    });
    see(
      integrate((_, y) => y.neg(), ones([2]), [0, 0.5], 1e-2),
      integrate((t, y) => y.mul(t), ones([1]), [0, 0.3], 1e-2),
    );
  },
};
