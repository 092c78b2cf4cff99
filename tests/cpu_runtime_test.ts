/**
 * The native runtime of the CPU backend: toolchain, object cache, matrix products, convolutions.
 * Everything is compared with plain float64 loops; skipped as a whole where there is no C++ compiler.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { addressOf, callAt, entryAddress } from "../backends/cpu/ffi.ts";
import { buildLibraries, cacheCounters, storedText } from "../backends/cpu/object_cache.ts";
import { type Routine, routineAddresses } from "../backends/cpu/runtime_library.ts";
import { ToolchainError, toolchainStatus } from "../backends/cpu/toolchain.ts";

const ready = toolchainStatus().kind === "ready";
const test = (name: string, fn: () => void | Promise<void>): void => Deno.test({ name, ignore: !ready, fn });

type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** A small deterministic generator, so that a failure can be repeated. */
function randoms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch?: number;
  /** "n": rows contiguous, "t": columns contiguous, "s": neither. One letter each for A, B and C. */
  readonly layout?: string;
  /** Elements added to each leading stride. */
  readonly pad?: number;
  readonly accumulate?: boolean;
  readonly threads?: number;
}

const strides = (letter: string | undefined, rows: number, cols: number, pad: number): [number, number, number] => {
  if (letter === "t") return [1, rows + pad, cols * (rows + pad)];
  if (letter === "s") return [(cols + pad) * 3, 3, rows * (cols + pad) * 3];
  return [cols + pad, 1, rows * (cols + pad)];
};

/** Runs one product and compares every element; elements outside C's view must stay as they were. */
function checkProduct(routine: Routine, p: Product, epilogue = 0, context?: Float64Array<ArrayBuffer>): void {
  const { m, n, k, batch = 1, layout = "nnn", pad = 0, accumulate = false, threads = 2 } = p;
  const make = (length: number): Floats =>
    routine === "gemm_f32" ? new Float32Array(length + 1) : new Float64Array(length + 1);
  const [ars, acs, abs] = strides(layout[0], m, k, pad);
  const [brs, bcs, bbs] = strides(layout[1], k, n, pad);
  const [crs, ccs, cbs] = strides(layout[2], m, n, pad);
  const a = make(batch * abs), b = make(batch * bbs), c = make(batch * cbs);
  const random = randoms(m * 7919 + n * 104729 + k);
  for (const array of [a, b, c]) for (let i = 0; i < array.length; i++) array[i] = random();
  const before = c.slice();
  const call = new BigInt64Array(
    [addressOf(a), addressOf(b), addressOf(c), m, n, k, batch, ars, acs, abs, brs, bcs, bbs, crs, ccs, cbs]
      .concat([accumulate ? 1 : 0, threads, epilogue, context === undefined ? 0 : addressOf(context)]).map(BigInt),
  );
  callAt(routineAddresses([routine])[0] ?? 0, call);
  const touched = new Uint8Array(c.length);
  const tolerance = (routine === "gemm_f32" ? 2 ** -23 : 2 ** -52) * Math.max(4, Math.sqrt(k) * 4);
  for (let g = 0; g < batch; g++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        const at = g * cbs + i * crs + j * ccs;
        let sum = accumulate ? before[at] ?? 0 : 0, size = Math.abs(sum);
        for (let l = 0; l < k; l++) {
          const term = (a[g * abs + i * ars + l * acs] ?? 0) * (b[g * bbs + l * brs + j * bcs] ?? 0);
          sum += term;
          size = Math.max(size, Math.abs(sum));
        }
        touched[at] = 1;
        const error = Math.abs((c[at] ?? 0) - sum);
        assert(error <= tolerance * Math.max(size, 1), `${JSON.stringify(p)} [${g}, ${i}, ${j}]: error ${error}`);
      }
    }
  }
  for (let i = 0; i < c.length; i++) {
    if (!touched[i]) assertEquals(c[i], before[i], `${JSON.stringify(p)} wrote outside at ${i}`);
  }
}

test("matrix products of odd shapes in all layouts", () => {
  const sizes: [number, number, number][] = [
    [1, 1, 1],
    [3, 5, 7],
    [8, 48, 16],
    [9, 49, 17],
    [7, 47, 129],
    [33, 10, 130],
    [130, 97, 260],
    [17, 300, 33],
  ];
  for (const [m, n, k] of sizes) {
    for (const a of "nts") for (const b of "nts") for (const c of "nt") checkProduct("gemm_f32", { m, n, k, layout: a + b + c, pad: 3 });
  }
});

test("matrix products with a single row or column, and with none", () => {
  for (const layout of ["nnn", "ntn", "tnn", "ttn"]) {
    for (const k of [1, 7, 64, 300]) {
      checkProduct("gemm_f32", { m: 1, n: 77, k, layout });
      checkProduct("gemm_f32", { m: 77, n: 1, k, layout });
      checkProduct("gemm_f32", { m: 1, n: 1, k, layout });
      checkProduct("gemm_f32", { m: 5, n: 33, k, layout, accumulate: true, pad: 1 });
    }
    checkProduct("gemm_f32", { m: 3, n: 5, k: 0, layout });
    checkProduct("gemm_f32", { m: 1, n: 50, k: 0, layout });
    checkProduct("gemm_f32", { m: 0, n: 5, k: 4, layout });
  }
});

test("matrix products in several blocks of K, with accumulation", () => {
  for (const layout of ["nnn", "tnn", "ntn"]) {
    checkProduct("gemm_f32", { m: 20, n: 70, k: 1100, layout });
    checkProduct("gemm_f32", { m: 300, n: 66, k: 530, layout, accumulate: true });
  }
});

test("batched matrix products, more and fewer than threads", () => {
  for (const batch of [2, 3, 9]) {
    for (const layout of ["nnn", "ntn", "tnn", "nnt"]) {
      checkProduct("gemm_f32", { m: 40, n: 65, k: 70, batch, layout, pad: 2, threads: 2 });
      checkProduct("gemm_f32", { m: 2, n: 40, k: 150, batch, layout, threads: 3 });
    }
  }
});

test("float64 matrix products", () => {
  for (const layout of ["nnn", "ntn", "tnn", "ttt", "ssn"]) {
    checkProduct("gemm_f64", { m: 37, n: 53, k: 141, layout, pad: 1 });
    checkProduct("gemm_f64", { m: 1, n: 53, k: 141, layout });
    checkProduct("gemm_f64", { m: 53, n: 1, k: 141, layout });
  }
  checkProduct("gemm_f64", { m: 20, n: 30, k: 700, batch: 3, accumulate: true });
});

/** Counts how often each element of a (batch, m, n) result is visited; context: [m, n, counts…]. */
const COUNTING = String.raw`
static void count(void* context, long b, long m0, long m1, long n0, long n1) {
  double* s = (double*) context;
  long m = (long) s[0], n = (long) s[1];
  for (long i = m0; i < m1; i++) for (long j = n0; j < n1; j++) __atomic_add_fetch((long*) (s + 2 + (b * m + i) * n + j), 1, __ATOMIC_RELAXED);
}
extern "C" __attribute__((visibility("default"))) void* dyn_entry() { return (void*) count; }
`;

test("the epilogue sees every element exactly once", () => {
  const [path = ""] = buildLibraries([{ name: "counting", text: COUNTING }]);
  const epilogue = entryAddress(path);
  const cases: Product[] = [
    { m: 130, n: 100, k: 64 },
    { m: 200, n: 130, k: 1100 },
    { m: 300, n: 100, k: 600, layout: "tnn" },
    { m: 8, n: 100, k: 300, layout: "ntn" },
    { m: 1, n: 1000, k: 300 },
    { m: 1000, n: 1, k: 300 },
    { m: 60, n: 70, k: 64, layout: "nnt" },
    { m: 60, n: 70, k: 64, batch: 3 },
    { m: 6, n: 7, k: 0 },
  ];
  for (const p of cases) {
    const counts = new Float64Array(2 + (p.batch ?? 1) * p.m * p.n);
    counts[0] = p.m;
    counts[1] = p.n;
    checkProduct("gemm_f32", p, epilogue, counts);
    const visits = new BigInt64Array(counts.buffer, 16);
    assert(visits.every((v) => v === 1n), `${JSON.stringify(p)}: ${visits.filter((v) => v !== 1n).length} wrong`);
  }
});

test("a library is compiled once, then found; damage and foreign files are noticed", () => {
  const source = {
    name: "answer",
    text: `extern "C" __attribute__((visibility("default"))) int answer_${Deno.pid}() { return 42; }`,
  };
  const start = cacheCounters();
  const [path = ""] = buildLibraries([source]);
  assertEquals(cacheCounters().compiled, start.compiled + 1);
  assertEquals(buildLibraries([source]), [path]);
  assertEquals(cacheCounters().hits, start.hits + 1);
  assert(storedText(path)?.endsWith(source.text));

  const good = Deno.readFileSync(path);
  const damaged = good.slice();
  damaged[100] = (damaged[100] ?? 0) ^ 1;
  for (const bad of [damaged, good.subarray(0, good.length - 7), new Uint8Array(3), new Uint8Array(0)]) {
    Deno.removeSync(path);
    Deno.writeFileSync(path, bad);
    const before = cacheCounters();
    assertEquals(buildLibraries([source]), [path]);
    assertEquals(cacheCounters().compiled, before.compiled + 1);
    assertEquals(cacheCounters().rejected, before.rejected + 1);
    assertEquals(storedText(path)?.endsWith(source.text), true);
  }
  Deno.removeSync(path);
});

test("a rejected source names itself and shows the compiler's message", () => {
  const error = assertThrows(() => buildLibraries([{ name: "broken", text: "int f() { return nothing; }" }]), ToolchainError);
  assert(error.message.includes("broken.cpp") && error.message.includes("nothing"), error.message);
});

test("two processes may build the same library at once", async () => {
  const folder = Deno.makeTempDirSync();
  const module = new URL("../backends/cpu/object_cache.ts", import.meta.url).href;
  const program = `import { buildLibraries } from ${JSON.stringify(module)};
    const text = (i) => "extern \\"C\\" __attribute__((visibility(\\"default\\"))) int f() { return " + i + "; }";
    const paths = buildLibraries([0, 1, 2].map((i) => ({ name: "f" + i, text: text(i) })));
    const values = paths.map((p) => Deno.dlopen(p, { f: { parameters: [], result: "i32" } }).symbols.f());
    console.log(JSON.stringify(values));`;
  const run = () =>
    new Deno.Command(Deno.execPath(), {
      args: ["eval", program],
      env: { DYN_CACHE_DIR: folder },
      stdout: "piped",
      stderr: "inherit",
    }).output();
  const results = await Promise.all([run(), run()]);
  for (const { stdout } of results) assertEquals(new TextDecoder().decode(stdout).trim(), "[0,1,2]");
  const left = [...Deno.readDirSync(`${folder}/cpu`)].map((entry) => entry.name);
  assertEquals(left.filter((name) => name.endsWith(".so")).length, 3);
  assertEquals(left.filter((name) => name.includes(".tmp")), []);
  Deno.removeSync(folder, { recursive: true });
});
