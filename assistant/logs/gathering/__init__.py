"""Which logs to read: files, directories, archives and rotated sets -> sources of bytes.

found      paths -> the files behind them, with what is not read and why
binary     whether a file may be a log at all
archives   members of tar and zip files, read as they lie
rotation   which files are one log, oldest first
sources    files -> sources; a place in a source -> the file and line that the user knows
"""
