"""A log on disk as rows: a sparse index of where they begin, and the rows themselves, decoded where they are wanted.

A row is a line, or one piece of a very long line, as `assistant.logs.decode` gives it. One thread indexes while another
reads rows: every checkpoint is complete before it can be seen.
"""

import os
from array import array
from bisect import bisect_right
from collections import OrderedDict
from pathlib import Path
from typing import BinaryIO

from assistant.logs.decode import LINE_MOST, Block, Decoder, Line

__all__ = ["PORTION", "Rows"]

#: A checkpoint about every so many bytes; small enough that decoding a block is not felt.
PORTION = 1 << 15
#: So many decoded blocks are kept.
_KEPT = 32


class Rows:
    """The rows of one log."""

    def __init__(self, name: str, file: Path | BinaryIO, base: int = 0) -> None:
        """Start without rows.

        Args:
            name: as shown to the user.
            file: holds the unpacked bytes; those that are fed are in it by then. A path is opened when rows are wanted.
            base: where in the file the log begins.
        """
        self.name = name
        self.file = file
        self.base = base
        self._opened: BinaryIO | None = None
        self.size = 0
        """Bytes indexed."""
        self.count = 0
        """Rows that can be read."""
        self.lines = 0
        """Lines so far, one that has not ended included."""
        self._decoder = Decoder()
        self._starts = array("q")
        self._numbers = array("q")
        self._pieces = array("q")
        self._firsts = array("q")
        self._ended = 0
        self._last = 0
        self._end = 0
        self._until = 0
        self._alone = True
        self._blocks: OrderedDict[tuple[int, int], tuple[Line, ...]] = OrderedDict()

    def feed(self, data: bytes) -> None:
        """Index the next bytes; they are in the file already."""
        for at in range(0, len(data), PORTION):
            portion = data[at : at + PORTION]
            blocks = self._decoder.feed(portion)
            self.size += len(portion)
            for block in blocks:
                self._add(block, _rows(block))
        self._publish(self._decoder.pending)

    def finish(self) -> None:
        """Say that no more bytes come."""
        for block in self._decoder.finish():
            rows = list(block.lines())
            self._add(block, len(rows))
            self._last = rows[-1].number if rows else self._last
        self._publish(0)

    def release(self) -> None:
        """Close the file until rows are wanted again."""
        self._blocks.clear()
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def row(self, index: int) -> Line | None:
        """Return a row; None if there is none, or its bytes are gone."""
        if not 0 <= index < self.count:
            return None
        place = bisect_right(self._firsts, index) - 1
        place = max(place, 0)
        rows, first = self.block(place), self.first(place)
        return rows[index - first] if index - first < len(rows) else None

    def row_at(self, offset: int) -> int:
        """Return the row in which a byte lies, or the nearest one."""
        place = max(bisect_right(self._starts, offset) - 1, 0)
        rows = self.block(place)
        at = bisect_right(rows, offset, key=lambda line: line.start) - 1
        return self.first(place) + max(at, 0)

    def row_of(self, number: int) -> int:
        """Return the first row of a line, or the last row if there are fewer lines."""
        place = bisect_right(self._numbers, number) - 1
        # A long line has a checkpoint for each piece.
        while place > 0 and self._numbers[place] == number and self._pieces[place]:
            place -= 1
        place = max(place, 0)
        for index, line in enumerate(self.block(place)):
            if line.number >= number:
                return min(self.first(place) + index, max(self.count - 1, 0))
        return max(self.count - 1, 0)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return max(len(self._firsts), 1 if self.count else 0)

    def first(self, place: int) -> int:
        """Return the first row of a block."""
        return self._firsts[place] if place < len(self._firsts) else 0

    def place(self, index: int) -> int:
        """Return the block in which a row lies."""
        return max(bisect_right(self._firsts, index) - 1, 0)

    def bytes_of(self, place: int) -> Block:
        """Return a block as it is in the file; without bytes if they are gone."""
        if place >= len(self._firsts):
            start, number, piece = 0, 1, 0
        else:
            start, number, piece = self._starts[place], self._numbers[place], self._pieces[place]
        end = self._starts[place + 1] if place + 1 < len(self._firsts) else self._until
        try:
            data = os.pread(self._descriptor(), max(end - start, 0), self.base + start)
        except (OSError, ValueError):
            data = b""
        return Block(data, start, number, piece, self._decoder.form or "8-bit")

    def block(self, place: int) -> tuple[Line, ...]:
        """Return the rows of a block."""
        last = place + 1 >= len(self._firsts)
        key = (place, self._until if last else -1)
        found = self._blocks.get(key)
        if found is None:
            block = self.bytes_of(place)
            found = tuple(block.lines()) if block.data else ()
            self._blocks[key] = found
            while len(self._blocks) > _KEPT:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(key)
        return found

    def _descriptor(self) -> int:
        if not isinstance(self.file, Path):
            return self.file.fileno()
        if self._opened is None:
            self._opened = self.file.open("rb", buffering=0)
        return self._opened.fileno()

    def _add(self, block: Block, rows: int) -> None:
        alone = block.piece > 0 or not block.ended
        if self._alone or alone or block.start - self._starts[-1] >= PORTION:
            self._numbers.append(block.number)
            self._pieces.append(block.piece)
            self._firsts.append(self._ended)
            self._starts.append(block.start)
        self._alone = alone
        self._ended += rows
        self._last = block.number - 1 + max(block.ended, 1)
        self._end = block.start + len(block.data)

    def _publish(self, pending: int) -> None:
        """Let what is indexed be seen, with the line that has not ended yet unless it is a very long one."""
        tailed = pending > 0 and not (self._alone and self._starts)
        self._until = self.size if tailed else self._end
        self.lines = self._last + tailed
        self.count = self._ended + tailed


def _rows(block: Block) -> int:
    """Return how many rows a block has, without decoding it where no line can be longer than a row."""
    if not block.ended:
        return 1 if len(block.data) <= LINE_MOST else sum(1 for _ in block.lines())
    short = len(block.data) <= LINE_MOST or (block.form == "8-bit" and 0 <= block.data.find(b"\n") <= LINE_MOST)
    return block.ended if short and not block.piece else sum(1 for _ in block.lines())
