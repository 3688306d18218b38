"""``phiscan scan``: its command, progress and output formats."""
