"""Writes tests/data/complex.jsonl.gz: calls with complex numbers and what PyTorch gives for them, gradients included.

Tensors are described by shape, type and a seed (`elements` below, and in tests/complex_test.ts) or by their values, so
that the file holds results alone. Run: python make_data.py > ../data/complex.jsonl.gz
"""
import gzip
import json
import math
import sys

import torch

C, R = "complex128", "float64"


def elements(count, seed, bend=0.0):
    """Numbers in (-1.5, 1.5) that both languages compute alike."""
    return [1.5 * math.sin(1.7 * k + bend * k * k + 0.6 * seed + 0.3) for k in range(count)]


def t(*shape, dtype=C, seed=1, scale=1.0, shift=0.0):
    return {"shape": list(shape), "dtype": dtype, "seed": seed, "scale": scale, "shift": shift}


def m(*shape, **how):
    """Matrices of full rank, which samples of a sine have not."""
    return {**t(*shape, **how), "bend": 0.9}


def v(values, dtype=C):
    return {"values": values, "dtype": dtype}


def tensor(spec):
    dtype = getattr(torch, spec["dtype"])
    if "values" in spec:
        values = [complex(*x) if isinstance(x, list) else x for x in spec["values"]]
        return torch.tensor(values, dtype=dtype)
    count = math.prod(spec["shape"])
    pairs = dtype.is_complex
    flat = elements(count * (2 if pairs else 1), spec["seed"], spec.get("bend", 0.0))
    flat = [x * spec["scale"] + spec["shift"] for x in flat]
    if pairs:
        flat = [complex(flat[2 * k], flat[2 * k + 1]) for k in range(count)]
    return torch.tensor(flat, dtype=dtype).reshape(spec["shape"])


def is_spec(x):
    return isinstance(x, dict) and "dtype" in x


def convert(x):
    if is_spec(x):
        return tensor(x)
    if isinstance(x, dict) and "re" in x:
        return complex(x["re"], x["im"])
    if isinstance(x, list):
        return [convert(each) for each in x]
    return x


def number(x):
    x = float(x)
    return x if math.isfinite(x) and x == 0 else float(f"{x:.13g}") if math.isfinite(x) else str(x)


def flat(x):
    x = x.detach().resolve_conj()
    if x.is_complex():
        x = torch.view_as_real(x)
    return [number(each) for each in x.reshape(-1).tolist()] if x.dtype != torch.bool else x.reshape(-1).int().tolist()


def shown(x):
    return {"shape": list(x.shape), "dtype": str(x.dtype).removeprefix("torch."), "data": flat(x)}


def find(name):
    at = torch
    for part in name.split("."):
        at = getattr(at, part)
    return at


PROGRAMS = {
    "slices": lambda x: x[1:, ::2],
    "picked": lambda x: x[torch.tensor([1, 0, 1]), 1],
    "masked": lambda x: x[x.abs() > 1],
    "H": lambda x: x.H,
    "written": lambda x, y: written(x, y),
    "filled": lambda x: x.clone().fill_(2 - 1j),
    "scaled": lambda x, y: (x * y).abs().sum().add(1).log() * x.real,
    # Hermitian and positive definite matrices; results that do not depend on the phase of vectors
    "positive_cholesky": lambda x: torch.linalg.cholesky(positive(x)),
    "positive_upper": lambda x: torch.linalg.cholesky(positive(x), upper=True),
    "positive_solution": lambda x, y: torch.cholesky_solve(y, torch.linalg.cholesky(positive(x))),
    "positive_inverse": lambda x: torch.cholesky_inverse(torch.linalg.cholesky(positive(x))),
    "positive_roots": lambda x: torch.linalg.matrix_sqrth(positive(x)),
    "hermitian_function": lambda x: function_of(*torch.linalg.eigh(x + x.mH)),
    "hermitian_values": lambda x: torch.linalg.eigvalsh(x + x.mH),
    "hermitian_inverse": lambda x: torch.linalg.pinv(x + x.mH, hermitian=True),
    "singular_function": lambda x: singular_function(*torch.linalg.svd(x, full_matrices=False)),
}


def positive(x):
    return x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype)


def function_of(values, vectors):
    return (vectors * values.sin().unsqueeze(-2)) @ vectors.mH + vectors.abs()


def singular_function(u, values, vh):
    return (u * values.exp().unsqueeze(-2)) @ vh + u.abs().sum() + (vh.abs() ** 3).sum()


def written(x, y):
    z = x * 1
    z[0] = y
    z[:, 1] *= 2j
    z.add_(y)
    return z


rows = []


def leaves(x, found):
    if isinstance(x, torch.Tensor):
        if x.is_floating_point() or x.is_complex():
            found.append(x.requires_grad_())
    elif isinstance(x, list):
        for each in x:
            leaves(each, found)
    return found


def add(op, *args, grad=True, **kw):
    given = [convert(x) for x in args]
    options = {k: convert(x) for k, x in kw.items()}
    inputs = leaves([*given, *options.values()], []) if grad else []
    try:
        fn = PROGRAMS[op] if op in PROGRAMS else find(op)
        if "dtype" in options:
            options["dtype"] = getattr(torch, options["dtype"])
        out = fn(*given, **options)
    except Exception as error:  # noqa: BLE001
        sys.stderr.write(f"{op} {args} {kw}: {error}\n")
        return
    row = {"op": op, "args": list(args), **({"kw": kw} if kw else {})}
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    row["out"] = [shown(x) for x in outs]
    first = outs[0]
    if grad and first.requires_grad:
        tangent = tensor(t(*first.shape, dtype=str(first.dtype).removeprefix("torch."), seed=7))
        try:
            found = torch.autograd.grad(first, inputs, tangent, allow_unused=True)
            row["grads"] = [None if g is None else flat(g) for g in found]
        except RuntimeError as error:  # where(c, real, complex) has no gradient in PyTorch
            sys.stderr.write(f"gradient of {op}: {str(error)[:80]}\n")
    rows.append(row)


UNARY = ["neg", "abs", "angle", "sgn", "conj", "conj_physical", "real", "imag", "view_as_real", "exp", "exp2", "expm1", "log",
         "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh",
         "asin", "acos", "atan", "asinh", "acosh", "atanh", "sigmoid", "clone", "positive", "isreal", "isfinite", "logical_not"]
SPECIAL = [[0.0, 0.0], [1, 0], [-1, 0.5], [0, 1], [0, -1], [2, 0.0], [-2, 0.25], [0.25, -2], [1e-8, 1e-8], [30, 1], [-30, 2],
           [0.999999, 1e-9], [-3, -0.0], [-3, 0.0], [1e-3, -4e-4], [60, -60], [1e150, 1e150]]
for name in UNARY:
    add(name, t(2, 3))
    if name not in ("view_as_real", "clone", "positive", "real", "imag"):
        add(name, v(SPECIAL), grad=name in ("abs", "angle", "sgn", "exp", "sin", "sinh", "tanh"))
        add(name, t(3, dtype="complex64", seed=4), grad=False)

NUMBER = {"re": 0.5, "im": -1.5}
for name in ("add", "sub", "mul", "div"):
    for other in (t(2, 3, seed=2), t(3, seed=3), t(2, 1, dtype=R, seed=2), 2, -0.75, NUMBER, t(dtype=C, seed=5)):
        add(name, t(2, 3), other)
    add(name, t(2, 3, dtype=R), t(2, 3, seed=2))
    add(name, t(2, 3, dtype=R), NUMBER)
    add(name, t(3, dtype="float32"), NUMBER, grad=False)
    add(name, t(3, dtype="int64", scale=2), NUMBER, grad=False)
    add(name, t(3, dtype="complex64"), t(3, dtype=R, seed=2), grad=False)
    add(name, t(3, dtype="complex64"), t(dtype=R, seed=2), grad=False)
    add(name, t(3, dtype="float32"), t(dtype=C, seed=2), grad=False)
add("add", t(2), t(2, seed=2), alpha=2)
for exponent in (2, 3, -2, 0, 1, 0.5, 1.5, -0.5, NUMBER, t(2, 3, seed=3), t(2, 3, dtype=R, seed=3)):
    add("pow", t(2, 3), exponent)
add("pow", t(2, 3, dtype=R, shift=2), t(2, 3, seed=3))
add("pow", 2.5, t(2, 3))
add("pow", v([[0, 0], [0, 0]]), v([[1, 0], [2, 1]]), grad=False)
for name in ("eq", "ne"):
    add(name, v([[1, 2], [1, 0], [0, 2]]), v([[1, 2], [1, 1], [0, 3]]), grad=False)
    add(name, v([[1, 2], [1, 0], [0, 2]]), 1, grad=False)
add("isclose", v([[1, 2], [1, 0], [0, 2]]), v([[1, 2.000001], [1.1, 0], [0, 2]]), grad=False)
add("where", v([1, 0, 1], "bool"), t(3), t(3, seed=2))
add("where", v([1, 0, 1], "bool"), t(3, dtype=R), t(3, seed=2))
add("masked_fill", t(3), v([1, 0, 1], "bool"), 2)
add("addcmul", t(3), t(3, seed=2), t(3, seed=3), value=0.5)
add("addcdiv", t(3), t(3, seed=2), t(3, seed=3), value=0.5)
add("lerp", t(3), t(3, seed=2), t(3, seed=3))
for name in ("sum", "mean", "prod"):
    add(name, t(2, 3))
    add(name, t(2, 3), 1)
    add(name, t(2, 3, 5), 0, True)
add("sum", t(2, 3, dtype=R), dtype=C)
add("sum", t(2, 3, 2), [0, -1])
add("prod", v([[0, 0], [1, 2], [3, -1]]), 0)
for name in ("cumsum", "cumprod"):
    add(name, t(2, 5), 1)
    add(name, t(3, 2), 0)
for name in ("var", "std"):
    add(name, t(2, 5), 1)
add("linalg.vector_norm", t(2, 3))
add("linalg.vector_norm", t(2, 3), 1, 1)
add("norm", t(2, 3))
for name, a, b in (("mm", (2, 3), (3, 4)), ("bmm", (2, 2, 3), (2, 3, 2)), ("matmul", (2, 2, 3), (3, 2)), ("mv", (2, 3), (3,)),
                   ("dot", (4,), (4,)), ("vdot", (4,), (4,)), ("outer", (3,), (2,)), ("kron", (2, 2), (2, 1)),
                   ("inner", (2, 3), (4, 3)), ("linalg.vecdot", (2, 3), (2, 3))):
    add(name, t(*a), t(*b, seed=2))
add("einsum", "bij,bjk->ik", t(2, 2, 3), t(2, 3, 2, seed=2))
add("addmm", t(2, 2), t(2, 3, seed=2), t(3, 2, seed=3), beta=0.5, alpha=2)
add("trace", t(3, 3))
add("cat", [t(2, 3), t(1, 3, seed=2)])
add("cat", [t(2, 3), t(1, 3, dtype=R, seed=2)], 0)
add("stack", [t(3), t(3, seed=2)], 1)
add("permute", t(2, 3, 4), [2, 0, 1])
add("reshape", t(2, 3, 4), [4, -1])
add("transpose", t(2, 3), 0, 1)
add("squeeze", t(2, 1, 3), 1)
add("unsqueeze", t(2, 3), -1)
add("diagonal", t(3, 4), 1)
add("diag", t(3))
add("flip", t(2, 3), [1])
add("roll", t(2, 3), 1)
add("tril", t(3, 3))
add("index_select", t(4, 2), 0, v([2, 0, 2], "int64"))
add("index_add", t(4, 2), 0, v([2, 0, 2], "int64"), t(3, 2, seed=2))
add("tile", t(2, 2), [2, 1])
add("diff", t(5))
add("complex", t(2, 3, dtype=R), t(2, 3, dtype=R, seed=2))
add("polar", t(2, 3, dtype=R, shift=2), t(2, 3, dtype=R, seed=2))
add("view_as_complex", t(3, 2, dtype=R))
for name, args in (("slices", (t(3, 4),)), ("picked", (t(3, 4),)), ("masked", (t(3, 4),)), ("H", (t(3, 4),)),
                   ("written", (t(3, 4), t(4, seed=2))), ("filled", (t(3),)), ("scaled", (t(2, 3), t(2, 3, seed=2)))):
    add(name, *args)

for name in ("inv", "det", "slogdet", "matrix_exp", "pinv", "svdvals", "cond", "matrix_norm", "lu", "lu_factor", "qr"):
    add(f"linalg.{name}", m(2, 3, 3))
for name in ("pinv", "svdvals", "lu", "lu_factor", "qr", "matrix_rank", "cond"):
    add(f"linalg.{name}", m(4, 3), grad=name != "matrix_rank")
    add(f"linalg.{name}", m(2, 4), grad=name != "matrix_rank")
add("logdet", m(3, 3))
add("linalg.qr", m(4, 2), "complete", grad=False)
for order in ("nuc", 2, -2):
    add("linalg.matrix_norm", m(3, 4), order)
    add("linalg.norm", m(3, 4), order)
add("linalg.polar", m(4, 3))
add("linalg.cond", m(3, 3), 1)
add("linalg.solve", m(2, 3, 3), m(2, 3, 2, seed=2))
add("linalg.solve", m(3, 3), m(2, 3, seed=2), left=False)
add("linalg.matrix_power", m(3, 3), -2)
add("linalg.solve_triangular", m(3, 3), m(3, 2, seed=2), upper=True)
add("linalg.solve_triangular", m(3, 3), m(2, 3, seed=2), upper=False, left=False, unitriangular=True)
add("linalg.lstsq", m(4, 3), m(4, 2, seed=2), driver="gelsd")
add("triangular_solve", m(3, 2), m(3, 3, seed=2), transpose=True)
for name in PROGRAMS:
    if name.startswith(("positive", "hermitian")):
        add(name, m(3, 3), *([m(3, 2, seed=2)] if name == "positive_solution" else []))
    if name.startswith("singular"):
        add(name, m(4, 3))
        add(name, m(2, 4))
        add(name, m(3, 3))
for name in ("fft", "ifft", "hfft", "irfft"):
    for n in (None, 1, 2, 3, 8, 12):
        add(f"fft.{name}", t(2, 5), n)
    add(f"fft.{name}", t(3, 4), None, 0, "ortho")
    add(f"fft.{name}", t(3, 4), 5, 0, "forward")
    add(f"fft.{name}", t(3, 4, dtype=R))
    add(f"fft.{name}", t(17, dtype="complex64"), grad=False)
for name in ("rfft", "ihfft"):
    for n in (None, 1, 2, 3, 8):
        add(f"fft.{name}", t(2, 5, dtype=R), n)
    add(f"fft.{name}", t(3, 4, dtype=R), None, 0, "ortho")
    add(f"fft.{name}", t(3, 4, dtype=R), 6, 1, "forward")
    add(f"fft.{name}", t(3, dtype="int64", scale=3), grad=False)
add("fft.fft", t(2, 37))
for name in ("fft2", "ifft2", "irfft2", "hfft2", "fftn", "ifftn", "irfftn", "hfftn"):
    add(f"fft.{name}", t(2, 3, 4))
    add(f"fft.{name}", t(2, 3, 4), [5, 2], [0, 2], "ortho")
    add(f"fft.{name}", t(2, 3, 4), [2, 3])
for name in ("rfft2", "ihfft2", "rfftn", "ihfftn"):
    add(f"fft.{name}", t(2, 3, 4, dtype=R))
    add(f"fft.{name}", t(2, 3, 4, dtype=R), [5, 2], [0, 2], "ortho")
for n in (1, 4, 7):
    add("fft.fftfreq", n, 0.5, grad=False)
    add("fft.rfftfreq", n, grad=False)
add("fft.fftshift", t(4, 5))
add("fft.ifftshift", t(4, 5), 1)
for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"):
    for n, periodic in ((1, True), (5, True), (8, False)):
        add(name, n, periodic, grad=False, dtype=R)
add("stft", t(20, dtype=R), 8, 3, grad=True, window=t(8, dtype=R, seed=3, shift=2), return_complex=True)
add("stft", t(2, 20, dtype=R), 6, None, 4, normalized=True, center=False, return_complex=True)
add("stft", t(12), 4, 2, return_complex=True)
add("stft", t(12, dtype=R), 4, 2, onesided=False, pad_mode="constant", return_complex=True)
add("istft", t(5, 8), 8, 2, window=t(8, dtype=R, seed=3, shift=2))
add("istft", t(2, 5, 8), 8, 2, normalized=True, length=12)
add("istft", t(8, 8), 8, 4, return_complex=True)
add("istft", t(8, 8), 8, 4)
add("istft", t(8, 8), 8, 4, onesided=False)
add("var_mean", t(3, 4), 1)
add("std_mean", t(3, 4), correction=0)
add("cov", t(3, 4))
add("cov", t(3, 4), fweights=v([1, 2, 1, 3], "int64"), aweights=t(4, dtype=R, shift=2))
add("corrcoef", t(3, 4))
add("logsumexp", t(3, 4), 1)
add("logsumexp", t(3, 4, scale=300), [0, 1], True)
add("sinc", v([[0.0, 0.0], [1, 0.5], [-0.3, 2]]))
add("ldexp", t(3), t(3, seed=2))
add("ldexp", t(3), v([1, -2, 3], "int64"))
for name in ("softsign", "tanhshrink"):
    add(f"nn.functional.{name}", t(3, 4))
add("nn.functional.silu", t(3, 4), grad=False)
add("nn.functional.conv1d", t(2, 4, 7), t(6, 2, 3, seed=2), t(6, seed=3), 2, 1, 1, 2)
add("nn.functional.conv2d", t(1, 2, 5, 4), t(3, 2, 3, 2, seed=2), t(3, seed=3), padding="same")
add("nn.functional.conv3d", t(1, 2, 3, 4, 3), t(2, 2, 2, 2, 2, seed=2), None, [1, 2, 1], 1)
add("nn.functional.conv_transpose1d", t(2, 3, 4), t(3, 2, 3, seed=2), t(2, seed=3), 2, 1, 1)
add("nn.functional.conv_transpose2d", t(1, 4, 3, 3), t(4, 1, 2, 2, seed=2), None, 2, 0, 0, 2)
add("nn.functional.conv_transpose3d", t(1, 2, 2, 2, 3), t(2, 2, 2, 2, 2, seed=2), t(2, seed=3))
add("nn.functional.l1_loss", t(3, 4), t(3, 4, seed=2))
add("nn.functional.pairwise_distance", t(3, 4), t(3, 4, seed=2), 3, keepdim=True)
add("nn.functional.triplet_margin_loss", t(3, 4), t(3, 4, seed=2), t(3, 4, seed=3), margin=2.0, swap=True)
add("nn.functional.normalize", t(3, 4), 2, 0)
add("nn.functional.rms_norm", t(2, 3), [3], t(3, seed=2), 0.1)
add("nn.functional.pixel_shuffle", t(1, 8, 2, 2), 2)
add("nn.functional.pixel_unshuffle", t(1, 2, 4, 4), 2)
add("nn.functional.unfold", t(1, 2, 4, 4), [2, 3], 1, 1, 2)
add("nn.functional.fold", t(1, 4, 9), [4, 4], 2)
for name in ("zeros", "ones"):
    add(name, [2, 2], grad=False, dtype=C)
add("full", [2], NUMBER, grad=False)
add("full", [2], 3, grad=False, dtype="complex64")
add("eye", 2, grad=False, dtype=C)
for spec in (t(3, dtype="complex64"), t(2, 2), v([[1, 2], [3, -4]]), v([[1e5, 2], [3, -4e-5]], "complex64"), v([[0, 0]], "complex64"), t(),
             v([[1, -0.0], [2, 1e9]], "complex64"), t(0, 2), t(1, 20, dtype="complex64")):
    rows.append({"print": spec, "text": str(tensor(spec))})
rows.append({"print": t(1200, dtype="complex64"), "text": str(tensor(t(1200, dtype="complex64")))})

text = "\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
sys.stdout.buffer.write(gzip.compress(text.encode(), 9, mtime=0))
sys.stderr.write(f"{len(rows)} rows, {len(text)} bytes\n")
