/**
 * Atomic reads and writes of files. Invariant: readers see the former contents or all of the new bytes, and a write
 * that fails leaves nothing behind.
 */
import { traceProgram } from "./errors.ts";

let counter = 0;

/** A suffix that no other process or worker uses. */
export function uniqueSuffix(): string {
  const noise = Math.floor(Math.random() * 2 ** 40).toString(36);
  return `.${Deno.pid}-${counter++}-${noise}.tmp`;
}

/** Writes a whole file. Throws what the machine says where it cannot. */
export function writeAtomically(path: string, bytes: Uint8Array): void {
  const draft = path + uniqueSuffix();
  try {
    Deno.writeFileSync(draft, bytes);
    Deno.renameSync(draft, path);
  } catch (error) {
    try {
      Deno.removeSync(draft);
    } catch {
      // Nothing was written
    }
    throw error;
  }
}

/** The bytes of a file that the program has named. Throws what the machine says, at the program's line. */
export function readNamed(path: string | URL): Uint8Array<ArrayBuffer> {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Error) traceProgram(error);
    throw error;
  }
}
