"""The area ask: a question, its answer with the source, and what can be done with both.

pane      the area: what keys do, filters, history, and which of the parts below shows what
layout    its keys, and where things stand
box       where the question is typed or pasted
bar       filters and what is going on, one line
listing   entries to choose from: hits, related, nearest
reader    the answer pane: answer, entry, abstention, error, welcome
cards     a check with its badge, and its parameters to change
told      answers as styled text: notes, codes, reasons, what to send
jobs      what runs in threads: search while typing, the full answer, one entry
latest    one job at a time, always the newest request
values    what jobs give and widgets show
history   the questions that were asked, with back and forward
feedback  thumbs up and down, in a file
"""
