"""Rows: scales, offsets and codes."""

from typing import Final

from assistant.checks import quantization
from assistant.checks.types import Check, Parameter, Result

_DTYPES: Final = ("int4", "uint4", "int8", "uint8", "int12", "int16", "uint16")
_SOURCE: Final = (
    "AMCT guide, quantization principle; ONNX QuantizeLinear and DequantizeLinear; HiSilicon ATC guide, GFPQ file"
)
_SCALE: Final = Parameter(
    "scale", "number", "量化 scale", "quantization scale", "0.02", low=1e-38, high=1e38,
    words=("scale", "scale_d", "步长", "缩放因子", "量化因子", "step size"),
)  # fmt: skip
_ZERO_POINT: Final = Parameter(
    "zero_point", "integer", "零点（offset）", "zero point (offset)", "-3", low=-65536, high=65536, default=0,
    words=("zero_point", "zero point", "zp", "offset", "offset_d", "零点", "偏移"),
)  # fmt: skip
_DTYPE: Final = Parameter(
    "dtype", "choice", "码的整数类型", "integer type of the codes", "int8", choices=_DTYPES, default="int8",
    words=("dtype", "类型", "位宽", "type", "bits"),
)  # fmt: skip
_FORM: Final = Parameter(
    "form", "choice", "scale 的写法", "how the scale is written", "step", choices=("step", "amct", "reciprocal"),
    default="step", words=("form", "写法", "倒数", "reciprocal", "gfpq"),
)  # fmt: skip

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="quant_range",
        zh="scale 和 offset 能表示的范围",
        en="range that a scale and zero point can represent",
        help_zh="由 scale、zero_point（offset）和整数类型算出可表示的最小值、最大值和步长：(q - zero_point) * step。"
        "form 说明 scale 的写法：step（ONNX、地平线的步长）、amct（也是步长，但上限 1/FLT_EPSILON）或 reciprocal（海思 "
        "GFPQ 记录里的 1/步长）。",
        help_en="From scale, zero point (offset) and integer type: the smallest and largest real value and the step, "
        "(q - zero_point) * step. form says how the scale is written: step (ONNX, Horizon), amct (a step too, but at "
        "most 1/FLT_EPSILON) or reciprocal (HiSilicon GFPQ records hold 1/step).",
        asks_zh=(
            "scale 0.02 的对称 int8 能表示多大范围",
            "这个 scale 和 offset 会不会饱和，最大能到多少",
            "量化参数对应的取值范围",
            "int16 scale 的可表示范围",
        ),
        asks_en=(
            "what range can int8 with scale 0.02 represent",
            "largest value before saturation for this scale and offset",
            "representable range of scale and zero point",
            "min and max of uint8 with zero point 128",
        ),
        parameters=(_SCALE, _ZERO_POINT, _DTYPE, _FORM),
        results=(
            Result("low", "最小值", "smallest value"),
            Result("high", "最大值", "largest value"),
            Result("step", "步长", "step"),
        ),
        shown_zh="{dtype} 可表示 {low} 到 {high}，步长 {step}；超出就饱和",
        shown_en="{dtype} represents {low} to {high} in steps of {step}; values outside saturate",
        function=quantization.quant_range,
        source=_SOURCE,
    ),
    Check(
        name="quant_params",
        zh="由最小值和最大值求 scale 和 offset",
        en="scale and zero point from a minimum and maximum",
        help_zh="按各家约定由数据范围算 scale 和零点：amct_symmetric 为 max|x|/127，amct_asymmetric 和 onnx_dynamic 为 "
        "(max-min)/255（区间先扩到含 0），horizon 为 threshold/128（int16 为 /32768），hisilicon 记录的是步长的倒数 "
        "255/(max-min)，int12 时为 4095/(max-min)。同时给出实际能表示的范围，以及绝对值多小会变成 0。",
        help_en="Scale and zero point of a range in each vendor's convention: amct_symmetric max|x|/127; "
        "amct_asymmetric and onnx_dynamic (max-min)/255 with the range widened to hold 0; horizon threshold/128 "
        "(int16: /32768); hisilicon records the reciprocal step 255/(max-min), with int12 4095/(max-min). Also the "
        "range the codes cover and the magnitude below which values become 0.",
        asks_zh=(
            "min -1.5 max 2.5 的 int8 scale 和 offset 是多少",
            "地平线 threshold 转 scale 是除以 127 还是 128",
            "海思 calibration_param 里的 scale 怎么由范围算出来",
            "范围 0 到 640，8bit 步长多大，小于多少会变成 0",
            "非对称量化 max min 求 scale offset",
        ),
        asks_en=(
            "scale and zero point for values from -1.5 to 2.5",
            "is symmetric int8 scale max/127 or max/128",
            "AMCT scale_d and offset_d from min and max",
            "how does HiSilicon compute the scale in calibration_param",
            "step of uint8 for a range of 0 to 640",
        ),
        parameters=(
            Parameter(
                "low", "number", "最小值", "minimum", "-1.5", low=-1e38, high=1e38,
                words=("low", "min", "minimum", "最小值", "最小", "下限", "from", "从"),
            ),
            Parameter(
                "high", "number", "最大值", "maximum", "2.5", low=-1e38, high=1e38,
                words=("high", "max", "maximum", "最大值", "最大", "上限", "to", "到", "threshold", "阈值"),
            ),
            Parameter(
                "convention", "choice", "哪家的约定", "whose convention", "amct_symmetric",
                choices=(
                    "amct_symmetric", "amct_asymmetric", "amct_min_max", "onnx_symmetric", "onnx_dynamic",
                    "hisilicon", "horizon",
                ),
                default="amct_symmetric", words=("convention", "约定"),
                spoken={
                    "amct_asymmetric": ("非对称", "asymmetric", "amct 非对称", "amct asymmetric", "asymmetric amct"),
                    "amct_min_max": ("min-max", "minmax", "min max"),
                    "onnx_symmetric": ("onnx 对称", "onnx symmetric", "symmetric onnx"),
                    "onnx_dynamic": ("onnx", "onnx runtime", "dynamic", "动态量化", "dynamicquantizelinear"),
                    "hisilicon": ("海思", "gfpq", "hisi"),
                    "horizon": ("地平线", "j6", "threshold/128", "threshold / 128", "threshold/32768"),
                },
            ),
            _DTYPE,
        ),
        results=(
            Result("scale", "scale", "scale as the tool writes it"),
            Result("zero_point", "零点（offset）", "zero point (offset)"),
            Result("step", "步长", "step"),
            Result("covers_low", "能表示的最小值", "smallest value represented"),
            Result("covers_high", "能表示的最大值", "largest value represented"),
            Result("levels", "级数", "number of codes"),
            Result("zero_below", "绝对值小于它就变成 0", "magnitude below which a value becomes 0"),
            Result(
                "form", "scale 的写法", "how the scale is written",
                labels={"step": ("步长", "the step"), "reciprocal": ("步长的倒数", "the reciprocal of the step")},
            ),
        ),
        shown_zh="{convention} 的 {dtype}：scale {scale}（{form}），offset {zero_point}；能表示 {covers_low} 到 "
        "{covers_high}，步长 {step}",
        shown_en="{convention} with {dtype}: scale {scale} ({form}), zero point {zero_point}; represents {covers_low} "
        "to {covers_high} in steps of {step}",
        function=quantization.quant_params,
        source="AMCT guide, quantization principle (max|x|/127, (max-min)/255); AMCT open source, MIN-MAX; ONNX "
        "DynamicQuantizeLinear; Horizon OpenExplorer, fixed scale (threshold/128, /32768); HiSilicon ATC guide, GFPQ "
        "parameter file",
        assumptions=(
            (
                "范围宽度为 0 时 scale 取 1（ONNX Runtime 如此，其他工具没有写）",
                "a range of zero width gets scale 1 (as in ONNX Runtime; other tools do not say)",
            ),
            (
                "海思 int16 激活只用 4095 级（int12），来自一个公开项目的记录，手册没有写",
                "HiSilicon int16 activations using 4095 levels (int12) come from one public project's records",
            ),
        ),
    ),
    Check(
        name="quantize_values",
        zh="把一组数量化再反量化，看误差",
        en="quantize a list of numbers and back, with errors",
        help_zh="q = saturate(round(x / scale) + zero_point)，再还原 (q - zero_point) * scale：给出每个数的码、"
        "还原值、误差，以及饱和的个数。舍入方式可选，默认四舍六入五取偶（ONNX）。",
        help_en="q = saturate(round(x / scale) + zero_point) and back, (q - zero_point) * scale: the code, the value "
        "it stands for and the error of each number, and how many saturate. The rounding can be chosen; ties go to "
        "even by default (ONNX).",
        asks_zh=(
            "0.3 0.49 0.9 用 scale 1 zp -128 量化后是多少",
            "QuantizeLinear int8 会截到 -127 还是 -128",
            "量化再反量化的误差有多大",
            "softmax 输出 1.0 用 1/128 量化会怎样",
            "这些值有几个会饱和",
        ),
        asks_en=(
            "quantize 0.3 0.49 0.9 with scale 1 and zero point -128",
            "does int8 QuantizeLinear clip at -127 or -128",
            "quantization error of these values",
            "what does 1.0 become with scale 1/128",
            "how many of these values saturate in uint8",
        ),
        parameters=(
            Parameter(
                "values", "numbers", "要量化的数", "the numbers", "0.3,0.49,0.9", low=-1e38, high=1e38, most=1000,
                words=("values", "value", "数值", "输入", "inputs", "x"),
            ),
            _SCALE, _ZERO_POINT, _DTYPE, _FORM,
            Parameter(
                "rounding", "choice", "舍入", "rounding", "half_even",
                choices=("half_even", "half_away", "half_up", "toward_zero", "floor"), default="half_even",
                words=("rounding", "舍入", "取整"),
            ),
        ),
        results=(
            Result("codes", "码", "codes"),
            Result("back", "还原值", "values of the codes"),
            Result("errors", "误差", "errors"),
            Result("max_error", "最大绝对误差", "largest absolute error"),
            Result("saturated", "饱和个数", "number saturated"),
        ),
        shown_zh="码 {codes}，还原为 {back}；最大误差 {max_error}，饱和 {saturated} 个",
        shown_en="codes {codes}, which stand for {back}; largest error {max_error}, {saturated} saturated",
        function=quantization.quantize_values,
        source=_SOURCE,
    ),
    Check(
        name="dequantize_values",
        zh="把整数码换回实数",
        en="real values of integer codes",
        help_zh="x = (q - zero_point) * scale；海思 GFPQ 的写法是 (q - offset) / scale。也用来把“差几个 "
        "LSB”换成实数误差。",
        help_en="x = (q - zero_point) * scale; HiSilicon GFPQ records: (q - offset) / scale. Also turns a difference "
        "in counts (LSB) into a real error.",
        asks_zh=(
            "int8 码 72 对应的浮点值是多少，scale 0.02",
            "差 12 个 LSB 是多大误差",
            "输出 int8 怎么还原成 float",
            "dump 里的 int16 数据反量化",
        ),
        asks_en=(
            "real value of int8 code 72 with scale 0.02",
            "how large is an error of 12 counts in Q15",
            "dequantize these int16 outputs",
            "convert raw uint8 output to float",
        ),
        parameters=(
            Parameter(
                "codes", "integers", "整数码", "the codes", "-128,0,127", low=-65536, high=65536, most=1000,
                words=("codes", "code", "码", "q", "lsb", "counts"),
            ),
            _SCALE, _ZERO_POINT, _DTYPE, _FORM,
        ),
        results=(
            Result("values", "实数值", "real values"),
            Result("step", "步长", "step"),
        ),
        shown_zh="对应的实数是 {values}（步长 {step}）",
        shown_en="the codes stand for {values} (step {step})",
        function=quantization.dequantize_values,
        source=_SOURCE,
    ),
    Check(
        name="requantize_values",
        zh="int32 累加和再量化成输出码",
        en="requantize int32 sums to output codes",
        help_zh="q = saturate(round(acc * x_scale * w_scale / y_scale) + zero_point)。给出浮点乘数的结果、"
        "整数乘数加右移的结果（multiplier / 2^shift），以及两者不同的个数。",
        help_en="q = saturate(round(acc * x_scale * w_scale / y_scale) + zero_point): codes by the float multiplier, "
        "by an integer multiplier and a right shift (multiplier / 2^shift), and how many differ.",
        asks_zh=(
            "int32 累加结果怎么变成 int8 输出",
            "requant 的乘数和移位是多少",
            "x_scale w_scale y_scale 求 multiplier shift",
            "累加和 12345 再量化后是多少",
        ),
        asks_en=(
            "requantize an int32 accumulator to int8",
            "integer multiplier and shift for these scales",
            "output code of the sum 12345",
            "does fixed point requantization differ from float",
        ),
        parameters=(
            Parameter(
                "sums", "integers", "int32 累加和", "int32 sums", "12345,-6789",
                low=-(2**31), high=2**31 - 1, most=1000,
                words=("sums", "acc", "accumulator", "累加", "累加和", "sum"),
            ),
            Parameter(
                "x_scale", "number", "输入 scale", "input scale", "0.02", low=1e-30, high=1e30,
                words=("x_scale", "scale_d", "输入scale", "input scale"),
            ),
            Parameter(
                "w_scale", "number", "权重 scale", "weight scale", "0.005", low=1e-30, high=1e30,
                words=("w_scale", "scale_w", "权重scale", "weight scale"),
            ),
            Parameter(
                "y_scale", "number", "输出 scale", "output scale", "0.05", low=1e-30, high=1e30,
                words=("y_scale", "输出scale", "output scale"),
            ),
            _ZERO_POINT, _DTYPE,
            Parameter(
                "multiplier_bits", "integer", "整数乘数的位数", "bits of the integer multiplier", "31", low=1, high=31,
                default=31, words=("multiplier_bits", "bits", "乘数位数"),
            ),
        ),
        results=(
            Result("codes", "浮点乘数的码", "codes by the float multiplier"),
            Result("codes_fixed", "整数乘数的码", "codes by multiplier and shift"),
            Result("multiplier", "浮点乘数", "float multiplier"),
            Result("integer_multiplier", "整数乘数", "integer multiplier"),
            Result("shift", "右移位数", "right shift", unit="bit"),
            Result("differences", "两种结果不同的个数", "number of codes that differ"),
            Result("multiplier_error", "整数乘数的相对误差", "relative error of the integer multiplier"),
        ),
        shown_zh="输出码 {codes}；浮点乘数 {multiplier} = {integer_multiplier} / 2^{shift}，整数做法有 {differences} "
        "个不同",
        shown_en="output codes {codes}; multiplier {multiplier} = {integer_multiplier} / 2^{shift}, by which "
        "{differences} codes differ",
        function=quantization.requantize_values,
        source="ONNX QLinearConv, order of operations of ONNX Runtime; Jacob et al. 2018, 2.2 (multiplier and shift)",
        assumptions=(
            (
                "整数做法用一次舍入、五入远离零；芯片自己的移位舍入没有公开",
                "the integer rule rounds once, ties away from zero; how a given chip rounds its shift is not published",
            ),
        ),
    ),
    Check(
        name="amct_scale_check",
        zh="AMCT 接受这个 scale 和 offset 吗",
        en="does AMCT accept this scale and offset",
        help_zh="AMCT 要求 scale 为有限正数且不超过 1/FLT_EPSILON = 8388608（硬件乘的是 1/scale），INT8 的 offset 在 "
        "[-128,127]，INT16 在 [-32768,32767]。超出说明该层数据范围太大（如 -1e9 的掩码、inf）或为零。",
        help_en="AMCT wants a finite positive scale of at most 1/FLT_EPSILON = 8388608 (the hardware multiplies by "
        "1/scale), an INT8 offset in [-128,127], INT16 in [-32768,32767]. Beyond it the layer's range is far too wide "
        "(a mask of -1e9, inf) or zero.",
        asks_zh=(
            "Not support scale greater than 1 / FLT_EPSILON，上限是多少",
            "scale 是 7874016 AMCT 能接受吗",
            "Not support scale is +inf",
            "offset_d 300 合法吗",
        ),
        asks_en=(
            "Not support scale greater than 1 / FLT_EPSILON",
            "is a scale of 7874016 accepted by AMCT",
            "largest scale AMCT allows",
            "offset range of int8 records",
        ),
        parameters=(
            Parameter(
                "scale", "number", "scale_d 或 scale_w", "scale_d or scale_w", "7874016",
                words=("scale", "scale_d", "scale_w", "量化因子"),
            ),
            Parameter(
                "zero_point", "integer", "offset", "offset", "0", low=-(2**31), high=2**31 - 1, default=0,
                words=("offset", "offset_d", "zero_point", "零点"),
            ),
            Parameter(
                "dtype", "choice", "类型", "type", "int8", choices=("int8", "int16"), default="int8",
                words=("dtype", "类型", "位宽"),
            ),
        ),
        results=(
            Result("accepted", "是否接受", "accepted"),
            Result(
                "verdict", "判断", "verdict",
                labels={
                    "ok": ("可以接受", "accepted"),
                    "not_finite": ("不接受：scale 不是有限数", "refused: the scale is not finite"),
                    "not_positive": ("不接受：scale 必须大于 0", "refused: the scale must be above 0"),
                    "too_large": ("不接受：scale 超过 1/FLT_EPSILON", "refused: the scale is above 1/FLT_EPSILON"),
                    "offset_outside": ("不接受：offset 超出类型范围", "refused: the offset lies outside the type"),
                },
            ),
            Result("limit", "scale 上限", "largest scale"),
            Result("ratio", "与上限之比", "ratio to the limit"),
            Result("widest_symmetric", "对称量化最大的 |x|", "largest |x| of symmetric quantization"),
            Result("offset_low", "offset 下限", "smallest offset"),
            Result("offset_high", "offset 上限", "largest offset"),
        ),
        shown_zh="{verdict}；scale {scale} 是上限 {limit} 的 {ratio} 倍，offset 允许 {offset_low} 到 {offset_high}",
        shown_en="{verdict}; scale {scale} is {ratio} times the limit {limit}, offsets may be {offset_low} to "
        "{offset_high}",
        function=quantization.amct_scale_check,
        source="AMCT guide: record file and calibration FAQ (1/FLT_EPSILON, +inf, INT8 offset); AMCT open source "
        "(INT16)",
    ),
)  # fmt: skip
