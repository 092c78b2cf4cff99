/**
 * ZIP archives without compression, so that any tool can unpack them and weights can be read in place. Invariant:
 * reading returns what was written: lengths and checksums are compared.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import { DynError } from "./errors.ts";

/** Files by name, in order. */
export type Files = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

const LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50;
/** The extra field of files beyond 4 GiB. */
const WIDE = 1;
/** The first of January 1980, as the format counts days: archives of equal files are equal. */
const DAY = 1 << 5 | 1;
/** Alignment of contents: aligned safetensors can be viewed without a copy. */
const ALIGNMENT = 64;

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) {
    crc = (CRC[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ crc >>> 8;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** The fields that both headers of a file share. */
function shared(view: DataView, at: number, file: { name: Uint8Array; crc: number; size: number }): void {
  view.setUint16(at, 20, true);
  // Names are UTF-8
  view.setUint16(at + 2, 0x800, true);
  view.setUint16(at + 8, DAY, true);
  view.setUint32(at + 10, file.crc, true);
  view.setUint32(at + 14, file.size, true);
  view.setUint32(at + 18, file.size, true);
  view.setUint16(at + 22, file.name.length, true);
}

/** Writes an archive. Throws DynError beyond 4 GiB, which the format without extensions does not reach. */
export function writeArchive(files: Files): Uint8Array<ArrayBuffer> {
  let length = 22;
  const entries = [...files].map(([title, bytes]) => {
    const name = new TextEncoder().encode(title);
    return { name, bytes, crc: crc32(bytes), size: bytes.length, at: 0, padding: 0 };
  });
  let offset = 0;
  for (const entry of entries) {
    entry.at = offset;
    const head = offset + 30 + entry.name.length;
    entry.padding = (ALIGNMENT - head % ALIGNMENT) % ALIGNMENT;
    offset = head + entry.padding + entry.size;
    length += 46 + entry.name.length;
  }
  length += offset;
  if (length >= 2 ** 32) {
    throw new DynError(`Expected less than 4 GiB in an archive but found ${length} bytes`);
  }
  const all = new Uint8Array(length), view = new DataView(all.buffer);
  let central = offset;
  for (const entry of entries) {
    const { name, bytes, at, padding } = entry;
    view.setUint32(at, LOCAL, true);
    shared(view, at + 4, entry);
    view.setUint16(at + 28, padding, true);
    all.set(name, at + 30);
    all.set(bytes, at + 30 + name.length + padding);
    view.setUint32(central, CENTRAL, true);
    view.setUint16(central + 4, 20, true);
    shared(view, central + 6, entry);
    view.setUint32(central + 42, at, true);
    all.set(name, central + 46);
    central += 46 + name.length;
  }
  view.setUint32(central, END, true);
  view.setUint16(central + 8, entries.length, true);
  view.setUint16(central + 10, entries.length, true);
  view.setUint32(central + 12, central - offset, true);
  view.setUint32(central + 16, offset, true);
  return all;
}

/** Comparisons made when an archive is read. */
interface ReadOptions {
  /** Whether contents are compared with their checksums; not every program writes them. */
  readonly checksums?: boolean;
}

/** Reads an archive; contents are views of its bytes. Throws DynError if it is not one, or damaged. */
export function readArchive(all: Uint8Array<ArrayBuffer>, { checksums = true }: ReadOptions = {}): Files {
  try {
    return filesIn(all, checksums);
  } catch (cause) {
    if (cause instanceof DynError) throw cause;
    throw new DynError("Expected an archive but found one that is cut off", { cause });
  }
}

/** The names in an archive, with compression or without; null if it is none, or damaged. */
export function namesInArchive(all: Uint8Array<ArrayBuffer>): string[] | null {
  try {
    return Array.from(entriesIn(all), ({ name }) => name);
  } catch {
    return null;
  }
}

/** The entries of an archive's list: where each stands in it, and its name. */
function* entriesIn(
  all: Uint8Array<ArrayBuffer>,
): Generator<{ readonly central: number; readonly name: string }> {
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  let { central, count } = directoryOf(view);
  for (; count > 0; count--) {
    const nameLength = view.getUint16(central + 28, true);
    yield { central, name: new TextDecoder().decode(all.subarray(central + 46, central + 46 + nameLength)) };
    central += 46 + nameLength + view.getUint16(central + 30, true) + view.getUint16(central + 32, true);
  }
}

function filesIn(all: Uint8Array<ArrayBuffer>, checksums: boolean): Files {
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const { central, name } of entriesIn(all)) {
    if (view.getUint32(central, true) !== CENTRAL || view.getUint16(central + 10, true) !== 0) {
      throw new DynError("Expected an archive without compression but found another one");
    }
    const crc = view.getUint32(central + 16, true);
    const { size, at } = extentOf(view, central);
    const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    const bytes = all.subarray(start, start + size);
    if (bytes.length !== size || (checksums && crc32(bytes) !== crc)) {
      throw new DynError(`Expected ${name} in an archive as it was written but found it damaged`);
    }
    files.set(name, bytes);
  }
  return files;
}

/** Where the list of the files begins, and its length; a record of 64 bits has them where they exceed the fields. */
function directoryOf(view: DataView): { central: number; count: number } {
  const end = view.byteLength - 22;
  if (end < 0 || view.getUint32(end, true) !== END) {
    throw new DynError(`Expected an archive but found ${view.byteLength} bytes of something else`);
  }
  const central = view.getUint32(end + 16, true), count = view.getUint16(end + 10, true);
  if (central !== 0xffffffff && count !== 0xffff) return { central, count };
  const record = Number(view.getBigUint64(end - 12, true));
  return {
    central: Number(view.getBigUint64(record + 48, true)),
    count: Number(view.getBigUint64(record + 32, true)),
  };
}

/** The size and the place of a file; those that exceed the fields stand in an extra field, in this order. */
function extentOf(view: DataView, central: number): { size: number; at: number } {
  let size = view.getUint32(central + 20, true), at = view.getUint32(central + 42, true);
  let extra = central + 46 + view.getUint16(central + 28, true);
  const end = extra + view.getUint16(central + 30, true);
  for (; extra + 4 <= end; extra += 4 + view.getUint16(extra + 2, true)) {
    if (view.getUint16(extra, true) !== WIDE) continue;
    let field = extra + 4;
    const next = () => {
      field += 8;
      return Number(view.getBigUint64(field - 8, true));
    };
    // Without compression the two sizes are equal
    if (view.getUint32(central + 24, true) === 0xffffffff) size = next();
    if (view.getUint32(central + 20, true) === 0xffffffff) size = next();
    if (at === 0xffffffff) at = next();
  }
  return { size, at };
}
