/** Transformed weights are kept between calls with equal weights, and never outlive them. */
import { assert, assertEquals } from "@std/assert";
import { compile, type CompileOptions, enableGrad, nn, noGrad, optim, randn, Tensor } from "../mod.ts";
import { hostPool } from "../backends/cpu/memory_pool.ts";
import { received } from "../lib/distributed/staging.ts";
import { tensorOver } from "../lib/tensor/sharing.ts";

const native: CompileOptions = { options: { tier: "wait", errorOnFallback: true } };
const CHANNELS = 32, SIZE = [CHANNELS, CHANNELS, 3, 3];

/** The number of bytes of filled forms of a tensor's memory. */
function keptOf({ storage }: Tensor): number {
  const forms = [...storage.forms.values()].filter(({ isFilled }) => isFilled);
  return forms.reduce((sum, { memory }) => sum + (memory?.byteLength ?? 0), 0);
}

const image = () => randn([1, CHANNELS, 8, 8]);
const compiled = () => compile((x: Tensor, w: Tensor) => nn.functional.conv2d(x, w, null, 1, 1), native);

Deno.test("transformed weights are kept from the second call on, with the same bits", () => {
  const w = randn(SIZE), f = compiled(), x = image(), first = f(x, w);
  assertEquals(keptOf(w), 0);
  for (const _ of [1, 2]) {
    assertEquals(f(x, w).tolist(), first.tolist());
    assert(keptOf(w) >= w.numel() * 4, "kept");
  }
});

Deno.test("packed weights of products give the same bits, until they are written to", () => {
  const w = randn([256, 128]),
    f = compile((x: Tensor, w: Tensor) => x.matmul(w.t()), native),
    x = randn([64, 128]);
  for (const _ of [1, 2]) {
    const first = f(x, w).tolist();
    for (const _ of [2, 3]) assertEquals(f(x, w).tolist(), first);
    const error = f(x, w).sub(x.double().matmul(w.double().t())).abs().max().item();
    assert(Number(error) < 1e-4, `an error of ${error}`);
    w.copy_(randn([256, 128]));
    assertEquals(keptOf(w), 0);
  }
});

Deno.test("whatever writes to weights ends what is kept of them", () => {
  const conv = new nn.Conv2d(CHANNELS, CHANNELS, 3, { padding: 1 }), f = compile(conv, native);
  const w = conv.weight, x = image(), target = image();
  const changes: Record<string, () => unknown> = {
    "in place": () => w.mul_(2),
    "through a view": () => w.view(-1).narrow(0, 0, 9).zero_(),
    "a state": () => conv.loadStateDict(new nn.Conv2d(CHANNELS, CHANNELS, 3).stateDict()),
    "an optimizer": () =>
      enableGrad(() => {
        const optimizer = new optim.SGD(conv.parameters(), { lr: 0.1 });
        conv.call(x).sub(target).square().mean().backward();
        optimizer.step();
      }),
    "a compiled write": () => compile((w: Tensor) => void w.add_(1), native)(w.detach()),
  };
  for (const [name, change] of Object.entries(changes)) {
    noGrad(() => {
      for (const _ of [1, 2, 3]) f(x);
      assert(keptOf(w) > 0, `kept before ${name}`);
      change();
      assertEquals(keptOf(w), 0, `kept after ${name}`);
      for (const _ of [1, 2, 3]) {
        const error = f(x).sub(conv.call(x)).abs().max().item();
        assert(Number(error) < 1e-4, `${name}: an error of ${error}`);
      }
    });
  }
});

Deno.test("weights that share memory, and calls of other sizes, keep forms of their own", () => {
  const both = randn([2, ...SIZE]), f = compiled(), g = compiled();
  for (const x of [image(), randn([1, CHANNELS, 12, 12])]) {
    for (const _ of [1, 2, 3]) {
      for (const w of both.unbind()) {
        const error = f(x, w).sub(nn.functional.conv2d(x, w, null, 1, 1)).abs().max().item();
        assert(Number(error) < 1e-3, `an error of ${error}`);
        assertEquals(f(x, w).tolist(), g(x, w).tolist());
      }
    }
  }
  assert(keptOf(both) >= both.numel() * 4, "kept");
});

Deno.test("nothing is kept of weights that are trained, released, or written by other threads", () => {
  const w = randn(SIZE, { requiresGrad: true }), f = compiled(), x = image();
  for (const _ of [1, 2, 3]) f(x, w).sum().backward();
  assertEquals(w.storage.forms.size, 0);
  const buffer = new SharedArrayBuffer(w.numel() * 4);
  const shared = tensorOver({ dtype: "float32", shape: SIZE, buffer });
  noGrad(() => shared.copy_(w));
  for (const _ of [1, 2, 3]) noGrad(() => f(x, shared));
  assertEquals(keptOf(shared), 0);
  const { tensor, after } = received(w.detach(), false);
  noGrad(() => {
    for (const _ of [1, 2]) f(x, tensor);
    assert(keptOf(tensor) > 0, "kept while a message arrives");
    after?.();
    assertEquals(keptOf(tensor), 0);
  });
  const given = randn(SIZE);
  for (const _ of [1, 2, 3]) f(x, given);
  const { forms } = given.storage, [form] = forms.values();
  assert(form?.isFilled, "kept");
  given.storage.release();
  assertEquals(given.storage.forms.size, 0);
});

Deno.test("programs do not hold what is kept of dropped weights", () => {
  const f = compiled(), x = image();
  const use = () => {
    const w = randn(SIZE);
    for (const _ of [1, 2, 3]) f(x, w);
    return keptOf(w);
  };
  const inUse = () => (hostPool.releaseUnused(), hostPool.allocated);
  use();
  const before = inUse(), kept = use();
  assert(kept > 0 && inUse() < before + kept, "released");
});
