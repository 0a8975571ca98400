"""When garbage is collected: the window stands still for a whole collection, in whichever thread it happens.

postpone   young garbage is collected as ever, and no whole collection comes by itself
keep       what has been loaded stays to the end: no collection walks it any more
rest       whole collections come when nobody touches the window; one that takes long, when nobody has for a minute

Measured on a journey through all areas: it ends with 300,000 objects, a whole collection of which takes 0.2 s, and
fifteen of these came on the way. Most of what they walk is never garbage: modules, tables, the widgets of areas.
"""

import gc

__all__ = ["keep", "postpone", "rest", "resume"]

_PYTHONS = gc.get_threshold()[2]
_NEVER = 1 << 30
_DUE = 3
"""So many collections of the middle generation make a whole one worth while."""
_SMALL = 50_000
"""So many objects are walked in less than 50 ms."""
_LATE_S = 60.0
"""A longer collection waits until nobody has touched the window for so long."""


def postpone() -> None:
    """Let no whole collection come by itself."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)


def resume() -> None:
    """Let whole collections come as Python has them."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _PYTHONS)


def keep() -> None:
    """Take all that has been loaded out of garbage collection; that takes no time, and is not undone."""
    gc.freeze()


def rest(idle_s: float) -> bool:
    """Collect all garbage if that is due; return whether it was.

    Args:
        idle_s: seconds since the window was touched.
    """
    if gc.get_count()[2] < _DUE:
        return False
    is_small = len(gc.get_objects()) < _SMALL
    if not is_small and idle_s < _LATE_S:
        return False
    gc.collect()
    if not is_small:
        # What is left is in use, and would only be walked again.
        keep()
    return True
