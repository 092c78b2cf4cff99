/** Forward-mode differentiation: ops against their reverse mode, levels, views and writes against PyTorch's numbers. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  asStridedScatter,
  autograd,
  compile,
  complex,
  DebugMode,
  DynError,
  einsum,
  fft,
  func,
  isTensor,
  library,
  linalg,
  manualSeed,
  nn,
  noGrad,
  stack,
  type Tensor,
  tensor,
  viewAsReal,
  zeros,
} from "../mod.ts";
import { isComplex, isDifferentiable } from "../lib/base/dtype.ts";
import type { OpDefinition, Sample } from "../lib/ops/definition.ts";
import { OPS } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import "./support/turns/gradients.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

const { dualLevel, makeDual, unpackDual } = autograd.forwardAd;

/** Numbers without a pattern, one for each element. */
function irregular({ shape, dtype }: Tensor, seed: number): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  const list = Array.from({ length: count }, (_, k) => Math.sin(1.7 * k + seed) + 0.3);
  return tensor(list, { dtype: "float64" }).reshape(shape).to(dtype);
}

function dot(a: Tensor, b: Tensor): number {
  const product = isComplex(a.dtype) ? viewAsReal(a).mul(viewAsReal(b)) : a.mul(b);
  return Number(product.sum().item());
}

/** A call of a sample as a function of its differentiable tensors, and those; null where there are none. */
function programOf(definition: OpDefinition, sample: Sample) {
  const { given, tensors } = makeSample(sample, { float: "float64" });
  const own = tensors.filter((each) => isDifferentiable(each.dtype) && each.numel() > 0);
  if (own.length === 0) return null;
  const inPlace = (of: readonly Tensor[], each: unknown): unknown =>
    Array.isArray(each)
      ? each.map((one) => inPlace(of, one))
      : isTensor(each)
      ? of[own.indexOf(each)] ?? each
      : each;
  const run = (of: readonly Tensor[]): Tensor[] => {
    manualSeed(0);
    return [callOp(definition, given.map((each) => inPlace(of, each)))].flat().filter(isTensor);
  };
  return { own, run };
}

/** ⟨cotangent, J tangent⟩ and ⟨Jᵀ cotangent, tangent⟩ of a call, which are one number; null where nothing is differentiable. */
function bothWays(definition: OpDefinition, sample: Sample): readonly [number, number, number] | null {
  const program = programOf(definition, sample);
  if (program === null) return null;
  const { own, run } = program;
  const leaves = own.map((each) => each.clone().requiresGrad_()),
    tangents = own.map((x, k) => irregular(x, k));
  const results = run(leaves), cotangents = results.map((each, k) => irregular(each, k + 10));
  const used = results.filter(({ requiresGrad }) => requiresGrad);
  if (used.length > 0) {
    autograd.backward(used, cotangents.filter((_, k) => results[k]?.requiresGrad));
  }
  const backward = leaves.reduce((sum, { grad }, k) => sum + (grad ? dot(grad, tangents[k] ?? grad) : 0), 0);
  const forward = dualLevel(() => {
    const duals = run(own.map((each, k) => makeDual(each, tangents[k] ?? each)));
    return duals.reduce((sum, each, k) => {
      const { tangent } = unpackDual(each), cotangent = cotangents[k];
      if (tangent) assertEquals([tangent.shape, tangent.dtype], [each.shape, each.dtype], definition.name);
      return sum + (tangent && cotangent && results[k]?.requiresGrad ? dot(tangent, cotangent) : 0);
    }, 0);
  });
  const isDouble = used.every(({ dtype }) => ["float64", "complex128"].includes(dtype));
  return [forward, backward, isDouble ? 1e-9 : 1e-6];
}

/** Calls of all ops that have gradients. */
const CASES = Object.values(OPS).flatMap((definition) =>
  definition.gradient.kind === "none"
    ? []
    : definition.samples.flatMap((sample) => sample.frozen ? [] : [{ definition, sample }])
);

Deno.test("tangents of each op are the adjoint of its gradients", () => {
  let compared = 0;
  for (const { definition, sample } of sampleBySeed(CASES, 110)) {
    const found = bothWays(definition, sample);
    if (found === null) continue;
    const [forward, backward, tolerance] = found, distance = Math.abs(forward - backward);
    const same = Object.is(forward, backward) || distance <= tolerance * Math.max(1, Math.abs(backward));
    assert(same, `${definition.name}: ⟨v, J t⟩ is ${forward} but ⟨Jᵀ v, t⟩ ${backward}`);
    compared++;
  }
  assert(compared > 65, `Expected most calls to be compared but found ${compared}`);
});

Deno.test("second derivatives of each op equal differences of its gradients", () => {
  let compared = 0;
  for (const { definition, sample } of sampleBySeed(CASES, 80)) {
    const program = programOf(definition, sample);
    if (program === null || program.own.some(({ dtype }) => dtype !== "float64")) continue;
    const { own, run } = program, ways = own.map((each, k) => irregular(each, k + 20));
    const sum = (all: readonly (Tensor | null | undefined)[], seed: number): Tensor =>
      all.reduce<Tensor>((total, each, k) => {
        if (!each) return total;
        const part = each.mul(irregular(each, k + seed)).sum();
        return total.add(isComplex(part.dtype) ? part.real() : part);
      }, zeros([], { dtype: "float64" }));
    const slope = (at: readonly Tensor[]): Tensor => {
      const results = run(at).filter(({ requiresGrad }) => requiresGrad);
      if (results.length === 0) return zeros([]);
      return sum(autograd.grad(sum(results, 10), at, { createGraph: true, allowUnused: true }), 3);
    };
    const along = (step: number): number =>
      Number(slope(own.map((x, k) => x.detach().add(ways[k] ?? x, { alpha: step }).requiresGrad_())).item());
    const [wide, wanted] = [1e-5, 3e-6].map((h) => (along(h) - along(-h)) / (2 * h));
    // Where differences do not agree the gradient has a step
    if (
      wide === undefined || wanted === undefined || !(Math.abs(wide - wanted) < 1e-3 * (1 + Math.abs(wide)))
    ) {
      continue;
    }
    const leaves = own.map((each) => each.detach().clone().requiresGrad_()), first = slope(leaves);
    const second = first.requiresGrad ? autograd.grad(first, leaves, { allowUnused: true }) : [];
    const found = second.reduce((total, each, k) => total + (each ? dot(each, ways[k] ?? each) : 0), 0);
    assert(
      Math.abs(found - wanted) <= 5e-4 * (1 + Math.abs(wanted)),
      `${definition.name}: differences give ${wanted} but the second derivative is ${found}`,
    );
    compared++;
  }
  assert(compared > 40, `Expected most calls to be compared but found ${compared}`);
});

const matrix = (rows: readonly (readonly number[])[]): Tensor => tensor(rows, { dtype: "float64" });
const vector = (list: readonly number[]): Tensor => tensor(list, { dtype: "float64" });

/** Parts of a dual tensor against what PyTorch 2.15 gave. */
function is(found: Tensor, primal: Tensor, tangent: Tensor | null): void {
  const parts = unpackDual(found);
  const near = (a: Tensor, b: Tensor) => {
    assertEquals(a.shape, b.shape);
    assert(+a.sub(b).abs().max() < 1e-11, `expected ${b} but found ${a}`);
  };
  near(parts.primal, primal);
  if (tangent === null) return assertEquals(parts.tangent, null);
  assert(parts.tangent !== null);
  near(parts.tangent, tangent);
}

Deno.test("tangents follow views and writes in place, as PyTorch's do", () => {
  dualLevel(() => {
    const x = makeDual(matrix([[1, 2], [3, 4]]).t(), matrix([[.5, -1], [2, .25]]));
    is(x.reshape(-1), vector([1, 3, 2, 4]), vector([.5, -1, 2, .25]));
    const y = x.mul(2), transposed = y.t(), row = y.select(0, 0);
    row.mul_(x.select(0, 1));
    is(y, matrix([[4, 24], [4, 8]]), matrix([[6, -6.5], [4, .5]]));
    is(transposed, matrix([[4, 4], [24, 8]]), matrix([[6, 4], [-6.5, .5]]));
    row.zero_();
    is(y, matrix([[0, 0], [4, 8]]), matrix([[0, 0], [4, .5]]));
    const shifted = x.add(1), same = x.clone();
    shifted.mul_(2);
    same.zero_();
    is(x, matrix([[1, 3], [2, 4]]), matrix([[.5, -1], [2, .25]]));
    const base = zeros([3], { dtype: "float64" }), end = base.slice(0, 1), begin = base.slice(0, 0, 2);
    end.add_(x.select(0, 0));
    is(base, vector([0, 1, 3]), vector([0, .5, -1]));
    is(begin, vector([0, 1]), vector([0, .5]));
    const z = x.mul(1);
    z.set(0, 7);
    is(z, matrix([[7, 7], [2, 4]]), matrix([[0, 0], [2, .25]]));
    z.copy_(x.detach());
    is(z, matrix([[1, 3], [2, 4]]), matrix([[0, 0], [0, 0]]));
    is(x.detach(), matrix([[1, 3], [2, 4]]), null);
    is(
      x.logcumsumexp(0),
      matrix([[1, 3], [2.313261687518223, 4.313261687518223]]),
      matrix([
        [.5, -1],
        [1.5965878679448908, -0.08617677671248762],
      ]),
    );
    is(
      linalg.svdvals(x),
      vector([5.464985704219043, 0.3659661906262574]),
      vector([0.43797804410465047, 0.2908909427510118]),
    );
    is(einsum("ij,jk->", x, x), tensor(54, { dtype: "float64" }), tensor(19.75, { dtype: "float64" }));
    const c = complex(x, x.mul(2));
    is(
      c.abs(),
      matrix([[2.23606797749979, 6.708203932499369], [4.47213595499958, 8.94427190999916]]),
      matrix([[1.118033988749895, -2.23606797749979], [4.47213595499958, 0.5590169943749475]]),
    );
    is(fft.fft(c).real(), matrix([[4, -2], [6, -2]]), matrix([[-.5, 1.5], [2.25, 1.75]]));
    is(noGrad(() => x.square()), matrix([[1, 9], [4, 16]]), matrix([[1, -6], [8, 2]]));
    // The gradient of the tensor that is written to is another
    const into = makeDual(vector([1, 2, 3, 4]), vector([5, 6, 7, 8]));
    is(asStridedScatter(into, x.select(0, 0), [2], [2], 1), vector([1, 1, 3, 3]), vector([5, .5, 7, -1]));
    const leaf = vector([1, 2]).requiresGrad_();
    const [gradient] = autograd.grad([x.matmul(leaf).sin().sum()], [leaf], null, { createGraph: true });
    assert(gradient);
    is(
      gradient,
      vector([-0.9242408038096003, -1.094579353275896]),
      vector([
        2.4043935215437795,
        7.43298066651583,
      ]),
    );
    const [second] = autograd.grad([unpackDual(gradient).tangent?.sum() ?? gradient], [leaf]);
    assert(second && +second.sub(vector([37.686427829949814, 73.24018028005834])).abs().max() < 1e-11);
  });
});

Deno.test("tangents are 0 where norms and deviations have no slope, as PyTorch's are", () => {
  const x = vector([1, 2, 3]), t = vector([1, 10, 100]), rows = (x: Tensor) => stack([x, x.sub(x)]);
  dualLevel(() => {
    const dual = makeDual(x, t), zeros = dual.sub(dual), zero = tensor(0, { dtype: "float64" });
    for (const p of [0.5, 1.5, 2, 3]) is(zeros.norm(p), zero, zero);
    is(zeros.std(), zero, zero);
    is(rows(dual).norm(2, 1), vector([Math.sqrt(14), 0]), vector([321 / Math.sqrt(14), 0]));
    is(rows(dual).std(1), vector([1, 0]), vector([49.5, 0]));
    // Sums of equal elements are rounded
    for (const x of [0.1, -3.3, 7.7]) {
      const same = makeDual(vector([x, x, x, x, x, x, x]), vector([1, 2, 3, 4, 5, 6, 7]));
      is(same.std(), zero, zero);
    }
  });
});

Deno.test("nested levels of one kind, unfitting tangents and tangents of tangents are rejected", () => {
  const one = vector([1, 2]);
  assertThrows(() => makeDual(one, one), DynError, "inside of dualLevel");
  assertEquals(unpackDual(one).tangent, null);
  dualLevel(() => {
    const dual = makeDual(one, one);
    assertThrows(() => dualLevel(() => {}), DynError, "Nested forward mode AD is not supported");
    assertThrows(() => makeDual(dual, one), DynError, "without a tangent at this level");
    assertThrows(
      () => makeDual(one, vector([1])),
      DynError,
      "Expected a tangent of shape [2] but found one of [1]",
    );
    assertThrows(
      () => makeDual(tensor([1]), vector([1])),
      DynError,
      "a primal of floats but found one of int64",
    );
    assertThrows(() => makeDual(one, tensor([1, 2])), DynError, "a tangent of floats but found one of int64");
    assertThrows(() => func.vmap((x: Tensor) => makeDual(x, x))(one), DynError, "use func.jvp there");
  });
  assertEquals(unpackDual(one).tangent, null);
});

class Doubled extends autograd.Function {
  static override forward(a: Tensor, b: Tensor, k: number): Tensor[] {
    return [a.mul(b), a.add(k)];
  }

  static override setupContext(context: autograd.FunctionContext, [a, b]: [Tensor, Tensor, number]): void {
    context.saveForForward(a, b);
    context.saveForBackward(b, null);
  }

  static override backward(
    context: autograd.FunctionContext<[Tensor, null]>,
    grad: Tensor,
    other: Tensor,
  ): (Tensor | null)[] {
    const [b, none] = context.savedTensors;
    return [grad.mul(b).add(other), none, null];
  }

  static override jvp(context: autograd.FunctionContext, a: Tensor, b: Tensor, k: null): Tensor[] {
    assertEquals([context.savedTensors.length, b.tolist(), k], [2, [0, 0], null]);
    return [a.mul(2), a];
  }
}

/** Rounds, and hands gradients on as if it did not. */
class Through extends autograd.Function {
  static override forward(_context: autograd.FunctionContext, x: Tensor): Tensor {
    return x.round();
  }

  static override backward(_context: autograd.FunctionContext, grad: Tensor): Tensor {
    return grad.mul(3);
  }
}

class Opaque extends Through {
  static override backward(_context: autograd.FunctionContext, grad: Tensor): Tensor {
    return tensor(grad.tolist(), { dtype: "float64" });
  }
}

Deno.test("Functions define tangents or use those of their backward, like user-defined ops", () => {
  const op = library.customOp("tests::thrice", (x: Tensor): Tensor => x.mul(3));
  const x = vector([1.4, -2]);
  dualLevel(() => {
    const dual = makeDual(x, vector([3, 5]));
    const [product, sum] = Doubled.apply(dual, vector([1, 1]), 2);
    assert(isTensor(product) && isTensor(sum));
    is(product, x, vector([6, 10]));
    is(sum, vector([3.4, 0]), vector([3, 5]));
    sum.mul_(2);
    is(dual, x, vector([3, 5]));
    is(Through.apply(dual), vector([1, -2]), vector([9, 15]));
    assertThrows(
      () => Opaque.apply(dual),
      DynError,
      "Expected a gradient of Opaque that can be differentiated",
    );
    assertThrows(() => op(dual), DynError, "define its gradient with registerAutograd");
    op.registerAutograd((_context, grad: Tensor) => grad.mul(3));
    is(op(dual), vector([4.2, -6]), vector([9, 15]));
    assertThrows(
      () => func.vmap((each: Tensor) => Through.apply(each))(dual),
      DynError,
      "Expected no tangents through a whole batch",
    );
  });
  // The gradient that it says, at whichever level
  const nested = func.jvp(
    (x: Tensor) => func.jvp((y: Tensor) => Through.apply(x).mul(y), [x.mul(0)], [x.mul(0).add(1)])[1],
    [x],
    [
      vector([1, 2]),
    ],
  );
  assertEquals(nested.map((each) => isTensor(each) && each.tolist()), [[1, -2], [3, 6]]);
  const log = new DebugMode();
  const [, seen] = log.run(() => func.jvp((x: Tensor) => log.run(() => x.square()), [x], [vector([1, 2])]));
  assert(isTensor(seen) && log.entries.some(({ name }) => name === "square"));
  assertEquals(seen.tolist(), [2.8, -8]);
  const [, product] = func.jvp((x: Tensor) => Through.apply(x.mul(2)), [x], [vector([1, 1])]);
  assert(isTensor(product));
  assertEquals(product.tolist(), [6, 6]);
});

Deno.test("levels nest with each other, with gradients and with batches, and pass through to outer passes", () => {
  const x = vector([0.3, -1.2, 2]), one = vector([1, 1, 1]);
  const near = (found: unknown, expected: Tensor) =>
    assert(
      isTensor(found) && +found.sub(expected).abs().max() < 1e-10,
      `expected ${expected} but found ${found}`,
    );
  const derivative = (f: (x: Tensor) => Tensor) => (x: Tensor): Tensor => {
    const [, product] = func.jvp(f, [x], [one]);
    assert(isTensor(product));
    return product;
  };
  const sine = (x: Tensor) => x.sin();
  near(derivative(derivative(derivative(sine)))(x), x.cos().neg());
  near(func.grad((x: Tensor) => derivative(sine)(x).sum())(x), x.sin().neg());
  near(derivative((x) => func.grad((x: Tensor) => x.pow(4).sum())(x))(x), x.square().mul(12));
  near(func.vmap((x: Tensor) => func.jvp(sine, [x], [x])[1])(x), x.cos().mul(x));
  near(
    derivative((x) => {
      const rows = func.vmap(sine)(x);
      assert(isTensor(rows));
      return rows;
    })(x),
    x.cos(),
  );
  const captured = vector([2]).requiresGrad_();
  derivative((x) => x.square().mul(captured))(x).sum().backward();
  near(captured.grad, vector([2.2]));
  const model = new nn.Sequential(
    new nn.Linear(3, 4),
    new nn.LayerNorm(4),
    new nn.GELU(),
    new nn.Linear(4, 1),
  );
  model.double();
  const [, forward] = func.jvp((x: Tensor) => model.call(x), [x.unsqueeze(0)], [one.unsqueeze(0)]);
  const gradient = func.grad((x: Tensor) => model.call(x).sum())(x.unsqueeze(0));
  near(forward, gradient.sum().reshape([1, 1]));
});

Deno.test("derivatives forward are the same in graphs, where rules choose between values and of what they refuse", () => {
  const programs: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    copysign: (x) => x.copysign(x.detach().flip(0)),
    hardswish: (x) => nn.functional.hardswish(x),
    logit: (x) => x.logit(0.1),
    power: (x) => x.pow(x.detach().flip(0)),
    softplus: (x) => nn.functional.softplus(x),
  };
  const x = tensor([0, 1, 0.5, -3, 3, NaN, Infinity, -Infinity, 1000, -1000, -0, 0]);
  const tangents = [irregular(x, 1), irregular(x, 2).neg(), x.to("int32"), x.to("bool")];
  for (const [name, program] of Object.entries(programs)) {
    const push = (at: Tensor, tangent: Tensor) => func.jvp(program, [at], [tangent]);
    const compiled = compile((at: Tensor, tangent: Tensor) => push(at, tangent), { backend: "eager" });
    for (const tangent of tangents) {
      const tell = (run: typeof push) => {
        try {
          return run(x, tangent).map((each) => isTensor(each) ? [each.dtype, each.tolist()] : each);
        } catch (error) {
          return [String(error).split("\n")[0]];
        }
      };
      assertEquals(tell(compiled), tell(push), `${name}, a tangent of ${tangent.dtype}`);
    }
  }
});

Deno.test("compiled functions carry tangents, and take derivatives forward themselves", () => {
  const f = (x: Tensor) => x.sin().mul(x).sum(), compiled = compile(f), x = vector([0.3, -1.2, 2]);
  const tangent = vector([1, 2, 3]), [, expected] = func.jvp(f, [x], [tangent]);
  assert(isTensor(expected));
  compiled(x);
  dualLevel(() => is(compiled(makeDual(x, tangent)), f(x), expected));
  const inside = compile((x: Tensor) => {
    const dual = dualLevel(() => unpackDual(f(makeDual(x, tangent))).tangent);
    const [, product] = func.jvp(f, [x], [tangent]);
    return [dual, product, func.jacfwd(f)(x)];
  });
  const [dual, product, jacobian] = inside(x);
  assert(isTensor(dual) && isTensor(product) && isTensor(jacobian));
  for (const found of [dual, product, jacobian.dot(tangent)]) {
    assert(+found.sub(expected).abs() < 1e-12, `expected ${expected} but found ${found}`);
  }
});
