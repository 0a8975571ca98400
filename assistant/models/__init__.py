"""Models from the command line: estimate what one needs on a device, rewrite what the device cannot run.

arguments    name:1,3,224,224 -> input shapes; names of devices
numbers      bytes, counts and times in words, for the tables and for the window
loading      files -> graphs, errors as one sentence
tables       an Estimate as text for a terminal, alone or beside others
as_json      an Estimate as the JSON object of `estimate --json`
report       Estimates as a Markdown or HTML file with charts; `charts` draws them
"""
