"""Layouts: shapes by formula, each element where the formula puts it, round trips without a lost bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore import layout
from simcore.errors import BadArgument

sizes = st.integers(1, 5)
channels = st.integers(1, 40)
c0s = st.sampled_from([4, 8, 16, 32])


def numbered(shape: tuple[int, ...], dtype: type = np.int32) -> np.ndarray:
    """Distinct values from 1, so that padding (0) and misplaced elements show."""
    return np.arange(1, math.prod(shape) + 1).astype(dtype).reshape(shape)


@pytest.mark.parametrize(
    ("dtype", "block32", "cube"),
    [
        ("int8", 32, 32),
        ("uint8", 32, 32),
        ("float16", 16, 16),
        ("int16", 16, 16),
        ("float32", 8, 16),
        ("int32", 8, 16),
        (np.float16, 16, 16),
    ],
)
def test_c0_follows_the_named_rule(dtype: str, block32: int, cube: int) -> None:
    assert layout.c0_of(dtype) == block32
    assert layout.c0_of(dtype, "cube") == cube


def test_int4_fills_32_bytes_with_64_elements() -> None:
    assert layout.c0_of("int4") == 64
    assert layout.size_bytes((3, 3), "int4") == 5


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [((), "float16", 2), ((2, 3), "float32", 24), ((0, 7), "int8", 0), ((1, 4, 5, 5, 16), "float16", 3200)],
)
def test_size_is_elements_times_bytes(shape: tuple[int, ...], dtype: str, size: int) -> None:
    assert layout.size_bytes(shape, dtype) == size


# NC1HWC0


@given(sizes, channels, sizes, sizes, c0s)
def test_nc1hwc0_places_each_channel_and_returns_it(n: int, c: int, h: int, w: int, c0: int) -> None:
    x = numbered((n, c, h, w))

    y = layout.pack_nc1hwc0(x, c0)

    assert y.shape == layout.nc1hwc0_shape(x.shape, c0) == (n, math.ceil(c / c0), h, w, c0)
    want = np.zeros_like(y)
    for index in np.ndindex(x.shape):
        i, j, k, m = index
        want[i, j // c0, k, m, j % c0] = x[index]
    assert np.array_equal(y, want)
    assert np.array_equal(layout.unpack_nc1hwc0(y, c), x)


# FRACTAL_Z


def scalar_fractal_z(x: np.ndarray, c0: int, group: int) -> np.ndarray:
    m, cin, h, w = x.shape
    cout = m // group
    e = 1
    while e < group and ((e * cin) % c0 or (e * cout) % 16):
        e += 1
    c1, n = math.ceil(e * cin / c0), math.ceil(e * cout / 16) * 16
    flat = [0] * (math.ceil(group / e) * c1 * h * w * n * c0)
    for g in range(group):
        for c in range(cin):
            for i in range(h):
                for j in range(w):
                    for o in range(cout):
                        ci, co = g % e * cin + c, g % e * cout + o
                        position = ((g // e * c1 + ci // c0) * h + i) * w + j
                        flat[(position * n + co) * c0 + ci % c0] = int(x[g * cout + o, c, i, j])
    return np.array(flat, x.dtype).reshape(-1, n // 16, 16, c0)


@given(st.integers(1, 12), st.integers(1, 20), st.integers(1, 20), st.integers(1, 3), st.integers(1, 3), c0s)
def test_fractal_z_equals_the_scalar_loop_and_returns(group: int, cout: int, cin: int, h: int, w: int, c0: int) -> None:
    x = numbered((group * cout, cin, h, w))

    y = layout.pack_fractal_z(x, c0, group)

    assert y.shape == layout.fractal_z_shape(x.shape, c0, group)
    assert np.array_equal(y, scalar_fractal_z(x, c0, group))
    assert np.array_equal(layout.unpack_fractal_z(y, x.shape, group), x)


@given(st.integers(1, 50), st.integers(1, 50), sizes, sizes, c0s)
def test_ungrouped_fractal_z_is_the_documented_transpose(m: int, c: int, h: int, w: int, c0: int) -> None:
    x = numbered((m, c, h, w))
    padded = np.pad(x, [(0, -m % 16), (0, -c % c0), (0, 0), (0, 0)])
    n1, c1 = padded.shape[0] // 16, padded.shape[1] // c0

    want = padded.reshape(n1, 16, c1, c0, h, w).transpose(2, 4, 5, 0, 1, 3).reshape(c1 * h * w, n1, 16, c0)

    assert np.array_equal(layout.pack_fractal_z(x, c0), want)


def test_the_documented_example_of_fractal_z() -> None:
    assert layout.fractal_z_shape((32, 32, 2, 2), 16) == (8, 2, 16, 16)


@pytest.mark.parametrize(
    ("cin", "cout", "c0", "group", "e"),
    [
        pytest.param(1, 1, 16, 32, 16, id="depthwise fp16"),
        pytest.param(1, 1, 32, 96, 32, id="depthwise int8"),
        pytest.param(1, 1, 16, 8, 8, id="fewer groups than a fractal holds"),
        pytest.param(3, 5, 16, 64, 16, id="coprime sizes"),
        pytest.param(16, 16, 16, 4, 1, id="each group fills its fractals"),
        pytest.param(8, 16, 32, 4, 4, id="int8 half filled"),
    ],
)
def test_groups_per_block(cin: int, cout: int, c0: int, group: int, e: int) -> None:
    assert layout.groups_per_block(cin, cout, c0, group) == e


# FRACTAL_NZ


@given(st.lists(sizes, max_size=2), channels, channels, c0s, st.sampled_from([8, 16]))
def test_fractal_nz_places_each_element_and_returns_it(batch: list[int], m: int, n: int, n0: int, m0: int) -> None:
    x = numbered((*batch, m, n))

    y = layout.pack_fractal_nz(x, n0, m0)

    assert y.shape == layout.fractal_nz_shape(x.shape, n0, m0)
    assert y.shape == (*batch, math.ceil(n / n0), math.ceil(m / m0), m0, n0)
    want = np.zeros_like(y)
    for index in np.ndindex(x.shape):
        *b, i, j = index
        want[(*b, j // n0, i // m0, i % m0, j % n0)] = x[index]
    assert np.array_equal(y, want)
    assert np.array_equal(layout.unpack_fractal_nz(y, m, n), x)


# all


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float16, np.float32, np.int64])
def test_round_trips_keep_every_bit_also_of_nan_and_negative_zero(dtype: type) -> None:
    raw = np.random.default_rng(7).integers(0, 256, (6, 5, 3, 2, np.dtype(dtype).itemsize), np.uint8)
    x = raw.view(dtype)[..., 0]
    c0 = layout.c0_of(dtype, "cube")

    trips = (
        layout.unpack_nc1hwc0(layout.pack_nc1hwc0(x, c0), 5),
        layout.unpack_fractal_z(layout.pack_fractal_z(x, c0, 2), x.shape, 2),
        layout.unpack_fractal_nz(layout.pack_fractal_nz(x, c0), 3, 2),
    )

    for back in trips:
        assert back.dtype == x.dtype
        assert back.tobytes() == x.tobytes()


def test_empty_feature_maps_and_matrices_stay_empty() -> None:
    assert layout.unpack_nc1hwc0(layout.pack_nc1hwc0(numbered((0, 3, 2, 2)), 16), 3).shape == (0, 3, 2, 2)
    assert layout.unpack_fractal_nz(layout.pack_fractal_nz(numbered((0, 3)), 16), 0, 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: layout.c0_of("int8", "wide"), "C0 rule 'wide' is unknown", id="rule"),
        pytest.param(lambda: layout.c0_of("int4", "cube"), "rule cube gives no C0", id="int4 cube"),
        pytest.param(lambda: layout.c0_of("S3"), "rule block32 gives no C0", id="24 bits"),
        pytest.param(lambda: layout.c0_of("half precision"), "no element type", id="dtype"),
        pytest.param(lambda: layout.size_bytes((2, -1), "int8"), "at least 0", id="negative"),
        pytest.param(lambda: layout.nc1hwc0_shape((1, 2, 3), 16), "must be 4 sizes", id="rank"),
        pytest.param(lambda: layout.nc1hwc0_shape((1, 2, 3, 4), 0), "C0 is 0", id="C0"),
        pytest.param(lambda: layout.unpack_nc1hwc0(numbered((1, 2, 1, 1, 16)), 16), "do not fill", id="channels"),
        pytest.param(lambda: layout.fractal_z_shape((6, 1, 1, 1), 16, 4), "do not divide", id="groups"),
        pytest.param(lambda: layout.fractal_z_shape((0, 1, 1, 1), 16), "empty axis", id="empty weights"),
        pytest.param(lambda: layout.fractal_z_shape((6, 1, 1, 1), 16, 0), "group is 0", id="no group"),
        pytest.param(
            lambda: layout.unpack_fractal_z(numbered((2, 1, 16, 16)), (4, 4, 1, 1)), "are stored as", id="weights"
        ),
        pytest.param(lambda: layout.fractal_nz_shape((3,), 16), "is no matrix", id="vector"),
        pytest.param(lambda: layout.unpack_fractal_nz(numbered((1, 1, 16)), 3, 3), "fewer than four", id="NZ rank"),
        pytest.param(lambda: layout.unpack_fractal_nz(numbered((1, 1, 16, 16)), 17, 3), "is stored as", id="NZ size"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
