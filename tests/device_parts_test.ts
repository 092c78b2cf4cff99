/** Graphs over tensors on the CPU and on a GPU: one graph, of which each device runs its part. */
import { assertEquals } from "@std/assert";
import { compile, compiler, init, manualSeed, nn, optim, randn, type Tensor, tensor } from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { assertClose } from "./support/close.ts";
import { shown } from "./support/shown.ts";
import { stderrOf } from "./support/stderr.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** A program over a tensor on the GPU, one on the CPU, one of a single element there, and a number that changes. */
type Program = (there: Tensor, here: Tensor, one: Tensor, n: number) => unknown;

const dropout = (x: Tensor): Tensor => nn.functional.dropout(x, 0.5);

const PROGRAMS: Readonly<Record<string, Program>> = {
  "results on both": (there, here) => [there.mul(2), here.exp(), there.sum()],
  "results here that nothing there reads": (there, here) => here.sum().add(there.numel()),
  "an element that scales": (there, _, one) => there.mul(one).add(one),
  "an element computed here": (there, here, one) => there.mul(one.add(1)).sub(here.sum()),
  "parts that follow each other": (there, here, one) => {
    const scaled = there.mul(one.exp()), shifted = here.add(one.exp().neg());
    return [scaled.sum(), shifted, scaled.mul(shifted.mean())];
  },
  "numbers beside both": (there, here, _, n) => [there.mul(n), here.mul(n), there.sum().mul(n)],
  "writes on both": (there, here, one) => {
    here.add_(1);
    const view = there.flatten().narrow(0, 0, 2);
    view.mul_(one);
    return [there.add(1), here];
  },
  "random numbers on both": (there, here) => [dropout(there), dropout(here)],
  "gradients on both": (there, here, one, n) => {
    const [x, y, s] = [there, here, one].map((each) => each.detach().clone().requiresGrad_());
    if (!x || !y || !s) return null;
    const loss = x.mul(s).pow(2).sum().mul(n);
    loss.backward();
    y.exp().mul(s).sum().backward();
    return [loss.detach(), x.grad, y.grad, s.grad];
  },
  "moves there and back": (there, here, one) => {
    const moved = here.mul(2).to("webgpu"), back = there.add(moved).cpu();
    return [moved, back.mul(one), back.to("webgpu").sum(), there.to("webgpu").add(1), here.to("cpu").add(1)];
  },
  "writes to what was moved": (there, here) => {
    const copy = here.to("webgpu"), view = there.view(-1).narrow(0, 0, 3);
    copy.mul_(3);
    const before = there.cpu();
    view.add_(copy);
    here.copy_(copy);
    return [copy, before, there.cpu(), here];
  },
  "moves and types": (there, here) => [
    here.double().add(1).float().to("webgpu").add(there),
    there.to("cpu", "float64").sum(),
    there.gt(0).cpu().any().to("webgpu"),
  ],
  "shapes without elements": (there, here) => [there.to("meta").add(1).shape, here.to("meta").sum(0).shape],
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test({
    name: `a graph on two devices: ${name}`,
    ignore: SKIP_WEBGPU,
    async fn() {
      await init({ device: "webgpu" });
      const run = (f: Program, n: number): unknown => {
        manualSeed(2);
        const [there, here] = [randn([2, 3]).to("webgpu"), randn([3])];
        return shown([f(there, here, tensor(0.5), n), there, here]);
      };
      const f = compile(program);
      const said = stderrOf(() => {
        for (const n of [1.5, 2.5, 3.5]) assertClose(run(f, n), run(program, n), name);
      });
      const { graphBreaks, givenUp } = compiler.status(f);
      assertEquals({ said, graphBreaks, givenUp }, { said: "", graphBreaks: 0, givenUp: null });
    },
  });
}

/** A model of which one layer is on the GPU. */
class Divided extends nn.Module {
  readonly there = new nn.Linear(4, 8, { device: "webgpu" });
  readonly here = new nn.Linear(8, 2, { device: "cpu" });
  readonly dropout = new nn.Dropout(0.1);

  override forward(x: Tensor): Tensor {
    const hidden = this.dropout.call(this.there.call(x.to("webgpu")).relu());
    return this.here.call(hidden.cpu());
  }
}

testInTurn("models on two devices", {
  name: "a training step of a model on two devices is one graph",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device: "webgpu" });
    const losses = (isCompiled: boolean): readonly unknown[] => {
      manualSeed(3);
      const model = new Divided(), optimizer = new optim.Adam(model.parameters(), { lr: 0.05 });
      const step = (x: Tensor, target: Tensor): Tensor => {
        optimizer.zeroGrad();
        const loss = nn.functional.mseLoss(model.call(x), target);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1);
        optimizer.step();
        return loss.detach();
      };
      const run = isCompiled ? compile(step, { fullgraph: true }) : step;
      const made = Array.from({ length: 4 }, () => run(randn([6, 4]), randn([6, 2])).item());
      if (isCompiled) assertEquals(compiler.status(run).graphs, 1);
      return made;
    };
    assertClose(losses(true), losses(false), "losses");
  },
});
