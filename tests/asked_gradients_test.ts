/** Gradients taken inside compiled functions: in the graph if the whole path is in it, by the tape otherwise. */
import { assertMatch } from "@std/assert";
import { autograd, cat, compiler, ones, type Tensor } from "../mod.ts";
import { helped, whole } from "./programs/asked_gradients.ts";
import "./support/turns/programs.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(whole, BACKENDS, [3, 7, 12, 20]);
register(helped, BACKENDS, [3, 7, 12, 20]);
registerUnbroken(whole);

Deno.test("a gradient with gaps between its rows is told from one that shares memory", () => {
  const part = (x: Tensor, y: Tensor) => autograd.grad(cat([x, y], 1).square().sum(), x)[0];
  const shared = (x: Tensor, y: Tensor) => autograd.grad(x.add(y).sum(), [x, y]);
  const given = () => [ones([3, 1]).requiresGrad_(), ones([3, 1]).requiresGrad_()] as const;
  for (const [fn, why] of [[part, /is not row-major/], [shared, /shares memory/]] as const) {
    assertMatch(`${compiler.explain(fn)(...given()).breakReasons[0]?.explanation}`, why);
  }
});
