"""Fits the Chebyshev series of lib/ops/special/bessel_series.ts and prints that file.

Usage: python fit_bessel.py (needs mpmath).

Each function is interpolated at Chebyshev nodes in 50 digits, in a variable y of [-2, 2] that the functions in bessel.ts
make of x; terms below 2^-58 of the greatest are left out.
"""
from mpmath import mp, mpf
import mpmath as m

mp.dps = 50
NODES = 96


def zeta_of(x):
    return mpf(2) / 3 * mpf(x) ** mpf("1.5")



def series(f):
    """Coefficients of f over y in [-2, 2], highest first, the last one doubled: what Clenshaw's rule takes."""
    angles = [mp.pi * (k + mpf(1) / 2) / NODES for k in range(NODES)]
    values = [f(2 * mp.cos(a)) for a in angles]
    found = [2 * sum(v * mp.cos(j * a) for v, a in zip(values, angles)) / NODES for j in range(NODES)]
    least = max(abs(c) for c in found) * mpf(2) ** -58
    last = max(j for j in range(NODES) if abs(found[j]) > least)
    return [float(c) for c in reversed(found[: last + 1])]


def small(f):
    """Of x in [0, 8], y = x^2 / 16 - 2."""
    return lambda y: f(mp.sqrt(16 * (y + 2)))


def large(f):
    """Of x from 8 on, y = 256 / x^2 - 2."""
    return lambda y: f(mp.sqrt(256 / (y + 2)))


def below_two(f):
    """Of x in [0, 2], y = x^2 - 2."""
    return lambda y: f(mp.sqrt(y + 2))


def beyond_two(f):
    """Of x from 2 on, y = 8 / x - 2."""
    return lambda y: f(8 / (y + 2))


def phase(order, x):
    return x - (2 * order + 1) * mp.pi / 4


def in_phase(order):
    return lambda x: mp.sqrt(mp.pi * x / 2) * (
        m.besselj(order, x) * mp.cos(phase(order, x)) + m.bessely(order, x) * mp.sin(phase(order, x)))


def out_of_phase(order):
    return lambda x: x * mp.sqrt(mp.pi * x / 2) * (
        m.bessely(order, x) * mp.cos(phase(order, x)) - m.besselj(order, x) * mp.sin(phase(order, x)))


def decaying(y):
    """Of y = 4 zeta(2) / zeta - 2."""
    zeta = 4 * zeta_of(2) / (y + 2)
    x = (zeta * 3 / 2) ** (mpf(2) / 3)
    return m.airyai(x) * 2 * mp.sqrt(mp.pi) * x ** (mpf(1) / 4) * mp.exp(zeta)


def waves(y):
    """zeta, Ai and Bi over their size, and the angle, of y = 4 (zeta(4) / zeta)^2 - 2."""
    zeta = 2 * zeta_of(4) / mp.sqrt(y + 2)
    z = (zeta * 3 / 2) ** (mpf(2) / 3)
    size = mp.sqrt(mp.pi) * z ** (mpf(1) / 4)
    return zeta, m.airyai(-z) * size, m.airybi(-z) * size, zeta + mp.pi / 4


def wave_in_phase(y):
    _, ai, bi, angle = waves(y)
    return ai * mp.sin(angle) + bi * mp.cos(angle)


def wave_out_of_phase(y):
    zeta, ai, bi, angle = waves(y)
    return zeta * (bi * mp.sin(angle) - ai * mp.cos(angle))


SERIES = [
    ("J0", "J₀(x), y = x²/16 − 2", small(lambda x: m.besselj(0, x))),
    ("J1", "J₁(x)/x, y = x²/16 − 2", small(lambda x: m.besselj(1, x) / x)),
    ("Y0", "Y₀(x) − (2/π)·log x·J₀(x), y = x²/16 − 2",
     small(lambda x: m.bessely(0, x) - 2 / mp.pi * mp.log(x) * m.besselj(0, x))),
    ("Y1", "(Y₁(x) − (2/π)·(log x·J₁(x) − 1/x))/x, y = x²/16 − 2",
     small(lambda x: (m.bessely(1, x) - 2 / mp.pi * (mp.log(x) * m.besselj(1, x) - 1 / x)) / x)),
    ("P0", "√(πx/2)·(J₀(x)·cos χ + Y₀(x)·sin χ), χ = x − π/4, y = 256/x² − 2", large(in_phase(0))),
    ("Q0", "x·√(πx/2)·(Y₀(x)·cos χ − J₀(x)·sin χ), χ = x − π/4, y = 256/x² − 2", large(out_of_phase(0))),
    ("P1", "√(πx/2)·(J₁(x)·cos χ + Y₁(x)·sin χ), χ = x − 3π/4, y = 256/x² − 2", large(in_phase(1))),
    ("Q1", "x·√(πx/2)·(Y₁(x)·cos χ − J₁(x)·sin χ), χ = x − 3π/4, y = 256/x² − 2", large(out_of_phase(1))),
    ("K0_LOW", "K₀(x) + log(x/2)·I₀(x), y = x² − 2",
     below_two(lambda x: m.besselk(0, x) + mp.log(x / 2) * m.besseli(0, x))),
    ("K1_LOW", "x·(K₁(x) − log(x/2)·I₁(x)), y = x² − 2",
     below_two(lambda x: x * (m.besselk(1, x) - mp.log(x / 2) * m.besseli(1, x)))),
    ("K0_HIGH", "eˣ·√x·K₀(x), y = 8/x − 2", beyond_two(lambda x: mp.exp(x) * mp.sqrt(x) * m.besselk(0, x))),
    ("K1_HIGH", "eˣ·√x·K₁(x), y = 8/x − 2", beyond_two(lambda x: mp.exp(x) * mp.sqrt(x) * m.besselk(1, x))),
    ("AIRY_NEAR", "Ai(x) of x in [−4, 2], y = ⅔·(x + 1)", lambda y: m.airyai(mpf(3) / 2 * y - 1)),
    ("AIRY_DECAYING", "Ai(x)·2√π·x^¼·e^ζ, ζ = ⅔·x^(3/2), y = 4·ζ(2)/ζ − 2", decaying),
    ("AIRY_IN_PHASE", "√π·z^¼·(Ai(−z)·sin θ + Bi(−z)·cos θ), θ = ζ + π/4, y = 4·(ζ(4)/ζ)² − 2", wave_in_phase),
    ("AIRY_OUT_OF_PHASE", "ζ·√π·z^¼·(Bi(−z)·sin θ − Ai(−z)·cos θ), θ = ζ + π/4, y = 4·(ζ(4)/ζ)² − 2",
     wave_out_of_phase),
]

print("""/**
 * Chebyshev series of Bessel and Airy functions over y in [−2, 2], made by tools/fit_bessel.py: coefficients from the
 * highest to twice the constant.
 */
""")
for name, meaning, f in SERIES:
    print(f"/** {meaning}. */\nexport const {name}: readonly number[] = [")
    for c in series(f):
        print(f"  {c!r},")
    print("];\n")
