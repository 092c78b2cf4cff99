/**
 * Random bits: Philox 4×32-10 (Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), first word of
 * the block whose counter is (counter, 0, 0, 0). Unsigned words of 32 bits are held in int64, where products of two are
 * exact to the bit.
 */
import type { MathBody } from "./body.ts";

const ROUNDS = 10;
const WORD = 0xffffffffn;

/** 32 random bits for a key of two words and a counter, all int32. */
export function random<V>(o: MathBody<V>, key0: V, key1: V, counter: V): V {
  const i = (value: bigint) => o.constant(value, "int64");
  const low = (x: V): V => o.and(x, i(WORD)), high = (x: V): V => low(o.shr(x, i(32n)));
  const word = (x: V): V => low(o.cast(x, "int64"));
  const key = (start: V, round: number, step: bigint): V =>
    round === 0 ? start : low(o.add(start, i(BigInt(round) * step & WORD)));
  const [start0, start1] = [word(key0), word(key1)];
  // After the first round, in which three words are 0
  const product = o.mul(word(counter), i(0xd2511f53n));
  let block: readonly [V, V, V, V] = [start0, i(0n), o.xor(high(product), start1), low(product)];
  for (let round = 1; round < ROUNDS; round++) {
    const [a, b, c, d] = block, left = o.mul(a, i(0xd2511f53n)), right = o.mul(c, i(0xcd9e8d57n));
    const k0 = key(start0, round, 0x9e3779b9n), k1 = key(start1, round, 0xbb67ae85n);
    block = [o.xor(o.xor(high(right), b), k0), low(right), o.xor(o.xor(high(left), d), k1), low(left)];
  }
  return o.cast(block[0], "int32");
}
