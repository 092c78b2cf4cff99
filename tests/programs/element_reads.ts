/** Training and evaluation in the styles of users, who read losses and counts as numbers and compute with them. */
import { cond, nn, noGrad, optim, randint, randn, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const F = nn.functional;
const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const classifier = () => new nn.Sequential(new nn.Linear(3, 5), new nn.ReLU(), new nn.Linear(5, 4));

/** A running average, as training code has them. */
class Meter {
  sum = 0;
  count = 0;
  last = NaN;
  readonly history: string[] = [];
  update(value: number, n = 1): void {
    this.last = value;
    this.sum += value * n;
    this.count += n;
    this.history.push(value.toFixed(3));
  }
  get mean(): number {
    return this.sum / Math.max(1, this.count);
  }
}

/** Programs whose reads only go into results and into the program's own state. */
export const reads: Corpus = {
  "a total of losses weighted by sizes of batches"({ compile, see }) {
    const model = classifier(), opt = new optim.SGD(model.parameters(), { lr: 0.1 });
    let total = 0, seen = 0;
    const step = compile((x: Tensor, y: Tensor) => {
      opt.zeroGrad();
      const loss = F.crossEntropy(model.call(x), y);
      loss.backward();
      opt.step();
      total += loss.item() * x.shape[0]!;
      seen += x.shape[0]!;
      return total / seen;
    });
    for (const n of [4, 4, 2, 4]) see(step(randn([n, 3]), randint(0, 4, [n])), total, seen);
  },
  "loss and accuracy of a batch"({ compile, see }) {
    const model = classifier();
    const evaluate = compile((x: Tensor, y: Tensor) =>
      noGrad(() => {
        const logits = model.call(x), n = x.shape[0]!;
        const correct = logits.argmax(1).eq(y).sum();
        return { loss: F.crossEntropy(logits, y).item() / n, acc: 100 * correct.item() / n };
      })
    );
    for (let i = 0; i < 3; i++) see(evaluate(randn([6, 3]), randint(0, 4, [6])));
  },
  "several elements of one call, in all types, between writes"({ compile, see, attempt }) {
    const log: unknown[] = [];
    const step = compile((x: Tensor, wide: Tensor) => {
      const before = x.sum().item(), first = x.at(0);
      x.mul_(2);
      log.push(before, first.item(), x.gt(1).all().item<boolean>(), wide.max().item(), x.half().sum().item());
      x.add_(1);
      const after = x.sum().item(), again = x.sum().item();
      return {
        after,
        same: after === again,
        ratio: after / before,
        text: `${before} then ${x.at(1).item()}`,
      };
    });
    for (const x of [v(1, 2), v(-1, 0.5)]) {
      see(step(x, tensor([1n, 2n ** 60n])), step(x, tensor([3n, 4n])), x);
    }
    attempt(() => step(v(1, 2), tensor([[1n], [2n]]).narrow(0, 0, 0)));
    see(log);
  },
  "the time that a batch took, as a text and compared"({ compile, see }) {
    const lines: string[] = [];
    const timed = compile((x: Tensor) => {
      const start = performance.now(), day = Date.now(), y = x.mul(2).sum();
      const ms = performance.now() - start;
      lines.push(`${y.item()} in ${ms.toFixed(1)} ms`);
      const facts = [
        ms > 1e9,
        ms >= 0,
        ms === -1,
        ms != -1,
        !(ms < 0),
        Number.isFinite(ms),
        day > 1,
        Math.random() < 1,
      ];
      return { y, facts, rate: (x.numel() / ms).toFixed(0), text: "at " + day };
    });
    for (let i = 0; i < 3; i++) {
      const { y, facts, rate, text } = timed(v(i, 1));
      see(y, facts, /^(\d+|Infinity)$/.test(rate), /^at \d{13}$/.test(text));
    }
    see(lines.map((line) => line.replace(/in \d+\.\d/, "in n")));
  },
  "a history of texts"({ compile, see }) {
    const history: string[] = [];
    const note = compile((x: Tensor) => {
      const loss = x.pow(2).mean();
      history.push(loss.item().toFixed(4));
      return loss;
    });
    for (let i = 0; i < 3; i++) see(note(randn([5])), history);
  },
  "a moving average in a class"({ compile, see }) {
    class Trainer {
      ema = 0;
      steps = 0;
      best = Infinity;
      step(x: Tensor): number {
        const loss = x.pow(2).mean();
        this.ema = 0.9 * this.ema + 0.1 * loss.item();
        this.best = Math.min(this.best, loss.item());
        this.steps++;
        return this.ema / (1 - 0.9 ** this.steps);
      }
    }
    const trainer = new Trainer(), step = compile((x: Tensor) => trainer.step(x));
    for (let i = 0; i < 4; i++) see(step(randn([4])), trainer.ema, trainer.best);
  },
  "meters that are updated by methods"({ compile, see }) {
    const losses = new Meter(), norms = new Meter();
    const step = compile((x: Tensor) => {
      losses.update(x.pow(2).mean().item(), x.shape[0]!);
      norms.update(x.norm().item());
      return x.mul(2);
    });
    for (let i = 0; i < 3; i++) see(step(randn([3])), losses, norms, losses.mean);
  },
  "a line for the log"({ compile, see }) {
    const line = compile((x: Tensor, epoch: number, name: string) => {
      const loss = x.abs().mean(), acc = x.gt(0).sum();
      return `${name} ${epoch}: loss ${loss.item().toFixed(4)} acc ${(100 * acc.item() / 5).toFixed(1)}%`;
    });
    for (let i = 0; i < 4; i++) see(line(randn([5]), i, i % 2 === 0 ? "train" : "test"));
  },
  "perplexity and bits"({ compile, see }) {
    const model = classifier();
    const evaluate = compile((x: Tensor, y: Tensor) => {
      const loss = F.crossEntropy(model.call(x), y).item();
      return [Math.exp(loss), loss / Math.LN2, Math.log2(Math.max(loss, 1e-9)), loss ** 2, -loss, +loss];
    });
    for (let i = 0; i < 2; i++) see(evaluate(randn([6, 3]), randint(0, 4, [6])));
  },
  "parts of a loss"({ compile, see }) {
    const model = new nn.Linear(3, 3), opt = new optim.Adam(model.parameters(), { lr: 0.01 });
    const totals = { reconstruction: 0, divergence: 0, count: 0 };
    const step = compile((x: Tensor) => {
      const out = model.call(x), a = F.mseLoss(out, x), b = out.pow(2).sum().mul(0.01);
      const loss = a.add(b);
      opt.zeroGrad();
      loss.backward();
      opt.step();
      totals.reconstruction += a.item() * x.shape[0]!;
      totals.divergence += b.item() * x.shape[0]!;
      totals.count += x.shape[0]!;
      return { loss: loss.item(), share: a.item() / (a.item() + b.item()) };
    });
    for (let i = 0; i < 3; i++) see(step(randn([4, 3])), totals);
  },
  "micro-batches of one step"({ compile, see }) {
    const model = new nn.Linear(2, 1), opt = new optim.SGD(model.parameters(), { lr: 0.1 });
    const step = compile((batches: readonly Tensor[]) => {
      opt.zeroGrad();
      let total = 0;
      for (const batch of batches) {
        const loss = model.call(batch).pow(2).mean().div(batches.length);
        loss.backward();
        total += loss.item() * batches.length;
      }
      opt.step();
      return total / batches.length;
    });
    for (let i = 0; i < 3; i++) see(step([randn([2, 2]), randn([2, 2]), randn([2, 2])]));
  },
  "flags beside results"({ compile, see }) {
    const step = compile((x: Tensor, limit: number) => {
      const norm = x.norm().item();
      return { clipped: norm > limit, finite: Number.isFinite(norm), nan: isNaN(norm), flat: norm === 0 };
    });
    for (const x of [v(1, 2), v(0, 0), v(NaN, 1), v(Infinity, 1)]) see(step(x, 2));
  },
  "the history is an object with lists"({ compile, see }) {
    const log: { loss: number[]; acc: number[]; lines: Map<number, string> } = {
      loss: [],
      acc: [],
      lines: new Map(),
    };
    const note = compile((x: Tensor, epoch: number) => {
      const loss = x.pow(2).mean().item(), acc = x.gt(0).to("float32").mean().item();
      log.loss.push(Math.round(loss * 1e4) / 1e4);
      log.acc.push(Number((acc * 100).toFixed(2)));
      log.lines.set(epoch, [epoch, loss.toFixed(3), acc.toPrecision(3)].join(" | "));
      return x.neg();
    });
    for (let i = 0; i < 3; i++) see(note(randn([5]), i), log);
  },
  "a read before a write of the same tensor"({ compile, see }) {
    const run = compile((x: Tensor) => {
      const before = x.sum().item() * 2, first = x.at(0).item();
      x.mul_(3);
      const after = x.sum().item() * 2;
      return [before, first + 1, after, after / before];
    });
    see(run(v(1, 2)), run(v(0, 0)), run(v(-1, 1)));
  },
  "a buffer of recent values"({ compile, see }) {
    const recent = new Float64Array(4), rounded = new Float32Array(4);
    let at = 0;
    const note = compile((x: Tensor) => {
      const loss = x.pow(2).mean().item();
      recent[at % 4] = loss * 10;
      rounded[at % 4] = loss / 3;
      at++;
      return x.add(1);
    });
    for (let i = 0; i < 3; i++) see(note(randn([3])), recent, rounded, at);
  },
  "integers, truth values and zeros"({ compile, see }) {
    const run = compile((x: Tensor) => {
      const n = x.gt(0).sum().item(), any = x.gt(2).any().item(), least = x.argmin().item();
      return [
        n + 1,
        n / 2,
        -n,
        ~n,
        n & 1,
        Number(any) + 1,
        !any,
        least * 2,
        `${n}/${least}`,
        typeof n,
      ];
    });
    see(run(v(1, 3)), run(v(1, -1)), run(v(0, 0)));
  },
  "integers that no number represents, beside writes"({ compile, see }) {
    const log: number[] = [], sum = v(1, 2);
    const run = compile((ids: Tensor, x: Tensor) => {
      sum.add_(x);
      const most = ids.amax().item();
      log.push(most / 2);
      sum.mul_(2);
      return `${most + 1} ${typeof most}`;
    });
    for (const last of [2n, 2n ** 53n, 5n]) {
      try {
        see(run(tensor([1n, last]), v(1, 1)));
      } catch (error) {
        see(String(error));
      }
      see(log, sum);
    }
  },
  "reads before a branch in the graph"({ compile, see }) {
    const run = compile((x: Tensor, ids: Tensor) => {
      const first = x.at(0).item(), count = ids.sum().item();
      const y = cond(
        x.sum().gt(0),
        (t: Tensor) => {
          const many = count * 2;
          return t.mul(typeof many === "number" ? 2 : 3);
        },
        (t: Tensor) => t.neg(),
        [x],
      );
      x.add_(1);
      return [y, first, count + 1];
    });
    see(run(v(1, 2), tensor([1, 2])), run(v(-1, -2), tensor([3])));
  },
  "losses of several heads"({ compile, see }) {
    const heads = [new nn.Linear(2, 1), new nn.Linear(2, 2), new nn.Linear(2, 3)];
    const run = compile((x: Tensor) => {
      const losses = heads.map((head) => head.call(x).pow(2).mean());
      const numbers = losses.map((loss) => loss.item());
      return { mean: numbers.reduce((a, b) => a + b, 0) / heads.length, most: Math.max(...numbers), numbers };
    });
    see(run(randn([3, 2])), run(randn([3, 2])));
  },
  "statistics of gradients"({ compile, see }) {
    const model = new nn.Linear(3, 2);
    const run = compile((x: Tensor) => {
      model.zeroGrad();
      model.call(x).pow(2).sum().backward();
      let sum = 0;
      for (const p of model.parameters()) sum += p.grad!.pow(2).sum().item();
      return Math.sqrt(sum);
    });
    for (let i = 0; i < 4; i++) see(run(randn([4, 3])));
  },
  "a report whose fields are getters of a class"({ compile, see }) {
    class Report {
      constructor(readonly loss: number, readonly n: number) {}
      get mean() {
        return this.loss / this.n;
      }
      toString() {
        return `Report(${this.mean.toFixed(2)})`;
      }
    }
    const run = compile((x: Tensor) => {
      const report = new Report(x.sum().item(), x.shape[0]!);
      return [report, report.mean, String(report), x.mul(2)];
    });
    for (const x of [v(1, 2, 3), v(-1, 0, 1)]) see(...(run(x) as unknown[]).map((each) => each));
  },
  "a schedule that follows the loss"({ compile, see }) {
    const model = new nn.Linear(2, 1), opt = new optim.SGD(model.parameters(), { lr: 0.1 });
    const state = { ema: 1, gain: 1 };
    const step = compile((x: Tensor) => {
      const loss = model.call(x).pow(2).mean();
      opt.zeroGrad();
      loss.backward();
      opt.step();
      state.ema = state.ema * 0.98 + loss.item() * 0.02;
      state.gain = Math.min(2, Math.max(0.5, 1 / (1e-3 + state.ema)));
      return loss.detach();
    });
    for (let i = 0; i < 3; i++) see(step(randn([4, 2])), state);
  },
  "texts in columns"({ compile, see }) {
    const row = compile((x: Tensor) => {
      const a = x.sum().item(), b = x.amax().item();
      const cells = [a.toFixed(2).padStart(8), b.toExponential(1).padEnd(9), String(a), b.toString()];
      return cells.join("|") + "|" + a + (", " + b);
    });
    see(row(v(1, 2)), row(v(-1.5, 1e9)), row(v(NaN, 0)));
  },
  "rewards and returns of an episode"({ compile, see }) {
    const run = compile((rewards: readonly Tensor[]) => {
      const returns: number[] = [];
      let g = 0;
      for (const reward of rewards.toReversed()) {
        g = reward.item() + 0.99 * g;
        returns.unshift(g);
      }
      return returns;
    });
    see(run([v(1), v(0), v(2)]), run([v(0), v(1), v(-1)]));
  },
  "lists of elements in results and state"({ compile, see }) {
    const seen: unknown[] = [];
    const run = compile((x: Tensor) => {
      const list = x.mul(2).tolist<number[]>(), matrix = x.expand([40, 2]).tolist();
      seen.push(list);
      x.add_(1);
      return { list, matrix, flags: x.gt(2).tolist(), one: x.sum().tolist(), array: x.half().toTypedArray() };
    });
    for (const x of [v(1, 2), v(-0, NaN)]) see(run(x), x, seen, run(x));
    see(run(tensor([])));
  },
  "computations with the elements of a list"({ compile, see }) {
    const run = compile((x: Tensor) => {
      const [first = 0, ...rest] = x.square().tolist<number[]>(), order = x.argsort().tolist<number[]>();
      return [`${first}`, rest.map((each) => each * 2), [...rest, 7].join("|"), order.map((at) => at + 1)];
    });
    see(run(v(1, 2, 0)), run(v(3, 1, 2)));
  },
  "elements in JSON"({ compile, see }) {
    const run = compile((x: Tensor, id: string) => {
      const flat = {
        id,
        loss: x.mean().item(),
        isLarge: x.amax().gt(2).item(),
        list: x.tolist(),
        late: "late0",
      };
      const best = [x.argmax().item(), x.topk(2)[1].tolist(), `${x.sum().item().toFixed(1)}"`];
      const matrix = x.expand([40, 3]).tolist();
      const texts = [
        JSON.stringify({ flat, best, matrix }),
        JSON.stringify(flat, null, 2),
        JSON.stringify({ x }),
      ];
      return [...texts, texts[0]?.includes("null"), texts[1]?.indexOf("loss"), `${texts[2]}`.length];
    });
    see(run(v(1, 2, 3), "a"), run(v(3, NaN, -0), 'b"'), run(v(1, 0, 1 / 0), "a"));
  },
};

/** Programs in which a number that was read decides: the graph ends there, once. */
export const decisions: Corpus = {
  "a branch on the time that a batch took, and on a random number"({ compile, see }) {
    const timed = compile((x: Tensor) => {
      const start = performance.now(), y = x.mul(2);
      const isSlow = performance.now() - start > 1e9;
      return (isSlow ? y.add(100) : y).mul(Math.random() < 2 ? 1 : 50);
    });
    for (let i = 0; i < 3; i++) see(timed(v(i, 1)));
  },
  "the best loss so far"({ compile, see }) {
    let best = Infinity, bestAt = -1, steps = 0;
    const step = compile((x: Tensor) => {
      const loss = x.pow(2).mean();
      if (loss.item() < best) {
        best = loss.item();
        bestAt = steps;
      }
      steps++;
      return x.mul(2);
    });
    for (const x of [v(2, 2), v(1, 1), v(3, 3)]) see(step(x), best, bestAt);
  },
  "an error about a loss that is no number"({ compile, see }) {
    const step = compile((x: Tensor) => {
      const loss = x.log().sum().item() / 2;
      if (!Number.isFinite(loss)) throw new RangeError(`Loss is ${loss.toFixed(1)}`);
      return loss;
    });
    for (const x of [v(2, 2), v(0, 1), v(1, 1), v(-1, 1)]) {
      try {
        see(step(x));
      } catch (error) {
        see(String(error));
      }
    }
  },
  "a line of a logger"({ compile, see }) {
    const lines: unknown[] = [];
    const { log } = console;
    console.log = (...all: unknown[]) => void lines.push(...all);
    try {
      const step = compile((x: Tensor, i: number) => {
        const loss = x.pow(2).mean();
        console.log(`step ${i} loss ${loss.item().toFixed(3)}`);
        return loss.mul(2);
      });
      for (let i = 0; i < 3; i++) see(step(v(i, 1), i));
    } finally {
      console.log = log;
    }
    see(lines);
  },
  "a number that scales a tensor"({ compile, see }) {
    const run = compile((x: Tensor) => {
      const scale = 1 / (x.norm().item() + 1e-6);
      return x.mul(scale);
    });
    see(run(v(3, 4)), run(v(0, 1)));
  },
  "early stopping"({ compile, see }) {
    const state = { best: Infinity, patience: 0 };
    const step = compile((x: Tensor) => {
      const loss = Number(x.mean().item().toFixed(3));
      state.patience = loss < state.best - 1e-3 ? 0 : state.patience + 1;
      state.best = Math.min(state.best, loss);
      return state.patience >= 2;
    });
    for (const x of [v(2, 2), v(1, 1), v(3, 3), v(1, 1)]) see(step(x), state);
  },
  "an index and a size"({ compile, see }) {
    const names = ["a", "b", "c"];
    const run = compile((x: Tensor) => {
      const at = x.argmax().item();
      return [names[at], names.length - at, x.narrow(0, 0, at + 1)];
    });
    see(run(v(1, 2, 0)), run(v(3, 2, 1)));
  },
  "long sums break once per pass"({ compile, see }) {
    const run = compile((xs: readonly Tensor[]) => {
      let total = 0;
      for (const x of xs) total += x.sum().item() * 2;
      return total;
    });
    const list = (n: number) => Array.from({ length: n }, (_, i) => v(i, 1));
    see(run(list(30)), run(list(20)), run(list(31)));
  },
  "what becomes of elements decides"({ compile, see, attempt }) {
    const run = compile((x: Tensor, wide: number) => {
      const list = x.tolist<number[]>(), matrix = x.expand([wide, 2]).tolist<number[][]>();
      matrix.push(list);
      const large = list.filter((each) => each > 1), [a = 0, b = 0] = list;
      return [
        large,
        matrix.length,
        Array.isArray(matrix),
        matrix.at(-1) === list,
        tensor(list),
        x.mul(a).at(b),
      ];
    });
    see(run(v(1, 0), 40), run(v(2.5, 1), 40));
    const text = compile((x: Tensor) => JSON.stringify([x.long().sum().item(), x.long().tolist()], null, 1));
    see(text(v(1, 2)));
    attempt(() => text(v(2 ** 62, 2 ** 61)));
  },
};
