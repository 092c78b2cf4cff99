/**
 * Updates of many tensors by one formula, as optimizers compute them, are one region that writes in place: results and
 * tensors are those of eager execution, even if tensors have aliases, are read before and after their updates, or are
 * passed twice. A failure prints its seed; DYN_REGIONS_SEED sets the first seed, DYN_REGIONS_RUNS the number of runs.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  clone,
  compile,
  config,
  manualSeed,
  nn,
  noGrad,
  optim,
  profile,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import { counters } from "../lib/base/logs.ts";
import { isUpdate, rowsOf } from "../lib/graph/updates.ts";

const SEED = Number(Deno.env.get("DYN_REGIONS_SEED") ?? 1),
  RUNS = Number(Deno.env.get("DYN_REGIONS_RUNS") ?? 16);

/** Returns the number of regions made, and of kernels that run. */
const counts = () => [counters.get("aot", "regions"), counters.get("inductor", "kernels")];

function counted<R>(fn: () => R): { readonly result: R; readonly made: readonly number[] } {
  const before = counts(), result = fn();
  return { result, made: counts().map((count, at) => count - (before[at] ?? 0)) };
}

const elements = (each: Tensor): readonly number[] =>
  Array.from(each.detach().contiguous().toTypedArray(), Number);

/** Short formulas take more tensors to be worth a region. */
const [FEW, MANY] = [8, 40];

type Made = readonly [count: number, make: (params: readonly Tensor[]) => optim.Optimizer];

const OPTIMIZERS: Readonly<Record<string, Made>> = {
  SGD: [
    MANY,
    (params) => new optim.SGD(params, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.01 }),
  ],
  Adam: [FEW, (params) => new optim.Adam(params, { lr: 0.01, weightDecay: 0.01 })],
  "Adam, amsgrad": [FEW, (params) => new optim.Adam(params, { lr: 0.01, amsgrad: true })],
  AdamW: [FEW, (params) => new optim.AdamW(params, { lr: 0.01 })],
  RMSprop: [MANY, (params) => new optim.RMSprop(params, { lr: 0.01, momentum: 0.5, centered: true })],
  Adagrad: [MANY, (params) => new optim.Adagrad(params, { lr: 0.01 })],
};

for (const [name, [count, make]] of Object.entries(OPTIMIZERS)) {
  Deno.test(`updates by ${name} are one region, which writes in place`, () => {
    const train = (backend: string | null) => {
      manualSeed(2);
      const params = Array.from({ length: count }, () => new nn.Parameter(randn([3, 5])));
      const optimizer = make(params), plain = () => void optimizer.step();
      const { made } = counted(() => {
        const step = backend === null ? plain : compile(plain, { backend, fullgraph: true });
        for (let k = 0; k < 3; k++) {
          for (const each of params) each.grad = randn([3, 5]);
          step();
        }
      });
      const state = params.map((each) => elements(each));
      return { state, made };
    };
    const expected = train(null).state, through = train("aot_eager");
    assertEquals(through.state, expected);
    assert((through.made[0] ?? 0) >= 1, "Expected a region");
    config.patch({ inductor: { tier: "wasm" } }, () => {
      const { state, made: [regions = 0, kernels = 0] } = train("inductor");
      for (const [at, each] of state.entries()) assertNear(each, expected[at] ?? [], name);
      assert(regions >= 1, "Expected a region");
      // One for the steps, one for the elements of all tensors: no kernel copies what another has written
      assert(kernels <= 2, `Expected two kernels for all tensors at the most but found ${kernels}`);
    });
  });
}

Deno.test("a whole step of layers, a loss and an optimizer updates in regions", () => {
  const train = (compiled: boolean) => {
    manualSeed(3);
    const layers = Array.from({ length: 6 }, () => new nn.Linear(8, 8)),
      module = new nn.Sequential(...layers);
    const optimizer = new optim.AdamW(module.parameters(), { lr: 0.01 });
    const step = (x: Tensor) => {
      optimizer.zeroGrad();
      const loss = module.call(x).tanh().pow(2).mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    const run = compiled ? compile(step, { fullgraph: true }) : step;
    const losses = [0, 1, 2].map(() => clone(run(randn([4, 8]))));
    return [...losses, ...module.parameters()].flatMap(elements);
  };
  const { result, made } = counted(() => train(true));
  assertNear(result, train(false), "step");
  assert((made[0] ?? 0) >= 1, "Expected a region");
});

Deno.test("updates by one formula are one node of the step's graph, whatever the number of layers", () => {
  const updatesOf = (count: number): readonly number[] => {
    const found: number[] = [];
    const backend = aotAutograd({
      fwCompiler: (gm, inputs) => {
        for (const node of gm.graph.nodes) if (isUpdate(node)) found.push(rowsOf(node).length);
        return interpretGraph(gm, inputs);
      },
      regions: true,
    });
    const module = new nn.Sequential(...Array.from({ length: count }, () => new nn.Linear(8, 8)));
    const optimizer = new optim.AdamW(module.parameters(), { lr: 0.01 });
    compile((x: Tensor) => {
      module.call(x).tanh().mean().backward();
      optimizer.step();
    }, { backend, fullgraph: true })(randn([4, 8]));
    return found;
  };
  // Weights and biases
  assertEquals(updatesOf(6), [6, 6]);
  assertEquals(updatesOf(9), [9, 9]);
});

Deno.test("a step that checks its labels updates in place, and writes nothing if one is out of range", () => {
  const labels = tensor([1, 7, 0, 3]), outside = tensor([1, 8, 0, 3]);
  const trained = (compiled: boolean) => {
    manualSeed(4);
    const module = new nn.Sequential(...Array.from({ length: 6 }, () => new nn.Linear(8, 8)));
    const optimizer = new optim.Adam(module.parameters(), { lr: 0.01 }), x = randn([4, 8]);
    const plain = (y: Tensor) => {
      optimizer.zeroGrad();
      const loss = nn.functional.crossEntropy(module.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    const step = compiled ? compile(plain, { fullgraph: true }) : plain;
    const values = () => module.parameters().map((each) => elements(each));
    for (let k = 0; k < 3; k++) step(labels);
    return { step, values };
  };
  const { step, values } = trained(true), before = values();
  assertThrows(() => step(outside), Error, "8");
  assertEquals(values(), before);
  const kernels = profile(() => step(labels)).keyAverages().filter(({ kind }) => kind === "kernel");
  assert(kernels.length > 0, "Expected kernels");
  assertEquals(kernels.filter(({ key }) => key.includes("copy_")).map(({ key }) => key), []);
  const eager = trained(false);
  eager.step(labels);
  assertNear(values().flat(), eager.values().flat(), "a step behind one that failed");
});

/** How an update reads the value that another one replaces. */
const VIEWS: Readonly<Record<string, (later: Tensor) => Tensor>> = {
  "the value itself": (later) => later,
  "a view of all of it": (later) => later.view([9]).view([3, 3]),
  "its transpose": (later) => later.t(),
};

for (const [name, through] of Object.entries(VIEWS)) {
  Deno.test(`updates read what others replace before it is replaced: ${name}`, () => {
    const run = (slots: readonly Slot[], factor: Tensor) => {
      const seen = slots.map(([value]) => through(value));
      // In several kernels, the last of which reads the view
      for (const [at, [, state]] of slots.entries()) {
        const read = seen[at] ?? state, by = factor.sin().exp().cos().tanh().exp().sqrt();
        state.mul_(0.9).add_(read.mul(by)).sub_(read.mul(0.1)).mul_(by);
        state.addcmul_(read, read, { value: 0.5 }).add_(read.abs()).mul_(by);
      }
      for (const [value, , given] of slots) {
        value.mul_(0.9).add_(given).sub_(given.mul(0.1)).mul_(given.sigmoid()).clamp_(-2, 2);
        value.addcmul_(given, given, { value: 0.5 }).add_(given.sin()).mul_(1.01).add_(given.cos());
      }
    };
    const after = (fn: typeof run) => {
      const { slots, all } = slotsOf(2), factor = randn([]);
      noGrad(() => fn(slots, factor));
      return all.flatMap(elements);
    };
    for (const backend of ["aot_eager", "inductor"]) {
      const before = counters.get("aot", "regions");
      const found = config.patch({ inductor: { tier: "wasm" } }, () => after(compile(run, { backend })));
      assertNear(found, after(run), backend);
      assert(counters.get("aot", "regions") > before, "Expected some regions");
    }
  });
}

/** Numbers from a seed. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2654435761 >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * limit);
  }
}

/** The tensors of an update: a value, its state, and their input. */
type Slot = readonly [value: Tensor, state: Tensor, given: Tensor];

const UPDATES: readonly ((slot: Slot) => unknown)[] = [
  ([p, s, g]) => s.mul_(0.9).add_(g) && p.sub_(s.mul(0.1)),
  ([p, s, g]) => p.add_(g.mul(s)),
  ([p, s]) => s.copy_(p.sin()),
  ([p, , g]) => p.mul_(g.sigmoid()).clamp_(-2, 2),
  ([p, s, g]) => s.addcmul_(g, g, { value: 0.5 }) && p.addcdiv_(g, s.abs().add(1)),
  ([p, s]) => p.sub_(s.t().mul(0.25)),
  ([p, s, g]) => s.add_(p.sum(0).mul(0.1)) && p.add_(g),
  ([p]) => p.select(0, 1).mul_(0.5),
];

/** Slots of fresh tensors, of which some are seen by several names. */
function slotsOf(seed: number): { readonly slots: readonly Slot[]; readonly all: readonly Tensor[] } {
  manualSeed(seed);
  const choices = new Choices(seed + 1000), all: Tensor[] = [], slots: Slot[] = [];
  const fresh = () => {
    const made = randn([3, 3]);
    all.push(made);
    return made;
  };
  for (let k = 0; k < 10; k++) {
    const p = fresh(), before = slots.at(-1);
    // Those of every second seed have memory of their own, so that updates may run after everything else
    const kind = k < 4 || seed % 2 === 0 ? 0 : choices.below(12);
    const s = kind === 1 ? p : kind === 2 && before ? before[1] : kind === 3 ? p.t() : fresh();
    const g = kind === 4 && before ? before[0] : kind === 5 ? p : fresh();
    slots.push([p, s, g]);
  }
  return { slots, all };
}

for (const backend of ["aot_eager", "inductor"]) {
  Deno.test(`random updates, ${backend}`, () => {
    const before = counters.get("aot", "regions");
    for (let seed = SEED; seed < SEED + RUNS; seed++) {
      const choices = new Choices(seed), reads = choices.below(4);
      const formula = Array.from(
        { length: 2 + choices.below(4) },
        () => UPDATES[choices.below(UPDATES.length)],
      );
      const run = (slots: readonly Slot[]) =>
        noGrad(() => {
          const seen: Tensor[] = [];
          const [[first = null] = [], , third] = slots;
          if (reads === 1 && first) seen.push(first.mul(2), first.t());
          if (reads === 2 && third) seen.push(third[1].clone());
          // Long enough for a region
          for (const slot of slots) for (const each of [...formula, ...formula, ...formula]) each?.(slot);
          if (reads === 3 && first && third) seen.push(first.add(third[0]), third[1].sum());
          return seen;
        });
      const outcome = (fn: (slots: readonly Slot[]) => readonly Tensor[]) => {
        const { slots, all } = slotsOf(seed), results: (readonly number[])[] = [];
        for (let call = 0; call < 2; call++) results.push(...fn(slots).map(elements));
        return [...results, ...all.map(elements)];
      };
      config.patch({ inductor: { tier: "wasm" } }, () => {
        const expected = outcome(run), found = outcome(compile(run, { backend }));
        assertEquals(found.length, expected.length);
        for (const [at, each] of found.entries()) {
          assertNear(each, expected[at] ?? [], `seed ${seed}, part ${at}`);
        }
      });
    }
    assert(counters.get("aot", "regions") > before, "Expected some regions");
  });
}

function assertNear(found: readonly number[], expected: readonly number[], about: string): void {
  assertEquals(found.length, expected.length);
  for (const [k, value] of found.entries()) {
    const other = expected[k] ?? NaN;
    assert(
      Object.is(value, other) || Math.abs(value - other) <= 2e-5 * (1 + Math.abs(other)),
      `${about}: element ${k} is ${value} instead of ${other}`,
    );
  }
}
