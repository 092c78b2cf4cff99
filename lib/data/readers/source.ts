/** Sources of bytes for readers, and the libraries that decode formats. */
import process from "node:process";
import { DynError, messageOf } from "../../base/errors.ts";
import { readNamed } from "../../base/atomic_files.ts";

/** A file by its path or `file:` URL, or its bytes. */
export type Source = string | URL | Uint8Array;

/** Returns the bytes of a source, decompressed if they are gzip's. Throws the system's error if it cannot be read. */
export function bytesOf(source: Source): Uint8Array<ArrayBuffer> {
  const bytes = source instanceof Uint8Array ? new Uint8Array(source) : readNamed(source);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isPacked ? new Uint8Array(process.getBuiltinModule("node:zlib").gunzipSync(bytes)) : bytes;
}

/** Returns the text of a source. */
export const textOf = (source: Source): string => new TextDecoder().decode(bytesOf(source));

/** A name for messages. */
export const nameOf = (source: Source): string =>
  source instanceof Uint8Array ? `${source.length} bytes` : `${source}`;

/**
 * Loads a library from npm at its first use. `specifier` is not written at the import, so that programs that never need
 * it never fetch it. Throws DynError if it cannot be fetched.
 */
export async function libraryOf(specifier: string): Promise<object> {
  try {
    const found: unknown = await import(specifier);
    if (typeof found === "object" && found !== null) return found;
  } catch (error) {
    throw new DynError(`Expected to import ${specifier} but found ${messageOf(error)}`);
  }
  throw new DynError(`Expected a module at ${specifier} but found none`);
}

/** Returns a function of a library or of its default export. Throws DynError if there is none. */
export function functionOf(library: object, name: string): (...args: readonly unknown[]) => unknown {
  const own: unknown = Reflect.get(library, name), main: unknown = Reflect.get(library, "default");
  const found: unknown = own ??
    (typeof main === "object" && main !== null ? Reflect.get(main, name) : undefined);
  if (typeof found !== "function") throw new DynError(`Expected a library with ${name} but found none`);
  return (...args) => Reflect.apply(found, library, args);
}
