/** Saved tensors of backward passes: hooks that store them differently, and functions that are recomputed instead. */
import { assert, assertAlmostEquals, assertEquals, assertThrows, fail } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  config,
  func,
  isTensor,
  manualSeed,
  nn,
  ones,
  optim,
  randn,
  type Tensor,
  tensor,
  utils,
  zeros,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import { findTarget } from "../lib/ops/table.ts";
import { testInTurn } from "./support/costly_tests.ts";
import "./support/turns/models.ts";

const same = (a: Tensor | null, b: Tensor | null, where = "") => assert(a && b && a.equal(b), where);

Deno.test("hooks store saved tensors, and the backward pass reads what they unpack", () => {
  const x = randn([3]).requiresGrad_(), packed: Tensor[] = [];
  const run = (body: () => Tensor) => {
    packed.length = 0;
    const y = autograd.graph.savedTensorsHooks(
      (saved) => {
        packed.push(saved);
        return packed.length - 1;
      },
      (at) => (packed[at] ?? fail("a tensor")).mul(2),
      body,
    );
    const [gradient] = autograd.grad(y.sum(), x);
    return gradient ?? fail("a gradient");
  };
  assert(run(() => x.exp()).allclose(x.exp().mul(2)));
  assertEquals(packed.length, 1);
  const compiled = compile(() => run(() => x.mul(1).exp()));
  assert(compiled().allclose(x.exp().mul(2)), "compiled functions call hooks too");
  assert(run(() => x.mul(x)).allclose(x.mul(4)));
  assertEquals(packed.every((each) => !each.requiresGrad), true);
  assert(run(() => x.mul(1)).allclose(tensor([1.5, 1.5, 1.5]).mul(2 / 3)));
  const twice = autograd.graph.saveOnCpu(() => x.sin().mul(x).sum());
  const [first] = autograd.grad(twice, x, null, { createGraph: true });
  const [second] = autograd.grad(first?.sum() ?? fail("a gradient"), x);
  assert(second?.allclose(x.cos().mul(2).sub(x.sin().mul(x))), "hooks keep the history of what they keep");
  const wrong = autograd.graph.savedTensorsHooks((t) => t, () => zeros([2]), () => x.exp().sum());
  assertThrows(
    () => wrong.backward(),
    DynError,
    "float32 [3] from the unpack hook of a saved tensor but found float32 [2]",
  );
  assertThrows(
    () => autograd.graph.disableSavedTensorsHooks("No hooks here", () => autograd.graph.saveOnCpu(() => x)),
    DynError,
    "No hooks here",
  );
});

Deno.test("a checkpoint gives the gradients of a plain call, draws the same numbers and runs once more", () => {
  const model = new nn.Sequential(
    new nn.Linear(4, 8),
    new nn.Tanh(),
    new nn.Dropout(0.5),
    new nn.Linear(8, 4),
  );
  const x = randn([5, 4]), calls: string[] = [];
  const block = (x: Tensor, scale: number) => {
    calls.push("block");
    return model.call(x.mul(scale));
  };
  const gradients = (forward: (x: Tensor) => Tensor): readonly Tensor[] => {
    manualSeed(7);
    model.zeroGrad();
    const own = x.clone().requiresGrad_();
    const y = forward(own.mul(1));
    nn.functional.dropout(y, 0.5).square().sum().backward();
    return [own, ...model.parameters()].map(({ grad }) => grad ?? fail("a gradient"));
  };
  const expected = gradients((x) => block(x, 2));
  calls.length = 0;
  gradients((x) => utils.checkpoint(block, x, 2)).forEach((each, k) =>
    same(each, expected[k] ?? null, `gradient ${k}`)
  );
  assertEquals(calls.length, 2);
  const nested = gradients((x) => utils.checkpoint((x: Tensor) => utils.checkpoint(block, x, 2).mul(1), x));
  nested.forEach((each, k) => same(each, expected[k] ?? null, `nested, gradient ${k}`));
  const kept = gradients((x) => utils.checkpoint(block, x, 2, { preserveRngState: false }));
  assert(!kept.every((each, k) => each.equal(expected[k] ?? fail("a gradient"))), "other numbers are drawn");
  const functions = [
    (x: Tensor) => x.sin(),
    (x: Tensor) => x.exp(),
    (x: Tensor) => x.tanh(),
    (x: Tensor) => x.cos(),
  ];
  const chain = (x: Tensor) => functions.reduce((y, f) => f(y), x).sum();
  const [whole, parts] = [chain, (x: Tensor) => utils.checkpointSequential(functions, 2, x).sum()].map((f) =>
    func.grad(f)(x)
  );
  same(whole ?? null, parts ?? null, "segments");
});

Deno.test("a checkpoint saves only its arguments, and detects a function that does something else the second time", () => {
  const kept = new Set<unknown>(), x = randn([64]).requiresGrad_();
  const chain = (x: Tensor) => x.sin().exp().tanh().mul(x);
  const y = utils.checkpoint(chain, x);
  const [gradient] = autograd.grad(y.sum(), x, null, { retainGraph: true });
  same(gradient ?? null, autograd.grad(chain(x).sum(), x)[0] ?? null);
  same(autograd.grad(y.sum(), x)[0] ?? null, gradient ?? null, "a second pass");
  assertThrows(() => autograd.grad(y.sum(), x), DynError, "a second time");
  const changing = utils.checkpoint((x: Tensor) => {
    kept.add(kept.size);
    return kept.size > 1 ? x.mul(2) : x.sin().exp();
  }, x);
  assertThrows(
    () => changing.sum().backward(),
    DynError,
    "saved tensors from a function that checkpoint runs again",
  );
  let calls = 0;
  const smaller = utils.checkpoint((x: Tensor) => (calls++ === 0 ? x : x.slice(0, 0, 2)).sin().cos(), x);
  assertThrows(
    () => smaller.sum().backward(),
    DynError,
    "number 0 was float32 [64] on cpu and is float32 [2] on cpu",
  );
});

/** Compiles a program by a backend that counts what forward graphs hand to backward ones. */
function compiledBy(
  program: (x: Tensor) => Tensor,
): { readonly run: (x: Tensor) => Tensor; readonly kept: number[] } {
  const kept: number[] = [];
  const backend = compiler.aotAutograd({
    fwCompiler: (gm) => (...args) => {
      const results = gm.forward(...args);
      kept.push(Array.isArray(results) ? results.length : 1);
      return results;
    },
  });
  return { run: compile(program, { backend, fullgraph: true }), kept };
}

Deno.test("a checkpoint runs functions that differentiate within", () => {
  const slope = (x: Tensor) => {
    const w = ones([2]).requiresGrad_();
    const [first = w] = autograd.grad(w.mul(x.detach()).sum(), [w]);
    w.pow(3).mul(x.detach()).sum().backward();
    return x.mul(x).mul(first.add(w.grad ?? 0));
  };
  const gradient = (call: (x: Tensor) => Tensor) => {
    const x = tensor([1.5, 2]).requiresGrad_();
    call(x).sum().backward();
    return x.grad?.tolist();
  };
  // As PyTorch's: x² · 4x, where the derivative takes the slope as constant
  assertEquals(gradient((x) => utils.checkpoint(slope, x)), [18, 32]);
  const compiled = compile((x: Tensor) => utils.checkpoint(slope, x));
  for (let k = 0; k < 2; k++) assertEquals(gradient(compiled), [18, 32]);
});

Deno.test("in compiled code the backward graph recomputes a checkpoint, and less is saved", () => {
  const [a, b] = [randn([6, 6]), randn([6, 6])].map((each) => each.requiresGrad_());
  const w = [a ?? fail("a matrix"), b ?? fail("a matrix")] as const;
  const block = (x: Tensor): Tensor => nn.functional.dropout(x.matmul(w[0]).tanh().matmul(w[1]), 0.5).exp();
  const plain = (x: Tensor) => block(block(x).mul(2)).sum();
  const program = (x: Tensor) => utils.checkpoint(block, utils.checkpoint(block, x).mul(2)).sum();
  const gradients = (f: (x: Tensor) => Tensor): readonly Tensor[] => {
    manualSeed(3);
    const x = randn([6, 6]).requiresGrad_();
    w.forEach((each) => each.grad = null);
    f(x).backward();
    return [x, ...w].map(({ grad }) => grad ?? fail("a gradient"));
  };
  const expected = gradients(plain);
  const ordinary = compiledBy(plain), recomputing = compiledBy(program);
  for (const run of [program, ordinary.run, recomputing.run, compile(program, { fullgraph: true })]) {
    gradients(run).forEach((each, k) => assert(each.allclose(expected[k] ?? fail("a gradient"), 1e-4, 1e-4)));
  }
  const [all = 0] = ordinary.kept, [fewer = 0] = recomputing.kept;
  assert(fewer < all, `the forward graph gives ${fewer} tensors, of ${all} without checkpoints`);
});

Deno.test("a memory budget bounds the saved activations, and changes no gradient", () => {
  const model = new nn.Sequential(
    new nn.Conv2d(3, 6, 3, { bias: false }),
    new nn.BatchNorm2d(6),
    new nn.GELU(),
    new nn.Dropout(0.3),
    new nn.Flatten(),
    new nn.Linear(6 * 6 * 6, 32),
    new nn.Tanh(),
    new nn.LayerNorm(32),
    new nn.Linear(32, 4),
  );
  const x = randn([5, 3, 8, 8]).requiresGrad_();
  const parameters = [x, ...model.parameters()];
  /** Gradients, and the bytes of what the forward graph gives besides its result. */
  const step = (activationMemoryBudget: number, inner: "eager" | "inductor") =>
    config.patch({ activationMemoryBudget }, () => {
      let kept = 0;
      const backend = inner === "inductor" ? inner : compiler.aotAutograd({
        fwCompiler: (gm) => (...args) => {
          const results = gm.forward(...args);
          if (gm.signature?.role !== "forward" || !Array.isArray(results)) return results;
          for (const each of results.slice(1)) kept += isTensor(each) ? each.numel() * each.elementSize() : 0;
          return results;
        },
      });
      const call = compile((y: Tensor) => model.call(y), { backend, fullgraph: true });
      manualSeed(11);
      parameters.forEach((each) => each.grad = null);
      call(x).square().sum().backward();
      return { kept, gradients: parameters.map(({ grad }) => grad ?? fail("a gradient")) };
    });
  // Products that run once more may differ in their last bits
  const close = (found: readonly Tensor[], wanted: readonly Tensor[]) =>
    found.forEach((each, k) =>
      assert(each.allclose(wanted[k] ?? fail("a gradient"), 1e-4, 1e-5), `gradient ${k}`)
    );
  const usual = step(1, "eager");
  const shares = [0.75, 0.5, 0.25, 0].map((share) => {
    const { kept, gradients } = step(share, "eager");
    close(gradients, usual.gradients);
    // Updated running statistics are returned beside it
    const statistics = 2 * 6 * 4 + 8;
    assert(
      kept - statistics <= share * (usual.kept - statistics),
      `${kept} of ${usual.kept} bytes with ${share}`,
    );
    return kept;
  });
  assertEquals(shares.toSorted((a, b) => b - a), shares);
  close(step(0, "inductor").gradients, usual.gradients);
  assertThrows(
    () => step(1.5, "eager"),
    DynError,
    "Expected activationMemoryBudget to be in [0, 1] but found 1.5",
  );
});

testInTurn("budgets of whole steps", {
  name: "in a whole training step, a budget and checkpoints save less, with the same losses and parameters",
  fn: () => {
    class Block extends nn.Module {
      norm = new nn.LayerNorm(16);
      wide = new nn.Linear(16, 64);
      drop = new nn.Dropout(0.2);
      narrow = new nn.Linear(64, 16);
      isCheckpoint = false;

      override forward(x: Tensor): Tensor {
        return this.isCheckpoint ? utils.checkpoint((y: Tensor) => this.#body(y), x) : this.#body(x);
      }

      #body(x: Tensor): Tensor {
        return x.add(this.narrow.call(this.drop.call(nn.functional.gelu(this.wide.call(this.norm.call(x))))));
      }
    }
    const batch = [randn([128, 16]), randn([128, 16])];
    /** Losses and parameters of three steps over two parts of a batch, and the most that the graph holds in between. */
    const train = (
      { share = 1, isCheckpoint = false, backend, parts = 2 }: {
        readonly share?: number;
        readonly isCheckpoint?: boolean;
        readonly backend: "eager" | "aot_eager" | "inductor" | "arena";
        readonly parts?: number;
      },
    ) =>
      config.patch({ activationMemoryBudget: share }, () => {
        manualSeed(21);
        const model = new nn.Sequential(...Array.from({ length: 6 }, () => new Block()));
        for (const block of model) if (block instanceof Block) block.isCheckpoint = isCheckpoint;
        const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
        const step = (...batch: Tensor[]) => {
          optimizer.zeroGrad();
          let total = zeros([]);
          for (const part of batch) {
            const loss = model.call(part).square().mean();
            loss.backward();
            total = total.add(loss.detach());
          }
          optimizer.step();
          return total;
        };
        let arena = 0;
        const measured = compiler.aotAutograd({
          fwCompiler: (gm) => {
            arena = Math.max(
              arena,
              compileGraph(gm.graph, (target) => findTarget(target)?.definition).metrics.arenaBytes,
            );
            return (...args) => gm.forward(...args);
          },
        });
        const call = backend === "eager"
          ? step
          : compile(step, { backend: backend === "arena" ? measured : backend, fullgraph: true });
        const losses = [1, 2, 3].map(() => call(...batch.slice(0, parts)).item());
        return { losses, parameters: model.parameters().map((each) => each.detach()), arena };
      });
    const expected = train({ backend: "eager" }), usual = train({ backend: "arena" });
    const check = (found: typeof expected) => {
      expected.parameters.forEach((each, k) =>
        assert(found.parameters[k]?.allclose(each, 1e-3, 1e-4), `parameter ${k}`)
      );
      found.losses.forEach((loss, k) => assertAlmostEquals(loss, expected.losses[k] ?? NaN, 1e-4));
      return found;
    };
    check(usual);
    const { arena: alone } = train({ backend: "arena", parts: 1 });
    assert(usual.arena < 1.25 * alone, `${usual.arena} bytes for two parts of a batch, ${alone} for one`);
    const { arena: half } = check(train({ share: 0.5, backend: "arena" }));
    assert(half < 0.75 * usual.arena, `${half} of ${usual.arena} bytes with half of it saved`);
    const { arena: few } = check(train({ isCheckpoint: true, backend: "arena" }));
    assert(few < 0.7 * usual.arena, `${few} of ${usual.arena} bytes with checkpoints`);
    check(train({ share: 0.3, backend: "aot_eager" }));
    check(train({ share: 0.3, backend: "inductor" }));
  },
});
