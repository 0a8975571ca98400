"""Search an index by words and by meaning, and say how sure the best hit is.

Flow: clean the question -> correct typing errors -> four channels (BM25 of passages and of
whole entries, dense, USE), pooled to entries -> weighted min-max sum -> features -> confidence.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb import confidence, corpus, encode, fuse, glossary, identifiers, terms
from kb.center import Centring
from kb.encode import Encoder
from kb.errors import EncoderUnavailable, IndexUnavailable
from kb.store import Store
from kb.types import ChannelScore, Hit, Lang, Search, Unlisted
from kb.vectors import VectorIndex

# Chosen on one half of the gold questions, reported on the other; see `asknpu eval`.
WEIGHTS: Mapping[str, float] = {"words": 0.2, "entries": 0.2, "dense": 0.4, "use": 0.2}
WEIGHTS_MONOLINGUAL: Mapping[str, float] = {"words": 0.2, "entries": 0.2, "dense": 0.4, "use": 0.2}
EXPANSION_WEIGHT = 0.4
"""What a word that the glossary added counts against one that the question has."""
POOL = 2000
"""Passages taken from each channel."""
MAX_TOKENS = 256
"""A longer question is searched by its first tokens."""

_FUZZY_LENGTH = 5
_SYNONYM_CREDIT = 0.7


@dataclass(frozen=True, slots=True)
class _Channel:
    encoder: Encoder
    index: VectorIndex
    rows: Sequence[int]
    """Passage id of each index row."""
    centring: Centring | None


class Searcher:
    """One opened index with its encoders. Queries may come from several threads one after another.

    Args:
        store: an index; must outlive the searcher.
        open_encoder: opens the encoder of a channel of the index, (channel, the index's encoder key) -> encoder.
        with_meaning: False searches by words only and loads no encoder.
    """

    def __init__(self, store: Store, open_encoder: Callable[[str, str], Encoder], *, with_meaning: bool = True) -> None:
        self.store = store
        self.degraded: list[str] = []
        with store.reading():
            self._owners = store.passage_owners()
            self._count = store.counts()["entries"]
            self._monolingual = store.meta("monolingual")
            self.glossary = glossary.load(corpus.GLOSSARY, store.resource(corpus.GLOSSARY))
            self._kinds = identifiers.load_kinds(corpus.IDENTIFIERS, store.resource(corpus.IDENTIFIERS) or b"kind = []")
            self._vocabularies = {
                name: identifiers.load_vocabulary(name, data)
                for name in corpus.VOCABULARIES
                if (data := store.resource(name))
            }
            self._complete = json.loads(store.resource("complete") or b"[]")
            self._known = _known(store)
            self._models = confidence.load(corpus.CONFIDENCE, store.resource(corpus.CONFIDENCE))
            self._channels: dict[str, _Channel] = {}
            if with_meaning:
                self._open_channels(open_encoder)
        self._words: list[str] | None = None

    def _open_channels(self, open_encoder: Callable[[str, str], Encoder]) -> None:
        # USE first: it loads in the background while the others load.
        for name in ("use", "dense", "dense_raw"):
            key = self.store.encoder_of(name)
            if not key:
                if name != "dense_raw":
                    self.degraded.append(
                        f"no vectors for the {name} channel; run 'asknpu update' to search by meaning with it"
                    )
                continue
            try:
                encoder = self._channels["dense"].encoder if name == "dense_raw" else open_encoder(name, key)
                stored = self.store.channel(name)
                assert stored is not None
                _, rows, data, centring = stored
                self._channels[name] = _Channel(
                    encoder, VectorIndex.from_bytes(data), rows.tolist(),
                    Centring.from_bytes(centring) if centring else None,
                )  # fmt: skip
            except (EncoderUnavailable, IndexUnavailable, KeyError) as error:
                self.degraded.append(f"{name} channel is off: {error}")

    @property
    def dense_key(self) -> str:
        """Key of the dense encoder in use, or ''."""
        return self._channels["dense"].encoder.key if "dense" in self._channels else ""

    def search(
        self, question: str, *, lang: Lang | None = None, platform: str | None = None, limit: int = 10
    ) -> Search:
        """Return the best entries for a question, with confidence and the identifiers that the corpus does not know.

        Args:
            question: any text; it is cleaned, and cut if it is longer than a page.
            lang: language of the answers; None for the question's.
            platform: only entries of this platform.
            limit: at most so many hits.
        """
        cleaned = terms.clean(question)
        degraded = list(self.degraded)
        if len(cleaned) > encode.MAX_CHARACTERS:
            degraded.append(f"the question is long; only its first {encode.MAX_CHARACTERS} characters were searched")
            cleaned = cleaned[: encode.MAX_CHARACTERS]
        with self.store.reading():
            corrected = self._corrections(cleaned)
            text = _replace_words(cleaned, corrected)
            question_lang = terms.language(text)
            tokens = terms.tokens(text)[:MAX_TOKENS]
            scores = self._channel_scores(text, question_lang, tokens, platform, degraded)
            monolingual = self._monolingual == question_lang and "dense_raw" in self._channels
            ranked = fuse.fuse(scores, WEIGHTS_MONOLINGUAL if monolingual else WEIGHTS)
            frequencies = self.store.document_frequencies(tokens)
            coverages = {key: self._coverage(key, tokens, frequencies) for key, _ in ranked[: max(limit, 3)]}
            unknown = identifiers.unknown(cleaned, self._kinds, self._known_for(cleaned), self._vocabularies.values())
            unlisted = self._unlisted(cleaned, platform)
            features = self._features(tokens, frequencies, scores, ranked, coverages)
        model = confidence.choose(self._models, features, self.dense_key)
        probability = (
            model.probability(features) if model and ranked else coverages.get(ranked[0][0], 0.0) if ranked else 0.0
        )
        return Search(
            question=cleaned,
            lang=lang or question_lang,
            hits=tuple(_hit(key, score, scores, coverages.get(key, 0.0)) for key, score in ranked[:limit]),
            features=tuple(features.items()),
            confidence=probability,
            threshold=model.threshold if model else confidence.UNCALIBRATED_THRESHOLD,
            unknown=unknown,
            unlisted=unlisted,
            corrected=tuple(corrected.items()),
            degraded=tuple(degraded),
        )

    # --- channels ------------------------------------------------------------------------------------------------

    def _channel_scores(
        self, text: str, lang: Lang, tokens: Sequence[str], platform: str | None, degraded: list[str]
    ) -> dict[str, dict[str, float]]:
        """Return for each channel the best passage score of each entry that it found."""
        scores = self._word_scores(tokens, platform)
        embeddable = encode.embeddable(text)
        names = ["dense_raw" if self._monolingual == lang and "dense_raw" in self._channels else "dense", "use"]
        for name in names:
            channel = self._channels.get(name)
            if channel is None or not embeddable:
                continue
            try:
                found = self._nearest(channel, embeddable, lang, platform)
            except EncoderUnavailable as error:
                degraded.append(f"{name} channel is off: {error}")
                continue
            scores[name.removesuffix("_raw")] = fuse.pool(found)
        return scores

    def _word_scores(self, tokens: Sequence[str], platform: str | None) -> dict[str, dict[str, float]]:
        """Return the scores of the two word channels: best passages (`words`) and whole entries (`entries`)."""
        asked = list(dict.fromkeys(tokens))
        added = sorted(self.glossary.expand(list(tokens)))[:MAX_TOKENS]
        scores = {}
        for name, match in (("words", self.store.match_passages), ("entries", self.store.match_entries)):
            pool = fuse.pool if name == "words" else dict
            found = dict(pool(match(asked, POOL, platform)))
            for key, score in pool(match(added, POOL, platform)).items():
                found[key] = found.get(key, 0.0) + EXPANSION_WEIGHT * score
            scores[name] = found
        return scores

    def _nearest(self, channel: _Channel, text: str, lang: Lang, platform: str | None) -> list[tuple[str, float]]:
        """Return (entry id, cosine) of the passages nearest to a question."""
        vector = channel.encoder.queries([text])
        if channel.centring is not None:
            vector = channel.centring.queries(vector, lang)
        allowed = None
        if platform is not None:
            allowed = [row for row, passage in enumerate(channel.rows) if self._owners[passage][2] == platform]
        found = channel.index.search(vector[0], POOL, allowed)
        return [(self._owners[channel.rows[row]][0], score) for row, score in found]

    # --- features ------------------------------------------------------------------------------------------------

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))

    def _coverage(self, entry_id: str, tokens: Iterable[str], frequencies: Mapping[str, int]) -> float:
        """Return the share of the question's idf mass that occurs in an entry; a glossary synonym counts partly."""
        have = self.store.entry_tokens(entry_id)
        total = covered = 0.0
        for token in dict.fromkeys(tokens):
            weight = self._idf(frequencies[token])
            total += weight
            if token in have:
                covered += weight
            elif self.glossary.expand([token]) & have:
                covered += _SYNONYM_CREDIT * weight
        return covered / total if total else 0.0

    def _features(
        self,
        tokens: Sequence[str],
        frequencies: Mapping[str, int],
        scores: Mapping[str, Mapping[str, float]],
        ranked: Sequence[tuple[str, float]],
        coverages: Mapping[str, float],
    ) -> dict[str, float]:
        if not ranked:
            return {}
        top = ranked[0][0]
        masses = {token: self._idf(frequency) for token, frequency in frequencies.items()}
        total = sum(masses.values()) or 1.0
        features = {
            "coverage": coverages[top],
            "phrase": max(
                (self._overlap(tokens, p.split(), masses) for p in self.store.questions_of(top)), default=0.0
            ),
            "unknown_mass": sum(masses[t] for t, frequency in frequencies.items() if frequency == 0) / total,
            "margin": ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0.0),
            "length": math.log1p(len(masses)),
        }
        firsts = [next(iter(found)) for found in scores.values() if found]
        features["agreement"] = sum(first == top for first in firsts) / len(firsts)
        for name in ("dense", "use"):
            found = scores.get(name)
            if found:
                values = list(found.values())
                rest = values[1:10] or [0.0]
                features[f"{name}_top"] = values[0]
                features[f"{name}_hit"] = found.get(top, values[-1])
                features[f"{name}_margin"] = values[0] - sum(rest) / len(rest)
        return features

    def _overlap(self, tokens: Iterable[str], phrase: Sequence[str], masses: Mapping[str, float]) -> float:
        """Return the idf-weighted F1 overlap of a question and a known phrasing."""
        ours, theirs = set(tokens), set(phrase)
        default = max(masses.values(), default=1.0)
        both = sum(masses.get(token, default) for token in ours & theirs)
        frequencies = self.store.document_frequencies(theirs - ours)
        mass = sum(masses[token] for token in ours) + both + sum(map(self._idf, frequencies.values()))
        return 2 * both / mass if mass else 0.0

    # --- words and identifiers -----------------------------------------------------------------------------------

    def _corrections(self, text: str) -> dict[str, str]:
        """Return Latin words that the corpus does not have but for a typing error -> the corpus's word."""
        typed = [word for word in dict.fromkeys(terms.words(text)) if len(word) >= _FUZZY_LENGTH]
        if not typed:
            return {}
        if self._words is None:
            self._words = [word for word in self.store.words() if len(word) >= _FUZZY_LENGTH - 1]
        known = set(self._words)
        stems = self.store.document_frequencies(terms.tokens(" ".join(typed), keep_stop_words=True))
        corrections = {}
        for word in typed:
            is_stem_known = any(stems.get(token) for token in terms.tokens(word, keep_stop_words=True))
            if word in known or is_stem_known or self._is_name(word):
                continue
            nearest = _nearest_word(word, self._words)
            if nearest:
                corrections[word] = nearest
        return corrections

    def _is_name(self, word: str) -> bool:
        return any(vocabulary.canonical(word) for vocabulary in self._vocabularies.values())

    def _known_for(self, text: str) -> identifiers.Known:
        """Return what is known, with the question's own identifiers looked up among all index tokens."""
        keys = {identifier.key for identifier in identifiers.extract(text, self._kinds)}
        keys |= {word.lower() for word in terms.clean(text).replace("(", " ").split()} | set(terms.tokens(text))
        found = {key for key, count in self.store.document_frequencies(keys).items() if count}
        return identifiers.Known(self._known.keys | found, self._known.texts, self._known.ranges)

    def _unlisted(self, text: str, platform: str | None) -> tuple[Unlisted, ...]:
        found: list[Unlisted] = []
        seen: set[str] = set()
        for complete in self._complete:
            entry = self.store.entry(complete["entry"], "en")
            if complete["entry"] in seen or entry is None or (platform and entry.platform != platform):
                continue
            seen.add(complete["entry"])
            vocabulary = self._vocabularies[complete["vocabulary"]]
            found.extend(identifiers.unlisted(text, vocabulary, complete["names"], complete["entry"]))
        return tuple(found)


def _known(store: Store) -> identifiers.Known:
    data = json.loads(store.resource("known") or b'{"keys": [], "texts": [], "ranges": {}}')
    return identifiers.Known(
        frozenset(data["keys"]),
        tuple((kind, text) for kind, text in data["texts"]),
        {product: tuple((low, high) for low, high in ranges) for product, ranges in data["ranges"].items()},
    )


def _hit(key: str, score: float, scores: Mapping[str, Mapping[str, float]], coverage: float) -> Hit:
    channels = []
    for name, found in scores.items():
        if key in found:
            rank = 1 + sum(other > found[key] for other in found.values())
            channels.append((name, ChannelScore(rank, found[key])))
    return Hit(key, score, tuple(channels), coverage)


def _replace_words(text: str, corrections: Mapping[str, str]) -> str:
    if not corrections:
        return text
    import re

    pattern = re.compile(r"(?<![A-Za-z])(" + "|".join(map(re.escape, corrections)) + r")(?![A-Za-z])", re.IGNORECASE)
    return pattern.sub(lambda match: corrections[match[0].lower()], text)


def _nearest_word(word: str, known: Sequence[str]) -> str | None:
    """Return the known word within one typing error (two for long words) that starts with the same letter, or None."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    allowed = 1 if len(word) < 8 else 2
    candidates = [other for other in known if other[0] == word[0] and abs(len(other) - len(word)) <= allowed]
    match = process.extractOne(word, candidates, scorer=OSA.distance, score_cutoff=allowed)
    return str(match[0]) if match else None
