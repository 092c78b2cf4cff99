/**
 * Single compiled operations on the CPU, compared with PyTorch: operations and row kernels, matrix products,
 * convolutions with and without gradients, and attention.
 *
 *   DYN_NUM_THREADS=2 DYN_BENCH_PYTHON=python deno run -A cli.ts bench kernels [ops|products|convolutions|attention]
 */
import {
  arange,
  autograd,
  cat,
  enableGrad,
  nn,
  noGrad,
  rand,
  randint,
  randn,
  stack,
  type Tensor,
  zeros,
} from "../mod.ts";
import { describeMachine } from "./support/measure.ts";
import { compareRows, type Result, type Row } from "./support/table.ts";
import "./support/native.ts";

const F = nn.functional, SIDE = 1024, COUNT = SIDE * SIDE;

type Line = readonly [name: string, run: () => Result, python: string];

const rowsOf = (lines: readonly Line[]): Row[] => lines.map(([name, run, python]) => ({ name, run, python }));

function ops(): void {
  const x = randn([SIDE, SIDE]),
    y = randn([SIDE, SIDE]),
    p = rand([SIDE, SIDE]).add(0.1),
    flat = randn([COUNT]);
  const row = randn([SIDE]),
    column = randn([SIDE, 1]),
    big = randn([2048, 2048]),
    other = randn([2048, 2048]);
  const d = randn([512, 1024]).to("float64"), e = randn([512, 1024]).to("float64");
  const whole = randint(1, 1000, [SIDE, SIDE]),
    int = whole.to("int32"),
    byte = randint(0, 100, [SIDE, SIDE]).to("uint8");
  const mask = x.gt(0), places = randint(0, SIDE, [SIDE]), spread = randint(0, SIDE, [SIDE, SIDE]);
  const image = randn([16, 64, 56, 56]), channel = rand([64]).add(0.5), few = randn([4, 32, 64, 64]);
  const labels = randint(0, SIDE, [SIDE]), wide = randn([64, 32768]), table = randn([8192, 256]);
  const words = randint(0, 8192, [8, 512]), upstream = randn([8, 512, 256]), tiny = randn([1000]);
  const lines: readonly Line[] = [
    ["add", () => x.add(y), "x + y"],
    ["add 4 Mi", () => big.add(other), "big + other"],
    ["exp 4 Mi", () => big.exp(), "big.exp()"],
    ["mul 1000", () => tiny.mul(tiny), "tiny * tiny"],
    ["mul a row", () => x.mul(row), "x * row"],
    ["mul a column", () => x.mul(column), "x * column"],
    ["add transposed", () => x.t().add(y), "x.t() + y"],
    ["div", () => x.div(p), "x / p"],
    ["exp", () => x.exp(), "x.exp()"],
    ["log", () => p.log(), "p.log()"],
    ["log1p", () => p.log1p(), "p.log1p()"],
    ["expm1", () => x.expm1(), "x.expm1()"],
    ["sqrt", () => p.sqrt(), "p.sqrt()"],
    ["rsqrt", () => p.rsqrt(), "p.rsqrt()"],
    ["tanh", () => x.tanh(), "x.tanh()"],
    ["sigmoid", () => x.sigmoid(), "x.sigmoid()"],
    ["relu", () => x.relu(), "x.relu()"],
    ["gelu", () => F.gelu(x), "F.gelu(x)"],
    ["silu", () => F.silu(x), "F.silu(x)"],
    ["softplus", () => F.softplus(x), "F.softplus(x)"],
    ["leaky relu", () => F.leakyRelu(x), "F.leaky_relu(x)"],
    ["sin", () => x.sin(), "x.sin()"],
    ["cos", () => x.cos(), "x.cos()"],
    ["erf", () => x.erf(), "x.erf()"],
    ["lgamma", () => p.lgamma(), "p.lgamma()"],
    ["pow 2", () => x.pow(2), "x.pow(2)"],
    ["pow 1.7", () => p.pow(1.7), "p.pow(1.7)"],
    ["atan2", () => x.atan2(y), "x.atan2(y)"],
    ["remainder", () => x.remainder(p), "x.remainder(p)"],
    ["floor divide", () => x.floorDivide(p), "x.floor_divide(p)"],
    ["clamp", () => x.clamp(-1, 1), "x.clamp(-1, 1)"],
    ["where", () => x.where(mask, y), "torch.where(mask, x, y)"],
    ["gt", () => x.gt(y), "x > y"],
    ["abs", () => x.abs(), "x.abs()"],
    [
      "tanh(1.5x + b)·sigmoid(x)",
      () => x.mul(1.5).add(row).tanh().mul(x.sigmoid()),
      "(x * 1.5 + row).tanh() * x.sigmoid()",
    ],
    ["gelu(x + b)·y", () => F.gelu(x.add(row)).mul(y), "F.gelu(x + row) * y"],
    ["add int64", () => whole.add(whole), "whole + whole"],
    [
      "div int64",
      () => whole.div(whole, { roundingMode: "floor" }),
      "whole.div(whole, rounding_mode='floor')",
    ],
    ["add int32", () => int.add(int), "int32 + int32"],
    ["floor divide int32", () => int.floorDivide(int), "int32 // int32"],
    ["add uint8", () => byte.add(byte), "byte + byte"],
    ["mul float64", () => d.mul(e), "d * e"],
    ["tanh float64", () => d.tanh(), "d.tanh()"],
    ["softmax float64", () => d.softmax(1), "d.softmax(1)"],
    ["to float64", () => x.to("float64"), "x.to(torch.float64)"],
    ["to int64", () => x.to("int64"), "x.to(torch.int64)"],
    ["sum", () => x.sum(), "x.sum()"],
    ["sum 4 Mi", () => big.sum(), "big.sum()"],
    ["mean", () => x.mean(), "x.mean()"],
    ["sum rows", () => x.sum(1), "x.sum(1)"],
    ["sum columns", () => x.sum(0), "x.sum(0)"],
    ["max rows", () => x.amax(1), "x.amax(1)"],
    ["min columns", () => x.amin(0), "x.amin(0)"],
    ["argmax rows", () => x.argmax(1), "x.argmax(1)"],
    ["var", () => x.var(), "x.var()"],
    ["std rows", () => x.std(1), "x.std(1)"],
    ["prod rows", () => x.prod(1), "x.prod(1)"],
    ["norm", () => x.norm(), "x.norm()"],
    ["any", () => mask.any(), "mask.any()"],
    ["logsumexp", () => x.logsumexp(1), "x.logsumexp(1)"],
    ["softmax", () => x.softmax(1), "x.softmax(1)"],
    ["softmax columns", () => x.softmax(0), "x.softmax(0)"],
    ["log softmax", () => x.logSoftmax(1), "x.log_softmax(1)"],
    ["layer norm", () => F.layerNorm(x, [SIDE], row, row), "F.layer_norm(x, [SIDE], row, row)"],
    ["rms norm", () => F.rmsNorm(x, [SIDE], row), "F.rms_norm(x, [SIDE], row)"],
    ["group norm", () => F.groupNorm(few, 8), "F.group_norm(few, 8)"],
    [
      "batch norm, inference",
      () => F.batchNorm(image, channel, channel),
      "F.batch_norm(image, channel, channel)",
    ],
    [
      "batch norm, training",
      () => F.batchNorm(image, null, null, channel, channel, true),
      "F.batch_norm(image, None, None, channel, channel, True)",
    ],
    ["cross entropy", () => F.crossEntropy(x, labels), "F.cross_entropy(x, labels)"],
    ["mse", () => F.mseLoss(x, y), "F.mse_loss(x, y)"],
    ["smooth l1", () => F.smoothL1Loss(x, y), "F.smooth_l1_loss(x, y)"],
    [
      "bce with logits",
      () => F.binaryCrossEntropyWithLogits(x, p),
      "F.binary_cross_entropy_with_logits(x, p)",
    ],
    ["cumsum rows", () => x.cumsum(1), "x.cumsum(1)"],
    ["cumsum columns", () => x.cumsum(0), "x.cumsum(0)"],
    ["cumprod rows", () => x.cumprod(1), "x.cumprod(1)"],
    ["sort rows", () => x.sort(1), "x.sort(1)"],
    ["sort 1 Mi", () => flat.sort(), "flat.sort()"],
    ["argsort rows", () => x.argsort(1), "x.argsort(1)"],
    ["topk 10", () => x.topk(10), "x.topk(10)"],
    ["topk 50 of 64×32768", () => wide.topk(50), "wide.topk(50)"],
    ["median rows", () => x.median(1), "x.median(1)"],
    ["clone", () => x.clone(), "x.clone()"],
    ["transposed copy", () => x.t().contiguous(), "x.t().contiguous()"],
    ["permuted copy", () => image.permute(0, 2, 3, 1).contiguous(), "image.permute(0, 2, 3, 1).contiguous()"],
    ["cat", () => cat([x, y]), "torch.cat([x, y])"],
    ["stack", () => stack([x, y], 1), "torch.stack([x, y], 1)"],
    ["flip", () => x.flip(1), "x.flip(1)"],
    ["roll", () => x.roll(5, 1), "x.roll(5, 1)"],
    ["pad", () => F.pad(x, [1, 2, 3, 4]), "F.pad(x, [1, 2, 3, 4])"],
    ["gather", () => x.gather(1, spread), "x.gather(1, spread)"],
    ["index rows", () => x.indexSelect(0, places), "x.index_select(0, places)"],
    [
      "scatter add",
      () => zeros([SIDE, SIDE]).scatterAdd(1, spread, x),
      "torch.zeros(SIDE, SIDE).scatter_add(1, spread, x)",
    ],
    [
      "index add",
      () => zeros([SIDE, SIDE]).indexAdd(0, places, x),
      "torch.zeros(SIDE, SIDE).index_add(0, places, x)",
    ],
    ["masked fill", () => x.maskedFill(mask, 0), "x.masked_fill(mask, 0)"],
    ["tril", () => x.tril(), "x.tril()"],
    ["repeat", () => row.repeat(SIDE, 1), "row.repeat(SIDE, 1)"],
    ["embedding", () => F.embedding(words, table), "F.embedding(words, table)"],
    ["embedding, gradient", () =>
      enableGrad(() => {
        const weight = table.detach().requiresGrad_();
        return autograd.grad([F.embedding(words, weight)], [weight], [upstream]);
      }), "grad_of_embedding()"],
    ["max pool 3² by 2", () => F.maxPool2d(image, 3, 2, 1), "F.max_pool2d(image, 3, 2, 1)"],
    ["mean pool 2²", () => F.avgPool2d(image, 2), "F.avg_pool2d(image, 2)"],
    ["adaptive mean pool", () => F.adaptiveAvgPool2d(image, 1), "F.adaptive_avg_pool2d(image, 1)"],
    [
      "bilinear, twice the size",
      () => F.interpolate(few, { scaleFactor: 2, mode: "bilinear" }),
      "F.interpolate(few, scale_factor=2, mode='bilinear')",
    ],
    ["unfold", () => F.unfold(few, 3), "F.unfold(few, 3)"],
    ["arange", () => arange(COUNT), "torch.arange(COUNT)"],
    ["rand", () => rand([COUNT]), "torch.rand(COUNT)"],
    ["randn", () => randn([COUNT]), "torch.randn(COUNT)"],
    ["dropout", () => F.dropout(x, 0.1, true), "F.dropout(x, 0.1, True)"],
  ];
  noGrad(() =>
    compareRows("operations", rowsOf(lines), {
      setup: `
SIDE, COUNT = ${SIDE}, ${COUNT}
x, y, p, flat = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE), torch.rand(SIDE, SIDE) + 0.1, torch.randn(COUNT)
row, column, big, other = torch.randn(SIDE), torch.randn(SIDE, 1), torch.randn(2048, 2048), torch.randn(2048, 2048)
d, e = torch.randn(512, 1024).double(), torch.randn(512, 1024).double()
whole = torch.randint(1, 1000, (SIDE, SIDE)); int32 = whole.int(); byte = torch.randint(0, 100, (SIDE, SIDE)).byte()
mask, places, spread = x > 0, torch.randint(0, SIDE, (SIDE,)), torch.randint(0, SIDE, (SIDE, SIDE))
image, channel, few = torch.randn(16, 64, 56, 56), torch.rand(64) + 0.5, torch.randn(4, 32, 64, 64)
labels, wide, table = torch.randint(0, SIDE, (SIDE,)), torch.randn(64, 32768), torch.randn(8192, 256)
words, upstream, tiny = torch.randint(0, 8192, (8, 512)), torch.randn(8, 512, 256), torch.randn(1000)
def grad_of_embedding():
    with torch.enable_grad():
        weight = table.detach().requires_grad_()
        return torch.autograd.grad(F.embedding(words, weight), weight, upstream)
`,
    })
  );
}

/** Rows, columns, depth, and which operands are transposed. */
const PRODUCTS: readonly (readonly [number, number, number, "nn" | "nt" | "tn"])[] = [
  [256, 256, 256, "nn"],
  [512, 512, 512, "nn"],
  [1024, 1024, 1024, "nn"],
  [1024, 1024, 1024, "nt"],
  [1024, 1024, 1024, "tn"],
  [1023, 1023, 1023, "nn"],
  [2048, 2048, 2048, "nn"],
  [4096, 64, 64, "nn"],
  [64, 64, 4096, "tn"],
  [1, 1024, 4096, "nt"],
  [8, 1024, 4096, "nn"],
  [8, 1024, 4096, "nt"],
  [32, 1024, 1024, "nt"],
  [128, 784, 512, "nt"],
  [128, 512, 784, "nn"],
  [512, 128, 784, "tn"],
  [128, 512, 10, "nt"],
  [10, 128, 512, "tn"],
  [128, 10, 512, "nn"],
  [1024, 768, 768, "nt"],
  [1024, 768, 3072, "nt"],
  [1024, 3072, 768, "nt"],
  [768, 3072, 1024, "tn"],
  [1024, 3072, 768, "nn"],
];

function products(): void {
  const setup: string[] = [];
  const rows = PRODUCTS.map(([m, n, k, kind], at): Row => {
    const a = kind === "tn" ? randn([k, m]) : randn([m, k]),
      b = kind === "nt" ? randn([n, k]) : randn([k, n]);
    setup.push(`a${at}, b${at} = torch.randn(${a.shape.join(", ")}), torch.randn(${b.shape.join(", ")})`);
    return {
      name: `${m}×${n}×${k} ${kind}`,
      run: () => (kind === "tn" ? a.t() : a).matmul(kind === "nt" ? b.t() : b),
      python: `a${at}${kind === "tn" ? ".t()" : ""} @ b${at}${kind === "nt" ? ".t()" : ""}`,
      flops: 2 * m * n * k,
    };
  });
  const batched = [randn([48, 256, 64]), randn([48, 64, 256]), randn([256, 256, 256]).to("float64")] as const;
  const [a, b, d] = batched, linear = new nn.Linear(768, 3072), x = randn([1024, 768]);
  setup.push(
    "a, b, lin, x = torch.randn(48, 256, 64), torch.randn(48, 64, 256), nn.Linear(768, 3072), torch.randn(1024, 768)",
  );
  setup.push("d = torch.randn(512, 512).double()");
  const square = d.view([-1]).narrow(0, 0, 512 * 512).view([512, 512]);
  rows.push(
    { name: "48 of 256×256×64 nn", run: () => a.bmm(b), python: "a.bmm(b)", flops: 48 * 2 * 256 * 256 * 64 },
    {
      name: "512×512×512 nn float64",
      run: () => square.matmul(square),
      python: "d @ d",
      flops: 2 * 512 ** 3,
    },
    {
      name: "gelu(linear) 1024×3072×768",
      run: () => F.gelu(linear.call(x)),
      python: "F.gelu(lin(x))",
      flops: 2 * 1024 * 3072 * 768,
    },
  );
  noGrad(() => compareRows("matrix products", rows, { setup: setup.join("\n") }));
}

/** Batch, channels, size, filters, kernel, stride, groups. */
const CONVOLUTIONS = [
  [4, 3, 224, 64, 7, 2, 1],
  [4, 64, 56, 64, 3, 1, 1],
  [4, 64, 56, 128, 3, 2, 1],
  [4, 64, 56, 128, 1, 2, 1],
  [4, 128, 28, 128, 3, 1, 1],
  [4, 256, 14, 256, 3, 1, 1],
  [4, 512, 7, 512, 3, 1, 1],
  [4, 3, 224, 96, 4, 4, 1],
  [128, 1, 28, 16, 3, 1, 1],
  [128, 16, 14, 32, 3, 1, 1],
  [4, 256, 56, 64, 1, 1, 1],
  [4, 64, 56, 256, 1, 1, 1],
  [4, 1024, 14, 256, 1, 1, 1],
  [4, 144, 56, 24, 1, 1, 1],
  [4, 128, 56, 128, 3, 1, 32],
  [4, 96, 56, 96, 7, 1, 96],
  [4, 384, 14, 384, 7, 1, 384],
  [4, 64, 56, 64, 3, 1, 64],
  [4, 144, 56, 144, 3, 2, 144],
  [1, 64, 224, 64, 3, 1, 1],
] as const;

/** PyTorch runs in both memory layouts; the faster one is compared. */
function convolutions(): void {
  const setup: string[] = [];
  const forward: Row[] = [], both: Row[] = [];
  for (const [at, [batch, channels, size, filters, kernel, stride, groups]] of CONVOLUTIONS.entries()) {
    const padding = kernel === 4 ? 0 : kernel >> 1;
    const x = randn([batch, channels, size, size]), w = randn([filters, channels / groups, kernel, kernel]);
    const convolve = (x: Tensor, w: Tensor) => F.conv2d(x, w, null, stride, padding, 1, groups);
    const g = randn([...convolve(x, w).shape]), flops = 2 * g.numel() * (channels / groups) * kernel * kernel;
    const call = (layout: string) =>
      `F.conv2d(x${at}${layout}, w${at}${layout}, None, ${stride}, ${padding}, 1, ${groups})`;
    setup.push(
      `x${at} = torch.randn(${x.shape.join(", ")}, requires_grad=True); w${at} = torch.randn(${
        w.shape.join(", ")
      }, requires_grad=True)`,
      `x${at}l = x${at}.detach().to(memory_format=torch.channels_last).requires_grad_(); w${at}l = w${at}.detach().to(memory_format=torch.channels_last).requires_grad_()`,
      `g${at} = torch.randn(${g.shape.join(", ")}); g${at}l = g${at}.to(memory_format=torch.channels_last)`,
    );
    const of = groups > 1 ? ` in ${groups} groups` : "";
    const name = `${batch}×${channels}×${size}², ${filters} of ${kernel}² by ${stride}${of}`;
    const layouts = ["", "l"];
    forward.push({ name, run: () => convolve(x, w), python: layouts.map(call), flops });
    both.push({
      name,
      run: () => {
        const a = x.detach().requiresGrad_(), b = w.detach().requiresGrad_();
        return autograd.grad([convolve(a, b)], [a, b], [g]);
      },
      python: layouts.map((l) => `torch.autograd.grad(${call(l)}, [x${at}${l}, w${at}${l}], g${at}${l})`),
      flops: 3 * flops,
    });
  }
  noGrad(() => compareRows("convolutions", forward, { setup: setup.join("\n") }));
  compareRows("convolutions with both gradients", both, { setup: setup.join("\n"), grad: true });
}

/** Batch, heads, length, width. */
const ATTENTIONS = [[4, 8, 128, 64], [1, 12, 256, 64], [1, 12, 1024, 64], [1, 4, 4096, 64]] as const;

function attention(): void {
  const setup: string[] = [], forward: Row[] = [], both: Row[] = [];
  for (const [at, sizes] of ATTENTIONS.entries()) {
    const [q, k, v, g] = [
      randn([...sizes]),
      randn([...sizes]),
      randn([...sizes]),
      randn([...sizes]),
    ] as const;
    setup.push(
      ...["q", "k", "v"].map((name) => `${name}${at} = torch.randn(${sizes.join(", ")}, requires_grad=True)`),
    );
    setup.push(`g${at} = torch.randn(${sizes.join(", ")})`);
    for (const causal of [false, true]) {
      const name = `${sizes.join("×")}${causal ? " causal" : ""}`;
      const python = `F.scaled_dot_product_attention(q${at}, k${at}, v${at}, is_causal=${
        causal ? "True" : "False"
      })`;
      const attend = (q: Tensor, k: Tensor, v: Tensor) =>
        F.scaledDotProductAttention(q, k, v, null, 0, causal);
      forward.push({ name, run: () => attend(q, k, v), python });
      both.push({
        name,
        run: () => {
          const [a, b, c] = [q, k, v].map((each) => each.detach().requiresGrad_());
          if (!a || !b || !c) throw new Error("Expected three operands");
          return autograd.grad([attend(a, b, c)], [a, b, c], [g]);
        },
        python: `torch.autograd.grad(${python}, [q${at}, k${at}, v${at}], g${at})`,
      });
    }
  }
  noGrad(() => compareRows("attention", forward, { setup: setup.join("\n"), seconds: 0.5 }));
  compareRows("attention with gradients", both, { setup: setup.join("\n"), grad: true, seconds: 0.5 });
}

const TABLES: Readonly<Record<string, () => void>> = { ops, products, convolutions, attention };
const wanted = Deno.args.length > 0 ? Deno.args : Object.keys(TABLES);
for (const name of wanted) {
  if (!TABLES[name]) {
    throw new Error(`Expected tables out of ${Object.keys(TABLES).join(", ")} but found ${name}`);
  }
}
console.log(describeMachine());
for (const name of wanted) TABLES[name]?.();
