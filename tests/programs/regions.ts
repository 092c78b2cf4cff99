/**
 * Programs whose graphs break inside `noGrad`, `enableGrad`, `inferenceMode`, `autocast`, nested, left in every way.
 */
import {
  autocast,
  compiler,
  enableGrad,
  inferenceMode,
  isAutocastEnabled,
  isGradEnabled,
  isInferenceMode,
  nn,
  noGrad,
  type Tensor,
  tensor,
} from "../../mod.ts";
import type { World } from "../../cli/fuzz/language/observation.ts";
import type { Corpus } from "../support/programs.ts";

const leaf = (...values: number[]): Tensor => tensor(values, { dtype: "float32", requiresGrad: true });

/** Observations of plain code between two graphs. */
const seen: string[] = [];
const look = compiler.disable((what: string) => {
  seen.push(`${what}: ${isGradEnabled()} ${isInferenceMode()} ${isAutocastEnabled()}`);
});

const boom = compiler.disable(() => {
  look("boom");
  throw new RangeError("boom");
});

/** Calls a function on leaves, and shows its results, gradients, and the modes in force inside and behind it. */
function show({ compile, see, attempt }: World, fn: (x: Tensor) => Tensor | Tensor[]): void {
  const f = compile(fn);
  for (const values of [[1, 2], [-3, 0.5], [0.25, 1], [-1, -2, -3]]) {
    seen.length = 0;
    const x = leaf(...values);
    attempt(() => {
      const results = [f(x)].flat();
      see(...results, results.map(({ requiresGrad }) => requiresGrad));
      const [recorded] = results.filter(({ requiresGrad }) => requiresGrad);
      recorded?.float().sum().backward();
      return x.grad;
    });
    see(...seen, isGradEnabled(), isInferenceMode(), isAutocastEnabled());
  }
}

export const regions: Corpus = {
  "a region is left with a result, and what follows records": (w) =>
    show(w, (x) => {
      const y = noGrad(() => {
        const inner = x.mul(2);
        look("inside");
        return inner.sin();
      });
      look("behind");
      return [x.mul(y), y];
    }),
  "a branch by elements inside of a region": (w) =>
    show(w, (x) => {
      let sign = 1;
      const y = noGrad(() => {
        if (+x.sum() > 0) return x.exp();
        sign = -1;
        return x.cos();
      });
      return x.mul(y).mul(sign);
    }),
  "regions one in another, with breaks in each": (w) =>
    show(w, (x) => {
      const out: Tensor[] = [];
      noGrad(() => {
        out.push(x.mul(2));
        look("off");
        enableGrad(() => {
          out.push(x.mul(3));
          look("on again");
          out.push(x.mul(5));
        });
        look("off again");
        out.push(x.mul(7));
      });
      out.push(x.mul(11));
      look("on");
      return out.reverse();
    }),
  "an exception that leaves a region for a handler behind it": (w) =>
    show(w, (x) => {
      let y = x;
      try {
        noGrad(() => {
          y = y.mul(2);
          boom();
          y = y.mul(100);
        });
      } catch (error) {
        look(String(error));
        y = y.add(x.sin());
      } finally {
        y = y.mul(3);
        look("finally");
      }
      return y;
    }),
  "an exception that is caught in the region": (w) =>
    show(w, (x) => {
      const y = noGrad(() => {
        try {
          boom();
          return x;
        } catch {
          look("caught");
          return x.mul(4);
        }
      });
      return x.add(y);
    }),
  "an exception that leaves the function": (w) =>
    show(w, (x) =>
      noGrad(() => {
        look("before");
        if (x.shape[0] === 3) boom();
        return x.mul(2);
      })),
  "a loop with breaks in a region in a loop": (w) =>
    show(w, (x) => {
      let total = x.mul(0);
      for (let i = 0; i < 2; i++) {
        const scale = noGrad(() => {
          let s = x.abs().sum();
          for (const k of [1, 2]) {
            s = s.add(k);
            if (+s > 3) s = s.sub(1);
            look(`${i} ${k}`);
          }
          return s;
        });
        total = total.add(x.mul(scale));
      }
      return total;
    }),
  "functions that regions call break": (w) => {
    const inner = (t: Tensor): Tensor => {
      const y = t.mul(2);
      look("called");
      return y.add(1);
    };
    show(w, (x) => [x.mul(noGrad(() => inner(inner(x)))), inner(x)]);
  },
  "types that are chosen automatically": (w) => {
    const layer = new nn.Linear(2, 2);
    noGrad(() => layer.parameters().forEach((each, i) => each.fill_(0.37 - i * 0.26)));
    show(w, (x) => {
      const y = autocast({ dtype: "bfloat16" }, () => {
        const a = layer.forward(x);
        look("in bfloat16");
        const b = layer.forward(a.float());
        return noGrad(() => {
          look("nothing recorded");
          return autocast({ enabled: false }, () => {
            look("not any more");
            return layer.forward(x).add(b.float());
          });
        }).add(b);
      });
      look("behind");
      return [layer.forward(x).add(y), y];
    });
  },
  "a region that is on or off by a setting": (w) => {
    for (const on of [true, false]) {
      show(w, (x) => {
        const y = (on ? enableGrad : noGrad)(() => {
          const t = x.mul(2);
          look("inside");
          return t.add(x);
        });
        return y.mul(x);
      });
    }
  },
  "a region in a function that is called without recording": (w) =>
    noGrad(() =>
      show(w, (x) => {
        const y = enableGrad(() => {
          const t = x.mul(2);
          look("inside");
          return t.mul(x);
        });
        look("behind");
        return [y, x.mul(3)];
      })
    ),
  "an update of parameters with a break in it": ({ compile, see }) => {
    seen.length = 0;
    const w = leaf(1, 2);
    const step = compile((x: Tensor) => {
      w.grad = null;
      const loss = w.mul(x).sum().square();
      loss.backward();
      noGrad(() => {
        w.sub_(w.grad ?? x, { alpha: 0.01 });
        look("between");
        w.clamp_({ min: -1 });
      });
      return w.mul(x);
    });
    for (let i = 0; i < 3; i++) see(step(tensor([0.5, -0.25])), w, w.requiresGrad, seen.splice(0));
  },
  "an async function that waits behind a region": async ({ compile, see }) => {
    seen.length = 0;
    const f = compile(async (x: Tensor) => {
      const y = noGrad(() => {
        const t = x.mul(2);
        look("inside");
        return t.sin();
      });
      const given = await Promise.resolve(3);
      look("after the wait");
      return x.mul(y).mul(given);
    });
    for (let i = 0; i < 2; i++) {
      const x = leaf(1, 2), y = await f(x);
      see(y, y.requiresGrad, seen.splice(0), isGradEnabled());
    }
  },
  "a generator that gives from behind a region": ({ compile, see }) => {
    seen.length = 0;
    const f = compile(function* (x: Tensor) {
      const y = noGrad(() => {
        look("inside");
        return x.mul(2);
      });
      yield y;
      look("after a yield");
      yield x.mul(y);
    });
    for (let i = 0; i < 2; i++) for (const t of f(leaf(1, 2))) see(t, t.requiresGrad, isGradEnabled());
    see(seen.splice(0));
  },
  "views for inference are written to behind the region, also those of leaves": (w) =>
    show(w, (x) => {
      const [one, ...others] = inferenceMode(() => {
        const shown = x.reshape([-1, 1]);
        look("inside");
        return [shown, ...x.reshape([1, -1]).unbind(0)];
      });
      look("behind");
      one?.mul_(2);
      others[0]?.add_(1);
      return [x.mul(3), ...others];
    }),
  "views behind a region of inference are on the tape": (w) =>
    show(w, (x) => {
      const base = x.mul(1);
      const y = inferenceMode(() => {
        look("inside");
        return base.mul(2);
      });
      const shown = base.reshape([-1, 1]);
      shown.mul_(x.reshape([-1, 1]));
      return [base, shown, y];
    }),
  "gradients inside of a region of inference, and layouts changed in place": (w) =>
    show(w, (x) =>
      inferenceMode(() => {
        const y = x.mul(2).reshape([1, -1]);
        y.t_();
        return enableGrad(() => {
          look(`inside ${isInferenceMode()}`);
          return [x.mul(y.reshape([-1])), y];
        }).reverse();
      })),
  "layouts changed in place in regions of inference": (w) => {
    const change = (x: Tensor) => {
      const made = x.mul(2).reshape([1, -1]), turned = x.reshape([-1, 1]);
      made.t_();
      turned.t_().add_(1);
      made.squeeze_(1).unsqueeze_(0).mul_(2);
      return [made, turned, made.add(turned)];
    };
    show(w, (x) => inferenceMode(() => change(x)));
    show(w, (x) => [...inferenceMode(() => change(x.mul(3))), x]);
    show(w, (x) =>
      inferenceMode(() => {
        x.unsqueeze_(0);
        look(`rank ${x.shape.length}`);
        return enableGrad(() => change(x));
      }));
  },
  "a view of what has a history, whose layout changes where none is recorded": (w) => {
    show(w, (x) => {
      const y = noGrad(() => {
        const turned = x.mul(1).reshape([1, -1]).t();
        return turned.t_();
      });
      look(`requires grad: ${y.requiresGrad}`);
      return y;
    });
    show(w, (x) => inferenceMode(() => enableGrad(() => [x.mul(2).reshape([1, -1]), x.reshape([-1, 1])])));
    const f = w.compile((x: Tensor) => {
      const shown = noGrad(() => x.reshape([1, -1]).t_());
      return [shown.requiresGrad, shown.isLeaf];
    });
    w.see(f(tensor([1, 2]).requiresGrad_().mul(1)));
  },
};
