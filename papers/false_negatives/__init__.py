"""False negatives from the overlap of classifiers (Mane et al. 2004), on Spambase or synthetic data."""
