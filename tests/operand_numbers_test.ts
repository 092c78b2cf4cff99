/**
 * Numbers of ops that change between calls: each parameter that takes a number, of each op, in a call made from the op's
 * samples. One version serves all values, with the results of the call uncompiled, to the bit.
 */
import { assertEquals } from "@std/assert";
import { DynError } from "../lib/base/errors.ts";
import { isMethod } from "../lib/ops/api.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import type { Param, ParamKind } from "../lib/ops/params.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { ops } from "../lib/tensor/eager.ts";
import {
  autograd,
  compile,
  compiler,
  config,
  func,
  isin,
  isTensor,
  manualSeed,
  nn,
  searchsorted,
  Tensor,
  tensor,
} from "../mod.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { shown } from "./support/shown.ts";

/** Kinds of parameters that take numbers which need not be integers. */
const KINDS: ReadonlySet<ParamKind> = new Set([
  "operand",
  "scalar",
  "scalarOperand",
  "float",
  "floatOperand",
  "scalarOrString",
  "floatOrFloats",
]);

/** Values for parameters of most ops; each list for those that refuse the ones before. */
const VALUES: readonly (readonly number[])[] = [
  [0.9, 0.3, 0.7, 0.1],
  [0.125, 0.03, 0.1, 0.27],
  [2.9, 3.3, 2.7, 4.1],
];

type Program = (x: Tensor, n: number) => unknown;

/** A call of an op in which one number changes. */
interface Case {
  readonly name: string;
  readonly program: Program;
  readonly x: Tensor;
  readonly values: readonly number[];
}

const isFunction = ({ exposure }: OpDefinition): boolean =>
  exposure?.free !== false || exposure.namespaces !== undefined;

/** The op as programs call it, with the number given as `how` says; null if programs do not call it. */
function programOf(
  definition: OpDefinition,
  name: string,
  { rest, named, at }: { readonly rest: readonly unknown[]; readonly named: object; readonly at: number },
): Program | null {
  const before = rest.slice(0, at),
    after = [...rest.slice(at + 1), ...Object.keys(named).length > 0 ? [named] : []];
  const isGiven = at < rest.length;
  if (isMethod(definition) || isFunction(definition)) {
    const fn: unknown = Reflect.get(ops, definition.name);
    if (typeof fn !== "function") return null;
    return isGiven
      ? (x, n) => fn(x, ...before, n, ...after)
      : (x, n) => fn(x, ...rest, { ...named, [name]: n });
  }
  const fill: unknown = Reflect.get(Tensor.prototype, `${definition.name}_`);
  if (typeof fill !== "function") return null;
  return isGiven
    ? (x, n) => fill.call(x.clone(), ...before, n, ...after)
    : (x, n) => fill.call(x.clone(), ...rest, { ...named, [name]: n });
}

/** The calls of an op's samples with a number for a parameter, if there are such calls. */
function caseOf(definition: OpDefinition, [name, param]: readonly [string, Param]): Case | null {
  const place = Object.keys(definition.params).indexOf(name) - 1;
  for (const sample of definition.samples) {
    const { given } = makeSample(sample), hasOptions = sample.options !== undefined;
    const named = {
      ...Object(hasOptions ? given.at(-1) : {}),
      ...definition.params["training"] ? { training: true } : {},
    };
    const [x, ...rest] = hasOptions ? given.slice(0, -1) : given;
    // Arguments in between have to be given
    const at = param.keyword || name in named ? Infinity : place;
    if (!isTensor(x) || place < 0 || x.ndim === 0 || x.numel() === 0) continue;
    const program = programOf(definition, name, { rest, named, at });
    const values = program && VALUES.find((list) => list.every((n) => outcome(() => program(x, n)) !== null));
    if (program && values) return { name: `${definition.name} ${name}`, program, x, values };
  }
  return null;
}

/** The results of a call with the same random numbers each time; null if it is refused. */
function outcome(run: () => unknown): unknown {
  manualSeed(5);
  try {
    return shown(run());
  } catch (error) {
    if (error instanceof DynError) return null;
    throw error;
  }
}

/** Parameters that make a version for each number, by their reasons. */
const CONSTANTS: Readonly<Record<string, readonly string[]>> = {
  "the order of a norm decides how it is computed": [
    "vectorNorm ord",
    "norm p",
    "normalize p",
    "pairwiseDistance p",
    "tripletMarginLoss p",
    "dist p",
    "renorm p",
    "cdist p",
    "pdist p",
    "linalgNorm ord",
    "lpPool1d normType",
    "lpPool2d normType",
    "lpPool3d normType",
    "embedding normType",
    "embeddingBag normType",
  ],
  "it is subtracted from a size": [
    "var correction",
    "std correction",
    "varMean correction",
    "stdMean correction",
  ],
  "the rate is a logarithm, in which the language and kernels round differently": ["geometric p"],
  "the host computes the bins": ["histc min", "histc max"],
  "a tensor in place of the number means something else": [
    "scatter src",
    "scatter value",
    "trapezoid x",
    "cumulativeTrapezoid x",
  ],
};

const REASONS = new Map(
  Object.entries(CONSTANTS).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Every parameter that takes numbers which need not be integers. */
const PARAMETERS = ALL_OPS.flatMap((definition) =>
  Object.entries(definition.params).filter(([, { kind }]) => KINDS.has(kind))
    .map((param) => ({ definition, param }))
);

/** The result of a call, and the gradient of its first tensor. */
function withGradient(program: Program, x: Tensor, n: number): unknown {
  const leaf = x.detach().clone().requiresGrad_(), made = program(leaf, n);
  const [first] = [made].flat();
  if (!isTensor(first) || !first.requiresGrad) return made;
  first.mul(first.detach().cos()).sum().backward();
  return [made, leaf.grad];
}

function checkOneVersion(cases: readonly Case[], backend: "eager" | "inductor"): void {
  for (const { name, program, x, values } of cases) {
    const f = compile(program, { backend });
    for (const n of values) {
      // Results of kernels are those of kernels in which the number is a constant
      const plain = backend === "eager"
        ? program
        : compile((x: Tensor, m: number) => program(x, m), { backend });
      const expected = outcome(() => withGradient(plain, x, n));
      assertEquals(outcome(() => withGradient(f, x, n)), expected, `${name} ${n} ${x.dtype}`);
    }
    const { graphs, graphBreaks } = compiler.status(f), reason = REASONS.get(name);
    assertEquals(
      [graphs, graphBreaks],
      [reason ? values.length : 2, 0],
      `${name}: ${reason ?? "one version"}`,
    );
  }
}

/** Some of the cases, in other types too if the op takes them. */
function sampledCases(count: number, salt: number): readonly Case[] {
  return sampleBySeed(PARAMETERS, count, salt).flatMap(({ definition, param }, k): Case[] => {
    const found = caseOf(definition, param);
    if (!found || found.x.dtype !== "float32") return [];
    const x = found.x.to((["float32", "bfloat16", "float64"] as const)[k % 3] ?? "float32");
    const fits = found.values.every((n) => outcome(() => found.program(x, n)) !== null);
    return [fits ? { ...found, x } : found];
  });
}

Deno.test("a number that only takes part in arithmetic has one version for all of its values", () => {
  checkOneVersion(sampledCases(16, 1), "eager");
});

Deno.test("kernels compute with a number that changes as they do with a constant", () => {
  checkOneVersion(sampledCases(2, 2), "inductor");
});

Deno.test("parameters that make a version for each number exist", () => {
  const names = new Set(PARAMETERS.map(({ definition, param: [name] }) => `${definition.name} ${name}`));
  assertEquals([...REASONS.keys()].filter((name) => !names.has(name)), []);
});

Deno.test("numbers out of the range of a parameter, special ones and integers mean what they mean uncompiled", () => {
  const { functional: F } = nn, y = tensor([0.4, -0.1, 0.9]);
  const programs: Readonly<Record<string, Program>> = {
    dropout: (x, n) => F.dropout(x, n),
    "a slope": (x, n) => F.leakyRelu(x, n),
    "a limit": (x, n) => F.hardtanh(x, 0.25, n),
    celu: (x, n) => F.celu(x, n),
    huberLoss: (x, n) => F.huberLoss(x, y, { delta: n, reduction: "none" }),
    uniform: (x, n) => x.clone().uniform_(0.5, n),
    padding: (x, n) => F.pad(x, [1, 1], { value: n }),
    "a power": (x, n) => x.pow(n),
    smoothing: (x, n) => F.crossEntropy(x, tensor(1), { labelSmoothing: n }),
    "a quantile": (x, n) => x.quantile(n),
    "a variance": (x, n) => F.gaussianNllLoss(x, y, n),
    "a batch": (x, n) =>
      func.vmap((row: Tensor) => F.elu(row, n).add(F.huberLoss(row, row.mul(2), { delta: 1.5 + n * n })))(
        x.reshape([3, 1]),
      ),
  };
  const numbers = [0.9, 0.3, 0, NaN, 1, 2, -1, 0.5, -0, Infinity, -Infinity, 3, 1e300, 1e-300, -0.3, 1.5, 7];
  const x = tensor([0.5, -1.5, 2]);
  for (const [name, program] of sampleBySeed(Object.entries(programs), 5)) {
    const f = compile(program, { backend: "eager" });
    for (const n of numbers) {
      const plain = outcome(() => withGradient(program, x, n));
      assertEquals(outcome(() => withGradient(f, x, n)), plain, `${name} ${n}`);
    }
    assertEquals(compiler.status(f).graphBreaks, 0, name);
  }
});

Deno.test("elements of tensors are numbers of ops in a graph, within the ranges of parameters", () => {
  const { functional: F } = nn;
  const programs: Readonly<Record<string, (x: Tensor, n: Tensor) => Tensor>> = {
    "a slope": (x, n) => F.leakyRelu(x, n.item() * 2),
    "a probability": (x, n) => F.dropout(x, n.item() / 2),
    "an upper limit": (x, n) => F.hardtanh(x, -0.5, n.item()),
    "a padding": (x, n) => F.pad(x, [1, 1], { value: 1 - n.item() }),
  };
  const x = tensor([0.5, -1.5, 2]);
  config.patch({ captureScalarOutputs: true }, () => {
    for (const [name, program] of Object.entries(programs)) {
      const f = compile(program, { backend: "eager" });
      for (const n of [0.9, 0.3, 0.7, -3, NaN, 0, 5].map((each) => tensor(each))) {
        assertEquals(outcome(() => f(x, n)), outcome(() => program(x, n)), `${name} ${n}`);
      }
      assertEquals(compiler.status(f).graphBreaks, 0, name);
    }
  });
});

Deno.test("numbers that change rank and keep their digits beside tensors without dimensions, in gradients too", () => {
  const other = tensor(0.7);
  const programs: Readonly<Record<string, Program>> = {
    "a power": (x, n) => x.pow(n),
    "a power in place": (x, n) => x.clone().pow_(n),
    "a base": (x, n) => x.neg().rsub(n).add(ops.pow(n, x)),
    "a sum": (x, n) => x.add(n).sub(1 - n),
    "a product": (x, n) => x.mul(n).div(1 + n),
    "a product in place": (x, n) => x.clone().mul_(n),
    "a remainder": (x, n) => x.fmod(n).add(x.remainder(n)),
    "a factor of a logarithm": (x, n) => ops.xlogy(x, n).add(ops.xlogy(n, x)),
    "an interpolation": (x, n) => x.lerp(other.to(x.dtype), n),
    "a bound": (x, n) => x.clamp(n, 1 + n),
  };
  for (const dtype of sampleBySeed(["float32", "float16", "bfloat16"] as const, 1)) {
    for (const shape of [[], [1]]) {
      for (const [name, program] of Object.entries(programs)) {
        const f = compile(program, { backend: "eager" });
        for (const n of [0.5, 0.999, 0.3, 0.9999, 1.7, 2.3]) {
          for (const x of [0.7, 1.9].map((each) => tensor(each).to(dtype).reshape(shape))) {
            const plain = outcome(() => withGradient(program, x, n));
            assertEquals(outcome(() => withGradient(f, x, n)), plain, `${name} ${n} of ${dtype} [${shape}]`);
          }
        }
        const { graphs, graphBreaks } = compiler.status(f);
        assertEquals([graphs, graphBreaks], [2, 0], name);
      }
    }
    const rows = tensor([0.7, 1.9]).to(dtype);
    for (const name of ["a power", "a product", "a product in place", "a remainder"]) {
      const over: Program = (x, n) => func.vmap((row: Tensor) => programs[name]?.(row, n))(x);
      const f = compile(over, { backend: "eager" });
      for (const n of [0.5, 0.999, 0.3]) {
        assertEquals(
          outcome(() => f(rows, n)),
          outcome(() => over(rows, n)),
          `${name} ${n} of rows of ${dtype}`,
        );
      }
      assertEquals(compiler.status(f).graphBreaks, 0, name);
    }
  }
});

Deno.test("numbers that change beside integers decide on the type of the result, or are refused, as uncompiled", () => {
  const programs: Readonly<Record<string, Program>> = {
    "a power": (x, n) => x.pow(n),
    "a power in place": (x, n) => x.clone().pow_(n),
    "a power of a sum": (x, n) => x.sum().pow(n),
    "a base": (x, n) => ops.pow(n, x),
    "a sum": (x, n) => x.add(n),
    "a factor": (x, n) => x.add(x, { alpha: n }),
    "a factor that is subtracted": (x, n) => x.rsub(x.mul(2), { alpha: n }),
  };
  const numbers = [0.25, 0.75, 2, 3, -0, 5.5, -1];
  for (const dtype of sampleBySeed(["int64", "uint8", "bool"] as const, 1)) {
    const x = tensor([1, 0, 3]).to(dtype), one = tensor(1);
    for (const [name, program] of Object.entries(programs)) {
      const f = compile(program, { backend: "eager" });
      for (const n of numbers) {
        assertEquals(outcome(() => f(x, n)), outcome(() => program(x, n)), `${name} ${n} of ${dtype}`);
      }
      const over: Program = (x, n) => func.vmap((row: Tensor) => program(row, n))(x),
        h = compile(over, { backend: "eager" });
      for (const n of numbers) {
        assertEquals(outcome(() => h(x, n)), outcome(() => over(x, n)), `${name} ${n} of rows of ${dtype}`);
      }
      const ofElement = (n: Tensor) => program(x, n.item());
      config.patch({ captureScalarOutputs: true }, () => {
        const g = compile(ofElement, { backend: "eager" });
        for (const n of numbers.map((each) => one.mul(each))) {
          assertEquals(outcome(() => g(n)), outcome(() => ofElement(n)), `${name}, an element, of ${dtype}`);
        }
      });
    }
  }
});

Deno.test("a number that changes and a mask decide on no type for the elements of a batch", () => {
  const over: Program = (x, n) => func.vmap((row: Tensor) => ops.where(row.gt(1), row, n))(x);
  for (const dtype of ["float32", "float16", "int64"] as const) {
    const f = compile(over, { backend: "eager" }), x = tensor([0, 2]).to(dtype);
    for (const n of [0.25, 0.75, 3]) {
      assertEquals(outcome(() => f(x, n)), outcome(() => over(x, n)), `${n} of ${dtype}`);
    }
  }
});

Deno.test("numbers are searched for in the type of the elements, whether they change or not", () => {
  for (const dtype of ["float32", "float64"] as const) {
    const x = tensor([0.1, 0.2, 0.3, 0.7], { dtype });
    const programs: Readonly<Record<string, (x: Tensor, n: number) => Tensor>> = {
      "among elements": (x, n) => isin(x, n),
      "a number itself": (x, n) => isin(n, x).reshape([1]),
      "in a sequence": (x, n) => searchsorted(x, n, { right: true }).reshape([1]).sub(searchsorted(x, n)),
    };
    for (const [name, program] of Object.entries(programs)) {
      const f = compile(program, { backend: "eager" });
      for (const [place, n] of [0.1, 0.2, 0.3, 0.7].entries()) {
        const found = name === "among elements" ? [0, 1, 2, 3].map((k) => k === place) : [true];
        for (const each of [program, f]) {
          assertEquals(each(x, n).to("bool").tolist(), found, `${name} ${n} ${dtype}`);
        }
      }
    }
    assertEquals(isin(x, tensor(0.2, { dtype: "float64" })).tolist(), [false, true, false, false]);
  }
});

Deno.test("-0 is not left out of a graph where the default is 0", () => {
  const padded = compile((x: Tensor) => nn.functional.pad(x, [1, 0], { value: -0 }), { backend: "eager" });
  assertEquals(padded(tensor([0.5])).tolist(), [-0, 0.5]);
});

Deno.test("a number in place of a tensor is refused when it changes as when it does not", () => {
  const names = ["minimum", "fmax", "atan2", "heaviside", "logicalXor"] as const, x = tensor([0.5, -1.5, 2]);
  for (const name of names) {
    const program = (n: number) => ops[name](x, n), ofElement = (n: Tensor) => program(n.item());
    const f = compile(program, { backend: "eager" });
    for (const n of [0.5, 0.7, 1.3]) {
      assertEquals(
        outcome(() => f(n)),
        outcome(() => program(n)),
        `${name} ${n}`,
      );
    }
    config.patch({ captureScalarOutputs: true }, () => {
      const g = compile(ofElement, { backend: "eager" });
      for (const n of [tensor(0.5), tensor(true)]) {
        assertEquals(outcome(() => g(n)), outcome(() => ofElement(n)), `${name} of an element ${n}`);
      }
    });
  }
});

Deno.test("an element that is a boolean is a boolean of ops in a graph, where they refuse it too", () => {
  const { functional: F } = nn;
  const programs: Readonly<Record<string, Program>> = {
    "a divisor": (x, n) => x.remainder(n).add(ops.floorDivide(x, n)),
    "a divisor in place": (x, n) => x.clone().fmod_(n),
    "a divisor that is rounded": (x, n) => x.div(n, { roundingMode: "trunc" }),
    "a bound": (x, n) => ops.clampMax(x, n),
    "a factor": (x, n) => x.add(x, { alpha: n }),
    "a power": (x, n) => x.pow(n),
    "a product": (x, n) => x.mul(n),
    "a slope": (x, n) => F.leakyRelu(x, n),
    "an upper limit": (x, n) => F.hardtanh(x, -1, n),
  };
  config.patch({ captureScalarOutputs: true }, () => {
    for (const [name, program] of Object.entries(programs)) {
      const ofElement = (x: Tensor, n: Tensor) => program(x, n.item());
      for (const dtype of ["bool", "int64", "float32"] as const) {
        const x = tensor([3, 0, 2]).to(dtype), f = compile(ofElement, { backend: "eager" });
        for (const n of [tensor(true), tensor(false)]) {
          assertEquals(outcome(() => f(x, n)), outcome(() => ofElement(x, n)), `${name} ${n} of ${dtype}`);
        }
      }
    }
  });
});

Deno.test("a power has the same bits after other exponents, in eager and in compiled calls", () => {
  const elements = [123.456, -1.3, 10, 2, 0.1], others = [7, 6, 2.25, 0.3, 11, -4, 9, 1.7, 8, 0.7];
  const programs: Readonly<Record<string, (x: Tensor, n: number) => Tensor>> = {
    "a power": (x, n) => x.pow(n),
    "a power of float64": (x, n) => x.floatPower(n),
    "a gradient": (x, n) => {
      const leaf = x.double().clone().requiresGrad_();
      return autograd.grad([leaf.pow(n).sum()], [leaf])[0] ?? leaf;
    },
  };
  for (const dtype of ["float32", "uint8"] as const) {
    const x = tensor(elements).abs().to(dtype), longer = x.repeat(2);
    for (const [name, program] of Object.entries(programs)) {
      const f = compile(program, { backend: "aot_eager" }), exponents = [3, -1, 1.5];
      const first = exponents.map((n) => outcome(() => program(x, n)));
      for (const n of others) {
        assertEquals(
          outcome(() => f(longer, n)),
          outcome(() => program(longer, n)),
          `${name} ${n} of ${dtype}`,
        );
      }
      for (const [at, n] of exponents.entries()) {
        for (const run of [program, f]) {
          const half = outcome(() => run(longer, n).narrow(0, 0, x.numel()));
          assertEquals(half, first[at], `${name} ${n} of ${dtype}`);
        }
      }
    }
  }
});
