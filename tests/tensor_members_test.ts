/**
 * Every property and method of tensors that is not an op, in compiled functions: one graph with the results of the
 * plain program, except for those listed here, with the place where the graph ends.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  asTensor,
  compile,
  compiler,
  config,
  counters,
  data,
  distributions,
  DynError,
  fromTypedArray,
  fx,
  Generator,
  GradScaler,
  isGradEnabled,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import * as library from "../mod.ts";
import { findTarget } from "../lib/ops/table.ts";

type Member = (x: Tensor) => unknown;

/** A use of each member, and the id of the break where the graph ends there. */
const USES: readonly (readonly [name: string, member: Member, id?: string])[] = [
  ["constructor", (x) => x.constructor.name],
  ["shape", (x) => x.mul(x.shape[1] ?? 0)],
  ["strides", (x) => x.mul(x.strides[0] ?? 0)],
  ["dtype", (x) => x.mul(x.dtype === "float32" ? 2 : 3)],
  ["device", (x) => x.mul(x.device === "cpu" ? 2 : 3)],
  ["ndim", (x) => x.mul(x.ndim)],
  ["meta", (x) => x.mul(x.meta.offset === 0 ? 2 : 3), "GB0022"],
  ["version", (x) => x.mul(x.version + 1), "GB0022"],
  ["dim", (x) => x.mul(x.dim())],
  ["size", (x) => x.mul(x.size(-1))],
  ["stride", (x) => x.mul(x.stride(0))],
  ["numel", (x) => x.mul(x.numel())],
  ["storageOffset", (x) => x.mul(x.storageOffset() + 1), "GB0007"],
  ["elementSize", (x) => x.mul(x.elementSize())],
  ["isContiguous", (x) => x.mul(x.isContiguous() ? 2 : 3)],
  ["isFloatingPoint", (x) => x.mul(x.isFloatingPoint() ? 2 : 3)],
  ["isComplex", (x) => x.mul(x.isComplex() ? 2 : 3)],
  ["requiresGrad", (x) => {
    const y = x.mul(x.requiresGrad ? 2 : 3);
    y.requiresGrad = true;
    return y.requiresGrad;
  }],
  ["gradFn", (x) => x.mul(x.gradFn === null ? 2 : 3)],
  ["isLeaf", (x) => x.mul(x.isLeaf ? 2 : 3)],
  ["grad", (x) => x.mul(x.grad === null ? 2 : 3)],
  ["requiresGrad_", (x) => x.mul(2).requiresGrad_().requiresGrad],
  ["retainGrad", (x) => {
    const y = x.mul(2).requiresGrad_();
    y.retainGrad();
    return y.isLeaf;
  }, "GB0022"],
  ["backward", (x) => {
    const y = x.mul(2).requiresGrad_();
    y.square().sum().backward();
    return y.grad;
  }],
  ["registerHook", (x) => {
    const y = x.mul(2).requiresGrad_();
    y.registerHook((grad) => grad.mul(3));
    y.square().sum().backward();
    return y.grad;
  }, "GB0022"],
  ["detach_", (x) => x.mul(2).detach_()],
  ["nelement", (x) => x.mul(x.nelement())],
  ["ndimension", (x) => x.mul(x.ndimension())],
  ["itemsize", (x) => x.mul(x.itemsize)],
  ["nbytes", (x) => x.mul(x.nbytes)],
  ["isSigned", (x) => x.mul(x.isSigned() ? 2 : 3)],
  ["isConj", (x) => x.mul(x.isConj() ? 2 : 3)],
  ["isNeg", (x) => x.mul(x.isNeg() ? 2 : 3)],
  ["isNonzero", (x) => x.sum().isNonzero()],
  ["isSameSize", (x) => x.mul(x.isSameSize(x.mul(2)) ? 2 : 3)],
  ["isSetTo", (x) => x.mul(x.isSetTo(x) ? 2 : 3), "GB0022"],
  ["isCpu", (x) => x.mul(x.isCpu ? 2 : 3)],
  ["isCuda", (x) => x.mul(x.isCuda ? 2 : 3)],
  ["isMeta", (x) => x.mul(x.isMeta ? 2 : 3)],
  ["isSparse", (x) => x.mul(x.isSparse ? 2 : 3)],
  ["isQuantized", (x) => x.mul(x.isQuantized ? 2 : 3)],
  ["getDevice", (x) => x.mul(x.getDevice())],
  ["retainsGrad", (x) => x.mul(x.retainsGrad ? 2 : 3), "GB0022"],
  ["outputNr", (x) => x.mul(x.outputNr + 1), "GB0022"],
  ["adjoint", (x) => x.adjoint().mul(2)],
  ["nonzeroStatic", (x) => x.nonzeroStatic({ size: 3 })],
  ["typeAs", (x) => x.typeAs(x.to("float64"))],
  ["type", (x) => [x.type("int32"), x.type()]],
  ["cfloat", (x) => x.cfloat().real()],
  ["cdouble", (x) => x.cdouble().real()],
  ["pinMemory", (x) => x.pinMemory().mul(2)],
  ["isPinned", (x) => x.mul(x.isPinned() ? 2 : 3)],
  ["newTensor", (x) => x.add(x.newTensor([2, 3]).sum())],
  ["newEmptyStrided", (x) => x.newEmptyStrided([2, 3], [1, 2]).stride()],
  ["nextafter_", (x) => x.mul(2).nextafter_(x)],
  ["orgqr", (x) => x.select(0, 0).orgqr(ones([2]))],
  ["numpy", (x) => x.ndim > 4 ? x.numpy() : x.mul(2)],
  ["polygamma_", (x) => x.abs().polygamma_(1)],
  ["apply_", (x) => x.mul(2).apply_((v) => Number(v) + 1), "GB0002"],
  ["map_", (x) => x.mul(2).map_(x, (a, b) => Number(a) + Number(b)), "GB0002"],
  ["set_", (x) => x.mul(2).set_(x.mul(3)), "GB0007"],
  ["cuda", (x) => x.device === "cpu" ? x.mul(2) : x.cuda()],
  ["item", (x) => x.sum().item()],
  ["tolist", (x) => x.mul(2).tolist()],
  ["toJSON", (x) => JSON.stringify({ toJSON: () => [x.mul(2)] })],
  ["toTypedArray", (x) => [...x.mul(2).toTypedArray()], "GB0002"],
  ["toString", (x) => x.mul(2).toString(), "GB0002"],
  ["length", (x) => x.mul(x.length)],
  ["at", (x) => x.at(0, ":", [1, 0])],
  ["set", (x) => x.mul(2).set([0], 5)],
  ["equal", (x) => x.mul(2).equal(x.add(x))],
  ["allclose", (x) => x.mul(2).allclose(x.add(x))],
  ["cpu", (x) => x.mul(2).cpu()],
  ["to", (x) => x.to("float64")],
  ["where", (x) => x.where(x.gt(2), 0)],
  ["contiguous", (x) => x.transpose(0, 1).contiguous()],
  ["T", (x) => x.select(0, 0).T.mul(2)],
  ["mT", (x) => x.mT.mul(2)],
  ["H", (x) => x.select(0, 0).H.mul(2)],
  ["mH", (x) => x.mH.mul(2)],
  ["resize_", (x) => x.mul(2).resize_(2, 2), "GB0007"],
  ["resizeAs_", (x) => x.mul(2).resizeAs_(ones([2])), "GB0007"],
  [Symbol.toPrimitive.toString(), (x) => +x.sum() + 1],
  [Symbol.iterator.toString(), (x) => [x[Symbol.iterator]().next().value, [...x].map((row) => row.sum())]],
  ["replaceData", (x) => x.mul(2).replaceData(x), "GB0007"],
  ["data", (x) => x.mul(2).data() instanceof Promise, "GB0007"],
  ["registerPostAccumulateGradHook", (x) => {
    x.mul(2).requiresGrad_().registerPostAccumulateGradHook(() => {});
  }, "GB0022"],
  [Symbol.dispose.toString(), (x) => x.mul(2)[Symbol.dispose](), "GB0007"],
  ...([["Deno.customInspect", "GB0007"], ["Jupyter.display", "GB0003"]] as const).map(([name, id]) => {
    const key = Symbol.for(name);
    return [key.toString(), (x: Tensor) => JSON.stringify(Reflect.get(x, key).call(x)), id] as const;
  }),
];

const input = (): Tensor => tensor([[[1, 2], [3, 4], [5, 6]]], { dtype: "float32" });

function shown(value: unknown): unknown {
  if (value instanceof Tensor) return [value.dtype, value.requiresGrad, value.tolist()];
  return Array.isArray(value) ? value.map(shown) : value;
}

/** Functions that make tensors of what is no plain list, each in one graph. */
const MADE: readonly Member[] = [
  (x) => [asTensor(x) === x, asTensor(x, { dtype: "float64" })],
  (x) => [tensor(x).add_(1), x],
  (x) => {
    const leaf = tensor(x.mul(2), { requiresGrad: true, dtype: "float64" });
    leaf.square().sum().backward();
    return leaf.grad;
  },
  (x) => fromTypedArray(new Float32Array([1, 2]), [2, 1]).add(x.sum()),
  () => {
    const elements = new Int32Array([1, 2]), made = fromTypedArray(elements, undefined, { dtype: "float64" });
    elements[0] = 9;
    return [made.mul(2), elements[0]];
  },
];

Deno.test("tensors are created from tensors and from typed arrays in the graph", () => {
  for (const make of MADE) {
    const compiled = compile(make, { backend: "eager", fullgraph: true });
    assertEquals(shown(compiled(input())), shown(make(input())), `${make}`);
  }
});

Deno.test("members of tensors that are not ops are captured, except the listed ones", () => {
  const members = Reflect.ownKeys(Tensor.prototype).filter((key) =>
    Reflect.getOwnPropertyDescriptor(Tensor.prototype, key)?.get || !findTarget(String(key))
  ).map(String).filter((key) => !/^-?\d+$/.test(key)); // brackets, which tensors refuse
  assertEquals(USES.map(([name]) => name).toSorted(), members.concat("to", "where", "contiguous").toSorted());
  for (const [name, member, id] of USES) {
    const expected = shown(member(input()));
    assertEquals(shown(compile(member, { backend: "eager" })(input())), expected, name);
    const { breakReasons } = compiler.explain(member)(input()), ids = breakReasons.map(({ id }) => id);
    // A cached call records where graphs end, not what was tried before
    assert(id === undefined ? ids.length === 0 : ids.includes(id), `${name} breaks for ${ids}`);
  }
});

Deno.test("a tensor that is written remains a leaf if it was one with a gradient", () => {
  const run = (x: Tensor, y: Tensor) => {
    noGrad(() => x.add_(1));
    y.add_(x);
    return [x.isLeaf, x.gradFn === null, y.isLeaf];
  };
  const inputs = (): [Tensor, Tensor] => [ones([2]).requiresGrad_(), ones([2])];
  assertEquals(compile(run, { backend: "eager" })(...inputs()), run(...inputs()));
});

/** Calls of methods of an object with the arguments that they take and others. */
function methods(object: object, names: readonly string[], own: readonly (readonly unknown[])[] = []) {
  const call = (name: string, taken: readonly unknown[]) => (...given: readonly unknown[]) =>
    Reflect.apply(Reflect.get(object, name), object, [...taken, ...given]);
  return Object.fromEntries(names.map((name, k) => [name, call(name, own[k] ?? [])]));
}

Deno.test("surplus arguments of optimizers, schedules, scalers, generators and profiles are errors", () => {
  const optimizer = new optim.SGD([ones([1]).requiresGrad_()], { lr: 1 });
  const calls = {
    ...methods(optimizer, ["step", "zeroGrad", "stateDict"], [[undefined], [true]]),
    ...methods(new optim.lrScheduler.StepLR(optimizer, 2), ["step"], [[1]]),
    ...methods(new GradScaler(), ["unscale_", "setGrowthFactor"], [[optimizer], [3]]),
    ...methods(new Generator(), ["setOffset", "initialSeed", "getState"], [[4]]),
    ...methods(new GradScaler(), ["getScale", "isEnabled"]),
    ...methods(new distributions.Normal(0, 1), ["logProb", "cdf", "icdf", "perplexity"], [
      [zeros([1])],
      [zeros([1])],
      [zeros([1])],
    ]),
    ...methods(new fx.Graph(), ["placeholder", "callFunction", "lint"], [["x"], ["zeros", [], {}]]),
    ...methods(config, ["patch"], [[{}, () => 1]]),
    ...methods(counters, ["get", "total", "clear"], [["a", "b"], ["a"]]),
    ...methods(new nn.Linear(1, 1), ["setSubmodule", "registerForwardHook"], [["a", new nn.ReLU()], [
      () => 1,
      {},
    ]]),
    ...methods(new data.ConcatDataset([[1]]), ["get"], [[0]]),
  };
  for (const [name, call] of Object.entries(calls)) {
    assertThrows(() => call({ zzz: 1 }), DynError, `for ${name} but found { zzz: 1 }`);
  }
});

Deno.test("surplus arguments are errors, in compiled functions too", () => {
  const { Normal, klDivergence } = distributions;
  const calls: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
    klDivergence: (...given) =>
      Reflect.apply(klDivergence, null, [new Normal(0, 1), new Normal(1, 1), ...given]),
    manualSeed: (...given) => Reflect.apply(manualSeed, null, [1, ...given]),
    isGradEnabled: (...given) => Reflect.apply(isGradEnabled, null, given),
    noGrad: (...given) => Reflect.apply(noGrad, null, [() => 1, ...given]),
    tensor: (...given) => Reflect.apply(tensor, null, [[1], {}, ...given]),
    detach_: (...given) => Reflect.apply(Tensor.prototype.detach_, ones([2]), given),
    ...methods(ones([1]), ["item", "tolist", "cpu"]),
    ...methods(new nn.Linear(2, 2), ["eval", "children", "modules", "clone", "parameters", "zeroGrad"], [
      [],
      [],
      [],
      [],
      [true],
      [true],
    ]),
    ...methods(new nn.Sequential(new nn.ReLU()), ["forward", "slice"], [[ones([2])], [0, 1]]),
    ...methods(new nn.ModuleList(), ["append"], [[new nn.ReLU()]]),
  };
  for (const [name, call] of Object.entries(calls)) {
    call();
    for (const each of [call, compile(call, { backend: "eager" })]) {
      const { message } = assertThrows(() => each({ zzz: 1 }), Error);
      assertMatch(
        message,
        new RegExp(`^Expected (no|at most \\d) arguments? for ${name} but found { zzz: 1 }`),
      );
    }
  }
});

Deno.test("constant initialisations may be callbacks of a list of parameters", () => {
  const layer = new nn.Linear(2, 2);
  [...layer.parameters()].forEach(nn.init.ones_);
  assertEquals([...layer.parameters()].map((each) => each.sum().item()), [4, 2]);
});

Deno.test("messages of traced calls name the sizes of the call", () => {
  const wrong: readonly (readonly [(x: Tensor) => unknown, string])[] = [
    [(x) => x.matmul(x), "in matmul but found [4, 5] and [4, 5]"],
    [(x) => x.narrow(0, 3, x.shape[0] ?? 0), "inside of size 4 but found 3 and 4"],
    [(x) => x.reshape([7, -1]), "for 20 elements but found [7, -1]"],
    [(x) => {
      const y = x.exp();
      y.add_(1);
      y.sum().backward();
    }, "[float32 [4, 5]], needed by"],
  ];
  for (const [call, message] of wrong) {
    const run = compile(call, { backend: "eager", dynamic: true });
    assertThrows(() => run(ones([4, 5], { requiresGrad: true })), Error, message);
  }
  const whole = compile((x: Tensor) => x.matmul(x), { backend: "eager", dynamic: true, fullgraph: true });
  assertThrows(() => whole(ones([4, 5])), Error, "in matmul but found [4, 5] and [4, 5]");
});

Deno.test("functions and methods have names that programs can print", () => {
  const unnamed = (members: object) =>
    Object.entries(Object.getOwnPropertyDescriptors(members)).flatMap(([key, { value }]) => {
      const name: unknown = typeof value === "function" ? value.name : key;
      return ["", "made", "value", "method", "given"].includes(String(name)) && name !== key ? [key] : [];
    });
  const { functional, init } = nn;
  for (
    const each of [library, functional, init, nn, optim, compiler, Tensor.prototype, nn.Module.prototype]
  ) {
    assertEquals(unnamed(each), []);
  }
  assertEquals(
    [library.relu, library.relu_, Tensor.prototype.add_, functional.silu].map(({ name }) => name),
    [
      "relu",
      "relu_",
      "add_",
      "silu",
    ],
  );
});
