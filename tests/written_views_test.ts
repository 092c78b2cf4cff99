/**
 * Writes to views give them a new history: without the hooks of the former one, and through their base. Compiled
 * programs behave as plain ones, wherever the view was created.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, compiler, DynError, func, noGrad, type Tensor, tensor } from "../mod.ts";

/** Turns a gradient around, so that nobody can overlook that it was called. */
const turn = (grad: Tensor) => grad.mul(-1);

/** A program over gradients; the tensor is a leaf of two elements. */
type Program = (x: Tensor) => unknown;

const PROGRAMS: Readonly<Record<string, Program>> = {
  "a view of a leaf, written to without recording": (x) => {
    const view = x.at();
    view.registerHook(turn);
    noGrad(() => view.set([0], 5));
    view.mul(view).sum().backward();
    return x.grad?.tolist();
  },
  "a view of an intermediate that nothing else holds": (x) => {
    const view = x.mul(1).at();
    view.registerHook(turn);
    view.mul_(3);
    view.mul(view).sum().backward();
    return x.grad?.tolist();
  },
  "a view of an intermediate, written to without recording": (x) => {
    const view = x.mul(1).view([2, 1]);
    view.registerHook(turn);
    noGrad(() => view.mul_(3));
    view.mul(view).sum().backward();
    return x.grad?.tolist();
  },
  "read before and after the write": (x) => {
    const view = x.mul(1).at();
    view.registerHook(turn);
    const before = view.mul(2);
    noGrad(() => view.mul_(3));
    before.add(view.mul(view)).sum().backward();
    return x.grad?.tolist();
  },
  "written to through what it shows": (x) => {
    const base = x.mul(1), view = base.at();
    view.registerHook(turn);
    noGrad(() => base.mul_(3));
    view.mul(view).sum().backward();
    return x.grad?.tolist();
  },
  "written to through a detached alias": (x) => {
    const view = x.mul(1).at();
    view.registerHook(turn);
    view.detach().mul_(3);
    view.mul(view).sum().backward();
    return x.grad?.tolist();
  },
  "asked for after the write": (x) => {
    const view = x.mul(1).at();
    compiler.disable(() => {})();
    noGrad(() => view.set([0], 5));
    return autograd.grad(view.mul(view).sum(), [view, x], undefined, { allowUnused: true })
      .map((grad) => grad?.tolist() ?? null);
  },
  "retained across a write": (x) => {
    const view = x.mul(1).at();
    view.retainGrad();
    view.mul_(3);
    view.mul(view).sum().backward();
    return [x.grad?.tolist(), view.grad?.tolist()];
  },
  "taken without recording of what has no history before a write": (x) => {
    const base = tensor([4, 5], { dtype: "float32" }), view = noGrad(() => base.at("1:"));
    base.mul_(x);
    const shown = view.mul(2);
    compiler.disable(() => {})();
    shown.add(x.at("1:")).sum().backward();
    return x.grad?.tolist();
  },
  "no view: hooks see what was there before a recorded write": (x) => {
    const whole = x.mul(1);
    whole.registerHook(turn);
    whole.mul_(3);
    whole.mul(whole).sum().backward();
    return x.grad?.tolist();
  },
};

for (const backend of ["eager", "aot_eager", "inductor"]) {
  Deno.test(`writes to views with hooks, ${backend}`, () => {
    for (const [name, program] of Object.entries(PROGRAMS)) {
      const leaf = () => tensor([2, 3], { requiresGrad: true });
      const plain = program(leaf()), compiled = compile(program, { backend });
      for (let call = 0; call < 2; call++) assertEquals(compiled(leaf()), plain, name);
    }
  });
}

Deno.test("a graph that writes to an input serves only calls with views of other memory", () => {
  const program = (buffer: Tensor, x: Tensor) => {
    noGrad(() => buffer.mul_(3));
    return x.mul(x);
  };
  const look = (run: typeof program, view: (base: Tensor) => Tensor) => {
    const base = tensor([2, 3], { requiresGrad: true }), middle = base.mul(1), x = view(middle);
    x.registerHook(turn);
    run(middle, x).sum().backward();
    return base.grad?.tolist();
  };
  const views: readonly ((base: Tensor) => Tensor)[] = [
    (base) => base.mul(2),
    (base) => base.mul(2).at(),
    (base) => base.at(),
    (base) => base,
  ];
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    for (const order of [views, views.toReversed()]) {
      const compiled = compile(program, { backend });
      for (const view of order) assertEquals(look(compiled, view), look(program, view), `${backend} ${view}`);
    }
  }
});

const FLOATS = { dtype: "float32", requiresGrad: true } as const;

Deno.test("results of a custom function keep their places, whatever they are", () => {
  const given: unknown[][] = [];
  class Scaled extends autograd.Function {
    static override forward(
      _ctx: autograd.FunctionContext,
      x: Tensor,
      k: number,
    ): [number, Tensor, null, Tensor] {
      return [k, x.mul(k), null, x.mul(k + 1)];
    }
    static override backward(_ctx: autograd.FunctionContext, ...grads: (Tensor | null)[]) {
      given.push(grads.map((grad) => grad && grad.tolist()));
      return [grads[1]?.mul(2) ?? null, null];
    }
    static override jvp(_ctx: autograd.FunctionContext, tangent: Tensor) {
      return [null, tangent.mul(2), null, tangent.mul(3)];
    }
  }
  const x = tensor([1, 2], FLOATS);
  Scaled.apply(x, 2)[1].sum().backward();
  assertEquals(given, [[null, [1, 1], null, [0, 0]]]);
  assertEquals(x.grad?.tolist(), [2, 2]);
  const [, pushed] = func.jvp((a: Tensor) => Scaled.apply(a, 2)[3], [x.detach()], [
    tensor([1, 10], { dtype: "float32" }),
  ]);
  assertEquals(pushed.tolist(), [3, 30]);
});

class Doubled extends autograd.Function {
  static override forward(ctx: autograd.FunctionContext, x: Tensor): Tensor {
    ctx.markDirty(x);
    return x.mul_(2);
  }
  static override backward(_ctx: autograd.FunctionContext, grad: Tensor): Tensor {
    return grad.mul(2);
  }
}

Deno.test("a custom function that writes to part of a tensor is part of its history", () => {
  const written = (x: Tensor) => {
    const y = x.clone(), other = y.at("2:"), part = y.at("1:3");
    Doubled.apply(part);
    return y.sum().add(other.sum()).add(part.sum());
  };
  for (const f of [written, compile(written, { backend: "aot_eager" })]) {
    const x = tensor([1, 1, 1, 1], FLOATS);
    f(x).backward();
    assertEquals(x.grad?.tolist(), [1, 4, 6, 2]);
  }
  const x = tensor([1, 2], FLOATS),
    message = "a leaf that requires grad is being used in an in-place operation";
  assertThrows(() => Doubled.apply(x), DynError, message);
  assertThrows(() => Doubled.apply(x.at(0)), DynError, message);
});

Deno.test("tangents of a custom function that writes to part of a tensor are those of the whole", () => {
  class Pushed extends Doubled {
    static override jvp(_ctx: autograd.FunctionContext, tangent: Tensor): Tensor {
      return tangent.mul(2);
    }
  }
  const jvp = (of: typeof Doubled) =>
    func.jvp(
      (x: Tensor) => {
        const y = x.clone();
        of.apply(y.at("1:"));
        return y;
      },
      [tensor([1, 2], { dtype: "float32" })],
      [tensor([10, 20], { dtype: "float32" })],
    );
  assertEquals(jvp(Pushed).map((each) => each.tolist()), [[1, 4], [10, 40]]);
  assertThrows(
    () => jvp(Doubled),
    DynError,
    "Expected a static jvp on Doubled, which writes to its arguments",
  );
});

Deno.test("a view that is older than the wish for gradients of its base refuses writes as the base does", () => {
  const write = (view: Tensor) => view.add_(1);
  for (const f of [write, ...["eager", "inductor"].map((backend) => compile(write, { backend }))]) {
    const base = tensor([1, 2], { dtype: "float32" }), view = base.at(":");
    f(view);
    base.requiresGrad = true;
    assertThrows(() => f(view), DynError, "view of a leaf that requires grad");
    noGrad(() => f(view));
    assertEquals(base.tolist(), [3, 4]);
  }
});

Deno.test("writes that would skip a custom function, or would not be part of a history, are errors", () => {
  class Passed extends autograd.Function {
    static override forward(_ctx: autograd.FunctionContext, x: Tensor, how: number): Tensor {
      return how === 0 ? x : how === 1 ? x.at(":") : x.clone().at(":");
    }
    static override backward(_ctx: autograd.FunctionContext, grad: Tensor) {
      return [grad.mul(3), null];
    }
  }
  class Unreturned extends Doubled {
    static override forward(ctx: autograd.FunctionContext, x: Tensor): Tensor {
      return super.forward(ctx, x).clone();
    }
  }
  const wrong: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    "a view from Passed is being used": (x) => Passed.apply(x, 0).mul_(5),
    "a view from Passed is": (x) => Passed.apply(x, 1).at(0).mul_(5),
    "unchanged elements of a view from Passed": (x) => {
      const y = Passed.apply(x, 0);
      x.mul_(5);
      return y.sum();
    },
    "return the tensors that it marks as written": (x) => Unreturned.apply(x),
    "a view created without recording gradients": (x) => noGrad(() => x.at(":")).mul_(5),
  };
  const written = (x: Tensor) => Passed.apply(x, 2).mul_(5);
  for (const backend of [null, "eager", "aot_eager"]) {
    const run = (f: (x: Tensor) => Tensor) => {
      const x = tensor([1, 2], FLOATS), whole = (x: Tensor) => f(x.clone());
      (backend === null ? whole : compile(whole, { backend }))(x).sum().backward();
      return x.grad?.tolist();
    };
    for (const [message, f] of Object.entries(wrong)) {
      assertThrows(() => run(f), DynError, message, `${backend}: ${message}`);
    }
    // A view of what nobody else has is a tensor of its own
    assertEquals(run(written), [15, 15]);
  }
  const x = tensor([1, 2], FLOATS), packed = (each: Tensor) => each.add_(1);
  const saved = () => autograd.graph.savedTensorsHooks(packed, (each) => each, () => x.clone().exp());
  for (const f of [saved, compile(saved)]) {
    assertThrows(f, DynError, "a pack hook that leaves its tensor as it is");
  }
  assertThrows(() => x.grad = x, DynError, "found the tensor itself");
});

Deno.test("materialised gradients are differentiated again, as zeros; no inputs are an error", () => {
  const x = tensor(0.5, FLOATS), a = tensor(1, FLOATS);
  const [first] = autograd.grad(x.mul(a), [x], null, { createGraph: true });
  const options = { createGraph: true, materializeGrads: true };
  const [second] = autograd.grad([first ?? x], [x], null, options);
  assertEquals(autograd.grad([second ?? x], [x], null, { materializeGrads: true })[0]?.item(), 0);
  const nothing = (x: Tensor) => autograd.grad(x.mul(2), []);
  for (const f of [nothing, compile(nothing, { backend: "eager" })]) {
    assertThrows(() => f(x), DynError, "Expected at least one input");
  }
});

Deno.test("a tensor into which a leaf is multiplied requires grad, though nothing else holds the leaf", () => {
  const leaf = () => tensor([0.5, 2]).requiresGrad_();
  for (const whole of [true, false]) {
    const program = (x: Tensor) => void (whole ? x : x.slice(0, 0, 2)).mul_(leaf());
    for (const backend of [null, "eager", "aot_eager", "inductor"]) {
      compiler.reset();
      const x = tensor([0.5, 4]), run = backend === null ? program : compile(program, { backend });
      run(x);
      assertEquals([x.requiresGrad, x.tolist()], [true, [0.25, 8]], `${backend} of the whole: ${whole}`);
      x.sum().backward();
    }
  }
});
