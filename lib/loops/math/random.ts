/**
 * Random bits: Philox 4×32-10 (Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), first word of
 * the block whose counter is (counter, 0, 0, 0).
 *
 * There are two versions. One multiplies words by halves. The other multiplies in int64, which takes a fifth less time
 * in vectors of 512 bits; its high halves are garbage until a word is multiplied.
 */
import type { MathBody } from "./body.ts";

const ROUNDS = 10;

/** Operations on unsigned words in a body. */
interface Words<V> {
  readonly constant: (word: number) => V;
  readonly product: (word: V, by: V) => { readonly low: V; readonly high: V };
}

function rounds<V>(
  o: MathBody<V>,
  { constant, product }: Words<V>,
  [start0, start1, counter]: readonly [V, V, V],
): V {
  const left = constant(0xd2511f53), right = constant(0xcd9e8d57);
  const key = (start: V, round: number, step: number): V =>
    o.add(start, constant(Math.imul(round, step) >>> 0));
  // After the first round, in which three words are 0
  const { low, high } = product(counter, left);
  let block: readonly [V, V, V, V] = [start0, constant(0), o.xor(high, start1), low];
  for (let round = 1; round < ROUNDS; round++) {
    const [a, b, c, d] = block, ofA = product(a, left), ofC = product(c, right);
    const k0 = key(start0, round, 0x9e3779b9), k1 = key(start1, round, 0xbb67ae85);
    block = [o.xor(o.xor(ofC.high, b), k0), ofC.low, o.xor(o.xor(ofA.high, d), k1), ofA.low];
  }
  return block[0];
}

/** 32 random bits for a key of two words and a counter, all int32. */
export const random = <V>(o: MathBody<V>, key0: V, key1: V, counter: V): V =>
  rounds(o, {
    constant: (word) => o.constant(word | 0, "int32"),
    product: (word, by) => ({ low: o.mul(word, by), high: o.mulHigh(word, by) }),
  }, [key0, key1, counter]);

/** The same over int64. */
export function randomInLongs<V>(o: MathBody<V>, key0: V, key1: V, counter: V): V {
  const constant = (word: number): V => o.constant(BigInt(word), "int64"),
    long = (x: V) => o.cast(x, "int64");
  const product = (word: V, by: V) => {
    const whole = o.mul(o.and(word, constant(0xffffffff)), by);
    return { low: whole, high: o.shr(whole, constant(32)) };
  };
  return o.cast(rounds(o, { constant, product }, [long(key0), long(key1), long(counter)]), "int32");
}
