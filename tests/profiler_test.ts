/**
 * Profiles: what they record of programs on every tier, and how they aggregate it. Numbers of operations and the
 * actions of schedules are those of torch.profiler 2.15 for the same programs and options.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compile,
  config,
  counters,
  init,
  nn,
  profile,
  profiler,
  randn,
  recordFunction,
  type Tensor,
} from "../mod.ts";
import { shareOfLimit } from "../lib/debug/profiler/limits.ts";
import { launches } from "../lib/loops/launch.ts";
import { withFolder } from "./support/process.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Numbers of events by kind and name, without what depends on caches: phases of compilation. */
function counted(prof: profiler.Profile): Record<string, number> {
  const rows = prof.keyAverages().filter(({ kind }) => kind !== "compile");
  return Object.fromEntries(rows.map(({ kind, key, count }) => [`${kind} ${key}`, count]));
}

/** The kernels of a profile by what they cost. */
const costs = (prof: profiler.Profile) =>
  prof.events().filter(({ kind }) => kind === "kernel").map(({ device, bytes, flops }) => ({
    device,
    bytes,
    flops,
  }));

/** Every event lies in its parent, and what it holds besides its children is not negative. */
function assertNested(events: readonly profiler.ProfileEvent[]): void {
  const inside = new Map<profiler.ProfileEvent, number>();
  for (const event of events) {
    const { parent, start, duration } = event;
    assert(duration >= 0 && start >= 0, event.name);
    if (!parent) continue;
    // Clocks of kernels and of the program differ by less than a tenth of a millisecond
    assert(
      parent.start <= start + 100 && start + duration <= parent.start + parent.duration + 100,
      event.name,
    );
    inside.set(parent, (inside.get(parent) ?? 0) + duration);
  }
  for (const [event, sum] of inside) assert(sum <= event.duration + 100, `${event.name}: ${sum}`);
}

Deno.test("ops are events with their kernels, bytes and operations", () => {
  const a = randn([32, 48]), b = randn([48, 16]), c = randn([32, 48]);
  const prof = profile(() => a.matmul(b) && a.add(c));
  assertEquals(counted(prof), { "op matmul": 1, "op add": 1, "kernel mm": 1, "kernel add": 1 });
  assertEquals(costs(prof), [
    { device: "cpu", bytes: 4 * (32 * 48 + 48 * 16 + 32 * 16), flops: 49152 },
    { device: "cpu", bytes: 4 * 3 * 32 * 48, flops: 1536 },
  ]);
  assertNested(prof.events());
});

Deno.test("the same with sizes that only a call knows", () => {
  for (const n of [20000, 30000, 40000]) {
    const x = randn([n]);
    const [kernel] = costs(profile(() => x.mul(2)));
    assertEquals(kernel, { device: "cpu", bytes: 4 * 2 * n, flops: n });
  }
});

for (const tier of ["wait", "wasm"] as const) {
  Deno.test({
    name: `compiled functions show graphs and kernels, and give the same: ${tier}`,
    ignore: tier === "wait" && SKIP_NATIVE,
    fn() {
      const model = new nn.Sequential(new nn.Linear(8, 16), new nn.Tanh(), new nn.Linear(16, 4));
      const x = randn([5, 8]);
      const [plain, graph] = config.patch({ inductor: { tier } }, () => {
        const step = compile((x: Tensor) => {
          const loss = model.call(x).pow(2).mean();
          loss.backward();
          return loss;
        }, { name: "step" });
        const plain = step(x);
        let seen: Tensor | undefined;
        const prof = profile(() => seen = step(x));
        assertEquals(seen?.item(), plain.item());
        return [plain, prof];
      });
      assertEquals(plain.shape, []);
      const { events } = { events: graph.events() }, kernels = events.filter(({ kind }) => kind === "kernel");
      assertEquals([counted(graph)["compiled step"], counted(graph)["guards guards of step"]], [1, 1]);
      assertEquals(counted(graph)["graph inference graph"], 1);
      assert(kernels.length >= 3, `${kernels.map(({ name }) => name)}`);
      for (const { name, parent, bytes, flops } of kernels) {
        assertEquals([parent?.kind, parent?.parent?.kind], ["graph", "compiled"], name);
        assert(bytes !== null && bytes > 0 && flops !== null, name);
      }
      assertNested(events);
    },
  });
}

Deno.test("graphs cached by an earlier process know the costs of their kernels", async () => {
  await withFolder(async (folder) => {
    const program = `
      import { compile, ones, profile } from ${JSON.stringify(new URL("../mod.ts", import.meta.url).href)};
      const f = compile((x) => x.sin().add(1).sum());
      f(ones([100]));
      const prof = profile(() => f(ones([100])));
      const found = prof.events().filter((e) => e.kind === "kernel" && e.parent.kind === "graph");
      console.log(JSON.stringify(found.map(({ name, bytes, flops }) => ({ name, bytes, flops }))));`;
    await Deno.writeTextFile(`${folder}/a.js`, program);
    const run = async () => {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--no-check",
          "--config",
          new URL("../deno.json", import.meta.url).pathname,
          `${folder}/a.js`,
        ],
        env: { DYN_CACHE_DIR: `${folder}/cache`, DYN_GRAPH_CACHE: "1", DYN_TIER: "wasm" },
        stderr: "inherit",
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const first = await run();
    assertMatch(first, /^\[\{"name":"fused_.*","bytes":404,"flops":\d+\}\]\n$/);
    assertEquals(await run(), first);
  });
});

Deno.test("backward passes show their nodes", () => {
  const w = randn([6], { requiresGrad: true });
  const found = counted(profile(() => w.exp().sum().backward()));
  assertEquals([found["backward ExpBackward0"], found["backward SumBackward0"]], [1, 1]);
});

Deno.test("averages sum events of one name, nested calls once in totals", () => {
  const inner = () => recordFunction("part", () => 1), x = randn([4]);
  const prof = profile(() => {
    recordFunction("part", () => inner() && x.add(1));
    x.add(2);
  });
  const rows = prof.keyAverages(), part = rows.find(({ key }) => key === "part");
  const events = prof.events().filter(({ name }) => name === "part");
  assertEquals([part?.count, events.length], [2, 2]);
  assertEquals(part?.cpuTimeTotal, events.find(({ parent }) => parent === null)?.duration);
  const add = rows.find(({ key, kind }) => key === "add" && kind === "op");
  assertEquals(add?.count, 2);
  assertEquals(add?.cpuTime, (add?.cpuTimeTotal ?? 0) / 2);
  const whole = prof.events().filter(({ parent }) => parent === null).reduce((sum, e) => sum + e.duration, 0);
  assert(Math.abs(rows.selfCpuTimeTotal + rows.selfDeviceTimeTotal - whole) < 1 + whole / 100);
});

Deno.test("tables are sorted and truncated on request", () => {
  const x = randn([50, 50]);
  const rows = profile(() => x.matmul(x).add(x).sum()).keyAverages();
  const table = rows.table({ sortBy: "flops", rowLimit: 2 }).split("\n");
  assertMatch(
    table[1] ?? "",
    /^Name +Kind +Self CPU % +Self CPU +CPU total % +CPU total .*Of limit +# of Calls$/,
  );
  assertMatch(table[3] ?? "", /^mm +kernel .* 250\.00K +\d+% +1$/);
  assertEquals(table.length, 1 + 1 + 1 + 2 + 1 + 2);
  assertMatch(table.at(-1) ?? "", /^Kernel time total: [\d.]+(us|ms|s)$/);
  assertThrows(
    () => rows.table({ sortBy: "time" as "count" }),
    Error,
    "Expected sortBy of table to be one of count, cpuTimeTotal",
  );
  assertThrows(() => rows.table({ rows: 3 } as object), Error, "found rows");
});

Deno.test("schedules are torch.profiler's", () => {
  const actions = (options: profiler.ScheduleOptions, steps: number) =>
    Array.from({ length: steps }, (_, step) => profiler.schedule(options)(step));
  assertEquals(
    actions({ wait: 1, warmup: 1, active: 2, repeat: 2, skipFirst: 1 }, 12).join(" "),
    "none none warmup record recordAndSave none warmup record recordAndSave none none none",
  );
  assertEquals(
    actions({ warmup: 1, active: 1 }, 5).join(" "),
    "warmup recordAndSave warmup recordAndSave warmup",
  );
  assertThrows(
    () => profiler.schedule({ active: 0 }),
    Error,
    "Expected active to be a number of steps, at least 1",
  );
});

Deno.test("a schedule records its steps, and reports each cycle when torch.profiler does", () => {
  const x = randn([4]);
  const told = (repeat: number, steps: number): unknown[] => {
    const log: unknown[] = [];
    profile((prof) => {
      for (let i = 0; i < steps; i++) {
        x.add(1);
        prof.step();
      }
    }, {
      schedule: profiler.schedule({ wait: 1, warmup: 1, active: 2, repeat }),
      onTraceReady: (prof) => log.push([prof.stepNum, counted(prof)]),
    });
    return log;
  };
  const cycle = (first: number, last = first + 1) => ({
    "op add": last - first + 1,
    "kernel add": last - first + 1,
    ...Object.fromEntries([first, last].map((step) => [`step ProfilerStep#${step}`, 1])),
  });
  assertEquals(told(2, 10), [[4, cycle(2)], [8, cycle(6)]]);
  assertEquals(told(0, 7), [[4, cycle(2)], [7, cycle(6, 6)]]);
});

Deno.test("promises are profiled to their end, and named spans continue after await", async () => {
  const x = randn([4]);
  const prof = await profile(async () => {
    await recordFunction("slow", async () => {
      await new Promise((done) => setTimeout(done, 5));
      x.add(1);
    });
    x.mul(2);
  });
  const [slow, add, mul] = ["slow", "add", "mul"].map((name) =>
    prof.events().find((event) => event.name === name && event.kind !== "kernel")
  );
  assert(slow && slow.isAsync && slow.duration >= 4000);
  assertEquals([add?.parent, mul?.parent], [slow, null]);
});

Deno.test("named spans do not break compiled functions", () => {
  counters.clear();
  const f = compile((x: Tensor) => recordFunction("inner", () => x.sin()).add(1), { fullgraph: true });
  const x = randn([3]);
  assertEquals(f(x).tolist(), x.sin().add(1).tolist());
});

Deno.test("memory in use is sampled at each change", () => {
  const kept: Tensor[] = [];
  const prof = profile(() => {
    for (let i = 0; i < 3; i++) kept.push(randn([1 << 16]));
  });
  const bytes = prof.memoryTimeline().filter(({ device }) => device === "cpu").map(({ allocated }) =>
    allocated
  );
  assert(bytes.length >= 4);
  assert((bytes.at(-1) ?? 0) - (bytes[0] ?? 0) >= 3 * 4 * (1 << 16));
  const randomRow = prof.keyAverages().find(({ kind, key }) => kind === "op" && key === "randn");
  assert((randomRow?.cpuMemoryUsage ?? 0) >= 3 * 4 * (1 << 16));
  assertEquals(kept.length, 3);
});

Deno.test("a program that throws ends its profile; profiles do not nest", () => {
  assertThrows(
    () =>
      profile(() => {
        throw new RangeError("mine");
      }),
    RangeError,
    "mine",
  );
  assertThrows(() => profile(() => profile(() => 1)), Error, "Expected no active profile but found one");
  assertEquals(profile(() => 1).events(), []);
  assertThrows(
    () => new profiler.Profile().events(),
    Error,
    "Expected a profile with a recorded cycle",
  );
});

Deno.test("an observer of program starts before a profile sees them inside it too", () => {
  const x = randn([8]), former = launches.watcher;
  let seen = 0;
  launches.watcher = (launch, call) => {
    seen++;
    return launch.program.run(call);
  };
  try {
    const prof = profile(() => x.mul(2));
    assertEquals([seen, costs(prof).length], [1, 1]);
    x.mul(2);
    assertEquals(seen, 2);
  } finally {
    launches.watcher = former;
  }
});

Deno.test("unmeasured shares of limits are not reported", () => {
  const work = { bytes: 100, flops: 100, microseconds: 10 };
  assertEquals(shareOfLimit(work, { bytesPerSecond: 1e8, operationsPerSecond: 2e7 }), 0.5);
  assertEquals(shareOfLimit(work, { bytesPerSecond: 0, operationsPerSecond: 0 }), null);
});

Deno.test("Chrome traces hold complete events that nest, counters and names of tracks", async () => {
  await withFolder(async (folder) => {
    const x = randn([64, 64]), path = `${folder}/trace.json`;
    profile(() => recordFunction("outer", () => x.matmul(x).relu())).exportChromeTrace(path);
    const { traceEvents: found }: { traceEvents: Record<string, unknown>[] } = JSON.parse(
      await Deno.readTextFile(path),
    );
    const of = (ph: string) => found.filter((event) => event["ph"] === ph);
    assertEquals(of("M").map((event) => JSON.stringify(event["args"])), [
      `{"name":"dyn"}`,
      `{"name":"program"}`,
      `{"name":"kernels of cpu"}`,
    ]);
    assertEquals(
      of("X").filter((event) => event["cat"] !== "compile").map((event) =>
        `${event["tid"]} ${event["name"]}`
      ),
      ["1 outer", "1 matmul", "1 mm", "2 mm", "1 relu", "2 relu"],
    );
    for (const event of of("X")) assert(Number(event["dur"]) >= 0 && Number(event["ts"]) >= 0);
    assert(of("C").length >= 1);
  });
});

Deno.test("limits are measured, and shares follow from them", { ignore: SKIP_NATIVE }, () => {
  const { bytesPerSecond, operationsPerSecond } = profiler.machineLimits("cpu");
  assert(bytesPerSecond > 1e8 && bytesPerSecond < 1e13, `${bytesPerSecond}`);
  assert(operationsPerSecond > 1e8 && operationsPerSecond < 1e15, `${operationsPerSecond}`);
});

Deno.test("WebGPU's kernels are timed by the device", { ignore: SKIP_WEBGPU }, async () => {
  await init({ device: "webgpu" });
  const x = randn([64, 64], { device: "webgpu" });
  const f = compile((x: Tensor) => x.matmul(x).relu().sum());
  f(x);
  const prof = profile(() => [x.neg(), f(x)]);
  const kernels = prof.events().filter(({ kind }) => kind === "kernel");
  assertEquals(kernels.every(({ device, duration }) => device === "webgpu" && duration > 0), true);
  assertEquals(kernels[0]?.bytes, 4 * 2 * 64 * 64);
  assert(kernels.some(({ flops }) => (flops ?? 0) >= 2 * 64 ** 3));
  assertNested(prof.events());
});
