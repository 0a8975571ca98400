"""Log lines as records: every grammar, blocks kept together, streams kept apart."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.logs.decode import lines
from assistant.logs.grammars import GRAMMARS, level_of
from assistant.logs.records import IDLE_MOST, LINES_MOST, Record, Recorder, head, records


def read(text: str) -> list[Record]:
    return list(records(lines(text.encode())))


# Per grammar: (line, what the record says)
SAMPLES: dict[str, list[tuple[str, dict[str, object]]]] = {
    "nano-driver": [
        ("[NFS]region table empty", {"module": "NFS", "message": "region table empty", "level": ""}),
        ("[NDRV]tsdrv_demo_irq_handle, acsqid:0x3", {"module": "NDRV", "message": "tsdrv_demo_irq_handle, acsqid:0x3"}),
        ("[NOS]demo thread create fail, ret: 12", {"module": "NOS", "message": "demo thread create fail, ret: 12"}),
        ("NDRV]halMemAlloc fail, size:4096", {"module": "NDRV", "message": "halMemAlloc fail, size:4096"}),
        ("[12:00:01.250] [NDRV]wait demo fail", {"module": "NDRV", "timestamp": "12:00:01.250"}),
        ("[NDRV] [WARN] slow", {"module": "NDRV", "level": "warning", "message": "slow"}),
    ],
    "nano-ge": [
        ("[ERROR][demo_load.c:31]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed", {"level": "error", "module": "GE", "file": "demo_load.c", "line_in_source": 31, "tid": "7", "code": "545000", "message": "[open][file] failed"}),
        ("[WARN][demo_exec.c:8]12:ErrorNo:545001(GE_ERRORNO_STR)[GE][MODULE] slow", {"level": "warning", "tid": "12", "code": "545001"}),
        ("[demo_exec.c:8]12:ErrorNo:545001(GE_ERRORNO_STR)[GE][MODULE] slow", {"level": "error", "file": "demo_exec.c"}),
        ("RROR][demo_exec.c:8]12:ErrorNo:545001(GE_ERRORNO_STR)[GE][MODULE] x", {"level": "error", "line_in_source": 8}),
        ("ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[a.exeom] failed", {"code": "545000", "file": "", "message": "Load file[a.exeom] failed"}),
        ("demo_exec.c:8]12:ErrorNo:545001(GE_ERRORNO_STR)[GE][MODULE] x", {"file": "demo_exec.c", "tid": "12"}),
    ],
    "nano-acl": [
        ("[ERROR][demo.c:41]7:REPORT_CALL_ERROR query size failed, ge ret[145002]", {"level": "error", "module": "REPORT_CALL_ERROR", "file": "demo.c", "tid": "7", "message": "query size failed, ge ret[145002]"}),
        ("[ERROR][demo.c:41]7:REPORT_INNER_ERROR bad handle", {"module": "REPORT_INNER_ERROR", "message": "bad handle"}),
        ("[demo.c:41]7:REPORT_CALL_ERROR no level", {"level": "error", "message": "no level"}),
        ("[ERROR][demo.c:41]7:[ACL][MODULE] null input", {"module": "ACL", "message": "null input"}),
        ("REPORT_CALL_ERROR all lost", {"message": "all lost", "file": ""}),
        ("ROR][demo.c:41]7:REPORT_CALL_ERROR x", {"level": "error", "line_in_source": 41}),
    ],
    "nano-runtime": [
        ("[ERROR][demo_hal.c:83]8 hal demo failed ret[-1].", {"level": "error", "file": "demo_hal.c", "tid": "8", "message": "hal demo failed ret[-1]."}),
        ("[WARN][demo_hal.c:84]8 retry", {"level": "warning", "message": "retry"}),
        ("[demo_hal.c:83]8 hal demo failed", {"level": "", "tid": "8"}),
        ("[INFO][src/demo_hal.c:5]10 start", {"level": "info", "file": "src/demo_hal.c", "tid": "10"}),
        ("RROR][demo_hal.c:83]8 hal demo failed", {"level": "error", "line_in_source": 83}),
    ],
    "nano-sample": [
        ("[AI_NPU] model ready", {"module": "AI_NPU", "message": "model ready"}),
        ("[AI_NPU]load demo.exeom fail", {"message": "load demo.exeom fail"}),
        ("Interface of aclInit return failed, error code is:100000", {"message": "Interface of aclInit return failed, error code is:100000"}),
        ("[AI_NPU] cost 12 ms", {"message": "cost 12 ms"}),
        ("Interface of aclrtSetDevice return failed, error code is:507899", {"module": ""}),
    ],
    "cann-plog": [
        ("[ERROR] RUNTIME(4211,python3):2026-01-02-03:04:05.678.901 [demo_task.cc:77]4300 DemoWait:wait failed, retCode=0x91", {"level": "error", "module": "RUNTIME", "pid": "4211", "timestamp": "2026-01-02-03:04:05.678.901", "file": "demo_task.cc", "line_in_source": 77, "tid": "4300", "message": "DemoWait:wait failed, retCode=0x91"}),
        ("[INFO] GE(10,atc.bin):2026-01-02-03:04:05.678.901 [demo.cc:9][10] Demo: done", {"tid": "10", "message": "Demo: done"}),
        ("[WARNING] HCCL(10,):2026-01-02-03:04:05.678.901 [demo.cc:9] [10]no proc", {"level": "warning", "pid": "10", "tid": "10"}),
        ("[ERROR] AMCT(55,demo):[demo_quant.cc:3] weight unsuitable", {"module": "AMCT", "timestamp": "", "file": "demo_quant.cc"}),
        ("RROR] DRV(1,x):2026-01-02-03:04:05.678.901 [demo.c:2]lost front", {"level": "error", "module": "DRV"}),
        ("[EVENT] TDT(-1,x):2026-01-02-03:04:05.678.901 [demo.c:2]ev", {"level": "info", "pid": "-1"}),
    ],
    "cann-block": [
        ("EZ9999: Inner Error!", {"code": "EZ9999", "message": "Inner Error!", "level": "error"}),
        ("EE1001: [PID: 77] 2026-01-02-03:04:05.678.901 device id is outside the range", {"code": "EE1001", "pid": "77", "timestamp": "2026-01-02-03:04:05.678.901"}),
        ("E10007: option is required", {"code": "E10007", "message": "option is required"}),
        ("Resource_Error_Demo(EL0009): no room", {"code": "EL0009", "module": "Resource_Error_Demo", "message": "no room"}),
        ("[PID: 7] 2026-01-02-03:04:05.678.901 Config_Error_Demo(E10014): bad table", {"code": "E10014", "pid": "7"}),
        ("EZ3002: [PID: 5] operator unknown", {"pid": "5", "message": "operator unknown"}),
    ],
    "torch-npu": [
        ("[ERROR] 2026-01-02-03:04:05 (PID:77, Device:0, RankID:3) ERR01100 OPS call failed", {"level": "error", "pid": "77", "code": "ERR01100", "module": "OPS", "stream": "rank 3", "message": "call failed"}),
        ("[ERROR] 2026-01-02-03:04:05 (PID:77, Device:-1, RankID:-1) ERR00005 PTA internal", {"stream": "", "code": "ERR00005", "module": "PTA"}),
        ("[W102 03:04:05.678901234 demo_depend.ts:51] Warning: slow path", {"level": "warning", "file": "demo_depend.ts", "line_in_source": 51}),
        ("[E102 03:04:05.678901234 DemoGroup.cpp:9] watchdog", {"level": "error", "message": "watchdog"}),
        ("ERR02200 DIST comm failed", {"code": "ERR02200", "module": "DIST", "message": "comm failed"}),
        ("[rank1]:[W102 03:04:05.678901234 Demo.cpp:9] x", {"stream": "rank1"}),
    ],
    "mindspore": [
        ("[ERROR] DEVICE(91,7f00aa10,python):2026-01-02-03:04:05.678.901 [plugin/demo.cc:12] Run] demo failed", {"level": "error", "module": "DEVICE", "pid": "91", "tid": "7f00aa10", "file": "plugin/demo.cc", "line_in_source": 12, "message": "Run] demo failed"}),
        ("[WARNING] ME(91:281,MainProcess):2026-01-02-03:04:05.678.901 [demo.py:1] x", {"pid": "91", "tid": "281", "file": "demo.py"}),
        ("[CRITICAL] GE_ADPT(91,0x7f00,python):2026-01-02-03:04:05.678.901 [demo.cc:1] F] y", {"level": "critical", "tid": "0x7f00"}),
        ("[INFO] KERNEL(91,7f00,python):2026-01-02-03:04:05.678.901 [demo.cc:1] F] y", {"level": "info", "module": "KERNEL"}),
        ("RNING] MD(91,7f00,python):2026-01-02-03:04:05.678.901 [demo.cc:1] F] y", {"level": "warning"}),
        ("[DEBUG] PARSER(91,7f00,python):2026-01-02-03:04:05.678.901 [demo.cc:1] F] y", {"level": "debug"}),
    ],
    "python-traceback": [("Traceback (most recent call last):", {"level": "error"})]
    + [(prefix + "Traceback (most recent call last):", {"stream": stream}) for prefix, stream in [("[rank2]: ", "rank2"), ("(EngineCore_0 pid=5) ", "EngineCore_0 pid=5"), ("web-1  | ", "web-1"), ("\x1b[31m", "")]],
    "vllm": [
        ("ERROR 01-02 03:04:05 [demo_core.py:12] engine stopped", {"level": "error", "file": "demo_core.py", "message": "engine stopped", "timestamp": "01-02 03:04:05"}),
        ("INFO 01-02 03:04:05 [demo.py:1] up", {"level": "info"}),
        ("WARNING 01-02 03:04:05 [demo/api.py:1] hm", {"level": "warning"}),
        ("(Worker pid=9) ERROR 01-02 03:04:05 [demo.py:1] x", {"stream": "Worker pid=9"}),
        ("DEBUG 01-02 03:04:05 [demo.py:1] x", {"level": "debug"}),
    ],
    "horizon-runtime": [
        ("[E][DNN][demo_model.cpp:22][Model](2026-01-02,03:04:05.678.901) cannot open", {"level": "error", "module": "DNN", "file": "demo_model.cpp", "line_in_source": 22, "timestamp": "2026-01-02,03:04:05.678.901", "message": "cannot open"}),
        ("[A][DNN][demo_model.cpp:2][Model](2026-01-02,03:04:05.678.901) [HorizonRT] version", {"level": "info", "message": "version"}),
        ("[BPU_PLAT]platform demo", {"module": "BPU_PLAT", "message": "platform demo"}),
        ("[HBRT] log level 0", {"module": "HBRT"}),
        ("[W][UCP] queue full", {"level": "warning", "module": "UCP", "message": "queue full"}),
        ("[DNN] Runtime 1", {"module": "DNN"}),
    ],
    "horizon-build": [
        ("2026-01-02 03:04:05,678 file: demo_builder.py func: build line No: 36 begin", {"file": "demo_builder.py", "line_in_source": 36, "message": "begin"}),
        ("2026-01-02 03:04:05,678 ERROR hb_mapper: bad yaml", {"level": "error", "module": "hb_mapper", "message": "bad yaml"}),
        ("ERROR [horizon_nn] node unsupported", {"level": "error", "module": "horizon_nn"}),
        ("[ERROR] hbdk-cc: layer too large", {"module": "hbdk-cc", "message": "layer too large"}),
        ("WARNING: HorizonNN: calibration small", {"level": "warning", "module": "HorizonNN"}),
    ],
    "rknn": [
        ("E RKNN: [03:04:05.678] device demo cannot open", {"level": "error", "module": "RKNN", "timestamp": "03:04:05.678", "message": "device demo cannot open"}),
        ("E rknn_init, handle is bad", {"module": "rknn_init", "message": "handle is bad"}),
        ("W build: outlier in demo", {"level": "warning", "module": "build"}),
        ("I rknn-toolkit2 version: 9", {"level": "info", "module": "rknn-toolkit2"}),
        ("[   5.125000] RKNPU fdab0000.npu: job timeout", {"module": "RKNPU", "timestamp": "5.125000", "message": "job timeout"}),
        ("E/RKNNAPI( 123): bad magic", {"pid": "123", "level": "error"}),
        ("--> Building model", {"message": "Building model"}),
    ],
    "cambricon": [
        ("2026-01-02 03:04:05.678901 [cnrtError] [77] [Card : 2] demo malloc failed", {"level": "error", "module": "cnrt", "pid": "77", "stream": "card 2", "message": "demo malloc failed"}),
        ("[cnrtWarning] [77] [Card : 0] slow", {"level": "warning", "stream": "card 0"}),
        ("[2026-1-2 3:04:05.678] [CNNL] [ERROR]: shape differs", {"level": "error", "module": "CNNL", "message": "shape differs"}),
        ("[MagicMind][WARNING] [demo/net.cc:12] op skipped", {"level": "warning", "file": "demo/net.cc", "line_in_source": 12}),
        ("[cnnlError] bad argument", {"level": "error", "message": "bad argument"}),
        ("[CNDEV] lib absent", {"module": "CNDEV", "message": "lib absent"}),
    ],
    "glog": [
        ("E0102 03:04:05.678901  4211 demo.cc:12] bad", {"level": "error", "tid": "4211", "file": "demo.cc", "message": "bad"}),
        ("W20260102 03:04:05.678901 4211 demo.cc:12] bad", {"level": "warning"}),
        ("I0102 03:04:05.678901  1 a/b.cc:1] up", {"level": "info", "file": "a/b.cc"}),
        ("F0102 03:04:05.678901  1 b.cc:1] check", {"level": "critical"}),
        ("E0102 03:04:05.678901  1 b.h:1] x", {"line_in_source": 1}),
    ],
    "python-logging": [
        ("2026-01-02 03:04:05,678 INFO begins", {"level": "info", "message": "begins"}),
        ("2026-01-02 03:04:05,678 - demo.tool - ERROR - stopped", {"level": "error", "module": "demo.tool", "message": "stopped"}),
        ("2026-01-02 03:04:05 [WARNING] hm", {"level": "warning"}),
        ("2026-01-02 03:04:05 DEBUG: x", {"level": "debug", "message": "x"}),
        ("2026-01-02T03:04:05 ERROR x", {"level": "error"}),
    ],
    "level": [
        ("[ERROR] something", {"level": "error", "message": "something"}),
        ("[WARN] something", {"level": "warning"}),
        ("[INFO]something", {"level": "info", "message": "something"}),
        ("2026-01-02 03:04:05.678 starts", {"message": "starts", "timestamp": "2026-01-02 03:04:05.678"}),
        ("2026-01-02 03:04:05: starts", {"level": "", "message": "starts"}),
    ],
    "text": [
        ("segmentation fault", {"message": "segmentation fault", "level": ""}),
        ("", {"message": ""}),
        ("[red]markup[/red]", {"message": "[red]markup[/red]"}),
        ("145002", {"code": ""}),
        ("路径不存在", {"message": "路径不存在"}),
        ("Error: E10 is no code", {"code": ""}),
    ],
}  # fmt: skip
ROWS = [(name, line, said) for name, rows in SAMPLES.items() for line, said in rows]


@pytest.mark.parametrize(("name", "line", "said"), ROWS, ids=[f"{name}-{i}" for i, (name, _, _) in enumerate(ROWS)])
def test_each_grammar_reads_its_lines(name: str, line: str, said: dict[str, object]) -> None:
    (record,) = read(line + "\n")

    assert record.grammar == name
    assert {field: getattr(record, field) for field in said} == said
    assert (record.start, record.end, record.line) == (0, len(line.encode()), 1)


def test_every_grammar_has_five_samples() -> None:
    assert set(SAMPLES) == {grammar.name for grammar in GRAMMARS} | {"text"}
    assert min(map(len, SAMPLES.values())) >= 5


BLOCK = """EZ9999: Inner Error!
EZ9999  The error from device(2), serial number is 9.[FUNC:Demo][FILE:demo.cc][LINE:9]
        TraceBack (most recent call last):
        demo launch failed, ret=507015[FUNC:Demo][FILE:demo.cc][LINE:9]
"""
TRACE = """Traceback (most recent call last):
  File "demo.py", line 3, in <module>
    run()
RuntimeError: demo failed with 507899
"""


def test_code_block_and_traceback_stay_together() -> None:
    text = BLOCK + TRACE + "next\n" + BLOCK.replace("EZ9999  The", "        The")
    found = read(text)

    assert [record.grammar for record in found] == ["cann-block", "python-traceback", "text", "cann-block"]
    assert found[0].message.count("\n") == 3
    assert found[1].message == TRACE.rstrip()
    assert [text.encode()[record.start : record.end].decode() for record in found[:2]] == [BLOCK[:-1], TRACE[:-1]]


def test_blocks_of_two_cards_printed_line_by_line_stay_apart() -> None:
    rows = [f"(Worker pid={pid}) {row}" for row in BLOCK.splitlines() for pid in (1, 2)]
    found = read("\n".join(rows))

    assert [(record.stream, record.message.count("\n"), record.code) for record in found] == [
        ("Worker pid=1", 3, "EZ9999"),
        ("Worker pid=2", 3, "EZ9999"),
    ]


def test_streams_are_kept_apart() -> None:
    rows = [f"[rank{rank}]: {row}" for row in TRACE.splitlines() for rank in (0, 1)]
    found = read("\n".join(rows))

    assert [(record.stream, record.message) for record in found] == [("rank0", TRACE[:-1]), ("rank1", TRACE[:-1])]


def test_traceback_behind_a_repeated_head_is_one_record() -> None:
    head_text = "(EngineCore_0 pid=5) ERROR 01-02 03:04:05 [demo_core.py:12] "
    found = read("".join(head_text + row + "\n" for row in [*TRACE.splitlines(), "other"]))

    assert [record.message for record in found] == [TRACE[:-1], "other"]


def test_broken_lines_of_a_serial_terminal_are_joined() -> None:
    whole = (
        "[ERROR][demo_load.c:31]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[a.exeom] failed, ret = [145002]"
    )
    (wanted,) = read(whole)
    for width in (10, 15, 80, 100, whole.index("145") + 2):
        (record,) = read(whole[:width] + "\r\n" + whole[width:] + "\r\n")
        assert (record.grammar, record.code, record.file, record.message) == (
            "nano-ge",
            "545000",
            wanted.file,
            wanted.message,
        )
    assert len(read("[NFS]short\nother task\n")) == 2
    assert len(read("[NFS]" + "x" * 75 + "\n[NDRV]y\n")) == 2


def test_records_are_bounded() -> None:
    found = read("EZ9999: x\n" + "   more\n" * 1000)
    assert max(len(record.lines) for record in found) == LINES_MOST
    assert sum(len(record.lines) for record in found) == 1001

    recorder = Recorder()
    for line in lines(("[rank0]: EZ9999: x\n" + "[rank1]: y\n" * 1000).encode()):
        recorder.feed(line)
        assert len(recorder.pending()) <= IDLE_MOST


def test_pending_shows_the_record_that_may_grow() -> None:
    recorder = Recorder()
    for line in lines(b"[NFS]region demo\n"):
        assert recorder.feed(line) == []

    assert [record.message for record in recorder.pending()] == ["region demo"]
    assert len(recorder.finish()) == 1
    assert recorder.pending() == ()


PARTS = [line for _, line, _ in ROWS] + [*BLOCK.splitlines(), *TRACE.splitlines(), "   indented", "[rank0]: a", "[ERROR][de", "\x1b[31m"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    data=st.binary(max_size=300)
    | st.lists(st.sampled_from(PARTS) | st.text(max_size=20), max_size=25).map(
        lambda rows: "\n".join(rows).encode(errors="ignore")
    ),
    size=st.integers(1, 60),
)
def test_any_log_gives_each_line_to_one_record(data: bytes, size: int) -> None:
    all_lines = list(lines(iter([data])))
    found = list(records(all_lines))

    assert sorted((line.start, line.number, line.piece) for record in found for line in record.lines) == [
        (line.start, line.number, line.piece) for line in all_lines
    ]
    assert [record.start for record in found] == sorted(record.start for record in found)
    for record in found:
        assert record.start == record.lines[0].start <= record.end == record.lines[-1].end
        for line in record.lines:
            assert data[line.start : line.end] == line.raw or data.startswith(b"\x1f\x8b")
    assert found == list(records(lines(data[i : i + size] for i in range(0, len(data), size))))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "gb18030"])
def test_records_are_the_same_in_every_encoding(encoding: str) -> None:
    text = "\n".join(line for _, line, _ in ROWS)
    wanted = [(record.grammar, record.message, record.line) for record in read(text)]

    assert [(record.grammar, record.message, record.line) for record in records(lines(text.encode(encoding)))] == wanted


@pytest.mark.parametrize("unit", ["[", "[ERROR]", "a.c", "[ERROR][a/", "E1", "1-", " ", "(", "cn", "Error", "[NDRV]", "E ", "\\", ".", "[a.c:1]", "[PID: 1] ", "2026-01-02 "])  # fmt: skip
def test_hostile_line_takes_linear_time(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    began = time.perf_counter()
    for _ in range(3):
        head(text)
    read(text + "\n" + text)
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(("word", "level"), [("RROR", "error"), ("ARN", "warning"), ("E", "error"), ("Fatal", "critical"), ("x", ""), ("e", ""), ("", "")])  # fmt: skip
def test_level_is_read_from_what_is_left(word: str, level: str) -> None:
    assert level_of(word) == level
