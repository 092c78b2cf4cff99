/** Derivatives at a point, gradients of gradients against differences, anomaly detection, and hooks on gradients. */
import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import {
  autograd,
  cat,
  compile,
  compiler,
  func,
  geqrf,
  isTensor,
  linalg,
  nn,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import "./support/turns/gradients.ts";

const { functional } = autograd;
const near = (found: unknown, expected: Tensor, where: string) =>
  assert(
    isTensor(found) && `${found.shape}` === `${expected.shape}` && found.allclose(expected, 1e-4, 1e-5),
    where,
  );
const vector = (values: number[]) => tensor(values, { dtype: "float64" });
const [x, y, v] = [vector([0.5, -1, 2]), vector([1, 0.3, -0.7]), vector([0.2, 0.4, -0.1])];

Deno.test("products with derivatives, and all derivatives, at a point", () => {
  const f = (x: Tensor, y: Tensor) => x.square().mul(y);
  const [value, pulled] = functional.vjp(f, [x, y], v);
  near(value, f(x, y), "value");
  assert(Array.isArray(pulled));
  near(pulled[0], x.mul(y).mul(v).mul(2), "vjp by x");
  near(pulled[1], x.square().mul(v), "vjp by y");
  near(functional.jvp(f, [x, y], [v, v])[1], x.mul(y).mul(v).mul(2).add(x.square().mul(v)), "jvp");
  const cubic = (x: Tensor) => x.pow(3).sum();
  near(functional.hvp(cubic, x, v)[1], x.mul(6).mul(v), "hvp");
  near(functional.vhp(cubic, x, v)[1], x.mul(6).mul(v), "vhp");
  near(functional.hessian(cubic, x), x.mul(6).diag(), "hessian");
  const mixed = functional.hessian((x, y) => f(x ?? fail("x"), y ?? fail("y")).sum(), [x, y]);
  assert(Array.isArray(mixed) && Array.isArray(mixed[0]) && Array.isArray(mixed[1]));
  near(mixed[0][1], x.mul(2).diag(), "mixed");
  near(mixed[1][1], x.mul(0).diag(), "none");
  const both = functional.jacobian((x: Tensor) => [x.exp(), x.sum()], x);
  assert(Array.isArray(both));
  near(both[0], x.exp().diag(), "jacobian of the first");
  near(both[1], x.mul(0).add(1), "jacobian of the second");
  const leaf = x.clone().requiresGrad_(),
    again = functional.jacobian((x: Tensor) => x.pow(3), leaf, { createGraph: true });
  assert(isTensor(again));
  near(autograd.grad(again.sum(), leaf)[0], x.mul(6), "createGraph");
  assertEquals(leaf.grad, null);
  assertThrows(
    () => functional.jacobian((_x: Tensor) => y, x, { strict: true }),
    DynError,
    "depend on input 0",
  );
  assertThrows(() => functional.vjp(f, [x, y]), DynError, "v for vjp");
  assertThrows(
    () => functional.vhp((x: Tensor) => x, x, v),
    DynError,
    "one element in vhp but found shape [3]",
  );
});

/** Derivatives of functions of one argument or two, by name. */
const DERIVATIVES: Readonly<Record<string, (x: Tensor) => unknown>> = {
  vjp: (x) => functional.vjp(product, x, v),
  "vjp of one element": (x) => functional.vjp(whole, x),
  jvp: (x) => functional.jvp(product, x, v),
  vhp: (x) => functional.vhp(whole, x, v),
  hvp: (x) => functional.hvp(whole, x, v),
  jacobian: (x) => functional.jacobian(product, x),
  "jacobian of one element": (x) => functional.jacobian(whole, x),
  "jacobian by two arguments": (x) => functional.jacobian((a, b) => a.mul(b).sin(), [x, y]),
  "jacobian of a constant": (x) => functional.jacobian(() => y.mul(2), x),
  hessian: (x) => functional.hessian(whole, x),
  "hessian by two arguments": (x) => functional.hessian((a, b) => a.mul(b).sin().sum(), [x, y]),
};
const product = (x: Tensor) => x.sin().mul(x), whole = (x: Tensor) => product(x).sum();

for (const [name, derivative] of Object.entries(DERIVATIVES)) {
  Deno.test(`compiled derivatives are one graph: ${name}`, () => {
    const compiled = compile(derivative, { backend: "aot_eager" });
    const all = (value: unknown): Tensor[] =>
      isTensor(value) ? [value] : Array.isArray(value) ? value.flatMap(all) : [];
    for (const given of [x.clone(), x.clone().requiresGrad_()]) {
      const expected = all(derivative(given)), found = all(compiled(given));
      assertEquals(found.length, expected.length);
      expected.forEach((each, k) => near(found[k], each, name));
    }
    const { graphs, graphBreaks, givenUp } = compiler.status(compiled);
    assertEquals({ graphs, graphBreaks, givenUp }, { graphs: 2, graphBreaks: 0, givenUp: null });
  });
}

Deno.test("gradients with respect to values that the elements of a batch share are taken outside of it", () => {
  const rows = (x: Tensor) => {
    const leaf = x.detach().requiresGrad_(), y = leaf.sin();
    return func.vmap((one: Tensor) => autograd.grad(y, leaf, one, { retainGraph: true })[0] ?? fail("none"))(
      BASIS,
    );
  };
  const compiled = compile(rows, { backend: "eager" }), expected = rows(x);
  assert(isTensor(expected));
  near(compiled(x), expected, "rows");
});
const BASIS = tensor([[1, 0, 0], [0, 2, 0]], { dtype: "float64" });

Deno.test("gradients of gradients are compared with differences", () => {
  const leaf = () => x.clone().requiresGrad_();
  assert(autograd.gradgradcheck((x: Tensor) => x.sin().mul(x), leaf()));
  class Wrong extends autograd.Function {
    static override forward(context: autograd.FunctionContext, x: Tensor): Tensor {
      context.saveForBackward(x);
      return x.square();
    }
    static override backward(context: autograd.FunctionContext, grad: Tensor): Tensor {
      const [x] = context.savedTensors;
      return grad.mul(x?.detach() ?? fail("a saved tensor")).mul(2);
    }
  }
  assert(autograd.gradcheck((x: Tensor) => Wrong.apply(x), leaf()));
  assertThrows(
    () => autograd.gradgradcheck((x: Tensor) => Wrong.apply(x), leaf()),
    DynError,
    "Expected the derivative",
  );
  assertThrows(
    () => Reflect.apply(autograd.gradgradcheck, null, [(x: Tensor) => x.sin(), leaf(), { atol: 1e-3 }]),
    DynError,
    "Expected tensors for gradOutputs of gradgradcheck but found",
  );
});

Deno.test("a second derivative of ctcLoss is refused, in each order of the modes, plain and compiled", () => {
  const logits = randn([4, 1, 3], { dtype: "float64" }), direction = randn([4, 1, 3], { dtype: "float64" });
  const loss = (x: Tensor) => {
    const lengths = [tensor([4]), tensor([2])] as const;
    return nn.functional.ctcLoss(x.logSoftmax(-1), tensor([[1, 2]]), ...lengths);
  };
  const slope = (x: Tensor) => func.jvp(loss, [x], [direction])[1];
  const gradient = func.grad(loss);
  near(slope(logits), gradient(logits).mul(direction).sum(), "tangent");
  const seconds = [
    (x: Tensor) => func.grad((y: Tensor) => gradient(y).square().sum())(x),
    (x: Tensor) => func.grad(slope)(x),
    (x: Tensor) => func.jvp(gradient, [x], [direction])[1],
  ];
  for (const second of seconds) {
    for (const f of [second, compile(second)]) {
      assertThrows(() => f(logits), DynError, "Expected no gradient of the gradient of ctcLoss");
    }
  }
});

Deno.test("gradients that PyTorch does not implement are refused, rather than missing from sums", () => {
  const { ldlFactor, ldlSolve, qr } = linalg, square = tensor([[2, 1], [1, 3]], { dtype: "float64" });
  const [factors, pivots] = ldlFactor(square);
  const programs: Record<string, (x: Tensor) => Tensor> = {
    "geqrf": (x) => geqrf(x)[1],
    "ldlFactor": (x) => ldlFactor(x)[0],
    "ldlSolve": (x) => ldlSolve(factors, pivots, x),
    "a complete qr": (x) => qr(cat([x, x]), "complete")[1],
  };
  for (const [name, program] of Object.entries(programs)) {
    for (const f of [program, compile(program)]) {
      assertEquals(f(square).requiresGrad, false);
      const loss = (x: Tensor) => f(x).sum().add(x.sum());
      assertThrows(() => loss(square.clone().requiresGrad_()).backward(), DynError, `no gradient of ${name}`);
      assertThrows(() => func.jvp(loss, [square], [square]), DynError, `no gradient of ${name}`);
    }
  }
});

Deno.test("an anomaly names the operation whose gradient is NaN, and the line that called it", () => {
  const root = (x: Tensor) => x.mul(0).sqrt().mul(0);
  const run = () => root(vector([1, 2]).requiresGrad_()).sum().backward();
  run();
  const error = assertThrows(
    () => autograd.detectAnomaly(run),
    DynError,
    "NaN in gradient 0 of SqrtBackward0",
  );
  assert(/called here:[^]*derivatives_test\.ts/.test(error.message), error.message);
  autograd.setDetectAnomaly(true);
  assertThrows(run, DynError, "NaN");
  autograd.setDetectAnomaly(false);
  run();
  assertEquals(autograd.isAnomalyEnabled(), false);
});

Deno.test("hooks are called after gradients were accumulated into leaves, in compiled steps too", () => {
  const model = new nn.Linear(3, 1), input = randn([4, 3]);
  for (const compiled of [false, true]) {
    const seen: number[] = [], optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
    const handles = model.parameters().map((each) =>
      each.registerPostAccumulateGradHook((leaf) => {
        seen.push(leaf.numel());
        assert(leaf.grad !== null);
        leaf.grad = null;
      })
    );
    const step = () => {
      model.call(input).square().sum().backward();
      optimizer.step();
    };
    (compiled ? compile(step, { backend: "eager" }) : step)();
    assertEquals(seen.toSorted(), [1, 3]);
    assert(model.parameters().every(({ grad }) => grad === null));
    handles.forEach((handle) => handle.remove());
    (compiled ? compile(step, { backend: "eager" }) : step)();
    assertEquals(seen.length, 2);
    optimizer.zeroGrad();
  }
  assertThrows(
    () => randn([2]).registerPostAccumulateGradHook(() => {}),
    DynError,
    "a leaf that requires grad",
  );
});

const gradientOf = (leaf: Tensor) => leaf.grad?.tolist();

Deno.test("a tensor from a hook after accumulation is an error, compiled too, unless it is the leaf or its gradient", () => {
  for (const compiled of [false, true]) {
    const w = randn([2]).requiresGrad_(), train = () => w.mul(2).sum().backward();
    const step = compiled ? compile(train, { backend: "eager" }) : train;
    const doubled = w.registerPostAccumulateGradHook(({ grad }) => grad?.mul(2));
    assertThrows(
      () => step(),
      DynError,
      "Expected nothing from a hook after a gradient was added but found a tensor",
    );
    doubled.remove();
    w.grad = null;
    w.registerPostAccumulateGradHook((leaf) => leaf);
    w.registerPostAccumulateGradHook(({ grad }) => grad?.mul_(3));
    step();
    assertEquals(gradientOf(w), [6, 6]);
  }
});

Deno.test("hooks of saved tensors see what their region saves, in gradients of gradients of compiled calls too", () => {
  for (const backend of [null, "eager", "aot_eager"]) {
    const cube = (x: Tensor) => x.pow(3).sum(), f = backend === null ? cube : compile(cube, { backend });
    const doubled = <R>(body: () => R): R =>
      autograd.graph.savedTensorsHooks((saved: Tensor) => saved.mul(2), (saved) => saved, body);
    const twice = (loss: Tensor, a: Tensor) => {
      const [slope] = autograd.grad([loss], [a], null, { createGraph: true });
      (slope ?? fail("a gradient")).sum().backward();
      return a.grad?.tolist();
    };
    const [a, b, c] = [1, 1, 1].map((each) => vector([each]).requiresGrad_());
    assert(a && b && c);
    // 6a; the gradient saves a and the gradient of the sum
    const outside = f(a);
    assertEquals(doubled(() => twice(outside, a)), [24], `${backend}: gradients in a region`);
    assertEquals(twice(doubled(() => f(b)), b), [12], `${backend}: the call in a region`);
    assertEquals(twice(f(c), c), [6], `${backend}: neither`);
  }
});
