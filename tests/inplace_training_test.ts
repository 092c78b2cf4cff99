/**
 * Whole steps with in-place writes, against the same steps uncompiled: which leaves get a gradient, its elements, and
 * what requires grad afterwards. In such programs, data edges do not show what depends on what.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { cat, compile, DynError, noGrad, ones, randn, type Tensor, tensor, where, zeros } from "../mod.ts";
import { assertClose } from "./support/close.ts";

interface Leaves {
  readonly x: Tensor;
  readonly w: Tensor;
  readonly v: Tensor;
}

/** Programs that run a backward pass; what they return is compared besides gradients. */
const STEPS: Readonly<Record<string, (leaves: Leaves) => unknown>> = {
  "out += identity": ({ x, w, v }) => {
    const out = x.mul(w), identity = x.mul(v);
    out.add_(identity);
    out.mul(x).sum().backward();
  },
  "out += identity, then relu_": ({ x, w, v }) => {
    const out = x.mul(w).add(1);
    out.add_(x.mul(v)).relu_();
    out.sum().backward();
  },
  "a part is written through a view": ({ x, w, v }) => {
    const out = x.mul(w), row = out.select(0, 1);
    row.copy_(v.mul(2));
    out.square().sum().backward();
    return row.requiresGrad;
  },
  "a base is written, then a view of it is read": ({ x, w, v }) => {
    const out = x.mul(w), row = out.select(0, 0);
    out.mul_(v);
    row.exp().sum().backward();
  },
  "all elements are overwritten": ({ x, w, v }) => {
    const out = x.mul(w);
    out.copy_(v);
    out.square().sum().backward();
  },
  "constants are filled in by a mask": ({ x, w, v }) => {
    const out = x.mul(w);
    out.maskedFill_(x.gt(0), 0);
    out.add_(v).sum().backward();
  },
  "a buffer without history becomes part of the graph": ({ x, w, v }) => {
    const buffer = zeros([3, 2]), rows = buffer.slice(0, 0, 2);
    const before = [buffer.requiresGrad, rows.requiresGrad];
    buffer.slice(0, 1, 3).add_(w.mul(v));
    const after = [buffer.requiresGrad, rows.requiresGrad];
    rows.mul(x.slice(0, 0, 2)).sum().backward();
    return [before, after];
  },
  "a write without recording leaves the history alone": ({ x, w, v }) => {
    const out = x.mul(w).add(v);
    noGrad(() => out.mul_(2));
    out.sum().backward();
    return out.detach();
  },
  "a write through a detached alias": ({ x, w }) => {
    const out = x.add(w);
    out.detach().zero_();
    out.sum().backward();
    return out.detach();
  },
  "parameters are updated between two backward passes": ({ x, w, v }) => {
    x.mul(w).mul(v).sum().backward();
    noGrad(() => w.sub_(w.grad ?? w, { alpha: 0.1 }));
    x.mul(w).square().sum().backward();
  },
  "chained branches": ({ x, w, v }) => {
    let out = x.mul(w);
    for (let i = 0; i < 3; i++) {
      const side = out.mul(v).tanh();
      out = out.clone();
      out.add_(side);
    }
    out.mean().backward();
  },
  "a choice between written and former elements": ({ x, w, v }) => {
    const out = x.mul(w), kept = out.clone();
    out.mul_(v);
    where(x.gt(0), out, kept).sum().backward();
  },
  "parts of a joined tensor": ({ x, w, v }) => {
    const both = cat([x.mul(w), x], 0);
    both.slice(0, 3).mul_(v);
    both.square().sum().backward();
  },
};

function leaves(): Leaves {
  const make = (shape: number[], seed: number) =>
    randn(shape).mul(0).add(1).cumsum(-1).mul(seed).sin().detach();
  return { x: make([3, 2], 1), w: make([2], 2).requiresGrad_(), v: make([2], 3).requiresGrad_() };
}

/** Returns everything observable after a step. */
function observe(step: (leaves: Leaves) => unknown): unknown {
  const made = leaves();
  const result = step(made);
  const list = (t: Tensor | null) => t === null ? null : t.tolist();
  const shown = result !== null && typeof result === "object" && "tolist" in result
    ? list(result as Tensor)
    : result;
  return { shown, grads: [made.x, made.w, made.v].map(({ grad }) => list(grad)), w: list(made.w.detach()) };
}

for (const [name, step] of Object.entries(STEPS)) {
  Deno.test(`in place and differentiated: ${name}`, () => {
    const wanted = observe(step);
    for (const backend of ["eager", "aot_eager"]) {
      assertEquals(observe(compile(step, { backend, fullgraph: true })), wanted, backend);
    }
  });
}

Deno.test("in place and differentiated: values that the gradient reads were overwritten", () => {
  const step = ({ x, w }: Leaves) => {
    const out = x.mul(w).exp();
    const next = out.sin();
    out.add_(1);
    next.sum().backward();
  };
  for (const backend of ["eager", "aot_eager"]) {
    assertThrows(() => compile(step, { backend })(leaves()), Error, "modified by an inplace operation");
  }
});

Deno.test("in place and differentiated: a second pass over released values", () => {
  const twice = ({ x, w, v }: Leaves) => {
    const out = x.mul(w).exp(), loss = out.mul(v).sum();
    loss.backward();
    return [loss, out.add(1), x.add(w).sum()];
  };
  for (const backend of ["eager", "aot_eager"]) {
    const [loss, behind, apart] = compile(twice, { backend })(leaves());
    assertEquals([loss, behind, apart].map((t) => t?.requiresGrad), [true, true, true]);
    assertThrows(() => loss?.backward(), Error, "a second time");
    assertThrows(() => behind?.sum().backward(), Error, "a second time");
    apart?.backward();
  }
});

Deno.test("in place and differentiated: inputs that share memory, and later ones that do not", () => {
  const step = ({ w, v }: Leaves, memory: Tensor, shown: Tensor) => {
    memory.mul_(w);
    shown.sum().add(v.sum()).backward();
    return [memory.requiresGrad, shown.requiresGrad];
  };
  const run = (program: typeof step) => {
    const made = leaves(), base = ones([2]);
    const flags = [
      program(made, ones([2]), ones([1])),
      program(made, base, base.slice(0, 0, 1)),
      program(made, ones([2]), ones([1])),
    ];
    return [flags, made.w.grad?.tolist(), made.v.grad?.tolist()];
  };
  for (const backend of ["eager", "aot_eager"]) {
    assertEquals(run(compile(step, { backend })), run(step), backend);
  }
});

Deno.test("gradients that read no overwritten value are those of the graph, and the others errors", () => {
  for (const backend of ["aot_eager", "inductor"]) {
    const both = compile((x: Tensor, w: Tensor, a: Tensor, b: Tensor) => [x.mul(a), w.mul(b).sin()], {
      backend,
    });
    const run = (written: 0 | 1, asked: 0 | 1) => {
      const leaves = [0, 1].map(() => tensor([1, 2], { dtype: "float32", requiresGrad: true }));
      const [x = zeros([2]), w = zeros([2])] = leaves;
      const a = tensor([3, 4], { dtype: "float32" }), b = tensor([5, 6], { dtype: "float32" });
      const results = both(x, w, a, b);
      (written === 0 ? a : b).add_(100);
      results[asked]?.sum().backward();
      return leaves[asked]?.grad?.tolist();
    };
    assertClose(run(1, 0), [3, 4], backend);
    assertClose(run(0, 1), [5 * Math.cos(5), 6 * Math.cos(12)], backend);
    for (const at of [0, 1] as const) {
      assertThrows(() => run(at, at), DynError, "modified by an inplace operation", backend);
    }
  }
});
