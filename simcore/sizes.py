"""Bytes of things in memory, exact in Python ints: aligned blocks, images, recurrent layers, chains of tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from simcore.errors import BadArgument

__all__ = [
    "BiasForm",
    "Cell",
    "ImageFormat",
    "Recurrent",
    "align_up",
    "chain_peak",
    "full_heads",
    "image_bytes",
    "recurrent_size",
]

ImageFormat = Literal["nv12", "yuv420p", "yuv422", "yuv444", "gray", "rgb"]
Cell = Literal["RNN", "LSTM", "GRU"]
BiasForm = Literal["none", "single", "double", "ncnn"]

GATES: dict[Cell, int] = {"RNN": 1, "LSTM": 4, "GRU": 3}
"""Weight matrices of each kind, as ONNX and PyTorch stack them."""


def align_up(size: int, alignment: int) -> int:
    """Return the smallest multiple of alignment that is at least size: `ceil(size / alignment) * alignment`.

    Raises:
        BadArgument: A negative size or an alignment below 1.
    """
    if size < 0 or alignment < 1:
        raise BadArgument(f"align_up: size {size}, alignment {alignment}; expected size >= 0 and alignment >= 1.")
    return -(-size // alignment) * alignment


def image_bytes(width: int, height: int, form: ImageFormat, alignment: int = 1) -> tuple[int, int]:
    """Return `(stride, bytes)` of an 8-bit image whose rows are padded to a multiple of `alignment` bytes.

    Forms, with s the padded row of the first plane:
        nv12     luma s * h, then one plane of interleaved chroma with the same stride and half the rows: s * h * 3 / 2
        yuv420p  luma s * h, then two planes of half the stride and half the rows: the same sum
        yuv422   luma s * h, then chroma of the same size: 2 * s * h
        yuv444   three planes s * h
        gray     one plane s * h
        rgb      three bytes a pixel in one plane, the row of 3 * width bytes padded as a whole

    Sources: NV12 as Linux V4L2 describes it (V4L2_PIX_FMT_NV12), the other forms likewise. Even sizes for the forms
    with halved chroma: Horizon's input_type_rt nv12.

    Raises:
        BadArgument: A size or alignment below 1, an unknown form, or an odd size that halved chroma cannot have.
    """
    if form not in get_args(ImageFormat):
        raise BadArgument(f"image_bytes: form {form!r} is unknown; choose one of {', '.join(get_args(ImageFormat))}.")
    if width < 1 or height < 1:
        raise BadArgument(f"image_bytes: width {width} and height {height} must be at least 1.")
    if form in ("nv12", "yuv420p", "yuv422") and width % 2:
        raise BadArgument(f"image_bytes: {form} halves the chroma columns; width {width} must be even.")
    if form in ("nv12", "yuv420p") and height % 2:
        raise BadArgument(f"image_bytes: {form} halves the chroma rows; height {height} must be even.")
    stride = align_up(3 * width if form == "rgb" else width, alignment)
    if form == "yuv420p" and stride % 2:
        raise BadArgument(f"image_bytes: yuv420p needs an even stride to halve; {stride} is odd, change the alignment.")
    plane = stride * height
    total = {"nv12": plane * 3 // 2, "yuv420p": plane * 3 // 2, "yuv422": 2 * plane, "yuv444": 3 * plane}
    return stride, total.get(form, plane)


@dataclass(frozen=True, slots=True)
class Recurrent:
    """The parameters of a stack of recurrent layers."""

    weights: int
    """Elements of W and R over all layers and directions."""
    biases: int
    """Elements of the biases, by the form asked for."""

    @property
    def macs_per_frame(self) -> int:
        """Multiply-adds of the matrix products for one frame of one sequence: each weight is used once."""
        return self.weights


def recurrent_size(
    kind: Cell, input_size: int, hidden: int, layers: int = 1, directions: int = 1, bias: BiasForm = "double"
) -> Recurrent:
    """Return weights and biases of a stack of equal recurrent layers.

    Formula: with g gates (RNN 1, LSTM 4, GRU 3), the first layer has `directions * g * hidden * (input + hidden)`
    weights, a later one takes the output of all directions: `directions * g * hidden * (directions * hidden + hidden)`.

    Forms of the bias, in vectors of `hidden` for each layer and direction:
        none    0
        single  g, one for each gate
        double  2 g, one with W and one with R: ONNX input B, PyTorch bias_ih and bias_hh
        ncnn    RNN 1, LSTM 4, GRU 4 (two for the candidate gate, because its reset gate stands between them)

    Sources: ONNX operators RNN, LSTM, GRU; ncnn src/layer/{rnn,lstm,gru}.cpp.

    Raises:
        BadArgument: An unknown kind or form, a size below 1, or directions other than 1 and 2.
    """
    if kind not in GATES or bias not in get_args(BiasForm):
        raise BadArgument(f"recurrent_size: kind {kind!r}, bias {bias!r}; choose {'/'.join(GATES)} and a known bias.")
    if min(input_size, hidden, layers) < 1 or directions not in (1, 2):
        raise BadArgument(
            f"recurrent_size: input {input_size}, hidden {hidden}, layers {layers}, directions {directions}; "
            f"expected sizes of at least 1 and directions 1 or 2."
        )
    gates = GATES[kind]
    first = directions * gates * hidden * (input_size + hidden)
    later = directions * gates * hidden * (directions * hidden + hidden)
    vectors = {"none": 0, "single": gates, "double": 2 * gates, "ncnn": 4 if kind == "GRU" else gates}[bias]
    return Recurrent(first + (layers - 1) * later, layers * directions * vectors * hidden)


def chain_peak(sizes: Sequence[int]) -> tuple[int, int]:
    """Return `(peak, place)` of a chain of layers: the largest sum of a tensor and the next one, and where it starts.

    While a layer of a chain runs, exactly its input and its output are alive. A chain of one tensor has its size as
    peak. The first of equal peaks counts; place counts from 0.

    Raises:
        BadArgument: No tensor, or a negative size.
    """
    if not sizes or min(sizes) < 0:
        raise BadArgument("chain_peak: give at least one size, none negative.")
    if len(sizes) == 1:
        return sizes[0], 0
    sums = [a + b for a, b in pairwise(sizes)]
    peak = max(sums)
    return peak, sums.index(peak)


def full_heads(embed: int, heads: int, alignment: int) -> int:
    """Return the largest number of heads up to `heads` whose size is a multiple of alignment; 0 if there is none.

    Raises:
        BadArgument: An argument below 1.
    """
    if min(embed, heads, alignment) < 1:
        raise BadArgument(f"full_heads: embed {embed}, heads {heads}, alignment {alignment} must be at least 1.")
    fits = (h for h in range(min(heads, embed), 0, -1) if embed % h == 0 and embed // h % alignment == 0)
    return next(fits, 0)
