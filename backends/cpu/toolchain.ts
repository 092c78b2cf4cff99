/**
 * The C++ compiler of this machine, its target and options, from DYN_CXX, PATH and the CPU; or the reason why there is
 * none. The compiler itself is probed once per (compiler file, CPU); the answers are cached on disk, so that later
 * processes only stat the file. Invariant: nothing here throws for a missing or broken compiler; `requireToolchain`
 * does.
 */
import { config } from "../../lib/base/config.ts";
import { InternalError, messageOf } from "../../lib/base/errors.ts";
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { environmentVariable, isGranted } from "../../lib/base/permissions.ts";
import { getNumThreads } from "../../lib/base/threads.ts";
import { cacheDirectory, preferredDirectory, readText } from "./cache_directory.ts";
import { failureOf, type FaultKind, folderFailure, ToolchainError } from "./compiler_faults.ts";
import {
  type BackgroundRun,
  type Command,
  type Ending,
  pause,
  runInBackground,
  runSideBySide,
} from "./compiler_process.ts";
import { fingerprintText } from "../../lib/base/fingerprint.ts";
import { uniqueSuffix, writeAtomically } from "../../lib/base/atomic_files.ts";

/** The target of the compiler, from its own macros. */
export interface Target {
  /** "x86_64", "aarch64" or the macro-less "unknown". */
  readonly architecture: string;
  /** "avx512", "avx2", "sse2", "neon", "generic". */
  readonly instructionSet: string;
  /** Bytes of the widest vector register. */
  readonly vectorBytes: number;
  /** Major version of GCC; absent for other compilers. */
  readonly gcc?: number;
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

/** The status that `doctor` shows. */
export type ToolchainStatus =
  | { readonly kind: "ready"; readonly toolchain: Toolchain }
  | { readonly kind: "missing"; readonly reason: string; readonly remedy: string }
  /** It exists, but fails its first trial. */
  | { readonly kind: "unusable"; readonly reason: string; readonly fault: FaultKind };

/** The reason why there is no compiler. */
export type AbsentCompiler = Exclude<ToolchainStatus, { readonly kind: "ready" }>;

/**
 * Contraction is off so that multiply-adds are fused only where the source says so; generated code does not observe
 * errno and traps. Optimisations of -O3 stay on: without jump threading, for example, GCC 12 vectorises masked loads
 * with wrong masks. Denormals stay (no -ffast-math: linking with it flushes them in the JS thread). `nodelete` keeps
 * OpenMP's idle threads from running unmapped code at exit.
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

/** Options for linking a library that other programs load. */
export const LINK_OPTIONS: readonly string[] = Deno.build.os === "darwin"
  ? ["-shared", "-undefined", "dynamic_lookup"]
  : ["-shared", "-Wl,-z,nodelete", "-s"];

/** The first that exists is used; DYN_CXX replaces the list. */
const CANDIDATES = ["g++", "c++", "clang++"] as const;

interface Answers {
  readonly version: string;
  readonly target: Target;
  readonly openmp: boolean;
  /** Whether linking works without start files (saves 40 ms per link). */
  readonly plainLink: boolean;
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Files of compilers by name, while one is being probed: searching all folders takes as long as a small kernel. */
const located = new Map<string, string | undefined>();
/** Compilers that have failed their trial, until one is found: the search begins anew whenever answers are pending. */
const failed = new Map<string, ToolchainError>();

function locate(name: string): string | undefined {
  if (!located.has(name)) located.set(name, findFile(name));
  return located.get(name);
}

function findFile(name: string): string | undefined {
  const folders = name.includes("/")
    ? [""]
    : (environmentVariable("PATH") ?? "").split(":").map((f) => `${f}/`);
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

/** Model and feature flags of the first CPU, on which -march=native depends. */
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

function targetOf(macros: string): Target {
  const gcc = /#define __GNUC__ (\d+)/.exec(macros)?.[1];
  return gcc && !macros.includes("#define __clang__ ")
    ? { ...machineOf(macros), gcc: Number(gcc) }
    : machineOf(macros);
}

function machineOf(macros: string): Target {
  const has = (name: string): boolean => macros.includes(`#define ${name} `);
  if (has("__AVX512F__")) {
    return x86("avx512", 64);
  }
  if (has("__AVX2__")) return x86("avx2", 32);
  if (has("__x86_64__")) return x86("sse2", 16);
  if (has("__aarch64__")) {
    return { architecture: "aarch64", instructionSet: "neon", vectorBytes: 16 };
  }
  return { architecture: "unknown", instructionSet: "generic", vectorBytes: 16 };
}

const x86 = (instructionSet: string, vectorBytes: number) => ({
  architecture: "x86_64",
  instructionSet,
  vectorBytes,
});

const OPENMP_TRIAL =
  `extern "C" int omp_get_thread_num();\nextern "C" __attribute__((visibility("default"))) void trial(int* p) {\n` +
  `#pragma omp parallel\np[omp_get_thread_num()] = 1;\n}\n`;

/** Time limit of one probe of a compiler. */
const TRIAL_SECONDS = 60;

/** The first probes of a compiler, run together. */
interface Trial {
  readonly compiler: string;
  /** Folder of its files. */
  readonly folder: string;
  readonly seconds: number;
  readonly commands: readonly Command[];
}

/** Words for a shared library of the trial's source. */
const linkWords = ({ compiler, folder }: Pick<Trial, "compiler" | "folder">, ...extra: readonly string[]) => {
  const words = [
    compiler,
    ...OPTIONS,
    ...extra,
    `${folder}/trial.cpp`,
    "-o",
    `${folder}/trial.so`,
    ...LINK_OPTIONS,
  ];
  // Otherwise libraries link without functions that they lack, and end the process when they call one
  if (extra.includes("-fopenmp") && Deno.build.os !== "darwin") words.push("-Wl,-z,defs");
  return extra.includes("-nostdlib") ? [...words, "-lgomp", "-lm", "-lc"] : words;
};

function trialOf(compiler: string): Trial {
  const folder = `${cacheFolder()}/trial${uniqueSuffix()}`;
  const seconds = Math.min(TRIAL_SECONDS, config.inductor.cppTimeout);
  const words = [
    [compiler, "--version"],
    [compiler, "-dM", "-E", "-march=native", "-x", "c++", "/dev/null"],
    linkWords({ compiler, folder }, "-fopenmp", "-nostdlib"),
  ];
  try {
    Deno.mkdirSync(folder, { mode: 0o700 });
    Deno.writeTextFileSync(`${folder}/trial.cpp`, OPENMP_TRIAL);
  } catch (thrown) {
    throw folderFailure(thrown, `try ${compiler}`);
  }
  const commands = words.map((words, i) => ({
    words,
    log: `${folder}/${i}.log`,
    output: `${folder}/${i}.out`,
  }));
  return { compiler, folder, seconds, commands };
}

/** Returns the results of a trial. Throws `ToolchainError` if the compiler lacks a required feature. */
function answersOf({ compiler, folder, seconds, commands }: Trial, endings: readonly Ending[]): Answers {
  const [version, macros, plain] = commands;
  const told = (command: Command | undefined, task: string, ending: Ending | undefined): string => {
    if (!command || !ending) throw new InternalError(`Expected an end of the trial to ${task}`);
    if (ending.kind === "exit" && ending.code === 0) return readText(command.output ?? "") ?? "";
    throw failureOf({ compiler, task, ending, log: readText(command.log) ?? "", folder });
  };
  const links = (command: Command | undefined, ending: Ending | undefined): ToolchainError | undefined => {
    try {
      told(command, "build a shared library", ending);
      return undefined;
    } catch (thrown) {
      // Only a link error is about the compiler's abilities
      if (thrown instanceof ToolchainError && thrown.fault === "rejected") return thrown;
      throw thrown;
    }
  };
  const more = (...extra: readonly string[]): ToolchainError | undefined => {
    const command = { words: linkWords({ compiler, folder }, ...extra), log: `${folder}/more.log` };
    return links(command, runSideBySide([command], seconds)[0]);
  };
  const found = {
    version: told(version, "tell its version", endings[0]).split("\n")[0] ?? "",
    target: targetOf(told(macros, "know -march=native", endings[1])),
  };
  const plainLink = links(plain, endings[2]) === undefined;
  const openmp = plainLink || more("-fopenmp") === undefined;
  // Without OpenMP the trial cannot link against it, but a shared object may leave the name undefined
  const failure = openmp ? undefined : more();
  if (failure) throw failure;
  return { ...found, openmp, plainLink };
}

/** Minimum milliseconds between two polls of a compiler's answers. */
const POLL_INTERVAL = 2;

/** The compiler that is probed in the background. */
let asked: { readonly trial: Trial; readonly run: BackgroundRun; looked: number } | undefined;

/** Probes a compiler in the background: undefined until it has answered. Throws as `answersOf` does. */
function probe(compiler: string): Answers | undefined {
  if (asked?.trial.compiler !== compiler) {
    const trial = trialOf(compiler), { commands, seconds, folder } = trial;
    asked = { trial, run: runInBackground(commands, { seconds, folder }), looked: -Infinity };
    globalThis.addEventListener("unload", () => asked?.run.stop());
  }
  const { trial, run } = asked;
  asked.looked = performance.now();
  const endings = run.poll();
  if (!endings) return undefined;
  asked = undefined;
  try {
    return answersOf(trial, endings);
  } finally {
    run.stop();
  }
}

/** Returns the folder of cached answers and trial files: some machines have no existing TMPDIR. */
function cacheFolder(): string {
  try {
    return cacheDirectory();
  } catch (thrown) {
    throw folderFailure(thrown, "try the compiler");
  }
}

function isAnswers(value: unknown): value is { key: string; answers: Answers } {
  return typeof value === "object" && value !== null && "key" in value && "answers" in value;
}

/** Incremented whenever `Answers` change, so that answers stored by an older version of dyn are not used. */
const ANSWERS_VERSION = 3;

/**
 * The answers for one compiler file on this CPU, from disk if it has been probed before; undefined while they are
 * pending.
 */
function answersFor(
  compiler: string,
  ask: typeof probe,
): { answers: Answers; key: string } | undefined {
  const { size, mtime } = Deno.statSync(compiler);
  const key = [
    ANSWERS_VERSION,
    compiler,
    size,
    mtime?.getTime() ?? 0,
    OPTIONS.join(" "),
    LINK_OPTIONS.join(" "),
    cpuIdentity(),
  ]
    .join("\n");
  const path = `${cacheFolder()}/toolchain-${fingerprintText(key)}.json`;
  const stored = readText(path);
  if (stored !== undefined) {
    try {
      const value: unknown = JSON.parse(stored);
      if (isAnswers(value) && value.key === key) return { answers: value.answers, key };
    } catch {
      // Damaged: probed again below
    }
  }
  const answers = ask(compiler);
  if (!answers) return undefined;
  try {
    writeAtomically(path, new TextEncoder().encode(JSON.stringify({ key, answers }, null, 1)));
  } catch {
    // The next process probes it again
  }
  return { answers, key };
}

/** The flags of permissions that are not granted and without which a compiler cannot be found, run or its code loaded. */
function deniedFlags(): string[] {
  const path = preferredDirectory();
  const needed: readonly Deno.PermissionDescriptor[] = [
    { name: "env", variable: "PATH" },
    { name: "sys", kind: "uid" },
    { name: "read", path },
    { name: "write", path },
    { name: "run", command: "sh" },
    { name: "ffi", path },
  ];
  return needed.filter((each) => !isGranted(each)).map(({ name }) => `--allow-${name}`);
}

/** Looks for a compiler; undefined while the answers of one are pending. */
function find(ask: typeof probe): ToolchainStatus | undefined {
  const denied = deniedFlags();
  if (denied.length > 0) {
    const reason = `Expected permission to use a C++ compiler but found ${denied.join(", ")} not given`;
    return { kind: "missing", reason, remedy: "run deno with these flags, or with -A" };
  }
  const chosen = environmentVariable("DYN_CXX");
  const candidates = chosen ? [chosen] : CANDIDATES;
  // Two names of the same compiler are one candidate
  for (const compiler of new Set(candidates.map(locate))) {
    if (compiler === undefined || failed.has(compiler)) continue;
    let found: ReturnType<typeof answersFor>;
    try {
      found = answersFor(compiler, ask);
    } catch (thrown) {
      failed.set(
        compiler,
        thrown instanceof ToolchainError ? thrown : folderFailure(thrown, `try ${compiler}`),
      );
      continue;
    }
    if (!found) return undefined;
    const { version, target, openmp, plainLink } = found.answers;
    const options = openmp ? [...OPTIONS, "-fopenmp"] : OPTIONS;
    const linkOptions = plainLink
      ? [...LINK_OPTIONS, "-nostdlib", "-lgomp", "-lm", "-lc"]
      : [...LINK_OPTIONS, "-lm"];
    const identity = [found.key, version, ...options, ...linkOptions].join("\n");
    return {
      kind: "ready",
      toolchain: { compiler, version, target, openmp, options, linkOptions, identity },
    };
  }
  const failures = [...failed.values()], [first] = failures;
  if (first) return { kind: "unusable", reason: failures.map(messageOf).join("\n"), fault: first.fault };
  const reason = `Expected a C++ compiler (${candidates.join(", ")}) on the PATH but found none`;
  return {
    kind: "missing",
    reason,
    remedy: "install one (Debian: apt-get install g++) or set DYN_CXX to one",
  };
}

/** Number of trials of a compiler that fails at once, since the fault may be temporary. */
const TRIALS = 3;

let status: ToolchainStatus | undefined, trials = 0;

/** The toolchain of this machine, or the reason why there is none. Determined once per process, which waits for it. */
export function toolchainStatus(): ToolchainStatus {
  return status ?? preferringOwnBuiltins(() => {
    let found = toolchainIfKnown();
    for (; !found; found = toolchainIfKnown()) pause(POLL_INTERVAL);
    return found;
  });
}

/** The same for callers that can do without it: undefined while a compiler is being probed for the first time. */
export function toolchainIfKnown(): ToolchainStatus | undefined {
  if (status !== undefined) return status;
  if (asked !== undefined && performance.now() - asked.looked < POLL_INTERVAL) return undefined;
  return noted(preferringOwnBuiltins(() => find(probe)));
}

/** The same without probing a compiler, which takes a tenth of a first call: undefined if it has not been probed. */
export function toolchainIfStored(): ToolchainStatus | undefined {
  return status ?? noted(preferringOwnBuiltins(() => find(() => undefined)));
}

function noted(found: ToolchainStatus | undefined): ToolchainStatus | undefined {
  if (found) {
    status = found;
    trials++;
    located.clear();
    failed.clear();
  }
  return found;
}

/** The same for a new graph: a compiler that was out of memory or disk space before may work again. */
export function toolchainForGraph(): ToolchainStatus {
  const known = toolchainStatus();
  const passes = known.kind === "unusable" && ["killed", "crashed", "space"].includes(known.fault);
  if (!passes || trials >= TRIALS) return known;
  status = undefined;
  return toolchainStatus();
}

/** The toolchain; throws `ToolchainError` if there is none. */
export function requireToolchain(): Toolchain {
  const found = toolchainStatus();
  switch (found.kind) {
    case "ready":
      return found.toolchain;
    case "missing":
      throw new ToolchainError(`${found.reason}; ${found.remedy}`, "missing");
    case "unusable":
      throw new ToolchainError(found.reason, found.fault);
    default:
      return found satisfies never;
  }
}

/** Threads that kernels use; 1 without OpenMP. */
export function threadCount(): number {
  const status = toolchainStatus();
  return status.kind === "ready" && !status.toolchain.openmp ? 1 : getNumThreads();
}
