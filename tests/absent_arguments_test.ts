/**
 * Trailing arguments that are undefined count as absent: in every op (each run of the suite samples them), eager and
 * traced, and elsewhere.
 */
import { assert, assertEquals } from "@std/assert";
import { atleast1d, compile, manualSeed, nn, ones, optim, type Tensor, tensor, zeros } from "../mod.ts";
import "./support/turns/ops.ts";
import { capture } from "./support/dynamo.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";

/** Returns the results of a call, or how it fails. */
function outcome(run: () => Tensor | readonly Tensor[]): unknown {
  manualSeed(3);
  try {
    return resultsOf(run()).map((t) => [t.dtype, t.shape, t.detach().tolist()]);
  } catch (error) {
    return [(error as Error).name, (error as Error).message];
  }
}

function free(definition: OpDefinition): (...given: readonly unknown[]) => Tensor | readonly Tensor[] {
  return Reflect.get(ops, definition.name) as (...given: readonly unknown[]) => Tensor | readonly Tensor[];
}

Deno.test("every op ignores trailing undefined arguments", () => {
  assert(ALL_OPS.flatMap(({ samples }) => samples).length > 500);
  for (const definition of sampleBySeed(ALL_OPS, 120)) {
    for (const sample of definition.samples ?? []) {
      const { given } = makeSample(sample);
      const expected = outcome(() => callOp(definition, given));
      for (const more of [[undefined], [undefined, undefined]]) {
        assertEquals(outcome(() => callOp(definition, [...given, ...more])), expected, definition.name);
      }
    }
    // Without arguments, undefined counts as missing too.
    const missing = outcome(() => callOp(definition, []));
    assertEquals(outcome(() => callOp(definition, [undefined])), missing, definition.name);
  }
});

Deno.test("every op ignores trailing undefined arguments in traced functions", () => {
  for (const definition of sampleBySeed(ALL_OPS, 120, 1)) {
    const [sample] = definition.samples ?? [];
    if (!sample) continue;
    const { given } = makeSample(sample);
    const call = free(definition);
    const traced = (...args: readonly unknown[]) => call(...args, undefined, undefined);
    const expected = outcome(() => call(...given));
    assertEquals(outcome(() => capture(traced).run(...given as never[])), expected, definition.name);
  }
});

Deno.test("so do methods, free forms, constructors and optimizers", () => {
  const x = tensor([[1, 2], [3, 4]], { dtype: "float32" });
  const pairs: readonly (readonly [unknown, unknown])[] = [
    [x.to("float64", undefined as never).dtype, "float64"],
    [x.sum(0, undefined, undefined).tolist(), [4, 6]],
    [x.sum({ dim: 0 }, undefined as never).tolist(), [4, 6]],
    [x.view(4, undefined as never).shape, [4]],
    [atleast1d(x, undefined as never), x],
    [tensor([1, 2], undefined as never).dtype, "int64"],
    [zeros([2], undefined as never).shape, [2]],
    [ones(2, 3, undefined as never).shape, [2, 3]],
    [new nn.Linear(2, 3, undefined as never).weight.shape, [3, 2]],
    [nn.functional.softmax(x, 1, undefined).shape, [2, 2]],
  ];
  for (const [found, expected] of pairs) assertEquals(found, expected);
  const leaf = ones([2]).requiresGrad_();
  leaf.sum().backward(undefined, undefined, undefined);
  leaf.mul(2).sum().backward(undefined as never, { retainGraph: true } as never);
  assertEquals(leaf.grad?.tolist(), [3, 3]);
  new optim.SGD([leaf], undefined as never).step();
});

Deno.test("a compiled function ignores trailing undefined arguments", () => {
  const c = capture((x: Tensor, a?: number, b = 2) => x.mul(a ?? 1).add(b));
  const x = ones([2]);
  const results = [c.run(x), c.run(x, undefined), c.run(x, undefined, undefined), c.run(x, 1, undefined)];
  assertEquals(results.map((r) => r.tolist()), [[3, 3], [3, 3], [3, 3], [3, 3]]);
  assertEquals(c.entries(), 2);
  const many = compile((...xs: (Tensor | undefined)[]) => xs.length, { backend: "eager" });
  // Rest parameters are the language's own: they count.
  assertEquals([many(x), many(x, undefined)], [1, 2]);
});
