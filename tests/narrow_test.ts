/**
 * The pass that narrows integers to 32 bits: what it narrows, what it leaves wide, and that results are the same.
 */
import { assertEquals } from "@std/assert";
import { type HostArray, hostArray, itemSize } from "../lib/base/dtype.ts";
import { narrowIntegers } from "../lib/codegen/narrow.ts";
import type { Body, Lowered, Operand } from "../lib/loops/body.ts";
import type { Program } from "../lib/loops/ir.ts";
import { printKernel } from "../lib/loops/print.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { interpret } from "./reference/interpret.ts";
import { singleOp, type TestOperand } from "./support/single_op.ts";

const FOUR = { shape: [4], dtype: "int64" } as const satisfies TestOperand;

/** A program of what a body makes of an int64 element and its place. */
const program = (body: <V>(o: Body<V>, x: V, at: V) => V): Program =>
  singleOp([FOUR], [FOUR], (x: Operand): Lowered => ({
    kind: "pointwise",
    dtype: "int64",
    shape: [4],
    element: (o, at) => body(o, o.load(x, at), o.index(at[0] ?? 0, "int64")),
  }));

function run(program: Program, elements: readonly bigint[]): readonly bigint[] {
  const array = (): HostArray => hostArray("int64", new ArrayBuffer(4 * itemSize("int64")));
  const input = array(), output = array();
  if (!(input instanceof BigInt64Array && output instanceof BigInt64Array)) throw new Error("Expected int64");
  input.set(elements);
  interpret(program, { inputs: [input], outputs: [output] });
  return [...output];
}

const text = (program: Program): string => program.kernels.map((kernel) => printKernel(kernel)).join("");

Deno.test("narrow: positions and values derived from them have 32 bits, elements of memory keep 64", () => {
  const before = program((o, x, at) =>
    o.add(x, o.select(o.lt(at, o.constant(2n, "int64")), o.mul(at, at), at))
  );
  const after = narrowIntegers(before, nativeTarget);
  verifyProgram(after);
  const elements = [2n ** 40n, -(2n ** 62n), 3n, 2n ** 63n - 1n];
  assertEquals(run(after, elements), run(before, elements));
  // The product of places is small; its sum with an element is not
  const wide = text(after).split("\n").filter((line) => line.includes("int64"));
  assertEquals(wide.map((line) => line.trim().replace(/^\S+ = /, "").split(/[ (\[]/)[0]), [
    "b0",
    "cast",
    "add",
  ]);
});

Deno.test("narrow: values that may exceed 32 bits stay wide, even if each operand is small", () => {
  const large = 2n ** 31n - 2n;
  const before = program((o, _x, at) =>
    o.mul(o.add(at, o.constant(large, "int64")), o.constant(2n, "int64"))
  );
  const after = narrowIntegers(before, nativeTarget);
  verifyProgram(after);
  assertEquals(run(after, [0n, 0n, 0n, 0n]), [0n, 1n, 2n, 3n].map((at) => (at + large) * 2n));
});

Deno.test("narrow: a small result of wide operands is computed wide", () => {
  const before = program((o, _x, at) =>
    o.floorMod(o.mul(at, o.constant(2n ** 30n, "int64")), o.constant(7n, "int64"))
  );
  const after = narrowIntegers(before, nativeTarget);
  verifyProgram(after);
  assertEquals(run(after, [0n, 0n, 0n, 0n]), [0n, 1n, 2n, 3n].map((at) => at * 2n ** 30n % 7n));
});

Deno.test("narrow: without int64 all arithmetic has 32 bits, and memory keeps its type", () => {
  const before = program((o, x, at) => o.sub(o.add(x, at), o.constant(5n, "int64")));
  const after = narrowIntegers(
    before,
    webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true),
  );
  verifyProgram(after);
  assertEquals(run(after, [1n, -2n, 3n, -4n]), [-4n, -6n, 0n, -6n]);
  assertEquals(/(add|sub).*int64/.test(text(after)), false);
});
