/** Pipelines that threads compile in parallel to the program: all are created, whatever the threads do. */
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { join } from "node:path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CompileThreads, mayStartThreads } from "../backends/webgpu/compile_threads.ts";
import { findAdapter } from "../backends/webgpu/device.ts";
import { Pipelines } from "../backends/webgpu/pipelines.ts";
import { compileJob, sourceOf, STATE, WORD } from "../backends/webgpu/pipeline_worker.ts";
import type { Shader } from "../backends/webgpu/print/entry.ts";
import { logs } from "../lib/base/logs.ts";
import { findDevice } from "../lib/loops/device.ts";
import { compile, ones, type Tensor, webgpu } from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const shader = (factor: number): Shader => ({
  name: `times ${factor}`,
  code: `@group(0) @binding(0) var<storage, read> params: array<i32>;
@group(0) @binding(1) var<storage, read_write> m1: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3u) { m1[at.x] = m1[at.x] * ${factor}.0 + f32(params[0]); }`,
  memories: [{ kind: "output", position: 0, written: true }],
  words: [],
  workgroups: { items: 64, each: 64 },
});

testInTurn("threads that compile shaders", {
  name: "webgpu: threads compile some of many pipelines, and none is missing where they cannot",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const adapter = await findAdapter();
    assert(adapter);
    const device = await adapter.requestDevice();
    try {
      // More than this thread can compile before the others have started, also where earlier tests have warmed it up
      const shaders = Array.from({ length: 6000 }, (_, k) => shader(k)), few = shaders.slice(0, 20);
      const pipelines = new Pipelines({ device, limits: {}, cores: 4 });
      assertEquals(pipelines.prepare(shaders.slice(0, 11)), 0);
      // On a busy machine this thread may have compiled all before another one has opened its device
      let theirs = pipelines.prepare(shaders);
      for (let round = 1; theirs === 0 && round < 10; round++) {
        theirs = pipelines.prepare(Array.from({ length: 6000 }, (_, k) => shader(20_000 * round + k)));
      }
      assert(theirs > 0, `${theirs} by threads`);
      assertEquals(new Set(shaders.map((each) => pipelines.of(each))).size, shaders.length);
      assertEquals(pipelines.prepare(shaders), 0);
      // What threads have compiled before this one looks is not waited for
      const { request } = CompileThreads.prototype;
      CompileThreads.prototype.request = ({ job }) => {
        if (job) new Int32Array(job.words).fill(STATE.done).fill(job.sources.length, WORD.done, WORD.each);
      };
      const more = Array.from({ length: 12 }, (_, k) => shader(10_000 + k));
      assertEquals(new Pipelines({ device, limits: {}, cores: 4 }).prepare(more), more.length);
      CompileThreads.prototype.request = request;
      // No adapter has such a limit: the threads stop, and this one does all the work
      const alone = new Pipelines({ device, limits: { maxBindGroups: 1000 }, cores: 4 });
      const told = Promise.withResolvers<string>(), { emit } = logs;
      logs.emit = (_artifact, text) => told.resolve(typeof text === "string" ? text : text());
      try {
        assertEquals(alone.prepare(few), 0);
        assertStringIncludes(await told.promise, "A thread that compiles shaders stopped:");
      } finally {
        logs.emit = emit;
      }
      assertEquals(new Set(few.map((each) => alone.of(each))).size, few.length);
    } finally {
      device.destroy();
    }
  },
});

Deno.test({
  name: "webgpu: a thread that has compiled one list compiles the next",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const threads = new CompileThreads({}), backends = "DENO_WEBGPU_BACKEND", given = Deno.env.get(backends);
    Deno.env.delete(backends);
    for (const first of [3000, 3010]) {
      const sources = Array.from({ length: 10 }, (_, k) => sourceOf(shader(first + k)));
      const job = compileJob(sources), counts = new Int32Array(job.words);
      threads.request({ threads: 3, job });
      while (Atomics.load(counts, WORD.done) < sources.length) await delay(5);
      assert(counts.subarray(WORD.each).every((each) => each === STATE.done));
    }
    // OpenGL of threads crashes when the process ends
    assertEquals(Deno.env.get(backends)?.includes("gl"), false);
    if (given !== undefined) Deno.env.set(backends, given);
  },
});

Deno.test({
  name: "webgpu: a program ends once its threads have opened their devices, not before",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const told = Promise.withResolvers<void>(), { unref } = Worker.prototype;
    Worker.prototype.unref = function () {
      told.resolve();
      return unref.call(this);
    };
    try {
      const threads = new CompileThreads({});
      threads.request({ threads: 2 });
      await told.promise;
      // Those that are there answer at once
      const again = Promise.withResolvers<void>();
      Worker.prototype.unref = function () {
        again.resolve();
        return unref.call(this);
      };
      threads.request({ threads: 1 });
      await again.promise;
    } finally {
      Worker.prototype.unref = unref;
    }
  },
});

Deno.test("a program with compile threads ends directly after its listeners, tests and benchmarks start none", async () => {
  assertEquals(mayStartThreads(), false);
  await withFolder(async (folder) => {
    const file = join(folder, "program.ts"),
      threads = import.meta.resolve("../backends/webgpu/compile_threads.ts");
    await Deno.writeTextFile(
      file,
      `import { CompileThreads, mayStartThreads } from ${JSON.stringify(threads)};
import process from "node:process";
const { exit } = Deno;
Deno.exit = (code) => {
  console.log("directly", code, Deno.exitCode);
  return exit(code);
};
console.log(mayStartThreads());
addEventListener("unload", () => console.log("unload"));
for (let k = 0; k < 2; k++) new CompileThreads({}).request({ threads: 0 });
addEventListener("unload", () => console.log("later unload"));
process.on("exit", () => console.log("exit"));
Deno.exitCode = 3;
`,
    );
    const { code, stdout, stderr } = await runProgram(Deno.execPath(), ["run", "-A", "--no-check", file]);
    assertEquals([stderr, code], ["", 3]);
    assertEquals(stdout, "true\nunload\nlater unload\nexit\ndirectly undefined 3\n");
  });
});

Deno.test({
  name: "webgpu: the device is told of a large graph while it is captured, once",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await webgpu.init();
    const device = findDevice("webgpu");
    assert(device?.expectLargeGraph);
    const { expectLargeGraph } = device;
    let told = 0;
    device.expectLargeGraph = () => void told++;
    const sums = (length: number, last = (x: Tensor) => x) =>
      compile((x: Tensor) => {
        for (let k = 0; k < length; k++) x = x.add(k + 0.5);
        return last(x);
      });
    try {
      const x = ones([3], { device: "webgpu" });
      assertEquals([sums(3)(x).tolist(), told], [[5.5, 5.5, 5.5], 0]);
      assertEquals([sums(40)(x).tolist(), told], [[801, 801, 801], 1]);
      assertEquals([sums(40)(x.cpu()).tolist(), told], [[801, 801, 801], 1]);
      // Whatever the operation is that makes it large
      const halves = (x: Tensor) => x.max(0, true).values.add(x.cpu().add(1).sum().to("webgpu"));
      assertEquals([sums(31, halves)(x).tolist(), told], [[1929], 2]);
    } finally {
      device.expectLargeGraph = expectLargeGraph;
    }
  },
});
