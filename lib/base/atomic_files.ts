/**
 * Atomic reads and writes of files. Invariant: readers see either the old contents or all of the new bytes, and a write
 * that fails leaves nothing behind.
 */
import { DynError, messageOf, traceProgram } from "./errors.ts";

let counter = 0;

/** A suffix that no other process or worker uses. */
export function uniqueSuffix(): string {
  const noise = Math.floor(Math.random() * 2 ** 40).toString(36);
  return `.${Deno.pid}-${counter++}-${noise}.tmp`;
}

/** Writes a whole file. Throws the system's error if it fails. */
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
    if (error instanceof Error) error.message = error.message.replaceAll(draft, path);
    throw error;
  }
}

/** Reads a file that the program has named. Throws the system's error, at the program's line. */
export function readNamed(path: string | URL): Uint8Array<ArrayBuffer> {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Error) traceProgram(error);
    throw error;
  }
}

/** Reads what a file that the program has named holds. Throws DynError, which names the file, if `read` throws. */
export function readAs<T>(path: string | URL, read: (bytes: Uint8Array<ArrayBuffer>) => T): T {
  const bytes = readNamed(path);
  try {
    return read(bytes);
  } catch (cause) {
    throw new DynError(`${messageOf(cause)}, in ${path}`, { cause });
  }
}
