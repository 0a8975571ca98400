"""The area Logs: open, paste or follow a log; see its causes, read its lines, take a report away.

rows       a log on disk as rows: a sparse index of offsets, decoded where they are looked at
find       the next row with a text, block by block
reading    what a thread does: unpack, index, diagnose, follow; the pane shows its values
view       the rows of a log; evidence and codes marked
items      a diagnosis as the list at the left
details    one item of it in full
codes      the codes in a row, explained
export     the report as Markdown
dialogs    boxes that ask: which file, pasted text, where to save, which line
pane       the area
"""
