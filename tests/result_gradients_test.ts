/** Gradients between results of one compiled call, which are one node of the tape, are those of the plain program. */
import { assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, DynError, noGrad, type Tensor, tensor } from "../mod.ts";
import "./support/turns/gradients.ts";

Deno.test("gradients between the results of one compiled call can be requested from outside", () => {
  const program = (x: Tensor) => {
    const hidden = x.mul(2), loss = hidden.exp().sum();
    return [hidden, loss, noGrad(() => hidden.mul(3))] as const;
  };
  const look = (run: typeof program) => {
    const x = tensor([0.5, -1], { requiresGrad: true }), seen: unknown[] = [];
    const [hidden, loss] = run(x);
    seen.push(autograd.grad(loss, [hidden], { retainGraph: true }).map((grad) => grad?.tolist()));
    hidden.retainGrad();
    const handle = hidden.registerHook((grad) => {
      seen.push(grad.tolist());
      return grad.mul(2);
    });
    loss.add(hidden.sum()).backward({ retainGraph: true });
    seen.push(hidden.grad?.tolist(), x.grad?.tolist());
    handle.remove();
    loss.backward();
    seen.push(hidden.grad?.tolist(), x.grad?.tolist());
    assertThrows(() => loss.backward(), DynError, "a second time");
    return seen;
  };
  const plain = look(program);
  for (const backend of ["aot_eager", "inductor"]) assertEquals(look(compile(program, { backend })), plain);
});

/** Observes views and gradients of a result from which the last one is computed. */
function lookAtViews(run: (x: Tensor) => readonly Tensor[]): unknown[] {
  const x = tensor([[0.5, -1, 2], [1, 3, -2]], { requiresGrad: true }), seen: unknown[] = [];
  const results = run(x), last = results.at(-1) ?? x, others = results.slice(0, -1);
  const show = (grads: readonly (Tensor | null)[]) => void seen.push(grads.map((g) => g?.tolist() ?? null));
  const weights = others.map((other) => other.mul(2).sum());
  show(autograd.grad(last.sum(), [...others, x], { retainGraph: true, allowUnused: true }));
  for (const each of weights) {
    show(autograd.grad(each, [...others, x], { retainGraph: true, allowUnused: true }));
  }
  const [first] = autograd.grad(last.sum(), [...others], { createGraph: true, allowUnused: true });
  show(autograd.grad((first ?? last).sum(), [x], { retainGraph: true, allowUnused: true }));
  for (const [k, other] of others.entries()) {
    other.retainGrad();
    other.registerHook((grad) => {
      seen.push(`hook ${k}`, grad.tolist());
      return grad.mul(3);
    });
  }
  last.sum().backward({ retainGraph: true });
  show([...others.map(({ grad }) => grad), x.grad]);
  noGrad(() => x.mul_(2));
  seen.push(others.map((other) => other.tolist()));
  return seen;
}

Deno.test("gradients of results that are views, from which other results are computed", () => {
  const programs: Readonly<Record<string, (x: Tensor) => readonly Tensor[]>> = {
    "a view of an input": (x) => {
      const view = x.select(1, 0);
      return [view, view.exp()];
    },
    "a view of a view of an input, both used": (x) => {
      const view = x.t(), part = view.narrow(0, 1, 2);
      return [part, view, part.exp().sum().add(view.sin().sum())];
    },
    "a view of a result": (x) => {
      const whole = x.mul(3), view = whole.t();
      return [whole, view, view.mul(view).sum()];
    },
    "views that lie apart, and what is computed from one": (x) => {
      const [left = x, right = x] = x.sin().split(1, 1);
      return [left, right, right.exp().mul(left)];
    },
    "a view that was written to": (x) => {
      const whole = x.mul(3), view = whole.select(0, 1);
      view.mul_(2);
      return [view, whole, view.exp()];
    },
  };
  for (const [name, program] of Object.entries(programs)) {
    const plain = lookAtViews(program);
    for (const backend of ["eager", "aot_eager", "inductor"]) {
      assertEquals(lookAtViews(compile(program, { backend })), plain, `${name} by ${backend}`);
    }
  }
});

Deno.test("gradients of gradients, of a graph that writes to an input with memory between its rows", () => {
  const program = (x: Tensor, w: Tensor) => {
    x.mul_(2);
    // A copy if the rows are not adjacent
    const row = x.flatten();
    row.mul_(w);
    return row.slice(0, 1, 3);
  };
  const look = (run: typeof program) => {
    const w = tensor(0.75, { requiresGrad: true });
    const x = tensor([[1.5, 2, 3], [4, 5, 6]]).slice(1, 1, 3).detach();
    return autograd.grad(run(x, w).sum(), [w], { createGraph: true }).map((grad) => grad?.tolist());
  };
  assertEquals(look(compile(program, { backend: "aot_eager" })), look(program));
});
