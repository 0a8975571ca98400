"""Codes: every spelling is one key, several platforms are all shown, and ordinary numbers are no codes."""

import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from assistant.errors import BadInput
from assistant.logs import table as tables
from assistant.logs.codes import find_codes, lookup
from assistant.logs.spelling import normalise
from assistant.logs.types import CERTAINTIES, Meaning
from tests.conftest import ROOT, run_cli

TABLES = sorted((ROOT / "corpus" / "codes").glob("*.tsv"))
ROWS = [meaning for meanings in tables.table().meanings.values() for meaning in meanings]
ENTRY_IDS = set(
    re.findall(r"\{#([a-z0-9-]+)\}", "".join(p.read_text(encoding="utf-8") for p in ROOT.glob("corpus/*/*.zh.md")))
)

SPELLINGS = [
    ("507899", "507899"),
    (" 507899 ", "507899"),
    ("[507899]", "507899"),
    ("ret[145002]", "145002"),
    ("ret = [145002]", "145002"),
    ("ret = [507899]", "507899"),
    ("ge ret[145002]", "145002"),
    ("ge result[145002]", "145002"),
    ("ErrorNo:545000", "545000"),
    ("error code is 507018", "507018"),
    ("errorCode is 507018", "507018"),
    ("错误码507018", "507018"),
    ("错误码是 507018。", "507018"),
    ("返回值：507018", "507018"),
    ("retCode=0x7020023", "117571619"),
    ("retCode=117571606", "117571606"),
    ("0x7020016", "117571606"),
    ("0X07020016", "117571606"),
    ("ret: 0x7BC80", "507008"),
    ("0x7bc80", "507008"),
    ("drvRetCode=6", "6"),
    ("errorCode=0x2a", "42"),
    ("InnerCode=0x7150050", "118816848"),
    ("hcclRet -> 7", "7"),
    ("errno 0x7BC80", "507008"),
    ("errNo[0x0000000005000007]", "83886087"),
    ("return[83951623]", "83951623"),
    ("Ret [4294967295]", "-1"),
    ("0xffffffff", "-1"),
    ("0xffffffffffffffff", "-1"),
    ("18446744073709551615", "-1"),
    ("-1", "-1"),
    ("-6000001", "-6000001"),
    ("4288967295", "-6000001"),
    ("0xffa4727f", "-6000001"),
    ("-100001", "-100001"),
    ("0xfffe795f", "-100001"),
    ("ret is -8005", "-8005"),
    ("0x50100001", "1343225857"),
    ("EZ1001", "EZ1001"),
    ("ez9999", "EZ9999"),
    ("E19999", "E19999"),
    ("EE1001:", "EE1001"),
    ("ERR00100", "ERR00100"),
    ("Title(EL0009)", "EL0009"),
    ("'errCode': 'E80000'", None),
    ("", None),
    ("145,002", None),
    ("145，002", None),
    ("1,45002", None),
    ("145002.5", None),
    ("0145002", None),
    ("0x", None),
    ("0xfffffffffffffffff", None),
    ("184467440737095516150", None),
    ("145 002", None),
    ("１４５００２", None),
    ("145002 545000", None),
    ("RTX4090", None),
    ("abc507899", None),
    ("E1", None),
    ("EZ10011", None),
    ("hello", None),
    ("9" * 100_000, None),
]

IN_TEXT = [
    ("[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[M.exeom] failed, ret = [145002]",
     ["545000", "145002"]),
    ("[model.c:205]7:REPORT_CALL_ERROR query partition size failed, ge ret[145002]", ["145002"]),
    ("REPORT_CALL_ERROR sync execute model failed, ret[507899], modelId[1]", ["507899"]),
    ("hal execute failed ret[-1].", ["-1"]),
    ("Interface of aclInit return failed, error code is:100002", ["100002"]),
    ("Aicpu kernel execute failed, device_id=0, errorCode=0x2a", ["42"]),
    ("Alloc sq cq fail, stream_id=1984, retCode=0x7020023", ["117571619"]),
    ("halSqCqAllocate failed, drvRetCode=14", ["14"]),
    ("call trace: hcclRet -> 7", ["7"]),
    ("errNo[0x0000000005000007] hcclComm init error, return[83951623]", ["83886087", "83951623"]),
    ("simpler_init failed with code 507899", ["507899"]),
    ("rtMalloc failed: 507899", ["507899"]),
    ("Init plugin so failed, ret = 1343225860", ["1343225860"]),
    ("dcmi module initialize failed. ret is -8005", ["-8005"]),
    ("EZ9999: [PID: 7] Inner Error", ["EZ9999"]),
    ("EZ9998: a number no table has", ["EZ9998"]),
    ("Config_Error_Ranktable(E10014): Value is invalid", ["E10014"]),
    ("{'errCode': 'E80000', 'op_name': 'x'}", ["E80000"]),
    ("[ERROR] (PID:1, Device:0, RankID:0) ERR02200 DIST call hccl api failed", ["ERR02200"]),
    ("rknn_run fail! ret=-6", ["-6"]),
    ("hbDNNInfer failed, error code: -6000001", ["-6000001"]),
    ("hbUCPSubmitTask (-200002)", ["-200002"]),
    ("cnrtErrorNoDevice on start", ["100004"]),
    ("torch says ACL_ERROR_RT_AICORE_EXCEPTION here", ["507015"]),
    ("aclmdlQuerySize 返回 145002 是什么原因", ["145002"]),
    ("推理报错507899怎么办", ["507899"]),
    ("错误码是507018、507899和 145002", ["507018", "507899", "145002"]),
    ("what do error codes 507018, 507899 and 145002 mean", ["507018", "507899", "145002"]),
    ("aclInit returns 100039, why", ["100039"]),
    ("my app stops with 0x7110011 in the log", ["118554641"]),
    ("ez9999 on startup", ["EZ9999"]),
    ("error code 123456 appears", ["123456"]),
]  # fmt: skip

NO_CODES = [
    "",
    "the array has 145002 elements",
    "145002",
    "we trained for 100001 steps",
    "it returned 100001 rows",
    "returns 107000 items",
    "the result is 507018",
    "result = 100000",
    "a total of 507899 images",
    "共有 507899 张图片",
    "编号 145002 的工单",
    "价格 145,002 元",
    "ret = 145,002",
    "error rate 0.145002",
    "loss 0.507018 at step 107002",
    "sha1 a145002bcdef507899",
    "commit 145002f",
    "phone 13800145002",
    "zip code 100005",
    "邮政编码 100010",
    "邮编：100007",
    "post code: 100015",
    "HTTP error code 404",
    "http status code: 503",
    "the process ended with exit code 1",
    "code 200 means fine",
    "ret = 0",
    "ret[0]",
    "error code 0",
    "return 5 values",
    "return 100000;",
    "    ret = -1;",
    "    int ret = 5;",
    "result = 1",
    "#define IGNORE_RETURN_CODES 0x2",
    "secret = 145002",
    "interpret: 507018",
    "list[100000]",
    "x[507018] = 4",
    "range(100001)",
    "weight:0x7010001,tiling:0x0",
    "ks pc:0x7020016,param:0x7020017",
    "0xdeadbeef",
    "color 0x7BC8",
    "mask 0x2a",
    "version 107.002",
    "2026-11-30 10:70:02",
    "192.168.107.0",
    "port 50000 is taken",
    "opset 17, int8, fp16, 1x3x224x224",
    "the E5-2680 processor",
    "EN10025 steel and E12345 parts",
    "the ED1234 sensor",
    "E27 bulb, E10 fuel, E441 gelatine",
    "WE1234 and W12345",
    "quantization error 100001",
    "mean squared error: 100002",
    "round-off error 145000",
    "误差 145000",
    "验证码 107001",
    "error 507000 times in a row",
    "报错 100001 次",
    "code 100000 lines of C",
    "max error 100001",
    "PATH_INVALID is a constant, so is OUT_OF_MEMORY",
    "Invalid_Argument is a title",
    "ACL_SUCCESS",
    "model 3403, Hi3322, Ascend310P3, RTX4090",
    "it took 145002 ms, then 507018 us",
    "temperature -100001 or -6000001",
    "errors: 12 warnings: 3",
    "failed after 100001 iterations",
    "显存占用 107002 MB",
    "第 145002 行",
]

HOSTILE = {
    "digits": "1" * 200_000,
    "spaced digits": "1 " * 100_000,
    "hex": "0x" + "f" * 200_000,
    "zeros and x": "0x" * 100_000,
    "letters": "E" * 200_000,
    "underscores": "_" * 200_000,
    "brackets": "[(" * 100_000,
    "ret brackets": "ret[" * 50_000,
    "equal signs": "ret" + "=" * 200_000 + "1",
    "spaces": "error code" + " " * 200_000 + "507018",
    "codes": "ret[145002] " * 16_000,
    "commas": "507018, " * 25_000,
    "minus": "-" * 200_000,
    "wide": "错误码" * 60_000,
    "is is": "error code is " * 14_000,
    "lines": "\n" * 200_000,
    "E-codes": "EZ9999: " * 25_000,
    "unknown E-codes": "EZ9998: " * 25_000,
}


@pytest.mark.parametrize(("spelling", "key"), SPELLINGS, ids=[repr(spelling[:30]) for spelling, _ in SPELLINGS])
def test_every_spelling_has_one_key(spelling: str, key: str | None) -> None:
    assert normalise(spelling) == key


@pytest.mark.parametrize(("text", "codes"), IN_TEXT, ids=[text[:40] for text, _ in IN_TEXT])
def test_codes_are_found_where_the_text_says_so(text: str, codes: list[str]) -> None:
    found = find_codes(text)

    assert [one.code for one in found] == codes
    assert all(text[one.start : one.end] == one.spelling for one in found)


@pytest.mark.parametrize("text", NO_CODES)
def test_ordinary_numbers_are_no_codes(text: str) -> None:
    assert find_codes(text) == ()


def test_there_are_enough_sentences_without_codes() -> None:
    assert len(NO_CODES) >= 40


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_is_complete_and_spelled_by_its_key(path: Path) -> None:
    for meaning in (one for one in ROWS if one.platform == path.stem):
        assert normalise(meaning.code) == meaning.code
        assert re.search(r"[\u4e00-\u9fff]", meaning.meaning_zh), meaning
        assert meaning.meaning_en.isascii(), meaning
        assert meaning.meaning_en, meaning
        assert meaning.module, meaning
        assert len(meaning.source) >= 6, meaning
        assert meaning.certainty in CERTAINTIES
        assert not meaning.entry or meaning.entry in ENTRY_IDS, meaning
        told = " ".join((meaning.source, meaning.cause_hint_zh, meaning.cause_hint_en))
        assert not re.search(r"/work|/tmp|\bids? \d{6}", told), meaning


def test_every_hint_is_given_in_both_languages() -> None:
    hints = {(meaning.cause_hint_zh, meaning.cause_hint_en) for meaning in ROWS}
    hints.discard(("", ""))

    assert len(hints) >= 600
    for chinese, english in hints:
        assert re.search(r"[\u4e00-\u9fff]", chinese), (chinese, english)
        assert english.isascii(), (chinese, english)
        assert english, (chinese, english)
        assert chinese != english


def test_there_are_2000_codes_and_none_twice() -> None:
    count = Counter((meaning.platform, meaning.code) for meaning in ROWS)

    assert len(count) >= 2_000
    assert count.most_common(1)[0][1] == 1


def test_every_table_has_a_platform_and_every_row_its_own() -> None:
    known = tables.table()

    assert {path.stem for path in TABLES} == set(known.platforms)
    assert {meaning.platform for meaning in ROWS} == set(known.platforms)
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in TABLES) == len(ROWS)
    for path in TABLES:
        assert {line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]} == {path.stem}


@pytest.mark.parametrize(
    "meaning", [one for one in ROWS if one.code.lstrip("-").isdecimal()][::7], ids=lambda m: m.code
)
def test_all_spellings_of_a_number_agree(meaning: Meaning) -> None:
    value = int(meaning.code)
    spellings = [meaning.code, hex(value & 0xFFFFFFFF), f"0X{value & 0xFFFFFFFF:08X}", f"ret = [{meaning.code}]"]
    if value < 0:
        spellings += [str(value & 0xFFFFFFFF), str(value & 0xFFFFFFFFFFFFFFFF)]

    for spelling in spellings:
        assert meaning in lookup(spelling), spelling


@pytest.mark.parametrize(
    "meaning", [one for one in ROWS if one.code != "0"][::5], ids=lambda m: f"{m.platform}-{m.code}"
)
def test_a_code_is_found_behind_a_code_word(meaning: Meaning) -> None:
    text = f"call failed, error code: {meaning.code}, giving up"

    assert [one.code for one in find_codes(text)] == [meaning.code]
    assert meaning in lookup(text)
    assert lookup(text, platform=meaning.platform) == (meaning,)


@pytest.mark.parametrize(
    ("code", "platforms"),
    [
        ("100004", ["ascend-acl", "svp-acl", "cambricon-cnrt"]),
        ("148049", ["ascend-acl", "svp-acl"]),
        ("145002", ["ascend-ge"]),
        ("507899", ["ascend-rt"]),
        ("7", ["nano-driver", "ascend-hccl", "ascend-ts", "cambricon-cndev"]),
        ("83951623", ["ascend-hccl"]),
        ("-1", ["ascend-ge-inner", "rknn"]),
        ("E10014", ["cann"]),
        ("ERR00100", ["torch-npu"]),
        ("HCCL_E_UNAVAIL", ["ascend-hccl"]),
        ("acl_error_rt_aicore_exception", ["ascend-rt"]),
        ("987654321", []),
        ("nothing here", []),
    ],
)
def test_all_platforms_with_a_code_are_candidates(code: str, platforms: list[str]) -> None:
    assert [meaning.platform for meaning in lookup(code)] == platforms


def test_every_code_of_several_platforms_is_shown_whole() -> None:
    shared = [meanings for meanings in tables.table().meanings.values() if len(meanings) > 1]

    assert len(shared) >= 90
    for meanings in shared:
        assert set(meanings) <= set(lookup(meanings[0].code))


@pytest.mark.parametrize(
    ("code", "platform", "expected"),
    [
        ("100004", "cambricon-cnrt", ["cambricon-cnrt"]),
        ("100004", "magicmind", ["cambricon-cnrt"]),
        ("100004", "nano", ["ascend-acl"]),
        ("145002", "Nano", ["ascend-ge"]),
        ("145002", "horizon", []),
        ("6", "nano", ["nano-driver"]),
        ("0xfffe795f", "horizon", ["horizon-ucp"]),
        ("145002", "no such platform", []),
    ],
)
def test_a_platform_narrows_the_candidates(code: str, platform: str, expected: list[str]) -> None:
    assert [meaning.platform for meaning in lookup(code, platform)] == expected


def test_a_text_gives_the_meanings_of_all_its_codes() -> None:
    meanings = lookup("ErrorNo:545000(X) Load file failed, ret = [145002], ge ret[145002], DRV_ERROR_BUSY")

    assert [meaning.code for meaning in meanings] == ["545000", "145002", "13"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    text = HOSTILE[name]
    find_codes("warm")

    started = time.process_time()
    find_codes(text)
    lookup(text[:200_000])
    normalise(text)

    assert time.process_time() - started < 6


def test_the_tables_are_read_when_first_asked() -> None:
    code = (
        "import sys; from assistant.logs import codes, table; "
        "print(table._read.cache_info().currsize, 'numpy' in sys.modules); "
        "codes.lookup('1'); print(table._read.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert done.stdout.split() == ["0", "False", "1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("p\t1\tN\tm", "4 columns"),
        ("p\t1\tN\tm\t坏\tbad\t\t\tsource\tguess\t", "certainty 'guess'"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "platforms.toml").write_text("[p]\n", encoding="utf-8")
    (tmp_path / "p.tsv").write_text("\t".join(tables.COLUMNS) + "\n" + row + "\n", encoding="utf-8")

    with pytest.raises(BadInput, match=f"p.tsv:2: {message}"):
        tables._read(tmp_path)


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "platforms.toml").write_text("[p]\n", encoding="utf-8")
    (tmp_path / "p.tsv").write_text("code\tname\n", encoding="utf-8")

    with pytest.raises(BadInput, match=r"p\.tsv:1: expected the columns platform"):
        tables._read(tmp_path)


def test_a_corpus_without_codes_knows_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKNPU_CORPUS", str(tmp_path))

    assert lookup("507899") == ()
    assert find_codes("ret = [507899]")[0].code == "507899"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("507899",), 0, b"507899"),
        (("0x7BFFB", "507018"), 0, b"507899"),
        (("ret = [145001]", "--platform", "nano"), 0, b"145001"),
        (("123456789",), 1, b"not a known code"),
        (("507899", "123456789"), 1, b"not a known code"),
        ((), 2, b"give a code"),
        (("1", "--platform", "tpu"), 2, b"--platform tpu: unknown; choose one of"),
    ],
)
def test_the_command_says_what_codes_mean(tmp_path: Path, arguments: tuple[str, ...], code: int, said: bytes) -> None:
    done = run_cli("code", *arguments, "--lang", "en", home=tmp_path)

    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_the_command_gives_json_for_every_platform_that_uses_a_code(tmp_path: Path) -> None:
    data = json.loads(run_cli("code", "507899", "\x1b[31m1", "--json", home=tmp_path).stdout)
    first = data["codes"][0]

    assert data["schema"] == 1 and first["spelling"] == "507899"
    assert all({"platform", "code", "meaning", "source", "certainty"} <= set(m) for m in first["meanings"])
    assert {m["platform"] for m in first["meanings"]} == {m.platform for m in lookup("507899")}
    hints = [m["cause_hint"] for m in first["meanings"]]
    assert hints == [{"zh": m.cause_hint_zh, "en": m.cause_hint_en} for m in lookup("507899")]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_command_gives_hints_in_the_language_of_the_answer(tmp_path: Path, lang: str) -> None:
    said = run_cli("code", "507899", "--lang", lang, home=tmp_path).stdout.decode()
    (meaning,) = lookup("507899")

    assert (meaning.cause_hint_zh in said) == (lang == "zh")
    assert (meaning.cause_hint_en in said) == (lang == "en")
