/** Programs that register hooks of gradients inside compiled functions, and remove them there. */
import { autograd, compiler, nn, noGrad, ones, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const leaf = (): Tensor => tensor([1, 2, 3], { dtype: "float32", requiresGrad: true });
const twice = (g: Tensor): Tensor => g.mul(2);
type Handle = ReturnType<Tensor["registerHook"]>;

/** Hooks on tensors from outside, which neither the history of these nor a pass in the same graph can tell. */
export const unbrokenHooks: Corpus = {
  "a hook on a leaf, with what it captures"({ compile, see }) {
    const f = compile((x: Tensor, w: Tensor) => {
      const s = w.sigmoid();
      x.registerHook((g) => g.mul(s));
      return x.mul(w);
    });
    const x = leaf();
    for (let i = 0; i < 3; i++) f(x, ones([3])).sum().backward();
    see(x.grad);
  },
  "a hook on a result from outside"({ compile, see }) {
    const f = compile((y: Tensor) => {
      y.registerHook(twice);
      return y.mul(3);
    });
    for (let i = 0; i < 2; i++) {
      const x = leaf();
      f(x.mul(2)).sum().backward();
      see(x.grad);
    }
  },
  "a handle that is returned"({ compile, see }) {
    const f = compile((x: Tensor, z: Tensor) => {
      const handle = x.registerHook(twice), same = handle;
      return [z.mul(z), handle, same] as const;
    });
    const x = leaf(), [z, handle, same] = f(x, ones([2]));
    x.backward(ones([3]));
    see(z, x.grad, handle === same);
    handle.remove();
    x.backward(ones([3]));
    see(x.grad);
  },
  "a write without recording after the hook"({ compile, see }) {
    const f = compile((x: Tensor) => {
      x.registerHook(twice);
      noGrad(() => x.add_(1));
      return x.mul(x);
    });
    const x = leaf();
    f(x).sum().backward();
    see(x, x.grad);
  },
  "a parameter of a module"({ compile, see }) {
    class Scale extends nn.Module {
      w: nn.Parameter = new nn.Parameter(ones([3]));
      override forward(x: Tensor): Tensor {
        this.w.registerHook((g) => g.mul(10));
        return x.mul(this.w).sum();
      }
    }
    const model = new Scale(), f = compile((x: Tensor) => model.call(x));
    for (let i = 0; i < 2; i++) f(ones([3])).backward();
    see(model.w.grad);
  },
  "a hook after accumulation"({ compile, see }) {
    const f = compile((x: Tensor) => {
      x.registerPostAccumulateGradHook((each) => {
        if (each.grad) each.grad = each.grad.mul(2);
      });
      return x.mul(3);
    });
    const x = leaf();
    f(x).sum().backward();
    see(x.grad);
  },
  "a hook removed by its handle, and another"({ compile, see }) {
    const f = compile((x: Tensor, handle: Handle) => {
      handle.remove();
      handle.remove();
      x.registerHook((g) => g.mul(5));
      return x.mul(3);
    });
    for (let i = 0; i < 3; i++) {
      const x = leaf();
      f(x, x.registerHook(twice)).sum().backward();
      see(x.grad);
    }
  },
};

/** Hooks that end the graph: what they do, or what is done to their tensors, is on the tape. */
export const brokenHooks: Corpus = {
  "a pass after a hook"({ compile, see }) {
    const f = compile((x: Tensor) => {
      x.registerHook(twice);
      x.mul(x).sum().backward();
      return x.grad;
    });
    const x = leaf();
    see(f(x));
    see(f(x));
  },
  "gradients asked for after a hook"({ compile, see }) {
    const f = compile((x: Tensor) => {
      x.registerHook(twice);
      return autograd.grad(x.mul(x).sum(), [x]);
    });
    see(f(leaf()));
  },
  "a pass after a hook is removed"({ compile, see }) {
    const f = compile((x: Tensor, handle: Handle) => {
      handle.remove();
      x.mul(x).sum().backward();
      return x.grad;
    });
    for (let i = 0; i < 3; i++) {
      const x = leaf();
      see(f(x, x.registerHook(twice)));
    }
  },
  "a pass before a hook is removed"({ compile, see }) {
    const f = compile((x: Tensor, handle: Handle) => {
      x.mul(x).sum().backward();
      handle.remove();
      return x.grad;
    });
    const x = leaf();
    see(f(x, x.registerHook(twice)));
    x.sum().backward();
    see(x.grad);
  },
  "a handle that is removed where it was made"({ compile, see }) {
    const f = compile((x: Tensor, z: Tensor) => {
      const handle = x.registerHook(twice);
      z = z.mul(z);
      handle.remove();
      x.registerHook((g) => g.mul(3));
      return z.add(1);
    });
    const x = leaf();
    see(f(x, ones([2])));
    x.backward(ones([3]));
    see(x.grad);
  },
  "a recorded write after the hook"({ compile, see }) {
    const f = compile((y: Tensor) => {
      y.registerHook(twice);
      const z = y.mul(3);
      y.mul_(5);
      return z;
    });
    const x = leaf(), y = x.mul(2), z = f(y);
    z.sum().backward({ retainGraph: true });
    y.sum().backward();
    see(x.grad);
  },
  "a recorded write before the hook"({ compile, see }) {
    const f = compile((y: Tensor) => {
      y.mul_(5);
      y.registerHook(twice);
      return y.mul(3);
    });
    const x = leaf();
    f(x.mul(2)).sum().backward();
    see(x.grad);
  },
  "a recorded write to another view"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => {
      a.registerHook(twice);
      b.mul_(4);
      return a.mul(3);
    });
    const x = leaf(), y = x.mul(2);
    f(y, y.view([3])).sum().backward();
    see(x.grad);
  },
  "a leaf that no longer requires grad"({ compile, see }) {
    const f = compile((x: Tensor) => {
      x.registerHook(twice);
      const z = x.mul(3);
      x.requiresGrad_(false);
      return z;
    });
    const x = leaf();
    see(f(x), x);
  },
  "hooks on both sides of a break"({ compile, see }) {
    const log: string[] = [];
    const f = compile((x: Tensor) => {
      x.registerHook((g) => {
        log.push("first");
        return g.mul(2);
      });
      const y = x.mul(2);
      compiler.graphBreak();
      x.registerHook((g) => {
        log.push("second");
        return g.add(1);
      });
      return y.mul(3);
    });
    const x = leaf();
    f(x).sum().backward();
    see(x.grad, log);
  },
  "tensors without hooks"({ compile, attempt }) {
    const f = compile((x: Tensor) => {
      x.registerHook(twice);
      return x.mul(3);
    });
    attempt(() => f(ones([2])));
    const after = compile((x: Tensor) => {
      x.registerPostAccumulateGradHook(() => {});
      return x.mul(3);
    });
    attempt(() => after(leaf()));
    attempt(() => after(leaf().mul(2)));
  },
};
