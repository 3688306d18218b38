"""The order of the stages, the fault boundary around each file, and the scan of a whole share.

Nothing is imported here: a worker needs the stages alone, not the database and the network.
"""
