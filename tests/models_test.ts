/**
 * Small models against PyTorch's numbers: logits, gradients and ten optimizer steps, eager and compiled. The files
 * in tests/data hold state dicts, inputs and results that PyTorch computed.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, nn, optim, safetensors, type Tensor } from "../mod.ts";
import "./support/turns/models.ts";

const { crossEntropy, softmax } = nn.functional;

/** conv, batch norm, relu and max pool twice, then two linear layers. */
class ConvNet extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3, { padding: 1 });
  bn1 = new nn.BatchNorm2d(8);
  conv2 = new nn.Conv2d(8, 16, 3, { padding: 1 });
  bn2 = new nn.BatchNorm2d(16);
  fc1 = new nn.Linear(144, 32);
  fc2 = new nn.Linear(32, 10);
  override forward(x: Tensor): Tensor {
    x = nn.functional.maxPool2d(this.bn1.call(this.conv1.call(x)).relu(), 2);
    x = nn.functional.maxPool2d(this.bn2.call(this.conv2.call(x)).relu(), 2);
    return this.fc2.call(this.fc1.call(x.flatten(1)).relu());
  }
}

/** A transformer block with causal attention over 4 heads. */
class Block extends nn.Module {
  ln1 = new nn.LayerNorm(32);
  qkv = new nn.Linear(32, 96);
  proj = new nn.Linear(32, 32);
  ln2 = new nn.LayerNorm(32);
  fc1 = new nn.Linear(32, 128);
  fc2 = new nn.Linear(128, 32);
  attend(x: Tensor): Tensor {
    const [batch = 1, length = 1] = x.shape;
    const heads = (t: Tensor) => t.view([batch, length, 4, 8]).transpose(1, 2);
    const [q, k, v] = this.qkv.call(x).split(32, -1).map(heads);
    assert(q && k && v);
    const out = nn.functional.scaledDotProductAttention(q, k, v, { isCausal: true });
    return this.proj.call(out.transpose(1, 2).reshape([batch, length, 32]));
  }
  override forward(x: Tensor): Tensor {
    x = x.add(this.attend(this.ln1.call(x)));
    return x.add(this.fc2.call(nn.functional.gelu(this.fc1.call(this.ln2.call(x)), { approximate: "tanh" })));
  }
}

/** A character-level language model of two blocks. */
class CharLM extends nn.Module {
  tok = new nn.Embedding(40, 32);
  pos = new nn.Embedding(24, 32);
  blocks = new nn.ModuleList([new Block(), new Block()]);
  ln = new nn.LayerNorm(32);
  head = new nn.Linear(32, 40, { bias: false });
  override forward(tokens: Tensor): Tensor {
    let x = this.tok.call(tokens).add(this.pos.weight.slice(0, 0, tokens.shape[1]));
    for (const block of this.blocks) x = block.call(x);
    return this.head.call(this.ln.call(x));
  }
}

const MODELS: Readonly<Record<string, () => nn.Module & { forward(x: Tensor): Tensor }>> = {
  mlp: () =>
    new nn.Sequential(
      new nn.Linear(64, 48),
      new nn.ReLU(),
      new nn.Linear(48, 48),
      new nn.GELU(),
      new nn.LayerNorm(48),
      new nn.Linear(48, 10),
    ),
  convnet: () => new ConvNet(),
  charlm: () => new CharLM(),
};

type Numbers = Record<string, Tensor>;

function part(saved: Numbers, prefix: string): Numbers {
  return Object.fromEntries(
    Object.entries(saved).filter(([key]) => key.startsWith(prefix)).map((
      [key, t],
    ) => [key.slice(prefix.length), t]),
  );
}

function need(saved: Numbers, key: string): Tensor {
  const found = saved[key];
  assert(found, `Expected ${key} in the file`);
  return found;
}

/** Each element within 1e-4 relative, and 2e-6 of the largest. */
function close(what: string, got: Tensor, want: Tensor): void {
  assertEquals(got.shape, want.shape, what);
  const a = got.detach().toTypedArray(), b = Array.from(want.toTypedArray(), Number);
  const scale = b.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  for (let i = 0; i < b.length; i++) {
    const x = Number(a[i]), y = Number(b[i]);
    assert(
      Math.abs(x - y) <= 1e-4 * Math.abs(y) + 2e-6 * scale + 1e-6,
      `${what}[${i}] is ${x}, expected ${y}`,
    );
  }
}

function lossOf(logits: Tensor, target: Tensor): Tensor {
  return crossEntropy(logits.reshape([-1, logits.shape[logits.shape.length - 1] ?? 1]), target.reshape([-1]));
}

for (const [name, make] of Object.entries(MODELS)) {
  for (const backend of ["none", "eager", "aot_eager", "inductor"]) {
    Deno.test(`${name} agrees with PyTorch, backend ${backend}`, () => {
      const saved = safetensors.load(new URL(`data/${name}.safetensors`, import.meta.url));
      const model = make();
      model.loadStateDict(part(saved, "state."));
      const input = need(saved, "input"), target = need(saved, "target");
      const forward = (x: Tensor) => model.forward(x);
      const run = backend === "none" ? forward : compile(forward, { backend });
      model.eval();
      close("logits", run(input), need(saved, "logits"));
      model.train();
      const loss = lossOf(run(input), target);
      close("loss", loss.reshape(need(saved, "loss").shape), need(saved, "loss"));
      loss.backward();
      const parameters = new Map(model.namedParameters());
      for (const [key, want] of Object.entries(part(saved, "grad."))) {
        const grad = parameters.get(key)?.grad;
        assert(grad, `Expected a gradient of ${key}`);
        close(`gradient of ${key}`, grad, want);
      }
      model.zeroGrad();
      model.loadStateDict(part(saved, "state."));
      const optimizer = new optim.AdamW(model.parameters(), { lr: 1e-3, weightDecay: 0.01 });
      const losses = need(saved, "losses").tolist();
      assert(Array.isArray(losses));
      for (const want of losses) {
        optimizer.zeroGrad();
        const each = lossOf(run(input), target);
        each.backward();
        optimizer.step();
        assert(
          Math.abs(Number(each.item()) - Number(want)) <= 2e-4 * Math.abs(Number(want)),
          `${each.item()} against ${want}`,
        );
      }
    });
  }
}

Deno.test("softmax of logits sums to one", () => {
  const saved = safetensors.load(new URL("data/mlp.safetensors", import.meta.url));
  const sums = softmax(need(saved, "logits"), 1).sum(1);
  close("sums", sums, sums.detach().mul(0).add(1));
});

Deno.test("safetensors: saved tensors are loaded again", () => {
  const saved = safetensors.load(new URL("data/convnet.safetensors", import.meta.url));
  const again = safetensors.load(safetensors.serialize(saved));
  assertEquals(Object.keys(again).sort(), Object.keys(saved).sort());
  for (const [key, t] of Object.entries(saved)) {
    const other = need(again, key);
    assertEquals([other.dtype, other.shape, other.tolist()], [t.dtype, t.shape, t.tolist()]);
  }
});
