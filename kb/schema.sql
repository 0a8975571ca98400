-- One file holds the whole index; one transaction replaces it, so a reader sees the old or the new one, never a mix.
-- Vector indexes are blobs here rather than files beside it for the same reason.

CREATE TABLE IF NOT EXISTS meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS entries (
    id TEXT NOT NULL,
    lang TEXT NOT NULL,
    position INTEGER NOT NULL,        -- order in the corpus
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,
    sources TEXT NOT NULL,            -- JSON list
    asks TEXT NOT NULL,               -- JSON list
    complete TEXT NOT NULL,           -- vocabulary that a table lists completely, or ''
    file TEXT NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    line INTEGER NOT NULL,
    PRIMARY KEY (id, lang)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY,           -- 0..n-1
    entry_id TEXT NOT NULL,
    lang TEXT NOT NULL,
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,               -- question, answer, row
    text TEXT NOT NULL,
    tokens TEXT NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL
);

CREATE INDEX IF NOT EXISTS passages_of_entry ON passages (entry_id);

CREATE VIRTUAL TABLE IF NOT EXISTS passages_fts USING fts5(
    tokens, content='', tokenize = "unicode61 remove_diacritics 0 tokenchars '_.'"
);

CREATE TABLE IF NOT EXISTS terms (
    token TEXT PRIMARY KEY,
    entries INTEGER NOT NULL,         -- number of entries (twins count once) with this token
    stated INTEGER NOT NULL           -- 1 if a title, answer or source has it, not only a way of asking
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS entry_terms (
    id INTEGER PRIMARY KEY,
    entry_id TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    tokens TEXT NOT NULL              -- distinct tokens of both twins
);

-- One row per entry_terms row, with all tokens of both twins: what passages say only together is found here.
CREATE VIRTUAL TABLE IF NOT EXISTS entries_fts USING fts5(
    tokens, content='', tokenize = "unicode61 remove_diacritics 0 tokenchars '_.'"
);

CREATE TABLE IF NOT EXISTS words (
    word TEXT PRIMARY KEY             -- Latin words as written, lower case, for spelling correction
) WITHOUT ROWID;

-- What search needs besides rows: glossary, identifier patterns, known identifiers, vocabularies, confidence weights.
CREATE TABLE IF NOT EXISTS resources (
    name TEXT PRIMARY KEY,
    data BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS channels (
    name TEXT PRIMARY KEY,            -- dense, dense_raw, use
    encoder TEXT NOT NULL,            -- encoder key; questions must be embedded by the same one
    rows BLOB NOT NULL,               -- int32 passage ids, in index order
    data BLOB NOT NULL,               -- serialised FAISS index
    sha256 TEXT NOT NULL,
    centring BLOB                     -- npz, or NULL for a channel that is not centred
) WITHOUT ROWID;

-- Survives every rebuild: a passage is embedded once per encoder, whatever happens around it.
CREATE TABLE IF NOT EXISTS embeddings (
    encoder TEXT NOT NULL,
    hash BLOB NOT NULL,               -- first 16 bytes of SHA-256 of the passage text
    vector BLOB NOT NULL,             -- see compact.py
    PRIMARY KEY (encoder, hash)
) WITHOUT ROWID;
