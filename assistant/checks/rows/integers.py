"""Rows: integer sums and products."""

from typing import Final

from assistant.checks import integers
from assistant.checks.types import Check, Parameter, Result

_TYPES: Final = ("int4", "uint4", "int8", "uint8", "int12", "int16", "uint16")
_ACCUMULATORS: Final = ("int16", "int24", "int32", "int48", "int64")

ROWS: Final[tuple[Check, ...]] = (
    Check(
        name="accumulator_width",
        zh="k 个整数乘积会不会溢出累加器",
        en="do k integer products overflow the accumulator",
        help_zh="k 个 a*b 之和最坏是多少、要多少位、累加器（int16、int24、int32、int48、int64）放不放得下、"
        "最多安全多少项。a_max、b_max 可限制绝对值（如权重只用 ±127 或 7 位的 ±63）。",
        help_en="The worst sum of k products a*b, the bits it needs, whether the accumulator (int16, int24, int32, "
        "int48, int64) holds it, and the largest safe k. a_max and b_max limit the magnitudes (weights of +-127, or "
        "+-63 for 7 bits).",
        asks_zh=(
            "int16 的 MatMul 累加 4096 项会溢出 int32 吗",
            "int8 卷积 3x3 九个乘积用 int16 累加安全吗",
            "u8*s8 两两相加会不会饱和",
            "int32 累加器最多能加多少个 int8 乘积",
            "s16*s8 的累加位宽要多少",
        ),
        asks_en=(
            "does an int16 MatMul with K=4096 overflow int32",
            "nine int8 products in an int16 accumulator",
            "can two u8*s8 products saturate a 16-bit lane",
            "largest K before an int8 dot product overflows int32",
            "bits needed for k products of s16 and s8",
        ),
        parameters=(
            Parameter(
                "k", "integer", "乘积个数", "number of products", "4096", low=1, high=10**15,
                words=("k", "项", "个", "products", "terms", "累加", "长度"),
            ),
            Parameter(
                "a", "choice", "左边类型", "left type", "int8", choices=_TYPES, default="int8",
                words=("a", "左", "left", "feature", "激活", "特征图"),
            ),
            Parameter(
                "b", "choice", "右边类型", "right type", "int8", choices=_TYPES, default="int8",
                words=("b", "右", "right", "weight", "权重"),
            ),
            Parameter(
                "accumulator", "choice", "累加器类型", "accumulator type", "int32", choices=_ACCUMULATORS,
                default="int32", words=("accumulator", "累加器", "acc"),
            ),
            Parameter(
                "a_max", "integer", "左边最大绝对值", "largest |a|", "127", low=1, high=65536, default=None,
                words=("a_max",),
            ),
            Parameter(
                "b_max", "integer", "右边最大绝对值", "largest |b|", "63", low=1, high=65536, default=None,
                words=("b_max",),
            ),
        ),
        results=(
            Result(
                "overflows", "是否溢出", "overflows",
                labels={"true": ("会溢出", "can overflow"), "false": ("不会溢出", "cannot overflow")},
            ),
            Result("low", "最小的和", "most negative sum"),
            Result("high", "最大的和", "most positive sum"),
            Result("worst", "最坏的绝对值", "largest magnitude"),
            Result("bits", "需要的位数（含符号）", "bits needed (with sign)", unit="bit"),
            Result("largest_k", "最多安全多少项", "largest safe k"),
            Result("accumulator_low", "累加器下限", "accumulator minimum"),
            Result("accumulator_high", "累加器上限", "accumulator maximum"),
        ),
        shown_zh="{overflows}：{k} 个 {a}×{b} 的和在 {low} 到 {high}，要 {bits} 位；{accumulator} 最多安全 "
        "{largest_k} 项",
        shown_en="it {overflows}: the sum of {k} products {a} times {b} lies in {low} to {high} and needs {bits} bits; "
        "{accumulator} is safe up to {largest_k} products",
        function=integers.accumulator_width,
        source="exact integer bounds of two's complement; type pairs of the cube in the Nano AI application guide "
        "(s16*s8, s8*s8, s8*s4)",
        assumptions=(
            (
                "按最坏的输入算，真实数据小得多；Nano 累加器的位宽没有公开，默认按 int32",
                "worst possible inputs, real data are far smaller; Nano's accumulator width is not published, int32 is "
                "assumed by default",
            ),
        ),
    ),
    Check(
        name="dot_product",
        zh="整数点积：哪一步回绕或饱和",
        en="integer dot product: which step wraps or saturates",
        help_zh="逐项相乘相加，乘积和累加各放在给定位宽的寄存器里，溢出时回绕或饱和；与精确结果比较，"
        "指出第一个出错的下标。",
        help_en="Multiplies and adds term by term, products and sum each in a register of the given width that wraps "
        "or saturates; compares with the exact result and names the first index that goes wrong.",
        asks_zh=(
            "int16 向量点积算出 -32768，哪一步错了",
            "乘法在 16 位里回绕的结果",
            "[256,512] 和 [128,256] 的 int16 点积",
            "点积用饱和和回绕差多少",
        ),
        asks_en=(
            "int16 dot product returns -32768, which step is wrong",
            "products wrap in 16 bits",
            "dot product of these integer vectors with an int32 accumulator",
            "saturating against wrapping dot product",
        ),
        parameters=(
            Parameter(
                "a", "integers", "左边向量", "left vector", "256,512,1024,1024", low=-(2**31), high=2**31, most=1000,
                words=("a", "左", "left"),
            ),
            Parameter(
                "b", "integers", "右边向量", "right vector", "128,256,2048,1024", low=-(2**31), high=2**31, most=1000,
                words=("b", "右", "right"),
            ),
            Parameter(
                "product", "choice", "乘积的类型", "type of a product", "int16",
                choices=("int8", "int16", "int24", "int32", "int48", "int64"), default="int32",
                words=("product", "乘积", "乘法"),
            ),
            Parameter(
                "accumulator", "choice", "累加器类型", "accumulator type", "int32", choices=_ACCUMULATORS,
                default="int32", words=("accumulator", "累加器", "acc"),
            ),
            Parameter(
                "overflow", "choice", "溢出时", "on overflow", "wrap", choices=("wrap", "saturate"), default="wrap",
                words=("overflow", "溢出", "回绕", "饱和"),
            ),
        ),
        results=(
            Result("total", "结果", "result"),
            Result("exact", "精确结果", "exact result"),
            Result("error", "误差", "error"),
            Result("products", "寄存器里的乘积", "products as held"),
            Result(
                "overflows", "是否溢出", "overflows",
                labels={"true": ("有溢出", "something overflows"), "false": ("没有溢出", "nothing overflows")},
            ),
            Result("overflow_at", "第一个溢出的下标（-1 为无）", "first index that overflows (-1: none)"),
            Result("bits", "精确结果需要的位数", "bits the exact result needs", unit="bit"),
        ),
        shown_zh="结果 {total}（精确值 {exact}）；{overflows}，乘积寄存器里是 {products}",
        shown_en="the result is {total} (exactly {exact}); {overflows}, products are held as {products}",
        function=integers.dot_product,
        source="two's complement arithmetic; saturation clamps to the ends of the type",
    ),
    Check(
        name="split_product",
        zh="int16 乘法拆成高低字节",
        en="an int16 product as high and low bytes",
        help_zh="int16×int16 拆成四个 8 位乘积：高高左移 16，高低和低高左移 8，低低不移；给出各部分、精确和，"
        "以及省掉低低一项丢多少。",
        help_en="int16 times int16 as four 8-bit products: high*high shifted by 16, the mixed ones by 8, low*low not "
        "at all; the parts, the exact sum, and what is lost when low*low is left out.",
        asks_zh=(
            "int16 乘法怎么拆成四个 int8 乘法",
            "双 int16 高低 8 位拆分，丢掉低乘低误差多大",
            "12345*-6789 高低字节",
            "dual int16 拆分精度",
        ),
        asks_en=(
            "split an int16 product into four 8-bit products",
            "error of dropping low times low",
            "high and low bytes of 12345 and -6789",
            "dual int16 emulation with int8 multipliers",
        ),
        parameters=(
            Parameter(
                "a", "integer", "左边的数", "left number", "12345", low=-32768, high=32767, words=("a", "左", "left"),
            ),
            Parameter(
                "b", "integer", "右边的数", "right number", "-6789", low=-32768, high=32767, words=("b", "右", "right"),
            ),
            Parameter(
                "low", "choice", "低字节当作", "the low byte is", "unsigned", choices=("unsigned", "signed"),
                default="unsigned", words=("low", "低字节", "low byte"),
            ),
        ),
        results=(
            Result("exact", "精确乘积", "exact product"),
            Result("without_low", "省掉低×低", "without low*low"),
            Result("lost", "丢掉的量", "what is lost"),
            Result("lost_relative", "相对误差", "relative error"),
            Result("a_parts", "a 的高、低字节", "high and low byte of a"),
            Result("b_parts", "b 的高、低字节", "high and low byte of b"),
            Result("products", "高高、高低、低高、低低", "high*high, high*low, low*high, low*low"),
            Result("shifts", "各左移位数", "left shifts", unit="bit"),
        ),
        shown_zh="乘积 {exact}，四个部分积 {products} 左移 {shifts} 位相加；省掉低×低得 {without_low}，丢 {lost}",
        shown_en="the product is {exact}: the parts {products} shifted left by {shifts}; without low*low it is "
        "{without_low}, {lost} is lost",
        function=integers.split_product,
        source="positional arithmetic in base 256",
        assumptions=(
            (
                "各家双 int16 在硬件里怎么拆没有公开，这只是一种拆法",
                "how vendors' dual int16 splits in hardware is not published; this is one way",
            ),
        ),
    ),
)  # fmt: skip
