/** Programs whose graphs break inside of regions, and the number of their graphs. */
import { assertEquals } from "@std/assert";
import { autocast, compile, compiler, inferenceMode, noGrad, type Tensor, tensor } from "../mod.ts";
import { regions } from "./programs/regions.ts";
import { register } from "./support/programs.ts";

register(regions, ["eager", "aot_eager"], [2, 5, 9, 14, 20]);

Deno.test("a break inside a region splits the graph there and leaves nothing uncompiled", () => {
  const look = compiler.disable(() => {});
  const programs: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    noGrad: (x) =>
      noGrad(() => {
        const y = x.mul(2);
        look();
        return y.sin();
      }),
    inferenceMode: (x) =>
      inferenceMode(() => {
        const y = x.mul(2);
        look();
        return y.sin();
      }),
    "autocast, and behind it": (x) => {
      const y = autocast({ dtype: "bfloat16" }, () => {
        const t = x.mul(2);
        look();
        return t.sin();
      });
      return x.mul(y);
    },
  };
  for (const [name, program] of Object.entries(programs)) {
    const f = compile(program, { backend: "eager" });
    for (let i = 0; i < 3; i++) f(tensor([1, 2], { dtype: "float32" }));
    const { graphs, graphBreaks, uncompiled, recompiles } = compiler.status(f);
    assertEquals({ name, graphs, graphBreaks, uncompiled, recompiles }, {
      name,
      graphs: 2,
      graphBreaks: 1,
      uncompiled: [],
      recompiles: 0,
    });
  }
});
