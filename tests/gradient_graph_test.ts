/**
 * The graph that gradients flow through: its nodes, and hooks on several of its tensors. As PyTorch 2.15, which refuses
 * hooks on leaves in passes of `grad`.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, DynError, type Tensor, tensor } from "../mod.ts";

const { registerMultiGradHook } = autograd.graph;

/** The names of the nodes behind one, depth first, with those of leaves as their elements. */
function names(node: Tensor["gradFn"]): unknown {
  if (node === null) return null;
  if (node.variable) return node.variable.tolist();
  return [node.name, ...node.nextFunctions.map(([next]) => names(next))];
}

Deno.test("nodes name the functions that gradients flow to next", () => {
  const x = tensor([1, 2], { requiresGrad: true }), w = tensor([3, 4], { requiresGrad: true });
  const loss = x.mul(w).add(tensor([1, 1])).sum();
  assertEquals(names(loss.gradFn), ["SumBackward0", [
    "AddBackward0",
    ["MulBackward0", [1, 2], [3, 4]],
    null,
  ]]);
  const column = x.mul(2).view(2, 1);
  assertEquals(column.gradFn?.nextFunctions.map(([next, output]) => [next?.name, output]), [[
    "MulBackward0",
    0,
  ]]);
  assertEquals(x.detach().gradFn, null);
});

Deno.test("a hook on several gradients is called once they have arrived, in each pass", () => {
  const x = tensor([1, 2], { requiresGrad: true }), w = tensor([3, 4], { requiresGrad: true });
  const unused = tensor([5], { requiresGrad: true }),
    y = x.mul(w),
    seen: unknown[] = [],
    firsts: unknown[] = [];
  const handle = registerMultiGradHook([x, y, unused, w], (grads) => {
    seen.push(grads.map((grad) => grad?.tolist() ?? null));
  });
  registerMultiGradHook([y, x], (grad) => void firsts.push(grad.tolist()), { mode: "any" });
  y.sum().backward({ retainGraph: true });
  const whole = [[3, 4], [1, 1], null, [1, 2]];
  assertEquals(seen, [whole]);
  // A pass for some inputs reaches those
  autograd.grad(y.sum(), [w], { retainGraph: true });
  assertEquals(seen, [whole, [null, [1, 1], null, [1, 2]]]);
  autograd.grad(y.sum(), [x, w], { retainGraph: true });
  assertEquals(seen.length, 3);
  assertEquals(firsts, [[1, 1], [1, 1], [1, 1]]);
  handle.remove();
  y.sum().backward();
  assertEquals([seen.length, firsts.length], [3, 4]);
  for (const [list, at] of [[[x, tensor([1])], 1], [[tensor([1]), x], 0]] as const) {
    assertThrows(() => registerMultiGradHook(list, () => {}), DynError, `tensor ${at} does not`);
  }
  const unchecked: (...given: readonly unknown[]) => unknown = Function.prototype.call.bind(
    registerMultiGradHook,
    undefined,
  );
  assertThrows(() => unchecked([x], 3), Error, "a function of gradients");
  assertThrows(() => unchecked([x], () => {}, {}, 1), Error, "Expected at most 3 arguments");
});

Deno.test("compiled passes call hooks on several gradients, registered outside of them or inside", () => {
  for (const backend of ["eager", "aot_eager"]) {
    for (const inside of [false, true]) {
      const seen: unknown[] = [];
      const run = (compiled: boolean) => {
        const x = tensor([1, 2], { requiresGrad: true }), w = tensor([3, 4], { requiresGrad: true });
        const watch = () =>
          registerMultiGradHook([x, w], (grads) => void seen.push(grads.map((grad) => grad?.tolist())));
        const step = () => {
          if (inside) watch();
          x.mul(w).square().sum().backward();
          return x.sum();
        };
        if (!inside) watch();
        (compiled ? compile(step, { backend }) : step)();
        return [x.grad?.tolist(), w.grad?.tolist()];
      };
      assertEquals(run(true), run(false));
      assertEquals(seen, Array(2).fill([[18, 64], [6, 32]]), `${backend}, inside: ${inside}`);
    }
  }
});
