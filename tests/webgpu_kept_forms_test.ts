/** Forms of weights that programs on WebGPU keep: how long they live, and results while weights change. */
import { assert, assertEquals } from "@std/assert";
import { findDevice } from "../lib/loops/device.ts";
import { compile, full, init, manualSeed, nn, noGrad, randn, type Tensor } from "../mod.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { testSeed } from "./support/sampling.ts";

const { linear, conv2d } = nn.functional;

/** Bytes of tensors on the device. */
const allocated = () => findDevice("webgpu")?.memoryUse.allocated ?? 0;

/** An inference with one weight, which it keeps in another form. */
interface Case {
  readonly weight: readonly number[];
  readonly input: readonly number[];
  readonly run: (x: Tensor, weight: Tensor) => Tensor;
}

const CASES: Readonly<Record<string, Case>> = {
  "a transposed weight": {
    weight: [128, 512],
    input: [70, 512],
    run: (x, weight) => linear(x, weight).relu(),
  },
  "filters": {
    weight: [128, 8, 3, 3],
    input: [4, 8, 28, 28],
    run: (x, weight) => conv2d(x, weight, null, 1, 1),
  },
};

function check(found: Tensor, { run }: Case, [x, weight]: readonly [Tensor, Tensor]): void {
  const off = found.to("cpu").double().sub(run(x.double(), weight.double())).abs().max().item();
  assert(off < 1e-3, `Expected the results of float64 but found some off by ${off}`);
}

for (const [name, each] of Object.entries(CASES)) {
  Deno.test({
    name: `programs without gradients keep ${name} until it changes, and give it up where memory is scarce`,
    ignore: SKIP_WEBGPU,
    async fn() {
      await init({ device: "webgpu" });
      manualSeed(testSeed());
      const x = randn(each.input), weight = randn(each.weight), onDevice = x.to("webgpu");
      const kept = weight.to("webgpu"), compiled = compile(each.run), other = compile(each.run);
      const call = (run: typeof compiled, by = kept): Tensor => noGrad(() => run(onDevice, by));
      /** Bytes that a call adds, but for its result. */
      const added = (run: typeof compiled, values = weight, by = kept): number => {
        const before = allocated(), found = call(run, by);
        check(found, each, [x, values]);
        found[Symbol.dispose]();
        return allocated() - before;
      };
      // Contents that are seen once may change each time
      assertEquals(added(compiled), 0);
      const bytes = added(compiled);
      assert(bytes >= 4 * weight.numel(), `Expected a kept form but found ${bytes} bytes`);
      assertEquals([added(compiled), added(other)], [0, 0], "Programs share the form, which has been made");
      noGrad(() => kept.mul_(2));
      const twice = weight.mul(2);
      assertEquals([added(compiled, twice), added(compiled, twice), added(other, twice)], [0, bytes, 0]);
      // Another part of a memory is another form
      const two = randn([2, ...each.weight]), both = two.to("webgpu");
      for (const at of [0, 1]) {
        const [part, own] = [two.select(0, at), both.select(0, at)];
        assertEquals([added(compiled, part, own), added(compiled, part, own)], [0, bytes]);
        assertEquals(added(compiled, part, own), 0);
      }
      const { memoryUse } = findDevice("webgpu") ?? {};
      assert(memoryUse);
      memoryUse.releaseUnused();
      memoryUse.limit = memoryUse.reserved;
      try {
        const before = allocated(), large = randn([bytes / 2]).to("webgpu");
        assertEquals(allocated() - before, 2 * bytes - 3 * bytes, "Forms yield to tensors");
        memoryUse.limit = 2 ** 30;
        assertEquals([added(compiled, twice), added(compiled, twice)], [0, 0]);
        large[Symbol.dispose]();
        // Memory that forms get anew has held something else
        const others = Array.from({ length: 4 }, () => full([bytes / 4], NaN, { device: "webgpu" }));
        for (const other of others) other[Symbol.dispose]();
      } finally {
        memoryUse.limit = undefined;
      }
      assertEquals([added(compiled, twice), added(compiled, twice)], [bytes, 0]);
    },
  });
}

Deno.test({
  name: "programs whose calls need gradients keep nothing",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device: "webgpu" });
    const x = randn([70, 512]).to("webgpu"), weight = randn([128, 512]).to("webgpu").requiresGrad_();
    const compiled = compile((x: Tensor) => linear(x, weight).sum());
    const before = allocated();
    for (let k = 0; k < 3; k++) compiled(x)[Symbol.dispose]();
    assertEquals(allocated(), before);
  },
});
