/**
 * Kernels that do the same work on other buffers, such as updates of parameters of any shapes by one formula, become
 * one function over a table: neither the calls of a program nor its functions grow with the parameters, results are
 * those of the separate kernels, and dependent kernels stay in order.
 */
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { compile, config, manualSeed, nn, optim, randn } from "../mod.ts";
import { printProgram } from "../backends/cpu/print/program.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { wasmTarget } from "../backends/wasm/target.ts";
import { generate } from "../lib/codegen/generate.ts";
import { foreachTables } from "../lib/codegen/foreach_tables.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { gathered } from "../lib/inductor/gathered.ts";
import { inPlace } from "../lib/inductor/update_rows.ts";
import type { Kernel, LoopKernel, Program, Rows } from "../lib/loops/ir.ts";
import { kernelGroups } from "../lib/loops/kernel_groups.ts";
import { kernelsOfRows } from "../lib/loops/moved_kernel.ts";
import { printKernel } from "../lib/loops/print.ts";
import { expandRegions, rowsKernel } from "../lib/loops/regions.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { InternalError } from "../lib/base/errors.ts";
import { counters } from "../lib/base/logs.ts";
import { compiled, traced } from "./support/graph_programs.ts";
import { SKIP_NATIVE } from "./support/native.ts";

const SHAPES: readonly (readonly number[])[] = [[16, 8], [16], [3, 5, 7], [1], [40, 30], [2, 3, 4, 5], [
  70_001,
], []];

/** Those that need a loop. */
const LOOPED = SHAPES.filter((shape) => shape.some((size) => size > 1));

/** One formula over as many tensors. */
function formulas(count: number): Program {
  const metas = Array.from(
    { length: count },
    (_, k) => contiguousMeta(LOOPED[k % LOOPED.length] ?? [], "float32", "cpu"),
  );
  const graph = traced(metas, (o, xs) => xs.map((x) => o.mul(o.add(o.mul(x, 0.5), 1), o.sqrt(x))));
  return compiled(graph).program;
}

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

Deno.test("a formula over many tensors of other shapes is one call of one function", () => {
  const [few, many] = [8, 64].map((n) => printProgram(generate(formulas(n), nativeTarget)));
  assert(few && many);
  for (const { text, calls } of [few, many]) {
    assertEquals(calls.length, 1);
    assertEquals(count(text, /^OUTL void k\d+/gm), 1);
  }
  // Only lists of numbers grow
  assert(
    many.text.length < few.text.length + 56 * 32,
    `Expected ${few.text.length} characters but found ${many.text.length}`,
  );
});

Deno.test("each kernel of a table is known by its number, and other targets run them one by one", () => {
  const program = formulas(5);
  assertEquals(printProgram(generate(program, nativeTarget)).calls, [[0, 1, 2, 3, 4]]);
  assertEquals(kernelGroups(generate(program, wasmTarget(2 ** 28)).kernels).length, 5);
});

/** x ← x · factor, in memory. */
function scaling(from: number, to: number, { length = 8, factor = 2 } = {}): LoopKernel {
  const graph = traced([contiguousMeta([length], "float32", "cpu")], (o, [x]) => x ? [o.mul(x, factor)] : []);
  const [kernel] = compiled(graph).program.kernels;
  assert(kernel?.kind === "loops");
  const [loop] = kernel.body;
  assert(loop?.kind === "loop");
  const body = loop.body.map((s) =>
    s.kind === "load" ? { ...s, buffer: from } : s.kind === "store" ? { ...s, buffer: to } : s
  );
  return { ...kernel, name: `b${from} to b${to}`, body: [{ ...loop, body }] };
}

/** Sizes of the groups in which kernels over these buffers run. */
function groupsOf(kernels: readonly Kernel[], offsets: readonly (number | null)[], after?: number): number[] {
  const buffers = offsets.map((offset, id) => ({
    name: `b${id}`,
    dtype: "float32" as const,
    length: 8,
    role: offset === null
      ? { kind: "input", written: true } as const
      : { kind: "temporary", offset } as const,
  }));
  const ids = buffers.flatMap(({ role }, id) => role.kind === "input" ? [id] : []);
  const program: Program = {
    name: "graph",
    buffers,
    inputs: ids,
    outputs: [],
    sizes: [],
    arenaBytes: 1024,
    kernels,
    ...(after === undefined ? {} : { guard: { flag: 0, after } }),
  };
  return kernelGroups(foreachTables(program, nativeTarget).kernels).map(({ length }) => length);
}

Deno.test("dependent kernels are not merged into a table", () => {
  const inputs = [null, null, null, null, null, null];
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3), scaling(4, 5)], inputs), [3]);
  assertEquals(groupsOf([scaling(0, 0), scaling(1, 1)], inputs), [2]);
  // One reads what another writes, or writes what another reads, or both write one buffer
  assertEquals(groupsOf([scaling(0, 1), scaling(1, 2), scaling(3, 4)], inputs), [1, 2]);
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 0), scaling(3, 4)], inputs), [1, 2]);
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 1)], inputs), [1, 1]);
  // Reading one buffer is no matter
  assertEquals(groupsOf([scaling(0, 1), scaling(0, 2)], inputs), [2]);
  // Temporaries in separate places, or in one
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3)], [null, 0, null, 64]), [2]);
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3)], [null, 0, null, 0]), [1, 1]);
  assertEquals(groupsOf([scaling(1, 0), scaling(2, 3)], [null, 16, null, 32]), [1, 1]);
  // Another formula, and another length
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3, { factor: 3 })], inputs), [1, 1]);
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3, { length: 4 })], inputs), [2]);
  // A decision stands between kernels
  assertEquals(groupsOf([scaling(0, 1), scaling(2, 3), scaling(4, 5)], inputs, 1), [1, 2]);
});

Deno.test("kernels are fused if nothing relevant happens between them", () => {
  const storages = Array.from({ length: 8 }, (_, id) => ({
    id,
    name: `b${id}`,
    dtype: "float32" as const,
    length: 8,
    role: { kind: "input", input: id } as const,
  }));
  const orderOf = (kernels: readonly LoopKernel[]) => gathered(kernels, storages).map(({ name }) => name);
  const other = (from: number, to: number) => scaling(from, to, { factor: 3 });
  assertEquals(orderOf([scaling(0, 0), other(1, 1), scaling(2, 2), other(3, 3)]), [
    "b0 to b0",
    "b2 to b2",
    "b1 to b1",
    "b3 to b3",
  ]);
  // The second of a kind reads what is written between
  assertEquals(orderOf([scaling(0, 5), other(1, 2), scaling(2, 3), scaling(4, 6)]), [
    "b0 to b5",
    "b1 to b2",
    "b2 to b3",
    "b4 to b6",
  ]);
  // And writes what is read between
  assertEquals(orderOf([scaling(0, 5), other(1, 2), scaling(3, 1)]), ["b0 to b5", "b1 to b2", "b3 to b1"]);
});

const runsOf = (kernel: Kernel): readonly Kernel[] =>
  kernel.kind === "loops" ? kernelsOfRows(kernel) : [kernel];

Deno.test("a row that names one tensor twice takes nothing from other rows", () => {
  const metas = Array.from({ length: 3 }, () => contiguousMeta([8], "float32", "cpu"));
  const graph = traced(metas, (o, [x, a, b]) => x && a && b ? [o.add(o.mul(x, a), o.sqrt(b))] : []);
  const region = inPlace(compiled(graph), [0])?.program;
  assert(region);
  const runs = (rows: Rows, tables: boolean) => {
    const ids = [...new Set(rows.flat())].sort();
    const buffers = ids.map((id) => ({
      name: `b${id}`,
      dtype: "float32" as const,
      length: 8,
      role: { kind: "input", written: true } as const,
    }));
    const kernels = [rowsKernel(region, rows, undefined)];
    const program = { ...region, buffers, inputs: ids, outputs: [], kernels };
    verifyProgram(program);
    const made = expandRegions(program, { tables }).kernels;
    const each = made.flatMap(runsOf);
    return { made: made.length, texts: each.map((kernel) => printKernel({ ...kernel, name: "" })).sort() };
  };
  const twice = [0, 1, 1], others = [[2, 3, 4], [5, 1, 6]];
  for (const rows of [[twice, ...others], [...others, twice]]) {
    const table = runs(rows, true), apart = runs(rows, false);
    assertEquals([table.made, apart.made], [1, 3]);
    assertEquals(table.texts, apart.texts);
  }
  assertEquals(runs([twice, [2, 3, 3]], true), runs([twice, [2, 3, 3]], false));
  // A row that reads what another one writes, or writes it as well
  for (const other of [[2, 0, 3], [0, 2, 3]]) {
    assertThrows(() => runs([twice, other], true), InternalError, "touch nothing");
  }
});

type Make = (params: readonly nn.Parameter[]) => optim.Optimizer;

const OPTIMIZERS: Readonly<Record<string, Make>> = {
  AdamW: (params) => new optim.AdamW(params, { lr: 0.01 }),
  Adagrad: (params) => new optim.Adagrad(params, { lr: 0.01 }),
};

for (const [name, make] of Object.entries(OPTIMIZERS)) {
  Deno.test({
    name: `parameters of other shapes are updated by tables, with the bits of single kernels: ${name}`,
    ignore: SKIP_NATIVE,
    fn() {
      const train = (tier: "wait" | "wasm") => {
        manualSeed(5);
        const params = SHAPES.concat(SHAPES).map((shape) => new nn.Parameter(randn([...shape])));
        const optimizer = make(params);
        return config.patch({ inductor: { tier } }, () => {
          const before = counters.get("inductor", "graphs"),
            step = compile(() => void optimizer.step(), { fullgraph: true });
          for (let k = 0; k < 3; k++) {
            for (const each of params) each.grad = randn([...each.shape]);
            step();
          }
          assertNotEquals(counters.get("inductor", "graphs"), before);
          return params.map((each) => [...each.detach().contiguous().toTypedArray()]);
        });
      };
      // The long ones are worth a team
      assertEquals(train("wait"), train("wasm"));
    },
  });
}
