"""The lab: every check of the table as a form, its result as numbers and plots.

pane       the area: opens a check, runs it when its fields are valid, keeps what was typed
topics     the checks grouped by topic, and what a filter leaves of them
chooser    the searchable list at the left
form       the fields of a check; field: one parameter, checked by the parser of the command line
wrong      what is wrong with a value, or with values together, as one sentence in the language of the window
sentence   text that breaks to its width, Chinese text between its characters
result     what came out: sentence, numbers, plots, assumptions, source, command
numbers    labels and values below each other
plots      which plots an outcome has; curves: those that are computed beside it, from simcore
chart      curves and bars as text; plot: the widget that scales them to its width
jobs       long work: its state, progress, cancelling; strip: the line that shows it
history    the last runs
"""
