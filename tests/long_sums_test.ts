/**
 * Long float32 sums: their error is that of a few hundred additions. Sums of every length: C++ and WebAssembly give
 * the same bits, whether sizes are known when compiled or not.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, full, manualSeed, rand, type Tensor } from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { interpret } from "./reference/interpret.ts";
import { blockedSums } from "../lib/codegen/blocked_sums.ts";
import { chunkedReductions } from "../lib/codegen/threads.ts";
import type { Program, Statement } from "../lib/loops/ir.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { toHost } from "./support/compare.ts";
import "./support/devices.ts";
import { singleOp } from "./support/single_op.ts";

const loopsOf = (body: readonly Statement[]): number =>
  body.reduce((count, s) => s.kind === "loop" ? count + 1 + loopsOf(s.body) : count, 0);

/** The program with long sums cut, which must be a program. */
function cut(program: Program): Program {
  const made: Program = {
    ...program,
    kernels: program.kernels.map((k) => k.kind === "loops" ? { ...k, body: blockedSums(k.body) } : k),
  };
  verifyProgram(made);
  return made;
}

const loopCount = ({ kernels }: Program) =>
  kernels.reduce((n, k) => n + (k.kind === "loops" ? loopsOf(k.body) : 0), 0);

Deno.test("long sums are cut into blocks that hold every element once", () => {
  for (
    const [size, loops] of [[4096, 1], [4097, 2], [5120, 2], [32768, 2], [40000, 3], [65536, 3]] as const
  ) {
    const values = toHost("float32", Array.from({ length: size }, (_, k) => k % 7 - 2));
    const program = singleOp(
      [{ shape: [size], dtype: "float32" }],
      [{ shape: [], dtype: "float32" }],
      (x) => ({
        kind: "reduction",
        shape: [],
        dtype: "float32",
        op: "sum",
        over: [size],
        accumulator: "float32",
        element: (o, _, reduced) => {
          if (!x) throw new Error("Expected an operand");
          return o.mul(o.load(x, reduced), o.index(reduced[0] ?? 0, "float32"));
        },
      }),
    );
    const outcome = (each: Program) => {
      const result = toHost("float32", [0]);
      interpret(each, { inputs: [values], outputs: [result], precision: "wide" });
      return result[0];
    };
    assertEquals(loopCount(cut(program)), loops, `${size}`);
    assertEquals(outcome(cut(program)), outcome(program), `${size}`);
  }
});

Deno.test("threads divide long sums if there are few of them, which changes no order", () => {
  for (
    const [rows, size, kernels] of [[1, 70_000, 2], [3, 70_000, 2], [15, 70_000, 2], [16, 70_000, 1], [
      3,
      9000,
      1,
    ]] as const
  ) {
    const values = toHost(
      "float32",
      Array.from({ length: rows * size }, (_, k) => Math.sin(k) * 10 ** (k % 5)),
    );
    const program = singleOp(
      [{ shape: [rows, size], dtype: "float32" }],
      [{ shape: [rows], dtype: "float32" }],
      (x) => ({
        kind: "reduction",
        shape: [rows],
        dtype: "float32",
        op: "sum",
        over: [size],
        accumulator: "float32",
        element: (o, index, reduced) => o.load(x ?? { shape: [], dtype: "float32" }, [...index, ...reduced]),
      }),
    );
    const whole = cut(program), parts = chunkedReductions(whole);
    const outcome = (each: Program) => {
      const result = toHost("float32", new Array<number>(rows).fill(0));
      interpret(each, { inputs: [values], outputs: [result], precision: "exact" });
      return result.join();
    };
    assertEquals(parts.kernels.length, kernels, `${rows} rows of ${size}`);
    assertEquals(outcome(parts), outcome(whole));
  }
});

Deno.test("only sums of floats are cut", () => {
  for (const [op, dtype] of [["sum", "int64"], ["max", "float32"], ["max", "float64"]] as const) {
    const program = singleOp([{ shape: [9000], dtype }], [{ shape: [], dtype }], (x) => ({
      kind: "reduction",
      shape: [],
      dtype,
      op,
      over: [9000],
      accumulator: dtype,
      element: (o, _, reduced) => o.load(x ?? { shape: [], dtype }, reduced),
    }));
    assertEquals(loopCount(cut(program)), 1);
  }
});

const SUMS: readonly (readonly [(x: Tensor) => Tensor, readonly number[]])[] = [
  [(x) => x.sum(), [5000]],
  [(x) => x.sum(), [70001]],
  [(x) => x.square().sum(), [104729]],
  [(x) => x.sum(1), [3, 9001]],
  [(x) => x.sum(1).sqrt(), [3, 70001]],
  [(x) => x.sum([1, 3]), [2, 300, 2, 301]],
  [(x) => x.sum(0), [9001, 3]],
  [(x) => x.sum(1).add(x.amax(1)), [2, 6007]],
  // and short ones, which end within the lanes
  [(x) => x.sum(1), [7, 5]],
  [(x) => x.sum(1), [7, 23]],
  [(x) => x.add(0.5).prod(1), [7, 40]],
];

/** All of them on a device, as whole numbers of bits. */
function sums(device: string, dynamic: boolean): { bits: string; inputs: Tensor[]; results: Tensor[] } {
  manualSeed(3);
  const inputs = SUMS.map(([, shape]) => rand([...shape]).to(device));
  const all = compile((xs: readonly Tensor[]) => SUMS.map(([sum], k) => sum(xs[k] ?? xs[0]!)), {
    dynamic,
    fullgraph: true,
  });
  const results = all(inputs);
  const bits = results.map((each) => {
    const { buffer } = Float32Array.from(each.toTypedArray(), Number);
    return new Uint32Array(buffer).join();
  });
  return { bits: bits.join("; "), inputs, results };
}

Deno.test("sums of WebAssembly are those of float64 to within a few units", () => {
  for (const dynamic of [false, true]) {
    const { inputs, results } = sums("wasm", dynamic);
    results.forEach((found, k) => {
      const [sum] = SUMS[k] ?? [], exact = sum?.(inputs[k]?.cpu().double() ?? found);
      const error = found.cpu().double().sub(exact ?? found).abs().div(exact ?? found).max().item();
      assert(Number(error) < 5e-7, `sum ${k}: relative error ${error}`);
    });
  }
  const tenths = compile((x: Tensor) => x.sum())(full([4_000_000], 0.1, { device: "wasm" })).item();
  assert(Math.abs(Number(tenths) - 400000) < 0.5, `4 million tenths are ${tenths}`);
});

Deno.test({
  name: "sums of C++ are those of WebAssembly, bit by bit",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    for (const dynamic of [false, true]) assertEquals(sums("cpu", dynamic).bits, sums("wasm", dynamic).bits);
  },
});
