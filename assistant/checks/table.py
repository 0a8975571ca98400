"""The one table of checks: a check is one function and one row; fences, commands and forms follow from it.

The rows stand in rows/, a file per topic, each beside its functions: rows/half.py and half.py.
"""

from typing import Final

from assistant.checks.rows import (
    activation_tables,
    calibration,
    compare,
    convert,
    half,
    integers,
    memory,
    model,
    preprocess,
    quantization,
    recurrent,
    speed,
)
from assistant.checks.types import Check

__all__ = ["CHECKS"]

#: Every check by its name, in the order in which lists show them.
CHECKS: Final[dict[str, Check]] = {
    row.name: row
    for row in (
        *quantization.ROWS,
        *calibration.ROWS,
        *half.ROWS,
        *activation_tables.ROWS,
        *integers.ROWS,
        *recurrent.ROWS,
        *memory.ROWS,
        *speed.ROWS,
        *compare.ROWS,
        *preprocess.ROWS,
        *convert.ROWS,
        *model.ROWS,
    )
}
