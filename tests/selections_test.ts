/**
 * Selections by masks in graphs without sizes that depend on elements: what flows back at the same mask is one graph,
 * and anything else ends the graph where the selection is made, with the results of plain calls.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { clone, compile, compiler, isTensor, maximum, type Tensor, tensor, where } from "../mod.ts";

type Run = (x: Tensor, y: Tensor) => unknown;

const VALUES = [[[1, -2, 3], [0, 5, -6]], [[0.5, -2, 3.5], [0, 1, -0.25]]];

const shown = (value: unknown): unknown =>
  isTensor(value) ? [value.shape, value.tolist()] : Array.isArray(value) ? value.map(shown) : value;

/** The result of a call, its arguments afterwards, and the gradients of floats in the result. */
function observed(run: Run): unknown {
  const leaves = VALUES.map((values) => tensor(values, { dtype: "float64" }).requiresGrad_());
  const [x, y] = leaves.map((leaf) => leaf.mul(1));
  if (!x || !y) throw new Error("no arguments");
  const result = run(x, y), plain = VALUES.map((values) => tensor(values, { dtype: "float64" }));
  const [p, q] = plain;
  if (!p || !q) throw new Error("no arguments");
  const without = run(p, q);
  if (isTensor(result) && result.requiresGrad) result.sum().backward();
  else if (x.requiresGrad) x.sum().backward();
  return [
    shown(result),
    shown(kept.selection),
    shown(x),
    shown(y),
    leaves.map(({ grad }) => grad && grad.tolist()),
    shown(without),
    plain.map(shown),
  ];
}

const kept: { selection: Tensor | null } = { selection: null };

function twice(s: Tensor): Tensor {
  return s.add(s);
}

/** Programs of one graph. */
const WHOLE: Readonly<Record<string, Run>> = {
  "an elementwise function of what a mask selects": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).mul(2).add(1).log());
    return x;
  },
  "a function that is not defined elsewhere": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).sqrt().div(y.at(m)).sub(1).log1p());
    return x;
  },
  "several selections by one mask": (x, y) => {
    const m = y.gt(0), s = y.at(m), t = x.at(m);
    x.set([m], s.mul(t));
    y.set([m], s.sub(t));
    return x.mul(y);
  },
  "other functions of the program": (x, y) => {
    const m = y.gt(0), s = twice(y.at(m));
    x.set([m], twice(s));
    return x;
  },
  "rows": (x, y) => {
    const m = y.sum(1).gt(0);
    x.set([m], y.at(m).mul(tensor([1, 2, 3], { dtype: "float64" })).exp());
    return x;
  },
  "both sides of a condition": (x, y) => {
    const m = y.gt(0), other = m.logicalNot();
    x.set([m], y.at(m).exp());
    x.set([other], y.at(other).neg());
    return x;
  },
  "a tensor that is written to between the selection and its use": (x, y) => {
    const m = y.gt(0), s = y.at(m);
    y.mul_(3);
    x.set([m], s.add(y.at(m)));
    return x;
  },
  "a loop over masks": (x, y) => {
    for (let k = -2; k < 2; k++) {
      const m = y.gt(k);
      x.set([m], x.at(m).mul(0.5).add(k));
    }
    return x;
  },
  "numbers of one element": (x, y) => {
    const m = y.gt(0), c = tensor(3, { dtype: "float64" });
    x.set([m], maximum(y.at(m).mul(c), c));
    return x;
  },
  "a choice within": (x, y) => {
    const m = y.gt(-1), s = y.at(m);
    x.set([m], where(s.gt(0), s, s.mul(0.1)));
    return x;
  },
  "functions in several steps": (x, y) => {
    const m = y.gt(0), s = y.at(m);
    x.set([m], s.square().add(s.mul(3).round()).clamp(0, 8).logit(0.1).nanToNum());
    return x;
  },
  "what is not used": (x, y) => {
    y.at(y.gt(0));
    return x.mul(2);
  },
};

/** Programs whose graph ends at a selection, with the number of breaks. */
const ENDING: Readonly<Record<string, Run>> = {
  "a selection is returned": (_x, y) => y.at(y.gt(0)).mul(2),
  "a selection in a list is returned": (_x, y) => [y.at(y.gt(0)).mul(2)],
  "the number of elements is read after the write": (x, y) => {
    const m = y.gt(0), s = y.at(m);
    x.set([m], s);
    return s.numel();
  },
  "the sum is taken": (_x, y) => y.at(y.gt(0)).sum(),
  "a mask is written to in between": (x, y) => {
    const m = y.gt(0), s = y.at(m);
    m.set([0, 1], true);
    m.set([1, 1], false);
    x.set([m], s.mul(2));
    return x;
  },
  "a mask is written to through a view in between": (x, y) => {
    const m = y.gt(0), s = y.at(m);
    m.at(0).set([1], true);
    m.at(1).set([1], false);
    x.set([m], s.mul(2));
    return x;
  },
  "an equal mask": (x, y) => {
    x.set([y.gt(0)], y.at(y.gt(0)).mul(2));
    return x;
  },
  "a tensor of the selected size": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).mul(tensor([1, 2, 3], { dtype: "float64" })));
    return x;
  },
  "a gradient of one element": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).mul(y.mean()));
    return x;
  },
  "a view": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).unsqueeze(0).mul(2).squeeze(0));
    return x;
  },
  "a cumulative sum": (x, y) => {
    const m = y.gt(0);
    x.set([m], y.at(m).cumsum(0));
    return x;
  },
  "an object of the program keeps it": (x, y) => {
    kept.selection = y.at(y.gt(0)).mul(2);
    return x.add(1);
  },
};

for (const [what, run] of Object.entries(WHOLE)) {
  Deno.test(`a selection by a mask flows back: ${what}`, () => {
    const { graphCount, breakReasons } = compiler.explain(run)(...pair());
    assertEquals([graphCount, breakReasons.length], [1, 0]);
    for (const backend of ["eager", "aot_eager"]) {
      assertEquals(observed(compile(run, { backend, fullgraph: true })), observed(run), backend);
    }
  });
}

for (const [what, run] of Object.entries(ENDING)) {
  Deno.test(`a graph ends at a selection by a mask: ${what}`, () => {
    const ids = compiler.explain(run)(...pair()).breakReasons.map(({ id }) => id);
    assertEquals([...new Set(ids)], ["GB0008"]);
    assertEquals(observed(compile(run, { backend: "aot_eager" })), observed(run));
    const whole = compile(run, { backend: "eager", fullgraph: true });
    assertThrows(() => whole(...pair()), Error, "GB0008");
  });
}

function pair(): [Tensor, Tensor] {
  const [x, y] = VALUES.map((values) => tensor(values, { dtype: "float64", requiresGrad: true }));
  if (!x || !y) throw new Error("no arguments");
  return [clone(x), clone(y)];
}

Deno.test("kernels of a selection that flows back have eager's bits", () => {
  const run = (x: Tensor, y: Tensor) => {
    const m = y.gt(0);
    x.set([m], y.at(m).exp().mul(1.1).sin());
    return x;
  };
  assertEquals(observed(compile(run)), observed(run));
});
