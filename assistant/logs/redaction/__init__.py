"""Private items of a text -> stable placeholders; nothing leaves the machine.

private    the table of what is private and how it is recognised; addresses, labelled, places: its parts
redact     the redactor: one for all lines of a log
"""
