"""Cycles of systolic arrays: equal to reports of SCALE-Sim 3.0.0, layer by layer."""

import pytest

from simcore.errors import BadArgument
from simcore.macs import Product
from simcore.systolic import Array, ConvLayer, array_cycles, conv_product

#: "Total Cycles" of COMPUTE_REPORT.csv by SCALE-Sim 3.0.0 (numpy 1.26.4), no stall cycles in any of them. Configuration:
#: InterfaceBandwidth CALC, SRAM of 2048 kB each, no custom layout, no sparsity. Layers drawn at random.
#: (height, width, kernel height, kernel width, channels, filters, stride), (rows, columns) -> cycles of os, ws, is
REPORTED = [
    ((14, 15, 2, 1, 5, 1, 1), (8, 8), (599, 433, 1149)),
    ((4, 25, 2, 3, 3, 1, 2), (16, 16), (95, 139, 187)),
    ((24, 16, 2, 3, 5, 1, 3), (32, 32), (183, 147, 189)),
    ((9, 10, 7, 1, 8, 64, 4), (16, 4), (1183, 2687, 783)),
    ((6, 10, 2, 2, 3, 10, 2), (7, 12), (86, 77, 135)),
    ((12, 22, 3, 3, 3, 1, 1), (8, 8), (1024, 887, 2299)),
    ((21, 15, 3, 5, 33, 4, 3), (16, 16), (1574, 2510, 4649)),
    ((5, 21, 1, 3, 8, 31, 2), (32, 32), (85, 123, 124)),
    ((21, 8, 5, 2, 24, 40, 1), (16, 4), (20639, 22949, 33299)),
    ((7, 4, 5, 2, 24, 64, 1), (7, 12), (3083, 6929, 3079)),
    ((24, 25, 5, 5, 3, 10, 1), (8, 8), (9433, 8839, 16959)),
    ((17, 25, 7, 5, 3, 1, 1), (16, 16), (2024, 1938, 4934)),
    ((9, 5, 3, 2, 33, 64, 3), (32, 32), (519, 1399, 1105)),
    ((11, 15, 2, 3, 1, 16, 1), (16, 4), (863, 655, 1649)),
    ((11, 19, 1, 3, 8, 40, 2), (7, 12), (1311, 1247, 1279)),
    ((26, 19, 5, 5, 8, 40, 4), (8, 8), (5349, 7124, 7749)),
    ((7, 20, 5, 5, 16, 10, 2), (16, 16), (859, 1599, 2799)),
    ((22, 17, 5, 5, 5, 16, 4), (32, 32), (186, 471, 439)),
    ((22, 15, 1, 5, 5, 64, 3), (16, 4), (2063, 2367, 1959)),
    ((9, 19, 7, 3, 33, 10, 2), (7, 12), (2129, 4157, 6731)),
    ((10, 18, 2, 3, 16, 10, 3), (8, 8), (659, 1103, 1151)),
    ((14, 20, 1, 3, 5, 4, 1), (16, 16), (719, 297, 799)),
    ((13, 10, 7, 1, 24, 4, 2), (32, 32), (229, 707, 587)),
    ((14, 6, 1, 2, 16, 16, 2), (16, 4), (399, 463, 599)),
    ((11, 5, 1, 2, 24, 31, 1), (7, 12), (1364, 1427, 1539)),
    ((19, 23, 2, 5, 8, 40, 2), (8, 8), (6109, 6099, 8059)),
    ((17, 12, 3, 5, 16, 16, 4), (16, 16), (269, 914, 929)),
    ((21, 16, 1, 2, 5, 31, 3), (32, 32), (143, 141, 249)),
]


@pytest.mark.parametrize(("layer", "array", "reported"), REPORTED)
def test_cycles_equal_scale_sim(layer: tuple[int, ...], array: tuple[int, int], reported: tuple[int, int, int]) -> None:
    product = conv_product(ConvLayer(*layer, layer[-1]), "ceil")

    assert tuple(array_cycles(product, Array(*array, flow)) for flow in ("os", "ws", "is")) == reported


def test_the_reports_contain_strides_that_do_not_divide() -> None:
    uneven = [1 for (h, w, fh, fw, _, _, s), _, _ in REPORTED if (h - fh) % s or (w - fw) % s]

    assert len(uneven) >= 10


@pytest.mark.parametrize("rounding", ["floor", "ceil"])
def test_output_sizes_are_those_of_onnx_or_of_scale_sim(rounding: str) -> None:
    layer = ConvLayer(10, 7, 3, 2, 4, 5, 2, 3)

    product = conv_product(layer, rounding)

    # Height: 7 / 2 + 1, width: 5 / 3 + 1.
    assert product == Product(1, 4 * 2 if rounding == "floor" else 5 * 3, 3 * 2 * 4, 5, 6)


def test_roundings_agree_where_the_stride_divides() -> None:
    layer = ConvLayer(9, 8, 3, 2, 4, 5, 2, 3)

    assert conv_product(layer, "floor") == conv_product(layer, "ceil")


def test_groups_run_one_after_the_other() -> None:
    array = Array(8, 8, "ws")

    assert array_cycles(Product(6, 10, 9, 1), array) == 6 * array_cycles(Product(1, 10, 9, 1), array)


def test_an_empty_product_takes_no_cycles() -> None:
    assert array_cycles(Product(1, 0, 9, 4), Array(8, 8, "os")) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: array_cycles(Product(1, 2, 3, 4), Array(0, 8, "os")),
        lambda: array_cycles(Product(1, 2, 3, 4), Array(8, 8, "rs")),
        lambda: conv_product(ConvLayer(2, 9, 3, 3, 1, 1)),
        lambda: conv_product(ConvLayer(9, 9, 3, 3, 1, 1, 0, 1)),
        lambda: conv_product(ConvLayer(9, 9, 3, 3, 1, 1), "round"),
    ],
    ids=["no rows", "unknown dataflow", "kernel larger than input", "stride 0", "unknown rounding"],
)
def test_what_cannot_be_is_refused(call) -> None:
    with pytest.raises(BadArgument):
        call()
