/** Programs that apply functions with gradients of their own, and take gradients of what they return. */
import {
  autograd,
  func,
  inferenceMode,
  isTensor,
  nn,
  noGrad,
  optim,
  randn,
  type Tensor,
  tensor,
  utils,
} from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

type Context = autograd.FunctionContext;

const f64 = (values: readonly number[] | readonly (readonly number[])[]) =>
  tensor(values, { dtype: "float64", requiresGrad: true });

/** Scales gradients of the middle of a hat by a number; the other argument has no gradient. */
class Clipped extends autograd.Function {
  static override forward(context: Context, x: Tensor, limit: number): Tensor {
    context.saveForBackward(x);
    context["limit"] = limit;
    return x.clamp(-limit, limit);
  }
  static override backward(context: Context, grad: Tensor): readonly (Tensor | null)[] {
    const [x] = context.savedTensors;
    return [x ? grad.mul(x.abs().le(Number(context["limit"])).mul(0.5).add(0.5)) : grad, null];
  }
}

/** Reverses gradients; its result is its argument. */
class Reversed extends autograd.Function {
  static override forward(_context: Context, x: Tensor): Tensor {
    return x;
  }
  static override backward(_context: Context, grad: Tensor): Tensor {
    return grad.neg();
  }
}

/** The exponential, which saves its result. */
class Exponential extends autograd.Function {
  static override forward(context: Context, x: Tensor): Tensor {
    const out = x.exp();
    context.saveForBackward(out);
    return out;
  }
  static override backward({ savedTensors: [out] }: Context, grad: Tensor): Tensor {
    return out ? grad.mul(out) : grad;
  }
}

/** A square that saves its argument, by setupContext. */
class Square extends autograd.Function {
  static override forward(x: Tensor): Tensor {
    return x.square();
  }
  static override setupContext(context: Context, [x]: readonly Tensor[]): void {
    if (x) context.saveForBackward(x);
  }
  static override backward({ savedTensors: [x] }: Context, grad: Tensor): Tensor {
    return x ? grad.mul(2).mul(x) : grad;
  }
}

/** A product and a sum, both saved from, and which is larger. */
class Several extends autograd.Function {
  static override forward(context: Context, a: Tensor, b: Tensor): readonly Tensor[] {
    const sum = a.add(b), larger = a.gt(b), kept = a.detach().mul(3);
    context.saveForBackward(a, b, sum);
    context.markNonDifferentiable(kept);
    return [a.mul(b), sum, larger, kept];
  }
  static override backward(context: Context, ...grads: readonly Tensor[]): readonly (Tensor | null)[] {
    const [a, b, sum] = context.savedTensors, [product, added, larger, kept] = grads;
    if (!a || !b || !sum || !product || !added || !larger || !kept) return [null, null];
    const rest = added.mul(sum).add(kept).add(larger);
    return context.needsInputGrad.map((needed, k) => needed ? product.mul(k === 0 ? b : a).add(rest) : null);
  }
}

/** Doubles its argument in place. */
class Doubled extends autograd.Function {
  static override forward(context: Context, x: Tensor): Tensor {
    context.markDirty(x);
    return x.mul_(2);
  }
  static override backward(_context: Context, grad: Tensor): Tensor {
    return grad.mul(2);
  }
}

/** The mean of the rows, whose gradient needs their number alone. */
class RowMean extends autograd.Function {
  static override forward(context: Context, x: Tensor): Tensor {
    context["shape"] = x.shape;
    context.setMaterializeGrads(false);
    return x.mean(0);
  }
  static override backward(context: Context, grad: Tensor | null): Tensor | null {
    const [rows = 0, columns = 0] = context["shape"] as readonly number[];
    return grad && grad.div(rows).unsqueeze(0).expand([rows, columns]);
  }
}

/** Programs of one graph each. */
export const whole: Corpus = {
  "saved tensors, numbers of the context, arguments without gradients"({ compile, see }) {
    const f = compile((x: Tensor) => Clipped.apply(x.mul(2), 1).square().sum());
    const x = f64([0.25, -3, 0.5]);
    f(x).backward();
    see(x.grad, f(f64([2, 2, 2])));
  },
  "a saved result, an argument by setupContext, twice the same function"({ compile, see }) {
    const f = compile((x: Tensor) => Exponential.apply(Square.apply(Exponential.apply(x.mul(0.5)))).sum());
    const x = f64([0.25, -3, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "several results, of which some have no gradient"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor, both: boolean) => {
      const [product, sum, larger, kept] = Several.apply(a, b.sin());
      const loss = product!.mul(2).sum();
      return [both ? loss.add(sum!.sum()) : loss, larger!, kept!, kept!.requiresGrad];
    });
    for (const both of [true, false]) {
      const a = f64([1, -2]), b = f64([3, 4]);
      const [loss, ...others] = f(a, b, both);
      if (typeof loss === "object") loss.backward();
      see(a.grad, b.grad, ...others);
    }
  },
  "one of two arguments needs a gradient"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => Several.apply(a, b)[0]!.sum());
    const a = f64([1, -2]), b = f64([3, 4]);
    f(a.detach(), b).backward();
    f(a, b.detach()).backward();
    see(a.grad, b.grad);
  },
  "results that are views of what else is read"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const hidden = x.sin(), reversed = Reversed.apply(hidden);
      return hidden.cos().sum().add(reversed.square().sum());
    });
    const x = f64([0.25, -3, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "arguments that are written to"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const hidden = x.mul(3), doubled = Doubled.apply(hidden);
      return [doubled.sin().sum().add(hidden.sum()), doubled === hidden];
    });
    const x = f64([0.25, -3, 0.5]);
    const [loss, same] = f(x);
    if (typeof loss === "object") loss.backward();
    see(x.grad, same, x);
  },
  "results that are written to later"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = Square.apply(x.mul(2));
      y.add_(1).mul_(3);
      return y.sum();
    });
    const x = f64([0.25, -3, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "sizes of the context, in calls of other sizes"({ compile, see }) {
    const f = compile((x: Tensor) => RowMean.apply(x.sin())!.mul(2).sum());
    for (const rows of [3, 5, 6]) {
      const x = randn([rows, 2], { dtype: "float64", requiresGrad: true });
      f(x).backward();
      see(x.grad);
    }
  },
  "a gradient inside, and its gradient"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const [slope] = autograd.grad(Exponential.apply(Square.apply(x)).sum(), [x], null, {
        createGraph: true,
      });
      return slope!.square().sum();
    });
    const x = f64([0.25, -1, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "the second derivative of what a graph returns"({ compile, see }) {
    const f = compile((x: Tensor) => Exponential.apply(Square.apply(x)));
    const x = f64([0.25, -1, 0.5]);
    const [slope] = autograd.grad(f(x).sum(), [x], null, { createGraph: true });
    slope!.square().sum().backward();
    see(slope!.detach(), x.grad);
  },
  "a pass that keeps what a second one reads, and one that does not"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const loss = Exponential.apply(x).sum();
      loss.backward({ retainGraph: true });
      loss.backward();
      const linear = Reversed.apply(x.mul(1)).sum();
      return [...autograd.grad(linear, [x]), x.grad!];
    });
    see(...f(f64([0.25, -1, 0.5])));
  },
  "layers whose activation has a gradient of its own, trained"({ compile, see }) {
    const layers = [0, 1, 2].map(() => new nn.Linear(4, 4)),
      parameters = layers.flatMap((l) => [...l.parameters()]);
    const optimizer = new optim.SGD(parameters, { lr: 0.1 });
    const step = compile((x: Tensor) => {
      optimizer.zeroGrad();
      let hidden = x;
      for (const layer of layers) hidden = Clipped.apply(layer.call(hidden), 2);
      const loss = hidden.square().mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    see(step(randn([3, 4])), step(randn([3, 4])), ...parameters);
  },
  "inside of a checkpoint"({ compile, see }) {
    const f = compile((x: Tensor) =>
      utils.checkpoint((each: Tensor) => Square.apply(each.sin()).cos(), x).sum()
    );
    const x = f64([0.25, -1, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "a gradient that is made contiguous, and viewed"({ compile, see }) {
    class Flat extends autograd.Function {
      static override forward(context: Context, x: Tensor): Tensor {
        context["shape"] = x.shape;
        return x.sin();
      }
      static override backward({ shape }: Context, grad: Tensor): Tensor {
        return grad.contiguous().view([-1]).mul(2).view(shape as readonly number[]);
      }
    }
    const f = compile((x: Tensor) => Flat.apply(x.view([3, 1])).t().sum());
    const x = f64([0.25, -1, 0.5]);
    f(x).backward();
    see(x.grad, x);
  },
  "an error of forward that the program catches"({ compile, see }) {
    class Refusing extends autograd.Function {
      static override forward(_context: Context, x: Tensor): Tensor {
        if (x.ndim === 1) throw new RangeError("one dimension");
        return x;
      }
    }
    const f = compile((x: Tensor) => {
      try {
        return Refusing.apply(x);
      } catch (error) {
        return x.mul(error instanceof RangeError ? 2 : 3);
      }
    });
    see(f(f64([1])), f(f64([2])), 0);
  },
};

let factor = 2;
const settings = { factor: 3 };

/** A sine whose gradient is computed by a function. */
const sine = (gradient: (context: Context, grad: Tensor) => Tensor | null) =>
  class extends autograd.Function {
    static override forward(context: Context, x: Tensor): Tensor {
      context.saveForBackward(x);
      return x.mul(settings.factor).sin();
    }
    static override backward(context: Context, grad: Tensor): Tensor | null {
      return gradient(context, grad);
    }
  };

const held = tensor([1, 2, 3], { dtype: "float64" });
let passes = 0;

const Changing = sine((_context, grad) => grad.mul(factor));
const ReadAgain = sine((_context, grad) => grad.mul(settings.factor));
const Holding = sine((_context, grad) => grad.mul(held));
const Counting = sine((_context, grad) => {
  passes++;
  return grad;
});
const OfMode = sine((_context, grad) => grad.mul(autograd.isGradEnabled() ? 2 : 3));
const Within = sine(({ savedTensors: [x] }, grad) => x ? Square.apply(x.mul(grad)) : null);

/** State that a gradient reads, and a change of it. */
interface Change {
  readonly keep?: (context: Context, x: Tensor) => void;
  readonly read: (grad: Tensor, context: Context, of: { scaled: (grad: Tensor) => Tensor }) => Tensor;
  readonly change: (what: { x: Tensor; rates: number[]; of: { scaled: (grad: Tensor) => Tensor } }) => void;
}

const twice = (grad: Tensor) => grad.mul(2), often = (grad: Tensor) => grad.mul(5);

/** State of programs by its kind. */
const CHANGES: Readonly<Record<string, () => Change>> = {
  "a variable with an object"() {
    let rate: { readonly value: number } = Object.freeze({ value: 2 });
    return { read: (grad) => grad.mul(rate.value), change: () => rate = Object.freeze({ value: 5 }) };
  },
  "a property with an object"() {
    const rate = { of: Object.freeze([2]) };
    return { read: (grad) => grad.mul(rate.of.length), change: () => rate.of = Object.freeze([2, 5]) };
  },
  "which object a property has"() {
    const first = {}, rate = { of: first };
    return { read: (grad) => rate.of === first ? grad : grad.mul(5), change: () => rate.of = {} };
  },
  "a property with a tensor's sizes"() {
    const rate = { of: tensor([2, 2]) };
    return { read: (grad) => grad.mul(rate.of.shape.length), change: () => rate.of = tensor([[2]]) };
  },
  "a method of an object"() {
    const rate = { scaled: twice };
    return { read: (grad) => rate.scaled(grad), change: () => rate.scaled = often };
  },
  "a function of the class": () => ({
    read: (grad, _context, of) => of.scaled(grad),
    change: ({ of }) => of.scaled = often,
  }),
  "a global function"() {
    Object.assign(globalThis, { scaledGradient: twice });
    const read = (grad: Tensor) =>
      (globalThis as unknown as { scaledGradient: typeof twice }).scaledGradient(grad);
    return { read, change: () => void Object.assign(globalThis, { scaledGradient: often }) };
  },
  "the prototype of an object"() {
    class Rate {}
    const rate = new Rate();
    return {
      read: (grad) => rate instanceof Rate ? grad : grad.mul(5),
      change: () => Object.setPrototypeOf(rate, null),
    };
  },
  "the keys of an object"() {
    const rates: Record<string, number> = { first: 1 };
    return { read: (grad) => grad.mul(Object.keys(rates).length), change: () => rates["second"] = 2 };
  },
  "a weak map"() {
    const key = {}, rates = new WeakMap([[key, 2]]);
    return { read: (grad) => grad.mul(rates.get(key) ?? 0), change: () => rates.set(key, 5) };
  },
  "a typed array"() {
    const rates = Float64Array.of(2);
    return { read: (grad) => grad.mul(rates[0] ?? 0), change: () => rates[0] = 5 };
  },
  "a date"() {
    const rate = new Date(2);
    return { read: (grad) => grad.mul(rate.getTime()), change: () => rate.setTime(5) };
  },
  "a property of a saved tensor": () => ({
    read: (grad, { savedTensors: [x] }) => x && "rate" in x ? grad.mul(5) : grad,
    change: ({ x }) => Object.assign(x, { rate: 5 }),
  }),
  "the gradient of a saved tensor": () => ({
    read: (grad, { savedTensors: [x] }) => x?.grad ? grad.mul(5) : grad,
    change: ({ x }) => x.grad = x.detach(),
  }),
  "a list among its arguments": () => ({
    read: (grad, { rates }) => Array.isArray(rates) ? grad.mul(rates.length) : grad,
    change: ({ rates }) => rates.push(5),
  }),
  "an object that forward has made"() {
    let kept = [2];
    return {
      keep: (context) => context["kept"] = kept = [2],
      read: (grad, { kept }) => Array.isArray(kept) ? grad.mul(kept.length) : grad,
      change: () => void kept.push(5),
    };
  },
};

/** Gradients by what they ask of the one that arrives. */
const LAYOUTS: Readonly<Record<string, (grad: Tensor) => Tensor>> = {
  contiguous: (grad) => grad.mul(grad.isContiguous() ? 2 : 5),
  strides: (grad) => grad.mul((grad.strides[0] ?? 0) + 1),
  "strides of a view": (grad) => grad.mul((grad.t().strides[0] ?? 0) + 1),
  "another view": (grad) => grad.view([4]).mul(2).view([2, 2]),
  "its memory": (grad) => grad.asStrided([2, 2], [1, 2]).clone(),
  "a copy that is written to": (grad) => grad.contiguous().mul_(2).add(grad),
  "whether it is recorded": (grad) => grad.mul(grad.requiresGrad ? 2 : 5),
  "whether it is a leaf": (grad) => grad.mul(grad.isLeaf ? 2 : 5),
};

/** A square whose tangents are not those of its gradient. */
class Pushed extends Square {
  static override jvp(_context: Context, tangent: Tensor): Tensor {
    return tangent.mul(11);
  }
}

/** Programs whose gradients only the tape can take, as they may depend on when they run: the graph ends before the call. */
export const apart: Corpus = {
  "arguments that are written to, of which there are views"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const hidden = x.mul(3), view = noGrad(() => hidden.view([3])), recorded = hidden.view([3, 1]);
      return [Doubled.apply(hidden).sin().sum(), view, recorded];
    });
    const x = f64([0.25, -3, 0.5]), [loss, view, recorded] = f(x);
    loss!.backward({ retainGraph: true });
    see(x.grad, view, recorded);
    recorded!.sum().backward();
    see(x.grad);
  },
  "tangents that are not those of the gradient"({ compile, see }) {
    const f = compile((x: Tensor) => func.jvp((x: Tensor) => Pushed.apply(x), [x], [x.mul(0).add(1)]));
    const g = compile((x: Tensor) => func.jacfwd((x: Tensor) => Pushed.apply(x))(x));
    const h = compile((x: Tensor) => func.jvp((x: Tensor) => noGrad(() => Pushed.apply(x)), [x], [x]));
    for (const x of [f64([0.25, -3]), f64([1, 2]).detach()]) see(f(x), g(x), h(x));
  },
  "tangents of what requires gradients, or does not"({ compile, see }) {
    const f = compile((x: Tensor, v: Tensor) =>
      func.jvp((x: Tensor) => Exponential.apply(x.mul(2)), [x], [v])[1]
    );
    const g = compile((x: Tensor) => func.jacfwd((x: Tensor) => Square.apply(x))(x));
    for (const [ofX, ofV] of [[true, false], [false, false], [true, true], [false, true]]) {
      const x = f64([0.25, -3]).detach(), v = f64([1, 2]).detach();
      [x.requiresGrad, v.requiresGrad] = [ofX!, ofV!];
      const tangent = f(x, v);
      if (tangent.requiresGrad) tangent.sum().backward();
      see(tangent, x.grad, v.grad, g(x).requiresGrad);
    }
  },
  "questions about histories inside of transforms"({ compile, see }) {
    const questions: readonly ((x: Tensor) => boolean)[] = [
      (x) => x.requiresGrad,
      (x) => x.sin().requiresGrad,
      (x) => x.isLeaf,
      (x) => x.sin().isLeaf,
    ];
    for (const question of questions) {
      const chosen = (x: Tensor) => question(x) ? x.mul(2) : x.mul(3);
      const f = compile((x: Tensor) => [
        func.jvp(chosen, [x], [x.detach()])[1],
        func.jacfwd(chosen)(x),
        func.vmap(chosen)(x),
        func.vmap(func.grad((x: Tensor) => chosen(x).sum()))(x),
      ]);
      for (const x of [f64([0.25, -3]), f64([1, 2]).detach()]) see(f(x).map((each) => each.detach().clone()));
    }
  },
  "tangents of what records no gradients"({ compile, see }) {
    const f = compile((x: Tensor) => func.jvp((x: Tensor) => x.mul(noGrad(() => x.sin())), [x], [x]));
    const g = compile((x: Tensor) => func.jacfwd((x: Tensor) => inferenceMode(() => x.sin()))(x));
    for (const x of [f64([0.25, -3]), f64([1, 2]).detach()]) see(f(x), g(x));
  },
  ...Object.fromEntries(
    Object.entries({ Changing, ReadAgain, Holding, Counting, OfMode, Within }).map(([name, Sine]) => [
      `a gradient that depends on when it runs: ${name}`,
      ({ compile, see }) => {
        const f = compile((x: Tensor) => Sine.apply(x.mul(2)).sum());
        const x = f64([0.25, -1, 0.5]), loss = f(x);
        [factor, settings.factor, passes] = [5, 7, 0];
        noGrad(() => held.mul_(2));
        loss.backward();
        see(x.grad, passes, loss.requiresGrad);
        [factor, settings.factor] = [2, 3];
        noGrad(() => held.div_(2));
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(LAYOUTS).map(([name, gradient]) => [
      `a gradient that depends on how it arrives: ${name}`,
      ({ compile, see, attempt }) => {
        const Sine = sine((_context, grad) => gradient(grad));
        const f = compile((x: Tensor) => Sine.apply(x.view([2, 2])));
        for (const pass of [(y: Tensor) => y.sum(), (y: Tensor) => y.t().mul(f64([[1, 2], [3, 4]])).sum()]) {
          const x = f64([0.25, -1, 0.5, 2]);
          attempt(() => pass(f(x)).backward());
          see(x.grad);
          attempt(() => autograd.grad(pass(f(x)), [x], null, { createGraph: true }));
        }
      },
    ]),
  ),
  "a gradient that reads what it has not saved, after writes and in several passes"(
    { compile, see, attempt },
  ) {
    class Keeping extends autograd.Function {
      static override forward(context: Context, x: Tensor): Tensor {
        context["own"] = x.cos();
        context["x"] = x;
        return x.sin();
      }
      static override backward({ own, x }: Context, grad: Tensor): Tensor {
        return isTensor(own) && isTensor(x) ? grad.mul(own).add(x.detach()) : grad;
      }
    }
    const f = compile((x: Tensor, writes: boolean) => {
      const hidden = x.mul(2), result = Keeping.apply(hidden);
      if (writes) noGrad(() => hidden.mul_(3));
      return result;
    });
    for (const writes of [false, true]) {
      const x = f64([0.25, -1, 0.5]), loss = f(x, writes).sum();
      for (let pass = 0; pass < 2; pass++) attempt(() => loss.backward());
      see(x.grad);
    }
  },
  "writes in a gradient that a transform takes"({ compile, attempt }) {
    const Writing = sine(({ savedTensors: [x] }, grad) => x ? grad.mul(x.cos().add_(1)) : grad);
    const Overwriting = sine((_context, grad) => grad.mul_(2));
    for (const Sine of [Writing, Overwriting]) {
      const f = compile((x: Tensor) => func.grad((x: Tensor) => Sine.apply(x).mul(x).sum())(x));
      attempt(() => f(f64([0.25, -1])));
    }
  },
};

/** The same of gradients that read state of the program. */
export const changing: Corpus = {
  ...Object.fromEntries(
    Object.entries(CHANGES).map(([name, made]) => [
      `a gradient that reads what changes before it is computed: ${name}`,
      ({ compile, see }) => {
        for (const isWithin of [false, true]) {
          const { read, keep, change } = made();
          class Reading extends autograd.Function {
            static scaled = (grad: Tensor) => grad.mul(2);
            static override forward(context: Context, x: Tensor, rates: readonly number[]): Tensor {
              context.saveForBackward(x);
              context["rates"] = rates;
              keep?.(context, x);
              return x.sin();
            }
            static override backward(context: Context, grad: Tensor): Tensor {
              return read(grad, context, this);
            }
          }
          const f = compile((x: Tensor) => {
            const rates = [2], result = Reading.apply(x, rates);
            if (isWithin) {
              change({ x, rates, of: Reading });
              result.sum().backward();
            }
            return [result, rates] as const;
          });
          for (let call = 0; call < 2; call++) {
            const x = f64([0.25, -1, 0.5]), [result, rates] = f(x);
            if (!isWithin) {
              if (call === 1) change({ x, rates, of: Reading });
              result.sum().backward();
            }
            see(x.grad, rates);
          }
        }
      },
    ]),
  ),
};
