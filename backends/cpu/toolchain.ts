/**
 * The C++ compiler of this machine: which one, what it generates code for, with which options it is called.
 * Input: DYN_CXX, PATH, the CPU; output: a `Toolchain`, or the reason why there is none. The compiler itself is
 * asked once per (compiler file, CPU); the answers are kept on disk, so that later processes only stat it.
 * Invariant: nothing here throws for a missing or broken compiler; `requireToolchain` does.
 */
import { fingerprintText } from "./fingerprint.ts";
import { cacheDirectory, readText, writeAtomically } from "./cache_directory.ts";

/** What the compiler generates code for, from its own macros. */
export interface Target {
  /** "x86_64", "aarch64" or the macro-less "unknown". */
  readonly architecture: string;
  /** "avx512", "avx2", "sse2", "neon", "generic". */
  readonly instructionSet: string;
  /** Bytes of the widest vector register. */
  readonly vectorBytes: number;
  /** Number of vector registers. */
  readonly vectorRegisters: number;
  readonly fusedMultiplyAdd: boolean;
}

/** A compiler that was found to work. */
export interface Toolchain {
  /** Absolute path. */
  readonly compiler: string;
  /** First line of `--version`. */
  readonly version: string;
  readonly target: Target;
  readonly openmp: boolean;
  /** Options for every compilation; sources follow, then `linkOptions`. */
  readonly options: readonly string[];
  readonly linkOptions: readonly string[];
  /** Complete text that identifies compiler, options and CPU, for cache keys. */
  readonly identity: string;
}

/** What `doctor` shows. */
export type ToolchainStatus =
  | { readonly kind: "ready"; readonly toolchain: Toolchain; readonly cacheDirectory: string }
  | { readonly kind: "missing"; readonly tried: readonly string[]; readonly reason: string };

/** Raised where compiled code is needed and there is no compiler, or where it rejects a source. */
export class ToolchainError extends Error {
  override readonly name: string = "ToolchainError";
}

/**
 * Contraction is off so that every fused multiply-add is one that the source asks for; errno and traps are not
 * observed by generated code. Optimisations of -O3 stay on: without jump threading, say, GCC 12 vectorises masked
 * loads with wrong masks. Denormals stay (no -ffast-math: linking with it flushes them in the JS thread).
 * `nodelete` keeps OpenMP's idle threads from running unmapped code at exit.
 */
const OPTIONS = [
  "-std=gnu++17",
  "-O3",
  "-march=native",
  "-fPIC",
  "-ffp-contract=off",
  "-fno-math-errno",
  "-fno-trapping-math",
  "-fno-exceptions",
  "-fno-rtti",
  "-fno-asynchronous-unwind-tables",
  "-fno-stack-protector",
  "-fvisibility=hidden",
  "-Wno-psabi",
] as const;

const LINK_OPTIONS: readonly string[] = Deno.build.os === "darwin"
  ? ["-shared", "-undefined", "dynamic_lookup"]
  : ["-shared", "-Wl,-z,nodelete", "-s"];

/** Run with the first that exists; DYN_CXX replaces the list. */
const CANDIDATES = ["g++", "c++", "clang++"] as const;

interface Answers {
  readonly version: string;
  readonly target: Target;
  readonly openmp: boolean;
  /** Whether the linker takes the short way, without start files (saves 40 ms a link). */
  readonly plainLink: boolean;
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function locate(name: string): string | undefined {
  const folders = name.includes("/") ? [""] : (Deno.env.get("PATH") ?? "").split(":").map((f) => `${f}/`);
  for (const folder of folders) {
    try {
      const path = Deno.realPathSync(folder + name);
      if (Deno.statSync(path).isFile) return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Model and feature flags of the first CPU: what -march=native depends on. */
function cpuIdentity(): string {
  try {
    using file = Deno.openSync("/proc/cpuinfo");
    const bytes = new Uint8Array(8192);
    const read = file.readSync(bytes) ?? 0;
    const first = decode(bytes.subarray(0, read)).split("\n\n")[0] ?? "";
    return first.split("\n").filter((l) => /^(model name|flags|Features|CPU part|CPU implementer)/.test(l))
      .join("\n");
  } catch {
    return `${Deno.build.os} ${Deno.build.arch}`;
  }
}

function run(compiler: string, args: readonly string[]): { ok: boolean; output: string; errors: string } {
  const { success, stdout, stderr } = new Deno.Command(compiler, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).outputSync();
  return { ok: success, output: decode(stdout), errors: decode(stderr) };
}

function targetOf(macros: string): Target {
  const has = (name: string): boolean => macros.includes(`#define ${name} `);
  if (has("__AVX512F__")) {
    return { ...x86("avx512", 64), vectorRegisters: 32, fusedMultiplyAdd: true };
  }
  if (has("__AVX2__")) return { ...x86("avx2", 32), fusedMultiplyAdd: has("__FMA__") };
  if (has("__x86_64__")) return { ...x86("sse2", 16), fusedMultiplyAdd: false };
  if (has("__aarch64__")) {
    return {
      architecture: "aarch64",
      instructionSet: "neon",
      vectorBytes: 16,
      vectorRegisters: 32,
      fusedMultiplyAdd: true,
    };
  }
  return {
    architecture: "unknown",
    instructionSet: "generic",
    vectorBytes: 16,
    vectorRegisters: 16,
    fusedMultiplyAdd: false,
  };
}

const x86 = (instructionSet: string, vectorBytes: number) => ({
  architecture: "x86_64",
  instructionSet,
  vectorBytes,
  vectorRegisters: 16,
});

const OPENMP_TRIAL =
  `extern "C" int omp_get_thread_num();\nextern "C" __attribute__((visibility("default"))) void trial(int* p) {\n` +
  `#pragma omp parallel\np[omp_get_thread_num()] = 1;\n}\n`;

function ask(compiler: string): Answers | string {
  const version = run(compiler, ["--version"]);
  if (!version.ok) return `${compiler} --version failed: ${version.errors.trim()}`;
  const macros = run(compiler, ["-dM", "-E", "-march=native", "-x", "c++", "/dev/null"]);
  if (!macros.ok) return `${compiler} does not know -march=native: ${macros.errors.trim()}`;
  const folder = Deno.makeTempDirSync({ prefix: "dyn-" });
  try {
    const source = `${folder}/trial.cpp`, object = `${folder}/trial.so`;
    Deno.writeTextFileSync(source, OPENMP_TRIAL);
    const attempt = (extra: readonly string[]): { ok: boolean; errors: string } =>
      run(compiler, [...OPTIONS, ...extra, source, "-o", object, ...LINK_OPTIONS]);
    const plainOpenmp = run(compiler, [
      ...OPTIONS,
      "-fopenmp",
      "-nostdlib",
      source,
      "-o",
      object,
      ...LINK_OPTIONS,
      "-lgomp",
      "-lm",
      "-lc",
    ]).ok;
    const openmp = plainOpenmp || attempt(["-fopenmp"]).ok;
    if (!openmp) {
      const plain = attempt([]);
      // without OpenMP the trial cannot link against it, but a shared object may leave the name open
      if (!plain.ok) return `${compiler} cannot build a shared library: ${plain.errors.trim()}`;
    }
    return {
      version: version.output.split("\n")[0] ?? "",
      target: targetOf(macros.output),
      openmp,
      plainLink: plainOpenmp,
    };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function isAnswers(value: unknown): value is { key: string; answers: Answers } {
  return typeof value === "object" && value !== null && "key" in value && "answers" in value;
}

/** The answers for one compiler file on this CPU, from disk where they were given before. */
function answersFor(compiler: string): { answers: Answers; key: string } | string {
  const { size, mtime } = Deno.statSync(compiler);
  const key = [
    compiler,
    size,
    mtime?.getTime() ?? 0,
    OPTIONS.join(" "),
    LINK_OPTIONS.join(" "),
    cpuIdentity(),
  ]
    .join("\n");
  const path = `${cacheDirectory()}/toolchain-${fingerprintText(key)}.json`;
  const stored = readText(path);
  if (stored !== undefined) {
    try {
      const value: unknown = JSON.parse(stored);
      if (isAnswers(value) && value.key === key) return { answers: value.answers, key };
    } catch {
      // damaged: asked again below
    }
  }
  const answers = ask(compiler);
  if (typeof answers === "string") return answers;
  writeAtomically(path, new TextEncoder().encode(JSON.stringify({ key, answers }, null, 1)));
  return { answers, key };
}

function find(): ToolchainStatus {
  const chosen = Deno.env.get("DYN_CXX");
  const candidates = chosen ? [chosen] : CANDIDATES;
  const reasons: string[] = [];
  for (const name of candidates) {
    const compiler = locate(name);
    if (compiler === undefined) continue;
    let found: ReturnType<typeof answersFor>;
    try {
      found = answersFor(compiler);
    } catch (thrown) {
      found = `${compiler} could not be run: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    }
    if (typeof found === "string") {
      reasons.push(found);
      continue;
    }
    const { version, target, openmp, plainLink } = found.answers;
    const options = openmp ? [...OPTIONS, "-fopenmp"] : OPTIONS;
    const linkOptions = plainLink
      ? [...LINK_OPTIONS, "-nostdlib", "-lgomp", "-lm", "-lc"]
      : [...LINK_OPTIONS, "-lm"];
    const identity = [found.key, version, ...options, ...linkOptions].join("\n");
    return {
      kind: "ready",
      toolchain: { compiler, version, target, openmp, options, linkOptions, identity },
      cacheDirectory: cacheDirectory(),
    };
  }
  const reason = reasons.length > 0
    ? reasons.join("\n")
    : `Expected a C++ compiler (${candidates.join(", ")}) on the PATH but found none`;
  return { kind: "missing", tried: candidates, reason };
}

let status: ToolchainStatus | undefined;

/** The toolchain of this machine, or why there is none. Asked once per process. */
export function toolchainStatus(): ToolchainStatus {
  return status ??= find();
}

/** The toolchain; throws `ToolchainError` where there is none. */
export function requireToolchain(): Toolchain {
  const found = toolchainStatus();
  if (found.kind === "missing") {
    throw new ToolchainError(`${found.reason}; install g++ or set DYN_CXX to a C++ compiler`);
  }
  return found.toolchain;
}

/** Threads that kernels use: DYN_NUM_THREADS, else every core; 1 without OpenMP. */
export function threadCount(configured = 0): number {
  const status = toolchainStatus();
  if (status.kind === "ready" && !status.toolchain.openmp) return 1;
  if (configured > 0) return configured;
  const asked = Number(Deno.env.get("DYN_NUM_THREADS") ?? "");
  if (Number.isInteger(asked) && asked > 0) return asked;
  return navigator.hardwareConcurrency;
}
