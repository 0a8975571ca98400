"""Integer products have the same bits whichever kernels OpenBLAS uses: each child process runs under one of them."""

import functools
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.test_simcore.integer_digests import CASES, blas_core

#: Kernels of OpenBLAS on x86-64, newest first, with the processor flags without which they crash.
KERNELS = {
    "SkylakeX": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma"},
    "Haswell": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4_2"},
    "Prescott": {"pni"},
}


@functools.cache
def _reports() -> dict[str, Any]:
    """Return what a child under each kernel of this processor says, two at least; skip where that cannot be."""
    if blas_core() is None:
        pytest.skip("numpy has no OpenBLAS of its own here")
    cpu = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not cpu.exists():
        pytest.skip(f"which kernels of OpenBLAS are safe on {platform.machine()} {sys.platform} is not known")
    flags = set(next(line for line in cpu.read_text("utf-8").splitlines() if line.startswith("flags")).split())
    return {kernel: _report(kernel) for kernel, needed in KERNELS.items() if needed <= flags}


def _report(kernel: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_simcore.integer_digests"],
        env=os.environ | {"OPENBLAS_CORETYPE": kernel},
        cwd=ROOT,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{kernel}: exit code {done.returncode}: {done.stderr.decode()}"
    return json.loads(done.stdout)


def test_the_children_really_use_different_kernels() -> None:
    cores = {kernel: report["core"] for kernel, report in _reports().items()}

    assert len(cores) >= 2
    assert len(set(cores.values())) == len(cores), cores


@pytest.mark.parametrize("case", CASES)
def test_integer_results_have_the_same_bits_under_every_kernel(case: str) -> None:
    digests = {kernel: report["digests"][case] for kernel, report in _reports().items()}

    assert len(set(digests.values())) == 1, digests
