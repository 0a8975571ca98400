"""The area library: read the corpus, and learn from it with question cards.

shelf      everything there is to read: documents, entries, glossary, first-day paths; read once in a worker
place      what is shown (an entry, a document, a card), and the places before and after it
learning   see the answer of a card, mark it, go on
notes      which cards are known, and bookmarks
page       a place as Markdown sections, with the check blocks as badges
finding    matches of a text in painted lines
reader     shows painted lines, and finds in them
desk       the place that lies open: painted, proved, its terms looked up
messages   what the workers report
tree       the shelf as a tree, for reading or for learning
side       both trees
way        from place to place, on and back
mentions   what the words of an entry lead to: other entries, terms
opening    what opens above the window, and where a link leads
glossed    terms of the glossary in an entry
lists      contents, bookmarks, terms
popups     a list above the window; hanging: its lines, which go on below their text
labels     where the shown text stands, and what helps now
bottom     the line below, with the box for finding
leaving    an entry for the clipboard
bindings   the keys
pane       all of it together
"""
