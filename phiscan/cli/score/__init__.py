"""``phiscan score``: spans, rankings and label hierarchies against a gold standard."""
