"""Learning from screened positives, simulated on shares that are drawn from real files."""
