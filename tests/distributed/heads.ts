/**
 * Attention divided by heads, on each rank of a group. Throws if the parts and whole layers differ in results,
 * gradients or two steps of training.
 */
import { assert, assertThrows } from "@std/assert";
import { arange, compile, distributed as dist, nn, ones, optim, randn, type Tensor } from "../../mod.ts";

const HEADS = 4, WIDTH = 16, NEAR = 1e-5;

/** Within float32's rounding of some sums, measured by the largest element. */
function near(found: Tensor, expected: Tensor, what: string): void {
  const error = found.sub(expected).abs().max().item(), scale = expected.abs().max().item();
  assert(error < NEAR * scale, `${what}: off by ${error} of ${scale}`);
}

/** Attention as ported models write it: four projections, and a norm of each head's queries. */
export class Separate extends nn.Module {
  readonly numHeads = HEADS;
  readonly q = new nn.Linear(WIDTH, WIDTH);
  readonly k = new nn.Linear(WIDTH, WIDTH);
  readonly v = new nn.Linear(WIDTH, WIDTH);
  readonly norm = new nn.LayerNorm(WIDTH / HEADS);
  readonly before = new nn.LayerNorm(WIDTH);
  readonly out = new nn.Linear(WIDTH, WIDTH);
  override forward(x: Tensor): Tensor {
    const [n = 0, l = 0] = x.shape, normed = this.before.call(x);
    const split = (t: Tensor) => t.view([n, l, this.numHeads, WIDTH / HEADS]).transpose(1, 2);
    const q = this.norm.call(split(this.q.call(normed))),
      [k, v] = [this.k, this.v].map((each) => split(each.call(normed)));
    const mixed = nn.functional.scaledDotProductAttention(q, k ?? q, v ?? q, { isCausal: true });
    return this.out.call(mixed.transpose(1, 2).reshape([n, l, -1]));
  }
}

/** One projection for all three, twice as many heads of queries as of keys and values. */
class Fused extends nn.Module {
  readonly qkv = new nn.Linear(WIDTH, 4 * WIDTH, { bias: false });
  readonly out = new nn.Linear(2 * WIDTH, WIDTH);
  queries = 2 * WIDTH;
  features = WIDTH;
  override forward(x: Tensor): Tensor {
    const [n = 0, l = 0] = x.shape, size = WIDTH / HEADS;
    const [q = x, k = x, v = x] = this.qkv.call(x).split([this.queries, this.features, this.features], -1)
      .map((part) => part.view([n, l, -1, size]).transpose(1, 2));
    const mixed = nn.functional.scaledDotProductAttention(q, k, v, { enableGqa: true });
    return this.out.call(mixed.transpose(1, 2).reshape([n, l, -1]));
  }
}

/** Tokens in, numbers for tokens out, by the same table. */
class Words extends nn.Module {
  readonly table = new nn.Embedding(8, WIDTH);
  readonly separate = new Separate();
  readonly fused = new Fused();
  readonly library = new nn.MultiheadAttention(WIDTH, HEADS, { batchFirst: true, addBiasKv: true });
  readonly other = new nn.MultiheadAttention(WIDTH, HEADS, { kdim: 3, bias: false, batchFirst: true });
  readonly layers = new nn.Sequential(
    new nn.Linear(WIDTH, WIDTH),
    new nn.PReLU(),
    new nn.Linear(WIDTH, WIDTH),
  );
  readonly head = new nn.Linear(WIDTH, 8, { bias: false });
  constructor() {
    super();
    this.head.weight = this.table.weight;
    nn.init.normal_(this.table.weight, 0, 0.3);
  }
  override forward(words: Tensor, keys: Tensor): Tensor {
    let x = this.table.call(words);
    x = x.add(this.separate.call(x));
    x = x.add(this.fused.call(x));
    const [n = 0, l = 0] = x.shape, mask = ones([l, l], { dtype: "bool" }).triu(1);
    const masks = arange(n * HEADS).view([-1, 1, 1]).mul(ones([l, l]).triu(1)).mul(-0.1);
    const [mixed, mean] = this.library.call(x, x, x, { attnMask: masks });
    const [more, each] = this.other.call(x, keys, x, { attnMask: mask, averageAttnWeights: false });
    const shares = each && mean
      ? mean.square().mean().add(each.square().mul(arange(HEADS).view([HEADS, 1, 1])).mean())
      : x;
    return this.head.call(this.layers.call(x.add(mixed).add(more))).add(shares);
  }
}

/** The division of that model. */
export const SEPARATE: dist.AttentionStyle = {
  heads: { q: HEADS, k: HEADS, v: HEADS },
  output: "out",
  fields: ["numHeads"],
  onHeads: ["norm"],
  whole: ["before"],
};

const PLAN: dist.ParallelPlan = {
  table: "rowwise",
  separate: SEPARATE,
  fused: { heads: { qkv: [2 * HEADS, HEADS, HEADS] }, output: "out", fields: ["queries", "features"] },
  library: "attention",
  other: "attention",
  "layers.0": "colwise",
  "layers.1": "onParts",
  "layers.2": "rowwise",
  head: "gathered",
};

/** Checks that indivisible models are refused. */
function refuses(group: dist.ProcessGroup): void {
  const { size } = group;
  if (size === 1) return;
  const divide = (net: Words, plan: dist.ParallelPlan, message: string) =>
    assertThrows(() => dist.parallelizeModule(net, plan, { group }), Error, message);
  divide(
    Object.assign(new Words(), { library: new nn.MultiheadAttention(3 * (size + 1), size + 1) }),
    { library: "attention" },
    `Expected a number of heads of library divisible by ${size} ranks but found ${size + 1}`,
  );
  divide(
    new Words(),
    { table: "rowwise" },
    "table.weight and head, which share a parameter, alike but found head.weight whole",
  );
  divide(
    new Words(),
    { separate: "attention" },
    "Expected a MultiheadAttention at separate but found Separate",
  );
  divide(new Words(), { separate: { ...SEPARATE, heads: { q: 1, k: 1, v: 1 } } }, "heads of separate.q");
  divide(
    new Words(),
    { separate: { ...SEPARATE, onHeads: [] } },
    "Expected norm.weight of separate in onHeads",
  );
  divide(
    new Words(),
    { separate: { ...SEPARATE, fields: ["none"] } },
    "Expected a number at separate.none but found",
  );
}

/** Throws where a group's ranks do not compute together, plainly or by a backend, what each computes alone. */
export function checkHeads(group: dist.ProcessGroup, backend: string | null): void {
  const whole = new Words();
  for (const each of whole.parameters()) dist.broadcast(each, group.ranks[0] ?? 0, { group });
  const words = arange(20).remainder(8).view([4, 5]), keys = randn([4, 5, 3]);
  dist.broadcast(keys, group.ranks[0] ?? 0, { group });
  const net = new Words(), one = new Words();
  one.loadStateDict(whole.stateDict());
  net.loadStateDict(whole.stateDict());
  dist.parallelizeModule(net, PLAN, { group });
  const plain = new optim.SGD(one.parameters(), { lr: 0.05, momentum: 0.9 }),
    ours = new optim.SGD(net.parameters(), { lr: 0.05, momentum: 0.9 });
  const forward = (words: Tensor, keys: Tensor) => net.call(words, keys);
  const run = backend === null ? forward : compile(forward, { backend, fullgraph: true });
  for (let step = 0; step < 2; step++) {
    const expected = one.call(words, keys), found = run(words, keys);
    near(found, expected, `step ${step}, ${backend}`);
    one.zeroGrad();
    net.zeroGrad();
    expected.square().mean().backward();
    found.square().mean().backward();
    const norms = [one, net].map((each) =>
      nn.utils.clipGradNorm_(each.parameters(), 0.1, step === 0 ? 2 : Infinity)
    );
    near(norms[1] ?? found, norms[0] ?? expected, `norm of step ${step}, ${backend}`);
    plain.step();
    ours.step();
  }
  const expected = one.stateDict();
  for (const [key, value] of Object.entries(dist.fullStateDict(net))) {
    // Biases of keys change nothing but by rounding
    if (key !== "separate.k.bias" && key !== "library.in_proj_bias") {
      near(value, expected[key] ?? value, `${key}, ${backend}`);
    }
  }
  assert(net.head.weight === net.table.weight);
  refuses(group);
}
