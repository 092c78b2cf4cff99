/**
 * An exported model for tests of packages: `dyn package` takes its default export. It writes the arguments of two
 * calls and the model's own results to the file DYN_WANTED.
 */
import { arange, compiler, manualSeed, nn, noGrad, randn, type Tensor, zeros } from "../../mod.ts";

manualSeed(0);

/** Words to classes, with a count of seen words that continues across calls. */
class Reader extends nn.Module {
  readonly embedding = new nn.Embedding(10, 16);
  readonly hidden = new nn.Linear(16, 64);
  readonly norm = new nn.LayerNorm(64);
  readonly last = new nn.Linear(64, 3);
  declare readonly seen: Tensor;

  constructor() {
    super();
    this.registerBuffer("seen", zeros([3]));
  }

  override forward(words: Tensor, x: Tensor): Record<string, Tensor> {
    const hidden = this.norm.call(this.hidden.call(this.embedding.call(words).add(x)));
    const scores = this.last.call(hidden.relu()).softmax(-1);
    this.seen.add_(scores.sum(0));
    return { scores, turned: scores.t(), best: scores.argmax(1), seen: this.seen };
  }
}

const model = new Reader().eval();
const program = compiler.export(model, [arange(5), randn([5, 16])], { dynamic: true });

const file = Deno.env.get("DYN_WANTED");
if (file) {
  const calls = [4, 7].map((n) => {
    const words = arange(n), x = randn([n, 16]), result = noGrad(() => model.call(words, x));
    const wanted = Object.entries(result).map(([name, each]) => [name, each.flatten().tolist()]);
    return { n, x: x.flatten().tolist(), wanted: Object.fromEntries(wanted) };
  });
  Deno.writeTextFileSync(file, JSON.stringify(calls));
  model.seen.zero_();
}

export default program;
