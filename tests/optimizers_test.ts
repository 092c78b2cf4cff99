/**
 * Optimizers and learning-rate schedules against PyTorch: the parameters after seven steps, the rates after each.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { DynError, nn, optim, tensor } from "../mod.ts";
import type { RatedOptimizer } from "../lib/optim/lr_scheduler.ts";

const L = optim.lrScheduler;

/** Optimizer, options, and PyTorch's parameters after seven steps. */
const AFTER_SEVEN: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly number[]])[] = [
  ["SGD", { lr: 0.1 }, [
    0.7105568,
    -1.035056,
    1.796237,
    0.4108324,
    0.01276748,
    0.3573781,
    -0.3872326,
    0.5573781,
  ]],
  ["SGD", { lr: 0.1, momentum: 0.9 }, [
    0.3773338,
    0.139347,
    0.1760499,
    0.2908185,
    -0.1606249,
    0.5900251,
    -0.5606249,
    0.7900251,
  ]],
  ["SGD", { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.01 }, [
    0.4571767,
    0.04326034,
    -0.008355911,
    0.2736264,
    -0.3174788,
    0.7302369,
    -0.7064592,
    0.9247272,
  ]],
  ["SGD", { lr: 0.1, momentum: 0.9, dampening: 0.5, maximize: true }, [
    1.551069,
    -3.823121,
    5.488657,
    0.6843451,
    0.5069284,
    -0.6110881,
    0.1069285,
    -0.4110881,
  ]],
  ["SGD", {}, [0.9963235, -1.987852, 2.984915, 0.4988826, 0.09883073, 0.202337, -0.3011693, 0.402337]],
  ["Adam", {}, [0.9932554, -1.99325, 2.993186, 0.4931792, 0.09304458, 0.2069561, -0.3069555, 0.4069561]],
  ["Adam", { lr: 0.05, betas: [0.8, 0.95], eps: 1e-3, weightDecay: 0.1 }, [
    0.6469089,
    -1.647306,
    2.64505,
    0.2178794,
    -0.04263607,
    0.3037705,
    -0.3368882,
    0.47674,
  ]],
  ["Adam", { lr: 0.1, amsgrad: true }, [
    0.3405942,
    -1.319572,
    2.313576,
    0.3473428,
    -0.05104746,
    0.371008,
    -0.4510474,
    0.5710081,
  ]],
  ["Adam", { lr: 0.1, maximize: true, weightDecay: 0.1 }, [
    1.616545,
    -2.645378,
    3.656309,
    -0.05894496,
    0.6454998,
    -0.3599218,
    0.2568316,
    -0.1628411,
  ]],
  ["AdamW", {}, [0.9931855, -1.99311, 2.992975, 0.4931443, 0.09303751, 0.2069422, -0.3069345, 0.4069282]],
  ["AdamW", { lr: 0.05, betas: [0.8, 0.95], eps: 1e-3, weightDecay: 0.1 }, [
    0.6224827,
    -1.587196,
    2.549767,
    0.255411,
    -0.01068126,
    0.3030546,
    -0.3968895,
    0.4961588,
  ]],
  ["AdamW", { lr: 0.1, amsgrad: true }, [
    0.3365569,
    -1.307505,
    2.294543,
    0.3473282,
    -0.05600178,
    0.3739577,
    -0.4532102,
    0.5725619,
  ]],
  ["AdamW", { lr: 0.1, maximize: true, weightDecay: 0.1 }, [
    1.566035,
    -2.512051,
    3.454396,
    1.093464,
    0.6351397,
    -0.3614479,
    0.2623135,
    -0.1750348,
  ]],
  ["RMSprop", {}, [0.5413828, -1.484002, 2.476356, 0.2997597, -0.01336373, 0.3224664, -0.4133638, 0.5224664]],
  ["RMSprop", { lr: 0.02, alpha: 0.9, eps: 1e-4, weightDecay: 0.1, momentum: 0.5, centered: true }, [
    0.4092039,
    -1.321808,
    2.320285,
    0.2883922,
    -0.09739457,
    0.3839894,
    -0.3964857,
    0.5592089,
  ]],
  ["RMSprop", { maximize: true }, [
    1.558562,
    -2.557987,
    3.541928,
    1.084017,
    0.5199842,
    -0.21304,
    0.1199842,
    -0.01304001,
  ]],
  ["Adagrad", {}, [0.9462195, -1.946067, 2.946879, 0.4482081, 0.07068586, 0.2294924, -0.3293141, 0.4294924]],
  ["Adagrad", { lr: 0.1, lrDecay: 0.1, weightDecay: 0.1, initialAccumulatorValue: 0.5, eps: 1e-3 }, [
    0.7571976,
    -1.638658,
    2.622995,
    0.3913067,
    0.03771091,
    0.2911552,
    -0.333866,
    0.4787224,
  ]],
  ["Adagrad", { maximize: true }, [
    1.054467,
    -2.054076,
    3.053303,
    0.5542922,
    0.1469012,
    0.1532651,
    -0.2530988,
    0.3532652,
  ]],
];

interface Schedule {
  step(metric: number): void;
}

/** Schedule, how it is made for a rate of 0.1, and PyTorch's rates before and after seven steps. */
const RATES: readonly (readonly [string, (o: RatedOptimizer) => Schedule, readonly number[]])[] = [
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

function leaves(): [nn.Parameter, nn.Parameter] {
  return [
    new nn.Parameter(tensor([1, -2, 3, 0.5], { dtype: "float32" })),
    new nn.Parameter(tensor([[0.1, 0.2], [-0.3, 0.4]])),
  ];
}

function close(found: readonly number[], wanted: readonly number[], where: string): void {
  assertEquals(found.length, wanted.length, where);
  wanted.forEach((x, i) => {
    const y = found[i] ?? NaN;
    assert(Math.abs(x - y) <= 1e-6 + 2e-5 * Math.abs(x), `${where}[${i}]: expected ${x} but found ${y}`);
  });
}

for (const [name, options, wanted] of AFTER_SEVEN) {
  Deno.test(`${name} ${JSON.stringify(options)} steps as PyTorch's`, () => {
    const [p, q] = leaves();
    const made: unknown = Reflect.construct(Reflect.get(optim, name), [[p, q], options]);
    assert(made instanceof optim.Optimizer);
    for (let t = 0; t < 7; t++) {
      made.zeroGrad();
      const curved = p.sub(0.3).pow(2).sum().mul((t + 1) * 0.1);
      curved.add(q.mul(p.narrow(0, 0, 2)).sum().sin()).backward();
      made.step();
    }
    close([...p.toTypedArray(), ...q.toTypedArray()].map(Number), wanted, name);
  });
}

for (const [name, make, wanted] of RATES) {
  Deno.test(`${name} gives PyTorch's rates`, () => {
    const optimizer = new optim.SGD(leaves(), { lr: 0.1 }), schedule = make(optimizer);
    const rate = () => optimizer.paramGroups[0]?.lr ?? NaN;
    const rates = [rate()];
    for (let t = 0; t < 7; t++) {
      schedule.step(1 / (1 + Math.min(t, 2)));
      rates.push(rate());
    }
    close(rates, wanted, name);
  });
}

Deno.test("hyperparameters that do not exist or make no sense are errors", () => {
  const params = leaves();
  assertThrows(
    () => Reflect.construct(optim.SGD, [params, { learningRate: 1 }]),
    DynError,
    "found learningRate",
  );
  assertThrows(() => new optim.Adam(params, { lr: -1 }), DynError, "lr of Adam that is not negative");
  assertThrows(() => new optim.Adam(params, { betas: [0.9, 1] }), DynError, "[0, 1)");
  assertThrows(() => new optim.SGD(params, { nesterov: true }), DynError, "momentum");
  assertThrows(() => new L.OneCycleLR(new optim.SGD(params), 1), DynError, "totalSteps");
  assertEquals(new optim.SGD(params, 0.5, 0.9).defaults.momentum, 0.9);
});

Deno.test("schedules take a function or a rate a group, and required arguments by name", () => {
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
  assertThrows(() => new L.LambdaLR(one, [(t) => t, (t) => t]), DynError, "one a group");
  assertThrows(() => Reflect.construct(L.StepLR, [one]), DynError, "stepSize of StepLR");
});
