"""The sections of the report, each computed from the rows of one scan."""
