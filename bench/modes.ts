/**
 * The effect of the options of `compile`, each compared with the default in the same run: "staticResults" with dropped
 * results, "max-autotune" with a transposed access.
 *
 *   deno run -A cli.ts bench modes
 */
import { compile, type Mode, randn, type Tensor } from "../mod.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import "./support/native.ts";

const wide = randn([4096, 1024]), square = randn([512, 512]), batch = randn([8, 512, 96]);

console.log(describeMachine());

const softmax = (x: Tensor) => x.softmax(-1);
const usual = compile(softmax), reduced = compile(softmax, { options: { staticResults: true } });
report(
  "softmax 4096×1024",
  await measure({
    "default, dropped": () => {
      usual(wide);
    },
    "default, using": () => {
      using _result = usual(wide);
    },
    "staticResults, dropped": () => {
      reduced(wide);
    },
  }),
  "default, using",
);

for (
  const [name, fn, x] of [
    ["transpose 512×512", (x: Tensor) => x.t().contiguous(), square],
    ["x + xᵀ, 512×512", (x: Tensor) => x.add(x.t()), square],
    ["permute 8×512×96", (x: Tensor) => x.permute(2, 0, 1).mul(2).contiguous(), batch],
    ["tanh 512×512", (x: Tensor) => x.tanh(), square],
  ] as const
) {
  const timed = (mode: Mode) => {
    const compiled = compile(fn, { mode });
    return () => {
      using _result = compiled(x);
    };
  };
  report(
    name,
    await measure({ default: timed("default"), "max-autotune": timed("max-autotune") }),
    "default",
  );
}
