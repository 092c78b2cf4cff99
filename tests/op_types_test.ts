/**
 * Every op on every element type: it rejects the type, or every printer can print its kernels. An op that accepts a
 * type which it cannot compute would work in JavaScript, which has no types, and nowhere else.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Complex, nn, tensor, zeros } from "../mod.ts";
import { cpu } from "../backends/cpu/device.ts";
import { type DType, REAL_DTYPES } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { registerDevice } from "../lib/loops/device.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { isMethod } from "../lib/ops/api.ts";
import type { OpDefinition, Sample, SampleArgument } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";
import "./support/turns/ops.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** The sample with its first tensor, or all of them, of another type. */
function typed({ args, options }: Sample, dtype: DType, which: "first" | "all"): Sample {
  let found = 0;
  const change = (a: SampleArgument): SampleArgument => {
    if (isList(a)) return a.map(change);
    if (typeof a !== "object" || a === null) return a;
    return found++ === 0 || which === "all" ? { ...a, dtype } : a;
  };
  return { args: args.map(change), ...options ? { options } : {} };
}

/** The sample with results of another type, for ops that take one. */
function resultTyped({ args, options }: Sample, dtype: DType): Sample {
  return { args, options: { ...options, dtype } };
}

function isList(a: SampleArgument): a is readonly SampleArgument[] {
  return Array.isArray(a);
}

/** Returns whether users can call it, rather than only gradients and compositions. */
const isPublic = (definition: OpDefinition): boolean =>
  isMethod(definition) || definition.exposure?.free !== false ||
  (definition.exposure.namespaces?.length ?? 0) > 0;

Deno.test("every op rejects a type, or has kernels for it that verify", () => {
  const wrong: string[] = [];
  registerDevice({
    ...cpu,
    compileEager(program) {
      verifyProgram(program);
      return cpu.compileEager(program);
    },
  });
  try {
    for (const definition of sampleBySeed(ALL_OPS.filter(isPublic), 60)) {
      const [sample] = definition.samples;
      if (!sample || sample.args.includes("cpu")) continue;
      for (const dtype of REAL_DTYPES) {
        const forms = [
          ["first", typed(sample, dtype, "first")],
          ["all", typed(sample, dtype, "all")],
          ..."dtype" in definition.params ? [["result", resultTyped(sample, dtype)] as const] : [],
        ] as const;
        for (const [which, form] of forms) {
          try {
            callOp(definition, makeSample(form).given);
          } catch (thrown) {
            if (thrown instanceof DynError) continue;
            wrong.push(`${definition.name} of ${dtype} (${which}): ${thrown}`);
          }
        }
      }
    }
  } finally {
    registerDevice(cpu);
  }
  assertEquals(wrong, []);
});

Deno.test("ops that have run before run on the device that has taken the place of theirs", () => {
  const few = tensor([1, 2, 3]), many = zeros(1 << 14);
  const run = () => [few.exp(), few.clone().neg_(), few.logsumexp(0), many.cos()];
  run();
  const made = new Set<string>();
  const { compileClass } = cpu;
  registerDevice({
    ...cpu,
    compileEager(program) {
      made.add(program.name);
      return cpu.compileEager(program);
    },
    compileClass(source) {
      made.add(source.name);
      return compileClass ? compileClass(source) : cpu.compileEager(source.program());
    },
  });
  try {
    run();
  } finally {
    registerDevice(cpu);
  }
  const names = [...made].map((name) => name.replace(/_$/, ""));
  for (const name of ["exp", "neg", "cos"]) assert(names.includes(name), `${name} of ${names}`);
});

Deno.test("different types are promoted as in PyTorch, unsigned ones too", () => {
  const bytes = tensor([3, 200], { dtype: "uint8" }), halves = tensor([0.5, 2], { dtype: "float16" });
  const floats = tensor([1.5, -2.5]), { functional: F } = nn;
  assertEquals(ops.rsub(bytes, floats).tolist(), [-1.5, -202.5]);
  assertEquals(ops.rsub(bytes, tensor([1, 2])).tolist(), [-2, -198]);
  assertEquals(ops.rsub(bytes, 1.5, { alpha: 2 }).tolist(), [-4.5, -398.5]);
  const pairs = [
    F.cosineSimilarity(halves, floats, 0),
    F.pairwiseDistance(halves, floats),
    ops.dist(halves, floats),
    F.klDiv(halves, floats),
    F.binaryCrossEntropyWithLogits(halves, floats),
    F.gaussianNllLoss(halves, floats, 1),
    F.multilabelSoftMarginLoss(halves.unsqueeze(0), floats.unsqueeze(0)),
  ];
  assertEquals(pairs.map(({ dtype }) => dtype), pairs.map(() => "float32"));
  const whole = tensor([1, 2]), signs = tensor([1, -1]), truths = tensor([true, false]);
  const hinges = F.hingeEmbeddingLoss(whole, signs, { margin: 2.5, reduction: "none" });
  assertEquals([hinges.dtype, hinges.tolist<bigint[]>().map(Number)], ["int64", [1, 0]]);
  assertEquals(F.gaussianNllLoss(whole, whole.mul(2), 0.5, { reduction: "none" }).tolist(), [
    Math.fround(1 + Math.log(0.5) / 2),
    Math.fround(4 + Math.log(0.5) / 2),
  ]);
  for (
    const refused of [
      () => F.hingeEmbeddingLoss(whole, signs),
      () => F.gaussianNllLoss(floats, floats, whole),
      () => F.softsign(truths),
      () => F.tanhshrink(truths),
    ]
  ) assertThrows(refused, DynError, "but found");
  const vectors = [ops.addr(bytes, halves, floats), ops.addr(tensor({ re: 1, im: 2 }), floats, floats)];
  assertEquals(vectors.map(({ dtype }) => dtype), ["float32", "complex64"]);
  assertEquals(vectors[1]?.at(0, 1).item<Complex>(), { re: -2.75, im: 2 });
  const picture = tensor([[[[0, 10], [20, 255]]]], { dtype: "uint8" });
  const larger = F.interpolate(picture, 3, { mode: "bilinear", alignCorners: true });
  const cubic = F.interpolate(picture, 3, { mode: "bicubic" });
  // PyTorch's pixels
  assertEquals(cubic.tolist(), [[[[0, 0, 0], [0, 72, 133], [0, 150, 255]]]]);
  assertEquals([larger.dtype, larger.tolist()], ["uint8", [[[[0, 5, 10], [10, 72, 133], [20, 138, 255]]]]]);
});
