/**
 * The fuzzer of tensor programs itself: it finds faults, shrinks their programs, and recognises rounding. Faults are
 * injected by backends that change results.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { runCampaign } from "../../cli/fuzz/campaign.ts";
import type { CampaignEvent } from "../../cli/fuzz/protocol.ts";
import { compare } from "../../cli/fuzz/tensor/comparison.ts";
import { TensorFuzzer } from "../../cli/fuzz/tensor/fuzzer.ts";
import { programs } from "../../cli/fuzz/tensor/generate.ts";
import type { Instance } from "../../cli/fuzz/tensor/instance.ts";
import { enterLaboratory } from "../../cli/fuzz/tensor/laboratory.ts";
import { observe } from "../../cli/fuzz/tensor/observe.ts";
import { factoryText } from "../../cli/fuzz/tensor/print.ts";
import {
  blocksOf,
  namesBound,
  namesInArg,
  namesRead,
  type Program,
  type Statement,
} from "../../cli/fuzz/tensor/program.ts";
import { shrinkProgram } from "../../cli/fuzz/tensor/shrink.ts";
import { meetsWideIntegers } from "../../cli/fuzz/tensor/wide_integers.ts";
import type { GraphModule } from "../../lib/graph/graph_module.ts";
import { type Backend, complex, isTensor, nn, type Tensor, tensor, where } from "../../mod.ts";

enterLaboratory();

/** Runs graphs as they are and changes what comes out of them. */
function changing(change: (result: Tensor) => Tensor): Backend {
  return (gm) => (...inputs) => {
    const results = gm.forward(...inputs);
    if (!Array.isArray(results)) return results;
    const isChanged = (each: unknown): each is Tensor =>
      isTensor(each) && (each.isFloatingPoint() || each.isComplex());
    return results.map((each: unknown) => isChanged(each) ? change(each) : each);
  };
}

const runnable = (f: Instance["f"], ...args: readonly Tensor[]) => ({
  make: (): Instance => ({
    f,
    calls: [() => ({ args, seen: Object.fromEntries(args.map((arg, k) => [`x${k}`, arg])) })],
    effects: [],
    state: {},
    optimizer: null,
  }),
  modes: ["grad"] as const,
});

Deno.test("integers of more than 32 bits are detected, also in intermediate results", () => {
  const meets = (x: Tensor) => meetsWideIntegers(() => void x.to("int64").add(1).to("float32").sin());
  const float = (...values: number[]) => tensor(values, { dtype: "float32" });
  assertEquals([float(1, -3e8), float(1, NaN), float(3e9)].map(meets), [false, true, true]);
});

Deno.test("one seed generates the same programs each time", () => {
  const draw = () => JSON.stringify(fc.sample(programs(), { seed: 7, numRuns: 40 }));
  assertEquals(draw(), draw());
});

/** Names that a program reads where nothing has bound them. */
function unboundNames({ state, setup, params, body, results }: Program): string[] {
  const wrong: string[] = [];
  const walk = (list: readonly Statement[], names: Set<string>) => {
    for (const statement of list) {
      wrong.push(...namesRead(statement).filter((name) => !names.has(name)));
      for (const block of blocksOf(statement)) walk(block, new Set(names));
      for (const name of namesBound(statement)) names.add(name);
    }
  };
  const names = new Set<string>();
  walk(state, names);
  walk(setup, new Set(names));
  for (const param of params) names.add(param);
  walk(body, names);
  wrong.push(...results.flatMap(namesInArg).filter((name) => !names.has(name)));
  return wrong;
}

Deno.test("programs and smaller ones name only what they bind, and differ from each other", () => {
  for (const program of fc.sample(programs(), { seed: 3, numRuns: 60 })) {
    assertEquals(unboundNames(program), [], factoryText(program, "make", { types: false }));
    const texts = new Set([JSON.stringify(program)]);
    for (const smaller of shrinkProgram(program)) {
      assertEquals(unboundNames(smaller), [], factoryText(smaller, "make", { types: false }));
      const text = JSON.stringify(smaller);
      assert(!texts.has(text), "Expected each smaller program once");
      texts.add(text);
    }
  }
});

Deno.test("shrinking terminates", () => {
  for (const program of fc.sample(programs(), { seed: 4, numRuns: 20 })) {
    // The last candidate that still holds a statement, again and again
    let now: Program | undefined = program, steps = 0;
    while (now !== undefined && steps < 2000) {
      const candidates: Program[] = [...shrinkProgram(now)];
      now = candidates.findLast((each) => each.body.length > 0);
      steps++;
    }
    assert(steps < 2000, "Expected an end");
  }
});

Deno.test("a fault in one op is found and its program minimised", async () => {
  const mistaken = (gm: GraphModule) => {
    for (const node of gm.graph.nodes) if (node.target === "tanh") node.target = "sigmoid";
    gm.recompile();
    return (...inputs: unknown[]) => gm.forward(...inputs);
  };
  const fuzzer = new TensorFuzzer({
    backend: mistaken,
    without: ["failure", "backward", "optimizer", "strides"],
  });
  const events: CampaignEvent[] = [];
  await runCampaign(fuzzer, {
    tier: "eager",
    seed: 5,
    programs: 200,
    seconds: 1e9,
    shrinkSeconds: 1e9,
    report: (event) => events.push(event),
    enough: 1,
  });
  const found = events.find((event) => event.event === "finding");
  assert(found?.event === "finding", "Expected a finding");
  const body = found.file.slice(found.file.indexOf("=> {"), found.file.indexOf("return ["));
  assertEquals(body.match(/const v/g)?.length, 1, found.file);
  assert(found.file.includes("tanh("), found.file);
  // The path leads to the same program
  const again: CampaignEvent[] = [];
  const { seed, path } = found;
  await runCampaign(fuzzer, {
    tier: "eager",
    seed,
    path,
    programs: 1,
    seconds: 1e9,
    shrinkSeconds: 0,
    report: (event) => again.push(event),
  });
  const repeated = again.find((event) => event.event === "finding");
  assertEquals(repeated?.event === "finding" ? repeated.file : null, found.file);
});

Deno.test("rounding is not a difference, a larger error is", async () => {
  const x = tensor([0.3, -1.7, 2.9], { dtype: "float32" });
  const f = (x: Tensor) => [x.sin().mul(3)];
  const near = await compare(runnable(f, x), { backend: changing((y) => y.mul(1 + 2 ** -22)) });
  assertEquals(near.difference, null);
  const far = await compare(runnable(f, x), { backend: changing((y) => y.mul(1 + 2 ** -16)) });
  assertEquals(far.difference?.kind, "values");
});

Deno.test("both parts of complex results are compared as other numbers are", async () => {
  const x = tensor([0.3, -1.7, 2.9], { dtype: "float32" });
  const f = (x: Tensor) => [complex(x.sin(), x).exp()];
  const kindOf = async (change: (y: Tensor) => Tensor) =>
    (await compare(runnable(f, x), { backend: changing(change) })).difference?.kind ?? null;
  assertEquals(await kindOf((y) => y.mul(1 + 2 ** -22)), null);
  assertEquals(await kindOf((y) => y.conj().resolveConj()), "values");
});

Deno.test("results that depend on rounding may come out either way, and no others", async () => {
  // 7 / 3 · 3 − 7 is as likely positive as negative
  const x = tensor([7, 11, 13, 49], { dtype: "float32" });
  const flipped = changing((y) => y.neg());
  const unstable = (x: Tensor) => [x.div(3).mul(3).sub(x).add(1e-9).sign()];
  assertEquals((await compare(runnable(unstable, x), { backend: flipped })).difference, null);
  const stable = (x: Tensor) => [x.sign()];
  assertEquals((await compare(runnable(stable, x), { backend: flipped })).difference?.kind, "values");
});

Deno.test("a result that cancels may differ by as much as plain runs differ in its digits", async () => {
  const x = tensor([1e4, 1, -1e4, 1e-3], { dtype: "float32" });
  const f = (x: Tensor) => [x.mul(x.sin()).sum().sub(x.mul(x.sin()).sum().mul(1.0001))];
  const { difference } = await compare(runnable(f, x), { backend: changing((y) => y.mul(1 + 1e-5)) });
  assertEquals(difference, null);
});

Deno.test("a sum depends on its order only if its numbers differ much in size", async () => {
  const f = (x: Tensor) => [x.sum()];
  const differs = async (values: readonly number[], by: number) => {
    const x = tensor([...values], { dtype: "float32" });
    return (await compare(runnable(f, x), { backend: changing((y) => y.add(by)) })).difference?.kind ?? null;
  };
  // 1.5 and 2.25 may be lost or not
  assertEquals(await differs([1.5, -1e30, 2.25, 1e30], 3.75), null);
  assertEquals(await differs([1.5, -64, 2.25, 64], 0.0625), "values");
});

Deno.test("rounding is tolerated where it changes the number of elements, too", async () => {
  // Of the many that come near 1 some are equal
  const rows = [
    1.8125,
    1.3125,
    0.9375,
    1.34375,
    0.9375,
    1.796875,
    -1.359375,
    1.171875,
    -1.875,
    0.84375,
    1.375,
  ];
  const x = tensor([...rows, 1.0625, -0.046875, -0.8125], { dtype: "float32" });
  const f = (x: Tensor) => [x.cumprod(0).mul(9).sigmoid().unique()];
  const kindOf = async (by: number) => {
    const backend = changing((y) => y.mul(where(y.lt(1e-6), 1 + by, 1)));
    return (await compare(runnable(f, x), { backend })).difference?.kind ?? null;
  };
  assertEquals([await kindOf(2e-6), await kindOf(1e-3)], [null, "values"]);
});

Deno.test("signs of zeros are compared, except where cancellation may not give zero", async () => {
  const x = tensor([0, 2, -0], { dtype: "float32" });
  const kindOf = async (f: Instance["f"], backend: Backend) =>
    (await compare(runnable(f, x), { backend })).difference?.kind ?? null;
  const positive = changing((y) => y.add(0)), negative = changing((y) => where(y.eq(0), -0, y));
  assertEquals(await kindOf((x: Tensor) => [x.mul(3)], positive), "values");
  // 2 / 3 · 3 − 2 is 0 by luck
  assertEquals(await kindOf((x: Tensor) => [x.add(2).div(3).mul(3).sub(x).sub(2)], negative), null);
});

Deno.test("shared memory, strides, errors and effects are compared", async () => {
  const x = () => tensor([[1, 2], [3, 4]], { dtype: "float32" });
  const kindOf = async (f: Instance["f"], backend: Backend) =>
    (await compare(runnable(f, x()), { backend })).difference?.kind;
  assertEquals(await kindOf((x: Tensor) => [x.add(1).t()], changing((y) => y.contiguous())), "strides");
  assertEquals(await kindOf((x: Tensor) => [x.t()], changing((y) => y.clone())), "memory");
  const throwing: Backend = () => () => {
    throw new RangeError("no");
  };
  const outcome = await kindOf((x: Tensor) => [x.add(1)], throwing);
  assert(outcome?.startsWith("outcome returned / threw RangeError: no"), outcome);
});

Deno.test("gradients may be dense where the tape uses a part, and in no other order", async () => {
  const x = () => tensor([[1, 2], [3, 4]], { dtype: "float32" });
  const kindOf = async (f: Instance["f"], change: (y: Tensor) => Tensor, passes: number) =>
    (await compare(runnable(f, x()), { backend: changing(change), passes })).difference?.kind;
  const column = (x: Tensor) => [x.add(1).select(1, 0)];
  assertEquals(await kindOf(column, (y) => y.clone(), 0), "strides");
  assertEquals(await kindOf(column, (y) => y.clone(), 1), undefined);
  assertEquals(await kindOf((x: Tensor) => [x.add(1).t()], (y) => y.contiguous(), 1), "strides");
});

Deno.test("elements that only eager calls check are no difference", async () => {
  const x = tensor([-0.5, 2], { dtype: "float32" }), { binaryCrossEntropy, gaussianNllLoss } = nn.functional;
  const refused = [(x: Tensor) => [binaryCrossEntropy(x, x)], (x: Tensor) => [gaussianNllLoss(x, x, x)]];
  for (const f of refused) {
    assertThrows(() => f(x), Error, "Expected elements of");
    assertEquals((await compare(runnable(f, x), { backend: "aot_eager" })).difference, null);
  }
});

Deno.test("a hook's observations belong to the call in which it runs", () => {
  const w = tensor([1.5], { dtype: "float32", requiresGrad: true });
  const make = (): Instance => ({
    f: () => [w],
    calls: [0, 1].map(() => () => ({ args: [], seen: {} })),
    effects: [],
    state: {},
    optimizer: null,
  });
  const [first, second] = observe({ make, modes: ["watched", "watched"] }, (f) => f);
  const gradientsOf = (facts: typeof first) =>
    facts?.flatMap(({ place }) => place.startsWith("gradient ") ? place : []);
  assertEquals(gradientsOf(first), ["gradient 0 at result 0 of call 0"]);
  assertEquals(gradientsOf(second), ["gradient 1 at result 0 of call 0", "gradient 0 at result 0 of call 1"]);
});
