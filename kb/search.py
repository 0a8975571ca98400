"""Search an index by words and by meaning, and say how sure the best hit is.

Flow: clean the question -> correct typing errors -> four channels (BM25 of passages and of whole entries, dense, USE),
pooled to entries -> weighted min-max sum -> rerank by the share of the question's words that an entry has -> features
-> confidence.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb import confidence, corpus, encode, evidence, fuse, glossary, identifiers, spelling, terms
from kb.center import Centring
from kb.encode import Encoder, Vectors
from kb.errors import EncoderUnavailable, IndexUnavailable
from kb.evidence import Evidence
from kb.store import Store
from kb.types import LANGS, ChannelScore, Hit, Lang, Search, Unlisted
from kb.vectors import VectorIndex

# Chosen on one half of the gold questions, reported on the other; see `asknpu eval`.
WEIGHTS: Mapping[str, float] = {"words": 0.143, "entries": 0.143, "dense": 0.357, "use": 0.214, "use_own": 0.143}
COVERAGE_WEIGHT = 0.3
"""Share of the coverage of the question's words in the final score of the first `RERANKED` entries."""
RERANKED = 40
TWINNED_SHARE = 0.95
"""From this share of entries with passages in the question's language on, dense vectors compare only within it."""
OTHER_PLATFORM = 0.8
"""Factor on the score of an entry when the question names other platforms and not its own."""
EXPANSION_WEIGHT = 0.4
"""What a word that the glossary added counts against one that the question has."""
POOL = 4000
"""Passages taken from each channel."""
MAX_TOKENS = 256
"""A longer question is searched by its first tokens."""

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]*")


@dataclass(frozen=True, slots=True)
class _Channel:
    encoder: Encoder
    index: VectorIndex
    rows: NDArray[np.int32]
    """Passage id of each index row, [n]."""
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
        self._open_encoder = open_encoder
        self._with_meaning = with_meaning
        self._encoders: dict[str, Encoder] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="encode")
        with store.reading():
            self._load()

    def _load(self) -> None:
        """Read what belongs to the index's present generation; the caller holds a read transaction."""
        store = self.store
        self._generation = store.meta("generation")
        self._owners = store.passage_owners()
        self._langs = store.passage_langs()
        positions = store.entry_positions()
        self._ids = [entry_id for entry_id, _ in positions]
        self._platform_of = dict(positions)
        self._twinned = {
            lang for lang in LANGS if len(set(self._owners[self._langs == lang])) >= TWINNED_SHARE * len(positions)
        }
        self._platforms = glossary.Platforms.from_json(store.resource("platforms"))
        self._monolingual = store.meta("monolingual")
        self.glossary = glossary.Glossary.from_json(store.resource("synonyms"))
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
        self._channel_problems: list[str] = []
        if self._with_meaning:
            self._open_channels()

    def _open_channels(self) -> None:
        # USE first: it loads in the background while the others load.
        for name in ("use", "dense", "dense_raw"):
            stored_key = self.store.encoder_of(name)
            if not stored_key:
                if name != "dense_raw":
                    self._channel_problems.append(
                        f"no vectors for the {name} channel; run 'asknpu update' to search by meaning with it"
                    )
                continue
            try:
                if stored_key not in self._encoders:
                    self._encoders[stored_key] = self._open_encoder(name.removesuffix("_raw"), stored_key)
                stored = self.store.channel(name)
                assert stored is not None
                _, rows, data, centring = stored
                self._channels[name] = _Channel(
                    self._encoders[stored_key], VectorIndex.from_bytes(data), rows,
                    Centring.from_bytes(centring) if centring else None,
                )  # fmt: skip
            except (EncoderUnavailable, IndexUnavailable) as error:
                self._channel_problems.append(f"{name} channel is off: {error}")

    @property
    def dense_key(self) -> str:
        """Key of the dense encoder in use, or ''."""
        return self._channels["dense"].encoder.key if "dense" in self._channels else ""

    def search(
        self,
        question: str,
        *,
        lang: Lang | None = None,
        platform: str | None = None,
        limit: int = 10,
        without: Collection[str] = (),
    ) -> Search:
        """Return the best entries for a question, with confidence and the identifiers that the corpus does not know.

        Args:
            question: any text; it is cleaned, and cut if it is longer than a page.
            lang: language of the answers; None for the question's.
            platform: only entries of this platform.
            limit: at most so many hits.
            without: entries to search as if they did not exist, for measuring.
        """
        cleaned = terms.clean(question)
        notes: list[str] = []
        if len(cleaned) > encode.MAX_CHARACTERS:
            notes.append(f"the question is long; only its first {encode.MAX_CHARACTERS} characters were searched")
            cleaned = cleaned[: encode.MAX_CHARACTERS]
        with self.store.reading():
            # Another process may have replaced the index since; old vectors must not meet new rows.
            if self.store.meta("generation") != self._generation:
                self._load()
            corrected = spelling.corrections(cleaned, self.store, self._is_name)
            question_lang = terms.language(cleaned)
            tokens = terms.tokens(spelling.replace(cleaned, corrected))[:MAX_TOKENS]
            guessed = frozenset(token for word in corrected.values() for token in terms.tokens(word))
            words = evidence.gather(self.store, len(self._ids), tokens, guessed, self.glossary)
            # The encoders read the question as it was typed: they know more words than the corpus has.
            scores = self._channel_scores(cleaned, question_lang, tokens, platform, notes)
            if without:
                scores = {n: {k: v for k, v in found.items() if k not in without} for n, found in scores.items()}
            ranked, coverages = self._rerank(fuse.fuse(scores, WEIGHTS)[: max(RERANKED, limit)], tokens, words)
            unknown = identifiers.unknown(cleaned, self._kinds, self._known_for(cleaned), self._vocabularies.values())
            unlisted = self._unlisted(cleaned, platform)
            features = _features(words, scores, ranked, coverages) if ranked else {}
        model = confidence.choose(self._models, features, self.dense_key)
        probability = model.probability(features) if model else features.get("coverage", 0.0)
        ranks = {name: {key: rank for rank, key in enumerate(found, 1)} for name, found in scores.items()}
        return Search(
            question=cleaned,
            lang=lang or question_lang,
            hits=tuple(_hit(key, score, scores, ranks, coverages[key]) for key, score in ranked[:limit]),
            features=tuple(features.items()),
            confidence=probability,
            threshold=model.threshold if model else confidence.UNCALIBRATED_THRESHOLD,
            unknown=unknown,
            unlisted=unlisted,
            corrected=tuple(corrected.items()),
            degraded=(*self.degraded, *self._channel_problems, *notes),
        )

    # --- channels ------------------------------------------------------------------------------------------------

    def platforms_named(self, text: str) -> frozenset[str]:
        """Return the platforms that a question names."""
        return frozenset(self._platforms.named(terms.tokens(text)))

    def _channel_scores(
        self, text: str, lang: Lang, tokens: Sequence[str], platform: str | None, notes: list[str]
    ) -> dict[str, dict[str, float]]:
        """Return for each channel the score of each entry that it found, best first."""
        embeddable = encode.embeddable(text)
        names = ["dense_raw" if self._monolingual == lang and "dense_raw" in self._channels else "dense", "use"]
        # The encoders run beside the word search: they spend their time outside the interpreter lock.
        pending = {
            name: self._pool.submit(self._channels[name].encoder.queries, [embeddable])
            for name in names
            if embeddable and name in self._channels
        }
        scores = self._word_scores(tokens, platform)
        for name, future in pending.items():
            try:
                scores |= self._nearest(
                    name.removesuffix("_raw"), self._channels[name], future.result(), lang, platform
                )
            except EncoderUnavailable as error:
                notes.append(f"{name} channel is off: {error}")
        return scores

    def _word_scores(self, tokens: Sequence[str], platform: str | None) -> dict[str, dict[str, float]]:
        """Return the scores of the two word channels: best passages (`words`) and whole entries (`entries`)."""
        asked = list(dict.fromkeys(tokens))
        added = sorted(self.glossary.expand(list(tokens)))[:MAX_TOKENS]
        passages = self.store.match_passages(asked, POOL, platform)
        entries = dict(self.store.match_entries(asked, POOL, platform))
        for position, score in self.store.match_entries(added, POOL, platform):
            entries[position] = entries.get(position, 0.0) + EXPANSION_WEIGHT * score
        owners = self._owners[[passage for passage, _ in passages]]
        ranked = sorted(entries.items(), key=lambda item: (-item[1], item[0]))
        return {
            "words": fuse.pool(owners, np.array([score for _, score in passages]), self._ids),
            "entries": {self._ids[position]: score for position, score in ranked},
        }

    def _nearest(
        self, name: str, channel: _Channel, vectors: Vectors, lang: Lang, platform: str | None
    ) -> dict[str, dict[str, float]]:
        """Return the scores of the entries near a question, given its raw vector [1, dim], by score list.

        Where nearly every entry has passages in the question's language, those alone speak for it in the dense channel,
        and make a second list (`use_own`) of the USE channel, which is not biased towards a language.
        """
        if channel.centring is not None:
            vectors = channel.centring.queries(vectors, lang)
        allowed = None
        if platform is not None:
            is_allowed = np.array([self._platform_of[entry_id] == platform for entry_id in self._ids])
            allowed = np.flatnonzero(is_allowed[self._owners[channel.rows]]).tolist()
        rows, scores = channel.index.search(vectors[0], POOL, allowed)
        passages = channel.rows[rows]
        found = {name: fuse.pool(self._owners[passages], scores, self._ids)}
        if lang in self._twinned:
            is_own = self._langs[passages] == lang
            own = fuse.pool(self._owners[passages[is_own]], scores[is_own], self._ids)
            found["dense" if name == "dense" else f"{name}_own"] = own
        return found

    def _rerank(
        self, fused: Sequence[tuple[str, float]], tokens: Sequence[str], words: Evidence
    ) -> tuple[list[tuple[str, float]], dict[str, float]]:
        """Return the first entries in the order of their final score, and their coverage.

        final = (1 - COVERAGE_WEIGHT) * fused + COVERAGE_WEIGHT * coverage, times OTHER_PLATFORM where that applies.
        """
        named = self._platforms.named(tokens)
        coverages: dict[str, float] = {}
        final = []
        for key, score in fused:
            coverages[key] = words.coverage(key)
            value = (1 - COVERAGE_WEIGHT) * score + COVERAGE_WEIGHT * coverages[key]
            is_other = bool(named) and self._platform_of[key] not in named
            final.append((key, value * (OTHER_PLATFORM if is_other else 1.0)))
        return sorted(final, key=lambda item: (-item[1], item[0])), coverages

    # --- identifiers -----------------------------------------------------------------------------------

    def _is_name(self, word: str) -> bool:
        return any(vocabulary.canonical(word) for vocabulary in self._vocabularies.values())

    def _known_for(self, text: str) -> identifiers.Known:
        """Return what is known, with the question's own identifiers and words looked up among all index tokens."""
        keys = {identifier.key: identifier.key for identifier in identifiers.extract(text, self._kinds)}
        # A word is in the index by its stem, an identifier as it is.
        for word in _WORD.findall(text):
            stems = terms.tokens(word, keep_stop_words=True)
            keys.setdefault(word.lower(), stems[0] if stems else word.lower())
        stated = self.store.stated(keys.values())
        found = {key for key, token in keys.items() if token in stated}
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


def _hit(
    key: str,
    score: float,
    scores: Mapping[str, Mapping[str, float]],
    ranks: Mapping[str, Mapping[str, int]],
    coverage: float,
) -> Hit:
    channels = tuple(
        (name, ChannelScore(ranks[name][key], found[key])) for name, found in scores.items() if key in found
    )
    return Hit(key, score, channels, coverage)


def _features(
    words: Evidence,
    scores: Mapping[str, Mapping[str, float]],
    ranked: Sequence[tuple[str, float]],
    coverages: Mapping[str, float],
) -> dict[str, float]:
    """Return the features of `confidence.FEATURES` that the available channels give; `ranked` is not empty."""
    top = ranked[0][0]
    firsts = [next(iter(found)) for found in scores.values() if found]
    features = {
        "coverage": coverages[top],
        "phrase": words.phrase(top),
        "unknown_mass": words.unknown(),
        "margin": ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0.0),
        "length": math.log1p(len(words.masses)),
        "agreement": sum(first == top for first in firsts) / len(firsts),
    }
    for name in ("dense", "use"):
        found = scores.get(name)
        if found:
            values = list(found.values())
            rest = values[1:10] or [0.0]
            features[f"{name}_top"] = values[0]
            features[f"{name}_hit"] = found.get(top, values[-1])
            features[f"{name}_margin"] = values[0] - sum(rest) / len(rest)
    return features
