/**
 * Effects of functions that checkpoints run again, and what these find changed then: compiled programs end their graphs
 * at calls whose second run would show.
 */
import { assertEquals, fail } from "@std/assert";
import {
  compile,
  compiler,
  manualSeed,
  nn,
  noGrad,
  randn,
  type Tensor,
  tensor,
  utils,
  zeros,
} from "../mod.ts";
import "./support/turns/models.ts";

/** Functions for checkpoints that write, with the tensors that they leave changed, and the breaks of their steps. */
const WRITING: Readonly<
  Record<string, { make(): { run(x: Tensor): Tensor; left: Tensor[] }; breaks: boolean }>
> = {
  "running statistics": {
    make() {
      const norm = new nn.BatchNorm1d(4),
        layers = new nn.Sequential(new nn.Linear(4, 4), norm, new nn.ReLU());
      return { run: (x) => layers.call(x), left: [...norm.buffers()] };
    },
    breaks: true,
  },
  "a captured tensor": {
    make() {
      const count = zeros([4]);
      return {
        run(x) {
          count.add_(1);
          return x.sin().mul(2);
        },
        left: [count],
      };
    },
    breaks: true,
  },
  "a view of a captured tensor, by what it computes": {
    make() {
      const kept = zeros([2, 4]), first = kept.select(0, 0);
      return {
        run(x) {
          const y = x.sin();
          first.add_(y.detach().sum(0));
          return y.cos();
        },
        left: [kept],
      };
    },
    breaks: true,
  },
  "a captured tensor, after what is saved": {
    make() {
      const count = zeros([4]);
      return {
        run(x) {
          const y = x.sin();
          count.add_(1);
          return y;
        },
        left: [count],
      };
    },
    breaks: true,
  },
  "a tensor of its own": {
    make: () => ({
      run(x) {
        const own = zeros([8, 4]);
        own.add_(x.detach());
        own.select(0, 1).mul_(2);
        return x.sin().mul(own);
      },
      left: [],
    }),
    breaks: false,
  },
};

Deno.test("writes of a checkpoint's function happen as often as in a plain run: graphs end at such a call", () => {
  for (const [name, { make, breaks }] of Object.entries(WRITING)) {
    for (const isInside of [true, false]) {
      const outcome = (backend: string | null) => {
        manualSeed(1);
        const { run, left } = make(), x = randn([8, 4]).requiresGrad_();
        const forward = (given: Tensor): Tensor => {
          const loss = utils.checkpoint(run, given).sum();
          if (isInside) loss.backward();
          return loss;
        };
        compiler.reset();
        const step = backend === null ? forward : compile(forward, { backend });
        for (let call = 0; call < 2; call++) {
          const loss = step(x);
          if (!isInside) loss.backward();
        }
        if (backend !== null) assertEquals(compiler.status(step).graphBreaks > 0, breaks, `${name}: breaks`);
        return [...left, x.grad ?? fail("a gradient")].map((each) => each.tolist());
      };
      const want = outcome(null);
      for (const backend of ["eager", "aot_eager"]) {
        assertEquals(outcome(backend), want, `${name}, backend ${backend}`);
      }
    }
  }
});

/** Writes to a tensor that a checkpoint has read, without a gradient. */
const WRITES: Readonly<Record<string, (target: Tensor) => void>> = {
  "a product": (target) => noGrad(() => target.mul_(1.5)),
  "a part": (target) => noGrad(() => target.set([0], 7)),
  "a view": (target) => noGrad(() => target.view(2, 1).fill_(3)),
  "a detached tensor": (target) => target.detach().add_(1),
};

/** Steps that write to the weight `w`, and whether the function of a checkpoint finds that when it runs again. */
const STEPS: Readonly<
  Record<
    string,
    {
      run(tensors: { readonly w: Tensor; readonly x: Tensor }, write: (target: Tensor) => void): Tensor;
      readonly breaks: boolean;
    }
  >
> = {
  "before the backward pass": {
    run({ w, x }, write) {
      const y = utils.checkpoint((t: Tensor) => t.mul(w).sin(), x);
      write(w);
      y.sum().backward();
      return y.detach();
    },
    breaks: true,
  },
  "before a backward pass outside": {
    run({ w, x }, write) {
      const y = utils.checkpoint((t: Tensor) => t.mul(w.view(2)).sin(), x);
      write(w);
      return y.sum();
    },
    breaks: true,
  },
  "after a backward pass that flows elsewhere": {
    run({ w, x }, write) {
      const y = utils.checkpoint((t: Tensor, weight: Tensor) => t.mul(weight).sin(), x, w);
      w.mul(2).sum().backward();
      write(w);
      y.sum().backward();
      return y.detach();
    },
    breaks: true,
  },
  "to an intermediate": {
    run({ w, x }, write) {
      const between = x.mul(2), y = utils.checkpoint((t: Tensor) => t.mul(w).sin(), between);
      write(between);
      return y.sum();
    },
    breaks: true,
  },
  "after the backward pass": {
    run({ w, x }, write) {
      const total = zeros([]);
      total.add_(utils.checkpoint((t: Tensor) => t.mul(w).sin(), x).sum());
      total.backward();
      write(w);
      return total.detach();
    },
    breaks: false,
  },
  "to another tensor": {
    run({ w, x }, write) {
      const kept = x.clone(), y = utils.checkpoint((t: Tensor) => t.mul(w).sin(), x);
      write(kept);
      return y.sum();
    },
    breaks: false,
  },
};

Deno.test("a function of a checkpoint that runs again finds what is written in between: graphs end at such a call", () => {
  for (const [place, { run, breaks }] of Object.entries(STEPS)) {
    for (const [kind, write] of Object.entries(WRITES)) {
      const outcome = (backend: string | null) => {
        const w = tensor([1.5, -2.5]).requiresGrad_(), x = tensor([1.5, 2]);
        const forward = (x: Tensor): Tensor => run({ w, x }, write);
        const step = backend === null ? forward : compile(forward, { backend });
        const results = [1, 2].map(() => {
          w.grad = null;
          const result = step(x);
          if (result.requiresGrad) result.backward();
          return [result, w, x, w.grad ?? fail("a gradient")].map((each) => each.tolist());
        });
        if (backend !== null) {
          assertEquals(compiler.status(step).graphBreaks > 0, breaks, `${kind} ${place}: breaks`);
        }
        return results;
      };
      assertEquals(outcome("eager"), outcome(null), `${kind} ${place}`);
    }
  }
});

Deno.test("a tensor written after a checkpoint may be a view of what it has read in a later call", () => {
  const step = (w: Tensor, x: Tensor, kept: Tensor): Tensor => {
    const y = utils.checkpoint((t: Tensor) => t.mul(w).sin(), x);
    kept.mul_(2);
    return y.sum();
  };
  const outcome = (call: typeof step) =>
    [false, true].map((isShared) => {
      const w = tensor([1.5, -2.5]).requiresGrad_(), x = tensor([1.5, 2]);
      call(w, x, isShared ? w.detach() : tensor([0.5, 1])).backward();
      return w.grad?.tolist();
    });
  assertEquals(outcome(compile(step, { backend: "eager" })), outcome(step));
});

/** Functions for checkpoints with effects besides those on tensors, with what they leave, and whether graphs end. */
const EFFECTS: Readonly<
  Record<string, () => { run(x: Tensor): Tensor; left(): unknown; readonly breaks: boolean }>
> = {
  "a counter": () => {
    let count = 0;
    return {
      run(x) {
        count++;
        return x.sin();
      },
      left: () => count,
      breaks: true,
    };
  },
  "a list, after what is saved": () => {
    const list: number[] = [];
    return {
      run(x) {
        const y = x.sin();
        list.push(list.length);
        return y;
      },
      left: () => list,
      breaks: true,
    };
  },
  "a call of another function, whose exception is caught": () => {
    const seen = new Map<string, number>();
    const note = (): never => {
      seen.set("calls", (seen.get("calls") ?? 0) + 1);
      throw new Error("Noted");
    };
    return {
      run(x) {
        try {
          note();
        } catch {
          seen.set("caught", seen.size);
        }
        return x.sin();
      },
      left: () => [...seen],
      breaks: true,
    };
  },
  "a hook": () => {
    let calls = 0;
    return {
      run(x) {
        const y = x.sin();
        y.registerHook((grad: Tensor) => {
          calls++;
          return grad.mul(2);
        });
        return y.mul(2);
      },
      left: () => calls,
      breaks: true,
    };
  },
  "a condition that reads elements, with a counter": () => {
    let count = 0;
    return {
      run(x) {
        if (x.sum().item() > 0) count++;
        return x.sin();
      },
      left: () => count,
      breaks: true,
    };
  },
  "a checkpoint within": () => {
    let count = 0;
    const inner = (x: Tensor): Tensor => {
      count++;
      return x.sin();
    };
    return { run: (x) => utils.checkpoint(inner, x).cos(), left: () => count, breaks: true };
  },
  "objects of its own": () => ({
    run(x) {
      const own = { factor: 1 }, list = [1];
      own.factor++;
      list.push(own.factor);
      return x.sin().mul(list.length);
    },
    left: () => null,
    breaks: false,
  }),
};

Deno.test("effects of a checkpoint's function happen as often as in a plain run: graphs end at such a call", () => {
  for (const [name, make] of Object.entries(EFFECTS)) {
    for (const isInside of [true, false]) {
      const outcome = (backend: string | null) => {
        const { run, left, breaks } = make(), x = tensor([1.5, 2]).requiresGrad_();
        const forward = (given: Tensor): Tensor => {
          const loss = utils.checkpoint(run, given).sum();
          if (isInside) loss.backward();
          return loss;
        };
        const step = backend === null ? forward : compile(forward, { backend });
        for (let call = 0; call < 2; call++) {
          const loss = step(x);
          if (!isInside) loss.backward();
        }
        if (backend !== null) assertEquals(compiler.status(step).graphBreaks > 0, breaks, `${name}: breaks`);
        return [left(), x.grad?.tolist()];
      };
      assertEquals(outcome("eager"), outcome(null), name);
    }
  }
});
