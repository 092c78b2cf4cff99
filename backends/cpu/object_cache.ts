/**
 * Compiled shared libraries on disk, and the compilation of missing ones, by complete C++ texts and toolchain. A
 * library file is the sealed ELF image with its key text. Invariant: a file is used only if it is whole, its text
 * equals the wanted one and only this user can have written it; any other file is built again.
 */
import { config } from "../../lib/base/config.ts";
import { counters } from "../../lib/base/logs.ts";
import { recording } from "../../lib/base/recording.ts";
import { dirname } from "node:path";
import { cacheDirectory, processDirectory, readText, removeIfThere } from "./cache_directory.ts";
import {
  brokenLibrary,
  failureOf,
  folderFailure,
  noteFailure,
  noteSuccess,
  stoppedBy,
  timeLimit,
  ToolchainError,
} from "./compiler_faults.ts";
import {
  type BackgroundRun,
  type Command,
  type Ending,
  pause,
  runInBackground,
  runSideBySide,
} from "./compiler_process.ts";
import { type BuildMode, Claim } from "./build_claim.ts";
import { fingerprintText } from "../../lib/base/fingerprint.ts";
import { uniqueSuffix } from "../../lib/base/atomic_files.ts";
import { isOwn, sealed, unsealed } from "./trust.ts";
import { requireToolchain, type Toolchain } from "./toolchain.ts";

/** A shared library to build. */
export interface Source {
  /** For messages and temporary names: letters, digits, underscores. */
  readonly name: string;
  /** The whole translation unit. */
  readonly text: string;
  /** Options of this source after the toolchain's own. */
  readonly options?: readonly string[];
}

/** Counts whether a library was taken from disk (hit), compiled, or found damaged or with another text. */
const count = (what: "hits" | "compiled" | "damaged") => counters.add("cached_libraries", what);

const MAGIC = "dyn-library-1\n";
const encoder = new TextEncoder(), decoder = new TextDecoder();

const RULE = "-".repeat(80);

/** Everything that the compiled code depends on. */
function keyText(toolchain: Toolchain, source: Source): string {
  return `${toolchain.identity}\n${(source.options ?? []).join(" ")}\n${RULE}\n${source.text}`;
}

/** The contents of a file, or undefined if it cannot be read. */
function readBytes(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Deno.readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Returns whether the file at `path` is a complete library built from `key` that no other user can have written. */
function fileState(path: string, key: string): "whole" | "damaged" | "absent" {
  const bytes = readBytes(path);
  if (!bytes) return "absent";
  const [, text] = unsealed(bytes, MAGIC) ?? [];
  return text && decoder.decode(text) === key && isOwn(Deno.statSync(path)) ? "whole" : "damaged";
}

/** A library that is not in the cache. */
export interface Job {
  readonly source: Source;
  readonly key: string;
  /** Path of the library. */
  readonly path: string;
}

/** A job, the stem of its temporary files, and the right to run it. */
interface Draft {
  readonly job: Job;
  readonly stem: string;
  readonly claim: Claim;
}

/** A library that this process needs, and its claim to build it. */
interface Wanted {
  readonly job: Job;
  readonly claim: Claim;
}

/** Milliseconds between two polls of a build in another process. */
const POLL_INTERVAL = 10;

/** Seconds by which waiting for another process exceeds the time limit of its compiler. */
const LEEWAY = 30;

/**
 * Of the wanted libraries, those that this process has to build, and those that another process builds; libraries that
 * exist by now are in neither list.
 */
function asked(
  wanted: readonly Wanted[],
): { readonly own: readonly Wanted[]; readonly others: readonly Wanted[] } {
  const own: Wanted[] = [], others: Wanted[] = [];
  for (const each of wanted) {
    const { job: { path, key }, claim } = each;
    if (claim.ask() === "wait") {
      others.push(each);
      continue;
    }
    if (fileState(path, key) === "whole") {
      count("hits");
      claim.release();
    } else own.push(each);
  }
  return { own, others };
}

/** Compiles missing libraries, or waits for processes that do. Throws the first failure. */
function compileAll(jobs: readonly Job[]): void {
  const build = new Build(jobs, "waits");
  try {
    while (!build.poll()) pause(POLL_INTERVAL);
  } finally {
    build.stop();
  }
}

/** Libraries that are compiled in the background. */
export interface BackgroundBuild {
  /** Returns whether it has finished; reads one file. Throws the first failure, once. */
  poll(): boolean;
  /** Abandons it. */
  stop(): void;
}

let isShared = false;

/**
 * Makes this process and others that were started with it compile each library only once, also in the background.
 * Programs that run alone do without this, since claims keep files open.
 */
export function shareBackgroundBuilds(): void {
  isShared = true;
}

/** Starts to compile libraries in the background. Throws if nothing can be written. */
export function compileInBackground(jobs: readonly Job[]): BackgroundBuild {
  const build = new Build(jobs, "background");
  build.poll();
  return build;
}

/** A build of libraries, some of which other processes may build. One that waits runs its compilers inside `poll`. */
class Build implements BackgroundBuild {
  readonly #toolchain = requireToolchain();
  readonly #seconds = timeLimit(config.inductor.cppTimeout);
  readonly #start = performance.now();
  readonly #claims: readonly Claim[];
  /** Libraries that other processes build. */
  #others: readonly Wanted[];
  #running: { readonly run: BackgroundRun; readonly drafts: readonly Draft[] } | null = null;

  constructor(jobs: readonly Job[], readonly mode: BuildMode) {
    const isClaimed = mode === "waits" || isShared;
    this.#others = jobs.map((job) => ({ job, claim: new Claim(isClaimed ? job.path : null, mode) }));
    this.#claims = this.#others.map(({ claim }) => claim);
  }

  poll(): boolean {
    try {
      if (!this.#hasEnded()) return false;
      const isLate = this.mode === "waits" &&
        performance.now() - this.#start > 1000 * (this.#seconds + LEEWAY);
      const { own, others } = isLate ? { own: this.#others, others: [] } : asked(this.#others);
      this.#others = others;
      if (own.length > 0) this.#begin(own);
      return this.#running === null && others.length === 0;
    } catch (thrown) {
      this.stop();
      throw noted(thrown);
    }
  }

  stop(): void {
    this.#running?.run.stop();
    this.#running = null;
    for (const claim of this.#claims) claim.release();
  }

  /** Runs all compilers at once. */
  #begin(wanted: readonly Wanted[]): void {
    const folder = `${libraryFolder()}/build${uniqueSuffix()}`, seconds = this.#seconds;
    Deno.mkdirSync(folder, { mode: 0o700 });
    // Their names show in a list of processes what the compiler works on
    const drafts = wanted.map((each, i): Draft => ({
      ...each,
      stem: `${folder}/${each.job.source.name}.${i}`,
    }));
    const commands = drafts.map((draft) => commandOf(this.#toolchain, draft));
    if (this.mode === "background") {
      this.#running = { run: runInBackground(commands, { seconds, folder }), drafts };
      return;
    }
    try {
      keepAll(this.#toolchain, drafts, runSideBySide(commands, seconds));
    } finally {
      removeIfThere(folder);
    }
  }

  /** Returns whether nothing is running any more, and stores finished libraries. */
  #hasEnded(): boolean {
    if (!this.#running) return true;
    const { run, drafts } = this.#running, endings = run.poll();
    if (!endings) return false;
    keepAll(this.#toolchain, drafts, endings);
    run.stop();
    this.#running = null;
    return true;
  }
}

/** Stores the output of all compilers, notifies waiting processes, and records success; throws the first failure. */
function keepAll(toolchain: Toolchain, drafts: readonly Draft[], endings: readonly Ending[]): void {
  const failures = drafts.flatMap((draft, i) => {
    const ending = endings[i], failure = ending && keep(toolchain, draft, ending);
    draft.claim.release(failure);
    return failure ?? [];
  });
  const [first] = failures;
  if (first) throw first;
  noteSuccess();
}

/** The error of a compilation, after recording it. */
function noted(thrown: unknown): ToolchainError {
  const failure = thrown instanceof ToolchainError ? thrown : folderFailure(thrown, "compile");
  noteFailure(failure.fault);
  return failure;
}

/** Writes a job's source to a file and returns the command that compiles it. */
function commandOf({ compiler, options, linkOptions }: Toolchain, { job, stem }: Draft): Command {
  const { source } = job;
  Deno.writeTextFileSync(`${stem}.cpp`, source.text);
  const words = [
    compiler,
    ...options,
    ...(source.options ?? []),
    `${stem}.cpp`,
    "-o",
    `${stem}.so`,
    ...linkOptions,
  ];
  return { words, log: `${stem}.log` };
}

/** Moves a compiler's output into the cache; returns the error if that fails. */
function keep(
  { compiler }: Toolchain,
  { job: { source, key, path }, stem }: Draft,
  ending: Ending,
): ToolchainError | undefined {
  const failed = ending.kind !== "exit" || ending.code !== 0;
  const image = failed ? undefined : readBytes(`${stem}.so`);
  if (!image) {
    const log = readText(`${stem}.log`)?.replaceAll(`${stem}.cpp`, `${source.name}.cpp`) ?? "";
    return failureOf({ compiler, task: `compile ${source.name}.cpp`, ending, log, folder: dirname(stem) });
  }
  if (!isWhole(image)) return brokenLibrary(`${source.name}.so`, "it ends too early or is something else");
  count("compiled");
  Deno.writeFileSync(`${stem}.done`, sealed([image, encoder.encode(key)], MAGIC), { mode: 0o700 });
  Deno.renameSync(`${stem}.done`, path);
  return undefined;
}

/**
 * Returns whether an ELF image is complete up to its last section; images of other formats are left to the loader.
 */
function isWhole(image: Uint8Array<ArrayBuffer>): boolean {
  if (Deno.build.os !== "linux") return image.length > 0;
  if (image.length < 64 || decoder.decode(image.subarray(1, 4)) !== "ELF") return false;
  const view = new DataView(image.buffer, image.byteOffset);
  return Number(view.getBigUint64(0x28, true)) + view.getUint16(0x3a, true) * view.getUint16(0x3c, true) <=
    image.length;
}

/** Removes a library that cannot be loaded, so that it is built again, and returns the error. */
export function discardBroken(path: string, because: string): ToolchainError {
  removeIfThere(path);
  noteFailure("broken");
  return brokenLibrary(path, because);
}

function libraryFolder(): string {
  try {
    return config.inductor.kernelCache ? cacheDirectory() : processDirectory();
  } catch (thrown) {
    throw folderFailure(thrown, "keep compiled code");
  }
}

/** The libraries that exist for the sources, and those that are missing. */
export interface Found {
  /** In the order of the sources. */
  readonly paths: readonly string[];
  readonly missing: readonly Job[];
}

/** Looks for the libraries of these sources. Throws `ToolchainError` if there is no compiler. */
export function findLibraries(sources: readonly Source[]): Found {
  const toolchain = requireToolchain();
  const folder = libraryFolder();
  const missing = new Map<string, Job>();
  const paths = sources.map((source) => {
    const key = keyText(toolchain, source);
    const path = `${folder}/${fingerprintText(key)}.so`;
    if (missing.has(path)) return path;
    const state = fileState(path, key);
    if (state === "whole") count("hits");
    else missing.set(path, { source, key, path });
    if (state === "damaged") count("damaged");
    return path;
  });
  const jobs = [...missing.values()];
  const found = new Set(paths).size - jobs.length;
  recording.artifact("kernel_cache", () => {
    const absent = jobs.map(({ source }) => source.name).join(", ");
    return `${found} taken from ${folder}, ${jobs.length} to compile${absent && `: ${absent}`}`;
  }, { meta: { hits: found, misses: jobs.length } });
  return { paths, missing: jobs };
}

/** Throws `ToolchainError` if the compiler is not run any more. */
export function refuseStopped(): void {
  const stopped = stoppedBy();
  if (stopped === undefined) return;
  throw new ToolchainError(
    `Expected a working compiler but found one that has failed before: ${stopped}`,
    "stopped",
  );
}

/**
 * Paths of the libraries for these sources, in order; missing ones are compiled in parallel. Throws `ToolchainError`
 * with the compiler's own message if a source is rejected.
 */
export function buildLibraries(sources: readonly Source[]): readonly string[] {
  const { paths, missing } = findLibraries(sources);
  if (missing.length > 0) {
    refuseStopped();
    recording.phase("compile_cxx", () => compileAll(missing), { libraries: missing.length });
  }
  return paths;
}
