/**
 * The compiled shim of MPI, built with MPICC or `mpicc` on the PATH, which print how programs are built against their
 * MPI. Invariant: the library is rebuilt when another mpi.h is installed.
 */
import { environmentVariable } from "../../lib/base/permissions.ts";
import { DistributedError } from "../../lib/distributed/errors.ts";
import { headerIdentity, openLibrary } from "../cpu/ffi.ts";
import { buildLibraries, type Source } from "../cpu/object_cache.ts";
import { toolchainStatus } from "../cpu/toolchain.ts";
import { SHIM } from "./shim.ts";

/** How to install the requirements. */
const ADVICE =
  "install Open MPI or MPICH with its headers (Debian: apt-get install openmpi-bin libopenmpi-dev; " +
  "macOS: brew install open-mpi), or set MPICC to the C compiler of an MPI";

const SYMBOLS = {
  dyn_mpi_init: { parameters: [], result: "pointer" },
  dyn_mpi_place: { parameters: ["pointer", "buffer"], result: "void" },
  dyn_mpi_group: { parameters: ["pointer", "buffer", "i32"], result: "pointer" },
  dyn_mpi_start: { parameters: ["pointer", "buffer", "i64", "buffer", "i32"], result: "pointer" },
  dyn_mpi_poll: { parameters: ["pointer"], result: "i32" },
  dyn_mpi_wait: { parameters: ["pointer", "f64", "i32"], result: "i32" },
  wait_aside: {
    name: "dyn_mpi_wait",
    parameters: ["pointer", "f64", "i32"],
    result: "i32",
    nonblocking: true,
  },
  dyn_mpi_texts: { parameters: ["pointer", "buffer"], result: "void" },
  dyn_mpi_error: { parameters: ["pointer", "buffer"], result: "void" },
  dyn_mpi_peer: { parameters: ["pointer"], result: "i32" },
  dyn_mpi_took: { parameters: ["pointer"], result: "f64" },
  dyn_mpi_free: { parameters: ["pointer"], result: "void" },
  dyn_mpi_where: { parameters: ["pointer", "buffer", "f64"], result: "void" },
  dyn_mpi_leave: { parameters: ["i32"], result: "void" },
} as const;

/** The functions of the shim. */
export type Shim = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Compiler options printed by `mpicc -show`, which both Open MPI and MPICH support. Null if there is no mpicc. */
function mpiOptions(): readonly string[] | null {
  const compiler = environmentVariable("MPICC") || "mpicc";
  let text: string;
  try {
    const { success, stdout } = new Deno.Command(compiler, { args: ["-show"], stderr: "null" }).outputSync();
    if (!success) return null;
    text = new TextDecoder().decode(stdout);
  } catch {
    return null;
  }
  return wordsOf(text);
}

/**
 * Returns the options of a compiler call that build against MPI. Macros select the standard ABI if a library has
 * several.
 */
export function wordsOf(call: string): readonly string[] {
  // The folder of an option for run-time libraries may be a separate word after it, as for folders of libraries
  const words = call.trim().split(/\s+/).filter((word) => /^-(?:[DILl].|Wl,-rpath[,=]|pthread)/.test(word));
  const folders = words.filter((word) => word.startsWith("-L")).map((word) => `-Wl,-rpath,${word.slice(2)}`);
  // Libraries precede the source, where linkers that drop unneeded ones would omit them
  return [...Deno.build.os === "darwin" ? [] : ["-Wl,--no-as-needed"], ...words, ...folders];
}

/** Identifies the mpi.h that the compiler will find. */
function mpiHeader(options: readonly string[]): string {
  const folders = options.filter((word) => word.startsWith("-I")).map((word) => word.slice(2));
  return headerIdentity(folders, "mpi.h") ?? "unknown";
}

let found: Source | string | undefined;

/** The shim's source, or the reason why it cannot be built. */
function source(): Source | string {
  if (found !== undefined) return found;
  const compiler = toolchainStatus(), options = mpiOptions();
  if (compiler.kind !== "ready") found = `${compiler.reason}; MPI is reached through compiled code`;
  else if (options === null) found = `Expected an MPI library but found no mpicc; ${ADVICE}`;
  else found = { name: "mpi", text: `// mpi.h: ${mpiHeader(options)}\n${SHIM}`, options };
  return found;
}

/** The reason why there is no MPI here; null if there is. */
export function mpiAbsence(): string | null {
  const there = source();
  return typeof there === "string" ? there : null;
}

/** Builds and opens the shim. Throws DistributedError if there is no MPI, ToolchainError if it cannot be built. */
export function openShim(): Shim {
  const there = source();
  if (typeof there === "string") throw new DistributedError(there);
  return openLibrary(buildLibraries([there])[0] ?? "", SYMBOLS).symbols;
}
