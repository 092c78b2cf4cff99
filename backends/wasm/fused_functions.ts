/**
 * a·b + c rounded once, in functions for engines without the instruction. Invariant: the results are those of IEEE
 * 754's fusedMultiplyAdd, subnormal numbers, infinities and NaN included.
 */
import { FunctionBody } from "./function_body.ts";
import {
  asLong,
  assign,
  bitAnd,
  bitOr,
  bitXor,
  choose,
  differs,
  greater,
  isBelow,
  isLess,
  isSame,
  keepLong,
  leading,
  left,
  lesser,
  type Long,
  long,
  minus,
  plus,
  ref,
  right,
  type Term,
  times,
} from "./terms.ts";

const THREE = ["v128", "v128", "v128"] as const, ONE = ["v128"] as const;

/**
 * Float32: the product is exact as a double, and the sum is rounded to odd, so that rounding it again is rounding once
 * (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums").
 */
export function fmaFloat32(): FunctionBody {
  const body = new FunctionBody(THREE, ONE);
  const [product, third, sum, part, error] = [0, 0, 0, 0, 0].map(() => body.local("v128"));
  if (!product || !third || !sum || !part || !error) throw new RangeError("Expected five locals");
  for (const half of [[0, 1, 0, 1], [2, 3, 2, 3]] as const) {
    for (const operand of [0, 1]) body.get(operand).get(operand).words(half).simd("f64PromoteLow");
    body.simd("f64Mul").set(product);
    body.get(2).get(2).words(half).simd("f64PromoteLow").set(third);
    body.get(product).get(third).simd("f64Add").tee(sum).get(product).simd("f64Sub").set(part);
    // Rounding error: (product − (sum − part)) + (third − part)
    body.get(product).get(sum).get(part).simd("f64Sub", "f64Sub");
    body.get(third).get(part).simd("f64Sub", "f64Add").set(error);
    // An even sum that is not exact goes one step towards the exact one
    body.get(sum);
    body.get(error).get(sum).simd("xor").i32(63).simd("i64ShrS").splatConstant(1, 0).simd("or");
    body.get(error).splatConstant(0).simd("f64Lt").get(error).splatConstant(0).simd("f64Gt", "or", "and");
    body.get(sum).splatConstant(1, 0).simd("and").splatConstant(0).simd("i64Eq", "and");
    body.simd("i64Add", "f32DemoteZero");
  }
  body.words([0, 1, 4, 5]);
  return body;
}

/** Float64: one element after the other, in integers of 128 bits. */
export function fmaFloat64(): FunctionBody {
  const body = new FunctionBody(THREE, ONE), result = body.local("v128");
  for (const lane of [0, 1]) {
    if (lane === 1) body.get(result);
    fmaElement(body, lane);
    if (lane === 0) body.simd("f64Splat");
    else body.lane("f64Replace", lane);
    body.set(result);
  }
  body.get(result);
  return body;
}

/** Pushes a·b + c of one lane. */
function fmaElement(body: FunctionBody, lane: number): void {
  const [a, b, c] = [0, 1, 2].map((operand) => {
    const local = body.local("i64");
    body.get(operand).lane("i64Extract", lane).set(local);
    return ref(local);
  });
  if (!a || !b || !c) throw new RangeError("Expected three operands");
  const result = body.local("f64");
  const pushDouble = (bits: Long) => {
    bits(body);
    body.op("f64ReinterpretI64");
  };
  whenAll(body, [isFinite(a), isFinite(b)], () => {
    whenAll(body, [isFinite(c)], () => {
      whenAll(body, [isNotZero(a), isNotZero(b)], () => {
        whenAll(body, [isNotZero(c)], () => {
          exactSum(body, { a, b, c })(body);
          body.op("f64ReinterpretI64").set(result);
        }, () => {
          // The product keeps its sign where it vanishes
          for (const factor of [a, b]) pushDouble(factor);
          body.op("f64Mul").set(result);
        });
      }, () => {
        for (const factor of [a, b]) pushDouble(factor);
        body.op("f64Mul");
        pushDouble(c);
        body.op("f64Add").set(result);
      });
    }, () => {
      pushDouble(c);
      body.set(result);
    });
  }, () => {
    for (const factor of [a, b]) pushDouble(factor);
    body.op("f64Mul");
    pushDouble(c);
    body.op("f64Add").set(result);
  });
  body.get(result);
}

function whenAll(
  body: FunctionBody,
  conditions: readonly Term[],
  then: () => void,
  otherwise?: () => void,
): void {
  conditions.forEach((condition, n) => {
    condition(body);
    if (n > 0) body.op("i32And");
  });
  body.when(then, otherwise);
}

const FRACTION = 2n ** 52n - 1n, IMPLICIT = 2n ** 52n, SIGN = 2n ** 63n, INFINITY = 0x7ffn << 52n;

const magnitudeOf = (bits: Long): Long => bitAnd(bits, long(SIGN - 1n));
const isFinite = (bits: Long): Term => isLess(magnitudeOf(bits), long(INFINITY));
const isNotZero = (bits: Long): Term => differs(magnitudeOf(bits), long(0));

/** A finite number other than 0 as (−1)^sign · whole · 2^exponent, 2⁵² ≤ whole < 2⁵³. */
interface Unpacked {
  readonly whole: Long;
  readonly exponent: Long;
}

function unpack(body: FunctionBody, bits: Long): Unpacked {
  const fraction = ref(keepLong(body, bitAnd(bits, long(FRACTION))));
  const biased = ref(keepLong(body, bitAnd(right(bits, long(52)), long(2047))));
  // Subnormal numbers are brought up to the same width
  const up = ref(keepLong(body, minus(leading(fraction), long(11))));
  const normal = differs(biased, long(0));
  const whole = choose(normal, bitOr(fraction, long(IMPLICIT)), left(fraction, bitAnd(up, long(63))));
  const exponent = minus(choose(normal, biased, minus(long(1), up)), long(1075));
  return { whole: ref(keepLong(body, whole)), exponent: ref(keepLong(body, exponent)) };
}

/** The product of two integers below 2⁶³. */
function product(body: FunctionBody, a: Long, b: Long): Wide {
  const low = (x: Long) => bitAnd(x, long(2n ** 32n - 1n)), high = (x: Long) => right(x, long(32));
  const [ll, lh, hl, hh] = [[low, low], [low, high], [high, low], [high, high]].map(([f = low, g = low]) =>
    ref(keepLong(body, times(f(a), g(b))))
  );
  if (!ll || !lh || !hl || !hh) throw new RangeError("Expected four products");
  const middle = ref(keepLong(body, plus(plus(high(ll), low(lh)), low(hl))));
  return {
    high: keepLong(body, plus(plus(hh, plus(high(lh), high(hl))), high(middle))),
    low: keepLong(body, bitOr(low(ll), left(middle, long(32)))),
  };
}

/** The bits of a·b + c of finite numbers, none of them 0. */
function exactSum(
  body: FunctionBody,
  { a, b, c }: { readonly a: Long; readonly b: Long; readonly c: Long },
): Long {
  const [x, y, z] = [unpack(body, a), unpack(body, b), unpack(body, c)];
  // Both with their highest bit at 124 or 125
  const first = product(body, left(x.whole, long(10)), left(y.whole, long(10)));
  const second: Wide = { high: keepLong(body, left(z.whole, long(9))), low: keepLong(body, long(0)) };
  const exponent = keepLong(body, minus(plus(x.exponent, y.exponent), long(20)));
  const distance = keepLong(body, minus(ref(exponent), minus(z.exponent, long(73))));
  isLess(long(0), ref(distance))(body);
  body.when(
    () => shiftSticky(body, second, lesser(ref(distance), long(127))),
    () => {
      assign(body, exponent, minus(ref(exponent), ref(distance)));
      shiftSticky(body, first, lesser(minus(long(0), ref(distance)), long(127)));
    },
  );
  const sign = keepLong(body, bitAnd(bitXor(a, b), long(SIGN)));
  isSame(ref(sign), bitAnd(c, long(SIGN)))(body);
  const [h, l] = [ref(first.high), ref(first.low)];
  body.when(() => {
    assign(body, first.low, plus(l, ref(second.low)));
    const carry = asLong(isBelow(l, ref(second.low)));
    assign(body, first.high, plus(plus(h, ref(second.high)), carry));
  }, () => {
    const borrow = asLong(isBelow(l, ref(second.low)));
    assign(body, first.high, minus(minus(h, ref(second.high)), borrow));
    assign(body, first.low, minus(l, ref(second.low)));
    isLess(h, long(0))(body);
    body.when(() => {
      assign(body, first.low, minus(long(0), l));
      assign(body, first.high, minus(minus(long(0), h), asLong(differs(l, long(0)))));
      assign(body, sign, bitXor(ref(sign), long(SIGN)));
    });
  });
  const nothing = isSame(bitOr(h, l), long(0));
  return choose(nothing, long(0), bitOr(ref(sign), rounded(body, first, ref(exponent))));
}

/** The bits of a positive number below 2¹²⁷, times 2^exponent, rounded half to even. */
function rounded(body: FunctionBody, { high, low }: Wide, unit: Long): Long {
  const [h, l] = [ref(high), ref(low)];
  const zeros = choose(differs(h, long(0)), leading(h), plus(long(64), leading(l)));
  const up = ref(keepLong(body, bitAnd(minus(zeros, long(1)), long(127))));
  // The highest bit goes to 62 of the high word; what is below remains as its lowest bit
  const exponent = ref(keepLong(body, plus(minus(unit, up), long(64 + 62 + 1023))));
  isLess(long(63), up)(body);
  body.when(() => {
    assign(body, high, left(l, bitAnd(up, long(63))));
    assign(body, low, long(0));
  }, () => {
    differs(up, long(0))(body);
    body.when(() => {
      assign(body, high, bitOr(left(h, up), right(l, minus(long(64), up))));
      assign(body, low, left(l, up));
    });
  });
  assign(body, high, bitOr(h, asLong(differs(l, long(0)))));
  // Subnormal numbers keep fewer bits, or none
  const least = ref(keepLong(body, greater(exponent, long(1))));
  const down = ref(keepLong(body, plus(long(10), minus(least, exponent))));
  const whole = ref(keepLong(body, choose(isLess(long(63), down), long(1), h)));
  const by = ref(keepLong(body, lesser(down, long(63))));
  const kept = ref(keepLong(body, right(whole, by)));
  const rest = ref(keepLong(body, minus(whole, left(kept, by))));
  const half = ref(keepLong(body, left(long(1), minus(by, long(1)))));
  const tie = bitAnd(asLong(isSame(rest, half)), bitAnd(kept, long(1)));
  const bits = plus(
    plus(kept, bitOr(asLong(isLess(half, rest)), tie)),
    left(minus(least, long(1)), long(52)),
  );
  return choose(isLess(long(2046), exponent), long(INFINITY), bits);
}

/** A positive integer of 128 bits. */
interface Wide {
  readonly high: number;
  readonly low: number;
}

/** Shifts to the right by 0 to 127 bits; what falls off remains as the lowest bit. */
function shiftSticky(body: FunctionBody, { high, low }: Wide, given: Long): void {
  const by = keepLong(body, given), count = ref(by), [h, l] = [ref(high), ref(low)];
  isLess(long(63), count)(body);
  body.when(() => {
    assign(body, low, bitOr(h, asLong(differs(l, long(0)))));
    assign(body, high, long(0));
    assign(body, by, minus(count, long(64)));
  });
  differs(count, long(0))(body);
  body.when(() => {
    const up = minus(long(64), count);
    const lost = asLong(differs(left(l, up), long(0)));
    assign(body, low, bitOr(bitOr(right(l, count), left(h, up)), lost));
    assign(body, high, right(h, count));
  });
}
