/**
 * Programs printed as JavaScript against the reference interpreter: symbolic sizes, temporaries, masks, indirect
 * loads, nested extremes, scans, scatters, epilogues; and the functions that generated code calls.
 */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { interpret } from "../backends/reference/interpret.ts";
import * as math from "../backends/js/math.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { sizeClass } from "../backends/memory/size_class.ts";
import { compileToJavaScript } from "../backends/js/program.ts";
import { type DType, type HostArray, hostArray } from "../lib/base/dtype.ts";
import type { Lowered, Operand } from "../lib/loops/body.ts";
import type { BufferDecl, Kernel, Program } from "../lib/loops/ir.ts";
import { recordLowered } from "../lib/loops/nest.ts";
import type { BufferOperand } from "../lib/loops/record.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { add, type Dim, evaluate, floorDiv, mod, mul, type Sym, symbol } from "../lib/sym/expr.ts";

const decider = { hintOf: () => 4, assume: () => {} };

/** A program under construction: buffers and one kernel per lowering. */
class Builder {
  readonly buffers: BufferDecl[] = [];
  readonly kernels: Kernel[] = [];
  readonly sizes: Sym[] = [];
  #arena: Dim = 0;

  size(name: string): Sym {
    const made = symbol(name, { kind: "size", decider }, [1, 1000]);
    this.sizes.push(made);
    return made;
  }

  buffer(
    role: "input" | "output" | "temporary",
    shape: readonly Dim[],
    dtype: DType = "float32",
  ): BufferOperand {
    const length = shape.reduce<Dim>(mul, 1);
    const strides = shape.map((_, d) => shape.slice(d + 1).reduce<Dim>(mul, 1));
    const offset = this.#arena;
    // every temporary takes a whole number of 64-byte blocks
    if (role === "temporary") this.#arena = add(offset, mul(64, add(floorDiv(mul(length, 8), 64), 1)));
    this.buffers.push({
      name: `${role}${this.buffers.length}`,
      dtype,
      length,
      role: role === "input"
        ? { kind: "input", written: false }
        : role === "output"
        ? { kind: "output" }
        : { kind: "temporary", offset },
    });
    return { buffer: this.buffers.length - 1, offset: 0, shape, strides, dtype };
  }

  kernel(lowered: Lowered, ...targets: readonly BufferOperand[]): void {
    this.kernels.push(recordLowered(lowered, targets, { name: `k${this.kernels.length}` }));
  }

  program(): Program {
    const of = (role: string) => this.buffers.flatMap((b, id) => b.role.kind === role ? [id] : []);
    return {
      name: "test",
      buffers: this.buffers,
      inputs: of("input"),
      outputs: of("output"),
      sizes: this.sizes,
      arenaBytes: this.#arena,
      kernels: this.kernels,
    };
  }
}

/** Runs a program both ways and compares every output. */
function check(program: Program, sizes: readonly number[] = []): number[][] {
  verifyProgram(program);
  const known = new Map(program.sizes.map((s, k) => [s, sizes[k] ?? 0]));
  const memory = (id: number, fill: boolean): { memory: HostMemory; array: HostArray } => {
    const { dtype, length } = program.buffers[id] ?? { dtype: "float32", length: 0 };
    const count = evaluate(length, (s) => known.get(s) ?? 0);
    const made = new HostMemory("cpu", new ArrayBuffer(sizeClass(count * 8)));
    const array = hostArray(dtype, made.buffer, { length: count });
    for (let k = 0; fill && k < count; k++) {
      const value = (k * 37 + id * 11) % 23 - 9;
      if (array instanceof BigInt64Array) array[k] = BigInt(value);
      else array[k] = dtype === "bool" ? value & 1 : dtype === "float32" ? value / 4 : value;
    }
    return { memory: made, array };
  };
  const inputs = program.inputs.map((id) => memory(id, true));
  const outputs = program.outputs.map((id) => memory(id, false));
  const expected = program.outputs.map((id) => memory(id, false));
  interpret(program, { inputs: inputs.map((i) => i.array), outputs: expected.map((o) => o.array), sizes });
  const compiled = compileToJavaScript(program);
  compiled.run({ inputs: inputs.map((i) => i.memory), outputs: outputs.map((o) => o.memory), sizes });
  outputs.forEach(({ array }, k) => {
    const want = numbers(expected[k]?.array ?? array);
    numbers(array).forEach((x, i) => {
      const w = want[i] ?? NaN;
      assert(
        Object.is(x, w) || x === w || Math.abs(x - w) <= 1e-6 * Math.abs(w),
        `output ${k}[${i}]: ${x}, want ${w}`,
      );
    });
  });
  return outputs.map((o) => numbers(o.array));
}

const numbers = (array: HostArray): number[] => Array.from<number | bigint, number>(array, Number);

const pointwise = (
  shape: readonly Dim[],
  dtype: DType,
  element: (Lowered & { kind: "pointwise" })["element"],
): Lowered => ({
  kind: "pointwise",
  shape,
  dtype,
  element,
});

Deno.test("symbolic sizes and temporaries", () => {
  const b = new Builder(), n = b.size("n"), m = b.size("m");
  const x = b.buffer("input", [n, m]), y = b.buffer("input", [m]);
  const t = b.buffer("temporary", [n, m]), u = b.buffer("temporary", [n]), out = b.buffer("output", [n, m]);
  b.kernel(
    pointwise([n, m], "float32", (o, [i, j]) => o.mul(o.load(x, [i ?? 0, j ?? 0]), o.load(y, [j ?? 0]))),
    t,
  );
  b.kernel({
    kind: "reduction",
    shape: [n],
    dtype: "float32",
    op: "sum",
    over: [m],
    accumulator: "float32",
    element: (o, [i], [r]) => o.load(t, [i ?? 0, r ?? 0]),
  }, u);
  b.kernel(
    pointwise([n, m], "float32", (o, [i, j]) => o.sub(o.load(t, [i ?? 0, j ?? 0]), o.load(u, [i ?? 0]))),
    out,
  );
  const program = b.program();
  check(program, [3, 5]);
  check(program, [7, 1]);
});

Deno.test("masked loads stay inside, indirect loads go where values say", () => {
  const b = new Builder(),
    x = b.buffer("input", [4]),
    at = b.buffer("input", [6], "int64"),
    out = b.buffer("output", [6]);
  b.kernel(
    pointwise([6], "float32", (o, [i = 0]) => {
      const inside = o.lt(o.index(i, "int32"), o.constant(4, "int32"));
      const shifted = o.masked(inside, () => o.load(x, [i]), o.constant(-1, "float32"));
      const wrapped = o.floorMod(o.load(at, [i]), o.constant(4, "int64"));
      return o.add(shifted, o.load(x, [o.indirect(wrapped, 4)]));
    }),
    out,
  );
  check(b.program());
});

Deno.test("index arithmetic with quotients and remainders", () => {
  const b = new Builder(), x = b.buffer("input", [3, 4]), out = b.buffer("output", [12]);
  b.kernel(
    pointwise([12], "float32", (o, [i = 0]) => o.load(x, [mod(i, 3), floorDiv(i, 3)])),
    out,
  );
  check(b.program());
});

Deno.test("extremes over two axes report the first place, NaN before all", () => {
  const b = new Builder(), x = b.buffer("input", [2, 3, 4]), out = b.buffer("output", [2], "int64");
  const least = b.buffer("output", [2]);
  const over = { shape: [2], over: [3, 4], accumulator: "float32" } as const;
  const element: (Lowered & { kind: "reduction" })["element"] = (o, [i = 0], [r = 0, s = 0]) => {
    const value = o.load(x, [i, r, s]);
    const zero = o.eq(value, o.constant(-2.25, "float32"));
    return o.select(zero, o.constant(NaN, "float32"), value);
  };
  const position = ([r = 0, s = 0]: readonly Dim[]) => add(mul(r, 4), s);
  b.kernel({ kind: "reduction", dtype: "int64", op: "argmax", ...over, element, position }, out);
  b.kernel({ kind: "reduction", dtype: "float32", op: "min", ...over, element }, least);
  const [places = [], minima = []] = check(b.program());
  assertEquals(places.length, 2);
  assert(minima.some(Number.isNaN));
});

Deno.test("scans, scatters and every integer type", () => {
  const b = new Builder(), x = b.buffer("input", [3, 5]), k = b.buffer("input", [3, 5], "int64");
  const sums = b.buffer("output", [3, 5]),
    counts = b.buffer("output", [4], "int64"),
    small = b.buffer("output", [3, 5], "uint8");
  b.kernel({
    kind: "scan",
    shape: [3, 5],
    dtype: "float32",
    dim: 0,
    initial: 0,
    element: (o, [i = 0, j = 0]) => o.load(x, [i, j]),
    combine: (o, before, value) => o.add(before, value),
  }, sums);
  b.kernel({
    kind: "scatter",
    shape: [4],
    dtype: "int64",
    base: (o) => o.constant(10, "int64"),
    over: [3, 5],
    mode: "add",
    target: (o, [i = 0, j = 0]) => [o.indirect(o.floorMod(o.load(k, [i, j]), o.constant(4, "int64")), 4)],
    value: (o) => o.constant(1, "int64"),
  }, counts);
  b.kernel(
    pointwise([3, 5], "uint8", (o, [i = 0, j = 0]) => {
      const v = o.cast(o.load(k, [i, j]), "int32");
      const mixed = o.xor(o.shl(v, o.constant(3, "int32")), o.floorDiv(v, o.constant(2, "int32")));
      return o.cast(o.sub(mixed, o.truncMod(v, o.constant(3, "int32"))), "uint8");
    }),
    small,
  );
  const [, total = []] = check(b.program());
  assertEquals(total.reduce((a, c) => a + c, 0), 4 * 10 + 15);
});

Deno.test("library calls read strided views and hand over to their epilogue", () => {
  const b = new Builder(),
    x = b.buffer("input", [3, 2]),
    y = b.buffer("input", [4, 3]);
  const bias = b.buffer("input", [4]), out = b.buffer("output", [2, 4]);
  const transposed = (of: BufferOperand): BufferOperand => ({
    ...of,
    shape: [...of.shape].reverse(),
    strides: [...of.strides].reverse(),
  });
  const call: Lowered = {
    kind: "extern",
    call: { op: "matmul", accumulate: false },
    inputs: [transposed(x), transposed(y)] satisfies Operand[],
    outputs: [{ shape: [2, 4], dtype: "float32" }],
  };
  b.kernel(call, out);
  b.kernel(
    pointwise([2, 4], "float32", (o, [i = 0, j = 0]) => {
      const sum = o.add(o.load(out, [i, j]), o.load(bias, [j]));
      return o.maximum(sum, o.constant(0, "float32"));
    }),
    out,
  );
  const [product, epilogue] = b.kernels;
  if (product?.kind !== "extern" || epilogue?.kind !== "loops") throw new Error("Expected a call and a nest");
  b.kernels.splice(0, 2, { ...product, epilogue });
  const [found = []] = check(b.program());
  assert(found.every((v) => v >= 0) && found.some((v) => v > 0));
});

Deno.test("special functions", () => {
  assertAlmostEquals(math.erf(0.5), 0.5204998778130465, 1e-15);
  assertAlmostEquals(math.erfc(3) / 2.209049699858544e-5, 1, 1e-14);
  assertAlmostEquals(math.lgamma(0.3), 1.0957979948180756, 1e-14);
  assertAlmostEquals(math.lgamma(-1.5), 0.860047015376481, 1e-14);
  assertAlmostEquals(math.digamma(0.1), -10.423754940411076, 1e-13);
  assertEquals([0.5, 1.5, 2.5, -0.5, -1.5].map(math.roundEven), [0, 2, 2, -0, -2]);
  assertEquals(math.fma(1 + 2 ** -30, 1 - 2 ** -30, -1), -(2 ** -60));
  assertEquals(math.philox(0, 0, 0) >>> 0, 0x6627e8d5);
  assertEquals([math.pow(1, NaN), math.pow(NaN, 0), math.pow(-1, Infinity)], [1, 1, 1]);
  assertEquals(math.toBig(NaN), -(2n ** 63n));
});
