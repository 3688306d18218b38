"""Build the shipped weights and dictionaries; not part of the wheel."""
