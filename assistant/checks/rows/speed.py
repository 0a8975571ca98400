"""Rows: rates and times of inference."""

from typing import Final

from assistant.checks import speed
from assistant.checks.types import Check, Parameter, Result

_BATCH: Final = Parameter(
    "batch", "integer", "批大小", "batch size", "8", low=1, high=1_000_000, default=1,
    words=("batch", "batch size", "批", "批大小"),
)  # fmt: skip
_STAGES: Final = {f"stage{i}": (f"第 {i} 段", f"stage {i}") for i in range(1, 65)}
#: The rows of the table of typical models, for people; the file simcore/typical_models/nano.toml holds the same names.
_MODELS: Final = {
    "call": ("通话", "voice call"),
    "wake_word": ("唤醒", "wake word"),
    "no_wake_dialog": ("免摘对话", "talk without taking the headset off"),
    "first_stage_kws": ("一级 KWS 唤醒", "first-stage KWS wake-up"),
    "heart_rate": ("心率", "heart rate"),
    "motion": ("运动自识别", "motion recognition"),
    "inertial_navigation": ("惯导", "inertial navigation"),
    "smart_gesture": ("智慧手势", "smart gesture"),
    "denoise": ("降噪", "noise reduction"),
    "resting_heart_rate": ("静息心率", "resting heart rate"),
    "acc_gesture": ("ACC 手势", "accelerometer gesture"),
    "tts": ("TTS", "TTS"),
    "fuzzy_word_1": ("模糊词（版本一）", "fuzzy command word, version 1"),
    "fuzzy_word_2": ("模糊词（版本二）", "fuzzy command word, version 2"),
}

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="throughput",
        zh="吞吐率、QPS 和平均时延",
        en="throughput, QPS and mean latency",
        help_zh="吞吐率(qps) = 每次 launch 的 batch * launch 次数 / 墙钟时间（秒）。另给出每秒 launch 次数、每次 "
        "launch 和每个样本的平均时间。",
        help_en="Throughput in qps = batch per launch * launches / wall time in seconds. Also gives launches per "
        "second and the mean time of a launch and of an item.",
        asks_zh=(
            "batch 8，100 次 launch 用了 2 秒，qps 多少",
            "batch 4、407 次、2.80192 s 的吞吐率",
            "1 秒推理 250 张图，每张多少毫秒",
            "吞吐怎么算，墙钟时间 5 s 共 1000 次",
        ),
        asks_en=(
            "batch 8, 100 launches in 2 s, qps?",
            "throughput of 407 launches with batch 4 in 2.80192 s",
            "1000 images in 5 seconds, how many per second",
            "latency per launch from wall time",
        ),
        parameters=(
            _BATCH,
            Parameter(
                "launches", "integer", "launch 次数", "launches", "100", low=1, high=1e12,
                words=("launch", "launches", "次", "iterations", "runs", "张", "images"),
            ),
            Parameter(
                "seconds", "number", "墙钟时间", "wall time", "2", unit="s", low=1e-9, high=1e9,
                words=("seconds", "walltime", "wall time", "秒", "墙钟", "用时", "耗时"),
            ),
        ),
        results=(
            Result("qps", "吞吐率", "throughput", "1/s"),
            Result("launches_per_s", "每秒 launch 次数", "launches per second", "1/s"),
            Result("ms_per_launch", "每次 launch 平均", "mean time of a launch", "ms"),
            Result("ms_per_item", "每个样本平均", "mean time of an item", "ms"),
        ),
        shown_zh="吞吐率 {qps} qps：每次 launch 平均 {ms_per_launch} ms，每个样本平均 {ms_per_item} ms",
        shown_en="throughput {qps} qps: {ms_per_launch} ms per launch, {ms_per_item} ms per item on average",
        function=speed.throughput,
        source="Cambricon MagicMind course: Throughput(qps) = Batchsize per launch * Launch times / Walltime",
        assumptions=(
            (
                "平均时间由墙钟时间除得；拷贝与计算重叠时，单次时延比它长",
                "mean times divide the wall time; where copies and computing overlap, one launch takes longer than "
                "that",
            ),
        ),
    ),
    Check(
        name="pipeline",
        zh="分段耗时：总时间、帧率、瓶颈、优化前后",
        en="stage times: total, frame rate, bottleneck, before and after",
        help_zh="各段耗时（预处理、H2D、计算、D2H、后处理，单位 ms）。不重叠时帧率 = batch*1000/总和；"
        "重叠（流水）时 = batch*1000/最慢一段，是上限。给 after 时算加速比。workers 是各段并行的核数或实例数。"
        "只有一个时间时就是 ms 换算 fps。",
        help_en="Times of the stages in ms (preprocessing, H2D, compute, D2H, postprocessing). One after the other the "
        "rate is batch*1000/sum; overlapped it is batch*1000/slowest, an upper bound. With after it gives the speedup. "
        "workers are the cores or instances of each stage. A single time converts ms to fps.",
        asks_zh=(
            "预处理 103.489 ms、推理 33.591 ms、NMS 4.332 ms，整帧多少 fps，瓶颈在哪",
            "H2D 2 ms 计算 10 ms D2H 1 ms，流水后能到多少帧",
            "整网 30.7 ms 优化到 14.3 ms 快了几倍",
            "27 ms 变成 40 ms，帧率从多少掉到多少",
            "单帧 27.52 ms 是多少 fps",
        ),
        asks_en=(
            "103.489, 33.591 and 4.332 ms: fps and bottleneck?",
            "H2D 2 ms, compute 10 ms, D2H 1 ms overlapped, what frame rate",
            "30.7 ms before, 14.3 ms after, what speedup",
            "how many fps is 27 ms",
            "which stage limits the pipeline",
        ),
        parameters=(
            Parameter(
                "times", "numbers", "各段耗时", "times of the stages", "103.489,33.591,4.332", unit="ms",
                low=0, high=1e9, default=None, most=64,
                words=("times", "耗时", "各段", "时间", "stages", "before", "优化前"),
            ),
            Parameter(
                "h2d", "number", "H2D 拷入", "copy in (H2D)", "2", unit="ms", low=0, high=1e9, default=None,
                words=("h2d", "拷入", "输入拷贝", "copy in"),
            ),
            Parameter(
                "compute", "number", "计算", "compute", "10", unit="ms", low=0, high=1e9, default=None,
                words=("compute", "计算", "推理", "inference", "kernel"),
            ),
            Parameter(
                "d2h", "number", "D2H 拷出", "copy out (D2H)", "1", unit="ms", low=0, high=1e9, default=None,
                words=("d2h", "拷出", "输出拷贝", "copy out"),
            ),
            Parameter(
                "after", "numbers", "优化后各段耗时", "times afterwards", "6.201,39.762,4.088", unit="ms",
                low=0, high=1e9, default=None, most=64, words=("after", "优化后", "变成", "改后", "之后", "to"),
            ),
            _BATCH,
            Parameter(
                "overlapped", "flag", "各段重叠（流水）", "stages overlap", "true", default=False,
                words=("overlapped", "overlap", "流水", "重叠", "并行", "pipelined"),
            ),
            Parameter(
                "workers", "integers", "各段的核数或实例数", "cores or instances of each stage", "1,2,1",
                low=1, high=100_000, default=None, most=64, words=("workers", "核", "实例", "线程", "cores", "threads"),
            ),
        ),
        results=(
            Result("total_ms", "总时间", "total", "ms"),
            Result("period_ms", "相邻两批的间隔", "from one batch to the next", "ms"),
            Result("fps", "帧率", "frame rate", "1/s"),
            Result(
                "bottleneck", "瓶颈", "bottleneck",
                labels={
                    "h2d": ("H2D 拷入", "copy in (H2D)"), "compute": ("计算", "compute"),
                    "d2h": ("D2H 拷出", "copy out (D2H)"), **_STAGES,
                },
            ),
            Result("bottleneck_ms", "瓶颈耗时", "time of the bottleneck", "ms"),
            Result("share", "瓶颈占总时间", "its share of the total"),
            Result("after_total_ms", "之后总时间", "total afterwards", "ms"),
            Result("after_fps", "之后帧率", "frame rate afterwards", "1/s"),
            Result("speedup", "加速比", "speedup"),
            Result("time_ratio", "之后/之前的时间", "time afterwards over before"),
        ),
        shown_zh="{fps} fps，总时间 {total_ms} ms；瓶颈是{bottleneck}（{bottleneck_ms} ms）",
        shown_en="{fps} fps, {total_ms} ms in all; the bottleneck is {bottleneck} ({bottleneck_ms} ms)",
        function=speed.pipeline,
        example={"h2d": "3", "compute": "12", "d2h": "2"},
        source="arithmetic of stages in sequence and of a pipeline (the slowest stage sets the rate)",
        assumptions=(
            (
                "重叠时按段间无等待、各段不抢同一资源计，是帧率上限",
                "overlapped stages are taken not to wait for each other or share anything, so the rate is an upper "
                "bound",
            ),
        ),
    ),
    Check(
        name="instances",
        zh="多实例、多核最多能到多少帧",
        en="upper bound of several instances or cores",
        help_zh="n 个实例各绑一核时，帧率上限 = n * batch * 1000 / 单次时延；serial 是每次推理里必须独占共享资源（总"
        "线、CPU、前处理）的比例，上限还受 1/serial 限制。把一个模型拆到 n 核的加速上限按 Amdahl："
        "1/(serial+(1-serial)/n)。",
        help_en="n instances on a core each give at most n * batch * 1000 / latency; serial is the part of a run that "
        "must own something shared (bus, CPU, preprocessing), which limits the rate to 1/serial of one. One model "
        "split over n cores gains at most 1/(serial+(1-serial)/n), by Amdahl.",
        asks_zh=(
            "单核 27.5 ms，开三个实例最多多少 fps",
            "三核为什么不是三倍",
            "4 个实例单次 10 ms 吞吐上限",
            "有 20% 必须串行，8 核最多快几倍",
        ),
        asks_en=(
            "27.52 ms on one core, how many fps with three instances",
            "upper bound of throughput with 4 instances",
            "why is one model on three cores not three times faster",
            "20 % serial on 8 cores, what speedup at most",
        ),
        parameters=(
            Parameter(
                "latency", "number", "单次时延", "latency of one run", "27.52", unit="ms", low=1e-6, high=1e9,
                words=("latency", "时延", "延时", "单次", "单核", "one core"),
            ),
            Parameter(
                "count", "integer", "实例数或核数", "instances or cores", "3", low=1, high=100_000,
                words=("count", "instances", "cores", "实例", "核", "线程", "threads"),
            ),
            _BATCH,
            Parameter(
                "serial", "number", "必须串行的比例", "part that must be serial", "0.2", low=0, high=1, default=0.0,
                words=("serial", "串行", "共享"),
            ),
        ),
        results=(
            Result("fps_one", "一个实例", "one instance", "1/s"),
            Result("fps_upper", "多实例上限", "upper bound of all", "1/s"),
            Result("split_speedup_upper", "拆一个模型的加速上限", "most that splitting one model gains"),
            Result("split_latency_ms", "拆后时延下限", "least latency when split", "ms"),
        ),
        shown_zh="{count} 个实例最多 {fps_upper} fps（一个是 {fps_one} fps）；实际受带宽等共享资源限制会更低",
        shown_en="{count} instances reach at most {fps_upper} fps (one: {fps_one} fps); shared bandwidth makes it less",
        function=speed.instances,
        source="G. Amdahl 1967; utilisation bound of a shared resource",
        assumptions=(
            (
                "没有公开数据给出各芯片的串行比例，默认 0，所以是上限而不是预测",
                "no source gives the serial part of a chip; it is 0 by default, so this is a bound and no prediction",
            ),
        ),
    ),
    Check(
        name="cycles_time",
        zh="由 MAC 数算周期和时间下限",
        en="cycles and least time from multiply-adds",
        help_zh="周期 = ceil(MAC / 每周期 MAC)，时间 = 周期 / 主频。Nano int8：250 op/周期由 16 GOPS@64 MHz 推出，"
        "128 MAC/周期是假设；主频默认 64 MHz。只是 Cube 满载的下限，不含搬运和 Vector。",
        help_en="cycles = ceil(MAC / MAC per cycle), time = cycles / clock. Nano in int8: 250 operations per cycle "
        "follow from 16 GOPS at 64 MHz, 128 multiply-adds per cycle are assumed; the clock is 64 MHz unless given. A "
        "lower bound with the cube always busy, without transfers and the vector unit.",
        asks_zh=(
            "1M MAC 在 64MHz 的 Nano 上最少要多久",
            "10 MMAC 200 MHz 时间下限",
            "多少周期能算完 300 万次乘加",
            "Nano 上 5e6 ops 要多少毫秒",
        ),
        asks_en=(
            "least time of 1M MACs on Nano at 64 MHz",
            "how many cycles do 3000000 multiply-adds take",
            "10 MMAC at 200 MHz, lower bound",
            "ms for 5e6 ops on nano-035a",
        ),
        parameters=(
            Parameter(
                "macs", "integer", "乘加次数", "multiply-adds", "1000000", unit="MAC", low=0, high=1e18, default=None,
                words=("macs", "mac", "乘加", "multiply-adds", "mmac"),
            ),
            Parameter(
                "ops", "integer", "运算次数", "operations", "2000000", unit="op", low=0, high=1e18, default=None,
                words=("ops", "op", "运算", "operations", "flops"),
            ),
            Parameter(
                "device", "choice", "芯片", "device", "nano-035a", choices=("nano-035a", "nano-035b", "none"),
                default="nano-035a", words=("device", "芯片", "nano", "chip"),
            ),
            Parameter(
                "per_cycle", "number", "每周期能做多少", "work of a cycle", "128", low=1e-3, high=1e9, default=None,
                words=("per_cycle", "每周期", "per cycle", "macs_per_cycle"),
            ),
            Parameter(
                "clock", "number", "主频", "clock", "64", unit="MHz", low=1e-3, high=1e6, default=None,
                words=("clock", "主频", "频率", "时钟", "mhz", "frequency"),
            ),
        ),
        results=(
            Result("cycles", "周期数", "cycles"),
            Result("ms", "时间下限", "least time", "ms"),
            Result("rate", "每周期能做", "work of a cycle"),
            Result("clock_mhz", "主频", "clock", "MHz"),
            Result("fps_upper", "每秒最多", "at most per second", "1/s"),
            Result(
                "basis", "每周期数字的来历", "where the work of a cycle comes from",
                labels={
                    "given": ("由你给出", "given"),
                    "assumed": ("假设值", "assumed"),
                    "derived": ("由厂商指标推出", "derived from the vendor's figures"),
                },
            ),
        ),
        shown_zh="至少 {ms} ms（{cycles} 周期，{clock_mhz} MHz，每周期 {rate}，{basis}）",
        shown_en="at least {ms} ms ({cycles} cycles at {clock_mhz} MHz, {rate} per cycle, {basis})",
        function=speed.cycles_time,
        example={"macs": "5000000"},
        source="Nano AI application guide: int8 16 GOPS at 64 MHz, 50 GOPS at 200 MHz",
        assumptions=(
            (
                "Nano 每周期 128 MAC 是假设（250 op/周期，按 1 MAC = 2 op 取整到 2 的幂）；只适用 int8*int8",
                "128 multiply-adds per cycle on Nano are assumed (250 op/cycle, two per multiply-add, to a power of "
                "two); int8*int8 only",
            ),
            (
                "Cube 一直满载；带宽、Vector、指令下发都不计",
                "the cube is always busy; bandwidth, the vector unit and dispatch are left out",
            ),
        ),
    ),
    Check(
        name="typical_model",
        zh="Nano 上同样大小的典型模型要多久",
        en="how long a typical model of that size takes on Nano",
        help_zh="在 Nano 指导书的典型模型性能表（14 个模型，64 MHz）里按大小（MB）或推理时间（ms）找最接近的几行；"
        "part 可限定 CNN、RNN、FIFO、Transformer。其他主频按周期数不变折算（假设）。同样大小的模型时延可以差几十倍，"
        "只能作参照。",
        help_en="Finds the rows nearest in size (MB) or time (ms) in the table of typical models of the Nano guide (14 "
        "models at 64 MHz); part limits them to CNN, RNN, FIFO or Transformer. Another clock scales the time as if the "
        "cycles stayed the same (an assumption). Models of one size differ tens of times in latency: a reference only.",
        asks_zh=(
            "0.6 MB 的模型在 Nano 上大概多少毫秒",
            "跟我 1.3MB 模型差不多的典型模型有哪些",
            "Nano 上 7 ms 的都是什么模型",
            "200MHz 下 0.5MB CNN+RNN 大约多久",
        ),
        asks_en=(
            "how long does a 0.6 MB model take on Nano",
            "typical models near 1.3 MB",
            "which Nano models run in about 7 ms",
            "a 0.5 MB RNN at 200 MHz, roughly how long",
        ),
        parameters=(
            Parameter(
                "size", "number", "模型大小", "model size", "0.6", unit="MB", low=1e-6, high=1e6, default=None,
                words=("size", "大小", "mb", "模型", "model"),
            ),
            Parameter(
                "time", "number", "推理时间", "time of one inference", "7", unit="ms", low=1e-6, high=1e9, default=None,
                words=("time", "时间", "毫秒", "ms", "耗时", "latency"),
            ),
            Parameter(
                "part", "choice", "网络种类", "kind of network", "RNN",
                choices=("any", "CNN", "RNN", "FIFO", "Transformer"),
                default="any", words=("part", "架构", "网络", "kind"),
            ),
            Parameter(
                "clock", "number", "主频", "clock", "64", unit="MHz", low=1e-3, high=1e6, default=64.0,
                words=("clock", "主频", "频率", "mhz", "frequency"),
            ),
            Parameter(
                "count", "integer", "最多几行", "rows at most", "3", low=1, high=14,
                default=3, words=("count", "rows", "几个"),
            ),
        ),
        results=(
            Result("models", "最接近的模型", "nearest models", labels=_MODELS),
            Result("parts", "架构", "kinds of network"),
            Result("sizes_mb", "大小", "sizes", "MB"),
            Result("below", "大小只知小于该值", "size only known to be below"),
            Result("times_ms", "64 MHz 时间", "times at 64 MHz", "ms"),
            Result("scaled_ms", "折算到该主频", "scaled to the clock", "ms"),
            Result("fastest_ms", "其中最快", "fastest of them", "ms"),
            Result("slowest_ms", "其中最慢", "slowest of them", "ms"),
        ),
        shown_zh="最接近的是 {models}：{clock} MHz 下 {scaled_ms} ms（大小 {sizes_mb} MB）",
        shown_en="nearest are {models}: {scaled_ms} ms at {clock} MHz (sizes {sizes_mb} MB)",
        function=speed.typical_model,
        example={"size": "0.5"},
        source="Nano AI application guide, table 1: typical model performance at 64 MHz",
        assumptions=(
            (
                "表只有 64 MHz 的数据；其他主频按周期数不变折算，忽略带宽随主频的变化",
                "the table holds 64 MHz only; another clock is scaled as if the cycles stayed the same, whatever "
                "bandwidth does",
            ),
            (
                "大小与时延没有固定关系，最接近按比例取",
                "size and latency have no fixed relation; nearest means the smallest ratio",
            ),
        ),
    ),
)  # fmt: skip
