"""Learning from screened positives (Sokolova & El Emam 2008), on shares of low prevalence."""
