"""Learning from screened positives (Sokolova & El Emam 2008): shares of low prevalence, screened in steps."""
