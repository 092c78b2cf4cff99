/**
 * GPT-2 (Radford et al. 2019) that no process holds as a whole: pairs of processes divide heads and layers (tensor
 * parallelism), and the remaining parameters, gradients and optimizer state are sharded over the pairs, each of which
 * reads different stretches of a text, this repository's prose, letter by letter.
 *
 *   deno run -A cli.ts launch -n 4 examples/sharded_gpt2.ts [--steps=200] [--tensor=2]
 *
 * The default sizes train in minutes on a few cores; `--layers=12 --width=768 --heads=12 --context=1024` are those of
 * GPT-2 small. Started alone it trains the same model on one process.
 */
import { parseArgs } from "@std/cli";
import { arange, distributed, manualSeed, nn, optim, randint, stack, type Tensor, tensor } from "../mod.ts";

const flags = parseArgs(Deno.args, {
  string: ["steps", "tensor", "layers", "width", "heads", "context", "batch", "rate"],
});
const number = (given: string | undefined, otherwise: number): number => Number(given ?? otherwise);
const steps = number(flags.steps, 200), layers = number(flags.layers, 4), batch = number(flags.batch, 8);
const width = number(flags.width, 128),
  heads = number(flags.heads, 4),
  context = number(flags.context, 64),
  rate = number(flags.rate, 2e-3);

distributed.initProcessGroup();
const rank = distributed.getRank(), size = distributed.getWorldSize();
const across = number(flags.tensor, size % 2 === 0 ? 2 : 1), replicas = size / across;
if (!Number.isInteger(replicas)) {
  throw new Error(`Expected --tensor to divide ${size} processes but found ${across}`);
}

/** Creates groups of ranks `from(k)`, and returns the one of this process. */
function groupOf(count: number, from: (k: number) => number[]): distributed.ProcessGroup | undefined {
  return Array.from({ length: count }, (_, k) => distributed.newGroup(from(k))).find((group) =>
    group.rank >= 0
  );
}
const range = (length: number): number[] => Array.from({ length }, (_, k) => k);
const tensorGroup = groupOf(replicas, (k) => range(across).map((r) => k * across + r));
const shardGroup = groupOf(across, (r) => range(replicas).map((k) => k * across + r));
if (!tensorGroup || !shardGroup) throw new Error(`Expected groups of rank ${rank} but found none`);

const pages = ["how_capture_works", "guards_and_breaks", "performance", "coming_from_pytorch"];
const text = pages.map((page) => Deno.readTextFileSync(new URL(`../docs/${page}.md`, import.meta.url))).join(
  "\n",
);
const letters = [...new Set(text)].sort(), numberOf = new Map(letters.map((letter, k) => [letter, k]));
const encoded = tensor([...text].map((letter) => numberOf.get(letter) ?? 0));
/** A multiple of 64, so that ranks can divide the rows of the embedding. */
const vocabulary = 64 * Math.ceil(letters.length / 64);

/** Causal self-attention. */
class Attention extends nn.Module {
  c_attn = new nn.Linear(width, 3 * width);
  c_proj = new nn.Linear(width, width);

  override forward(x: Tensor): Tensor {
    const [n = 0, length = 0] = x.shape;
    const split = (part: Tensor) => part.view([n, length, -1, width / heads]).transpose(1, 2);
    const [query = x, key = x, value = x] = this.c_attn.call(x).chunk(3, -1).map(split);
    const found = nn.functional.scaledDotProductAttention(query, key, value, { isCausal: true });
    return this.c_proj.call(found.transpose(1, 2).reshape([n, length, -1]));
  }
}

class Mlp extends nn.Module {
  c_fc = new nn.Linear(width, 4 * width);
  c_proj = new nn.Linear(4 * width, width);

  override forward(x: Tensor): Tensor {
    return this.c_proj.call(nn.functional.gelu(this.c_fc.call(x), { approximate: "tanh" }));
  }
}

class Block extends nn.Module {
  ln_1 = new nn.LayerNorm(width);
  attn = new Attention();
  ln_2 = new nn.LayerNorm(width);
  mlp = new Mlp();

  override forward(x: Tensor): Tensor {
    x = x.add(this.attn.call(this.ln_1.call(x)));
    return x.add(this.mlp.call(this.ln_2.call(x)));
  }
}

/** Letter ids [N, T] → logits of the next letters [N, T, vocabulary], with the embedding as output weight. */
class Gpt2 extends nn.Module {
  wte = new nn.Embedding(vocabulary, width);
  wpe = new nn.Embedding(context, width);
  h = new nn.Sequential(...range(layers).map(() => new Block()));
  ln_f = new nn.LayerNorm(width);
  lm_head = new nn.Linear(width, vocabulary, { bias: false });

  constructor() {
    super();
    this.lm_head.weight = this.wte.weight;
    for (const [name, parameter] of this.namedParameters()) {
      if (name.endsWith("bias")) nn.init.zeros_(parameter);
      else if (!name.includes("ln_")) nn.init.normal_(parameter, 0, 0.02);
    }
  }

  override forward(numbers: Tensor): Tensor {
    const places = this.wpe.call(arange(numbers.size(1)));
    return this.lm_head.call(this.ln_f.call(this.h.call(this.wte.call(numbers).add(places))));
  }
}

manualSeed(1);
const model = new Gpt2(), whole = model.parameters().reduce((sum, each) => sum + each.numel(), 0);
distributed.parallelizeModule(model, {
  "wte": "rowwise",
  "h.*.attn": { heads: { c_attn: [heads, heads, heads] }, output: "c_proj" },
  "h.*.mlp.c_fc": "colwise",
  "h.*.mlp.c_proj": "rowwise",
  "lm_head": "gathered",
}, { group: tensorGroup });
for (const block of model.h.children()) distributed.fullyShard(block, { group: shardGroup });
distributed.fullyShard(model, { group: shardGroup });
const held = model.parameters().reduce((sum, each) => sum + each.numel(), 0);
if (rank === 0) console.log(`${whole} parameters, of which this process of ${size} holds ${held}`);

const optimizer = new optim.AdamW(model.parameters(), { lr: rate, weightDecay: 0.1 });
const schedule = new optim.lrScheduler.CosineAnnealingLR(optimizer, steps, rate / 10);

// Processes that divide layers must read the same stretches
manualSeed(100 + Math.floor(rank / across));
const shown = tensor([0], { dtype: "float32" });
for (let k = 1; k <= steps; k++) {
  const starts = randint(0, text.length - context - 1, [batch]).tolist<number[]>();
  const at = (shift: number) => stack(starts.map((s) => encoded.slice(0, s + shift, s + shift + context)));
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(at(0)).flatten(0, 1), at(1).flatten());
  loss.backward();
  nn.utils.clipGradNorm_(model.parameters(), 1);
  optimizer.step();
  schedule.step();
  if (k > 1 && k % 20 !== 0 && k !== steps) continue;
  shown.fill_(loss.item());
  distributed.allReduce(shown, { op: "avg" });
  if (rank === 0) console.log(`step ${k}: loss ${shown.item().toFixed(3)}`);
}
distributed.destroyProcessGroup();
