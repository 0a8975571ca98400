"""Digests of integer products, as JSON: run by `test_blas_kernels` as a child process under one OpenBLAS kernel each.

`python -m tests.test_simcore.integer_digests` prints {"core": name of the kernels in use or null, "digests": {case: SHA-256}}.
"""

import ctypes
import hashlib
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from simcore.conv import conv
from simcore.conv_transpose import conv_transpose
from simcore.matmul import matmul, matmul_high_low
from simcore.requantize import requantize, requantize_scale
from simcore.rounding import INT_TYPES

__all__ = ["CASES", "blas_core"]

#: Names under which OpenBLAS tells its kernels: as built for numpy with 64-bit and 32-bit indices, and elsewhere.
_ASK = (
    "scipy_openblas_get_corename64_",
    "scipy_openblas_get_corename",
    "openblas_get_corename64_",
    "openblas_get_corename",
)


def blas_core() -> str | None:
    """Return which kernels the OpenBLAS inside numpy's wheel uses; None where numpy has another BLAS."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for name in _ASK:
                if hasattr(library, name):
                    ask = getattr(library, name)
                    ask.restype = ctypes.c_char_p
                    return ask().decode()
    return None


def _codes(rng: np.random.Generator, kind: str, shape: tuple[int, ...], is_extreme: bool) -> np.ndarray:
    """Return random codes over the whole range, or only its two ends."""
    info = INT_TYPES[kind]
    codes = (
        rng.choice([info.low, info.high], shape)
        if is_extreme
        else rng.integers(info.low, info.high, shape, endpoint=True)
    )
    return codes.astype(info.dtype)


_KINDS = tuple(itertools.product(("int8", "uint8", "int16", "uint16"), ("int4", "int8", "uint8", "int16")))
#: m, k, n around the block lengths (258, 514, 1024), one row, and larger than a kernel's tile.
_SHAPES = ((3, 1, 5), (7, 257, 9), (1, 515, 64), (33, 1025, 17), (64, 1152, 96), (2, 4096, 130), (4, 65536, 3))


def _matmuls(a_kind: str, b_kind: str) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1)
    points = {"int8": -7, "uint8": 128, "int16": 300, "uint16": 32768, "int4": 3}
    for (m, k, n), is_extreme in itertools.product(_SHAPES, (False, True)):
        a, b = _codes(rng, a_kind, (m, k), is_extreme), _codes(rng, b_kind, (k, n), is_extreme)
        yield matmul(a, b, overflow="wide")
        columns = rng.integers(0, points[b_kind], n, endpoint=True) if points[b_kind] > 0 else points[b_kind]
        yield matmul(a, b, points[a_kind], columns, overflow="wrap")
    batch = _codes(rng, a_kind, (3, 5, 700), False), _codes(rng, b_kind, (3, 700, 11), False)
    yield matmul(*batch, overflow="saturate")
    yield matmul(batch[0], batch[1][0], overflow="saturate")


def _high_low() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(2)
    for k, is_extreme in itertools.product((5, 1025, 65536), (False, True)):
        a, b = _codes(rng, "int16", (6, k), is_extreme), _codes(rng, "int16", (k, 7), is_extreme)
        for passes in ("16x8", "8x8", "8x8_without_low_low"):
            yield matmul_high_low(a, b, passes)


#: group, channels of x, channels of y, kernel, further arguments.
_CONVS = {
    "plain": (1, 24, 32, (3, 3), {"pads": (1, 1, 1, 1)}),
    "pointwise": (1, 600, 16, (1, 1), {}),
    "grouped": (4, 24, 32, (3, 3), {"strides": (2, 1), "dilations": (1, 2)}),
    "depthwise": (32, 32, 32, (5, 5), {"pads": (2, 2, 2, 2)}),
    "depthwise doubled": (16, 16, 32, (3, 3), {"strides": (2, 2)}),
}


def _convs(name: str) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(3)
    group, c, m, kernel, options = _CONVS[name]
    for x_kind, w_kind, is_extreme in itertools.product(("int8", "uint8", "int16"), ("int8", "uint8"), (False, True)):
        x = _codes(rng, x_kind, (2, c, 17, 19), is_extreme)
        w = _codes(rng, w_kind, (m, c // group, *kernel), is_extreme)
        point = 128 if w_kind == "uint8" else -3
        bias = rng.integers(-(2**20), 2**20, m).astype(np.int32)
        yield conv(x, w, 5, np.full(m, point), bias, group=group, overflow="wide", **options)


def _transposed() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(4)
    for group, is_extreme in itertools.product((1, 4), (False, True)):
        x, w = _codes(rng, "uint8", (2, 16, 9, 8), is_extreme), _codes(rng, "int8", (16, 6, 3, 3), is_extreme)
        yield conv_transpose(x, w, 100, group=group, strides=(2, 2), overflow="wide")


def _requantized() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(5)
    for to, is_extreme in itertools.product(("int8", "uint8", "int16"), (False, True)):
        acc = matmul(_codes(rng, "uint8", (64, 2304), is_extreme), _codes(rng, "int8", (2304, 48), is_extreme), 128)
        scales = requantize_scale(np.float32(0.02), rng.uniform(1e-4, 1e-2, 48).astype(np.float32), np.float32(0.37))
        yield requantize(acc, scales, np.int32(3), to, 1)
        yield requantize(acc, scales[0], np.int32(0), to)


CASES: dict[str, Callable[[], Iterator[np.ndarray]]] = {
    **{f"matmul {a} {b}": lambda a=a, b=b: _matmuls(a, b) for a, b in _KINDS},
    "matmul high low": _high_low,
    **{f"conv {name}": lambda name=name: _convs(name) for name in _CONVS},
    "conv_transpose": _transposed,
    "requantize": _requantized,
}


def _digest(arrays: Iterator[np.ndarray]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    json.dump({"core": blas_core(), "digests": {name: _digest(case()) for name, case in CASES.items()}}, sys.stdout)
