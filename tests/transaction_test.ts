/**
 * A failing compiled call has no effect: parameters, buffers, random state and the program's own variables are as
 * before, and then the program runs plainly, with its own errors, handlers and effects.
 */
import { assertEquals } from "@std/assert";
import {
  compile,
  type CompileOptions,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  rand,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";

const BACKENDS: Readonly<Record<string, CompileOptions>> = {
  eager: { backend: "eager" },
  aot_eager: { backend: "aot_eager" },
  native: {},
  WebAssembly: { options: { tier: "wasm" } },
};

/** Calls a function; its result or what it throws, as plain data. */
function outcome(call: () => Tensor | number): unknown {
  try {
    const result = call();
    return typeof result === "number" ? result : result.tolist();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : error;
  }
}

const indices = (...values: number[]) => tensor(values, { dtype: "int64" });

type Compiler = <F extends (...args: never[]) => unknown>(fn: F) => F;

/** Programs that fail in some calls; each gives everything that can be seen of them. */
const PROGRAMS: Readonly<Record<string, (compiled: Compiler) => unknown>> = {
  "a training loop that skips a bad batch": (compiled) => {
    manualSeed(3);
    const model = new nn.Linear(2, 2);
    noGrad(() => model.parameters().forEach((p) => p.fill_(0.5)));
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.1 });
    let steps = 0;
    const step = compiled((x: Tensor, target: Tensor) => {
      steps++;
      optimizer.zeroGrad();
      const loss = nn.functional.crossEntropy(model.call(x), target);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    const losses = [1, 7, 0, -3, 1].map((label) => outcome(() => step(ones([1, 2]), indices(label))));
    return [losses, steps, model.parameters().map((p) => [p.tolist(), p.grad?.tolist() ?? null])];
  },
  "an accumulator": (compiled) => {
    const sum = zeros([2]), table = ones([3, 2]).cumsum(0);
    const add = compiled((i: Tensor) => sum.add_(table.indexSelect(0, i).sum(0)));
    return [[0, 2], [1, 3], [1]].map((each) => [outcome(() => add(indices(...each))), sum.tolist()]);
  },
  "a handler around the op": (compiled) => {
    const seen = zeros([1]), log: string[] = [];
    const pick = compiled((x: Tensor, i: Tensor) => {
      seen.add_(1);
      log.push("before");
      try {
        return x.indexSelect(0, i);
      } catch {
        log.push("caught");
        return x.neg();
      } finally {
        log.push("after");
      }
    });
    const x = ones([2]);
    return [[5], [1], [-1]].map((i) => [outcome(() => pick(x, indices(...i))), seen.tolist(), log.length]);
  },
  "indices that the graph computes, and a write through a view": (compiled) => {
    const memory = zeros([4, 3]);
    const write = compiled((scores: Tensor, shift: Tensor) => {
      memory.slice(0, 0, 2).add_(1);
      const at = scores.argmax(-1).add(shift);
      return memory.t().gather(1, at.unsqueeze(1));
    });
    const scores = tensor([[0, 3, 1, 2], [9, 1, 2, 3], [0, 0, 1, 0]], { dtype: "float32" });
    return [0, 2, 1].map((shift) => [outcome(() => write(scores, indices(shift))), memory.tolist()]);
  },
  "random numbers before the failure": (compiled) => {
    const noisy = compiled((x: Tensor, i: Tensor) => x.add(rand([3])).indexSelect(0, i));
    manualSeed(11);
    return [[1], [4], [2]].map((i) => outcome(() => noisy(ones([3]), indices(...i))));
  },
  "a part behind a graph break": (compiled) => {
    const state = ones([2]), log: number[] = [];
    const two = compiled((x: Tensor, i: Tensor) => {
      state.mul_(2);
      log.push(Number(x.sum().item()));
      state.add_(x);
      const chosen = state.indexSelect(0, i);
      state.sub_(chosen);
      return chosen;
    });
    return [[0], [3], [1]].map((
      i,
    ) => [outcome(() => two(ones([2]), indices(...i))), state.tolist(), log.length]);
  },
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`all or nothing: ${name}`, () => {
    const wanted = program((fn) => fn);
    for (const [backend, options] of Object.entries(BACKENDS)) {
      assertEquals(program((fn) => compile(fn, options)), wanted, backend);
    }
  });
}
