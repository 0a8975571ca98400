"""The tables of codes in `corpus/codes/`, read when a code is first asked for.

Each platform has one table, `corpus/codes/<platform>.tsv`; `platforms.toml` beside them says who issues it.
"""

import functools
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from assistant.errors import BadInput
from assistant.logs.types import CERTAINTIES, Meaning
from assistant.paths import corpus_root

COLUMNS = tuple(field.name for field in fields(Meaning))


@dataclass(frozen=True, slots=True)
class Platform:
    """Who issues the codes of one table."""

    name: str
    title_zh: str
    title_en: str
    groups: tuple[str, ...]
    """Names of platforms that take codes from this table."""
    symbols: tuple[str, ...]
    """Beginnings of the symbols that count as codes in running text."""
    packed: tuple[int, int] | None
    """(high, bits): a number whose bits 24 and up are `high` carries a code of this table in its low `bits`."""


#: Smaller numbers carry no code of another table.
_LEAST_PACKED = 1 << 24


@dataclass(frozen=True, slots=True)
class Table:
    """Everything known about codes."""

    platforms: dict[str, Platform]
    meanings: dict[str, tuple[Meaning, ...]]
    """By key; several platforms in the order of `platforms`."""
    names: dict[str, tuple[Meaning, ...]]
    """By symbol, in capitals."""
    symbols: frozenset[str]
    """Symbols that count as codes in running text, spelled exactly."""

    def of(self, key: str) -> tuple[Meaning, ...]:
        """Return the meanings of a key, with those of a code that is packed into it."""
        direct = self.meanings.get(key, ())
        if not key.isdecimal():
            return direct
        value = int(key)
        return direct if value < _LEAST_PACKED else direct + tuple(self._unpacked(value))

    def told(self, key: str, platforms: frozenset[str]) -> tuple[Meaning, ...]:
        """Return the meanings of a key on some platforms; on all of them if it has none there."""
        every = self.of(key)
        return tuple(meaning for meaning in every if self.belongs(meaning, platforms)) or every

    def belongs(self, meaning: Meaning, platforms: frozenset[str]) -> bool:
        """Return whether a meaning is one of these tables or families of platforms."""
        return not platforms.isdisjoint((meaning.platform, *self.platforms[meaning.platform].groups))

    def _unpacked(self, value: int) -> list[Meaning]:
        found = []
        for platform in self.platforms.values():
            if platform.packed is None or value >> 24 != platform.packed[0]:
                continue
            code = str(value & ((1 << platform.packed[1]) - 1))
            found += [one for one in self.meanings.get(code, ()) if one.platform == platform.name and code != "0"]
        return found


def table() -> Table:
    """Return the tables of the corpus in use."""
    # A text, because a path takes long to compare and this is asked for each line.
    return _read(f"{corpus_root()}/codes")


@functools.lru_cache(maxsize=4)
def _read(folder: str | Path) -> Table:
    directory = Path(folder)
    platforms = _platforms(directory / "platforms.toml")
    by_key: dict[str, list[Meaning]] = {}
    by_name: dict[str, list[Meaning]] = {}
    symbols: set[str] = set()
    for platform in platforms.values():
        for meaning in _rows(directory / f"{platform.name}.tsv"):
            by_key.setdefault(meaning.code, []).append(meaning)
            if not meaning.name:
                continue
            by_name.setdefault(meaning.name.upper(), []).append(meaning)
            if meaning.code != "0" and meaning.name.startswith(platform.symbols):
                symbols.add(meaning.name)
    return Table(
        platforms=platforms,
        meanings={code: tuple(rows) for code, rows in by_key.items()},
        names={name: tuple(rows) for name, rows in by_name.items()},
        symbols=frozenset(symbols),
    )


def _platforms(path: Path) -> dict[str, Platform]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from error
    return {name: _platform(name, row) for name, row in data.items()}


def _platform(name: str, row: dict[str, object]) -> Platform:
    packed = row.get("packed")
    pair = (int(packed["high"]), int(packed["low_bits"])) if isinstance(packed, dict) else None
    groups, symbols = row.get("groups"), row.get("names")
    return Platform(
        name=name,
        title_zh=str(row.get("title_zh", name)),
        title_en=str(row.get("title_en", name)),
        groups=tuple(map(str, groups)) if isinstance(groups, list) else (),
        symbols=tuple(map(str, symbols)) if isinstance(symbols, list) else (),
        packed=pair,
    )


def _rows(path: Path) -> list[Meaning]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise BadInput(f"{path}:1: expected the columns {', '.join(COLUMNS)}")
    return [_row(line, f"{path}:{number}") for number, line in enumerate(lines[1:], start=2)]


def _row(line: str, place: str) -> Meaning:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise BadInput(f"{place}: {len(cells)} columns, expected {len(COLUMNS)}")
    platform, code, name, module, meaning_zh, meaning_en, hint_zh, hint_en, source, word, entry = cells
    for certainty in CERTAINTIES:
        if word == certainty:
            return Meaning(
                platform, code, name, module, meaning_zh, meaning_en, hint_zh, hint_en, source, certainty, entry
            )  # fmt: skip
    raise BadInput(f"{place}: certainty {word!r}, expected one of {', '.join(CERTAINTIES)}")
