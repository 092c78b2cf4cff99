/**
 * C++ functions for the scalar operations that have no operator: text, and what each one needs.
 * Invariants: float32 functions are branch-free polynomials that vectorise, within 2 units in the last place
 * over their whole range unless said otherwise; multiply-adds are fused only where written `fma_`. What is
 * rarely used goes through the float64 function of the C library and is rounded once.
 *
 * exp, expm1: Cody and Waite's reduction by ln 2 in two parts, polynomial on [−ln2/2, ln2/2]. log: reduction to
 * [√½, √2), polynomial in f = m − 1. sin, cos, tan: reduction by π/2 in float64, in two forms. tanh by expm1.
 * erf: odd polynomial below 1, else 1 − exp(−P(|x|)).
 */

interface MathFunction {
  readonly needs: readonly string[];
  readonly text: string;
}

const fn = (text: string, ...needs: string[]): MathFunction => ({ text, needs });

/** A float32 function computed by the C library in float64. */
const viaDouble = (name: string, symbol = name): MathFunction =>
  fn(`INL float ${name}_f32(float x) { return (float) ${symbol}_f64(x); }`, `${symbol}_f64`);

const library = (name: string, symbol = name): MathFunction =>
  fn(`extern "C" double ${symbol}(double);\nINL double ${name}_f64(double x) { return ${symbol}(x); }`);

const horner = (coefficients: readonly string[], x: string): string =>
  coefficients.reduceRight((text, c) => text === "" ? c : `fma_f32(${text}, ${x}, ${c})`, "");

const EXP = [
  "0.4999999403953552f",
  "0.16666515171527863f",
  "0.041668448597192764f",
  "0.008369323797523975f",
  "0.001381334033794701f",
];
const LOG = [
  "-0.5f",
  "0.3333320915699005f",
  "-0.24999716877937317f",
  "0.20010747015476227f",
  "-0.16682302951812744f",
]
  .concat(["0.14001159369945526f", "-0.12167185544967651f", "0.14004762470722198f", "-0.12948833405971527f"]);
const ERF_SMALL = [
  "0.12837916612625122f",
  "-0.3761262595653534f",
  "0.1128358542919159f",
  "-0.026853810995817184f",
]
  .concat(["0.00518832728266716f", "-0.000801019137725234f", "0.00007853854913264513f"]);
const ERF_LARGE = [
  "0.00031249181483872235f",
  "1.1272021532058716f",
  "0.6379651427268982f",
  "0.10325606167316437f",
]
  .concat(["-0.021906405687332153f", "0.002963988110423088f", "-0.00018796982476487756f"]);

const FUNCTIONS: Readonly<Record<string, MathFunction>> = {
  fma_f32: fn(`#if defined(__FMA__) || defined(__aarch64__)
INL float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
INL float fma_f32(float a, float b, float c) { return (float) ((double) a * b + c); }
#endif`),
  fma_f64: fn(`extern "C" double fma(double, double, double);
INL double fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }`),
  bits: fn(`INL int float_bits(float x) { int r; __builtin_memcpy(&r, &x, 4); return r; }
INL float bits_float(int x) { float r; __builtin_memcpy(&r, &x, 4); return r; }`),
  // e^x = (1 + m)·2^n: m, and n in the low bits of t
  exp_parts: fn(
    `struct ExpParts { float m; int n; };
INL ExpParts exp_parts(float x) {
  const float t = fma_f32(x, 1.4426950408889634f, 12582912.0f), n = t - 12582912.0f;
  const float r = fma_f32(n, 2.12194440e-4f, fma_f32(n, -0.693359375f, x));
  return {fma_f32(r * r, ${horner(EXP, "r")}, r), float_bits(t) - 0x4b400000};
}
INL float pow2_int(int n) { return bits_float((n << 23) + 0x3f800000); }`,
    "fma_f32",
    "bits",
  ),
  // n goes straight into the exponent: from t's low bits, whose others are shifted out. Results near and below the
  // least normal number take a detour by 2⁶⁴, so that they are rounded once; NaN and overflow are x + ∞.
  exp_f32: fn(
    `INL float exp_f32(float x) {
  const float c = x < -104.0f ? -104.0f : x;
  const float t = fma_f32(c, 1.4426950408889634f, 12582912.0f), n = t - 12582912.0f;
  const float r = fma_f32(n, 2.12194440e-4f, fma_f32(n, -0.693359375f, c));
  const float p = fma_f32(r * r, ${horner(EXP, "r")}, r) + 1.0f;
  const bool small = x < -80.0f;
  const unsigned shift = ((unsigned) float_bits(t) << 23) + (small ? 64u << 23 : 0u);
  const float y = bits_float((int) ((unsigned) float_bits(p) + shift));
  const float z = small ? y * 5.421010862427522e-20f : y;
  return x <= 88.72283172607422f ? z : x + __builtin_inff();
}`,
    "fma_f32",
    "bits",
  ),
  exp2_f32: fn(
    `INL float exp2_f32(float x) {
  float c = x > 129.0f ? 129.0f : x;
  c = c < -151.0f ? -151.0f : c;
  const float n = __builtin_rintf(c), r = (c - n) * 0.6931471805599453f;
  const float m = fma_f32(r * r, ${horner(EXP, "r")}, fma_f32(c - n, -1.9046543e-9f, r));
  const int k = (int) n, h = k >> 1;
  return x == x ? ((m + 1.0f) * pow2_int(h)) * pow2_int(k - h) : x;
}`,
    "exp_parts",
  ),
  expm1_f32: fn(
    `INL float expm1_f32(float x) {
  float c = x > 88.0f ? 88.0f : x;
  c = c < -18.0f ? -18.0f : c;
  const ExpParts p = exp_parts(c);
  const float s = pow2_int(p.n);
  const float small = fma_f32(p.m, s, s - 1.0f);
  const float large = exp_f32(x);
  const float r = x > 17.0f ? large : small;
  return x == 0.0f ? x : r;
}`,
    "exp_f32",
    "exp_parts",
  ),
  // ln(x) as exponent k, and ln of the mantissa
  log_f32: fn(
    `INL float log_f32(float x) {
  const bool tiny = x < 1.1754943508222875e-38f;
  const float y = tiny ? x * 8388608.0f : x;
  const int b = float_bits(y), e = (b - 0x3f2aaaab) & 0xff800000;
  const float f = bits_float(b - e) - 1.0f;
  const float k = fma_f32((float) e, 1.1920928955078125e-7f, tiny ? -23.0f : 0.0f);
  const float l = fma_f32(k, 0.693359375f, fma_f32(k, -2.12194440e-4f, fma_f32(f * f, ${
      horner(LOG, "f")
    }, f)));
  float r = x < __builtin_inff() ? l : x + x;
  r = x == 0.0f ? -__builtin_inff() : r;
  return x < 0.0f ? __builtin_nanf("") : r;
}`,
    "fma_f32",
    "bits",
  ),
  log2_f32: fn(
    `INL float log2_f32(float x) { return (float) log2_poly(x); }`,
    "log2_poly",
  ),
  log10_f32: fn(
    `INL float log10_f32(float x) { return (float) (log2_poly(x) * 0.30102999566398120); }`,
    "log2_poly",
  ),
  // log2 in float64, to about 2⁻⁴⁰: for float32 results that must not lose bits
  log2_poly: fn(
    `INL double log2_poly(float x) {
  const bool tiny = x < 1.1754943508222875e-38f;
  const float y = tiny ? x * 8388608.0f : x;
  const int b = float_bits(y), e = (b - 0x3f3504f3) >> 23;
  const double m = bits_float(b - (e << 23)), s = (m - 1.0) / (m + 1.0), q = s * s;
  const double p = 1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15)))))));
  double r = (double) (e - (tiny ? 23 : 0)) + s * p * 2.8853900817779268;
  r = x < __builtin_inff() ? r : (double) (x + x);
  r = x == 0.0f ? -__builtin_inf() : r;
  return x < 0.0f ? __builtin_nan("") : r;
}`,
    "bits",
  ),
  log1p_f32: fn(
    `INL float log1p_f32(float x) {
  const float u = 1.0f + x, r = log_f32(u) + (x - (u - 1.0f)) / u;
  return (u > 0.0f) & (u < __builtin_inff()) ? (x == 0.0f ? x : r) : log_f32(u);
}`,
    "log_f32",
  ),
  // sin and cos of the rest r = x − n·π/2 in [−π/4, π/4]; polynomials of Cephes, in float64 as r is
  trig: fn(`INL double sin_rest(double r) {
  const double z = r * r;
  return r + r * z * (-1.6666666666666307e-1 + z * (8.3333333332211858e-3 + z * (-1.9841269829589539e-4 + z * (2.7557313621385722e-6 + z * -2.5050747762857807e-8))));
}
INL double cos_rest(double r) {
  const double z = r * r;
  return 1.0 - 0.5 * z + z * z * (4.1666666666665929e-2 + z * (-1.3888888888873056e-3 + z * (2.4801587288851704e-5 + z * (-2.7557314183697710e-7 + z * 2.0875700728440820e-9))));
}
INL float sin_of(double r, long n) {
  const double s = sin_rest(r), c = cos_rest(r), v = n & 1 ? c : s;
  return (float) (n & 2 ? -v : v);
}
INL float tan_of(double r, long n) {
  const double s = sin_rest(r), c = cos_rest(r);
  return (float) (n & 1 ? -c / s : s / c);
}`),
  // 2/π in pieces of 29 bits, whose products with a float are exact and count modulo 4 only: the rest is right for
  // the largest x as well (Payne and Hanek's reduction without branches or tables)
  trig_far: fn(
    `INL double trig_piece(double x, double c) {
  const double p = x * c;
  return __builtin_fma(-4.0, __builtin_rint(p * 0.25), p);
}
INL double trig_far(float x, long* quadrant) {
  const double v = x;
  const double p0 = trig_piece(v, 0x1.45f306dp-1), p1 = trig_piece(v, 0x1.9391054p-30), p2 = trig_piece(v, 0x1.4fe13abp-59);
  const double p3 = trig_piece(v, 0x1.d1f534dp-88), p4 = trig_piece(v, 0x1.b81b6c5p-117), p5 = trig_piece(v, 0x1.5993c4p-148);
  const double n = __builtin_rint(p0 + (p1 + (p2 + (p3 + (p4 + p5)))));
  *quadrant = (long) n;
  return (p0 - n + p1 + p2 + p3 + p4 + p5 + v * 0x1.c820ff2p-175) * 1.5707963267948966;
}`,
    "trig",
  ),
  // twice as fast, for |x| < 2³⁰
  trig_near: fn(
    `INL double trig_near(float x, long* quadrant) {
  const double n = __builtin_rint((double) x * 0.63661977236758134);
  double r = __builtin_fma(-n, 1.5707963267948966, (double) x);
  r = __builtin_fma(-n, 6.123233995736766e-17, r);
  *quadrant = (long) n;
  return r;
}
INL int is_far(float x) { return !(__builtin_fabsf(x) < 1073741824.0f); }`,
    "trig",
  ),
  ...Object.fromEntries(["far", "near"].flatMap((reach) => {
    const suffix = reach === "far" ? "f32" : "near_f32";
    const define = (name: string, result: string): [string, MathFunction] => [
      `${name}_${suffix}`,
      fn(
        `INL float ${name}_${suffix}(float x) {
  long n;
  const double r = trig_${reach}(x, &n);
  return ${result};
}`,
        `trig_${reach}`,
      ),
    ];
    return [
      define("sin", "x == 0.0f ? x : sin_of(r, n)"),
      define("cos", "sin_of(r, n + 1)"),
      define("tan", "x == 0.0f ? x : tan_of(r, n)"),
    ];
  })),
  tanh_f32: fn(
    `INL float tanh_f32(float x) {
  const float b = __builtin_fabsf(x), a = b > 9.5f ? 9.5f : b;
  const ExpParts p = exp_parts(a + a);
  const float s = pow2_int(p.n), e = fma_f32(p.m, s, s - 1.0f);
  return __builtin_copysignf(e / (e + 2.0f), x);
}`,
    "exp_parts",
  ),
  erf_f32: fn(
    `INL float erf_f32(float x) {
  const float b = __builtin_fabsf(x), a = b > 4.0f ? 4.0f : b, s = x * x;
  const float small = fma_f32(${horner(ERF_SMALL, "s")}, x, x);
  const ExpParts p = exp_parts(-(${horner(ERF_LARGE, "a")}));
  const float scale = pow2_int(p.n), large = 1.0f - fma_f32(p.m, scale, scale);
  const float r = b < 1.0f ? small : __builtin_copysignf(large, x);
  return x == x ? r : x;
}`,
    "exp_parts",
  ),
  // 2^(b·log2|a|) in float64, then the special cases of the C library's pow
  pow_f32: fn(
    `INL double exp2_wide(double x) {
  double c = x > 200.0 ? 200.0 : x;
  c = c < -200.0 ? -200.0 : c;
  const double n = __builtin_rint(c), f = (c - n) * 0.69314718055994531;
  const double p = 1.0 + f * (1.0 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 + f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320))))))));
  const long bits = ((long) n + 1023) << 52;
  double scale;
  __builtin_memcpy(&scale, &bits, 8);
  return p * scale;
}
INL float pow_f32(float a, float b) {
  const float size = __builtin_fabsf(a), far = __builtin_inff();
  const float y = (float) exp2_wide((double) b * log2_poly(size));
  const float half = 0.5f * b, whole = __builtin_rintf(b), even = __builtin_rintf(half);
  const float odd = even == half ? y : -y, signed_y = __builtin_copysignf(1.0f, a) < 0.0f ? odd : y;
  float r = whole == b ? signed_y : a < 0.0f ? (a > -far ? __builtin_nanf("") : y) : y;
  r = size == 1.0f ? (__builtin_fabsf(b) == far ? 1.0f : r) : r;
  r = a == 1.0f ? 1.0f : r;
  return b == 0.0f ? 1.0f : r;
}`,
    "log2_poly",
  ),
  pow_f64: fn(
    `extern "C" double pow(double, double);\nINL double pow_f64(double a, double b) { return pow(a, b); }`,
  ),
  atan2_f32: fn(`INL float atan2_f32(float a, float b) { return (float) atan2_f64(a, b); }`, "atan2_f64"),
  atan2_f64: fn(
    `extern "C" double atan2(double, double);\nINL double atan2_f64(double a, double b) { return atan2(a, b); }`,
  ),
  lgamma_f64: fn(`extern "C" double lgamma_r(double, int*);
INL double lgamma_f64(double x) { int sign; return lgamma_r(x, &sign); }`),
  // reflection below 0, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18)
  digamma_f64: fn(
    `static double digamma_f64(double x) {
  if (x == 0.0) return __builtin_copysign(__builtin_inf(), -x);
  if (x < 0.0) {
    if (x == __builtin_floor(x)) return __builtin_nan("");
    const double part = x - __builtin_rint(x);
    return digamma_f64(1.0 - x) - 3.141592653589793 / tan_f64(3.141592653589793 * part);
  }
  double r = 0.0;
  while (x < 10.0) r -= 1.0 / x, x += 1.0;
  const double z = 1.0 / (x * x);
  const double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return r + log_f64(x) - 0.5 / x - series;
}`,
    "tan_f64",
    "log_f64",
  ),
  fmod: fn(`extern "C" float fmodf(float, float);\nextern "C" double fmod(double, double);
INL float floor_mod_f32(float a, float b) { const float r = fmodf(a, b); return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r; }
INL double floor_mod_f64(double a, double b) { const double r = fmod(a, b); return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r; }`),
  // by zero gives zero; the quotient of the least integer and −1 wraps
  integers: fn(`#define INTEGER_FUNCTIONS(T, S) \\
  INL T trunc_div_##S(T a, T b) { const T d = b == (T) 0 ? (T) 1 : b; return b == (T) 0 ? (T) 0 : (T) -1 < 0 && d == (T) -1 ? (T) (0 - (unsigned long) a) : (T) (a / d); } \\
  INL T trunc_mod_##S(T a, T b) { return (T) ((unsigned long) a - (unsigned long) trunc_div_##S(a, b) * (unsigned long) b) * (T) (b != (T) 0); } \\
  INL T floor_mod_##S(T a, T b) { const T r = trunc_mod_##S(a, b); return (T) (r != 0 && (r < 0) != (b < 0) ? r + b : r); } \\
  INL T floor_div_##S(T a, T b) { const T q = trunc_div_##S(a, b), r = trunc_mod_##S(a, b); return (T) (r != 0 && (r < 0) != (b < 0) ? q - 1 : q); } \\
  INL T shl_##S(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) (a << (b & (w - 1))) : (T) 0; } \\
  INL T shr_##S(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) (a >> (b & (w - 1))) : (T) (a < 0 ? -1 : 0); } \\
  INL T pow_##S(T a, T b) { T r = 1, e = b, x = a; if (b < 0) return a == (T) 1 ? (T) 1 : a == (T) -1 ? (b & 1 ? (T) -1 : (T) 1) : (T) 0; \\
    while (e > 0) { if (e & 1) r = (T) ((unsigned long) r * (unsigned long) x); x = (T) ((unsigned long) x * (unsigned long) x); e = (T) (e >> 1); } return r; }
INTEGER_FUNCTIONS(long, i64)
INTEGER_FUNCTIONS(int, i32)
INTEGER_FUNCTIONS(unsigned char, u8)`),
  // Philox 4×32-10 (Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3"), first word
  random: fn(`INL int philox(int key0, int key1, int counter) {
  unsigned c0 = (unsigned) counter, c1 = 0, c2 = 0, c3 = 0, k0 = (unsigned) key0, k1 = (unsigned) key1;
  _Pragma("GCC unroll 10") for (int round = 0; round < 10; round++) {
    const unsigned long p0 = (unsigned long) c0 * 0xD2511F53u, p1 = (unsigned long) c2 * 0xCD9E8D57u;
    c0 = (unsigned) (p1 >> 32) ^ c1 ^ k0; c1 = (unsigned) p1;
    c2 = (unsigned) (p0 >> 32) ^ c3 ^ k1; c3 = (unsigned) p0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  return (int) c0;
}`),
  erfc_f64: library("erfc"),
  ...Object.fromEntries(
    [
      "exp",
      "exp2",
      "expm1",
      "log",
      "log2",
      "log10",
      "log1p",
      "sin",
      "cos",
      "tan",
      "asin",
      "acos",
      "atan",
      "sinh",
      "cosh",
    ]
      .concat(["tanh", "asinh", "acosh", "atanh", "erf"]).map((name) => [`${name}_f64`, library(name)]),
  ),
  ...Object.fromEntries(
    ["asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc", "lgamma", "digamma"]
      .map((name) => [`${name}_f32`, viaDouble(name)]),
  ),
};

/** Whether there is a function of this name. */
export function isMathFunction(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name);
}

/** The text of these functions and of all they need, each once, in an order that compiles. */
export function mathText(names: Iterable<string>): string {
  const done = new Set<string>();
  const parts: string[] = [];
  const add = (name: string): void => {
    const found = FUNCTIONS[name];
    if (found === undefined || done.has(name)) return;
    done.add(name);
    found.needs.forEach(add);
    parts.push(found.text);
  };
  for (const name of [...names].sort()) add(name);
  return parts.join("\n");
}
