/**
 * The tape and its engine: accumulation, in-place writes, views, hooks, freeing, higher orders, custom functions.
 */
import { assert, assertAlmostEquals, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import "../backends/cpu/device.ts";
import "../lib/tensor/install.ts";
import * as autograd from "../lib/autograd/autograd.ts";
import { DynError } from "../lib/base/errors.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { ops } from "../lib/tensor/eager.ts";
import { enableGrad, isGradEnabled, noGrad } from "../lib/tensor/modes.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import "./support/turns/gradients.ts";

const leaf = (data: Parameters<typeof tensor>[0]): Tensor =>
  tensor(data, { dtype: "float64", requiresGrad: true });
const gradOf = (t: Tensor) => t.grad?.tolist() ?? null;

Deno.test("gradients accumulate into leaves and keep their storage", () => {
  const x = leaf([1, 2, 3]);
  x.mul(x).sum().backward();
  assertEquals(gradOf(x), [2, 4, 6]);
  const first = x.grad?.storage;
  x.mul(3).sum().backward();
  assertEquals(gradOf(x), [5, 7, 9]);
  assertStrictEquals(x.grad?.storage, first);
});

Deno.test("two leaves never share the memory of one gradient", () => {
  const x = leaf([1, 2]), y = leaf([3, 4]);
  x.add(y).sum().backward();
  x.add(y).mul(2).sum().backward();
  x.grad?.zero_();
  assertEquals(gradOf(y), [3, 3]);
});

Deno.test("a value that is used several times gets the sum of its gradients", () => {
  const x = leaf(2);
  const y = x.mul(x);
  y.mul(y).add(y).backward();
  assertEquals(gradOf(x), 4 * 8 + 4);
});

Deno.test("broadcast operands get gradients of their own shape", () => {
  const x = leaf([[1, 2, 3], [4, 5, 6]]), bias = leaf([1, 1, 1]), scale = leaf(2);
  x.mul(scale).add(bias).sum().backward();
  assertEquals(gradOf(bias), [2, 2, 2]);
  assertEquals(gradOf(scale), 21);
});

Deno.test("gradients are recorded only while recording is on and inputs require grad", () => {
  const x = leaf([1]);
  assertEquals(noGrad(() => x.mul(2)).requiresGrad, false);
  assertEquals(noGrad(() => enableGrad(() => x.mul(2))).requiresGrad, true);
  assertEquals(isGradEnabled(), true);
  assertThrows(() =>
    noGrad(() => {
      throw new DynError("Inside");
    }), DynError);
  assertEquals(isGradEnabled(), true);
  assertEquals(x.detach().mul(2).requiresGrad, false);
  assertEquals(x.mul(2).gradFn?.name, "MulBackward0");
  assertEquals(x.gt(0).requiresGrad, false);
  assertEquals(x.isLeaf, true);
});

Deno.test("requirements of backward are errors with a hint", () => {
  const x = leaf([1, 2]);
  assertThrows(() => x.mul(2).backward(), DynError, "scalar outputs");
  assertThrows(() => tensor([1]).backward(), DynError, "does not");
  assertThrows(() => tensor([1, 2]).requiresGrad_(), DynError, "floating type");
  assertThrows(() => x.mul(2).requiresGrad_(false), DynError, "detach()");
});

Deno.test("a graph is freed by its first pass unless it is retained", () => {
  const x = leaf([1, 2]);
  const y = x.mul(x).sum();
  y.backward(null, { retainGraph: true });
  y.backward();
  assertEquals(gradOf(x), [4, 8]);
  assertThrows(() => y.backward(), DynError, "a second time");
  // A second pass is an error where it needs what was freed, and right where it does not. (PyTorch refuses some of
  // the latter, such as x * 2, and allows others, such as x + 2, by what its formulas happen to keep.)
  const again = (f: (x: Tensor) => Tensor) => {
    const a = leaf([1, 2]), loss = f(a).sum();
    loss.backward();
    loss.backward();
    return gradOf(a);
  };
  for (const f of [(a: Tensor) => a.square(), (a: Tensor) => a.relu(), (a: Tensor) => a.exp()]) {
    assertThrows(() => again(f), DynError, "a second time");
  }
  assertEquals(again((a) => a.mul(2)), [4, 4]);
  assertEquals(again((a) => a.add(2).reshape([2, 1]).t()), [2, 2]);
  assertEquals(again((a) => a.mean()), [1, 1]);
});

Deno.test("results of split, unbind and chunk may be written in place, with the gradient of the written values", () => {
  // PyTorch refuses these writes
  const parts: readonly ((x: Tensor) => Tensor)[] = [
    (x) => x.split(2)[0] ?? x,
    (x) => x.split([1, 3])[1] ?? x,
    (x) => x.chunk(2)[1] ?? x,
    (x) => x.unbind(0)[2] ?? x,
    (x) => x.tensorSplit(2)[0] ?? x,
    (x) => [...x][1] ?? x,
  ];
  for (const part of parts) {
    const program = (x: Tensor | undefined, w: Tensor | undefined): Tensor => {
      if (!x || !w) throw new DynError("Expected two tensors");
      const base = x.mul(1), view = part(base), other = base.unbind(1)[0] ?? base;
      view.mul_(w).sin_();
      return base.mul(base).sum().add(other.mul(view.sum()).sum());
    };
    const x = leaf([[1, 2], [0.5, -1], [-0.3, 0.7], [1.5, -2]]);
    autograd.gradcheck((a, b) => program(a, b), [x, leaf([0.3, -0.6])]);
  }
});

Deno.test("saved tensors that changed in place are detected", () => {
  const x = leaf([1, 2]), y = x.mul(2), z = y.mul(y);
  y.add_(1);
  assertThrows(() => z.sum().backward(), DynError, "modified by an inplace operation");
  const a = leaf([1, 2]), out = a.exp();
  out.mul_(2);
  assertThrows(() => out.sum().backward(), DynError, "expected version 0 instead");
});

Deno.test("in-place ops are part of the history", () => {
  const x = leaf([1, 2]);
  const y = x.mul(2);
  y.mul_(3).add_(x);
  y.sum().backward();
  assertEquals(gradOf(x), [7, 7]);
  const a = leaf([3, 4]), b = a.mul(1);
  b.pow_(2);
  b.sum().backward();
  assertEquals(gradOf(a), [6, 8]);
  assertThrows(() => leaf([1]).add_(1), DynError, "a leaf that requires grad");
  assertThrows(() => leaf([1, 2]).at(0).add_(1), DynError, "view of a leaf");
});

Deno.test("writing a view in place rewrites the history of its base and of other views", () => {
  const x = leaf([1, 2, 3, 4]), scale = leaf([10, 20]);
  const base = x.mul(1), head = base.slice(0, 0, 2), all = base.view(2, 2);
  head.mul_(scale);
  assertEquals(base.gradFn?.name, "CopySlices");
  assertEquals(all.tolist(), [[10, 40], [3, 4]]);
  all.sum().backward();
  assertEquals(gradOf(x), [10, 20, 1, 1]);
  assertEquals(gradOf(scale), [1, 2]);
  const y = leaf([[1, 2], [3, 4]]), copy = y.clone();
  copy.t().at(0).copy_(tensor([5, 6], { dtype: "float64" }));
  assertEquals(copy.tolist(), [[5, 2], [6, 4]]);
  copy.sum().backward();
  assertEquals(gradOf(y), [[0, 1], [0, 1]]);
});

Deno.test("a base that starts to require grad through a view makes its views require grad", () => {
  const base = ops.zeros([3], { dtype: "float64" }), other = base.view(3), x = leaf(2);
  base.at(1).copy_(x);
  assert(base.requiresGrad && other.requiresGrad);
  other.mul(tensor([1, 5, 1])).sum().backward();
  assertEquals(gradOf(x), 5);
});

Deno.test("hooks see and replace gradients of leaves and of intermediate results", () => {
  const x = leaf([1, 2]), y = x.mul(2);
  const seen: unknown[] = [];
  const handle = y.registerHook((g) => void seen.push(g.tolist()));
  y.registerHook((g) => g.mul(10));
  x.registerHook((g) => g.neg());
  y.sum().backward(null, { retainGraph: true });
  assertEquals(seen, [[1, 1]]);
  assertEquals(gradOf(x), [-20, -20]);
  handle.remove();
  y.sum().backward();
  assertEquals(seen.length, 1);
  assertEquals(gradOf(x), [-40, -40]);
});

Deno.test("gradients of another shape or type are rejected if hooks, programs or a pass provide them", () => {
  const x = leaf([1, 2]);
  const wrong: readonly [hook: (g: Tensor) => Tensor, message: string][] = [
    [() => tensor([1.5]), "type float64, shape [2]"],
    [(g) => g.to("float32"), "found type float32, shape [2]"],
  ];
  for (const [hook, message] of wrong) {
    for (const heard of [x, x.mul(2)]) {
      const handle = heard.registerHook(hook);
      assertThrows(() => heard.mul(3).sum().backward(), DynError, message);
      handle.remove();
    }
    assertThrows(() => x.grad = hook(x.detach()), DynError, message);
  }
  const seen: number[] = [], push: (g: Tensor) => unknown = (g) => seen.push(g.numel());
  const handle = x.registerHook(push as (g: Tensor) => void);
  assertThrows(
    () => x.sum().backward(),
    DynError,
    "Expected a tensor for a gradient that a hook returns but found 1",
  );
  handle.remove();
  assertEquals(x.grad, null);
});

Deno.test("autograd.backward takes one tensor or several, with or without gradients", () => {
  const x = leaf([1, 2]), y = leaf([3, 4]), ones = tensor([1.5, 2.5], { dtype: "float64" });
  autograd.backward(x.mul(y).sum());
  autograd.backward([x.sum(), y.sum()], { inputs: x });
  autograd.backward(y.mul(2), ones);
  assertEquals([gradOf(x), gradOf(y)], [[4, 5], [4, 7]]);
  assertThrows(() => autograd.backward([x.sum(), y.sum()], [null]), DynError, "Expected 2 gradients");
  assertThrows(() => autograd.backward(x.mul(2)), DynError, "Expected a scalar output");
});

Deno.test("autograd.grad takes a batch of gradients of its outputs", () => {
  const x = leaf([1, 2]), y = x.pow(2), unused = leaf(0);
  const gradOutputs = tensor([[1, 0], [0, 1], [1, 1]], { dtype: "float64" });
  const options = { gradOutputs, isGradsBatched: true, allowUnused: true };
  const [found, none] = autograd.grad(y, [x, unused], options);
  assertEquals([found?.tolist(), none], [[[2, 0], [0, 4], [2, 4]], null]);
  assertThrows(() => autograd.grad(y, x, options), DynError, "second time");
});

Deno.test("retainGrad keeps the gradient of an intermediate result", () => {
  const x = leaf([1, 2]), y = x.mul(3);
  y.retainGrad();
  y.mul(y).sum().backward();
  assertEquals(gradOf(y), [6, 12]);
  assertEquals(gradOf(x), [18, 36]);
});

Deno.test("autograd.grad returns gradients and leaves .grad unchanged", () => {
  const x = leaf([1, 2]), y = leaf([3, 4]), unused = leaf([0]);
  const z = x.mul(y);
  const [gx, gy] = autograd.grad(z, [x, y], tensor([1, 10], { dtype: "float64" }), { retainGraph: true });
  assertEquals([gx?.tolist(), gy?.tolist()], [[3, 40], [1, 20]]);
  assertEquals(x.grad, null);
  const [gz] = autograd.grad(z.mul(2).sum(), [z], null, { retainGraph: true });
  assertEquals(gz?.tolist(), [2, 2]);
  assertThrows(() => autograd.grad(z.sum(), [unused], null, { retainGraph: true }), DynError, "allowUnused");
  assertEquals(autograd.grad(z.sum(), [unused], null, { allowUnused: true }), [null]);
});

Deno.test("gradients of gradients", () => {
  const x = leaf([0.5, 1.5]);
  const [first] = autograd.grad(x.sin().mul(x).sum(), [x], null, { createGraph: true });
  assert(first?.requiresGrad);
  const [second] = autograd.grad(first?.sum() ?? x, [x]);
  const expected = [0.5, 1.5].map((v) => 2 * Math.cos(v) - v * Math.sin(v));
  const found = Array.from<number | bigint, number>(second?.toTypedArray() ?? [], Number);
  expected.forEach((e, k) => assertAlmostEquals(found[k] ?? NaN, e, 1e-12));
  const y = leaf(3);
  y.mul(y).mul(y).backward(null, { createGraph: true });
  assertEquals(y.grad?.item(), 27);
  const [again] = autograd.grad(y.grad ?? y, [y]);
  assertEquals(again?.item(), 18);
});

Deno.test("long chains neither overflow nor retain used values", () => {
  const x = leaf(1);
  let y: Tensor = x;
  for (let k = 0; k < 20000; k++) y = y.add(0.5);
  y.backward();
  assertEquals(gradOf(x), 1);
});

class Cube extends autograd.Function {
  static override forward(ctx: autograd.FunctionContext, x: Tensor, power: number): Tensor {
    ctx.saveForBackward(x);
    ctx["power"] = power;
    return x.pow(power);
  }
  static override backward(ctx: autograd.FunctionContext, grad: Tensor): readonly (Tensor | null)[] {
    const [x] = ctx.savedTensors;
    const power = Number(ctx["power"]);
    return [x ? grad.mul(x.pow(power - 1)).mul(power) : null, null];
  }
}

class Split extends autograd.Function {
  static override forward(x: Tensor): [Tensor, Tensor] {
    return [x.mul(2), x.gt(0)];
  }
  static override setupContext(
    ctx: autograd.FunctionContext,
    _inputs: readonly Tensor[],
    [, sign]: [Tensor, Tensor],
  ) {
    ctx.markNonDifferentiable(sign);
  }
  static override backward(_ctx: autograd.FunctionContext, grad: Tensor): Tensor {
    return grad.mul(2);
  }
}

Deno.test("custom functions are differentiated by their own backward", () => {
  const x = leaf([1, 2]);
  const y = Cube.apply(x, 3);
  assertEquals(y.gradFn?.name, "CubeBackward");
  y.sum().backward();
  assertEquals(gradOf(x), [3, 12]);
  assert(autograd.gradcheck((a) => Cube.apply(a ?? x, 3), [leaf([0.5, -1])]));
  const [double, sign] = Split.apply(leaf([1, -1]));
  assert(double.requiresGrad && !sign.requiresGrad);
  const [g] = autograd.grad(Cube.apply(x, 3).sum(), [x], null, { createGraph: true });
  assertEquals(autograd.grad(g?.sum() ?? x, [x])[0]?.tolist(), [6, 12]);
});

Deno.test("values saved by a custom backward stay readable", () => {
  const kept: Tensor[] = [];
  class Keeping extends autograd.Function {
    static override forward(_ctx: autograd.FunctionContext, x: Tensor): Tensor {
      return x.mul(2);
    }
    static override backward(_ctx: autograd.FunctionContext, grad: Tensor): Tensor {
      const result = grad.mul(2);
      kept.push(grad, result);
      return result;
    }
  }
  const x = leaf([1, 2]);
  Keeping.apply(x.mul(3)).mul(5).sum().backward();
  assertEquals(kept.map((k) => k.tolist()), [[5, 5], [10, 10]]);
  assertEquals(gradOf(x), [30, 30]);
});

Deno.test("gradients that a function omits, or gives another shape, are errors", () => {
  const errorOf = (backward: (grad: Tensor) => unknown): string => {
    class Product extends autograd.Function {
      static override forward(a: Tensor, b: Tensor, _scale: number): Tensor {
        return a.mul(b);
      }
      static override setupContext(): void {}
      static override backward(_ctx: autograd.FunctionContext, grad: Tensor): unknown {
        return backward(grad);
      }
    }
    const loss = Product.apply(leaf([1, 2]), leaf([3, 4]), 2).sum();
    return assertThrows(() => loss.backward(), DynError).message;
  };
  const wrong: [(grad: Tensor) => unknown, string][] = [
    [(grad) => grad, "Expected 3 gradients from Product.backward but found 1"],
    [(grad) => [grad, grad, null, grad], "Expected 3 gradients from Product.backward but found 4"],
    [(grad) => [grad, grad.sum()], "Expected gradient 1 from Product.backward of shape [2] but found []"],
  ];
  for (const [backward, message] of wrong) assertEquals(errorOf(backward), message);
});

Deno.test("gradcheck finds wrong gradients", () => {
  class Wrong extends autograd.Function {
    static override forward(_ctx: autograd.FunctionContext, x: Tensor): Tensor {
      return x.mul(2);
    }
    static override backward(_ctx: autograd.FunctionContext, grad: Tensor): Tensor {
      return grad;
    }
  }
  assertThrows(() => autograd.gradcheck((a) => Wrong.apply(a), [leaf([1, 2])]), DynError, "but found 1");
  assertThrows(
    () => autograd.gradcheck((a) => a ?? leaf(1), [tensor([1.5], { requiresGrad: true })]),
    DynError,
    "float64",
  );
});

Deno.test("intermediate gradients are released to the device immediately", () => {
  const x = leaf(new Array(1000).fill(1));
  const before = x.mul(1).storage.memory;
  assert(before.byteLength >= 8000);
  const loss = x.sin().cos().mul(2).sum();
  loss.backward();
  const made = new Set<unknown>();
  for (let k = 0; k < 3; k++) {
    const y = ops.zeros([1000], { dtype: "float64" });
    made.add(y.storage.memory);
  }
  assertEquals(made.has(x.grad?.storage.memory), false);
  assertEquals(gradOf(x), new Array(1000).fill(-2 * Math.sin(Math.sin(1)) * Math.cos(1)));
});

/** A small generator of choices that depends on the seed alone. */
function choices(seed: number): (count: number) => number {
  let state = seed * 2654435761 + 1 >>> 0;
  return (count) => {
    state = Math.imul(state ^ state >>> 15, 2246822519) + 3266489917 >>> 0;
    return (state >>> 8) % count;
  };
}

/** Views of a 4×4 tensor that in-place ops may write. */
const VIEWS: readonly ((x: Tensor) => Tensor)[] = [
  (x) => x,
  (x) => x.t(),
  (x) => x.slice(0, 1, 3),
  (x) => x.slice(1, 0, 4, 2),
  (x) => x.at(2),
  (x) => x.t().at(1),
  (x) => x.view(2, 8).slice(1, 2, 6),
  (x) => x.diagonal(),
  (x) => x.view(2, 2, 4).permute([2, 0, 1]).at("1:3"),
];

const WRITES: readonly ((target: Tensor, operand: Tensor) => void)[] = [
  (t, o) => void t.mul_(o),
  (t, o) => void t.add_(o, { alpha: 2 }),
  (t, o) => void t.copy_(o),
  (t) => void t.mul_(0.5),
  (t) => void t.sin_(),
  (t) => void t.fill_(0.25),
  (t, o) => void t.sub_(o.square()),
];

Deno.test("any sequence of writes through views has the gradients of finite differences", () => {
  for (let seed = 0; seed < 60; seed++) {
    const program = (x: Tensor | undefined, y: Tensor | undefined): Tensor => {
      const pick = choices(seed);
      if (!x || !y) throw new DynError("Expected two tensors");
      const base = x.mul(1), kept: Tensor[] = [];
      for (let k = 0; k < 4; k++) {
        const target = VIEWS[pick(VIEWS.length)]?.(base) ?? base;
        kept.push(target);
        // some operands overlap the target, some are of the leaf that is not written
        const operand = pick(3) === 0 ? base.mul(1).flatten().at(pick(16)) : y.flatten().at(pick(4));
        WRITES[pick(WRITES.length)]?.(target, operand);
      }
      const views = kept.map((view, k) => view.mul(k + 1).sin().sum());
      return views.reduce((a, b) => a.add(b), base.mul(base).sum());
    };
    const x = leaf([[1, 2, 3, 4], [0.5, -1, 2, 1], [-0.3, 0.7, 0.1, 2], [1.5, -2, 0.4, 0.9]]);
    autograd.gradcheck((a, b) => program(a, b), [x, leaf([[0.3, -0.6], [1.1, 0.8]])]);
  }
});

Deno.test("backward and grad take trailing arguments by name or by position", () => {
  const x = tensor([1.5, 2], { requiresGrad: true });
  const loss = x.pow(2).sum();
  loss.backward({ retainGraph: true });
  loss.backward(null, true);
  loss.backward({ gradient: tensor(2.5), retainGraph: true });
  loss.backward(tensor(0.5), { retainGraph: true });
  assertEquals(x.grad?.tolist(), [5 * 3, 5 * 4]);
  const [first] = autograd.grad(loss, [x], { createGraph: true });
  assert(first);
  const [second] = autograd.grad(first.sum(), [x]);
  assertEquals(second?.tolist(), [2, 2]);
  const wrong: Record<string, boolean> = { retain_graph: true };
  assertThrows(
    () => loss.backward(wrong),
    DynError,
    "Expected an option of backward to be one of gradient, retainGraph, createGraph, inputs but found",
  );
});
