"""Everything there is to read: documents with their entries, the glossary and the first-day paths."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb import corpus
from kb.errors import CorpusError
from kb.types import LANGS, Entry, Lang

__all__ = ["PATHS", "Course", "Document", "FirstDay", "Shelf", "Term", "read_shelf"]

PATHS = "paths.toml"


@dataclass(frozen=True, slots=True)
class Document:
    """One corpus file in both languages."""

    key: str
    """Path without language and suffix: `nano/faq`."""
    platform: str
    titles: Mapping[Lang, str]
    ids: tuple[str, ...]
    """Entries in their order."""


@dataclass(frozen=True, slots=True)
class Term:
    """Words of the glossary that mean the same."""

    zh: tuple[str, ...]
    en: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstDay:
    """What a newcomer to a platform reads on the first day."""

    platform: str
    titles: Mapping[Lang, str]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """A document as question cards, in the order to learn it."""

    platform: str
    document: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The corpus for readers."""

    root: Path
    documents: Mapping[str, Document]
    """By their key, in the order of the files."""
    entries: Mapping[tuple[str, Lang], Entry]
    home: Mapping[str, str]
    """Entry id -> key of its document."""
    terms: tuple[Term, ...]
    paths: tuple[FirstDay, ...]
    courses: tuple[Course, ...]
    """Platform by platform, in reading order."""
    problem: str = ""
    """What is wrong with the file of paths; empty if nothing is."""

    def entry(self, key: str, lang: Lang) -> Entry | None:
        """Return an entry; in the other language if this one has none."""
        return self.entries.get((key, lang)) or self.entries.get((key, "en" if lang == "zh" else "zh"))

    def title(self, key: str, lang: Lang) -> str:
        """Return an entry's title, or its id if there is no such entry."""
        entry = self.entry(key, lang)
        return entry.title if entry else key


def read_shelf(root: Path) -> Shelf:
    """Read a corpus directory; takes about a second.

    Raises:
        CorpusError: a broken corpus file.
    """
    source = corpus.read(root)
    entries: dict[tuple[str, Lang], Entry] = {}
    documents: dict[str, Document] = {}
    home: dict[str, str] = {}
    ids: dict[str, dict[str, None]] = {}
    titles: dict[str, dict[Lang, str]] = {}
    for entry in corpus.entries(source):
        key = entry.span.file.removesuffix(f".{entry.lang}.md")
        entries[entry.id, entry.lang] = entry
        home.setdefault(entry.id, key)
        ids.setdefault(key, {})[entry.id] = None
        if entry.lang not in titles.setdefault(key, {}):
            titles[key][entry.lang] = _title(source.documents[entry.span.file], key)
    for key, found in ids.items():
        mine = tuple(one for one in found if home[one] == key)
        first = next(entries[one, lang] for one in mine for lang in LANGS if (one, lang) in entries)
        documents[key] = Document(key, first.platform, titles[key], mine)
    data, problem = _paths(root / PATHS)
    return Shelf(
        root=root,
        documents=documents,
        entries=entries,
        home=home,
        terms=_terms(source),
        paths=_first_days(data, home),
        courses=_courses(data, documents, entries),
        problem=problem,
    )


def _title(data: bytes, key: str) -> str:
    header = data.decode("utf-8")[4:].split("\n+++\n", 1)[0]
    return str(tomllib.loads(header).get("title", key))


def _terms(source: corpus.Corpus) -> tuple[Term, ...]:
    data = source.resources.get(corpus.GLOSSARY)
    if data is None:
        return ()
    tables = corpus.toml(corpus.GLOSSARY, data).get("term", [])
    if not isinstance(tables, list):
        raise CorpusError(f"{corpus.GLOSSARY}:1: 'term' must be a list of tables")
    return tuple(Term(tuple(map(str, one.get("zh", []))), tuple(map(str, one.get("en", [])))) for one in tables)


def _paths(file: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of the file, and what is wrong with it; a corpus without the file has no paths."""
    try:
        return tomllib.loads(file.read_text("utf-8")), ""
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError) as error:
        return {}, f"{file}: {error}"


def _first_days(data: dict[str, Any], home: Mapping[str, str]) -> tuple[FirstDay, ...]:
    return tuple(
        FirstDay(
            platform,
            {lang: str(table.get(lang, platform)) for lang in LANGS},
            tuple(one for one in table["path"] if one in home),
        )
        for platform, table in data.items()
        if isinstance(table, dict) and isinstance(table.get("path"), list)
    )


def _courses(
    data: dict[str, Any], documents: Mapping[str, Document], entries: Mapping[tuple[str, Lang], Entry]
) -> tuple[Course, ...]:
    """Return the courses that the file lists, and after them documents of kind course that it does not know yet."""
    listed = [str(key) for table in data.values() if isinstance(table, dict) for key in table.get("courses", [])]
    kinds = {entry.id: entry.kind for entry in entries.values()}
    taught = [key for key, one in documents.items() if any(kinds[entry] == "course" for entry in one.ids)]
    order = [key for key in dict.fromkeys([*listed, *taught]) if key in documents]
    platforms = dict.fromkeys(documents[key].platform for key in order)
    return tuple(
        Course(platform, key) for platform in platforms for key in order if documents[key].platform == platform
    )
