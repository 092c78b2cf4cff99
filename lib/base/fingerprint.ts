/**
 * A 128-bit fingerprint of bytes, for file names and for noticing damaged files.
 * Input: bytes; output: 32 hexadecimal digits. Invariant: it is never the only thing compared where a wrong
 * match would matter; it is not cryptographic (the runtime's own SHA-256 costs 40 ms to load).
 */

const PRIMES = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const;

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/** Four multiply-and-rotate lanes over 32-bit words, mixed at the end. */
export function fingerprint(bytes: Uint8Array): string {
  const whole = bytes.length >>> 2;
  const words = bytes.byteOffset % 4 === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, whole)
    : new Uint32Array(bytes.slice(0, whole * 4).buffer);
  let a = bytes.length | 0, b: number = PRIMES[1], c: number = PRIMES[2], d: number = PRIMES[3];
  for (let i = 0; i < whole; i++) {
    const word = words[i] ?? 0;
    a = Math.imul(rotate(a ^ word, 13), PRIMES[0]);
    b = Math.imul(rotate(b + word, 11), PRIMES[1]) ^ a;
    c = Math.imul(rotate(c ^ b, 17), PRIMES[2]) + word;
    d = rotate(d + c, 7) ^ Math.imul(word, PRIMES[3]);
  }
  for (let i = whole * 4; i < bytes.length; i++) {
    a = Math.imul(rotate(a ^ (bytes[i] ?? 0), 5), PRIMES[3]);
    d = Math.imul(d + a, PRIMES[0]);
  }
  const mixed = [a ^ rotate(d, 9), b ^ rotate(a, 14), c ^ rotate(b, 5), d ^ rotate(c, 21)];
  return mixed.map((lane) => {
    let x = lane ^ (lane >>> 16);
    x = Math.imul(x, PRIMES[1]);
    x ^= x >>> 13;
    x = Math.imul(x, PRIMES[2]);
    return ((x ^ (x >>> 16)) >>> 0).toString(16).padStart(8, "0");
  }).join("");
}

/** The same of a text. */
export function fingerprintText(text: string): string {
  return fingerprint(new TextEncoder().encode(text));
}
