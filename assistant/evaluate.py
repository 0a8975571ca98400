"""Measure search and abstention on gold questions, and calibrate the confidence weights on them.

Abstention is reported out of fold: the weights that judge a question were fitted without it and without the questions
that lead to the same entry.
"""

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assistant import paths
from assistant.answer import answers_by_list
from assistant.errors import BadInput
from assistant.render import table
from kb import confidence, corpus
from kb.search import Searcher
from kb.types import Search

ANSWERABLE = ("zh", "en", "mixed", "terse", "typo", "identifier", "paraphrase")
REFUSE = ("off-topic", "near-miss")
KEEP = 0.975
"""Share of answerable questions that calibration keeps above the threshold; the bar is 0.95."""

_FOLDS = 5
_RESAMPLES = 1000
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Question:
    """One gold question."""

    text: str
    lang: str
    slice: str
    entries: tuple[str, ...]
    """Entries that answer it; empty for a question to refuse."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the search said to one question."""

    question: Question
    search: Search
    rank: int
    """Rank of the best right entry, from 1; 0 if it is not among the first ten."""
    out_of_fold: float
    """Confidence minus threshold under weights fitted without this question."""
    hidden: float
    """The same with its right entries taken out of the corpus; -1 for a question to refuse."""

    @property
    def is_blocked(self) -> bool:
        """Whether an unknown identifier forbids an answer."""
        return any(unknown.blocking for unknown in self.search.unknown)

    @property
    def is_refused(self) -> bool:
        """Whether the question is refused, with out-of-fold confidence; a complete list answers by itself."""
        return self.is_blocked or (self.out_of_fold < 0 and not answers_by_list(self.search))


def load(path: Path) -> tuple[Question, ...]:
    """Read gold questions.

    Raises:
        BadInput: no such file, not TOML, or a question without one of its fields or with a wrong slice.
    """
    try:
        rows = tomllib.loads(path.read_text("utf-8"))["question"]
        questions = tuple(Question(r["text"], r["lang"], r["slice"], tuple(r["entries"])) for r in rows)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: gold questions cannot be read: {error}") from None
    for question in questions:
        if question.slice not in ANSWERABLE + REFUSE or bool(question.entries) != (question.slice in ANSWERABLE):
            raise BadInput(f"{path}: question {question.text!r} has slice {question.slice!r} and {question.entries}")
    return questions


def half(question: Question) -> str:
    """Return `dev` or `test`, decided by a hash of the text: what was tuned was tuned on dev."""
    return "dev" if hashlib.sha256(question.text.encode()).digest()[0] % 2 == 0 else "test"


def evaluate(searcher: Searcher, narrate: Callable[[str], None]) -> tuple[Outcome, ...]:
    """Search all gold questions of the corpus."""
    questions = load(paths.corpus_root() / "questions.toml")
    searches: list[Search] = []
    hidden: list[Search | None] = []
    for number, question in enumerate(questions):
        if number % 100 == 0:
            narrate(f"searching gold question {number + 1} of {len(questions)}")
        searches.append(searcher.search(question.text, limit=_DEPTH))
        without = question.entries
        hidden.append(searcher.search(question.text, limit=1, without=without) if without else None)
    margins, hidden_margins = _out_of_fold(questions, searches, hidden, searcher.dense_key)
    return tuple(
        Outcome(question, found, _rank(question, found), float(margin), float(hidden_margin))
        for question, found, margin, hidden_margin in zip(questions, searches, margins, hidden_margins, strict=True)
    )


def _rank(question: Question, found: Search) -> int:
    ids = [hit.id for hit in found.hits]
    return min((ids.index(key) + 1 for key in question.entries if key in ids), default=0)


def _is_right(question: Question, found: Search) -> bool:
    return bool(found.hits) and found.hits[0].id in question.entries


def _trainable(question: Question, found: Search) -> bool:
    """Whether a question teaches the weights: answered rightly, or to be refused; a wrong first hit is neither."""
    return bool(found.features) and (not question.entries or _is_right(question, found))


def _model_name(features: Mapping[str, float]) -> str:
    return next(name for name, needed in confidence.FEATURES.items() if set(needed) <= set(features))


def _out_of_fold(
    questions: Sequence[Question], searches: Sequence[Search], hidden: Sequence[Search | None], dense: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return confidence minus threshold of each search and hidden search, fitted on the other folds."""
    groups = [question.entries[0] if question.entries else question.text for question in questions]
    folds = np.array([hashlib.sha256(group.encode()).digest()[1] % _FOLDS for group in groups])
    margins, hidden_margins = np.full((2, len(questions)), -1.0)
    name = _model_name(dict(next(found.features for found in searches if found.features)))
    for fold in range(_FOLDS):
        rows = [i for i in range(len(questions)) if folds[i] != fold and _trainable(questions[i], searches[i])]
        model = confidence.fit(
            name, [dict(searches[i].features) for i in rows], [bool(questions[i].entries) for i in rows],
            dense=dense, keep=KEEP,
        )  # fmt: skip
        for i in np.flatnonzero(folds == fold).tolist():
            for target, found in ((margins, searches[i]), (hidden_margins, hidden[i])):
                if found is not None and found.features:
                    target[i] = model.probability(dict(found.features)) - model.threshold
    return margins, hidden_margins


def write_confidence(outcomes: Sequence[Outcome], searcher: Searcher) -> Path:
    """Fit one model per set of channels on all gold questions and write them into the corpus."""
    usable = [outcome for outcome in outcomes if _trainable(outcome.question, outcome.search)]
    rows = [dict(outcome.search.features) for outcome in usable]
    labels = [bool(outcome.question.entries) for outcome in usable]
    models = {
        name: confidence.fit(name, rows, labels, dense=searcher.dense_key, keep=KEEP)
        for name, needed in confidence.FEATURES.items()
        if set(needed) <= set(rows[0])
    }
    path = paths.corpus_root() / corpus.CONFIDENCE
    header = (
        "Weights of the confidence models: logistic regression on search features.\n"
        f"Written by 'asknpu eval --calibrate' from {len(usable)} gold questions; do not edit."
    )
    path.write_text(confidence.to_toml(models, header), "utf-8")
    return path


# --- report ----------------------------------------------------------------------------------------------------------


def retrieval_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, int, float, float, float, float, float]]:
    """Return (slice, n, recall@1, its 95 % interval low and high, recall@5, MRR@10) for each slice, half and all."""
    rows = []
    answerable = [outcome for outcome in outcomes if outcome.question.entries]
    groups = {name: [o for o in answerable if o.question.slice == name] for name in ANSWERABLE}
    groups |= {name: [o for o in answerable if half(o.question) == name] for name in ("dev", "test")}
    for name, group in {**groups, "all": answerable}.items():
        if not group:
            continue
        ranks = np.array([outcome.rank for outcome in group])
        first = ranks == 1
        low, high = _bootstrap(first)
        reciprocal = np.where(ranks > 0, 1 / np.maximum(ranks, 1), 0)
        five = (ranks >= 1) & (ranks <= 5)
        rows.append((name, len(group), float(first.mean()), low, high, float(five.mean()), float(reciprocal.mean())))
    return rows


def _bootstrap(values: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a mean."""
    generator = np.random.default_rng(0)
    samples = generator.choice(values, (_RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(samples, [0.025, 0.975])
    return float(low), float(high)


def abstention(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the share of refused questions per kind, and the share of answers that are wrong.

    `refused_without_its_entry` is the hardest kind of near miss: the answer is taken out, its neighbours stay.
    """

    def share(group: Sequence[Outcome]) -> float:
        return sum(outcome.is_refused for outcome in group) / max(1, len(group))

    by_slice = {name: [o for o in outcomes if o.question.slice == name] for name in REFUSE}
    answerable = [outcome for outcome in outcomes if outcome.question.entries]
    answered = [outcome for outcome in answerable if not outcome.is_refused]
    return {
        "off_topic_refused": share(by_slice["off-topic"]),
        "near_miss_refused": share(by_slice["near-miss"]),
        "answerable_refused": share(answerable),
        "refused_without_its_entry": sum(o.hidden < 0 for o in answerable) / max(1, len(answerable)),
        "answered_wrongly": sum(outcome.rank != 1 for outcome in answered) / max(1, len(answered)),
    }


def risk_coverage(outcomes: Sequence[Outcome], points: int = 10) -> list[tuple[float, float]]:
    """Return (coverage, risk): of the most confident share of all questions, how many are answered wrongly."""
    order = sorted(outcomes, key=lambda outcome: (outcome.is_blocked, -outcome.out_of_fold))
    wrong = np.array([outcome.rank != 1 for outcome in order], np.float64)
    risks = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    sizes = [max(1, round(len(wrong) * (i + 1) / points)) for i in range(points)]
    return [(size / len(wrong), float(risks[size - 1])) for size in sizes]


def to_json(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return the report as a JSON object."""
    names = ("slice", "n", "recall_1", "recall_1_low", "recall_1_high", "recall_5", "mrr")
    return {
        "retrieval": [dict(zip(names, row, strict=True)) for row in retrieval_rows(outcomes)],
        "abstention": abstention(outcomes),
        "risk_coverage": [{"coverage": coverage, "risk": risk} for coverage, risk in risk_coverage(outcomes)],
    }


def to_text(outcomes: Sequence[Outcome], *, failures: bool = False) -> str:
    """Return the report as tables."""
    rows = [
        (name, str(n), f"{first:.3f}", f"{low:.3f}-{high:.3f}", f"{five:.3f}", f"{mrr:.3f}")
        for name, n, first, low, high, five, mrr in retrieval_rows(outcomes)
    ]
    parts = [table(rows, ("slice", "n", "recall@1", "95 %", "recall@5", "MRR@10"))]
    shares = abstention(outcomes)
    parts.append(
        table([(name, f"{value:.3f}") for name, value in shares.items()], ("abstention (out of fold)", "share"))
    )
    curve = [(f"{coverage:.0%}", f"{risk:.3f}") for coverage, risk in risk_coverage(outcomes)]
    parts.append(table(curve, ("most confident", "wrong among them")))
    if failures:
        parts.append("\n".join(_failures(outcomes)))
    return "\n\n".join(parts)


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    for outcome in outcomes:
        question = outcome.question
        first = outcome.search.hits[0].id if outcome.search.hits else "-"
        if question.entries and outcome.rank != 1:
            lines.append(f"rank {outcome.rank}: [{question.slice}] {question.text} -> {first}, not {question.entries}")
        if outcome.is_refused == bool(question.entries):
            what = "refused" if question.entries else "answered"
            blocked = f" unknown {[u.text for u in outcome.search.unknown if u.blocking]}" if outcome.is_blocked else ""
            lines.append(f"{what}: [{question.slice}] {question.text} ({outcome.out_of_fold:+.2f}, {first}){blocked}")
    return lines
