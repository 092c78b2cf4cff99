/**
 * Random programs about the gradient tape, plain and compiled: views, writes in place, switched leaves, hooks and
 * backward passes, with graph breaks at random places. A gradient may be refused, but never be one of other values.
 */
import { assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { compile, compiler, noGrad, ones, type Tensor, tensor } from "../mod.ts";
import { TAKES_ALL, testSeed } from "./support/sampling.ts";
import { drawTapeProgram, tapeDifference } from "./support/tape_programs.ts";

/** Programs of a run; DYN_TEST_TAPE_PROGRAMS asks for more. */
const PROGRAMS = Number(Deno.env.get("DYN_TEST_TAPE_PROGRAMS") ?? (TAKES_ALL ? 200 : 8));

const BACKENDS = ["aot_eager", "inductor", "eager"];

Deno.test("random programs of views, writes, hooks and passes see compiled what they see plainly", () => {
  const found = Array.from({ length: PROGRAMS }, (_, k) => {
    compiler.reset();
    const backend = BACKENDS[k % BACKENDS.length] ?? "inductor", program = drawTapeProgram(testSeed() + k);
    const found = config.patch({ inductor: { tier: "wasm" } }, () => tapeDifference(program, { backend }));
    return found === undefined ? [] : [`${backend}: ${found}`];
  });
  assertEquals(found.flat(), []);
});

Deno.test("a view whose memory is written after a hook was registered in the same graph has lost the hook", () => {
  const run = (x: Tensor) => {
    const view = x.view(2, 3);
    compiler.graphBreak();
    view.registerHook((grad) => grad.mul(2));
    noGrad(() => x.detach().zero_());
    return view;
  };
  for (const fn of [run, compile(run, { backend: "aot_eager" })]) {
    const x = ones([2, 3], { requiresGrad: true });
    fn(x).sum().backward();
    // As PyTorch 2.11
    assertEquals(x.grad?.tolist(), [[1, 1, 1], [1, 1, 1]]);
  }
});

Deno.test("a gradient that needs no overwritten value comes from the graph that has saved it for others", () => {
  const run = (x: Tensor, w: Tensor) => [x.mul(1.5), x.mul(w)];
  for (const backend of ["aot_eager", "inductor"]) {
    compiler.reset();
    const x = tensor([1, 2], { requiresGrad: true }), w = tensor([3, 4], { requiresGrad: true });
    const [scaled, product] = compile(run, { backend })(x, w);
    noGrad(() => x.mul_(2));
    scaled?.sum().backward(undefined, { retainGraph: true });
    assertEquals(x.grad?.tolist(), [1.5, 1.5]);
    let message = "";
    try {
      product?.sum().backward();
    } catch (error) {
      message = error instanceof Error ? error.message : "";
    }
    assertEquals(message.slice(0, 40), "One of the variables needed for gradient");
  }
});

Deno.test("detach_ of a view is an error in a graph as well", () => {
  const run = (x: Tensor) => {
    const double = x.mul(2), view = double.narrow(0, 0, 1);
    try {
      return [double, view.detach_()];
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 40) : null;
    }
  };
  assertEquals(compile(run, { backend: "aot_eager" })(ones([2])), run(ones([2])));
  const whole = compile((x: Tensor) => x.mul(2).detach_(), { backend: "aot_eager", fullgraph: true });
  assertEquals(whole(ones([2])).tolist(), [2, 2]);
});
