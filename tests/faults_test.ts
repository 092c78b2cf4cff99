/**
 * Failures of the environment: compilers that are killed, hang, write nothing or nonsense, full disks, graphs on which
 * dyn fails. Programs continue with the right results, and failures are reported and counted.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows, fail } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileToWasm } from "../backends/wasm/program.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { HostBlock, HostMemory } from "../backends/cpu/host_memory.ts";
import { MemoryPool } from "../backends/cpu/memory_pool.ts";
import { withNativeFallback } from "../backends/cpu/tiered_program.ts";
import { counters, logs } from "../lib/base/logs.ts";
import { findDevice, OutOfMemory, registerDevice } from "../lib/loops/device.ts";
import {
  BackendCompilerFailed,
  compile,
  type CompileOptions,
  compiler,
  config,
  type Tensor,
  tensor,
} from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import { singleOp } from "./support/single_op.ts";
import { HAS_GPU, SKIP_WEBGPU } from "./support/webgpu.ts";
import { floatsOf } from "./support/host_floats.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const CONFIG = here("../deno.json");

/** Runs faults/graphs.ts with a compiler that fails in the given ways; the compiler leaves its calls in the folder. */
async function failing(folder: string, modes: readonly string[]): Promise<Outcome> {
  const compiler = join(folder, "compiler");
  await Deno.copyFile(here("faults/compiler.sh"), compiler);
  await Deno.chmod(compiler, 0o755);
  const env = {
    DYN_CXX: compiler,
    DYN_CACHE_DIR: join(folder, "cache"),
    DYN_ERROR_ON_FALLBACK: "0",
    DYN_TIER: "wait",
  };
  const args = ["run", "-A", "--no-check", "--config", CONFIG, here("faults/graphs.ts"), folder, ...modes];
  return await runProgram(Deno.execPath(), args, { env });
}

/** Behaviours of compilers, and the messages to the user. */
const FAULTS: readonly (readonly [mode: string, told: RegExp])[] = [
  ["killed", /compile graph.cpp but found it killed by SIGKILL$/],
  ["hangs", /found it still running after 1 s$/],
  ["silent", /found no file, though it ended with exit code 0$/],
  ["garbage", /found graph.so: it ends too early or is something else$/],
  ["unloadable", /Expected a library that can be loaded but found [0-9a-f]+.so: .*can be loaded$/],
  ["space", /no space left \(exit code 1\):\n\/usr\/bin\/ld: final link failed: No space left on device$/],
  [
    "memory",
    /its process killed \(exit code 1\):\ng\+\+: fatal error: Killed signal terminated program cc1plus$/,
  ],
  [
    "crashed",
    /an error of the compiler itself \(exit code 4\):\ninternal compiler error: Segmentation fault$/,
  ],
  ["rejects", /found errors \(exit code 1\):\ngraph.cpp:1:1: error: nonsense$/],
];

Deno.test({
  name: "a compiler that fails costs one graph its speed, and says why; the next graph asks it again",
  ignore: SKIP_NATIVE,
  fn: () =>
    withFolder(async (folder) => {
      const modes = ["works", ...FAULTS.map(([mode]) => mode), "works", "truncated", "eager"];
      const { code, stdout, stderr } = await failing(folder, modes);
      assertEquals(code, 0, stderr);
      const lines: unknown[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
      // A library that cannot be loaded was built nevertheless.
      const native = (i: number) => 1 + (i > 4 ? 1 : 0) + (i > 9 ? 1 : 0);
      const graphs = modes.slice(0, -1).map((mode, i) => [mode, i + 2, native(i), mode === "works" ? 0 : 1]);
      assertEquals(lines, [...graphs, ["eager", 64 ** 3, 3, 1]]);
      const told = stderr.replaceAll(/^\[fallback\] /gm, "").trim().split(
        /\n(?=the inference graph |mm of |matmul of )/,
      );
      assertEquals(told.length, FAULTS.length + 2, stderr);
      FAULTS.forEach(([, text], i) => {
        assertMatch(
          told[i] ?? "",
          /^the inference graph runs as WebAssembly SIMD, since the C\+\+ compiler failed/,
        );
        assertMatch(told[i] ?? "", text);
      });
      assertMatch(told.at(-1) ?? "", /^(?:mm|matmul) of eager tensors runs as WebAssembly SIMD/);
    }),
});

Deno.test({
  name: "a compiler that fails three times in the same way is not asked again, which is said once",
  ignore: SKIP_NATIVE,
  fn: () =>
    withFolder(async (folder) => {
      const { code, stdout, stderr } = await failing(folder, [
        "killed",
        "killed",
        "killed",
        "works",
        "works",
      ]);
      assertEquals([code, stdout.trim().split("\n").length], [0, 5], stderr);
      const calls = await Deno.readTextFile(join(folder, "calls"));
      assertEquals([calls, stderr.match(/C\+\+ compiler failed/g)?.length], ["called\n".repeat(3), 3]);
      assertEquals(stderr.match(/it is not asked again in this process/g)?.length, 1);
    }),
});

testInTurn("faults of compilers on trial", {
  name: "a compiler that fails when it is tried is not called missing, and does not hide another one",
  ignore: SKIP_NATIVE,
  fn: () =>
    withFolder(async (folder) => {
      const cxx = join(folder, "g++"), program = join(folder, "a.ts");
      await Deno.writeTextFile(cxx, "#!/bin/sh\necho internal compiler error: told >&2\nexit 4\n", {
        mode: 0o755,
      });
      await Deno.writeTextFile(
        program,
        `import { compile, compiler, config, ones } from ${JSON.stringify(import.meta.resolve("../mod.ts"))};
import { counters } from ${JSON.stringify(import.meta.resolve("../lib/base/logs.ts"))};
const [tier] = Deno.args;
config.inductor.tier = tier;
const [f, g] = [1, 2].map((k) => compile((x) => x.add(k)));
console.log(f(ones([2])).tolist(), g(ones([2])).tolist(), compiler.status(g).fallbacks);
const isNative = () => counters.entries("tiers").some(([name]) => name === "switched");
for (const end = performance.now() + 60000; tier === "background" && !isNative();) {
  if (performance.now() > end) throw new Error("Expected native code");
  f(ones([2]));
}`,
      );
      const run = (env: Readonly<Record<string, string>>, tier = "wait") =>
        runProgram(Deno.execPath(), ["run", "-A", "--no-check", "--config", CONFIG, program, tier], {
          env: { DYN_CACHE_DIR: join(folder, "cache"), ...env },
        });
      const broken = await run({ DYN_CXX: cxx });
      assertEquals(broken.stdout, "[ 2, 2 ] [ 3, 3 ] 1\n");
      assertMatch(
        broken.stderr,
        /found an error of the compiler itself \(exit code 4\):\n\[fallback\] internal compiler error: told/,
      );
      assert(!broken.stderr.includes("Expected a C++ compiler"), broken.stderr);
      const PATH = `${folder}:${Deno.env.get("PATH")}`;
      const elsewhere = await run({ TMPDIR: join(folder, "nowhere"), PATH }, "background");
      assertEquals(elsewhere, { code: 0, stdout: "[ 2, 2 ] [ 3, 3 ] 0\n", stderr: "" });
      const none = await run({ DYN_CXX: join(folder, "none") });
      assertMatch(none.stderr, /^dyn: graphs run as WebAssembly SIMD, .*Expected a C\+\+ compiler/);
    }),
});

Deno.test({
  name: "a compiler that links threads of another library has its own links, and does not end the process",
  ignore: SKIP_NATIVE || Deno.build.os !== "linux",
  fn: () =>
    withFolder(async (folder) => {
      // As clang, whose code calls a library of its own
      const cxx = join(folder, "compiler"), program = join(folder, "a.ts"), own = join(folder, "own");
      const script = `#!/bin/sh
case "$*" in
*-nostdlib*) exec g++ -include ${own}.h "$@" ;;
*-shared*) exec g++ -include ${own}.h "$@" ${own}.o ;;
*) exec g++ -include ${own}.h "$@" ;;
esac
`;
      await Deno.writeTextFile(cxx, script, { mode: 0o755 });
      await Deno.writeTextFile(
        `${own}.h`,
        `extern "C" void own_threads();\nstatic void __attribute__((constructor)) start() { own_threads(); }\n`,
      );
      await Deno.writeTextFile(`${own}.cpp`, `extern "C" void own_threads() {}\n`);
      const made = await runProgram("g++", ["-fPIC", "-c", `${own}.cpp`, "-o", `${own}.o`], {});
      assertEquals(made.code, 0, made.stderr);
      await Deno.writeTextFile(
        program,
        `import { compile, ones } from ${JSON.stringify(import.meta.resolve("../mod.ts"))};
console.log(compile((x) => x.add(1).sum())(ones([1000, 1000])).item());`,
      );
      const env = {
        DYN_CXX: cxx,
        DYN_CACHE_DIR: join(folder, "cache"),
        DYN_TIER: "wait",
        DYN_NUM_THREADS: "2",
        DYN_ERROR_ON_FALLBACK: "1",
      };
      const args = ["run", "-A", "--no-check", "--config", CONFIG, program];
      const found = await runProgram(Deno.execPath(), args, { env });
      assertEquals(found, { code: 0, stdout: "2000000\n", stderr: "" });
    }),
});

Deno.test("a program runs with any set of permissions, and is told what further ones would bring", () =>
  withFolder(async (folder) => {
    const script = join(folder, "a.ts"), mod = JSON.stringify(import.meta.resolve("../mod.ts"));
    await Deno.writeTextFile(
      script,
      `import { compile, compiler, config, ones } from ${mod};
config.inductor.tier = "wait";
const f = compile((x) => x.add(1));
console.log(f(ones([2])).tolist(), compiler.status(f).graphs);`,
    );
    const run = (...flags: readonly string[]) =>
      runProgram(Deno.execPath(), ["run", "--no-prompt", ...flags, "--no-check", "--config", CONFIG, script]);
    const [none, sys] = await Promise.all([run(), run("--allow-sys")]);
    assertEquals(none.stdout, "[ 2, 2 ] 0\n", none.stderr);
    assertStringIncludes(none.stderr, "run with -A or --allow-sys");
    assertEquals(sys.stdout, "[ 2, 2 ] 1\n", sys.stderr);
    assertMatch(
      sys.stderr,
      /^dyn: .*found --allow-env, --allow-read, .*--allow-ffi not given; run deno with/,
    );
  }));

/** Runs `body` on a CPU whose compiler fails on the first graphs (all: Infinity), and collects what is said. */
function withFailingGraphs(body: () => void, failures = Infinity): string[] {
  const cpu = findDevice("cpu"), said: string[] = [];
  assert(cpu);
  let left = failures;
  const compile: typeof cpu.compile = (...given) => {
    if (left-- <= 0) return cpu.compile(...given);
    throw new TypeError("Expected what a bug did not give");
  };
  registerDevice({ ...cpu, compile });
  const patched = () => config.patch({ inductor: { errorOnFallback: false } }, body);
  try {
    logs.capture("fallback", (_, text) => said.push(text), patched);
  } finally {
    registerDevice(cpu);
  }
  return said;
}

Deno.test("a graph that cannot be compiled runs op by op, and is counted and reported", () => {
  const total = counters.get("fallback", "op by op");
  const fn = (x: Tensor): Tensor => x.mul(3).sum();
  const said = withFailingGraphs(() => {
    const x = tensor([1, 2], { dtype: "float32", requiresGrad: true });
    const f = compile(fn), y = f(x);
    y.backward();
    assertEquals([y.item(), x.grad?.tolist(), compiler.status(f).fallbacks], [9, [3, 3], 1]);
  });
  assertEquals(said, [
    "a graph of fn runs op by op, because its compilation failed (DYN_ERROR_ON_FALLBACK=1 throws). " +
    "TypeError: Expected what a bug did not give",
  ]);
  assertEquals(counters.get("fallback", "op by op"), total + 1);
});

Deno.test("with fullgraph or errorOnFallback the failure is thrown", () => {
  const call = (options: CompileOptions) => () => compile((x: Tensor) => x.mul(4), options)(tensor([1]));
  const message = 'Backend "inductor" failed: Expected what a bug did not give';
  const said = withFailingGraphs(() => {
    assertThrows(call({ fullgraph: true }), BackendCompilerFailed, message);
    assertThrows(call({ options: { errorOnFallback: true } }), BackendCompilerFailed, message);
    config.patch({ suppressErrors: true }, () => {
      assertThrows(call({ fullgraph: true }), BackendCompilerFailed, message);
    });
  });
  assertEquals(said, []);
});

Deno.test("a failure on symbolic sizes is thrown, too, though the same graph compiles with constant sizes", () => {
  const fn = (x: Tensor) => x.mul(5);
  const call = (options: CompileOptions) => () =>
    compile(fn, { ...options, dynamic: true })(tensor([1, 2, 3]));
  for (const options of [{ fullgraph: true }, { options: { errorOnFallback: true } }]) {
    const said = withFailingGraphs(
      () => assertThrows(call(options), BackendCompilerFailed, "a bug did not give"),
      1,
    );
    assertEquals(said, []);
  }
  const said = withFailingGraphs(() => {
    const f = compile(fn, { dynamic: true });
    assertEquals([f(tensor([1, 2, 3])).tolist(), compiler.status(f).fallbacks], [[5, 10, 15], 1]);
  }, 1);
  assertEquals(said.length, 1);
});

/** Runs `body` on a CPU whose second program throws when it is run, and collects what is said. */
function withFailingBackward(body: () => void, errorOnFallback = false): string[] {
  const cpu = findDevice("cpu"), said: string[] = [];
  assert(cpu);
  let made = 0;
  const compile: typeof cpu.compile = (...given) => {
    const program = cpu.compile(...given);
    if (++made !== 2) return program;
    return Object.assign(Object.create(program), {
      run: () => {
        throw new TypeError("Expected what a bug did not give");
      },
    });
  };
  registerDevice({ ...cpu, compile });
  const patched = () => config.patch({ inductor: { errorOnFallback } }, body);
  try {
    logs.capture("fallback", (_, text) => said.push(text), patched);
  } finally {
    registerDevice(cpu);
  }
  return said;
}

Deno.test("gradients that compiled code does not compute come from the tape, and are reported once", () => {
  const total = counters.get("fallback", "backward");
  const cubes = (x: Tensor): Tensor => x.pow(3).sum();
  const said = withFailingBackward(() => {
    const f = compile(cubes);
    for (const value of [2, 3]) {
      const x = tensor([value, 1], { requiresGrad: true });
      f(x).backward();
      assertEquals(x.grad?.tolist(), [3 * value ** 2, 3]);
    }
  });
  assertEquals(said, [
    "the tape takes the gradients of cubes, because its compiled backward graph failed " +
    "(DYN_ERROR_ON_FALLBACK=1 throws). TypeError: Expected what a bug did not give",
  ]);
  assertEquals(counters.get("fallback", "backward"), total + 1);
  const thrown = withFailingBackward(() => {
    const y = compile((x: Tensor) => x.pow(5).sum())(tensor([1], { dtype: "float32", requiresGrad: true }));
    assertThrows(() => y.backward(), TypeError, "a bug did not give");
  }, true);
  assertEquals(thrown, []);
});

Deno.test("a host without memory for a tensor reports the requested size", () => {
  const error = assertThrows(() => findDevice("cpu")?.allocate(2 ** 45), OutOfMemory);
  assertMatch(
    error.message,
    /^Expected room for 35184372088832 bytes on cpu but found none, where \d+ bytes are held$/,
  );
});

Deno.test("allocations beyond the machine's memory are rejected even if the system promises any amount", () => {
  const make = (bytes: number): HostBlock => fail(`asked for ${bytes} bytes`);
  const { total, swapTotal } = Deno.systemMemoryInfo();
  assertThrows(
    () => new MemoryPool("cpu", { make, discard() {} }).allocate(total + swapTotal + 1),
    OutOfMemory,
  );
});

Deno.test("memory that a pool keeps is released for allocations that do not fit", () => {
  let room = 1024;
  const make = (bytes: number): HostBlock => {
    if (bytes > room) throw new RangeError("Array buffer allocation failed");
    room -= bytes;
    return new HostBlock(new Uint8Array(bytes));
  };
  const discard = (blocks: readonly HostBlock[]) => blocks.forEach(({ size }) => room += size);
  const pool = new MemoryPool("cpu", { make, discard });
  pool.free(pool.allocate(512));
  const kept = pool.allocate(1024);
  assertEquals([kept.byteLength, pool.allocated, pool.reserved], [1024, 1024, 1024]);
  const error = assertThrows(() => pool.allocate(64), OutOfMemory, "Expected room for 64 bytes on cpu");
  assertEquals([error.bytes, error.shortage], [64, { held: 1024 }]);
  pool.free(kept);
  assertEquals(pool.allocate(64).byteLength, 64);
});

/** A program over so many elements that doubles them, and a call of it. */
function doubling(size: number) {
  const flat = { shape: [size], dtype: "float32" } as const;
  const program = singleOp([flat], [flat], (x) => ({
    ...flat,
    kind: "pointwise",
    element: (o, index) => o.mul(o.load(x, index), o.constant(2, "float32")),
  }));
  const [input, output] = [0, 1].map(() => new HostMemory("cpu", new ArrayBuffer(4 * size)));
  assert(input && output);
  floatsOf(input).fill(21);
  return { program, call: { inputs: [input], outputs: [output], sizes: [] }, output };
}

Deno.test("a program that does not fit into the memory of WebAssembly reports that, and another runs", () => {
  const pool = new ThreadPool(1, { maxPages: 4 }), large = doubling(1 << 17), little = doubling(1 << 10);
  assertThrows(
    () => compileToWasm(large.program, pool).run(large.call),
    OutOfMemory,
    "single in WebAssembly",
  );
  compileToWasm(little.program, pool).run(little.call);
  assert(floatsOf(little.output).every((x) => x === 42));
});

Deno.test({
  name: "with a compiler, what does not fit into the memory of WebAssembly is native",
  ignore: SKIP_NATIVE,
  fn: () => {
    const pool = new ThreadPool(1, { maxPages: 4 }), { program, call, output } = doubling(1 << 17);
    const compiled = withNativeFallback(() => program, compileToWasm(program, pool));
    for (let n = 0; n < 2; n++) compiled.run(call);
    assert(floatsOf(output).every((x) => x === 42));
  },
});

Deno.test({
  name: "work that a GPU had no room for is never taken for done",
  ignore: SKIP_WEBGPU || HAS_GPU || Deno.build.os !== "linux",
  fn: async () => {
    const args = ["run", "-A", "--no-check", "--config", CONFIG, here("faults/gpu_memory.ts")];
    const { code, stdout, stderr } = await runProgram(Deno.execPath(), args);
    assertEquals(code, 0, stderr);
    const [large = "", small = "", after] = stdout.trim().split("\n");
    assertMatch(
      large,
      /^OutOfMemory: Expected room for float32 \[16777216\] \(67108864 bytes\) on webgpu but found none, where \d+ bytes/,
    );
    assertMatch(
      small,
      /^OutOfMemory: Expected room for \d+ bytes on webgpu but found none, where \d+ bytes are held/,
    );
    assertEquals(after, "6");
  },
});
