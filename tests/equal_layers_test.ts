/**
 * Code of equal layers is generated once: the code of the first is the same as for each, and programs of layers are the
 * same as if equal layers were not detected.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, compiler, manualSeed, nn, noGrad, optim, randn, type Tensor } from "../mod.ts";
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import { equalStretches } from "../lib/aot/equal_stretches.ts";
import { generate } from "../lib/codegen/generate.ts";
import type { GraphBackend } from "../lib/graph/backend.ts";
import type { GraphCompiler } from "../lib/graph/interpose.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import type { Kernel, LoopKernel, Program } from "../lib/loops/ir.ts";
import { canonicalFormOf } from "../lib/loops/canonical_form.ts";
import { kernelGroups } from "../lib/loops/kernel_groups.ts";
import { KnownBlocks } from "../lib/loops/known_blocks.ts";
import { kernelsOfRows } from "../lib/loops/moved_kernel.ts";
import { renameBuffers } from "../lib/loops/moved_buffers.ts";
import { type Lifetime, planMemory } from "../lib/loops/memory.ts";
import { printKernel, printProgram } from "../lib/loops/print.ts";
import { expandRegions } from "../lib/loops/regions.ts";
import { usesOf } from "../lib/loops/uses.ts";
import { loopProgram } from "../lib/loops/stored/program.ts";
import { findTarget } from "../lib/ops/table.ts";
import { Symbols } from "../lib/sym/stored/symbols.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { printProgram as printCpp } from "../backends/cpu/print/program.ts";
import { SIZE_LIMIT, wasmTarget } from "../backends/wasm/target.ts";
import { wasmPool } from "../backends/wasm/threads.ts";
import { writeForm } from "../backends/wasm/write_form.ts";

/** The target of WebAssembly. */
const WRITING = { limit: SIZE_LIMIT, fuses: true, memory: wasmPool().memory.kind };

/** The programs that a backend is given when something is compiled with it. */
function programsOf(run: (backend: GraphBackend) => void): Program[] {
  const programs: Program[] = [];
  const fwCompiler: GraphCompiler = (gm, inputs) => {
    const { signature, graph } = gm;
    const named = { name: signature?.role ?? "graph", ...(signature ? { signature } : {}), silent: true };
    programs.push(compileGraph(graph, (target) => findTarget(target)?.definition, named).program);
    return interpretGraph(gm, inputs);
  };
  run(aotAutograd({ fwCompiler, regions: true }));
  return programs;
}

/** The program with statements of which nobody knows that others are like them. */
function unknown(program: Program): Program {
  const anew = (kernel: LoopKernel): LoopKernel => ({
    ...kernel,
    body: renameBuffers(kernel.body, (id) => id),
  });
  const kernels = program.kernels.map((kernel): Kernel => {
    if (kernel.kind === "loops") return anew(kernel);
    return kernel.epilogue ? { ...kernel, epilogue: anew(kernel.epilogue) } : kernel;
  });
  return { ...program, kernels };
}

/** Returns the number of statements that resemble others, of the kinds of them, and of all that kernels have. */
function alike({ kernels }: Program): Record<"bodies" | "kinds" | "all", number> {
  const nests = kernels.flatMap((kernel) => kernel.kind === "loops" ? kernel : kernel.epilogue ?? []);
  const found = nests.flatMap(({ body }) => canonicalFormOf(body) ?? []);
  return { bodies: found.length, kinds: new Set(found.map(({ kind }) => kind)).size, all: nests.length };
}

const stackOf = (count: number, dropout: number): nn.TransformerEncoderLayer[] =>
  Array.from(
    { length: count },
    () => new nn.TransformerEncoderLayer(32, 2, { dimFeedforward: 48, batchFirst: true, dropout }),
  );

const through = (layers: readonly nn.TransformerEncoderLayer[], x: Tensor): Tensor =>
  layers.reduce((y, layer) => layer.call(y), x);

const encoders = (count: number, dropout: number): (x: Tensor) => Tensor => {
  const layers = stackOf(count, dropout);
  return (x) => through(layers, x);
};

const runsOf = (kernel: Kernel): readonly Kernel[] =>
  kernel.kind === "loops" ? kernelsOfRows(kernel) : [kernel];

/** The kernels of a program, each row of a table on its own, whatever their buffers and names are. */
const kernelTexts = ({ kernels }: Program): string[] =>
  kernels.flatMap(runsOf).map((kernel) => {
    const numbers = new Map<string, string>();
    return printKernel({ ...kernel, name: "kernel" }, { origins: false }).replaceAll(/\bb\d+\b/g, (id) => {
      const known = numbers.get(id) ?? `b${numbers.size}`;
      numbers.set(id, known);
      return known;
    });
  });

/** The program as a later process reads it. */
function stored(program: Program): Program {
  const symbols = new Symbols(), form = JSON.parse(JSON.stringify(loopProgram.write(program, symbols)));
  symbols.locals.clear();
  const again = loopProgram.read(form, symbols);
  assertEquals(printProgram(again, { origins: false }), printProgram(program, { origins: false }));
  return again;
}

/** Programs come out as if nobody knew what is alike in them, and with the kernels of their regions as these do. */
function assertAsUnknown(compact: Program): void {
  const program = expandRegions(compact), again = compact.sizes.length > 0 ? [] : [stored(compact)];
  assertEquals(new Set(program.kernels.map(({ name }) => name)).size, program.kernels.length);
  for (const target of [nativeTarget, wasmTarget(SIZE_LIMIT)]) {
    const kernels = kernelTexts(generate(program, target));
    for (const each of [compact, ...again]) assertEquals(kernelTexts(generate(each, target)), kernels);
  }
  for (const target of [nativeTarget, wasmTarget(SIZE_LIMIT)]) {
    assertEquals(
      printProgram(generate(program, target)),
      printProgram(generate(unknown(program), target)),
    );
  }
  const [known, anew] = [program, unknown(program)].map((each) => printCpp(generate(each, nativeTarget)));
  assertEquals(known, anew);
  const [written, apart] = [program, unknown(program)].map((each) => writeForm(each, WRITING));
  assertEquals(written, apart);
}

const rounds = (x: Tensor): Tensor => {
  for (let i = 0; i < 40; i++) x = x.softmax(-1).add(x.cumsum(1)).div(x.std(0, true)).mul(0.5 + i).tanh();
  return x;
};

for (
  const [name, model, x, changes] of [
    ["layers of a transformer", encoders(3, 0.1), randn([2, 9, 32])],
    ["the same with scores that are finished row by row", encoders(3, 0), randn([1, 160, 32])],
    ["of a length that changes", encoders(3, 0), randn([2, 7, 32]), 1],
    ["rounds of a loop", rounds, randn([5, 7]).requiresGrad_()],
  ] as const
) {
  Deno.test(`code of equal layers: ${name}`, () => {
    manualSeed(1);
    if (changes !== undefined) compiler.markDynamic(x, changes);
    const programs = programsOf((backend) =>
      void compile((x: Tensor) => model(x).pow(2).mean(), { backend })(x).backward()
    );
    assertEquals(programs.length, 2);
    for (const program of programs) {
      const { bodies, kinds } = alike(expandRegions(program));
      assert(bodies >= 2 * kinds && kinds > 0, `${kinds} kinds of ${bodies}`);
      assertAsUnknown(program);
    }
  });
}

Deno.test("code of equal layers: kernels that run by blocks are written once for all layers", () => {
  const model = encoders(5, 0),
    [program] = programsOf((backend) => {
      const run = compile((x: Tensor) => model(x), { backend });
      noGrad(() => run(randn([1, 160, 32])));
    });
  assert(program);
  for (const target of [nativeTarget, wasmTarget(SIZE_LIMIT)]) {
    const { kernels, buffers } = generate(program, target), known = new KnownBlocks<ReadonlySet<number>>();
    const groups = kernelGroups(kernels).filter(([kernel]) => kernel?.blocks);
    let made = 0;
    for (const group of groups) {
      const [kernel] = group, own = new Set(group.flatMap((each) => [...usesOf(each).all]));
      if (!kernel?.blocks) continue;
      const first = known.of(group, kernel.blocks, { buffers, make: () => (made++, own) });
      assertEquals(new Set([...first.made].map(first.place)), own);
    }
    assertEquals({ made, groups: groups.length }, { made: 1, groups: 5 });
  }
});

Deno.test("code of equal layers: a whole step, in which updates write where they read", () => {
  const layers = stackOf(3, 0), x = randn([2, 9, 32]);
  const optimizer = new optim.AdamW(layers.flatMap((layer) => [...layer.parameters()]));
  const programs = programsOf((backend) =>
    compile((x: Tensor) => {
      optimizer.zeroGrad();
      through(layers, x).pow(2).mean().backward();
      optimizer.step();
    }, { backend })(x)
  );
  assertEquals(programs.length, 1);
  for (const program of programs) {
    const { bodies, kinds, all } = alike(expandRegions(program));
    assert(all - bodies < 3 && bodies > 2 * kinds, `${kinds} kinds of ${bodies} among ${all}`);
    assertAsUnknown(program);
  }
});

Deno.test("memory of a long program is laid out as if all temporaries had been compared", () => {
  let seed = 5;
  const below = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const lifetimes = Array.from({ length: 300 }, (): Lifetime => {
    const first = below(500);
    return { bytes: 1 + below(4000), first, last: first + below(below(20) === 0 ? 300 : 9) };
  });
  const { offsets, arenaBytes } = planMemory(lifetimes);
  const taken: { readonly from: number; readonly to: number; readonly life: Lifetime }[] = [];
  const order = [...lifetimes.entries()].sort(([i, a], [j, b]) => Number(b.bytes) - Number(a.bytes) || i - j);
  for (const [at, life] of order) {
    const bytes = Math.ceil(Number(life.bytes) / 64) * 64;
    let from = 0;
    for (const each of taken.toSorted((a, b) => a.from - b.from)) {
      if (each.life.last < life.first || life.last < each.life.first) continue;
      if (from + bytes <= each.from) break;
      from = Math.max(from, each.to);
    }
    taken.push({ from, to: from + bytes, life });
    assertEquals(offsets[at], from);
  }
  assertEquals(arenaBytes, Math.max(...taken.map(({ to }) => to)));
});

Deno.test("the longest stretch of equal pieces is found as if all places had been compared", () => {
  let seed = 11;
  const below = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const kinds = 2 + below(4), list: number[] = [];
    while (list.length < 40 + below(80)) {
      const piece = Array.from({ length: 1 + below(9) }, () => below(kinds));
      for (let count = 1 + below(7); count > 0; count--) list.push(...piece);
    }
    const saved = 1 + below(12), longest = 1 + below(30);
    let most = saved - 1, expected: { readonly start: number; readonly period: number } | null = null;
    for (let period = 1; period <= Math.min(longest, list.length >> 1); period++) {
      for (let start = 0; start + period < list.length; start++) {
        if (start > 0 && list[start - 1] === list[start - 1 + period]) continue;
        let run = 0;
        while (start + run + period < list.length && list[start + run] === list[start + run + period]) run++;
        if (run >= period && run > most) [most, expected] = [run, { start, period }];
      }
    }
    const alive = (from: number, to: number) => new Array<number>(to - from).fill(1);
    const found = equalStretches(list, { least: 1, together: 1, saved, longest, alive });
    if (!expected) assertEquals(found, []);
    else {
      const { start, period } = expected;
      assert(found.some((each) => each.start === start && each.period === period), `round ${round}`);
    }
  }
});
