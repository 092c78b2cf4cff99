/**
 * Random programs about the gradient tape, plain and compiled: views, writes in place, switched leaves, hooks and
 * backward passes, with graph breaks at random places. A gradient may be refused, but never be one of other values.
 */
import { assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { autograd, compile, compiler, noGrad, ones, type Tensor, tensor } from "../mod.ts";
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

/** Programs with views that were taken without recording, and whose memory is written to since; numbers of breaks. */
const OUTDATED: Readonly<Record<string, readonly [breaks: number, run: (x: Tensor) => Seen]>> = {
  "returned": [1, (x) => {
    const view = noGrad(() => x.view(3, 2).t());
    noGrad(() => x.mul_(2));
    return [view];
  }],
  "of a result": [1, (x) => {
    const double = x.mul(2), view = noGrad(() => double.view(6));
    noGrad(() => double.mul_(2));
    return [view, double];
  }],
  "one of several": [1, (x) => {
    const [, row] = noGrad(() => x.unbind(0));
    noGrad(() => x.mul_(2));
    return [row?.mul(3)];
  }],
  "written to through itself": [1, (x) => {
    const view = noGrad(() => x.view(6).mul_(2));
    return [view.mul(3)];
  }],
  "written to through a detached tensor": [1, (x) => {
    const view = noGrad(() => x.view(6));
    x.detach().mul_(2);
    return [view.requiresGrad, view.isLeaf];
  }],
  "of what requires grad later": [2, (x) => {
    const copy = x.detach().clone(), view = copy.view(6);
    copy.mul_(2);
    copy.requiresGrad_();
    return [copy.mul(view.view(2, 3)).sum()];
  }],
  "of what requires no grad later": [1, (x) => {
    const view = noGrad(() => x.view(6));
    noGrad(() => x.mul_(2));
    x.requiresGrad_(false);
    return [view.mul(3)];
  }],
  "read without recording, and viewed again": [0, (x) => {
    const view = noGrad(() => x.view(6));
    noGrad(() => x.mul_(2));
    return noGrad(() => [view.mul(3), view.view(3, 2), view.detach()]);
  }],
  "that nothing reads": [0, (x) => {
    noGrad(() => x.select(0, 0).zero_());
    return [x.mul(3)];
  }],
};

type Seen = readonly (Tensor | boolean | undefined)[];

for (const [name, [breaks, run]] of Object.entries(OUTDATED)) {
  Deno.test(`an outdated view without a history, ${name}, has that of its base`, () => {
    const outcome = (fn: (x: Tensor) => Seen) => {
      const x = ones([2, 3], { requiresGrad: true });
      return fn(x).map((each): unknown => {
        if (typeof each !== "object") return each;
        const gradients = each.requiresGrad
          ? autograd.grad([each.sum()], [x], undefined, { allowUnused: true, retainGraph: true })
          : [];
        return [each.requiresGrad, each.isLeaf, each.tolist(), ...gradients.map((grad) => grad?.tolist())];
      });
    };
    for (const backend of ["eager", "aot_eager"]) {
      compiler.reset();
      const compiled = compile(run, { backend });
      assertEquals(outcome(compiled), outcome(run));
      assertEquals(compiler.status(compiled).graphBreaks, breaks);
    }
  });
}

Deno.test("whether an outdated view requires grad is known after its base was switched, also if it was asked before", () => {
  for (const asks of [false, true]) {
    const x = ones([2, 3]), view = x.view(6);
    x.mul_(2);
    if (asks) assertEquals(view.requiresGrad, false);
    x.requiresGrad_();
    // As PyTorch 2.11
    assertEquals(view.requiresGrad, true);
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
