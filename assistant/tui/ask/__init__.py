"""The area ask: a question, its answer with the source, and what can be done with both.

pane         the area: what is typed, filters and history, and what comes back
with_answer  what can be done with an answer: copy, open, judge, compute again
bindings     its keys
clicks       words that are clicked, each an action of the area
asking       when what is searched
box          where the question is typed or pasted
filters      platform and language
bar          filters and what is going on, one line
results      the entries, and the answer beside or below them
listing      entries to choose from: hits, related, nearest
heading      the line above an answer: what it is, how sure, where from, thumbs
reader       the answer pane: answer, entry, abstention, error, welcome
prose        Markdown as lines, laid out in a thread
cards        a check with its badge, and its parameters to change
told         answers as styled text: notes, codes, reasons, what to send
jobs         what runs in threads: search while typing, the full answer, one entry
latest       one job at a time, always the newest request
values       what jobs give and widgets show
history      the questions that were asked, with back and forward
feedback     thumbs up and down, in a file
"""
