/**
 * The pass that cuts loops where conditions on their counters change: which loops it cuts, which it leaves whole, and
 * that every element is unchanged.
 */
import { assertEquals } from "@std/assert";
import { splitIndexSets, splitOutermost } from "../lib/codegen/index_set_splitting.ts";
import { axisOf, isFixed, lengthOf } from "../lib/codegen/strip_mining.ts";
import type { Body, Element, Lowered, Operand } from "../lib/loops/body.ts";
import type { Program, Statement } from "../lib/loops/ir.ts";
import { add, type Decider, type Dim, max, min, mod, mul, sub, symbol } from "../lib/sym/expr.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { interpret } from "./reference/interpret.ts";
import { toHost } from "./support/compare.ts";
import { singleOp } from "./support/single_op.ts";

const ROWS = 20, COLUMNS = 24;

/** A program of what a body makes of a matrix and the place of an element. */
const program = (element: (x: Operand) => Element): Program => {
  const operand = { shape: [ROWS, COLUMNS], dtype: "float32" } as const;
  return singleOp([operand], [operand], (x: Operand): Lowered => ({
    kind: "pointwise",
    dtype: "float32",
    shape: [ROWS, COLUMNS],
    element: element(x),
  }));
};

/** Element (r, c) moved by so many columns, and zero where that is outside. */
const moved = <V>(o: Body<V>, x: Operand, [r = 0, c = 0]: readonly Dim[], by: number): V => {
  const at = add(c, by), place = o.index(at, "int64");
  const inside = o.and(
    o.ge(place, o.constant(0n, "int64")),
    o.lt(place, o.constant(BigInt(COLUMNS), "int64")),
  );
  return o.masked(inside, () => o.load(x, [r, at]), o.constant(0, "float32"));
};

function cut(whole: Program): Program {
  const made: Program = {
    ...whole,
    kernels: whole.kernels.map((k) => k.kind === "loops" ? { ...k, body: splitIndexSets(k.body) } : k),
  };
  verifyProgram(made);
  return made;
}

/** The lengths of innermost loops, with the number of loads under conditions in each. */
function inner(body: readonly Statement[]): [size: unknown, masked: number][] {
  return body.flatMap((s): [unknown, number][] => {
    if (s.kind !== "loop") return [];
    if (s.body.some(({ kind }) => kind === "loop")) return inner(s.body);
    return [[s.axis.size, s.body.filter(({ kind }) => kind === "masked").length]];
  });
}
const innerOf = ({ kernels }: Program) => kernels.flatMap((k) => k.kind === "loops" ? inner(k.body) : []);

function run(program: Program): number[] {
  const values = toHost("float32", Array.from({ length: ROWS * COLUMNS }, (_, k) => k % 17 - 5));
  const output = toHost("float32", new Array(ROWS * COLUMNS).fill(NaN));
  interpret(program, { inputs: [values], outputs: [output] });
  return [...output].map(Number);
}

Deno.test("cut masks: windows check their borders only at borders", () => {
  const whole = program((x) => (o, at) =>
    o.add(o.add(moved(o, x, at, -2), moved(o, x, at, 1)), moved(o, x, at, 0))
  );
  const made = cut(whole);
  assertEquals(innerOf(made), [[2, 0], [21, 0], [1, 0]]);
  assertEquals(run(made), run(whole));
});

Deno.test("cut masks: loops that threads divide stay whole, and conditions on two counters remain", () => {
  const whole = program((x) => (o, [r = 0, c = 0]) => {
    const above = add(r, -1);
    const inside = o.ge(o.index(above, "int64"), o.constant(0n, "int64"));
    const below = o.lt(o.index(c, "int64"), o.index(r, "int64"));
    const value = o.masked(inside, () => o.load(x, [above, c]), o.constant(7, "float32"));
    return o.masked(below, () => value, o.constant(1, "float32"));
  });
  const made = cut(whole);
  assertEquals(innerOf(made), [[COLUMNS, 2]]);
  assertEquals(run(made), run(whole));
});

Deno.test("cut masks: positions that turn around or stop are straight in each part", () => {
  const last = COLUMNS - 1,
    reflected = (p: Dim) => {
      const before = max(p, mul(p, -1));
      return min(before, sub(2 * last, before));
    };
  const walks: readonly [string, (c: Dim) => Dim, number[]][] = [
    ["rolled", (c) => mod(sub(c, 5), COLUMNS), [5, 19]],
    ["reflected", (c) => reflected(sub(c, 3)), [3, 21]],
    ["reflected at both ends", (c) => reflected(sub(mul(c, 2), 6)), [3, 12, 9]],
    ["held", (c) => min(max(sub(c, 2), 0), last - 4), [2, 19, 3]],
    ["often around", (c) => mod(mul(c, 5), COLUMNS), [24]],
    ["by two counters", (c) => c, [24]],
  ];
  for (const [name, walk, sizes] of walks) {
    const turned = name === "by two counters";
    const whole = program((x) => (o, [r = 0, c = 0]) =>
      o.load(x, [r, turned ? mod(add(r, c), COLUMNS) : walk(c)])
    );
    const made = cut(whole);
    assertEquals(innerOf(made).map(([size]) => size), sizes, name);
    assertEquals(run(made), run(whole), name);
  }
});

Deno.test("lengths of loops: that of a part depends on its place, and is bounded by the longest", () => {
  const unasked: Decider = {
    hintOf: () => 5,
    assume: () => {
      throw new Error("Expected no question about sizes");
    },
  };
  const rows = symbol("rows", { kind: "size", decider: unasked }, [2, 50]), part = axisOf("p", 3).symbol;
  const left = min(4, sub(10, mul(part, 4)));
  assertEquals([7, rows, mul(rows, 2), left, add(rows, left)].map(isFixed), [true, true, true, false, false]);
  assertEquals([lengthOf(7), lengthOf(rows), lengthOf(left)], [7, rows, 4]);
});

Deno.test("cut masks: a loop with many places of change stays whole", () => {
  const whole = program((x) => (o, at) =>
    [-4, -3, -2, -1].map((by) => moved(o, x, at, by)).reduce((a, b) => o.add(a, b))
  );
  assertEquals(cut(whole), whole);
});

Deno.test("cut masks: conditions whose slope is not one, and that exclude each other", () => {
  const whole = program((x) => (o, [r = 0, c = 0]) => {
    const twice = o.index(add(mul(c, 2), -3), "int64"), zero = o.constant(0n, "int64");
    const left = o.lt(twice, zero), right = o.not(left);
    const a = o.masked(right, () => o.load(x, [r, c]), o.constant(2, "float32"));
    return o.select(o.or(left, o.gt(twice, o.constant(1000n, "int64"))), o.constant(9, "float32"), a);
  });
  const made = cut(whole);
  assertEquals(innerOf(made), [[2, 0], [22, 0]]);
  assertEquals(run(made), run(whole));
});

Deno.test("cut masks: concatenations of long vectors copy each in a separate loop", () => {
  const joined = (lengths: readonly number[]): Program => {
    const operands = lengths.map((size) => ({ shape: [size], dtype: "float32" }) as const);
    const total = lengths.reduce((a, b) => a + b);
    return singleOp(operands, [{ shape: [total], dtype: "float32" }], (...xs): Lowered => ({
      kind: "pointwise",
      dtype: "float32",
      shape: [total],
      element: (o, [at = 0]) => {
        const from = (k: number, start: number): ReturnType<typeof o.load> => {
          const x = xs[k], end = start + (lengths[k] ?? 0);
          if (!x) return o.constant(0, "float32");
          const here = o.lt(o.index(at, "int64"), o.constant(BigInt(end), "int64"));
          const rest = o.masked(o.not(here), () => from(k + 1, end), o.constant(0, "float32"));
          return o.masked(here, () => o.load(x, [sub(at, start)]), rest);
        };
        return from(0, 0);
      },
    }));
  };
  const outermost = (whole: Program): Program => ({
    ...whole,
    kernels: whole.kernels.map((k) => k.kind === "loops" ? { ...k, body: splitOutermost(k.body) } : k),
  });
  const results = (program: Program, lengths: readonly number[]): number[] => {
    const inputs = lengths.map((n, k) => toHost("float32", Array.from({ length: n }, (_, at) => at + k / 8)));
    const output = toHost("float32", new Array(lengths.reduce((a, b) => a + b)).fill(NaN));
    interpret(program, { inputs, outputs: [output] });
    return [...output].map(Number);
  };
  for (const long of [[3, 2 ** 14, 5, 40, 1], [2 ** 13, 2 ** 13 - 1, 2 ** 13]]) {
    const whole = joined(long), made = outermost(whole);
    verifyProgram(made);
    assertEquals(innerOf(made), long.map((length) => [length, 0]));
    assertEquals(results(made, long), results(whole, long));
  }
  const short = joined([3, 2 ** 10, 5]);
  assertEquals(outermost(short), short);
});
