"""The de-identification challenge of 2006 (Uzuner et al. 2007) on a surrogate corpus of discharge records."""
