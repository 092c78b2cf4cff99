/**
 * Products that are fused row by row: which kernels run by blocks of rows, what stays in memory, which columns a causal
 * mask skips, and that every element is that of the same kernels run one after the other.
 */
import { assert, assertEquals } from "@std/assert";
import { arange, compile, config, manualSeed, nn, randn, type Tensor } from "../mod.ts";
import { generate } from "../lib/codegen/generate.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import type { BufferDecl, ExternKernel, LoopKernel, Program } from "../lib/loops/ir.ts";
import { kernelGroups } from "../lib/loops/kernel_groups.ts";
import { copiedKernel } from "../lib/loops/moved_kernel.ts";
import { storedBuffers, usesOf } from "../lib/loops/uses.ts";
import { add } from "../lib/sym/expr.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { printBlocks } from "../backends/cpu/print/blocks.ts";
import { KnownBlocks } from "../lib/loops/known_blocks.ts";
import { ScalarFunctions } from "../backends/cpu/print/functions.ts";
import type { KernelContext } from "../backends/cpu/print/kernel.ts";
import { compiled, type HostTensor, runCompiled, sample, traced } from "./support/graph_programs.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { sizeLike } from "./support/sizes.ts";

type Value = GraphValue;
type Build = (o: OpApi<Value>, q: Value, k: Value, v: Value, g: Value) => readonly Value[];

const HEADS: readonly number[] = [2, 100, 8];

const scores = (o: OpApi<Value>, q: Value, k: Value): Value =>
  o.mul(o.matmul(q, o.transpose(k, -2, -1)), 0.3);
const attend = (o: OpApi<Value>, x: Value, v: Value): Value => o.matmul(o.softmax(x, -1), v);
/** Scores up to some diagonal. */
const lower = (o: OpApi<Value>, x: Value, diagonal: number): Value =>
  o.where(o.tril(o.ones(x.shape.slice(-2), { dtype: "bool" }), diagonal), x, -Infinity);

/** Attention by hand and the gradients of queries, keys and values for one of its result. */
const gradients = (
  o: OpApi<Value>,
  [q, k, v, g]: readonly [Value, Value, Value, Value],
  mask = (x: Value) => x,
): readonly Value[] => {
  const weights = o.softmax(mask(scores(o, q, k)), -1), over = (x: Value) => o.transpose(x, -2, -1);
  const slope = o.mul(weights, o.matmul(g, over(v)));
  const own = o.mul(o.sub(slope, o.mul(weights, o.sum(slope, -1, true))), 0.3);
  return [o.matmul(own, k), o.matmul(over(own), q), o.matmul(over(weights), g)];
};

interface Case {
  readonly build: Build;
  readonly shape?: readonly number[];
  /** Of keys and values, where it is another. */
  readonly keys?: readonly number[];
  /** Number of kernels that run by blocks. */
  readonly blocks: number;
  /** Buffers that are local. */
  readonly locals: number;
  /** Whether hidden columns are left out. */
  readonly hides?: boolean;
  /** Operands that blocks read by columns, which are copied once; undefined: however many. */
  readonly transposed?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "softmax between two products": {
    build: (o, q, k, v) => [attend(o, scores(o, q, k), v)],
    blocks: 3,
    locals: 1,
  },
  "several batch dimensions, heads side by side afterwards": {
    build: (o, q, k, v) => [
      o.reshape(o.transpose(o.scaledDotProductAttention(q, k, v), 1, 2), [2, 60, 24]),
    ],
    shape: [2, 3, 60, 8],
    blocks: 3,
    locals: 1,
  },
  "a causal mask": {
    build: (o, q, k, v) => [o.scaledDotProductAttention(q, k, v, null, 0, true)],
    transposed: 1,
    blocks: 3,
    locals: 1,
    hides: true,
  },
  "a causal mask by hand, of positions": {
    build: (o, q, k, v) => {
      const at = o.arange(0, 100), seen = o.le(at, o.unsqueeze(at, 1));
      return [attend(o, o.maskedFill(scores(o, q, k), o.logicalNot(seen), -Infinity), v)];
    },
    shape: [3, 100, 8],
    blocks: 3,
    locals: 1,
    hides: true,
  },
  "a mask below the diagonal: rows without columns are NaN": {
    build: (o, q, k, v) => [attend(o, lower(o, scores(o, q, k), -3), v)],
    blocks: 3,
    locals: 1,
    hides: true,
  },
  "a mask above the diagonal looks at more": {
    build: (o, q, k, v) => [attend(o, lower(o, scores(o, q, k), 3), v)],
    blocks: 3,
    locals: 1,
  },
  "what is hidden is not −∞": {
    build: (o, q, k, v) => {
      const x = scores(o, q, k);
      return [attend(o, o.where(o.tril(o.ones([100, 100], { dtype: "bool" })), x, -3), v)];
    },
    blocks: 3,
    locals: 1,
  },
  "hidden weights that are not zero": {
    build: (o, q, k, v) => [o.matmul(o.add(o.exp(lower(o, scores(o, q, k), 0)), 1), v)],
    blocks: 3,
    locals: 1,
  },
  "a norm of rows": {
    build: (o, q, k, v) => {
      const x = scores(o, q, k), norm = o.sqrt(o.sum(o.mul(x, x), -1, true));
      return [o.matmul(o.div(x, norm), v), norm];
    },
    blocks: 3,
    locals: 1,
  },
  "scores that are a result": {
    build: (o, q, k, v) => {
      const x = scores(o, q, k);
      return [attend(o, x, v), x];
    },
    transposed: 0,
    blocks: 0,
    locals: 0,
  },
  "weights that another product reads by columns": {
    build: (o, q, k, v) => {
      const weights = o.softmax(scores(o, q, k), -1);
      return [o.matmul(weights, v), o.matmul(o.transpose(weights, -2, -1), v)];
    },
    blocks: 4,
    locals: 1,
  },
  "gradients": {
    build: (o, q, k, v, g) => gradients(o, [q, k, v, g]),
    transposed: 2,
    blocks: 6,
    locals: 2,
  },
  "gradients of many heads, which need no groups of rows": {
    build: (o, q, k, v, g) => gradients(o, [q, k, v, g]),
    shape: [17, 67, 4],
    blocks: 6,
    locals: 2,
  },
  "gradients of one head, more keys than queries": {
    build: (o, q, k, v, g) => gradients(o, [q, k, v, g]),
    shape: [1, 70, 12],
    keys: [1, 300, 12],
    transposed: 0,
    blocks: 6,
    locals: 2,
  },
  "gradients below a causal mask": {
    build: (o, q, k, v, g) => gradients(o, [q, k, v, g], (x) => lower(o, x, 0)),
    blocks: 6,
    locals: 2,
    hides: true,
  },
  "gradients below a causal mask, fewer keys than queries": {
    build: (o, q, k, v, g) => gradients(o, [q, k, v, g], (x) => lower(o, x, 0)),
    shape: [2, 150, 8],
    keys: [2, 120, 8],
    blocks: 6,
    locals: 2,
    hides: true,
  },
  "weights that a product reads by columns, and another kernel": {
    build: (o, q, k, v) => {
      const weights = o.softmax(scores(o, q, k), -1);
      return [o.matmul(o.transpose(weights, -2, -1), v), o.contiguous(o.transpose(weights, -2, -1))];
    },
    blocks: 0,
    locals: 0,
  },
  "few scores": {
    build: (o, q, k, v) => [attend(o, scores(o, q, k), v)],
    shape: [2, 20, 8],
    blocks: 0,
    locals: 0,
  },
  "deep products": {
    build: (o, q, k, v) => [attend(o, scores(o, q, k), v)],
    shape: [2, 100, 300],
    blocks: 0,
    locals: 0,
  },
};

interface Made {
  readonly before: Program;
  readonly after: Program;
  /** Runs both. */
  readonly results: () => readonly (readonly HostTensor[])[];
}

function made(
  { build, shape = HEADS, keys = shape }: Case,
  change: (key: HostTensor) => void = () => {},
): Made {
  const shapes = [shape, keys, keys, shape];
  const graph = compiled(
    traced(shapes, (o, [q, k, v, g]) => q && k && v && g ? build(o, q, k, v, g) : []),
  );
  const inputs = [2, 1, 3, 1].map((most, at) => sample(shapes[at] ?? [], "float32", [-2, most]));
  inputs.slice(1, 2).forEach(change);
  const { program } = graph, after = generate(program, nativeTarget);
  const results = () => [program, after].map((program) => runCompiled({ ...graph, program }, inputs));
  return { before: program, after, results };
}

/** Local buffers but those that a kernel which is in no blocks has for itself. */
const locals = ({ buffers, kernels }: Program): number => {
  const own = kernels.flatMap((each) =>
    each.kind === "loops" && !each.blocks ? [...storedBuffers(each.body)] : []
  );
  return buffers.filter(({ role }, id) => role.kind === "local" && !own.includes(id)).length;
};

for (const [name, each] of Object.entries(CASES)) {
  Deno.test(`row blocks: ${name}`, () => {
    const { before, after, results } = made(each);
    const blocks = after.kernels.filter((kernel) => kernel.blocks);
    const transposed = after.kernels.filter((kernel) => kernel.name === "transposed_columns").length;
    assertEquals([blocks.length, locals(after), transposed], [
      each.blocks,
      each.locals,
      each.transposed ?? transposed,
    ]);
    const [first] = blocks, columns = first?.kind === "extern" ? first.outputs[0]?.shape.at(-1) : undefined;
    assertEquals(typeof columns === "object", each.hides ?? false);
    // Blocks that add up are gone through in order
    assertEquals(first?.blocks?.uneven ?? false, (each.hides ?? false) && !first?.blocks?.inOrder);
    if (each.locals === 0) return;
    assert(Number(after.arenaBytes) < Number(before.arenaBytes));
    const [wanted, found] = results();
    // Sums over rows are cut at blocks, and else nothing changes
    if (!blocks.some((kernel) => kernel.kind === "extern" && sums(kernel))) {
      assertEquals(found?.map(({ data }) => data), wanted?.map(({ data }) => data));
    } else assertClose(found, wanted);
  });
}

const sums = ({ call }: ExternKernel): boolean => call.op === "matmul" && call.accumulate;

function assertClose(found: readonly HostTensor[] = [], wanted: readonly HostTensor[] = []): void {
  assertEquals(found.map(({ shape }) => shape), wanted.map(({ shape }) => shape));
  found.forEach((tensor, i) => {
    const [x, y] = [tensor, wanted[i]].map((each) => Float64Array.from(each ? numbersOf(each) : []));
    const most = y?.reduce((least, value) => Math.max(least, Math.abs(value)), 0) ?? 0;
    x?.forEach((value, at) => {
      assert(Math.abs(value - (y?.[at] ?? NaN)) <= 1e-6 * most, `${i}[${at}]: ${value}, ${y?.[at]}`);
    });
  });
}

const numbersOf = ({ data }: HostTensor): readonly number[] =>
  Array.from({ length: data.length }, (_, at) => Number(data[at]));

Deno.test("row blocks: masked scores may have any value", () => {
  const each = CASES["a causal mask"];
  assert(each);
  const { results } = made(each, ({ data }) => data[data.length - 1] = NaN);
  const [wanted, found] = results();
  assertEquals(found?.map(({ data }) => data), wanted?.map(({ data }) => data));
});

Deno.test("row blocks: as many heads as a call passes", () => {
  const heads = sizeLike("h", 4, [1, 64]);
  const shape = [heads, 100, 8];
  const { program } = compiled(
    traced([shape, shape, shape], (o, [q, k, v]) => q && k && v ? [attend(o, scores(o, q, k), v)] : []),
  );
  const { kernels } = generate(program, nativeTarget), [transposed, first] = kernels;
  assertEquals([kernels.length, transposed?.name], [4, "transposed_columns"]);
  assertEquals(first?.blocks?.axes.map(({ size }) => size), [heads, 4]);
});

Deno.test("row blocks: rows of lengths that a call passes", () => {
  const length = sizeLike("n", 140, [2, Infinity]);
  const shape = [2, length, 8];
  for (const causal of [false, true]) {
    const graph = compiled(
      traced(
        [shape, shape, shape],
        (o, [q, k, v]) =>
          q && k && v ? [o.scaledDotProductAttention(q, k, v, null, 0, causal, { scale: 0.3 })] : [],
      ),
    );
    const program = generate(graph.program, nativeTarget), [first] = program.kernels;
    assertEquals([program.kernels.length, locals(program)], [3, 1]);
    assert(first?.kind === "extern");
    assertEquals(first.outputs[0]?.shape.at(-1) === length, !causal);
    for (const n of [3, 64, 150]) {
      const inputs = [2, 1, 3].map((most) => sample([2, n, 8], "float32", [-2, most]));
      const sizes = new Map(length instanceof Object ? [[length, n]] : []);
      const [wanted, found] = [graph.program, program].map((each) =>
        runCompiled({ ...graph, program: each }, inputs, { sizes })
      );
      assertEquals(found?.map(({ data }) => data), wanted?.map(({ data }) => data));
    }
  }
});

Deno.test("row blocks: a kernel in between that overwrites a product's input follows the blocks, or ends them", () => {
  /**
   * Returns the number of kernels that run by blocks, with the position of the other one, which overwrites queries.
   */
  const blocksWith = (build: Build, at: number): readonly number[] => {
    const { before: program } = made({ build, blocks: 3, locals: 1 }), product = program.kernels[0];
    assert(product?.kind === "extern");
    const query = product.inputs[0]?.buffer ?? -1;
    const between: LoopKernel = {
      kind: "loops",
      name: "between",
      origins: [],
      body: [
        { kind: "constant", id: 0, value: 0, dtype: "float32" },
        { kind: "store", buffer: query, index: 0, value: 0, mode: "set" },
      ],
    };
    const buffers = program.buffers.map((b, id) =>
      id === query ? { ...b, role: { kind: "input", written: true } as const } : b
    );
    const { kernels } = generate(
      { ...program, buffers, kernels: program.kernels.toSpliced(at, 0, between) },
      nativeTarget,
    );
    const own = kernels.filter(({ name }) => name !== "transposed_columns");
    return [own.filter(({ blocks }) => blocks).length, own.findIndex(({ name }) => name === "between")];
  };
  const values: Build = (o, q, k, v) => [attend(o, scores(o, q, k), v)];
  const queries: Build = (o, q, k) => [attend(o, scores(o, q, k), q)];
  assertEquals([0, 1, 3].map((at) => blocksWith(values, at)), [[3, 0], [3, 3], [3, 3]]);
  assertEquals([0, 1, 3].map((at) => blocksWith(queries, at)), [[3, 0], [0, 1], [3, 3]]);
});

Deno.test("row blocks: targets whose library does not support parts of products keep the kernels", () => {
  const each = CASES["a causal mask"];
  assert(each);
  const { kernels } = generate(made(each).before, { ...nativeTarget, blockBytes: 0 });
  assertEquals(kernels.some(({ blocks }) => blocks), false);
});

Deno.test({
  name: "row blocks: native attention and its gradients are those of eager mode",
  ignore: SKIP_NATIVE,
  fn: () =>
    config.patch({ inductor: { tier: "wait", errorOnFallback: true } }, () => {
      manualSeed(4);
      const { scaledDotProductAttention } = nn.functional;
      const body = (q: Tensor, k: Tensor, v: Tensor, mask: Tensor): Tensor[] => {
        const weights = q.mul(0.2).matmul(k.transpose(-2, -1)).softmax(-1);
        return [
          scaledDotProductAttention(q, k, v, null, 0, true),
          scaledDotProductAttention(k, v, q, mask),
          weights.matmul(v.sin()).transpose(1, 2).reshape(2, 75, 32),
        ];
      };
      const given = [0, 1, 2].map(() => randn([2, 4, 75, 8])), mask = arange(75).gt(3).unsqueeze(0);
      const run = (f: typeof body, gradients: boolean): Tensor[] => {
        const own = given.map((x) => x.clone().requiresGrad_(gradients)), [q, k, v] = own;
        assert(q && k && v);
        const results = f(q, k, v, mask);
        if (!gradients) return results;
        results.map((x) => x.sin().sum()).reduce((a, b) => a.add(b)).backward();
        return own.flatMap(({ grad }) => grad ?? []);
      };
      const fast = compile(body, { fullgraph: true });
      for (const gradients of [false, true]) {
        const wanted = run(body, gradients), found = run(fast, gradients);
        assertEquals(found.length, 3);
        found.forEach((x, i) => {
          const y = wanted[i];
          assert(
            y && Number(x.sub(y).abs().max().item()) < 1e-5,
            `${gradients ? "gradient" : "result"} ${i}`,
          );
        });
      }
      const attend = (q: Tensor, k: Tensor, v: Tensor) => scaledDotProductAttention(q, k, v, null, 0, true);
      const anyLength = compile(attend, { dynamic: true });
      for (const length of [200, 75]) {
        const [q, k, v] = [0, 1, 2].map(() => randn([4, length, 8]));
        assert(q && k && v);
        const difference = anyLength(q, k, v).sub(attend(q, k, v)).abs().max().item();
        assert(Number(difference) < 1e-5, `${length} rows`);
      }
    }),
});

/** A context in which kernels without sizes are printed. */
const contextOf = (buffers: readonly BufferDecl[]): KernelContext => ({
  buffers,
  sizeIndex: () => 0,
  need: new ScalarFunctions().need,
  fold() {},
  declare() {},
  equivalents: new Map(),
});

Deno.test("row blocks: kernels that differ only in their buffers are printed once, as if each were printed", () => {
  let shared = 0;
  for (const each of Object.values(CASES)) {
    const { buffers: own, kernels } = made(each).after;
    const groups = kernelGroups(kernels).filter(([kernel]) => kernel?.blocks);
    for (const group of groups) {
      const [{ blocks } = {}] = group;
      assert(blocks);
      const copies = group.map((kernel) =>
        copiedKernel(kernel, (id) => ({ buffer: id + own.length, offset: 0 }))
      );
      const copied = { ...blocks, work: 1 };
      const kinds: readonly (readonly BufferDecl[])[] = [
        own,
        own.map((buffer) =>
          buffer.role.kind === "local" ? { ...buffer, length: add(buffer.length, 1) } : buffer
        ),
        own.map((buffer) => ({ ...buffer, dtype: "float64" })),
      ];
      for (const [at, others] of kinds.entries()) {
        const printed = new KnownBlocks<ReturnType<typeof printBlocks>>(),
          context = contextOf([...own, ...others]);
        let count = 0;
        const print = (...[kernels, blocks]: Parameters<typeof printBlocks>) => {
          const make = () => (count++, printBlocks(kernels, blocks, context));
          const { made, place } = printed.of(kernels, blocks, { buffers: context.buffers, make });
          return {
            ...made,
            buffers: made.buffers.map(place),
            far: made.far.map(place),
            work: blocks.work,
          };
        };
        print(group, blocks, context);
        assertEquals(print(copies, copied, context), printBlocks(copies, copied, context));
        const hasLocal = group.some((kernel) =>
          usesOf(kernel).all.values().some((id) => own[id]?.role.kind === "local")
        );
        if (at === 0) shared += count === 1 ? 1 : 0;
        else if (at === 2 || hasLocal) assertEquals(count, 2);
      }
    }
  }
  assert(shared > 5, `${shared} groups`);
});
