"""Access logs of file servers and stores: which file was opened by which account, and when.

``records`` of a kind yields the records of a ``Log``, ``read`` returns time, account and opened paths of one.
"""
