"""The area Logs: open, paste or follow a log; see its causes, read its lines, take a report away.

pane        the area: keys, what is read, what is written of it
layout      its keys, and how it is laid out
start       the page before anything is read
status      how far a reading is, in one line
body        one reading on the screen, and moving in it
findings    the list at the left; items: what is in it
view        the rows of a log; painting: one of them as cells
codebar     the line below: the codes in a row, explained by codes
detailbox   one item in full (details), with what the corpus says about it (lookups, entry, nearest)
findbar     asks for a text, and looks for it (find)
reading     what reading comes to, as values; read: what a thread does for it
rows        a log on disk as rows: a sparse index of offsets, decoded where they are looked at
export      the report as Markdown
asking      from a line to the area Ask
dialogs     boxes that ask for text, a place to save, a line, one of several
"""
