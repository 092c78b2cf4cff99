/**
 * TFRecord files. Invariant: a record that is incomplete, or whose checksum is wrong, is not read.
 * https://www.tensorflow.org/tutorials/load_data/tfrecord
 */
import { concat } from "../../base/bytes.ts";

const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C, as in RFC 3720. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CASTAGNOLI[(crc ^ byte) & 0xff] ?? 0) ^ crc >>> 8;
  return (crc ^ 0xffffffff) >>> 0;
}

function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return ((crc >>> 15 | crc << 17) + 0xa282ead8) >>> 0;
}

/** Bytes before the data of a record: its length and the checksum of that. */
const HEAD = 12;

/** A record of a TFRecord file. */
export function tfRecord(data: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(HEAD)), foot = new DataView(new ArrayBuffer(4));
  head.setBigUint64(0, BigInt(data.length), true);
  head.setUint32(8, maskedCrc(new Uint8Array(head.buffer, 0, 8)), true);
  foot.setUint32(0, maskedCrc(data), true);
  return concat(new Uint8Array(head.buffer), data, new Uint8Array(foot.buffer));
}

/**
 * The complete records in a file's bytes, and their total size. Reading stops before a record that is incomplete or
 * damaged; `damaged` shows which.
 */
export function readRecords(
  bytes: Uint8Array,
): { readonly records: readonly Uint8Array[]; readonly read: number; readonly damaged: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), records: Uint8Array[] = [];
  let at = 0;
  while (at + HEAD <= bytes.length) {
    if (view.getUint32(at + 8, true) !== maskedCrc(bytes.subarray(at, at + 8))) {
      return { records, read: at, damaged: true };
    }
    const length = Number(view.getBigUint64(at, true)), end = at + HEAD + length;
    if (end + 4 > bytes.length) break;
    const data = bytes.subarray(at + HEAD, end);
    if (view.getUint32(end, true) !== maskedCrc(data)) return { records, read: at, damaged: true };
    records.push(data);
    at = end + 4;
  }
  return { records, read: at, damaged: false };
}
