"""The index on disk: one SQLite file in WAL mode, replaced by one transaction.

A process that is killed at any moment leaves the old or the new index. Where the directory cannot be written, the same
index is built in memory and the caller says so.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.errors import IndexUnavailable
from kb.schema import file_name, schema, schema_id
from kb.types import Entry, Lang, Passage, Span

_LOCK_FILE = "update.lock"
_BUSY_S = 30.0
_ENTRY_COLUMNS = (
    "id, lang, position, title, text, platform, kind, sources, asks, complete, file, start, end, sha256, line"
)


class Store:
    """Rows of one index. Use as a context manager; `directory=None` keeps everything in memory.

    Args:
        directory: where the index lives; created if `writable`.
        writable: False opens an existing index for reading only.

    Raises:
        IndexUnavailable: the directory or file cannot be opened, or is no index of this version.
    """

    def __init__(self, directory: Path | None, *, writable: bool = True) -> None:
        self.directory = directory
        self.writable = writable or directory is None
        try:
            self._db = self._connect()
        except (sqlite3.Error, OSError) as error:
            raise IndexUnavailable(f"index in {directory or 'memory'} cannot be opened: {_reason(error)}") from None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._db.close()

    def _connect(self) -> sqlite3.Connection:
        if self.directory is None:
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            db.executescript(schema())
            return db
        path = self.directory / file_name()
        if not self.writable:
            return self._connect_for_reading(path)
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        if db.execute("PRAGMA user_version").fetchone()[0] != schema_id():
            # Changing the journal mode does not wait for other connections, so only one process may create the file.
            with self.update_lock(_BUSY_S):
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(schema())
                db.execute(f"PRAGMA user_version = {schema_id()}")
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    def _connect_for_reading(self, path: Path) -> sqlite3.Connection:
        uri = path.absolute().as_uri() + "?mode=ro"
        db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # WAL needs a writable directory; a file nobody can write may be read as immutable.
            db.close()
            db = sqlite3.connect(uri + "&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
        return db

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one state of the index for several reads."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make all writes inside take effect at once, or none of them.

        Raises:
            IndexUnavailable: the disk is full or the file cannot be written.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK") if self._db.in_transaction else None
                raise
            self._db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise IndexUnavailable(f"index in {self.directory} cannot be written: {_reason(error)}") from None

    @contextmanager
    def update_lock(self, timeout_s: float) -> Iterator[None]:
        """Let one process update at a time; the lock ends with the process, however that ends.

        Raises:
            IndexUnavailable: another update holds the lock for longer than `timeout_s`.
        """
        if self.directory is None:
            yield
            return
        lock = sqlite3.connect(self.directory / _LOCK_FILE, timeout=timeout_s, isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error:
            lock.close()
            raise IndexUnavailable(
                f"another update of {self.directory} has been running for more than {timeout_s:.0f} s; try again later"
            ) from None
        try:
            yield
        finally:
            lock.close()

    # --- single values -------------------------------------------------------------------------------------------

    def meta(self, key: str, default: str = "") -> str:
        """Return a value of the manifest."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set_meta(self, key: str, value: str) -> None:
        """Write a value of the manifest."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def resource(self, name: str) -> bytes:
        """Return a stored resource, or b''."""
        row = self._db.execute("SELECT data FROM resources WHERE name = ?", (name,)).fetchone()
        return bytes(row[0]) if row else b""

    # --- writing a whole index -----------------------------------------------------------------------------------

    def clear(self) -> None:
        """Delete the index, but not the embeddings."""
        for table in ("entries", "passages", "terms", "entry_terms", "words", "resources", "channels"):
            self._db.execute(f"DELETE FROM {table}")
        for index in ("passages_fts", "entries_fts"):
            self._db.execute(f"INSERT INTO {index}({index}) VALUES ('delete-all')")

    def add_entries(self, entries: Sequence[Entry]) -> None:
        """Write entries in their order."""
        rows = [
            (
                e.id, e.lang, position, e.title, e.text, e.platform, e.kind,
                json.dumps(e.sources, ensure_ascii=False), json.dumps(e.asks, ensure_ascii=False),
                e.complete, e.span.file, e.span.start, e.span.end, e.span.sha256, e.line,
            )
            for position, e in enumerate(entries)
        ]  # fmt: skip
        self._db.executemany(f"INSERT INTO entries ({_ENTRY_COLUMNS}) VALUES ({', '.join('?' * 15)})", rows)

    def add_passages(self, passages: Sequence[Passage], tokens: Sequence[str], platforms: Sequence[str]) -> None:
        """Write passages with ids 0..n-1, with their tokens (as one string) and platforms."""
        self._db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (i, p.entry_id, p.lang, platform, p.kind, p.text, words, p.start, p.end)
                for i, (p, words, platform) in enumerate(zip(passages, tokens, platforms, strict=True))
            ],
        )
        self._db.executemany("INSERT INTO passages_fts (rowid, tokens) VALUES (?, ?)", list(enumerate(tokens)))

    def add_terms(
        self, entry_tokens: Sequence[tuple[str, str, Sequence[str]]], stated: set[str], words: Iterable[str]
    ) -> None:
        """Write the tokens of each entry, their document frequencies, and the words as written.

        Args:
            entry_tokens: (entry id, platform, all tokens of both twins).
            stated: tokens of titles, answers and sources.
            words: Latin words of the corpus.
        """
        counts: dict[str, int] = {}
        for _, _, tokens in entry_tokens:
            for token in set(tokens):
                counts[token] = counts.get(token, 0) + 1
        self._db.executemany(
            "INSERT INTO entry_terms VALUES (?, ?, ?, ?)",
            [(i, key, platform, " ".join(sorted(set(found)))) for i, (key, platform, found) in enumerate(entry_tokens)],
        )
        self._db.executemany(
            "INSERT INTO entries_fts (rowid, tokens) VALUES (?, ?)",
            [(i, " ".join(found)) for i, (_, _, found) in enumerate(entry_tokens)],
        )
        rows = [(token, count, token in stated) for token, count in counts.items()]
        self._db.executemany("INSERT INTO terms VALUES (?, ?, ?)", rows)
        self._db.executemany("INSERT INTO words VALUES (?)", [(word,) for word in sorted(set(words))])

    def set_resource(self, name: str, data: bytes) -> None:
        """Write a resource."""
        self._db.execute("INSERT OR REPLACE INTO resources VALUES (?, ?)", (name, data))

    def set_channel(
        self, name: str, encoder: str, rows: NDArray[np.int32], data: bytes, centring: bytes | None
    ) -> None:
        """Write a vector channel with the checksum of its index."""
        digest = hashlib.sha256(data).hexdigest()
        self._db.execute(
            "INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?, ?, ?)",
            (name, encoder, rows.astype(np.int32).tobytes(), data, digest, centring),
        )

    # --- reading -------------------------------------------------------------------------------------------------

    def channel(self, name: str) -> tuple[str, NDArray[np.int32], bytes, bytes | None] | None:
        """Return (encoder key, passage ids, index bytes, centring bytes), or None if there is no such channel.

        Raises:
            IndexUnavailable: the bytes do not match their checksum.
        """
        row = self._db.execute(
            "SELECT encoder, rows, data, sha256, centring FROM channels WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            return None
        if hashlib.sha256(row[2]).hexdigest() != row[3]:
            raise IndexUnavailable(f"vector channel {name!r} is damaged; run 'asknpu update --rebuild'")
        return row[0], np.frombuffer(row[1], np.int32), row[2], row[4]

    def encoder_of(self, channel: str) -> str:
        """Return the encoder key of a channel, or ''."""
        row = self._db.execute("SELECT encoder FROM channels WHERE name = ?", (channel,)).fetchone()
        return str(row[0]) if row else ""

    def entry(self, entry_id: str, lang: Lang) -> Entry | None:
        """Return an entry in a language, or in the other one if it has no twin, or None."""
        rows = self._db.execute(f"SELECT {_ENTRY_COLUMNS} FROM entries WHERE id = ?", (entry_id,)).fetchall()
        found = {row[1]: _entry(row) for row in rows}
        return found.get(lang) or next(iter(found.values()), None)

    def entries(self, lang: Lang | None = None, platform: str | None = None) -> tuple[Entry, ...]:
        """Return all entries in corpus order, optionally of one language and platform."""
        rows = self._db.execute(
            f"SELECT {_ENTRY_COLUMNS} FROM entries WHERE (?1 IS NULL OR lang = ?1) AND (?2 IS NULL OR platform = ?2)"
            " ORDER BY position",
            (lang, platform),
        )
        return tuple(_entry(row) for row in rows)

    def platforms(self) -> tuple[str, ...]:
        """Return the platforms of the corpus, sorted."""
        return tuple(row[0] for row in self._db.execute("SELECT DISTINCT platform FROM entries ORDER BY platform"))

    def entry_positions(self) -> list[tuple[str, str]]:
        """Return (entry id, platform) by entry position; twins share a position."""
        return list(self._db.execute("SELECT entry_id, platform FROM entry_terms ORDER BY id"))

    def passage_owners(self) -> NDArray[np.int64]:
        """Return the entry position of each passage, int64 [passages]."""
        rows = self._db.execute(
            "SELECT e.id FROM passages AS p JOIN entry_terms AS e ON e.entry_id = p.entry_id ORDER BY p.id"
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    def passage_langs(self) -> NDArray[np.str_]:
        """Return the language of each passage, [passages]."""
        return np.array([row[0] for row in self._db.execute("SELECT lang FROM passages ORDER BY id")], "U2")

    def questions_of(self, entry_id: str) -> list[str]:
        """Return the tokens of an entry's question passages, one string each."""
        rows = self._db.execute("SELECT tokens FROM passages WHERE entry_id = ? AND kind = 'question'", (entry_id,))
        return [row[0] for row in rows]

    def match_passages(self, tokens: Iterable[str], count: int, platform: str | None) -> list[tuple[int, float]]:
        """Return up to `count` (passage id, BM25) of passages with any of the tokens, best (highest) first."""
        return self._match("passages_fts", "passages", tokens, count, platform)

    def match_entries(self, tokens: Iterable[str], count: int, platform: str | None) -> list[tuple[int, float]]:
        """Return up to `count` (entry position, BM25) of whole entries with any of the tokens, best (highest) first."""
        return self._match("entries_fts", "entry_terms", tokens, count, platform)

    def _match(
        self, index: str, table: str, tokens: Iterable[str], count: int, platform: str | None
    ) -> list[tuple[int, float]]:
        query = " OR ".join(f'"{token}"' for token in tokens)
        if not query:
            return []
        within = f" AND rowid IN (SELECT id FROM {table} WHERE platform = :platform)" if platform else ""
        rows = self._db.execute(
            f"SELECT rowid, -rank FROM {index} WHERE {index} MATCH :query{within} ORDER BY rank LIMIT :count",
            {"query": query, "platform": platform, "count": count},
        )
        return rows.fetchall()

    def document_frequencies(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return the number of entries that have each token; 0 for unknown tokens."""
        wanted = list(dict.fromkeys(tokens))
        marks = ", ".join("?" * len(wanted))
        known = dict(self._db.execute(f"SELECT token, entries FROM terms WHERE token IN ({marks})", wanted))
        return {token: known.get(token, 0) for token in wanted}

    def stated(self, tokens: Iterable[str]) -> set[str]:
        """Return those of the tokens that the corpus states itself, in a title, answer or source."""
        wanted = list(dict.fromkeys(tokens))
        marks = ", ".join("?" * len(wanted))
        return {
            row[0] for row in self._db.execute(f"SELECT token FROM terms WHERE stated AND token IN ({marks})", wanted)
        }

    def entry_tokens(self, entry_id: str) -> frozenset[str]:
        """Return the distinct tokens of an entry, both languages."""
        row = self._db.execute("SELECT tokens FROM entry_terms WHERE entry_id = ?", (entry_id,)).fetchone()
        return frozenset(row[0].split()) if row else frozenset()

    def words(self) -> list[str]:
        """Return all Latin words of the corpus, sorted."""
        return [row[0] for row in self._db.execute("SELECT word FROM words ORDER BY word")]

    def counts(self) -> dict[str, int]:
        """Return the number of entries (twins once), passages and cached embeddings."""
        one = "SELECT count(*) FROM "
        return {
            "entries": self._db.execute("SELECT count(DISTINCT id) FROM entries").fetchone()[0],
            "passages": self._db.execute(one + "passages").fetchone()[0],
            "embeddings": self._db.execute(one + "embeddings").fetchone()[0],
        }

    def is_intact(self) -> bool:
        """Return whether SQLite's own check of the file finds nothing."""
        try:
            return bool(self._db.execute("PRAGMA quick_check").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    # --- embedding cache -----------------------------------------------------------------------------------------

    def cached_hashes(self, encoder: str) -> set[bytes]:
        """Return the passage hashes that have a vector of an encoder."""
        return {row[0] for row in self._db.execute("SELECT hash FROM embeddings WHERE encoder = ?", (encoder,))}

    def cache_vectors(self, encoder: str, hashes: Sequence[bytes], packed: NDArray[np.uint8]) -> None:
        """Keep packed vectors [n, 4 + dim] of passages by their hashes."""
        rows = [(encoder, key, row.tobytes()) for key, row in zip(hashes, packed, strict=True)]
        self._db.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", rows)

    def cached_vectors(self, encoder: str, hashes: Sequence[bytes]) -> NDArray[np.uint8]:
        """Return packed vectors, uint8 [n, 4 + dim], in the order of the hashes; all must be cached."""
        stored = dict(self._db.execute("SELECT hash, vector FROM embeddings WHERE encoder = ?", (encoder,)))
        return np.stack([np.frombuffer(stored[key], np.uint8) for key in hashes])

    def drop_unused_vectors(self, encoders: Sequence[str], hashes: set[bytes]) -> None:
        """Delete vectors of these encoders whose passages are gone."""
        for encoder in encoders:
            gone = self.cached_hashes(encoder) - hashes
            self._db.executemany(
                "DELETE FROM embeddings WHERE encoder = ? AND hash = ?", [(encoder, key) for key in gone]
            )


def passage_hash(text: str) -> bytes:
    """Return the key of a passage in the embedding cache: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:16]


def _entry(row: tuple[object, ...]) -> Entry:
    (entry_id, lang, _, title, text, platform, kind, sources, asks, complete, file, start, end, sha256, line) = row
    span = Span(str(file), int(str(start)), int(str(end)), str(sha256))
    return Entry(
        str(entry_id), "zh" if lang == "zh" else "en", str(title), str(text), str(platform), str(kind),
        tuple(json.loads(str(sources))), tuple(json.loads(str(asks))), str(complete), span, int(str(line)),
    )  # fmt: skip


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
