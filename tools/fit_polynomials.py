"""Fits the polynomials of lib/loops/math: prints coefficients and the largest error, as a power of two.

Usage: python fit_polynomials.py [part of a name ...] (needs mpmath).

Minimax by Remez' exchange in 80 digits. Coefficients are rounded to the type one after the other, each time fitting
the rest anew; of the candidates that this makes the best one is taken. `weight` times the error of the polynomial is
the error of the result that counts: relative to the function unless a comment says otherwise.
"""
import sys

import mpmath as m
from mpmath import mp, mpf

mp.dps = 80
TINY = mpf(10) ** -25


def rounded(x, digits):
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, digits)), int(exponent) - digits)


def value(coefficients, x):
    return m.polyval(list(reversed(coefficients)), x)


def remez(f, weight, low, high, powers):
    """The coefficients of these powers of x that make the largest weighted error least, and that error."""
    count, size = len(powers), 40 * (len(powers) + 1)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / size) for i in range(size + 1)]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    places = [round(i * size / count) for i in range(count + 1)]
    for _ in range(30):
        rows = [[grid[i] ** p * weights[i] for p in powers] + [(-1) ** r] for r, i in enumerate(places)]
        solution = m.lu_solve(m.matrix(rows), m.matrix([values[i] * weights[i] for i in places]))
        coefficients = [solution[k] for k in range(count)]
        errors = [
            w * (sum(c * x ** p for c, p in zip(coefficients, powers)) - v) for x, v, w in zip(grid, values, weights)
        ]
        extremes = []
        for i, error in enumerate(errors):
            if extremes and (errors[extremes[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        if len(extremes) <= count or extremes == places:
            break
        places = extremes
    return coefficients, max(abs(error) for error in errors)


def fit(f, weight, low, high, count, digits, fixed):
    """`count` coefficients of which the first are fixed."""
    low, high, done, candidates = mpf(low), mpf(high), [mpf(c) for c in fixed], []
    size = lambda x: abs(weight(x))
    grid = [low + (high - low) * i / 1500 for i in range(1501)]
    table = [(x, f(x), size(x)) for x in grid]
    error = lambda c: max(w * abs(value(c, x) - v) for x, v, w in table)
    while len(done) < count:
        try:
            rest, _ = remez(lambda x: f(x) - value(done or [0], x), size, low, high, range(len(done), count))
        except ZeroDivisionError:
            break
        candidates.append(done + [rounded(c, digits) for c in rest])
        done = done + [rounded(rest[0], digits)]
    best = min(candidates, key=error)
    return best, error(best)


def odd(f):
    """(f(x)/x − 1)/x² as a function of z = x², with the weight that makes errors those of f, and f's argument of z."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / f(mp.sqrt(z))


def at_zero(f, limit):
    return lambda x: limit(x) if abs(x) < TINY else f(x)


HALF_LN2, QUARTER_PI = mp.log(2) / 2 * mpf("1.001"), mp.pi / 4 * mpf("1.01")
LOG_S = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.001")
LEAST = mpf(10) ** -9
ONE = lambda x: mpf(1)
EXP = at_zero(lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: mpf(1) / 2 + r / 6)
EXP2 = at_zero(lambda f: (mpf(2) ** f - 1) / f, lambda f: mp.log(2))
LOG = at_zero(lambda f: (mp.log1p(f) - f) / f ** 2, lambda f: -mpf(1) / 2 + f / 3)
RELATIVE_EXPM1 = lambda r: r ** 2 / mp.expm1(r) if r else mpf(0)


def erfc_scaled(t):
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def stirling(w):
    x = 1 / mp.sqrt(w)
    return (mp.loggamma(x) - ((x - mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def digamma_rest(w):
    x = 1 / mp.sqrt(w)
    return (mp.digamma(x) - mp.log(x) + 1 / (2 * x)) * x * x


SIN, COS, TAN, ASIN, ATAN = odd(mp.sin), lambda z: (mp.cos(mp.sqrt(z)) - 1) / z, odd(mp.tan), odd(mp.asin), odd(mp.atan)
SINH, TANH = odd(mp.sinh), odd(mp.tanh)
ERF = (lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, ONE)
LGAMMA = at_zero(lambda z: mp.loggamma(2 + z) / z, lambda z: 1 - mp.euler + z * (mp.zeta(2) - 1) / 2)
LOG_POW = lambda z: (2 * mp.atanh(mp.sqrt(z)) - 2 * mp.sqrt(z) - 2 * mp.sqrt(z) ** 3 / 3) / mp.sqrt(z) ** 5
BITS = {32: 24, 64: 53}
# name, bits of the type, function and weight, interval, number of coefficients, those that are fixed
POLYNOMIALS = [
    ("exp", 32, (EXP, lambda r: r ** 2 / mp.exp(r)), (-HALF_LN2, HALF_LN2), 5),
    ("expm1", 32, (EXP, RELATIVE_EXPM1), (-HALF_LN2, HALF_LN2), 6),
    ("exp", 64, (EXP, RELATIVE_EXPM1), (-HALF_LN2, HALF_LN2), 10),
    ("expm1", 64, (EXP, RELATIVE_EXPM1), (-HALF_LN2, HALF_LN2), 11),
    ("exp2", 32, (EXP2, lambda f: f), (-0.5001, 0.5001), 6),
    ("exp2", 64, (EXP2, lambda f: f), (-0.5001, 0.5001), 11),
    ("log", 32, (LOG, lambda f: f ** 2 / mp.log1p(f) if f else mpf(0)), (-mpf(1) / 3, mpf(1) / 3), 9),
    ("log", 64, (lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, lambda z: z), (LEAST, LOG_S), 7),
    ("pow log", 64, (LOG_POW, lambda z: z * z), (LEAST, LOG_S), 7),
    ("pow log2", 64, (lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / mp.log(2), ONE), (LEAST, 0.0401), 6),
    ("pow exp2", 64, (lambda f: mpf(2) ** f, lambda f: mpf(2) ** -f), (-0.5001, 0.5001), 7),
    ("sin", 32, SIN, (LEAST, QUARTER_PI ** 2), 3),
    ("sin", 64, SIN, (LEAST, QUARTER_PI ** 2), 6),
    ("cos", 32, (COS, lambda z: z), (LEAST, QUARTER_PI ** 2), 4, (-0.5,)),
    ("cos", 64, (COS, lambda z: z), (LEAST, QUARTER_PI ** 2), 7, (-0.5,)),
    ("tan", 32, TAN, (LEAST, QUARTER_PI ** 2), 7),
    ("tan", 64, TAN, (LEAST, QUARTER_PI ** 2), 14),
    ("asin", 32, ASIN, (LEAST, 0.2501), 5),
    ("asin", 64, ASIN, (LEAST, 0.2501), 13),
    ("atan", 32, ATAN, (LEAST, 0.1916), 5),
    ("atan", 64, ATAN, (LEAST, 0.1916), 11),
    ("sinh", 32, SINH, (LEAST, 1.0001), 4),
    ("sinh", 64, SINH, (LEAST, 1.0001), 7),
    ("tanh", 32, TANH, (LEAST, 0.8102), 7),
    ("tanh", 64, TANH, (LEAST, 0.8102), 14),
    ("erf near", 32, ERF, (LEAST, 1), 7),
    ("erf near", 64, ERF, (LEAST, mpf("0.7225")), 11),
    ("erf far", 32, (lambda x: -mp.log(mp.erfc(x)), mp.erfc), (1, 4), 7),
    ("erfc far", 64, (erfc_scaled, ONE), (mpf("-3.2") / mpf("4.8"), mpf(24) / 32), 21),
    ("lgamma near 2", 64, (LGAMMA, ONE), (-0.5001, 0.5), 18),
    ("lgamma from 8", 64, (stirling, ONE), (mpf(10) ** -6, mpf(1) / 64), 7),
    ("digamma from 4", 64, (digamma_rest, lambda w: w), (mpf(10) ** -6, mpf(1) / 16), 10),
]

for name, bits, (f, weight), (low, high), count, *fixed in POLYNOMIALS:
    if len(sys.argv) == 1 or any(part in name for part in sys.argv[1:]):
        found, error = fit(f, weight, low, high, count, BITS[bits], fixed[0] if fixed else ())
        print(f"{name}, float{bits}: 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(repr(float(c)) for c in found), flush=True)
