/**
 * Random bits: Philox 4×32-10 (Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), first word of
 * the block whose counter is (counter, 0, 0, 0). Unsigned words of 32 bits are the low halves of int64, where products of
 * two are exact to the bit; what is in the high halves does not matter until a word is multiplied.
 */
import type { MathBody } from "./body.ts";

const ROUNDS = 10;
const WORD = 0xffffffffn;

/** 32 random bits for a key of two words and a counter, all int32. */
export function random<V>(o: MathBody<V>, key0: V, key1: V, counter: V): V {
  const i = (value: bigint) => o.constant(value, "int64");
  const low = (x: V): V => o.and(x, i(WORD)), high = (x: V): V => o.shr(x, i(32n));
  const key = (start: V, round: number, step: bigint): V =>
    round === 0 ? start : o.add(start, i(BigInt(round) * step & WORD));
  const start0 = o.cast(key0, "int64"), start1 = o.cast(key1, "int64");
  // After the first round, in which three words are 0
  const product = o.mul(low(o.cast(counter, "int64")), i(0xd2511f53n));
  let block: readonly [V, V, V, V] = [start0, i(0n), o.xor(high(product), start1), product];
  for (let round = 1; round < ROUNDS; round++) {
    const [a, b, c, d] = block;
    const left = o.mul(low(a), i(0xd2511f53n)), right = o.mul(low(c), i(0xcd9e8d57n));
    const k0 = key(start0, round, 0x9e3779b9n), k1 = key(start1, round, 0xbb67ae85n);
    block = [o.xor(o.xor(high(right), b), k0), right, o.xor(o.xor(high(left), d), k1), left];
  }
  return o.cast(block[0], "int32");
}
