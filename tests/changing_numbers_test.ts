/** Numbers that change between calls behave as they do as constants: eagerly, and compiled without a break. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  cat,
  compile,
  compiler,
  cond,
  full,
  fullLike,
  func,
  higherOrderOps,
  isTensor,
  manualSeed,
  nn,
  ones,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../mod.ts";
import { capture, list, vector } from "./support/dynamo.ts";
import { randomNumbers, testSeed } from "./support/sampling.ts";

Deno.test("a bound that a small type cannot hold has no effect, however often it changes", () => {
  const x = tensor([0, 3, 200, 255], { dtype: "uint8" });
  const below = (m: number) => [0, 3, 200, 255].map((v) => Math.min(Math.max(m, 0), v));
  const compiled = compile((x: Tensor, max: number) => x.clamp(null, max), { dynamic: true });
  for (const max of [5, 2, -1, 300, -2, 259, 7, 256, -300]) {
    assertEquals(x.clamp(null, max).tolist(), below(max), `eager ${max}`);
    assertEquals(compiled(x, max).tolist(), below(max), `compiled ${max}`);
    assertEquals(x.clone().clamp_(null, max).tolist(), below(max), `in place ${max}`);
  }
});

Deno.test("integers to a negative power are refused, however often the power changes", () => {
  const x = tensor([2, 3], { dtype: "int32" });
  for (const power of [2, 3, 4, 5, 6, 7]) {
    assertEquals(x.pow(power).tolist(), [2 ** power, 3 ** power]);
    assertThrows(() => x.pow(-power), Error, "non-negative");
  }
});

Deno.test("a number that a small type cannot hold is refused, however often it changes", () => {
  const x = tensor([1, 2], { dtype: "uint8" });
  const programs = [(n: number) => fullLike(x, n), (n: number) => x.maskedFill(x.gt(1), n)];
  for (const program of programs) {
    const compiled = compile(program);
    for (const n of [5, 3, 255, 0, 1, -255]) {
      assertEquals(compiled(n).tolist(), program(n).tolist(), `${program}`);
    }
    for (const n of [256, 300, -256]) {
      for (const each of [program, compiled]) assertThrows(() => each(n), Error, "holds", `${program}`);
    }
  }
});

Deno.test("integers divided by the number 0 are refused, however often the divisor changes", () => {
  const x = tensor([7, -7], { dtype: "int32" });
  const divisions: Record<string, (by: number) => Tensor> = {
    remainder: (by) => x.remainder(by),
    fmod: (by) => x.fmod(by),
    floorDivide: (by) => x.floorDivide(by),
    div: (by) => x.div(by, { roundingMode: "trunc" }),
    "in place": (by) => x.clone().remainder_(by),
  };
  for (const [name, divide] of Object.entries(divisions)) {
    const compiled = compile(divide, { dynamic: true });
    for (const by of [2, 3, 4, 5, 6, 7, 8]) {
      assertEquals(compiled(by).tolist(), divide(by).tolist(), name);
      for (const each of [divide, compiled]) assertThrows(() => each(0), Error, "nonzero divisor", name);
    }
  }
});

Deno.test("a number beside floats is an input of one graph if the op takes tensors of one type, and beside masks", () => {
  const x = tensor([1.5, -2, 4]), end = ones([3]);
  const programs: ((x: Tensor, weight: number) => Tensor)[] = [
    (x, weight) => x.lerp(end, weight),
    (x, weight) => where(x.gt(0), x, weight),
    (x, weight) => x.maskedFill(x.gt(0), weight),
    (x, weight) => {
      const mean = zeros([3]);
      const y = nn.functional.batchNorm(x.view([1, 3]).expand([2, 3]), mean, ones([3]), {
        training: true,
        momentum: weight,
      });
      return y.add(mean);
    },
  ];
  for (const program of programs) {
    const c = capture(program);
    for (const weight of [0.25, 0.5, 0.3, 0.75, 0.1]) {
      assertEquals(c.run(x, weight).tolist(), program(x, weight).tolist(), `${program} ${weight}`);
    }
    // One for the number as a constant, one for all others
    assertEquals(c.graphs.length, 2, `${program}`);
  }
});

Deno.test("tensors of lists of numbers, nested or not, are inputs of one graph when the numbers change", () => {
  const state = { step: 2 };
  const programs: Readonly<Record<string, (x: Tensor, n: number, z: number) => Tensor>> = {
    list: (x, n, z) => x.add(tensor([z, n, 0.5])),
    nested: (x, _n, z) => x.mul(tensor([[z], [-z * 2]], { dtype: "float32" })),
    "integers, and what is written later": (x, n) => {
      const before = tensor([[n, state.step, x.shape[0] ?? 0]]);
      state.step += 3;
      return cat([before, tensor([[state.step, 1, 2]])]).add(x.to("int64"));
    },
    "one number": (x, _n, z) =>
      x.add(tensor(z)).add(full([3], -z)).mul(fullLike(x, z)).sub(x.newFull([3], z * 2)),
    "one number of a type": (x, _n, z) =>
      x.add(tensor(z, { dtype: "float64" })).add(full([2, 1], z, { dtype: "float32" })),
    "written by an index": (x, _n, z) => {
      const y = x.clone();
      y.set([0], z).set([x.gt(3)], z + 1);
      return y;
    },
    "written in place": (x, _n, z) => {
      const point = tensor([z, 2, z]);
      point.set([0], z * 3);
      return point.add_(x);
    },
  };
  const x = tensor([1.5, -2, 4]);
  for (const [name, program] of Object.entries(programs)) {
    const c = capture(program), calls = [[2, 0.25], [3, 1.5], [4, -2.5], [7, 0.75], [9, 3.25]] as const;
    state.step = 2;
    const plain = calls.map(([n, z]) => program(x, n, z).tolist());
    state.step = 2;
    assertEquals(calls.map(([n, z]) => c.run(x, n, z).tolist()), plain, name);
    assertEquals(c.graphs.length, 2, name);
  }
});

Deno.test("a changing number that is a position in a list has a version for each value, and breaks no graph", () => {
  const list = [4, 1, 3, 5, 2];
  const programs: Readonly<Record<string, (n: number) => unknown>> = {
    slice: (n) => list.slice(0, n),
    splice: (n) => [...list].splice(1, n),
    at: (n) => list.at(-n),
    with: (n) => list.with(n, 0),
    fill: (n) => [...list].fill(0, n),
    copyWithin: (n) => [...list].copyWithin(0, n),
    flat: (n) => [[[[1]]]].flat(n).length,
    toSpliced: (n) => list.toSpliced(n, 1, 7),
    take: (n) => list.values().take(n).drop(1).toArray(),
    length: (n) => {
      const copy = [...list];
      copy.length = n;
      return copy;
    },
  };
  const x = tensor([1, 2]);
  for (const [name, program] of Object.entries(programs)) {
    const plain = [2, 3, 4, 3].map(program);
    const f = compile((x: Tensor, n: number) => [x.mul(2).tolist(), program(n)], { backend: "eager" });
    assertEquals([2, 3, 4, 3].map((n) => f(x, n)[1]), plain, name);
    const { graphs, graphBreaks } = compiler.status(f);
    assertEquals([graphs, graphBreaks], [3, 0], name);
  }
});

Deno.test("positions that are no integers, or lie before the beginning, are read as the language reads them", () => {
  const positions = [0, undefined, 1, -1.5, null, NaN, -7, "1", -0.5, Infinity, -Infinity, true, undefined];
  const programs: Readonly<Record<string, (list: number[], at: unknown) => unknown>> = {
    "a slice": (list, at) => Reflect.apply(list.slice, list, [at]),
    "a slice without a position": (list) => [list.slice(undefined), list.slice(-1.5), list.slice(NaN)],
    "an element of a list": (list, at) => Reflect.apply(list.at, list, [at]),
    "an element in memory": (list, at) => {
      const numbers = new Int16Array(list);
      return [numbers.at(-4), Reflect.apply(numbers.at, numbers, [at])];
    },
  };
  for (const [name, program] of Object.entries(programs)) {
    const f = compile((x: Tensor, list: number[], at: unknown) => [x.add(1).tolist(), program(list, at)], {
      backend: "eager",
    });
    for (const [call, at] of positions.entries()) {
      const list = [4, 1, 3, 2, 5].slice(0, call % 5), title = `${name}, call ${call} at ${at}`;
      assertEquals(f(tensor([1]), list, at)[1], program(list, at), title);
    }
  }
});

Deno.test("batches of a long list are read by their places: one graph serves all, and no other element is read", () => {
  const list = Array.from({ length: 20_000 }, (_, i) => ({ row: [i, 1], label: i / 4 }));
  const program = (x: Tensor, i: number) => {
    const batch = list.slice(i * 4, (i + 1) * 4), [first] = list.slice(5, 9);
    return x.add(tensor(batch.map(({ row }) => row))).mul(tensor(batch.map(({ label }) => label + 0.1)).sum())
      .add(first?.label ?? 0);
  };
  const c = capture(program), x = tensor([1.5, 2]);
  for (const i of [2, 3, 4, 90, 4_999]) assertEquals(c.run(x, i).tolist(), program(x, i).tolist());
  assertEquals(c.graphs.length, 2);
});

Deno.test("tensors of changing numbers in bodies of higher-order operations, and those that require grad", () => {
  const { scan } = higherOrderOps, memory = new Float32Array([3, 4]);
  const programs: Readonly<Record<string, (x: Tensor, z: number) => unknown>> = {
    "the body of a scan": (x, z) =>
      scan(
        (sum: Tensor, each: Tensor) => {
          const next = sum.mul(tensor(z)).add(each).mul(tensor(memory));
          return [next, next.mul(tensor([z, 2]))];
        },
        zeros([2]),
        x.reshape([2, 1]),
      ),
    "a mapped function": (x, z) => func.vmap((each: Tensor) => each.mul(tensor([z, 2])))(x.reshape([2, 1])),
    "a branch": (x, z) => cond(x.sum().gt(0), (y: Tensor) => y.mul(tensor([z, z])), (y: Tensor) => y, [x]),
    "a gradient": (x, z) => func.grad((y: Tensor) => y.mul(tensor([z, z * 2])).square().sum())(x),
    "leaves, of integers too": (x, z) => {
      const w = tensor([z, 1], { requiresGrad: true }), scale = tensor(z, { requiresGrad: true });
      w.mul(x).mul(scale).sum().backward();
      return [w.grad, scale.grad];
    },
  };
  const list = (value: unknown): unknown =>
    isTensor(value) ? value.tolist() : Array.isArray(value) ? value.map(list) : value;
  const x = tensor([1, 2], { dtype: "float32" });
  for (const [name, program] of Object.entries(programs)) {
    const f = compile(program, { backend: "eager" });
    for (const z of [2, 3, 5, 2.5, 0.75, 7]) assertEquals(list(f(x, z)), list(program(x, z)), `${name} ${z}`);
    assertEquals(compiler.status(f).uncompiled, [], name);
  }
});

Deno.test("whether numbers of a list are whole decides the type of a tensor in each call", () => {
  const program = (x: Tensor, n: number) => x.mul(tensor([n, 2]).div(4, { roundingMode: "floor" }));
  const c = capture(program), x = tensor([1, 2], { dtype: "float32" });
  for (const n of [5, 6.5, 7, 8.25, 9, 11, 2 ** 40, -(2 ** 41), 2 ** 63, -(2 ** 63), -(2 ** 64), 1e30]) {
    assertEquals(c.run(x, n).tolist(), program(x, n).tolist(), `${n}`);
    const isWhole = Number.isInteger(n) && n >= -(2 ** 63) && n < 2 ** 63;
    assertEquals(tensor([n, 2]).dtype, isWhole ? "int64" : "float32");
  }
});

Deno.test("numbers that multiply an operand change without a break or another version, to the bit", () => {
  const y = tensor([0.3, -1.7, 2.9]), z = tensor([1.1, 0.7, -0.2]);
  const programs: ((x: Tensor, by: number) => Tensor)[] = [
    (x, alpha) => x.add(y, { alpha }),
    (x, alpha) => x.sub(y, { alpha }),
    (x, alpha) => x.rsub(y, { alpha }),
    (x, alpha) => x.clone().add_(y.exp(), { alpha: -alpha }),
    (x, value) => x.addcmul(y, z, { value }),
    (x, value) => x.clone().addcdiv_(y, z, { value: -value }),
  ];
  for (const dtype of ["float32", "float64", "bfloat16"] as const) {
    for (const program of programs) {
      const c = capture(program), x = tensor([0.1, 3.3, -5.7], { dtype });
      for (const by of [0.1, 0.37, 1.9, 0.77]) {
        assertEquals(c.run(x, by).tolist(), program(x, by).tolist(), `${program} ${by} of ${dtype}`);
      }
      assertEquals(c.graphs.length, 2, `${program} of ${dtype}`);
    }
  }
  const step = compile((w: Tensor, g: Tensor, rate: number) => w.add_(g.mul(2), { alpha: -rate }));
  for (const rate of [0.1, 0.03, 0.007]) {
    const [w, plain] = [tensor([1.5, 2, 3]), tensor([1.5, 2, 3])];
    assertEquals(step(w, y, rate).tolist(), plain.add_(y.mul(2), { alpha: -rate }).tolist());
  }
});

Deno.test("integers divided by a power of two with a whole reciprocal become floats", () => {
  const x = tensor([1, 2, -3]);
  for (const divisor of [-1, 0.5, -0.25, 2]) {
    const divided = compile((x: Tensor) => x.div(divisor))(x);
    assertEquals([divided.dtype, divided.tolist()], ["float32", [1, 2, -3].map((v) => v / divisor)]);
  }
});

/** Numbers as programs pass them, by what makes them special. */
const PATTERNS: Readonly<Record<string, readonly number[]>> = {
  "0 and 1": [0, 1],
  "small": [0, 1, 2, 3, 5, 7],
  "of both signs": [-3, -1, 0, 1, 2, 4],
  "whole or not": [0, 1, 0.5, 2, -1.25, 3],
  "at the ends": [0, -0, 1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 40, NaN, Infinity],
};

/** Uses of numbers in programs: `list` has 4 of them, `n` and `k` are two more. */
type Use = (
  x: Tensor,
  numbers: { readonly list: number[]; readonly n: number; readonly k: number },
) => unknown;

const within = (n: number, most: number) => Math.abs(Math.trunc(n || 0)) % most;
const TABLE = Array.from({ length: 12 }, (_, i) => i % 3 === 0 ? i : i / 4);
const BY_NUMBER = new Map([0, 1, 2, 3, 0.5].map((key) => [key, key * 3 - 1]));
const MEMBERS = new Set([-1, 0, 2, NaN]);
const BY_NAME: Readonly<Record<string, number>> = { 0: 4, 1: 0.5, 2: 1, a0: 2, a1: -1 };
const TENSORS = Array.from({ length: 6 }, (_, i) => tensor([i, 1, -i]));

const USES: Readonly<Record<string, Use>> = {
  "a factor": (x, { n, k }) => x.mul(n).add(k),
  "a divisor": (x, { n }) => x.div(n),
  "beside integers": (_x, { n, k }) => tensor([3, -4]).mul(n).sub(k),
  "a remainder": (_x, { n }) => tensor([3, -4]).remainder(n),
  "a power": (x, { n }) => x.pow(n),
  "a scale of another operand": (x, { n }) => x.add(x, { alpha: n }),
  "a bound": (x, { n, k }) => x.clamp(Math.min(n, k), Math.max(n, k)),
  "filled in": (x, { n }) => x.maskedFill(x.gt(0), n).add(full([3], n)),
  "filled into a small type": (_x, { n }) => fullLike(tensor([1, 2], { dtype: "uint8" }), n),
  "a tensor": (x, { list, n }) => x.sum().add(tensor(list)).add(tensor([[n]])),
  "a sum": (x, { list }) => x.mul(list.reduce((a, b) => a + b, 0)),
  "the greatest": (x, { list }) => x.mul(Math.max(...list)),
  "products and quotients": (
    x,
    { n, k },
  ) => [x.mul(n * k), x.mul(-n), x.mul(1 / n), x.add(Math.floor(n / 2)), n % 3],
  "a size": (_x, { n, k }) => zeros([within(n, 4), 1 + within(k, 3)]).add(1),
  "a position": (x, { n, k }) => [x.at(within(n, 3)), x.slice(0, within(k, 3)), x.narrow(0, 0, within(n, 4))],
  "a repetition": (x, { n }) => x.repeat([1 + within(n, 3)]),
  "a dimension": (x, { n }) => x.reshape([1, 3]).sum(within(n, 2)),
  "a choice": (x, { n, k }) => n > k ? x.mul(2) : n === 0 ? x.add(k) : k ? x.sub(n) : x,
  "a count of turns": (x, { n }) => {
    for (let i = 0; i < within(n, 4); i++) x = x.add(i);
    return x;
  },
  "an index of numbers": (x, { list, n, k }) => [
    x.mul(TABLE[within(n, 12)] ?? 7),
    x.mul(TABLE[k] ?? 7),
    x.mul(list[n] ?? 7),
  ],
  "an index of tensors": (x, { n, k }) => x.add(TENSORS[within(n, 6)] ?? 0).add(TENSORS[within(k, 6)] ?? 0),
  "indices in a list": (x, { list }) => x.sum().mul(tensor(list.map((each) => TABLE[within(each, 12)] ?? 0))),
  "keys of a map": (x, { list, n, k }) => [
    x.mul(BY_NUMBER.get(n) ?? 9),
    x.add(list.map((each) => BY_NUMBER.get(each) ?? -1).reduce((a, b) => a + b)),
    BY_NUMBER.has(k) ? x.add(1) : x,
    MEMBERS.has(n),
  ],
  "keys of an object": (x, { n, k }) => x.mul(BY_NAME[`${within(n, 5)}`] ?? 3).add(BY_NAME[`a${k}`] ?? 0),
  "elements to find": (x, { list, n, k }) => [
    x.add(TABLE.indexOf(n)),
    TABLE.includes(k) ? x.mul(2) : x,
    list.indexOf(n),
    [0, 1, -0, NaN].includes(k),
  ],
  "elements at": (x, { list, n, k }) => x.mul(TABLE.at(n) ?? 2).add(list.at(k) ?? 3),
  "results": (x, { list, n }) => [x.add(1), n, [...list], -n, list[0] === n],
};

const shown = (value: unknown): string =>
  Deno.inspect(
    isTensor(value)
      ? [value.dtype, value.shape, value.tolist()]
      : Array.isArray(value)
      ? value.map(shown)
      : value,
    { depth: 9 },
  );

const result = (run: () => unknown): string => {
  try {
    return shown(run());
  } catch (error) {
    return `throws ${error instanceof Error ? error.name : error}`;
  }
};

for (const [pattern, numbers] of Object.entries(PATTERNS)) {
  Deno.test(`numbers that change, ${pattern}, give what they give uncompiled in each call`, () => {
    const random = randomNumbers(testSeed() + pattern.length);
    const draw = () => numbers[Math.floor(random() * numbers.length)] ?? 0;
    for (const [name, use] of Object.entries(USES)) {
      const f = compile(use, { backend: "eager" }), x = tensor([0.5, -1.5, 2]);
      for (let call = 0; call < 8; call++) {
        const given = { list: [draw(), draw(), draw(), draw()], n: draw(), k: draw() };
        assertEquals(
          result(() => f(x, given)),
          result(() => use(x, given)),
          `${name} ${Deno.inspect(given)}`,
        );
      }
      assertEquals(compiler.status(f).givenUp, null, name);
    }
  });
}

Deno.test("numbers of lists that change, 0 and 1 included, need no version after the second", () => {
  const programs: Readonly<Record<string, Use>> = {
    operands: (x, { n }) => x.mul(n).add(n),
    tensors: (x, { list }) => x.sum().add(tensor(list)),
    nested: (x, { list }) => x.sum().add(tensor([list, list.toReversed()])),
    sums: (x, { list }) => x.mul(list.reduce((a, b) => a + b, 0)),
    elements: (x, { n }) => x.mul(TABLE[(n * 5) % TABLE.length] ?? 0),
    places: (x, { list: [first = 0, second = 0] }) => x.add(TENSORS[first * 3 + second] ?? 0),
  };
  for (const [name, program] of Object.entries(programs)) {
    const c = capture(program), x = tensor([0.5, -1.5, 2]);
    for (let call = 0; call < 12; call++) {
      // Each element has another period, so that they change one after another
      const given = { list: [2, 3, 4, 5].map((n) => Math.floor(call / n) % 2), n: call % 4, k: call >> 2 };
      assertEquals(shown(c.run(x, given)), shown(program(x, given)), `${name} ${call}`);
    }
    assertEquals(c.graphs.length, 2, name);
  }
});

Deno.test("a size is restricted only where it is one: elsewhere one version serves 0, 1 and others", () => {
  const program = (x: Tensor, n: number, isSize: boolean) => isSize ? x.sum().add(zeros([n])) : x.mul(n);
  const c = capture(program), x = tensor([1, 2]);
  for (const n of [3, 4, 0, 1, -2]) assertEquals(shown(c.run(x, n, false)), shown(program(x, n, false)));
  assertEquals(c.graphs.length, 2);
  for (const n of [3, 0, 1, 5, 7]) assertEquals(shown(c.run(x, n, true)), shown(program(x, n, true)));
  assertEquals(c.graphs.length, 5);
});

Deno.test("a temperature of gumbelSoftmax that is annealed needs no version after the second", () => {
  const draw = (x: Tensor, tau: number | Tensor) => {
    manualSeed(3);
    return nn.functional.gumbelSoftmax(x, { tau });
  };
  const c = capture((x: Tensor, tau: number) => nn.functional.gumbelSoftmax(x, { tau })),
    x = tensor([[0.5, -1.5, 2], [1, 0, -1]]);
  for (let tau = 1; tau > 0.5; tau *= 0.9) {
    manualSeed(3);
    assertEquals(shown(c.run(x, tau)), shown(draw(x, tau)), `${tau}`);
  }
  assertEquals(c.graphs.length, 2);

  // A temperature of each row that is learnt: the noise is that of a temperature of 1
  const tau = tensor([[0.5], [2]], { requiresGrad: true }), weights = tensor([[1, 2, 4], [3, 0, 1]]);
  const noisy = draw(x, 1).log(), wanted = tensor([[0.5], [2]], { requiresGrad: true });
  const found = draw(x, tau), expected = noisy.div(wanted).softmax(-1);
  found.mul(weights).sum().backward();
  expected.mul(weights).sum().backward();
  assert(found.allclose(expected) && tau.grad && wanted.grad?.allclose(tau.grad));
  const rows = draw(tensor([0.5, -1.5, 2]), tau.detach());
  assertEquals(rows.shape, [2, 3]);
  assertThrows(() => draw(x, tensor([1, 2])), Error, "broadcast");
});

Deno.test("a number in the place of a tensor is an input from its first call on", () => {
  const c = capture((x: Tensor, by: Tensor | number) => x.mul(by));
  const calls: readonly (readonly [number, number])[] = [[2, 0], [3, 3], [4, 0], [5, 4], [5, 4.5], [6, 0]];
  for (const [size, number] of calls) {
    const x = vector(...Array(size).keys()), by = number || x.add(1);
    assertEquals(list(c.run(x, by)), list(x.mul(by)));
  }
  assertEquals(c.entries(), 4);
});

Deno.test("the number of bins and the least number of counts may change without versions", () => {
  const x = tensor([0.1, 0.4, 0.45, 0.9]), indices = tensor([1, 3, 3], { dtype: "int64" });
  const programs: Record<string, (n: number) => Tensor> = {
    histc: (n) => x.mul(2).histc(n, 0, 2).add(1),
    "histc of a size": (n) => x.mul(2).histc(zeros([n + 1]).shape[0], 0, 2).add(1),
    bincount: (n) => indices.bincount(null, n),
  };
  for (const [name, program] of Object.entries(programs)) {
    const run = compile(program);
    for (const n of [4, 7, 1, 12, 9]) assertEquals(run(n).tolist(), program(n).tolist(), `${name} ${n}`);
    assert((compiler.status(run).entries) <= 3, `${name}: ${compiler.status(run)}`);
    for (const each of [run, program]) assertThrows(() => each(-2), Error, "", name);
  }
  assertThrows(() => compile((n: number) => x.histc(n))(0), Error, "the number of bins to be at least 1");
});

Deno.test("lists of other lengths are repeated without versions if the call states the size of the result", () => {
  const x = tensor([1, 2], { requiresGrad: true });
  const program = (x: Tensor, repeats: Tensor, outputSize: number) => {
    const rows = x.mul(2).repeatInterleave(repeats, 0, { outputSize });
    return [rows, rows.mul(rows).sum(), repeats.repeatInterleave({ outputSize })];
  };
  const run = compile(program);
  const slopes = (of: typeof program, n: number) => {
    x.grad = null;
    const [rows, sum, indices] = of(x, tensor([1, n - 1], { dtype: "int64" }), n);
    sum?.backward();
    return [list(rows), list(sum), list(indices), list(x.grad)];
  };
  for (const n of [3, 7, 1, 12, 9]) assertEquals(slopes(run, n), slopes(program, n), `${n}`);
  assert(compiler.status(run).entries <= 3, `${compiler.status(run)}`);
  for (const each of [run, program]) {
    assertThrows(
      () => each(x, tensor([1, 4], { dtype: "int64" }), 8),
      Error,
      "an outputSize of 8 but found 5",
    );
  }
});
