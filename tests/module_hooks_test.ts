/** Hooks of modules: their arguments and replacements, in PyTorch's order, with its numbers, plainly and compiled. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, DynError, isTensor, nn, noGrad, ones, type Tensor, tensor } from "../mod.ts";
import { ALL_MODULES } from "../lib/nn/module.ts";
import type { CallGradients } from "../lib/types.ts";
import "./support/turns/programs.ts";

const listed = (grads: CallGradients) => grads.map((each) => each?.tolist() ?? null);

class Pair extends nn.Module {
  linear = new nn.Linear(2, 2, { bias: false });

  constructor() {
    super();
    noGrad(() => this.linear.weight.copy_(tensor([[1, 2], [3, 4]])));
  }

  override forward(x: Tensor, { scale = 2 }: { scale?: number } = {}): [Tensor, Tensor, number] {
    return [this.linear.call(x), this.linear.call(x).mul(scale), 5];
  }
}

const floats = (list: readonly number[]): Tensor => tensor(list, { dtype: "float32" });

Deno.test("backward hooks see and replace gradients of inputs and outputs", () => {
  const model = new Pair(), seen: unknown[] = [];
  model.registerFullBackwardHook((_, gradInput, gradOutput) =>
    void seen.push(["hook", listed(gradInput), listed(gradOutput)])
  );
  model.registerFullBackwardPreHook((_, gradOutput) => {
    seen.push(["before", listed(gradOutput)]);
    return gradOutput.map((each) => each?.mul(10) ?? null);
  });
  const x = floats([1, 1]).requiresGrad_();
  const [first, , five] = model.call(x, { scale: 2 });
  assertEquals(five, 5);
  first.sum().backward();
  assertEquals(seen.splice(0), [
    ["before", [[1, 1], null, null]],
    ["hook", [[40, 60]], [[10, 10], null, null]],
  ]);
  assertEquals([x.grad?.tolist(), model.linear.weight.grad?.tolist()], [[40, 60], [[10, 10], [10, 10]]]);
  const [a, b] = model.call(floats([1, 1]));
  a.sum().add(b.sum()).backward();
  assertEquals(seen.splice(0), [
    ["before", [[1, 1], [1, 1], null]],
    ["hook", [null], [[10, 10], [10, 10], null]],
  ]);
  assertThrows(() => model.call(x)[0].add_(1), DynError, "Expected a tensor of its own to write by add_");
  assertThrows(() => model.call(x)[0].select(0, 0).zero_(), DynError, "passes hooks of a module");
  assertEquals(noGrad(() => model.call(x))[0].gradFn, null);
});

Deno.test("a hook's result is passed to the next one; another number of gradients is rejected", () => {
  const model = new nn.Linear(2, 2, { bias: false }), seen: unknown[] = [];
  noGrad(() => model.weight.copy_(tensor([[1, 0], [0, 1]])));
  const first = model.registerFullBackwardHook((_, [grad]) => [grad?.mul(3) ?? null]);
  model.registerFullBackwardHook((_, gradInput, gradOutput) =>
    void seen.push(listed(gradInput), listed(gradOutput))
  );
  const x = floats([1, 2]).requiresGrad_();
  model.call(x).sum().backward();
  assertEquals([seen.splice(0), x.grad?.tolist()], [[[[3, 3]], [[1, 1]]], [3, 3]]);
  first.remove();
  model.registerFullBackwardHook((_, [grad]) => [grad ?? null, null], { prepend: true });
  assertThrows(
    () => model.call(x).sum().backward(),
    DynError,
    "Expected 1 gradients from a hook but found 2",
  );
});

Deno.test("results by name have the gradients that hooks of their calls see", () => {
  class Most extends nn.Module {
    override forward(x: Tensor) {
      return x.max(1);
    }
  }
  const model = new Most(), seen: unknown[] = [], x = tensor([[1.5, 3], [4, 2]]).requiresGrad_();
  model.registerFullBackwardHook((_, gradInput, gradOutput) =>
    void seen.push(listed(gradInput), listed(gradOutput))
  );
  model.call(x).values.sum().backward();
  assertEquals(seen, [[[[0, 1], [1, 0]]], [[1, 1], null]]);
});

Deno.test("forward hooks are called in order: those of all modules, prepended ones, and always-called ones", () => {
  const model = new Pair(), seen: string[] = [], x = floats([1, 2]);
  const all = [
    nn.registerModuleForwardPreHook((module) => void seen.push(`all before ${module.constructor.name}`)),
    nn.registerModuleForwardHook((module) => void seen.push(`all after ${module.constructor.name}`)),
  ];
  model.registerForwardPreHook((_, args, kwargs) => {
    seen.push(`before ${args.length} ${JSON.stringify(kwargs)}`);
    return [args, { scale: 3 }];
  }, { withKwargs: true });
  model.registerForwardHook(() => void seen.push("second"));
  model.registerForwardHook((_, args, kwargs) => void seen.push(`first ${args.length} ${kwargs.scale}`), {
    withKwargs: true,
    prepend: true,
  });
  model.registerForwardHook((_module, _args, output) => void seen.push(`always ${output !== undefined}`), {
    alwaysCall: true,
  });
  const [, scaled] = model.call(x);
  assertEquals(scaled.tolist(), [15, 33]);
  assertEquals(seen.splice(0), [
    "all before Pair",
    "before 1 {}",
    ...["all before Linear", "all after Linear", "all before Linear", "all after Linear"],
    "all after Pair",
    "first 1 3",
    "second",
    "always true",
  ]);
  for (const each of all) each.remove();
  assertThrows(() => model.call(ones(3)), DynError);
  assertEquals(seen, ["before 1 {}", "always false"]);
});

Deno.test("hooks that remove or add others change later calls alone", () => {
  for (const compiled of [false, true]) {
    const model = new nn.Linear(2, 2), seen: string[] = [], x = floats([1, 2]);
    const call = compiled
      ? compile((x: Tensor) => model.call(x), { backend: "eager" })
      : (x: Tensor) => model.call(x);
    const own = model.registerForwardHook(() => {
      seen.push("own");
      own.remove();
      other.remove();
      model.registerForwardHook(() => void seen.push("added"));
    });
    const other = model.registerForwardHook(() => void seen.push("other"));
    call(x);
    assertEquals(seen.splice(0), ["own", "other"]);
    call(x);
    assertEquals(seen, ["added"]);
  }
});

Deno.test("a tensor that a hook before a call returns is its argument", () => {
  const model = new Pair(), x = floats([1, 2]);
  model.registerForwardPreHook((_, [first]) => isTensor(first) ? first.add(1) : undefined);
  const f = compile((x: Tensor) => model.call(x)[0], { backend: "eager", fullgraph: true });
  assertEquals([model.call(x)[0].tolist(), f(x).tolist()], [[8, 18], [8, 18]]);
});

Deno.test("hooks of states rename keys, add keys, and handle unmatched ones", () => {
  const model = new Pair(), seen: string[] = [];
  model.linear.registerStateDictPreHook((_, prefix) => void seen.push(`writing ${prefix}`));
  model.linear.registerStateDictPostHook((_, state, prefix) => {
    seen.push(`written ${prefix} ${Object.keys(state)}`);
    return { ...state, [`${prefix}version`]: ones(1) };
  });
  const state = model.stateDict();
  assertEquals(Object.keys(state), ["linear.weight", "linear.version"]);
  assertEquals(seen.splice(0), ["writing linear.", "written linear. linear.weight"]);
  assertThrows(() => model.loadStateDict(state), DynError, "unexpected keys linear.version");
  model.linear.registerLoadStateDictPreHook((_, given, prefix, strict) => {
    seen.push(`reading ${prefix} ${strict}`);
    const old = given[`${prefix}kernel`];
    if (old) given[`${prefix}weight`] = old;
    delete given[`${prefix}kernel`];
  });
  model.registerLoadStateDictPostHook((_, { unexpectedKeys }) => void unexpectedKeys.splice(0));
  const kernel = tensor([[5, 6], [7, 8]]).to("float32"), given = { "linear.kernel": kernel, more: kernel };
  assertEquals(model.loadStateDict(given), { missingKeys: [], unexpectedKeys: [] });
  assertEquals(model.linear.weight.tolist(), kernel.tolist());
  assertEquals(Object.keys(given), ["linear.kernel", "more"]);
  assertEquals(seen, ["reading linear. true"]);
});

Deno.test("compiled modules call hooks, those of gradients between their graphs", () => {
  const plain = new Pair(), other = new Pair(), seen: unknown[][] = [[], []];
  const run = [plain, other].map((model, k) => {
    const { linear } = model;
    linear.registerFullBackwardHook((_, gradInput, gradOutput) => {
      seen[k]?.push(listed(gradInput), listed(gradOutput));
      return gradInput.map((each) => each?.mul(2) ?? null);
    });
    const loss = (x: Tensor) => {
      const [a, b] = model.call(x.sin());
      return a.mul(b).sum();
    };
    return k === 0 ? loss : compile(loss);
  });
  for (let step = 0; step < 2; step++) {
    const grads = run.map((loss) => {
      const x = floats([.5, -1 - step]).requiresGrad_();
      loss(x).backward();
      return x.grad?.tolist();
    });
    assertEquals(grads[1], grads[0]);
    assertEquals(seen[1], seen[0]);
  }
  assertEquals(seen[0]?.length, 8);
  const calls: string[] = [],
    compiled = compile((x: Tensor) => plain.linear.weight.matmul(other.linear.call(x)));
  const x = floats([1, 2]), before = compiled(x).tolist();
  const handle = nn.registerModuleForwardHook((module, _args, output) => {
    calls.push(module.constructor.name);
    return isTensor(output) ? output.mul(2) : output;
  });
  assertEquals(compiled(x).tolist(), plain.linear.weight.matmul(other.linear.call(x)).tolist());
  assertEquals(calls, ["Linear", "Linear"]);
  handle.remove();
  assertEquals(compiled(x).tolist(), before);
  assert(calls.length === 2);
});

Deno.test("modules are without hooks again once their hooks are removed, and still are once one is refused", () => {
  const linear = new nn.Linear(2, 3), hook = () => {};
  for (
    const register of [
      (given?: object) => linear.registerForwardHook(hook, given),
      (given?: object) => linear.registerForwardPreHook(hook, given),
      (given?: object) => linear.registerFullBackwardHook(hook, given),
      (given?: object) => linear.registerFullBackwardPreHook(hook, given),
      (given?: object) => nn.registerModuleForwardHook(hook, given),
    ]
  ) {
    assertThrows(() => register({ late: true }), DynError);
    assertEquals([linear.registeredHooks, ALL_MODULES.registeredHooks], [null, null]);
    const first = register(), last = register();
    first.remove();
    const lists = [linear.registeredHooks, ALL_MODULES.registeredHooks].filter((each) => each !== null);
    assertEquals(lists.length, 1);
    last.remove();
    assertEquals([linear.registeredHooks, ALL_MODULES.registeredHooks], [null, null]);
  }
  // As in PyTorch, a call looks for its hooks when it comes to them
  const seen: string[] = [], handles: { remove(): void }[] = [];
  const once = linear.registerForwardPreHook(() => {
    once.remove();
    handles.push(
      linear.registerForwardHook(() => void seen.push("its own")),
      nn.registerModuleForwardHook(() => void seen.push("of all")),
    );
  });
  linear.call(ones([1, 2]));
  for (const handle of handles) handle.remove();
  assertEquals(seen, ["of all", "its own"]);
});

Deno.test("hooks may say of which types the module, its arguments and its results are", () => {
  const linear = new nn.Linear(2, 3), x = ones([1, 2], { requiresGrad: true }), seen: number[] = [];
  const note = ({ outFeatures }: nn.Linear) => void seen.push(outFeatures);
  linear.registerForwardPreHook((module, args: readonly [Tensor]) => (note(module), args));
  linear.registerForwardPreHook(
    (
      module: nn.Linear,
      args: readonly [Tensor],
      named: { bias?: number },
    ) => (note(module), [args, named] as const),
    { withKwargs: true },
  );
  linear.registerForwardHook((module, _args, output: Tensor) => (note(module), output.mul(2)));
  linear.registerForwardHook(
    (
      module: nn.Linear,
      [given]: readonly [Tensor],
      _named,
      output: Tensor,
    ) => (note(module), output.add(given.sum())),
    { withKwargs: true },
  );
  linear.registerFullBackwardHook((module) => note(module));
  linear.registerFullBackwardPreHook((module: nn.Linear) => note(module));
  linear.registerStateDictPreHook((module) => note(module));
  linear.registerStateDictPostHook((module: nn.Linear) => note(module));
  linear.registerLoadStateDictPreHook((module: nn.Linear) => note(module));
  linear.registerLoadStateDictPostHook((module) => note(module));
  linear.call(x).sum().backward();
  linear.loadStateDict(linear.stateDict());
  assertEquals(seen, Array(10).fill(3));
  const modules: readonly nn.Module[] = [linear, new nn.ReLU()];
  assertEquals(modules.length, 2);
});

Deno.test("backward hooks are called for a module's results, not for gradients of gradients that flow past them", () => {
  const model = new nn.MSELoss(), seen: unknown[] = [];
  model.registerFullBackwardHook((_, gradInput, gradOutput) =>
    void seen.push([listed(gradInput), listed(gradOutput)])
  );
  const x = floats([3]).requiresGrad_(), loss = model.call(x, floats([1]));
  const [gradient] = autograd.grad([loss], [x], null, { createGraph: true });
  assertEquals(seen.splice(0), [[[[4], null], [1]]]);
  assert(gradient !== null && gradient !== undefined);
  assertEquals(autograd.grad([gradient], [x], null, { retainGraph: true })[0]?.tolist(), [2]);
  assertEquals(seen, []);
});
