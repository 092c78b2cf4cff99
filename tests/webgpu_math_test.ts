/**
 * Scalar functions on the WebGPU device: within a bound of the tables that bodies are held to. The language lets an
 * implementation fuse, regroup and flush what is subnormal to zero, so that the bounds are wider than those of CPUs.
 */
import { assert } from "@std/assert";
import type { Body } from "../lib/loops/body.ts";
import { definitionOf } from "../lib/loops/math/table.ts";
import { SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { error, type Sample, samplesOf } from "./math/samples.ts";
import { toHost } from "./support/compare.ts";
import { singleOp } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { runOnWebGpu } from "./support/webgpu_run.ts";
import tables from "./math/tables.json" with { type: "json" };

/** What an implementation may add to the bound of a body, in units in the last place. */
const FREEDOM = 1;
/** The bound of what the language has itself: 2 units, and the rounding of its operand. */
const NATIVE = 2.5;

const NAMES = Object.keys(SCALAR_OPS).filter((name): name is ScalarOpName => Object.hasOwn(SCALAR_OPS, name));
const TABLES = new Map(Object.entries(tables));

/** Whether subnormal numbers take part, which the language may take for zero. */
const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -126;

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
