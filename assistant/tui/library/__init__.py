"""The area library: read the corpus, and learn from it with question cards.

shelf      everything there is to read: documents, entries, glossary, first-day paths; read once in a worker
place      what is shown (an entry, a document, a card), the way back to it, and what was learnt
page       a place as Markdown sections, with the check blocks as badges
paint      Markdown as lines of cells, in a worker; Chinese breaks between any two characters
wrapping   where lines break
finding    matches of a text in painted lines
reader     shows painted lines and matches
tree       shows the shelf, for reading or for learning
popups     contents, bookmarks, glossary
glossed    terms of the glossary in an entry
pane       all of it together
"""
