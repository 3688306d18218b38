"""Capture-recapture estimates of a population total from overlapping lists."""
