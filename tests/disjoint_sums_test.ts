/**
 * Accumulating loops that threads divide: which loops qualify, and that each element has the same bits as if one thread
 * added in the order of the positions.
 */
import { assertEquals } from "@std/assert";
import { generate } from "../lib/codegen/generate.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import type { Loop, Statement } from "../lib/loops/ir.ts";
import { collides } from "../lib/loops/uses.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { compiled, runCompiled, sample, traced } from "./support/graph_programs.ts";

type Value = GraphValue;

interface Case {
  readonly build: (o: OpApi<Value>, x: Value, places: (count: number) => Value) => Value;
  readonly shape: readonly number[];
  /** Length of the loop that threads divide; null: there is none. */
  readonly shared: number | null;
  /** Whether the added elements are adjacent. */
  readonly lanes: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  "elements of a row, of many rows": {
    build: (o, x, places) =>
      o.scatterAdd(o.zeros([70, 20]), 1, o.expand(o.unsqueeze(places(50), 0), [70, 50]), x),
    shape: [70, 50],
    shared: 70,
    lanes: false,
  },
  "whole rows, in pieces": {
    build: (o, x, places) => o.indexAdd(o.zeros([20, 300]), 0, places(50), x),
    shape: [50, 300],
    shared: 3,
    lanes: true,
  },
  "whole rows of several matrices": {
    build: (o, x, places) => o.indexAdd(o.zeros([3, 20, 40]), 1, places(50), x),
    shape: [3, 50, 40],
    shared: 3,
    lanes: true,
  },
  "short rows": {
    build: (o, x, places) => o.indexAdd(o.zeros([20, 40]), 0, places(50), x),
    shape: [50, 40],
    shared: null,
    lanes: true,
  },
  "elements of everything": {
    build: (o, x, places) => o.indexAdd(o.zeros([20]), 0, places(500), x),
    shape: [500],
    shared: null,
    lanes: false,
  },
};

/** Loops around what is added, from the outermost. */
function loopsOf(body: readonly Statement[]): readonly Loop[] {
  const loop = body.find((s) => s.kind === "loop" && collides([s]));
  return loop?.kind === "loop" ? [loop, ...loopsOf(loop.body)] : [];
}

for (const [name, { build, shape, shared, lanes }] of Object.entries(CASES)) {
  Deno.test(`sums in place: ${name}`, () => {
    const graph = compiled(
      traced([shape], (o, [x]) => {
        const places = (count: number) => o.remainder(o.mul(o.arange(0, count), 7), 20);
        return x ? [build(o, x, places)] : [];
      }),
    );
    const after = generate(graph.program, nativeTarget);
    const loops = after.kernels.flatMap((each) => each.kind === "loops" ? loopsOf(each.body) : []);
    const team = loops.find(({ share }) => share === "team");
    assertEquals([team?.axis.size ?? null, loops.at(-1)?.vector], [shared, lanes]);
    const inputs = [sample(shape, "float32", [-2, 2])];
    const [wanted, found] = [graph.program, after].map((program) =>
      runCompiled({ ...graph, program }, inputs)
    );
    assertEquals(found?.map(({ data }) => data), wanted?.map(({ data }) => data));
  });
}
