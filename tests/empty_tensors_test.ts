/**
 * Sizes of 0 in compiled graphs, known at compile time or only in a later call: results are those of eager execution,
 * and no index is divided by a size of 0. On WebAssembly; a few of them in C++.
 */
import { assertEquals } from "@std/assert";
import * as dyn from "../mod.ts";
import { cat, compile, einsum, manualSeed, randn, type Tensor, tensor, zeros } from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import "./support/devices.ts";

const F = dyn.nn.functional;

type Program = (...args: Tensor[]) => Tensor | readonly Tensor[];

/** Everything that can be seen of a result; an error by its words. */
function seen(run: () => Tensor | readonly Tensor[]): string {
  const text = (each: Tensor): string => {
    const elements = Array.from(each.detach().toTypedArray(), Number).map((x) => x.toPrecision(5));
    return `${each.dtype}[${each.shape}] ${elements}`;
  };
  try {
    const result = run();
    return isTensor(result) ? text(result) : result.map(text).join("; ");
  } catch (error) {
    return String(error);
  }
}

const int64 = { dtype: "int64" } as const;

/** Programs with shapes of their arguments, or arguments, for every call. */
const KNOWN: Readonly<Record<string, readonly [Program, ...(readonly (readonly number[] | Tensor)[])[]]>> = {
  "a product of nothing": [(a, b) => a!.matmul(b!), [[0, 0], [5, 0, 0]], [[2, 1], [2, 4, 1, 6]], [[0, 1], [
    0,
    4,
    1,
    6,
  ]]],
  "a sum over nothing": [(a, b) => a!.matmul(b!).add(1), [[3, 0], [0, 2]]],
  "a contraction": [(x) => einsum("ij,kj->ik", [x!, x!]), [[8, 4]], [[0, 4]], [[4, 0]]],
  "scores": [(x) => x!.matmul(x!.transpose(-1, -2)).softmax(-1), [[2, 6]], [[0, 6]]],
  "attention": [(q) => F.scaledDotProductAttention(q!, q!, q!), [[1, 2, 0, 4]], [[0, 2, 3, 4]]],
  "an empty slice, turned": [(x) => x!.slice(1, 2, 2, 3).flip([0, 1]).unsqueeze(-3), [[2, 2]]],
  "an empty slice, written": [(x) => {
    const view = x!.slice(1, 33, 33, 2);
    view.reshape([-1]).add_(1);
    return view;
  }, [[2, 33, 4]]],
  "an index without elements": [(x, i) => x!.gather(0, i!), [[4], zeros([2, 0], { dtype: "uint8" })]],
  "parts picked by nothing": [(x, i) => x!.indexSelect(0, i!), [[3, 2], tensor([], int64)]],
  "rows of nothing": [(i) => F.embedding(i!, i!.newOnes([4, 2]).float()), [zeros([0, 3], int64)]],
  "reductions": [(x) => [x!.sum(), x!.sum(0), x!.mean(1), x!.prod(), x!.any()], [[0, 3]], [[3, 0]]],
  "extremes": [(x) => x!.max(1).values, [[0, 3]], [[3, 0]]],
  "a convolution": [(x) => F.conv2d(x!, x!.newOnes([2, 3, 3, 3])), [[0, 3, 5, 5]]],
  "joined": [(x, y) => cat([x!, y!], 1).mul(2), [[2, 0], [2, 3]], [[2, 0], [2, 0]]],
  "sorted": [(x) => x!.sort().values, [[2, 0]], [[0, 2]]],
  "running sums": [(x) => x!.cumsum(1), [[2, 0]], [[0, 2]]],
  "rearranged": [(x) => [x!.roll(1, 1), x!.repeat([2, 2]), x!.flip([1]), x!.tril(), x!.unfold(0, 1, 1)], [[
    2,
    0,
  ]]],
  "padded and normalised": [(x) => [F.pad(x!, [1, 1]), F.layerNorm(x!, [0]), x!.logSoftmax(1)], [[2, 0]]],
};

/** Programs over [n, 3], part of which is [n − 2, 3]. */
const LATER: Readonly<Record<string, (part: Tensor, whole: Tensor) => Tensor | readonly Tensor[]>> = {
  "a product": (x) => x.matmul(x.transpose(0, 1)),
  "a sum over it": (x) => x.transpose(0, 1).matmul(x),
  "scores": (x) => x.matmul(x.transpose(0, 1)).softmax(-1),
  "a contraction": (x) => einsum("ij,kj->ik", [x, x]),
  "reshaped and turned": (x) => x.transpose(0, 1).reshape([-1]).mul(2).reshape([3, -1]).flip([1]),
  "sums": (x) => [x.sum(0), x.sum(1), x.mul(2).transpose(0, 1).reshape([-1]).sum()],
  "a convolution": (x) => F.conv1d(F.pad(x.reshape([1, 3, -1]), [1, 1]), x.newOnes([2, 3, 2])),
  "sorted": (x) => x.sort(0).values,
  "rolled": (x) => x.roll(1, 0).repeat([2, 1]),
  "joined": (x, whole) => cat([x, whole, x]).add(1),
  "running sums": (x) => [x.cumsum(0), x.cumsum(1)],
  "written": (x, whole) => {
    const y = whole.mul(1);
    y.slice(0, 2).add_(x);
    return y;
  },
  "differences": (x) => [x.diff(1, 0), x.diff(2, 0)],
  "logarithms of sums": (x) => [x.logsumexp(1), x.logSoftmax(0)],
  "distances": (x, whole) => dyn.cdist(x, whole),
  "an integral": (x) => dyn.trapezoid(x, { dim: 0 }),
};

function checkKnown(names: readonly string[], device: string): void {
  for (const name of names) {
    const [program, ...calls] = KNOWN[name] ?? [];
    if (!program) throw new Error(name);
    const compiled = compile(program, { fullgraph: true });
    for (const call of calls) {
      const made = () => {
        manualSeed(1);
        return call.map((each) => isTensor(each) ? each.to(device) : randn([...each], { device }));
      };
      assertEquals(seen(() => compiled(...made())), seen(() => program(...made())), name);
    }
  }
}

function checkLater(names: readonly string[], device: string): void {
  for (const name of names) {
    const part = LATER[name] ?? ((x) => x);
    const program = (whole: Tensor) => part(whole.slice(0, 2), whole);
    const compiled = compile(program, { dynamic: true, fullgraph: true });
    for (const size of [6, 4, 2, 3]) {
      manualSeed(size);
      const whole = randn([size, 3], { device });
      assertEquals(seen(() => compiled(whole)), seen(() => program(whole)), `${name} of ${size - 2}`);
    }
  }
}

Deno.test("compiled graphs of tensors without elements", () => checkKnown(Object.keys(KNOWN), "wasm"));

Deno.test("sizes that become 0 in a later call", () => checkLater(Object.keys(LATER), "wasm"));

Deno.test({
  name: "sizes of 0 in C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    checkKnown(["an empty slice, turned", "an empty slice, written", "attention"], "cpu");
    checkLater(["reshaped and turned", "scores"], "cpu");
  },
});

Deno.test("norms of matrices without elements, and their condition numbers, are 0 as in PyTorch", () => {
  const { cond, matrixNorm } = dyn.linalg;
  for (
    const [shape, orders] of [[[0, 3], [1, -1, 2]], [[3, 0], [-Infinity, 1, 2]], [[0, 0], [
      Infinity,
    ]]] as const
  ) {
    for (const order of [...orders, Infinity, "nuc", "fro"] as const) {
      assertEquals(matrixNorm(zeros([2, ...shape]), order).tolist(), [0, 0], `order ${order} of [${shape}]`);
    }
  }
  for (const order of [null, 1, -1, 2, -2, -Infinity, "nuc", "fro"] as const) {
    assertEquals(cond(zeros([2, 0, 0]), order).tolist(), [0, 0], `order ${order}`);
  }
  assertEquals(seen(() => matrixNorm(zeros([0, 3]), -2)).slice(0, 23), "DynError: Expected amin");
});

Deno.test("tensors without elements are written to in any layout, in a graph as plainly", () => {
  const writes: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    add: (x) => x.add_(1),
    relu: (x) => x.relu_(),
    leakyRelu: (x) => F.leakyRelu(x, 0.1, true),
    "of a view": (x) => x.unsqueeze(0).expand([2, 3, 0]).mul_(2),
  };
  for (const [name, write] of Object.entries(writes)) {
    const given = () => zeros([1, 0]).expand([3, 0]);
    const compiled = compile(write, { backend: "aot_eager", fullgraph: true });
    assertEquals(compiled(given()).shape, write(given()).shape, name);
  }
});
