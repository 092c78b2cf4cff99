/**
 * Files of the cache: two parts and a footer (the lengths of both, a fingerprint), so that one rename publishes all of
 * them. Invariant: a file that is cut off or changed is not read.
 */
import { fingerprint } from "../../lib/base/fingerprint.ts";

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** The parts of a file. */
export type Parts = readonly [first: Uint8Array, second: Uint8Array];

/** The bytes of a file; `magic` names its kind and version. */
export function sealed([first, second]: Parts, magic: string): Uint8Array {
  const content = new Uint8Array(first.length + second.length);
  content.set(first);
  content.set(second, first.length);
  const lengths = `${first.length}`.padStart(16) + `${second.length}`.padStart(16);
  const footer = encoder.encode(lengths + fingerprint(content) + magic);
  const bytes = new Uint8Array(content.length + footer.length);
  bytes.set(content);
  bytes.set(footer, content.length);
  return bytes;
}

/** Returns the parts of a file; null if it is damaged. */
export function unsealed(bytes: Uint8Array<ArrayBuffer>, magic: string): Parts | null {
  const end = bytes.length - (16 + 16 + 32 + magic.length);
  if (end < 0) return null;
  const footer = decoder.decode(bytes.subarray(end)), content = bytes.subarray(0, end);
  const first = Number(footer.slice(0, 16)), second = Number(footer.slice(16, 32));
  if (!footer.endsWith(magic) || first + second !== end) return null;
  return footer.slice(32, 64) === fingerprint(content)
    ? [content.subarray(0, first), content.subarray(first)]
    : null;
}
