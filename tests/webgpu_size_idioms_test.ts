/** Programs with sizes that change between calls, on WebGPU: as many versions as on the CPU, with the results of plain calls. */
import { assert } from "@std/assert";
import { compile, compiler, init, isTensor, type Tensor } from "../mod.ts";
import { assertClose } from "./support/close.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { shown } from "./support/shown.ts";
import { SIZE_IDIOMS } from "./support/size_idioms.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Idioms that make no tensors beside their input, which would be on the CPU. */
const OF_ONE_DEVICE = SIZE_IDIOMS.filter(([name]) =>
  /pooling|^global|^patches|^maxima back|^powers|^spectra|by spectra|^there|^planar|^partition|overlap|slice|^the largest share|^halves/
    .test(name)
);

const onCpu = (value: unknown): unknown =>
  isTensor(value) ? value.cpu() : Array.isArray(value) ? value.map(onCpu) : value;

Deno.test({
  name: "idioms of sizes on WebGPU have as many versions as on the CPU",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device: "webgpu" });
    for (const [name, { run, input, versions, sizes }] of sampleBySeed(OF_ONE_DEVICE, 2)) {
      const f = compile(run),
        outcome = (fn: (x: Tensor, n: number) => unknown, n: number) =>
          shown(onCpu(fn(input(n).to("webgpu"), n)));
      for (const n of sizes.slice(0, 4)) assertClose(outcome(f, n), outcome(run, n), `${name} ${n}`);
      const { graphs, graphBreaks, givenUp } = compiler.status(f);
      assert(graphs <= versions && graphBreaks === 0 && givenUp === null, `${name}: ${graphs} versions`);
    }
  },
});
