"""Every error simcore raises on purpose; catch `SimError` for all of them.

SimError                what was asked cannot be computed; the message says what, where and what to do
├── BadArgument         an argument of a function: wrong shape, dtype, range or mode name
└── ModelError          the model itself: truncated, cyclic, wrong types, sizes that cannot be
    └── UnsupportedOp   a valid node whose operator (or variant of it) simcore does not compute
"""

__all__ = ["BadArgument", "ModelError", "SimError", "UnsupportedOp"]


class SimError(Exception):
    """What was asked cannot be computed; the message is one sentence for the user."""


class BadArgument(SimError):
    """An argument does not fit: the message names it, what was found, what was expected and the cure."""


class ModelError(SimError):
    """A model cannot be used.

    Attributes:
        reason: What is wrong and what to do, one sentence without the node.
        node: The node (or tensor, or file) at fault as the user can find it in the model; empty for the whole model.
    """

    def __init__(self, reason: str, node: str = "") -> None:
        super().__init__(f"{node}: {reason}" if node else reason)
        self.reason = reason
        self.node = node

    def __reduce__(self) -> "tuple[type[ModelError], tuple[str, str]]":
        # The default rebuilds from args (the joined message) and would lose the node on its way through a process pool.
        return type(self), (self.reason, self.node)


class UnsupportedOp(ModelError):
    """A node's operator, domain, version or attribute is not computed here; the node's name and operator are given."""
