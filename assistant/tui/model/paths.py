"""The files of the area: the model, and a second one to compare it with; each a field and a button."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from assistant.tui.filebox import FileBox
from assistant.tui.folders import latest, why_not
from assistant.tui.pathfield import PathField
from assistant.tui.words import Words

__all__ = ["FIELDS", "SUFFIXES", "Paths"]

FIELDS: Final = ("path", "other")
SUFFIXES: Final = (".onnx",)


class Paths(Vertical):
    """Two rows: label, path, button."""

    DEFAULT_CSS = """
    Paths { height: auto; }
    Paths Horizontal { height: 1; }
    Paths Static { width: 8; color: $text-muted; }
    Paths PathField { width: 1fr; margin-right: 1; }
    Paths Button { min-width: 8; }
    """

    def __init__(self, say: Words) -> None:
        super().__init__()
        self.say = say
        self.recent: list[str] = []
        """Models that were estimated, the last one first."""

    def compose(self) -> ComposeResult:
        """Lay out the rows."""
        for name in FIELDS:
            with Horizontal():
                yield Static(id=f"say-{name}", markup=False)
                yield PathField(f"model-{name}", suffixes=SUFFIXES)
                yield Button(id=f"pick-{name}", compact=True)

    def relabel(self, say: Words) -> None:
        """Set every label."""
        self.say = say
        for name in FIELDS:
            self.query_one(f"#say-{name}", Static).update(say(f"field_{name}"))
            self.field(name).placeholder = say(f"hint_{name}")
            self.query_one(f"#pick-{name}", Button).label = say("button_pick")

    def field(self, name: str) -> PathField:
        """Return the field of FIELDS."""
        return self.query_one(f"#model-{name}", PathField)

    def path(self, name: str = "path") -> str:
        """Return what is meant in a field; "" if nothing is."""
        return self.field(name).path

    def given(self) -> list[str]:
        """Return the paths that are filled in, the model first."""
        return [path for path in map(self.path, FIELDS) if path]

    def wrong(self) -> tuple[str, str]:
        """Return (name of a field, key of the sentence that says what is wrong); ("", "") if nothing is."""
        for name in FIELDS:
            path = self.path(name)
            key = why_not(path, SUFFIXES) if path or name == "path" else ""
            if key:
                return name, key
        return "", ""

    def remember(self, used: Sequence[str]) -> None:
        """Offer models again that were estimated now."""
        self.recent = latest(self.recent, *(str(Path(path).absolute()) for path in used))

    def pick(self, done: Callable[[], object], name: str = "") -> None:
        """Choose a file in a box.

        Args:
            done: called when one was chosen, and stands in its field.
            name: of the field; "" for the one that has the focus, else the model's.
        """
        name = name or next((one for one in FIELDS if self.field(one).has_focus), "path")
        typed = self.path(name) or self.path()
        folder = next((one for one in (Path(typed), *Path(typed).parents) if one.is_dir()), Path()) if typed else Path()
        begin = "" if folder == Path() else f"{folder}/".replace("//", "/")

        def chosen(path: str | None) -> None:
            if path is not None:
                self.field(name).choose(path)
                done()

        box = FileBox(self.say, "pick", path=begin, recent=self.recent, suffixes=SUFFIXES)
        self.app.push_screen(box, chosen)
