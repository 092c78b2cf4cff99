/**
 * Writes packages to files. The writers load with the first package: they need printers of all devices, which most
 * programs never use.
 */
import { refuseSurplus } from "../lib/base/checked_input.ts";
import { writeFile } from "../lib/data/safetensors.ts";
import type { ExportedProgram } from "../lib/export/program.ts";
import { sha256 } from "../lib/packages/manifest.ts";
import type { SavePackageOptions } from "./package_bytes.ts";

export type { SavePackageOptions } from "./package_bytes.ts";

/**
 * Writes a package to a file: weights as safetensors, code for WebAssembly and for this machine's processor, with a C
 * header. `loadPackage` runs it without the compiler. Returns the SHA-256 of the file. Throws DynError for programs
 * that draw random numbers, or whose tensors are complex, not row-major or not on the CPU.
 */
export async function savePackage(
  program: ExportedProgram,
  path: string | URL,
  options: SavePackageOptions = {},
): Promise<string> {
  if (arguments.length > 3) refuseSurplus("savePackage", 3, arguments);
  const { packageBytes } = await import("./package_bytes.ts"), bytes = await packageBytes(program, options);
  writeFile(path, bytes);
  return await sha256(bytes);
}
