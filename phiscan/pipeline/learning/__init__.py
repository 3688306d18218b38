"""Learning a new model version from reviewed decisions."""
