"""Whether an index is made from what lies here: corpus, file format, chunker, tokenizer and encoders."""

import hashlib
import json
from collections.abc import Mapping

from kb import corpus, terms
from kb.schema import schema_id
from kb.store import Store

CHUNKER = 1
"""Raised whenever `passages.py` or `parse.py` would cut the same corpus into other passages."""


def fingerprint_of(source: corpus.Corpus, keys: Mapping[str, str]) -> str:
    """Return the fingerprint of a corpus under this version's formats and these encoder keys (channel -> key)."""
    parts = {
        "corpus": source.fingerprint(),
        "schema": schema_id(),
        "chunker": CHUNKER,
        "tokenizer": terms.fingerprint(),
    }
    return hashlib.sha256(json.dumps({**parts, **keys}, sort_keys=True).encode()).hexdigest()


def is_current(store: Store, fingerprint: str, *, need_channels: bool) -> bool:
    """Return whether the index was made from what the fingerprint stands for, with all channels if they are needed."""
    return store.meta("fingerprint") == fingerprint and not (need_channels and missing_channels(store))


def missing_channels(store: Store) -> tuple[str, ...]:
    """Return the channels that were left out because their vectors were missing."""
    return tuple(json.loads(store.meta("missing", "[]")))
