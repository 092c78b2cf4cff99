/**
 * The pass that tiles reads across rows by squares: what it copies, what it leaves, and that every element is
 * unchanged.
 */
import { assertEquals } from "@std/assert";
import { transposedTiles } from "../lib/codegen/transposed_tiles.ts";
import type { Element, Lowered, Operand } from "../lib/loops/body.ts";
import type { Program, Statement } from "../lib/loops/ir.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { interpret } from "./reference/interpret.ts";
import { toHost } from "./support/compare.ts";
import { singleOp } from "./support/single_op.ts";

const LANES = 16;

interface Read {
  readonly lines: number;
  /** Elements from one row of the operand to the next. */
  readonly row: number;
  readonly element: (x: Operand) => Element;
}

const innermostInLanes = (body: readonly Statement[]): readonly Statement[] =>
  body.map((s) =>
    s.kind === "loop"
      ? { ...s, vector: s.body.every(({ kind }) => kind !== "loop"), body: innermostInLanes(s.body) }
      : s
  );

/** Element (line, lane) of the result from element (lane, line) of an operand with longer rows, in lanes. */
function program({ lines, row, element }: Read): Program {
  const operand = { shape: [LANES, row], dtype: "float32" } as const;
  const result = { shape: [lines, LANES], dtype: "float32" } as const;
  const whole = singleOp([operand], [result], (x: Operand): Lowered => ({
    kind: "pointwise",
    ...result,
    element: element(x),
  }));
  return {
    ...whole,
    kernels: whole.kernels.map((k) => k.kind === "loops" ? { ...k, body: innermostInLanes(k.body) } : k),
  };
}

/** The lengths of the squares that a program has, after it has been seen to compute the same. */
function squares(read: Read): readonly unknown[] {
  const whole = program(read), made = transposedTiles(whole);
  verifyProgram(made);
  const run = (each: Program): number[] => {
    const values = toHost("float32", Array.from({ length: LANES * read.row }, (_, k) => k % 1013 - 7));
    const output = toHost("float32", new Array(LANES * read.lines).fill(NaN));
    interpret(each, { inputs: [values], outputs: [output] });
    return [...output].map(Number);
  };
  assertEquals(run(made), run(whole));
  return made.buffers.flatMap(({ role, length }) => role.kind === "local" ? [length] : []);
}

const transposed = (x: Operand): Element => (o, [line = 0, lane = 0]) => o.load(x, [lane, line]);

Deno.test("transposed tiles: copies are made by squares, if lines fill several", () => {
  assertEquals(squares({ lines: 48, row: 50, element: transposed }), [16 * LANES]);
  assertEquals(squares({ lines: 28, row: 28, element: transposed }), [14 * LANES]);
  assertEquals(squares({ lines: 31, row: 31, element: transposed }), []);
});

Deno.test("transposed tiles: computations are tiled too, if rows share cache lines", () => {
  const twice = (x: Operand): Element => (o, at) => o.add(transposed(x)(o, at), transposed(x)(o, at));
  const sine = (x: Operand): Element => (o, at) => o.sin(transposed(x)(o, at));
  assertEquals(squares({ lines: 32, row: 512, element: twice }), [17 * LANES]);
  assertEquals(squares({ lines: 32, row: 500, element: twice }), []);
  assertEquals(squares({ lines: 32, row: 512, element: sine }), [17 * LANES]);
});

Deno.test("transposed tiles: elements that are adjacent in lanes are unchanged", () => {
  const plain = (x: Operand): Element => (o, [line = 0, lane = 0]) => o.load(x, [line, lane]);
  assertEquals(squares({ lines: 16, row: 16, element: plain }), []);
});
