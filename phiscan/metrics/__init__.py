"""Statistics of detection: estimates of missed PHI, agreement, rankings, de-identification scores."""
