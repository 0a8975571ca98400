"""The area model.

pane        the whole: fields above, results below, what runs between them
paths       the files
settings    device, clock, precision, view; shapes of open inputs
running     an estimate or a rewrite in a thread, told as messages; `rewriting` writes its result whole or not at all
engine      the second process in which numpy and onnx are loaded; `job` is what it does
progress    the line that says what is going on
tabs        the results: totals, layers, unsupported, charts, fixed, beside; one file each
figures     an estimate as totals, rows and groups; `names` cuts and breaks text
drawn       text made for the width it gets; `graphics` draws charts so
"""
