/**
 * Programs for which fuzzing found a difference between compiled and plain runs, shrunk and named. Invariant: none of
 * them differs any more.
 */
import {
  aliasCopy,
  arange,
  autograd,
  cat,
  combinations,
  convTranspose2d,
  fill,
  fmin,
  func,
  gather,
  ger,
  isTensor,
  linalg,
  linspace,
  lobpcg,
  meshgrid,
  nativeLayerNorm,
  nn,
  noGrad,
  optim,
  polar,
  rand,
  randint,
  randnLike,
  special,
  splitWithSizesCopy,
  stdMean,
  type Tensor,
  tensor,
  uniqueConsecutive,
  zeros,
  zerosLike,
} from "../../mod.ts";
import type { Instance } from "../../cli/fuzz/tensor/instance.ts";
import type { Mode } from "../../cli/fuzz/tensor/observe.ts";

/** A program that was found. */
export interface Found {
  readonly make: () => Instance;
  /** Gradient mode of each call; default: recording. */
  readonly modes?: readonly Mode[];
  readonly dynamic?: boolean;
}

const float = (data: Parameters<typeof tensor>[0]): Tensor => tensor(data, { dtype: "float32" });
const leaf = (data: Parameters<typeof tensor>[0]): Tensor => float(data).requiresGrad_();
const int = (data: Parameters<typeof tensor>[0]): Tensor => tensor(data, { dtype: "int64" });

/** A life of a function: its calls by what they hand in. */
function life(
  f: Instance["f"],
  calls: readonly (() => readonly unknown[])[],
  rest: Partial<Pick<Instance, "effects" | "state" | "optimizer">> = {},
): Instance {
  return {
    f,
    calls: calls.map((call) => () => {
      const args = call();
      const seen = args.flatMap((arg, k) => isTensor(arg) ? [[`argument ${k}`, arg] as const] : []);
      return { args, seen: Object.fromEntries(seen) };
    }),
    effects: [],
    state: {},
    optimizer: null,
    ...rest,
  };
}

export const FOUND: Readonly<Record<string, Found>> = {
  "a composition refuses what its metadata rule accepts, inside a try": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, weight: Tensor) => {
        try {
          return nativeLayerNorm(x, [3], weight, weight, 0.25)[0];
        } catch (error) {
          effects.push(String(error));
          return x;
        }
      };
      return life(f, [() => [float([[1, 2, 3], [4, 5, 6]]), float([1, 2])]], { effects });
    },
  },
  "an error of a composition names sizes, not symbols": {
    make: () =>
      life((x: Tensor, index: Tensor, source: Tensor) => x.indexReduce_(0, index, source, "mean"), [
        () => [float([0.5]), int([0]), float([1])],
        () => [float([0.5]), int([0, 0]), float([1])],
      ]),
  },
  "an empty random tensor counts as a draw": {
    make: () => life((x: Tensor) => [randnLike(x), rand([2])], [() => [zeros([0])]]),
  },
  "types that an op cannot compute are refused by every tier": {
    make: () =>
      life((x: Tensor) => [nn.functional.hardshrink(x)], [() => [tensor([true, false], { dtype: "bool" })]]),
  },
  "an empty view that begins behind the end of its memory": {
    make: () =>
      life((x: Tensor) => x.set(["0:1:2"], 0), [
        () => [int([[[5, -3, 0, 3], [-3, -4, -2, -1]]]).at("1:0", "0:3", 2)],
      ]),
  },
  "a number that changes from call to call, where an op computes with a constant": {
    make: () =>
      life((x: Tensor, n: number) => [linspace(0, n, 3), x.lerp(x.neg(), n), x.var(0, { correction: n })], [
        () => [leaf([1.5, 2, 4]), 0],
        () => [leaf([1.5, 2, 4]), 1],
        () => [leaf([1.5, 2, 4]), 2],
      ]),
  },
  "an index out of range in an op whose result nobody uses": {
    make: () => life((x: Tensor, i: Tensor) => void x.indexSelect(0, i), [() => [float([1, 2]), int([5])]]),
  },
  "an index out of range inside a try, after a write": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, i: Tensor) => {
        try {
          x.neg_();
          return x.indexSelect(0, i);
        } catch (error) {
          effects.push(String(error));
          return x;
        }
      };
      return life(f, [() => [float([1, 2]), int([5])]], { effects });
    },
  },
  "an index out of range after a write": {
    make: () =>
      life((x: Tensor, y: Tensor, i: Tensor) => [x.fill_(7), y.scatter(0, i, 1)], [
        () => [float([1]), float([1]), int([3])],
      ]),
  },
  "a view of a copy is not a view of what was copied": {
    make: () =>
      life((x: Tensor) => [splitWithSizesCopy(x, [1, 2])[0]?.select(0, 0), x.clone().t()], [
        () => [float([1, 2, 3])],
      ]),
  },
  "results that are views of intermediates keep their strides": {
    make: () =>
      life((x: Tensor) => [x.sigmoid().narrow(1, 0, 2), x.neg().unfold(1, 2, 2)], [
        () => [float([[1, 2, 3, 4], [5, 6, 7, 8]])],
      ]),
  },
  "a hook on a tensor from which another was computed before": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const y = x.mul(2), z = y.sin();
        y.registerHook((g) => {
          effects.push("hook");
          return g.mul(10);
        });
        return z;
      };
      return life(f, [() => [leaf([1, 2])]], { effects });
    },
  },
  "a hook that notes something, and a backward pass in the same function": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const y = x.sigmoid(), z = y.mul(4);
        y.registerHook((g) => {
          effects.push("hook");
          return g.mul(0.5);
        });
        z.sum().backward();
        return z.detach();
      };
      return life(f, [() => [leaf([1, 2])]], { effects });
    },
  },
  "a backward pass between two results of one graph": {
    make: () =>
      life((x: Tensor) => {
        const y = x.sinh(), z = x.sigmoid();
        z.sum().backward();
        return y;
      }, [() => [leaf([1, 2])]]),
  },
  "a backward pass between two results of one graph, behind a break": {
    make: () =>
      life((x: Tensor, weight: Tensor) => {
        const y = weight.mul(x.mean()), z = weight.div(x);
        if (+weight.sum() > 0) x.add(1);
        z.sum().backward();
        return y;
      }, [() => [float([3, 4]), leaf([1, 2])]]),
  },
  "the gradient of a sum with respect to an intermediate of the function": {
    make: () =>
      life((x: Tensor) => {
        const y = x.sin();
        return autograd.grad(y.sum(), [y], { allowUnused: true });
      }, [() => [leaf([1, 2])]]),
  },
  "a result that is written after it was saved": {
    make: () =>
      life((x: Tensor) => {
        const [deviation, mean] = stdMean(x, { keepdim: true });
        deviation.set([0], 0);
        return [mean];
      }, [() => [leaf([[1, 2], [4, 8]])]]),
  },
  "a write into an empty part of what requires grad": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const z = x.mul(y);
        z.set(["2:3"], 0);
        return [z.exp_()];
      }, [() => [float(2), leaf([1])]]),
  },
  "what does not reach the loss of a backward pass still requires grad": {
    make: () =>
      life((x: Tensor) => {
        const y = x.sigmoid(), z = y.mul(3);
        y.sum().backward();
        return [z, y];
      }, [() => [leaf([1, 2])]]),
  },
  "sizes of 0 where kernels divide by sizes": {
    make: () => life((x: Tensor) => [x.corrcoef()], [() => [zeros([0, 1])]]),
  },
  "in place through windows that overlap": {
    make: () =>
      life((x: Tensor, y: Tensor) => x.mul(1).unfold(0, 2, 1).copy_(y), [
        () => [float([1, 2, 3]), float([4, 5])],
      ]),
  },
  "in place without a gradient rule of its own": {
    make: () =>
      life((x: Tensor, i: Tensor) => x.mul(1).scatter_(0, i, 5), [() => [leaf([1, 2, 3]), int([1])]]),
  },
  "integers that lie apart, without a C++ compiler": {
    make: () =>
      life((x: Tensor, i: Tensor) => [i.select(1, 1).eq(1), x.gather(0, i.select(1, 1))], [
        () => [float([1, 2, 3, 4, 5, 6, 7, 8]), arange(16).remainder(7).reshape([8, 2])],
      ]),
  },
  "a product that is transposed keeps its strides": {
    make: () =>
      life((x: Tensor, y: Tensor) => x.mm(y).t(), [() => [float([[1, 2], [3, 4]]), float([[5, 6], [7, 8]])]]),
  },
  "an input that is written after the graph that needs it": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(1.5), z = y.asin();
        if (+x.sum() > 0) x.detach().zero_();
        return z;
      }, [() => [leaf([0.25, 0.5]).mul(1)]]),
  },
  "gradients of sorted elements, which places of elements give alone": {
    make: () =>
      life((x: Tensor) => {
        const [values, indices] = x.sort();
        return [autograd.grad(values.sum(), [x], { createGraph: true })[0], indices];
      }, [() => [leaf([2, 1])]]),
  },
  "gradients asked for twice, of sums of what saved nothing": {
    make: () =>
      life((x: Tensor) => {
        const y = x.sum();
        autograd.grad(y.sum(), [x]);
        y.sum().backward();
        return [];
      }, [() => [leaf([1, 2])]]),
  },
  "gradients with respect to what does not lead to the output, then a backward pass": {
    make: () =>
      life((x: Tensor, w: Tensor) => {
        const y = w.mul(x), after = y.sin();
        autograd.grad(y.sum(), [after], { allowUnused: true });
        y.sum().backward();
        return [];
      }, [() => [leaf([1, 2]), float([3, 4])]]),
  },
  "a hook on a tensor that is written without recording after another was computed from it": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const y = x.mul(21), z = y.add(-4);
        noGrad(() => y.set([0], 1));
        y.registerHook((g) => {
          effects.push("hook");
          return g.mul(0.5);
        });
        return [z];
      };
      return life(f, [() => [leaf([1, 2])]], { effects });
    },
  },
  "a gradient that is read, then of the same tensor that is differentiated": {
    make() {
      const x = leaf([1, 2]), y = leaf([3, 4]);
      return life((a: Tensor, b: Tensor) => {
        b.sum().backward();
        return [a.grad];
      }, [() => [x, y], () => [x, x]]);
    },
  },
  "the gradient with respect to an input and an intermediate": {
    make: () =>
      life((x: Tensor) => {
        const y = x.exp();
        return autograd.grad(y.sum(), [x, y]);
      }, [() => [leaf([1, 2])]]),
  },
  "results of which only some require grad": {
    make: () => life((x: Tensor, y: Tensor) => meshgrid([x, y]), [() => [leaf([1, 2]), float([3])]]),
  },
  "gradients of gradients past what was computed without recording": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(noGrad(() => x.mul(x)));
        const [grad] = autograd.grad(y.sum(), [x], { createGraph: true });
        return [grad, grad?.mul(x)];
      }, [() => [leaf([1.5, 2])]]),
  },
  "gradients of gradients of what was written without recording": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(2);
        noGrad(() => y.fill_(0.5));
        const [grad] = autograd.grad(y.mul(y).mul(x).sum(), [x], { createGraph: true });
        return [grad, x];
      }, [() => [leaf([1.5, 2])]]),
  },
  "gradients of gradients of random numbers, of views and of what is written": {
    make: () =>
      life((x: Tensor, w: Tensor) => {
        const y = nn.functional.dropout(x.mul(w), 0.5), parts = y.mul(y).chunk(2);
        parts[0]?.mul_(w.slice(0, 1));
        const [grad] = autograd.grad([parts[0]!.sum(), parts[1]!.pow(2).sum()], [x], { createGraph: true });
        return [grad, rand([2])];
      }, [() => [leaf([1.5, 2]), leaf([0.5, 3])]]),
  },
  "a gradient whose rule needs no elements of what is overwritten": {
    make: () =>
      life((x: Tensor) => {
        const y = x.unsqueeze(0).clone();
        y.copy_(0);
        y.sum().backward();
        return [y];
      }, [() => [leaf([1, 2])]]),
  },
  "a write into one of several windows that overlap, and a backward pass": {
    make: () =>
      life((x: Tensor, w: Tensor) => {
        x.unfold(0, 3, 1).set([0, "1:1"], 3);
        x.unfold(0, 3, 1).set([1], 3);
        w.sum().backward();
        return [x];
      }, [() => [float([1, 2, 3, 4]), leaf([1, 2])]]),
  },
  "the gradient with respect to a result of a graph before a break": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(2), z = y.exp();
        uniqueConsecutive(z);
        const grads = autograd.grad(z.sum(), [y], { allowUnused: true });
        return [grads[0]];
      }, [() => [leaf([1.5, 2])]]),
  },
  "hooks and kept gradients of a result of a graph before a break": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const y = x.mul(2), z = y.exp();
        uniqueConsecutive(z);
        y.retainGrad();
        y.registerHook((g) => {
          effects.push("hook");
          return g.mul(10);
        });
        z.sum().backward({ retainGraph: true });
        return [y.grad, y.sin()];
      };
      return life(f, [() => [leaf([1.5, 2])]], { effects });
    },
  },
  "a result that has no gradient and an infinite derivative": {
    make: () =>
      life((x: Tensor) => {
        const y = x.sqrt(), z = x.mul(3);
        uniqueConsecutive(z);
        z.sum().backward();
        return [y.detach()];
      }, [() => [leaf([0, 4])]]),
  },
  "the gradient with respect to an input that was written to": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const z = x.mul(1);
        z.mul_(y);
        uniqueConsecutive(z);
        z.mul_(y);
        const result = z.exp();
        uniqueConsecutive(result);
        return autograd.grad(result.sum(), [z, y]);
      }, [() => [leaf([1, 2]), leaf([0.5, 3])]]),
  },
  "a view of an input that is written to with a gradient": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        x.mul_(y);
        const result = x.mul(2);
        uniqueConsecutive(result);
        return autograd.grad(result.sum(), [x]);
      }, [() => [float([[1, 2]]).t(), leaf([0.5])]]),
  },
  "a write into a view of a leaf, after another write": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const z = x.sum();
        y.neg_();
        x.zero_();
        return z;
      }, [() => [leaf([[1, 2]]).select(0, 0), int([3])]]),
  },
  "a result of a graph that shows a product turned, written to behind a break": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(2).t();
        uniqueConsecutive(y);
        y.mul_(3);
        return y;
      }, [() => [leaf([[1.5, 2]])]]),
  },
  "views of views, of which each is a result": {
    make: () =>
      life((x: Tensor) => {
        const y = x.diagonal(), z = y.at(":"), inner = x.mul(2).select(0, 0), last = inner.unsqueeze(0);
        uniqueConsecutive(z);
        return [
          ...autograd.grad(z.sum(), [y], { allowUnused: true }),
          ...autograd.grad(last.sum(), [inner], { allowUnused: true }),
        ];
      }, [() => [leaf([[1, 2], [3, 4]])]]),
  },
  "a chance that is none, from the second call on": {
    make: () =>
      life(
        (x: Tensor, p: number) => x.bernoulli(p),
        [0.5, 0.25, 0.75, 2].map((p) => () => [float([1, 2]), p]),
      ),
  },
  "the gradient with respect to another result of the graph that gave an input": {
    make: () =>
      life((x: Tensor) => {
        const y = x.mul(2), other = y.sigmoid();
        uniqueConsecutive(other);
        const unused = other.mul(16.5), result = y.sigmoid();
        uniqueConsecutive(unused);
        autograd.grad(result.sum(), [other], { allowUnused: true });
        result.sum().backward();
        return [];
      }, [() => [leaf([1, 2])]]),
  },
  "several indices into a tensor without dimensions": {
    make: () =>
      life((x: Tensor, i: Tensor, y: Tensor) => x.indexAdd_(0, i, y), [
        () => [float(1), int([0, 0]), leaf(2)],
        () => [float(1), int([0]), leaf(2)],
        () => [float(1), int([0, 0]), leaf([2, 3])],
      ]),
  },
  "the first of equal maxima in windows that are wider than high": {
    make: () =>
      life((x: Tensor) => [
        ...nn.functional.adaptiveMaxPool2d(x, 2, true),
        ...nn.functional.adaptiveMaxPool2d(x.transpose(-1, -2), 2, true),
      ], [() => [randint(0, 3, [2, 5, 6]).float()], () => [randint(0, 3, [2, 7, 4]).float()]]),
  },
  "a hook on a result of a graph that does not lead to what is asked about": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, w: Tensor) => {
        const y = w.mul(2), other = x.sigmoid();
        y.registerHook(() => void effects.push("hook"));
        autograd.grad(y.sum(), [x], { allowUnused: true });
        return [other];
      };
      return life(f, [() => [leaf([1, 2]), leaf([3, 4])]], { effects });
    },
  },
  "an index out of range inside a try, where an input shares memory with one that is written": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, view: Tensor, i: Tensor) => {
        try {
          x.fill_(0);
          x.indexSelect(0, i);
        } catch (error) {
          effects.push(String(error));
        }
        return view.unsqueeze(0);
      };
      return life(f, [() => {
        const x = float([1]);
        return [x, x.at("2:3"), int(48)];
      }], { effects });
    },
  },
  "gradients where an operand is bools": {
    make: () =>
      life((x: Tensor, y: Tensor) => [x.logaddexp(y), y.logaddexp2(x)], [
        () => [tensor([true, false]), leaf([1, 2])],
      ]),
  },
  "a view of an input, and what is computed from it, before a break": {
    make: () =>
      life((x: Tensor) => {
        const view = x.movedim(0, 0), y = view.sigmoid();
        console.log("between");
        return autograd.grad(y.sum(), [view, x], { allowUnused: true });
      }, [() => [leaf(0.8125)], () => [leaf([0.5, 2])]]),
  },
  "gradients of a row that is used three times, after a failure": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const row = x.select(0, 0), loss = nn.functional.tripletMarginWithDistanceLoss(row, row, row);
        try {
          loss.reshape([0]);
        } catch (error) {
          effects.push(String(error));
        }
        const [g] = autograd.grad(loss.sum(), [row], { allowUnused: true });
        return [g?.sigmoid()];
      };
      return life(f, [() => [leaf([-1.234375])]], { effects });
    },
  },
  "a sum whose largest numbers cancel": {
    make: () =>
      life((x: Tensor) => x.sum(), [
        () => [float([1.71875, -0.40625, 1.765625, -1e30, 1, 0.671875, 1.578125, 1.953125, 1.828125, 1e30])],
        () => [float([1e30, 1.5, 2.25, 0.5, -1e30, 4, 8, 16, 0.25, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])],
      ]),
  },
  "an index out of range in what is read for its shape only": {
    make: () =>
      life((x: Tensor, i: Tensor) => zerosLike(gather(x, 0, i)), [
        () => [float([[1, 2, 3]]), int([[0, 0, 0]])],
        () => [float([[1, 2, 3]]), int([[3, 0, 0]])],
        () => [leaf([[1, 2, 3]]), int([[0, 0, -1]])],
      ]),
  },
  "an index out of range in a part that nobody takes": {
    make: () =>
      life((x: Tensor, i: Tensor) => cat([x.indexSelect(0, i), x]).narrow(0, 2, 1), [
        () => [float([1, 2, 3]), int([0, 0])],
        () => [float([1, 2, 3]), int([3, 0])],
      ]),
  },
  "a hook behind which a second pass has nothing left to read": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, w: Tensor, scale: Tensor) => {
        const hidden = w.mul(scale), result = x.mul(hidden);
        if (+x.sum() > 100) result.neg_();
        hidden.registerHook((g) => {
          effects.push("hook", g.shape.join());
          return g.mul(0.5);
        });
        hidden.sum().backward();
        return [result];
      };
      return life(f, [() => [leaf([1, 2]), leaf([3, 4]), float([2, 5])]], { effects });
    },
  },
  "a result that is a gradient, to which a pass adds that fails where weights have changed": {
    make() {
      const w = leaf([[1.5, 0.5], [-0.5, 0.25]]), scale = leaf(0.5);
      const optimizer = new optim.SGD([w, scale], { lr: 0.1, momentum: 0.9 });
      const f = (x: Tensor, view: Tensor, y: Tensor) => {
        const product = w.mul(x), scaled = scale.mul(view);
        product.sum().backward({ retainGraph: true });
        const gradient = x.grad, outer = ger(x, y);
        fill(view, scaled).sum().backward();
        optimizer.step();
        return [outer, gradient];
      };
      const call = () => {
        const x = leaf([-0.25, -0.75]);
        return [x, x.select(0, 0), float([0.25, 2, -1])];
      };
      return life(f, [call], { state: { w, scale }, optimizer });
    },
  },
  "a transposed convolution whose output would have less than no elements": {
    make: () =>
      life((x: Tensor, weight: Tensor) => {
        convTranspose2d(x, weight, { stride: 2, padding: 1, outputPadding: 1 });
        return [];
      }, [() => [zeros([0, 2, 1]), zeros([0, 2, 0, 0])], () => [zeros([1, 2, 1, 1]), zeros([2, 2, 1, 1])]]),
  },
  "a gradient that its rule refuses, of a result": {
    make: () =>
      life((x: Tensor, y: Tensor) => x.pow(y), [() => [leaf([0.25, -0.5, 3]), tensor([false, true, true])]]),
  },
  "a gradient that its rule refuses, behind an effect": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor, y: Tensor) => {
        const power = x.pow(y);
        effects.push("before");
        power.sum().backward();
        return [];
      };
      return life(f, [() => [leaf([0.25, -0.5, 3]), tensor([false, true, true])]], { effects });
    },
  },
  "digits of float64 that a function cancels": {
    make: () =>
      life((x: Tensor) => nn.functional.gelu(x), [() => [linspace(-4, 4, 257, { dtype: "float64" })]]),
  },
  "polynomials of degrees that are no integers of 64 bits": {
    make: () =>
      life(
        (x: Tensor, n: Tensor) => [
          special.shiftedChebyshevPolynomialW(x, n),
          special.legendrePolynomialP(x, n),
          special.hermitePolynomialH(x, n),
        ],
        [() => [float([0.25, -2, 3, 1, 0.5]), float([1e30, Infinity, NaN, -1e30, 3])]],
      ),
  },
  "a lost gradient that is asked about": {
    make: () =>
      life((w: Tensor, p: Tensor) => {
        const v = w.tanh();
        v.fill_(p);
        return autograd.grad(v.sum(), [w], { allowUnused: true });
      }, [() => [leaf([1.5]), tensor(-1.5)]]),
  },
  "two passes that read different operations": {
    make: () =>
      life((w: Tensor, x: Tensor) => {
        const product = x.mul(w), view = product.transpose(0, 0);
        const through = autograd.grad(view.sum(), [w], { allowUnused: true });
        return [...through, ...autograd.grad(view.sum(), [product], { allowUnused: true })];
      }, [() => [leaf(0.75), float(1.25)]]),
  },
  "a leaf where a former call had a result, in place of which nothing is written": {
    make: () =>
      life((x: Tensor) => {
        x.dropout2d_({ training: false });
        x.registerHook((grad) => grad.mul(-1));
        x.set(["0:0", ":", ":"], 0);
        return [];
      }, [() => [leaf([[[-1]]]).mul(1)], () => [leaf([[[-1]]])]]),
  },
  "a copy that is reshaped and written to": {
    make: () =>
      life((x: Tensor) => {
        const wide = x.sin().repeatInterleave(2);
        wide.sigmoid_();
        return [wide];
      }, [() => [leaf([-0.5, 1.25])]]),
  },
  "gradients of gradients behind a write to what they do not depend on": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        y.div_(3);
        const grads = autograd.grad(x.sum(), [x], { createGraph: true });
        return [...grads, y];
      }, [() => [leaf([2, -1]), float(1.5)]]),
  },
  "running sums and products of bools": {
    make: () => life((x: Tensor) => [x.cumsum(0, { dtype: "bool" })], [() => [float([0.5, 0])]]),
  },
  "a size that only a stride of something empty shows": {
    make: () => life((x: Tensor) => x.at(0, "17:14:2").sin(), [() => [leaf([[-1.5, -1.25]])]]),
    dynamic: true,
  },
  "more combinations than can be listed": {
    make: () => life((x: Tensor) => [combinations(x, x.shape[0] ?? 0, true)], [() => [zeros([17])]]),
  },
  "a gradient that reads what was written through a view, of any size": {
    make: () =>
      life((x: Tensor, y: Tensor, w: Tensor) => {
        x.sub_(y);
        return [x.mul(w)];
      }, [() => [float([[1, -2], [3, -4], [5, -6]]).select(-1, 1), float(1.5), leaf(-0.75)]]),
    dynamic: true,
  },
  "a view of a view, made before what both show is written to": {
    make() {
      const effects: unknown[] = [];
      const f = (x: Tensor) => {
        const turned = x.transpose(-1, -2), part = turned.at(0);
        noGrad(() => x.fill_(1.5));
        const result = part.atan();
        turned.registerHook((grad) => {
          effects.push("hook", grad.shape.join());
        });
        return [result];
      };
      return life(f, [() => [leaf([[1, -2], [3, -4]])]], { effects });
    },
  },
  "a hook in a pass behind a step of the optimizer": {
    make() {
      const w = zeros([3, 0], { requiresGrad: true }), effects: unknown[] = [];
      const optimizer = new optim.SGD([w], { lr: 0.05 });
      const f = (x: Tensor) => {
        const product = w.mul(x.mean()), hidden = product.sigmoid().mul(13), turned = hidden.T;
        product.registerHook((grad) => {
          effects.push("hook", grad.shape.join());
          return grad.mul(0.5);
        });
        hidden.sum().backward();
        optimizer.step();
        return [turned];
      };
      return life(f, [() => [float([2, 1])]], { effects, state: { w }, optimizer });
    },
  },
  "a view of what was written to through its transposed view": {
    make: () =>
      life((x: Tensor) => {
        x.transpose(1, 0).log10_();
        return [x.view([-1])];
      }, [() => [float([[0.75, 1.25], [1.5, 2]])]]),
  },
  "indices that are results of comparisons": {
    make: () =>
      life((x: Tensor) => {
        const positive = x.gt(0);
        return [positive.at(positive.remainder(3)), x.at(positive.to("int64"))];
      }, [() => [arange(0, 40, { dtype: "float32" }).remainder(5).sub(1.5)]]),
  },
  "the first of several dimensions of three elements, whose sizes change": {
    make: () =>
      life((x: Tensor, y: Tensor) => [x.cross(y)], [
        () => [float([[1.5, -1.75, -1.25]]), float([[-0.25, 0.5, 0.75]])],
        () => [float([[1, 2, 3], [4, 5, 6], [7, 8, 10]]), float([[1, 0, 2], [3, -1, 1], [2, 2, -3]])],
        () => [float([[1, 2, 3], [4, 5, 6]]), float([[1, 0, 2], [3, -1, 1]])],
      ]),
  },
  "an index into nothing, and a write by what is there": {
    make: () =>
      life((x: Tensor, indices: Tensor) => {
        const taken = x.take(indices);
        taken.scatter_(0, taken, 2);
        return [];
      }, [() => [zeros([1, 0], { dtype: "int64" }), int(0)]]),
  },
  "a write in place of another type": {
    make: () =>
      life((x: Tensor) => [x.cumprod_(0, { dtype: "int16" })], [() => [leaf([-0.5, -1.75]).mul(1)]]),
  },
  "a computed size of one": {
    make: () => life((x: Tensor) => [x.unfold(0, 1, 2).contiguous()], [() => [float([-1, 0.5])]]),
    dynamic: true,
  },
  "an infinite derivative where no gradient arrives, of what the graph has overwritten": {
    make: () =>
      life((x: Tensor, b: Tensor) => {
        const straight = x.mul(b.add(1)), root = x.sqrt().mul(b.add(2));
        b.add_(1);
        return [straight, root];
      }, [() => [leaf([0, 1.5]), float([2, 3])]]),
  },
  "gradients of gradients of what the graph has overwritten": {
    make: () =>
      life((x: Tensor, b: Tensor) => {
        const y = x.pow(3).mul(b.add(1));
        b.add_(1);
        const [slope] = autograd.grad(y.sum(), [x], { createGraph: true });
        return [y, slope];
      }, [() => [leaf([0.5, 1.5]), float([2, 3])]]),
  },
  "a gradient that is handed on through a graph": {
    make: () =>
      life((x: Tensor) => {
        const copy = aliasCopy(x);
        return autograd.grad(copy.sum(), [copy, x]);
      }, [() => [leaf([0.5, 1.5])]]),
  },
  "gradients that are equal without being one": {
    make: () =>
      life((a: Tensor, b: Tensor, c: Tensor) => {
        const y = a.mul(c).add(b.mul(c)).exp();
        return autograd.grad(y.sum(), [a, b]);
      }, [() => [leaf([0.5, 1.5]), leaf([1, 2]), leaf([3, 4])]]),
  },
  "a hook in a pass through what an earlier one has made again": {
    make: () => {
      const effects: unknown[] = [];
      return life(
        (x: Tensor) => {
          const y = x.sigmoid();
          y.registerHook((g) => {
            effects.push(g.shape.join());
            return g.mul(0.5);
          });
          const [slope] = autograd.grad(y.sum(), [x], { createGraph: true });
          return [slope, y];
        },
        [() => [leaf([1.5, -2])]],
        { effects },
      );
    },
  },
  "a part of a detached tensor, whose sibling was written to before a gradient was": {
    make: () => {
      const w = float([-2, -1, 1]);
      return life(
        (x: Tensor) => {
          const apart = w.detach(), [first, , last] = apart.split(1);
          first?.cosh_();
          apart.fill_(x);
          return [last];
        },
        [() => [leaf(1.5)]],
        { state: { w } },
      );
    },
  },
  "masks of one truth": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const mask = x.gt(0);
        x.set([mask], 7);
        y.set([mask], x);
        y.set([0, x.gt(7)], -1);
        return [x, y];
      }, [() => [float(0.5), float([1, 2])], () => [float(-0.5), float([1, 2])]]),
  },
  "a part of a row-major copy": {
    make: () =>
      life((x: Tensor) => [x.select(1, 0).contiguous().select(0, 0)], [() => [float([[1, 2], [3, 4]])]]),
  },
  "a number in the place of a dimension, or of a tensor": {
    make: () =>
      life(
        (x: Tensor, d: number) => [...x.max(d), ...x.min({ dim: d })],
        [-1, 0.5, 0, 1].map((d) => () => [float([1, 2]), d]),
      ),
  },
  "gradients of nothing but zeros, twice": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const rounded = x.div(y, { roundingMode: "floor" });
        rounded.sum().backward();
        return [rounded];
      }, [() => [leaf(-1.5), float(2)]]),
  },
  "a hook below what a gradient is asked for": {
    make: () => {
      const effects: unknown[] = [];
      return life(
        (x: Tensor) => {
          const low = x.sigmoid(), middle = low.mul(2), high = middle.exp();
          if (+x.sum() > 9) return [];
          low.registerHook((g) => void effects.push(g.shape.join()));
          return autograd.grad(high.sum(), [middle, high], { allowUnused: true });
        },
        [() => [leaf([1.5, -2])]],
        { effects },
      );
    },
  },
  "a write through views there and back": {
    make: () =>
      life((x: Tensor) => {
        x.t().transpose(1, 0).zero_();
        return [];
      }, [() => [float([[1, 2], [3, 4]])]]),
  },
  "a write to what a composition refuses to make": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        nn.functional.pdist(y);
        linalg.tensorinv(x).set(["..."], 0);
        return [x];
      }, [() => [tensor(1, { dtype: "int64" }), tensor([[true], [false]])]]),
  },
  "a pass that has no use for what was overwritten": {
    make: () => {
      const w = leaf(0.75);
      return life(
        (x: Tensor) => {
          const loss = x.mul(3).sum(), y = w.sigmoid();
          if (+y.sum() > 9) return [];
          y.mul_(2);
          loss.backward();
          return [y];
        },
        [() => [leaf([1, 2])]],
        { state: { w } },
      );
    },
  },
  "what the host computes, in place": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const before = x.add(0);
        x.lcm_(y);
        return [before, x.gt(0), x.gcd_(int(4)), x.remainder(3)];
      }, [() => [int([-6, 9]), int(4)], () => [int([17, 1]), int(6)]]),
  },
  "a part refuses what its composition accepts, whatever the strides": {
    make: () =>
      life((x: Tensor) => {
        nn.functional.softmin(x, 2);
        return [];
      }, [() => [zeros([1, 6, 3, 3], { dtype: "int64" }).diagonal(-1, -1, -2)]]),
  },
  "a composition that gives its receiver as it is writes nothing into a view of a leaf": {
    make: () =>
      life((x: Tensor) => [nn.functional.featureAlphaDropout(x, 0.5, false, true)], [
        () => [leaf([[[-0.25, 1]]]).select(0, 0)],
      ]),
  },
  "what the host computes, in place, is differentiated": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        x.igamma_(y);
        return autograd.grad(x.sum(), [y], { allowUnused: true });
      }, [() => [float([0.6, 0.7]), leaf([1.5, 0.25])]]),
  },
  "what the host computes, written into another tensor, is differentiated": {
    make: () => {
      const w = leaf([1.5, 0.25]);
      return life(
        (x: Tensor) => {
          const buffer = x.clone();
          buffer.select(0, 0).copy_(x.igamma(w).select(0, 1));
          buffer.square().sum().backward();
          return [buffer];
        },
        [() => [float([0.6, 0.7])]],
        { state: { w } },
      );
    },
  },
  "a function that is differentiated writes what its gradient flows beyond": {
    make: () => {
      const w = leaf([1.5, 0.25]);
      return life(
        (x: Tensor) => {
          const slope = func.grad((t: Tensor) => {
            const buffer = t.clone();
            buffer.mul_(w);
            return buffer.square().sum();
          })(x);
          slope.sum().backward();
          return [slope.detach()];
        },
        [() => [float([0.6, 0.7])]],
        { state: { w } },
      );
    },
  },
  "the gradient of what was written to without recording": {
    make: () =>
      life((x: Tensor) => {
        const middle = x.mul(2), end = middle.sin();
        noGrad(() => void middle.set(["2:1"], 0));
        const [gradient] = autograd.grad(end.sum(), [middle], { allowUnused: true });
        return [gradient];
      }, [() => [leaf([0.5])], () => [leaf([1, 2])]]),
  },
  "a second pass over a released graph of nothing": {
    make: () =>
      life((x: Tensor) => {
        const none = x.narrow(0, 0, 0), y = none.sigmoid();
        autograd.grad(y.sum(), [x]);
        return autograd.grad(y.sum(), [none], { createGraph: true });
      }, [() => [leaf([0.5])]]),
  },
  "the layout of a view changes, made of a view of a leaf": {
    make: () =>
      life((x: Tensor) => {
        const part = x.select(0, 0);
        part.transpose_(0, 0);
        return [part];
      }, [() => [leaf([[1.5, -0.25]]).mul(2)], () => [leaf([[1.5, -0.25]]).select(-1, 1)]]),
  },
  "a view of what a gradient behind the host computes again": {
    make: () => {
      const w = leaf([-1.25]);
      return life(
        (x: Tensor) => {
          const product = x.mul(w), end = w.mul(product);
          special.shiftedChebyshevPolynomialV(end, x).repeat(1);
          const view = product.view(1, 1);
          end.sum().backward();
          return [product, view];
        },
        [() => [float([2.5])], () => [float([0.5])]],
        { state: { w } },
      );
    },
  },
  "a complex element as a number": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const z = polar(x, y).sum();
        return [typeof z.item() === "number" ? x : y, +z];
      }, [() => [float([1, 2]), float([0.5, 1])]]),
  },
  "what has no integer of 32 bits as narrow integers": {
    make: () =>
      life(
        (
          x: Tensor,
        ) => [x.to("int32"), x.to("int16"), x.to("int8"), x.to("uint8"), special.ndtri(x).to("int32")],
        [() => [float([-1.75, NaN, Infinity, 3e10, -3e10, 3e9, -(2 ** 31), 2 ** 54 + 2 ** 31, -(2 ** 60)])]],
      ),
  },
  "an infinity that is a constant as an integer": {
    make: () =>
      life(
        (
          x: Tensor,
        ) => [special.scaledModifiedBesselK1(x).to("int32"), x.maskedFill(x.eq(0), Infinity).to("int64")],
        [
          () => [float([0, -3, 5.5, 0.5])],
        ],
      ),
  },
  "a copy of what the host goes on to write to": {
    make: () =>
      life((x: Tensor, n: Tensor, y: Tensor) => {
        const flipped = x.slice(), rest = n.remainder(3);
        y.igamma_(y);
        flipped.round_();
        rest.gcd_(n);
        return [flipped.fliplr(), rest.to("float32"), rest.view(1, 2)];
      }, [() => [float([[1.375]]), int([-4, 6]), float([0.5])]]),
  },
  "an output without elements, of sizes that change": {
    make: () =>
      life((x: Tensor, weight: Tensor) => {
        const nothing = convTranspose2d(x, weight, null, { padding: [1, 0] });
        return [x.mul(2), nothing === null];
      }, [() => [float([[[[1.5]]]]), float([[[[1, 2], [3, 4]]]])]]),
    dynamic: true,
  },
  "a row that reads a number which its kernel overwrites": {
    make() {
      const w = float(1.25);
      return life(
        (row: Tensor) => {
          const mean = row.mean(), scaled = row.mul(w.mul(mean));
          w.sub_(mean);
          return [scaled];
        },
        [() => [arange(70, { dtype: "float32" })], () => [arange(70, { dtype: "float32" })]],
        { state: { w } },
      );
    },
  },
  "a rate that changes from call to call": {
    make() {
      const w = leaf([1, -2]), state = { rate: 0 };
      return life(
        (x: Tensor, rate: number) => {
          state.rate = rate;
          const loss = w.mul(x).sum();
          loss.backward();
          noGrad(() => w.sub_(w.grad ?? x, { alpha: 1 }).mul_(state.rate / 3));
          return [loss.mul(rate)];
        },
        [0.5, 0.3, 0.2].map((rate) => () => [float([0.25, 3]), rate]),
        { state: { w } },
      );
    },
  },
  "a hook of a view behind a pass, where another view of it came before": {
    make: () =>
      life((x: Tensor) => {
        const y = x.reshape([2, 3]), z = y.flatten();
        y.sum().backward();
        y.registerHook((grad) => grad.mul(2));
        return [z];
      }, [() => [leaf([1, 2, 3, 4, 5, 6]).mul(1)]]),
  },
  "gradients of results in results that a pass inside has used up": {
    make() {
      const w = leaf(-1.25);
      return life(
        () => {
          const y = w.sigmoid(), z = fmin(w, y);
          y.sum().backward();
          return [z, y];
        },
        [() => []],
        { state: { w } },
      );
    },
    modes: ["watched"],
  },
  "gradients of results in views that a pass inside has used up": {
    make() {
      const w = leaf(1.5);
      return life(
        (p: Tensor) => {
          const y = w.mul(p).flatten(), z = y.mul(2);
          y.sum().backward();
          return [y, z];
        },
        [() => [float(0.75)]],
        { state: { w } },
      );
    },
    modes: ["watched"],
  },
  "views of views of a leaf that was stepped on since": {
    make() {
      const w = leaf([-1]);
      return life(
        () => {
          const y = w.at(), [z] = y.unbind();
          noGrad(() => w.sub_(0.25));
          return [z, y];
        },
        [() => []],
        { state: { w } },
      );
    },
    modes: ["watched"],
  },
  "what a first look between results has used up": {
    make: () =>
      life((x: Tensor) => {
        const y = x.reshape([3, 2]), z = y.exp();
        const first = autograd.grad(z.sum(), y);
        return [z, y, ...first];
      }, [() => [leaf([[1, 2, 3], [4, 5, 6]]).mul(1)]]),
    modes: ["watched"],
  },
  "a complex result that is an input, after all": {
    make: () =>
      life((x: Tensor) => {
        const values = linalg.eigvals(x);
        values.set(["..."], values);
        return [values];
      }, [() => [float([[1.5, 0.5], [0.25, 2]])]]),
  },
  "views of a copy of what lies otherwise, behind a pass that has used up all that was saved": {
    make: () =>
      life((x: Tensor, weight: Tensor) => {
        const rows = x.reshape([12]).unbind();
        weight.exp().backward();
        return [rows[2]];
      }, [
        () => [
          leaf([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]).permute([1, 0]),
          leaf([0.5, 1]).select(0, 0),
        ],
      ]),
  },
  "rows of a copy in row-major order, behind a pass that has used up all that was saved": {
    make: () =>
      life((_: Tensor, x: Tensor, weight: Tensor) => {
        const rows = x.contiguous().unbind();
        weight.exp().backward();
        return [rows[1]];
      }, [() => {
        const x = leaf([[1, 2], [3, 4]]);
        return [x, x.permute([1, 0]), leaf([0.5, 1]).select(0, 0)];
      }]),
  },
  "a gradient that is asked for of one of two tensors, which are one later": {
    make: () =>
      life((x: Tensor, y: Tensor) => autograd.grad(x.sum(), [y], { allowUnused: true }), [
        () => [leaf(1.5), leaf(2)],
        () => Array<Tensor>(2).fill(leaf(2)),
      ]),
  },
  "a gradient of a product whose operands are one later": {
    make: () =>
      life((x: Tensor, y: Tensor) => autograd.grad(x.mul(y), [x]), [
        () => [leaf(1.5), leaf(2)],
        () => Array<Tensor>(2).fill(leaf(2)),
      ]),
  },
  "a layout that changes in place, of one of two tensors that are one later": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        x.unsqueeze_(0);
        return [y.mul(2)];
      }, [() => [float([1, 2]), float([3, 4])], () => Array<Tensor>(2).fill(float([1, 2]))]),
  },
  "a gradient of a result in an input that is written, behind which the history is lost": {
    make: () =>
      life((x: Tensor) => {
        x.copy_(x.sin());
        return [x, x.exp()];
      }, [() => [leaf([1, 2, 3]).mul(1)]]),
    modes: ["watched"],
  },
  "a gradient of a result in an input of which a view is written behind what the host computes": {
    make: () =>
      life((x: Tensor, m: Tensor) => {
        const view = x.view([3]);
        m.choleskyInverse();
        view.sin_();
        return [x, view.exp()];
      }, [() => [leaf([1, 2, 3]).mul(1), float([[2, 0.5], [0.5, 1]])]]),
    modes: ["watched"],
  },
  "what the host computes in place, of a type that does not fit": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        x.gt(0).lcm_(y);
        return [];
      }, [() => [float(0.5), int([8, 6]).select(0, 1)]]),
  },
  "complex numbers that are saved before they are overwritten": {
    make: () =>
      life((m: Tensor, x: Tensor) => {
        const values = linalg.eigvals(m);
        values.mul_(x);
        return [values];
      }, [() => [float([[1.5, 0.5], [0.25, 2]]), leaf(2.5)]]),
  },
  "a gradient that is written into, and a view of it": {
    make: () =>
      life((x: Tensor) => {
        const [grad] = autograd.grad(x.sum(), [x]), view = grad?.squeeze();
        grad?.set(["..."], x);
        return [grad, view];
      }, [() => [leaf(0.5)]]),
    modes: ["watched"],
  },
  "one gradient that is asked for twice": {
    make: () =>
      life((x: Tensor, y: Tensor) => autograd.grad(x.sum(), [x, y]), [
        () => Array<Tensor>(2).fill(leaf(0.5)),
      ]),
  },
  "a gradient at a bound that is a number which changes": {
    make: () =>
      life((x: Tensor, max: number) => [x.clamp(0, max)], [
        () => [leaf([0.75, 0]), 0.25],
        () => [leaf([0.75, 0, 1.5]), 1.5],
        () => [leaf([0.5, -0, 2, 1]), 0.5],
      ]),
  },
  "the gradient of a result in one that is written later, without recording": {
    make: () =>
      life((x: Tensor) => {
        const product = x.mul(2), quotient = product.div(3);
        noGrad(() => void product.set([0], 0));
        return [quotient, product];
      }, [() => [leaf([0.25])]]),
  },
  "random numbers behind what the host draws itself": {
    make: () =>
      life((x: Tensor) => {
        const [before, [values], after] = [rand([3]), lobpcg(x), rand([1])];
        return [before, values, after];
      }, [() => [float([[0.5, 0.75, -0.125], [1, 1.75, 1], [0.25, 1, 1.75]])]]),
  },
  "what is NaN beside itself": {
    make: () =>
      life((x: Tensor) => {
        const mean = x.mean();
        return [mean.isclose(mean), mean.eq(mean), mean.ne(mean)];
      }, [() => [zeros([0])]]),
  },
  "a view that is made without recording behind a write, of one from before the host's part": {
    make: () =>
      life((x: Tensor, y: Tensor) => {
        const row = x.view([1]);
        special.chebyshevPolynomialU(y, y);
        x.zero_();
        return [row.select(0, 0)];
      }, [() => [leaf([-0.5]), float(0.25)]]),
    modes: ["noGrad"],
  },
};
