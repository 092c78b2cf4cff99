/** Training steps: forward, backward and update as one graph. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Linear } from "../lib/nn/linear.ts";
import { ReLU } from "../lib/nn/activation.ts";
import { Sequential } from "../lib/nn/container.ts";
import { Adam } from "../lib/optim/adam.ts";
import { SGD } from "../lib/optim/sgd.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import { ops } from "../lib/tensor/eager.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

function wave(shape: readonly number[], seed: number): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  return vector(...Array.from({ length: count }, (_, i) => Math.sin(1.3 * i + seed))).reshape(shape);
}

type Optimizer = (params: Iterable<Tensor>) => { step(): void; zeroGrad(): void };

function training(optimizer: Optimizer) {
  const model = new Sequential(new Linear(3, 4), new ReLU(), new Linear(4, 2));
  let seed = 1;
  noGrad(() => {
    for (const p of model.parameters()) p.copy_(wave(p.shape, seed++));
  });
  const optim = optimizer(model.parameters());
  const step = (x: Tensor, y: Tensor): Tensor => {
    optim.zeroGrad();
    const loss = model.forward(x).sub(y).pow(2).mean();
    loss.backward();
    optim.step();
    return loss;
  };
  return { model, step };
}

const OPTIMIZERS: readonly (readonly [name: string, make: Optimizer])[] = [
  ["SGD", (p) => new SGD(p, { lr: 0.1 })],
  ["SGD with momentum", (p) => new SGD(p, { lr: 0.1, momentum: 0.9 })],
  ["Adam", (p) => new Adam(p, { lr: 0.01 })],
];

for (const [name, make] of OPTIMIZERS) {
  Deno.test(`a step of ${name} is one graph, and trains as it does uncompiled`, () => {
    const plain = training(make), traced = training(make);
    const c = capture(traced.step, { fullgraph: true });
    for (let i = 0; i < 4; i++) {
      const x = wave([5, 3], 10 + i), y = wave([5, 2], 20 + i);
      assertEquals(list(c.run(x, y).detach()), list(plain.step(x, y).detach()));
    }
    const weights = (m: typeof plain.model) => m.parameters().map((p) => list(p.detach()));
    const grads = (m: typeof plain.model) => m.parameters().map((p) => list(p.grad));
    assertEquals(weights(traced.model), weights(plain.model));
    assertEquals(grads(traced.model), grads(plain.model));
    // The step that begins the optimizer's state is the graph of all others
    assertEquals(c.graphs.length, 1);
  });
}

Deno.test("gradients accumulate into what is there, and stay the same tensor", () => {
  const fn = (x: Tensor) => x.mul(x).sum().backward();
  const c = capture(fn, { fullgraph: true });
  const x = vector(1, 2).requiresGrad_();
  c.run(x);
  const first = x.grad;
  c.run(x);
  assertEquals(list(x.grad), [4, 8]);
  assert(x.grad === first);
});

Deno.test("a result of the graph carries gradients out of it, through breaks too", () => {
  const fn = (x: Tensor, w: Tensor) => {
    const h = x.matmul(w).tanh();
    const s = h.sum().item() as number;
    return h.mul(s > 0 ? 2 : 3).sum();
  };
  const c = capture(fn);
  const leaves = () =>
    [wave([2, 3], 1).detach().requiresGrad_(), wave([3, 2], 2).detach().requiresGrad_()] as const;
  const [x, w] = leaves(), [u, v] = leaves();
  c.run(x, w).backward();
  fn(u, v).backward();
  assertEquals([list(x.grad), list(w.grad)], [list(u.grad), list(v.grad)]);
});

Deno.test("a leaf with a hook leaves the backward pass to the tape", () => {
  let fired = 0;
  const c = capture((x: Tensor) => {
    ops.sum(x.mul(3)).backward();
  });
  const x = vector(1).requiresGrad_();
  x.registerHook((g) => {
    fired++;
    return g.mul(10);
  });
  c.run(x);
  assertEquals([list(x.grad), fired], [[30], 1]);
});

Deno.test("a second backward pass through one result fails as it does uncompiled", () => {
  const fn = (w: Tensor) => {
    const loss = w.sin().sum();
    loss.backward();
    try {
      loss.backward();
      return "passed";
    } catch (e) {
      return e instanceof Error ? e.message : "";
    }
  };
  const traced = vector(1, 2).requiresGrad_(), plain = vector(1, 2).requiresGrad_();
  assertEquals(capture(fn).run(traced), fn(plain));
  assertEquals(list(traced.grad), list(plain.grad));
});

Deno.test("outside of the graph, too, a result whose backward pass has run cannot be differentiated again", () => {
  const c = capture((w: Tensor) => {
    const loss = w.sin().sum();
    loss.backward();
    return loss;
  });
  const w = vector(1, 2).requiresGrad_();
  const loss = c.run(w);
  const before = list(w.grad);
  assertThrows(() => loss.backward());
  assertEquals(list(w.grad), before);
});

Deno.test("two passes through one graph that is retained, with arguments in every form", () => {
  const fn = (w: Tensor) => {
    const h = w.sin();
    const first = h.sum(), second = h.pow(2);
    first.backward({ retainGraph: true });
    second.backward({ gradient: w.detach().mul(2), retainGraph: true });
    first.backward(null, true);
    first.backward(null, { retainGraph: false });
    return first.detach();
  };
  const traced = vector(1, 2).requiresGrad_(), plain = vector(1, 2).requiresGrad_();
  const c = capture(fn);
  assertEquals(list(c.run(traced)), list(fn(plain)));
  assertEquals(list(traced.grad), list(plain.grad));
});
