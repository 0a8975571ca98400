"""Quantization parameters of a tensor: from a calibrated range where there is one, else from the values at hand."""

from collections.abc import Mapping

import numpy as np

from simcore.graph import Tensor
from simcore.quantize import QuantParams, params_from_range, tensor_range

__all__ = ["Ranges", "quantization"]

#: Smallest and largest value by tensor name.
Ranges = Mapping[str, tuple[float, float]]


def quantization(name: str, values: Tensor, to: str, convention: str, ranges: Ranges) -> QuantParams:
    """Return the parameters of one tensor, per tensor.

    Measured are the finite values: codes of infinities saturate, NaN has the code of 0.

    Args:
        name: of the tensor, to look it up.
        values: floats; measured if the name has no range.
        to: integer type of the codes.
        convention: see quantize.CONVENTIONS.
        ranges: calibrated ranges.

    Raises:
        BadArgument: the range does not suit the convention.
    """
    if name in ranges:
        low, high = ranges[name]
        return params_from_range(low, high, convention, to)
    real = values if np.isfinite(values).all() else values[np.isfinite(values)]
    if not real.size:
        return params_from_range(0, 0, convention, to)
    return params_from_range(*tensor_range(real), convention, to)
