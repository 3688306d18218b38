"""``phiscan db``: the review database itself."""
