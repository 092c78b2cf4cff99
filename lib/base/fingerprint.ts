/**
 * A 128-bit fingerprint of bytes, for file names and for noticing damaged files. 32 hexadecimal digits. Invariant: it
 * is never the only thing compared where a wrong match would matter; it is not cryptographic (the runtime's own
 * SHA-256 costs 40 ms to load).
 */
import { bufferOf } from "./memory_getters.ts";

const PRIMES = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const;

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/**
 * Words processed by one run of the loop below. When an engine switches to optimised code in the middle of a longer
 * run, it does so before the code after the loop has ever run, and deoptimises there in each later call.
 */
const RUN = 256;

/**
 * Mixes words, four at a time, into four lanes by additions, rotations and exclusive ors, as in a quarter round of
 * ChaCha. Unrolled and without multiplications, because it is called before anything is optimised.
 */
function takeIn(lanes: Int32Array, words: Uint32Array, from: number, to: number): void {
  let a = lanes[0] ?? 0, b = lanes[1] ?? 0, c = lanes[2] ?? 0, d = lanes[3] ?? 0;
  for (let at = from; at < to; at += 4) {
    a = (a + b + (words[at] ?? 0)) | 0;
    d ^= a;
    d = (d << 16) | (d >>> 16);
    c = (c + d + (words[at + 1] ?? 0)) | 0;
    b ^= c;
    b = (b << 12) | (b >>> 20);
    a = (a + b + (words[at + 2] ?? 0)) | 0;
    d ^= a;
    d = (d << 8) | (d >>> 24);
    c = (c + d + (words[at + 3] ?? 0)) | 0;
    b ^= c;
    b = (b << 7) | (b >>> 25);
  }
  lanes[0] = a;
  lanes[1] = b;
  lanes[2] = c;
  lanes[3] = d;
}

/** Returns the fingerprint of bytes; the lanes are mixed at the end. */
export function fingerprint(bytes: Uint8Array): string {
  const rest = bytes.length & 15, whole = (bytes.length - rest) >>> 2;
  const words = bytes.byteOffset % 4 === 0
    ? new Uint32Array(bufferOf(bytes), bytes.byteOffset, whole)
    : new Uint32Array(bufferOf(bytes.slice(0, whole * 4)));
  const tail = new Uint8Array(16);
  tail.set(bytes.subarray(whole * 4));
  // Neither `of` nor iterators: the program may have replaced them
  const lanes = new Int32Array([bytes.length, PRIMES[1], PRIMES[2], PRIMES[3]]);
  for (let at = 0; at < whole; at += RUN) takeIn(lanes, words, at, Math.min(at + RUN, whole));
  takeIn(lanes, new Uint32Array(bufferOf(tail)), 0, 4);
  const a = lanes[0] ?? 0, b = lanes[1] ?? 0, c = lanes[2] ?? 0, d = lanes[3] ?? 0;
  const mixed = [a ^ rotate(d, 9), b ^ rotate(a, 14), c ^ rotate(b, 5), d ^ rotate(c, 21)];
  return mixed.map((lane) => {
    let x = lane ^ (lane >>> 16);
    x = Math.imul(x, PRIMES[1]);
    x ^= x >>> 13;
    x = Math.imul(x, PRIMES[2]);
    return ((x ^ (x >>> 16)) >>> 0).toString(16).padStart(8, "0");
  }).join("");
}

/** Returns the fingerprint of a text. */
export function fingerprintText(text: string): string {
  return fingerprint(new TextEncoder().encode(text));
}
