"""Integer products equal Python integers: every type, zero point, extreme and length of k."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.matmul import exact_product, matmul, matmul_high_low, operand, split_high_low
from simcore.rounding import INT_TYPES
from tests.conftest import ROOT
from tests.test_simcore.onnx_runtime_oracle import run_node, safe_weights

PAIRS = [
    ("int8", "int8"),
    ("uint8", "int8"),
    ("uint8", "uint8"),
    ("int16", "int8"),
    ("int8", "int4"),
    ("int16", "int16"),
]


def python_product(a: np.ndarray, b: np.ndarray, a_zero: int = 0, b_zero: int = 0) -> list[list[int]]:
    """Return the product of two matrices in Python integers, which never overflow."""
    rows = [[v - a_zero for v in row] for row in a.tolist()]
    columns = [[v - b_zero for v in column] for column in b.T.tolist()]
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in rows]


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def clamped(value: int) -> int:
    return max(-(2**31), min(2**31 - 1, value))


def codes(rng: np.random.Generator, kind: str, shape: tuple[int, ...], spread: str) -> np.ndarray:
    """Return codes: uniform, the extremes only, or all at one end."""
    known = INT_TYPES[kind]
    if spread == "uniform":
        return rng.integers(known.low, known.high, shape, endpoint=True).astype(known.dtype)
    if spread == "ends":
        return rng.choice([known.low, known.high], shape).astype(known.dtype)
    return np.full(shape, known.low if spread == "lowest" else known.high, known.dtype)


@pytest.mark.parametrize("pair", PAIRS, ids="*".join)
@settings(deadline=None)
@given(
    m=st.integers(1, 5), k=st.integers(0, 2500), n=st.integers(1, 5),
    spreads=st.tuples(*[st.sampled_from(["uniform", "ends", "lowest", "highest"])] * 2),
    seed=st.integers(0, 2**32 - 1), data=st.data(),
)  # fmt: skip
def test_product_equals_python_integers(
    pair: tuple[str, str], m: int, k: int, n: int, spreads: tuple[str, str], seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    a, b = codes(rng, pair[0], (m, k), spreads[0]), codes(rng, pair[1], (k, n), spreads[1])
    zeros = [data.draw(st.just(0) | st.integers(INT_TYPES[kind].low, INT_TYPES[kind].high)) for kind in pair]
    exact = python_product(a, b, *zeros)

    assert matmul(a, b, *zeros, overflow="wide").tolist() == exact
    assert matmul(a, b, *zeros, overflow="wrap").tolist() == [[wrapped(v) for v in row] for row in exact]
    assert matmul(a, b, *zeros, overflow="saturate").tolist() == [[clamped(v) for v in row] for row in exact]


@pytest.mark.parametrize("pair", PAIRS, ids="*".join)
@pytest.mark.parametrize("spread", ["ends", "lowest"])
def test_product_is_exact_at_65536_columns(pair: tuple[str, str], spread: str) -> None:
    rng = np.random.default_rng(4)
    a, b = codes(rng, pair[0], (2, 65_536), spread), codes(rng, pair[1], (65_536, 3), spread)
    exact = python_product(a, b)

    assert matmul(a, b, overflow="wide").tolist() == exact
    assert matmul(a, b).tolist() == [[wrapped(v) for v in row] for row in exact]
    assert matmul(a, b, overflow="saturate").tolist() == [[clamped(v) for v in row] for row in exact]


@pytest.mark.parametrize(
    ("a", "b", "block"),
    [(-128, -128, 1024), (127, 127, 1040), (255, -128, 514), (255, 255, 258), (-128, -8, 16_384), (-32768, -128, 4)],
    ids=["s8*s8", "s8*s8 without -128", "u8*s8", "u8*u8", "s8*s4", "s16*s8"],
)
def test_blocks_of_the_documented_length_stay_below_2_to_24(a: int, b: int, block: int) -> None:
    assert block * abs(a * b) <= 2**24 < (block + 1) * abs(a * b)


@pytest.mark.parametrize("k", [1023, 1024, 1025, 2047, 2048, 2049])
def test_all_minus_128_is_exact_around_block_edges(k: int) -> None:
    a, b = np.full((3, k), -128, np.int8), np.full((k, 3), -128, np.int8)
    b[-1] = -127

    assert np.unique(matmul(a, b)).tolist() == [(k - 1) * 16384 + 128 * 127]


@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")], ids="*".join)
def test_product_equals_onnx_runtime_with_zero_points_per_row_and_column(kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng(8)
    a, b = codes(rng, kinds[0], (9, 700), "uniform"), safe_weights(rng, kinds[1], (700, 13))
    a_zero = np.array(rng.integers(0, 100), kinds[0])
    b_zero = codes(rng, kinds[1], (13,), "uniform")
    expected = run_node("MatMulInteger", {"a": a, "b": b, "a_zp": a_zero, "b_zp": b_zero}, "int32")

    assert np.array_equal(matmul(a, b, a_zero, b_zero), expected)


def test_zero_point_per_row_stands_along_rows() -> None:
    rng = np.random.default_rng(6)
    a, b = codes(rng, "uint8", (3, 40), "uniform"), codes(rng, "int8", (40, 3), "uniform")
    zeros = np.array([1, 100, 255], np.uint8)
    expected = [python_product(a[row : row + 1], b, int(zeros[row]))[0] for row in range(3)]

    assert matmul(a, b, zeros).tolist() == expected
    assert matmul(a, b, zeros[:, None]).tolist() == expected


@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((5, 2, 4), (4, 3)), ((5, 2, 4), (5, 4, 3)), ((2, 1, 3, 4), (5, 4, 2)),
     ((3, 0), (0, 2)), ((0, 4), (4, 2)), ((2, 0, 3), (3, 2)), ((5, 2, 4), (4,))],
    ids=str,
)  # fmt: skip
def test_shapes_follow_numpy_matmul(a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    a, b = codes(rng, "int8", a_shape, "uniform"), codes(rng, "int8", b_shape, "uniform")
    got, expected = matmul(a, b), a.astype(np.int64) @ b.astype(np.int64)

    assert got.tolist() == expected.tolist()
    assert got.shape == expected.shape
    assert got.dtype == np.int32
    assert matmul(a, b, overflow="wide").dtype == np.int64


def test_a_prepared_operand_gives_the_same_and_leaves_codes_alone() -> None:
    rng = np.random.default_rng(2)
    a, b = codes(rng, "int8", (4, 3000), "uniform"), codes(rng, "int8", (3000, 5), "uniform")
    copies = a.copy(), b.copy()
    ready = operand(b, 3)

    assert np.array_equal(matmul(a, ready, 7), matmul(a, b, 7, 3))
    assert np.array_equal(a, copies[0])
    assert np.array_equal(b, copies[1])


def test_strided_and_transposed_codes_are_exact() -> None:
    rng = np.random.default_rng(3)
    a = codes(rng, "int8", (1200, 14), "uniform").T[::2]
    b = codes(rng, "int8", (1200, 12), "uniform")[:, ::-3]

    assert matmul(a, b).tolist() == python_product(a, b)


def test_product_is_int32_only_when_no_sum_can_leave_it() -> None:
    inside, beyond = np.full((1, 131_071), -128, np.int8), np.full((1, 131_072), -128, np.int8)

    assert exact_product(operand(inside), operand(inside.T)).dtype == np.int32
    assert exact_product(operand(beyond), operand(beyond.T)).dtype == np.int64
    assert exact_product(operand(beyond), operand(beyond.T)).tolist() == [[2**31]]


@given(x=st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1))
def test_high_and_low_bytes_join_to_the_value(x: list[int]) -> None:
    values = np.array([*x, -(2**15), 2**15 - 1, 32640, 32639, -129, -128, -1, 0, 127, 128], np.int16)
    for low, range_low, range_high in (("unsigned", (0, 255), (-128, 127)), ("signed", (-128, 127), (-128, 128))):
        high, low_byte = split_high_low(values, low)
        assert [256 * int(h) + int(b) for h, b in zip(high, low_byte, strict=True)] == values.tolist()
        assert range_low[0] <= low_byte.min() and low_byte.max() <= range_low[1]
        assert range_high[0] <= high.min() and high.max() <= range_high[1]


@pytest.mark.parametrize("passes", ["16x8", "8x8"])
@pytest.mark.parametrize("low", ["unsigned", "signed"])
@settings(deadline=None)
@given(
    k=st.integers(1, 1500), spread=st.sampled_from(["uniform", "ends", "lowest", "highest"]), seed=st.integers(0, 99)
)
def test_high_low_passes_equal_the_int16_product(passes: str, low: str, k: int, spread: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = codes(rng, "int16", (3, k), spread), codes(rng, "int16", (k, 2), spread)

    assert matmul_high_low(a, b, passes, low=low).tolist() == python_product(a, b)


def test_dropping_low_low_is_off_by_that_term_alone() -> None:
    rng = np.random.default_rng(9)
    a, b = codes(rng, "int16", (3, 500), "uniform"), codes(rng, "int16", (500, 2), "uniform")
    missing = matmul_high_low(a, b, "8x8") - matmul_high_low(a, b, "8x8_without_low_low")

    assert missing.tolist() == python_product(a & 255, b & 255)


@pytest.mark.parametrize(("overflow", "narrow"), [("wrap", wrapped), ("saturate", clamped)])
def test_each_pass_overflows_in_its_own_accumulator(overflow: str, narrow) -> None:
    a, b = np.full((1, 600), -32768, np.int16), np.full((600, 1), -32768, np.int16)
    high = narrow(600 * -32768 * -128)

    assert matmul_high_low(a, b, "16x8", overflow).tolist() == [[256 * high]]
    assert 600 * 32768 * 128 > 2**31


def test_two_blas_kernels_give_the_same_bits() -> None:
    code = (
        "import hashlib, numpy as np\n"
        "from simcore.matmul import matmul\n"
        "rng = np.random.default_rng(0)\n"
        "for k in (37, 1024, 5000):\n"
        "    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((65, k), (k, 67)))\n"
        "    print(hashlib.sha256(matmul(a, b, 3, -5).tobytes()).hexdigest())\n"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT,
            env={**os.environ, "OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(ROOT)},
        ).stdout
        for kernel in ("Haswell", "Nehalem")
    }  # fmt: skip

    assert len(results) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matmul(np.zeros((2, 3), np.int8), np.zeros((2, 3), np.int8)), r"\[2, 3\] and \[2, 3\]"),
        (lambda: matmul(np.zeros((2, 2, 3), np.int8), np.zeros((3, 3, 2), np.int8)), "broadcast"),
        (lambda: matmul(np.zeros((2, 3), np.float32), np.zeros((3, 2), np.int8)), "integer codes"),
        (lambda: matmul(np.zeros((2, 3), np.int8), np.zeros((3, 2), np.int8), 0.5), "integer codes and zero point"),
        (lambda: matmul(np.ones((2, 3), np.int8), np.zeros((3, 2), np.int8), [1, 2, 3]), "broadcast"),
        (lambda: matmul(np.zeros((2, 3), np.int8), operand(np.zeros((3, 2), np.int8)), 0, 1), "already prepared"),
        (lambda: matmul(np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int8), overflow="clip"), "clip"),
        (lambda: matmul(np.int8(1), np.zeros((1, 1), np.int8)), "do not fit"),
        (lambda: operand(np.array([2**24 + 1], np.int32)), "2\\^24"),
        (lambda: operand(np.array([2**30], np.int32), np.array([2**30])), "2\\^24"),
        (lambda: matmul(np.full((1, 40_000), 2**24, np.int32), np.full((40_000, 1), 2**24, np.int32)), "leave int64"),
        (lambda: split_high_low(np.array([1], np.int32)), "int16"),
        (lambda: split_high_low(np.array([1], np.int16), "both"), "both.*signed"),
        (lambda: matmul_high_low(np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int16), "4x4"), "4x4.*16x8"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
