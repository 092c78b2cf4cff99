/**
 * Scalar functions on the WebGPU device: within a bound of the tables by which their bodies are tested. The language
 * allows an implementation to fuse, regroup and flush subnormal numbers to zero, so the bounds are wider than those of
 * CPUs.
 */
import { assert } from "@std/assert";
import type { Body } from "../lib/loops/body.ts";
import { definitionOf } from "../lib/loops/math/table.ts";
import { SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { error, type Sample, samplesOf } from "./math/samples.ts";
import { toHost } from "./support/compare.ts";
import { singleOp, type TestOperand } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { runOnWebGpu } from "./support/webgpu_run.ts";
import tables from "./math/tables.json" with { type: "json" };

/** Error that an implementation may add to the bound of a body, in units in the last place. */
const FREEDOM = 1;
/** The bound of what the language has itself: 2 units, and the rounding of its operand. */
const NATIVE = 2.5;

const NAMES = Object.keys(SCALAR_OPS).filter((name): name is ScalarOpName => Object.hasOwn(SCALAR_OPS, name));
const TABLES = new Map(Object.entries(tables));

/**
 * Returns whether a number may be affected by flushing subnormals to zero, which the language permits, also for
 * intermediate results.
 */
const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -120;

function apply<V>(o: Body<V>, op: ScalarOpName, args: readonly V[]): V {
  const result: V = Reflect.apply(o[op], o, args);
  return result;
}

/** The results of an operation on columns of operands. */
function results(op: ScalarOpName, columns: readonly (readonly number[])[]): Float32Array {
  const shape = [columns[0]?.length ?? 0];
  const program = singleOp(
    columns.map(() => ({ shape, dtype: "float32" })),
    [{ shape, dtype: "float32" }],
    (...xs) => ({
      kind: "pointwise",
      shape,
      dtype: "float32",
      element: (o, index) => apply(o, op, xs.map((x) => o.load(x, index))),
    }),
  );
  const found = new Float32Array(shape[0] ?? 0);
  runOnWebGpu(program, { inputs: columns.map((column) => toHost("float32", column)), outputs: [found] });
  return found;
}

const SMALL = Math.fround(1e-6);

/** Expressions that compilers simplify as if no number were NaN, infinite or −0, and their true values. */
const ALGEBRA: Readonly<
  Record<
    string,
    { readonly body: <V>(o: Body<V>, x: V, y: V) => V; readonly of: (x: number, y: number) => number }
  >
> = {
  "x − x": { body: (o, x) => o.sub(x, x), of: (x) => x - x },
  "x + −x": { body: (o, x) => o.add(x, o.neg(x)), of: (x) => x + -x },
  "x + y − y": { body: (o, x, y) => o.sub(o.add(x, y), y), of: (x, y) => Math.fround(x + y) - y },
  "x − y + 10⁻⁶": {
    body: (o, x, y) => o.add(o.sub(x, y), o.constant(SMALL, "float32")),
    of: (x, y) => Math.fround(x - y) + SMALL,
  },
  "x + 10⁻⁶ − y": {
    body: (o, x, y) => o.sub(o.add(x, o.constant(SMALL, "float32")), y),
    of: (x, y) => Math.fround(x + SMALL) - y,
  },
  "x / x": { body: (o, x) => o.div(x, x), of: (x) => x / x },
  "x · y / y": { body: (o, x, y) => o.div(o.mul(x, y), y), of: (x, y) => Math.fround(x * y) / y },
  "x · 0": { body: (o, x) => o.mul(x, o.constant(0, "float32")), of: (x) => x * 0 },
  "0 / x": { body: (o, x) => o.div(o.constant(0, "float32"), x), of: (x) => 0 / x },
  "x + 0": { body: (o, x) => o.add(x, o.constant(0, "float32")), of: (x) => x + 0 },
  "x · (0 < y)": {
    body: (o, x, y) => o.mul(x, o.cast(o.lt(o.constant(0, "float32"), y), "float32")),
    of: (x, y) => x * Number(0 < y),
  },
  "0 where x < 0, else x": {
    body: (o, x) => o.select(o.lt(x, o.constant(0, "float32")), o.constant(0, "float32"), x),
    of: (x) => x < 0 ? 0 : x,
  },
  "y where x ≤ y, else x": { body: (o, x, y) => o.select(o.le(x, y), y, x), of: (x, y) => x <= y ? y : x },
  "y where x > y, else x": { body: (o, x, y) => o.select(o.gt(x, y), y, x), of: (x, y) => x > y ? y : x },
  "y where x ≥ y, else x": { body: (o, x, y) => o.select(o.ge(x, y), y, x), of: (x, y) => x >= y ? y : x },
};

/** Numbers whose pairs show it. Those of 2.3125 and 9.25 divide without a rest, if not by their reciprocals. */
const OPERANDS = [NaN, Infinity, -Infinity, 0, -0, 1, -2.5, 1e30, 3e38, 27.75, 2.3125, 138.75, 9.25];

Deno.test({
  name: "webgpu: what holds of finite numbers alone, or of exact ones, is not assumed",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await initWebGpu();
    const pairs = OPERANDS.flatMap((x) => OPERANDS.map((y) => [Math.fround(x), Math.fround(y)] as const));
    const shape = [pairs.length], input: TestOperand = { shape, dtype: "float32" };
    for (const [name, { body, of }] of Object.entries(ALGEBRA)) {
      const program = singleOp([input, input], [input], (x, y) => ({
        kind: "pointwise",
        ...{ shape, dtype: "float32" },
        element: (o, index) => body(o, o.load(x, index), o.load(y, index)),
      }));
      const found = new Float32Array(pairs.length);
      const inputs = [0, 1].map((k) => toHost("float32", pairs.map((pair) => pair[k] ?? 0)));
      runOnWebGpu(program, { inputs, outputs: [found] });
      pairs.forEach(([x, y], at) => {
        const expected = Math.fround(of(x, y)), result = found[at] ?? 0;
        assert(
          Object.is(result, expected) || Math.abs(result - expected) <= 2 ** -22 * Math.abs(expected),
          `Expected ${name} to be ${expected} for x = ${x}, y = ${y} but found ${result}`,
        );
      });
    }
  },
});

for (const op of NAMES) {
  const text = TABLES.get(`${op}_f32`);
  if (text === undefined) continue;
  Deno.test({
    name: `webgpu: ${op} is within its bound`,
    ignore: SKIP_WEBGPU,
    fn: async () => {
      await initWebGpu();
      const { arity } = SCALAR_OPS[op], definition = definitionOf(op, "float32", "single");
      const samples = samplesOf(text, { arity, dtype: "float32" })
        .filter(({ args, nearest }) => ![...args, nearest].some(isSubnormal));
      const found = results(
        op,
        Array.from({ length: arity }, (_, k) => samples.map(({ args }) => args[k] ?? 0)),
      );
      const bound = definition ? definition.ulps + FREEDOM : NATIVE;
      const ulps = (sample: Sample, at: number): number =>
        error(found[at] ?? NaN, sample, { dtype: "float32", atLeast: definition?.atLeast });
      samples.forEach((sample, at) => {
        const off = ulps(sample, at);
        assert(
          off <= bound,
          `Expected ${op}(${sample.args}) to be ${sample.nearest} but found ${found[at]}: ${off} ulp`,
        );
      });
    },
  });
}
