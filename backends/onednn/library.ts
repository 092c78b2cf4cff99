/**
 * The compiled shim of oneDNN, which is found by DNNLROOT or by a header in the compiler's search path. Invariant: the
 * library is rebuilt when another oneDNN is installed.
 */
import { DynError } from "../../lib/base/errors.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";
import { openLibrary } from "../cpu/ffi.ts";
import { headerIdentity } from "../cpu/headers.ts";
import { buildLibraries, type Source } from "../cpu/object_cache.ts";
import { toolchainStatus } from "../cpu/toolchain.ts";
import { SHIM } from "./shim.ts";

/** The requirements of the backend, and how to install them. */
export const NEEDS =
  "a C++ compiler and oneDNN 2 or 3 with its headers (Debian: apt-get install libdnnl-dev; " +
  "elsewhere DNNLROOT names its folder)";

const SYMBOLS = {
  dyn_dnn_make: { parameters: ["buffer", "buffer"], result: "pointer" },
  dyn_dnn_run: { parameters: ["pointer", "buffer", "i32"], result: "i32" },
  dyn_dnn_free: { parameters: ["pointer"], result: "void" },
  dyn_dnn_version: { parameters: [], result: "i32" },
} as const;

/** The functions of the shim. */
export type Shim = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Compiler options. */
function options(root: string | undefined): readonly string[] {
  const folders = root ? [`-I${root}/include`, `-L${root}/lib`, `-Wl,-rpath,${root}/lib`] : [];
  // The library precedes the source, where linkers that drop unneeded ones would omit it
  return [...Deno.build.os === "darwin" ? [] : ["-Wl,--no-as-needed"], ...folders, "-ldnnl"];
}

let found: Source | string | undefined;

/** The shim's source, or the reason why it cannot be built. */
function source(): Source | string {
  if (found !== undefined) return found;
  const compiler = toolchainStatus(), root = environmentVariable("DNNLROOT") || undefined;
  const header = headerIdentity(root ? [`${root}/include`] : [], "oneapi/dnnl/dnnl.h");
  if (compiler.kind !== "ready") found = compiler.reason;
  else if (header === null) found = "Expected oneDNN's header oneapi/dnnl/dnnl.h but found none";
  else found = { name: "onednn", text: `// dnnl.h: ${header}\n${SHIM}`, options: options(root) };
  return found;
}

/** The reason why there is no oneDNN here; null if there is. */
export function oneDnnAbsence(): string | null {
  const there = source();
  return typeof there === "string" ? there : null;
}

/** Returns a text that identifies this oneDNN, or the reason why there is none. */
export function oneDnnIdentity(): string {
  const there = source();
  return typeof there === "string" ? there : `${there.text.split("\n", 1)[0]} ${there.options?.join(" ")}`;
}

let opened: Shim | undefined;

/** The shim, built and opened once. Throws DynError if there is no oneDNN, ToolchainError if it cannot be built. */
export function oneDnn(): Shim {
  if (opened) return opened;
  const there = source();
  if (typeof there === "string") throw new DynError(`${there}; onednn needs ${NEEDS}`);
  return opened = openLibrary(buildLibraries([there])[0] ?? "", SYMBOLS).symbols;
}
