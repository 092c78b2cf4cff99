/**
 * Scalar functions as loop IR, run with exact primitive operations: within their bounds of tables computed with mpmath
 * (math/make_tables.py), exact where they promise it, total, and composed of primitive operations only.
 */
import { assert, assertEquals } from "@std/assert";
import { isFloat, type ValueType } from "../lib/base/dtype.ts";
import type { Statement } from "../lib/loops/ir.ts";
import { functionOf, fusedFunction, isPrimitive, type ScalarFunction } from "../lib/loops/math/function.ts";
import type { Arithmetic } from "../lib/loops/math/body.ts";
import { type Definition, definitionOf } from "../lib/loops/math/table.ts";
import { admits, SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { evaluate } from "./math/evaluate.ts";
import { fmaDouble, fmaSingle } from "./math/exact_fma.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";
import { error, type FloatType, fromHex, LAYOUT, type Sample, samplesOf, unitOf } from "./math/samples.ts";
import tables from "./math/tables.json" with { type: "json" };

const TYPES: readonly ValueType[] = ["float32", "float64", "int64", "int32", "bool"];
const NAMES = Object.keys(SCALAR_OPS).filter((name): name is ScalarOpName => Object.hasOwn(SCALAR_OPS, name));

/** All functions. */
const FUNCTIONS: readonly ScalarFunction[] = NAMES.flatMap((op) =>
  TYPES.filter((dtype) => !isPrimitive(op, dtype)).map((dtype) => functionOf(op, dtype))
);

/** The largest error among samples, and where. */
function worst(
  f: ScalarFunction,
  samples: readonly Sample[],
  { atLeast, arithmetic }: Pick<Definition, "atLeast"> & { readonly arithmetic: Arithmetic },
): { ulps: number; at: readonly number[] } {
  const { dtype } = f;
  assert(dtype === "float32" || dtype === "float64");
  let found = { ulps: 0, at: samples[0]?.args ?? [] };
  for (const sample of samples) {
    const ulps = error(Number(evaluate(f, sample.args, arithmetic)), sample, { dtype, atLeast });
    if (!(ulps <= found.ulps)) found = { ulps, at: sample.args };
  }
  return found;
}

const TABLES = new Map(Object.entries(tables));

/** Error that a second rounding of fma may add, in units in the last place. */
const TWICE = 0.5;

for (const f of FUNCTIONS) {
  const text = TABLES.get(f.name), { dtype } = f;
  if (text === undefined || (dtype !== "float32" && dtype !== "float64")) continue;
  Deno.test(`math: ${f.name} is within its bound`, () => {
    const samples = samplesOf(text, { arity: f.parameters.length, dtype });
    assert(samples.length > 150, `Expected a table of ${f.name} but found ${samples.length} samples`);
    const definition = definitionOf(f.op, dtype);
    assert(definition);
    const { ulps, at } = worst(f, samples, { ...definition, arithmetic: "exact" });
    if (Deno.env.get("MATH_REPORT")) {
      console.log(`${f.name} weight ${f.weight} ulps ${ulps.toFixed(3)} of ${definition.ulps}`);
    }
    assert(ulps <= definition.ulps, `Expected at most ${definition.ulps} ulp but found ${ulps} at ${at}`);
  });
}

for (const [name, text] of TABLES) {
  const f = FUNCTIONS.find((each) => each.name === name);
  if (f?.dtype !== "float32" || isPrimitive(f.op, "float32", "single")) continue;
  Deno.test(`math: ${name} is within its bound where fma rounds twice`, () => {
    const samples = samplesOf(text, { arity: f.parameters.length, dtype: "float32" });
    const definition = definitionOf(f.op, "float32", "single");
    assert(definition);
    const single = functionOf(f.op, "float32", "single");
    const { ulps, at } = worst(single, samples, { ...definition, arithmetic: "single" });
    const bound = definition.ulps + TWICE;
    if (Deno.env.get("MATH_REPORT")) {
      console.log(`${f.name} weight ${single.weight} ulps ${ulps.toFixed(3)} of ${bound}`);
    }
    assert(ulps <= bound, `Expected at most ${bound} ulp but found ${ulps} at ${at}`);
  });
}

/** Returns whether an operation accepts operands of a type. */
const takes = (op: ScalarOpName, dtype: ValueType): boolean => admits(SCALAR_OPS[op].operands, dtype);

Deno.test("math: an operation is primitive on all types that it takes, or on none", () => {
  for (const op of NAMES) {
    const types = TYPES.filter((dtype) => takes(op, dtype)),
      given = types.filter((dtype) => !isPrimitive(op, dtype));
    assert(
      given.length === 0 || given.length === types.length,
      `Expected functions of all types for ${op} but found ${given}`,
    );
    for (const dtype of TYPES) {
      assert(types.includes(dtype) || isPrimitive(op, dtype), `Expected no ${op} of ${dtype}`);
    }
  }
});

Deno.test("math: every function of floats has a table", () => {
  const exact: readonly ScalarOpName[] = ["sign", "truncMod", "floorMod", "floatToHalf", "floatToBfloat"];
  const expected = FUNCTIONS.filter((f) => isFloat(f.dtype) && !exact.includes(f.op)).map((f) => f.name);
  assertEquals([...TABLES.keys()].sort(), expected.sort());
});

Deno.test("math: bodies are straight-line code that uses its definitions, and call each other without cycles", () => {
  const done = new Set<string>();
  const visit = (f: ScalarFunction, path: readonly string[]): void => {
    assert(!path.includes(f.name), `Expected no cycle but found ${path} ${f.name}`);
    if (done.has(f.name)) return;
    const types = new Map(f.parameters.map((p) => [p.id, p.dtype]));
    const walk = (
      body: readonly Statement[],
      visible: ReadonlyMap<number, ValueType>,
    ): ReadonlyMap<number, ValueType> => {
      const known = new Map(visible);
      const type = (id: number): ValueType => {
        const found = known.get(id);
        assert(found, `Expected value ${id} of ${f.name} to be defined before its use`);
        return found;
      };
      for (const s of body) {
        if (s.kind === "scalar") {
          const operands = s.args.map(type), [first = "bool"] = operands;
          assert(
            operands.every((each) => each === first) && takes(s.op, first),
            `Expected operands of ${s.op} but found ${operands}`,
          );
          if (!isPrimitive(s.op, first)) visit(functionOf(s.op, first), [...path, f.name]);
        } else if (s.kind === "cast") type(s.value);
        else if (s.kind === "select") [s.condition, s.then, s.otherwise].forEach(type);
        else if (s.kind === "masked") {
          [s.condition, s.otherwise].forEach(type);
          assertEquals(walk(s.body, known).get(s.value), s.dtype);
        } else assertEquals(s.kind, "constant");
        if (s.kind !== "store" && s.kind !== "loop") known.set(s.id, s.dtype);
      }
      return known;
    };
    assertEquals(walk(f.body, types).get(f.result.id), f.result.dtype);
    assert(f.weight > 0);
    done.add(f.name);
  };
  for (const f of FUNCTIONS) visit(f, []);
});

/** Words of 64 random bits that a seed determines. */
function randomWords(seed: number): () => bigint {
  const next = randomNumbers(seed), word = () => BigInt(Math.floor(next() * 2 ** 32));
  return () => word() << 32n | word();
}

/** The float with these bits, or the lower ones of them. */
function draw(dtype: FloatType, bits: bigint): number {
  return fromHex(bits.toString(16).padStart(16, "0").slice(-LAYOUT[dtype].text), dtype);
}

Deno.test("math: float32 functions at random arguments agree with float64 ones", () => {
  const seed = testSeed(), bits = randomWords(seed);
  const cases = { exp: Math.exp, log: Math.log, sin: Math.sin, cos: Math.cos, tanh: Math.tanh } as const;
  for (const op of ["exp", "log", "sin", "cos", "tanh"] as const) {
    const f = functionOf(op, "float32"), definition = definitionOf(op, "float32");
    assert(definition);
    for (let n = 0; n < 4000; n++) {
      // Any float in turn with one of a usual size
      const x = n % 2 === 0
        ? draw("float32", bits())
        : Math.fround((Number(bits() >> 40n) / 2 ** 24 - 0.5) * 40);
      const exact = cases[op](x), nearest = Math.fround(exact), result = Number(evaluate(f, [x]));
      const unit = Number.isFinite(nearest) ? unitOf(nearest, "float32") : 1;
      const sample = { args: [x], nearest, above: Number.isFinite(nearest) ? (exact - nearest) / unit : 0 };
      const ulps = error(result, sample, { dtype: "float32", atLeast: undefined });
      // The other side may be wrong by a unit of float64
      assert(
        ulps <= definition.ulps + 1e-6,
        `Expected ${op} ${x} to be ${nearest} but found ${result}, ${ulps} ulp, seed ${seed}`,
      );
    }
  }
});

Deno.test("math: remainders of floats are exact", () => {
  const bits = randomWords(7),
    special = [0, -0, 1, -1, 2.5, -3, Infinity, -Infinity, NaN, 2 ** -149, 2 ** -1074];
  for (const dtype of ["float32", "float64"] as const) {
    const round = dtype === "float32" ? Math.fround : (x: number) => x;
    const pairs = special.flatMap((a) => special.map((b) => [round(a), round(b)] as const));
    for (let n = 0; n < 600; n++) pairs.push([draw(dtype, bits()), draw(dtype, bits())]);
    for (let n = 0; n < 200; n++) {
      pairs.push([round(Number(bits() >> 20n)), round(Number(bits() >> 54n) / 8 - 60)]);
    }
    const truncMod = functionOf("truncMod", dtype), floorMod = functionOf("floorMod", dtype);
    for (const [a, b] of pairs) {
      const rest = a % b, floor = rest !== 0 && (rest < 0) !== (b < 0) ? round(rest + b) : rest;
      assertEquals(evaluate(truncMod, [a, b]), rest, `${a} % ${b}`);
      assertEquals(evaluate(floorMod, [a, b]), floor, `floorMod(${a}, ${b})`);
    }
  }
});

Deno.test("math: the sign of floats is ±1, and zeros and NaN are unchanged", () => {
  for (const dtype of ["float32", "float64"] as const) {
    const sign = functionOf("sign", dtype);
    for (const x of [0, -0, 3, -3, Infinity, -Infinity, NaN, 2 ** -149]) {
      assertEquals(evaluate(sign, [x]), Math.sign(x));
    }
  }
});

Deno.test("math: integer functions agree with bigint", () => {
  const floorMod = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;
  const power = (a: bigint, b: bigint, bits: bigint): bigint => {
    if (b < 0n) return a === 1n ? 1n : a === -1n ? (b % 2n === 0n ? 1n : -1n) : 0n;
    let result = 1n;
    for (const digit of b.toString(2)) {
      result = BigInt.asIntN(Number(bits), result * result * (digit === "1" ? a : 1n));
    }
    return result;
  };
  const expected = {
    sign: (a: bigint) => a > 0n ? 1n : a < 0n ? -1n : 0n,
    truncMod: (a: bigint, b: bigint) => b === 0n ? 0n : a % b,
    floorDiv: (a: bigint, b: bigint) => b === 0n ? 0n : (a - floorMod(a, b)) / b,
    floorMod: (a: bigint, b: bigint) => b === 0n ? 0n : floorMod(a, b),
    pow: power,
  } as const;
  const random = randomWords(11);
  for (const [dtype, bits] of [["int32", 32], ["int64", 64]] as const) {
    const wrap = (x: bigint) => BigInt.asIntN(bits, x), least = -(2n ** BigInt(bits - 1));
    const few = [0n, 1n, -1n, 2n, -2n, 3n, 7n, -7n, 255n, 256n, least, -least - 1n];
    const pairs = few.flatMap((a) => few.map((b) => [a, b] as const));
    for (let n = 0n; n < 500n; n++) {
      pairs.push([
        wrap(random()) >> (n % 63n) % BigInt(bits),
        wrap(random()) >> (n % 61n) % BigInt(bits),
      ]);
    }
    for (const op of ["sign", "truncMod", "floorDiv", "floorMod", "pow"] as const) {
      const f = functionOf(op, dtype), of = (x: bigint) => dtype === "int64" ? x : Number(x);
      for (const [a, b] of pairs) {
        const found = BigInt(evaluate(f, f.parameters.map((_, at) => of(at === 0 ? a : b))));
        assertEquals(found, wrap(expected[op](a, b, BigInt(bits))), `${op} of ${a}, ${b} as ${dtype}`);
      }
    }
  }
});

/** Philox 4×32-10 as its paper writes it. */
function philox(key: readonly [bigint, bigint], counter: bigint): bigint {
  const word = (x: bigint) => BigInt.asUintN(32, x);
  let [c0, c1, c2, c3] = [word(counter), 0n, 0n, 0n], [k0, k1] = key.map(word);
  for (let round = 0; round < 10; round++) {
    assert(k0 !== undefined && k1 !== undefined);
    const left = c0 * 0xd2511f53n, right = c2 * 0xcd9e8d57n;
    [c0, c1, c2, c3] = [right >> 32n ^ c1 ^ k0, word(right), left >> 32n ^ c3 ^ k1, word(left)];
    k0 = word(k0 + 0x9e3779b9n);
    k1 = word(k1 + 0xbb67ae85n);
  }
  return c0;
}

Deno.test("math: random bits are the first word of Philox 4×32-10", () => {
  // The known answer of its authors' implementation for keys and counters of 0
  assertEquals(philox([0n, 0n], 0n), 0x6627e8d5n);
  const forms = [functionOf("random", "int32"), functionOf("random", "int32", "wide")], bits = randomWords(5);
  const draw = () => BigInt.asIntN(32, bits());
  const triples = [
    [0n, 0n, 0n],
    [-1n, -1n, -1n],
    ...Array.from({ length: 200 }, () => [draw(), draw(), draw()]),
  ];
  for (const [k0 = 0n, k1 = 0n, counter = 0n] of triples) {
    const expected = Number(BigInt.asIntN(32, philox([k0, k1], counter)));
    for (const f of forms) assertEquals(evaluate(f, [k0, k1, counter].map(Number)), expected);
  }
});

Deno.test("math: the test's own fma rounds once", () => {
  // Rounded to float64, the sum is a tie of float32; it lies 2⁻⁵⁶ below that
  const [a, b, c] = [2 ** -24 + 2 ** -40, 1 - 2 ** -16, 1 + 2 ** -23];
  assertEquals(Math.fround(a * b + c), 1 + 2 ** -22);
  assertEquals(fmaSingle(a, b, c), 1 + 2 ** -23);
  assertEquals(fmaSingle(1 + 2 ** -12, 1 + 2 ** -12, -1), 2 ** -11 + 2 ** -24);
  assertEquals(fmaDouble(1 + 2 ** -52, 1 + 2 ** -52, -1), 2 ** -51 + 2 ** -104);
  assertEquals(fmaDouble(2 ** -600, 2 ** -474, -0), 2 ** -1074);
  assertEquals(fmaDouble(3 * 2 ** -600, 2 ** -476, 0), 2 ** -1074);
  assertEquals(fmaDouble(2 ** 600, 2 ** 600, -Infinity), -Infinity);
  assertEquals(fmaDouble(2 ** 512, 2 ** 512, -Number.MAX_VALUE), 2 ** 971);
});

Deno.test("math: a·b + c of targets without fma is rounded once", () => {
  const seed = testSeed(), random = randomNumbers(seed);
  const special = [
    0,
    -0,
    1,
    2 ** -1074,
    2 ** -1022 - 2 ** -1074,
    Number.MAX_VALUE,
    Infinity,
    NaN,
    1 + 2 ** -52,
  ];
  const ends = [...special, -1, -(2 ** -1074), 2 ** -537, 3 * 2 ** -538, 2 ** 512, 3 * 2 ** -600, -Infinity];
  const number = (exponent: number) => (random() - 0.5) * 2 ** exponent;
  const triples = ends.flatMap((a) =>
    ends.flatMap((b) => special.map((c): [number, number, number] => [a, b, c]))
  );
  for (let n = 0; n < 400; n++) {
    // Products of all sizes, with addends of all distances from them, and results that are subnormal
    const sum = n % 2 ? -1060 + 40 * random() : 2000 * random() - 1000, part = 500 * random();
    const a = number(part), b = number(sum - part), near = sum + 240 * random() - 120;
    triples.push([a, b, number(near)], [a, b, -a * b * (1 + 2 ** -52)]);
  }
  const forms = { float64: fmaDouble, float32: fmaSingle } as const;
  for (const dtype of ["float64", "float32"] as const) {
    const f = fusedFunction(dtype), round = dtype === "float64" ? Number : Math.fround;
    for (const triple of sampleBySeed(triples, 800)) {
      const [a, b, c] = triple.map(round), want = forms[dtype](a ?? 0, b ?? 0, c ?? 0);
      assertEquals(evaluate(f, [a ?? 0, b ?? 0, c ?? 0], "exact"), want, `${dtype} ${triple}, seed ${seed}`);
    }
  }
});
