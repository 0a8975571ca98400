"""Words are found whatever their writing: width, traditional characters, case, compounds."""

import pytest

from kb import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＴＣ　参数", ["atc", "参数"]),
        ("權重", ["权重"]),
        ("記憶體", ["内存"]),
        ("input_fp16_nodes", ["input_fp16_nodes", "input", "fp16", "node"]),
        ("AveragePool", ["averagepool", "averag", "pool"]),
        ("64MHz", ["64mhz", "64", "mhz"]),
        ("int8 s16*s8", ["int8", "s16", "s8"]),
        ("v1.16.0", ["v1.16.0", "v1", "16", "0"]),
        ("怎么量化模型", ["量化", "化模", "模型"]),
        ("权\u200b重\x00", ["权", "重"]),
        ("the and 的 吗", []),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert terms.tokens(text) == expected


@pytest.mark.parametrize(
    ("left", "right"), [("quantized", "quantization"), ("compiling", "compiled"), ("层数", "層數")]
)
def test_forms_of_a_word_share_a_token(left: str, right: str) -> None:
    assert terms.tokens(left) == terms.tokens(right)


@pytest.mark.parametrize(
    ("text", "lang"),
    [("权重1M的模型占多少内存", "zh"), ("what is ATC", "en"), ("LSTM 支持吗", "zh"), ("145002", "en"), ("", "en")],
)
def test_language(text: str, lang: str) -> None:
    assert terms.language(text) == lang


def test_clean_survives_lone_surrogates_and_controls() -> None:
    assert terms.clean("a\ud800b\x1b[31m\u202ec") == "a?b [31m c"


def test_phrase_key_ignores_punctuation_width_and_case() -> None:
    assert terms.phrase_key("ＡＴＣ 的 mode？") == terms.phrase_key("atc的mode")
