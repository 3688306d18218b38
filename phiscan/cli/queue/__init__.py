"""``phiscan queue``: the review queue without a browser."""
