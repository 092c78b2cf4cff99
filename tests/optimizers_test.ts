/**
 * Optimizers and learning-rate schedules against PyTorch: the parameters after seven steps, the rates after each.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  type DType,
  DynError,
  isTensor,
  nn,
  noGrad,
  optim,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { logs } from "../lib/base/logs.ts";
import type { Optimizer } from "../lib/optim/optimizer.ts";
import "./support/turns/models.ts";
import { AFTER_SEVEN } from "./support/optimizer_steps.ts";

const L = optim.lrScheduler;

interface Schedule {
  step(metric: number): void;
}

/** Schedule, how it is made for a rate of 0.1, and PyTorch's rates before and after seven steps. */
const RATES: readonly (readonly [string, (o: Optimizer) => Schedule, readonly number[]])[] = [
  ["StepLR", (o) => new L.StepLR(o, 2, 0.5), [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125]],
  ["StepLR", (o) => new L.StepLR(o, { stepSize: 2 }), [0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001]],
  ["MultiStepLR", (o) => new L.MultiStepLR(o, [1, 4], { gamma: 0.1 }), [
    0.1,
    0.01,
    0.01,
    0.01,
    0.001,
    0.001,
    0.001,
    0.001,
  ]],
  ["ExponentialLR", (o) => new L.ExponentialLR(o, 0.9), [
    0.1,
    0.09,
    0.081,
    0.0729,
    0.06561,
    0.059049,
    0.0531441,
    0.04782969,
  ]],
  ["CosineAnnealingLR", (o) => new L.CosineAnnealingLR(o, 5, 0.01), [
    0.1,
    0.09140576,
    0.06890576,
    0.04109424,
    0.01859424,
    0.01,
    0.01859424,
    0.04109424,
  ]],
  ["LambdaLR", (o) => new L.LambdaLR(o, (e) => 1 / (e + 1)), [
    0.1,
    0.05,
    0.03333333,
    0.025,
    0.02,
    0.01666667,
    0.01428571,
    0.0125,
  ]],
  ["LinearLR", (o) => new L.LinearLR(o, 0.25, 1, 4), [0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1, 0.1]],
  ["ConstantLR", (o) => new L.ConstantLR(o, 0.5, 3), [0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1]],
  ["PolynomialLR", (o) => new L.PolynomialLR(o, 4, 2), [0.1, 0.05625, 0.025, 0.00625, 0, 0, 0, 0]],
  ["MultiplicativeLR", (o) => new L.MultiplicativeLR(o, () => 0.9), [
    0.1,
    0.09,
    0.081,
    0.0729,
    0.06561,
    0.059049,
    0.0531441,
    0.04782969,
  ]],
  ["CosineAnnealingWarmRestarts", (o) => new L.CosineAnnealingWarmRestarts(o, 2, 2, 0.01), [
    0.1,
    0.055,
    0.1,
    0.08681981,
    0.055,
    0.02318019,
    0.1,
    0.09657458,
  ]],
  ["OneCycleLR", (o) => new L.OneCycleLR(o, 0.5, { totalSteps: 10, cycleMomentum: false }), [
    0.02,
    0.26,
    0.5,
    0.4752423,
    0.4058728,
    0.305631,
    0.194371,
    0.09412917,
  ]],
  ["CyclicLR", (o) => new L.CyclicLR(o, 0.01, 0.1, 3, 2, { cycleMomentum: false }), [
    0.01,
    0.04,
    0.07,
    0.1,
    0.055,
    0.01,
    0.04,
    0.07,
  ]],
  ["CyclicLR", (o) => new L.CyclicLR(o, 0.01, 0.1, 2, { mode: "triangular2", cycleMomentum: false }), [
    0.01,
    0.055,
    0.1,
    0.055,
    0.01,
    0.0325,
    0.055,
    0.0325,
  ]],
  [
    "CyclicLR",
    (o) => new L.CyclicLR(o, 0.01, 0.1, 2, { mode: "exp_range", gamma: 0.9, cycleMomentum: false }),
    [
      0.01,
      0.0505,
      0.0829,
      0.042805,
      0.01,
      0.03657205,
      0.05782969,
      0.03152336,
    ],
  ],
  [
    "ChainedScheduler",
    (o) => new L.ChainedScheduler([new L.ConstantLR(o, 0.1, 2), new L.ExponentialLR(o, 0.9)]),
    [0.01, 0.009, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.04782969],
  ],
  [
    "ChainedScheduler",
    (o) => new L.ChainedScheduler([new L.LinearLR(o, 0.5, 1, 4), new L.CosineAnnealingLR(o, 8)]),
    [0.05, 0.06012124, 0.0640165, 0.0604924, 0.05, 0.03086583, 0.01464466, 0.00380602],
  ],
  ["SWALR", (o) => new optim.swaUtils.SWALR(o, 0.02, 4), [
    0.1,
    0.08828427,
    0.06,
    0.03171573,
    0.02,
    0.02,
    0.02,
    0.02,
  ]],
  [
    "SequentialLR",
    (o) => new L.SequentialLR(o, [new L.LinearLR(o, 0.1, 1, 2), new L.ExponentialLR(o, 0.9)], [2]),
    [0.01, 0.055, 0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049],
  ],
  ["ReduceLROnPlateau", (o) => new L.ReduceLROnPlateau(o, { factor: 0.5, patience: 1 }), [
    0.1,
    0.1,
    0.1,
    0.1,
    0.1,
    0.05,
    0.05,
    0.025,
  ]],
];

function leaves(dtype: DType = "float32"): [nn.Parameter, nn.Parameter] {
  return [
    new nn.Parameter(tensor([1, -2, 3, 0.5], { dtype })),
    new nn.Parameter(tensor([[0.1, 0.2], [-0.3, 0.4]], { dtype })),
  ];
}

function close(found: readonly number[], wanted: readonly number[], where: string, nearness = 2e-5): void {
  assertEquals(found.length, wanted.length, where);
  wanted.forEach((x, i) => {
    const y = found[i] ?? NaN;
    assert(Math.abs(x - y) <= 1e-6 + nearness * Math.abs(x), `${where}[${i}]: expected ${x} but found ${y}`);
  });
}

/** Seven steps of an optimizer on one problem; `step` takes the optimizer's step with a closure. */
function sevenSteps(
  name: string,
  options: Readonly<Record<string, unknown>>,
  step: (optimizer: optim.Optimizer<object>, closure: () => Tensor) => unknown,
): number[] {
  const [p, q] = leaves(name === "LBFGS" ? "float64" : "float32");
  const made: unknown = Reflect.construct(Reflect.get(optim, name), [
    name === "Muon" ? [q] : [p, q],
    options,
  ]);
  assert(made instanceof optim.Optimizer);
  const scale = tensor(0, { dtype: p.dtype });
  const closure = () => {
    made.zeroGrad();
    const loss = p.sub(0.3).pow(2).sum().mul(scale).add(q.mul(p.narrow(0, 0, 2)).sum().sin());
    loss.backward();
    return loss;
  };
  for (let t = 0; t < 7; t++) {
    scale.fill_((t + 1) * 0.1);
    p.grad = null;
    step(made, closure);
  }
  return [...p.toTypedArray(), ...q.toTypedArray()].map(Number);
}

/** The polynomial of Muon is computed in bfloat16, of which sums may round otherwise. */
const nearness = (name: string) => name === "Muon" ? 2 ** -9 : 2e-5;

for (const [name, options, wanted] of AFTER_SEVEN) {
  Deno.test(`${name} ${JSON.stringify(options)} steps as PyTorch's`, () => {
    const found = sevenSteps(name, options, (made, closure) => assert(isTensor(made.step(closure))));
    close(found, wanted, name, nearness(name));
  });
}

for (const name of new Set(AFTER_SEVEN.map(([name]) => name))) {
  const [, options = {}, wanted = []] = AFTER_SEVEN.findLast((row) => row[0] === name) ?? [];
  Deno.test(`${name} steps as PyTorch's in a compiled step`, () => {
    const step = compile((made: optim.Optimizer<object>, closure: () => Tensor) => made.step(closure), {
      backend: "aot_eager",
      fullgraph: name !== "LBFGS",
    });
    close(sevenSteps(name, options, step), wanted, name, nearness(name));
    // The first step, which begins the state, is the program of all
    if (name !== "LBFGS") assertEquals(compiler.status(step).graphs, 1);
    // Its list of changes grows at each step, and asks for no version of anything
    else assertEquals(compiler.status(step).uncompiled, []);
  });
}

Deno.test("a compiled step creates only the states that the program creates", () => {
  const begin = () => {
    const used = new nn.Linear(2, 2), unused = new nn.Linear(2, 2), table = new nn.Embedding(3, 2);
    const optimizer = new optim.Adam([
      ...used.parameters(),
      ...unused.parameters(),
      ...table.parameters(),
    ]);
    const step = (i: Tensor, stops: boolean) => {
      optimizer.zeroGrad();
      const loss = used.call(table.call(i)).sum();
      loss.backward();
      if (stops) throw new Error("stopped");
      optimizer.step();
      return loss;
    };
    return { used, table, optimizer, step };
  };
  const indices = (...values: number[]) => tensor(values, { dtype: "int64" });
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const { optimizer, step } = begin();
    const run = compile(step, { backend });
    assertThrows(() => run(indices(0, 5), false), DynError);
    assertEquals(optimizer.state.size, 0, `${backend}, after an index out of range`);
    assertThrows(() => run(indices(0, 1), true), Error, "stopped");
    assertEquals(optimizer.state.size, 0, `${backend}, after a step that was not taken`);
    for (let k = 0; k < 3; k++) run(indices(0, 2), false);
    assertEquals(optimizer.state.size, 3);
    assertEquals([...optimizer.state.values()].map(({ step }) => step?.item()), [3, 3, 3]);
  }
  // States are created from what a program has seen of them, or of what they depend on
  const changed = (read: boolean) => {
    const p = new nn.Parameter(tensor([1.5, 2, 3])), optimizer = new optim.Adam([p]);
    return compile((x: Tensor) => {
      optimizer.zeroGrad();
      p.mul(x).sum().backward();
      const [group] = optimizer.paramGroups, size = optimizer.state.size;
      if (group && !read) group.amsgrad = true;
      optimizer.step();
      return read ? size : Object.keys(optimizer.state.get(p) ?? {}).length;
    }, { backend: "aot_eager" });
  };
  const run = changed(true), x = tensor([1, 2, 3]);
  assertEquals([run(x), run(x)], [0, 1]);
  assertEquals(changed(false)(x), 4);
});

Deno.test("LBFGS moves parameters of several sizes, in as many evaluations as are allowed, as PyTorch's", () => {
  const after = (options: Partial<optim.LBFGSOptions>) => {
    const [p, q, to] = [[1, -2, 0.5], [0.3, 2], [3, 1, -1]].map((list) =>
      new nn.Parameter(tensor(list, { dtype: "float64" }))
    );
    assert(p && q && to);
    const made = new optim.LBFGS([p, q], options);
    let evaluations = 0;
    made.step(() => {
      evaluations++;
      made.zeroGrad();
      const inner = q.mul(p.narrow(0, 0, 2)).sum().sub(1);
      const loss = p.sub(to.detach()).pow(4).sum().add(inner.pow(2)).add(q.pow(2).sum());
      loss.backward();
      return loss;
    });
    return [...p.toTypedArray(), ...q.toTypedArray(), evaluations].map(Number);
  };
  const search = { lr: 1, maxIter: 8, lineSearchFn: "strong_wolfe" } as const;
  close(
    after({ lr: 0.1, maxIter: 3 }),
    [1.06382927271, -1.83363516633, 0.47273343953, 0.31700167356, 1.96844145453, 3],
    "without a search",
  );
  close(
    after({ ...search, maxEval: 4 }),
    [1.90084005602, -0.24730327534, 0.03356541459, 0.5417964839, 1.6301572993, 4],
    "4 evaluations",
  );
  close(
    after({ ...search, maxEval: 6 }),
    [2.38402020511, 0.24548647952, -0.41700334827, 0.35687247125, 1.20060018939, 6],
    "6 evaluations",
  );
  close(
    after({ ...search, maxEval: 9 }),
    [2.74747065174, 0.69828201581, -0.7438538984, 0.29875201361, 0.04757196125, 9],
    "9 evaluations",
  );
});

Deno.test("LBFGS continues from its saved state, and needs a closure", () => {
  const begin = () => {
    const p = new nn.Parameter(tensor([1, -2, 3], { dtype: "float64" }));
    const made = new optim.LBFGS([p], { maxIter: 3, lineSearchFn: "strong_wolfe" });
    const closure = () => {
      made.zeroGrad();
      const loss = p.pow(4).sum().add(p.mul(tensor([1, 2, 3], { dtype: "float64" })).sum());
      loss.backward();
      return loss;
    };
    return { p, made, closure };
  };
  const one = begin(), other = begin();
  one.made.step(one.closure);
  noGrad(() => other.p.copy_(one.p));
  other.made.loadStateDict(one.made.stateDict());
  for (const { made, closure } of [one, other]) made.step(closure);
  assertEquals(one.p.tolist(), other.p.tolist());
  assertThrows(() => one.made.step(), DynError, "Expected a closure");
});

Deno.test("a state that another optimizer has saved is an error", () => {
  const [p] = leaves(), saved = new optim.SGD([p], { lr: 0.1, momentum: 0.9 });
  p.sum().backward();
  saved.step();
  const { state } = saved.stateDict(), adam = new optim.Adam([p]);
  adam.loadStateDict({ state, paramGroups: adam.stateDict().paramGroups });
  assertThrows(
    () => adam.step(),
    DynError,
    "exp_avg_sq in the optimizer's state of a parameter but found momentum_buffer",
  );
});

Deno.test("factors of steps have the precision of parameters", () => {
  const [p] = leaves("float64"), rprop = new optim.Rprop([p], { lr: 0.1, etas: [0.3, 1.3] });
  p.grad = p.detach().sign();
  const sizes = [0, 1, 2].map((k) => {
    if (k === 2) p.grad?.neg_();
    rprop.step();
    return rprop.state.get(p)?.["step_size"]?.at(0).item();
  });
  assertEquals(sizes, [0.1, 0.1 * 1.3, 0.1 * 1.3 * 0.3]);
});

Deno.test("schedules resume with their initial rates", () => {
  const begin = (lr: number) => {
    const optimizer = new optim.SGD(leaves(), { lr });
    return {
      optimizer,
      make: () =>
        new L.SequentialLR(optimizer, [new L.ConstantLR(optimizer), new L.ExponentialLR(optimizer, 0.5)], [
          3,
        ]),
    };
  };
  const first = begin(0.1), schedule = first.make();
  for (let k = 0; k < 4; k++) schedule.step();
  const optimizerState = first.optimizer.stateDict(), state = schedule.stateDict();
  schedule.step();
  for (const isMadeLater of [false, true]) {
    const { optimizer, make } = begin(5), early = isMadeLater ? null : make();
    optimizer.loadStateDict(optimizerState);
    const resumed = early ?? make();
    resumed.loadStateDict(state);
    assertEquals(resumed.getLastLr(), [0.05]);
    resumed.step();
    assertEquals([resumed.getLastLr(), make().baseLrs], [schedule.getLastLr(), [0.1]]);
  }
  assertThrows(() => schedule.loadStateDict({ ...state, baseLrs: [1, 2] }), DynError, "1 groups but found 2");
  assertThrows(
    () => schedule.loadStateDict({ ...state, schedulers: [] }),
    DynError,
    "2 schedulers but found 0",
  );
  assertThrows(() => Reflect.apply(schedule.step, schedule, [2]), DynError, "one by one");
});

/** Several schedules of one optimizer, or a program that sets rates, and PyTorch's rates before and after seven steps. */
const TOGETHER: Readonly<
  Record<string, readonly [(o: Optimizer) => (t: number) => void, readonly number[]]>
> = {
  "two that scale": [(o) => {
    const [a, b] = [new L.ExponentialLR(o, 0.9), new L.MultiStepLR(o, [2, 4], 0.5)];
    return () => [a, b].forEach((each) => each.step());
  }, [0.1, 0.09, 0.0405, 0.03645, 0.0164025, 0.01476225, 0.013286025, 0.011957423]],
  "one that ends above 0": [(o) => {
    const [a, b] = [new L.LinearLR(o, 0.25, 1, 3), new L.CosineAnnealingLR(o, 4, 0.01)];
    return () => [a, b].forEach((each) => each.step());
  }, [0.025, 0.044142136, 0.042928932, 0.023835859, 0.01, 0.023180195, 0.055, 0.086819805]],
  "a rate set by hand": [(o) => {
    const a = new L.StepLR(o, 2, 0.5);
    return (t) => {
      if (t === 2) o.paramGroups.forEach((group) => group.lr = 0.5);
      a.step();
    };
  }, [0.1, 0.1, 0.05, 0.5, 0.25, 0.25, 0.125, 0.125]],
  "one that follows a metric": [(o) => {
    const [a, b] = [new L.ReduceLROnPlateau(o, { factor: 0.5, patience: 1 }), new L.ExponentialLR(o, 0.9)];
    return () => (a.step(1), b.step());
  }, [0.1, 0.09, 0.081, 0.03645, 0.032805, 0.01476225, 0.013286025, 0.005978711]],
  "averaging begins": [(o) => {
    const [a, b] = [new L.CosineAnnealingLR(o, 8), new optim.swaUtils.SWALR(o, 0.02, 2)];
    return (t) => (t < 3 ? a : b).step();
  }, [0.1, 0.096193977, 0.085355339, 0.069134172, 0.044567086, 0.02, 0.02, 0.02]],
  "chained, one sets rates": [(o) => {
    const a = new L.ChainedScheduler([
      new L.LambdaLR(o, (e) => 1 / (e + 1)),
      new L.MultiplicativeLR(o, () => 0.9),
    ]);
    return () => a.step();
  }, [0.1, 0.045, 0.03, 0.0225, 0.018, 0.015, 0.012857143, 0.01125]],
  "chained to a sequence": [(o) => {
    const parts = new L.SequentialLR(o, [new L.LinearLR(o, 0.25, 1, 2), new L.CosineAnnealingLR(o, 6)], [2]);
    const a = new L.ChainedScheduler([parts, new L.ExponentialLR(o, 0.9)]);
    return () => a.step();
  }, [0.025, 0.05625, 0.09, 0.075574029, 0.054675, 0.032805, 0.01476225, 0.00355998]],
  "a sequence with cycles": [(o) => {
    const a = new L.SequentialLR(o, [
      new L.LinearLR(o, 0.25, 1, 2),
      new L.CyclicLR(o, 0.01, 0.2, 2),
      new L.MultiplicativeLR(o, () => 0.5),
    ], [2, 5]);
    return () => a.step();
  }, [0.025, 0.0625, 0.01, 0.105, 0.2, 0.1, 0.05, 0.025]],
  "restarts after a constant part": [(o) => {
    const a = new L.ConstantLR(o, 0.5, 2), b = new L.CosineAnnealingWarmRestarts(o, 2);
    return () => [a.step(), b.step()];
  }, [0.1, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1, 0.05]],
  "a sequence with one cycle": [(o) => {
    const parts = [new L.ConstantLR(o, 0.5, 2), new L.OneCycleLR(o, 0.5, { totalSteps: 6 })];
    const a = new L.SequentialLR(o, parts, [2]);
    return () => a.step();
  }, [0.01, 0.01, 0.02, 0.497207718, 0.405872827, 0.231318551, 0.066738765, 2e-6]],
};

Deno.test("schedules of one optimizer combine as in PyTorch, also for rates that are tensors", () => {
  for (const [name, [make, wanted]] of Object.entries(TOGETHER)) {
    for (const lr of [0.1, tensor(0.1, { dtype: "float64" })]) {
      const optimizer = new optim.SGD(
        leaves().map((p) => ({ params: [p] })),
        Reflect.construct(Object, [{ lr, momentum: 0.9 }]),
      );
      const step = make(optimizer), rates = [Number(optimizer.paramGroups[0]?.lr)];
      for (let t = 0; t < 7; t++) {
        step(t);
        rates.push(Number(optimizer.paramGroups[0]?.lr));
      }
      // A rate that is a tensor is written in place, so that who holds it sees the new one
      if (isTensor(lr) && name !== "a rate set by hand") assertEquals(lr.item(), rates.at(-1));
      close(rates, wanted, name);
    }
  }
});

Deno.test("a schedule of no steps ends where an epoch is set by its number, as in PyTorch", () => {
  const [p] = leaves(), optimizer = new optim.SGD([p], { lr: 0.5 });
  const schedule = new L.ConstantLR(optimizer, { factor: 0.25, totalIters: 0 });
  const rates = [undefined, undefined, 0, undefined, 3].map((epoch) => {
    optimizer.step();
    schedule.step(epoch);
    return optimizer.paramGroups[0]?.lr;
  });
  assertEquals(rates, [0.125, 0.125, 0.5, 0.5, 0.5]);
});

Deno.test("the state of sequential schedules has the last rates of each, as PyTorch's", () => {
  const make = () => {
    const [p] = leaves(), optimizer = new optim.SGD([p], { lr: 0.5 });
    const parts = [
      new L.ExponentialLR(optimizer, { gamma: 0.5 }),
      new L.ConstantLR(optimizer, { factor: 0.25, totalIters: 0 }),
      new L.ConstantLR(optimizer, { factor: 0.25, totalIters: 2 }),
    ];
    return { optimizer, parts, schedule: new L.SequentialLR(optimizer, parts, [2, 4]) };
  };
  const before = make(), rates: number[] = [];
  for (let t = 0; t < 5; t++) {
    before.optimizer.step();
    before.schedule.step();
    rates.push(before.optimizer.paramGroups[0]?.lr ?? NaN);
  }
  assertEquals(rates, [0.25, 0.5, 0.5, 0.125, 0.125]);
  const after = make();
  after.optimizer.loadStateDict(before.optimizer.stateDict());
  after.schedule.loadStateDict(JSON.parse(JSON.stringify(before.schedule.stateDict())));
  for (const { parts } of [before, after]) {
    assertEquals(parts.map((each) => each.getLastLr()), [[0.25], [0.5], [0.125]]);
  }
  assertEquals(after.optimizer.paramGroups[0]?.lr, 0.125);
  after.schedule.step();
  assertEquals(after.optimizer.paramGroups[0]?.lr, 0.5);
});

Deno.test("states of schedules contain their settings, which a schedule with other settings adopts", () => {
  const optimizer = () => new optim.SGD(leaves(), { lr: 0.1, momentum: 0.9 });
  const scaleFn = (cycle: number) => 1 / cycle;
  type Schedule = optim.lrScheduler.LRScheduler;
  const pairs: readonly (readonly [made: (o: optim.SGD) => Schedule, other: (o: optim.SGD) => Schedule])[] = [
    [(o) => new L.StepLR(o, 2, 0.5), (o) => new L.StepLR(o, 3)],
    [(o) => new L.MultiStepLR(o, [1, 4], 0.5), (o) => new L.MultiStepLR(o, [7])],
    [(o) => new L.ConstantLR(o, 0.5, 3), (o) => new L.ConstantLR(o)],
    [(o) => new L.LinearLR(o, 0.5, 0.9, 7), (o) => new L.LinearLR(o)],
    [(o) => new L.ExponentialLR(o, 0.5), (o) => new L.ExponentialLR(o, 0.9)],
    [(o) => new L.CosineAnnealingLR(o, 8, 0.01), (o) => new L.CosineAnnealingLR(o, 9)],
    [(o) => new L.CosineAnnealingWarmRestarts(o, 2, 2), (o) => new L.CosineAnnealingWarmRestarts(o, 7)],
    [(o) => new L.PolynomialLR(o, 9, 2), (o) => new L.PolynomialLR(o)],
    [(o) => new L.LambdaLR(o, (t) => 1 / (t + 1)), (o) => new L.LambdaLR(o, (t) => 1 / (t + 1))],
    [
      (o) => new L.CyclicLR(o, 0.1, 0.2, { stepSizeUp: 2, scaleFn }),
      (o) => new L.CyclicLR(o, 0, 1, { stepSizeUp: 4, stepSizeDown: 1, scaleFn, cycleMomentum: false }),
    ],
    [(o) => new L.OneCycleLR(o, 0.1, 20), (o) => new L.OneCycleLR(o, 0.3, { totalSteps: 9, divFactor: 2 })],
    [
      (o) => new L.SequentialLR(o, [new L.ConstantLR(o, 0.5), new L.ExponentialLR(o, 0.5)], [3]),
      (o) => new L.SequentialLR(o, [new L.ConstantLR(o), new L.ExponentialLR(o, 0.9)], [5]),
    ],
    [
      (o) => new L.ChainedScheduler([new L.ConstantLR(o, 0.5), new L.ExponentialLR(o, 0.5)]),
      (o) => new L.ChainedScheduler([new L.ConstantLR(o), new L.ExponentialLR(o, 0.9)]),
    ],
  ];
  for (const [make, other] of pairs) {
    const schedule = make(optimizer()), resumed = other(optimizer());
    for (let k = 0; k < 2; k++) schedule.step();
    resumed.loadStateDict(JSON.parse(JSON.stringify(schedule.stateDict())));
    for (let k = 0; k < 4; k++) {
      assertEquals([resumed.getLastLr(), resumed.stateDict()], [schedule.getLastLr(), schedule.stateDict()]);
      for (const each of [schedule, resumed]) each.step();
    }
  }
  const step = new L.StepLR(optimizer(), 2), state = step.stateDict();
  assertEquals(state, { lastEpoch: 0, baseLrs: [0.1], lastLr: [0.1], stepSize: 2, gamma: 0.1 });
  const load = (changed: object) => () => step.loadStateDict({ ...state, gamma: 0.7, ...changed });
  assertThrows(load({ tMax: 3 }), DynError, "Expected the state of a StepLR but found tMax in it");
  assertThrows(load({ stepSize: [3] }), DynError, "Expected stepSize of StepLR to be like 2 but found");
  assertEquals(step.gamma, 0.1);
  const plateau = new L.ReduceLROnPlateau(optimizer(), "max", { patience: 3 });
  const other = new L.ReduceLROnPlateau(optimizer());
  other.loadStateDict(plateau.stateDict());
  assertEquals(other.toString(), plateau.toString());
});

Deno.test("states of schedules that hold infinities pass through JSON", () => {
  const L = optim.lrScheduler, p = tensor([1], { dtype: "float32", requiresGrad: true });
  const made = (mode: "min" | "max", patience: number) =>
    new L.ReduceLROnPlateau(new optim.SGD([p], { lr: 0.1 }), mode, { patience, minLr: [0] });
  for (const mode of ["min", "max"] as const) {
    for (const patience of [0, Infinity]) {
      for (const metrics of [[], [1, 2, 3], [NaN, NaN], [Infinity, 3], [-Infinity, 3, 4]]) {
        const schedule = made(mode, patience), resumed = made("min", 7);
        for (const metric of metrics) schedule.step(metric);
        resumed.loadStateDict(JSON.parse(JSON.stringify({ schedule: schedule.stateDict() })).schedule);
        assertEquals(resumed.stateDict(), schedule.stateDict());
      }
    }
  }
  const schedule = made("min", 2), state = schedule.stateDict();
  assertThrows(
    () =>
      schedule.loadStateDict(
        JSON.parse(`{"best":1,"numBadEpochs":0,"cooldownCounter":0,"lastEpoch":1,"patience":null}`),
      ),
    DynError,
    "Expected a number for patience of loadStateDict but found null",
  );
  assertEquals(schedule.stateDict(), state);
});

Deno.test("states of optimizers that hold infinities pass through JSON", () => {
  const p = tensor([1], { dtype: "float32", requiresGrad: true });
  const made = (largest: number) => new optim.Rprop([p], { stepSizes: [1e-6, largest] });
  const optimizer = made(Infinity), resumed = made(50), { paramGroups } = optimizer.stateDict();
  const text = JSON.stringify(paramGroups);
  resumed.loadStateDict({ state: {}, paramGroups: JSON.parse(text) });
  assertEquals(resumed.paramGroups[0]?.stepSizes, [1e-6, Infinity], text);
  assertEquals(resumed.stateDict().paramGroups, paramGroups);
  // The state that was read is no part of the optimizer
  resumed.loadStateDict({ state: {}, paramGroups });
  assertEquals(resumed.paramGroups[0]?.stepSizes, [1e-6, Infinity]);
});

Deno.test("a step of a schedule that no update precedes is told once, with the program's line", () => {
  class Own extends L.StepLR {}
  const told: string[] = [], weight = tensor([1], { dtype: "float32", requiresGrad: true });
  const made = () => {
    const optimizer = new optim.SGD([weight], { lr: 0.1 });
    return {
      schedule: new Own(optimizer, 1),
      update: () => (weight.square().sum().backward(), optimizer.step()),
    };
  };
  logs.capture("usage", (_, text) => told.push(text), () => {
    for (const wrap of [(f: () => unknown) => f, (f: () => unknown) => compile(f, { backend: "eager" })]) {
      const { schedule, update } = made();
      wrap(update)();
      schedule.step();
    }
    assertEquals(told, []);
    for (let k = 0; k < 2; k++) made().schedule.step();
  });
  assertEquals(told.length, 1);
  assertMatch(
    told[0] ?? "",
    /^step\(\) of Own before the first optimizer\.step\(\): .*\n\s+at .*optimizers_test\.ts/,
  );
});

Deno.test("settings of schedules are fields: changed ones count from the next step, invalid ones are errors", () => {
  const plateau = new L.ReduceLROnPlateau(new optim.SGD(leaves(), { lr: 0.1 }), { patience: 0 });
  plateau.step(1);
  plateau.factor = 0.25;
  plateau.step(1);
  assertEquals(plateau.getLastLr(), [0.025]);
  const small = new L.ReduceLROnPlateau(new optim.SGD(leaves(), { lr: 0.1 }), {
    factor: 0.5,
    patience: 0,
    eps: 0.03,
  });
  const rates = [1, 1, 1].flatMap((metric) => (small.step(metric), small.getLastLr()));
  assertEquals(rates, [0.1, 0.05, 0.05], "changes up to eps are not made");
  const cooling = new L.ReduceLROnPlateau(new optim.SGD(leaves(), { lr: 0.1 }), { patience: 0, cooldown: 2 });
  const cools = [1, 1, 1, 1].map((metric) => (cooling.step(metric), cooling.inCooldown));
  assertEquals(
    cools,
    [false, true, true, false],
    "after a change there are as many steps of rest as cooldown says",
  );
  Reflect.set(plateau, "mode", "least");
  assertThrows(() => plateau.step(1), DynError, "mode of ReduceLROnPlateau to be one of min, max");
  const cyclic = new L.CyclicLR(new optim.SGD(leaves(), { lr: 0.1 }), 0, 1, {
    stepSizeUp: 4,
    cycleMomentum: false,
  });
  cyclic.stepSizeUp = 2;
  cyclic.maxLrs = [3];
  cyclic.step();
  assertEquals(cyclic.getLastLr(), [1.5]);
  const once = new L.OneCycleLR(new optim.SGD(leaves(), { lr: 0.1 }), {
    maxLr: 1,
    totalSteps: 11,
    pctStart: 0.6,
    cycleMomentum: false,
  });
  once.annealStrategy = "linear";
  once.divFactor = 2;
  once.step(2.8);
  assertEquals(once.getLastLr()[0]?.toFixed(6), "0.750000");
});

Deno.test("Muon takes only matrices", () => {
  assertThrows(() => new optim.Muon(leaves()), DynError, "found the shape [4]");
});

for (const [name, make, wanted] of RATES) {
  Deno.test(`${name} gives PyTorch's rates`, () => {
    const optimizer = new optim.SGD(leaves(), { lr: 0.1 }), schedule = make(optimizer);
    const rate = () => optimizer.paramGroups[0]?.lr ?? NaN;
    const rates = [rate()];
    for (let t = 0; t < 7; t++) {
      if (schedule instanceof optim.lrScheduler.LRScheduler) schedule.step();
      else schedule.step(1 / (1 + Math.min(t, 2)));
      rates.push(rate());
    }
    close(rates, wanted, name);
  });
}

Deno.test("unknown or invalid hyperparameters are errors", () => {
  const params = leaves();
  assertThrows(
    () => Reflect.construct(optim.SGD, [params, { learningRate: 1 }]),
    DynError,
    "found learningRate",
  );
  assertThrows(() => new optim.Adam(params, { lr: -1 }), DynError, "lr of Adam to be at least 0");
  assertThrows(() => new optim.Adam(params, { betas: [0.9, 1] }), DynError, "[0, 1)");
  assertThrows(() => new optim.ASGD(params, { lambd: -0.5 }), DynError, "lambd of ASGD to be at least 0");
  assertThrows(
    () => Reflect.construct(optim.SGD, [params, { lr: tensor([0.1, 0.2]) }]),
    DynError,
    "a number for lr",
  );
  assertThrows(() => new optim.SGD(params, { nesterov: true }), DynError, "momentum");
  assertThrows(() => new L.OneCycleLR(new optim.SGD(params), 1), DynError, "totalSteps");
  assertEquals(new optim.SGD(params, 0.5, 0.9).defaults.momentum, 0.9);
  const optimizer = new optim.SGD(params, { momentum: 0.9 });
  const wrong: readonly (() => unknown)[] = [
    () => Reflect.construct(L.ReduceLROnPlateau, [optimizer, "mean"]),
    () => Reflect.construct(L.ReduceLROnPlateau, [optimizer, { thresholdMode: "percent" }]),
    () => Reflect.construct(L.CyclicLR, [optimizer, 0.01, 0.1, { mode: "sawtooth" }]),
    () => new L.ConstantLR(optimizer, 1.5),
    () => new L.LinearLR(optimizer, { startFactor: 0 }),
    () => new L.LinearLR(optimizer, { endFactor: 2 }),
  ];
  for (const call of wrong) assertThrows(call, DynError, "Expected ");
});

/** Each schedule with good values of its settings. */
const SETTINGS: readonly (readonly [keyof typeof L, Readonly<Record<string, unknown>>])[] = [
  ["StepLR", { stepSize: 2, gamma: 0.5 }],
  ["MultiStepLR", { milestones: [1], gamma: 0.5 }],
  ["ConstantLR", { factor: 0.5, totalIters: 2 }],
  ["LinearLR", { startFactor: 0.5, endFactor: 1, totalIters: 2 }],
  ["ExponentialLR", { gamma: 0.5 }],
  ["CosineAnnealingLR", { tMax: 3, etaMin: 0 }],
  ["CosineAnnealingWarmRestarts", { t0: 3, tMult: 1, etaMin: 0 }],
  ["PolynomialLR", { totalIters: 3, power: 1 }],
  ["CyclicLR", { baseLr: 0.1, maxLr: 1, stepSizeUp: 2, stepSizeDown: 2, gamma: 1, cycleMomentum: true }],
  ["OneCycleLR", {
    maxLr: 1,
    totalSteps: 9,
    pctStart: 0.3,
    divFactor: 25,
    finalDivFactor: 9,
    threePhase: false,
  }],
  ["ReduceLROnPlateau", { factor: 0.5, patience: 1, threshold: 0.1, cooldown: 0, minLr: 0, eps: 0 }],
  ["LambdaLR", { lrLambda: () => 1 }],
];

/** The implementation choices of each optimizer, by torch.optim's signatures. */
const CHOICES = {
  Adadelta: ["foreach", "capturable", "differentiable"],
  Adafactor: ["foreach"],
  Adagrad: ["foreach", "fused", "differentiable"],
  Adam: ["foreach", "fused", "capturable", "differentiable"],
  AdamW: ["foreach", "fused", "capturable", "differentiable"],
  Adamax: ["foreach", "capturable", "differentiable"],
  ASGD: ["foreach", "capturable", "differentiable"],
  LBFGS: [],
  Muon: [],
  NAdam: ["foreach", "capturable", "differentiable"],
  RAdam: ["foreach", "capturable", "differentiable"],
  RMSprop: ["foreach", "capturable", "differentiable"],
  Rprop: ["foreach", "capturable", "differentiable"],
  SGD: ["foreach", "fused", "differentiable"],
} as const;

Deno.test("an optimizer takes the implementation choices that PyTorch's has, and refuses the others by name", () => {
  for (const [name, known] of Object.entries(CHOICES)) {
    for (const choice of ["foreach", "fused", "capturable", "differentiable"]) {
      const make = (value: boolean) => () =>
        Reflect.construct(Reflect.get(optim, name), [[tensor([[1, 2]], { dtype: "float32" })], {
          [choice]: value,
        }]);
      if (!known.some((each) => each === choice)) {
        assertThrows(make(false), DynError, `found ${choice}`, name);
        continue;
      }
      make(false)();
      if (choice === "differentiable") assertThrows(make(true), DynError, "steps are not recorded", name);
      else make(true)();
    }
  }
  const exported = Object.keys(optim).filter((name) => {
    const made: unknown = Reflect.get(optim, name);
    return typeof made === "function" && made.prototype instanceof optim.Optimizer;
  });
  assertEquals(exported.toSorted(), Object.keys(CHOICES).toSorted());
});

Deno.test("no setting of a schedule or an optimizer is taken for another value: NaN, a string or an object is an error", () => {
  const optimizer = new optim.SGD(leaves(), { momentum: 0.9 });
  for (const [name, settings] of SETTINGS) {
    Reflect.construct(L[name], [optimizer, settings]);
    for (const setting of Object.keys(settings)) {
      for (const wrong of [NaN, "0.5", {}, true, () => 1]) {
        if (typeof wrong === typeof settings[setting] && typeof wrong !== "number") continue;
        const call = () => Reflect.construct(L[name], [optimizer, { ...settings, [setting]: wrong }]);
        assertThrows(call, DynError, "Expected ", `${name} with ${setting} ${String(wrong)}`);
      }
    }
  }
  const swa = (options: object) => () => Reflect.construct(optim.swaUtils.SWALR, [optimizer, options]);
  assertThrows(swa({ swaLr: NaN }), DynError, "swaLr of SWALR");
  assertThrows(swa({ swaLr: 0.1, annealStrategy: "cosine" }), DynError, "annealStrategy of SWALR");
  const flags = [["SGD", "maximize"], ["SGD", "foreach"], ["Adam", "amsgrad"], [
    "RMSprop",
    "centered",
  ]] as const;
  for (const [name, flag] of flags) {
    const call = () => Reflect.construct(optim[name], [leaves(), { [flag]: "false" }]);
    assertThrows(call, DynError, `Expected ${flag} of ${name} to be a boolean but found "false"`);
  }
  // Where PyTorch takes foreach by position, true would have been maximize
  for (
    const [name, count] of [["Adadelta", 4], ["Adagrad", 5], ["ASGD", 5], ["Adamax", 4], [
      "RMSprop",
      6,
    ]] as const
  ) {
    const { defaults } = new optim[name](leaves()), given = Object.values(defaults).slice(0, count);
    Reflect.construct(optim[name], [leaves(), ...given]);
    const call = () => Reflect.construct(optim[name], [leaves(), ...given, true]);
    assertThrows(call, DynError, `at most ${count} optional arguments of ${name}`);
  }
  assertThrows(() => new optim.SGD(leaves(), { dampening: NaN }), DynError, "a number for dampening");
  assertThrows(() => new optim.LBFGS(leaves(), { maxIter: 1.5 }), DynError, "an integer");
  assertThrows(() => new optim.Adadelta(leaves(), { rho: 1.5 }), DynError, "rho of Adadelta");
  assertThrows(
    () => new optim.Muon([zeros(2, 2).requiresGrad_()], { nsSteps: Infinity }),
    DynError,
    "an integer",
  );
});

Deno.test("schedules of no steps give PyTorch's rates, not NaN", () => {
  const rates = (make: (optimizer: optim.SGD) => { step(): void }) => {
    const optimizer = new optim.SGD(leaves(), { lr: 0.1 }), schedule = make(optimizer);
    const found = [optimizer.paramGroups[0]?.lr ?? NaN];
    for (let t = 0; t < 2; t++) {
      schedule.step();
      found.push(optimizer.paramGroups[0]?.lr ?? NaN);
    }
    return found;
  };
  close(rates((o) => new L.LinearLR(o, 0.5, 1, 0)), [0.05, 0.05, 0.05], "LinearLR");
  close(rates((o) => new L.PolynomialLR(o, 0)), [0.1, 0.1, 0.1], "PolynomialLR");
  close(rates((o) => new L.ConstantLR(o, 0.5, 0)), [0.05, 0.05, 0.05], "ConstantLR");
  assertThrows(
    () => new L.CosineAnnealingLR(new optim.SGD(leaves()), 0),
    DynError,
    "tMax of CosineAnnealingLR",
  );
});

Deno.test("schedules take a function or a rate per group, and required arguments by name", () => {
  const rates = (make: (optimizer: optim.SGD) => { step(): void }) => {
    const [a, b] = leaves();
    assert(a && b);
    const optimizer = new optim.SGD([{ params: [a], lr: 0.1 }, { params: [b], lr: 0.2 }]);
    const schedule = make(optimizer), found: number[] = [];
    for (let t = 0; t < 3; t++) {
      schedule.step();
      found.push(...optimizer.paramGroups.map((group) => group.lr));
    }
    return found;
  };
  close(
    rates((o) => new L.LambdaLR(o, { lrLambda: [(t) => 0.5 ** t, (t) => 1 / (t + 1)] })),
    [0.05, 0.1, 0.025, 0.06666667, 0.0125, 0.05],
    "LambdaLR",
  );
  close(
    rates((o) => new L.MultiplicativeLR(o, [() => 0.5, () => 0.9])),
    [0.05, 0.18, 0.025, 0.162, 0.0125, 0.1458],
    "MultiplicativeLR",
  );
  close(
    rates((o) => new L.OneCycleLR(o, { maxLr: [1, 0.5], totalSteps: 5, cycleMomentum: false })),
    [0.9504846, 0.4752423, 0.611262, 0.305631, 0.1882583, 0.0941292],
    "OneCycleLR",
  );
  close(
    rates((o) => new L.StepLR(o, { stepSize: 2, gamma: 0.5 })),
    [0.1, 0.2, 0.05, 0.1, 0.05, 0.1],
    "StepLR",
  );
  const one = new optim.SGD(leaves(), { lr: 0.1 });
  assertThrows(() => new L.LambdaLR(one, [(t) => t, (t) => t]), DynError, "one per group");
  assertThrows(() => Reflect.construct(L.StepLR, [one]), DynError, "stepSize of StepLR");
});

Deno.test("momenta change in the opposite direction, and the third phase ends below the start", () => {
  const momenta = (make: (o: Optimizer) => Schedule): number[] => {
    const optimizer = new optim.SGD(leaves(), { lr: 0.1, momentum: 0.9 }), schedule = make(optimizer);
    const found = optimizer.paramGroups.map((group) => group.momentum);
    for (let t = 0; t < 4; t++) {
      if (schedule instanceof optim.lrScheduler.LRScheduler) schedule.step();
      found.push(...optimizer.paramGroups.map((group) => group.momentum));
    }
    return found;
  };
  close(
    momenta((o) => new L.CyclicLR(o, 0.01, 0.1, 3, 2)),
    [0.9, 0.8666667, 0.8333333, 0.8, 0.85],
    "CyclicLR",
  );
  close(
    momenta((o) => new L.OneCycleLR(o, 0.4, 10)),
    [0.95, 0.9, 0.85, 0.85495156, 0.86882551],
    "OneCycleLR",
  );
  const adam = new optim.Adam(leaves(), { lr: 0.1 });
  const cycle = new L.OneCycleLR(adam, 0.4, { totalSteps: 10, threePhase: true, annealStrategy: "linear" });
  const rates = adam.paramGroups.map((group) => group.lr);
  for (let t = 0; t < 5; t++) {
    cycle.step();
    rates.push(...adam.paramGroups.map((group) => group.lr));
  }
  close(rates, [0.016, 0.208, 0.4, 0.208, 0.016, 0.01280032], "three phases");
  assertEquals(adam.paramGroups.map((group) => group.betas[0]), [0.95]);
  const sum = new optim.Adagrad(leaves());
  assertThrows(() => new L.CyclicLR(sum, 0.1, 1), DynError, "momentum or betas");
});

Deno.test("averages of models are PyTorch's, also in a compiled step", () => {
  const make = () => {
    const model = new nn.Linear(1, 1);
    noGrad(() => {
      model.weight.fill_(1);
      model.bias?.fill_(2);
    });
    return model;
  };
  const { AveragedModel, getEmaAvgFn, getSwaAvgFn, getSwaMultiAvgFn, updateBn } = optim.swaUtils;
  for (const compiled of [false, true]) {
    const model = make(), even = new AveragedModel(model);
    const decaying = new AveragedModel(model, { avgFn: getEmaAvgFn(0.9) });
    const named = [
      new AveragedModel(model, { avgFn: getSwaAvgFn() }),
      new AveragedModel(model, { multiAvgFn: getSwaMultiAvgFn() }),
    ];
    const advance = () => {
      noGrad(() => {
        model.weight.add_(1);
        model.bias?.mul_(2);
      });
      even.updateParameters(model);
      for (const each of [decaying, ...named]) each.updateParameters(model);
    };
    const step = compiled ? compile(advance, { backend: "aot_eager", fullgraph: true }) : advance;
    for (let t = 0; t < 3; t++) step();
    const numbers = (of: nn.Module) => Object.values(of.stateDict()).map((x) => Number(x.item()));
    assertEquals(Object.keys(even.stateDict()), ["n_averaged", "module.weight", "module.bias"]);
    close(numbers(even), [3, 3, 9.3333333], "even");
    close(numbers(decaying), [3, 2.29, 5.56], "decaying");
    for (const each of named) close(numbers(each), [3, 3, 9.3333333], "even, by name");
    close([Number(even.call(tensor([[2.5]])).item())], [16.8333333], "forward");
  }
  const norm = new nn.BatchNorm1d(1),
    batches = [tensor([[1], [3]]).to("float32"), tensor([[5], [9]]).to("float32")];
  norm.eval();
  updateBn(batches.map((x) => [x, 0]), norm);
  close([Number(norm.runningMean?.item()), Number(norm.runningVar?.item())], [4.5, 5], "statistics");
  assertEquals([norm.training, norm.momentum], [false, 0.1]);
});

Deno.test("a momentum that changes from step to step stays in one graph", () => {
  const steps = (isCompiled: boolean) => {
    const w = tensor([0.5, -1, 2], { requiresGrad: true });
    const optimizer = new optim.SGD([w], { lr: 0.1, momentum: 0.9, nesterov: true });
    const schedule = new optim.lrScheduler.OneCycleLR(optimizer, { maxLr: 0.2, totalSteps: 8 });
    const step = () => {
      optimizer.zeroGrad();
      w.square().sum().backward();
      optimizer.step();
    };
    const run = isCompiled ? compile(step, { backend: "aot_eager" }) : step;
    for (let t = 0; t < 6; t++) {
      run();
      schedule.step();
    }
    return { w, breaks: isCompiled ? compiler.status(run).graphBreaks : 0 };
  };
  const plain = steps(false), compiled = steps(true);
  assertEquals(compiled.breaks, 0);
  const [found, wanted] = [compiled.w, plain.w].map((w) => Array.from(w.detach().toTypedArray(), Number));
  close(found ?? [], wanted ?? [], "nesterov");
});
