"""The terminal window: ask, logs, model, lab, library. The only package that knows textual.

app        the window: areas, language, theme, palette, help, state
pane       what every area is: a widget with a language, a saved state and a help text
words      the sentences of an area in both languages, `texts/AREA.{zh,en}.toml`
services   the slow things that areas ask for, run in threads: opening the corpus, answering, diagnosing, estimating
frame      the names of the areas above them, the keys below
themed     the change of themes; themes: their colours; styles: the rules for them, parsed once, put on in slices
garbage    when garbage is collected: not while somebody uses the window
serve      the same window in a browser
state      what is restored at the next start
jump       letters above what can have the focus; footer: the keys that have room
keys       the keys of all actions, by id; a user's file changes them
editor     a file at its line in the user's editor
wrapping   where lines break, Chinese between any two characters
breaking   lets every widget break its lines so
box        what the boxes that ask for something share
filebox    the box that asks for a file: `pathfield` completes its path, `folders` lists and refuses
linking    links in Markdown: what leads somewhere, and which cells that takes
markdown   Markdown as lines of cells, laid out for a width in a worker; painted: such a page, and places in it
cells      bars of block characters, parts of a line in another style
safe       text from outside as content that is never interpreted
ask/ logs/ model/ lab/ library/
           one area each: `pane.py` and its widgets
"""
