/**
 * Compiled shared libraries on disk, and the compilation of what is missing.
 * Input: complete C++ texts; output: paths of shared libraries that were built from exactly these texts by this
 * toolchain. A library file is the ELF image followed by its key text and a footer (lengths, fingerprint), so
 * one rename publishes all of it. Invariant: a file is used only if its stored text equals the wanted one and
 * its fingerprint fits; anything else is built again.
 */
import { config } from "../../lib/base/config.ts";
import { recording } from "../../lib/base/recording.ts";
import { cacheDirectory, processDirectory, uniqueSuffix } from "./cache_directory.ts";
import { fingerprint, fingerprintText } from "./fingerprint.ts";
import { requireToolchain, type Toolchain, ToolchainError } from "./toolchain.ts";

/** One shared library to be. */
export interface Source {
  /** For messages and temporary names: letters, digits, underscores. */
  readonly name: string;
  /** The whole translation unit. */
  readonly text: string;
  /** Options of this source after the toolchain's own. */
  readonly options?: readonly string[];
}

/** Counts since the process started. */
export interface CacheCounters {
  /** Libraries taken from disk. */
  readonly hits: number;
  /** Libraries compiled. */
  readonly compiled: number;
  /** Files found damaged or of another text. */
  readonly rejected: number;
  /** Wall-clock time spent waiting for the compiler. */
  readonly compileMs: number;
}

const counters = { hits: 0, compiled: 0, rejected: 0, compileMs: 0 };

/** Counts since the process started, for tests, `doctor` and profiles. */
export function cacheCounters(): CacheCounters {
  return { ...counters };
}

const MAGIC = "dyn-library-1\n";
const FOOTER_BYTES = 16 + 16 + 32 + MAGIC.length;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Everything that the compiled code depends on. */
function keyText(toolchain: Toolchain, source: Source): string {
  return `${toolchain.identity}\n${(source.options ?? []).join(" ")}\n${"-".repeat(80)}\n${source.text}`;
}

function footer(imageBytes: number, textBytes: number, mark: string): string {
  return `${imageBytes}`.padStart(16) + `${textBytes}`.padStart(16) + mark + MAGIC;
}

/** The file's bytes with its text and footer behind the image. */
function sealed(image: Uint8Array, key: string): Uint8Array {
  const text = encoder.encode(key);
  const bytes = new Uint8Array(image.length + text.length + FOOTER_BYTES);
  bytes.set(image);
  bytes.set(text, image.length);
  const end = image.length + text.length;
  bytes.set(encoder.encode(footer(image.length, text.length, fingerprint(bytes.subarray(0, end)))), end);
  return bytes;
}

/** Whether the file at `path` is a whole library built from `key`. */
function holds(path: string, key: string): boolean {
  let bytes: Uint8Array;
  try {
    bytes = Deno.readFileSync(path);
  } catch {
    return false;
  }
  const end = bytes.length - FOOTER_BYTES;
  const tail = end < 0 ? "" : decoder.decode(bytes.subarray(end));
  const imageBytes = Number(tail.slice(0, 16)), textBytes = Number(tail.slice(16, 32));
  const whole = tail.endsWith(MAGIC) && imageBytes + textBytes === end &&
    tail.slice(32, 64) === fingerprint(bytes.subarray(0, end)) &&
    decoder.decode(bytes.subarray(imageBytes, end)) === key;
  if (!whole) counters.rejected++;
  return whole;
}

const quote = (argument: string): string => `'${argument.replaceAll("'", `'\\''`)}'`;

interface Job {
  readonly source: Source;
  readonly key: string;
  readonly path: string;
  /** Stem of the temporary files. */
  readonly stem: string;
}

/** Runs all compilers at once and waits for all of them. */
function compileAll(toolchain: Toolchain, jobs: readonly Job[]): void {
  const start = performance.now();
  const commands = jobs.map(({ source, stem }) => {
    Deno.writeTextFileSync(`${stem}.cpp`, source.text);
    const args = [
      ...toolchain.options,
      ...(source.options ?? []),
      `${stem}.cpp`,
      "-o",
      `${stem}.so`,
      ...toolchain.linkOptions,
    ];
    return [toolchain.compiler, ...args].map(quote).join(" ") + ` 2> ${quote(`${stem}.log`)}`;
  });
  new Deno.Command("sh", {
    args: ["-c", commands.map((c) => `${c} &`).join("\n") + "\nwait\n"],
    stdin: "null",
  })
    .outputSync();
  counters.compileMs += performance.now() - start;
  try {
    for (const { source, key, path, stem } of jobs) {
      let image: Uint8Array;
      try {
        image = Deno.readFileSync(`${stem}.so`);
      } catch {
        const log = Deno.readTextFileSync(`${stem}.log`).replaceAll(`${stem}.cpp`, `${source.name}.cpp`)
          .trim();
        throw new ToolchainError(
          `Expected ${toolchain.compiler} to compile ${source.name}.cpp but found errors:\n${log}`,
        );
      }
      counters.compiled++;
      const draft = `${stem}.done`;
      Deno.writeFileSync(draft, sealed(image, key), { mode: 0o755 });
      Deno.renameSync(draft, path);
    }
  } finally {
    for (const { stem } of jobs) {
      for (const extension of ["cpp", "so", "log", "done"]) {
        try {
          Deno.removeSync(`${stem}.${extension}`);
        } catch {
          continue;
        }
      }
    }
  }
}

/**
 * Paths of the libraries for these sources, in order; missing ones are compiled in parallel. Throws
 * `ToolchainError` with the compiler's own message where a source is rejected.
 */
export function buildLibraries(sources: readonly Source[]): string[] {
  const toolchain = requireToolchain();
  const folder = config.inductor.kernelCache ? cacheDirectory() : processDirectory();
  const missing = new Map<string, Job>();
  const paths = sources.map((source) => {
    const key = keyText(toolchain, source);
    const path = `${folder}/${fingerprintText(key)}.so`;
    if (missing.has(path)) return path;
    if (holds(path, key)) counters.hits++;
    else missing.set(path, { source, key, path, stem: `${folder}/${source.name}${uniqueSuffix()}` });
    return path;
  });
  const jobs = [...missing.values()];
  const found = new Set(paths).size - jobs.length;
  recording.artifact("kernel_cache", () => {
    const compiled = jobs.map(({ source }) => source.name).join(", ");
    return `${found} taken from ${folder}, ${jobs.length} compiled${compiled && `: ${compiled}`}`;
  }, { meta: { hits: found, misses: jobs.length } });
  if (jobs.length > 0) {
    recording.phase("compile_cxx", () => compileAll(toolchain, jobs), { libraries: jobs.length });
  }
  return paths;
}

/** The complete text that a cached library was built from, for `cache` and debugging. */
export function storedText(path: string): string | undefined {
  try {
    const bytes = Deno.readFileSync(path);
    const end = bytes.length - FOOTER_BYTES;
    if (end < 0) return undefined;
    const tail = decoder.decode(bytes.subarray(end));
    return tail.endsWith(MAGIC) ? decoder.decode(bytes.subarray(Number(tail.slice(0, 16)), end)) : undefined;
  } catch {
    return undefined;
  }
}
