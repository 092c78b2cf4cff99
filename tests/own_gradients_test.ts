/**
 * Gradients of compiled steps return their memory when the next ones take their place, unless the program holds them
 * in any way. What code of the program sees or makes during a backward pass keeps its elements.
 */
import { assertEquals } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  isTensor,
  nn,
  optim,
  overrides,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import type { GraphBackend } from "../lib/graph/backend.ts";
import { lookupBackend } from "../lib/graph/backends.ts";
import type { GraphCompiler } from "../lib/graph/interpose.ts";
import { Storage } from "../lib/tensor/storage.ts";

interface Step {
  readonly leaves: readonly Tensor[];
  readonly x: Tensor;
  /** Tensors that the program keeps. */
  readonly held: Tensor[];
}

const made = (): Step => ({
  leaves: [
    tensor([0.5, -1, 2, 3], { requiresGrad: true }),
    tensor([1, 2, -0.5, 0.25], { requiresGrad: true }),
  ],
  x: tensor([1.5, 2, 3, 4]),
  held: [],
});

const loss = ({ leaves, x }: Step): Tensor => {
  const [a, b] = leaves;
  return a && b ? a.mul(x).tanh().mul(b).add(a.mul(b)).sum() : x.sum();
};

function clear({ leaves }: Step): void {
  for (const leaf of leaves) leaf.grad = null;
}

/** Keeps the tensors to which others are added in place. */
class Targets extends overrides.TensorDispatchMode {
  constructor(readonly held: Tensor[]) {
    super();
  }

  override dispatch(call: overrides.OpCall): overrides.OpResult {
    const { self } = call.args;
    if (call.name === "add_" && isTensor(self)) this.held.push(self);
    return call.run();
  }
}

/** Programs of one step, and what they do with its gradients. */
const HOLDERS: Readonly<Record<string, { step(s: Step): unknown; between?(s: Step): void }>> = {
  "read between steps": {
    step(s) {
      clear(s);
      loss(s).backward();
    },
    between(s) {
      for (const { grad } of s.leaves) if (grad) s.held.push(grad);
    },
  },
  "a view read between steps": {
    step(s) {
      clear(s);
      loss(s).backward();
    },
    between(s) {
      for (const leaf of s.leaves) if (leaf.grad) s.held.push(leaf.grad.at("1:3"), leaf.grad.detach());
    },
  },
  "returned": {
    step(s) {
      clear(s);
      loss(s).backward();
      return s.leaves.map((leaf) => leaf.grad);
    },
  },
  "a view returned": {
    step(s) {
      clear(s);
      loss(s).backward();
      return s.leaves.map((leaf) => leaf.grad?.view(2, 2));
    },
  },
  "kept by the step": {
    step(s) {
      clear(s);
      loss(s).backward();
      for (const leaf of s.leaves) if (leaf.grad) s.held.push(leaf.grad);
    },
  },
  "the gradient of another leaf": {
    step(s) {
      const [a, b] = s.leaves;
      clear(s);
      loss(s).backward();
      if (a && b) b.grad = a.grad;
    },
    between(s) {
      const [a, b] = s.leaves;
      if (a && b?.grad) {
        s.held.push(b.grad);
        a.grad = null;
      }
    },
  },
  "an input itself": {
    step(s) {
      clear(s);
      const [a] = s.leaves;
      a?.mul(s.x).sum().backward();
    },
    between: (s) => void s.held.push(s.x),
  },
  "a hook": {
    step(s) {
      clear(s);
      loss(s).backward();
    },
    between(s) {
      if (s.held.length > 0) return;
      for (const leaf of s.leaves) {
        leaf.registerPostAccumulateGradHook((done) => {
          if (done.grad) s.held.push(done.grad);
        });
      }
    },
  },
  "a mode in which it is added to": {
    step(s) {
      clear(s);
      loss(s).backward();
    },
    between(s) {
      new Targets(s.held).run(() => loss(s).backward());
    },
  },
  "added to": {
    step(s) {
      loss(s).backward();
    },
    between(s) {
      for (const { grad } of s.leaves) if (grad) s.held.push(grad.clone());
    },
  },
  "a second gradient through it": {
    step(s) {
      clear(s);
      loss(s).backward(undefined, { createGraph: true });
      const [a] = s.leaves;
      return a?.grad?.pow(2).sum();
    },
  },
};

/** All that a program holds after some steps. */
function holdings(form: (step: (s: Step) => unknown) => (s: Step) => unknown, holder: string): unknown[] {
  const { step, between } = HOLDERS[holder] ?? { step: clear };
  const s = made(), run = form(step), returned: unknown[] = [];
  for (let k = 0; k < 4; k++) {
    returned.push(run(s));
    between?.(s);
    s.x.add_(0.25);
  }
  const text = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(text) : (value as Tensor | undefined)?.tolist();
  return [returned, s.held, s.leaves.map((leaf) => leaf.grad ?? undefined)].map(text);
}

for (const holder of Object.keys(HOLDERS)) {
  Deno.test(`gradients keep their elements: ${holder}`, () => {
    const wanted = holdings((step) => step, holder);
    assertEquals(holdings((step) => compile(step), holder), wanted);
  });
}

Deno.test("gradients keep their elements: results of a backend that keeps them", () => {
  const kept: unknown[] = [], build = lookupBackend("inductor"), s = made();
  const step = compile((s: Step) => {
    clear(s);
    loss(s).backward();
  }, {
    backend: (gm, examples) => {
      const run = build(gm, examples);
      return (...args: unknown[]) => {
        const results = typeof run === "function" ? run(...args) : null;
        kept.push(results);
        return results;
      };
    },
  });
  for (let k = 0; k < 3; k++) step(s);
  const elements = kept.flat().map((each) => isTensor(each) ? each.tolist() : null);
  assertEquals(elements.slice(0, 2), s.leaves.map((leaf) => leaf.grad?.tolist() ?? null));
  assertEquals([elements.length, elements.slice(2, 4)], [6, elements.slice(0, 2)]);
});

/** Tensors that code of the program has seen, and their elements then. */
class Seen {
  readonly #elements = new Map<Tensor, unknown>();

  note(values: unknown): void {
    for (const each of [values].flat()) if (isTensor(each)) this.#elements.set(each, each.tolist());
  }

  /** Checks that there are tensors, which still have their elements. */
  check(): void {
    assertEquals(this.#elements.size > 0, true);
    for (const [each, elements] of this.#elements) assertEquals(each.tolist(), elements);
  }
}

const notes = (seen: Seen): GraphCompiler => (gm) => (...args) => {
  const results = gm.forward(...args);
  seen.note(results);
  return results;
};

/** Returns the same tensors in each call, as for graphs whose results are constants. */
const folds: GraphCompiler = (gm) => {
  let results: unknown;
  return (...args) => results ??= gm.forward(...args);
};

Deno.test("results that compilers of functional graphs keep have their elements", () => {
  const seen = new Seen(), s = made(), target = tensor([1, 2, 3, 4]);
  const backend = compiler.aotAutograd({ fwCompiler: notes(seen) });
  const forward = compile((s: Step) => {
    target.mul_(2);
    return loss(s).mul(s.x.view(2, 2).matmul(s.leaves[0]?.view(2, 2) ?? s.x).exp().sum());
  }, { backend });
  for (let k = 0; k < 2; k++) {
    clear(s);
    forward(s).backward();
  }
  seen.check();
  assertEquals(target.tolist(), [4, 8, 12, 16]);
});

Deno.test("compilers may return the same results again", () => {
  const [u] = made().leaves, target = tensor([1, 2, 3, 4]);
  const gradients = compile((u: Tensor) => u.mul(2).sum(), {
    backend: compiler.aotAutograd({ fwCompiler: (gm) => gm.forward, bwCompiler: folds }),
  });
  const write = compile((x: Tensor) => x.fill_(7).add(1), {
    backend: compiler.aotAutograd({ fwCompiler: folds }),
  });
  for (let k = 1; k <= 3; k++) {
    if (u) gradients(u).backward();
    assertEquals(u?.grad?.tolist(), [2 * k, 2 * k, 2 * k, 2 * k]);
    target.add_(k);
    assertEquals([write(target).tolist(), target.tolist()], [[8, 8, 8, 8], [7, 7, 7, 7]]);
  }
});

Deno.test("backends of compiled backward passes may keep their results and return them again", () => {
  const seen = new Seen(), twice = (leaf: Tensor | undefined) => leaf?.mul(2).sum().backward();
  for (const [name, backend] of [["keeps", notes(seen)], ["folds", folds]] as const) {
    const [u, v] = made().leaves;
    compiler.compiledAutograd.enable(backend, () => {
      twice(u);
      twice(v);
      if (name === "keeps") twice(u);
    });
    v?.grad?.add_(1);
    assertEquals(u?.grad?.sum().item(), name === "keeps" ? 16 : 8);
    assertEquals(v?.grad?.sum().item(), 12);
  }
  seen.check();
});

Deno.test("gradients that a mode has seen keep their elements when others are added", () => {
  const seen = new Seen(), s = made();
  class Notes extends overrides.TensorDispatchMode {
    override dispatch(call: overrides.OpCall): overrides.OpResult {
      const result = call.run();
      if (call.name !== "clone") seen.note(result);
      return result;
    }
  }
  new Notes().run(() => loss(s).backward());
  loss(s).backward();
  seen.check();
});

Deno.test("tensors that hooks of saved tensors make and keep have their elements", () => {
  const seen = new Seen(), s = made(), unpacked = new Map<object, Tensor>();
  const total = autograd.graph.savedTensorsHooks(
    (saved) => ({ saved: saved.clone() }),
    (packed) =>
      unpacked.getOrInsertComputed(packed, () => {
        const doubled = packed.saved.mul(2), found = doubled.div(2);
        seen.note([doubled, found]);
        return found;
      }),
    () => loss(s),
  );
  for (let k = 0; k < 2; k++) total.backward(undefined, { retainGraph: true });
  seen.check();
  const [a] = s.leaves, twice = a?.grad?.tolist();
  clear(s);
  for (let k = 0; k < 2; k++) loss(s).backward();
  assertEquals(twice, a?.grad?.tolist());
});

Deno.test("tensors that a mode makes of results have their elements", () => {
  const seen = new Seen(), s = made();
  class Sums extends overrides.TensorDispatchMode {
    override dispatch(call: overrides.OpCall): overrides.OpResult {
      const result = call.run();
      if (isTensor(result)) seen.note(result.detach().add(1).sum());
      return result;
    }
  }
  new Sums().run(() => loss(s).backward());
  seen.check();
});

Deno.test("gradients keep their elements: a backend with the name of another one", () => {
  const seen = new Seen(), s = made(), build = lookupBackend("inductor");
  const inductor: GraphBackend = (gm, examples) => {
    const run = build(gm, examples);
    return run && ((...args) => {
      const results = run(...args);
      seen.note(results);
      return results;
    });
  };
  const step = compile((s: Step) => {
    clear(s);
    loss(s).backward();
  }, { backend: inductor });
  for (let k = 0; k < 3; k++) step(s);
  seen.check();
});

Deno.test("gradients that only leaves refer to return their memory when others take their place", () => {
  const model = new nn.Sequential(new nn.Linear(4, 8), new nn.Tanh(), new nn.Linear(8, 2)), x = randn([3, 4]);
  const optimizer = new optim.Adam(model.parameters());
  const step = compile((x: Tensor) => {
    optimizer.zeroGrad();
    const loss = model.call(x).pow(2).mean();
    loss.backward();
    optimizer.step();
    return loss;
  });
  step(x);
  const { release } = Storage.prototype, released: Storage[] = [];
  Storage.prototype.release = function () {
    released.push(this);
    release.call(this);
  };
  try {
    for (let k = 0; k < 3; k++) step(x);
    const grads = [...model.parameters()].map(({ grad }) => grad?.storage);
    assertEquals(released.length >= 12, true);
    assertEquals(grads.every((each) => each?.filled && !released.includes(each)), true);
    const before = released.length;
    optimizer.zeroGrad();
    assertEquals(released.length, before);
  } finally {
    Storage.prototype.release = release;
  }
});
