/**
 * The models of bench/webgpu_models.ts in PyTorch on CUDA: the same sizes and steps, compiled, in float32 without
 * TF32, as Python code for `pytorch`. Milliseconds are medians over rounds of calls that are awaited together.
 */

const PRELUDE = `
import statistics, torch.nn as nn, torch.nn.functional as F
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
cuda = "cuda"
def timed(run, calls=1):
    t = time.perf_counter()
    for _ in range(calls): run()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) * 1e3 / calls
def steady(name, run):
    once = min(timed(run), timed(run), timed(run))
    calls = max(1, min(10000, round(200 / once)))
    result[name] = statistics.median(timed(run, calls) for _ in range(5))
`;

const MODELS = `
class Block(nn.Module):
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
    for a, b, s in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)): layers += [Block(a, b, s), Block(b, b, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        b, n, w = x.shape
        split = lambda t: t.view(b, n, self.heads, w // self.heads).permute(0, 2, 1, 3)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = q @ k.transpose(-1, -2) / (w // self.heads) ** 0.5
        mixed = (scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, n, w)
        x = self.n1(x + self.o(mixed))
        return self.n2(x + self.narrow(F.gelu(self.wide(x))))
class Bert(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.words, self.positions, self.norm = nn.Embedding(8192, width), nn.Embedding(512, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.decoder = nn.Linear(width, 8192)
    def forward(self, words):
        x = self.norm(self.words(words) + self.positions(torch.arange(words.shape[1], device=words.device)))
        for layer in self.layers: x = layer(x)
        return self.decoder(x[:, 0])
class Gpt2Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2, self.projections = nn.LayerNorm(width), nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out, self.wide, self.narrow = nn.Linear(width, width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        b, n, w = x.shape
        q, k, v = (t.view(b, n, self.heads, w // self.heads).transpose(1, 2) for t in self.projections(self.n1(x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, n, w))
        return x + self.narrow(F.gelu(self.wide(self.n2(x))))
class Gpt2(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(8192, width), nn.Embedding(1024, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(Gpt2Layer(width, heads) for _ in range(layers))
    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
        for layer in self.layers: x = layer(x)
        return F.linear(self.norm(x), self.words.weight)
def work(name, model, x, y):
    model = model.to(cuda)
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters())
    def infer():
        with torch.no_grad(): compiled(x)
    def train():
        optimizer.zero_grad()
        scores = compiled(x)
        F.cross_entropy(scores.view(-1, scores.shape[-1]), y).backward()
        optimizer.step()
    for kind, run in (("infer", infer), ("train", train)):
        model.train(kind == "train")
        result[f"{name}, {kind}, first"] = timed(run)
        steady(f"{name}, {kind}", run)
work("resnet18", resnet18(), torch.randn(4, 3, 224, 224, device=cuda), torch.randint(0, 1000, (4,), device=cuda))
work("gpt2", Gpt2(4, 256, 4), torch.randint(0, 8192, (2, 256), device=cuda), torch.randint(0, 8192, (512,), device=cuda))
work("bert", Bert(4, 256, 4), torch.randint(0, 8192, (8, 128), device=cuda), torch.randint(0, 8192, (8,), device=cuda))
`;

const OPERATIONS = `
def convolution(name, b, c, size, f, k, s, groups):
    x = torch.randn(b, c, size, size, device=cuda, requires_grad=True)
    w = torch.randn(f, c // groups, k, k, device=cuda, requires_grad=True)
    with torch.no_grad(): steady(name, lambda: F.conv2d(x, w, None, s, k // 2, 1, groups))
    out = F.conv2d(x, w, None, s, k // 2, 1, groups)
    g = torch.randn_like(out)
    steady(f"{name} of the input", lambda: torch.autograd.grad(out, x, g, retain_graph=True))
    steady(f"{name} of the weight", lambda: torch.autograd.grad(out, w, g, retain_graph=True))
def product(name, m, n, k):
    a, b = torch.randn(m, k, device=cuda), torch.randn(k, n, device=cuda)
    steady(name, lambda: a @ b)
def attention(name, *sizes):
    *size, causal = sizes
    q, k, v = (torch.randn(*size, device=cuda) for _ in range(3))
    attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal > 0)
    steady(name, lambda: attend(q, k, v))
    own = [each.detach().requires_grad_() for each in (q, k, v)]
    out = attend(*own)
    steady(f"{name}, its gradients", lambda: torch.autograd.grad(out, own, q, retain_graph=True))
    steady(f"{name} with gradients", lambda: torch.autograd.grad(attend(*own), own, q))
`;

/**
 * An operation, by name and sizes: convolutions by batch, channels, size, filters, kernel, stride and groups; attention
 * by batch, heads, length, width and whether it is causal.
 */
export interface Operation {
  readonly name: string;
  readonly kind: "convolution" | "product" | "attention";
  readonly sizes: readonly number[];
}

/** The Python program; null: the models rather than operations. */
export function cudaProgram(operations: readonly Operation[] | null): string {
  if (operations === null) return PRELUDE + MODELS;
  const calls = operations.map(({ kind, name, sizes }) =>
    `${kind}(${JSON.stringify(name)}, ${sizes.join()})`
  );
  return [PRELUDE, OPERATIONS, ...calls].join("\n");
}
