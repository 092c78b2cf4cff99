/**
 * The native runtime of the CPU backend: toolchain, object cache, matrix products, convolutions. Everything is compared
 * with plain float64 loops; all skipped if there is no C++ compiler, but not in CI.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { addressOf, callAt, entryAddress } from "../backends/cpu/ffi.ts";
import { buildLibraries } from "../backends/cpu/object_cache.ts";
import { counters } from "../lib/base/logs.ts";
import { type Routine, routineAddresses } from "../backends/cpu/runtime_library.ts";
import { ToolchainError } from "../backends/cpu/compiler_faults.ts";
import { runInBackground, runSideBySide } from "../backends/cpu/compiler_process.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

const test = (name: string, fn: () => void | Promise<void>): void =>
  Deno.test({ name, ignore: SKIP_NATIVE, fn });

type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** A small deterministic generator, so that a failure can be repeated. */
function randoms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

type Elements = (x: number, random: () => number) => number;

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
  /** Elements of the operands, from random ones. An error is then relative to the sum of the products' magnitudes. */
  readonly elements?: readonly [a: Elements, b: Elements];
}

const strides = (
  letter: string | undefined,
  rows: number,
  cols: number,
  pad: number,
): [number, number, number] => {
  if (letter === "t") return [1, rows + pad, cols * (rows + pad)];
  if (letter === "s") return [(cols + pad) * 3, 3, rows * (cols + pad) * 3];
  return [cols + pad, 1, rows * (cols + pad)];
};

/** Checks that a call gives the same bits if it keeps a form of its weight, and if it reads the kept form alone. */
function checkKept(
  { record, run, out, start, weight, skip }: {
    readonly record: Float64Array<ArrayBuffer>;
    readonly run: () => void;
    readonly out: Floats;
    /** The elements of the result before a call. */
    readonly start: Floats;
    readonly weight: Floats;
    readonly skip: boolean;
  },
): void {
  const [, , wanted = 0] = record;
  if (wanted === 0 || skip) return;
  const bits = out.slice(), kept = new Uint8Array(wanted), elements = weight.slice();
  record[0] = addressOf(kept);
  for (const isFilled of [0, 1]) {
    assertEquals(record[1], isFilled);
    if (isFilled) weight.fill(NaN);
    out.set(start);
    run();
    assertEquals(out, bits, "a kept form");
  }
  weight.set(elements);
}

/** Runs one product and compares every element; elements outside C's view must stay as they were. */
function checkProduct(routine: Routine, p: Product, epilogue = 0, context?: Float64Array<ArrayBuffer>): void {
  const { m, n, k, batch = 1, layout = "nnn", pad = 0, accumulate = false, threads = 2, elements } = p;
  const make = (length: number): Floats =>
    routine === "gemm_f32" ? new Float32Array(length + 1) : new Float64Array(length + 1);
  const [ars, acs, abs] = strides(layout[0], m, k, pad);
  const [brs, bcs, bbs] = strides(layout[1], k, n, pad);
  const [crs, ccs, cbs] = strides(layout[2], m, n, pad);
  const a = make(batch * abs), b = make(batch * bbs), c = make(batch * cbs);
  const random = randoms(m * 7919 + n * 104729 + k);
  for (const array of [a, b, c]) for (let i = 0; i < array.length; i++) array[i] = random();
  elements?.forEach((element, at) => {
    const operand = at === 0 ? a : b;
    for (let i = 0; i < operand.length; i++) operand[i] = element(operand[i] ?? 0, random);
  });
  const before = c.slice(), record = new Float64Array(3);
  const call = new BigInt64Array(
    [addressOf(a), addressOf(b), addressOf(c), m, n, k, batch, ars, acs, abs, brs, bcs, bbs, crs, ccs, cbs]
      .concat([
        accumulate ? 1 : 0,
        threads,
        epilogue,
        context === undefined ? 0 : addressOf(context),
        0,
        0,
        0,
        0,
        addressOf(record),
      ]).map(
        BigInt,
      ),
  );
  const run = () => callAt(routineAddresses([routine])[0] ?? 0, call);
  run();
  checkKept({
    record,
    run,
    out: c,
    start: before,
    weight: b,
    skip: epilogue !== 0 || elements !== undefined,
  });
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
          size = elements ? size + Math.abs(term) : Math.max(size, Math.abs(sum));
        }
        touched[at] = 1;
        const error = Math.abs((c[at] ?? 0) - sum);
        assert(
          Object.is(c[at], sum) || error <= tolerance * (elements ? size : Math.max(size, 1)) + k * 2 ** -149,
          `${JSON.stringify(p)} [${g}, ${i}, ${j}]: error ${error}`,
        );
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
    for (const a of "nts") {
      for (const b of "nts") {
        for (const c of "nt") checkProduct("gemm_f32", { m, n, k, layout: a + b + c, pad: 3 });
      }
    }
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
  // More than caches hold
  checkProduct("gemm_f32", { m: 1, n: 1700, k: 341, layout: "ntn", pad: 3 });
  checkProduct("gemm_f32", { m: 1, n: 1900, k: 301, layout: "ntn", accumulate: true, threads: 1 });
});

test("matrix products in several blocks of K and of rows, with accumulation", () => {
  for (const layout of ["nnn", "tnn", "ntn"]) {
    checkProduct("gemm_f32", { m: 20, n: 70, k: 1100, layout });
    checkProduct("gemm_f32", { m: 600, n: 66, k: 530, layout, accumulate: true, threads: 3 });
    checkProduct("gemm_f32", { m: 600, n: 48, k: 530, layout });
    checkProduct("gemm_f32", { m: 90, n: 300, k: 1100, layout, accumulate: true, threads: 3 });
    checkProduct("gemm_f32", { m: 210, n: 200, k: 130, layout });
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

test("large products keep numbers of any size, infinity and NaN", () => {
  const any: Elements = (x) => x, times = (factor: number): Elements => (x) => x * factor;
  const short: Elements = (x) => Math.round(x * 200);
  const powers = (least: number, most: number): Elements => (x, random) =>
    x * 2 ** Math.floor(least + (random() + 0.5) * (most - least));
  const cases: readonly (readonly [Elements, Elements])[] = [
    [times(2 ** -120), times(2 ** 30)],
    [times(2 ** -145), times(2 ** 60)],
    [times(2 ** -60), times(2 ** -60)],
    [times(2 ** 127.9), times(2 ** -30)],
    [powers(-140, 20), powers(-60, 60)],
    [times(2 ** -120), times(2 ** 55)],
    [any, powers(-149, 0)],
    [(x, random) => random() > 0.499 ? Infinity : x, any],
    [any, (x, random) => random() > 0.4999 ? NaN : x],
    [short, short],
    [short, any],
    [any, short],
  ];
  cases.forEach((elements, i) => {
    checkProduct("gemm_f32", { m: 190, n: 260, k: 300, layout: i % 2 ? "ntn" : "tnn", elements });
  });
  checkProduct("gemm_f32", { m: 190, n: 260, k: 300, layout: "sst", pad: 2, elements: [any, any] });
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
    assert(
      visits.every((v) => v === 1n),
      `${JSON.stringify(p)}: ${visits.filter((v) => v !== 1n).length} wrong`,
    );
  }
});

test("a library is compiled once, then found; damage and foreign files are noticed", () => {
  const source = {
    name: "answer",
    text: `extern "C" __attribute__((visibility("default"))) int answer_${Deno.pid}() { return 42; }`,
  };
  const counted = (name: string) => counters.get("cached_libraries", name);
  const [compiled, hits] = [counted("compiled"), counted("hits")];
  const textIn = (path: string) => new TextDecoder().decode(Deno.readFileSync(path));
  const [path = ""] = buildLibraries([source]);
  assertEquals(counted("compiled"), compiled + 1);
  assertEquals(buildLibraries([source]), [path]);
  assertEquals(counted("hits"), hits + 1);
  assert(textIn(path).includes(source.text));

  const good = Deno.readFileSync(path);
  const damaged = good.slice();
  damaged[100] = (damaged[100] ?? 0) ^ 1;
  for (const bad of [damaged, good.subarray(0, good.length - 7), new Uint8Array(3), new Uint8Array(0)]) {
    Deno.removeSync(path);
    Deno.writeFileSync(path, bad);
    const before = [counted("compiled"), counted("damaged")];
    assertEquals(buildLibraries([source]), [path]);
    assertEquals([counted("compiled"), counted("damaged")], before.map((count) => count + 1));
    assert(textIn(path).includes(source.text));
  }
  Deno.removeSync(path);
});

test("a rejected source names itself and shows the compiler's message", () => {
  const error = assertThrows(
    () => buildLibraries([{ name: "broken", text: "int f() { return nothing; }" }]),
    ToolchainError,
  );
  assert(error.message.includes("broken.cpp") && error.message.includes("nothing"), error.message);
});

test("compilers whose commands are longer together than one argument of a process may be", async () => {
  const folder = Deno.makeTempDirSync(), long = "x".repeat(8000);
  const commands = Array.from({ length: 40 }, (_, i) => ({
    words: ["sh", "-c", `exit ${i % 3}`, long],
    log: `${folder}/${i}.log`,
  }));
  const expected = commands.map((_, i) => ({ kind: "exit", code: i % 3 }) as const);
  assertEquals(runSideBySide(commands, 600), expected);
  assertEquals([...Deno.readDirSync(folder)].filter(({ name }) => !name.endsWith(".log")), []);
  const run = runInBackground(commands, { seconds: 600, folder });
  let endings = run.poll();
  while (!endings) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    endings = run.poll();
  }
  assertEquals(endings, expected);
  run.stop();
});

test("compilers in the background whose shell was killed have ended when their time is over", async () => {
  const folder = Deno.makeTempDirSync(), { now } = performance;
  const run = runInBackground([{ words: ["sleep", "600"], log: `${folder}/log` }], { seconds: 600, folder });
  try {
    const group = Number(Deno.readTextFileSync(`${folder}/group`));
    for (let isKilled = false; !isKilled;) {
      try {
        Deno.kill(-group, "SIGKILL");
        isKilled = true;
      } catch (thrown) {
        // The group begins a little later than its process
        if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
        await new Promise((done) => setTimeout(done, 5));
      }
    }
    assertEquals(run.poll(), undefined);
    performance.now = () => now.call(performance) + 700_000;
    assertEquals(run.poll(), [{ kind: "unstarted", because: "its shell ended first" }]);
  } finally {
    performance.now = now;
    run.stop();
  }
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

interface Convolution {
  readonly n: number;
  readonly c: number;
  readonly k: number;
  readonly h: number;
  readonly w: number;
  readonly r: number;
  readonly s: number;
  readonly stride?: readonly [number, number];
  readonly padding?: readonly [number, number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
  readonly bias?: boolean;
  readonly threads?: number;
  /** Default f32. */
  readonly type?: "f64";
  /** Channels-last strides for image and result, weight stored back to front in its dimensions. */
  readonly strided?: boolean;
  /** Whether errors may be larger, as they then are. */
  readonly fast?: boolean;
  /** Whether the second row of the first image begins with infinity. */
  readonly infinite?: boolean;
  /** The positions of a gradient of a result and of a weight that are infinite. */
  readonly infiniteGradient?: number;
  readonly infiniteTap?: number;
  /** Factor of the elements of the image; results and gradients of weights then have that size. */
  readonly scale?: number;
  /** All channels of the image are the same memory; then it has no gradient here. */
  readonly repeated?: boolean;
}

type Four = readonly [number, number, number, number];

/** Sizes and strides of a convolution, and random operands for it. */
interface Prepared {
  readonly cg: number;
  readonly kg: number;
  readonly oh: number;
  readonly ow: number;
  readonly strides: { readonly image: Four; readonly weight: Four; readonly result: Four };
  readonly operands: { readonly image: Floats; readonly weight: Floats; readonly result: Floats };
  readonly bias: Floats;
}

function prepare(p: Convolution): Prepared {
  const { n, c, k, h, w, r, s, groups = 1 } = p;
  const [sh, sw] = p.stride ?? [1, 1], [ph, pw] = p.padding ?? [0, 0], [dh, dw] = p.dilation ?? [1, 1];
  const cg = c / groups, kg = k / groups;
  const oh = Math.floor((h + 2 * ph - dh * (r - 1) - 1) / sh) + 1;
  const ow = Math.floor((w + 2 * pw - dw * (s - 1) - 1) / sw) + 1;
  const nchw = (channels: number, height: number, width: number): Four =>
    p.strided
      ? [height * width * channels, 1, width * channels, channels]
      : [channels * height * width, height * width, width, 1];
  const strides = {
    image: p.repeated ? [h * w, 0, w, 1] as const : nchw(c, h, w),
    weight: p.strided ? [1, k, k * cg, k * cg * r] as const : [cg * r * s, r * s, s, 1] as const,
    result: nchw(k, oh, ow),
  };
  const random = randoms(n * 31 + c * 7 + k + h * w);
  const make = (length: number): Floats =>
    p.type === "f64" ? new Float64Array(length).map(random) : new Float32Array(length).map(random);
  const operands = {
    image: make(n * c * h * w),
    weight: make(k * cg * r * s),
    result: make(n * k * oh * ow),
  };
  return { cg, kg, oh, ow, strides, operands, bias: make(k) };
}

/** The argument of one kind of a convolution, as `ConvCall`. */
function callOf(
  p: Convolution,
  { cg, kg, oh, ow, strides, operands, bias }: Prepared,
  kind: number,
  { epilogue = 0, context = 0, record = 0 } = {},
): BigInt64Array<ArrayBuffer> {
  const { n, h, w, r, s, groups = 1, threads = 2 } = p;
  return new BigInt64Array([
    addressOf(operands.image),
    addressOf(operands.weight),
    addressOf(operands.result),
    kind === 0 && p.bias ? addressOf(bias) : 0,
    ...[
      kind,
      n,
      groups,
      cg,
      kg,
      h,
      w,
      oh,
      ow,
      r,
      s,
      ...strides.image,
      ...strides.weight,
      ...strides.result,
      1,
    ],
    ...p.stride ?? [1, 1],
    ...p.padding ?? [0, 0],
    ...p.dilation ?? [1, 1],
    ...[threads, epilogue, context, p.fast ? 1 : 0, record],
  ].map(BigInt));
}
const routineOf = (p: Convolution): number =>
  routineAddresses([p.type === "f64" ? "conv_f64" : "conv_f32"])[0] ?? 0;

/** Runs all three kinds of one convolution and compares every element. */
function checkConvolution(p: Convolution, epilogue = 0): void {
  const { n, c, k, h, w, r, s } = p, prepared = prepare(p);
  const [sh, sw] = p.stride ?? [1, 1], [ph, pw] = p.padding ?? [0, 0], [dh, dw] = p.dilation ?? [1, 1];
  const { cg, kg, oh, ow, operands, bias } = prepared, { image, weight, result } = operands;
  const { image: is, weight: ws, result: rs } = prepared.strides;
  if (p.scale !== undefined) { for (let i = 0; i < image.length; i++) image[i] = (image[i] ?? 0) * p.scale; }
  if (p.infinite) image[is[2] ?? 0] = Infinity;
  if (p.infiniteGradient !== undefined) result[p.infiniteGradient] = Infinity;
  if (p.infiniteTap !== undefined) weight[p.infiniteTap] = Infinity;
  const expected = {
    image: new Float64Array(image.length),
    weight: new Float64Array(weight.length),
    result: new Float64Array(result.length),
  };
  const offset = (t: readonly number[], a: number, b: number, y: number, x: number): number =>
    a * (t[0] ?? 0) + b * (t[1] ?? 0) + y * (t[2] ?? 0) + x * (t[3] ?? 0);
  for (let i = 0; i < n; i++) {
    for (let o = 0; o < k; o++) {
      for (let y = 0; y < oh; y++) {
        for (let x = 0; x < ow; x++) {
          const at = offset(rs, i, o, y, x), gradient = result[at] ?? 0;
          let sum = p.bias ? bias[o] ?? 0 : 0;
          for (let q = 0; q < cg; q++) {
            for (let a = 0; a < r; a++) {
              for (let b = 0; b < s; b++) {
                const iy = y * sh + a * dh - ph, ix = x * sw + b * dw - pw;
                if (iy < 0 || ix < 0 || iy >= h || ix >= w) continue;
                const ia = offset(is, i, Math.floor(o / kg) * cg + q, iy, ix), wa = offset(ws, o, q, a, b);
                sum += (image[ia] ?? 0) * (weight[wa] ?? 0);
                expected.image[ia] = (expected.image[ia] ?? 0) + gradient * (weight[wa] ?? 0);
                expected.weight[wa] = (expected.weight[wa] ?? 0) + gradient * (image[ia] ?? 0);
              }
            }
          }
          expected.result[at] = sum;
        }
      }
    }
  }
  const kinds = [["result", cg * r * s], ["image", kg * r * s], ["weight", n * oh * ow]] as const;
  kinds.forEach(([output, depth], kind) => {
    if (p.repeated && output === "image") return;
    const out = operands[output].slice().fill(NaN);
    const now = { ...operands, [output]: out };
    const context = new Float64Array(2 + out.length);
    const [channels, height] = kind === 0 ? [k, oh] : [c, h];
    context.set([channels, height]);
    const record = new Float64Array(3);
    const call = callOf(p, { ...prepared, operands: now }, kind, {
      epilogue: kind < 2 ? epilogue : 0,
      context: addressOf(context),
      record: addressOf(record),
    });
    const run = () => callAt(routineOf(p), call);
    run();
    checkKept({ record, run, out, start: out.slice().fill(NaN), weight: now.weight, skip: epilogue !== 0 });
    const tolerance = (p.fast ? 3 : 1) * 2 ** (p.type === "f64" ? -52 : -23) *
      Math.max(4, 2 * Math.sqrt(depth));
    for (let i = 0; i < out.length; i++) {
      const wanted = expected[output][i] ?? 0,
        error = out[i] === wanted ? 0 : Math.abs((out[i] ?? NaN) - wanted);
      const size = Math.max(output === "image" ? 1 : p.scale ?? 1, Math.abs(expected[output][i] ?? 0));
      assert(
        error <= tolerance * size,
        `${JSON.stringify(p)} ${output}[${i}]: error ${error} of ${expected[output][i]}`,
      );
    }
    if (epilogue !== 0 && kind < 2) {
      const visits = new BigInt64Array(context.buffer, 16, n * channels * height);
      assert(visits.every((v) => v === 1n), `${JSON.stringify(p)} ${output}: rows visited ${visits}`);
    }
  });
}

test("convolutions and their gradients in many geometries", () => {
  const base = { n: 2, c: 3, k: 5, h: 9, w: 11, r: 3, s: 3 };
  const cases: Convolution[] = [
    base,
    { ...base, padding: [1, 1], bias: true },
    { ...base, r: 1, s: 1 },
    { ...base, r: 1, s: 1, stride: [2, 2] },
    { ...base, c: 40, r: 1, s: 1, repeated: true },
    { ...base, c: 2, k: 4, r: 1, s: 1, groups: 2, repeated: true },
    { ...base, r: 5, s: 5, padding: [2, 2] },
    { ...base, stride: [2, 2], padding: [1, 1], bias: true },
    { ...base, stride: [3, 2], padding: [0, 1] },
    { ...base, h: 10, w: 10, stride: [2, 2] },
    { ...base, h: 10, w: 10, stride: [4, 3], padding: [2, 2] },
    { ...base, dilation: [2, 1], padding: [2, 1] },
    { ...base, dilation: [2, 3], stride: [2, 2], padding: [1, 3] },
    { ...base, r: 1, s: 1, padding: [1, 2] },
    { ...base, r: 2, s: 4, padding: [1, 3], stride: [1, 2] },
    { ...base, c: 4, k: 6, groups: 2, padding: [1, 1] },
    { ...base, c: 6, k: 6, groups: 6, padding: [1, 1], stride: [2, 1] },
    { ...base, c: 3, k: 9, groups: 3 },
    { ...base, h: 1, r: 1, w: 40, s: 7, padding: [0, 3] },
    { ...base, strided: true, padding: [1, 1], bias: true },
    { ...base, strided: true, stride: [2, 2], c: 4, k: 4, groups: 2 },
  ];
  for (const p of cases) for (const threads of [1, 2]) checkConvolution({ ...p, threads });
});

test("convolutions of many channels, images and pixels", () => {
  checkConvolution({ n: 8, c: 1, k: 16, h: 28, w: 28, r: 3, s: 3, padding: [1, 1] });
  checkConvolution({ n: 7, c: 16, k: 32, h: 14, w: 14, r: 3, s: 3, padding: [1, 1] });
  checkConvolution({ n: 5, c: 70, k: 33, h: 7, w: 7, r: 3, s: 3, padding: [1, 1] });
  checkConvolution({ n: 1, c: 64, k: 100, h: 6, w: 5, r: 3, s: 3, padding: [1, 1] });
  checkConvolution({ n: 1, c: 3, k: 9, h: 60, w: 62, r: 7, s: 7, padding: [3, 3], stride: [2, 2] });
  checkConvolution({ n: 2, c: 600, k: 8, h: 5, w: 5, r: 1, s: 1 });
  checkConvolution({ n: 3, c: 9, k: 20, h: 9, w: 17, r: 1, s: 1, bias: true });
});

testInTurn("convolutions by tiles", {
  name: "convolutions by transformed tiles: odd sizes, bias, strides, groups, float64",
  ignore: SKIP_NATIVE,
  fn() {
    const base = { n: 2, c: 40, k: 48, h: 13, w: 15, r: 3, s: 3, padding: [1, 1] as const };
    checkConvolution({ ...base, bias: true });
    checkConvolution({ ...base, strided: true, bias: true });
    checkConvolution({ ...base, n: 1, c: 64, groups: 2, padding: [0, 0] });
    checkConvolution({ ...base, n: 5, h: 4, w: 5, threads: 1 });
    checkConvolution({ ...base, h: 30, w: 31, padding: [2, 0] });
    checkConvolution({ ...base, n: 3, c: 16, k: 20, h: 29, w: 33, padding: [1, 1], threads: 3 });
    checkConvolution({ ...base, type: "f64" });
    checkConvolution({ ...base, fast: true, bias: true });
    checkConvolution({ ...base, n: 3, h: 10, w: 9, groups: 2, strided: true, fast: true });
  },
});

testInTurn("convolutions by two by tiles", {
  name: "convolutions by two by transformed tiles: odd sizes, padding, strides, groups, float64",
  ignore: SKIP_NATIVE,
  fn() {
    const base = { n: 2, c: 40, k: 34, h: 13, w: 16, r: 3, s: 3, stride: [2, 2], padding: [1, 1] } as const;
    checkConvolution({ ...base, bias: true });
    checkConvolution({ ...base, h: 14, w: 29, groups: 2, strided: true, threads: 1 });
    checkConvolution({ ...base, n: 3, c: 17, k: 64, h: 6, w: 5, padding: [3, 1] });
    checkConvolution({ ...base, h: 12, padding: [0, 2], fast: true });
    checkConvolution({ ...base, c: 16, k: 16, type: "f64", threads: 3 });
  },
});

test("convolutions of few channels by rows", () => {
  const base = { n: 2, c: 3, k: 20, h: 21, w: 33, r: 7, s: 7, stride: [2, 2], padding: [3, 3] } as const;
  checkConvolution({ ...base, bias: true });
  checkConvolution({ ...base, k: 33, h: 90, n: 1, strided: true });
  checkConvolution({ ...base, c: 8, k: 34, groups: 2, w: 70, threads: 3 });
  checkConvolution({ ...base, r: 4, s: 4, stride: [4, 4], padding: [0, 1], k: 48 });
  checkConvolution({ ...base, r: 3, s: 3, stride: [1, 1], padding: [1, 1], w: 5 });
  checkConvolution({ ...base, c: 1, r: 5, s: 3, stride: [2, 1], padding: [2, 4], type: "f64" });
});

test("filters of one tap by two read and write every second pixel", () => {
  const base = { n: 2, c: 9, k: 20, h: 9, w: 40, r: 1, s: 1, stride: [2, 2] } as const;
  checkConvolution(base);
  checkConvolution({ ...base, w: 13, h: 14, strided: true, bias: true });
  checkConvolution({ ...base, n: 3, w: 7, h: 7, padding: [1, 1] });
  checkConvolution({ ...base, w: 1, h: 5, stride: [1, 2] });
  checkConvolution({ ...base, s: 2, w: 21, dilation: [1, 2], type: "f64" });
});

test("filters of one tap by one read images where they lie", () => {
  const base = { n: 2, c: 9, k: 20, h: 11, w: 13, r: 1, s: 1 } as const;
  checkConvolution({ ...base, n: 1, c: 580, k: 9, bias: true });
  checkConvolution({ ...base, c: 34, k: 38, groups: 2, h: 23, bias: true, threads: 3 });
  checkConvolution({ ...base, h: 12, w: 16, repeated: true });
  checkConvolution({ ...base, strided: true });
  checkConvolution({ ...base, w: 50, type: "f64", threads: 1 });
  const many = { ...base, n: 1, c: 128, k: 96, h: 18, w: 22, bias: true } as const;
  checkConvolution({ ...many, n: 3, c: 256, k: 198, groups: 2, h: 14, w: 15 });
  checkConvolution({ ...many, c: 600, h: 16, w: 12 });
  checkConvolution({ ...many, infinite: true });
  checkConvolution({ ...many, bias: false, scale: 2 ** -120 });
});

test("filters that meet no pixel twice are products with patches of images", () => {
  const base = { n: 2, c: 3, k: 20, h: 42, w: 44, r: 4, s: 4, stride: [4, 4], bias: true } as const;
  checkConvolution(base);
  checkConvolution({ ...base, n: 1, c: 42, k: 9, h: 40, w: 40, threads: 1 });
  checkConvolution({ ...base, c: 8, k: 34, groups: 2, h: 25, w: 23, r: 2, s: 2, stride: [2, 2] });
  checkConvolution({ ...base, n: 1, c: 16, k: 64, h: 64, w: 67, threads: 3 });
  checkConvolution({ ...base, r: 2, s: 3, h: 41, w: 43, type: "f64" });
  checkConvolution({ ...base, n: 1, c: 1, k: 8, h: 60, w: 124, r: 5, s: 8, stride: [6, 8] });
  checkConvolution({ ...base, n: 1, c: 1, k: 8, h: 20, w: 784, r: 9, s: 16, stride: [10, 16], threads: 3 });
});

/** Multiplications at most: each is done here, too. */
const MOST_PRODUCTS = 1.5e6;

/** Some convolution, with channels on both sides of every threshold. */
function someConvolution(random: () => number): Convolution {
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  for (;;) {
    const r = pick([1, 2, 3, 3, 3, 5]),
      s = below(5) > 0 ? r : pick([1, 2, 3, 4]),
      groups = pick([1, 1, 1, 2, 5]);
    const c = groups * pick([1, 1, 3, 8, 16, 17, 32]), k = groups * pick([1, 1, 2, 4, 16, 24, 33]);
    const stride = [pick([1, 2, 2, 3]), pick([1, 2, 2, 3])] as const;
    const dilation = [pick([1, 1, 2, 3]), pick([1, 1, 2, 3])] as const;
    const padding = [below(4), below(4)] as const, n = pick([1, 2, 3]);
    const h = Math.max(1, dilation[0] * (r - 1) + 1 - 2 * padding[0]) + below(16);
    const w = Math.max(1, dilation[1] * (s - 1) + 1 - 2 * padding[1]) + below(24);
    if (n * c * k / groups * h * w * r * s > MOST_PRODUCTS * stride[0] * stride[1]) continue;
    const flags = {
      bias: below(2) > 0,
      strided: below(4) === 0,
      fast: below(6) === 0,
      threads: pick([1, 2, 3]),
    };
    return { n, c, k, h, w, r, s, stride, padding, dilation, groups, ...flags };
  }
}

test("convolutions of any geometry", () => {
  const random = randomNumbers(testSeed());
  for (let left = TAKES_ALL ? 1500 : 40; left > 0; left--) checkConvolution(someConvolution(random));
});

/** Calls a function with an argument and stores 1 if an operation in it had a subnormal operand. Only x86 tells. */
const WITH_FLAGS = `
struct Watched { void (*call)(const void*); const void* argument; long seen; };
static void watch(Watched* w) {
#if defined(__SSE2__)
  enum { FLAGS = 0x3f, DENORMAL = 2 };
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~FLAGS);
  w->call(w->argument);
  w->seen = (__builtin_ia32_stmxcsr() & DENORMAL) != 0;
#else
  w->call(w->argument);
#endif
}
extern "C" __attribute__((visibility("default"))) void* dyn_entry() { return (void*) watch; }
`;

test("convolutions compute with their operands, not with what lies beside them in scratch memory", () => {
  const [path = ""] = buildLibraries([{ name: "flags", text: WITH_FLAGS }]);
  /** Runs all kinds of a convolution; returns those in which a subnormal number was an operand. */
  const subnormals = (p: Convolution, fill?: number): number[] => {
    const prepared = prepare(p), { image, weight, result } = prepared.operands;
    if (fill !== undefined) { for (const each of [image, weight, result]) each.fill(fill); }
    return [0, 1, 2].filter((kind) => {
      const argument = callOf(p, prepared, kind);
      const watched = new BigInt64Array([BigInt(routineOf(p)), BigInt(addressOf(argument)), 0n]);
      callAt(entryAddress(path), watched);
      return watched[2] === 1n;
    });
  };
  const random = randomNumbers(testSeed()), tiny = 2 ** -140;
  const large = { n: 2, c: 48, k: 48, h: 40, w: 40, threads: 1 };
  for (let left = TAKES_ALL ? 1500 : 150; left > 0; left--) {
    // Scratch memory then holds products and copies of subnormal numbers
    if (left % 50 === 0) {
      for (const r of [1, 3, 5]) subnormals({ ...large, r, s: r, padding: [1, 1] }, tiny);
    }
    const p: Convolution = { ...someConvolution(random), threads: 1 };
    subnormals(p, tiny);
    assertEquals(subnormals(p), [], JSON.stringify(p));
  }
});

test("convolutions with few channels a group", () => {
  const base = { n: 3, c: 16, k: 16, h: 19, w: 70, r: 3, s: 3, groups: 16, padding: [1, 1] as const };
  checkConvolution({ ...base, bias: true });
  checkConvolution({ ...base, stride: [2, 2], bias: true, threads: 1 });
  checkConvolution({ ...base, k: 32, strided: true });
  checkConvolution({ ...base, dilation: [2, 1], type: "f64" });
  checkConvolution({ ...base, h: 14, w: 14, r: 7, s: 7, padding: [3, 3], infinite: true });
  checkConvolution({ ...base, w: 20, padding: [0, 0], infinite: true });
  checkConvolution({ ...base, c: 21, k: 21, groups: 21, n: 1, h: 7, w: 7, bias: true });
  checkConvolution({ ...base, h: 21, r: 5, s: 5, stride: [2, 2], padding: [2, 2] });
  checkConvolution({ ...base, n: 1, h: 20, w: 14, r: 11, s: 7, padding: [5, 3], bias: true });
  checkConvolution({ ...base, c: 40, k: 40, groups: 40, h: 1, w: 3, r: 1, padding: [0, 1] });
  checkConvolution({ ...base, c: 40, k: 40, groups: 40, n: 1, h: 30, w: 33, stride: [1, 3], threads: 7 });
  checkConvolution({ ...base, c: 18, k: 18, groups: 18, h: 4, w: 3, padding: [2, 4], dilation: [1, 2] });
  checkConvolution({ ...base, groups: 1, c: 1, k: 20 });
  checkConvolution({ ...base, groups: 1, c: 20, k: 2, r: 5, s: 1 });
  checkConvolution({ ...base, groups: 1, c: 1, k: 9, r: 5, s: 5, padding: [2, 3], infinite: true });
  checkConvolution({ ...base, groups: 2, c: 2, k: 20, h: 9, w: 33, stride: [2, 2], bias: true, type: "f64" });
});

test("gradients of depthwise filters and of their images by sliding windows", () => {
  const base = { n: 2, c: 5, k: 5, groups: 5, h: 21, w: 70, r: 3, s: 3, padding: [1, 1] as const };
  checkConvolution({ ...base, infinite: true });
  checkConvolution({ ...base, h: 22, w: 53, stride: [2, 2], infinite: true, threads: 1 });
  checkConvolution({ ...base, h: 2, w: 37, stride: [2, 2], padding: [2, 0] });
  checkConvolution({ ...base, r: 5, s: 5, stride: [2, 2], padding: [4, 1], type: "f64" });
  checkConvolution({ ...base, r: 5, s: 5, w: 33, padding: [0, 3] });
  checkConvolution({ ...base, h: 7, w: 8, stride: [2, 2], padding: [0, 2] });
  checkConvolution({ ...base, stride: [2, 2], infiniteTap: 4 });
  // In a column that two vectors share
  checkConvolution({ ...base, w: 53, padding: [0, 0], infiniteGradient: 91 });
});

test("gradients of filters whose windows stay inside the image, which is read in place", () => {
  const base = { n: 3, c: 10, k: 20, h: 15, w: 17, r: 3, s: 2, stride: [2, 3], dilation: [2, 1] } as const;
  checkConvolution(base);
  checkConvolution({ ...base, strided: true, threads: 1 });
  checkConvolution({ ...base, groups: 2, type: "f64" });
  checkConvolution({ n: 5, c: 3, k: 50, h: 12, w: 12, r: 4, s: 4, stride: [4, 4] });
  checkConvolution({ n: 1, c: 18, k: 33, h: 9, w: 9, r: 1, s: 1 });
});

test("the epilogue of a convolution sees every row of every channel exactly once", () => {
  const [path = ""] = buildLibraries([{ name: "counting", text: COUNTING }]);
  const epilogue = entryAddress(path);
  checkConvolution({ n: 3, c: 4, k: 12, h: 30, w: 31, r: 3, s: 3, padding: [1, 1] }, epilogue);
  checkConvolution({ n: 9, c: 32, k: 33, h: 7, w: 7, r: 3, s: 3, padding: [1, 1] }, epilogue);
  checkConvolution({ n: 1, c: 32, k: 33, h: 40, w: 41, r: 3, s: 3 }, epilogue);
  checkConvolution({ n: 3, c: 8, k: 4, h: 9, w: 8, r: 3, s: 3, stride: [2, 2], padding: [1, 1] }, epilogue);
  checkConvolution({ n: 2, c: 12, k: 12, h: 9, w: 30, r: 3, s: 3, groups: 12 }, epilogue);
  checkConvolution({ n: 9, c: 2, k: 4, h: 5, w: 5, r: 3, s: 3, groups: 2 }, epilogue);
  checkConvolution({ n: 1, c: 8, k: 64, h: 4, w: 4, r: 3, s: 3, stride: [2, 2] }, epilogue);
  checkConvolution({ n: 2, c: 16, k: 33, h: 9, w: 8, r: 3, s: 3, stride: [2, 2], padding: [1, 1] }, epilogue);
  checkConvolution({ n: 2, c: 2, k: 17, h: 60, w: 8, r: 7, s: 7, stride: [2, 2], padding: [3, 3] }, epilogue);
  checkConvolution({ n: 2, c: 20, k: 17, h: 5, w: 8, r: 1, s: 1, stride: [2, 2] }, epilogue);
  checkConvolution({ n: 1, c: 20, k: 17, h: 50, w: 33, r: 1, s: 1 }, epilogue);
  checkConvolution(
    { n: 2, c: 6, k: 6, h: 19, w: 40, r: 3, s: 3, groups: 6, stride: [2, 2], padding: [1, 1] },
    epilogue,
  );
  checkConvolution({ n: 2, c: 1, k: 9, h: 61, w: 40, r: 3, s: 3, padding: [1, 1] }, epilogue);
  checkConvolution({ n: 2, c: 20, k: 20, h: 70, w: 90, r: 3, s: 3, groups: 20, padding: [1, 1] }, epilogue);
});
