/**
 * Output of compilation for people: records of stages, trace files and their report, debug folders. Programs run as
 * processes if the environment enables something.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Artifact,
  compile,
  compiler,
  config,
  DebugMode,
  logs,
  nn,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import {
  type ArtifactRecord,
  type CompileRecord,
  type PhaseRecord,
  type Recorder,
  recording,
} from "../lib/base/recording.ts";
import { renderReport } from "../lib/debug/report.ts";
import { traceRecorder } from "../lib/debug/trace.ts";
import { readTrace, type TracedProcess } from "../lib/debug/trace_format.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { pageData } from "./support/page_data.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

const dyn = (
  args: readonly string[],
  around: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<Outcome> => runProgram(Deno.execPath(), ["run", "-A", "--no-check", CLI, ...args], around);

const processTests: Deno.TestDefinition[] = [];

/** Defines a test that runs programs in processes of their own, of which a run takes half. */
function inProcesses(name: string, fn: () => Promise<void>): void {
  processTests.push({ name, fn });
}

/** Two parts around a break, a second version of both, and a function with a backward pass. */
const PROGRAM = `import { compile, randn, tensor, type Tensor } from "jsr:@x/dyn";
const f = compile(function f(x: Tensor): Tensor {
  const y = x.mul(1.5).tanh();
  console.log("<b>&'");
  return y.mul(x.sigmoid());
});
f(tensor([0.5, -1, 2]));
f(tensor([0.5, -1]));
const w = randn([4, 4], { requiresGrad: true });
const g = compile(function g(x: Tensor): Tensor {
  return x.matmul(w).softmax(1).sum();
});
g(randn([2, 4])).backward();
`;

/** A recorder that keeps everything in lists. */
function collector(): Recorder & {
  readonly compiles: CompileRecord[];
  readonly errors: (string | null)[];
  readonly artifacts: (ArtifactRecord & { readonly compile: string | undefined })[];
  readonly phases: (PhaseRecord & { readonly compile: string | undefined })[];
} {
  const compiles: CompileRecord[] = [], errors: (string | null)[] = [];
  const artifacts: (ArtifactRecord & { readonly compile: string | undefined })[] = [];
  const phases: (PhaseRecord & { readonly compile: string | undefined })[] = [];
  return {
    compiles,
    errors,
    artifacts,
    phases,
    active: () => true,
    wants: (name) => name !== "unwanted",
    begin: (compile) => void compiles.push(compile),
    end: (_, error) => void errors.push(error),
    artifact: (artifact, compile) => void artifacts.push({ ...artifact, compile: compile?.id }),
    phase: (phase, compile) => void phases.push({ ...phase, compile: compile?.id }),
  };
}

Deno.test("texts without readers are not built", () => {
  const fail = (): string => {
    throw new Error("built");
  };
  recording.artifact("anything", fail);
  const kept = collector(), remove = recording.add(kept);
  recording.artifact("unwanted", fail);
  assertThrows(() => recording.artifact("wanted", fail), Error, "built");
  remove();
  recording.artifact("wanted", fail);
  assertEquals(kept.artifacts, []);
});

Deno.test("records belong to their compilation, by frame and version", () => {
  const kept = collector(), remove = recording.add(kept);
  const unit = {}, other = {};
  const about = { name: "f", place: () => ({ file: "a.ts", line: 3 }), reasons: [] };
  recording.compile(unit, about, () => {
    recording.artifact("one", "1");
    recording.compile(other, { ...about, name: "inner" }, () => recording.artifact("two", "2"));
    recording.artifact("three", "3", { part: "forward" });
  });
  assertThrows(() =>
    recording.compile(unit, { ...about, reasons: ["r"] }, () => {
      throw new Error("Bad");
    })
  );
  recording.artifact("four", "4");
  remove();
  const [first = "", inner = "", second = ""] = kept.compiles.map(({ id }) => id);
  const frame = Number(first.split("/")[0]);
  assertEquals([first, inner, second], [`${frame}/0`, `${frame + 1}/0`, `${frame}/1`]);
  assertEquals(kept.artifacts.map(({ name, compile }) => [name, compile]), [
    ["one", first],
    ["two", inner],
    ["three", first],
    ["four", undefined],
  ]);
  assertEquals(kept.errors, [null, null, "Bad"]);
  assertEquals(kept.compiles[2]?.reasons, ["r"]);
});

Deno.test("phases of a compilation are nested in it, and recording does not change what is compiled", () => {
  const model = new nn.Sequential(new nn.Linear(6, 8), new nn.ReLU(), new nn.Linear(8, 3));
  const input = randn([5, 6]);
  const kernels = (): string[] => {
    compiler.reset();
    const found: string[] = [];
    const f = compile((x: Tensor) => model.call(x).softmax(1).sum());
    logs.capture("kernel_code", (_, text) => found.push(text), () => f(input).backward());
    return found;
  };
  const plain = kernels();
  const kept = collector(), remove = recording.add(kept);
  const recorded = kernels();
  remove();
  assertEquals(recorded, plain);
  assertEquals(plain.length, 2);
  const whole = kept.phases.find(({ name }) => name === "compile");
  assert(whole);
  for (
    const name of [
      "trace",
      "backend",
      "joint",
      "partition",
      "compile_forward",
      "compile_backward",
      "lowering",
      "schedule",
      "codegen",
      "kernels",
    ]
  ) {
    const found = kept.phases.filter((phase) => phase.name === name);
    assert(found.length > 0, name);
    for (const { start, duration, compile } of found) {
      assertEquals(compile, whole.compile);
      assert(start >= whole.start && start + duration <= whole.start + whole.duration + 1, name);
    }
  }
});

/** Runs the program with a trace and reads it back. */
async function traced(folder: string): Promise<TracedProcess> {
  await Deno.writeTextFile(join(folder, "model.ts"), PROGRAM);
  // Kernels are compiled before the program ends, and none is cached from an earlier run
  const env = { DYN_CACHE_DIR: join(folder, "cache"), DYN_TIER: "wait" };
  const { code, stderr } = await dyn(["--trace", "t", "model.ts"], { cwd: folder, env });
  assertEquals([code, stderr], [0, ""]);
  const [log = ""] = [...Deno.readDirSync(join(folder, "t"))].map(({ name }) => name)
    .filter((name) => name.endsWith(".jsonl"));
  return readTrace(log, await Deno.readTextFile(join(folder, "t", log)));
}

/** Every compilation, break, recompilation and text is reported. */
function checkRecords({ process, compiles, skipped }: TracedProcess): void {
  assertEquals([typeof process?.pid, skipped], ["number", 0]);
  const inside = compiles.filter(({ begin }) => begin !== null);
  assertEquals(
    inside.map(({ begin }) => [begin?.compile, begin?.name, begin?.line]),
    [
      ["0/0", "f", 2],
      ["1/0", "__resume_at_6_1", 5],
      ["0/1", "f", 2],
      ["1/1", "__resume_at_6_1", 5],
      ["2/0", "g", 10],
    ].map(([id, name, line]) => [
      id,
      name === "g" || name === "f" ? name : inside[1]?.begin?.name,
      line,
    ]),
  );
  assertEquals(inside.map(({ end }) => end?.error), [null, null, null, null, null]);
  assertEquals(inside.map(({ begin }) => begin?.reasons.length), [0, 0, 1, 1, 0]);
  assertMatch(inside[2]?.begin?.reasons[0] ?? "", /size=\[3\].*model\.ts:2/);
  const [broken] = (inside[0]?.artifacts ?? []).filter(({ name }) => name === "graph_breaks");
  assertEquals(broken?.meta["id"], "GB0005");
  const [frame] = Array.isArray(broken?.meta["stack"]) ? broken.meta["stack"] : [];
  assertEquals([frame?.line, frame?.functionName], [4, "f"]);
  const names = new Set(inside.at(-1)?.artifacts.map(({ part, name }) => `${part ?? "-"} ${name}`));
  for (
    const name of [
      "captured graph_code",
      "- guards",
      "- bytecode",
      "joint aot_joint_graph",
      "forward aot_graphs",
      "backward aot_graphs",
      "forward fx_graph_transformed",
      "forward ir_pre_fusion",
      "forward ir_post_fusion",
      "backward output_code",
      "- kernel_cache",
    ]
  ) assert(names.has(name), `${name} of ${[...names].join(", ")}`);
}

/** Phases are Chrome trace events, and the report shows everything without executing any of it. */
async function checkReport(folder: string, { compiles }: TracedProcess): Promise<void> {
  const [events = ""] = [...Deno.readDirSync(join(folder, "t"))].map(({ name }) => name)
    .filter((name) => name.endsWith(".trace.json"));
  const list: unknown = JSON.parse(await Deno.readTextFile(join(folder, "t", events)));
  assert(Array.isArray(list));
  const spans = list.filter(({ ph }) => ph === "X");
  assertEquals(spans.length, compiles.reduce((sum, { phases }) => sum + phases.length, 0));
  for (const { name, ts, dur, pid, tid } of spans) {
    assertEquals([typeof name, typeof pid, typeof tid], ["string", "number", "number"]);
    assert(ts >= 0 && dur >= 0);
  }
  const { code, stdout } = await dyn(["report", "t"], { cwd: folder });
  const page = join(folder, "t", "report.html");
  assertEquals([code, stdout], [
    0,
    `1 process, 5 compilations, 5 graphs, 1 graph break, 2 recompilations\nWrote ${page}\n`,
  ]);
  const html = await Deno.readTextFile(page);
  const data = pageData(html);
  assert(!html.includes("<b>") && data.includes("<b>&'"));
  assert(!/src=|@import|url\(/.test(html.replace(/<script id="data"[^]*?<\/script>/, "")));
  for (const { artifacts } of compiles) {
    for (const { name, text } of artifacts) {
      if (name === "kernel_cache") continue;
      assertStringIncludes(data, JSON.stringify(text.trimEnd()).slice(1, -1));
    }
  }
}

testInTurn("traces of programs", {
  name: "a trace reports every compilation, break, recompilation and text",
  fn: () =>
    withFolder(async (folder) => {
      const found = await traced(folder);
      checkRecords(found);
      await checkReport(folder, found);
    }),
});

inProcesses("a report needs a trace folder", async () => {
  await withFolder(async (folder) => {
    const wrong: [args: string[], message: RegExp][] = [
      [["report"], /^error: Expected one trace folder but found nothing\n/],
      [["report", "a", "b"], /^error: Expected one trace folder but found a b\n/],
      [["report", "none"], /^error: Expected a trace folder but found none, and there is no such folder\n/],
      [["report", "."], /^error: Expected trace files in \. but found none: run a program .* --trace \.\n/],
    ];
    for (const [args, message] of sampleBySeed(wrong, 2)) {
      const { code, stderr } = await dyn(args, { cwd: folder });
      assertMatch(stderr, message);
      assertEquals(code, 2);
    }
    await Deno.writeTextFile(join(folder, "file"), "");
    assertThrows(
      () => traceRecorder(join(folder, "file")),
      Error,
      "Expected a folder for trace files but found",
    );
  });
});

Deno.test("truncated or unknown lines are skipped and counted; texts cannot escape their element", () => {
  const begin = {
    kind: "begin",
    time: 1,
    compile: "0/0",
    name: "</pre><script>",
    file: null,
    line: null,
    reasons: [],
  };
  const artifact = {
    kind: "artifact",
    time: 2,
    compile: "0/0",
    name: 'a"b',
    part: null,
    text: "</pre>",
    meta: {},
  };
  const lines = [begin, { kind: "other" }, artifact, { kind: "artifact", name: 3 }];
  const process = readTrace("l", lines.map((line) => JSON.stringify(line)).join("\n") + '\n{"kind":"art');
  assertEquals([process.compiles.length, process.compiles[0]?.artifacts.length, process.skipped], [1, 1, 3]);
  const html = renderReport("<t>", [process]);
  assert(!html.includes("</pre>") && !html.includes("<t>"));
  for (const text of ["</pre>", "did not end"]) assertStringIncludes(pageData(html), text);
});

/** All files below a folder, by their paths in it. */
function filesIn(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(join(folder, below))].flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory ? filesIn(folder, path) : [path];
  }).sort();
}

const GRAPH_FILES = [
  "fx_graph_readable.js",
  "fx_graph_transformed.js",
  "ir_post_fusion.txt",
  "ir_pre_fusion.txt",
  "memory_plan.txt",
];

inProcesses("a debug folder holds the steps of each compilation", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "model.ts"), PROGRAM);
    const { code, stderr } = await dyn(["model.ts"], { cwd: folder, env: { DYN_COMPILE_DEBUG: "d" } });
    const [run = ""] = [...Deno.readDirSync(join(folder, "d"))].map(({ name }) => name);
    assertMatch(run, /^run_[0-9-]+_\d+_\d+$/);
    const place = join(folder, "d", run);
    assertEquals([code, stderr], [0, `dyn: debug folders of this run are in ${place}\n`]);
    const compiles = [...Deno.readDirSync(place)].map(({ name }) => name).sort();
    assertEquals(compiles.map((name) => name.slice(0, 5)), ["0_0_f", "0_1_f", "1_0__", "1_1__", "2_0_g"]);
    const files = filesIn(join(place, "2_0_g")).filter((name) => !name.includes("output_code"));
    assertEquals(files, [
      ...GRAPH_FILES.map((name) => `backward/${name}`),
      "captured/fx_graph_code.js",
      "captured/fx_graph_readable.js",
      ...GRAPH_FILES.map((name) => `forward/${name}`),
      "guards.txt",
      "joint/fx_graph_readable.js",
      "modified_code.txt",
      "phase_times.txt",
    ]);
    const read = (path: string) => Deno.readTextFileSync(join(place, path));
    const kernels = (path: string) => read(path).match(/^ {2}(loops|extern) /gm)?.length ?? 0;
    assert(kernels("2_0_g/forward/ir_pre_fusion.txt") > kernels("2_0_g/forward/ir_post_fusion.txt"));
    assertStringIncludes(read("2_0_g/backward/memory_plan.txt"), "arena ");
    assertMatch(read("0_0_f/phase_times.txt"), /^ +[\d.]+ ms {2}compile\n +[\d.]+ ms {4}trace\n/);
    assertMatch(read("0_0_f/graph_breaks.txt"), /model\.ts:4/);
  });
});

inProcesses("a folder that cannot be created is an error that names it", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "model.ts"), PROGRAM);
    const place = join("model.ts", "d");
    const trace = await dyn(["--trace", place, "model.ts"], { cwd: folder });
    assertMatch(trace.stderr, /^error: Expected a folder for trace files but found "model\.ts\/d": /);
    const debug = await dyn(["model.ts"], { cwd: folder, env: { DYN_COMPILE_DEBUG: place } });
    assertMatch(debug.stderr, /DynError: Expected a folder for debug folders but found "model\.ts\/d": /);
    assertEquals([trace.code, debug.code], [1, 1]);
  });
});

inProcesses("settings select the files of a debug folder, for one function too", async () => {
  await withFolder(async (folder) => {
    const script = `import { compile, config, tensor, type Tensor } from "jsr:@x/dyn";
const options = { "trace.enabled": true, "trace.irPreFusion": false, "trace.graphDiagram": true };
compile(function h(x: Tensor) { return x.add(1).mul(2); }, { options })(tensor([1.5]));
compile((x: Tensor) => x.sub(1))(tensor([1.5]));
console.log(config.inductor.trace.enabled);
`;
    await Deno.writeTextFile(join(folder, "model.ts"), script);
    const { stdout, stderr } = await dyn(["model.ts"], { cwd: folder, env: { DYN_COMPILE_DEBUG: "0" } });
    assertEquals(stdout, "false\n");
    assertMatch(stderr, /^dyn: debug folders of this run are in .*dyn_compile_debug.run_/);
    const files = filesIn(join(folder, "dyn_compile_debug")).map((path) =>
      path.split("/").slice(1).join("/")
    );
    assertEquals(files.filter((path) => !path.includes("output_code")), [
      "0_0_h/inference/fx_graph_readable.js",
      "0_0_h/inference/fx_graph_transformed.js",
      "0_0_h/inference/ir_post_fusion.txt",
      "0_0_h/inference/memory_plan.txt",
      "0_0_h/inference/schedule.dot",
      "0_0_h/phase_times.txt",
    ]);
  });
});

Deno.test("compile times go by function and phase, and add up", () => {
  compiler.reset();
  const w = randn([3, 3]).requiresGrad_();
  const named = compile(function named(x: Tensor): Tensor {
    const y = x.matmul(w);
    if (y.sum().item() === Infinity) return y;
    return y.tanh().sum();
  }, { backend: "aot_eager" });
  const arrow = compile((x: Tensor) => x.mul(2), { backend: "eager" });
  named(randn([2, 3]));
  arrow(randn([2]));
  const times = compiler.compileTimes();
  const [first, second, ...more] = times.functions;
  assertEquals(more, []);
  assertEquals([first?.name, first?.compilations], ["named", 2]);
  assertMatch(second?.name ?? "", /^debug_test\.ts:\d+$/);
  for (const { phases, total } of times.functions) {
    assert(phases.capture > 0 && phases.guards > 0);
    const sum = Object.values(phases).reduce((a, b) => a + b, 0);
    assert(Math.abs(sum - total) < 1e-6);
    for (const each of Object.values(phases)) assert(each > -1e-6 && each <= total);
  }
  assert((first?.phases.joint ?? 0) > 0 && (first?.phases.partition ?? 0) > 0);
  const lines = `${times}`.split("\n");
  assertEquals(lines[1]?.split(/ +/), [
    "function",
    "versions",
    "capture",
    "guards",
    "joint",
    "partition",
    "inductor",
    "kernels",
    "total",
  ]);
  assertEquals(lines.length, 5);
  assertEquals(lines.at(-1)?.split(/ +/).slice(0, 2), ["all", "3"]);
  assertEquals(Deno.inspect(times), `${times}`);
  compiler.reset();
  assertEquals(`${compiler.compileTimes()}`, "Nothing was compiled");
});

Deno.test("kernels are counted by function, and compiled modules are listed by class", () => {
  const f = compile((x: Tensor) => x.mul(2).add(1).sum()), other = compile((x: Tensor) => x.add(1));
  f(randn([2, 3]));
  assertEquals([compiler.status(f).kernels, compiler.status(other).kernels], [1, 0]);
  class Net extends nn.Module {
    layer = new nn.Linear(2, 2);
    override forward(x: Tensor): Tensor {
      return this.layer.call(x);
    }
  }
  compiler.reset();
  compile(new Net(), { backend: "eager" }).call(randn([1, 2]));
  assertEquals(compiler.compileTimes().functions.map(({ name }) => name), ["Net"]);
  config.patch({ debugFunction: "Net" }, () => {
    compiler.reset();
    const net = compile(new Net(), { backend: "eager" });
    net.call(randn([1, 2]));
    assertEquals(compiler.status(net).graphs, 1);
  });
});

Deno.test("a log of ops shows what runs, compositions above their parts, and where two runs diverge", () => {
  const f = (x: Tensor): Tensor => nn.functional.linear(x, x).relu();
  const x = tensor([[1, 2], [3, 4.5]]);
  const logged = (input: Tensor): DebugMode => {
    const mode = new DebugMode();
    assertEquals(mode.run(() => f(input)).tolist(), f(input).tolist());
    return mode;
  };
  const first = logged(x);
  assertEquals(first.entries.map(({ name, depth }) => `${depth} ${name}`), [
    "0 linear",
    "1 t",
    "2 permute",
    "1 matmul",
    "2 mm",
    "0 relu",
  ]);
  assertEquals(
    first.toString().split("\n")[4],
    "    mm(self: f32[2, 2], mat2: f32[2, 2]) -> f32[2, 2] #58.2500",
  );
  assertEquals(first.firstDifference(logged(x)), null);
  assertEquals(first.firstDifference(logged(x.add(1)))?.map((entry) => entry?.name), ["linear", "linear"]);
  const g = compile(f, { backend: "aot_eager" }), compiled = new DebugMode();
  g(x);
  compiled.run(() => g(x));
  assert(compiled.entries.some(({ name }) => name === "mm"));
});

/** Returns what is printed by default. */
function printed(spec: string, body: () => void): [Artifact, string][] {
  const seen: [Artifact, string][] = [];
  logs.capture(spec, (artifact, text) => seen.push([artifact, text]), body);
  return seen;
}

Deno.test("levels: errors always, warnings unless suppressed, the artifact and its steps on request", () => {
  const emit = (): void => {
    for (const level of ["error", "warning", "info", "debug"] as const) logs.emit("dynamo", level, level);
  };
  const levels = (spec: string) => printed(spec, emit).map(([, text]) => text);
  assertEquals(levels("-dynamo"), ["error"]);
  assertEquals(levels("dynamo"), ["error", "warning", "info"]);
  assertEquals(levels("+dynamo"), ["error", "warning", "info", "debug"]);
});

Deno.test("the limit of versions is reported once, with what kept changing", () => {
  const f = compile(function f(x: Tensor, s: bigint): Tensor {
    return x.add(Number(s));
  }, { backend: "eager", dynamic: false });
  const texts = config.patch({ cacheSizeLimit: 3 }, () =>
    printed("+recompiles", () => {
      for (const s of [1n, 2n, 3n, 4n, 5n]) f(randn([2]), s);
    })).map(([, text]) => text);
  const limits = texts.filter((text) => text.includes("has reached config.cacheSizeLimit"));
  assertEquals(limits.length, 2);
  assertMatch(
    limits[0] ?? "",
    /^f has reached config\.cacheSizeLimit \(3\)\nWhat kept changing:\n {2}L\["s"\]: 3n, 2n, 1n, now 4n \(differs from 3 versions\)\n {4}const f = compile.*s: bigint.* \(.*debug_test\.ts:\d+\)\nTo end this: raise config\.cacheSizeLimit above 3\nCalls that none/,
  );
  assertMatch(texts[0] ?? "", /^Recompiling f\n {2}L\["s"\] === 1n, found 2n {2}# const f = /);
});

inProcesses("the limit of versions is a warning without a setting", async () => {
  await withFolder(async (folder) => {
    const script = `import { compile, config, randn, type Tensor } from "jsr:@x/dyn";
config.cacheSizeLimit = 1;
const f = compile((x: Tensor) => x.sum(), { backend: "eager", dynamic: false });
for (let n = 2; n < 6; n++) f(randn([n]));
const failing = compile((x: Tensor) => x.sum(), { backend: () => { throw new RangeError("No room"); } });
config.suppressErrors = true;
failing(randn([2]));
`;
    await Deno.writeTextFile(join(folder, "model.ts"), script);
    const { stderr } = await dyn(["model.ts"], { cwd: folder });
    assertMatch(
      stderr,
      /^\[recompiles\] model\.ts:3 has reached config\.cacheSizeLimit \(1\)\n\[recompiles\] What kept changing:\n\[recompiles\] {3}L\["x"\]: float32\[2\]\[1\], now float32\[3\]\[1\]\n/,
    );
    assertMatch(
      stderr,
      /\n\[graph_breaks\] <anonymous> \(.*model\.ts:5\) runs uncompiled\. Compiling it failed: Backend "backend" failed: No room \(GB0034\)\n/,
    );
    assertEquals(stderr.match(/has reached config\.cacheSizeLimit/g)?.length, 1);
    const quiet = await dyn(["--logs=-recompiles,-dynamo,-graph_breaks", "model.ts"], { cwd: folder });
    assertEquals(quiet.stderr, "");
    const steps = await dyn(["--logs=+dynamo", "--backend=eager", "model.ts"], { cwd: folder });
    assertMatch(
      steps.stderr,
      /^\[dynamo\] trace <anonymous> \(.*model\.ts:3\) const f = .*\n\[dynamo\] trace {3}0 /,
    );
    assertMatch(steps.stderr, /\[dynamo\] model\.ts:3 compiled: a graph of 1 operations, \d+ guards\n/);
  });
});

inProcesses(
  "a failing backend is named with the function; config.verbose shows dyn's own frames",
  async () => {
    await withFolder(async (folder) => {
      const script = `import { compile, randn, type Tensor } from "jsr:@x/dyn";
const f = compile(function f(x: Tensor) { return x.sum(); }, { backend: () => { throw new RangeError("No room"); } });
f(randn([2]));
`;
      await Deno.writeTextFile(join(folder, "model.ts"), script);
      const outcomes = await Promise.all(
        ["", "1"].map((verbose) => dyn(["model.ts"], { cwd: folder, env: { DYN_VERBOSE: verbose } })),
      );
      const [brief = "", full = ""] = outcomes.map(({ stderr }) => stderr);
      assertMatch(
        brief,
        /Backend "backend" failed: No room\n {2}while it compiled f \(.*model\.ts:2\)\n {2}Hint: DYN_REPRO_AFTER=dynamo/,
      );
      assert(!brief.includes("compile_entry.ts") && brief.includes("model.ts:3"));
      assert(full.includes("compile_entry.ts") && full.includes("model.ts:3"));
    });
  },
);

for (const each of sampleBySeed(processTests, 3)) Deno.test(each);
