/** Behaviour of captured functions as PyTorch's first descriptions of its compiler have it: rows S6, S36, S38, S46 and S52. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { autocast, compile, compiler, type fx, nn, noGrad, ones, type Tensor, tensor } from "../../mod.ts";

/** A backend that runs op by op and keeps the graphs that it is given. */
function keeping(): { readonly backend: fx.GraphBackend; readonly graphs: fx.GraphModule[] } {
  const graphs: fx.GraphModule[] = [];
  return { graphs, backend: (gm) => (graphs.push(gm), gm.forward.bind(gm)) };
}

/** The operations of a graph, by name. */
const operations = (gm: fx.GraphModule): string[] =>
  gm.graph.nodes.filter(({ op }) => op.startsWith("call_")).map(({ target }) => target);

Deno.test("S6: calls with a, a, b and b leave one, one, two and two entries", () => {
  class Doubled extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.mul(2).exp();
    }
  }
  class Negated extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.neg().exp();
    }
  }
  const f = compile((x: Tensor, module: Doubled | Negated) => module.call(x).log(), { backend: "eager" });
  const a = new Doubled(), b = new Negated(), x = tensor([1.5]);
  const counts = [a, a, b, b].map((module) => {
    const found = f(x, module).item();
    return [found, compiler.cacheEntries(f).length];
  });
  assertEquals(counts, [[3, 1], [3, 1], [-1.5, 2], [-1.5, 2]]);
});

Deno.test("S36: the code after a break takes what is live, under the name of its function", () => {
  const { backend, graphs } = keeping();
  const cut = compiler.disable(() => {});
  const f = compile(function toy(a: Tensor, b: Tensor): Tensor {
    const _unused = a.sin(), used = a.div(b.abs().add(1));
    cut();
    return used.mul(b);
  }, { backend });
  f(ones(2), ones(2));
  const [, after] = graphs;
  assertEquals(after?.graph.placeholders.map(({ target }) => target).sort(), ["l_b_", "l_used_"]);
  const [[name = "", [entry] = []] = []] = compiler.resumeEntries(f);
  assertMatch(name, /^__resume_at_\d+_1$/);
  assertMatch(entry?.code ?? "", /^function resume_at_\d+_1\(b, used\) {/);
});

Deno.test("S38: calls of native code end the graph, and run with the values of the call", () => {
  const { backend, graphs } = keeping(), called: number[] = [];
  const pointer = new Deno.UnsafeCallback({ parameters: ["f64"], result: "f64" }, (value) => {
    called.push(value);
    return value / 2;
  });
  const half = new Deno.UnsafeFnPointer(pointer.pointer, { parameters: ["f64"], result: "f64" });
  const f = compile((x: Tensor, k: number) => x.add(1).mul(half.call(k)), { backend });
  try {
    assertEquals([f(tensor([1.5]), 3).item(), f(tensor([3.5]), 3).item()], [3.75, 6.75]);
  } finally {
    pointer.close();
  }
  assertEquals([called, graphs.map(operations)], [[3, 3], [["add"], ["mul"]]]);
});

Deno.test("S46: modes of gradients and of casts are guarded", () => {
  const f = compile((x: Tensor) => x.matmul(x).sum(), { backend: "eager" });
  const x = ones(2, 2).requiresGrad_();
  assert(f(x).requiresGrad);
  assert(!noGrad(() => f(x)).requiresGrad);
  assertEquals(compiler.cacheEntries(f).length, 2);
  assertEquals(autocast("cpu", { dtype: "bfloat16" }, () => f(x)).dtype, "bfloat16");
  assertEquals(compiler.cacheEntries(f).length, 3);
});

Deno.test("S52: run uses the entries that there are, and compiles nothing", () => {
  const { backend, graphs } = keeping(),
    f = compile((x: Tensor) => x.mul(2).sum(), { backend, dynamic: false });
  const frozen = compiler.run(f);
  assertEquals([frozen(tensor([1, 2])).item(), graphs.length], [6, 0]);
  f(tensor([1, 2]));
  assertEquals([frozen(tensor([3, 4])).item(), graphs.length, compiler.cacheEntries(f)[0]?.hits], [14, 1, 2]);
  assertEquals([frozen(tensor([1, 2, 3])).item(), graphs.length], [12, 1]);
});
