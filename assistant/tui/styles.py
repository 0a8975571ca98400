"""The styles of the window: each source is parsed once per theme, and a theme is put on slice by slice.

Textual's own stylesheet remembers 64 parsed sources, of which the window has 80, and none after a change of theme;
and it marks all descendants of a widget once for each of its colours. With it a change of theme takes several times as
long, and all of it in one turn of the event loop.
"""

import asyncio
from collections.abc import Sequence
from typing import cast

from textual.cache import LRUCache
from textual.color import Color
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

__all__ = ["Styles", "restyle", "seen"]

_SOURCES = 1000
_SLICE = 12
"""Nodes that are styled in one turn."""
_SEVERAL = 2
"""So many new colours are set together."""


class Styles(Stylesheet):
    """A stylesheet for several themes."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        # Textual's private cache, by all that the rules of a source depend on but for the variables.
        self._parse_cache = LRUCache(_SOURCES)
        self._parsed = {_key(variables): self._parse_cache}

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take the variables of another theme, and what was parsed with them before."""
        self._parse_cache = LRUCache(_SOURCES)  # Textual empties the one it has
        super().set_variables(variables)
        self._parse_cache = self._parsed.setdefault(_key(variables), self._parse_cache)

    def reparse(self) -> None:
        """Take the rules for the variables; only sources that are new with them are parsed."""
        self.parse()

    def ahead(self, variables: dict[str, str]) -> "Styles | None":
        """Return a stylesheet for a theme, to `parse` in a thread and then to `take`; None if all is parsed."""
        known = self._parsed.setdefault(_key(variables), LRUCache(_SOURCES))
        if len(known) >= len(self.source):
            return None
        other = Styles(variables)
        other.source = self.source.copy()
        for key in [*known.keys()]:
            other._parse_cache[key] = known[key]
        return other

    def take(self, other: "Styles") -> None:
        """Take what was parsed ahead."""
        for theme, parsed in other._parsed.items():
            known = self._parsed.setdefault(theme, parsed)
            for key in [*parsed.keys()]:
                known[key] = parsed[key]

    @classmethod
    def replace_rules(cls, node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
        """Replace the rules of a node; its descendants are marked once, not once for each of its colours."""
        base = node.styles.base
        colours = {key: one for key, one in rules.items() if isinstance(one, Color) and base.get_rule(key, None) != one}
        if animate or len(colours) < _SEVERAL:
            super().replace_rules(node, rules, animate)
            return
        base.merge_rules(cast("RulesMap", colours))
        super().replace_rules(node, rules)
        base.refresh(children=True)
        if isinstance(node, Widget):
            for is_shown, name in (
                (node.show_vertical_scrollbar, "vertical_scrollbar"),
                (node.show_horizontal_scrollbar, "horizontal_scrollbar"),
            ):
                if is_shown:
                    getattr(node, name).refresh()


async def restyle(stylesheet: Styles, nodes: Sequence[DOMNode]) -> None:
    """Put the styles on nodes, some in each turn of the event loop."""
    for start in range(0, len(nodes), _SLICE):
        stylesheet.update_nodes(one for one in nodes[start : start + _SLICE] if one.is_attached)
        await asyncio.sleep(0)


def seen(root: DOMNode) -> list[DOMNode]:
    """Return a node and the nodes below it, without what is hidden."""
    nodes = [root]
    for child in root.children:
        if child.display:
            nodes += seen(child)
    return nodes


def _key(variables: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(variables.items())
