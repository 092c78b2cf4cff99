/**
 * Exported models in ONNX Runtime: each op that the exporter supports, on unusual numbers and every type, PyTorch's op
 * samples, and whole models at several batch sizes. Each run takes some of the cases; DYN_TEST_ALL=1 takes all.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { ortAbsence } from "../backends/onnxrt/library.ts";
import type { DType } from "../lib/base/dtype.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";
import { onnxBytes } from "../packaging/onnx/program.ts";
import { RULES } from "../packaging/onnx/rules.ts";
import { cat, compiler, noGrad, tensor } from "../mod.ts";
import { assertSame, compareInRuntime, runModel, tensorsOf } from "./support/onnx.ts";
import { callOf, findOp, readSamples, sampleName, variantOf } from "./support/replay.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { readNumbers } from "./zoo/numbers.ts";
import { ZOO } from "./zoo/zoo.ts";

// A backend that CI is to bring is missed there
const ignore = ortAbsence() !== null && Deno.env.get("CI") !== "true";

const FRACTIONS = [
  NaN,
  1,
  -1,
  0,
  -0,
  Infinity,
  -Infinity,
  0.5,
  -0.5,
  2.5,
  1.5,
  -2.5,
  1e-30,
  3e38,
  -3,
  7,
  100,
];
const INTEGERS = [0, 1, -1, 2, 3, -3, 7, -7, 100, -128, 127];

/** Elements of a type in place of a sample's, others for each tensor. */
function oddElements({ shape }: Tensor, dtype: DType, salt: number): Tensor {
  const count = shape.reduce((a, b) => a * b, 1), list = dtype === "float32" ? FRACTIONS : INTEGERS;
  const elements = Array.from({ length: count }, (_, k) => list[(k * 7 + salt * 5) % list.length] ?? 0);
  const held = dtype === "uint8"
    ? elements.map(Math.abs)
    : dtype === "bool"
    ? elements.map((x) => x % 2 !== 0)
    : elements;
  return tensor(held, { dtype }).reshape([...shape]);
}

interface Case {
  readonly name: string;
  readonly make: () => {
    readonly program: (...args: unknown[]) => unknown;
    readonly args: readonly unknown[];
  };
}

const TYPES: readonly DType[] = ["float32", "float64", "int64", "int32", "uint8", "bool"];

/** Samples of op definitions with odd elements of every type. */
const generated: readonly Case[] = ALL_OPS.flatMap((definition) => {
  const op = findOp(definition.name) ?? findOp(`nn.functional.${definition.name}`);
  const samples = definition.samples.filter(({ args }) => !args.includes("cpu"));
  return op
    ? samples.flatMap((sample, at) =>
      TYPES.map((dtype) => ({
        name: `${definition.name}, sample ${at}, ${dtype}`,
        make() {
          let salt = at;
          const turn = (value: unknown): unknown => {
            if (Array.isArray(value)) return value.map(turn);
            if (isPlainObject(value)) {
              return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, turn(each)]));
            }
            if (!isTensor(value) || value.dtype !== "float32") return value;
            if (dtype === "float64") return value.to(dtype);
            const odd = oddElements(value, dtype, salt++);
            // Beyond int32, converting a float to it is undefined, in ONNX too; taps beside an image may be left out or
            // taken of zeros, which infinite weights make NaN
            const most = definition.name === "int"
              ? 2 ** 30
              : definition.name.startsWith("conv")
              ? 100
              : null;
            return most === null ? odd : odd.clamp(-most, most).nanToNum();
          };
          const args = makeSample(sample).given.map(turn);
          return { program: (...given) => op(...given), args };
        },
      }))
    )
    : [];
});

async function pyTorchCases(): Promise<readonly Case[]> {
  const files = ["further", "linalg", "nn.functional", "special", "torch"];
  const lists = await Promise.all(
    files.map((name) => readSamples(new URL(`data/ops/${name}.jsonl.gz`, import.meta.url))),
  );
  return lists.flat().flatMap((sample) => {
    const op = sample.error === undefined && findOp(sample.op);
    if (!op) return [];
    const called = variantOf(sample, op);
    return [{
      name: sampleName(sample),
      make: () => ({
        program: (...given) => called(...given),
        args: callOf(sample, "cpu").map((each) => isTensor(each) ? each.detach() : each),
      }),
    }];
  });
}

/** Compares cases; gives the ops of those that were compared. */
function compareAll(cases: readonly Case[]): ReadonlySet<string> {
  const differences: string[] = [], compared = new Set<string>(), counts = new Map<string, number>();
  for (const { name, make } of cases) {
    const { program, args } = make();
    try {
      const found = compareInRuntime(program, args);
      counts.set(found.kind, (counts.get(found.kind) ?? 0) + 1);
      if (found.kind === "same") { for (const op of found.ops) compared.add(op); }
    } catch (error) {
      differences.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log([...counts].map(([kind, count]) => `${kind}: ${count}`).join(", "));
  assertEquals(differences, []);
  assert((counts.get("same") ?? 0) > cases.length / 6, "Expected more cases that are compared");
  return compared;
}

Deno.test({
  name: "ops on odd numbers of every type, and PyTorch's op samples, are in ONNX Runtime what they are here",
  ignore,
  fn: async () => {
    const compared = compareAll([
      ...sampleBySeed(generated, 90),
      ...sampleBySeed(await pyTorchCases(), 60),
    ]);
    // The remaining rules are covered by the models below
    const left = Object.keys(RULES).filter((name) => !compared.has(name));
    if (TAKES_ALL) assertEquals(left, ["contiguous", "gatherIndices"]);
  },
});

/** Models that ONNX has no counterparts for, and what is said of them. */
const REFUSED: Readonly<Record<string, string>> = {
  conformer: "sliceScatter",
  detr: "repeat",
  glow: "that the host computes",
  graph_network: "scatterAdd",
  mamba: "softplus",
  mixtral: "nonzero",
  nerf: "linspace",
  speech: "to compute on tensors alone",
  world_model: "oneHotClasses",
  xlstm: "tril",
};

/** Models whose code compares other sizes: the batch alone is a symbol. */
const OF_ONE_SIZE: ReadonlySet<string> = new Set(["swin", "unet"]);

/** Models that make constants of their sizes. */
const OF_FIXED_SIZES: ReadonlySet<string> = new Set(["gru_classifier"]);

for (const specimen of sampleBySeed(ZOO, 2)) {
  const { name } = specimen;
  Deno.test({
    name: `zoo: ${name} in ONNX Runtime`,
    ignore,
    fn: async () => {
      const { state, batch } = await readNumbers(name), { model, forward } = specimen.make({ dropout: 0 });
      model.loadStateDict(state);
      model.eval();
      const dynamic = OF_ONE_SIZE.has(name) ? { image: ["dynamic"] as const } : true;
      const program = () => compiler.export(forward, [...batch], { dynamic });
      const refusal = REFUSED[name];
      if (refusal !== undefined) return void assertThrows(() => onnxBytes(program()), Error, refusal);
      const exported = program(), bytes = onnxBytes(exported);
      const twice = batch.map((each, at) => {
        const spec = exported.parts.call.arguments[at];
        const dim = spec?.kind === "tensor" ? spec.shape.findIndex((size) => typeof size !== "number") : -1;
        return dim < 0 ? each : cat([each, each.flip(dim)], dim);
      });
      assertEquals(twice.every((each, at) => each === batch[at]), OF_FIXED_SIZES.has(name));
      for (const given of [batch, twice]) {
        const wanted = noGrad(() => tensorsOf(forward(...given)));
        const found = runModel(bytes, given, wanted.length);
        wanted.forEach((each, at) => assertSame(found[at], each, `result ${at}`));
      }
    },
  });
}
