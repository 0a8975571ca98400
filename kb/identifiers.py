"""The identifiers of a question (codes, options, operators, chips, versions, names) and whether the corpus knows them.

What an identifier looks like is data (`corpus/identifiers.toml`); the names of standard vocabularies, too
(`corpus/onnx_operators.toml`).
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kb import terms
from kb.errors import CorpusError
from kb.types import Unknown, Unlisted

NEAREST = 3
_MIN_SIMILARITY = 60.0
_OPERATOR_CONTEXT = re.compile(
    r"算子|支持|能用|能跑|(?<![a-z])(?:op|ops|operators?|layers?|nodes?|support(?:ed|s)?|runs?|onnx|npu|nano)(?![a-z])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<![\w./-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?!\w)")
_COMPOUND = re.compile(r"[a-z][A-Z]")
_LATIN_WORD = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z0-9]*(?![\w])")


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of identifier is written."""

    name: str
    blocking: bool
    patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Standard names, for example all ONNX operators."""

    name: str
    names: Mapping[str, str]
    """Lower-case name or alias -> canonical name."""
    everyday: frozenset[str]
    """Those of them that are everyday words when written in lower case."""

    def canonical(self, word: str) -> str | None:
        """Return the canonical name of a word, or None if the vocabulary does not have it."""
        return self.names.get(word.lower())


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier found in a text."""

    kind: Kind
    text: str
    key: str
    """Lower case without spaces and hyphens; `product:number` for a version."""
    upto: str = ""
    """Upper end of a version range."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the corpus mentions."""

    keys: frozenset[str]
    """Keys of identifiers and, for one question, those of its words that the index has."""
    texts: tuple[tuple[str, str], ...]
    """(kind, identifier as written), for suggestions."""
    ranges: Mapping[str, tuple[tuple[int, int], ...]]
    """Product -> ranges of versions that the corpus speaks of."""


def load_kinds(path: str, data: bytes) -> tuple[Kind, ...]:
    """Read `corpus/identifiers.toml`.

    Raises:
        CorpusError: not TOML, or a pattern that is no regular expression.
    """
    try:
        tables = tomllib.loads(data.decode("utf-8"))["kind"]
        return tuple(
            Kind(
                table["name"],
                table["blocking"],
                tuple(
                    re.compile(pattern, re.IGNORECASE if table.get("ignore_case") else 0)
                    for pattern in table["patterns"]
                ),
            )
            for table in tables
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, re.error) as error:
        raise CorpusError(f"{path}:1: bad identifier patterns: {error}") from None


def load_vocabulary(path: str, data: bytes) -> Vocabulary:
    """Read a vocabulary: `names = [..]` and `[aliases]` lower-case word = name.

    Raises:
        CorpusError: not TOML, or without names.
    """
    try:
        table = tomllib.loads(data.decode("utf-8"))
        names = {name.lower(): name for name in table["names"]}
        names |= table.get("aliases", {})
        everyday = frozenset(table.get("everyday", []))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, AttributeError) as error:
        raise CorpusError(f"{path}:1: bad vocabulary: {error}") from None
    return Vocabulary(path.rsplit("/", 1)[-1].removesuffix(".toml"), names, everyday)


def extract(text: str, kinds: Iterable[Kind]) -> tuple[Identifier, ...]:
    """Return the identifiers of a text; each stretch of text belongs to the first kind that matches it."""
    normal = terms.clean(text)
    found: list[Identifier] = []
    taken: list[tuple[int, int]] = []
    for kind in kinds:
        for pattern in kind.patterns:
            for match in pattern.finditer(normal):
                identifier, (start, end) = _identifier(kind, match)
                if not any(start < b and a < end for a, b in taken):
                    taken.append((start, end))
                    found.append(identifier)
    return tuple(found)


def _identifier(kind: Kind, match: re.Match[str]) -> tuple[Identifier, tuple[int, int]]:
    groups = match.groupdict()
    if "id" in groups:
        text = groups["id"]
        return Identifier(kind, text, _key(text)), match.span("id")
    # A bare "v11-v18" is how opset ranges are written.
    product = re.sub(r"[\s_-]", "", groups["product"].lower()) or "opset"
    number = re.sub(r"(\.x)+$", "", groups["number"].lower())
    span = (match.start("product"), match.end("number"))
    if span[0] > span[1]:
        span = match.span("number")
    return Identifier(
        kind, f"{groups['product'] or 'opset'} {groups['number']}", f"{product}:{number}", groups["upto"] or ""
    ), span


def _key(text: str) -> str:
    return re.sub(r"[\s-]", "", text.lower()) if not text.startswith("--") else text.lower()


def collect(texts: Iterable[str], kinds: Collection[Kind]) -> Known:
    """Return the identifiers that a corpus knows."""
    keys: set[str] = set()
    written: dict[str, tuple[str, str]] = {}
    ranges: dict[str, set[tuple[int, int]]] = {}
    for text in texts:
        for identifier in extract(text, kinds):
            keys.add(identifier.key)
            written.setdefault(identifier.key, (identifier.kind.name, identifier.text))
            if identifier.upto:
                product, _, number = identifier.key.partition(":")
                ranges.setdefault(product, set()).add((int(number), int(identifier.upto)))
        for match in _CAMEL.finditer(terms.clean(text)):
            written.setdefault(match[0].lower(), ("name", match[0]))
    return Known(frozenset(keys), tuple(written.values()), {p: tuple(sorted(r)) for p, r in ranges.items()})


def unknown(
    question: str, kinds: Iterable[Kind], known: Known, vocabularies: Iterable[Vocabulary]
) -> tuple[Unknown, ...]:
    """Return the identifiers of a question that the corpus does not know, each once, in the order of their kinds."""
    found: dict[str, Unknown] = {}
    for identifier in extract(question, kinds):
        if not _is_known(identifier, known):
            nearest = _nearest(identifier.text, identifier.kind.name, known)
            found[identifier.key] = Unknown(identifier.text, identifier.kind.name, nearest, identifier.kind.blocking)
    in_context = bool(_OPERATOR_CONTEXT.search(question))
    for match in _CAMEL.finditer(terms.clean(question)):
        word = match[0]
        standard = any(vocabulary.canonical(word) for vocabulary in vocabularies)
        if word.lower() not in known.keys and not standard:
            kind = "operator" if in_context else "name"
            nearest = _nearest(word, kind, known)
            found.setdefault(word.lower(), Unknown(word, kind, nearest, in_context))
    return tuple(found.values())


def unlisted(question: str, vocabulary: Vocabulary, listed: Collection[str], entry_id: str) -> tuple[Unlisted, ...]:
    """Return the names of a vocabulary in the question that a complete list of them does not contain."""
    return tuple(
        Unlisted(name, vocabulary.name, entry_id) for name in names_in(question, vocabulary) if name not in listed
    )


def names_in(question: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the vocabulary's names that a question mentions, each once.

    Names such as `And`, `Div` or `Size` are words of other fields, too. They count where the question speaks of
    operators; in English besides only with a capital letter inside the sentence, or beside a word such as "operator".
    """
    normal = terms.clean(question)
    chinese = terms.language(normal) == "zh"
    in_context = bool(_OPERATOR_CONTEXT.search(normal))
    found: dict[str, None] = {}
    for match in _LATIN_WORD.finditer(normal):
        name = vocabulary.canonical(match[0])
        if name is None or not (in_context or _COMPOUND.search(name)):
            continue
        if chinese or _is_name_in_english(normal, match, vocabulary.everyday):
            found[name] = None
    return tuple(found)


def _is_name_in_english(text: str, match: re.Match[str], everyday: Collection[str]) -> bool:
    word = match[0]
    if re.search(r"[a-z][A-Z]|[0-9]", word) or (len(word) > 2 and word.isupper()):
        return True
    near = text[max(0, match.start() - 10) : match.start()] + "|" + text[match.end() : match.end() + 11]
    if re.search(
        r"(?i)(?:\b(?:op|ops|operators?|layers?|nodes?) ?\||\| ?(?:op|ops|operators?|layers?|nodes?)\b)", near
    ):
        return True
    if word[0].isupper():
        return match.start() > 0 and text[match.start() - 2] not in ".?!:"
    return word not in everyday


def _is_known(identifier: Identifier, known: Known) -> bool:
    key = identifier.key
    if key in known.keys:
        return True
    product, colon, number = key.partition(":")
    if colon:
        inside = number.isdigit() and any(low <= int(number) <= high for low, high in known.ranges.get(product, ()))
        return inside or any(other.startswith(f"{key}.") for other in known.keys)
    if identifier.kind.name == "chip":
        return any(re.fullmatch(rf"{re.escape(key)}v\d+", other) for other in known.keys)
    return False


def _nearest(text: str, kind: str, known: Known) -> tuple[str, ...]:
    """Return the known identifiers most like this one, of its kind if there are any."""
    from rapidfuzz import fuzz, process

    same_kind = [written for other, written in known.texts if other == kind]
    candidates = same_kind or [written for _, written in known.texts]
    matches = process.extract(text, candidates, scorer=fuzz.ratio, limit=NEAREST, score_cutoff=_MIN_SIMILARITY)
    return tuple(match[0] for match in matches)
