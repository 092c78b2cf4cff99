/** Values that depend only on parameters and buffers are computed once, and again when these change. */
import { assert, assertEquals } from "@std/assert";
import {
  autocast,
  compile,
  type CompileOptions,
  logs,
  nn,
  noGrad,
  ones,
  optim,
  randn,
  type Tensor,
} from "../mod.ts";
import "./support/turns/models.ts";

const frozen: CompileOptions = { options: { freezing: true, errorOnFallback: true } };

/** The perf hints of a body. */
function hints(body: () => unknown): string {
  const texts: string[] = [];
  logs.capture("perf_hints", (_artifact, text) => texts.push(text), body);
  return texts.join("\n");
}

function assertNear(found: Tensor, expected: Tensor): void {
  const error = Number(found.sub(expected).abs().max().item());
  assert(error < 1e-5, `Expected ${expected} but found ${found}`);
}

function network(): nn.Sequential {
  const model = new nn.Sequential(new nn.Conv2d(3, 4, 3), new nn.BatchNorm2d(4), new nn.ReLU());
  noGrad(() => {
    for (const buffer of model.buffers()) {
      if (buffer.dtype === "float32") buffer.copy_(randn(buffer.shape).abs());
    }
  });
  return model.eval();
}

Deno.test("scales of a normalisation are computed once, and again after every kind of change", () => {
  const model = network(), x = randn([2, 3, 6, 6]);
  const f = compile((x: Tensor) => model.call(x), frozen);
  const check = () => noGrad(() => assertNear(f(x), model.call(x)));
  assert(
    /^\d+ operations on parameters and buffers are done once/m.test(hints(check)),
    "operations are kept",
  );
  check();
  const [, normalization] = model;
  assert(normalization instanceof nn.BatchNorm2d, "a normalisation");
  const { weight, runningVar } = normalization;
  assert(weight && runningVar, "a weight and a variance");
  noGrad(() => weight.mul_(3));
  check();
  runningVar.fill_(7);
  check();
  model.loadStateDict(network().stateDict());
  check();
  normalization.weight = new nn.Parameter(randn([4]));
  check();
});

Deno.test("graphs with gradients, and buffers that a graph writes to, are unchanged", () => {
  const model = network().train(), twin = network().train();
  twin.loadStateDict(model.stateDict());
  const x = randn([2, 3, 6, 6]);
  const f = compile((x: Tensor) => model.call(x), frozen);
  for (let i = 0; i < 3; i++) noGrad(() => assertNear(f(x), twin.call(x)));
  f(x).sum().backward();
  twin.call(x).sum().backward();
  const [found, expected] = [model, twin].map((each) => [...each.parameters()].map(({ grad }) => grad));
  found?.forEach((grad, i) => grad && expected?.[i] && assertNear(grad, expected[i]));
  model.eval();
  twin.eval();
  noGrad(() => assertNear(f(x), twin.call(x)));
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 }),
    other = new optim.SGD(twin.parameters(), { lr: 0.1 });
  optimizer.step();
  other.step();
  noGrad(() => assertNear(f(x), twin.call(x)));
});

Deno.test("a result that depends only on parameters is new memory in each call", () => {
  const weight = new nn.Parameter(ones([3]));
  const f = compile((x: Tensor) => [weight.mul(2).add(1), weight.mul(2).add(x)] as const, frozen);
  noGrad(() => {
    const [first] = f(ones([3]));
    first.fill_(9);
    const [second, sum] = f(ones([3]));
    assertEquals([second.tolist(), sum.tolist()], [[3, 3, 3], [3, 3, 3]]);
  });
});

Deno.test("a view of a value that depends only on parameters is new memory in each call, too", () => {
  const weight = new nn.Linear(2, 3).weight, f = compile(() => weight.exp().t(), frozen);
  noGrad(() => {
    f().zero_();
    assertNear(f(), weight.exp().t());
  });
});

Deno.test("converted weights are kept", () => {
  const model = new nn.Linear(4, 4), x = randn([2, 4]);
  const f = compile((x: Tensor) => autocast({ dtype: "bfloat16" }, () => model.call(x)), frozen);
  const text = hints(() => noGrad(() => f(x)));
  assert(text.includes("operations on parameters and buffers are done once"), text);
  noGrad(() => {
    const expected = autocast({ dtype: "bfloat16" }, () => model.call(x));
    assertEquals(f(x).tolist(), expected.tolist());
  });
});

Deno.test("if parameters change in every call the whole graph is compiled", () => {
  const weight = new nn.Parameter(ones([3]));
  const f = compile((x: Tensor) => weight.exp().mul(x), frozen);
  const text = hints(() =>
    noGrad(() => {
      for (let i = 0; i < 8; i++) {
        weight.add_(0.25);
        assertNear(f(ones([3])), weight.exp());
      }
    })
  );
  assertEquals(text.match(/nothing is kept of them/g)?.length, 1);
});
