"""The SQL schema of an index and the name that stands for it."""

import zlib
from functools import cache
from pathlib import Path


@cache
def schema() -> str:
    """Return the SQL that creates an index."""
    return Path(__file__).with_name("schema.sql").read_text("utf-8")


def schema_id() -> int:
    """Return a number that stands for the schema, below 2**31."""
    return zlib.crc32(schema().encode()) & 0x7FFFFFFF


def file_name() -> str:
    """Return the name of the index file; it carries the schema, so that no version misreads another's index."""
    return f"kb-{schema_id():08x}.sqlite"
