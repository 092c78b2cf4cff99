/**
 * Writes to views give them a new history: without the hooks of the former one, and through their base. Compiled
 * programs behave as plain ones, wherever the view was created.
 */
import { assertEquals } from "@std/assert";
import { autograd, compile, compiler, noGrad, type Tensor, tensor } from "../mod.ts";

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
