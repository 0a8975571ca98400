"""Names and sentences as they stand in tables and charts: on one line, cut, padded, wrapped."""

from rich.cells import cell_len, set_cell_size

from assistant.plain import printable

__all__ = ["cut", "one_line", "padded", "wrapped"]


def one_line(text: str) -> str:
    """Return a name from outside on one line."""
    return printable(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def cut(text: str, width: int) -> str:
    """Return a name of at most `width` cells: its begin and its end, where names differ."""
    text = one_line(text)
    if cell_len(text) <= width:
        return text
    if width < 6:
        return set_cell_size(text, max(width, 0)).rstrip()
    head = (width - 1) // 3
    end, cells = "", 0
    for character in reversed(text):
        cells += cell_len(character)
        if cells > width - 1 - head:
            break
        end = character + end
    return f"{set_cell_size(text, head).rstrip()}…{end}"


def padded(text: str, width: int) -> str:
    """Return a name of exactly `width` cells."""
    return set_cell_size(cut(text, width), width)


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most `width` cells, broken at spaces, inside a word only where it alone is too long."""
    lines: list[str] = []
    line = ""
    for word in one_line(text).split(" "):
        grown = f"{line} {word}" if line else word
        if cell_len(grown) <= width:
            line = grown
            continue
        if line and cell_len(word) <= width // 2:
            lines.append(line)
            line = word
            continue
        for character in f" {word}" if line else word:
            if cell_len(line + character) > width:
                lines.append(line)
                line = ""
            line += character
        line = line.lstrip(" ")
    return [*lines, line]
