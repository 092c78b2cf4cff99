/**
 * The models of bench/models.ts in PyTorch, on the CPU or on CUDA: the same layers, sizes and steps, as Python code for
 * `pytorch`, which measures "NAME, infer", "NAME, step" and, for compiled ones, "NAME, infer, compiled" and so on.
 */

const MODELS = `
import torch.nn as nn, torch.nn.functional as F
class Basic(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
        self.conv2, self.bn2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
        same = stride == 1 and a == b
        self.down = None if same else nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))
    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + (x if self.down is None else self.down(x)))
def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for a, b, s in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)): layers += [Basic(a, b, s), Basic(b, b, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))

W, HEADS, LAYERS = 768, 12, 12
class Block(nn.Module):
    def __init__(self, pre, causal):
        super().__init__()
        self.pre, self.causal = pre, causal
        self.n1, self.n2 = nn.LayerNorm(W), nn.LayerNorm(W)
        self.qkv, self.out, self.wide, self.narrow = nn.Linear(W, 3 * W), nn.Linear(W, W), nn.Linear(W, 4 * W), nn.Linear(4 * W, W)
    def attend(self, x, past):
        b, n, w = x.shape
        q, k, v = (part.view(b, n, HEADS, w // HEADS).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if past is not None: k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal and past is None)
        return self.out(mixed.transpose(1, 2).reshape(b, n, w)), (k, v)
    def widen(self, x): return self.narrow(F.gelu(self.wide(x)))
    def forward(self, x, past=None):
        if self.pre:
            attended, present = self.attend(self.n1(x), past)
            x = x + attended
            return x + self.widen(self.n2(x)), present
        attended, present = self.attend(x, past)
        x = self.n1(x + attended)
        return self.n2(x + self.widen(x)), present
class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm, self.head = nn.Embedding(30522, W), nn.Embedding(512, W), nn.LayerNorm(W), nn.Linear(W, 2)
        self.blocks = nn.ModuleList(Block(False, False) for _ in range(LAYERS))
    def forward(self, words):
        x = self.norm(self.words(words) + self.places(torch.arange(words.shape[1], device=words.device)))
        for block in self.blocks: x, _ = block(x)
        return self.head(x[:, 0])
class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(50257, W), nn.Embedding(1024, W), nn.LayerNorm(W)
        for each in (self.words, self.places): nn.init.normal_(each.weight, 0, 0.02)
        self.blocks = nn.ModuleList(Block(True, True) for _ in range(LAYERS))
    def scores(self, x): return F.linear(self.norm(x), self.words.weight)
    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
        for block in self.blocks: x, _ = block(x)
        return self.scores(x)
    def next(self, words, past):
        before, presents = 0 if past is None else past[0][0].shape[2], []
        x = self.words(words) + self.places(torch.arange(before, before + words.shape[1], device=words.device))
        for layer, block in enumerate(self.blocks):
            x, present = block(x, None if past is None else past[layer])
            presents.append(present)
        return self.scores(x[:, -1:]).argmax(-1), presents
class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.first, self.places = nn.Conv2d(3, W, 16, 16), nn.Parameter(torch.zeros(1, 1, W)), nn.Parameter(torch.zeros(1, 197, W))
        self.blocks, self.norm, self.head = nn.ModuleList(Block(True, False) for _ in range(LAYERS)), nn.LayerNorm(W), nn.Linear(W, 1000)
    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
        for block in self.blocks: x, _ = block(x)
        return self.head(self.norm(x)[:, 0])
class ChannelNorm(nn.LayerNorm):
    def forward(self, x): return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
class ConvBlock(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(w, w, 7, padding=3, groups=w), nn.LayerNorm(w, 1e-6)
        self.wide, self.narrow, self.scale = nn.Linear(w, 4 * w), nn.Linear(4 * w, w), nn.Parameter(torch.full((w, 1, 1), 1e-6))
    def forward(self, x):
        rows = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return self.narrow(F.gelu(self.wide(rows))).permute(0, 3, 1, 2) * self.scale + x
class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        layers, before = [], None
        for w, depth in ((96, 3), (192, 3), (384, 9), (768, 3)):
            layers += [nn.Conv2d(3, w, 4, 4), ChannelNorm(w, 1e-6)] if before is None else [ChannelNorm(before, 1e-6), nn.Conv2d(before, w, 2, 2)]
            layers += [ConvBlock(w) for _ in range(depth)]
            before = w
        self.features, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(768, 1e-6), nn.Linear(768, 1000)
    def forward(self, x): return self.head(self.norm(self.features(x).mean((-2, -1))))
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(10000, 256), nn.Linear(512, 32)
        self.lstm = nn.LSTM(256, 256, 2, batch_first=True, bidirectional=True)
    def forward(self, words): return self.head(self.lstm(self.words(words))[0]).flatten(0, 1)

def words(count, *size): return torch.randint(0, count, size)
WORKS = {
    "resnet18 4×224²": (resnet18, lambda: torch.randn(4, 3, 224, 224), lambda: words(1000, 4)),
    "BERT-base 4×256": (Bert, lambda: words(30522, 4, 256), lambda: words(2, 4)),
    "GPT-2 124M 4×256": (Gpt2, lambda: words(50257, 4, 256), lambda: words(50257, 4, 256)),
    "ViT-B/16 2×224²": (Vit, lambda: torch.randn(2, 3, 224, 224), lambda: words(1000, 2)),
    "ConvNeXt-T 2×224²": (ConvNeXt, lambda: torch.randn(2, 3, 224, 224), lambda: words(1000, 2)),
    "LSTM tagger 32×64": (Tagger, lambda: words(10000, 32, 64), lambda: words(32, 32 * 64)),
}
def decode(model, run, name, tokens):
    def all():
        ids, past = words(50257, 1, 16), None
        with torch.no_grad():
            for k in range(tokens):
                if k == 1:
                    done()
                    start = time.perf_counter()
                ids, past = run(ids, past)
        done()
        return (time.perf_counter() - start) * 1e3 / (tokens - 1)
    all()
    result[name] = sorted(all() for _ in range(3))[1]
def work(name, seconds, compiled):
    if name == "GPT-2 decoding":
        model = Gpt2().eval()
        decode(model, model.next, f"{name}, a token", 64)
        if compiled: decode(model, torch.compile(model.next, dynamic=True), f"{name}, a token, compiled", 64)
        return
    make, x, y = WORKS[name]
    model, x, y = make(), x(), y()
    optimizer = torch.optim.Adam(model.parameters())
    for suffix, call in (("", model), (", compiled", torch.compile(model))) if compiled else (("", model),):
        def infer():
            with torch.no_grad(): call(x)
        def step():
            optimizer.zero_grad()
            scores = call(x)
            F.cross_entropy(scores.flatten(0, -2), y.flatten()).backward()
            optimizer.step()
        model.eval()
        measure(f"{name}, infer{suffix}", infer, seconds)
        model.train()
        measure(f"{name}, step{suffix}", step, seconds)
`;

const ON_CPU = "def done(): pass";
/** Calls are timed together, since they do not wait for each other. */
const ON_CUDA = `
torch.set_default_device("cuda")
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
done = torch.cuda.synchronize
def timed(run, calls=1):
    t = time.perf_counter()
    for _ in range(calls): run()
    done()
    return (time.perf_counter() - t) * 1e3 / calls
def measure(name, run, seconds):
    result[f"{name}, first"] = timed(run)
    once = min(timed(run) for _ in range(3))
    calls = max(1, min(10000, round(200 * seconds / once)))
    result[name] = sorted(timed(run, calls) for _ in range(5))[2]
`;

/** Choices of a comparison. Seconds are those that each measurement takes. */
interface PythonChoices {
  readonly seconds: number;
  readonly compiled: boolean;
  readonly cuda: boolean;
}

/** The Python program for these works. */
export function pythonModels(
  names: readonly string[],
  { seconds, compiled, cuda }: PythonChoices,
): string {
  const flag = compiled ? "True" : "False";
  return [
    cuda ? ON_CUDA : ON_CPU,
    MODELS,
    ...names.map((name) => `work(${JSON.stringify(name)}, ${seconds}, ${flag})`),
  ].join("\n");
}
