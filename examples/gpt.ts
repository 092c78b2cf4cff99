/**
 * A small character-level GPT that learns a text and continues it. The text is this repository's own prose.
 *
 *   deno run -A examples/gpt.ts [--steps=700] [--width=64] [--layers=2] [--prompt="A graph"]
 */
import { parseArgs } from "@std/cli";
import {
  arange,
  cat,
  compile,
  manualSeed,
  multinomial,
  nn,
  noGrad,
  optim,
  stack,
  type Tensor,
  tensor,
} from "../mod.ts";

const flags = parseArgs(Deno.args, { string: ["steps", "width", "layers", "prompt", "context"] });
const steps = Number(flags.steps ?? 700), width = Number(flags.width ?? 64);
const layers = Number(flags.layers ?? 2), context = Number(flags.context ?? 64);

const pages = ["how_capture_works", "guards_and_breaks", "performance", "coming_from_pytorch"];
const text = pages.map((page) => Deno.readTextFileSync(new URL(`../docs/${page}.md`, import.meta.url))).join(
  "\n",
);
const characters = [...new Set(text)].sort();
const numberOf = new Map(characters.map((character, number) => [character, number]));
const encode = (part: string): number[] => [...part].map((character) => numberOf.get(character) ?? 0);
const encoded = tensor(encode(text));

/** Causal attention, then two linear layers at each position. */
class Block extends nn.Module {
  norm1 = new nn.LayerNorm(width);
  projections = new nn.Linear(width, 3 * width);
  out = new nn.Linear(width, width);
  norm2 = new nn.LayerNorm(width);
  wide = new nn.Linear(width, 4 * width);
  narrow = new nn.Linear(4 * width, width);

  override forward(x: Tensor): Tensor {
    const [batch = 0, length = 0] = x.shape, heads = 4;
    const split = (part: Tensor) => part.reshape(batch, length, heads, width / heads).transpose(1, 2);
    const [query = x, key = x, value = x] = this.projections.call(this.norm1.call(x)).chunk(3, -1);
    const attended = nn.functional.scaledDotProductAttention(split(query), split(key), split(value), {
      isCausal: true,
    });
    x = x.add(this.out.call(attended.transpose(1, 2).reshape(batch, length, width)));
    return x.add(this.narrow.call(nn.functional.gelu(this.wide.call(this.norm2.call(x)))));
  }
}

/** Character ids [N, T] → logits of the next characters [N, T, characters] */
class Gpt extends nn.Module {
  tokens = new nn.Embedding(characters.length, width);
  places = new nn.Embedding(context, width);
  blocks = new nn.Sequential(...Array.from({ length: layers }, () => new Block()));
  norm = new nn.LayerNorm(width);
  head = new nn.Linear(width, characters.length, { bias: false });

  override forward(numbers: Tensor): Tensor {
    const places = this.places.call(arange(numbers.shape[1] ?? 0));
    return this.head.call(this.norm.call(this.blocks.call(this.tokens.call(numbers).add(places))));
  }
}

manualSeed(1);
const model = new Gpt();
for (const { weight } of [model.tokens, model.places]) nn.init.normal_(weight, 0, 0.05);
const optimizer = new optim.AdamW(model.parameters(), { lr: 4e-3, weightDecay: 0.01 });
const schedule = new optim.lrScheduler.CosineAnnealingLR(optimizer, steps, 4e-4);

const step = compile((inputs: Tensor, targets: Tensor) => {
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(inputs).flatten(0, 1), targets.flatten());
  loss.backward();
  optimizer.step();
  return loss.detach();
});

/** Random stretches of the text, and the same shifted by one character. */
function batch(): readonly [Tensor, Tensor] {
  const starts = Array.from({ length: 16 }, () => Math.floor(Math.random() * (text.length - context - 1)));
  const at = (shift: number) => stack(starts.map((s) => encoded.slice(0, s + shift, s + shift + context)));
  return [at(0), at(1)];
}

let loss = NaN;
for (let k = 1; k <= steps; k++) {
  loss = step(...batch()).item();
  schedule.step();
  if (k === 1 || k % 100 === 0 || k === steps) console.log(`step ${k}: loss ${loss.toFixed(3)}`);
}

/** Continues a text by `count` characters, sampled from the model's predictions. */
function continued(prompt: string, count: number): string {
  let numbers = tensor([encode(prompt)]);
  noGrad(() => {
    for (let k = 0; k < count; k++) {
      const logits = model.call(numbers.at(":", `-${context}:`)).at(":", -1);
      numbers = cat([numbers, multinomial(logits.div(0.7).softmax(-1), 1)], 1);
    }
  });
  return [...numbers.at(0).toTypedArray()].map((number) => characters[Number(number)]).join("");
}

model.eval();
console.log(continued(flags.prompt ?? "A graph", Math.min(steps, 160)));
