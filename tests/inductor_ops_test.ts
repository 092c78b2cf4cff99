/**
 * Every op's samples through the inductor, with neighbours to fuse with, and through the passes of code generation,
 * against the same graph op by op.
 */
import { assert, assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { isFloat } from "../lib/base/dtype.ts";
import { generate } from "../lib/codegen/generate.ts";
import { productSizes } from "../lib/codegen/product_sizes.ts";
import { ALONE, type Target } from "../lib/codegen/target.ts";
import { DynError } from "../lib/base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../lib/graph/meta.ts";
import type { OpDefinition, Sample, SampleArgument } from "../lib/ops/definition.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { sampleBySeed } from "./support/sampling.ts";
import {
  compiled,
  difference,
  evaluateByOp,
  type HostTensor,
  lookup,
  runCompiled,
  sample,
  traced,
} from "./support/graph_programs.ts";

type Api = OpApi<GraphValue>;

/** A sample's argument with its tensors as numbered inputs. */
type Given =
  | number
  | boolean
  | string
  | null
  | readonly Given[]
  | { readonly input: number; readonly transposed: boolean };

class Inputs {
  readonly metas: TensorMeta[] = [];
  readonly tensors: HostTensor[] = [];

  take(argument: SampleArgument): Given {
    if (argument === null || typeof argument !== "object") return argument;
    if (!("tensor" in argument)) return argument.map((each) => this.take(each));
    const { tensor, dtype = "float32", range = [-2, 2], transposed = false } = argument;
    const shape = transposed ? tensor.toReversed() : tensor;
    this.metas.push(contiguousMeta(shape, dtype, "cpu"));
    this.tensors.push(sample(shape, dtype, range));
    return { input: this.metas.length - 1, transposed };
  }
}

/** The call of a sample between ops that want to fuse with it. */
function graphOf(definition: OpDefinition, { args, options = {} }: Sample) {
  const inputs = new Inputs();
  const given = args.map((each) => inputs.take(each));
  const named = Object.entries(options).map(([name, each]) => [name, inputs.take(each)] as const);
  const graph = traced(inputs.metas, (o, values) => {
    const before = (x: GraphValue) => isFloat(x.dtype) ? o.mul(o.exp(o.mul(x, 0.001)), x) : x;
    const resolve = (argument: Given): unknown => {
      if (argument === null || typeof argument !== "object") return argument;
      if (!("input" in argument)) return argument.map(resolve);
      const value = values[argument.input];
      if (!value) throw new Error("Expected an input");
      return argument.transposed
        ? o.permute(value, value.shape.map((_, d) => value.shape.length - 1 - d))
        : before(value);
    };
    const call: unknown = Reflect.get(o, definition.name);
    if (typeof call !== "function") throw new Error(`Expected the op ${definition.name}`);
    const list: unknown[] = given.map(resolve);
    if (named.length > 0) list.push(Object.fromEntries(named.map(([name, each]) => [name, resolve(each)])));
    const result: GraphValue | readonly GraphValue[] = Reflect.apply(call, undefined, list);
    const results = "node" in result ? [result] : [...result];
    return [...results, ...results.map((x) => after(o, x)), ...results.map((x) => between(o, x))];
  });
  return { graph, inputs };
}

function after(o: Api, x: GraphValue): GraphValue {
  if (isFloat(x.dtype)) return o.exp(o.mul(x, 0.5));
  return x.dtype === "bool" ? o.logicalNot(x) : o.add(x, 1);
}

function between(o: Api, x: GraphValue): GraphValue {
  return isFloat(x.dtype) ? o.add(o.sum(x), o.exp(o.mul(x, 0.5))) : x;
}

/** The graph of a sample, or nothing where it needs elements at once, so that it cannot be captured. */
function capture(definition: OpDefinition, each: Sample): ReturnType<typeof graphOf> | undefined {
  try {
    const captured = graphOf(definition, each);
    const onHost = captured.graph.nodes.some(({ target }) => lookup(target)?.implementation.kind === "host");
    return onHost ? undefined : captured;
  } catch (thrown) {
    if (thrown instanceof DynError && /elements|Expected a tensor (with data )?for/.test(thrown.message)) {
      return undefined;
    }
    throw thrown;
  }
}

/** Targets that ask for every pass, also where a program is small. */
const TARGETS: readonly Target[] = [
  {
    name: "lanes",
    supports: ({ call, outputs }) =>
      call.op === "matmul" && outputs.every(({ shape }) => shape.length <= 3)
        ? { prologues: true, epilogue: true }
        : ALONE,
    lanes: true,
    runs: true,
    threads: "nest",
    grid: null,
    blockBytes: 1 << 12,
    rowsInPlace: 0,
    im2col: false,
    kernelBuffers: Infinity,
    tables: true,
    integers: 64,
    sizeLimit: Infinity,
    unrolls: 400,
    streams: false,
  },
  {
    name: "grid",
    // A convolution as loops rounds what is added up next
    supports: ({ call }) => call.op === "matmul" || call.op === "sort" ? "none" : ALONE,
    lanes: false,
    runs: false,
    threads: "none",
    grid: {
      groups: 64,
      elements: 2,
      invocations: 256,
      shared: 2,
      rows: { few: 1024, long: 2 },
      registers: 32,
      vectors: true,
      parts: (product) => Math.max(1, Math.floor((productSizes(product)?.depth ?? 1) / 2)),
      transposes: () => true,
      attention: () => undefined,
      computed: () => undefined,
      stores: () => false,
      temporaries: Infinity,
      arena: Infinity,
      filters: () => undefined,
      transforms: () => undefined,
    },
    blockBytes: 0,
    rowsInPlace: 0,
    im2col: false,
    kernelBuffers: 16,
    tables: false,
    integers: 32,
    sizeLimit: Infinity,
    unrolls: 0,
    streams: false,
  },
];

Deno.test("ops compute the same fused with their neighbours as alone, and after the passes of targets", () => {
  let compared = 0;
  const wrong: string[] = [];
  const some = sampleBySeed(ALL_OPS, Math.ceil(ALL_OPS.length / 5));
  for (const definition of some) {
    if (definition.implementation.kind === "host") continue;
    for (const each of definition.samples) {
      const captured = capture(definition, each);
      if (!captured) continue;
      const { graph, inputs } = captured;
      const keys = graph.placeholders.length - inputs.tensors.length;
      const given = [
        ...inputs.tensors,
        ...Array.from({ length: keys }, (_, i) => sample([], "int32", [i * 100, i * 100 + 50])),
      ];
      const wanted = evaluateByOp(graph, given);
      // Rounded as op by op, so that halves are told apart from wrong results
      const made = config.patch({ inductor: { emulatePrecisionCasts: true } }, () => compiled(graph));
      const found = runCompiled(made, given);
      assertEquals(found.length, wanted.length);
      const judge = (form: string, tensors: readonly HostTensor[], references: readonly HostTensor[]) =>
        tensors.forEach((tensor, i) => {
          const reference = references[i];
          compared++;
          if (!reference || difference(tensor, reference) > 3e-6) {
            wrong.push(`${definition.name} ${JSON.stringify(each)} ${form}, output ${i}`);
          }
        });
      judge("fused", found, wanted);
      // Passes may change the order of sums, which shows less the more digits there are
      const digits = { precision: "wide" } as const, before = runCompiled(made, given, digits);
      for (const target of TARGETS) {
        const after = { ...made, program: generate(made.program, target) };
        judge(target.name, runCompiled(after, given, digits), before);
      }
    }
  }
  assertEquals(wrong, []);
  assert(compared > 4 * some.length, `Expected more than 4 comparisons an op but made ${compared}`);
});
