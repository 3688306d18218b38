"""Records in binary files: SQLite, dBase, EDF, and formats of which only the text within is read."""
