"""Makes tables.json: what scalar functions give, to well below the last place of float32 and float64.

Usage: python make_tables.py > tables.json (needs mpmath, and PyTorch for special cases).

Each entry is one string of records in hexadecimal: the bits of the arguments, the bits of the result rounded to
nearest, and a byte that says where the exact value lies: (byte - 128) / 254 units in the last place above the result.
Values come from mpmath in 60 digits and more. Arguments and results that are zero, infinite or no number follow
PyTorch, that is C99. Arguments are specials, both sides of the borders at which the bodies change their method, what
lies near zeros and multiples of pi/2, and random ones from a fixed seed.
"""
import json
import math
import random
import struct
import sys

import torch
from mpmath import mp, mpf

mp.dps = 60
RANDOM = random.Random(1983)


class Type:
    def __init__(self, name, digits, least, code, bits):
        self.name, self.digits, self.least, self.code, self.bits = name, digits, least, code, bits

    def to_bits(self, x):
        return struct.unpack(">" + self.bits, struct.pack(">" + self.code, x))[0]

    def of_bits(self, b):
        return struct.unpack(">" + self.code, struct.pack(">" + self.bits, b))[0]

    def round(self, x):
        """The float nearest to a float64."""
        if self.digits == 53:
            return x
        return self.of_bits(self.to_bits(x)) if abs(x) <= 3.4028235677973366e38 or x != x or x in (INF, -INF) else x * INF

    def step(self, x, n):
        """The float n places above |x|, with the sign of x."""
        b = self.to_bits(abs(x)) + n
        return -self.of_bits(b) if x < 0 else self.of_bits(b)

    def hex(self, x):
        return format(self.to_bits(x), "016x" if self.digits == 53 else "08x")


INF, NAN = float("inf"), float("nan")
F32 = Type("f32", 24, -149, "f", "I")
F64 = Type("f64", 53, -1074, "d", "Q")
F32.max, F64.max = F32.of_bits(0x7F7FFFFF), sys.float_info.max
LOW = {"f32": 2.0 ** -126, "f64": 2.0 ** -1022}


def record(t, exact):
    """The nearest float and the byte of the exact value; None where it is too near overflow to judge."""
    if exact == 0:
        return 0.0, 128
    m, e = mp.frexp(exact)
    unit = max(int(e) - t.digits, t.least)
    scaled = mp.ldexp(exact, -unit)
    whole = mp.nint(scaled)
    overflow = mp.ldexp(1, 128 if t is F32 else 1024)
    if abs(exact) > overflow * (1 - mpf(2) ** (3 - t.digits)):
        return (None, 0) if abs(exact) < overflow * (1 + mpf(2) ** -10) else (INF if exact > 0 else -INF, 128)
    nearest = float(mp.ldexp(whole, unit))
    if nearest == 0 and exact < 0:
        nearest = -0.0
    return nearest, int(mp.nint((scaled - whole) * 254)) + 128


def log_uniform(low, high):
    return 2.0 ** RANDOM.uniform(math.log2(low), math.log2(high))


def specials(t):
    few = [0.0, t.of_bits(1), t.of_bits(3), LOW[t.name], t.step(LOW[t.name], -1), t.step(LOW[t.name], 1), t.max, t.step(t.max, -1)]
    few += [1.0, t.step(1.0, 1), t.step(1.0, -1), 0.5, 2.0, 3.0, 10.0, 100.0, INF]
    return few + [-x for x in few] + [NAN]


def spread(t, low, high, count, both=True):
    """Random magnitudes, and random numbers of the interval."""
    values = [t.round(RANDOM.uniform(low, high)) for _ in range(count)]
    top = max(abs(low), abs(high))
    values += [t.round(log_uniform(top * 2.0 ** -60, top) * (RANDOM.choice((1, -1)) if low < 0 else 1)) for _ in range(count // 2)]
    values += [t.round(log_uniform(LOW[t.name], t.max) * (RANDOM.choice((1, -1)) if both else 1)) for _ in range(count // 6)]
    return values


def around(t, *borders):
    return [t.step(t.round(b), n) for b in borders for n in (-1, 0, 1)]


def near_quarter_turns(t):
    values = []
    for top in (20, 2 ** 12, 2 ** 17, 2 ** 30, 2.0 ** 60, 2.0 ** 120):
        for _ in range(9):
            n = RANDOM.randint(1, int(top))
            values += around(t, float(n * mp.pi / 2))[:: RANDOM.choice((1, 2))]
    # The arguments that come nearest to a multiple of pi/2
    values += [16367173.0 * 2.0 ** 72] if t is F32 else [6381956970095103.0 * 2.0 ** 797]
    values += [t.round(log_uniform(1, t.max)) for _ in range(60)]
    return values + [-x for x in values[:20]] + around(t, 2.0 ** 17, 2.0 ** 30, 0.78539816339)


def odd_precision(x):
    """Digits that differences of nearly equal terms leave enough of."""
    return 60 if x == 0 else 60 + 2 * abs(int(mp.log10(abs(x))))


def precise(f):
    def wide(*args):
        with mp.workdps(min(1400, max(odd_precision(x) for x in args))):
            return +f(*args)
    return wide


def erf(x):
    return mp.erf(x) if abs(x) < 50 else mp.sign(x) * (1 - mpf(10) ** -50)


def erfc(x):
    return mp.erfc(x) if abs(x) < 50 else mpf(10) ** -5000 if x > 0 else 2 - mpf(10) ** -50


def lgamma(x):
    return mp.log(abs(mp.gamma(x))) if abs(x) < 1e4 else mp.loggamma(x) if x > 0 else mp.log(mp.pi / abs(x * mp.sinpi(x))) - mp.loggamma(-x)


UNARY = {
    # name: (value, special cases, random intervals, borders)
    "rsqrt": (lambda x: 1 / mp.sqrt(x), torch.rsqrt, [(0, 10)], []),
    "exp": (mp.exp, torch.exp, [(-110, 90), (-750, 712), (-1, 1)], [-104, -83.2, -87.336, 88.7228, -745.13, -596.8, 709.78, 0.34657359, 1.0397]),
    "exp2": (lambda x: mpf(2) ** x, torch.exp2, [(-152, 129), (-1080, 1026), (-1, 1)], [-149, -120.8, -126, 127.5, -1074, -1022, -860.8, 1023.5, 0.5]),
    "expm1": (mp.expm1, torch.expm1, [(-45, 90), (-2, 2), (0, 712)], [-18, -40, 17, 88.7228, 709.78, 0.34657359, 1.0397, 2.0 ** -25, 2.0 ** -54]),
    "log": (mp.log, torch.log, [(0, 4), (0.9, 1.1)], [2 / 3, 4 / 3, 0.5 ** 0.5, 2 ** 0.5]),
    "log2": (lambda x: mp.log(x, 2), torch.log2, [(0, 4), (0.9, 1.1)], [2 / 3, 4 / 3, 0.5 ** 0.5, 2 ** 0.5, 8, 1024]),
    "log10": (mp.log10, torch.log10, [(0, 4), (0.9, 1.1)], [2 / 3, 4 / 3, 0.5 ** 0.5, 2 ** 0.5, 1000, 1e9]),
    "log1p": (mp.log1p, torch.log1p, [(-1, 4), (-0.1, 0.1)], [-1 / 3, 1 / 3, 0.5 ** 0.5 - 1, 2 ** 0.5 - 1, 2.0 ** 27, 2.0 ** 56]),
    "sin": (mp.sin, torch.sin, [(-10, 10), (-1e5, 1e5)], near_quarter_turns),
    "cos": (mp.cos, torch.cos, [(-10, 10), (-1e5, 1e5)], near_quarter_turns),
    "tan": (mp.tan, torch.tan, [(-10, 10), (-1e5, 1e5)], near_quarter_turns),
    "asin": (mp.asin, torch.asin, [(-1, 1)], [0.5, -0.5]),
    "acos": (mp.acos, torch.acos, [(-1, 1)], [0.5, -0.5]),
    "atan": (mp.atan, torch.atan, [(-4, 4), (-100, 100)], [7 / 16, 11 / 16, 19 / 16, 39 / 16, 2.0 ** 27, 2.0 ** 56]),
    "sinh": (mp.sinh, torch.sinh, [(-3, 3), (-90, 90), (-712, 712)], [1, 89.4, 710.4]),
    "cosh": (mp.cosh, torch.cosh, [(-3, 3), (-90, 90), (-712, 712)], [0.34657359, 1.0397, 89.4, 710.4]),
    "tanh": (mp.tanh, torch.tanh, [(-3, 3), (-25, 25)], [0.9, 9.5, 22, -0.9]),
    "asinh": (mp.asinh, torch.asinh, [(-3, 3), (-100, 100)], [0.75, 2.0 ** 27, 2.0 ** 56]),
    "acosh": (mp.acosh, torch.acosh, [(1, 2), (1, 100)], [2.0 ** 27, 2.0 ** 56]),
    "atanh": (mp.atanh, torch.atanh, [(-1, 1)], [0.5, 1 / 7]),
    "erf": (erf, torch.erf, [(-1.5, 1.5), (-6, 6)], [1, 4, 0.85, 5.9]),
    "erfc": (erfc, torch.erfc, [(-6, 10), (0, 28)], [0.85, 9.2, 10.05, 26.5, 27.2, 28]),
    "lgamma": (lgamma, torch.lgamma, [(0, 9), (-10, 0), (0, 1000), (0.9, 2.1)], [0.5, 1.5, 2.5, 3.5, 8, 2]),
    "digamma": (mp.digamma, torch.digamma, [(0, 9), (-10, 0), (0, 1000)], [3, 4, 1.4616321449683622, 1]),
}


def special_value(t, f, args):
    return float(f(*[torch.tensor(x, dtype=torch.float64) for x in args]))


def is_special(x):
    return x == 0 or x != x or abs(x) == INF


def evaluate(t, value, special, args):
    """(result, byte) of a function, or None."""
    if any(is_special(x) for x in args):
        return t.round(special_value(t, special, args)), 128
    expected = special_value(t, special, args)
    if expected != expected or (abs(expected) == INF and any(x == int(x) and x < 0 for x in args)):
        return expected, 128
    exact = value(*[mpf(x) for x in args])
    if not mp.isfinite(exact):
        return expected, 128
    nearest, byte = record(t, exact)
    return None if nearest is None else (nearest, byte)


def table(t, value, special, rows):
    parts = []
    for row in rows:
        args = tuple(t.round(x) for x in row)
        found = evaluate(t, value, special, args)
        if found:
            result = NAN if found[0] != found[0] else found[0]
            parts.append("".join(t.hex(x) for x in args) + t.hex(result) + format(found[1], "02x"))
    return "".join(parts)


def unary_rows(t, intervals, borders):
    values = specials(t) + (borders(t) if callable(borders) else around(t, *borders))
    for low, high in intervals:
        values += spread(t, low, high, 110 // len(intervals), low < 0)
    return [(x,) for x in values]


def pow_value(x, y):
    if x < 0:
        assert y == int(y)
        r = mp.power(-x, y)
        return -r if int(y) % 2 else r
    return mp.power(x, y)


def pow_rows(t):
    few = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.0, 3.0, 0.5, -0.5, t.of_bits(1), -t.of_bits(1), t.max, -t.max, 5e15, -3.0]
    rows = [(x, y) for x in few for y in few]
    for _ in range(120):
        x = t.round(log_uniform(1e-6, 1e6))
        rows.append((x, t.round(RANDOM.uniform(-20, 20))))
        x = t.round(1 + RANDOM.uniform(-1, 1) * 2.0 ** -RANDOM.randint(1, 20))
        if x > 0 and x != 1:
            rows.append((x, t.round(RANDOM.uniform(-1, 1) * 80 / math.log(x))))
        x = t.round(log_uniform(LOW[t.name], t.max))
        rows.append((x, t.round(RANDOM.uniform(-1, 1) * (700 if t is F64 else 85) / math.log(x))))
        rows.append((-t.round(RANDOM.uniform(0, 10)), float(RANDOM.randint(-30, 30))))
    return rows


def atan2_rows(t):
    few = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, t.of_bits(1), -t.of_bits(1), t.max, -t.max, LOW[t.name]]
    rows = [(y, x) for x in few for y in few]
    for _ in range(80):
        rows.append((t.round(RANDOM.uniform(-3, 3)), t.round(RANDOM.uniform(-3, 3))))
        rows.append((t.round(log_uniform(LOW[t.name], t.max)), -t.round(log_uniform(LOW[t.name], t.max))))
        x = t.round(log_uniform(LOW[t.name], t.max) * 2.0 ** -8)
        rows.append((t.round(x * RANDOM.choice((7 / 16, 11 / 16, 19 / 16, 39 / 16, 2.0 ** -9)) * (1 + RANDOM.uniform(-1, 1) * 2.0 ** -20)), x))
    return rows


def main():
    out = {}
    for t in (F32, F64):
        for name, (value, special, intervals, borders) in UNARY.items():
            print(name, t.name, file=sys.stderr)
            out[name + "_" + t.name] = table(t, precise(value), special, unary_rows(t, intervals, borders))
        out["pow_" + t.name] = table(t, pow_value, torch.pow, pow_rows(t))
        out["atan2_" + t.name] = table(t, precise(lambda y, x: mp.atan2(y, x)), torch.atan2, atan2_rows(t))
    json.dump(out, sys.stdout, indent=0)
    print()


main()
