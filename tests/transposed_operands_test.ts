/**
 * The pass that transposes operands which many products read by columns: what it copies, what it leaves, and that
 * results are the same.
 */
import { assertEquals } from "@std/assert";
import { rowMajor } from "../lib/codegen/kernels.ts";
import { transposedOperands } from "../lib/codegen/transposed_operands.ts";
import type { BufferDecl, BufferView, ExternKernel, Kernel, Program } from "../lib/loops/ir.ts";
import { recordLowered } from "../lib/loops/nest.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { interpret } from "./reference/interpret.ts";
import { toHost } from "./support/compare.ts";

const ROWS = 5, DEPTH = 6, COLUMNS = 7;

interface Given {
  readonly products: number;
  readonly rows?: number;
  /** Behind which product the weight is written. */
  readonly written?: number;
  /** Whether the weight is row-major. */
  readonly byRows?: boolean;
}

/** Steps h·Wᵀ of one weight, each over an input of its own. */
function steps({ products, rows = ROWS, written, byRows = false }: Given): Program {
  const float = (name: string, length: number, role: BufferDecl["role"]): BufferDecl => ({
    name,
    dtype: "float32",
    length,
    role,
  });
  const buffers = [float("w", DEPTH * COLUMNS, { kind: "input", written: written !== undefined })];
  const weight: BufferView = {
    buffer: 0,
    offset: 0,
    shape: [DEPTH, COLUMNS],
    strides: byRows ? [COLUMNS, 1] : [1, DEPTH],
  };
  const kernels: Kernel[] = [], inputs = [0], outputs: number[] = [];
  for (let k = 0; k < products; k++) {
    inputs.push(buffers.push(float(`x${k}`, rows * DEPTH, { kind: "input", written: false })) - 1);
    outputs.push(buffers.push(float(`y${k}`, rows * COLUMNS, { kind: "output" })) - 1);
    const product: ExternKernel = {
      kind: "extern",
      name: `product${k}`,
      call: { op: "matmul", accumulate: false },
      inputs: [rowMajor(inputs.at(-1) ?? 0, [rows, DEPTH]), weight],
      outputs: [rowMajor(outputs.at(-1) ?? 0, [rows, COLUMNS])],
      origins: [],
    };
    kernels.push(product);
    if (written !== k) continue;
    const whole = { ...rowMajor(0, [DEPTH * COLUMNS]), dtype: "float32" } as const;
    const { shape, dtype } = whole;
    kernels.push(
      recordLowered(
        {
          kind: "pointwise",
          shape,
          dtype,
          element: (o, at) => o.mul(o.load(whole, at), o.constant(2, dtype)),
        },
        [whole],
        { name: "twice" },
      ),
    );
  }
  const program = { name: "steps", buffers, inputs, outputs, sizes: [], arenaBytes: 0, kernels };
  verifyProgram(program);
  return program;
}

function run({ inputs, outputs, buffers }: Program, program: Program): number[][] {
  const sizeOf = (id: number): number => Number(buffers[id]?.length ?? 0);
  const given = inputs.map((id) =>
    toHost("float32", Array.from({ length: sizeOf(id) }, (_, k) => (k * 7 + id) % 11 - 5))
  );
  const results = outputs.map((id) => toHost("float32", new Array(sizeOf(id)).fill(NaN)));
  interpret(program, { inputs: given, outputs: results });
  return results.map((each) => [...each].map(Number));
}

/** Returns strides and buffers of the second operands of products. */
const operands = ({ kernels }: Program) =>
  kernels.flatMap((k) => k.kind === "extern" ? [[k.inputs[1]?.buffer, ...k.inputs[1]?.strides ?? []]] : []);

Deno.test("transposed operands: a weight of many steps is copied once, before them", () => {
  const before = steps({ products: 9 }), after = transposedOperands(before, nativeTarget);
  verifyProgram(after);
  assertEquals(after.kernels.map(({ kind }) => kind), ["loops", ...new Array(9).fill("extern")]);
  // Rows are whole lines, and one apart
  assertEquals(operands(after), new Array(9).fill([19, 32, 1]));
  assertEquals(run(before, after), run(before, before));
});

Deno.test("transposed operands: a weight that is written after the last step is copied too", () => {
  const before = steps({ products: 8, written: 7 }), after = transposedOperands(before, nativeTarget);
  verifyProgram(after);
  assertEquals(after.kernels.length, before.kernels.length + 1);
  assertEquals(run(before, after), run(before, before));
});

Deno.test("transposed operands: few products, many rows, weights by rows and changing weights are unchanged", () => {
  const others: Given[] = [
    { products: 7 },
    { products: 8, rows: 3 },
    { products: 8, rows: nativeTarget.rowsInPlace + 1 },
    { products: 8, byRows: true },
    { products: 8, written: 3 },
  ];
  for (const given of others) {
    const before = steps(given);
    assertEquals(transposedOperands(before, nativeTarget), before, Deno.inspect(given));
  }
});
