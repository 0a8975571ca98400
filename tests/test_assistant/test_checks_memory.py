"""Checks of memory: numbers of known cases, arrays that are really made, what is refused, one sentence each."""

import math

import numpy as np
import pytest

from assistant.checks.table import CHECKS
from assistant.errors import BadInput
from simcore import layout
from tests.test_assistant.spoken import run, spoken


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        ("tensor_bytes", {"shape": "1x3x224x224", "layout": "NC4HW4"}, {"elements": 150528, "stored_elements": 200704}),
        ("tensor_bytes", {"shape": "100", "dtype": "int8", "allocator": "aclrtMalloc"}, {"total_bytes": 160}),
        ("tensor_bytes", {"shape": "100", "dtype": "int8", "allocator": "aclrtMallocAlign32"}, {"total_bytes": 128}),
        ("tensor_bytes", {"shape": "100", "dtype": "int8", "allocator": "split"}, {"total_bytes": 160}),
        ("tensor_bytes", {"shape": "3x5", "dtype": "int4"}, {"bytes": 8, "total_bytes": 8}),
        ("image_bytes", {"width": 1000, "height": 720, "row_align": 64},
         {"plain_bytes": 1080000, "stride": 1024, "bytes": 1105920}),
        ("image_bytes", {"width": 1000, "height": 720, "device": "j6e"}, {"stride": 1024, "bytes": 1105920}),
        ("recurrent_size", {"kind": "RNN", "input_size": 256, "hidden": 256, "layers": 30, "dtype": "float16"},
         {"weights": 3932160}),
        ("recurrent_size", {"kind": "LSTM", "input_size": 256, "hidden": 256, "layers": 30, "dtype": "float16"},
         {"weights": 15728640, "weight_mib": 30.0}),
        ("recurrent_size", {"kind": "GRU", "input_size": 256, "hidden": 256, "layers": 30, "dtype": "float16"},
         {"weights": 11796480, "macs_per_frame": 11796480}),
        ("byte_units", {"value": 10485760}, {"mib": 10.0, "fits": "no_limit", "times_limit": None}),
        ("byte_units", {"value": 59187712, "limit": 12e6}, {"mib": 56.44580078125, "fits": "no"}),
        ("byte_units", {"value": 1427746880}, {"gib": 1427746880 / 2**30}),
        ("byte_units", {"value": 0, "limit": 5}, {"fits": "yes", "limit_times": None}),
        ("activation_peak", {"shapes": "1x64x32x32, 1x32x32x32, 1x32x16x16"},
         {"sizes": [65536, 32768, 8192], "peak_bytes": 98304, "peak_at": 1, "sum_bytes": 106496}),
        ("activation_peak", {"shapes": "1x64x224x224", "limit": 2097152}, {"peak_bytes": 3211264, "fits": "no"}),
        ("activation_peak", {"shapes": "1x64x112x112 -> 1×64×112×112", "limit": 2097152},
         {"peak_bytes": 1605632, "fits": "yes"}),
        ("channel_padding", {"channels": 100}, {"padded": 112, "utilisation": 100 / 112}),
        ("head_padding", {"embed": 384, "heads": 8},
         {"head_dim": 48, "padded": 64, "utilisation": 0.75, "full_heads": 6}),
        ("padded_sequence", {"frames": 80, "width": 40},
         {"allocated_bytes": 163840, "needed_bytes": 12800, "ratio": 12.8}),
    ],
)  # fmt: skip
def test_known_cases(check: str, given: dict, expected: dict) -> None:
    result = run(check, given).result
    assert {name: result[name] for name in expected} == expected


def test_thirty_layers_of_each_kind_with_ncnn_biases() -> None:
    given = {"input_size": 256, "hidden": 256, "layers": 30, "bias": "ncnn"}
    sums = {
        dtype: sum(
            run("recurrent_size", {**given, "kind": kind, "dtype": dtype}).result["mib"]
            for kind in ("RNN", "LSTM", "GRU")
        )
        for dtype in ("float16", "int8")
    }
    assert round(sums["float16"], 2) == 60.13 and 30 < sums["int8"] < 30.1


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
@pytest.mark.parametrize("shape", [(1, 3, 5, 7), (2, 40, 1, 10), (1, 64, 3, 3)])
def test_layouts_take_the_bytes_of_the_packed_array(shape: tuple[int, ...], dtype: str) -> None:
    x = np.zeros(shape, dtype)
    c0 = layout.c0_of(dtype)
    packed = {
        "ND": x,
        "NC1HWC0": layout.pack_nc1hwc0(x, c0),
        "NC4HW4": layout.pack_nc1hwc0(x, 4),
        "FRACTAL_Z": layout.pack_fractal_z(x, c0),
        "FRACTAL_NZ": layout.pack_fractal_nz(x, c0),
    }
    for name, array in packed.items():
        result = run("tensor_bytes", {"shape": list(shape), "dtype": dtype, "layout": name}).result
        assert result["stored_shape"] == list(array.shape), name
        assert (result["bytes"], result["total_bytes"]) == (x.nbytes, array.nbytes), name


def test_batch_multiplies_and_rows_are_padded_each() -> None:
    result = run(
        "tensor_bytes", {"shape": "3x5x7", "dtype": "int16", "batch": 4, "row_align": 32, "align": 1000}
    ).result
    assert (result["row_bytes"], result["stored_bytes"], result["total_bytes"]) == (32, 4 * 15 * 32, 2000)
    rows = run("tensor_bytes", {"shape": "1x2x5x3", "dtype": "int8", "layout": "NHWC", "row_align": 16}).result
    assert (rows["row_bytes"], rows["stored_bytes"]) == (16, 2 * 16)


@pytest.mark.parametrize(
    ("check", "given", "says"),
    [
        ("tensor_bytes", {"shape": "1x0x2"}, "shape.*too small"),
        ("tensor_bytes", {"shape": "2x3", "layout": "NC1HWC0"}, "needs four sizes"),
        ("tensor_bytes", {"shape": "1x3x2x2", "layout": "NC1HWC0", "row_align": 16}, "row_align"),
        ("tensor_bytes", {"shape": "5", "group": 2}, "group"),
        ("tensor_bytes", {"shape": "5", "allocator": "split", "align": 64}, "allocator"),
        ("tensor_bytes", {"shape": [10**9] * 8, "batch": 10**6}, "shape.*check the sizes"),
        ("image_bytes", {"width": 999, "height": 720}, "width 999"),
        ("image_bytes", {"width": 8, "height": 8, "device": "j6p", "row_align": 32}, "row_align"),
        ("recurrent_size", {"kind": "LSTM", "input_size": 0, "hidden": 1}, "input_size"),
        ("byte_units", {"value": -1}, "value"),
        ("byte_units", {"value": math.nan}, "value"),
        ("activation_peak", {"shapes": "1x2;axb"}, "'axb' is no shape"),
        ("activation_peak", {"shapes": "1x²"}, "is no shape"),
        ("activation_peak", {"shapes": ";;"}, "found 0 tensors"),
        ("activation_peak", {"shapes": "1 " * 1001}, "found 1001 tensors"),
        ("activation_peak", {"shapes": "999999999x999999999x999999999"}, "check the sizes"),
        ("head_padding", {"embed": 100, "heads": 7}, "does not divide"),
        ("padded_sequence", {"frames": 80, "width": 1, "allocated": 40}, "wrong results"),
    ],
)
def test_what_does_not_fit_is_named(check: str, given: dict, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        run(check, given)


@pytest.mark.parametrize(
    ("check", "given", "zh", "en"),
    [
        ("tensor_bytes", {"shape": "1x3x224x224", "dtype": "float32", "layout": "NC4HW4"},
         "占 802816 字节（0.765625 MiB）：150528 个 float32 元素，紧凑 602112 字节，NC4HW4 布局存 200704 个元素",
         "takes 802816 bytes (0.765625 MiB): 150528 elements of float32, 602112 bytes plain, 200704 elements as NC4HW4 stores them"),
        ("image_bytes", {"width": 1000, "height": 720, "device": "j6p"},
         "需要 1105920 字节：stride 1024，比不对齐的 1080000 字节多 25920",
         "needs 1105920 bytes: stride 1024, 25920 more than the 1080000 bytes without padding"),
        ("recurrent_size", {"kind": "GRU", "input_size": 40, "hidden": 128, "dtype": "int8", "bias": "none"},
         "int8 权重 0.0615234 MiB（64512 个），连偏置 0.0615234 MiB，每帧 64512 次乘加",
         "weights take 0.0615234 MiB in int8 (64512 of them), 0.0615234 MiB with biases; 64512 multiply-adds per frame"),
        ("byte_units", {"value": 10485760, "limit": 12e6},
         "10485760 字节 = 10 MiB = 0.00976562 GiB（十进制 10.4858 MB）；放得下",
         "10485760 bytes = 10 MiB = 0.00976562 GiB (10.4858 MB decimal); fits"),
        ("activation_peak", {"shapes": "1x64x32x32;1x32x32x32;1x32x16x16"},
         "峰值 98304 字节（第 1 个张量和下一个），全部之和 106496 字节；没有给上限",
         "peak 98304 bytes (tensor 1 and the next), 106496 bytes in all; no limit given"),
        ("channel_padding", {"channels": 100}, "100 通道补到 112，利用率 0.892857",
         "100 channels are padded to 112, utilisation 0.892857"),
        ("head_padding", {"embed": 384, "heads": 8}, "head_dim 48 补到 64，利用率 0.75；不浪费的头数 6",
         "head_dim 48 is padded to 64, utilisation 0.75; heads that waste nothing: 6"),
        ("padded_sequence", {"frames": 80, "width": 40},
         "改成 80 帧只要 12800 字节；按 1024 帧分配是 163840 字节，12.8 倍",
         "80 frames need 12800 bytes; allocated for 1024 they take 163840, 12.8 times as much"),
    ],
)  # fmt: skip
def test_outcomes_as_sentences(check: str, given: dict, zh: str, en: str) -> None:
    assert spoken(check, given) == (zh, en)


def test_examples_of_parameters_are_accepted() -> None:
    from assistant.checks.values import value_of

    for check in CHECKS.values():
        for parameter in check.parameters:
            if parameter.kind != "file":
                value_of(parameter, parameter.example)
