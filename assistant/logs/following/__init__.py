"""A log that is being written -> its bytes as they come, each once and in order.

events     what happens to it, as values
follow     the loop: looks, yields events, waits
growing    a file through rotation and truncation; route, siblings: where its older content went
device     a pipe or serial device
"""
