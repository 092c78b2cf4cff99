/** Transforms of functions: derivatives against closed forms and against each other, nested, in graphs, of modules. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  complex,
  DynError,
  func,
  isTensor,
  manualSeed,
  nn,
  noGrad,
  ones,
  randn,
  stack,
  type Tensor,
  tensor,
  vmap,
  zeros,
} from "../mod.ts";
import "./support/turns/gradients.ts";

const vector = (list: readonly number[]): Tensor => tensor(list, { dtype: "float64" });

function near(found: unknown, expected: Tensor, where: string): void {
  assert(isTensor(found), `${where}: expected a tensor but found ${typeof found}`);
  assertEquals(found.shape, expected.shape, where);
  const distance = found.numel() === 0 ? 0 : +found.sub(expected).abs().max();
  assert(distance < 1e-10, `${where}: expected ${expected} but found ${found}`);
}

const x = vector([0.3, -1.2, 2]), y = vector([1, 0.5, -0.7]);

Deno.test("gradients of gradients are functions, too", () => {
  const cubic = (x: Tensor) => x.pow(3).sum();
  near(func.grad(cubic)(x), x.square().mul(3), "grad");
  near(func.grad((x: Tensor) => func.grad(cubic)(x).sum())(x), x.mul(6), "grad of grad");
  const third = func.grad((x: Tensor) => func.grad((x: Tensor) => func.grad(cubic)(x).sum())(x).sum());
  near(third(x), vector([6, 6, 6]), "three times");
  assertEquals(func.grad(cubic)(x).requiresGrad, false);
  assertEquals(x.requiresGrad, false);
  const [gradient, value] = [func.gradAndValue(cubic)(x)].flat();
  near(gradient, x.square().mul(3), "gradAndValue");
  near(value, cubic(x), "value");
});

Deno.test("arguments are selected by position, and may be trees; auxiliary results are passed on", () => {
  const f = (x: Tensor, y: Tensor) => x.mul(y).sum();
  near(func.grad(f, 1)(x, y), x, "argnums 1");
  near(func.grad(f, { argnums: -1 })(x, y), x, "argnums −1");
  const both = func.grad(f, [0, 1])(x, y);
  assert(Array.isArray(both));
  near(both[0], y, "of both, first");
  near(both[1], x, "of both, second");
  const parameters = { w: x, rest: [y] };
  const gradients = func.grad((p: typeof parameters) => p.w.square().sum().add(p.rest[0]?.sum() ?? 0))(
    parameters,
  );
  near(gradients.w, x.mul(2), "in an object");
  near(gradients.rest[0], vector([1, 1, 1]), "in an array");
  const pair = func.grad((x: Tensor) => [x.square().sum(), "aside"], { hasAux: true })(x);
  assert(Array.isArray(pair));
  near(pair[0], x.mul(2), "beside an auxiliary");
  assertEquals(pair[1], "aside");
  near(func.grad((_x: Tensor, y: Tensor) => y.sum())(x, y), vector([0, 0, 0]), "of what does not matter");
  assertThrows(() => func.grad(f, 2)(x, y), DynError, "argnums of grad below 2 but found 2");
  assertThrows(() => func.grad((x: Tensor) => x)(x), DynError, "one element in grad but found shape [3]");
  assertThrows(() => func.grad((n: Tensor) => n.sum())(tensor([1])), DynError, "found a tensor of int64");
});

Deno.test("outer passes differentiate through transforms", () => {
  const w = vector([2]).requiresGrad_();
  const inner = func.grad((x: Tensor) => x.square().mul(w).sum());
  const leaf = x.clone().requiresGrad_();
  const [outer] = autograd.grad([inner(leaf).sum()], [leaf]);
  near(outer, vector([4, 4, 4]), "of an argument");
});

Deno.test("without gradients around them, transforms give outer passes constants", () => {
  const cube = (x: Tensor) => x.pow(3), one = tensor(1, { dtype: "float32" });
  const shifts: Readonly<Record<string, (x: Tensor) => unknown>> = {
    grad: (x) => func.grad(cube)(x),
    value: (x) => func.gradAndValue(cube)(x)[1],
    vjp: (x) => func.vjp(cube, x)[0],
    jvp: (x) => func.jvp(cube, [x], [one])[1],
  };
  for (const [name, shift] of Object.entries(shifts)) {
    const f = (x: Tensor) => x.pow(3).sub(noGrad(() => shift(x)) as Tensor);
    for (const run of [func.grad(f), compile(func.grad(f))]) {
      assertEquals(run(tensor(1.5)).item(), 6.75, name);
    }
  }
  const auxiliary = (x: Tensor) => func.jacfwd((x: Tensor) => [x, x.cos()], { hasAux: true })(x) as Tensor[];
  assertEquals(compile(auxiliary)(tensor([1.5])).map((each) => each.requiresGrad), [false, false]);
});

Deno.test("arguments to differentiate with respect to are different ones, at least one", () => {
  const product = (x: Tensor, y: Tensor) => x.mul(y).sum(), x = tensor([1.5]);
  for (const transform of [func.grad, func.jacrev, func.jacfwd, func.hessian]) {
    const by = (argnums: number | number[]): unknown =>
      Reflect.apply(Reflect.apply(transform, func, [product, { argnums }]), null, [x, x]);
    for (const argnums of [[], [0, 0], [0, -2]]) {
      assertThrows(() => by(argnums), DynError, "Expected different argnums");
    }
    assertThrows(() => by(2), DynError, "below 2");
  }
});

Deno.test("products with Jacobians, forward and backward", () => {
  const f = (x: Tensor, y: Tensor) => [x.sin().mul(y), x.dot(y)] as const;
  const [value, pull] = func.vjp(f, x, y);
  assert(Array.isArray(value));
  near(value[0], x.sin().mul(y), "value");
  const pulled = pull([vector([1, 2, 3]), vector([1]).reshape([])]);
  assert(Array.isArray(pulled));
  near(pulled[0], x.cos().mul(y).mul(vector([1, 2, 3])).add(y), "pulled to x");
  near(pulled[1], x.sin().mul(vector([1, 2, 3])).add(x), "pulled to y");
  const t = vector([0.1, 0.2, 0.3]), [, product] = func.jvp(f, [x, y], [t, t]);
  assert(Array.isArray(product));
  near(product[0], x.cos().mul(y).mul(t).add(x.sin().mul(t)), "pushed, first");
  near(product[1], t.dot(y).add(x.dot(t)), "pushed, second");
  const [, push] = func.linearize((x: Tensor) => x.exp(), x);
  near(push(t), x.exp().mul(t), "linearized");
  near(push(t.mul(2)), x.exp().mul(t).mul(2), "linearized, again");
});

Deno.test("results of transforms have the types of the function's results, and pulling returns a list as in PyTorch", () => {
  const loss = (state: { readonly w: Tensor }, x: Tensor) => state.w.mul(x).sum();
  const { w: each }: { readonly w: Tensor } = vmap(func.grad(loss), { inDims: [null, 0] })(
    { w: x },
    vector([3, 4]),
  );
  near(each, vector([3, 3, 3, 4, 4, 4]).reshape([2, 3]), "of each sample");
  const [, pull] = func.vjp((x: Tensor) => x.sin(), x), [pulled]: readonly [Tensor] = pull(y);
  near(pulled, x.cos().mul(y), "pulled to the only primal");
  const [byState, byX] = func.grad(loss, { argnums: [0, 1] })({ w: x }, y);
  near(byState.w, y, "by the first argument");
  near(byX, x, "by the second");
  const [gradient, note] = func.grad((x: Tensor): [Tensor, string] => [x.sum(), "seen"], { hasAux: true })(x);
  near(gradient, x.mul(0).add(1), "beside an auxiliary");
  assertEquals(note.length, 4);
  const second: Tensor = func.hessian((x: Tensor) => x.pow(3).sum())(x);
  near(second, x.mul(6).diag(), "second derivatives");
});

Deno.test("Jacobians both ways, and Hessians", () => {
  const f = (x: Tensor) => x.outer(x.sin());
  const expected = func.jacfwd(f)(x);
  assert(isTensor(expected));
  assertEquals(expected.shape, [3, 3, 3]);
  near(func.jacrev(f)(x), expected, "jacrev and jacfwd");
  near(func.jacrev((x: Tensor) => x.square())(x), x.mul(2).diag(), "of elementwise functions");
  near(func.hessian((x: Tensor) => x.pow(3).sum())(x), x.mul(6).diag(), "hessian");
  const mixed = func.hessian((x: Tensor, y: Tensor) => x.square().dot(y), { argnums: [0, 1] })(x, y);
  assert(Array.isArray(mixed) && Array.isArray(mixed[0]) && Array.isArray(mixed[1]));
  near(mixed[0][0], y.mul(2).diag(), "hessian, x x");
  near(mixed[0][1], x.mul(2).diag(), "hessian, x y");
  near(mixed[1][1], vector([0, 0, 0]).diag(), "hessian, y y");
  const empty = func.jacrev((x: Tensor) => x.mul(2))(vector([]));
  near(empty, vector([]).reshape([0, 0]), "of nothing");
  // Gradients that lie in other memory than what they are of, and what is differentiated as a whole, in batches too
  const given = stack([x.outer(y), y.outer(x)]);
  const wholes = [(m: Tensor) => m.cumprod(0).sum(), (m: Tensor) => m.matrixExp().sum()];
  for (const whole of wholes) {
    const second = func.jacrev(func.jacrev(whole)),
      each = given.unbind(0).map((one) => second(one) as Tensor);
    near(vmap(func.hessian(whole))(given), stack(each), "hessians of a batch");
  }
});

Deno.test("modules are called with substituted parameters", () => {
  manualSeed(2);
  const model = new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 1)),
    input = randn([5, 3]);
  const parameters = Object.fromEntries(model.namedParameters().map(([name, each]) => [name, each.detach()]));
  const loss = (p: typeof parameters) => {
    const out = func.functionalCall(model, p, input);
    assert(isTensor(out));
    return out.square().sum();
  };
  const gradients = func.grad(loss)(parameters), out = model.call(input);
  out.square().sum().backward();
  for (const [name, each] of model.namedParameters()) {
    const gradient = gradients[name];
    assert(gradient && each.grad && +gradient.sub(each.grad).abs().max() < 1e-5, name);
  }
  assertEquals(model.namedParameters().length, 4);
  assertThrows(() => func.functionalCall(model, { nothing: input }, input), DynError, "found nothing");
});

Deno.test("transforms inside compiled functions", () => {
  const energy = (x: Tensor) => x.pow(4).sum().add(x.cos().sum());
  const step = (x: Tensor) => x.sub(func.grad(energy)(x).mul(0.1));
  const curvature = (x: Tensor) => func.hessian(energy)(x);
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    near(compile(step, { backend, fullgraph: true })(x), step(x), `${backend}, a step`);
    const expected = curvature(x);
    assert(isTensor(expected));
    near(compile(curvature, { backend, fullgraph: true })(x), expected, `${backend}, a hessian`);
  }
});

Deno.test("functions that write their arguments under transforms give the same in graphs, and their writes arrive", () => {
  const doubled = (a: Tensor) => a.mul_(2).sum(), one = (a: Tensor) => a.mul(0).add(1);
  const refused = "leaf that requires grad is being used in an in-place";
  // Results, and what x holds afterwards; jvp sees writes, while reverse mode refuses those of its arguments
  const cases: readonly (readonly [(x: Tensor) => unknown, readonly unknown[] | string])[] = [
    [(x) => func.jvp(doubled, [x], [one(x)])[1], [4, [2, 4]]],
    [(x) => func.jvp((a: Tensor) => [doubled(a), a], [x], [one(x)], { hasAux: true })[2], [[2, 4], [2, 4]]],
    [(x) => vmap((a: Tensor) => func.jvp(doubled, [a], [one(a)])[1])(x), [[2, 2], [2, 4]]],
    [(x) => func.jacfwd(doubled)(x), [[2, 2], [2, 4]]],
    [(x) => func.jvp((y: Tensor) => func.jvp(doubled, [y], [one(y)])[1], [x], [one(x)])[0], [4, [2, 4]]],
    [(x) => vmap((a: Tensor) => func.grad(doubled)(a))(x), refused],
    [(x) => vmap((a: Tensor) => func.grad((b: Tensor) => doubled(b.view([1])))(a))(x), refused],
    [(x) => vmap((a: Tensor) => func.jacrev(doubled)(a))(x), refused],
    [(x) => vmap((a: Tensor) => func.linearize(doubled, a)[1](one(a)))(x), refused],
    [(x) => vmap((a: Tensor) => vmap((b: Tensor) => func.grad(doubled)(b))(a))(x.view([1, 2])), refused],
    [(x) => vmap((a: Tensor) => func.grad((b: Tensor) => doubled(b.clone()))(a))(x), [[2, 2], [1, 2]]],
  ];
  const listed = (value: unknown) => isTensor(value) ? value.tolist() : value;
  for (const [at, [plain, expected]] of cases.entries()) {
    for (const backend of [null, "eager", "inductor"]) {
      const run = backend === null ? plain : compile(plain, { backend }), x = vector([1, 2]);
      if (typeof expected === "string") assertThrows(() => run(x), DynError, expected, `${at}, ${backend}`);
      else assertEquals([listed(run(x)), x.tolist()], expected, `${at}, ${backend}`);
    }
  }
});

Deno.test("reverse mode refuses writes to what it differentiates by, whatever history that has; forward mode follows them", () => {
  const written = (a: Tensor) => {
    a.select(0, 0).mul_(2);
    return a.square().sum();
  };
  const one = (a: Tensor) => a.detach().mul(0).add(1);
  for (const backend of [null, "eager", "inductor"]) {
    const as = <F extends (x: Tensor) => unknown>(f: F) => backend === null ? f : compile(f, { backend });
    const made = (): Tensor => vector([1, 2]).requiresGrad_().mul(1);
    const broken = (a: Tensor) => {
      compiler.graphBreak();
      return written(a);
    };
    const reverse = [func.grad(written), func.jacrev(written), func.hessian(written), func.grad(broken)];
    for (const transformed of reverse) {
      assertThrows(() => as((x: Tensor) => transformed(x))(made()), DynError, "a leaf that requires grad");
    }
    const pushed = as((x: Tensor) => func.jvp(written, [x], [one(x)])[1])(made());
    assertEquals(isTensor(pushed) && pushed.item(), 12, `${backend}`);
  }
});

Deno.test("a part that was written by an op that saves its result is differentiated twice", () => {
  const squashed = (x: Tensor): Tensor => {
    const y = x.mul(1);
    y.narrow(0, 1, 2).tanh_();
    return y.sin().sum();
  };
  const outOfPlace = (x: Tensor): Tensor =>
    stack([x.select(0, 0), x.select(0, 1).tanh(), x.select(0, 2).tanh()]).sin().sum();
  const twice = (f: (x: Tensor) => Tensor): Tensor => {
    const leaf = x.clone().requiresGrad_();
    const [slope] = autograd.grad([f(leaf)], [leaf], null, { createGraph: true });
    slope?.square().sum().backward();
    return leaf.grad ?? leaf;
  };
  near(twice(squashed), twice(outOfPlace), "plain");
  near(twice(compile(squashed)), twice(outOfPlace), "compiled");
});

Deno.test("gradients of an in-place chain are differentiated again in graphs", () => {
  const slope = (x: Tensor): Tensor => {
    const y = x.clone();
    y.sin_().mul_(x).exp_();
    const [gradient] = autograd.grad([y.sum()], [x], null, { createGraph: true });
    return gradient ?? x;
  };
  const twice = (run: (x: Tensor) => Tensor): Tensor => {
    const leaf = x.detach().clone().requiresGrad_();
    run(leaf).sum().backward();
    return leaf.grad ?? leaf;
  };
  const inner = x.sin().mul(x), first = x.cos().mul(x).add(x.sin());
  const second = x.sin().mul(x).neg().add(x.cos().mul(2)).add(first.square()).mul(inner.exp());
  near(twice(slope), second, "plain");
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    near(twice(compile(slope, { backend })), second, backend);
  }
  const thrice = (x: Tensor) => func.grad((x: Tensor) => slope(x).square().sum())(x).square().sum();
  near(compile(func.grad(thrice))(x), func.grad(thrice)(x), "the third");
});

Deno.test("inner transforms of outer arguments and captured values keep their gradients in graphs, over batches too", () => {
  const p = vector([2, 3]).requiresGrad_(), sum = (a: Tensor) => a.square().mul(p).sum();
  const batch = (): Tensor => vector([1, 2, 4, 5]).view([2, 2]), at = vector([3, 4]);
  type Transformed = (x: Tensor) => unknown;
  // Results, and the gradients of their sums with respect to p; null: they do not require any
  const cases: readonly (readonly [Transformed, unknown, unknown])[] = [
    [(x) => vmap((a: Tensor) => func.grad(sum)(a))(x), [[4, 12], [16, 30]], [10, 14]],
    [(x) => vmap((a: Tensor) => func.jvp(sum, [a], [a])[1])(x), [28, 214], [34, 58]],
    [(x) => vmap((a: Tensor) => func.vjp((_: Tensor) => p.mul(a), a)[0])(x), [[2, 6], [8, 15]], [5, 7]],
    [(x) => vmap(vmap((a: Tensor) => func.grad(sum)(a)))(x.unsqueeze(0)), [[[4, 12], [16, 30]]], [10, 14]],
    [(x) => func.linearize((_: Tensor) => p, x)[0], [2, 3], [1, 1]],
    [
      (x) => {
        const inner = (a: Tensor) => func.grad((y: Tensor) => y.square().mul(a).sum())(at);
        return func.grad((a: Tensor) => inner(a).mul(a).sum())(x);
      },
      [[60, 112], [60, 112]],
      null,
    ],
    [
      (x) => func.grad((a: Tensor) => func.vjp((_: Tensor) => a, at)[0].mul(a).sum())(x),
      [[2, 4], [8, 10]],
      null,
    ],
    [
      (x) =>
        vmap((a: Tensor) =>
          func.grad((b: Tensor) => func.grad((y: Tensor) => y.square().mul(b).sum())(a).mul(b).sum())(a)
        )(x),
      [[4, 16], [64, 100]],
      null,
    ],
  ];
  for (const [k, [plain, value, gradient]] of cases.entries()) {
    for (const run of [plain, compile(plain, { backend: "eager" }), compile(plain)]) {
      p.grad = null;
      const found = run(batch());
      assert(isTensor(found));
      if (found.requiresGrad) found.sum().backward();
      assertEquals([found.tolist(), p.grad && (p.grad as Tensor).tolist()], [value, gradient], `${k}`);
    }
  }
});

Deno.test("gradients with respect to captured values pass through every transform, as in PyTorch", () => {
  const one = (value: number): Tensor => tensor([value], { dtype: "float32" });
  const p = new nn.Parameter(one(2)), f = (y: Tensor) => p.mul(y).mul(y), sum = (y: Tensor) => f(y).sum();
  const only = (value: unknown): Tensor => {
    assert(isTensor(value));
    return value;
  };
  const nested = func.grad((a: Tensor) =>
    only(func.grad((y: Tensor) => sum(y).mul(a).sum())(one(3))).mul(a).sum()
  );
  // PyTorch's results at 3 for p = 2, and the gradient of the sum with respect to p
  const cases: readonly (readonly [(x: Tensor) => unknown, number, number])[] = [
    [(x) => func.grad(sum)(x), 12, 6],
    [(x) => [func.gradAndValue(sum)(x)].flat()[1], 18, 9],
    [(x) => func.jvp(f, [x], [one(1)])[1], 12, 6],
    [(x) => func.vjp(f, x)[1](one(1))[0], 12, 6],
    [(x) => func.jacrev(f)(x), 12, 6],
    [(x) => func.jacfwd(f)(x), 12, 6],
    [(x) => func.hessian(sum)(x), 4, 2],
    [(x) => nested(x), 72, 36],
  ];
  for (const [plain, value, gradient] of cases) {
    for (const run of [plain, compile(plain, { backend: "aot_eager" })]) {
      p.grad = null;
      const found = only(run(one(3)));
      found.sum().backward();
      assertEquals([found.sum().item(), found.requiresGrad, p.grad && only(p.grad).tolist()], [value, true, [
        gradient,
      ]]);
      assert(!only(noGrad(() => run(one(3)))).requiresGrad);
    }
  }
  assert(!only(func.grad((y: Tensor) => y.mul(y).sum())(one(3))).requiresGrad);
});

Deno.test("cotangents and tangents belong to results and arguments by their keys, and have their form", () => {
  const x = tensor([1.5, 2.5]), one = ones([2]), zero = zeros([2]);
  const both = (x: Tensor) => ({ a: x.mul(2), b: x.mul(3) });
  const weighed = ({ a, b }: { readonly a: Tensor; readonly b: Tensor }) => a.mul(2).add(b.mul(3));
  for (const backend of [null, "eager"]) {
    const as = <A extends readonly unknown[], R>(f: (...args: A) => R) =>
      backend ? compile(f, { backend }) : f;
    const pulled = as((x: Tensor) => func.vjp(both, x)[1]({ b: zero, a: one }));
    assertEquals(pulled(x).map((each) => each.tolist()), [[2, 2]]);
    const pushed = as((x: Tensor) => func.jvp(weighed, [{ a: x, b: x }], [{ b: zero, a: one }])[1]);
    assertEquals(pushed(x).tolist(), [2, 2]);
    const linear = as((x: Tensor) => func.linearize(weighed, { a: x, b: x })[1]({ b: zero, a: one }));
    assertEquals(linear(x).tolist(), [2, 2]);
  }
  const pull: (cotangents: unknown) => unknown = func.vjp((x: Tensor): unknown => both(x), x)[1];
  assertThrows(
    () => pull({ a: one, c: zero }),
    DynError,
    'Expected cotangents for vjp of the form { "a": *, "b": * } but found { "a": *, "c": * }',
  );
  assertThrows(() => pull([one, zero]), DynError, "but found [*, *]");
  assertThrows(() => pull({ a: one }), DynError, "Expected 2 cotangents for vjp but found 1");
  assertThrows(
    () => func.jvp((x: Tensor) => x.sin(), [x], [[one]]),
    DynError,
    "Expected tangents for jvp of the form [*] but found [[*]]",
  );
});

Deno.test("Jacobians are of real functions: of complex ones both modes would give conjugates", () => {
  const z = complex(x, y), square = (z: Tensor) => z.mul(z), wave = (x: Tensor) => complex(x.cos(), x.sin());
  const { jacrev, jacfwd, hessian } = func;
  type Unary = (x: Tensor) => Tensor;
  const both: readonly (readonly [string, (f: Unary) => (x: Tensor) => unknown])[] = [
    ["jacrev", (f) => jacrev(f)],
    ["jacfwd", (f) => jacfwd(f)],
  ];
  for (const [name, jacobian] of both) {
    assertThrows(
      () => jacobian(square)(z),
      DynError,
      `Expected arguments of real numbers for ${name} but found complex128`,
    );
    assertThrows(
      () => jacobian(wave)(x),
      DynError,
      `Expected results of real numbers for ${name} but found complex128`,
    );
    near(jacobian((x: Tensor) => complex(x, y).abs().square())(x), x.mul(2).diag(), name);
  }
  assertThrows(() => hessian((z: Tensor) => z.abs().sum())(z), DynError, "of real numbers for jac");
});

Deno.test("rearrange reorders, splits and merges axes by their names, compiled too", () => {
  const { rearrange } = func, images = vector(Array.from({ length: 240 }, (_, at) => at)).reshape(2, 6, 4, 5);
  const patches = (x: Tensor) => rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", { p: 3, q: 2 });
  const counter = new compiler.CompileCounter(), compiled = compile(patches, { backend: counter });
  for (const x of [images, ones([3, 9, 8, 5]), ones([4, 12, 6, 5]), ones([5, 6, 8, 5])]) {
    const [b = 0, h = 0, w = 0] = x.shape;
    const parts = x.reshape(b, h / 3, 3, w / 2, 2, 5).permute(0, 1, 3, 2, 4, 5).reshape(b, -1, 30);
    for (const call of [patches, compiled]) assertEquals(call(x).tolist(), parts.tolist());
  }
  assertEquals(counter.frameCount, 2, "a size that changes makes one more graph");
  const x = images.at(0),
    cases: readonly (readonly [Tensor, Tensor])[] = [
      [rearrange(x, "... c -> c ..."), x.permute(2, 0, 1)],
      [rearrange(x, "h ... -> h (...)"), x.flatten(1)],
      [rearrange(x, "h w c -> (c w) 1 h ()"), x.permute(2, 1, 0).flatten(0, 1).unsqueeze(1).unsqueeze(3)],
      [rearrange(x.unsqueeze(1), "h 1 w c -> w h c"), x.transpose(0, 1)],
      [rearrange([x, x.neg()], "b h w c -> h (b w) c"), stack([x, x.neg()], 1).flatten(1, 2)],
    ];
  for (const [found, expected] of cases) near(found, expected, "rearrange");
  const refused: readonly (readonly [string, Record<string, number>, string])[] = [
    ["h w -> w h", {}, "Expected 2 dimensions for h w of rearrange but found 3"],
    ["h w c -> h w", {}, "both sides of -> but found c on one"],
    ["h h c -> h c", {}, "once a side but found h twice"],
    ["h 1 c -> h c", {}, "Expected a dimension of size 1 at 1 for rearrange but found 4"],
    ["(a b) w c -> a b w c", {}, "a length for all but one of a, b"],
    ["h w c -> c w h", { c: 4 }, "Expected c of rearrange to have length 4 but found 5"],
    ["h w c -> c w h", { d: 4 }, "axes in the pattern of rearrange but found d"],
    ["(h (w) c -> h w c", {}, "parentheses of rearrange in pairs"],
    ["h w c", {}, "one -> but found"],
    ["h w c d -> d c w h", {}, "Expected 4 dimensions for h w c d of rearrange but found 3"],
    ["h w c d ... -> d c w h ...", {}, "of rearrange but found 3"],
    ["(h k) w c -> h k w c", { k: 1.5 }, "a positive integer for k of rearrange but found 1.5"],
    ["(h k) w c -> h k w c", { k: 0 }, "a positive integer for k of rearrange but found 0"],
  ];
  for (const [pattern, lengths, message] of refused) {
    assertThrows(() => rearrange(x, pattern, lengths), DynError, message);
  }
});
