/** Backward passes that follow sizes and numbers which depend on elements belong to the graph. */
import { brokenLateBackward, lateBackward } from "./programs/late_backward.ts";
import { assert, assertEquals } from "@std/assert";
import { compile, compiler, config, manualSeed, nn, randn, type Tensor } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import "./support/turns/gradients.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(brokenLateBackward, BACKENDS, [9, 17]);
registerUnbroken(lateBackward, BACKENDS, [9, 17]);

Deno.test("code around a mask is compiled if the tape takes the gradient, and hooks of leaves run once per pass", () => {
  const train = (compiled: boolean) => {
    manualSeed(1);
    const model = new nn.Linear(3, 1), seen: number[] = [];
    model.weight.registerHook((grad: Tensor) => {
      seen.push(grad.numel());
      return grad.mul(2);
    });
    const step = (x: Tensor) => {
      model.zeroGrad();
      const out = nn.functional.dropout(model.call(x), 0.5);
      const loss = out.maskedSelect(out.gt(-9)).square().sum();
      loss.backward();
      return loss.detach();
    };
    return config.patch({ captureScalarOutputs: true, captureDynamicOutputShapes: true }, () => {
      const before = counters.get("inductor", "graphs"), run = compiled ? compile(step) : step;
      const losses = [1, 2].map(() => Number(run(randn([4, 3])).item()));
      if (compiled) assertEquals(compiler.status(run).graphBreaks, 0);
      return {
        losses,
        grad: model.weight.grad?.tolist(),
        seen,
        graphs: counters.get("inductor", "graphs") - before,
      };
    });
  };
  const { graphs: none, ...plain } = train(false), { graphs, ...found } = train(true);
  assertEquals(found, plain);
  // Forward, backward, and what adds up gradients
  assert(none === 0 && graphs >= 4, `Expected compiled parts but found ${graphs}`);
});
