"""Keeps an example for each op of which PyTorch has one: the first call out of simple arguments that it accepts.

    deno run -A tools/op_pages.ts --ops | python3 tools/op_examples.py > tools/op_examples.json

Input: the public ops and their parameters; output: by op, the call as a program writes it and what PyTorch prints.
"""
import itertools
import json
import re
import sys

import torch

V, W = [-1.5, 0.5, 2.0], [0.5, 1.5, 3.0]
M, N = [[1.5, 2.0, -3.0], [0.5, -1.0, 4.0]], [[2.0, 0.5, 1.0], [-0.5, 3.0, 1.5]]
SQUARE, OTHER = [[4.0, 2.0], [2.0, 3.5]], [[1.5, 0.0], [2.0, 1.0]]
IMAGE = [[[[1.5, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]
SMALL = [[[[1.5, 0.0], [0.0, 1.0]]]]
SEQUENCE = [[[1.5, 2.0, 3.0, 4.0]]]
TENSORS = [
    (M, N), (V, W), (SQUARE, OTHER), (SQUARE, [[1.5], [2.0]]), (IMAGE, SMALL), (SEQUENCE, [[[1.5, 1.0]]]),
    ([0.25, 0.5, 0.75], [1.0, 0.5, 0.25]), ([3, 5, 6], [1, 4, 2]), ([[3, 5], [6, 7]], [[0, 1], [1, 0]]),
    ([True, False, True], [True, True, False]), (M, [0, 1]), (M, [[0, 2], [1, 1]]), (V, [0, 2, 2]), (W, V), (N, M),
]
INTS = {"dim": [1, 0, -1], "dim0": [0], "dim1": [1], "dim2": [2], "axis0": [0], "axis1": [1], "diagonal": [1], "offset": [1]}
KINDS = {
    "int": [1, 0, 2], "size": [2, 3], "bool": [True], "float": [0.5, 2.0], "scalar": [2, 0.5], "string": [],
    "ints": [[1, 0], [0], [2], [2, 3]], "dims": [[0], [0, 1]], "sizes": [[3, 2], [6], [2, 2, 3]], "intOrInts": [2],
    "sizesOrString": [1], "sizeOrSizes": [2], "counts": [[2]], "scalarOrString": [2], "floatOrFloats": [2.0], "outputSizes": [2], "pairs": [1],
    "dimsOrBool": [0],
}
IMAGES, X = [[[[1.5, 2.0], [3.0, 4.0]]]], [[1.5, 2.0], [3.0, 4.0]]
VOLUME = [[[[[1.5, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]]
# What is random, not initialised, or of either sign.
WITHOUT = {
    *("emptyLike newEmpty empty newEmptyStrided emptyStrided multinomial normal poisson binomial rrelu".split()),
    *("dropout alphaDropout featureAlphaDropout dropout1d dropout2d dropout3d eigh eig lobpcg svdLowrank pcaLowrank linalgSvd svd linalgPolar".split()),
}
# Arguments where simple ones say little, or where there is more to give than what is required.
CALLS = {
    "polygamma": [1, "W"], "searchsorted": ["W", "V"], "gelu": ["V"], "fftIfft": ["V"], "fftIhfft": ["V"],
    "embedding": [[2, 0], [[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]]], "linspace": [0, 1, 5], "logspace": [0, 2, 3], "arange": [1, 4], "full": [[2, 2], 0.5], "clamp": ["V", -1, 1],
    "maskedFill": ["V", [True, False, True], 0.5], "histc": ["V", 4, -2, 2], "mT": ["M"], "unflatten": ["V", 0, [3, 1]],
    "repeat": ["V", [2, 1]], "tile": ["V", [2]], "meshgrid": [["V", "W"]], "sumToSize": ["M", [1, 3]],
    "scatter": ["V", 0, [2, 0], [9.5, 8.0]], "indexAdd": ["V", 0, [0, 0], [1.0, 2.5]], "indexFill": ["V", 0, [0, 2], 9],
    "indexCopy": ["V", 0, [2, 0], [9.5, 8.0]], "fill": ["V", 3], "prelu": ["V", [0.25]],
    "scatterReduce": ["V", 0, [0, 0, 2], [1.0, 2.5, 3.0], "amax"], "avgPool3d": [VOLUME, 2], "lpPool3d": [VOLUME, 2.0, 2],
    "maxUnpool1d": [[[3.5, 4.0]], [[1, 2]], 2], "maxUnpool2d": [[[[4.5]]], [[[3]]], 2], "conv3d": [VOLUME, VOLUME],
    "convTranspose2d": [[[[2.5]]], IMAGES], "convTranspose3d": [[[[[2.5]]]], VOLUME], "upsampleNearest": [[[[1.5, 2.0]]], 4],
    "layerNorm": ["M", [3]], "rmsNorm": ["M", [3]], "oneHot": [[0, 2], 3],
    "bmm": [[X], [X]], "mv": ["M", "V"], "addmv": [[1.5, 2.0], "M", "V"], "baddbmm": [[X], [X], [X]],
    "addbmm": [X, [X], [X]], "cosineEmbeddingLoss": ["M", "N", [1, -1]],
    
}


T = torch.tensor
# Calls that PyTorch writes in another way: with arguments in a row, by name, by another function or by a property.
WRITTEN = {
    "slice": ("tensor([1.5, 2, 3, 4]).slice(0, 1, 4, 2)", lambda: T([1.5, 2, 3, 4])[1:4:2]),
    "mT": ("tensor([[1.5, 2, 3]]).mT", lambda: T([[1.5, 2, 3]]).mT),
    "splitWithSizes": ("splitWithSizes(tensor([1.5, 2, 3]), [1, 2])", lambda: T([1.5, 2, 3]).split([1, 2])),
    "splitWithSizesCopy": ("splitWithSizesCopy(tensor([1.5, 2, 3]), [1, 2])", lambda: T([1.5, 2, 3]).split([1, 2])),
    "viewAsReal": (
        "viewAsReal(complex(tensor([1.5, 2]), tensor([0.5, -1])))",
        lambda: torch.view_as_real(torch.complex(T([1.5, 2]), T([0.5, -1]))),
    ),
    "imag": (
        "imag(complex(tensor([1.5, 2]), tensor([0.5, -1])))",
        lambda: torch.complex(T([1.5, 2]), T([0.5, -1])).imag,
    ),
    "blockDiag": (
        "blockDiag(tensor([[1.5]]), tensor([[2.5, 3]]))",
        lambda: torch.block_diag(T([[1.5]]), T([[2.5, 3]])),
    ),
    "cartesianProd": (
        "cartesianProd(tensor([1.5, 2]), tensor([0.5, 3]))",
        lambda: torch.cartesian_prod(T([1.5, 2]), T([0.5, 3])),
    ),
    "broadcastTensors": (
        "broadcastTensors(tensor([[1.5], [2]]), tensor([0.5, 3]))",
        lambda: torch.broadcast_tensors(T([[1.5], [2]]), T([0.5, 3])),
    ),
    "meshgrid": (
        'meshgrid([tensor([1.5, 2]), tensor([0.5, 3])], { indexing: "ij" })',
        lambda: torch.meshgrid([T([1.5, 2]), T([0.5, 3])], indexing="ij"),
    ),
    "indexPut": (
        "tensor([1.5, 2, 3]).indexPut([tensor([2, 0])], tensor([9.5, 8]))",
        lambda: T([1.5, 2, 3]).index_put([T([2, 0])], T([9.5, 8])),
    ),
    "indexReduce": (
        'tensor([1.5, 2, 3]).indexReduce(0, tensor([0, 0, 2]), tensor([2.5, 4, 5]), "prod")',
        lambda: T([1.5, 2, 3]).index_reduce(0, T([0, 0, 2]), T([2.5, 4, 5]), "prod"),
    ),
    "maxPool3d": ("nn.functional.maxPool3d(arange(8).to(\"float32\").reshape(1, 1, 2, 2, 2), 2)",
        lambda: torch.nn.functional.max_pool3d(torch.arange(8.).reshape(1, 1, 2, 2, 2), 2)),
    "interpolate": (
        'nn.functional.interpolate(tensor([[[1.5, 2]]]), { scaleFactor: 2, mode: "nearest" })',
        lambda: torch.nn.functional.interpolate(T([[[1.5, 2]]]), scale_factor=2, mode="nearest"),
    ),
    "affineGrid": (
        "nn.functional.affineGrid(tensor([[[1.5, 0, 0], [0, 1, 0]]]), [1, 1, 1, 2], false)",
        lambda: torch.nn.functional.affine_grid(T([[[1.5, 0, 0], [0, 1, 0]]]), [1, 1, 1, 2], False),
    ),
    "embeddingBag": (
        "nn.functional.embeddingBag(tensor([0, 2, 1]), tensor([[1.5, 2], [3, 4], [5, 6]]), tensor([0, 2]))",
        lambda: torch.nn.functional.embedding_bag(T([0, 2, 1]), T([[1.5, 2], [3, 4], [5, 6]]), T([0, 2])),
    ),
    "einsum": (
        'einsum("ij,jk->ik", tensor([[1.5, 2]]), tensor([[0.5], [3]]))',
        lambda: torch.einsum("ij,jk->ik", T([[1.5, 2]]), T([[0.5], [3]])),
    ),
    "bilinear": (
        "nn.functional.bilinear(tensor([[1.5, 2]]), tensor([[0.5, 1]]), tensor([[[1.5, 0], [0, 2]]]))",
        lambda: torch.nn.functional.bilinear(T([[1.5, 2]]), T([[0.5, 1]]), T([[[1.5, 0], [0, 2]]])),
    ),
    "tensorinv": (
        "linalg.tensorinv(tensor([[1.5, 0], [0, 2]]), 1)",
        lambda: torch.linalg.tensorinv(T([[1.5, 0], [0, 2]]), 1),
    ),
    "tensorsolve": (
        "linalg.tensorsolve(tensor([[1.5, 0], [0, 2]]), tensor([3.5, 4]))",
        lambda: torch.linalg.tensorsolve(T([[1.5, 0], [0, 2]]), T([3.5, 4])),
    ),
    "solveTriangular": (
        "linalg.solveTriangular(tensor([[1.5, 0], [1, 2]]), tensor([[3], [4.5]]), { upper: false })",
        lambda: torch.linalg.solve_triangular(T([[1.5, 0], [1, 2]]), T([[3], [4.5]]), upper=False),
    ),
    "cholesky": (
        "linalg.cholesky(tensor([[4, 2], [2, 3.5]]))",
        lambda: torch.linalg.cholesky(T([[4, 2], [2, 3.5]])),
    ),
    "im2col": (
        "nn.functional.unfold(tensor([[[[1.5, 2], [3, 4]]]]), [1, 2])",
        lambda: torch.nn.functional.unfold(T([[[[1.5, 2], [3, 4]]]]), [1, 2]),
    ),
    "istft": (
        "istft(stft(ones(8), 4, { window: ones(4), returnComplex: true }), 4, { window: ones(4) })",
        lambda: torch.istft(torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True), 4,
                            window=torch.ones(4)),
    ),
    "ctcLoss": (
        "nn.functional.ctcLoss(zeros(2, 1, 3).logSoftmax(-1), tensor([[1]]), tensor([2]), tensor([1]))",
        lambda: torch.nn.functional.ctc_loss(torch.zeros(2, 1, 3).log_softmax(-1), T([[1]]), [2], [1]),
    ),
    # What is random or not initialised, where it has only one outcome.
    "empty": ("empty(2, 3).fill_(1.5)", lambda: torch.empty(2, 3).fill_(1.5)),
    "emptyLike": ("emptyLike(tensor([1.5, 2])).fill_(0.5)", lambda: torch.empty_like(T([1.5, 2])).fill_(0.5)),
    "newEmpty": ("tensor([1.5]).newEmpty([2]).fill_(0.5)", lambda: T([1.5]).new_empty([2]).fill_(0.5)),
    "rand": ("rand(2, 2).lt(1)", lambda: torch.rand(2, 2) < 1),
    "randLike": ("randLike(tensor([1.5, 2])).lt(1)", lambda: torch.rand_like(T([1.5, 2])) < 1),
    "randn": ("randn(2, 2).isfinite()", lambda: torch.randn(2, 2).isfinite()),
    "randnLike": ("randnLike(tensor([1.5, 2])).isfinite()", lambda: torch.randn_like(T([1.5, 2])).isfinite()),
    "randint": ("randint(3, 4, [2, 2])", lambda: torch.randint(3, 4, [2, 2])),
    "randintLike": ("randintLike(tensor([1.5, 2]), 3, 4)", lambda: torch.randint_like(T([1.5, 2]), 3, 4)),
    "randperm": ("randperm(4).sort().values", lambda: torch.randperm(4).sort().values),
    "bernoulli": ("bernoulli(tensor([[1.5, 0]]).clamp(0, 1))", lambda: torch.bernoulli(T([[1.5, 0]]).clamp(0, 1))),
    "multinomial": ("multinomial(tensor([0, 1.5, 0]), 1)", lambda: torch.multinomial(T([0, 1.5, 0]), 1)),
    "dropout": ("dropout(tensor([1.5, 2]), 0.5, false)", lambda: torch.dropout(T([1.5, 2]), 0.5, False)),
    "dropout1d": (
        "nn.functional.dropout1d(tensor([[1.5, 2]]), 0.5, false)",
        lambda: torch.nn.functional.dropout1d(T([[1.5, 2]]), 0.5, False),
    ),
    "dropout2d": (
        "nn.functional.dropout2d(tensor([[[1.5, 2]]]), 0.5, false)",
        lambda: torch.nn.functional.dropout2d(T([[[1.5, 2]]]), 0.5, False),
    ),
    "dropout3d": (
        "nn.functional.dropout3d(tensor([[[[1.5, 2]]]]), 0.5, false)",
        lambda: torch.nn.functional.dropout3d(T([[[[1.5, 2]]]]), 0.5, False),
    ),
    "alphaDropout": ("alphaDropout(tensor([1.5, 2]), 0.5, false)", lambda: torch.alpha_dropout(T([1.5, 2]), 0.5, False)),
    "featureAlphaDropout": (
        "featureAlphaDropout(tensor([[1.5, 2]]), 0.5, false)",
        lambda: torch.feature_alpha_dropout(T([[1.5, 2]]), 0.5, False),
    ),
    "rrelu": ("rrelu(tensor([-1.5, 2]), 0.25, 0.25)", lambda: torch.rrelu(T([-1.5, 2]), 0.25, 0.25)),
    "gumbelSoftmax": (
        "nn.functional.gumbelSoftmax(tensor([[0.5, 90]]), { hard: true })",
        lambda: torch.nn.functional.gumbel_softmax(T([[0.5, 90]]), hard=True),
    ),
    "fractionalMaxPool2d": (
        "nn.functional.fractionalMaxPool2d(tensor([[[1.5, 2], [3, 4]]]), 1, 2)",
        lambda: torch.nn.functional.fractional_max_pool2d(T([[[1.5, 2], [3, 4]]]), 1, 2),
    ),
    "fractionalMaxPool3d": (
        "nn.functional.fractionalMaxPool3d(full([1, 3, 3, 3], 1.5), 2, 1)",
        lambda: torch.nn.functional.fractional_max_pool3d(torch.full([1, 3, 3, 3], 1.5), 2, 1),
    ),
    "asStridedScatter": (
        "asStridedScatter(zeros(2, 2), tensor([1.5, 2]), [2], [3])",
        lambda: torch.as_strided_scatter(torch.zeros(2, 2), T([1.5, 2]), [2], [3]),
    ),
    "maxPool2dWithIndicesBackward": (
        "maxPool2dWithIndicesBackward(tensor([[[2.5]]]), tensor([[[1.5, 2], [3, 4]]]), 2, 2, 0, 1, false, tensor([[[3]]]))",
        lambda: torch.ops.aten.max_pool2d_with_indices_backward(
            T([[[2.5]]]), T([[[1.5, 2], [3, 4]]]), [2, 2], [2, 2], [0, 0], [1, 1], False, T([[[3]]])),
    ),
    "maxUnpool3d": (
        "nn.functional.maxUnpool3d(tensor([[[[[4.5]]]]]), tensor([[[[[7]]]]]), 2)",
        lambda: torch.nn.functional.max_unpool3d(T([[[[[4.5]]]]]), T([[[[[7]]]]]), 2),
    ),
    "upsampleBilinear": (
        "nn.functional.upsampleBilinear(tensor([[[[1.5, 2], [3, 4]]]]), [2, 3])",
        lambda: torch.nn.functional.upsample_bilinear(T([[[[1.5, 2], [3, 4]]]]), [2, 3]),
    ),
    "col2im": (
        "nn.functional.fold(tensor([[[1.5], [2], [3], [4]]]), [2, 2], [2, 2])",
        lambda: torch.nn.functional.fold(T([[[1.5], [2], [3], [4]]]), [2, 2], [2, 2]),
    ),
    "gridSampler3d": (
        "gridSampler3d(tensor([[[[[1.5, 2]]]]]), zeros(1, 1, 1, 1, 3), 0, 0, true)",
        lambda: torch.grid_sampler_3d(T([[[[[1.5, 2]]]]]), torch.zeros(1, 1, 1, 1, 3), 0, 0, True),
    ),
    # Vectors are found up to their signs.
    "eigh": ("linalg.eigh(tensor([[4, 2], [2, 3.5]])).eigenvalues", lambda: torch.linalg.eigh(T([[4, 2], [2, 3.5]])).eigenvalues),
    "eig": (
        "linalg.eig(tensor([[1.5, 2], [-0.5, 1]])).eigenvalues",
        lambda: torch.linalg.eig(T([[1.5, 2], [-0.5, 1]])).eigenvalues,
    ),
    "lobpcg": (
        "lobpcg(diag(tensor([1.5, 2, 3.5])), 1).E",
        lambda: torch.lobpcg(torch.diag(T([1.5, 2, 3.5])), 1)[0],
    ),
    "svdLowrank": ("svdLowrank(tensor([[4, 2], [2, 3.5]]), 2).S", lambda: torch.svd_lowrank(T([[4, 2], [2, 3.5]]), 2)[1]),
    "pcaLowrank": (
        "pcaLowrank(tensor([[4, 2], [2, 3.5], [1, 0]]), 2).S",
        lambda: torch.pca_lowrank(T([[4, 2], [2, 3.5], [1, 0]]), 2)[1],
    ),
    "segmentReduce": (
        'segmentReduce(tensor([1.5, 2, 3, 4]), "sum", { lengths: tensor([3, 1]) })',
        lambda: torch.segment_reduce(T([1.5, 2, 3, 4]), "sum", lengths=T([3, 1])),
    ),
    "linalgSvd": ("linalg.svd(tensor([[4, 2], [2, 3.5]])).S", lambda: torch.linalg.svd(T([[4, 2], [2, 3.5]])).S),
    "svd": ("svd(tensor([[4, 2], [2, 3.5]])).S", lambda: torch.svd(T([[4, 2], [2, 3.5]])).S),
    "linalgPolar": (
        "linalg.polar(tensor([[2.5, 0], [0, 3]]))",
        lambda: torch.linalg.polar(T([[2.5, 0], [0, 3]])),
    ),
    "luUnpack": (
        'luUnpack(tensor([[4, 2], [0.5, 2.5]]), tensor([1, 2], { dtype: "int32" }))',
        lambda: torch.lu_unpack(T([[4, 2], [0.5, 2.5]]), torch.tensor([1, 2], dtype=torch.int32)),
    ),
    "linalgLuSolve": (
        'linalg.luSolve(tensor([[4, 2], [0.5, 2.5]]), tensor([1, 2], { dtype: "int32" }), tensor([[1.5], [2]]))',
        lambda: torch.linalg.lu_solve(
            T([[4, 2], [0.5, 2.5]]), torch.tensor([1, 2], dtype=torch.int32), T([[1.5], [2]])),
    ),
    "luSolve": (
        'luSolve(tensor([[1.5], [2]]), tensor([[4, 2], [0.5, 2.5]]), tensor([1, 2], { dtype: "int32" }))',
        lambda: torch.lu_solve(T([[1.5], [2]]), T([[4, 2], [0.5, 2.5]]), torch.tensor([1, 2], dtype=torch.int32)),
    ),
    "lstsq": (
        "linalg.lstsq(tensor([[1.5, 0], [0, 2], [1, 1]]), tensor([[3], [4.5], [5]])).solution",
        lambda: torch.linalg.lstsq(T([[1.5, 0], [0, 2], [1, 1]]), T([[3], [4.5], [5]])).solution,
    ),
    "householderProduct": (
        "linalg.householderProduct(tensor([[1.5, 0.5], [0.5, 2]]), tensor([1.6, 0]))",
        lambda: torch.linalg.householder_product(T([[1.5, 0.5], [0.5, 2]]), T([1.6, 0])),
    ),
    "ormqr": (
        "ormqr(tensor([[1.5, 0.5], [0.5, 2]]), tensor([1.6, 0]), tensor([[1.5], [2]]))",
        lambda: torch.ormqr(T([[1.5, 0.5], [0.5, 2]]), T([1.6, 0]), T([[1.5], [2]])),
    ),
    "ldlSolve": (
        'linalg.ldlSolve(tensor([[4, 2], [0.5, 2.5]]), tensor([1, 2], { dtype: "int32" }), tensor([[1.5], [2]]))',
        lambda: torch.linalg.ldl_solve(
            T([[4, 2], [0.5, 2.5]]), torch.tensor([1, 2], dtype=torch.int32), T([[1.5], [2]])),
    ),
    "nativeLayerNorm": (
        "nativeLayerNorm(tensor([[1.5, 2, 4]]), [3], null, null, 1e-5)",
        lambda: torch.native_layer_norm(T([[1.5, 2, 4]]), [3], None, None, 1e-5),
    ),
    "nativeGroupNorm": (
        "nativeGroupNorm(tensor([[1.5, 2, 4, 5]]), null, null, 1, 4, 1, 2, 1e-5)",
        lambda: torch.native_group_norm(T([[1.5, 2, 4, 5]]), None, None, 1, 4, 1, 2, 1e-5),
    ),
    "nativeBatchNorm": (
        "nativeBatchNorm(tensor([[1.5], [2], [4]]), null, null, null, null, true, 0.1, 1e-5)",
        lambda: torch.native_batch_norm(T([[1.5], [2], [4]]), None, None, None, None, True, 0.1, 1e-5),
    ),
    "nativeDropoutBackward": (
        "nativeDropoutBackward(tensor([1.5, 2]), tensor([true, false]), 2)",
        lambda: torch.ops.aten.native_dropout_backward(T([1.5, 2]), T([True, False]), 2),
    ),
    "stft": (
        "stft(tensor([1.5, 2, 3, 4]), 4, { window: ones(4), center: false, returnComplex: true })",
        lambda: torch.stft(T([1.5, 2, 3, 4]), 4, window=torch.ones(4), center=False, return_complex=True),
    ),
}


def js(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(js, value)) + "]"
    return json.dumps(value)


class Data:
    """Elements of a tensor: floats where one of them has a fraction, as in a program."""

    def __init__(self, elements):
        self.elements = elements

    def tensor(self):
        return torch.tensor(self.elements)

    def text(self):
        flat = torch.tensor(self.elements)
        whole = flat.is_floating_point() and bool((flat == flat.round()).all())
        return f"tensor({js(self.elements)}" + (', { dtype: "float32" })' if whole else ")")


def resolve(op):
    named = re.findall(r"`(?:torch\.)?((?:nn\.functional|special|linalg|fft|Tensor)?\.?[a-z_0-9A-Z]+)`", op["doc"])
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), op["call"].removeprefix("x."))
    for name in [snake, *reversed(named), "nn.functional." + snake.split(".")[-1], "Tensor." + snake.split(".")[-1]]:
        target = torch
        for part in name.split("."):
            target = getattr(target, part, None)
            if target is None:
                break
        last = re.sub(r"_", "", name.split(".")[-1]).lower()
        if callable(target) and last in op["call"].lower().replace("_", ""):
            return target
    return None


def printed(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    if not results or not all(isinstance(each, torch.Tensor) for each in results):
        return None
    if sum(each.numel() for each in results) > 12 or any(each.numel() == 0 for each in results):
        return None
    if any(each.is_floating_point() and not bool(torch.isfinite(each).all()) for each in results):
        return None
    # Which sign a zero has depends on the machine.
    texts = [repr(each.detach()).replace("-0.0000j", "+0.0000j") for each in results]
    return [text.replace("dtype=torch.", "dtype=") for text in texts]


def given(value):
    if isinstance(value, str) and value in ("V", "W", "M", "N"):
        return Data(globals()[value])
    if isinstance(value, list):
        named = any(each in ("V", "W") for each in value if isinstance(each, str))
        return list(map(given, value)) if named else value
    return value


def candidates(op):
    if CALLS.get(op["name"]):
        own = zip(op["params"], CALLS[op["name"]])
        yield [
            Data(value) if param["kind"] in ("tensor", "operand") and isinstance(value, list) else given(value)
            for param, value in own
        ]
        return
    required = [p for p in op["params"] if p["required"]]
    for tensors in TENSORS:
        choices, used = [], 0
        for param in required:
            kind = param["kind"]
            if kind in ("tensor", "operand"):
                choices.append([Data(tensors[min(used, 1)])])
                used += 1
            elif kind == "tensors":
                choices.append([[Data(each) for each in tensors]])
            else:
                choices.append(INTS.get(param["name"], KINDS.get(kind, [])) if kind == "int" else KINDS.get(kind, []))
        yield from itertools.islice(itertools.product(*choices), 12)


def text_of(value):
    if isinstance(value, Data):
        return value.text()
    if isinstance(value, list) and any(isinstance(each, Data) for each in value):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return js(value)


def plain(value):
    if isinstance(value, Data):
        return value.tensor()
    return list(map(plain, value)) if isinstance(value, list) else value


def example(op):
    if op["name"] in WRITTEN:
        call, run = WRITTEN[op["name"]]
        results = printed(run())
        return {"call": call, "results": results} if results else None
    target = resolve(op)
    if target is None or op["random"] or op["name"] in WITHOUT:
        return None
    for args in candidates(op):
        try:
            torch.manual_seed(0)
            results = printed(target(*map(plain, args)))
            again = printed(target(*map(plain, args)))
        except Exception:
            continue
        if results is None or results != again:
            continue
        if op["call"].startswith("x."):
            call = f"{text_of(args[0])}.{op['call'][2:]}({', '.join(map(text_of, args[1:]))})"
        else:
            call = f"{op['call']}({', '.join(map(text_of, args))})"
        return {"call": call, "results": results}
    return None


found = {op["name"]: example(op) for op in json.load(sys.stdin)}
print(json.dumps({name: each for name, each in found.items() if each}, indent=1, ensure_ascii=False))
print("without:", " ".join(name for name, each in found.items() if not each), file=sys.stderr)
