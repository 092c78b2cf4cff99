/**
 * Compiled autograd: backward passes captured as they run give the results of plain ones, with hooks, compiled
 * functions and errors, and are compiled once.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  config,
  isTensor,
  manualSeed,
  nn,
  noGrad,
  ones,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { readNumbers } from "./zoo/numbers.ts";
import { ZOO } from "./zoo/zoo.ts";
import "./support/turns/gradients.ts";

const { compiledAutograd } = compiler;

/** Returns the captures and compilations during `body`, which runs with compiled autograd. */
function during(body: () => void): { passes: number; graphs: number; runs: number; plain: string[] } {
  const before = compiledAutograd.status();
  config.patch({ compiledAutograd: true }, body);
  const { passes, graphs, runs, plain } = compiledAutograd.status();
  return {
    passes: passes - before.passes,
    graphs: graphs - before.graphs,
    runs: runs - before.runs,
    plain: Object.keys(plain).filter((reason) => plain[reason] !== before.plain[reason]),
  };
}

const ONCE = { passes: 1, graphs: 1, runs: 1, plain: [] }, AGAIN = { ...ONCE, graphs: 0 };

function model(): nn.Sequential {
  manualSeed(3);
  return new nn.Sequential(new nn.Linear(6, 8), new nn.GELU(), new nn.LayerNorm(8), new nn.Linear(8, 4));
}

const gradientsOf = (module: nn.Module) => [...module.parameters()].map(({ grad }) => grad?.tolist() ?? null);

/** Gradients of a module after a pass. */
function gradients(module: nn.Module, loss: () => Tensor): unknown[] {
  module.zeroGrad();
  loss().backward();
  return gradientsOf(module);
}

Deno.test("a backward pass is one graph, compiled once, with the bits of the plain one", () => {
  const module = model(), x = randn(5, 6), loss = () => module.call(x).pow(2).mean();
  const plain = gradients(module, loss);
  assertEquals(during(() => assertEquals(gradients(module, loss), plain)), ONCE);
  assertEquals(during(() => assertEquals(gradients(module, loss), plain)), AGAIN);
  const y = randn(7, 6), other = () => module.call(y).pow(2).mean(), wide = gradients(module, other);
  assertEquals(during(() => assertEquals(gradients(module, other), wide)), ONCE);
});

Deno.test("compiled passes accumulate into existing gradients, in their memory, and share none", () => {
  const a = ones(3).requiresGrad_(), b = ones(3).requiresGrad_();
  const pass = () => a.add(b).sum().backward();
  assertEquals(during(pass), ONCE);
  const grad = a.grad, view = a.grad?.view(3);
  assertEquals([a.grad?.tolist(), b.grad?.tolist()], [[1, 1, 1], [1, 1, 1]]);
  noGrad(() => b.grad?.mul_(10));
  assertEquals(a.grad?.tolist(), [1, 1, 1]);
  assertEquals(during(pass), ONCE);
  assert(a.grad === grad);
  assertEquals([view?.tolist(), b.grad?.tolist()], [[2, 2, 2], [11, 11, 11]]);
  assertEquals(during(pass), AGAIN);
  assertEquals(view?.tolist(), [3, 3, 3]);
});

Deno.test("backward graphs of compiled functions, broken ones too, become part of the one graph", () => {
  const module = model(), [first, , , last] = module;
  assert(first && last);
  const x = randn(5, 6);
  const broken = compile((x: Tensor) => {
    const hidden = first.call(x).relu();
    return last.call(hidden).mul(hidden.sum().item() > 0 ? 1 : 2).sum();
  });
  const plain = gradients(module, () => broken(x));
  assertEquals(during(() => assertEquals(gradients(module, () => broken(x)), plain)), ONCE);
  assertEquals(during(() => assertEquals(gradients(module, () => broken(x)), plain)), AGAIN);
  assertEquals(compiler.status(broken).graphBreaks, 1);
});

Deno.test("hooks run in order, and in the graph unless they read elements", () => {
  const module = model(),
    x = randn(5, 6),
    [first, , , last] = module,
    loss = () => module.call(x).pow(2).mean();
  assert(first instanceof nn.Linear && last instanceof nn.Linear);
  const order: string[] = [];
  first.weight.registerHook((grad) => {
    order.push("first");
    return grad.mul(2);
  });
  last.weight.registerHook((grad) => void order.push(`last ${grad.shape}`));
  const plain = gradients(module, loss), expected = order.splice(0);
  assertEquals(during(() => assertEquals(gradients(module, loss), plain)), ONCE);
  assertEquals(order.splice(0), expected);
  const sums: number[] = [];
  last.weight.registerHook((grad) => void sums.push(grad.sum().item()));
  last.weight.registerPostAccumulateGradHook(({ grad }) => void sums.push(grad?.sum().item() ?? NaN));
  gradients(module, loss);
  const [seen, added] = sums.splice(0);
  const cut = during(() => assertEquals(gradients(module, loss), plain));
  assertEquals([cut.passes, cut.runs > 1, sums], [1, true, [seen, added]]);
});

Deno.test("retained graphs, requested gradients and user-defined Functions", () => {
  const x = tensor([1, 2, 3], { dtype: "float32" }).requiresGrad_();
  const kept: Tensor[] = [];
  class Cube extends autograd.Function {
    static override forward(context: autograd.FunctionContext, x: Tensor): Tensor {
      context.saveForBackward(x);
      return x.mul(x).mul(x);
    }
    static override backward(context: autograd.FunctionContext, grad: Tensor): Tensor {
      const [x] = context.savedTensors;
      assert(isTensor(x));
      const local = x.mul(x).mul(3);
      kept.push(local);
      return grad.mul(local);
    }
  }
  const result = Cube.apply(x);
  assert(isTensor(result));
  const loss = result.sum();
  assertEquals(during(() => loss.backward({ retainGraph: true })), ONCE);
  assertEquals(during(() => loss.backward()).runs, 1);
  assertEquals([x.grad?.tolist(), ...kept.map((each) => each.tolist())], [[6, 24, 54], [3, 12, 27], [
    3,
    12,
    27,
  ]]);
  const [asked] = config.patch({ compiledAutograd: true }, () => autograd.grad(x.exp().sum(), x));
  assertEquals(asked?.tolist(), x.exp().tolist());
});

Deno.test("errors of a compiled pass are those of the plain one, and have the same effects", () => {
  const outcome = (enabled: boolean) =>
    config.patch({ compiledAutograd: enabled }, () => {
      const a = ones(3).requiresGrad_(), b = ones(3).requiresGrad_();
      const early = a.mul(2);
      const failing = early.mul(b);
      failing.registerHook(() => {
        throw new RangeError("from a hook");
      });
      const late = b.mul(3);
      const thrown = assertThrows(() => failing.sum().add(late.sum()).backward(), RangeError).message;
      const twice = a.exp().sum();
      twice.backward();
      const freed = assertThrows(() => twice.backward(), Error).message;
      return [thrown, freed, a.grad?.tolist() ?? null, b.grad?.tolist() ?? null];
    });
  assertEquals(outcome(true), outcome(false));
});

Deno.test("uncaptured code runs plainly and is counted", () => {
  const x = ones(3).requiresGrad_(), square = () => x.mul(x).sum();
  assertEquals(during(() => square().backward({ createGraph: true })).plain, ["createGraph"]);
  assertEquals(during(() => autograd.detectAnomaly(() => square().backward())).plain, ["anomaly mode"]);
  assertEquals(during(() => compiledAutograd.disable(() => square().backward())).passes, 0);
  const before = compiledAutograd.status().passes;
  compiledAutograd.enable("eager", () => square().backward());
  assertEquals(compiledAutograd.status().passes, before + 1);
  const limited = during(() =>
    config.patch({ cacheSizeLimit: 2 }, () => {
      for (let n = 1; n < 5; n++) ones(n, { requiresGrad: true }).cosh().sum().backward();
    })
  );
  assertEquals([limited.passes, limited.graphs], [4, 2]);
});

for (const name of ["vae", "gpt2"]) {
  Deno.test(`compiled passes of ${name} from the zoo have its gradients`, async () => {
    const specimen = ZOO.find((each) => each.name === name);
    assert(specimen);
    const numbers = await readNumbers(name);
    const subject = specimen.make({ dropout: 0 });
    subject.model.loadStateDict(numbers.state);
    const loss = () => subject.loss(...numbers.batch);
    const plain = gradients(subject.model, loss).flat(Infinity).map(Number);
    const found: number[] = [];
    const captured = during(() => {
      found.push(...gradients(subject.model, loss).flat(Infinity).map(Number));
      gradients(subject.model, loss);
    });
    assertEquals(captured, { passes: 2, graphs: 1, runs: 2, plain: [] });
    const scale = Math.hypot(...plain.map((each) => each)),
      error = Math.hypot(...plain.map((each, k) => each - (found[k] ?? NaN)));
    assert(
      error <= 1e-6 * scale,
      `Expected equal gradients but found a relative distance of ${error / scale}`,
    );
  });
}
