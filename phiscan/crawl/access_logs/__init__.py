"""Access logs of file servers and stores: which file was opened by which account, and when.

Each kind has a parser that yields ``Opened`` from a ``Log``, skips what it does not know, and counts it.
"""
