/** Functions with gradients of their own inside compiled functions. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  DynError,
  getDefaultDtype,
  manualSeed,
  ones,
  rand,
  randn,
  setDefaultDtype,
  Tensor,
  tensor,
} from "../mod.ts";
import { apart, changing, whole } from "./programs/custom_gradients.ts";
import { register, registerUnbroken } from "./support/programs.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";
import "./support/turns/programs.ts";

registerUnbroken(whole, ["eager", "aot_eager", "inductor"], [3, 7, 12, 20]);
register(apart, ["eager", "aot_eager"]);
register(changing, ["eager"]);

type Context = autograd.FunctionContext;
type Choice = (tensors: readonly Tensor[]) => Tensor;

const UNARY: readonly ((x: Tensor) => Tensor)[] = [
  (x) => x.sin(),
  (x) => x.tanh(),
  (x) => x.square(),
  (x) => x.clamp(-1, 1),
  (x) => x.mul(0.5),
];
const BINARY: readonly ((a: Tensor, b: Tensor) => Tensor)[] = [
  (a, b) => a.mul(b),
  (a, b) => a.add(b),
  (a, b) => a.sub(b),
  (a, b) => a.maximum(b),
];

/** A function of two tensors with two results and a gradient that has nothing to do with it, and a program with it. */
function generated(
  seed: number,
): { readonly run: (a: Tensor, b: Tensor) => Tensor; readonly requires: boolean[] } {
  const random = randomNumbers(seed);
  for (let k = 0; k < 8; k++) random();
  const below = (count: number) => Math.floor(random() * count);
  const oneOf = <T>(list: readonly [T, ...T[]] | readonly T[]): T => list[below(list.length)]!;
  const choice = (count: number): Choice => {
    const made = Array.from({ length: count }, (_, at): Choice => (tensors) => tensors[at]!);
    const one = oneOf(made), other = oneOf(made), unary = oneOf(UNARY), binary = oneOf(BINARY);
    return oneOf<Choice>([one, (all) => unary(one(all)), (all) => binary(one(all), other(all))]);
  };
  const hidden = choice(2),
    outs = [choice(3), choice(3)].map((each, k): Choice => k === 0 ? (all) => each(all).mul(1.5) : each);
  const saves = [choice(5), choice(5)], gradients = Object.freeze([choice(4), choice(4)]);
  const skips = oneOf([null, 0, 1]), marks = random() < 0.2;
  class Generated extends autograd.Function {
    static override forward(
      context: Context,
      a: Tensor,
      b: Tensor,
      by: number,
    ): readonly (Tensor | number)[] {
      const own = [a, b, hidden([a, b])], found = outs.map((out) => out(own));
      context.saveForBackward(...saves.map((save) => save([...own, ...found])));
      context["by"] = by;
      if (marks) context.markNonDifferentiable(found[1]!);
      return [...found, by];
    }
    static override backward(context: Context, g: Tensor, h: Tensor): readonly (Tensor | null)[] {
      const found = gradients.map((each, k) =>
        k === skips ? null : g.mul(each([g, h, ...context.savedTensors])).mul(Number(context["by"]))
      );
      return [...found, null];
    }
  }
  const before = oneOf(UNARY), after = oneOf(UNARY), second = random() < 0.3, both = random() < 0.7;
  return {
    requires: oneOf([[true, true], [true, false], [false, true]]),
    run(a, b) {
      const [first, other] = Generated.apply(before(a), b, 0.5);
      if (typeof first !== "object" || typeof other !== "object") return a;
      const loss = both ? after(first).sum().add(other.sum()) : after(first).sum();
      const asked = [a, b].filter((each) => each.requiresGrad);
      if (!second) return loss;
      const slopes = autograd.grad(loss, asked, null, { createGraph: true, allowUnused: true });
      return slopes.reduce((sum: Tensor, each) => each ? sum.add(each.square().sum()) : sum, loss);
    },
  };
}

Deno.test("generated functions have the gradients that they have uncompiled, to the bit", () => {
  const count = TAKES_ALL ? 200 : 6, seed = testSeed();
  for (let k = 0; k < count; k++) {
    const { run, requires } = generated(seed + k);
    const outcome = (fn: typeof run) => {
      manualSeed(seed + k);
      const given = requires.map((requiresGrad) => randn([3, 4], { dtype: "float64", requiresGrad }));
      const [a, b] = given;
      try {
        const loss = fn(a!, b!);
        if (loss.requiresGrad) loss.backward();
        return [loss.tolist(), given.map((each) => each.grad?.tolist() ?? null)];
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    };
    compiler.reset();
    assertEquals(outcome(compile(run, { backend: "aot_eager" })), outcome(run), `seed ${seed + k}`);
  }
});

type Slopes = readonly [requires: readonly boolean[], slope: Tensor, loss: Tensor];

/** A program that differentiates a Function whose `backward` multiplies by what it has saved, and asks for the slope. */
function saving(
  forward: (x: Tensor) => readonly Tensor[],
  saves: (x: Tensor, results: readonly Tensor[]) => Tensor | undefined,
  { marks = null, writes = false }: { readonly marks?: number | null; readonly writes?: boolean } = {},
): (x: Tensor) => Slopes {
  class Saving extends autograd.Function {
    static override forward(context: Context, x: Tensor): readonly Tensor[] {
      const results = forward(x);
      context.saveForBackward(saves(x, results));
      if (writes) context.markDirty(x);
      if (marks !== null) context.markNonDifferentiable(results[marks]!);
      return results;
    }
    static override backward(context: Context, g: Tensor, h: Tensor): Tensor {
      const saved = context.savedTensors[0]!.to("float64");
      return g.mul(saved).mul(3).add(h.to("float64").mul(saved));
    }
  }
  return (x) => {
    const [first, other] = Saving.apply(x.sin());
    const loss = first!.square().sum().add(other!.square().mul(2).to("float64").sum());
    const [slope] = autograd.grad(loss, [x], null, { createGraph: true });
    return [[first!.requiresGrad, other!.requiresGrad], slope!, slope!.square().sum()];
  };
}

Deno.test("second derivatives pass through what is saved exactly where it has a history after the call", () => {
  const two = (x: Tensor) => [x.exp(), x.cos()], own = (x: Tensor) => x;
  const last = (_: Tensor, results: readonly Tensor[]) => results.at(-1);
  // The derivative at 0.5, and that of its square, by PyTorch
  const cases: readonly (readonly [string, (x: Tensor) => Slopes, boolean[], string, string])[] = [
    ["a result", saving(two, last), [true, true], "10.309182013", "345.430325084"],
    [
      "a result without gradient",
      saving(two, last, { marks: 1 }),
      [true, false],
      "7.545743337",
      "102.484728520",
    ],
    [
      "integers",
      saving((x) => [x.exp(), x.mul(10).to("int64")], last),
      [true, false],
      "34.018181392",
      "13826.303029827",
    ],
    [
      "a result that was recorded",
      saving((x) => [x.exp(), autograd.enableGrad(() => x.cos())], last, { marks: 1 }),
      [true, false],
      "7.545743337",
      "102.484728520",
    ],
    [
      "a result that is returned twice",
      saving((x) => Array<Tensor>(2).fill(x.exp()), last),
      [true, true],
      "13.736084922",
      "456.176473597",
    ],
    ["an argument", saving((x) => [x.exp(), x], own), [true, true], "4.884141594", "99.309703368"],
    [
      "an argument without gradient",
      saving((x) => [x.exp(), x], own, { marks: 1 }),
      [true, false],
      "4.077296234",
      "68.680701334",
    ],
    [
      "a written argument",
      saving((x) => [x.exp(), x.mul_(2)], own, { writes: true }),
      [true, true],
      "11.381973909",
      "440.442242380",
    ],
    [
      "a written argument without gradient",
      saving((x) => [x.exp(), x.mul_(2)], own, { marks: 1, writes: true }),
      [true, false],
      "8.154592468",
      "256.933073738",
    ],
  ];
  for (const [name, program, ...wanted] of cases) {
    for (const each of [program, compile(program, { backend: "aot_eager" })]) {
      const x = tensor([0.5], { dtype: "float64", requiresGrad: true }), [requires, slope, loss] = each(x);
      loss.backward();
      assertEquals(
        [requires, Number(slope.item()).toFixed(9), Number(x.grad?.item()).toFixed(9)],
        wanted,
        name,
      );
    }
    compiler.reset();
  }
});

/** Twice the cosine in a way that computes its square only in the gradient. */
class Custom extends autograd.Function {
  static override forward(context: Context, x: Tensor): Tensor {
    context.saveForBackward(x);
    return x.cos();
  }
  static override backward({ savedTensors: [x] }: Context, grad: Tensor): Tensor {
    return x ? grad.mul(x.square()) : grad;
  }
}

Deno.test("what is saved is a tensor or nothing, in compiled functions too", () => {
  for (
    const [value, wanted] of [[undefined, [2, null]], [null, [2, null]], [
      3,
      /Expected tensors for saveForBackward but found 3; /,
    ]] as const
  ) {
    let saved: unknown = null;
    class Saving extends autograd.Function {
      static override forward(context: Context, x: Tensor): Tensor {
        Reflect.apply(context.saveForBackward, context, [x, value]);
        return x.mul(2);
      }
      static override backward({ savedTensors: [x, other] }: Context, grad: Tensor): Tensor {
        saved = [x?.item(), other];
        return grad.mul(2);
      }
    }
    const run = (x: Tensor) => Saving.apply(x);
    for (const each of [run, compile(run, { backend: "aot_eager" })]) {
      const x = tensor([2], { dtype: "float32", requiresGrad: true });
      if (wanted instanceof RegExp) assertMatch(assertThrows(() => each(x), DynError).message, wanted);
      else {
        each(x).sum().backward();
        assertEquals(saved, wanted);
      }
    }
  }
});

Deno.test("the joint graph contains the written gradient, and saves what that reads", () => {
  const targets: string[][] = [];
  const note = (gm: { graph: { nodes: readonly { op: string; target: string }[] } }) => {
    targets.push(gm.graph.nodes.filter(({ op }) => op.startsWith("call")).map(({ target }) => target));
  };
  const backend = compiler.aotAutograd({
    fwCompiler: (gm) => (note(gm), (...args) => gm.forward(...args)),
    bwCompiler: (gm) => (note(gm), (...args) => gm.forward(...args)),
  });
  const x = tensor([0.5, 2], { requiresGrad: true });
  compile((each: Tensor) => Custom.apply(each), { backend, fullgraph: true })(x).sum().backward();
  assertEquals(targets, [["cos"], ["square", "mul"]]);
  assertEquals(x.grad?.tolist(), [0.25, 4]);
});

Deno.test("captured graphs have the written gradient at the node that gives the results their history", () => {
  const found = compiler.explain((x: Tensor) => Custom.apply(x).sum())(
    tensor([1, 2], { requiresGrad: true }),
  );
  assertEquals([found.graphCount, found.graphBreakCount, found.opCount], [1, 0, 4]);
  const nodes = found.graphs[0]?.graph.nodes ?? [], given = nodes.find(({ meta }) => meta.gradient);
  const [, ...operations] = nodes.map(({ target }) => target);
  assertEquals(operations, ["cos", "autograd.function", "getitem", "sum", "output"]);
  const { name, graph } = given?.meta.gradient ?? {};
  assertEquals(name, "Custom");
  assertEquals(graph?.nodes.map(({ op, target }) => op === "placeholder" ? op : target), [
    "placeholder",
    "placeholder",
    "square",
    "mul",
    "output",
  ]);
});

Deno.test("explanations say why a gradient is computed outside of the graph", () => {
  const settings = { factor: 2 }, held = tensor([3]);
  let last = 0;
  const random = (grad: Tensor) => grad.mul(rand(grad.shape));
  const reasons: readonly (readonly [RegExp, (grad: Tensor, x: Tensor) => Tensor])[] = [
    [/reads an object of the program, which may change/, (grad) => grad.mul(settings.factor)],
    [/reads isGradEnabled, which may change/, (grad) => autograd.isGradEnabled() ? grad : grad.neg()],
    [/reads a tensor that it has not saved/, (grad) => grad.mul(held)],
    [/random numbers in a gradient/, random],
    [/a change of last/, (grad) => (last = grad.ndim, grad)],
    [/inside of a branch, loop or gradient/, (grad, x) => Custom.apply(x.mul(grad))],
  ];
  for (const [reason, gradient] of reasons) {
    class Explained extends autograd.Function {
      static override forward(context: Context, x: Tensor): Tensor {
        context.saveForBackward(x);
        return x.sin();
      }
      static override backward({ savedTensors: [x] }: Context, grad: Tensor): Tensor {
        return gradient(grad, x ?? grad);
      }
    }
    const { breakReasons } = compiler.explain((x: Tensor) => Explained.apply(x.mul(2)).mul(3))(
      tensor([1], { requiresGrad: true }),
    );
    assertEquals(breakReasons.length, 1);
    assertMatch(`${breakReasons[0]?.explanation}`, reason);
  }
  assertEquals(last, 0);
});

/** Changes of a program between a call and its backward pass, each of which gives another gradient uncompiled. */
function changesBefore(of: object, base: object): Readonly<Record<string, () => () => void>> {
  const other = (grad: Tensor) => grad.mul(100);
  const replaced = (object: object, key: string, value: unknown) => () => {
    const former = Object.getOwnPropertyDescriptor(object, key);
    Object.defineProperty(object, key, { value, configurable: true, writable: true });
    return () => former ? Object.defineProperty(object, key, former) : Reflect.deleteProperty(object, key);
  };
  const { mul } = Tensor.prototype;
  return {
    backward: replaced(base, "backward", (_: Context, grad: Tensor) => other(grad)),
    "backward of a subclass": replaced(of, "backward", (_: Context, grad: Tensor) => other(grad)),
    scaled: replaced(of, "scaled", other),
    mul: replaced(Tensor.prototype, "mul", function (this: Tensor, by: Tensor | number) {
      return Reflect.apply(mul, this, [by]).add(1);
    }),
    "the default type": () => {
      const former = getDefaultDtype();
      setDefaultDtype("float64");
      return () => setDefaultDtype(former);
    },
  };
}

Deno.test("a gradient that would use what the program has replaced since the call is an error", () => {
  class Base extends autograd.Function {
    static scaled(grad: Tensor): Tensor {
      return grad.mul(2);
    }
    static override forward(context: Context, x: Tensor): Tensor {
      context.saveForBackward(x);
      return x.sin();
    }
    static override backward({ savedTensors: [x] }: Context, grad: Tensor): Tensor {
      return this.scaled(grad).mul(x ?? 1).div(ones([3]));
    }
  }
  class Derived extends Base {}
  for (const [name, change] of Object.entries(changesBefore(Derived, Base))) {
    compiler.reset();
    const f = compile((x: Tensor) => Derived.apply(x).sum(), { backend: "aot_eager" });
    const slope = (changes: () => () => void) => {
      const x = tensor([0.25, -1, 0.5], { requiresGrad: true }), loss = f(x), undo = changes();
      try {
        loss.backward();
      } finally {
        undo();
      }
      return x.grad?.tolist();
    };
    const wanted = [0.5, -2, 1], nothing = () => () => {};
    assertEquals(slope(nothing), wanted, name);
    assertThrows(
      () => slope(change),
      DynError,
      "Expected the backward of a Function in a compiled call",
      name,
    );
    assertEquals(slope(nothing), wanted, `${name}, afterwards`);
  }
});

Deno.test("a backward that uses nothing but itself is not taken for one that has replaced it", () => {
  class Straight extends autograd.Function {
    static override forward(_context: Context, x: Tensor): Tensor {
      return x.round();
    }
    static override backward(_context: Context, grad: Tensor): Tensor {
      return grad;
    }
  }
  const f = compile((x: Tensor) => Straight.apply(x).sum(), { backend: "aot_eager" });
  const x = tensor([0.25, -1], { requiresGrad: true }), first = f(x), second = f(x);
  first.backward();
  assertEquals(x.grad?.tolist(), [1, 1]);
  Straight.backward = (_, grad) => grad.mul(100);
  assertThrows(() => second.backward(), DynError, "Expected the backward of a Function in a compiled call");
  assertEquals(x.grad?.tolist(), [1, 1]);
});

Deno.test("a gradient is not taken within a call that has replaced what it uses", () => {
  for (const how of ["assigned", "defined", "deleted"]) {
    class Base extends autograd.Function {
      static override forward(_context: Context, x: Tensor): Tensor {
        return x.sin();
      }
      static override backward(_context: Context, grad: Tensor): Tensor {
        return grad.mul(100);
      }
    }
    class Derived extends Base {
      static override backward(_context: Context, grad: Tensor): Tensor {
        return grad.mul(2);
      }
    }
    const f = compile((x: Tensor) => {
      const loss = Derived.apply(x).sum();
      const other = (_: Context, grad: Tensor) => grad.mul(100);
      if (how === "assigned") Derived.backward = other;
      else if (how === "defined") Object.defineProperty(Derived, "backward", { value: other });
      else Reflect.deleteProperty(Derived, "backward");
      loss.backward();
      return x.grad;
    }, { backend: "eager" });
    const x = tensor([0.25, -1, 0.5], { requiresGrad: true });
    assertThrows(() => f(x), DynError, "Expected the backward of a Function in a compiled call", how);
    assertEquals(x.grad, null);
  }
});
