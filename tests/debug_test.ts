/**
 * What compilation leaves for people to look at: the record that stages keep, trace files and their report, debug
 * folders. Programs run as processes where the environment switches something on.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, compiler, logs, nn, randn, type Tensor } from "../mod.ts";
import {
  type ArtifactRecord,
  type CompileRecord,
  type PhaseRecord,
  type Recorder,
  recording,
} from "../lib/base/recording.ts";
import { escapeHtml, renderReport } from "../lib/debug/report.ts";
import { traceRecorder } from "../lib/debug/trace.ts";
import { readTrace, type TracedProcess } from "../lib/debug/trace_format.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

const dyn = (
  args: readonly string[],
  around: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<Outcome> => runProgram(Deno.execPath(), ["run", "-A", "--no-check", CLI, ...args], around);

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

Deno.test("texts that nobody keeps are not built", () => {
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

Deno.test("what is recorded belongs to its compilation, by frame and version", () => {
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

Deno.test("phases of a compilation lie inside it, and recording changes nothing of what is compiled", () => {
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
  const { code, stderr } = await dyn(["--trace", "t", "model.ts"], { cwd: folder });
  assertEquals([code, stderr], [0, ""]);
  const [log = ""] = [...Deno.readDirSync(join(folder, "t"))].map(({ name }) => name)
    .filter((name) => name.endsWith(".jsonl"));
  return readTrace(log, await Deno.readTextFile(join(folder, "t", log)));
}

Deno.test("a trace tells every compilation, break, recompilation and text", async () => {
  await withFolder(async (folder) => {
    const { process, compiles, skipped } = await traced(folder);
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
  });
});

Deno.test("phases are Chrome trace events, and the report shows everything without running any of it", async () => {
  await withFolder(async (folder) => {
    const { compiles } = await traced(folder);
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
      `1 process, 5 compilations, 5 graphs, 2 graph breaks, 2 recompilations\nWrote ${page}\n`,
    ]);
    const html = await Deno.readTextFile(page);
    assert(!html.includes("<b>") && html.includes(escapeHtml("<b>&'")));
    assert(!/<script|src=|https?:/.test(html.replace(/<pre>[^]*?<\/pre>/g, "")));
    const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    const places = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    assert(targets.length > 20);
    assertEquals(targets.filter((id) => id !== undefined && !places.has(id)), []);
    for (const { artifacts } of compiles) {
      for (const { text } of artifacts) assertStringIncludes(html, escapeHtml(text.trimEnd()));
    }
  });
});

Deno.test("a report needs a trace folder", async () => {
  await withFolder(async (folder) => {
    const wrong: [args: string[], message: RegExp][] = [
      [["report"], /^error: Expected one trace folder but found nothing\n/],
      [["report", "a", "b"], /^error: Expected one trace folder but found a b\n/],
      [["report", "none"], /^error: Expected a trace folder but found none, and there is no such folder\n/],
      [["report", "."], /^error: Expected trace files in \. but found none: run a program .* --trace \.\n/],
    ];
    for (const [args, message] of wrong) {
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

Deno.test("lines that were cut off or are strange are skipped and counted; texts cannot leave their element", () => {
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
  assertEquals(html.match(/<\/pre>/g)?.length, 1);
  assert(!html.includes("<script") && !html.includes("<t>"));
  assertStringIncludes(html, "did not end");
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

Deno.test("a debug folder holds the steps of each compilation", async () => {
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

Deno.test("a folder that cannot be made is an error that names it", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "model.ts"), PROGRAM);
    const place = join("model.ts", "d");
    const trace = await dyn(["--trace", place, "model.ts"], { cwd: folder });
    assertMatch(trace.stderr, /DynError: Expected a folder for trace files but found "model\.ts\/d": /);
    const debug = await dyn(["model.ts"], { cwd: folder, env: { DYN_COMPILE_DEBUG: place } });
    assertMatch(debug.stderr, /DynError: Expected a folder for debug folders but found "model\.ts\/d": /);
    assertEquals([trace.code, debug.code], [1, 1]);
  });
});

Deno.test("settings choose the files of a debug folder, for one function too", async () => {
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
