/**
 * WGSL helper functions of the scalar vocabulary: what the language lacks or leaves inexact. Output: the text of
 * the helpers that a kernel uses. Invariant: NaN, infinities and −0 behave as in PyTorch; float32 results are
 * within a few ulp.
 */

interface Helper {
  readonly needs: readonly string[];
  readonly text: string;
}

const helper = (text: string, ...needs: string[]): Helper => ({ needs, text });

/** Abramowitz and Stegun 7.1.26 is too coarse; these are minimax fits of erf on [0, 1) and of log erfc on [1, 4]. */
const ERF_SMALL = [
  0.12837916612625122,
  -0.3761262595653534,
  0.1128358542919159,
  -0.026853810995817184,
  0.00518832728266716,
  -0.000801019137725234,
  0.00007853854913264513,
];
const ERF_LARGE = [
  0.00031249181483872235,
  1.1272021532058716,
  0.6379651427268982,
  0.10325606167316437,
  -0.021906405687332153,
  0.002963988110423088,
  -0.00018796982476487756,
];

const horner = (coefficients: readonly number[], x: string): string =>
  [...coefficients].reverse().slice(1).reduce(
    (sum, c) => `fma(${sum}, ${x}, ${c})`,
    `${coefficients.at(-1)}`,
  );

/** Lanczos approximation, g = 7, n = 9: relative error below 1e-6 in float32. */
const LANCZOS = [
  676.5203681218851,
  -1259.1392167224028,
  771.3234287776531,
  -176.6150291621406,
  12.507343278686905,
  -0.13857109526572012,
];

const HELPERS: Readonly<Record<string, Helper>> = {
  // Constant expressions may not be infinite or NaN, hence variables.
  inf: helper(
    "var<private> inf_bits: u32 = 0x7f800000u;\nfn inf() -> f32 { return bitcast<f32>(inf_bits); }",
  ),
  nan: helper(
    "var<private> nan_bits: u32 = 0x7fc00000u;\nfn nan() -> f32 { return bitcast<f32>(nan_bits); }",
  ),
  // Compilers may fold x != x away.
  is_nan: helper("fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }"),
  minimum: helper(
    "fn minimum(a: f32, b: f32) -> f32 { return select(min(a, b), a + b, is_nan(a) || is_nan(b)); }",
    "is_nan",
  ),
  maximum: helper(
    "fn maximum(a: f32, b: f32) -> f32 { return select(max(a, b), a + b, is_nan(a) || is_nan(b)); }",
    "is_nan",
  ),
  sign_f: helper("fn sign_f(x: f32) -> f32 { return select(sign(x), x, is_nan(x)); }", "is_nan"),
  floor_div: helper(
    `fn floor_div(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let q = a / b;
  return select(q, q - 1, (a - b * q != 0) && ((a < 0) != (b < 0)));
}`,
  ),
  floor_mod: helper(
    `fn floor_mod(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let r = trunc_mod(a, b);
  return select(r, r + b, r != 0 && ((r < 0) != (b < 0)));
}`,
    "trunc_mod",
  ),
  trunc_div: helper("fn trunc_div(a: i32, b: i32) -> i32 { if (b == 0) { return 0; } return a / b; }"),
  // Vulkan leaves the remainder of negative operands undefined; division is defined
  trunc_mod: helper(
    "fn trunc_mod(a: i32, b: i32) -> i32 { if (b == 0) { return 0; } return a - b * (a / b); }",
  ),
  // Long division: each step subtracts a multiple of b by a power of two, which is exact
  trunc_mod_f: helper(
    `fn trunc_mod_f(a: f32, b: f32) -> f32 {
  let y = abs(b);
  var r = abs(a);
  if (is_nan(a) || is_nan(b) || r > 3.4028235e38 || y == 0.0) { return nan(); }
  if (y > 3.4028235e38) { return a; }
  for (var i = 0; i < 300 && r >= y; i = i + 1) {
    let s = ldexp(y, frexp(r).exp - frexp(y).exp);
    r = r - select(s, 0.5 * s, s > r);
  }
  return select(r, -r, (bitcast<u32>(a) >> 31u) != 0u);
}`,
    "is_nan",
    "nan",
  ),
  floor_mod_f: helper(
    `fn floor_mod_f(a: f32, b: f32) -> f32 {
  let r = trunc_mod_f(a, b);
  return select(r, r + b, r != 0.0 && ((r < 0.0) != (b < 0.0)));
}`,
    "trunc_mod_f",
  ),
  // The language allows its own trigonometric functions errors of 2^-11; these follow Moshier's Cephes library.
  sin_cos: helper(
    `fn sin_cos(x: f32) -> vec2f {
  if (abs(x) >= 512.0) { return sin_cos_of(quarter_turns(x)); }
  let n = round(x * 0.63661977);
  return sin_cos_of(QuarterTurns(fma(n, -7.5497899549e-8, fma(n, -4.8375129699e-4, fma(n, -1.5703125, x))), i32(n)));
}`,
    "quarter_turns",
    "sin_cos_of",
  ),
  // x modulo a full turn from the bits of x and of 1/2π (Payne and Hanek); x = n·π/2 + r, |r| at most π/4
  quarter_turns: helper(
    `fn quarter_turns(x: f32) -> QuarterTurns {
  let bits = bitcast<u32>(x);
  let exponent = (bits >> 23u) & 0xffu;
  if (exponent == 0xffu) { return QuarterTurns(nan(), 0); }
  var turn = array<u32, 8>(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0x7f9458eau);
  let offset = exponent - 118u;
  let w = offset >> 5u;
  let b = offset & 31u;
  var p = array<u32, 3>(0u, 0u, 0u);
  for (var k = 0u; k < 3u; k = k + 1u) {
    p[k] = select((turn[w + k] << b) | (turn[w + k + 1u] >> ((32u - b) & 31u)), turn[w + k], b == 0u);
  }
  let m = (bits & 0x7fffffu) | 0x800000u;
  let middle = m * p[1];
  var low = middle + mul_hi(m, p[2]);
  var high = m * p[0] + mul_hi(m, p[1]) + select(0u, 1u, low < middle);
  let n = (high + 0x20000000u) >> 30u;
  high = high - (n << 30u);
  let negative = (high >> 31u) != 0u;
  if (negative) {
    high = ~high + select(0u, 1u, low == 0u);
    low = ~low + 1u;
  }
  let r = (f32(high) + f32(low) * 2.3283064365386963e-10) * 1.4629180792671596e-9;
  let flip = (bits >> 31u) != 0u;
  return QuarterTurns(select(r, -r, negative != flip), select(i32(n), -i32(n), flip));
}`,
    "sin_cos_of",
    "mul_hi",
    "nan",
  ),
  sin_cos_of: helper(
    `struct QuarterTurns { r: f32, n: i32 }
fn sin_cos_of(turns: QuarterTurns) -> vec2f {
  let r = turns.r;
  let z = r * r;
  let s = fma(fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1) * z, r, r);
  let c = fma(fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2) * z, z, fma(-0.5, z, 1.0));
  let q = turns.n & 3;
  let sine = select(s, c, (q & 1) != 0);
  let cosine = select(c, s, (q & 1) != 0);
  return vec2f(select(sine, -sine, q >= 2), select(cosine, -cosine, q == 1 || q == 2));
}`,
  ),
  sin_f: helper("fn sin_f(x: f32) -> f32 { return select(sin_cos(x).x, x, x == 0.0); }", "sin_cos"),
  cos_f: helper("fn cos_f(x: f32) -> f32 { return sin_cos(x).y; }", "sin_cos"),
  tan_f: helper(
    "fn tan_f(x: f32) -> f32 { let s = sin_cos(x); return select(s.x / s.y, x, x == 0.0); }",
    "sin_cos",
  ),
  atan_f: helper(
    `fn atan_f(x: f32) -> f32 {
  let a = abs(x);
  var y = 0.0;
  var t = a;
  if (a > 2.4142136) { y = 1.5707964; t = -1.0 / a; } else if (a > 0.41421357) { y = 0.7853982; t = (a - 1.0) / (a + 1.0); }
  let z = t * t;
  let p = fma(fma(fma(8.05374449538e-2, z, -1.38776856032e-1), z, 1.99777106478e-1), z, -3.33329491539e-1);
  let r = y + fma(p * z, t, t);
  return select(select(r, -r, x < 0.0), x, x == 0.0);
}`,
  ),
  atan2_f: helper(
    `fn atan2_f(y: f32, x: f32) -> f32 {
  if (is_nan(x) || is_nan(y)) { return nan(); }
  let negative = (bitcast<u32>(x) >> 31u) != 0u;
  var r = 0.0;
  if (abs(x) > 3.4028235e38 && abs(y) > 3.4028235e38) { r = 0.7853982; }
  else if (y != 0.0) { r = select(atan_f(abs(y / x)), 1.5707964, x == 0.0); }
  r = select(r, 3.1415927 - r, negative);
  return select(r, -r, (bitcast<u32>(y) >> 31u) != 0u);
}`,
    "atan_f",
    "is_nan",
    "nan",
  ),
  asin_f: helper(
    `fn asin_f(x: f32) -> f32 {
  let a = abs(x);
  if (!(a <= 1.0)) { return nan(); }
  let big = a > 0.5;
  let z = select(a * a, 0.5 * (1.0 - a), big);
  let t = select(a, sqrt(z), big);
  let p = fma(fma(fma(fma(4.2163199048e-2, z, 2.4181311049e-2), z, 4.5470025998e-2), z, 7.4953002686e-2), z, 1.6666752422e-1);
  let q = fma(p * z, t, t);
  let r = select(q, 1.5707964 - 2.0 * q, big);
  return select(select(r, -r, x < 0.0), x, x == 0.0);
}`,
    "nan",
  ),
  acos_f: helper(
    `fn acos_f(x: f32) -> f32 {
  if (!(abs(x) <= 1.0)) { return nan(); }
  if (x > 0.5) { return 2.0 * asin_f(sqrt(0.5 * (1.0 - x))); }
  if (x < -0.5) { return 3.1415927 - 2.0 * asin_f(sqrt(0.5 * (1.0 + x))); }
  return 1.5707964 - asin_f(x);
}`,
    "asin_f",
    "nan",
  ),
  expm1: helper(
    `fn expm1(x: f32) -> f32 {
  if (abs(x) < 0.5) {
    return x * fma(x, fma(x, fma(x, fma(x, fma(x, fma(x, 0.0001984127, 0.0013888889), 0.008333334), 0.041666668), 0.16666667), 0.5), 1.0);
  }
  return exp(x) - 1.0;
}`,
  ),
  log1p: helper(
    `fn log1p(x: f32) -> f32 {
  let u = 1.0 + x;
  if (u == 1.0) { return x; }
  if (u > 3.0e38) { return log(u); }
  return log(u) * x / (u - 1.0);
}`,
  ),
  tanh_f: helper(
    `fn tanh_f(x: f32) -> f32 {
  let a = min(abs(x), 10.0);
  let e = expm1(2.0 * a);
  let r = e / (e + 2.0);
  return select(select(r, -r, x < 0.0), x, is_nan(x) || x == 0.0);
}`,
    "expm1",
    "is_nan",
  ),
  sinh_f: helper(
    `fn sinh_f(x: f32) -> f32 {
  if (abs(x) < 1.0) { let e = expm1(x); return 0.5 * (e + e / (e + 1.0)); }
  let h = exp(0.5 * abs(x));
  let r = 0.5 * h * h - 0.5 / (h * h);
  return select(r, -r, x < 0.0);
}`,
    "expm1",
  ),
  cosh_f: helper(
    "fn cosh_f(x: f32) -> f32 { let h = exp(0.5 * abs(x)); return 0.5 * h * h + 0.5 / (h * h); }",
  ),
  asinh_f: helper(
    `fn asinh_f(x: f32) -> f32 {
  let a = abs(x);
  let r = select(log1p(a + a * a / (1.0 + sqrt(a * a + 1.0))), log(a) + 0.6931472, a > 1.0e9);
  return select(select(r, -r, x < 0.0), x, x == 0.0);
}`,
    "log1p",
  ),
  acosh_f: helper(
    `fn acosh_f(x: f32) -> f32 {
  if (!(x >= 1.0)) { return nan(); }
  if (x > 1.0e9) { return log(x) + 0.6931472; }
  let t = x - 1.0;
  return log1p(t + sqrt(2.0 * t + t * t));
}`,
    "log1p",
    "nan",
  ),
  atanh_f: helper(
    `fn atanh_f(x: f32) -> f32 {
  if (abs(x) > 1.0 || is_nan(x)) { return nan(); }
  if (abs(x) == 1.0) { return select(-inf(), inf(), x > 0.0); }
  return 0.5 * log1p(2.0 * x / (1.0 - x));
}`,
    "log1p",
    "nan",
    "inf",
    "is_nan",
  ),
  erf: helper(
    `fn erf(x: f32) -> f32 {
  let a = min(abs(x), 4.0);
  let s = a * a;
  let small = fma(${horner(ERF_SMALL, "s")}, x, x);
  let large = 1.0 - exp(-(${horner(ERF_LARGE, "a")}));
  return select(select(select(large, -large, x < 0.0), small, a < 1.0), x, is_nan(x));
}`,
    "is_nan",
  ),
  erfc: helper(
    `fn erfc(x: f32) -> f32 {
  if (is_nan(x) || x < 0.5) { return 1.0 - erf(x); }
  let t = 1.0 / (1.0 + 0.5 * x);
  let p = ${
      horner(
        [
          -1.26551223,
          1.00002368,
          0.37409196,
          0.09678418,
          -0.18628806,
          0.27886807,
          -1.13520398,
          1.48851587,
          -0.82215223,
          0.17087277,
        ],
        "t",
      )
    };
  return t * exp(p - x * x);
}`,
    "erf",
    "is_nan",
  ),
  pow_f: helper(
    `fn pow_f(x: f32, y: f32) -> f32 {
  if (y == 0.0 || x == 1.0) { return 1.0; }
  if (is_nan(x) || is_nan(y)) { return nan(); }
  let whole = trunc(y) == y;
  if (whole && abs(y) <= 64.0) {
    var base = x;
    var result = 1.0;
    for (var n = u32(abs(y)); n > 0u; n = n >> 1u) {
      if ((n & 1u) == 1u) { result = result * base; }
      base = base * base;
    }
    return select(result, 1.0 / result, y < 0.0);
  }
  let odd = whole && abs(y) < 16777216.0 && (abs(y) - 2.0 * floor(abs(y) * 0.5)) == 1.0;
  if (x == 0.0) {
    let magnitude = select(0.0, inf(), y < 0.0);
    return select(magnitude, -magnitude, odd && bitcast<u32>(x) != 0u);
  }
  if (x < 0.0 && !whole && abs(x) <= 3.4028235e38) { return nan(); }
  let r = pow(abs(x), y);
  return select(r, -r, x < 0.0 && odd);
}`,
    "is_nan",
    "nan",
    "inf",
  ),
  pow_i: helper(
    `fn pow_i(x: i32, y: i32) -> i32 {
  if (y < 0) { if (x == 1) { return 1; } if (x == -1) { return select(1, -1, (y & 1) != 0); } return 0; }
  var base = x;
  var result = 1;
  for (var n = u32(y); n > 0u; n = n >> 1u) {
    if ((n & 1u) == 1u) { result = result * base; }
    base = base * base;
  }
  return result;
}`,
  ),
  lgamma_positive: helper(
    `fn lgamma_positive(x: f32) -> f32 {
  let z = x - 1.0;
  var sum = 0.99999999999980993;
${LANCZOS.map((c, i) => `  sum = sum + ${c} / (z + ${i + 1}.0);`).join("\n")}
  let t = z + 7.5;
  return 0.9189385 + (z + 0.5) * log(t) - t + log(sum);
}`,
  ),
  lgamma: helper(
    `fn lgamma(x: f32) -> f32 {
  if (x <= 0.0 && floor(x) == x) { return inf(); }
  if (x < 0.5) {
    let f = x - floor(x);
    return 1.1447299 - log(abs(sin_f(3.1415927 * f))) - lgamma_positive(1.0 - x);
  }
  return lgamma_positive(x);
}`,
    "lgamma_positive",
    "inf",
    "sin_f",
  ),
  digamma: helper(
    `fn digamma(x: f32) -> f32 {
  if (x == 0.0) { return select(-inf(), inf(), bitcast<u32>(x) != 0u); }
  if (x < 0.0 && floor(x) == x) { return nan(); }
  var shift = 0.0;
  var z = x;
  if (x < 0.0) {
    let f = x - floor(x);
    shift = -3.1415927 * cos_f(3.1415927 * f) / sin_f(3.1415927 * f);
    z = 1.0 - x;
  }
  for (; z < 6.0; z = z + 1.0) { shift = shift - 1.0 / z; }
  let w = 1.0 / (z * z);
  return shift + log(z) - 0.5 / z - w * (0.083333333 - w * (0.0083333333 - w * 0.003968254));
}`,
    "inf",
    "nan",
    "sin_f",
    "cos_f",
  ),
  mul_hi: helper(
    `fn mul_hi(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu; let a1 = a >> 16u; let b0 = b & 0xffffu; let b1 = b >> 16u;
  let mid = a1 * b0 + ((a0 * b0) >> 16u);
  let mid2 = a0 * b1 + (mid & 0xffffu);
  return a1 * b1 + (mid >> 16u) + (mid2 >> 16u);
}`,
  ),
  // Salmon et al. 2011, Philox 4×32 with 10 rounds
  random: helper(
    `fn random(key0: i32, key1: i32, counter: i32) -> i32 {
  var k0 = bitcast<u32>(key0);
  var k1 = bitcast<u32>(key1);
  var c = vec4u(bitcast<u32>(counter), 0u, 0u, 0u);
  for (var i = 0; i < 10; i = i + 1) {
    let h0 = mul_hi(0xd2511f53u, c.x);
    let h1 = mul_hi(0xcd9e8d57u, c.z);
    c = vec4u(h1 ^ c.y ^ k0, 0xcd9e8d57u * c.z, h0 ^ c.w ^ k1, 0xd2511f53u * c.x);
    k0 = k0 + 0x9e3779b9u;
    k1 = k1 + 0xbb67ae85u;
  }
  return bitcast<i32>(c.x);
}`,
    "mul_hi",
  ),
};

/** The text of these helpers and of what they need, each once, in order of use. */
export function preludeOf(names: Iterable<string>): string {
  const done = new Set<string>();
  const parts: string[] = [];
  const add = (name: string) => {
    if (done.has(name)) return;
    done.add(name);
    const found = HELPERS[name];
    if (!found) throw new Error(`Expected a helper but found ${name}`);
    found.needs.forEach(add);
    parts.push(found.text);
  };
  for (const name of names) add(name);
  return parts.join("\n");
}
