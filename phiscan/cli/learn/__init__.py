"""``phiscan learn``: new model versions from reviewed decisions."""
